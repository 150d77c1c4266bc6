// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/ropescaling.h"

#include "models/artifacts/tensordata.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace prosector {

namespace {

using Type = RopeSettings::Type;

std::optional<double> numberOf(const std::optional<Setting> &setting)
{
    return setting ? setting->number : std::nullopt;
}

/// Checks the declarations of one model, one layer type after the other.
class DeclarationCheck {
public:
    explicit DeclarationCheck(const ModelDescription &model) : m_model(model) {}

    std::vector<RopeFault> run()
    {
        for (const RopeSettings &rope : m_model.arch.rope) {
            if (rope.theta && !(rope.theta->number && *rope.theta->number > 0))
                add(RopeFault::Kind::WrongValue, "The RoPE base is no positive number", "", {*rope.theta});
            if (rope.scaling)
                check(rope);
        }
        for (const SettingRemark &remark : m_model.arch.remarks) {
            if (remark.text.starts_with("rope_scaling") || remark.text.starts_with("rope_parameters"))
                m_faults.push_back({RopeFault::Kind::WrongValue, "The position scaling is not an object: " + remark.text,
                                    "Loaders reject it or run unscaled.", {m_model.at(remark.where)}});
        }
        return std::move(m_faults);
    }

private:
    void add(RopeFault::Kind kind, std::string title, std::string detail, std::vector<Setting> settings)
    {
        RopeFault fault{kind, std::move(title), std::move(detail)};
        for (const Setting &setting : settings)
            fault.evidence.push_back(m_model.at(setting.where));
        m_faults.push_back(std::move(fault));
    }

    void check(const RopeSettings &rope)
    {
        const std::string name = rope.typeName && rope.typeName->word ? *rope.typeName->word : "";
        if (!rope.typeName) {
            if (numberOf(rope.factor).value_or(1) != 1)
                add(RopeFault::Kind::MissingKey, "The position scaling has a factor but no type",
                    "Without rope_type the base rotation runs and the factor is ignored.", {*rope.factor});
            return;
        }
        if (rope.type == Type::Unknown) {
            add(RopeFault::Kind::UnknownType, "The position-scaling type \"" + name + "\" is unknown",
                "Known are default, linear, dynamic, yarn, longrope (su), llama3, proportional and mrope.", {*rope.typeName});
            return;
        }
        if (rope.otherType)
            checkOtherType(rope);
        switch (rope.type) {
        case Type::Linear: case Type::Dynamic: case Type::Yarn:
            need(rope, rope.factor, "factor");
            break;
        case Type::Llama3:
            need(rope, rope.factor, "factor");
            need(rope, rope.lowFreq, "low_freq_factor");
            need(rope, rope.highFreq, "high_freq_factor");
            need(rope, rope.original, "original_max_position_embeddings");
            // Llama 4 Scout ships both as 1: nothing is blended.
            if (numberOf(rope.lowFreq) && numberOf(rope.highFreq) && *rope.lowFreq->number > *rope.highFreq->number)
                add(RopeFault::Kind::WrongValue, "low_freq_factor is above high_freq_factor",
                    "The blend between scaled and unscaled frequencies runs from low to high.", {*rope.lowFreq, *rope.highFreq});
            break;
        case Type::LongRope:
            if (!m_model.gguf) { // there the lists are tensors
                needList(rope, rope.shortFactor, "short_factor");
                needList(rope, rope.longFactor, "long_factor");
            }
            break;
        default:
            break;
        }
    }

    void checkOtherType(const RopeSettings &rope)
    {
        const auto canonical = [](const std::optional<Setting> &setting) {
            const std::string name = setting && setting->word ? *setting->word : "";
            if (name == "su")
                return std::string("longrope");
            if (name == "mrope" || name == "none" || name == "axial")
                return std::string("default");
            return name;
        };
        if (canonical(rope.typeName) != canonical(rope.otherType))
            add(RopeFault::Kind::TypesDisagree,
                "rope_type says " + rope.typeName->text + " and type says " + rope.otherType->text,
                "Programs read one or the other, so two programs run two scalings.", {*rope.typeName, *rope.otherType});
    }

