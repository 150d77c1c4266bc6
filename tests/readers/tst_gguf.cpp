// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/tensordata.h"
#include "models/core/digest.h"
#include "models/core/utf8.h"

#include "tests/support/corpus.h"
#include "tests/support/ggufwriter.h"
#include "tests/support/reading.h"
#include "tests/support/strict.h"

#include <QDir>
#include <QFile>

#include <charconv>
#include <cmath>

using namespace prosector;
using Type = GgufType;

namespace {

const GgufContent &ggufOf(const Result<Reading> &reading)
{
    return dynamic_cast<const GgufContent &>(*reading->content);
}

/// One of everything.
GgufWriter everyType(std::uint32_t version, bool bigEndian)
{
    GgufWriter writer(version, bigEndian);
    writer.string("general.architecture", "llama")
        .scalar("u8", Type::Uint8, std::uint8_t(200))
        .scalar("i8", Type::Int8, std::int8_t(-100))
        .scalar("u16", Type::Uint16, std::uint16_t(60'000))
        .scalar("i16", Type::Int16, std::int16_t(-30'000))
        .scalar("u32", Type::Uint32, std::uint32_t(4'000'000'000))
        .scalar("i32", Type::Int32, std::int32_t(-2'000'000'000))
        .scalar("f32", Type::Float32, 1e-5F)
        .boolean("yes", true)
        .scalar("u64", Type::Uint64, UINT64_MAX)
        .scalar("i64", Type::Int64, INT64_MIN)
        .scalar("f64", Type::Float64, 0.1)
        .strings("tokens", {"a", "", "\xE2\x96\x81the", std::string("nul\0byte", 8)})
        .numbers("scores", Type::Float32, std::vector<float>{0.5F, -1.5F})
        .numbers("types", Type::Int32, std::vector<std::int32_t>{1, -6})
        .numbers("big", Type::Uint64, std::vector<std::uint64_t>{1ULL << 60})
        .numbers("flags", Type::Bool, std::vector<std::uint8_t>{1, 0});
    ByteWriter nested(bigEndian);
    const auto length = [&](std::uint64_t n) { version == 1 ? nested.put(static_cast<std::uint32_t>(n)) : nested.put(n); };
    nested.put(std::uint32_t(9));
    length(2);
    nested.put(std::uint32_t(8));
    length(1);
    length(2);
    nested.text("hi").put(std::uint32_t(5));
    length(2);
    nested.put(std::int32_t(-1)).put(std::int32_t(7));
    writer.raw("nested", 9, nested.bytes);
    ByteWriter data(bigEndian);
    for (int i = 0; i < 12; ++i)
        data.put(static_cast<float>(i));
    writer.tensor("token_embd.weight", 0, {4, 3}, data.bytes).tensor("q", 2, {1, 32}, std::string(18, 'q'));
    return writer;
}

} // namespace

class TestGguf : public QObject {
    Q_OBJECT

private slots:
    void everyVersionAndByteOrder_data()
    {
        QTest::addColumn<int>("version");
        QTest::addColumn<bool>("bigEndian");
        for (int version = 1; version <= 3; ++version) {
            QTest::addRow("v%d little", version) << version << false;
            QTest::addRow("v%d big", version) << version << true;
        }
    }
    void everyVersionAndByteOrder()
    {
        QFETCH(int, version);
        QFETCH(bool, bigEndian);
        const std::string bytes = everyType(static_cast<std::uint32_t>(version), bigEndian).bytes();
        const auto reading = readWith("gguf", bytes);
        QVERIFY2(reading && reading->problems.empty(), describeProblems(reading).c_str());
        const GgufContent &c = ggufOf(reading);
        QCOMPARE(c.version, static_cast<std::uint32_t>(version));
        QCOMPARE(c.bigEndian, bigEndian);
        QCOMPARE(c.entries.size(), std::size_t(18));
        QCOMPARE(c.architecture(), std::string("llama"));
        QCOMPARE(c.integer("u8"), std::optional<std::int64_t>(200));
        QCOMPARE(c.integer("i8"), std::optional<std::int64_t>(-100));
        QCOMPARE(c.integer("u16"), std::optional<std::int64_t>(60'000));
        QCOMPARE(c.integer("i16"), std::optional<std::int64_t>(-30'000));
        QCOMPARE(c.integer("u32"), std::optional<std::int64_t>(4'000'000'000));
        QCOMPARE(c.integer("i32"), std::optional<std::int64_t>(-2'000'000'000));
        QCOMPARE(c.number("f32"), std::optional<double>(1e-5F));
        QCOMPARE(c.boolean("yes"), std::optional(true));
        QCOMPARE(c.get("u64")->unsignedInteger, UINT64_MAX);
        QCOMPARE(c.integer("i64"), std::optional<std::int64_t>(INT64_MIN));
        QCOMPARE(c.number("f64"), std::optional(0.1));
        const GgufStrings &tokens = c.get("tokens")->strings;
        QCOMPARE(tokens.size(), std::size_t(4));
        QCOMPARE(tokens[1], std::string_view());
        QCOMPARE(tokens[2], std::string_view("\xE2\x96\x81the"));
        QCOMPARE(tokens[3].size(), std::size_t(8));
        QCOMPARE(std::distance(tokens.begin(), tokens.end()), std::ptrdiff_t(4));
        QCOMPARE(c.get("scores")->numbers[1], -1.5);
        QCOMPARE(c.get("types")->numbers[1], -6.0);
        QCOMPARE(c.get("big")->numbers.integer(0), std::int64_t(1) << 60);
        QCOMPARE(c.get("flags")->numbers.integer(0), std::int64_t(1));
        const auto &nested = *c.get("nested")->arrays;
        QCOMPARE(nested.size(), std::size_t(2));
        QCOMPARE(nested[0].strings[0], std::string_view("hi"));
        QCOMPARE(nested[1].numbers[0], -1.0);
        QCOMPARE(c.get("nested")->display(), std::string("[[\"hi\"], [-1, 7]]"));
        QCOMPARE(c.tensors.size(), std::size_t(2));
        QCOMPARE(c.tensors[0].shape, (std::vector<std::uint64_t>{4, 3}));
        QCOMPARE(c.tensors[0].bytes.from % 32, std::uint64_t(0));
        const auto values = readTensor<double>(*memorySource("m", bytes), c.tensors[0], Job());
        QVERIFY_RESULT(values);
        QCOMPARE(values->back(), 11.0);
        QCOMPARE(c.tensors[1].bytes.size(), std::uint64_t(18));
        const ByteRange entry = c.entries[0].bytes;
        QVERIFY(bytes.substr(entry.from, entry.size()).ends_with("llama"));
        // Every value lies where its entry says.
        for (std::size_t i = 1; i < c.entries.size(); ++i)
            QCOMPARE(c.entries[i].bytes.from, c.entries[i - 1].bytes.to);
    }

    void kinds_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<Kind>("kind");
        const auto row = [](const char *name, const GgufWriter &writer, Kind kind) {
            QTest::newRow(name) << QByteArray::fromStdString(writer.bytes()) << kind;
        };
        row("model", GgufWriter().string("general.architecture", "llama").tensor("a", 24, {1}, "x"), Kind::Weights);
        row("vocabulary", GgufWriter().string("tokenizer.ggml.model", "gpt2").strings("tokenizer.ggml.tokens", {"a"}), Kind::TokenizerFiles);
        row("first part without tensors", GgufWriter().string("tokenizer.ggml.model", "gpt2").scalar("split.count", Type::Uint16, std::uint16_t(3)),
            Kind::Weights);
        row("adapter", GgufWriter().string("general.type", "adapter").tensor("a", 24, {1}, "x"), Kind::AdapterFiles);
        row("importance matrix", GgufWriter().string("general.type", "imatrix").tensor("a", 24, {1}, "x"), Kind::ActivationStats);
    }
    void kinds()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(Kind, kind);
        const auto reading = readWith("gguf", bytes.toStdString());
        QVERIFY2(reading && reading->problems.empty(), describeProblems(reading).c_str());
        QCOMPARE(reading->kind, kind);
        QCOMPARE(sniffed("file", bytes.toStdString()), std::string_view("gguf"));
    }

    void damage_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<Errc>("code");
        QTest::addColumn<qint64>("offset"); // -1: not compared
        QTest::addColumn<QByteArray>("says");
        QTest::addColumn<int>("entries"); // kept; -1: nothing can be read
        QTest::addColumn<int>("tensors");
        const auto row = [](const char *name, const std::string &bytes, Errc code, std::int64_t offset, const char *says, int entries, int tensors) {
            QTest::newRow(name) << QByteArray::fromStdString(bytes) << code << qint64(offset) << QByteArray(says) << entries << tensors;
        };
        const auto one = [] { return GgufWriter().string("general.architecture", "llama"); };
        const auto whole = one().tensor("t", 0, {2, 4}, std::string(32, 'x')).bytes();
        const auto entryEnd = one().bytes().size();
        const auto u64 = [](std::uint64_t n) { return ByteWriter().put(n).bytes; };

        row("empty", "", Errc::Truncated, 0, "magic number", -1, -1);
        row("magic alone", "GGUF", Errc::Truncated, 4, "version", -1, -1);
        row("version 0", GgufWriter(0).bytes(), Errc::Unsupported, 4, "found 0", -1, -1);
        row("version 4", GgufWriter(4).bytes(), Errc::Unsupported, 4, "expected 1, 2 or 3, found 4", -1, -1);
        row("no counts", whole.substr(0, 12), Errc::Truncated, 8, "number of tensors", -1, -1);
        auto many = one();
        many.entryCount = 1ULL << 62;
        row("absurd number of entries", many.bytes(), Errc::OutOfRange, 16, "more metadata entries than the file can hold", 1, 0);
        many = one();
        many.tensorCount = UINT64_MAX;
        row("absurd number of tensors", many.bytes(), Errc::OutOfRange, 8, "more tensors than the file can hold", 1, 0);
        many = one();
        many.entryCount = 2;
        row("one entry too many", many.bytes(), Errc::Truncated, std::int64_t(entryEnd), "metadata entry 1 of 2: a metadata key ends behind", 1, 0);
        row("key leaves the file", ByteWriter().text("GGUF").put(std::uint32_t(3)).put(std::uint64_t(0)).put(std::uint64_t(1)).put(std::uint64_t(1000)).text("short key").bytes,
            Errc::Truncated, 32, "metadata entry 0 of 1: a metadata key ends behind", 0, 0);
        row("key of 2^64 - 1 bytes", ByteWriter().text("GGUF").put(std::uint32_t(3)).put(std::uint64_t(0)).put(std::uint64_t(1)).put(UINT64_MAX).text("short key").bytes,
            Errc::Truncated, 32, "18446744073709551615 bytes", 0, 0);
        row("unknown value type", one().raw("k", 13, "12345678").bytes(), Errc::Malformed, std::int64_t(entryEnd) + 9, "expected 0 to 12, found 13", 1, 0);
        row("unknown element type", one().raw("k", 9, ByteWriter().put(std::uint32_t(99)).put(std::uint64_t(1)).put(std::uint64_t(1)).bytes).bytes(),
            Errc::Malformed, std::int64_t(entryEnd) + 13, "found 99", 1, 0);
        row("string leaves the file", one().raw("k", 8, u64(500) + "abc").bytes(), Errc::Truncated, std::int64_t(entryEnd) + 21, "(\"k\"): a string ends behind", 1, 0);
        row("array longer than the file", one().raw("k", 9, ByteWriter().put(std::uint32_t(4)).put(1ULL << 60).put(1).bytes).bytes(),
            Errc::Truncated, std::int64_t(entryEnd) + 17, "at most 1 elements of uint32, found 1152921504606846976", 1, 0);
        row("array of strings longer than the file", one().raw("k", 9, ByteWriter().put(std::uint32_t(8)).put(1ULL << 61).put(std::uint64_t(0)).bytes).bytes(),
            Errc::Truncated, std::int64_t(entryEnd) + 17, "at most 1 elements of string", 1, 0);
        row("string of an array leaves the file", one().raw("k", 9, ByteWriter().put(std::uint32_t(8)).put(std::uint64_t(2)).put(std::uint64_t(1)).text("a").put(std::uint64_t(77)).text("b").bytes).bytes(),
            Errc::Truncated, std::int64_t(entryEnd) + 42, "a string of an array ends behind", 1, 0);
        std::string deep;
        for (int i = 0; i < 40; ++i)
            deep += ByteWriter().put(std::uint32_t(9)).put(std::uint64_t(1)).bytes;
        row("arrays nested 40 deep", one().raw("k", 9, deep).bytes(), Errc::TooLarge, -1, "at most 8 levels", 1, 0);
        row("cut inside an entry", whole.substr(0, entryEnd - 2), Errc::Truncated, -1, "(\"general.architecture\"): a string ends behind", 0, 0);
        row("key twice", one().u32("k", 1).u32("k", 2).bytes(), Errc::Malformed, std::int64_t(entryEnd) + 17, "\"k\" stands twice; the first value counts", 3, 0);
        row("bool of 7", one().raw("k", 7, "\x07").bytes(), Errc::Malformed, std::int64_t(entryEnd) + 13, "neither 0 nor 1", 2, 0);
        row("alignment 0", one().u32("general.alignment", 0).bytes(), Errc::Malformed, -1, "general.alignment is unusable", 2, 0);
        row("alignment 24", one().u32("general.alignment", 24).bytes(), Errc::Malformed, -1, "expected a power of two as uint32, found 24", 2, 0);
        row("alignment is a string", one().string("general.alignment", "32").bytes(), Errc::Malformed, -1, "found \"32\" as string", 2, 0);
        row("cut inside a tensor entry", one().tensor("tensor name", 0, {2, 4}, "").bytes().substr(0, entryEnd + 25), Errc::Truncated, -1,
            "tensor entry 0 of 1 (\"tensor name\"): a tensor's shape ends behind", 1, 0);
        row("five dimensions", one().info("t", 0, {1, 1, 1, 1, 1}, 0).bytes(), Errc::Malformed, -1, "expected at most 4, found 5", 1, 0);
        row("2^32 - 1 dimensions", one().bytes().replace(8, 8, u64(1)) + ByteWriter().put(std::uint64_t(1)).text("t").put(UINT32_MAX).zeros(20).bytes,
            Errc::Malformed, -1, "found 4294967295", 1, 0);
        row("shape overflows", one().info("t", 0, {1ULL << 40, 1ULL << 40}, 0).bytes(), Errc::OutOfRange, -1, "larger than any possible file", 1, 1);
        row("half a block", one().info("t", 2, {1, 48}, 0).bytes(), Errc::Malformed, -1, "expected a multiple of 32 for Q4_0, found 48", 1, 1);
        row("a type ggml dropped", one().info("t", 31, {1, 32}, 0).bytes(), Errc::Unsupported, -1, "Q4_0_4_4", 1, 1);
        row("a type nobody knows", one().info("t", 4711, {1, 32}, 0).bytes(), Errc::Unsupported, -1, "ggml type 4711", 1, 1);
        row("offset not aligned", one().tensor("t", 24, {64}, std::string(64, 'x')).info("u", 24, {1}, 33).bytes(), Errc::Malformed, -1,
            "\"u\" is not aligned at bytes 102–135 (expected an offset that is a multiple of 32, found 33)", 1, 2);
        row("offset near 2^64", one().info("t", 0, {1}, UINT64_MAX - 31).bytes(), Errc::OutOfRange, -1, "any possible file", 1, 1);
        row("overlap", one().tensor("t", 24, {64}, std::string(64, 'x')).info("u", 24, {8}, 32).bytes(), Errc::Malformed, -1, "\"u\" overlaps \"t\"", 1, 2);
        row("data cut", whole.substr(0, whole.size() - 8), Errc::Truncated, std::int64_t(whole.size()) - 32,
            "tensor \"t\" ends behind the end of the file", 1, 1);
        row("all data missing", one().info("t", 0, {2, 4}, 0).info("u", 0, {2, 4}, 32).bytes(), Errc::Truncated, -1, "\"t\" (and 1 more) ends behind", 1, 2);
        row("tensor twice", one().tensor("t", 24, {1}, "x").tensor("t", 24, {1}, "y").bytes(), Errc::Malformed, -1, "\"t\" stands twice", 1, 2);
        row("part 3 of 3", one().scalar("split.no", Type::Uint16, std::uint16_t(3)).scalar("split.count", Type::Uint16, std::uint16_t(3)).bytes(),
            Errc::OutOfRange, -1, "expected 0 to 2, found 3", 3, 0);
        row("no number of parts", one().scalar("split.no", Type::Uint16, std::uint16_t(0)).scalar("split.count", Type::Int64, INT64_MIN).bytes(),
            Errc::OutOfRange, -1, "expected 1 or more, found -9223372036854775808", 3, 0);
    }
    void damage()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(Errc, code);
        QFETCH(qint64, offset);
        QFETCH(QByteArray, says);
        QFETCH(int, entries);
        QFETCH(int, tensors);
        const auto reading = readWith("gguf", bytes.toStdString(), "model.gguf");
        QCOMPARE(reading.ok(), entries >= 0);
        if (entries >= 0) {
            QCOMPARE(ggufOf(reading).entries.size(), static_cast<std::size_t>(entries));
            QCOMPARE(ggufOf(reading).tensors.size(), static_cast<std::size_t>(tensors));
        }
        const std::vector<Error> problems = reading ? reading->problems : std::vector<Error>{reading.error()};
        const bool said = std::any_of(problems.begin(), problems.end(), [&](const Error &problem) {
            const auto *const range = std::get_if<ByteRange>(&problem.where);
            const bool there = offset < 0 || (range && range->from == static_cast<std::uint64_t>(offset));
            return problem.code == code && there && describe(problem).find(says.toStdString()) != std::string::npos;
        });
        QVERIFY2(said, (describeProblems(reading) + " at " + (problems.empty() ? "" : describe(problems.back().where))).c_str());
    }

    void everyPrefixIsSurvived()
    {
        const std::string whole = everyType(3, false).bytes();
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const auto reading = readWith("gguf", std::string_view(whole).substr(0, length));
            QVERIFY2(!reading || !reading->problems.empty() || length + 32 > whole.size(), std::to_string(length).c_str());
        }
    }

    void ownAlignment()
    {
        GgufWriter writer;
        writer.u32("general.alignment", 64);
        writer.alignment = 64;
        writer.tensor("a", 24, {1}, "x").tensor("b", 24, {1}, "y");
        const auto reading = readWith("gguf", writer.bytes());
        QVERIFY2(reading && reading->problems.empty(), describeProblems(reading).c_str());
        QCOMPARE(ggufOf(reading).tensors[1].bytes.from - ggufOf(reading).tensors[0].bytes.from, std::uint64_t(64));
    }

    void firstOfDuplicatesCounts()
    {
        const auto reading = readWith("gguf", GgufWriter().u32("k", 1).u32("k", 2).bytes());
        QVERIFY_RESULT(reading);
        QCOMPARE(ggufOf(reading).integer("k"), std::optional<std::int64_t>(1));
    }

    void cancels()
    {
        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(readWith("gguf", everyType(3, false).bytes(), "f", Job(stop.get_token())).error().code, Errc::Cancelled);
    }

    void equalsTheReferenceOnRealVocabularies()
    {
        REQUIRE_SHARED(shared);
        QFile oracle(QString::fromStdString(shared + "/corpus/oracles/gguf_metadata.jsonl"));
        QVERIFY(oracle.open(QIODevice::ReadOnly));
        int files = 0;
        while (!oracle.atEnd()) {
            const auto row = Document::parseJson(oracle.readLine().toStdString());
            const Value want = row->root();
            const auto source = openFile(shared + "/corpus/" + want["file"].string(""));
            if (!source)
                continue;
            ++files;
            const auto reading = readerById("gguf").open(*source, Job());
            QVERIFY2(reading && reading->problems.empty(), describeProblems(reading).c_str());
            const GgufContent &c = ggufOf(reading);
            QCOMPARE(c.tensors.size(), want["tensors"].size());
            QCOMPARE(c.entries.size() + 3, want["kv"].size()); // gguf-py counts three header fields
            for (const Value field : want["kv"]) {
                if (field.key() == "GGUF.version")
                    QCOMPARE(std::int64_t(c.version), *field["value"].integer());
                if (!field.key().starts_with("GGUF."))
                    compareField(c, field);
            }
        }
        QVERIFY(files > 0);
    }

    void realModelsOpenWithoutProblems_data()
    {
        QTest::addColumn<QString>("path");
        const std::string shared = sharedFolder();
        const QDir quant(QString::fromStdString(shared + "/corpus/gguf/quant"));
        if (!shared.empty()) {
            for (const QString &name : quant.entryList({QStringLiteral("*.gguf")}))
                QTest::newRow(qPrintable(name)) << quant.filePath(name);
        }
        QTest::newRow("stories260K") << QString::fromStdString(shared + "/corpus/models/stories260K/stories260K-base.F32.gguf");
    }
    void realModelsOpenWithoutProblems()
    {
        REQUIRE_SHARED(shared);
        QFETCH(QString, path);
        const auto source = openFile(path.toStdString());
        QVERIFY_RESULT(source);
        const auto reading = readerById("gguf").open(*source, Job());
        QVERIFY2(reading && reading->problems.empty(), describeProblems(reading).c_str());
        QVERIFY(!ggufOf(reading).tensors.empty());
        for (const TensorInfo &tensor : ggufOf(reading).tensors)
            QVERIFY(tensor.dtype && tensor.bytes.size() > 0 && tensor.bytes.to <= (*source)->size());
    }

private:
    /// Type names as gguf-py has them; arrays by the SHA-256 of their JSON as Python writes it.
    static void compareField(const GgufContent &c, const Value &field)
    {
        const GgufValue *const value = c.get(field.key());
        QVERIFY2(value, field.key().c_str());
        std::string type(nameOf(value->type));
        if (value->type == Type::Array)
            type = "array/" + std::string(nameOf(value->elementType));
        std::string want = field["type"].string("");
        std::transform(want.begin(), want.end(), want.begin(), [](char ch) { return static_cast<char>(std::tolower(ch)); });
        QCOMPARE(type, want);
        if (value->type == Type::String) {
            QCOMPARE(value->text, field["value"].string(""));
        } else if (value->type == Type::Array) {
            QCOMPARE(std::int64_t(value->count), *field["len"].integer());
            const Value head = field["head"], tail = field["tail"];
            for (std::size_t i = 0; i < head.size(); ++i)
                compareElement(*value, i, head[i]);
            for (std::size_t i = 0; i < tail.size(); ++i)
                compareElement(*value, value->count - tail.size() + i, tail[i]);
            QVERIFY2(sha256Hex(pythonJson(*value)) == field["sha256_json"].string(""), field.path().c_str());
        } else if (value->type == Type::Bool) {
            QCOMPARE(value->integer != 0, *field["value"].boolean());
        } else {
            QCOMPARE(value->real, *field["value"].number());
        }
    }

    static void compareElement(const GgufValue &value, std::size_t index, const Value &want)
    {
        if (value.elementType == Type::String)
            QCOMPARE(std::string(value.strings[index]), want.string(""));
        else
            QCOMPARE(value.numbers[index], *want.number());
    }

    /// json.dumps(list, ensure_ascii=False, separators=(",", ":")).
    static std::string pythonJson(const GgufValue &value)
    {
        std::string json;
        for (std::size_t i = 0; i < value.count; ++i) {
            json += json.empty() ? "[" : ",";
            if (value.elementType == Type::String)
                json += pythonString(toValidUtf8(value.strings[i]));
            else if (value.elementType == Type::Float32)
                json += pythonFloat(value.numbers[i]);
            else
                json += std::to_string(value.numbers.integer(i));
        }
        return json + ']';
    }

    static std::string pythonString(std::string_view text)
    {
        static constexpr std::string_view escaped = "\"\\\n\t\r\b\f", letters = "\"\\ntrbf";
        std::string json = "\"";
        for (const char c : text) {
            if (const auto at = escaped.find(c); at != std::string_view::npos)
                (json += '\\') += letters[at];
            else if (static_cast<unsigned char>(c) < 0x20)
                json += QStringLiteral("\\u%1").arg(int(c), 4, 16, QLatin1Char('0')).toStdString();
            else
                json += c;
        }
        return json + '"';
    }

    static std::string pythonFloat(double number)
    {
        if (std::abs(number) < 1e15 && number == std::floor(number)) // Qt prints -0.0 without its sign
            return (std::signbit(number) ? "-" : "") + std::to_string(static_cast<std::int64_t>(std::abs(number))) + ".0";
        char buffer[32];
        return {buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr};
    }
};

PROSECTOR_TEST(TestGguf, tst_gguf)

#include "tst_gguf.moc"
