// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace prosector {

/// RFC 4648 with padding. Nothing when it is not that.
std::optional<std::string> decodeBase64(std::string_view text);

} // namespace prosector
