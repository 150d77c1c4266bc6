// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/resolver.h"

#include "models/templates/filters.h"
#include "models/templates/methods.h"
#include "models/templates/pystring.h"
#include "models/templates/raised.h"
#include "models/templates/symbols.h"
#include "models/templates/tests.h"
#include "models/templates/undeclared.h"
#include "models/templates/walk.h"

#include <algorithm>

namespace prosector::jinja {

namespace {

bool contains(const std::vector<std::string> &names, std::string_view name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// A scope while the tree is walked, and the function whose slots it uses.
struct Frame {
    Symbols symbols;
    const Frame *parent;
    Function *function;
    std::uint32_t functionDepth;
    bool toplevel = false;

    Frame(NameTable &names, Function &own) : symbols(names, nullptr), parent(nullptr), function(&own), functionDepth(0) {}
    Frame(NameTable &names, Frame &outer) : symbols(names, &outer.symbols), parent(&outer), function(outer.function), functionDepth(outer.functionDepth) {}
    Frame(NameTable &names, Frame &outer, Function &own)
        : symbols(names, &outer.symbols), parent(&outer), function(&own), functionDepth(outer.functionDepth + 1)
    {
    }
};

/// What a walk carries downwards.
struct Where {
    Frame *frame;
    bool soft = false; ///< inside an `if`: unknown filters are errors only when they run
    int loops = 0;     ///< loops around in the same function
};

class Resolver {
public:
    explicit Resolver(Tree &tree) : m_tree(tree), m_names(tree.names) {}

    void run()
    {
        Frame root(m_names, m_tree.function);
        root.toplevel = true;
        if (contains(undeclared(m_tree.body, {"self"}), "self")) {
            root.symbols.declareParameter("self");
            m_tree.usesSelf = true;
        }
        root.symbols.analyzeBody(m_tree.body);
        m_tree.frame = plan(root);
        if (m_tree.usesSelf)
            m_tree.selfSlot = slotOf(root, m_names.number("self"));
        body(m_tree.body, {&root});
        for (const auto &[name, block] : m_tree.blocks)
            blockFunction(*block);
    }

private:
    [[noreturn]] static void fail(Exc type, std::string message, std::uint32_t site) { throw Raised{type, std::move(message), site, true}; }

    static std::uint32_t slot(Function &function, int level, std::uint32_t name)
    {
        const auto [it, added] = function.numbers.try_emplace({level, name}, function.slots);
        if (added)
            ++function.slots;
        return it->second;
    }

    /// The slot of a name in the scope of that level.
    static SlotRef slotAt(const Frame &from, int level, std::uint32_t name)
    {
        const Frame *frame = &from;
        while (frame->parent && frame->symbols.level() != level)
            frame = frame->parent;
        return {from.functionDepth - frame->functionDepth, slot(*frame->function, level, name)};
    }

    static SlotRef slotOf(const Frame &frame, std::uint32_t name)
    {
        const auto level = frame.symbols.findLevel(name);
        return slotAt(frame, level ? *level : frame.symbols.level(), name);
    }

    static FramePlan plan(const Frame &frame)
    {
        FramePlan plan;
        for (const auto &[name, load] : frame.symbols.loads()) {
            FramePlan::Entry entry;
            entry.slot = slot(*frame.function, frame.symbols.level(), name);
            entry.action = load.action;
            entry.name = name;
            if (load.action == FramePlan::Action::Alias)
                entry.from = slotAt(frame, load.aliasLevel, name);
            plan.entries.push_back(entry);
        }
        return plan;
    }

    void arguments(const CallArguments &node, const Where &where)
    {
        eachArgument(node, [&](const ExprPtr &child) { expression(*child, where); });
    }

    void expression(Expr &expr, const Where &where)
    {
        switch (expr.kind) {
        case Expr::Kind::Name: {
            auto &name = static_cast<NameExpr &>(expr);
            name.number = m_names.number(name.name);
            name.slot = slotOf(*where.frame, name.number);
            name.exported = name.use == NameExpr::Use::Store && where.frame->toplevel;
            return;
        }
        case Expr::Kind::NamespaceMember: {
            auto &member = static_cast<NamespaceMemberExpr &>(expr);
            member.number = m_names.number(member.name);
            member.slot = slotOf(*where.frame, member.number);
            return;
        }
        case Expr::Kind::Filter: {
            auto &filter = static_cast<FilterExpr &>(expr);
            filter.row = findFilter(filter.name);
            if (!filter.row && !where.soft)
                fail(Exc::TemplateAssertionError, "No filter named " + pythonRepr(filter.name) + ".", filter.site);
            break;
        }
        case Expr::Kind::Test: {
            auto &test = static_cast<TestExpr &>(expr);
            test.row = findTest(test.name);
            if (!test.row && !where.soft)
                fail(Exc::TemplateAssertionError, "No test named " + pythonRepr(test.name) + ".", test.site);
            break;
        }
        case Expr::Kind::Attribute: {
            auto &node = static_cast<AttributeExpr &>(expr);
            node.methods = findMethods(node.name);
            break;
        }
        case Expr::Kind::Condition: {
            Where soft = where;
            soft.soft = true;
            return eachChild(expr, [&](const ExprPtr &child) { expression(*child, soft); });
        }
        default: break;
        }
        eachChild(expr, [&](const ExprPtr &child) { expression(*child, where); });
    }

    void body(const Body &statements, const Where &where)
    {
        for (const StmtPtr &child : statements)
            statement(*child, where);
    }

    void statement(Stmt &stmt, const Where &where)
    {
        switch (stmt.kind) {
        case Stmt::Kind::Output:
            for (const ExprPtr &child : static_cast<OutputStmt &>(stmt).children)
                expression(*child, where);
            return;
        case Stmt::Kind::If: {
            Where soft = where;
            soft.soft = true;
            auto &node = static_cast<IfStmt &>(stmt);
            for (const IfStmt::Branch &branch : node.branches) {
                expression(*branch.test, soft);
                body(branch.body, soft);
            }
            return body(node.otherwise, soft);
        }
        case Stmt::Kind::For: return loop(static_cast<ForStmt &>(stmt), where);
        case Stmt::Kind::Assign: {
            auto &node = static_cast<AssignStmt &>(stmt);
            expression(*node.target, where);
            return expression(*node.value, where);
        }
        case Stmt::Kind::AssignBlock: {
            auto &node = static_cast<AssignBlockStmt &>(stmt);
            Frame inner(m_names, *where.frame);
            inner.symbols.analyzeBody(node.body);
            node.frame = plan(inner);
            body(node.body, {&inner, false, where.loops});
            expression(*node.target, where);
            if (node.filter)
                expression(*node.filter, {&inner, false, where.loops});
            return;
        }
        case Stmt::Kind::Macro: {
            auto &node = static_cast<MacroStmt &>(stmt);
            macro(node.macro, *where.frame, node.site);
            node.number = m_names.number(node.name);
            node.slot = slotOf(*where.frame, node.number);
            node.exported = where.frame->toplevel;
            return;
        }
        case Stmt::Kind::CallBlock: {
            auto &node = static_cast<CallBlockStmt &>(stmt);
            macro(node.macro, *where.frame, node.site);
            if (node.call)
                expression(*node.call, where);
            return;
        }
        case Stmt::Kind::FilterBlock: {
            auto &node = static_cast<FilterBlockStmt &>(stmt);
            Frame inner(m_names, *where.frame);
            inner.symbols.analyzeFilterBlock(node);
            node.frame = plan(inner);
            body(node.body, {&inner, false, where.loops});
            return expression(*node.filter, {&inner, false, where.loops});
        }
        case Stmt::Kind::With: {
            auto &node = static_cast<WithStmt &>(stmt);
            Frame inner(m_names, *where.frame);
            inner.symbols.analyzeWith(node);
            node.frame = plan(inner);
            for (const ExprPtr &target : node.targets)
                expression(*target, {&inner, false, where.loops});
            for (const ExprPtr &value : node.values)
                expression(*value, where);
            return body(node.body, {&inner, false, where.loops});
        }
        case Stmt::Kind::Scope: {
            auto &node = static_cast<ScopeStmt &>(stmt);
            Frame inner(m_names, *where.frame);
            inner.symbols.analyzeBody(node.body);
            node.frame = plan(inner);
            return body(node.body, {&inner, false, where.loops});
        }
        case Stmt::Kind::Block: {
            auto &node = static_cast<BlockStmt &>(stmt);
            if (node.scoped) {
                for (const auto &[name, level] : where.frame->symbols.visibleStores())
                    node.locals.emplace_back(name, slotAt(*where.frame, level, name));
            }
            return;
        }
        case Stmt::Kind::Load: return expression(*static_cast<LoadStmt &>(stmt).source, where);
        case Stmt::Kind::Break:
            if (where.loops == 0)
                fail(Exc::SyntaxError, "'break' outside loop", stmt.site);
            return;
        case Stmt::Kind::Continue:
            if (where.loops == 0)
                fail(Exc::SyntaxError, "'continue' not properly in loop", stmt.site);
            return;
        }
    }

    void loop(ForStmt &node, const Where &where)
    {
        node.extended = node.recursive || contains(undeclared(node.body, {"loop"}), "loop") || hasScopedBlock(node);
        Frame inner = node.recursive ? Frame(m_names, *where.frame, node.recursion) : Frame(m_names, *where.frame);
        Frame rest = node.recursive ? Frame(m_names, *where.frame, node.recursion) : Frame(m_names, *where.frame);
        if (node.extended)
            inner.symbols.declareParameter("loop");
        inner.symbols.analyzeLoopBody(node);
        rest.symbols.analyzeBody(node.otherwise);
        if (const std::uint32_t site = loopAssignment(node))
            fail(Exc::TemplateAssertionError, "Can't assign to special loop variable in for-loop target", site);
        if (node.test) {
            // Of a recursive loop, too, the filter stands outside the loop's own function.
            Frame test(m_names, *where.frame, node.filter);
            testScope(node, test);
        }
        node.loopFrame = plan(inner);
        node.elseFrame = plan(rest);
        const int around = node.recursive ? 0 : where.loops;
        expression(*node.target, {&inner});
        if (node.extended)
            node.loop = slotOf(inner, m_names.number("loop"));
        expression(*node.iterable, where);
        body(node.body, {&inner, false, around + 1});
        body(node.otherwise, {&rest, false, around});
    }

    void testScope(ForStmt &node, Frame &test)
    {
        test.symbols.analyzeLoopTest(node);
        node.testFrame = plan(test);
        node.testTarget = copyTarget(*node.target);
        expression(*node.testTarget, {&test});
        expression(*node.test, {&test});
    }

    static ExprPtr copyTarget(const Expr &target)
    {
        if (target.kind == Expr::Kind::Name) {
            auto made = std::make_unique<NameExpr>(static_cast<const NameExpr &>(target).name, NameExpr::Use::Store);
            made->site = target.site;
            return made;
        }
        auto made = std::make_unique<ListExpr>(Expr::Kind::Tuple);
        made->site = target.site;
        for (const ExprPtr &item : static_cast<const ListExpr &>(target).items)
            made->items.push_back(copyTarget(*item));
        return made;
    }

    void macro(MacroBody &node, Frame &outer, std::uint32_t site)
    {
        Frame inner(m_names, outer, node.function);
        inner.symbols.analyzeMacro(node);
        const auto parameter = std::find_if(node.parameters.begin(), node.parameters.end(), [](const auto &p) { return p->name == "caller"; });
        const auto has = [&node](std::string_view name) {
            return std::any_of(node.parameters.begin(), node.parameters.end(), [name](const auto &p) { return p->name == name; });
        };
        const auto names = undeclared(node.body, {"caller", "kwargs", "varargs"});
        if (contains(names, "caller")) {
            if (parameter != node.parameters.end()) {
                const auto index = static_cast<std::size_t>(parameter - node.parameters.begin());
                if (node.parameters.size() - index > node.defaults.size())
                    fail(Exc::TemplateAssertionError,
                         "When defining macros or call blocks the special \"caller\" argument must be omitted or be given a default.", site);
            } else {
                inner.symbols.declareParameter("caller");
                node.callerSlot = slotOf(inner, m_names.number("caller"));
            }
            node.caller = true;
        }
        if (contains(names, "kwargs") && !has("kwargs")) {
            inner.symbols.declareParameter("kwargs");
            node.namedSlot = slotOf(inner, m_names.number("kwargs"));
            node.catchNamed = true;
        }
        if (contains(names, "varargs") && !has("varargs")) {
            inner.symbols.declareParameter("varargs");
            node.positionalSlot = slotOf(inner, m_names.number("varargs"));
            node.catchPositional = true;
        }
        inner.symbols.analyzeMacro(node);
        node.frame = plan(inner);
        const Where where{&inner};
        for (const auto &name : node.parameters)
            expression(*name, where);
        for (const ExprPtr &value : node.defaults)
            expression(*value, where);
        body(node.body, where);
    }

    void blockFunction(BlockStmt &node)
    {
        Frame frame(m_names, node.function);
        const auto names = undeclared(node.body, {"self", "super"});
        node.usesSelf = contains(names, "self");
        node.usesSuper = contains(names, "super");
        if (node.usesSelf)
            frame.symbols.declareParameter("self");
        if (node.usesSuper)
            frame.symbols.declareParameter("super");
        frame.symbols.analyzeBody(node.body);
        node.frame = plan(frame);
        if (node.usesSelf)
            node.selfSlot = slotOf(frame, m_names.number("self"));
        if (node.usesSuper)
            node.superSlot = slotOf(frame, m_names.number("super"));
        body(node.body, {&frame});
    }

    Tree &m_tree;
    NameTable m_names;
};

} // namespace

void resolve(Tree &tree)
{
    Resolver(tree).run();
}

} // namespace prosector::jinja
