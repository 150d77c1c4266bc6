// SPDX-License-Identifier: GPL-3.0-or-later
// T1: how many sequence-start tokens did the model really receive, and where?
#include "models/core/wording.h"
#include "models/instruments/instrument.h"
#include "models/prompts/pads.h"
#include "models/prompts/proberender.h"
#include "models/prompts/tokenarrays.h"
#include "models/prompts/tokenizerview.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace prosector {

namespace {

constexpr std::string_view duplicate = "tokens.bos.duplicate";
constexpr std::size_t shownArrays = 4;      ///< of one finding
constexpr std::size_t displacedWithin = 16; ///< a start token at 1..15 with none at 0 was meant to be first

/// What is known of one tokenizer's start token.
struct Start {
    const TokenizerView *view = nullptr;
    std::int64_t id = 0;
    std::string text;
    Evidence where{};
    BosAdder adder;
    std::optional<Evidence> printed{};  ///< where the chat template prints it first
    std::optional<RoundStart> rounds{}; ///< the template prints it again for every round
    bool alsoEnd = false;               ///< the end token (or the unknown one) has the same id

    bool both() const { return printed && adder.adds == true; }
    /// Whether one behind `before` is where the template puts it in later rounds.
    bool beginsRound(std::int64_t before) const { return rounds && (!rounds->behind || *rounds->behind == before); }
};

/// The tokenizer's start token; else, if no tokenizer file speaks of specials, that of config.json.
Result<std::optional<Start>> startOf(const TokenizerView &view, const Job &job)
{
    Start start;
    start.view = &view;
    const SpecialRole *const role = view.facts.role("bos");
    if (role && role->id) {
        start.id = *role->id;
        start.where = view.at(role->where);
    } else if (!view.gguf && !role && !view.folder->tokenizerConfig.valid() && !view.folder->specialTokensMap.valid()) {
        const Artifact *const config = view.run->find(view.folder->config);
        const auto id = config ? config->tree()["bos_token_id"].integer() : std::nullopt;
        if (!id)
            return std::optional<Start>();
        start.id = *id;
        start.where = view.at({config->id, config->tree()["bos_token_id"].anchor(), "bos_token_id = " + std::to_string(*id)});
    } else {
        return std::optional<Start>();
    }
    start.text = role && role->text ? *role->text : view.piece(start.id).value_or("");
    for (const std::string_view other : {"eos", "unk"}) {
        const SpecialRole *const same = view.facts.role(other);
        start.alsoEnd = start.alsoEnd || (same && same->id == start.id);
    }
    start.adder = view.facts.bosAdder();
    const ProbeRenders renders(view);
    auto printed = renders.printsFirst(start.text, job);
    auto rounds = renders.startsRounds(start.text, job);
    if (!printed || !rounds)
        return Job::cancelledError();
    start.printed = std::move(*printed);
    start.rounds = *rounds;
    return std::optional(std::move(start));
}

/// The leading run, the first displaced one and the others.
struct Count {
    std::size_t leading = 0;
    std::optional<std::size_t> displaced{}; ///< index in the stretch
    std::vector<std::size_t> interior{};
};

Count countIn(const TokenArray &array, Stretch part, const Start &start, std::optional<std::int64_t> eos)
{
    Count count;
    while (part.from + count.leading < part.to && array.ids[part.from + count.leading] == start.id)
        ++count.leading;
    for (std::size_t i = part.from + count.leading; i < part.to; ++i) {
        if (array.ids[i] != start.id)
            continue;
        if (i > part.from && ((eos && array.ids[i - 1] == *eos) || start.beginsRound(array.ids[i - 1])))
            continue; // another document of a packed row, another round of the template's
        if (count.leading == 0 && !count.displaced && i - part.from < displacedWithin)
            count.displaced = i;
        else
            count.interior.push_back(i);
    }
    return count;
}

class BosCheck {
public:
    BosCheck(const Inputs &inputs, Report &report) : m_inputs(inputs), m_views(tokenizerViews(inputs.run)), m_report(report)
    {
        m_table = {"Start tokens received", {"array", "tokens", "start id", "at the front", "inside", "expected"}, {}};
    }

    Result<void> arrays(const std::vector<TokenArray> &arrays, const Job &job)
    {
        for (const TokenizerView &view : m_views) {
            auto start = startOf(view, job);
            if (!start)
                return start.error();
            m_starts.push_back(std::move(*start));
        }
        std::map<std::pair<std::uint32_t, std::size_t>, std::vector<const TokenArray *>> batches;
        for (const TokenArray &array : arrays)
            batches[{array.artifact->id.index, array.batch}].push_back(&array);
        for (const TokenArray &array : arrays) {
            if (job.cancelled())
                return Job::cancelledError();
            one(array, batches[{array.artifact->id.index, array.batch}]);
        }
        return {};
    }

