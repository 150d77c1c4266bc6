// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/runs/run.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace prosector::report {

/// Indented by one space, UTF-8, a newline at the end. Characters that could steer a terminal stand
/// as \uXXXX escapes, so the values stay exact. Strings must be valid UTF-8.
std::string jsonText(const nlohmann::ordered_json &json);
/// The same on one line, without a newline; bytes that are not UTF-8 become U+FFFD.
std::string jsonLine(const nlohmann::ordered_json &json);

nlohmann::ordered_json inputsJson(const Run &run);
/// Appends what the run could not read; `baseline` marks each as of run B.
void appendUnreadable(nlohmann::ordered_json &list, const Run &run, bool baseline = false);

} // namespace prosector::report
