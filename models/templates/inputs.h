// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

namespace jinja {
class InputValues;
}

/// Where in the inputs something stands.
struct InputPlace {
    std::string variable; ///< "messages"
    std::string path;     ///< below the variable: "[3].content", empty for the variable itself
    bool key = false;     ///< the key of the member at the path, not its value
    Value value;          ///< in its document; false for plain variables
};

/// The variables a template is rendered with. Values keep their place in the document they came from,
/// which must outlive this. Built on one thread; read by any number.
class TemplateInputs {
public:
    TemplateInputs();
    TemplateInputs(TemplateInputs &&) noexcept;
    TemplateInputs &operator=(TemplateInputs &&) noexcept;
    ~TemplateInputs();

    // A name set twice has the later value.
    void set(std::string name, Value value); ///< Missing and null become None
    void setText(std::string name, std::string text);
    void setBoolean(std::string name, bool value);
    void setInteger(std::string name, std::int64_t value);
    void setNone(std::string name);
    /// Appends to the text of the last message, as continue_final_message does; gives that text before the
    /// change. Errors where Transformers raises.
    Result<std::string> extendFinalMessage(std::string_view name, std::string_view suffix);

    bool has(std::string_view name) const;
    InputPlace place(std::uint32_t source) const; ///< of PromptSpan::source when isInput()

    const jinja::InputValues &values() const { return *m_values; }

private:
    std::unique_ptr<jinja::InputValues> m_values;
};

} // namespace prosector
