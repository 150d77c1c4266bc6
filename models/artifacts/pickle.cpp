// SPDX-License-Identifier: GPL-3.0-or-later
// Opcodes: Lib/pickletools.py of CPython.
#include "models/artifacts/pickle.h"

#include "models/core/hex.h"
#include "models/core/utf8.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <unordered_map>

namespace prosector {

namespace {

constexpr std::size_t maxNodes = 4'000'000;
using Type = PickleNode::Type;

class Machine {
public:
    Machine(Pickle &pickle, const Job &job) : m_pickle(pickle), m_text(pickle.bytes), m_job(job) {}

    Result<void> run()
    {
        for (std::uint64_t step = 0; !m_stopped; ++step) {
            if ((step & 4095) == 0 && m_job.cancelled())
                return Job::cancelledError();
            m_opcodeAt = m_at;
            if (m_at == m_text.size())
                fail(Errc::Truncated, "the pickle ends without STOP");
            else
                execute(static_cast<std::uint8_t>(m_text[m_at++]));
            if (m_pickle.nodes.size() > maxNodes || m_references > 4 * maxNodes)
                fail(Errc::TooLarge, "more than " + std::to_string(maxNodes) + " values in the pickle");
            if (m_error)
                return *m_error;
        }
        return {};
    }

private:
    void fail(Errc code, std::string message)
    {
        if (!m_error)
            m_error = Error{code, std::move(message), ByteRange{m_opcodeAt, m_at}};
    }

    // --- bytes ---
    std::string_view take(std::uint64_t count)
    {
        if (count > m_text.size() - m_at) {
            fail(Errc::Truncated, "the pickle ends inside an opcode");
            return {};
        }
        const auto part = m_text.substr(m_at, count);
        m_at += count;
        return part;
    }
    std::uint64_t number(std::size_t width)
    {
        const auto part = take(width);
        std::uint64_t value = 0;
        for (std::size_t i = part.size(); i-- > 0;)
            value = value << 8 | static_cast<unsigned char>(part[i]);
        return value;
    }
    std::string_view line()
    {
        const std::size_t end = m_text.find('\n', m_at);
        if (end == std::string_view::npos) {
            fail(Errc::Truncated, "the pickle ends inside a line");
            return {};
        }
        const auto part = m_text.substr(m_at, end - m_at);
        m_at = end + 1;
        return part;
    }

    // --- stack ---
    std::uint32_t make(PickleNode node)
    {
        m_references += node.items.size();
        m_pickle.nodes.push_back(std::move(node));
        return static_cast<std::uint32_t>(m_pickle.nodes.size() - 1);
    }
    void push(PickleNode node) { m_stack.push_back(make(std::move(node))); }
    void push(Type type, std::int64_t integer = 0) { push(PickleNode{.type = type, .integer = integer}); }
    void pushText(Type type, std::string_view text) { push(PickleNode{.type = type, .text = text}); }
    std::uint32_t pop()
    {
        const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
        if (m_stack.size() <= floor) {
            fail(Errc::Malformed, "the pickle takes a value from an empty stack");
            return make({});
        }
        const auto top = m_stack.back();
        m_stack.pop_back();
        return top;
    }
    std::vector<std::uint32_t> popToMark()
    {
        if (m_marks.empty()) {
            fail(Errc::Malformed, "the pickle goes back to a mark that is not there");
            return {};
        }
        const auto begin = m_stack.begin() + static_cast<std::ptrdiff_t>(m_marks.back());
        std::vector<std::uint32_t> items(begin, m_stack.end());
        m_stack.erase(begin, m_stack.end());
        m_marks.pop_back();
        return items;
    }
    std::vector<std::uint32_t> popMany(std::size_t count)
    {
        std::vector<std::uint32_t> items(count);
        for (std::size_t i = count; i-- > 0;)
            items[i] = pop();
        return items;
    }
    PickleNode *top()
    {
        if (m_stack.empty()) {
            fail(Errc::Malformed, "the pickle uses the top of an empty stack");
            return nullptr;
        }
        return &m_pickle.nodes[m_stack.back()];
    }
    void append(const std::vector<std::uint32_t> &items)
    {
        if (PickleNode *const target = top()) {
            m_references += items.size();
            target->items.insert(target->items.end(), items.begin(), items.end());
        }
    }
    void pushItems(Type type, std::vector<std::uint32_t> items) { push(PickleNode{.type = type, .items = std::move(items)}); }
    void pushGlobal(std::string_view module, std::string_view name)
    {
        push(Type::Global, static_cast<std::int64_t>(m_pickle.globals.size()));
        m_pickle.globals.push_back(std::string(module) + ' ' + std::string(name));
    }
    void put(std::uint64_t key)
    {
        if (m_stack.empty())
            fail(Errc::Malformed, "the pickle remembers the top of an empty stack");
        else
            m_memo[key] = m_stack.back();
    }
    void get(std::uint64_t key)
    {
        const auto it = m_memo.find(key);
        if (it == m_memo.end())
            fail(Errc::Malformed, "the pickle recalls value " + std::to_string(key) + ", which it never stored");
        else
            m_stack.push_back(it->second);
    }
    std::uint64_t lineNumber()
    {
        const auto text = line();
        std::uint64_t value = 0;
        if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
            fail(Errc::Malformed, "no number where the pickle needs one");
        return value;
    }

