// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/tensormodel.h"

#include "models/core/ascii.h"
#include "models/item/format.h"
#include "models/item/shown.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace prosector {

namespace {

constexpr std::uint32_t checkEvery = 4096; // items between two looks at the stop token

bool contains(std::string_view text, std::string_view lowered)
{
    return std::search(text.begin(), text.end(), lowered.begin(), lowered.end(),
                       [](char a, char b) { return asciiLower(a) == b; })
        != text.end();
}

std::uint64_t elementsOf(const TensorInfo &tensor)
{
    return tensor.elements().value_or(std::numeric_limits<std::uint64_t>::max());
}

} // namespace

const TensorModel::Part &TensorModel::Tensors::partOf(std::uint32_t position) const
{
    return *std::prev(std::upper_bound(parts.begin(), parts.end(), position,
                                       [](std::uint32_t p, const Part &part) { return p < part.first; }));
}

const TensorInfo &TensorModel::Tensors::at(std::uint32_t position) const
{
    const Part &part = partOf(position);
    return part.content->tensors[position - part.first];
}

TensorModel::TensorModel(JobRunner *jobs, QObject *parent)
    : QAbstractTableModel(parent), m_jobs(jobs), m_tensors(std::make_shared<Tensors>())
{
    static int models = 0; // GUI thread only: each model has its own job
    m_key = QStringLiteral("tensors/%1").arg(++models);
}

void TensorModel::setArtifacts(const RunPtr &run, Side side, const std::vector<ArtifactId> &artifacts)
{
    auto tensors = std::make_shared<Tensors>();
    tensors->run = run;
    for (const ArtifactId id : artifacts) {
        const Artifact *const artifact = run ? run->find(id) : nullptr;
        const auto *const content = artifact ? artifact->as<TensorContent>() : nullptr;
        const std::size_t room = std::numeric_limits<int>::max() - tensors->count;
        if (!content || content->tensors.empty() || content->tensors.size() > room)
            continue;
        tensors->parts.push_back({artifact, content, tensors->count});
        tensors->count += static_cast<std::uint32_t>(content->tensors.size());
    }
    beginResetModel();
    m_jobs->cancel(m_key);
    m_tensors = std::move(tensors);
    m_side = side;
    m_order.reset();
    endResetModel();
    if (!m_filter.empty() || m_sortColumn >= 0)
        startArranging();
}

void TensorModel::setFolder(const RunPtr &run, Side side, const ModelFolder &folder)
{
    std::vector<ArtifactId> all = folder.weights;
    all.insert(all.end(), folder.gguf.begin(), folder.gguf.end());
    setArtifacts(run, side, all);
}

void TensorModel::setFilter(const QString &text)
{
    std::string filter = asciiLower(text.trimmed().toStdString());
    if (filter == m_filter)
        return;
    m_filter = std::move(filter);
    startArranging();
}

void TensorModel::sort(int column, Qt::SortOrder order)
{
    if (column == m_sortColumn && order == m_sortOrder)
        return;
    m_sortColumn = column;
    m_sortOrder = order;
    startArranging();
}

void TensorModel::startArranging()
{
    m_jobs->start(
        m_key, QStringLiteral("Arranging tensors"), this,
        [tensors = m_tensors, filter = m_filter, column = m_sortColumn, order = m_sortOrder](const Job &job) {
            return arrange(*tensors, filter, column, order, job);
        },
        [this, tensors = m_tensors, plain = m_filter.empty() && m_sortColumn < 0](Result<Order> order) {
            if (!order || tensors != m_tensors)
                return;
            beginResetModel();
            if (plain)
                m_order.reset();
            else
                m_order = std::move(*order);
            endResetModel();
            emit arranged();
        },
        1);
}

Result<TensorModel::Order> TensorModel::arrange(const Tensors &tensors, const std::string &filter, int column,
                                                Qt::SortOrder direction, const Job &job)
{
    Order order;
    if (filter.empty() && column < 0)
        return order;
    for (const Part &part : tensors.parts) {
        for (std::uint32_t i = 0; i < part.content->tensors.size(); ++i) {
            if (i % checkEvery == 0 && job.cancelled())
                return Job::cancelledError();
            const TensorInfo &tensor = part.content->tensors[i];
            if (filter.empty() || contains(tensor.name, filter) || contains(tensor.dtypeName, filter))
                order.push_back(part.first + i);
        }
    }
    const auto sortBy = [&](auto key) {
        // Equal rows keep the file's order in both directions.
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return direction == Qt::AscendingOrder ? key(a) < key(b) : key(b) < key(a);
        });
    };
    switch (column) {
    case NameColumn: sortBy([&](std::uint32_t i) -> std::string_view { return tensors.at(i).name; }); break;
    case DTypeColumn: sortBy([&](std::uint32_t i) -> std::string_view { return tensors.at(i).dtypeName; }); break;
    case ShapeColumn:
        sortBy([&](std::uint32_t i) -> const std::vector<std::uint64_t> & { return tensors.at(i).shape; });
        break;
    case ElementsColumn: sortBy([&](std::uint32_t i) { return elementsOf(tensors.at(i)); }); break;
    case BytesColumn: sortBy([&](std::uint32_t i) { return tensors.at(i).bytes.size(); }); break;
    case FileColumn:
        sortBy([&](std::uint32_t i) -> std::string_view { return tensors.partOf(i).artifact->path; });
        break;
    case OffsetColumn: sortBy([&](std::uint32_t i) { return tensors.at(i).bytes.from; }); break;
    default: break;
    }
    return order;
}

