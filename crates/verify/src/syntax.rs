//! Reads the source as Python and lists every syntax error.
//!
//! The parser finds what the grammar forbids and what the cell's Python is too old for; a second walk finds what
//! CPython's compiler refuses although the grammar allows it (`return` outside a function, two `*` targets).

use std::cell::RefCell;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{self as ast, Expr, ModModule, PythonVersion as Target, Stmt};
use ruff_python_parser::semantic_errors::{
    LazyImportContext, SemanticSyntaxChecker, SemanticSyntaxContext, SemanticSyntaxError,
};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};
use ruff_text_size::{Ranged, TextRange};

use crate::finding_code::FindingCode;
use crate::policy::PythonVersion;
use crate::report::{Draft, Report};

/// Parses the source; `None` if it has syntax errors, which are then in the report.
pub(crate) fn parse(
    source: &str,
    python: PythonVersion,
    report: &mut Report<'_>,
) -> Option<Parsed<ModModule>> {
    let target = Target { major: python.major, minor: python.minor };
    let options = ParseOptions::from(Mode::Module).with_target_version(target);
    let parsed = parse_unchecked(source, options).try_into_module()?;
    for error in parsed.errors() {
        add(report, error.location, &error.error.to_string(), "correct the text at this place");
    }
    if report.has_errors() {
        // A tree that was patched up around errors would only give errors that are not there.
        return None;
    }
    for error in parsed.unsupported_syntax_errors() {
        let hint = format!("the cell runs Python {python}; write it in the older way");
        add(report, error.range(), &error.to_string(), &hint);
    }
    for error in compiler_errors(source, target, parsed.syntax()) {
        add(
            report,
            error.range,
            &error.to_string(),
            "Python's compiler refuses this; correct it at this place",
        );
    }
    (!report.has_errors()).then_some(parsed)
}

fn add(report: &mut Report<'_>, range: TextRange, message: &str, hint: &str) {
    let mut characters = message.chars();
    let message: String = match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => "invalid syntax".to_owned(),
    };
    let message = message.trim_end_matches('.').to_owned();
    report.add(Draft::new(FindingCode::SyntaxError, range, message).hint(hint));
}

fn compiler_errors(source: &str, target: Target, module: &ModModule) -> Vec<SemanticSyntaxError> {
    let mut walk = CompilerWalk {
        checker: SemanticSyntaxChecker::new(),
        errors: RefCell::default(),
        source,
        target,
        future_annotations: false,
        scopes: vec![Scope::new(ScopeKind::Module)],
        loops: 0,
    };
    walk.visit_body(&module.body);
    walk.errors.into_inner()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ScopeKind {
    Module,
    Class,
    Function { is_async: bool },
    Lambda,
    Comprehension { is_async: bool, is_generator: bool },
}

struct Scope<'a> {
    kind: ScopeKind,
    globals: Vec<(&'a str, TextRange)>,
    parameters: Vec<&'a str>,
}

impl Scope<'_> {
    const fn new(kind: ScopeKind) -> Self {
        Self { kind, globals: Vec::new(), parameters: Vec::new() }
    }
}

struct CompilerWalk<'a> {
    checker: SemanticSyntaxChecker,
    errors: RefCell<Vec<SemanticSyntaxError>>,
    source: &'a str,
    target: Target,
    future_annotations: bool,
    scopes: Vec<Scope<'a>>,
    loops: usize,
}

impl<'a> CompilerWalk<'a> {
    fn check(&mut self, check: impl FnOnce(&mut SemanticSyntaxChecker, &Self)) {
        let mut checker = std::mem::take(&mut self.checker);
        check(&mut checker, self);
        self.checker = checker;
    }

    fn inside(&mut self, scope: Scope<'a>, walk: impl FnOnce(&mut Self)) {
        self.scopes.push(scope);
        let loops = std::mem::take(&mut self.loops);
        walk(self);
        self.loops = loops;
        self.scopes.pop();
    }

