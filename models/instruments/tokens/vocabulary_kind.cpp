// SPDX-License-Identifier: GPL-3.0-or-later
// T12: is the vocabulary of the kind its header declares?
#include "models/artifacts/sentencepiecemodel.h"
#include "models/core/wording.h"
#include "models/instruments/instrument.h"
#include "models/prompts/tokenizerview.h"
#include "models/tokenizers/bytepiece.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace prosector {

namespace {

/// What the pieces look like, and the first few of each kind.
struct Census {
    std::uint64_t byteLetters = 0; ///< pieces with Ġ or Ċ, GPT-2's space and line feed
    std::uint64_t spaceMarks = 0;  ///< beginning with ▁
    std::uint64_t bytePieces = 0;  ///< <0x0A>
    std::uint64_t pieces = 0;
    std::vector<std::int64_t> firstByteLetters, firstSpaceMarks;
};

Census countPieces(const TokenizerView &view)
{
    Census census;
    const auto &pieces = view.pieces();
    const auto note = [](std::vector<std::int64_t> &list, std::size_t id) {
        if (list.size() < 3)
            list.push_back(static_cast<std::int64_t>(id));
    };
    for (std::size_t id = 0; id < pieces.size(); ++id) {
        const std::string &piece = pieces[id];
        if (piece.empty())
            continue;
        ++census.pieces;
        if (piece.find("\xC4\xA0") != std::string::npos || piece.find("\xC4\x8A") != std::string::npos) {
            ++census.byteLetters;
            note(census.firstByteLetters, id);
        }
        if (piece.starts_with("\xE2\x96\x81")) {
            ++census.spaceMarks;
            note(census.firstSpaceMarks, id);
        }
        census.bytePieces += byteOfPiece(piece).has_value();
    }
    return census;
}

/// <|im_end|>, <｜User｜>: bars inside, and a letter.
bool looksLikeControl(std::string_view piece)
{
    for (const auto &[open, close] : {std::pair<std::string_view, std::string_view>("<|", "|>"), {"<\xEF\xBD\x9C", "\xEF\xBD\x9C>"}}) {
        if (piece.size() > open.size() + close.size() && piece.starts_with(open) && piece.ends_with(close)) {
            const auto inner = piece.substr(open.size(), piece.size() - open.size() - close.size());
            return std::any_of(inner.begin(), inner.end(), [](unsigned char c) { return std::isalpha(c); });
        }
    }
    return false;
}

class KindCheck {
public:
    KindCheck(const TokenizerView &view, Report &report) : m_view(view), m_census(countPieces(view)), m_report(report) {}

    void run(Table &table)
    {
        if (m_view.gguf)
            checkGguf();
        else if (m_view.json())
            checkJson();
        else
            checkSentencePiece();
        const auto cell = [](std::uint64_t n) { return Cell{std::to_string(n), {}, Severity::Ok, true}; };
        const auto &facts = m_view.facts;
        table.rows.push_back({{m_view.path(), m_view.whole("counted here")},
                              {facts.model},
                              {facts.pre && facts.pre->word ? *facts.pre->word : "–"},
                              cell(m_census.pieces),
                              cell(m_census.spaceMarks),
                              cell(m_census.byteLetters),
                              cell(m_census.bytePieces),
                              facts.merges ? cell(*facts.merges) : Cell{"–"}});
    }

private:
    Finding &add(std::string code, Severity severity, std::string title, std::string detail, std::vector<Evidence> evidence, std::string falseIf)
    {
        Finding finding{std::move(code), severity, std::move(title), std::move(detail)};
        finding.evidence = std::move(evidence);
        finding.falseIf = std::move(falseIf);
        return m_report.findings.emplace_back(std::move(finding));
    }

    Evidence key(const std::string &name, std::string note) const
    {
        return m_view.at({m_view.gguf->id, GgufContent::anchor("tokenizer.ggml." + name), std::move(note)});
    }

    void addPieces(std::vector<Evidence> &evidence, const std::vector<std::int64_t> &ids) const
    {
        for (const std::int64_t id : ids)
            evidence.push_back(m_view.token(id, "id " + std::to_string(id) + " is " + shownPiece(m_view.piece(id).value_or(""))));
    }

    std::string counts() const
    {
        return counted(m_census.byteLetters, "piece") + " with Ġ or Ċ, " + std::to_string(m_census.spaceMarks) + " that begin with ▁, "
               + std::to_string(m_census.bytePieces) + " byte pieces of " + std::to_string(m_census.pieces);
    }

