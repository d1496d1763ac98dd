//! Writing rows, with an image of each before and after.

use std::collections::HashSet;
use std::sync::Arc;

use ordain_types::Row;
use serde_json::Value;

use super::Transaction;
use super::followers::Followers;
use crate::condition::{Condition, Test};
use crate::error::StoreError;
use crate::protocol::{Reply, RowUpdate, Target};
use crate::relation::{ABSENT, DOC_ID, Filled, Image, Kind, Relation};
use crate::session::Manner;
use crate::sql::{Dialect, Sql, literal};
use crate::value;

/// Rows that one round trip writes.
const ROWS_AT_ONCE: usize = 500;
/// An index entry of PostgreSQL holds about 2.7 kB; keys stay well below on both databases.
const KEY_BYTES_MAX: u64 = 1000;

/// New values for some columns: `None` takes the field away.
type Assignments = Vec<(usize, Option<Value>)>;

impl Transaction {
    pub(super) async fn insert(
        &mut self,
        table: &str,
        rows: Vec<Row>,
        doc_ids: Option<Vec<Option<i64>>>,
    ) -> Result<Reply, StoreError> {
        let (place, relation) = self.place(table).await?;
        may_write(&relation)?;
        let doc_ids = doc_ids.unwrap_or_else(|| vec![None; rows.len()]);
        if doc_ids.len() != rows.len() {
            return Err(StoreError::BadCall { message: "there are not as many ids as rows".to_owned() });
        }
        let dialect = self.session.dialect();
        let images = std::iter::zip(rows, doc_ids)
            .map(|(row, doc_id)| {
                Ok((new_values(dialect, &relation, row, self.store.limits.row_bytes_max)?, doc_id))
            })
            .collect::<Result<Vec<_>, StoreError>>()?;
        self.make_room(place, &relation, images.len())?;
        let doc_ids = self.insert_values(place, &relation, images).await?;
        Ok(Reply::Written { doc_ids, exact: true })
    }

    /// Adds rows whose values were checked.
    pub(crate) async fn insert_values(
        &mut self,
        place: usize,
        relation: &Arc<Relation>,
        rows: Vec<(Vec<Option<Value>>, Option<i64>)>,
    ) -> Result<Vec<i64>, StoreError> {
        let statements: Vec<Sql> =
            rows.iter().map(|(values, doc_id)| self.insert_statement(relation, values, *doc_id)).collect();
        let describe = |index: usize| {
            let (values, doc_id) = &rows[index.min(rows.len() - 1)];
            row_in_the_way(relation, values, *doc_id)
        };
        let written = self.write_statements(relation, statements, describe).await?;
        if rows.iter().any(|(_, doc_id)| doc_id.is_some()) {
            self.skip_numbers(relation).await?;
        }
        let mut doc_ids = Vec::with_capacity(written.len());
        for image in written {
            doc_ids.push(image.doc_id);
            let address = image.doc_id;
            self.changes.note(place, None, Some(image), Some(address));
        }
        Ok(doc_ids)
    }

    pub(super) async fn update(
        &mut self,
        table: &str,
        target: Target,
        set: Row,
        unset: Vec<String>,
    ) -> Result<Reply, StoreError> {
        let (place, relation) = self.place(table).await?;
        may_write(&relation)?;
        let assignments = assignments(self.session.dialect(), &relation, set, unset)?;
        let Some(images) = self.targets(place, &relation, target).await? else {
            return Ok(Reply::Written { doc_ids: Vec::new(), exact: false });
        };
        self.may_rewrite(place, &relation, &images, "changed")?;
        let updates = images.into_iter().map(|image| (image, assignments.clone())).collect();
        self.update_images(place, &relation, updates).await
    }

    pub(super) async fn update_rows(
        &mut self,
        table: &str,
        rows: Vec<RowUpdate>,
    ) -> Result<Reply, StoreError> {
        let (place, relation) = self.place(table).await?;
        may_write(&relation)?;
        let ids: Vec<i64> = rows.iter().map(|row| row.doc_id).collect();
        if ids.iter().collect::<HashSet<_>>().len() < ids.len() {
            return Err(StoreError::BadCall { message: "a row is given twice".to_owned() });
        }
        let images = self.images(place, &relation, ids).await?;
        self.may_rewrite(place, &relation, &images, "changed")?;
        let mut updates = Vec::with_capacity(images.len());
        for row in rows {
            let found = images.binary_search_by_key(&row.doc_id, |image| image.doc_id);
            if let Ok(index) = found {
                updates.push((
                    images[index].clone(),
                    assignments(self.session.dialect(), &relation, row.set, row.unset)?,
                ));
            }
        }
        self.update_images(place, &relation, updates).await
    }

