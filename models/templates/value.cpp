// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/value.h"

#include "models/templates/operators.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace prosector::jinja {

std::string nameOf(Exc type)
{
    switch (type) {
    case Exc::TypeError: return "TypeError";
    case Exc::ValueError: return "ValueError";
    case Exc::KeyError: return "KeyError";
    case Exc::IndexError: return "IndexError";
    case Exc::AttributeError: return "AttributeError";
    case Exc::OverflowError: return "OverflowError";
    case Exc::ZeroDivisionError: return "ZeroDivisionError";
    case Exc::RecursionError: return "RecursionError";
    case Exc::RuntimeError: return "RuntimeError";
    case Exc::AssertionError: return "AssertionError";
    case Exc::SyntaxError: return "SyntaxError";
    case Exc::TemplateError: return "TemplateError";
    case Exc::TemplateSyntaxError: return "TemplateSyntaxError";
    case Exc::TemplateAssertionError: return "TemplateAssertionError";
    case Exc::TemplateRuntimeError: return "TemplateRuntimeError";
    case Exc::UndefinedError: return "UndefinedError";
    case Exc::SecurityError: return "SecurityError";
    case Exc::FilterArgumentError: return "FilterArgumentError";
    case Exc::Limit: return "limit";
    case Exc::Unsupported: return "unsupported";
    case Exc::Cancelled: return "cancelled";
    }
    return {};
}

void raise(Exc type, std::string message)
{
    throw Raised{type, std::move(message)};
}

void destroy(HeapObject *object) noexcept
{
    // Deleting a list of lists of lists… one after another instead of one inside another.
    thread_local std::vector<HeapObject *> waiting;
    thread_local bool busy = false;
    waiting.push_back(object);
    if (busy)
        return;
    busy = true;
    while (!waiting.empty()) {
        HeapObject *const next = waiting.back();
        waiting.pop_back();
        if (Ledger *const ledger = Ledger::current())
            ledger->live -= std::min(ledger->live, next->charged);
        delete next;
    }
    busy = false;
}

Ledger *&Ledger::current()
{
    thread_local Ledger *ledger = nullptr;
    return ledger;
}

void Ledger::charge(HeapObject &object, std::uint64_t bytes)
{
    Ledger *const ledger = current();
    if (!ledger)
        return;
    if (ledger->live + bytes > ledger->limit)
        raise(Exc::Limit, "memory limit: the values of this rendering would need more than " + std::to_string(ledger->limit) + " bytes");
    object.charged = bytes;
    ledger->live += bytes;
}

namespace {

/// A new object in a handle, with its weight charged: the handle frees it when the charge is refused.
Var charged(Kind kind, HeapObject *object, std::uint64_t bytes)
{
    Var made = Var::heap(kind, object);
    Ledger::charge(*object, bytes);
    return made;
}

} // namespace

Var makeText(std::string text, SourceId source)
{
    auto *const object = new Text(std::move(text));
    Var made = charged(Kind::String, object, sizeof(Text) + object->bytes.size());
    made.setSource(source);
    return made;
}

Var makeText(std::string text, std::vector<Piece> pieces)
{
    auto *const object = new Text(std::move(text));
    object->pieces = std::move(pieces);
    return charged(Kind::String, object, sizeof(Text) + object->bytes.size() + object->pieces.size() * sizeof(Piece));
}

Var makeList(std::vector<Var> items)
{
    auto *const object = new Sequence;
    object->items = std::move(items);
    return charged(Kind::List, object, sizeof(Sequence) + object->items.size() * sizeof(Var));
}

Var makeTuple(std::vector<Var> items)
{
    auto *const object = new Sequence;
    object->items = std::move(items);
    return charged(Kind::Tuple, object, sizeof(Sequence) + object->items.size() * sizeof(Var));
}

Var makeDict(std::vector<Dict::Entry> entries)
{
    auto *const object = new Dict;
    Var made = Var::heap(Kind::Dict, object);
    object->entries.reserve(entries.size());
    for (Dict::Entry &entry : entries)
        object->set(std::move(entry.key), std::move(entry.value));
    Ledger::charge(*object, sizeof(Dict) + object->entries.size() * (sizeof(Dict::Entry) + 8));
    return made;
}

Var makeObject(Object *object)
{
    return charged(Kind::Object, object, 128);
}

std::int64_t Text::length() const
{
    if (references == immortal)
        return points >= 0 ? points : codePointCount(bytes); // shared between threads: never written
    if (points < 0)
        points = codePointCount(bytes);
    return points;
}

