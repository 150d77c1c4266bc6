// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/artifacts/artifact.h"
#include "models/core/job.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// A SentencePiece model file as stored: every piece and every setting with its bytes. Pieces are in
/// the order of their ids. Format: sentencepiece_model.proto (google/sentencepiece), message ModelProto;
/// read field by field, since the library gives neither the settings nor any offset.
struct SentencePieceContent final : Content {
    /// Numbers of ModelProto.SentencePiece.Type.
    enum class PieceType : std::uint8_t { Normal = 1, Unknown, Control, UserDefined, Unused, Byte };
    struct Piece {
        std::string text;
        float score = 0;
        PieceType type = PieceType::Normal;
        ByteRange bytes; ///< of the piece's message in the file
    };
    /// A field of TrainerSpec, NormalizerSpec or DenormalizerSpec that the file sets.
    struct Setting {
        std::string name;  ///< "trainer.model_type", "normalizer.add_dummy_prefix"
        std::string value; ///< "BPE", "true", "0.9995"; of binary fields the length, "237539 bytes"
        ByteRange bytes;
    };

    std::vector<Piece> pieces;
    std::vector<Setting> settings; ///< in file order; repeated fields stand several times

    /// The value set in the file, else the format's default, else nothing. `name` as in Setting.
    std::optional<std::string> setting(std::string_view name) const;
    std::string modelType() const { return setting("trainer.model_type").value_or("UNIGRAM"); }
    /// `trainer.unk_id`, `bos_id`, `eos_id`, `pad_id`; -1 means that the model has none.
    int specialId(std::string_view name) const;
};
std::string_view nameOf(SentencePieceContent::PieceType type); ///< "NORMAL", "BYTE" …

/// What a model file holds, with its problems (readers/sentencepiece.cpp).
Reading readSentencePieceModel(std::string_view file, const Job &job = {});

} // namespace prosector
