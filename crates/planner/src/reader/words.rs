//! Says in words what was read.

use std::fmt::Write as _;

use serde_json::Value;

use super::form::{Asked, Cond, Form, Measure, Operand, Order, Output, Path, Select};
use super::index::{Index, Sort, split_name};

/// A form in words: what the answer, the record and reports show.
pub(crate) fn reading(index: &Index, form: &Form) -> String {
    match form {
        Form::Select(select) => select_words(index, select),
        Form::Output(output, select) => format!("{}: {}", output_words(*output), select_words(index, select)),
    }
}

fn select_words(index: &Index, select: &Select) -> String {
    let rows = plural(&index.tables[select.table].noun);
    let filter = filter_words(index, &select.filter);
    let of = if filter.is_empty() { rows.clone() } else { format!("{rows} where {filter}") };
    let mut text = match &select.asked {
        Asked::Rows | Asked::Any => of,
        Asked::Columns(paths) => format!("{} of {of}", list(paths.iter().map(|path| column(index, path)))),
        Asked::Values(path) => format!("different values of {} of {of}", column(index, path)),
        Asked::Holds(cond) => format!("whether {} for {of}", filter_words(index, cond)),
        Asked::Figures { measures, by } => {
            let measures = list(measures.iter().map(|measure| measure_words(index, measure)));
            format!("{measures} of {of}{}", by_words(index, by))
        }
        Asked::Share { part, by } => {
            format!("share where {} of {of}{}", filter_words(index, part), by_words(index, by))
        }
        Asked::Correlation(left, right) => {
            format!("correlation of {} and {} of {of}", column(index, left), column(index, right))
        }
        Asked::Spread(path) => format!("how {} is spread, of {of}", column(index, path)),
        Asked::Pairs(left, right) => {
            format!("{} against {} of {of}", column(index, left), column(index, right))
        }
        Asked::Figure { measure, by, best } => {
            let by = by_words(index, by);
            let best = match best {
                Some((true, 1)) => ", the highest".to_owned(),
                Some((false, 1)) => ", the lowest".to_owned(),
                Some((true, count)) => format!(", the {count} highest"),
                Some((false, count)) => format!(", the {count} lowest"),
                None => String::new(),
            };
            format!("{} of {of}{by}{best}", measure_words(index, measure))
        }
    };
    if let Some(order) = &select.order {
        let _ = write!(text, ", {}", order_words(index, order, select.nth, select.limit));
    }
    text
}

fn by_words(index: &Index, by: &[Path]) -> String {
    if by.is_empty() {
        return String::new();
    }
    format!(" by {}", list(by.iter().map(|path| column(index, path))))
}

fn output_words(output: Output) -> &'static str {
    match output {
        Output::Bar => "bar chart",
        Output::Line => "line chart",
        Output::Pie => "pie chart",
        Output::Csv => "CSV file",
        Output::Workbook => "workbook",
    }
}

/// An order in words.
pub(crate) fn order_words(index: &Index, order: &Order, nth: Option<u64>, limit: Option<u64>) -> String {
    let by = order.by.as_ref().map(|path| format!(" by {}", column(index, path)));
    if by.is_none() && index.files {
        let way = if order.down { "last" } else { "first" };
        let count =
            limit.filter(|limit| *limit < 1_000_000).map_or_else(String::new, |limit| format!(" {limit}"));
        return format!("the {way}{count} as the file is written");
    }
    let is_day =
        order.by.as_ref().is_some_and(|path| index.tables[path.table].columns[path.column].sort == Sort::Day);
    let way = match (&by, order.down) {
        (Some(_), true) if is_day => "latest",
        (Some(_), false) if is_day => "earliest",
        (Some(_), true) => "highest",
        (Some(_), false) => "lowest",
        (None, true) => "newest",
        (None, false) => "oldest",
    };
    let by = by.unwrap_or_default();
    match (nth, limit) {
        (Some(nth), _) => format!("number {nth}{by}, {way} first"),
        (None, Some(1)) => format!("the {way}{by}"),
        (None, Some(limit)) if limit < 1_000_000 => format!("the {limit} {way}{by}"),
        _ => format!("{way} first{by}"),
    }
}

/// A figure in words.
pub(crate) fn measure_words(index: &Index, measure: &Measure) -> String {
    match measure {
        Measure::Count => "number".to_owned(),
        Measure::Distinct(path) => format!("number of different {}", plural(&column(index, path))),
        Measure::Of("size", path) => format!("total {} without its sign", column(index, path)),
        // `total total` says nothing.
        Measure::Of("sum", path) if column(index, path).starts_with("total") => {
            format!("sum of {}", column(index, path))
        }
        Measure::Of(function, path) => {
            let function = match *function {
                "avg" => "average",
                "sum" => "total",
                "min" => "lowest",
                "median" => "median",
                "std" => "standard deviation of",
                "var" => "variance of",
                _ => "highest",
            };
            format!("{function} {}", column(index, path))
        }
        Measure::Product(function, left, right) => {
            let function = if *function == "avg" { "average" } else { "total" };
            format!("{function} of {} times {}", column(index, left), column(index, right))
        }
        Measure::Pair(pair, sign) => {
            let between = if *sign == '/' { "divided by" } else { "less" };
            format!("{} {between} {}", measure_words(index, &pair.0), measure_words(index, &pair.1))
        }
    }
}

