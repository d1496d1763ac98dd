//! Reads which functions a workspace's `helpers.py` gives to plans.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};

use crate::contract::Contract;
use crate::finding::Finding;
use crate::policy::{Helper, Policy};
use crate::report::Report;
use crate::{give, measure, stack_for, syntax};

/// The public functions that a `helpers.py` defines at its top level, or the findings that keep it from being
/// read.
///
/// A helper may write if it calls a writing method on one of its parameters or on a table. The owner of the
/// workspace may know better and change [`Helper::may_write`].
///
/// ```
/// let source = "def balance(tbl):\n    return sum(row['amount'] for row in tbl)\n\ndef _private():\n    pass\n";
/// let helpers = ordain_verify::helpers_of(source).unwrap();
/// assert_eq!(helpers, [ordain_verify::Helper::reads("balance")]);
/// ```
pub fn helpers_of(source: &str) -> Result<Vec<Helper>, Vec<Finding>> {
    let policy = Policy::for_contract(Contract::Open);
    let mut report = Report::new(source, policy.limits.findings_max);
    let Some(depth) = measure(source, &policy, &mut report) else {
        return Err(report.finish().0);
    };
    let stack = stack_for(depth);
    stacker::maybe_grow(stack, stack, || {
        let mut report = report;
        let Some(parsed) = syntax::parse(source, policy.python, &mut report) else {
            return Err(give(source, &policy, report, crate::Effects::default()).findings);
        };
        Ok(parsed.suite().iter().filter_map(helper).collect())
    })
}

fn helper(stmt: &Stmt) -> Option<Helper> {
    let Stmt::FunctionDef(function) = stmt else { return None };
    if function.name.starts_with('_') {
        return None;
    }
    let mut writes = Writes { function, found: false };
    writes.visit_body(&function.body);
    Some(Helper { name: function.name.to_string(), may_write: writes.found })
}

/// Looks for a writing method on something that may be a table.
struct Writes<'a> {
    function: &'a StmtFunctionDef,
    found: bool,
}

impl Writes<'_> {
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
        if let Expr::Call(call) = expr
            && let Expr::Attribute(attribute) = &*call.func
        {
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
    fn a_file_that_is_not_python_gives_its_findings() {
        assert_eq!(helpers_of("def (").unwrap_err()[0].code.as_str(), "syntax-error");
        assert_eq!(helpers_of(&"(".repeat(5000)).unwrap_err()[0].code.as_str(), "too-deep");
        assert_eq!(helpers_of("").unwrap(), []);
    }
}
