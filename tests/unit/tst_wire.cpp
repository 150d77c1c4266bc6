// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/prompts/tokenarrays.h"
#include "models/prompts/unicodetwins.h"
#include "models/wire/sse.h"
#include "models/wire/streams.h"
#include "tests/support/strict.h"
#include "tests/support/tempfolder.h"

using namespace prosector;
using namespace prosector::test;

class TestWire : public QObject {
    Q_OBJECT

private slots:
    void events_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QStringList>("events"); // type|data|line
        QTest::newRow("two") << "data: a\n\ndata: b\n\n" << QStringList{"|a|1", "|b|3"};
        QTest::newRow("several lines") << "data: a\ndata: b\n\n" << QStringList{"|a\nb|1"};
        QTest::newRow("no blank lines between") << "data: {1}\ndata: {2}\ndata: [DONE]\n" << QStringList{"|{1}|1", "|{2}|2", "|[DONE]|3"};
        QTest::newRow("named") << ": comment\nevent: delta\ndata: x\n\n" << QStringList{"delta|x|3"};
        QTest::newRow("carriage returns") << "data: a\r\n\r\ndata: b\r\r" << QStringList{"|a|1", "|b|3"};
        QTest::newRow("cut at the end") << "data: a\n\ndata: b" << QStringList{"|a|1", "|b|3"};
        QTest::newRow("no blank behind the colon") << "data:a\n\n" << QStringList{"|a|1"};
        QTest::newRow("an event without data") << "event: ping\n\ndata: a\n\n" << QStringList{"|a|3"};
        QTest::newRow("nothing") << "" << QStringList{};
    }
    void events()
    {
        QFETCH(QString, text);
        QFETCH(QStringList, events);
        QStringList found;
        for (const SseEvent &event : readSse(text.toStdString()))
            found << QString::fromStdString(event.type + '|' + event.data + '|' + std::to_string(event.line));
        QCOMPARE(found, events);
    }

    void arrays_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("content");
        QTest::addColumn<QStringList>("arrays"); // use, source and ids
        QTest::newRow("vLLM") << "response.json"
                              << "{\"object\": \"chat.completion\", \"prompt_token_ids\": [1, 2], \"choices\": [{\"index\": 0, \"message\": {\"content\": \"x\"}, \"token_ids\": [3]}]}"
                              << QStringList{"input prompt_token_ids 1,2", "generated choices[].token_ids 3"};
        QTest::newRow("RequestOutput") << "response.json" << "{\"request_id\": \"0\", \"prompt\": \"a\", \"prompt_token_ids\": [1], \"outputs\": [{\"index\": 0, \"text\": \"x\", \"token_ids\": [2, 3]}]}"
                                       << QStringList{"input prompt_token_ids 1", "generated outputs[].token_ids 2,3"};
        QTest::newRow("SGLang request") << "request.json" << "{\"input_ids\": [[1, 2], [3]], \"sampling_params\": {}}" << QStringList{"input input_ids 1,2", "input input_ids 3"};
        QTest::newRow("SGLang answer") << "response.json" << "{\"text\": \"x\", \"meta_info\": {\"input_token_logprobs\": [[null, 1, null]], \"output_token_logprobs\": [[-1.0, 2, \"x\"]]}}"
                                       << QStringList{"input meta_info.input_token_logprobs 1", "generated meta_info.output_token_logprobs 2"};
        QTest::newRow("TGI") << "response.json" << "{\"generated_text\": \"x\", \"details\": {\"prefill\": [{\"id\": 1, \"text\": \"a\"}], \"tokens\": [{\"id\": 2, \"text\": \"x\", \"special\": false}]}}"
                             << QStringList{"input details.prefill[].id 1", "generated details.tokens[].id 2"};
        QTest::newRow("llama.cpp") << "response.json" << "{\"content\": \"x\", \"tokens\": [5, 6], \"stop\": true, \"timings\": {}, \"tokens_predicted\": 2}" << QStringList{"generated tokens 5,6"};
        QTest::newRow("trace") << "tokens.json" << "{\"ids\": [1, 2, 3], \"prompt_length\": 2}" << QStringList{"input ids 1,2", "generated ids 3"};
        QTest::newRow("encode record") << "encode.json" << "{\"text\": \"a\", \"input_ids\": [1]}" << QStringList{"encoded input_ids 1"};
        QTest::newRow("two settings") << "encode_compare.jsonl" << "{\"text\": \"a\", \"ids_flag_off\": [1], \"ids_flag_on\": [2]}\n" << QStringList{"encoded ids_flag_off 1", "encoded ids_flag_on 2"};
        QTest::newRow("labels are no input") << "batch.json" << "{\"input_ids\": [[1, 2]], \"labels\": [[1, 2]]}" << QStringList{};
        QTest::newRow("not all are numbers") << "tokens.json" << "{\"ids\": [1, \"a\"]}" << QStringList{};
    }
    void arrays()
    {
        QFETCH(QString, file);
        QFETCH(QString, content);
        QFETCH(QStringList, arrays);
        TempFolder folder;
        folder.file(file.toStdString(), content.toStdString());
        const std::vector<std::string> paths{folder.path()};
        auto run = Run::open(paths, Job());
        QVERIFY_RESULT(run);
        auto found = tokenArrays(**run, Job());
        QVERIFY_RESULT(found);
        QStringList list;
        for (const TokenArray &array : *found) {
            QStringList ids;
            for (const std::int64_t id : array.ids)
                ids << QString::number(id);
            const char *const use = array.use == TokenArray::Use::Input ? "input" : array.use == TokenArray::Use::Generated ? "generated" : "encoded";
            list << QLatin1String(use) + QLatin1Char(' ') + QString::fromStdString(array.source) + QLatin1Char(' ') + ids.join(QLatin1Char(','));
        }
        QCOMPARE(list, arrays);
    }

    void cancelled()
    {
        TempFolder folder;
        folder.file("tokens.json", "{\"ids\": [1]}");
        const std::vector<std::string> paths{folder.path()};
        auto run = Run::open(paths, Job());
        QVERIFY_RESULT(run);
        std::stop_source stop;
        stop.request_stop();
        auto arrays = tokenArrays(**run, Job(stop.get_token()));
        QVERIFY(!arrays && arrays.error().code == Errc::Cancelled);
    }
};

PROSECTOR_TEST(TestWire, tst_wire)

#include "tst_wire.moc"
