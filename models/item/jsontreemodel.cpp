// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/jsontreemodel.h"

#include "models/item/format.h"

#include <algorithm>

namespace prosector {

namespace {

QString typeText(Value value)
{
    switch (value.type()) {
    case Value::Type::Missing: return {};
    case Value::Type::Null: return QStringLiteral("null");
    case Value::Type::Boolean: return QStringLiteral("boolean");
    case Value::Type::Number: return value.integer() ? QStringLiteral("integer") : QStringLiteral("number");
    case Value::Type::String: return QStringLiteral("string");
    case Value::Type::Array: return QStringLiteral("array");
    case Value::Type::Object: return QStringLiteral("object");
    }
    return {};
}

/// What a person wants on the clipboard: strings decoded, containers as they stand.
QString copyText(Value value)
{
    const auto text = value.string();
    return toQt(text ? std::string_view(*text) : value.raw());
}

} // namespace

void JsonTreeModel::setArtifact(const RunPtr &run, const Place &place)
{
    const Shown shown(run, place);
    DocumentPtr document;
    if (const auto *const tree = shown.as<TreeContent>())
        document = tree->document;
    else if (const auto *const index = shown.as<WeightIndexContent>())
        document = index->document;
    show(shown, document, shown.as<LinesContent>());
}

void JsonTreeModel::setDocument(DocumentPtr document)
{
    show({}, std::move(document), nullptr);
}

void JsonTreeModel::show(Shown shown, DocumentPtr document, const LinesContent *lines)
{
    beginResetModel();
    m_shown = std::move(shown);
    m_document = std::move(document);
    m_lines = lines;
    m_parsed.clear();
    m_children.clear();
    endResetModel();
}

const Document &JsonTreeModel::documentOf(std::uint32_t part) const
{
    if (!m_lines)
        return *m_document;
    constexpr std::size_t kept = 512;
    auto it = m_parsed.find(part);
    if (it == m_parsed.end()) {
        // Parsing again gives the same nodes, so indexes stay true when a document is dropped.
        if (m_parsed.size() >= kept)
            m_parsed.clear();
        it = m_parsed.emplace(part, m_lines->document(part)).first;
    }
    return *it->second;
}

std::uint64_t JsonTreeModel::offsetOf(std::uint32_t part) const
{
    return m_lines ? m_lines->lines[part].offset : 0;
}

const std::vector<std::uint32_t> &JsonTreeModel::childrenOf(std::uint32_t part, Value value) const
{
    const auto [it, added] = m_children.try_emplace(idOf(part, value.node()));
    if (added) {
        it->second.reserve(value.size());
        for (const Value child : value)
            it->second.push_back(child.node());
    }
    return it->second;
}

Value JsonTreeModel::valueAt(const QModelIndex &index) const
{
    if (!index.isValid())
        return {};
    const Document &document = documentOf(partOf(index));
    const auto node = static_cast<std::uint32_t>(index.internalId());
    // A line has no node when it does not parse, or no longer does because its file has changed.
    return node < document.nodeCount() ? document.node(node) : Value();
}

QModelIndex JsonTreeModel::index(int row, int column, const QModelIndex &parent) const
{
    if (row < 0 || column < 0 || column >= ColumnCount || row >= rowCount(parent))
        return {};
    if (!parent.isValid())
        return createIndex(row, column, idOf(static_cast<std::uint32_t>(row), 0));
    const std::uint32_t part = partOf(parent);
    return createIndex(row, column, idOf(part, childrenOf(part, valueAt(parent))[static_cast<std::size_t>(row)]));
}

QModelIndex JsonTreeModel::indexOf(std::uint32_t part, Value value) const
{
    if (!value)
        return {};
    const Value holder = value.parent();
    if (!holder)
        return createIndex(static_cast<int>(part), 0, idOf(part, 0));
    // Children stand in the order of the text, so their positions ascend.
    const auto &siblings = childrenOf(part, holder);
    const auto it = std::lower_bound(siblings.begin(), siblings.end(), value.node());
    return createIndex(static_cast<int>(it - siblings.begin()), 0, idOf(part, value.node()));
}

QModelIndex JsonTreeModel::parent(const QModelIndex &index) const
{
    if (!index.isValid())
        return {};
    return indexOf(partOf(index), valueAt(index).parent());
}

int JsonTreeModel::rowCount(const QModelIndex &parent) const
{
    if (!parent.isValid())
        return m_lines ? static_cast<int>(m_lines->lines.size()) : m_document && m_document->root() ? 1 : 0;
    return parent.column() == 0 ? static_cast<int>(valueAt(parent).size()) : 0;
}

int JsonTreeModel::columnCount(const QModelIndex &) const
{
    return ColumnCount;
}

bool JsonTreeModel::hasChildren(const QModelIndex &parent) const
{
    return rowCount(parent) > 0;
}

QString JsonTreeModel::keyText(const QModelIndex &index, Value value) const
{
    const Value holder = value.parent();
    if (!holder) {
        return m_lines ? QStringLiteral("line ") + format::grouped(m_lines->lines[partOf(index)].line)
                       : QStringLiteral("$");
    }
    return holder.isArray() ? QStringLiteral("[%1]").arg(index.row()) : format::oneLine(value.key());
}

QString JsonTreeModel::valueText(std::uint32_t part, Value value) const
{
    if (!value) {
        const auto &problem = documentOf(part).problem();
        return problem ? format::oneLine(describe(*problem)) : QString();
    }
    if (value.isArray())
        return QLatin1Char('[') + format::counted(value.size(), "element", "elements") + QLatin1Char(']');
    if (value.isObject())
        return QLatin1Char('{') + format::counted(value.size(), "member", "members") + QLatin1Char('}');
    return format::oneLine(value.raw());
}

Anchor JsonTreeModel::anchorOf(std::uint32_t part, Value value) const
{
    if (!m_lines)
        return value.anchor();
    if (!value.parent())
        return LogLine{m_lines->lines[part].line, m_lines->lines[part].line};
    return ByteRange{offsetOf(part) + value.range().from, offsetOf(part) + value.range().to};
}

QVariant JsonTreeModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const Value value = valueAt(index);
    const std::uint32_t part = partOf(index);
    switch (role) {
    case Qt::DisplayRole:
        switch (index.column()) {
        case KeyColumn: return keyText(index, value);
        case ValueColumn: return valueText(part, value);
        case TypeColumn: return typeText(value);
        case BytesColumn:
            return QStringLiteral("%1–%2").arg(format::grouped(offsetOf(part) + value.range().from),
                                               format::grouped(offsetOf(part) + value.range().to));
        default: return {};
        }
    case Qt::ToolTipRole:
        if (index.column() == KeyColumn)
            return toQt(value.path());
        if (index.column() != ValueColumn)
            return {};
        return format::oneLine(value.isString() ? value.string("") : std::string(value.raw().substr(0, 8000)), 2000);
    case CopyRole:
        return index.column() == KeyColumn  ? toQt(value.key())
            : index.column() == ValueColumn ? copyText(value)
                                            : data(index, Qt::DisplayRole);
    case Qt::TextAlignmentRole: return index.column() == BytesColumn ? numberAlignment() : QVariant();
    case AnchorRole: return m_shown.artifact() ? m_shown.at(anchorOf(part, value)) : QVariant();
    default: return {};
    }
}

