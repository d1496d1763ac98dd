//! The state in which a case leaves the tables: all of them, row by row, compared with the one that is expected.

use std::collections::BTreeMap;

use ordain_engine::EngineError;
use ordain_store::{BeginOptions, Call, Intent, Reply, Store};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::case::{plain, same};

/// Any value but none: for ids and times that are not known beforehand.
const ANY: &str = "*";
/// Differences that are listed of one case.
const LISTED_MAX: usize = 20;

/// Every row of every table, by table and key.
pub(super) type Tables = BTreeMap<String, BTreeMap<String, Map<String, Value>>>;

/// How a table differs from its seed in the end. A table that is not named is as it was.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TableEnd {
    /// Rows by key, and the columns of theirs that have another value.
    set: BTreeMap<String, BTreeMap<String, Value>>,
    /// New rows; a column that is not named has no value.
    added: Vec<BTreeMap<String, Value>>,
    /// Keys of rows that are gone.
    removed: Vec<String>,
}

/// Reads every table.
pub(super) async fn read(store: &Store) -> Result<Tables, EngineError> {
    let mut tables = Tables::new();
    let infos = store.tables().await?;
    let begin = BeginOptions { run_id: store.new_run_id()?, intent: Intent::Read };
    let mut transaction = store.begin(begin).await?;
    for info in infos.into_iter().filter(|info| !info.table.hidden) {
        let (table, mut after, mut as_of) = (info.table, None, None);
        let rows = tables.entry(table.name.clone()).or_default();
        loop {
            let call = Call::Search { table: table.name.clone(), condition: None, after, as_of, limit: None };
            let Reply::Rows(page) = transaction.carry_out(call).await? else { break };
            (after, as_of) = (page.last, Some(page.as_of));
            for row in page.rows {
                let values = row.values.into_iter().map(Option::unwrap_or_default);
                let row: Map<String, Value> = page.columns.iter().cloned().zip(values).collect();
                let key = table.key.iter().map(|column| plain(&row[column])).collect::<Vec<_>>().join(",");
                rows.insert(key, row);
            }
            if !page.more {
                break;
            }
        }
    }
    transaction.roll_back().await?;
    Ok(tables)
}

/// What is wrong with the tables that a case left.
pub(super) fn judge(expected: &BTreeMap<String, TableEnd>, before: &Tables, after: &Tables) -> Vec<String> {
    let unknown = expected.keys().filter(|table| !before.contains_key(*table));
    let mut wrong: Vec<String> = unknown.map(|table| format!("{table}: there is no such table")).collect();
    let nothing = TableEnd::default();
    for (table, rows) in before {
        let expected = expected.get(table).unwrap_or(&nothing);
        let left = after.get(table).cloned().unwrap_or_default();
        judge_table(table, expected, rows.clone(), left, &mut wrong);
    }
    wrong.truncate(LISTED_MAX);
    wrong
}

type Rows = BTreeMap<String, Map<String, Value>>;

fn judge_table(table: &str, expected: &TableEnd, mut wanted: Rows, mut left: Rows, wrong: &mut Vec<String>) {
    for key in &expected.removed {
        if wanted.remove(key).is_none() {
            wrong.push(format!("{table} {key}: it was not there to be removed"));
        }
    }
    for (key, columns) in &expected.set {
        match wanted.get_mut(key) {
            Some(row) => row.extend(columns.iter().map(|(column, value)| (column.clone(), value.clone()))),
            None => wrong.push(format!("{table} {key}: there is no such row")),
        }
    }
    for (key, row) in wanted {
        let Some(found) = left.remove(&key) else {
            wrong.push(format!("{table} {key}: the row is gone"));
            continue;
        };
        for (column, value) in row {
            let found = found.get(&column).unwrap_or(&Value::Null);
            if !is_like(&value, found) {
                wrong.push(format!("{table} {key} {column}: expected {value}, got {found}"));
            }
        }
    }
    for row in &expected.added {
        let fits = left.iter().find(|(_, found)| is_row(row, found)).map(|(key, _)| key.clone());
        match fits {
            Some(key) => drop(left.remove(&key)),
            None => wrong.push(format!("{table}: no new row is like {}", serde_json::json!(row))),
        }
    }
    wrong.extend(left.into_values().map(|row| format!("{table}: not expected: {}", Value::Object(row))));
}

fn is_row(expected: &BTreeMap<String, Value>, found: &Map<String, Value>) -> bool {
    let is_known = |column: &String| found.contains_key(column);
    expected.keys().all(is_known)
        && found.iter().all(|(column, found)| is_like(expected.get(column).unwrap_or(&Value::Null), found))
}

fn is_like(expected: &Value, found: &Value) -> bool {
    if expected == ANY { !found.is_null() } else { same(expected, found) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tables(value: &Value) -> Tables {
        serde_json::from_value(value.clone()).unwrap()
    }

    fn check(expected: &Value, after: &Value) -> Vec<String> {
        let before = json!({ "orders": { "O1": { "id": "O1", "state": "open" }, "O2": { "id": "O2", "state": "open" } }, "notes": {} });
        judge(&serde_json::from_value(expected.clone()).unwrap(), &tables(&before), &tables(after))
    }

    #[test]
    fn whole_tables_are_compared_and_every_difference_is_named() {
        let after = json!({ "orders": { "O1": { "id": "O1", "state": "closed" }, "O2": { "id": "O2", "state": "open" } },
            "notes": { "N7": { "id": "N7", "text": "call", "on": null } } });
        let right = json!({ "orders": { "set": { "O1": { "state": "closed" } } },
            "notes": { "added": [{ "id": "*", "text": "call" }] } });
        assert_eq!(check(&right, &after), Vec::<String>::new());
        let wrong = check(&json!({ "orders": { "set": { "O2": { "state": "closed" } } } }), &after);
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        assert!(
            wrong[0].contains("notes: not expected") && wrong[2].contains("O2 state: expected \"closed\"")
        );
        let removed = check(&json!({ "orders": { "removed": ["O1", "O9"] } }), &after);
        assert!(removed.iter().any(|wrong| wrong.contains("O9: it was not there")), "{removed:?}");
        assert!(check(&json!({ "other": {} }), &after)[0].contains("no such table"));
    }
}
