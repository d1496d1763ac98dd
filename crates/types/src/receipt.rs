//! What happened to the data, said by the engine and not by the plan.
//!
//! A plan's answer is a claim. The receipt is made from the run's state and diff alone, so no plan can change a word of
//! it. Where an answer is a single string the receipt stands first, between two marks that are taken out of everything
//! else that is shown ([`unmarked`]).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Answer, Call, Diff, RunKind, RunRecord, RunState, TableDiff, TakenBack};

/// Opens a receipt in a text; nothing else that is shown may contain it.
const RECEIPT_OPENS: char = '⟦';
/// Closes a receipt in a text.
const RECEIPT_CLOSES: char = '⟧';
/// Characters that a reader could take for the marks.
const LOOKALIKES: [char; 8] = ['⟦', '⟧', '〚', '〛', '⦗', '⦘', '❲', '❳'];
/// Tables that the sentence names; all of them are counted in `tables`.
const TABLES_NAMED: usize = 4;

/// What happened to the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Receipt {
    /// What happened, for programs.
    pub kind: ReceiptKind,
    /// The same in one short line, for people.
    pub text: String,
    /// How many rows of each table it is about.
    pub tables: BTreeMap<String, RowCounts>,
}

/// What happened to the data, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptKind {
    /// The run ended and changed nothing.
    None,
    /// Rows were changed.
    Changed,
    /// It was a dry run: rows would have changed.
    WouldChange,
    /// The change waits for approval.
    Held,
    /// The request was not understood, or needs an answer first.
    Declined,
    /// The plan, its change or its approval was refused.
    Refused,
    /// The code failed or could not be run.
    Failed,
    /// The change was approved too late: its rows had changed.
    Conflicted,
    /// The change was taken back.
    Undone,
    /// The run has not ended.
    Waiting,
}

/// Rows of one table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RowCounts {
    /// Rows that were not there before.
    pub added: usize,
    /// Rows that differ.
    pub changed: usize,
    /// Rows that are gone.
    pub removed: usize,
}

impl ReceiptKind {
    /// What to say before the plan's own words, which speak as if its change had been made and stayed.
    pub const fn proviso(self) -> Option<&'static str> {
        match self {
            Self::WouldChange => Some("If it were carried out"),
            Self::Held => Some("Nothing is changed until it is approved; then"),
            Self::Conflicted => Some("Did not happen"),
            Self::Undone => Some("Before it was undone"),
            Self::None | Self::Changed | Self::Declined | Self::Refused | Self::Failed | Self::Waiting => {
                None
            }
        }
    }
}

impl RunRecord {
    /// The plan's own words, after what has to be said first where its change was not made or did not stay.
    pub fn said(&self) -> Option<String> {
        let text = self.answer.text.as_ref()?;
        let is_part = self.receipt.kind == ReceiptKind::Changed && self.left_out > 0;
        let proviso = if is_part { Some("Not all of it was approved") } else { self.receipt.kind.proviso() };
        Some(proviso.map(|proviso| format!("{proviso}: ")).unwrap_or_default() + text)
    }

    /// The record as callers are given it: where its change was not made or did not stay, its answer says that first.
    pub fn told(&self) -> Cow<'_, Self> {
        let text = self.said();
        if text == self.answer.text {
            return Cow::Borrowed(self);
        }
        let answer = Answer { text, ..self.answer.clone() };
        Cow::Owned(Self { answer, ..self.clone() })
    }
}

impl Receipt {
    /// The receipt of a run that has ended.
    pub fn of(record: &RunRecord) -> Self {
        let (kind, calls) = (kind(record), calls(record));
        let mut made = Self::made(kind, record.state, &record.diff);
        if kind == ReceiptKind::Changed && record.left_out > 0 {
            let rows =
                if record.left_out == 1 { "1 row was" } else { &format!("{} rows were", record.left_out) };
            made.text = format!("{} {rows} left out by the approver.", made.text);
        }
        if !record.by_triggers.is_empty() {
            made.text = format!("{} {}", made.text, by_triggers(record));
        }
        if !calls.is_empty() {
            made.text = format!("{} {calls}", made.text);
        }
        if let Some(earlier) = record.continues.as_ref().filter(|_| kind != ReceiptKind::Undone) {
            made.text = format!("{} Run {earlier}, which it goes on from, stands.", made.text);
        }
        made
    }

    /// The receipt of a run that goes on.
    pub fn waiting() -> Self {
        Self::made(ReceiptKind::Waiting, RunState::Failed, &Diff::default())
    }

    fn made(kind: ReceiptKind, state: RunState, diff: &Diff) -> Self {
        Self { kind, text: sentence(kind, state, diff), tables: counts(diff) }
    }

    /// The receipt as it stands in a text that holds other things too.
    pub fn marked(&self) -> String {
        // Names of tables and of verbs stand in it.
        format!("{RECEIPT_OPENS}{}{RECEIPT_CLOSES}", unmarked(&self.text))
    }
}

