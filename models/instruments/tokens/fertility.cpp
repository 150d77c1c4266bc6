// SPDX-License-Identifier: GPL-3.0-or-later
// T9: how many tokens per byte does each language or segment cost?
#include "models/core/utf8.h"
#include "models/core/wording.h"
#include "models/instruments/instrument.h"
#include "models/prompts/tokenarrays.h"
#include "models/prompts/tokenizerview.h"
#include "models/tokenizers/bytepiece.h"
#include "models/tokenizers/unicode.h"
#include "models/wire/bodies.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>

namespace prosector {

namespace {

constexpr std::array<ParamSpec, 4> specs{{
    {"ratio", "A segment is dear at this multiple of Latin prose", "", 2.0, 1.1, 100},
    {"escaped", "Share of characters inside \\uXXXX escapes", "", 0.05, 0.001, 1},
    {"bytes", "Share of tokens that are single bytes", "", 0.2, 0.01, 1},
    {"shortest", "Segments below this are too short to judge", "bytes", 200, 1, 1e6},
}};
constexpr double usualCost = 0.25; ///< tokens a byte of Latin prose, where the capture has none
constexpr std::size_t mostSegments = 20'000;

/// A stretch of text that costs tokens, and where it stands.
struct Segment {
    std::string name, text;
    Evidence where{};
    const Artifact *artifact = nullptr;
    std::optional<std::uint64_t> tokens{}; ///< counted in recorded ids
    std::uint64_t singleBytes = 0;
};

/// The writing of most of a text's letters.
std::string_view scriptOf(std::string_view text)
{
    std::map<std::string_view, std::size_t> letters;
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = decodeUtf8(text, at);
        at += c.length;
        const char32_t v = c.value;
        if ((v >= 'a' && v <= 'z') || (v >= 'A' && v <= 'Z') || (v >= 0xC0 && v < 0x250))
            ++letters["Latin"];
        else if (v >= 0x370 && v < 0x400)
            ++letters["Greek"];
        else if (v >= 0x400 && v < 0x530)
            ++letters["Cyrillic"];
        else if (v >= 0x590 && v < 0x600)
            ++letters["Hebrew"];
        else if (v >= 0x600 && v < 0x780)
            ++letters["Arabic"];
        else if (v >= 0x900 && v < 0xE00)
            ++letters["Indic"];
        else if (v >= 0xE00 && v < 0x1000)
            ++letters["Thai, Lao or Tibetan"];
        else if ((v >= 0x3040 && v < 0x3100) || (v >= 0x3400 && v < 0xA000) || (v >= 0x20000 && v < 0x30000))
            ++letters["Han or kana"];
        else if (v >= 0xAC00 && v < 0xD7B0)
            ++letters["Hangul"];
        else if (v > 0x7F && c.valid && categoryOf(v) == Category::Letter)
            ++letters["another script"];
    }
    const auto most = std::max_element(letters.begin(), letters.end(), [](auto &a, auto &b) { return a.second < b.second; });
    return most == letters.end() ? std::string_view("no letters") : most->first;
}

/// The number of `\uXXXX` at a place, or nothing.
std::optional<char32_t> escapeAt(std::string_view text, std::size_t at)
{
    unsigned value = 0;
    if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u')
        return std::nullopt;
    const char *const end = text.data() + at + 6;
    return std::from_chars(text.data() + at + 2, end, value, 16).ptr == end ? std::optional<char32_t>(value) : std::nullopt;
}

/// Bytes inside `\uXXXX` that stand for writing. Control characters have no other spelling in JSON, and emoji and
/// other signs are dear however they are spelt.
std::size_t escapedBytes(std::string_view text)
{
    std::size_t count = 0;
    for (std::size_t at = text.find("\\u"); at != std::string_view::npos; at = text.find("\\u", at)) {
        const bool itself = at > 0 && text[at - 1] == '\\' && (at < 2 || text[at - 2] != '\\'); // a backslash that is escaped
        auto character = itself ? std::nullopt : escapeAt(text, at);
        if (!character) {
            ++at;
            continue;
        }
        std::size_t length = 6;
        if (*character >= 0xD800 && *character < 0xDC00) {
            if (const auto low = escapeAt(text, at + 6); low && *low >= 0xDC00 && *low < 0xE000) {
                character = 0x10000 + ((*character - 0xD800) << 10) + (*low - 0xDC00);
                length = 12;
            }
        }
        const bool selector = *character >= 0xFE00 && *character < 0xFE10; // behind emoji
        const Category category = categoryOf(*character);
        count += selector || category == Category::Symbol || category == Category::Control ? 0 : length;
        at += length;
    }
    return count;
}

/// Digits, signs, hexadecimal or base64 in long runs: dear in every tokenizer.
std::string_view denseKind(std::string_view text)
{
    std::size_t dense = 0, digits = 0, signs = 0, letters = 0, run = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const unsigned char c = i < text.size() ? static_cast<unsigned char>(text[i]) : ' ';
        if (std::isalnum(c) || c == '+' || c == '/' || c == '=' || c == '-' || c == '_') {
            ++run;
            continue;
        }
        dense += run >= 32 ? run : 0;
        run = 0;
    }
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = decodeUtf8(text, at);
        at += c.length;
        const Category category = categoryOf(c.value);
        digits += c.value < 0x80 && category == Category::Number;
        signs += c.valid && c.value > 0x7F && category == Category::Symbol;
        letters += !c.valid || category == Category::Letter;
    }
    if (dense * 2 > text.size())
        return "base64 or hexadecimal";
    return signs > letters + digits ? "signs and emoji" : digits > letters ? "digits" : std::string_view();
}

