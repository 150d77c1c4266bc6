// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/shapes.h"

#include "models/core/ascii.h"

#include <algorithm>
#include <vector>

namespace prosector {

namespace {

/// Objects with more members than this are tables (a vocabulary), not records: the rest is not looked at.
constexpr std::size_t membersLookedAt = 1024;

/// The next part of a list, taken off its front.
std::string_view takeUntil(std::string_view &list, char separator)
{
    const auto end = std::min(list.find(separator), list.size());
    const auto part = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    return part;
}

bool hasType(Value value, char type)
{
    switch (type) {
    case 'a':
        return value.isArray();
    case 'o':
        return value.isObject();
    case 's':
        return value.isString();
    case 'n':
        return value.isNumber();
    case 'b':
        return value.type() == Value::Type::Boolean;
    default:
        return bool(value);
    }
}

/// The members of one object, found once and asked many times.
class Members {
public:
    explicit Members(Value object)
    {
        if (!object.isObject())
            return;
        for (const Value member : object) {
            if (m_members.size() == membersLookedAt)
                break;
            m_members.emplace_back(member.key(), member);
        }
        std::stable_sort(m_members.begin(), m_members.end(),
                         [](const Member &a, const Member &b) { return a.first < b.first; });
    }

    /// Of duplicate keys the last, as `Value::operator[]`.
    Value find(std::string_view key) const
    {
        const auto it = std::upper_bound(m_members.begin(), m_members.end(), key,
                                         [](std::string_view k, const Member &m) { return k < m.first; });
        return it != m_members.begin() && (it - 1)->first == key ? (it - 1)->second : Value();
    }

    Value findPrefix(std::string_view prefix) const
    {
        const auto it = std::lower_bound(m_members.begin(), m_members.end(), prefix,
                                         [](const Member &m, std::string_view p) { return m.first < p; });
        return it != m_members.end() && it->first.starts_with(prefix) ? it->second : Value();
    }

    bool empty() const { return m_members.empty(); }

private:
    using Member = std::pair<std::string, Value>;
    std::vector<Member> m_members;
};

bool holds(std::string_view condition, const Members &members)
{
    if (condition.starts_with('!'))
        return !holds(condition.substr(1), members);
    char type = 0;
    if (condition.size() > 2 && condition[condition.size() - 2] == ':') {
        type = condition.back();
        condition.remove_suffix(2);
    }
    if (condition.ends_with('*'))
        return hasType(members.findPrefix(condition.substr(0, condition.size() - 1)), type);
    Value value = members.find(takeUntil(condition, '/'));
    while (!condition.empty() && value)
        value = value[takeUntil(condition, '/')];
    return hasType(value, type);
}

/// Conditions met by the best alternative; 0 when none holds.
int conditionsMet(std::string_view alternatives, const Members &members)
{
    int best = 0;
    while (!alternatives.empty()) {
        auto conditions = takeUntil(alternatives, '|');
        int met = 0;
        bool all = true;
        while (!conditions.empty() && all) {
            const auto condition = takeUntil(conditions, ' ');
            if (condition.empty())
                continue;
            all = holds(condition, members);
            met += condition[0] == '!' ? 0 : 1;
        }
        if (all)
            best = std::max(best, met);
    }
    return best;
}

template<class Use>
void eachShape(Use use)
{
    for (const auto table : {modelShapes(), wireShapes(), traceShapes()}) {
        for (const Shape &shape : table)
            use(shape);
    }
}

const Shape *best(Value whole, const Members *root, Value record, const Members &recordMembers, std::string_view name)
{
    const Shape *winner = nullptr;
    int most = 0;
    const auto lowerName = asciiLower(name);
    eachShape([&](const Shape &shape) {
        const Members *const members = shape.records ? &recordMembers : root;
        int points = members && !members->empty() ? 4 * conditionsMet(shape.keys, *members) : 0;
        if (shape.test && shape.test(shape.records ? record : whole))
            points += 8;
        // What has no keys of its own is known by its name.
        if (matchesAny(lowerName, shape.names))
            points += points > 0 ? 13 : shape.nameDecides ? 17 : 1;
        if (points > most) {
            most = points;
            winner = &shape;
        }
    });
    return winner;
}

} // namespace

bool matchesPattern(std::string_view name, std::string_view pattern)
{
    std::size_t n = 0, p = 0, star = std::string_view::npos, resume = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = n;
        } else if (p < pattern.size() && pattern[p] == name[n]) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool matchesAny(std::string_view name, std::string_view patterns)
{
    while (!patterns.empty()) {
        if (matchesPattern(name, takeUntil(patterns, ' ')))
            return true;
    }
    return false;
}

const Shape *classify(Value root, std::string_view name)
{
    const Value record = root.isArray() ? root[0] : root;
    const Members rootMembers(root);
    if (root.isArray())
        return best(root, &rootMembers, record, Members(record), name);
    return best(root, &rootMembers, record, rootMembers, name);
}

const Shape *classifyRecord(Value record, std::string_view name)
{
    return best({}, nullptr, record, Members(record), name);
}

const Shape *shapeByName(std::string_view name)
{
    const Shape *found = nullptr;
    const auto lowerName = asciiLower(name);
    eachShape([&](const Shape &shape) {
        if (!found && matchesAny(lowerName, shape.names))
            found = &shape;
    });
    return found;
}

} // namespace prosector
