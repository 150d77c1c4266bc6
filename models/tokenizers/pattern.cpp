// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/pattern.h"

#include "models/core/pcre2handle.h"
#include "models/tokenizers/unicode.h"


#include <algorithm>
#include <array>

namespace prosector {

namespace {

// Inside a class, without brackets. White_Space and UTS #18 word characters: PCRE2's own \s and \w
// are other sets (it counts U+180E as a blank and no marks as word characters).
constexpr std::string_view blanks =
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}";
constexpr std::string_view wordCharacters =
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}";
constexpr std::string_view digits = "\\p{Nd}";
constexpr std::string_view hexDigits = "0-9a-fA-F";

constexpr std::array<std::string_view, 14> scripts{"Han", "Hiragana", "Katakana", "Hangul", "Latin", "Greek", "Cyrillic",
    "Arabic", "Hebrew", "Thai", "Devanagari", "Bengali", "Tamil", "Bopomofo"};

std::string_view classOf(char escape)
{
    switch (escape) {
    case 's': case 'S': return blanks;
    case 'w': case 'W': return wordCharacters;
    case 'd': case 'D': return digits;
    case 'h': case 'H': return hexDigits;
    default: return {};
    }
}

constexpr bool isUpper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/// Rewrites Oniguruma's syntax to PCRE2's. One pass; `m_atom` remembers where the last atom began,
/// for intervals that Ruby reads as greedy repeats and PCRE2 as possessive.
class Translator {
public:
    Translator(std::string_view source, Pattern::Dialect dialect) : m_source(source), m_dialect(dialect) {}

    Result<std::string> run()
    {
        while (m_at < m_source.size()) {
            if (auto done = step(); !done)
                return done.error();
        }
        return std::move(m_out);
    }

private:
    Result<void> step()
    {
        const char c = m_source[m_at];
        switch (c) {
        case '\\': return escape();
        case '[': return bracket();
        case '(': m_groups.push_back(m_out.size()); break;
        case ')':
            m_atom = m_groups.empty() ? m_out.size() : m_groups.back();
            if (!m_groups.empty())
                m_groups.pop_back();
            m_out += c;
            ++m_at;
            return {};
        case '{': return interval();
        case '*': case '+': case '?': case '|': break;
        default: m_atom = m_out.size();
        }
        m_out += c;
        ++m_at;
        // A character of several bytes is one atom.
        while (m_at < m_source.size() && isContinuationByte(m_source[m_at]))
            m_out += m_source[m_at++];
        return {};
    }

    Result<void> escape()
    {
        if (m_at + 1 >= m_source.size())
            return malformed("an escape", "the end");
        m_atom = m_out.size();
        const char name = m_source[m_at + 1];
        if (const auto members = classOf(name); !members.empty()) {
            m_out += isUpper(name) ? "[^" : "[";
            m_out += members;
            m_out += ']';
            m_at += 2;
            return {};
        }
        m_out += m_source.substr(m_at, 2);
        m_at += 2;
        copyBraces(name);
        return {};
    }

    /// The {…} behind \p, \P, \x, \k and \u belongs to the escape.
    void copyBraces(char name)
    {
        if (std::string_view("pPxkgo").find(name) == std::string_view::npos || m_at >= m_source.size()
            || m_source[m_at] != '{')
            return;
        const auto end = std::min(m_source.find('}', m_at), m_source.size() - 1);
        const auto content = m_source.substr(m_at + 1, end - m_at - 1);
        // PCRE2 reads a bare script as Script_Extensions.
        const bool script = (name == 'p' || name == 'P') && std::find(scripts.begin(), scripts.end(), content) != scripts.end();
        m_out += script ? "{sc:" : "{";
        m_out += m_source.substr(m_at + 1, end - m_at);
        m_at = end + 1;
    }

    Result<void> bracket()
    {
        const std::size_t begin = m_out.size();
        m_atom = begin;
        m_out += '[';
        ++m_at;
        if (m_at < m_source.size() && m_source[m_at] == '^')
            m_out += m_source[m_at++];
        if (m_at < m_source.size() && m_source[m_at] == ']') {
            m_out += "\\]";
            ++m_at;
        }
        while (m_at < m_source.size() && m_source[m_at] != ']') {
            const auto rest = m_source.substr(m_at);
            if (rest.starts_with("&&"))
                return intersection(begin);
            if (rest.starts_with("[:")) {
                const auto end = std::min(m_source.find(":]", m_at), m_source.size() - 2);
                m_out += m_source.substr(m_at, end + 2 - m_at);
                m_at = end + 2;
                continue;
            }
            if (rest[0] == '[')
                return unsupported("a class inside a class");
            if (rest[0] != '\\' || rest.size() < 2) {
                m_out += rest[0];
                ++m_at;
                continue;
            }
            if (const auto members = classOf(rest[1]); !members.empty()) {
                if (isUpper(rest[1]) && rest[1] != 'S' && rest[1] != 'D')
                    return unsupported(std::string("\\") + rest[1] + " inside a class");
                // \S and \D of PCRE2 serve here: they differ from Oniguruma's in U+180E only.
                if (isUpper(rest[1]))
                    m_out += rest.substr(0, 2);
                else
                    m_out += members;
                m_at += 2;
                continue;
            }
            m_out += rest.substr(0, 2);
            m_at += 2;
            copyBraces(rest[1]);
        }
        if (m_at >= m_source.size())
            return malformed("']'", "the end");
        m_out += ']';
        ++m_at;
        return {};
    }

