//! Judges names: what is imported, called, reached into or never defined.
//!
//! One walk over the whole tree, independent of the order in which code runs. It sees every line, reached or
//! not, so nothing hides behind a condition. What the walk cannot know (which table a row comes from) is left to
//! [`crate::flow`].

mod attributes;
pub(crate) mod calls;
mod chance;
mod imports;
mod patterns;
mod provided;
pub(crate) mod scopes;
mod statements;
mod tools;
mod undefined;

use ordain_types::Schema;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    self as ast, Comprehension, Expr, ExprContext, Parameters, Pattern, PatternKeyword, Stmt,
};
use ruff_text_size::{Ranged, TextRange};

use crate::data::stdlib;
use crate::effects::Effects;
use crate::policy::Policy;
use crate::report::Report;
use scopes::{MODULE, Meaning, ScopeId, Scopes};

/// Judges every name of the program and records its imports, its helpers and whether it is deterministic.
pub(crate) fn judge<'a>(
    body: &'a [Stmt],
    scopes: &Scopes<'a>,
    policy: &Policy,
    schema: &Schema,
    report: &mut Report<'a>,
    effects: &mut Effects,
) {
    let mut names = Names {
        scopes,
        policy,
        schema,
        report,
        effects,
        scope: MODULE,
        guards: Guards::default(),
        allowed_class: None,
        undefined: undefined::Undefined::default(),
        chance: chance::Chance::default(),
        annotations_run: true,
        callee: None,
        tools_called: None,
    };
    names.visit_module(body);
    chance::finish(&mut names);
    undefined::finish(&mut names, body);
}

/// Refuses code that reads a table whose rows a tool that it calls may not be given.
pub(crate) fn judge_tables_of_tools(policy: &Policy, effects: &Effects, report: &mut Report<'_>) {
    tools::tables(policy, effects, report);
}

/// The walk's state.
struct Names<'a, 'r, 's> {
    scopes: &'s Scopes<'a>,
    policy: &'r Policy,
    schema: &'r Schema,
    report: &'r mut Report<'a>,
    effects: &'r mut Effects,
    scope: ScopeId,
    guards: Guards,
    /// A `__class__` that is harmless because only its name is read.
    allowed_class: Option<TextRange>,
    undefined: undefined::Undefined<'a>,
    chance: chance::Chance,
    /// Whether annotations are evaluated when the code runs.
    annotations_run: bool,
    /// The expression before the parentheses of the call that is judged.
    callee: Option<TextRange>,
    /// The `tools` of the call that was judged last.
    tools_called: Option<TextRange>,
}

/// How many `try` statements around the current place catch these errors.
#[derive(Debug, Default, Clone, Copy)]
struct Guards {
    imports: usize,
    names: usize,
    /// Any error at all.
    any: usize,
}

impl<'a> Names<'a, '_, '_> {
    fn visit_module(&mut self, body: &'a [Stmt]) {
        let last = body.last().map(Ranged::range);
        for stmt in body {
            statements::judge(self, stmt, Some(stmt.range()) == last);
            self.visit_stmt(stmt);
        }
    }

    fn is_importable(&self, top: &str) -> bool {
        stdlib::is_stdlib(top, self.policy.python)
            || self.policy.packages.iter().any(|package| package == top)
            || self.policy.allowed_imports.iter().any(|module| module.split('.').next() == Some(top))
    }

    /// The full name of a module member: `np.random.rand` is `numpy.random.rand`.
    fn path(&self, expr: &Expr) -> Option<String> {
        // No module member is that deep; a hostile chain is not worth the walk.
        let mut attributes = [""; 8];
        let mut count = 0;
        let mut at = expr;
        while let Expr::Attribute(attribute) = at {
            *attributes.get_mut(count)? = attribute.attr.as_str();
            count += 1;
            at = &attribute.value;
        }
        let Expr::Name(name) = at else { return None };
        let Meaning::Bound(binding) = self.scopes.meaning(name.id.as_str(), self.scope) else { return None };
        let mut path = binding.import.clone()?;
        for attribute in attributes[..count].iter().rev() {
            path.push('.');
            path.push_str(attribute);
        }
        Some(path)
    }

    /// Whether an expression is the builtin function of that name, not something that the program defined.
    fn is_builtin(&self, expr: &Expr, name: &str) -> bool {
        matches!(expr, Expr::Name(found) if found.id.as_str() == name)
            && matches!(self.scopes.meaning(name, self.scope), Meaning::Free)
    }

    /// Whether an expression is called where it stands.
    fn is_callee(&self, range: TextRange) -> bool {
        self.callee == Some(range)
    }

    /// Whether the cell defines the name before the code starts.
    fn is_provided(&self, name: &str) -> bool {
        self.policy.names.iter().any(|provided| provided == name)
            || self.policy.helper(name).is_some()
            || name.strip_suffix("_tbl").is_some_and(|table| self.schema.table(table).is_some())
    }

    fn inside(&mut self, range: TextRange, walk: impl FnOnce(&mut Self)) {
        let outer = self.scope;
        self.scope = self.scopes.at(range).unwrap_or(outer);
        walk(self);
        self.scope = outer;
    }

