// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/hovercard.h"

#include "models/item/format.h"
#include "models/item/roles.h"
#include "models/session/inspecting.h"
#include "models/session/session.h"
#include "widgets/icons.h"
#include "widgets/panels/facttext.h"
#include "widgets/theme.h"
#include "widgets/views/richview.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QCursor>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QScreen>
#include <QScrollBar>
#include <QVBoxLayout>

namespace prosector {

namespace {

constexpr int valueShown = 400; ///< characters of one value: a card is not a pane

} // namespace

HoverCard::HoverCard(Session *session, const Selection &places, const QString &text, bool pinned, QWidget *window)
    : QFrame(window, pinned ? Qt::Tool : Qt::ToolTip), m_session(session), m_places(places), m_text(text), m_view(new RichView),
      m_pinned(pinned)
{
    setAttribute(Qt::WA_DeleteOnClose);
    setAttribute(Qt::WA_ShowWithoutActivating, !pinned);
    setObjectName(QStringLiteral("card"));
    setFrameShape(pinned ? QFrame::NoFrame : QFrame::Box);
    setWindowTitle(format::place(places.front(), session->run(places.front().side).get()));
    setAccessibleName(windowTitle());
    auto *const layout = new QVBoxLayout(this);
    layout->setContentsMargins(1, 1, 1, 1);
    layout->addWidget(m_view);
    m_view->setAccessibleName(tr("What stands at the place"));
    m_view->setVerticalScrollBarPolicy(pinned ? Qt::ScrollBarAsNeeded : Qt::ScrollBarAlwaysOff);
    m_view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    connect(m_view, &RichView::anchorClicked, this, [this](const QUrl &url) {
        if (const Fact *const fact = factOf(url, m_facts); fact && !fact->places.empty())
            emit placeActivated(fact->places[0]);
    });
    startInspecting(*session, pinned ? QStringLiteral("card.pinned") : QStringLiteral("card"), places, this, [this](std::vector<Fact> facts) {
        m_facts = std::move(facts);
        compose();
        if (m_wanted)
            place();
    });
    compose();
}

QString HoverCard::text() const { return m_view->toPlainText(); }

void HoverCard::compose()
{
    QString html = QStringLiteral("<p><b>%1</b></p>").arg(RichView::escaped(windowTitle()));
    if (!m_text.isEmpty() && m_text != windowTitle())
        html += QStringLiteral("<p>%1</p>").arg(RichView::escaped(m_text));
    html += factsHtml(m_facts, valueShown);
    if (!m_pinned)
        html += QStringLiteral("<p class=\"dim\">%1</p>").arg(tr("Ctrl+I pins a card of what is selected"));
    m_view->setBody(html);
}

void HoverCard::showAt(const QPoint &global)
{
    m_at = global;
    m_wanted = true;
    if (!m_facts.empty())
        place();
}

void HoverCard::place()
{
    const int width = 64 * fontMetrics().averageCharWidth();
    m_view->document()->setTextWidth(width - 4);
    const QRect room = screen()->availableGeometry();
    const int height = std::min(static_cast<int>(m_view->document()->size().height()) + 6, room.height() / 2);
    resize(width, height);
    QPoint at = m_at + QPoint(12, 16);
    if (at.x() + width > room.right())
        at.setX(std::max(room.left(), room.right() - width));
    if (at.y() + height > room.bottom())
        at.setY(std::max(room.top(), m_at.y() - height - 8));
    move(at);
    show();
    if (m_pinned)
        m_view->setFocus();
}

void HoverCard::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape)
        close();
    else
        QFrame::keyPressEvent(event);
}

HoverCards::HoverCards(Session *session, QWidget *window) : QObject(window), m_session(session), m_window(window)
{
    qApp->installEventFilter(this);
    connect(session, &Session::runChanged, this, &HoverCards::drop);
}

HoverCard *HoverCards::make(const Selection &places, const QString &text, bool pinned)
{
    auto *const card = new HoverCard(m_session, places, text, pinned, m_window);
    connect(card, &HoverCard::placeActivated, this, &HoverCards::placeActivated);
    return card;
}

void HoverCards::pinSelection()
{
    const Selection &places = m_session->hub()->selection();
    if (places.empty() || m_session->artifact(places.front()) == nullptr)
        return;
    drop();
    make(places, {}, true)->showAt(m_window->mapToGlobal(QPoint(m_window->width() / 3, m_window->height() / 3)));
}

void HoverCards::drop()
{
    if (HoverCard *const card = std::exchange(m_card, nullptr))
        card->close();
}

bool HoverCards::eventFilter(QObject *watched, QEvent *event)
{
    switch (event->type()) {
    case QEvent::ToolTip: {
        auto *const view = watched->isWidgetType() ? qobject_cast<QAbstractItemView *>(watched->parent()) : nullptr;
        if (view == nullptr || view->viewport() != watched || view->window() != m_window)
            break;
        const auto *const help = static_cast<QHelpEvent *>(event);
        const QModelIndex index = view->indexAt(help->pos());
        const Selection places = index.isValid() ? placesAt(index) : Selection();
        if (places.empty() || m_session->artifact(places.front()) == nullptr)
            break;
        const QRect row(view->viewport()->mapToGlobal(view->visualRect(index).topLeft()), view->visualRect(index).size());
        if (m_card == nullptr || row != m_row) {
            drop();
            m_row = row;
            m_card = make(places, index.data(Qt::ToolTipRole).toString(), false);
            connect(m_card, &QObject::destroyed, this, [this, card = m_card] {
                if (m_card == card)
                    m_card = nullptr;
            });
            m_session->hub()->hover(places, view);
            m_card->showAt(help->globalPos());
        }
        return true;
    }
    case QEvent::MouseMove:
        if (m_card && !m_row.contains(QCursor::pos()))
            drop();
        break;
    case QEvent::KeyPress:
    case QEvent::MouseButtonPress:
    case QEvent::Wheel:
    case QEvent::WindowDeactivate:
        if (m_card)
            drop();
        break;
    default: break;
    }
    return QObject::eventFilter(watched, event);
}

} // namespace prosector