QVariant JsonTreeModel::headerData(int section, Qt::Orientation orientation, int role) const
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

QModelIndex JsonTreeModel::indexFor(const Anchor &where) const
{
    if (rowCount() == 0)
        return {};
    if (std::holds_alternative<Whole>(where))
        return index(0, 0);
    if (const auto *const path = std::get_if<JsonPath>(&where))
        return m_lines ? QModelIndex() : indexOf(0, m_document->at(path->path));
    if (const auto *const line = std::get_if<LogLine>(&where); line && m_lines) {
        const auto &lines = m_lines->lines;
        const auto it = std::lower_bound(lines.begin(), lines.end(), line->from,
                                         [](const auto &l, std::uint64_t number) { return l.line < number; });
        return it != lines.end() && it->line == line->from ? index(static_cast<int>(it - lines.begin()), 0)
                                                           : QModelIndex();
    }
    if (const auto *const bytes = std::get_if<ByteRange>(&where)) {
        if (!m_lines)
            return innermost(0, bytes->from);
        const auto &lines = m_lines->lines;
        const auto behind = std::upper_bound(lines.begin(), lines.end(), bytes->from,
                                             [](std::uint64_t offset, const auto &l) { return offset < l.offset; });
        if (behind != lines.begin())
            return innermost(static_cast<std::uint32_t>(behind - lines.begin() - 1), bytes->from);
    }
    return {};
}

QModelIndex JsonTreeModel::innermost(std::uint32_t part, std::uint64_t offset) const
{
    const std::uint64_t at = offset - offsetOf(part);
    const Document &document = documentOf(part);
    const auto begin = [](Value value) {
        return value.keyRange().size() > 0 ? value.keyRange().from : value.range().from;
    };
    const auto covers = [&](Value value) { return at >= begin(value) && at < value.range().to; };
    Value found = document.root();
    if (!found || !covers(found))
        return {};
    for (;;) {
        const auto &children = childrenOf(part, found);
        // The last child that starts at or before the byte.
        auto it = std::upper_bound(children.begin(), children.end(), at, [&](std::uint64_t byte, std::uint32_t node) {
            return byte < begin(document.node(node));
        });
        if (it == children.begin() || !covers(document.node(*--it)))
            return indexOf(part, found);
        found = document.node(*it);
    }
}

} // namespace prosector
