//! A first look at text that may be Python, before anybody judges it.
//!
//! Who reads code out of a longer text has to tell code from prose and a whole program from a part of one. A glance
//! tells whether the text parses and what it sets and calls; it judges nothing and proves nothing.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Alias, Expr, Pattern, Stmt};
use ruff_text_size::{Ranged, TextRange};

use crate::policy::Policy;
use crate::report::Report;
use crate::{Contract, STACK_BASE, read};

/// What a first look at code that parses tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Glance {
    /// The names that are set anywhere in it.
    pub assigned: BTreeSet<String>,
    /// The tables whose variables it names: `stock` for `stock_tbl`.
    pub tables: BTreeSet<String>,
    /// Statements that only call a function by its plain name with one positional argument.
    pub calls: Vec<PlainCall>,
    /// The functions and classes that it defines.
    pub defined: BTreeSet<String>,
    /// Whether anything is imported.
    pub has_imports: bool,
    /// The import statements, as they stand.
    pub imports: Vec<String>,
    /// The names that they set.
    pub imported: BTreeSet<String>,
    /// How many statements stand at the top.
    pub statements: usize,
    /// The keys of the dictionary that `result` is set to, where it is set to one.
    pub result_keys: BTreeSet<String>,
}

/// A statement such as `final_answer(total)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainCall {
    /// The function's name.
    pub name: String,
    /// Where the statement stands, in bytes.
    pub statement: std::ops::Range<usize>,
    /// Where its argument stands, in bytes.
    pub argument: std::ops::Range<usize>,
}

/// Looks at a text. `None` if it is not Python that parses, or too large or too deep to look at.
pub fn glance(code: &str) -> Option<Glance> {
    let policy = Policy::for_contract(Contract::Open);
    let mut report = Report::new(code, 1);
    let (parsed, stack) = read(code, &policy, &mut report)?;
    stacker::maybe_grow(stack, stack + STACK_BASE, || {
        // The tree is dropped in here too: that recurses like any walk over it.
        let parsed = parsed;
        if report.has_errors() || !parsed.errors().is_empty() {
            return None;
        }
        let mut walk = Walk { code, glance: Glance::default() };
        walk.glance.statements = parsed.suite().len();
        walk.visit_body(parsed.suite());
        Some(walk.glance)
    })
}

struct Walk<'a> {
    code: &'a str,
    glance: Glance,
}

impl Walk<'_> {
    fn import(&mut self, statement: TextRange, names: &[Alias]) {
        self.glance.has_imports = true;
        self.glance.imports.extend(self.code.get(span(statement)).map(str::to_owned));
        let set = |alias: &Alias| {
            let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
            name.split('.').next().unwrap_or_default().to_owned()
        };
        self.glance.imported.extend(names.iter().map(set));
    }

    fn call(&mut self, statement: TextRange, expression: &Expr) {
        let Expr::Call(call) = expression else { return };
        let (Expr::Name(name), [argument], true) =
            (&*call.func, &*call.arguments.args, call.arguments.keywords.is_empty())
        else {
            return;
        };
        if !argument.is_starred_expr() {
            self.glance.calls.push(PlainCall {
                name: name.id.to_string(),
                statement: span(statement),
                argument: span(argument.range()),
            });
        }
    }

    fn result(&mut self, target: &Expr, value: &Expr) {
        if let (Expr::Name(name), Expr::Dict(dictionary)) = (target, value)
            && name.id.as_str() == "result"
        {
            let keys = dictionary.items.iter().filter_map(|item| item.key.as_ref());
            let keys = keys.filter_map(|key| key.as_string_literal_expr());
            self.glance.result_keys.extend(keys.map(|key| key.value.to_str().to_owned()));
        }
    }
}

impl<'a> Visitor<'a> for Walk<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(import) => self.import(statement.range(), &import.names),
            Stmt::ImportFrom(import) => self.import(statement.range(), &import.names),
            Stmt::FunctionDef(function) => {
                self.glance.defined.insert(function.name.to_string());
            }
            Stmt::ClassDef(class) => {
                self.glance.defined.insert(class.name.to_string());
            }
            Stmt::Expr(expression) => self.call(statement.range(), &expression.value),
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    self.result(target, &assign.value);
                }
            }
            _ => {}
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Name(name) = expression {
            if name.ctx.is_store() {
                self.glance.assigned.insert(name.id.to_string());
            }
            self.glance.tables.extend(name.id.strip_suffix("_tbl").map(str::to_owned));
        }
        visitor::walk_expr(self, expression);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(matched) => &matched.name,
            Pattern::MatchStar(matched) => &matched.name,
            Pattern::MatchMapping(matched) => &matched.rest,
            _ => &None,
        };
        self.glance.assigned.extend(name.as_ref().map(ToString::to_string));
        visitor::walk_pattern(self, pattern);
    }
}

fn span(range: TextRange) -> std::ops::Range<usize> {
    range.start().to_usize()..range.end().to_usize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glance_tells_what_is_set_called_and_imported() {
        let code = "import re, os.path as p\nif True:\n    STATUS = 'success'\nfinal_answer(1 + 2)\nresult = {'type': 'x', 'value': 1}\n\
                    match result:\n    case {'type': kind, **rest}:\n        pass";
        let seen = glance(code).unwrap();
        assert!(seen.has_imports);
        assert!(["STATUS", "result", "kind", "rest"].iter().all(|name| seen.assigned.contains(*name)));
        assert_eq!(seen.statements, 5);
        assert_eq!(seen.imports, ["import re, os.path as p"]);
        assert_eq!(seen.imported.iter().map(String::as_str).collect::<Vec<_>>(), ["p", "re"]);
        assert_eq!(&code[seen.calls[0].argument.clone()], "1 + 2");
        assert_eq!(&code[seen.calls[0].statement.clone()], "final_answer(1 + 2)");
        assert_eq!(seen.result_keys.iter().map(String::as_str).collect::<Vec<_>>(), ["type", "value"]);
    }

    #[test]
    fn a_table_in_a_text_or_a_comment_is_not_named() {
        let seen = glance("# box_tbl\nnote = 'crate_tbl'\ndef sell():\n    stock_tbl.all()\n").unwrap();
        assert_eq!(seen.tables.iter().map(String::as_str).collect::<Vec<_>>(), ["stock"]);
    }

    #[test]
    fn prose_and_half_a_program_do_not_parse() {
        assert_eq!(glance("Here is the code:"), None);
        assert_eq!(glance("total = (1 +"), None);
        assert_eq!(glance("x\0"), None);
        assert_eq!(glance(&"(".repeat(100_000)), None);
        // One word is an expression: the caller has to look at what it sets.
        assert_eq!(glance("Sorry").unwrap().assigned.len(), 0);
    }
}
