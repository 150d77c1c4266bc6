// SPDX-License-Identifier: GPL-3.0-or-later
// tokenize and decode as scripts use them.
#include "tests/support/runcommand.h"
#include "tests/support/strict.h"
#include "tests/support/temporaryfolder.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

using namespace prosector::test;

namespace {

// Byte-level BPE over a few letters: "ab" is one piece, "<s>" a special token put in front.
constexpr const char *tokenizer =
    "{\"added_tokens\": [{\"id\": 6, \"content\": \"<s>\", \"special\": true, \"normalized\": false}],"
    "\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": true},"
    "\"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"<s>\"}}, {\"Sequence\": {\"id\": \"A\"}}],"
    "\"special_tokens\": {\"<s>\": {\"ids\": [6], \"tokens\": [\"<s>\"]}}}, \"decoder\": {\"type\": \"ByteLevel\"},"
    "\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2, \"\xC4\xA0\": 3, \"<\": 4, \"s\": 5},"
    "\"merges\": [\"a b\"]}}";

QString s(const char *text)
{
    return QString::fromUtf8(text);
}

QList<int> ids(const QJsonObject &line)
{
    QList<int> list;
    for (const QJsonValue id : line[QLatin1String("ids")].toArray())
        list << id.toInt();
    return list;
}

} // namespace

