// SPDX-License-Identifier: GPL-3.0-or-later
// T3: did user data become control tokens, or control tokens become plain text?
#include "models/core/wording.h"
#include "models/instruments/instrument.h"
#include "models/instruments/tokens/parts/recordedencoding.h"
#include "models/prompts/tokenarrays.h"
#include "models/prompts/tokenizerview.h"
#include "models/wire/bodies.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace prosector {

namespace {

/// Tokens that rightly stand inside a message: pictures, sound, tools, reasoning.
bool isStructural(std::string_view content)
{
    constexpr std::array words = std::to_array<std::string_view>({"tool", "python", "function", "channel", "think", "reason", "vision", "image", "video", "audio", "media", "box", "quad", "object_ref",
                                                                  "message", "constrain", "call", "recipient", "analysis", "commentary", "final", "fim_", "repo_name", "file_sep", "box_start", "speech"});
    return std::any_of(words.begin(), words.end(), [&](auto word) { return content.find(word) != std::string_view::npos; });
}

bool isMedia(std::string_view content)
{
    constexpr std::array words = std::to_array<std::string_view>({"image", "video", "audio", "vision", "media", "speech", "img"});
    return std::any_of(words.begin(), words.end(), [&](auto word) { return content.find(word) != std::string_view::npos; });
}

/// A message of the user's or a tool's, as the request holds it.
struct Message {
    std::string role, text;
    Evidence where{};
};

class ControlScan {
public:
    ControlScan(const TokenizerView &view, Report &report) : m_view(view), m_report(report)
    {
        if (!view.gguf) {
            for (const ArtifactId id : {view.folder->config, view.folder->generationConfig}) {
                const Artifact *const file = view.run->find(id);
                if (!file)
                    continue;
                for (const std::string_view key : {"image_token_id", "video_token_id", "audio_token_id", "image_token_index", "video_token_index", "vision_start_token_id", "vision_end_token_id"}) {
                    if (const auto number = file->tree()[key].integer())
                        m_media.insert(*number);
                }
                const Value eos = file->tree()["eos_token_id"];
                if (const auto one = eos.integer())
                    m_ends.insert(*one);
                for (const std::int64_t one : integersOf(eos).value_or(std::vector<std::int64_t>()))
                    m_ends.insert(one);
            }
        }
        for (const std::string_view role : {"eos", "eot", "eom"}) {
            if (const SpecialRole *const end = view.facts.role(role); end && end->id)
                m_ends.insert(*end->id);
        }
    }

    /// (a) and (b): ids of a prompt, with roles recorded or messages to look for. Whether any of them were found.
    bool prompt(const TokenArray &array, const std::vector<Message> &messages)
    {
        const auto spans = layOut(array);
        std::string text;
        for (const std::string &part : m_parts)
            text += part;
        std::vector<int> owner(array.ids.size(), -1); // message index, -2 for a recorded role of the user's
        if (array.roles.size() == array.ids.size()) {
            for (std::size_t i = 0; i < array.ids.size(); ++i)
                owner[i] = array.roles[i] == "user" || array.roles[i] == "tool" ? -2 : -1;
        } else {
            std::size_t from = 0;
            for (std::size_t m = 0; m < messages.size(); ++m) {
                auto at = messages[m].text.empty() ? std::string::npos : text.find(messages[m].text, from);
                if (at == std::string::npos) { // templates trim
                    const auto begin = messages[m].text.find_first_not_of(" \t\r\n"), end = messages[m].text.find_last_not_of(" \t\r\n");
                    if (begin == std::string::npos)
                        continue;
                    at = text.find(messages[m].text.substr(begin, end - begin + 1), from);
                }
                if (at == std::string::npos)
                    continue;
                const std::size_t to = at + messages[m].text.size();
                for (std::size_t i = 0; i < spans.size(); ++i) {
                    if (spans[i].first >= at && spans[i].second <= to && spans[i].second > spans[i].first)
                        owner[i] = static_cast<int>(m);
                }
                from = to;
            }
        }
        injected(array, owner, messages);
        spelt(array, owner, spans, text);
        return isTemplatePart(array, owner);
    }

