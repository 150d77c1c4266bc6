// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// Bytes [begin, end) of the text given to the tokenizer.
struct TextRange {
    std::uint32_t begin = 0, end = 0;
    bool operator==(const TextRange &) const = default;
};

/// A text that normalisation may change, with, for each byte, the bytes it came from. The rules for
/// inserted, replaced and removed characters are those of Hugging Face `tokenizers`
/// (`NormalizedString`), so that offsets come out equal. Until the first change nothing is copied:
/// the text is a view, every byte comes from its own character.
///
/// Valid UTF-8 only. The viewed text must outlive this object. Not thread-safe.
class AlignedText {
public:
    /// One character of a rewritten text. `change` > 0: inserted, shares the origin of what stands
    /// before it; 0: replaces one old character; -n: replaces one and swallows the n behind it.
    struct Change {
        char32_t character;
        int change;
    };

    AlignedText() = default;
    /// `base`: where the view starts in the input.
    AlignedText(std::string_view view, std::uint32_t base) : m_view(view), m_base(base) {}

    std::string_view text() const { return m_changed ? std::string_view(m_own) : m_view; }
    std::size_t size() const { return text().size(); }
    bool empty() const { return text().empty(); }
    /// Whether it still is the input, byte for byte.
    bool isInput() const { return !m_changed; }

    /// Input bytes that bytes [begin, end) of text() came from; of an empty range, nothing before it.
    TextRange origin(std::size_t begin, std::size_t end) const;

    /// A part, which views this object's input or copies what was changed.
    AlignedText slice(std::size_t begin, std::size_t end) const;
    /// Puts bytes [begin, end) of another part of the same input behind this one.
    void appendPart(const AlignedText &source, std::size_t begin, std::size_t end);
    /// Puts text behind this one that stands for `origin`.
    void appendText(std::string_view text, TextRange origin);

    /// Rewrites everything; the first `removedInFront` characters are dropped.
    void transform(std::span<const Change> changes, std::size_t removedInFront = 0);
    void filter(const std::function<bool(char32_t)> &keep);
    void map(const std::function<char32_t(char32_t)> &to);
    /// Inserts in front; nothing happens to an empty text.
    void prepend(std::string_view text);
    void append(std::string_view text);
    /// Drops Unicode white space at the ends.
    void strip(bool left, bool right);
    /// Puts `content` in the place of each range (sorted, disjoint).
    struct Range {
        std::size_t begin, end;
    };
    void replace(std::span<const Range> ranges, std::string_view content);

    std::vector<char32_t> characters() const;

private:
    TextRange originAt(std::size_t byte) const;
    void own();
    void appendInput(std::string_view text, std::uint32_t base);

    std::string_view m_view;
    std::uint32_t m_base = 0;
    bool m_changed = false;
    std::string m_own;
    std::vector<TextRange> m_origin; ///< one per byte of m_own once changed
};

} // namespace prosector