class TestTokenizeCommand : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        failOnQtWarnings();
        folder = std::make_unique<TemporaryFolder>();
        folder->write(s("m/tokenizer.json"), tokenizer);
    }

    QList<QJsonObject> lines(const QStringList &arguments, int status = 0)
    {
        const Ran ran = runCommand(arguments, folder->path());
        [&] { QCOMPARE(ran.status, status); }();
        QList<QJsonObject> list;
        for (const QByteArray &line : ran.out.split('\n')) {
            if (!line.isEmpty())
                list << QJsonDocument::fromJson(line).object();
        }
        return list;
    }

    void oneText()
    {
        const auto got = lines({s("tokenize"), s("m"), s("--text"), s("ab <s>b")});
        QCOMPARE(got.size(), 1);
        QCOMPARE(ids(got[0]), (QList<int>{6, 2, 3, 6, 1}));
        const auto offsets = got[0][QLatin1String("offsets")].toArray();
        QCOMPARE(offsets.at(3), QJsonValue(QJsonArray{3, 6}));
        QCOMPARE(got[0][QLatin1String("tokens")].toArray().at(1), QJsonValue(s("ab")));
        QCOMPARE(got[0].keys().size(), 3);
        QCOMPARE(ids(lines({s("tokenize"), s("m/tokenizer.json"), s("--text"), s("ab"), s("--no-special-tokens")})[0]), QList<int>{2});
        QCOMPARE(ids(lines({s("tokenize"), s("m"), s("--text"), s("<s"), s("--no-special-tokens")})[0]), (QList<int>{4, 5}));
        QCOMPARE(ids(lines({s("tokenize"), s("m"), s("--text"), s("")})[0]), QList<int>{6});
    }

    void specialsAsText()
    {
        folder->write(s("t.txt"), "<s<s>");
        const QStringList command{s("tokenize"), s("m"), s("--file"), s("t.txt"), s("--no-special-tokens")};
        QCOMPARE(ids(lines(command)[0]), (QList<int>{4, 5, 6}));
        QCOMPARE(ids(lines(command + QStringList{s("--specials-as-text")})[0]), (QList<int>{4, 5, 4, 5}));
    }

    void explained()
    {
        const auto got = lines({s("tokenize"), s("m"), s("--text"), s("ab<s>"), s("--explain")});
        const auto tokens = got[0][QLatin1String("explain")].toArray();
        QCOMPARE(tokens.size(), 3);
        QCOMPARE(tokens.at(0)[QLatin1String("source")], QJsonValue(s("inserted")));
        QCOMPARE(tokens.at(1)[QLatin1String("source")], QJsonValue(s("model")));
        QCOMPARE(tokens.at(2)[QLatin1String("source")], QJsonValue(s("added token")));
        const auto piece = got[0][QLatin1String("pieces")].toArray().at(tokens.at(1)[QLatin1String("piece")].toInt());
        QCOMPARE(piece[QLatin1String("merges")].toArray().at(0)[QLatin1String("left")], QJsonValue(s("a")));
    }

    /// A damaged line says so in its place; the others are done.
    void manyLines()
    {
        folder->write(s("in.jsonl"), "{\"text\": \"ab\"}\n\n{\"text\": 3}\nnonsense\n{\"text\": \"b\"}\n");
        const auto got = lines({s("tokenize"), s("m"), s("--jsonl"), s("in.jsonl"), s("--no-special-tokens")}, 3);
        QCOMPARE(got.size(), 4);
        QCOMPARE(ids(got[0]), QList<int>{2});
        QVERIFY(got[1][QLatin1String("error")].toString().startsWith(s("line 3: ")));
        QVERIFY(got[2][QLatin1String("error")].toString().startsWith(s("line 4: ")));
        QCOMPARE(ids(got[3]), QList<int>{1});
    }

    void bytesThatAreNotUtf8()
    {
        folder->write(s("t.txt"), "a\xFF" "b");
        const auto got = lines({s("tokenize"), s("m"), s("--file"), s("t.txt")});
        const auto invalid = got[0][QLatin1String("invalid")].toArray().at(0);
        QCOMPARE(invalid[QLatin1String("bytes")], QJsonValue(QJsonArray{1, 2}));
        QCOMPARE(invalid[QLatin1String("hex")], QJsonValue(s("ff")));
    }

    void decodes()
    {
        const QStringList command{s("decode"), s("m"), s("--ids"), s("6,2,3,1")};
        QCOMPARE(runCommand(command, folder->path()).out, QByteArray("<s>ab b"));
        QCOMPARE(runCommand(command + QStringList{s("--skip-special-tokens")}, folder->path()).out, QByteArray("ab b"));
        const auto steps = lines(command + QStringList{s("--explain")});
        QCOMPARE(steps.size(), 4);
        QCOMPARE(steps[1][QLatin1String("text")], QJsonValue(s("ab")));
        folder->write(s("ids.jsonl"), "{\"ids\": [2, 3]}\n[1]\n{\"ids\": [-1]}\n");
        const auto got = lines({s("decode"), s("m"), s("--jsonl"), s("ids.jsonl")}, 3);
        QCOMPARE(got[0][QLatin1String("text")], QJsonValue(s("ab ")));
        QCOMPARE(got[1][QLatin1String("text")], QJsonValue(s("b")));
        QVERIFY(got[2].contains(QLatin1String("error")));
    }

    void refused_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("status");
        QTest::newRow("no text") << QStringList{s("tokenize"), s("m")} << 2;
        QTest::newRow("two texts") << QStringList{s("tokenize"), s("m"), s("--text"), s("a"), s("--file"), s("b")} << 2;
        QTest::newRow("ids that are none") << QStringList{s("decode"), s("m"), s("--ids"), s("1,x")} << 2;
        QTest::newRow("id below 0") << QStringList{s("decode"), s("m"), s("--ids"), s("-1")} << 2;
        QTest::newRow("no model") << QStringList{s("tokenize"), s("nowhere"), s("--text"), s("a")} << 3;
        QTest::newRow("no tokenizer") << QStringList{s("tokenize"), s("other"), s("--text"), s("a")} << 3;
        QTest::newRow("unknown component") << QStringList{s("tokenize"), s("odd"), s("--text"), s("a")} << 3;
        QTest::newRow("no file") << QStringList{s("tokenize"), s("m"), s("--file"), s("nowhere")} << 3;
    }
    void refused()
    {
        QFETCH(QStringList, arguments);
        QFETCH(int, status);
        folder->write(s("other/config.json"), "{\"model_type\": \"llama\"}");
        folder->write(s("odd/tokenizer.json"), QByteArray(tokenizer).replace("\"use_regex\": true}", "\"use_regex\": true}, \"normalizer\": {\"type\": \"Rot13\"}"));
        const Ran ran = runCommand(arguments, folder->path());
        QCOMPARE(ran.status, status);
        QVERIFY2(ran.err.startsWith("prosector-cli: ") && ran.err.count('\n') == 1, ran.err.constData());
        QVERIFY(ran.out.isEmpty());
    }

private:
    std::unique_ptr<TemporaryFolder> folder;
};

PROSECTOR_TEST(TestTokenizeCommand, tst_tokenizecommand)
#include "tst_tokenizecommand.moc"
