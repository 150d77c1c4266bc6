// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/document.h"
#include "models/core/result.h"
#include "models/tokenizers/encoding.h"
#include "models/tokenizers/postprocessor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace prosector {

/// `truncation` and `padding` of a tokenizer.json, for a single text (tokenizers, utils/truncation.rs
/// and utils/padding.rs). What truncation takes off is gone; strides give no further encodings here.
class LengthLimits {
public:
    /// Errors name the member whose value is none of the format's.
    static Result<LengthLimits> make(Value root);

    bool any() const { return m_truncation || m_padding; }
    /// Leaves room for what `postProcessors` will insert. Gives the number of tokens cut off in front.
    Result<std::size_t> truncate(Encoding &encoding, const PostProcessors &postProcessors, bool addSpecialTokens) const;
    void pad(Encoding &encoding) const;

private:
    struct Truncation {
        std::size_t longest;
        bool left, secondOnly;
    };
    struct Padding {
        std::optional<std::size_t> fixed; ///< nothing: only to the multiple
        std::size_t multiple;             ///< 0: none
        bool left;
        std::uint32_t id;
        std::string token;
    };
    std::optional<Truncation> m_truncation;
    std::optional<Padding> m_padding;
};

} // namespace prosector
