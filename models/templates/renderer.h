// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a resolved tree.
#pragma once

#include "models/core/job.h"
#include "models/templates/limits.h"
#include "models/templates/nodes.h"
#include "models/templates/raised.h"
#include "models/templates/runtimeobjects.h"
#include "models/templates/text.h"

#include <chrono>

namespace prosector::jinja {

/// A variable of the inputs.
struct Binding {
    std::string_view name;
    Var value;
};

/// Bytes of the output printed inside a `generation` block, as Transformers counts them.
struct GenerationRange {
    std::uint64_t from = 0, to = 0;
    bool exact = true; ///< false where the block ran inside a macro or a captured text, which Transformers miscounts
};

/// One rendering. What it makes belongs to this thread.
class Renderer {
public:
    Renderer(const Tree &tree, const std::vector<Binding> &bindings, const TemplateTime &now, const RenderLimits &limits, const Job &job);
    ~Renderer();
    Renderer(const Renderer &) = delete;
    Renderer &operator=(const Renderer &) = delete;

    void run();

    TextBuilder &output() { return m_output; }
    const std::vector<std::uint32_t> &hits() const { return m_hits; }
    const std::vector<GenerationRange> &generations() const { return m_generations; }
    std::uint32_t site() const { return m_site; }

    // What filters, methods and objects ask for.
    void step(std::uint64_t count = 1)
    {
        m_steps += count;
        if (m_steps >= m_nextCheck)
            check();
    }
    void checkItems(std::size_t count) const;
    const TemplateTime &now() const { return m_now; }
    Var call(const Var &callee, Arguments &arguments);
    Var callFilter(const Var &name, const Var &input, Arguments &arguments);
    bool callTest(const Var &name, const Var &input, Arguments &arguments);
    Var callMacro(const MacroBody &macro, const std::string &name, const Ref<Scope> &scope, Arguments &arguments);
    Var callLoop(const ForStmt &loop, const Ref<Scope> &scope, const Var &iterable, std::int64_t depth);
    Var callBlock(const BlockStmt &block);
    const Tree &tree() const { return m_tree; }
    void watch(Object &object); ///< may be part of a cycle: taken apart at the end

    /// One evaluation inside another.
    class Depth {
    public:
        explicit Depth(Renderer &renderer) : m_renderer(renderer)
        {
            if (++renderer.m_depth > renderer.m_limits.nesting)
                renderer.tooDeep();
        }
        ~Depth() { --m_renderer.m_depth; }
        Depth(const Depth &) = delete;
        Depth &operator=(const Depth &) = delete;

    private:
        Renderer &m_renderer;
    };

private:
    enum class Flow : std::uint8_t { Normal, Break, Continue };
    class Entered; // a Scope while it is the current one
    class Called;  // a call while it runs
    class Capture; // a text gathered instead of printed

    void check();
    [[noreturn]] void tooDeep();

    // Statements.
    Flow execute(const Body &body);
    Flow execute(const Stmt &statement);
    void executeOutput(const OutputStmt &node);
    Flow executeIf(const IfStmt &node);
    Flow executeFor(const ForStmt &node);
    Flow runLoop(const ForStmt &node, const Var &iterable, const Ref<Scope> &around, std::int64_t depth);
    void executeAssign(const AssignStmt &node);
    void executeAssignBlock(const AssignBlockStmt &node);
    void executeCallBlock(const CallBlockStmt &node);
    void executeFilterBlock(const FilterBlockStmt &node);
    Flow executeWith(const WithStmt &node);
    void executeBlock(const BlockStmt &node);
    void enter(const FramePlan &plan);
    void leave(const FramePlan &plan);
    void assign(const Expr &target, Var value);
    void print(const Var &value, std::uint32_t site);
    Var &slot(const SlotRef &ref);
    Var macroObject(const MacroBody &macro, std::string name);
    Ref<Iterator> filtered(const ForStmt &node, const Var &iterable, const Ref<Scope> &around);

    // Expressions.
    Var evaluate(const Expr &expr);
    Var evaluateName(const NameExpr &node);
    Var evaluateAttribute(const AttributeExpr &node);
    Var evaluateItem(const ItemExpr &node);
    Var evaluateCall(const CallExpr &node, const Var *caller = nullptr);
    Var evaluateFilter(const FilterExpr &node, const Var *block = nullptr);
    Var evaluateTest(const TestExpr &node);
    Var evaluateUnary(const UnaryExpr &node);
    Var evaluateBinary(const BinaryExpr &node);
    Var evaluateCompare(const CompareExpr &node);
    Var evaluateConcat(const ListExpr &node);
    Var evaluateCondition(const ConditionExpr &node);
    Var evaluateList(const ListExpr &node);
    Var evaluateDict(const DictExpr &node);
    Var memberOf(const AttributeExpr &node, const Var &object);
    Arguments evaluateArguments(const CallArguments &node);

    const Tree &m_tree;
    const TemplateTime m_now;
    const RenderLimits m_limits;
    const Job &m_job;
    Ledger m_ledger;
    Ledger *m_outerLedger;
    std::vector<Var> m_context; ///< by name: inputs and globals
    std::vector<Var> m_exported; ///< by name: set at the top level; only where there are blocks
    TextBuilder m_output;
    TextBuilder *m_buffer = &m_output;
    Ref<Scope> m_scope;
    std::vector<std::uint32_t> m_hits;
    std::vector<GenerationRange> m_generations;
    std::vector<Ref<Scope>> m_watchedScopes;
    std::vector<Ref<Object>> m_watched;
    std::uint32_t m_site = 0;
    std::uint32_t m_depth = 0, m_macros = 0;
    std::uint64_t m_steps = 0, m_nextCheck = 0;
    std::chrono::steady_clock::time_point m_begin;
};

} // namespace prosector::jinja
