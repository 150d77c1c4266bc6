// SPDX-License-Identifier: GPL-3.0-or-later
// A Git-LFS pointer standing where a file should be, under any name.
// Format: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
#include "models/artifacts/jsonread.h"
#include "models/artifacts/reader.h"

#include <charconv>

namespace prosector {

namespace {

constexpr std::uint64_t largestPointer = 1024; // the specification's own limit

int sniffPointer(const Head &head)
{
    const auto text = head.text();
    const bool begins = text.starts_with("version https://git-lfs.github.com/spec/")
                        || text.starts_with("version https://hawser.github.com/spec/");
    return begins && head.size <= largestPointer ? 100 : 0;
}

std::string_view valueOf(std::string_view text, std::string_view key)
{
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\n', begin), text.size());
        auto line = text.substr(begin, end - begin);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (line.starts_with(key) && line.substr(key.size()).starts_with(' '))
            return line.substr(key.size() + 1);
        begin = end + 1;
    }
    return {};
}

Result<Reading> openPointer(SourcePtr source, const Job &)
{
    const auto text = readText(*source, largestPointer);
    if (!text)
        return text.error();
    auto content = std::make_shared<LfsContent>();
    content->oid = valueOf(*text, "oid");
    const auto size = valueOf(*text, "size");
    Reading reading{.kind = Kind::LfsPointer, .content = content};
    const auto parsed = std::from_chars(size.data(), size.data() + size.size(), content->declaredSize);
    if (parsed.ec != std::errc() || parsed.ptr != size.data() + size.size()) {
        reading.problems.push_back({Errc::Malformed, "Git-LFS pointer without a readable size", Whole{},
                                    "a line \"size <bytes>\"", size.empty() ? "none" : std::string(size)});
    }
    reading.summary = "Git-LFS pointer: the file itself is absent, " + sizeText(content->declaredSize) + " declared";
    return reading;
}

} // namespace

extern constinit const Reader reader_lfs{"lfs", "Git-LFS pointer", sniffPointer, openPointer};

} // namespace prosector