    pub(super) async fn upsert(
        &mut self,
        table: &str,
        condition: Condition,
        row: Row,
    ) -> Result<Reply, StoreError> {
        let target = Target { condition: Some(condition), ..Target::default() };
        match self.update(table, target, row.clone(), Vec::new()).await? {
            Reply::Written { doc_ids, exact: true } if doc_ids.is_empty() => {
                self.insert(table, vec![row], None).await
            }
            other => Ok(other),
        }
    }

    pub(super) async fn remove(&mut self, table: &str, target: Target) -> Result<Reply, StoreError> {
        let (place, relation) = self.place(table).await?;
        may_write(&relation)?;
        let Some(images) = self.targets(place, &relation, target).await? else {
            return Ok(Reply::Written { doc_ids: Vec::new(), exact: false });
        };
        self.may_rewrite(place, &relation, &images, "removed")?;
        let doc_ids = images.iter().map(|image| image.doc_id).collect();
        self.make_room(place, &relation, images.len())?;
        self.remove_images(place, &relation, images).await?;
        Ok(Reply::Written { doc_ids, exact: true })
    }

    pub(crate) async fn remove_images(
        &mut self,
        place: usize,
        relation: &Arc<Relation>,
        images: Vec<Image>,
    ) -> Result<(), StoreError> {
        let followers =
            self.followers(place, images.iter().map(|image| (image.clone(), None)).collect()).await?;
        let own = |index: &usize| !followers.takes(*index);
        let images: Vec<Image> =
            images.into_iter().enumerate().filter(|(index, _)| own(index)).map(|(_, image)| image).collect();
        let statements = images.iter().map(|image| {
            let mut sql = self.session.sql("DELETE FROM ");
            sql.push(&relation.sql_rows()).push(" WHERE ");
            relation.push_row_condition(&mut sql, image);
            sql.push(" RETURNING ");
            relation.push_image(&mut sql);
            sql
        });
        let statements = statements.collect();
        self.write_followed(relation, statements, &followers, |_| relation.broken("a row is gone")).await?;
        for image in images {
            self.changes.note(place, Some(image), None, None);
        }
        self.note_followers(followers).await
    }

    /// Sends statements after which other rows follow.
    async fn write_followed(
        &mut self,
        relation: &Arc<Relation>,
        statements: Vec<Sql>,
        followers: &Followers,
        in_the_way: impl Fn(usize) -> StoreError,
    ) -> Result<Vec<Image>, StoreError> {
        if followers.is_empty() {
            return self.write_statements(relation, statements, in_the_way).await;
        }
        let expected = self.expected(followers);
        self.session.expect_writes(&expected, 1);
        let written = self.write_statements(relation, statements, in_the_way).await;
        if written.is_err() {
            self.session.expect_writes(&expected, -1);
        }
        written
    }

    async fn update_images(
        &mut self,
        place: usize,
        relation: &Arc<Relation>,
        updates: Vec<(Image, Assignments)>,
    ) -> Result<Reply, StoreError> {
        self.make_room(place, relation, updates.len())?;
        let doc_ids: Vec<i64> = updates.iter().map(|(image, _)| image.doc_id).collect();
        let changed = updates
            .into_iter()
            .filter_map(|(before, assignments)| {
                let after = with_assignments(relation, &before, &assignments);
                (after != before.values).then_some((before, after))
            })
            .collect::<Vec<_>>();
        for (_, after) in &changed {
            check_weight(after, self.store.limits.row_bytes_max)?;
        }
        self.write_images(place, relation, changed).await?;
        Ok(Reply::Written { doc_ids, exact: true })
    }

    /// Gives rows new values, which were checked.
    pub(crate) async fn write_images(
        &mut self,
        place: usize,
        relation: &Arc<Relation>,
        rows: Vec<(Image, Vec<Option<Value>>)>,
    ) -> Result<(), StoreError> {
        let statements =
            rows.iter().map(|(before, after)| self.update_statement(relation, before, after)).collect();
        let describe = |index: usize| {
            let (before, after) = &rows[index.min(rows.len() - 1)];
            row_in_the_way(relation, after, Some(before.doc_id))
        };
        let followers = self
            .followers(
                place,
                rows.iter().map(|(before, after)| (before.clone(), Some(after.clone()))).collect(),
            )
            .await?;
        let written = self.write_followed(relation, statements, &followers, describe).await?;
        for ((before, _), after) in std::iter::zip(rows, written) {
            self.note_written(place, relation, before, after);
        }
        self.note_followers(followers).await
    }

