// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/runs/inspect.h"
#include "widgets/panels/panel.h"

namespace prosector {

class ReportTableModel;
class RichView;

/// What is selected: the finding it belongs to, then what inspect() says of the place: file, offset,
/// raw and decoded value, what goes with it and what else points there.
class InspectorPanel final : public Panel {
    Q_OBJECT
public:
    explicit InspectorPanel(Session *session, QWidget *parent = nullptr);
    void copy() override;
    QAbstractItemModel *csvModel() const override;
    bool isBusy() const override { return m_looking; }
    RichView *view() const { return m_view; }

signals:
    /// A link that should be shown in a pane, not only selected.
    void placeActivated(const prosector::Place &place);
    void acknowledgeRequested(prosector::FindingRef ref);

protected:
    void refresh() override;
    void reveal(const Selection &selection) override;

private:
    void lookUp();
    void compose();
    void follow(const QUrl &url);
    FindingRef findingOf(const Selection &selection) const;

    RichView *m_view;
    ReportTableModel *m_table;
    Selection m_selection;
    std::vector<Fact> m_facts;
    bool m_looking = false;
};

} // namespace prosector
