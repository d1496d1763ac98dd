//! Questions about files: the tables that a look into them found are the catalog, and the answer is pandas code.

mod catalog;
mod chart;
mod compared;
mod days;
mod doubled;
mod doubts;
mod figures;
mod frames;
mod gaps;
mod grammar;
mod pieces;
mod settings;
mod sheets;
mod source;
mod texts;
mod units;

use std::sync::Arc;

use ordain_types::ColumnType;
use serde_json::Value;

use super::form::{Asked, Form};
use super::index::{self, Index, Sort, split_name};
use super::lexicon::{LEXICON, singular};
use super::parse::Parser;
use super::trace::Trace;
use super::{TOKENS_MAX, Unknown, amounts, compute, said_as, token, unknown, words};
use crate::brief::{Brief, FileBrief};
use crate::exchange::{Draft, MadeRows, Reply};

use catalog::Source;
pub use catalog::is_big as is_read_in_pieces;
pub use texts::READ_DOC;
pub(crate) use texts::of_text;

/// Writes the plan for a question about files, or for a calculation.
pub(crate) fn plan(brief: &Brief) -> Reply {
    let tokens = token::tokens(&brief.request);
    if tokens.is_empty() {
        return Reply::Question("What would you like to know?".to_owned());
    }
    if tokens.len() > TOKENS_MAX {
        return declined(brief, None);
    }
    let readable: Vec<&FileBrief> =
        brief.files.iter().filter(|file| file.facts.get("problem").is_none()).collect();
    if !brief.files.is_empty() && readable.is_empty() {
        return Reply::Refusal(format!("none of the files can be read: {}", problems(brief)));
    }
    if let Some((title, code)) = texts::plan(&readable, &brief.request, &tokens) {
        return draft(title, code, None);
    }
    if readable.is_empty()
        && let Some((title, code)) = compute::plan(&brief.request, &tokens)
    {
        return draft(title, code, None);
    }
    questions(brief, &readable, &tokens)
}

fn draft(title: String, code: String, rows: Option<MadeRows>) -> Reply {
    Reply::Plan(Draft { code, reading: Some(title.clone()), title, rows, ..Draft::default() })
}

fn problems(brief: &Brief) -> String {
    let told = brief
        .files
        .iter()
        .filter_map(|file| Some(format!("{}: {}", file.name, file.facts.get("problem")?.as_str()?)));
    told.take(5).collect::<Vec<_>>().join("; ")
}

/// Questions about the tables in the files.
fn questions(brief: &Brief, files: &[&FileBrief], tokens: &[token::Token]) -> Reply {
    let (sources, index) = indexed(brief, files, tokens);
    if let Some(problem) = amounts::problem(&index, tokens).or_else(|| amounts::percent(&index, tokens)) {
        return Reply::Refusal(format!("{}. Nothing was computed.", problem.sentence()));
    }
    let trace = Trace::default();
    let mut all: Vec<(Form, u32)> = Vec::new();
    for focus in 0..index.tables.len() {
        let parser = Parser { files: true, ..Parser::new(&index, tokens, focus, &trace) };
        all.extend(parser.questions());
        all.extend(parser.outputs());
    }
    let written = |form: Form, cost: u32| {
        let (mut code, rows) =
            frames::write(&index, &sources, &form, &doubts::repeated(&index, &sources, &form, tokens))?;
        code.push_str(&compared::different(&index, &sources, &form, tokens));
        code.push_str(&compared::twins(&index, &form));
        code.push_str(&said_as::told(&index, &form, &brief.request));
        Some(Reading { words: words::reading(&index, &form), code, rows, cost, form })
    };
    let mut readings: Vec<Reading> = Vec::new();
    for (form, cost) in all {
        if let Some(reading) = written(form, cost)
            && !readings.iter().any(|known| known.code == reading.code && known.cost <= cost)
        {
            readings.push(reading);
        }
    }
    let least = readings.iter().map(|reading| reading.cost).min().unwrap_or_default();
    readings.retain(|reading| reading.cost == least);
    readings.dedup_by(|one, other| one.code == other.code);
    match readings.as_slice() {
        [] => match texts::single(files, &brief.request, tokens) {
            Some((title, code)) => draft(title, code, None),
            None => declined_for(brief, &index, unknown(&index, tokens, &trace).as_ref()),
        },
        [one] if let Some(column) = listed_figure(&index, &one.form, tokens) => Reply::Question(format!(
            "I can read that in several ways: {}; or the sum of {column}. Say “list {column} …”, or “sum of {column} …”.",
            one.words
        )),
        [one] if let Some(asked) = doubled::asked(&index, &one.form, &brief.request) => {
            Reply::Question(asked)
        }
        [one] if let Some(asked) = doubts::asked(&index, &sources, &one.form, tokens) => {
            Reply::Question(asked)
        }
        [one] => draft(one.words.clone(), one.code.clone(), one.rows.clone()),
        several => {
            let choices: Vec<&str> = several.iter().map(|reading| reading.words.as_str()).take(6).collect();
            let apart = catalog::apart(&catalog::tables(files, tokens).1).unwrap_or_default();
            let asked = format!(
                "I can read that in several ways: {}. Say it in other words. {apart}",
                choices.join("; or ")
            );
            Reply::Question(asked.trim_end().to_owned())
        }
    }
}

