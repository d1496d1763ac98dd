//! Rules about a table as SQL: for SQLite and PostgreSQL, which keep tables, and for DuckDB, by which a cell looks at mapped
//! files.
//!
//! Invariant: there is SQL for a rule only where the database finds in the same rows exactly what pandas finds, gaps, signs of
//! zero and the order of texts included. For every other rule there is none, and its rows are looked at in a cell.

mod judge;
mod tests_of_rows;

use std::collections::BTreeSet;

use ordain_types::{Asked, ColumnType, RuleSql, Schema, Step, TableRule};

use crate::sql::{Datum, Dialect, literal, quoted};

/// The place of a row in its table, from zero.
const ROW: &str = "ordain_row";

/// The SQL of a rule for DuckDB, over tables in the schema `ordain_rows` that have a column `ordain_row` besides their own.
///
/// Where rows are compared with each other, `$part` of `$parts` is looked at: rows that are alike are in the same part.
pub fn duckdb_rule(rule: &TableRule, schema: &Schema) -> Option<RuleSql> {
    let held = |table: &str, column: &str| {
        Some(match schema.table(table)?.column(column)?.column_type {
            ColumnType::Text => Held::Text,
            ColumnType::Integer => Held::Integer,
            ColumnType::Real => Held::Real,
            ColumnType::Boolean => Held::Boolean,
            ColumnType::Timestamp => Held::Time,
            ColumnType::Decimal | ColumnType::Json | ColumnType::Any => return None,
        })
    };
    let source = |table: &str| format!("ordain_rows.{}", quoted(table));
    let mut writer = Writer::new(rule, None, &held, &source);
    writer.rule()
}

/// What the values of a column are to a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Text,
    Integer,
    Real,
    Boolean,
    Time,
    /// Whether there is a value is all that can be told.
    Opaque,
}

/// Writes the SQL of one rule. Whatever cannot be written exactly gives `None`.
struct Writer<'a> {
    rule: &'a TableRule,
    /// `None` is DuckDB.
    dialect: Option<Dialect>,
    /// What a column of a table holds.
    held: &'a dyn Fn(&str, &str) -> Option<Held>,
    /// A table with the places of its rows.
    source: &'a dyn Fn(&str) -> String,
    params: Vec<Datum>,
    /// The condition that chooses a part of the rows, where they are compared with each other.
    part: Option<String>,
}

impl<'a> Writer<'a> {
    fn new(
        rule: &'a TableRule,
        dialect: Option<Dialect>,
        held: &'a dyn Fn(&str, &str) -> Option<Held>,
        source: &'a dyn Fn(&str) -> String,
    ) -> Self {
        Self { rule, dialect, held, source, params: Vec::new(), part: None }
    }

    fn rule(&mut self) -> Option<RuleSql> {
        // Only a file holds values that cannot be read, among which rows are looked for.
        let rows = if self.dialect.is_none() { self.rows(&[], ROW)? } else { String::new() };
        let marks_rows = !matches!(self.rule.asks, Asked::Share(_) | Asked::Filled { .. });
        Some(RuleSql { found: self.found()?, marks_rows, rows })
    }

    fn found(&mut self) -> Option<String> {
        Some(match &self.rule.asks {
            Asked::Every(test) => {
                let must = self.test(test)?;
                let rows = self.rows(&[], &format!("{ROW}, {must} AS must"))?;
                format!("SELECT {ROW}, must IS NOT NULL AS judged, NOT must AS failing FROM ({rows}) AS r")
            }
            Asked::Unique(columns) => self.repeated(columns)?,
            Asked::Known { columns, table, references } => self.unknown(columns, table, references)?,
            Asked::Decided { by, columns } => self.undecided(by, columns)?,
            Asked::Follows { column, by, order_by, breaks } => {
                self.steps(column, by, order_by.as_deref(), *breaks)?
            }
            Asked::Share(test) => {
                let test = self.test(test)?;
                self.figures(&[("holds", format!("count(CASE WHEN {test} THEN 1 END)"))])?
            }
            Asked::Filled { column: None, .. } => self.figures(&[])?,
            Asked::Filled { column: Some(column), distinct } => {
                let held = self.held(column)?;
                let column = quoted(column);
                let mut figures = vec![("filled", format!("count({column})"))];
                if *distinct {
                    if held == Held::Opaque {
                        return None;
                    }
                    figures.push(("distinct", format!("count(DISTINCT {column})")));
                    self.part = self.part_of(&[(column, held)]);
                }
                self.figures(&figures)?
            }
        })
    }

