// SPDX-License-Identifier: GPL-3.0-or-later
// Ranges, dictionary views and what goes through values one by one.
#pragma once

#include "models/templates/access.h"
#include "models/templates/value.h"

#include <functional>

namespace prosector::jinja {

class SequenceIterator final : public Iterator {
public:
    explicit SequenceIterator(Var sequence, bool backwards = false) : m_sequence(std::move(sequence)), m_backwards(backwards) {}
    bool next(Renderer &, Var &item) override
    {
        const auto &items = m_sequence.sequence().items;
        if (m_at >= items.size())
            return false;
        item = m_backwards ? items[items.size() - 1 - m_at] : items[m_at];
        ++m_at;
        return true;
    }
    std::string_view typeName() const override { return m_backwards ? (m_sequence.isList() ? "list_reverseiterator" : "reversed") : "list_iterator"; }

private:
    Var m_sequence;
    std::size_t m_at = 0;
    bool m_backwards;
};

class TextIterator final : public Iterator {
public:
    explicit TextIterator(Var string) : m_string(std::move(string)) {}
    bool next(Renderer &renderer, Var &item) override;
    std::string_view typeName() const override { return "str_iterator"; }

private:
    Var m_string;
    std::size_t m_at = 0;
};

enum class DictPart : std::uint8_t { Keys, Values, Items };

class DictIterator final : public Iterator {
public:
    DictIterator(Var dict, DictPart part, bool backwards = false) : m_dict(std::move(dict)), m_part(part), m_backwards(backwards) {}
    bool next(Renderer &renderer, Var &item) override;
    std::string_view typeName() const override { return "dict_iterator"; }

private:
    Var m_dict;
    DictPart m_part;
    bool m_backwards;
    std::size_t m_at = 0;
};

/// dict.keys(), .values(), .items()
class DictView final : public Object {
public:
    DictView(Var dict, DictPart part) : m_dict(std::move(dict)), m_part(part) {}
    std::string_view typeName() const override;
    std::string repr() const override;
    bool iterable() const override { return true; }
    Ref<Iterator> iterate(Renderer &) override { return Ref<Iterator>(new DictIterator(m_dict, m_part)); }
    std::optional<std::int64_t> length(Renderer &) const override { return static_cast<std::int64_t>(m_dict.dict().entries.size()); }
    bool truth() const override { return !m_dict.dict().entries.empty(); }
    bool equals(const Object &other) const override;
    bool hashable() const override { return m_part == DictPart::Values; }
    const Var &dict() const { return m_dict; }
    DictPart part() const { return m_part; }

private:
    Var m_dict;
    DictPart m_part;
};

class RangeObject final : public Object {
public:
    static constexpr std::int64_t maxItems = 100'000; ///< MAX_RANGE of Jinja's sandbox

    RangeObject(std::int64_t start, std::int64_t stop, std::int64_t step) : m_start(start), m_stop(stop), m_step(step) {}
    std::string_view typeName() const override { return "range"; }
    std::string repr() const override;
    std::optional<Var> attribute(Renderer &renderer, std::string_view name) override;
    std::optional<Var> item(Renderer &renderer, const Var &key) override;
    bool subscriptable() const override { return true; }
    bool iterable() const override { return true; }
    Ref<Iterator> iterate(Renderer &renderer) override;
    std::optional<std::int64_t> length(Renderer &) const override { return count(); }
    bool truth() const override { return count() != 0; }
    bool equals(const Object &other) const override;

    std::int64_t count() const;
    std::int64_t at(std::int64_t index) const { return m_start + index * m_step; }
    std::int64_t step() const { return m_step; }

private:
    std::int64_t m_start, m_stop, m_step;
};

/// A generator whose steps are a function of ours.
class Generator final : public Iterator {
public:
    using Next = std::function<bool(Renderer &, Var &)>;
    explicit Generator(Next next) : m_next(std::move(next)) {}
    bool next(Renderer &renderer, Var &item) override;

private:
    Next m_next;
    bool m_done = false;
};

} // namespace prosector::jinja
