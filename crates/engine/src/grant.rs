//! What code may do to the tables: what the verifier saw in its text, and nothing else.
//!
//! The verdict is made before the code runs; the host holds every call against it. So code that found a way around the
//! verifier, or an executor that runs other code, gets no further than the text that was judged.

use std::collections::{BTreeMap, BTreeSet};

use ordain_cell::HostError;
use ordain_store::Call;
use ordain_types::{Catalog, Changes};
use ordain_verify::{Effects, Policy, TableWrite};

/// Which tables may be read, and what may be written.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    /// `None`: any table that plans see.
    reads: Option<BTreeSet<String>>,
    /// `None`: any table that plans may write.
    writes: Option<BTreeMap<String, TableWrite>>,
}

impl Grant {
    /// What a verdict says of the code. A helper is the workspace's own and may use any table; whether it writes, it
    /// says itself.
    pub(crate) fn of(effects: &Effects, policy: &Policy) -> Self {
        let has_helpers = !effects.helpers.is_empty();
        let is_writer =
            |name: &String| policy.helpers.iter().any(|helper| helper.name == *name && helper.may_write);
        let helper_writes = effects.helpers.iter().any(is_writer);
        let used = effects.reads.keys().chain(effects.writes.keys());
        Self {
            reads: (!has_helpers).then(|| used.cloned().collect()),
            writes: (!helper_writes || policy.read_only).then(|| effects.writes.clone()),
        }
    }

    /// What a plan may do itself. Actions are run by the host, so calling one grants the plan nothing.
    pub(crate) fn of_plan(effects: &Effects, policy: &Policy, catalog: &Catalog) -> Self {
        let is_action = |name: &str| catalog.actions.iter().any(|action| action.name == name);
        let mut policy = policy.clone();
        policy
            .helpers
            .iter_mut()
            .filter(|helper| is_action(&helper.name))
            .for_each(|helper| helper.may_write = false);
        let mut grant = Self::of(effects, &policy);
        if catalog.policy.changes == Changes::Actions {
            grant.writes = Some(BTreeMap::new());
        }
        grant
    }

    /// Any table may be read, and these written.
    pub(crate) fn writing(tables: &[String]) -> Self {
        let all = TableWrite { adds: true, changes: true, removes: true, ..TableWrite::default() };
        Self { reads: None, writes: Some(tables.iter().map(|table| (table.clone(), all.clone())).collect()) }
    }

    /// Any table may be read, and none written.
    pub(crate) fn read_only() -> Self {
        Self { reads: None, writes: Some(BTreeMap::new()) }
    }

    /// The tables that SQL may name; `None`: any that plans see.
    pub(crate) fn readable(&self) -> Option<&BTreeSet<String>> {
        self.reads.as_ref()
    }

    /// Refuses a call that the code was not judged to make.
    pub(crate) fn check(&self, call: &Call) -> Result<(), HostError> {
        match call {
            // The names of the tables are no secret, and a query is held against the readable ones where it is parsed.
            Call::Tables {} | Call::Query { .. } => Ok(()),
            Call::Search { table, .. }
            | Call::Get { table, .. }
            | Call::Count { table, .. }
            | Call::NextId { table } => {
                let is_granted = self.reads.as_ref().is_none_or(|tables| tables.contains(table));
                granted(is_granted, "read", table)
            }
            Call::Insert { table, .. } => self.write("add rows to", table, |write| write.adds),
            Call::Update { table, .. } | Call::UpdateRows { table, .. } => {
                self.write("change", table, |write| write.changes)
            }
            Call::Upsert { table, .. } => {
                self.write("add rows to and change", table, |write| write.adds && write.changes)
            }
            Call::Remove { table, .. } => self.write("remove rows from", table, |write| write.removes),
        }
    }

    fn write(&self, what: &str, table: &str, allows: impl Fn(&TableWrite) -> bool) -> Result<(), HostError> {
        let is_granted = self.writes.as_ref().is_none_or(|writes| writes.get(table).is_some_and(allows));
        granted(is_granted, what, table)
    }
}

fn granted(is_granted: bool, what: &str, table: &str) -> Result<(), HostError> {
    if is_granted {
        return Ok(());
    }
    let shown: String = table.chars().take(80).collect();
    let message = format!(
        "the code was judged not to {what} `{shown}`, so it may not; call the table's methods by their names, on the \
         table itself"
    );
    Err(HostError::new("not_granted", message))
}

#[cfg(test)]
mod tests {
    use ordain_types::{Column, ColumnType, Schema, Table};
    use ordain_verify::{Contract, Helper, verify};
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        let table = |name: &str| Table {
            name: name.to_owned(),
            columns: vec![Column {
                name: "n".to_owned(),
                column_type: ColumnType::Integer,
                nullable: true,
                hidden: false,
            }],
            ..Table::default()
        };
        Schema { tables: vec![table("stock"), table("people")] }
    }

    fn check(code: &str, op: &str, table: &str, is_granted: bool) {
        let policy = Policy {
            helpers: vec![Helper::reads("look"), Helper::writes("book")],
            ..Policy::for_contract(Contract::Ask)
        };
        let effects = verify(code, &policy, &schema()).effects;
        let mut arguments = json!({ "table": table });
        match op {
            "get" => arguments["doc_ids"] = json!([1]),
            "insert" => arguments["rows"] = json!([{ "n": 1 }]),
            "update" | "remove" => arguments["all"] = json!(true),
            "upsert" => {
                arguments["row"] = json!({ "n": 1 });
                arguments["where"] = json!({ "op": "eq", "path": ["n"], "value": 1 });
            }
            _ => {}
        }
        let call = Call::parse(op, arguments).unwrap();
        assert_eq!(Grant::of(&effects, &policy).check(&call).is_ok(), is_granted, "{op} {table}: {code}");
    }

    #[test]
    fn a_plan_that_only_reads_may_not_write() {
        let code = "answer_text = str(len(stock_tbl))\nSTATUS = 'success'\n";
        check(code, "count", "stock", true);
        check(code, "get", "people", false);
        for op in ["insert", "update", "remove"] {
            check(code, op, "stock", false);
        }
    }

    #[test]
    fn a_plan_that_adds_rows_may_not_remove_any() {
        let code = "stock_tbl.insert({'n': 1})\nanswer_text = 'x'\nSTATUS = 'success'\n";
        check(code, "insert", "stock", true);
        check(code, "remove", "stock", false);
        check(code, "update", "stock", false);
        check(code, "insert", "people", false);
    }

    #[test]
    fn a_table_that_goes_out_of_sight_may_be_written_by_what_is_called_on_anything() {
        let code = "import json\nboxes = json.loads('[]')\nboxes.append(stock_tbl)\nfor box in boxes:\n    \
                    box.insert({'n': 1})\nanswer_text = 'x'\nSTATUS = 'success'\n";
        check(code, "insert", "stock", true);
        check(code, "insert", "people", false);
    }

    #[test]
    fn a_helper_may_use_any_table_and_writes_if_it_says_so() {
        let looks = "answer_text = str(look())\nSTATUS = 'success'\n";
        check(looks, "get", "people", true);
        check(looks, "insert", "people", false);
        let books = "answer_text = str(book())\nSTATUS = 'success'\n";
        check(books, "remove", "people", true);
    }
}
