// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/instruments/instrument.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace prosector {

/// What an examination can be written as. All are UTF-8, depend on the examination alone (no clock,
/// locale or order of hashing), and carry no control or direction characters of opened files: names
/// and texts in there are hostile input.
enum class ReportFormat : std::uint8_t { Text, Json, Sarif, Html, Markdown };
std::string_view nameOf(ReportFormat format); ///< as on the command line: "text", "json", …
inline constexpr std::array reportFormats{ReportFormat::Text, ReportFormat::Json, ReportFormat::Sarif,
                                          ReportFormat::Html, ReportFormat::Markdown};

/// The whole report as the bytes of a file.
std::string writeReport(ReportFormat format, const Examination &examination);

/// How the text form is laid out: lines of at most `width` columns where words allow, ANSI colours.
struct TextStyle {
    std::size_t width = 80;
    bool colour = false;
};
std::string toText(const Examination &examination, const TextStyle &style = {});
/// Schema "prosector.report/1" (described in README.md).
std::string toJson(const Examination &examination);
/// SARIF 2.1.0 (OASIS): one rule per finding code, byte regions, logical locations for JSON paths.
std::string toSarif(const Examination &examination);
/// One page that needs nothing else: no script, no outside reference.
std::string toHtml(const Examination &examination);
/// GitHub-flavoured.
std::string toMarkdown(const Examination &examination);

/// The anchor as the report's `locator` object.
nlohmann::ordered_json locatorJson(const Anchor &anchor);
/// JSON of what `artifacts` lists.
std::string artifactsJson(const Run &run);
std::string artifactsText(const Run &run);

} // namespace prosector
