// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/bytesource.h"
#include "widgets/panels/panel.h"

namespace prosector {

class RichView;

/// What is selected: the finding it belongs to, then file, offset, raw and decoded value, and what
/// else points there.
class InspectorPanel final : public Panel {
    Q_OBJECT
public:
    explicit InspectorPanel(Session *session, QWidget *parent = nullptr);
    void copy() override;

signals:
    /// A link that should be shown in a pane, not only selected.
    void placeActivated(const prosector::Place &place);

protected:
    void refresh() override;
    void reveal(const Selection &selection) override;

private:
    void readRaw();
    void compose();
    void follow(const QUrl &url);
    FindingRef findingOf(const Selection &selection) const;

    RichView *m_view;
    Selection m_selection;
    ByteRange m_bytes;
    Bytes m_raw;
    QString m_problem;
};

} // namespace prosector
