// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/welcomepane.h"

#include "models/core/resources.h"
#include "models/item/format.h"
#include "models/session/recentlist.h"
#include "models/session/session.h"
#include "widgets/icons.h"
#include "widgets/panels/findingtext.h"
#include "widgets/panels/panelheader.h"
#include "widgets/views/richview.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFileInfo>
#include <QLocale>

#include <set>

namespace prosector {

namespace {

constexpr int listed = 12;

QString iconText(Severity severity, const QString &html)
{
    return QStringLiteral("<p><img src=\"icon:%1\"> %2</p>").arg(severityIconName(severity), html);
}

} // namespace

WelcomePane::WelcomePane(Session *session, const RecentList *recent, QWidget *parent)
    : Panel(session, QStringLiteral("welcome"), tr("Welcome"), parent), m_recent(recent), m_view(new RichView)
{
    m_view->document()->setDocumentMargin(24);
    setContent(m_view);
    header()->setLinkVisible(false);
    header()->setClosable(false);
    m_view->setAccessibleName(tr("Welcome and overview"));
    connect(m_view, &RichView::anchorClicked, this, &WelcomePane::follow);
    connect(recent, &RecentList::changed, this, &WelcomePane::scheduleRefresh);
    for (const auto signal : {&Session::runChanged, &Session::examinationFinished, &Session::openingChanged})
        connect(session, signal, this, &WelcomePane::scheduleRefresh);
    findExamples();
}

void WelcomePane::findExamples()
{
    session()->jobs()->start(
        QStringLiteral("welcome.examples"), tr("Looking for examples"), this,
        [](const Job &) -> Result<std::vector<Example>> {
            std::vector<Example> examples;
            const QDir folder(toQt(resourceFolder()) + QStringLiteral("/examples"));
            for (const QFileInfo &entry : folder.entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name)) {
                Example example{entry.filePath(), entry.fileName(), {}};
                QFile about(entry.filePath() + QStringLiteral("/README.md"));
                if (about.open(QIODevice::ReadOnly)) {
                    const QStringList lines = QString::fromUtf8(about.read(4096)).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
                    for (const QString &line : lines) {
                        if (!line.startsWith(QLatin1Char('#')) && !line.startsWith(QLatin1Char('-')) && !line.startsWith(QLatin1Char('<'))) {
                            example.about = line.trimmed();
                            break;
                        }
                    }
                }
                examples.push_back(std::move(example));
            }
            return examples;
        },
        [this](const Result<std::vector<Example>> &examples) {
            if (examples)
                m_examples = *examples;
            scheduleRefresh();
        });
}

void WelcomePane::refresh()
{
    const bool open = session()->run() != nullptr;
    setName(open ? tr("Overview") : tr("Welcome"));
    setOrigin(open ? toQt(session()->run()->name()) : QString());
    m_view->setBody(open ? digestHtml() : welcomeHtml());
}

QString WelcomePane::welcomeHtml() const
{
    QString html = QStringLiteral("<h1>%1</h1><p>%2</p><p>%3 &nbsp;·&nbsp; %4</p>")
                       .arg(tr("Open what produced the wrong answer"),
                            tr("A model folder, a GGUF file, start-up logs, requests and responses: together or one by one. "
                               "Drop them on this window, or choose them."),
                            RichView::link(QStringLiteral("open:folder"), tr("Open folder… (Ctrl+Shift+O)")),
                            RichView::link(QStringLiteral("open:files"), tr("Open files… (Ctrl+O)")));
    html += QStringLiteral("<h2>%1</h2>").arg(tr("Recent"));
    if (m_recent->entries().isEmpty())
        html += QStringLiteral("<p class=\"dim\">%1</p>").arg(tr("Nothing yet."));
    for (qsizetype i = 0; i < m_recent->entries().size(); ++i) {
        const auto &entry = m_recent->entries()[i];
        QStringList names;
        for (const QString &path : entry.paths)
            names.append(QFileInfo(path).fileName());
        html += QStringLiteral("<p>%1 <span class=\"dim\">%2</span></p>")
                    .arg(RichView::link(QStringLiteral("recent:%1").arg(i), names.join(QStringLiteral(", "))),
                         RichView::escaped(QFileInfo(entry.paths.value(0)).path()));
    }
    html += QStringLiteral("<h2>%1</h2>").arg(tr("Examples"));
    if (m_examples.empty())
        html += QStringLiteral("<p class=\"dim\">%1</p>").arg(tr("None are installed."));
    for (std::size_t i = 0; i < m_examples.size(); ++i) {
        html += QStringLiteral("<p>%1 <span class=\"dim\">%2</span></p>")
                    .arg(RichView::link(QStringLiteral("example:%1").arg(i), m_examples[i].title), RichView::escaped(m_examples[i].about));
    }
    return html + QStringLiteral("<p class=\"dim\">%1</p>").arg(tr("Ctrl+K finds any command, instrument or file. ? lists the keys."));
}

