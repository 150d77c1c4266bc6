// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/tiktoken.h"

#include "models/core/utf8.h"
#include "models/tokenizers/base64.h"
#include "models/tokenizers/bpe.h"
#include "models/tokenizers/malformedpart.h"
#include "models/tokenizers/pattern.h"
#include "models/tokenizers/pipeline.h"
#include "models/tokenizers/unicode.h"

#include <algorithm>
#include <charconv>
#include <deque>

namespace prosector {

namespace {

/// Tokens by rank; a hole is empty.
using Ranks = std::vector<std::string>;
constexpr std::uint32_t highestRank = 8'000'000; // above any vocabulary, below what a wrong digit could make us hold

Error wrongLine(std::size_t line, std::size_t at, std::string expected, std::string_view found)
{
    return {Errc::Malformed, "rank file, line " + std::to_string(line), ByteRange{at, at + found.size()},
            std::move(expected), '"' + toValidUtf8(found.substr(0, 60)) + '"'};
}

/// Puts a token at its rank; false when the rank is taken.
bool put(Ranks &ranks, std::uint32_t rank, std::string token)
{
    if (rank >= ranks.size())
        ranks.resize(rank + 1);
    if (!ranks[rank].empty())
        return false;
    ranks[rank] = std::move(token);
    return true;
}

Result<Ranks> readRanks(std::string_view file)
{
    Ranks ranks;
    std::size_t number = 0;
    for (std::size_t at = 0; at < file.size();) {
        const std::size_t end = std::min(file.find('\n', at), file.size());
        auto line = file.substr(at, end - at);
        const std::size_t begin = at;
        at = end + 1;
        ++number;
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (line.empty())
            continue;
        const auto blank = std::min(line.find(' '), line.size());
        auto token = decodeBase64(line.substr(0, blank));
        std::uint32_t rank = 0;
        const char *const stop = line.data() + line.size();
        const auto read = std::from_chars(line.data() + std::min(blank + 1, line.size()), stop, rank);
        if (!token || token->empty() || read.ec != std::errc() || read.ptr != stop || rank > highestRank)
            return wrongLine(number, begin, "base64, a blank and a rank below " + std::to_string(highestRank), line);
        if (!put(ranks, rank, std::move(*token)))
            return wrongLine(number, begin, "a rank that no line before has", line);
    }
    if (ranks.empty())
        return Error{Errc::Malformed, "rank file", Whole{}, "lines of base64 and a rank", "none"};
    return ranks;
}

/// Byte-pair merging by rank is a list of merges: every token, cut anywhere into two tokens, at its own rank.
Result<TokenModelPtr> makeModel(const Ranks &ranks, std::uint32_t firstId, const Error &place)
{
    Vocabulary vocabulary;
    vocabulary.reserve(ranks.size(), ranks.size() * 10);
    std::deque<std::string> spellings;
    Error error = place;
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
        const std::string &spelling = spellings.emplace_back(pieceOfBytes(ranks[rank]));
        if (spelling.empty())
            continue;
        if (const auto earlier = vocabulary.find(spelling); earlier != Vocabulary::none) {
            error.expected = "every token once";
            error.found = spelling + " at ranks " + std::to_string(earlier - firstId) + " and " + std::to_string(rank);
            return error;
        }
        vocabulary.add(spelling, rank + firstId);
    }
    for (unsigned int byte = 0; byte < 256; ++byte) {
        if (vocabulary.find(pieceOfBytes(std::string(1, static_cast<char>(byte)))) == Vocabulary::none) {
            error.expected = "a rank for each of the 256 bytes";
            error.found = "none for byte " + std::to_string(byte);
            return error;
        }
    }
    std::vector<BpeModel::Merge> merges;
    merges.reserve(ranks.size() * 2);
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
        const std::string_view whole = spellings[rank];
        for (std::size_t cut = 1; cut < whole.size(); ++cut) {
            if (isContinuationByte(whole[cut]))
                continue;
            const auto left = whole.substr(0, cut), right = whole.substr(cut);
            if (vocabulary.find(left) != Vocabulary::none && vocabulary.find(right) != Vocabulary::none)
                merges.push_back({left, right, rank});
        }
    }
    auto model = BpeModel::make(std::move(vocabulary), merges, {.ignoreMerges = true, .rawBytes = true});
    if (!model)
        return model.error();
    return TokenModelPtr(std::move(*model));
}

