//! Keys for new rows: each is given once and never again.

use std::collections::BTreeMap;

use ordain_types::ColumnType;
use serde_json::Value;

use super::Transaction;
use crate::bookkeeping::own;
use crate::error::StoreError;
use crate::protocol::Reply;
use crate::relation::{Image, Relation};

/// How many of the newest keys are compared: their text before the number must be the same.
const COMPARED: i64 = 5;
const DIGITS: &str = "0123456789";

impl Transaction {
    /// A key for a new row of a table, in the form of the keys that it has.
    pub(super) async fn next_id(&mut self, table: &str) -> Result<Reply, StoreError> {
        let (place, relation) = self.place(table)?;
        let [key] = relation.table.key.as_slice() else {
            return Err(uncounted(table, "its key is not one column"));
        };
        let kept = self.last_id(table).await?;
        let is_number = relation
            .table
            .column(key)
            .is_some_and(|it| matches!(it.column_type, ColumnType::Integer | ColumnType::Decimal));
        let (prefix, newest) = if is_number {
            (None, self.largest(&relation, key, None).await?)
        } else {
            self.form(&relation, key).await?
        };
        let digits = newest.as_deref().map_or("", |newest| &newest[prefix.as_ref().map_or(0, String::len)..]);
        let largest = digits.parse::<i64>().unwrap_or(0);
        let given = self.ids.get(&place).copied().unwrap_or(0);
        let next = largest
            .max(kept)
            .max(given)
            .checked_add(1)
            .ok_or_else(|| uncounted(table, "its keys are too large"))?;
        self.ids.insert(place, next);
        let key = match prefix {
            None => Value::from(next),
            Some(prefix) => Value::from(format!("{prefix}{next:0width$}", width = digits.len())),
        };
        Ok(Reply::Key { key })
    }

    /// The text before the number in a table's keys, and the key with the largest number.
    async fn form(
        &mut self,
        relation: &Relation,
        key: &str,
    ) -> Result<(Option<String>, Option<String>), StoreError> {
        let newest: Vec<String> = relation.order().iter().map(|column| format!("{column} DESC")).collect();
        let mut sql = self.session.sql("SELECT ");
        sql.result(&crate::sql::quoted(key)).push(" FROM ").push(&relation.sql_rows());
        sql.push(" ORDER BY ").push(&newest.join(", ")).push(" LIMIT ").integer_param(COMPARED);
        let rows = self.session.read(sql).await?;
        let prefixes: Vec<&str> = rows
            .iter()
            .filter_map(|row| row[0].as_text())
            .map(|key| key.trim_end_matches(|digit: char| digit.is_ascii_digit()))
            .collect();
        let prefix = prefixes.first().copied().unwrap_or_default().to_owned();
        if prefixes.iter().any(|other| *other != prefix) {
            return Err(uncounted(
                &relation.table.name,
                "its newest keys do not end in a number after the same text",
            ));
        }
        let largest = self.largest(relation, key, Some(&prefix)).await?;
        if largest.is_none() && !rows.is_empty() {
            return Err(uncounted(&relation.table.name, "its keys do not end in a number"));
        }
        Ok((Some(prefix), largest))
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

    /// The largest number that keys of a table ever had, as far as it was noted.
    async fn last_id(&mut self, table: &str) -> Result<i64, StoreError> {
        let meta = own(self.session.dialect(), "meta");
        let mut sql = self.session.sql(&format!("SELECT value FROM {meta} WHERE name = "));
        sql.text_param(&noted(table));
        let rows = self.session.read(sql).await?;
        Ok(rows.first().and_then(|row| row[0].as_text()).and_then(|text| text.parse().ok()).unwrap_or(0))
    }

    /// Notes the keys that were given and those of removed rows, so that neither is given again.
    pub(super) async fn note_ids(&mut self) -> Result<(), StoreError> {
        let mut largest: BTreeMap<usize, i64> = std::mem::take(&mut self.ids);
        for (place, before, after) in self.changes.touched() {
            let relation = self.catalog.at(place);
            let Some(number) = before.and_then(|image| number(relation, image)) else { continue };
            if after.and_then(|image| self::number(relation, image)) != Some(number) {
                let known = largest.entry(place).or_default();
                *known = number.max(*known);
            }
        }
        for (place, number) in largest {
            let table = self.catalog.at(place).table.name.clone();
            if number <= self.last_id(&table).await? {
                continue;
            }
            let meta = own(self.session.dialect(), "meta");
            let mut sql = self.session.sql(&format!("INSERT INTO {meta} (name, value) VALUES ("));
            sql.text_param(&noted(&table)).push(", ").text_param(&number.to_string());
            sql.push(") ON CONFLICT (name) DO UPDATE SET value = excluded.value");
            self.session.write(sql).await?;
        }
        Ok(())
    }
}

fn noted(table: &str) -> String {
    format!("last_id:{table}")
}

/// The number at the end of a row's key.
fn number(relation: &Relation, image: &Image) -> Option<i64> {
    let [(_, key)] = relation.key_row(image).fields.try_into().ok()?;
    match key {
        Value::String(text) => {
            let prefix = text.trim_end_matches(|digit: char| digit.is_ascii_digit()).len();
            text[prefix..].parse().ok()
        }
        key => key.as_i64(),
    }
}

fn uncounted(table: &str, why: &str) -> StoreError {
    let shown: String = table.chars().take(80).collect();
    StoreError::BadCall {
        message: format!("no key can be given for `{shown}`, because {why}; make one in the plan"),
    }
}
