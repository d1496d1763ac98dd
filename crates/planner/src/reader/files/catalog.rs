//! What the files hold, as tables.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use ordain_types::{Catalog, Column, ColumnType, Phrasing, Table, TableNotes};
use serde_json::Value;

use crate::brief::{ColumnBrief, FileBrief, TableBrief};
use crate::reader::index::split_name;
use crate::reader::lexicon::{LEXICON, singular};
use crate::reader::shape::{least, years};
use crate::reader::token::Token;

/// Above this a table of text is read in pieces.
const BIG_BYTES: u64 = 24 << 20;
/// Above this many values a table that is packed on disk is.
const BIG_VALUES: u64 = 4_000_000;

/// Kinds whose tables have names that say nothing: `Sheet1`, `table 1`.
const SHEETS: [&str; 8] = ["xlsx", "xlsm", "xls", "ods", "html", "htm", "docx", "pdf"];

/// Where a table lies: in one file, or the same table in several files.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Source {
    /// The files that hold it, each with the sheet, key, member or element that it is, where the file has several;
    /// usually one.
    pub(crate) parts: Vec<(String, Option<String>)>,
    /// What it is called besides its name.
    pub(crate) also: Option<String>,
    /// Whether that says better what its rows are: `events` of `team.ics`.
    pub(crate) is_better: bool,
    /// Whether it is read in pieces.
    pub(crate) is_big: bool,
    /// The first and the last year of each column of days, if every row was looked at.
    pub(crate) years: BTreeMap<String, (u32, u32)>,
    /// The columns whose points in time name a zone.
    pub(crate) zoned: BTreeSet<String>,
    /// The columns with values that are there and cannot be read.
    pub(crate) unread: BTreeSet<String>,
    /// Whether it writes fractions with a comma.
    pub(crate) commas: bool,
    /// For a name that several columns of the file have, what they are called here.
    pub(crate) doubled: BTreeMap<String, Vec<String>>,
    /// The least number of each column beside 0, if every row was looked at.
    pub(crate) least: BTreeMap<String, Ordering>,
}

/// Whether a table of this file is read in pieces: the same question gets other code then.
pub fn is_big(file: &FileBrief) -> bool {
    let tables = file.facts.get("tables").and_then(Value::as_array);
    tables.into_iter().flatten().any(|table| is_big_table(file, table))
}

fn is_big_table(file: &FileBrief, table: &Value) -> bool {
    let rows = table.get("rows").and_then(Value::as_u64).unwrap_or_default();
    let columns = table.get("columns").and_then(Value::as_array).map_or(0, Vec::len) as u64;
    match file.kind.as_str() {
        "csv" | "tsv" | "dat" | "jsonl" | "ndjson" => file.bytes > BIG_BYTES,
        "parquet" => rows.saturating_mul(columns) > BIG_VALUES,
        _ => false,
    }
}

