// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/ggufvocabulary.h"

#include "models/core/ascii.h"
#include "models/core/utf8.h"
#include "models/tokenizers/ggufpretokenizer.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

using Model = GgufVocabulary::Model;
constexpr std::string_view prefix = "tokenizer.ggml.";

std::string key(std::string_view name)
{
    return std::string(prefix) + std::string(name);
}

Error wrong(std::string_view name, std::string expected, std::string found)
{
    return {Errc::Malformed, key(name), GgufContent::anchor(key(name)), std::move(expected), std::move(found)};
}

using SpecialId = std::optional<std::uint32_t>;

/// What llama.cpp assumes for a model before it reads the other keys.
struct Defaults {
    std::string_view name;
    Model model;
    SpecialId bos, eos, unknown, separator, pad, mask;
};
const std::array modelDefaults = std::to_array<Defaults>({
    {"llama", Model::Spm, 1, 2, 0, {}, {}, {}},
    {"bert", Model::Wpm, 101, {}, 100, 102, 0, 103},
    {"gpt2", Model::Bpe, 11, 11, {}, {}, {}, {}},
    {"whitespace", Model::Bpe, 11, 11, {}, {}, {}, {}},
    {"gemma4", Model::Bpe, {}, {}, {}, {}, {}, {}},
    {"t5", Model::Ugm, {}, 1, 2, {}, 0, {}},
    {"rwkv", Model::Rwkv, {}, {}, {}, {}, {}, {}},
});

/// Texts that end a generation, whatever the metadata say: they become control tokens.
constexpr std::array endTexts = std::to_array<std::string_view>({
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "<end_of_turn>",
    "<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>", "<end_of_utterance>",
    "<eos>", "<turn|>", "<|tool_response>", "<｜end▁of▁sentence｜>", "[e~["});

