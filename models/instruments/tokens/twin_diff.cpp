// SPDX-License-Identifier: GPL-3.0-or-later
// T7: do two tokenizers said to be the same agree?
#include "models/config/descriptions.h"
#include "models/core/wording.h"
#include "models/instruments/instrument.h"
#include "models/prompts/probetexts.h"
#include "models/prompts/tokenarrays.h"
#include "models/prompts/tokenizerview.h"
#include "models/prompts/unicodetwins.h"

#include <algorithm>
#include <array>
#include <map>

namespace prosector {

namespace {

/// One of the two, with what is needed to encode and to point at it.
struct Twin {
    std::string name;
    const TokenizerView *view = nullptr; ///< null for a file that is not the view's main one
    TokenizerPtr tokenizer;
    EncodeOptions options;
    Evidence whole{};
    Value json{};

    std::string piece(std::int64_t id) const
    {
        return id < 0 ? std::string() : tokenizer->spelling(static_cast<std::uint32_t>(id)).value_or("");
    }
};

std::string listed(const std::vector<std::int64_t> &ids, std::size_t from)
{
    std::string text;
    for (std::size_t i = from; i < ids.size() && i < from + 6; ++i)
        text += (text.empty() ? "" : ", ") + std::to_string(ids[i]);
    return '[' + text + (ids.size() > from + 6 ? ", …" : "") + ']';
}

std::size_t commonPrefix(const std::vector<std::int64_t> &a, const std::vector<std::int64_t> &b)
{
    std::size_t i = 0;
    while (i < a.size() && i < b.size() && a[i] == b[i])
        ++i;
    return i;
}

/// Fraction of the first pieces that are the same, and the first that is not.
struct Shared {
    std::uint32_t common = 0, equal = 0;
    std::optional<std::uint32_t> first{};
    bool same() const { return common > 0 && equal == common; }
    bool alike() const { return common > 0 && equal * 10 >= common * 9; }
};

Shared compareVocabularies(const Twin &a, const Twin &b)
{
    Shared shared;
    const std::uint32_t size = std::min(a.tokenizer->size(), b.tokenizer->size());
    for (std::uint32_t id = 0; id < size; ++id) {
        const auto x = a.tokenizer->spelling(id), y = b.tokenizer->spelling(id);
        if (!x || !y || a.tokenizer->addedTokens().byId(id) || b.tokenizer->addedTokens().byId(id))
            continue; // holes, and tokens on top of the vocabulary proper
        ++shared.common;
        if (*x == *y)
            ++shared.equal;
        else if (!shared.first)
            shared.first = id;
    }
    return shared;
}

class Comparison {
public:
    Comparison(Twin a, Twin b, bool onPurpose, Report &report)
        : m_a(std::move(a)), m_b(std::move(b)), m_onPurpose(onPurpose), m_report(report)
    {
    }

    Result<void> run(const Job &job)
    {
        const Shared vocabulary = compareVocabularies(m_a, m_b);
        m_table = {m_a.name + " and " + m_b.name, {"compared", "equal", "first difference"}, {}};
        m_table.rows.push_back({{"vocabulary"}, {std::to_string(vocabulary.equal) + " of " + std::to_string(vocabulary.common)},
                                {vocabulary.first ? "id " + std::to_string(*vocabulary.first) + ": " + shownPiece(m_a.piece(*vocabulary.first)) + " against " + shownPiece(m_b.piece(*vocabulary.first)) : "–"}});
        std::vector<std::string> parts;
        for (const std::string_view key : {"pre_tokenizer", "normalizer", "merges"})
            comparePart(key, parts);
        Encoder first(m_a.tokenizer), second(m_b.tokenizer);
        std::size_t equal = 0;
        std::vector<const ProbeText *> different;
        for (const ProbeText &probe : probeTexts) {
            if (job.cancelled())
                return Job::cancelledError();
            const auto x = encode(first, m_a, probe.text, true), y = encode(second, m_b, probe.text, true);
            if (!x || !y)
                return (x ? y : x).error();
            if (*x == *y)
                ++equal;
            else
                different.push_back(&probe);
        }
        m_table.rows.push_back({{"60 texts without specials"}, {std::to_string(equal)}, {different.empty() ? "–" : std::string(different.front()->group) + ": " + shownPiece(different.front()->text)}});
        if (!different.empty())
            tellProbes(first, second, vocabulary, equal, different);
        else if (auto done = specials(first, second); !done)
            return done;
        else if (!m_told && (!vocabulary.same() || !parts.empty()))
            tellFiles(vocabulary, parts);
        m_report.tables.push_back(std::move(m_table));
        return {};
    }

private:
    static Result<std::vector<std::int64_t>> encode(Encoder &encoder, const Twin &twin, std::string_view text, bool specialsAsText)
    {
        EncodeOptions options = twin.options;
        options.addSpecialTokens = false;
        options.specialsAsText = specialsAsText;
        options.tokens = false;
        auto encoding = encoder.encode(text, options);
        if (!encoding)
            return encoding.error();
        return std::vector<std::int64_t>(encoding->ids.begin(), encoding->ids.end());
    }

