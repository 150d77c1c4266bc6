// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/item/roles.h"
#include "models/session/session.h"

#include <QAbstractTableModel>

namespace prosector {

/// The session's bookmarks; notes are edited in place.
class BookmarkModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { NoteColumn, ArtifactColumn, PlaceColumn, ColumnCount };

    explicit BookmarkModel(Session *session, QObject *parent = nullptr);

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    Qt::ItemFlags flags(const QModelIndex &index) const override;
    bool setData(const QModelIndex &index, const QVariant &value, int role = Qt::EditRole) override;
    bool removeRows(int row, int count, const QModelIndex &parent = {}) override;

private:
    Session *m_session;
    std::vector<Bookmark> m_bookmarks; // as last told: rows change only between begin and end
};

} // namespace prosector
