// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/anchor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prosector {

/// Ordered by how much it asks for attention.
enum class Severity : std::uint8_t { Ok, Undecidable, Info, Warning, Error };
std::string_view nameOf(Severity severity); ///< "ok", "undecidable", "info", "warning", "error"
std::optional<Severity> severityFromString(std::string_view text);

/// Which run a piece of evidence belongs to.
enum class Side : std::uint8_t { A, B };

/// Where one can see it. Never without a note that says what is to be seen there.
struct Evidence {
    ArtifactId artifact;
    Anchor where = Whole{};
    std::string note{};
    Side side = Side::A;
};

/// A number with what is needed to judge it.
struct Measure {
    double number = 0;
    std::string unit{};
    std::optional<std::pair<double, double>> interval{}; ///< 95 %
    std::optional<double> p{};
    std::optional<std::uint64_t> n{};
};

/// One claim of one instrument. `evidence` is never empty.
struct Finding {
    std::string code; ///< stable, "tokens.bos.duplicate"
    Severity severity = Severity::Info;
    std::string title;  ///< one plain sentence
    std::string detail; ///< what follows, where the values came from
    std::optional<Measure> measure{};
    std::vector<Evidence> evidence{};
    std::string falseIf{};               ///< what would make it untrue
    std::vector<std::string> innocent{}; ///< suspects this result rules out
    std::vector<std::string> next{};     ///< ids of instruments worth reading next
};

/// One cell of a table: what it says, and where it comes from if that can be shown.
struct Cell {
    std::string text;
    std::optional<Evidence> source{};
    Severity severity = Severity::Ok;
    bool numeric = false; ///< right-aligned
};
struct Table {
    std::string title;
    std::vector<std::string> columns;
    std::vector<std::vector<Cell>> rows;
};

/// Points to plot; NaN in `y` breaks the line.
struct Series {
    std::string title, xLabel, yLabel;
    std::vector<double> x, y;
    struct Mark {
        double x, y;
        std::string label;
        Severity severity = Severity::Warning;
    };
    std::vector<Mark> marks{};
    bool bars = false;
};

/// A small matrix to draw as cells (layers × suffixes, replicas × files); row-major.
struct Grid {
    std::string title;
    std::vector<std::string> rowLabels, columnLabels;
    std::vector<Cell> cells;
};

/// What an instrument has to say. No findings and nothing missing: all was looked at and is well.
struct Report {
    std::vector<Finding> findings{};
    std::vector<Table> tables{};
    std::vector<Series> series{};
    std::vector<Grid> grids{};
    std::vector<std::string> missing{}; ///< inputs without which nothing could be said: undecidable
    std::vector<std::string> notSeen{}; ///< parts that could not be looked at, for want of what

    bool undecidable() const { return !missing.empty(); }
    /// The worst of the findings; Undecidable when inputs are missing; else Ok.
    Severity worst() const;
    static Report missingInputs(std::vector<std::string> names) { return {.missing = std::move(names)}; }
};

} // namespace prosector