    fn kinds(&self) -> impl Iterator<Item = ScopeKind> + '_ {
        self.scopes.iter().rev().map(|scope| scope.kind)
    }

    fn function(&mut self, function: &'a ast::StmtFunctionDef) {
        for decorator in &function.decorator_list {
            self.visit_decorator(decorator);
        }
        if let Some(type_params) = &function.type_params {
            self.visit_type_params(type_params);
        }
        self.visit_parameters(&function.parameters);
        if let Some(returns) = &function.returns {
            self.visit_annotation(returns);
        }
        let scope = Scope {
            kind: ScopeKind::Function { is_async: function.is_async },
            globals: declared_globals(&function.body),
            parameters: names(&function.parameters),
        };
        self.inside(scope, |walk| walk.visit_body(&function.body));
    }

    fn comprehension(
        &mut self,
        generators: &'a [ast::Comprehension],
        is_generator: bool,
        parts: [Option<&'a Expr>; 2],
    ) {
        // The first iterable is evaluated outside; everything else inside.
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        let is_async = generators.iter().any(|generator| generator.is_async);
        let scope = Scope::new(ScopeKind::Comprehension { is_async, is_generator });
        self.inside(scope, |walk| {
            for (index, generator) in generators.iter().enumerate() {
                walk.visit_expr(&generator.target);
                if index > 0 {
                    walk.visit_expr(&generator.iter);
                }
                for condition in &generator.ifs {
                    walk.visit_expr(condition);
                }
            }
            for part in parts.into_iter().flatten() {
                walk.visit_expr(part);
            }
        });
    }
}

fn names(parameters: &ast::Parameters) -> Vec<&str> {
    parameters.iter().map(|parameter| parameter.name().as_str()).collect()
}

/// Names that the body declares `global`, wherever in it; inner functions and classes are scopes of their own.
fn declared_globals(body: &[Stmt]) -> Vec<(&str, TextRange)> {
    struct Globals<'a>(Vec<(&'a str, TextRange)>);
    impl<'a> ast::statement_visitor::StatementVisitor<'a> for Globals<'a> {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            match stmt {
                Stmt::Global(global) => {
                    self.0.extend(global.names.iter().map(|name| (name.as_str(), global.range)));
                }
                Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
                _ => ast::statement_visitor::walk_stmt(self, stmt),
            }
        }
    }
    let mut globals = Globals(Vec::new());
    ast::statement_visitor::StatementVisitor::visit_body(&mut globals, body);
    globals.0
}

impl<'a> Visitor<'a> for CompilerWalk<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.check(|checker, walk| checker.visit_stmt(stmt, walk));
        match stmt {
            Stmt::ImportFrom(import) if import.module.as_deref() == Some("__future__") => {
                self.future_annotations |= import.names.iter().any(|alias| &alias.name == "annotations");
                visitor::walk_stmt(self, stmt);
            }
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => {
                for decorator in &class.decorator_list {
                    self.visit_decorator(decorator);
                }
                if let Some(type_params) = &class.type_params {
                    self.visit_type_params(type_params);
                }
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
                let scope = Scope { globals: declared_globals(&class.body), ..Scope::new(ScopeKind::Class) };
                self.inside(scope, |walk| walk.visit_body(&class.body));
            }
            Stmt::For(ast::StmtFor { target, iter, body, orelse, .. }) => {
                self.visit_expr(iter);
                self.visit_expr(target);
                self.loops += 1;
                self.visit_body(body);
                self.loops -= 1;
                self.visit_body(orelse);
            }
            Stmt::While(ast::StmtWhile { test, body, orelse, .. }) => {
                self.visit_expr(test);
                self.loops += 1;
                self.visit_body(body);
                self.loops -= 1;
                self.visit_body(orelse);
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.check(|checker, walk| checker.visit_expr(expr, walk));
        match expr {
            Expr::Lambda(lambda) => {
                let mut scope = Scope::new(ScopeKind::Lambda);
                if let Some(parameters) = &lambda.parameters {
                    self.visit_parameters(parameters);
                    scope.parameters = names(parameters);
                }
                self.inside(scope, |walk| walk.visit_expr(&lambda.body));
            }
            Expr::ListComp(ast::ExprListComp { elt, generators, .. })
            | Expr::SetComp(ast::ExprSetComp { elt, generators, .. }) => {
                self.comprehension(generators, false, [Some(elt), None]);
            }
            Expr::Generator(ast::ExprGenerator { elt, generators, .. }) => {
                self.comprehension(generators, true, [Some(elt), None]);
            }
            Expr::DictComp(ast::ExprDictComp { key, value, generators, .. }) => {
                self.comprehension(generators, false, [key.as_deref(), Some(value)]);
            }
            _ => visitor::walk_expr(self, expr),
        }
    }
}