    /// llama.cpp says it in so many words.
    void logs()
    {
        for (const Artifact *const file : m_inputs.run.ofKind(Kind::StartupLog)) {
            const auto *const text = file->as<TextContent>();
            if (!text)
                continue;
            for (std::size_t i = 0; i < text->lineCount(); ++i) {
                if (text->line(i).find("also starts with a BOS token") == std::string_view::npos)
                    continue;
                m_looked = true;
                add(std::string(duplicate), Severity::Error, "The log says that a second start token was put before a prompt that had one",
                    "The prompt's text holds the start token and the tokenizer adds another.", {{file->id, LogLine{i + 1, i + 1}, "as logged"}},
                    "The line is of another model.")
                    .measure = Measure{2, "tokens"};
                return; // once is enough; it is repeated for every request
            }
        }
    }

    /// Both the template and the tokenizer are set to add one: possible, not seen.
    void possible()
    {
        for (const auto &start : m_starts) {
            if (!start || !start->both() || m_duplicated.contains(start->view))
                continue;
            std::vector<Evidence> evidence{*start->printed};
            addAdder(*start, evidence);
            Finding &finding = add("tokens.bos.two_adders", Severity::Info, "The chat template prints " + start->text + " and the tokenizer adds it",
                                   "A prompt that is rendered to text and then encoded with special tokens gets two. Programs that know this encode without.",
                                   std::move(evidence), "Rendered prompts are always encoded without special tokens.");
            finding.next = {"R10"};
        }
    }

    void againstBaseline(const std::vector<TokenArray> &here, const std::vector<TokenArray> &there)
    {
        if (here.size() != there.size())
            return;
        for (std::size_t i = 0; i < here.size(); ++i) {
            const TokenizerView *const view = viewFor(m_views, *here[i].artifact);
            const auto &start = view ? m_starts[static_cast<std::size_t>(view - m_views.data())] : m_none;
            if (!start)
                continue;
            const auto count = [&](const TokenArray &array) {
                std::size_t n = 0;
                while (n < array.ids.size() && array.ids[n] == start->id)
                    ++n;
                return n;
            };
            const std::size_t a = count(here[i]), b = count(there[i]);
            if (a == b || m_faulty.contains(&here[i])
                || !std::equal(here[i].ids.begin() + static_cast<std::ptrdiff_t>(a), here[i].ids.end(), there[i].ids.begin() + static_cast<std::ptrdiff_t>(b), there[i].ids.end()))
                continue;
            Evidence other = there[i].tokens(0, std::max<std::size_t>(b, 1), counted(b, "start token"));
            other.side = Side::B;
            add("tokens.bos.differs", Severity::Warning, counted(a, "start token") + " here, " + std::to_string(b) + " in the baseline, before the same tokens",
                "Everything else of the two arrays is equal.", {here[i].tokens(0, std::max<std::size_t>(a, 1), counted(a, "start token")), std::move(other)},
                "The two arrays are not of the same request.")
                .measure = Measure{static_cast<double>(a), "tokens"};
        }
    }

    void finish()
    {
        for (const auto &[key, told] : m_told) {
            if (told.arrays > 1)
                m_report.findings[told.finding].detail += " So it is in " + std::to_string(told.arrays) + " token arrays.";
        }
        if (!m_table.rows.empty())
            m_report.tables.push_back(std::move(m_table));
        if (m_looked)
            return;
        if (m_noTokenizer > 0)
            m_report.missing = {"tokenizer_files"};
        else if (m_unclear > 0)
            m_report.missing = {"attention_mask"};
        else
            m_report.missing = {"token_array"};
    }

private:
    Finding &add(std::string code, Severity severity, std::string title, std::string detail, std::vector<Evidence> evidence, std::string falseIf)
    {
        Finding finding{std::move(code), severity, std::move(title), std::move(detail)};
        finding.evidence = std::move(evidence);
        finding.falseIf = std::move(falseIf);
        return m_report.findings.emplace_back(std::move(finding));
    }

    /// What is seen in an array. Told once for each tokenizer, code and number; of further arrays, where.
    void tell(const TokenArray &array, const Start &start, Finding finding)
    {
        m_faulty.insert(&array);
        const auto [told, fresh] = m_told.try_emplace({start.view, finding.code, finding.severity, finding.code == duplicate ? finding.measure->number : 0}, Told{m_report.findings.size(), 1});
        if (fresh) {
            m_report.findings.push_back(std::move(finding));
        } else if (++told->second.arrays <= shownArrays) {
            auto &evidence = m_report.findings[told->second.finding].evidence;
            evidence.insert(evidence.end(), finding.evidence.begin(), finding.evidence.begin() + 2); // the tokens and their array
        }
    }

