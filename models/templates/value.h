// SPDX-License-Identifier: GPL-3.0-or-later
// Values of the template language: what Python objects are to Jinja. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prosector::jinja {

/// Counted by its handles, unless it is immortal: owned by a template or by inputs, which any number of
/// threads read. Destroyed without recursion, so that no depth of nesting can exhaust the stack.
struct HeapObject {
    static constexpr std::uint32_t immortal = UINT32_MAX;
    std::uint32_t references = 0;
    std::uint64_t charged = 0; ///< bytes this object counts for in the memory of its rendering

    HeapObject() = default;
    HeapObject(const HeapObject &) = delete;
    HeapObject &operator=(const HeapObject &) = delete;
    virtual ~HeapObject() = default;
};

/// Deletes now, or after the deletion under way.
void destroy(HeapObject *object) noexcept;

inline void retain(HeapObject *object)
{
    if (object->references != HeapObject::immortal)
        ++object->references;
}
inline void release(HeapObject *object)
{
    if (object->references != HeapObject::immortal && --object->references == 0)
        destroy(object);
}

/// A counting handle.
template<class T>
class Ref {
public:
    Ref() = default;
    explicit Ref(T *object) : m_object(object)
    {
        if (m_object)
            retain(m_object);
    }
    Ref(const Ref &other) : Ref(other.m_object) {}
    Ref(Ref &&other) noexcept : m_object(std::exchange(other.m_object, nullptr)) {}
    Ref &operator=(Ref other) noexcept
    {
        std::swap(m_object, other.m_object);
        return *this;
    }
    ~Ref()
    {
        if (m_object)
            release(m_object);
    }
    T *get() const { return m_object; }
    T *operator->() const { return m_object; }
    T &operator*() const { return *m_object; }
    explicit operator bool() const { return m_object != nullptr; }

private:
    T *m_object = nullptr;
};

/// Where a piece of text came from: 0 nowhere in particular (computed), a literal of the template
/// (`literalBit` and its site), or a value of the inputs.
using SourceId = std::uint32_t;
constexpr SourceId literalBit = 0x80000000U;

enum class Kind : std::uint8_t {
    Missing, ///< a variable nobody has set; never seen by filters
    None,
    Bool,
    Int,
    Float,
    Undefined, // from here on, on the heap
    BigInt,    ///< an integer beyond 64 bits: can be printed, not calculated with
    String,
    List,
    Tuple,
    Dict,
    Object,
};

struct Text;
struct Sequence;
struct Dict;
struct Object;
struct UndefinedObject;

/// One value, with the place it came from. Copying is cheap.
class Var {
public:
    Var() = default;
    Var(const Var &other) : m_kind(other.m_kind), m_markup(other.m_markup), m_source(other.m_source), m_data(other.m_data)
    {
        if (isHeap())
            retain(m_data.object);
    }
    Var(Var &&other) noexcept : m_kind(other.m_kind), m_markup(other.m_markup), m_source(other.m_source), m_data(other.m_data)
    {
        other.m_kind = Kind::Missing;
    }
    Var &operator=(const Var &other)
    {
        Var copy(other);
        return *this = std::move(copy);
    }
    Var &operator=(Var &&other) noexcept
    {
        std::swap(m_kind, other.m_kind);
        std::swap(m_markup, other.m_markup);
        std::swap(m_source, other.m_source);
        std::swap(m_data, other.m_data);
        return *this;
    }
    ~Var()
    {
        if (isHeap())
            release(m_data.object);
    }

    static Var none() { return Var(Kind::None); }
    static Var boolean(bool value)
    {
        Var made(Kind::Bool);
        made.m_data.boolean = value;
        return made;
    }
    static Var integer(std::int64_t value)
    {
        Var made(Kind::Int);
        made.m_data.integer = value;
        return made;
    }
    static Var real(double value)
    {
        Var made(Kind::Float);
        made.m_data.real = value;
        return made;
    }
    static Var heap(Kind kind, HeapObject *object)
    {
        Var made(kind);
        made.m_data.object = object;
        retain(object);
        return made;
    }

    Kind kind() const { return m_kind; }
    bool isMissing() const { return m_kind == Kind::Missing; }
    bool isUndefined() const { return m_kind == Kind::Undefined; }
    bool isNone() const { return m_kind == Kind::None; }
    bool isBool() const { return m_kind == Kind::Bool; }
    bool isInt() const { return m_kind == Kind::Int; }
    bool isFloat() const { return m_kind == Kind::Float; }
    bool isString() const { return m_kind == Kind::String; }
    bool isList() const { return m_kind == Kind::List; }
    bool isTuple() const { return m_kind == Kind::Tuple; }
    bool isSequence() const { return isList() || isTuple(); }
    bool isDict() const { return m_kind == Kind::Dict; }
    bool isObject() const { return m_kind == Kind::Object; }
    /// An int or a bool, which Python counts among the ints.
    bool isIntegral() const { return isInt() || isBool(); }
    bool isHeap() const { return m_kind >= Kind::Undefined; }
    bool isMarkup() const { return m_markup; }

    bool asBool() const { return m_data.boolean; }
    std::int64_t asInt() const { return isBool() ? static_cast<std::int64_t>(m_data.boolean) : m_data.integer; }
    double asFloat() const { return m_data.real; }
    inline const Text &text() const;
    inline std::string_view view() const;
    inline const Sequence &sequence() const;
    inline const Dict &dict() const;
    inline Object &object() const;
    inline const UndefinedObject &undefined() const;
    const HeapObject *heapObject() const { return m_data.object; }

