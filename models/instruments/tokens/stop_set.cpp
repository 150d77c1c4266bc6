// SPDX-License-Identifier: GPL-3.0-or-later
// T5: which ids can actually end this generation?
#include "models/core/ascii.h"
#include "models/core/wording.h"
#include "models/config/evaluation.h"
#include "models/instruments/instrument.h"
#include "models/prompts/proberender.h"
#include "models/prompts/stopsets.h"
#include "models/prompts/tokenarrays.h"
#include "models/tokenizers/ggufvocabulary.h"
#include "models/wire/streams.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace prosector {

namespace {

std::string namesOf(const std::vector<PrintedMarker> &markers)
{
    std::string names;
    for (const PrintedMarker &marker : markers)
        names += (names.empty() ? "" : " or ") + shownPiece(marker.text) + (marker.id ? " (" + std::to_string(*marker.id) + ")" : "");
    return names;
}

std::string listOf(const StopSet &set)
{
    std::string list;
    const auto add = [&](const std::string &one) { list += (list.empty() ? "" : ", ") + one; };
    for (const std::int64_t id : set.ids)
        add(std::to_string(id));
    for (const std::string &text : set.tokens)
        add(shownPiece(text));
    for (const std::string &text : set.strings)
        add("stop " + shownPiece(text));
    return list.empty() ? "nothing" : list;
}

/// One tokenizer with its template, and what of the evidence goes with it.
class StopAudit {
public:
    StopAudit(const TokenizerView &view, Report &report) : m_view(view), m_report(report) {}

    Result<void> findEnds(const Job &job)
    {
        auto ends = ProbeRenders(m_view).turnEnds(job);
        if (!ends)
            return ends.error();
        m_ends = std::move(*ends);
        return {};
    }
    const TurnEnds &ends() const { return m_ends; }
    bool hasTemplate() const { return !m_view.facts.templates.empty(); }

    void request(const WireBody &body)
    {
        const RequestStops stops = requestStops(body);
        ++m_requests;
        m_covered += stops.set.holdsAny(m_ends.markers);
        if (stops.ignoresEnd && !m_seen)
            ignored(*stops.ignoresEnd, stops.synthetic);
    }

    /// vLLM prints the parameters of each request, llama.cpp the bias by which it forbids a token.
    void log(ArtifactId file, const LogTriage &triage)
    {
        for (const LogHit &hit : triage.hits) {
            const bool vllm = hit.pattern->id == "vllm.request" && hit.capture("params").find("ignore_eos=True") != std::string_view::npos;
            const bool llama = hit.pattern->id == "llamacpp.ignore_eos" && hit.capture("bias") == "-inf"
                               && std::any_of(m_ends.markers.begin(), m_ends.markers.end(), [&](auto &m) { return m.text == hit.capture("token"); });
            if (vllm || llama)
                return ignored({file, hit.where(), vllm ? "ignore_eos=True" : "the turn end is forbidden"}, false);
        }
    }

    /// Generated ids: do they go on behind the end of the turn?
    void answer(const TokenArray &array, const Exchange *exchange)
    {
        const auto at = turnEndIn(array.ids);
        if (!at)
            return;
        const RequestStops stops = exchange && exchange->request ? requestStops(*exchange->request) : RequestStops();
        // SGLang and TGI look at the length before they look at the token; whose other arrays are is not known.
        const bool lengthFirst = array.source.starts_with("details") || array.source.starts_with("meta_info")
                                 || (!array.source.starts_with("choices") && stops.most == static_cast<std::int64_t>(array.ids.size()));
        if (!goesOn(array.ids, *at, endsByLength(array.finish) && !lengthFirst)) {
            m_ended = array.tokens(*at, *at + 1, "the answer ends here");
            return;
        }
        if (array.roles.size() == array.ids.size() && std::any_of(array.roles.begin() + static_cast<std::ptrdiff_t>(*at), array.roles.end(), [&](auto &role) { return role != array.roles[*at]; }))
            return; // several turns recorded as one array
        passed(markerOf(array.ids[*at]), *at + array.first, array.ids.size() - *at - 1, "token", {array.tokens(*at, *at + 1, {}), array.array(array.source)}, array.finish, stops);
    }