    void comparePart(std::string_view key, std::vector<std::string> &parts)
    {
        if (!m_a.json || !m_b.json)
            return;
        const Value x = key == "merges" ? m_a.json["model"][key] : m_a.json[key], y = key == "merges" ? m_b.json["model"][key] : m_b.json[key];
        const bool same = canonicalJson(x) == canonicalJson(y);
        m_table.rows.push_back({{std::string(key)}, {same ? "yes" : "no"}, {same ? "–" : shownPiece(x.raw().substr(0, 60)) + " against " + shownPiece(y.raw().substr(0, 60))}});
        if (!same)
            parts.emplace_back(key);
    }

    Finding &add(std::string code, Severity severity, std::string title, std::string detail, std::vector<Evidence> evidence, std::string falseIf)
    {
        m_told = true;
        Finding finding{std::move(code), severity, std::move(title), std::move(detail)};
        evidence.push_back(m_a.whole);
        evidence.push_back(m_b.whole);
        finding.evidence = std::move(evidence);
        finding.falseIf = std::move(falseIf);
        return m_report.findings.emplace_back(std::move(finding));
    }

    std::vector<Evidence> causes() const
    {
        std::vector<Evidence> evidence;
        for (const std::string_view key : {"pre_tokenizer", "normalizer"}) {
            for (const Twin *const twin : {&m_a, &m_b}) {
                if (!m_a.json || !m_b.json || canonicalJson(m_a.json[key]) == canonicalJson(m_b.json[key]) || !twin->json[key])
                    continue;
                Evidence where = twin->whole;
                where.where = twin->json[key].anchor();
                where.note = std::string(key) + " here: " + shownPiece(twin->json[key].raw().substr(0, 120));
                evidence.push_back(std::move(where));
            }
        }
        return evidence;
    }

    void tellProbes(Encoder &first, Encoder &second, const Shared &vocabulary, std::size_t equal, const std::vector<const ProbeText *> &different)
    {
        const ProbeText &probe = *different.front();
        const auto x = *encode(first, m_a, probe.text, true), y = *encode(second, m_b, probe.text, true);
        const std::size_t at = commonPrefix(x, y);
        std::map<std::string_view, std::size_t> groups;
        for (const ProbeText *const text : different)
            ++groups[text->group];
        std::string list;
        for (const auto &[group, count] : groups)
            list += (list.empty() ? "" : ", ") + std::string(group) + " (" + std::to_string(count) + ")";
        const bool unlike = !vocabulary.alike();
        if (unlike && m_onPurpose) {
            add("tokens.twins.unlike", Severity::Info, "The two are different tokenizers: " + std::to_string(vocabulary.equal) + " of " + std::to_string(vocabulary.common) + " pieces are the same",
                "Texts were not compared further.", {}, "They are meant to be one tokenizer.");
            return;
        }
        // Where the vocabulary itself differs, ids are bound to: that is for the reader of both to judge.
        const Severity severity = vocabulary.same() ? Severity::Error : unlike ? Severity::Info : Severity::Warning;
        Finding &finding = add("tokens.twins.ids", severity, "The same text gets other ids: " + shownPiece(probe.text) + " is " + counted(x.size(), "id") + " against " + std::to_string(y.size()),
                               "From token " + std::to_string(at) + " on: " + listed(x, at) + " against " + listed(y, at) + ". Differing kinds: " + list + ". "
                                   + (vocabulary.same() ? "The vocabulary is one; the way of cutting is not." : std::to_string(vocabulary.equal) + " of " + std::to_string(vocabulary.common) + " pieces are the same."),
                               causes(), "The two belong to different models.");
        finding.measure = Measure{static_cast<double>(equal), "of 60 texts equal", {}, {}, 60};
        finding.next = {"T12"};
    }

