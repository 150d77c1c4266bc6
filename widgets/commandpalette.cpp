// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/commandpalette.h"

#include "widgets/theme.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <algorithm>

namespace prosector {

namespace {

constexpr int EntryRole = Qt::UserRole;
constexpr int DetailRole = Qt::UserRole + 1;
constexpr int shownAtMost = 200;

class EntryDelegate final : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        QStyleOptionViewItem narrowed = option;
        const QString detail = index.data(DetailRole).toString();
        const int width = option.fontMetrics.horizontalAdvance(detail) + 3 * Theme::grid;
        QStyledItemDelegate::paint(painter, narrowed, index);
        painter->setPen(Theme::instance().color(Token::Dim));
        painter->drawText(option.rect.adjusted(0, 0, -2 * Theme::grid, 0).adjusted(option.rect.width() - width, 0, 0, 0),
                          Qt::AlignRight | Qt::AlignVCenter, detail);
    }
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        return {QStyledItemDelegate::sizeHint(option, index).width(), Theme::rowHeight(option.fontMetrics) + Theme::grid};
    }
};

} // namespace

CommandPalette::CommandPalette(QWidget *window) : QFrame(window), m_query(new QLineEdit(this)), m_list(new QListWidget(this))
{
    setFrameShape(StyledPanel);
    setAutoFillBackground(true);
    setObjectName(QStringLiteral("palette"));
    setAccessibleName(tr("Command palette"));
    auto *const layout = new QVBoxLayout(this);
    layout->setContentsMargins(Theme::grid, Theme::grid, Theme::grid, Theme::grid);
    layout->setSpacing(Theme::grid);
    layout->addWidget(m_query);
    layout->addWidget(m_list);
    m_query->setPlaceholderText(tr("Go to instrument, artifact, command"));
    m_query->setAccessibleName(tr("Command, instrument or artifact"));
    m_list->setItemDelegate(new EntryDelegate(m_list));
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setUniformItemSizes(true);
    m_list->setAccessibleName(tr("Matches"));
    m_query->installEventFilter(this);
    connect(m_query, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::accept);
    hide();
}

int CommandPalette::score(const QString &text, const QString &query)
{
    int total = 1;
    for (const QString &word : query.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
        const auto at = text.indexOf(word, 0, Qt::CaseInsensitive);
        if (at < 0)
            return 0;
        const bool start = at == 0 || !text[at - 1].isLetterOrNumber();
        const bool whole = start && (at + word.size() == text.size() || !text[at + word.size()].isLetterOrNumber());
        total += (whole ? 300 : start ? 200 : 100) - static_cast<int>(std::min<qsizetype>(at, 90));
    }
    return total;
}

void CommandPalette::open(std::vector<Entry> entries)
{
    m_entries = std::move(entries);
    const QSize room = parentWidget()->size();
    const int width = std::min(room.width() - 8 * Theme::grid, 90 * fontMetrics().averageCharWidth());
    const int height = std::min(room.height() - 24 * Theme::grid, 16 * (Theme::rowHeight(fontMetrics()) + Theme::grid));
    setGeometry((room.width() - width) / 2, 10 * Theme::grid, width, height);
    m_query->clear();
    filter({});
    show();
    raise();
    m_query->setFocus(Qt::ShortcutFocusReason);
}

void CommandPalette::filter(const QString &query)
{
    std::vector<std::pair<int, std::size_t>> ranked;
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        if (const int value = score(m_entries[i].text + QLatin1Char(' ') + m_entries[i].detail + QLatin1Char(' ') + m_entries[i].more, query); value > 0)
            ranked.emplace_back(value, i);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
    m_list->clear();
    for (std::size_t i = 0; i < std::min<std::size_t>(ranked.size(), shownAtMost); ++i) {
        const Entry &entry = m_entries[ranked[i].second];
        auto *const item = new QListWidgetItem(entry.icon, entry.text, m_list);
        item->setData(EntryRole, static_cast<qulonglong>(ranked[i].second));
        item->setData(DetailRole, entry.detail);
    }
    m_list->setCurrentRow(0);
    if (ranked.empty()) {
        auto *const none = new QListWidgetItem(tr("Nothing open here is called so. The tensor list and the panes have their own search (Ctrl+F)."), m_list);
        none->setFlags(Qt::NoItemFlags);
    }
}

void CommandPalette::accept()
{
    const QListWidgetItem *const item = m_list->currentItem();
    if (item == nullptr || !(item->flags() & Qt::ItemIsEnabled))
        return;
    const auto act = m_entries[item->data(EntryRole).toULongLong()].act;
    hide();
    parentWidget()->setFocus();
    act();
}

bool CommandPalette::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::FocusOut) {
        hide();
    } else if (event->type() == QEvent::KeyPress) {
        const auto *const key = static_cast<QKeyEvent *>(event);
        const int row = m_list->currentRow();
        switch (key->key()) {
        case Qt::Key_Down: m_list->setCurrentRow(std::min(row + 1, m_list->count() - 1)); return true;
        case Qt::Key_Up: m_list->setCurrentRow(std::max(row - 1, 0)); return true;
        case Qt::Key_PageDown: m_list->setCurrentRow(std::min(row + 10, m_list->count() - 1)); return true;
        case Qt::Key_PageUp: m_list->setCurrentRow(std::max(row - 10, 0)); return true;
        case Qt::Key_Return:
        case Qt::Key_Enter: accept(); return true;
        case Qt::Key_Escape:
            hide();
            parentWidget()->setFocus();
            return true;
        default: break;
        }
    }
    return QFrame::eventFilter(watched, event);
}

} // namespace prosector
