//! Writes the Python that answers a question about a table.

mod answers;

use super::catalog::{ColumnKind, Source};
use super::python::{Code, comment, in_f, list, number, text};
use super::question::{Export, Filter, Function, Group, Measure, Number, Period, Plot, Question, Task};
use super::{big_code, draft, plot_code};
use crate::exchange::Reply;

/// Rows that an answer shows; files get all of them.
pub(super) const ROWS_SHOWN: u64 = 200;

/// The plan for the question.
pub(super) fn write(question: &Question, request: &str) -> Reply {
    let mut code = Code::new(request);
    code.import("import pandas as pd");
    if big_code::is_in_pieces(question) {
        big_code::read(question, &mut code);
    } else {
        read(question, &mut code);
    }
    // An answer about nothing says so.
    code.add("\nif table.empty:");
    code.indented(format!(
        "answer_text = {}\nSTATUS = \"no_match\"",
        text(&format!("No row of {} fits the question.", question.source.label()))
    ));
    code.add("else:");
    answers::write(question, &mut code);
    draft(&title(question), code.finish())
}

fn title(question: &Question) -> String {
    let what = match &question.task {
        Task::Aggregate { function, measure } => {
            format!("{} of {}", function.word(), measure.as_ref().map_or("rows", Measure::name))
        }
        Task::Several { numbers } => numbers.iter().map(Number::words).collect::<Vec<_>>().join(", "),
        Task::Share { measure } => format!("share of {}", measure.as_ref().map_or("rows", Measure::name)),
        Task::PerEach { measure, id } => format!("{} for each {id}", measure.name()),
        Task::Extreme { measure, .. } => format!("extreme of {}", measure.name()),
        Task::Distinct { column } => format!("values of {column}"),
        Task::Rows { .. } => "rows".to_owned(),
        Task::Describe => "description".to_owned(),
        Task::Missing { .. } => "missing values".to_owned(),
        Task::Duplicates { .. } => "duplicates".to_owned(),
        Task::Correlation { .. } => "correlation".to_owned(),
        Task::Pivot { .. } => "pivot table".to_owned(),
        Task::Histogram { column } => format!("distribution of {column}"),
        Task::Scatter { x, y } => format!("{y} against {x}"),
    };
    let groups: Vec<&str> = question.groups.iter().map(Group::name).collect();
    let by = if groups.is_empty() { String::new() } else { format!(" by {}", groups.join(" and ")) };
    format!("{what}{by} in {}", question.source.label())
}

/// Reads the whole table, joins, computes and filters.
fn read(question: &Question, code: &mut Code) {
    let source = &question.source;
    code.add(comment(&format!("{}: {} rows.", source.label(), source.rows)));
    source.read_into("table", code);
    if let Some(join) = &question.join {
        code.add(comment(&format!(
            "{} has the rest; both have {}.",
            join.source.label(),
            join.keys.join(" and ")
        )));
        join.source.read_into("other", code);
        let own = |name: &String| source.column(name).is_none() || join.keys.contains(name);
        let kept: Vec<&String> =
            join.source.columns.iter().map(|column| &column.name).filter(|name| own(name)).collect();
        code.add(format!("other = other[{}].drop_duplicates(subset={})", list(kept), list(&join.keys)));
        code.add(format!("table = table.merge(other, on={}, how=\"left\")", list(&join.keys)));
    }
    code.add(prepare(question, "table"));
}

/// The lines that add computed columns to a frame and keep the rows that count.
pub(super) fn prepare(question: &Question, variable: &str) -> String {
    let mut lines = Vec::new();
    let mut computed = Vec::new();
    for measure in measures_of(&question.task) {
        let Measure::Product { name, left, right } = measure else { continue };
        if computed.contains(&name) {
            continue;
        }
        computed.push(name);
        lines.push(comment(&format!("There is no column for {name}: it is {left} times {right}.")));
        lines.push(format!(
            "{variable}[{}] = {variable}[{}] * {variable}[{}]",
            text(name),
            text(left),
            text(right)
        ));
    }
    if let Task::Share { measure } = &question.task {
        let whole = measure
            .as_ref()
            .map_or("len(table)".to_owned(), |measure| format!("table[{}].sum()", text(measure.name())));
        lines.push(format!("whole = {whole}"));
    }
    for filter in &question.filters {
        lines.push(format!("{variable} = {variable}[{}]", condition(filter, variable, &question.source)));
    }
    for group in &question.groups {
        if let Group::Period { column, period } = group {
            lines.push(format!("{variable}[{}] = {}", text(period.word()), cut(column, *period, variable)));
        }
    }
    lines.join("\n")
}

/// What a task computes with.
pub(super) fn measures_of(task: &Task) -> Vec<&Measure> {
    match task {
        Task::Aggregate { measure, .. } | Task::Pivot { measure, .. } | Task::Share { measure } => {
            measure.iter().collect()
        }
        Task::Extreme { measure, .. } | Task::PerEach { measure, .. } => vec![measure],
        Task::Several { numbers } => numbers.iter().filter_map(|number| number.measure.as_ref()).collect(),
        _ => Vec::new(),
    }
}

