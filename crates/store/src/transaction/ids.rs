//! Keys for new rows: each is given once and never again.
//!
//! Looking for the largest key would mean to look through the table, because texts are not in the order of the numbers at
//! their ends. So the largest number is noted: when a table is made from its seed, and with every key that is given. What
//! others have added since is found where the next key would be.

use std::collections::BTreeMap;

use ordain_types::ColumnType;
use serde_json::Value;

use super::Transaction;
use crate::bookkeeping::own;
use crate::error::StoreError;
use crate::protocol::Reply;
use crate::relation::{Image, Relation};
use crate::sql::{Dialect, Sql};

/// How many of the newest keys are compared: their text before the number must be the same.
const COMPARED: usize = 5;
const DIGITS: &str = "0123456789";
/// How many of the next keys are looked up at once: first a few, then, if one of them is taken, many.
const NEXT_FEW: i64 = 8;
const NEXT_MANY: i64 = 500;

/// What the keys of a table look like.
struct Form {
    /// The text before the number; `None` where the key is a number.
    prefix: Option<String>,
    /// How many digits the number has at least.
    width: usize,
    /// The largest number among the newest keys.
    largest: i64,
}

impl Form {
    /// Reads the newest keys; fails with the reason why they do not count.
    fn of(newest: &[&str]) -> Result<Self, &'static str> {
        let parts: Vec<(&str, &str)> = newest.iter().map(|key| key.split_at(text_before(key))).collect();
        let prefix = parts.first().map_or("", |(prefix, _)| prefix);
        if parts.iter().any(|(other, _)| *other != prefix) {
            return Err("its newest keys do not end in a number after the same text");
        }
        let numbers = parts.iter().map(|(_, digits)| *digits).filter(|digits| !digits.is_empty());
        let Some(longest) = numbers.clone().max_by_key(|digits| digits.len()) else {
            let (prefix, is_empty) = (Some(prefix.to_owned()), newest.is_empty());
            let form = Self { prefix, width: 0, largest: 0 };
            return if is_empty { Ok(form) } else { Err("its keys do not end in a number") };
        };
        let largest = numbers.filter_map(|digits| digits.parse().ok()).max().unwrap_or(i64::MAX);
        Ok(Self { prefix: Some(prefix.to_owned()), width: longest.len(), largest })
    }

    fn key(&self, number: i64) -> Value {
        match &self.prefix {
            None => Value::from(number),
            Some(prefix) => Value::from(format!("{prefix}{number:0width$}", width = self.width)),
        }
    }
}

impl Transaction {
    /// A key for a new row of a table, in the form of the keys that it has.
    pub(super) async fn next_id(&mut self, table: &str) -> Result<Reply, StoreError> {
        let (place, relation) = self.place(table).await?;
        let [key] = relation.table.key.as_slice() else {
            return Err(uncounted(table, "its key is not one column"));
        };
        let position = relation.visible(key)?;
        let noted = self.noted(table).await?;
        let is_number =
            matches!(relation.table.columns[position].column_type, ColumnType::Integer | ColumnType::Decimal);
        let form = if is_number {
            let largest = self.largest(&relation, key, None).await?;
            let largest = largest.and_then(|key| key.parse().ok()).unwrap_or(0);
            Form { prefix: None, width: 0, largest }
        } else {
            let newest = self.newest(&relation, key).await?;
            let newest: Vec<&str> = newest.iter().map(String::as_str).collect();
            Form::of(&newest).map_err(|why| uncounted(table, why))?
        };
        let given = self.ids.get(&place).copied().unwrap_or(0);
        let mut last = form.largest.max(given).max(noted.given.unwrap_or(0)).max(noted.removed);
        if let Some(prefix) = &form.prefix {
            if noted.given.is_none() && given == 0 {
                // Nobody has looked yet.
                let largest = self.largest(&relation, key, Some(prefix)).await?;
                last = last.max(largest.map_or(0, |key| key[prefix.len()..].parse().unwrap_or(i64::MAX)));
            }
            last = self.last_taken(&relation, position, &form, last).await?;
        }
        let next = last.checked_add(1).ok_or_else(|| uncounted(table, "its keys are too large"))?;
        self.ids.insert(place, next);
        Ok(Reply::Key { key: form.key(next) })
    }