/// Text inside a fenced block is quoted code: its escapes are its own.
std::string withoutCode(std::string_view text)
{
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto open = text.find("```", at);
        out += text.substr(at, open == std::string_view::npos ? open : open - at);
        if (open == std::string_view::npos)
            break;
        const auto close = text.find("```", open + 3);
        at = close == std::string_view::npos ? text.size() : close + 3;
    }
    return out;
}

class Meter {
public:
    Meter(const Run &run, const Params &params, Report &report) : m_run(run), m_params(params), m_views(tokenizerViews(run)), m_report(report) {}

    Result<void> collect(const Job &job)
    {
        auto arrays = tokenArrays(m_run, job);
        if (!arrays)
            return arrays.error();
        for (const TokenArray &array : *arrays) {
            if (array.use == TokenArray::Use::Generated || !array.text || array.ids.empty())
                continue;
            Segment segment{"text of " + array.artifact->path, *array.text, array.array("a text with its ids"), array.artifact, array.ids.size(), 0};
            for (const std::string &piece : array.pieces)
                segment.singleBytes += byteOfPiece(piece).has_value();
            add(std::move(segment));
        }
        auto visited = eachBody(m_run, job, [&](const WireBody &body) {
            if (body.role != WireBody::Role::Request)
                return;
            for (const Value message : body.value["messages"])
                add({message["role"].string("") + " message", messageText(message["content"]), body.at(message["content"], "message"), body.artifact, {}, 0});
            if (body.value["prompt"].isString())
                add({"prompt", body.value["prompt"].string(""), body.at(body.value["prompt"], "prompt"), body.artifact, {}, 0});
            for (const Value tool : body.value["tools"])
                add({"tool schema " + tool["function"]["name"].string(tool["name"].string("")), std::string(tool.raw()), body.at(tool, "tool schema as sent"), body.artifact, {}, 0});
        });
        if (!visited)
            return visited;
        for (const Artifact *const prompt : m_run.ofKind(Kind::RenderedPrompt)) {
            if (const auto *const text = prompt->as<TextContent>())
                add({"rendered prompt", text->text, {prompt->id, Whole{}, "rendered prompt"}, prompt, {}, 0});
        }
        return chunks(job);
    }

    bool empty() const { return m_segments.empty(); }

