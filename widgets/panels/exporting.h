// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPersistentModelIndex>
#include <QString>

class QAbstractItemModel;
class QAbstractItemView;
class QMenu;
class QWidget;

namespace prosector {

class Panel;

/// Fills a pane's menu: copy, copy as CSV, export as PNG, SVG, PDF, CSV, print.
void fillExportMenu(QMenu *menu, Panel *panel);

/// Draws the whole widget (also what is scrolled away) into a file whose ending says the format:
/// .png, .svg or .pdf (one page, scaled to fit). An error message, or empty.
QString exportPicture(QWidget *widget, const QString &file);

/// Quoted as RFC 4180 asks, so that separators and quotes survive.
QString csvField(const QString &text);
/// A model's rows as CSV lines, a portion at a time: the header line, then every row; of a tree each
/// row is followed by those below it, with its level in a first column.
class CsvRows {
public:
    /// `model`, not owned, must stay and keep its rows while this is used.
    explicit CsvRows(const QAbstractItemModel &model);
    bool atEnd() const { return m_ended; }
    QString take(int rows);

private:
    void step();
    const QAbstractItemModel &m_model;
    QPersistentModelIndex m_row;
    int m_level = 0;
    bool m_tree = false, m_begun = false, m_ended = false;
};
/// Asks for a file, then writeCsv().
void exportCsv(QAbstractItemModel *model, const QString &name, QWidget *parent);
/// Writes all rows, a slice at a time so that the window stays alive; deletes itself.
void writeCsv(QAbstractItemModel *model, const QString &file, QWidget *parent);

/// The selected cells, rows and columns of the view as tab-separated lines.
QString selectedText(const QAbstractItemView &view);

} // namespace prosector
