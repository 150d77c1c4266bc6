// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/place.h"
#include "models/session/findingindex.h"

#include <QIcon>
#include <QWidget>

#include <optional>
#include <vector>

class QAbstractItemModel;
class QVBoxLayout;

namespace prosector {

class FindBar;
class FindingLine;
class PanelHeader;
class Session;

/// The frame of every pane: a header line (name, origin, chip, link, find, export), the worst
/// finding's sentence where findings touch the artifact, and the content. Hidden panels put off
/// refreshing until they are shown. No panel knows another: they meet in the session's hub.
class Panel : public QWidget {
    Q_OBJECT
public:
    /// `id` names the panel in layouts, on the command line and in the palette.
    Panel(Session *session, const QString &id, const QString &name, QWidget *parent = nullptr);
    ~Panel() override;

    const QString &id() const { return m_id; }
    QString name() const;
    Session *session() const { return m_session; }
    /// The header may be taken out to serve as a dock's title bar; it stays the panel's.
    PanelHeader *header() const { return m_header; }

    bool isLinked() const;
    /// Shows a selection if it can, as if another pane had made it.
    void show(const Selection &selection);

    // What the window's commands do here.
    virtual bool canFind() const { return false; }
    void startFind();
    virtual QString goToHint() const { return {}; } ///< empty: there is nothing to go to
    virtual void goTo(const QString &where) { Q_UNUSED(where) }
    virtual void copy() {}
    /// Rows to export as CSV; null when there are none.
    virtual QAbstractItemModel *csvModel() const { return nullptr; }
    struct NamedTable {
        QString name;
        QAbstractItemModel *rows;
    };
    /// All tables of a panel that shows several; csvModel() when there is but one.
    virtual std::vector<NamedTable> tables() const;
    /// What is drawn into PNG, SVG and PDF.
    virtual QWidget *picture() const { return m_content; }
    /// Work that must end before the panel shows all it has to show.
    virtual bool isBusy() const { return false; }

signals:
    void nameChanged();
    void closeRequested();
    void instrumentRequested(const QString &id);
    void settled(); ///< isBusy() may have become false

protected:
    void setContent(QWidget *content);
    void setName(const QString &name);
    /// Artifact and origin in the header, and which findings the line below steps through.
    void setArtifact(Side side, ArtifactId artifact);
    void setOrigin(const QString &origin);
    std::optional<std::pair<Side, ArtifactId>> artifactShown() const { return m_artifact; }

    /// Progress and a cancel button below the header while a job of one of these keys runs.
    void watchJobs(const QStringList &keys);
    /// refresh() now if visible, else when it is shown.
    void scheduleRefresh();
    void publish(const Selection &selection);
    /// Result of the last find, shown in the bar: "3 of 17", "not found".
    void showFindResult(const QString &text);

    virtual void refresh() = 0;
    virtual void reveal(const Selection &selection) = 0;
    /// Next occurrence from the present place.
    virtual void findText(const QString &text, bool forward) { Q_UNUSED(text) Q_UNUSED(forward) }

    void showEvent(QShowEvent *event) override;

private:
    void onSelection(const Selection &selection, const QObject *origin);
    void updateFindingLine();

    Session *m_session;
    QString m_id;
    PanelHeader *m_header;
    FindingLine *m_line;
    FindBar *m_findBar;
    QVBoxLayout *m_layout;
    QWidget *m_content = nullptr;
    std::optional<std::pair<Side, ArtifactId>> m_artifact;
    bool m_dirty = true;
    std::optional<Selection> m_pending;
};

} // namespace prosector