    /// The images of the rows that a write is about; nothing when SQL cannot tell which they are.
    async fn targets(
        &mut self,
        place: usize,
        relation: &Arc<Relation>,
        target: Target,
    ) -> Result<Option<Vec<Image>>, StoreError> {
        let test = match target {
            Target { doc_ids: Some(doc_ids), condition: None, all: false } => {
                return self.images(place, relation, doc_ids).await.map(Some);
            }
            Target { doc_ids: None, condition: Some(condition), all: false } => {
                let compiled = self.compile(relation, Some(&condition))?;
                if !compiled.exact {
                    return Ok(None);
                }
                compiled.test
            }
            Target { doc_ids: None, condition: None, all: true } => Test::True,
            _ => {
                return Err(StoreError::BadCall {
                    message: "exactly one of `doc_ids`, `where`, `all`".to_owned(),
                });
            }
        };
        let limits = self.store.limits;
        let (mut images, mut last, mut bytes) = (Vec::<Image>::new(), None, 0);
        loop {
            let (page, more) = self.page(place, relation, test.clone(), last, limits.page_rows_max).await?;
            last = page.last().map(|image| image.doc_id);
            bytes +=
                page.iter().flat_map(|image| image.values.iter().flatten()).map(value::weight).sum::<u64>();
            images.extend(page);
            self.make_room(place, relation, images.len())?;
            if bytes > limits.images_bytes_max {
                return Err(StoreError::Limit { limit: "images_bytes_max", value: limits.images_bytes_max });
            }
            if !more {
                return Ok(Some(images));
            }
        }
    }

    /// Sends statements that each give back the row they wrote.
    async fn write_statements(
        &mut self,
        relation: &Arc<Relation>,
        statements: Vec<Sql>,
        in_the_way: impl Fn(usize) -> StoreError,
    ) -> Result<Vec<Image>, StoreError> {
        if statements.is_empty() {
            return Ok(Vec::new());
        }
        // One group is all or nothing. Later groups cannot take back earlier ones, so that an error in one of
        // them must end the transaction.
        let (mut images, mut first) = (Vec::with_capacity(statements.len()), 0);
        let mut rest = statements.into_iter().peekable();
        while rest.peek().is_some() {
            let group: Vec<Sql> = rest.by_ref().take(ROWS_AT_ONCE).collect();
            let count = group.len();
            let manner = Manner { by_key: relation.is_kept(), triggers: relation.allows_triggers };
            let written = self.session.write_all(group, manner).await.map_err(|(index, error)| {
                let error = explain(relation, error, || in_the_way(first + index));
                if first > 0 && error.is_callers() { relation.broken(&error.to_string()) } else { error }
            })?;
            for mut rows in written {
                images.push(relation.image(rows.pop().unwrap_or_default())?);
            }
            first += count;
        }
        Ok(images)
    }

    fn insert_statement(&self, relation: &Relation, values: &[Option<Value>], doc_id: Option<i64>) -> Sql {
        let mut sql = self.session.sql("INSERT INTO ");
        sql.push(&relation.sql_name()).push(" (");
        // The database fills what an insert into a table in place leaves out.
        let given: Vec<usize> =
            (0..values.len()).filter(|position| relation.is_kept() || values[*position].is_some()).collect();
        sql.list(", ", &given, |sql, position| {
            sql.name(&relation.table.columns[*position].name);
        });
        if relation.is_kept() {
            sql.push(", ").name(ABSENT);
            if doc_id.is_some() {
                sql.push(", ").name(DOC_ID);
            }
        }
        if given.is_empty() && !relation.is_kept() {
            sql = self.session.sql("INSERT INTO ");
            sql.push(&relation.sql_name()).push(" DEFAULT VALUES");
        } else {
            // Plans never give such a number; undo does, to a row that had it.
            let insists = given.iter().any(|position| relation.storage[*position].filled == Filled::Numbered);
            sql.push(if insists { ") OVERRIDING SYSTEM VALUE VALUES (" } else { ") VALUES (" });
            sql.list(", ", &given, |sql, position| {
                relation.push_value(sql, *position, values[*position].as_ref());
            });
            if relation.is_kept() {
                let listed = relation.absent(sql.dialect, values);
                sql.push(", ").bind(listed, "text");
                if let Some(doc_id) = doc_id {
                    sql.push(", ").integer_param(doc_id);
                }
            }
            sql.push(")");
        }
        sql.push(" ON CONFLICT DO NOTHING RETURNING ");
        relation.push_image(&mut sql);
        sql
    }

