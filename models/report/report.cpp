// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/report/report.h"

namespace prosector {

std::string_view nameOf(ReportFormat format)
{
    switch (format) {
    case ReportFormat::Text: return "text";
    case ReportFormat::Json: return "json";
    case ReportFormat::Sarif: return "sarif";
    case ReportFormat::Html: return "html";
    case ReportFormat::Markdown: return "markdown";
    }
    return {};
}

std::string writeReport(ReportFormat format, const Examination &examination)
{
    switch (format) {
    case ReportFormat::Text: return toText(examination);
    case ReportFormat::Json: return toJson(examination);
    case ReportFormat::Sarif: return toSarif(examination);
    case ReportFormat::Html: return toHtml(examination);
    case ReportFormat::Markdown: return toMarkdown(examination);
    }
    return {};
}

} // namespace prosector
