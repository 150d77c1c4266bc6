// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <memory>

class QAbstractItemModel;
class QAbstractItemView;
class QIODevice;
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
/// Rows [from, to) as CSV lines; the header line first when `from` is 0.
QString csvRows(const QAbstractItemModel &model, int from, int to);
/// Writes all rows, a slice at a time so that the window stays alive; deletes itself.
void writeCsv(QAbstractItemModel *model, const QString &file, QWidget *parent);

/// The selected cells, rows and columns of the view as tab-separated lines.
QString selectedText(const QAbstractItemView &view);

} // namespace prosector
