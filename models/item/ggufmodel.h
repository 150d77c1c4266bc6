// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/item/shown.h"

#include <QAbstractItemModel>

namespace prosector {

/// A GGUF file's metadata; an array opens into its elements.
class GgufModel : public QAbstractItemModel {
    Q_OBJECT

public:
    enum Column { KeyColumn, ValueColumn, TypeColumn, BytesColumn, ColumnCount };

    using QAbstractItemModel::QAbstractItemModel;

    void setArtifact(const RunPtr &run, const Place &place);
    bool holds(const Place &place) const { return m_shown.holds(place); }
    /// The row of `$["key"]`, or of `$["key"][index]`, or of the entry around a byte.
    QModelIndex indexFor(const Anchor &where) const;

    QModelIndex index(int row, int column, const QModelIndex &parent = {}) const override;
    QModelIndex parent(const QModelIndex &index) const override;
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QVariant entryData(const GgufEntry &entry, int column, int role) const;
    QVariant elementData(const GgufEntry &entry, std::size_t element, int column, int role) const;

    Shown m_shown;
    const GgufContent *m_content = nullptr; // owned by m_shown's run
};

} // namespace prosector
