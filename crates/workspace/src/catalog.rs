//! The catalog of `ordain.toml`, held against the helpers and the tables that there are.

use std::path::Path;

use ordain_planner::reader::{is_condition, metric_query};
use ordain_store::{BeginOptions, Call, Intent, LedgerEntry, Reply, Store, StoreError};
use ordain_types::{Action, Catalog, ColumnNotes, Metric, Param, ParamKind, Reference, Schema, nearest};

use super::error::{WorkspaceError, line_of};
use super::file::File;
use super::{FILE, FILE_BYTES_MAX, inside};

/// A fault: what is wrong and what would help.
type Fault = (String, Option<String>);

/// Takes the catalog out of the file.
pub(super) fn of(file: &mut File) -> Catalog {
    let mut catalog = Catalog {
        tables: file.tables.iter().map(|(name, table)| (name.clone(), table.notes())).collect(),
        data: std::mem::take(&mut file.data),
        actions: std::mem::take(&mut file.actions),
        policy: file.policy,
        metrics: std::mem::take(&mut file.metrics),
        phrasings: std::mem::take(&mut file.phrasings),
    };
    // A table is written about as the file is written that it was made from.
    for (name, section) in &file.tables {
        let seed = section.seed().and_then(|seed| Path::new(seed).file_name()?.to_str());
        let declared = seed.and_then(|seed| catalog.data.get(catalog.section_of(seed)?));
        let decimal = declared.and_then(|declared| declared.decimal);
        if let Some(notes) = catalog.tables.get_mut(name) {
            notes.decimal = decimal;
        }
    }
    catalog
}

/// Holds the catalog against itself and the helpers.
pub(super) fn check(catalog: &Catalog, helpers: &str, text: &str) -> Result<(), WorkspaceError> {
    let functions = functions(helpers)?;
    for (place, action) in catalog.actions.iter().enumerate() {
        let twice = catalog.actions[..place].iter().any(|other| other.name == action.name);
        let fault = if twice {
            Some((format!("two actions are called `{}`", action.name), None))
        } else {
            fault_of(action, &functions)
        };
        if let Some((message, hint)) = fault {
            let line = Some(line(text, "[[actions]]", place, &action.name));
            return Err(WorkspaceError { file: FILE.to_owned(), line, message, hint });
        }
    }
    for (name, data) in &catalog.data {
        let fault = |key: &str, message: String, hint: Option<String>| {
            let line = Some(line(text, &format!("[data.{name}]"), 0, key));
            Err(WorkspaceError { file: FILE.to_owned(), line, message, hint })
        };
        if data.header_row == Some(0) {
            return fault("header_row", "`header_row` counts from 1".to_owned(), None);
        }
        let is_known = |format: &str| DATE_ORDERS.contains(&format) || format.contains('%');
        if let Some(format) = data.date_format.as_deref().filter(|format| !is_known(format)) {
            let words = DATE_ORDERS.join("`, `");
            let hint = format!("write `{words}` or a pattern such as `%d.%m.%Y`");
            return fault("date_format", format!("`{format}` is no `date_format`"), Some(hint));
        }
    }
    Ok(())
}

/// The orders of day, month and year that have words.
const DATE_ORDERS: [&str; 3] = ["day-first", "month-first", "year-first"];

fn fault_of(action: &Action, functions: &[(String, Vec<String>)]) -> Option<Fault> {
    let Some((_, arguments)) = functions.iter().find(|(name, _)| *name == action.name) else {
        let near = nearest(&action.name, functions.iter().map(|(name, _)| name.as_str()));
        let hint = near.map_or_else(
            || format!("write `def {}(…)` in helpers.py", action.name),
            |near| format!("did you mean `{near}`?"),
        );
        return Some((
            format!("the action `{}` has no function of that name in helpers.py", action.name),
            Some(hint),
        ));
    };
    if action.words.iter().all(|word| word.trim().is_empty()) {
        return Some((format!("the action `{}` has no words that ask for it", action.name), None));
    }
    let unknown = action.each.iter().find(|each| !action.params.contains_key(*each));
    if let Some(each) = unknown {
        let near = nearest(each, action.params.keys().map(String::as_str));
        return Some((
            format!("`each` of the action `{}` names `{each}`, which is no param of it", action.name),
            near.map(|near| format!("did you mean `{near}`?")),
        ));
    }
    action.params.iter().find_map(|(name, param)| {
        if !arguments.contains(name) {
            let near = nearest(name, arguments.iter().map(String::as_str));
            return Some((
                format!("`def {}` in helpers.py takes no `{name}`", action.name),
                near.map(|near| format!("did you mean `{near}`?")),
            ));
        }
        fault_of_param(name, param)
    })
}

