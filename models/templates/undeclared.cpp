// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/undeclared.h"

#include "models/templates/walk.h"

#include <algorithm>

namespace prosector::jinja {

namespace {

class Finder {
public:
    explicit Finder(std::vector<std::string> names) : m_names(std::move(names)) {}

    void visit(const Body &body)
    {
        for (const StmtPtr &statement : body) {
            if (statement->kind != Stmt::Kind::Block)
                eachChild(*statement, [this](const ExprPtr &e) { visit(*e); }, [this](const Body &b) { visit(b); },
                          [this](const NameExpr &n) { visit(n); });
        }
    }

    std::vector<std::string> found;

private:
    void visit(const Expr &expr)
    {
        if (expr.kind == Expr::Kind::Name)
            return visit(static_cast<const NameExpr &>(expr));
        eachChild(expr, [this](const ExprPtr &child) { visit(*child); });
    }

    void visit(const NameExpr &name)
    {
        const auto it = std::find(m_names.begin(), m_names.end(), name.name);
        if (it == m_names.end())
            return;
        if (name.use == NameExpr::Use::Load && std::find(found.begin(), found.end(), name.name) == found.end())
            found.push_back(name.name);
        else if (name.use != NameExpr::Use::Load)
            m_names.erase(it);
    }

    std::vector<std::string> m_names;
};

/// Looks through everything inside, blocks too.
class Searcher {
public:
    std::uint32_t loopSite = 0;
    bool scopedBlock = false;

    void visit(const Stmt &statement)
    {
        if (statement.kind == Stmt::Kind::Block && static_cast<const BlockStmt &>(statement).scoped)
            scopedBlock = true;
        eachChild(statement, [this](const ExprPtr &e) { visit(*e); },
                  [this](const Body &body) {
                      for (const StmtPtr &inner : body)
                          visit(*inner);
                  },
                  [](const NameExpr &) {});
    }

private:
    void visit(const Expr &expr)
    {
        if (expr.kind == Expr::Kind::Name) {
            const auto &name = static_cast<const NameExpr &>(expr);
            if (name.use == NameExpr::Use::Store && name.name == "loop" && loopSite == 0)
                loopSite = name.site;
            return;
        }
        eachChild(expr, [this](const ExprPtr &child) { visit(*child); });
    }
};

} // namespace

std::vector<std::string> undeclared(const Body &body, std::vector<std::string> names)
{
    Finder finder(std::move(names));
    finder.visit(body);
    return std::move(finder.found);
}

std::uint32_t loopAssignment(const ForStmt &loop)
{
    Searcher searcher;
    searcher.visit(loop);
    return searcher.loopSite;
}

bool hasScopedBlock(const ForStmt &loop)
{
    Searcher searcher;
    searcher.visit(loop);
    return searcher.scopedBlock;
}

} // namespace prosector::jinja
