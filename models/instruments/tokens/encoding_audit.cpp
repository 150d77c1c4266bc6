// SPDX-License-Identifier: GPL-3.0-or-later
// T11: does a recorded encoding follow from its text and the tokenizer's own declarations?
#include "models/core/utf8.h"
#include "models/core/wording.h"
#include "models/instruments/instrument.h"
#include "models/instruments/tokens/parts/recordedencoding.h"
#include "models/tokenizers/bytepiece.h"
#include "models/tokenizers/unicode.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace prosector {

namespace {

/// What tokenizer.json says that could explain a recorded encoding.
class Declarations {
public:
    explicit Declarations(const TokenizerView &view) : m_view(view), m_root(view.json()) {}

    bool json() const { return m_root.isObject(); }
    bool normalizes() const { return m_root["normalizer"].isObject(); }
    Value addedToken(std::int64_t id) const
    {
        for (const Value token : m_root["added_tokens"]) {
            if (token["id"].integer() == id)
                return token;
        }
        return {};
    }
    Evidence at(Value value, std::string note) const { return m_view.at({m_view.folder->tokenizerJson, value.anchor(), std::move(note)}); }
    Value root() const { return m_root; }

    /// A step of a type, inside Sequences too.
    static Value step(Value part, std::string_view type)
    {
        if (part["type"].string("") == type)
            return part;
        for (const std::string_view key : {"normalizers", "pretokenizers", "processors"}) {
            for (const Value inner : part[key]) {
                if (const Value found = step(inner, type))
                    return found;
            }
        }
        return {};
    }
    bool marksWords() const
    {
        return step(m_root["pre_tokenizer"], "Metaspace") || step(m_root["normalizer"], "Replace") || step(m_root["normalizer"], "Prepend");
    }
    bool splitsSpecials() const
    {
        const Artifact *const config = m_view.run->find(m_view.folder->tokenizerConfig);
        return config && config->tree()["split_special_tokens"].boolean() == true;
    }

private:
    const TokenizerView &m_view;
    Value m_root;
};

class RecordAudit {
public:
    RecordAudit(const RecordedEncoding &record, const Declarations &declared, Report &report)
        : m_record(record), m_view(record.view), m_declared(declared), m_report(report)
    {
    }

    void run()
    {
        lostSpecials();
        unknowns();
        strayBlanks();
        offsets();
        disagreeing();
        lengths();
    }

private:
    Finding &add(std::string code, Severity severity, std::string title, std::string detail, std::vector<Evidence> evidence, std::string falseIf)
    {
        Finding finding{std::move(code), severity, std::move(title), std::move(detail)};
        evidence.push_back(m_record.record.array("record of " + shownPiece(m_record.text())));
        finding.evidence = std::move(evidence);
        finding.falseIf = std::move(falseIf);
        finding.next = {"T7"};
        return m_report.findings.emplace_back(std::move(finding));
    }

    Evidence tokens(std::size_t from, std::size_t to, std::string note) const { return m_record.record.tokens(from, to, std::move(note)); }
    std::string shown(std::size_t token) const
    {
        return shownPiece(m_record.piece(token)) + (m_record.id(token) ? " (" + std::to_string(*m_record.id(token)) + ')' : std::string());
    }

    bool callSplitsSpecials() const
    {
        const Value body = m_record.record.body ? m_record.record.body->value : Value();
        return body["parse_special"].boolean() == false || body["split_special_tokens"].boolean() == true || m_declared.splitsSpecials();
    }

