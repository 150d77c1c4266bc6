// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/item/tokenfind.h"
#include "widgets/panels/panel.h"

class QComboBox;
class QLabel;
class QStackedWidget;

namespace prosector {

class TokenView;

/// One token array of those that are open, its ids read by a tokenizer that is open: as wrapped text or one a row.
class TokenPane final : public Panel {
    Q_OBJECT
public:
    explicit TokenPane(Session *session, QWidget *parent = nullptr);
    static QString paneId() { return QStringLiteral("tokens"); }

    bool canFind() const override { return true; }
    QString goToHint() const override;
    void goTo(const QString &where) override;
    void copy() override;
    bool isBusy() const override;
    TokenView *view() const { return m_view; }

protected:
    void refresh() override;
    void reveal(const Selection &selection) override;
    void findText(const QString &text, bool forward) override;

private:
    struct Gathered;
    void take(std::shared_ptr<const Gathered> gathered);
    void openChosen();
    void showMatch(bool forward);
    void publishSelection();
    void updateStatus();
    const TokenArray *firstOf(int group) const;

    TokenView *m_view;
    QComboBox *m_arrays, *m_tokenizers, *m_mode, *m_findBy;
    QLabel *m_status, *m_empty;
    QStackedWidget *m_stack;
    std::shared_ptr<const Gathered> m_gathered;
    std::optional<TokenQuery> m_query;
    TokenMatches m_matches;
    std::optional<TokenRange> m_wanted; ///< to be shown when the array is there
};

} // namespace prosector
