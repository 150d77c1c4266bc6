// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/tensordata.h"

#include "models/artifacts/npzcontent.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace prosector {

namespace {

constexpr std::uint64_t windowElements = 65'536;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// A float of `exponentBits` and `mantissaBits` below the sign, all finite but what the caller excludes.
template<int exponentBits, int mantissaBits, int bias>
float smallFloat(unsigned bits)
{
    const unsigned mantissa = bits & ((1U << mantissaBits) - 1);
    const int exponent = static_cast<int>(bits >> mantissaBits & ((1U << exponentBits) - 1));
    const float magnitude = exponent == 0
        ? std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissaBits)
        : std::ldexp(static_cast<float>(mantissa | 1U << mantissaBits), exponent - bias - mantissaBits);
    return bits >> (exponentBits + mantissaBits) & 1U ? -magnitude : magnitude;
}

template<class Bits, class T>
T load(const std::byte *at, bool swap)
{
    Bits bits;
    std::memcpy(&bits, at, sizeof bits);
    if (swap) {
        if constexpr (sizeof bits == 2)
            bits = __builtin_bswap16(bits);
        else if constexpr (sizeof bits == 4)
            bits = __builtin_bswap32(bits);
        else if constexpr (sizeof bits == 8)
            bits = __builtin_bswap64(bits);
    }
    return std::bit_cast<T>(bits);
}

template<class T>
using Convert = void (*)(const std::byte *in, std::size_t count, bool swap, T *out);

/// One loop per pair of types, so that the compiler can make it fast.
template<class T, class Bits, auto decode>
void convert(const std::byte *in, std::size_t count, bool swap, T *out)
{
    if (swap) {
        for (std::size_t i = 0; i < count; ++i)
            out[i] = static_cast<T>(decode(load<Bits, Bits>(in + i * sizeof(Bits), true)));
    } else {
        for (std::size_t i = 0; i < count; ++i)
            out[i] = static_cast<T>(decode(load<Bits, Bits>(in + i * sizeof(Bits), false)));
    }
}

template<class To>
constexpr auto as = [](auto bits) { return std::bit_cast<To>(bits); };

/// PyTorch and NumPy write 0 and 1; any other byte is true.
constexpr auto truth = [](std::uint8_t byte) { return byte != 0 ? 1 : 0; };

template<class T>
struct Row {
    std::string_view type;
    Convert<T> convert;
};

template<class T>
constexpr std::array integerRows = std::to_array<Row<T>>({
    {"BOOL", convert<T, std::uint8_t, truth>},
    {"U8", convert<T, std::uint8_t, as<std::uint8_t>>},
    {"I8", convert<T, std::uint8_t, as<std::int8_t>>},
    {"U16", convert<T, std::uint16_t, as<std::uint16_t>>},
    {"I16", convert<T, std::uint16_t, as<std::int16_t>>},
    {"U32", convert<T, std::uint32_t, as<std::uint32_t>>},
    {"I32", convert<T, std::uint32_t, as<std::int32_t>>},
    {"U64", convert<T, std::uint64_t, as<std::uint64_t>>},
    {"I64", convert<T, std::uint64_t, as<std::int64_t>>},
});

template<class T>
constexpr std::array floatRows = std::to_array<Row<T>>({
    {"F16", convert<T, std::uint16_t, halfToFloat>},
    {"BF16", convert<T, std::uint16_t, bfloatToFloat>},
    {"F32", convert<T, std::uint32_t, as<float>>},
    {"F64", convert<T, std::uint64_t, as<double>>},
    {"F8_E4M3", convert<T, std::uint8_t, e4m3ToFloat>},
    {"F8_E5M2", convert<T, std::uint8_t, e5m2ToFloat>},
    {"F8_E8M0", convert<T, std::uint8_t, e8m0ToFloat>},
    {"F8_E4M3FNUZ", convert<T, std::uint8_t, e4m3FnuzToFloat>},
    {"F8_E5M2FNUZ", convert<T, std::uint8_t, e5m2FnuzToFloat>},
});

template<class T, std::size_t n>
Convert<T> findRow(const std::array<Row<T>, n> &rows, std::string_view type)
{
    const auto it = std::find_if(rows.begin(), rows.end(), [&](const Row<T> &row) { return row.type == type; });
    return it == rows.end() ? nullptr : it->convert;
}

template<class T>
Convert<T> converter(const DType *dtype)
{
    if (!dtype)
        return nullptr;
    if (const auto found = findRow(integerRows<T>, dtype->name))
        return found;
    if constexpr (std::is_floating_point_v<T>)
        return findRow(floatRows<T>, dtype->name);
    else
        return nullptr;
}

Error unsupported(const TensorInfo &tensor, bool integers)
{
    return {Errc::Unsupported, "values of tensor \"" + tensor.name + "\" are not read" + (integers ? " as integers" : ""),
            TensorBlock{tensor.name}, integers ? "an integer type" : "a plain number type", tensor.dtypeName};
}

/// Element `count` from `from` are inside the tensor's bytes.
Result<void> checkRange(const TensorInfo &tensor, std::uint64_t from, std::uint64_t count)
{
    const std::uint64_t held = tensor.bytes.size() / tensor.dtype->blockBytes;
    if (from <= held && count <= held - from)
        return {};
    return Error{Errc::OutOfRange, "elements outside tensor \"" + tensor.name + '"', TensorBlock{tensor.name},
                 "at most " + std::to_string(held), std::to_string(count) + " from " + std::to_string(from)};
}