/// What words can mention of the tables in the files.
pub(crate) fn indexed(brief: &Brief, files: &[&FileBrief], tokens: &[token::Token]) -> (Vec<Source>, Index) {
    let (sources, tables) = catalog::tables(files, tokens);
    let catalog = Arc::new(catalog::notes(&brief.catalog, &tables));
    let known = Brief { tables: Arc::new(tables), catalog: catalog.clone(), ..brief.clone() };
    let mut index = Index::of(&known, &catalog);
    for ((table, source), brief) in index.tables.iter_mut().zip(&sources).zip(known.tables.iter()) {
        table.commas |= source.commas;
        for (column, found) in table.columns.iter_mut().zip(&brief.table.columns) {
            column.years = source.years.get(&column.name).copied();
            column.has_zone = source.zoned.contains(&column.name);
            column.doubled = source.doubled.get(&column.name).cloned().unwrap_or_default();
            column.least = source.least.get(&column.name).copied();
            // A look into the file decided that it holds texts, whatever some of them look like.
            if column.sort == Sort::Day && found.column_type == ColumnType::Text {
                column.sort = Sort::Text;
            }
        }
    }
    for (place, source) in sources.iter().enumerate() {
        let Some(words) = source.also.as_deref().map(split_name) else { continue };
        index.add(&words, index::What::Table(place), 1);
        if source.is_better {
            index.tables[place].noun = words.iter().map(|word| singular(word)).collect::<Vec<_>>().join(" ");
        }
    }
    index.add_file_words();
    doubled::add_names(&mut index);
    (sources, index)
}

fn declined_for(brief: &Brief, index: &Index, unknown: Option<&Unknown>) -> Reply {
    let columns =
        index.tables.iter().flat_map(|table| table.columns.iter().filter(|column| column.cut.is_none()));
    let columns: Vec<&str> = columns.map(|column| column.name.as_str()).take(12).collect();
    if columns.is_empty() {
        return declined(brief, unknown.map(|unknown| unknown.text.as_str()));
    }
    let has_rows = |file: &&FileBrief| {
        let tables = file.facts.get("tables").and_then(Value::as_array).into_iter().flatten();
        tables.into_iter().any(|table| table.get("rows").and_then(Value::as_u64) != Some(0))
    };
    // Columns without any value have no type that a question could be about.
    if !brief.files.iter().any(|file| has_rows(&file)) {
        let names: Vec<&str> = brief.files.iter().map(|file| file.name.as_str()).collect();
        return Reply::Refusal(format!(
            "{} has no rows, so there is nothing to compute. Its columns are {}.",
            names.join(", "),
            columns.join(", ")
        ));
    }
    let what = unknown.map_or_else(|| "I do not understand that".to_owned(), Unknown::sentence);
    let tokens = token::tokens(&brief.request);
    let files: Vec<&FileBrief> = brief.files.iter().collect();
    let unjoined = catalog::unlike(&catalog::tables(&files, &tokens).1);
    let unjoined = unjoined.map(|said| format!(" {said}")).unwrap_or_default();
    let is_read = |text: &str| {
        let (tokens, trace) = (token::tokens(text), Trace::default());
        let parser = |focus| Parser { files: true, ..Parser::new(index, &tokens, focus, &trace) };
        (0..index.tables.len()).any(|focus| !parser(focus).questions().is_empty())
    };
    Reply::Refusal(format!(
        "{what}, so nothing was computed; a model is needed (`model`).{} You can ask about {}.{}",
        [no_number(brief), unjoined].concat(),
        columns.join(", "),
        examples(index, is_read)
    ))
}

