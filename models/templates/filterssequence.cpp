// SPDX-License-Identifier: GPL-3.0-or-later
// Filters of lists, dictionaries and whatever can be iterated.
#include "models/templates/access.h"
#include "models/templates/arguments.h"
#include "models/templates/filters.h"
#include "models/templates/iterators.h"
#include "models/templates/operators.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"
#include "models/templates/renderer.h"

#include <algorithm>

namespace prosector::jinja {

namespace {

Var length(Renderer &renderer, const Var &input, Arguments &arguments)
{
    bind(arguments, "len", {}, 0, 1);
    if (const auto known = lengthOf(renderer, input))
        return Var::integer(*known);
    raise(Exc::TypeError, "object of type '" + typeName(input) + "' has no len()");
}

Var list(Renderer &renderer, const Var &input, Arguments &arguments)
{
    bind(arguments, "sync_do_list", {}, 0, 1);
    return makeList(itemsOf(renderer, input)).withSource(input.isString() ? 0 : input.source());
}

Var first(Renderer &renderer, const Var &input, Arguments &arguments)
{
    bind(arguments, "sync_do_first", {}, 0, 2);
    Var item;
    if (iterate(renderer, input)->next(renderer, item))
        return item;
    return undefinedHint("No first item, sequence was empty.");
}

/// reversed(value), or nothing where Python raises TypeError.
Ref<Iterator> backwards(const Var &value)
{
    if (value.isSequence())
        return Ref<Iterator>(new SequenceIterator(value, true));
    if (value.isDict())
        return Ref<Iterator>(new DictIterator(value, DictPart::Keys, true));
    if (const auto *const view = as<DictView>(value))
        return Ref<Iterator>(new DictIterator(view->dict(), view->part(), true));
    return {};
}

Ref<Iterator> backwards(Renderer &renderer, const Var &value)
{
    if (const auto *const range = as<RangeObject>(value)) {
        const std::int64_t count = range->count();
        return RangeObject(range->at(count - 1), range->at(-1), -range->step()).iterate(renderer);
    }
    return backwards(value);
}

Var last(Renderer &renderer, const Var &input, Arguments &arguments)
{
    bind(arguments, "do_last", {}, 0, 2);
    if (input.isString()) {
        const auto character = characterAt(input, -1);
        return character ? *character : undefinedHint("No last item, sequence was empty.");
    }
    const Ref<Iterator> iterator = backwards(renderer, input);
    if (!iterator)
        raise(Exc::TypeError, "'" + typeName(input) + "' object is not reversible");
    Var item;
    return iterator->next(renderer, item) ? item : undefinedHint("No last item, sequence was empty.");
}

Var reverse(Renderer &renderer, const Var &input, Arguments &arguments)
{
    bind(arguments, "do_reverse", {}, 0, 1);
    if (input.isString()) {
        std::vector<std::size_t> ends;
        for (std::size_t at = 0; at < input.view().size();)
            ends.push_back(at += characterLength(input.view(), at));
        TextBuilder builder;
        for (std::size_t i = ends.size(); i-- > 0;)
            builder.append(input, i == 0 ? 0 : ends[i - 1], ends[i]);
        return builder.build(input.isMarkup());
    }
    if (const Ref<Iterator> iterator = backwards(renderer, input))
        return makeObject(iterator.get());
    if (!isIterable(input))
        raise(Exc::FilterArgumentError, "argument must be iterable");
    std::vector<Var> items = itemsOf(renderer, input);
    std::reverse(items.begin(), items.end());
    return makeList(std::move(items));
}

/// Sorts by keys as Python does: stable, whichever way round. Comparisons may raise.
std::vector<Var> sorted(std::vector<Var> items, std::vector<Var> keys, bool reversed)
{
    Ledger::labour(items.size() * 16);
    std::vector<std::size_t> order(items.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    // The keys are compared once in a row first, so that std::sort never meets an order that raises midway
    // in a way that depends on the algorithm: what cannot be compared fails here.
    for (std::size_t i = 1; i < keys.size(); ++i)
        ordered(Comparison::Less, keys[i], keys[i - 1]);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return reversed ? ordered(Comparison::Less, keys[b], keys[a]) : ordered(Comparison::Less, keys[a], keys[b]);
    });
    std::vector<Var> made;
    made.reserve(items.size());
    for (const std::size_t i : order)
        made.push_back(std::move(items[i]));
    return made;
}

Var sort(Renderer &renderer, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "do_sort", {"reverse", "case_sensitive", "attribute"}, 0, 2);
    std::vector<std::function<Var(Renderer &, Var)>> getters;
    const bool lowerCase = !truth(bound[1]);
    if (bound[2].isString()) {
        for (const Range &range : splitAt(bound[2].view(), ",", -1))
            getters.push_back(attributeGetter(makeText(std::string(bound[2].view().substr(range.from, range.to - range.from))), {}, lowerCase));
    } else {
        getters.push_back(attributeGetter(bound[2], {}, lowerCase));
    }
    std::vector<Var> items = itemsOf(renderer, input), keys;
    for (const Var &item : items) {
        renderer.step();
        std::vector<Var> key;
        for (const auto &get : getters)
            key.push_back(get(renderer, item));
        keys.push_back(makeList(std::move(key)));
    }
    return makeList(sorted(std::move(items), std::move(keys), truth(bound[0])));
}

