// SPDX-License-Identifier: GPL-3.0-or-later
// safetensors: eight bytes of header length, a JSON header, the data. What the reference library
// refuses (safetensors/src/tensor.rs: over 100 MB of header, gaps, overlaps, bytes left over) and we
// could read is a problem beside the content.
#include "models/artifacts/jsonscanner.h"
#include "models/artifacts/reader.h"
#include "models/artifacts/tensorkinds.h"
#include "models/artifacts/tensorlayout.h"
#include "models/core/hex.h"
#include "models/core/utf8.h"

#include <numeric>

namespace prosector {

namespace {

constexpr std::uint64_t maxHeader = 100'000'000;
constexpr std::size_t maxDimensions = 64;

class SafetensorsParser {
public:
    SafetensorsParser(const ByteSource &source, const Job &job)
        : m_source(source), m_job(job), m_content(std::make_shared<TensorContent>())
    {
    }

    Result<Reading> parse()
    {
        // Eight bytes alone: a scanner's window would cost more than the rest of a small header.
        if (m_source.size() < 8)
            return Error{Errc::Truncated, "the header's length ends behind the end of the file", ByteRange{0, m_source.size()},
                         "8 bytes", std::to_string(m_source.size()) + " bytes"};
        const auto prefix = m_source.read(0, 8);
        if (!prefix)
            return prefix.error();
        std::uint64_t length = 0;
        for (std::size_t i = 8; i-- > 0;)
            length = length << 8 | std::to_integer<std::uint64_t>((*prefix)[i]);
        const std::uint64_t present = m_source.size() - 8;
        m_cut = length > present;
        if (!m_cut && length > maxHeader) {
            return Error{Errc::TooLarge, "the header is longer than safetensors allows", ByteRange{0, 8},
                         "at most " + std::to_string(maxHeader) + " bytes", std::to_string(length)};
        }
        const auto header = m_source.read(8, std::min({length, present, maxHeader}));
        if (!header)
            return header.error();
        if (m_cut) {
            const Error error{Errc::Truncated, "the header ends behind the end of the file", ByteRange{0, 8},
                              "at most " + std::to_string(present) + " bytes of header", std::to_string(length)};
            if (!asText(*header).starts_with('{'))
                return error;
            m_problems.add(error);
        }
        m_content->dataBegin = m_cut ? m_source.size() : 8 + length;
        const auto invalid = firstInvalidUtf8(asText(*header));
        if (invalid != std::string_view::npos && !(m_cut && invalid + 4 > header->size())) {
            m_problems.add({Errc::Malformed, "the header is not UTF-8; safetensors refuses the file",
                            ByteRange{8 + invalid, 9 + invalid}, "UTF-8", "byte 0x" + upperHex(std::to_integer<unsigned char>((*header)[invalid]))});
        }
        if (!readHeader(asText(*header)))
            return Job::cancelledError();
        if (!m_cut)
            checkLayout();
        Reading reading{kindOfTensors(fileNameOf(m_source.name()), m_content->tensors), tensorSummary(*m_content),
                        m_content, m_problems.take()};
        return reading;
    }

private:
    /// False only when cancelled.
    bool readHeader(std::string_view text)
    {
        JsonScanner json(text, 8);
        json.expect('{');
        std::size_t count = 0;
        for (bool first = true; json.more(first, '}');) {
            if ((count++ & 1023) == 0 && m_job.cancelled())
                return false;
            const std::uint64_t begin = json.offset();
            std::string name;
            if (!json.string(name) || !json.expect(':'))
                break;
            if (name == "__metadata__") {
                readMetadata(json);
                continue;
            }
            TensorInfo tensor;
            tensor.name = std::move(name);
            if (!readTensor(json, tensor, begin))
                break;
        }
        if (!json.error() && !json.atEnd())
            json.fail("nothing but spaces behind the header's object");
        if (json.error() && !(m_cut && json.error()->code == Errc::Truncated)) {
            Error error = *json.error();
            error.message = "the header is " + error.message;
            m_problems.add(std::move(error));
        }
        return true;
    }

    void readMetadata(JsonScanner &json)
    {
        const std::uint64_t at = json.offset();
        if (!json.take('{')) {
            json.skipValue();
            m_problems.add({Errc::Malformed, "__metadata__ is no object", ByteRange{at, json.offset()}, "an object of strings"});
            return;
        }
        for (bool first = true; json.more(first, '}');) {
            MetadataEntry entry;
            if (!json.string(entry.key) || !json.expect(':'))
                return;
            const std::uint64_t begin = json.offset();
            if (json.next('"')) {
                if (!json.string(entry.value))
                    return;
            } else if (json.skipValue()) {
                m_problems.add({Errc::Malformed, "__metadata__ \"" + entry.key + "\" is no string",
                                ByteRange{begin, json.offset()}, "a string"});
            } else {
                return;
            }
            m_content->metadata.push_back(std::move(entry));
        }
    }

