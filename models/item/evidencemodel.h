// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/item/roles.h"
#include "models/session/session.h"

#include <QAbstractItemModel>
#include <QTimer>

namespace prosector {

/// What is open, as a tree: inputs (of run A, then of the baseline), their folders, artifacts, and
/// below an artifact its templates, its tensors as one row, and what could not be read of it. The
/// severity of a row is that of the worst finding that touches it or anything below it.
class EvidenceModel : public QAbstractItemModel {
    Q_OBJECT

public:
    enum Column { NameColumn, KindColumn, SizeColumn, SummaryColumn, WorstColumn, ColumnCount };
    /// What KeyRole says, as int.
    enum RowType { InputRow, FolderRow, ArtifactRow, TemplateRow, TensorsRow, ProblemRow };

    /// `session`, not owned, must outlive the model.
    explicit EvidenceModel(Session *session, QObject *parent = nullptr);

    /// The row nearest to a place: its template or problem row where one has that anchor, else its
    /// artifact. Invalid when the artifact is not open.
    QModelIndex indexFor(const Place &place) const;
    RowType rowType(const QModelIndex &index) const;

    QModelIndex index(int row, int column, const QModelIndex &parent = {}) const override;
    QModelIndex parent(const QModelIndex &index) const override;
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    struct Node {
        RowType type;
        Side side;
        int parent; // -1: top
        int row;
        std::uint32_t item;  // input, artifact, or problem of an artifact
        ArtifactId artifact; // invalid for inputs and folders
        std::string name;
        Anchor where = Whole{};
        std::vector<int> children{};
        std::optional<Severity> severity{};
        std::uint64_t size = 0; // bytes; of inputs and folders the sum of what is below
    };

    void rebuild();
    void addRun(Side side, const Run &run);
    void addParts(int node, const Artifact &artifact);
    int add(int parent, Node node);
    void judge();
    void judged();
    const Node &nodeOf(const QModelIndex &index) const { return m_nodes[static_cast<std::size_t>(index.internalId())]; }
    QModelIndex indexOfNode(int node, int column = 0) const;
    const Artifact *artifactOf(const Node &node) const;
    QString nameText(const Node &node) const;
    QString summaryText(const Node &node) const;
    QString worstText(const Node &node) const;

    Session *m_session;
    RunPtr m_run, m_baseline;  // what the nodes speak of
    std::vector<Node> m_nodes; // a parent before its children
    std::vector<int> m_top;
    std::map<std::pair<Side, ArtifactId>, int> m_ofArtifact;
    QTimer m_judging; // gathers the findings of instruments that end together
};

} // namespace prosector
