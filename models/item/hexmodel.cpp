// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/hexmodel.h"

#include "models/item/format.h"
#include "models/runs/locate.h"

#include <algorithm>

namespace prosector {

void HexModel::setArtifact(const RunPtr &run, const Place &place)
{
    Shown shown(run, place);
    const Artifact *const artifact = shown.artifact();
    show(shown, artifact ? artifact->source : nullptr);
}

void HexModel::setSource(SourcePtr source)
{
    show({}, std::move(source));
}

void HexModel::show(Shown shown, SourcePtr source)
{
    beginResetModel();
    m_shown = std::move(shown);
    m_source = std::move(source);
    m_page = 0;
    m_windows = {};
    endResetModel();
}

void HexModel::setPage(std::uint64_t page)
{
    if (page == m_page || page >= pageCount())
        return;
    beginResetModel();
    m_page = page;
    endResetModel();
}

QModelIndex HexModel::showByte(std::uint64_t offset)
{
    if (offset >= size())
        return {};
    setPage(offset / pageBytes);
    return index(static_cast<int>(offset % pageBytes / rowBytes), HexColumn);
}

QModelIndex HexModel::show(const Anchor &where)
{
    const Artifact *const artifact = m_shown.artifact();
    const auto bytes = artifact ? anchorToBytes(*artifact, where) : std::nullopt;
    return bytes ? showByte(bytes->from) : QModelIndex();
}

const Result<Bytes> &HexModel::window(std::uint64_t offset) const
{
    const std::uint64_t begin = offset - offset % windowBytes;
    Window *oldest = m_windows.data();
    for (Window &kept : m_windows) {
        if (kept.used && kept.offset == begin) {
            kept.used = ++m_clock;
            return kept.bytes;
        }
        if (kept.used < oldest->used)
            oldest = &kept;
    }
    *oldest = {begin, ++m_clock, m_source->readUpTo(begin, windowBytes)};
    return oldest->bytes;
}

Result<Bytes> HexModel::row(std::uint64_t offset) const
{
    if (offset >= size())
        return Error{Errc::OutOfRange, "behind the end"};
    const Result<Bytes> &from = window(offset);
    if (!from)
        return from.error();
    const std::size_t begin = std::min(static_cast<std::size_t>(offset % windowBytes), from->size());
    const std::size_t end = std::min(begin + rowBytes, from->size());
    return Bytes(from->begin() + static_cast<std::ptrdiff_t>(begin), from->begin() + static_cast<std::ptrdiff_t>(end));
}

std::optional<std::byte> HexModel::byte(std::uint64_t offset) const
{
    if (offset >= size())
        return std::nullopt;
    const Result<Bytes> &from = window(offset);
    const auto at = static_cast<std::size_t>(offset % windowBytes);
    return from && at < from->size() ? std::optional((*from)[at]) : std::nullopt;
}

int HexModel::rowCount(const QModelIndex &parent) const
{
    if (parent.isValid())
        return 0;
    const std::uint64_t rows = (size() + rowBytes - 1) / rowBytes;
    return static_cast<int>(std::min(rows - std::min(rows, m_page * pageRows), pageRows));
}

int HexModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant HexModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const std::uint64_t offset = m_page * pageBytes + static_cast<std::uint64_t>(index.row()) * rowBytes;
    switch (role) {
    case Qt::DisplayRole:
    case CopyRole: {
        if (index.column() == OffsetColumn)
            return format::offset(offset);
        const Result<Bytes> bytes = row(offset);
        if (!bytes)
            return index.column() == HexColumn ? toQt(describe(bytes.error())) : QString();
        return index.column() == HexColumn ? format::hex(*bytes) : format::ascii(*bytes);
    }
    case AnchorRole:
        return m_shown.artifact() ? m_shown.at(ByteRange{offset, std::min(offset + rowBytes, size())}) : QVariant();
    default: return {};
    }
}

QVariant HexModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case OffsetColumn: return QStringLiteral("Offset");
    case HexColumn: return QStringLiteral("Bytes");
    case TextColumn: return QStringLiteral("Text");
    default: return {};
    }
}

} // namespace prosector