    Result<void> specials(Encoder &first, Encoder &second)
    {
        // Only a tokenizer.json lists all that it matches: a SentencePiece model or GGUF leaves that to other files and its program.
        const bool complete = m_a.json && m_b.json;
        std::vector<std::string> contents;
        for (const auto &[twin, other] : {std::pair(&m_a, &m_b), {&m_b, &m_a}}) {
            for (const AddedTokenRule *const token : twin->tokenizer->addedTokens().all()) {
                const bool shared = other->tokenizer->addedTokens().byContent(token->content);
                if (token->special && (shared ? twin == &m_a : complete) && contents.size() < (twin == &m_a ? 12 : 24))
                    contents.push_back(token->content);
            }
        }
        for (const std::string &content : contents) {
            for (const std::string &text : {"a" + content + "b", "a " + content + " b"}) {
                const auto x = encode(first, m_a, text, false), y = encode(second, m_b, text, false);
                if (!x || !y)
                    return (x ? y : x).error();
                if (*x == *y)
                    continue;
                const std::size_t at = commonPrefix(*x, *y);
                add("tokens.twins.specials", Severity::Warning, "Text with special tokens gets other ids: " + shownPiece(text),
                    "Plain text agrees. From token " + std::to_string(at) + " on: " + listed(*x, at) + " against " + listed(*y, at)
                        + ". One puts or takes a blank beside special tokens, or does not match them in text.",
                    causes(), "Special tokens never stand in text that is encoded.")
                    .next = {"T11"};
                return {};
            }
        }
        return {};
    }

    void tellFiles(const Shared &vocabulary, const std::vector<std::string> &parts)
    {
        std::string list;
        for (const std::string &part : parts)
            list += (list.empty() ? "" : ", ") + part;
        add("tokens.twins.files", Severity::Info, "The files differ, the ids agree on all 60 texts",
            (vocabulary.same() ? std::string() : std::to_string(vocabulary.common - vocabulary.equal) + " pieces differ in spelling. ") + (list.empty() ? std::string() : "Written otherwise: " + list + "."), causes(),
            "Texts of another kind are cut otherwise.");
    }

    Twin m_a, m_b;
    bool m_onPurpose;
    Report &m_report;
    Table m_table;
    bool m_told = false;
};

/// Texts recorded with ids, against the file, and against one another.
class Records {
public:
    Records(const std::vector<TokenizerView> &views, Report &report) : m_views(views), m_report(report) {}

    Result<void> run(const std::vector<TokenArray> &arrays, const Job &job)
    {
        for (const TokenArray &array : arrays) {
            if (job.cancelled())
                return Job::cancelledError();
            if (array.text && !array.ids.empty() && array.use != TokenArray::Use::Generated)
                againstFile(array);
        }
        pairs(arrays);
        for (const auto &[file, wrong] : m_wrong) {
            Finding finding = wrong.finding;
            finding.detail += " " + std::to_string(wrong.count) + " of " + std::to_string(m_checked[file]) + " records differ.";
            finding.measure = Measure{static_cast<double>(wrong.count), "records that differ", {}, {}, m_checked[file]};
            m_report.findings.push_back(std::move(finding));
        }
        return {};
    }

    std::size_t looked() const { return m_looked; }

private:
    struct Wrong {
        Finding finding;
        std::size_t count = 0;
    };

    static std::vector<std::int64_t> bare(const std::vector<std::int64_t> &ids, const TokenizerView &view)
    {
        std::vector<std::int64_t> out = ids;
        const auto is = [&](std::int64_t id, const std::vector<std::string> &list) {
            return std::any_of(list.begin(), list.end(), [&](const std::string &piece) { return view.piece(id) == piece; });
        };
        std::vector<std::string> prefix = view.facts.prefix, suffix = view.facts.suffix;
        for (const auto &[role, list] : {std::pair<const char *, std::vector<std::string> *>("bos", &prefix), {"eos", &suffix}}) {
            if (const SpecialRole *const special = view.facts.role(role); special && special->text)
                list->push_back(*special->text);
        }
        while (!out.empty() && is(out.front(), prefix))
            out.erase(out.begin());
        while (!out.empty() && is(out.back(), suffix))
            out.pop_back();
        return out;
    }

