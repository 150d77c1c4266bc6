// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/panelheader.h"

#include "widgets/icons.h"
#include "widgets/theme.h"

#include <QHBoxLayout>
#include <QHelpEvent>
#include <QPainter>
#include <QToolButton>
#include <QToolTip>

namespace prosector {

PanelHeader::PanelHeader(QWidget *parent) : QWidget(parent), m_tools(new QWidget(this))
{
    auto *const layout = new QHBoxLayout(m_tools);
    layout->setContentsMargins(0, 0, Theme::grid, 0);
    layout->setSpacing(2);
    m_link = addButton(QStringLiteral("link"), tr("Follow the selection of other panes"));
    m_link->setCheckable(true);
    m_link->setChecked(true);
    m_find = addButton(QStringLiteral("find"), tr("Find in this pane (Ctrl+F)"));
    m_menu = addButton(QStringLiteral("menu"), tr("Copy and export (Ctrl+E)"));
    m_close = addButton(QStringLiteral("close"), tr("Close this pane (Ctrl+W)"));
    m_find->hide();
    auto *const menu = new QMenu(m_menu);
    m_menu->setMenu(menu);
    m_menu->setPopupMode(QToolButton::InstantPopup);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        emit menuAboutToShow(menu);
    });
    connect(m_link, &QToolButton::toggled, this, &PanelHeader::linkedChanged);
    connect(m_find, &QToolButton::clicked, this, &PanelHeader::findRequested);
    connect(m_close, &QToolButton::clicked, this, &PanelHeader::closeRequested);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        arrange();
        update();
    });
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QToolButton *PanelHeader::addButton(const QString &icon, const QString &name)
{
    auto *const button = new QToolButton(m_tools);
    button->setIcon(themedIcon(icon));
    button->setIconSize(QSize(14, 14));
    button->setToolTip(name);
    button->setAccessibleName(name);
    button->setAutoRaise(true);
    m_tools->layout()->addWidget(button);
    return button;
}

void PanelHeader::openMenu() { m_menu->showMenu(); }

void PanelHeader::addTool(QToolButton *button)
{
    button->setParent(m_tools);
    button->setAutoRaise(true);
    static_cast<QHBoxLayout *>(m_tools->layout())->insertWidget(m_tools->layout()->indexOf(m_link), button);
    arrange();
}

void PanelHeader::setName(const QString &name)
{
    m_name = name;
    setAccessibleName(name);
    update();
}

void PanelHeader::setOrigin(const QString &origin)
{
    m_origin = origin;
    update();
}

void PanelHeader::setChip(std::optional<Side> side)
{
    m_chip = side;
    update();
}

void PanelHeader::setCanFind(bool can)
{
    m_find->setVisible(can);
    arrange();
}

void PanelHeader::setClosable(bool closable)
{
    m_close->setVisible(closable);
    arrange();
}

void PanelHeader::setLinkVisible(bool visible)
{
    m_link->setVisible(visible);
    arrange();
}

bool PanelHeader::isLinked() const { return m_link->isChecked(); }

QSize PanelHeader::sizeHint() const
{
    return {200, Theme::rowHeight(fontMetrics()) + Theme::grid};
}

QSize PanelHeader::minimumSizeHint() const { return {m_tools->sizeHint().width() + 48, sizeHint().height()}; }

void PanelHeader::arrange()
{
    m_tools->adjustSize();
    m_tools->setGeometry(width() - m_tools->sizeHint().width(), 0, m_tools->sizeHint().width(), height());
}

void PanelHeader::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    arrange();
}

QRect PanelHeader::nameRect() const
{
    return rect().adjusted(2 * Theme::grid, 0, -m_tools->width() - Theme::grid, 0);
}

void PanelHeader::paintEvent(QPaintEvent *)
{
    const Theme &theme = Theme::instance();
    QPainter painter(this);
    painter.fillRect(rect(), theme.color(Token::Header));
    QRect rest = nameRect();
    QFont bold = font();
    bold.setWeight(QFont::DemiBold);
    painter.setFont(bold);
    painter.setPen(theme.color(Token::Text));
    const QFontMetrics boldMetrics(bold);
    const QString name = boldMetrics.elidedText(m_name, Qt::ElideRight, rest.width());
    painter.drawText(rest, Qt::AlignVCenter | Qt::AlignLeft, name);
    rest.setLeft(rest.left() + boldMetrics.horizontalAdvance(name) + 2 * Theme::grid);
    if (m_chip) {
        const QString letter = *m_chip == Side::A ? QStringLiteral("A") : QStringLiteral("B");
        const int side = boldMetrics.height();
        const QRect chip(rest.left(), (height() - side) / 2, side, side);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setBrush(theme.color(*m_chip == Side::A ? Token::RunA : Token::RunB));
        painter.setPen(Qt::NoPen);
        painter.drawRoundedRect(chip, 3, 3);
        painter.setPen(theme.color(Token::HighlightText));
        painter.drawText(chip, Qt::AlignCenter, letter);
        rest.setLeft(chip.right() + 2 * Theme::grid);
    }
    if (!m_origin.isEmpty() && rest.width() > 24) {
        painter.setFont(font());
        painter.setPen(theme.color(Token::Dim));
        painter.drawText(rest, Qt::AlignVCenter | Qt::AlignLeft,
                         fontMetrics().elidedText(m_origin, Qt::ElideMiddle, rest.width()));
    }
}

bool PanelHeader::event(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto *const help = static_cast<QHelpEvent *>(event);
        if (nameRect().contains(help->pos())) {
            QToolTip::showText(help->globalPos(), m_origin.isEmpty() ? m_name : m_name + QLatin1Char('\n') + m_origin, this);
            return true;
        }
    }
    return QWidget::event(event);
}

} // namespace prosector
