// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// One value of a printed object: Python's repr of dictionaries, lists and dataclasses, Rust's `{:?}`,
/// Go's `map[a:1 b:2]`. Offsets count bytes of the text parsed.
struct ReprValue {
    enum class Kind : std::uint8_t { Word, String, List, Record };
    Kind kind = Kind::Word;
    std::string name; ///< of a record: "ServerArgs"; "" for a dictionary
    std::string text; ///< decoded string, or the word as it stands: "None", "40960", "torch.bfloat16"
    std::size_t begin = 0, end = 0;
    struct Member {
        std::string key; ///< "" in lists and for positional arguments
        std::vector<ReprValue> value; ///< exactly one; a vector because the type is not complete here
        std::size_t keyBegin = 0;
    };
    std::vector<Member> members;

    const ReprValue *get(std::string_view key) const; ///< null when absent
    bool isNone() const { return kind == Kind::Word && (text == "None" || text == "null" || text == "nil"); }
};

/// Reads one value from `offset`. Tolerant: what is cut off at the end closes there, what fits no form is
/// taken as a word up to the next comma or closing bracket. Nesting beyond 64 levels is kept as text.
/// Linear in the length.
ReprValue parseRepr(std::string_view text, std::size_t offset = 0);

/// Reads `a=1, b='x', …` or `a: 1, b: "x"` without brackets around, up to the end of the text.
ReprValue parseReprMembers(std::string_view text, std::size_t offset = 0);

} // namespace prosector
