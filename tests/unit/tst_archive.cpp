// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/core/archive.h"

#include "tests/support/corpus.h"
#include "tests/support/strict.h"
#include "tests/support/zipwriter.h"

#include <QDirIterator>
#include <QTemporaryDir>

#include <cstdio>

using namespace prosector;

namespace {

/// A ustar member: header, data, padding.
std::string tarMember(const std::string &name, const std::string &data, char type = '0', const std::string &link = {})
{
    std::string header(512, '\0');
    header.replace(0, name.size(), name);
    header.replace(100, 7, "0000644").replace(108, 7, "0000000").replace(116, 7, "0000000");
    char octal[13];
    std::snprintf(octal, sizeof octal, "%011lo", static_cast<unsigned long>(data.size()));
    header.replace(124, 11, octal).replace(136, 11, "00000000000").replace(148, 8, "        ");
    header[156] = type;
    header.replace(157, link.size(), link).replace(257, 8, std::string("ustar\0" "00", 8));
    unsigned sum = 0;
    for (const char c : header)
        sum += static_cast<unsigned char>(c);
    std::snprintf(octal, sizeof octal, "%06o", sum);
    header.replace(148, 7, std::string(octal, 6) + '\0');
    return header + data + std::string((512 - data.size() % 512) % 512, '\0');
}

std::string gzip(const std::string &data)
{
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
    std::string packed(deflateBound(&stream, static_cast<uLong>(data.size())) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    stream.next_out = reinterpret_cast<Bytef *>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

Result<Archive> open(const std::string &bytes, const ArchiveLimits &limits = {}, const Job &job = {})
{
    return openArchive(memorySource("a.zip", bytes), job, limits);
}

std::string contentOf(const ArchiveMember &member)
{
    return std::string(asText(member.bytes->read(0, member.bytes->size()).value()));
}

std::string problemsOf(const Result<Archive> &archive)
{
    if (!archive)
        return "error: " + describe(archive.error());
    std::string text;
    for (const Error &problem : archive->problems)
        text += (text.empty() ? "" : "; ") + describe(problem);
    return text;
}

std::string namesOf(const Result<Archive> &archive)
{
    std::string text;
    if (archive) {
        for (const ArchiveMember &member : archive->members)
            text += (text.empty() ? "" : ",") + member.name;
    }
    return text;
}

} // namespace

class TestArchive : public QObject {
    Q_OBJECT

private slots:
    void zip_data()
    {
        QTest::addColumn<bool>("zip64");
        QTest::addColumn<QByteArray>("before");
        QTest::addColumn<QByteArray>("comment");
        QTest::newRow("plain") << false << QByteArray() << QByteArray();
        QTest::newRow("zip64") << true << QByteArray() << QByteArray();
        QTest::newRow("behind a program") << false << QByteArray("#!/bin/sh\n") << QByteArray();
        QTest::newRow("with a comment that looks like an end") << false << QByteArray() << QByteArray("PK\x05\x06 not the end", 15);
    }
    void zip()
    {
        QFETCH(bool, zip64);
        QFETCH(QByteArray, before);
        QFETCH(QByteArray, comment);
        ZipWriter writer;
        writer.zip64 = zip64;
        writer.comment = comment.toStdString();
        writer.stored("dir/", "");
        writer.stored("dir/stored.bin", "stored bytes");
        writer.deflated("./deflated.txt", std::string(100'000, 'x'));
        writer.deflated("empty", "");
        const std::string bytes = before.toStdString() + writer.bytes();
        auto source = memorySource("a.zip", bytes);
        // The reader of a zip behind a program is chosen by its caller, not by its first bytes.
        const auto archive = before.isEmpty() ? openArchive(source, Job()) : openArchive(subSource("a.zip", source, 10, bytes.size() - 10).value(), Job());
        QVERIFY_RESULT(archive);
        QVERIFY2(archive->problems.empty(), problemsOf(archive).c_str());
        QCOMPARE(namesOf(archive), std::string("dir/stored.bin,deflated.txt,empty"));
        QCOMPARE(contentOf(archive->members[0]), std::string("stored bytes"));
        QCOMPARE(contentOf(archive->members[1]), std::string(100'000, 'x'));
        QCOMPARE(archive->members[0].bytes->name(), std::string("a.zip!dir/stored.bin"));
    }

    void hostileZips_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QByteArray>("names");
        QTest::addColumn<QByteArray>("says"); // of an error when `names` is "-"
        const auto row = [](const char *name, const std::string &bytes, const char *names, const char *says) {
            QTest::newRow(name) << QByteArray::fromStdString(bytes) << QByteArray(names) << QByteArray(says);
        };
        const auto with = [](auto change) {
            ZipWriter writer;
            writer.stored("good", "data");
            change(writer);
            return writer.bytes();
        };
        for (const char *name : {"../up", "a/../../up", "/etc/passwd", "C:/x", "a\\b", ".", "a//../b"})
            row(name, with([&](ZipWriter &w) { w.stored(name, "x"); }), "good", "leaves the archive");
        row("NUL in a name", with([](ZipWriter &w) { w.stored(std::string("a\0b", 3), "x"); }), "good", "leaves the archive");
        row("name twice", with([](ZipWriter &w) { w.stored("good", "later"); }), "good", "stands twice; the later member counts");
        row("one name in two spellings", with([](ZipWriter &w) { w.stored("./good", "later"); }), "good", "stands twice; the first member is kept");
        row("encrypted", with([](ZipWriter &w) { w.stored("secret", "x").flags = 1; }), "good", "\"secret\": encrypted");
        row("unknown method", with([](ZipWriter &w) { w.stored("m", "x").method = 14; }), "good", "expected 0 (stored) or 8 (deflated), found 14");
        row("two sizes", with([](ZipWriter &w) { w.stored("m", "x").size = 2; }), "good", "stored, yet of two sizes");
        row("offset outside", with([](ZipWriter &w) { w.stored("m", "x").offset = 1'000'000; }), "good", "its local header leaves the archive");
        row("offset at no header", with([](ZipWriter &w) { w.stored("m", "x").offset = 3; }), "good", "no local header where the directory says");
        row("another's header", with([](ZipWriter &w) { w.stored("m", "x").offset = 0; }), "good", "its local header names another file");
        row("sizes outside", with([](ZipWriter &w) { auto &m = w.stored("m", "x"); m.size = m.packedSize = 5'000'000; }), "good", "\"m\": leaves the archive");
        row("wrong checksum", with([](ZipWriter &w) { w.deflated("m", "some text").crc = 1; }), "good,m", "its checksum does not fit");
        row("more than declared", with([](ZipWriter &w) { w.deflated("m", std::string(5000, 'x')).size = 10; }), "good,m", "unpacks to more bytes than declared");
        row("fewer than declared", with([](ZipWriter &w) { w.deflated("m", "some text").size = 20; }), "good,m", "unpacks to fewer bytes than declared");
        row("damaged stream", with([](ZipWriter &w) { w.deflated("m", std::string(500, 'x')).packed[0] = '\xFF'; }), "good", "its packed bytes are damaged");
        row("bomb by ratio", with([](ZipWriter &w) { w.deflated("m", std::string(20 << 20, '\0')); }), "good", "taken for a zip bomb");
        row("larger than allowed", with([](ZipWriter &w) { w.deflated("m", "x").size = 1ULL << 31; }), "good", "");
        // Two entries for one run of bytes under the same name in both headers.
        ZipWriter overlap;
        overlap.stored("a", std::string(100, 'a'));
        overlap.stored("a", std::string(100, 'a')).offset = 0;
        row("overlap", overlap.bytes(), "a", "overlaps \"a\", as in a zip bomb");
        const auto whole = with([](ZipWriter &w) { w.stored("m", "x"); });
        row("end missing", whole.substr(0, whole.size() - 30), "-", "the end of the zip archive is missing");
        std::string moved = whole;
        moved.replace(whole.size() - 6, 4, "\xFF\xFF\xFF\x7F");
        row("directory outside", moved, "-", "the central directory leaves the file");
        std::string more = whole;
        more.replace(whole.size() - 14, 4, std::string("\x09\0\x09\0", 4));
        row("more members declared", more, "good,m", "ends early");
        row("only a beginning", "PK\x03\x04", "-", "missing");
        row("nothing", "", "-", "");
    }
    void hostileZips()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QByteArray, names);
        QFETCH(QByteArray, says);
        const auto archive = open(bytes.toStdString());
        QCOMPARE(archive.ok(), names != "-");
        if (archive)
            QCOMPARE(namesOf(archive), names.toStdString());
        QVERIFY2(problemsOf(archive).find(says.toStdString()) != std::string::npos, problemsOf(archive).c_str());
        QVERIFY(!problemsOf(archive).empty());
    }

    void limits()
    {
        ZipWriter writer;
        for (int i = 0; i < 10; ++i)
            writer.deflated("m" + std::to_string(i), "text " + std::to_string(i));
        const auto few = open(writer.bytes(), {.members = 3});
        QVERIFY_RESULT(few);
        QCOMPARE(few->members.size(), std::size_t(3));
        QVERIFY(problemsOf(few).find("expected at most 3, found 10") != std::string::npos);
        const auto total = open(writer.bytes(), {.totalBytes = 13});
        QVERIFY_RESULT(total);
        QCOMPARE(namesOf(total), std::string("m0,m1"));
        const auto each = open(writer.bytes(), {.memberBytes = 5});
        QVERIFY_RESULT(each);
        QCOMPARE(each->members.size(), std::size_t(0));
        QCOMPARE(each->problems.size(), std::size_t(10));
    }

    void largeMembersGoToAFile()
    {
        std::string data;
        for (int i = 0; data.size() < 10U << 20; ++i)
            data += std::to_string(i * 7919) + '\n';
        ZipWriter writer;
        writer.deflated("large", data);
        const auto archive = open(writer.bytes());
        QVERIFY2(archive && archive->problems.empty(), problemsOf(archive).c_str());
        QVERIFY(contentOf(archive->members[0]) == data);
    }

    void tar_data()
    {
        QTest::addColumn<bool>("packed");
        QTest::newRow("plain") << false;
        QTest::newRow("gzip") << true;
    }
    void tar()
    {
        QFETCH(bool, packed);
        std::string large;
        for (int i = 0; large.size() < 300'000; ++i)
            large += std::to_string(i) + ' ';
        std::string bytes = tarMember("./a.txt", "first") + tarMember("dir/", "", '5') + tarMember("dir/large", large)
            + tarMember("../up", "x") + tarMember("link", "", '2', "a.txt") + tarMember("a.txt", "again") + tarMember("empty", "")
            + tarMember("last", "end") + std::string(1024, '\0');
        const std::size_t firstAt = 512;
        if (packed)
            bytes = gzip(bytes);
        QVERIFY(looksLikeArchive(std::as_bytes(std::span(bytes)).first(std::min<std::size_t>(bytes.size(), 65'536))));
        const auto archive = open(bytes);
        QVERIFY_RESULT(archive);
        QCOMPARE(namesOf(archive), std::string("a.txt,dir/large,empty,last"));
        QCOMPARE(contentOf(archive->members[0]), std::string("first"));
        QVERIFY(contentOf(archive->members[1]) == large);
        QCOMPARE(contentOf(archive->members[3]), std::string("end"));
        QCOMPARE(archive->problems.size(), std::size_t(3));
        QVERIFY(problemsOf(archive).find("\"link\": a link, not followed") != std::string::npos);
        if (!packed) {
            // A window of the file, not a copy: it sees what the file holds now.
            QTemporaryDir folder;
            const std::string path = folder.filePath(QStringLiteral("a.tar")).toStdString();
            QFile file(QString::fromStdString(path));
            QVERIFY(file.open(QIODevice::ReadWrite));
            file.write(bytes.data(), static_cast<qint64>(bytes.size()));
            file.flush();
            const auto source = openFile(path);
            QVERIFY_RESULT(source);
            const auto again = openArchive(*source, Job());
            QVERIFY_RESULT(again);
            file.seek(static_cast<qint64>(firstAt));
            file.write("FIRST");
            file.flush();
            QCOMPARE(contentOf(again->members[0]), std::string("FIRST"));
        }
    }

    void damagedTars()
    {
        const std::string good = tarMember("a", "first") + tarMember("b", std::string(5000, 'b')) + std::string(1024, '\0');
        const auto cut = open(good.substr(0, 512 * 2 + 512 + 1000));
        QVERIFY_RESULT(cut);
        QVERIFY(!cut->problems.empty());
        const auto rubbish = open(std::string(3000, 'r'));
        QVERIFY(!rubbish);
        const auto bomb = open(gzip(tarMember("zeros", std::string(20 << 20, '\0')) + std::string(1024, '\0')), {.ratio = 100});
        QVERIFY_RESULT(bomb);
        QVERIFY2(problemsOf(bomb).find("zip bomb") != std::string::npos, problemsOf(bomb).c_str());
        QCOMPARE(bomb->members.size(), std::size_t(0));
    }

    void recognises_data()
    {
        QTest::addColumn<QByteArray>("head");
        QTest::addColumn<bool>("archive");
        QTest::newRow("zip") << QByteArray("PK\x03\x04 and more") << true;
        QTest::newRow("empty zip") << QByteArray::fromStdString(ZipWriter().bytes()) << true;
        QTest::newRow("gzip of text") << QByteArray::fromStdString(gzip("just some text, no archive")) << false;
        QTest::newRow("text") << QByteArray("PK is not a zip") << false;
        QTest::newRow("nothing") << QByteArray() << false;
    }
    void recognises()
    {
        QFETCH(QByteArray, head);
        QFETCH(bool, archive);
        const std::string bytes = head.toStdString();
        QCOMPARE(looksLikeArchive(std::as_bytes(std::span(bytes))), archive);
    }

    void cancels()
    {
        ZipWriter writer;
        writer.deflated("m", "x");
        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(open(writer.bytes(), {}, Job(stop.get_token())).error().code, Errc::Cancelled);
        QCOMPARE(open(tarMember("a", "x"), {}, Job(stop.get_token())).error().code, Errc::Cancelled);
    }

    void realArchivesOpenWithoutProblems()
    {
        REQUIRE_SHARED(shared);
        QDirIterator logs(QString::fromStdString(shared + "/corpus/evals/inspect"), {QStringLiteral("*.eval")}, QDir::Files,
                          QDirIterator::Subdirectories);
        int opened = 0;
        while (logs.hasNext()) {
            const auto source = openFile(logs.next().toStdString());
            QVERIFY_RESULT(source);
            const auto archive = openArchive(*source, Job());
            QVERIFY2(archive && archive->problems.empty(), problemsOf(archive).c_str());
            QVERIFY(namesOf(archive).find("header.json") != std::string::npos);
            ++opened;
        }
        QVERIFY(opened > 0);
    }
};

PROSECTOR_TEST(TestArchive, tst_archive)

#include "tst_archive.moc"
