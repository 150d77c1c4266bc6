// SPDX-License-Identifier: GPL-3.0-or-later
// T4: do tokens merge across a place the code treats as a boundary, or does the answer have to start with a lone blank?
#include "models/core/wording.h"
#include "models/instruments/instrument.h"
#include "models/prompts/tokenizerview.h"
#include "models/wire/bodies.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

namespace prosector {

namespace {

constexpr std::array<ParamSpec, 2> specs{{
    {"lone_share", "Answers that are a lone blank", "share", 0.8, 0.1, 1},
    {"lone_answers", "Answers needed to say so", "answers", 3, 1, 1000},
}};

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view withoutEnd(std::string_view text)
{
    while (!text.empty() && isBlank(text.back()))
        text.remove_suffix(1);
    return text;
}

/// A prompt, what is scored or generated after it, and where both stand.
struct Pair {
    std::string prompt, continuation;
    Evidence promptAt{}, continuationAt{};
    std::string item; ///< id of the sample, or ""
    bool scored = true; ///< labels, preferences, loglikelihoods: the boundary is used
    bool moved = false; ///< lm-eval's: blanks at the end of the context go to the continuation
};

/// `<|im_start|>assistant`, `<start_of_turn>model`, `[/INST]`, `</s>`: a marker, or a role's name right behind one.
bool endsInMarker(std::string_view text)
{
    std::size_t name = text.size();
    while (name > 0 && (std::isalnum(static_cast<unsigned char>(text[name - 1])) || text[name - 1] == '_' || text[name - 1] == ':'))
        --name;
    if (text.size() - name > 24)
        return false;
    const auto head = text.substr(0, name);
    for (const auto &[open, close] : {std::pair('<', '>'), std::pair('[', ']')}) {
        if (!head.ends_with(close))
            continue;
        const auto at = head.rfind(open);
        if (at == std::string_view::npos || head.size() - at > 40 || head.size() - at < 3)
            return false;
        const auto inner = head.substr(at + 1, head.size() - at - 2);
        return inner.find_first_of(" \t\n<>[]") == std::string_view::npos && std::any_of(inner.begin(), inner.end(), [](unsigned char c) { return std::isalpha(c); });
    }
    return false;
}

/// Texts of a list of samples that belong together: one file.
struct Task {
    const Artifact *file = nullptr;
    std::vector<Pair> pairs;
    struct Answer {
        bool lone = false;
        std::string item;
        Evidence where{};
    };
    std::vector<Answer> answers;
};

class Collector {
public:
    std::vector<Task> tasks;

    Result<void> run(const Run &run, const Job &job)
    {
        for (const Artifact &artifact : run.artifacts()) {
            if (artifact.kind != Kind::EvalSamples && artifact.kind != Kind::PreferencePairs)
                continue;
            Task task{&artifact, {}, {}};
            m_artifact = &artifact;
            m_line.reset();
            if (const auto *const lines = artifact.as<LinesContent>()) {
                for (std::size_t i = 0; i < lines->lines.size(); ++i) {
                    if (i % 256 == 0 && job.cancelled())
                        return Job::cancelledError();
                    const auto document = lines->document(i);
                    m_line = lines->lines[i].line;
                    record(document->root(), task);
                }
            } else if (const Value root = artifact.tree(); root.isArray()) {
                for (const Value element : root)
                    record(element, task);
            } else {
                for (const std::string_view key : {"samples", "request_states"}) {
                    for (const Value element : root[key])
                        record(element, task);
                }
                record(root, task);
            }
            if (!task.pairs.empty() || !task.answers.empty())
                tasks.push_back(std::move(task));
        }
        return completions(run, job);
    }

private:
    Evidence at(Value value, std::string note) const
    {
        return {m_artifact->id, m_line ? Anchor(LogLine{*m_line, *m_line}) : value.anchor(), std::move(note)};
    }