    /// function(*arguments): only what merely wraps data is looked through.
    void reduce()
    {
        const auto arguments = pop(), function = pop();
        const auto name = m_pickle.global(function);
        const auto &items = m_pickle[arguments].items;
        if (name == "collections OrderedDict" || name == "builtins dict" || name == "__builtin__ dict") {
            PickleNode dict{.type = Type::Dict};
            if (items.size() == 1) { // a list of pairs
                for (const auto pair : m_pickle[items[0]].items) {
                    const auto &both = m_pickle[pair].items;
                    if (both.size() == 2)
                        dict.items.insert(dict.items.end(), both.begin(), both.end());
                }
            }
            push(std::move(dict));
        } else if ((name == "torch Size" || name == "builtins list" || name == "builtins tuple") && items.size() == 1) {
            m_stack.push_back(items[0]);
        } else if ((name == "torch._utils _rebuild_parameter" || name == "torch._utils _rebuild_parameter_with_state") && !items.empty()) {
            m_stack.push_back(items[0]);
        } else {
            pushItems(Type::Opaque, {function, arguments});
        }
    }

    void integer(std::string_view digits)
    {
        while (!digits.empty() && (digits.back() == 'L' || digits.back() == '\r'))
            digits.remove_suffix(1);
        std::int64_t value = 0;
        if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc::invalid_argument)
            fail(Errc::Malformed, "no number where the pickle needs one");
        push(Type::Integer, value);
    }
    void longInteger(std::uint64_t width)
    {
        const auto part = take(width);
        std::uint64_t value = !part.empty() && (part.back() & '\x80') ? UINT64_MAX : 0;
        if (part.size() > 8)
            value = 0;
        else
            for (std::size_t i = part.size(); i-- > 0;)
                value = value << 8 | static_cast<unsigned char>(part[i]);
        push(Type::Integer, static_cast<std::int64_t>(value));
    }
    void real()
    {
        const auto part = take(8);
        std::uint64_t bits = 0;
        for (const char c : part)
            bits = bits << 8 | static_cast<unsigned char>(c);
        push(PickleNode{.type = Type::Float, .real = std::bit_cast<double>(bits)});
    }

