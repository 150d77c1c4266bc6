// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/format.h"

#include "models/core/hex.h"
#include "models/core/utf8.h"
#include "models/core/wording.h"
#include "models/instruments/instrument.h"
#include "models/runs/inspect.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace prosector::format {

namespace {

constexpr QChar thinSpace(0x2009);
constexpr QChar ellipsis(0x2026);

/// Groups the digits before the point.
QString withGroups(QString digits)
{
    qsizetype end = digits.indexOf(QLatin1Char('.'));
    if (end < 0)
        end = digits.size();
    const qsizetype first = digits.startsWith(QLatin1Char('-')) ? 1 : 0;
    for (qsizetype i = end - 3; i > first; i -= 3)
        digits.insert(i, thinSpace);
    return digits;
}

QString significant(double value, int digits)
{
    const int before = value == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
    QString text = QString::number(value, 'f', std::max(0, digits - before));
    if (text.contains(QLatin1Char('.'))) {
        while (text.endsWith(QLatin1Char('0')))
            text.chop(1);
        if (text.endsWith(QLatin1Char('.')))
            text.chop(1);
    }
    return text;
}

} // namespace

QString grouped(std::uint64_t number)
{
    return withGroups(QString::number(number));
}

QString grouped(std::int64_t number)
{
    return withGroups(QString::number(number));
}

QString number(double number)
{
    if (std::isnan(number))
        return QStringLiteral("NaN");
    if (std::isinf(number))
        return number < 0 ? QStringLiteral("-∞") : QStringLiteral("∞");
    const double magnitude = std::fabs(number);
    if (magnitude == std::floor(magnitude) && magnitude < 1e15)
        return withGroups(QString::number(number, 'f', 0));
    if (magnitude >= 1e7 || magnitude < 1e-4)
        return QString::number(number, 'g', 4);
    return withGroups(significant(number, 4));
}

QString bytes(std::uint64_t size)
{
    return toQt(sizeText(size)).replace(QLatin1Char(' '), QChar(0xA0));
}

QString exactBytes(std::uint64_t size)
{
    return counted(size, "byte", "bytes");
}

QString offset(std::uint64_t offset)
{
    return QStringLiteral("0x%1").arg(offset, 8, 16, QLatin1Char('0'));
}

QString hex(std::span<const std::byte> bytes)
{
    const std::size_t half = std::min<std::size_t>(bytes.size(), 8);
    QString text = toQt(hexText(bytes.first(half)));
    if (half < bytes.size())
        text += QStringLiteral("  ") + toQt(hexText(bytes.subspan(half)));
    return text;
}

QString ascii(std::span<const std::byte> bytes)
{
    QString text;
    for (const std::byte byte : bytes) {
        const auto value = std::to_integer<char16_t>(byte);
        text += value >= 0x20 && value < 0x7F ? QChar(value) : QChar(0xB7);
    }
    return text;
}

QString counted(std::uint64_t count, const char *singular, const char *plural)
{
    return grouped(count) + QLatin1Char(' ') + QLatin1String(count == 1 ? singular : plural);
}

QString oneLine(std::string_view text, int limit)
{
    // Four bytes a character at most: the rest of a long text need not be decoded.
    const auto enough = static_cast<std::size_t>(limit) * 4 + 4;
    const bool longer = text.size() > enough;
    QString line = toQt(text.substr(0, enough));
    if (longer || line.size() > limit) {
        line.truncate(limit);
        if (!line.isEmpty() && line.back().isHighSurrogate())
            line.chop(1);
        line += ellipsis;
    }
    for (QChar &c : line) {
        if (c == QLatin1Char('\n'))
            c = QChar(0x23CE);
        else if (c == QLatin1Char('\t'))
            c = QChar(0x21E5);
        else if (c.unicode() < 0x20)
            c = QChar(static_cast<char16_t>(0x2400 + c.unicode()));
        else if (c.unicode() == 0x7F)
            c = QChar(0x2421);
        else if (c == QChar::LineSeparator || c == QChar::ParagraphSeparator)
            c = QChar(0x23CE);
    }
    return line;
}

QString measured(const Measure &measure)
{
    const QString number = format::number(measure.number);
    return measure.unit.empty() ? number : number + QLatin1Char(' ') + toQt(unitFor(measure.number, measure.unit));
}

QString literal(std::string_view text, int limit)
{
    const bool list = text.starts_with('[') || text.starts_with('{');
    if (!list || text.find('\n') == std::string_view::npos)
        return oneLine(text, limit);
    std::string dense;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size() && dense.size() < static_cast<std::size_t>(limit) * 4 + 8; ++i) {
        const char c = text[i];
        if (quoted && c == '\\' && i + 1 < text.size()) {
            dense.append(text.substr(i++, 2));
            continue;
        }
        quoted ^= c == '"';
        const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
        if (quoted || !blank)
            dense += c;
        if (!quoted && (c == ',' || c == ':'))
            dense += ' ';
    }
    return oneLine(dense, limit);
}

QString artifactName(const Place &place, const Run *run)
{
    const bool known = run && place.artifact.index < run->artifacts().size();
    return known ? toQt(run->artifact(place.artifact).path) : QString();
}

QString place(const Place &place, const Run *run)
{
    const QString name = artifactName(place, run);
    const QString where = toQt(describe(place.where));
    return name.isEmpty() || where.isEmpty() ? name + where : name + QLatin1Char(' ') + where;
}

QString sentence(const Outcome &outcome)
{
    if (!outcome.report) {
        return outcome.report.error().code == Errc::Cancelled ? QStringLiteral("Cancelled before it came to a result.")
                                                              : toQt(describe(outcome.report.error()));
    }
    const Report &report = *outcome.report;
    const auto worst = std::max_element(report.findings.begin(), report.findings.end(),
                                        [](const Finding &a, const Finding &b) { return a.severity < b.severity; });
    if (worst != report.findings.end()) {
        QString text = toQt(worst->title);
        if (report.findings.size() > 1)
            text +=
                QStringLiteral(" (and %1)").arg(counted(report.findings.size() - 1, "more finding", "more findings"));
        return text;
    }
    if (report.undecidable())
        return QStringLiteral("Not captured: %1.").arg(toQt(report.missing).join(QStringLiteral(", ")));
    if (!report.notSeen.empty())
        return QStringLiteral("Nothing found; not seen: %1.").arg(toQt(report.notSeen).join(QStringLiteral("; ")));
    return QStringLiteral("Nothing found.");
}

QString severity(Severity severity)
{
    switch (severity) {
    case Severity::Ok: return QStringLiteral("Passed");
    case Severity::Undecidable: return QStringLiteral("Undecidable");
    case Severity::Info: return QStringLiteral("Note");
    case Severity::Warning: return QStringLiteral("Warning");
    case Severity::Error: return QStringLiteral("Error");
    }
    return {};
}

QString kind(Kind kind)
{
    QString name = toQt(nameOf(kind));
    name.replace(QLatin1Char('_'), QLatin1Char(' '));
    if (!name.isEmpty())
        name[0] = name[0].toUpper();
    return name;
}

} // namespace prosector::format
