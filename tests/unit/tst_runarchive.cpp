// SPDX-License-Identifier: GPL-3.0-or-later
// Archives: expanded when given as an input, listed when they lie in a folder.
#include "models/core/digest.h"
#include "models/runs/run.h"

#include "tests/support/strict.h"
#include "tests/support/tempfolder.h"
#include "tests/support/zipwriter.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>

using namespace prosector;
using prosector::test::TempFolder;

namespace {

RunPtr openPath(const std::string &path)
{
    const std::string paths[] = {path};
    auto run = Run::open(paths, Job());
    return run ? *run : nullptr;
}

constexpr std::string_view config = R"({"model_type": "llama"})";

std::string smallZip()
{
    ZipWriter zip;
    zip.stored("m/config.json", config);
    zip.deflated("m/generation_config.json", R"({"do_sample": true})");
    zip.stored("request.json", R"({"model": "m", "messages": []})");
    return zip.bytes();
}

/// One member of a tar, ustar format.
std::string tarMember(std::string_view name, std::string_view data)
{
    std::string header(512, '\0');
    header.replace(0, name.size(), name);
    const auto number = [&](std::size_t at, int digits, std::size_t value) {
        char text[16];
        std::snprintf(text, sizeof text, "%0*zo", digits, value);
        header.replace(at, static_cast<std::size_t>(digits), text);
    };
    number(100, 7, 0644);
    number(124, 11, data.size());
    number(136, 11, 0);
    header[156] = '0';
    header.replace(257, 8, std::string("ustar\0" "00", 8));
    header.replace(148, 8, std::string(8, ' '));
    number(148, 6, std::accumulate(header.begin(), header.end(), std::size_t(0), [](std::size_t sum, char c) { return sum + static_cast<unsigned char>(c); }));
    header[154] = '\0';
    std::string member = header + std::string(data);
    member.resize((member.size() + 511) / 512 * 512, '\0');
    return member;
}

} // namespace

class TestRunArchive : public QObject {
    Q_OBJECT

private slots:
    void expanded_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("zip") << QByteArray("case.zip") << QByteArray::fromStdString(smallZip());
        QTest::newRow("tar") << QByteArray("case.tar") << QByteArray::fromStdString(
            tarMember("m/config.json", config) + tarMember("m/generation_config.json", R"({"do_sample": true})")
            + tarMember("request.json", R"({"model": "m", "messages": []})") + std::string(1024, '\0'));
        QTest::newRow("zip under another name") << QByteArray("case.bin") << QByteArray::fromStdString(smallZip());
    }
    void expanded()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, bytes);
        TempFolder folder;
        folder.file(name.toStdString(), bytes.toStdString());
        const auto run = openPath(folder.path(name.toStdString()));
        QVERIFY(run);
        QCOMPARE(run->inputs()[0].kind, std::string("archive"));
        QCOMPARE(run->unreadable().size(), std::size_t(0));
        QCOMPARE(run->artifacts().size(), std::size_t(3));
        QCOMPARE(run->artifacts()[0].path, std::string("m/config.json"));
        QCOMPARE(run->artifacts()[0].source->name(), name.toStdString() + "!m/config.json");
        QCOMPARE(run->models().size(), std::size_t(1));
        QVERIFY(run->models()[0].config.valid() && run->models()[0].generationConfig.valid());
        QVERIFY(!run->inputs()[0].sha256.empty());
    }

    void sameHashAsTheFolder()
    {
        TempFolder folder;
        folder.file("case.zip", smallZip()).file("case/m/config.json", config)
            .file("case/m/generation_config.json", R"({"do_sample": true})")
            .file("case/request.json", R"({"model": "m", "messages": []})");
        QCOMPARE(openPath(folder.path("case.zip"))->inputs()[0].sha256, openPath(folder.path("case"))->inputs()[0].sha256);
    }

    void manifestInside()
    {
        ZipWriter zip;
        zip.stored("trace.json", R"({"prosector": 1, "model": {"path": "../m"}, "artifacts": [{"id": "req", "file": "r.json"}]})");
        zip.stored("r.json", R"({"messages": [], "model": "m"})");
        TempFolder folder;
        folder.file("a.zip", zip.bytes()).file("m/config.json", config);
        const auto run = openPath(folder.path("a.zip"));
        QVERIFY(run->byName("req"));
        QCOMPARE(run->unreadable().size(), std::size_t(1)); // a model outside the archive
        QVERIFY(run->models().empty());
    }

    void membersThatLeave()
    {
        ZipWriter zip;
        zip.stored("../evil.json", "{}");
        zip.stored("/etc/evil.json", "{}");
        zip.stored("good.json", "{}");
        TempFolder folder;
        folder.file("a.zip", zip.bytes());
        const auto run = openPath(folder.path("a.zip"));
        QCOMPARE(run->artifacts().size(), std::size_t(1));
        QCOMPARE(run->unreadable().size(), std::size_t(2));
    }

    void listedInAFolder()
    {
        TempFolder folder;
        folder.file("a.zip", smallZip()).file("b.tar", tarMember("x", "1") + tarMember("y", std::string(1000, 'y')) + std::string(1024, '\0'))
            .file("cut.zip", smallZip().substr(0, 60)).file("log.eval", smallZip());
        const auto run = openPath(folder.path());
        const auto all = run->artifacts();
        QCOMPARE(all.size(), std::size_t(4));
        QCOMPARE(all[0].kind, Kind::Archive);
        QCOMPARE(all[0].summary, std::string("zip, 3 members"));
        QCOMPARE(all[1].kind, Kind::Archive);
        QCOMPARE(all[1].summary, std::string("tar, 2 members"));
        QCOMPARE(all[2].problems.size(), std::size_t(1));
        QCOMPARE(all[2].problems[0].code, Errc::Truncated);
        QCOMPARE(all[3].kind, Kind::EvalSamples);
    }
};

PROSECTOR_TEST(TestRunArchive, tst_runarchive)

#include "tst_runarchive.moc"
