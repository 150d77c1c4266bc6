// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/instruments/instrument.h"

#include <string>

namespace prosector {

/// The help page of an instrument: Markdown from `resourceFolder()/help/<slug>.md`.
Result<std::string> helpPage(const Instrument &instrument);

/// Every instrument with its question, by family.
std::string instrumentListText();
std::string instrumentListJson();

/// Question, inputs, thresholds and help page of one.
Result<std::string> instrumentText(const Instrument &instrument);
Result<std::string> instrumentJson(const Instrument &instrument);

} // namespace prosector
