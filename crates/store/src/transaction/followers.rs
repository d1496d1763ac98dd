//! Rows that the database removes or changes after those that a run writes, as its foreign keys say.
//!
//! They are read before, so that they stand in the diff, obey the rules of their tables and come back with an undo. How
//! many they are is expected of the database, and what it counts is compared with that before the commit.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use super::Transaction;
use crate::error::StoreError;
use crate::relation::{Filled, Follow, Follower, Identity, Image, Relation};
use crate::session::Operations;
use crate::sql::Sql;

/// What a run makes of a row: other values, or nothing.
pub(super) type Made = Option<Vec<Option<Value>>>;

/// A row that follows.
#[derive(Debug)]
pub(super) struct Following {
    place: usize,
    before: Image,
    after: Made,
    /// How often the database writes it.
    writes: i64,
}

/// The rows that follow, and those of the run's own rows that are gone before their turn.
#[derive(Debug, Default)]
pub(super) struct Followers {
    rows: Vec<Following>,
    gone: Vec<usize>,
}

impl Followers {
    /// Whether one of the run's own rows goes with another one, so that no statement is about it.
    pub(super) fn takes(&self, index: usize) -> bool {
        self.gone.contains(&index)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl Transaction {
    /// The rows that follow when these rows of a table are changed or removed, in this order.
    pub(super) async fn followers(
        &mut self,
        place: usize,
        rows: Vec<(Image, Made)>,
    ) -> Result<Followers, StoreError> {
        let mut found = Followers::default();
        if self.catalog.at(place).followers.is_empty() {
            return Ok(found);
        }
        let own: HashMap<i64, usize> =
            rows.iter().enumerate().map(|(index, (image, _))| (image.doc_id, index)).collect();
        let mut seen = HashMap::<(usize, i64), usize>::new();
        let mut done = vec![false; rows.len()];
        for (index, row) in rows.into_iter().enumerate() {
            if found.takes(index) {
                continue;
            }
            done[index] = true;
            let mut queue = VecDeque::from([(place, row)]);
            while let Some((parent, (before, after))) = queue.pop_front() {
                self.make_room(parent, &Arc::clone(self.catalog.at(parent)), queue.len())?;
                let relation = Arc::clone(self.catalog.at(parent));
                for follower in &relation.followers {
                    let Some(follow) = follower.follow(&relation, &before, after.as_ref()) else { continue };
                    // What the workspace does not know is left to what the database counts.
                    let Ok(child) = self.catalog.place(&follower.table) else { continue };
                    let images = self.children(child, &relation, follower, &before).await?;
                    for image in images {
                        let is_own = child == place;
                        if is_own && own.get(&image.doc_id).is_some_and(|index| done[*index]) {
                            continue;
                        }
                        if let Some(index) = own.get(&image.doc_id).filter(|_| is_own && after.is_none()) {
                            found.gone.push(*index);
                        }
                        let at = *seen.entry((child, image.doc_id)).or_insert_with(|| {
                            found.rows.push(Following {
                                place: child,
                                after: Some(image.values.clone()),
                                before: image.clone(),
                                writes: 0,
                            });
                            found.rows.len() - 1
                        });
                        let following = &mut found.rows[at];
                        let Some(values) = &mut following.after else { continue };
                        following.writes += 1;
                        if after.is_none() && follow == Follow::Along {
                            following.after = None;
                        } else {
                            follower.set(self.catalog.at(child), &relation, values, after.as_ref(), follow);
                        }
                        queue.push_back((child, (following.before.clone(), following.after.clone())));
                    }
                }
            }
        }
        self.may_follow(place, &found)?;
        Ok(found)
    }

    /// The rows of a table that refer to a row.
    async fn children(
        &mut self,
        child: usize,
        parent: &Relation,
        follower: &Follower,
        row: &Image,
    ) -> Result<Vec<Image>, StoreError> {
        let relation = Arc::clone(self.catalog.at(child));
        let pairs: Option<Vec<(usize, &Value)>> = std::iter::zip(&follower.columns, &follower.references)
            .map(|(own, referred)| {
                let value = row.values[parent.position(referred)?].as_ref()?;
                (!value.is_null()).then_some((relation.position(own)?, value))
            })
            .collect();
        let Some(pairs) = pairs else { return Ok(Vec::new()) };
        let mut sql = self.select(&relation);
        sql.list(" AND ", pairs, |sql: &mut Sql, (position, value)| {
            sql.name(&relation.table.columns[position].name).push(" = ");
            relation.push_value(sql, position, Some(value));
        });
        let rows = self.session.read(sql).await?;
        self.decode(child, &relation, rows)
    }

    /// Whether the rules of their tables let rows follow.
    fn may_follow(&self, parent: usize, followers: &Followers) -> Result<(), StoreError> {
        let mut counts = BTreeMap::<usize, usize>::new();
        for row in &followers.rows {
            *counts.entry(row.place).or_default() += 1;
        }
        let of = &self.catalog.at(parent).table.name;
        for (place, count) in counts {
            let relation = self.catalog.at(place);
            if relation.table.hidden {
                let message = "rows of a table that plans may not write refer to it".to_owned();
                return Err(StoreError::Constraint { table: of.clone(), message });
            }
            if relation.table.read_only || relation.read_only_reason.is_some() {
                let reason = Some(format!("{count} of its rows would follow rows of `{of}`"));
                return Err(StoreError::ReadOnly { table: relation.table.name.clone(), reason });
            }
            if relation.table.append_only && !self.rules_lifted {
                let operation = "changed or removed";
                return Err(StoreError::AppendOnly { table: relation.table.name.clone(), operation });
            }
            self.make_room(place, relation, count)?;
        }
        Ok(())
    }

    /// How many rows of each table follow.
    pub(super) fn expected(&self, followers: &Followers) -> Operations {
        let mut expected = Operations::new();
        for row in &followers.rows {
            *expected.entry(self.catalog.at(row.place).sql_name()).or_default() += row.writes;
        }
        expected
    }

    /// Notes the rows that have followed, as they are now.
    pub(super) async fn note_followers(&mut self, followers: Followers) -> Result<(), StoreError> {
        for Following { place, before, after, .. } in followers.rows {
            let Some(values) = after else {
                self.changes.note(place, Some(before), None, None);
                continue;
            };
            let relation = Arc::clone(self.catalog.at(place));
            let expected = Image { doc_id: before.doc_id, values };
            let mut sql = self.select(&relation);
            relation.push_row_condition(&mut sql, &expected);
            let row = self.session.read(sql).await?.pop();
            let row = row.ok_or_else(|| relation.broken("a row that followed another one is gone"))?;
            let after = relation.image(row)?;
            self.note_written(place, &relation, before, after);
        }
        Ok(())
    }

    /// Notes a row that was changed; `after` is where it lies now.
    pub(super) fn note_written(
        &mut self,
        place: usize,
        relation: &Relation,
        before: Image,
        mut after: Image,
    ) {
        let address = after.doc_id;
        // A row keeps its id while it moves, unless its id is its key.
        if !matches!(relation.identity, Identity::IntegerKey(_)) {
            after.doc_id = before.doc_id;
            self.changes.note(place, Some(before), Some(after), Some(address));
        } else if after.doc_id == before.doc_id {
            self.changes.note(place, Some(before), Some(after), None);
        } else {
            self.changes.note(place, Some(before), None, None);
            self.changes.note(place, None, Some(after), None);
        }
    }
}

impl Follower {
    /// What a row that refers to this one does, if anything.
    fn follow(
        &self,
        parent: &Relation,
        before: &Image,
        after: Option<&Vec<Option<Value>>>,
    ) -> Option<Follow> {
        let Some(after) = after else { return self.removal };
        let is_changed = |name: &String| {
            parent.position(name).is_some_and(|position| before.values[position] != after[position])
        };
        self.change.filter(|_| self.references.iter().any(is_changed))
    }

    /// Sets the columns that refer.
    fn set(
        &self,
        child: &Relation,
        parent: &Relation,
        values: &mut [Option<Value>],
        after: Option<&Vec<Option<Value>>>,
        follow: Follow,
    ) {
        for (own, referred) in std::iter::zip(&self.columns, &self.references) {
            let (Some(own), Some(referred)) = (child.position(own), parent.position(referred)) else {
                continue;
            };
            if child.storage[own].filled == Filled::Calculated {
                continue;
            }
            match (follow, after) {
                (Follow::Along, Some(after)) => values[own].clone_from(&after[referred]),
                (Follow::Null, _) => values[own] = Some(Value::Null),
                // It is read when it is there.
                (Follow::Along, None) | (Follow::Default, _) => {}
            }
        }
    }
}
