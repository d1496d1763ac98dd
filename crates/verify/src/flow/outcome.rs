//! Follows what the program says about itself: its answer, its status, and whether it declares to write.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::Flow;
use super::value::{Text, Value};
use crate::contract::Contract;
use crate::finding::Edit;
use crate::finding_code::FindingCode;
use crate::names::scopes::MODULE;
use crate::report::{Draft, replacement};
use crate::suggest::{self, fold, suggest};

/// Index of what a program has to set.
pub(super) const ANSWER: usize = 0;
pub(super) const STATUS: usize = 1;

/// What `ACTION` and `SHOULD_MUTATE` say of the program.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Declared {
    /// Whether it is said anywhere that it only reads.
    pub(super) read: bool,
    /// Where it may say that it writes.
    pub(super) may_write: bool,
    /// Where it says so for certain.
    pub(super) write: Option<TextRange>,
}

impl<'a> Flow<'a, '_, '_, '_> {
    /// Sets a variable and follows what that means for the answer and the declared action.
    pub(super) fn set_variable(&mut self, name: &'a str, value: Value<'a>, range: TextRange) {
        let Some(slot) = self.slot(name) else { return };
        if slot.0 == 0 {
            self.set_global(name, &value, range);
        }
        self.state.set(slot, value);
    }

    fn set_global(&mut self, name: &'a str, value: &Value<'a>, range: TextRange) {
        match name {
            "STATUS" => self.check_status(value),
            "result" if self.policy.contract == Contract::Check => self.check_result(value),
            "ACTION" | "SHOULD_MUTATE" => self.declare(value, range),
            _ => {}
        }
        if let Some(tracked) = self.tracked(name) {
            self.is_set[tracked] |= !matches!(value, Value::None);
        }
    }

    fn declare(&mut self, value: &Value<'a>, range: TextRange) {
        match value {
            Value::Boolean(Some(false)) => self.declared.read = true,
            Value::Text(Text::One(literal)) if literal.text == "read" => self.declared.read = true,
            _ => self.declared.may_write = true,
        }
        let is_write = match value {
            Value::Boolean(is_write) => *is_write == Some(true),
            Value::Text(Text::One(literal)) => literal.text == "mutate",
            _ => false,
        };
        if is_write {
            self.declared.write.get_or_insert(range);
        }
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

    /// Checks the texts that a status may be.
    fn check_status(&mut self, value: &Value<'a>) {
        if self.policy.statuses.is_empty() {
            return;
        }
        for alternative in value.alternatives() {
            let Value::Text(text) = alternative else { continue };
            for literal in text.known().unwrap_or_default() {
                if self.policy.statuses.iter().any(|status| status == literal.text) || !self.report.has_room()
                {
                    continue;
                }
                let known = || self.policy.statuses.iter().map(String::as_str);
                let list = suggest::list(known());
                let hint = match suggest(literal.text, known()) {
                    Some(found) if found.is_near => {
                        format!("did you mean `{}`? The statuses are: {list}", found.name)
                    }
                    _ => format!("the statuses are: {list}"),
                };
                let message = format!("`{}` is not a declared status", literal.text);
                self.report.add(Draft::new(FindingCode::UnknownStatus, literal.range, message).hint(hint));
            }
        }
    }

    /// Checks what a check gives as its result.
    fn check_result(&mut self, value: &Value<'a>) {
        for alternative in value.alternatives() {
            let Value::Record(record) = alternative else {
                self.is_set[STATUS] = true;
                continue;
            };
            if let Some(entry) = record.entry("status") {
                self.check_status(&entry.value);
            }
            self.is_set[STATUS] |=
                record.entry("status").is_some() || record.is_open || !record.spread.is_empty();
        }
    }

    /// `result["status"] = …`
    pub(super) fn check_result_key(&mut self, key: &str, value: &Value<'a>) {
        if key == "status" {
            self.is_set[STATUS] = true;
            self.check_status(value);
        }
    }

    /// Reports what the program never sets, and a write of one that says that it only reads.
    pub(super) fn report_outcome(&mut self, body: &'a [Stmt]) {
        let end = body.last().map_or_else(TextRange::default, Ranged::range);
        for tracked in [ANSWER, STATUS] {
            // A check without a result has no status to speak of either.
            let follows =
                self.policy.contract == Contract::Check && tracked == STATUS && !self.is_set[ANSWER];
            if self.has_end && !self.is_set[tracked] && !follows {
                self.report_unset(tracked, end, body);
            }
        }
        let Declared { read, may_write, .. } = self.declared;
        if let Some(range) = self.first_write.filter(|_| read && !may_write) {
            let message = "this writes, but the code declares that it only reads";
            let draft = Draft::new(FindingCode::DeclaredReadButWrites, range, message);
            self.report
                .add(draft.hint("set ACTION = \"mutate\" and SHOULD_MUTATE = True on the path that writes"));
        }
    }

    fn report_unset(&mut self, tracked: usize, end: TextRange, body: &'a [Stmt]) {
        let code = if tracked == ANSWER { FindingCode::MissingAnswer } else { FindingCode::MissingStatus };
        let name = match (self.policy.contract, tracked) {
            (Contract::Check, ANSWER) => "result",
            (Contract::Check, _) => "result[\"status\"]",
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