    /// The newest keys of a table.
    async fn newest(&mut self, relation: &Relation, key: &str) -> Result<Vec<String>, StoreError> {
        let newest: Vec<String> = relation.order().iter().map(|column| format!("{column} DESC")).collect();
        let mut sql = self.session.sql("SELECT ");
        sql.result(&crate::sql::quoted(key)).push(" FROM ").push(&relation.sql_rows());
        sql.push(" ORDER BY ").push(&newest.join(", ")).push(&format!(" LIMIT {COMPARED}"));
        let rows = self.session.read(sql).await?;
        Ok(rows.iter().filter_map(|row| row[0].as_text()).map(str::to_owned).collect())
    }

    /// The last number behind which the next few are free.
    async fn last_taken(
        &mut self,
        relation: &Relation,
        position: usize,
        form: &Form,
        mut last: i64,
    ) -> Result<i64, StoreError> {
        let key = crate::sql::quoted(&relation.table.columns[position].name);
        let mut count = NEXT_FEW;
        loop {
            let numbers = last.saturating_add(1)..=last.saturating_add(count);
            let mut sql = self.session.sql("SELECT ");
            sql.result(&key).push(&format!(" FROM {} WHERE {key} IN (", relation.sql_rows()));
            sql.list(", ", numbers, |sql, number| {
                relation.push_value(sql, position, Some(&form.key(number)));
            });
            sql.push(")");
            let rows = self.session.read(sql).await?;
            let taken = rows.iter().filter_map(|row| row[0].as_text());
            let Some(taken) = taken.filter_map(|key| key[text_before(key)..].parse().ok()).max() else {
                return Ok(last);
            };
            (last, count) = (taken, NEXT_MANY);
        }
    }

    /// The key with the largest number, among those that begin with a text if one is given.
    async fn largest(
        &mut self,
        relation: &Relation,
        key: &str,
        prefix: Option<&str>,
    ) -> Result<Option<String>, StoreError> {
        let key = crate::sql::quoted(key);
        let mut sql = self.session.sql("SELECT ");
        sql.result(&key).push(" FROM ").push(&relation.sql_rows());
        match prefix {
            None => sql.push(" ORDER BY ").push(&key).push(" DESC LIMIT 1"),
            Some(prefix) => {
                // Both databases take off the digits at the end in the same way.
                sql.push(&format!(" WHERE rtrim({key}, '{DIGITS}') = ")).text_param(prefix);
                sql.push(&format!(" AND length({key}) > "))
                    .integer_param(prefix.chars().count().try_into().unwrap_or(0));
                sql.push(&format!(" ORDER BY length({key}) DESC, {key} DESC LIMIT 1"))
            }
        };
        let rows = self.session.read(sql).await?;
        let key = rows.first().map(|row| &row[0]);
        Ok(key
            .and_then(|key| key.as_text().map(str::to_owned).or_else(|| Some(key.as_integer()?.to_string()))))
    }

    /// What was noted about the keys of a table.
    async fn noted(&mut self, table: &str) -> Result<Noted, StoreError> {
        let meta = own(self.session.dialect(), "meta");
        let mut sql = self.session.sql(&format!("SELECT name, value FROM {meta} WHERE name IN ("));
        sql.text_param(&given_of(table)).push(", ").text_param(&removed_of(table)).push(")");
        let mut noted = Noted::default();
        for row in self.session.read(sql).await? {
            let number = row[1].as_text().and_then(|text| text.parse().ok());
            if row[0].as_text() == Some(&given_of(table)) {
                noted.given = number;
            } else {
                noted.removed = number.unwrap_or(0);
            }
        }
        Ok(noted)
    }

