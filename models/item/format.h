// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/place.h"
#include "models/runs/run.h"
#include "models/session/text.h"

#include <QString>

#include <span>

namespace prosector {

struct Measure;
struct Outcome;
struct Error;

/// How numbers and names are written on screen, in one place (VISUAL, "Type and space").
namespace format {

/// 1 234 567 with thin spaces (U+2009).
QString grouped(std::uint64_t number);
QString grouped(std::int64_t number);
/// Four significant digits, thousands grouped; whole numbers exactly.
QString number(double number);
/// "14.2 GB": decimal units, as in the readers' summaries.
QString bytes(std::uint64_t size);
/// "14 200 000 000 bytes".
QString exactBytes(std::uint64_t size);
/// "0x0001a2b0".
QString offset(std::uint64_t offset);
/// "48 65 6C 6C 6F" with a wider gap after the eighth byte.
QString hex(std::span<const std::byte> bytes);
/// Printable ASCII, everything else as a middle dot.
QString ascii(std::span<const std::byte> bytes);
/// "191 tensors", "1 tensor".
QString counted(std::uint64_t count, const char *singular, const char *plural);

/// "3 files", "1 file", "2.4 s".
QString measured(const Measure &measure);

/// One line for a cell: line breaks as ⏎, tabs as ⇥, other controls as their picture (U+2400 …),
/// cut with … behind `limit` characters. Reads no more of `text` than it shows.
QString oneLine(std::string_view text, int limit = 300);

/// The same for a literal of a file: JSON lists and objects that stand on several lines lose their
/// line breaks and indentation, outside of strings.
QString literal(std::string_view text, int limit = 300);

/// "config.json", or "" when the place is not open.
QString artifactName(const Place &place, const Run *run);
/// "config.json $.eos_token_id", "server.log line 12".
QString place(const Place &place, const Run *run);
/// The verdict of an instrument in one sentence; says what is missing when nothing could be said.
QString sentence(const Outcome &outcome);
/// "Error", "Warning", "Note", "Passed", "Undecidable".
QString severity(Severity severity);
/// "Weights", "Chat template".
QString kind(Kind kind);

} // namespace format

} // namespace prosector
