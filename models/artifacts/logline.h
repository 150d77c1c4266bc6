// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace prosector {

/// Length of what a collector put before a program's own line, 0 when there is nothing of the kind:
/// `vllm-1  | ` (Docker Compose), `[pod/x/y] ` (kubectl), `2025-06-11T10:00:01.1Z stderr F ` (the container
/// runtime interface), `Jun 11 10:00:01 host ollama[1]: ` and `2025-06-11T10:00:01+0000 host x[1]: ` (journald, in
/// any language's short month), `> ` (a quotation), `[…] [info] [WASI-NN] llama.cpp: `. One of them; lines have been
/// through several, so callers ask again. A date alone is not taken off here: `stampPrefix` does that.
std::size_t collectorPrefix(std::string_view line);

/// Length of a date and time that a collector put first (`docker logs -t`, Docker Desktop), 0 when the line does
/// not begin with one. Programs begin their own lines like this too: only for lines that say nothing otherwise.
std::size_t stampPrefix(std::string_view line);

} // namespace prosector
