// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/config/commandline.h"
#include "models/facts/settings.h"
#include "tests/support/strict.h"

#include <QTest>

using namespace prosector;

class TestCommandLine : public QObject {
    Q_OBJECT

private slots:
    void init() { failOnQtWarnings(); }

    void commands_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("engine");
        QTest::addColumn<QString>("arguments");
        QTest::newRow("vllm serve") << QByteArray("vllm serve Qwen/Qwen3-8B --max-model-len 8k --enforce-eager") << "vLLM"
                                    << "model=Qwen/Qwen3-8B --max-model-len=8k --enforce-eager=true";
        QTest::newRow("python module, environment, equals") << QByteArray("VLLM_USE_V1=0 python3 -m vllm.entrypoints.openai.api_server --model m --dtype=half")
                                                            << "vLLM" << "VLLM_USE_V1=0 --model=m --dtype=half";
        QTest::newRow("negated") << QByteArray("vllm serve m --no-enable-prefix-caching") << "vLLM" << "model=m --enable-prefix-caching=false";
        QTest::newRow("quotes and continued lines") << QByteArray("python -m sglang.launch_server \\\n  --model-path 'a b' \\\n  --json-model-override-args '{\"x\": 1}'")
                                                    << "SGLang" << "--model-path=a b --json-model-override-args={\"x\": 1}";
        QTest::newRow("short flags and a negative number") << QByteArray("/usr/bin/llama-server -m m.gguf -c 4096 -np 4 -n -1") << "llama.cpp"
                                                           << "-m=m.gguf -c=4096 -np=4 -n=-1";
        QTest::newRow("docker") << QByteArray("docker run --gpus all -e HF_TOKEN=x ghcr.io/huggingface/text-generation-inference:3.3.7 --model-id m --max-total-tokens 4096")
                                << "TGI" << "HF_TOKEN=x --model-id=m --max-total-tokens=4096";
        QTest::newRow("ends at the next command") << QByteArray("llama-server -c 1 && echo -c 2") << "llama.cpp" << "-c=1";
        QTest::newRow("no server") << QByteArray("ls -l /models") << "" << "";
        QTest::newRow("empty") << QByteArray() << "" << "";
        QTest::newRow("open quote") << QByteArray("llama-server -m 'a b") << "llama.cpp" << "-m=a b";
    }
    void commands()
    {
        QFETCH(QByteArray, text);
        const std::string line = text.toStdString();
        const CommandLine command = parseCommandLine(line);
        QStringList arguments;
        for (const Argument &argument : command.arguments) {
            arguments << QString::fromStdString(argument.spelling + "=" + argument.value);
            QVERIFY(argument.begin < argument.end && argument.end <= line.size());
        }
        QTEST(QString::fromStdString(command.engine), "engine");
        QTEST(arguments.join(' '), "arguments");
    }

    void printed_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<bool>("members");
        QTest::addColumn<QString>("arguments");
        QTest::newRow("dictionary") << QByteArray("{'model': 'a\\'b', 'n': 1, 'x': None, \"y\": True}") << false << "model=a'b n=1 x=none y=True";
        QTest::newRow("dataclass") << QByteArray("ServerArgs(path='m', seed=1, nested=Cfg(a=1), items=[1, 2])") << false
                                   << "path=m seed=1 nested=Cfg(a=1) nested.a=1 items=[1, 2]";
        QTest::newRow("members, enumeration, type") << QByteArray("dtype=torch.bfloat16, mode=<Mode.NONE: 0>, size=40960, cut={'a': (1,") << true
                                                    << "dtype=torch.bfloat16 mode=0 size=40960 cut={'a': (1, cut.a=(1,";
        QTest::newRow("rust") << QByteArray("Args { max: Some(5), none: None, name: \"x\" }") << false << "max=5 none=none name=x";
        QTest::newRow("go map") << QByteArray("map[A:1 B: C:http://h:1 D:[x y]]") << false << "A=1 B= C=http://h:1 D=[x y]";
        QTest::newRow("nothing") << QByteArray() << false << "";
        QTest::newRow("stray brackets") << QByteArray("a=1), b=2]") << true << "a=1 b=2";
    }
    void printed()
    {
        QFETCH(QByteArray, text);
        QFETCH(bool, members);
        const std::string source = text.toStdString();
        QStringList arguments;
        for (const Argument &argument : argumentsOf(members ? parseReprMembers(source) : parseRepr(source))) {
            arguments << QString::fromStdString(argument.spelling + "=" + argument.value);
            QVERIFY(argument.begin <= argument.end && argument.end <= source.size());
        }
        QTEST(arguments.join(' '), "arguments");
    }

    /// Deep, long and broken text must neither crash nor take for ever.
    void hostile()
    {
        parseRepr(std::string(1'000'000, '['));
        parseRepr(std::string(300'000, '{') + std::string(300'000, '}'));
        parseReprMembers(std::string(200'000, ')') + std::string(200'000, '='));
        parseRepr("{'a': '" + std::string(500'000, '\\'));
        parseCommandLine("llama-server " + std::string(500'000, '\''));
        parseRepr("map[" + std::string(100'000, ':'));
    }

    void values_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<QString>("raw");
        QTest::addColumn<QString>("value");
        const int number = static_cast<int>(ValueKind::Number), tokens = static_cast<int>(ValueKind::Tokens), boolean = static_cast<int>(ValueKind::Boolean),
                  type = static_cast<int>(ValueKind::DataType), cache = static_cast<int>(ValueKind::CacheType);
        QTest::newRow("decimal k") << tokens << "8k" << "8000";
        QTest::newRow("binary K") << tokens << "8K" << "8192";
        QTest::newRow("half a k") << tokens << "25.6k" << "25600";
        QTest::newRow("thousands") << tokens << "412,304" << "412304";
        QTest::newRow("exponent") << number << "1e-05" << "1e-05";
        QTest::newRow("whole") << number << "1000000.0" << "1000000";
        QTest::newRow("none") << number << "None" << "none";
        QTest::newRow("auto") << type << "Auto" << "auto";
        QTest::newRow("half") << type << "half" << "float16";
        QTest::newRow("torch") << type << "torch.bfloat16" << "bfloat16";
        QTest::newRow("on") << boolean << "enabled" << "true";
        QTest::newRow("fp8") << cache << "fp8" << "fp8_e4m3";
        QTest::newRow("f16 cache") << cache << "f16" << "float16";
        QTest::newRow("quantised cache") << cache << "q8_0" << "q8_0";
        QTest::newRow("no number") << number << "many" << "many";
    }
    void values()
    {
        QFETCH(int, kind);
        QFETCH(QString, raw);
        QTEST(QString::fromStdString(normalValue(static_cast<ValueKind>(kind), raw.toStdString())), "value");
    }

    void sameNumbers()
    {
        QVERIFY(sameValue(ValueKind::Number, "1e-05", "9.99999975e-06"));
        QVERIFY(!sameValue(ValueKind::Number, "1e-05", "1e-06"));
        QVERIFY(sameValue(ValueKind::Tokens, "131072", "131072.0"));
        QVERIFY(!sameValue(ValueKind::Word, "a", "b"));
        QVERIFY(sameValue(ValueKind::Number, "0", "0.0"));
    }
};

PROSECTOR_TEST(TestCommandLine, tst_commandline)
#include "tst_commandline.moc"
