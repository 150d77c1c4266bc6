// SPDX-License-Identifier: GPL-3.0-or-later
// T8: were partial characters flushed, in streams or per token?
#include "models/core/hex.h"
#include "models/core/ascii.h"
#include "models/core/utf8.h"
#include "models/core/wording.h"
#include "models/instruments/instrument.h"
#include "models/prompts/tokenarrays.h"
#include "models/prompts/tokenizerview.h"
#include "models/wire/streams.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr std::size_t shownChunks = 4;

std::uint64_t replacements(std::string_view text)
{
    std::uint64_t count = 0;
    for (std::size_t at = text.find(replacement); at != std::string_view::npos; at = text.find(replacement, at + replacement.size()))
        ++count;
    return count;
}

/// Bytes at the end that begin a character and do not finish it.
std::size_t tailLength(std::string_view bytes)
{
    for (std::size_t length = 1; length <= 3 && length <= bytes.size(); ++length) {
        const auto byte = static_cast<unsigned char>(bytes[bytes.size() - length]);
        if ((byte & 0xC0) == 0x80)
            continue;
        const std::size_t needed = byte >= 0xF0 && byte < 0xF5 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1;
        return byte < 0xF5 && needed > length ? length : 0;
    }
    return 0;
}

std::string firstCharacter(std::string_view character)
{
    const CodePoint c = decodeUtf8(character, 0);
    return codePointName(c.value) + " (" + std::string(character.substr(0, c.length)) + ')';
}

/// What the text should have been: from where, and how much of it is broken in itself.
struct Truth {
    std::string bytes;
    std::string source;
    std::uint64_t broken = 0; ///< U+FFFD in it, without an unfinished end
    std::size_t tail = 0;     ///< bytes of an unfinished end
};

Truth truthOf(std::string bytes, std::string source)
{
    Truth truth{std::move(bytes), std::move(source)};
    truth.tail = tailLength(truth.bytes);
    truth.broken = replacements(toValidUtf8(std::string_view(truth.bytes).substr(0, truth.bytes.size() - truth.tail)));
    return truth;
}

/// One text as it came, however it came.
struct Seen {
    const Artifact *artifact = nullptr;
    std::string name;
    std::vector<StreamDelta> deltas;
    std::optional<std::string> finalText;
    std::optional<Evidence> finalAt;
    std::optional<std::string> bytes;
    std::vector<std::int64_t> ids;
    std::optional<std::string> otherAnswer; ///< the same answer, not streamed
    std::optional<Evidence> otherAt;
    bool streamed = false;

    std::string joined() const
    {
        std::string all;
        for (const StreamDelta &delta : deltas)
            all += delta.text;
        return all;
    }
};

class TailCheck {
public:
    TailCheck(const std::vector<TokenizerView> &views, Report &report) : m_views(views), m_report(report) {}

    void run(const Seen &seen)
    {
        const std::string text = seen.joined();
        const std::uint64_t flushed = replacements(text);
        const auto truth = find(seen);
        const std::uint64_t allowed = truth ? truth->broken + truth->tail : 0;
        if (flushed > 0 && !truth) {
            m_report.notSeen.push_back(seen.artifact->path + ' ' + seen.name + " holds U+FFFD " + std::to_string(flushed)
                                       + " times; token bytes (logprobs) or ids with a tokenizer would tell whether a character was cut");
            ++m_unknown;
            return;
        }
        ++m_looked;
        if (truth && flushed > allowed)
            lost(seen, *truth, flushed);
        else if (truth && truth->tail > 0)
            unfinished(seen, *truth);
        else if (seen.streamed)
            compareWhole(seen, text);
    }

    std::size_t looked() const { return m_looked; }
    std::size_t unknown() const { return m_unknown; }

private:
    std::optional<Truth> find(const Seen &seen) const
    {
        if (seen.bytes)
            return truthOf(*seen.bytes, "the tokens' bytes");
        if (!seen.ids.empty()) {
            const TokenizerView *const view = viewFor(m_views, *seen.artifact);
            const TokenizerPtr tokenizer = view && view->facts.vocabularyFile.valid() && view->excerpt().empty() ? view->tokenizer() : nullptr;
            if (tokenizer && std::all_of(seen.ids.begin(), seen.ids.end(), [&](auto id) { return id >= 0 && view->piece(id); })) {
                const std::vector<std::uint32_t> ids(seen.ids.begin(), seen.ids.end());
                if (auto text = tokenizer->decode(ids, false))
                    return truthOf(std::move(*text), "the ids, decoded at once");
            }
        }
        if (seen.otherAnswer)
            return truthOf(*seen.otherAnswer, "the answer that was not streamed");
        if (seen.finalText)
            return truthOf(*seen.finalText, "the whole text at the stream's end");
        return std::nullopt;
    }

