// SPDX-License-Identifier: GPL-3.0-or-later
// tokenize MODEL (--text S | --file F | --jsonl F): ids, tokens and offsets, one JSON line per input.
// decode MODEL (--ids 1,2,3 | --jsonl F): the text back.
#include "app/cli/cli.h"
#include "app/cli/lines.h"
#include "app/cli/tokenjson.h"

#include "models/core/utf8.h"
#include "models/report/jsonparts.h"
#include "models/tokenizers/decoder.h"
#include "models/tokenizers/decodestream.h"
#include "models/tokenizers/open.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace prosector::cli {

namespace {

using Json = nlohmann::ordered_json;

struct TokenizeOptions {
    std::string model, file, jsonl;
    std::optional<std::string> text;
    bool noSpecialTokens = false, specialsAsText = false, explain = false;
};

struct DecodeOptions {
    std::string model, jsonl;
    std::vector<std::uint32_t> ids;
    bool skipSpecialTokens = false, cleanUp = false, explain = false;
};

/// What a command works with: the run must outlive the tokenizer's trees.
struct Opened {
    RunPtr run;
    OpenedTokenizer tokenizer;
};

Result<Opened> open(const std::string &path, const Job &job)
{
    auto run = Run::open(std::vector{path}, job);
    if (!run)
        return run.error();
    auto tokenizer = openTokenizer(**run);
    if (!tokenizer)
        return tokenizer.error();
    return Opened{std::move(*run), std::move(*tokenizer)};
}

/// Answers each line of a JSON Lines file. A line that gives an error stands as {"error": …} in the output
/// and the rest goes on; the status then is InputError.
int answerLines(const std::string &path, const Job &job, const std::function<Result<std::string>(Value)> &work)
{
    int status = AllWell;
    const int ended = eachJsonLine(path, job, [&](const Document &document, std::size_t line) {
        const auto made = document.problem() ? Result<std::string>(*document.problem()) : work(document.root());
        if (made)
            return *made;
        const std::string message = "line " + std::to_string(line) + ": " + describe(made.error());
        status = fail(InputError, Error{made.error().code, path + ": " + message});
        return report::jsonLine(Json{{"error", message}});
    });
    return ended == AllWell ? status : ended;
}

Result<std::string> encodedLine(Encoder &encoder, std::string_view text, EncodeOptions options, bool explain)
{
    Explanation why;
    options.why = explain ? &why : nullptr;
    const auto encoding = encoder.encode(text, options);
    if (!encoding)
        return encoding.error();
    return encodingJson(*encoding, explain ? &why : nullptr, text);
}

int tokenize(const TokenizeOptions &options)
{
    const Job job = startJob();
    auto opened = open(options.model, job);
    if (!opened)
        return fail(InputError, opened.error());
    EncodeOptions encode = opened->tokenizer.options;
    encode.addSpecialTokens = !options.noSpecialTokens;
    encode.specialsAsText = encode.specialsAsText || options.specialsAsText;
    Encoder encoder(opened->tokenizer.tokenizer);
    if (!options.jsonl.empty()) {
        return answerLines(options.jsonl, job, [&](Value line) -> Result<std::string> {
            const auto text = line["text"].string();
            if (!text)
                return Error{Errc::Malformed, "line", line.anchor(), "an object with a member `text`", std::string(line.raw().substr(0, 60))};
            return encodedLine(encoder, *text, encode, options.explain);
        });
    }
    std::string text = options.text.value_or("");
    if (!options.file.empty()) {
        auto read = fileText(options.file);
        if (!read)
            return fail(InputError, read.error());
        text = std::move(*read);
    }
    const auto line = encodedLine(encoder, text, encode, options.explain);
    if (!line)
        return fail(InputError, line.error());
    LineOutput output;
    const auto done = output.line(*line);
    return done ? output.finish(AllWell) : fail(UsageError, done.error());
}

Result<std::string> decoded(const Opened &opened, std::span<const std::uint32_t> ids, const DecodeOptions &options)
{
    auto text = opened.tokenizer.tokenizer->decode(ids, options.skipSpecialTokens);
    if (text && options.cleanUp)
        return cleanUpSpaces(std::move(*text));
    return text;
}

Result<std::vector<std::uint32_t>> idsOf(Value list)
{
    std::vector<std::uint32_t> ids;
    for (const Value id : list) {
        const auto number = id.integer();
        if (!number || *number < 0 || *number > UINT32_MAX)
            return Error{Errc::Malformed, "ids", id.anchor(), "whole numbers from 0 to 4294967295", std::string(id.raw().substr(0, 60))};
        ids.push_back(static_cast<std::uint32_t>(*number));
    }
    return ids;
}

int decodeSteps(const Opened &opened, const DecodeOptions &options)
{
    LineOutput output;
    DecodeStream stream(opened.tokenizer.tokenizer, options.skipSpecialTokens);
    for (const std::uint32_t id : options.ids) {
        const auto step = stream.push(id);
        if (!step)
            return fail(InputError, step.error());
        if (auto done = output.line(decodeStepJson(*opened.tokenizer.tokenizer, id, *step)); !done)
            return fail(UsageError, done.error());
    }
    return output.finish(AllWell);
}

int decode(const DecodeOptions &options)
{
    const Job job = startJob();
    const auto opened = open(options.model, job);
    if (!opened)
        return fail(InputError, opened.error());
    if (!options.jsonl.empty()) {
        return answerLines(options.jsonl, job, [&](Value line) -> Result<std::string> {
            const auto ids = idsOf(line.isArray() ? line : line["ids"]);
            if (!ids)
                return ids.error();
            const auto text = decoded(*opened, *ids, options);
            if (!text)
                return text.error();
            return report::jsonLine(Json{{"text", *text}});
        });
    }
    if (options.explain)
        return decodeSteps(*opened, options);
    const auto text = decoded(*opened, options.ids, options);
    if (!text)
        return fail(InputError, text.error());
    const auto done = writeOutput({}, *text); // the text and nothing else: it may go into a file
    return done ? static_cast<int>(AllWell) : fail(UsageError, done.error());
}

} // namespace