    void execute(std::uint8_t opcode)
    {
        switch (opcode) {
        case 0x80: number(1); break;                     // PROTO
        case 0x95: number(8); break;                     // FRAME
        case '.':                                        // STOP
            m_pickle.root = pop();
            m_stopped = true;
            break;
        case '(': m_marks.push_back(m_stack.size()); break;
        case '0':                                        // POP
            if (!m_marks.empty() && m_marks.back() == m_stack.size())
                m_marks.pop_back();
            else
                pop();
            break;
        case '1': popToMark(); break;                    // POP_MARK
        case '2':                                        // DUP
            if (top())
                m_stack.push_back(m_stack.back());
            break;
        case 'N': push(Type::None); break;
        case 0x88: push(Type::Boolean, 1); break;
        case 0x89: push(Type::Boolean, 0); break;
        case 'I': {                                      // INT, also protocol 0's booleans
            const auto text = line();
            if (text == "00" || text == "01")
                push(Type::Boolean, text == "01");
            else
                integer(text);
            break;
        }
        case 'L': integer(line()); break;
        case 'J': push(Type::Integer, static_cast<std::int32_t>(number(4))); break;
        case 'K': push(Type::Integer, static_cast<std::int64_t>(number(1))); break;
        case 'M': push(Type::Integer, static_cast<std::int64_t>(number(2))); break;
        case 0x8A: longInteger(number(1)); break;
        case 0x8B: longInteger(number(4)); break;
        case 'F': {
            const auto text = line();
            PickleNode node{.type = Type::Float};
            std::from_chars(text.data(), text.data() + text.size(), node.real);
            push(std::move(node));
            break;
        }
        case 'G': real(); break;
        case 'S':
        case 'V': pushText(Type::String, line()); break;
        case 'T': pushText(Type::String, take(number(4))); break;
        case 'U': pushText(Type::String, take(number(1))); break;
        case 'X': pushText(Type::String, take(number(4))); break;
        case 0x8C: pushText(Type::String, take(number(1))); break;
        case 0x8D: pushText(Type::String, take(number(8))); break;
        case 'B': pushText(Type::Bytes, take(number(4))); break;
        case 'C': pushText(Type::Bytes, take(number(1))); break;
        case 0x8E:
        case 0x96: pushText(Type::Bytes, take(number(8))); break;
        case ')': push(Type::Tuple); break;
        case 't': pushItems(Type::Tuple, popToMark()); break;
        case 0x85: pushItems(Type::Tuple, popMany(1)); break;
        case 0x86: pushItems(Type::Tuple, popMany(2)); break;
        case 0x87: pushItems(Type::Tuple, popMany(3)); break;
        case ']': push(Type::List); break;
        case 'l': pushItems(Type::List, popToMark()); break;
        case 'a': append({pop()}); break;
        case 'e':
        case 'u':
        case 0x90: append(popToMark()); break;           // APPENDS, SETITEMS, ADDITEMS
        case 's': append(popMany(2)); break;             // SETITEM
        case '}': push(Type::Dict); break;
        case 'd': pushItems(Type::Dict, popToMark()); break;
        case 0x8F: push(Type::Set); break;
        case 0x91: pushItems(Type::Set, popToMark()); break;
        case 'c': {
            const auto module = line();
            pushGlobal(module, line());
            break;
        }
        case 0x93: {                                     // STACK_GLOBAL
            const auto name = pop(), module = pop();
            pushGlobal(m_pickle[module].text, m_pickle[name].text);
            break;
        }
        case 'R': reduce(); break;
        case 0x81: pushItems(Type::Opaque, popMany(2)); break; // NEWOBJ
        case 0x92: pushItems(Type::Opaque, popMany(3)); break; // NEWOBJ_EX
        case 'b': {                                      // BUILD
            const auto state = pop();
            if (PickleNode *const target = top(); target && target->type == Type::Opaque)
                append({state});
            break;
        }
        case 'o': pushItems(Type::Opaque, popToMark()); break;
        case 'i': {
            const auto module = line();
            const auto name = line();
            auto items = popToMark();
            pushGlobal(module, name);
            items.insert(items.begin(), pop());
            pushItems(Type::Opaque, std::move(items));
            break;
        }
        case 'p': put(lineNumber()); break;
        case 'q': put(number(1)); break;
        case 'r': put(number(4)); break;
        case 0x94: put(m_memo.size()); break;
        case 'g': get(lineNumber()); break;
        case 'h': get(number(1)); break;
        case 'j': get(number(4)); break;
        case 'P': {
            pushText(Type::String, line());
            pushItems(Type::Persistent, {pop()});
            break;
        }
        case 'Q': pushItems(Type::Persistent, popMany(1)); break;
        default:
            fail(Errc::Unsupported, "pickle opcode 0x" + upperHex(opcode) + " is not followed");
        }
    }

    Pickle &m_pickle;
    std::string_view m_text;
    const Job &m_job;
    std::size_t m_at = 0, m_opcodeAt = 0, m_references = 0;
    bool m_stopped = false;
    std::vector<std::uint32_t> m_stack;
    std::vector<std::size_t> m_marks;
    std::unordered_map<std::uint64_t, std::uint32_t> m_memo;
    std::optional<Error> m_error;
};

} // namespace

std::string_view Pickle::global(std::uint32_t index) const
{
    const PickleNode &node = nodes[index];
    return node.type == Type::Global ? std::string_view(globals[static_cast<std::size_t>(node.integer)]) : std::string_view();
}

Result<Pickle> readPickle(std::string bytes, const Job &job)
{
    Pickle pickle;
    pickle.bytes = std::move(bytes);
    const auto done = Machine(pickle, job).run();
    if (!done)
        return done.error();
    return pickle;
}

} // namespace prosector
