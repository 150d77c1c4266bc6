// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace prosector::jinja {

/// The exceptions of Python and Jinja that templates can meet, and our own limits.
enum class Exc : std::uint8_t {
    TypeError,
    ValueError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    ZeroDivisionError,
    RecursionError,
    RuntimeError,
    AssertionError,
    SyntaxError,
    TemplateError,
    TemplateSyntaxError,
    TemplateAssertionError,
    TemplateRuntimeError,
    UndefinedError,
    SecurityError,
    FilterArgumentError,
    Limit,       ///< one of RenderLimits was reached
    Unsupported, ///< valid Jinja that we do not do
    Cancelled,
};

std::string nameOf(Exc type);

/// A Python exception on its way out of a template: thrown and caught inside this folder only; parse()
/// and render() turn it into an Error. It is no defect of ours, and filters such as `int` catch it.
struct Raised {
    Exc type;
    std::string message;
    std::uint32_t site = 0; ///< of the innermost node that was being evaluated
    bool placed = false;
    std::vector<std::uint32_t> calls{}; ///< sites of the calls it passed on its way out, innermost first
};

[[noreturn]] void raise(Exc type, std::string message);

} // namespace prosector::jinja
