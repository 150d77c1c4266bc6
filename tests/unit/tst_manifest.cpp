// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/resources.h"
#include "models/runs/run.h"

#include "tests/support/strict.h"
#include "tests/support/tempfolder.h"

#include <algorithm>
#include <filesystem>

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

constexpr std::string_view config = R"({"model_type": "llama"})";

} // namespace

class TestManifest : public QObject {
    Q_OBJECT

private slots:
    void namesAndLinks()
    {
        TempFolder folder;
        folder.file("case/request.json", R"({"messages": [], "model": "m"})")
            .file("case/tokens.json", R"({"ids": [1, 2]})")
            .file("case/odd.json", R"({"something": 1})")
            .file("case/trace.json", R"({"prosector": 1, "name": "ticket", "model": {"path": "../qwen3"}, "artifacts": [
                {"id": "req", "kind": "request_body", "file": "request.json"},
                {"id": "ids", "kind": "token_array", "file": "tokens.json", "of": "req"},
                {"id": "again", "kind": "position_ids", "file": "tokens.json", "tensor": "p", "of": "ids"},
                {"id": "load", "kind": "metric_history", "file": "./odd.json"}]})")
            .file("qwen3/config.json", config);
        const auto run = openPath(folder.path("case"));
        QVERIFY(run);
        QCOMPARE(run->unreadable().size(), std::size_t(0));
        QCOMPARE(run->inputs()[0].kind, std::string("trace"));
        QCOMPARE(run->byName("req")->kind, Kind::RequestBody);
        QCOMPARE(run->byName("ids")->of, std::string("req"));
        QCOMPARE(run->byName("ids")->path, std::string("tokens.json"));
        QCOMPARE(run->byName("again")->kind, Kind::PositionIds);
        QCOMPARE(run->byName("again")->tensor, std::string("p"));
        QCOMPARE(run->byName("again")->path, std::string("tokens.json"));
        QCOMPARE(run->byName("load")->kind, Kind::MetricHistory);
        QCOMPARE(run->models().size(), std::size_t(1));
        QCOMPARE(run->models()[0].path, std::string("../qwen3"));
        QCOMPARE(run->find(run->models()[0].config)->path, std::string("../qwen3/config.json"));
    }

    void anotherTraceJson()
    {
        TempFolder folder;
        folder.file("trace.json", R"({"schema_version": "2.0.0", "tokens": {}, "steps": []})");
        const auto run = openPath(folder.path());
        QCOMPARE(run->unreadable().size(), std::size_t(0));
        QVERIFY(run->artifacts()[0].kind != Kind::TraceManifest);
    }

    void refusals_data()
    {
        QTest::addColumn<QByteArray>("manifest");
        QTest::addColumn<QByteArray>("path"); // of the unreadable entry
        QTest::addColumn<Errc>("code");
        QTest::addColumn<QByteArray>("where");
        const QByteArray self("trace.json");
        const auto entry = [](const char *fields) {
            return QByteArray("{\"prosector\": 1, \"artifacts\": [{\"id\": \"a\", \"kind\": \"data\", \"file\": \"a.json\"}, {") + fields + "}]}";
        };
        const auto model = [](const char *path) {
            return QByteArray("{\"prosector\": 1, \"model\": {\"path\": \"") + path + "\"}}";
        };
        QTest::newRow("missing file") << entry("\"file\": \"b.json\"") << QByteArray("b.json") << Errc::NotFound << QByteArray();
        QTest::newRow("climbing file") << entry("\"file\": \"../b.json\"") << self << Errc::Malformed << QByteArray("$.artifacts[1].file");
        QTest::newRow("climbing inside") << entry("\"file\": \"x/../../b.json\"") << self << Errc::Malformed << QByteArray("$.artifacts[1].file");
        QTest::newRow("absolute file") << entry("\"file\": \"/etc/passwd\"") << self << Errc::Malformed << QByteArray("$.artifacts[1].file");
        QTest::newRow("windows file") << entry("\"file\": \"C:\\\\a.json\"") << self << Errc::Malformed << QByteArray("$.artifacts[1].file");
        QTest::newRow("no file") << entry("\"id\": \"b\"") << self << Errc::Malformed << QByteArray("$.artifacts[1]");
        QTest::newRow("unknown kind") << entry("\"file\": \"a.json\", \"kind\": \"soup\"") << self << Errc::Malformed << QByteArray("$.artifacts[1].kind");
        QTest::newRow("id twice") << entry("\"id\": \"a\", \"file\": \"a.json\"") << self << Errc::Malformed << QByteArray("$.artifacts[1].id");
        QTest::newRow("of nothing") << entry("\"file\": \"a.json\", \"of\": \"zzz\"") << self << Errc::NotFound << QByteArray("$.artifacts[1].of");
        QTest::newRow("of itself") << entry("\"id\": \"b\", \"file\": \"a.json\", \"of\": \"b\"") << self << Errc::Malformed << QByteArray("$.artifacts[1].of");
        QTest::newRow("of an empty name") << entry("\"file\": \"a.json\", \"of\": \"\"") << self << Errc::NotFound << QByteArray("$.artifacts[1].of");
        QTest::newRow("version") << QByteArray("{\"prosector\": 7, \"artifacts\": []}") << self << Errc::Unsupported << QByteArray("$.prosector");
        QTest::newRow("not a list") << QByteArray("{\"prosector\": 1, \"artifacts\": {\"a\": 1}}") << self << Errc::Malformed << QByteArray("$.artifacts");
        QTest::newRow("absolute model") << model("/etc") << self << Errc::Malformed << QByteArray("$.model.path");
        QTest::newRow("two up") << model("../../etc") << self << Errc::Malformed << QByteArray("$.model.path");
        QTest::newRow("up and up again") << model("../x/../..") << self << Errc::Malformed << QByteArray("$.model.path");
        QTest::newRow("only up") << model("..") << self << Errc::Malformed << QByteArray("$.model.path");
        QTest::newRow("absent neighbour") << model("../absent") << self << Errc::NotFound << QByteArray("$.model.path");
        QTest::newRow("absent inside") << model("m") << self << Errc::NotFound << QByteArray("$.model.path");
        QTest::newRow("neighbour by link") << model("../link") << self << Errc::Unsupported << QByteArray("$.model.path");
    }
    void circles()
    {
        TempFolder folder;
        folder.file("a.json", "{}").file("b.json", "{}").file("c.json", "{}").file("d.json", "{}")
            .file("trace.json", R"({"prosector": 1, "artifacts": [
                {"id": "d", "file": "d.json", "of": "a"}, {"id": "a", "file": "a.json", "of": "b"},
                {"id": "b", "file": "b.json", "of": "c"}, {"id": "c", "file": "c.json", "of": "a"}]})");
        const auto run = openPath(folder.path());
        QCOMPARE(run->unreadable().size(), std::size_t(1));
        // Whoever follows `of` comes to an end.
        for (const Artifact &artifact : run->artifacts()) {
            int steps = 0;
            for (const Artifact *at = &artifact; at && !at->of.empty(); at = run->byName(at->of))
                QVERIFY(++steps < 5);
        }
    }

    void refusals()
    {
        QFETCH(QByteArray, manifest);
        QFETCH(QByteArray, path);
        QFETCH(Errc, code);
        QFETCH(QByteArray, where);
        TempFolder folder;
        folder.file("case/a.json", "{}").file("case/trace.json", manifest.toStdString()).file("far/config.json", config);
        fs::create_directory_symlink("far", folder.path("link"));
        const auto run = openPath(folder.path("case"));
        QVERIFY(run);
        QCOMPARE(run->unreadable().size(), std::size_t(1));
        const Unreadable &entry = run->unreadable()[0];
        QCOMPARE(entry.path, path.toStdString());
        QCOMPARE(entry.error.code, code);
        if (!where.isEmpty())
            QCOMPARE(std::get<JsonPath>(entry.error.where).path, where.toStdString());
        QVERIFY(run->models().empty());
        QVERIFY(run->byName("a") || where.startsWith("$.model") || where.startsWith("$.prosector") || where == "$.artifacts");
    }

    void schemaNamesEveryKind()
    {
        const auto source = openFile(resourceFolder() + "/formats/trace.schema.json");
        QVERIFY_RESULT(source);
        const auto schema = Document::parseJson(*readText(**source));
        QVERIFY(!schema->problem());
        const Value kinds = schema->at("$.properties.artifacts.items.properties.kind.enum");
        QCOMPARE(kinds.size(), static_cast<std::size_t>(Kind::Archive) + 1);
        std::size_t number = 0;
        for (const Value kind : kinds)
            QCOMPARE(kind.string(""), std::string(nameOf(static_cast<Kind>(number++))));
    }

    void theFolderItself()
    {
        TempFolder folder;
        folder.file("case/config.json", config).file("case/trace.json", R"({"prosector": 1, "model": {"path": "../case"}})");
        const auto run = openPath(folder.path("case"));
        QCOMPARE(run->unreadable().size(), std::size_t(0));
        QCOMPARE(run->artifacts().size(), std::size_t(2));
    }

    void damagedManifestKeepsTheRest()
    {
        TempFolder folder;
        folder.file("a.json", "{}").file("trace.json", R"({"prosector": 1, "artifacts": [{"id": "x", "file": "a.json"}, {"id")");
        const auto run = openPath(folder.path());
        QVERIFY(run->byName("x"));
        QVERIFY(!run->unreadable().empty());
    }
};

PROSECTOR_TEST(TestManifest, tst_manifest)

#include "tst_manifest.moc"
