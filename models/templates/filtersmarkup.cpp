// SPDX-License-Identifier: GPL-3.0-or-later
// Filters for HTML and URLs.
#include "models/core/hex.h"
#include "models/templates/access.h"
#include "models/templates/arguments.h"
#include "models/templates/filters.h"
#include "models/templates/operators.h"
#include "models/templates/pyformat.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"
#include "models/templates/renderer.h"

#include <algorithm>

namespace prosector::jinja {

namespace {

Var escape(Renderer &, const Var &input, Arguments &arguments)
{
    bind(arguments, "escape", {}, 0, 1);
    return escaped(input);
}

Var forceEscape(Renderer &, const Var &input, Arguments &arguments)
{
    bind(arguments, "do_forceescape", {}, 0, 1);
    return escaped(toText(input));
}

Var safe(Renderer &, const Var &input, Arguments &arguments)
{
    bind(arguments, "do_mark_safe", {}, 0, 1);
    return toText(input).withMarkup(true);
}

/// Entities that striptags turns back; others stay.
std::string unescaped(std::string_view text)
{
    struct Entity {
        std::string_view name, character;
    };
    static constexpr Entity entities[] = {{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&#34;", "\""}, {"&#39;", "'"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&nbsp;", "\u00A0"}};
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto *const found = std::find_if(std::begin(entities), std::end(entities), [&](const Entity &e) { return text.substr(at).starts_with(e.name); });
        if (found != std::end(entities)) {
            out += found->character;
            at += found->name.size();
        } else {
            out += text[at++];
        }
    }
    return out;
}

Var striptags(Renderer &, const Var &input, Arguments &arguments)
{
    bind(arguments, "do_striptags", {}, 0, 1);
    std::string text(toText(input).view());
    for (const auto &[open, close] : {std::pair<std::string_view, std::string_view>{"<!--", "-->"}, {"<", ">"}}) {
        std::string kept;
        std::size_t at = 0;
        for (;;) {
            const std::size_t begin = text.find(open, at);
            const std::size_t end = begin == std::string::npos ? begin : text.find(close, begin);
            if (end == std::string::npos)
                break;
            kept.append(text, at, begin - at);
            at = end + close.size();
        }
        text = kept.append(text, at);
    }
    std::string out;
    for (const Range &word : splitSpace(text, -1)) {
        if (!out.empty())
            out += ' ';
        out += std::string_view(text).substr(word.from, word.to - word.from);
    }
    return rewritten(toText(input), unescaped(out));
}

std::string quoted(const Var &value, bool query)
{
    std::string out;
    for (const char c : toText(value).view()) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' || c == '~';
        if (plain || (c == '/' && !query)) {
            out += c;
        } else if (c == ' ' && query) {
            out += '+';
        } else {
            out += '%' + upperHex(static_cast<unsigned char>(c));
        }
    }
    return out;
}

Var urlencode(Renderer &renderer, const Var &input, Arguments &arguments)
{
    bind(arguments, "do_urlencode", {}, 0, 1);
    if (input.isString() || !isIterable(input))
        return rewritten(toText(input), quoted(input, false));
    std::string out;
    const auto add = [&out](const Var &key, const Var &value) {
        if (!out.empty())
            out += '&';
        out += quoted(key, true) + "=" + quoted(value, true);
    };
    if (input.isDict()) {
        for (const Dict::Entry &entry : input.dict().entries)
            add(entry.key, entry.value);
        return makeText(std::move(out));
    }
    for (const Var &pair : itemsOf(renderer, input)) {
        const std::vector<Var> both = itemsOf(renderer, pair);
        if (both.size() != 2)
            raise(Exc::ValueError, both.size() < 2 ? "not enough values to unpack (expected 2, got " + std::to_string(both.size()) + ")"
                                                   : std::string("too many values to unpack (expected 2)"));
        add(both[0], both[1]);
    }
    return makeText(std::move(out));
}

Var xmlattr(Renderer &, const Var &input, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "do_xmlattr", {"autospace"}, 0, 2);
    if (input.isUndefined())
        raiseUndefined(input);
    if (!input.isDict())
        raise(Exc::AttributeError, "'" + typeName(input) + "' object has no attribute 'items'");
    TextBuilder builder;
    for (const Dict::Entry &entry : input.dict().entries) {
        if (entry.value.isNone() || entry.value.isUndefined())
            continue;
        if (!entry.key.isString())
            raise(Exc::TypeError, "expected string or bytes-like object, got '" + typeName(entry.key) + "'");
        if (entry.key.view().find_first_of(" \t\n\r\f\v/>=") != std::string_view::npos)
            raise(Exc::ValueError, "Invalid character in attribute name: " + repr(entry.key));
        if (builder.size() > 0 || bound[0].isMissing() || truth(bound[0]))
            builder.derived(" ", 0);
        builder.append(escaped(entry.key));
        builder.derived("=\"", 0);
        builder.append(escaped(entry.value));
        builder.derived("\"", 0);
    }
    return builder.build();
}

Var urlize(Renderer &, const Var &, Arguments &)
{
    raise(Exc::Unsupported, "urlize");
}

constexpr FilterRow rows[] = {
    {"safe", safe}, {"escape", escape}, {"e", escape}, {"forceescape", forceEscape}, {"striptags", striptags},
    {"urlencode", urlencode}, {"xmlattr", xmlattr}, {"urlize", urlize},
};

} // namespace

std::span<const FilterRow> markupFilters()
{
    return rows;
}

} // namespace prosector::jinja
