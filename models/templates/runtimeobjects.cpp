// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/runtimeobjects.h"

#include "models/templates/access.h"
#include "models/templates/arguments.h"
#include "models/templates/iterators.h"
#include "models/templates/operators.h"
#include "models/templates/pystring.h"
#include "models/templates/pytime.h"
#include "models/templates/renderer.h"

#include <algorithm>

namespace prosector::jinja {

namespace {

Var method(std::string_view name, NativeFunction::Run run, Object &self)
{
    return makeObject(new NativeFunction(name, run, makeObject(&self), "method"));
}

} // namespace

// ---- Macro ----

std::string MacroObject::repr() const
{
    return "<Macro " + (m_name.empty() ? "anonymous" : pythonRepr(m_name)) + ">";
}

std::optional<Var> MacroObject::attribute(Renderer &, std::string_view name)
{
    if (name == "name")
        return m_name.empty() ? Var::none() : makeText(m_name);
    if (name == "arguments") {
        std::vector<Var> names;
        for (const auto &parameter : m_body->parameters)
            names.push_back(makeText(parameter->name));
        return makeTuple(std::move(names));
    }
    if (name == "catch_kwargs")
        return Var::boolean(m_body->catchNamed);
    if (name == "catch_varargs")
        return Var::boolean(m_body->catchPositional);
    if (name == "caller")
        return Var::boolean(m_body->caller);
    return std::nullopt;
}

Var MacroObject::call(Renderer &renderer, Arguments &arguments)
{
    return renderer.callMacro(*m_body, m_name, m_scope, arguments);
}

// ---- loop ----

LoopObject::LoopObject(Renderer &renderer, Var iterable, const ForStmt *recursive, Ref<Scope> scope, std::int64_t depth)
    : m_iterable(std::move(iterable)), m_iterator(jinja::iterate(renderer, m_iterable)), m_recursive(recursive), m_scope(std::move(scope)), m_depth(depth)
{
}

bool LoopObject::advance(Renderer &renderer, Var &item)
{
    if (!m_after.isMissing())
        item = std::move(m_after);
    else if (!m_iterator->next(renderer, item))
        return false;
    m_after = Var();
    ++m_index;
    m_before = std::move(m_current);
    m_current = item;
    return true;
}

const Var &LoopObject::peek(Renderer &renderer)
{
    if (m_after.isMissing() && !m_iterator->next(renderer, m_after))
        m_after = Var();
    return m_after;
}

std::optional<std::int64_t> LoopObject::length(Renderer &renderer) const
{
    if (m_length < 0) {
        if (const auto known = lengthOf(renderer, m_iterable)) {
            m_length = *known;
        } else {
            std::vector<Var> rest;
            for (Var item; m_iterator->next(renderer, item);) {
                rest.push_back(item);
                renderer.checkItems(rest.size());
            }
            m_length = static_cast<std::int64_t>(rest.size()) + m_index + 1 + !m_after.isMissing();
            m_iterator = jinja::iterate(renderer, makeList(std::move(rest)));
        }
    }
    return m_length;
}

std::string LoopObject::repr() const
{
    return "<LoopContext " + std::to_string(m_index + 1) + "/" + (m_length < 0 ? "?" : std::to_string(m_length)) + ">";
}

std::optional<Var> LoopObject::attribute(Renderer &renderer, std::string_view name)
{
    if (name == "index0")
        return Var::integer(m_index);
    if (name == "index")
        return Var::integer(m_index + 1);
    if (name == "first")
        return Var::boolean(m_index == 0);
    if (name == "last")
        return Var::boolean(peek(renderer).isMissing());
    if (name == "length")
        return Var::integer(*length(renderer));
    if (name == "revindex")
        return Var::integer(*length(renderer) - m_index);
    if (name == "revindex0")
        return Var::integer(*length(renderer) - m_index - 1);
    if (name == "previtem")
        return m_index == 0 ? undefinedHint("there is no previous item") : m_before;
    if (name == "nextitem")
        return peek(renderer).isMissing() ? undefinedHint("there is no next item") : m_after;
    if (name == "depth0")
        return Var::integer(m_depth);
    if (name == "depth")
        return Var::integer(m_depth + 1);
    if (name == "cycle") {
        return method("cycle", [](Renderer &, const Var &self, Arguments &arguments) {
            if (arguments.positional.empty())
                raise(Exc::TypeError, "no items for cycling given");
            const auto &loop = static_cast<const LoopObject &>(self.object());
            return arguments.positional[static_cast<std::size_t>(loop.m_index) % arguments.positional.size()];
        }, *this);
    }
    if (name == "changed") {
        return method("changed", [](Renderer &, const Var &self, Arguments &arguments) {
            auto &loop = static_cast<LoopObject &>(self.object());
            Var value = makeTuple(std::move(arguments.positional));
            const bool changed = loop.m_lastChanged.isMissing() || !equal(loop.m_lastChanged, value);
            loop.m_lastChanged = std::move(value);
            return Var::boolean(changed);
        }, *this);
    }
    return std::nullopt;
}

Var LoopObject::call(Renderer &renderer, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "LoopContext.__call__", {"iterable"}, 1, 1);
    if (!m_recursive)
        raise(Exc::TypeError, "The loop must have the 'recursive' marker to be called recursively.");
    return renderer.callLoop(*m_recursive, m_scope, bound[0], m_depth + 1);
}

