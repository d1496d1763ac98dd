//! A diff as cells before → after: added rows green, removed rows struck through, changed cells marked.
//!
//! Columns that no row changes are hidden until someone asks for them; large tables come in pages.

use maud::{Markup, html};
use ordain_types::{Row, RunRecord, TableDiff};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::parts::Pager;
use crate::text::{cell, cells, counted, heading, in_path, visible};

/// Rows of one table that a page shows.
pub const DIFF_ROWS_MAX: usize = 100;

/// Names what a run would change and call: the approver's form sends it back, so that what was seen is what is committed.
pub fn diff_hash(record: &RunRecord) -> String {
    let text = serde_json::to_vec(&(&record.diff, &record.calls)).unwrap_or_default();
    ordain_types::hex(&Sha256::digest(&text)[..16])
}

/// Every table of a run's diff, each with its first rows.
pub(crate) fn of_run(record: &RunRecord) -> Markup {
    html! {
        @if record.diff.is_empty() { p.muted { "No row was touched." } }
        @for (name, table) in record.diff.tables.iter().filter(|(_, table)| !table.is_empty()) {
            (one_table(record, name, table, 0))
            @if table.rows() > DIFF_ROWS_MAX {
                p { a href={ "/runs/" (record.run_id.as_str()) "/diff/" (in_path(name)) } {
                    "All " (counted(table.rows(), "row", "rows")) " of " (visible(name))
                } }
            }
        }
        @if !record.calls.is_empty() {
            section.diff id="calls" {
                div.diff-head { h3 { "Calls" } }
                ul { @for call in &record.calls {
                    li {
                        code { (visible(&call.name)) " " (visible(&call.arguments.to_string())) }
                        @if call.is_later() { " after the commit" } @else { " was made" }
                    }
                } }
            }
        }
    }
}

/// One page of one table's diff.
pub fn table_page(record: &RunRecord, name: &str, table: &TableDiff, from: usize) -> Markup {
    let address = |from: usize| format!("/runs/{}/diff/{}?from={from}", record.run_id, in_path(name));
    let next = from + DIFF_ROWS_MAX;
    let pager =
        Pager { first: (from > 0).then(|| address(0)), next: (next < table.rows()).then(|| address(next)) };
    html! {
        p.crumbs { a href={ "/runs/" (record.run_id.as_str()) } { "Run " (crate::text::short_id(record.run_id.as_str())) } }
        h1 { "Diff of " (visible(name)) }
        (one_table(record, name, table, from))
        (pager.show())
    }
}

/// A row of the diff.
enum Shown<'a> {
    Changed(&'a Row, &'a Row),
    Added(&'a Row),
    Removed(&'a Row),
}

fn one_table(record: &RunRecord, name: &str, table: &TableDiff, from: usize) -> Markup {
    let changed = table.changed.iter().map(|change| Shown::Changed(&change.before, &change.after));
    let added = table.added.iter().map(Shown::Added);
    let removed = table.removed.iter().map(Shown::Removed);
    let rows: Vec<Shown<'_>> = changed.chain(added).chain(removed).skip(from).take(DIFF_ROWS_MAX).collect();
    let columns = columns(table, &rows);
    let hidden = columns.iter().filter(|column| !column.is_shown).count();
    html! {
        section.diff id={ "diff-" (in_path(name)) } {
            div.diff-head {
                h3 { (visible(name)) }
                (totals(table))
                @if hidden > 0 {
                    label.all-columns { input type="checkbox"; " all columns (" (hidden) " unchanged)" }
                }
            }
            div.scroll tabindex="0" role="region" aria-label={ "Changed rows of " (visible(name)) } {
                table {
                    thead { tr {
                        th scope="col" { span.unseen { "What happened" } }
                        @for column in &columns { th.same[!column.is_shown] scope="col" { (heading(column.name)) } }
                    } }
                    tbody { @for (place, row) in rows.iter().enumerate() {
                        @let anchor = format!("{}-{}", in_path(name), from + place + 1);
                        (one_row(row, &columns, &anchor))
                    } }
                }
            }
            @if record.diff.is_empty() { p.muted { "Nothing." } }
        }
    }
}

fn totals(table: &TableDiff) -> Markup {
    html! {
        p.totals {
            @if !table.changed.is_empty() { span.chip.calm { "± " (table.changed.len()) " changed" } " " }
            @if !table.added.is_empty() { span.chip.good { "+ " (table.added.len()) " added" } " " }
            @if !table.removed.is_empty() { span.chip.bad { "− " (table.removed.len()) " removed" } }
        }
    }
}

struct Column<'a> {
    name: &'a str,
    is_shown: bool,
}

