// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/postprocessor.h"

#include "models/core/utf8.h"
#include "models/tokenizers/malformedpart.h"
#include "models/tokenizers/tokenmodel.h"
#include "models/tokenizers/unicode.h"

#include <algorithm>

namespace prosector {

namespace {

using Special = FramingToken;

void insert(Encoding &encoding, std::size_t at, const std::vector<Special> &specials)
{
    for (std::size_t i = specials.size(); i-- > 0;)
        encoding.insert(at, 1, specials[i].id, specials[i].token);
}

/// Takes blanks out of offsets, as ByteLevel and RoBERTa do (tokenizers, byte_level.rs), in whole characters:
/// as that library's offsets in characters have it.
void trimOffsets(Encoding &encoding, bool addPrefixSpace)
{
    const char32_t space = byteToCharacter(' ');
    const auto isBlank = [&](char32_t c) { return c == space || isWhiteSpace(c); };
    const auto length = [&](char32_t c) { // in the input; the alphabet's blank is one byte
        return c == space || c < 0x80 ? 1U : c < 0x800 ? 2U : c < 0x10000 ? 3U : 4U;
    };
    for (std::size_t i = 0; i < encoding.size(); ++i) {
        const auto characters = AlignedText(encoding.tokens[i], 0).characters();
        const auto front = std::find_if_not(characters.begin(), characters.end(), isBlank);
        const auto back = std::find_if_not(characters.rbegin(), characters.rend(), isBlank);
        std::uint32_t leading = 0, trailing = 0;
        std::for_each(characters.begin(), front, [&](char32_t c) { leading += length(c); });
        std::for_each(characters.rbegin(), back, [&](char32_t c) { trailing += length(c); });
        TextRange &offsets = encoding.offsets[i];
        if (leading > 0) {
            const bool first = i == 0 || offsets.begin == 0;
            if (first && addPrefixSpace && front - characters.begin() == 1)
                leading = 0; // the blank that was added
            offsets.begin = std::min(offsets.begin + leading, offsets.end);
        }
        if (trailing > 0 && offsets.end >= trailing)
            offsets.end = std::max(offsets.end - trailing, offsets.begin);
    }
}

/// Fixed tokens around the sequence, perhaps trimmed offsets.
class Around final : public PostProcessor {
public:
    Around(std::string name, std::vector<Special> front, std::vector<Special> back, bool trim, bool addPrefixSpace)
        : m_name(std::move(name)), m_front(std::move(front)), m_back(std::move(back)), m_trim(trim),
          m_addPrefixSpace(addPrefixSpace)
    {
    }
    void apply(Encoding &encoding, bool addSpecialTokens) const override
    {
        if (m_trim)
            trimOffsets(encoding, m_addPrefixSpace);
        if (!addSpecialTokens)
            return;
        insert(encoding, encoding.size(), m_back);
        insert(encoding, 0, m_front);
    }
    std::string name() const override { return m_name; }
    bool looksAtTokens() const override { return m_trim; }

private:
    std::string m_name;
    std::vector<Special> m_front, m_back;
    bool m_trim, m_addPrefixSpace;
};

/// `["<s>", 0]`.
Result<Special> pairOf(Value node)
{
    const auto token = node[0].string();
    const auto id = node[1].integer();
    if (!token || !id)
        return malformedPart("post-processor", node, "[token, id]");
    return Special{*token, static_cast<std::uint32_t>(*id)};
}

/// The ids of one named entry of `special_tokens`.
Result<std::vector<Special>> specialsOf(Value templates, const std::string &name)
{
    const Value entry = templates["special_tokens"][name];
    const Value ids = entry["ids"];
    if (!ids.isArray())
        return malformedPart("post-processor", templates["special_tokens"] ? templates["special_tokens"] : templates, "an entry for " + name);
    std::vector<Special> list;
    std::size_t i = 0;
    for (const Value id : ids) {
        if (!id.integer())
            return malformedPart("post-processor", id, "an id");
        list.push_back({entry["tokens"][i++].string(name), static_cast<std::uint32_t>(*id.integer())});
    }
    return list;
}

/// Name of the special token of a template piece, or empty for the sequence itself. Pieces are
/// objects or, in older files, texts such as "$A:0" and "[CLS]:0".
Result<std::string> specialName(Value piece)
{
    if (const auto text = piece.string()) {
        if (text->starts_with('$'))
            return std::string();
        const auto colon = text->rfind(':');
        return colon == std::string::npos ? *text : text->substr(0, colon);
    }
    if (piece["Sequence"])
        return std::string();
    if (const auto id = piece["SpecialToken"]["id"].string())
        return *id;
    return malformedPart("post-processor", piece, "Sequence or SpecialToken");
}

Result<std::shared_ptr<const PostProcessor>> makeTemplate(Value node)
{
    std::vector<Special> front, back;
    bool behind = false;
    for (const Value piece : node["single"]) {
        auto name = specialName(piece);
        if (!name)
            return name.error();
        if (name->empty()) {
            if (behind)
                return malformedPart("post-processor", piece, "one sequence in `single`");
            behind = true;
            continue;
        }
        auto specials = specialsOf(node, *name);
        if (!specials)
            return specials.error();
        auto &side = behind ? back : front;
        side.insert(side.end(), specials->begin(), specials->end());
    }
    if (!behind)
        return malformedPart("post-processor", node["single"] ? node["single"] : node, "a template with $A");
    return std::shared_ptr<const PostProcessor>(
        std::make_shared<Around>("TemplateProcessing", std::move(front), std::move(back), false, false));
}

Result<std::shared_ptr<const PostProcessor>> makeStep(const std::string &type, Value node)
{
    const bool prefix = node["add_prefix_space"].boolean().value_or(true);
    const bool trim = node["trim_offsets"].boolean().value_or(true);
    using Made = std::shared_ptr<const PostProcessor>;
    if (type == "ByteLevel")
        return Made(std::make_shared<Around>(type, std::vector<Special>(), std::vector<Special>(), trim, prefix));
    if (type == "RobertaProcessing" || type == "BertProcessing") {
        auto front = pairOf(node["cls"]);
        auto back = pairOf(node["sep"]);
        if (!front || !back)
            return front ? back.error() : front.error();
        return Made(std::make_shared<Around>(type, std::vector{*front}, std::vector{*back},
                                             type == "RobertaProcessing" && trim, prefix));
    }
    if (type == "TemplateProcessing")
        return makeTemplate(node);
    return Error{Errc::Unsupported, "post-processor", node["type"].anchor(), "a known kind of post-processor",
                 '"' + toValidUtf8(type) + '"'};
}

Result<void> append(Value node, PostProcessors &list)
{
    const auto type = node["type"].string();
    if (!type)
        return malformedPart("post-processor", node, "an object with a `type`");
    if (*type == "Sequence") {
        for (const Value child : node["processors"]) {
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

Result<PostProcessors> makePostProcessors(Value postProcessor)
{
    PostProcessors list;
    if (postProcessor.isSet()) {
        if (auto done = append(postProcessor, list); !done)
            return done.error();
    }
    return list;
}

PostProcessors framing(std::vector<FramingToken> front, std::vector<FramingToken> back)
{
    return {std::make_shared<Around>("TemplateProcessing", std::move(front), std::move(back), false, false)};
}

} // namespace prosector
