// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/artifact.h"
#include "models/artifacts/ggufvalue.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// Element type of a stored tensor. Plain types have blocks of one element; ggml's quantised types
/// store `blockElements` elements in `blockBytes` bytes. Compared by address: use the table.
struct DType {
    std::string_view name; ///< as the format spells it: "BF16", "F8_E4M3", "Q4_K", "<f4"
    std::uint32_t blockElements = 1;
    std::uint32_t blockBytes = 0; ///< 0: size unknown to us
    double largest = 0;           ///< largest finite magnitude of a float type, else 0
};

/// Types by the name safetensors gives them (F32, BF16, I64, BOOL, F8_E4M3 …), or null.
const DType *dtypeByName(std::string_view name);
/// Types by ggml's number (0 = F32, 2 = Q4_0 …), or null.
const DType *dtypeByGgml(std::uint32_t number);

/// One tensor of a file: where it is and how it is laid out. Nothing is read from it here.
struct TensorInfo {
    std::string name;
    const DType *dtype = nullptr;     ///< null when the type is unknown; `dtypeName` still says it
    std::string dtypeName;
    std::vector<std::uint64_t> shape; ///< outermost dimension first (GGUF's order is reversed on reading)
    ByteRange bytes;                  ///< absolute in the artifact's source; empty when the size is unknown
    bool bigEndian = false;           ///< elements of more than a byte have their highest byte first
    ByteRange entry{};                ///< what declares it in the header, absolute; empty where there is no such place

    /// Product of the shape (1 for a scalar), or nothing on overflow.
    std::optional<std::uint64_t> elements() const;
    std::string shapeText() const; ///< "32000 × 4096"
};

struct MetadataEntry {
    std::string key;
    std::string value;
};

/// Anything that lists tensors: safetensors, GGUF, npy, npz, PyTorch zip checkpoints.
struct TensorContent : Content {
    std::vector<TensorInfo> tensors;         ///< in file order
    std::vector<MetadataEntry> metadata;     ///< safetensors' __metadata__, npz member notes
    std::uint64_t dataBegin = 0;             ///< where tensor data starts
    bool fortranOrder = false;               ///< npy only
    const TensorInfo *find(std::string_view name) const; ///< linear
    std::uint64_t dataBytes() const;         ///< sum of all tensors
};

struct GgufContent final : TensorContent {
    std::uint32_t version = 0;
    bool bigEndian = false;
    std::uint64_t alignment = 32;
    std::vector<GgufEntry> entries; ///< in file order; of duplicate keys the first counts, as in gguf_find_key

    const GgufValue *get(std::string_view key) const; ///< null when absent; linear
    std::optional<std::string> string(std::string_view key) const;
    std::optional<double> number(std::string_view key) const;
    std::optional<std::int64_t> integer(std::string_view key) const;
    std::optional<bool> boolean(std::string_view key) const;
    std::string architecture() const { return string("general.architecture").value_or(""); }
    /// `get(architecture + "." + suffix)`.
    const GgufValue *archGet(std::string_view suffix) const;
    static JsonPath anchor(std::string_view key);
};

/// `*.safetensors.index.json` or `pytorch_model.bin.index.json`.
struct WeightIndexContent final : Content {
    struct Row {
        std::string tensor;
        std::string file; ///< as written; may name a file that is absent
    };
    DocumentPtr document;
    std::vector<Row> rows;
    std::optional<std::uint64_t> totalSize; ///< metadata.total_size
};

} // namespace prosector
