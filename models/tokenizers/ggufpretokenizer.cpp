// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/ggufpretokenizer.h"

#include "models/core/utf8.h"
#include "models/tokenizers/unicode.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

// Pieces that many expressions share.
#define CONTRACTIONS "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"
#define LINES R"(\s*[\r\n]+|\s+(?!\S)|\s+)"
#define WORDS_AND(numbers) "(?:" CONTRACTIONS R"()|[^\r\n\p{L}\p{N}]?\p{L}+|)" numbers R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|)" LINES
#define CASED(letter)                                                                                                  \
    R"([^\r\n\p{L}\p{N}]?((?=[)" letter R"(])([^a-z]))*((?=[)" letter R"(])([^A-Z]))+(?:)" CONTRACTIONS                \
    R"()?|[^\r\n\p{L}\p{N}]?((?=[)" letter R"(])([^a-z]))+((?=[)" letter R"(])([^A-Z]))*(?:)" CONTRACTIONS             \
    R"()?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" LINES

// The last alternative is not in the source's text: what is left between matches is a piece all the same.
constexpr std::string_view gpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view llama3 = WORDS_AND(R"(\p{N}{1,3})");
constexpr std::string_view qwen2 = WORDS_AND(R"(\p{N})");
constexpr std::string_view deepSeek3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)" LINES;
constexpr std::string_view chineseAndKana = "[一-龥぀-ゟ゠-ヿ]+";
constexpr std::string_view upperLower =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?:)" CONTRACTIONS
    R"()?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?:)" CONTRACTIONS ")?|";
constexpr std::string_view spark =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+)";
// \p{Han} stands for llama.cpp's own list of blocks, whose characters are letters of no other kind here.
constexpr std::string_view kimi =
    R"(\p{Han}+|[^\r\n\p{L}\p{N}\p{Han}]?\p{L}+(?:'[sStTmMdD]|'[rR][eE]|'[vV][eE]|'[lL][lL])?|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}\p{Han}]+[\r\n]*|)" LINES;
// Escaped where a character has an equal in another block that editors and converters put in its place.
constexpr std::string_view scripts =
    "[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿ\\x{386}\\x{388}-\\x{38a}\\x{38c}\\x{38e}-Ρ\\x{3a3}-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚ"
    "\\x{1e00}-\\x{1f15}\\x{1f18}-\\x{1f1d}\\x{1f20}-\\x{1f45}\\x{1f48}-\\x{1f4d}\\x{1f50}-\\x{1f57}\\x{1f59}\\x{1f5b}\\x{1f5d}"
    "\\x{1f5f}-\\x{1f7d}\\x{1f80}-\\x{1fb4}\\x{1fb6}-\\x{1fbc}\\x{1fbe}\\x{1fc2}-\\x{1fc4}\\x{1fc6}-\\x{1fcc}\\x{1fd0}-\\x{1fd3}"
    "\\x{1fd6}-\\x{1fdb}\\x{1fe0}-\\x{1fec}\\x{1ff2}-\\x{1ff4}\\x{1ff6}-\\x{1ffc}\\x{2102}\\x{2107}\\x{210a}-\\x{2113}\\x{2115}"
    "\\x{2119}-\\x{211d}\\x{2124}\\x{2126}\\x{2128}\\x{212a}-\\x{212d}\\x{212f}-\\x{2134}\\x{2139}\\x{213c}-\\x{213f}\\x{2145}-\\x{2149}"
    "\\x{214e}\\x{2183}\\x{2184}Ⰰ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ"
    "𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+";
constexpr std::string_view afmoeScripts =
    R"([\x{4e00}-\x{9fff}\x{3400}-\x{4dbf}\x{f900}-\x{faff}\x{3040}-\x{309f}\x{30a0}-\x{30ff}\x{ff65}-\x{ff9f}\x{2f00}-\x{2fdf})"
    R"(\x{e40}-\x{e7f}\x{e80}-\x{eff}\x{1780}-\x{17ff}\x{1000}-\x{109f}\x{aa60}-\x{aa7f}\x{a9e0}-\x{a9ff}\x{ac00}-\x{d7af}\x{1100}-\x{11ff}]+)";
