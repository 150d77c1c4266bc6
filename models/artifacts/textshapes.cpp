// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/textshapes.h"

#include "models/artifacts/logline.h"

#include "models/artifacts/jsonread.h"
#include "models/artifacts/shapes.h"
#include "models/core/ascii.h"
#include "models/core/utf8.h"
#include "models/core/wording.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace prosector {

namespace {

constexpr std::size_t linesLookedAt = 200;
constexpr std::size_t bytesLookedAt = 64 * 1024;

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Leading text that fits a picture: `0` a digit, anything else itself.
bool beginsLike(std::string_view text, std::string_view picture)
{
    if (text.size() < picture.size())
        return false;
    for (std::size_t i = 0; i < picture.size(); ++i) {
        if (picture[i] == '0' ? !isDigit(text[i]) : text[i] != picture[i])
            return false;
    }
    return true;
}

std::string withoutColours(std::string_view line)
{
    std::string plain;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\x1B' && i + 1 < line.size() && line[i + 1] == '[') {
            i = std::min(line.find_first_not_of("0123456789;?", i + 2), line.size());
            continue;
        }
        plain += line[i];
    }
    return plain;
}

// ---- logs ----------------------------------------------------------------------------------------

/// Engines print where a line comes from; these prefixes are theirs (llama.cpp names its functions).
constexpr std::array logPrefixes = std::to_array<std::string_view>({
    "llama_", "ggml_", "print_info:", "load_tensors:", "load:", "main:", "build:", "srv ", "slot ", "common_init",
    "system_info:", "gguf_", "clip_model_loader:", "que ", "sched_reserve:", "set_warmup", "[GIN]", "(EngineCore",
    "(APIServer", "(Worker", "(VllmWorker", "Traceback (most recent call last)", "INFO:", "Some weights of ",
    "Loading checkpoint shards", "Setting `pad_token_id`", "Special tokens have been added", "The attention mask",
});

/// llama.cpp's `12.34.567.890 `: minutes, seconds, milliseconds, microseconds since the start.
bool beginsWithRunTime(std::string_view line)
{
    const auto minutes = line.find_first_not_of("0123456789");
    return minutes != 0 && minutes != std::string_view::npos && beginsLike(line.substr(minutes), ".00.000.000 ");
}

bool isBareLogLine(std::string_view line)
{
    for (const std::string_view level : {"INFO", "WARNING", "WARN", "ERROR", "DEBUG", "TRACE", "CRITICAL", "FATAL"}) {
        if (line.starts_with(level) && (line.size() == level.size() || !std::isalnum(static_cast<unsigned char>(line[level.size()]))))
            return true;
        if (line.starts_with('[') && line.substr(1).starts_with(level))
            return true;
    }
    if (std::any_of(logPrefixes.begin(), logPrefixes.end(), [&](auto prefix) { return line.starts_with(prefix); }))
        return true;
    if (contains(line, "time=") && contains(line, " level="))
        return true;
    const auto stamp = line.substr(line.starts_with('[') || line.starts_with('(') ? 1 : 0);
    if (contains(line.substr(0, 100), ",") && !contains(line.substr(0, 100), " ")) // a row of values
        return false;
    return beginsLike(stamp, "0000-00-00 00:00") || beginsLike(stamp, "0000-00-00T00:00")
           || beginsLike(stamp, "00-00 00:00:00") || beginsLike(stamp, "0000/00/00 00:00")
           || beginsLike(line, "00:00:00 ") || beginsWithRunTime(line);
}

/// With or without what collectors put first.
bool isLogLine(std::string_view line)
{
    if (isBareLogLine(line))
        return true;
    for (std::size_t cut = collectorPrefix(line); cut > 0; cut = collectorPrefix(line)) {
        line.remove_prefix(cut);
        if (isBareLogLine(line))
            return true;
    }
    for (const std::string_view end : {" | ", "] ", "]: "}) {
        const auto at = line.substr(0, 64).find(end);
        if (at != std::string_view::npos && isBareLogLine(line.substr(at + end.size())))
            return true;
    }
    return false;
}

int logPoints(const TextHead &head)
{
    const auto matched = static_cast<std::size_t>(std::count_if(head.lines.begin(), head.lines.end(), isLogLine));
    if (matched == 0)
        return 0;
    if (matched * 2 >= head.filled)
        return matched >= 2 ? 8 : 5;
    return matched >= 3 ? 4 : 1;
}

