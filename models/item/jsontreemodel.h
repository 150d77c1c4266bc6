// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/item/shown.h"

#include <QAbstractItemModel>

#include <unordered_map>

namespace prosector {

/// The tree of a JSON-like artifact, or of each line of JSON Lines. The top row of a document is
/// its root, `$`. Nothing is copied: rows are positions in the documents, and a parent's children
/// are found once, when it is first opened (4 bytes each), so that rows are reached in O(1).
class JsonTreeModel : public QAbstractItemModel {
    Q_OBJECT

public:
    enum Column { KeyColumn, ValueColumn, TypeColumn, BytesColumn, ColumnCount };

    using QAbstractItemModel::QAbstractItemModel;

    /// An artifact with TreeContent, WeightIndexContent or LinesContent (a top row for each line);
    /// anything else shows nothing.
    void setArtifact(const RunPtr &run, const Place &place);
    /// A document that belongs to no artifact's file as a whole (a request inside a log, a test).
    void setDocument(DocumentPtr document);

    Value valueAt(const QModelIndex &index) const;
    /// The row of a place in this artifact: of the value at a path, of the innermost value around
    /// bytes, of a line. Invalid when the anchor is not in here.
    QModelIndex indexFor(const Anchor &where) const;
    bool holds(const Place &place) const { return m_shown.holds(place); }

    QModelIndex index(int row, int column, const QModelIndex &parent = {}) const override;
    QModelIndex parent(const QModelIndex &index) const override;
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    bool hasChildren(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    // A part is a document: the only one, or that of a line. An index's id: part above, node below.
    static quintptr idOf(std::uint32_t part, std::uint32_t node) { return (quintptr(part) << 32) | node; }
    static std::uint32_t partOf(const QModelIndex &index)
    {
        return static_cast<std::uint32_t>(index.internalId() >> 32);
    }
    /// Lines are parsed when looked at; a few hundred are kept.
    const Document &documentOf(std::uint32_t part) const;
    Value rootOf(std::uint32_t part) const { return documentOf(part).root(); }
    std::uint64_t offsetOf(std::uint32_t part) const;

    const std::vector<std::uint32_t> &childrenOf(std::uint32_t part, Value value) const;
    QModelIndex indexOf(std::uint32_t part, Value value) const;
    QModelIndex innermost(std::uint32_t part, std::uint64_t offset) const;
    QString keyText(const QModelIndex &index, Value value) const;
    QString valueText(std::uint32_t part, Value value) const;
    Anchor anchorOf(std::uint32_t part, Value value) const;
    void show(Shown shown, DocumentPtr document, const LinesContent *lines);

    Shown m_shown;
    DocumentPtr m_document;                // null when lines are shown
    const LinesContent *m_lines = nullptr; // owned by m_shown's run
    mutable std::unordered_map<std::uint32_t, DocumentPtr> m_parsed;
    mutable std::unordered_map<quintptr, std::vector<std::uint32_t>> m_children;
};

} // namespace prosector
