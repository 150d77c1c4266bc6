// SPDX-License-Identifier: GPL-3.0-or-later
// Session: saving and restoring.
#include "models/core/bytesource.h"
#include "models/session/session.h"
#include "models/session/text.h"

#include <QSaveFile>

namespace prosector {

namespace {

const QString saveKey = QStringLiteral("save-session");
const QString restoreKey = QStringLiteral("restore-session");
constexpr std::uint64_t sessionLimit = 64ULL << 20; // bytes; a session is a few kilobytes

Result<void> writeFile(const QString &name, const std::string &text)
{
    QSaveFile file(name);
    const QByteArray bytes = QByteArray::fromStdString(text);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
        return Error{Errc::Unreadable, name.toStdString() + ": cannot be written: " + file.errorString().toStdString()};
    return {};
}

Result<SessionFile> readFile(const std::string &name)
{
    const auto source = openFile(name);
    if (!source)
        return source.error();
    if ((*source)->size() > sessionLimit)
        return Error{Errc::TooLarge, name + ": too large for a saved session"};
    const auto bytes = (*source)->read(0, (*source)->size());
    if (!bytes)
        return bytes.error();
    auto file = SessionFile::parse(std::string(asText(*bytes)));
    if (!file) {
        Error error = file.error();
        error.message = name + ": " + error.message;
        return error;
    }
    return file;
}

} // namespace

void Session::save(const QString &file, const QByteArray &layout)
{
    m_jobs.start(
        saveKey, QStringLiteral("Saving %1").arg(file), this,
        [file, content = toFile(layout)](const Job &) { return writeFile(file, content.toJson()); },
        [this, file](const Result<void> &done) {
            if (done)
                emit saved(file);
            else
                fail(done.error());
        });
}

void Session::restore(const QString &file)
{
    m_jobs.start(
        restoreKey, QStringLiteral("Reading %1").arg(file), this,
        [name = file.toStdString()](const Job &) { return readFile(name); },
        [this](Result<SessionFile> content) {
            if (content)
                fromFile(*content);
            else
                fail(content.error());
        });
}

SessionFile Session::toFile(const QByteArray &layout) const
{
    SessionFile file;
    file.inputs = fromQt(m_paths);
    file.baseline = fromQt(m_baselinePaths);
    file.selection = named(m_hub.selection());
    for (const Bookmark &bookmark : m_hub.bookmarks())
        file.bookmarks.push_back({named(bookmark.selection), bookmark.note.toStdString()});
    for (const InstrumentState &state : m_states) {
        if (!state.changed.empty())
            file.thresholds[std::string(state.instrument->id)] = state.changed;
    }
    file.acknowledged = m_acknowledged;
    file.layout = layout.toStdString();
    return file;
}

void Session::fromFile(const SessionFile &file)
{
    for (InstrumentState &state : m_states) {
        state.changed.clear();
        const auto thresholds = file.thresholds.find(std::string(state.instrument->id));
        if (thresholds == file.thresholds.end())
            continue;
        for (const ParamSpec &spec : state.instrument->params) {
            const auto value = thresholds->second.find(spec.name);
            if (value != thresholds->second.end() && value->second >= spec.minimum && value->second <= spec.maximum)
                state.changed[std::string(spec.name)] = value->second;
        }
    }
    m_baseline.reset();
    m_baselinePaths.clear();
    m_restoring = file;
    if (!file.baseline.empty())
        startOpeningBaseline(toQt(file.baseline));
    startOpening(toQt(file.inputs), Keep::Nothing);
    emit restored(QByteArray::fromStdString(file.layout));
}

void Session::applyRestored()
{
    if (!m_restoring || !m_run || (!m_restoring->baseline.empty() && !m_baseline))
        return;
    const SessionFile file = std::move(*m_restoring);
    m_restoring.reset();
    m_acknowledged = file.acknowledged;
    std::vector<Bookmark> bookmarks;
    for (const SessionFile::Mark &mark : file.bookmarks) {
        if (Selection selection = placed(mark.places); !selection.empty())
            bookmarks.push_back({std::move(selection), toQt(mark.note)});
    }
    m_hub.setBookmarks(std::move(bookmarks));
    m_hub.select(placed(file.selection), &m_hub);
}

std::vector<SessionFile::NamedPlace> Session::named(const Selection &selection) const
{
    std::vector<SessionFile::NamedPlace> places;
    for (const Place &place : selection) {
        if (const Artifact *const found = artifact(place))
            places.push_back({place.side, found->name, place.where});
    }
    return places;
}

Selection Session::placed(const std::vector<SessionFile::NamedPlace> &places) const
{
    Selection selection;
    for (const SessionFile::NamedPlace &place : places) {
        const RunPtr in = run(place.side);
        if (const Artifact *const found = in ? in->byName(place.artifact) : nullptr)
            selection.push_back({place.side, found->id, place.where});
    }
    return selection;
}

} // namespace prosector
