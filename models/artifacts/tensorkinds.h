// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/artifact.h"
#include "models/artifacts/tensors.h"

#include <span>
#include <string_view>

namespace prosector {

/// The part of a source's name behind the last folder or archive: "a.zip!b/mask.npy" → "mask.npy".
std::string_view fileNameOf(std::string_view sourceName);

/// What a file of named tensors is: adapter weights (PEFT's lora_A and lora_B, IA³, or a file called
/// adapter_model), a capture of a forward pass (input_ids, attention_mask, logits …), or weights.
Kind kindOfTensors(std::string_view fileName, std::span<const TensorInfo> tensors);

/// What a single array is by its file's name: "attention_mask.npy", "logits_restricted.npy".
Kind kindOfArray(std::string_view fileName);

} // namespace prosector