    SourceId source() const { return m_source; }
    Var withSource(SourceId source) &&
    {
        m_source = source;
        return std::move(*this);
    }
    Var withMarkup(bool markup) &&
    {
        m_markup = markup;
        return std::move(*this);
    }
    void setSource(SourceId source) { m_source = source; }

private:
    explicit Var(Kind kind) : m_kind(kind) {}

    Kind m_kind = Kind::Missing;
    bool m_markup = false; ///< a string marked safe
    SourceId m_source = 0;
    union Data {
        std::int64_t integer = 0;
        bool boolean;
        double real;
        HeapObject *object;
    } m_data;
};

/// Part of a text that has one origin. It begins where the piece before it ends.
struct Piece {
    std::uint32_t end = 0;    ///< byte of the text behind the piece
    SourceId source = 0;
    std::uint32_t offset = 0; ///< byte of the source text it begins at
    std::uint32_t site = 0;   ///< place in the template that printed it; 0 while unprinted
    bool exact = true;        ///< a verbatim copy of the source text from `offset`
};

/// UTF-8. Without pieces, all of it is a verbatim copy of its handle's source.
struct Text final : HeapObject {
    std::string bytes;
    std::vector<Piece> pieces;
    mutable std::int64_t points = -1; ///< length in code points, once known

    explicit Text(std::string text) : bytes(std::move(text)) {}
    std::int64_t length() const;
    bool isAscii() const { return length() == static_cast<std::int64_t>(bytes.size()); }
};

struct Sequence final : HeapObject {
    std::vector<Var> items;
};

/// Keeps the order of insertion. Keys are equal as in Python: 1 == 1.0 == True.
struct Dict final : HeapObject {
    struct Entry {
        Var key, value;
    };
    std::vector<Entry> entries;

    const Var *find(const Var &key) const; ///< null when absent; the key must be hashable
    const Var *find(std::string_view key) const;
    void set(Var key, Var value);

private:
    std::size_t indexOf(const Var &key, std::uint64_t hash) const;
    void rebuild(std::size_t buckets);
    std::vector<std::uint32_t> m_buckets; ///< empty while the entries are few: entry + 1, open addressing
};

/// What no one has defined, and what is said when it is used.
struct UndefinedObject final : HeapObject {
    std::string hint;           ///< the whole message, when set
    std::string owner;          ///< what has no such member: "dict object"; empty for variables
    Var name;
    bool unsafe = false;        ///< a member the sandbox hides: SecurityError
};

class Renderer;
struct Arguments;
struct Iterator;

/// Everything else: macros, loops, namespaces, ranges, generators, functions.
struct Object : HeapObject {
    virtual std::string_view typeName() const = 0;
    /// As `object_type_repr` says it: with the module, for what is not built in.
    virtual std::string qualifiedName() const { return std::string(typeName()); }
    virtual std::string repr() const;
    virtual std::optional<Var> attribute(Renderer &renderer, std::string_view name);
    virtual std::optional<Var> item(Renderer &renderer, const Var &key);
    virtual bool subscriptable() const { return false; }
    virtual bool callable() const { return false; }
    virtual Var call(Renderer &renderer, Arguments &arguments);
    virtual bool iterable() const { return false; }
    virtual Ref<Iterator> iterate(Renderer &renderer);
    virtual std::optional<std::int64_t> length(Renderer &) const { return std::nullopt; }
    virtual bool truth() const { return true; }
    virtual bool equals(const Object &other) const { return this == &other; }
    virtual bool hashable() const { return true; }
};

/// Gives values one by one; its own iterator, as in Python.
struct Iterator : Object {
    virtual bool next(Renderer &renderer, Var &item) = 0;
    std::string_view typeName() const override { return "generator"; }
    bool iterable() const override { return true; }
    Ref<Iterator> iterate(Renderer &) override { return Ref<Iterator>(this); }
};

struct Arguments {
    struct Named {
        std::string name;
        Var value;
    };
    std::vector<Var> positional;
    std::vector<Named> named;

    const Var *find(std::string_view name) const;
    std::optional<Var> take(std::string_view name);
};

const Text &Var::text() const { return static_cast<const Text &>(*m_data.object); }
std::string_view Var::view() const { return text().bytes; }
const Sequence &Var::sequence() const { return static_cast<const Sequence &>(*m_data.object); }
const Dict &Var::dict() const { return static_cast<const Dict &>(*m_data.object); }
Object &Var::object() const { return static_cast<Object &>(*m_data.object); }
const UndefinedObject &Var::undefined() const { return static_cast<const UndefinedObject &>(*m_data.object); }

template<class T>
T *as(const Var &value)
{
    return value.isObject() ? dynamic_cast<T *>(&value.object()) : nullptr;
}

/// What the living values of the rendering on this thread weigh. Beyond the limit, making one more is an error.
struct Ledger {
    std::uint64_t live = 0, limit = 0;
    std::uint64_t work = 0; ///< bytes and items gone through, for the limit on steps
    static Ledger *&current(); ///< of this thread; null outside a rendering
    static void charge(HeapObject &object, std::uint64_t bytes);
    static void labour(std::uint64_t amount)
    {
        if (Ledger *const ledger = current())
            ledger->work += amount;
    }
};

Var makeText(std::string text, SourceId source = 0);
Var makeText(std::string text, std::vector<Piece> pieces);
Var makeList(std::vector<Var> items);
Var makeTuple(std::vector<Var> items);
Var makeDict(std::vector<Dict::Entry> entries); ///< of duplicate keys the last wins
Var makeObject(Object *object);

std::uint64_t hashOf(const Var &value);

} // namespace prosector::jinja