/// The pipeline that does what tiktoken does.
Result<TokenizerPtr> assemble(const Ranks &ranks, std::uint32_t firstId, const TiktokenEncoding &encoding,
                              AddedTokens added, const Error &place)
{
    auto pattern = Pattern::compile(encoding.pattern, Pattern::Dialect::Rust);
    if (!pattern)
        return pattern.error();
    auto model = makeModel(ranks, firstId, place);
    if (!model)
        return model.error();
    PipelineTokenizer::Stages stages;
    stages.kind = encoding.name;
    stages.model = std::move(*model);
    stages.added = std::move(added);
    if (encoding.composed)
        stages.normalizers = *makeNormalizers(Document::parseJson("{\"type\":\"NFC\"}")->root());
    stages.plan = matchesAsBytes(std::move(*pattern));
    stages.decoders.push_back(byteLevelDecoder());
    return TokenizerPtr(std::make_shared<const PipelineTokenizer>(std::move(stages)));
}

constexpr std::string_view gpt2Pattern = "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s";
constexpr std::string_view cl100kPattern =
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|"
    "\\s*[\\r\\n]|\\s+(?!\\S)|\\s";
constexpr std::string_view llama3Pattern =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
    "\\s+(?!\\S)|\\s+";
constexpr std::string_view qwenPattern =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
    "\\s+(?!\\S)|\\s+";
constexpr std::string_view o200kPattern =
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
constexpr std::string_view kimiPattern =
    "[\\p{Han}]+|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]+"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/// Special tokens of a family: those named, from an id on, then numbered ones ("<|extra_0|>").
struct Specials {
    std::uint32_t first = 0;
    std::vector<std::string_view> names{};
    std::string_view numbered{};
    std::uint32_t from = 0, count = 0;
};

struct Known {
    std::string_view name;
    std::size_t ranks;
    std::string_view pattern;
    std::vector<Specials> specials;
    bool composed = false;
};

const std::vector<Known> &knownEncodings()
{
    static const std::vector<Known> all{
        {"r50k_base", 50256, gpt2Pattern, {{50256, {"<|endoftext|>"}}}},
        {"whisper multilingual", 50257, gpt2Pattern, {{50257, {"<|endoftext|>", "<|startoftranscript|>"}}}},
        {"p50k_base", 50280, gpt2Pattern, {{50256, {"<|endoftext|>"}}}},
        {"cl100k_base", 100256, cl100kPattern,
         {{100257, {"<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"}}, {100276, {"<|endofprompt|>"}}}},
        {"Llama 3", 128000, llama3Pattern,
         {{128000, {"<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>",
                    "<|finetune_right_pad_id|>", "<|reserved_special_token_2|>", "<|start_header_id|>", "<|end_header_id|>",
                    "<|eom_id|>", "<|eot_id|>", "<|python_tag|>"}, "<|reserved_special_token_", 3, 245}}},
        {"GLM-4", 151329, llama3Pattern,
         {{151329, {"<|endoftext|>", "[MASK]", "[gMASK]", "[sMASK]", "<sop>", "<eop>", "<|system|>", "<|user|>",
                    "<|assistant|>", "<|observation|>", "<|begin_of_image|>", "<|end_of_image|>", "<|begin_of_video|>",
                    "<|end_of_video|>"}}}},
        {"Qwen", 151643, qwenPattern,
         {{151643, {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}, "<|extra_", 0, 205}}, true},
        {"Kimi K2", 163584, kimiPattern, {{163584, {"[BOS]", "[EOS]", "<|im_end|>", "<|im_user|>", "<|im_assistant|>"}}}},
        {"o200k_base", 199998, o200kPattern, {{199999, {"<|endoftext|>"}}, {200018, {"<|endofprompt|>"}}}},
        {"Llama 4", 200000, o200kPattern,
         {{200000, {"<|begin_of_text|>", "<|end_of_text|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>",
                    "<|header_start|>", "<|header_end|>", "<|eom|>", "<|eot|>", "<|step|>"}}}},
    };
    return all;
}

AddedTokenRule special(std::string content, std::uint32_t id)
{
    return {.content = std::move(content), .id = id, .special = true, .normalized = false};
}

} // namespace

std::optional<TiktokenEncoding> knownTiktokenEncoding(std::size_t ranks)
{
    const auto &all = knownEncodings();
    const auto known = std::find_if(all.begin(), all.end(), [&](const Known &k) { return k.ranks == ranks; });
    if (known == all.end())
        return std::nullopt;
    TiktokenEncoding encoding{.name = std::string(known->name), .pattern = std::string(known->pattern), .composed = known->composed};
    for (const Specials &run : known->specials) {
        std::uint32_t id = run.first;
        for (const auto name : run.names)
            encoding.specials.push_back(special(std::string(name), id++));
        for (std::uint32_t i = 0; i < run.count; ++i)
            encoding.specials.push_back(special(std::string(run.numbered) + std::to_string(run.from + i) + "|>", id++));
    }
    return encoding;
}