    void againstFile(const TokenArray &array)
    {
        const TokenizerView *const view = viewFor(m_views, *array.artifact);
        if (!view || !view->facts.vocabularyFile.valid() || !view->excerpt().empty() || !view->opened())
            return;
        ++m_looked;
        ++m_checked[array.artifact];
        auto &encoder = m_encoders.try_emplace(view, view->tokenizer()).first->second;
        const auto recorded = bare(array.ids, *view);
        std::vector<std::int64_t> own;
        std::optional<Encoding> shown;
        for (const bool asText : {false, true}) {
            EncodeOptions options = view->opened()->options;
            options.addSpecialTokens = false;
            options.specialsAsText = asText;
            auto encoding = encoder.encode(*array.text, options);
            if (!encoding)
                return;
            std::vector<std::int64_t> ids(encoding->ids.begin(), encoding->ids.end());
            if (ids == array.ids || bare(ids, *view) == recorded)
                return;
            if (!shown) {
                own = bare(ids, *view);
                shown = std::move(*encoding);
            }
        }
        const std::size_t at = commonPrefix(own, recorded);
        const std::size_t offset = static_cast<std::size_t>(std::search(array.ids.begin(), array.ids.end(), recorded.begin(), recorded.end()) - array.ids.begin());
        Wrong &wrong = m_wrong[array.artifact];
        if (++wrong.count > 1)
            return;
        const std::uint32_t byte = at < shown->offsets.size() ? shown->offsets[at].begin : static_cast<std::uint32_t>(array.text->size());
        wrong.finding = {"tokens.twins.record", Severity::Error,
                         "A record is not what this tokenizer gives: it differs from token " + std::to_string(at) + " on, at byte " + std::to_string(byte) + " of " + shownPiece(*array.text),
                         "Recorded " + listed(recorded, at) + ", the file gives " + listed(own, at) + "."};
        wrong.finding.evidence = {array.tokens(offset + at, std::min(offset + at + 1, std::max(array.ids.size(), offset + at)), "recorded otherwise from here on"), array.array("the record"), view->whole("the tokenizer")};
        wrong.finding.falseIf = "The text was changed (normal form, blanks) between the record and the tokenizer, or padding and truncation were asked for.";
        wrong.finding.next = {"T11", "T12"};
    }

    /// `ids_flag_off` and `ids_flag_on`: one text, two settings.
    void pairs(const std::vector<TokenArray> &arrays)
    {
        std::size_t equal = 0;
        const TokenArray *agreeing = nullptr;
        for (std::size_t i = 0; i + 1 < arrays.size(); ++i) {
            const TokenArray &a = arrays[i];
            for (std::size_t j = i + 1; j < arrays.size(); ++j) {
                const TokenArray &b = arrays[j];
                if (a.name.empty() || b.name.empty() || !a.body || !b.body || a.body->value != b.body->value || a.body->document != b.body->document)
                    break;
                ++m_looked;
                if (a.ids == b.ids) {
                    ++equal;
                    agreeing = agreeing ? agreeing : &a;
                    continue;
                }
                const std::size_t at = commonPrefix(a.ids, b.ids);
                Finding finding{"tokens.twins.lists", Severity::Error, "Two settings give one text other ids: " + a.name + " and " + b.name + " differ from token " + std::to_string(at) + " on",
                                listed(a.ids, at) + " against " + listed(b.ids, at) + (a.text ? " for " + shownPiece(*a.text) : std::string()) + '.'};
                finding.evidence = {a.array(a.source), b.array(b.source), a.tokens(at, at + 1, "the first token that differs")};
                finding.falseIf = "The setting is meant to change ids.";
                finding.next = {"F3"};
                m_report.findings.push_back(std::move(finding));
            }
        }
        if (agreeing) {
            Table table{"Settings compared", {"records", "result"}, {{{std::to_string(equal), agreeing->array("compared")}, {"the same ids under both settings: a warning about the setting does not apply to these texts"}}}};
            m_report.tables.push_back(std::move(table));
        }
    }