    void wrongKind(const std::string &declared, const std::string &found, std::vector<Evidence> evidence, const std::vector<std::int64_t> &pieces, const std::string &more)
    {
        addPieces(evidence, pieces);
        Finding &finding = add("tokens.kind.mismatch", Severity::Error, "The vocabulary is " + found + ", but declared " + declared,
                               "It holds " + counts() + "." + more + " Text is cut by the rules of the declared kind into pieces of the other: words fall apart, and blanks are lost or come out as letters.",
                               std::move(evidence), "The pieces were chosen so on purpose and the model was trained with this file.");
        finding.measure = Measure{static_cast<double>(m_census.byteLetters), "pieces with Ġ or Ċ"};
        finding.next = {"T2", "T7"};
    }

    void checkGguf()
    {
        const std::string &model = m_view.facts.model;
        const std::string pre = m_view.facts.pre && m_view.facts.pre->word ? *m_view.facts.pre->word : "";
        const std::uint64_t merges = m_view.facts.merges.value_or(0);
        if (model == "llama" && m_census.spaceMarks == 0 && m_census.bytePieces == 0 && m_census.byteLetters > 0) {
            std::vector<Evidence> evidence{key("model", "declares SentencePiece")};
            evidence.push_back(key("pre", pre.empty() ? "no pre-tokenizer is named" : "pre = " + pre));
            if (merges == 0)
                evidence.push_back(key("merges", "no merges in the file"));
            wrongKind("SentencePiece (tokenizer.ggml.model = llama)", "byte-level BPE", std::move(evidence), m_census.firstByteLetters,
                      merges == 0 ? " The merges that such a vocabulary needs are absent, and tokenizer.ggml.pre is "
                                        + (pre.empty() ? "absent" : "\"" + pre + "\"") + "."
                                  : "");
        } else if (model == "gpt2") {
            if (m_census.byteLetters == 0 && m_census.spaceMarks > 0)
                wrongKind("byte-level BPE (tokenizer.ggml.model = gpt2)", "SentencePiece", {key("model", "declares byte-level BPE")}, m_census.firstSpaceMarks, "");
            checkMerges(merges);
            if (pre.empty() || pre == "default") {
                add("tokens.kind.pre", Severity::Warning,
                    pre.empty() ? "No pre-tokenizer is named for a byte-level BPE" : "The pre-tokenizer of a byte-level BPE is \"default\"",
                    "llama.cpp then cuts text by its fallback pattern; digits, punctuation and blanks are cut otherwise than in training.",
                    {key("pre", pre.empty() ? "the key is absent" : "pre = default"), key("model", "model = gpt2")},
                    "The model was trained with llama.cpp's fallback pattern.")
                    .next = {"T7"};
            }
        }
        checkLengths();
        checkControls();
    }

    void checkMerges(std::uint64_t merges)
    {
        if (merges > 0)
            return;
        std::uint64_t longer = 0;
        std::vector<std::int64_t> first;
        for (std::size_t i = 0; i < m_view.pieces().size(); ++i) {
            const std::string &piece = m_view.pieces()[i];
            const auto id = static_cast<std::int64_t>(i);
            if (piece.empty() || m_view.added(id) || m_view.isSpecial(id) || looksLikeControl(piece))
                continue;
            std::size_t characters = 0;
            for (const char c : piece)
                characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
            if (characters < 2)
                continue;
            ++longer;
            if (first.size() < 3)
                first.push_back(id);
        }
        if (longer == 0)
            return;
        std::vector<Evidence> evidence{key("merges", "absent"), key("model", "model = gpt2")};
        addPieces(evidence, first);
        add("tokens.kind.merges", Severity::Error, "A byte-level BPE without merges",
            counted(longer, "piece") + " of more than one symbol can never be formed: every text becomes single bytes.", std::move(evidence),
            "The program that reads this file builds the merges from the order of the pieces.")
            .measure = Measure{static_cast<double>(longer), "pieces that cannot be formed"};
    }

    void checkLengths()
    {
        const GgufContent &gguf = *m_view.ggufContent();
        const GgufValue *const tokens = gguf.get("tokenizer.ggml.tokens");
        if (!tokens)
            return;
        const std::uint64_t count = tokens->strings.size();
        for (const std::string name : {"scores", "token_type"}) {
            const GgufValue *const list = gguf.get("tokenizer.ggml." + name);
            if (!list || list->numbers.size() == count)
                continue;
            add("tokens.kind.lengths", Severity::Error,
                counted(count, "token") + ", but " + counted(list->numbers.size(), name == "scores" ? "score" : "token type"),
                "The arrays are read side by side; what stands behind the shorter one's end has no value.",
                {key(name, counted(list->numbers.size(), "element")), key("tokens", counted(count, "element"))},
                "The file was cut on purpose.")
                .measure = Measure{static_cast<double>(list->numbers.size()), "elements"};
        }
        const TensorInfo *const embedding = gguf.find("token_embd.weight");
        if (embedding && !embedding->shape.empty() && count > embedding->shape[0]) {
            add("tokens.kind.rows", Severity::Error, counted(count, "token") + ", but " + counted(embedding->shape[0], "embedding row"),
                "Ids from " + std::to_string(embedding->shape[0]) + " on have no embedding.",
                {key("tokens", counted(count, "element")), m_view.at({m_view.gguf->id, TensorBlock{"token_embd.weight", {}, {}}, embedding->shapeText()})},
                "The tensor is stored with another layout than its shape says.")
                .measure = Measure{static_cast<double>(count - embedding->shape[0]), "tokens without a row"};
        }
    }

