// SPDX-License-Identifier: GPL-3.0-or-later
// Statements.
#include "models/templates/parser.h"

#include "models/templates/parserbase.h"
#include "models/templates/pystring.h"

#include <algorithm>

namespace prosector::jinja {

Var Tree::constant(std::string text, SourceId source)
{
    auto object = std::make_unique<Text>(std::move(text));
    object->points = codePointCount(object->bytes);
    object->references = HeapObject::immortal;
    Var made = Var::heap(Kind::String, object.get());
    made.setSource(source);
    constants.push_back(std::move(object));
    return made;
}

namespace {

using EndTags = std::vector<std::string_view>;

class Parser : ExpressionParser {
public:
    using ExpressionParser::ExpressionParser;

    void parseTemplate() { tree().body = parseBody(nullptr); }

private:
    static constexpr std::size_t maxStatements = 100; // Python refuses deeper nesting than about this

    void failTag(const std::string *name, std::vector<EndTags> ends, std::uint32_t where) const
    {
        std::string message = name ? "Encountered unknown tag " + pythonRepr(*name) + "." : "Unexpected end of template.";
        if (!ends.empty()) {
            std::string looking;
            for (const std::string_view tag : ends.back())
                looking += (looking.empty() ? "" : " or ") + pythonRepr(tag);
            const bool expected = name && std::any_of(ends.begin(), ends.end(), [name](const EndTags &tags) {
                return std::find(tags.begin(), tags.end(), *name) != tags.end();
            });
            message += expected ? " You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for " + looking + "."
                                : " Jinja was looking for the following tags: " + looking + ".";
        }
        if (!m_tags.empty())
            message += " The innermost block that needs to be closed is " + pythonRepr(m_tags.back()) + ".";
        fail(std::move(message), where);
    }

    /// Text, prints and statements, until one of the end tags; at it, if there is one.
    Body parseBody(const EndTags *ends)
    {
        Body body;
        std::unique_ptr<OutputStmt> output;
        const auto flush = [&] {
            if (output) {
                tree().sites[output->site].end = lastEnd();
                body.push_back(std::move(output));
            }
        };
        const auto print = [&](ExprPtr child, std::uint32_t begin) {
            if (!output) {
                output = std::make_unique<OutputStmt>();
                output->site = addSite(begin, begin, Site::Kind::Statement);
            }
            output->children.push_back(std::move(child));
        };
        if (ends)
            m_ends.push_back(*ends);
        while (!at(TokenType::Eof)) {
            const std::uint32_t begin = current().begin;
            if (at(TokenType::Data)) {
                const Token &token = next();
                auto text = std::make_unique<ConstExpr>(Expr::Kind::Text, Var());
                text->site = addSite(token.begin, token.end, Site::Kind::Text);
                text->value = tree().constant(token.value, literalBit | text->site);
                print(std::move(text), begin);
            } else if (at(TokenType::VariableBegin)) {
                next();
                ExprPtr expression = parseTuple();
                expect(TokenType::VariableEnd);
                tree().sites[expression->site].kind = Site::Kind::Print;
                print(std::move(expression), begin);
            } else {
                flush();
                next();
                if (ends && at(TokenType::Name) && std::find(ends->begin(), ends->end(), current().value) != ends->end()) {
                    m_ends.pop_back();
                    return body;
                }
                if (StmtPtr statement = parseStatement(begin))
                    body.push_back(std::move(statement));
                expect(TokenType::BlockEnd);
            }
        }
        flush();
        if (ends)
            m_ends.pop_back();
        return body;
    }

    /// The body of a statement, from the end of its tag to one of the end tags, which stays current.
    Body parseStatements(const EndTags &ends)
    {
        skipIf(TokenType::Colon);
        expect(TokenType::BlockEnd);
        Body body = parseBody(&ends);
        if (at(TokenType::Eof)) {
            std::vector<EndTags> all = m_ends;
            all.push_back(ends);
            failTag(nullptr, std::move(all), current().begin);
        }
        return body;
    }

    Body parseStatementsAndEnd(std::string_view end)
    {
        Body body = parseStatements({end});
        next();
        return body;
    }

    StmtPtr parseStatement(std::uint32_t begin)
    {
        if (!at(TokenType::Name))
            fail("tag name expected");
        struct Row {
            std::string_view tag;
            StmtPtr (Parser::*parse)();
        };
        static constexpr Row rows[] = {
            {"for", &Parser::parseFor},           {"if", &Parser::parseIf},
            {"block", &Parser::parseBlock},       {"extends", &Parser::parseExtends},
            {"print", &Parser::parsePrint},       {"macro", &Parser::parseMacro},
            {"include", &Parser::parseInclude},   {"from", &Parser::parseFrom},
            {"import", &Parser::parseImport},     {"set", &Parser::parseSet},
            {"with", &Parser::parseWith},         {"autoescape", &Parser::parseAutoescape},
            {"call", &Parser::parseCallBlock},    {"filter", &Parser::parseFilterBlock},
            {"break", &Parser::parseBreak},       {"continue", &Parser::parseContinue},
            {"generation", &Parser::parseGeneration},
        };
        const Token token = current();
        for (const Row &row : rows) {
            if (row.tag != token.value)
                continue;
            m_tags.push_back(token.value);
            if (m_tags.size() > maxStatements)
                fail("statements nested more than " + std::to_string(maxStatements) + " levels deep", begin, Exc::RecursionError);
            const std::uint32_t site = addSite(begin, begin, Site::Kind::Statement);
            StmtPtr statement = (this->*row.parse)();
            statement->site = site;
            tree().sites[site].end = std::max(lastEnd(), current().end);
            m_tags.pop_back();
            return statement;
        }
        failTag(&token.value, m_ends, token.begin);
        return nullptr;
    }

