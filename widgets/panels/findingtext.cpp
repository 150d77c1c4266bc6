// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/findingtext.h"

#include "models/item/format.h"
#include "models/session/session.h"
#include "widgets/icons.h"
#include "widgets/views/richview.h"

#include <QCoreApplication>

namespace prosector {

namespace {

QString tr(const char *text) { return QCoreApplication::translate("FindingText", text); }

QString heading(const QString &text) { return QStringLiteral("<h3>%1</h3>").arg(RichView::escaped(text)); }

} // namespace

QString measureText(const std::optional<Measure> &measure)
{
    if (!measure)
        return {};
    QString text = format::measured(*measure);
    if (measure->interval)
        text += QStringLiteral(" [%1, %2]").arg(format::number(measure->interval->first), format::number(measure->interval->second));
    if (measure->p)
        text += QStringLiteral(", p %1").arg(format::number(*measure->p));
    if (measure->n)
        text += QStringLiteral(", n %1").arg(format::grouped(*measure->n));
    return text;
}

QString findingHtml(const Session &session, FindingRef ref, bool withTitle, bool narrow)
{
    const Finding &finding = session.finding(ref);
    QString html;
    if (withTitle) {
        html += QStringLiteral("<h1><img src=\"icon:%1\"> %2</h1>").arg(severityIconName(finding.severity), RichView::escaped(toQt(finding.title)));
    }
    if (const QString measure = measureText(finding.measure); !measure.isEmpty())
        html += QStringLiteral("<p class=\"dim\">%1</p>").arg(RichView::escaped(measure));
    if (!finding.detail.empty())
        html += QStringLiteral("<p>%1</p>").arg(RichView::escaped(toQt(finding.detail)));
    if (!finding.evidence.empty()) {
        html += heading(tr("Evidence")) + (narrow ? QString() : QStringLiteral("<table>"));
        for (std::size_t i = 0; i < finding.evidence.size(); ++i) {
            const Evidence &evidence = finding.evidence[i];
            const Place place = placeOf(evidence);
            const QString target = QStringLiteral("evidence:%1/%2/%3").arg(ref.instrument).arg(ref.finding).arg(i);
            html += (narrow ? QStringLiteral("<p>%1<br>%2</p>") : QStringLiteral("<tr><td>%1</td><td>%2</td></tr>"))
                        .arg(RichView::link(target, format::place(place, session.run(place.side).get())),
                             RichView::escaped(toQt(evidence.note)));
        }
        if (!narrow)
            html += QStringLiteral("</table>");
    }
    if (!finding.falseIf.empty())
        html += heading(tr("False if")) + QStringLiteral("<p>%1</p>").arg(RichView::escaped(toQt(finding.falseIf)));
    if (!finding.innocent.empty())
        html += heading(tr("Rules out")) + QStringLiteral("<p>%1</p>").arg(RichView::escaped(toQt(finding.innocent).join(QStringLiteral(", "))));
    if (!finding.next.empty()) {
        QStringList names;
        for (const std::string &id : finding.next) {
            const Instrument *const instrument = findInstrument(id);
            names.append(instrument ? RichView::link(QStringLiteral("instrument:") + toQt(id),
                                                     toQt(instrument->id) + QLatin1Char(' ') + toQt(instrument->name))
                                    : QStringLiteral("<span class=\"dim\">%1</span>").arg(tr("%1, not in this version").arg(RichView::escaped(toQt(id)))));
        }
        html += heading(tr("Read next")) + QStringLiteral("<p>%1</p>").arg(names.join(QStringLiteral("<br>")));
    }
    return html;
}

QString acknowledgementHtml(const Session &session, FindingRef ref)
{
    const QString at = QStringLiteral("%1/%2").arg(ref.instrument).arg(ref.finding);
    if (!session.isAcknowledged(ref))
        return QStringLiteral("<p>%1</p>").arg(RichView::link(QStringLiteral("acknowledge:") + at, tr("Acknowledge with a reason…")));
    const QString reason = session.acknowledgement(ref);
    return QStringLiteral("<p><b>%1</b>%2<br>%3 &nbsp; %4</p>")
        .arg(tr("Acknowledged"), reason.isEmpty() ? QString() : QStringLiteral(": ") + RichView::escaped(reason),
             RichView::link(QStringLiteral("acknowledge:") + at, tr("Change the reason…")),
             RichView::link(QStringLiteral("withdraw:") + at, tr("Withdraw")));
}

FindingLink FindingLink::parse(const QUrl &url)
{
    FindingLink link;
    if (url.scheme() == QLatin1String("instrument")) {
        link.type = Type::Instrument;
        link.instrument = url.path();
    } else if (url.scheme() == QLatin1String("acknowledge") || url.scheme() == QLatin1String("withdraw")) {
        const QStringList parts = url.path().split(QLatin1Char('/'));
        if (parts.size() == 2) {
            link.type = url.scheme() == QLatin1String("withdraw") ? Type::Withdraw : Type::Acknowledge;
            link.ref = {parts[0].toInt(), parts[1].toInt()};
        }
    } else if (url.scheme() == QLatin1String("evidence")) {
        const QStringList parts = url.path().split(QLatin1Char('/'));
        if (parts.size() == 3) {
            link.type = Type::Evidence;
            link.ref = {parts[0].toInt(), parts[1].toInt()};
            link.evidence = parts[2].toULongLong();
        }
    }
    return link;
}

} // namespace prosector