std::size_t TensorModel::tensorCount() const
{
    return m_tensors->count;
}

std::uint64_t TensorModel::totalBytes() const
{
    return std::accumulate(m_tensors->parts.begin(), m_tensors->parts.end(), std::uint64_t(0),
                           [](std::uint64_t sum, const Part &part) { return sum + part.content->dataBytes(); });
}

std::uint32_t TensorModel::positionOf(int row) const
{
    return m_order ? (*m_order)[static_cast<std::size_t>(row)] : static_cast<std::uint32_t>(row);
}

const TensorInfo *TensorModel::tensorAt(const QModelIndex &index) const
{
    return index.isValid() ? &m_tensors->at(positionOf(index.row())) : nullptr;
}

QModelIndex TensorModel::indexFor(const Place &place) const
{
    const auto *const block = std::get_if<TensorBlock>(&place.where);
    if (!block || place.side != m_side)
        return {};
    for (const Part &part : m_tensors->parts) {
        if (part.artifact->id != place.artifact)
            continue;
        const auto &list = part.content->tensors;
        const auto it =
            std::find_if(list.begin(), list.end(), [&](const TensorInfo &t) { return t.name == block->tensor; });
        if (it == list.end())
            return {};
        const auto position = part.first + static_cast<std::uint32_t>(it - list.begin());
        if (!m_order)
            return index(static_cast<int>(position), 0);
        const auto row = std::find(m_order->begin(), m_order->end(), position);
        return row == m_order->end() ? QModelIndex() : index(static_cast<int>(row - m_order->begin()), 0);
    }
    return {};
}

int TensorModel::rowCount(const QModelIndex &parent) const
{
    if (parent.isValid())
        return 0;
    return m_order ? static_cast<int>(m_order->size()) : static_cast<int>(m_tensors->count);
}

int TensorModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant TensorModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const std::uint32_t position = positionOf(index.row());
    const TensorInfo &tensor = m_tensors->at(position);
    const Artifact &artifact = *m_tensors->partOf(position).artifact;
    const bool exact = role == CopyRole;
    switch (role) {
    case Qt::DisplayRole:
    case CopyRole:
        switch (index.column()) {
        case NameColumn: return exact ? toQt(tensor.name) : format::oneLine(tensor.name);
        case DTypeColumn: return toQt(tensor.dtypeName);
        case ShapeColumn: return toQt(tensor.shapeText());
        case ElementsColumn: {
            const auto elements = tensor.elements();
            if (!elements)
                return QStringLiteral("more than 2⁶⁴");
            return exact ? QString::number(*elements) : format::grouped(*elements);
        }
        case BytesColumn: return exact ? QString::number(tensor.bytes.size()) : format::grouped(tensor.bytes.size());
        case FileColumn: return toQt(artifact.path);
        case OffsetColumn: return exact ? QString::number(tensor.bytes.from) : format::grouped(tensor.bytes.from);
        default: return {};
        }
    case Qt::ToolTipRole:
        return index.column() == BytesColumn ? format::bytes(tensor.bytes.size())
            : index.column() == OffsetColumn ? format::offset(tensor.bytes.from)
                                             : data(index, CopyRole);
    case Qt::TextAlignmentRole:
        return index.column() == ElementsColumn || index.column() == BytesColumn || index.column() == OffsetColumn
            ? numberAlignment()
            : QVariant();
    case AnchorRole: return QVariant::fromValue(Selection{{m_side, artifact.id, TensorBlock{tensor.name}}});
    case SideRole: return static_cast<int>(m_side);
    default: return {};
    }
}

QVariant TensorModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case NameColumn: return QStringLiteral("Tensor");
    case DTypeColumn: return QStringLiteral("Type");
    case ShapeColumn: return QStringLiteral("Shape");
    case ElementsColumn: return QStringLiteral("Elements");
    case BytesColumn: return QStringLiteral("Bytes");
    case FileColumn: return QStringLiteral("File");
    case OffsetColumn: return QStringLiteral("Offset (bytes)");
    default: return {};
    }
}

} // namespace prosector
