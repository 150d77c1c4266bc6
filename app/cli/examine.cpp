// SPDX-License-Identifier: GPL-3.0-or-later
// examine PATH...: runs the instruments and reports what they found.
#include "app/cli/cli.h"

#include "models/report/report.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>

#include <sys/ioctl.h>
#include <unistd.h>

namespace prosector::cli {

namespace {

struct Options {
    std::vector<std::string> paths, instruments, thresholds;
    std::string baseline;
    std::optional<std::string> output; ///< "-" is stdout
    std::string format = "text", failOn = "error";
};

/// Nothing for "never".
std::optional<Severity> failOn(const Options &options)
{
    return severityFromString(options.failOn);
}

Error usage(std::string message)
{
    return {Errc::Usage, std::move(message)};
}

Result<std::vector<const Instrument *>> chosenInstruments(const Options &options)
{
    std::vector<const Instrument *> chosen;
    for (const std::string &id : options.instruments) {
        const Instrument *const instrument = findInstrument(id);
        if (!instrument)
            return usage("--instrument " + id + ": no such instrument (see `instrument list`)");
        if (std::find(chosen.begin(), chosen.end(), instrument) == chosen.end())
            chosen.push_back(instrument);
    }
    return chosen;
}

/// INSTRUMENT.parameter=number
Result<Thresholds> changedThresholds(const Options &options)
{
    Thresholds thresholds;
    for (const std::string &text : options.thresholds) {
        const auto dot = text.find('.');
        const auto equals = text.find('=', dot == std::string::npos ? 0 : dot);
        if (dot == std::string::npos || equals == std::string::npos)
            return usage("--set " + text + ": write INSTRUMENT.parameter=number");
        const Instrument *const instrument = findInstrument(text.substr(0, dot));
        if (!instrument)
            return usage("--set " + text + ": no such instrument (see `instrument list`)");
        const std::string name = text.substr(dot + 1, equals - dot - 1);
        const auto *const spec = std::find_if(instrument->params.data(), instrument->params.data() + instrument->params.size(),
                                              [&name](const ParamSpec &s) { return s.name == name; });
        if (spec == instrument->params.data() + instrument->params.size())
            return usage("--set " + text + ": " + std::string(instrument->id) + " has no parameter " + name
                         + " (see `instrument show " + std::string(instrument->id) + "`)");
        double value = 0;
        const char *const end = text.data() + text.size();
        const auto parsed = std::from_chars(text.data() + equals + 1, end, value);
        if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(value))
            return usage("--set " + text + ": not a number");
        if (value < spec->minimum || value > spec->maximum)
            return usage("--set " + text + ": outside the parameter's limits (see `instrument show "
                         + std::string(instrument->id) + "`)");
        thresholds[std::string(instrument->id)][name] = value;
    }
    return thresholds;
}

TextStyle terminalStyle()
{
    TextStyle style;
    if (!::isatty(STDOUT_FILENO))
        return style;
    struct winsize size {};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        style.width = std::clamp<std::size_t>(size.ws_col, 40, 100);
    const char *const noColour = std::getenv("NO_COLOR");
    const char *const terminal = std::getenv("TERM");
    style.colour = !(noColour && *noColour) && terminal && std::string_view(terminal) != "dumb";
    return style;
}

Result<std::string> reportText(const Options &options, const Examination &examination)
{
    for (const ReportFormat format : reportFormats) {
        if (nameOf(format) != options.format)
            continue;
        if (format == ReportFormat::Text && options.output.value_or("-") == "-")
            return toText(examination, terminalStyle());
        return writeReport(format, examination);
    }
    return usage("--format " + options.format + ": no such format");
}

int run(const Options &options, const Context &context)
{
    const auto instruments = chosenInstruments(options);
    if (!instruments)
        return fail(UsageError, instruments.error());
    const auto thresholds = changedThresholds(options);
    if (!thresholds)
        return fail(UsageError, thresholds.error());
    if (options.output && options.output->empty())
        return fail(UsageError, usage("--output: the name of a file is empty (- is standard output)"));
    const std::string output = options.output.value_or("-");
    std::vector<std::string> inputs = options.paths;
    if (!options.baseline.empty())
        inputs.push_back(options.baseline);
    if (const auto may = checkOutput(output, inputs); !may)
        return fail(UsageError, may.error());
    const auto facts = loadFacts(context);
    if (!facts)
        return fail(UsageError, facts.error());
    const Job job = startJob();
    auto opened = Run::open(options.paths, job);
    if (!opened)
        return fail(InputError, opened.error());
    RunPtr baseline;
    if (!options.baseline.empty()) {
        auto other = Run::open(std::vector{options.baseline}, job);
        if (!other)
            return fail(InputError, other.error());
        baseline = *other;
    }
    for (const RunPtr &run : {*opened, baseline}) {
        if (!run)
            continue;
        if (const auto may = checkOutput(output, *run); !may)
            return fail(UsageError, may.error());
        sayUnopenedInputs(*run);
    }
    const auto examination = examine(*opened, baseline, **facts, *instruments, job, *thresholds);
    if (!examination)
        return fail(InputError, examination.error());
    const auto text = reportText(options, *examination);
    if (!text)
        return fail(UsageError, text.error());
    if (const auto written = writeOutput(output, *text); !written)
        return fail(UsageError, written.error());
    if (hasUnreadableInput(**opened) || (baseline && hasUnreadableInput(*baseline)))
        return InputError;
    const auto limit = failOn(options);
    return limit && examination->worst() >= *limit ? Findings : AllWell;
}

} // namespace

void addExamine(CLI::App &app, Context &context)
{
    auto *const command = app.add_subcommand("examine", "Run the instruments and report what they found");
    const auto options = std::make_shared<Options>();
    command->add_option("PATH", options->paths, "Model folders, traces, files, archives")->required();
    command->add_option("--baseline", options->baseline, "The other run of a comparison")->type_name("PATH");
    command->add_option("--instrument", options->instruments, "Run only this one (may be repeated)")
        ->type_name("ID")->expected(1)->take_all()->allow_extra_args(false);
    std::vector<std::string> formats;
    for (const ReportFormat format : reportFormats)
        formats.emplace_back(nameOf(format));
    command->add_option("--format", options->format, "Form of the report")->check(CLI::IsMember(formats))->capture_default_str();
    command->add_option("-o,--output", options->output, "Write the report to this file instead of standard output (-)")->type_name("FILE");
    command->add_option("--fail-on", options->failOn, "Lowest severity that makes the exit status 1")
        ->check(CLI::IsMember(std::vector<std::string>{"error", "warning", "info", "never"}))->capture_default_str();
    command->add_option("--set", options->thresholds, "Change a threshold (may be repeated)")
        ->type_name("INSTRUMENT.parameter=number")->expected(1)->take_all()->allow_extra_args(false);
    command->callback([options, &context] { context.status = run(*options, context); });
}

} // namespace prosector::cli