    /// The same of a stream: by the ids of its chunks, else by its text. Whether there was anything to go by.
    bool stream(const StreamChannel &channel, const Exchange *exchange)
    {
        const RequestStops stops = exchange && exchange->request ? requestStops(*exchange->request) : RequestStops();
        const auto ids = channel.ids();
        if (ids.empty() || std::any_of(ids.begin(), ids.end(), [](auto id) { return id < 0; })) {
            std::size_t length = 0;
            const auto where = [&](std::size_t byte) {
                for (const StreamDelta &delta : channel.deltas) {
                    length += delta.text.size();
                    if (length > byte)
                        return delta.where;
                }
                return channel.deltas.back().where;
            };
            return text(channel.joined(), where, channel.finish, stops);
        }
        if (const auto at = turnEndIn(ids); at && goesOn(ids, *at, endsByLength(channel.finish) && !channel.name.starts_with("token."))) {
            std::size_t count = 0;
            const auto delta = std::find_if(channel.deltas.begin(), channel.deltas.end(), [&](const StreamDelta &d) { return (count += d.ids.size()) > *at; });
            passed(markerOf(ids[*at]), *at, ids.size() - *at - 1, "token", {delta->where}, channel.finish, stops);
        }
        return true;
    }

    /// A text without ids shows a turn's end only where special tokens were left in it. A marker may be quoted: it is
    /// passed where the next turn's begins right behind it.
    bool text(const std::string &answer, const std::function<Evidence(std::size_t)> &where, const std::string &finish, const RequestStops &stops)
    {
        for (const PrintedMarker &marker : m_ends.markers) {
            const auto at = answer.find(marker.text);
            if (at == std::string::npos)
                continue;
            const std::string_view behind = trimmed(std::string_view(answer).substr(at + marker.text.size()));
            const bool next = std::any_of(m_view.markers().begin(), m_view.markers().end(), [&](std::int64_t id) {
                const AddedToken *const token = m_view.added(id);
                return token && !token->content.empty() && behind.size() > token->content.size() && behind.starts_with(token->content);
            });
            if (next)
                passed(marker, at, answer.size() - at - marker.text.size(), "byte", {where(at)}, finish, stops);
            return true;
        }
        return false;
    }

    /// The texts of an answer that was not streamed, where it has no ids.
    bool wholeTexts(const Exchange &exchange)
    {
        const WireBody &body = *exchange.response;
        const RequestStops stops = exchange.request ? requestStops(*exchange.request) : RequestStops();
        bool any = false;
        for (const Value choice : body.value["choices"]) {
            const Value answer = choice["message"]["content"].isString() ? choice["message"]["content"] : choice["text"];
            if (answer.isString() && !choice["token_ids"].isArray())
                any = text(answer.string(""), [&](std::size_t) { return body.at(answer, {}); }, choice["finish_reason"].string(""), stops) || any;
        }
        return any;
    }

    void read(std::string_view engine, const LogTriages &logs, const std::vector<const Artifact *> &shown)
    {
        m_readings = stopReadings(m_view, engine, logs, shown);
    }
    bool readable() const { return !m_readings.empty(); }

    /// T against what the files say.
    void compare()
    {
        if (m_ends.markers.empty() || m_readings.empty())
            return;
        Table table{"What ends a generation", {"as read by", "ends at", "the template's turn end"}, {}};
        std::vector<const StopReading *> missing;
        bool spelt = false;
        for (const StopReading &reading : m_readings) {
            const bool holds = reading.set.holdsAny(m_ends.markers);
            const bool byText = reading.byText && std::any_of(m_ends.markers.begin(), m_ends.markers.end(), [](auto &m) { return GgufVocabulary::endsByText(m.text); });
            if (!holds)
                missing.push_back(&reading);
            spelt = spelt || (!holds && byText);
            table.rows.push_back({{reading.engines},
                                  {listOf(reading.set), reading.set.evidence.empty() ? std::nullopt : std::optional(reading.set.evidence.front())},
                                  {namesOf(m_ends.markers) + (holds ? ": yes" : byText ? ": by its spelling" : ": no"), m_ends.markers.front().where, holds || byText ? Severity::Ok : Severity::Warning}});
        }
        m_report.tables.push_back(std::move(table));
        if (missing.empty() || (m_requests > 0 && m_covered == m_requests))
            return;
        const bool all = missing.size() == m_readings.size();
        std::vector<Evidence> evidence{m_ends.markers.front().where};
        std::string who;
        for (const StopReading *const reading : missing) {
            for (const Evidence &where : reading->set.evidence) {
                const bool known = std::any_of(evidence.begin(), evidence.end(), [&](auto &e) { return e.artifact == where.artifact && e.where == where.where; });
                if (!known)
                    evidence.push_back(where);
            }
            who += (who.empty() ? "As " : "; as ") + reading->engines + " read the files, generation ends at " + listOf(reading->set);
        }
        if (evidence.size() == 1)
            evidence.push_back(m_view.whole("names no end"));
        std::string detail = who + ". The template closes an answer with " + namesOf(m_ends.markers) + '.';
        if (spelt)
            detail += " llama.cpp ends at this spelling all the same; programs that go by the metadata do not.";
        else
            detail += " An engine that goes by this runs past the end of the turn.";
        if (m_ended) {
            evidence.push_back(*m_ended);
            detail += " The captured answer did end there: something else stopped it.";
        }
        Finding &finding = add("tokens.stop.unset", all && !spelt && !m_ended ? Severity::Warning : Severity::Info,
                               "The turn end " + namesOf(m_ends.markers) + " is not in the stop set" + (all ? std::string() : " as " + missing.front()->engines + " read it"), std::move(detail), std::move(evidence),
                               "The model is a base model whose template is never used for chat, or every request brings the stop.");
        finding.next = {"T13", "F2"};
    }

private:
    /// Index of the first id that ends the turn.
    std::optional<std::size_t> turnEndIn(const std::vector<std::int64_t> &ids) const
    {
        const auto hit = std::find_if(ids.begin(), ids.end(), [&](auto id) { return std::any_of(m_ends.markers.begin(), m_ends.markers.end(), [id](auto &m) { return m.id == id; }); });
        return hit == ids.end() ? std::nullopt : std::optional(static_cast<std::size_t>(hit - ids.begin()));
    }
    const PrintedMarker &markerOf(std::int64_t id) const
    {
        return *std::find_if(m_ends.markers.begin(), m_ends.markers.end(), [id](auto &m) { return m.id == id; });
    }
    /// More text behind the end; or nothing, and the length alone ended it.
    bool goesOn(const std::vector<std::int64_t> &ids, std::size_t at, bool cut) const
    {
        return cut || std::any_of(ids.begin() + static_cast<std::ptrdiff_t>(at) + 1, ids.end(), [&](std::int64_t id) { return !m_view.isMarker(id); });
    }

