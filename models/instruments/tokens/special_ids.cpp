// SPDX-License-Identifier: GPL-3.0-or-later
// T13: do all files mean the same token by the same id?
#include "models/config/descriptions.h"
#include "models/core/wording.h"
#include "models/instruments/instrument.h"
#include "models/prompts/embedding.h"
#include "models/prompts/tokenizerview.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

namespace prosector {

namespace {

constexpr std::size_t shownConflicts = 4;
constexpr std::array<std::string_view, 7> roles{"bos", "eos", "pad", "unk", "sep", "cls", "mask"};

/// One file's word that a token has an id.
struct Naming {
    std::string token;
    std::int64_t id = 0;
    std::string source; ///< "added_tokens of tokenizer.json"
    Evidence where{};
};

/// An id that a file gives to a role.
struct RoleId {
    std::string role, source;
    std::int64_t id = 0;
    Evidence where{};
};

std::optional<std::int64_t> idOfKey(const std::string &key)
{
    std::int64_t id = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    return error == std::errc() && end == key.data() + key.size() ? std::optional(id) : std::nullopt;
}

/// Everything the files of one folder (or a GGUF) say of ids.
class Ledger {
public:
    explicit Ledger(const TokenizerView &view) : m_view(view)
    {
        if (view.gguf)
            return;
        readJson();
        const Run &run = *view.run;
        if (const Artifact *const file = run.find(view.folder->tokenizerConfig)) {
            for (const Value token : file->tree()["added_tokens_decoder"]) {
                const auto id = idOfKey(token.key());
                const auto content = token["content"].string();
                if (id && content)
                    add(*content, *id, "added_tokens_decoder of " + file->path, file->id, token);
            }
        }
        if (const Artifact *const file = run.find(view.folder->addedTokens)) {
            for (const Value token : file->tree()) {
                if (const auto id = token.integer())
                    add(token.key(), *id, file->path, file->id, token);
            }
        }
    }

    const std::vector<Naming> &namings() const { return m_namings; }

    void addNaming(Naming naming) { m_namings.push_back(std::move(naming)); }

    /// Roles as config.json, its text_config and generation_config.json give them.
    std::vector<RoleId> roleIds() const
    {
        std::vector<RoleId> ids;
        const Run &run = *m_view.run;
        const auto read = [&](const Artifact &file, Value level, const std::string &source) {
            for (const std::string_view role : roles) {
                const Value value = level[std::string(role) + "_token_id"];
                const auto one = [&](Value v) {
                    if (const auto id = v.integer(); id && *id >= 0)
                        ids.push_back({std::string(role), source, *id, m_view.at({file.id, v.anchor(), std::string(role) + "_token_id = " + std::to_string(*id) + " in " + source})});
                };
                if (value.isArray()) {
                    for (const Value element : value)
                        one(element);
                } else {
                    one(value);
                }
            }
        };
        if (m_view.gguf) {
            for (const SpecialRole &role : m_view.facts.roles) {
                if (role.id)
                    ids.push_back({role.role, m_view.gguf->path, *role.id, m_view.at(role.where)});
            }
            return ids;
        }
        if (const Artifact *const file = run.find(m_view.folder->config)) {
            read(*file, file->tree(), "config.json");
            read(*file, file->tree()["text_config"], "text_config of config.json");
        }
        if (const Artifact *const file = run.find(m_view.folder->generationConfig))
            read(*file, file->tree(), "generation_config.json");
        return ids;
    }

private:
    void add(std::string token, std::int64_t id, std::string source, ArtifactId file, Value value)
    {
        Evidence where = m_view.at({file, value.anchor(), shownPiece(token) + " is " + std::to_string(id)});
        m_namings.push_back({std::move(token), id, std::move(source), std::move(where)});
    }

