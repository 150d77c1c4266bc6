// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/config/pyrepr.h"
#include "models/core/document.h"

#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// One argument as it was given. Offsets count bytes of the text parsed.
struct Argument {
    std::string spelling; ///< as written: "--max-model-len", "VLLM_USE_V1", "max_model_len", "rope_scaling.factor"
    std::string value;    ///< decoded; "true" for a flag without one, "false" for --no-…
    std::size_t begin = 0, end = 0; ///< of the flag and its value
    bool environment = false;       ///< NAME=value before the program, or docker's -e
};

/// A server's command line: which engine it starts, and with what.
struct CommandLine {
    std::string engine;  ///< "vLLM", "SGLang", "llama.cpp", "Ollama", "TGI", or "" when it is none of them
    std::string program; ///< the word that told
    std::vector<Argument> arguments;
};

/// Splits like a POSIX shell (quotes, backslashes, continued lines; no expansion) and reads `--a b`, `--a=b`,
/// `--no-a`, `-c 4096`, environment assignments, `vllm serve MODEL`, `docker run … IMAGE …`. Linear.
CommandLine parseCommandLine(std::string_view text);

/// Does the line look like the start of a server? Cheap.
bool looksLikeServerCommand(std::string_view line);

/// The members of a printed object, nested ones with dotted names: "compilation_config.level".
std::vector<Argument> argumentsOf(const ReprValue &record);

} // namespace prosector