QString WelcomePane::digestHtml() const
{
    const Run &run = *session()->run();
    QString html = QStringLiteral("<h1>%1</h1>").arg(RichView::escaped(toQt(run.name())));
    for (const Input &input : run.inputs())
        html += QStringLiteral("<p class=\"dim\">%1</p>").arg(RichView::escaped(toQt(input.path)));
    const auto all = session()->findings().all();
    std::vector<QString> passed, undecidable;
    std::set<std::string> missing;
    for (int i = 0; i < session()->instrumentCount(); ++i) {
        const auto &state = session()->state(i);
        if (!state.outcome)
            continue;
        const QString link = RichView::link(QStringLiteral("instrument:") + toQt(state.instrument->id),
                                            toQt(state.instrument->id) + QChar(0xA0) + toQt(state.instrument->name).replace(QLatin1Char(' '), QChar(0xA0)));
        if (!state.outcome->report) {
            html += iconText(Severity::Undecidable, link + QLatin1Char(' ') + RichView::escaped(toQt(describe(state.outcome->report.error()))));
        } else if (state.outcome->standing() == Outcome::Standing::Undecidable) {
            undecidable.push_back(link);
            missing.insert(state.outcome->report->missing.begin(), state.outcome->report->missing.end());
        } else if (state.outcome->passed()) {
            passed.push_back(link);
        }
    }
    if (session()->isExamining())
        html += QStringLiteral("<p>%1</p>").arg(tr("The instruments are running."));
    if (!all.empty()) {
        html += QStringLiteral("<h2>%1</h2>").arg(tr("What was found, worst first"));
        for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), listed); ++i) {
            const Finding &finding = session()->finding(all[i]);
            html += iconText(finding.severity,
                             RichView::link(QStringLiteral("finding:%1").arg(i), toQt(finding.title))
                                 + QStringLiteral(" <span class=\"dim\">%1</span>").arg(toQt(session()->state(all[i].instrument).instrument->id)));
        }
        if (all.size() > listed)
            html += QStringLiteral("<p class=\"dim\">%1</p>").arg(tr("%1 more in the list below.").arg(all.size() - listed));
    } else if (!session()->isExamining()) {
        html += iconText(passed.empty() ? Severity::Undecidable : Severity::Ok,
                         passed.empty() ? tr("No instrument found the inputs it needs.") : tr("No instrument found anything."));
    }
    const auto list = [&html](const QString &title, const std::vector<QString> &links, Severity severity, const QString &more) {
        if (links.empty())
            return;
        QStringList texts(links.begin(), links.end());
        html += QStringLiteral("<h2>%1</h2>").arg(title) + iconText(severity, texts.join(QStringLiteral(", "))) + more;
    };
    list(tr("Looked and found nothing wrong"), passed, Severity::Ok, {});
    QStringList names;
    for (const std::string &name : missing)
        names.append(toQt(name).replace(QLatin1Char('_'), QLatin1Char(' ')));
    list(tr("Could not be judged"), undecidable, Severity::Undecidable,
         QStringLiteral("<p class=\"dim\">%1</p>").arg(tr("Not among what is open: %1.").arg(RichView::escaped(names.join(QStringLiteral(", "))))));
    if (!run.unreadable().empty()) {
        html += QStringLiteral("<h2>%1</h2>").arg(tr("Could not be read"));
        for (std::size_t i = 0; i < std::min<std::size_t>(run.unreadable().size(), listed); ++i) {
            html += iconText(Severity::Warning, RichView::escaped(toQt(run.unreadable()[i].path) + QStringLiteral(": ")
                                                                  + toQt(describe(run.unreadable()[i].error))));
        }
    }
    return html;
}

void WelcomePane::follow(const QUrl &url)
{
    const QString what = url.path();
    const auto number = what.toULongLong();
    if (url.scheme() == QLatin1String("open")) {
        what == QLatin1String("folder") ? emit openFolderRequested() : emit openFilesRequested();
    } else if (url.scheme() == QLatin1String("recent") && number < static_cast<qulonglong>(m_recent->entries().size())) {
        emit openRequested(m_recent->entries()[static_cast<qsizetype>(number)].paths);
    } else if (url.scheme() == QLatin1String("example") && number < m_examples.size()) {
        emit openRequested({m_examples[number].path});
    } else if (url.scheme() == QLatin1String("finding") && number < session()->findings().all().size()) {
        emit findingActivated(session()->findings().all()[number]);
    } else if (url.scheme() == QLatin1String("instrument")) {
        emit instrumentRequested(what);
    }
}

void WelcomePane::copy() { QApplication::clipboard()->setText(m_view->toPlainText()); }

} // namespace prosector
