// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/ggufmodel.h"

#include "models/item/format.h"

#include <algorithm>

namespace prosector {

namespace {

constexpr quintptr topId = ~quintptr(0); // an element's id is its entry's row

std::size_t elementCount(const GgufValue &value)
{
    return std::max(value.strings.size(), value.numbers.size());
}

QString typeText(const GgufValue &value)
{
    if (value.type != GgufValue::Type::Array)
        return toQt(nameOf(value.type));
    return toQt(nameOf(value.elementType)) + QLatin1Char('[') + format::grouped(value.count) + QLatin1Char(']');
}

QString exactText(const GgufValue &value)
{
    if (value.type == GgufValue::Type::String)
        return toQt(value.text);
    return toQt(value.display(1 << 20));
}

} // namespace

void GgufModel::setArtifact(const RunPtr &run, const Place &place)
{
    beginResetModel();
    m_shown = Shown(run, place);
    m_content = m_shown.as<GgufContent>();
    endResetModel();
}

QModelIndex GgufModel::index(int row, int column, const QModelIndex &parent) const
{
    if (row < 0 || column < 0 || column >= ColumnCount || row >= rowCount(parent))
        return {};
    return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) : topId);
}

QModelIndex GgufModel::parent(const QModelIndex &index) const
{
    if (!index.isValid() || index.internalId() == topId)
        return {};
    return createIndex(static_cast<int>(index.internalId()), 0, topId);
}

int GgufModel::rowCount(const QModelIndex &parent) const
{
    if (!m_content)
        return 0;
    if (!parent.isValid())
        return static_cast<int>(m_content->entries.size());
    if (parent.internalId() != topId || parent.column() != 0)
        return 0;
    return static_cast<int>(elementCount(m_content->entries[static_cast<std::size_t>(parent.row())].value));
}

int GgufModel::columnCount(const QModelIndex &) const
{
    return ColumnCount;
}

QVariant GgufModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    if (index.internalId() == topId)
        return entryData(m_content->entries[static_cast<std::size_t>(index.row())], index.column(), role);
    return elementData(m_content->entries[index.internalId()], static_cast<std::size_t>(index.row()), index.column(),
                       role);
}

QVariant GgufModel::entryData(const GgufEntry &entry, int column, int role) const
{
    switch (role) {
    case Qt::DisplayRole:
    case CopyRole:
        switch (column) {
        case KeyColumn: return role == CopyRole ? toQt(entry.key) : format::oneLine(entry.key);
        case ValueColumn: return role == CopyRole ? exactText(entry.value) : format::oneLine(entry.value.display(300));
        case TypeColumn: return typeText(entry.value);
        case BytesColumn:
            return format::grouped(entry.bytes.from) + QStringLiteral("–") + format::grouped(entry.bytes.to);
        default: return {};
        }
    case Qt::ToolTipRole:
        return column == ValueColumn ? format::oneLine(entry.value.display(2000), 2000) : toQt(entry.key);
    case Qt::TextAlignmentRole: return column == BytesColumn ? numberAlignment() : QVariant();
    case AnchorRole: return m_shown.at(GgufContent::anchor(entry.key));
    default: return {};
    }
}

QVariant GgufModel::elementData(const GgufEntry &entry, std::size_t element, int column, int role) const
{
    const GgufValue &value = entry.value;
    const bool text = element < value.strings.size();
    switch (role) {
    case Qt::DisplayRole:
    case CopyRole:
        switch (column) {
        case KeyColumn: return QStringLiteral("[%1]").arg(element);
        case ValueColumn:
            if (text)
                return role == CopyRole ? toQt(value.strings[element]) : format::oneLine(value.strings[element]);
            return role == CopyRole ? QString::number(value.numbers[element], 'g', 17)
                                    : format::number(value.numbers[element]);
        case TypeColumn: return toQt(nameOf(value.elementType));
        default: return {};
        }
    case AnchorRole:
        return m_shown.at(JsonPath{GgufContent::anchor(entry.key).path + '[' + std::to_string(element) + ']'});
    default: return {};
    }
}

QVariant GgufModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case KeyColumn: return QStringLiteral("Key");
    case ValueColumn: return QStringLiteral("Value");
    case TypeColumn: return QStringLiteral("Type");
    case BytesColumn: return QStringLiteral("Bytes");
    default: return {};
    }
}

QModelIndex GgufModel::indexFor(const Anchor &where) const
{
    if (!m_content)
        return {};
    const auto &entries = m_content->entries;
    if (const auto *const bytes = std::get_if<ByteRange>(&where)) {
        const auto it = std::find_if(entries.begin(), entries.end(), [&](const GgufEntry &entry) {
            return bytes->from >= entry.bytes.from && bytes->from < entry.bytes.to;
        });
        return it == entries.end() ? QModelIndex() : index(static_cast<int>(it - entries.begin()), 0);
    }
    const auto *const path = std::get_if<JsonPath>(&where);
    if (!path)
        return {};
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const std::string own = GgufContent::anchor(entries[i].key).path;
        if (!path->path.starts_with(own))
            continue;
        const QModelIndex entry = index(static_cast<int>(i), 0);
        const std::string_view rest = std::string_view(path->path).substr(own.size());
        if (rest.empty())
            return entry;
        if (rest.starts_with('[') && rest.ends_with(']')) {
            bool number = false;
            const int element = toQt(rest.substr(1, rest.size() - 2)).toInt(&number);
            return number ? index(element, 0, entry) : QModelIndex();
        }
    }
    return {};
}

} // namespace prosector