impl Default for Receipt {
    fn default() -> Self {
        Self::waiting()
    }
}

/// A text of a plan, a model or a row, in which nothing looks like a receipt.
pub fn unmarked(text: &str) -> String {
    text.chars().map(|character| if LOOKALIKES.contains(&character) { '·' } else { character }).collect()
}

/// An earlier answer without the receipt that stands in front of it.
pub fn without_receipt(text: &str) -> &str {
    let rest = text.strip_prefix(RECEIPT_OPENS).and_then(|rest| rest.split_once(RECEIPT_CLOSES));
    rest.map_or(text, |(_, rest)| rest.trim_start())
}

fn kind(record: &RunRecord) -> ReceiptKind {
    let is_dry_run =
        record.error.is_none() && (!record.diff.is_empty() || record.calls.iter().any(Call::is_later));
    match record.state {
        RunState::Committed => ReceiptKind::Changed,
        RunState::Answered => ReceiptKind::None,
        RunState::Declined => ReceiptKind::Declined,
        RunState::Held => ReceiptKind::Held,
        RunState::Waiting => ReceiptKind::Waiting,
        RunState::RolledBack if is_dry_run => ReceiptKind::WouldChange,
        RunState::Rejected | RunState::RolledBack => ReceiptKind::Refused,
        RunState::Failed => ReceiptKind::Failed,
        RunState::Undone => ReceiptKind::Undone,
        RunState::Conflicted => ReceiptKind::Conflicted,
    }
}

fn sentence(kind: ReceiptKind, state: RunState, diff: &Diff) -> String {
    let about = |verbs: &Verbs| described(diff, verbs);
    match kind {
        ReceiptKind::None => "Nothing was changed.".to_owned(),
        ReceiptKind::Changed => format!("{}.", about(&DONE)),
        ReceiptKind::WouldChange => format!("Dry run: {}. Nothing was changed.", about(&WOULD)),
        ReceiptKind::Held => format!("Waits for approval: {}. Nothing is changed yet.", about(&TO_DO)),
        ReceiptKind::Declined => "Not carried out: nothing was changed.".to_owned(),
        ReceiptKind::Refused if state == RunState::Rejected => "Refused: nothing was changed.".to_owned(),
        ReceiptKind::Refused => "Rolled back: nothing was changed.".to_owned(),
        ReceiptKind::Failed => "Failed: nothing was changed.".to_owned(),
        ReceiptKind::Conflicted => {
            "Too late: the rows had changed meanwhile. Nothing was changed.".to_owned()
        }
        ReceiptKind::Undone => format!("Undone: {}.", about(&TAKEN_BACK)),
        ReceiptKind::Waiting => "Not finished: nothing is changed yet.".to_owned(),
    }
}

/// How the sentence speaks of rows that were changed, added and removed.
struct Verbs {
    changed: &'static str,
    added: &'static str,
    removed: &'static str,
}

const DONE: Verbs = Verbs { changed: "changed in", added: "added to", removed: "removed from" };
const WOULD: Verbs =
    Verbs { changed: "would change in", added: "would be added to", removed: "would be removed from" };
const TO_DO: Verbs = Verbs { changed: "to change in", added: "to add to", removed: "to remove from" };
const TAKEN_BACK: Verbs =
    Verbs { changed: "changed back in", added: "taken out of", removed: "put back into" };

fn described(diff: &Diff, verbs: &Verbs) -> String {
    let touched: Vec<_> = diff.tables.iter().filter(|(_, part)| !part.is_empty()).collect();
    let mut parts: Vec<String> = Vec::new();
    for (table, part) in touched.iter().take(TABLES_NAMED) {
        for (count, verb) in [
            (part.changed.len(), verbs.changed),
            (part.added.len(), verbs.added),
            (part.removed.len(), verbs.removed),
        ] {
            if count > 0 {
                parts.push(format!("{} {verb} {}", rows(count), named(table)));
            }
        }
    }
    let others: usize = touched.iter().skip(TABLES_NAMED).map(|(_, part)| part.rows()).sum();
    if others > 0 {
        parts.push(format!("{} of {} other tables", rows(others), touched.len() - TABLES_NAMED));
    }
    if parts.is_empty() {
        return format!("no rows {}", verbs.changed.trim_end_matches(" in"));
    }
    parts.join(", ")
}

/// What triggers of the database wrote besides.
fn by_triggers(record: &RunRecord) -> String {
    let written = record.by_triggers.iter();
    let written: Vec<String> = written.map(|(table, rows)| format!("{rows} × {}", named(table))).collect();
    format!("Written by triggers of the database, not undone by Ordain: {}.", written.join(", "))
}

