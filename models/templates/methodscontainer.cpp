// SPDX-License-Identifier: GPL-3.0-or-later
// Methods of dict, list and tuple, and how methods are found.
#include "models/templates/access.h"
#include "models/templates/arguments.h"
#include "models/templates/iterators.h"
#include "models/templates/methods.h"
#include "models/templates/operators.h"
#include "models/templates/raised.h"
#include "models/templates/renderer.h"

namespace prosector::jinja {

namespace {

void checkCount(const Arguments &arguments, std::string_view name, std::size_t least, std::size_t most)
{
    if (!arguments.named.empty())
        raise(Exc::TypeError, std::string(name) + "() takes no keyword arguments");
    const std::size_t given = arguments.positional.size();
    if (given >= least && given <= most)
        return;
    const std::size_t bound = given < least ? least : most;
    raise(Exc::TypeError, std::string(name) + " expected at " + (given < least ? "least " : "most ") + std::to_string(bound)
                              + " argument" + (bound == 1 ? "" : "s") + ", got " + std::to_string(given));
}

Var dictGet(Renderer &, const Var &self, Arguments &arguments)
{
    checkCount(arguments, "get", 1, 2);
    const Var &key = arguments.positional[0];
    const Var *const found = key.isString() ? self.dict().find(key.view()) : self.dict().find(key);
    if (found)
        return *found;
    return arguments.positional.size() > 1 ? arguments.positional[1] : Var::none();
}

template<DictPart part>
Var dictView(Renderer &, const Var &self, Arguments &arguments)
{
    checkCount(arguments, part == DictPart::Keys ? "keys" : part == DictPart::Values ? "values" : "items", 0, 0);
    return makeObject(new DictView(self, part));
}

Var dictCopy(Renderer &, const Var &self, Arguments &arguments)
{
    checkCount(arguments, "copy", 0, 0);
    return makeDict(self.dict().entries).withSource(self.source());
}

Var dictFromKeys(Renderer &renderer, const Var &, Arguments &arguments)
{
    checkCount(arguments, "fromkeys", 1, 2);
    std::vector<Dict::Entry> entries;
    for (Var &key : itemsOf(renderer, arguments.positional[0]))
        entries.push_back({std::move(key), arguments.positional.size() > 1 ? arguments.positional[1] : Var::none()});
    return makeDict(std::move(entries));
}

Var listCopy(Renderer &, const Var &self, Arguments &arguments)
{
    checkCount(arguments, "copy", 0, 0);
    return makeList(self.sequence().items);
}

Var listCount(Renderer &, const Var &self, Arguments &arguments)
{
    checkCount(arguments, "count", 1, 1);
    std::int64_t count = 0;
    for (const Var &item : self.sequence().items)
        count += equal(item, arguments.positional[0]);
    return Var::integer(count);
}

Var listIndex(Renderer &, const Var &self, Arguments &arguments)
{
    checkCount(arguments, "index", 1, 3);
    const auto &items = self.sequence().items;
    const auto size = static_cast<std::int64_t>(items.size());
    const auto bound = [&](std::size_t i, std::int64_t fallback) {
        if (arguments.positional.size() <= i)
            return fallback;
        const std::int64_t at = toIndex(arguments.positional[i], "slice indices must be integers or have an __index__ method");
        return std::min(at < 0 ? std::max<std::int64_t>(0, at + size) : at, size);
    };
    for (std::int64_t i = bound(1, 0), end = bound(2, size); i < end; ++i) {
        if (equal(items[static_cast<std::size_t>(i)], arguments.positional[0]))
            return Var::integer(i);
    }
    raise(Exc::ValueError, self.isTuple() ? "tuple.index(x): x not in tuple" : repr(arguments.positional[0]) + " is not in list");
}

/// Jinja up to 3.1.5 lets pop and clear of lists through its immutable sandbox; later ones hide them. A list
/// made in the template can lose items here, one of the inputs cannot.
std::vector<Var> &changeable(const Var &self, std::string_view name)
{
    if (self.heapObject()->references == HeapObject::immortal)
        raise(Exc::SecurityError, "access to attribute '" + std::string(name) + "' of 'list' object is unsafe.");
    return const_cast<Sequence &>(self.sequence()).items;
}

Var listPop(Renderer &, const Var &self, Arguments &arguments)
{
    std::vector<Var> &items = changeable(self, "pop");
    checkCount(arguments, "pop", 0, 1);
    const auto size = static_cast<std::int64_t>(items.size());
    std::int64_t index = -1;
    if (!arguments.positional.empty())
        index = toIndex(arguments.positional[0], "'" + typeName(arguments.positional[0]) + "' object cannot be interpreted as an integer");
    if (size == 0)
        raise(Exc::IndexError, "pop from empty list");
    if (index < 0)
        index += size;
    if (index < 0 || index >= size)
        raise(Exc::IndexError, "pop index out of range");
    Var item = std::move(items[static_cast<std::size_t>(index)]);
    items.erase(items.begin() + index);
    return item;
}

Var listClear(Renderer &, const Var &self, Arguments &arguments)
{
    std::vector<Var> &items = changeable(self, "clear");
    checkCount(arguments, "clear", 0, 0);
    items.clear();
    return Var::none();
}

Var never(Renderer &, const Var &, Arguments &)
{
    return Var::none(); // hidden by the sandbox
}

constexpr MethodRow dictRows[] = {
    {"get", dictGet},
    {"items", dictView<DictPart::Items>},
    {"keys", dictView<DictPart::Keys>},
    {"values", dictView<DictPart::Values>},
    {"copy", dictCopy},
    {"fromkeys", dictFromKeys},
    {"pop", never, true},
    {"popitem", never, true},
    {"clear", never, true},
    {"update", never, true},
    {"setdefault", never, true},
};

constexpr MethodRow listRows[] = {
    {"copy", listCopy},
    {"count", listCount},
    {"index", listIndex},
    {"append", never, true},
    {"clear", listClear},
    {"extend", never, true},
    {"insert", never, true},
    {"pop", listPop},
    {"remove", never, true},
    {"reverse", never, true},
    {"sort", never, true},
};

constexpr MethodRow tupleRows[] = {
    {"count", listCount},
    {"index", listIndex},
};

const MethodRow *findIn(std::span<const MethodRow> rows, std::string_view name)
{
    for (const MethodRow &row : rows) {
        if (row.name == name)
            return &row;
    }
    return nullptr;
}

/// A method taken without calling it.
class BoundMethod final : public Object {
public:
    BoundMethod(Var self, const MethodRow &row) : m_self(std::move(self)), m_row(&row) {}
    std::string_view typeName() const override { return "builtin_function_or_method"; }
    std::string repr() const override { return "<built-in method " + std::string(m_row->name) + " of " + jinja::typeName(m_self) + " object>"; }
    bool callable() const override { return true; }
    Var call(Renderer &renderer, Arguments &arguments) override { return m_row->run(renderer, m_self, arguments); }

private:
    Var m_self;
    const MethodRow *m_row;
};

} // namespace

std::span<const MethodRow> containerMethods(Kind kind)
{
    switch (kind) {
    case Kind::Dict: return dictRows;
    case Kind::List: return listRows;
    default: return tupleRows;
    }
}

std::size_t methodTable(const Var &value)
{
    switch (value.kind()) {
    case Kind::String: return 0;
    case Kind::Dict: return 1;
    case Kind::List: return 2;
    case Kind::Tuple: return 3;
    default: return 4;
    }
}

std::array<const MethodRow *, 4> findMethods(std::string_view name)
{
    return {findIn(textMethods(), name), findIn(dictRows, name), findIn(listRows, name), findIn(tupleRows, name)};
}

const MethodRow *findMethod(const Var &object, std::string_view name)
{
    switch (object.kind()) {
    case Kind::String: return findIn(textMethods(), name);
    case Kind::Dict:
    case Kind::List:
    case Kind::Tuple: return findIn(containerMethods(object.kind()), name);
    default: return nullptr;
    }
}

Var boundMethod(const Var &object, const MethodRow &row)
{
    return makeObject(new BoundMethod(object, row));
}

std::optional<Var> scalarAttribute(const Var &object, std::string_view name)
{
    if (object.isIntegral() || object.isFloat()) {
        if (name == "real" || (name == "numerator" && !object.isFloat()))
            return positive(object);
        if (name == "imag")
            return object.isFloat() ? Var::real(0) : Var::integer(0);
        if (name == "denominator" && !object.isFloat())
            return Var::integer(1);
    }
    return std::nullopt;
}

} // namespace prosector::jinja