    void readJson()
    {
        const Value root = m_view.json();
        if (!root.isObject())
            return;
        const ArtifactId file = m_view.folder->tokenizerJson;
        const std::string &path = m_view.run->artifact(file).path;
        std::map<std::string, std::int64_t> byText;
        std::map<std::int64_t, std::string> byId;
        for (const Value token : root["added_tokens"]) {
            const auto id = token["id"].integer();
            const auto content = token["content"].string();
            if (!id || !content)
                continue;
            add(*content, *id, "added_tokens of " + path, file, token);
            byText.emplace(*content, *id);
            byId.emplace(*id, *content);
        }
        // The model's own vocabulary, where it speaks of the same tokens or ids.
        const Value vocab = root["model"]["vocab"];
        std::int64_t index = 0;
        for (const Value entry : vocab) {
            const std::string piece = vocab.isArray() ? entry[0].string("") : entry.key();
            const auto id = vocab.isArray() ? std::optional(index++) : entry.integer();
            if (id && !piece.empty() && (byText.contains(piece) || byId.contains(*id)))
                add(piece, *id, "the vocabulary of " + path, file, entry);
        }
    }

    const TokenizerView &m_view;
    std::vector<Naming> m_namings;
};

struct Conflict {
    const Naming *a, *b;
};

Conflict ordered(const Naming &a, const Naming &b)
{
    return {&a, &b};
}

/// Tokens that two namings give different ids.
std::vector<Conflict> twoIds(const std::vector<Naming> &namings)
{
    std::map<std::string, const Naming *> first;
    std::vector<Conflict> conflicts;
    for (const Naming &naming : namings) {
        const auto [it, fresh] = first.emplace(naming.token, &naming);
        if (!fresh && it->second->id != naming.id)
            conflicts.push_back(ordered(*it->second, naming));
    }
    return conflicts;
}

/// Ids that two namings give different tokens.
std::vector<Conflict> twoTokens(const std::vector<Naming> &namings)
{
    std::map<std::int64_t, const Naming *> first;
    std::vector<Conflict> conflicts;
    for (const Naming &naming : namings) {
        const auto [it, fresh] = first.emplace(naming.id, &naming);
        if (!fresh && it->second->token != naming.token)
            conflicts.push_back(ordered(*it->second, naming));
    }
    return conflicts;
}

class LedgerCheck {
public:
    LedgerCheck(const TokenizerView &view, Report &report) : m_view(view), m_ledger(view), m_report(report) {}

    Ledger &ledger() { return m_ledger; }

    void run()
    {
        conflicts();
        rows();
        notes();
        table();
    }

    /// The base of an adapter: tokens of both must have one id.
    void againstBase(const Ledger &base, const std::string &basePath)
    {
        std::map<std::string, const Naming *> known;
        for (const Naming &naming : base.namings())
            known.emplace(naming.token, &naming);
        std::vector<Conflict> moved;
        for (const Naming &naming : m_ledger.namings()) {
            if (const auto it = known.find(naming.token); it != known.end() && it->second->id != naming.id)
                moved.push_back(ordered(naming, *it->second));
        }
        if (!moved.empty())
            tell("tokens.id.adapter", moved, "The adapter's tokenizer moves ids of its base " + basePath + ": " + text(moved.front(), false),
                 "The base's embedding rows belong to its own ids.", "The adapter brings embedding rows in its own order.");
    }

private:
    Finding &add(std::string code, Severity severity, std::string title, std::string detail, std::vector<Evidence> evidence, std::string falseIf)
    {
        Finding finding{std::move(code), severity, std::move(title), std::move(detail)};
        finding.evidence = std::move(evidence);
        finding.falseIf = std::move(falseIf);
        return m_report.findings.emplace_back(std::move(finding));
    }

    static std::string text(const Conflict &c, bool byId)
    {
        return byId ? "id " + std::to_string(c.a->id) + " is " + shownPiece(c.a->token) + " in " + c.a->source + ", " + shownPiece(c.b->token) + " in " + c.b->source
                    : shownPiece(c.a->token) + " is " + std::to_string(c.a->id) + " in " + c.a->source + ", " + std::to_string(c.b->id) + " in " + c.b->source;
    }