    void passed(const PrintedMarker &marker, std::size_t at, std::size_t behind, const std::string &unit, std::vector<Evidence> evidence, const std::string &finish, const RequestStops &stops)
    {
        if (m_seen)
            return;
        m_seen = true;
        const std::string name = shownPiece(marker.text) + (marker.id ? " (" + std::to_string(*marker.id) + ")" : "");
        evidence.front().note = name + " ends the turn";
        evidence.push_back(marker.where);
        std::string cause;
        if (stops.ignoresEnd) {
            evidence.push_back(*stops.ignoresEnd);
            cause = " The request sets ignore_eos.";
        } else if (stops.leastAt && unit == "token" && *stops.least > static_cast<std::int64_t>(at)) {
            evidence.push_back(*stops.leastAt);
            cause = " The request wants at least " + counted(static_cast<std::uint64_t>(*stops.least), "token") + '.';
        }
        for (const StopReading &reading : m_readings) {
            if (!reading.set.holds(marker)) {
                evidence.insert(evidence.end(), reading.set.evidence.begin(), reading.set.evidence.end());
                cause += " As " + reading.engines + " read the files, generation ends at " + listOf(reading.set) + " only.";
            }
        }
        const bool meant = stops.synthetic && (stops.ignoresEnd || stops.least);
        Finding &finding = add("tokens.stop.passed", meant ? Severity::Info : Severity::Error,
                               "The answer passes its turn end " + name + " at " + unit + ' ' + std::to_string(at)
                                   + (behind > 0 ? " and goes on for " + counted(behind, unit) : ": its length ended it, not the token"),
                               (endsByLength(finish) ? "It ended at the limit of its length." : "What follows is text of a turn that should not be.") + cause, std::move(evidence),
                               "The array holds several answers, or the token has another meaning inside an answer.");
        finding.measure = Measure{static_cast<double>(at), "position"};
        finding.next = {"T13", "R6"};
    }

    void ignored(Evidence where, bool meant)
    {
        if (m_ignored)
            return;
        m_ignored = true;
        std::vector<Evidence> evidence{std::move(where)};
        if (!m_ends.markers.empty())
            evidence.push_back(m_ends.markers.front().where);
        add("tokens.stop.ignored", meant ? Severity::Info : Severity::Error, meant ? "A benchmark's request ignores the end of the turn" : "The request ignores the end of the turn",
            "With ignore_eos generation goes on to the limit of its length, whatever the model writes.", std::move(evidence), "The requests measure speed, and nobody reads the answers.")
            .next = {"R6"};
    }

    Finding &add(std::string code, Severity severity, std::string title, std::string detail, std::vector<Evidence> evidence, std::string falseIf)
    {
        Finding finding{std::move(code), severity, std::move(title), std::move(detail)};
        finding.evidence = std::move(evidence);
        finding.falseIf = std::move(falseIf);
        return m_report.findings.emplace_back(std::move(finding));
    }

