// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/tokenpane.h"

#include "models/item/format.h"
#include "models/prompts/tokenizerview.h"
#include "models/session/session.h"
#include "models/session/text.h"
#include "widgets/theme.h"
#include "widgets/views/tokenview.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QStackedWidget>

namespace prosector {

namespace {
constexpr auto gatherKey = "tokens.gather";
constexpr auto openKey = "tokens.open";
constexpr auto findKey = "tokens.find";
}

/// What the run holds to choose from. Keeps the run alive, since arrays point into it.
struct TokenPane::Gathered {
    RunPtr run;
    std::vector<TokenArray> arrays;
    std::vector<std::vector<std::size_t>> groups; ///< arrays shown as one
    struct Reader {
        std::string name;
        TokenizerPtr tokenizer;
    };
    std::vector<Reader> readers;
    std::vector<int> readerOf; ///< by group; -1 when none goes with it
};

TokenPane::TokenPane(Session *session, QWidget *parent)
    : Panel(session, paneId(), tr("Tokens"), parent), m_view(new TokenView(session->jobs())), m_arrays(new QComboBox), m_tokenizers(new QComboBox),
      m_mode(new QComboBox), m_findBy(new QComboBox), m_status(new QLabel), m_empty(new QLabel), m_stack(new QStackedWidget)
{
    m_arrays->setAccessibleName(tr("Which token array"));
    m_tokenizers->setAccessibleName(tr("Which tokenizer reads the ids"));
    m_mode->setAccessibleName(tr("Wrapped text or one token a row"));
    m_mode->addItems({tr("Wrapped"), tr("One a row")});
    m_findBy->setAccessibleName(tr("What Find looks for"));
    m_findBy->addItems({tr("Find text"), tr("Find ids"), tr("Find expression")});
    m_empty->setWordWrap(true);
    m_empty->setMargin(3 * Theme::grid);
    m_empty->setAlignment(Qt::AlignTop);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_status->setContentsMargins(2 * Theme::grid, Theme::grid, 2 * Theme::grid, Theme::grid);
    m_status->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto *const content = new QWidget;
    auto *const column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto *const bar = new QHBoxLayout;
    bar->setContentsMargins(2 * Theme::grid, Theme::grid, 2 * Theme::grid, Theme::grid);
    bar->addWidget(m_arrays, 2);
    bar->addWidget(m_tokenizers, 1);
    bar->addWidget(m_mode);
    bar->addWidget(m_findBy);
    column->addLayout(bar);
    m_stack->addWidget(m_view);
    m_stack->addWidget(m_empty);
    column->addWidget(m_stack, 1);
    column->addWidget(m_status);
    setContent(content);
    setFocusProxy(m_view);
    watchJobs({QLatin1String(gatherKey), QLatin1String(openKey), QLatin1String(findKey)});

    connect(m_arrays, &QComboBox::activated, this, [this](int group) {
        m_tokenizers->setCurrentIndex(m_gathered->readerOf[static_cast<std::size_t>(group)] + 1);
        openChosen();
    });
    connect(m_tokenizers, &QComboBox::activated, this, &TokenPane::openChosen);
    connect(m_mode, &QComboBox::currentIndexChanged, this, [this](int mode) { m_view->setMode(mode == 0 ? TokenView::Mode::Wrapped : TokenView::Mode::List); });
    connect(m_view, &TokenView::selected, this, [this] {
        updateStatus();
        publishSelection();
    });
    connect(m_view, &TokenView::laidOut, this, &Panel::settled);
    connect(session, &Session::runChanged, this, &TokenPane::scheduleRefresh);
}

void TokenPane::refresh()
{
    m_gathered.reset();
    m_view->setSequence({});
    m_empty->setText(tr("Looking for token arrays…"));
    m_stack->setCurrentIndex(1);
    const RunPtr run = session()->run();
    if (!run)
        return take(std::make_shared<const Gathered>());
    session()->jobs()->start(
        QLatin1String(gatherKey), tr("Looking for token arrays"), this,
        [run](const Job &job) -> Result<std::shared_ptr<const Gathered>> {
            auto all = tokenArrays(*run, job);
            if (!all)
                return all.error();
            const auto gathered = std::make_shared<Gathered>();
            gathered->run = run;
            gathered->arrays = std::move(*all);
            gathered->groups = joinedArrays(gathered->arrays);
            if (gathered->groups.empty())
                return std::shared_ptr<const Gathered>(gathered);
            const auto views = tokenizerViews(*run);
            std::vector<int> readerOfView;
            for (const TokenizerView &view : views) {
                if (job.cancelled())
                    return Job::cancelledError();
                const TokenizerPtr tokenizer = view.tokenizer();
                readerOfView.push_back(tokenizer ? static_cast<int>(gathered->readers.size()) : -1);
                if (tokenizer)
                    gathered->readers.push_back({view.path(), tokenizer});
            }
            for (const auto &group : gathered->groups) {
                const TokenizerView *const view = viewFor(views, *gathered->arrays[group[0]].artifact);
                gathered->readerOf.push_back(view ? readerOfView[static_cast<std::size_t>(view - views.data())] : -1);
            }
            return std::shared_ptr<const Gathered>(gathered);
        },
        [this](const Result<std::shared_ptr<const Gathered>> &gathered) {
            if (gathered)
                return take(*gathered);
            m_empty->setText(toQt(describe(gathered.error())));
            emit settled();
        });
}

const TokenArray *TokenPane::firstOf(int group) const
{
    return m_gathered && group >= 0 && static_cast<std::size_t>(group) < m_gathered->groups.size()
               ? &m_gathered->arrays[m_gathered->groups[static_cast<std::size_t>(group)][0]]
               : nullptr;
}

void TokenPane::take(std::shared_ptr<const Gathered> gathered)
{
    m_gathered = std::move(gathered);
    m_arrays->clear();
    m_tokenizers->clear();
    m_tokenizers->addItem(tr("No tokenizer: ids and recorded pieces"));
    for (const Gathered::Reader &reader : m_gathered->readers)
        m_tokenizers->addItem(toQt(reader.name));
    for (const auto &group : m_gathered->groups) {
        const TokenArray &array = m_gathered->arrays[group[0]];
        std::size_t tokens = 0;
        for (const std::size_t i : group)
            tokens += m_gathered->arrays[i].size();
        QString text = toQt(array.artifact->name) + QStringLiteral("  ") + toQt(describe(array.where));
        if (array.row > 0)
            text += tr(", row %1").arg(array.row);
        m_arrays->addItem(text + QStringLiteral("  ") + format::counted(tokens, "token", "tokens"));
    }
    if (m_gathered->groups.empty()) {
        m_empty->setText(tr("No token array is open. Drop a tokens.json, a response with token ids (vLLM: return_token_ids; SGLang: return_logprob; "
                            "llama.cpp: return_tokens) or a /tokenize body here."));
        m_status->clear();
        emit settled();
        return;
    }
    m_tokenizers->setCurrentIndex(m_gathered->readerOf[0] + 1);
    const Selection selection = session()->hub()->selection();
    openChosen();
    reveal(selection);
}

void TokenPane::openChosen()
{
    const TokenArray *const first = firstOf(m_arrays->currentIndex());
    if (!first)
        return;
    setArtifact(Side::A, first->artifact->id);
    m_query.reset();
    const auto group = static_cast<std::size_t>(m_arrays->currentIndex());
    const int reader = m_tokenizers->currentIndex() - 1;
    session()->jobs()->start(
        QLatin1String(openKey), tr("Opening tokens"), this,
        [gathered = m_gathered, group, reader](const Job &job) {
            std::vector<TokenArray> parts;
            for (const std::size_t i : gathered->groups[group])
                parts.push_back(gathered->arrays[i]);
            return TokenSequence::make(parts, reader < 0 ? TokenizerPtr() : gathered->readers[static_cast<std::size_t>(reader)].tokenizer, job);
        },
        [this](const Result<TokenSequencePtr> &sequence) {
            if (sequence) {
                m_view->setSequence(*sequence);
                m_stack->setCurrentIndex(0);
                if (m_wanted)
                    m_view->select(*std::exchange(m_wanted, std::nullopt));
                updateStatus();
            }
            emit settled();
        });
}

bool TokenPane::isBusy() const
{
    return session()->jobs()->isRunning(QLatin1String(gatherKey)) || session()->jobs()->isRunning(QLatin1String(openKey)) || !m_view->ready();
}

void TokenPane::reveal(const Selection &selection)
{
    if (!m_gathered)
        return; // take() comes back to it
    for (const Place &place : selection) {
        const auto *const tokens = std::get_if<TokenRange>(&place.where);
        if (!tokens || place.side != Side::A)
            continue;
        // The array shown, if it is of that file and reaches so far; else the first that does.
        std::vector<int> order{m_arrays->currentIndex()};
        for (int group = 0; group < m_arrays->count(); ++group)
            order.push_back(group);
        for (const int group : order) {
            const TokenArray *const first = firstOf(group);
            if (!first || first->artifact->id != place.artifact)
                continue;
            std::uint64_t end = first->first;
            for (const std::size_t i : m_gathered->groups[static_cast<std::size_t>(group)])
                end += m_gathered->arrays[i].size();
            if (tokens->from < first->first || tokens->from >= end)
                continue;
            const TokenRange wanted{tokens->from - first->first, std::min(tokens->to, end) - first->first};
            if (group == m_arrays->currentIndex() && !session()->jobs()->isRunning(QLatin1String(openKey))) {
                m_view->select(wanted);
            } else {
                m_wanted = wanted;
                if (group != m_arrays->currentIndex()) {
                    m_arrays->setCurrentIndex(group);
                    m_tokenizers->setCurrentIndex(m_gathered->readerOf[static_cast<std::size_t>(group)] + 1);
                    openChosen();
                }
            }
            updateStatus();
            return;
        }
    }
}

void TokenPane::publishSelection()
{
    if (const TokenArray *const first = firstOf(m_arrays->currentIndex())) {
        const TokenRange &tokens = m_view->selection();
        publish({{Side::A, first->artifact->id, TokenRange{tokens.from + first->first, tokens.to + first->first}}});
    }
}

void TokenPane::updateStatus()
{
    const TokenSequencePtr &sequence = m_view->sequence();
    if (!sequence)
        return m_status->clear();
    QString text = format::counted(sequence->size(), "token", "tokens");
    if (const TokenRange tokens = m_view->selection(); tokens.to > tokens.from) {
        const ByteRange bytes = sequence->bytesOf(tokens);
        text += tr(" · selected %1 from %2 · bytes %3 to %4").arg(format::grouped(tokens.to - tokens.from), format::grouped(tokens.from), format::grouped(bytes.from), format::grouped(bytes.to));
        const TokenKind &kind = sequence->kind(tokens.from);
        if (kind.id != TokenKind::noId)
            text += tr(" · id %1").arg(kind.id);
        if (!kind.note.empty())
            text += QStringLiteral(" · ") + toQt(kind.note);
    }
    if (!sequence->tokenizer())
        text += tr(" · no tokenizer is open for these ids: open the model's folder with them");
    m_status->setText(text);
}

QString TokenPane::goToHint() const { return tr("Index of a token, from 0"); }

void TokenPane::goTo(const QString &where)
{
    bool valid = false;
    const qulonglong token = where.trimmed().toULongLong(&valid);
    if (!valid || !m_view->sequence() || token >= m_view->sequence()->size())
        return;
    m_view->select({token, token + 1});
    updateStatus();
    publishSelection();
}

void TokenPane::copy() { QApplication::clipboard()->setText(m_view->selectedText()); }

void TokenPane::findText(const QString &text, bool forward)
{
    if (!m_view->sequence())
        return;
    const TokenQuery query{static_cast<TokenQuery::By>(m_findBy->currentIndex()), text.toStdString()};
    if (m_query == query)
        return showMatch(forward);
    showFindResult(tr("searching…"));
    session()->jobs()->start(
        QLatin1String(findKey), tr("Searching tokens"), this, [sequence = m_view->sequence(), query](const Job &job) { return findTokens(*sequence, query, job); },
        [this, query, forward](const Result<TokenMatches> &matches) {
            if (!matches)
                return showFindResult(matches.error().code == Errc::Cancelled ? QString() : toQt(describe(matches.error())));
            m_query = query;
            m_matches = *matches;
            showMatch(forward);
        });
}

void TokenPane::showMatch(bool forward)
{
    const TokenRange now = m_view->selection();
    const auto match = m_matches.next(now.from, forward, now.from == now.to);
    if (!match)
        return showFindResult(tr("not found"));
    m_view->select(m_matches.ranges[*match]);
    showFindResult((m_matches.complete ? tr("%1 of %2") : tr("%1 of more than %2")).arg(format::grouped(static_cast<std::uint64_t>(*match + 1)), format::grouped(static_cast<std::uint64_t>(m_matches.ranges.size()))));
    updateStatus();
    publishSelection();
}

} // namespace prosector