    void addAdder(const Start &start, std::vector<Evidence> &evidence) const
    {
        for (const Evidence &where : start.adder.evidence) {
            Evidence copy = start.view->at(where);
            copy.note = "who adds the start token: " + (start.adder.reason.empty() ? where.note : start.adder.reason);
            evidence.push_back(std::move(copy));
        }
    }

    bool isChat(const TokenArray &array, Stretch part, const Start &start) const
    {
        if (array.body && array.body->value["messages"].isArray())
            return true;
        for (std::size_t i = part.from; i < part.to; ++i) {
            const std::int64_t id = array.ids[i];
            const AddedToken *const token = start.view->added(id);
            if (!token || id == start.id)
                continue;
            for (const TemplateText &chat : start.view->facts.templates) {
                if (chat.text.find(token->content) != std::string::npos)
                    return true;
            }
        }
        return false;
    }

    void one(const TokenArray &array, const std::vector<const TokenArray *> &batch)
    {
        const TokenizerView *const view = viewFor(m_views, *array.artifact);
        if (!view) {
            ++m_noTokenizer;
            m_report.notSeen.push_back(array.artifact->path + ' ' + array.source + ": no tokenizer that it goes with");
            return;
        }
        const auto &start = m_starts[static_cast<std::size_t>(view - m_views.data())];
        if (!start) { // BERT, Qwen: there is no such token
            const bool says = view->facts.vocabularyFile.valid() || view->folder->tokenizerConfig.valid();
            m_looked = m_looked || says;
            m_noTokenizer += says ? 0 : 1;
            return;
        }
        const Stretches stretches = stretchesOf(array, batch, view);
        if (!stretches.undecidable.empty()) {
            ++m_unclear;
            m_report.notSeen.push_back(array.artifact->path + ' ' + array.source + ": " + stretches.undecidable);
            return;
        }
        m_looked = true;
        const SpecialRole *const eos = view->facts.role("eos");
        for (const Stretch part : stretches.parts) {
            const Count count = countIn(array, part, *start, eos && !start->alsoEnd ? eos->id : std::nullopt);
            const bool chat = isChat(array, part, *start);
            std::optional<bool> expected = start->adder.adds;
            if (start->adder.ambiguous)
                expected = true;
            if (chat && (start->printed || expected))
                expected = start->printed || *expected;
            judge(array, part, *start, count, chat, expected);
            m_table.rows.push_back({{array.artifact->path + ' ' + array.source, array.array("counted here")},
                                    number(part.to - part.from),
                                    {std::to_string(start->id), start->where, Severity::Ok, true},
                                    number(count.leading),
                                    number(count.interior.size() + (count.displaced ? 1 : 0)),
                                    {!expected ? "unknown" : *expected ? "1" : "0"}});
        }
    }

    static Cell number(std::size_t n) { return {std::to_string(n), {}, Severity::Ok, true}; }

