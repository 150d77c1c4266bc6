// SPDX-License-Identifier: GPL-3.0-or-later
// The schema of trace.json accepts what README.md shows and refuses what the program refuses.
#include "models/artifacts/artifact.h"

#include "tests/support/jsonschema.h"
#include "tests/support/strict.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>

using namespace prosector;

class TestTraceSchema : public QObject {
    Q_OBJECT

private slots:
    void traces_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<bool>("fits");
        const auto file = [](const char *path) { return QByteArray("{\"prosector\":1,\"artifacts\":[{\"file\":\"") + path + "\"}]}"; };
        QTest::newRow("README") << readmeExample() << true;
        QTest::newRow("smallest") << QByteArray("{\"prosector\": 1}") << true;
        QTest::newRow("no version") << QByteArray("{\"name\": \"x\"}") << false;
        QTest::newRow("later version") << QByteArray("{\"prosector\": 2}") << false;
        QTest::newRow("no file") << QByteArray("{\"prosector\":1,\"artifacts\":[{\"id\":\"a\"}]}") << false;
        QTest::newRow("unknown kind") << QByteArray("{\"prosector\":1,\"artifacts\":[{\"file\":\"a\",\"kind\":\"dream\"}]}") << false;
        QTest::newRow("below") << file("sub/a..b.json") << true;
        QTest::newRow("absolute") << file("/etc/passwd") << false;
        QTest::newRow("climbs") << file("../a") << false;
        QTest::newRow("climbs later") << file("a/../../b") << false;
        QTest::newRow("model beside") << QByteArray("{\"prosector\":1,\"model\":{\"path\":\"../m\"}}") << true;
        QTest::newRow("model far") << QByteArray("{\"prosector\":1,\"model\":{\"path\":\"../../m\"}}") << false;
    }
    void traces()
    {
        REQUIRE_JSON_SCHEMA();
        QFETCH(QByteArray, json);
        QFETCH(bool, fits);
        const QString complaint = schemaComplaint(schemaFile, json);
        QVERIFY2(complaint.isEmpty() == fits, qPrintable(complaint));
    }

    void kindsAreTheProgramsOwn()
    {
        QFile file(schemaFile);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonArray kinds = QJsonDocument::fromJson(file.readAll())
                                     .object()[QStringLiteral("definitions")][QStringLiteral("kind")][QStringLiteral("enum")].toArray();
        QVERIFY(kinds.size() > 40);
        for (const QJsonValue &kind : kinds)
            QVERIFY2(kindFromString(kind.toString().toStdString()) != Kind::Unknown, qPrintable(kind.toString()));
    }

private:
    static QByteArray readmeExample()
    {
        QFile file(QStringLiteral(PROSECTOR_TEST_SOURCE_DIR "/../README.md"));
        if (!file.open(QIODevice::ReadOnly))
            return {};
        const QRegularExpression block(QStringLiteral("```json\\n(\\{\"prosector\".*?)```"), QRegularExpression::DotMatchesEverythingOption);
        return block.match(QString::fromUtf8(file.readAll())).captured(1).toUtf8();
    }

    const QString schemaFile = QStringLiteral(PROSECTOR_TEST_SOURCE_DIR "/../resources/trace.schema.json");
};

PROSECTOR_TEST(TestTraceSchema, tst_traceschema)

#include "tst_traceschema.moc"