    void tell(std::string code, const std::vector<Conflict> &list, std::string title, std::string detail, std::string falseIf)
    {
        std::vector<Evidence> evidence;
        for (std::size_t i = 0; i < list.size() && i < shownConflicts; ++i) {
            evidence.push_back(list[i].a->where);
            evidence.push_back(list[i].b->where);
        }
        Finding &finding = add(std::move(code), Severity::Error, std::move(title), counted(list.size(), "token") + " in all. " + detail, std::move(evidence), std::move(falseIf));
        finding.measure = Measure{static_cast<double>(list.size()), "tokens"};
        finding.next = {"T6", "T7"};
    }

    void conflicts()
    {
        const auto ids = twoIds(m_ledger.namings());
        if (!ids.empty())
            tell("tokens.id.two_ids", ids, "One token has two ids: " + text(ids.front(), false),
                 "Programs that read one file and those that read the other give the model different embedding rows for it.",
                 "No program reads one of the two files.");
        const auto tokens = twoTokens(m_ledger.namings());
        if (!tokens.empty())
            tell("tokens.id.two_tokens", tokens, "One id has two tokens: " + text(tokens.front(), true),
                 "Text with the one is encoded by some programs and spelt out by others; the id decodes to either.",
                 "The token was renamed in every file that is read, and the other file is a leftover.");
    }

    void rows()
    {
        const auto table = m_view.gguf ? embeddingOf(*m_view.gguf) : embeddingOf(*m_view.run, *m_view.folder);
        const Artifact *const config = m_view.gguf ? nullptr : m_view.run->find(m_view.folder->config);
        Value declared = config ? config->tree()["vocab_size"] : Value();
        if (config && !declared.isSet())
            declared = config->tree()["text_config"]["vocab_size"];
        std::optional<std::int64_t> rows;
        if (table)
            rows = static_cast<std::int64_t>(table->rows);
        else
            rows = declared.integer();
        if (!rows || *rows <= 0)
            return;
        const Evidence shape = table ? m_view.at(table->at(std::to_string(*rows) + " rows"))
                                     : m_view.at({config->id, declared.anchor(), "vocab_size = " + std::to_string(*rows)});
        std::vector<Evidence> roleEvidence, tokenEvidence;
        std::size_t roleCount = 0, tokenCount = 0;
        std::string firstRole, firstToken;
        for (const RoleId &role : m_ledger.roleIds()) {
            if (role.id < *rows)
                continue;
            ++roleCount;
            if (firstRole.empty())
                firstRole = role.role + "_token_id " + std::to_string(role.id) + " of " + role.source;
            if (roleEvidence.size() < shownConflicts)
                roleEvidence.push_back(role.where);
        }
        std::map<std::int64_t, bool> seen;
        for (const Naming &naming : m_ledger.namings()) {
            if (naming.id < *rows || !seen.emplace(naming.id, true).second)
                continue;
            ++tokenCount;
            if (firstToken.empty())
                firstToken = shownPiece(naming.token) + " with id " + std::to_string(naming.id);
            if (tokenEvidence.size() < shownConflicts)
                tokenEvidence.push_back(naming.where);
        }
        const auto tell = [&](std::size_t count, std::vector<Evidence> evidence, const std::string &first, Severity withoutWeights) {
            if (count == 0)
                return;
            evidence.push_back(shape);
            add("tokens.id.no_row", table ? Severity::Error : withoutWeights,
                first + " has no embedding row: " + (table ? "there are " : "vocab_size is ") + std::to_string(*rows),
                counted(count, "declared id") + " in all. Such an id stops the program, or reads what lies behind the table.", std::move(evidence),
                table ? "The token is replaced by other embeddings before the table is read (images, audio)."
                      : "The weights have more rows than config.json says, or the token is replaced before the table is read.")
                .measure = Measure{static_cast<double>(count), "ids"};
        };
        tell(roleCount, std::move(roleEvidence), firstRole, Severity::Warning);
        tell(tokenCount, std::move(tokenEvidence), firstToken, Severity::Info);
    }