    const TokenizerView &m_view;
    Report &m_report;
    TurnEnds m_ends;
    std::vector<StopReading> m_readings;
    std::optional<Evidence> m_ended;
    std::size_t m_requests = 0, m_covered = 0;
    bool m_seen = false, m_ignored = false;
};

/// The channel of a stream that carries the answer's text, not its reasoning or a tool's arguments.
bool isAnswer(std::string_view channel)
{
    constexpr auto names = std::to_array<std::string_view>({".content", ".text", "response", "content"});
    return std::any_of(names.begin(), names.end(), [&](auto name) { return channel.ends_with(name); });
}

/// The engine that serves a tokenizer's folder, where something tells.
std::string engineOf(const TokenizerView &view, const std::vector<EffectiveConfig> &configs)
{
    for (const EffectiveConfig &config : configs) {
        const bool served = config.model ? &view.run->models()[*config.model] == view.folder : view.run->models().size() == 1;
        if (served && !config.engine.empty())
            return config.engine;
    }
    return {};
}

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    auto arrays = tokenArrays(inputs.run, TokenArray::Use::Generated, job);
    if (!arrays)
        return arrays.error();
    auto pairs = exchanges(inputs.run, job);
    if (!pairs)
        return pairs.error();
    auto configs = inputs.configs(job);
    if (!configs)
        return configs.error();
    auto logs = inputs.logs(job);
    if (!logs)
        return logs.error();
    const auto views = tokenizerViews(inputs.run);
    std::map<const TokenizerView *, std::vector<const Artifact *>> shown;
    for (const Artifact *const file : inputs.run.ofFormat("ollama_show"))
        shown[viewFor(views, *file)].push_back(file);
    Report report;
    std::map<const TokenizerView *, StopAudit> audits;
    for (const TokenizerView &view : views) {
        StopAudit &audit = audits.try_emplace(&view, view, report).first->second;
        if (auto done = audit.findEnds(job); !done)
            return done.error();
        audit.read(engineOf(view, **configs), **logs, shown[&view]);
    }
    std::size_t looked = 0;
    for (const TokenArray &array : *arrays) {
        if (job.cancelled())
            return Job::cancelledError();
        const TokenizerView *const view = viewFor(views, *array.artifact);
        if (!view || audits.at(view).ends().markers.empty())
            continue;
        ++looked;
        audits.at(view).answer(array, exchangeOf(*pairs, array));
    }
    auto channels = streamChannels(inputs.run, job);
    if (!channels)
        return channels.error();
    for (const StreamChannel &channel : *channels) {
        const TokenizerView *const view = channel.deltas.empty() ? nullptr : viewFor(views, *channel.artifact);
        if (view && !audits.at(view).ends().markers.empty() && isAnswer(channel.name))
            looked += audits.at(view).stream(channel, nullptr);
    }
    for (const Exchange &exchange : *pairs) {
        const TokenizerView *const view = exchange.response ? viewFor(views, *exchange.response->artifact) : nullptr;
        if (view && !audits.at(view).ends().markers.empty())
            looked += audits.at(view).wholeTexts(exchange);
    }
    for (const Exchange &exchange : *pairs) {
        const TokenizerView *const view = exchange.request ? viewFor(views, *exchange.request->artifact) : nullptr;
        if (view)
            audits.at(view).request(*exchange.request);
    }
    for (const auto &[file, triage] : **logs) {
        if (const TokenizerView *const view = viewFor(views, inputs.run.artifact(ArtifactId{file})))
            audits.at(view).log(ArtifactId{file}, triage);
    }
    bool templates = false;
    std::string problem;
    for (const TokenizerView &view : views) {
        StopAudit &audit = audits.at(&view);
        templates = templates || audit.hasTemplate();
        if (audit.hasTemplate() && audit.ends().markers.empty())
            report.notSeen.push_back(view.path() + ": " + audit.ends().problem);
        else if (audit.hasTemplate() && !audit.readable())
            report.notSeen.push_back(view.path() + ": the stop set, for want of generation_config.json or config.json");
        looked += !audit.ends().markers.empty() && audit.readable();
        audit.compare();
    }
    if (looked == 0 && report.findings.empty()) {
        const bool closes = std::any_of(audits.begin(), audits.end(), [](auto &entry) { return !entry.second.ends().markers.empty(); });
        report.missing = {views.empty() ? "tokenizer_files" : closes ? "config_files" : "chat_template"};
    }
    return report;
}

constexpr std::array<std::string_view, 7> usable{"chat_template", "tokenizer_files", "config_files", "request_body", "response_body", "startup_log", "token_array"};

} // namespace

extern constinit const Instrument tokens_stop_set{
    "T5", "Stop-set audit", "Which ids can actually end this generation?", "tokens_stop_set", usable, {}, run};

} // namespace prosector
