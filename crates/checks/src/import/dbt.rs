//! Data tests of dbt: `schema.yml` with models, seeds, snapshots and sources, and tests that are a SELECT.
//!
//! A test with a `where` becomes the SELECT that dbt would run: a condition in SQL is not carried over into a language that
//! means something else.

mod sql;

use serde_json::{Map, Value, json};

use super::draft::{self, params};
use super::expectation::{NotMapped, map_expectation};
use super::{ImportError, Imported, Tool};
use crate::catalogue::Kind;
use crate::check::{Check, Severity, Threshold};

/// Settings of a test that say nothing about the data.
const STORAGE: [&str; 9] = [
    "alias",
    "database",
    "full_refresh",
    "group",
    "limit",
    "schema",
    "store_failures",
    "store_failures_as",
    "sql_header",
];
/// Settings that a check has.
const SETTINGS: [&str; 9] =
    ["description", "enabled", "error_if", "meta", "name", "severity", "tags", "warn_if", "where"];

/// Where a test stands.
struct TestTarget<'a> {
    table: &'a str,
    column: Option<&'a str>,
}

impl TestTarget<'_> {
    fn shown(&self) -> String {
        self.column.map_or_else(|| self.table.to_owned(), |column| format!("{}.{column}", self.table))
    }
}

type Made = (Kind, Map<String, Value>);

pub(super) fn import(file: &Value) -> Result<Imported, ImportError> {
    let mut imported = Imported::default();
    let mut is_dbt = false;
    for (group, content) in in_order(file, &["models", "seeds", "snapshots", "sources"]) {
        match group {
            "models" | "seeds" | "snapshots" => {
                is_dbt = true;
                items(content).for_each(|model| take_model(&mut imported, model, None));
            }
            "sources" => {
                is_dbt = true;
                items(content).for_each(|source| take_source(&mut imported, source));
            }
            "version" => imported.account("(the file)", group, None),
            _ => imported.account("(the file)", group, Some("it holds no tests of data")),
        }
    }
    if !is_dbt {
        let message = "it has none of `models`, `seeds`, `snapshots` and `sources`".to_owned();
        return Err(ImportError::Shape { tool: Tool::Dbt, message });
    }
    Ok(imported)
}

