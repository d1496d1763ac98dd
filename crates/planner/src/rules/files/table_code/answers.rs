//! The part of a plan that turns the table into an answer. Everything here stands in an `else` block.

use super::super::big_code::has_counts;
use super::super::catalog::ColumnKind;
use super::super::plot_code;
use super::super::python::{Code, in_f, list, text};
use super::super::question::{Export, Function, Group, Measure, Number, Order, Plot, Question, Task, Top};
use super::{ROWS_SHOWN, export, filter_words, has_plot, plot, result_name};

/// Adds the lines for the question's task.
pub(super) fn write(question: &Question, code: &mut Code) {
    code.with_shown();
    match &question.task {
        Task::Aggregate { function, measure } if question.groups.is_empty() => {
            single(question, *function, measure.as_ref(), code);
        }
        Task::Aggregate { function, measure } => grouped(question, *function, measure.as_ref(), code),
        Task::Share { measure } => share(question, measure.as_ref(), code),
        Task::PerEach { measure, id } => {
            code.indented(format!(
                "value = table[{}].sum() / table[{}].nunique()\nanswer_json = float(value)\nanswer_text = f\"The average {} for each {}{} is {{shown(float(value))}}.\"",
                text(measure.name()),
                text(id),
                in_f(measure.name()),
                in_f(id),
                filter_words(question)
            ));
        }
        Task::Extreme { measure, is_largest } => extreme(question, measure, *is_largest, code),
        Task::Distinct { column } => distinct(column, code),
        Task::Rows { columns, order } => rows(question, columns, order.as_ref(), code),
        Task::Several { numbers } => several(question, numbers, code),
        Task::Describe => describe(question, code),
        Task::Missing { column } => missing(column.as_deref(), code),
        Task::Duplicates { column } => duplicates(column.as_deref(), code),
        Task::Correlation { columns } => correlation(question, columns, code),
        Task::Pivot { function, measure } => pivot(question, *function, measure.as_ref(), code),
        Task::Histogram { column } => {
            plot_code::histogram(column, code);
            code.indented(format!(
                "answer_json = {{name: float(value) for name, value in values.describe().items()}}\nanswer_text = f\"{} of {{len(values):,}} rows lies between {{shown(values.min())}} and {{shown(values.max())}}, with a mean of {{shown(values.mean())}}; the histogram is in histogram.png.\"",
                in_f(column)
            ));
        }
        Task::Scatter { x, y } => {
            plot_code::scatter(x, y, code);
            code.indented(format!(
                "answer_json = {{\"correlation\": float(pair.corr().iloc[0, 1])}}\nanswer_text = f\"{} against {} for {{len(pair):,}} rows is in scatter.png; their correlation is {{pair.corr().iloc[0, 1]:.3f}}.\"",
                in_f(y),
                in_f(x)
            ));
        }
    }
    code.indented("STATUS = \"success\"");
}

fn single(question: &Question, function: Function, measure: Option<&Measure>, code: &mut Code) {
    let filters = filter_words(question);
    let label = in_f(&question.source.label());
    match (function, measure) {
        (Function::Count, _) | (_, None) => {
            let count = if has_counts(question) { "int(table[\"rows\"].sum())" } else { "len(table)" };
            code.indented(format!("value = {count}\nanswer_json = value"));
            code.indented(format!("answer_text = f\"There are {{value:,}} rows in {label}{filters}.\""));
        }
        (_, Some(measure)) => {
            let name = measure.name();
            code.indented(format!("value = table[{}].{}()", text(name), function.method()));
            code.indented("# A column without any value has no such number.\nvalue = None if pd.isna(value) else value\nanswer_json = value.item() if hasattr(value, \"item\") else value");
            let sentence = match function {
                Function::CountDistinct => {
                    format!("There are {{shown(value)}} different values of {}{filters}.", in_f(name))
                }
                _ => format!(
                    "The {} {}{filters} is {{shown(value)}}.",
                    function.word(),
                    joined(function, name)
                ),
            };
            code.indented(format!("answer_text = f\"{sentence}\""));
        }
    }
    if question.plot == Some(Plot::Box)
        && let Some(measure) = measure
    {
        plot_code::boxes(measure.name(), None, code);
    }
    if question.export.is_some() {
        export(question, "table", code);
    }
}

