// SPDX-License-Identifier: GPL-3.0-or-later
// Methods of str.
#include "models/templates/access.h"
#include "models/templates/arguments.h"
#include "models/templates/methods.h"
#include "models/templates/operators.h"
#include "models/templates/pyformat.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"
#include "models/templates/renderer.h"

#include "models/core/utf8.h"

#include <algorithm>

namespace prosector::jinja {

namespace {

void noArguments(Arguments &arguments, std::string_view name)
{
    if (!arguments.named.empty())
        raise(Exc::TypeError, "str." + std::string(name) + "() takes no keyword arguments");
    if (!arguments.positional.empty())
        raise(Exc::TypeError, "str." + std::string(name) + "() takes no arguments (" + std::to_string(arguments.positional.size()) + " given)");
}

/// A positional argument, or Missing.
Var positional(const Arguments &arguments, std::size_t index)
{
    return index < arguments.positional.size() ? arguments.positional[index] : Var();
}

void checkCount(const Arguments &arguments, std::string_view name, std::size_t least, std::size_t most)
{
    if (!arguments.named.empty())
        raise(Exc::TypeError, "str." + std::string(name) + "() takes no keyword arguments");
    const std::size_t given = arguments.positional.size();
    if (given >= least && given <= most)
        return;
    if (least == most)
        raise(Exc::TypeError, least == 1 ? "str." + std::string(name) + "() takes exactly one argument (" + std::to_string(given) + " given)"
                                         : std::string(name) + " expected " + std::to_string(least) + " arguments, got " + std::to_string(given));
    raise(Exc::TypeError, std::string(name) + " expected at " + (given < least ? "least " + std::to_string(least) : "most " + std::to_string(most))
                              + " argument" + ((given < least ? least : most) == 1 ? "" : "s") + ", got " + std::to_string(given));
}

/// A method's name as a template argument, for its messages.
struct Name {
    char text[16] = {};
    template<std::size_t size>
    constexpr Name(const char (&literal)[size])
    {
        for (std::size_t i = 0; i + 1 < size; ++i)
            text[i] = literal[i];
    }
};

template<Name name, std::string (*Change)(std::string_view)>
Var changeCase(Renderer &, const Var &self, Arguments &arguments)
{
    noArguments(arguments, name.text);
    return rewritten(self, Change(self.view()));
}

template<Name name, bool (*Predicate)(std::string_view)>
Var ask(Renderer &, const Var &self, Arguments &arguments)
{
    noArguments(arguments, name.text);
    return Var::boolean(Predicate(self.view()));
}

enum Side { Left = 1, Right = 2, Both = 3 };

template<Side side>
Var strip(Renderer &, const Var &self, Arguments &arguments)
{
    constexpr std::string_view name = side == Both ? "strip" : side == Left ? "lstrip" : "rstrip";
    checkCount(arguments, name, 0, 1);
    const std::string_view text = self.view();
    const Var characters = positional(arguments, 0);
    std::size_t from = 0, to = text.size();
    if (absent(characters)) {
        if (side & Left)
            from = stripBegin(text);
        if (side & Right)
            to = std::max(from, from + stripEnd(text.substr(from)));
        return slice(self, from, to);
    }
    if (!characters.isString())
        raise(Exc::TypeError, std::string(name) + " arg must be None or str");
    const std::string_view set = characters.view();
    // Whole characters are compared: a match inside another character's bytes is none.
    const auto in = [&](std::string_view character) { return set.find(character) != std::string_view::npos; };
    if (side & Left) {
        while (from < to && in(text.substr(from, characterLength(text, from))))
            from += characterLength(text, from);
    }
    if (side & Right) {
        while (to > from && in(text.substr(to - characterLengthBefore(text, to), characterLengthBefore(text, to))))
            to -= characterLengthBefore(text, to);
    }
    return slice(self, from, to);
}

Var sliced(const Var &self, const std::vector<Range> &ranges)
{
    std::vector<Var> parts;
    parts.reserve(ranges.size());
    for (const Range &range : ranges)
        parts.push_back(slice(self, range.from, range.to));
    return makeList(std::move(parts));
}

template<bool right>
Var split(Renderer &, const Var &self, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, right ? "rsplit" : "split", {"sep", "maxsplit"});
    const std::int64_t limit = bound[1].isMissing() ? -1 : toIndex(bound[1], "'" + typeName(bound[1]) + "' object cannot be interpreted as an integer");
    if (absent(bound[0]))
        return sliced(self, right ? splitSpaceRight(self.view(), limit) : splitSpace(self.view(), limit));
    if (!bound[0].isString())
        raise(Exc::TypeError, "must be str or None, not " + typeName(bound[0]));
    if (bound[0].view().empty())
        raise(Exc::ValueError, "empty separator");
    Ledger::labour(self.view().size());
    return sliced(self, right ? splitAtRight(self.view(), bound[0].view(), limit) : splitAt(self.view(), bound[0].view(), limit));
}

Var splitlines(Renderer &, const Var &self, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "splitlines", {"keepends"});
    return sliced(self, splitLines(self.view(), truth(bound[0])));
}