constexpr std::string_view lineOrNot = R"([^\n]+|[\n]+)";
/// Stands for the one rule that is no expression: digits in threes from the right.
constexpr std::string_view digitsFromRight = "digits";

std::vector<std::string> expressionsOf(GgufSplit split)
{
    const auto list = [](std::initializer_list<std::string_view> parts) { return std::vector<std::string>(parts.begin(), parts.end()); };
    switch (split) {
    case GgufSplit::Default: return list({R"([\p{P}\$\+<=>\^~\|]+)", gpt2, R"(\p{N}+)", "[0-9][0-9][0-9]"});
    case GgufSplit::Llama3: return list({llama3});
    case GgufSplit::Jais2:
        return list({"(?:" CONTRACTIONS R"()|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)"
                     R"(\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|)"
                     R"(\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})"});
    case GgufSplit::DeepSeekLlm:
        return list({"[\r\n]", std::string("\\s?") + std::string(scripts), R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)", R"(\s+$)",
                     "[一-龥ࠀ-一가-퟿]+", R"(\p{N}+)"});
    case GgufSplit::DeepSeekCoder: return list({"[\r\n]", R"(\s?\p{L}+)", R"(\s?\p{P}+)", "[一-龥ࠀ-一가-퟿]+", R"(\p{N})"});
    case GgufSplit::DeepSeek3: return list({R"(\p{N}{1,3})", chineseAndKana, deepSeek3});
    case GgufSplit::Spark25: return list({R"(\p{N}{1,3})", chineseAndKana, spark, R"(\p{N})"});
    case GgufSplit::Youtu:
        return list({"[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+",
                     std::string(upperLower) + R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" LINES});
    case GgufSplit::Falcon: return list({R"([\p{P}\$\+<=>\^~\|`]+)", gpt2, "[0-9][0-9][0-9]"});
    case GgufSplit::StarCoder: return list({R"(\p{N})", gpt2});
    case GgufSplit::Gpt2: return list({gpt2});
    case GgufSplit::Qwen2: return list({qwen2});
    case GgufSplit::Qwen35:
        return list({"(?:" CONTRACTIONS R"()|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" LINES});
    case GgufSplit::Poro: return list({R"( ?[^(\s|.,!?…。，、।۔،)]+)"});
    case GgufSplit::Viking: return list({R"( ?[^(\s|.,!?…。，、।۔،)]+)", R"(\p{N})"});
    case GgufSplit::Tekken:
        return list({R"([^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))*((?=[\p{L}])([^A-Z]))+|)"
                     R"([^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))+((?=[\p{L}])([^A-Z]))*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" LINES});
    case GgufSplit::Chameleon:
        return list({"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", "([\\t\\n]|    |  )", R"(\p{N})",
                     R"([\p{P}!-/:-@\[-`{-~])", gpt2});
    case GgufSplit::Gpt4o: return list({CASED(R"(\p{L})")});
    case GgufSplit::GraniteMulti: return list({CASED(R"(\p{L}\p{M})")});
    case GgufSplit::TinyAya:
        return list({R"(\d{1,3}(?=(?:\d{3})*\b))", std::string(upperLower) + R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" LINES});
    case GgufSplit::KimiK2: return list({kimi});
    case GgufSplit::SuperBpe: return list({R"(\p{N}+)", R"((?=(\d{3})+(?!\d)))"});
    case GgufSplit::BailingMoe:
        return list({R"('(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
                     R"(\s*[\r\n]|\s+(?!\S)|\s+)"});
    case GgufSplit::SeedCoder:
        return list({"(?:" CONTRACTIONS R"()|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|)" LINES});
    case GgufSplit::Ufakzeka: return list({R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" LINES});
    case GgufSplit::Afmoe: return list({digitsFromRight, afmoeScripts, deepSeek3});
    case GgufSplit::Laguna: return list({lineOrNot, qwen2});
    case GgufSplit::ExaoneMoe:
        return list({"(?:" CONTRACTIONS R"()|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|)"
                     R"(\s*[\r\n]|\s+(?!\S)|\s+)"});
    case GgufSplit::Gemma4:
    case GgufSplit::SarvamMoe: return list({lineOrNot});
    case GgufSplit::MiniCpm5: return list({R"(\p{N}{1,3})", WORDS_AND(R"(\p{N}+)")});
    case GgufSplit::Whitespace: return list({R"(\S+)"});
    }
    return {};
}

using Split = GgufSplit;
constexpr std::array preTokenizers = std::to_array<GgufPreTokenizer>({
    {"default", Split::Default},
    {.name = "minicpm5", .split = Split::MiniCpm5, .ignoreMerges = true},
#define LLAMA3(text) {.name = text, .split = Split::Llama3, .ignoreMerges = true, .addBos = true}
    LLAMA3("llama3"), LLAMA3("llama-v3"), LLAMA3("llama-bpe"), LLAMA3("falcon3"), LLAMA3("falcon-h1"), LLAMA3("pixtral"),
    LLAMA3("midm-2.0"), LLAMA3("lfm2"), LLAMA3("jina-v5-nano"),
    {"deepseek-llm", Split::DeepSeekLlm, false},
    {"deepseek-coder", Split::DeepSeekCoder, false},
    {"deepseek-v3", Split::DeepSeek3, false},
    {"spark2_5", Split::Spark25, false},
    {"youtu", Split::Youtu, false, true},
    {"falcon", Split::Falcon},
    {"mpt", Split::Gpt2},
    {"starcoder", Split::StarCoder},
    {"gpt-2", Split::Gpt2}, {"phi-2", Split::Gpt2}, {"jina-es", Split::Gpt2}, {"jina-de", Split::Gpt2},
    {"gigachat", Split::Gpt2}, {"jina-v2-es", Split::Gpt2}, {"jina-v2-de", Split::Gpt2}, {"a.x-4.0", Split::Gpt2},
    {"mellum", Split::Gpt2}, {"modern-bert", Split::Gpt2}, {"exaone4", Split::Gpt2}, {"olmo", Split::Gpt2}, {"jais", Split::Gpt2},
    {"jais-2", Split::Jais2},
    {.name = "gemma4", .split = Split::Gemma4, .escapeSpaces = true},
    {.name = "granite-embed-multi-311m", .split = Split::Gemma4, .escapeSpaces = true},
    {.name = "sarvam-moe", .split = Split::SarvamMoe, .cleanSpaces = false, .escapeSpaces = true},
    {.name = "jina-v1-en", .split = Split::Gpt2, .addSep = true},
    {.name = "jina-v2-code", .split = Split::Gpt2, .addSep = true},
    {.name = "roberta-bpe", .split = Split::Gpt2, .addSep = true},
    {"whitespace", Split::Whitespace},
    {"refact", Split::StarCoder},
    {"command-r", Split::StarCoder, false},
    {"qwen2", Split::Qwen2, false}, {"deepseek-r1-qwen", Split::Qwen2, false}, {"kormo", Split::Qwen2, false},
    {"f2llmv2", Split::Qwen2, false},
    {"qwen35", Split::Qwen35, false},
    {"stablelm2", Split::Qwen2},
    {"dbrx", Split::Llama3}, {"smaug-bpe", Split::Llama3},
    {"poro-chat", Split::Poro, false},
    {.name = "glm4", .split = Split::Llama3, .noBos = true},
    {.name = "chatglm-bpe", .split = Split::Llama3, .noBos = true},
    {"viking", Split::Viking, false},
    {.name = "tekken", .split = Split::Tekken, .cleanSpaces = false, .ignoreMerges = true, .addBos = true},
    {"smollm", Split::StarCoder, false},
    {"codeshell", Split::StarCoder},
    {"bloom", Split::Poro}, {"gpt3-finnish", Split::Poro},
    {"exaone", Split::StarCoder},
    {"exaone-moe", Split::ExaoneMoe},
    {.name = "chameleon", .split = Split::Chameleon, .cleanSpaces = false, .addBos = true},
    {"minerva-7b", Split::StarCoder},
    {"megrez", Split::Qwen2},
    {"gpt-4o", Split::Gpt4o, false}, {"llama4", Split::Gpt4o, false}, {"kanana2", Split::Gpt4o, false}, {"talkie", Split::Gpt4o, false},
    {"granite-embed-multi-97m", Split::GraniteMulti, false, true},
    {"tiny_aya", Split::TinyAya, false}, {"cohere2moe", Split::TinyAya, false},
    {"superbpe", Split::SuperBpe, false},
    {"trillion", Split::Gpt2, false}, {"granite-docling", Split::Gpt2, false},
    {"bailingmoe", Split::BailingMoe, false}, {"bailingmoe2", Split::BailingMoe, false}, {"llada-moe", Split::BailingMoe, false},
    {"seed-coder", Split::SeedCoder, false},
    {"hunyuan", Split::Qwen2, false},
    {"hunyuan-dense", Split::DeepSeek3, false}, {"hy_v4", Split::DeepSeek3, false}, {"joyai-llm", Split::DeepSeek3, false},
    {"kimi-k2", Split::KimiK2, false},
    {"ufakzeka", Split::Ufakzeka, false},
    {"grok-2", Split::Qwen2, false},
    {"afmoe", Split::Afmoe, false},
    {"laguna", Split::Laguna, false},
    {"minimax-m2", Split::Gpt4o, false},
    {"solar-open", Split::Qwen2, false},
    {"mellum2", Split::StarCoder},
});

/// Stand-ins for the characters beyond ASCII of a category (unicode.cpp, unicode_regex_split).
enum Collapsed : unsigned char { Other = 0xD0, Number, Letter, Punctuation, Mark, Symbol, Han };

bool isHan(char32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF)
        || (c >= 0x2A700 && c <= 0x2EBEF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

char collapse(char32_t c, bool hanApart)
{
    if (c < 0x80)
        return static_cast<char>(c);
    if (isWhiteSpace(c))
        return '\v';
    if (hanApart && isHan(c))
        return static_cast<char>(Han);
    switch (categoryOf(c)) {
    case Category::Number: return static_cast<char>(Number);
    case Category::Letter: return static_cast<char>(Letter);
    case Category::Punctuation: return static_cast<char>(Punctuation);
    case Category::Mark: return static_cast<char>(Mark);
    case Category::Symbol: return static_cast<char>(Symbol);
    default: return static_cast<char>(Other);
    }
}

/// What stands for \p{name} inside a class: the stand-in and the ASCII characters of the category.
std::string_view membersOf(std::string_view name)
{
    if (name == "N")
        return "\xD1" "0-9";
    if (name.starts_with('L'))
        return "\xD2" "A-Za-z";
    if (name == "P")
        return "\xD3" "!-#%-*,-/:-;?-@\\[-\\]_\\{\\}";
    if (name == "M")
        return "\xD4";
    if (name == "S")
        return "\xD5\\$\\+<->^`\\|";
    return name == "Han" ? "\xD6" : "";
}

/// The expression over stand-ins.
std::string collapseExpression(std::string_view source)
{
    std::string out;
    bool inside = false;
    for (std::size_t i = 0; i < source.size(); ++i) {
        const char c = source[i];
        if (c == '\\' && source.substr(i + 1, 2) == "p{") {
            const auto close = source.find('}', i);
            out += inside ? "" : "[";
            out += membersOf(source.substr(i + 3, close - i - 3));
            out += inside ? "" : "]";
            i = close;
            continue;
        }
        out += c;
        if (c == '\\' && i + 1 < source.size())
            out += source[++i];
        else if (c == '[')
            inside = true;
        else if (c == ']')
            inside = false;
    }
    return out;
}

struct SubjectText {
    std::string text;
    std::vector<std::uint32_t> places; ///< of each byte of `text` and its end: the character, counted from 0
};

/// The ends of the pieces of [begin, end) where these digits are cut in threes from the right. Whatever
/// stands in front goes with the first group, as llama.cpp has it.
void cutDigits(const std::vector<char32_t> &characters, std::size_t begin, std::size_t end, std::vector<std::size_t> &ends)
{
    std::size_t last = begin;
    for (std::size_t at = begin; at < end;) {
        if (!isNumeric(characters[at])) {
            ++at;
            continue;
        }
        std::size_t stop = at;
        while (stop < end && isNumeric(characters[stop]))
            ++stop;
        for (std::size_t group = at + (stop - at) % 3; group <= stop; group += 3) {
            if (group > at)
                ends.push_back(last = group);
        }
        at = stop;
    }
    if (last < end)
        ends.push_back(end);
}

} // namespace

const GgufPreTokenizer *findGgufPreTokenizer(std::string_view name)
{
    const auto wanted = name.empty() ? "default" : name;
    const auto *const found = std::find_if(preTokenizers.begin(), preTokenizers.end(), [&](const auto &p) { return p.name == wanted; });
    return found == preTokenizers.end() ? nullptr : found;
}

Result<GgufSplitter> GgufSplitter::make(GgufSplit split)
{
    GgufSplitter splitter;
    splitter.m_byteAlphabet = split != GgufSplit::Gemma4 && split != GgufSplit::SarvamMoe && split != GgufSplit::Whitespace;
    splitter.m_hanApart = split == GgufSplit::KimiK2;
    for (const std::string &expression : expressionsOf(split)) {
        if (expression == digitsFromRight) {
            splitter.m_steps.push_back({Subject::Digits, Pattern::literal({})});
            continue;
        }
        const bool categories = expression.find("\\p{") != std::string::npos;
        auto pattern = categories ? Pattern::compilePlain(collapseExpression(expression), Pattern::Unit::Byte)
                                  : Pattern::compilePlain(expression, Pattern::Unit::Character);
        if (!pattern)
            return pattern.error();
        splitter.m_steps.push_back({categories ? Subject::Categories : Subject::Text, std::move(*pattern)});
    }
    return splitter;
}

Result<void> GgufSplitter::cut(std::string_view text, std::vector<std::size_t> &out) const
{
    std::vector<char32_t> characters;
    std::vector<std::size_t> offsets; // of each character and of the end
    for (std::size_t i = 0; i < text.size();) {
        const CodePoint c = decodeUtf8(text, i);
        characters.push_back(c.value);
        offsets.push_back(i);
        i += c.length;
    }
    offsets.push_back(text.size());

    SubjectText categories, plain; // made when first needed
    std::vector<std::size_t> ends{characters.size()}, next;
    std::vector<Pattern::Range> matches;
    if (characters.empty())
        return {};
    for (const Step &step : m_steps) {
        SubjectText &subject = step.subject == Subject::Categories ? categories : plain;
        if (subject.places.empty() && step.subject != Subject::Digits) {
            for (std::uint32_t i = 0; i < characters.size(); ++i) {
                const char32_t c = characters[i];
                if (step.subject == Subject::Categories)
                    subject.text += collapse(c, m_hanApart);
                else
                    appendUtf8(subject.text, c > 0x7F && isWhiteSpace(c) ? U'\v' : c);
                subject.places.resize(subject.text.size(), i);
            }
            subject.places.push_back(static_cast<std::uint32_t>(characters.size()));
        }
        next.clear();
        std::size_t begin = 0, at = 0; // in characters, in bytes of the subject
        for (const std::size_t end : ends) {
            if (step.subject == Subject::Digits) {
                cutDigits(characters, begin, end, next);
                begin = end;
                continue;
            }
            const auto stop = static_cast<std::size_t>(std::lower_bound(subject.places.begin() + static_cast<std::ptrdiff_t>(at),
                                                                        subject.places.end(), end) - subject.places.begin());
            if (auto done = step.pattern.findAll(std::string_view(subject.text).substr(at, stop - at), matches); !done)
                return done;
            std::size_t last = begin;
            const auto put = [&](std::size_t place) {
                if (place > last)
                    next.push_back(last = place);
            };
            for (const auto &match : matches) {
                put(subject.places[at + match.begin]);
                put(subject.places[at + match.end]);
            }
            put(end);
            begin = end;
            at = stop;
        }
        ends.swap(next);
    }
    for (const std::size_t end : ends)
        out.push_back(offsets[end]);
    return {};
}

} // namespace prosector