/// What part of the whole the rows that are left are, or each group of them.
fn share(question: &Question, measure: Option<&Measure>, code: &mut Code) {
    let what = measure.map_or("rows", Measure::name);
    if question.groups.is_empty() {
        let part = measure
            .map_or("len(table)".to_owned(), |measure| format!("table[{}].sum()", text(measure.name())));
        code.indented(format!(
            "part = {part}\nanswer_json = float(part / whole)\nanswer_text = f\"The share of {}{} is {{part / whole:.1%}}: {{shown(part)}} of {{shown(whole)}}.\"",
            in_f(what),
            filter_words(question)
        ));
        return;
    }
    let function = if measure.is_some() { Function::Sum } else { Function::Count };
    let (line, name) = grouping(question, function, measure);
    code.indented(line);
    code.indented(format!(
        "result[\"share\"] = result[{name}] / result[{name}].sum()\nresult = result.sort_values(\"share\", ascending=False, kind=\"stable\")\nanswer_rows = result.head({ROWS_SHOWN}).to_dict(\"records\")\nanswer_text = \"Share of {}{}: \" + \", \".join(f\"{{row[{key}]}} {{row['share']:.1%}}\" for row in answer_rows[:12]) + \".\"",
        in_f(what),
        filter_words(question),
        name = text(&name),
        key = single_quoted(question.groups[0].name())
    ));
    if has_plot(question) {
        plot(question, question.groups[0].name(), "share", code);
    }
    if question.export.is_some() {
        export(question, "result", code);
    }
}

/// “total of units”, “standard deviation of units”, but “largest units”.
fn joined(function: Function, name: &str) -> String {
    match function {
        Function::Min | Function::Max => format!("value of {}", in_f(name)),
        _ => format!("of {}", in_f(name)),
    }
}

/// The lines that make `result`: one row for each group.
fn grouping(question: &Question, function: Function, measure: Option<&Measure>) -> (String, String) {
    let keys = list(question.groups.iter().map(Group::name));
    let name = result_name(function, measure);
    let line = match (function, measure) {
        (Function::Count, _) | (_, None) if has_counts(question) => "result = table".to_owned(),
        (Function::Count, _) | (_, None) => {
            format!("result = table.groupby({keys}).size().reset_index(name={})", text(&name))
        }
        (_, Some(measure)) => format!(
            "result = table.groupby({keys})[{}].{}().reset_index(name={})",
            text(measure.name()),
            function.method(),
            text(&name)
        ),
    };
    (line, name)
}

fn grouped(question: &Question, function: Function, measure: Option<&Measure>, code: &mut Code) {
    let (line, name) = grouping(question, function, measure);
    code.indented(line);
    let first = question.groups[0].name();
    let is_time = matches!(question.groups[0], Group::Period { .. });
    match question.top {
        Some(Top { count, is_largest }) => {
            let ascending = if is_largest { "False" } else { "True" };
            code.indented(format!(
                "result = result.sort_values({}, ascending={ascending}, kind=\"stable\").head({count})",
                text(&name)
            ));
        }
        None if is_time => {
            code.indented(format!("result = result.sort_values({}, kind=\"stable\")", text(first)));
        }
        None => {
            code.indented(format!(
                "result = result.sort_values({}, ascending=False, kind=\"stable\")",
                text(&name)
            ));
        }
    }
    code.indented(format!("answer_rows = result.head({ROWS_SHOWN}).to_dict(\"records\")"));
    sentence(question, &name, code);
    if question.plot == Some(Plot::Box)
        && let Some(measure) = measure
    {
        plot_code::boxes(measure.name(), Some(first), code);
    } else if has_plot(question) {
        plot(question, first, &name, code);
        code.indented("answer_text += \" The chart is in chart.png.\"");
    }
    if question.export.is_some() {
        export(question, "result", code);
        code.indented("answer_text += \" The result is saved as a file.\"");
    }
}