void addTokenize(CLI::App &app, Context &context)
{
    auto *const command = app.add_subcommand("tokenize", "Ids, tokens and offsets of a text, one JSON line per input");
    const auto options = std::make_shared<TokenizeOptions>();
    command->add_option("MODEL", options->model, "Model folder, tokenizer.json, tokenizer.model, tiktoken, tekken or GGUF file")->required();
    auto *const input = command->add_option_group("input");
    input->add_option("--text", options->text, "The text itself");
    input->add_option("--file", options->file, "A file, as one text")->type_name("FILE");
    input->add_option("--jsonl", options->jsonl, "A file of lines {\"text\": …}")->type_name("FILE");
    input->require_option(1);
    command->add_flag("--no-special-tokens", options->noSpecialTokens, "Put no tokens in front and behind");
    command->add_flag("--specials-as-text", options->specialsAsText, "Read special spellings inside the text as ordinary text");
    command->add_flag("--explain", options->explain, "Say for every id where it came from: normalisers, piece, merges or lattice");
    command->callback([options, &context] { context.status = tokenize(*options); });
}

void addDecode(CLI::App &app, Context &context)
{
    auto *const command = app.add_subcommand("decode", "The text of ids, exactly, without a line end of its own");
    const auto options = std::make_shared<DecodeOptions>();
    command->add_option("MODEL", options->model, "Model folder, tokenizer.json, tokenizer.model, tiktoken, tekken or GGUF file")->required();
    auto *const input = command->add_option_group("input");
    input->add_option("--ids", options->ids, "Ids with commas between them")->delimiter(',')->type_name("ID,ID,…");
    input->add_option("--jsonl", options->jsonl, "A file of lines {\"ids\": […]}: gives lines {\"text\": …}")->type_name("FILE");
    input->require_option(1);
    command->add_flag("--skip-special-tokens", options->skipSpecialTokens, "Leave special tokens out");
    command->add_flag("--clean-up", options->cleanUp, "Take blanks out in front of punctuation, as Transformers does "
                                                      "where clean_up_tokenization_spaces is true");
    command->add_flag("--explain", options->explain, "One JSON line per id: text released and bytes still pending in a stream");
    command->callback([options, &context] { context.status = decode(*options); });
}

} // namespace prosector::cli
