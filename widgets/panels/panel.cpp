// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/panel.h"

#include "models/session/session.h"
#include "models/session/text.h"
#include "widgets/panels/exporting.h"
#include "widgets/panels/findbar.h"
#include "widgets/panels/findingline.h"
#include "widgets/panels/panelheader.h"
#include "widgets/progressline.h"

#include <QFileInfo>
#include <QVBoxLayout>

namespace prosector {

Panel::Panel(Session *session, const QString &id, const QString &name, QWidget *parent)
    : QWidget(parent), m_session(session), m_id(id), m_header(new PanelHeader(this)), m_line(new FindingLine(this)),
      m_findBar(new FindBar(this)), m_layout(new QVBoxLayout(this))
{
    setObjectName(id);
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(0);
    m_layout->addWidget(m_header);
    m_layout->addWidget(m_line);
    m_layout->addWidget(m_findBar);
    m_line->hide();
    m_findBar->hide();
    setName(name);

    connect(session->hub(), &SelectionHub::selectionChanged, this, &Panel::onSelection);
    connect(session, &Session::findingsChanged, this, &Panel::updateFindingLine);
    connect(m_line, &FindingLine::chosen, this, [this](FindingRef ref) {
        // Without an origin: this pane too shows what its own line names.
        m_session->hub()->select(placesOf(m_session->finding(ref)), nullptr);
    });
    connect(m_header, &PanelHeader::findRequested, this, &Panel::startFind);
    connect(m_header, &PanelHeader::closeRequested, this, &Panel::closeRequested);
    connect(m_header, &PanelHeader::menuAboutToShow, this, [this](QMenu *menu) { fillExportMenu(menu, this); });
    connect(m_findBar, &FindBar::findRequested, this, [this](const QString &text, bool forward) {
        if (text.isEmpty())
            showFindResult({});
        else
            findText(text, forward);
    });
}

Panel::~Panel() = default;

QString Panel::name() const { return m_header->name(); }
bool Panel::isLinked() const { return m_header->isLinked(); }

void Panel::setName(const QString &name)
{
    m_header->setName(name);
    setAccessibleName(name);
    setWindowTitle(name);
    emit nameChanged();
}

void Panel::setOrigin(const QString &origin) { m_header->setOrigin(origin); }

void Panel::setContent(QWidget *content)
{
    m_content = content;
    m_layout->addWidget(content, 1);
    setFocusProxy(content);
    m_header->setCanFind(canFind());
}

std::vector<Panel::NamedTable> Panel::tables() const
{
    QAbstractItemModel *const rows = csvModel();
    return rows ? std::vector<NamedTable>{{name(), rows}} : std::vector<NamedTable>();
}

void Panel::watchJobs(const QStringList &keys)
{
    m_layout->insertWidget(m_layout->indexOf(m_findBar), new ProgressLine(m_session->jobs(), keys));
}

void Panel::setArtifact(Side side, ArtifactId artifact)
{
    m_artifact = {side, artifact};
    const RunPtr run = m_session->run(side);
    if (const Artifact *const shown = run ? run->find(artifact) : nullptr) {
        // Which of several inputs it came from: files of the same name are the rule in this trade.
        const QString input = shown->input < run->inputs().size() ? toQt(run->inputs()[shown->input].path) : QString();
        const QString folder = QFileInfo(input).fileName();
        setOrigin(folder == toQt(shown->path) || folder.isEmpty() ? input : folder + QLatin1Char('/') + toQt(shown->path));
        m_header->setChip(m_session->baseline() ? std::optional(side) : std::nullopt);
    }
    updateFindingLine();
}

void Panel::updateFindingLine()
{
    if (!m_artifact)
        return;
    const auto findings = m_session->findings().touching(m_artifact->first, m_artifact->second);
    std::vector<FindingLine::Entry> entries;
    for (const FindingRef ref : findings) {
        const Finding &finding = m_session->finding(ref);
        if (finding.severity == Severity::Ok)
            continue;
        entries.push_back({ref, finding.severity, toQt(finding.title), toQt(m_session->state(ref.instrument).instrument->id)});
    }
    m_line->setEntries(std::move(entries));
}

void Panel::startFind()
{
    if (canFind())
        m_findBar->open();
}

void Panel::showFindResult(const QString &text) { m_findBar->setResult(text); }

void Panel::publish(const Selection &selection)
{
    if (isLinked())
        m_session->hub()->select(selection, this);
}

void Panel::show(const Selection &selection)
{
    if (isVisible() && !m_dirty)
        reveal(selection);
    else
        m_pending = selection;
}

void Panel::onSelection(const Selection &selection, const QObject *origin)
{
    if (origin != this && isLinked())
        show(selection);
}

void Panel::scheduleRefresh()
{
    m_dirty = true;
    if (!isVisible())
        return;
    m_dirty = false;
    refresh();
}

void Panel::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (m_dirty) {
        m_dirty = false;
        refresh();
    }
    if (m_pending) {
        const Selection selection = *std::exchange(m_pending, std::nullopt);
        reveal(selection);
    }
}

} // namespace prosector
