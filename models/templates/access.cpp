// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/access.h"

#include "models/templates/iterators.h"
#include "models/templates/methods.h"
#include "models/templates/operators.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"
#include "models/templates/renderer.h"

#include <algorithm>
#include <array>

namespace prosector::jinja {

namespace {

/// Attributes that every Python object has; the sandbox hides them all.
constexpr std::array dunders{"__class__", "__delattr__", "__dir__", "__doc__", "__eq__", "__format__", "__ge__", "__getattribute__",
                             "__getstate__", "__gt__", "__hash__", "__init__", "__init_subclass__", "__le__", "__lt__", "__ne__",
                             "__new__", "__reduce__", "__reduce_ex__", "__repr__", "__setattr__", "__sizeof__", "__str__",
                             "__subclasshook__"};
constexpr std::array containerDunders{"__len__", "__getitem__", "__iter__", "__contains__"};

bool hasDunder(const Var &object, std::string_view name)
{
    if (std::find(dunders.begin(), dunders.end(), name) != dunders.end())
        return true;
    const bool container = object.isString() || object.isSequence() || object.isDict();
    if (container && std::find(containerDunders.begin(), containerDunders.end(), name) != containerDunders.end())
        return true;
    if (name == "__add__" || name == "__mul__" || name == "__rmul__")
        return object.isString() || object.isSequence() || object.isIntegral() || object.isFloat();
    if (name == "__mod__" || name == "__rmod__")
        return object.isString() || object.isIntegral() || object.isFloat();
    if (name == "__call__" || name == "__name__" || name == "__self__" || name == "__module__")
        return object.isObject() && object.object().callable();
    return name == "__html__" && object.isString() && object.isMarkup();
}

Var unsafeMember(const Var &object, const Var &name)
{
    auto *const made = new UndefinedObject;
    made->hint = "access to attribute " + pythonRepr(name.view()) + " of " + pythonRepr(typeName(object)) + " object is unsafe.";
    made->unsafe = true;
    return Var::heap(Kind::Undefined, made);
}

/// `object[key]` of Python alone: nothing where it raises TypeError or LookupError.
std::optional<Var> item(Renderer &renderer, const Var &object, const Var &key)
{
    switch (object.kind()) {
    case Kind::Dict: {
        if (key.isString()) {
            const Var *const found = object.dict().find(key.view());
            return found ? std::optional(*found) : std::nullopt;
        }
        if (key.isList() || key.isDict())
            return std::nullopt;
        const Var *const found = object.dict().find(key);
        return found ? std::optional(*found) : std::nullopt;
    }
    case Kind::List:
    case Kind::Tuple: {
        if (!key.isIntegral())
            return std::nullopt;
        const auto &items = object.sequence().items;
        const auto size = static_cast<std::int64_t>(items.size());
        const std::int64_t index = key.asInt() < 0 ? key.asInt() + size : key.asInt();
        return index >= 0 && index < size ? std::optional(items[static_cast<std::size_t>(index)]) : std::nullopt;
    }
    case Kind::String: return key.isIntegral() ? characterAt(object, key.asInt()) : std::nullopt;
    case Kind::Undefined: raiseUndefined(object);
    case Kind::Object: return object.object().item(renderer, key);
    default: return std::nullopt;
    }
}

struct SliceBounds {
    std::int64_t start, stop, step;
};

SliceBounds bounds(std::int64_t size, const Var &start, const Var &stop, const Var &step)
{
    constexpr std::string_view complaint = "slice indices must be integers or None or have an __index__ method";
    const auto given = [](const Var &v) { return !v.isMissing() && !v.isNone(); };
    SliceBounds made{0, 0, given(step) ? toIndex(step, complaint) : 1};
    if (made.step == 0)
        raise(Exc::ValueError, "slice step cannot be zero");
    const bool back = made.step < 0;
    const auto clamp = [&](const Var &v, std::int64_t fallback) {
        if (!given(v))
            return fallback;
        std::int64_t at = toIndex(v, complaint);
        if (at < 0)
            at = std::max<std::int64_t>(at + size, back ? -1 : 0);
        return std::min(at, back ? size - 1 : size);
    };
    made.start = clamp(start, back ? size - 1 : 0);
    made.stop = clamp(stop, back ? -1 : size);
    return made;
}

Var sliceText(const Var &string, const SliceBounds &range)
{
    const Text &text = string.text();
    const std::string_view bytes = text.bytes;
    if (range.step == 1) {
        const std::int64_t from = range.start, to = std::max(range.stop, range.start);
        if (text.isAscii())
            return slice(string, static_cast<std::size_t>(from), static_cast<std::size_t>(to));
        const std::size_t begin = byteOfCodePoint(bytes, from);
        return slice(string, begin, begin + byteOfCodePoint(bytes.substr(begin), to - from));
    }
    std::vector<std::uint32_t> starts;
    for (std::size_t at = 0; at < bytes.size(); at += characterLength(bytes, at))
        starts.push_back(static_cast<std::uint32_t>(at));
    starts.push_back(static_cast<std::uint32_t>(bytes.size()));
    TextBuilder builder;
    for (std::int64_t i = range.start; range.step > 0 ? i < range.stop : i > range.stop; i += range.step)
        builder.append(string, starts[static_cast<std::size_t>(i)], starts[static_cast<std::size_t>(i) + 1]);
    return builder.build(string.isMarkup());
}

} // namespace

Var undefinedVariable(const Var &name)
{
    auto *const made = new UndefinedObject;
    made->name = name;
    return Var::heap(Kind::Undefined, made);
}

Var undefinedMember(const Var &owner, const Var &name)
{
    auto *const made = new UndefinedObject;
    made->name = name;
    made->owner = ownerName(owner);
    return Var::heap(Kind::Undefined, made);
}

Var undefinedHint(std::string hint)
{
    auto *const made = new UndefinedObject;
    made->hint = std::move(hint);
    return Var::heap(Kind::Undefined, made);
}

std::optional<Var> characterAt(const Var &string, std::int64_t index)
{
    const Text &text = string.text();
    const std::int64_t length = text.length();
    if (index < 0)
        index += length;
    if (index < 0 || index >= length)
        return std::nullopt;
    const std::size_t at = text.isAscii() ? static_cast<std::size_t>(index) : byteOfCodePoint(text.bytes, index);
    return slice(string, at, at + characterLength(text.bytes, at));
}

std::optional<Var> attribute(Renderer &renderer, const Var &object, const Var &name)
{
    const std::string_view text = name.view();
    const bool dunder = text.starts_with("__") && text.ends_with("__");
    if (object.isUndefined()) {
        if (dunder)
            return hasDunder(object, text) ? std::optional(unsafeMember(object, name)) : std::nullopt;
        raiseUndefined(object);
    }
    if (text.starts_with('_')) {
        const bool exists = hasDunder(object, text) || (object.isObject() && object.object().attribute(renderer, text));
        return exists ? std::optional(unsafeMember(object, name)) : std::nullopt;
    }
    if (object.isObject())
        return object.object().attribute(renderer, text);
    if (const MethodRow *const row = findMethod(object, text))
        return row->mutates ? unsafeMember(object, name) : boundMethod(object, *row);
    return scalarAttribute(object, text);
}

Var getAttribute(Renderer &renderer, const Var &object, const Var &name)
{
    if (auto found = attribute(renderer, object, name))
        return std::move(*found);
    if (auto found = item(renderer, object, name))
        return std::move(*found);
    return undefinedMember(object, name);
}

Var getItem(Renderer &renderer, const Var &object, const Var &key)
{
    if (auto found = item(renderer, object, key))
        return std::move(*found);
    if (key.isString()) {
        if (auto found = attribute(renderer, object, key))
            return std::move(*found);
    }
    return undefinedMember(object, key);
}

Var getSlice(const Var &object, const Var &start, const Var &stop, const Var &step)
{
    if (object.isUndefined())
        raiseUndefined(object);
    if (object.isString())
        return sliceText(object, bounds(object.text().length(), start, stop, step));
    if (object.isSequence()) {
        const auto &items = object.sequence().items;
        const SliceBounds range = bounds(static_cast<std::int64_t>(items.size()), start, stop, step);
        std::vector<Var> chosen;
        for (std::int64_t i = range.start; range.step > 0 ? i < range.stop : i > range.stop; i += range.step)
            chosen.push_back(items[static_cast<std::size_t>(i)]);
        Var made = object.isList() ? makeList(std::move(chosen)) : makeTuple(std::move(chosen));
        made.setSource(object.source());
        return made;
    }
    if (auto *const range = as<RangeObject>(object)) {
        const SliceBounds part = bounds(range->count(), start, stop, step);
        return makeObject(new RangeObject(range->at(part.start), range->at(part.stop), range->step() * part.step));
    }
    if (object.isDict())
        raise(Exc::TypeError, "unhashable type: 'slice'");
    raise(Exc::TypeError, "'" + typeName(object) + "' object is not subscriptable");
}

bool contains(Renderer &renderer, const Var &container, const Var &item)
{
    switch (container.kind()) {
    case Kind::String:
        if (!item.isString())
            raise(Exc::TypeError, "'in <string>' requires string as left operand, not " + typeName(item));
        Ledger::labour(container.view().size());
        return container.view().find(item.view()) != std::string_view::npos;
    case Kind::List:
    case Kind::Tuple:
        Ledger::labour(container.sequence().items.size());
        for (const Var &candidate : container.sequence().items) {
            if (equal(candidate, item))
                return true;
        }
        return false;
    case Kind::Dict: return item.isString() ? container.dict().find(item.view()) != nullptr : container.dict().find(item) != nullptr;
    case Kind::Undefined: return false;
    default: break;
    }
    if (!isIterable(container))
        raise(Exc::TypeError, "argument of type '" + typeName(container) + "' is not iterable");
    const Ref<Iterator> iterator = iterate(renderer, container);
    for (Var candidate; iterator->next(renderer, candidate);) {
        renderer.step();
        if (equal(candidate, item))
            return true;
    }
    return false;
}

std::optional<std::int64_t> lengthOf(Renderer &renderer, const Var &value)
{
    switch (value.kind()) {
    case Kind::String: return value.text().length();
    case Kind::List:
    case Kind::Tuple: return static_cast<std::int64_t>(value.sequence().items.size());
    case Kind::Dict: return static_cast<std::int64_t>(value.dict().entries.size());
    case Kind::Undefined: return 0;
    case Kind::Object: return value.object().length(renderer);
    default: return std::nullopt;
    }
}

bool isIterable(const Var &value)
{
    return value.isString() || value.isSequence() || value.isDict() || value.isUndefined() || (value.isObject() && value.object().iterable());
}

Ref<Iterator> iterate(Renderer &renderer, const Var &value)
{
    switch (value.kind()) {
    case Kind::String: return Ref<Iterator>(new TextIterator(value));
    case Kind::List:
    case Kind::Tuple: return Ref<Iterator>(new SequenceIterator(value));
    case Kind::Dict: return Ref<Iterator>(new DictIterator(value, DictPart::Keys));
    case Kind::Undefined: return Ref<Iterator>(new SequenceIterator(makeTuple({})));
    case Kind::Object:
        if (value.object().iterable())
            return value.object().iterate(renderer);
        break;
    default: break;
    }
    raise(Exc::TypeError, "'" + typeName(value) + "' object is not iterable");
}

std::vector<Var> itemsOf(Renderer &renderer, const Var &value)
{
    if (value.isSequence())
        return value.sequence().items;
    std::vector<Var> items;
    const Ref<Iterator> iterator = iterate(renderer, value);
    for (Var item; iterator->next(renderer, item);) {
        renderer.step();
        items.push_back(std::move(item));
        item = Var();
        renderer.checkItems(items.size());
    }
    return items;
}

} // namespace prosector::jinja
