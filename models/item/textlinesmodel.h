// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/item/shown.h"

#include <QAbstractTableModel>

namespace prosector {

/// The text of an artifact as lines: plain text, templates, and the text of JSON and JSON Lines as
/// it stands in the file. Line starts are found once; a cell decodes its own line only.
class TextLinesModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { LineColumn, TextColumn, ColumnCount };
    /// Characters of one line that are shown; a minified file may be one line of many megabytes.
    static constexpr int lineLimit = 4000;

    using QAbstractTableModel::QAbstractTableModel;

    void setArtifact(const RunPtr &run, const Place &place);
    bool holds(const Place &place) const { return m_shown.holds(place); }

    /// Number of the row's line, counted from 1. JSON Lines have no rows for blank lines.
    std::uint64_t lineNumber(int row) const;
    /// Bytes of the row's line in the file, without the line end.
    ByteRange lineBytes(int row) const;
    /// At most the first `limit` bytes of the row's line.
    std::string line(int row, std::size_t limit = std::string::npos) const;
    /// The row that holds this byte of the file; the last one for bytes behind the end; -1 when empty.
    int rowOfByte(std::uint64_t offset) const;
    /// The first row of a place in this artifact, -1 when the anchor has no bytes here.
    int rowFor(const Anchor &where) const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    Shown m_shown;
    // Either lines that are read from the file when looked at, or a text; both owned by m_shown's run.
    const LinesContent *m_lines = nullptr;
    std::string_view m_text;
    std::vector<std::uint64_t> m_starts;
};

} // namespace prosector
