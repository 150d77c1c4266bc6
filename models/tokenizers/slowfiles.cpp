// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/slowfiles.h"

#include "models/tokenizers/scoredmerges.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace prosector {

namespace {

using Json = nlohmann::json;

constexpr std::string_view qwenPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// What a class takes a role to be when tokenizer_config.json does not say.
struct Roles {
    std::string_view bos, eos, unk, sep, pad, cls, mask;
};
constexpr Roles gpt2Roles{"<|endoftext|>", "<|endoftext|>", "<|endoftext|>", "", "", "", ""};
constexpr Roles robertaRoles{"<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"};
constexpr Roles qwenRoles{"", "<|endoftext|>", "<|endoftext|>", "", "<|endoftext|>", "", ""};
constexpr Roles bertRoles{"", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"};
constexpr Roles llamaRoles{"<s>", "</s>", "<unk>", "", "", "", ""};

class Converter {
public:
    explicit Converter(const SlowFiles &files) : m_files(files), m_class(files.config["tokenizer_class"].string(""))
    {
        if (m_class.ends_with("Fast"))
            m_class.resize(m_class.size() - 4);
    }

    Result<DocumentPtr> convert()
    {
        if (m_files.sentencePiece && (m_class == "LlamaTokenizer" || m_class == "CodeLlamaTokenizer"))
            llama(*m_files.sentencePiece);
        else if (m_files.vocabulary.isObject() && m_files.merges)
            byteLevel(*m_files.merges);
        else if (m_files.wordPieces)
            bert(*m_files.wordPieces);
        else
            return Error{Errc::NotFound, "files of a slow tokenizer", Whole{}, "vocab.json with merges.txt, or vocab.txt", "neither"};
        return Document::parseJson(m_json.dump(-1, ' ', false, Json::error_handler_t::replace));
    }

private:
    bool isClass(std::initializer_list<std::string_view> names) const
    {
        return std::find(names.begin(), names.end(), m_class) != names.end();
    }
    bool flag(const char *name, bool fallback) const { return m_files.config[name].boolean().value_or(fallback); }

    std::string role(const char *name, std::string_view fallback) const
    {
        const Value node = m_files.config[name];
        return (node.isObject() ? node["content"].string() : node.string()).value_or(std::string(fallback));
    }

    /// The classes' own tokens become special tokens of the tokenizer.
    void addRoles(const Roles &roles)
    {
        const std::array named{std::pair{"bos_token", roles.bos}, std::pair{"eos_token", roles.eos},
                               std::pair{"unk_token", roles.unk}, std::pair{"sep_token", roles.sep},
                               std::pair{"pad_token", roles.pad}, std::pair{"cls_token", roles.cls},
                               std::pair{"mask_token", roles.mask}};
        for (const auto &[name, fallback] : named)
            addToken(role(name, fallback), true, std::string_view(name) == "mask_token" && m_isRoberta);
    }

    void addToken(const std::string &content, bool special, bool leftStrip = false)
    {
        if (content.empty() || !m_added.insert(content).second)
            return;
        m_json["added_tokens"].push_back({{"id", 0}, {"content", content}, {"single_word", false}, {"lstrip", leftStrip},
                                          {"rstrip", false}, {"normalized", false}, {"special", special}});
    }

    Json idOf(const std::string &token) const
    {
        const auto found = m_ids.find(token);
        return found == m_ids.end() ? Json(nullptr) : Json(found->second);
    }

    Json framing(const std::vector<std::string> &front, const std::vector<std::string> &back) const
    {
        Json single = Json::array(), specials = Json::object();
        const auto put = [&](const std::string &token) {
            single.push_back({{"SpecialToken", {{"id", token}, {"type_id", 0}}}});
            specials[token] = {{"id", token}, {"ids", {idOf(token)}}, {"tokens", {token}}};
        };
        std::for_each(front.begin(), front.end(), put);
        single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
        std::for_each(back.begin(), back.end(), put);
        return {{"type", "TemplateProcessing"}, {"single", single}, {"special_tokens", specials}};
    }

    void byteLevel(const TextContent &merges)
    {
        for (const Value piece : m_files.vocabulary) {
            if (const auto id = piece.integer())
                m_ids[piece.key()] = *id;
        }
        Json list = Json::array();
        for (std::size_t i = 0; i < merges.lineCount(); ++i) {
            const std::string line(merges.line(i));
            const auto blank = line.find(' ');
            const bool isHeader = i == 0 && line.starts_with("#version");
            if (!isHeader && blank != std::string::npos)
                list.push_back({line.substr(0, blank), line.substr(blank + 1)});
        }
        m_json["model"] = {{"type", "BPE"}, {"vocab", m_ids}, {"merges", std::move(list)}};
        m_json["decoder"] = {{"type", "ByteLevel"}};
        const bool prefix = flag("add_prefix_space", false);
        m_json["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", prefix}, {"use_regex", true}};
        m_json["post_processor"] = {{"type", "ByteLevel"}, {"trim_offsets", false}};
        m_isRoberta = isClass({"RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer", "MvpTokenizer"});
        if (m_class == "Qwen2Tokenizer") {
            m_json["normalizer"] = {{"type", "NFC"}};
            m_json["pre_tokenizer"] = {
                {"type", "Sequence"},
                {"pretokenizers",
                 {{{"type", "Split"}, {"pattern", {{"Regex", qwenPattern}}}, {"behavior", "Isolated"}, {"invert", false}},
                  {{"type", "ByteLevel"}, {"add_prefix_space", prefix}, {"use_regex", false}}}}};
            addRoles(qwenRoles);
        } else if (m_isRoberta) {
            const std::string sep = role("sep_token", robertaRoles.sep), cls = role("cls_token", robertaRoles.cls);
            m_json["post_processor"] = {{"type", "RobertaProcessing"}, {"sep", {sep, idOf(sep)}}, {"cls", {cls, idOf(cls)}},
                                        {"add_prefix_space", prefix}, {"trim_offsets", true}};
            addRoles(robertaRoles);
        } else {
            if (flag("add_bos_token", false))
                m_json["post_processor"] = framing({role("bos_token", gpt2Roles.bos)}, {});
            addRoles(gpt2Roles);
        }
    }

    void bert(const TextContent &pieces)
    {
        for (std::size_t i = 0; i < pieces.lineCount(); ++i) {
            if (i + 1 < pieces.lineCount() || !pieces.line(i).empty()) // the line end of the last piece begins no line
                m_ids[std::string(pieces.line(i))] = static_cast<std::int64_t>(i);
        }
        const Value accents = m_files.config["strip_accents"];
        m_json["model"] = {{"type", "WordPiece"}, {"vocab", m_ids}, {"unk_token", role("unk_token", bertRoles.unk)},
                           {"continuing_subword_prefix", "##"}, {"max_input_chars_per_word", 100}};
        m_json["normalizer"] = {{"type", "BertNormalizer"}, {"clean_text", true},
                                {"handle_chinese_chars", flag("tokenize_chinese_chars", true)},
                                {"strip_accents", accents.boolean() ? Json(*accents.boolean()) : Json(nullptr)},
                                {"lowercase", flag("do_lower_case", true)}};
        m_json["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
        m_json["post_processor"] = framing({role("cls_token", bertRoles.cls)}, {role("sep_token", bertRoles.sep)});
        m_json["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
        addRoles(bertRoles);
    }

    void llama(const SentencePieceContent &model)
    {
        using Type = SentencePieceContent::PieceType;
        const auto &pieces = model.pieces;
        for (std::size_t i = 0; i < pieces.size(); ++i)
            m_ids[pieces[i].text] = static_cast<std::int64_t>(i);
        if (model.modelType() == "BPE") {
            m_json["model"] = {{"type", "BPE"}, {"vocab", m_ids}, {"merges", mergesOf(pieces)}, {"fuse_unk", true},
                               {"byte_fallback", true}, {"unk_token", model.setting("trainer.unk_piece").value_or("<unk>")}};
        } else {
            Json list = Json::array();
            for (std::size_t i = 0; i < pieces.size(); ++i)
                list.push_back({pieces[i].text, scoreOf(pieces, i)});
            m_json["model"] = {{"type", "Unigram"}, {"vocab", std::move(list)}, {"unk_id", 0}, {"byte_fallback", true}};
        }
        const bool prefix = flag("add_prefix_space", true);
        if (flag("legacy", true)) {
            Json steps = Json::array();
            if (prefix)
                steps.push_back({{"type", "Prepend"}, {"prepend", "▁"}});
            steps.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}});
            m_json["normalizer"] = {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
        } else {
            m_json["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "▁"},
                                       {"prepend_scheme", prefix ? "first" : "never"}, {"split", false}};
        }
        Json decoders = {{{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}}, {{"type", "ByteFallback"}}, {{"type", "Fuse"}}};
        if (prefix)
            decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
        m_json["decoder"] = {{"type", "Sequence"}, {"decoders", std::move(decoders)}};
        for (const auto &piece : pieces) {
            if (piece.type == Type::Control || piece.type == Type::UserDefined)
                addToken(piece.text, piece.type == Type::Control);
        }
        addRoles(llamaRoles);
    }

    /// The first three pieces are the specials, whatever their scores.
    static double scoreOf(const std::vector<SentencePieceContent::Piece> &pieces, std::size_t i)
    {
        return i < 3 ? 0.0 : double(pieces[i].score);
    }

    static Json mergesOf(const std::vector<SentencePieceContent::Piece> &pieces)
    {
        std::vector<ScoredPiece> scored;
        for (std::size_t i = 0; i < pieces.size(); ++i)
            scored.push_back({pieces[i].text, scoreOf(pieces, i)});
        Json list = Json::array();
        for (const ScoredMerge &merge : scoredMerges(scored))
            list.push_back({merge.left, merge.right});
        return list;
    }

    const SlowFiles &m_files;
    std::string m_class;
    bool m_isRoberta = false;
    std::map<std::string, std::int64_t, std::less<>> m_ids;
    std::set<std::string, std::less<>> m_added;
    Json m_json = Json::object();
};

} // namespace

Result<DocumentPtr> tokenizerJsonOf(const SlowFiles &files)
{
    return Converter(files).convert();
}

} // namespace prosector
