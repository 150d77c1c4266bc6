// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/item/runsummary.h"

#include "models/item/format.h"

namespace prosector {

RunSummary summarise(const Run &run)
{
    RunSummary summary;
    summary.title = toQt(run.name());
    if (run.inputs().size() > 1)
        summary.title += QStringLiteral(" and %1 more").arg(run.inputs().size() - 1);

    std::uint64_t bytes = 0, tensors = 0, tensorFiles = 0, tensorBytes = 0, unknown = 0, pointers = 0, logs = 0;
    for (const Artifact &artifact : run.artifacts()) {
        bytes += artifact.size;
        unknown += artifact.kind == Kind::Unknown;
        pointers += artifact.kind == Kind::LfsPointer;
        logs += artifact.kind == Kind::StartupLog;
        if (const auto *const content = artifact.as<TensorContent>()) {
            ++tensorFiles;
            tensors += content->tensors.size();
            tensorBytes += content->dataBytes();
        }
    }
    QStringList holds;
    if (!run.models().empty())
        holds.append(format::counted(run.models().size(), "model", "models"));
    if (tensorFiles > 0)
        holds.append(format::counted(tensorFiles, "file", "files") + QStringLiteral(" with ")
                     + format::counted(tensors, "tensor", "tensors"));
    if (logs > 0)
        holds.append(format::counted(logs, "log", "logs"));
    summary.sentence = format::counted(run.artifacts().size(), "file", "files") + QStringLiteral(", ")
        + format::bytes(bytes) + (holds.isEmpty() ? QString() : QStringLiteral(": ") + holds.join(QStringLiteral(", ")))
        + QLatin1Char('.');

    for (const Input &input : run.inputs())
        summary.lines.append({QStringLiteral("Opened"), toQt(input.path)});
    for (const ModelFolder &model : run.models()) {
        const Artifact *const config = run.find(model.config);
        const QString type = config ? toQt(config->tree()["model_type"].string("")) : QString();
        QString path = model.path.empty() ? toQt(run.name()) : toQt(model.path);
        summary.lines.append(
            {QStringLiteral("Model"), type.isEmpty() ? path : path + QStringLiteral(" (") + type + QLatin1Char(')')});
    }
    if (tensorFiles > 0)
        summary.lines.append(
            {QStringLiteral("Tensors"), format::grouped(tensors) + QStringLiteral(", ") + format::bytes(tensorBytes)});
    if (pointers > 0)
        summary.lines.append(
            {QStringLiteral("Never fetched"), format::counted(pointers, "Git-LFS pointer", "Git-LFS pointers")});
    if (unknown > 0)
        summary.lines.append({QStringLiteral("Not recognised"), format::counted(unknown, "file", "files")});
    if (!run.unreadable().empty())
        summary.lines.append(
            {QStringLiteral("Not readable"), format::counted(run.unreadable().size(), "place", "places")});
    return summary;
}

} // namespace prosector