Var dictsort(Renderer &, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "do_dictsort", {"case_sensitive", "by", "reverse"}, 0, 1);
    const std::string by = bound[1].isMissing() ? "key" : std::string(bound[1].isString() ? bound[1].view() : "");
    if (by != "key" && by != "value")
        raise(Exc::FilterArgumentError, "You can only sort by either \"key\" or \"value\"");
    if (input.isUndefined())
        raiseUndefined(input);
    if (!input.isDict())
        raise(Exc::AttributeError, "'" + typeName(input) + "' object has no attribute 'items'");
    std::vector<Var> items, keys;
    for (const Dict::Entry &entry : input.dict().entries) {
        items.push_back(makeTuple({entry.key, entry.value}));
        const Var &key = by == "key" ? entry.key : entry.value;
        keys.push_back(truth(bound[0]) ? key : ignoreCase(key));
    }
    return makeList(sorted(std::move(items), std::move(keys), truth(bound[2])));
}

Var unique(Renderer &, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "sync_do_unique", {"case_sensitive", "attribute"}, 0, 2);
    // A generator: nothing is asked for before its first step.
    return makeObject(new Generator([input, get = attributeGetter(bound[1], {}, !truth(bound[0])), seen = makeDict({}),
                                     source = Ref<Iterator>()](Renderer &renderer, Var &item) mutable {
        if (!source)
            source = iterate(renderer, input);
        while (source->next(renderer, item)) {
            renderer.step();
            Var key = get(renderer, item);
            if (!seen.dict().find(key)) {
                const_cast<Dict &>(seen.dict()).set(std::move(key), Var::none());
                return true;
            }
        }
        return false;
    }));
}

template<bool greatest>
Var extreme(Renderer &renderer, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, greatest ? "do_max" : "do_min", {"case_sensitive", "attribute"}, 0, 2);
    const auto get = attributeGetter(bound[1], {}, !truth(bound[0]));
    const Ref<Iterator> iterator = iterate(renderer, input);
    Var best;
    if (!iterator->next(renderer, best))
        return undefinedHint("No aggregated item, sequence was empty.");
    Var bestKey = get(renderer, best);
    for (Var item; iterator->next(renderer, item);) {
        renderer.step();
        Var key = get(renderer, item);
        if (ordered(greatest ? Comparison::Greater : Comparison::Less, key, bestKey)) {
            best = item;
            bestKey = std::move(key);
        }
    }
    return best;
}

Var batch(Renderer &, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "do_batch", {"linecount", "fill_with"}, 1, 1);
    return makeObject(new Generator([input, size = bound[0], fill = bound[1], source = Ref<Iterator>()](Renderer &renderer, Var &made) mutable {
        if (!source)
            source = iterate(renderer, input);
        std::vector<Var> row;
        // As the rows are cut: where the length equals the count, which must be a number only to be equal.
        for (Var item; (row.empty() || !equal(Var::integer(static_cast<std::int64_t>(row.size())), size)) && source->next(renderer, item);) {
            renderer.step();
            row.push_back(item);
            renderer.checkItems(row.size());
        }
        if (row.empty())
            return false;
        if (!absent(fill)) {
            const std::int64_t wanted = toIndex(size, "'<' not supported between instances of 'int' and '" + typeName(size) + "'");
            if (static_cast<std::int64_t>(row.size()) < wanted) {
                renderer.checkItems(static_cast<std::size_t>(wanted));
                row.resize(static_cast<std::size_t>(wanted), fill);
            }
        }
        made = makeList(std::move(row));
        return true;
    }));
}

