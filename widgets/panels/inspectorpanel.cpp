// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/inspectorpanel.h"

#include "models/item/format.h"
#include "models/item/reporttablemodel.h"
#include "models/session/inspecting.h"
#include "models/session/session.h"
#include "widgets/panels/facttext.h"
#include "widgets/panels/findingtext.h"
#include "widgets/panels/panelheader.h"
#include "widgets/views/richview.h"

#include <QApplication>
#include <QClipboard>

namespace prosector {

InspectorPanel::InspectorPanel(Session *session, QWidget *parent)
    : Panel(session, QStringLiteral("inspector"), tr("Inspector"), parent), m_view(new RichView), m_table(new ReportTableModel(this))
{
    setContent(m_view);
    m_view->setAccessibleName(tr("Details of the selection"));
    header()->setClosable(false);
    connect(m_view, &RichView::anchorClicked, this, &InspectorPanel::follow);
    connect(session, &Session::findingsChanged, this, &InspectorPanel::scheduleRefresh);
    connect(session, &Session::acknowledgementsChanged, this, &InspectorPanel::scheduleRefresh);
    connect(session, &Session::runChanged, this, [this] {
        m_selection = this->session()->hub()->selection();
        scheduleRefresh();
    });
}

void InspectorPanel::follow(const QUrl &url)
{
    const FindingLink link = FindingLink::parse(url);
    if (const Fact *const fact = factOf(url, m_facts)) {
        if (!fact->places.empty())
            emit placeActivated(fact->places[0]);
    } else if (link.type == FindingLink::Type::Acknowledge) {
        emit acknowledgeRequested(link.ref);
    } else if (link.type == FindingLink::Type::Withdraw) {
        session()->withdraw(link.ref);
    } else if (link.type == FindingLink::Type::Instrument) {
        emit instrumentRequested(link.instrument);
    } else if (link.type == FindingLink::Type::Evidence) {
        const Finding &finding = session()->finding(link.ref);
        if (link.evidence < finding.evidence.size())
            emit placeActivated(placeOf(finding.evidence[link.evidence]));
    }
}

FindingRef InspectorPanel::findingOf(const Selection &selection) const
{
    if (selection.empty())
        return {};
    FindingRef part;
    for (const FindingRef ref : session()->findings().touching(selection[0].side, selection[0].artifact)) {
        const Selection places = placesOf(session()->finding(ref));
        if (places == selection)
            return ref;
        if (!part.valid() && std::find(places.begin(), places.end(), selection[0]) != places.end())
            part = ref;
    }
    return part;
}

void InspectorPanel::reveal(const Selection &selection)
{
    m_selection = selection;
    lookUp();
}

void InspectorPanel::refresh() { lookUp(); }

void InspectorPanel::lookUp()
{
    m_looking = true;
    startInspecting(*session(), QStringLiteral("inspector"), m_selection, this, [this](std::vector<Fact> facts) {
        m_looking = false;
        m_facts = std::move(facts);
        m_table->setTable(factsTable(m_facts));
        compose();
        emit settled();
    });
}

void InspectorPanel::compose()
{
    if (m_selection.empty()) {
        setOrigin({});
        m_view->setBody(QStringLiteral("<p class=\"dim\">%1</p>")
                            .arg(RichView::escaped(session()->run() ? tr("Select a finding, a file or a value: what it is and where it stands is shown here.")
                                                                    : tr("Nothing is selected."))));
        return;
    }
    QString html;
    if (const FindingRef ref = findingOf(m_selection); ref.valid()) {
        html += findingHtml(*session(), ref, true, true);
        const std::string_view id = session()->state(ref.instrument).instrument->id;
        html += QStringLiteral("<p>%1</p>%2<hr>")
                    .arg(RichView::link(QStringLiteral("instrument:") + toQt(id),
                                        tr("Found by %1 %2").arg(toQt(id), toQt(session()->state(ref.instrument).instrument->name))),
                         acknowledgementHtml(*session(), ref));
    }
    const Place &place = m_selection[0];
    const Artifact *const artifact = session()->artifact(place);
    if (artifact == nullptr) {
        setOrigin({});
        m_view->setBody(html + QStringLiteral("<p class=\"dim\">%1</p>").arg(tr("This place is not in what is open now.")));
        return;
    }
    setOrigin(toQt(artifact->path));
    const QString title = std::holds_alternative<Whole>(place.where) ? toQt(artifact->name) : toQt(describe(place.where));
    html += QStringLiteral("<h1>%1</h1>").arg(RichView::escaped(title));
    if (session()->baseline())
        html += QStringLiteral("<p class=\"dim\">%1</p>").arg(place.side == Side::A ? tr("Run A") : tr("Run B, the baseline"));
    m_view->setBody(html + factsHtml(m_facts));
}

void InspectorPanel::copy()
{
    const QString selected = m_view->textCursor().selectedText();
    QApplication::clipboard()->setText(selected.isEmpty() ? m_view->toPlainText() : selected);
}

QAbstractItemModel *InspectorPanel::csvModel() const { return m_facts.empty() ? nullptr : m_table; }

} // namespace prosector
