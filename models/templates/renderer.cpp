// SPDX-License-Identifier: GPL-3.0-or-later
// Statements, scopes, calls and limits.
#include "models/templates/renderer.h"

#include "models/templates/access.h"
#include "models/templates/filters.h"
#include "models/templates/iterators.h"
#include "models/templates/operators.h"
#include "models/templates/pystring.h"
#include "models/templates/tests.h"

#include <algorithm>

namespace prosector::jinja {

namespace {

constexpr std::uint64_t checkEvery = 4096;
constexpr std::uint64_t workPerStep = 256;

} // namespace

class Renderer::Entered {
public:
    Entered(Renderer &renderer, const Function &function, const Ref<Scope> &parent) : m_renderer(renderer), m_outer(renderer.m_scope)
    {
        auto *const scope = new Scope;
        renderer.m_scope = Ref<Scope>(scope);
        scope->slots.resize(function.slots);
        scope->parent = parent;
    }
    ~Entered() { m_renderer.m_scope = std::move(m_outer); }
    Entered(const Entered &) = delete;
    Entered &operator=(const Entered &) = delete;

private:
    Renderer &m_renderer;
    Ref<Scope> m_outer;
};

/// One call inside another.
class Renderer::Called {
public:
    explicit Called(Renderer &renderer) : m_renderer(renderer)
    {
        if (renderer.m_macros >= renderer.m_limits.macroDepth)
            raise(Exc::RecursionError,
                  "recursion limit: calls nested more than " + std::to_string(renderer.m_limits.macroDepth) + " levels deep");
        ++renderer.m_macros;
    }
    ~Called() { --m_renderer.m_macros; }
    Called(const Called &) = delete;
    Called &operator=(const Called &) = delete;

private:
    Renderer &m_renderer;
};

class Renderer::Capture {
public:
    explicit Capture(Renderer &renderer) : m_renderer(renderer), m_outer(renderer.m_buffer) { renderer.m_buffer = &m_text; }
    ~Capture() { m_renderer.m_buffer = m_outer; }
    Capture(const Capture &) = delete;
    Capture &operator=(const Capture &) = delete;
    Var take() { return m_text.build(); }

private:
    Renderer &m_renderer;
    TextBuilder *m_outer;
    TextBuilder m_text;
};

Renderer::Renderer(const Tree &tree, const std::vector<Binding> &bindings, const TemplateTime &now, const RenderLimits &limits, const Job &job)
    : m_tree(tree), m_now(now), m_limits(limits), m_job(job), m_outerLedger(Ledger::current()), m_context(tree.names.size()),
      m_hits(tree.sites.size()), m_begin(std::chrono::steady_clock::now())
{
    m_ledger.limit = limits.memoryBytes;
    Ledger::current() = &m_ledger;
    for (std::size_t i = 0; i < tree.names.size(); ++i) {
        // The last binding of a name wins, as in a dict.
        for (auto it = bindings.rbegin(); it != bindings.rend() && m_context[i].isMissing(); ++it) {
            if (it->name == tree.names[i])
                m_context[i] = it->value;
        }
        if (m_context[i].isMissing())
            m_context[i] = globalFunction(tree.names[i]);
    }
    if (!tree.blocks.empty())
        m_exported.resize(tree.names.size());
    m_nextCheck = std::min(limits.steps, checkEvery);
}

Renderer::~Renderer()
{
    // Scopes hold macros that hold scopes; namespaces hold themselves.
    for (const Ref<Scope> &scope : m_watchedScopes)
        scope->slots.clear();
    for (const Ref<Object> &object : m_watched) {
        if (auto *const space = dynamic_cast<NamespaceObject *>(object.get()))
            space->clear();
    }
    m_watchedScopes.clear();
    m_watched.clear();
    m_scope = {};
    m_context.clear();
    m_exported.clear();
    Ledger::current() = m_outerLedger;
}

void Renderer::check()
{
    const std::uint64_t done = m_steps + m_ledger.work / workPerStep;
    if (done >= m_limits.steps)
        raise(Exc::Limit, "step limit: more than " + std::to_string(m_limits.steps) + " steps");
    if (m_job.cancelled())
        raise(Exc::Cancelled, "cancelled");
    if (m_limits.time.count() > 0 && std::chrono::steady_clock::now() - m_begin > m_limits.time)
        raise(Exc::Limit, "time limit: more than " + std::to_string(m_limits.time.count()) + " milliseconds");
    m_nextCheck = m_steps + std::min(checkEvery, m_limits.steps - done);
}

void Renderer::tooDeep()
{
    --m_depth; // this one never began
    raise(Exc::RecursionError, "recursion limit: evaluations nested more than " + std::to_string(m_limits.nesting) + " levels deep");
}

void Renderer::checkItems(std::size_t count) const
{
    if (count * sizeof(Var) > m_limits.memoryBytes)
        raise(Exc::Limit, "memory limit: a list of " + std::to_string(count) + " values");
}

void Renderer::watch(Object &object)
{
    m_watched.emplace_back(&object);
    m_ledger.live += sizeof(Ref<Object>);
}

void Renderer::run()
{
    const Entered entered(*this, m_tree.function, {});
    enter(m_tree.frame);
    if (m_tree.usesSelf)
        slot(m_tree.selfSlot) = makeObject(new TemplateReference);
    execute(m_tree.body);
}

Var &Renderer::slot(const SlotRef &ref)
{
    Scope *scope = m_scope.get();
    for (std::uint32_t i = 0; i < ref.up; ++i)
        scope = scope->parent.get();
    return scope->slots[ref.slot];
}

void Renderer::enter(const FramePlan &plan)
{
    Scope &scope = *m_scope;
    for (const FramePlan::Entry &entry : plan.entries) {
        switch (entry.action) {
        case FramePlan::Action::Parameter: break;
        case FramePlan::Action::Resolve: {
            const bool exported = !m_exported.empty() && !m_exported[entry.name].isMissing();
            scope.slots[entry.slot] = exported ? m_exported[entry.name] : m_context[entry.name];
            break;
        }
        case FramePlan::Action::Alias: scope.slots[entry.slot] = slot(entry.from); break;
        case FramePlan::Action::Undefined: scope.slots[entry.slot] = Var(); break;
        }
    }
}

void Renderer::leave(const FramePlan &plan)
{
    for (const FramePlan::Entry &entry : plan.entries)
        m_scope->slots[entry.slot] = Var();
}

Renderer::Flow Renderer::execute(const Body &body)
{
    for (const StmtPtr &statement : body) {
        const Flow flow = execute(*statement);
        if (flow != Flow::Normal)
            return flow;
    }
    return Flow::Normal;
}

Renderer::Flow Renderer::execute(const Stmt &statement)
{
    step();
    m_site = statement.site;
    ++m_hits[statement.site];
    switch (statement.kind) {
    case Stmt::Kind::Output: executeOutput(static_cast<const OutputStmt &>(statement)); break;
    case Stmt::Kind::If: return executeIf(static_cast<const IfStmt &>(statement));
    case Stmt::Kind::For: return executeFor(static_cast<const ForStmt &>(statement));
    case Stmt::Kind::Assign: executeAssign(static_cast<const AssignStmt &>(statement)); break;
    case Stmt::Kind::AssignBlock: executeAssignBlock(static_cast<const AssignBlockStmt &>(statement)); break;
    case Stmt::Kind::Macro: {
        const auto &node = static_cast<const MacroStmt &>(statement);
        Var made = macroObject(node.macro, node.name);
        if (node.exported && !m_exported.empty())
            m_exported[node.number] = made;
        slot(node.slot) = std::move(made);
        break;
    }
    case Stmt::Kind::CallBlock: executeCallBlock(static_cast<const CallBlockStmt &>(statement)); break;
    case Stmt::Kind::FilterBlock: executeFilterBlock(static_cast<const FilterBlockStmt &>(statement)); break;
    case Stmt::Kind::With: return executeWith(static_cast<const WithStmt &>(statement));
    case Stmt::Kind::Scope: {
        const auto &node = static_cast<const ScopeStmt &>(statement);
        const Depth depth(*this);
        enter(node.frame);
        const Flow flow = execute(node.body);
        leave(node.frame);
        return flow;
    }
    case Stmt::Kind::Block: executeBlock(static_cast<const BlockStmt &>(statement)); break;
    case Stmt::Kind::Break: return Flow::Break;
    case Stmt::Kind::Continue: return Flow::Continue;
    case Stmt::Kind::Load:
        evaluate(*static_cast<const LoadStmt &>(statement).source);
        m_site = statement.site;
        raise(Exc::TypeError, "no loader for this environment specified");
    }
    return Flow::Normal;
}

void Renderer::print(const Var &value, std::uint32_t site)
{
    if (value.isString())
        m_buffer->print(value, site);
    else if (!value.isUndefined())
        m_buffer->print(toText(value), site);
    if (m_output.size() > m_limits.outputBytes)
        raise(Exc::Limit, "output limit: more than " + std::to_string(m_limits.outputBytes) + " bytes");
}

void Renderer::executeOutput(const OutputStmt &node)
{
    for (const ExprPtr &child : node.children) {
        if (child->kind == Expr::Kind::Text) {
            step();
            ++m_hits[child->site];
            m_site = child->site;
            print(static_cast<const ConstExpr &>(*child).value, child->site);
        } else {
            const Var value = evaluate(*child);
            m_site = child->site;
            print(value, child->site);
        }
    }
}

Renderer::Flow Renderer::executeIf(const IfStmt &node)
{
    const Depth depth(*this);
    for (const IfStmt::Branch &branch : node.branches) {
        if (truth(evaluate(*branch.test)))
            return execute(branch.body);
    }
    return execute(node.otherwise);
}

Renderer::Flow Renderer::executeFor(const ForStmt &node)
{
    const Var iterable = evaluate(*node.iterable);
    m_site = node.site;
    if (!node.recursive)
        return runLoop(node, iterable, m_scope, 0);
    print(callLoop(node, m_scope, iterable, 0), node.site);
    return Flow::Normal;
}

Var Renderer::callLoop(const ForStmt &loop, const Ref<Scope> &scope, const Var &iterable, std::int64_t depth)
{
    const Called called(*this);
    const Ref<Scope> around = scope;
    const Entered entered(*this, loop.recursion, around);
    Capture capture(*this);
    runLoop(loop, iterable, around, depth);
    return capture.take();
}

Ref<Iterator> Renderer::filtered(const ForStmt &node, const Var &iterable, const Ref<Scope> &around)
{
    // The filter is a function: entered when the first item is asked for, one scope for all of them.
    struct State {
        Ref<Iterator> source;
        Ref<Scope> scope;
    };
    return Ref<Iterator>(new Generator([&node, iterable, around, state = State{}](Renderer &renderer, Var &item) mutable {
        if (!state.source) {
            const Entered entered(renderer, node.filter, around);
            state.scope = renderer.m_scope;
            renderer.enter(node.testFrame);
            state.source = jinja::iterate(renderer, iterable);
        }
        while (state.source->next(renderer, item)) {
            renderer.step();
            const Ref<Scope> outer = std::exchange(renderer.m_scope, state.scope);
            struct Restore {
                Ref<Scope> &scope;
                const Ref<Scope> &outer;
                ~Restore() { scope = outer; }
            } const restore{renderer.m_scope, outer};
            renderer.assign(*node.testTarget, item);
            if (truth(renderer.evaluate(*node.test)))
                return true;
        }
        return false;
    }));
}

Renderer::Flow Renderer::runLoop(const ForStmt &node, const Var &given, const Ref<Scope> &around, std::int64_t depth)
{
    const Depth nested(*this);
    Var iterable = given;
    if (node.test)
        iterable = makeObject(filtered(node, given, around).get());
    Ref<LoopObject> loop;
    Ref<Iterator> iterator;
    if (node.extended)
        loop = Ref<LoopObject>(new LoopObject(*this, iterable, node.recursive ? &node : nullptr, around, depth));
    else if (!iterable.isSequence())
        iterator = iterate(*this, iterable);
    bool indicated = false; // set at the end of a body: `else` runs where every body was left early
    for (std::size_t at = 0;;) {
        Var item;
        if (loop) {
            if (!loop->advance(*this, item))
                break;
        } else if (iterator) {
            if (!iterator->next(*this, item))
                break;
        } else {
            const auto &items = iterable.sequence().items;
            if (at >= items.size()) // the body can pop
                break;
            item = items[at++];
        }
        step();
        m_site = node.site;
        assign(*node.target, std::move(item));
        if (loop)
            slot(node.loop) = makeObject(loop.get());
        enter(node.loopFrame);
        const Flow flow = execute(node.body);
        if (flow == Flow::Break)
            break;
        indicated = indicated || flow == Flow::Normal;
    }
    leave(node.loopFrame);
    if (node.otherwise.empty() || indicated)
        return Flow::Normal;
    enter(node.elseFrame);
    const Flow flow = execute(node.otherwise);
    leave(node.elseFrame);
    return flow;
}

void Renderer::assign(const Expr &target, Var value)
{
    if (target.kind == Expr::Kind::Name) {
        const auto &name = static_cast<const NameExpr &>(target);
        if (name.exported && !m_exported.empty())
            m_exported[name.number] = value;
        slot(name.slot) = std::move(value);
        return;
    }
    if (target.kind == Expr::Kind::NamespaceMember) {
        const auto &member = static_cast<const NamespaceMemberExpr &>(target);
        as<NamespaceObject>(slot(member.slot))->set(makeText(member.member), std::move(value));
        return;
    }
    const auto &targets = static_cast<const ListExpr &>(target).items;
    if (!isIterable(value))
        raise(Exc::TypeError, "cannot unpack non-iterable " + typeName(value) + " object");
    std::vector<Var> items;
    if (value.isSequence()) {
        items = value.sequence().items;
    } else {
        const Ref<Iterator> iterator = iterate(*this, value);
        for (Var item; items.size() <= targets.size() && iterator->next(*this, item);)
            items.push_back(item);
    }
    if (items.size() < targets.size())
        raise(Exc::ValueError, "not enough values to unpack (expected " + std::to_string(targets.size()) + ", got " + std::to_string(items.size()) + ")");
    if (items.size() > targets.size())
        raise(Exc::ValueError, "too many values to unpack (expected " + std::to_string(targets.size()) + ")");
    for (std::size_t i = 0; i < targets.size(); ++i)
        assign(*targets[i], std::move(items[i]));
}

void Renderer::executeAssign(const AssignStmt &node)
{
    for (const NamespaceMemberExpr *const member : node.members) {
        if (!as<NamespaceObject>(slot(member->slot)))
            raise(Exc::TemplateRuntimeError, "cannot assign attribute on non-namespace object");
    }
    Var value = evaluate(*node.value);
    m_site = node.site;
    assign(*node.target, std::move(value));
}

void Renderer::executeAssignBlock(const AssignBlockStmt &node)
{
    const Depth depth(*this);
    enter(node.frame);
    Var value;
    {
        Capture capture(*this);
        execute(node.body);
        value = capture.take();
    }
    if (node.filter)
        value = evaluateFilter(static_cast<const FilterExpr &>(*node.filter), &value);
    m_site = node.site;
    if (node.target->kind == Expr::Kind::NamespaceMember
        && !as<NamespaceObject>(slot(static_cast<const NamespaceMemberExpr &>(*node.target).slot)))
        raise(Exc::TypeError, "'" + typeName(slot(static_cast<const NamespaceMemberExpr &>(*node.target).slot)) + "' object does not support item assignment");
    assign(*node.target, std::move(value));
    leave(node.frame);
}

Var Renderer::macroObject(const MacroBody &macro, std::string name)
{
    if (!m_scope->watched) {
        m_scope->watched = true;
        m_watchedScopes.push_back(m_scope);
    }
    return makeObject(new MacroObject(macro, std::move(name), m_scope));
}

void Renderer::executeCallBlock(const CallBlockStmt &node)
{
    const Depth depth(*this);
    const Var caller = macroObject(node.macro, {});
    if (node.call)
        return print(toText(evaluateCall(*node.call, &caller)), node.call->site);
    const std::uint64_t from = m_output.size();
    const bool exact = m_buffer == &m_output;
    Arguments none;
    const Var text = call(caller, none);
    m_generations.push_back({from, from + text.view().size(), exact});
    print(text, node.site);
}

void Renderer::executeFilterBlock(const FilterBlockStmt &node)
{
    const Depth depth(*this);
    enter(node.frame);
    Var text;
    {
        Capture capture(*this);
        execute(node.body);
        text = capture.take();
    }
    const Var value = evaluateFilter(static_cast<const FilterExpr &>(*node.filter), &text);
    m_site = node.site;
    if (!value.isString())
        raise(Exc::TypeError, "sequence item 0: expected str instance, " + typeName(value) + " found");
    print(value, node.site);
    leave(node.frame);
}

Renderer::Flow Renderer::executeWith(const WithStmt &node)
{
    const Depth depth(*this);
    enter(node.frame);
    for (std::size_t i = 0; i < node.targets.size(); ++i)
        assign(*node.targets[i], evaluate(*node.values[i]));
    const Flow flow = execute(node.body);
    leave(node.frame);
    return flow;
}

void Renderer::executeBlock(const BlockStmt &node)
{
    if (node.required)
        raise(Exc::TemplateRuntimeError, "Required block " + pythonRepr(node.name) + " not found");
    const std::vector<Var> exported = m_exported;
    for (const auto &[name, ref] : node.locals) {
        if (!slot(ref).isMissing())
            m_exported[name] = slot(ref);
    }
    print(callBlock(node), node.site);
    m_exported = exported;
}

Var Renderer::callBlock(const BlockStmt &block)
{
    const Depth depth(*this);
    const Called called(*this);
    const Entered entered(*this, block.function, {});
    if (block.usesSelf)
        slot(block.selfSlot) = makeObject(new TemplateReference);
    if (block.usesSuper)
        slot(block.superSlot) = undefinedHint("there is no parent block called " + pythonRepr(block.name) + ".");
    enter(block.frame);
    Capture capture(*this);
    execute(block.body);
    return capture.take();
}

Var Renderer::call(const Var &callee, Arguments &arguments)
{
    if (callee.isUndefined())
        raiseUndefined(callee);
    if (!callee.isObject() || !callee.object().callable())
        raise(Exc::TypeError, "'" + typeName(callee) + "' object is not callable");
    const Var kept = callee;
    return kept.object().call(*this, arguments);
}

Var Renderer::callMacro(const MacroBody &macro, const std::string &name, const Ref<Scope> &scope, Arguments &arguments)
{
    const Depth depth(*this);
    const std::uint32_t from = m_site;
    const Called called(*this);
    const std::string shown = name.empty() ? "None" : pythonRepr(name);
    const std::size_t wanted = macro.parameters.size(), given = arguments.positional.size();
    std::vector<Var> values(wanted);
    bool foundCaller = false;
    for (std::size_t i = 0; i < wanted; ++i) {
        if (i < given) {
            values[i] = arguments.positional[i];
            foundCaller = foundCaller || (given >= wanted && macro.parameters[i]->name == "caller");
        } else {
            if (auto named = arguments.take(macro.parameters[i]->name))
                values[i] = std::move(*named);
            foundCaller = foundCaller || macro.parameters[i]->name == "caller";
        }
    }
    if (given >= wanted)
        foundCaller = std::any_of(macro.parameters.begin(), macro.parameters.end(), [](const auto &p) { return p->name == "caller"; });
    std::optional<Var> caller;
    if (macro.caller && !foundCaller) {
        caller = arguments.take("caller");
        if (!caller || caller->isNone())
            caller = undefinedHint("No caller defined");
    }
    if (!macro.catchNamed && !arguments.named.empty()) {
        if (arguments.find("caller"))
            raise(Exc::TypeError, "macro " + shown + " was invoked with two values for the special caller argument. This is most likely a bug.");
        raise(Exc::TypeError, "macro " + shown + " takes no keyword argument " + pythonRepr(arguments.named[0].name));
    }
    if (!macro.catchPositional && given > wanted)
        raise(Exc::TypeError, "macro " + shown + " takes not more than " + std::to_string(wanted) + " argument(s)");

    const Entered entered(*this, macro.function, scope);
    for (std::size_t i = 0; i < wanted; ++i)
        slot(macro.parameters[i]->slot) = std::move(values[i]);
    if (caller)
        slot(macro.callerSlot) = std::move(*caller);
    if (macro.catchNamed) {
        std::vector<Dict::Entry> entries;
        for (Arguments::Named &named : arguments.named)
            entries.push_back({makeText(std::move(named.name)), std::move(named.value)});
        slot(macro.namedSlot) = makeDict(std::move(entries));
    }
    if (macro.catchPositional) {
        const auto rest = static_cast<std::ptrdiff_t>(std::min(given, wanted));
        slot(macro.positionalSlot) = makeTuple({arguments.positional.begin() + rest, arguments.positional.end()});
    }
    try {
        enter(macro.frame);
        for (std::size_t i = 0; i < wanted; ++i) {
            Var &value = slot(macro.parameters[i]->slot);
            if (!value.isMissing())
                continue;
            const std::size_t plain = wanted - macro.defaults.size();
            Var made = i < plain ? undefinedHint("parameter " + pythonRepr(macro.parameters[i]->name) + " was not provided")
                                 : evaluate(*macro.defaults[i - plain]);
            slot(macro.parameters[i]->slot) = std::move(made);
        }
        Capture capture(*this);
        execute(macro.body);
        m_site = from;
        return capture.take();
    } catch (Raised &raised) {
        if (!raised.placed) {
            raised.site = m_site;
            raised.placed = true;
        }
        raised.calls.push_back(from);
        m_site = from;
        throw;
    }
}

} // namespace prosector::jinja
