// SPDX-License-Identifier: GPL-3.0-or-later
// GGUF versions 1 to 3, either byte order. Layout: ggml's docs/gguf.md; version 1 counted with 32
// bits. What llama.cpp's gguf.cpp refuses and we could read is a problem beside the content.
#include "models/artifacts/bytescanner.h"
#include "models/artifacts/reader.h"
#include "models/artifacts/tensorlayout.h"
#include "models/artifacts/tensors.h"

#include <array>
#include <unordered_set>

namespace prosector {

namespace {

constexpr std::uint64_t metadataBudget = 1ULL << 30; // bytes held of one file's metadata
constexpr int maxNesting = 8;                        // arrays in arrays
constexpr std::uint32_t maxDimensions = 4;           // GGML_MAX_DIMS

/// Types ggml once had and dropped (ggml.h), named so that the message says more than a number.
std::string_view removedTypeName(std::uint32_t number)
{
    switch (number) {
    case 4: return "Q4_2";
    case 5: return "Q4_3";
    case 31: return "Q4_0_4_4";
    case 32: return "Q4_0_4_8";
    case 33: return "Q4_0_8_8";
    case 36: return "IQ4_NL_4_4";
    case 37: return "IQ4_NL_4_8";
    case 38: return "IQ4_NL_8_8";
    default: return {};
    }
}

std::string typeText(std::uint32_t number)
{
    const auto removed = removedTypeName(number);
    return removed.empty() ? "ggml type " + std::to_string(number) : std::string(removed);
}

class GgufParser {
public:
    GgufParser(const ByteSource &source, const Job &job)
        : m_source(source), m_job(job), m_scan(source), m_content(std::make_shared<GgufContent>())
    {
    }

    Result<Reading> parse()
    {
        if (!header())
            return *m_scan.error();
        metadata();
        if (!m_scan.error())
            readAlignment();
        if (!m_scan.error())
            tensorInfos();
        if (m_job.cancelled())
            return Job::cancelledError();
        locateTensors();
        checkTensorLayout(m_content->tensors, m_source.size(), m_problems);
        checkSplit();
        return Reading{kind(), summary(), m_content, m_problems.take()};
    }

private:
    GgufContent &content() { return *m_content; }

    bool header()
    {
        std::array<std::byte, 4> magic{};
        std::uint32_t version = 0;
        if (!m_scan.read(std::span(magic), "the magic number") || !m_scan.read(version, "the version"))
            return false;
        // Version 3 read in the wrong byte order is 0x03000000; ggml tells it the same way.
        if ((version & 0xFFFFU) == 0) {
            content().bigEndian = true;
            m_scan.setByteOrder(std::endian::big);
            version = __builtin_bswap32(version);
        }
        if (version < 1 || version > 3) {
            return m_scan.fail({Errc::Unsupported, "unknown GGUF version", ByteRange{4, 8}, "1, 2 or 3",
                                std::to_string(version)});
        }
        content().version = version;
        m_narrow = version == 1;
        const std::uint64_t at = m_scan.offset();
        if (!length(m_tensorCount, "the number of tensors") || !length(m_entryCount, "the number of metadata entries"))
            return false;
        const std::uint64_t width = m_narrow ? 4 : 8;
        // The smallest entry is an empty key with a one-byte value, the smallest tensor a nameless scalar.
        clamp(m_tensorCount, width + 16, "tensors", {at, at + width});
        clamp(m_entryCount, width + 5, "metadata entries", {at + width, at + 2 * width});
        return true;
    }

    /// A count that the rest of the file cannot hold is said, and lowered to what could be there.
    void clamp(std::uint64_t &count, std::uint64_t smallest, std::string_view what, ByteRange where)
    {
        const std::uint64_t possible = m_scan.remaining() / smallest;
        if (count <= possible)
            return;
        m_problems.add({possible == 0 ? Errc::Truncated : Errc::OutOfRange, "declares more " + std::string(what) + " than the file can hold", where,
                              "at most " + std::to_string(possible) + " in the "
                                  + std::to_string(m_scan.remaining()) + " bytes that follow",
                              std::to_string(count)});
        count = possible;
    }

    bool length(std::uint64_t &out, std::string_view what)
    {
        if (!m_narrow)
            return m_scan.read(out, what);
        std::uint32_t narrow = 0;
        const bool done = m_scan.read(narrow, what);
        out = narrow;
        return done;
    }

