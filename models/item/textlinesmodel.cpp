// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/textlinesmodel.h"

#include "models/item/format.h"
#include "models/runs/locate.h"

#include <algorithm>

namespace prosector {

namespace {

std::vector<std::uint64_t> lineStarts(std::string_view text)
{
    std::vector<std::uint64_t> starts{0};
    for (std::size_t at = text.find('\n'); at != std::string_view::npos && at + 1 < text.size();
         at = text.find('\n', at + 1))
        starts.push_back(at + 1);
    return starts;
}

} // namespace

void TextLinesModel::setArtifact(const RunPtr &run, const Place &place)
{
    beginResetModel();
    m_shown = Shown(run, place);
    m_lines = m_shown.as<LinesContent>();
    m_text = {};
    m_starts.clear();
    const Artifact *const artifact = m_shown.artifact();
    if (artifact && !m_lines)
        m_text = textOf(*artifact);
    if (const auto *const text = m_shown.as<TextContent>())
        m_starts.assign(text->lineStarts.begin(), text->lineStarts.end());
    else if (!m_text.empty())
        m_starts = lineStarts(m_text);
    endResetModel();
}

std::uint64_t TextLinesModel::lineNumber(int row) const
{
    const auto at = static_cast<std::size_t>(row);
    if (m_lines)
        return m_lines->lines[at].line;
    // Lines left out of a long text have no row.
    const auto *const text = m_shown.as<TextContent>();
    return at + 1 + (text && m_starts[at] >= text->gap.at ? text->gap.lines : 0);
}

ByteRange TextLinesModel::lineBytes(int row) const
{
    const auto at = static_cast<std::size_t>(row);
    if (m_lines)
        return {m_lines->lines[at].offset, m_lines->lines[at].offset + m_lines->lines[at].length};
    const auto begin = static_cast<std::size_t>(m_starts[at]);
    std::size_t end = at + 1 < m_starts.size() ? static_cast<std::size_t>(m_starts[at + 1]) : m_text.size();
    if (end > begin && m_text[end - 1] == '\n')
        --end;
    if (end > begin && m_text[end - 1] == '\r')
        --end;
    return {begin, end};
}

std::string TextLinesModel::line(int row, std::size_t limit) const
{
    const ByteRange bytes = lineBytes(row);
    const std::uint64_t length = std::min<std::uint64_t>(bytes.size(), limit);
    if (!m_lines)
        return std::string(m_text.substr(static_cast<std::size_t>(bytes.from), static_cast<std::size_t>(length)));
    const auto read = m_lines->source->readUpTo(bytes.from, length);
    return read ? std::string(asText(*read)) : describe(read.error());
}

int TextLinesModel::rowOfByte(std::uint64_t offset) const
{
    if (m_lines) {
        const auto &lines = m_lines->lines;
        return static_cast<int>(std::upper_bound(lines.begin(), lines.end(), offset,
                                                 [](std::uint64_t o, const auto &l) { return o < l.offset; })
                                - lines.begin())
            - 1;
    }
    if (const auto *const text = m_shown.as<TextContent>(); text && offset >= text->gap.at + text->gap.bytes)
        offset -= text->gap.bytes;
    else if (text)
        offset = std::min(offset, text->gap.at);
    return static_cast<int>(std::upper_bound(m_starts.begin(), m_starts.end(), offset) - m_starts.begin()) - 1;
}

int TextLinesModel::rowFor(const Anchor &where) const
{
    const Artifact *const artifact = m_shown.artifact();
    const auto bytes = artifact ? anchorToBytes(*artifact, where) : std::nullopt;
    return bytes ? rowOfByte(bytes->from) : -1;
}

int TextLinesModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_lines ? m_lines->lines.size() : m_starts.size());
}

int TextLinesModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant TextLinesModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const std::uint64_t number = lineNumber(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return index.column() == LineColumn ? format::grouped(number)
                                            : format::oneLine(line(index.row(), lineLimit * 4), lineLimit);
    case CopyRole: return index.column() == LineColumn ? QString::number(number) : toQt(line(index.row()));
    case Qt::TextAlignmentRole: return index.column() == LineColumn ? numberAlignment() : QVariant();
    case AnchorRole:
        // Lines are anchors of texts that are read as lines; elsewhere bytes say the same.
        if (m_lines || m_shown.as<TextContent>())
            return m_shown.at(LogLine{number, number});
        return m_shown.at(lineBytes(index.row()));
    default: return {};
    }
}

QVariant TextLinesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    return section == LineColumn ? QStringLiteral("Line") : QStringLiteral("Text");
}

} // namespace prosector
