// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/conversionledger.h"

#include "models/config/ropescaling.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace prosector {

namespace {

using Class = LedgerRow::Class;

constexpr std::string_view architectureCode = "conversion.architecture";

/// What llama.cpp assumes when a key is absent: src/llama-hparams.h (attention soft-cap 50, final 30) and
/// load_arch_hparams of src/models/{grok,gemma2,gemma3n,gemma4,muse-glimmer,exaone4,smallthinker,llama4}.cpp, read in the
/// sources that llama-cpp-python 0.3.36 carries.
std::optional<double> targetDefault(std::string_view arch, ArchField field, const Architecture &source)
{
    switch (field) {
    case ArchField::EmbeddingMultiplier: case ArchField::ResidualMultiplier: case ArchField::LogitScale:
    case ArchField::RoutedScale:
        return 1;
    case ArchField::AttentionSoftcap:
        return arch == "gemma2" ? std::optional(50.0) : arch == "grok" ? std::optional(30.0) : std::nullopt;
    case ArchField::FinalSoftcap: // gemma3n never reads the key
        return arch == "gemma2" || arch == "gemma3n" || arch == "gemma4" || arch == "muse-glimmer" ? std::optional(30.0) : std::nullopt;
    case ArchField::SlidingWindow:
        return arch == "gemma2" || arch == "exaone4" || arch == "smallthinker" ? std::optional(4096.0) : std::nullopt;
    case ArchField::AttentionMultiplier:
        if (const auto head = source.headDim())
            return 1 / std::sqrt(*head);
        return std::nullopt;
    default:
        return std::nullopt;
    }
}

/// Architectures that llama.cpp computes with a window: those whose load_arch_hparams sets swa_type to something
/// else than none (src/models/*.cpp, names of src/llama-arch.cpp; the same sources). In the others the key is without
/// effect; phi3 reads it and switches the window off with a warning. Sorted.
bool hasWindow(std::string_view arch)
{
    static constexpr auto windowed = std::to_array<std::string_view>({
        "afmoe", "cohere2", "cohere2moe", "deepseek4", "dots3note", "exaone-moe", "exaone4", "gemma-embedding", "gemma2",
        "gemma3", "gemma3n", "gemma4", "gpt-oss", "granite_swa", "laguna", "lfm2", "llama4", "maple", "mellum", "mimo2",
        "modern-bert", "muse-glimmer", "olmo2", "plamo3", "smallthinker", "spark2_5", "step35"});
    return std::binary_search(windowed.begin(), windowed.end(), arch);
}

std::string listText(const std::vector<double> &numbers)
{
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(numbers.size(), 6); ++i)
        text += (i ? ", " : "") + numberText(numbers[i]);
    return numbers.size() == 1 ? text : '[' + text + (numbers.size() > 6 ? ", …]" : "]");
}

/// One number against one per layer: layers with 0 are of another kind (recurrent, no attention).
bool sameNumbers(const std::vector<double> &a, const std::vector<double> &b)
{
    if (a.size() == b.size())
        return std::equal(a.begin(), a.end(), b.begin(), sameNumber);
    const auto &one = a.size() == 1 ? a : b;
    const auto &many = a.size() == 1 ? b : a;
    return one.size() == 1 && std::all_of(many.begin(), many.end(), [&](double n) { return n == 0 || sameNumber(n, one[0]); });
}

class ArchitectureComparison {
public:
    ArchitectureComparison(const Conversion &conversion, const Job &job, Ledger &ledger)
        : m_source(*conversion.source), m_converted(*conversion.converted), m_conversion(conversion), m_job(job), m_ledger(ledger),
          m_toGguf(m_converted.gguf != nullptr), m_mla(m_source.arch.get(ArchField::KvLoraRank) != nullptr),
          m_vocabularyOnly(m_toGguf && m_converted.tensorCount() == 0)
    {
    }