/// A condition in words; nothing if it asks nothing.
pub(crate) fn filter_words(index: &Index, cond: &Cond) -> String {
    if let Some((action, rest)) = recorded(index, cond) {
        return list([format!("action is {action}"), filter_words(index, &Cond::And(rest))].into_iter());
    }
    match cond {
        Cond::And(all) => list(all.iter().map(|cond| filter_words(index, cond))),
        Cond::Or(all) => all.iter().map(|cond| filter_words(index, cond)).collect::<Vec<_>>().join(" or "),
        Cond::Not(inner) => match inner.as_ref() {
            Cond::Null(path) => format!("{} is there", column(index, path)),
            Cond::Cmp(path, super::form::Op::Eq, operand) => {
                format!("{} is not {}", column(index, path), operand_words(index, operand))
            }
            Cond::Cmp(path, op, operand) => {
                format!("{} is not {} {}", column(index, path), op.words(), operand_words(index, operand))
            }
            Cond::Word(path, word) => format!("{} is without “{}”", column(index, path), value(&word.value)),
            Cond::Some(link, inner) => {
                format!("there is no {}{}", index.tables[link.table].noun, where_words(index, inner))
            }
            other => format!("not ({})", filter_words(index, other)),
        },
        Cond::Null(path) => format!("{} is empty", column(index, path)),
        Cond::Cmp(path, op, operand) => {
            let is = format!("{} is {} {}", column(index, path), op.words(), operand_words(index, operand));
            is.replace("  ", " ")
        }
        Cond::Days(path, from, until) => {
            format!("{} is {}", column(index, path), days_words(&value(&from.value), &value(&until.value)))
        }
        Cond::Word(path, word) => format!("{} has “{}”", column(index, path), value(&word.value)),
        Cond::Some(link, inner) => {
            format!("there is {}{}", a(&index.tables[link.table].noun), where_words(index, inner))
        }
    }
}

/// The action whose rows some conditions find, and the conditions that are left.
pub(crate) fn recorded<'a>(index: &'a Index, cond: &Cond) -> Option<(&'a str, Vec<Cond>)> {
    let all = match cond {
        Cond::And(all) => all.as_slice(),
        one => std::slice::from_ref(one),
    };
    index.verbs.iter().find_map(|verb| {
        let means = match &verb.means {
            Cond::And(means) => means.as_slice(),
            one => std::slice::from_ref(one),
        };
        let is_all = !means.is_empty() && means.iter().all(|one| all.contains(one));
        let rest = || all.iter().filter(|one| !means.contains(one)).cloned().collect();
        Some((verb.action.as_deref().filter(|_| is_all)?, rest()))
    })
}

/// Days as a person says them: `on 2026-03-09`, `in 2026-03`, `in 2026`, `from 2026-03-10 to 2026-03-12`.
pub(crate) fn days_words(from: &str, until: &str) -> String {
    let (first, last) = (from.get(..10).unwrap_or(from), super::token::day_before(until).unwrap_or_default());
    match () {
        () if first == last => format!("on {first}"),
        () if first.ends_with("-01-01") && last.ends_with("-12-31") && first[..4] == last[..4] => {
            format!("in {}", &first[..4])
        }
        () if first.ends_with("-01") && until.ends_with("-01") && first[..7] == last[..7] => {
            format!("in {}", &first[..7])
        }
        () => format!("from {first} to {last}"),
    }
}

fn where_words(index: &Index, cond: &Cond) -> String {
    let words = filter_words(index, cond);
    if words.is_empty() { String::new() } else { format!(" whose {words}") }
}

fn operand_words(index: &Index, operand: &Operand) -> String {
    match operand {
        Operand::Lit(lit) => value(&lit.value),
        Operand::Column(path) => column(index, path),
        Operand::Of(path, cond) => format!("the {} where {}", column(index, path), filter_words(index, cond)),
    }
}

/// A column in words, with the table where it is another one.
pub(crate) fn column(index: &Index, path: &Path) -> String {
    let table = &index.tables[path.table];
    let name = split_name(&table.columns[path.column].name).join(" ");
    if path.hops.is_empty() { name } else { format!("{}'s {name}", referred(index, path)) }
}

/// What the row at the end of a path is called: by the table, or by the column that refers to it, where several do.
pub(crate) fn referred(index: &Index, path: &Path) -> String {
    let noun = &index.tables[path.table].noun;
    let Some(hop) = path.hops.last() else { return noun.clone() };
    let refers = |column: &super::index::Column| column.refers.is_some_and(|(to, _)| to == path.table);
    let owners = index.tables.iter().filter(|table| table.columns.get(hop.column).is_some_and(refers));
    let several =
        |table: &super::index::Table| table.columns.iter().filter(|column| refers(column)).count() > 1;
    let owner = owners.into_iter().find(|table| several(table));
    owner.map_or_else(|| noun.clone(), |table| split_name(&table.columns[hop.column].name).join(" "))
}

/// A value in words.
pub(crate) fn value(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.filter(|item| !item.is_empty()).collect::<Vec<_>>().join(", ")
}

/// A noun with its article.
pub(crate) fn a(noun: &str) -> String {
    format!("{} {noun}", if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" })
}

/// Several of a noun.
pub(crate) fn plural(noun: &str) -> String {
    match noun {
        "person" => "people".to_owned(),
        noun if noun.ends_with('y') && !noun.ends_with("ay") && !noun.ends_with("ey") => {
            format!("{}ies", &noun[..noun.len() - 1])
        }
        noun if noun.ends_with('s')
            || noun.ends_with("sh")
            || noun.ends_with("ch")
            || noun.ends_with('x') =>
        {
            format!("{noun}es")
        }
        noun => format!("{noun}s"),
    }
}
