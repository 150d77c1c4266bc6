// SPDX-License-Identifier: GPL-3.0-or-later
// A parsed template. The parser makes the tree, the resolver fills in where each variable lives.
#pragma once

#include "models/templates/value.h"

#include <array>
#include <deque>
#include <map>

namespace prosector::jinja {

/// A place in the template that can run or print.
struct Site {
    enum class Kind : std::uint8_t { Text, Print, Expression, Statement };
    std::uint32_t begin = 0, end = 0; ///< bytes of the source as given
    Kind kind = Kind::Expression;
};

/// A variable: so many functions outwards, that slot.
struct SlotRef {
    std::uint32_t up = 0, slot = 0;
};

/// What happens when a scope of names is entered; leaving it forgets every slot named here.
struct FramePlan {
    enum class Action : std::uint8_t { Parameter, Resolve, Alias, Undefined };
    struct Entry {
        std::uint32_t slot = 0;
        Action action = Action::Undefined;
        SlotRef from{};          ///< of an alias
        std::uint32_t name = 0;  ///< of a variable of the inputs
    };
    std::vector<Entry> entries;
};

/// A unit with slots of its own: the whole, a macro, the body of a recursive loop, a loop's filter, a block.
struct Function {
    std::uint32_t slots = 0;
    std::map<std::pair<int, std::uint32_t>, std::uint32_t> numbers; ///< (level, name) → slot; used while resolving
};

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using StmtPtr = std::unique_ptr<Stmt>;
using Body = std::vector<StmtPtr>;

struct Expr {
    enum class Kind : std::uint8_t {
        Const, Text, Name, Attribute, Item, Slice, Call, Filter, Test, Unary, Binary, And, Or, Compare, Concat, Condition,
        Tuple, List, Dict, NamespaceMember,
    };
    Kind kind;
    std::uint32_t site = 0;
    std::uint32_t depth = 1; ///< of the tree below, itself included

    explicit Expr(Kind k) : kind(k) {}
    Expr(const Expr &) = delete;
    Expr &operator=(const Expr &) = delete;
    virtual ~Expr() = default;
};

struct ConstExpr final : Expr { // also Kind::Text
    Var value; ///< immortal where it is on the heap
    ConstExpr(Kind k, Var v) : Expr(k), value(std::move(v)) {}
};

struct NameExpr final : Expr {
    enum class Use : std::uint8_t { Load, Store, Parameter };
    std::string name;
    Use use = Use::Load;
    SlotRef slot;
    std::uint32_t number = 0;   ///< of the name, in Tree::names
    bool exported = false;      ///< a store that blocks see, too
    NameExpr(std::string n, Use u) : Expr(Kind::Name), name(std::move(n)), use(u) {}
};

/// `ns.attr` as a target.
struct NamespaceMemberExpr final : Expr {
    std::string name, member;
    SlotRef slot;
    std::uint32_t number = 0;
    NamespaceMemberExpr(std::string n, std::string m) : Expr(Kind::NamespaceMember), name(std::move(n)), member(std::move(m)) {}
};

struct MethodRow;

struct AttributeExpr final : Expr {
    ExprPtr object;
    std::string name;
    Var key; ///< the name as an immortal string
    std::array<const MethodRow *, 4> methods{}; ///< of that name, for each type that has methods
    AttributeExpr(ExprPtr o, std::string n) : Expr(Kind::Attribute), object(std::move(o)), name(std::move(n)) {}
};

struct ItemExpr final : Expr {
    ExprPtr object, key;
    ItemExpr(ExprPtr o, ExprPtr k) : Expr(Kind::Item), object(std::move(o)), key(std::move(k)) {}
};

struct SliceExpr final : Expr { // only as the key of an ItemExpr
    ExprPtr start, stop, step; // null when absent
    SliceExpr() : Expr(Kind::Slice) {}
};

struct CallArguments {
    struct Named {
        std::string name;
        ExprPtr value;
    };
    std::vector<ExprPtr> positional;
    std::vector<Named> named;
    ExprPtr spread, spreadNamed; ///< *args, **kwargs
};

struct CallExpr final : Expr {
    ExprPtr callee;
    CallArguments arguments;
    CallExpr() : Expr(Kind::Call) {}
};

struct FilterRow;
struct TestRow;

struct FilterExpr final : Expr {
    ExprPtr input; ///< null: what the block around has printed
    std::string name;
    CallArguments arguments;
    const FilterRow *row = nullptr; ///< null: unknown, an error when it runs
    FilterExpr() : Expr(Kind::Filter) {}
};

struct TestExpr final : Expr {
    ExprPtr input;
    std::string name;
    CallArguments arguments;
    const TestRow *row = nullptr;
    TestExpr() : Expr(Kind::Test) {}
};

enum class Operation : std::uint8_t { Not, Negate, Plus, Add, Subtract, Multiply, Divide, FloorDivide, Modulo, Power };

struct UnaryExpr final : Expr {
    Operation operation;
    ExprPtr operand;
    UnaryExpr(Operation o, ExprPtr e) : Expr(Kind::Unary), operation(o), operand(std::move(e)) {}
};

struct BinaryExpr final : Expr { // also And and Or
    Operation operation;
    ExprPtr left, right;
    BinaryExpr(Kind k, Operation o, ExprPtr l, ExprPtr r) : Expr(k), operation(o), left(std::move(l)), right(std::move(r)) {}
};

enum class Comparison : std::uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, In, NotIn };

