//! Which name means what: every scope of the program and what it binds.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    self as ast, Comprehension, ExceptHandler, Expr, ExprContext, Parameters, Pattern, Stmt, TypeParam,
};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashMap;

/// Index of a scope. The module is scope 0.
pub(crate) type ScopeId = usize;

pub(crate) const MODULE: ScopeId = 0;

/// All scopes of a program.
#[derive(Debug)]
pub(crate) struct Scopes<'a> {
    list: Vec<Scope<'a>>,
    by_range: FxHashMap<TextRange, ScopeId>,
    /// `from module import *` stands somewhere, so that any name may be bound.
    pub(crate) has_star_import: bool,
}

#[derive(Debug)]
pub(crate) struct Scope<'a> {
    kind: ScopeKind,
    parent: ScopeId,
    bindings: FxHashMap<&'a str, Binding<'a>>,
    globals: Vec<&'a str>,
    nonlocals: Vec<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScopeKind {
    Module,
    Class,
    Function,
    Comprehension,
}

/// What binds a name in one scope; several things may.
#[derive(Debug, Default)]
pub(crate) struct Binding<'a> {
    /// The full name of what an import binds: `import numpy as np` gives `numpy`.
    pub(crate) import: Option<String>,
    /// The literal texts that are assigned, if nothing else ever is.
    pub(crate) texts: Option<Vec<&'a str>>,
    /// Something besides imports binds it.
    pub(crate) is_variable: bool,
    /// The class statement that binds it, if nothing else ever does.
    pub(crate) class: Option<&'a ast::StmtClassDef>,
}

/// What a name means where it is used.
#[derive(Debug)]
pub(crate) enum Meaning<'s, 'a> {
    /// Bound by the program, in this scope.
    Bound(&'s Binding<'a>),
    /// Not bound by the program: provided, a builtin, or nothing.
    Free,
}

impl<'a> Scopes<'a> {
    pub(crate) fn of(body: &'a [Stmt]) -> Self {
        let module = Scope::new(ScopeKind::Module, MODULE);
        let scopes = Scopes { list: vec![module], by_range: FxHashMap::default(), has_star_import: false };
        let mut binder = Binder { scopes, current: MODULE };
        binder.visit_body(body);
        binder.scopes
    }

    /// The scope that a function, class, lambda or comprehension opens.
    pub(crate) fn at(&self, range: TextRange) -> Option<ScopeId> {
        self.by_range.get(&range).copied()
    }

    /// What `name` means when it is used in `scope`.
    pub(crate) fn meaning(&self, name: &str, scope: ScopeId) -> Meaning<'_, 'a> {
        self.binding_scope(name, scope)
            .and_then(|owner| self.list[owner].bindings.get(name))
            .map_or(Meaning::Free, Meaning::Bound)
    }

    /// The scope whose binding of `name` is seen from `scope`.
    pub(crate) fn binding_scope(&self, name: &str, scope: ScopeId) -> Option<ScopeId> {
        let mut at = scope;
        loop {
            let here = &self.list[at];
            if here.globals.contains(&name) {
                at = MODULE;
                return self.list[at].bindings.contains_key(name).then_some(at);
            }
            // The names of a class are seen in its body only, not in the functions inside it.
            let is_visible = here.kind != ScopeKind::Class || at == scope;
            if is_visible && here.bindings.contains_key(name) {
                return Some(at);
            }
            if at == MODULE {
                return None;
            }
            at = here.parent;
        }
    }

    pub(crate) fn is_function(&self, scope: ScopeId) -> bool {
        self.list[scope].kind == ScopeKind::Function
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.list.iter().flat_map(|scope| scope.bindings.keys().copied())
    }

    /// The functions that a comprehension's scope belongs to: itself, unless it is a comprehension.
    pub(crate) fn function_of(&self, scope: ScopeId) -> ScopeId {
        let mut at = scope;
        while self.list[at].kind == ScopeKind::Comprehension {
            at = self.list[at].parent;
        }
        at
    }
}

impl Scope<'_> {
    fn new(kind: ScopeKind, parent: ScopeId) -> Self {
        Self { kind, parent, bindings: FxHashMap::default(), globals: Vec::new(), nonlocals: Vec::new() }
    }
}

