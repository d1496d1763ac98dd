//! What a run changed, row by row.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Row;

/// The rows that a run added, changed and removed, by table. Tables without a change are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Diff {
    /// One part for each touched table.
    pub tables: BTreeMap<String, TableDiff>,
}

/// What changed in one table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TableDiff {
    /// Rows that were not there before.
    pub added: Vec<Row>,
    /// Rows that were there before and differ now.
    pub changed: Vec<RowChange>,
    /// Rows that are gone.
    pub removed: Vec<Row>,
}

/// One changed row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RowChange {
    /// What identifies the row: its key columns before the change, or its `doc_id` where no key is declared.
    pub key: Row,
    /// The row before the run.
    pub before: Row,
    /// The row after the run.
    pub after: Row,
}

impl Diff {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.tables.values().all(TableDiff::is_empty)
    }

    /// How many rows were added, changed or removed.
    pub fn rows(&self) -> usize {
        self.tables.values().map(TableDiff::rows).sum()
    }
}

/// A cell that is another than it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CellDifference {
    /// The table.
    pub table: String,
    /// Which row: the values of its key, or its place among the new rows.
    pub row: String,
    /// The column; without it the whole row is there once and not the other time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// What it was; nothing if it was not there.
    pub was: Option<Value>,
    /// What it is; nothing if it is not there.
    pub is: Option<Value>,
}

impl Diff {
    /// Where another diff of the same program differs from this one: what it leaves in cells, the rows that it touches, and
    /// cells in which the same value takes the place of another one than before, so that somebody's change would be lost.
    pub fn differences(&self, other: &Self) -> Vec<CellDifference> {
        let names = self.tables.keys().chain(other.tables.keys());
        let names: std::collections::BTreeSet<&String> = names.collect();
        let (mut differences, none) = (Vec::new(), TableDiff::default());
        for name in names {
            let [was, is] = [self, other].map(|diff| diff.tables.get(name).unwrap_or(&none));
            was.compare(is, name, &mut differences);
        }
        differences
    }
}

/// The values of a row's key, as people name the row. Several have commas in between; a comma or backslash within one of them
/// has a backslash before it, so that no two keys have one name.
pub fn row_name(key: &Row) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match key.fields.as_slice() {
        [(_, value)] => text(value),
        several => {
            let escaped = |value: &Value| text(value).replace('\\', "\\\\").replace(',', "\\,");
            several.iter().map(|(_, value)| escaped(value)).collect::<Vec<_>>().join(",")
        }
    }
}

/// The cells in which a row differs, by its own columns and those of the other one.
pub fn cells(table: &str, row: &str, was: Option<&Row>, is: Option<&Row>) -> Vec<CellDifference> {
    let whole = |row: Option<&Row>| row.and_then(|row| serde_json::to_value(row).ok());
    let difference = |column: Option<&str>, was, is| CellDifference {
        table: table.to_owned(),
        row: row.to_owned(),
        column: column.map(str::to_owned),
        was,
        is,
    };
    let (Some(before), Some(now)) = (was, is) else {
        return if was == is { Vec::new() } else { vec![difference(None, whole(was), whole(is))] };
    };
    let added = now.names().filter(|name| before.get(name).is_none());
    let names = before.names().chain(added).filter(|name| before.get(name) != now.get(name));
    names.map(|name| difference(Some(name), before.get(name).cloned(), now.get(name).cloned())).collect()
}

impl RowChange {
    /// The columns that it gives other values.
    fn written(&self) -> impl Iterator<Item = &str> {
        self.after.names().filter(|name| self.before.get(name) != self.after.get(name))
    }

    /// The row before, as far as either change writes it and both leave the same.
    fn overwritten_row(&self, other: &Self) -> Row {
        let is_written = |name: &str| self.written().chain(other.written()).any(|written| written == name);
        let is_same = |name: &str| self.after.get(name) == other.after.get(name);
        let fields = self.before.fields.iter().filter(|(name, _)| is_written(name) && is_same(name));
        Row { fields: fields.cloned().collect() }
    }

