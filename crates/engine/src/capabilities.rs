//! What code may reach outside of its cell: one list, made once, before its transaction begins.
//!
//! It is what the verifier saw in the text of the code, cut down by the policy and by the limits of who asked. The host
//! has every call read and judged by [`Capabilities::permit`] and carries out nothing else than what that gives. So code
//! that found a way around the verifier, or an executor that runs other code, gets no further than the text that was
//! judged.

use std::collections::{BTreeMap, BTreeSet};

use ordain_cell::{HostCall, HostError};
use ordain_store::Call;
use ordain_types::{Catalog, Changes, Row};
use ordain_verify::{Effects, Helpers, Policy, TableWrite};
use serde_json::{Map, Value};

use crate::host::refusal;

/// Calls of the table interface begin with this.
pub(crate) const TABLE_CALL: &str = "table.";
/// The call by which a stub asks for an action.
const ACTION_CALL: &str = "action.run";
/// The call by which a stub says what came of an action that its own cell ran.
const ACTION_DONE: &str = "action.done";
/// The call by which a stub asks for a tool.
const TOOL_CALL: &str = "tool.call";
/// The kind of the error that refuses a call.
pub(crate) const NOT_GRANTED: &str = "not_granted";
/// The name by which code asks queries.
const DATABASE: &str = "db";

/// Everything that code may reach.
#[derive(Debug, Clone, Default)]
pub(crate) struct Capabilities {
    /// The tables that may be read. `None`: any that plans see.
    reads: Option<BTreeSet<String>>,
    /// The tables that may be written, in which columns, and how.
    writes: BTreeMap<String, TableWrite>,
    /// Whether queries may be asked. They see the tables that may be read.
    sql: bool,
    /// The actions that may be called.
    actions: BTreeSet<String>,
    /// The verbs of tools that may be called, such as `mail.send`.
    tools: BTreeSet<String>,
    /// Whether it is an action in its plan's own cell, which says when it is done.
    is_action: bool,
}

/// A call that may be carried out.
#[derive(Debug)]
pub(crate) enum Permitted {
    /// Of a table, or a query.
    Table(Call),
    /// Of an action: its name and the values that it is given.
    Action(String, Map<String, Value>),
    /// The end of an action, with what came of it.
    ActionDone(Map<String, Value>),
    /// Of a verb of a tool.
    Tool { tool: String, verb: String, arguments: Map<String, Value> },
}

impl Capabilities {
    /// What a plan may reach: what its text says, with the tables that the helpers name which it calls. Actions are run by
    /// the host, so calling one lets the plan reach nothing else.
    pub(crate) fn of_plan(effects: &Effects, policy: &Policy, helpers: &Helpers, catalog: &Catalog) -> Self {
        let is_action = |name: &&String| catalog.actions.iter().any(|action| action.name == **name);
        let mut reads: BTreeSet<String> =
            effects.reads.keys().chain(effects.writes.keys()).cloned().collect();
        let mut writes = effects.writes.clone();
        let mut sql = effects.provided.contains(DATABASE);
        for name in effects.helpers.iter().filter(|name| !is_action(name)) {
            let used = &helpers.rests_on(name).words;
            sql |= used.contains(DATABASE);
            reads.extend(used.iter().cloned());
            if policy.helper(name).is_some_and(|helper| helper.may_write) {
                writes.extend(used.iter().map(|table| (table.clone(), any_write())));
            }
        }
        if policy.read_only || catalog.policy.changes == Changes::Actions {
            writes = BTreeMap::new();
        }
        let actions = effects.helpers.iter().filter(is_action).cloned().collect();
        // A program that only looks carries out nothing elsewhere either.
        let tools = if policy.read_only { BTreeSet::new() } else { effects.calls.clone() };
        let plan = Self { reads: Some(reads), writes, sql, actions, tools, is_action: false };
        match for_tools(effects, policy) {
            Some(tables) => plan.reading(tables),
            None => plan,
        }
    }

    /// What an action may reach: any table to read, and these to write.
    pub(crate) fn of_action(writes: &[String]) -> Self {
        let writes = writes.iter().map(|table| (table.clone(), any_write())).collect();
        Self { writes, sql: true, ..Self::default() }
    }

    /// The same for an action that runs in its plan's own cell, and says there when it is done.
    pub(crate) fn until_done(self) -> Self {
        Self { is_action: true, ..self }
    }

    /// Any table may be read, and none written.
    pub(crate) fn read_only() -> Self {
        Self { sql: true, ..Self::default() }
    }

    /// The same, where no other tables than these may be read.
    pub(crate) fn reading(mut self, tables: BTreeSet<String>) -> Self {
        self.reads = Some(match self.reads {
            Some(reads) => reads.intersection(&tables).cloned().collect(),
            None => tables,
        });
        self
    }

