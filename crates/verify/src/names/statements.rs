//! Judges statements by their shape: loops that nothing ends, values that are dropped.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{self as ast, Expr, ExprContext, Stmt, StmtFor, StmtWhile};
use ruff_text_size::Ranged;

use super::Names;
use crate::finding_code::FindingCode;
use crate::report::Draft;

pub(super) fn judge<'a>(names: &mut Names<'a, '_, '_>, stmt: &'a Stmt, is_last: bool) {
    match stmt {
        Stmt::While(statement) => while_loop(names, statement),
        Stmt::For(statement) => for_loop(names, statement),
        // The last value of a general program is what someone at a prompt wanted to see.
        Stmt::Expr(statement) if !is_last || names.policy.contract.is_plan() => {
            dropped(names, &statement.value)
        }
        _ => {}
    }
}

fn while_loop<'a>(names: &mut Names<'a, '_, '_>, statement: &'a StmtWhile) {
    let body = Body::of(&statement.body);
    // `try: while True: … except IndexError` is left by the exception.
    if body.leaves || names.guards.any > 0 {
        return;
    }
    let is_unbounded = match constant(&statement.test) {
        Some(always) => always,
        None => names_of_test(&statement.test).is_some_and(|tested| {
            !tested.is_empty() && tested.iter().all(|name| !body.touched.contains(name))
        }),
    };
    if is_unbounded {
        let message = "nothing in this loop can end it";
        let draft = Draft::new(FindingCode::UnboundedLoop, statement.test.range(), message);
        names
            .report
            .add(draft.hint("change what the condition tests, give it a `break`, or loop over a range"));
    }
}

fn for_loop<'a>(names: &mut Names<'a, '_, '_>, statement: &'a StmtFor) {
    let Expr::Call(call) = &*statement.iter else { return };
    let Some(path) = names.path(&call.func) else { return };
    let is_endless = match path.as_str() {
        "itertools.count" | "itertools.cycle" => true,
        "itertools.repeat" => call.arguments.len() == 1,
        _ => false,
    };
    if is_endless && !Body::of(&statement.body).leaves {
        let message = format!("`{path}` never ends and nothing in this loop leaves it");
        let draft = Draft::new(FindingCode::UnboundedLoop, statement.iter.range(), message);
        names.report.add(draft.hint("give it a `break`, or loop over a range"));
    }
}

fn dropped<'a>(names: &mut Names<'a, '_, '_>, value: &'a Expr) {
    let (message, hint) = match value {
        Expr::Compare(compare) if compare.ops.len() == 1 && compare.ops[0] == ast::CmpOp::Eq => {
            ("this compares and drops the result".to_owned(), "to assign, write `=`")
        }
        // Inside a `try` a value may be computed only to see whether it can be.
        _ if names.guards.any > 0 => return,
        Expr::Compare(_) | Expr::BinOp(_) | Expr::UnaryOp(_) => {
            ("this computes a value and drops it".to_owned(), "assign the result, or remove the statement")
        }
        Expr::Call(call) => {
            let pure = [
                "sorted", "len", "sum", "min", "max", "str", "int", "float", "round", "list", "dict", "set",
                "abs",
            ];
            let Some(name) = pure.iter().find(|name| names.is_builtin(&call.func, name)) else { return };
            // `list(map(…))` is run for what the function does.
            if call
                .arguments
                .args
                .iter()
                .any(|argument| argument.is_call_expr() || argument.is_generator_expr())
            {
                return;
            }
            (
                format!("`{name}(…)` gives a new value, which is dropped"),
                "assign the result, or remove the statement",
            )
        }
        _ => return,
    };
    names.report.add(Draft::new(FindingCode::UnusedResult, value.range(), message).hint(hint));
}

/// The value of a condition that never changes.
fn constant(test: &Expr) -> Option<bool> {
    match test {
        Expr::BooleanLiteral(literal) => Some(literal.value),
        Expr::NumberLiteral(literal) => match &literal.value {
            ast::Number::Int(number) => number.as_u8().map(|number| number != 0),
            _ => None,
        },
        _ => None,
    }
}

