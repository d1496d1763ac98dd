//! Built-in kinds: each compiles to plain pandas, without a model.
//!
//! [`compile`] gives code that a person can read: it takes its table by `frame`, marks the rows that it judges and the
//! rows that fail, and sets `result`. Columns are looked up in the schema first, so that a misspelt name is an error
//! with the nearest name and not an exception in a cell.
//!
//! The code names neither the check nor its owner, so that a change of those keeps it byte for byte.

mod cases;
mod condition;
mod emit;
mod figures;
mod filter;
mod literal;
mod pairs;
mod params;
mod references;
mod shapes;
mod spread;
mod sql;
mod transform;
mod values;

use std::collections::BTreeMap;

use ordain_types::{RuleSql, Schema, Table, TableRule, Test};
use serde::{Deserialize, Serialize};

use crate::catalogue::Kind;
use crate::check::Check;
use emit::Code;
use params::Params;

pub use filter::variables;
pub use params::CompileError;
pub(crate) use params::wrong_params;
pub(crate) use sql::is_statement;
pub use transform::{Output, no_rows, output, with_output, with_table};

/// What a kind compiles to.
#[derive(Debug, Clone, PartialEq)]
pub struct CompiledKind {
    /// The Python.
    pub code: String,
    /// What it does, as a structured plan.
    pub plan: CheckPlan,
    /// The same for a database that judges the rows where they are; `None` where only pandas can tell.
    pub by_sql: Option<BySql>,
}

/// A rule that a database judges, and the code that makes a result of what it counted.
#[derive(Debug, Clone, PartialEq)]
pub struct BySql {
    /// The rule.
    pub rule: TableRule,
    /// The judged columns that may hold values which cannot be read as their type.
    pub unread: Vec<String>,
    /// Whether rows with such a value pass.
    pub lets_unread_pass: bool,
    before: String,
    after: String,
}

impl BySql {
    /// The program that makes the result from what a cell's own database finds with these statements.
    pub fn in_cell(&self, sql: &RuleSql) -> String {
        let texts = [&self.rule.table, &sql.found, &sql.rows].map(|text| literal::text(text));
        let unread = literal::names(&self.unread);
        let (how, more) = match (sql.marks_rows, self.lets_unread_pass) {
            (false, _) => ("figures", ""),
            (true, false) => ("judged", ", \"fail\""),
            (true, true) => ("judged", ", \"pass\""),
        };
        format!("{}counted = frame.{how}({}, {unread}{more})\n{}", self.before, texts.join(", "), self.after)
    }

    /// The program that makes the result from what was counted before it runs, given as `inputs`.
    pub fn given(&self) -> String {
        format!("{}counted = inputs[\"counted\"]\n{}", self.before, self.after)
    }
}

/// What the code of a check does: the first of the two stages in which a check is planned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckPlan {
    /// The rule, in one sentence.
    pub intent: String,
    /// The tables that are looked at.
    pub tables: Vec<String>,
    /// The columns that are looked at, by table.
    pub columns: BTreeMap<String, Vec<String>>,
    /// What is done, one thing after the other.
    pub steps: Vec<String>,
    /// What comes out.
    pub output: String,
    /// Whether it judges the table itself, its columns or the number of its rows, so that no rows are an answer too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub judges_empty: bool,
    /// Values on both sides of its bounds, and what becomes of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<String>,
}

/// Compiles a check of a built-in kind against the tables that there are.
pub fn compile(check: &Check, schema: &Schema) -> Result<CompiledKind, CompileError> {
    let mut params = Params::new(check);
    let compiled = match check.kind {
        Kind::Sql => sql::compile(check, &mut params, schema),
        Kind::Python => python(check, &mut params),
        Kind::Transform => transform::compile(check, &mut params),
        Kind::ReconcileTotals => figures::reconcile_totals(&mut params, schema),
        Kind::ReconcileRows => references::reconcile_rows(&mut params, schema),
        _ => on_one_table(check, &mut params, schema),
    }?;
    params.finish()?;
    Ok(compiled)
}