    Finding &add(std::string code, Severity severity, std::string title, std::string detail, std::vector<Evidence> evidence, std::string falseIf)
    {
        Finding finding{std::move(code), severity, std::move(title), std::move(detail)};
        finding.evidence = std::move(evidence);
        finding.falseIf = std::move(falseIf);
        return m_report.findings.emplace_back(std::move(finding));
    }

    void lost(const Seen &seen, const Truth &truth, std::uint64_t flushed)
    {
        std::vector<Evidence> evidence;
        std::string tails, character;
        std::size_t offset = 0;
        for (std::size_t i = 0; i < seen.deltas.size(); ++i) {
            const StreamDelta &delta = seen.deltas[i];
            const std::size_t length = delta.bytes ? delta.bytes->size() : 0;
            if (replacements(delta.text) > 0) {
                if (evidence.size() < shownChunks) {
                    Evidence where = delta.where;
                    where.note = "chunk " + std::to_string(i) + " gives " + shownPiece(delta.text) + (delta.bytes ? "; its bytes are " + hexText(std::as_bytes(std::span(*delta.bytes))) : "");
                    evidence.push_back(std::move(where));
                }
                if (delta.bytes && character.empty()) {
                    const auto first = std::find_if(delta.bytes->begin(), delta.bytes->end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
                    std::size_t at = offset + static_cast<std::size_t>(first - delta.bytes->begin());
                    while (at > 0 && at < truth.bytes.size() && (static_cast<unsigned char>(truth.bytes[at]) & 0xC0) == 0x80)
                        --at;
                    if (at < truth.bytes.size() && decodeUtf8(truth.bytes, at).valid) {
                        character = firstCharacter(std::string_view(truth.bytes).substr(at));
                        const std::string_view bytes = std::string_view(truth.bytes).substr(at, decodeUtf8(truth.bytes, at).length);
                        for (const char c : bytes)
                            tails += (tails.empty() ? "" : " | ") + upperHex(static_cast<unsigned char>(c));
                    }
                }
            }
            offset += length;
        }
        if (character.empty())
            character = wholeCharacter(seen.joined(), truth.bytes);
        const bool whole = seen.streamed && seen.finalText && replacements(*seen.finalText) <= truth.broken;
        if (whole)
            evidence.push_back(*seen.finalAt);
        if (seen.otherAt && truth.source.ends_with("not streamed"))
            evidence.push_back(*seen.otherAt);
        Finding &finding = add("tokens.tail.lost", whole ? Severity::Warning : Severity::Error,
                               seen.name + " holds U+FFFD " + std::to_string(flushed) + " times; " + truth.source + (truth.broken == 0 ? " hold none" : " hold " + std::to_string(truth.broken))
                                   + (character.empty() ? "" : ": a part was sent where " + character + " belongs"),
                               "Tokens are turned into text one by one, and bytes that are only part of a character are not kept back for the next token."
                                   + (tails.empty() ? std::string() : " Bytes: " + tails + '.')
                                   + (whole ? " The whole text at the end is right; who shows the pieces as they come shows the damage." : ""),
                               std::move(evidence), "The bytes and the text are not of the same answer.");
        finding.measure = Measure{static_cast<double>(flushed), "U+FFFD", {}, {}, seen.deltas.size()};
        finding.innocent = {"the model: its bytes are a whole character"};
        finding.next = {"R13"};
    }

    /// The first character of the truth that the text has a U+FFFD for, where no delta has bytes.
    static std::string wholeCharacter(const std::string &text, const std::string &truth)
    {
        const auto at = text.find(replacement);
        if (at == std::string::npos || at >= truth.size() || truth.compare(0, at, text, 0, at) != 0)
            return {};
        const CodePoint c = decodeUtf8(truth, at);
        return c.valid && c.value > 0x7F ? firstCharacter(std::string_view(truth).substr(at)) : std::string();
    }

    void unfinished(const Seen &seen, const Truth &truth)
    {
        const std::string tail = truth.bytes.substr(truth.bytes.size() - truth.tail);
        add("tokens.tail.unfinished", Severity::Info, "The answer ends inside a character: " + hexText(std::as_bytes(std::span(tail))) + " is only its beginning",
            "The generation was cut there; the rest was never generated.", {seen.deltas.empty() ? *seen.finalAt : seen.deltas.back().where},
            "The stream goes on in another file.")
            .measure = Measure{static_cast<double>(truth.tail), "bytes"};
    }

    void compareWhole(const Seen &seen, const std::string &text)
    {
        const auto &whole = seen.finalText ? seen.finalText : seen.otherAnswer;
        const auto &at = seen.finalText ? seen.finalAt : seen.otherAt;
        if (!whole || !at || seen.deltas.empty())
            return;
        const std::string a(trimmed(text)), b(trimmed(*whole));
        if (a.starts_with(b)) // equal, or a stop string was taken off
            return;
        std::size_t same = 0;
        while (same < a.size() && same < b.size() && a[same] == b[same])
            ++same;
        Evidence last = seen.deltas.back().where;
        std::size_t length = 0;
        for (const StreamDelta &delta : seen.deltas) {
            length += delta.text.size();
            if (length > same) {
                last = delta.where;
                break;
            }
        }
        last.note = "from here on the pieces say " + shownPiece(std::string_view(a).substr(same, 24));
        Evidence end = *at;
        end.note = "the whole text says " + shownPiece(std::string_view(b).substr(same, 24)) + " at byte " + std::to_string(same);
        add("tokens.tail.differs", Severity::Warning, "The pieces of " + seen.name + " do not add up to the whole text: they differ from byte " + std::to_string(same) + " on",
            std::to_string(a.size()) + " bytes in pieces, " + std::to_string(b.size()) + " in the whole text.", {std::move(last), std::move(end)},
            "The two are not of one answer, or the whole text was parsed and changed afterwards.")
            .next = {"R13"};
    }

    const std::vector<TokenizerView> &m_views;
    Report &m_report;
    std::size_t m_looked = 0, m_unknown = 0;
};

std::string folderOf(const Artifact &artifact)
{
    const auto cut = artifact.path.rfind('/');
    return std::to_string(artifact.input) + ':' + (cut == std::string::npos ? std::string() : artifact.path.substr(0, cut));
}

/// Answers that were not streamed: their texts, with the tokens' bytes or ids.
std::vector<Seen> wholeAnswers(const WireBody &body)
{
    std::vector<Seen> answers;
    const auto bytesOf = [](Value entries) -> std::optional<std::string> {
        std::string bytes;
        for (const Value entry : entries) {
            const auto values = integersOf(entry["bytes"]);
            if (!values || std::any_of(values->begin(), values->end(), [](auto v) { return v < 0 || v > 255; }))
                return std::nullopt;
            for (const std::int64_t value : *values)
                bytes += static_cast<char>(value);
        }
        return entries.size() > 0 ? std::optional(bytes) : std::nullopt;
    };
    const auto add = [&](Value text, std::string name, Value logprobs, Value ids) {
        if (text.string("").empty()) // the last chunk of Ollama's and llama.cpp's streams looks like an answer
            return;
        Seen seen;
        seen.artifact = body.artifact;
        seen.name = std::move(name);
        seen.deltas.push_back({text.string(""), std::nullopt, {}, body.at(text, "the answer's text")});
        seen.bytes = bytesOf(logprobs);
        seen.ids = integersOf(ids).value_or(std::vector<std::int64_t>());
        answers.push_back(std::move(seen));
    };
    for (const Value choice : body.value["choices"]) {
        const std::string at = "choices[" + std::to_string(choice["index"].integer().value_or(0)) + "].";
        if (choice["message"].isObject()) {
            add(choice["message"]["content"], at + "message.content", choice["logprobs"]["content"], choice["token_ids"]);
            for (const std::string_view key : {"reasoning_content", "reasoning"})
                add(choice["message"][key], at + "message." + std::string(key), {}, {});
        } else {
            add(choice["text"], at + "text", {}, choice["token_ids"]);
        }
    }
    const Value b = body.value;
    add(b["generated_text"], "generated_text", {}, {});
    add(b["message"]["content"], "message.content", {}, {});
    add(b["response"], "response", {}, {});
    if (b["tokens_predicted"].isSet() || b["stop"].isSet())
        add(b["content"], "content", {}, b["tokens"]);
    return answers;
}

/// Links streams with the answers and ids that lie beside them.
void link(std::vector<Seen> &streams, const std::vector<std::string> &ids, const std::vector<std::pair<WireBody, std::vector<Seen>>> &answers,
          const std::vector<TokenArray> &arrays)
{
    for (std::size_t i = 0; i < streams.size(); ++i) {
        Seen &stream = streams[i];
        const bool answerText = !stream.name.ends_with("arguments") && stream.name.find("reasoning") == std::string::npos && stream.name.find("thinking") == std::string::npos;
        if (!answerText)
            continue;
        const Seen *same = nullptr;
        std::size_t beside = 0;
        for (const auto &[body, texts] : answers) {
            if (texts.empty() || texts.front().deltas.empty())
                continue;
            if (!ids[i].empty() && body.value["id"].string("") == ids[i]) {
                same = &texts.front();
                beside = 1;
                break;
            }
            if (folderOf(*body.artifact) == folderOf(*stream.artifact) && body.value["id"].string("").empty()) {
                ++beside;
                same = &texts.front();
            }
        }
        if (same && beside == 1) {
            stream.otherAnswer = same->joined();
            stream.otherAt = same->deltas.front().where;
        }
        if (!stream.ids.empty())
            continue;
        std::vector<const TokenArray *> near;
        for (const TokenArray &array : arrays) {
            if (array.artifact->kind == Kind::TokenArray && folderOf(*array.artifact) == folderOf(*stream.artifact)
                && (array.use == TokenArray::Use::Generated || array.artifact->of == stream.artifact->name))
                near.push_back(&array);
        }
        if (near.size() == 1)
            stream.ids = near.front()->ids;
    }
}

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    auto channels = streamChannels(inputs.run, job);
    if (!channels)
        return channels.error();
    std::vector<std::pair<WireBody, std::vector<Seen>>> answers;
    auto visited = eachBody(inputs.run, job, [&](const WireBody &body) {
        if (body.role != WireBody::Role::Response)
            return;
        if (auto texts = wholeAnswers(body); !texts.empty())
            answers.emplace_back(body, std::move(texts));
    });
    if (!visited)
        return visited.error();
    std::vector<Seen> streams;
    std::vector<std::string> ids;
    for (StreamChannel &channel : *channels) {
        Seen seen;
        seen.artifact = channel.artifact;
        seen.name = channel.name;
        seen.bytes = channel.bytes();
        seen.ids = channel.ids();
        seen.finalText = channel.finalText;
        seen.finalAt = channel.finalAt;
        seen.streamed = true;
        seen.deltas = std::move(channel.deltas);
        if (seen.deltas.empty())
            continue;
        streams.push_back(std::move(seen));
        ids.push_back(channel.stream);
    }
    if (streams.empty() && answers.empty())
        return Report::missingInputs({"sse_stream", "response_body"});
    auto arrays = tokenArrays(inputs.run, job);
    if (!arrays)
        return arrays.error();
    link(streams, ids, answers, *arrays);
    Report report;
    const auto views = tokenizerViews(inputs.run);
    TailCheck check(views, report);
    for (const Seen &stream : streams) {
        if (job.cancelled())
            return Job::cancelledError();
        check.run(stream);
    }
    for (const auto &[body, texts] : answers) {
        if (job.cancelled())
            return Job::cancelledError();
        for (const Seen &seen : texts)
            check.run(seen);
    }
    if (check.looked() == 0 && report.findings.empty())
        report.missing = {"token_array", "tokenizer_files"};
    return report;
}

constexpr std::array<std::string_view, 4> usable{"sse_stream", "response_body", "token_array", "tokenizer_files"};

} // namespace

extern constinit const Instrument tokens_byte_tail{
    "T8", "Byte-tail watcher", "Were partial characters flushed, in streams or per token?", "tokens_byte_tail", usable, {}, run};

} // namespace prosector
