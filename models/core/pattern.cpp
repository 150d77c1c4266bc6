// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace prosector {

struct NamePattern::Code {
    pcre2_code *code = nullptr;
    pcre2_match_context *context = nullptr;
    Code() = default;
    Code(const Code &) = delete;
    Code &operator=(const Code &) = delete;
    ~Code()
    {
        pcre2_code_free(code);
        pcre2_match_context_free(context);
    }
};

Result<NamePattern> NamePattern::compile(std::string_view text, Extent extent)
{
    if (text.size() > 64 * 1024)
        return Error{Errc::TooLarge, "the pattern is longer than 64 KiB"};
    auto code = std::make_shared<Code>();
    int error = 0;
    PCRE2_SIZE where = 0;
    const std::uint32_t options = PCRE2_ANCHORED | (extent == Extent::Full ? PCRE2_ENDANCHORED : 0U) | PCRE2_NEVER_BACKSLASH_C;
    code->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), options, &error, &where, nullptr);
    if (!code->code) {
        PCRE2_UCHAR message[160] = {};
        pcre2_get_error_message(error, message, sizeof message);
        return Error{Errc::Malformed, "the pattern does not compile: " + std::string(reinterpret_cast<const char *>(message)),
                     ByteRange{where, where}};
    }
    code->context = pcre2_match_context_create(nullptr);
    pcre2_set_match_limit(code->context, 100'000);
    pcre2_set_depth_limit(code->context, 10'000);
    NamePattern pattern;
    pattern.m_code = std::move(code);
    return pattern;
}

bool NamePattern::matches(std::string_view subject) const
{
    const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> data(pcre2_match_data_create(1, nullptr),
                                                                                    pcre2_match_data_free);
    return pcre2_match(m_code->code, reinterpret_cast<PCRE2_SPTR>(subject.data()), subject.size(), 0, 0, data.get(),
                       m_code->context)
           >= 0;
}

} // namespace prosector