    void run()
    {
        layers();
        number(ArchField::Hidden);
        feedForward();
        number(ArchField::Heads);
        if (!m_mla) { // llama.cpp stores the compressed attention under other head numbers
            kvHeads();
            headDim();
            rotaryDim();
        }
        context();
        vocabulary();
        number(ArchField::NormEps);
        window();
        for (const ArchField field : {ArchField::AttentionSoftcap, ArchField::FinalSoftcap, ArchField::AttentionMultiplier,
                                      ArchField::EmbeddingMultiplier, ArchField::ResidualMultiplier, ArchField::LogitScale})
            number(field);
        queryScalar();
        experts();
        if (m_mla) {
            number(ArchField::KvLoraRank);
            number(ArchField::QLoraRank);
        }
        head();
        rope();
        droppedTensors();
    }

private:
    std::string ggufKey(std::string_view suffix) const { return m_converted.arch.modelType + '.' + std::string(suffix); }

    Evidence absent(std::string_view suffix) const
    {
        return m_toGguf ? m_converted.key(ggufKey(suffix), "absent") : m_converted.whole("states no such value");
    }

    void add(Class outcome, std::string_view key, std::string sourceText, std::string convertedText, std::vector<Evidence> evidence,
             Severity severity, std::string title = {}, std::string detail = {}, std::string_view code = architectureCode)
    {
        LedgerRow row{std::string(code), std::string(key), outcome, severity, std::move(sourceText), std::move(convertedText)};
        row.title = std::move(title);
        row.detail = std::move(detail);
        row.evidence = std::move(evidence);
        m_ledger.rows.push_back(std::move(row));
    }

    void kept(const Setting &from, const Setting &to, std::string_view key)
    {
        add(Class::Kept, key, from.text, to.text, {m_source.at(from.where), m_converted.at(to.where)}, Severity::Ok);
    }

    void changed(const Setting &from, const Setting &to, std::string_view key)
    {
        add(Class::Changed, key, listText(from.numbers), listText(to.numbers),
            {m_source.at(from.where), m_converted.at(to.where)}, Severity::Error,
            std::string(key) + " is " + listText(from.numbers) + " in the source and " + listText(to.numbers) + " in the converted file",
            "The same weights are computed differently.");
    }

    void lost(const Setting &from, std::string_view key, std::string_view ggufSuffix)
    {
        if (m_vocabularyOnly)
            return;
        add(Class::Lost, key, from.text, "absent", {m_source.at(from.where), absent(ggufSuffix)}, Severity::Error,
            std::string(key) + " = " + from.text + " of the source is not in the converted file",
            "The target's default is another value, so the same weights are computed differently.");
    }

    static std::string_view suffixOf(ArchField field)
    {
        switch (field) {
        case ArchField::Layers: return "block_count";
        case ArchField::Hidden: return "embedding_length";
        case ArchField::FeedForward: return "feed_forward_length";
        case ArchField::ExpertFeedForward: return "expert_feed_forward_length";
        case ArchField::Heads: return "attention.head_count";
        case ArchField::KvHeads: return "attention.head_count_kv";
        case ArchField::HeadDim: return "attention.key_length";
        case ArchField::RotaryDim: return "rope.dimension_count";
        case ArchField::Context: return "context_length";
        case ArchField::NormEps: return "attention.layer_norm_rms_epsilon";
        case ArchField::SlidingWindow: return "attention.sliding_window";
        case ArchField::AttentionSoftcap: return "attn_logit_softcapping";
        case ArchField::FinalSoftcap: return "final_logit_softcapping";
        case ArchField::AttentionMultiplier: case ArchField::QueryScalar: return "attention.scale";
        case ArchField::EmbeddingMultiplier: return "embedding_scale";
        case ArchField::ResidualMultiplier: return "residual_scale";
        case ArchField::LogitScale: return "logit_scale";
        case ArchField::Experts: return "expert_count";
        case ArchField::ExpertsUsed: return "expert_used_count";
        case ArchField::RoutedScale: return "expert_weights_scale";
        case ArchField::KvLoraRank: return "attention.kv_lora_rank";
        case ArchField::QLoraRank: return "attention.q_lora_rank";
        default: return {};
        }
    }

