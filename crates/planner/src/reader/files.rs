//! Questions about files: the tables that a look into them found are what is asked about, and the answer is a query.

use std::sync::Arc;

use ordain_reader::{
    Ask, Catalog, Column, Computed, Expr, Function, Holds, Meaning, Measure, Reader, Reading, Table,
};
use serde_json::Value;

use super::answer::{self, From};
use super::explain::Unknown;
use super::{chosen, computed, declined, known};
use crate::brief::{Brief, FileBrief};
use crate::exchange::{Draft, MadeRows, Reply};

/// A Python function that reads the text of an old Word document. Looking into files uses it.
pub const READ_DOC: &str = include_str!("../../python/read_doc.py");
/// Kinds of files whose words can be counted as they stand.
const TEXTS: [&str; 3] = ["txt", "md", "log"];

/// Writes the plan for a question about files, or for a calculation.
pub(crate) fn plan(brief: &Brief) -> Reply {
    let readable = |file: &&FileBrief| file.facts.get("problem").is_none();
    if !brief.files.is_empty() && !brief.files.iter().any(|file| readable(&file)) {
        return Reply::Refusal(format!("none of the files can be read: {}", problems(brief)));
    }
    let reader = reader(brief);
    match reader.request(&brief.request) {
        Reading::Certain(meaning) => certain(&reader, brief, &meaning),
        Reading::Choose(all) => chosen(&reader, &all),
        silent @ Reading::Silent { .. } => Reply::Refusal(declined(&reader, &Unknown::at(silent))),
    }
}

/// The reader of what may be asked about the files of a brief.
pub(super) fn reader(brief: &Brief) -> Reader {
    Reader::of_requests(known::with_terms(catalog(brief), &brief.catalog))
}

fn problems(brief: &Brief) -> String {
    let told = brief
        .files
        .iter()
        .filter_map(|file| Some(format!("{}: {}", file.name, file.facts.get("problem")?.as_str()?)));
    told.take(5).collect::<Vec<_>>().join("; ")
}

fn certain(reader: &Reader, brief: &Brief, meaning: &Meaning) -> Reply {
    let words = reader.words_of(meaning).unwrap_or_else(|| brief.request.clone());
    if let Meaning::Computed(computed) = meaning {
        let file = match computed {
            Computed::FrequentIn(_, table) => {
                let file = brief.files.iter().find(|file| *stem(&file.name) == **table);
                match file.filter(|file| TEXTS.contains(&file.kind.as_str())) {
                    Some(file) => Some(file.name.as_str()),
                    None => {
                        return Reply::Refusal(format!(
                            "{table} is no plain text, so its words are not counted."
                        ));
                    }
                }
            }
            _ => None,
        };
        let code = computed::program(computed, file, &words);
        return Reply::Plan(Draft { code, reading: Some(words.clone()), title: words, ..Draft::default() });
    }
    let Some(written) = answer::write(reader, meaning, &brief.request, &words, From::Files) else {
        return Reply::Refusal(format!("I understand that ({words}), but it cannot be computed from files."));
    };
    let rows = made_rows(&written.code, figure_name(meaning));
    Reply::Plan(Draft {
        code: written.code,
        reading: Some(words.clone()),
        title: words,
        rows,
        ..Draft::default()
    })
}

/// The program up to where it has its rows, as a table.
fn made_rows(code: &str, figure: Option<String>) -> Option<MadeRows> {
    let (before, after) = code.split_once("\nrows = sql(")?;
    let (query, _) = after.split_once(".to_dict(\"records\")\n")?;
    let named = figure.map(|name| format!(".rename(columns={{\"value\": \"{name}\"}})")).unwrap_or_default();
    let code = format!("{before}\ntable = sql({query}{named}\n");
    Some(MadeRows { code, variable: "table" })
}

