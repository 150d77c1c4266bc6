// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/prompts/tokenizerview.h"

#include "models/core/hex.h"
#include "models/core/utf8.h"
#include "models/tokenizers/bytepiece.h"

#include <algorithm>

namespace prosector {

namespace {

std::string folderPath(const Artifact &artifact)
{
    const auto cut = artifact.path.rfind('/');
    return cut == std::string::npos ? std::string() : artifact.path.substr(0, cut);
}

/// Folders between, or nothing when `inner` does not lie in `outer`.
std::optional<std::size_t> depthBelow(const std::string &outer, const std::string &inner)
{
    if (!outer.empty() && inner != outer && !inner.starts_with(outer + '/'))
        return std::nullopt;
    const auto rest = std::string_view(inner).substr(outer.size());
    return static_cast<std::size_t>(std::count(rest.begin(), rest.end(), '/')) + (outer.empty() && !inner.empty() ? 1 : 0);
}

bool isOneSymbol(std::string_view piece)
{
    return piece.empty() || decodeUtf8(piece, 0).length == piece.size() || byteOfPiece(piece);
}

} // namespace

Value TokenizerView::json() const
{
    const Artifact *const file = gguf ? nullptr : run->find(folder->tokenizerJson);
    return file ? file->tree() : Value();
}

const Artifact &TokenizerView::file() const
{
    if (gguf)
        return *gguf;
    for (const ArtifactId id : {facts.vocabularyFile, folder->tokenizerConfig, folder->specialTokensMap, folder->addedTokens}) {
        if (id.valid())
            return run->artifact(id);
    }
    return run->artifact(folder->chatTemplates.empty() ? folder->all.front() : folder->chatTemplates.front());
}

Evidence TokenizerView::at(Evidence evidence) const
{
    evidence.side = side;
    return evidence;
}

void TokenizerView::index() const
{
    if (m_pieces)
        return;
    m_pieces = facts.piecesById();
    m_ids.reserve(m_pieces->size());
    for (std::size_t id = 0; id < m_pieces->size(); ++id)
        m_ids.emplace((*m_pieces)[id], static_cast<std::int64_t>(id));
    m_ids.erase(std::string());
}

const std::vector<std::string> &TokenizerView::pieces() const
{
    index();
    return *m_pieces;
}

std::optional<std::string> TokenizerView::piece(std::int64_t id) const
{
    index();
    if (id < 0 || static_cast<std::size_t>(id) >= m_pieces->size() || (*m_pieces)[static_cast<std::size_t>(id)].empty())
        return std::nullopt;
    return (*m_pieces)[static_cast<std::size_t>(id)];
}

std::optional<std::int64_t> TokenizerView::id(const std::string &piece) const
{
    index();
    const auto it = m_ids.find(piece);
    return it == m_ids.end() ? std::nullopt : std::optional(it->second);
}

const AddedToken *TokenizerView::added(std::int64_t id) const
{
    const auto it = std::lower_bound(facts.added.begin(), facts.added.end(), id, [](const AddedToken &t, std::int64_t i) { return t.id < i; });
    return it != facts.added.end() && it->id == id ? &*it : nullptr;
}

bool TokenizerView::isSpecial(std::int64_t id) const
{
    if (const AddedToken *const token = added(id); token && token->special)
        return true;
    return std::any_of(facts.roles.begin(), facts.roles.end(), [&](const SpecialRole &r) { return r.id == id; });
}

const std::set<std::int64_t> &TokenizerView::markers() const
{
    if (m_markers)
        return *m_markers;
    m_markers.emplace();
    for (const SpecialRole &role : facts.roles) {
        if (role.id)
            m_markers->insert(*role.id);
    }
    for (const AddedToken &token : facts.added) {
        const bool blank = token.content.find_first_not_of(" \t\r\n") == std::string::npos || token.content.starts_with("\xE2\x96\x81");
        const bool printed = !blank && std::any_of(facts.templates.begin(), facts.templates.end(), [&](const TemplateText &t) {
            return t.text.find(token.content) != std::string::npos;
        });
        if (token.special || printed)
            m_markers->insert(token.id);
    }
    return *m_markers;
}

bool TokenizerView::isMarker(std::int64_t id) const
{
    return markers().contains(id);
}

std::string TokenizerView::findExcerpt() const
{
    if (!facts.vocabularyFile.valid() || !facts.baseSize)
        return "no file holds the vocabulary";
    const bool bpe = facts.model == "BPE" || facts.model == "gpt2";
    const bool ignoresMerges = facts.ignoreMerges && facts.ignoreMerges->boolean == true;
    const auto inAdded = [&](std::size_t id) { return added(static_cast<std::int64_t>(id)) != nullptr; };
    if (bpe && facts.merges == 0 && !ignoresMerges) {
        for (std::size_t id = 0; id < pieces().size(); ++id) {
            if (!isOneSymbol(pieces()[id]) && !inAdded(id) && !isMarker(static_cast<std::int64_t>(id)))
                return "no merges, though pieces are longer than one symbol";
        }
    }
    const TokenizerPtr engine = tokenizer();
    int covered = 0;
    for (unsigned char c = 0x20; c < 0x7F; ++c) {
        std::string text(1, static_cast<char>(c));
        if (engine) {
            if (auto normal = engine->normalized(text))
                text = *normal;
        }
        if (text.starts_with("\xE2\x96\x81") && text.size() > 3)
            text.erase(0, 3);
        const std::string letter = pieceOfBytes(std::string(1, static_cast<char>(c)));
        for (const std::string &spelling : {text, "\xE2\x96\x81" + text, "##" + text, text + "</w>", letter, bytePiece(c),
                                            std::string(c == ' ' ? "\xE2\x96\x81" : "")}) {
            if (!spelling.empty() && id(spelling)) {
                ++covered;
                break;
            }
        }
        // WordPiece has no piece for a blank: it is where words are cut.
        covered += c == ' ' && (facts.model == "WordPiece" || facts.model == "bert") ? 1 : 0;
    }
    return covered < 48 ? std::to_string(covered) + " of the 95 printable ASCII characters have a piece" : std::string();
}

const std::string &TokenizerView::excerpt() const
{
    if (!m_excerpt)
        m_excerpt = findExcerpt();
    return *m_excerpt;
}

const Result<OpenedTokenizer> &TokenizerView::opened() const
{
    if (!m_opened)
        m_opened.emplace(gguf ? openTokenizer(*gguf) : openTokenizer(*run, *folder));
    return *m_opened;
}

TokenizerPtr TokenizerView::tokenizer() const
{
    return opened().ok() ? opened()->tokenizer : nullptr;
}

std::vector<TokenizerView> tokenizerViews(const Run &run, Side side)
{
    std::vector<TokenizerView> views;
    for (const ModelFolder &folder : run.models()) {
        if (auto facts = TokenizerFacts::ofFolder(run, folder)) {
            TokenizerView &view = views.emplace_back();
            view.facts = std::move(*facts);
            view.folder = &folder;
        }
        for (const ArtifactId id : folder.gguf) {
            auto facts = TokenizerFacts::ofGguf(run.artifact(id));
            if (!facts)
                continue;
            TokenizerView &view = views.emplace_back();
            view.facts = std::move(*facts);
            view.folder = &folder;
            view.gguf = &run.artifact(id);
        }
    }
    for (TokenizerView &view : views) {
        view.run = &run;
        view.side = side;
    }
    return views;
}

const TokenizerView *viewFor(const std::vector<TokenizerView> &views, const Artifact &artifact)
{
    if (const auto own = std::find_if(views.begin(), views.end(), [&](auto &v) { return v.gguf == &artifact; }); own != views.end())
        return &*own;
    const std::string folder = folderPath(artifact);
    const TokenizerView *best = nullptr;
    std::size_t bestDepth = 0;
    bool tie = false;
    for (const TokenizerView &view : views) {
        const auto depth = view.folder->input == artifact.input ? depthBelow(view.folder->path, folder) : std::nullopt;
        if (!depth || (best && *depth > bestDepth))
            continue;
        const bool closer = !best || *depth < bestDepth;
        const bool richer = best && *depth == bestDepth && !best->facts.vocabularyFile.valid() && view.facts.vocabularyFile.valid();
        if (closer || richer) {
            best = &view;
            bestDepth = *depth;
            tie = false;
        } else {
            tie = tie || best->gguf; // two GGUF files; a folder's own files go before its GGUF
        }
    }
    if (best)
        return tie ? nullptr : best;
    return views.size() == 1 ? &views.front() : nullptr;
}

std::string shownPiece(std::string_view piece)
{
    std::string out = "\"";
    std::size_t characters = 0;
    for (std::size_t at = 0; at < piece.size(); ++characters) {
        if (characters == 40)
            return out + "…\"";
        const CodePoint c = decodeUtf8(piece, at);
        if (!c.valid) {
            for (std::size_t i = 0; i < c.length; ++i)
                out += "\\x" + lowerHex(static_cast<unsigned char>(piece[at + i]));
        } else if (c.value == '\n') {
            out += "\\n";
        } else if (c.value == '\t') {
            out += "\\t";
        } else if (c.value == '\r') {
            out += "\\r";
        } else {
            out += piece.substr(at, c.length);
        }
        at += c.length;
    }
    return out + '"';
}

} // namespace prosector
