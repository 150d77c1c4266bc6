// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/iterators.h"

#include "models/templates/operators.h"
#include "models/templates/pystring.h"
#include "models/templates/renderer.h"

#include <algorithm>

namespace prosector::jinja {

bool TextIterator::next(Renderer &, Var &item)
{
    const std::string_view bytes = m_string.view();
    if (m_at >= bytes.size())
        return false;
    const std::size_t end = m_at + characterLength(bytes, m_at);
    item = slice(m_string, m_at, end);
    m_at = end;
    return true;
}

bool Generator::next(Renderer &renderer, Var &item)
{
    if (m_done)
        return false;
    const Renderer::Depth depth(renderer); // generators may draw from generators from generators…
    m_done = !m_next(renderer, item);
    return !m_done;
}

bool DictIterator::next(Renderer &, Var &item)
{
    const auto &entries = m_dict.dict().entries;
    if (m_at >= entries.size())
        return false;
    const Dict::Entry &entry = entries[m_backwards ? entries.size() - 1 - m_at : m_at];
    ++m_at;
    switch (m_part) {
    case DictPart::Keys: item = entry.key; break;
    case DictPart::Values: item = entry.value; break;
    case DictPart::Items: item = makeTuple({entry.key, entry.value}); break;
    }
    return true;
}

std::string_view DictView::typeName() const
{
    return m_part == DictPart::Keys ? "dict_keys" : m_part == DictPart::Values ? "dict_values" : "dict_items";
}

std::string DictView::repr() const
{
    std::vector<Var> items;
    for (const Dict::Entry &entry : m_dict.dict().entries)
        items.push_back(m_part == DictPart::Keys     ? entry.key
                        : m_part == DictPart::Values ? entry.value
                                                     : makeTuple({entry.key, entry.value}));
    return std::string(typeName()) + "(" + jinja::repr(makeList(std::move(items))) + ")";
}

bool DictView::equals(const Object &other) const
{
    const auto *const view = dynamic_cast<const DictView *>(&other);
    if (!view || m_part == DictPart::Values || view->m_part != m_part)
        return this == &other;
    if (m_part == DictPart::Items)
        return equal(m_dict, view->m_dict);
    if (m_dict.dict().entries.size() != view->m_dict.dict().entries.size())
        return false;
    for (const Dict::Entry &entry : m_dict.dict().entries) {
        if (!view->m_dict.dict().find(entry.key))
            return false;
    }
    return true;
}

std::int64_t RangeObject::count() const
{
    if (m_step > 0 ? m_stop <= m_start : m_stop >= m_start)
        return 0;
    // Unsigned: the span of two numbers of 64 bits.
    const auto low = static_cast<std::uint64_t>(m_step > 0 ? m_start : m_stop), high = static_cast<std::uint64_t>(m_step > 0 ? m_stop : m_start);
    const std::uint64_t width = m_step > 0 ? static_cast<std::uint64_t>(m_step) : 0 - static_cast<std::uint64_t>(m_step);
    const std::uint64_t count = (high - low - 1) / width + 1;
    return static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX));
}

std::string RangeObject::repr() const
{
    std::string out = "range(" + std::to_string(m_start) + ", " + std::to_string(m_stop);
    return out + (m_step == 1 ? ")" : ", " + std::to_string(m_step) + ")");
}

std::optional<Var> RangeObject::attribute(Renderer &, std::string_view name)
{
    if (name == "start")
        return Var::integer(m_start);
    if (name == "stop")
        return Var::integer(m_stop);
    if (name == "step")
        return Var::integer(m_step);
    return std::nullopt;
}

std::optional<Var> RangeObject::item(Renderer &, const Var &key)
{
    if (!key.isIntegral())
        return std::nullopt;
    const std::int64_t size = count(), index = key.asInt() < 0 ? key.asInt() + size : key.asInt();
    return index >= 0 && index < size ? std::optional(Var::integer(at(index))) : std::nullopt;
}

Ref<Iterator> RangeObject::iterate(Renderer &)
{
    return Ref<Iterator>(new Generator([start = m_start, step = m_step, size = count(), i = std::int64_t{0}](Renderer &, Var &item) mutable {
        if (i >= size)
            return false;
        item = Var::integer(start + i++ * step);
        return true;
    }));
}

bool RangeObject::equals(const Object &other) const
{
    const auto *const range = dynamic_cast<const RangeObject *>(&other);
    if (!range || count() != range->count())
        return false;
    return count() == 0 || (m_start == range->m_start && (count() == 1 || m_step == range->m_step));
}

} // namespace prosector::jinja
