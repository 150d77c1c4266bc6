// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/artifact.h"
#include "models/core/job.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// Records with named fields, whatever file they come from: CSV (also tab- or semicolon-separated;
/// quoting as in RFC 4180), JSON Lines, a JSON list of objects, or an object that holds one such list
/// beside settings of the whole table. Objects inside a record become columns "outer.inner"; lists stay
/// one cell, in their JSON spelling. Cells are text: "" where a record lacks the field or holds null.
class RowTable {
public:
    static constexpr std::size_t maxRows = 1'000'000, maxColumns = 512;

    /// Nothing when the artifact holds no records. Error only when cancelled.
    static Result<std::optional<RowTable>> of(const Artifact &artifact, const Job &job);
    /// The columns of the first record alone: cheap, to decide whether the rest is worth reading.
    static std::vector<std::string> columnsOf(const Artifact &artifact);

    const std::vector<std::string> &columns() const { return m_columns; }
    std::size_t rowCount() const { return m_rows.size(); }
    bool cut() const { return m_cut; } ///< there are rows or columns beyond the limits

    /// Index of a column by name without regard to case.
    std::optional<std::size_t> column(std::string_view name) const;
    std::string_view text(std::size_t row, std::size_t column) const;
    /// Numbers, and true and false as 1 and 0. Nothing for other text, NaN and infinities.
    std::optional<double> number(std::size_t row, std::size_t column) const;
    /// Where a row stands: its lines, or its path.
    Anchor anchor(std::size_t row) const;
    Anchor anchor(std::size_t first, std::size_t last) const; ///< several lines; the first path for JSON

    /// The object around a JSON list, for settings of the whole table; missing otherwise.
    Value outer() const { return m_outer; }

private:
    struct Row {
        std::vector<std::string> cells;
        std::uint64_t line = 0, lastLine = 0;
        std::string path;
    };
    void addObject(Value object, Row row);
    void addCells(Value object, const std::string &prefix, Row &row, int depth);
    bool fromCsv(const TextContent &content, const Job &job);
    bool fromLines(const LinesContent &content, const Job &job);
    bool fromList(Value list, const Job &job);

    std::vector<std::string> m_columns;
    std::vector<Row> m_rows;
    Value m_outer;
    bool m_cut = false;
};

/// Plain decimal text as a number, whatever the locale; also "true" and "false".
std::optional<double> numberOf(std::string_view text);

} // namespace prosector