    StmtPtr parseFor()
    {
        static constexpr TokenTest in{TokenType::Name, "in"}, recursive{TokenType::Name, "recursive"};
        auto node = std::make_unique<ForStmt>();
        next();
        node->target = parseAssignTarget(&in, false, NameExpr::Use::Store);
        expect(TokenType::Name, "in");
        TupleOptions options;
        options.withCondition = false;
        options.extraEnd = &recursive;
        node->iterable = parseTuple(options);
        if (skipName("if"))
            node->test = parseExpression();
        node->recursive = skipName("recursive");
        node->body = parseStatements({"endfor", "else"});
        if (next().value == "else")
            node->otherwise = parseStatementsAndEnd("endfor");
        return node;
    }

    StmtPtr parseIf()
    {
        auto node = std::make_unique<IfStmt>();
        next();
        for (;;) {
            IfStmt::Branch branch;
            TupleOptions options;
            options.withCondition = false;
            branch.test = parseTuple(options);
            branch.body = parseStatements({"elif", "else", "endif"});
            node->branches.push_back(std::move(branch));
            const std::string tag = next().value;
            if (tag == "elif")
                continue;
            if (tag == "else")
                node->otherwise = parseStatementsAndEnd("endif");
            return node;
        }
    }

    StmtPtr parseSet()
    {
        next();
        ExprPtr target = parseAssignTarget(nullptr, true, NameExpr::Use::Store);
        if (skipIf(TokenType::Assign)) {
            auto node = std::make_unique<AssignStmt>();
            node->target = std::move(target);
            node->value = parseTuple();
            collectMembers(*node->target, node->members);
            return node;
        }
        auto node = std::make_unique<AssignBlockStmt>();
        node->target = std::move(target);
        node->filter = parseFilter(nullptr);
        node->body = parseStatementsAndEnd("endset");
        return node;
    }

    static void collectMembers(const Expr &target, std::vector<const NamespaceMemberExpr *> &members)
    {
        if (target.kind == Expr::Kind::NamespaceMember) {
            members.push_back(static_cast<const NamespaceMemberExpr *>(&target));
        } else if (target.kind == Expr::Kind::Tuple) {
            for (const ExprPtr &item : static_cast<const ListExpr &>(target).items)
                collectMembers(*item, members);
        }
    }

    StmtPtr parseWith()
    {
        auto node = std::make_unique<WithStmt>();
        next();
        while (!at(TokenType::BlockEnd)) {
            if (!node->targets.empty())
                expect(TokenType::Comma);
            node->targets.push_back(parseAssignTarget(nullptr, false, NameExpr::Use::Parameter));
            expect(TokenType::Assign);
            node->values.push_back(parseExpression());
        }
        node->body = parseStatementsAndEnd("endwith");
        return node;
    }

    StmtPtr parseAutoescape()
    {
        const std::uint32_t begin = next().begin;
        const ExprPtr value = parseExpression();
        if (value->kind != Expr::Kind::Const || !static_cast<const ConstExpr &>(*value).value.isBool()
            || static_cast<const ConstExpr &>(*value).value.asBool())
            fail("autoescape other than false is not supported", begin, Exc::Unsupported);
        auto node = std::make_unique<ScopeStmt>();
        node->body = parseStatementsAndEnd("endautoescape");
        return node;
    }

    StmtPtr parseBlock()
    {
        auto node = std::make_unique<BlockStmt>();
        const std::uint32_t begin = next().begin;
        node->name = expect(TokenType::Name).value;
        node->scoped = skipName("scoped");
        node->required = skipName("required");
        if (at(TokenType::Sub))
            fail("Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.");
        node->body = parseStatementsAndEnd("endblock");
        if (node->required && !isBlank(node->body))
            fail("Required blocks can only contain comments or whitespace");
        skipName(node->name);
        if (!tree().blocks.emplace(node->name, node.get()).second)
            fail("block " + pythonRepr(node->name) + " defined twice", begin, Exc::TemplateAssertionError);
        return node;
    }

    static bool isBlank(const Body &body)
    {
        for (const StmtPtr &statement : body) {
            if (statement->kind != Stmt::Kind::Output)
                return false;
            for (const ExprPtr &child : static_cast<const OutputStmt &>(*statement).children) {
                if (child->kind != Expr::Kind::Text || !isSpaceText(static_cast<const ConstExpr &>(*child).value.view()))
                    return false;
            }
        }
        return true;
    }