struct Binder<'a> {
    scopes: Scopes<'a>,
    current: ScopeId,
}

impl<'a> Binder<'a> {
    fn inside(&mut self, kind: ScopeKind, range: TextRange, walk: impl FnOnce(&mut Self)) {
        let id = self.scopes.list.len();
        self.scopes.list.push(Scope::new(kind, self.current));
        self.scopes.by_range.insert(range, id);
        let outer = std::mem::replace(&mut self.current, id);
        walk(self);
        self.current = outer;
    }

    fn binding(&mut self, name: &'a str) -> Option<&mut Binding<'a>> {
        let scope = &self.scopes.list[self.current];
        if scope.nonlocals.contains(&name) {
            return None;
        }
        let owner = if scope.globals.contains(&name) { MODULE } else { self.current };
        Some(self.scopes.list[owner].bindings.entry(name).or_default())
    }

    fn bind(&mut self, name: &'a str) {
        if let Some(binding) = self.binding(name) {
            binding.is_variable = true;
            binding.texts = None;
            binding.class = None;
        }
    }

    fn bind_class(&mut self, class: &'a ast::StmtClassDef) {
        let is_first = self
            .binding(class.name.as_str())
            .is_some_and(|binding| !binding.is_variable && binding.import.is_none());
        self.bind(class.name.as_str());
        if let Some(binding) = self.binding(class.name.as_str()) {
            binding.class = is_first.then_some(class);
        }
    }

    /// Binds a name to literal texts, which stay known as long as nothing else is assigned.
    fn bind_texts(&mut self, name: &'a str, texts: &[&'a str]) {
        if let Some(binding) = self.binding(name) {
            if binding.is_variable {
                if let Some(known) = &mut binding.texts {
                    known.extend(texts);
                }
            } else {
                binding.texts = Some(texts.to_vec());
            }
            binding.is_variable = true;
            binding.class = None;
        }
    }

    fn bind_import(&mut self, name: &'a str, path: String) {
        if let Some(binding) = self.binding(name) {
            binding.import = Some(path);
            binding.texts = None;
            binding.class = None;
        }
    }

    /// Binds a target; a name that gets literal texts remembers them.
    fn bind_target(&mut self, target: &'a Expr, texts: Option<Vec<&'a str>>) {
        match (target, texts) {
            (Expr::Name(name), Some(texts)) => self.bind_texts(name.id.as_str(), &texts),
            _ => self.visit_expr(target),
        }
    }

    fn parameters(&mut self, parameters: &'a Parameters) {
        for parameter in parameters {
            self.bind(parameter.name().as_str());
        }
    }

    fn outside_of_function(&mut self, parameters: &'a Parameters) {
        for parameter in parameters {
            if let Some(annotation) = parameter.annotation() {
                self.visit_annotation(annotation);
            }
            if let Some(default) = parameter.default() {
                self.visit_expr(default);
            }
        }
    }

    fn function(&mut self, function: &'a ast::StmtFunctionDef) {
        self.bind(function.name.as_str());
        for decorator in &function.decorator_list {
            self.visit_decorator(decorator);
        }
        self.outside_of_function(&function.parameters);
        if let Some(returns) = &function.returns {
            self.visit_annotation(returns);
        }
        self.inside(ScopeKind::Function, function.range, |binder| {
            if let Some(type_params) = &function.type_params {
                binder.visit_type_params(type_params);
            }
            binder.parameters(&function.parameters);
            binder.visit_body(&function.body);
        });
    }