    /// (c): a control token in the middle of an answer.
    void generated(const TokenArray &array)
    {
        for (std::size_t i = 0; i + 1 < array.ids.size(); ++i) {
            const std::int64_t id = array.ids[i];
            const AddedToken *const token = m_view.added(id);
            if (!token || !m_view.isSpecial(id) || m_ends.contains(id) || m_media.contains(id) || isStructural(token->content))
                continue;
            if (array.text && array.text->find(token->content) != std::string::npos)
                continue; // shown to the reader
            if (std::all_of(array.ids.begin() + static_cast<std::ptrdiff_t>(i), array.ids.end(), [&](auto other) { return other == id || m_ends.contains(other); }))
                continue; // what follows is its repetition or the end
            add("tokens.control.generated", Severity::Warning, "The answer holds the control token " + shownPiece(token->content) + " (" + std::to_string(id) + ") at token " + std::to_string(i + array.first) + ", and its text does not show it",
                "Special tokens are left out of the text; what the model wrote there is not what is read.", {array.tokens(i, i + 1, shownPiece(token->content)), array.array(array.source)},
                "The model uses this token inside its answers.")
                .next = {"T5"};
            return;
        }
    }

    /// (d): whether the file finds its own control tokens in a text. How many it was asked for.
    Result<std::size_t> matching(const Job &job)
    {
        const Value root = m_view.json();
        if (!root.isObject() || !m_view.opened())
            return std::size_t(0);
        Encoder encoder(m_view.tokenizer());
        std::set<std::int64_t> vital;
        for (const std::string_view role : {"eos", "bos"}) {
            if (const SpecialRole *const special = m_view.facts.role(role); special && special->id)
                vital.insert(*special->id);
        }
        std::vector<std::pair<const AddedToken *, bool>> missed;
        std::size_t asked = 0;
        for (const std::int64_t id : m_view.markers()) {
            if (job.cancelled())
                return Job::cancelledError();
            const AddedToken *const token = m_view.added(id);
            const bool printed = token && std::any_of(m_view.facts.templates.begin(), m_view.facts.templates.end(), [&](const TemplateText &t) { return t.text.find(token->content) != std::string::npos; });
            if (!token || (!vital.contains(id) && !printed) || entry(id)["single_word"].boolean() == true)
                continue;
            ++asked;
            EncodeOptions options;
            options.addSpecialTokens = false;
            options.truncateAndPad = false;
            auto encoding = encoder.encode("a" + token->content + "b", options);
            // An excerpt's tokens get other ids from the library: it counts them from the vocabulary's size on.
            const AddedTokenRule *const rule = m_view.tokenizer()->addedTokens().byContent(token->content);
            const std::uint32_t own = rule ? rule->id : static_cast<std::uint32_t>(id);
            if (encoding && std::find(encoding->ids.begin(), encoding->ids.end(), own) == encoding->ids.end())
                missed.emplace_back(token, vital.contains(id) || m_ends.contains(id));
        }
        if (missed.empty())
            return asked;
        std::stable_sort(missed.begin(), missed.end(), [](auto &a, auto &b) { return a.second > b.second; });
        const auto &[first, isVital] = missed.front();
        std::vector<Evidence> evidence;
        for (std::size_t i = 0; i < missed.size() && i < 4; ++i) {
            const Value token = entry(missed[i].first->id);
            if (root["normalizer"].isObject() && token["normalized"].boolean() == true)
                evidence.push_back(m_view.at({m_view.folder->tokenizerJson, token["normalized"].anchor(), shownPiece(missed[i].first->content) + " is looked for after normalisation"}));
            else
                evidence.push_back(m_view.token(missed[i].first->id, shownPiece(missed[i].first->content) + " is not found inside a text"));
        }
        if (root["normalizer"].isObject())
            evidence.push_back(m_view.at({m_view.folder->tokenizerJson, root["normalizer"].anchor(), "changes the text before the token is looked for"}));
        add("tokens.control.unmatched", isVital ? Severity::Error : Severity::Warning,
            "The tokenizer does not find " + shownPiece(first->content) + " in \"a" + first->content + "b\"" + (missed.size() > 1 ? ", nor " + counted(missed.size() - 1, "token") + " more" : ""),
            "The spelling becomes ordinary pieces: prompts and training texts that hold it lose the control token.", std::move(evidence), "The token never stands inside a text that is encoded.")
            .measure = Measure{static_cast<double>(missed.size()), "tokens"};
        m_report.findings.back().next = {"T11"};
        return asked;
    }

private:
    Finding &add(std::string code, Severity severity, std::string title, std::string detail, std::vector<Evidence> evidence, std::string falseIf)
    {
        Finding finding{std::move(code), severity, std::move(title), std::move(detail)};
        finding.evidence = std::move(evidence);
        finding.falseIf = std::move(falseIf);
        return m_report.findings.emplace_back(std::move(finding));
    }

