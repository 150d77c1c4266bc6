// SPDX-License-Identifier: GPL-3.0-or-later
// Expressions: what follows an operand (subscripts, calls, filters, tests), and what may be assigned to.
#include "models/templates/operators.h"
#include "models/templates/parserbase.h"
#include "models/templates/pystring.h"

#include <algorithm>

namespace prosector::jinja {

ExprPtr ExpressionParser::parsePostfix(ExprPtr node)
{
    for (;;) {
        if (at(TokenType::Dot) || at(TokenType::LBracket))
            node = parseSubscript(std::move(node));
        else if (at(TokenType::LParen))
            node = parseCall(std::move(node));
        else
            return node;
    }
}

ExprPtr ExpressionParser::parseFilterExpression(ExprPtr node)
{
    for (;;) {
        if (at(TokenType::Pipe))
            node = parseFilter(std::move(node));
        else if (atName("is"))
            node = parseTest(std::move(node));
        else if (at(TokenType::LParen))
            node = parseCall(std::move(node));
        else
            return node;
    }
}

ExprPtr ExpressionParser::parseSubscript(ExprPtr node)
{
    const std::uint32_t begin = beginOf(*node);
    const Expr *const object = node.get();
    if (next().type == TokenType::Dot) {
        const Token token = current();
        next();
        if (token.type == TokenType::Name) {
            auto made = placed(std::make_unique<AttributeExpr>(std::move(node), token.value), begin, {object});
            made->key = m_tree.constant(token.value, 0);
            return made;
        }
        if (token.type != TokenType::Integer)
            fail("expected name or number", token.begin);
        ExprPtr key = placed(std::make_unique<ConstExpr>(Expr::Kind::Const, number(token)), token.begin);
        return placed(std::make_unique<ItemExpr>(std::move(node), std::move(key)), begin, {object});
    }
    std::vector<ExprPtr> keys;
    const std::uint32_t keysBegin = current().begin;
    while (!at(TokenType::RBracket)) {
        if (!keys.empty())
            expect(TokenType::Comma);
        keys.push_back(parseSubscribed());
    }
    ExprPtr key;
    if (keys.size() == 1) {
        key = std::move(keys[0]);
    } else {
        auto tuple = std::make_unique<ListExpr>(Expr::Kind::Tuple);
        tuple->items = std::move(keys);
        for (const ExprPtr &item : tuple->items) {
            if (item->kind == Expr::Kind::Slice)
                fail("a slice among several subscripts", beginOf(*item), Exc::Unsupported);
            tuple->depth = std::max(tuple->depth, item->depth + 1);
        }
        key = placed(std::move(tuple), keysBegin);
    }
    expect(TokenType::RBracket);
    const Expr *const argument = key.get();
    return placed(std::make_unique<ItemExpr>(std::move(node), std::move(key)), begin, {object, argument});
}

ExprPtr ExpressionParser::parseSubscribed()
{
    const std::uint32_t begin = current().begin;
    ExprPtr start;
    if (!skipIf(TokenType::Colon)) {
        ExprPtr node = parseExpression();
        if (!skipIf(TokenType::Colon))
            return node;
        start = std::move(node);
    }
    auto slice = std::make_unique<SliceExpr>();
    slice->start = std::move(start);
    const auto atEnd = [this] { return at(TokenType::RBracket) || at(TokenType::Comma); };
    if (!at(TokenType::Colon) && !atEnd())
        slice->stop = parseExpression();
    if (skipIf(TokenType::Colon) && !atEnd())
        slice->step = parseExpression();
    const std::initializer_list<const Expr *> children{slice->start.get(), slice->stop.get(), slice->step.get()};
    return placed(std::move(slice), begin, children);
}

CallArguments ExpressionParser::parseCallArguments()
{
    const std::uint32_t begin = expect(TokenType::LParen).begin;
    CallArguments arguments;
    const auto ensure = [&](bool good) {
        if (!good)
            fail("invalid syntax for function call expression", begin);
    };
    bool comma = false;
    while (!at(TokenType::RParen)) {
        if (comma) {
            expect(TokenType::Comma);
            if (at(TokenType::RParen))
                break;
        }
        if (at(TokenType::Mul)) {
            ensure(!arguments.spread && !arguments.spreadNamed);
            next();
            arguments.spread = parseExpression();
        } else if (at(TokenType::Pow)) {
            ensure(!arguments.spreadNamed);
            next();
            arguments.spreadNamed = parseExpression();
        } else if (at(TokenType::Name) && look().type == TokenType::Assign) {
            ensure(!arguments.spreadNamed);
            std::string name = next().value;
            next();
            arguments.named.push_back({std::move(name), parseExpression()});
        } else {
            ensure(!arguments.spread && !arguments.spreadNamed && arguments.named.empty());
            arguments.positional.push_back(parseExpression());
        }
        comma = true;
    }
    expect(TokenType::RParen);
    return arguments;
}

void ExpressionParser::noteDepth(Expr &node, const CallArguments &arguments)
{
    const auto note = [&node](const ExprPtr &child) {
        if (child)
            node.depth = std::max(node.depth, child->depth + 1);
    };
    for (const ExprPtr &child : arguments.positional)
        note(child);
    for (const CallArguments::Named &child : arguments.named)
        note(child.value);
    note(arguments.spread);
    note(arguments.spreadNamed);
}

ExprPtr ExpressionParser::parseCall(ExprPtr node)
{
    auto call = std::make_unique<CallExpr>();
    call->callee = std::move(node);
    call->arguments = parseCallArguments();
    noteDepth(*call, call->arguments);
    const Expr *const callee = call->callee.get();
    const std::uint32_t begin = beginOf(*callee);
    return placed(std::move(call), begin, {callee});
}

ExprPtr ExpressionParser::parseFilter(ExprPtr node, bool startInline)
{
    while (at(TokenType::Pipe) || startInline) {
        if (!startInline)
            next();
        auto filter = std::make_unique<FilterExpr>();
        const std::uint32_t nameBegin = current().begin;
        filter->name = expect(TokenType::Name).value;
        while (skipIf(TokenType::Dot))
            filter->name += "." + expect(TokenType::Name).value;
        if (at(TokenType::LParen))
            filter->arguments = parseCallArguments();
        noteDepth(*filter, filter->arguments);
        filter->input = std::move(node);
        const Expr *const input = filter->input.get();
        node = placed(std::move(filter), input ? beginOf(*input) : nameBegin, {input});
        startInline = false;
    }
    return node;
}

ExprPtr ExpressionParser::parseTest(ExprPtr node)
{
    next();
    const bool negated = skipName("not");
    auto test = std::make_unique<TestExpr>();
    test->name = expect(TokenType::Name).value;
    while (skipIf(TokenType::Dot))
        test->name += "." + expect(TokenType::Name).value;
    const TokenType type = current().type;
    const bool operand = type == TokenType::Name || type == TokenType::String || type == TokenType::Integer || type == TokenType::Float
                         || type == TokenType::LBracket || type == TokenType::LBrace;
    if (at(TokenType::LParen)) {
        test->arguments = parseCallArguments();
    } else if (operand && !atName("else") && !atName("or") && !atName("and")) {
        if (atName("is"))
            fail("You cannot chain multiple tests with is");
        test->arguments.positional.push_back(parsePostfix(parsePrimary()));
    }
    noteDepth(*test, test->arguments);
    test->input = std::move(node);
    const Expr *const input = test->input.get();
    const std::uint32_t begin = beginOf(*input);
    ExprPtr made = placed(std::move(test), begin, {input});
    if (!negated)
        return made;
    const Expr *const child = made.get();
    return placed(std::make_unique<UnaryExpr>(Operation::Not, std::move(made)), begin, {child});
}

void ExpressionParser::setUse(Expr &target, NameExpr::Use use)
{
    const auto cannot = [&](std::string_view what) { fail("can't assign to '" + std::string(what) + "'", beginOf(target)); };
    switch (target.kind) {
    case Expr::Kind::Name: {
        static_cast<NameExpr &>(target).use = use;
        return;
    }
    case Expr::Kind::NamespaceMember: return;
    case Expr::Kind::Tuple:
        // Jinja names the whole target, whichever of its parts is wrong.
        for (const ExprPtr &item : static_cast<ListExpr &>(target).items) {
            const Expr::Kind kind = item->kind;
            if (kind != Expr::Kind::Name && kind != Expr::Kind::NamespaceMember && kind != Expr::Kind::Tuple)
                cannot("tuple");
            setUse(*item, use);
        }
        return;
    case Expr::Kind::Const: return cannot("const");
    case Expr::Kind::List: return cannot("list");
    case Expr::Kind::Dict: return cannot("dict");
    case Expr::Kind::Attribute: return cannot("getattr");
    case Expr::Kind::Item: return cannot("getitem");
    case Expr::Kind::Call: return cannot("call");
    case Expr::Kind::Filter: return cannot("filter");
    case Expr::Kind::Test: return cannot("test");
    case Expr::Kind::Compare: return cannot("compare");
    case Expr::Kind::Concat: return cannot("concat");
    case Expr::Kind::Condition: return cannot("condexpr");
    case Expr::Kind::And: return cannot("and");
    case Expr::Kind::Or: return cannot("or");
    default: return cannot("expression");
    }
}

ExprPtr ExpressionParser::parseAssignTarget(const TokenTest *extraEnd, bool withNamespace, NameExpr::Use use)
{
    TupleOptions options;
    options.simplified = true;
    options.extraEnd = extraEnd;
    options.withNamespace = withNamespace;
    ExprPtr target = parseTuple(options);
    setUse(*target, use);
    return target;
}

std::unique_ptr<NameExpr> ExpressionParser::parseNameTarget(NameExpr::Use use)
{
    const Token token = expect(TokenType::Name);
    if (token.value == "true" || token.value == "false" || token.value == "none" || token.value == "True" || token.value == "False"
        || token.value == "None")
        fail("can't assign to 'name'", token.begin);
    return placed(std::make_unique<NameExpr>(token.value, use), token.begin);
}

} // namespace prosector::jinja
