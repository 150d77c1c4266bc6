// SPDX-License-Identifier: GPL-3.0-or-later
// PyTorch checkpoints as torch.save writes them since version 1.6: a zip with a pickle (data.pkl) that
// names storages (data/0, data/1 …). The pickle is followed, never executed. Older checkpoints and
// bare pickles are recognised and not opened.
#include "models/artifacts/pickle.h"
#include "models/artifacts/problems.h"
#include "models/artifacts/reader.h"
#include "models/artifacts/tensorkinds.h"
#include "models/artifacts/tensorlayout.h"
#include "models/core/utf8.h"
#include "models/core/zip.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace prosector {

namespace {

using Type = PickleNode::Type;

constexpr std::uint64_t maxPickle = 256ULL << 20;
constexpr std::uint64_t maxVisits = 1'000'000;
constexpr int maxDepth = 64;
constexpr std::size_t maxNotes = 200;
constexpr std::string_view oldMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"; // torch's legacy magic number

struct StorageRow {
    std::string_view name, dtype;
};
// torch/storage.py and, for tensors rebuilt with a dtype of their own, torch.dtype's names.
constexpr std::array storageRows = std::to_array<StorageRow>({
    {"FloatStorage", "F32"}, {"DoubleStorage", "F64"}, {"HalfStorage", "F16"}, {"BFloat16Storage", "BF16"},
    {"LongStorage", "I64"}, {"IntStorage", "I32"}, {"ShortStorage", "I16"}, {"CharStorage", "I8"}, {"ByteStorage", "U8"},
    {"BoolStorage", "BOOL"}, {"ComplexFloatStorage", "C64"}, {"ComplexDoubleStorage", "C128"},
    {"float8_e4m3fn", "F8_E4M3"}, {"float8_e5m2", "F8_E5M2"}, {"float8_e4m3fnuz", "F8_E4M3FNUZ"},
    {"float8_e5m2fnuz", "F8_E5M2FNUZ"}, {"float8_e8m0fnu", "F8_E8M0"}, {"float32", "F32"}, {"float64", "F64"},
    {"float16", "F16"}, {"bfloat16", "BF16"}, {"int64", "I64"}, {"int32", "I32"}, {"int16", "I16"}, {"int8", "I8"},
    {"uint8", "U8"}, {"uint16", "U16"}, {"uint32", "U32"}, {"uint64", "U64"}, {"bool", "BOOL"}, {"complex64", "C64"},
    {"complex128", "C128"},
});

std::string_view dtypeOf(std::string_view global)
{
    const auto name = global.starts_with("torch ") ? global.substr(6) : std::string_view();
    const auto it = std::find_if(storageRows.begin(), storageRows.end(), [&](const StorageRow &row) { return row.name == name; });
    return it == storageRows.end() ? std::string_view() : it->dtype;
}

int sniffTorch(const Head &head)
{
    const auto text = head.text();
    if (text.starts_with(oldMagic))
        return 97;
    if (looksLikeZip(head.bytes))
        return text.size() > 46 && text.substr(30, 1024).find("data.pkl") != std::string_view::npos ? 94 : 0;
    const bool pickle = text.size() > 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5;
    for (const std::string_view end : {".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle"}) {
        if (pickle && head.name.ends_with(end))
            return 70;
    }
    return 0;
}

class TorchReader {
public:
    TorchReader(SourcePtr source, const Job &job) : m_source(std::move(source)), m_job(job), m_content(std::make_shared<TensorContent>()) {}

    Result<Reading> read()
    {
        auto directory = readZipDirectory(*m_source, m_job);
        if (!directory)
            return directory.error();
        for (const Error &problem : directory->problems)
            m_problems.add(problem);
        const ZipEntry *main = nullptr;
        for (const ZipEntry &entry : directory->entries) {
            m_members.emplace(entry.name, &entry);
            if (!main && (entry.name == "data.pkl" || entry.name.ends_with("/data.pkl")))
                main = &entry;
        }
        if (!main && !directory->problems.empty())
            return directory->problems.front();
        if (!main)
            return Error{Errc::NotFound, "no data.pkl in the archive", Whole{}, "a PyTorch checkpoint"};
        m_folder = main->name.substr(0, main->name.size() - 8);
        if (main->size > maxPickle)
            return Error{Errc::TooLarge, "data.pkl is too large", main->header, "at most " + sizeText(maxPickle), sizeText(main->size)};
        readByteOrder();
        const auto bytes = unzip(*m_source, *main, main->size, m_job);
        if (!bytes)
            return bytes.error();
        auto pickle = readPickle(std::string(asText(*bytes)), m_job);
        if (!pickle) {
            Error error = pickle.error();
            if (auto *const range = std::get_if<ByteRange>(&error.where))
                *range = main->isStored() ? ByteRange{main->packed.from + range->from, main->packed.from + range->to} : main->packed;
            error.message = "data.pkl: " + error.message;
            return error;
        }
        m_pickle = std::move(*pickle);
        m_pickleEntry = main->packed;
        walk(m_pickle.root, "", 0);
        if (m_job.cancelled())
            return Job::cancelledError();
        return Reading{kind(), summary(), m_content, m_problems.take()};
    }

private:
    void readByteOrder()
    {
        const auto it = m_members.find(m_folder + "byteorder");
        if (it == m_members.end())
            return;
        const auto order = unzip(*m_source, *it->second, 16, m_job);
        m_bigEndian = order && asText(*order).starts_with("big");
    }

