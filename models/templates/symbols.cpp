// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/symbols.h"

#include "models/templates/walk.h"

namespace prosector::jinja {

std::uint32_t NameTable::number(const std::string &name)
{
    const auto [it, added] = m_numbers.try_emplace(name, static_cast<std::uint32_t>(m_names.size()));
    if (added)
        m_names.push_back(name);
    return it->second;
}

std::optional<int> Symbols::findLevel(std::uint32_t name) const
{
    for (const Symbols *scope = this; scope; scope = scope->m_parent) {
        if (scope->m_refs.contains(name))
            return scope->m_level;
    }
    return std::nullopt;
}

void Symbols::store(std::uint32_t name)
{
    m_stores.insert(name);
    if (!m_refs.insert(name).second)
        return;
    const auto outer = m_parent ? m_parent->findLevel(name) : std::nullopt;
    m_loads[name] = outer ? Load{FramePlan::Action::Alias, *outer} : Load{FramePlan::Action::Undefined};
}

void Symbols::declareParameter(const std::string &name)
{
    const std::uint32_t number = m_names->number(name);
    m_stores.insert(number);
    m_refs.insert(number);
    m_loads[number] = {FramePlan::Action::Parameter};
}

void Symbols::load(std::uint32_t name)
{
    if (findLevel(name))
        return;
    m_refs.insert(name);
    m_loads[name] = {FramePlan::Action::Resolve};
}

void Symbols::updateFromBranches(const std::vector<Symbols> &branches)
{
    std::set<std::uint32_t> stores;
    for (const Symbols &branch : branches) {
        for (const std::uint32_t name : branch.m_stores) {
            if (!m_stores.contains(name))
                stores.insert(name);
        }
    }
    for (const Symbols &branch : branches) {
        m_refs.insert(branch.m_refs.begin(), branch.m_refs.end());
        for (const auto &[name, load] : branch.m_loads)
            m_loads[name] = load;
        m_stores.insert(branch.m_stores.begin(), branch.m_stores.end());
    }
    // What only some branch assigns has its outer value otherwise.
    for (const std::uint32_t name : stores) {
        const auto outer = m_parent ? m_parent->findLevel(name) : std::nullopt;
        m_loads[name] = outer ? Load{FramePlan::Action::Alias, *outer} : Load{FramePlan::Action::Resolve};
    }
}

void Symbols::visitIf(const IfStmt &node)
{
    // In Jinja the body of the first test is one branch, all `elif` together the second, `else` the third.
    visit(*node.branches[0].test);
    std::vector<Symbols> branches(3, *this);
    for (const StmtPtr &statement : node.branches[0].body)
        branches[0].visit(*statement);
    for (std::size_t i = 1; i < node.branches.size(); ++i) {
        // Each `elif` is an If of its own without further branches.
        Symbols &around = branches[1];
        around.visit(*node.branches[i].test);
        std::vector<Symbols> inner(3, around);
        for (const StmtPtr &statement : node.branches[i].body)
            inner[0].visit(*statement);
        around.updateFromBranches(inner);
    }
    for (const StmtPtr &statement : node.otherwise)
        branches[2].visit(*statement);
    updateFromBranches(branches);
}

void Symbols::visit(const Expr &expr, bool storeAsParameter)
{
    if (expr.kind == Expr::Kind::Name) {
        const auto &name = static_cast<const NameExpr &>(expr);
        if (storeAsParameter || name.use == NameExpr::Use::Parameter)
            declareParameter(name.name);
        else if (name.use == NameExpr::Use::Store)
            store(m_names->number(name.name));
        else
            load(m_names->number(name.name));
    } else if (expr.kind == Expr::Kind::NamespaceMember) {
        load(m_names->number(static_cast<const NamespaceMemberExpr &>(expr).name));
    } else {
        eachChild(expr, [&](const ExprPtr &child) { visit(*child, storeAsParameter); });
    }
}

void Symbols::visit(const Stmt &statement)
{
    switch (statement.kind) {
    case Stmt::Kind::Output:
        for (const ExprPtr &child : static_cast<const OutputStmt &>(statement).children)
            visit(*child);
        return;
    case Stmt::Kind::If: return visitIf(static_cast<const IfStmt &>(statement));
    case Stmt::Kind::For: return visit(*static_cast<const ForStmt &>(statement).iterable);
    case Stmt::Kind::Assign: {
        const auto &node = static_cast<const AssignStmt &>(statement);
        visit(*node.value);
        return visit(*node.target);
    }
    case Stmt::Kind::AssignBlock: return visit(*static_cast<const AssignBlockStmt &>(statement).target);
    case Stmt::Kind::Macro: return store(m_names->number(static_cast<const MacroStmt &>(statement).name));
    case Stmt::Kind::CallBlock:
        if (const auto &node = static_cast<const CallBlockStmt &>(statement); node.call)
            visit(*node.call);
        return;
    case Stmt::Kind::FilterBlock: return visit(*static_cast<const FilterBlockStmt &>(statement).filter);
    case Stmt::Kind::With:
        for (const ExprPtr &value : static_cast<const WithStmt &>(statement).values)
            visit(*value);
        return;
    case Stmt::Kind::Load: {
        const auto &node = static_cast<const LoadStmt &>(statement);
        visit(*node.source);
        for (const std::string &target : node.targets)
            store(m_names->number(target));
        return;
    }
    case Stmt::Kind::Scope:
    case Stmt::Kind::Block:
    case Stmt::Kind::Break:
    case Stmt::Kind::Continue: return;
    }
}

void Symbols::analyzeBody(const Body &body)
{
    for (const StmtPtr &statement : body)
        visit(*statement);
}

void Symbols::analyzeLoopBody(const ForStmt &node)
{
    visit(*node.target, true);
    analyzeBody(node.body);
}

void Symbols::analyzeLoopTest(const ForStmt &node)
{
    visit(*node.target, true);
    visit(*node.test);
}

void Symbols::analyzeMacro(const MacroBody &node)
{
    for (const auto &parameter : node.parameters)
        visit(*parameter);
    for (const ExprPtr &value : node.defaults)
        visit(*value);
    analyzeBody(node.body);
}

void Symbols::analyzeFilterBlock(const FilterBlockStmt &node)
{
    analyzeBody(node.body);
    visit(*node.filter);
}

void Symbols::analyzeWith(const WithStmt &node)
{
    for (const ExprPtr &target : node.targets)
        visit(*target);
    analyzeBody(node.body);
}

std::map<std::uint32_t, int> Symbols::visibleStores() const
{
    std::map<std::uint32_t, int> visible;
    for (const Symbols *scope = this; scope; scope = scope->m_parent) {
        for (const std::uint32_t name : scope->m_stores) {
            if (const auto level = findLevel(name))
                visible.try_emplace(name, *level);
        }
    }
    return visible;
}

} // namespace prosector::jinja