    StmtPtr parseExtends()
    {
        auto node = std::make_unique<LoadStmt>();
        next();
        node->source = parseExpression();
        return node;
    }

    void parseContext()
    {
        if ((atName("with") || atName("without")) && look().type == TokenType::Name && look().value == "context") {
            next();
            next();
        }
    }

    StmtPtr parseInclude()
    {
        auto node = std::make_unique<LoadStmt>();
        next();
        node->source = parseExpression();
        if (atName("ignore") && look().type == TokenType::Name && look().value == "missing") {
            next();
            next();
        }
        parseContext();
        return node;
    }

    StmtPtr parseImport()
    {
        auto node = std::make_unique<LoadStmt>();
        next();
        node->source = parseExpression();
        expect(TokenType::Name, "as");
        node->targets.push_back(parseNameTarget(NameExpr::Use::Store)->name);
        parseContext();
        return node;
    }

    StmtPtr parseFrom()
    {
        auto node = std::make_unique<LoadStmt>();
        next();
        node->source = parseExpression();
        expect(TokenType::Name, "import");
        for (;;) {
            if (!node->targets.empty())
                expect(TokenType::Comma);
            const std::uint32_t begin = current().begin;
            if (!at(TokenType::Name))
                expect(TokenType::Name);
            if ((atName("with") || atName("without")) && look().type == TokenType::Name && look().value == "context") {
                parseContext();
                break;
            }
            std::string name = parseNameTarget(NameExpr::Use::Store)->name;
            if (name.starts_with('_'))
                fail("names starting with an underline can not be imported", begin, Exc::TemplateAssertionError);
            if (skipName("as"))
                name = parseNameTarget(NameExpr::Use::Store)->name;
            node->targets.push_back(std::move(name));
            if ((atName("with") || atName("without")) && look().type == TokenType::Name && look().value == "context") {
                parseContext();
                break;
            }
            if (!at(TokenType::Comma))
                break;
        }
        return node;
    }

    StmtPtr parsePrint()
    {
        auto node = std::make_unique<OutputStmt>();
        next();
        while (!at(TokenType::BlockEnd)) {
            if (!node->children.empty())
                expect(TokenType::Comma);
            node->children.push_back(parseExpression());
            tree().sites[node->children.back()->site].kind = Site::Kind::Print;
        }
        return node;
    }

    void parseSignature(MacroBody &macro)
    {
        expect(TokenType::LParen);
        while (!at(TokenType::RParen)) {
            if (!macro.parameters.empty())
                expect(TokenType::Comma);
            auto parameter = parseNameTarget(NameExpr::Use::Parameter);
            if (skipIf(TokenType::Assign))
                macro.defaults.push_back(parseExpression());
            else if (!macro.defaults.empty())
                fail("non-default argument follows default argument");
            for (const auto &other : macro.parameters) {
                if (other->name == parameter->name)
                    fail("duplicate argument '" + parameter->name + "' in function definition", tree().sites[parameter->site].begin,
                         Exc::SyntaxError);
            }
            macro.parameters.push_back(std::move(parameter));
        }
        expect(TokenType::RParen);
    }

    StmtPtr parseMacro()
    {
        auto node = std::make_unique<MacroStmt>();
        next();
        node->name = parseNameTarget(NameExpr::Use::Store)->name;
        parseSignature(node->macro);
        node->macro.body = parseStatementsAndEnd("endmacro");
        return node;
    }

    StmtPtr parseCallBlock()
    {
        auto node = std::make_unique<CallBlockStmt>();
        const std::uint32_t begin = next().begin;
        if (at(TokenType::LParen))
            parseSignature(node->macro);
        ExprPtr call = parseExpression();
        if (call->kind != Expr::Kind::Call)
            fail("expected call", begin);
        node->call.reset(static_cast<CallExpr *>(call.release()));
        node->macro.body = parseStatementsAndEnd("endcall");
        return node;
    }

    StmtPtr parseGeneration()
    {
        auto node = std::make_unique<CallBlockStmt>();
        next();
        node->macro.body = parseStatementsAndEnd("endgeneration");
        return node;
    }

    StmtPtr parseFilterBlock()
    {
        auto node = std::make_unique<FilterBlockStmt>();
        next();
        node->filter = parseFilter(nullptr, true);
        node->body = parseStatementsAndEnd("endfilter");
        return node;
    }

    StmtPtr parseBreak()
    {
        next();
        return std::make_unique<SimpleStmt>(Stmt::Kind::Break);
    }

    StmtPtr parseContinue()
    {
        next();
        return std::make_unique<SimpleStmt>(Stmt::Kind::Continue);
    }

    std::vector<std::string> m_tags;
    std::vector<EndTags> m_ends;
};

} // namespace

std::unique_ptr<Tree> parseTree(std::string_view source, const LexerOptions &options)
{
    auto tree = std::make_unique<Tree>();
    Parser(tokenize(source, options), *tree).parseTemplate();
    return tree;
}

} // namespace prosector::jinja
