// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/reader.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace prosector {

/// The reader of this id; the tests' linker would not find it otherwise.
inline const Reader &readerById(std::string_view id)
{
    const auto all = readers();
    return **std::find_if(all.begin(), all.end(), [&](const Reader *reader) { return reader->id == id; });
}

/// Opens bytes in memory with one reader, whatever it would say on sniffing.
inline Result<Reading> readWith(std::string_view id, std::string_view bytes, std::string name = "file", const Job &job = {})
{
    return readerById(id).open(memorySource(std::move(name), bytes), job);
}

/// The id of the reader that would open these bytes, or nothing.
inline std::string_view sniffed(std::string_view name, std::string_view bytes)
{
    const auto head = std::as_bytes(std::span(bytes)).first(std::min<std::size_t>(bytes.size(), headBytes));
    const Reader *const reader = sniff({name, head, bytes.size()});
    return reader ? reader->id : std::string_view();
}

/// Every problem in one line, for messages of failed tests.
inline std::string describeProblems(const Result<Reading> &reading)
{
    if (!reading)
        return "error: " + describe(reading.error());
    std::string text;
    for (const Error &problem : reading->problems)
        text += (text.empty() ? "" : "; ") + describe(problem);
    return text;
}

} // namespace prosector