    void number(ArchField field)
    {
        const Setting *const from = m_source.arch.get(field);
        const Setting *const to = m_converted.arch.get(field);
        if (!from || from->numbers.empty())
            return;
        const std::string key = keyOf(*from, field);
        if (!to) {
            const auto byDefault = m_toGguf ? targetDefault(m_converted.arch.modelType, field, m_source.arch) : std::nullopt;
            if (byDefault && from->numbers.size() == 1 && sameNumber(from->numbers[0], *byDefault))
                add(Class::ByDefault, key, from->text, "absent, default " + numberText(*byDefault), {m_source.at(from->where)}, Severity::Ok);
            else
                lost(*from, key, suffixOf(field));
        } else if (sameNumbers(from->numbers, to->numbers)) {
            kept(*from, *to, key);
        } else {
            changed(*from, *to, key);
        }
    }

    /// The key as the source spells it.
    static std::string keyOf(const Setting &setting, ArchField field)
    {
        const auto cut = setting.where.note.find(" = ");
        return cut == std::string::npos ? std::string(nameOf(field)) : setting.where.note.substr(0, cut);
    }

    void layers()
    {
        const Setting *const from = m_source.arch.get(ArchField::Layers);
        const Setting *const to = m_converted.arch.get(ArchField::Layers);
        if (!from || !to || !from->number || !to->number) {
            number(ArchField::Layers);
            return;
        }
        const double next = m_source.arch.number(ArchField::NextnLayers).value_or(0); // prediction layers are blocks in GGUF
        if (sameNumber(*to->number, *from->number) || (m_toGguf && sameNumber(*to->number, *from->number + next)))
            kept(*from, *to, keyOf(*from, ArchField::Layers));
        else
            changed(*from, *to, keyOf(*from, ArchField::Layers));
    }

    /// A number under any key of the source's text part that holds this word: models with several kinds
    /// of layers have several.
    bool statedAs(std::string_view word, double value) const
    {
        for (const Value member : textPartOf(m_source.artifact->tree())) {
            if (member.key().find(word) == std::string::npos)
                continue;
            const auto stated = member.number();
            if (stated && sameNumber(*stated, value))
                return true;
        }
        return false;
    }

    void feedForward()
    {
        const Setting *const from = m_source.arch.get(ArchField::FeedForward);
        const Setting *const to = m_converted.arch.get(ArchField::FeedForward);
        if (from && to && to->number && (statedAs("intermediate_size", *to->number) || statedAs("ffn", *to->number)))
            kept(*from, *to, keyOf(*from, ArchField::FeedForward));
        else
            number(ArchField::FeedForward);
    }

    void kvHeads()
    {
        const Setting *const from = m_source.arch.get(ArchField::KvHeads);
        const Setting *const to = m_converted.arch.get(ArchField::KvHeads);
        const Setting *const heads = m_source.arch.get(ArchField::Heads);
        if (from && !to && m_toGguf && heads && sameNumbers(from->numbers, heads->numbers)) {
            add(Class::ByDefault, keyOf(*from, ArchField::KvHeads), from->text, "absent, as many as heads", {m_source.at(from->where)}, Severity::Ok);
        } else if (from) {
            number(ArchField::KvHeads);
        } else if (to && heads && !m_source.artifact->tree()["multi_query"].isSet() && !sameNumbers(heads->numbers, to->numbers)) {
            add(Class::Changed, "num_key_value_heads", "not stated: " + heads->text, to->text,
                {m_source.at(heads->where), m_converted.at(to->where)}, Severity::Error,
                "The converted file has " + listText(to->numbers) + " key-value heads; the source states none, which means "
                    + listText(heads->numbers),
                "Queries would read the wrong keys.");
        }
    }

