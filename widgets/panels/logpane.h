// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel.h"

class QComboBox;
class QStackedWidget;

namespace prosector {

class LogModel;
class OverviewStrip;
class TableView;

/// A log with its recognised lines marked by class and severity; on demand only these.
class LogPane final : public Panel {
    Q_OBJECT
public:
    explicit LogPane(Session *session, QWidget *parent = nullptr);
    static QString paneId() { return QStringLiteral("log"); }

    bool canFind() const override { return true; }
    QString goToHint() const override;
    void goTo(const QString &where) override;
    void copy() override;
    QAbstractItemModel *csvModel() const override;
    bool isBusy() const override;
    /// Shows this log of those that are open.
    void showLog(ArtifactId artifact);

signals:
    void placeActivated(const prosector::Place &place);

protected:
    void refresh() override;
    void reveal(const Selection &selection) override;
    void findText(const QString &text, bool forward) override;

private:
    void fillLogs();
    void showChosen();
    void updateStrip();

    LogModel *m_model;
    TableView *m_view;
    OverviewStrip *m_strip;
    QComboBox *m_logs, *m_level;
    QStackedWidget *m_stack;
};

} // namespace prosector