    /// The row afterwards, as far as either change writes it.
    fn written_row(&self, other: &Self) -> Row {
        let is_written = |name: &str| self.written().chain(other.written()).any(|written| written == name);
        let fields = self.after.fields.iter().filter(|(name, _)| is_written(name));
        Row { fields: fields.cloned().collect() }
    }
}

impl TableDiff {
    fn compare(&self, other: &Self, table: &str, differences: &mut Vec<CellDifference>) {
        let most = self.added.len().max(other.added.len());
        for place in 0..most {
            let row = format!("new row {}", place + 1);
            differences.extend(cells(table, &row, self.added.get(place), other.added.get(place)));
        }
        let find = |diff: &Self, key: &Row| diff.changed.iter().find(|change| change.key == *key).cloned();
        for change in &self.changed {
            let row = row_name(&change.key);
            match find(other, &change.key) {
                Some(now) => {
                    let (was, is) = (change.written_row(&now), now.written_row(change));
                    differences.extend(cells(table, &row, Some(&was), Some(&is)));
                    let (was, is) = (change.overwritten_row(&now), now.overwritten_row(change));
                    differences.extend(cells(table, &row, Some(&was), Some(&is)));
                }
                None => differences.extend(cells(table, &row, Some(&change.after), None)),
            }
        }
        for change in other.changed.iter().filter(|change| find(self, &change.key).is_none()) {
            differences.extend(cells(table, &row_name(&change.key), None, Some(&change.after)));
        }
        for (rows, others, is_new) in
            [(&self.removed, &other.removed, false), (&other.removed, &self.removed, true)]
        {
            for row in rows.iter().filter(|row| !others.contains(row)) {
                let (was, is) = if is_new { (None, Some(row)) } else { (Some(row), None) };
                differences.extend(cells(table, "removed row", was, is));
            }
        }
    }

    /// Whether nothing changed in this table.
    pub fn is_empty(&self) -> bool {
        self.rows() == 0
    }

    /// How many rows were added, changed or removed.
    pub fn rows(&self) -> usize {
        self.added.len() + self.changed.len() + self.removed.len()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn diff(stock: [u64; 2], id: &str, amount: u64) -> Diff {
        let [before, after] = stock.map(|left| json!({"item": "A", "left": left, "name": "Moon"}));
        serde_json::from_value(json!({
            "inventory": {"added": [], "removed": [], "changed": [{"key": {"item": "A"}, "before": before, "after": after}]},
            "sales": {"added": [{"id": id, "amount": amount}], "removed": [], "changed": []},
        }))
        .unwrap()
    }

    #[test]
    fn two_keys_whose_values_hold_commas_have_two_names() {
        let name = |values: [&str; 2]| {
            let fields = ["a", "b"].map(str::to_owned).into_iter().zip(values.map(Value::from));
            row_name(&Row { fields: fields.collect() })
        };
        assert_eq!(name(["q", "r"]), "q,r");
        assert_eq!(name(["x,y", "z"]), "x\\,y,z");
        assert_ne!(name(["x,y", "z"]), name(["x", "y,z"]));
        assert_ne!(name(["x\\", "y"]), name(["x", "\\y"]));
        let one = Row { fields: vec![("a".to_owned(), Value::from("x,y"))] };
        assert_eq!(row_name(&one), "x,y");
    }

    #[test]
    fn two_diffs_differ_in_what_they_leave_behind() {
        let held = diff([10, 9], "T1", 50);
        let told = |other: &Diff| -> Vec<String> {
            let told = held.differences(other);
            told.iter()
                .map(|it| format!("{}/{}/{}", it.table, it.row, it.column.as_deref().unwrap_or("*")))
                .collect()
        };
        assert_eq!(told(&held), [""; 0]);
        assert_eq!(told(&diff([8, 7], "T2", 50)), ["inventory/A/left", "sales/new row 1/id"]);
        assert_eq!(told(&diff([10, 9], "T1", 60)), ["sales/new row 1/amount"]);
        // Somebody else has set the same cell meanwhile.
        assert_eq!(told(&diff([30, 9], "T1", 50)), ["inventory/A/left"]);
        assert_eq!(told(&Diff::default()), ["inventory/A/*", "sales/new row 1/*"]);
    }
}