/// Texts for filling in the middle, by their key: the first that is there becomes a control token unless
/// the key is given.
struct Infill {
    std::array<std::string_view, 2> keys;
    std::vector<std::string_view> texts;
};
const std::array infills = std::to_array<Infill>({
    {{"fim_pre_token_id", "prefix_token_id"},
     {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>", "<|code_prefix|>", "<|prefix|>"}},
    {{"fim_suf_token_id", "suffix_token_id"},
     {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>", "<|code_suffix|>", "<|suffix|>"}},
    {{"fim_mid_token_id", "middle_token_id"},
     {"<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>", "<|code_middle|>", "<|middle|>"}},
    {{"fim_pad_token_id", ""}, {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"}},
    {{"fim_rep_token_id", ""}, {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"}},
    {{"fim_sep_token_id", ""}, {"<|file_sep|>"}},
});

class Loader {
public:
    explicit Loader(const GgufContent &file) : m_file(file) {}

    Result<GgufVocabulary> load()
    {
        for (const auto step : {&Loader::model, &Loader::preTokenizer, &Loader::tokens, &Loader::merges, &Loader::specials}) {
            if (auto done = (this->*step)(); !done)
                return done.error();
        }
        correctTypes();
        stripRules();
        return std::move(m_v);
    }

private:
    Result<void> model()
    {
        const auto name = m_file.string(key("model"));
        if (!name)
            return wrong("model", "a name", "nothing");
        const auto found = std::find_if(modelDefaults.begin(), modelDefaults.end(), [&](const Defaults &d) { return d.name == *name; });
        if (found == modelDefaults.end()) {
            const bool none = *name == "none" || *name == "no_vocab";
            return Error{Errc::Unsupported, none ? "the file holds no vocabulary" : key("model"), GgufContent::anchor(key("model")),
                         "llama, gpt2, bert, t5, rwkv, gemma4 or whitespace", '"' + toValidUtf8(*name) + '"'};
        }
        m_v.model = found->model;
        m_v.modelName = *name;
        m_v.pre = m_v.modelName == "gemma4" ? "gemma4" : m_file.string(key("pre")).value_or("");
        m_v.bos = found->bos;
        m_v.eos = found->eos;
        m_v.unknown = found->unknown;
        m_v.separator = found->separator;
        m_v.pad = found->pad;
        m_v.mask = found->mask;
        return {};
    }

    Result<void> preTokenizer()
    {
        switch (m_v.model) {
        case Model::Spm: m_v.addSpacePrefix = m_v.addBos = true; break;
        case Model::Wpm: m_v.cleanSpaces = m_v.addBos = m_v.addSep = true; break;
        case Model::Ugm: m_v.addEos = true; break;
        case Model::Rwkv: break;
        case Model::Bpe: {
            const GgufPreTokenizer *const pre = findGgufPreTokenizer(m_v.pre);
            if (!pre) {
                return Error{Errc::Unsupported, key("pre"), GgufContent::anchor(key("pre")), "a pre-tokenizer of llama.cpp",
                             '"' + toValidUtf8(m_v.pre) + '"'};
            }
            m_v.escapeSpaces = pre->escapeSpaces;
            m_v.cleanSpaces = pre->cleanSpaces;
            m_v.ignoreMerges = pre->ignoreMerges;
            m_v.addBos = pre->addBos;
            m_v.addSep = pre->addSep;
            if (pre->noBos)
                m_v.bos.reset();
            if (m_v.pre == "whitespace")
                m_v.lowercase = false;
        }
        }
        m_v.addSpacePrefix = m_file.boolean(key("add_space_prefix")).value_or(m_v.addSpacePrefix);
        m_v.removeExtraSpaces = m_file.boolean(key("remove_extra_whitespaces")).value_or(false);
        return {};
    }

    static unsigned int attributeOf(std::int64_t type)
    {
        static constexpr unsigned int byType[] = {0, GgufVocabulary::Normal, GgufVocabulary::Unknown, GgufVocabulary::Control,
                                                  GgufVocabulary::UserDefined, GgufVocabulary::Unused, GgufVocabulary::Byte};
        return type >= 0 && type < std::ssize(byType) ? byType[type] : 0;
    }

    Result<void> tokens()
    {
        const GgufValue *const list = m_file.get(key("tokens"));
        if (!list || !list->isArray() || list->elementType != GgufType::String || list->strings.empty())
            return wrong("tokens", "a list of texts", list ? list->display() : "nothing");
        const GgufValue *const scores = m_file.get(key("scores"));
        const GgufValue *const types = m_file.get(key("token_type"));
        for (const auto &[name, value] : {std::pair("scores", scores), std::pair("token_type", types)}) {
            if (value && value->numbers.size() < list->strings.size()) {
                return wrong(name, "a number for each of the " + std::to_string(list->strings.size()) + " tokens",
                             std::to_string(value->numbers.size()));
            }
        }
        const std::size_t count = list->strings.size();
        m_v.tokens.resize(count);
        m_v.ids.reserve(count, count * 8);
        for (std::size_t id = 0; id < count; ++id) {
            auto &token = m_v.tokens[id];
            token.text = list->strings[id];
            if (token.text.empty())
                token.text = "[EMPTY_" + std::to_string(id) + ']';
            if (const auto earlier = m_v.ids.find(token.text); earlier != Vocabulary::none) {
                return wrong("tokens", "every token once", '"' + toValidUtf8(token.text) + "\" has the ids " + std::to_string(earlier)
                                 + " and " + std::to_string(id));
            }
            m_v.ids.add(token.text, static_cast<std::uint32_t>(id));
            m_v.longest = std::max(m_v.longest, token.text.size());
            if (scores)
                token.score = static_cast<float>(scores->numbers[id]);
            if (types)
                token.declared = token.attributes = attributeOf(types->numbers.integer(id));
        }
        return {};
    }

    Result<void> merges()
    {
        if (const GgufValue *const map = m_file.get(key("precompiled_charsmap")); map && m_v.model == Model::Ugm) {
            for (std::size_t i = 0; i < map->numbers.size(); ++i)
                m_v.charsMap += static_cast<char>(map->numbers.integer(i));
        }
        if (m_v.model != Model::Bpe)
            return {};
        const GgufValue *const list = m_file.get(key("merges"));
        if (!list && m_v.pre == "kimi-k2")
            return {};
        if (!list || !list->isArray() || (list->count > 0 && list->elementType != GgufType::String))
            return wrong("merges", "a list of texts", list ? list->display() : "nothing");
        for (const std::string_view merge : list->strings)
            m_v.merges.emplace_back(merge);
        return {};
    }

    Result<void> specials()
    {
        const auto special = [&](std::string_view name, SpecialId &id) {
            if (id && *id >= m_v.tokens.size())
                id.reset();
            const auto given = m_file.integer(key(name));
            if (given && *given >= 0 && *given < std::ssize(m_v.tokens))
                id = static_cast<std::uint32_t>(*given);
        };
        special("bos_token_id", m_v.bos);
        special("eos_token_id", m_v.eos);
        special("unknown_token_id", m_v.unknown);
        special("seperator_token_id", m_v.separator);
        special("padding_token_id", m_v.pad);
        special("mask_token_id", m_v.mask);
        m_v.addBos = m_file.boolean(key("add_bos_token")).value_or(m_v.addBos) || isGemma4();
        m_v.addEos = m_file.boolean(key("add_eos_token")).value_or(m_v.addEos);
        m_v.addSep = m_file.boolean(key("add_sep_token")).value_or(m_v.addSep);
        m_v.lowercase = m_file.boolean(key("normalizer.lowercase")).value_or(m_v.lowercase);
        m_v.stripAccents = m_file.boolean(key("normalizer.strip_accents")).value_or(m_v.lowercase);
        struct Need {
            bool add;
            SpecialId id;
            std::string_view name;
        };
        for (const Need &need : {Need{m_v.addBos, m_v.bos, "bos_token_id"}, Need{m_v.addEos, m_v.eos, "eos_token_id"},
                                 Need{m_v.addSep, m_v.separator, "seperator_token_id"}}) {
            if (need.add && !need.id)
                return wrong(need.name, "an id, since the token is to be added", "none");
        }
        return {};
    }

    bool isGemma4() const
    {
        const auto *const pre = m_v.model == Model::Bpe ? findGgufPreTokenizer(m_v.pre) : nullptr;
        return pre && pre->split == GgufSplit::Gemma4;
    }

    void mark(std::string_view text, unsigned int attribute)
    {
        if (const auto id = m_v.find(text))
            m_v.tokens[*id].attributes |= attribute;
    }
    void set(std::string_view text, unsigned int attributes)
    {
        if (const auto id = m_v.find(text))
            m_v.tokens[*id].attributes = attributes;
    }
    bool has(std::string_view text) const { return m_v.find(text).has_value(); }

    void correctTypes()
    {
        for (const Infill &infill : infills) {
            if (std::any_of(infill.keys.begin(), infill.keys.end(), [&](auto name) { return m_file.integer(key(name)).has_value(); }))
                continue;
            // llama.cpp takes whichever its hash table gives first; of one file there is one.
            const auto text = std::find_if(infill.texts.begin(), infill.texts.end(), [&](auto t) { return has(t); });
            if (text != infill.texts.end())
                mark(*text, GgufVocabulary::Control);
        }
        for (const auto text : endTexts)
            mark(text, GgufVocabulary::Control);
        for (const auto text : {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"})
            set(text, GgufVocabulary::UserDefined);
        const bool call = has("<|call|>") || has("<|calls|>");
        if (call && (has("<|return|>") || has("<|flush|>")))
            set("<|end|>", GgufVocabulary::UserDefined);
        if (has("<|tool_response>"))
            set("</s>", GgufVocabulary::Normal);
    }

    /// Which special tokens swallow white space is not in the file: llama.cpp goes by names.
    void stripRules()
    {
        const auto contains = [](const std::string &text, std::initializer_list<std::string_view> parts) {
            return std::any_of(parts.begin(), parts.end(), [&](auto part) { return text.find(part) != std::string::npos; });
        };
        const std::string name = asciiLower(m_file.string("general.name").value_or(""));
        if (contains(m_file.string(key("pre")).value_or(""), {"jina-v2-de", "jina-v2-es", "jina-v2-code"})
            || contains(m_file.architecture(), {"nomic-bert-moe", "jina-bert-v3"})) {
            mark("<mask>", GgufVocabulary::LeftStrip);
        } else if (contains(name, {"phi-3", "phi3"})) {
            for (auto &token : m_v.tokens) {
                if (token.is(GgufVocabulary::Control | GgufVocabulary::UserDefined | GgufVocabulary::Unknown))
                    token.attributes |= GgufVocabulary::RightStrip;
            }
            mark("</s>", GgufVocabulary::RightStrip);
            for (const auto text : {"<unk>", "<s>", "<|endoftext|>"}) {
                if (const auto id = m_v.find(text))
                    m_v.tokens[*id].attributes &= ~static_cast<unsigned int>(GgufVocabulary::RightStrip);
            }
        } else if (contains(name, {"modern-bert"})) {
            mark("[MASK]", GgufVocabulary::LeftStrip);
        }
    }

    const GgufContent &m_file;
    GgufVocabulary m_v;
};

} // namespace

Result<GgufVocabulary> GgufVocabulary::read(const GgufContent &file)
{
    return Loader(file).load();
}

bool GgufVocabulary::endsByText(std::string_view text)
{
    return std::find(endTexts.begin(), endTexts.end(), text) != endTexts.end();
}

} // namespace prosector
