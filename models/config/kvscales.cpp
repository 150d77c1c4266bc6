// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/kvscales.h"

#include "models/config/descriptions.h"
#include "models/artifacts/tensordata.h"
#include "models/artifacts/tensorname.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace prosector {

namespace {

bool isKeyBias(std::string_view suffix)
{
    return suffix.ends_with("k_proj.bias") || suffix == "attn_k.bias";
}

/// Spellings of vLLM (k_scale), compressed-tensors (k_proj.output_scale) and ModelOpt (k_proj.k_scale).
bool isKeyScale(std::string_view suffix)
{
    return suffix.ends_with("k_scale") || suffix.ends_with("k_proj.output_scale") || suffix.ends_with(".kv_scale")
           || suffix == "kv_scale";
}

double longestPair(const std::vector<double> &bias, std::size_t head, std::size_t rotary)
{
    double longest = 0;
    for (std::size_t at = 0; at < bias.size(); at += head) {
        const std::size_t end = std::min(at + head, bias.size());
        for (std::size_t i = at; i < end; ++i) {
            const std::size_t inHead = i - at, half = rotary / 2;
            const bool first = inHead < half && i + half < end;
            longest = std::max(longest, first ? std::hypot(bias[i], bias[i + half]) : std::abs(bias[i]));
        }
    }
    return longest;
}

} // namespace

Result<std::vector<KeyRange>> keyRanges(const std::vector<WeightSet> &sets, const Architecture &arch, const Job &job,
                                        std::vector<std::string> &notSeen)
{
    constexpr std::uint64_t longestBias = 1 << 20;
    std::map<std::uint32_t, KeyRange> byLayer;
    std::map<std::uint32_t, std::pair<double, Evidence>> scales;
    for (const WeightSet &set : sets) {
        for (const WeightRow &row : set.rows) {
            const TensorName name = takeApart(row.name);
            const bool bias = isKeyBias(name.suffix), scale = isKeyScale(name.suffix);
            if (!name.inLayer() || !row.info || !row.file || (!bias && !scale))
                continue;
            if (job.cancelled())
                return Job::cancelledError();
            const auto values = readTensor<double>(*row.file->source, *row.info, job, longestBias);
            if (!values) {
                if (values.error().code == Errc::Cancelled)
                    return values.error();
                notSeen.push_back(std::string(row.name) + ": " + describe(values.error()));
                continue;
            }
            if (values->empty())
                continue;
            if (scale) {
                const double largest = *std::max_element(values->begin(), values->end());
                scales.insert({name.layer, {largest, set.placeOf(row, "scale " + roundedText(largest))}});
                continue;
            }
            const auto head = static_cast<std::size_t>(std::max(1.0, arch.headDim().value_or(static_cast<double>(values->size()))));
            const auto rotary = static_cast<std::size_t>(std::max(0.0, arch.rotaryDim().value_or(static_cast<double>(head))));
            const double bound = longestPair(*values, head, rotary);
            KeyRange &range = byLayer[name.layer];
            if (bound >= range.bound) {
                range.layer = name.layer;
                range.bound = bound;
                range.bias = set.placeOf(row, "keys reach at least " + roundedText(bound));
            }
        }
    }
    std::vector<KeyRange> ranges;
    for (auto &[layer, range] : byLayer) {
        range.scaleAt = range.bias;
        if (const auto found = scales.find(layer); found != scales.end()) {
            range.scale = found->second.first;
            range.scaleAt = found->second.second;
        }
        ranges.push_back(std::move(range));
    }
    return ranges;
}

} // namespace prosector