    bool readTensor(JsonScanner &json, TensorInfo &tensor, std::uint64_t begin)
    {
        bool hasType = false, hasShape = false, hasOffsets = false;
        std::uint64_t from = 0, to = 0;
        if (!json.expect('{'))
            return false;
        for (bool first = true; json.more(first, '}');) {
            std::string key;
            if (!json.string(key) || !json.expect(':'))
                return false;
            if (key == "dtype") {
                if (!json.string(tensor.dtypeName))
                    return false;
                hasType = true;
            } else if (key == "shape") {
                if (!readShape(json, tensor.shape))
                    return false;
                hasShape = true;
            } else if (key == "data_offsets") {
                if (!json.expect('[') || !json.unsignedInteger(from) || !json.expect(',') || !json.unsignedInteger(to)
                    || !json.expect(']'))
                    return false;
                hasOffsets = true;
            } else if (!json.skipValue()) {
                return false;
            }
        }
        if (json.error())
            return false;
        tensor.entry = {begin, json.offset()};
        if (!hasType || !hasShape || !hasOffsets) {
            m_problems.add({Errc::Malformed, "tensor \"" + tensor.name + "\" is incomplete", tensor.entry,
                            "dtype, shape and data_offsets",
                            std::string("no ") + (!hasType ? "dtype" : !hasShape ? "shape" : "data_offsets")});
        }
        tensor.dtype = dtypeByName(tensor.dtypeName);
        place(tensor, hasOffsets, hasShape, from, to);
        m_content->tensors.push_back(std::move(tensor));
        return true;
    }

    static bool readShape(JsonScanner &json, std::vector<std::uint64_t> &shape)
    {
        shape.clear();
        if (!json.expect('['))
            return false;
        for (bool first = true; json.more(first, ']');) {
            std::uint64_t extent = 0;
            if (shape.size() == maxDimensions)
                return json.fail("at most " + std::to_string(maxDimensions) + " dimensions");
            if (!json.unsignedInteger(extent))
                return false;
            shape.push_back(extent);
        }
        return !json.error();
    }

    void place(TensorInfo &tensor, bool hasOffsets, bool hasShape, std::uint64_t from, std::uint64_t to)
    {
        const std::uint64_t data = m_content->dataBegin;
        std::uint64_t begin = 0, end = 0;
        tensor.bytes = {data, data};
        if (hasOffsets && from > to) {
            m_problems.add({Errc::Malformed, "tensor \"" + tensor.name + "\" ends before it begins", tensor.entry,
                            "data_offsets in order", '[' + std::to_string(from) + ", " + std::to_string(to) + ']'});
            return;
        }
        if (__builtin_add_overflow(data, from, &begin) || __builtin_add_overflow(data, to, &end)) {
            m_problems.add({Errc::OutOfRange, "tensor \"" + tensor.name + "\" ends behind any possible file", tensor.entry, "",
                            '[' + std::to_string(from) + ", " + std::to_string(to) + ']'});
            return;
        }
        tensor.bytes = {begin, end};
        if (!tensor.dtype) {
            if (!tensor.dtypeName.empty())
                m_problems.add({Errc::Unsupported, "tensor \"" + tensor.name + "\" has an unknown type", tensor.entry,
                                "a dtype of safetensors", tensor.dtypeName});
            return;
        }
        const auto needed = storedBytes(tensor.dtype, tensor.shape);
        if (hasOffsets && hasShape && needed != to - from) {
            m_problems.add({Errc::Malformed, "tensor \"" + tensor.name + "\" has not the bytes its type and shape need",
                            tensor.entry,
                            (needed ? std::to_string(*needed) : std::string("an impossible number of")) + " bytes for "
                                + tensor.shapeText() + ' ' + tensor.dtypeName,
                            std::to_string(to - from) + " bytes"});
        }
    }

    void checkLayout()
    {
        checkTensorLayout(m_content->tensors, m_source.size(), m_problems);
        std::vector<const TensorInfo *> sorted;
        sorted.reserve(m_content->tensors.size());
        for (const TensorInfo &tensor : m_content->tensors)
            sorted.push_back(&tensor);
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const TensorInfo *a, const TensorInfo *b) { return a->bytes < b->bytes; });
        std::uint64_t end = m_content->dataBegin, gaps = 0;
        const TensorInfo *behind = nullptr;
        ByteRange gap;
        for (const TensorInfo *const tensor : sorted) {
            if (tensor->bytes.from > end && gaps++ == 0) {
                gap = {end, tensor->bytes.from};
                behind = tensor;
            }
            end = std::max(end, tensor->bytes.to);
        }
        if (behind) {
            m_problems.add({Errc::Malformed,
                            "bytes before tensor \"" + behind->name + "\" belong to no tensor"
                                + (gaps > 1 ? " (and " + std::to_string(gaps - 1) + " more gaps)" : "")
                                + "; safetensors refuses the file",
                            gap, "tensors without gaps", std::to_string(gap.size()) + " bytes"});
        }
        if (end < m_source.size()) {
            m_problems.add({Errc::Malformed, "bytes behind the last tensor; safetensors refuses the file",
                            ByteRange{end, m_source.size()}, "a file of " + std::to_string(end) + " bytes",
                            std::to_string(m_source.size()) + " bytes"});
        }
    }

    const ByteSource &m_source;
    const Job &m_job;
    std::shared_ptr<TensorContent> m_content;
    Problems m_problems;
    bool m_cut = false;
};

int sniffSafetensors(const Head &head)
{
    const bool named = head.name.ends_with(".safetensors");
    if (head.bytes.size() < 9)
        return named ? 40 : 0;
    std::uint64_t length = 0;
    for (std::size_t i = 8; i-- > 0;)
        length = length << 8 | std::to_integer<std::uint64_t>(head.bytes[i]);
    const bool brace = head.bytes[8] == std::byte{'{'};
    if (brace && length <= maxHeader)
        return 95;
    return named ? 40 : 0;
}

Result<Reading> openSafetensors(SourcePtr source, const Job &job)
{
    return SafetensorsParser(*source, job).parse();
}

} // namespace

extern constinit const Reader reader_safetensors{"safetensors", "safetensors tensors", sniffSafetensors, openSafetensors};

} // namespace prosector
