// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/bookmarkmodel.h"

#include "models/item/format.h"
#include "models/item/shown.h"

namespace prosector {

BookmarkModel::BookmarkModel(Session *session, QObject *parent)
    : QAbstractTableModel(parent), m_session(session), m_bookmarks(session->hub()->bookmarks())
{
    connect(session->hub(), &SelectionHub::bookmarksChanged, this, [this] {
        const auto &now = m_session->hub()->bookmarks();
        if (now.size() == m_bookmarks.size()) {
            m_bookmarks = now;
            if (!m_bookmarks.empty())
                emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
            return;
        }
        beginResetModel();
        m_bookmarks = now;
        endResetModel();
    });
}

int BookmarkModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_bookmarks.size());
}

int BookmarkModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant BookmarkModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const Bookmark &bookmark = m_bookmarks[static_cast<std::size_t>(index.row())];
    const Place &place = bookmark.selection.front();
    switch (role) {
    case Qt::EditRole: return index.column() == NoteColumn ? QVariant(bookmark.note) : QVariant();
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
    case CopyRole:
        switch (index.column()) {
        case NoteColumn: return bookmark.note;
        case ArtifactColumn: return format::artifactName(place, m_session->run(place.side).get());
        case PlaceColumn: return toQt(describe(place.where));
        default: return {};
        }
    case AnchorRole: return QVariant::fromValue(bookmark.selection);
    case SideRole: return static_cast<int>(place.side);
    case SeverityRole: {
        // Of the artifact it points into.
        const auto touching = m_session->findings().touching(place.side, place.artifact);
        return touching.empty() ? QVariant() : severityVariant(m_session->findings().worst(place.side, place.artifact));
    }
    default: return {};
    }
}

QVariant BookmarkModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case NoteColumn: return QStringLiteral("Note");
    case ArtifactColumn: return QStringLiteral("Artifact");
    case PlaceColumn: return QStringLiteral("Place");
    default: return {};
    }
}

Qt::ItemFlags BookmarkModel::flags(const QModelIndex &index) const
{
    const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    return index.isValid() && index.column() == NoteColumn ? flags | Qt::ItemIsEditable : flags;
}

bool BookmarkModel::setData(const QModelIndex &index, const QVariant &value, int role)
{
    if (!index.isValid() || index.column() != NoteColumn || role != Qt::EditRole)
        return false;
    m_session->hub()->setNote(static_cast<std::size_t>(index.row()), value.toString());
    return true;
}

bool BookmarkModel::removeRows(int row, int count, const QModelIndex &parent)
{
    if (parent.isValid() || row < 0 || count < 1 || row + count > rowCount())
        return false;
    for (int i = 0; i < count; ++i)
        m_session->hub()->removeBookmark(static_cast<std::size_t>(row));
    return true;
}

} // namespace prosector
