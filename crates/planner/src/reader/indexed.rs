//! The indexes of the last looks at the tables. After a change the index of the look before is followed: making one anew
//! takes longer than everything else that the reader does.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use ordain_types::Catalog;
use serde_json::Value;

use super::index::Index;
use crate::brief::{Brief, TableBrief};

/// Looks whose indexes are kept: requests that began before a change still use the one before.
const KEPT_MAX: usize = 4;
/// Words that are added before an index is made anew, so that copies of it stay cheap.
const ADDED_MAX: usize = 128;

static LAST: Mutex<VecDeque<Kept>> = Mutex::new(VecDeque::new());

/// An index, and what it was made of.
struct Kept {
    tables: Arc<Vec<TableBrief>>,
    catalog: Arc<Catalog>,
    index: Arc<Index>,
}

/// The index of a brief's tables.
pub(super) fn indexed(brief: &Brief) -> Arc<Index> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let mut own = last.iter().filter(|kept| Arc::ptr_eq(&kept.catalog, &brief.catalog));
    if let Some(kept) = own.clone().find(|kept| Arc::ptr_eq(&kept.tables, &brief.tables)) {
        return Arc::clone(&kept.index);
    }
    let followed = own.find_map(|kept| kept.index.followed(&kept.tables, brief));
    let index = Arc::new(followed.unwrap_or_else(|| Index::of(brief, &brief.catalog)));
    let (tables, catalog) = (Arc::clone(&brief.tables), Arc::clone(&brief.catalog));
    last.push_front(Kept { tables, catalog, index: Arc::clone(&index) });
    last.truncate(KEPT_MAX);
    index
}

impl Index {
    /// The index of a brief whose tables have the values of those that this one was made of, and others besides; `None`
    /// if it has to be made anew.
    fn followed(&self, before: &[TableBrief], brief: &Brief) -> Option<Self> {
        let new = Self::of_tables(brief, &self.catalog);
        if new.stored != self.stored {
            return None;
        }
        let mut index = self.clone();
        for (place, (before, now)) in before.iter().zip(brief.tables.iter()).enumerate() {
            for at in 0..new.tables[place].columns.len() {
                let values = |table| new.named_values(place, at, table);
                match (values(before), values(now)) {
                    (None, None) => {}
                    (Some(before), Some(now)) => {
                        added(before, now)?.iter().for_each(|value| index.add_value(place, at, value));
                    }
                    _ => return None,
                }
            }
        }
        let is_small = index.mentions.added().len() <= ADDED_MAX && index.forms.added().len() <= ADDED_MAX;
        // Another word for a table or column gives way to what is called so.
        let has_synonym = index.mentions.added().any(|word| index.synonyms.contains(word));
        (is_small && !has_synonym).then_some(index)
    }
}

/// The values that were put between others; `None` if others are gone.
fn added<'a>(before: &[Value], now: &'a [Value]) -> Option<Vec<&'a Value>> {
    let mut before = before.iter().peekable();
    let added = now.iter().filter(|value| before.next_if_eq(value).is_none()).collect();
    before.next().is_none().then_some(added)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ordain_types::{Column, ColumnType, Table};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::brief::{ColumnBrief, Task};

    /// A table of sales whose columns have these values.
    fn sales(columns: &[(&str, BTreeMap<String, Value>)]) -> TableBrief {
        let column = |name: &str| Column {
            name: name.to_owned(),
            column_type: ColumnType::Text,
            nullable: false,
            hidden: false,
        };
        let table = Table {
            name: "sales".to_owned(),
            columns: columns.iter().map(|(name, _)| column(name)).collect(),
            key: vec!["id".to_owned()],
            ..Table::default()
        };
        let seen = columns.iter().map(|(name, values)| ColumnBrief {
            name: (*name).to_owned(),
            samples: values.values().take(1).cloned().collect(),
            values: Some(values.values().cloned().collect()),
            ..ColumnBrief::default()
        });
        let (roles, references, indexes) = (BTreeMap::new(), Vec::new(), Vec::new());
        let rows = columns[0].1.len() as u64;
        TableBrief { table, rows, columns: seen.collect(), roles, references, indexes }
    }

    fn brief(rows: &[[String; 3]]) -> Brief {
        let values =
            |at: usize| rows.iter().map(|row| (json!(row[at]).to_string(), json!(row[at]))).collect();
        let columns = [("id", values(0)), ("customer_name", values(1)), ("note", values(2))];
        let tables = Arc::new(vec![sales(&columns)]);
        Brief { tables, ..Brief::new(Task::Ask, "") }
    }

    /// Everything that an index knows, in an order of its own.
    fn told(index: &Index) -> String {
        let mentions: BTreeMap<_, _> = index.mentions.iter().collect();
        let forms: BTreeMap<_, _> = index.forms.iter().collect();
        format!(
            "{:?} {:?} {:?} {mentions:#?} {:?} {forms:?}",
            index.tables, index.stored, index.synonyms, index.small
        )
    }

    fn row() -> impl Strategy<Value = [String; 3]> {
        let word = prop::sample::select(vec![
            "Ann",
            "Lee",
            "ann-lee",
            "no",
            "IT",
            "Six",
            "client",
            "sale",
            "boxes",
            "box",
            "2026-03-14",
            "\"x\"",
            "a longer text about many blue boxes that nobody would call a name",
        ]);
        let text = || prop::collection::vec(word.clone(), 1..3).prop_map(|words| words.join(" "));
        (0..40_u32, text(), text()).prop_map(|(id, name, note)| [format!("T{id:03}"), name, note])
    }

    proptest! {
        #[test]
        fn a_followed_index_is_equal_to_one_made_anew(rows in prop::collection::vec(row(), 1..30), first in 0..30_usize) {
            let first = first.min(rows.len() - 1) + 1;
            let mut known = brief(&rows[..first]);
            let mut index = Index::of(&known, &known.catalog);
            for count in first..rows.len() {
                let next = brief(&rows[..=count]);
                let anew = Index::of(&next, &next.catalog);
                let followed = index.followed(&known.tables, &next);
                if let Some(followed) = &followed {
                    prop_assert_eq!(told(followed), told(&anew));
                }
                (index, known) = (followed.unwrap_or(anew), next);
            }
        }
    }

    #[test]
    fn a_new_row_is_followed_and_a_lost_value_is_not() {
        let row = |id: &str, name: &str| [id.to_owned(), name.to_owned(), "paid in cash".to_owned()];
        let [one, two, three] = [row("T001", "Ann Lee"), row("T002", "Bob Day"), row("T003", "Ann Lee")];
        let (before, now) = (brief(&[one.clone(), two.clone()]), brief(&[one.clone(), two, three]));
        let index = Index::of(&before, &before.catalog);
        let followed = index.followed(&before.tables, &now).expect("rows were added, and nothing else");
        assert_eq!(told(&followed), told(&Index::of(&now, &now.catalog)));
        assert!(index.followed(&before.tables, &brief(&[one])).is_none());
    }
}
