// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/artifact.h"

#include <span>
#include <string>
#include <string_view>

namespace prosector {

/// What a JSON or YAML tree is, by its keys. Most of what surrounds a language model is a JSON object
/// that only its keys tell apart, so this is a table and not a reader each: a new kind of file is a row.
///
/// `keys` is a list of alternatives parted by `|`, each a list of conditions joined by spaces, all of
/// which must hold: `name` the root has that member; `name:a` as an array, `:o` object, `:s` string,
/// `:n` number, `:b` boolean; `!name` it has not; `a/b` member b of member a. A trailing `*` matches any
/// member beginning so. For `records` the conditions hold for each record: the root object, the first
/// element of a root array, the first line of a JSON Lines file.
///
/// The row with the most conditions met wins, a fitting file name adds three; a file name alone counts
/// less than any key. Names are patterns parted by spaces, `*` stands for any run of characters.
struct Shape {
    std::string_view format; ///< the artifact's `format`
    Kind kind = Kind::Data;
    std::string_view names;
    std::string_view keys;
    bool records = false;                  ///< also in arrays and JSON Lines
    std::string (*summary)(Value) = nullptr; ///< of the root or first record; a short phrase
    bool (*test)(Value) = nullptr;         ///< for what keys cannot say; counts as two conditions
    bool nameDecides = false;              ///< any object may stand in it: the name is what makes it this
};

/// Rows by subject; each table is one source file.
std::span<const Shape> modelShapes(); ///< what lies in a model folder
std::span<const Shape> wireShapes();  ///< requests, responses, servers
std::span<const Shape> traceShapes(); ///< tokens, caches, training, evaluation, metrics

/// The best row for a whole tree, or null. `name` is the file name without folders.
const Shape *classify(Value root, std::string_view name);
/// The best row for a JSON Lines file with that first record, or null.
const Shape *classifyRecord(Value record, std::string_view name);

/// The row a file name alone promises, or null: for saying that a name and its content disagree.
const Shape *shapeByName(std::string_view name);

/// Whether `name` fits a pattern with `*`, both in lower case ASCII.
bool matchesPattern(std::string_view name, std::string_view pattern);
/// Any of several patterns parted by spaces.
bool matchesAny(std::string_view name, std::string_view patterns);

} // namespace prosector
