// SPDX-License-Identifier: GPL-3.0-or-later
// T2: does text survive encode then decode, and is every loss a declared one?
#include "models/core/utf8.h"
#include "models/core/wording.h"
#include "models/instruments/instrument.h"
#include "models/prompts/probetexts.h"
#include "models/prompts/tokenizerview.h"
#include "models/prompts/unicodetwins.h"
#include "models/tokenizers/decoder.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

enum class Loss : std::uint8_t { None, Space, Case, NormalForm, Unknown, Added, Dropped };

std::string_view nameOf(Loss loss)
{
    constexpr std::array<std::string_view, 7> names{"", "space", "case", "normal form", "unknown", "added", "dropped"};
    return names[static_cast<std::size_t>(loss)];
}

std::string withoutMarks(std::string_view text)
{
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const bool mark = text.substr(at).starts_with("\xE2\x96\x81");
        out += mark ? ' ' : text[at];
        at += mark ? 3 : 1;
    }
    return out;
}

/// Equal but for one blank in front: SentencePiece puts one there and takes one away.
bool sameText(std::string_view a, std::string_view b)
{
    return a == b || (a.starts_with(' ') && a.substr(1) == b) || (b.starts_with(' ') && b.substr(1) == a);
}

std::string withoutBlanks(std::string_view text)
{
    std::string out;
    std::copy_if(text.begin(), text.end(), std::back_inserter(out), [](char c) { return c != ' ' && c != '\t' && c != '\n' && c != '\r'; });
    return out;
}

/// Whether every byte of `part` comes in `whole`, in that order.
bool heldBy(std::string_view part, std::string_view whole)
{
    std::size_t at = 0;
    for (const char c : whole)
        at += at < part.size() && part[at] == c;
    return at == part.size();
}

struct Trip {
    const ProbeText *probe = nullptr;
    std::string decoded;
    Loss loss = Loss::None;
    bool declared = false;
    bool cleaned = false;    ///< nothing happened but clean_up_tokenization_spaces
    std::size_t differs = 0; ///< first byte of the probe that comes back otherwise
    std::string tokens;      ///< over that byte
    bool encoded = false;    ///< tokens stand for all of the probe: what is wrong came in decoding
};

class RoundTrip {
public:
    RoundTrip(const TokenizerView &view, Report &report) : m_view(view), m_report(report), m_tokenizer(view.tokenizer()), m_encoder(m_tokenizer)
    {
        const SpecialRole *const unk = view.facts.role("unk");
        m_unk = unk ? unk->id : std::nullopt;
        if (const auto id = view.json()["model"]["unk_id"].integer())
            m_unk = id;
    }

    Result<void> run(const Job &job)
    {
        std::vector<Trip> trips;
        std::size_t cleaned = 0;
        const ProbeText *firstCleaned = nullptr;
        std::string cleanText;
        for (const ProbeText &probe : probeTexts) {
            if (job.cancelled())
                return Job::cancelledError();
            auto trip = travel(probe);
            if (!trip)
                return trip.error();
            if (m_view.opened()->cleanUpSpaces || trip->cleaned) {
                std::string clean = cleanUpSpaces(trip->decoded);
                if ((trip->cleaned || clean != trip->decoded) && ++cleaned == 1) {
                    firstCleaned = &probe;
                    cleanText = std::move(clean);
                }
            }
            trips.push_back(std::move(*trip));
        }
        tell(trips);
        if (cleaned > 0)
            tellCleanUp(cleaned, *firstCleaned, cleanText);
        table(trips);
        return {};
    }

private:
    Result<Trip> travel(const ProbeText &probe)
    {
        EncodeOptions options = m_view.opened()->options;
        options.addSpecialTokens = false;
        auto encoding = m_encoder.encode(probe.text, options);
        if (!encoding)
            return encoding.error();
        auto decoded = m_tokenizer->decode(encoding->ids, false);
        if (!decoded)
            return decoded.error();
        Trip trip{&probe, std::move(*decoded)};
        if (sameText(trip.decoded, probe.text))
            return trip;
        auto normal = m_tokenizer->normalized(probe.text);
        const std::string expected = normal ? withoutMarks(*normal) : std::string(probe.text);
        const bool unknown = m_unk && std::any_of(encoding->ids.begin(), encoding->ids.end(), [&](auto id) { return static_cast<std::int64_t>(id) == *m_unk; });
        const bool byNormalizer = sameText(trip.decoded, expected);
        if (sameText(trip.decoded, cleanUpSpaces(std::string(probe.text)))) { // llama.cpp's detokeniser does it by itself
            trip.cleaned = true;
            return trip;
        }
        trip.loss = classOf(trip.decoded, byNormalizer ? std::string(probe.text) : expected, unknown);
        trip.declared = byNormalizer || unknown || m_view.facts.model == "WordPiece" || m_view.facts.model == "bert" || preTokenizerRemoves(trip.loss);
        place(trip, *encoding);
        return trip;
    }

