// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/tokenizerfacts.h"

#include "models/artifacts/sentencepiecemodel.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace prosector {

namespace {

/// A token is a string or an object with `content`.
std::optional<std::string> tokenText(Value value)
{
    return value.isObject() ? value["content"].string() : value.string();
}

constexpr std::array<std::string_view, 7> roleNames{"bos", "eos", "pad", "unk", "cls", "sep", "mask"};

// llama.cpp, src/llama-arch.cpp: LLM_KV_TOKENIZER_*_ID.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> ggufRoles{{
    {"bos", "tokenizer.ggml.bos_token_id"}, {"eos", "tokenizer.ggml.eos_token_id"},
    {"pad", "tokenizer.ggml.padding_token_id"}, {"unk", "tokenizer.ggml.unknown_token_id"},
    {"sep", "tokenizer.ggml.seperator_token_id"}, {"mask", "tokenizer.ggml.mask_token_id"},
    {"eot", "tokenizer.ggml.eot_token_id"}, {"eom", "tokenizer.ggml.eom_token_id"},
}};

} // namespace

/// Fills a TokenizerFacts from the files of a folder or a GGUF.
class TokenizerReader {
public:
    std::optional<TokenizerFacts> folder(const Run &run, const ModelFolder &folder)
    {
        if (const Artifact *const file = run.find(folder.tokenizerJson))
            readTokenizerJson(*file);
        if (const Artifact *const file = run.find(folder.sentencePiece); file && !m_facts.vocabularyFile.valid())
            readSentencePiece(*file);
        if (const Artifact *const file = run.find(folder.tokenizerConfig))
            readTokenizerConfig(*file);
        if (const Artifact *const file = run.find(folder.specialTokensMap))
            readRoles(file->id, file->tree());
        if (const Artifact *const file = run.find(folder.addedTokens))
            readAddedTokens(*file);
        for (const ArtifactId id : folder.chatTemplates)
            readTemplateFile(run.artifact(id));
        const bool anything = m_facts.vocabularyFile.valid() || folder.tokenizerConfig.valid()
                              || folder.specialTokensMap.valid() || !m_facts.templates.empty();
        if (!anything)
            return std::nullopt;
        finish();
        return std::move(m_facts);
    }

    std::optional<TokenizerFacts> gguf(const Artifact &artifact)
    {
        const auto *const content = artifact.as<GgufContent>();
        if (!content)
            return std::nullopt;
        m_facts.gguf = true;
        m_facts.m_tokens = content->get("tokenizer.ggml.tokens");
        const auto model = settingOf(artifact.id, *content, "tokenizer.ggml.model");
        if (!m_facts.m_tokens && !model)
            return std::nullopt;
        m_facts.vocabularyFile = artifact.id;
        if (model) {
            m_facts.model = model->word.value_or("");
            m_facts.modelAt = model->where;
        }
        m_facts.pre = settingOf(artifact.id, *content, "tokenizer.ggml.pre");
        m_facts.addBos = settingOf(artifact.id, *content, "tokenizer.ggml.add_bos_token");
        m_facts.addEos = settingOf(artifact.id, *content, "tokenizer.ggml.add_eos_token");
        if (const GgufValue *const merges = content->get("tokenizer.ggml.merges"))
            m_facts.merges = merges->strings.size();
        else if (m_facts.model == "gpt2")
            m_facts.merges = 0;
        if (m_facts.m_tokens) {
            const auto count = static_cast<std::uint64_t>(m_facts.m_tokens->strings.size());
            m_facts.baseSize = m_facts.size = count;
            if (count > 0)
                m_facts.largestId = static_cast<std::int64_t>(count) - 1;
        }
        readGgufTypes(artifact, *content);
        for (const auto &[role, key] : ggufRoles) {
            const auto setting = settingOf(artifact.id, *content, key);
            if (!setting || !setting->number)
                continue;
            SpecialRole row{std::string(role), {}, static_cast<std::int64_t>(*setting->number), setting->where};
            row.text = m_facts.piece(*row.id);
            m_facts.roles.push_back(std::move(row));
        }
        constexpr std::string_view templateKey = "tokenizer.chat_template";
        for (const GgufEntry &entry : content->entries) {
            if (!entry.key.starts_with(templateKey) || entry.value.type != GgufValue::Type::String)
                continue;
            const bool named = entry.key.size() > templateKey.size() + 1;
            m_facts.templates.push_back({named ? entry.key.substr(templateKey.size() + 1) : "default",
                                         entry.value.text,
                                         {artifact.id, GgufContent::anchor(entry.key), "chat template"}});
        }
        return std::move(m_facts);
    }

private:
    void readTokenizerJson(const Artifact &file)
    {
        const Value root = file.tree();
        if (!root.isObject())
            return;
        m_facts.m_tokenizer = root;
        m_facts.vocabularyFile = file.id;
        const Value model = root["model"];
        m_facts.m_vocab = model["vocab"];
        if (model["type"].isString()) {
            m_facts.model = model["type"].string("");
        } else { // files before tokenizers 0.9 name no type: BPE has merges, Unigram lists pairs
            m_facts.model = model["merges"].isArray()        ? "BPE"
                            : m_facts.m_vocab.isArray()      ? "Unigram"
                            : model["max_input_chars_per_word"].isSet() ? "WordPiece"
                                                             : "WordLevel";
        }
        m_facts.modelAt = {file.id, model["type"].isString() ? model["type"].anchor() : model.anchor(),
                           "tokenizer model " + m_facts.model};
        m_facts.byteFallback = settingOf(file.id, model["byte_fallback"]);
        m_facts.ignoreMerges = settingOf(file.id, model["ignore_merges"]);
        if (m_facts.model == "BPE")
            m_facts.merges = model["merges"].size();
        if (m_facts.m_vocab.isArray() || m_facts.m_vocab.isObject())
            m_facts.baseSize = m_facts.m_vocab.size();
        for (const Value token : root["added_tokens"]) {
            const auto id = token["id"].integer();
            const auto content = token["content"].string();
            if (id && content)
                addToken({*id, *content, token["special"].boolean().value_or(false), {file.id, token.anchor(), {}}});
        }
        const Value unk = model["unk_token"];
        if (const auto text = unk.string())
            m_facts.roles.push_back({"unk", *text, {}, {file.id, unk.anchor(), "unk_token = " + canonicalText(*text)}});
        const Value post = root["post_processor"];
        m_facts.postProcessorAt = Evidence{file.id, post ? post.anchor() : root.anchor(), "post-processor"};
        readPostProcessor(post);
    }

