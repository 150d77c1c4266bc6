// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/item/shown.h"

#include <QAbstractTableModel>

#include <array>
#include <optional>

namespace prosector {

/// The bytes of an artifact, sixteen to a row, read in windows when a row is looked at; a few
/// windows are kept. Views count rows in `int` and pixels in `int`, so a page of `pageRows` rows is
/// offered at a time: showByte() turns to the page that holds a byte. A 100 GB file has 6000 pages.
/// For views that scroll by themselves, byte() and row() reach any offset without paging.
class HexModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { OffsetColumn, HexColumn, TextColumn, ColumnCount };
    static constexpr std::uint64_t rowBytes = 16;
    static constexpr std::uint64_t pageRows = 1 << 20;
    static constexpr std::uint64_t pageBytes = rowBytes * pageRows;

    using QAbstractTableModel::QAbstractTableModel;

    void setArtifact(const RunPtr &run, const Place &place);
    void setSource(SourcePtr source);
    bool holds(const Place &place) const { return m_shown.holds(place); }

    std::uint64_t size() const { return m_source ? m_source->size() : 0; } ///< bytes
    std::uint64_t page() const { return m_page; }
    std::uint64_t pageCount() const { return (size() + pageBytes - 1) / pageBytes; }
    void setPage(std::uint64_t page);
    /// Turns to the byte's page and gives its row; invalid behind the end.
    QModelIndex showByte(std::uint64_t offset);
    /// The row of a place in this artifact, its page turned to; invalid when the anchor has no bytes.
    QModelIndex show(const Anchor &where);

    /// Up to sixteen bytes from a multiple of sixteen; an Error when the file cannot be read there.
    Result<Bytes> row(std::uint64_t offset) const;
    /// Nothing behind the end or where the file cannot be read.
    std::optional<std::byte> byte(std::uint64_t offset) const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    static constexpr std::uint64_t windowBytes = 16 * 1024;
    struct Window {
        std::uint64_t offset = 0;
        std::uint64_t used = 0; // 0: empty
        Result<Bytes> bytes = Bytes();
    };
    const Result<Bytes> &window(std::uint64_t offset) const;
    void show(Shown shown, SourcePtr source);

    Shown m_shown;
    SourcePtr m_source;
    std::uint64_t m_page = 0;
    mutable std::array<Window, 8> m_windows;
    mutable std::uint64_t m_clock = 0;
};

} // namespace prosector
