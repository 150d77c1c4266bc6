// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel.h"

class QLineEdit;

namespace prosector {

class InstrumentFilter;
class InstrumentModel;
class TreeView;

/// All instruments with their lights: search, sort by severity, Enter or double-click opens.
class InstrumentList final : public Panel {
    Q_OBJECT
public:
    explicit InstrumentList(Session *session, QWidget *parent = nullptr);
    void copy() override;
    QAbstractItemModel *csvModel() const override;
    TreeView *view() const { return m_view; }
    QLineEdit *searchBox() const { return m_search; }

signals:
    void instrumentActivated(const QString &id);

protected:
    void refresh() override;
    void reveal(const Selection &selection) override { Q_UNUSED(selection) }

private:
    void updateOrigin();
    InstrumentModel *m_model;
    InstrumentFilter *m_filter;
    TreeView *m_view;
    QLineEdit *m_search;
};

} // namespace prosector