// ---- streams, metrics, tables --------------------------------------------------------------------

int ssePoints(const TextHead &head)
{
    std::size_t fields = 0, data = 0;
    for (const std::string_view line : head.lines) {
        data += line.starts_with("data:");
        fields += line.starts_with("data:") || line.starts_with("event:") || line.starts_with("id:")
                  || line.starts_with("retry:") || line.starts_with(':');
    }
    return data > 0 && fields == head.filled ? 10 : data >= 2 && fields * 2 > head.filled ? 6 : 0;
}

/// `name{label="x"} 1.5 [timestamp]`
bool isSample(std::string_view line)
{
    std::size_t i = 0;
    while (i < line.size() && (std::isalnum(static_cast<unsigned char>(line[i])) || line[i] == '_' || line[i] == ':'))
        ++i;
    if (i == 0 || isDigit(line[0]) || i == line.size())
        return false;
    if (line[i] == '{') {
        i = line.rfind('}');
        if (i == std::string_view::npos)
            return false;
        ++i;
    }
    i = line.find_first_not_of(' ', i);
    return i != std::string_view::npos && line[i - 1] == ' '
           && (isDigit(line[i]) || line[i] == '+' || line[i] == '-' || line.substr(i).starts_with("NaN")
               || line.substr(i).starts_with("Inf"));
}

int prometheusPoints(const TextHead &head)
{
    std::size_t comments = 0, samples = 0;
    for (const std::string_view line : head.lines) {
        comments += line.starts_with("# HELP ") || line.starts_with("# TYPE ") || line == "# EOF";
        samples += isSample(line);
    }
    if (comments > 0 && (comments + samples) * 10 >= head.filled * 9)
        return 10;
    return samples >= 2 && samples == head.filled ? 5 : 0;
}

/// Fields of a line that has no quotes to speak of, or 0.
std::size_t fieldCount(std::string_view line, char separator)
{
    std::size_t fields = 1;
    bool quoted = false;
    for (const char c : line) {
        if (c == '"')
            quoted = !quoted;
        fields += c == separator && !quoted;
    }
    return quoted ? 0 : fields;
}

int tablePoints(const TextHead &head, char separator)
{
    std::vector<std::string_view> rows;
    for (const std::string_view line : head.lines) {
        if (!line.empty())
            rows.push_back(line);
        if (rows.size() == 20)
            break;
    }
    if (rows.empty())
        return 0;
    const auto columns = fieldCount(rows[0], separator);
    if (columns < 2)
        return 0;
    const auto same = std::count_if(rows.begin(), rows.end(), [&](auto row) { return fieldCount(row, separator) == columns; });
    if (static_cast<std::size_t>(same) != rows.size())
        return 0;
    // A heading holds names, and prose holds blanks after its commas.
    const bool heading = !isDigit(rows[0][0]) && !contains(rows[0], ", ") && !contains(rows[0], "{");
    return heading && rows.size() > 1 ? 6 : 1;
}

bool headingHas(const TextHead &head, std::string_view words)
{
    if (head.lines.empty())
        return false;
    const std::string heading = asciiLower(head.lines[0]);
    for (std::size_t begin = 0; begin < words.size();) {
        const auto end = std::min(words.find('|', begin), words.size());
        if (!contains(heading, words.substr(begin, end - begin)))
            return false;
        begin = end + 1;
    }
    return true;
}

int csvPoints(const TextHead &head)
{
    return std::max(tablePoints(head, ','), std::max(tablePoints(head, '\t'), tablePoints(head, ';')));
}

/// A table whose heading holds all these words, or any of several such lists.
template<std::size_t N>
int tableWith(const TextHead &head, const std::string_view (&lists)[N])
{
    const int points = csvPoints(head);
    if (points < 6)
        return 0;
    return std::any_of(std::begin(lists), std::end(lists), [&](auto words) { return headingHas(head, words); }) ? points + 2 : 0;
}