    /// (a) a special is spelt in the text and its id is missing.
    void lostSpecials()
    {
        if (callSplitsSpecials())
            return;
        std::map<std::int64_t, std::vector<std::size_t>> spelt;
        const SpecialRole *const unk = m_view.facts.role("unk");
        for (const auto &literal : m_record.literals()) {
            if ((unk && unk->id == literal.token->id) || m_declared.addedToken(literal.token->id)["single_word"].boolean() == true)
                continue;
            spelt[literal.token->id].push_back(literal.at);
        }
        for (const auto &[id, places] : spelt) {
            std::size_t found = 0;
            for (std::size_t i = 0; i < m_record.size(); ++i)
                found += m_record.id(i) == id && !m_record.inserted(i);
            if (found >= places.size())
                continue;
            const std::string name = m_view.added(id)->content;
            const std::size_t at = places[found < places.size() ? found : 0];
            std::vector<Evidence> evidence;
            if (const auto range = covering(at, at + name.size()))
                evidence.push_back(tokens(range->from, range->to, "pieces over byte " + std::to_string(at) + " of the text: " + list(range->from, range->to)));
            const Value token = m_declared.addedToken(id);
            const bool normalized = token["normalized"].boolean() == true && m_declared.normalizes();
            if (normalized) {
                evidence.push_back(m_declared.at(token["normalized"], "looked for in the text after normalisation"));
                evidence.push_back(m_declared.at(m_declared.root()["normalizer"], "the normalizer changes the text first"));
            } else {
                evidence.push_back(m_view.token(id, shownPiece(name) + " has id " + std::to_string(id)));
            }
            Finding &finding = add("tokens.encode.special_split", Severity::Error,
                                   "The text spells " + shownPiece(name) + " at byte " + std::to_string(at) + ", but the ids hold " + (found == 0 ? "no " : std::to_string(found) + " of ")
                                       + std::to_string(found == 0 ? id : static_cast<std::int64_t>(places.size())),
                                   normalized ? "The token is declared normalized, so it is looked for in the normalised text, where it reads otherwise; it was cut into ordinary pieces."
                                              : "It was cut into ordinary pieces, and no flag says that special spellings are split.",
                                   std::move(evidence), "The call asked for special spellings to be ordinary text (split_special_tokens, parse_special=false).");
            finding.measure = Measure{static_cast<double>(places.size() - found), "special tokens split"};
        }
    }

    struct Range {
        std::size_t from, to;
    };
    /// Tokens that touch these bytes; without spans, those between the neighbours that have one.
    std::optional<Range> covering(std::size_t from, std::size_t to) const
    {
        std::optional<Range> range;
        for (std::size_t i = 0; i < m_record.size(); ++i) {
            const auto span = m_record.span(i);
            if (span && span->from < to && span->to > from) {
                if (!range)
                    range = Range{i, i + 1};
                range->to = i + 1;
            }
        }
        return range;
    }

    std::string list(std::size_t from, std::size_t to) const
    {
        std::string text;
        for (std::size_t i = from; i < to && i < from + 8; ++i)
            text += (text.empty() ? "" : ", ") + shownPiece(m_record.piece(i));
        return text;
    }

    /// (b) unk where byte pieces exist.
    void unknowns()
    {
        const auto &facts = m_view.facts;
        const SpecialRole *const unk = facts.role("unk");
        const SpecialRole *const eos = facts.role("eos");
        std::optional<std::int64_t> id = unk ? unk->id : std::nullopt;
        if (!id)
            id = m_declared.root()["model"]["unk_id"].integer();
        const auto &fallback = facts.byteFallback;
        if (!id || (eos && eos->id == id) || !fallback || fallback->boolean != true)
            return;
        std::vector<std::size_t> faulty;
        std::size_t hidden = 0, most = 0;
        std::string first;
        for (std::size_t i = 0; i < m_record.size(); ++i) {
            if (m_record.id(i) != *id)
                continue;
            const auto gap = gapOf(i);
            if (!gap)
                continue;
            const std::string text = m_record.text().substr(gap->from, gap->to - gap->from);
            if (const auto name = m_view.piece(*id); name && text.find(*name) != std::string::npos)
                continue; // spelt out
            std::size_t characters = 0;
            for (std::size_t at = 0; at < text.size();) {
                const std::size_t length = decodeUtf8(text, at).length;
                const std::string character = text.substr(at, length);
                characters += hasBytePieces(character == " " && m_declared.marksWords() ? "\xE2\x96\x81" : character);
                if (characters == 1 && first.empty())
                    first = character;
                at += length;
            }
            if (characters == 0)
                continue;
            faulty.push_back(i);
            hidden += characters;
            most = std::max(most, characters);
        }
        if (faulty.empty())
            return;
        std::vector<Evidence> evidence;
        for (std::size_t i = 0; i < faulty.size() && i < 3; ++i)
            evidence.push_back(tokens(faulty[i], faulty[i] + 1, shown(faulty[i]) + " stands for text that has byte pieces"));
        evidence.push_back(m_view.at(fallback->where));
        Finding &finding = add("tokens.encode.unknown", Severity::Error,
                               "The unknown token stands for " + counted(hidden, "character") + " whose bytes are in the vocabulary, " + shownPiece(first) + " first",
                               std::string("byte_fallback is true, so each should be spelt in byte pieces.")
                                   + (most > 1 ? " One unknown token hides " + std::to_string(most) + " characters: how many there were is lost too." : ""),
                               std::move(evidence), "The record was made with another file, one without byte pieces.");
        finding.measure = Measure{static_cast<double>(hidden), "characters hidden"};
    }

