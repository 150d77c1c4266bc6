// SPDX-License-Identifier: GPL-3.0-or-later
// Expressions: the order of precedence is Jinja's, which is not Python's.
#include "models/templates/operators.h"
#include "models/templates/parserbase.h"
#include "models/templates/pystring.h"

#include <algorithm>
#include <charconv>

namespace prosector::jinja {

void ExpressionParser::fail(std::string message, std::uint32_t at, Exc type) const
{
    throw Raised{type, std::move(message), at, true};
}

/// What cannot be read is an error once the parser stands before it, as in Jinja.
void ExpressionParser::arrive() const
{
    if (at(TokenType::Failure))
        fail(current().value, current().begin);
}

const Token &ExpressionParser::next()
{
    const Token &token = m_tokens[m_at];
    if (m_at + 1 < m_tokens.size())
        ++m_at;
    arrive();
    return token;
}

bool ExpressionParser::skipIf(TokenType type)
{
    if (!at(type))
        return false;
    next();
    return true;
}

bool ExpressionParser::skipName(std::string_view name)
{
    if (!atName(name))
        return false;
    next();
    return true;
}

std::string ExpressionParser::describeToken(const Token &token)
{
    return token.type == TokenType::Name ? token.value : std::string(describe(token.type));
}

const Token &ExpressionParser::expect(TokenType type, std::string_view value)
{
    if (at(TokenTest{type, value}))
        return next();
    const std::string wanted = pythonRepr(value.empty() ? describe(type) : value);
    if (at(TokenType::Eof))
        fail("unexpected end of template, expected " + wanted + ".");
    fail("expected token " + wanted + ", got " + pythonRepr(describeToken(current())));
}

std::uint32_t ExpressionParser::addSite(std::uint32_t begin, std::uint32_t end, Site::Kind kind)
{
    m_tree.sites.push_back({begin, std::max(begin, end), kind});
    return static_cast<std::uint32_t>(m_tree.sites.size() - 1);
}

void ExpressionParser::enter()
{
    if (m_nesting > maxDepth)
        fail("expression nested more than " + std::to_string(maxDepth) + " levels deep", current().begin, Exc::RecursionError);
}

ExprPtr ExpressionParser::parseExpression(bool withCondition)
{
    ++m_nesting;
    enter();
    ExprPtr node = withCondition ? parseConditional() : parseOr();
    --m_nesting;
    return node;
}

ExprPtr ExpressionParser::parseConditional()
{
    ExprPtr node = parseOr();
    while (skipName("if")) {
        auto condition = std::make_unique<ConditionExpr>();
        condition->then = std::move(node);
        condition->test = parseOr();
        if (skipName("else"))
            condition->otherwise = parseExpression();
        const std::initializer_list<const Expr *> children{condition->then.get(), condition->test.get(), condition->otherwise.get()};
        const std::uint32_t begin = beginOf(*condition->then);
        node = placed(std::move(condition), begin, children);
    }
    return node;
}

ExprPtr ExpressionParser::binary(Expr::Kind kind, Operation operation, ExprPtr left, ExprPtr right)
{
    const std::initializer_list<const Expr *> children{left.get(), right.get()};
    const std::uint32_t begin = beginOf(*left);
    return placed(std::make_unique<BinaryExpr>(kind, operation, std::move(left), std::move(right)), begin, children);
}

ExprPtr ExpressionParser::parseOr()
{
    ExprPtr left = parseAnd();
    while (skipName("or"))
        left = binary(Expr::Kind::Or, Operation::Not, std::move(left), parseAnd());
    return left;
}

ExprPtr ExpressionParser::parseAnd()
{
    ExprPtr left = parseNot();
    while (skipName("and"))
        left = binary(Expr::Kind::And, Operation::Not, std::move(left), parseNot());
    return left;
}

ExprPtr ExpressionParser::parseNot()
{
    if (!atName("not"))
        return parseCompare();
    const std::uint32_t begin = next().begin;
    ++m_nesting;
    enter();
    ExprPtr operand = parseNot();
    --m_nesting;
    const Expr *const child = operand.get();
    return placed(std::make_unique<UnaryExpr>(Operation::Not, std::move(operand)), begin, {child});
}

ExprPtr ExpressionParser::parseCompare()
{
    ExprPtr left = parseMath1();
    std::unique_ptr<CompareExpr> node;
    for (;;) {
        Comparison comparison;
        switch (current().type) {
        case TokenType::Eq: comparison = Comparison::Equal; break;
        case TokenType::Ne: comparison = Comparison::NotEqual; break;
        case TokenType::Lt: comparison = Comparison::Less; break;
        case TokenType::LtEq: comparison = Comparison::LessEqual; break;
        case TokenType::Gt: comparison = Comparison::Greater; break;
        case TokenType::GtEq: comparison = Comparison::GreaterEqual; break;
        default:
            if (atName("in")) {
                comparison = Comparison::In;
            } else if (atName("not") && look().type == TokenType::Name && look().value == "in") {
                comparison = Comparison::NotIn;
                next();
            } else if (!node) {
                return left;
            } else {
                const std::uint32_t begin = beginOf(*node->left);
                node->depth = node->left->depth + 1;
                for (const CompareExpr::Operand &operand : node->operands)
                    node->depth = std::max(node->depth, operand.right->depth + 1);
                return placed(std::move(node), begin);
            }
        }
        next();
        if (!node) {
            node = std::make_unique<CompareExpr>();
            node->left = std::move(left);
        }
        node->operands.push_back({comparison, parseMath1()});
    }
}

ExprPtr ExpressionParser::parseMath1()
{
    ExprPtr left = parseConcat();
    while (at(TokenType::Add) || at(TokenType::Sub)) {
        const Operation operation = next().type == TokenType::Add ? Operation::Add : Operation::Subtract;
        left = binary(Expr::Kind::Binary, operation, std::move(left), parseConcat());
    }
    return left;
}

ExprPtr ExpressionParser::parseConcat()
{
    ExprPtr first = parseMath2();
    if (!at(TokenType::Tilde))
        return first;
    auto node = std::make_unique<ListExpr>(Expr::Kind::Concat);
    const std::uint32_t begin = beginOf(*first);
    node->items.push_back(std::move(first));
    while (skipIf(TokenType::Tilde))
        node->items.push_back(parseMath2());
    for (const ExprPtr &item : node->items)
        node->depth = std::max(node->depth, item->depth + 1);
    return placed(std::move(node), begin);
}

ExprPtr ExpressionParser::parseMath2()
{
    ExprPtr left = parsePower();
    for (;;) {
        Operation operation;
        switch (current().type) {
        case TokenType::Mul: operation = Operation::Multiply; break;
        case TokenType::Div: operation = Operation::Divide; break;
        case TokenType::FloorDiv: operation = Operation::FloorDivide; break;
        case TokenType::Mod: operation = Operation::Modulo; break;
        default: return left;
        }
        next();
        left = binary(Expr::Kind::Binary, operation, std::move(left), parsePower());
    }
}

ExprPtr ExpressionParser::parsePower()
{
    ExprPtr left = parseUnary();
    while (skipIf(TokenType::Pow))
        left = binary(Expr::Kind::Binary, Operation::Power, std::move(left), parseUnary());
    return left;
}

ExprPtr ExpressionParser::parseUnary(bool withFilter)
{
    ExprPtr node;
    if (at(TokenType::Sub) || at(TokenType::Add)) {
        const Token &sign = next();
        const Operation operation = sign.type == TokenType::Sub ? Operation::Negate : Operation::Plus;
        const std::uint32_t begin = sign.begin;
        ++m_nesting;
        enter();
        ExprPtr operand = parseUnary(false);
        --m_nesting;
        const Expr *const child = operand.get();
        node = placed(std::make_unique<UnaryExpr>(operation, std::move(operand)), begin, {child});
    } else {
        node = parsePrimary();
    }
    node = parsePostfix(std::move(node));
    return withFilter ? parseFilterExpression(std::move(node)) : std::move(node);
}

Var ExpressionParser::number(const Token &token)
{
    const std::string &digits = token.value;
    if (token.type == TokenType::Float) {
        double value = 0;
        const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return Var::real(parsed.ec == std::errc::result_out_of_range ? overflowed(digits) : value);
    }
    const char kind = digits.size() > 1 ? static_cast<char>(digits[1] | 0x20) : ' ';
    const int base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
    std::int64_t value = 0;
    const char *const begin = digits.data() + (base == 10 ? 0 : 2);
    if (std::from_chars(begin, digits.data() + digits.size(), value, base).ec == std::errc())
        return Var::integer(value);
    if (base != 10)
        fail("integer beyond 64 bits", token.begin, Exc::Unsupported);
    auto text = std::make_unique<Text>(digits);
    text->points = static_cast<std::int64_t>(digits.size());
    text->references = HeapObject::immortal;
    const Var made = Var::heap(Kind::BigInt, text.get());
    m_tree.constants.push_back(std::move(text));
    return made;
}

ExprPtr ExpressionParser::parseString()
{
    const std::uint32_t begin = current().begin;
    std::string value;
    while (at(TokenType::String))
        value += next().value;
    auto node = placed(std::make_unique<ConstExpr>(Expr::Kind::Const, Var()), begin);
    node->value = m_tree.constant(std::move(value), literalBit | node->site);
    return node;
}

ExprPtr ExpressionParser::parsePrimary(bool withNamespace)
{
    const Token token = current();
    switch (token.type) {
    case TokenType::Name: {
        next();
        const auto constant = [&](Var value) { return placed(std::make_unique<ConstExpr>(Expr::Kind::Const, std::move(value)), token.begin); };
        if (token.value == "true" || token.value == "True")
            return constant(Var::boolean(true));
        if (token.value == "false" || token.value == "False")
            return constant(Var::boolean(false));
        if (token.value == "none" || token.value == "None")
            return constant(Var::none());
        if (withNamespace && skipIf(TokenType::Dot)) {
            const std::string member = expect(TokenType::Name).value;
            return placed(std::make_unique<NamespaceMemberExpr>(token.value, member), token.begin);
        }
        return placed(std::make_unique<NameExpr>(token.value, NameExpr::Use::Load), token.begin);
    }
    case TokenType::String: return parseString();
    case TokenType::Integer:
    case TokenType::Float: {
        next();
        Var value = number(token);
        auto node = placed(std::make_unique<ConstExpr>(Expr::Kind::Const, std::move(value)), token.begin);
        node->value.setSource(literalBit | node->site);
        return node;
    }
    case TokenType::LParen: {
        next();
        TupleOptions options;
        options.explicitParentheses = true;
        ++m_nesting;
        enter();
        ExprPtr node = parseTuple(options);
        --m_nesting;
        expect(TokenType::RParen);
        return node;
    }
    case TokenType::LBracket: return parseList();
    case TokenType::LBrace: return parseDict();
    default: fail("unexpected " + pythonRepr(describeToken(token)), token.begin);
    }
}

ExprPtr ExpressionParser::parseTuple(const TupleOptions &options)
{
    std::vector<ExprPtr> items;
    bool isTuple = false;
    const std::uint32_t begin = current().begin;
    for (;;) {
        if (!items.empty())
            expect(TokenType::Comma);
        if (at(TokenType::VariableEnd) || at(TokenType::BlockEnd) || at(TokenType::RParen) || (options.extraEnd && at(*options.extraEnd)))
            break;
        items.push_back(options.simplified ? parsePrimary(options.withNamespace) : parseExpression(options.withCondition));
        if (!at(TokenType::Comma))
            break;
        isTuple = true;
    }
    if (!isTuple) {
        if (!items.empty())
            return std::move(items[0]);
        if (!options.explicitParentheses)
            fail("Expected an expression, got " + pythonRepr(describeToken(current())));
    }
    auto node = std::make_unique<ListExpr>(Expr::Kind::Tuple);
    node->items = std::move(items);
    for (const ExprPtr &item : node->items)
        node->depth = std::max(node->depth, item->depth + 1);
    return placed(std::move(node), begin);
}

ExprPtr ExpressionParser::parseList()
{
    const std::uint32_t begin = expect(TokenType::LBracket).begin;
    auto node = std::make_unique<ListExpr>(Expr::Kind::List);
    while (!at(TokenType::RBracket)) {
        if (!node->items.empty())
            expect(TokenType::Comma);
        if (at(TokenType::RBracket))
            break;
        node->items.push_back(parseExpression());
        node->depth = std::max(node->depth, node->items.back()->depth + 1);
    }
    expect(TokenType::RBracket);
    return placed(std::move(node), begin);
}

ExprPtr ExpressionParser::parseDict()
{
    const std::uint32_t begin = expect(TokenType::LBrace).begin;
    auto node = std::make_unique<DictExpr>();
    while (!at(TokenType::RBrace)) {
        if (!node->items.empty())
            expect(TokenType::Comma);
        if (at(TokenType::RBrace))
            break;
        ExprPtr key = parseExpression();
        expect(TokenType::Colon);
        ExprPtr value = parseExpression();
        node->depth = std::max({node->depth, key->depth + 1, value->depth + 1});
        node->items.emplace_back(std::move(key), std::move(value));
    }
    expect(TokenType::RBrace);
    return placed(std::move(node), begin);
}

} // namespace prosector::jinja
