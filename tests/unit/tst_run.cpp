// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/digest.h"
#include "models/runs/run.h"

#include "tests/support/strict.h"
#include "tests/support/tempfolder.h"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace prosector;
using prosector::test::TempFolder;
namespace fs = std::filesystem;

namespace {

RunPtr openPath(const std::string &path)
{
    const std::string paths[] = {path};
    auto run = Run::open(paths, Job());
    return run ? *run : nullptr;
}

const Artifact *byPath(const Run &run, std::string_view path)
{
    const auto all = run.artifacts();
    const auto it = std::find_if(all.begin(), all.end(), [&](const Artifact &a) { return a.path == path; });
    return it == all.end() ? nullptr : &*it;
}

const Unreadable *unreadable(const Run &run, std::string_view path)
{
    const auto all = run.unreadable();
    const auto it = std::find_if(all.begin(), all.end(), [&](const Unreadable &u) { return u.path == path; });
    return it == all.end() ? nullptr : &*it;
}

constexpr std::string_view config = R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"]})";
constexpr std::string_view pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:"
                                     "ac02591061f1344027a7e7b11dbb4143f75f166c47dc09b742f5de3ab1dde1d1\nsize 2669283096\n";

} // namespace

class TestRun : public QObject {
    Q_OBJECT

private slots:
    void groupsByDirectory()
    {
        TempFolder folder;
        folder.file("config.json", config)
            .file("generation_config.json", R"({"temperature": 0.6, "eos_token_id": 2})")
            .file("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer", "eos_token": "</s>"})")
            .file("model.safetensors", pointer)
            .file("README.md", "---\nlicense: mit\n---\n# Card\n")
            .file("1_Pooling/config.json", R"({"word_embedding_dimension": 8, "pooling_mode_mean_tokens": true})")
            .file("serve/chat_template.jinja", "{% for m in messages %}{{ m.content }}{% endfor %}")
            .file("notes.bin", std::string_view("\0\1\2\3", 4));
        const auto run = openPath(folder.path());
        QVERIFY(run);
        QCOMPARE(run->inputs()[0].kind, std::string("model_folder"));
        QCOMPARE(run->artifacts().size(), std::size_t(8));
        QVERIFY(run->unreadable().empty());
        QCOMPARE(run->models().size(), std::size_t(2));
        const ModelFolder &top = run->models()[0];
        QCOMPARE(top.path, std::string());
        QCOMPARE(run->find(top.config)->path, std::string("config.json"));
        QCOMPARE(run->find(top.config)->tree()["model_type"].string(""), std::string("llama"));
        QCOMPARE(run->find(top.generationConfig)->path, std::string("generation_config.json"));
        QCOMPARE(run->find(top.modelCard)->tree()["license"].string(""), std::string("mit"));
        QVERIFY(!run->find(top.tokenizerJson) && !run->find(top.adapterConfig));
        QCOMPARE(top.weights.size(), std::size_t(1));
        QCOMPARE(run->artifact(top.weights[0]).kind, Kind::LfsPointer);
        QCOMPARE(run->artifact(top.weights[0]).as<LfsContent>()->declaredSize, std::uint64_t(2669283096));
        QCOMPARE(run->inFolder(top, "sentence_pooling")->path, std::string("1_Pooling/config.json"));
        QCOMPARE(run->folderOf(byPath(*run, "config.json")->id), &top);
        QCOMPARE(run->models()[1].path, std::string("serve"));
        QCOMPARE(run->models()[1].chatTemplates.size(), std::size_t(1));
        QCOMPARE(byPath(*run, "notes.bin")->kind, Kind::Unknown);
    }

    void kindOfInput_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("kind");
        QTest::newRow("model") << QByteArray("config.json") << QByteArray(config.data()) << QByteArray("model_folder");
        QTest::newRow("request") << QByteArray("request.json") << QByteArray(R"({"model": "m", "messages": []})") << QByteArray("trace");
        QTest::newRow("manifest") << QByteArray("trace.json") << QByteArray(R"({"prosector": 1})") << QByteArray("trace");
        QTest::newRow("log") << QByteArray("server.log") << QByteArray("INFO ready\n") << QByteArray("trace");
    }
    void kindOfInput()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, kind);
        TempFolder folder;
        folder.file(name.toStdString(), text.toStdString());
        QCOMPARE(openPath(folder.path())->inputs()[0].kind, kind.toStdString());
        QCOMPARE(openPath(folder.path(name.toStdString()))->inputs()[0].kind, std::string("file"));
    }

    void hashesAsPromised()
    {
        TempFolder folder;
        folder.file("b.txt", "two").file("a/c.txt", "one");
        std::vector<std::string> lines{sha256Hex("two") + "  3  b.txt\n", sha256Hex("one") + "  3  a/c.txt\n"};
        std::sort(lines.begin(), lines.end());
        QCOMPARE(openPath(folder.path())->inputs()[0].sha256, sha256Hex(lines[0] + lines[1]));
        QCOMPARE(openPath(folder.path("b.txt"))->inputs()[0].sha256, sha256Hex("two"));
        fs::resize_file(folder.path("b.txt"), Run::hashWhole + 1);
        QCOMPARE(openPath(folder.path("b.txt"))->inputs()[0].sha256,
                 "head:" + sha256Hex("two" + std::string((1 << 20) - 3, '\0')));
    }

    void missingAndEmpty()
    {
        TempFolder folder;
        const std::string absent[] = {folder.path("nothing")};
        const auto run = Run::open(absent, Job());
        QVERIFY(!run);
        QCOMPARE(run.error().code, Errc::NotFound);
        const auto empty = openPath(folder.path());
        QVERIFY(empty);
        QCOMPARE(empty->unreadable().size(), std::size_t(1));
        QCOMPARE(empty->unreadable()[0].error.code, Errc::NotFound);
        QVERIFY(empty->models().empty() && empty->artifacts().empty());
    }

    void symbolicLinks()
    {
        TempFolder folder;
        folder.file("in/config.json", config).file("in/v1/generation_config.json", R"({"do_sample": true})").file("secret.json", "{}");
        fs::create_symlink("config.json", folder.path("in/same.json"));
        fs::create_symlink("nowhere", folder.path("in/dangling"));
        fs::create_symlink("loop_b", folder.path("in/loop_a"));
        fs::create_symlink("loop_a", folder.path("in/loop_b"));
        fs::create_directory_symlink("..", folder.path("in/v1/up"));
        fs::create_directory_symlink("v1", folder.path("in/latest"));
        fs::create_symlink("../secret.json", folder.path("in/out.json"));
        fs::create_directory_symlink("/", folder.path("in/root"));
        const auto run = openPath(folder.path("in"));
        QVERIFY(run);
        QCOMPARE(run->artifacts().size(), std::size_t(3)); // config.json, same.json, v1/generation_config.json
        QCOMPARE(byPath(*run, "same.json")->format, std::string("config"));
        QCOMPARE(unreadable(*run, "dangling")->error.code, Errc::NotFound);
        QVERIFY(unreadable(*run, "loop_a") && unreadable(*run, "loop_b"));
        QVERIFY(unreadable(*run, "v1/up")->error.message.find("loop") != std::string::npos);
        QVERIFY(unreadable(*run, "out.json")->error.message.find("leads out") != std::string::npos);
        QVERIFY(unreadable(*run, "root"));
        QVERIFY(!unreadable(*run, "latest"));
    }

    void cacheSnapshot()
    {
        TempFolder folder;
        folder.file("models--x/blobs/abc", config).file("models--x/snapshots/r1/.keep", "");
        fs::create_symlink("../../blobs/abc", folder.path("models--x/snapshots/r1/config.json"));
        const auto run = openPath(folder.path("models--x/snapshots/r1"));
        QVERIFY(run->unreadable().empty());
        QCOMPARE(run->models().size(), std::size_t(1));
        QVERIFY(run->models()[0].config.valid());
    }

    void specialFiles()
    {
        TempFolder folder;
        folder.file("a.txt", "text");
        QCOMPARE(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
        const auto run = openPath(folder.path());
        QCOMPARE(run->artifacts().size(), std::size_t(1));
        QCOMPARE(unreadable(*run, "pipe")->error.found, std::string("a pipe"));
        const std::string pipe[] = {folder.path("pipe")};
        const auto refused = Run::open(pipe, Job());
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, Errc::Unsupported);
    }

    void permissions()
    {
        if (::geteuid() == 0)
            QSKIP("root may read everything");
        TempFolder folder;
        folder.file("config.json", config).file("locked.json", "{}").file("shut/a.json", "{}");
        fs::permissions(folder.path("locked.json"), fs::perms::none);
        fs::permissions(folder.path("shut"), fs::perms::none);
        const auto run = openPath(folder.path());
        fs::permissions(folder.path("shut"), fs::perms::owner_all);
        QCOMPARE(run->artifacts().size(), std::size_t(1));
        QCOMPARE(unreadable(*run, "locked.json")->error.code, Errc::Unreadable);
        QCOMPARE(unreadable(*run, "shut")->error.code, Errc::Unreadable);
    }

    void deepFolders()
    {
        TempFolder folder;
        std::string path = folder.path();
        for (int i = 0; i < 80; ++i)
            path += "/d";
        fs::create_directories(path);
        const auto run = openPath(folder.path());
        QVERIFY(run);
        QCOMPARE(run->unreadable().size(), std::size_t(1));
        QCOMPARE(run->unreadable()[0].error.code, Errc::TooLarge);
    }

    void manyFilesAtOnce()
    {
        // More than a process may hold open.
        TempFolder folder;
        for (int i = 0; i < 3000; ++i)
            folder.file("f" + std::to_string(i) + ".json", "{\"n\": " + std::to_string(i) + "}");
        const auto run = openPath(folder.path());
        QVERIFY(run);
        QCOMPARE(run->unreadable().size(), std::size_t(0));
        QCOMPARE(run->artifacts().size(), std::size_t(3000));
        for (const Artifact &artifact : run->artifacts()) {
            const auto text = readText(*artifact.source);
            QVERIFY(text && text->starts_with("{\"n\": "));
        }
    }

    void sameTwice()
    {
        TempFolder folder;
        for (const char *const name : {"z.json", "a/b.json", "a.json", "a/a.json"})
            folder.file(name, "{}");
        const auto one = openPath(folder.path()), two = openPath(folder.path());
        std::vector<std::string> paths;
        for (const Artifact &artifact : one->artifacts())
            paths.push_back(artifact.path);
        QCOMPARE(paths, (std::vector<std::string>{"a/a.json", "a/b.json", "a.json", "z.json"}));
        for (std::size_t i = 0; i < paths.size(); ++i)
            QCOMPARE(two->artifacts()[i].path, paths[i]);
        QCOMPARE(one->inputs()[0].sha256, two->inputs()[0].sha256);
    }

    void severalInputs()
    {
        TempFolder folder;
        folder.file("x/config.json", config).file("y/config.json", config);
        const std::string paths[] = {folder.path("x"), folder.path("y")};
        const auto run = Run::open(paths, Job());
        QVERIFY_RESULT(run);
        QCOMPARE((*run)->artifacts()[0].name, std::string("config.json"));
        QCOMPARE((*run)->artifacts()[1].name, std::string("y/config.json"));
        QCOMPARE((*run)->artifacts()[1].input, 1u);
        QCOMPARE((*run)->models().size(), std::size_t(2));
    }

    void wrongNames_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("format");
        QTest::addColumn<bool>("unread");
        QTest::newRow("tokenizer as config") << QByteArray("config.json") << QByteArray(R"({"added_tokens": [], "model": {"type": "BPE", "vocab": {}, "merges": []}})") << QByteArray("tokenizer_json") << false;
        QTest::newRow("text as gguf") << QByteArray("model.gguf") << QByteArray("<html><body>404</body></html>\n") << QByteArray("text") << false;
        QTest::newRow("bytes as gguf") << QByteArray("model.gguf") << QByteArray("\0\1\2\3\4\5", 6) << QByteArray("") << true;
    }
    void wrongNames()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, format);
        QFETCH(bool, unread);
        TempFolder folder;
        folder.file(name.toStdString(), text.toStdString());
        const auto run = openPath(folder.path());
        QCOMPARE(run->artifacts()[0].format, format.toStdString());
        QCOMPARE(!run->unreadable().empty(), unread);
        QCOMPARE(!run->artifacts()[0].remarks.empty(), !unread);
    }

    void cancelled()
    {
        TempFolder folder;
        folder.file("a.json", "{}");
        std::stop_source stop;
        stop.request_stop();
        const std::string paths[] = {folder.path()};
        const auto run = Run::open(paths, Job(stop.get_token()));
        QVERIFY(!run);
        QCOMPARE(run.error().code, Errc::Cancelled);
    }

    void tellsProgress()
    {
        TempFolder folder;
        folder.file("a.json", "{}").file("b.json", "{}");
        std::atomic<int> calls = 0;
        std::atomic<bool> complete = false;
        const std::string paths[] = {folder.path()};
        QVERIFY(Run::open(paths, Job({}, [&](double fraction, std::string_view) {
            ++calls;
            if (fraction == 1)
                complete = true;
        })).ok());
        QCOMPARE(calls.load(), 2);
        QVERIFY(complete);
    }

    void fileThatShrinks()
    {
        TempFolder folder;
        folder.file("requests.jsonl", R"({"messages": [], "model": "a"})"
                                      "\n"
                                      R"({"messages": [], "model": "b"})"
                                      "\n");
        const auto run = openPath(folder.path());
        const Artifact &artifact = run->artifacts()[0];
        const auto *const lines = artifact.as<LinesContent>();
        QVERIFY(lines);
        QCOMPARE(lines->document(1)->root()["model"].string(""), std::string("b"));
        fs::resize_file(folder.path("requests.jsonl"), 10);
        QVERIFY(lines->document(1)->problem().has_value());
        const auto bytes = artifact.source->read(0, artifact.source->size());
        QVERIFY(!bytes);
        QCOMPARE(bytes.error().code, Errc::Truncated);
    }
};

PROSECTOR_TEST(TestRun, tst_run)

#include "tst_run.moc"
