// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/facttext.h"

#include "models/item/format.h"
#include "widgets/icons.h"
#include "widgets/views/richview.h"

#include <QCoreApplication>

namespace prosector {

namespace {

constexpr int bytesShown = 64; ///< the hex view shows the rest

QString tr(const char *text) { return QCoreApplication::translate("FactText", text); }

/// Numbers as everywhere on screen; the offset in both spellings.
QString shownValue(const Fact &fact)
{
    if (fact.label == "Kind")
        return format::kind(kindFromString(fact.value));
    const QString text = toQt(fact.value);
    bool number = false;
    const qulonglong value = text.section(QLatin1Char(' '), 0, 0).toULongLong(&number);
    if (!number || (fact.kind != Fact::Kind::Raw && fact.label != "Size"))
        return text;
    if (fact.label == "Offset")
        return format::grouped(std::uint64_t{value}) + QStringLiteral(" (%1)").arg(format::offset(value));
    if (fact.label == "Size" || fact.label == "Length")
        return format::exactBytes(value);
    return text;
}

bool isCode(const Fact &fact)
{
    return fact.label == "Bytes" || (fact.kind == Fact::Kind::Decoded && (fact.label == "Value" || fact.label.find("ext") != std::string::npos));
}

} // namespace

QString factsHtml(const std::vector<Fact> &facts, int limit)
{
    QString rows[2], links, findings;
    for (std::size_t i = 0; i < facts.size(); ++i) {
        const Fact &fact = facts[i];
        const QString target = QStringLiteral("fact:%1").arg(i);
        if (fact.kind == Fact::Kind::Finding) {
            findings += QStringLiteral("<p><img src=\"icon:%1\"> %2 <span class=\"dim\">%3</span></p>")
                            .arg(severityIconName(fact.severity), RichView::link(target, toQt(fact.value)),
                                 RichView::escaped(toQt(fact.label).section(QLatin1Char(' '), -1)));
            continue;
        }
        if (fact.kind == Fact::Kind::Where && fact.label == "Place")
            continue; // the title says it
        const int most = fact.label == "Bytes" ? std::min(limit, bytesShown * 3) : limit;
        const QString value = isCode(fact) ? format::oneLine(fact.value, most) : shownValue(fact);
        if (fact.kind == Fact::Kind::Link) {
            links += QStringLiteral("<p>%1</p>").arg(RichView::link(target, value));
            continue;
        }
        rows[fact.kind == Fact::Kind::Artifact] +=
            QStringLiteral("<tr><td class=\"key\">%1</td><td%3>%2</td></tr>")
                .arg(RichView::escaped(toQt(fact.label)),
                     fact.places.empty() ? RichView::escaped(value) : RichView::link(target, value),
                     isCode(fact) ? QStringLiteral(" class=\"code\"") : QString());
    }
    QString html = QStringLiteral("<table>%1%2</table>").arg(rows[0], rows[1]);
    if (!links.isEmpty())
        html += QStringLiteral("<h3>%1</h3>%2").arg(tr("Goes with"), links);
    if (!findings.isEmpty())
        html += QStringLiteral("<h3>%1</h3>%2").arg(tr("Findings here"), findings);
    return html;
}

const Fact *factOf(const QUrl &url, const std::vector<Fact> &facts)
{
    bool number = false;
    const auto at = url.scheme() == QLatin1String("fact") ? url.path().toULongLong(&number) : 0;
    return number && at < facts.size() ? &facts[at] : nullptr;
}

Table factsTable(const std::vector<Fact> &facts)
{
    Table table{"Inspector", {"What", "Value"}, {}};
    for (const Fact &fact : facts)
        table.rows.push_back({Cell{fact.label}, Cell{fact.value}});
    return table;
}

} // namespace prosector
