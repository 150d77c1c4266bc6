// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/textlines.h"

#include "models/core/utf8.h"
#include "models/session/text.h"

#include <algorithm>

namespace prosector {

namespace {

/// Rough width in cells; only decides where long lines are cut.
std::uint32_t cellsOf(char32_t c)
{
    return c >= 0x1100 && (c <= 0x115F || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3)
                           || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F)
                           || (c >= 0xFF00 && c <= 0xFF60) || (c >= 0x1F300 && c <= 0x1FAFF))
        ? 2
        : 1;
}

bool invisible(char32_t c)
{
    return c == 0xAD || c == 0x34F || c == 0x61C || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E)
        || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0x80 && c < 0xA0) || c == 0x7F;
}

} // namespace

TextLines::TextLines(std::shared_ptr<const std::string> text, std::uint64_t base, std::uint64_t firstLine,
                     std::uint32_t columns, const Job &job)
    : m_text(std::move(text)), m_base(base), m_firstLine(firstLine)
{
    const std::string_view all = *m_text;
    std::uint64_t line = firstLine;
    std::uint32_t cells = 0;
    const auto startRow = [&](std::size_t at, bool newLine) {
        if (m_rows.size() % checkpoint == 0)
            m_lines.push_back(line);
        m_rows.push_back(static_cast<std::uint32_t>(at) | (newLine ? lineFlag : 0));
        cells = 0;
    };
    startRow(0, true);
    for (std::size_t i = 0; i < all.size();) {
        if ((m_rows.size() & 0xFFF) == 0 && job.cancelled())
            return;
        const auto byte = static_cast<unsigned char>(all[i]);
        if (byte == '\n') {
            ++line;
            ++i;
            startRow(i, true);
            continue;
        }
        std::uint32_t width = 1;
        std::size_t length = 1;
        if (byte >= 0x80) {
            const CodePoint point = decodeUtf8(all, i);
            length = point.length;
            width = point.valid ? cellsOf(point.value) : 4;
        } else if (byte == '\t') {
            width = 4;
        }
        if (cells > 0 && cells + width > columns)
            startRow(i, false);
        cells += width;
        i += length;
    }
    m_lastLine = line;
}

std::uint64_t TextLines::rowStart(std::uint64_t index) const { return m_base + (m_rows[index] & ~lineFlag); }
bool TextLines::startsLine(std::uint64_t index) const { return m_rows[index] & lineFlag; }

std::string_view TextLines::row(std::uint64_t index) const
{
    const std::size_t from = m_rows[index] & ~lineFlag;
    std::size_t to = index + 1 < m_rows.size() ? m_rows[index + 1] & ~lineFlag : m_text->size();
    if (to > from && (*m_text)[to - 1] == '\n')
        --to;
    if (to > from && (*m_text)[to - 1] == '\r')
        --to;
    return std::string_view(*m_text).substr(from, to - from);
}

std::uint64_t TextLines::lineOf(std::uint64_t row) const
{
    std::uint64_t line = m_lines[row / checkpoint];
    for (std::uint64_t i = row / checkpoint * checkpoint + 1; i <= row; ++i)
        line += startsLine(i) ? 1 : 0;
    return line;
}

std::uint64_t TextLines::rowOfOffset(std::uint64_t offset) const
{
    if (m_rows.empty() || offset <= m_base)
        return 0;
    const auto after = std::upper_bound(m_rows.begin(), m_rows.end(), offset - m_base,
                                        [](std::uint64_t at, std::uint32_t row) { return at < (row & ~lineFlag); });
    return static_cast<std::uint64_t>(after - m_rows.begin()) - 1;
}

std::uint64_t TextLines::rowOfLine(std::uint64_t line) const
{
    if (m_rows.empty() || line <= m_firstLine)
        return 0;
    if (line > m_lastLine)
        return m_rows.size() - 1;
    // The last checkpoint whose line is before this one, then forward.
    const auto after = std::lower_bound(m_lines.begin(), m_lines.end(), line);
    const auto block = static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(0, after - m_lines.begin() - 1));
    std::uint64_t row = block * checkpoint;
    std::uint64_t at = m_lines[block];
    while (row + 1 < m_rows.size() && !(at == line && startsLine(row))) {
        ++row;
        at += startsLine(row) ? 1 : 0;
    }
    return row;
}

int DisplayRow::indexOf(std::uint32_t byte) const
{
    const auto after = std::upper_bound(byteOf.begin(), byteOf.end(), byte);
    const auto index = static_cast<int>(after - byteOf.begin()) - 1;
    // The first unit of the character (a replacement has several for one byte).
    return static_cast<int>(std::lower_bound(byteOf.begin(), byteOf.end(), byteOf[static_cast<std::size_t>(std::max(0, index))])
                            - byteOf.begin());
}

DisplayRow displayRow(std::string_view bytes)
{
    DisplayRow row;
    const auto add = [&row](const QString &text, std::size_t byte, bool shown) {
        if (shown)
            row.shown.push_back({static_cast<int>(row.text.size()), static_cast<int>(text.size())});
        row.text += text;
        row.byteOf.resize(static_cast<std::size_t>(row.text.size()), static_cast<std::uint32_t>(byte));
    };
    for (std::size_t i = 0; i < bytes.size();) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        if (byte >= 0x20 && byte < 0x7F) {
            row.text += QLatin1Char(static_cast<char>(byte));
            row.byteOf.push_back(static_cast<std::uint32_t>(i++));
            continue;
        }
        if (byte == '\t') {
            add(QStringLiteral("⇥").leftJustified(4 - static_cast<int>(row.text.size() % 4), QLatin1Char(' ')), i++, true);
            continue;
        }
        if (byte < 0x20) {
            add(QString(QChar(static_cast<char16_t>(0x2400 + byte))), i++, true);
            continue;
        }
        const CodePoint point = decodeUtf8(bytes, i);
        if (!point.valid) {
            QString hex;
            for (std::size_t k = i; k < i + point.length; ++k) {
                hex += (k > i ? QStringLiteral(" ") : QString())
                    + QString::number(static_cast<unsigned char>(bytes[k]), 16).rightJustified(2, QLatin1Char('0')).toUpper();
            }
            add(QStringLiteral("‹%1›").arg(hex), i, true);
        } else if (point.value == 0xA0) {
            add(QStringLiteral("⍽"), i, true);
        } else if (invisible(point.value)) {
            add(QStringLiteral("‹U+%1›").arg(static_cast<uint>(point.value), 4, 16, QLatin1Char('0')).toUpper(), i, true);
        } else {
            add(QString::fromUcs4(&point.value, 1), i, false);
        }
        i += point.length;
    }
    row.byteOf.push_back(static_cast<std::uint32_t>(bytes.size()));
    return row;
}

} // namespace prosector
