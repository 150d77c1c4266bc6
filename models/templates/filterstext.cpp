// SPDX-License-Identifier: GPL-3.0-or-later
// Filters that make texts of values.
#include "models/templates/access.h"
#include "models/templates/arguments.h"
#include "models/templates/filters.h"
#include "models/templates/json.h"
#include "models/templates/methods.h"
#include "models/templates/operators.h"
#include "models/templates/pyformat.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"
#include "models/templates/renderer.h"
#include "models/templates/wrap.h"

#include "models/core/utf8.h"

#include <algorithm>

namespace prosector::jinja {

namespace {

/// soft_str: a str, marked or not, stays what it is.
Var softText(const Var &value)
{
    return value.isString() ? value : toText(value);
}

std::int64_t number(const Var &value, std::int64_t fallback)
{
    return value.isMissing() ? fallback : toIndex(value, "'" + typeName(value) + "' object cannot be interpreted as an integer");
}

template<std::string (*Change)(std::string_view)>
Var changeCase(Renderer &, const Var &input, Arguments &arguments)
{
    bind(arguments, "do_case", {}, 0, 1);
    const Var text = softText(input);
    return rewritten(text, Change(text.view()));
}

/// Jinja's own title: words begin behind blanks and opening brackets.
std::string titleWords(std::string_view text)
{
    std::string out;
    const auto isBreak = [](char32_t c) { return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || isPythonSpace(c); };
    for (std::size_t at = 0; at < text.size();) {
        const bool breaks = isBreak(decodeUtf8(text, at).value);
        std::size_t end = at;
        while (end < text.size() && isBreak(decodeUtf8(text, end).value) == breaks)
            end += characterLength(text, end);
        const std::size_t first = characterLength(text, at);
        out += upper(text.substr(at, first)) + lower(text.substr(at + first, end - at - first));
        at = end;
    }
    return out;
}

Var trim(Renderer &renderer, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "do_trim", {"chars"}, 0, 1);
    Arguments inner;
    if (!bound[0].isMissing())
        inner.positional.push_back(bound[0]);
    return findMethods("strip")[0]->run(renderer, softText(input), inner);
}

Var replace(Renderer &renderer, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "do_replace", {"old", "new", "count"}, 2, 2);
    Arguments inner;
    inner.positional = {toText(bound[0]), toText(bound[1])};
    if (!absent(bound[2]))
        inner.positional.push_back(bound[2]);
    return findMethods("replace")[0]->run(renderer, toText(input), inner);
}

Var join(Renderer &renderer, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "sync_do_join", {"d", "attribute"}, 0, 2);
    const Var separator = bound[0].isMissing() ? makeText({}) : toText(bound[0]);
    const auto get = attributeGetter(bound[1]);
    TextBuilder builder;
    bool first = true;
    const Ref<Iterator> iterator = iterate(renderer, input);
    for (Var item; iterator->next(renderer, item);) {
        renderer.step();
        if (!first)
            builder.append(separator);
        first = false;
        builder.append(toText(absent(bound[1]) ? item : get(renderer, item)));
    }
    return builder.build();
}

Var string(Renderer &, const Var &input, Arguments &arguments)
{
    bind(arguments, "soft_str", {}, 0, 1);
    return softText(input);
}

Var center(Renderer &renderer, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "do_center", {"width"}, 0, 1);
    Arguments inner;
    inner.positional.push_back(Var::integer(number(bound[0], 80)));
    return findMethods("center")[0]->run(renderer, softText(input), inner);
}

Var format(Renderer &, const Var &input, Arguments &arguments)
{
    if (!arguments.positional.empty() && !arguments.named.empty())
        raise(Exc::FilterArgumentError, "can't handle positional and keyword arguments at the same time");
    if (arguments.named.empty())
        return percentFormat(softText(input), makeTuple(std::move(arguments.positional)));
    std::vector<Dict::Entry> entries;
    for (Arguments::Named &named : arguments.named)
        entries.push_back({makeText(named.name), named.value});
    return percentFormat(softText(input), makeDict(std::move(entries)));
}

Var indent(Renderer &, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "do_indent", {"width", "first", "blank"}, 0, 1);
    const Var &width = bound[0];
    const Var margin = width.isString() ? width : repeated(makeText(" "), number(width, 4));
    // The text with a newline behind it, so that an empty last line counts.
    if (input.isUndefined())
        raiseUndefined(input);
    if (!input.isString() && !input.isList())
        raise(Exc::TypeError, "unsupported operand type(s) for +=: '" + typeName(input) + "' and 'str'");
    const Var text = input.isString() ? concatenated(input, makeText("\n")) : input;
    if (!text.isString())
        raise(Exc::AttributeError, "'list' object has no attribute 'splitlines'");
    const std::vector<Range> lines = splitLines(text.view(), false);
    const bool blank = truth(bound[2]);
    TextBuilder builder;
    if (truth(bound[1]))
        builder.append(margin);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i > 0) {
            builder.derived("\n", sourceOf(input));
            if (blank || lines[i].to > lines[i].from)
                builder.append(margin);
        }
        builder.append(text, lines[i].from, lines[i].to);
    }
    return builder.build(input.isMarkup());
}

