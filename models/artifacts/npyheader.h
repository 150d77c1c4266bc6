// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/problems.h"
#include "models/artifacts/tensors.h"

#include <span>

namespace prosector {

/// The header of an .npy array (numpy/lib/format.py, versions 1.0 to 3.0).
struct NpyHeader {
    std::string descr;                ///< "<f4", "|O"; of a structured type its whole text
    bool fortranOrder = false;
    bool structured = false;          ///< a record type
    std::vector<std::uint64_t> shape;
    std::uint64_t dataBegin = 0;      ///< from the start of the array's file
};

/// Bytes of `head` needed to hold the header, from its first twelve: "\x93NUMPY", version, length.
/// Nothing when these are no array's.
std::optional<std::uint64_t> npyHeaderBytes(std::span<const std::byte> head);

/// Reads the dictionary; `head` holds at least npyHeaderBytes(). Offsets in errors are from the
/// start of the array's file.
Result<NpyHeader> parseNpyHeader(std::span<const std::byte> head);

/// The array as a tensor lying at [begin, end) of a source (from the magic number on). Says what does
/// not fit: bytes missing or left over, objects that are pickles, record types.
TensorInfo npyTensor(const NpyHeader &header, std::string name, ByteRange file, Problems &problems);

} // namespace prosector
