// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/tensors.h"
#include "models/core/job.h"

#include <functional>
#include <span>
#include <vector>

namespace prosector {

/// Whether readTensor() can turn this type into numbers: BOOL, the integers, F16, BF16, F32, F64 and
/// the 8-bit floats. Not: packed and quantised types, complex numbers, unknown types.
bool hasPlainValues(const DType *dtype);

/// Elements [from, from + count) of a tensor in the order they are stored (row by row, except in a
/// Fortran-ordered npy), converted to T: double, float or std::int64_t. `source` is the artifact's.
/// Exact wherever T can hold the value; int64 is given for BOOL and integers only (U64 above 2^63
/// wraps). Subnormals, infinities and NaN are kept. Errors: `Unsupported` type, `OutOfRange` elements
/// or bytes outside the file, `Cancelled`.
template<class T>
Result<std::vector<T>> readTensor(const ByteSource &source, const TensorInfo &tensor, std::uint64_t from,
                                  std::uint64_t count, const Job &job);

/// The whole tensor, at most `limit` elements (`TooLarge`): for biases, scales, position ids.
template<class T>
Result<std::vector<T>> readTensor(const ByteSource &source, const TensorInfo &tensor, const Job &job,
                                  std::uint64_t limit = 1 << 24);

/// The whole tensor in windows of at most 65,536 elements: `use(index of the first, values)`. Stops
/// with the first error; values already handed out stay handed out.
Result<void> scanTensor(const ByteSource &source, const TensorInfo &tensor, const Job &job,
                        const std::function<void(std::uint64_t first, std::span<const double> values)> &use);

/// Where the bytes of a tensor are: the artifact's `file`, or what a deflated .npz was unpacked to.
/// `tensor` is one of `content.tensors`.
const ByteSource &sourceOf(const TensorContent &content, const TensorInfo &tensor, const ByteSource &file);

// Single conversions, for packed formats that hold such numbers among others.
float halfToFloat(std::uint16_t bits);   ///< IEEE 754 binary16
float bfloatToFloat(std::uint16_t bits); ///< the upper half of a binary32
float e4m3ToFloat(std::uint8_t bits);    ///< OCP E4M3: no infinities, 0x7F and 0xFF are NaN
float e5m2ToFloat(std::uint8_t bits);    ///< OCP E5M2
float e8m0ToFloat(std::uint8_t bits);    ///< OCP E8M0: 2^(bits - 127), 0xFF is NaN
float e4m3FnuzToFloat(std::uint8_t bits); ///< bias 8, no infinities, 0x80 is NaN
float e5m2FnuzToFloat(std::uint8_t bits); ///< bias 16, no infinities, 0x80 is NaN

} // namespace prosector