template<bool right>
Var partition(Renderer &, const Var &self, Arguments &arguments)
{
    checkCount(arguments, right ? "rpartition" : "partition", 1, 1);
    const Var &separator = needText(arguments.positional[0], "argument");
    if (separator.view().empty())
        raise(Exc::ValueError, "empty separator");
    const std::string_view text = self.view();
    const std::size_t at = right ? text.rfind(separator.view()) : text.find(separator.view());
    const Var empty = makeText({});
    if (at == std::string_view::npos)
        return right ? makeTuple({empty, empty, self}) : makeTuple({self, empty, empty});
    const std::size_t end = at + separator.view().size();
    return makeTuple({slice(self, 0, at), slice(self, at, end), slice(self, end, text.size())});
}

Var join(Renderer &renderer, const Var &self, Arguments &arguments)
{
    checkCount(arguments, "join", 1, 1);
    if (!isIterable(arguments.positional[0]))
        raise(Exc::TypeError, "can only join an iterable");
    const std::vector<Var> items = itemsOf(renderer, arguments.positional[0]);
    TextBuilder builder;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (!items[i].isString() && !self.isMarkup())
            raise(Exc::TypeError, "sequence item " + std::to_string(i) + ": expected str instance, " + typeName(items[i]) + " found");
        if (i > 0)
            builder.append(self);
        builder.append(self.isMarkup() ? escaped(items[i]) : items[i]);
    }
    return builder.build(self.isMarkup());
}

Var replace(Renderer &, const Var &self, Arguments &arguments)
{
    checkCount(arguments, "replace", 2, 3);
    for (std::size_t i = 0; i < 2; ++i) {
        if (!arguments.positional[i].isString())
            raise(Exc::TypeError, "replace() argument " + std::to_string(i + 1) + " must be str, not " + typeName(arguments.positional[i]));
    }
    const Var &from = arguments.positional[0], &to = arguments.positional[1];
    const Var count = positional(arguments, 2);
    std::int64_t left = count.isMissing() ? -1 : toIndex(count, "'" + typeName(count) + "' object cannot be interpreted as an integer");
    const std::string_view text = self.view();
    Ledger::labour(text.size());
    TextBuilder builder;
    std::size_t at = 0;
    if (from.view().empty()) {
        // Before every character and behind the last.
        for (; left != 0; --left) {
            builder.append(to);
            if (at >= text.size())
                return builder.build(self.isMarkup());
            const std::size_t next = at + characterLength(text, at);
            builder.append(self, at, next);
            at = next;
        }
    } else {
        for (; left != 0; --left) {
            const std::size_t found = text.find(from.view(), at);
            if (found == std::string_view::npos)
                break;
            builder.append(self, at, found);
            builder.append(to);
            at = found + from.view().size();
        }
    }
    builder.append(self, at, text.size());
    return builder.build(self.isMarkup());
}

/// Byte bounds of the optional start and end of find, count, startswith…; nothing when they cross.
std::optional<Range> window(const Var &self, const Var &start, const Var &end)
{
    constexpr std::string_view complaint = "slice indices must be integers or None or have an __index__ method";
    const std::int64_t length = self.text().length();
    const auto clamp = [&](const Var &v, std::int64_t fallback) {
        if (absent(v))
            return fallback;
        const std::int64_t at = toIndex(v, complaint);
        return at < 0 ? std::max<std::int64_t>(0, at + length) : at;
    };
    const std::int64_t from = clamp(start, 0), to = std::min(clamp(end, length), length);
    if (from > to)
        return std::nullopt;
    return Range{byteOfCodePoint(self.view(), from), byteOfCodePoint(self.view(), to)};
}

template<bool right, bool mustFind>
Var find(Renderer &, const Var &self, Arguments &arguments)
{
    checkCount(arguments, right ? (mustFind ? "rindex" : "rfind") : mustFind ? "index" : "find", 1, 3);
    const Var &wanted = needText(arguments.positional[0], "argument");
    const auto range = window(self, positional(arguments, 1), positional(arguments, 2));
    std::size_t at = std::string_view::npos;
    if (range) {
        const std::string_view part = self.view().substr(range->from, range->to - range->from);
        at = right ? part.rfind(wanted.view()) : part.find(wanted.view());
    }
    if (at == std::string_view::npos) {
        if (mustFind)
            raise(Exc::ValueError, "substring not found");
        return Var::integer(-1);
    }
    return Var::integer(codePointCount(self.view().substr(0, range->from + at)));
}

