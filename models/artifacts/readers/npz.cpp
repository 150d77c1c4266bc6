// SPDX-License-Identifier: GPL-3.0-or-later
// Several NumPy arrays in a zip archive, stored or deflated (numpy.savez, numpy.savez_compressed).
#include "models/artifacts/npyheader.h"
#include "models/artifacts/npzcontent.h"
#include "models/artifacts/reader.h"
#include "models/artifacts/tensorkinds.h"
#include "models/artifacts/tensorlayout.h"
#include "models/core/zip.h"

namespace prosector {

namespace {

constexpr std::uint64_t unpackedLimit = 256ULL << 20; // of all deflated arrays together
constexpr std::uint64_t headLimit = (1 << 20) + 1;

int sniffNpz(const Head &head)
{
    if (!looksLikeZip(head.bytes))
        return 0;
    // The first member's name stands 30 bytes in.
    const auto text = head.text();
    const bool array = text.size() > 46 && text.substr(30, 256).find(".npy") != std::string_view::npos;
    return head.name.ends_with(".npz") ? 96 : array ? 92 : 0;
}

class NpzReader {
public:
    NpzReader(SourcePtr source, const Job &job) : m_source(std::move(source)), m_job(job), m_content(std::make_shared<NpzContent>()) {}

    Result<Reading> read()
    {
        auto directory = readZipDirectory(*m_source, m_job);
        if (!directory)
            return directory.error();
        for (Error &problem : directory->problems)
            m_problems.add(std::move(problem));
        for (const ZipEntry &entry : directory->entries) {
            if (m_job.cancelled())
                return Job::cancelledError();
            if (!entry.name.ends_with(".npy")) {
                m_content->metadata.push_back({entry.name, "no array, " + sizeText(entry.size)});
            } else if (auto done = member(entry); !done && done.error().code == Errc::Cancelled) {
                return done.error();
            } else if (!done) {
                Error problem = done.error();
                problem.message = '"' + entry.name + "\": " + problem.message;
                problem.where = entry.header;
                m_problems.add(std::move(problem));
            }
        }
        if (!m_unpacked.empty())
            m_content->unpacked = memorySource(m_source->name(), std::move(m_unpacked));
        const Kind kind = kindOfTensors(fileNameOf(m_source->name()), m_content->tensors);
        return Reading{kind, tensorSummary(*m_content), m_content, m_problems.take()};
    }

private:
    Result<void> member(const ZipEntry &entry)
    {
        const auto start = unzip(*m_source, entry, 12, m_job);
        if (!start)
            return start.error();
        const auto head = unzip(*m_source, entry, std::min(npyHeaderBytes(*start).value_or(12), headLimit), m_job);
        if (!head)
            return head.error();
        const auto header = parseNpyHeader(*head);
        if (!header)
            return header.error();
        const std::string name = entry.name.substr(0, entry.name.size() - 4);
        if (header->fortranOrder)
            m_content->metadata.push_back({name, "columns first"});
        // A deflated array has no place in the file: it is measured from 0 and then moved.
        const ByteRange file = entry.isStored() ? entry.packed : ByteRange{0, entry.size};
        TensorInfo tensor = npyTensor(*header, name, file, m_problems);
        if (!entry.isStored()) {
            tensor.entry = {};
            const bool whole = tensor.bytes.to <= entry.size;
            if (auto done = whole ? unpack(entry, header->dataBegin, tensor) : Result<void>(); !done)
                return done;
            if (!whole)
                tensor.bytes = {};
        }
        m_content->tensors.push_back(std::move(tensor));
        m_content->inUnpacked.push_back(!entry.isStored());
        return {};
    }

    Result<void> unpack(const ZipEntry &entry, std::uint64_t skip, TensorInfo &tensor)
    {
        const std::uint64_t size = tensor.bytes.size();
        tensor.bytes = {};
        if (size > unpackedLimit - m_unpacked.size()) {
            m_problems.add({Errc::TooLarge, '"' + entry.name + "\" is listed, but too large to unpack", entry.header,
                            "at most " + sizeText(unpackedLimit) + " of deflated arrays in one file", sizeText(size)});
            return {};
        }
        const std::uint64_t begin = m_unpacked.size();
        const auto done = unzip(*m_source, entry, skip + size, m_job, [&](std::span<const std::byte> part) -> Result<void> {
            const auto drop = std::min<std::uint64_t>(skip, part.size());
            skip -= drop;
            m_unpacked.insert(m_unpacked.end(), part.begin() + static_cast<std::ptrdiff_t>(drop), part.end());
            return {};
        });
        if (!done || m_unpacked.size() != begin + size) {
            m_unpacked.resize(begin);
            if (!done)
                return done;
        }
        tensor.bytes = {begin, m_unpacked.size()};
        return {};
    }

    SourcePtr m_source;
    const Job &m_job;
    std::shared_ptr<NpzContent> m_content;
    Problems m_problems;
    Bytes m_unpacked;
};

Result<Reading> openNpz(SourcePtr source, const Job &job)
{
    return NpzReader(std::move(source), job).read();
}

} // namespace

extern constinit const Reader reader_npz{"npz", "NumPy arrays", sniffNpz, openNpz};

} // namespace prosector
