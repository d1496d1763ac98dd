//! Reads which functions a workspace's `helpers.py` gives to plans.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;

use crate::contract::Contract;
use crate::finding::Finding;
use crate::policy::{Helper, Policy};
use crate::report::Report;
use crate::{read, syntax};

/// The public functions that a `helpers.py` defines at its top level, or the findings that keep it from being
/// read.
///
/// A helper may write if it, or a function that it calls, calls a writing method on a parameter or on a table. The
/// owner of the workspace may know better and change [`Helper::may_write`].
///
/// ```
/// let source = "def balance(tbl):\n    return sum(row['amount'] for row in tbl)\n\ndef _private():\n    pass\n";
/// let helpers = ordain_verify::helpers_of(source).unwrap();
/// assert_eq!(helpers, [ordain_verify::Helper::reads("balance")]);
/// ```
pub fn helpers_of(source: &str) -> Result<Vec<Helper>, Vec<Finding>> {
    let policy = Policy::for_contract(Contract::Open);
    let mut report = Report::new(source, policy.limits.findings_max);
    let Some((parsed, stack)) = read(source, &policy, &mut report) else {
        return Err(report.finish().0);
    };
    stacker::maybe_grow(stack, stack, || {
        // Dropped here, where the stack is large enough.
        let (parsed, mut report) = (parsed, report);
        if !report.has_errors() {
            syntax::judge(source, &parsed, policy.python, &mut report);
        }
        if report.has_errors() {
            return Err(report.finish().0);
        }
        Ok(helpers(parsed.suite()))
    })
}

/// All text on which a helper rests: its own, that of the functions it calls, and everything outside functions.
/// A source that is not Python is given back whole.
///
/// ```
/// let source = "RATE = 2\n\ndef a():\n    return b()\n\ndef b():\n    return RATE\n\ndef c():\n    return 3\n";
/// let rests_on = ordain_verify::helper_source(source, "a");
/// assert!(rests_on.contains("return RATE") && !rests_on.contains("return 3"));
/// ```
pub fn helper_source(source: &str, name: &str) -> String {
    let policy = Policy::for_contract(Contract::Open);
    let mut report = Report::new(source, policy.limits.findings_max);
    let Some((parsed, stack)) = read(source, &policy, &mut report) else { return source.to_owned() };
    stacker::maybe_grow(stack, stack, || {
        // Dropped here, where the stack is large enough.
        let parsed = parsed;
        rests_on(source, parsed.suite(), name)
    })
}

fn rests_on(source: &str, body: &[Stmt], name: &str) -> String {
    let functions: Vec<Writes<'_>> = body.iter().filter_map(Writes::of).collect();
    let mut wanted = vec![name];
    let mut place = 0;
    while let Some(&next) = wanted.get(place) {
        let called = functions.iter().filter(|function| function.function.name.as_str() == next);
        for call in called.flat_map(|function| &function.calls) {
            if !wanted.contains(call) {
                wanted.push(call);
            }
        }
        place += 1;
    }
    let counts = |stmt: &&Stmt| match stmt {
        Stmt::FunctionDef(function) => wanted.contains(&function.name.as_str()),
        _ => true,
    };
    let texts: Vec<&str> = body.iter().filter(counts).map(|stmt| &source[stmt.range()]).collect();
    texts.join("\n")
}

fn helpers(body: &[Stmt]) -> Vec<Helper> {
    let mut functions: Vec<Writes<'_>> = body.iter().filter_map(Writes::of).collect();
    // What a function calls, it does: a write passes up from one to the next.
    for _ in 0..functions.len() {
        let writing: Vec<&str> = functions
            .iter()
            .filter(|function| function.found)
            .map(|function| function.function.name.as_str())
            .collect();
        let mut has_changed = false;
        for function in &mut functions {
            let writes = function.found || function.calls.iter().any(|called| writing.contains(called));
            has_changed |= writes != function.found;
            function.found = writes;
        }
        if !has_changed {
            break;
        }
    }
    let public = functions.iter().filter(|function| !function.function.name.starts_with('_'));
    public
        .map(|function| Helper { name: function.function.name.to_string(), may_write: function.found })
        .collect()
}

/// Looks for a writing method on something that may be a table.
struct Writes<'a> {
    function: &'a StmtFunctionDef,
    found: bool,
    /// The functions that it calls by name.
    calls: Vec<&'a str>,
}

impl<'a> Writes<'a> {
    fn of(stmt: &'a Stmt) -> Option<Self> {
        let Stmt::FunctionDef(function) = stmt else { return None };
        let mut writes = Self { function, found: false, calls: Vec::new() };
        writes.visit_body(&function.body);
        Some(writes)
    }

    fn may_be_table(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(name) => {
                let name = name.id.as_str();
                name.ends_with("_tbl")
                    || self.function.parameters.iter().any(|parameter| parameter.name() == name)
            }
            // `db.table("x").insert(…)`
            Expr::Call(call) => {
                matches!(&*call.func, Expr::Attribute(attribute) if &attribute.attr == "table")
            }
            Expr::Subscript(_) | Expr::Attribute(_) => true,
            _ => false,
        }
    }
}

impl<'a> Visitor<'a> for Writes<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr {
            match &*call.func {
                Expr::Attribute(attribute) => {
                    let writes = matches!(
                        attribute.attr.as_str(),
                        "insert"
                            | "insert_multiple"
                            | "update"
                            | "update_multiple"
                            | "upsert"
                            | "remove"
                            | "truncate"
                    );
                    self.found |= writes && self.may_be_table(&attribute.value);
                }
                Expr::Name(name) => self.calls.push(name.id.as_str()),
                _ => {}
            }
        }
        visitor::walk_expr(self, expr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_functions_are_helpers_and_writes_are_seen() {
        let source = "import re\nRATE = 2\ndef read(tbl):\n    names = []\n    names.insert(0, 1)\n    return tbl.all()\n\
                      def sell(tbl, item):\n    tbl.update({'a': 1})\ndef log():\n    audit_tbl.insert({})\n\
                      def via(db):\n    db.table('x').remove()\ndef _hidden(tbl):\n    tbl.truncate()\n";
        let helpers = helpers_of(source).unwrap();
        let expected =
            [Helper::reads("read"), Helper::writes("sell"), Helper::writes("log"), Helper::writes("via")];
        assert_eq!(helpers, expected);
    }

    #[test]
    fn a_write_passes_up_through_the_functions_that_call_it() {
        let source = "def sell(tbl):\n    return _step(tbl)\ndef look(tbl):\n    return len(tbl)\n\
                      def _step(tbl):\n    _write(tbl)\ndef _write(tbl):\n    tbl.insert({})\n";
        assert_eq!(helpers_of(source).unwrap(), [Helper::writes("sell"), Helper::reads("look")]);
    }

    #[test]
    fn a_file_that_is_not_python_gives_its_findings() {
        assert_eq!(helpers_of("def (").unwrap_err()[0].code.as_str(), "syntax-error");
        assert_eq!(helpers_of(&"(".repeat(5000)).unwrap_err()[0].code.as_str(), "too-deep");
        assert_eq!(helpers_of("").unwrap(), []);
    }
}