int requestTable(const TextHead &head)
{
    return tableWith(head, {"contexttokens|generatedtokens", "request tokens|response tokens", "request_id|status",
                            "request_id|start", "request_id|arriv", "request_id|latency", "request_id|ttft"});
}
int weightTable(const TextHead &head) { return tableWith(head, {"tensor,|min|max", "tensor,|abs_max", "name,|dtype|min|max"}); }
int trainingTable(const TextHead &head) { return tableWith(head, {"step,|loss", "epoch|loss", "step|learning_rate"}); }
int metricTable(const TextHead &head) { return tableWith(head, {"time|value", "timestamp|metric"}); }
int cacheTable(const TextHead &head) { return tableWith(head, {"key|hit", "block_hash|event"}); }
int kvTable(const TextHead &head) { return tableWith(head, {"slot|owner", "block|refcount"}); }
int sampleTable(const TextHead &head) { return tableWith(head, {"item|gold", "item|correct", "question|answer|score", "doc_id|target"}); }
int verdictTable(const TextHead &head) { return tableWith(head, {"pair|verdict", "pair|winner"}); }
int sweepTable(const TextHead &head) { return tableWith(head, {"concurrency|ttft", "batch_size|throughput", "sweep"}); }

// ---- tokenizer files, templates, prompts ---------------------------------------------------------

int mergesPoints(const TextHead &head)
{
    if (head.lines.size() < 2)
        return 0;
    std::size_t pairs = 0, other = 0;
    for (std::size_t i = head.lines[0].starts_with("#version") ? 1 : 0; i < head.lines.size(); ++i) {
        const auto line = head.lines[i];
        const auto blank = line.find(' ');
        if (blank != std::string_view::npos && blank > 0 && blank + 1 < line.size() && !contains(line.substr(blank + 1), " "))
            ++pairs;
        else if (!line.empty())
            ++other;
    }
    if (head.lines[0].starts_with("#version"))
        return other == 0 ? 10 : 4;
    return pairs > 20 && other == 0 ? 3 : 0;
}

int wordpiecePoints(const TextHead &head)
{
    const auto has = [&](std::string_view token) { return std::find(head.lines.begin(), head.lines.end(), token) != head.lines.end(); };
    const bool single = std::none_of(head.lines.begin(), head.lines.end(), [](auto line) { return contains(line, " "); });
    if (!single)
        return 0;
    return has("[PAD]") || (has("[UNK]") && has("[CLS]")) || (has("<s>") && has("</s>")) ? 8 : head.lines.size() > 20 ? 1 : 0;
}

bool isRank(std::string_view line)
{
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos || blank < 4 || blank % 4 != 0 || blank + 1 == line.size())
        return false;
    const bool base64 = std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(blank), [](unsigned char c) {
        return std::isalnum(c) || c == '+' || c == '/' || c == '=';
    });
    return base64 && std::all_of(line.begin() + static_cast<std::ptrdiff_t>(blank) + 1, line.end(), isDigit);
}

int tiktokenPoints(const TextHead &head)
{
    const auto ranks = static_cast<std::size_t>(std::count_if(head.lines.begin(), head.lines.end(), isRank));
    return ranks >= 3 && ranks == head.filled ? 10 : 0;
}

int jinjaPoints(const TextHead &head)
{
    if (!contains(head.text, "{%") && !contains(head.text, "{{"))
        return 0;
    for (const std::string_view word : {"messages", "add_generation_prompt", "bos_token", "message['role']", "message.role"}) {
        if (contains(head.text, word))
            return contains(head.text, "{%") ? 9 : 5;
    }
    return 1;
}

int modelfilePoints(const TextHead &head)
{
    const auto has = [&](std::string_view word) {
        return std::any_of(head.lines.begin(), head.lines.end(), [&](auto line) { return line.starts_with(word); });
    };
    return has("FROM ") && (has("TEMPLATE ") || has("PARAMETER ") || has("SYSTEM ")) ? 9 : 0;
}

int promptPoints(const TextHead &head)
{
    for (const std::string_view mark : {"<|im_start|>", "<|start_header_id|>", "<start_of_turn>", "[INST]", "<|user|>",
                                        "<|begin_of_text|>", "<｜User｜>", "<|start|>", "<|im_end|>", "<｜begin▁of▁sentence｜>"}) {
        if (contains(head.text, mark))
            return 3;
    }
    return 0;
}