    fn update_statement(&self, relation: &Relation, before: &Image, after: &[Option<Value>]) -> Sql {
        let mut sql = self.session.sql("UPDATE ");
        sql.push(&relation.sql_rows()).push(" SET ");
        let is_changed = |position: usize| {
            before.values[position] != after[position]
                && relation.storage[position].filled != Filled::Calculated
        };
        let changed: Vec<usize> = (0..after.len()).filter(|position| is_changed(*position)).collect();
        sql.list(", ", changed, |sql, position| {
            sql.name(&relation.table.columns[position].name).push(" = ");
            relation.push_value(sql, position, after[position].as_ref());
        });
        if relation.is_kept() {
            sql.push(", ")
                .name(ABSENT)
                .push(" = ")
                .bind(relation.absent(self.session.dialect(), after), "text");
        }
        sql.push(" WHERE ");
        relation.push_row_condition(&mut sql, before);
        sql.push(" RETURNING ");
        relation.push_image(&mut sql);
        sql
    }

    /// PostgreSQL's counter does not notice ids that were given.
    async fn skip_numbers(&mut self, relation: &Relation) -> Result<(), StoreError> {
        if !relation.is_kept() || self.session.dialect() == Dialect::Sqlite {
            return Ok(());
        }
        let name = relation.sql_name();
        let sequence = format!("pg_get_serial_sequence({}, 'doc_id')", literal(&name));
        let sql = self.session.sql(&format!(
            "SELECT setval({sequence}, GREATEST((SELECT max(doc_id) FROM {name}), nextval({sequence})))::text"
        ));
        self.session.write(sql).await.map(drop)
    }

    /// Whether rows may be changed or removed. One that this transaction added is still being written.
    fn may_rewrite(
        &self,
        place: usize,
        relation: &Relation,
        images: &[Image],
        operation: &'static str,
    ) -> Result<(), StoreError> {
        let is_new = |image: &Image| self.changes.is_younger(place, image.doc_id, 0);
        if relation.table.append_only && !self.rules_lifted && !images.iter().all(is_new) {
            return Err(StoreError::AppendOnly { table: relation.table.name.clone(), operation });
        }
        Ok(())
    }

    /// Whether so many more rows may be touched.
    pub(super) fn make_room(&self, place: usize, relation: &Relation, more: usize) -> Result<(), StoreError> {
        let limits = &self.store.limits;
        let more = more as u64;
        // A row may be written twice, so that only a new one counts; without asking for each, more than allowed is
        // certain once the new ones alone are.
        if more > limits.rows_changed_max || self.changes.rows() > limits.rows_changed_max {
            return Err(StoreError::Limit { limit: "rows_changed_max", value: limits.rows_changed_max });
        }
        if self.changes.bytes() > limits.images_bytes_max {
            return Err(StoreError::Limit { limit: "images_bytes_max", value: limits.images_bytes_max });
        }
        let before = self.rows_before.get(&relation.table.name).copied().unwrap_or_default();
        match relation.max_rows_changed.map(|most| (most, most.saturating_sub(before))) {
            Some((value, left))
                if !self.rules_lifted && (more > left || self.changes.rows_of(place) > left) =>
            {
                Err(StoreError::Limit { limit: "max_rows_changed", value })
            }
            _ => Ok(()),
        }
    }
}

/// Says what a refusal of the database means for this table.
fn explain(relation: &Relation, error: StoreError, in_the_way: impl Fn() -> StoreError) -> StoreError {
    let table = relation.table.name.clone();
    match error {
        StoreError::DuplicateKey { .. } => in_the_way(),
        StoreError::Constraint { message, .. } | StoreError::BadValue { message, .. } => {
            StoreError::Constraint { table, message }
        }
        other => other,
    }
}

