//! Follows what the program says about itself: its answer, its status, and whether it declares to write.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::Flow;
use super::paths::{ANSWER, Declared, Point, PointKind, STATUS};
use super::value::{Record, Text, Value};
use crate::contract::Contract;
use crate::finding::Edit;
use crate::finding_code::FindingCode;
use crate::names::scopes::MODULE;
use crate::report::{Draft, replacement};
use crate::suggest::{self, fold, suggest};

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
            "result" if self.policy.contract == Contract::Check => self.check_result(value, range),
            "ACTION" | "SHOULD_MUTATE" => self.declare(value, range),
            _ => {}
        }
        if let Some(tracked) = self.tracked(name) {
            if matches!(value, Value::None) {
                self.state.facts.lack(tracked, PointKind::SetToNone, range);
            } else {
                self.state.facts.set(tracked);
            }
        }
    }

    fn declare(&mut self, value: &Value<'a>, range: TextRange) {
        let declared = match value {
            Value::Boolean(Some(false)) => Declared::READ,
            Value::Text(Text::One(literal)) if literal.text == "read" => Declared::READ,
            Value::Boolean(Some(true)) => {
                self.write_is_declared.get_or_insert(range);
                Declared::WRITE
            }
            Value::Text(Text::One(literal)) if literal.text == "mutate" => {
                self.write_is_declared.get_or_insert(range);
                Declared::WRITE
            }
            _ => Declared::WRITE,
        };
        self.state.facts.declare(declared);
    }

    /// A path ends here: remembers what it left out, and counts what it hands over as read.
    pub(super) fn end_of_program(&mut self) {
        for (ends, missing) in self.ends.iter_mut().zip(&self.state.facts.missing) {
            for point in missing.iter() {
                let is_known =
                    ends.iter().any(|known| known.kind == point.kind && known.range == point.range);
                if !is_known {
                    ends.push(point.clone());
                }
            }
        }
        let conflicting = self.state.facts.conflicting.clone();
        self.conflicts.extend(conflicting.iter().copied());
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
    fn check_result(&mut self, value: &Value<'a>, range: TextRange) {
        self.state.facts.set(STATUS);
        for alternative in value.alternatives() {
            if let Value::Record(record) = alternative {
                self.check_result_record(record, range);
            }
        }
    }

    fn check_result_record(&mut self, record: &Record<'a>, range: TextRange) {
        match record.entry("status") {
            Some(entry) => self.check_status(&entry.value),
            None if record.is_open || !record.spread.is_empty() => {}
            None => self.state.facts.lack(STATUS, PointKind::NoStatusKey, range),
        }
    }

    /// `result["status"] = …`
    pub(super) fn check_result_key(&mut self, key: &str, value: &Value<'a>) {
        if key == "status" {
            self.state.facts.set(STATUS);
            self.check_status(value);
        }
    }

    /// Reports every path that ends without what it should have set.
    pub(super) fn report_paths(&mut self, body: &'a [Stmt]) {
        let end = body.last().map_or_else(TextRange::default, Ranged::range);
        let ends = std::mem::take(&mut self.ends);
        for (tracked, points) in ends.into_iter().enumerate() {
            for point in points {
                self.report_point(tracked, &point, end, body);
            }
        }
        for range in std::mem::take(&mut self.conflicts) {
            let message = "this writes, but the code declares that it only reads";
            let draft = Draft::new(FindingCode::DeclaredReadButWrites, range, message);
            self.report
                .add(draft.hint("set ACTION = \"mutate\" and SHOULD_MUTATE = True on the path that writes"));
        }
    }

    fn report_point(&mut self, tracked: usize, point: &Point<'a>, end: TextRange, body: &'a [Stmt]) {
        let code = if tracked == ANSWER { FindingCode::MissingAnswer } else { FindingCode::MissingStatus };
        let name = match (self.policy.contract, tracked) {
            (Contract::Check, ANSWER) => "result",
            (Contract::Check, _) => "result[\"status\"]",
            (_, ANSWER) => "answer_text",
            _ => "STATUS",
        };
        let message = match point.kind {
            PointKind::Start => format!("the program ends without setting `{name}`"),
            PointKind::Holds => format!("`{name}` is not set when this condition holds"),
            PointKind::Fails => format!("`{name}` is not set when this condition does not hold"),
            PointKind::NoTurn => format!("`{name}` is not set when this loop runs no time"),
            PointKind::Caught => format!("`{name}` is not set when this exception is caught"),
            PointKind::Case => format!("`{name}` is not set in this case"),
            PointKind::NoCase => format!("`{name}` is not set when no case fits"),
            PointKind::SetToNone => format!("`{name}` is still None when the program ends"),
            PointKind::NoStatusKey => "`result` has no `status`".to_owned(),
        };
        let hint = match name {
            "STATUS" => format!(
                "set it on this path to one of: {}",
                suggest::list(self.policy.statuses.iter().map(String::as_str))
            ),
            "answer_text" => "set it on this path to one or two sentences for the person".to_owned(),
            _ => "set `result = {\"status\": \"PASS\" or \"FAIL\", \"summary\": …}` on this path".to_owned(),
        };
        let (range, edit) = match point.kind {
            PointKind::Start => (last_line(end, self.source), self.rename(name, body)),
            _ => (first_line(point.range, self.source), None),
        };
        self.report.add(Draft::new(code, range, message).hint(hint).edit(edit));
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

/// The part of a range on its first line, so that a caret does not run over a whole block.
fn first_line(range: TextRange, source: &str) -> TextRange {
    let text = source.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default();
    let length = text.find(['\n', '\r']).unwrap_or(text.len());
    crate::span(range.start().to_usize(), range.start().to_usize() + length)
}

/// The last line of a range, without its indentation.
fn last_line(range: TextRange, source: &str) -> TextRange {
    let text = source.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default();
    let start = text.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let start = start + text[start..].len() - text[start..].trim_start().len();
    crate::span(range.start().to_usize() + start, range.end().to_usize())
}
