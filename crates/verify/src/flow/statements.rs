//! Statements: paths part, meet and end.

use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::Ranged;

use super::Flow;
use super::calls::Args;
use super::functions::Definition;
use super::state::Reach;
use super::value::Value;
use crate::finding_code::FindingCode;
use crate::report::Draft;

impl<'a> Flow<'a, '_, '_, '_> {
    /// Walks statements until one of them does not go on.
    pub(super) fn body(&mut self, body: &'a [Stmt]) -> Reach {
        for stmt in body {
            if self.statement(stmt) == Reach::Stop {
                return Reach::Stop;
            }
        }
        Reach::Next
    }

    fn statement(&mut self, stmt: &'a Stmt) -> Reach {
        self.steps += 1;
        let reach = match stmt {
            Stmt::Expr(statement) => {
                let _ = self.eval(&statement.value);
                self.dropped(&statement.value);
                Reach::Next
            }
            Stmt::Assign(statement) => {
                let value = self.eval(&statement.value);
                for target in &statement.targets {
                    self.assign(target, value.clone());
                }
                Reach::Next
            }
            Stmt::AnnAssign(statement) => {
                if let Some(value) = &statement.value {
                    let value = self.eval(value);
                    self.assign(&statement.target, value);
                }
                Reach::Next
            }
            Stmt::AugAssign(statement) => self.augmented(statement),
            Stmt::If(statement) => self.if_statement(statement),
            Stmt::For(statement) => self.for_statement(statement),
            Stmt::While(statement) => self.while_statement(statement),
            Stmt::Try(statement) => self.try_statement(statement),
            Stmt::With(statement) => {
                for item in &statement.items {
                    let value = self.eval(&item.context_expr);
                    if let Some(target) = &item.optional_vars {
                        self.assign(target, value);
                    }
                }
                self.body(&statement.body)
            }
            Stmt::Match(statement) => self.match_statement(statement),
            Stmt::FunctionDef(function) => {
                let value = self.define(Definition::Function(function), function.range());
                let value = self.decorated(&function.decorator_list, value);
                self.set_variable(function.name.as_str(), value);
                Reach::Next
            }
            Stmt::ClassDef(class) => self.class(class),
            Stmt::Return(statement) => {
                let value = statement.value.as_ref().map_or(Value::None, |value| self.eval(value));
                self.returned(value);
                Reach::Stop
            }
            Stmt::Raise(statement) => self.raise(statement),
            Stmt::Break(_) | Stmt::Continue(_) => self.leave_turn(stmt.is_break_stmt()),
            Stmt::Import(import) => self.import(import),
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::Delete(statement) => {
                for target in &statement.targets {
                    if let Expr::Name(name) = target {
                        self.set_variable(name.id.as_str(), Value::Unknown);
                    }
                }
                Reach::Next
            }
            Stmt::Assert(statement) => {
                let _ = self.eval(&statement.test);
                Reach::Next
            }
            Stmt::Global(_)
            | Stmt::Nonlocal(_)
            | Stmt::Pass(_)
            | Stmt::TypeAlias(_)
            | Stmt::IpyEscapeCommand(_) => Reach::Next,
        };
        if self.state.is_dead { Reach::Stop } else { reach }
    }

    /// A value that a statement computes and that is not used.
    fn dropped(&mut self, expr: &'a Expr) {
        let Expr::Call(call) = expr else { return };
        let Expr::Attribute(attribute) = &*call.func else { return };
        let name = attribute.attr.as_str();
        let is_read = matches!(name, "search" | "get" | "all" | "count" | "contains")
            && matches!(self.receiver(&attribute.value), Some(Value::Table(_)));
        if is_read {
            let message = format!("`{name}` gives a new value, which is dropped");
            let draft = Draft::new(FindingCode::UnusedResult, call.range(), message);
            self.report.add(draft.hint("assign the result, or remove the statement"));
        }
    }

    /// What a plain name holds, without walking it again.
    pub(super) fn receiver(&self, expr: &'a Expr) -> Option<Value<'a>> {
        let Expr::Name(name) = expr else { return None };
        let name = name.id.as_str();
        let known = self.slot(name).and_then(|slot| self.state.get(slot).cloned());
        known.or_else(|| {
            let table = name.strip_suffix("_tbl")?;
            self.schema
                .tables
                .iter()
                .position(|known| known.name == table)
                .map(|table| Value::Table(Some(table)))
        })
    }

    fn returned(&mut self, value: Value<'a>) {
        let Some(start) = self.frames.last().and_then(|frame| frame.start) else { return };
        let path = self.state.snapshot(start);
        if let Some(frame) = self.frames.last_mut() {
            frame.returns.push((value, path));
        }
    }

    fn raise(&mut self, statement: &'a ast::StmtRaise) -> Reach {
        if let Some(raised) = &statement.exc {
            let value = self.eval(raised);
            self.consume(&value);
            let class = match &**raised {
                Expr::Call(call) => &*call.func,
                other => other,
            };
            if matches!(class, Expr::Name(name) if name.id.as_str() == "SystemExit") {
                self.end_of_program();
            }
        }
        Reach::Stop
    }

    /// What a name stands for once decorators have changed it. One that gives nothing known keeps the function.
    pub(super) fn decorated(&mut self, decorators: &'a [ast::Decorator], value: Value<'a>) -> Value<'a> {
        let mut value = value;
        for decorator in decorators.iter().rev() {
            let function = self.eval(&decorator.expression);
            if matches!(function, Value::Function(_)) {
                let args = Args::of([value.clone()]);
                let result = self.invoke(&function, &args, decorator.range());
                if matches!(result, Value::Function(_)) {
                    value = result;
                }
            } else {
                self.consume(&function);
            }
        }
        value
    }

    fn import(&mut self, import: &'a ast::StmtImport) -> Reach {
        for alias in &import.names {
            let path = alias.name.as_str();
            let top = path.split('.').next().unwrap_or(path);
            let (name, path) = alias.asname.as_ref().map_or((top, top), |name| (name.as_str(), path));
            self.set_variable(name, Value::Member(path.into()));
        }
        Reach::Next
    }

    fn import_from(&mut self, import: &'a ast::StmtImportFrom) -> Reach {
        let module = import.module.as_deref().unwrap_or_default();
        for alias in &import.names {
            let name = alias.asname.as_ref().unwrap_or(&alias.name);
            let path = format!("{module}.{}", alias.name);
            self.set_variable(name.as_str(), Value::Member(path.into()));
        }
        Reach::Next
    }
}