    void headDim()
    {
        const Setting *const from = m_source.arch.get(ArchField::HeadDim);
        const Setting *const to = m_converted.arch.get(ArchField::HeadDim);
        if (!from || !from->number)
            return; // the class's default is not in the file
        const auto carried = m_converted.arch.headDim();
        if (to && to->number && statedAs("head_dim", *to->number)) {
            kept(*from, *to, keyOf(*from, ArchField::HeadDim));
        } else if (!to && carried && sameNumber(*from->number, *carried)) {
            add(Class::ByDefault, keyOf(*from, ArchField::HeadDim), from->text, "absent, " + numberText(*carried) + " follows",
                {m_source.at(from->where)}, Severity::Ok);
        } else {
            number(ArchField::HeadDim);
        }
    }

    void rotaryDim()
    {
        if (m_source.arch.rope.front().type == RopeSettings::Type::Proportional || !m_toGguf)
            return;
        const Setting *const from = m_source.arch.get(ArchField::PartialRotary);
        const Setting *const to = m_converted.arch.get(ArchField::RotaryDim);
        const auto expected = m_source.arch.rotaryDim();
        const bool stated = from || m_source.arch.get(ArchField::RotaryDim) || m_source.arch.get(ArchField::HeadDim);
        if (!expected || !to || !to->number || !stated || statedAs("head_dim", *to->number))
            return;
        if (sameNumber(*expected, *to->number))
            return;
        const Setting *const shown = from ? from : m_source.arch.get(ArchField::HeadDim);
        if (!shown)
            return;
        add(Class::Changed, keyOf(*shown, ArchField::PartialRotary), numberText(*expected) + " rotated elements", to->text,
            {m_source.at(shown->where), m_converted.at(to->where)}, Severity::Error,
            "The source rotates " + numberText(*expected) + " elements of a head, the converted file " + to->text,
            "Pairs of elements are rotated by the wrong angles.");
    }

    void context()
    {
        const Setting *const from = m_source.arch.get(ArchField::Context);
        const Setting *const to = m_converted.arch.get(ArchField::Context);
        const auto reach = reachOf(m_source.arch);
        if (from && to && to->number && reach && sameNumber(*to->number, *reach))
            kept(*from, *to, keyOf(*from, ArchField::Context));
        else
            number(ArchField::Context);
    }

    void vocabulary()
    {
        const Setting *const from = m_source.arch.get(ArchField::Vocab);
        if (!from || !from->number)
            return;
        const auto embedding = m_converted.tensor(m_toGguf ? "token_embd.weight" : "model.embed_tokens.weight");
        const Setting *const stated = m_converted.arch.get(ArchField::Vocab);
        std::optional<double> rows;
        Evidence where;
        if (embedding && !embedding.info->shape.empty() && m_toGguf) {
            rows = static_cast<double>(embedding.info->shape[0]);
            where = {embedding.file->id, TensorBlock{embedding.info->name}, embedding.info->shapeText(), m_converted.side};
        } else if (stated && stated->number) {
            rows = stated->number;
            where = m_converted.at(stated->where);
        }
        if (!rows)
            return;
        const bool padded = *rows > *from->number && std::fmod(*rows, 32) == 0;
        if (sameNumber(*rows, *from->number) || padded) {
            add(Class::Kept, "vocab_size", from->text, numberText(*rows) + (padded ? ", padded" : ""),
                {m_source.at(from->where), where}, Severity::Ok);
            return;
        }
        add(Class::Changed, "vocab_size", from->text, numberText(*rows), {m_source.at(from->where), where}, Severity::Error,
            "The vocabulary has " + from->text + " rows in the source and " + numberText(*rows) + " in the converted file",
            "Ids beyond the fewer rows have no embedding; ids in between mean something else when rows were left out.");
    }

