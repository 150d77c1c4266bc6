// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/npyheader.h"

#include "models/artifacts/tensorlayout.h"
#include "models/core/utf8.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace prosector {

namespace {

constexpr std::uint64_t maxHeader = 1 << 20; // numpy refuses above 10,000 unless told otherwise
constexpr std::string_view magic = "\x93NUMPY";

struct DescrRow {
    std::string_view code, dtype;
};
constexpr std::array descrRows = std::to_array<DescrRow>({
    {"b1", "BOOL"}, {"u1", "U8"}, {"i1", "I8"}, {"u2", "U16"}, {"i2", "I16"}, {"u4", "U32"}, {"i4", "I32"}, {"u8", "U64"},
    {"i8", "I64"}, {"f2", "F16"}, {"f4", "F32"}, {"f8", "F64"}, {"c8", "C64"}, {"c16", "C128"},
});

/// The Python literal of the header: one dictionary of a string (or list), a bool and a tuple.
class Literal {
public:
    Literal(std::string_view text, std::uint64_t base) : m_text(text), m_base(base) {}

    Result<NpyHeader> parse()
    {
        NpyHeader header;
        bool descr = false, order = false, shape = false;
        if (!take('{'))
            return error("'{'");
        while (!take('}')) {
            std::string key;
            if (!string(key) || !take(':'))
                return error("a key and ':'");
            if (key == "descr") {
                descr = readDescr(header);
                if (!descr)
                    return error("a type such as '<f4'");
            } else if (key == "fortran_order") {
                order = word("True") || word("False");
                header.fortranOrder = m_lastWord == "True";
                if (!order)
                    return error("True or False");
            } else if (key == "shape") {
                shape = tuple(header.shape);
                if (!shape)
                    return error("a tuple of non-negative integers");
            } else {
                return error("no key but descr, fortran_order and shape");
            }
            if (!take(',') && !next('}'))
                return error("',' or '}'");
        }
        if (!descr || !order || !shape)
            return error("the keys descr, fortran_order and shape");
        return header;
    }

private:
    bool next(char c)
    {
        while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\n'))
            ++m_at;
        return m_at < m_text.size() && m_text[m_at] == c;
    }
    bool take(char c)
    {
        const bool there = next(c);
        m_at += there;
        return there;
    }
    bool word(std::string_view wanted)
    {
        next(' ');
        if (!m_text.substr(m_at).starts_with(wanted))
            return false;
        m_at += wanted.size();
        m_lastWord = wanted;
        return true;
    }
    bool string(std::string &out)
    {
        if (!next('\'') && !next('"'))
            return false;
        const std::size_t end = m_text.find(m_text[m_at], m_at + 1);
        if (end == std::string_view::npos)
            return false;
        out = m_text.substr(m_at + 1, end - m_at - 1);
        m_at = end + 1;
        return true;
    }
    bool tuple(std::vector<std::uint64_t> &shape)
    {
        if (!take('('))
            return false;
        while (!take(')')) {
            std::uint64_t extent = 0;
            next(' ');
            const auto done = std::from_chars(m_text.data() + m_at, m_text.data() + m_text.size(), extent);
            if (done.ec != std::errc() || shape.size() == 64)
                return false;
            m_at = static_cast<std::size_t>(done.ptr - m_text.data());
            take('L'); // Python 2 wrote longs
            shape.push_back(extent);
            if (!take(',') && !next(')'))
                return false;
        }
        return true;
    }
    bool readDescr(NpyHeader &header)
    {
        if (string(header.descr))
            return true;
        if (!next('['))
            return false;
        // A record type: kept as text, brackets balanced outside strings.
        const std::size_t begin = m_at;
        int depth = 0;
        char quote = 0;
        for (; m_at < m_text.size(); ++m_at) {
            const char c = m_text[m_at];
            if (quote)
                quote = c == quote ? '\0' : quote;
            else if (c == '\'' || c == '"')
                quote = c;
            else if (c == '[' || c == '(')
                ++depth;
            else if ((c == ']' || c == ')') && --depth == 0)
                break;
        }
        if (m_at == m_text.size())
            return false;
        header.descr = m_text.substr(begin, ++m_at - begin);
        header.structured = true;
        return true;
    }
    Error error(std::string expected)
    {
        next(' ');
        const std::uint64_t at = m_base + m_at;
        return {Errc::Malformed, "the header is no array's description", ByteRange{at, at}, std::move(expected),
                m_at < m_text.size() ? toValidUtf8(m_text.substr(m_at, 20)) : "its end"};
    }