Var count(Renderer &, const Var &self, Arguments &arguments)
{
    checkCount(arguments, "count", 1, 3);
    const Var &wanted = needText(arguments.positional[0], "argument");
    const auto range = window(self, positional(arguments, 1), positional(arguments, 2));
    if (!range)
        return Var::integer(0);
    const std::string_view part = self.view().substr(range->from, range->to - range->from);
    if (wanted.view().empty())
        return Var::integer(codePointCount(part) + 1);
    std::int64_t found = 0;
    for (std::size_t at = part.find(wanted.view()); at != std::string_view::npos; at = part.find(wanted.view(), at + wanted.view().size()))
        ++found;
    return Var::integer(found);
}

template<bool end>
Var startsOrEnds(Renderer &, const Var &self, Arguments &arguments)
{
    const std::string name = end ? "endswith" : "startswith";
    checkCount(arguments, name, 1, 3);
    const Var &wanted = arguments.positional[0];
    const auto range = window(self, positional(arguments, 1), positional(arguments, 2));
    const auto matches = [&](const Var &candidate) {
        if (!range)
            return false;
        const std::string_view part = self.view().substr(range->from, range->to - range->from);
        return end ? part.ends_with(candidate.view()) : part.starts_with(candidate.view());
    };
    if (wanted.isString())
        return Var::boolean(matches(wanted));
    if (!wanted.isTuple())
        raise(Exc::TypeError, name + " first arg must be str or a tuple of str, not " + typeName(wanted));
    for (const Var &candidate : wanted.sequence().items) {
        if (!candidate.isString())
            raise(Exc::TypeError, "tuple for " + name + " must only contain str, not " + typeName(candidate));
        if (matches(candidate))
            return Var::boolean(true);
    }
    return Var::boolean(false);
}

template<bool suffix>
Var removeAffix(Renderer &, const Var &self, Arguments &arguments)
{
    checkCount(arguments, suffix ? "removesuffix" : "removeprefix", 1, 1);
    const Var &affix = needText(arguments.positional[0], "argument");
    const std::size_t size = self.view().size(), length = affix.view().size();
    if (suffix)
        return self.view().ends_with(affix.view()) ? slice(self, 0, size - length) : self;
    return self.view().starts_with(affix.view()) ? slice(self, length, size) : self;
}

enum class Align { Left, Right, Center };

template<Align align>
Var pad(Renderer &, const Var &self, Arguments &arguments)
{
    checkCount(arguments, align == Align::Left ? "ljust" : align == Align::Right ? "rjust" : "center", 1, 2);
    const std::int64_t width = toIndex(arguments.positional[0], "'" + typeName(arguments.positional[0]) + "' object cannot be interpreted as an integer");
    Var fill = positional(arguments, 1);
    if (fill.isMissing())
        fill = makeText(" ");
    if (!fill.isString() || fill.text().length() != 1)
        raise(Exc::TypeError, "The fill character must be exactly one character long");
    const std::int64_t missing = width - self.text().length();
    if (missing <= 0)
        return self;
    // Python puts the odd one to the left where the width is odd, too.
    const std::int64_t before = align == Align::Left ? 0 : align == Align::Right ? missing : missing / 2 + (missing & width & 1);
    TextBuilder builder;
    builder.append(repeated(fill, before));
    builder.append(self);
    builder.append(repeated(fill, missing - before));
    return builder.build(self.isMarkup());
}

Var zfill(Renderer &, const Var &self, Arguments &arguments)
{
    checkCount(arguments, "zfill", 1, 1);
    const std::int64_t width = toIndex(arguments.positional[0], "'" + typeName(arguments.positional[0]) + "' object cannot be interpreted as an integer");
    const std::int64_t missing = width - self.text().length();
    if (missing <= 0)
        return self;
    const std::string_view text = self.view();
    const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    TextBuilder builder;
    builder.append(self, 0, sign);
    builder.append(repeated(makeText("0"), missing));
    builder.append(self, sign, text.size());
    return builder.build(self.isMarkup());
}