    bool hasBytePieces(std::string_view character) const
    {
        return std::all_of(character.begin(), character.end(), [&](char c) {
            return m_view.id(bytePiece(static_cast<unsigned char>(c))).has_value();
        });
    }

    /// Text that a token without a place of its own stands for.
    std::optional<RecordedEncoding::Span> gapOf(std::size_t token) const
    {
        if (const auto span = m_record.span(token))
            return span;
        if (m_record.record.offsets.size() == m_record.size())
            return std::nullopt;
        std::size_t from = 0, to = m_record.text().size();
        for (std::size_t i = token; i-- > 0;) {
            if (m_record.id(i) == m_record.id(token))
                return std::nullopt; // two in a row: which is which cannot be told
            if (const auto span = m_record.span(i)) {
                from = span->to;
                break;
            }
            if (!m_record.inserted(i))
                return std::nullopt;
        }
        for (std::size_t i = token + 1; i < m_record.size(); ++i) {
            if (const auto span = m_record.span(i)) {
                to = span->from;
                break;
            }
            if (!m_record.inserted(i))
                return std::nullopt;
        }
        return from < to ? std::optional(RecordedEncoding::Span{from, to}) : std::nullopt;
    }

    /// (c) a blank behind a special that the text lacks.
    void strayBlanks()
    {
        for (std::size_t i = 0; i + 1 < m_record.size(); ++i) {
            const auto id = m_record.id(i);
            const auto span = m_record.span(i);
            if (!id || !span || m_record.inserted(i) || !m_view.isMarker(*id))
                continue;
            const std::string &next = m_record.piece(i + 1);
            if (m_record.id(i + 1) && m_view.isMarker(*m_record.id(i + 1)))
                continue;
            const bool blank = next.starts_with("\xE2\x96\x81") || next.starts_with("\xC4\xA0") || next.starts_with(' ');
            if (!blank || span->to >= m_record.text().size())
                continue;
            const CodePoint after = decodeUtf8(m_record.text(), span->to);
            if (isWhiteSpace(after.value))
                continue;
            const Value token = m_declared.addedToken(*id);
            const Value metaspace = Declarations::step(m_declared.root()["pre_tokenizer"], "Metaspace");
            if (token["rstrip"].boolean() == true || (span->from == 0 && metaspace["prepend_scheme"].string("") == "first"))
                continue;
            std::vector<Evidence> evidence{tokens(i, i + 2, shown(i) + ", then " + shown(i + 1) + "; the text has no blank at byte " + std::to_string(span->to))};
            if (const Value prepend = Declarations::step(m_declared.root()["normalizer"], "Prepend"))
                evidence.push_back(m_declared.at(prepend, "puts a mark before each stretch of text, behind special tokens too"));
            else if (metaspace)
                evidence.push_back(m_declared.at(metaspace, "prepend_scheme " + metaspace["prepend_scheme"].string("always")));
            else
                evidence.push_back(m_view.whole("nothing here explains the blank"));
            Finding &finding = add("tokens.encode.blank_after_special", Severity::Warning,
                                   "Token " + std::to_string(i + 1) + ", " + shownPiece(next) + ", carries a blank that the text does not have behind " + shownPiece(m_record.piece(i)),
                                   "Decoding gives another text than was encoded, and a tokenizer without this habit gives other ids from here on.", std::move(evidence),
                                   "The model was trained with this very file (Llama 2 and Phi-3 ship such ones).");
            finding.measure = Measure{static_cast<double>(i + 1), "token index"};
            return; // it is the same for every special
        }
    }

