// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QIcon>

#include <functional>
#include <vector>

class QLineEdit;
class QListWidget;

namespace prosector {

/// Ctrl+K: type a few letters of a command, an instrument or an artifact, Enter does it.
class CommandPalette final : public QFrame {
    Q_OBJECT
public:
    struct Entry {
        QString text;   ///< "F5 Position-scaling audit"
        QString detail; ///< kind or shortcut, at the right
        QIcon icon;
        std::function<void()> act;
        QString more{}; ///< searched, not shown: an instrument's question
    };

    explicit CommandPalette(QWidget *window);
    void open(std::vector<Entry> entries);

    /// How well the words fit; 0 not at all. Starts of words count more than insides, early more than late.
    static int score(const QString &text, const QString &query);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void filter(const QString &query);
    void accept();

    std::vector<Entry> m_entries;
    QLineEdit *m_query;
    QListWidget *m_list;
};

} // namespace prosector
