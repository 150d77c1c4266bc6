// SPDX-License-Identifier: GPL-3.0-or-later
// Real files and reports: all open, nothing wrongly unreadable, each as what it is.
#include "models/artifacts/reader.h"
#include "models/runs/run.h"

#include "tests/support/corpus.h"
#include "tests/support/strict.h"

#include <algorithm>
#include <filesystem>
#include <map>

using namespace prosector;
namespace fs = std::filesystem;

namespace {

RunPtr openPath(const std::string &path)
{
    const std::string paths[] = {path};
    auto run = Run::open(paths, Job());
    return run ? *run : nullptr;
}

std::string unreadableText(const Run &run)
{
    std::string text;
    for (const Unreadable &entry : run.unreadable())
        text += entry.path + ": " + describe(entry.error) + "; ";
    return text;
}

/// Whether something here reads files of that ending; tensor files have readers of their own.
bool hasReader(const std::string &name)
{
    static const std::map<std::string, std::string> ids = {{"npy", "npy"}, {"npz", "npz"}, {"pt", "torch"}, {"pth", "torch"}, {"bin", "torch"}};
    const auto id = ids.find(name.substr(name.find_last_of('.') + 1));
    const auto all = readers();
    return id == ids.end() || std::any_of(all.begin(), all.end(), [&](const Reader *reader) { return reader->id == id->second; });
}

/// What a file of this name is, wherever it lies.
const std::map<std::string, Kind> kindByName = {
    {"config.json", Kind::ConfigFiles}, {"generation_config.json", Kind::ConfigFiles}, {"tokenizer.json", Kind::TokenizerFiles},
    {"tokenizer_config.json", Kind::TokenizerFiles}, {"special_tokens_map.json", Kind::TokenizerFiles},
    {"added_tokens.json", Kind::TokenizerFiles}, {"vocab.json", Kind::TokenizerFiles}, {"vocab.txt", Kind::TokenizerFiles},
    {"merges.txt", Kind::TokenizerFiles}, {"adapter_config.json", Kind::AdapterFiles}, {"trainer_state.json", Kind::TrainingLog},
    {"quantize_config.json", Kind::QuantizationConfig}, {"README.md", Kind::ModelCard}, {"request.json", Kind::RequestBody},
    {"upstream_request.json", Kind::RequestBody}, {"response.json", Kind::ResponseBody}, {"responses.jsonl", Kind::ResponseBody},
    {"stream.sse", Kind::SseStream}, {"tokens.json", Kind::TokenArray}, {"encode.json", Kind::EncodeRecord},
    {"encode.jsonl", Kind::EncodeRecord}, {"encode_compare.jsonl", Kind::EncodeRecord}, {"load.log", Kind::StartupLog},
    {"chat_template.jinja", Kind::ChatTemplate}, {"rendered_prompt.txt", Kind::RenderedPrompt},
    {"effective_sampling_params.json", Kind::EffectiveSamplingParams}, {"engine_args.json", Kind::EngineArgs},
    {"activation_stats.json", Kind::ActivationStats}, {"api_show.json", Kind::EffectiveConfig},
    {"api_ps.json", Kind::EffectiveConfig}, {"results.json", Kind::EvalConfig}, {"batch.json", Kind::TrainingBatch},
    {"conversation_trace.jsonl", Kind::RequestLog}, {"AzureLLMInferenceTrace_code.csv", Kind::RequestLog},
    {"cache_keys.jsonl", Kind::CacheKeyFields}, {"index_meta.json", Kind::IndexStats}, {"search.jsonl", Kind::RetrievalLog},
    {"requests.csv", Kind::RequestLog}, {"dpo_formatted.jsonl", Kind::PreferencePairs}, {"leaderboard_mmlu.yaml", Kind::EvalConfig},
    {"samples_gsm8k.jsonl", Kind::EvalSamples}, {"scenario_state.jsonl", Kind::EvalSamples},
};

} // namespace

class TestSharedFiles : public QObject {
    Q_OBJECT

    void check(const std::string &path)
    {
        const auto run = openPath(path);
        QVERIFY(run);
        QCOMPARE(unreadableText(*run), std::string());
        for (const Artifact &artifact : run->artifacts()) {
            const auto name = artifact.path.substr(artifact.path.find_last_of('/') + 1);
            QVERIFY2(artifact.remarks.empty(), artifact.remarks.empty() ? "" : (artifact.path + ": " + artifact.remarks[0]).c_str());
            QVERIFY2(artifact.kind != Kind::Unknown || !hasReader(name), (artifact.path + " is unknown").c_str());
            if (const auto known = kindByName.find(name); known != kindByName.end())
                QVERIFY2(artifact.kind == known->second, (artifact.path + " is " + std::string(nameOf(artifact.kind))).c_str());
        }
    }

private slots:
    void corpus_data()
    {
        REQUIRE_SHARED(shared);
        QTest::addColumn<QByteArray>("path");
        for (const auto &entry : fs::directory_iterator(shared + "/corpus"))
            QTest::newRow(entry.path().filename().c_str()) << QByteArray(entry.path().c_str());
    }
    void corpus()
    {
        QFETCH(QByteArray, path);
        check(path.toStdString());
    }

    void reports_data()
    {
        REQUIRE_SHARED(shared);
        QTest::addColumn<QByteArray>("path");
        for (const auto &report : fs::directory_iterator(shared + "/reports")) {
            for (const char *const side : {"sick", "healthy"}) {
                if (fs::exists(report.path() / side))
                    QTest::addRow("%s %s", report.path().filename().c_str(), side) << QByteArray((report.path() / side).c_str());
            }
        }
    }
    void reports()
    {
        QFETCH(QByteArray, path);
        check(path.toStdString());
    }

    void modelsOfReports()
    {
        REQUIRE_SHARED(shared);
        const auto models = [&](const char *path) {
            std::vector<std::string> paths;
            const auto run = openPath(shared + "/reports/" + path);
            for (const ModelFolder &folder : run->models())
                paths.push_back(folder.path);
            return paths;
        };
        using List = std::vector<std::string>;
        QCOMPARE(models("b37/sick"), (List{"", "source_hf"}));
        QCOMPARE(models("b22/sick"), (List{"model", "serve"}));
        QCOMPARE(models("b51/sick"), (List{"adapter", "base", "merged"}));
        QCOMPARE(models("b59/sick"), (List{"model"}));
    }
};

PROSECTOR_TEST(TestSharedFiles, tst_sharedfiles)

#include "tst_sharedfiles.moc"
