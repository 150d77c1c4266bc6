// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/problems.h"
#include "models/artifacts/tensors.h"

namespace prosector {

/// Bytes a tensor of this type and shape takes, or nothing when the type's size is unknown, the
/// product overflows, or the innermost dimension is no whole number of blocks.
std::optional<std::uint64_t> storedBytes(const DType *dtype, std::span<const std::uint64_t> shape);

/// Sets `bytes` from the type and shape of a tensor that starts `relative` bytes behind `dataBegin`.
/// Says what makes that impossible; the range is then empty.
void placeTensor(TensorInfo &tensor, std::uint64_t dataBegin, std::uint64_t relative, Problems &problems);

/// Tensors that leave the file, overlap, or share a name.
void checkTensorLayout(const std::vector<TensorInfo> &tensors, std::uint64_t fileSize, Problems &problems);

/// "291 tensors, 4.1 GB, mostly Q4_K": the type with the most bytes.
std::string tensorSummary(const TensorContent &content);

} // namespace prosector