/// All tables of all files, and where they lie. Files with the same columns are one table in several pieces, unless the
/// request names one of them; sheets with the same columns are one if it speaks of all sheets.
pub(super) fn tables(files: &[&FileBrief], tokens: &[Token]) -> (Vec<Source>, Vec<TableBrief>) {
    let mut found: Vec<(Source, TableBrief)> = Vec::new();
    let stems: Vec<String> = files.iter().map(|file| stem(&file.name)).collect();
    let names_one = tokens.iter().any(|token| {
        stems.contains(&token.lower) || files.iter().any(|file| file.name.to_lowercase() == token.lower)
    });
    let places = 0..tokens.len();
    let says_all = places.into_iter().any(|place| {
        let words: Vec<&str> = tokens[place..].iter().take(6).map(Token::word).collect();
        !LEXICON.matches("file.all_tables", &words).is_empty()
    });
    for file in files {
        let own = file.facts.get("tables").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for table in own {
            let Some((source, brief)) = table_of(file, table, own) else { continue };
            let part = &source.parts[0];
            let same = found.iter_mut().find(|(known, other)| {
                let is_other_file =
                    known.parts.iter().all(|(name, table)| *name != part.0 && *table == part.1);
                let is_alike = is_same(other, &brief) && known.zoned == source.zoned;
                is_alike && (says_all || is_other_file && !names_one)
            });
            match same {
                Some((known, other)) => {
                    known.parts.extend(source.parts);
                    known.unread.extend(source.unread);
                    known.commas |= source.commas;
                    known.years.retain(|name, _| source.years.contains_key(name));
                    for (name, (first, last)) in source.years {
                        known
                            .years
                            .entry(name)
                            .and_modify(|known| *known = (known.0.min(first), known.1.max(last)));
                    }
                    known.least.retain(|name, _| source.least.contains_key(name));
                    for (name, least) in source.least {
                        known.least.entry(name).and_modify(|known| *known = least.min(*known));
                    }
                    merge(other, brief);
                }
                None => found.push((source, brief)),
            }
        }
    }
    let (sources, mut briefs): (Vec<Source>, Vec<TableBrief>) = found.into_iter().unzip();
    refer(&mut briefs);
    (sources, briefs)
}

/// The catalog with what the owner says about data files where the reader looks for it.
pub(crate) fn described(catalog: &Catalog) -> Catalog {
    let mut all = catalog.clone();
    for (name, notes) in &catalog.data {
        let notes = TableNotes {
            description: notes.description.clone(),
            synonyms: notes.synonyms.clone(),
            columns: notes.columns.clone(),
            decimal: notes.decimal,
            ..TableNotes::default()
        };
        all.tables.entry(name.clone()).or_insert(notes);
    }
    all
}

/// The same for files alone: no actions, and verbs of the tables (`ordered`, where there is a table of orders; `sold`,
/// where there is one of sales).
pub(super) fn notes(catalog: &Catalog, tables: &[TableBrief]) -> Catalog {
    let verbs = tables.iter().filter_map(|table| {
        let noun = singular(split_name(&table.table.name).first()?);
        let past = if noun.ends_with('e') { format!("{noun}d") } else { format!("{noun}ed") };
        let others = LEXICON.matches("verb_nouns", &[noun.as_str()]);
        let others = others.iter().flat_map(|(_, verbs)| verbs.split(' ')).map(str::to_owned);
        Some(Phrasing { words: others.chain([past]).collect(), table: table.table.name.clone(), means: None })
    });
    let phrasings = catalog.phrasings.iter().cloned().chain(verbs).collect();
    Catalog { actions: Vec::new(), phrasings, ..described(catalog) }
}

fn stem(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    last.split('.').next().unwrap_or(last).to_lowercase()
}