    Result<void> run(const Job &job)
    {
        for (Segment &segment : m_segments) {
            if (job.cancelled())
                return Job::cancelledError();
            if (!segment.tokens)
                encode(segment);
        }
        std::uint64_t tokens = 0, bytes = 0;
        for (const Segment &segment : m_segments) {
            if (segment.tokens && scriptOf(segment.text) == "Latin" && denseKind(segment.text).empty() && escapedBytes(segment.text) == 0 && !segment.name.starts_with("tool")) {
                tokens += *segment.tokens;
                bytes += segment.text.size();
            }
        }
        const bool own = bytes >= static_cast<std::uint64_t>(m_params["shortest"]);
        const double base = own ? static_cast<double>(tokens) / static_cast<double>(bytes) : usualCost;
        Table table{"Tokens a byte (Latin prose of this capture: " + (own ? decimal(base, 3) : "none, 0.25 is taken") + ")", {"segment", "script", "bytes", "tokens", "tokens a byte", "ratio", "escaped"}, {}};
        for (const Segment &segment : m_segments) {
            if (job.cancelled())
                return Job::cancelledError();
            judge(segment, base, own, table);
        }
        m_report.tables.push_back(std::move(table));
        if (m_uncounted > 0)
            m_report.notSeen.push_back("tokens of " + counted(m_uncounted, "segment") + ", for want of ids or a whole tokenizer");
        return {};
    }

private:
    void add(Segment segment)
    {
        if (static_cast<double>(segment.text.size()) >= m_params["shortest"] && m_segments.size() < mostSegments)
            m_segments.push_back(std::move(segment));
    }

    Result<void> chunks(const Job &job)
    {
        for (const Artifact *const file : m_run.ofKind(Kind::RetrievalLog)) {
            const auto *const lines = file->as<LinesContent>();
            for (std::size_t i = 0; lines && i < lines->lines.size(); ++i) {
                if (i % 256 == 0 && job.cancelled())
                    return Job::cancelledError();
                const auto document = lines->document(i);
                for (const std::string_view key : {"results", "documents", "hits"}) {
                    for (const Value hit : document->root()[key])
                        add({"retrieved chunk", hit["text"].string(hit["content"].string("")), {file->id, LogLine{lines->lines[i].line, lines->lines[i].line}, "retrieved chunk"}, file, {}, 0});
                }
            }
        }
        return {};
    }

    void encode(Segment &segment)
    {
        const TokenizerView *const view = viewFor(m_views, *segment.artifact);
        if (!view || !view->facts.vocabularyFile.valid() || !view->opened() || !view->excerpt().empty()) {
            ++m_uncounted;
            return;
        }
        auto &encoder = m_encoders.try_emplace(view, view->tokenizer()).first->second;
        EncodeOptions options = view->opened()->options;
        options.addSpecialTokens = false;
        auto encoding = encoder.encode(segment.text, options);
        if (!encoding) {
            ++m_uncounted;
            return;
        }
        segment.tokens = encoding->size();
        for (std::size_t i = 0; i < encoding->size(); ++i) {
            const auto bytes = view->tokenizer()->bytes(encoding->ids[i]);
            segment.singleBytes += bytes && bytes->size() == 1 && static_cast<unsigned char>((*bytes)[0]) >= 0x80;
        }
    }