// ---- namespace ----

NamespaceObject::NamespaceObject(Var dict) : m_values(std::move(dict)) {}

std::string NamespaceObject::repr() const
{
    const Nesting nesting; // a namespace can hold itself
    return "<Namespace " + jinja::repr(m_values) + ">";
}

std::optional<Var> NamespaceObject::attribute(Renderer &, std::string_view name)
{
    const Var *const found = m_values.dict().find(name);
    return found ? std::optional(*found) : std::nullopt;
}

void NamespaceObject::set(Var name, Var value)
{
    const_cast<Dict &>(m_values.dict()).set(std::move(name), std::move(value)); // no one else holds this dict
}

void NamespaceObject::clear()
{
    m_values = Var::none();
}

// ---- cycler, joiner ----

std::optional<Var> CyclerObject::attribute(Renderer &, std::string_view name)
{
    if (name == "current")
        return m_items[m_at];
    if (name == "pos")
        return Var::integer(static_cast<std::int64_t>(m_at));
    if (name == "items")
        return makeTuple(m_items);
    if (name == "next") {
        return method("next", [](Renderer &, const Var &self, Arguments &arguments) {
            bind(arguments, "Cycler.next", {}, 0, 1);
            auto &cycler = static_cast<CyclerObject &>(self.object());
            Var value = cycler.m_items[cycler.m_at];
            cycler.m_at = (cycler.m_at + 1) % cycler.m_items.size();
            return value;
        }, *this);
    }
    if (name == "reset") {
        return method("reset", [](Renderer &, const Var &self, Arguments &arguments) {
            bind(arguments, "Cycler.reset", {}, 0, 1);
            static_cast<CyclerObject &>(self.object()).m_at = 0;
            return Var::none();
        }, *this);
    }
    return std::nullopt;
}

std::optional<Var> JoinerObject::attribute(Renderer &, std::string_view name)
{
    if (name == "sep")
        return m_separator;
    if (name == "used")
        return Var::boolean(m_used);
    return std::nullopt;
}

Var JoinerObject::call(Renderer &, Arguments &arguments)
{
    bind(arguments, "Joiner.__call__", {}, 0, 1);
    if (!m_used) {
        m_used = true;
        return makeText({});
    }
    return m_separator;
}

// ---- self ----

std::optional<Var> TemplateReference::item(Renderer &renderer, const Var &key)
{
    if (!key.isString())
        return std::nullopt;
    const auto found = renderer.tree().blocks.find(key.view());
    return found == renderer.tree().blocks.end() ? std::nullopt : std::optional(makeObject(new BlockReference(*found->second)));
}

std::optional<Var> BlockReference::attribute(Renderer &, std::string_view name)
{
    if (name == "name")
        return makeText(m_block->name);
    if (name == "super")
        return undefinedHint("there is no parent block called " + pythonRepr(m_block->name) + ".");
    return std::nullopt;
}

Var BlockReference::call(Renderer &renderer, Arguments &arguments)
{
    bind(arguments, "BlockReference.__call__", {}, 0, 1);
    return renderer.callBlock(*m_block);
}

// ---- globals ----

