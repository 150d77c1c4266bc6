// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/lines.h"

#include "app/cli/cli.h"

#include "models/core/bytesource.h"

namespace prosector::cli {

namespace {

constexpr std::size_t outputBlock = 1 << 20; ///< bytes gathered before they are written

} // namespace

Result<std::string> fileText(const std::string &path)
{
    const auto source = openFile(path);
    if (!source)
        return source.error();
    return readText(**source);
}

Result<void> LineOutput::line(std::string_view text)
{
    m_text += text;
    m_text += '\n';
    return m_text.size() < outputBlock ? Result<void>() : flush();
}

Result<void> LineOutput::flush()
{
    auto done = writeOutput({}, m_text);
    m_text.clear();
    return done;
}

int LineOutput::finish(int status)
{
    const auto done = flush();
    return done ? status : fail(UsageError, done.error());
}

int eachJsonLine(const std::string &path, const Job &job,
                 const std::function<std::string(const Document &document, std::size_t line)> &answer)
{
    const auto text = fileText(path);
    if (!text)
        return fail(InputError, text.error());
    LineOutput output;
    std::size_t line = 0;
    for (std::size_t from = 0; from < text->size();) {
        if (job.cancelled())
            return output.finish(fail(Interrupted, Error{Errc::Cancelled, path}));
        const std::size_t end = std::min(text->find('\n', from), text->size());
        const auto content = std::string_view(*text).substr(from, end - from);
        from = end + 1;
        ++line;
        if (content.find_first_not_of(" \t\r") == std::string_view::npos)
            continue;
        const DocumentPtr document = Document::parseJson(std::string(content));
        if (auto done = output.line(answer(*document, line)); !done)
            return fail(UsageError, done.error());
    }
    return output.finish(AllWell);
}

} // namespace prosector::cli
