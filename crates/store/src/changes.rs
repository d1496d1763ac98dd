//! The before and after images of every row that a transaction touched.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ordain_types::{Diff, Row, RowChange, TableDiff, row_name};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::Catalog;
use crate::error::StoreError;
use crate::relation::{Image, Relation};
use crate::value;

/// What happened so far, one change a row however often it was written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    rows: BTreeMap<(usize, i64), Touched>,
    /// Where rows that were written lie now, for tables whose ids are places: the new place and the id.
    moved: HashMap<(usize, i64), i64>,
    /// How many rows of each table were touched.
    counts: HashMap<usize, u64>,
    bytes: u64,
    /// Counts the writes, so that a scan can leave out rows that came after it began.
    writes: u64,
    /// The call of an action that writes now.
    act: Option<u32>,
    /// Calls of actions so far.
    acts: u32,
}

#[derive(Debug, Clone)]
struct Touched {
    before: Option<Image>,
    after: Option<Image>,
    /// The write that made the row, if this transaction did.
    born: Option<u64>,
    /// Where it lies now, for tables whose ids are places.
    place: i64,
    /// The calls of actions that wrote it.
    acts: BTreeSet<u32>,
}

/// The changes of one run in the form that is kept: all columns, hidden ones too, and the rows' ids.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ChangeSet {
    pub(crate) tables: BTreeMap<String, Vec<KeptChange>>,
}

/// One row of a [`ChangeSet`]. A field that the row lacks is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptChange {
    pub(crate) doc_id: i64,
    pub(crate) before: Option<Row>,
    pub(crate) after: Option<Row>,
    /// The calls of actions that wrote it. Rows that one call wrote belong together.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) acts: BTreeSet<u32>,
}

impl Changes {
    /// Writes from now on are those of another call of an action, or of none.
    pub(crate) fn act(&mut self, is_action: bool) {
        self.acts += u32::from(is_action);
        self.act = is_action.then_some(self.acts);
    }

    /// Says which calls of actions wrote rows that were written again on their behalf.
    pub(crate) fn belong(
        &mut self,
        table: usize,
        relation: &Relation,
        kept: &[KeptChange],
    ) -> Result<(), StoreError> {
        let name = |image: &Image| row_name(&relation.key_row(image));
        let written = self.rows.range((table, i64::MIN)..=(table, i64::MAX));
        let ids = written
            .filter_map(|((_, id), row)| Some((name(row.before.as_ref().or(row.after.as_ref())?), *id)));
        let ids: HashMap<String, i64> = ids.collect();
        for change in kept.iter().filter(|change| !change.acts.is_empty()) {
            let row = change.before.as_ref().or(change.after.as_ref()).cloned().unwrap_or_default();
            let image = relation.image_of(change.doc_id, row)?;
            let id = ids.get(&name(&image)).and_then(|id| self.rows.get_mut(&(table, *id)));
            if let Some(row) = id {
                row.acts.extend(&change.acts);
            }
            self.acts = self.acts.max(change.acts.last().copied().unwrap_or_default());
        }
        Ok(())
    }