    /// The tables that queries see; `None`: any that plans see.
    pub(crate) fn readable(&self) -> Option<&BTreeSet<String>> {
        self.reads.as_ref()
    }

    /// Reads a call and permits it, if it is among these; refuses it otherwise.
    pub(crate) fn permit(&self, call: HostCall) -> Result<Permitted, HostError> {
        let HostCall { name, mut arguments } = call;
        let mut text = |part: &str| match arguments.remove(part) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        match name.as_str() {
            ACTION_CALL => {
                let action = text("name");
                if !self.actions.contains(&action) {
                    let hint = "call it by its name, as a function";
                    return Err(not_granted(&format!("call the action `{}`", shown(&action)), hint));
                }
                Ok(Permitted::Action(action, arguments))
            }
            ACTION_DONE if self.is_action => Ok(Permitted::ActionDone(arguments)),
            TOOL_CALL => {
                let (tool, verb) = (text("tool"), text("verb"));
                if !self.tools.contains(&format!("{tool}.{verb}")) {
                    let hint = "write `tools.NAME.verb(…)` where it is called";
                    return Err(not_granted("call this tool", hint));
                }
                Ok(Permitted::Tool { tool, verb, arguments })
            }
            name => {
                let Some(operation) = name.strip_prefix(TABLE_CALL) else {
                    let message = "plans can call tables, actions and tools, and nothing else";
                    return Err(HostError::new("unknown_function", message));
                };
                let call =
                    Call::parse(operation, Value::Object(arguments)).map_err(|error| refusal(&error))?;
                self.permit_table(&call)?;
                Ok(Permitted::Table(call))
            }
        }
    }

    fn permit_table(&self, call: &Call) -> Result<(), HostError> {
        match call {
            // The names of the tables are no secret.
            Call::Tables {} => Ok(()),
            // It is held against the readable tables where it is parsed.
            Call::Query { .. } if self.sql => Ok(()),
            Call::Query { .. } => Err(not_granted("ask queries", "write `db.query(…)` where it asks one")),
            Call::Search { table, .. }
            | Call::Get { table, .. }
            | Call::Count { table, .. }
            | Call::NextId { table } => {
                let is_granted = self.reads.as_ref().is_none_or(|tables| tables.contains(table));
                of_table(is_granted, "read", table)
            }
            Call::Insert { table, rows, .. } => {
                self.write("add rows to", table, |write| write.adds, rows.iter().flat_map(Row::names))
            }
            Call::Update { table, set, unset, .. } => self.write(
                "change",
                table,
                |write| write.changes,
                set.names().chain(unset.iter().map(String::as_str)),
            ),
            Call::UpdateRows { table, rows } => {
                let columns =
                    rows.iter().flat_map(|row| row.set.names().chain(row.unset.iter().map(String::as_str)));
                self.write("change", table, |write| write.changes, columns)
            }
            Call::Upsert { table, row, .. } => {
                self.write("add rows to and change", table, |write| write.adds && write.changes, row.names())
            }
            Call::Remove { table, .. } => {
                self.write("remove rows from", table, |write| write.removes, std::iter::empty())
            }
        }
    }

    fn write<'c>(
        &self,
        what: &str,
        table: &str,
        allows: impl Fn(&TableWrite) -> bool,
        mut columns: impl Iterator<Item = &'c str>,
    ) -> Result<(), HostError> {
        let write = self.writes.get(table).filter(|write| allows(write));
        of_table(write.is_some(), what, table)?;
        let is_known =
            |column: &&str| write.is_some_and(|write| write.whole || write.columns.contains(*column));
        match columns.find(|column| !is_known(column)) {
            Some(column) => of_table(false, "write", &format!("{table}.{column}")),
            None => Ok(()),
        }
    }
}

/// The tables that code may read, and what it calls, where it calls tools that are limited to some; `None` if it calls none.
pub(crate) fn for_tools(effects: &Effects, policy: &Policy) -> Option<BTreeSet<String>> {
    let is_called = |name: &str| effects.calls.iter().any(|call| call.split('.').next() == Some(name));
    let limited =
        policy.tools.iter().filter(|tool| is_called(&tool.name)).filter_map(|tool| tool.tables.as_ref());
    limited.cloned().reduce(|one, other| one.intersection(&other).cloned().collect())
}

/// Everything that may be written to a table.
fn any_write() -> TableWrite {
    TableWrite { adds: true, changes: true, removes: true, whole: true, ..TableWrite::default() }
}