    /// `[A&&[B]]` is a character of A before which B looks ahead.
    Result<void> intersection(std::size_t begin)
    {
        std::string left = m_out.substr(begin) + ']';
        m_out.resize(begin);
        m_at += 2;
        if (left.starts_with("[^") || m_at >= m_source.size() || m_source[m_at] != '[')
            return unsupported("this intersection of classes (&&)");
        if (auto done = bracket(); !done)
            return done;
        if (m_at >= m_source.size() || m_source[m_at] != ']')
            return unsupported("an intersection of three classes (&&)");
        ++m_at;
        m_out = m_out.substr(0, begin) + "(?:(?=" + m_out.substr(begin) + ')' + left + ')';
        m_atom = begin;
        return {};
    }

    /// `a{1,3}+` is (a{1,3})+ in Ruby, possessive in Rust.
    Result<void> interval()
    {
        const auto end = m_source.find('}', m_at);
        if (end == std::string_view::npos) {
            m_out += m_source[m_at++];
            return {};
        }
        m_out += m_source.substr(m_at, end + 1 - m_at);
        m_at = end + 1;
        if (m_dialect == Pattern::Dialect::Oniguruma && m_at < m_source.size() && m_source[m_at] == '+') {
            m_out.insert(m_atom, "(?:");
            m_out += ")";
        }
        return {};
    }

    Error malformed(std::string expected, std::string found) const
    {
        return {Errc::Malformed, "regular expression " + std::string(m_source), ByteRange{m_at, m_at},
                std::move(expected), std::move(found)};
    }
    Error unsupported(std::string what) const
    {
        return {Errc::Unsupported, "regular expression " + std::string(m_source), ByteRange{m_at, m_at}, {},
                std::move(what)};
    }

    std::string_view m_source;
    Pattern::Dialect m_dialect;
    std::string m_out;
    std::size_t m_at = 0, m_atom = 0;
    std::vector<std::size_t> m_groups;
};

/// Steps one match may take: above what real patterns need on long texts, below a visible hang.
constexpr std::uint32_t matchLimit = 10'000'000;

} // namespace

struct Pattern::Compiled {
    Pcre2Ptr<pcre2_code> code;
};

Result<Pattern> Pattern::compile(std::string_view expression, Dialect dialect)
{
    auto translated = Translator(expression, dialect).run();
    if (!translated)
        return translated.error();
    return build(expression, *translated,
                 PCRE2_UTF | PCRE2_UCP | (dialect == Dialect::Oniguruma ? PCRE2_MULTILINE : PCRE2_DOLLAR_ENDONLY));
}

Result<Pattern> Pattern::compilePlain(std::string_view expression, Unit unit)
{
    return build(expression, expression, PCRE2_DOLLAR_ENDONLY | (unit == Unit::Character ? PCRE2_UTF : 0U));
}

Result<Pattern> Pattern::build(std::string_view source, std::string_view translated, std::uint32_t flags)
{
    auto code = compilePcre2(translated, flags);
    if (!code) {
        Error error = code.error();
        error.message = "regular expression " + std::string(source); // as the file has it
        return error;
    }
    pcre2_jit_compile(code->get(), PCRE2_JIT_COMPLETE); // without it the interpreter serves
    Pattern pattern;
    pattern.m_source = source;
    pattern.m_compiled = std::make_shared<const Compiled>(Compiled{std::move(*code)});
    return pattern;
}

Pattern Pattern::literal(std::string text)
{
    Pattern pattern;
    pattern.m_source = std::move(text);
    pattern.m_isLiteral = true;
    return pattern;
}

Result<void> Pattern::findAll(std::string_view text, std::vector<Range> &matches) const
{
    matches.clear();
    if (m_isLiteral) {
        for (auto at = m_source.empty() ? std::string_view::npos : text.find(m_source);
             at != std::string_view::npos; at = text.find(m_source, at + m_source.size()))
            matches.push_back({at, at + m_source.size()});
        return {};
    }
    // Long runs of repeated groups need more than the 32 KiB that JIT code has by itself.
    thread_local const Pcre2Ptr<pcre2_jit_stack> stack(
        pcre2_jit_stack_create(32 << 10, 64 << 20, nullptr));
    thread_local const Pcre2Ptr<pcre2_match_context> context = [] {
        auto *made = pcre2_match_context_create(nullptr);
        pcre2_set_match_limit(made, matchLimit);
        pcre2_jit_stack_assign(made, nullptr, stack.get());
        return Pcre2Ptr<pcre2_match_context>(made);
    }();
    thread_local const Pcre2Ptr<pcre2_match_data> data(pcre2_match_data_create(1, nullptr));

    std::size_t at = 0;
    while (at <= text.size()) {
        const int found = pcre2_match(m_compiled->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                                      PCRE2_NO_UTF_CHECK, data.get(), context.get());
        if (found == PCRE2_ERROR_NOMATCH)
            break;
        if (found < 0) {
            return Error{found == PCRE2_ERROR_MATCHLIMIT ? Errc::TooLarge : Errc::Malformed,
                         "regular expression " + m_source, ByteRange{at, at},
                         "a match within " + std::to_string(matchLimit) + " steps", "PCRE2 error " + std::to_string(found)};
        }
        const PCRE2_SIZE *const ends = pcre2_get_ovector_pointer(data.get());
        // An empty match right behind the last match does not count, as in the onig crate's iterator.
        if (ends[0] == ends[1] && !matches.empty() && matches.back().end == ends[1]) {
            ++at;
            while (at < text.size() && isContinuationByte(text[at]))
                ++at;
            continue;
        }
        matches.push_back({ends[0], ends[1]});
        at = ends[1];
    }
    return {};
}

} // namespace prosector
