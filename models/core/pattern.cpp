// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/pattern.h"

#include "models/core/pcre2handle.h"

namespace prosector {

struct NamePattern::Code {
    Pcre2Ptr<pcre2_code> code;
    Pcre2Ptr<pcre2_match_context> context;
};

Result<NamePattern> NamePattern::compile(std::string_view text, Extent extent)
{
    if (text.size() > 64 * 1024)
        return Error{Errc::TooLarge, "the pattern is longer than 64 KiB"};
    auto compiled = compilePcre2(text, PCRE2_ANCHORED | (extent == Extent::Full ? PCRE2_ENDANCHORED : 0U));
    if (!compiled)
        return Error{Errc::Malformed, "the pattern does not compile: " + compiled.error().found, compiled.error().where};
    auto code = std::make_shared<Code>();
    code->code = std::move(*compiled);
    code->context.reset(pcre2_match_context_create(nullptr));
    pcre2_set_match_limit(code->context.get(), 100'000);
    pcre2_set_depth_limit(code->context.get(), 10'000);
    NamePattern pattern;
    pattern.m_code = std::move(code);
    return pattern;
}

bool NamePattern::matches(std::string_view subject) const
{
    const Pcre2Ptr<pcre2_match_data> data(pcre2_match_data_create(1, nullptr));
    return pcre2_match(m_code->code.get(), reinterpret_cast<PCRE2_SPTR>(subject.data()), subject.size(), 0, 0, data.get(),
                       m_code->context.get())
           >= 0;
}

} // namespace prosector
