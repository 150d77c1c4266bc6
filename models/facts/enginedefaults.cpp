// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/facts/enginedefaults.h"

#include "models/facts/table.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace prosector {

namespace {

std::string defaultText(Value value)
{
    if (!value.isSet())
        return "none";
    if (const auto text = value.string())
        return text->empty() ? "\"\"" : *text;
    return std::string(value.raw());
}

DefaultRow readRow(Value entry)
{
    DefaultRow row;
    for (const Value member : entry) {
        const std::string key = member.key();
        if (key == "id") row.id = member.string("");
        else if (key == "engine") row.engine = member.string("");
        else if (key == "component") row.component = member.string("");
        else if (key == "setting") row.setting = member.string("");
        else if (key == "category") row.category = member.string("");
        else if (key == "default") row.value = defaultText(member);
        else if (key == "from") row.from = member.string("");
        else if (key == "to") row.to = member.string("");
        else if (key == "current") row.current = member.boolean().value_or(false);
        else if (key == "precedence") row.precedence = member.string("");
        else if (key == "ignored") row.ignored = member.string("");
        else if (key == "note") row.note = member.string("");
        else if (key == "source") row.source = member.string("");
        else if (key == "status") row.verified = member.string("") == "verified";
        else if (member.isArray()) {
            for (std::string &name : stringsOf(member))
                row.names.push_back(std::move(name));
        }
    }
    return row;
}

/// Numbers of a label and whether they are a date: "main-2026-04-07", "v0.9.2", "b8985".
struct Version {
    bool date = false;
    std::array<long, 4> numbers{};
    auto operator<=>(const Version &) const = default;
};

Version versionOf(std::string_view label)
{
    Version version;
    std::size_t count = 0;
    for (std::size_t i = 0; i < label.size() && count < version.numbers.size();) {
        if (!std::isdigit(static_cast<unsigned char>(label[i]))) {
            // "0.9.2rc1", "4.57-main", "0.11.0+cu128": what follows the numbers does not order.
            if (count > 0 && label[i] != '.' && label[i] != '-')
                break;
            ++i;
            continue;
        }
        long number = 0;
        for (; i < label.size() && std::isdigit(static_cast<unsigned char>(label[i])); ++i)
            number = std::min(number * 10 + (label[i] - '0'), 1'000'000'000L);
        version.numbers[count++] = number;
    }
    version.date = version.numbers[0] >= 2000 && version.numbers[0] < 2100 && count == 3;
    return version;
}

std::string nameKey(std::string_view engine, std::string_view name)
{
    return std::string(engine) + '\n' + std::string(name);
}

} // namespace

std::string canonicalName(std::string_view name)
{
    while (!name.empty() && name.front() == '-')
        name.remove_prefix(1);
    for (const std::string_view section : {"options.", "parameters.", "sampling_params.", "PARAMETER "}) {
        if (name.starts_with(section))
            name.remove_prefix(section.size());
    }
    std::string canonical(name);
    for (char &c : canonical)
        c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return canonical;
}

int compareVersions(std::string_view a, std::string_view b)
{
    const auto order = versionOf(a) <=> versionOf(b);
    return order < 0 ? -1 : order > 0 ? 1 : 0;
}

Result<EngineDefaults> EngineDefaults::parse(DocumentPtr table)
{
    if (auto checked = checkFactsTable(*table, "engine-defaults"); !checked)
        return checked.error();
    EngineDefaults defaults;
    for (const Value entry : table->root()["precedence"]) {
        defaults.m_precedence.push_back({entry["id"].string(""), stringsOf(entry["order"]),
                                         entry["skipped_when"].string(""), entry["beneath"].string(""),
                                         entry["note"].string(""), entry["source"].string("")});
    }
    for (const Value entry : table->root()["rows"]) {
        const std::size_t index = defaults.m_rows.size();
        DefaultRow &row = defaults.m_rows.emplace_back(readRow(entry));
        if (row.engine.empty() || row.setting.empty())
            return Error{Errc::Malformed, "row of the engine-defaults table without engine or setting", entry.anchor()};
        std::vector<std::string> keys{canonicalName(row.setting)};
        for (const std::string &name : row.names) {
            keys.push_back(canonicalName(name));
            // "generation_config.json:top_k" is the key top_k of that file.
            if (const auto colon = name.find(".json:"); colon != std::string::npos)
                keys.push_back(canonicalName(std::string_view(name).substr(colon + 6)));
            if (const auto dot = name.rfind("Config."); dot != std::string::npos)
                keys.push_back(canonicalName(std::string_view(name).substr(dot + 7)));
        }
        std::sort(keys.begin(), keys.end());
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
        for (const std::string &key : keys)
            defaults.m_byName[nameKey(row.engine, key)].push_back(index);
    }
    return defaults;
}

std::vector<const DefaultRow *> EngineDefaults::find(std::string_view engine, std::string_view name) const
{
    std::vector<const DefaultRow *> found;
    if (const auto it = m_byName.find(nameKey(engine, canonicalName(name))); it != m_byName.end()) {
        for (const std::size_t index : it->second)
            found.push_back(&m_rows[index]);
    }
    return found;
}

std::optional<EngineDefaults::InForce> EngineDefaults::inForce(std::string_view engine, std::string_view name,
                                                               std::string_view version, std::string_view component) const
{
    std::vector<const DefaultRow *> rows = find(engine, name);
    std::erase_if(rows, [&](const DefaultRow *row) { return row->component.find(component) == std::string::npos; });
    if (rows.empty())
        return std::nullopt;
    // A row of the same component belongs to the same history; the first component named wins.
    const std::string first = rows.front()->component;
    const std::string setting = rows.front()->setting;
    std::erase_if(rows, [&](const DefaultRow *row) { return row->component != first || row->setting != setting; });
    std::stable_sort(rows.begin(), rows.end(),
                     [](const DefaultRow *a, const DefaultRow *b) { return compareVersions(a->to, b->to) < 0; });
    const bool changed = std::any_of(rows.begin(), rows.end(), [&](const DefaultRow *r) { return r->value != rows.back()->value; });
    InForce result{rows.back(), false, {}};
    if (!version.empty()) {
        // Versions by number are not comparable with points by date: several rows then match, the latest wins.
        for (const DefaultRow *row : rows) {
            if (compareVersions(row->from, version) <= 0 && compareVersions(version, row->to) <= 0)
                result = {row, true, {}};
        }
        if (!result.versionKnown && compareVersions(version, rows.front()->from) >= 0) {
            for (const DefaultRow *row : rows) {
                if (compareVersions(row->to, version) < 0)
                    result.row = row->current || row == rows.back() ? rows.back() : row;
            }
        }
        if (result.versionKnown)
            return result;
    }
    if (changed) {
        result.remark = "the default changed over time (";
        for (const DefaultRow *row : rows)
            result.remark += (row == rows.front() ? "" : ", ") + row->value + " from " + row->from + " to " + row->to;
        result.remark += version.empty() ? "); the version is not known" : "); " + std::string(version) + " is not covered";
    } else if (!version.empty()) {
        result.remark = "seen from " + result.row->from + " to " + result.row->to + ", not at " + std::string(version);
    }
    return result;
}

const Precedence *EngineDefaults::precedence(std::string_view id) const
{
    const auto it = std::find_if(m_precedence.begin(), m_precedence.end(), [&](const Precedence &p) { return p.id == id; });
    return it == m_precedence.end() ? nullptr : &*it;
}

} // namespace prosector
