// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/facts/settings.h"

#include "models/facts/enginedefaults.h"
#include "models/facts/table.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace prosector {

namespace {

template<class T>
struct Named {
    std::string_view name;
    T value;
};

constexpr auto valueKinds = std::to_array<Named<ValueKind>>({
    {"number", ValueKind::Number}, {"tokens", ValueKind::Tokens}, {"boolean", ValueKind::Boolean},
    {"dtype", ValueKind::DataType}, {"cachetype", ValueKind::CacheType}, {"word", ValueKind::Word},
    {"list", ValueKind::List}, {"text", ValueKind::Text},
});
using Role = LogValue::Role;
constexpr auto roles = std::to_array<Named<Role>>({
    {"effective", Role::Effective}, {"loaded", Role::Loaded}, {"declared", Role::Declared}, {"flag", Role::Flag},
    {"asked", Role::Asked}, {"default", Role::Default}, {"override", Role::Override}, {"hardware", Role::Hardware},
    {"flags_dump", Role::FlagsDump}, {"args_dump", Role::ArgsDump}, {"config_dump", Role::ConfigDump},
    {"sampling_dump", Role::SamplingDump}, {"request_dump", Role::RequestDump}, {"file_dump", Role::FileDump},
    {"flag_pair", Role::FlagPair}, {"command", Role::Command}, {"env_dump", Role::EnvDump},
    {"ignored_fields", Role::IgnoredFields}, {"gguf_kv", Role::GgufPair}, {"gguf_override", Role::GgufOverride},
});

template<class T, std::size_t N>
std::optional<T> byName(const std::array<Named<T>, N> &table, std::string_view name)
{
    for (const auto &entry : table) {
        if (entry.name == name)
            return entry.value;
    }
    return std::nullopt;
}

/// "-c" keeps its dash and its case: a short flag is no word. "vLLM:--seed" keeps its engine.
std::string keyOf(std::string_view name)
{
    std::string engine;
    if (const auto colon = name.find(':'); colon != std::string_view::npos) {
        engine = std::string(name.substr(0, colon + 1));
        name.remove_prefix(colon + 1);
        if (name.starts_with("--"))
            return engine + "--" + canonicalName(name);
    }
    if (name.size() > 1 && name[0] == '-' && name[1] != '-')
        return engine + std::string(name);
    return engine + canonicalName(name);
}

std::string lower(std::string_view text)
{
    std::string result(text);
    for (char &c : result)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
        text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
        text.remove_suffix(1);
    return text;
}

std::string plain(double number)
{
    if (std::isfinite(number) && std::abs(number) < 9.0e15 && number == std::floor(number)) {
        std::array<char, 32> buffer{};
        const auto done = std::to_chars(buffer.data(), buffer.data() + buffer.size(), static_cast<long long>(number));
        return {buffer.data(), done.ptr};
    }
    std::array<char, 64> buffer{};
    const auto done = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
    return {buffer.data(), done.ptr};
}

/// vLLM's human-readable integers: k m g t are powers of 1000, K M G T of 1024.
std::optional<double> withSuffix(std::string_view text)
{
    if (text.size() < 2)
        return std::nullopt;
    const char suffix = text.back();
    const std::size_t power = std::string_view("kmgt").find(static_cast<char>(std::tolower(static_cast<unsigned char>(suffix))));
    if (power == std::string_view::npos)
        return std::nullopt;
    const auto number = asNumber(text.substr(0, text.size() - 1));
    if (!number)
        return std::nullopt;
    const double base = std::isupper(static_cast<unsigned char>(suffix)) ? 1024.0 : 1000.0;
    return *number * std::pow(base, static_cast<double>(power + 1));
}

std::string dataType(std::string text)
{
    if (text.starts_with("torch."))
        text.erase(0, 6);
    if (text == "half" || text == "f16" || text == "fp16")
        return "float16";
    if (text == "bf16")
        return "bfloat16";
    if (text == "float" || text == "f32" || text == "fp32")
        return "float32";
    return text;
}

} // namespace

std::optional<double> asNumber(std::string_view value)
{
    if (value.starts_with('+'))
        value.remove_prefix(1);
    double number = 0;
    const auto done = std::from_chars(value.data(), value.data() + value.size(), number);
    if (done.ec != std::errc() || done.ptr != value.data() + value.size())
        return std::nullopt;
    return number;
}

bool leftOpen(std::string_view value)
{
    return value == "none" || value == "auto" || value.empty();
}

