// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/job.h"
#include "models/runs/weightset.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace prosector {

/// The tensors of one linear module that may be packed; null where absent. Names after their last dot.
struct PackedModule {
    std::string_view name; ///< "model.layers.0.mlp.down_proj"
    const WeightRow *weight = nullptr, *qweight = nullptr, *qzeros = nullptr, *scales = nullptr, *gIdx = nullptr;
    const WeightRow *weightPacked = nullptr, *weightScale = nullptr, *weightScaleInv = nullptr, *weightShape = nullptr,
                    *weightZeroPoint = nullptr;

    bool intPacked() const { return qweight != nullptr; }
    bool compressed() const { return weightPacked != nullptr; }
    bool float8() const;
    bool packed() const { return intPacked() || compressed() || float8(); }
};

/// Modules that hold at least one stored tensor of those names, in order of name.
std::vector<PackedModule> packedModulesOf(const WeightSet &set);

/// How integers lie in 32-bit words along a row.
enum class Packing : std::uint8_t {
    Sequential, ///< lowest bits first (GPTQ, compressed-tensors)
    Awq,        ///< 4-bit values 0,2,4,6,1,3,5,7 from the lowest bits up
};

/// The integer at `index` of a row of packed words; `bits` is 2, 4 or 8.
std::uint32_t unpack(const std::uint32_t *words, std::uint64_t index, unsigned bits, Packing packing);

/// All 32-bit words of an I32 tensor, at most `limit` bytes of them from its beginning.
Result<std::vector<std::uint32_t>> readWords(const WeightRow &row, std::uint64_t limit);

} // namespace prosector
