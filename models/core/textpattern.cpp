// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/textpattern.h"

#include "models/core/pcre2handle.h"

#include <algorithm>
#include <string>

namespace prosector {

namespace {

/// Steps from one place of the text. PCRE2 counts them anew at every place, so this is small and the
/// stretch between two looks at the job is too: an expression slow everywhere can still be stopped.
constexpr std::uint32_t matchLimit = 200'000;
constexpr std::size_t stretch = 64 << 10;

} // namespace

struct TextPattern::Code {
    std::string source;
    Pcre2Ptr<pcre2_code> code;
};

Result<TextPattern> TextPattern::compile(std::string_view expression)
{
    auto code = compilePcre2(expression, PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_MATCH_INVALID_UTF | PCRE2_USE_OFFSET_LIMIT);
    if (!code)
        return code.error();
    pcre2_jit_compile(code->get(), PCRE2_JIT_COMPLETE); // without it the interpreter serves
    TextPattern pattern;
    pattern.m_code = std::make_shared<const Code>(Code{std::string(expression), std::move(*code)});
    return pattern;
}

Result<void> TextPattern::findAll(std::string_view text, const Job &job, const std::function<bool(const ByteRange &)> &found) const
{
    const Pcre2Ptr<pcre2_match_context> context(pcre2_match_context_create(nullptr));
    const Pcre2Ptr<pcre2_match_data> data(pcre2_match_data_create(1, nullptr));
    pcre2_set_match_limit(context.get(), matchLimit);
    for (std::size_t at = 0; at < text.size();) {
        if (job.cancelled())
            return Job::cancelledError();
        job.progress(static_cast<double>(at) / static_cast<double>(text.size()));
        const std::size_t last = std::min(text.size(), at + stretch);
        pcre2_set_offset_limit(context.get(), last);
        const int result = pcre2_match(m_code->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at, 0, data.get(), context.get());
        if (result == PCRE2_ERROR_NOMATCH) {
            at = last;
            continue;
        }
        if (result < 0) {
            return Error{Errc::TooLarge, "regular expression " + m_code->source, ByteRange{at, last},
                         "a match within " + std::to_string(matchLimit) + " steps", "PCRE2 error " + std::to_string(result)};
        }
        const PCRE2_SIZE *const ends = pcre2_get_ovector_pointer(data.get());
        const bool empty = ends[1] <= ends[0];
        if (!empty && !found(ByteRange{ends[0], ends[1]}))
            return {};
        at = empty ? ends[0] + 1 : std::max(ends[1], at + 1);
        while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80)
            ++at;
    }
    return {};
}

} // namespace prosector