fn table_of(file: &FileBrief, table: &Value, own: &[Value]) -> Option<(Source, TableBrief)> {
    let facts = table.get("columns")?.as_array()?;
    let named = table.get("name").and_then(Value::as_str).map(str::to_owned);
    let is_inner = |table: &Value| table.get("inner_list").is_some();
    let is_only = own.iter().filter(|table| !is_inner(table)).count() == 1;
    let (name, also) = match &named {
        // `staff`, for the staff of offices.
        Some(name) if is_inner(table) => (name.clone(), name.rsplit('.').next().map(str::to_owned)),
        Some(name) if own.len() > 1 => (name.clone(), is_only.then(|| stem(&file.name))),
        other => (stem(&file.name), other.clone()),
    };
    let rows = table.get("rows").and_then(Value::as_u64).unwrap_or_default();
    let columns: Vec<Column> = facts.iter().filter_map(column).collect();
    if columns.is_empty() {
        return None;
    }
    let seen = facts.iter().map(|facts| ColumnBrief {
        name: name_of(facts),
        null_share: facts.get("null_share").and_then(Value::as_f64).unwrap_or_default(),
        samples: facts.get("samples").and_then(Value::as_array).cloned().unwrap_or_default(),
        values: facts.get("values").and_then(Value::as_array).cloned(),
        shape: None,
        unit: ["currency", "unit"].iter().find_map(|&key| Some(facts.get(key)?.as_str()?.to_owned())),
        reading: Value::Null,
    });
    let brief = TableBrief {
        columns: seen.collect(),
        rows,
        roles: BTreeMap::new(),
        references: Vec::new(),
        indexes: Vec::new(),
        table: Table { name, columns, ..Table::default() },
    };
    let is_sampled = table.get("looked_at_rows").is_some();
    let source = Source {
        parts: vec![(file.name.clone(), named)],
        is_better: own.len() == 1 && !SHEETS.contains(&file.kind.as_str()),
        also,
        is_big: is_big_table(file, table),
        zoned: facts.iter().filter(|facts| facts.get("zone").is_some()).map(name_of).collect(),
        commas: facts.iter().any(|facts| facts.get("decimal").and_then(Value::as_str) == Some(",")),
        unread: facts.iter().filter(|facts| facts.get("misfits").is_some()).map(name_of).collect(),
        doubled: doubled(facts),
        years: if is_sampled { BTreeMap::new() } else { years_of(facts) },
        least: if is_sampled { BTreeMap::new() } else { least_of(facts) },
    };
    Some((source, brief))
}

fn name_of(facts: &Value) -> String {
    facts.get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The columns that have one name in the file, by that name.
fn doubled(columns: &[Value]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for column in columns {
        if let Some(called) = column.get("called").and_then(Value::as_str) {
            found.entry(called.to_owned()).or_insert_with(|| vec![called.to_owned()]).push(name_of(column));
        }
    }
    found
}

fn years_of(columns: &[Value]) -> BTreeMap<String, (u32, u32)> {
    let of = |facts: &Value| {
        let ends = [facts.get("min")?.clone(), facts.get("max")?.clone()];
        Some((facts.get("name")?.as_str()?.to_owned(), years(&ends)?))
    };
    columns.iter().filter_map(of).collect()
}

fn least_of(columns: &[Value]) -> BTreeMap<String, Ordering> {
    let of = |facts: &Value| {
        let number = facts.get("min")?;
        Some((facts.get("name")?.as_str()?.to_owned(), least(std::slice::from_ref(number))?))
    };
    columns.iter().filter_map(of).collect()
}

fn column(facts: &Value) -> Option<Column> {
    let column_type = match facts.get("type").and_then(Value::as_str).unwrap_or_default() {
        "integer" => ColumnType::Integer,
        "real" | "decimal" | "percent" => ColumnType::Real,
        "date" | "timestamp" => ColumnType::Timestamp,
        "boolean" => ColumnType::Boolean,
        "text" | "category" | "identifier" => ColumnType::Text,
        // Spans of time and nested values take part in no comparison that words could state.
        _ => ColumnType::Json,
    };
    Some(Column { name: facts.get("name")?.as_str()?.to_owned(), column_type, nullable: true, hidden: false })
}

fn is_same(one: &TableBrief, other: &TableBrief) -> bool {
    has_same_columns(one, other) && other_unit(one, other).is_none()
}

fn has_same_columns(one: &TableBrief, other: &TableBrief) -> bool {
    let shape = |brief: &TableBrief| -> Vec<(String, ColumnType)> {
        brief.table.columns.iter().map(|column| (column.name.clone(), column.column_type)).collect()
    };
    shape(one) == shape(other)
}

/// The first column that two tables have in different currencies or units, or only one of them in any.
fn other_unit<'a>(one: &'a TableBrief, other: &'a TableBrief) -> Option<(&'a ColumnBrief, &'a ColumnBrief)> {
    one.columns.iter().zip(&other.columns).find(|(one, other)| one.unit != other.unit)
}

