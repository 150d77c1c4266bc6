// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/selection.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

namespace prosector {

namespace {

using namespace std::string_view_literals;

constexpr std::array lowerWords{"loss"sv, "ppl"sv, "perplexity"sv, "wer"sv, "cer"sv, "ter"sv, "ttft"sv, "tpot"sv, "itl"sv, "latency"sv,
                                "error"sv, "mse"sv, "mae"sv, "rmse"sv, "bpb"sv, "bpc"sv, "nll"sv, "brier"sv, "ece"sv, "toxicity"sv, "entropy"sv};
constexpr std::array higherWords{"accuracy"sv, "acc"sv, "f1"sv, "precision"sv, "recall"sv, "bleu"sv, "sacrebleu"sv, "chrf"sv, "meteor"sv,
                                 "rouge"sv, "auc"sv, "auroc"sv, "roc"sv, "mcc"sv, "matthews"sv, "pearson"sv, "spearman"sv, "spearmanr"sv,
                                 "match"sv, "em"sv, "ndcg"sv, "mrr"sv, "reward"sv, "rewards"sv, "throughput"sv, "pass"sv, "r2"sv, "iou"sv,
                                 "score"sv, "win"sv, "rouge1"sv, "rouge2"sv, "rougel"sv, "rougelsum"sv, "bertscore"sv, "margins"sv, "accuracies"sv};

std::vector<std::string> wordsOf(std::string_view name)
{
    std::vector<std::string> words(1);
    for (const unsigned char c : name) {
        if (std::isalnum(c))
            words.back() += static_cast<char>(std::tolower(c));
        else if (!words.back().empty())
            words.emplace_back();
    }
    return words;
}

// The folder of a path, with the slash.
std::string_view folderOf(std::string_view path)
{
    return path.substr(0, path.rfind('/') + 1);
}

// training_args.json and the like: the nearest one in the state's folder or above it.
const Artifact *argumentsFor(const Run &run, const Artifact &state)
{
    const Artifact *best = nullptr;
    for (const Artifact &artifact : run.artifacts()) {
        const Value root = artifact.tree();
        if (!root["greater_is_better"] && !root["metric_for_best_model"])
            continue;
        const auto folder = folderOf(artifact.path);
        if (artifact.input == state.input && std::string_view(state.path).starts_with(folder)
            && (!best || folder.size() > folderOf(best->path).size()))
            best = &artifact;
    }
    return best;
}

} // namespace

std::optional<Direction> directionOf(std::string_view metric)
{
    // The more telling word stands last: "accuracy_loss" is a loss.
    const auto words = wordsOf(metric);
    for (auto word = words.rbegin(); word != words.rend(); ++word) {
        if (std::find(lowerWords.begin(), lowerWords.end(), *word) != lowerWords.end())
            return Direction::Lower;
        if (std::find(higherWords.begin(), higherWords.end(), *word) != higherWords.end())
            return Direction::Higher;
    }
    return std::nullopt;
}

std::vector<ModelSelection> modelSelectionsOf(const Run &run)
{
    std::vector<ModelSelection> selections;
    for (const Artifact &artifact : run.artifacts()) {
        const Value root = artifact.tree();
        const Value history = root["log_history"];
        const Value best = root["best_metric"];
        if (!history.isArray() || (!best.isSet() && !root["best_model_checkpoint"].isSet()))
            continue;
        ModelSelection selection;
        selection.state = &artifact;
        if (const auto number = best.number()) {
            selection.chosen = number;
            selection.chosenAt = Evidence{artifact.id, best.anchor(), "best_metric = " + std::string(best.raw())};
        }
        if (const Artifact *const arguments = argumentsFor(run, artifact)) {
            const Value greater = arguments->tree()["greater_is_better"];
            selection.metric = arguments->tree()["metric_for_best_model"].string("");
            if (greater.boolean()) {
                selection.declaredGreater = greater.boolean();
                selection.declaredAt = {arguments->id, greater.anchor(), "greater_is_better = " + std::string(greater.raw())};
            }
        }
        if (!selection.metric.empty() && !selection.metric.starts_with("eval_"))
            selection.metric = "eval_" + selection.metric; // as the trainer does
        std::map<std::string, std::vector<ModelSelection::Evaluation>> metrics;
        for (const Value entry : history) {
            for (const Value member : entry) {
                if (const std::string key = member.key(); key.starts_with("eval_") && member.number())
                    metrics[key].push_back({*member.number(), member.path()});
            }
        }
        if (selection.metric.empty() && selection.chosen) {
            for (const auto &[name, values] : metrics) {
                const bool took = std::any_of(values.begin(), values.end(), [&](auto &v) { return v.value == *selection.chosen; });
                if (took && (selection.metric.empty() || name == "eval_loss"))
                    selection.metric = name;
            }
        }
        const auto found = metrics.find(selection.metric);
        if (found == metrics.end())
            continue;
        const auto [low, high] = std::minmax_element(found->second.begin(), found->second.end(), [](auto &a, auto &b) { return a.value < b.value; });
        selection.lowest = *low;
        selection.highest = *high;
        selection.evaluations = found->second.size();
        selections.push_back(std::move(selection));
    }
    return selections;
}

} // namespace prosector
