//! Rules about columns without a value, whose types nobody can tell: an empty delivery, or a column that is empty in every row.

use std::collections::BTreeMap;

use ordain_types::ColumnType;
use serde_json::json;

use crate::catalogue::Kind;
use crate::compile::Readiness;
use crate::kinds;
use crate::results::no_rows;
use crate::tables::{TableFacts, TableState, Tables};
use crate::{Check, Checks, SkipReason};

impl Checks {
    /// What becomes of a rule that does not compile, where it would if its columns without a value had the types that it asks
    /// for: there is nothing to judge.
    pub(crate) fn without_values(&self, check: &Check, tables: &Tables) -> Option<Readiness> {
        let mut known = check.target_table.iter().filter_map(|name| tables.ready(name));
        let facts = known.find(|facts| facts.columns_without_values().next().is_some())?;
        if check.kind == Kind::Transform {
            return None;
        }
        let types = [
            (ColumnType::Real, "real"),
            (ColumnType::Timestamp, "timestamp"),
            (ColumnType::Boolean, "boolean"),
        ];
        for (column_type, reading) in types {
            let tables = tables.with_empty_columns_as(check, column_type, reading);
            let does_compile = if check.is_words() {
                self.can_read(check, &tables)
            } else {
                kinds::compile(check, tables.schema()).is_ok()
            };
            if does_compile && facts.rows == 0 {
                let is_judged = check.target_table.first() == Some(&facts.table.name);
                let words = no_rows(&facts.table.name);
                return Some(if is_judged {
                    Readiness::NoRows
                } else {
                    Readiness::Skipped(SkipReason::EmptyTable, words)
                });
            }
            if does_compile {
                let empty: Vec<String> =
                    facts.columns_without_values().map(|name| format!("`{name}`")).collect();
                let words = format!(
                    "no row of `{0}` has a value in {1}, so nobody knows what such a value is; declare the types under `[data.{0}.columns]`",
                    facts.table.name,
                    empty.join(", ")
                );
                return Some(Readiness::Skipped(SkipReason::NotCompiled, words));
            }
        }
        None
    }
}

impl TableFacts {
    fn columns_without_values(&self) -> impl Iterator<Item = &String> {
        let is_empty = |share: f64| self.rows == 0 || share >= 1.0;
        self.columns.iter().filter(move |column| is_empty(column.null_share)).map(|column| &column.name)
    }

    /// The same table, its columns without a value being of a type.
    fn with_empty_columns_as(&self, column_type: ColumnType, reading: &str) -> Self {
        let mut facts = self.clone();
        for name in self.columns_without_values() {
            for column in facts.table.columns.iter_mut().filter(|column| column.name == *name) {
                column.column_type = column_type;
            }
            for column in facts.columns.iter_mut().filter(|column| column.name == *name) {
                (column.column_type, column.reading) = (column_type, json!({ "type": reading }));
            }
        }
        facts
    }
}

impl Tables {
    fn with_empty_columns_as(&self, check: &Check, column_type: ColumnType, reading: &str) -> Self {
        let known = check.target_table.iter().filter_map(|name| Some((name, self.ready(name)?)));
        let states: BTreeMap<String, TableState> = known
            .map(|(name, facts)| {
                let facts = facts.with_empty_columns_as(column_type, reading);
                (name.clone(), TableState::Ready(Box::new(facts)))
            })
            .collect();
        let mut tables = Self { states, ..self.clone() };
        tables.gather_schema(self.judged_by.policy.clone());
        tables
    }
}
