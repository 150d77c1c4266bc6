// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel.h"

#include <QUrl>

namespace prosector {

class RecentList;
class RichView;

/// Before something is open: how to open, what was open lately, the examples. After: a digest of
/// what is open, what was found, what could not be read and what could not be judged.
class WelcomePane final : public Panel {
    Q_OBJECT
public:
    WelcomePane(Session *session, const RecentList *recent, QWidget *parent = nullptr);
    void copy() override;

signals:
    void openFolderRequested();
    void openFilesRequested();
    void openRequested(const QStringList &paths);
    void findingActivated(prosector::FindingRef ref);

protected:
    void refresh() override;
    void reveal(const Selection &selection) override { Q_UNUSED(selection) }

private:
    QString welcomeHtml() const;
    QString digestHtml() const;
    void follow(const QUrl &url);
    void findExamples();

    const RecentList *m_recent;
    RichView *m_view;
    struct Example {
        QString path, title, about;
    };
    std::vector<Example> m_examples;
};

} // namespace prosector