    void need(const RopeSettings &rope, const std::optional<Setting> &setting, std::string_view key)
    {
        const std::string type(nameOf(rope.type));
        if (!setting)
            add(RopeFault::Kind::MissingKey, "Position scaling " + type + " lacks " + std::string(key),
                "The type cannot be computed without it; loaders stop or run unscaled.", {*rope.scaling});
        else if (!setting->number || *setting->number <= 0)
            add(RopeFault::Kind::WrongValue, "Position scaling " + type + ": " + std::string(key) + " is no positive number", "",
                {*setting});
    }

    void needList(const RopeSettings &rope, const std::optional<Setting> &setting, std::string_view key)
    {
        if (!setting) {
            need(rope, setting, key);
            return;
        }
        const auto rotary = m_model.arch.rotaryDim();
        if (!rotary || setting->numbers.size() == static_cast<std::size_t>(*rotary / 2))
            return;
        add(RopeFault::Kind::WrongValue,
            std::string(key) + " has " + std::to_string(setting->numbers.size()) + " values where the rotation has "
                + numberText(std::floor(*rotary / 2)) + " pairs",
            "One factor belongs to each rotated pair of a head.", {*setting});
    }

    const ModelDescription &m_model;
    std::vector<RopeFault> m_faults;
};

/// Compares what a conversion holds with what its source declares.
class CarriageCheck {
public:
    CarriageCheck(const Conversion &conversion, const Job &job)
        : m_source(*conversion.source), m_converted(*conversion.converted), m_job(job)
    {
    }

    RopeCarriage run()
    {
        const RopeSettings &from = m_source.arch.rope.front();
        const RopeSettings &to = m_converted.arch.rope.front();
        base(from, to);
        if (m_converted.isConfig())
            againstConfig(from, to);
        else if (from.scaling)
            againstGguf(from, to);
        return std::move(m_result);
    }

private:
    void add(RopeFault::Kind kind, std::string title, std::string detail, std::vector<Evidence> evidence,
             std::string sourceText, std::string convertedText)
    {
        m_result.faults.push_back({kind, std::move(title), std::move(detail), std::move(evidence), std::move(sourceText),
                                   std::move(convertedText)});
    }

    void base(const RopeSettings &from, const RopeSettings &to)
    {
        const auto stated = numberOf(from.theta);
        if (!stated)
            return;
        auto carried = numberOf(to.theta);
        // llama.cpp, src/llama-model.cpp: rope.freq_base is optional and then 10000.
        const bool absent = !to.theta && m_converted.gguf;
        if (absent && m_converted.tensorCount() == 0)
            return; // a vocabulary only: nothing is computed with it
        if (absent)
            carried = 10000;
        if (!carried || sameNumber(*stated, *carried))
            return;
        std::vector<Evidence> evidence{m_source.at(from.theta->where)};
        evidence.push_back(absent ? m_converted.key(m_converted.arch.modelType + ".rope.freq_base", "absent: 10000 is used")
                                  : m_converted.at(to.theta->where));
        add(RopeFault::Kind::BaseChanged, "The RoPE base is " + numberText(*stated) + " in the source and " + numberText(*carried)
                + (absent ? " (by default)" : "") + " in the converted file",
            "Every rotation differs from the one the weights were trained with.", std::move(evidence), numberText(*stated),
            numberText(*carried));
    }

    void againstConfig(const RopeSettings &from, const RopeSettings &to)
    {
        if (from.type == to.type && sameIfBoth(from.factor, to.factor) && sameIfBoth(from.original, to.original))
            return;
        const bool lost = from.type != Type::None && to.type == Type::None;
        std::vector<Evidence> evidence;
        evidence.push_back(from.scaling ? m_source.at(from.scaling->where) : m_source.whole("no position scaling"));
        evidence.push_back(to.scaling ? m_converted.at(to.scaling->where) : m_converted.whole("no position scaling"));
        add(lost ? RopeFault::Kind::Lost : RopeFault::Kind::Changed,
            "The source scales positions by " + describe(from) + ", the converted folder by " + describe(to),
            "Beyond the original length the rotations differ from those the weights were trained with.", std::move(evidence),
            describe(from), describe(to));
    }

    static bool sameIfBoth(const std::optional<Setting> &a, const std::optional<Setting> &b)
    {
        return !numberOf(a) || !numberOf(b) || sameNumber(*a->number, *b->number);
    }