constexpr std::array table = std::to_array<TextShape>({
    {"sse", Kind::SseStream, "*.sse", ssePoints},
    {"prometheus", Kind::MetricHistory, "*.prom *.metrics metrics*.txt", prometheusPoints},
    {"log", Kind::StartupLog, "*.log *.log.* *log.txt *.err stderr* stdout*", logPoints, true},
    {"csv", Kind::RequestLog, "*.csv *.tsv", requestTable},
    {"csv", Kind::WeightStats, "*.csv *.tsv", weightTable},
    {"csv", Kind::TrainingLog, "*.csv *.tsv", trainingTable},
    {"csv", Kind::CacheLog, "*.csv *.tsv", cacheTable},
    {"csv", Kind::KvCacheTable, "*.csv *.tsv", kvTable},
    {"csv", Kind::EvalSamples, "*.csv *.tsv", sampleTable},
    {"csv", Kind::JudgeVerdicts, "*.csv *.tsv", verdictTable},
    {"csv", Kind::Sweep, "*.csv *.tsv", sweepTable},
    {"csv", Kind::MetricHistory, "*.csv *.tsv", metricTable},
    {"csv", Kind::Data, "*.csv *.tsv", csvPoints, true},
    {"merges", Kind::TokenizerFiles, "merges.txt *-merges.txt", mergesPoints, true},
    {"wordpiece_vocab", Kind::TokenizerFiles, "vocab.txt *-vocab.txt", wordpiecePoints, true},
    {"tiktoken", Kind::TokenizerFiles, "*.tiktoken", tiktokenPoints, true},
    {"chat_template", Kind::ChatTemplate, "*.jinja *.jinja2 *.j2 chat_template*", jinjaPoints, true},
    {"modelfile", Kind::ConfigFiles, "modelfile *.modelfile modelfile.*", modelfilePoints, true},
    {"rendered_prompt", Kind::RenderedPrompt, "rendered_prompt* *prompt.txt rendered*.txt", promptPoints, true},
});

TextHead cut(std::string_view name, std::string_view text)
{
    TextHead head{name, text.substr(0, bytesLookedAt), {}, {}, 0};
    head.owned.reserve(linesLookedAt);
    for (std::size_t begin = 0; begin < head.text.size() && head.owned.size() < linesLookedAt;) {
        const auto end = head.text.find('\n', begin);
        if (end == std::string_view::npos && text.size() > bytesLookedAt && begin > 0)
            break; // the last line looked at is cut
        auto line = withoutColours(head.text.substr(begin, std::min(end, head.text.size()) - begin));
        while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
            line.pop_back();
        head.filled += !line.empty();
        head.owned.push_back(std::move(line));
        begin = end == std::string_view::npos ? head.text.size() : end + 1;
    }
    head.lines.assign(head.owned.begin(), head.owned.end());
    return head;
}

bool isUtf16(std::string_view text)
{
    return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
}

std::string fromUtf16(std::string_view bytes)
{
    const bool little = bytes[0] == '\xFF';
    const auto unit = [&](std::size_t i) {
        const auto a = static_cast<unsigned char>(bytes[i]), b = static_cast<unsigned char>(bytes[i + 1]);
        return static_cast<char32_t>(little ? a | b << 8 : a << 8 | b);
    };
    std::string text;
    text.reserve(bytes.size() / 2);
    for (std::size_t i = 2; i + 1 < bytes.size(); i += 2) {
        char32_t c = unit(i);
        if (c >= 0xD800 && c < 0xDC00 && i + 3 < bytes.size() && unit(i + 2) >= 0xDC00 && unit(i + 2) < 0xE000) {
            c = 0x10000 + ((c - 0xD800) << 10) + (unit(i + 2) - 0xDC00);
            i += 2;
        } else if (c >= 0xD800 && c < 0xE000) {
            c = 0xFFFD;
        }
        appendUtf8(text, c);
    }
    return text;
}

} // namespace

std::span<const TextShape> textShapes()
{
    return table;
}

const TextShape *classifyText(std::string_view name, std::string_view text)
{
    const std::string lowerName = asciiLower(name);
    const TextHead head = cut(lowerName, text);
    const TextShape *best = nullptr;
    int most = 2; // less is no evidence
    for (const TextShape &shape : table) {
        int points = shape.points(head);
        if (matchesAny(lowerName, shape.names))
            points += points > 0 ? 4 : shape.nameDecides ? 3 : 0;
        if (points > most) {
            most = points;
            best = &shape;
        }
    }
    return best;
}