    /// (d) offsets that run backwards, overlap, or leave letters out.
    void offsets()
    {
        const auto &list = m_record.record.offsets;
        if (list.size() != m_record.size())
            return;
        const std::string &text = m_record.text();
        std::uint64_t lastFrom = 0, lastTo = 0;
        std::vector<bool> covered(text.size(), false);
        std::size_t end = 0;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const auto [from, to] = list[i];
            if (from == to)
                continue;
            const auto begin = m_record.byteOffset(from), finish = m_record.byteOffset(to);
            const std::uint64_t slack = m_record.offsetsAreCharacters() ? 1 : 4;
            const bool same = from == lastFrom && to == lastTo;
            std::string wrong;
            if (to < from || from < lastFrom)
                wrong = "run backwards";
            else if (!begin || !finish)
                wrong = "leave the text";
            else if (from < lastTo && lastTo - from > slack && !same)
                wrong = "overlap by " + std::to_string(lastTo - from);
            if (!wrong.empty()) {
                add("tokens.encode.offsets", Severity::Error, "Offsets " + wrong + " at token " + std::to_string(i),
                    "[" + std::to_string(lastFrom) + ", " + std::to_string(lastTo) + "] is followed by [" + std::to_string(from) + ", " + std::to_string(to)
                        + "]. What is marked or cut by these offsets is another part of the text.",
                    {tokens(i == 0 ? 0 : i - 1, i + 1, shown(i) + " at " + std::to_string(from) + " to " + std::to_string(to))}, "The offsets are of several texts in one record.");
                return;
            }
            std::fill(covered.begin() + static_cast<std::ptrdiff_t>(*begin), covered.begin() + static_cast<std::ptrdiff_t>(*finish), true);
            end = std::max(end, *finish);
            lastFrom = from;
            lastTo = to;
        }
        uncovered(text, covered, end);
    }

    void uncovered(const std::string &text, const std::vector<bool> &covered, std::size_t end)
    {
        if (!m_declared.json() || m_declared.normalizes() || end == 0)
            return;
        if (const Value split = Declarations::step(m_declared.root()["pre_tokenizer"], "Split"); split["behavior"].string("") == "Removed")
            return;
        const std::size_t stop = m_declared.root()["truncation"].isObject() ? end : text.size();
        for (std::size_t at = 0; at < stop;) {
            const CodePoint c = decodeUtf8(text, at);
            if (!covered[at] && c.valid && (isNumeric(c.value) || (isWordCharacter(c.value) && !isCombiningMark(c.value)))) {
                const auto after = covering(at + c.length, text.size());
                const std::size_t token = after ? after->from : m_record.size() - 1;
                add("tokens.encode.uncovered", Severity::Error, "No token covers " + shownPiece(text.substr(at, c.length)) + " at byte " + std::to_string(at),
                    "There is no normalizer that could have taken it away.", {tokens(token, token + 1, "the next token that covers text, " + shown(token))},
                    "The pre-tokenizer drops such characters.");
                return;
            }
            at += c.length;
        }
    }