    Value entry(std::int64_t id) const
    {
        for (const Value token : m_view.json()["added_tokens"]) {
            if (token["id"].integer() == id)
                return token;
        }
        return {};
    }

    /// The text of each id, one behind the other, and where each lies in it.
    std::vector<std::pair<std::size_t, std::size_t>> layOut(const TokenArray &array)
    {
        const bool byteLevel = m_view.facts.model != "Unigram" && m_view.facts.model != "WordPiece" && m_view.facts.model != "llama";
        std::vector<std::pair<std::size_t, std::size_t>> spans;
        m_parts.clear();
        std::size_t at = 0;
        for (std::size_t i = 0; i < array.ids.size(); ++i) {
            const AddedToken *const token = m_view.added(array.ids[i]);
            std::string part = token ? token->content
                               : m_view.piece(array.ids[i]) ? surfaceOf(*m_view.piece(array.ids[i]), byteLevel)
                               : i < array.pieces.size()    ? surfaceOf(array.pieces[i], byteLevel) : std::string();
            spans.emplace_back(at, at + part.size());
            at += part.size();
            m_parts.push_back(std::move(part));
        }
        return spans;
    }

    /// (a)
    void injected(const TokenArray &array, const std::vector<int> &owner, const std::vector<Message> &messages)
    {
        std::vector<std::size_t> found;
        bool grave = false;
        for (std::size_t i = 0; i < owner.size(); ++i) {
            const std::int64_t id = array.ids[i];
            const AddedToken *const token = m_view.added(id);
            if (owner[i] == -1 || !token || !m_view.isSpecial(id) || m_media.contains(id) || isMedia(token->content))
                continue;
            found.push_back(i);
            const SpecialRole *const bos = m_view.facts.role("bos");
            const bool printed = std::any_of(m_view.facts.templates.begin(), m_view.facts.templates.end(), [&](const TemplateText &t) { return t.text.find(token->content) != std::string::npos; });
            grave = grave || m_ends.contains(id) || printed || (bos && bos->id == id);
        }
        if (found.empty())
            return;
        const std::size_t i = found.front();
        const std::string name = shownPiece(m_view.added(array.ids[i])->content);
        std::vector<Evidence> evidence{array.tokens(i, i + 1, name + " (" + std::to_string(array.ids[i]) + ") inside " + (owner[i] >= 0 ? "a message of role " + messages[static_cast<std::size_t>(owner[i])].role : std::string("a span of the user's"))), array.array(array.source)};
        if (owner[i] >= 0)
            evidence.push_back(messages[static_cast<std::size_t>(owner[i])].where);
        Finding &finding = add("tokens.control.injected", grave ? Severity::Error : Severity::Warning, "Text of the user's became the control token " + name + " at token " + std::to_string(i + array.first),
                               counted(found.size(), "control token") + " in such spans. Whoever writes the text can end the turn and begin another role's.", std::move(evidence),
                               "The span is the program's own text, or the token stands for a picture or sound.");
        finding.measure = Measure{static_cast<double>(found.size()), "tokens"};
        finding.next = {"R2", "R11"};
    }