Var sliceColumns(Renderer &, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "sync_do_slice", {"slices", "fill_with"}, 1, 1);
    return makeObject(new Generator([input, columns = bound[0], fill = bound[1], items = std::vector<Var>(), at = std::int64_t{-1},
                                     count = std::int64_t{0}](Renderer &renderer, Var &made) mutable {
        if (at < 0) {
            items = itemsOf(renderer, input);
            count = toIndex(columns, "unsupported operand type(s) for //: 'int' and '" + typeName(columns) + "'");
            if (count == 0)
                raise(Exc::ZeroDivisionError, "integer division or modulo by zero");
            at = 0;
        }
        if (at >= count)
            return false;
        const auto size = static_cast<std::int64_t>(items.size());
        const std::int64_t each = size / count, extra = size % count;
        const std::int64_t begin = at * each + std::min(at, extra), end = (at + 1) * each + std::min(at + 1, extra);
        std::vector<Var> column(items.begin() + begin, items.begin() + end);
        if (!absent(fill) && at >= extra)
            column.push_back(fill);
        ++at;
        made = makeList(std::move(column));
        return true;
    }));
}

/// (grouper, list): a tuple whose parts have names.
class GroupTuple final : public Object {
public:
    GroupTuple(Var grouper, Var list) : m_grouper(std::move(grouper)), m_list(std::move(list)) {}
    std::string_view typeName() const override { return "_GroupTuple"; }
    std::string qualifiedName() const override { return "jinja2.filters._GroupTuple"; }
    std::string repr() const override { return jinja::repr(makeTuple({m_grouper, m_list})); }
    std::optional<Var> attribute(Renderer &, std::string_view name) override
    {
        return name == "grouper" ? std::optional(m_grouper) : name == "list" ? std::optional(m_list) : std::nullopt;
    }
    std::optional<Var> item(Renderer &, const Var &key) override
    {
        if (!key.isIntegral() || key.asInt() < -2 || key.asInt() > 1)
            return std::nullopt;
        return key.asInt() == 0 || key.asInt() == -2 ? m_grouper : m_list;
    }
    bool subscriptable() const override { return true; }
    bool iterable() const override { return true; }
    Ref<Iterator> iterate(Renderer &) override { return Ref<Iterator>(new SequenceIterator(makeTuple({m_grouper, m_list}))); }
    std::optional<std::int64_t> length(Renderer &) const override { return 2; }

private:
    Var m_grouper, m_list;
};

Var groupby(Renderer &renderer, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "sync_do_groupby", {"attribute", "default", "case_sensitive"}, 1, 2);
    const bool lowerCase = !truth(bound[2]);
    const auto get = attributeGetter(bound[0], bound[1], lowerCase), original = attributeGetter(bound[0], bound[1]);
    std::vector<Var> items = itemsOf(renderer, input), keys;
    for (const Var &item : items) {
        renderer.step();
        keys.push_back(get(renderer, item));
    }
    items = sorted(std::move(items), std::move(keys), false);
    std::vector<Var> groups;
    for (std::size_t begin = 0; begin < items.size();) {
        const Var key = get(renderer, items[begin]);
        std::vector<Var> members;
        std::size_t end = begin;
        for (; end < items.size() && equal(get(renderer, items[end]), key); ++end)
            members.push_back(items[end]);
        if (members.empty()) // a key that equals not even itself
            members.push_back(items[end++]);
        Var grouper = original(renderer, members[0]);
        groups.push_back(makeObject(new GroupTuple(std::move(grouper), makeList(std::move(members)))));
        begin = end;
    }
    return makeList(std::move(groups));
}

Var items(Renderer &, const Var &input, Arguments &arguments)
{
    bind(arguments, "do_items", {}, 0, 1);
    return makeObject(new Generator([input, source = Ref<Iterator>()](Renderer &renderer, Var &item) mutable {
        if (input.isUndefined())
            return false;
        if (!input.isDict())
            raise(Exc::TypeError, "Can only get item pairs from a mapping.");
        if (!source)
            source = Ref<Iterator>(new DictIterator(input, DictPart::Items));
        return source->next(renderer, item);
    }));
}

Var random(Renderer &, const Var &, Arguments &)
{
    raise(Exc::Unsupported, "random: what it chooses depends on chance");
}

constexpr FilterRow rows[] = {
    {"length", length}, {"count", length},   {"list", list},         {"first", first},         {"last", last},
    {"reverse", reverse}, {"sort", sort},    {"dictsort", dictsort}, {"unique", unique},       {"min", extreme<false>},
    {"max", extreme<true>}, {"batch", batch}, {"slice", sliceColumns}, {"groupby", groupby},   {"items", items},
    {"random", random},
};

} // namespace

std::span<const FilterRow> sequenceFilters()
{
    return rows;
}

} // namespace prosector::jinja
