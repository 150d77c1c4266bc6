// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

class Document;

/// A cheap handle to one value of a Document (valid as long as the document). A handle to a
/// missing value is false; every accessor of it gives "nothing", so look-ups chain:
/// `root["rope_scaling"]["factor"].number()`.
class Value {
public:
    enum class Type : std::uint8_t { Missing, Null, Boolean, Number, String, Array, Object };

    Value() = default;

    explicit operator bool() const { return m_document != nullptr; }
    Type type() const;
    bool isNull() const { return type() == Type::Null; }
    bool isString() const { return type() == Type::String; }
    bool isNumber() const { return type() == Type::Number; }
    bool isArray() const { return type() == Type::Array; }
    bool isObject() const { return type() == Type::Object; }
    /// Present and not null.
    bool isSet() const { return type() > Type::Null; }

    /// Member of an object; of duplicate keys the last wins, as in Python's json. Linear.
    Value operator[](std::string_view key) const;
    Value operator[](std::size_t index) const;
    Value operator[](int index) const { return (*this)[static_cast<std::size_t>(index)]; } // a literal 0 is no null pointer
    Value operator[](const char *key) const { return (*this)[std::string_view(key)]; }
    /// Members or elements; 0 for scalars.
    std::size_t size() const;

    /// The key under which this value stands, empty in arrays and for the root. Decoded.
    std::string key() const;

    /// Decoded string (escapes resolved, lone surrogates as U+FFFD).
    std::optional<std::string> string() const;
    std::string string(std::string_view fallback) const;
    std::optional<double> number() const;
    /// Only if the literal is an integer that fits.
    std::optional<std::int64_t> integer() const;
    std::optional<bool> boolean() const;

    /// The literal text as it stands in the file (strings with quotes); of YAML, the same value as JSON.
    std::string_view raw() const;
    /// Bytes of the literal in the file; of the key (with quotes) for `keyRange`.
    ByteRange range() const;
    ByteRange keyRange() const;
    /// `$.a["b.c"][3]`: the JsonPath anchor of this value.
    std::string path() const;
    Anchor anchor() const { return JsonPath{path()}; }
    Value parent() const;
    /// Position in its document, counted in the order of the text: Document::node() gives it back.
    std::uint32_t node() const { return m_node; }

    class Iterator;
    Iterator begin() const;
    Iterator end() const;

    bool operator==(const Value &) const = default;

private:
    friend class Document;
    friend class DocumentParser;
    Value(const Document *document, std::uint32_t node) : m_document(document), m_node(node) {}

    const Document *m_document = nullptr;
    std::uint32_t m_node = 0;
};

/// Readable but remarkable: something a careful reader would want to know.
struct Remark {
    enum class Kind : std::uint8_t { DuplicateKey, NonFiniteNumber, InvalidUtf8, ByteOrderMark };
    Kind kind;
    JsonPath where;  ///< of the value that counts (the later one of duplicates)
    ByteRange bytes; ///< of what is remarked on (the earlier of duplicate values, the literal)
    std::string text;
};

/// A JSON-like tree that knows the byte range of every value and keeps what was readable when the
/// text is damaged. Immutable after parsing; may be read from any thread.
/// Accepts what Python's json accepts (NaN, Infinity, duplicate keys; each remarked on), a byte
/// order mark and invalid UTF-8 inside strings. At most 4 GiB of text, `maxDepth` levels, `maxNodes`
/// values and `maxRemarks` remarks of a kind; parsing is linear in the text, but for sorting the keys of
/// an object. Beside its text a value costs 16 bytes, an array or object 28.
class Document {
public:
    static constexpr int maxDepth = 1000;
    static constexpr std::size_t maxNodes = 32'000'000; ///< below 2^25, see Node
    static constexpr std::size_t maxRemarks = 100;

    /// Never fails as a whole: the first thing that does not parse ends the tree and is in
    /// `problem()`. An empty text has no root. A stop ends the tree like any other problem, with the
    /// code Cancelled.
    static std::shared_ptr<const Document> parseJson(std::string text, const std::stop_token &stop = {});

    /// YAML, or the part of a text that is YAML (a model card's front matter), as the same tree with the
    /// same byte ranges in `text`. Plain scalars are read by YAML 1.1's rules as PyYAML reads them
    /// (`no` is false, `1e5` a string). Aliases are unfolded up to 1 MiB in all; a merge key `<<` stays a
    /// key. The first document of a stream counts.
    static std::shared_ptr<const Document> parseYaml(std::string text, std::optional<ByteRange> part = {},
                                                     const std::stop_token &stop = {});

    Value root() const;
    const std::string &text() const { return m_text; }
    const std::optional<Error> &problem() const { return m_problem; }
    const std::vector<Remark> &remarks() const { return m_remarks; }

    /// The value at a path written as `Value::path()` writes it.
    Value at(std::string_view path) const;

    std::size_t nodeCount() const { return m_nodes.size(); }
    /// Must be below nodeCount().
    Value node(std::uint32_t position) const { return {this, position}; }

    Document(const Document &) = delete;
    Document &operator=(const Document &) = delete;

private:
    friend class Value;
    friend class DocumentParser;
    friend class YamlConverter;
    // Small, because a file of hundreds of megabytes has tens of millions of them.
    struct Node {
        std::uint32_t begin;        // in literals()
        std::uint32_t end;          // of a scalar; of an array or object its position in m_containers
        std::uint32_t keyBegin;     // of the quote before the key; `begin` when there is no key
        std::uint32_t parent : 25;  // own index for the root
        std::uint32_t kind : 3;     // Value::Type
        std::uint32_t escaped : 1;  // string literal holds a backslash
        Value::Type type() const { return static_cast<Value::Type>(kind); }
    };
    struct Container {
        std::uint32_t end;
        std::uint32_t next;  // index behind the subtree: next sibling or end
        std::uint32_t count; // direct children
    };

    /// Where a YAML value stands in m_text; its literal is JSON made of it, in m_literals.
    struct Span {
        std::uint32_t begin, end, keyBegin, keyEnd;
    };

    Document() = default;
    void build(const std::stop_token &stop);
    const Container *container(std::uint32_t node) const; // null for scalars
    std::uint32_t endOf(std::uint32_t node) const;
    std::uint32_t next(std::uint32_t node) const;
    std::uint32_t keyEnd(std::uint32_t node) const; // behind the quote after the key
    std::string_view keyLiteral(std::uint32_t node) const; // without quotes
    const std::string &literals() const { return m_literals.empty() ? m_text : m_literals; }

    std::string m_text;
    std::string m_literals; // empty for JSON
    std::vector<Span> m_spans; // one a node for YAML
    std::vector<Node> m_nodes;
    std::vector<Container> m_containers;
    std::optional<Error> m_problem;
    std::vector<Remark> m_remarks;
};
using DocumentPtr = std::shared_ptr<const Document>;

class Value::Iterator {
public:
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    Value operator*() const { return {m_document, m_node}; }
    Iterator &operator++();
    Iterator operator++(int)
    {
        auto old = *this;
        ++*this;
        return old;
    }
    bool operator==(const Iterator &) const = default;
    Iterator() = default;

private:
    friend class Value;
    Iterator(const Document *document, std::uint32_t node) : m_document(document), m_node(node) {}
    const Document *m_document = nullptr;
    std::uint32_t m_node = 0;
};

/// Appends `.key` or `["odd key"]` to a path.
void appendPathKey(std::string &path, std::string_view key);

} // namespace prosector
