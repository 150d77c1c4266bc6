// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/job.h"

#include <QString>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// Text cut into rows for drawing: at line ends, and within long lines after `columns` cells, never
/// inside a code point. Immutable once built; built in a worker thread.
class TextLines {
public:
    /// At most this much text is shown at once; larger files are shown in pieces.
    static constexpr std::uint64_t pieceSize = 32ULL << 20;

    TextLines() = default;
    /// `base` is the file offset of text[0]; `firstLine` the number of its line.
    TextLines(std::shared_ptr<const std::string> text, std::uint64_t base, std::uint64_t firstLine, std::uint32_t columns,
              const Job &job);

    std::uint64_t rowCount() const { return m_rows.size(); }
    std::uint64_t base() const { return m_base; }
    std::uint64_t end() const { return m_base + (m_text ? m_text->size() : 0); }
    std::uint64_t lastLine() const { return m_lastLine; }
    const std::shared_ptr<const std::string> &text() const { return m_text; }

    /// Bytes of a row without its line end.
    std::string_view row(std::uint64_t index) const;
    /// File offset where it starts.
    std::uint64_t rowStart(std::uint64_t index) const;
    bool startsLine(std::uint64_t index) const;
    /// Number of the line the row belongs to, from 1.
    std::uint64_t lineOf(std::uint64_t row) const;
    std::uint64_t rowOfOffset(std::uint64_t offset) const;
    std::uint64_t rowOfLine(std::uint64_t line) const;

private:
    static constexpr std::uint32_t lineFlag = 1U << 31;
    static constexpr std::size_t checkpoint = 1024; ///< rows between stored line numbers

    std::shared_ptr<const std::string> m_text;
    std::uint64_t m_base = 0, m_firstLine = 1, m_lastLine = 1;
    std::vector<std::uint32_t> m_rows; ///< offset in m_text, lineFlag when a line starts there
    std::vector<std::uint64_t> m_lines; ///< line of rows 0, checkpoint, 2·checkpoint …
};

/// A row as it is drawn: control and invisible characters shown, each UTF-16 unit tied to its byte.
struct DisplayRow {
    QString text;
    std::vector<std::uint32_t> byteOf; ///< per UTF-16 unit, and one more for the end
    struct Span {
        int from, length;
    };
    std::vector<Span> shown; ///< stands for something that has no glyph
    /// UTF-16 index of the character holding this byte of the row.
    int indexOf(std::uint32_t byte) const;
};
DisplayRow displayRow(std::string_view bytes);

} // namespace prosector