namespace {

Var makeRange(Renderer &, const Var &, Arguments &arguments)
{
    if (!arguments.named.empty())
        raise(Exc::TypeError, "safe_range() got an unexpected keyword argument " + pythonRepr(arguments.named[0].name));
    const std::size_t count = arguments.positional.size();
    if (count == 0 || count > 3)
        raise(Exc::TypeError, count == 0 ? "range expected at least 1 argument, got 0" : "range expected at most 3 arguments, got " + std::to_string(count));
    const auto number = [&](std::size_t i) {
        const Var &value = arguments.positional[i];
        return toIndex(value, "'" + typeName(value) + "' object cannot be interpreted as an integer");
    };
    const std::int64_t start = count > 1 ? number(0) : 0, stop = number(count > 1 ? 1 : 0), step = count > 2 ? number(2) : 1;
    if (step == 0)
        raise(Exc::ValueError, "range() arg 3 must not be zero");
    const RangeObject range(start, stop, step);
    if (range.count() > RangeObject::maxItems)
        raise(Exc::OverflowError, "Range too big. The sandbox blocks ranges larger than MAX_RANGE (" + std::to_string(RangeObject::maxItems) + ").");
    return makeObject(new RangeObject(start, stop, step));
}

/// dict(mapping or pairs, **named)
Var makeDictionary(Renderer &renderer, const Var &, Arguments &arguments)
{
    std::vector<Dict::Entry> entries;
    if (arguments.positional.size() > 1)
        raise(Exc::TypeError, "dict expected at most 1 argument, got " + std::to_string(arguments.positional.size()));
    if (!arguments.positional.empty()) {
        const Var &from = arguments.positional[0];
        if (from.isDict()) {
            entries = from.dict().entries;
        } else {
            if (!isIterable(from))
                raise(Exc::TypeError, "'" + typeName(from) + "' object is not iterable");
            std::size_t index = 0;
            for (const Var &pair : itemsOf(renderer, from)) {
                if (!isIterable(pair))
                    raise(Exc::TypeError, "cannot convert dictionary update sequence element #" + std::to_string(index) + " to a sequence");
                const std::vector<Var> both = itemsOf(renderer, pair);
                if (both.size() != 2)
                    raise(Exc::ValueError, "dictionary update sequence element #" + std::to_string(index) + " has length "
                                               + std::to_string(both.size()) + "; 2 is required");
                entries.push_back({both[0], both[1]});
                ++index;
            }
        }
    }
    for (Arguments::Named &named : arguments.named)
        entries.push_back({makeText(std::move(named.name)), std::move(named.value)});
    return makeDict(std::move(entries));
}

Var makeNamespace(Renderer &renderer, const Var &self, Arguments &arguments)
{
    auto *const space = new NamespaceObject(makeDictionary(renderer, self, arguments));
    Var made = makeObject(space);
    renderer.watch(*space);
    return made;
}

Var makeCycler(Renderer &, const Var &, Arguments &arguments)
{
    if (arguments.positional.empty())
        raise(Exc::RuntimeError, "at least one item has to be provided");
    return makeObject(new CyclerObject(std::move(arguments.positional)));
}

Var makeJoiner(Renderer &, const Var &, Arguments &arguments)
{
    std::vector<Var> bound = bind(arguments, "Joiner.__init__", {"sep"}, 0, 1);
    return makeObject(new JoinerObject(bound[0].isMissing() ? makeText(", ") : std::move(bound[0])));
}

Var raiseException(Renderer &, const Var &, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "raise_exception", {"message"}, 1);
    raise(Exc::TemplateError, bound[0].isNone() ? std::string() : std::string(toText(bound[0]).view()));
}

Var strftimeNow(Renderer &renderer, const Var &, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "strftime_now", {"format"}, 1);
    if (!bound[0].isString())
        raise(Exc::TypeError, "strftime() argument 1 must be str, not " + typeName(bound[0]));
    return makeText(formatTime(renderer.now(), bound[0].view()));
}

Var lipsum(Renderer &, const Var &, Arguments &)
{
    raise(Exc::Unsupported, "lipsum: its text depends on chance");
}

struct Global {
    std::string_view name;
    NativeFunction::Run run;
    std::string_view type = "function";
};
constexpr Global globals[] = {
    {"range", makeRange},      {"dict", makeDictionary, "type"},   {"namespace", makeNamespace, "type"},
    {"cycler", makeCycler, "type"}, {"joiner", makeJoiner, "type"}, {"raise_exception", raiseException},
    {"strftime_now", strftimeNow},  {"lipsum", lipsum},
};

} // namespace

Var globalFunction(std::string_view name)
{
    for (const Global &global : globals) {
        if (global.name == name)
            return makeObject(new NativeFunction(global.name, global.run, {}, global.type));
    }
    return {};
}

} // namespace prosector::jinja