    void record(Value record, Task &task)
    {
        if (!record.isObject())
            return;
        std::string item;
        for (const std::string_view key : {"doc_id", "instance_id", "id", "sample_id"}) {
            if (item.empty() && record[key].isSet())
                item = record[key].string(record[key].raw());
        }
        const Value arguments = record["arguments"];
        const auto lmEval = [&](Value context, Value continuation) {
            if (context.isString() && continuation.isString())
                task.pairs.push_back({context.string(""), continuation.string(""), at(context, "context"), at(continuation, "continuation"), item, true, true});
        };
        for (const Value call : arguments) { // {"gen_args_0": {"arg_0": …, "arg_1": …}} or [[context, continuation]]
            if (call.isArray())
                lmEval(call[0], call[1]);
            else
                lmEval(call["arg_0"], call["arg_1"]);
        }
        for (const std::string_view key : {"chosen", "rejected"}) {
            if (record["prompt"].isString() && record[key].isString())
                task.pairs.push_back({record["prompt"].string(""), record[key].string(""), at(record["prompt"], "prompt"), at(record[key], std::string(key)), item, true, false});
        }
        helm(record, item, task);
    }

    void helm(Value record, const std::string &item, Task &task)
    {
        const Value prompt = record["request"]["prompt"];
        const Value completions = record["result"]["completions"];
        if (!prompt.isString() || !completions.isArray())
            return;
        const auto cap = record["request"]["max_tokens"].integer();
        for (const Value completion : completions) {
            std::string reason = completion["finish_reason"].isString() ? completion["finish_reason"].string("") : completion["finish_reason"]["reason"].string("");
            if (reason.empty())
                reason = record["result"]["finish_reason"].string("");
            answer(task, item, prompt, completion["tokens"], completion["tokens"][0]["text"], reason, cap);
        }
    }

    void answer(Task &task, const std::string &item, Value prompt, Value tokens, Value first, const std::string &reason, std::optional<std::int64_t> cap)
    {
        if (!first.isString())
            return;
        const std::string text = prompt.string("");
        std::string token = first.string("");
        for (const std::string_view mark : {"\xE2\x96\x81", "\xC4\xA0"}) {
            for (auto found = token.find(mark); found != std::string::npos; found = token.find(mark))
                token.replace(found, mark.size(), " ");
        }
        const bool blank = !token.empty() && std::all_of(token.begin(), token.end(), [](char c) { return c == ' '; });
        const bool cut = (reason == "length" || reason == "max_tokens" || reason == "limit" || reason == "MAX_TOKENS" || reason.empty()) && cap && *cap <= 2;
        const bool openEnd = text.empty() || !isBlank(text.back());
        task.answers.push_back({blank && cut && openEnd && tokens.size() <= 2, item, at(first, "the first token is " + shownPiece(first.string("")))});
    }

    /// OpenAI completions with logprobs: prompt as text, tokens as text.
    Result<void> completions(const Run &run, const Job &job)
    {
        auto pairs = exchanges(run, job);
        if (!pairs)
            return pairs.error();
        Task task;
        for (const Exchange &exchange : *pairs) {
            if (!exchange.request || !exchange.response || !exchange.request->value["prompt"].isString())
                continue;
            m_artifact = exchange.response->artifact;
            m_line = exchange.response->line;
            task.file = m_artifact;
            for (const Value choice : exchange.response->value["choices"]) {
                const Value tokens = choice["logprobs"]["tokens"];
                answer(task, std::to_string(task.answers.size()), exchange.request->value["prompt"], tokens, tokens[0], choice["finish_reason"].string(""),
                       exchange.request->value["max_tokens"].integer());
            }
        }
        if (!task.answers.empty())
            tasks.push_back(std::move(task));
        return {};
    }

    const Artifact *m_artifact = nullptr;
    std::optional<std::uint64_t> m_line{};
};

class BoundaryCheck {
public:
    BoundaryCheck(const Run &run, const Params &params, Report &report)
        : m_run(run), m_params(params), m_views(tokenizerViews(run)), m_report(report)
    {
    }

