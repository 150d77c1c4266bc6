// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// How the values of a setting are written, hence when two are the same.
enum class ValueKind : std::uint8_t { Number, Tokens, Boolean, DataType, CacheType, Word, List, Text };

/// One setting under one name, whatever the engines call it.
struct SettingSpec {
    std::string name, category;
    ValueKind kind = ValueKind::Text;
    std::string neutral;       ///< value that changes nothing ("1" for a temperature); "" when there is none
    bool penalty = false;      ///< any other value bends the distribution towards or away from tokens
    bool architecture = false; ///< a number the weights were made for
    std::vector<std::string> names;
};

/// What a capture of a log pattern says of a setting.
struct LogValue {
    enum class Role : std::uint8_t {
        Effective, ///< in force
        Loaded,    ///< the checkpoint's own value, as the engine read it
        Declared,  ///< the checkpoint file says so
        Flag, Asked, Default, Override, Hardware,
        FlagsDump,     ///< what the operator gave, printed as one object
        ArgsDump,      ///< flags and defaults mixed
        ConfigDump,    ///< what is in force, printed as one object
        SamplingDump,  ///< sampling parameters of a request after the merge
        RequestDump,   ///< a request as it came
        FileDump,      ///< what the engine took from generation_config.json
        FlagPair, Command, EnvDump, IgnoredFields, GgufPair, GgufOverride,
    };
    std::string pattern, capture, value, setting;
    Role role = Role::Effective;
};

/// Table `resources/facts/settings.json`: our own names for settings, the engines' spellings of them,
/// and which log captures carry them. Immutable; safe to read from any thread.
class SettingsTable {
public:
    static Result<SettingsTable> parse(DocumentPtr table);

    std::span<const SettingSpec> all() const { return m_settings; }
    const SettingSpec *find(std::string_view name) const;
    /// The setting that `spelling` means for an engine ("" any; "GGUF" for metadata keys), or null.
    /// As a flag or an argument object's key, "seed" may mean another thing than in a request.
    const SettingSpec *resolve(std::string_view engine, std::string_view spelling, bool argument = false) const;
    /// What a pattern's captures say, in table order.
    std::vector<const LogValue *> logValues(std::string_view pattern) const;

private:
    std::vector<SettingSpec> m_settings;
    std::map<std::string, std::size_t, std::less<>> m_byName;
    std::vector<LogValue> m_logValues;
    std::multimap<std::string, std::size_t, std::less<>> m_byPattern;
};

/// A value in the one way we write it: "none" for unset, plain integers for "128k" (1000) and "128K" (1024),
/// "float16" for "half" and "torch.float16", "true"/"false", shortest decimal for numbers.
std::string normalValue(ValueKind kind, std::string_view raw);
/// Of normalised values. Numbers are the same within a relative 1e-6 (float32 in metadata).
bool sameValue(ValueKind kind, std::string_view a, std::string_view b);
/// The value as a number, if it is one.
std::optional<double> asNumber(std::string_view value);
/// "none" or "auto": left to the engine.
bool leftOpen(std::string_view value);

} // namespace prosector
