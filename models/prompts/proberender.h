// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/prompts/tokenizerview.h"
#include "models/templates/foldertemplate.h"
#include "models/templates/template.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// The conversations that a template is asked to print (the catalogue's "Probe renders"). Their texts are the
/// sentinels below, which no template spells.
enum class Probe : std::uint8_t {
    User,       ///< P1: user
    SystemUser, ///< P2: system, user
    Answered,   ///< P3: user, assistant
    TwoRounds,  ///< P4: user, assistant, user
};
namespace sentinel {
constexpr std::string_view system = "zqsystemqz", user = "zqfirstuserqz", answer = "zqanswerqz", secondUser = "zqseconduserqz";
}

/// A marker (the catalogue's "Markers") as a render printed it.
struct PrintedMarker {
    std::string text;
    std::optional<std::int64_t> id{}; ///< nothing where no file gives the spelling an id
    std::size_t at = 0;               ///< byte of the render
    Evidence where{};                 ///< the place of the template that printed it

    bool same(const PrintedMarker &other) const { return text == other.text; }
};

/// What ends an assistant's turn by the template (the catalogue's "Turn-end set" T).
struct TurnEnds {
    std::vector<PrintedMarker> markers; ///< any of them ends it; empty: see `problem`
    std::string problem{};              ///< why there are none: no template, it fails, it prints no markers
};

/// Where a template prints the start token of a later round.
struct RoundStart {
    std::optional<std::int64_t> behind{}; ///< the marker just before it; nothing: any token
};

/// What a tokenizer's chat template prints. Cheap to make; valid as long as the view.
class ProbeRenders {
public:
    explicit ProbeRenders(const TokenizerView &view);

    /// The template that Transformers takes for a chat without tools, or null.
    const TemplateText *chat() const { return m_chat ? &m_chat->chatTemplate : nullptr; }
    /// Where the template prints the start token before a first message; nothing when it does not (by P1; of a
    /// template that cannot be rendered, by its source). Fails only when cancelled.
    Result<std::optional<Evidence>> printsFirst(const std::string &bos, const Job &job) const;
    /// How it prints the start token for later rounds too, as Llama 2's does; nothing when it does not (by P4).
    /// Of a template that cannot be rendered nothing is known: it may print it anywhere. Fails only when cancelled.
    Result<std::optional<RoundStart>> startsRounds(const std::string &bos, const Job &job) const;

    /// A probe rendered; errors are the template's own, or say that it does not print the messages' texts.
    Result<Rendered> render(Probe probe, bool generationPrompt, const Job &job) const;
    /// Markers in bytes [from, to) of a render, leftmost and longest.
    std::vector<PrintedMarker> markersIn(const Rendered &render, std::size_t from = 0, std::size_t to = std::string::npos) const;
    /// T, of P3 and P4. Fails only when cancelled.
    Result<TurnEnds> turnEnds(const Job &job) const;

private:
    std::optional<Evidence> inSource(const std::string &bos) const;

    const TokenizerView &m_view;
    std::optional<FolderTemplate> m_chat;
    Result<TemplatePtr> m_template = Error{Errc::NotFound, "no chat template"};
};

} // namespace prosector