    void judge(const Segment &segment, double base, bool own, Table &table)
    {
        const std::string plain = segment.name.starts_with("tool") ? segment.text : withoutCode(segment.text);
        const std::size_t escaped = escapedBytes(plain);
        const double share = plain.empty() ? 0 : static_cast<double>(escaped) / static_cast<double>(plain.size());
        const double cost = segment.tokens ? static_cast<double>(*segment.tokens) / static_cast<double>(segment.text.size()) : 0;
        const double ratio = cost / base;
        const double single = segment.tokens && *segment.tokens > 0 ? static_cast<double>(segment.singleBytes) / static_cast<double>(*segment.tokens) : 0;
        const auto dense = denseKind(segment.text);
        const auto script = scriptOf(segment.text);
        if (table.rows.size() < 500)
            table.rows.push_back({{segment.name, segment.where}, {std::string(script)}, {std::to_string(segment.text.size()), {}, Severity::Ok, true},
                                  {segment.tokens ? std::to_string(*segment.tokens) : "–", {}, Severity::Ok, true}, {segment.tokens ? decimal(cost, 3) : "–", {}, Severity::Ok, true},
                                  {segment.tokens ? decimal(ratio, 3) : "–", {}, Severity::Ok, true}, {decimal(share * 100, 3) + " %", {}, Severity::Ok, true}});
        std::string reason;
        if (share > m_params["escaped"])
            reason = "escapes";
        else if (segment.tokens && (ratio > m_params["ratio"] || single > m_params["bytes"]))
            reason = !dense.empty() ? std::string(dense) : single > m_params["bytes"] ? "byte fallback" : "script";
        if (reason.empty() || m_told[segment.name + reason]++ > 0)
            return;
        const auto window = windowOf(segment);
        const bool over = window && segment.tokens && *segment.tokens > window->first;
        Finding finding{"tokens.fertility." + std::string(reason == "escapes" ? "escapes" : !dense.empty() && reason == dense ? "dense" : reason == "byte fallback" ? "bytes" : "script"),
                        over ? Severity::Error : reason == dense ? Severity::Info : Severity::Warning,
                        "The " + segment.name + " is dear: " + (segment.tokens ? decimal(cost, 3) + " tokens a byte, " + decimal(ratio, 3) + " times " + (own ? "the Latin prose beside it" : "usual prose") + ", by " : std::string())
                            + reason + (reason == "escapes" ? ": " + decimal(share * 100, 3) + " % of it stands in \\uXXXX" : reason == "script" ? " (" + std::string(script) + ")" : std::string()),
                        std::string(reason == "escapes" ? "A character written as \\uXXXX costs four tokens or more and is not the character that training showed. Serialise with ensure_ascii off."
                                    : reason == "byte fallback" ? decimal(single * 100, 3) + " % of its tokens are single bytes: the vocabulary has no pieces for this writing."
                                    : reason == "script" ? "The vocabulary has few pieces for this writing; limits and prices in tokens hold less of it."
                                                         : "Such text is dear in every tokenizer.")
                            + (over ? " It exceeds the window of " + std::to_string(window->first) + " tokens." : std::string())};
        finding.evidence = {segment.where};
        finding.evidence.front().note = segment.name + ", " + counted(segment.text.size(), "byte") + ": " + shownPiece(std::string_view(segment.text).substr(0, 60));
        if (over)
            finding.evidence.push_back(window->second);
        finding.measure = reason == "escapes" ? Measure{share, "share escaped"} : Measure{ratio, "times Latin prose"};
        finding.falseIf = reason == "escapes" ? "The receiver decodes the escapes before it encodes the text." : "The text is meant to cost this much.";
        finding.next = {"R7", "V3"};
        m_report.findings.push_back(std::move(finding));
    }

    std::optional<std::pair<std::uint64_t, Evidence>> windowOf(const Segment &segment) const
    {
        const TokenizerView *const view = viewFor(m_views, *segment.artifact);
        const Artifact *const config = view && !view->gguf ? m_run.find(view->folder->config) : nullptr;
        const Value value = config ? config->tree()["max_position_embeddings"] : Value();
        const auto length = value.integer();
        if (!length || *length <= 0)
            return std::nullopt;
        return std::pair(static_cast<std::uint64_t>(*length), Evidence{config->id, value.anchor(), "max_position_embeddings = " + std::to_string(*length)});
    }

    const Run &m_run;
    const Params &m_params;
    const std::vector<TokenizerView> m_views;
    Report &m_report;
    std::vector<Segment> m_segments;
    std::map<const TokenizerView *, Encoder> m_encoders;
    std::map<std::string, int> m_told;
    std::size_t m_uncounted = 0;
};

Result<Report> run(const Inputs &inputs, const Params &params, const Job &job)
{
    if (job.cancelled())
        return Job::cancelledError();
    Report report;
    Meter meter(inputs.run, params, report);
    if (auto done = meter.collect(job); !done)
        return done.error();
    if (meter.empty())
        return Report::missingInputs({"request_body", "rendered_prompt", "token_array"});
    if (auto done = meter.run(job); !done)
        return done.error();
    return report;
}

constexpr std::array<std::string_view, 5> usable{"request_body", "token_array", "rendered_prompt", "retrieval_log", "tokenizer_files"};

} // namespace

extern constinit const Instrument tokens_fertility{
    "T9", "Fertility meter", "How many tokens per byte does each language or segment cost?", "tokens_fertility", usable, specs, run};

} // namespace prosector