    void window()
    {
        const Setting *const from = m_source.arch.get(ArchField::SlidingWindow);
        const Setting *const to = m_converted.arch.get(ArchField::SlidingWindow);
        const auto active = m_source.arch.slidingWindow();
        if (!active) {
            if (from)
                add(Class::Kept, "sliding_window", from->text + ", switched off", to ? to->text : "absent", {m_source.at(from->where)}, Severity::Ok);
            return;
        }
        if (!m_toGguf || hasWindow(m_converted.arch.modelType) || to) {
            number(ArchField::SlidingWindow);
            return;
        }
        add(Class::Unmappable, "sliding_window", from->text, "no place in architecture " + m_converted.arch.modelType,
            {m_source.at(from->where)}, Severity::Info,
            "The source's sliding window of " + from->text + " tokens has no counterpart in GGUF architecture "
                + m_converted.arch.modelType,
            "Beyond that length llama.cpp attends to tokens that the source's window hides.");
    }

    void queryScalar()
    {
        const Setting *const from = m_source.arch.get(ArchField::QueryScalar);
        if (!from || !from->number || *from->number <= 0)
            return;
        if (!m_toGguf) {
            number(ArchField::QueryScalar);
            return;
        }
        const double scale = 1 / std::sqrt(*from->number);
        const Setting *const to = m_converted.arch.get(ArchField::AttentionMultiplier);
        const auto head = m_source.arch.headDim(), hidden = m_source.arch.number(ArchField::Hidden),
                   heads = m_source.arch.number(ArchField::Heads), count = m_source.arch.number(ArchField::Layers);
        // llama.cpp knows the 27-billion models by their layers: 46 (Gemma 2) and 62 (Gemma 3).
        const bool large = count && (*count == 46 || *count == 62) && hidden && heads && *heads > 0;
        const double derived = large ? *hidden / *heads : head.value_or(0);
        if (to ? to->number && sameNumber(*to->number, scale) : sameNumber(derived, *from->number)) {
            add(Class::ByDefault, "query_pre_attn_scalar", from->text, to ? to->text : "absent, follows from the shape",
                {m_source.at(from->where)}, Severity::Ok);
            return;
        }
        std::vector<Evidence> evidence{m_source.at(from->where)};
        evidence.push_back(to ? m_converted.at(to->where) : absent("attention.scale"));
        add(Class::Changed, "query_pre_attn_scalar", from->text, to ? to->text : "absent: " + numberText(derived) + " follows", std::move(evidence),
            Severity::Error,
            "query_pre_attn_scalar is " + from->text + " in the source; the converted file leads to "
                + (to && to->number && *to->number > 0 ? numberText(1 / (*to->number * *to->number)) : numberText(derived)),
            "Attention logits are scaled by another factor in every layer.");
    }

    void experts()
    {
        const auto count = m_source.arch.number(ArchField::Experts);
        if (!count || *count <= 0)
            return;
        number(ArchField::Experts);
        number(ArchField::ExpertsUsed);
        if (m_source.arch.get(ArchField::ExpertFeedForward) && m_converted.arch.get(ArchField::ExpertFeedForward))
            number(ArchField::ExpertFeedForward);
        if (m_source.arch.number(ArchField::RoutedScale))
            number(ArchField::RoutedScale);
    }

    /// Without output.weight llama.cpp uses the embedding as output head.
    void head()
    {
        const auto tied = m_source.arch.tiedHead();
        if (!m_toGguf || tied != false || !m_converted.complete || !m_converted.tensor("token_embd.weight"))
            return;
        if (const auto output = m_converted.tensor("output.weight")) {
            const Evidence where{output.file->id, TensorBlock{output.info->name}, output.info->shapeText(), m_converted.side};
            add(Class::Kept, "tie_word_embeddings", "false", "output.weight is there", {where}, Severity::Ok);
            return;
        }
        static constexpr std::array<std::string_view, 3> headless{"bert", "nomic-bert", "jina-bert-v2"};
        if (std::find(headless.begin(), headless.end(), m_converted.arch.modelType) != headless.end())
            return;
        const Setting *const from = m_source.arch.get(ArchField::TiedHead);
        const bool hasHead = !m_source.complete || m_source.parts.empty() || m_source.tensor("lm_head.weight");
        if (!hasHead)
            return; // an encoder: the source has no head either
        add(Class::Lost, "tie_word_embeddings", from ? "false" : "false by default of " + m_source.arch.modelType, "no output.weight",
            {from ? m_source.at(from->where) : m_source.whole("tie_word_embeddings is not stated; the type's default is false"),
             m_converted.whole("no tensor output.weight among " + std::to_string(m_converted.tensorCount()))},
            Severity::Error, "The source has an output head of its own; the converted file has none",
            "The embedding takes its place, so every logit is computed with the wrong matrix.");
    }

