// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/tokenrecord.h"

#include "models/artifacts/problems.h"
#include "models/core/wording.h"

#include <array>

namespace prosector {

namespace {

bool isId(Value value)
{
    return value.integer().has_value();
}

bool isText(Value value)
{
    return value.isString();
}

bool isLogProbability(Value value)
{
    return value.isNumber() || value.isNull();
}

bool isAnything(Value)
{
    return true;
}

bool isOffset(Value value)
{
    const auto from = value[0].integer(), to = value[1].integer();
    return value.size() == 2 && from && to && *from >= 0 && *from <= *to;
}

struct Column {
    const char *key;
    bool (*fits)(Value);
    std::string_view element;
};
constexpr std::array columns = std::to_array<Column>({
    {"ids", isId, "whole numbers"},
    {"pieces", isText, "texts"},
    {"offsets", isOffset, "pairs of bytes, the first not behind the second"},
    {"roles", isText, "texts"},
    {"logprobs", isLogProbability, "numbers or null"},
    {"top_logprobs", isAnything, ""},
});

std::string shown(Value value)
{
    return std::string(value.raw().substr(0, 40));
}

void lookAtColumn(const Column &column, Value list, std::size_t count, Problems &problems)
{
    if (!list.isArray()) {
        problems.add({Errc::Malformed, std::string(column.key) + " is no list", list.anchor(), "a list", shown(list)});
        return;
    }
    if (list.size() != count) {
        problems.add({Errc::Malformed, std::string(column.key) + " runs beside ids, but has another length", list.anchor(),
                      counted(count, "element"), std::to_string(list.size())});
    }
    // A path costs as much as its list is long: the first place says what is wrong, the rest is counted.
    Value first;
    std::uint64_t wrong = 0;
    for (const Value element : list) {
        if (column.fits(element))
            continue;
        if (wrong++ == 0)
            first = element;
    }
    if (wrong > 0) {
        problems.add({Errc::Malformed,
                      std::string(column.key) + " holds " + counted(wrong, "element") + " of another kind", first.anchor(),
                      std::string(column.element), shown(first)});
    }
}

void lookAtRecord(Value record, Problems &problems)
{
    const Value ids = record["ids"];
    if (!ids.isArray())
        return;
    for (const Column &column : columns) {
        if (const Value list = record[column.key]; list.isSet())
            lookAtColumn(column, list, ids.size(), problems);
    }
    if (const Value length = record["prompt_length"]; length.isSet()) {
        const auto number = length.integer();
        if (!number || *number < 0 || static_cast<std::uint64_t>(*number) > ids.size()) {
            problems.add({Errc::OutOfRange, "prompt_length is not within the ids", length.anchor(),
                          "a whole number from 0 to " + std::to_string(ids.size()), shown(length)});
        }
    }
}

} // namespace

std::vector<Error> tokenRecordProblems(Value root)
{
    Problems problems;
    if (root.isArray()) {
        for (const Value record : root)
            lookAtRecord(record, problems);
    } else {
        lookAtRecord(root, problems);
    }
    return problems.take();
}

} // namespace prosector
