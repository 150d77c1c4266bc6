// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel.h"

class QScrollArea;
class QUrl;
class QVBoxLayout;

namespace prosector {

struct Instrument;
struct Report;
class ThresholdEditor;

/// Draws any instrument's report as one page: the question, the verdict, the findings, the pictures,
/// the tables, thresholds, what was not seen, what to read next, and the help page.
class InstrumentPanel final : public Panel {
    Q_OBJECT
public:
    /// `instrument`: its number in the session; the panel's id is the instrument's.
    InstrumentPanel(Session *session, int instrument, QWidget *parent = nullptr);
    void copy() override;
    std::vector<NamedTable> tables() const override;
    bool isBusy() const override;

signals:
    void placeActivated(const prosector::Place &place);
    void acknowledgeRequested(prosector::FindingRef ref);

protected:
    void refresh() override;
    void reveal(const Selection &selection) override { Q_UNUSED(selection) }

private:
    QWidget *makePage();
    void addText(const QString &html);
    void addReport(const Report &report);
    void addFindings(const Report &report);
    void addTables(const Report &report);
    void addTable(const Table &table); ///< for export only: the picture shows it
    void addFoot(const Report *report);
    void addHelp();
    QString verdictHtml() const;
    QString missingHtml(const Report &report) const;
    void follow(const QUrl &url);
    void loadHelp();

    int m_number;
    const Instrument *m_instrument;
    QScrollArea *m_scroll;
    QVBoxLayout *m_page = nullptr;
    std::vector<NamedTable> m_tables; ///< of the page shown; owned by it
    QString m_help;
    bool m_helpLoading = true;
};

} // namespace prosector