    Result<void> run(const Task &task, const Job &job)
    {
        blanks(task);
        loneBlanks(task);
        return merges(task, job);
    }

private:
    Finding &add(std::string code, Severity severity, std::string title, std::string detail, std::vector<Evidence> evidence, std::string falseIf)
    {
        Finding finding{std::move(code), severity, std::move(title), std::move(detail)};
        finding.evidence = std::move(evidence);
        finding.falseIf = std::move(falseIf);
        return m_report.findings.emplace_back(std::move(finding));
    }

    /// (b) by the texts alone.
    void blanks(const Task &task)
    {
        std::vector<const Pair *> faulty;
        std::vector<std::string> items;
        for (const Pair &pair : task.pairs) {
            const bool open = !pair.prompt.empty() && isBlank(pair.prompt.back());
            if (!open || !pair.continuation.starts_with(' ') || !endsInMarker(withoutEnd(pair.prompt)))
                continue;
            faulty.push_back(&pair);
            if (!pair.item.empty() && (items.empty() || items.back() != pair.item))
                items.push_back(pair.item);
        }
        if (faulty.empty())
            return;
        const Pair &first = *faulty.front();
        std::vector<Evidence> evidence;
        Evidence where = first.continuationAt;
        where.note = "the continuation " + shownPiece(first.continuation) + " begins with a blank; the prompt ends " + shownPiece(std::string_view(first.prompt).substr(first.prompt.size() - std::min<std::size_t>(24, first.prompt.size())));
        evidence.push_back(std::move(where));
        if (!items.empty())
            evidence.push_back({task.file->id, ItemIds{items}, counted(items.size(), "item")});
        delimiter(evidence);
        const bool all = faulty.size() == task.pairs.size();
        Finding &finding = add("tokens.boundary.blank", all ? Severity::Error : Severity::Warning,
                               "The answer begins with a blank where a turn begins: " + counted(faulty.size(), "continuation") + " of " + std::to_string(task.pairs.size()),
                               std::string("After a role header a model writes its answer without a blank; with one, other and rare pieces are scored.") + (all ? " Every choice of the task has it, so the score is of another text." : ""),
                               std::move(evidence), "The model was trained with a blank at the beginning of its turns.");
        finding.measure = Measure{static_cast<double>(faulty.size()), "continuations", {}, {}, task.pairs.size()};
    }

    /// The setting that joins context and continuation.
    void delimiter(std::vector<Evidence> &evidence) const
    {
        for (const Artifact *const config : m_run.ofKind(Kind::EvalConfig)) {
            if (const Value value = config->tree()["target_delimiter"]; value.isString() && value.string("").starts_with(' '))
                evidence.push_back({config->id, value.anchor(), "target_delimiter is a blank"});
        }
    }

    /// (c) answers that end at a lone blank.
    void loneBlanks(const Task &task)
    {
        std::vector<std::string> items;
        const Task::Answer *first = nullptr;
        for (const Task::Answer &answer : task.answers) {
            if (!answer.lone)
                continue;
            items.push_back(answer.item);
            first = first ? first : &answer;
        }
        const double count = static_cast<double>(task.answers.size());
        if (!first || count < m_params["lone_answers"] || static_cast<double>(items.size()) < m_params["lone_share"] * count)
            return;
        const std::size_t lone = items.size();
        Finding &finding = add("tokens.boundary.lone_blank", Severity::Error, counted(lone, "answer") + " of " + std::to_string(task.answers.size()) + " are a lone blank, cut there by the cap",
                               "The prompt does not end in a blank, so the model has to write one first, and this tokenizer spells it as a token of its own. With room for one token nothing else comes: the score measures the tokenizer.",
                               {first->where, {task.file->id, ItemIds{std::move(items)}, "answers that are a blank only"}}, "The reference answers are blanks.");
        finding.measure = Measure{static_cast<double>(lone), "answers", {}, {}, task.answers.size()};
        finding.innocent = {"the model's knowledge: it was not asked"};
        finding.next = {"E5"};
    }

