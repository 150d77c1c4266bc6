// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/inputs.h"

#include "models/core/utf8.h"
#include "models/templates/inputvalues.h"
#include "models/templates/operators.h"
#include "models/templates/pystring.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace prosector {

namespace jinja {

InputValues::~InputValues()
{
    // Every handle goes before any object: immortal ones are not kept by their handles.
    m_variables.clear();
    for (const auto &object : m_objects) {
        if (auto *const list = dynamic_cast<Sequence *>(object.get()))
            list->items.clear();
        else if (auto *const dict = dynamic_cast<Dict *>(object.get()))
            dict->entries.clear();
    }
}

Var InputValues::own(Kind kind, std::unique_ptr<HeapObject> object)
{
    object->references = HeapObject::immortal;
    Var made = Var::heap(kind, object.get());
    m_objects.push_back(std::move(object));
    return made;
}

Var InputValues::text(std::string bytes, std::vector<Piece> pieces)
{
    auto object = std::make_unique<Text>(std::move(bytes));
    object->points = codePointCount(object->bytes);
    object->pieces = std::move(pieces);
    return own(Kind::String, std::move(object));
}

/// Python's json: integers stay whole, whatever their size.
Var InputValues::number(Value value)
{
    const std::string_view raw = value.raw();
    if (raw.find_first_of(".eEnNI") == std::string_view::npos) {
        std::int64_t whole = 0;
        const auto parsed = std::from_chars(raw.data(), raw.data() + raw.size(), whole);
        if (parsed.ec == std::errc() && parsed.ptr == raw.data() + raw.size())
            return Var::integer(whole);
        const Var digits = text(std::string(raw));
        return Var::heap(Kind::BigInt, const_cast<HeapObject *>(digits.heapObject()));
    }
    double number = 0;
    if (raw == "NaN")
        number = std::numeric_limits<double>::quiet_NaN();
    else if (raw == "Infinity" || raw == "-Infinity")
        number = raw[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    else if (std::from_chars(raw.data(), raw.data() + raw.size(), number).ec == std::errc::result_out_of_range)
        number = overflowed(raw);
    return Var::real(number);
}

Var InputValues::convert(Value value, SourceId base, std::uint32_t root)
{
    // Two sources a node: its value and its key.
    const SourceId source = base + (value.node() - root) * 2;
    Var made = Var::none();
    switch (value.type()) {
    case Value::Type::Boolean: made = Var::boolean(value.boolean().value_or(false)); break;
    case Value::Type::Number: made = number(value); break;
    case Value::Type::String: made = text(toValidUtf8(value.string(""))); break;
    case Value::Type::Array: {
        auto list = std::make_unique<Sequence>();
        list->items.reserve(value.size());
        for (const Value item : value)
            list->items.push_back(convert(item, base, root));
        made = own(Kind::List, std::move(list));
        break;
    }
    case Value::Type::Object: {
        auto dict = std::make_unique<Dict>();
        dict->entries.reserve(value.size());
        for (const Value member : value) {
            Var key = text(toValidUtf8(member.key()));
            key.setSource(base + (member.node() - root) * 2 + 1);
            dict->set(std::move(key), convert(member, base, root));
        }
        made = own(Kind::Dict, std::move(dict));
        break;
    }
    case Value::Type::Missing:
    case Value::Type::Null: break;
    }
    made.setSource(source);
    return made;
}

void InputValues::add(std::string name, Value value)
{
    Variable variable;
    variable.name = std::move(name);
    variable.document = value;
    variable.first = m_next;
    // The nodes of a value stand together; its last descendant is the last of them.
    std::uint32_t last = value.node();
    for (Value at = value; at.size() > 0;) {
        Value child;
        for (const Value next : at)
            child = next;
        at = child;
        last = at.node();
    }
    const std::uint32_t nodes = last - value.node() + 1;
    variable.value = convert(value, m_next, value ? value.node() : 0);
    m_next += nodes * 2;
    variable.end = m_next;
    m_variables.push_back(std::move(variable));
}

void InputValues::add(std::string name, Var value)
{
    Variable variable;
    variable.name = std::move(name);
    variable.first = m_next;
    variable.value = std::move(value);
    variable.value.setSource(m_next);
    m_next += 2;
    variable.end = m_next;
    m_variables.push_back(std::move(variable));
}

std::vector<Binding> InputValues::bindings() const
{
    std::vector<Binding> bindings;
    bindings.reserve(m_variables.size());
    for (const Variable &variable : m_variables)
        bindings.push_back({variable.name, variable.value});
    return bindings;
}

} // namespace jinja

TemplateInputs::TemplateInputs() : m_values(std::make_unique<jinja::InputValues>()) {}
TemplateInputs::TemplateInputs(TemplateInputs &&) noexcept = default;
TemplateInputs &TemplateInputs::operator=(TemplateInputs &&) noexcept = default;
TemplateInputs::~TemplateInputs() = default;

void TemplateInputs::set(std::string name, Value value)
{
    m_values->add(std::move(name), value);
}

void TemplateInputs::setText(std::string name, std::string text)
{
    m_values->add(std::move(name), m_values->text(toValidUtf8(text)));
}

void TemplateInputs::setBoolean(std::string name, bool value)
{
    m_values->add(std::move(name), jinja::Var::boolean(value));
}

void TemplateInputs::setInteger(std::string name, std::int64_t value)
{
    m_values->add(std::move(name), jinja::Var::integer(value));
}

void TemplateInputs::setNone(std::string name)
{
    m_values->add(std::move(name), jinja::Var::none());
}

bool TemplateInputs::has(std::string_view name) const
{
    const auto &all = m_values->variables();
    return std::any_of(all.begin(), all.end(), [name](const auto &variable) { return variable.name == name; });
}

InputPlace TemplateInputs::place(std::uint32_t source) const
{
    for (const auto &variable : m_values->variables()) {
        if (source < variable.first || source >= variable.end)
            continue;
        InputPlace place;
        place.variable = variable.name;
        if (!variable.document)
            return place;
        const std::uint32_t step = source - variable.first;
        const std::string whole = variable.document.path();
        place.key = step % 2 == 1;
        // Nodes are numbered in the order of the text: the last child not behind the one sought holds it.
        const std::uint32_t node = variable.document.node() + step / 2;
        place.value = variable.document;
        while (place.value.node() != node && place.value.size() > 0) {
            Value inside = *place.value.begin();
            for (const Value child : place.value) {
                if (child.node() > node)
                    break;
                inside = child;
            }
            place.value = inside;
        }
        const std::string path = place.value.path();
        place.path = path.substr(std::min(whole.size(), path.size()));
        return place;
    }
    return {};
}

Result<std::string> TemplateInputs::extendFinalMessage(std::string_view name, std::string_view suffix)
{
    using namespace jinja;
    const auto fail = [](std::string message) { return Error{Errc::Malformed, std::move(message)}; };
    // These values are no one else's yet.
    const auto entriesOf = [](const Var &dict) -> std::vector<Dict::Entry> & { return const_cast<Dict &>(dict.dict()).entries; };
    const auto find = [&entriesOf](const Var &dict, std::string_view key) -> Var * {
        for (Dict::Entry &entry : entriesOf(dict)) {
            if (entry.key.isString() && entry.key.view() == key)
                return &entry.value;
        }
        return nullptr;
    };
    auto &all = m_values->variables();
    const auto variable = std::find_if(all.rbegin(), all.rend(), [name](const auto &v) { return v.name == name; });
    if (variable == all.rend() || !variable->value.isList() || variable->value.sequence().items.empty()
        || !variable->value.sequence().items.back().isDict())
        return fail("continue_final_message is set but there is no final message");
    Var *text = find(variable->value.sequence().items.back(), "content");
    if (!text)
        return fail("KeyError: 'content'");
    if (text->isList()) {
        const Var blocks = *text;
        text = nullptr;
        for (std::size_t i = blocks.sequence().items.size(); i-- > 0 && !text;) {
            const Var &block = blocks.sequence().items[i];
            if (block.isDict())
                text = find(block, "text");
        }
        if (!text)
            return fail("ValueError: continue_final_message is set but we could not find any text to continue in the final message!");
    }
    if (!text->isString())
        return fail("TypeError: the content of the final message is no text");
    const std::string before(text->view());
    const auto size = static_cast<std::uint32_t>(before.size());
    std::vector<Piece> pieces;
    if (size > 0)
        pieces.push_back({size, text->source(), 0, 0, true});
    pieces.push_back({static_cast<std::uint32_t>(before.size() + suffix.size()), 0, 0, 0, false});
    *text = m_values->text(before + std::string(suffix), std::move(pieces));
    return before;
}

} // namespace prosector