    /// Accounts for memory that a hostile file could make us hold.
    bool spend(std::uint64_t bytes)
    {
        if (bytes <= m_budget) {
            m_budget -= bytes;
            return true;
        }
        return m_scan.fail({Errc::TooLarge, "more metadata than is read of one file",
                            ByteRange{m_scan.offset(), m_scan.offset()}, "at most " + sizeText(metadataBudget), "more"});
    }

    bool string(std::string &out, std::string_view what)
    {
        std::uint64_t size = 0;
        if (!length(size, what) || !m_scan.require(size, what) || !spend(size))
            return false;
        out.resize(size);
        return m_scan.read(std::as_writable_bytes(std::span(out)), what);
    }

    void metadata()
    {
        std::unordered_set<std::string> seen;
        for (std::uint64_t i = 0; i < m_entryCount; ++i) {
            if ((i & 1023) == 0 && m_job.cancelled())
                return;
            GgufEntry entry;
            const std::uint64_t begin = m_scan.offset();
            if (!string(entry.key, "a metadata key") || !value(entry.value, entry.key) || !spend(sizeof entry)) {
                if (m_scan.error())
                    nameEntry(i, entry.key);
                return;
            }
            entry.bytes = {begin, m_scan.offset()};
            if (!seen.insert(entry.key).second) {
                m_problems.add({Errc::Malformed,
                                      "metadata key \"" + entry.key
                                          + "\" stands twice; the first value counts, and llama.cpp refuses the file",
                                      entry.bytes, "each key once", "again: " + entry.value.display()});
            }
            content().entries.push_back(std::move(entry));
        }
    }

    /// The sticking error, with the entry it happened in.
    void nameEntry(std::uint64_t index, const std::string &key)
    {
        Error error = *m_scan.error();
        error.message = "metadata entry " + std::to_string(index) + " of " + std::to_string(m_entryCount)
            + (key.empty() ? "" : " (\"" + key.substr(0, 80) + "\")") + ": " + error.message;
        m_problems.add(std::move(error));
    }

    bool type(GgufType &out, std::string_view what)
    {
        std::uint32_t number = 0;
        if (!m_scan.read(number, what))
            return false;
        if (number > static_cast<std::uint32_t>(GgufType::Float64)) {
            return m_scan.fail({Errc::Malformed, "unknown value type, so the rest cannot be found",
                                ByteRange{m_scan.offset() - 4, m_scan.offset()}, "0 to 12", std::to_string(number)});
        }
        out = static_cast<GgufType>(number);
        return true;
    }

    bool value(GgufValue &out, const std::string &key)
    {
        if (!type(out.type, "a value type"))
            return false;
        switch (out.type) {
        case GgufType::Uint8: return integer<std::uint8_t>(out);
        case GgufType::Int8: return integer<std::int8_t>(out);
        case GgufType::Uint16: return integer<std::uint16_t>(out);
        case GgufType::Int16: return integer<std::int16_t>(out);
        case GgufType::Uint32: return integer<std::uint32_t>(out);
        case GgufType::Int32: return integer<std::int32_t>(out);
        case GgufType::Uint64: return integer<std::uint64_t>(out);
        case GgufType::Int64: return integer<std::int64_t>(out);
        case GgufType::Float32: return real<float>(out);
        case GgufType::Float64: return real<double>(out);
        case GgufType::String: return string(out.text, "a string");
        case GgufType::Array: return array(out, 1);
        case GgufType::Bool: break;
        }
        if (!integer<std::uint8_t>(out))
            return false;
        if (out.integer > 1) {
            m_problems.add({Errc::Malformed, "\"" + key + "\" is a bool that is neither 0 nor 1; taken as true",
                                  ByteRange{m_scan.offset() - 1, m_scan.offset()}, "0 or 1",
                                  std::to_string(out.integer)});
        }
        return true;
    }

    template<class T>
    bool integer(GgufValue &out)
    {
        T number = 0;
        if (!m_scan.read(number, "a value"))
            return false;
        out.integer = static_cast<std::int64_t>(number);
        out.unsignedInteger = static_cast<std::uint64_t>(number);
        out.real = static_cast<double>(number);
        return true;
    }

    template<class T>
    bool real(GgufValue &out)
    {
        T number = 0;
        if (!m_scan.read(number, "a value"))
            return false;
        out.real = static_cast<double>(number);
        return true;
    }

