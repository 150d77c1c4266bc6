// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/job.h"
#include "models/core/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// What a pickle would have built, without building it: nothing is imported, called or executed.
/// Names of classes and functions stay names; a call becomes an Opaque node holding the function and
/// its arguments.
struct PickleNode {
    enum class Type : std::uint8_t {
        None, Boolean, Integer, Float, String, Bytes, Tuple, List, Dict, Set,
        Global,     ///< text: "module name"
        Persistent, ///< items: the one persistent id
        Opaque,     ///< items: what was called or instantiated, its arguments, then states set
    };
    Type type = Type::None;
    std::int64_t integer = 0;         ///< Integer (0 beyond 64 bits) and Boolean
    double real = 0;
    std::string_view text{};          ///< String, Bytes: in the pickle's own bytes
    std::vector<std::uint32_t> items; ///< elements; of a Dict key, value, key, value
};

struct Pickle {
    std::string bytes; ///< what the string_views look into
    std::vector<std::string> globals; ///< "module name" of the Global nodes, by their `integer`
    std::vector<PickleNode> nodes;
    std::uint32_t root = 0;

    const PickleNode &operator[](std::uint32_t index) const { return nodes[index]; }
    /// "module name" of a Global node, else nothing.
    std::string_view global(std::uint32_t index) const;
};

/// Reads a pickle of protocol 0 to 5. Fails on opcodes that need a running Python (extension
/// registry, out-of-band buffers), on a broken stack and beyond 4 million values.
Result<Pickle> readPickle(std::string bytes, const Job &job);

} // namespace prosector
