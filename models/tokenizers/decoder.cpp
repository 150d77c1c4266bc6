// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/decoder.h"

#include "models/core/utf8.h"
#include "models/tokenizers/bytepiece.h"
#include "models/tokenizers/malformedpart.h"
#include "models/tokenizers/normalizer.h"
#include "models/tokenizers/pattern.h"
#include "models/tokenizers/tokenmodel.h"

#include <algorithm>

namespace prosector {

namespace {

using Texts = std::vector<std::string>;
constexpr std::string_view replacementCharacter = "\xEF\xBF\xBD";

std::string replaceAll(std::string text, std::string_view what, std::string_view with)
{
    if (what.empty())
        return text;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
    return text;
}

std::string join(const Texts &texts)
{
    std::string all;
    for (const std::string &text : texts)
        all += text;
    return all;
}

Texts byteLevel(const Texts &tokens)
{
    std::string bytes;
    for (const std::string &token : tokens)
        bytes += bytesOfPiece(token).value_or(token);
    return {toValidUtf8(bytes)};
}

Texts byteFallback(const Texts &tokens)
{
    Texts out;
    std::string bytes;
    const auto flush = [&] {
        if (firstInvalidUtf8(bytes) == std::string_view::npos) {
            if (!bytes.empty())
                out.push_back(bytes);
        } else {
            out.insert(out.end(), bytes.size(), std::string(replacementCharacter));
        }
        bytes.clear();
    };
    for (const std::string &token : tokens) {
        if (const auto byte = byteOfPiece(token)) {
            bytes += static_cast<char>(*byte);
            continue;
        }
        flush();
        out.push_back(token);
    }
    flush();
    return out;
}

Texts metaspace(const Texts &tokens, const std::string &replacement, bool prepended)
{
    Texts out;
    for (std::size_t i = 0; i < tokens.size(); ++i)
        out.push_back(replaceAll(tokens[i], replacement, i == 0 && prepended ? "" : " "));
    return out;
}

Texts wordPiece(Texts tokens, const std::string &prefix, bool cleanUp)
{
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (i > 0)
            tokens[i] = tokens[i].starts_with(prefix) ? tokens[i].substr(prefix.size()) : ' ' + tokens[i];
        if (cleanUp)
            tokens[i] = cleanUpSpaces(tokens[i]);
    }
    return tokens;
}

Texts bpe(Texts tokens, const std::string &suffix)
{
    for (std::size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = replaceAll(tokens[i], suffix, i + 1 == tokens.size() ? "" : " ");
    return tokens;
}

Texts strip(Texts tokens, const std::string &content, std::size_t start, std::size_t stop)
{
    for (std::string &token : tokens) {
        for (std::size_t i = 0; i < start && token.starts_with(content); ++i)
            token.erase(0, content.size());
        for (std::size_t i = 0; i < stop && token.ends_with(content); ++i)
            token.erase(token.size() - content.size());
    }
    return tokens;
}

Texts ctc(Texts tokens, const std::string &pad, const std::string &delimiter, bool cleanUp)
{
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    Texts out;
    for (const std::string &token : tokens) {
        std::string text = replaceAll(token, pad, "");
        if (cleanUp)
            text = replaceAll(cleanUpSpaces(text), delimiter, " ");
        if (!text.empty())
            out.push_back(std::move(text));
    }
    return out;
}

Result<Decoder> makeStep(const std::string &type, Value node)
{
    const auto step = [&](auto work) {
        return Decoder{type, [work](Texts tokens) -> Result<Texts> { return work(std::move(tokens)); }};
    };
    if (type == "ByteLevel")
        return byteLevelDecoder();
    if (type == "ByteFallback")
        return step([](const Texts &tokens) { return byteFallback(tokens); });
    if (type == "Fuse")
        return step([](const Texts &tokens) { return Texts{join(tokens)}; });
    if (type == "Metaspace") {
        const bool prepended = node["prepend_scheme"].string("always") != "never"
            && node["add_prefix_space"].boolean().value_or(true);
        return step([=, r = node["replacement"].string("▁")](const Texts &tokens) { return metaspace(tokens, r, prepended); });
    }
    if (type == "WordPiece") {
        const bool cleanUp = node["cleanup"].boolean().value_or(true);
        return step([=, p = node["prefix"].string("##")](Texts tokens) { return wordPiece(std::move(tokens), p, cleanUp); });
    }
    if (type == "BPEDecoder")
        return step([s = node["suffix"].string("</w>")](Texts tokens) { return bpe(std::move(tokens), s); });
    if (type == "Strip") {
        const auto count = [&](const char *name) {
            return static_cast<std::size_t>(std::max<std::int64_t>(node[name].integer().value_or(0), 0));
        };
        if (node["content"].string("").empty())
            return malformedPart("decoder", node, "a character `content`");
        return step([c = *node["content"].string(), start = count("start"), stop = count("stop")](Texts tokens) {
            return strip(std::move(tokens), c, start, stop);
        });
    }
    if (type == "CTC") {
        const bool cleanUp = node["cleanup"].boolean().value_or(true);
        return step([=, pad = node["pad_token"].string("<pad>"), d = node["word_delimiter_token"].string("|")](Texts tokens) {
            return ctc(std::move(tokens), pad, d, cleanUp);
        });
    }
    if (type == "Replace") {
        auto pattern = patternOf(node["pattern"]);
        if (!pattern)
            return pattern.error();
        return Decoder{type, [p = std::move(*pattern), content = node["content"].string("")](Texts tokens) -> Result<Texts> {
            std::vector<Pattern::Range> matches;
            for (std::string &token : tokens) {
                if (auto done = p.findAll(token, matches); !done)
                    return done.error();
                for (auto it = matches.rbegin(); it != matches.rend(); ++it)
                    token.replace(it->begin, it->end - it->begin, content);
            }
            return tokens;
        }};
    }
    return Error{Errc::Unsupported, "decoder", node["type"].anchor(), "a known kind of decoder",
                 '"' + toValidUtf8(type) + '"'};
}

Result<void> append(Value node, Decoders &list)
{
    const auto type = node["type"].string();
    if (!type)
        return malformedPart("decoder", node, "an object with a `type`");
    if (*type == "Sequence") {
        for (const Value child : node["decoders"]) {
            if (auto done = append(child, list); !done)
                return done;
        }
        return {};
    }
    auto step = makeStep(*type, node);
    if (!step)
        return step.error();
    list.push_back(std::move(*step));
    return {};
}

} // namespace

Result<Decoders> makeDecoders(Value decoder)
{
    Decoders list;
    if (decoder.isSet()) {
        if (auto done = append(decoder, list); !done)
            return done.error();
    }
    return list;
}

Decoder byteLevelDecoder()
{
    return {"ByteLevel", [](Texts tokens) -> Result<Texts> { return byteLevel(tokens); }};
}

std::string bytesOf(const std::string &piece, const Decoders &decoders)
{
    static const std::string neighbour = "a";
    std::string text = piece;
    for (const Decoder &decoder : decoders) {
        if (decoder.name == "Fuse")
            break;
        if (decoder.name == "ByteLevel")
            return bytesOfPiece(text).value_or(text);
        if (decoder.name == "ByteFallback") {
            if (const auto byte = byteOfPiece(text))
                return {static_cast<char>(*byte)};
            continue;
        }
        auto decoded = decoder.run({neighbour, text, neighbour});
        if (!decoded || decoded->size() != 3)
            return {}; // CTC drops it
        text = std::move((*decoded)[1]);
    }
    return text;
}

std::string cleanUpSpaces(std::string text)
{
    static constexpr std::pair<std::string_view, std::string_view> rules[] = {
        {" .", "."},   {" ?", "?"},     {" !", "!"},   {" ,", ","},   {" ' ", "'"},
        {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
    };
    for (const auto &[what, with] : rules)
        text = replaceAll(std::move(text), what, with);
    return text;
}

} // namespace prosector