Var expandtabs(Renderer &, const Var &self, Arguments &arguments)
{
    const std::vector<Var> bound = bind(arguments, "expandtabs", {"tabsize"});
    const std::int64_t size = bound[0].isMissing() ? 8 : toIndex(bound[0], "an integer is required");
    TextBuilder builder;
    std::int64_t column = 0;
    const std::string_view text = self.view();
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t next = at + characterLength(text, at);
        if (text[at] == '\t') {
            if (size > 0) {
                builder.append(repeated(makeText(" "), size - column % size));
                column += size - column % size;
            }
        } else {
            builder.append(self, at, next);
            column = text[at] == '\n' || text[at] == '\r' ? 0 : column + 1;
        }
        at = next;
    }
    return builder.build(self.isMarkup());
}

Var format(Renderer &renderer, const Var &self, Arguments &arguments)
{
    return braceFormat(renderer, self, arguments);
}

Var formatMap(Renderer &renderer, const Var &self, Arguments &arguments)
{
    if (!arguments.named.empty())
        raise(Exc::TypeError, "format_map() takes no keyword arguments");
    if (arguments.positional.size() != 1)
        raise(Exc::TypeError, "format_map() takes exactly one argument (" + std::to_string(arguments.positional.size()) + " given)");
    Arguments mapped;
    if (arguments.positional[0].isDict()) {
        for (const Dict::Entry &entry : arguments.positional[0].dict().entries) {
            if (entry.key.isString())
                mapped.named.push_back({std::string(entry.key.view()), entry.value});
        }
    }
    return braceFormat(renderer, self, mapped);
}

Var encode(Renderer &, const Var &, Arguments &)
{
    raise(Exc::Unsupported, "bytes");
}

Var translate(Renderer &, const Var &self, Arguments &arguments)
{
    checkCount(arguments, "translate", 1, 1);
    const Var &table = arguments.positional[0];
    if (!table.isDict())
        raise(Exc::TypeError, "'" + typeName(table) + "' object is not subscriptable");
    TextBuilder builder;
    const std::string_view text = self.view();
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = decodeUtf8(text, at);
        const Var *const to = table.dict().find(Var::integer(c.value));
        if (!to) {
            builder.append(self, at, at + c.length);
        } else if (to->isString()) {
            builder.append(*to);
        } else if (to->isIntegral()) {
            std::string made;
            appendUtf8(made, static_cast<char32_t>(to->asInt()));
            builder.derived(made, sourceOf(self));
        } else if (!to->isNone()) {
            raise(Exc::TypeError, "character mapping must return integer, None or str");
        }
        at += c.length;
    }
    return builder.build(self.isMarkup());
}

constexpr MethodRow rows[] = {
    {"strip", strip<Both>},
    {"lstrip", strip<Left>},
    {"rstrip", strip<Right>},
    {"split", split<false>},
    {"rsplit", split<true>},
    {"startswith", startsOrEnds<false>},
    {"endswith", startsOrEnds<true>},
    {"replace", replace},
    {"upper", changeCase<"upper", upper>},
    {"lower", changeCase<"lower", lower>},
    {"title", changeCase<"title", title>},
    {"capitalize", changeCase<"capitalize", capitalize>},
    {"swapcase", changeCase<"swapcase", swapCase>},
    {"casefold", changeCase<"casefold", caseFold>},
    {"join", join},
    {"format", format},
    {"format_map", formatMap},
    {"splitlines", splitlines},
    {"partition", partition<false>},
    {"rpartition", partition<true>},
    {"find", find<false, false>},
    {"rfind", find<true, false>},
    {"index", find<false, true>},
    {"rindex", find<true, true>},
    {"count", count},
    {"removeprefix", removeAffix<false>},
    {"removesuffix", removeAffix<true>},
    {"ljust", pad<Align::Left>},
    {"rjust", pad<Align::Right>},
    {"center", pad<Align::Center>},
    {"zfill", zfill},
    {"expandtabs", expandtabs},
    {"isalpha", ask<"isalpha", isAlphaText>},
    {"isdigit", ask<"isdigit", isDigitText>},
    {"isdecimal", ask<"isdecimal", isDecimalText>},
    {"isnumeric", ask<"isnumeric", isNumericText>},
    {"isalnum", ask<"isalnum", isAlnumText>},
    {"isspace", ask<"isspace", isSpaceText>},
    {"isupper", ask<"isupper", isUpperText>},
    {"islower", ask<"islower", isLowerText>},
    {"istitle", ask<"istitle", isTitleText>},
    {"isidentifier", ask<"isidentifier", isIdentifierText>},
    {"isprintable", ask<"isprintable", isPrintableText>},
    {"isascii", ask<"isascii", isAsciiText>},
    {"encode", encode},
    {"translate", translate},
};

} // namespace

std::span<const MethodRow> textMethods()
{
    return rows;
}

} // namespace prosector::jinja