    /// (e) id and token string are not of one vocabulary.
    void disagreeing()
    {
        if (m_record.record.ids.empty())
            return;
        const bool byteLevel = m_view.facts.model != "Unigram" && m_view.facts.model != "WordPiece";
        const SpecialRole *const unk = m_view.facts.role("unk");
        const auto unkId = unk ? unk->id : m_declared.root()["model"]["unk_id"].integer();
        std::vector<std::size_t> wrong, unnamed;
        for (std::size_t i = 0; i < m_record.size(); ++i) {
            const std::int64_t id = m_record.record.ids[i];
            if (id == unkId)
                continue; // libraries show the text it stands for
            const auto piece = m_view.piece(id);
            if (!piece) {
                if (m_view.facts.vocabularyFile.valid() && m_view.excerpt().empty())
                    unnamed.push_back(i);
                continue;
            }
            if (m_record.record.pieces.empty() || m_record.record.pieces[i] == *piece)
                continue;
            const std::string a = surfaceOf(m_record.record.pieces[i], byteLevel), b = surfaceOf(*piece, byteLevel);
            const auto bare = [](const std::string &s) { return s.substr(std::min(s.find_first_not_of(' '), s.size())); };
            const bool decoded = m_record.record.pieces[i] == b || toValidUtf8(b) == m_record.record.pieces[i] || bare(a) == bare(b)
                                 || m_record.record.pieces[i].find("\xEF\xBF\xBD") != std::string::npos;
            if (!decoded)
                wrong.push_back(i);
        }
        if (!wrong.empty()) {
            const std::size_t i = wrong.front();
            add("tokens.encode.disagree", Severity::Error,
                "Id " + std::to_string(m_record.record.ids[i]) + " is recorded as " + shownPiece(m_record.record.pieces[i]) + ", but the vocabulary has " + shownPiece(*m_view.piece(m_record.record.ids[i])) + " there",
                counted(wrong.size(), "token") + " of the record disagree. Ids and vocabulary are not of one model.",
                {tokens(i, i + 1, shown(i)), m_view.token(m_record.record.ids[i], "id " + std::to_string(m_record.record.ids[i]) + " in the vocabulary")}, "The record shows tokens in a spelling of its own.")
                .measure = Measure{static_cast<double>(wrong.size()), "tokens"};
        }
        if (!unnamed.empty()) {
            const std::size_t i = unnamed.front();
            add("tokens.encode.no_piece", Severity::Error, "Id " + std::to_string(m_record.record.ids[i]) + " is not in the vocabulary", counted(unnamed.size(), "such id") + " in the record.",
                {tokens(i, i + 1, "id " + std::to_string(m_record.record.ids[i])), m_view.whole("largest id " + std::to_string(m_view.facts.largestId.value_or(-1)))},
                "The record was made with a larger vocabulary.")
                .next = {"T6"};
        }
    }

    /// (f) truncation or padding that stands in tokenizer.json.
    void lengths()
    {
        const Value truncation = m_declared.root()["truncation"], padding = m_declared.root()["padding"];
        if (truncation.isObject()) {
            const auto most = truncation["max_length"].integer();
            std::size_t end = 0;
            for (std::size_t i = 0; i < m_record.size(); ++i) {
                if (const auto span = m_record.span(i))
                    end = std::max(end, span->to);
            }
            const bool rest = end > 0 && m_record.text().find_first_not_of(" \t\r\n", end) != std::string::npos;
            if (most && static_cast<std::int64_t>(m_record.size()) == *most && rest) {
                add("tokens.encode.truncated", Severity::Warning, "The record stops at " + std::to_string(*most) + " tokens, and the text goes on from byte " + std::to_string(end),
                    "tokenizer.json itself holds a truncation, left from the call that saved it.",
                    {tokens(m_record.size() - 1, m_record.size(), "the last token"), m_declared.at(truncation, "max_length = " + std::to_string(*most))}, "The caller asked for this length.")
                    .measure = Measure{static_cast<double>(m_record.text().size() - end), "bytes cut off"};
            }
        }
        const auto pad = padding["pad_id"].integer();
        if (!padding.isObject() || !pad)
            return;
        const auto isPad = [&](std::size_t i) {
            return m_record.id(i) == *pad && !m_record.span(i) && (m_record.record.mask.size() != m_record.size() || m_record.record.mask[i] == 0);
        };
        std::size_t right = 0, left = 0;
        while (right < m_record.size() && isPad(m_record.size() - 1 - right))
            ++right;
        while (left + right < m_record.size() && isPad(left))
            ++left;
        if (left + right == 0)
            return;
        const std::size_t from = right > 0 ? m_record.size() - right : 0;
        add("tokens.encode.padded", Severity::Warning, counted(left + right, "padding token") + " in the record come from tokenizer.json",
            "The file itself holds a padding, left from the call that saved it; every text gets it.",
            {tokens(from, from + std::max(left, right), "padding"), m_declared.at(padding, "padding is set")}, "The caller asked for padding.")
            .measure = Measure{static_cast<double>(left + right), "tokens"};
    }