    void notes()
    {
        const auto ids = m_ledger.roleIds();
        const auto role = [&](std::string_view name) { return m_view.facts.role(name); };
        const SpecialRole *const eos = role("eos");
        const SpecialRole *const pad = role("pad");
        const SpecialRole *const unk = role("unk");
        const auto same = [&](const SpecialRole *a, const SpecialRole *b, const std::string &text) {
            if (!a || !b || !a->id || !b->id || *a->id != *b->id)
                return;
            add("tokens.id.shared", Severity::Info, text + " are one token, id " + std::to_string(*a->id),
                "Where padding is left out of the loss or the mask by its id, the other is left out with it.", {m_view.at(a->where), m_view.at(b->where)},
                "No program tells padding by its id.")
                .next = {"L2"};
        };
        same(pad, eos, "pad and eos");
        same(pad, unk, "pad and unk");
        if (eos && eos->id && !m_view.gguf)
            endNote(*eos, ids);
        plainMarkers();
    }

    /// The tokenizer's end against those of the configuration: generation_config.json has the last word, else config.json.
    void endNote(const SpecialRole &eos, const std::vector<RoleId> &ids)
    {
        struct Ends {
            const RoleId *first = nullptr;
            std::set<std::int64_t> ids{};
        } config, generation;
        for (const RoleId &id : ids) {
            if (id.role != "eos" || (id.source != "config.json" && id.source != "generation_config.json"))
                continue;
            Ends &ends = id.source == "config.json" ? config : generation;
            ends.first = ends.first ? ends.first : &id;
            ends.ids.insert(id.id);
        }
        const auto lacks = [&](const Ends &ends) { return ends.first && !ends.ids.contains(*eos.id); };
        const Ends &decisive = generation.first ? generation : config;
        const Ends &other = lacks(decisive) ? decisive : config;
        if (!lacks(other))
            return;
        const bool both = &other == &config && generation.first && generation.ids.contains(config.first->id);
        const bool settled = !lacks(decisive);
        add("tokens.id.eos_differs", Severity::Info,
            other.first->source + " ends at id " + std::to_string(other.first->id) + ", the tokenizer's eos is " + std::to_string(*eos.id)
                + (both ? "; generation_config.json names both" : settled ? "; generation_config.json names the tokenizer's" : ""),
            both ? "Either ends a generation." : settled ? "Programs that take generation_config.json end at the tokenizer's." : "Which of them ends a generation depends on the program.",
            {other.first->where, m_view.at(eos.where)}, settled ? "The program takes both." : "The program takes both, or the tokenizer's eos is not what ends a generation of this model.")
            .next = {"T5"};
    }

    /// `<|…|>` in a template that is no token.
    void plainMarkers()
    {
        if (!m_view.facts.baseSize)
            return;
        for (const TemplateText &chat : m_view.facts.templates) {
            std::vector<std::string> plain;
            for (std::size_t at = chat.text.find("<|"); at != std::string::npos; at = chat.text.find("<|", at + 2)) {
                const auto end = chat.text.find("|>", at + 2);
                if (end == std::string::npos)
                    break;
                const std::string marker = chat.text.substr(at, end + 2 - at);
                if (marker.size() > 40 || marker.find_first_of(" \t\r\n'\"{}<", 2) != std::string::npos || m_view.id(marker))
                    continue;
                if (std::find(plain.begin(), plain.end(), marker) == plain.end())
                    plain.push_back(marker);
            }
            if (plain.empty())
                continue;
            const auto at = chat.text.find(plain.front());
            add("tokens.id.plain_marker", Severity::Info,
                "The chat template prints " + shownPiece(plain.front()) + ", which is no token" + (plain.size() > 1 ? "; so are " + std::to_string(plain.size() - 1) + " more" : ""),
                "It is spelt in ordinary pieces, and a user can write it too.",
                {m_view.at({chat.where.artifact, TemplateSpan{at, at + plain.front().size()}, "printed here"})}, "The model was trained with it as plain text.")
                .next = {"T3"};
        }
    }