    void judge(const TokenArray &array, Stretch part, const Start &start, const Count &count, bool chat, std::optional<bool> expected)
    {
        const auto one = [&](std::string code, Severity severity, std::string title, std::string detail, std::size_t at, std::size_t to, std::string note, double number) {
            Finding finding{std::move(code), severity, std::move(title), std::move(detail)};
            finding.evidence = {array.tokens(at, to, std::move(note)), array.array(array.source)};
            finding.measure = Measure{number, "tokens"};
            return finding;
        };
        const auto position = [&](std::size_t index) { return std::to_string(index + array.first); };
        if (count.leading >= 2) {
            const std::string cause = start.both()      ? "The chat template prints it and the tokenizer adds it (" + start.adder.reason + "); the rendered prompt was encoded with special tokens."
                                      : start.printed   ? "The chat template prints it; whatever encoded the text added another."
                                      : start.adder.adds == true ? "The tokenizer adds one (" + start.adder.reason + "), and the text held another."
                                                        : "Neither the template nor the tokenizer's files explain the second.";
            Finding finding = one(std::string(duplicate), Severity::Error,
                                  "The prompt begins with " + std::to_string(count.leading) + " start tokens (id " + std::to_string(start.id) + ") at positions " + position(part.from) + " to "
                                      + position(part.from + count.leading - 1),
                                  cause + " Training shows one; answers become worse without failing.", part.from, part.from + count.leading,
                                  shownPiece(start.text) + " (" + std::to_string(start.id) + ") " + std::to_string(count.leading) + " times", static_cast<double>(count.leading));
            if (start.printed)
                finding.evidence.push_back(*start.printed);
            addAdder(start, finding.evidence);
            finding.falseIf = "The model was trained with this many.";
            finding.next = {"R1", "R10"};
            m_duplicated.insert(start.view);
            tell(array, start, std::move(finding));
        } else if (count.displaced && !start.alsoEnd) {
            Finding finding = one("tokens.bos.displaced", Severity::Error, "The start token stands at position " + position(*count.displaced) + ", not at the front",
                                  "What stands before it is seen by every later token; a blank line before the template's start token does this.", *count.displaced, *count.displaced + 1,
                                  shownPiece(start.text) + " is here", static_cast<double>(*count.displaced));
            finding.measure->unit = "position";
            finding.falseIf = "The tokens before it are padding.";
            tell(array, start, std::move(finding));
        } else if (count.leading == 0 && !count.displaced && expected == true && part.from < part.to) {
            const bool sure = !start.adder.ambiguous || (chat && start.printed);
            const auto first = start.view->piece(array.ids[part.from]);
            Finding finding = one("tokens.bos.missing", sure ? Severity::Error : Severity::Warning, "The prompt has no start token (id " + std::to_string(start.id) + ")",
                                  (chat && start.printed ? "The chat template prints one. " : start.adder.ambiguous ? "Programs disagree whether one is added: " + start.adder.reason + ". "
                                                                                                                    : "The tokenizer is to add one: " + start.adder.reason + ". ")
                                      + "Models trained with it can fail altogether without (Gemma's perplexity grows beyond all measure).",
                                  part.from, part.from + 1, "the first token is " + std::to_string(array.ids[part.from]) + (first ? ", " + shownPiece(*first) : ""), 0);
            if (chat && start.printed)
                finding.evidence.push_back(*start.printed);
            addAdder(start, finding.evidence);
            finding.evidence.push_back(start.where);
            finding.falseIf = "The array continues an earlier one, or the model was trained without.";
            finding.next = {"R1"};
            tell(array, start, std::move(finding));
        }
        if (!count.interior.empty() && !start.alsoEnd && count.leading > 0) {
            const std::size_t at = count.interior.front();
            Finding finding = one("tokens.bos.interior", Severity::Error,
                                  "A start token stands inside the prompt, at position " + position(at) + (count.interior.size() > 1 ? " and " + counted(count.interior.size() - 1, "place") + " more" : ""),
                                  "The chat template does not print it there. A part encoded by itself (the beginning of an answer) brings a start token of its own; so does user text that spells it.", at, at + 1,
                                  shownPiece(start.text) + " is here", static_cast<double>(count.interior.size()));
            finding.falseIf = "Several documents are packed into one row, or the model's format has it there.";
            finding.next = {"T3"};
            tell(array, start, std::move(finding));
        }
    }

    /// A finding, and how many arrays show it.
    struct Told {
        std::size_t finding = 0, arrays = 0;
    };

    const Inputs &m_inputs;
    const std::vector<TokenizerView> m_views;
    std::vector<std::optional<Start>> m_starts;
    const std::optional<Start> m_none{};
    Report &m_report;
    Table m_table;
    std::set<const TokenizerView *> m_duplicated;
    std::set<const TokenArray *> m_faulty;
    std::map<std::tuple<const TokenizerView *, std::string, Severity, double>, Told> m_told;
    bool m_looked = false;
    std::size_t m_noTokenizer = 0, m_unclear = 0;
};

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    auto arrays = tokenArrays(inputs.run, TokenArray::Use::Input, job);
    if (!arrays)
        return arrays.error();
    Report report;
    BosCheck check(inputs, report);
    if (auto done = check.arrays(*arrays, job); !done)
        return done.error();
    if (inputs.baseline) {
        auto others = tokenArrays(*inputs.baseline, TokenArray::Use::Input, job);
        if (!others)
            return others.error();
        check.againstBaseline(*arrays, *others);
    }
    check.logs();
    check.possible();
    check.finish();
    return report;
}

constexpr std::array<std::string_view, 6> usable{"token_array", "request_body", "response_body", "tokenizer_files", "attention_mask", "startup_log"};

} // namespace

extern constinit const Instrument tokens_bos_counter{
    "T1", "BOS counter", "How many sequence-start tokens did the model really receive, and where?", "tokens_bos_counter", usable, {}, run};

} // namespace prosector