    const RecordedEncoding &m_record;
    const TokenizerView &m_view;
    const Declarations &m_declared;
    Report &m_report;
};

/// A way to put word marks that is known to differ between libraries.
void staticRemark(const TokenizerView &view, const Declarations &declared, Report &report)
{
    const Value normalizer = declared.root()["normalizer"], prepend = Declarations::step(normalizer, "Prepend"), replace = Declarations::step(normalizer, "Replace");
    if (!prepend || !replace || declared.root()["pre_tokenizer"].isObject())
        return;
    Finding finding{"tokens.encode.prepend", Severity::Info, "Word marks are put by the normalizer (Prepend and Replace) without a pre-tokenizer",
                    "Each stretch between special tokens then begins with a mark, also where the text has no blank. Llama 2 and Phi-3 ship such files; newer conversions use Metaspace with \"first\"."};
    finding.evidence = {view.at({view.folder->tokenizerJson, prepend.anchor(), "Prepend"}), view.at({view.folder->tokenizerJson, replace.anchor(), "Replace"})};
    finding.falseIf = "The model was trained with this file.";
    finding.next = {"T7"};
    report.findings.push_back(std::move(finding));
}

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    auto arrays = tokenArrays(inputs.run, TokenArray::Use::Encoded, job);
    if (!arrays)
        return arrays.error();
    Report report;
    const auto views = tokenizerViews(inputs.run);
    std::map<const TokenizerView *, Declarations> declarations;
    for (const TokenizerView &view : views) {
        if (job.cancelled())
            return Job::cancelledError();
        const auto &declared = declarations.emplace(&view, Declarations(view)).first->second;
        staticRemark(view, declared, report);
    }
    std::size_t looked = 0, noTokenizer = 0;
    std::set<std::string> told;
    for (const TokenArray &array : *arrays) {
        if (job.cancelled())
            return Job::cancelledError();
        if (!array.text)
            continue;
        const TokenizerView *const view = viewFor(views, *array.artifact);
        if (!view || (!view->facts.vocabularyFile.valid() && view->facts.added.empty())) {
            ++noTokenizer;
            continue;
        }
        ++looked;
        Report one;
        RecordAudit(RecordedEncoding(array, *view), declarations.at(view), one).run();
        for (Finding &finding : one.findings) // the same fault in a thousand records is one fault
            if (told.insert(finding.code + '\n' + array.artifact->path + '\n' + (finding.code == "tokens.encode.unknown" ? std::to_string(finding.measure->number) : "")).second)
                report.findings.push_back(std::move(finding));
    }
    if (looked == 0)
        report.missing = noTokenizer > 0 ? std::vector<std::string>{"tokenizer_files"} : std::vector<std::string>{"encode_record"};
    return report;
}

constexpr std::array<std::string_view, 2> usable{"encode_record", "tokenizer_files"};

} // namespace

extern constinit const Instrument tokens_encoding_audit{
    "T11", "Encoding audit", "Does a recorded encoding follow from its text and the tokenizer's own declarations?", "tokens_encoding_audit", usable, {}, run};

} // namespace prosector
