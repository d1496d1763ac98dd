//! Tables and their rows, and who changed a row.

use maud::{Markup, html};
use ordain_store::{RowEvent, TableInfo};
use ordain_types::{Column, Row};
use serde::Deserialize;
use serde_json::Value;

use crate::parts::{Pager, chip, empty, state};
use crate::text::{cell, cells, grouped, in_path, is_number, lines, visible, when};

/// The list of tables: those of the store, and those of files in `data` with their files.
pub fn list(tables: &[TableInfo], files: &[(String, String)]) -> Markup {
    html! {
        h1 { "Tables" }
        @if !files.is_empty() {
            ul.plain.lined aria-label="Tables of files" { @for (name, file) in files {
                li { a href={ "/tables/" (in_path(name)) } { (visible(name)) } " " span.muted { "of " code { (visible(file)) } } }
            } }
        }
        @if tables.is_empty() && files.is_empty() { (empty("This workspace has no tables yet.", &html! { p { "Tables are declared in " code { "ordain.toml" } "." } })) }
        @if !tables.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Tables" {
                table.list {
                    thead { tr { th scope="col" { "Table" } th.right scope="col" { "Rows" } th scope="col" { "Key" } th scope="col" { "Columns" } th scope="col" { "Rules" } } }
                    tbody { @for info in tables { tr data-row {
                        td { a href={ "/tables/" (in_path(&info.table.name)) } { (visible(&info.table.name)) } }
                        td.right { (grouped(info.rows)) }
                        td { code { (visible(&info.table.key.join(", "))) } }
                        td { (visible(&info.table.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", "))) }
                        td { (rules(info)) }
                    } } }
                }
            }
        }
    }
}

fn rules(info: &TableInfo) -> Markup {
    html! {
        @if info.table.append_only { (chip("calm", "append only")) " " }
        @if info.table.read_only { (chip("calm", "read only")) " " }
        @if let Some(most) = info.max_rows_changed { span.muted { "at most " (grouped(most)) " rows a run" } }
    }
}

/// A table of a file: what is known of it without its rows.
#[derive(Debug, Clone, Default)]
pub struct FilePage {
    /// Its name.
    pub name: String,
    /// Its file.
    pub source: String,
    /// How many rows it has.
    pub rows: u64,
    /// How each column is read: name, type, marks and orders, missing values, examples.
    pub columns: Vec<Value>,
    /// What was odd about its file.
    pub notes: Vec<String>,
    /// Why it cannot be read.
    pub problem: Option<String>,
    /// The checks that look at it: id and name.
    pub checks: Vec<(String, String)>,
}

/// The columns of a table of a file, how they are read, and which checks look at it.
pub fn file(page: &FilePage) -> Markup {
    const APART: [&str; 4] = ["name", "type", "null_share", "samples"];
    let text = |value: &Value| visible(value.as_str().unwrap_or(&value.to_string()));
    html! {
        p.crumbs { a href="/tables" { "Tables" } " / " (visible(&page.name)) }
        h1 { (visible(&page.name)) }
        @if let Some(problem) = &page.problem { p.notice.bad { "It cannot be read: " (visible(problem)) } } @else {
            p.meta { (grouped(page.rows)) " rows of " code { (visible(&page.source)) } }
            @for note in &page.notes { p.notice { (visible(note)) } }
            div.scroll tabindex="0" role="region" aria-label="Columns" { table.list {
                thead { tr { th scope="col" { "Column" } th scope="col" { "Type" } th scope="col" { "Read with" } th.right scope="col" { "Missing" } th scope="col" { "Examples" } } }
                tbody { @for column in &page.columns { tr data-row {
                    td { strong { (text(&column["name"])) } }
                    td { (text(&column["type"])) }
                    td { @for (name, value) in column.as_object().into_iter().flatten().filter(|(name, value)| !APART.contains(&name.as_str()) && !value.is_null()) { (visible(name)) " " code { (text(value)) } " " } }
                    td.right { (ordain_checks::report::words::percent(column["null_share"].as_f64().unwrap_or_default() * 100.0)) }
                    td { @for (place, value) in column["samples"].as_array().into_iter().flatten().take(3).enumerate() { @if place > 0 { ", " } (cell(Some(value))) } }
                } } }
            } }
        }
        @if !page.checks.is_empty() {
            section { h2 { "Checks" } ul.plain { @for (id, name) in &page.checks { li { a href={ "/checks/" (in_path(id)) } { (visible(name)) } " " code.muted { (visible(id)) } } } } }
        }
    }
}