    void checkControls()
    {
        const GgufContent &gguf = *m_view.ggufContent();
        const GgufValue *const types = gguf.get("tokenizer.ggml.token_type");
        if (!types)
            return;
        std::vector<std::int64_t> printed, silent;
        const auto &pieces = m_view.pieces();
        for (std::size_t id = 0; id < pieces.size() && id < types->numbers.size(); ++id) {
            if (types->numbers.integer(id) != 1 || !looksLikeControl(pieces[id]))
                continue;
            const auto &templates = m_view.facts.templates;
            const bool prints = std::any_of(templates.begin(), templates.end(), [&](const TemplateText &t) { return t.text.find(pieces[id]) != std::string::npos; });
            (prints ? printed : silent).push_back(static_cast<std::int64_t>(id));
        }
        for (const auto *const list : {&printed, &silent}) {
            if (list->empty())
                continue;
            std::vector<Evidence> evidence;
            addPieces(evidence, {list->begin(), list->begin() + std::min<std::ptrdiff_t>(3, static_cast<std::ptrdiff_t>(list->size()))});
            evidence.push_back(key("token_type", "type 1 (normal) at these ids"));
            add("tokens.kind.control", list == &printed ? Severity::Warning : Severity::Info,
                counted(list->size(), "control-looking piece") + (list->size() == 1 ? " is" : " are") + " typed as ordinary text: " + shownPiece(pieces[static_cast<std::size_t>(list->front())])
                    + (list->size() > 1 ? ", …" : ""),
                list == &printed ? "The chat template prints them; a program that matches only control tokens spells them in letters."
                                 : "Programs that match control tokens in prompts do not match these.",
                std::move(evidence), "The reading program parses them by another rule, or they are ordinary text in this model.")
                .measure = Measure{static_cast<double>(list->size()), "pieces"};
        }
    }

    static bool names(Value part, std::string_view type)
    {
        if (part["type"].string("") == type)
            return true;
        for (const std::string_view key : {"pretokenizers", "decoders"}) {
            for (const Value inner : part[key]) {
                if (names(inner, type))
                    return true;
            }
        }
        return false;
    }

    void checkJson()
    {
        const Value root = m_view.json();
        const ArtifactId file = m_view.folder->tokenizerJson;
        const auto declared = [&](std::string_view type) {
            std::vector<Evidence> evidence;
            for (const std::string_view key : {"pre_tokenizer", "decoder"}) {
                if (names(root[key], type))
                    evidence.push_back(m_view.at({file, root[key].anchor(), std::string(key) + " is " + std::string(type)}));
            }
            return evidence;
        };
        if (auto evidence = declared("ByteLevel"); !evidence.empty() && m_census.spaceMarks > m_census.byteLetters)
            wrongKind("byte-level (ByteLevel)", "SentencePiece-like", std::move(evidence), m_census.firstSpaceMarks, "");
        else if (auto marks = declared("Metaspace"); !marks.empty() && m_census.byteLetters > m_census.spaceMarks)
            wrongKind("with word marks (Metaspace)", "byte-level", std::move(marks), m_census.firstByteLetters, "");
    }

    void checkSentencePiece()
    {
        if (m_census.spaceMarks == 0 && m_census.bytePieces == 0 && m_census.byteLetters > 0)
            wrongKind("SentencePiece", "byte-level BPE", {m_view.whole("a SentencePiece model")}, m_census.firstByteLetters, "");
    }

    const TokenizerView &m_view;
    const Census m_census;
    Report &m_report;
};

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    if (job.cancelled())
        return Job::cancelledError();
    Report report;
    Table table{"Pieces by kind", {"file", "declared", "pre", "pieces", "▁…", "Ġ or Ċ", "<0xNN>", "merges"}, {}};
    for (const TokenizerView &view : tokenizerViews(inputs.run)) {
        if (job.cancelled())
            return Job::cancelledError();
        if (view.facts.vocabularyFile.valid() && view.facts.baseSize.value_or(0) > 0)
            KindCheck(view, report).run(table);
    }
    if (table.rows.empty())
        return Report::missingInputs({"tokenizer_files"});
    report.tables.push_back(std::move(table));
    return report;
}

constexpr std::array<std::string_view, 2> usable{"tokenizer_files", "weights"};

} // namespace

extern constinit const Instrument tokens_vocabulary_kind{
    "T12", "Vocabulary-kind check", "Is the vocabulary of the kind its header declares?", "tokens_vocabulary_kind", usable, {}, run};

} // namespace prosector