impl SemanticSyntaxContext for CompilerWalk<'_> {
    fn future_annotations_or_stub(&self) -> bool {
        self.future_annotations
    }

    fn lazy_import_context(&self) -> Option<LazyImportContext> {
        // Lazy imports are newer than any Python that cells run; the parser has refused them by version.
        None
    }

    fn python_version(&self) -> Target {
        self.target
    }

    fn source(&self) -> &str {
        self.source
    }

    fn global(&self, name: &str) -> Option<TextRange> {
        let scope = self.scopes.last()?;
        scope.globals.iter().find(|(global, _)| *global == name).map(|&(_, range)| range)
    }

    fn has_nonlocal_binding(&self, _name: &str) -> bool {
        // Deciding it needs every binding of every scope; Python names the rare mistake itself when it starts.
        true
    }

    fn in_async_context(&self) -> bool {
        for kind in self.kinds() {
            match kind {
                ScopeKind::Comprehension { is_async, .. } => {
                    if is_async {
                        return true;
                    }
                }
                ScopeKind::Function { is_async } => return is_async,
                ScopeKind::Module | ScopeKind::Class | ScopeKind::Lambda => return false,
            }
        }
        false
    }

    fn in_await_allowed_context(&self) -> bool {
        for kind in self.kinds() {
            match kind {
                ScopeKind::Class => return false,
                ScopeKind::Function { .. } | ScopeKind::Lambda => return true,
                ScopeKind::Comprehension { .. } | ScopeKind::Module => {}
            }
        }
        false
    }

    fn in_yield_allowed_context(&self) -> bool {
        matches!(self.kinds().next(), Some(ScopeKind::Function { .. } | ScopeKind::Lambda))
    }

    fn in_sync_comprehension(&self) -> bool {
        self.kinds().any(|kind| matches!(kind, ScopeKind::Comprehension { is_async: false, .. }))
    }

    fn in_class_body_comprehension(&self) -> bool {
        self.kinds().find(|kind| !matches!(kind, ScopeKind::Comprehension { .. })) == Some(ScopeKind::Class)
    }

    fn in_module_scope(&self) -> bool {
        self.scopes.len() == 1
    }

    fn in_function_scope(&self) -> bool {
        matches!(self.kinds().next(), Some(ScopeKind::Function { .. } | ScopeKind::Lambda))
    }

    fn in_generator_context(&self) -> bool {
        self.kinds().any(|kind| matches!(kind, ScopeKind::Comprehension { is_generator: true, .. }))
    }

    fn in_notebook(&self) -> bool {
        false
    }

    fn report_semantic_error(&self, error: SemanticSyntaxError) {
        self.errors.borrow_mut().push(error);
    }

    fn in_loop_context(&self) -> bool {
        self.loops > 0
    }

    fn is_bound_parameter(&self, name: &str) -> bool {
        self.scopes.last().is_some_and(|scope| scope.parameters.contains(&name))
    }
}
