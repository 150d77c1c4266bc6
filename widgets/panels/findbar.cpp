// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/findbar.h"

#include "widgets/icons.h"
#include "widgets/theme.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

namespace prosector {

FindBar::FindBar(QWidget *parent) : QWidget(parent), m_text(new QLineEdit(this)), m_result(new QLabel(this))
{
    auto *const layout = new QHBoxLayout(this);
    layout->setContentsMargins(2 * Theme::grid, Theme::grid, Theme::grid, Theme::grid);
    layout->setSpacing(Theme::grid);
    m_text->setPlaceholderText(tr("Find in this pane"));
    m_text->setAccessibleName(tr("Text to find"));
    m_text->setClearButtonEnabled(true);
    m_text->installEventFilter(this);
    layout->addWidget(m_text, 1);
    const auto button = [&](const QString &icon, const QString &name) {
        auto *const b = new QToolButton(this);
        b->setIcon(themedIcon(icon));
        b->setIconSize(QSize(14, 14));
        b->setToolTip(name);
        b->setAccessibleName(name);
        layout->addWidget(b);
        return b;
    };
    connect(button(QStringLiteral("previous"), tr("Previous (Shift+Enter)")), &QToolButton::clicked, this,
            [this] { emit findRequested(m_text->text(), false); });
    connect(button(QStringLiteral("next"), tr("Next (Enter)")), &QToolButton::clicked, this,
            [this] { emit findRequested(m_text->text(), true); });
    layout->addWidget(m_result, 1);
    connect(button(QStringLiteral("close"), tr("Close (Escape)")), &QToolButton::clicked, this, &QWidget::hide);
}

void FindBar::open()
{
    show();
    m_text->setFocus(Qt::ShortcutFocusReason);
    m_text->selectAll();
}

void FindBar::setResult(const QString &text) { m_result->setText(text); }

bool FindBar::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::KeyPress) {
        const auto *const key = static_cast<QKeyEvent *>(event);
        switch (key->key()) {
        case Qt::Key_Return:
        case Qt::Key_Enter: emit findRequested(m_text->text(), !(key->modifiers() & Qt::ShiftModifier)); return true;
        case Qt::Key_Escape:
            hide();
            parentWidget()->setFocus();
            return true;
        default: break;
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace prosector