struct CompareExpr final : Expr {
    struct Operand {
        Comparison comparison;
        ExprPtr right;
    };
    ExprPtr left;
    std::vector<Operand> operands;
    CompareExpr() : Expr(Kind::Compare) {}
};

struct ListExpr final : Expr { // Tuple, List, Concat
    std::vector<ExprPtr> items;
    explicit ListExpr(Kind k) : Expr(k) {}
};

struct DictExpr final : Expr {
    std::vector<std::pair<ExprPtr, ExprPtr>> items;
    DictExpr() : Expr(Kind::Dict) {}
};

struct ConditionExpr final : Expr {
    ExprPtr test, then, otherwise; ///< `otherwise` may be null
    ConditionExpr() : Expr(Kind::Condition) {}
};

struct Stmt {
    enum class Kind : std::uint8_t {
        Output, If, For, Assign, AssignBlock, Macro, CallBlock, FilterBlock, With, Scope, Block, Break, Continue, Load,
    };
    Kind kind;
    std::uint32_t site = 0;

    explicit Stmt(Kind k) : kind(k) {}
    Stmt(const Stmt &) = delete;
    Stmt &operator=(const Stmt &) = delete;
    virtual ~Stmt() = default;
};

struct SimpleStmt final : Stmt { // Break, Continue
    using Stmt::Stmt;
};

struct OutputStmt final : Stmt {
    std::vector<ExprPtr> children;
    OutputStmt() : Stmt(Kind::Output) {}
};

struct IfStmt final : Stmt {
    struct Branch {
        ExprPtr test;
        Body body;
    };
    std::vector<Branch> branches;
    Body otherwise;
    IfStmt() : Stmt(Kind::If) {}
};

struct ForStmt final : Stmt {
    ExprPtr target, iterable, test; ///< `test` may be null
    Body body, otherwise;
    bool recursive = false;
    bool extended = false; ///< the body speaks of `loop`
    SlotRef loop;
    FramePlan loopFrame, elseFrame, testFrame;
    ExprPtr testTarget;    ///< the target once more, for the filter's own scope
    Function filter, recursion;
    ForStmt() : Stmt(Kind::For) {}
};

struct AssignStmt final : Stmt {
    ExprPtr target, value;
    std::vector<const NamespaceMemberExpr *> members; ///< inside the target; each must be a namespace
    AssignStmt() : Stmt(Kind::Assign) {}
};

struct AssignBlockStmt final : Stmt {
    ExprPtr target;
    ExprPtr filter; ///< a FilterExpr or null
    Body body;
    FramePlan frame;
    AssignBlockStmt() : Stmt(Kind::AssignBlock) {}
};

struct MacroBody {
    std::vector<std::unique_ptr<NameExpr>> parameters;
    std::vector<ExprPtr> defaults; ///< of the last parameters
    Body body;
    bool catchNamed = false, catchPositional = false, caller = false;
    SlotRef callerSlot, namedSlot, positionalSlot;
    FramePlan frame;
    Function function;
};

struct MacroStmt final : Stmt {
    std::string name;
    MacroBody macro;
    SlotRef slot;
    std::uint32_t number = 0;
    bool exported = false;
    MacroStmt() : Stmt(Kind::Macro) {}
};

struct CallBlockStmt final : Stmt {
    std::unique_ptr<CallExpr> call; ///< null: a `generation` block
    MacroBody macro;
    CallBlockStmt() : Stmt(Kind::CallBlock) {}
};

struct FilterBlockStmt final : Stmt {
    ExprPtr filter;
    Body body;
    FramePlan frame;
    FilterBlockStmt() : Stmt(Kind::FilterBlock) {}
};

struct WithStmt final : Stmt {
    std::vector<ExprPtr> targets, values;
    Body body;
    FramePlan frame;
    WithStmt() : Stmt(Kind::With) {}
};

struct ScopeStmt final : Stmt {
    Body body;
    FramePlan frame;
    ScopeStmt() : Stmt(Kind::Scope) {}
};

struct BlockStmt final : Stmt {
    std::string name;
    bool scoped = false, required = false;
    Body body;
    FramePlan frame;
    Function function;
    bool usesSelf = false, usesSuper = false;
    SlotRef selfSlot, superSlot;
    std::vector<std::pair<std::uint32_t, SlotRef>> locals; ///< what a scoped block sees of its surroundings
    BlockStmt() : Stmt(Kind::Block) {}
};

/// extends, include, import, from: there is nothing to load from.
struct LoadStmt final : Stmt {
    ExprPtr source;
    std::vector<std::string> targets; ///< names it would set
    LoadStmt() : Stmt(Kind::Load) {}
};

/// A whole template. Immutable once resolved.
struct Tree {
    std::deque<std::unique_ptr<HeapObject>> constants; ///< first: the nodes' handles go before what they hold
    Body body;
    std::vector<Site> sites{Site{}}; ///< 0 is no place
    FramePlan frame;
    Function function;
    bool usesSelf = false;
    SlotRef selfSlot;
    std::vector<std::string> names; ///< of variables; their numbers index this
    std::map<std::string, BlockStmt *, std::less<>> blocks;

    /// An immortal string of this tree.
    Var constant(std::string text, SourceId source);
};

} // namespace prosector::jinja