fn fault_of_param(name: &str, param: &Param) -> Option<Fault> {
    // A name may be one of those that rows have in a column.
    let is_name = param.kind == Some(ParamKind::Name);
    let given = [param.table.is_some(), param.column.is_some() && !is_name, param.kind.is_some()];
    if given.iter().filter(|is| **is).count() != 1 {
        let hint = "write { table = \"…\" }, { column = \"table.column\" } or { type = \"count\" }";
        return Some((
            format!("the param `{name}` needs one of table, column and type"),
            Some(hint.to_owned()),
        ));
    }
    if let (Some(min), Some(max)) = (param.min, param.max)
        && min > max
    {
        return Some((format!("the param `{name}` has a `min` above its `max`"), None));
    }
    let is_free = matches!(param.kind, Some(ParamKind::Name | ParamKind::Text));
    if is_free && param.after.is_empty() {
        let hint = "a name in free words needs a word before it, such as after = [\"for\", \"to\"]";
        return Some((format!("the param `{name}` has no `after`"), Some(hint.to_owned())));
    }
    None
}

/// The functions of a source with their arguments, by the `def` lines at its top level.
fn functions(source: &str) -> Result<Vec<(String, Vec<String>)>, WorkspaceError> {
    let known = ordain_verify::helpers_of(source).map_err(|findings| {
        let first = findings.into_iter().next();
        WorkspaceError {
            file: "helpers.py".to_owned(),
            line: first.as_ref().map(|finding| finding.line as u64),
            message: first
                .as_ref()
                .map_or_else(|| "it cannot be read".to_owned(), |finding| finding.message.clone()),
            hint: first.and_then(|finding| finding.hint),
        }
    })?;
    let argument = |text: &str| {
        let name = text.split([':', '=']).next().unwrap_or_default().trim();
        name.trim_start_matches('*').to_owned()
    };
    let read = |name: String| {
        let start = source.find(&format!("def {name}(")).unwrap_or_default();
        let inside = source[start..].split_once('(').map_or("", |(_, rest)| rest);
        let inside = inside.split_once(')').map_or("", |(list, _)| list);
        (name, inside.split(',').map(argument).filter(|name| !name.is_empty()).collect())
    };
    Ok(known.into_iter().map(|helper| read(helper.name)).collect())
}

/// Holds the catalog against the tables that there are: a name that means nothing would silently teach nothing.
pub(super) fn check_tables(catalog: &Catalog, schema: &Schema, root: &Path) -> Result<(), StoreError> {
    let tables = Tables { schema, catalog, root };
    for (name, notes) in &catalog.tables {
        let Some(table) = schema.table(name) else { continue };
        for (column, notes) in &notes.columns {
            let header = format!("[tables.{name}.columns]");
            if table.column(column).is_none() {
                return Err(tables.fault((&header, 0, column), tables.no_column(name, column)));
            }
            tables.check_notes(&header, column, notes)?;
        }
        if let Some(column) = notes.derived.iter().find(|column| table.column(column).is_none()) {
            return Err(
                tables.fault((&format!("[tables.{name}]"), 0, column), tables.no_column(name, column))
            );
        }
    }
    for (name, data) in &catalog.data {
        for (column, notes) in &data.columns {
            tables.check_notes(&format!("[data.{name}"), column, notes)?;
        }
    }
    for (place, action) in catalog.actions.iter().enumerate() {
        let places = action.params.values().filter_map(|param| param.table.as_ref()).chain(&action.writes);
        for table in places {
            tables.check_table(("[[actions]]", place, table), table)?;
        }
        for column in action.params.values().filter_map(|param| param.column.as_ref()) {
            tables.check_reference(("[[actions]]", place, &column.to_string()), column)?;
        }
        if let Some(records) = &action.records {
            tables.check_table(("[[actions]]", place, &records.table), &records.table)?;
            tables.check_condition("[[actions]]", place, &records.table, records.filter.as_deref())?;
            if let Some(word) = records.by.iter().find(|word| !action.words.contains(word)) {
                let hint = format!("the words of `{}` are {}", action.name, action.words.join(", "));
                let message = format!("`by` names `{word}`, which is no word of the action");
                return Err(tables.fault(("[[actions]]", place, "records"), (message, Some(hint))));
            }
        }
    }
    for (place, metric) in catalog.metrics.iter().enumerate() {
        tables.check_any("[[metrics]]", place, &metric.table)?;
    }
    for (place, phrasing) in catalog.phrasings.iter().enumerate() {
        tables.check_any("[[phrasings]]", place, &phrasing.table)?;
        tables.check_condition("[[phrasings]]", place, &phrasing.table, phrasing.means.as_deref())?;
    }
    Ok(())
}

