//! What a rule claims about rows, and the built-in kind that it comes to.

use ordain_types::{Side, Test};
use serde_json::{Map, Value, json};

/// A rule: a built-in kind with its params, on a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rule {
    /// The table that is judged.
    pub(crate) table: String,
    /// The kind.
    pub(crate) kind: &'static str,
    /// Its params.
    pub(crate) params: Value,
    /// The rows that are judged, as a filter; all of them if none.
    pub(crate) filter: Option<String>,
}

/// What a sentence says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Claim {
    /// Something holds in a row.
    Test(Test),
    /// No two rows have the same values in these columns.
    Unique(Vec<String>),
    /// The column's values are there in a column of another table.
    Known(String, String, String),
    /// Something about the table as a whole.
    Whole(&'static str, Value),
    /// It is not so.
    Missing(Box<Claim>),
}

/// A claim that must be so, or must not be so, in the rows where a condition holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Demand {
    pub(super) claim: Claim,
    pub(super) so: bool,
    pub(super) when: Vec<Test>,
}

impl Claim {
    pub(super) fn demand(self, so: bool) -> Demand {
        match self {
            Self::Missing(inner) => inner.demand(!so),
            claim => Demand { claim, so, when: Vec::new() },
        }
    }
}

impl Demand {
    /// The opposite: what must be so if this is to be flagged.
    pub(super) fn opposite(mut self) -> Self {
        self.so = !self.so;
        self
    }

    /// The same for fewer rows.
    pub(super) fn only_when(mut self, when: Test) -> Self {
        self.when.push(when);
        self
    }

    /// Both demands, where they are about single rows.
    pub(super) fn and(&self, other: &Self) -> Option<Self> {
        match (self.test(), other.test()) {
            (Some(one), Some(two)) if self.when == other.when => {
                Some(Self { when: self.when.clone(), ..Claim::Test(Test::All(vec![one, two])).demand(true) })
            }
            _ => None,
        }
    }

    /// What must hold in each row.
    pub(super) fn test(&self) -> Option<Test> {
        let Claim::Test(test) = &self.claim else { return None };
        Some(if self.so { test.clone() } else { Test::Not(Box::new(test.clone())) })
    }

    /// The kind that it comes to; `None` if there is none.
    pub(super) fn rule(&self, table: &str) -> Option<Rule> {
        let when = match self.when.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            several => Some(Test::All(several.to_vec())),
        };
        let rule = |kind, params, filter| Rule { table: table.to_owned(), kind, params, filter };
        if let Some(test) = self.test() {
            let test = plain(test);
            let (kind, params) = match (when, lowered(&test)) {
                (None, Some(known)) => known,
                (None, None) => ("condition", json!({"must": test})),
                (Some(when), _) => ("condition", json!({"when": plain(when), "must": test})),
            };
            return Some(rule(kind, params, None));
        }
        let filter = match when {
            Some(when) => Some(query(&plain(when))?),
            None => None,
        };
        match &self.claim {
            Claim::Unique(columns) if self.so => Some(rule("unique", json!({"columns": columns}), filter)),
            Claim::Known(column, other, theirs) if self.so => Some(rule(
                "foreign_key",
                json!({"columns": [column], "references": {"table": other, "columns": [theirs]}}),
                filter,
            )),
            Claim::Whole(kind, params) if self.so => Some(rule(kind, params.clone(), filter)),
            _ => None,
        }
    }
}

/// The same condition with every `not` at a single test, and without lists in lists.
fn plain(test: Test) -> Test {
    match test {
        Test::Not(inner) => match *inner {
            Test::Not(twice) => plain(*twice),
            Test::All(all) => {
                plain(Test::Any(all.into_iter().map(|test| Test::Not(Box::new(test))).collect()))
            }
            Test::Any(all) => {
                plain(Test::All(all.into_iter().map(|test| Test::Not(Box::new(test))).collect()))
            }
            Test::Compare { left, op, right } => Test::Compare { left, op: opposite(&op).to_owned(), right },
            other => Test::Not(Box::new(other)),
        },
        Test::All(all) => joined(all, true),
        Test::Any(all) => joined(all, false),
        other => other,
    }
}

fn joined(all: Vec<Test>, is_all: bool) -> Test {
    let mut flat: Vec<Test> = Vec::new();
    for test in all.into_iter().map(plain) {
        let inner = match (test, is_all) {
            (Test::All(inner), true) | (Test::Any(inner), false) => inner,
            (other, _) => vec![other],
        };
        for test in inner {
            if !flat.contains(&test) {
                flat.push(test);
            }
        }
    }
    match (flat.len(), is_all) {
        (1, _) => flat.remove(0),
        (_, true) => Test::All(flat),
        (_, false) => Test::Any(flat),
    }
}

fn opposite(op: &str) -> &'static str {
    match op {
        ">" => "<=",
        ">=" => "<",
        "<" => ">=",
        "<=" => ">",
        "==" => "!=",
        _ => "==",
    }
}

