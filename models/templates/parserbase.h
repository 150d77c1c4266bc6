// SPDX-License-Identifier: GPL-3.0-or-later
// What the two halves of the parser share: the tokens, the sites, the expressions.
#pragma once

#include "models/templates/lexer.h"
#include "models/templates/nodes.h"

#include <initializer_list>

namespace prosector::jinja {

/// A place in the token stream to test for: "name:endfor" of Jinja, typed.
struct TokenTest {
    TokenType type;
    std::string_view value = {};
};

class ExpressionParser {
public:
    /// Deeper trees are refused: Python's own compiler refuses them earlier.
    static constexpr std::uint32_t maxDepth = 250;

    ExpressionParser(std::vector<Token> tokens, Tree &tree) : m_tokens(std::move(tokens)), m_tree(tree) { arrive(); }

protected:
    const Token &current() const { return m_tokens[m_at]; }
    const Token &look() const { return m_tokens[std::min(m_at + 1, m_tokens.size() - 1)]; }
    bool at(TokenType type) const { return current().type == type; }
    bool atName(std::string_view name) const { return at(TokenType::Name) && current().value == name; }
    bool at(const TokenTest &test) const { return at(test.type) && (test.value.empty() || current().value == test.value); }
    const Token &next();
    bool skipIf(TokenType type);
    bool skipName(std::string_view name);
    const Token &expect(TokenType type, std::string_view value = {});
    [[noreturn]] void fail(std::string message, std::uint32_t at, Exc type = Exc::TemplateSyntaxError) const;
    [[noreturn]] void fail(std::string message) const { fail(std::move(message), current().begin); }
    static std::string describeToken(const Token &token);

    std::uint32_t addSite(std::uint32_t begin, std::uint32_t end, Site::Kind kind);
    std::uint32_t lastEnd() const { return m_at == 0 ? 0 : m_tokens[m_at - 1].end; }
    /// Gives a node its place, from `begin` to the last token read, and its depth.
    template<class T>
    std::unique_ptr<T> placed(std::unique_ptr<T> node, std::uint32_t begin, std::initializer_list<const Expr *> children = {});

    ExprPtr parseExpression(bool withCondition = true);
    ExprPtr parsePrimary(bool withNamespace = false);
    struct TupleOptions {
        bool simplified = false, withCondition = true, explicitParentheses = false, withNamespace = false;
        const TokenTest *extraEnd = nullptr;
    };
    ExprPtr parseTuple(const TupleOptions &options);
    ExprPtr parseTuple() { return parseTuple(TupleOptions{}); }
    ExprPtr parseFilter(ExprPtr node, bool startInline = false);
    ExprPtr parseAssignTarget(const TokenTest *extraEnd, bool withNamespace, NameExpr::Use use);
    std::unique_ptr<NameExpr> parseNameTarget(NameExpr::Use use);

    Tree &tree() { return m_tree; }

private:
    void arrive() const;
    void enter();
    std::uint32_t beginOf(const Expr &node) const { return m_tree.sites[node.site].begin; }
    ExprPtr parseConditional();
    ExprPtr parseOr();
    ExprPtr parseAnd();
    ExprPtr parseNot();
    ExprPtr parseCompare();
    ExprPtr parseMath1();
    ExprPtr parseConcat();
    ExprPtr parseMath2();
    ExprPtr parsePower();
    ExprPtr parseUnary(bool withFilter = true);
    ExprPtr parsePostfix(ExprPtr node);
    ExprPtr parseFilterExpression(ExprPtr node);
    ExprPtr parseSubscript(ExprPtr node);
    ExprPtr parseSubscribed();
    ExprPtr parseCall(ExprPtr node);
    ExprPtr parseTest(ExprPtr node);
    ExprPtr parseList();
    ExprPtr parseDict();
    ExprPtr parseString();
    Var number(const Token &token);
    CallArguments parseCallArguments();
    static void noteDepth(Expr &node, const CallArguments &arguments);
    ExprPtr binary(Expr::Kind kind, Operation operation, ExprPtr left, ExprPtr right);
    void setUse(Expr &target, NameExpr::Use use);

    std::vector<Token> m_tokens;
    std::size_t m_at = 0;
    std::uint32_t m_nesting = 0;
    Tree &m_tree;
};

template<class T>
std::unique_ptr<T> ExpressionParser::placed(std::unique_ptr<T> node, std::uint32_t begin, std::initializer_list<const Expr *> children)
{
    for (const Expr *const child : children) {
        if (child)
            node->depth = std::max(node->depth, child->depth + 1);
    }
    if (node->depth > maxDepth)
        fail("expression nested more than " + std::to_string(maxDepth) + " levels deep", begin, Exc::RecursionError);
    node->site = addSite(begin, lastEnd(), Site::Kind::Expression);
    return node;
}

} // namespace prosector::jinja