/// All columns of the rows. Keys and what changed are shown; rows that are new or gone show everything that fits.
fn columns<'a>(table: &'a TableDiff, rows: &[Shown<'a>]) -> Vec<Column<'a>> {
    let mut columns: Vec<Column<'a>> = Vec::new();
    let is_key = |name: &str| table.changed.iter().any(|change| change.key.get(name).is_some());
    let mut add = |name: &'a str, is_shown: bool| match columns.iter_mut().find(|column| column.name == name)
    {
        Some(column) => column.is_shown |= is_shown,
        None => columns.push(Column { name, is_shown }),
    };
    for row in rows {
        match row {
            Shown::Changed(before, after) => {
                for name in before.names().chain(after.names()) {
                    add(name, before.get(name) != after.get(name) || is_key(name) || is_name(name));
                }
            }
            Shown::Added(row) | Shown::Removed(row) => row.names().for_each(|name| add(name, true)),
        }
    }
    columns
}

/// Columns by which people know a row.
fn is_name(name: &str) -> bool {
    matches!(name, "name" | "title")
}

fn one_row(row: &Shown<'_>, columns: &[Column<'_>], anchor: &str) -> Markup {
    let (class, sign, word) = match row {
        Shown::Changed(..) => ("changed", "±", "changed"),
        Shown::Added(_) => ("added", "+", "added"),
        Shown::Removed(_) => ("removed", "−", "removed"),
    };
    html! {
        tr class=(class) id=(anchor) {
            th.sign scope="row" { a href={ "#" (anchor) } title="Link to this row" { span aria-hidden="true" { (sign) } span.unseen { (word) } } }
            @for column in columns {
                @match row {
                    Shown::Changed(before, after) => { (changed_cell(column, before.get(column.name), after.get(column.name), anchor)) },
                    Shown::Added(row) => { td { ins { (cell(row.get(column.name))) } } },
                    Shown::Removed(row) => { td { del { (cell(row.get(column.name))) } } },
                }
            }
        }
    }
}

fn changed_cell(column: &Column<'_>, before: Option<&Value>, after: Option<&Value>, row: &str) -> Markup {
    if before == after {
        return html! { td.same[!column.is_shown] { (cell(after)) } };
    }
    let (old, new) = cells(before, after);
    let anchor = format!("{row}-{}", in_path(column.name));
    html! {
        td.dirty id=(anchor) { del { (old) } a.arrow href={ "#" (anchor) } title="Link to this cell" { span aria-hidden="true" { " → " } span.unseen { " becomes " } } ins { (new) } }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record() -> RunRecord {
        let mut record =
            RunRecord::new(ordain_types::RunId("r1".to_owned()), ordain_types::RunKind::Ask, "buy");
        record.diff = serde_json::from_value(json!({ "inventory": {
            "added": [{"item_id": "<i>", "name": "New", "stock": 1}],
            "changed": [{"key": {"item_id": "A"}, "before": {"item_id": "A", "name": "Aviator", "colour": "red", "stock": 5},
                "after": {"item_id": "A", "name": "Aviator", "colour": "red", "stock": 4}}],
            "removed": [],
        }}))
        .unwrap();
        record
    }

    #[test]
    fn a_changed_cell_shows_both_values_and_unchanged_columns_step_back() {
        let page = of_run(&record()).into_string();
        assert!(page.contains("<del><span class=\"number\">5</span></del>"), "{page}");
        assert!(page.contains("<ins><span class=\"number\">4</span></ins>"), "{page}");
        assert!(page.contains("<th class=\"same\" scope=\"col\">colour</th>"), "{page}");
        assert!(page.contains("<ins><span class=\"nowrap\">&lt;i&gt;</span></ins>"), "{page}");
    }

    #[test]
    fn a_long_diff_is_shown_in_pages() {
        let mut record = record();
        let table = record.diff.tables.get_mut("inventory").unwrap();
        table.added = vec![table.added[0].clone(); 250];
        let first = of_run(&record).into_string();
        assert_eq!(first.matches("<tr class=").count(), DIFF_ROWS_MAX);
        assert!(first.contains("/runs/r1/diff/inventory\">All 251 rows"), "{first}");
        let table = record.diff.tables["inventory"].clone();
        let last = table_page(&record, "inventory", &table, 200).into_string();
        assert_eq!(last.matches("<tr class=").count(), 51);
        assert!(!last.contains("rel=\"next\""));
    }

    #[test]
    fn the_hash_of_a_diff_is_of_exactly_that_diff() {
        let mut record = record();
        let first = diff_hash(&record);
        assert_eq!(first, diff_hash(&record));
        record.diff.tables.get_mut("inventory").unwrap().added.clear();
        assert_ne!(first, diff_hash(&record));
    }
}
