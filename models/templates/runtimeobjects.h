// SPDX-License-Identifier: GPL-3.0-or-later
// The objects Jinja itself puts into templates.
#pragma once

#include "models/templates/nodes.h"

namespace prosector::jinja {

/// The variables of one run of a Function. Macros keep the one they were made in.
struct Scope final : HeapObject {
    std::vector<Var> slots;
    Ref<Scope> parent;
    bool watched = false; ///< in the renderer's list of what may stand in a cycle
};

class MacroObject final : public Object {
public:
    MacroObject(const MacroBody &body, std::string name, Ref<Scope> scope) : m_body(&body), m_name(std::move(name)), m_scope(std::move(scope)) {}
    std::string_view typeName() const override { return "Macro"; }
    std::string qualifiedName() const override { return "jinja2.runtime.Macro"; }
    std::string repr() const override;
    std::optional<Var> attribute(Renderer &renderer, std::string_view name) override;
    bool callable() const override { return true; }
    Var call(Renderer &renderer, Arguments &arguments) override;

private:
    const MacroBody *m_body;
    std::string m_name; ///< empty: the body of a call block
    Ref<Scope> m_scope;
};

class LoopObject final : public Object {
public:
    LoopObject(Renderer &renderer, Var iterable, const ForStmt *recursive, Ref<Scope> scope, std::int64_t depth);
    bool advance(Renderer &renderer, Var &item);

    std::string_view typeName() const override { return "LoopContext"; }
    std::string qualifiedName() const override { return "jinja2.runtime.LoopContext"; }
    std::string repr() const override;
    std::optional<Var> attribute(Renderer &renderer, std::string_view name) override;
    bool callable() const override { return true; }
    Var call(Renderer &renderer, Arguments &arguments) override;
    std::optional<std::int64_t> length(Renderer &renderer) const override;

private:
    const Var &peek(Renderer &renderer);

    mutable Var m_iterable;
    mutable Ref<Iterator> m_iterator;
    const ForStmt *m_recursive;
    Ref<Scope> m_scope; ///< around a recursive loop
    std::int64_t m_depth, m_index = -1;
    mutable std::int64_t m_length = -1;
    Var m_before, m_current, m_after, m_lastChanged;
};

class NamespaceObject final : public Object {
public:
    explicit NamespaceObject(Var dict);
    std::string_view typeName() const override { return "Namespace"; }
    std::string qualifiedName() const override { return "jinja2.utils.Namespace"; }
    std::string repr() const override;
    std::optional<Var> attribute(Renderer &renderer, std::string_view name) override;
    void set(Var name, Var value);
    void clear();

private:
    Var m_values; ///< a dict of its own
};

class CyclerObject final : public Object {
public:
    explicit CyclerObject(std::vector<Var> items) : m_items(std::move(items)) {}
    std::string_view typeName() const override { return "Cycler"; }
    std::string qualifiedName() const override { return "jinja2.utils.Cycler"; }
    std::optional<Var> attribute(Renderer &renderer, std::string_view name) override;

private:
    std::vector<Var> m_items;
    std::size_t m_at = 0;
};

class JoinerObject final : public Object {
public:
    explicit JoinerObject(Var separator) : m_separator(std::move(separator)) {}
    std::string_view typeName() const override { return "Joiner"; }
    std::string qualifiedName() const override { return "jinja2.utils.Joiner"; }
    std::optional<Var> attribute(Renderer &renderer, std::string_view name) override;
    bool callable() const override { return true; }
    Var call(Renderer &renderer, Arguments &arguments) override;

private:
    Var m_separator;
    bool m_used = false;
};

/// A function of ours, of nothing or of an object.
class NativeFunction final : public Object {
public:
    using Run = Var (*)(Renderer &renderer, const Var &self, Arguments &arguments);
    NativeFunction(std::string_view name, Run run, Var self = {}, std::string_view type = "function") : m_name(name), m_type(type), m_run(run), m_self(std::move(self)) {}
    std::string_view typeName() const override { return m_type; }
    std::string repr() const override { return m_type == "type" ? "<class '" + std::string(m_name) + "'>" : "<" + std::string(m_type) + " " + std::string(m_name) + ">"; }
    bool callable() const override { return true; }
    Var call(Renderer &renderer, Arguments &arguments) override { return m_run(renderer, m_self, arguments); }

private:
    std::string_view m_name, m_type;
    Run m_run;
    Var m_self;
};

/// `self` inside a template, and one of its blocks.
class TemplateReference final : public Object {
public:
    std::string_view typeName() const override { return "TemplateReference"; }
    std::string qualifiedName() const override { return "jinja2.runtime.TemplateReference"; }
    std::string repr() const override { return "<TemplateReference None>"; }
    std::optional<Var> item(Renderer &renderer, const Var &key) override;
    bool subscriptable() const override { return true; }
};

class BlockReference final : public Object {
public:
    explicit BlockReference(const BlockStmt &block) : m_block(&block) {}
    std::string_view typeName() const override { return "BlockReference"; }
    std::string qualifiedName() const override { return "jinja2.runtime.BlockReference"; }
    std::optional<Var> attribute(Renderer &renderer, std::string_view name) override;
    bool callable() const override { return true; }
    Var call(Renderer &renderer, Arguments &arguments) override;

private:
    const BlockStmt *m_block;
};

/// The functions every template finds: range, namespace, raise_exception, …; Missing for other names.
Var globalFunction(std::string_view name);

} // namespace prosector::jinja
