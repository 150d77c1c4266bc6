// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel.h"

class QComboBox;
class QLineEdit;
class QStackedWidget;
class QLabel;

namespace prosector {

class FindingFilter;
class FindingModel;
class TableView;

/// All findings: sortable, filterable; Enter or double-click jumps to the evidence.
class FindingsPanel final : public Panel {
    Q_OBJECT
public:
    explicit FindingsPanel(Session *session, QWidget *parent = nullptr);

    /// Selects the next (previous) finding, as F8 does, and its evidence. False when there is none.
    bool step(int by);
    /// Makes the worst finding current without opening anything.
    void selectWorst();
    TableView *view() const { return m_view; }
    QLineEdit *searchBox() const { return m_search; }
    FindingRef current() const;

    void copy() override;
    QAbstractItemModel *csvModel() const override;

signals:
    /// Enter or double-click: show the evidence.
    void findingActivated(prosector::FindingRef ref);
    /// Insert, or the context menu: ask for the reason.
    void acknowledgeRequested(prosector::FindingRef ref);

protected:
    void refresh() override;
    void reveal(const Selection &selection) override;

private:
    void updateCounts();
    void choose(const QModelIndex &index);

    FindingModel *m_model;
    FindingFilter *m_filter;
    TableView *m_view;
    QLineEdit *m_search;
    QStackedWidget *m_stack;
    QLabel *m_empty;
};

} // namespace prosector
