// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/runs/run.h"

#include <QList>
#include <QString>

namespace prosector {

/// What was opened, in a few lines for the welcome pane and the title: plain values, no model.
struct RunSummary {
    struct Line {
        QString label, value;
    };
    QString title;     ///< "Qwen3-8B", "Qwen3-8B and 2 more"
    QString sentence;  ///< "12 files, 16.4 GB: 1 model, 5 weight files with 399 tensors."
    QList<Line> lines; ///< inputs, models, tensors, logs, files not recognised, places not readable
};

/// Linear in the number of artifacts.
RunSummary summarise(const Run &run);

} // namespace prosector