/// One way to read a question, and what answers it.
struct Reading {
    words: String,
    code: String,
    rows: Option<MadeRows>,
    cost: u32,
    form: Form,
}

/// The column whose values a form lists because the request says `total of …`: it may as well ask for their sum.
fn listed_figure<'a>(index: &'a Index, form: &Form, tokens: &[token::Token]) -> Option<&'a str> {
    let Form::Select(select) = form else { return None };
    let Asked::Columns(paths) = &select.asked else { return None };
    let [path] = paths.as_slice() else { return None };
    let name = index.tables[path.table].columns[path.column].name.as_str();
    let is_said = tokens.windows(2).any(|pair| pair[0].lower == name && pair[1].lower == "of");
    (!LEXICON.matches("rule_figures", &[name]).is_empty() && is_said).then_some(name)
}

/// How a column that the request names is read, where it is no number and somebody may take it for one.
fn no_number(brief: &Brief) -> String {
    let asked = split_name(&brief.request);
    let columns = brief.files.iter().flat_map(|file| {
        let tables = file.facts.get("tables").and_then(Value::as_array).into_iter().flatten();
        tables.filter_map(|table| table.get("columns")?.as_array()).flatten()
    });
    let told = columns.filter_map(|column| {
        let (name, kind) = (column.get("name")?.as_str()?, column.get("type")?.as_str()?);
        let because = column.get("because").and_then(Value::as_str);
        let words = split_name(name);
        let is_named = !words.is_empty() && words.iter().all(|word| asked.contains(word));
        (is_named && (because.is_some() || matches!(kind, "duration" | "json" | "empty"))).then(|| {
            let why = because.map(|because| format!(": {because}")).unwrap_or_default();
            format!(" {name} is no number here, but of type {kind}{why}.")
        })
    });
    told.take(3).collect()
}

fn declined(brief: &Brief, word: Option<&str>) -> Reply {
    let tokens = token::tokens(&brief.request);
    if let Some(reason) = compute::out_of_bounds(&brief.request, &tokens).filter(|_| brief.files.is_empty()) {
        return Reply::Refusal(format!("I understand that, but {reason}. Nothing was computed."));
    }
    let word = word.map_or_else(|| "that".to_owned(), |word| format!("“{word}” in that"));
    let what = if brief.files.is_empty() {
        "it is no calculation that I know, and no file is given to ask about (`file`)"
    } else {
        "the files hold no table that it could be about"
    };
    Reply::Refusal(format!("I do not understand {word}: {what}; a model is needed (`model`)."))
}

/// Two requests that are understood here, as a sentence.
fn examples(index: &Index, is_read: impl Fn(&str) -> bool) -> String {
    let tables = index.tables.iter().take(4);
    let requests = tables.flat_map(|table| {
        let rows = words::plural(&table.noun);
        let name = |column: &super::index::Column| super::index::split_name(&column.name).join(" ");
        let is_number = |column: &&super::index::Column| matches!(column.sort, Sort::Number | Sort::Whole);
        let figure = table.columns.iter().rfind(is_number).map(name);
        [figure.map(|figure| format!("{rows} with {figure} above 10")), Some(format!("how many {rows}"))]
    });
    let read: Vec<String> = requests.flatten().filter(|request| is_read(request)).take(2).collect();
    if read.is_empty() {
        return String::new();
    }
    format!(" For example: {}.", read.iter().map(|one| format!("“{one}”")).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests;