std::uint64_t hashOf(const Var &value)
{
    const auto mix = [](std::uint64_t h) {
        h ^= h >> 32;
        h *= 0x9E3779B97F4A7C15ULL;
        return h ^ (h >> 29);
    };
    switch (value.kind()) {
    case Kind::Bool:
    case Kind::Int: return mix(static_cast<std::uint64_t>(value.asInt()));
    case Kind::Float: {
        const double number = value.asFloat();
        if (number == std::floor(number) && std::abs(number) < 9e18)
            return mix(static_cast<std::uint64_t>(static_cast<std::int64_t>(number)));
        std::uint64_t bits = 0;
        std::memcpy(&bits, &number, sizeof bits);
        return mix(bits);
    }
    case Kind::BigInt:
    case Kind::String: return std::hash<std::string_view>{}(value.view());
    case Kind::Tuple: {
        std::uint64_t h = 0x345678;
        for (const Var &item : value.sequence().items)
            h = mix(h * 31 + hashOf(item));
        return h;
    }
    case Kind::Object:
        if (value.object().hashable())
            return mix(reinterpret_cast<std::uintptr_t>(&value.object()));
        break;
    case Kind::List:
    case Kind::Dict: break;
    default: return mix(static_cast<std::uint64_t>(value.kind()) + 77);
    }
    raise(Exc::TypeError, "unhashable type: '" + typeName(value) + "'");
}

std::size_t Dict::indexOf(const Var &key, std::uint64_t hash) const
{
    if (m_buckets.empty()) {
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (equal(entries[i].key, key))
                return i;
        }
        return entries.size();
    }
    const std::size_t mask = m_buckets.size() - 1;
    for (std::size_t at = hash & mask; m_buckets[at] != 0; at = (at + 1) & mask) {
        const std::size_t index = m_buckets[at] - 1;
        if (equal(entries[index].key, key))
            return index;
    }
    return entries.size();
}

void Dict::rebuild(std::size_t buckets)
{
    m_buckets.assign(buckets, 0);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        std::size_t at = hashOf(entries[i].key) & (buckets - 1);
        while (m_buckets[at] != 0)
            at = (at + 1) & (buckets - 1);
        m_buckets[at] = static_cast<std::uint32_t>(i + 1);
    }
}

const Var *Dict::find(const Var &key) const
{
    const std::size_t index = indexOf(key, hashOf(key));
    return index == entries.size() ? nullptr : &entries[index].value;
}

const Var *Dict::find(std::string_view key) const
{
    const auto same = [key](const Entry &entry) { return entry.key.isString() && entry.key.view() == key; };
    if (m_buckets.empty()) {
        for (const Entry &entry : entries) {
            if (same(entry))
                return &entry.value;
        }
        return nullptr;
    }
    const std::size_t mask = m_buckets.size() - 1;
    for (std::size_t at = std::hash<std::string_view>{}(key) & mask; m_buckets[at] != 0; at = (at + 1) & mask) {
        const Entry &entry = entries[m_buckets[at] - 1];
        if (same(entry))
            return &entry.value;
    }
    return nullptr;
}

void Dict::set(Var key, Var value)
{
    constexpr std::size_t few = 8;
    const std::uint64_t hash = hashOf(key);
    const std::size_t index = indexOf(key, hash);
    if (index < entries.size()) {
        entries[index].value = std::move(value);
        return;
    }
    entries.push_back({std::move(key), std::move(value)});
    if (entries.size() <= few)
        return;
    if (m_buckets.size() < entries.size() * 2) {
        rebuild(std::max<std::size_t>(32, m_buckets.size() * 2));
        return;
    }
    std::size_t at = hash & (m_buckets.size() - 1);
    while (m_buckets[at] != 0)
        at = (at + 1) & (m_buckets.size() - 1);
    m_buckets[at] = static_cast<std::uint32_t>(entries.size());
}

std::string Object::repr() const
{
    return "<" + qualifiedName() + " object>";
}

std::optional<Var> Object::attribute(Renderer &, std::string_view)
{
    return std::nullopt;
}

std::optional<Var> Object::item(Renderer &, const Var &)
{
    return std::nullopt;
}

Var Object::call(Renderer &, Arguments &)
{
    raise(Exc::TypeError, "'" + std::string(typeName()) + "' object is not callable");
}

Ref<Iterator> Object::iterate(Renderer &)
{
    raise(Exc::TypeError, "'" + std::string(typeName()) + "' object is not iterable");
}

const Var *Arguments::find(std::string_view name) const
{
    for (const Named &candidate : named) {
        if (candidate.name == name)
            return &candidate.value;
    }
    return nullptr;
}

std::optional<Var> Arguments::take(std::string_view name)
{
    for (auto it = named.begin(); it != named.end(); ++it) {
        if (it->name == name) {
            Var value = std::move(it->value);
            named.erase(it);
            return value;
        }
    }
    return std::nullopt;
}

} // namespace prosector::jinja