Var truncate(Renderer &, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "do_truncate", {"length", "killwords", "end", "leeway"}, 0, 2);
    const std::int64_t length = number(bound[0], 255), leeway = absent(bound[3]) ? 5 : number(bound[3], 5);
    const Var end = bound[2].isMissing() ? makeText("...") : bound[2];
    if (!end.isString())
        raise(Exc::TypeError, "object of type '" + typeName(end) + "' has no len()");
    const std::int64_t endLength = end.text().length();
    if (length < endLength)
        raise(Exc::AssertionError, "expected length >= " + std::to_string(endLength) + ", got " + std::to_string(length));
    if (leeway < 0)
        raise(Exc::AssertionError, "expected leeway >= 0, got " + std::to_string(leeway));
    if (!input.isString()) {
        if (input.isUndefined())
            return input;
        raise(Exc::TypeError, "object of type '" + typeName(input) + "' has no len()");
    }
    if (input.text().length() <= length + leeway)
        return input;
    Var head = slice(input, 0, byteOfCodePoint(input.view(), length - endLength));
    if (!truth(bound[1])) {
        const std::size_t blank = head.view().rfind(' ');
        if (blank != std::string_view::npos)
            head = slice(head, 0, blank);
    }
    return concatenated(head, end);
}

Var wordwrap(Renderer &, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "do_wordwrap", {"width", "break_long_words", "wrapstring", "break_on_hyphens"}, 0, 2);
    if (!input.isString())
        raise(Exc::AttributeError, "'" + typeName(input) + "' object has no attribute 'splitlines'");
    WrapOptions options;
    options.width = number(bound[0], 79);
    options.breakLongWords = bound[1].isMissing() || truth(bound[1]);
    options.breakOnHyphens = bound[3].isMissing() || truth(bound[3]);
    const Var between = absent(bound[2]) ? makeText("\n") : bound[2];
    needText(between, "wrapstring");
    TextBuilder builder;
    bool first = true;
    for (const Range &line : splitLines(input.view(), false)) {
        if (!first)
            builder.append(between);
        first = false;
        bool firstPart = true;
        for (const Range &part : wrapped(input.view().substr(line.from, line.to - line.from), options)) {
            if (!firstPart)
                builder.append(between);
            firstPart = false;
            builder.append(input, line.from + part.from, line.from + part.to);
        }
    }
    return builder.build(input.isMarkup());
}

Var wordcount(Renderer &, const Var &input, Arguments &arguments)
{
    bind(arguments, "do_wordcount", {}, 0, 1);
    return Var::integer(countWords(softText(input).view()));
}

Var tojson(Renderer &, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "tojson", {"ensure_ascii", "indent", "separators", "sort_keys"}, 0, 1);
    JsonOptions options;
    options.ensureAscii = truth(bound[0]);
    options.sortKeys = truth(bound[3]);
    if (!absent(bound[1])) {
        options.indent = bound[1].isString() ? std::string(bound[1].view())
                                             : std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(
                                                               toIndex(bound[1], "can't multiply sequence by non-int of type '" + typeName(bound[1]) + "'"), 0, 10000)),
                                                           ' ');
        options.itemSeparator = ",";
    }
    if (!absent(bound[2])) {
        const Var &separators = bound[2];
        if (!separators.isSequence() || separators.sequence().items.size() != 2)
            raise(separators.isSequence() ? Exc::ValueError : Exc::TypeError,
                  separators.isSequence() ? (separators.sequence().items.size() < 2
                                                 ? "not enough values to unpack (expected 2, got " + std::to_string(separators.sequence().items.size()) + ")"
                                                 : std::string("too many values to unpack (expected 2)"))
                                          : "cannot unpack non-iterable " + typeName(separators) + " object");
        options.itemSeparator = needText(separators.sequence().items[0], "separator").view();
        options.keySeparator = needText(separators.sequence().items[1], "separator").view();
    }
    return toJson(input, options);
}

Var pprint(Renderer &, const Var &input, Arguments &arguments)
{
    bind(arguments, "do_pprint", {}, 0, 1);
    const std::string text = repr(input);
    if (codePointCount(text) > 80 && !input.isObject())
        raise(Exc::Unsupported, "pprint of a value wider than a line");
    return makeText(text, input.source());
}

constexpr FilterRow rows[] = {
    {"trim", trim},
    {"tojson", tojson},
    {"upper", changeCase<upper>},
    {"lower", changeCase<lower>},
    {"capitalize", changeCase<capitalize>},
    {"title", changeCase<titleWords>},
    {"replace", replace},
    {"join", join},
    {"string", string},
    {"indent", indent},
    {"format", format},
    {"center", center},
    {"truncate", truncate},
    {"wordwrap", wordwrap},
    {"wordcount", wordcount},
    {"pprint", pprint},
};

} // namespace

std::span<const FilterRow> textFilters()
{
    return rows;
}

} // namespace prosector::jinja