    /// Every tensor below a node, with the keys on the way as its name.
    void walk(std::uint32_t index, const std::string &path, int depth)
    {
        if (++m_visits > maxVisits || depth > maxDepth) {
            if (!m_cut)
                m_problems.add({Errc::TooLarge, depth > maxDepth ? "objects nested too deeply; what is below is not listed"
                                                                 : "too many values; the rest is not listed",
                                m_pickleEntry, depth > maxDepth ? std::to_string(maxDepth) + " levels" : std::to_string(maxVisits), "more"});
            m_cut = true;
            return;
        }
        if ((m_visits & 4095) == 0 && m_job.cancelled())
            return;
        const PickleNode &node = m_pickle[index];
        const auto below = [&](std::string_view key) { return path.empty() ? std::string(key) : path + '.' + std::string(key); };
        switch (node.type) {
        case Type::Dict:
            for (std::size_t i = 0; i + 1 < node.items.size(); i += 2)
                walk(node.items[i + 1], below(keyText(node.items[i])), depth + 1);
            break;
        case Type::List:
        case Type::Tuple:
            for (std::size_t i = 0; i < node.items.size(); ++i)
                walk(node.items[i], below(std::to_string(i)), depth + 1);
            break;
        case Type::Opaque:
            if (rebuildsTensor(node))
                tensor(node, path);
            else
                opaque(node, path, depth);
            break;
        case Type::String: note(path, toValidUtf8(node.text.substr(0, 200))); break;
        case Type::Integer: note(path, std::to_string(node.integer)); break;
        case Type::Boolean: note(path, node.integer ? "True" : "False"); break;
        default: break;
        }
    }

    void opaque(const PickleNode &node, const std::string &path, int depth)
    {
        const auto name = node.items.empty() ? std::string_view() : m_pickle.global(node.items[0]);
        if (m_firstObject.empty())
            m_firstObject = name;
        note(path, "object of " + std::string(name.empty() ? "an unnamed class" : name) + ", not built");
        for (std::size_t i = 1; i < node.items.size(); ++i)
            walk(node.items[i], path, depth + 1);
    }

    std::string keyText(std::uint32_t index) const
    {
        const PickleNode &key = m_pickle[index];
        return key.type == Type::Integer ? std::to_string(key.integer) : toValidUtf8(key.text);
    }

    void note(const std::string &path, std::string text)
    {
        if (m_content->metadata.size() < maxNotes)
            m_content->metadata.push_back({path, std::move(text)});
    }

    bool rebuildsTensor(const PickleNode &node) const
    {
        if (node.items.size() < 2)
            return false;
        const auto function = m_pickle.global(node.items[0]);
        return function == "torch._utils _rebuild_tensor_v2" || function == "torch._utils _rebuild_tensor"
            || function == "torch._utils _rebuild_tensor_v3" || function == "torch._tensor _rebuild_from_type_v2";
    }

    const PickleNode *item(const PickleNode &node, std::size_t index) const
    {
        return index < node.items.size() ? &m_pickle[node.items[index]] : nullptr;
    }