fn sentence(question: &Question, name: &str, code: &mut Code) {
    let words = in_f(&name.replace('_', " "));
    let filters = filter_words(question);
    let keys: Vec<String> =
        question.groups.iter().map(|group| format!("{{row[{}]}}", single_quoted(group.name()))).collect();
    let row = format!("f\"{} ({{shown(row[{}])}})\"", keys.join(" / "), single_quoted(name));
    match question.top {
        Some(Top { count: 1, is_largest }) => {
            let end = if is_largest { "largest" } else { "smallest" };
            code.indented(format!(
                "row = answer_rows[0]\nanswer_text = \"The {} with the {end} {words}{filters} is \" + {row} + \".\"",
                in_f(question.groups[0].name())
            ));
        }
        Some(Top { count, is_largest }) => {
            let end = if is_largest { "largest" } else { "smallest" };
            code.indented(format!(
                "answer_text = \"The {count} {end} by {words}{filters}: \" + \", \".join({row} for row in answer_rows) + \".\""
            ));
        }
        None => {
            let by: Vec<String> = question.groups.iter().map(|group| in_f(group.name())).collect();
            code.indented(format!(
                "shown_rows = \", \".join({row} for row in answer_rows[:12])\nmore = f\" and {{len(result) - 12}} more\" if len(result) > 12 else \"\"\nanswer_text = f\"{} by {}{filters}: {{shown_rows}}{{more}}.\"",
                capitalised(&words),
                by.join(" and ")
            ));
        }
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A key inside the braces of an f-string that is in double quotes; older Pythons know no other way.
fn single_quoted(name: &str) -> String {
    format!("'{}'", name.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn extreme(question: &Question, measure: &Measure, is_largest: bool, code: &mut Code) {
    let name = text(measure.name());
    let (count, is_largest) = question.top.map_or((1, is_largest), |top| (top.count, top.is_largest));
    let ascending = if is_largest { "False" } else { "True" };
    code.indented(format!(
        "result = table.dropna(subset=[{name}]).sort_values({name}, ascending={ascending}, kind=\"stable\").head({count})"
    ));
    code.indented("answer_rows = result.to_dict(\"records\")");
    let end = if is_largest { "largest" } else { "smallest" };
    code.indented(format!(
        "first = \", \".join(f\"{{name}} {{shown(value)}}\" for name, value in answer_rows[0].items())\nanswer_text = f\"The row with the {end} {}{}: {{first}}.\"",
        in_f(measure.name()),
        filter_words(question)
    ));
    if question.export.is_some() {
        export(question, "result", code);
    }
}

fn distinct(column: &str, code: &mut Code) {
    code.indented(format!(
        "values = table[{}].dropna().value_counts().sort_index()\nanswer_rows = [{{{}: name, \"rows\": int(count)}} for name, count in values.head({ROWS_SHOWN}).items()]\nanswer_text = f\"{} has {{len(values):,}} different values: \" + \", \".join(str(name) for name in values.index[:20]) + (\" …\" if len(values) > 20 else \"\") + \".\"",
        text(column),
        text(column),
        in_f(column)
    ));
}

/// Several numbers, of all rows or for each group.
fn several(question: &Question, numbers: &[Number], code: &mut Code) {
    if question.groups.is_empty() {
        several_of_all(question, numbers, code);
        return;
    }
    let keys = list(question.groups.iter().map(Group::name));
    code.indented(format!("groups = table.groupby({keys})"));
    let columns: Vec<String> = numbers
        .iter()
        .map(|number| {
            let column = match (&number.measure, number.function) {
                (None, _) | (_, Function::Count) => "groups.size()".to_owned(),
                (Some(measure), function) => {
                    format!("groups[{}].{}()", text(measure.name()), function.method())
                }
            };
            format!("{}: {column}", text(&result_name(number.function, number.measure.as_ref())))
        })
        .collect();
    code.indented(format!("result = pd.DataFrame({{{}}}).reset_index()", columns.join(", ")));
    let first = result_name(numbers[0].function, numbers[0].measure.as_ref());
    let (by, ascending) = match &question.groups[0] {
        Group::Period { period, .. } => (period.word().to_owned(), "True"),
        Group::Column(_) => (first, "False"),
    };
    code.indented(format!(
        "result = result.sort_values({}, ascending={ascending}, kind=\"stable\")",
        text(&by)
    ));
    code.indented(format!("answer_rows = result.head({ROWS_SHOWN}).to_dict(\"records\")"));
    let keys: Vec<String> =
        question.groups.iter().map(|group| format!("{{row[{}]}}", single_quoted(group.name()))).collect();
    let told: Vec<String> = numbers
        .iter()
        .map(|number| {
            let name = result_name(number.function, number.measure.as_ref());
            format!("{} {{shown(row[{}])}}", in_f(&name.replace('_', " ")), single_quoted(&name))
        })
        .collect();
    let row = format!("f\"{} ({})\"", keys.join(" / "), told.join(", "));
    let by: Vec<String> = question.groups.iter().map(|group| in_f(group.name())).collect();
    code.indented(format!(
        "shown_rows = \"; \".join({row} for row in answer_rows[:12])\nmore = f\" and {{len(result) - 12}} more\" if len(result) > 12 else \"\"\nanswer_text = f\"By {}{}: {{shown_rows}}{{more}}.\"",
        by.join(" and "),
        filter_words(question)
    ));
    if question.export.is_some() {
        export(question, "result", code);
        code.indented("answer_text += \" The result is saved as a file.\"");
    }
}

fn several_of_all(question: &Question, numbers: &[Number], code: &mut Code) {
    let measures: Vec<Option<&str>> =
        numbers.iter().map(|number| number.measure.as_ref().map(Measure::name)).collect();
    // Where all are of one column, it is named once.
    let only = measures[0].filter(|first| measures.iter().all(|measure| *measure == Some(*first)));
    let entries: Vec<String> = numbers
        .iter()
        .map(|number| {
            let name = if only.is_some() { number.function.word().to_owned() } else { number.words() };
            let value = match (&number.measure, number.function) {
                (None, _) | (_, Function::Count) => "len(table)".to_owned(),
                (Some(measure), function) => {
                    format!("float(table[{}].{}())", text(measure.name()), function.method())
                }
            };
            format!("{}: {value}", text(&name))
        })
        .collect();
    let label = only.map_or_else(|| question.source.label(), str::to_owned);
    code.indented(format!(
        "answer_json = {{{}}}\nanswer_text = \"{}{}: \" + \", \".join(f\"{{name}} {{shown(value)}}\" for name, value in answer_json.items()) + \".\"",
        entries.join(", "),
        in_f(&label),
        filter_words(question)
    ));
}

fn rows(question: &Question, columns: &[String], order: Option<&Order>, code: &mut Code) {
    code.indented("result = table");
    if let Some(Order { column, is_descending }) = order {
        let ascending = if *is_descending { "False" } else { "True" };
        code.indented(format!(
            "result = result.sort_values({}, ascending={ascending}, kind=\"stable\")",
            text(column)
        ));
    }
    // Columns that are only named to choose rows by do not choose columns.
    let filtered = |name: &String| question.filters.iter().any(|filter| filter.column() == Some(name));
    if columns.len() > 1 && !columns.iter().any(filtered) {
        code.indented(format!("result = result[{}]", list(columns)));
    }
    if let Some(Top { count, .. }) = question.top {
        code.indented(format!("result = result.head({count})"));
    }
    code.indented(format!(
        "answer_rows = result.head({ROWS_SHOWN}).to_dict(\"records\")\nanswer_text = f\"{{len(result):,}} rows of {}{}.\"",
        in_f(&question.source.label()),
        filter_words(question)
    ));
    if question.export.is_some() {
        if question.export == Some(Export::Sheets) && question.groups.is_empty() {
            code.indented("# No column to split by was named: one sheet holds everything.");
        }
        export(question, "result", code);
        code.indented("answer_text += \" They are saved as a file.\"");
    }
}

fn describe(question: &Question, code: &mut Code) {
    code.indented("rows = []\nfor name in table.columns:\n    column = table[name]\n    row = {\"column\": str(name), \"type\": str(column.dtype), \"missing\": int(column.isna().sum()), \"different\": int(column.astype(str).nunique())}\n    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):\n        row |= {\"min\": column.min(), \"mean\": column.mean(), \"median\": column.median(), \"max\": column.max()}\n    rows.append(row)\nanswer_rows = rows");
    code.indented(format!(
        "answer_text = f\"{} has {{len(table):,}} rows and {{len(table.columns)}} columns: \" + \", \".join(str(name) for name in table.columns[:30]) + \".\"",
        in_f(&question.source.label())
    ));
}

fn missing(column: Option<&str>, code: &mut Code) {
    match column {
        Some(column) => code.indented(format!(
            "count = int(table[{}].isna().sum())\nanswer_json = count\nanswer_text = f\"{{count:,}} of {{len(table):,}} rows have no {} ({{count / len(table):.1%}}).\"",
            text(column),
            in_f(column)
        )),
        None => code.indented(
            "counts = table.isna().sum()\nanswer_rows = [{\"column\": str(name), \"missing\": int(count)} for name, count in counts.items()]\nanswer_json = int(counts.sum())\nworst = \", \".join(f\"{name} ({count:,})\" for name, count in counts[counts > 0].sort_values(ascending=False).head(10).items())\nanswer_text = f\"{int(counts.sum()):,} values are missing in {len(table):,} rows: {worst}.\" if worst else f\"No value is missing in {len(table):,} rows.\"",
        ),
    };
}

fn duplicates(column: Option<&str>, code: &mut Code) {
    let subset = column.map_or("None".to_owned(), |column| list([column]));
    let what =
        column.map_or("rows occur".to_owned(), |column| format!("rows share a value of {}", in_f(column)));
    code.indented(format!(
        "repeated = table[table.duplicated(subset={subset}, keep=False)]\nanswer_rows = repeated.head({ROWS_SHOWN}).to_dict(\"records\")\nanswer_json = len(repeated)\nanswer_text = f\"{{len(repeated):,}} {what} more than once.\" if len(repeated) else \"Nothing occurs twice.\""
    ));
}

fn correlation(question: &Question, columns: &[String], code: &mut Code) {
    if let [left, right, ..] = columns {
        code.indented(format!(
            "pair = table[[{}, {}]].apply(pd.to_numeric, errors=\"coerce\").dropna()\nvalue = pair.corr().iloc[0, 1]\nanswer_json = None if pd.isna(value) else float(value)\nstrength = \"no\" if abs(value) < 0.1 else \"a weak\" if abs(value) < 0.4 else \"a clear\" if abs(value) < 0.7 else \"a strong\"\nanswer_text = f\"The correlation of {} and {} over {{len(pair):,}} rows is {{value:.3f}}: {{strength}} linear relation.\"",
            text(left),
            text(right),
            in_f(left),
            in_f(right)
        ));
    } else {
        let numbers = question.source.columns.iter().filter(|column| column.kind == ColumnKind::Number);
        code.indented(format!(
            "matrix = table[{}].corr()\npairs = [(matrix.index[i], matrix.columns[j], matrix.iloc[i, j]) for i in range(len(matrix)) for j in range(i + 1, len(matrix))]\npairs = sorted((pair for pair in pairs if not pd.isna(pair[2])), key=lambda pair: -abs(pair[2]))\nanswer_rows = [{{\"left\": left, \"right\": right, \"correlation\": round(float(value), 4)}} for left, right, value in pairs[:{ROWS_SHOWN}]]\nanswer_text = \"Correlations, strongest first: \" + \", \".join(f\"{{left}} and {{right}} {{value:.3f}}\" for left, right, value in pairs[:10]) + \".\"",
            list(numbers.map(|column| &column.name))
        ));
    }
    if question.plot.is_some()
        && let [y, x, ..] = columns
    {
        plot_code::scatter(x, y, code);
    }
}

fn pivot(question: &Question, function: Function, measure: Option<&Measure>, code: &mut Code) {
    let [rows, columns, ..] = question.groups.as_slice() else { return };
    let (rows, columns) = (text(rows.name()), text(columns.name()));
    match measure {
        Some(measure) => code.indented(format!(
            "result = table.pivot_table(index={rows}, columns={columns}, values={}, aggfunc={}, fill_value=0)",
            text(measure.name()),
            text(function.method())
        )),
        None => code.indented(format!("result = pd.crosstab(table[{rows}], table[{columns}])")),
    };
    code.indented(format!(
        "result.columns = [str(name) for name in result.columns]\nresult = result.reset_index()\nanswer_rows = result.head({ROWS_SHOWN}).to_dict(\"records\")\nanswer_text = f\"A table of {{len(result)}} rows and {{len(result.columns) - 1}} columns: {} by {} and {}.\"",
        in_f(&result_name(function, measure).replace('_', " ")),
        in_f(question.groups[0].name()),
        in_f(question.groups[1].name()),
    ));
    if question.export.is_some() {
        export(question, "result", code);
    }
}
