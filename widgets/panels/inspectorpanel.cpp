// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/inspectorpanel.h"

#include "models/runs/locate.h"
#include "models/artifacts/tensors.h"
#include "models/item/format.h"
#include "models/session/session.h"
#include "widgets/panels/findingtext.h"
#include "widgets/panels/panelheader.h"
#include "widgets/views/richview.h"
#include "widgets/views/textlines.h"

#include <QApplication>
#include <QClipboard>

namespace prosector {

namespace {

constexpr std::uint64_t rawShown = 512;

QString row(const QString &key, const QString &value, bool code = false)
{
    return value.isEmpty() ? QString()
                           : QStringLiteral("<tr><td class=\"key\">%1</td><td%3>%2</td></tr>")
                                 .arg(RichView::escaped(key), RichView::escaped(value), code ? QStringLiteral(" class=\"code\"") : QString());
}

QString hexOf(const Bytes &bytes, std::size_t limit)
{
    QString text;
    for (std::size_t i = 0; i < std::min(limit, bytes.size()); ++i)
        text += QStringLiteral("%1 ").arg(std::to_integer<int>(bytes[i]), 2, 16, QLatin1Char('0')).toUpper();
    return bytes.size() > limit ? text + QStringLiteral("…") : text.trimmed();
}

/// What the value at a path means, decoded: strings without escapes, numbers as numbers.
QString decodedValue(const Artifact &artifact, const JsonPath &path)
{
    const auto *const tree = artifact.as<TreeContent>();
    const auto *const index = artifact.as<WeightIndexContent>();
    if (const DocumentPtr document = tree ? tree->document : index ? index->document : nullptr) {
        const Value value = document->at(path.path);
        switch (value.type()) {
        case Value::Type::String: return format::oneLine(value.string(""));
        case Value::Type::Number: return value.integer() ? format::grouped(*value.integer()) : format::number(value.number().value_or(0));
        case Value::Type::Boolean: return value.boolean().value_or(false) ? QStringLiteral("true") : QStringLiteral("false");
        case Value::Type::Null: return QStringLiteral("null");
        case Value::Type::Array: return QObject::tr("array, %1").arg(format::counted(value.size(), "element", "elements"));
        case Value::Type::Object: return QObject::tr("object, %1").arg(format::counted(value.size(), "member", "members"));
        case Value::Type::Missing: break;
        }
        return {};
    }
    if (const auto *const gguf = artifact.as<GgufContent>()) {
        for (const GgufEntry &entry : gguf->entries) {
            if (GgufContent::anchor(entry.key).path == path.path)
                return toQt(entry.value.display(200));
        }
    }
    return {};
}

} // namespace

InspectorPanel::InspectorPanel(Session *session, QWidget *parent)
    : Panel(session, QStringLiteral("inspector"), tr("Inspector"), parent), m_view(new RichView)
{
    setContent(m_view);
    m_view->setAccessibleName(tr("Details of the selection"));
    header()->setClosable(false);
    connect(m_view, &RichView::anchorClicked, this, &InspectorPanel::follow);
    connect(session, &Session::findingsChanged, this, &InspectorPanel::scheduleRefresh);
    connect(session, &Session::runChanged, this, [this] {
        m_selection = this->session()->hub()->selection();
        scheduleRefresh();
    });
}

void InspectorPanel::follow(const QUrl &url)
{
    const FindingLink link = FindingLink::parse(url);
    if (link.type == FindingLink::Type::Instrument) {
        emit instrumentRequested(link.instrument);
    } else if (link.type == FindingLink::Type::Evidence) {
        const Finding &finding = session()->finding(link.ref);
        if (link.evidence < finding.evidence.size())
            emit placeActivated(placeOf(finding.evidence[link.evidence]));
    }
}

FindingRef InspectorPanel::findingOf(const Selection &selection) const
{
    if (selection.empty())
        return {};
    FindingRef part;
    for (const FindingRef ref : session()->findings().touching(selection[0].side, selection[0].artifact)) {
        const Selection places = placesOf(session()->finding(ref));
        if (places == selection)
            return ref;
        if (!part.valid() && std::find(places.begin(), places.end(), selection[0]) != places.end())
            part = ref;
    }
    return part;
}

void InspectorPanel::reveal(const Selection &selection)
{
    m_selection = selection;
    readRaw();
    compose();
}

void InspectorPanel::refresh()
{
    readRaw();
    compose();
}

void InspectorPanel::readRaw()
{
    m_raw.clear();
    m_problem.clear();
    m_bytes = {};
    if (m_selection.empty())
        return;
    const Artifact *const artifact = session()->artifact(m_selection[0]);
    const auto bytes = artifact ? anchorToBytes(*artifact, m_selection[0].where) : std::nullopt;
    if (!bytes)
        return;
    m_bytes = *bytes;
    session()->jobs()->start(
        QStringLiteral("inspector.raw"), tr("Reading the selected bytes"), this,
        [source = artifact->source, range = *bytes](const Job &) {
            return source->readUpTo(range.from, std::min(range.size(), rawShown));
        },
        [this](const Result<Bytes> &raw) {
            if (raw)
                m_raw = *raw;
            else if (raw.error().code != Errc::Cancelled)
                m_problem = toQt(describe(raw.error()));
            compose();
        });
}

void InspectorPanel::compose()
{
    if (m_selection.empty()) {
        setOrigin({});
        m_view->setBody(QStringLiteral("<p class=\"dim\">%1</p>")
                            .arg(RichView::escaped(session()->run() ? tr("Select a finding, a file or a value: what it is and where it stands is shown here.")
                                                                    : tr("Nothing is selected."))));
        return;
    }
    QString html;
    if (const FindingRef ref = findingOf(m_selection); ref.valid()) {
        html += findingHtml(*session(), ref);
        const std::string_view id = session()->state(ref.instrument).instrument->id;
        html += QStringLiteral("<p>%1</p><hr>")
                    .arg(RichView::link(QStringLiteral("instrument:") + toQt(id),
                                        tr("Found by %1 %2").arg(toQt(id), toQt(session()->state(ref.instrument).instrument->name))));
    }
    const Place &place = m_selection[0];
    const Artifact *const artifact = session()->artifact(place);
    if (artifact == nullptr) {
        m_view->setBody(html + QStringLiteral("<p class=\"dim\">%1</p>").arg(tr("This place is not in what is open now.")));
        return;
    }
    setOrigin(toQt(artifact->path));
    html += QStringLiteral("<h1>%1</h1><table>").arg(RichView::escaped(std::holds_alternative<Whole>(place.where) ? toQt(artifact->name) : toQt(describe(place.where))));
    html += row(tr("file"), toQt(artifact->path));
    if (session()->baseline())
        html += row(tr("run"), place.side == Side::A ? QStringLiteral("A") : QStringLiteral("B"));
    html += row(tr("kind"), format::kind(artifact->kind));
    html += row(tr("format"), toQt(artifact->format));
    html += row(tr("summary"), toQt(artifact->summary));
    html += row(tr("size"), format::exactBytes(artifact->size));
    if (m_bytes.size() > 0 && !std::holds_alternative<Whole>(place.where)) {
        html += row(tr("offset"), format::offset(m_bytes.from) + QStringLiteral(" (%1)").arg(format::grouped(m_bytes.from)));
        html += row(tr("length"), format::exactBytes(m_bytes.size()));
    }
    if (const auto *const path = std::get_if<JsonPath>(&place.where))
        html += row(tr("value"), decodedValue(*artifact, *path), true);
    if (const auto *const block = std::get_if<TensorBlock>(&place.where)) {
        const auto *const tensors = artifact->as<TensorContent>();
        if (const TensorInfo *const tensor = tensors ? tensors->find(block->tensor) : nullptr) {
            html += row(tr("shape"), toQt(tensor->shapeText()));
            html += row(tr("type"), toQt(tensor->dtypeName));
        }
    }
    if (!std::holds_alternative<Whole>(place.where) && !m_raw.empty()) {
        html += row(tr("text"), displayRow(asText(std::span(m_raw).first(std::min<std::size_t>(m_raw.size(), 240)))).text
                        + (m_bytes.size() > 240 ? QStringLiteral(" …") : QString()), true);
        html += row(tr("bytes"), hexOf(m_raw, 48), true);
    }
    html += row(tr("problem"), m_problem);
    html += QStringLiteral("</table>");
    for (const Error &problem : artifact->problems)
        html += QStringLiteral("<p><img src=\"icon:warning\"> %1</p>").arg(RichView::escaped(toQt(describe(problem))));
    const auto touching = session()->findings().touching(place.side, place.artifact);
    if (!touching.empty()) {
        html += QStringLiteral("<h3>%1</h3>").arg(tr("Findings in this file"));
        for (const FindingRef ref : touching) {
            const Finding &finding = session()->finding(ref);
            std::size_t at = 0;
            while (at + 1 < finding.evidence.size() && finding.evidence[at].artifact != place.artifact)
                ++at;
            html += QStringLiteral("<p><img src=\"icon:%1\"> %2</p>")
                        .arg(toQt(nameOf(finding.severity)),
                             RichView::link(QStringLiteral("evidence:%1/%2/%3").arg(ref.instrument).arg(ref.finding).arg(at), toQt(finding.title)));
        }
    }
    m_view->setBody(html);
}

void InspectorPanel::copy()
{
    const QString selected = m_view->textCursor().selectedText();
    QApplication::clipboard()->setText(selected.isEmpty() ? m_view->toPlainText() : selected);
}

} // namespace prosector