/// Why tables with the same columns are not one table, where their units differ.
pub(super) fn apart(tables: &[TableBrief]) -> Option<String> {
    let unit = |column: &ColumnBrief| column.unit.clone().unwrap_or_else(|| "no unit".to_owned());
    tables.iter().enumerate().find_map(|(place, one)| {
        let other = tables.iter().skip(place + 1).find(|other| has_same_columns(one, other))?;
        let (first, second) = other_unit(one, other)?;
        let names = (&one.table.name, &other.table.name);
        let (name, units) = (&first.name, (unit(first), unit(second)));
        Some(format!(
            "{} and {} are not read as one table, because {name} has {} in the first and {} in the second.",
            names.0, names.1, units.0, units.1
        ))
    })
}

/// Why two tables are not joined, where a column that both have holds numbers in one and texts in the other, as 1 and 01.
pub(super) fn unlike(tables: &[TableBrief]) -> Option<String> {
    let (one, other, column) = tables.iter().enumerate().find_map(|(place, one)| {
        tables.iter().skip(place + 1).find_map(|other| {
            let column = one.table.columns.iter().find(|column| {
                other.table.column(&column.name).is_some_and(|theirs| sort(theirs) != sort(column))
            })?;
            Some((one, other, column))
        })
    })?;
    let theirs = other.table.column(&column.name)?;
    Some(format!(
        "{} and {} are not joined by {}, which holds {} in the first and {} in the second; declare its type as `identifier` for both in `[data]`.",
        one.table.name,
        other.table.name,
        column.name,
        sort(column),
        sort(theirs)
    ))
}

/// What values of a column are compared as.
fn sort(column: &Column) -> &'static str {
    match column.column_type {
        ColumnType::Integer | ColumnType::Real | ColumnType::Decimal => "numbers",
        ColumnType::Timestamp => "days",
        ColumnType::Boolean => "truth values",
        _ => "texts",
    }
}

fn merge(known: &mut TableBrief, more: TableBrief) {
    known.rows += more.rows;
    for (column, other) in known.columns.iter_mut().zip(more.columns) {
        column.null_share = column.null_share.max(other.null_share);
        column.values = match (column.values.take(), other.values) {
            (Some(mut values), Some(others)) => {
                let new: Vec<Value> = others.into_iter().filter(|value| !values.contains(value)).collect();
                values.extend(new);
                Some(values)
            }
            _ => None,
        };
    }
}

/// A column that another table has under the same name refers to that table's rows, if it is an id there: `customer_id` of
/// `customers`, or the first column of one of the two alone. The code makes sure that a value stands there once.
fn refer(tables: &mut [TableBrief]) {
    let shapes: Vec<(String, Vec<String>)> = tables
        .iter()
        .map(|table| {
            (table.table.name.clone(), table.table.columns.iter().map(|column| column.name.clone()).collect())
        })
        .collect();
    let kinds: Vec<Vec<&str>> =
        tables.iter().map(|table| table.table.columns.iter().map(sort).collect()).collect();
    for (place, table) in tables.iter_mut().enumerate() {
        for (at, own) in shapes[place].1.iter().enumerate() {
            for (other, (name, columns)) in shapes.iter().enumerate().filter(|(other, _)| *other != place) {
                let Some(theirs) = columns.iter().position(|column| column == own) else { continue };
                let is_named = |table: &str| {
                    let words: Vec<String> = split_name(table).iter().map(|word| singular(word)).collect();
                    let (own, noun) = (own.to_lowercase(), words.join("_"));
                    own.strip_suffix("_id").unwrap_or(&own) == noun || own == noun
                };
                let is_first = theirs == 0 && at != 0;
                if (is_named(name) || is_first)
                    && !is_named(&shapes[place].0)
                    && kinds[place][at] == kinds[other][theirs]
                {
                    table.references.push((own.clone(), name.clone(), own.clone()));
                    break;
                }
            }
        }
    }
}