/// A new row's values, one for each column.
fn new_values(
    dialect: Dialect,
    relation: &Relation,
    row: Row,
    bytes_max: u64,
) -> Result<Vec<Option<Value>>, StoreError> {
    let mut values: Vec<Option<Value>> = vec![None; relation.storage.len()];
    for (name, value) in row.fields {
        let position = relation.visible(&name)?;
        if values[position].is_some() {
            return Err(StoreError::BadCall { message: format!("the field `{name}` is given twice") });
        }
        values[position] = Some(checked(dialect, relation, position, value)?);
    }
    if relation.is_kept() {
        let lacking = |(position, column): &(usize, &ordain_types::Column)| {
            values[*position].is_none() && !column.nullable && !column.hidden
        };
        if let Some((_, column)) = relation.table.columns.iter().enumerate().find(lacking) {
            return Err(bad_value(relation, &column.name, "nothing, and the row leaves it out".to_owned()));
        }
    }
    check_weight(&values, bytes_max)?;
    Ok(values)
}

fn assignments(
    dialect: Dialect,
    relation: &Relation,
    set: Row,
    unset: Vec<String>,
) -> Result<Assignments, StoreError> {
    let mut assignments = Vec::with_capacity(set.fields.len() + unset.len());
    for (name, value) in set.fields {
        let position = relation.visible(&name)?;
        assignments.push((position, Some(checked(dialect, relation, position, value)?)));
    }
    for name in unset {
        let position = relation.visible(&name)?;
        let column = &relation.table.columns[position];
        if !column.nullable {
            return Err(bad_value(relation, &column.name, "nothing (the field is taken away)".to_owned()));
        }
        // A table in place has no way to lack a field.
        assignments.push((position, if relation.is_kept() { None } else { Some(Value::Null) }));
    }
    Ok(assignments)
}

fn checked(
    dialect: Dialect,
    relation: &Relation,
    position: usize,
    value: Value,
) -> Result<Value, StoreError> {
    let column = &relation.table.columns[position];
    if relation.storage[position].filled != Filled::No {
        return Err(bad_value(relation, &column.name, "a value of yours: the database fills it".to_owned()));
    }
    if let (Kind::Array { .. }, false) =
        (relation.storage[position].kind, value.is_array() || value.is_null())
    {
        return Err(bad_value(relation, &column.name, "anything but a list".to_owned()));
    }
    let checked = value::check(column.column_type, column.nullable, value)
        .map_err(|message| bad_value(relation, &column.name, message))?;
    value::check_held(dialect, &relation.storage[position], &checked)
        .map_err(|message| bad_value(relation, &column.name, message))?;
    if relation.table.key.contains(&column.name) && value::weight(&checked) > KEY_BYTES_MAX {
        let message = format!("a key of more than {KEY_BYTES_MAX} bytes");
        return Err(bad_value(relation, &column.name, message));
    }
    Ok(value::image(&relation.storage[position], checked))
}

/// What a row becomes. A column that is assigned what it shows keeps what it holds.
fn with_assignments(relation: &Relation, before: &Image, assignments: &Assignments) -> Vec<Option<Value>> {
    let mut values = before.values.clone();
    for (position, assigned) in assignments {
        let (storage, held) = (&relation.storage[*position], &before.values[*position]);
        let is_same = |assigned: &Value| {
            relation.shown(*position, before).as_ref() == Some(&value::shown(storage, assigned.clone()))
        };
        if !assigned.as_ref().is_some_and(is_same) {
            let merged = assigned.clone().map(|assigned| value::merged(storage, held.as_ref(), assigned));
            values[*position] = merged;
        }
    }
    values
}

fn check_weight(values: &[Option<Value>], bytes_max: u64) -> Result<(), StoreError> {
    let weight: u64 = values.iter().flatten().map(value::weight).sum();
    if weight > bytes_max {
        return Err(StoreError::Limit { limit: "row_bytes_max", value: bytes_max });
    }
    Ok(())
}

/// Which row a new one collides with.
fn row_in_the_way(relation: &Relation, values: &[Option<Value>], doc_id: Option<i64>) -> StoreError {
    let image = Image { doc_id: doc_id.unwrap_or_default(), values: values.to_vec() };
    let key = relation.key_row(&image);
    let key: Vec<String> = key.fields.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    StoreError::DuplicateKey { table: relation.table.name.clone(), key: key.join(", ") }
}

fn bad_value(relation: &Relation, column: &str, message: String) -> StoreError {
    StoreError::BadValue { table: relation.table.name.clone(), column: column.to_owned(), message }
}

/// Whether a table takes rows at all.
fn may_write(relation: &Relation) -> Result<(), StoreError> {
    if relation.table.read_only || relation.read_only_reason.is_some() {
        let (table, reason) = (relation.table.name.clone(), relation.read_only_reason.clone());
        return Err(StoreError::ReadOnly { table, reason });
    }
    Ok(())
}