    /// Notes the keys that were given and those of removed rows, so that neither is given again.
    pub(super) async fn note_ids(&mut self) -> Result<(), StoreError> {
        let mut largest: BTreeMap<usize, i64> = BTreeMap::new();
        for (place, before, after) in self.changes.touched() {
            let relation = self.catalog.at(place);
            let Some(number) = before.and_then(|image| number(relation, image)) else { continue };
            if after.and_then(|image| self::number(relation, image)) != Some(number) {
                let known = largest.entry(place).or_default();
                *known = number.max(*known);
            }
        }
        let catalog = std::sync::Arc::clone(&self.catalog);
        let name = |place: usize| catalog.at(place).table.name.clone();
        let given = self.ids.iter().map(|(place, number)| (given_of(&name(*place)), *number));
        let mut numbers: Vec<(String, i64)> = given.collect();
        for (place, number) in largest {
            let table = name(place);
            let noted = self.noted(&table).await?;
            if number > noted.removed.max(noted.given.unwrap_or(0)) {
                numbers.push((removed_of(&table), number));
            }
        }
        for (name, number) in numbers {
            let sql = note(self.session.dialect(), &name, number);
            self.session.write(sql).await?;
        }
        Ok(())
    }
}

/// What was noted about the keys of a table.
#[derive(Default)]
struct Noted {
    /// The largest number that was given; `None` if no key of the table was ever looked for.
    given: Option<i64>,
    /// The largest number of a row that was removed.
    removed: i64,
}

/// The statement that notes the largest key of rows from which a table is made; `None` where its keys do not count.
pub(crate) fn note_of_seed(dialect: Dialect, relation: &Relation, rows: &[Image]) -> Option<Sql> {
    let [key] = relation.table.key.as_slice() else { return None };
    let position = relation.position(key)?;
    let keys: Vec<&str> = rows.iter().filter_map(|row| row.values[position].as_ref()?.as_str()).collect();
    let form = Form::of(&keys[keys.len().saturating_sub(COMPARED)..]).ok()?;
    let prefix = form.prefix?;
    let numbers = keys.iter().filter(|key| key[..text_before(key)] == prefix);
    let largest = numbers.filter_map(|key| key[prefix.len()..].parse().ok()).max()?;
    Some(note(dialect, &given_of(&relation.table.name), largest))
}

/// The statement that notes a number, unless a larger one is noted.
fn note(dialect: Dialect, name: &str, number: i64) -> Sql {
    let meta = own(dialect, "meta");
    let mut sql = Sql::new(dialect, &format!("INSERT INTO {meta} AS noted (name, value) VALUES ("));
    sql.text_param(name).push(", ").text_param(&number.to_string());
    sql.push(
        ") ON CONFLICT (name) DO UPDATE SET value = excluded.value
           WHERE CAST(noted.value AS bigint) < CAST(excluded.value AS bigint)",
    );
    sql
}

fn given_of(table: &str) -> String {
    format!("last_id:{table}")
}

fn removed_of(table: &str) -> String {
    format!("last_removed_id:{table}")
}

/// How many bytes of a key come before the number at its end.
fn text_before(key: &str) -> usize {
    key.trim_end_matches(|digit: char| digit.is_ascii_digit()).len()
}

/// The number at the end of a row's key.
fn number(relation: &Relation, image: &Image) -> Option<i64> {
    let [(_, key)] = relation.key_row(image).fields.try_into().ok()?;
    match key {
        Value::String(text) => text[text_before(&text)..].parse().ok(),
        key => key.as_i64(),
    }
}

fn uncounted(table: &str, why: &str) -> StoreError {
    let shown: String = table.chars().take(80).collect();
    StoreError::BadCall {
        message: format!("no key can be given for `{shown}`, because {why}; make one in the plan"),
    }
}
