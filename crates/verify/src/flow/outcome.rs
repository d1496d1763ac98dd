//! Follows whether the program sets its answer and its status. What it sets them to is judged when it has run.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::Flow;
use super::value::Value;
use crate::contract::Contract;
use crate::finding::Edit;
use crate::finding_code::FindingCode;
use crate::names::scopes::MODULE;
use crate::report::{Draft, replacement};
use crate::suggest::{self, fold};

/// Index of what a program has to set.
pub(super) const ANSWER: usize = 0;
pub(super) const STATUS: usize = 1;

impl<'a> Flow<'a, '_, '_, '_> {
    /// Sets a variable, perhaps the answer or the status.
    pub(super) fn set_variable(&mut self, name: &'a str, value: Value<'a>) {
        let Some(slot) = self.slot(name) else { return };
        if slot.0 == 0
            && let Some(tracked) = self.tracked(name)
        {
            self.is_set[tracked] |= !matches!(value, Value::None);
        }
        self.state.set(slot, value);
    }

    /// A path ends here: what it hands over counts as read.
    pub(super) fn end_of_program(&mut self) {
        self.has_end = true;
        for name in ["answer_text", "answer_rows", "answer_json", "result"] {
            if let Some(value) = self.state.get(self.state.slot(0, name)).cloned() {
                self.consume(&value);
            }
        }
        self.state.is_dead = true;
    }

    /// Reports what the program never sets.
    pub(super) fn report_outcome(&mut self, body: &'a [Stmt]) {
        let end = body.last().map_or_else(TextRange::default, Ranged::range);
        for tracked in [ANSWER, STATUS] {
            if self.has_end && !self.is_set[tracked] {
                self.report_unset(tracked, end, body);
            }
        }
    }

    fn report_unset(&mut self, tracked: usize, end: TextRange, body: &'a [Stmt]) {
        let code = if tracked == ANSWER { FindingCode::MissingAnswer } else { FindingCode::MissingStatus };
        let name = match (self.policy.contract, tracked) {
            (Contract::Check, _) => "result",
            (_, ANSWER) => "answer_text",
            _ => "STATUS",
        };
        let hint = match name {
            "STATUS" => format!(
                "set it on every path to one of: {}",
                suggest::list(self.policy.statuses.iter().map(String::as_str))
            ),
            "answer_text" => "set it on every path to one or two sentences for the person".to_owned(),
            _ => "set `result = {\"status\": \"PASS\" or \"FAIL\", \"summary\": …}` on every path".to_owned(),
        };
        let message = format!("the program ends without setting `{name}`");
        let draft = Draft::new(code, last_line(end, self.source), message);
        self.report.add(draft.hint(hint).edit(self.rename(name, body)));
    }

    /// The edit that renames a variable which was meant to be `name`: `Status` for `STATUS`.
    fn rename(&self, name: &str, body: &'a [Stmt]) -> Option<Edit> {
        let meant: Vec<&str> =
            self.scopes.names().filter(|known| *known != name && fold(known) == fold(name)).collect();
        let [wrong] = meant[..] else { return None };
        if self.scopes.binding_scope(wrong, MODULE) != Some(MODULE) {
            return None;
        }
        // `status` is an ordinary word; it is the status only if it holds one.
        let holds_status = matches!(self.state.get(self.state.slot(0, wrong)), Some(Value::Text(text)) if text.known().is_some_and(|texts| {
            texts.iter().all(|literal| self.policy.statuses.iter().any(|status| status == literal.text))
        }));
        if name == "STATUS" && !holds_status {
            return None;
        }
        let mut uses = Uses { name: wrong, ranges: Vec::new() };
        uses.visit_body(body);
        let replacements = uses.ranges.into_iter().map(|range| replacement(range, name)).collect();
        Some(Edit { title: format!("rename `{wrong}` to `{name}`"), replacements })
    }
}

/// Every place where a name stands.
struct Uses<'a> {
    name: &'a str,
    ranges: Vec<TextRange>,
}

impl<'a> Visitor<'a> for Uses<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr
            && name.id.as_str() == self.name
        {
            self.ranges.push(name.range());
        }
        visitor::walk_expr(self, expr);
    }
}

/// The last line of a range, without its indentation.
fn last_line(range: TextRange, source: &str) -> TextRange {
    let text = source.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default();
    let start = text.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let start = start + text[start..].len() - text[start..].trim_start().len();
    crate::span(range.start().to_usize() + start, range.end().to_usize())
}
