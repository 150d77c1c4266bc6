// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/freshhead.h"

#include "models/artifacts/tensordata.h"
#include "models/artifacts/tensorname.h"

#include <algorithm>
#include <cmath>

namespace prosector {

namespace {

constexpr std::uint64_t valueLimit = 1ULL << 22;

double skewnessZ(double skewness, double n)
{
    const double y = skewness * std::sqrt((n + 1) * (n + 3) / (6 * (n - 2)));
    const double beta = 3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9));
    const double w = -1 + std::sqrt(2 * (beta - 1));
    const double alpha = std::sqrt(2 / (w - 1));
    return std::asinh(y / alpha) / std::sqrt(0.5 * std::log(w));
}

double kurtosisZ(double kurtosis, double n)
{
    const double expected = 3 * (n - 1) / (n + 1);
    const double variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) * (n + 1) * (n + 3) * (n + 5));
    const double x = (kurtosis - expected) / std::sqrt(variance);
    const double beta = 6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9)) * std::sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)));
    const double a = 6 + 8 / beta * (2 / beta + std::sqrt(1 + 4 / (beta * beta)));
    const double denominator = 1 + x * std::sqrt(2 / (a - 4));
    const double root = std::copysign(std::cbrt((1 - 2 / a) / std::abs(denominator)), denominator);
    return (1 - 2 / (9 * a) - root) / std::sqrt(2 / (9 * a));
}

} // namespace

double normalityP(std::span<const double> values)
{
    const auto n = static_cast<double>(values.size());
    double mean = 0;
    for (const double value : values)
        mean += value / n;
    double m2 = 0, m3 = 0, m4 = 0;
    for (const double value : values) {
        const double d = value - mean;
        m2 += d * d / n;
        m3 += d * d * d / n;
        m4 += d * d * d * d / n;
    }
    if (values.size() < 20 || !(m2 > 0))
        return 0;
    const double zs = skewnessZ(m3 / std::pow(m2, 1.5), n), zk = kurtosisZ(m4 / (m2 * m2), n);
    return std::exp(-(zs * zs + zk * zk) / 2); // chi-squared with two degrees of freedom
}

bool Freshness::fresh(double range) const
{
    const auto count = static_cast<double>(n);
    return n >= 500 && biasSilent && range > 0 && std::abs(mean) <= 3 * deviation / std::sqrt(count)
           && std::abs(deviation / range - 1) <= 3 / std::sqrt(2 * count) && p > 0.01;
}

Result<std::optional<Freshness>> freshnessOf(const WeightSet &set, const WeightRow &weight, const Job &job)
{
    const std::optional<Freshness> nothing;
    if (!weight.info || !hasPlainValues(weight.info->dtype) || weight.info->elements().value_or(valueLimit + 1) > valueLimit)
        return nothing;
    const auto values = readTensor<double>(*weight.file->source, *weight.info, job, valueLimit);
    if (!values)
        return values.error().code == Errc::Cancelled ? Result<std::optional<Freshness>>(values.error()) : nothing;
    if (values->size() < 20 || !std::all_of(values->begin(), values->end(), [](double v) { return std::isfinite(v); }))
        return nothing;
    Freshness freshness{.n = values->size()};
    const auto n = static_cast<double>(values->size());
    for (const double value : *values)
        freshness.mean += value / n;
    for (const double value : *values)
        freshness.deviation += (value - freshness.mean) * (value - freshness.mean) / n;
    freshness.deviation = std::sqrt(freshness.deviation);
    freshness.p = normalityP(*values);
    freshness.biasSilent = true;
    const WeightRow *const bias = set.find(std::string(moduleOf(weight.name)) + ".bias");
    if (bias && bias->info) {
        const auto numbers = readTensor<double>(*bias->file->source, *bias->info, job, valueLimit);
        if (!numbers && numbers.error().code == Errc::Cancelled)
            return numbers.error();
        freshness.biasSilent = numbers && std::all_of(numbers->begin(), numbers->end(), [](double v) { return v == 0; });
    }
    return std::optional(freshness);
}

} // namespace prosector
