// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/item/roles.h"
#include "models/runs/run.h"
#include "models/session/jobrunner.h"

#include <QAbstractTableModel>

#include <memory>
#include <vector>

namespace prosector {

/// The tensors of one weight file or of a whole folder of shards. Rows are positions in the
/// artifacts' own lists; while a filter or an order is in force, 4 bytes a row name them. Filtering
/// and sorting are done by the job runner and arrive with arranged(); until then the rows stay.
class TensorModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column {
        NameColumn,
        DTypeColumn,
        ShapeColumn,
        ElementsColumn,
        BytesColumn,
        FileColumn,
        OffsetColumn,
        ColumnCount
    };

    /// `jobs`, not owned, must outlive the model.
    explicit TensorModel(JobRunner *jobs, QObject *parent = nullptr);

    /// Artifacts without a tensor list are passed over.
    void setArtifacts(const RunPtr &run, Side side, const std::vector<ArtifactId> &artifacts);
    /// All weights of the folder: safetensors, checkpoints and GGUF.
    void setFolder(const RunPtr &run, Side side, const ModelFolder &folder);

    /// Names (or dtypes) that contain the text, in any ASCII case; all when empty.
    void setFilter(const QString &text);
    void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override; ///< file order when -1

    /// Tensors in all, whatever the filter shows.
    std::size_t tensorCount() const;
    std::uint64_t totalBytes() const; ///< of all tensors
    /// Null for an invalid index.
    const TensorInfo *tensorAt(const QModelIndex &index) const;
    /// The row of a tensor shown here; invalid when it is not, or filtered out.
    QModelIndex indexFor(const Place &place) const;

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

signals:
    /// A filter or an order has come into force.
    void arranged();

private:
    struct Part {
        const Artifact *artifact;
        const TensorContent *content;
        std::uint32_t first; // position of its first tensor among all
    };
    /// Shared with the worker; keeps the run alive.
    struct Tensors {
        RunPtr run;
        std::vector<Part> parts;
        std::uint32_t count = 0;
        const Part &partOf(std::uint32_t position) const;
        const TensorInfo &at(std::uint32_t position) const;
    };
    using Order = std::vector<std::uint32_t>;
    static Result<Order> arrange(const Tensors &tensors, const std::string &filter, int column, Qt::SortOrder order,
                                 const Job &job);
    void startArranging();
    std::uint32_t positionOf(int row) const;

    JobRunner *m_jobs;
    QString m_key;
    std::shared_ptr<const Tensors> m_tensors;
    Side m_side = Side::A;
    std::optional<Order> m_order; // none: file order, everything
    std::string m_filter;
    int m_sortColumn = -1;
    Qt::SortOrder m_sortOrder = Qt::AscendingOrder;
};

} // namespace prosector
