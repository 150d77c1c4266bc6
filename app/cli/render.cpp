// SPDX-License-Identifier: GPL-3.0-or-later
// render (MODEL | --template FILE) --request F, or --jsonl F: the prompt a template makes of a conversation,
// and with --spans where each byte of it came from.
#include "app/cli/cli.h"
#include "app/cli/lines.h"
#include "app/cli/renderjson.h"

#include "models/templates/chatrequest.h"
#include "models/templates/foldertemplate.h"
#include "models/templates/pytime.h"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <optional>

namespace prosector::cli {

namespace {

struct Options {
    std::string model, templateFile, request, jsonl, now, name;
    std::vector<std::string> settings;
    bool noGenerationPrompt = false, continueFinalMessage = false, spans = false;
};

Error usage(std::string message)
{
    return {Errc::Usage, std::move(message)};
}

/// Templates by their text: a log of a hundred thousand calls has few of them.
class Templates {
public:
    Result<TemplatePtr> get(const std::string &source, const TemplateOptions &options)
    {
        const std::string key = source + (options.trimBlocks ? 't' : ' ') + (options.lstripBlocks ? 'l' : ' ')
                                + (options.keepTrailingNewline ? 'k' : ' ');
        if (const auto found = m_known.find(key); found != m_known.end())
            return found->second;
        auto made = Template::parse(source, options);
        if (!made)
            return made;
        if (m_known.size() >= most)
            m_known.clear();
        m_known.emplace(key, *made);
        return made;
    }

private:
    static constexpr std::size_t most = 256;
    std::map<std::string, TemplatePtr> m_known;
};

/// What all requests share.
struct Shared {
    std::optional<std::string> source; ///< of the template
    SpecialTokens specialTokens;
    std::vector<std::pair<std::string, DocumentPtr>> settings;
    TemplateTime now;
    Templates templates;
};

Result<void> readSettings(const Options &options, Shared &shared)
{
    for (const std::string &text : options.settings) {
        const std::size_t equals = text.find('=');
        if (equals == 0 || equals == std::string::npos)
            return usage("--set " + text + ": write name=JSON");
        auto value = Document::parseJson(text.substr(equals + 1));
        if (value->problem() || !value->root())
            return usage("--set " + text + ": not JSON (a text needs quotes)");
        shared.settings.emplace_back(text.substr(0, equals), std::move(value));
    }
    if (!options.now.empty()) {
        const auto now = parseTime(options.now);
        if (!now)
            return usage("--now " + options.now + ": write a date and time as 2026-01-15T12:34:56");
        shared.now = *now;
    }
    return {};
}

/// What MODEL gives: its special tokens, and its template unless --template stands in for it.
Result<void> readModel(const Options &options, bool tools, Shared &shared, const Job &job)
{
    if (options.model.empty())
        return {};
    const auto run = Run::open(std::vector{options.model}, job);
    if (!run)
        return run.error();
    if (shared.source) {
        shared.specialTokens = specialTokens(**run);
        return {};
    }
    auto found = folderTemplate(**run, tools, options.name);
    if (!found)
        return found.error();
    shared.specialTokens = std::move(found->specialTokens);
    shared.source = std::move(found->chatTemplate.text);
    return {};
}

void addVariables(ChatRequest &request, const Shared &shared)
{
    for (const auto &[name, document] : shared.settings)
        request.variables.emplace_back(name, document->root());
}

/// A request body: messages, tools, documents, and what chat_template_kwargs hands to the template.
ChatRequest requestOf(Value body, const Options &options)
{
    ChatRequest request;
    request.messages = body.isArray() ? body : body["messages"];
    request.tools = body["tools"];
    request.documents = body["documents"];
    request.addGenerationPrompt = body["add_generation_prompt"].boolean().value_or(true) && !options.noGenerationPrompt;
    request.continueFinalMessage = options.continueFinalMessage || body["continue_final_message"].boolean().value_or(false);
    if (request.continueFinalMessage)
        request.addGenerationPrompt = false;
    for (const Value variable : body["chat_template_kwargs"])
        request.variables.emplace_back(variable.key(), variable);
    return request;
}

int renderOne(const Options &options, Shared &shared, const Job &job)
{
    const auto text = fileText(options.request);
    if (!text)
        return fail(InputError, text.error());
    const DocumentPtr document = Document::parseJson(*text);
    if (document->problem())
        return fail(InputError, *document->problem());
    const Value tools = document->root()["tools"];
    if (const auto read = readModel(options, tools.isArray() && tools.size() > 0, shared, job); !read)
        return fail(InputError, read.error());
    const auto chatTemplate = shared.templates.get(*shared.source, {});
    if (!chatTemplate)
        return fail(InputError, placedError(chatTemplate.error(), *shared.source));
    ChatRequest request = requestOf(document->root(), options);
    request.specialTokens = shared.specialTokens;
    addVariables(request, shared);
    const RenderedChat rendered = renderChat(**chatTemplate, request, shared.now, {}, job);
    if (options.spans) {
        if (const auto done = writeOutput({}, spansJson(rendered, **chatTemplate) + "\n"); !done)
            return fail(UsageError, done.error());
    } else if (!rendered.error) {
        if (const auto done = writeOutput({}, rendered.text); !done)
            return fail(UsageError, done.error());
    }
    return rendered.error ? fail(Findings, placedError(*rendered.error, **chatTemplate)) : AllWell;
}

/// One line of --jsonl; what it leaves out is not passed to the template.
std::string renderRow(Value row, const Options &options, Shared &shared, const Job &job)
{
    TemplateOptions language;
    const Value chosen = row["options"];
    language.trimBlocks = chosen["trim_blocks"].boolean().value_or(language.trimBlocks);
    language.lstripBlocks = chosen["lstrip_blocks"].boolean().value_or(language.lstripBlocks);
    language.keepTrailingNewline = chosen["keep_trailing_newline"].boolean().value_or(language.keepTrailingNewline);
    if (!row["template"].isString() && !shared.source)
        return errorJson(usage("no template: give it in the line, or MODEL or --template"), {});
    const std::string source = row["template"].string(shared.source.value_or(""));
    const auto chatTemplate = shared.templates.get(source, language);
    if (!chatTemplate)
        return errorJson(chatTemplate.error(), source);
    ChatRequest request;
    request.passAbsent = false;
    request.messages = row["messages"];
    request.tools = row["tools"];
    request.documents = row["documents"];
    request.continueFinalMessage = row["continue_final_message"].boolean().value_or(false);
    request.specialTokens = shared.specialTokens;
    request.addGenerationPrompt = options.noGenerationPrompt ? std::optional(false) : row["add_generation_prompt"].boolean();
    for (const Value variable : row["variables"])
        request.variables.emplace_back(variable.key(), variable);
    addVariables(request, shared);
    TemplateTime now = shared.now;
    if (const auto text = row["now"].string()) {
        const auto parsed = parseTime(*text);
        if (!parsed)
            return errorJson(usage("now " + *text + ": write a date and time as 2026-01-15T12:34:56"), {});
        now = *parsed;
    }
    const RenderedChat rendered = renderChat(**chatTemplate, request, now, {}, job);
    return options.spans ? spansJson(rendered, **chatTemplate) : renderedJson(rendered);
}

int renderLines(const Options &options, Shared &shared, const Job &job)
{
    if (const auto read = readModel(options, false, shared, job); !read)
        return fail(InputError, read.error());
    int status = AllWell;
    const int ended = eachJsonLine(options.jsonl, job, [&](const Document &document, std::size_t) {
        if (!document.problem())
            return renderRow(document.root(), options, shared, job);
        status = InputError;
        return errorJson(*document.problem(), {});
    });
    return ended == AllWell ? status : ended;
}

int run(const Options &options)
{
    Shared shared;
    if (const auto read = readSettings(options, shared); !read)
        return fail(UsageError, read.error());
    if (options.jsonl.empty() == options.request.empty())
        return fail(UsageError, usage("give one of --request and --jsonl"));
    if (!options.templateFile.empty()) {
        auto source = fileText(options.templateFile);
        if (!source)
            return fail(InputError, source.error());
        shared.source = std::move(*source);
    }
    if (options.jsonl.empty() && options.model.empty() && !shared.source)
        return fail(UsageError, usage("give a MODEL or --template"));
    const Job job = startJob();
    return options.jsonl.empty() ? renderOne(options, shared, job) : renderLines(options, shared, job);
}

} // namespace

void addRender(CLI::App &app, Context &context)
{
    auto *const command = app.add_subcommand("render", "The prompt a chat template makes of a conversation, and where it came from");
    const auto options = std::make_shared<Options>();
    command->add_option("MODEL", options->model, "Model folder, tokenizer_config.json or GGUF file with the template and special tokens");
    command->add_option("--template", options->templateFile, "A template file, instead of the model's")->type_name("FILE");
    command->add_option("--template-name", options->name, "Which of the model's named templates")->type_name("NAME");
    command->add_option("--request", options->request, "A request body: messages, tools, documents, chat_template_kwargs")->type_name("FILE");
    command->add_option("--jsonl", options->jsonl, "One request a line: template, messages, tools, add_generation_prompt, variables, now")
        ->type_name("FILE");
    command->add_flag("--no-generation-prompt", options->noGenerationPrompt, "Leave out the header of the answer");
    command->add_flag("--continue-final-message", options->continueFinalMessage, "Leave the last message open");
    command->add_option("--set", options->settings, "A further variable of the template (may be repeated)")
        ->type_name("name=JSON")->expected(1)->take_all()->allow_extra_args(false);
    command->add_option("--now", options->now, "The time strftime_now tells; otherwise 2024-07-26T12:00:00")->type_name("ISO-8601");
    command->add_flag("--spans", options->spans, "JSON: the text with the template place and the input of every part");
    command->callback([options, &context] { context.status = run(*options); });
}

} // namespace prosector::cli