    fn parameters(&mut self, parameters: &'a Parameters) {
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
        if matches!(function.name.as_str(), "__instancecheck__" | "__subclasscheck__" | "__subclasshook__") {
            attributes::attribute_name(self, function.name.as_str(), function.name.range());
        }
        for decorator in &function.decorator_list {
            self.visit_decorator(decorator);
        }
        if function.type_params.is_none() {
            self.parameters(&function.parameters);
            if let Some(returns) = &function.returns {
                self.visit_annotation(returns);
            }
        }
        self.inside(function.range, |names| {
            // A `try` around the definition does not catch what happens when the function is called.
            let guards = std::mem::take(&mut names.guards);
            names.visit_body(&function.body);
            names.guards = guards;
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
        self.inside(range, |names| {
            for (index, generator) in generators.iter().enumerate() {
                names.visit_expr(&generator.target);
                if index > 0 {
                    names.visit_expr(&generator.iter);
                }
                for condition in &generator.ifs {
                    names.visit_expr(condition);
                }
            }
            for part in parts.into_iter().flatten() {
                names.visit_expr(part);
            }
        });
    }

    fn try_statement(&mut self, statement: &'a ast::StmtTry) {
        let outer = self.guards;
        self.guards.imports += usize::from(catches(statement, &["ImportError", "ModuleNotFoundError"]));
        self.guards.names += usize::from(catches(statement, &["NameError"]));
        self.guards.any += usize::from(!statement.handlers.is_empty());
        self.visit_body(&statement.body);
        self.guards = outer;
        for handler in &statement.handlers {
            self.visit_except_handler(handler);
        }
        self.visit_body(&statement.orelse);
        self.visit_body(&statement.finalbody);
    }
}

/// `__match_args__ = …`
fn is_match_arguments(targets: &[Expr]) -> bool {
    matches!(targets, [Expr::Name(name)] if name.id.as_str() == "__match_args__")
}

/// Whether a handler of the statement catches one of the errors, or everything.
fn catches(statement: &ast::StmtTry, errors: &[&str]) -> bool {
    let is_one = |expr: &Expr| {
        matches!(expr, Expr::Name(name)
            if errors.contains(&name.id.as_str()) || matches!(name.id.as_str(), "Exception" | "BaseException"))
    };
    statement.handlers.iter().any(|ast::ExceptHandler::ExceptHandler(handler)| {
        match handler.type_.as_deref() {
            None => true,
            Some(Expr::Tuple(tuple)) => tuple.elts.iter().any(is_one),
            Some(expr) => is_one(expr),
        }
    })
}

impl<'a> Visitor<'a> for Names<'a, '_, '_> {
    fn visit_body(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            statements::judge(self, stmt, false);
            self.visit_stmt(stmt);
        }
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => imports::import(self, import),
            Stmt::ImportFrom(import) => {
                if import.module.as_deref() == Some("__future__") {
                    self.annotations_run &= import.names.iter().all(|alias| &alias.name != "annotations");
                } else {
                    imports::import_from(self, import);
                }
            }
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => {
                for decorator in &class.decorator_list {
                    self.visit_decorator(decorator);
                }
                if class.type_params.is_none()
                    && let Some(arguments) = &class.arguments
                {
                    self.visit_arguments(arguments);
                }
                self.inside(class.range, |names| names.visit_body(&class.body));
            }
            Stmt::Try(statement) => self.try_statement(statement),
            Stmt::Assign(statement) if is_match_arguments(&statement.targets) => {
                attributes::match_arguments(self, &statement.value);
                self.visit_expr(&statement.value);
            }
            // What annotates a local variable is never evaluated.
            Stmt::AnnAssign(statement) if self.scopes.is_function(self.scope) => {
                if let Some(value) = &statement.value {
                    self.visit_expr(value);
                }
                self.visit_expr(&statement.target);
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        if let Pattern::MatchClass(class) = pattern {
            patterns::class(self, class);
        }
        visitor::walk_pattern(self, pattern);
    }

    fn visit_pattern_keyword(&mut self, keyword: &'a PatternKeyword) {
        attributes::attribute_of_anything(self, keyword.attr.as_str(), keyword.attr.range());
        visitor::walk_pattern_keyword(self, keyword);
    }

    fn visit_annotation(&mut self, annotation: &'a Expr) {
        // Annotations that are not run here may name what does not exist, but may be run elsewhere.
        let is_run = self.annotations_run && self.policy.python.minor < 14;
        self.guards.names += usize::from(!is_run);
        self.visit_expr(annotation);
        self.guards.names -= usize::from(!is_run);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        provided::note(self, expr);
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Load => {
                tools::name(self, name);
                calls::name(self, name);
            }
            Expr::Name(name) => {
                // A field of a dataclass is what a pattern looks at.
                attributes::attribute_name(self, name.id.as_str(), name.range());
            }
            Expr::Attribute(attribute) => {
                attributes::judge(self, attribute);
                match &*attribute.value {
                    Expr::Name(name) => match self.scopes.meaning(name.id.as_str(), self.scope) {
                        Meaning::Bound(binding) if binding.import.is_none() => {}
                        Meaning::Bound(_) => calls::member(self, expr),
                        Meaning::Free => undefined::note_attribute(self, name.id.as_str(), attribute),
                    },
                    _ => calls::member(self, expr),
                }
                self.visit_expr(&attribute.value);
            }
            Expr::Call(call) => {
                self.tools_called = tools::call(self, call).or(self.tools_called);
                let path = self.path(&call.func);
                calls::call(self, call, path.as_deref());
                chance::call(self, call, path);
                self.callee = Some(call.func.range());
                visitor::walk_expr(self, expr);
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.parameters(parameters);
                }
                self.inside(lambda.range, |names| names.visit_expr(&lambda.body));
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
}
