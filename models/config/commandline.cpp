// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/commandline.h"

#include <algorithm>
#include <array>

namespace prosector {

namespace {

struct Word {
    std::string text;
    std::size_t begin = 0, end = 0;
    bool quoted = false;
};

std::vector<Word> shellWords(std::string_view text)
{
    std::vector<Word> words;
    std::size_t i = 0;
    const auto isBlank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
    while (i < text.size()) {
        if (isBlank(text[i]) || (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '\n' || text[i + 1] == '\r'))) {
            i += text[i] == '\\' ? 2 : 1;
            continue;
        }
        if (text[i] == ';' || text[i] == '|' || text[i] == '&' || text[i] == '>') // the next command, or a redirection
            break;
        Word word;
        word.begin = i;
        while (i < text.size() && !isBlank(text[i])) {
            const char c = text[i];
            if (c == '\\' && i + 1 < text.size()) {
                if (text[i + 1] != '\n')
                    word.text.push_back(text[i + 1]);
                i += 2;
            } else if (c == '\'' || c == '"') {
                word.quoted = true;
                for (++i; i < text.size() && text[i] != c; ++i) {
                    if (c == '"' && text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\'))
                        ++i;
                    word.text.push_back(text[i]);
                }
                i += i < text.size() ? 1 : 0;
            } else {
                word.text.push_back(c);
                ++i;
            }
        }
        word.end = i;
        words.push_back(std::move(word));
    }
    return words;
}

std::string_view baseName(std::string_view path)
{
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// The engine that a word of a command starts; "" when it is none.
std::string_view engineOfWord(std::string_view word)
{
    const std::string_view name = baseName(word);
    if (name == "vllm" || word.starts_with("vllm.entrypoints") || word.find("vllm-openai") != std::string_view::npos)
        return "vLLM";
    if (word.starts_with("sglang.launch_server") || name == "sglang" || word.find("lmsysorg/sglang") != std::string_view::npos)
        return "SGLang";
    if (name == "llama-server" || name == "llama-cli" || name == "llama-server.exe" || name == "llama_server")
        return "llama.cpp";
    if (name == "text-generation-launcher" || word.find("text-generation-inference") != std::string_view::npos)
        return "TGI";
    if (name == "ollama" || name == "ollama_llama_server")
        return "Ollama";
    return {};
}

bool isAssignment(std::string_view word)
{
    const auto equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0)
        return false;
    return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
        return c == '_' || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    });
}

bool isFlag(const Word &word)
{
    const std::string &text = word.text;
    if (word.quoted || text.size() < 2 || text[0] != '-')
        return false;
    // "-1" is a value.
    return text[1] == '-' ? text.size() > 2 : !((text[1] >= '0' && text[1] <= '9') || text[1] == '.');
}

Argument assignment(const Word &word)
{
    const auto equals = word.text.find('=');
    return {word.text.substr(0, equals), word.text.substr(equals + 1), word.begin, word.end, true};
}

void flatten(const ReprValue &record, const std::string &prefix, int depth, std::vector<Argument> &out)
{
    for (const ReprValue::Member &member : record.members) {
        if (member.key.empty())
            continue;
        const ReprValue &value = member.value[0];
        const std::string name = prefix + member.key;
        out.push_back({name, value.isNone() ? "none" : value.text, member.keyBegin, value.end, false});
        if (value.kind == ReprValue::Kind::Record && depth < 4)
            flatten(value, name + '.', depth + 1, out);
    }
}

} // namespace

bool looksLikeServerCommand(std::string_view line)
{
    constexpr auto marks = std::to_array<std::string_view>({"vllm serve ", "vllm.entrypoints.", "sglang.launch_server", "llama-server ",
                                                            "llama-cli ", "text-generation-launcher ", "vllm/vllm-openai",
                                                            "text-generation-inference:"});
    return std::any_of(marks.begin(), marks.end(), [&](std::string_view mark) { return line.find(mark) != std::string_view::npos; });
}

CommandLine parseCommandLine(std::string_view text)
{
    CommandLine command;
    const std::vector<Word> words = shellWords(text);
    std::size_t at = 0;
    // Before the program: assignments, `env`, `docker run` with its own flags.
    for (; at < words.size(); ++at) {
        const std::string &word = words[at].text;
        if (const auto engine = engineOfWord(word); !engine.empty() && !isAssignment(word)) {
            command.engine = engine;
            command.program = word;
            ++at;
            break;
        }
        if (isAssignment(word))
            command.arguments.push_back(assignment(words[at]));
    }
    if (command.engine.empty())
        return {};
    bool positional = false;
    for (; at < words.size(); ++at) {
        const Word &word = words[at];
        if (!isFlag(word)) {
            // `vllm serve MODEL`, `docker … vllm-openai serve MODEL`, `ollama run MODEL`.
            if (word.text == "serve" || word.text == "run" || word.text == "api_server" || word.text == "-") {
                positional = true;
            } else if (positional && word.text != "runner") {
                command.arguments.push_back({"model", word.text, word.begin, word.end, false});
                positional = false;
            }
            continue;
        }
        Argument argument{word.text, "true", word.begin, word.end, false};
        if (const auto equals = word.text.find('='); equals != std::string::npos) {
            argument.spelling = word.text.substr(0, equals);
            argument.value = word.text.substr(equals + 1);
        } else if (at + 1 < words.size() && !isFlag(words[at + 1])) {
            ++at;
            argument.value = words[at].text;
            argument.end = words[at].end;
        } else if (argument.spelling.starts_with("--no-")) {
            argument.spelling = "--" + argument.spelling.substr(5);
            argument.value = "false";
        }
        command.arguments.push_back(std::move(argument));
    }
    return command;
}

std::vector<Argument> argumentsOf(const ReprValue &record)
{
    std::vector<Argument> arguments;
    flatten(record, {}, 0, arguments);
    return arguments;
}

} // namespace prosector