/// The plain names that a condition tests; `None` if it looks at anything that may change by itself.
fn names_of_test(test: &Expr) -> Option<Vec<&str>> {
    match test {
        Expr::Name(name) => Some(vec![name.id.as_str()]),
        Expr::NumberLiteral(_) | Expr::StringLiteral(_) | Expr::BooleanLiteral(_) | Expr::NoneLiteral(_) => {
            Some(Vec::new())
        }
        Expr::UnaryOp(unary) => names_of_test(&unary.operand),
        Expr::BinOp(binary) => Some([names_of_test(&binary.left)?, names_of_test(&binary.right)?].concat()),
        Expr::BoolOp(boolean) => {
            Some(boolean.values.iter().map(names_of_test).collect::<Option<Vec<_>>>()?.concat())
        }
        Expr::Compare(compare) => {
            let mut names = names_of_test(&compare.left)?;
            for other in &compare.comparators {
                names.extend(names_of_test(other)?);
            }
            Some(names)
        }
        _ => None,
    }
}

/// What the body of a loop may do to end it.
#[derive(Default)]
struct Body<'a> {
    /// It breaks, returns, raises, yields or ends the program.
    leaves: bool,
    /// Names that are assigned, or handed to something that may change what they hold.
    touched: Vec<&'a str>,
    inner_loops: usize,
}

impl<'a> Body<'a> {
    fn of(body: &'a [Stmt]) -> Self {
        let mut found = Self::default();
        found.visit_body(body);
        found
    }

    fn touch_all(&mut self, expr: &'a Expr) {
        struct All<'a, 'b>(&'b mut Vec<&'a str>);
        impl<'a> Visitor<'a> for All<'a, '_> {
            fn visit_expr(&mut self, expr: &'a Expr) {
                if let Expr::Name(name) = expr {
                    self.0.push(name.id.as_str());
                }
                visitor::walk_expr(self, expr);
            }
        }
        All(&mut self.touched).visit_expr(expr);
    }
}

impl<'a> Visitor<'a> for Body<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Break(_) => self.leaves |= self.inner_loops == 0,
            Stmt::Return(_) | Stmt::Raise(_) => self.leaves = true,
            Stmt::For(_) | Stmt::While(_) => {
                self.inner_loops += 1;
                visitor::walk_stmt(self, stmt);
                self.inner_loops -= 1;
            }
            // What an inner function does happens when it is called, and a call touches nothing by name.
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::Global(_) | Stmt::Nonlocal(_) => self.leaves = true,
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx != ExprContext::Load => self.touched.push(name.id.as_str()),
            Expr::Call(call) => {
                self.leaves |= ends_program(&call.func) || is_own_function(&call.func);
                if let Expr::Attribute(attribute) = &*call.func {
                    self.touch_all(&attribute.value);
                }
                if !only_looks(&call.func) {
                    for argument in call.arguments.iter_source_order() {
                        self.touch_all(argument.value());
                    }
                }
                visitor::walk_expr(self, expr);
            }
            Expr::Subscript(subscript) if subscript.ctx != ExprContext::Load => {
                self.touch_all(&subscript.value);
                visitor::walk_expr(self, expr);
            }
            Expr::Attribute(attribute) if attribute.ctx != ExprContext::Load => {
                self.touch_all(&attribute.value);
                visitor::walk_expr(self, expr);
            }
            Expr::Yield(_) | Expr::YieldFrom(_) | Expr::Await(_) => self.leaves = true,
            _ => visitor::walk_expr(self, expr),
        }
    }
}

fn ends_program(func: &Expr) -> bool {
    match func {
        Expr::Name(name) => matches!(name.id.as_str(), "exit" | "quit"),
        Expr::Attribute(attribute) => matches!(attribute.attr.as_str(), "exit" | "_exit"),
        _ => false,
    }
}

/// Builtins that change nothing that they are given.
fn only_looks(func: &Expr) -> bool {
    const LOOKING: &[&str] =
        &["print", "len", "str", "int", "float", "repr", "round", "abs", "sum", "min", "max", "isinstance"];
    matches!(func, Expr::Name(name) if LOOKING.contains(&name.id.as_str()))
}

/// A call of a plain name may be a function of the program, which may change or raise anything.
fn is_own_function(func: &Expr) -> bool {
    matches!(func, Expr::Name(name) if !crate::data::builtins::is_builtin(name.id.as_str()))
}
