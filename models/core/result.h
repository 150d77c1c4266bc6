// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/anchor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace prosector {

/// What kind of thing went wrong; the message says the rest.
enum class Errc : std::uint8_t {
    NotFound,    ///< the named file, member or key does not exist
    Unreadable,  ///< the system refused (permissions, I/O error)
    Truncated,   ///< fewer bytes than the format promises, or the file shrank while open
    Malformed,   ///< bytes that the format does not allow
    TooLarge,    ///< a limit that protects us (size, depth, ratio, count) was reached
    Unsupported, ///< valid, but a version or feature we do not read
    OutOfRange,  ///< an offset, index or id outside what it refers to
    Cancelled,   ///< the user stopped the job
    Usage,       ///< the caller asked for something impossible
    Internal,    ///< a defect of Prosector: something threw that should not have
};

std::string_view nameOf(Errc code);

/// One failure, told once. `where` is an anchor inside the artifact concerned
/// (`Whole` when the artifact as such is meant); `expected` and `found` are short phrases,
/// empty where they would add nothing.
struct Error {
    Errc code = Errc::Malformed;
    std::string message;
    Anchor where = Whole{};
    std::string expected{};
    std::string found{};

    bool operator==(const Error &) const = default;
};

/// "message (expected …, found …)" for people.
std::string describe(const Error &error);

/// A value or the reason why there is none. Never both, never neither.
template<class T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return m_state.index() == 0; }
    bool ok() const { return m_state.index() == 0; }

    T &value() & { return std::get<0>(m_state); }
    const T &value() const & { return std::get<0>(m_state); }
    T &&value() && { return std::get<0>(std::move(m_state)); }
    T &operator*() & { return value(); }
    const T &operator*() const & { return value(); }
    T &&operator*() && { return std::move(*this).value(); }
    T *operator->() { return &value(); }
    const T *operator->() const { return &value(); }

    const Error &error() const & { return std::get<1>(m_state); }
    Error &&error() && { return std::get<1>(std::move(m_state)); }

    T valueOr(T fallback) const & { return ok() ? value() : std::move(fallback); }

private:
    std::variant<T, Error> m_state;
};

template<>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : m_error(std::move(error)), m_ok(false) {}

    explicit operator bool() const { return m_ok; }
    bool ok() const { return m_ok; }
    const Error &error() const { return m_error; }

private:
    Error m_error;
    bool m_ok = true;
};

} // namespace prosector