    /// (b)
    void spelt(const TokenArray &array, const std::vector<int> &owner, const std::vector<std::pair<std::size_t, std::size_t>> &spans, const std::string &text)
    {
        for (const std::int64_t id : m_view.markers()) {
            const AddedToken *const token = m_view.added(id);
            const bool printed = token && token->content.size() > 2 && std::any_of(m_view.facts.templates.begin(), m_view.facts.templates.end(), [&](const TemplateText &t) { return t.text.find(token->content) != std::string::npos; });
            if (!printed)
                continue;
            for (auto at = text.find(token->content); at != std::string::npos; at = text.find(token->content, at + 1)) {
                const std::size_t to = at + token->content.size();
                std::size_t first = spans.size(), last = 0, covering = 0;
                bool outside = true, ordinary = true;
                for (std::size_t i = 0; i < spans.size(); ++i) {
                    if (spans[i].first >= to || spans[i].second <= at)
                        continue;
                    ++covering;
                    first = std::min(first, i);
                    last = i;
                    outside = outside && owner[i] == -1;
                    ordinary = ordinary && !m_view.added(array.ids[i]);
                }
                if (covering < 2 || !outside || !ordinary || !isTemplatePart(array, owner))
                    continue;
                Finding &finding = add("tokens.control.spelt", Severity::Error, "The template's " + shownPiece(token->content) + " reached the model as " + counted(covering, "ordinary token") + ", from token " + std::to_string(first + array.first) + " on",
                                       "Its id " + std::to_string(id) + " is what the model was trained with; spelt out it is plain text, and the turn has no border.",
                                       {array.tokens(first, last + 1, "spelt in pieces"), array.array(array.source), m_view.token(id, shownPiece(token->content) + " has id " + std::to_string(id))},
                                       "The text was quoted in a message that the program wrote.");
                finding.measure = Measure{static_cast<double>(covering), "tokens"};
                finding.next = {"T7", "R1"};
                return;
            }
        }
    }

    /// Only where the spans of messages are known can the rest be called the template's.
    static bool isTemplatePart(const TokenArray &array, const std::vector<int> &owner)
    {
        return array.roles.size() == array.ids.size() || std::any_of(owner.begin(), owner.end(), [](int o) { return o != -1; });
    }

    const TokenizerView &m_view;
    Report &m_report;
    std::set<std::int64_t> m_media, m_ends;
    std::vector<std::string> m_parts;
};

std::vector<Message> messagesOf(const WireBody &request)
{
    std::vector<Message> messages;
    for (const Value message : request.value["messages"]) {
        const auto role = message["role"].string("");
        if (role == "user" || role == "tool")
            messages.push_back({role, messageText(message["content"]), request.at(message["content"], "the message's text")});
    }
    return messages;
}

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    auto arrays = tokenArrays(inputs.run, job);
    if (!arrays)
        return arrays.error();
    auto pairs = exchanges(inputs.run, job);
    if (!pairs)
        return pairs.error();
    const auto views = tokenizerViews(inputs.run);
    Report report;
    std::map<const TokenizerView *, ControlScan> scans;
    bool looked = false;
    for (const TokenizerView &view : views) {
        auto &scan = scans.try_emplace(&view, view, report).first->second;
        auto asked = scan.matching(job);
        if (!asked)
            return asked.error();
        looked = looked || *asked > 0;
    }
    std::size_t prompts = 0;
    for (const TokenArray &array : *arrays) {
        if (job.cancelled())
            return Job::cancelledError();
        const TokenizerView *const view = viewFor(views, *array.artifact);
        if (!view || array.use == TokenArray::Use::Encoded || (view->facts.added.empty() && !view->facts.vocabularyFile.valid()))
            continue;
        ControlScan &scan = scans.at(view);
        if (array.use == TokenArray::Use::Generated) {
            looked = looked || !view->facts.added.empty();
            scan.generated(array);
            continue;
        }
        std::vector<Message> messages;
        if (const Exchange *const exchange = exchangeOf(*pairs, array); exchange && exchange->request)
            messages = messagesOf(*exchange->request);
        ++prompts;
        if (messages.empty() && array.roles.empty())
            report.notSeen.push_back(array.artifact->path + ' ' + array.source + ": which ids are the user's; roles or the request would tell");
        looked = scan.prompt(array, messages) || looked;
    }
    if (!looked && report.findings.empty())
        report.missing = views.empty() ? std::vector<std::string>{"tokenizer_files"} : std::vector<std::string>{"token_array"};
    else if (prompts == 0)
        report.notSeen.push_back("whether user text became control tokens, for want of a prompt's ids");
    return report;
}

constexpr std::array<std::string_view, 5> usable{"token_array", "request_body", "response_body", "tokenizer_files", "chat_template"};

} // namespace

extern constinit const Instrument tokens_control_tokens{
    "T3", "Control-token scan", "Did user data become control tokens, or control tokens become plain text?", "tokens_control_tokens", usable, {}, run};

} // namespace prosector
