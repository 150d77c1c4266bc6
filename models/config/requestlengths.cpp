// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/requestlengths.h"

namespace prosector {

namespace {

Value promptTokens(Value body)
{
    const Value usage = body["usage"];
    for (const Value value : {usage["prompt_tokens"], usage["input_tokens"], body["prompt_eval_count"], body["timings"]["prompt_n"],
                              body["meta_info"]["prompt_tokens"], body["input_length"], body["prompt_tokens"],
                              body["num_prompt_tokens"], body["input_tokens"]}) {
        if (value.isNumber())
            return value;
    }
    return {};
}

} // namespace

Result<std::vector<RequestLength>> requestLengths(const Run &run, const Job &job)
{
    std::vector<RequestLength> lengths;
    const auto add = [&](const Artifact &artifact, Value body, std::optional<std::uint64_t> line) {
        const Value tokens = promptTokens(body);
        const auto number = tokens.number();
        if (!number || !(*number >= 0))
            return;
        Evidence where{artifact.id, tokens.anchor(), tokens.key() + " = " + std::string(tokens.raw())};
        if (line)
            where.where = LogLine{*line, *line};
        lengths.push_back({*number, std::move(where)});
    };
    for (const Artifact &artifact : run.artifacts()) {
        if (artifact.kind != Kind::RequestLog && artifact.kind != Kind::ResponseBody)
            continue;
        if (const auto *const lines = artifact.as<LinesContent>()) {
            for (std::size_t i = 0; i < lines->lines.size(); ++i) {
                if (i % 1024 == 0 && job.cancelled())
                    return Job::cancelledError();
                add(artifact, lines->document(i)->root(), lines->lines[i].line);
            }
        } else if (const Value root = artifact.tree(); root.isArray()) {
            for (const Value body : root)
                add(artifact, body, std::nullopt);
        } else {
            add(artifact, root, std::nullopt);
        }
    }
    return lengths;
}

} // namespace prosector
