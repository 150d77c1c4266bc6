// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel.h"

class QLabel;
class QStackedWidget;

namespace prosector {

class EvidenceModel;
class TreeView;

/// What is open, as a tree.
class EvidencePanel final : public Panel {
    Q_OBJECT
public:
    explicit EvidencePanel(Session *session, QWidget *parent = nullptr);
    void copy() override;
    QAbstractItemModel *csvModel() const override;
    TreeView *view() const { return m_view; }

signals:
    /// Enter or double-click on an artifact or a part of it.
    void artifactActivated(const prosector::Place &place);
    void openFolderRequested();

protected:
    void refresh() override;
    void reveal(const Selection &selection) override;

private:
    EvidenceModel *m_model;
    TreeView *m_view;
    QStackedWidget *m_stack;
};

} // namespace prosector