/// What the column with the figure of each group is called, `total_units`.
fn figure_name(meaning: &Meaning) -> Option<String> {
    let Meaning::Query(query) = meaning else { return None };
    let Ask::Figure(Measure::One(function, of), ..) = &query.ask else { return None };
    let function = match function {
        Function::Count => "count",
        Function::Distinct => "different",
        Function::Sum => "total",
        Function::Average => "average",
        Function::Median => "median",
        Function::Maximum => "highest",
        Function::Minimum => "lowest",
    };
    let name = match of {
        Some(Expr::Column(path)) => format!("{function}_{}", path.column),
        _ => function.to_owned(),
    };
    Some(name).filter(|name| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_'))
}

fn stem(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    last.split('.').next().unwrap_or(last).to_lowercase()
}

/// The tables of the files. Files with the same columns are one table in several pieces, unless the request names one.
fn catalog(brief: &Brief) -> Catalog {
    let said = ordain_reader::stems(&brief.request);
    let names_one = brief.files.iter().any(|file| said.contains(&stem(&file.name)));
    let mut tables: Vec<Table> = Vec::new();
    for file in brief.files.iter().filter(|file| file.facts.get("problem").is_none()) {
        let own = file.facts.get("tables").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if own.is_empty() {
            tables.push(Table::new(&stem(&file.name), Vec::new()));
        }
        for facts in own {
            let Some(table) = table(brief, file, facts, own.len()) else { continue };
            let is_same = |known: &&mut Table| {
                let shape = |table: &Table| -> Vec<(Arc<str>, Holds, Option<String>)> {
                    table
                        .columns
                        .iter()
                        .map(|column| (column.name.clone(), column.holds, column.unit.clone()))
                        .collect()
                };
                !names_one
                    && known.parts.iter().all(|part| part[0] != file.name)
                    && shape(known) == shape(&table)
            };
            match tables.iter_mut().find(is_same) {
                Some(known) => known.parts.extend(table.parts),
                None => tables.push(table),
            }
        }
    }
    Catalog { tables, ..Catalog::default() }.with_references()
}

fn table(brief: &Brief, file: &FileBrief, facts: &Value, of: usize) -> Option<Table> {
    let named = facts.get("name").and_then(Value::as_str);
    let stem = stem(&file.name);
    let (name, also) = match named {
        Some(name) if of > 1 => (name.to_owned(), None),
        other => (stem, other.map(str::to_owned)),
    };
    let notes = brief.catalog.section_of(&file.name).and_then(|section| brief.catalog.data.get(section));
    let columns = facts.get("columns")?.as_array()?.iter().filter_map(|facts| {
        let mut column = column(facts)?;
        if let Some(notes) = notes.and_then(|notes| notes.columns.get(&*column.name)) {
            column.words.extend(notes.synonyms.iter().cloned());
            column.unit = notes.unit.clone().or(column.unit);
        }
        Some(column)
    });
    let columns: Vec<Column> = columns.collect();
    let is_key = columns
        .first()
        .is_some_and(|column| !column.has_gaps && matches!(column.holds, Holds::Text | Holds::Whole));
    let mut table = Table::new(&name, columns);
    table.key = table.columns.first().filter(|_| is_key).map(|column| column.name.clone());
    table.label = table
        .columns
        .iter()
        .find(|column| &*column.name.to_lowercase() == "name")
        .map(|column| column.name.clone());
    table.words.extend(also);
    table.words.extend(notes.into_iter().flat_map(|notes| notes.synonyms.iter().cloned()));
    table.parts =
        vec![std::iter::once(file.name.clone()).chain(named.map(str::to_owned).filter(|_| of > 1)).collect()];
    Some(table).filter(|table| !table.columns.is_empty())
}

fn column(facts: &Value) -> Option<Column> {
    let kind = facts.get("type").and_then(Value::as_str).unwrap_or_default();
    let holds = match kind {
        "integer" => Holds::Whole,
        "real" | "decimal" | "percent" => Holds::Number,
        "date" | "timestamp" => Holds::Day,
        "boolean" => Holds::Bool,
        "text" | "category" | "identifier" => Holds::Text,
        // Spans of time and nested values take part in no comparison that words could state.
        _ => Holds::Nested,
    };
    let mut column = Column::new(facts.get("name")?.as_str()?, holds);
    let values = facts.get("values").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if holds == Holds::Text {
        column.values = values.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    }
    column.unit = ["currency", "unit"].iter().find_map(|key| Some(facts.get(*key)?.as_str()?.to_owned()));
    column.has_gaps = facts.get("null_share").and_then(Value::as_f64).is_some_and(|share| share > 0.0);
    column.has_time = kind == "timestamp";
    let end = |key: &str| facts.get(key).and_then(Value::as_i64);
    let is_year = |year: i64| (1000..2200).contains(&year);
    column.is_code =
        holds == Holds::Whole && end("min").is_some_and(is_year) && end("max").is_some_and(is_year);
    Some(column)
}
