// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/tensors.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

// safetensors: https://github.com/huggingface/safetensors, enum Dtype. Largest finite values:
// IEEE 754; OCP 8-bit floating point (E4M3 448, E5M2 57344).
constexpr std::array plainTypes = std::to_array<DType>({
    {"BOOL", 1, 1, 0}, {"U8", 1, 1, 0}, {"I8", 1, 1, 0}, {"U16", 1, 2, 0}, {"I16", 1, 2, 0}, {"U32", 1, 4, 0},
    {"I32", 1, 4, 0}, {"U64", 1, 8, 0}, {"I64", 1, 8, 0}, {"F16", 1, 2, 65504}, {"BF16", 1, 2, 3.3895313892515355e38},
    {"F32", 1, 4, 3.4028234663852886e38}, {"F64", 1, 8, 1.7976931348623157e308}, {"F8_E4M3", 1, 1, 448},
    {"F8_E5M2", 1, 1, 57344}, {"F8_E4M3FNUZ", 1, 1, 240}, {"F8_E5M2FNUZ", 1, 1, 57344}, {"F8_E8M0", 1, 1, 1.7014118346046923e38}, {"F4", 2, 1, 6}, {"F6_E2M3", 4, 3, 7.5},
    {"F6_E3M2", 4, 3, 28}, {"C64", 1, 8, 3.4028234663852886e38}, {"C128", 1, 16, 1.7976931348623157e308},
});

struct GgmlType {
    std::uint32_t number;
    DType type;
};
// Numbers and block sizes: ggml.h, enum ggml_type, and ggml-common.h (block structs).
constexpr std::array ggmlTypes = std::to_array<GgmlType>({
    {0, {"F32", 1, 4, 3.4028234663852886e38}}, {1, {"F16", 1, 2, 65504}}, {2, {"Q4_0", 32, 18}},
    {3, {"Q4_1", 32, 20}}, {6, {"Q5_0", 32, 22}}, {7, {"Q5_1", 32, 24}}, {8, {"Q8_0", 32, 34}},
    {9, {"Q8_1", 32, 36}}, {10, {"Q2_K", 256, 84}}, {11, {"Q3_K", 256, 110}}, {12, {"Q4_K", 256, 144}},
    {13, {"Q5_K", 256, 176}}, {14, {"Q6_K", 256, 210}}, {15, {"Q8_K", 256, 292}}, {16, {"IQ2_XXS", 256, 66}},
    {17, {"IQ2_XS", 256, 74}}, {18, {"IQ3_XXS", 256, 98}}, {19, {"IQ1_S", 256, 50}}, {20, {"IQ4_NL", 32, 18}},
    {21, {"IQ3_S", 256, 110}}, {22, {"IQ2_S", 256, 82}}, {23, {"IQ4_XS", 256, 136}}, {24, {"I8", 1, 1}},
    {25, {"I16", 1, 2}}, {26, {"I32", 1, 4}}, {27, {"I64", 1, 8}}, {28, {"F64", 1, 8, 1.7976931348623157e308}},
    {29, {"IQ1_M", 256, 56}}, {30, {"BF16", 1, 2, 3.3895313892515355e38}}, {34, {"TQ1_0", 256, 54}},
    {35, {"TQ2_0", 256, 66}}, {39, {"MXFP4", 32, 17}}, {40, {"NVFP4", 64, 36}}, {41, {"Q1_0", 128, 18}},
});

} // namespace

const DType *dtypeByName(std::string_view name)
{
    if (name == "F8_E4M3FN") // older spelling
        name = "F8_E4M3";
    const auto *const it = std::find_if(plainTypes.begin(), plainTypes.end(), [&](auto &t) { return t.name == name; });
    return it == plainTypes.end() ? nullptr : it;
}

const DType *dtypeByGgml(std::uint32_t number)
{
    const auto *const it =
        std::find_if(ggmlTypes.begin(), ggmlTypes.end(), [&](auto &t) { return t.number == number; });
    return it == ggmlTypes.end() ? nullptr : &it->type;
}

std::optional<std::uint64_t> TensorInfo::elements() const
{
    std::uint64_t product = 1;
    for (const std::uint64_t extent : shape) {
        if (__builtin_mul_overflow(product, extent, &product))
            return std::nullopt;
    }
    return product;
}

std::string TensorInfo::shapeText() const
{
    std::string text;
    for (const std::uint64_t extent : shape)
        text += (text.empty() ? "" : " × ") + std::to_string(extent);
    return text.empty() ? "scalar" : text;
}

const TensorInfo *TensorContent::find(std::string_view name) const
{
    const auto it = std::find_if(tensors.begin(), tensors.end(), [&](const TensorInfo &t) { return t.name == name; });
    return it == tensors.end() ? nullptr : &*it;
}

std::uint64_t TensorContent::dataBytes() const
{
    std::uint64_t sum = 0;
    for (const TensorInfo &tensor : tensors)
        sum += tensor.bytes.size();
    return sum;
}

const GgufValue *GgufContent::get(std::string_view key) const
{
    const auto it = std::find_if(entries.begin(), entries.end(), [&](const GgufEntry &e) { return e.key == key; });
    return it == entries.end() ? nullptr : &it->value;
}

std::optional<std::string> GgufContent::string(std::string_view key) const
{
    const GgufValue *const value = get(key);
    return value && value->type == GgufType::String ? std::optional(value->text) : std::nullopt;
}

std::optional<double> GgufContent::number(std::string_view key) const
{
    const GgufValue *const value = get(key);
    return value && value->isNumber() ? std::optional(value->real) : std::nullopt;
}

std::optional<std::int64_t> GgufContent::integer(std::string_view key) const
{
    const GgufValue *const value = get(key);
    return value && value->isInteger() ? std::optional(value->integer) : std::nullopt;
}

std::optional<bool> GgufContent::boolean(std::string_view key) const
{
    const GgufValue *const value = get(key);
    return value && value->type == GgufType::Bool ? std::optional(value->integer != 0) : std::nullopt;
}

const GgufValue *GgufContent::archGet(std::string_view suffix) const
{
    return get(architecture() + '.' + std::string(suffix));
}

JsonPath GgufContent::anchor(std::string_view key)
{
    JsonPath anchor{"$"};
    anchor.path += "[\"";
    for (const char c : key) {
        if (c == '"' || c == '\\')
            anchor.path += '\\';
        anchor.path += c;
    }
    anchor.path += "\"]";
    return anchor;
}

} // namespace prosector
