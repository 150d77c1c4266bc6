// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/encoding.h"

namespace prosector {

void Encoding::erase(std::size_t begin, std::size_t end)
{
    const auto cut = [&](auto &list) {
        if (list.size() >= end)
            list.erase(list.begin() + static_cast<std::ptrdiff_t>(begin), list.begin() + static_cast<std::ptrdiff_t>(end));
    };
    cut(ids);
    cut(tokens);
    cut(offsets);
    cut(inserted);
}

void Encoding::insert(std::size_t at, std::size_t count, std::uint32_t id, const std::string &token)
{
    const auto put = [&](auto &list, const auto &value) {
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), count, value);
    };
    if (!tokens.empty() || ids.empty()) // spelt like the others
        put(tokens, token);
    put(ids, id);
    put(offsets, TextRange{});
    put(inserted, true);
}

} // namespace prosector