/// A page of rows.
#[derive(Debug, Clone)]
pub struct RowsPage {
    /// The table.
    pub info: TableInfo,
    /// Its rows.
    pub rows: Vec<Row>,
    /// The column, and the text that occurs in it.
    pub filter: Option<(String, String)>,
    /// The column by which they are in order.
    pub sort: Option<(String, Order)>,
    /// Other pages.
    pub pager: Pager,
}

/// Which way rows are in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The least first.
    #[default]
    Ascending,
    /// The greatest first.
    Descending,
}

ordain_types::names!(Order, name { Ascending = "ascending", Descending = "descending" });

impl Order {
    /// The order as SQL has it.
    pub const fn sql(self) -> &'static str {
        match self {
            Self::Ascending => "ASC",
            Self::Descending => "DESC",
        }
    }
}

/// The rows of a table.
pub fn rows(page: &RowsPage) -> Markup {
    let table = &page.info.table;
    let columns: Vec<&str> =
        table.columns.iter().filter(|column| !column.hidden).map(|column| column.name.as_str()).collect();
    html! {
        p.crumbs { a href="/tables" { "Tables" } " / " (visible(&table.name)) }
        h1 { (visible(&table.name)) }
        p.meta { (grouped(page.info.rows)) " rows " (rules(&page.info)) @for note in &page.info.notes { " · " (visible(note)) } }
        (filter(page, &columns))
        @if page.rows.is_empty() { (none(page)) } @else {
            div.scroll tabindex="0" role="region" aria-label={ "Rows of " (visible(&table.name)) } {
                table.list {
                    thead { tr {
                        @for column in table.columns.iter().filter(|column| !column.hidden) {
                            @let sorted = page.sort.as_ref().filter(|(by, _)| *by == column.name).map(|(_, order)| *order);
                            th.right[is_number(page.rows.first().and_then(|row| row.get(&column.name)))] scope="col" aria-sort=[sorted.map(Order::name)] {
                                a.sort href=(sort_address(page, &column.name, sorted)) { (visible(&column.name)) @match sorted { Some(Order::Ascending) => { " ↑" }, Some(Order::Descending) => { " ↓" }, None => {} } }
                                span.muted.below { (kind(column)) @if table.key.contains(&column.name) { " · key" } }
                            }
                        }
                        th scope="col" { span.unseen { "History" } }
                    } }
                    tbody { @for row in &page.rows { tr data-row {
                        @for name in &columns { td.right[is_number(row.get(name))] { (cell(row.get(name))) } }
                        td { @if let Some(key) = key(page, row) { a href={ "/tables/" (in_path(&table.name)) "/history?key=" (in_path(&key)) } { "History" } } }
                    } } }
                }
            }
        }
        (page.pager.show())
        p.muted { @if page.info.in_place { "Types are those of the database." } @else { "Types are those that " code { "[tables." (visible(&table.name)) ".columns]" } " in " code { "ordain.toml" } " gives; else they are as its seed is read." } }
    }
}

/// Why there is no row, and how to get some.
fn none(page: &RowsPage) -> Markup {
    let address = format!("/tables/{}", in_path(&page.info.table.name));
    match &page.filter {
        None => empty("This table has no rows.", &html! {}),
        Some((column, value)) => empty(
            &format!(
                "In none of {} rows does {} contain “{}”.",
                grouped(page.info.rows),
                visible(column),
                visible(value)
            ),
            &html! { p { a href=(address) { "Show all rows" } } },
        ),
    }
}

