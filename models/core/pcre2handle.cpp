// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/pcre2handle.h"

#include <array>

namespace prosector {

Result<Pcre2Ptr<pcre2_code>> compilePcre2(std::string_view expression, std::uint32_t options)
{
    int problem = 0;
    PCRE2_SIZE offset = 0;
    Pcre2Ptr<pcre2_code> code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                                            options | PCRE2_NEVER_BACKSLASH_C, &problem, &offset, nullptr));
    if (code)
        return code;
    std::array<unsigned char, 160> message{};
    pcre2_get_error_message(problem, message.data(), message.size());
    return Error{Errc::Malformed, "regular expression " + std::string(expression), ByteRange{offset, offset}, "a valid expression",
                 reinterpret_cast<const char *>(message.data())};
}

} // namespace prosector
