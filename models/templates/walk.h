// SPDX-License-Identifier: GPL-3.0-or-later
// One walk over the tree for everyone who looks for something in it. The order of children is that of
// the fields in Jinja's nodes, which decides some questions of scope.
#pragma once

#include "models/templates/nodes.h"

namespace prosector::jinja {

/// Calls `visit(const ExprPtr &)` for every child of an expression.
template<class Visit>
void eachArgument(const CallArguments &arguments, Visit &&visit)
{
    for (const ExprPtr &child : arguments.positional)
        visit(child);
    for (const CallArguments::Named &child : arguments.named)
        visit(child.value);
    if (arguments.spread)
        visit(arguments.spread);
    if (arguments.spreadNamed)
        visit(arguments.spreadNamed);
}

template<class Visit>
void eachChild(const Expr &expr, Visit &&visit)
{
    const auto maybe = [&visit](const ExprPtr &child) {
        if (child)
            visit(child);
    };
    switch (expr.kind) {
    case Expr::Kind::Const:
    case Expr::Kind::Text:
    case Expr::Kind::Name:
    case Expr::Kind::NamespaceMember: return;
    case Expr::Kind::Attribute: return visit(static_cast<const AttributeExpr &>(expr).object);
    case Expr::Kind::Item: {
        const auto &node = static_cast<const ItemExpr &>(expr);
        visit(node.object);
        return visit(node.key);
    }
    case Expr::Kind::Slice: {
        const auto &node = static_cast<const SliceExpr &>(expr);
        maybe(node.start);
        maybe(node.stop);
        return maybe(node.step);
    }
    case Expr::Kind::Call: {
        const auto &node = static_cast<const CallExpr &>(expr);
        visit(node.callee);
        return eachArgument(node.arguments, visit);
    }
    case Expr::Kind::Filter: {
        const auto &node = static_cast<const FilterExpr &>(expr);
        maybe(node.input);
        return eachArgument(node.arguments, visit);
    }
    case Expr::Kind::Test: {
        const auto &node = static_cast<const TestExpr &>(expr);
        visit(node.input);
        return eachArgument(node.arguments, visit);
    }
    case Expr::Kind::Unary: return visit(static_cast<const UnaryExpr &>(expr).operand);
    case Expr::Kind::Binary:
    case Expr::Kind::And:
    case Expr::Kind::Or: {
        const auto &node = static_cast<const BinaryExpr &>(expr);
        visit(node.left);
        return visit(node.right);
    }
    case Expr::Kind::Compare: {
        const auto &node = static_cast<const CompareExpr &>(expr);
        visit(node.left);
        for (const CompareExpr::Operand &operand : node.operands)
            visit(operand.right);
        return;
    }
    case Expr::Kind::Condition: {
        const auto &node = static_cast<const ConditionExpr &>(expr);
        visit(node.test);
        visit(node.then);
        return maybe(node.otherwise);
    }
    case Expr::Kind::Concat:
    case Expr::Kind::Tuple:
    case Expr::Kind::List:
        for (const ExprPtr &child : static_cast<const ListExpr &>(expr).items)
            visit(child);
        return;
    case Expr::Kind::Dict:
        for (const auto &[key, value] : static_cast<const DictExpr &>(expr).items) {
            visit(key);
            visit(value);
        }
        return;
    }
}

/// Calls `expression(const ExprPtr &)` and `body(const Body &)` for the children of a statement;
/// `parameter(const NameExpr &)` for those of a macro.
template<class Expression, class Bodies, class Parameter>
void eachChild(const Stmt &stmt, Expression &&expression, Bodies &&body, Parameter &&parameter)
{
    const auto maybe = [&expression](const ExprPtr &child) {
        if (child)
            expression(child);
    };
    const auto macro = [&](const MacroBody &node) {
        for (const auto &name : node.parameters)
            parameter(*name);
        for (const ExprPtr &value : node.defaults)
            expression(value);
        body(node.body);
    };
    switch (stmt.kind) {
    case Stmt::Kind::Output:
        for (const ExprPtr &child : static_cast<const OutputStmt &>(stmt).children)
            expression(child);
        return;
    case Stmt::Kind::If: {
        const auto &node = static_cast<const IfStmt &>(stmt);
        for (const IfStmt::Branch &branch : node.branches) {
            expression(branch.test);
            body(branch.body);
        }
        return body(node.otherwise);
    }
    case Stmt::Kind::For: {
        const auto &node = static_cast<const ForStmt &>(stmt);
        expression(node.target);
        expression(node.iterable);
        body(node.body);
        body(node.otherwise);
        return maybe(node.test);
    }
    case Stmt::Kind::Assign: {
        const auto &node = static_cast<const AssignStmt &>(stmt);
        expression(node.target);
        return expression(node.value);
    }
    case Stmt::Kind::AssignBlock: {
        const auto &node = static_cast<const AssignBlockStmt &>(stmt);
        expression(node.target);
        maybe(node.filter);
        return body(node.body);
    }
    case Stmt::Kind::Macro: return macro(static_cast<const MacroStmt &>(stmt).macro);
    case Stmt::Kind::CallBlock: {
        const auto &node = static_cast<const CallBlockStmt &>(stmt);
        if (node.call)
            eachChild(*node.call, expression);
        return macro(node.macro);
    }
    case Stmt::Kind::FilterBlock: {
        const auto &node = static_cast<const FilterBlockStmt &>(stmt);
        body(node.body);
        return expression(node.filter);
    }
    case Stmt::Kind::With: {
        const auto &node = static_cast<const WithStmt &>(stmt);
        for (const ExprPtr &child : node.targets)
            expression(child);
        for (const ExprPtr &child : node.values)
            expression(child);
        return body(node.body);
    }
    case Stmt::Kind::Scope: return body(static_cast<const ScopeStmt &>(stmt).body);
    case Stmt::Kind::Block: return body(static_cast<const BlockStmt &>(stmt).body);
    case Stmt::Kind::Load: return expression(static_cast<const LoadStmt &>(stmt).source);
    case Stmt::Kind::Break:
    case Stmt::Kind::Continue: return;
    }
}

} // namespace prosector::jinja