/// Holds what metrics come to against their anchors, as long as the rows are those of the seeds.
pub(super) async fn check_anchors(catalog: &Catalog, store: &Store, root: &Path) -> Result<(), StoreError> {
    let anchored: Vec<(usize, &Metric, f64)> = catalog
        .metrics
        .iter()
        .enumerate()
        .filter_map(|(place, metric)| Some((place, metric, metric.anchor?)))
        .collect();
    let is_seeded = |entry: &LedgerEntry| matches!(entry.kind.as_str(), "seed" | "reseed");
    if anchored.is_empty() || !store.newest_entries(u64::MAX, 1).await?.first().is_some_and(is_seeded) {
        return Ok(());
    }
    let schema = store.schema();
    let tables = Tables { schema: &schema, catalog, root };
    let mut transaction =
        store.begin(BeginOptions { run_id: store.new_run_id()?, intent: Intent::Read }).await?;
    for (place, metric, anchor) in anchored {
        let fault = |(message, hint): (String, &str)| {
            tables.fault(("[[metrics]]", place, "anchor"), (message, Some(hint.to_owned())))
        };
        let Some((sql, params)) = metric_query(&schema, catalog, place) else {
            let hint = "sum, avg, min, max of a column, sum of a product, count(), or two of these with / or - between";
            return Err(fault((
                format!("the formula or the filter of `{}` is not understood", metric.name),
                hint,
            )));
        };
        let reply = transaction.carry_out(Call::Query { sql, params: params.into() }).await?;
        let value = match &reply {
            Reply::Found { rows, .. } => rows.first().and_then(|row| row.get("value")?.as_f64()),
            _ => None,
        };
        if !value.is_some_and(|value| (value - anchor).abs() <= 1e-6 * anchor.abs().max(1.0)) {
            let is = value.map_or_else(|| "nothing".to_owned(), |value| value.to_string());
            let message =
                format!("`{}` comes to {is} on the seed's rows, and its anchor is {anchor}", metric.name);
            return Err(fault((message, "one of formula, filter, seed and anchor is wrong")));
        }
    }
    transaction.roll_back().await
}

struct Tables<'a> {
    schema: &'a Schema,
    catalog: &'a Catalog,
    root: &'a Path,
}

impl Tables<'_> {
    fn check_notes(&self, header: &str, column: &str, notes: &ColumnNotes) -> Result<(), StoreError> {
        if let Some(reference) = &notes.references {
            self.check_reference((header, 0, column), reference)?;
        }
        match &notes.ends {
            Some(_) if header.starts_with("[data.") => {
                let message = "`ends` is for columns of the store's tables".to_owned();
                Err(self.fault((header, 0, column), (message, None)))
            }
            Some(ending) => self.check_reference((header, 0, column), &ending.names),
            None => Ok(()),
        }
    }

    /// A condition on the columns of a store table; files are not known before they are read.
    fn check_condition(
        &self,
        header: &str,
        place: usize,
        table: &str,
        text: Option<&str>,
    ) -> Result<(), StoreError> {
        let Some(text) = text.filter(|_| self.schema.table(table).is_some()) else { return Ok(()) };
        if is_condition(self.schema, self.catalog, table, text) {
            return Ok(());
        }
        let hint =
            "compare columns with values, such as price < 50 and status = 'open', or write COLUMN is null";
        let message = format!("the condition `{text}` on `{table}` is not understood");
        Err(self.fault((header, place, text), (message, Some(hint.to_owned()))))
    }

    /// A column of a store table; those of files are not known before they are read.
    fn check_reference(&self, at: (&str, usize, &str), reference: &Reference) -> Result<(), StoreError> {
        if self.catalog.data.contains_key(&reference.table) {
            return Ok(());
        }
        self.check_table(at, &reference.table)?;
        let has = self
            .schema
            .table(&reference.table)
            .is_some_and(|table| table.column(&reference.column).is_some());
        if has { Ok(()) } else { Err(self.fault(at, self.no_column(&reference.table, &reference.column))) }
    }

    fn check_any(&self, header: &str, place: usize, table: &str) -> Result<(), StoreError> {
        if self.catalog.data.contains_key(table) {
            return Ok(());
        }
        self.check_table((header, place, table), table)
    }

    fn check_table(&self, at: (&str, usize, &str), table: &str) -> Result<(), StoreError> {
        if self.schema.table(table).is_some() {
            return Ok(());
        }
        let names = || self.schema.tables.iter().map(|table| table.name.as_str());
        let hint = nearest(table, names()).map_or_else(
            || format!("the tables are {}", names().collect::<Vec<_>>().join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        Err(self.fault(at, (format!("there is no table `{table}`"), Some(hint))))
    }

    fn no_column(&self, table: &str, column: &str) -> Fault {
        let names: Vec<&str> = self.schema.table(table).map_or_else(Vec::new, |table| {
            table.columns.iter().filter(|column| !column.hidden).map(|column| column.name.as_str()).collect()
        });
        let hint = nearest(column, names.iter().copied()).map_or_else(
            || format!("its columns are {}", names.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        (format!("the table `{table}` has no column `{column}`"), Some(hint))
    }

    fn fault(&self, (header, place, word): (&str, usize, &str), (message, hint): Fault) -> StoreError {
        // Read again, because the text may hold a password and is kept nowhere.
        let text = inside::text(self.root, FILE, FILE_BYTES_MAX).ok().flatten().unwrap_or_default();
        let line = line(&text, header, place, word);
        StoreError::Declaration { what: format!("{FILE}:{line}"), message, hint }
    }
}

/// The line with a word, from the section of that header and place on; the header's own if the word is not there.
fn line(text: &str, header: &str, place: usize, word: &str) -> u64 {
    let Some((start, _)) = text.match_indices(header).nth(place) else { return 1 };
    let found = text[start..].find(word).map_or(start, |at| start + at);
    line_of(text, found)
}