std::size_t countTiktokenRanks(std::string_view file)
{
    std::size_t lines = 0;
    for (std::size_t at = 0; at < file.size();) {
        const std::size_t end = std::min(file.find('\n', at), file.size());
        lines += end > at && file[at] != '\r';
        at = end + 1;
    }
    return lines;
}

Result<TokenizerPtr> tokenizerFromTiktoken(std::string_view file, std::optional<TiktokenEncoding> encoding)
{
    const auto ranks = readRanks(file);
    if (!ranks)
        return ranks.error();
    const std::size_t count = countTiktokenRanks(file);
    if (!encoding)
        encoding = knownTiktokenEncoding(count);
    if (!encoding) {
        return Error{Errc::Unsupported, "rank file of no known encoding: its pattern is not in the file", Whole{},
                     "a known number of ranks", std::to_string(count)};
    }
    for (const AddedTokenRule &token : encoding->specials) {
        if (token.id < ranks->size() && !(*ranks)[token.id].empty()) {
            return Error{Errc::Malformed, "special token " + token.content, Whole{}, "an id that is no rank",
                         std::to_string(token.id)};
        }
    }
    encoding->name = "tiktoken " + encoding->name;
    return assemble(*ranks, 0, *encoding, AddedTokens::of(encoding->specials), {Errc::Malformed, "rank file", Whole{}});
}

namespace {

/// The special tokens of files before version 8, which do not list them.
constexpr std::string_view oldSpecials[] = {
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]",
    "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
};

Result<std::vector<AddedTokenRule>> tekkenSpecials(Value list, std::uint32_t count)
{
    std::vector<std::string> names(count);
    std::uint32_t given = 0;
    const auto name = [&](Value where, std::int64_t id, std::string content) -> Result<void> {
        if (id < 0 || id >= count || !names[static_cast<std::size_t>(id)].empty())
            return malformedPart("tekken", where, "a rank of its own below " + std::to_string(count));
        names[static_cast<std::size_t>(id)] = std::move(content);
        return {};
    };
    if (list.isSet()) {
        for (const Value node : list) {
            if (!node["token_str"].isString() || !node["rank"].integer())
                return malformedPart("tekken", node, "a token_str and a rank");
            if (auto done = name(node, *node["rank"].integer(), *node["token_str"].string()); !done)
                return done.error();
        }
    } else {
        for (const auto content : oldSpecials) {
            if (given < count)
                names[given++] = content;
        }
    }
    std::vector<AddedTokenRule> tokens;
    for (std::uint32_t id = 0; id < count; ++id)
        tokens.push_back(special(names[id].empty() ? "<SPECIAL_" + std::to_string(id) + ">" : names[id], id));
    return tokens;
}

Result<Ranks> tekkenRanks(Value vocab, std::uint32_t count)
{
    if (!vocab.isArray())
        return malformedPart("tekken", vocab, "a list `vocab`");
    Ranks ranks;
    for (const Value node : vocab) {
        const auto rank = node["rank"].integer();
        const auto text = node["token_bytes"].string();
        auto bytes = text ? decodeBase64(*text) : std::nullopt;
        if (!rank || *rank < 0 || *rank > highestRank || !bytes || bytes->empty())
            return malformedPart("tekken", node, "a rank and token_bytes in base64");
        if (*rank < count && !put(ranks, static_cast<std::uint32_t>(*rank), std::move(*bytes)))
            return malformedPart("tekken", node, "a rank that no token before has");
    }
    if (ranks.size() != count || std::any_of(ranks.begin(), ranks.end(), [](const auto &token) { return token.empty(); }))
        return malformedPart("tekken", vocab, "a token for each rank below " + std::to_string(count));
    return ranks;
}

} // namespace

Result<TokenizerPtr> tokenizerFromTekken(Value root)
{
    const Value config = root["config"];
    const auto pattern = config["pattern"].string();
    const auto size = config["default_vocab_size"].integer();
    const auto specials = config["default_num_special_tokens"].integer();
    if (!pattern)
        return malformedPart("tekken", config ? config : root, "a `pattern`");
    if (!size || !specials || *specials < 0 || *size <= *specials || *size > highestRank)
        return malformedPart("tekken", config, "default_vocab_size above default_num_special_tokens");
    const auto first = static_cast<std::uint32_t>(*specials);
    auto tokens = tekkenSpecials(root["special_tokens"], first);
    if (!tokens)
        return tokens.error();
    const auto ranks = tekkenRanks(root["vocab"], static_cast<std::uint32_t>(*size) - first);
    if (!ranks)
        return ranks.error();
    auto made = assemble(*ranks, first, {.name = "tekken " + config["version"].string("without version"), .pattern = *pattern},
                         AddedTokens::of(std::move(*tokens), AddedTokens::Found::Never),
                         {Errc::Malformed, "tekken", root["vocab"].anchor()});
    return made;
}

} // namespace prosector