    static Loss classOf(const std::string &decoded, const std::string &expected, bool unknown)
    {
        if (unknown)
            return Loss::Unknown;
        const std::string back = withoutBlanks(withoutMarks(decoded)), wanted = withoutBlanks(expected);
        if (back == wanted)
            return Loss::Space;
        const auto twin = twinBy(back, wanted);
        if (twin == TwinBy::Case)
            return Loss::Case;
        if (twin && *twin != TwinBy::Homoglyph)
            return Loss::NormalForm;
        return heldBy(wanted, back) ? Loss::Added : Loss::Dropped;
    }

    /// Steps that throw blanks (or what they are told to) away.
    bool preTokenizerRemoves(Loss loss) const
    {
        const auto removes = [&](Value part, auto &self) -> bool {
            const auto type = part["type"].string("");
            if (type == "WhitespaceSplit" || type == "BertPreTokenizer" || type == "Whitespace")
                return loss == Loss::Space;
            if (type == "CharDelimiterSplit" || part["behavior"].string("") == "Removed")
                return true;
            for (const Value inner : part["pretokenizers"]) {
                if (self(inner, self))
                    return true;
            }
            return false;
        };
        return removes(m_view.json()["pre_tokenizer"], removes);
    }

    static void place(Trip &trip, const Encoding &encoding)
    {
        const std::string_view text = trip.probe->text;
        std::size_t a = 0, b = trip.decoded.starts_with(' ') && !text.starts_with(' ') ? 1 : 0;
        while (a < text.size() && b < trip.decoded.size() && text[a] == trip.decoded[b]) {
            ++a;
            ++b;
        }
        while (a > 0 && a < text.size() && (static_cast<unsigned char>(text[a]) & 0xC0) == 0x80)
            --a;
        trip.differs = a;
        // A symbol without a piece leaves a gap behind it: the library lays its neighbours on its place.
        std::string left(text);
        for (std::size_t i = 0; i < encoding.size(); ++i) {
            if (encoding.offsets[i].begin <= a && encoding.offsets[i].end + 1 >= a && trip.tokens.size() < 80)
                trip.tokens += (trip.tokens.empty() ? "" : " ") + shownPiece(encoding.tokens[i]);
            std::fill(left.begin() + encoding.offsets[i].begin, left.begin() + encoding.offsets[i].end, ' ');
        }
        trip.encoded = withoutBlanks(left).empty();
    }

    Evidence cause(const Trip &trip) const
    {
        const Value root = m_view.json();
        const std::string note = shownPiece(trip.probe->text) + " comes back as " + shownPiece(trip.decoded) + (trip.tokens.empty() ? "" : "; tokens there: " + trip.tokens);
        if (!root)
            return m_view.whole(note);
        const Value part = trip.declared && root["normalizer"].isObject() ? root["normalizer"]
                           : !trip.declared && trip.encoded               ? root["decoder"]
                           : root["pre_tokenizer"].isObject()             ? root["pre_tokenizer"] : root["decoder"];
        return m_view.at({m_view.folder->tokenizerJson, part ? part.anchor() : root["model"].anchor(), note});
    }

    void tell(const std::vector<Trip> &trips)
    {
        const auto pick = [&](auto test) {
            std::vector<const Trip *> list;
            for (const Trip &trip : trips) {
                if (trip.loss != Loss::None && test(trip))
                    list.push_back(&trip);
            }
            return list;
        };
        const std::size_t passes = static_cast<std::size_t>(std::count_if(trips.begin(), trips.end(), [](const Trip &t) { return t.loss == Loss::None; }));
        const auto add = [&](const std::vector<const Trip *> &list, const char *code, Severity severity, const std::string &head, const char *falseIf) {
            if (list.empty())
                return;
            const Trip &first = *list.front();
            Finding finding{code, severity,
                            head + ": " + shownPiece(first.probe->text) + " comes back as " + shownPiece(first.decoded) + " (" + std::string(nameOf(first.loss)) + ", byte " + std::to_string(first.differs) + ")",
                            counted(list.size(), "probe") + " of 60 of this kind; " + std::to_string(passes) + " come back whole."};
            for (std::size_t i = 0; i < list.size() && i < 4; ++i)
                finding.evidence.push_back(cause(*list[i]));
            finding.measure = Measure{static_cast<double>(passes), "of 60 probes", {}, {}, 60};
            finding.falseIf = falseIf;
            finding.next = {"T12", "T7"};
            m_report.findings.push_back(std::move(finding));
        };
        // One fault of the file touches both: then plain ASCII is told, and the rest is counted with it.
        auto undeclared = pick([](const Trip &t) { return !t.declared; });
        const auto beyond = std::stable_partition(undeclared.begin(), undeclared.end(), [](const Trip *t) { return isAscii(t->probe->text); });
        if (beyond != undeclared.begin())
            add(undeclared, "tokens.trip.lost", Severity::Error, "Plain text changes on the way through the tokenizer, and the file does not say so", "The program decodes otherwise than the file says.");
        else
            add(undeclared, "tokens.trip.lost_beyond_ascii", Severity::Warning, "Text beyond ASCII changes on the way through the tokenizer, and the file does not say so",
                "The model was never meant for such text.");
        add(pick([](const Trip &t) { return t.declared; }), "tokens.trip.declared", Severity::Info, "Text changes on the way through, as the file declares",
            "The model needs the text as it was.");
    }

