// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"
#include "models/templates/renderer.h"

#include <deque>

namespace prosector::jinja {

/// The values behind TemplateInputs: immortal, so that threads may share them.
class InputValues {
public:
    struct Variable {
        std::string name;
        Var value;
        SourceId first = 0, end = 0; ///< sources of this variable
        Value document;              ///< root of its value; false for plain ones
    };

    InputValues() = default;
    ~InputValues();
    InputValues(const InputValues &) = delete;
    InputValues &operator=(const InputValues &) = delete;

    void add(std::string name, Value value);
    void add(std::string name, Var value); ///< of a scalar
    Var text(std::string bytes, std::vector<Piece> pieces = {});

    const std::deque<Variable> &variables() const { return m_variables; }
    std::deque<Variable> &variables() { return m_variables; }
    std::vector<Binding> bindings() const;

private:
    Var convert(Value value, SourceId base, std::uint32_t root);
    Var number(Value value);
    Var own(Kind kind, std::unique_ptr<HeapObject> object);

    std::deque<Variable> m_variables;
    std::vector<std::unique_ptr<HeapObject>> m_objects;
    SourceId m_next = 1;
};

} // namespace prosector::jinja