    /// (a) with a tokenizer.
    Result<void> merges(const Task &task, const Job &job)
    {
        const TokenizerView *const view = task.pairs.empty() ? nullptr : viewFor(m_views, *task.file);
        if (!view || !view->facts.vocabularyFile.valid() || !view->opened() || !view->excerpt().empty()) {
            if (!task.pairs.empty())
                m_report.notSeen.push_back(task.file->path + ": whether tokens merge across the boundary, for want of a whole tokenizer");
            return {};
        }
        Encoder encoder(view->tokenizer());
        EncodeOptions options = view->opened()->options;
        options.addSpecialTokens = false;
        std::size_t merged = 0, at = 0;
        const Pair *first = nullptr;
        std::string left, right;
        std::vector<std::string> items;
        for (const Pair &pair : task.pairs) {
            if (job.cancelled())
                return Job::cancelledError();
            std::string prompt = pair.prompt, continuation = pair.continuation;
            if (pair.moved) {
                const std::size_t kept = withoutEnd(prompt).size();
                continuation = prompt.substr(kept) + continuation;
                prompt.resize(kept);
            }
            if (prompt.empty() || continuation.empty())
                continue;
            auto a = encoder.encode(prompt, options), b = encoder.encode(prompt + continuation, options);
            if (!a || !b)
                continue;
            std::size_t common = 0;
            while (common < a->size() && common < b->size() && a->ids[common] == b->ids[common])
                ++common;
            if (common == a->size())
                continue;
            ++merged;
            if (!pair.item.empty() && (items.empty() || items.back() != pair.item))
                items.push_back(pair.item);
            if (first)
                continue;
            first = &pair;
            at = common;
            for (std::size_t i = common; i < a->size() && i < common + 3; ++i)
                left += (left.empty() ? "" : " ") + shownPiece(a->tokens[i]);
            for (std::size_t i = common; i < b->size() && i < common + 3; ++i)
                right += (right.empty() ? "" : " ") + shownPiece(b->tokens[i]);
        }
        if (!first)
            return {};
        std::vector<Evidence> evidence{{task.file->id, TokenRange{at, at + 1}, "alone the prompt ends in " + left + "; with the continuation these are " + right}, first->promptAt, first->continuationAt, view->whole("the tokenizer")};
        if (!items.empty())
            evidence.push_back({task.file->id, ItemIds{items}, counted(items.size(), "item")});
        Finding &finding = add("tokens.boundary.merge", first->scored ? Severity::Error : Severity::Warning,
                               "Tokens merge across the boundary in " + std::to_string(merged) + " of " + counted(task.pairs.size(), "pair") + ": " + left + " becomes " + right,
                               "The prompt encoded alone is no beginning of prompt and continuation encoded together, so what is scored or masked by the prompt's length is cut inside a token.", std::move(evidence),
                               "Prompt and continuation are encoded apart and joined as ids.");
        finding.measure = Measure{static_cast<double>(merged), "pairs", {}, {}, task.pairs.size()};
        finding.next = {"E12", "L6"};
        return {};
    }

    const Run &m_run;
    const Params &m_params;
    const std::vector<TokenizerView> m_views;
    Report &m_report;
};

Result<Report> run(const Inputs &inputs, const Params &params, const Job &job)
{
    Collector collector;
    if (auto done = collector.run(inputs.run, job); !done)
        return done.error();
    if (collector.tasks.empty())
        return Report::missingInputs({"eval_samples", "preference_pairs"});
    Report report;
    BoundaryCheck check(inputs.run, params, report);
    for (const Task &task : collector.tasks) {
        if (job.cancelled())
            return Job::cancelledError();
        if (auto done = check.run(task, job); !done)
            return done.error();
    }
    return report;
}

constexpr std::array<std::string_view, 5> usable{"eval_samples", "eval_config", "preference_pairs", "tokenizer_files", "response_body"};

} // namespace

extern constinit const Instrument tokens_boundary_merge{
    "T4", "Boundary merge probe", "Do tokens merge across a place the code treats as a boundary, or does the answer have to start with a lone blank?", "tokens_boundary_merge", usable, specs, run};

} // namespace prosector
