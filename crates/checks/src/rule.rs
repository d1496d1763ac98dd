//! Rules about data in words: hands what is known of the tables to the crate that reads rules, and its code on as a draft.

use std::collections::BTreeSet;

use ordain_planner::reader::{catalog, column};
use ordain_planner::{Brief, Draft, TableBrief};
use ordain_reader::{Claim, Cond, Day, Demand, Expr, Holds, Path, Reader, Reading, Scalar};
use ordain_types::{Side, Test};
use serde_json::{Value, json};

use crate::kinds;

/// What a decline lists of what could have stood there, and of the columns.
const LISTED_MAX: usize = 12;

/// Writes the code of a check that is stated in words; gives the reason where that cannot be done.
pub(crate) fn plan(brief: &Brief, filter: Option<&str>) -> Result<Draft, String> {
    let hint = brief.request.as_str();
    let Some(judged) = brief.tables.first() else {
        return Err("there is no table to look at".to_owned());
    };
    let reader = Reader::new(catalog(brief), Some(&judged.table.name));
    match reader.rule(hint) {
        Reading::Certain(demand) => draft(&reader, judged, &demand, hint, filter)
            .map_err(|reason| format!("the rule cannot be judged: {reason}")),
        Reading::Choose(demands) => {
            let readings: Vec<String> = demands.iter().filter_map(|demand| reader.words(demand)).collect();
            Err(format!(
                "the rule is not clear: it can be read in several ways: {}; say it in other words",
                readings.join("; or ")
            ))
        }
        Reading::Silent { at, nearest, .. } => Err(declined(judged, at.as_deref(), nearest.as_deref())),
    }
}

fn draft(
    reader: &Reader,
    judged: &TableBrief,
    demand: &Demand,
    hint: &str,
    filter: Option<&str>,
) -> Result<Draft, String> {
    let rows =
        filter.map(|filter| kinds::filter_lines(filter, &judged.table)).transpose().map_err(|error| {
            let help = error.hint().map(|help| format!("; {help}")).unwrap_or_default();
            format!("{error}{help}")
        })?;
    let intent = reader.words(demand).unwrap_or_else(|| hint.trim_end_matches('.').to_owned());
    let program = reader.program(demand, &intent, rows.as_deref().unwrap_or_default());
    let mut declared = json!({
        "intent": intent,
        "tables": std::iter::once(&judged.table.name)
            .chain(program.columns.keys().filter(|name| **name != judged.table.name))
            .collect::<Vec<_>>(),
        "columns": program.columns,
        "steps": [],
        "output": "every failing row, or what was observed",
        "cases": cases(demand, judged),
        "kind": "rule",
        "params": demand,
        "filter": filter,
        "planner": "rules",
    });
    if judges_empty(demand) {
        declared["judges_empty"] = json!(true);
    }
    if let Some(same) = by_kind(demand, judged).filter(|_| filter.is_none()) {
        declared["by_kind"] = same;
    }
    Ok(Draft {
        code: program.code,
        reading: Some(intent.clone()),
        title: intent,
        declared: Some(declared),
        ..Draft::default()
    })
}

/// Values on both sides of the bounds that a rule sets for the columns of its table.
fn cases(demand: &Demand, judged: &TableBrief) -> Vec<String> {
    match &demand.claim {
        Claim::Every(Cond::Unique(_)) => vec!["the same value twice: both rows fail".to_owned()],
        Claim::Every(test) => {
            test_of(test).map(|test| kinds::cases(&test, &judged.table)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// A condition on columns of the row itself, in the form of the built-in kinds.
fn test_of(cond: &Cond) -> Option<Test> {
    let own = |path: &Path| path.hops.is_empty().then(|| path.column.to_string());
    let value = |scalar: &Scalar| match scalar {
        Scalar::Day(Day::On(day)) => Some(json!(day)),
        Scalar::Day(_) | Scalar::Time(_) => None,
        other => Some(json!(other)),
    };
    let side = |expr: &Expr| match expr {
        Expr::Column(path) => own(path).map(Side::Column),
        Expr::Value(scalar) => value(scalar).map(Side::Value),
        _ => None,
    };
    let all = |parts: &[Cond]| parts.iter().map(test_of).collect::<Option<Vec<_>>>();
    Some(match cond {
        Cond::All(parts) => Test::All(all(parts)?),
        Cond::Any(parts) => Test::Any(all(parts)?),
        Cond::Not(inner) => Test::Not(Box::new(test_of(inner)?)),
        Cond::Null(path) => Test::Null(own(path)?),
        Cond::In { column, values } => {
            Test::In { column: own(column)?, values: values.iter().map(value).collect::<Option<_>>()? }
        }
        Cond::Compare { left, op, right } => {
            let op = json!(op).as_str()?.to_owned();
            Test::Compare { left: side(left)?, op, right: side(right)? }
        }
        _ => return None,
    })
}

/// The built-in kind that judges rows as a demand does, so that a database can judge a large table: none of values of which
/// only the code for frames tells how they are compared.
fn by_kind(demand: &Demand, judged: &TableBrief) -> Option<Value> {
    let Claim::Every(must) = &demand.claim else { return None };
    let (kind, mut params) = match must {
        Cond::Unique(paths) => {
            let own = paths.iter().map(|path| path.hops.is_empty().then(|| path.column.to_string()));
            ("unique", json!({"columns": own.collect::<Option<Vec<_>>>()?}))
        }
        must => ("condition", json!({"must": test_of(must)?})),
    };
    if !demand.when.is_always() {
        params["when"] = json!(test_of(&demand.when)?);
    }
    let is_plain = |test: &Cond| {
        let mut names = BTreeSet::new();
        if let Some(test) = test_of(test) {
            test.columns(&mut names);
        }
        names.iter().all(|name| {
            let own = judged.table.columns.iter().find(|own| own.name == *name);
            let facts = judged.columns.iter().find(|facts| facts.name == *name);
            own.map(|own| column(name, own.column_type, facts)).is_some_and(|column| match column.holds {
                Holds::Text | Holds::Whole | Holds::Number | Holds::Bool => true,
                Holds::Day => !column.has_time,
                _ => false,
            })
        })
    };
    let is_of_it = *demand.table == *judged.table.name;
    (is_of_it && is_plain(must) && is_plain(&demand.when)).then(|| json!({"kind": kind, "params": params}))
}

/// Whether a table without rows is judged like any other: its number of rows is.
fn judges_empty(demand: &Demand) -> bool {
    matches!(&demand.claim, Claim::Bounds(figure, _) if figure.of.is_none() && figure.by.is_empty())
}

fn declined(judged: &TableBrief, at: Option<&str>, nearest: Option<&str>) -> String {
    let columns: Vec<&str> =
        judged.table.columns.iter().map(|column| column.name.as_str()).take(LISTED_MAX).collect();
    let word = at.map_or_else(|| "how it ends".to_owned(), |word| format!("“{word}” in it"));
    let near = nearest.map(|near| format!(" (did you mean “{near}”?)")).unwrap_or_default();
    format!(
        "the reader does not understand this rule: {word}{near}; name columns as they are called ({}) and say what must hold \
         (\"price must be above 0\", \"when status is paid, paid_at must not be null\"), or use a model, or a built-in kind",
        columns.join(", ")
    )
}
