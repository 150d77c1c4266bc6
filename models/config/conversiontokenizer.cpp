// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/conversionledger.h"
#include "models/config/tokenizerfacts.h"
#include "models/tokenizers/ggufvocabulary.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

using Class = LedgerRow::Class;

struct StatedId {
    std::int64_t id;
    Evidence where;
};

class TokenizerComparison {
public:
    TokenizerComparison(const Conversion &conversion, Ledger &ledger)
        : m_source(*conversion.source), m_converted(*conversion.converted), m_ledger(ledger),
          m_from(TokenizerFacts::ofFolder(*m_source.run, *m_source.folder)),
          m_to(m_converted.gguf ? TokenizerFacts::ofGguf(*m_converted.artifact)
                                : TokenizerFacts::ofFolder(*m_converted.run, *m_converted.folder))
    {
    }

    void run()
    {
        for (const auto &[role, field] : {std::pair{"bos", ArchField::Bos}, {"eos", ArchField::Eos}, {"pad", ArchField::Pad}})
            id(role, field);
        stops();
        if (m_from && m_to) {
            pieces();
            merges();
            adder();
            chatTemplate();
        }
        generationDefaults();
    }

private:
    Evidence from(Evidence evidence, std::string note = {}) const { return m_source.at(std::move(evidence), std::move(note)); }
    Evidence to(Evidence evidence, std::string note = {}) const { return m_converted.at(std::move(evidence), std::move(note)); }

    void add(std::string_view code, std::string_view key, Class outcome, Severity severity, std::string sourceText,
             std::string convertedText, std::vector<Evidence> evidence, std::string title = {}, std::string detail = {})
    {
        LedgerRow row{std::string(code), std::string(key), outcome, severity, std::move(sourceText), std::move(convertedText)};
        row.title = std::move(title);
        row.detail = std::move(detail);
        row.evidence = std::move(evidence);
        m_ledger.rows.push_back(std::move(row));
    }

    /// Every id that a file of the source gives this role.
    std::vector<StatedId> stated(std::string_view role, ArchField field) const
    {
        std::vector<StatedId> ids;
        const auto take = [&](const Setting &setting) {
            for (const double number : setting.numbers)
                ids.push_back({static_cast<std::int64_t>(number), from(setting.where)});
        };
        if (const Artifact *const file = m_source.run->find(m_source.folder->generationConfig)) {
            if (const auto setting = settingOf(file->id, file->tree()[std::string(role) + "_token_id"]))
                take(*setting);
        }
        if (const Setting *const setting = m_source.arch.get(field))
            take(*setting);
        if (m_from) {
            for (const SpecialRole &row : m_from->roles) {
                if (row.role == role && row.id)
                    ids.push_back({*row.id, from(row.where)});
            }
        }
        return ids;
    }

    std::optional<std::string> pieceOf(std::int64_t id) const
    {
        auto piece = m_from ? m_from->piece(id) : std::nullopt;
        return piece || !m_to ? piece : m_to->piece(id);
    }

    std::string idText(std::int64_t id) const
    {
        const auto piece = pieceOf(id);
        return std::to_string(id) + (piece ? " (" + *piece + ")" : "");
    }

    void id(std::string_view role, ArchField field)
    {
        const auto ids = stated(role, field);
        const Setting *const carried = m_converted.arch.get(field);
        if (ids.empty() || !carried || carried->numbers.empty())
            return;
        const auto value = static_cast<std::int64_t>(carried->numbers[0]);
        const std::string key = std::string(role) + "_token_id";
        const bool known = std::any_of(ids.begin(), ids.end(), [&](const StatedId &stated) { return stated.id == value; });
        if (known) {
            add("conversion.ids", key, Class::Kept, Severity::Ok, idText(ids[0].id), idText(value), {ids[0].where, to(carried->where)});
            return;
        }
        // Nothing that llama.cpp computes depends on the padding id.
        add("conversion.ids", key, Class::Changed, role == "pad" ? Severity::Info : Severity::Error, idText(ids[0].id), idText(value),
            {ids[0].where, to(carried->where)},
            key + " is " + idText(ids[0].id) + " in the source and " + idText(value) + " in the converted file",
            role == "eos" ? "Generation ends at another token, or not at all." : "No file of the source names that id.");
    }