    void againstGguf(const RopeSettings &from, const RopeSettings &to)
    {
        switch (from.type) {
        case Type::Llama3: llama3(from); return;
        case Type::LongRope: longRope(from); return;
        case Type::Yarn: case Type::Linear: byMetadata(from, to); return;
        case Type::Dynamic:
            m_result.notSeen.push_back(m_converted.path() + ": dynamic scaling has no counterpart in GGUF");
            return;
        default: return;
        }
    }

    /// Whether a tensor's absence says anything.
    bool tensorsSeen(std::string_view what)
    {
        if (m_converted.tensorCount() == 0) {
            m_result.notSeen.push_back(m_converted.path() + ": holds no tensors, so " + std::string(what) + " was not looked for");
            return false;
        }
        if (!m_converted.complete) {
            m_result.notSeen.push_back(m_converted.path() + ": shards are missing, so " + std::string(what) + " was not looked for");
            return false;
        }
        return true;
    }

    std::vector<Evidence> absence(const RopeSettings &from, std::string_view tensor)
    {
        const std::string &arch = m_converted.arch.modelType;
        return {m_source.at(from.typeName->where, "the source scales positions: " + describe(from)),
                m_converted.key(arch + ".rope.scaling.type", "absent"),
                m_converted.whole("no tensor " + std::string(tensor) + " among " + std::to_string(m_converted.tensorCount()))};
    }

    void llama3(const RopeSettings &from)
    {
        const auto found = m_converted.tensor("rope_freqs.weight");
        if (!found) {
            if (tensorsSeen("rope_freqs.weight"))
                add(RopeFault::Kind::Lost,
                    "The source declares llama3 position scaling; the GGUF has no rope_freqs.weight",
                    "Without the factors every frequency runs unscaled: short prompts are right, beyond "
                        + numberText(numberOf(from.original).value_or(8192)) + " tokens attention drifts.",
                    absence(from, "rope_freqs.weight"), describe(from), "none");
            return;
        }
        const auto rotary = m_converted.arch.rotaryDim() ? m_converted.arch.rotaryDim() : m_source.arch.rotaryDim();
        const auto expected = llama3Divisors(from, numberOf(from.theta).value_or(10000), rotary.value_or(0));
        const Evidence where{found.file->id, TensorBlock{found.info->name}, "", m_converted.side};
        auto evidence = [&](std::string note) {
            return std::vector<Evidence>{m_source.at(from.typeName->where), m_converted.at(where, std::move(note))};
        };
        const auto values = readTensor<double>(*found.file->source, *found.info, m_job, 65536);
        if (!values) {
            m_result.notSeen.push_back(m_converted.path() + ": rope_freqs.weight: " + describe(values.error()));
            return;
        }
        if (expected.empty())
            return;
        if (values->size() != expected.size()) {
            add(RopeFault::Kind::Changed,
                "rope_freqs.weight has " + std::to_string(values->size()) + " factors where " + std::to_string(expected.size())
                    + " pairs are rotated",
                "One factor belongs to each rotated pair of a head.", evidence(std::to_string(values->size()) + " values"),
                std::to_string(expected.size()) + " factors", std::to_string(values->size()) + " factors");
            return;
        }
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const double value = (*values)[i];
            if (std::abs(value - expected[i]) <= 1e-3 * expected[i])
                continue;
            add(RopeFault::Kind::Changed,
                "rope_freqs.weight is not what the source's scaling gives: factor " + std::to_string(i) + " is "
                    + numberText(value) + ", expected " + numberText(expected[i]),
                "The factors follow from base, factor, original length and the two frequency factors.",
                evidence("factor " + std::to_string(i) + " of " + std::to_string(expected.size())), numberText(expected[i]),
                numberText(value));
            return;
        }
    }

    void longRope(const RopeSettings &from)
    {
        if (!tensorsSeen("rope_factors_long.weight"))
            return;
        for (const std::string_view name : {"rope_factors_long.weight", "rope_factors_short.weight"}) {
            const auto found = m_converted.tensor(name);
            const auto &list = name.find("long") != std::string_view::npos ? from.longFactor : from.shortFactor;
            if (!found) {
                add(RopeFault::Kind::Lost,
                    "The source declares longrope position scaling; the GGUF has no " + std::string(name),
                    "Positions run unscaled.", absence(from, name), describe(from), "none");
            } else if (const auto count = found.info->elements();
                       list && !list->numbers.empty() && count && *count != list->numbers.size()) {
                add(RopeFault::Kind::Changed,
                    std::string(name) + " has " + std::to_string(*count) + " factors, the source lists "
                        + std::to_string(list->numbers.size()),
                    "One factor belongs to each rotated pair of a head.",
                    {m_source.at(list->where), {found.file->id, TensorBlock{found.info->name}, found.info->shapeText(), m_converted.side}},
                    std::to_string(list->numbers.size()) + " factors", std::to_string(*count) + " factors");
            }
        }
    }

