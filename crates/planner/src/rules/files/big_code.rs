//! Tables that do not fit into a cell whole: read in pieces, only the columns that are needed.

use super::catalog::Source;
use super::python::{Code, comment, list, text};
use super::question::{Export, Function, Group, Measure, Plot, Question, Task};
use super::table_code::{measures_of, prepare};

/// Adds the lines that make `table`: already added up where that can be done piece by piece, else the rows that count.
///
/// A table that was added up has the same columns as the one it stands for and gives the same sums, counts, smallest
/// and largest values; what it has not is a row for each row.
pub(super) fn read(question: &Question, code: &mut Code) {
    let source = &question.source;
    code.add(comment(&format!(
        "{}: {} rows in {} bytes, read in pieces.",
        source.label(),
        source.rows,
        source.bytes
    )));
    let needed = needed(question);
    code.add("parts = []");
    open_pieces(source, &needed, code);
    code.indented(prepare(question, "piece"));
    if let Some(reduction) = reduction(question) {
        reduce(question, &reduction, code);
    } else {
        code.indented("parts.append(piece)");
        code.add("table = pd.concat(parts, ignore_index=True)");
    }
}

/// Adds the line that begins the loop over the pieces.
fn open_pieces(source: &Source, needed: &[String], code: &mut Code) {
    let file = text(&source.files[0]);
    let only = if needed.is_empty() { String::new() } else { format!(", columns={}", list(needed)) };
    code.add(format!("for piece in frame.pieces({file}{only}):"));
}

/// Whether the table is read in pieces.
pub(super) fn is_in_pieces(question: &Question) -> bool {
    question.source.is_big() && question.join.is_none() && !matches!(question.task, Task::Share { .. })
}

/// Whether `table` has a column `rows` that tells how many rows each of its rows stands for.
pub(super) fn has_counts(question: &Question) -> bool {
    is_in_pieces(question) && matches!(reduction(question), Some(Reduction::Rows))
}

/// What is kept of a piece, where that is enough to answer for the whole.
enum Reduction<'a> {
    /// Totals, smallest and largest values of pieces make those of the whole.
    Value(Function, &'a Measure),
    /// So do totals and numbers of values, from which averages come.
    Mean(&'a Measure),
    /// How many rows there are.
    Rows,
    /// The different values.
    Different(&'a Measure),
}

fn reduction(question: &Question) -> Option<Reduction<'_>> {
    let Task::Aggregate { function, measure } = &question.task else { return None };
    // What is drawn or saved row by row needs the rows.
    let needs_rows = question.plot == Some(Plot::Box)
        || question.export == Some(Export::Sheets)
        || question.export.is_some() && question.groups.is_empty();
    if needs_rows {
        return None;
    }
    match (function, measure) {
        (Function::Count, _) | (_, None) => Some(Reduction::Rows),
        (Function::Sum | Function::Min | Function::Max, Some(measure)) => {
            Some(Reduction::Value(*function, measure))
        }
        (Function::Mean, Some(measure)) => Some(Reduction::Mean(measure)),
        (Function::CountDistinct, Some(measure)) => Some(Reduction::Different(measure)),
        (Function::Median | Function::Deviation | Function::Variance, Some(_)) => None,
    }
}

fn reduce(question: &Question, reduction: &Reduction, code: &mut Code) {
    let keys = list(question.groups.iter().map(Group::name));
    let has_groups = !question.groups.is_empty();
    match reduction {
        Reduction::Value(function, measure) => {
            let (value, method) = (text(measure.name()), function.method());
            code.add(format!(
                "    # Only one row for each group is kept of a piece: its {}.",
                function.word()
            ));
            if has_groups {
                code.indented(format!(
                    "parts.append(piece.groupby({keys})[{value}].{method}().reset_index())"
                ));
                code.add(format!(
                    "table = pd.concat(parts).groupby({keys})[{value}].{method}().reset_index()"
                ));
            } else {
                keep_one(&format!("{value}: [piece[{value}].{method}()]"), &value, code);
            }
        }
        Reduction::Mean(measure) => {
            let value = text(measure.name());
            code.add("    # Of a piece, the total and the number of values are kept: together they make the average.");
            if has_groups {
                code.indented(format!(
                    "parts.append(piece.groupby({keys})[{value}].agg([\"sum\", \"count\"]).reset_index())"
                ));
                code.add(format!(
                    "table = pd.concat(parts).groupby({keys})[[\"sum\", \"count\"]].sum().reset_index()"
                ));
            } else {
                let numbers = format!("\"sum\": [piece[{value}].sum()], \"count\": [piece[{value}].count()]");
                keep_one(&numbers, "\"sum\"", code);
                code.add("table = table.sum().to_frame().T if parts else table");
            }
            code.add(format!("if not table.empty:\n    table[{value}] = table[\"sum\"] / table[\"count\"]"));
        }
        Reduction::Rows => {
            code.add("    # Of a piece, only how many rows it has is kept.");
            if has_groups {
                code.indented(format!(
                    "parts.append(piece.groupby({keys}).size().reset_index(name=\"rows\"))"
                ));
                code.add(format!("table = pd.concat(parts).groupby({keys})[\"rows\"].sum().reset_index()"));
            } else {
                keep_one("\"rows\": [len(piece)]", "\"rows\"", code);
            }
        }
        Reduction::Different(measure) => {
            let mut columns: Vec<&str> = question.groups.iter().map(Group::name).collect();
            columns.push(measure.name());
            columns.dedup();
            let columns = list(&columns);
            code.add("    # Only what differs from all pieces before is kept.");
            code.indented(format!(
                "parts = [pd.concat([*parts, piece[{columns}].drop_duplicates()]).drop_duplicates()]"
            ));
            code.add("table = parts[0]");
        }
    }
}

/// Keeps one row of a piece that has any, and makes the table of these.
fn keep_one(columns: &str, first: &str, code: &mut Code) {
    code.indented(format!("if len(piece):\n    parts.append(pd.DataFrame({{{columns}}}))"));
    code.add(format!(
        "table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({{{first}: []}})"
    ));
}

/// The columns that the question needs; none named means all.
fn needed(question: &Question) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    if question.filters.iter().any(|filter| filter.column().is_none()) {
        return names;
    }
    match &question.task {
        Task::Aggregate { .. } | Task::Pivot { .. } | Task::Several { .. } => {}
        Task::Histogram { column } | Task::Distinct { column } => names.push(column.clone()),
        Task::Scatter { x, y } => names.extend([x.clone(), y.clone()]),
        Task::Correlation { columns } if columns.len() > 1 => names.extend(columns.iter().cloned()),
        _ => return Vec::new(),
    }
    let measured = measures_of(&question.task);
    names.extend(measured.into_iter().flat_map(Measure::columns).map(str::to_owned));
    names.extend(question.groups.iter().map(|group| group.column().to_owned()));
    names.extend(question.filters.iter().filter_map(|filter| filter.column().map(str::to_owned)));
    if names.is_empty() {
        // Rows are counted by any column.
        names.extend(question.source.columns.first().map(|column| column.name.clone()));
    }
    names.sort();
    names.dedup();
    names
}