    void rope()
    {
        auto carriage = ropeCarriage(m_conversion, m_job);
        for (RopeFault &fault : carriage.faults) {
            const bool base = fault.kind == RopeFault::Kind::BaseChanged;
            add(fault.kind == RopeFault::Kind::Lost ? Class::Lost : Class::Changed, base ? "rope_theta" : "rope_scaling",
                std::move(fault.sourceText), std::move(fault.convertedText), std::move(fault.evidence), Severity::Error,
                std::move(fault.title), std::move(fault.detail), base ? "conversion.rope.base" : "conversion.rope.scaling");
        }
        m_ledger.notSeen.insert(m_ledger.notSeen.end(), carriage.notSeen.begin(), carriage.notSeen.end());
        const RopeSettings &from = m_source.arch.rope.front();
        if (carriage.faults.empty() && from.theta)
            add(Class::Kept, "rope_theta", from.theta->text, "", {m_source.at(from.theta->where)}, Severity::Ok);
        if (carriage.faults.empty() && from.scaling && carriage.notSeen.empty())
            add(Class::Kept, "rope_scaling", describe(from), "", {m_source.at(from.scaling->where)}, Severity::Ok);
    }

    /// Biases and norms of layer 0 that the source stores and the GGUF does not.
    void droppedTensors()
    {
        if (!m_toGguf || !m_converted.complete || m_source.parts.empty() || !m_converted.tensor("blk.0.attn_q.weight"))
            return;
        struct Pair {
            std::string_view source, converted;
        };
        static constexpr std::array<Pair, 6> pairs{{{"q_proj.bias", "attn_q.bias"},
                                                    {"k_proj.bias", "attn_k.bias"},
                                                    {"v_proj.bias", "attn_v.bias"},
                                                    {"o_proj.bias", "attn_output.bias"},
                                                    {"q_norm.weight", "attn_q_norm.weight"},
                                                    {"k_norm.weight", "attn_k_norm.weight"}}};
        for (const Pair &pair : pairs) {
            const auto from = m_source.tensor("model.layers.0.self_attn." + std::string(pair.source));
            if (!from || m_converted.tensor("blk.0." + std::string(pair.converted)))
                continue;
            add(Class::Lost, pair.source, from.info->shapeText(), "absent",
                {{from.file->id, TensorBlock{from.info->name}, from.info->shapeText(), m_source.side},
                 m_converted.whole("no tensor blk.0." + std::string(pair.converted))},
                Severity::Error, "The source's " + from.info->name + " has no counterpart in the converted file",
                "The layer is computed without it.", "conversion.tensor");
        }
    }

    const ModelDescription &m_source, &m_converted;
    const Conversion &m_conversion;
    const Job &m_job;
    Ledger &m_ledger;
    bool m_toGguf, m_mla, m_vocabularyOnly;
};

} // namespace

std::string_view nameOf(LedgerRow::Class outcome)
{
    static constexpr std::array<std::string_view, 5> names{"kept", "kept by default", "changed", "lost", "unmappable"};
    return names[static_cast<std::size_t>(outcome)];
}

void compareArchitecture(const Conversion &conversion, const Job &job, Ledger &ledger)
{
    ArchitectureComparison(conversion, job, ledger).run();
}

} // namespace prosector