    void readPostProcessor(Value post)
    {
        const auto type = post["type"].string("");
        if (type == "Sequence") {
            for (const Value part : post["processors"])
                readPostProcessor(part);
        } else if (type == "TemplateProcessing") {
            bool before = true;
            for (const Value piece : post["single"]) {
                if (piece["Sequence"].isSet())
                    before = false;
                else if (const auto token = piece["SpecialToken"]["id"].string())
                    (before ? m_facts.prefix : m_facts.suffix).push_back(*token);
            }
        } else if (type == "BertProcessing" || type == "RobertaProcessing") {
            m_facts.prefix.push_back(post["cls"][0].string(""));
            m_facts.suffix.push_back(post["sep"][0].string(""));
        }
    }

    void readSentencePiece(const Artifact &file)
    {
        using Type = SentencePieceContent::PieceType;
        const auto *const content = file.as<SentencePieceContent>();
        if (!content || content->pieces.empty())
            return;
        m_facts.vocabularyFile = file.id;
        m_facts.model = content->modelType() == "BPE" ? "BPE" : content->modelType() == "UNIGRAM" ? "Unigram" : content->modelType();
        m_facts.modelAt = Evidence{file.id, Whole{}, "SentencePiece model of type " + content->modelType()};
        m_facts.baseSize = content->pieces.size();
        m_facts.m_pieces.reserve(content->pieces.size());
        for (std::size_t id = 0; id < content->pieces.size(); ++id) {
            const auto &piece = content->pieces[id];
            m_facts.m_pieces.push_back(piece.text);
            if (piece.type == Type::Control || piece.type == Type::UserDefined)
                addToken({static_cast<std::int64_t>(id), piece.text, piece.type == Type::Control, {file.id, piece.bytes, {}}});
        }
        for (const std::string_view role : {"unk", "bos", "eos", "pad"}) {
            const int id = content->specialId(std::string(role) + "_id");
            if (id < 0 || static_cast<std::size_t>(id) >= content->pieces.size())
                continue;
            const auto &piece = content->pieces[static_cast<std::size_t>(id)];
            m_facts.roles.push_back({std::string(role), piece.text, id, {file.id, piece.bytes, std::string(role) + "_id = " + std::to_string(id)}});
        }
    }