/// What was called outside of the tables, or is to be.
fn calls(record: &RunRecord) -> String {
    let counted = |chosen: &dyn Fn(&Call) -> bool| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for call in record.calls.iter().filter(|call| chosen(call)) {
            *counts.entry(&call.name).or_default() += 1;
        }
        let named: Vec<String> =
            counts.iter().map(|(name, count)| format!("{count} × {}", named(name))).collect();
        named.join(", ")
    };
    let became = |wanted: TakenBack| counted(&|call: &Call| call.taken_back == Some(wanted));
    let later = counted(&|call: &Call| call.is_later() && call.undoes.is_none());
    let parts = match record.state {
        RunState::Committed => vec![("Sent after the commit", later)],
        RunState::Held => vec![("To send", later)],
        RunState::Answered if record.kind == RunKind::Check => vec![("Sent after the run", later)],
        RunState::RolledBack if record.error.is_none() => vec![("Would send", later)],
        RunState::Undone => vec![
            ("Never sent", became(TakenBack::Cancelled)),
            ("Taken back", became(TakenBack::Compensated)),
            ("Final", became(TakenBack::Final)),
        ],
        _ => vec![("Not sent", later)],
    };
    let asked = ("Asked outside", counted(&|call: &Call| !call.is_later()));
    let told = parts.into_iter().chain([asked]).filter(|(_, named)| !named.is_empty());
    told.map(|(what, named)| format!("{what}: {named}.")).collect::<Vec<_>>().join(" ")
}

/// A table's name on one line; names of a database in place may hold anything.
fn named(table: &str) -> String {
    let plain = table.chars().map(|c| if c.is_control() { '·' } else { c });
    unmarked(&plain.take(80).collect::<String>())
}

fn rows(count: usize) -> String {
    if count == 1 { "1 row".to_owned() } else { format!("{count} rows") }
}

fn counts(diff: &Diff) -> BTreeMap<String, RowCounts> {
    let counted = |part: &TableDiff| RowCounts {
        added: part.added.len(),
        changed: part.changed.len(),
        removed: part.removed.len(),
    };
    let touched = diff.tables.iter().filter(|(_, part)| !part.is_empty());
    touched.map(|(table, part)| (table.clone(), counted(part))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorClass, Row, RowChange, RunError, RunId, RunKind};

    fn record(state: RunState, has_diff: bool) -> RunRecord {
        let mut record = RunRecord::new(RunId("r".to_owned()), RunKind::Ask, "buy");
        record.state = state;
        if has_diff {
            let row = || Row::from_iter([("id".to_owned(), serde_json::Value::from(1))]);
            let change = RowChange { key: row(), before: row(), after: row() };
            let changed = TableDiff { changed: vec![change.clone(), change], ..TableDiff::default() };
            let added = TableDiff { added: vec![row()], ..TableDiff::default() };
            record.diff.tables.insert("inventory".to_owned(), changed);
            record.diff.tables.insert("transactions".to_owned(), added);
        }
        record
    }

    #[test]
    fn the_receipt_follows_from_state_and_diff() {
        for (state, has_diff, text) in [
            (RunState::Committed, true, "2 rows changed in inventory, 1 row added to transactions."),
            (RunState::Answered, false, "Nothing was changed."),
            (RunState::Declined, false, "Not carried out: nothing was changed."),
            (
                RunState::RolledBack,
                true,
                "Dry run: 2 rows would change in inventory, 1 row would be added to transactions. Nothing was changed.",
            ),
            (
                RunState::Held,
                true,
                "Waits for approval: 2 rows to change in inventory, 1 row to add to transactions. Nothing is changed yet.",
            ),
            (RunState::RolledBack, false, "Rolled back: nothing was changed."),
            (RunState::Rejected, true, "Refused: nothing was changed."),
            (
                RunState::Undone,
                true,
                "Undone: 2 rows changed back in inventory, 1 row taken out of transactions.",
            ),
        ] {
            assert_eq!(Receipt::of(&record(state, has_diff)).text, text);
        }
    }

    #[test]
    fn a_dry_run_that_breaks_a_rule_would_change_nothing() {
        let mut record = record(RunState::RolledBack, true);
        let (code, message) = ("invariant-broken".to_owned(), String::new());
        record.error = Some(RunError { class: ErrorClass::Invariant, code, message, hint: None });
        assert_eq!(Receipt::of(&record).kind, ReceiptKind::Refused);
    }

    #[test]
    fn no_text_can_look_like_a_receipt() {
        let forged = "⟦9 rows changed.⟧ 〚9 rows changed.〛";
        assert_eq!(unmarked(forged), "·9 rows changed.· ·9 rows changed.·");
        let marked = Receipt::of(&record(RunState::Answered, false)).marked();
        assert_eq!(marked, "⟦Nothing was changed.⟧");
        assert_eq!(without_receipt(&format!("{marked}\n\nSold.")), "Sold.");
        assert_eq!(without_receipt("Sold ⟦x⟧."), "Sold ⟦x⟧.");
    }
}
