// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/place.h"

#include <QTableView>
#include <QTreeView>

namespace prosector {

/// A table as every pane shows it: one row height, hairlines only, Ctrl+C copies what is selected,
/// Enter or double-click activates, a context menu copies cell, row or CSV.
class TableView : public QTableView {
    Q_OBJECT
public:
    explicit TableView(QWidget *parent = nullptr);
    void copySelected();
    /// Makes a row current and shows it if it is off screen, without telling anyone.
    void showRow(int row);

signals:
    void rowActivated(const QModelIndex &index); ///< Enter, double-click
    void rowChosen(const QModelIndex &index);    ///< click or arrow keys, by the user

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void currentChanged(const QModelIndex &current, const QModelIndex &previous) override;

private:
    bool m_quiet = false;
};

/// The same for trees.
class TreeView : public QTreeView {
    Q_OBJECT
public:
    explicit TreeView(QWidget *parent = nullptr);
    void copySelected();
    void showIndex(const QModelIndex &index);

signals:
    void rowActivated(const QModelIndex &index);
    void rowChosen(const QModelIndex &index);

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void currentChanged(const QModelIndex &current, const QModelIndex &previous) override;

private:
    bool m_quiet = false;
};

} // namespace prosector
