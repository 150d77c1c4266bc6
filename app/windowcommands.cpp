// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/mainwindow.h"

#include "models/item/format.h"
#include "widgets/commandpalette.h"
#include "widgets/hovercard.h"
#include "widgets/icons.h"
#include "widgets/panearea.h"
#include "widgets/panels/findingspanel.h"
#include "widgets/panels/panelheader.h"
#include "widgets/panels/sourcepane.h"
#include "widgets/theme.h"

#include <QActionGroup>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QLabel>
#include <QMenuBar>
#include <QVBoxLayout>

namespace prosector {

QAction *MainWindow::addCommand(QMenu *menu, const QString &text, const QKeySequence &keys, const std::function<void()> &act)
{
    QAction *const action = menu->addAction(text);
    if (!keys.isEmpty())
        action->setShortcut(keys);
    connect(action, &QAction::triggered, this, act);
    m_commands.append(action);
    return action;
}

void MainWindow::makeMenus()
{
    QMenu *const file = menuBar()->addMenu(tr("&File"));
    addCommand(file, tr("Open &files…"), QKeySequence(tr("Ctrl+O")), [this] { chooseFiles(false); });
    addCommand(file, tr("Open f&older…"), QKeySequence(tr("Ctrl+Shift+O")), [this] { chooseFolder(); });
    m_recentMenu = file->addMenu(tr("Open &recent"));
    fillRecentMenu();
    addCommand(file, tr("Open &baseline…"), {}, [this] { chooseFiles(true); });
    addCommand(file, tr("Close base&line"), {}, [this] { m_session.closeBaseline(); });
    addCommand(file, tr("&Reload"), QKeySequence(Qt::Key_F5), [this] { m_session.reload(); });
    addCommand(file, tr("&Close what is open"), {}, [this] { m_session.close(); });
    file->addSeparator();
    addCommand(file, tr("&Save session…"), QKeySequence(tr("Ctrl+S")), [this] { saveSession(); });
    addCommand(file, tr("Open sess&ion…"), {}, [this] {
        auto *const dialog = new QFileDialog(this, tr("Open session"), QString(), tr("Prosector sessions (*.prosector)"));
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setFileMode(QFileDialog::ExistingFile);
        connect(dialog, &QFileDialog::fileSelected, &m_session, &Session::restore);
        dialog->show();
    });
    file->addSeparator();
    addCommand(file, tr("&Quit"), QKeySequence(tr("Ctrl+Q")), [this] { close(); });

    QMenu *const edit = menuBar()->addMenu(tr("&Edit"));
    addCommand(edit, tr("&Find in pane"), QKeySequence(tr("Ctrl+F")), [this] {
        Panel *panel = currentPanel();
        if (panel && !panel->canFind())
            panel = m_panes->current();
        if (panel)
            panel->startFind();
    });
    addCommand(edit, tr("&Go to line, index or offset…"), QKeySequence(tr("Ctrl+G")), [this] { goTo(); });
    addCommand(edit, tr("&Bookmark selection…"), QKeySequence(tr("Ctrl+B")), [this] { addBookmark(); });

    addCommand(edit, tr("&Acknowledge finding…"), QKeySequence(tr("Ctrl+Shift+A")), [this] {
        if (const FindingRef ref = m_findings->current(); ref.valid())
            acknowledge(ref);
        else
            complain(tr("No finding is selected that could be acknowledged."));
    });
    addCommand(edit, tr("&Copy and export…"), QKeySequence(tr("Ctrl+E")), [this] {
        if (Panel *const panel = currentPanel())
            panel->header()->openMenu();
    });

    QMenu *const go = menuBar()->addMenu(tr("&Go"));
    addCommand(go, tr("&Anything…"), QKeySequence(tr("Ctrl+K")), [this] { openPalette(); });
    addCommand(go, tr("&Next finding"), QKeySequence(Qt::Key_F8), [this] { m_findings->step(1); });
    addCommand(go, tr("&Previous finding"), QKeySequence(tr("Shift+F8")), [this] { m_findings->step(-1); });
    addCommand(go, tr("&Back"), QKeySequence(tr("Alt+Left")), [this] { m_session.hub()->back(); });
    addCommand(go, tr("&Forward"), QKeySequence(tr("Alt+Right")), [this] { m_session.hub()->forward(); });
    addCommand(go, tr("&Card of the selection"), QKeySequence(tr("Ctrl+I")), [this] { m_cards->pinSelection(); });
    for (const auto &[text, id] : {std::pair(tr("Evidence"), "evidence"), std::pair(tr("Instruments"), "instruments"),
                                   std::pair(tr("Findings"), "findings"), std::pair(tr("Bookmarks"), "bookmarks"), std::pair(tr("Inspector"), "inspector"), std::pair(tr("Overview"), "welcome"),
                                   std::pair(tr("Configuration"), "configuration"), std::pair(tr("Tensors"), "tensors"),
                                   std::pair(tr("Log"), "log"), std::pair(tr("Tokens"), "tokens")}) {
        addCommand(go, tr("Go to %1").arg(text), {}, [this, name = QString::fromLatin1(id)] {
            if (Panel *const panel = openPanel(name))
                panel->setFocus();
        });
    }

    QMenu *const view = menuBar()->addMenu(tr("&View"));
    auto *const themes = new QActionGroup(this);
    for (const Theme::Mode mode : {Theme::Mode::System, Theme::Mode::Light, Theme::Mode::Dark}) {
        const QString text = mode == Theme::Mode::System ? tr("Colours of the &system") : mode == Theme::Mode::Light ? tr("&Light") : tr("&Dark");
        QAction *const action = addCommand(view, text, {}, [this, mode] {
            Theme::instance().setMode(mode);
            m_settings->setValue(QStringLiteral("theme"), Theme::nameOf(mode));
        });
        action->setCheckable(true);
        action->setChecked(Theme::instance().mode() == mode);
        themes->addAction(action);
    }
    view->addSeparator();
    const auto scale = [this](double by) {
        Theme::instance().setFontScale(by == 0 ? 1.0 : Theme::instance().fontScale() * by);
        m_settings->setValue(QStringLiteral("fontScale"), Theme::instance().fontScale());
    };
    addCommand(view, tr("L&arger text"), QKeySequence(tr("Ctrl++")), [scale] { scale(1.1); });
    addCommand(view, tr("S&maller text"), QKeySequence(tr("Ctrl+-")), [scale] { scale(1 / 1.1); });
    addCommand(view, tr("&Usual text size"), QKeySequence(tr("Ctrl+0")), [scale] { scale(0); });
    view->addSeparator();
    addCommand(view, tr("&Close pane"), QKeySequence(tr("Ctrl+W")), [this] {
        if (Panel *const panel = m_panes->current(); panel && panel->id() != QLatin1String("welcome"))
            m_panes->closePane(panel->id());
    });
    addCommand(view, tr("S&plit: present pane beside the others"), {}, [this] { m_panes->splitCurrent(); });
    addCommand(view, tr("&Reset layout"), {}, [this] { resetLayout(); });

    QMenu *const help = menuBar()->addMenu(tr("&Help"));
    addCommand(help, tr("&Keys"), QKeySequence(Qt::Key_Question), [this] { showKeys(); });
}

void MainWindow::fillRecentMenu()
{
    m_recentMenu->clear();
    for (const RecentList::Entry &entry : m_recent.entries()) {
        QStringList names;
        for (const QString &path : entry.paths)
            names.append(path);
        m_recentMenu->addAction(names.join(QStringLiteral(", ")), this, [this, paths = entry.paths] { open(paths); });
    }
    m_recentMenu->setEnabled(!m_recent.entries().isEmpty());
}

void MainWindow::chooseFolder()
{
    auto *const dialog = new QFileDialog(this, tr("Open folder"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    connect(dialog, &QFileDialog::filesSelected, this, &MainWindow::open);
    dialog->show();
}

void MainWindow::chooseFiles(bool baseline)
{
    auto *const dialog = new QFileDialog(this, baseline ? tr("Open baseline") : tr("Open files"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(baseline ? QFileDialog::Directory : QFileDialog::ExistingFiles);
    if (baseline)
        connect(dialog, &QFileDialog::filesSelected, &m_session, &Session::openBaseline);
    else
        connect(dialog, &QFileDialog::filesSelected, this, &MainWindow::open);
    dialog->show();
}

void MainWindow::openPalette()
{
    std::vector<CommandPalette::Entry> entries;
    for (int i = 0; i < m_session.instrumentCount(); ++i) {
        const auto &state = m_session.state(i);
        const QString id = toQt(state.instrument->id);
        const QIcon icon = state.outcome && state.outcome->report ? severityIcon(state.outcome->report->worst()) : QIcon();
        entries.push_back({id + QLatin1Char(' ') + toQt(state.instrument->name), tr("instrument"), icon, [this, id] { openPanel(id); },
                           toQt(state.instrument->question)});
    }
    for (const FindingRef ref : m_session.findings().all()) {
        const Finding &finding = m_session.finding(ref);
        // By its key: instruments may run again while the palette is open.
        entries.push_back({toQt(finding.title), tr("finding"), severityIcon(finding.severity), [this, key = m_session.keyOf(ref)] {
                               if (const FindingRef now = m_session.findingWithKey(key); now.valid())
                                   showFinding(now);
                           }});
    }
    if (const RunPtr run = m_session.run()) {
        for (const Artifact &artifact : run->artifacts()) {
            const QString id = SourcePane::idFor(Side::A, toQt(artifact.name));
            entries.push_back({toQt(artifact.name), format::kind(artifact.kind), themedIcon(QStringLiteral("file")), [this, id] { openPanel(id); }});
        }
    }
    for (QAction *const action : m_commands) {
        QString text = action->text();
        entries.push_back({text.remove(QLatin1Char('&')), action->shortcut().toString(QKeySequence::NativeText), action->icon(),
                           [action] { action->trigger(); }});
    }
    m_palette->open(std::move(entries));
}

void MainWindow::goTo()
{
    Panel *panel = currentPanel();
    if (panel && panel->goToHint().isEmpty())
        panel = m_panes->current();
    if (panel == nullptr || panel->goToHint().isEmpty())
        return complain(tr("There is nothing to go to in this pane: open a file first."));
    auto *const dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Go to"));
    dialog->setLabelText(panel->goToHint());
    connect(dialog, &QInputDialog::textValueSelected, panel, &Panel::goTo);
    dialog->show();
}

void MainWindow::addBookmark()
{
    const Selection selection = m_session.hub()->selection();
    if (selection.empty())
        return complain(tr("Nothing is selected that could be bookmarked."));
    auto *const dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Bookmark"));
    dialog->setLabelText(tr("Note for %1").arg(format::place(selection[0], m_session.run(selection[0].side).get())));
    connect(dialog, &QInputDialog::textValueSelected, m_session.hub(),
            [hub = m_session.hub(), selection](const QString &note) { hub->bookmark(selection, note); });
    dialog->show();
}

void MainWindow::acknowledge(FindingRef ref)
{
    auto *const dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Acknowledge finding"));
    dialog->setLabelText(tr("%1\n\nWhy it is left standing (kept in the saved session):").arg(toQt(m_session.finding(ref).title)));
    dialog->setTextValue(m_session.acknowledgement(ref));
    // The finding is named by its key: instruments may run again while the dialog is open.
    connect(dialog, &QInputDialog::textValueSelected, this, [this, key = m_session.keyOf(ref)](const QString &reason) {
        if (const FindingRef now = m_session.findingWithKey(key); now.valid())
            m_session.acknowledge(now, reason);
    });
    dialog->show();
}

void MainWindow::saveSession()
{
    auto *const dialog = new QFileDialog(this, tr("Save session"), m_sessionFile, tr("Prosector sessions (*.prosector)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("prosector"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &file) {
        m_sessionFile = file;
        m_session.save(file, workState());
    });
    dialog->show();
}

void MainWindow::showKeys()
{
    auto *const dialog = new QDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Keys"));
    QString html = QStringLiteral("<table>");
    const auto row = [&html](const QString &keys, const QString &text) {
        html += QStringLiteral("<tr><td style=\"padding: 2px 24px 2px 0\"><b>%1</b></td><td style=\"padding: 2px 0\">%2</td></tr>").arg(keys.toHtmlEscaped(), text.toHtmlEscaped());
    };
    for (const QAction *const action : m_commands) {
        if (!action->shortcut().isEmpty())
            row(action->shortcut().toString(QKeySequence::NativeText), QString(action->text()).remove(QLatin1Char('&')));
    }
    row(tr("Enter"), tr("Show the finding, file or instrument of the row"));
    row(tr("Ctrl+C, Ctrl+Shift+C"), tr("Copy the selected rows, the present cell"));
    row(tr("Menu key"), tr("What can be done with the row"));
    row(tr("Insert, Delete"), tr("In findings: acknowledge, withdraw"));
    row(tr("F2, Delete"), tr("In bookmarks: edit the note, remove"));
    row(tr("Ctrl while dropping"), tr("Add to what is open"));
    auto *const label = new QLabel(html + QStringLiteral("</table>"));
    label->setTextInteractionFlags(Qt::TextBrowserInteraction);
    auto *const buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::close);
    auto *const layout = new QVBoxLayout(dialog);
    layout->addWidget(label);
    layout->addWidget(buttons);
    dialog->show();
}

} // namespace prosector
