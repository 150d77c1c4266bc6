// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/jsonread.h"

#include "models/artifacts/shapes.h"
#include "models/artifacts/textshapes.h"
#include "models/artifacts/tokenrecord.h"
#include "models/core/ascii.h"

#include <algorithm>
#include <iterator>

namespace prosector {

namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";
constexpr std::uint64_t window = 1 << 20;

bool isWhole(std::string_view line)
{
    return line.size() >= 2 && ((line.front() == '{' && line.back() == '}') || (line.front() == '[' && line.back() == ']'));
}

/// Finds the lines of a source window by window.
class LineIndexer {
public:
    LineIndexer(SourcePtr source, LinesContent &content) : m_source(std::move(source)), m_content(content) {}

    Result<void> run(const Job &job)
    {
        for (std::uint64_t at = 0; at < m_source->size(); at += window) {
            if (job.cancelled())
                return Job::cancelledError();
            const auto bytes = m_source->readUpTo(at, window);
            if (!bytes)
                return bytes.error();
            const auto text = asText(*bytes);
            for (std::size_t begin = 0; begin < text.size();) {
                const auto end = std::min(text.find('\n', begin), text.size());
                look(text.substr(begin, end - begin));
                if (end == text.size())
                    break;
                if (!finishLine(at + end))
                    return {};
                begin = end + 1;
            }
        }
        finishLine(m_source->size());
        return {};
    }

    const std::optional<Error> &problem() const { return m_problem; }

private:
    void look(std::string_view part) { m_blank = m_blank && part.find_first_not_of(blanks) == std::string_view::npos; }

    bool finishLine(std::uint64_t end)
    {
        const auto length = end - m_begin;
        if (!m_blank && length <= UINT32_MAX) {
            if (m_content.lines.size() == LinesContent::maxLines) {
                m_problem = Error{Errc::TooLarge, "not all lines are listed", ByteRange{m_begin, m_source->size()},
                                  "at most " + std::to_string(LinesContent::maxLines) + " lines", "more"};
                return false;
            }
            m_content.lines.push_back({m_begin, m_line, static_cast<std::uint32_t>(length)});
        } else if (!m_blank) {
            m_problem = Error{Errc::TooLarge, "line " + std::to_string(m_line) + " is too long",
                              ByteRange{m_begin, end}, "less than 4 GiB", sizeText(length)};
        }
        m_blank = true;
        m_begin = end + 1;
        ++m_line;
        return true;
    }

    SourcePtr m_source;
    LinesContent &m_content;
    std::uint64_t m_begin = 0, m_line = 1;
    bool m_blank = true;
    std::optional<Error> m_problem;
};

/// An error at its place in the file, with the line named.
Error lineError(Error error, const LinesContent::Line &line, std::size_t alike)
{
    if (auto *const range = std::get_if<ByteRange>(&error.where))
        *range = {range->from + line.offset, range->to + line.offset};
    error.message = "line " + std::to_string(line.line) + ": " + error.message;
    if (alike > 1)
        error.message += " (and " + std::to_string(alike - 1) + " more damaged lines)";
    return error;
}

} // namespace

std::string_view fileName(const ByteSource &source)
{
    const std::string_view name = source.name();
    const auto cut = name.find_last_of("/!");
    return cut == std::string_view::npos ? name : name.substr(cut + 1);
}

bool looksLikeJson(std::string_view head)
{
    if (head.starts_with(byteOrderMark))
        head.remove_prefix(byteOrderMark.size());
    const auto first = head.find_first_not_of(blanks);
    if (first == std::string_view::npos || (head[first] != '{' && head[first] != '['))
        return false;
    const auto inner = head.find_first_not_of(blanks, first + 1);
    if (inner == std::string_view::npos)
        return true;
    const auto rest = head.substr(inner);
    if (head[first] == '{')
        return rest[0] == '"' || rest[0] == '}';
    if (std::string_view("[]{\"").find(rest[0]) != std::string_view::npos)
        return true;
    for (const std::string_view word : {"true", "false", "null", "NaN"}) {
        if (rest.starts_with(word))
            return true;
    }
    // A number, and not the date that begins a log line.
    const auto end = rest.find_first_not_of("0123456789", rest[0] == '-' ? 1 : 0);
    return end != 0 && (end == std::string_view::npos || std::string_view(", \t\r\n.eE]").find(rest[end]) != std::string_view::npos);
}

