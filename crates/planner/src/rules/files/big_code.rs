//! Tables that do not fit into a cell whole: read in pieces, only the columns that are needed.

use super::python::{Code, comment, list, text};
use super::question::{Function, Group, Measure, Question, Task};
use super::table_code::{measure_of, prepare};

/// Rows of a piece. A row of the columns that are needed takes some hundred bytes at most.
const PIECE_ROWS: u64 = 200_000;

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
    let mut arguments = source.dialect();
    if !needed.is_empty() {
        arguments.push_str(", usecols=");
        arguments.push_str(&list(&needed));
    }
    let path = text(&source.files[0]);
    code.add("parts = []");
    code.add(format!("for piece in pd.read_csv(files[{path}]{arguments}, chunksize={PIECE_ROWS}):"));
    for column in dates(question, &needed) {
        let name = text(&column);
        code.indented(format!("piece[{name}] = pd.to_datetime(piece[{name}], errors=\"coerce\")"));
    }
    code.indented(prepare(question, "piece"));
    if let Some((function, measure)) = reducible(question) {
        reduce(question, function, measure, code);
    } else {
        code.indented("parts.append(piece)");
        code.add("table = pd.concat(parts, ignore_index=True)");
    }
}

/// Sums, smallest and largest values of pieces make those of the whole.
fn reducible(question: &Question) -> Option<(Function, &Measure)> {
    match &question.task {
        Task::Aggregate {
            function: function @ (Function::Sum | Function::Min | Function::Max),
            measure: Some(measure),
        } => Some((*function, measure)),
        _ => None,
    }
}

fn reduce(question: &Question, function: Function, measure: &Measure, code: &mut Code) {
    let value = text(measure.name());
    let method = function.method();
    code.add(format!("    # Only one row for each group is kept of a piece: its {}.", function.word()));
    if question.groups.is_empty() {
        code.indented(format!(
            "if len(piece):\n    parts.append(pd.DataFrame({{{value}: [piece[{value}].{method}()]}}))"
        ));
        code.add(format!(
            "table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({{{value}: []}})"
        ));
        return;
    }
    let keys = list(question.groups.iter().map(Group::name));
    code.indented(format!("parts.append(piece.groupby({keys})[{value}].{method}().reset_index())"));
    code.add(format!("table = pd.concat(parts).groupby({keys})[{value}].{method}().reset_index()"));
}

/// The columns that the question needs; none named means all.
fn needed(question: &Question) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    if question.filters.iter().any(|filter| filter.column().is_none()) {
        return names;
    }
    match &question.task {
        Task::Aggregate { .. } | Task::Pivot { .. } => {}
        Task::Histogram { column } | Task::Distinct { column } => names.push(column.clone()),
        Task::Scatter { x, y } => names.extend([x.clone(), y.clone()]),
        Task::Correlation { columns } if columns.len() > 1 => names.extend(columns.iter().cloned()),
        _ => return Vec::new(),
    }
    let measured = measure_of(&question.task).map(Measure::columns).unwrap_or_default();
    names.extend(measured.into_iter().map(str::to_owned));
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

fn dates(question: &Question, needed: &[String]) -> Vec<String> {
    let is_date = |name: &String| {
        question.source.column(name).is_some_and(|column| column.kind == super::catalog::ColumnKind::Date)
    };
    needed.iter().filter(|name| is_date(name)).cloned().collect()
}