fn of_table(is_granted: bool, what: &str, table: &str) -> Result<(), HostError> {
    if is_granted {
        return Ok(());
    }
    let hint = "call the table's methods by their names, on the table itself";
    Err(not_granted(&format!("{what} `{}`", shown(table)), hint))
}

fn not_granted(what: &str, hint: &str) -> HostError {
    HostError::new(NOT_GRANTED, format!("the code was judged not to {what}, so it may not; {hint}"))
}

fn shown(name: &str) -> String {
    name.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use ordain_types::{Column, ColumnType, Schema, Table};
    use ordain_verify::{Contract, verify};
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        let column = |name: &str| Column {
            name: name.to_owned(),
            column_type: ColumnType::Integer,
            nullable: true,
            hidden: false,
        };
        let table = |name: &str| Table {
            name: name.to_owned(),
            columns: vec![column("n"), column("pay")],
            ..Table::default()
        };
        Schema { tables: vec![table("stock"), table("people")] }
    }

    const HELPERS: &str = "def look():\n    return len(people_tbl)\n\n\ndef book():\n    people_tbl.insert({'n': 1})\n\n\n\
                           def count(table):\n    return len(table)\n";

    fn of(code: &str) -> Capabilities {
        let helpers = Helpers::from(HELPERS.to_owned());
        let policy = Policy { helpers: helpers.known().to_vec(), ..Policy::for_contract(Contract::Ask) };
        let effects = verify(code, &policy, &schema()).effects;
        Capabilities::of_plan(&effects, &policy, &helpers, &Catalog::default())
    }

    fn permit(code: &str, name: &str, arguments: Value) -> Result<Permitted, HostError> {
        let Value::Object(arguments) = arguments else { panic!("{arguments}") };
        of(code).permit(HostCall { name: name.to_owned(), arguments })
    }

    #[track_caller]
    fn check(code: &str, op: &str, table: &str, is_granted: bool) {
        let mut arguments = json!({ "table": table });
        match op {
            "get" => arguments["doc_ids"] = json!([1]),
            "insert" => arguments["rows"] = json!([{ "n": 1 }]),
            "update" => (arguments["all"], arguments["set"]) = (json!(true), json!({ "n": 1 })),
            "remove" => arguments["all"] = json!(true),
            _ => {}
        }
        let permitted = permit(code, &format!("table.{op}"), arguments);
        assert_eq!(permitted.is_ok(), is_granted, "{op} {table}: {code} {permitted:?}");
    }

    const COUNTS: &str = "answer_text = str(len(stock_tbl))\nSTATUS = 'success'\n";

    #[test]
    fn a_plan_that_only_reads_may_not_write() {
        check(COUNTS, "count", "stock", true);
        check(COUNTS, "get", "people", false);
        for op in ["insert", "update", "remove"] {
            check(COUNTS, op, "stock", false);
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
    fn a_plan_that_counts_a_visit_may_not_set_a_salary() {
        let code = "people_tbl.update({'n': 1}, Query().n == 0)\nanswer_text = 'x'\nSTATUS = 'success'\n";
        let update = |set: Value| json!({ "table": "people", "all": true, "set": set });
        assert!(permit(code, "table.update", update(json!({ "n": 1 }))).is_ok());
        let refused = permit(code, "table.update", update(json!({ "n": 1, "pay": 9 }))).unwrap_err();
        assert!(refused.message.contains("`people.pay`"), "{}", refused.message);
        let unset = json!({ "table": "people", "all": true, "unset": ["pay"] });
        assert!(permit(code, "table.update", unset).is_err());
        let rows = json!({ "table": "people", "rows": [{ "doc_id": 1, "set": { "pay": 9 } }] });
        assert!(permit(code, "table.update_rows", rows).is_err());
    }

    #[test]
    fn a_plan_without_queries_may_ask_none() {
        let query = || json!({ "sql": "SELECT n FROM stock", "params": [] });
        assert!(permit(COUNTS, "table.query", query()).is_err());
        let asks = "answer_text = str(db.query('SELECT n FROM stock'))\nSTATUS = 'success'\n";
        let permitted = permit(asks, "table.query", query());
        assert!(permitted.is_ok(), "{permitted:?}");
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
    fn an_action_or_a_tool_that_the_code_does_not_name_may_not_be_called() {
        assert!(permit(COUNTS, "action.run", json!({ "name": "sell", "params": {} })).is_err());
        assert!(permit(COUNTS, "action.done", json!({ "result": {} })).is_err());
        let call = json!({ "tool": "mail", "verb": "send", "arguments": {} });
        assert!(permit(COUNTS, "tool.call", call).is_err());
        assert_eq!(permit(COUNTS, "files.read", json!({})).unwrap_err().kind, "unknown_function");
    }
}