std::string normalValue(ValueKind kind, std::string_view raw)
{
    const std::string_view text = trimmed(raw);
    const std::string low = lower(text);
    if (text.empty() || low == "none" || low == "null" || low == "nil" || low == "unset" || low == "undefined")
        return "none";
    if (low == "auto")
        return "auto";
    switch (kind) {
    case ValueKind::Number:
    case ValueKind::Tokens: {
        // "412,304": thousands separators of people.
        std::string digits;
        for (const char c : text) {
            if (c != ',')
                digits.push_back(c);
        }
        if (kind == ValueKind::Tokens) {
            if (const auto number = withSuffix(digits))
                return plain(*number);
        }
        if (const auto number = asNumber(digits))
            return plain(*number);
        return std::string(text);
    }
    case ValueKind::Boolean:
        if (low == "1" || low == "true" || low == "on" || low == "yes" || low == "enabled")
            return "true";
        if (low == "0" || low == "false" || low == "off" || low == "no" || low == "disabled")
            return "false";
        return low;
    case ValueKind::DataType: return dataType(low);
    case ValueKind::CacheType: {
        if (low == "fp8" || low == "float8_e4m3fn" || low == "torch.float8_e4m3fn")
            return "fp8_e4m3";
        if (low == "float8_e5m2" || low == "torch.float8_e5m2")
            return "fp8_e5m2";
        return low == "f16" ? "float16" : dataType(low);
    }
    case ValueKind::Word: return low;
    case ValueKind::List:
    case ValueKind::Text: return std::string(text);
    }
    return std::string(text);
}

bool sameValue(ValueKind kind, std::string_view a, std::string_view b)
{
    if (a == b)
        return true;
    if (kind != ValueKind::Number && kind != ValueKind::Tokens)
        return false;
    const auto x = asNumber(a), y = asNumber(b);
    if (!x || !y)
        return false;
    return std::abs(*x - *y) <= 1e-6 * std::max(std::abs(*x), std::abs(*y));
}

Result<SettingsTable> SettingsTable::parse(DocumentPtr table)
{
    if (auto checked = checkFactsTable(*table, "settings"); !checked)
        return checked.error();
    SettingsTable result;
    for (const Value entry : table->root()["settings"]) {
        SettingSpec spec{entry["name"].string(""), entry["category"].string(""), ValueKind::Text,
                         entry["neutral"].string(""), entry["penalty"].boolean().value_or(false),
                         entry["architecture"].boolean().value_or(false), stringsOf(entry["names"])};
        const auto kind = byName(valueKinds, entry["kind"].string(""));
        if (spec.name.empty() || !kind)
            return Error{Errc::Malformed, "setting without a name or of no known kind", entry.anchor()};
        spec.kind = *kind;
        const std::size_t index = result.m_settings.size();
        result.m_byName.emplace(keyOf(spec.name), index);
        for (const std::string &name : spec.names)
            result.m_byName.emplace(keyOf(name), index);
        result.m_settings.push_back(std::move(spec));
    }
    for (const Value entry : table->root()["log_values"]) {
        const auto role = byName(roles, entry["role"].string(""));
        if (!role)
            return Error{Errc::Malformed, "log value of no known role", entry.anchor()};
        result.m_byPattern.emplace(entry["pattern"].string(""), result.m_logValues.size());
        result.m_logValues.push_back({entry["pattern"].string(""), entry["capture"].string(""), entry["value"].string(""),
                                      entry["setting"].string(""), *role});
    }
    return result;
}

const SettingSpec *SettingsTable::find(std::string_view name) const
{
    const auto it = m_byName.find(name);
    return it == m_byName.end() ? nullptr : &m_settings[it->second];
}

const SettingSpec *SettingsTable::resolve(std::string_view engine, std::string_view spelling, bool argument) const
{
    const std::string plainName = keyOf(spelling);
    const std::string owner = std::string(engine) + ':';
    if (argument) {
        if (const auto it = m_byName.find(owner + "--" + plainName); it != m_byName.end())
            return &m_settings[it->second];
    }
    for (const std::string &key : {owner + plainName, plainName}) {
        if (const auto it = m_byName.find(key); it != m_byName.end())
            return &m_settings[it->second];
    }
    return nullptr;
}

std::vector<const LogValue *> SettingsTable::logValues(std::string_view pattern) const
{
    std::vector<const LogValue *> values;
    const auto [from, to] = m_byPattern.equal_range(pattern);
    for (auto it = from; it != to; ++it)
        values.push_back(&m_logValues[it->second]);
    return values;
}

} // namespace prosector