/// The narrow kind that says the same as a condition.
fn lowered(test: &Test) -> Option<(&'static str, Value)> {
    match test {
        Test::Null(column) => Some(("not_null", json!({"columns": [column], "negate": true}))),
        Test::In { column, values } => Some(("in_set", json!({"column": column, "values": values}))),
        Test::Matches { column, pattern } => Some(("regex", json!({"column": column, "pattern": pattern}))),
        Test::Length { column, min, max } => {
            let mut params = json!({"column": column});
            set(&mut params, "min", min.map(Value::from));
            set(&mut params, "max", max.map(Value::from));
            Some(("length", params))
        }
        Test::Not(inner) => match inner.as_ref() {
            Test::Null(column) => Some(("not_null", json!({"columns": [column]}))),
            Test::In { column, values } => {
                Some(("in_set", json!({"column": column, "values": values, "negate": true})))
            }
            Test::Matches { column, pattern } => {
                Some(("regex", json!({"column": column, "pattern": pattern, "negate": true})))
            }
            _ => None,
        },
        Test::Compare { left: Side::Column(left), op, right: Side::Column(right) } => {
            Some(("two_columns", json!({"left": left, "op": op, "right": right})))
        }
        Test::Compare { left: Side::Column(column), op, right: Side::Value(value) } => {
            bounds(column, &[(op, value)])
        }
        Test::All(all) => all_of(all),
        _ => None,
    }
}

fn all_of(all: &[Test]) -> Option<(&'static str, Value)> {
    let there = |test: &Test| match test {
        Test::Not(inner) => match inner.as_ref() {
            Test::Null(column) => Some(column.clone()),
            _ => None,
        },
        _ => None,
    };
    if let Some(columns) = all.iter().map(there).collect::<Option<Vec<String>>>() {
        return Some(("not_null", json!({"columns": columns})));
    }
    let side = |test: &Test| match test {
        Test::Compare { left: Side::Column(column), op, right: Side::Value(value) } => {
            Some((column.clone(), op.clone(), value.clone()))
        }
        _ => None,
    };
    match all {
        [one, two] => {
            let (one, two) = (side(one)?, side(two)?);
            (one.0 == two.0).then(|| bounds(&one.0, &[(&one.1, &one.2), (&two.1, &two.2)]))?
        }
        _ => None,
    }
}

/// Comparisons of one column with values, as bounds.
fn bounds(column: &str, sides: &[(&String, &Value)]) -> Option<(&'static str, Value)> {
    if let [(op, value)] = sides
        && matches!(op.as_str(), "==" | "!=")
    {
        let mut params = json!({"column": column, "values": [value]});
        set(&mut params, "negate", (*op == "!=").then_some(Value::from(true)));
        return Some(("in_set", params));
    }
    let mut params = json!({"column": column});
    for (op, value) in sides {
        let (bound, strict) = match op.as_str() {
            ">" => ("min", Some("strict_min")),
            ">=" => ("min", None),
            "<" => ("max", Some("strict_max")),
            "<=" => ("max", None),
            _ => return None,
        };
        if params.get(bound).is_some() {
            return None;
        }
        params[bound] = (*value).clone();
        if let Some(strict) = strict {
            params[strict] = json!(true);
        }
    }
    Some(("range", params))
}

fn set(params: &mut Value, name: &str, value: Option<Value>) {
    if let (Value::Object(params), Some(value)) = (params, value) {
        params.insert(name.to_owned(), value);
    }
}

/// A condition as the filter of a check; `None` where a filter cannot say it.
fn query(test: &Test) -> Option<String> {
    let join = |all: &[Test], by: &str| {
        let parts: Option<Vec<String>> =
            all.iter().map(|test| query(test).map(|part| format!("({part})"))).collect();
        parts.map(|parts| parts.join(by))
    };
    match test {
        Test::All(all) => join(all, " and "),
        Test::Any(all) => join(all, " or "),
        Test::Compare { left: Side::Column(left), op, right } => {
            let right = match right {
                Side::Column(right) => quoted(right)?,
                Side::Value(value) => literal(value)?,
                _ => return None,
            };
            Some(format!("{} {op} {right}", quoted(left)?))
        }
        Test::In { column, values } => {
            let values: Option<Vec<String>> = values.iter().map(literal).collect();
            Some(format!("{} in [{}]", quoted(column)?, values?.join(", ")))
        }
        Test::Not(inner) => match inner.as_ref() {
            Test::Null(column) => Some(format!("{}.notna()", quoted(column)?)),
            _ => None,
        },
        Test::Null(column) => Some(format!("{}.isna()", quoted(column)?)),
        _ => None,
    }
}

fn quoted(name: &str) -> Option<String> {
    (!name.contains('`')).then(|| format!("`{name}`"))
}

fn literal(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.contains(['\'', '\\']) => Some(format!("'{text}'")),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(if *value { "True" } else { "False" }.to_owned()),
        _ => None,
    }
}

/// Params in the making.
pub(super) fn params<const N: usize>(pairs: [(&str, Option<Value>); N]) -> Value {
    let pairs = pairs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(pairs.collect::<Map<_, _>>())
}