    /// _rebuild_tensor_v2(storage, offset, size, stride, …); v3 has a dtype in seventh place.
    void tensor(const PickleNode &call, const std::string &path)
    {
        auto function = m_pickle.global(call.items[0]);
        const PickleNode *arguments = item(call, 1);
        if (function == "torch._tensor _rebuild_from_type_v2") { // (function, type, arguments, state)
            function = arguments->items.empty() ? std::string_view() : m_pickle.global(arguments->items[0]);
            arguments = item(*arguments, 2);
        }
        const PickleNode *const storage = arguments ? item(*arguments, 0) : nullptr;
        const PickleNode *const id = storage && storage->type == Type::Persistent ? item(*storage, 0) : nullptr;
        const PickleNode *const size = arguments ? item(*arguments, 2) : nullptr;
        if (!id || id->items.size() < 5 || !size || size->type != Type::Tuple || arguments->items.size() < 4) {
            m_problems.add({Errc::Malformed, "tensor \"" + path + "\" is rebuilt from something else than a storage", m_pickleEntry,
                            "a storage, an offset, a shape and strides"});
            return;
        }
        TensorInfo info;
        info.name = path;
        info.bigEndian = m_bigEndian;
        for (const auto extent : size->items)
            info.shape.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(m_pickle[extent].integer, 0)));
        std::string_view type = m_pickle.global(id->items[1]);
        if (function == "torch._utils _rebuild_tensor_v3" && arguments->items.size() > 6)
            type = m_pickle.global(arguments->items[6]);
        const auto known = dtypeOf(type);
        info.dtype = dtypeByName(known);
        info.dtypeName = known.empty() ? std::string(type) : std::string(known);
        locate(info, *item(*id, 2), *item(*arguments, 1), *item(*arguments, 3));
        m_content->tensors.push_back(std::move(info));
    }

    void locate(TensorInfo &info, const PickleNode &key, const PickleNode &offset, const PickleNode &strides)
    {
        const auto member = m_members.find(m_folder + "data/" + (key.type == Type::Integer ? std::to_string(key.integer) : std::string(key.text)));
        if (member == m_members.end()) {
            m_problems.add({Errc::NotFound, "tensor \"" + info.name + "\" has no storage in the archive", m_pickleEntry,
                            m_folder + "data/" + toValidUtf8(key.text)});
            return;
        }
        const ZipEntry &entry = *member->second;
        if (!entry.isStored()) {
            m_problems.add({Errc::Unsupported, "the storage of tensor \"" + info.name + "\" is packed, which PyTorch never does", entry.header});
            return;
        }
        if (!isContiguous(info, strides)) {
            note(info.name, "not contiguous: its values are not read in place");
            return;
        }
        const auto bytes = storedBytes(info.dtype, info.shape);
        std::uint64_t begin = 0, end = 0;
        const auto first = static_cast<std::uint64_t>(std::max<std::int64_t>(offset.integer, 0));
        if (!info.dtype) {
            m_problems.add({Errc::Unsupported, "tensor \"" + info.name + "\" has an unknown type", m_pickleEntry, "", info.dtypeName});
        } else if (!bytes || __builtin_mul_overflow(first, std::uint64_t(info.dtype->blockBytes), &begin)
                   || __builtin_add_overflow(begin, *bytes, &end) || end > entry.packed.size()) {
            m_problems.add({Errc::Truncated, "tensor \"" + info.name + "\" leaves its storage", entry.packed,
                            info.shapeText() + ' ' + info.dtypeName + " from element " + std::to_string(first),
                            std::to_string(entry.packed.size()) + " bytes"});
        } else {
            info.bytes = {entry.packed.from + begin, entry.packed.from + end};
        }
    }

    bool isContiguous(const TensorInfo &info, const PickleNode &strides) const
    {
        if (strides.items.size() != info.shape.size())
            return false;
        std::uint64_t expected = 1;
        for (std::size_t i = info.shape.size(); i-- > 0;) {
            if (info.shape[i] != 1 && m_pickle[strides.items[i]].integer != static_cast<std::int64_t>(expected))
                return info.elements() == std::optional<std::uint64_t>(0);
            if (__builtin_mul_overflow(expected, std::max<std::uint64_t>(info.shape[i], 1), &expected))
                return false;
        }
        return true;
    }

    Kind kind() const
    {
        const auto name = fileNameOf(m_source->name());
        for (const std::string_view begin : {"optimizer", "scheduler", "rng_state", "training_args"}) {
            if (name.starts_with(begin))
                return Kind::Data;
        }
        return m_content->tensors.empty() ? Kind::Data : kindOfTensors(name, m_content->tensors);
    }

    std::string summary() const
    {
        if (!m_content->tensors.empty())
            return "PyTorch, " + tensorSummary(*m_content);
        return "PyTorch, no tensors" + (m_firstObject.empty() ? std::string() : ": an object of " + m_firstObject);
    }

    SourcePtr m_source;
    const Job &m_job;
    std::shared_ptr<TensorContent> m_content;
    Problems m_problems;
    std::unordered_map<std::string, const ZipEntry *> m_members;
    std::string m_folder, m_firstObject;
    Pickle m_pickle;
    ByteRange m_pickleEntry;
    std::uint64_t m_visits = 0;
    bool m_bigEndian = false, m_cut = false;
};

Result<Reading> openTorch(SourcePtr source, const Job &job)
{
    const auto head = source->readUpTo(0, oldMagic.size());
    if (!head)
        return head.error();
    if (looksLikeZip(*head))
        return TorchReader(std::move(source), job).read();
    const bool old = asText(*head) == oldMagic;
    const auto name = fileNameOf(source->name());
    const Kind kind = name.starts_with("adapter_model") ? Kind::AdapterFiles : old && name.find("model") != std::string_view::npos ? Kind::Weights : Kind::Data;
    Reading reading{kind, old ? "PyTorch checkpoint in the format before 1.6, not opened" : "Python pickle, not opened", nullptr, {}};
    reading.problems.push_back({Errc::Unsupported,
                                old ? "a PyTorch checkpoint in the pickle format used before version 1.6, which is not opened; "
                                      "a newer torch.save writes the one that is"
                                    : "a Python pickle, which is not opened: unpickling executes what it names",
                                ByteRange{0, std::min<std::uint64_t>(source->size(), oldMagic.size())}, "a zip archive", "a pickle"});
    return reading;
}

} // namespace

extern constinit const Reader reader_torch{"torch", "PyTorch checkpoint", sniffTorch, openTorch};

} // namespace prosector