    /// The rows to which the rule applies and that have values in some columns.
    fn rows(&mut self, filled: &[String], selected: &str) -> Option<String> {
        let mut conditions = match &self.rule.when {
            Some(when) => vec![self.test(when)?],
            None => Vec::new(),
        };
        conditions.extend(self.part.clone());
        conditions.extend(filled.iter().map(|column| format!("{} IS NOT NULL", quoted(column))));
        let conditions = if conditions.is_empty() {
            String::new()
        } else {
            format!(" WHERE {}", conditions.join(" AND "))
        };
        Some(format!("SELECT {selected} FROM {} AS s{conditions}", (self.source)(&self.rule.table)))
    }

    /// The condition that a row is in the part that is looked at, by the values of some columns. A cell has little memory;
    /// the other databases manage their own.
    fn part_of(&self, columns: &[(String, Held)]) -> Option<String> {
        let values = columns.iter().map(|(column, held)| match held {
            // Whole numbers with gaps are kept as fractions, and both signs of zero are alike.
            Held::Integer | Held::Real => format!("{} + 0.0", self.double(column)),
            _ => column.clone(),
        });
        let values = values.collect::<Vec<_>>().join(", ");
        // Without their type the numbers are taken for wider ones, and dividing those took 27 times as long.
        let part = format!("hash({values}) % CAST($parts AS UBIGINT) = CAST($part AS UBIGINT)");
        self.dialect.is_none().then_some(part)
    }

    /// Marks rows whose values are found elsewhere: in a list of keys `k0`, `k1` …
    fn found_in(&mut self, columns: &[String], keys: &str, on: &[String], failing: &str) -> Option<String> {
        let selected: BTreeSet<String> = columns.iter().map(|column| quoted(column)).collect();
        let selected = selected.into_iter().collect::<Vec<_>>().join(", ");
        let rows = self.rows(columns, &format!("{ROW}, {selected}"))?;
        Some(format!(
            "SELECT r.{ROW}, 1 = 1 AS judged, k.k0 IS {failing} AS failing FROM ({rows}) AS r \
             LEFT JOIN ({keys}) AS k ON {}",
            on.join(" AND ")
        ))
    }

    fn repeated(&mut self, columns: &[String]) -> Option<String> {
        self.part = self.part_of(&self.all_comparable(columns)?);
        let keys = self.rows(columns, &keys_of(columns))?;
        let keys = format!("{keys} GROUP BY {} HAVING count(*) > 1", listed(columns));
        self.found_in(columns, &keys, &same(columns), "NOT NULL")
    }

    fn undecided(&mut self, by: &[String], columns: &[String]) -> Option<String> {
        self.part = self.part_of(&self.all_comparable(by)?);
        for column in columns {
            // PostgreSQL orders no truth values.
            if self.comparable(column)? == Held::Boolean {
                return None;
            }
        }
        let all = [by, columns].concat();
        let differ = columns.iter().map(|column| format!("min({0}) <> max({0})", quoted(column)));
        let differ = differ.collect::<Vec<_>>().join(" OR ");
        let keys = self.rows(&all, &keys_of(by))?;
        let keys = format!("{keys} GROUP BY {} HAVING {differ}", listed(by));
        self.found_in(&all, &keys, &same(by), "NOT NULL")
    }

    fn unknown(&mut self, columns: &[String], table: &str, references: &[String]) -> Option<String> {
        let (mut on, mut theirs_held) = (Vec::new(), Vec::new());
        self.part = self.part_of(&self.all_comparable(columns)?);
        for (number, (ours, theirs)) in columns.iter().zip(references).enumerate() {
            let (left, right) = (format!("r.{}", quoted(ours)), format!("k.k{number}"));
            let held = (self.held)(table, theirs)?;
            theirs_held.push((quoted(theirs), held));
            on.push(match (self.held(ours)?, held) {
                (Held::Text, Held::Text) | (Held::Integer, Held::Integer) | (Held::Real, Held::Real) => {
                    format!("{left} = {right}")
                }
                (Held::Integer, Held::Real) | (Held::Real, Held::Integer) => {
                    format!("{} = {}", self.double(&left), self.double(&right))
                }
                _ => return None,
            });
        }
        let mut filled: Vec<String> =
            references.iter().map(|name| format!("{} IS NOT NULL", quoted(name))).collect();
        filled.extend(self.part_of(&theirs_held));
        let keys = format!(
            "SELECT DISTINCT {} FROM {} AS s WHERE {}",
            keys_of(references),
            (self.source)(table),
            filled.join(" AND ")
        );
        self.found_in(columns, &keys, &on, "NULL")
    }

