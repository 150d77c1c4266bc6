// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/evidencemodel.h"

#include "models/item/format.h"
#include "models/item/shown.h"

#include <algorithm>

namespace prosector {

namespace {

/// "a/b.zip!c/d" into folders "a", "b.zip", "c" and the name "d".
std::vector<std::string> partsOf(const std::string &path)
{
    std::vector<std::string> parts{""};
    for (std::size_t i = 0; i < path.size(); ++i) {
        static constexpr std::string_view archives[] = {".zip", ".tar", ".gz", ".tgz", ".zst", ".xz", ".npz"};
        const bool member = path[i] == '!'
            && std::any_of(std::begin(archives), std::end(archives),
                           [&](std::string_view end) { return parts.back().ends_with(end); });
        if (path[i] == '/' || member)
            parts.emplace_back();
        else
            parts.back() += path[i];
    }
    return parts;
}

QString tensorsText(const TensorContent &content)
{
    // dtypes by their share of the tensors, the commonest first
    std::map<std::string_view, std::size_t> counts;
    for (const TensorInfo &tensor : content.tensors)
        ++counts[tensor.dtypeName];
    std::vector<std::pair<std::size_t, std::string_view>> order;
    for (const auto &[name, count] : counts)
        order.emplace_back(count, name);
    std::stable_sort(order.begin(), order.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
    QStringList names;
    for (const auto &[count, name] : order)
        names.append(toQt(name));
    return names.join(QStringLiteral(", ")) + QStringLiteral(" · ") + format::bytes(content.dataBytes());
}

} // namespace

EvidenceModel::EvidenceModel(Session *session, QObject *parent) : QAbstractItemModel(parent), m_session(session)
{
    m_judging.setSingleShot(true);
    m_judging.setInterval(0);
    connect(&m_judging, &QTimer::timeout, this, &EvidenceModel::judged);
    connect(session, &Session::runChanged, this, &EvidenceModel::rebuild);
    connect(session, &Session::findingsChanged, &m_judging, qOverload<>(&QTimer::start));
    rebuild();
}

void EvidenceModel::rebuild()
{
    beginResetModel();
    m_run = m_session->run();
    m_baseline = m_session->baseline();
    m_nodes.clear();
    m_top.clear();
    m_ofArtifact.clear();
    if (m_run)
        addRun(Side::A, *m_run);
    if (m_baseline)
        addRun(Side::B, *m_baseline);
    for (auto node = m_nodes.rbegin(); node != m_nodes.rend(); ++node) {
        if (node->parent >= 0 && node->type != TensorsRow) // an artifact's size counts its tensors already
            m_nodes[static_cast<std::size_t>(node->parent)].size += node->size;
    }
    judge();
    endResetModel();
}

int EvidenceModel::add(int parent, Node node)
{
    const int position = static_cast<int>(m_nodes.size());
    auto &siblings = parent < 0 ? m_top : m_nodes[static_cast<std::size_t>(parent)].children;
    node.parent = parent;
    node.row = static_cast<int>(siblings.size());
    siblings.push_back(position);
    m_nodes.push_back(std::move(node));
    return position;
}

void EvidenceModel::addRun(Side side, const Run &run)
{
    std::vector<int> inputs;
    std::vector<std::size_t> sizes(run.inputs().size());
    for (const Artifact &artifact : run.artifacts()) {
        if (artifact.input < sizes.size())
            ++sizes[artifact.input];
    }
    for (std::size_t i = 0; i < run.inputs().size(); ++i) {
        // A single file needs no row above its own.
        const bool alone = run.inputs()[i].kind == "file" && sizes[i] == 1;
        inputs.push_back(
            alone ? -1 : add(-1, {InputRow, side, -1, 0, static_cast<std::uint32_t>(i), {}, run.inputs()[i].path}));
    }
    std::map<std::pair<int, std::string>, int> folders;
    for (const Artifact &artifact : run.artifacts()) {
        int at = artifact.input < inputs.size() ? inputs[artifact.input] : -1;
        std::vector<std::string> parts = partsOf(artifact.path);
        for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
            const auto [it, isNew] = folders.try_emplace({at, parts[i]}, -1);
            if (isNew)
                it->second = add(at, {FolderRow, side, at, 0, 0, {}, parts[i]});
            at = it->second;
        }
        const int node = add(at, {ArtifactRow, side, at, 0, artifact.id.index, artifact.id, std::move(parts.back())});
        m_nodes[static_cast<std::size_t>(node)].size = artifact.size;
        m_ofArtifact[{side, artifact.id}] = node;
        addParts(node, artifact);
    }
}

void EvidenceModel::addParts(int node, const Artifact &artifact)
{
    const Side side = m_nodes[static_cast<std::size_t>(node)].side;
    const auto addTemplate = [&](std::string name, Anchor where) {
        add(node, {TemplateRow, side, node, 0, 0, artifact.id, std::move(name), std::move(where)});
    };
    const Value chat = artifact.tree()["chat_template"];
    if (chat.isString())
        addTemplate("chat_template", chat.anchor());
    for (const Value named : chat) {
        if (const Value text = named["template"]; text.isString())
            addTemplate("chat_template " + named["name"].string(""), text.anchor());
        else if (named.isString())
            addTemplate("chat_template " + named.key(), named.anchor());
    }
    if (const auto *const gguf = artifact.as<GgufContent>()) {
        for (const GgufEntry &entry : gguf->entries) {
            if (entry.key.starts_with("tokenizer.chat_template"))
                addTemplate(entry.key.substr(sizeof "tokenizer." - 1), GgufContent::anchor(entry.key));
        }
    }
    if (const auto *const tensors = artifact.as<TensorContent>(); tensors && !tensors->tensors.empty())
        m_nodes[static_cast<std::size_t>(add(node, {TensorsRow, side, node, 0, 0, artifact.id, "tensors"}))].size =
            tensors->dataBytes();
    for (std::size_t i = 0; i < artifact.problems.size(); ++i)
        add(node,
            {ProblemRow, side, node, 0, static_cast<std::uint32_t>(i), artifact.id, artifact.problems[i].message,
             artifact.problems[i].where});
}

void EvidenceModel::judge()
{
    const FindingIndex &findings = m_session->findings();
    for (Node &node : m_nodes) {
        node.severity.reset();
        if (node.type == ProblemRow)
            node.severity = Severity::Warning;
        else if (node.type == ArtifactRow && !findings.touching(node.side, node.artifact).empty())
            node.severity = findings.worst(node.side, node.artifact);
    }
    for (auto node = m_nodes.rbegin(); node != m_nodes.rend(); ++node) {
        if (node->parent >= 0 && node->severity) {
            auto &above = m_nodes[static_cast<std::size_t>(node->parent)].severity;
            above = std::max(above.value_or(*node->severity), *node->severity);
        }
    }
}

void EvidenceModel::judged()
{
    judge();
    const auto tell = [&](const std::vector<int> &siblings) {
        if (!siblings.empty())
            emit dataChanged(indexOfNode(siblings.front()), indexOfNode(siblings.back(), ColumnCount - 1));
    };
    tell(m_top);
    for (const Node &node : m_nodes)
        tell(node.children);
}

QModelIndex EvidenceModel::indexOfNode(int node, int column) const
{
    if (node < 0)
        return {};
    return createIndex(m_nodes[static_cast<std::size_t>(node)].row, column, static_cast<quintptr>(node));
}

QModelIndex EvidenceModel::indexFor(const Place &place) const
{
    const auto it = m_ofArtifact.find({place.side, place.artifact});
    if (it == m_ofArtifact.end())
        return {};
    for (const int child : m_nodes[static_cast<std::size_t>(it->second)].children) {
        const Node &node = m_nodes[static_cast<std::size_t>(child)];
        if (node.where == place.where && !std::holds_alternative<Whole>(place.where))
            return indexOfNode(child);
    }
    return indexOfNode(it->second);
}

EvidenceModel::RowType EvidenceModel::rowType(const QModelIndex &index) const
{
    return nodeOf(index).type;
}

QModelIndex EvidenceModel::index(int row, int column, const QModelIndex &parent) const
{
    if (row < 0 || column < 0 || column >= ColumnCount || row >= rowCount(parent))
        return {};
    const auto &children = parent.isValid() ? nodeOf(parent).children : m_top;
    return createIndex(row, column, static_cast<quintptr>(children[static_cast<std::size_t>(row)]));
}

QModelIndex EvidenceModel::parent(const QModelIndex &index) const
{
    return index.isValid() ? indexOfNode(nodeOf(index).parent) : QModelIndex();
}

int EvidenceModel::rowCount(const QModelIndex &parent) const
{
    if (!parent.isValid())
        return static_cast<int>(m_top.size());
    return parent.column() == 0 ? static_cast<int>(nodeOf(parent).children.size()) : 0;
}

int EvidenceModel::columnCount(const QModelIndex &) const
{
    return ColumnCount;
}

const Artifact *EvidenceModel::artifactOf(const Node &node) const
{
    const RunPtr &run = node.side == Side::A ? m_run : m_baseline;
    return run ? run->find(node.artifact) : nullptr;
}

QString EvidenceModel::nameText(const Node &node) const
{
    if (node.type != InputRow)
        return format::oneLine(node.name);
    const QString path = toQt(node.name);
    const QString last = path.section(QLatin1Char('/'), -1, -1, QString::SectionSkipEmpty);
    return last.isEmpty() || last == QStringLiteral(".") ? path : last;
}

QString EvidenceModel::summaryText(const Node &node) const
{
    const Artifact *const artifact = artifactOf(node);
    switch (node.type) {
    case InputRow:
    case FolderRow: return format::counted(node.children.size(), "entry", "entries");
    case ArtifactRow: return toQt(artifact->summary);
    case TensorsRow: {
        const auto *const content = artifact->as<TensorContent>();
        return format::counted(content->tensors.size(), "tensor", "tensors") + QStringLiteral(" · ")
            + tensorsText(*content);
    }
    case TemplateRow: return toQt(describe(node.where));
    case ProblemRow: return toQt(describe(artifact->problems[node.item]));
    }
    return {};
}

QString EvidenceModel::worstText(const Node &node) const
{
    const auto touching = node.type == ArtifactRow ? m_session->findings().touching(node.side, node.artifact)
                                                   : std::span<const FindingRef>();
    if (!touching.empty())
        return toQt(m_session->finding(touching.front()).title);
    if (node.type == ArtifactRow && !artifactOf(node)->problems.empty())
        return toQt(describe(artifactOf(node)->problems.front()));
    return {};
}

QVariant EvidenceModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const Node &node = nodeOf(index);
    switch (role) {
    case Qt::DisplayRole:
    case CopyRole:
        switch (index.column()) {
        case NameColumn: return role == CopyRole && node.type == InputRow ? toQt(node.name) : nameText(node);
        case KindColumn:
            if (node.type == ArtifactRow)
                return format::kind(artifactOf(node)->kind);
            return node.type == InputRow ? toQt((node.side == Side::A ? m_run : m_baseline)->inputs()[node.item].kind)
                                               .replace(QLatin1Char('_'), QLatin1Char(' '))
                                         : QString();
        case SizeColumn:
            if (node.type == TemplateRow || node.type == ProblemRow)
                return {};
            return role == CopyRole ? QString::number(node.size) : format::bytes(node.size);
        case SummaryColumn: return summaryText(node);
        case WorstColumn: return worstText(node);
        default: return {};
        }
    case Qt::ToolTipRole:
        if (index.column() == SizeColumn)
            return node.type == TemplateRow || node.type == ProblemRow ? QString() : format::exactBytes(node.size);
        if (index.column() == NameColumn && artifactOf(node))
            return toQt(artifactOf(node)->path);
        return index.column() == NameColumn ? toQt(node.name) : data(index, Qt::DisplayRole);
    case Qt::TextAlignmentRole: return index.column() == SizeColumn ? numberAlignment() : QVariant();
    case SortRole:
        return index.column() == SizeColumn ? QVariant(static_cast<qulonglong>(node.size))
                                            : data(index, Qt::DisplayRole);
    case AnchorRole:
        return node.artifact.valid() ? QVariant::fromValue(Selection{{node.side, node.artifact, node.where}})
                                     : QVariant();
    case SeverityRole: return node.severity ? severityVariant(*node.severity) : QVariant();
    case SideRole: return static_cast<int>(node.side);
    case KeyRole: return static_cast<int>(node.type);
    default: return {};
    }
}

QVariant EvidenceModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case NameColumn: return QStringLiteral("Name");
    case KindColumn: return QStringLiteral("Kind");
    case SizeColumn: return QStringLiteral("Size");
    case SummaryColumn: return QStringLiteral("Contents");
    case WorstColumn: return QStringLiteral("Worst finding");
    default: return {};
    }
}

} // namespace prosector