bool looksLikeText(std::string_view head)
{
    if (isUtf16(head))
        return true;
    std::size_t odd = 0;
    for (const char c : head) {
        if (c == 0)
            return false;
        odd += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\x1B' && c != '\f' && c != '\b';
    }
    // Cutting a character at the end of the head must not count.
    const auto whole = head.substr(0, head.size() - std::min<std::size_t>(head.size(), 4));
    const auto bad = firstInvalidUtf8(whole);
    return odd * 100 <= head.size() && (bad == std::string_view::npos || head.size() < 8 || bad > 0);
}

namespace {

struct LongText {
    std::string text;
    TextContent::Gap gap;
};

/// The beginning and the end of a text that is too long to hold, and how many lines lie between.
/// Both end with whole lines, where they have any.
Result<LongText> readEnds(const ByteSource &source, const Job &job)
{
    constexpr std::uint64_t half = TextContent::limit / 2, window = 1 << 20;
    auto head = readText(source, half);
    if (!head)
        return head.error();
    LongText ends{std::move(*head), {}};
    if (isUtf16(ends.text)) {
        ends.gap = {ends.text.size(), source.size() - half, 0};
        return ends;
    }
    if (const auto cut = ends.text.rfind('\n'); cut != std::string::npos)
        ends.text.resize(cut + 1);
    const std::uint64_t headEnd = ends.text.size();
    const auto last = source.read(source.size() - half, half);
    if (!last)
        return last.error();
    auto tail = asText(*last);
    const auto begin = tail.find('\n');
    tail.remove_prefix(begin == std::string_view::npos ? tail.size() : begin + 1);
    const std::uint64_t tailBegin = source.size() - tail.size();
    std::uint64_t lines = 0;
    for (std::uint64_t at = headEnd; at < tailBegin; at += window) {
        if (job.cancelled())
            return Job::cancelledError();
        const auto bytes = source.read(at, std::min(window, tailBegin - at));
        if (!bytes)
            return bytes.error();
        lines += static_cast<std::uint64_t>(std::count(bytes->begin(), bytes->end(), std::byte{'\n'}));
        job.progress(static_cast<double>(at) / static_cast<double>(source.size()), source.name());
    }
    std::uint64_t added = 0;
    if (!ends.text.ends_with('\n') && !tail.empty()) { // the line that was cut ends in the gap
        ends.text += '\n';
        added = 1;
        --lines;
    }
    ends.gap = {ends.text.size(), tailBegin - headEnd - added, lines};
    ends.text += tail;
    return ends;
}

} // namespace

Result<Reading> openText(SourcePtr source, const Job &job)
{
    if (job.cancelled())
        return Job::cancelledError();
    TextContent::Gap gap;
    auto text = Result<std::string>(std::string());
    Reading reading{.kind = Kind::Text};
    if (source->size() > TextContent::limit) {
        auto ends = readEnds(*source, job);
        if (!ends)
            return ends.error();
        gap = ends->gap;
        text = std::move(ends->text);
        const bool toTheEnd = gap.at == text->size();
        reading.problems.push_back({Errc::TooLarge,
                                    toTheEnd ? std::string("only the beginning of the text was read")
                                             : "only the beginning and the end of the text were read; "
                                            + counted(gap.lines, "line") + (gap.lines == 1 ? " between was skipped" : " between were skipped"),
                                    ByteRange{gap.at, gap.at + gap.bytes}, "at most " + sizeText(TextContent::limit),
                                    sizeText(source->size())});
        if (toTheEnd)
            gap = {};
    } else {
        text = readText(*source);
    }
    if (!text)
        return text.error();
    if (isUtf16(*text)) {
        text = fromUtf16(*text);
        reading.remarks.push_back("UTF-16, shown as UTF-8: byte offsets count the converted text");
    }
    if (const TextShape *const shape = classifyText(fileName(*source), *text)) {
        reading.kind = shape->kind;
        reading.format = shape->format;
    }
    auto content = std::make_shared<TextContent>(std::move(*text), gap);
    const auto lines = content->text.empty() ? 0 : content->lineCount();
    reading.summary = std::to_string(lines) + (lines == 1 ? " line" : " lines");
    reading.content = std::move(content);
    return reading;
}

} // namespace prosector
