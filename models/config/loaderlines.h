// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/artifact.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prosector {

/// What a loader says in a start-up log of tensors that did not go from file to model one to one.
struct LoaderLine {
    enum class What : std::uint8_t {
        Initialized, ///< the model needs it, the file lacks it: filled with random values
        Reshaped,    ///< the shapes differ: filled with random values
        Unused,      ///< the file has it, the model does not: dropped
    };
    What what;
    std::uint64_t line;               ///< counted from 1
    std::string model;                ///< checkpoint or class named, if any
    std::vector<std::string> tensors; ///< as named, in order
};

/// Lines of Transformers 4 ("Some weights of … newly initialized: […]", with the shape lines that
/// follow), its load report of version 5 ("lm_head.weight | MISSING |"), vLLM ("Following weights were
/// not loaded / initialized from checkpoint") and llama.cpp ("model has unused tensor").
std::vector<LoaderLine> loaderLinesOf(const TextContent &log);

/// Whether the log is one of training, where a new head is meant to start at random.
bool isTrainingLog(const TextContent &log);

} // namespace prosector
