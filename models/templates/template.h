// SPDX-License-Identifier: GPL-3.0-or-later
// A chat template that explains itself: every byte it prints knows the place in the template that printed
// it and the input it came from. The language is Jinja as Transformers sets it up
// (transformers.utils.chat_template_utils): ImmutableSandboxedEnvironment, trim_blocks, lstrip_blocks, loop
// controls, `generation`, raise_exception, strftime_now, tojson as json.dumps. Behaviour follows Jinja2 3.1.
#pragma once

#include "models/core/job.h"
#include "models/core/result.h"
#include "models/templates/inputs.h"
#include "models/templates/limits.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

namespace jinja {
struct Tree;
struct Site;
}

struct TemplateOptions {
    bool trimBlocks = true;
    bool lstripBlocks = true;
    bool keepTrailingNewline = false;
};

/// Both counted from 1; columns count code points.
struct LineColumn {
    std::uint32_t line = 1, column = 1;
    auto operator<=>(const LineColumn &) const = default;
};
LineColumn positionIn(std::string_view text, std::uint64_t byte);

/// A place in the template that can run: a text, an expression, a statement with its body's tag.
struct TemplateSite {
    enum class Kind : std::uint8_t { Text, Print, Expression, Statement };
    std::uint32_t from = 0, to = 0; ///< bytes of the source
    Kind kind = Kind::Expression;
};

/// Part of the output that has one origin.
struct PromptSpan {
    std::uint32_t from = 0, to = 0; ///< bytes of the output
    std::uint32_t site = 0;         ///< index into Template::sites(): the literal or expression that printed it
    std::uint32_t source = 0;       ///< 0: computed; else a literal or an input
    std::uint32_t offset = 0;       ///< byte of the source text at `from`
    bool exact = false;             ///< a verbatim copy of the source; otherwise made from it (escaped, upper case, a number)

    bool isLiteral() const { return (source & 0x80000000U) != 0; }
    bool isInput() const { return source != 0 && !isLiteral(); } ///< TemplateInputs::place(source) says which
    bool operator==(const PromptSpan &) const = default;
};

/// What a `generation` block printed (assistant masks), in bytes of the output, where Transformers puts it.
struct GenerationSpan {
    std::uint64_t from = 0, to = 0;
    bool exact = true; ///< false: inside a macro or captured text, where Transformers misplaces it
    bool operator==(const GenerationSpan &) const = default;
};

/// Why a rendering ended early.
struct RenderError {
    Error error;          ///< message "UndefinedError: 'tools' is undefined"; `where` is a TemplateSpan
    std::string type;     ///< of the exception in Python, or "limit", "unsupported", "cancelled"
    LineColumn position;
    std::vector<TemplateSpan> calls; ///< of macros and callers it happened in, innermost first
};

struct Rendered {
    std::string text;                       ///< up to the error, when there is one
    std::vector<PromptSpan> spans;          ///< cover the text without gaps
    std::vector<std::uint32_t> hits;        ///< how often each of Template::sites() ran
    std::vector<GenerationSpan> generations;
    std::optional<RenderError> error;
};

/// A parsed template. Immutable; may render on any number of threads at once.
class Template {
public:
    /// Errors are of kind Malformed (or Unsupported, TooLarge); the message begins with Jinja's exception
    /// ("TemplateSyntaxError: …"), `where` is a TemplateSpan. At most 16 MiB of source.
    static Result<std::shared_ptr<const Template>> parse(std::string source, const TemplateOptions &options = {});
    ~Template();

    /// Never fails as a whole: what was printed before an error is kept.
    Rendered render(const TemplateInputs &inputs, const TemplateTime &now = {}, const RenderLimits &limits = {}, const Job &job = {}) const;

    const std::string &source() const { return m_source; }
    std::span<const TemplateSite> sites() const { return m_sites; }
    LineColumn position(std::uint64_t byte) const { return positionIn(m_source, byte); }
    /// Names the template reads from its inputs, sorted.
    const std::vector<std::string> &variables() const { return m_variables; }

private:
    Template();
    std::string m_source;
    std::unique_ptr<jinja::Tree> m_tree;
    std::vector<TemplateSite> m_sites;
    std::vector<std::string> m_variables;
};
using TemplatePtr = std::shared_ptr<const Template>;

} // namespace prosector