    void readTokenizerConfig(const Artifact &file)
    {
        const Value root = file.tree();
        m_facts.tokenizerClass = settingOf(file.id, root["tokenizer_class"]);
        m_facts.addBos = settingOf(file.id, root["add_bos_token"]);
        m_facts.addEos = settingOf(file.id, root["add_eos_token"]);
        m_facts.modelMaxLength = settingOf(file.id, root["model_max_length"]);
        readRoles(file.id, root);
        for (const Value token : root["added_tokens_decoder"]) {
            const std::string key = token.key();
            std::int64_t id = 0;
            const auto parsed = std::from_chars(key.data(), key.data() + key.size(), id);
            const auto content = token["content"].string();
            if (parsed.ec == std::errc() && parsed.ptr == key.data() + key.size() && content)
                addToken({id, *content, token["special"].boolean().value_or(false), {file.id, token.anchor(), {}}});
        }
        const Value templates = root["chat_template"];
        if (const auto text = templates.string()) {
            m_facts.templates.push_back({"default", *text, {file.id, templates.anchor(), "chat template"}});
        } else {
            for (const Value entry : templates) {
                const Value source = entry.isObject() ? entry["template"] : entry;
                if (source.isString())
                    m_facts.templates.push_back({entry["name"].string(entry.key()), source.string(""),
                                                 {file.id, source.anchor(), "chat template"}});
            }
        }
    }

    void readRoles(ArtifactId file, Value root)
    {
        for (const std::string_view role : roleNames) {
            const Value value = root[std::string(role) + "_token"];
            if (const auto text = tokenText(value))
                m_facts.roles.push_back(
                    {std::string(role), *text, {}, {file, value.anchor(), value.key() + " = " + canonicalText(*text)}});
        }
    }

    void readAddedTokens(const Artifact &file)
    {
        for (const Value token : file.tree()) {
            if (const auto id = token.integer())
                addToken({*id, token.key(), false, {file.id, token.anchor(), {}}});
        }
    }

    void readTemplateFile(const Artifact &file)
    {
        if (const auto *const text = file.as<TextContent>())
            m_facts.templates.push_back({"default", text->text, {file.id, Whole{}, "chat template"}});
        else if (const Value source = file.tree()["chat_template"]; source.isString())
            m_facts.templates.push_back({"default", source.string(""), {file.id, source.anchor(), "chat template"}});
    }

    void readGgufTypes(const Artifact &artifact, const GgufContent &content)
    {
        const GgufValue *const types = content.get("tokenizer.ggml.token_type");
        if (!types || !m_facts.m_tokens)
            return;
        const std::size_t count = std::min<std::size_t>(types->numbers.size(), m_facts.m_tokens->strings.size());
        for (std::size_t i = 0; i < count; ++i) {
            const double type = types->numbers[i]; // 3 control, 4 user defined
            if (type != 3 && type != 4)
                continue;
            addToken({static_cast<std::int64_t>(i), std::string(m_facts.m_tokens->strings[i]), type == 3,
                      {artifact.id, JsonPath{"$[\"tokenizer.ggml.tokens\"][" + std::to_string(i) + ']'}, {}}});
        }
    }

    void addToken(AddedToken token)
    {
        token.where.note = "id " + std::to_string(token.id) + " is " + canonicalText(token.content);
        m_facts.added.push_back(std::move(token));
    }

    void finish()
    {
        auto &added = m_facts.added;
        std::stable_sort(added.begin(), added.end(), [](auto &a, auto &b) { return a.id < b.id; });
        for (std::size_t i = 1; i < added.size(); ++i) {
            if (added[i].id == added[i - 1].id && added[i].content != added[i - 1].content)
                m_facts.remarks.push_back({added[i].where.note + ", but elsewhere " + added[i - 1].where.note,
                                           added[i].where});
        }
        added.erase(std::unique(added.begin(), added.end(), [](auto &a, auto &b) { return a.id == b.id; }), added.end());
        countIds();
        for (SpecialRole &role : m_facts.roles) {
            if (!role.id && role.text)
                role.id = lookUp(*role.text);
        }
    }

    std::optional<std::int64_t> lookUp(std::string_view text) const
    {
        const auto it = std::find_if(m_facts.added.begin(), m_facts.added.end(),
                                     [&](const AddedToken &t) { return t.content == text; });
        return it != m_facts.added.end() ? std::optional(it->id) : m_facts.id(text);
    }