    bool array(GgufValue &out, int depth)
    {
        if (!type(out.elementType, "an array's element type") || !length(out.count, "an array's length"))
            return false;
        const std::uint64_t width = m_narrow ? 4 : 8;
        const std::uint64_t smallest = out.elementType == GgufType::String ? width
            : out.elementType == GgufType::Array                           ? width + 4
                                                                           : sizeOf(out.elementType);
        if (out.count > m_scan.remaining() / smallest) {
            return m_scan.fail({Errc::Truncated, "the array ends behind the end of the file",
                                ByteRange{m_scan.offset() - width, m_scan.offset()},
                                "at most " + std::to_string(m_scan.remaining() / smallest) + " elements of "
                                    + std::string(nameOf(out.elementType)),
                                std::to_string(out.count)});
        }
        if (out.elementType == GgufType::String)
            return strings(out);
        if (out.elementType == GgufType::Array)
            return arrays(out, depth);
        const std::size_t size = sizeOf(out.elementType);
        if (!spend(out.count * size))
            return false;
        auto bytes = std::make_shared<std::vector<std::byte>>(out.count * size);
        if (!m_scan.read(std::span(*bytes), "an array"))
            return false;
        if (m_scan.swapped() && size > 1) {
            for (auto at = bytes->begin(); at != bytes->end(); at += static_cast<std::ptrdiff_t>(size))
                std::reverse(at, at + static_cast<std::ptrdiff_t>(size));
        }
        out.numbers = GgufNumbers(out.elementType, std::move(bytes));
        return true;
    }

    bool strings(GgufValue &out)
    {
        if (!spend(out.count * sizeof(std::uint32_t)))
            return false;
        auto held = std::make_shared<GgufStrings::Held>();
        held->ends.reserve(out.count);
        for (std::uint64_t i = 0; i < out.count; ++i) {
            if ((i & 4095) == 0 && m_job.cancelled())
                return false;
            std::uint64_t size = 0;
            if (!length(size, "a string of an array") || !m_scan.require(size, "a string of an array") || !spend(size))
                return false;
            const std::size_t begin = held->bytes.size();
            held->bytes.resize(begin + size);
            if (!m_scan.read(std::as_writable_bytes(std::span(held->bytes).subspan(begin)), "a string of an array"))
                return false;
            held->ends.push_back(static_cast<std::uint32_t>(held->bytes.size())); // the budget is below 4 GiB
        }
        held->bytes.shrink_to_fit();
        out.strings = GgufStrings(std::move(held));
        return true;
    }

    bool arrays(GgufValue &out, int depth)
    {
        if (depth == maxNesting) {
            return m_scan.fail({Errc::TooLarge, "arrays nested too deeply", ByteRange{m_scan.offset(), m_scan.offset()},
                                "at most " + std::to_string(maxNesting) + " levels", "one more"});
        }
        auto list = std::make_shared<std::vector<GgufValue>>();
        for (std::uint64_t i = 0; i < out.count; ++i) {
            if ((i & 1023) == 0 && m_job.cancelled())
                return false;
            GgufValue element;
            element.type = GgufType::Array;
            if (!spend(sizeof element) || !array(element, depth + 1))
                return false;
            list->push_back(std::move(element));
        }
        out.arrays = std::move(list);
        return true;
    }

    void readAlignment()
    {
        const GgufValue *const value = content().get("general.alignment");
        if (!value)
            return;
        const bool usable = value->type == GgufType::Uint32 && std::has_single_bit(value->unsignedInteger);
        if (usable) {
            content().alignment = value->unsignedInteger;
            return;
        }
        m_problems.add({Errc::Malformed, "general.alignment is unusable; tensors are looked for at multiples of 32",
                              GgufContent::anchor("general.alignment"), "a power of two as uint32",
                              value->display() + " as " + std::string(nameOf(value->type))});
    }

    void tensorInfos()
    {
        for (std::uint64_t i = 0; i < m_tensorCount; ++i) {
            if ((i & 1023) == 0 && m_job.cancelled())
                return;
            TensorInfo tensor;
            if (!tensorInfo(tensor) || !spend(sizeof tensor + sizeof(std::uint64_t) * tensor.shape.size())) {
                Error error = *m_scan.error();
                error.message = "tensor entry " + std::to_string(i) + " of " + std::to_string(m_tensorCount)
                    + (tensor.name.empty() ? "" : " (\"" + tensor.name.substr(0, 80) + "\")") + ": " + error.message;
                m_problems.add(std::move(error));
                return;
            }
            content().tensors.push_back(std::move(tensor));
        }
    }

