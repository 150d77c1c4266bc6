// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/rowtable.h"

#include "models/core/ascii.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace prosector {

namespace {

bool equalNames(std::string_view a, std::string_view b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string cellText(Value value)
{
    if (value.isNull())
        return {};
    if (value.isString())
        return value.string("");
    return std::string(value.raw());
}

// Cuts delimited text into records, one at a time.
class CsvReader {
public:
    explicit CsvReader(std::string_view text) : m_text(text)
    {
        if (m_text.starts_with("\xEF\xBB\xBF"))
            m_at = 3;
        const auto heading = m_text.substr(m_at, m_text.find('\n', m_at) - m_at);
        std::size_t most = 0;
        for (const char c : {',', '\t', ';'}) {
            const auto count = static_cast<std::size_t>(std::count(heading.begin(), heading.end(), c));
            if (count > most) {
                most = count;
                m_delimiter = c;
            }
        }
    }

    // False at the end. Blank lines are skipped.
    bool next(std::vector<std::string> &cells, std::uint64_t &line, std::uint64_t &lastLine)
    {
        while (m_at < m_text.size() && (m_text[m_at] == '\n' || m_text[m_at] == '\r')) {
            m_line += m_text[m_at] == '\n';
            ++m_at;
        }
        if (m_at >= m_text.size())
            return false;
        cells.assign(1, {});
        line = m_line;
        bool quoted = false, wasQuoted = false;
        for (; m_at < m_text.size(); ++m_at) {
            const char c = m_text[m_at];
            if (quoted) {
                if (c == '"' && m_at + 1 < m_text.size() && m_text[m_at + 1] == '"') {
                    cells.back() += '"';
                    ++m_at;
                } else if (c == '"') {
                    quoted = false;
                } else {
                    m_line += c == '\n';
                    cells.back() += c;
                }
            } else if (c == '"' && trimmed(cells.back()).empty() && !wasQuoted) {
                cells.back().clear();
                quoted = wasQuoted = true;
            } else if (c == m_delimiter) {
                cells.emplace_back();
                wasQuoted = false;
            } else if (c == '\n') {
                break;
            } else if (c != '\r') {
                cells.back() += c;
            }
        }
        lastLine = m_line;
        if (m_at < m_text.size()) {
            ++m_at;
            ++m_line;
        }
        return true;
    }

private:
    std::string_view m_text;
    std::size_t m_at = 0;
    std::uint64_t m_line = 1;
    char m_delimiter = ',';
};

// The list of records of a JSON value: itself, or the member with most of them.
Value recordsOf(Value root)
{
    const auto holdsRecords = [](Value list) { return list.isArray() && list.size() > 0 && list[0].isObject(); };
    if (holdsRecords(root))
        return root;
    Value best;
    for (const Value member : root) {
        if (root.isObject() && holdsRecords(member) && (!best || member.size() > best.size()))
            best = member;
    }
    return best;
}

} // namespace

std::optional<double> numberOf(std::string_view text)
{
    text = trimmed(text);
    if (equalNames(text, "true"))
        return 1;
    if (equalNames(text, "false"))
        return 0;
    if (text.starts_with('+'))
        text.remove_prefix(1);
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
        return std::nullopt;
    return number;
}

std::optional<std::size_t> RowTable::column(std::string_view name) const
{
    const auto it = std::find_if(m_columns.begin(), m_columns.end(), [&](const std::string &c) { return equalNames(c, name); });
    return it == m_columns.end() ? std::nullopt : std::optional(static_cast<std::size_t>(it - m_columns.begin()));
}

std::string_view RowTable::text(std::size_t row, std::size_t column) const
{
    const auto &cells = m_rows[row].cells;
    return column < cells.size() ? std::string_view(cells[column]) : std::string_view();
}

std::optional<double> RowTable::number(std::size_t row, std::size_t column) const
{
    return numberOf(text(row, column));
}

Anchor RowTable::anchor(std::size_t row) const
{
    return anchor(row, row);
}

Anchor RowTable::anchor(std::size_t first, std::size_t last) const
{
    if (!m_rows[first].path.empty())
        return JsonPath{m_rows[first].path};
    return LogLine{m_rows[first].line, m_rows[last].lastLine};
}

void RowTable::addCells(Value object, const std::string &prefix, Row &row, int depth)
{
    for (const Value member : object) {
        const std::string name = prefix + member.key();
        if (member.isObject() && depth < 4) {
            addCells(member, name + ".", row, depth + 1);
            continue;
        }
        std::size_t index = 0;
        // Records repeat their keys in order: look behind the last one first.
        const std::size_t hint = row.cells.size();
        if (hint < m_columns.size() && m_columns[hint] == name) {
            index = hint;
        } else {
            const auto it = std::find(m_columns.begin(), m_columns.end(), name);
            index = static_cast<std::size_t>(it - m_columns.begin());
            if (it == m_columns.end()) {
                if (m_columns.size() >= maxColumns) {
                    m_cut = true;
                    continue;
                }
                m_columns.push_back(name);
            }
        }
        if (row.cells.size() <= index)
            row.cells.resize(index + 1);
        row.cells[index] = cellText(member);
    }
}

void RowTable::addObject(Value object, Row row)
{
    addCells(object, {}, row, 0);
    m_rows.push_back(std::move(row));
}

bool RowTable::fromCsv(const TextContent &content, const Job &job)
{
    CsvReader reader(content.text);
    Row row;
    if (!reader.next(m_columns, row.line, row.lastLine))
        return true;
    for (std::string &name : m_columns)
        name = std::string(trimmed(name));
    if (m_columns.size() > maxColumns) {
        m_columns.resize(maxColumns);
        m_cut = true;
    }
    while (reader.next(row.cells, row.line, row.lastLine)) {
        if ((m_rows.size() & 4095) == 0 && job.cancelled())
            return false;
        if (m_rows.size() >= maxRows) {
            m_cut = true;
            break;
        }
        row.cells.resize(m_columns.size());
        m_rows.push_back(row);
    }
    return true;
}

bool RowTable::fromLines(const LinesContent &content, const Job &job)
{
    for (std::size_t i = 0; i < content.lines.size(); ++i) {
        if ((i & 1023) == 0 && job.cancelled())
            return false;
        if (m_rows.size() >= maxRows) {
            m_cut = true;
            break;
        }
        const auto document = content.document(i);
        if (document->root().isObject())
            addObject(document->root(), {{}, content.lines[i].line, content.lines[i].line, {}});
    }
    return true;
}

bool RowTable::fromList(Value list, const Job &job)
{
    for (const Value element : list) {
        if ((m_rows.size() & 1023) == 0 && job.cancelled())
            return false;
        if (m_rows.size() >= maxRows) {
            m_cut = true;
            break;
        }
        if (element.isObject())
            addObject(element, {{}, 0, 0, element.path()});
    }
    return true;
}

Result<std::optional<RowTable>> RowTable::of(const Artifact &artifact, const Job &job)
{
    RowTable table;
    bool finished = true;
    if (const auto *const lines = artifact.as<LinesContent>()) {
        finished = table.fromLines(*lines, job);
    } else if (const auto *const text = artifact.as<TextContent>(); text && artifact.format == "csv") {
        finished = table.fromCsv(*text, job);
    } else if (const Value records = recordsOf(artifact.tree())) {
        if (records != artifact.tree())
            table.m_outer = artifact.tree();
        finished = table.fromList(records, job);
    }
    if (!finished)
        return Job::cancelledError();
    if (table.m_rows.empty() || table.m_columns.empty())
        return std::optional<RowTable>();
    return std::optional(std::move(table));
}

std::vector<std::string> RowTable::columnsOf(const Artifact &artifact)
{
    RowTable table;
    if (const auto *const lines = artifact.as<LinesContent>()) {
        if (!lines->lines.empty()) {
            const auto first = lines->document(0);
            Row row;
            table.addCells(first->root().isObject() ? first->root() : Value(), {}, row, 0);
        }
    } else if (const auto *const text = artifact.as<TextContent>(); text && artifact.format == "csv") {
        CsvReader reader(text->text);
        std::uint64_t line = 0, last = 0;
        reader.next(table.m_columns, line, last);
        for (std::string &name : table.m_columns)
            name = std::string(trimmed(name));
    } else if (const Value records = recordsOf(artifact.tree())) {
        Row row;
        table.addCells(records[0], {}, row, 0);
    }
    return table.m_columns;
}

} // namespace prosector