    void byMetadata(const RopeSettings &from, const RopeSettings &to)
    {
        if (numberOf(from.factor).value_or(1) == 1)
            return;
        const std::string &arch = m_converted.arch.modelType;
        if (to.type != from.type) {
            std::vector<Evidence> evidence{m_source.at(from.typeName->where, "the source scales positions: " + describe(from))};
            evidence.push_back(to.scaling ? m_converted.at(to.scaling->where)
                                          : m_converted.key(arch + ".rope.scaling.type", "absent"));
            add(to.type == Type::None ? RopeFault::Kind::Lost : RopeFault::Kind::Changed,
                "The source scales positions by " + describe(from) + ", the GGUF by " + describe(to),
                "Beyond the original length the rotations differ from those the model is meant to use.", std::move(evidence),
                describe(from), describe(to));
            return;
        }
        const auto compare = [&](const std::optional<Setting> &a, const std::optional<Setting> &b, std::string_view what) {
            if (sameIfBoth(a, b))
                return;
            add(RopeFault::Kind::Changed,
                "The " + std::string(what) + " of the position scaling is " + a->text + " in the source and " + b->text + " in the GGUF",
                "", {m_source.at(a->where), m_converted.at(b->where)}, a->text, b->text);
        };
        compare(from.factor, to.factor, "factor");
        compare(from.original, to.original, "original length");
    }

    const ModelDescription &m_source, &m_converted;
    const Job &m_job;
    RopeCarriage m_result;
};

} // namespace

std::vector<RopeFault> ropeFaults(const ModelDescription &model)
{
    return DeclarationCheck(model).run();
}

RopeCarriage ropeCarriage(const Conversion &conversion, const Job &job)
{
    return CarriageCheck(conversion, job).run();
}

std::vector<double> llama3Divisors(const RopeSettings &rope, double base, double rotaryDim)
{
    const auto factor = numberOf(rope.factor), low = numberOf(rope.lowFreq), high = numberOf(rope.highFreq),
               original = numberOf(rope.original);
    constexpr double mostPairs = 65536;
    if (!factor || !low || !high || !original || *low <= 0 || *high <= *low || rotaryDim < 2 || rotaryDim > 2 * mostPairs)
        return {};
    std::vector<double> divisors;
    const auto pairs = static_cast<std::size_t>(rotaryDim / 2);
    for (std::size_t i = 0; i < pairs; ++i) {
        const double wavelength = 2 * std::numbers::pi * std::pow(base, 2 * static_cast<double>(i) / rotaryDim);
        if (wavelength < *original / *high) {
            divisors.push_back(1);
        } else if (wavelength > *original / *low) {
            divisors.push_back(*factor);
        } else {
            const double smooth = (*original / wavelength - *low) / (*high - *low);
            divisors.push_back(1 / ((1 - smooth) / *factor + smooth));
        }
    }
    return divisors;
}

std::optional<double> reachOf(const Architecture &arch)
{
    auto reach = arch.number(ArchField::Context);
    const RopeSettings &rope = arch.rope.front();
    if ((rope.type == Type::Yarn || rope.type == Type::Linear) && numberOf(rope.factor)) {
        const auto original = numberOf(rope.original) ? numberOf(rope.original) : reach;
        if (original)
            reach = std::max(reach.value_or(0), *original * *rope.factor->number);
    }
    return reach;
}

std::string describe(const RopeSettings &rope)
{
    if (rope.type == Type::None)
        return "none";
    std::string text(rope.type == Type::Unknown && rope.typeName ? rope.typeName->text : nameOf(rope.type));
    if (const auto factor = numberOf(rope.factor))
        text += ", factor " + numberText(*factor);
    if (const auto original = numberOf(rope.original))
        text += ", original " + numberText(*original);
    return text;
}

} // namespace prosector