    const std::vector<TokenizerView> &m_views;
    Report &m_report;
    std::map<const TokenizerView *, Encoder> m_encoders;
    std::map<const Artifact *, Wrong> m_wrong;
    std::map<const Artifact *, std::size_t> m_checked;
    std::size_t m_looked = 0;
};

std::optional<Twin> twinOf(const TokenizerView &view, Report &report)
{
    if (!view.facts.vocabularyFile.valid())
        return std::nullopt;
    if (!view.opened()) {
        report.notSeen.push_back(view.path() + ": " + describe(view.opened().error()));
        return std::nullopt;
    }
    if (!view.excerpt().empty()) {
        report.notSeen.push_back(view.path() + " is an excerpt: " + view.excerpt());
        return std::nullopt;
    }
    return Twin{view.path(), &view, view.tokenizer(), view.opened()->options, view.whole(view.path()), view.json()};
}

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    auto arrays = tokenArrays(inputs.run, job);
    if (!arrays)
        return arrays.error();
    Report report;
    const auto views = tokenizerViews(inputs.run);
    const auto others = inputs.baseline ? tokenizerViews(*inputs.baseline, Side::B) : std::vector<TokenizerView>();
    std::size_t compared = 0;
    const auto compare = [&](const std::optional<Twin> &a, const std::optional<Twin> &b, bool onPurpose) -> Result<void> {
        if (!a || !b)
            return {};
        auto done = Comparison(*a, *b, onPurpose, report).run(job);
        if (!done && done.error().code != Errc::Cancelled) {
            report.notSeen.push_back(a->name + " and " + b->name + ": " + describe(done.error()));
            return {};
        }
        compared += done ? 1 : 0;
        return done;
    };
    for (const TokenizerView &view : views) {
        if (job.cancelled())
            return Job::cancelledError();
        // The two sides: the same place, or the only ones.
        for (const TokenizerView &other : others) {
            const bool same = view.folder->path == other.folder->path && bool(view.gguf) == bool(other.gguf);
            if (same || (views.size() == 1 && others.size() == 1)) {
                if (auto done = compare(twinOf(view, report), twinOf(other, report), true); !done)
                    return done.error();
                break;
            }
        }
        if (view.gguf)
            continue;
        const Artifact *const sentencePiece = inputs.run.find(view.folder->sentencePiece);
        if (view.json() && sentencePiece) {
            if (auto opened = openTokenizer(*sentencePiece)) {
                const Twin model{sentencePiece->path, nullptr, opened->tokenizer, opened->options, {sentencePiece->id, Whole{}, sentencePiece->path}, {}};
                if (auto done = compare(twinOf(view, report), model, false); !done)
                    return done.error();
            } else {
                report.notSeen.push_back(sentencePiece->path + ": " + describe(opened.error()));
            }
        }
    }
    const auto models = describeModels(inputs.run);
    const auto conversions = findConversions(models);
    for (const TokenizerView &source : views) {
        for (const TokenizerView &gguf : views) {
            const bool converted = std::any_of(conversions.begin(), conversions.end(), [&](const Conversion &c) { return c.source->folder == source.folder && c.converted->artifact == gguf.gguf; });
            if (source.gguf || !gguf.gguf || (gguf.folder != source.folder && !converted))
                continue;
            if (auto done = compare(twinOf(source, report), twinOf(gguf, report), false); !done)
                return done.error();
        }
    }
    Records records(views, report);
    if (auto done = records.run(*arrays, job); !done)
        return done.error();
    if (compared + records.looked() == 0)
        report.missing = views.empty() ? std::vector<std::string>{"tokenizer_files", "encode_record"} : std::vector<std::string>{"encode_record"};
    return report;
}

constexpr std::array<std::string_view, 3> usable{"tokenizer_files", "encode_record", "token_array"};

} // namespace

extern constinit const Instrument tokens_twin_diff{
    "T7", "Tokenizer twin diff", "Do two tokenizers said to be the same agree?", "tokens_twin_diff", usable, {}, run};

} // namespace prosector
