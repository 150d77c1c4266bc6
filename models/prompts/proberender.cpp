// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/prompts/proberender.h"

#include "models/templates/chatrequest.h"

#include <algorithm>
#include <map>

namespace prosector {

namespace {

/// Where the source prints it: the name inside an expression, or the spelling in text or a string.
std::size_t findPrinted(const std::string &source, const std::string &bos)
{
    const auto name = source.find("bos_token");
    const auto spelt = bos.empty() ? std::string::npos : source.find(bos);
    return std::min(name, spelt);
}

/// A probe's messages; `parts`: each text as a list of one part, as templates of multimodal models want it.
std::string messagesOf(Probe probe, bool parts)
{
    std::string json = "[";
    const auto message = [&](std::string_view role, std::string_view text) {
        const std::string quoted = '"' + std::string(text) + '"';
        json += (json.size() > 1 ? ", " : "") + ("{\"role\": \"" + std::string(role)) + "\", \"content\": "
                + (parts ? "[{\"type\": \"text\", \"text\": " + quoted + "}]" : quoted) + '}';
    };
    if (probe == Probe::SystemUser)
        message("system", sentinel::system);
    message("user", sentinel::user);
    if (probe == Probe::Answered || probe == Probe::TwoRounds)
        message("assistant", sentinel::answer);
    if (probe == Probe::TwoRounds)
        message("user", sentinel::secondUser);
    return json + ']';
}

std::string_view lastTextOf(Probe probe)
{
    return probe == Probe::Answered ? sentinel::answer : probe == Probe::TwoRounds ? sentinel::secondUser : sentinel::user;
}

} // namespace

ProbeRenders::ProbeRenders(const TokenizerView &view) : m_view(view), m_chat(folderTemplate(view.facts, false))
{
    if (m_chat)
        m_template = Template::parse(m_chat->chatTemplate.text);
}

/// Where the source names the start token (as `bos_token`) or spells it.
std::optional<Evidence> ProbeRenders::inSource(const std::string &bos) const
{
    const TemplateText *const source = chat();
    const auto at = findPrinted(source->text, bos);
    if (at == std::string::npos)
        return std::nullopt;
    const auto line = 1 + std::count(source->text.begin(), source->text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const std::size_t length = source->text.compare(at, 9, "bos_token") == 0 ? 9 : bos.size();
    return m_view.at({source->where.artifact, TemplateSpan{at, at + length}, "line " + std::to_string(line) + " of the chat template prints the start token"});
}

Result<std::optional<Evidence>> ProbeRenders::printsFirst(const std::string &bos, const Job &job) const
{
    if (!m_chat)
        return std::optional<Evidence>();
    const auto asked = render(Probe::User, false, job);
    if (job.cancelled())
        return Job::cancelledError();
    if (!asked)
        return inSource(bos);
    for (const PrintedMarker &marker : markersIn(*asked, 0, asked->text.find(sentinel::user))) {
        if (marker.text != bos)
            continue;
        auto named = inSource(bos);
        return named ? named : std::optional(marker.where);
    }
    return std::optional<Evidence>();
}

Result<std::optional<RoundStart>> ProbeRenders::startsRounds(const std::string &bos, const Job &job) const
{
    if (!m_chat || bos.empty())
        return std::optional<RoundStart>();
    const auto rounds = render(Probe::TwoRounds, false, job);
    if (job.cancelled())
        return Job::cancelledError();
    if (!rounds)
        return inSource(bos) ? std::optional(RoundStart()) : std::nullopt;
    const auto answer = rounds->text.find(sentinel::answer), next = rounds->text.rfind(sentinel::secondUser);
    const auto at = answer == std::string::npos ? std::string::npos : rounds->text.find(bos, answer);
    if (at == std::string::npos || at > next)
        return std::optional<RoundStart>();
    RoundStart start;
    for (const PrintedMarker &marker : markersIn(*rounds, answer + sentinel::answer.size(), at)) {
        if (marker.at + marker.text.size() == at)
            start.behind = marker.id;
    }
    return std::optional(start);
}

Result<Rendered> ProbeRenders::render(Probe probe, bool generationPrompt, const Job &job) const
{
    if (!m_template)
        return m_template.error();
    Error last{Errc::Malformed, "the chat template does not print the messages' texts"};
    for (const bool parts : {false, true}) {
        const DocumentPtr messages = Document::parseJson(messagesOf(probe, parts));
        ChatRequest request{.messages = messages->root()};
        request.addGenerationPrompt = generationPrompt;
        request.specialTokens = m_chat->specialTokens;
        Rendered rendered = renderChat(**m_template, request, {}, {}, job);
        if (job.cancelled())
            return Job::cancelledError();
        if (!rendered.error && rendered.text.find(lastTextOf(probe)) != std::string::npos)
            return rendered;
        if (rendered.error && !parts)
            last = rendered.error->error;
    }
    return last;
}

std::vector<PrintedMarker> ProbeRenders::markersIn(const Rendered &render, std::size_t from, std::size_t to) const
{
    // A role may have a spelling that no file gives an id.
    std::map<std::string_view, std::optional<std::int64_t>> spellings;
    for (const std::int64_t id : m_view.markers()) {
        if (const AddedToken *const token = m_view.added(id); token && !token->content.empty())
            spellings.emplace(token->content, id);
    }
    for (const SpecialRole &role : m_view.facts.roles) {
        if (role.text && !role.text->empty())
            spellings.emplace(*role.text, role.id);
    }
    std::map<char, std::vector<std::pair<std::string_view, std::optional<std::int64_t>>>> byFirst;
    for (const auto &spelling : spellings)
        byFirst[spelling.first.front()].push_back(spelling);
    const std::string_view text = std::string_view(render.text).substr(0, to);
    std::vector<PrintedMarker> found;
    for (std::size_t at = from; at < text.size();) {
        const auto candidates = byFirst.find(text[at]);
        std::pair<std::string_view, std::optional<std::int64_t>> best;
        if (candidates != byFirst.end()) {
            for (const auto &candidate : candidates->second) {
                if (candidate.first.size() > best.first.size() && text.substr(at).starts_with(candidate.first))
                    best = candidate;
            }
        }
        if (best.first.empty()) {
            ++at;
            continue;
        }
        Evidence where = m_chat->chatTemplate.where;
        const auto span = std::find_if(render.spans.begin(), render.spans.end(), [at](const PromptSpan &s) { return s.to > at; });
        if (span != render.spans.end()) {
            const TemplateSite &site = (*m_template)->sites()[span->site];
            where.where = TemplateSpan{site.from, site.to};
        }
        where.note = "the chat template prints " + shownPiece(best.first);
        found.push_back({std::string(best.first), best.second, at, m_view.at(std::move(where))});
        at += best.first.size();
    }
    return found;
}

Result<TurnEnds> ProbeRenders::turnEnds(const Job &job) const
{
    if (!m_chat)
        return TurnEnds{{}, "no chat template"};
    const auto answered = render(Probe::Answered, false, job), rounds = render(Probe::TwoRounds, false, job);
    if (job.cancelled())
        return Job::cancelledError();
    if (!answered && !rounds)
        return TurnEnds{{}, "the chat template prints no finished turn: " + rounds.error().message};
    std::vector<PrintedMarker> x, y;
    if (rounds) {
        const std::string &text = rounds->text;
        const auto answer = text.find(sentinel::answer), next = text.rfind(sentinel::secondUser);
        if (answer != std::string::npos && answer < next)
            x = markersIn(*rounds, answer + sentinel::answer.size(), next);
    }
    if (answered)
        y = markersIn(*answered, answered->text.rfind(sentinel::answer) + sentinel::answer.size());
    TurnEnds ends;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()) && x[i].same(y[i]); ++i)
        ends.markers.push_back(y[i]);
    if (ends.markers.empty() && !y.empty())
        ends.markers = {y.front()};
    else if (ends.markers.empty() && !x.empty())
        ends.markers = {x.front()};
    if (ends.markers.empty())
        ends.problem = "the chat template prints no marker behind an answer";
    return ends;
}

} // namespace prosector
