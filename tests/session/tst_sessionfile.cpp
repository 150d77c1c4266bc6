// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/recentlist.h"
#include "models/session/sessionfile.h"
#include "models/session/text.h"

#include "tests/support/strict.h"
#include "tests/support/tempfolder.h"

#include <QSettings>
#include <QSignalSpy>

using namespace prosector;

class TestSessionFile : public QObject {
    Q_OBJECT

private slots:
    void init() { failOnQtWarnings(); }

    void everyAnchorComesBack()
    {
        SessionFile file;
        file.inputs = {"/a folder/with \"quotes\"", "/b"};
        file.baseline = {"/c"};
        const std::vector<Anchor> anchors{Whole{},
                                          ByteRange{3, 1ULL << 50},
                                          LogLine{4, 9},
                                          JsonPath{"$[\"a.b\"][3]"},
                                          TokenRange{1, 2},
                                          TemplateSpan{10, 20},
                                          TensorBlock{"w"},
                                          TensorBlock{"w", {0, 1}, {2, 3}},
                                          MaskCells{{{0, 1, 2, 3}, {4, 5, 6, 7}}},
                                          CacheRows{{1, 5}},
                                          ItemIds{{"x", "é"}},
                                          TimeSpan{1.5, 2.25},
                                          StepRange{0, 7}};
        for (const Anchor &anchor : anchors)
            file.bookmarks.push_back({{{Side::B, "config.json", anchor}, {Side::A, "x", Whole{}}}, "a note"});
        file.selection = {{Side::A, "config.json", JsonPath{"$.eos"}}};
        file.thresholds["F5"]["ratio"] = 0.1;
        file.acknowledged["F5|code|config.json#$.x"] = "known";
        file.layout = std::string("\0\1\2\xFF", 4);
        const auto read = SessionFile::parse(file.toJson());
        QVERIFY_RESULT(read);
        QCOMPARE(read->bookmarks.size(), anchors.size());
        for (std::size_t i = 0; i < anchors.size(); ++i)
            QVERIFY2(read->bookmarks[i] == file.bookmarks[i], std::to_string(i).c_str());
        QVERIFY(*read == file);
    }

    void refuses_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("no object") << QByteArray("[1]");
        QTest::newRow("other schema") << QByteArray("{\"schema\": \"prosector.session/9\"}");
        QTest::newRow("cut short") << QByteArray("{\"schema\": \"prosector.session/1\", \"inputs\": [");
    }
    void refuses()
    {
        QFETCH(QByteArray, text);
        QVERIFY(!SessionFile::parse(text.toStdString()));
    }

    void passesOverNonsense()
    {
        const auto file = SessionFile::parse(
            "{\"schema\": \"prosector.session/1\", \"inputs\": [1, \"a\"], \"bookmarks\": [{\"places\": ["
            "{\"artifact\": \"a\", \"locator\": {\"type\": \"byte_range\", \"from\": 9, \"to\": 1}},"
            "{\"artifact\": \"a\", \"locator\": {\"type\": \"unheard of\"}}, 7,"
            "{\"artifact\": \"a\", \"locator\": {\"type\": \"token_range\", \"from\": -1, \"to\": 1}}]}],"
            "\"thresholds\": {\"F1\": {\"x\": \"high\"}}, \"layout\": 3}");
        QVERIFY_RESULT(file);
        QCOMPARE(file->inputs, std::vector<std::string>{"a"});
        QCOMPARE(file->bookmarks.size(), std::size_t(1));
        QVERIFY(file->bookmarks[0].places.empty());
        QVERIFY(file->thresholds.empty());
    }

    void recentList()
    {
        const test::TempFolder folder;
        QSettings settings(toQt(folder.path("settings.ini")), QSettings::IniFormat);
        RecentList list(&settings);
        QSignalSpy changed(&list, &RecentList::changed);
        for (int i = 0; i < RecentList::limit + 3; ++i)
            list.add({QStringLiteral("/folder %1").arg(i)});
        list.add({QStringLiteral("/folder 10")});
        list.add({});
        QCOMPARE(list.entries().size(), RecentList::limit);
        QCOMPARE(list.entries()[0].paths, QStringList{QStringLiteral("/folder 10")});
        QCOMPARE(list.entries()[1].paths, QStringList{QStringLiteral("/folder 14")});
        QCOMPARE(changed.size(), RecentList::limit + 4);
        list.remove(0);
        const RecentList again(&settings);
        QCOMPARE(again.entries().size(), RecentList::limit - 1);
        QCOMPARE(again.entries()[0].paths, QStringList{QStringLiteral("/folder 14")});
        QVERIFY(again.entries()[0].opened.isValid());
        list.clear();
        QVERIFY(RecentList(&settings).entries().isEmpty());
    }
};

PROSECTOR_TEST(TestSessionFile, tst_sessionfile)
#include "tst_sessionfile.moc"