    /// Ids that end a turn in the source and that nothing ends in the GGUF.
    void stops()
    {
        if (!m_converted.gguf || !m_to)
            return;
        std::vector<std::int64_t> carried;
        for (const std::string_view role : {"eos", "eot", "eom"}) {
            if (const SpecialRole *const row = m_to->role(role); row && row->id)
                carried.push_back(*row->id);
        }
        if (carried.empty())
            return;
        std::vector<std::int64_t> reported;
        for (const StatedId &stop : stated("eos", ArchField::Eos)) {
            const auto piece = pieceOf(stop.id);
            const bool ends = std::find(carried.begin(), carried.end(), stop.id) != carried.end() || (piece && GgufVocabulary::endsByText(*piece));
            if (ends || !piece || std::find(reported.begin(), reported.end(), stop.id) != reported.end())
                continue;
            reported.push_back(stop.id);
            const bool printed = m_from && std::any_of(m_from->templates.begin(), m_from->templates.end(), [&](const TemplateText &t) {
                return t.text.find(*piece) != std::string::npos;
            });
            const SpecialRole *const eos = m_to->role("eos");
            add("conversion.stops", "eos_token_id", Class::Lost, printed ? Severity::Error : Severity::Info, idText(stop.id), "not among the ends",
                {stop.where, eos ? to(eos->where) : m_converted.whole("no end id")},
                "The source ends at " + idText(stop.id) + "; nothing in the converted file does",
                printed ? "The chat template prints it, so turns run on past their end." : "The template does not print it.");
        }
    }

    void pieces()
    {
        if (!m_from->baseSize || !m_to->baseSize)
            return;
        const auto source = m_from->piecesById(), converted = m_to->piecesById();
        std::size_t different = 0, shared = 0;
        std::optional<std::size_t> first;
        for (std::size_t i = 0; i < std::min(source.size(), converted.size()); ++i) {
            if (source[i].empty() || converted[i].empty() || source[i].find("[PAD") == 0 || converted[i].find("[PAD") == 0)
                continue;
            ++shared;
            if (source[i] != converted[i]) {
                ++different;
                if (!first)
                    first = i;
            }
        }
        if (shared == 0)
            return;
        const std::string counted = std::to_string(different) + " of " + std::to_string(shared);
        if (different * 100 > shared) {
            const auto at = static_cast<std::int64_t>(*first);
            add("conversion.vocabulary", "vocab", Class::Changed, Severity::Error, source[*first], converted[*first],
                {from(m_from->pieceAt(at, "id " + std::to_string(at) + " is \"" + source[*first] + '"')),
                 to(m_to->pieceAt(at, "id " + std::to_string(at) + " is \"" + converted[*first] + '"'))},
                counted + " ids stand for another token in the converted file, first " + std::to_string(at),
                "The weights' rows belong to the source's tokens.");
        } else {
            add("conversion.vocabulary", "vocab", Class::Kept, Severity::Ok, std::to_string(shared) + " tokens", counted + " spelled differently",
                {m_to->modelAt ? to(*m_to->modelAt) : m_converted.whole("vocabulary")});
        }
    }

    void merges()
    {
        if (m_converted.gguf && m_from->model == "BPE" && m_from->merges.value_or(0) > 0 && m_to->model == "gpt2"
            && m_to->merges.value_or(0) == 0)
            add("conversion.merges", "merges", Class::Lost, Severity::Error, std::to_string(*m_from->merges), "0",
                {from(*m_from->modelAt), m_converted.key("tokenizer.ggml.merges", "absent or empty")},
                "The source has " + std::to_string(*m_from->merges) + " merges, the converted file none",
                "Without merges every text falls apart into single bytes.");
    }