/// The same rows in the order of a column; the other way round, if they are in its order.
fn sort_address(page: &RowsPage, column: &str, sorted: Option<Order>) -> String {
    let order = if sorted == Some(Order::Ascending) { Order::Descending } else { Order::Ascending };
    let filter = page.filter.as_ref().map_or_else(String::new, |(column, value)| {
        format!("column={}&value={}&", in_path(column), in_path(value))
    });
    format!(
        "/tables/{}?{filter}sort={}&order={}",
        in_path(&page.info.table.name),
        in_path(column),
        order.name()
    )
}

/// What a column holds, as it is declared.
fn kind(column: &Column) -> String {
    let written = serde_json::to_value(column.column_type).unwrap_or_default();
    written.as_str().unwrap_or_default().to_owned()
}

fn filter(page: &RowsPage, columns: &[&str]) -> Markup {
    let (of, value) = page.filter.clone().unwrap_or_default();
    html! {
        form.search method="get" role="search" {
            label { span.unseen { "Column" } select name="column" { @for name in columns { option value=(name) selected[*name == of] { (visible(name)) } } } }
            label { span.unseen { "Value" } input type="search" name="value" value=(value) placeholder="contains…"; }
            @if let Some((column, order)) = &page.sort { input type="hidden" name="sort" value=(column); input type="hidden" name="order" value=(order.name()); }
            button type="submit" { "Filter" }
            @if page.filter.is_some() { a.button href={ "/tables/" (in_path(&page.info.table.name)) } { "All rows" } }
        }
    }
}

/// The key of a row as JSON, where the table has one.
fn key(page: &RowsPage, row: &Row) -> Option<String> {
    let names = &page.info.table.key;
    let key: Row =
        names.iter().map(|name| Some((name.clone(), row.get(name)?.clone()))).collect::<Option<_>>()?;
    (!names.is_empty()).then(|| serde_json::to_string(&key).ok()).flatten()
}

/// Who changed a row, by which run.
pub fn history(table: &str, key: &Row, events: &[RowEvent], pager: &Pager) -> Markup {
    html! {
        p.crumbs { a href="/tables" { "Tables" } " / " a href={ "/tables/" (in_path(table)) } { (visible(table)) } }
        h1 { "History of " @for (name, value) in &key.fields { (visible(name)) " " (cell(Some(value))) " " } }
        @if events.is_empty() { (empty("No run that you may see changed this row.", &html! {})) }
        ol.plain.lined { @for event in events { li {
            p.meta { (state(event.state)) " " a href={ "/runs/" (event.run_id.as_str()) } { (lines(&event.request, 120)) } " · by " code { (visible(&event.who)) } " · " (when(&event.at)) @if let Some(undone) = &event.undone_at { " · undone " (when(undone)) } }
            (changes(event))
        } } }
        (pager.show())
    }
}

fn changes(event: &RowEvent) -> Markup {
    let none = Row::default();
    let (before, after) = (event.before.as_ref().unwrap_or(&none), event.after.as_ref().unwrap_or(&none));
    let mut names: Vec<&str> = before.names().collect();
    names.extend(after.names().filter(|name| before.get(name).is_none()));
    let differing: Vec<(&str, Option<&Value>, Option<&Value>)> = names
        .into_iter()
        .map(|name| (name, before.get(name), after.get(name)))
        .filter(|(_, old, new)| old != new)
        .collect();
    html! {
        @match (&event.before, &event.after) {
            (None, Some(_)) => { (chip("good", "added")) },
            (Some(_), None) => { (chip("bad", "removed")) },
            _ => { ul.plain.diff { @for (name, old, new) in &differing {
                @let (old, new) = cells(*old, *new);
                li { code { (visible(name)) } ": " del { (old) } span.arrow { " → " } ins { (new) } }
            } } },
        }
    }
}
