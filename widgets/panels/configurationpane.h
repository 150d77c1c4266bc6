// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel.h"

class QLabel;
class QLineEdit;
class QSortFilterProxyModel;
class QStackedWidget;

namespace prosector {

class ConfigurationModel;
class TreeView;

/// The effective configuration: every setting with its value, coloured by who set it, expandable to
/// what it overrode; what was said without effect is struck through with the reason.
class ConfigurationPane final : public Panel {
    Q_OBJECT
public:
    explicit ConfigurationPane(Session *session, QWidget *parent = nullptr);
    static QString paneId() { return QStringLiteral("configuration"); }

    bool canFind() const override { return true; }
    void copy() override;
    QAbstractItemModel *csvModel() const override;
    bool isBusy() const override;

signals:
    void placeActivated(const prosector::Place &place);

protected:
    void refresh() override;
    void reveal(const Selection &selection) override;
    void findText(const QString &text, bool forward) override;

private:
    ConfigurationModel *m_model;
    QSortFilterProxyModel *m_filter;
    TreeView *m_view;
    QLineEdit *m_search;
    QLabel *m_empty;
    QStackedWidget *m_stack;
};

} // namespace prosector