    void countIds()
    {
        std::int64_t largest = -1;
        std::uint64_t base = 0;
        if (!m_facts.m_pieces.empty()) {
            base = m_facts.m_pieces.size();
            largest = static_cast<std::int64_t>(base) - 1;
        } else if (m_facts.m_vocab.isArray()) {
            base = m_facts.m_vocab.size();
            largest = static_cast<std::int64_t>(base) - 1;
        } else {
            for (const Value entry : m_facts.m_vocab) {
                if (const auto id = entry.integer()) {
                    largest = std::max(largest, *id);
                    ++base;
                }
            }
        }
        const bool vocabulary = m_facts.m_vocab || !m_facts.m_pieces.empty();
        if (!vocabulary && m_facts.added.empty())
            return;
        const bool dense = largest + 1 == static_cast<std::int64_t>(base);
        std::vector<std::int64_t> ids;
        if (!dense) {
            for (const Value entry : m_facts.m_vocab) {
                if (const auto id = entry.integer())
                    ids.push_back(*id);
            }
            std::sort(ids.begin(), ids.end());
        }
        std::uint64_t extra = 0;
        for (const AddedToken &token : m_facts.added) {
            const bool known = dense ? token.id >= 0 && token.id <= largest
                                     : std::binary_search(ids.begin(), ids.end(), token.id);
            extra += known ? 0 : 1;
        }
        if (vocabulary)
            m_facts.size = base + extra;
        if (!m_facts.added.empty())
            largest = std::max(largest, m_facts.added.back().id);
        if (vocabulary)
            m_facts.largestId = largest;
    }

    TokenizerFacts m_facts;
};

std::optional<TokenizerFacts> TokenizerFacts::ofFolder(const Run &run, const ModelFolder &folder)
{
    return TokenizerReader().folder(run, folder);
}

std::optional<TokenizerFacts> TokenizerFacts::ofGguf(const Artifact &artifact)
{
    return TokenizerReader().gguf(artifact);
}

const SpecialRole *TokenizerFacts::role(std::string_view name) const
{
    const auto it = std::find_if(roles.begin(), roles.end(), [&](const SpecialRole &r) { return r.role == name; });
    return it == roles.end() ? nullptr : &*it;
}

BosAdder TokenizerFacts::bosAdder() const
{
    BosAdder adder;
    if (gguf) {
        if (addBos && addBos->boolean) {
            adder.adds = *addBos->boolean;
            adder.reason = "the GGUF says so";
            adder.evidence.push_back(addBos->where);
            return adder;
        }
        // llama.cpp, src/llama-vocab.cpp: defaults by model and pre-tokenizer.
        static constexpr std::array<std::string_view, 10> adding{"llama3",   "llama-v3", "llama-bpe", "falcon3", "falcon-h1",
                                                                 "pixtral",  "midm-2.0", "lfm2",      "tekken",  "chameleon"};
        const std::string name = pre && pre->word ? *pre->word : "";
        adder.adds = model == "llama"
                     || (model == "gpt2" && std::find(adding.begin(), adding.end(), name) != adding.end());
        adder.reason = "llama.cpp's default for model " + canonicalText(model) + (name.empty() ? "" : " with pre " + canonicalText(name));
        if (modelAt)
            adder.evidence.push_back(*modelAt);
        return adder;
    }
    // Transformers 4: these classes rebuild the post-processor from their flags.
    static constexpr std::array<std::string_view, 6> byFlag{"LlamaTokenizer", "LlamaTokenizerFast", "GemmaTokenizer",
                                                            "GemmaTokenizerFast", "CodeLlamaTokenizer",
                                                            "CodeLlamaTokenizerFast"};
    const std::string name = tokenizerClass && tokenizerClass->word ? *tokenizerClass->word : "";
    const bool flagged = std::find(byFlag.begin(), byFlag.end(), name) != byFlag.end();
    std::optional<bool> byClass, byFile;
    if (flagged) {
        byClass = addBos && addBos->boolean ? *addBos->boolean : true;
        adder.evidence.push_back(addBos ? addBos->where : tokenizerClass->where);
    }
    if (m_tokenizer) {
        const SpecialRole *const bos = role("bos");
        const SpecialRole *const cls = role("cls");
        byFile = false;
        for (const std::string &token : prefix) {
            if ((bos && bos->text == token) || (!bos && !(cls && cls->text == token)))
                byFile = true;
        }
        if (postProcessorAt)
            adder.evidence.push_back(*postProcessorAt);
    } else if (!m_pieces.empty() && !byClass) {
        byFile = true; // SentencePiece tokenizers of Transformers add BOS unless told otherwise
        adder.evidence.push_back({vocabularyFile, Whole{}, "SentencePiece model"});
    }
    if (byClass && byFile && *byClass != *byFile) {
        adder.ambiguous = true;
        adder.reason = "class " + name + (*byClass ? " adds BOS" : " adds none") + " in Python; tokenizer.json "
                       + (*byFile ? "adds one" : "adds none") + " everywhere else";
        return adder;
    }
    adder.adds = byClass ? byClass : byFile;
    adder.reason = byClass ? "class " + name : byFile ? "the post-processor of tokenizer.json" : "no file says";
    return adder;
}

} // namespace prosector