    std::string_view m_text, m_lastWord;
    std::uint64_t m_base;
    std::size_t m_at = 0;
};

/// Bytes of one element of a type we do not convert: strings, dates, void.
std::uint64_t itemBytes(std::string_view descr)
{
    if (descr.size() < 3)
        return 0;
    std::uint64_t size = 0;
    std::from_chars(descr.data() + 2, descr.data() + descr.size(), size);
    return descr[1] == 'U' ? std::min<std::uint64_t>(size, 1ULL << 32) * 4 : size;
}

} // namespace

std::optional<std::uint64_t> npyHeaderBytes(std::span<const std::byte> head)
{
    if (!asText(head).starts_with(magic) || head.size() < 10)
        return std::nullopt;
    const auto byte = [&](std::size_t at) { return std::to_integer<std::uint64_t>(head[at]); };
    if (byte(6) == 1)
        return 10 + byte(8) + (byte(9) << 8);
    if (head.size() < 12)
        return std::nullopt;
    return 12 + byte(8) + (byte(9) << 8) + (byte(10) << 16) + (byte(11) << 24);
}

Result<NpyHeader> parseNpyHeader(std::span<const std::byte> head)
{
    const auto length = npyHeaderBytes(head);
    if (!length)
        return Error{Errc::Truncated, "not an .npy array", ByteRange{0, 0}, "\\x93NUMPY, a version and a length",
                     std::to_string(head.size()) + " bytes"};
    const auto version = std::to_integer<unsigned>(head[6]);
    if (version < 1 || version > 3)
        return Error{Errc::Unsupported, "unknown version of .npy", ByteRange{6, 8}, "1 to 3", std::to_string(version)};
    if (*length > maxHeader)
        return Error{Errc::TooLarge, "the header is too long", ByteRange{8, 12}, "at most " + std::to_string(maxHeader) + " bytes",
                     std::to_string(*length)};
    if (*length > head.size())
        return Error{Errc::Truncated, "the header ends behind the end of the file", ByteRange{8, 12},
                     std::to_string(*length) + " bytes", std::to_string(head.size()) + " bytes"};
    const std::uint64_t begin = version == 1 ? 10 : 12;
    auto header = Literal(asText(head).substr(begin, *length - begin), begin).parse();
    if (header)
        header->dataBegin = *length;
    return header;
}

TensorInfo npyTensor(const NpyHeader &header, std::string name, ByteRange file, Problems &problems)
{
    TensorInfo tensor;
    tensor.name = std::move(name);
    tensor.dtypeName = header.descr;
    tensor.shape = header.shape;
    tensor.entry = {file.from, file.from + header.dataBegin};
    tensor.bytes = {tensor.entry.to, tensor.entry.to};
    const std::string_view descr = header.descr;
    if (header.structured || descr.find('O') != std::string_view::npos) {
        problems.add({Errc::Unsupported,
                      '"' + tensor.name + "\" holds " + (header.structured ? "records" : "pickled Python objects, which are not opened"),
                      tensor.entry, "numbers", std::string(descr.substr(0, 60))});
        return tensor;
    }
    const auto row = std::find_if(descrRows.begin(), descrRows.end(), [&](const DescrRow &r) { return descr.size() > 1 && descr.substr(1) == r.code; });
    std::uint64_t size = itemBytes(descr);
    if (row != descrRows.end()) {
        tensor.dtype = dtypeByName(row->dtype);
        tensor.bigEndian = descr[0] == '>';
        size = tensor.dtype->blockBytes;
    }
    const auto elements = tensor.elements();
    std::uint64_t bytes = 0;
    if (!elements || __builtin_mul_overflow(*elements, size, &bytes) || __builtin_add_overflow(tensor.bytes.from, bytes, &tensor.bytes.to)) {
        tensor.bytes.to = tensor.bytes.from;
        problems.add({Errc::OutOfRange, '"' + tensor.name + "\" is larger than any possible file", tensor.entry, "",
                      tensor.shapeText() + ' ' + tensor.dtypeName});
    } else if (tensor.bytes.to > file.to) {
        problems.add({Errc::Truncated, '"' + tensor.name + "\" ends behind the end of the file", tensor.bytes,
                      std::to_string(bytes) + " bytes of data", std::to_string(file.to - tensor.bytes.from) + " bytes"});
    } else if (tensor.bytes.to < file.to) {
        problems.add({Errc::Malformed, "bytes behind array \"" + tensor.name + "\", which are not read",
                      ByteRange{tensor.bytes.to, file.to}, std::to_string(bytes) + " bytes of data",
                      std::to_string(file.to - tensor.bytes.from) + " bytes"});
    }
    return tensor;
}

} // namespace prosector
