// SPDX-License-Identifier: GPL-3.0-or-later
// W10 in parts; used by models/instruments/weights/packed_quantization.cpp only.
#pragma once

#include "models/config/packedmodules.h"
#include "models/config/quantization.h"
#include "models/core/finding.h"
#include "models/core/job.h"

#include <string>
#include <vector>

namespace prosector::packing {

inline constexpr std::size_t evidenceLimit = 8;

/// Offences of the same kind, gathered into one finding.
struct Offences {
    Severity severity = Severity::Error;
    std::string what;                  ///< "does not have the declared shape"
    std::uint64_t count = 0;
    std::vector<Evidence> evidence{};  ///< the first few
    std::string first{};               ///< the module or tensor named in the title
    void add(std::string_view name, Evidence place)
    {
        if (count++ == 0)
            first = name;
        if (evidence.size() < evidenceLimit)
            evidence.push_back(std::move(place));
    }
};

/// What is read of a checkpoint is bounded; the rest is said to be unseen.
struct Budget {
    std::uint64_t bytes = 64ULL << 20;
    std::uint64_t skipped = 0; ///< tensors not read for want of budget
    bool take(std::uint64_t wanted)
    {
        if (wanted > bytes) {
            ++skipped;
            return false;
        }
        bytes -= wanted;
        return true;
    }
};

/// GPTQ and AWQ modules: shapes, zeros, group order, centre.
class IntegerCheck {
public:
    IntegerCheck(const QuantDeclaration &declaration, Budget &budget, const Job &job);
    /// False when cancelled.
    bool look(const PackedModule &module);
    void report(Report &report) const;

private:
    struct Layout {
        unsigned bits = 4;
        std::uint64_t in = 0, out = 0, groups = 0, group = 0;
        Packing packing = Packing::Sequential;
    };
    bool layoutOf(const PackedModule &module, Layout &layout);
    void lookAtZeros(const PackedModule &module, const Layout &layout);
    void lookAtOrder(const PackedModule &module, const Layout &layout, const std::vector<std::uint32_t> &order);
    void lookAtCentre(const PackedModule &module, const Layout &layout, const std::vector<std::uint32_t> &order);
    std::uint32_t effective(std::uint32_t stored, unsigned bits, bool plusOne) const;

    const QuantDeclaration &m_declaration;
    Budget &m_budget;
    const Job &m_job;
    bool m_awq = false, m_plusOne = true;
    std::string m_kernelFormat; ///< a declared format whose layout is not looked into, else empty
    std::uint64_t m_zeros = 0, m_wrongZeros = 0, m_rightOtherwise = 0;
    std::vector<double> m_centre, m_centreOtherwise;
    Evidence m_centreAt{};
    Offences m_shape{.what = "does not fit the declared layout"}, m_swapped{.what = "is laid out as the other format"},
        m_incomplete{.what = "lacks a part"}, m_zeroFault{.what = "holds zeros that are not the centre"},
        m_orderFault{.what = "assigns rows to groups otherwise than declared"};
};

/// FP8 and compressed-tensors modules.
class ScaledCheck {
public:
    explicit ScaledCheck(const QuantDeclaration &declaration) : m_declaration(declaration) {}
    void look(const PackedModule &module);
    void report(Report &report) const;

private:
    void lookAtFloat8(const PackedModule &module);
    void lookAtPacked(const PackedModule &module);

    const QuantDeclaration &m_declaration;
    Offences m_noScale{.what = "has no scale"}, m_scaleShape{.what = "has a scale of another shape"},
        m_shape{.what = "does not fit its declared shape"}, m_incomplete{.what = "lacks a part"};
};

/// Scales of any format: finite, above zero, of a size that weights have.
class ScaleCheck {
public:
    ScaleCheck(Budget &budget, const Job &job) : m_budget(budget), m_job(job) {}
    /// False when cancelled. `largest`: what the largest stored integer or float stands for.
    bool look(const WeightRow &scale, double largest);
    void report(Report &report) const;

private:
    Budget &m_budget;
    const Job &m_job;
    Offences m_bad{.what = "holds scales that are zero or no number"},
        m_negative{.severity = Severity::Warning, .what = "holds negative scales"};
    std::vector<double> m_medians; ///< of fmax × scale, one per tensor
    std::vector<Evidence> m_places;
};

void addOffences(Report &report, std::string code, const Offences &offences, std::string detail, std::string falseIf,
                 std::vector<Evidence> declared);

} // namespace prosector::packing