/// The members of a map, some of them first.
fn in_order<'a>(value: &'a Value, first: &[&str]) -> Vec<(&'a str, &'a Value)> {
    let all = value.as_object().into_iter().flatten();
    let mut members: Vec<_> = all.map(|(key, content)| (key.as_str(), content)).collect();
    members.sort_by_key(|(key, _)| first.iter().position(|one| one == key).unwrap_or(first.len()));
    members
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn take_source(imported: &mut Imported, source: &Value) {
    let shown = source.get("name").and_then(Value::as_str).unwrap_or("(a source)").to_owned();
    for (key, content) in source.as_object().into_iter().flatten() {
        match key.as_str() {
            "tables" => items(content).for_each(|table| take_model(imported, table, Some(source))),
            "name" | "freshness" | "loaded_at_field" => imported.account(&shown, key, None),
            _ => imported.account(&shown, key, Some("it describes the source and asks nothing of its rows")),
        }
    }
}

fn take_model(imported: &mut Imported, model: &Value, source: Option<&Value>) {
    let Some(table) = model.get("name").and_then(Value::as_str) else {
        imported.leave_out("(a model)", "(unknown)", "it has no name");
        return;
    };
    for (key, content) in in_order(model, &["tests", "data_tests", "columns"]) {
        match key {
            "name" | "freshness" | "loaded_at_field" => imported.account(table, key, None),
            "tests" | "data_tests" => {
                let target = TestTarget { table, column: None };
                items(content).for_each(|test| take_test(imported, &target, test));
            }
            "columns" => items(content).for_each(|column| take_column(imported, table, column)),
            _ => imported.account(table, key, Some("it describes the table and asks nothing of its rows")),
        }
    }
    take_freshness(imported, table, model, source);
}

fn take_column(imported: &mut Imported, table: &str, column: &Value) {
    let target = TestTarget { table, column: column.get("name").and_then(Value::as_str) };
    for (key, content) in column.as_object().into_iter().flatten() {
        match key.as_str() {
            "name" => imported.account(&target.shown(), key, None),
            "tests" | "data_tests" => items(content).for_each(|test| take_test(imported, &target, test)),
            _ => {
                let reason = "it describes the column and asks nothing of its values";
                imported.account(&target.shown(), key, Some(reason));
            }
        }
    }
}

/// How old the newest row of a source may be, with a check for each of the two limits.
fn take_freshness(imported: &mut Imported, table: &str, model: &Value, source: Option<&Value>) {
    // What a table says wins over what its source says; null turns it off.
    let said = |key: &str| {
        let of = |value: &'_ Value| value.get(key).or_else(|| value.get("config")?.get(key)).cloned();
        of(model).or_else(|| of(source?))
    };
    let Some(freshness) = said("freshness").filter(Value::is_object) else { return };
    let column = said("loaded_at_field");
    let column = column.as_ref().and_then(Value::as_str);
    let is_plain = |name: &&str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    for (limit, is_error) in [("error_after", true), ("warn_after", false)] {
        let Some(after) = freshness.get(limit).filter(|after| after.is_object()) else { continue };
        let age = after.get("count").and_then(Value::as_u64).zip(after.get("period").and_then(Value::as_str));
        let made = match (column.filter(is_plain), age.and_then(|(count, period)| length(count, period))) {
            (None, _) => Err("its `loaded_at_field` is not the name of a column"),
            (_, None) => Err("its limit has no `count` with a `period` of minute, hour or day"),
            _ if freshness.get("filter").is_some_and(|filter| !filter.is_null()) => {
                Err("its `filter` is SQL, which the age of the newest row does not take")
            }
            (Some(column), Some(age)) => Ok((column, age)),
        };
        match made {
            Ok((column, age)) => {
                let taken = params([("column", json!(column)), ("max_age", json!(age))]);
                let mut check = draft::check(table, Some(column), Kind::Freshness, taken);
                check.severity = Severity::High;
                if !is_error {
                    check.warn_if = Some(Threshold { count: Some(0), percent: None });
                }
                imported.checks.push(check);
            }
            Err(reason) => {
                imported.turn_off(
                    &format!("freshness {limit}"),
                    table,
                    &[table.to_owned()],
                    reason,
                    &freshness,
                );
            }
        }
    }
}

fn length(count: u64, period: &str) -> Option<String> {
    let unit = match period {
        "minute" => "m",
        "hour" => "h",
        "day" => "d",
        "week" => "w",
        _ => return None,
    };
    Some(format!("{count}{unit}"))
}

fn take_test(imported: &mut Imported, place: &TestTarget<'_>, test: &Value) {
    let none = json!({});
    let (name, body) = named(test).unwrap_or(("", &none));
    let shown = place.shown();
    if name.is_empty() {
        imported.leave_out("(a test)", &shown, "it has no name");
        return;
    }
    // Newer files put what a test takes under `arguments`.
    let mut arguments = body.as_object().cloned().unwrap_or_default();
    arguments.remove("test_name");
    if let Some(Value::Object(nested)) = arguments.remove("arguments") {
        arguments.extend(nested);
    }
    let has_row_condition = arguments.contains_key("row_condition");
    let config = config_of(&mut arguments, test);
    let at = format!("{shown}: {name}");
    let made = checked(name, place, &arguments, &config);
    for key in arguments.keys().chain(config.keys()) {
        let key = if has_row_condition && key == "where" { "row_condition" } else { key };
        let why = match &made {
            _ if STORAGE.contains(&key) => Some("it says nothing about the data"),
            Err(_) => Some("its test is turned off"),
            Ok(_) => None,
        };
        imported.account(&at, key, why);
    }
    match made {
        Ok(check) => imported.checks.push(check),
        Err(reason) => imported.turn_off(name, &shown, &[place.table.to_owned()], reason, test),
    }
}

/// The name of a test, and what it takes.
fn named(test: &Value) -> Option<(&str, &Value)> {
    static NOTHING: Value = Value::Null;
    match test {
        Value::String(name) => Some((name, &NOTHING)),
        Value::Object(map) => {
            if let Some(name) = map.get("test_name").and_then(Value::as_str) {
                return Some((name, test));
            }
            let is_name = |key: &str| !["name", "config", "description"].contains(&key);
            map.iter().find(|(key, _)| is_name(key)).map(|(name, body)| (name.as_str(), body))
        }
        _ => None,
    }
}

/// A test as a check, or why there is none.
fn checked(
    name: &str,
    place: &TestTarget<'_>,
    arguments: &Map<String, Value>,
    config: &Map<String, Value>,
) -> Result<Check, String> {
    if let Some(unknown) = config.keys().find(|key| !is_known_setting(key)) {
        return Err(format!("nothing here means its setting `{unknown}`"));
    }
    let chosen = match config.get("where").and_then(Value::as_str) {
        Some(text) => {
            Some(sql::filled(text).map_err(|why| format!("its `where` cannot be carried over: {why}"))?.0)
        }
        None => None,
    };
    let mut fail_if = share(arguments);
    let (kind, params) = match kind_of(name, place, arguments, chosen.as_deref()) {
        Ok(made) => made,
        Err(NotMapped::Unsupported(reason) | NotMapped::Invalid(reason)) => return Err(reason),
    };
    let (kind, params) = match chosen.filter(|_| kind != Kind::Sql) {
        None => (kind, params),
        Some(_) if fail_if.is_some() => {
            return Err("its `where` is SQL, and a share is of the rows that it chooses".to_owned());
        }
        Some(chosen) => {
            let query = sql::of_kind(kind, &params, place.table, &chosen)
                .ok_or_else(|| format!("its `where` is SQL, and no SELECT here says the rest of `{name}`"))?;
            (Kind::Sql, draft::params([("query", json!(query))]))
        }
    };
    let mut check = draft::check(place.table, place.column, kind, params);
    for other in tables_in(&check, arguments) {
        if !check.target_table.contains(&other) {
            check.target_table.push(other);
        }
    }
    let grades = grades(config)?;
    check.warn_if = grades.0;
    fail_if = fail_if.or(grades.1);
    check.fail_if = fail_if;
    settle(&mut check, config, name);
    Ok(check)
}

fn is_known_setting(key: &str) -> bool {
    SETTINGS.contains(&key) || STORAGE.contains(&key)
}

/// The tables that a check looks at besides its own.
fn tables_in(check: &Check, arguments: &Map<String, Value>) -> Vec<String> {
    let to =
        check.params.get("references").and_then(|to| to.get("table")).or_else(|| check.params.get("same_as"));
    let named = to.and_then(Value::as_str).map(str::to_owned);
    let referred = arguments.get("to").filter(|_| check.kind == Kind::Sql).and_then(referenced);
    named.into_iter().chain(referred).collect()
}

/// From when on a test warns and fails. dbt fails on any row unless it is told otherwise, and one of severity `warn` never
/// does.
fn grades(config: &Map<String, Value>) -> Result<(Option<Threshold>, Option<Threshold>), String> {
    let any = || Some(Threshold { count: Some(0), percent: None });
    let limit =
        |key: &str| match config.get(key).filter(|value| !value.is_null()) {
            None => Ok(None),
            Some(written) => written.as_str().and_then(threshold).map(Some).ok_or_else(|| {
                format!("its `{key}` ({written}) is no number of rows from which on it counts")
            }),
        };
    let severity = config.get("severity").and_then(Value::as_str).unwrap_or("error");
    let (warn_if, error_if) = (limit("warn_if")?, limit("error_if")?);
    match severity.to_ascii_lowercase().as_str() {
        "warn" => Ok((warn_if.or_else(any), None)),
        "error" if warn_if.is_none() => Ok((None, error_if)),
        "error" => Ok((warn_if, error_if.or_else(any))),
        other => Err(format!("its severity `{other}` is neither error nor warn")),
    }
}

/// Puts the rest of a test's settings into its check.
fn settle(check: &mut Check, config: &Map<String, Value>, name: &str) {
    let text = |key: &str| config.get(key).and_then(Value::as_str);
    let is_warning = text("severity").is_some_and(|severity| severity.eq_ignore_ascii_case("warn"));
    check.severity = if is_warning { Severity::Medium } else { Severity::High };
    check.enabled = config.get("enabled").and_then(Value::as_bool).unwrap_or(true);
    check.tags = match config.get("tags") {
        Some(Value::String(tag)) => vec![tag.clone()],
        Some(Value::Array(tags)) => tags.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    if let Some(own) = text("name") {
        own.clone_into(&mut check.check_name);
    }
    if let Some(description) = text("description") {
        description.clone_into(&mut check.description);
    }
    check.unknown.insert("dbt_test".to_owned(), json!(name));
    check.unknown.extend(config.get("meta").map(|meta| ("meta".to_owned(), meta.clone())));
}

/// The share that may fail, from the share that must pass.
fn share(arguments: &Map<String, Value>) -> Option<Threshold> {
    let share = arguments.get("mostly").or_else(|| arguments.get("at_least"))?.as_f64()?;
    (0.0..1.0).contains(&share).then(|| draft::fail_above(share))
}

/// The settings of a test, wherever they stand.
fn config_of(arguments: &mut Map<String, Value>, test: &Value) -> Map<String, Value> {
    let mut config = Map::new();
    for nested in [arguments.remove("config"), test.get("config").cloned()] {
        if let Some(Value::Object(nested)) = nested {
            config.extend(nested);
        }
    }
    // A condition on rows is SQL, like `where`.
    if let Some(condition) = arguments.remove("row_condition") {
        config.insert("where".to_owned(), condition);
    }
    for key in SETTINGS.iter().chain(&STORAGE).chain(&["fail_calc"]) {
        let beside = test.get(*key).filter(|_| !arguments.contains_key(*key)).cloned();
        if let Some(value) = arguments.remove(*key).or(beside) {
            config.insert((*key).to_owned(), value);
        }
    }
    config
}

fn kind_of(
    name: &str,
    place: &TestTarget<'_>,
    arguments: &Map<String, Value>,
    chosen: Option<&str>,
) -> Result<Made, NotMapped> {
    let unsupported = |reason: &str| Err(NotMapped::Unsupported(reason.to_owned()));
    let get = |key: &str| arguments.get(key).cloned().unwrap_or_default();
    let column =
        place.column.map(str::to_owned).or_else(|| arguments.get("column_name")?.as_str().map(str::to_owned));
    let columns = json!(column.iter().collect::<Vec<_>>());
    let name = name.strip_prefix("dbt.").unwrap_or(name);
    if column.is_none() && matches!(name, "not_null" | "unique" | "accepted_values" | "relationships") {
        return unsupported("it names no column");
    }
    let takes = |known: &[&str]| {
        let is_known = |key: &&String| known.contains(&key.as_str()) || key.as_str() == "column_name";
        match arguments.keys().find(|key| !is_known(key)) {
            Some(unknown) => Err(NotMapped::Unsupported(format!("nothing here means its `{unknown}`"))),
            None => Ok(()),
        }
    };
    Ok(match name {
        "not_null" => {
            takes(&[])?;
            (Kind::NotNull, params([("columns", columns)]))
        }
        "dbt_utils.not_null_proportion" => {
            takes(&["at_least", "at_most"])?;
            if arguments.get("at_most").and_then(Value::as_f64).is_some_and(|most| most < 1.0) {
                return unsupported("nothing here means its `at_most`");
            }
            (Kind::NotNull, params([("columns", columns)]))
        }
        "unique" => {
            takes(&[])?;
            (Kind::Unique, params([("columns", columns)]))
        }
        "accepted_values" | "dbt_utils.accepted_values" | "dbt_utils.not_accepted_values" => {
            takes(&["values", "quote"])?;
            let negate = (name == "dbt_utils.not_accepted_values").then_some(true);
            let pairs = [("column", json!(column)), ("values", get("values")), ("negate", json!(negate))];
            (Kind::InSet, params(pairs))
        }
        "relationships" | "dbt_utils.relationships_where" => {
            takes(&["to", "field", "from_condition", "to_condition"])?;
            return related(&columns, place.table, arguments, chosen);
        }
        "dbt_utils.unique_combination_of_columns" => {
            takes(&["combination_of_columns", "quote_columns"])?;
            let pairs = [("columns", get("combination_of_columns")), ("ignore_row_if", json!("never"))];
            (Kind::Unique, params(pairs))
        }
        "dbt_utils.expression_is_true" => {
            takes(&["expression"])?;
            let Some(expression) = arguments.get("expression").and_then(Value::as_str) else {
                return unsupported("it has no `expression`");
            };
            let (expression, _) =
                sql::filled(expression).map_err(|why| NotMapped::Unsupported(why.to_owned()))?;
            // Of a column it is the part behind its name.
            let own = column.as_deref().map(|name| format!("{} ", sql::quoted(name))).unwrap_or_default();
            let query = sql::where_not(place.table, &format!("{own}{expression}"), chosen);
            (Kind::Sql, params([("query", json!(query))]))
        }
        "dbt_utils.accepted_range" => {
            takes(&["min_value", "max_value", "inclusive"])?;
            let strict = (arguments.get("inclusive") == Some(&json!(false))).then_some(true);
            (
                Kind::Range,
                params([
                    ("column", json!(column)),
                    ("min", get("min_value")),
                    ("max", get("max_value")),
                    ("strict_min", json!(strict.filter(|_| arguments.contains_key("min_value")))),
                    ("strict_max", json!(strict.filter(|_| arguments.contains_key("max_value")))),
                ]),
            )
        }
        "dbt_utils.not_empty_string" => {
            takes(&["trim_whitespace"])?;
            (Kind::Length, params([("column", json!(column)), ("min", json!(1))]))
        }
        "dbt_utils.equal_rowcount" => {
            takes(&["compare_model"])?;
            match referenced(&get("compare_model")) {
                Some(table) => (Kind::RowCount, params([("same_as", json!(table))])),
                None => return unsupported("the model to compare with is not written as ref('…')"),
            }
        }
        "dbt_utils.recency" => {
            takes(&["datepart", "field", "interval"])?;
            let interval = get("interval").as_u64();
            let age = interval.zip(arguments.get("datepart").and_then(Value::as_str));
            match age.and_then(|(count, part)| length(count, part)) {
                Some(age) => (Kind::Freshness, params([("column", get("field")), ("max_age", json!(age))])),
                None => return unsupported("its `datepart` is none of minute, hour, day and week"),
            }
        }
        _ => return expected(name, column, arguments),
    })
}

/// A test of `dbt_expectations`.
fn expected(name: &str, column: Option<String>, arguments: &Map<String, Value>) -> Result<Made, NotMapped> {
    let Some(expectation) = name.strip_prefix("dbt_expectations.") else {
        let reason = "it is a test of the project's own; write it as a check with `kind` sql, hint or python";
        return Err(NotMapped::Unsupported(reason.to_owned()));
    };
    let mut kwargs = arguments.clone();
    if let Some(column) = column {
        kwargs.entry("column").or_insert(json!(column));
    }
    for (theirs, ours) in
        [("column_type", "type_"), ("column_type_list", "type_list"), ("group_by_columns", "group_by")]
    {
        if let Some(value) = kwargs.remove(theirs) {
            kwargs.insert(ours.to_owned(), value);
        }
    }
    let expected = map_expectation(expectation, &kwargs)?;
    if !expected.left.is_empty() {
        let names: Vec<_> = expected.left.keys().map(|name| name.trim_start_matches("gx_")).collect();
        return Err(NotMapped::Unsupported(format!("nothing here means `{}`", names.join("`, `"))));
    }
    Ok((expected.kind, expected.params))
}

/// A reference to another table; with conditions, the SELECT that finds what refers to nothing.
fn related(
    columns: &Value,
    table: &str,
    arguments: &Map<String, Value>,
    chosen: Option<&str>,
) -> Result<Made, NotMapped> {
    let field = arguments.get("field").and_then(Value::as_str);
    let (Some(to), Some(field)) = (arguments.get("to").and_then(referenced), field) else {
        let reason = "the table that it refers to is not written as ref('…') or source('…', '…')";
        return Err(NotMapped::Unsupported(reason.to_owned()));
    };
    let condition = |key: &str| match arguments.get(key).and_then(Value::as_str) {
        None => Ok(None),
        Some(text) => sql::filled(text)
            .map(|(text, _)| Some(text))
            .map_err(|why| NotMapped::Unsupported(why.to_owned())),
    };
    let (from, there) = (condition("from_condition")?, condition("to_condition")?);
    if from.is_none() && there.is_none() {
        let references = json!({"table": to, "columns": [field]});
        return Ok((Kind::ForeignKey, params([("columns", columns.clone()), ("references", references)])));
    }
    let own = columns.get(0).and_then(Value::as_str).unwrap_or_default();
    let all: Vec<&str> = [from.as_deref(), chosen].into_iter().flatten().collect();
    let all: Vec<String> = all.into_iter().map(|one| format!("({one})")).collect();
    let from = if all.is_empty() { "true".to_owned() } else { all.join(" AND ") };
    let (own, field) = (sql::quoted(own), sql::quoted(field));
    let query = format!(
        "SELECT * FROM (SELECT * FROM {} WHERE {from}) AS chosen WHERE {own} IS NOT NULL AND {own} NOT IN (SELECT {field} FROM {} WHERE {field} IS NOT NULL AND ({}))",
        sql::quoted(table),
        sql::quoted(&to),
        there.as_deref().unwrap_or("true")
    );
    Ok((Kind::Sql, params([("query", json!(query))])))
}

/// The table inside `ref('orders')` or `source('shop', 'orders')`.
fn referenced(to: &Value) -> Option<String> {
    let text = to.as_str()?.trim().trim_start_matches("{{").trim_end_matches("}}").trim();
    let inside = text.strip_prefix("ref(").or_else(|| text.strip_prefix("source("))?.strip_suffix(')')?;
    let name = inside.split(',').next_back()?.trim().trim_matches(['\'', '"']);
    (!name.is_empty()).then(|| name.to_owned())
}

/// `>10` as a count of failing rows.
fn threshold(condition: &str) -> Option<Threshold> {
    let condition = condition.trim();
    let count = if let Some(least) = condition.strip_prefix(">=") {
        least.trim().parse::<u64>().ok()?.checked_sub(1)?
    } else if let Some(above) = condition.strip_prefix('>') {
        above.trim().parse().ok()?
    } else if matches!(condition.replace(' ', "").as_str(), "!=0" | "<>0") {
        0
    } else {
        return None;
    };
    Some(Threshold { count: Some(count), percent: None })
}

/// Whether a text is a test that is one SELECT.
pub(super) fn is_singular(text: &str) -> bool {
    let without = without_config(text).0;
    let mut lines = without.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("--"));
    let first = lines.next().unwrap_or_default().to_ascii_lowercase();
    ["select", "with"].iter().any(|word| first.split_whitespace().next() == Some(word))
}

/// The text without its `{{ config(…) }}`, and the settings there.
fn without_config(text: &str) -> (String, Option<&str>) {
    let Some(at) = text.find("{{") else { return (text.to_owned(), None) };
    let inside = &text[at + 2..];
    let config = inside.split_once("}}").filter(|(call, _)| call.trim().starts_with("config("));
    let Some((call, after)) = config else { return (text.to_owned(), None) };
    let settings = call.trim().strip_prefix("config(").and_then(|rest| rest.strip_suffix(')'));
    (format!("{}{after}", &text[..at]), settings)
}

/// A test that is one SELECT: what it finds breaks the rule.
pub(super) fn import_singular(text: &str, table: Option<&str>) -> Imported {
    let mut imported = Imported::default();
    let (body, settings) = without_config(text);
    let mut config = Map::new();
    for setting in settings.unwrap_or_default().split(',').filter(|setting| !setting.trim().is_empty()) {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        config.insert(key.trim().to_owned(), json!(value.trim().trim_matches(['\'', '"'])));
    }
    let place = table.unwrap_or("(a test)");
    let read = sql::filled(&body);
    let tables: Vec<String> = match &read {
        Ok((_, tables)) if !tables.is_empty() => tables.clone(),
        _ => vec![place.to_owned()],
    };
    let unknown = config
        .keys()
        .find(|key| !is_known_setting(key))
        .map(|key| format!("nothing here means its setting `{key}`"));
    let made = match (read, unknown, grades(&config)) {
        (Err(why), _, _) => Err(why.to_owned()),
        (_, Some(why), _) | (_, _, Err(why)) => Err(why),
        (Ok((query, _)), None, Ok(grades)) => Ok((query, grades)),
    };
    for key in config.keys() {
        let why = match &made {
            _ if STORAGE.contains(&key.as_str()) => Some("it says nothing about the data"),
            Err(_) => Some("its test is turned off"),
            Ok(_) => None,
        };
        imported.account(place, key, why);
    }
    match made {
        Ok((query, (warn_if, fail_if))) => {
            let mut check = draft::check(&tables[0], None, Kind::Sql, params([("query", json!(query))]));
            check.target_table.clone_from(&tables);
            (check.warn_if, check.fail_if) = (warn_if, fail_if);
            settle(&mut check, &config, "singular");
            imported.checks.push(check);
        }
        Err(reason) => imported.turn_off("a SELECT", &tables[0], &tables, reason, &json!(text)),
    }
    imported
}
