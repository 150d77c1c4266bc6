// SPDX-License-Identifier: GPL-3.0-or-later
// Filters that choose, and those that run other filters and tests.
#include "models/templates/access.h"
#include "models/templates/arguments.h"
#include "models/templates/filters.h"
#include "models/templates/iterators.h"
#include "models/templates/operators.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"
#include "models/templates/renderer.h"

namespace prosector::jinja {

namespace {

Var defaultValue(Renderer &, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "do_default", {"default_value", "boolean"}, 0, 1);
    if (input.isUndefined() || (truth(bound[1]) && !truth(input)))
        return bound[0].isMissing() ? makeText({}) : bound[0];
    return input;
}

Var attr(Renderer &renderer, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "do_attr", {"name"}, 1, 2);
    if (!bound[0].isString())
        raise(Exc::TypeError, "attribute name must be string, not '" + typeName(bound[0]) + "'");
    if (auto found = attribute(renderer, input, bound[0]))
        return std::move(*found);
    return undefinedMember(input, bound[0]);
}

/// The iterator of a generator that begins with `if value:`.
bool begin(Renderer &renderer, const Var &input, Ref<Iterator> &source, bool &begun)
{
    if (!begun) {
        begun = true;
        if (truth(input))
            source = iterate(renderer, input);
    }
    return static_cast<bool>(source);
}

Var map(Renderer &, const Var &input, Arguments &given)
{
    return makeObject(new Generator([input, arguments = std::move(given), source = Ref<Iterator>(), begun = false, prepared = false,
                                     get = std::function<Var(Renderer &, Var)>(), filter = Var()](Renderer &renderer, Var &item) mutable {
        const bool first = !begun;
        if (!begin(renderer, input, source, begun))
            return false;
        if (first && !prepared) {
            prepared = true;
            if (arguments.positional.empty() && arguments.find("attribute")) {
                const Var name = *arguments.take("attribute");
                const auto fallback = arguments.take("default");
                if (!arguments.named.empty())
                    raise(Exc::FilterArgumentError, "Unexpected keyword argument " + pythonRepr(arguments.named[0].name));
                get = attributeGetter(name, fallback ? *fallback : Var());
            } else if (arguments.positional.empty()) {
                raise(Exc::FilterArgumentError, "map requires a filter argument");
            } else {
                filter = arguments.positional[0];
                arguments.positional.erase(arguments.positional.begin());
            }
        }
        Var value;
        if (!source->next(renderer, value))
            return false;
        renderer.step();
        if (get) {
            item = get(renderer, value);
        } else {
            Arguments own = arguments;
            item = renderer.callFilter(filter, value, own);
        }
        return true;
    }));
}

template<bool wanted, bool byAttribute>
Var choose(Renderer &, const Var &input, Arguments &given)
{
    return makeObject(new Generator([input, arguments = std::move(given), source = Ref<Iterator>(), begun = false,
                                     get = std::function<Var(Renderer &, Var)>(), test = Var()](Renderer &renderer, Var &item) mutable {
        const bool first = !begun;
        if (!begin(renderer, input, source, begun))
            return false;
        if (first) {
            if (byAttribute) {
                if (arguments.positional.empty())
                    raise(Exc::FilterArgumentError, "Missing parameter for attribute name");
                get = attributeGetter(arguments.positional[0]);
                arguments.positional.erase(arguments.positional.begin());
            }
            if (!arguments.positional.empty()) {
                test = arguments.positional[0];
                arguments.positional.erase(arguments.positional.begin());
            }
        }
        while (source->next(renderer, item)) {
            renderer.step();
            const Var value = byAttribute ? get(renderer, item) : item;
            bool good = false;
            if (test.isMissing()) {
                good = truth(value);
            } else {
                Arguments own = arguments;
                good = renderer.callTest(test, value, own);
            }
            if (good == wanted)
                return true;
        }
        return false;
    }));
}

constexpr FilterRow rows[] = {
    {"default", defaultValue},
    {"d", defaultValue},
    {"map", map},
    {"select", choose<true, false>},
    {"reject", choose<false, false>},
    {"selectattr", choose<true, true>},
    {"rejectattr", choose<false, true>},
    {"attr", attr},
};

} // namespace

std::span<const FilterRow> selectionFilters()
{
    return rows;
}

} // namespace prosector::jinja