    fn comprehension(
        &mut self,
        range: TextRange,
        generators: &'a [Comprehension],
        parts: [Option<&'a Expr>; 2],
    ) {
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        self.inside(ScopeKind::Comprehension, range, |binder| {
            for (index, generator) in generators.iter().enumerate() {
                binder.bind_target(&generator.target, texts_of_list(&generator.iter));
                if index > 0 {
                    binder.visit_expr(&generator.iter);
                }
                for condition in &generator.ifs {
                    binder.visit_expr(condition);
                }
            }
            for part in parts.into_iter().flatten() {
                binder.visit_expr(part);
            }
        });
    }

    fn import(&mut self, import: &'a ast::StmtImport) {
        for alias in &import.names {
            let path = alias.name.as_str();
            let top = path.split('.').next().unwrap_or(path);
            let (name, path) = alias.asname.as_ref().map_or((top, top), |name| (name.as_str(), path));
            self.bind_import(name, path.to_owned());
        }
    }

    fn import_from(&mut self, import: &'a ast::StmtImportFrom) {
        let module = import.module.as_deref().unwrap_or_default();
        for alias in &import.names {
            if &alias.name == "*" {
                self.scopes.has_star_import = true;
                continue;
            }
            let name = alias.asname.as_ref().unwrap_or(&alias.name);
            self.bind_import(name.as_str(), format!("{module}.{}", alias.name));
        }
    }
}

impl<'a> Visitor<'a> for Binder<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => {
                self.bind_class(class);
                for decorator in &class.decorator_list {
                    self.visit_decorator(decorator);
                }
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
                self.inside(ScopeKind::Class, class.range, |binder| {
                    if let Some(type_params) = &class.type_params {
                        binder.visit_type_params(type_params);
                    }
                    binder.visit_body(&class.body);
                });
            }
            Stmt::Assign(ast::StmtAssign { targets, value, .. }) => {
                self.visit_expr(value);
                for target in targets {
                    self.bind_target(target, text_of(value).map(|text| vec![text]));
                }
            }
            Stmt::For(ast::StmtFor { target, iter, body, orelse, .. }) => {
                self.visit_expr(iter);
                self.bind_target(target, texts_of_list(iter));
                self.visit_body(body);
                self.visit_body(orelse);
            }
            Stmt::Import(import) => self.import(import),
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::Global(global) => {
                for name in &global.names {
                    self.scopes.list[self.current].globals.push(name.as_str());
                    self.bind(name.as_str());
                }
            }
            Stmt::Nonlocal(nonlocal) => {
                let names = nonlocal.names.iter().map(ast::Identifier::as_str);
                self.scopes.list[self.current].nonlocals.extend(names);
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx != ExprContext::Load => self.bind(name.id.as_str()),
            Expr::Named(named) => {
                self.visit_expr(&named.value);
                // A walrus inside a comprehension binds in the function around it.
                let inner = self.current;
                self.current = self.scopes.function_of(inner);
                self.visit_expr(&named.target);
                self.current = inner;
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.outside_of_function(parameters);
                }
                self.inside(ScopeKind::Function, lambda.range, |binder| {
                    if let Some(parameters) = &lambda.parameters {
                        binder.parameters(parameters);
                    }
                    binder.visit_expr(&lambda.body);
                });
            }
            Expr::ListComp(ast::ExprListComp { elt, generators, .. })
            | Expr::SetComp(ast::ExprSetComp { elt, generators, .. })
            | Expr::Generator(ast::ExprGenerator { elt, generators, .. }) => {
                self.comprehension(expr.range(), generators, [Some(elt), None]);
            }
            Expr::DictComp(ast::ExprDictComp { key, value, generators, .. }) => {
                self.comprehension(expr.range(), generators, [key.as_deref(), Some(value)]);
            }
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.bind(name.as_str());
        }
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(inner) => inner.name.as_ref(),
            Pattern::MatchStar(inner) => inner.name.as_ref(),
            Pattern::MatchMapping(inner) => inner.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.bind(name.as_str());
        }
        visitor::walk_pattern(self, pattern);
    }

    fn visit_type_param(&mut self, type_param: &'a TypeParam) {
        self.bind(type_param.name().as_str());
        visitor::walk_type_param(self, type_param);
    }
}

/// The text of a string literal.
pub(crate) fn text_of(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::StringLiteral(literal) => Some(literal.value.to_str()),
        _ => None,
    }
}

/// The texts of a list, tuple or set that holds nothing but string literals.
fn texts_of_list(expr: &Expr) -> Option<Vec<&str>> {
    let elements = match expr {
        Expr::List(list) => &list.elts,
        Expr::Tuple(tuple) => &tuple.elts,
        Expr::Set(set) => &set.elts,
        _ => return None,
    };
    elements.iter().map(text_of).collect()
}