    bool tensorInfo(TensorInfo &tensor)
    {
        const std::uint64_t begin = m_scan.offset();
        std::uint32_t dimensions = 0, number = 0;
        std::uint64_t offset = 0;
        if (!string(tensor.name, "a tensor's name") || !m_scan.read(dimensions, "a tensor's number of dimensions"))
            return false;
        if (dimensions > maxDimensions) {
            return m_scan.fail({Errc::Malformed, "too many dimensions", ByteRange{m_scan.offset() - 4, m_scan.offset()},
                                "at most " + std::to_string(maxDimensions), std::to_string(dimensions)});
        }
        tensor.shape.resize(dimensions);
        for (auto extent = tensor.shape.rbegin(); extent != tensor.shape.rend(); ++extent) {
            if (!length(*extent, "a tensor's shape"))
                return false;
        }
        if (!m_scan.read(number, "a tensor's type") || !m_scan.read(offset, "a tensor's offset"))
            return false;
        tensor.entry = {begin, m_scan.offset()};
        tensor.bigEndian = content().bigEndian;
        tensor.dtype = dtypeByGgml(number);
        tensor.dtypeName = tensor.dtype ? std::string(tensor.dtype->name) : typeText(number);
        tensor.bytes = {offset, offset}; // relative until the end of the entries is known
        return true;
    }

    void locateTensors()
    {
        if (m_scan.error()) { // where the data begins is known only behind the last entry
            for (TensorInfo &tensor : content().tensors)
                tensor.bytes = {};
            return;
        }
        const std::uint64_t alignment = content().alignment;
        content().dataBegin = (m_scan.offset() + alignment - 1) / alignment * alignment;
        for (TensorInfo &tensor : content().tensors) {
            const std::uint64_t relative = tensor.bytes.from;
            if (relative % alignment != 0) {
                m_problems.add({Errc::Malformed, "tensor \"" + tensor.name + "\" is not aligned", tensor.entry,
                                      "an offset that is a multiple of " + std::to_string(alignment),
                                      std::to_string(relative)});
            }
            placeTensor(tensor, content().dataBegin, relative, m_problems);
        }
    }

    void checkSplit()
    {
        const auto part = content().integer("split.no"), parts = content().integer("split.count");
        if (parts && *parts < 1) {
            m_problems.add({Errc::OutOfRange, "split.count is no number of parts", GgufContent::anchor("split.count"),
                            "1 or more", std::to_string(*parts)});
        } else if (part && parts && (*part < 0 || *part >= *parts)) {
            m_problems.add({Errc::OutOfRange, "split.no is no part of split.count", GgufContent::anchor("split.no"),
                            "0 to " + std::to_string(*parts - 1), std::to_string(*part)});
        }
    }

    Kind kind() const
    {
        const GgufContent &c = *m_content;
        const std::string type = c.string("general.type").value_or("");
        if (type == "adapter" || c.architecture() == "controlvector")
            return Kind::AdapterFiles;
        if (type == "imatrix")
            return Kind::ActivationStats;
        if (c.tensors.empty() && m_tensorCount == 0 && c.get("tokenizer.ggml.model") && !c.get("split.count"))
            return Kind::TokenizerFiles;
        return Kind::Weights;
    }

    std::string summary() const
    {
        const GgufContent &c = *m_content;
        std::string text = "GGUF v" + std::to_string(c.version) + (c.bigEndian ? " big-endian" : "");
        if (const std::string name = c.architecture(); !name.empty())
            text += ", " + name;
        if (c.tensors.empty()) {
            const GgufValue *const tokens = c.get("tokenizer.ggml.tokens");
            text += tokens ? ", vocabulary of " + std::to_string(tokens->count) + " tokens, no tensors" : ", no tensors";
        } else {
            text += ", " + tensorSummary(c);
        }
        const auto part = c.integer("split.no"), parts = c.integer("split.count");
        if (part && parts && *parts > 1)
            text += ", part " + std::to_string(*part + 1) + " of " + std::to_string(*parts);
        return text;
    }

    const ByteSource &m_source;
    const Job &m_job;
    ByteScanner m_scan;
    std::shared_ptr<GgufContent> m_content;
    Problems m_problems;
    std::uint64_t m_tensorCount = 0, m_entryCount = 0, m_budget = metadataBudget;
    bool m_narrow = false;
};

int sniffGguf(const Head &head)
{
    return head.text().starts_with("GGUF") ? 100 : 0;
}

Result<Reading> openGguf(SourcePtr source, const Job &job)
{
    return GgufParser(*source, job).parse();
}

} // namespace

extern constinit const Reader reader_gguf{"gguf", "GGUF model", sniffGguf, openGguf};

} // namespace prosector