    /// How many rows of one table were touched.
    pub(crate) fn rows_of(&self, table: usize) -> u64 {
        self.counts.get(&table).copied().unwrap_or_default()
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows.len() as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn writes(&self) -> u64 {
        self.writes
    }

    /// Notes one write. Both images have the row's id; `place` is where the row lies now.
    pub(crate) fn note(
        &mut self,
        table: usize,
        before: Option<Image>,
        after: Option<Image>,
        place: Option<i64>,
    ) {
        self.writes += 1;
        let Some(doc_id) = before.as_ref().or(after.as_ref()).map(|image| image.doc_id) else { return };
        let born = before.is_none().then_some(self.writes);
        let known = self.rows.remove(&(table, doc_id));
        let (first, born, mut acts) = match known {
            Some(known) => {
                *self.counts.entry(table).or_default() -= 1;
                self.bytes -= weight(known.before.as_ref()) + weight(known.after.as_ref());
                (known.before, known.born.filter(|_| born.is_none()).or(born), known.acts)
            }
            None => (before, born, BTreeSet::new()),
        };
        acts.extend(self.act);
        if let Some(place) = place
            && place != doc_id
        {
            self.moved.insert((table, place), doc_id);
        }
        if first == after && born.is_none() {
            return;
        }
        if first.is_none() && after.is_none() {
            return;
        }
        self.bytes += weight(first.as_ref()) + weight(after.as_ref());
        *self.counts.entry(table).or_default() += 1;
        let touched = Touched { before: first, after, born, place: place.unwrap_or(doc_id), acts };
        self.rows.insert((table, doc_id), touched);
    }

    /// The id of the row that lies at a place.
    pub(crate) fn id_of_place(&self, table: usize, place: i64) -> i64 {
        self.moved.get(&(table, place)).copied().unwrap_or(place)
    }

    /// Where the row with an id lies.
    pub(crate) fn place_of_id(&self, table: usize, doc_id: i64) -> i64 {
        self.rows.get(&(table, doc_id)).map_or(doc_id, |touched| touched.place)
    }

    /// The last known image of a touched row, even if it is gone.
    pub(crate) fn last_image(&self, table: usize, doc_id: i64) -> Option<&Image> {
        let touched = self.rows.get(&(table, doc_id))?;
        touched.after.as_ref().or(touched.before.as_ref())
    }

    /// Whether a row was there and was removed.
    pub(crate) fn is_gone(&self, table: usize, doc_id: i64) -> bool {
        self.rows.get(&(table, doc_id)).is_some_and(|touched| touched.after.is_none())
    }

    /// Whether a row came after a scan began.
    pub(crate) fn is_younger(&self, table: usize, doc_id: i64, as_of: u64) -> bool {
        self.rows.get(&(table, doc_id)).and_then(|touched| touched.born).is_some_and(|born| born > as_of)
    }

    /// The tables that were touched, with what happened to each row.
    pub(crate) fn touched(&self) -> impl Iterator<Item = (usize, Option<&Image>, Option<&Image>)> {
        self.rows.iter().filter_map(|((table, _), touched)| {
            (touched.before != touched.after).then_some((
                *table,
                touched.before.as_ref(),
                touched.after.as_ref(),
            ))
        })
    }

    /// The rows that were written and are there, by table.
    pub(crate) fn present(&self) -> BTreeMap<usize, Vec<i64>> {
        let mut present = BTreeMap::<usize, Vec<i64>>::new();
        for ((table, doc_id), touched) in &self.rows {
            if touched.after.is_some() {
                present.entry(*table).or_default().push(*doc_id);
            }
        }
        present
    }

    /// Puts what rows are now in the place of what they were when they were written.
    pub(crate) fn refresh(&mut self, table: usize, doc_ids: &[i64], images: Vec<Image>) {
        for doc_id in doc_ids {
            if let Some(touched) = self.rows.get_mut(&(table, *doc_id)) {
                touched.after = None;
            }
        }
        for image in images {
            if let Some(touched) = self.rows.get_mut(&(table, image.doc_id)) {
                touched.after = Some(image);
            }
        }
    }

    /// What people and plans are shown.
    pub(crate) fn diff(&self, catalog: &Catalog) -> Diff {
        let mut diff = Diff::default();
        for (table, before, after) in self.touched() {
            let relation = catalog.at(table);
            let part = diff.tables.entry(relation.table.name.clone()).or_default();
            add_to(part, relation, before, after);
        }
        diff
    }

    /// What is kept for approval and undo.
    pub(crate) fn change_set(&self, catalog: &Catalog) -> ChangeSet {
        let mut set = ChangeSet::default();
        for ((table, doc_id), touched) in self.rows.iter().filter(|(_, row)| row.before != row.after) {
            let relation = catalog.at(*table);
            let row = |image: &Option<Image>| image.as_ref().map(|image| relation.kept_row(image));
            let (before, after) = (row(&touched.before), row(&touched.after));
            let change = KeptChange { doc_id: *doc_id, before, after, acts: touched.acts.clone() };
            set.tables.entry(relation.table.name.clone()).or_default().push(change);
        }
        set
    }
}

impl ChangeSet {
    /// The change that takes this one back.
    pub(crate) fn inverse(self) -> Self {
        let swap = |change: KeptChange| KeptChange { before: change.after, after: change.before, ..change };
        let tables =
            self.tables.into_iter().map(|(table, rows)| (table, rows.into_iter().map(swap).collect()));
        Self { tables: tables.collect() }
    }
}

impl Relation {
    /// A kept row as an image of this table. The table may have gained nullable columns, and lost none.
    pub(crate) fn image_of(&self, doc_id: i64, row: Row) -> Result<Image, StoreError> {
        let mut values: Vec<Option<Value>> = vec![None; self.storage.len()];
        for (name, value) in row.fields {
            let position = self.position(&name).ok_or_else(|| StoreError::UnknownColumn {
                table: self.table.name.clone(),
                column: name.clone(),
                nearest: None,
            })?;
            values[position] = Some(value);
        }
        Ok(Image { doc_id, values })
    }
}

fn add_to(part: &mut TableDiff, relation: &Relation, before: Option<&Image>, after: Option<&Image>) {
    match (before, after) {
        (None, Some(after)) => part.added.push(relation.row(after)),
        (Some(before), None) => part.removed.push(relation.row(before)),
        (Some(before), Some(after)) => part.changed.push(RowChange {
            key: relation.key_row(before),
            before: relation.row(before),
            after: relation.row(after),
        }),
        (None, None) => {}
    }
}

fn weight(image: Option<&Image>) -> u64 {
    image.map_or(0, |image| image.values.iter().flatten().map(value::weight).sum::<u64>() + 16)
}