    void adder()
    {
        const BosAdder source = m_from->bosAdder(), converted = m_to->bosAdder();
        if (!source.adds || !converted.adds)
            return;
        std::vector<Evidence> evidence;
        if (!source.evidence.empty())
            evidence.push_back(from(source.evidence[0]));
        if (!converted.evidence.empty())
            evidence.push_back(to(converted.evidence[0]));
        const bool same = *source.adds == *converted.adds;
        const auto text = [](bool adds) { return adds ? "adds BOS" : "adds no BOS"; };
        add("conversion.add_bos", "add_bos_token", same ? Class::Kept : Class::Changed, same ? Severity::Ok : Severity::Warning,
            text(*source.adds), text(*converted.adds), std::move(evidence),
            std::string("The source ") + text(*source.adds) + " before plain text, the converted file " + text(*converted.adds),
            "Source: " + source.reason + ". Converted: " + converted.reason + '.');
    }

    static const TemplateText *defaultOf(const TokenizerFacts &facts)
    {
        const auto it = std::find_if(facts.templates.begin(), facts.templates.end(), [](const TemplateText &t) { return t.name == "default"; });
        return it != facts.templates.end() ? &*it : facts.templates.empty() ? nullptr : &facts.templates.front();
    }

    void chatTemplate()
    {
        const TemplateText *const source = defaultOf(*m_from);
        const TemplateText *const converted = defaultOf(*m_to);
        if (!source)
            return;
        if (!converted) {
            add("conversion.template", "chat_template", Class::Lost, Severity::Warning, "present", "absent",
                {from(source->where), m_converted.gguf ? m_converted.key("tokenizer.chat_template", "absent") : m_converted.whole("no chat template")},
                "The source's chat template is not in the converted file",
                "Chat prompts are built from a guess by name, or from a default of the server.");
            return;
        }
        const bool same = source->text == converted->text;
        add("conversion.template", "chat_template", same ? Class::Kept : Class::Changed, same ? Severity::Ok : Severity::Info,
            std::to_string(source->text.size()) + " bytes", std::to_string(converted->text.size()) + " bytes",
            {from(source->where), to(converted->where)}, "The chat template's text differs between source and converted file",
            "The texts were compared, not what they print.");
        if (!same)
            m_ledger.notSeen.push_back(m_converted.path() + ": whether both chat templates print the same prompts");
    }

    void generationDefaults()
    {
        const Artifact *const file = m_source.run->find(m_source.folder->generationConfig);
        if (!file || !m_converted.gguf || m_converted.tensorCount() == 0)
            return;
        const Value root = file->tree();
        struct Sampling {
            std::string_view key;
            double neutral;
            std::string_view ggufKey; // gguf-py, Keys.General.SAMPLING_*
        };
        static constexpr std::array<Sampling, 5> settings{{{"temperature", 1, "general.sampling.temp"},
                                                           {"top_p", 1, "general.sampling.top_p"},
                                                           {"top_k", 50, "general.sampling.top_k"},
                                                           {"min_p", 0, "general.sampling.min_p"},
                                                           {"repetition_penalty", 1, "general.sampling.penalty_repeat"}}};
        std::vector<Evidence> lost;
        std::string names;
        for (const Sampling &setting : settings) {
            const auto value = root[setting.key].number();
            if (!value || sameNumber(*value, setting.neutral) || m_converted.gguf->get(setting.ggufKey))
                continue;
            lost.push_back(from({file->id, root[setting.key].anchor(), std::string(setting.key) + " = " + numberText(*value)}));
            names += (names.empty() ? "" : ", ") + std::string(setting.key) + ' ' + numberText(*value);
        }
        if (lost.empty())
            return;
        lost.push_back(m_converted.key("general.sampling.temp", "no general.sampling.* key"));
        add("conversion.generation_defaults", "generation_config", Class::Lost, Severity::Warning, names, "absent", std::move(lost),
            "The source's generation defaults are not in the converted file: " + names,
            "Requests that leave them out are sampled with the server's own defaults.");
    }

    const ModelDescription &m_source, &m_converted;
    Ledger &m_ledger;
    std::optional<TokenizerFacts> m_from, m_to;
};

} // namespace

void compareTokenizer(const Conversion &conversion, Ledger &ledger)
{
    TokenizerComparison(conversion, ledger).run();
}

} // namespace prosector