    fn steps(&mut self, column: &str, by: &[String], order_by: Option<&str>, breaks: Step) -> Option<String> {
        let groups = self.all_comparable(by)?;
        if !groups.is_empty() {
            self.part = self.part_of(&groups);
        }
        if let Some(name) = order_by {
            self.comparable(name)?;
        }
        let held = self.comparable(column)?;
        if held == Held::Boolean || order_by.is_some_and(|name| self.held(name) == Some(Held::Boolean)) {
            return None;
        }
        let broken = self.broken(held, breaks);
        let mut order: Vec<String> = order_by
            .map(|name| {
                let held = self.held(name);
                format!("{} NULLS LAST", self.ordered(held, &quoted(name)))
            })
            .into_iter()
            .collect();
        // DuckDB reads rows in their order, and need not sort them.
        if self.dialect.is_some() || order_by.is_some() || !by.is_empty() {
            order.push(ROW.to_owned());
        }
        let mut over: Vec<String> = Vec::new();
        if !by.is_empty() {
            over.push(format!("PARTITION BY {}", listed(by)));
        }
        if !order.is_empty() {
            over.push(format!("ORDER BY {}", order.join(", ")));
        }
        let value = quoted(column);
        let selected = format!("{ROW}, {value} AS value, lag({value}) OVER ({}) AS before", over.join(" "));
        let rows = self.rows(&[column.to_owned()], &selected)?;
        Some(format!("SELECT {ROW}, 1 = 1 AS judged, {broken} AS failing FROM ({rows}) AS r"))
    }

    fn broken(&self, held: Held, breaks: Step) -> String {
        let (value, before) = (self.ordered(Some(held), "value"), "before");
        let operator = match breaks {
            Step::Falls => "<",
            Step::DoesNotRise => "<=",
            Step::Rises => ">",
            Step::DoesNotFall => ">=",
        };
        format!("{value} {operator} {before}")
    }

    fn figures(&mut self, more: &[(&str, String)]) -> Option<String> {
        let mut selected = "count(*) AS \"rows\"".to_owned();
        for (name, figure) in more {
            selected = format!("{selected}, {figure} AS \"{name}\"");
        }
        self.rows(&[], &selected)
    }

    fn held(&self, column: &str) -> Option<Held> {
        (self.held)(&self.rule.table, column)
    }

    /// What a column holds, if its values can be told apart.
    fn comparable(&self, column: &str) -> Option<Held> {
        self.held(column).filter(|held| *held != Held::Opaque)
    }

    fn all_comparable(&self, columns: &[String]) -> Option<Vec<(String, Held)>> {
        columns.iter().map(|column| Some((quoted(column), self.comparable(column)?))).collect()
    }

    /// Text in the order of its code points, which is Python's, SQLite's and DuckDB's.
    fn ordered(&self, held: Option<Held>, expression: &str) -> String {
        if held == Some(Held::Text) && self.dialect == Some(Dialect::Postgres) {
            format!("{expression} COLLATE \"C\"")
        } else {
            expression.to_owned()
        }
    }

    fn double(&self, expression: &str) -> String {
        let name = if self.dialect == Some(Dialect::Sqlite) { "REAL" } else { "DOUBLE PRECISION" };
        format!("CAST({expression} AS {name})")
    }

    /// A number with a fraction. SQLite reads digits less exactly than it takes a parameter.
    fn real(&mut self, value: f64) -> String {
        match self.dialect {
            Some(dialect) => self.param(dialect, Datum::Real(value), "double precision"),
            None => format!("CAST('{value:?}' AS DOUBLE)"),
        }
    }

    fn text(&mut self, text: &str) -> Option<String> {
        if text.contains('\0') {
            return None;
        }
        Some(match self.dialect {
            Some(dialect) => self.param(dialect, Datum::Text(text.to_owned()), "text"),
            None => literal(text),
        })
    }

    fn param(&mut self, dialect: Dialect, value: Datum, cast: &str) -> String {
        self.params.push(value);
        let number = self.params.len();
        match dialect {
            Dialect::Sqlite => format!("?{number}"),
            Dialect::Postgres => format!("${number}::text::{cast}"),
        }
    }
}

/// Columns as the keys `k0`, `k1` …
fn keys_of(columns: &[String]) -> String {
    let keys = columns.iter().enumerate().map(|(number, column)| format!("{} AS k{number}", quoted(column)));
    keys.collect::<Vec<_>>().join(", ")
}

fn listed(columns: &[String]) -> String {
    columns.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(", ")
}

/// Each of the columns equals its key.
fn same(columns: &[String]) -> Vec<String> {
    let equal = |(number, column): (usize, &String)| format!("r.{} = k.k{number}", quoted(column));
    columns.iter().enumerate().map(equal).collect()
}
