// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"

#include <QMenu>
#include <QWidget>

#include <optional>

class QToolButton;

namespace prosector {

/// The header line of a pane. Name in bold, the origin elided in its middle and whole on hover.
class PanelHeader final : public QWidget {
    Q_OBJECT
public:
    explicit PanelHeader(QWidget *parent = nullptr);

    const QString &name() const { return m_name; }
    void setName(const QString &name);
    void setOrigin(const QString &origin);
    void setChip(std::optional<Side> side);
    void setCanFind(bool can);
    void setClosable(bool closable);
    void setLinkVisible(bool visible);
    bool isLinked() const;
    /// Opens the menu of copies and exports, as its button does.
    void openMenu();
    /// A button of the pane's own, left of the common ones.
    void addTool(QToolButton *button);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void findRequested();
    void closeRequested();
    void menuAboutToShow(QMenu *menu);
    void linkedChanged(bool linked);

protected:
    void paintEvent(QPaintEvent *event) override;
    bool event(QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    QToolButton *addButton(const QString &icon, const QString &name);
    QRect nameRect() const;
    void arrange();

    QString m_name, m_origin;
    std::optional<Side> m_chip;
    QWidget *m_tools;
    QToolButton *m_link, *m_find, *m_menu, *m_close;
};

} // namespace prosector
