// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/packedmodules.h"

#include "models/artifacts/tensorname.h"

#include <algorithm>
#include <cstring>

namespace prosector {

namespace {

using namespace std::string_view_literals;
using Member = const WeightRow *PackedModule::*;

constexpr std::array members = std::to_array<std::pair<std::string_view, Member>>({
    {"weight"sv, &PackedModule::weight},
    {"qweight"sv, &PackedModule::qweight},
    {"qzeros"sv, &PackedModule::qzeros},
    {"scales"sv, &PackedModule::scales},
    {"g_idx"sv, &PackedModule::gIdx},
    {"weight_packed"sv, &PackedModule::weightPacked},
    {"weight_scale"sv, &PackedModule::weightScale},
    {"weight_scale_inv"sv, &PackedModule::weightScaleInv},
    {"weight_shape"sv, &PackedModule::weightShape},
    {"weight_zero_point"sv, &PackedModule::weightZeroPoint},
});

} // namespace

bool PackedModule::float8() const
{
    return weight && weight->info && (weight->info->dtypeName == "F8_E4M3" || weight->info->dtypeName == "F8_E5M2");
}

std::vector<PackedModule> packedModulesOf(const WeightSet &set)
{
    std::vector<std::pair<std::string_view, std::pair<Member, const WeightRow *>>> parts;
    for (const WeightRow &row : set.rows) {
        const auto *const member = std::find_if(members.begin(), members.end(), [leaf = leafOf(row.name)](auto &m) { return m.first == leaf; });
        if (row.info && member != members.end())
            parts.push_back({moduleOf(row.name), {member->second, &row}});
    }
    std::stable_sort(parts.begin(), parts.end(), [](auto &a, auto &b) { return a.first < b.first; });
    std::vector<PackedModule> modules;
    for (const auto &[name, part] : parts) {
        if (modules.empty() || modules.back().name != name)
            modules.push_back({.name = name});
        modules.back().*part.first = part.second;
    }
    return modules;
}

std::uint32_t unpack(const std::uint32_t *words, std::uint64_t index, unsigned bits, Packing packing)
{
    const unsigned perWord = 32 / bits;
    auto place = static_cast<unsigned>(index % perWord);
    if (packing == Packing::Awq && bits == 4) {
        constexpr std::array<unsigned, 8> placeOf{0, 4, 1, 5, 2, 6, 3, 7}; // of value i; the inverse of 0,2,4,6,1,3,5,7
        place = placeOf[place];
    }
    return (words[index / perWord] >> (place * bits)) & ((1U << bits) - 1);
}

Result<std::vector<std::uint32_t>> readWords(const WeightRow &row, std::uint64_t limit)
{
    if (row.info->dtypeName != "I32" && row.info->dtypeName != "U32")
        return Error{Errc::Unsupported, std::string(row.name) + " holds no 32-bit words", TensorBlock{std::string(row.name)}, "I32",
                     row.info->dtypeName};
    const auto bytes = row.file->source->read(row.info->bytes.from, std::min(row.info->bytes.size(), limit) / 4 * 4);
    if (!bytes)
        return bytes.error();
    std::vector<std::uint32_t> words(bytes->size() / 4);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto at = [&](std::size_t k) { return std::to_integer<std::uint32_t>((*bytes)[4 * i + k]) << (8 * k); };
        words[i] = at(0) | at(1) | at(2) | at(3);
    }
    return words;
}

} // namespace prosector
