// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/sourcepane.h"

#include "models/runs/locate.h"
#include "models/artifacts/tensors.h"
#include "models/core/bytesearch.h"
#include "models/item/format.h"
#include "models/item/ggufmodel.h"
#include "models/item/jsontreemodel.h"
#include "models/session/session.h"
#include "widgets/panels/panelheader.h"
#include "widgets/theme.h"
#include "widgets/views/columnfit.h"
#include "widgets/views/hexview.h"
#include "widgets/views/overviewstrip.h"
#include "widgets/views/tableview.h"
#include "widgets/views/textview.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSplitter>
#include <QToolButton>

namespace prosector {

namespace {

/// The tree of an artifact that has one; null when it has none.
const Document *documentOf(const Artifact &artifact)
{
    if (const auto *const tree = artifact.as<TreeContent>())
        return tree->document.get();
    if (const auto *const index = artifact.as<WeightIndexContent>())
        return index->document.get();
    return nullptr;
}

/// The artifact's text if it is in memory already, without a copy.
std::shared_ptr<const std::string> textInMemory(const Artifact &artifact)
{
    if (const Document *const document = documentOf(artifact))
        return {artifact.content, &document->text()};
    if (const auto *const text = artifact.as<TextContent>())
        return {artifact.content, &text->text};
    return {};
}

bool isText(const Artifact &artifact)
{
    return documentOf(artifact) || artifact.as<TextContent>() || artifact.as<LinesContent>() || artifact.as<LfsContent>();
}

} // namespace

QString SourcePane::idFor(Side side, const QString &artifact)
{
    return (side == Side::A ? QStringLiteral("source:") : QStringLiteral("source:B:")) + artifact;
}

SourcePane::SourcePane(Session *session, Side side, const QString &artifact, QWidget *parent)
    : Panel(session, idFor(side, artifact), artifact, parent), m_side(side), m_artifactName(artifact),
      m_json(new JsonTreeModel(this)), m_gguf(new GgufModel(this)), m_tree(new TreeView), m_text(new TextView(session->jobs())),
      m_hex(new HexView(session->jobs())), m_strip(new OverviewStrip)
{
    m_tree->setHeaderHidden(false);
    m_tree->setAccessibleName(tr("Tree of %1").arg(artifact));
    // Tree and text side by side, the bytes below over the whole width: sixteen a row need it.
    auto *const stack = new QSplitter(Qt::Vertical);
    m_upper = new QSplitter(Qt::Horizontal);
    m_upper->addWidget(m_tree);
    m_upper->addWidget(m_text);
    m_upper->setStretchFactor(0, 2);
    m_upper->setStretchFactor(1, 3);
    stack->addWidget(m_upper);
    stack->addWidget(m_hex);
    stack->setStretchFactor(0, 3);
    stack->setStretchFactor(1, 1);
    for (QSplitter *const splitter : {stack, m_upper}) {
        splitter->setHandleWidth(1);
        splitter->setChildrenCollapsible(false);
    }
    auto *const content = new QWidget;
    auto *const row = new QHBoxLayout(content);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(stack, 1);
    row->addWidget(m_strip);
    addToggle(Tree, tr("Tree"), m_tree);
    addToggle(Text, tr("Text"), m_text);
    addToggle(Hex, tr("Hex"), m_hex);
    setContent(content);

    connect(m_tree, &TreeView::rowChosen, this, [this](const QModelIndex &index) {
        if (const Selection places = placesAt(index); !places.empty()) {
            if (const Artifact *const shown = this->artifact()) {
                if (const auto bytes = anchorToBytes(*shown, places[0].where))
                    selectBytes(*bytes, m_tree);
            }
            publish(places);
        }
    });
    connect(m_text, &TextView::selected, this, [this](const ByteRange &bytes) {
        selectBytes(bytes, m_text);
        selectInTree(bytes);
        publishPlace(bytes);
    });
    connect(m_hex, &HexView::selected, this, [this](const ByteRange &bytes) {
        selectBytes(bytes, m_hex);
        selectInTree(bytes);
        publishPlace(bytes);
    });
    connect(m_text, &TextView::loaded, this, [this] {
        updateWindow();
        emit settled();
    });
    connect(m_text, &RowView::scrolled, this, &SourcePane::updateWindow);
    connect(m_hex, &RowView::scrolled, this, &SourcePane::updateWindow);
    connect(m_strip, &OverviewStrip::jump, this, [this](double share) {
        const auto *const shown = this->artifact();
        if (shown == nullptr)
            return;
        const auto at = static_cast<std::uint64_t>(share * static_cast<double>(shown->size));
        if (m_text->isVisible() && m_text->lines())
            m_text->setTopRow(m_text->lines()->rowOfOffset(at));
        m_hex->setTopRow(at / HexView::bytesPerRow);
    });
    connect(session, &Session::runChanged, this, &SourcePane::scheduleRefresh);
    connect(session, &Session::findingsChanged, this, &SourcePane::updateMarks);
}

void SourcePane::addToggle(View view, const QString &text, QWidget *widget)
{
    auto *const button = new QToolButton;
    button->setText(text);
    button->setCheckable(true);
    button->setChecked(true);
    button->setToolTip(tr("Show or hide the view \"%1\"").arg(text));
    button->setAccessibleName(tr("View %1").arg(text));
    connect(button, &QToolButton::clicked, this, [this] {
        m_viewsChosen = true;
        int views = 0;
        for (const Toggle &toggle : m_toggles)
            views |= toggle.button->isChecked() ? toggle.view : 0;
        setViews(views == 0 ? Hex : views);
    });
    header()->addTool(button);
    m_toggles.push_back({view, button, widget});
}

void SourcePane::setViews(int views)
{
    for (const Toggle &toggle : m_toggles) {
        toggle.button->setChecked(views & toggle.view);
        toggle.widget->setVisible(views & toggle.view);
    }
    m_upper->setVisible(views & (Tree | Text));
}

const Artifact *SourcePane::artifact() const
{
    return m_run ? m_run->byName(m_artifactName.toStdString()) : nullptr;
}

void SourcePane::refresh()
{
    m_run = session()->run(m_side);
    const Artifact *const shown = artifact();
    if (shown == nullptr) {
        setOrigin(tr("not in what is open now"));
        m_text->setSource({});
        m_hex->setSource({});
        m_strip->setMarks({});
        return;
    }
    setArtifact(m_side, shown->id);
    const Place place{m_side, shown->id};
    const bool gguf = shown->as<GgufContent>() != nullptr;
    const bool tree = gguf || documentOf(*shown) || shown->as<LinesContent>();
    QAbstractItemModel *const model = gguf ? static_cast<QAbstractItemModel *>(m_gguf) : m_json;
    gguf ? m_gguf->setArtifact(m_run, place) : m_json->setArtifact(m_run, place);
    if (m_tree->model() != model) {
        m_tree->setModel(model);
        if (m_fit == nullptr)
            m_fit = new ColumnFit(m_tree, m_tree->header(),
                                  {{.least = 24, .most = 48}, {.least = 14, .most = 60, .stretch = 1}, {.least = 9, .most = 14, .optional = true}, {.least = 9, .most = 24, .optional = true}});
        else
            m_fit->watchModel();
    }
    if (!gguf)
        m_tree->expand(model->index(0, 0));
    const bool text = isText(*shown);
    m_text->setSource(text ? shown->source : SourcePtr(), textInMemory(*shown));
    m_hex->setSource(shown->source);
    for (const Toggle &toggle : m_toggles)
        toggle.button->setEnabled(toggle.view == Hex || (toggle.view == Tree ? tree : text));
    if (!m_viewsChosen)
        setViews((tree ? Tree : 0) | (text ? Text : 0) | Hex);
    updateMarks();
    reveal(session()->hub()->selection());
}

void SourcePane::updateMarks()
{
    const Artifact *const shown = artifact();
    if (shown == nullptr || m_run != session()->run(m_side))
        return;
    std::vector<ByteMark> marks;
    std::vector<OverviewStrip::Mark> strip;
    const auto size = static_cast<double>(std::max<std::uint64_t>(1, shown->size));
    for (const FindingRef ref : session()->findings().touching(m_side, shown->id)) {
        const Finding &finding = session()->finding(ref);
        for (const Evidence &evidence : finding.evidence) {
            if (evidence.artifact != shown->id || evidence.side != m_side || std::holds_alternative<Whole>(evidence.where))
                continue;
            if (const auto bytes = anchorToBytes(*shown, evidence.where)) {
                const QString note = toQt(finding.title) + QLatin1Char('\n') + toQt(evidence.note);
                marks.push_back({*bytes, finding.severity, note});
                strip.push_back({static_cast<double>(bytes->from) / size, static_cast<double>(bytes->to) / size, finding.severity, note});
            }
        }
    }
    // The worst is painted last, over the others.
    std::stable_sort(marks.begin(), marks.end(), [](const ByteMark &a, const ByteMark &b) { return a.severity < b.severity; });
    m_text->setMarks(marks);
    m_hex->setMarks(std::move(marks));
    m_strip->setMarks(std::move(strip));
}

void SourcePane::updateWindow()
{
    const Artifact *const shown = artifact();
    if (shown == nullptr || shown->size == 0)
        return;
    const auto size = static_cast<double>(shown->size);
    if (const TextLines *const lines = m_text->lines(); lines && m_text->isVisible() && lines->rowCount() > 0) {
        const std::uint64_t last = std::min(m_text->topRow() + m_text->visibleRows(), lines->rowCount() - 1);
        m_strip->setWindow(static_cast<double>(lines->rowStart(m_text->topRow())) / size, static_cast<double>(lines->rowStart(last)) / size);
    } else {
        const auto row = static_cast<double>(HexView::bytesPerRow);
        m_strip->setWindow(static_cast<double>(m_hex->topRow()) * row / size,
                           static_cast<double>(m_hex->topRow() + m_hex->visibleRows()) * row / size);
    }
}

void SourcePane::selectBytes(const ByteRange &bytes, QObject *except)
{
    if (except != m_text)
        m_text->select(bytes);
    if (except != m_hex)
        m_hex->select(bytes);
}

void SourcePane::selectInTree(const Anchor &where)
{
    if (m_tree->model() == nullptr)
        return;
    const QModelIndex index = m_tree->model() == m_gguf ? m_gguf->indexFor(where) : m_json->indexFor(where);
    if (index.isValid())
        m_tree->showIndex(index);
}

void SourcePane::publishPlace(const Anchor &where)
{
    if (const Artifact *const shown = artifact())
        publish({{m_side, shown->id, where}});
}

void SourcePane::reveal(const Selection &selection)
{
    const Artifact *const shown = artifact();
    if (shown == nullptr)
        return;
    const auto place = std::find_if(selection.begin(), selection.end(), [&](const Place &p) {
        return p.artifact == shown->id && p.side == m_side && !std::holds_alternative<Whole>(p.where);
    });
    if (place == selection.end())
        return;
    selectInTree(place->where);
    if (const auto bytes = anchorToBytes(*shown, place->where))
        selectBytes(*bytes, nullptr);
    else if (const auto *const lines = std::get_if<LogLine>(&place->where))
        m_text->selectLines(lines->from, lines->to);
}

QString SourcePane::goToHint() const { return tr("Line number, offset as 0x1F0 or @496, or path as $.key"); }

void SourcePane::goTo(const QString &where)
{
    const Artifact *const shown = artifact();
    if (shown == nullptr)
        return;
    const QString text = where.trimmed();
    Anchor anchor = Whole{};
    bool valid = false;
    if (text.startsWith(QLatin1Char('$'))) {
        anchor = JsonPath{text.toStdString()};
        valid = anchorToBytes(*shown, anchor).has_value();
    } else if (text.startsWith(QLatin1Char('@')) || text.startsWith(QLatin1String("0x"), Qt::CaseInsensitive)) {
        const qulonglong offset = text.startsWith(QLatin1Char('@')) ? text.mid(1).toULongLong(&valid) : text.toULongLong(&valid, 16);
        valid = valid && offset < shown->size;
        anchor = ByteRange{offset, offset + 1};
    } else {
        const qulonglong line = text.toULongLong(&valid);
        valid = valid && line > 0;
        anchor = LogLine{line, line};
    }
    if (!valid)
        return;
    const Selection places{{m_side, shown->id, anchor}};
    reveal(places);
    publish(places);
}

void SourcePane::copy()
{
    if (m_tree->hasFocus())
        m_tree->copySelected();
    else
        QApplication::clipboard()->setText(m_hex->hasFocus() || m_text->selectedText().isEmpty() ? m_hex->selectedHex() : m_text->selectedText());
}

QAbstractItemModel *SourcePane::csvModel() const { return m_tree->isVisibleTo(this) ? m_tree->model() : nullptr; }

bool SourcePane::isBusy() const
{
    const Artifact *const shown = artifact();
    return shown && isText(*shown) && isVisible() && m_text->isVisible() && !m_text->ready();
}

ByteRange SourcePane::selectedBytes() const { return m_text->isVisible() ? m_text->selection() : m_hex->selection(); }

void SourcePane::findText(const QString &text, bool forward)
{
    const Artifact *const shown = artifact();
    if (shown == nullptr)
        return;
    const ByteRange now = selectedBytes();
    const ByteSearch search{text.toStdString(), true, forward, forward ? now.from + (now.size() > 0 ? 1 : 0) : now.from};
    showFindResult(tr("searching…"));
    session()->jobs()->start(
        id() + QStringLiteral(".find"), tr("Searching %1").arg(m_artifactName), this,
        [source = shown->source, search](const Job &job) { return findBytes(*source, search, job); },
        [this](const Result<std::optional<ByteRange>> &found) {
            if (!found)
                return showFindResult(found.error().code == Errc::Cancelled ? QString() : toQt(describe(found.error())));
            if (!*found)
                return showFindResult(tr("not found"));
            selectBytes(**found, nullptr);
            selectInTree(**found);
            publishPlace(**found);
            const std::uint64_t line = m_text->lineOf((*found)->from);
            showFindResult(line ? tr("line %1").arg(line) : format::offset((*found)->from));
        });
}

} // namespace prosector
