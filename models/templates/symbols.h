// SPDX-License-Identifier: GPL-3.0-or-later
// Which scope a name belongs to: Jinja's idtracking.
#pragma once

#include "models/templates/nodes.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace prosector::jinja {

/// Numbers for names, so that scopes compare small integers.
class NameTable {
public:
    explicit NameTable(std::vector<std::string> &names) : m_names(names) {}
    std::uint32_t number(const std::string &name);

private:
    std::vector<std::string> &m_names;
    std::map<std::string, std::uint32_t, std::less<>> m_numbers;
};

/// The names of one scope: those it defines (`refs`), how each gets its value on entering (`loads`), and
/// those it assigns (`stores`).
class Symbols {
public:
    struct Load {
        FramePlan::Action action = FramePlan::Action::Undefined;
        int aliasLevel = 0; ///< scope the name is copied from
    };

    Symbols(NameTable &names, Symbols *parent) : m_names(&names), m_parent(parent), m_level(parent ? parent->m_level + 1 : 0) {}

    // What Jinja's root visitor does with each kind of node.
    void analyzeBody(const Body &body);
    void analyzeLoopBody(const ForStmt &node);
    void analyzeLoopTest(const ForStmt &node);
    void analyzeMacro(const MacroBody &node);
    void analyzeFilterBlock(const FilterBlockStmt &node);
    void analyzeWith(const WithStmt &node);

    void declareParameter(const std::string &name);
    std::optional<int> findLevel(std::uint32_t name) const;
    int level() const { return m_level; }
    const std::map<std::uint32_t, Load> &loads() const { return m_loads; }
    /// Names assigned here or around, each with the scope that holds it.
    std::map<std::uint32_t, int> visibleStores() const;

private:
    void visit(const Stmt &statement);
    void visit(const Expr &expr, bool storeAsParameter = false);
    void visitIf(const IfStmt &node);
    void store(std::uint32_t name);
    void load(std::uint32_t name);
    void updateFromBranches(const std::vector<Symbols> &branches);

    NameTable *m_names;
    Symbols *m_parent;
    int m_level;
    std::set<std::uint32_t> m_refs, m_stores;
    std::map<std::uint32_t, Load> m_loads;
};

} // namespace prosector::jinja