bool looksLikeJsonLines(std::string_view head, std::string_view name)
{
    if (!looksLikeJson(head))
        return false;
    const bool named = matchesPattern(name, "*.jsonl") || matchesPattern(name, "*.ndjson");
    head.remove_prefix(head.find_first_not_of("\xEF\xBB\xBF \t\r\n"));
    const auto end = head.find('\n');
    if (end == std::string_view::npos)
        return named;
    const auto rest = trimmed(head.substr(end));
    if (!isWhole(trimmed(head.substr(0, end))))
        return named && !rest.empty() && (rest[0] == '{' || rest[0] == '[');
    return rest.empty() ? named : looksLikeJson(rest);
}

Result<Reading> openJsonLines(SourcePtr source, const Job &job)
{
    auto content = std::make_shared<LinesContent>();
    content->source = source;
    LineIndexer indexer(source, *content);
    if (auto done = indexer.run(job); !done)
        return done.error();
    content->lines.shrink_to_fit();

    Reading reading{.kind = Kind::Data, .content = content, .format = "jsonl"};
    if (indexer.problem())
        reading.problems.push_back(*indexer.problem());
    const Shape *shape = nullptr;
    std::string summary;
    std::optional<std::size_t> firstBad;
    std::optional<Error> firstError;
    std::size_t bad = 0;
    bool classified = false;
    for (std::size_t i = 0; i < content->lines.size(); ++i) {
        const auto &line = content->lines[i];
        if (line.offset + line.length > LinesContent::checkedBytes && classified)
            break;
        if (i % 1024 == 0 && job.cancelled())
            return Job::cancelledError();
        const auto document = content->document(i);
        if (document->problem()) {
            if (bad++ == 0) {
                firstBad = i;
                firstError = document->problem();
            }
        } else if (!classified) {
            classified = true;
            shape = classifyRecord(document->root(), fileName(*source));
            if (shape && shape->summary)
                summary = shape->summary(document->root());
        }
    }
    if (shape && shape->format == "json_log") { // read line by line like any other log
        auto log = openText(source, job);
        if (log) {
            log->kind = Kind::StartupLog;
            log->format = shape->format;
        }
        return log;
    }
    if (firstBad)
        reading.problems.push_back(lineError(*firstError, content->lines[*firstBad], bad));
    if (shape) {
        reading.kind = shape->kind;
        reading.format = shape->format;
    }
    reading.summary = std::to_string(content->lines.size()) + (content->lines.size() == 1 ? " line" : " lines");
    if (content->lines.size() == 1 && !summary.empty())
        reading.summary += ", " + summary;
    return reading;
}

Result<Reading> openJson(SourcePtr source, const Job &job)
{
    if (source->size() > maxJsonBytes) {
        return Error{Errc::TooLarge, "JSON too large for a tree", Whole{}, "at most " + sizeText(maxJsonBytes),
                     sizeText(source->size())};
    }
    auto text = readText(*source);
    if (!text)
        return text.error();
    const auto document = Document::parseJson(std::move(*text), job.stopToken());
    if (document->problem() && document->problem()->code == Errc::Cancelled)
        return Job::cancelledError();
    if (const auto &problem = document->problem(); problem && document->root().size() > 0) {
        // A whole value with another one below it.
        const auto at = std::get<ByteRange>(problem->where).from;
        const auto rest = std::string_view(document->text()).substr(at);
        const bool whole = document->root().range().to <= at && document->root().raw().size() >= 2;
        const bool newLine = document->text().find('\n', document->root().range().to) < at;
        if (whole && isWhole(document->root().raw()) && newLine && (rest.starts_with('{') || rest.starts_with('[')))
            return openJsonLines(source, job);
    }
    return readTree(document, *source);
}

Reading readTree(DocumentPtr document, const ByteSource &source)
{
    Reading reading{.kind = Kind::Data, .content = std::make_shared<TreeContent>(document)};
    if (document->problem())
        reading.problems.push_back(*document->problem());
    const Value root = document->root();
    const Shape *const shape = classify(root, fileName(source));
    if (shape && shape->format == "tokens") {
        auto problems = tokenRecordProblems(root);
        std::move(problems.begin(), problems.end(), std::back_inserter(reading.problems));
    }
    if (shape) {
        reading.kind = shape->kind;
        reading.format = shape->format;
        if (shape->summary)
            reading.summary = shape->summary(shape->records && root.isArray() && root[0].isObject() ? root[0] : root);
    }
    if (reading.summary.empty())
        reading.summary = std::to_string(root.size()) + (root.isArray() ? (root.size() == 1 ? " element" : " elements") : root.size() == 1 ? " member" : " members");
    return reading;
}

} // namespace prosector
