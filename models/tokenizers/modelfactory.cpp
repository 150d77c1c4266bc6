// SPDX-License-Identifier: GPL-3.0-or-later
// `model` of a tokenizer.json.
#include "models/core/utf8.h"
#include "models/tokenizers/bpe.h"
#include "models/tokenizers/malformedpart.h"
#include "models/tokenizers/unigram.h"
#include "models/tokenizers/wordmodels.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>

namespace prosector {

namespace {

Result<Vocabulary> readVocabulary(Value model)
{
    const Value vocab = model["vocab"];
    if (!vocab.isObject())
        return malformedPart("tokenizer model", vocab ? vocab : model, "an object `vocab` of pieces and ids");
    Vocabulary vocabulary;
    vocabulary.reserve(vocab.size(), vocab.range().size());
    for (const Value entry : vocab) {
        const auto id = entry.integer();
        if (!id || *id < 0 || *id >= Vocabulary::none)
            return malformedPart("tokenizer model", entry, "an id from 0 to 2^32 - 2");
        vocabulary.add(entry.key(), static_cast<std::uint32_t>(*id));
    }
    return vocabulary;
}

/// Both spellings: "a b" and ["a", "b"]. `store` keeps what the merges view.
Result<std::vector<BpeModel::Merge>> readMerges(Value merges, std::deque<std::string> &store)
{
    if (!merges.isArray())
        return malformedPart("tokenizer model", merges, "a list `merges`");
    std::vector<BpeModel::Merge> list;
    list.reserve(merges.size());
    const auto rank = [&] { return static_cast<std::uint32_t>(list.size()); };
    for (const Value entry : merges) {
        if (entry.isArray()) {
            if (entry.size() != 2 || !entry[0].isString() || !entry[1].isString())
                return malformedPart("tokenizer model", entry, "a pair of pieces");
            const std::string &left = store.emplace_back(*entry[0].string());
            list.push_back({left, store.emplace_back(*entry[1].string()), rank()});
            continue;
        }
        if (!entry.isString())
            return malformedPart("tokenizer model", entry, "a merge");
        const std::string_view line = store.emplace_back(*entry.string());
        if (line.starts_with("#version"))
            continue;
        const auto blank = line.find(' ');
        if (blank == std::string_view::npos || line.find(' ', blank + 1) != std::string_view::npos)
            return malformedPart("tokenizer model", entry, "two pieces and one blank");
        list.push_back({line.substr(0, blank), line.substr(blank + 1), rank()});
    }
    return list;
}

Result<TokenModelPtr> makeBpe(Value model, bool rawBytes)
{
    auto vocabulary = readVocabulary(model);
    if (!vocabulary)
        return vocabulary.error();
    std::deque<std::string> store;
    auto merges = readMerges(model["merges"], store);
    if (!merges)
        return merges.error();
    BpeOptions options;
    options.unknown = model["unk_token"].string();
    options.continuingPrefix = model["continuing_subword_prefix"].string("");
    options.wordSuffix = model["end_of_word_suffix"].string("");
    options.fuseUnknown = model["fuse_unk"].boolean().value_or(false);
    options.byteFallback = model["byte_fallback"].boolean().value_or(false);
    options.ignoreMerges = model["ignore_merges"].boolean().value_or(false);
    options.rawBytes = rawBytes && options.continuingPrefix.empty() && options.wordSuffix.empty();
    auto bpe = BpeModel::make(std::move(*vocabulary), *merges, std::move(options));
    if (!bpe)
        return bpe.error();
    return TokenModelPtr(std::move(*bpe));
}

/// The double that serde_json (1.0, without its float_roundtrip feature) reads from a number: up to 19
/// digits as an integer, then one multiplication or division by a power of ten. It can differ from the
/// nearest double in the last bit, and segmentations of equal probability hang on that bit.
double serdeNumber(std::string_view literal)
{
    const bool negative = literal.starts_with('-');
    if (negative)
        literal.remove_prefix(1);
    std::uint64_t digits = 0;
    int exponent = 0;
    bool full = false, fraction = false;
    std::size_t i = 0;
    for (; i < literal.size() && literal[i] != 'e' && literal[i] != 'E'; ++i) {
        if (literal[i] == '.') {
            fraction = true;
            continue;
        }
        std::uint64_t next = 0;
        full = full || __builtin_mul_overflow(digits, std::uint64_t(10), &next)
            || __builtin_add_overflow(next, static_cast<std::uint64_t>(literal[i] - '0'), &next);
        if (!full)
            digits = next;
        exponent += full ? (fraction ? 0 : 1) : (fraction ? -1 : 0);
    }
    if (i < literal.size()) {
        int written = 0;
        const std::size_t sign = literal[i + 1] == '+' ? 1 : 0;
        std::from_chars(literal.data() + i + 1 + sign, literal.data() + literal.size(), written);
        exponent += written;
    }
    static constexpr int largest = 308; // of the powers of ten in a double
    auto value = static_cast<double>(digits);
    for (; exponent < -largest && value != 0; exponent += largest)
        value /= 1e308;
    const double power = std::pow(10.0, std::min(std::abs(exponent), largest));
    value = exponent < 0 ? value / power : value * power;
    return negative ? -value : value;
}

Result<TokenModelPtr> makeUnigram(Value model)
{
    const Value vocab = model["vocab"];
    if (!vocab.isArray())
        return malformedPart("tokenizer model", vocab ? vocab : model, "a list `vocab` of pieces and scores");
    std::vector<UnigramModel::Entry> entries;
    entries.reserve(vocab.size());
    for (const Value entry : vocab) {
        const auto piece = entry[0].string();
        if (!piece || !entry[1].isNumber())
            return malformedPart("tokenizer model", entry, "[piece, score]");
        entries.push_back({std::move(*piece), serdeNumber(entry[1].raw())});
    }
    const Value unknown = model["unk_id"];
    if (unknown.isSet() && !unknown.integer())
        return malformedPart("tokenizer model", unknown, "an id or null");
    auto unigram = UnigramModel::make(std::move(entries),
                                      unknown.isSet() ? static_cast<std::uint32_t>(*unknown.integer()) : Vocabulary::none,
                                      model["byte_fallback"].boolean().value_or(false));
    if (!unigram)
        return unigram.error();
    return TokenModelPtr(std::move(*unigram));
}

Result<TokenModelPtr> makeWordModel(Value model, bool pieces)
{
    auto vocabulary = readVocabulary(model);
    if (!vocabulary)
        return vocabulary.error();
    auto unknown = model["unk_token"].string(pieces ? "[UNK]" : "<unk>");
    if (!pieces)
        return TokenModelPtr(std::make_shared<WordLevelModel>(std::move(*vocabulary), std::move(unknown)));
    const auto longest = model["max_input_chars_per_word"].integer().value_or(100);
    return TokenModelPtr(std::make_shared<WordPieceModel>(std::move(*vocabulary), std::move(unknown),
                                                          model["continuing_subword_prefix"].string("##"),
                                                          static_cast<std::size_t>(std::max<std::int64_t>(longest, 0))));
}

/// Files written before models named their type: told apart by their members, in this order.
std::string inferType(Value model)
{
    if (model["merges"])
        return "BPE";
    if (model["vocab"].isArray())
        return "Unigram";
    return model["continuing_subword_prefix"] ? "WordPiece" : "WordLevel";
}

} // namespace

Result<TokenModelPtr> makeTokenModel(Value model, bool rawBytes)
{
    if (!model.isObject())
        return malformedPart("tokenizer model", model, "an object `model`");
    const std::string type = model["type"].string(inferType(model));
    if (type == "BPE")
        return makeBpe(model, rawBytes);
    if (type == "Unigram")
        return makeUnigram(model);
    if (type == "WordPiece" || type == "WordLevel")
        return makeWordModel(model, type == "WordPiece");
    return Error{Errc::Unsupported, "tokenizer model", model["type"].anchor(), "BPE, Unigram, WordPiece or WordLevel",
                 '"' + toValidUtf8(type) + '"'};
}

} // namespace prosector
