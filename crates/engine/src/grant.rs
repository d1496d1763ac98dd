//! What code may do: what the verifier saw in its text, and nothing else.
//!
//! The verdict is made before the code runs; the host holds every call against it. So code that found a way around the
//! verifier, or an executor that runs other code, gets no further than the text that was judged.

use std::collections::{BTreeMap, BTreeSet};

use ordain_cell::HostError;
use ordain_store::Call;
use ordain_types::{Catalog, Changes};
use ordain_verify::{Effects, Helpers, Policy, TableWrite};

/// Which tables may be read, what may be written, and which actions called.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grant {
    /// `None`: any table that plans see.
    reads: Option<BTreeSet<String>>,
    /// The tables that may be written, and how.
    writes: BTreeMap<String, TableWrite>,
    /// The actions that may be called.
    actions: BTreeSet<String>,
}

/// Everything that may be written to a table.
fn any_write() -> TableWrite {
    TableWrite { adds: true, changes: true, removes: true, ..TableWrite::default() }
}

impl Grant {
    /// What a verdict says of a plan, with the tables that the helpers name which it calls. Actions are run by the host,
    /// so calling one grants the plan nothing else.
    pub(crate) fn of_plan(effects: &Effects, policy: &Policy, helpers: &Helpers, catalog: &Catalog) -> Self {
        let is_action = |name: &&String| catalog.actions.iter().any(|action| action.name == **name);
        let mut reads: BTreeSet<String> =
            effects.reads.keys().chain(effects.writes.keys()).cloned().collect();
        let mut writes = effects.writes.clone();
        for name in effects.helpers.iter().filter(|name| !is_action(name)) {
            let used = &helpers.rests_on(name).words;
            reads.extend(used.iter().cloned());
            let may_write = policy.helper(name).is_some_and(|helper| helper.may_write) && !policy.read_only;
            writes.extend(used.iter().filter(|_| may_write).map(|table| (table.clone(), any_write())));
        }
        if catalog.policy.changes == Changes::Actions {
            writes = BTreeMap::new();
        }
        let actions = effects.helpers.iter().filter(is_action).cloned().collect();
        let grant = Self { reads: Some(reads), writes, actions };
        match for_tools(effects, policy) {
            Some(tables) => grant.reading(tables),
            None => grant,
        }
    }

    /// The same, where no other tables than these may be read.
    pub(crate) fn reading(mut self, tables: BTreeSet<String>) -> Self {
        self.reads = Some(match self.reads {
            Some(reads) => reads.intersection(&tables).cloned().collect(),
            None => tables,
        });
        self
    }

    /// Refuses an action that the code was not judged to call.
    pub(crate) fn act(&self, action: &str) -> Result<(), HostError> {
        if self.actions.contains(action) {
            return Ok(());
        }
        let shown: String = action.chars().take(80).collect();
        let message = format!(
            "the code was judged not to call the action `{shown}`, so it may not; call it by its name, as a function"
        );
        Err(HostError::new("not_granted", message))
    }

    /// Any table may be read, and these written.
    pub(crate) fn writing(tables: &[String]) -> Self {
        let writes = tables.iter().map(|table| (table.clone(), any_write())).collect();
        Self { writes, ..Self::default() }
    }

    /// Any table may be read, and none written.
    pub(crate) fn read_only() -> Self {
        Self::default()
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
        let is_granted = self.writes.get(table).is_some_and(allows);
        granted(is_granted, what, table)
    }
}

/// The tables that code may read, and what it calls, where it calls tools that are limited to some; `None` if it calls none.
pub(crate) fn for_tools(effects: &Effects, policy: &Policy) -> Option<BTreeSet<String>> {
    let is_called = |name: &str| effects.calls.iter().any(|call| call.split('.').next() == Some(name));
    let limited =
        policy.tools.iter().filter(|tool| is_called(&tool.name)).filter_map(|tool| tool.tables.as_ref());
    limited.cloned().reduce(|one, other| one.intersection(&other).cloned().collect())
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
    use ordain_verify::{Contract, verify};
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

    const HELPERS: &str = "def look():\n    return len(people_tbl)\n\n\ndef book():\n    people_tbl.insert({'n': 1})\n\n\n\
                           def count(table):\n    return len(table)\n";

    fn grant(code: &str) -> Grant {
        let helpers = Helpers::from(HELPERS.to_owned());
        let policy = Policy { helpers: helpers.known().to_vec(), ..Policy::for_contract(Contract::Ask) };
        let effects = verify(code, &policy, &schema()).effects;
        Grant::of_plan(&effects, &policy, &helpers, &Catalog::default())
    }

    fn check(code: &str, op: &str, table: &str, is_granted: bool) {
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
        assert_eq!(grant(code).check(&call).is_ok(), is_granted, "{op} {table}: {code}");
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
    fn a_helper_may_use_the_tables_that_it_names_or_is_handed_and_no_other() {
        let looks = "answer_text = str(look())\nSTATUS = 'success'\n";
        check(looks, "get", "people", true);
        check(looks, "get", "stock", false);
        check(looks, "insert", "people", false);
        let books = "answer_text = str(book())\nSTATUS = 'success'\n";
        check(books, "remove", "people", true);
        check(books, "update", "stock", false);
        let counts = "answer_text = str(count(stock_tbl))\nSTATUS = 'success'\n";
        check(counts, "get", "stock", true);
        check(counts, "get", "people", false);
    }

    #[test]
    fn an_action_that_the_code_does_not_name_may_not_be_called() {
        let code = "answer_text = str(len(stock_tbl))\nSTATUS = 'success'\n";
        assert!(grant(code).act("sell").is_err());
    }
}