/// Values on both sides of the bounds of a condition that every row must meet, and what becomes of them.
pub fn cases(must: &Test, table: &Table) -> Vec<String> {
    let params = serde_json::Map::from_iter([("must".to_owned(), serde_json::json!(must))]);
    cases::of(&Check::new(String::new(), &table.name, Kind::Condition, params), table)
}

/// The lines that leave those rows of a table in `rows` that meet a filter, after `rows` was taken.
pub fn filter_lines(filter: &str, table: &Table) -> Result<Vec<String>, CompileError> {
    filter::check(filter, table)?;
    let mut code = Code::new(table);
    code.filter(filter, table);
    Ok(code.into_lines())
}

fn on_one_table(
    check: &Check,
    params: &mut Params<'_>,
    schema: &Schema,
) -> Result<CompiledKind, CompileError> {
    let table = params::table(schema, check.target_table.first().map_or("", String::as_str))?;
    let mut code = Code::new(table);
    if let Some(filter) = &check.filter {
        filter::check(filter, table)?;
        code.filter(filter, table);
    }
    condition::when(&mut code, params, table)?;
    match check.kind {
        Kind::NotNull => values::not_null(&mut code, params, table),
        Kind::Unique => values::unique(&mut code, params, table),
        Kind::InSet => values::in_set(&mut code, params, table),
        Kind::Range => values::range(&mut code, params, table),
        Kind::Length => values::length(&mut code, params, table),
        Kind::Regex => values::regex(&mut code, params, table),
        Kind::Dtype => shapes::dtype(&mut code, params, table),
        Kind::Schema => shapes::schema(&mut code, params),
        Kind::ForeignKey => references::foreign_key(&mut code, params, table, schema),
        Kind::FunctionalDependency => references::functional_dependency(&mut code, params, table),
        Kind::TwoColumns => pairs::two_columns(&mut code, params, table),
        Kind::Monotonic => pairs::monotonic(&mut code, params, table),
        Kind::RowCount => figures::row_count(&mut code, params, table, schema),
        Kind::Freshness => figures::freshness(&mut code, params, table),
        Kind::Aggregate => figures::aggregate(&mut code, params, table),
        Kind::Anomaly => figures::anomaly(&mut code, params, table),
        Kind::Condition => condition::condition(&mut code, params, table),
        Kind::Distribution => spread::distribution(&mut code, params, table, schema),
        Kind::Hint
        | Kind::Sql
        | Kind::Python
        | Kind::Transform
        | Kind::ReconcileTotals
        | Kind::ReconcileRows => {
            Err(CompileError::param("a rule in words has no code of its own", "name a built-in kind"))
        }
    }?;
    let mut compiled = code.finish();
    compiled.plan.cases = cases::of(check, table);
    Ok(compiled)
}

/// Code of the owner's own, as it is.
fn python(check: &Check, params: &mut Params<'_>) -> Result<CompiledKind, CompileError> {
    let mut code = params.text("code")?;
    if !code.ends_with('\n') {
        code.push('\n');
    }
    let plan = CheckPlan {
        intent: check.description.clone(),
        tables: check.target_table.clone(),
        steps: vec!["run the code that the check gives".to_owned()],
        output: "what the code sets as `result`".to_owned(),
        ..CheckPlan::default()
    };
    Ok(CompiledKind { code, plan, by_sql: None })
}

/// Names of columns for a sentence.
fn spoken(columns: &[String]) -> String {
    columns.iter().map(|column| format!("`{column}`")).collect::<Vec<_>>().join(", ")
}

/// Whether a column holds numbers.
fn is_number(table: &Table, column: &str) -> bool {
    use ordain_types::ColumnType::{Boolean, Integer, Real};
    table.column(column).is_some_and(|column| matches!(column.column_type, Integer | Real | Boolean))
}
