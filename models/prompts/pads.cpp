// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/prompts/pads.h"

#include <algorithm>

namespace prosector {

namespace {

std::optional<std::int64_t> idOf(const TokenizerView *view, std::string_view role)
{
    const SpecialRole *const found = view ? view->facts.role(role) : nullptr;
    return found ? found->id : std::nullopt;
}

std::size_t leading(const std::vector<std::int64_t> &ids, std::int64_t id)
{
    return static_cast<std::size_t>(std::find_if(ids.begin(), ids.end(), [&](auto i) { return i != id; }) - ids.begin());
}

std::size_t trailing(const std::vector<std::int64_t> &ids, std::int64_t id)
{
    return static_cast<std::size_t>(std::find_if(ids.rbegin(), ids.rend(), [&](auto i) { return i != id; }) - ids.rbegin());
}

bool allOnes(const TokenArray &array)
{
    return !array.mask.empty() && std::all_of(array.mask.begin(), array.mask.end(), [](auto m) { return m == 1; });
}

/// Transformers pads on the right unless the tokenizer says otherwise.
bool padsLeft(const TokenizerView *view)
{
    if (!view || view->gguf)
        return false;
    const Artifact *const config = view->run->find(view->folder->tokenizerConfig);
    return config && config->tree()["padding_side"].string("") == "left";
}

} // namespace

Stretches stretchesOf(const TokenArray &array, const std::vector<const TokenArray *> &batch, const TokenizerView *view)
{
    Stretches result;
    const std::size_t size = array.ids.size();
    const auto pad = idOf(view, "pad"), bos = idOf(view, "bos"), eos = idOf(view, "eos");
    if (array.mask.size() == size && size > 0) {
        if (allOnes(array) && pad && batch.size() >= 2 && std::all_of(batch.begin(), batch.end(), [](auto *row) { return allOnes(*row); })) {
            std::vector<std::size_t> left, right;
            for (const TokenArray *const row : batch) {
                left.push_back(leading(row->ids, *pad));
                right.push_back(trailing(row->ids, *pad));
            }
            const auto unequal = [](const std::vector<std::size_t> &runs) { return std::any_of(runs.begin(), runs.end(), [&](auto r) { return r != runs[0]; }); };
            const std::size_t l = leading(array.ids, *pad), r = trailing(array.ids, *pad);
            if ((unequal(left) && l >= 2) || (unequal(right) && r >= 2)) {
                const std::size_t from = unequal(left) && l >= 2 ? l : 0;
                const std::size_t to = unequal(right) && r >= 2 ? size - std::min(r, size) : size;
                result.forgotten = true;
                result.pads = size - (to > from ? to - from : 0);
                if (to > from)
                    result.parts.push_back({from, to});
                return result;
            }
        }
        for (std::size_t at = 0; at < size;) {
            if (array.mask[at] == 0) {
                ++result.pads;
                ++at;
                continue;
            }
            std::size_t end = at + 1;
            while (end < size && array.mask[end] == array.mask[at])
                ++end;
            result.parts.push_back({at, end});
            at = end;
        }
        return result;
    }
    std::size_t from = 0, to = size;
    if (pad && pad != bos && pad != eos) {
        if (padsLeft(view))
            from = leading(array.ids, *pad);
        else
            to = size - trailing(array.ids, *pad);
        if (from >= size || to == 0)
            from = to = 0; // nothing but padding
    } else if (pad && pad == bos && leading(array.ids, *pad) >= 2) {
        result.undecidable = "padding and start are one id, and there is no attention mask";
    }
    result.pads = size - (to - from);
    if (to > from)
        result.parts.push_back({from, to});
    return result;
}

} // namespace prosector
