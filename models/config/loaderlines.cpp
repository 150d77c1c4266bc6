// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/loaderlines.h"

#include <optional>
#include <string_view>

namespace prosector {

namespace {

using What = LoaderLine::What;

// The quoted names of a Python list or set: ['a', "b"], {'a'}.
std::vector<std::string> quotedNames(std::string_view text)
{
    std::vector<std::string> names;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\'' && text[i] != '"')
            continue;
        const std::size_t end = text.find(text[i], i + 1);
        if (end == std::string_view::npos)
            break;
        names.emplace_back(text.substr(i + 1, end - i - 1));
        i = end;
    }
    return names;
}

std::string wordAfter(std::string_view line, std::string_view mark)
{
    const std::size_t at = line.find(mark);
    if (at == std::string_view::npos)
        return {};
    const auto rest = line.substr(at + mark.size());
    return std::string(rest.substr(0, rest.find_first_of(" \t:")));
}

bool has(std::string_view line, std::string_view text)
{
    return line.find(text) != std::string_view::npos;
}

std::string_view trimmed(std::string_view text)
{
    const auto from = text.find_first_not_of(" \t");
    return from == std::string_view::npos ? std::string_view() : text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

std::string withoutColour(std::string_view line)
{
    std::string plain;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\x1b') {
            i = line.find('m', i);
            if (i == std::string_view::npos)
                break;
        } else {
            plain += line[i];
        }
    }
    return plain;
}

// One row of the load report: name | STATUS | …
std::optional<LoaderLine> reportRow(std::string_view line, std::uint64_t number)
{
    const auto bar = line.find('|');
    if (bar == std::string_view::npos)
        return std::nullopt;
    const auto name = trimmed(line.substr(0, bar));
    const auto rest = line.substr(bar + 1);
    const auto status = trimmed(rest.substr(0, rest.find('|')));
    if (name.empty() || has(name, " "))
        return std::nullopt;
    if (status == "MISSING")
        return LoaderLine{What::Initialized, number, {}, {std::string(name)}};
    if (status == "MISMATCH")
        return LoaderLine{What::Reshaped, number, {}, {std::string(name)}};
    if (status == "UNEXPECTED")
        return LoaderLine{What::Unused, number, {}, {std::string(name)}};
    return std::nullopt;
}

} // namespace

std::vector<LoaderLine> loaderLinesOf(const TextContent &log)
{
    std::vector<LoaderLine> found;
    bool inReport = false;
    LoaderLine *shapes = nullptr; // the message whose tensors the following lines name
    for (std::size_t i = 0; i < log.lineCount(); ++i) {
        const std::string line = withoutColour(log.line(i));
        const std::uint64_t number = i + 1;
        if (shapes && has(line, ": found shape ")) {
            const auto dash = line.find("- ");
            const auto from = dash == std::string::npos ? 0 : dash + 2;
            shapes->tensors.push_back(line.substr(from, line.find(": found shape ") - from));
            continue;
        }
        shapes = nullptr;
        if (has(line, "LOAD REPORT")) {
            inReport = true;
        } else if (has(line, "newly initialized because the shapes did not match")) {
            found.push_back({What::Reshaped, number, wordAfter(line, "model checkpoint at "), {}});
            shapes = &found.back();
        } else if (has(line, "newly initialized:")) {
            const auto names = line.substr(line.find("newly initialized:"));
            found.push_back({What::Initialized, number, wordAfter(line, "model checkpoint at "), quotedNames(names)});
        } else if (has(line, "were not used when initializing")) {
            const auto names = line.substr(line.find("were not used when initializing"));
            found.push_back({What::Unused, number, wordAfter(line, "model checkpoint at "), quotedNames(names)});
        } else if (has(line, "weights were not loaded from checkpoint:") || has(line, "weights were not initialized from checkpoint:")) {
            found.push_back({What::Initialized, number, {}, quotedNames(line.substr(line.find("checkpoint:")))});
        } else if (has(line, "model has unused tensor ")) {
            found.push_back({What::Unused, number, {}, {wordAfter(line, "model has unused tensor ")}});
        } else if (inReport) {
            if (auto row = reportRow(line, number))
                found.push_back(std::move(*row));
        }
    }
    return found;
}

bool isTrainingLog(const TextContent &log)
{
    for (const std::string_view sign : {"***** Running training *****", "'grad_norm':", "Num Epochs =", "train_runtime"}) {
        if (has(log.text, sign))
            return true;
    }
    return false;
}

} // namespace prosector