    void tellCleanUp(std::size_t count, const ProbeText &probe, const std::string &text)
    {
        const Artifact *const config = m_view.gguf ? nullptr : m_view.run->find(m_view.folder->tokenizerConfig);
        const Value flag = config ? config->tree()["clean_up_tokenization_spaces"] : Value();
        Finding finding{"tokens.trip.clean_up", Severity::Info, "Decoding takes blanks before punctuation away: " + shownPiece(probe.text) + " becomes " + shownPiece(text),
                        counted(count, "probe") + " of 60 change. "
                            + (m_view.gguf ? "llama.cpp does so for vocabularies of this kind" : "Llama 3.1 and Granite ship it so") + "; it changes code and offsets of answers."};
        finding.evidence = {flag          ? m_view.at({config->id, flag.anchor(), "clean_up_tokenization_spaces"})
                            : m_view.gguf ? cleaningRule()
                                          : m_view.whole("clean-up of blanks is on by default")};
        finding.measure = Measure{static_cast<double>(count), "probes"};
        finding.falseIf = m_view.gguf ? "Answers are put together from single pieces (llama_token_to_piece), as streams are, not by llama_detokenize."
                                      : "Answers are decoded with clean_up_tokenization_spaces=False.";
        m_report.findings.push_back(std::move(finding));
    }

    /// What llama.cpp goes by.
    Evidence cleaningRule() const
    {
        const std::string key = m_view.facts.pre ? "tokenizer.ggml.pre" : "tokenizer.ggml.model";
        return m_view.at({m_view.gguf->id, GgufContent::anchor(key), "llama.cpp cleans blanks up for this " + key.substr(15)});
    }

    void table(const std::vector<Trip> &trips)
    {
        Table table{"Probes that do not come back whole: " + m_view.path(), {"probe", "comes back as", "loss", "declared"}, {}};
        for (const Trip &trip : trips) {
            if (trip.loss != Loss::None)
                table.rows.push_back({{shownPiece(trip.probe->text), cause(trip)}, {shownPiece(trip.decoded)}, {std::string(nameOf(trip.loss))}, {trip.declared ? "yes" : "no"}});
        }
        m_report.tables.push_back(std::move(table));
    }

    const TokenizerView &m_view;
    Report &m_report;
    TokenizerPtr m_tokenizer;
    Encoder m_encoder;
    std::optional<std::int64_t> m_unk;
};

Result<Report> run(const Inputs &inputs, const Params &, const Job &job)
{
    if (job.cancelled())
        return Job::cancelledError();
    Report report;
    std::size_t looked = 0;
    for (const TokenizerView &view : tokenizerViews(inputs.run)) {
        if (job.cancelled())
            return Job::cancelledError();
        if (!view.facts.vocabularyFile.valid())
            continue;
        if (!view.opened()) {
            report.notSeen.push_back(view.path() + ": " + describe(view.opened().error()));
            continue;
        }
        if (!view.excerpt().empty()) {
            report.notSeen.push_back(view.path() + " is an excerpt: " + view.excerpt());
            continue;
        }
        if (auto done = RoundTrip(view, report).run(job); !done) {
            if (done.error().code == Errc::Cancelled)
                return done.error();
            report.notSeen.push_back(view.path() + ": " + describe(done.error()));
            continue;
        }
        ++looked;
    }
    if (looked == 0)
        report.missing = {"tokenizer_files"};
    return report;
}

constexpr std::array<std::string_view, 1> usable{"tokenizer_files"};

} // namespace

extern constinit const Instrument tokens_round_trip{
    "T2", "Round-trip tester", "Does text survive encode then decode, and is every loss a declared one?", "tokens_round_trip", usable, {}, run};

} // namespace prosector
