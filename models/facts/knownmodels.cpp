// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/facts/knownmodels.h"

#include <algorithm>
#include <cmath>

namespace prosector {

namespace {

std::vector<std::string> stringsOf(Value list)
{
    std::vector<std::string> strings;
    for (const Value entry : list)
        strings.push_back(entry.string(""));
    return strings;
}

std::string cite(const std::vector<std::string> &sources, bool recalled)
{
    if (sources.empty())
        return recalled ? "recalled, no source" : "no source named";
    std::string text = recalled ? "recalled, compare " : "read in ";
    for (std::size_t i = 0; i < std::min<std::size_t>(sources.size(), 2); ++i)
        text += (i ? ", " : "") + sources[i];
    if (sources.size() > 2)
        text += " and " + std::to_string(sources.size() - 2) + " more";
    return text;
}

bool isRecalled(Value row)
{
    return row["r"].integer() == 1;
}

} // namespace

std::vector<Value> KnownFact::accepted() const
{
    std::vector<Value> values{value};
    for (const Value other : others)
        values.push_back(other);
    return values;
}

bool KnownFact::accepts(double number) const
{
    const auto same = [&](Value known) {
        const auto expected = known.number();
        return expected && std::abs(*expected - number) <= 1e-6 * std::max(std::abs(*expected), std::abs(number));
    };
    for (const Value known : accepted()) {
        if (same(known))
            return true;
        for (const Value element : known) {
            if (same(element))
                return true;
        }
    }
    return false;
}

bool KnownFact::accepts(std::string_view word) const
{
    for (const Value known : accepted()) {
        if (known.string() == word)
            return true;
        for (const Value element : known) {
            if (element.string() == word)
                return true;
        }
    }
    return false;
}

bool KnownFact::accepts(bool flag) const
{
    const auto values = accepted();
    return std::any_of(values.begin(), values.end(), [&](Value known) { return known.boolean() == flag; });
}

std::string KnownFact::text() const
{
    std::string text;
    for (const Value known : accepted())
        text += (text.empty() ? "" : " or ") + std::string(known.raw());
    return text;
}

std::string KnownFact::citation() const
{
    return cite(sources, recalled);
}

std::string KnownMistake::citation() const
{
    return cite(sources, recalled);
}

Result<KnownModels> KnownModels::parse(DocumentPtr table)
{
    const Value root = table->root();
    if (root["table"].string("") != "known-models")
        return Error{Errc::Malformed, "known-models.json: not a table of known models", root["table"].anchor(),
                     "\"table\": \"known-models\"", std::string(root["table"].raw().substr(0, 40))};
    for (const std::string_view section : {"models", "tokenizers", "mistakes", "pre", "markers", "templates", "sources"}) {
        if (!root[section].isArray())
            return Error{Errc::Malformed, "known-models.json: section \"" + std::string(section) + "\" is missing",
                         root.anchor(), "a list of rows", root[section] ? "another type" : "nothing"};
    }
    KnownModels book;
    book.m_table = std::move(table);
    book.m_made = root["made"].string("");
    for (const Value row : root["sources"])
        book.m_sources.emplace_back(row["id"].string(""), row["is"].string(""));
    std::sort(book.m_sources.begin(), book.m_sources.end());
    for (const Value row : root["tokenizers"])
        book.m_tokenizers.push_back({row["id"].string(""), {}, {}, {}, {}, row});
    for (const Value row : root["models"])
        book.m_models.push_back({row["id"].string(""), row["family"].string(""), row["repo"].string(""),
                                 row["tokenizer"].string(""), row["template"].string(""), row["fields"]});
    for (const Value row : root["mistakes"])
        book.m_mistakes.push_back({row["id"].string(""), row["what"].string(""), row["fix"].string(""),
                                   stringsOf(row["models"]), row["test"], isRecalled(row), book.sourcesOf(row["s"])});
    for (const Value row : root["markers"])
        book.m_markers.push_back({row["marker"].string(""), row["family"].string(""), isRecalled(row)});
    for (const Value group : root["pre"])
        book.m_alike.push_back(stringsOf(group));
    return book;
}

const KnownRow *KnownModels::tokenizer(std::string_view id) const
{
    const auto it = std::find_if(m_tokenizers.begin(), m_tokenizers.end(), [&](const KnownRow &r) { return r.id == id; });
    return it == m_tokenizers.end() ? nullptr : &*it;
}

std::optional<KnownFact> KnownModels::fact(const KnownRow &row, std::string_view name) const
{
    const Value found = row.facts[name];
    if (!found.isObject() || !found["v"])
        return std::nullopt;
    return KnownFact{std::string(name), found["v"], found["or"], isRecalled(found), found["f"].integer() == 1,
                     sourcesOf(found["s"])};
}

bool KnownModels::splitAlike(std::string_view preA, std::string_view preB) const
{
    if (preA == preB)
        return true;
    return std::any_of(m_alike.begin(), m_alike.end(), [&](const std::vector<std::string> &group) {
        return std::find(group.begin(), group.end(), preA) != group.end()
               && std::find(group.begin(), group.end(), preB) != group.end();
    });
}

std::vector<std::string> KnownModels::templatesOf(std::string_view sha256) const
{
    std::vector<std::string> names;
    for (const Value row : m_table->root()["templates"]) {
        if (row["sha256"].string() == sha256)
            names.push_back(row["template"].string(""));
    }
    return names;
}

std::string KnownModels::tieBreaker(std::span<const std::string> models) const
{
    for (const Value row : m_table->root()["tie_breakers"]) {
        const auto between = stringsOf(row["between"]);
        const bool all = std::all_of(models.begin(), models.end(), [&](const std::string &model) {
            return std::find(between.begin(), between.end(), model) != between.end();
        });
        if (all && models.size() > 1)
            return row["by"].string("");
    }
    return {};
}

std::vector<std::string> KnownModels::sourcesOf(Value keys) const
{
    std::vector<std::string> texts;
    for (const Value key : keys) {
        const auto id = key.string("");
        const auto it = std::lower_bound(m_sources.begin(), m_sources.end(), id,
                                         [](const auto &row, const std::string &wanted) { return row.first < wanted; });
        texts.push_back(it != m_sources.end() && it->first == id ? it->second : id);
    }
    return texts;
}

} // namespace prosector