/// Calls `window(first, count, bytes)`.
template<class Window>
Result<void> inWindows(const ByteSource &source, const TensorInfo &tensor, std::uint64_t from, std::uint64_t count,
                       const Job &job, Window window)
{
    const std::uint64_t size = tensor.dtype->blockBytes;
    Bytes buffer(std::min(count, windowElements) * size);
    for (std::uint64_t done = 0; done < count;) {
        if (job.cancelled())
            return Job::cancelledError();
        const std::uint64_t now = std::min(count - done, windowElements);
        const auto part = std::span(buffer).first(now * size);
        if (auto read = source.read(tensor.bytes.from + (from + done) * size, part); !read)
            return read.error();
        window(from + done, now, part.data());
        done += now;
    }
    return {};
}

bool needsSwap(const TensorInfo &tensor)
{
    return tensor.bigEndian != (std::endian::native == std::endian::big);
}

} // namespace

bool hasPlainValues(const DType *dtype)
{
    return converter<double>(dtype) != nullptr;
}

template<class T>
Result<std::vector<T>> readTensor(const ByteSource &source, const TensorInfo &tensor, std::uint64_t from,
                                  std::uint64_t count, const Job &job)
{
    const auto convertTo = converter<T>(tensor.dtype);
    if (!convertTo)
        return unsupported(tensor, std::is_integral_v<T> && hasPlainValues(tensor.dtype));
    if (auto inside = checkRange(tensor, from, count); !inside)
        return inside.error();
    if (tensor.bytes.to > source.size())
        return Error{Errc::OutOfRange, "tensor \"" + tensor.name + "\" ends behind the end of the file", tensor.bytes,
                     std::to_string(tensor.bytes.to) + " bytes", std::to_string(source.size()) + " bytes"};
    std::vector<T> values(count);
    const auto done = inWindows(source, tensor, from, count, job, [&](std::uint64_t first, std::uint64_t n, const std::byte *bytes) {
        convertTo(bytes, n, needsSwap(tensor), values.data() + (first - from));
    });
    if (!done)
        return done.error();
    return values;
}

template<class T>
Result<std::vector<T>> readTensor(const ByteSource &source, const TensorInfo &tensor, const Job &job, std::uint64_t limit)
{
    const std::uint64_t count = tensor.dtype && tensor.dtype->blockBytes ? tensor.bytes.size() / tensor.dtype->blockBytes : 0;
    if (count > limit) {
        return Error{Errc::TooLarge, "tensor \"" + tensor.name + "\" has more elements than are read at once",
                     TensorBlock{tensor.name}, "at most " + std::to_string(limit), std::to_string(count)};
    }
    return readTensor<T>(source, tensor, 0, count, job);
}

template Result<std::vector<double>> readTensor(const ByteSource &, const TensorInfo &, std::uint64_t, std::uint64_t, const Job &);
template Result<std::vector<float>> readTensor(const ByteSource &, const TensorInfo &, std::uint64_t, std::uint64_t, const Job &);
template Result<std::vector<std::int64_t>> readTensor(const ByteSource &, const TensorInfo &, std::uint64_t, std::uint64_t,
                                                      const Job &);
template Result<std::vector<double>> readTensor(const ByteSource &, const TensorInfo &, const Job &, std::uint64_t);
template Result<std::vector<float>> readTensor(const ByteSource &, const TensorInfo &, const Job &, std::uint64_t);
template Result<std::vector<std::int64_t>> readTensor(const ByteSource &, const TensorInfo &, const Job &, std::uint64_t);

Result<void> scanTensor(const ByteSource &source, const TensorInfo &tensor, const Job &job,
                        const std::function<void(std::uint64_t, std::span<const double>)> &use)
{
    const auto convertTo = converter<double>(tensor.dtype);
    if (!convertTo)
        return unsupported(tensor, false);
    std::vector<double> values(windowElements);
    return inWindows(source, tensor, 0, tensor.bytes.size() / tensor.dtype->blockBytes, job,
                     [&](std::uint64_t first, std::uint64_t n, const std::byte *bytes) {
                         convertTo(bytes, n, needsSwap(tensor), values.data());
                         use(first, std::span<const double>(values).first(n));
                     });
}

const ByteSource &sourceOf(const TensorContent &content, const TensorInfo &tensor, const ByteSource &file)
{
    const auto *const npz = dynamic_cast<const NpzContent *>(&content);
    const auto index = static_cast<std::size_t>(&tensor - content.tensors.data());
    return npz && npz->unpacked && npz->inUnpacked[index] ? *npz->unpacked : file;
}

float halfToFloat(std::uint16_t bits)
{
    if ((bits & 0x7C00U) == 0x7C00U) // infinite or NaN, with its payload
        return std::bit_cast<float>((bits & 0x8000U) << 16 | 0x7F800000U | (bits & 0x3FFU) << 13);
    return smallFloat<5, 10, 15>(bits);
}

float bfloatToFloat(std::uint16_t bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

float e4m3ToFloat(std::uint8_t bits)
{
    return (bits & 0x7FU) == 0x7FU ? nan : smallFloat<4, 3, 7>(bits);
}

float e5m2ToFloat(std::uint8_t bits)
{
    return halfToFloat(static_cast<std::uint16_t>(bits << 8)); // the upper half of a binary16
}

float e8m0ToFloat(std::uint8_t bits)
{
    return bits == 0xFF ? nan : std::ldexp(1.0F, bits - 127);
}

float e4m3FnuzToFloat(std::uint8_t bits)
{
    return bits == 0x80 ? nan : smallFloat<4, 3, 8>(bits);
}

float e5m2FnuzToFloat(std::uint8_t bits)
{
    return bits == 0x80 ? nan : smallFloat<5, 2, 16>(bits);
}

} // namespace prosector