    void table()
    {
        Table table{"Ids of special and added tokens in " + (m_view.gguf ? m_view.gguf->path : m_view.folder->path.empty() ? "this folder" : m_view.folder->path),
                    {"token", "id", "said by"}, {}};
        constexpr std::size_t most = 500;
        for (const RoleId &role : m_ledger.roleIds())
            table.rows.push_back({{role.role + " (" + shownPiece(m_view.piece(role.id).value_or("")) + ")"}, {std::to_string(role.id), role.where, Severity::Ok, true}, {role.source}});
        for (const Naming &naming : m_ledger.namings()) {
            if (table.rows.size() == most)
                break;
            table.rows.push_back({{naming.token}, {std::to_string(naming.id), naming.where, Severity::Ok, true}, {naming.source}});
        }
        if (!table.rows.empty())
            m_report.tables.push_back(std::move(table));
    }

    const TokenizerView &m_view;
    Ledger m_ledger;
    Report &m_report;
};

/// A GGUF's ids for the special tokens of the folder it was made of.
void addConverted(Ledger &ledger, const TokenizerView &source, const TokenizerView &gguf)
{
    for (const AddedToken &token : source.facts.added) {
        if (!token.special)
            continue;
        if (const auto id = gguf.id(token.content))
            ledger.addNaming({token.content, *id, gguf.gguf->path, gguf.token(*id, shownPiece(token.content) + " is " + std::to_string(*id))});
        else if (const auto piece = gguf.piece(token.id); piece && !piece->starts_with("[PAD"))
            ledger.addNaming({*piece, token.id, gguf.gguf->path, gguf.token(token.id, "id " + std::to_string(token.id) + " is " + shownPiece(*piece))});
    }
}

const TokenizerView *baseOf(const TokenizerView &adapter, const std::vector<TokenizerView> &views, const std::vector<TokenizerView> &others)
{
    const TokenizerView *base = nullptr;
    for (const auto *const list : {&views, &others}) {
        for (const TokenizerView &view : *list) {
            if (&view == &adapter || view.gguf || view.folder->adapterConfig.valid() || view.facts.added.empty())
                continue;
            if (base)
                return nullptr;
            base = &view;
        }
    }
    return base;
}

bool hasIds(const TokenizerView &view)
{
    return view.gguf || view.facts.vocabularyFile.valid() || !view.facts.added.empty();
}

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    if (job.cancelled())
        return Job::cancelledError();
    const auto views = tokenizerViews(inputs.run);
    const auto others = inputs.baseline ? tokenizerViews(*inputs.baseline, Side::B) : std::vector<TokenizerView>();
    const auto models = describeModels(inputs.run);
    const auto conversions = findConversions(models);
    Report report;
    bool looked = false;
    for (const TokenizerView &view : views) {
        if (job.cancelled())
            return Job::cancelledError();
        if (!hasIds(view))
            continue;
        looked = true;
        LedgerCheck check(view, report);
        if (!view.gguf) {
            for (const TokenizerView &other : views) {
                const bool converted = other.gguf && std::any_of(conversions.begin(), conversions.end(), [&](const Conversion &c) {
                    return c.source->folder == view.folder && c.converted->artifact == other.gguf;
                });
                if (converted || (other.gguf && other.folder == view.folder))
                    addConverted(check.ledger(), view, other);
            }
            if (view.folder->adapterConfig.valid()) {
                if (const TokenizerView *const base = baseOf(view, views, others))
                    check.againstBase(Ledger(*base), base->folder->path.empty() ? base->path() : base->folder->path);
            }
        }
        check.run();
    }
    if (!looked)
        return Report::missingInputs({"tokenizer_files"});
    return report;
}

constexpr std::array<std::string_view, 4> usable{"config_files", "tokenizer_files", "adapter_files", "weights"};

} // namespace

extern constinit const Instrument tokens_special_ids{
    "T13", "Special-id ledger", "Do all files mean the same token by the same id?", "tokens_special_ids", usable, {}, run};

} // namespace prosector
