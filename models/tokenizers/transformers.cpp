// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/transformers.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

namespace prosector {

namespace {

constexpr std::array singleRoles{"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

/// Classes that rebuild the post-processor from add_bos_token and add_eos_token, and their own tokens.
struct RebuildingClass {
    std::string_view name, bos, eos;
};
constexpr std::array rebuilding{
    RebuildingClass{"LlamaTokenizer", "<s>", "</s>"},
    RebuildingClass{"CodeLlamaTokenizer", "<s>", "</s>"},
    RebuildingClass{"GemmaTokenizer", "<bos>", "<eos>"},
    RebuildingClass{"CohereTokenizer", "<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>"},
};

const RebuildingClass *rebuildingClass(std::string name)
{
    if (name.ends_with("Fast"))
        name.resize(name.size() - 4);
    const auto *const found = std::find_if(rebuilding.begin(), rebuilding.end(), [&](const auto &c) { return c.name == name; });
    return found == rebuilding.end() ? nullptr : found;
}

/// A token as text or as an object with its flags; `special` when nothing else is said.
std::optional<AddedTokenRule> tokenOf(Value node, bool special)
{
    const auto content = node.isObject() ? node["content"].string() : node.string();
    if (!content || content->empty())
        return std::nullopt;
    const auto flag = [&](const char *name, bool fallback) { return node[name].boolean().value_or(fallback); };
    AddedTokenRule token;
    token.content = *content;
    token.special = flag("special", special);
    // A bare text becomes a special token that is not normalised; an object's own default is true.
    token.normalized = flag("normalized", node.isObject() ? true : !token.special);
    token.singleWord = flag("single_word", false);
    token.leftStrip = flag("lstrip", false);
    token.rightStrip = flag("rstrip", false);
    return token;
}

bool sameFlags(const AddedTokenRule &a, const AddedTokenRule &b)
{
    return a.special == b.special && a.normalized == b.normalized && a.singleWord == b.singleWord
        && a.leftStrip == b.leftStrip && a.rightStrip == b.rightStrip;
}

class Reader {
public:
    Reader(Value tokenizerJson, Value config, Value map, Value addedJson)
        : m_config(config), m_map(map), m_addedJson(addedJson)
    {
        for (const Value node : tokenizerJson["added_tokens"]) {
            if (auto token = tokenOf(node, false))
                m_own.emplace(token->content, *token);
        }
        const Value pre = tokenizerJson["pre_tokenizer"];
        m_prefixSpace = pre["type"].string("") == "ByteLevel" ? pre["add_prefix_space"].boolean() : std::nullopt;
    }

    TransformersSettings read()
    {
        const bool modern = m_config["added_tokens_decoder"].isObject();
        if (modern)
            readDecoder();
        else if (m_addedJson.isObject())
            readAddedJson();
        readRoles(!modern);
        readFrame();
        m_settings.splitSpecialTokens = m_config["split_special_tokens"].boolean().value_or(false);
        m_settings.cleanUpSpaces = m_config["clean_up_tokenization_spaces"].boolean().value_or(false);
        // Without tokenizer_config.json nobody says which class would open the folder.
        const bool wanted = m_config["add_prefix_space"].boolean().value_or(false);
        if (m_config.isObject() && m_prefixSpace && *m_prefixSpace != wanted) {
            m_settings.addPrefixSpace = wanted;
            note(std::string("add_prefix_space is ") + (wanted ? "true" : "false")
                 + (m_config["add_prefix_space"] ? "" : " (the default)") + " and replaces the pre-tokenizer's own");
        }
        return std::move(m_settings);
    }

private:
    void note(std::string text) { m_settings.notes.push_back("tokenizer_config.json: " + std::move(text)); }

    Value role(std::string_view name, bool legacy) const
    {
        const Value own = m_config[name];
        return own.isSet() || !legacy ? own : m_map[name];
    }

    /// Lays a token over those of tokenizer.json, where it differs from them.
    void add(const AddedTokenRule &token, bool mayReplace, const std::string &where)
    {
        const auto found = m_own.find(token.content);
        if (found != m_own.end() && (!mayReplace || sameFlags(found->second, token)))
            return;
        note(where + (found == m_own.end() ? " adds " : " changes the flags of ") + '"' + token.content + '"');
        m_own[token.content] = token;
        m_settings.added.push_back(token);
    }

    bool isRole(const std::string &content) const
    {
        const auto names = [&](Value node) {
            const auto token = tokenOf(node, true);
            return token && token->content == content;
        };
        const auto says = [&](const char *name) { return names(m_config[name]); };
        if (std::any_of(singleRoles.begin(), singleRoles.end(), says))
            return true;
        for (const Value node : m_config["additional_special_tokens"]) {
            if (names(node))
                return true;
        }
        return false;
    }

    void readDecoder()
    {
        std::map<long long, AddedTokenRule> byId;
        for (const Value node : m_config["added_tokens_decoder"]) {
            auto token = tokenOf(node, false);
            if (!token)
                continue;
            token->special = token->special || isRole(token->content);
            byId[std::atoll(node.key().c_str())] = *token;
        }
        for (const auto &[id, token] : byId)
            add(token, true, "added_tokens_decoder[" + std::to_string(id) + ']');
    }

    void readAddedJson()
    {
        std::map<long long, std::string> byId;
        for (const Value node : m_addedJson) {
            if (const auto id = node.integer())
                byId[*id] = node.key();
        }
        for (const auto &[id, content] : byId) {
            if (content.empty())
                continue;
            AddedTokenRule token;
            token.content = content;
            token.special = isRole(content);
            token.normalized = !token.special;
            add(token, false, "added_tokens.json");
        }
    }

    void readRoles(bool legacy)
    {
        for (const char *const name : singleRoles) {
            if (const auto token = tokenOf(role(name, legacy), true))
                add(*token, false, name);
        }
        for (const Value node : role("additional_special_tokens", legacy)) {
            if (const auto token = tokenOf(node, true))
                add(*token, false, "additional_special_tokens");
        }
    }

    void readFrame()
    {
        const auto *const known = rebuildingClass(m_config["tokenizer_class"].string(""));
        if (!known)
            return;
        const auto spelling = [&](const char *name, std::string_view fallback) {
            const auto token = tokenOf(role(name, true), true);
            return token ? token->content : std::string(fallback);
        };
        TransformersSettings::Frame frame;
        if (m_config["add_bos_token"].boolean().value_or(true))
            frame.begin = spelling("bos_token", known->bos);
        if (m_config["add_eos_token"].boolean().value_or(false))
            frame.end = spelling("eos_token", known->eos);
        note("tokenizer_class " + m_config["tokenizer_class"].string("") + " rebuilds the post-processor: "
             + (frame.begin ? frame.begin->c_str() : "nothing") + " in front, " + (frame.end ? frame.end->c_str() : "nothing") + " behind");
        m_settings.frame = std::move(frame);
    }

    Value m_config, m_map, m_addedJson;
    std::map<std::string, AddedTokenRule> m_own;
    std::optional<bool> m_prefixSpace;
    TransformersSettings m_settings;
};

} // namespace

TransformersSettings transformersSettings(Value tokenizerJson, Value tokenizerConfig, Value specialTokensMap,
                                          Value addedTokens)
{
    return Reader(tokenizerJson, tokenizerConfig, specialTokensMap, addedTokens).read();
}

} // namespace prosector
