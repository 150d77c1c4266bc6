// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/templates/raised.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector::jinja {

/// How a template's text is cut up. The defaults are those of Transformers.
struct LexerOptions {
    bool trimBlocks = true;
    bool lstripBlocks = true;
    bool keepTrailingNewline = false;
};

/// Names as Jinja's lexer gives them; messages speak of them.
enum class TokenType : std::uint8_t {
    Data, VariableBegin, VariableEnd, BlockBegin, BlockEnd, Name, String, Integer, Float,
    Add, Assign, Colon, Comma, Div, Dot, Eq, FloorDiv, Gt, GtEq, LBrace, LBracket, LParen, Lt, LtEq, Mod, Mul, Ne,
    Pipe, Pow, RBrace, RBracket, RParen, Semicolon, Sub, Tilde,
    Eof,
    Failure, ///< what stands here cannot be read: raised when the parser arrives
};

/// "end of print statement", "+".
std::string_view describe(TokenType type);

struct Token {
    TokenType type = TokenType::Eof;
    std::string value; ///< decoded; digits of a number; the message of a failure
    std::uint32_t begin = 0, end = 0; ///< bytes of the source as given
};

/// Jinja's lexer: whitespace control, raw blocks, comments. Ends with Eof or Failure. Never raises.
std::vector<Token> tokenize(std::string_view source, const LexerOptions &options);

} // namespace prosector::jinja