/// A date, cut to its period, as text that sorts.
fn cut(column: &str, period: Period, variable: &str) -> String {
    let dates = format!("{variable}[{}].dt", text(column));
    match period {
        Period::Year => format!("{dates}.strftime(\"%Y\")"),
        Period::Quarter => format!("{dates}.year.astype(str) + \"-Q\" + {dates}.quarter.astype(str)"),
        Period::Month => format!("{dates}.strftime(\"%Y-%m\")"),
        Period::Week => format!("{dates}.strftime(\"%G-W%V\")"),
        Period::Day => format!("{dates}.strftime(\"%Y-%m-%d\")"),
        Period::Weekday => format!("{dates}.strftime(\"%u %A\")"),
    }
}

fn condition(filter: &Filter, variable: &str, source: &Source) -> String {
    let column = |name: &str| format!("{variable}[{}]", text(name));
    match filter {
        Filter::OneOf { column: name, values, is_not } => {
            let texts = format!("{}.astype(str).str.strip().str.lower()", column(name));
            let lower = values.iter().map(|value| value.to_lowercase());
            let sign = if *is_not { "~" } else { "" };
            format!("{sign}{texts}.isin({})", list(lower))
        }
        Filter::Compare { column: name, sign, value } => {
            format!("{} {sign} {}", column(name), number(*value))
        }
        Filter::Date { column: name, sign, day } => {
            let dates = format!("{}.dt.normalize()", column(name));
            format!("{dates} {sign} pd.Timestamp({})", text(day))
        }
        Filter::Month { column: name, month } => format!("{}.dt.month == {month}", column(name)),
        Filter::Year { column: name, year } => format!("{}.dt.year == {year}", column(name)),
        Filter::Contains { column: Some(name), text: part } => {
            format!("{}.astype(str).str.contains({}, case=False, regex=False)", column(name), text(part))
        }
        Filter::Contains { column: None, text: part } => {
            let texts = source
                .columns
                .iter()
                .filter(|column| column.kind == ColumnKind::Text)
                .map(|column| &column.name);
            format!(
                "{variable}[{}].astype(str).apply(lambda column: column.str.contains({}, case=False, regex=False)).any(axis=1)",
                list(texts),
                text(part)
            )
        }
    }
}

/// What the filters say, for the sentence: ` (region is north)`.
pub(super) fn filter_words(question: &Question) -> String {
    let words: Vec<String> = question
        .filters
        .iter()
        .map(|filter| match filter {
            Filter::OneOf { column, values, is_not } => {
                format!("{column} is {}{}", if *is_not { "not " } else { "" }, values.join(" or "))
            }
            Filter::Compare { column, sign, value } => format!("{column} {sign} {}", number(*value)),
            Filter::Date { column, sign, day } => format!("{column} {sign} {day}"),
            Filter::Month { month, .. } => format!("month {month}"),
            Filter::Year { year, .. } => format!("year {year}"),
            Filter::Contains { text, .. } => format!("holding “{text}”"),
        })
        .collect();
    if words.is_empty() { String::new() } else { in_f(&format!(" ({})", words.join(", "))) }
}

/// Adds the lines that write the result to a file.
pub(super) fn export(question: &Question, variable: &str, code: &mut Code) {
    match question.export {
        None => {}
        Some(Export::Csv) => {
            code.indented(format!(
                "# A text that begins like a formula would be computed by a spreadsheet: a quote in front keeps it text.\nsafe = {variable}.map(lambda value: \"'\" + value if isinstance(value, str) and value[:1] in \"=+-@\" and value[:1] else value)\nsafe.to_csv(artifacts / \"result.csv\", index=False)"
            ));
        }
        Some(kind) => {
            code.import("import xlsxwriter  # the writer that keeps texts texts");
            code.indented(
                "# Texts that begin like a formula stay texts.\noptions = {\"options\": {\"strings_to_formulas\": False, \"strings_to_urls\": False}}",
            );
            code.indented("with pd.ExcelWriter(artifacts / \"result.xlsx\", engine=\"xlsxwriter\", engine_kwargs=options) as book:");
            let by = question.groups.first().map(Group::name);
            match (kind, by) {
                (Export::Sheets, Some(by)) => code.indented(format!(
                    "    for name, part in table.groupby({}):\n        part.to_excel(book, sheet_name=str(name)[:31], index=False)",
                    text(by)
                )),
                _ => code.indented(format!("    {variable}.to_excel(book, sheet_name=\"result\", index=False)")),
            };
        }
    }
}

/// Adds the lines that draw the result.
pub(super) fn plot(question: &Question, x: &str, y: &str, code: &mut Code) {
    if let Some(kind) = question.plot {
        plot_code::series(kind, x, y, code);
    }
}

/// Whether a function gives the same kind of number as its column.
pub(super) fn result_name(function: Function, measure: Option<&Measure>) -> String {
    match (function, measure) {
        (Function::Count, _) | (_, None) => "rows".to_owned(),
        (function, Some(measure)) => format!("{}_{}", prefix(function), measure.name()),
    }
}

const fn prefix(function: Function) -> &'static str {
    match function {
        Function::Count => "count",
        Function::CountDistinct => "different",
        Function::Sum => "total",
        Function::Mean => "average",
        Function::Median => "median",
        Function::Min => "smallest",
        Function::Max => "largest",
        Function::Deviation => "deviation_of",
        Function::Variance => "variance_of",
    }
}

/// Whether a picture was asked for that this task draws itself.
pub(super) fn has_plot(question: &Question) -> bool {
    matches!(question.plot, Some(Plot::Bar | Plot::Line | Plot::Pie))
}
