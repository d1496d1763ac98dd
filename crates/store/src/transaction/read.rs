//! Reading rows.

use std::sync::Arc;

use ordain_types::ColumnType;

use super::Transaction;
use crate::condition::{self, Compiled, Condition, Test};
use crate::error::StoreError;
use crate::protocol::{Page, PageRow, Reply};
use crate::relation::{DOC_ID, Identity, Image, ROW_NUMBER, Relation, address_of_doc_id};
use crate::session::Rows;
use crate::sql::{Datum, Sql, quoted};

/// Ids that one statement asks for.
const IDS_MAX: usize = 500;

/// Which rows a page is about.
pub(super) struct Search {
    pub(super) condition: Option<Condition>,
    pub(super) after: Option<i64>,
    pub(super) as_of: Option<u64>,
    pub(super) limit: Option<u64>,
}

impl Transaction {
    pub(super) async fn search(&mut self, table: &str, search: Search) -> Result<Page, StoreError> {
        let (place, relation) = self.place(table).await?;
        let compiled = self.compile(&relation, search.condition.as_ref())?;
        let limit = search.limit.unwrap_or(u64::MAX).clamp(1, self.store.limits.page_rows_max);
        let as_of = search.as_of.unwrap_or_else(|| self.changes.writes());
        let mut page = Page {
            columns: columns(&relation),
            decimals: decimals(&relation),
            exact: compiled.exact,
            as_of,
            ..Page::default()
        };
        page.last = search.after;
        if compiled.test == Test::False {
            return Ok(page);
        }
        let images = self.page(place, &relation, compiled.test, page.last, limit).await?;
        page.more = images.1;
        for image in images.0 {
            page.last = Some(image.doc_id);
            if !self.changes.is_younger(place, image.doc_id, as_of) {
                page.rows.push(page_row(&relation, &image));
            }
        }
        Ok(page)
    }

    pub(super) async fn get(&mut self, table: &str, doc_ids: Vec<i64>) -> Result<Page, StoreError> {
        let (place, relation) = self.place(table).await?;
        let images = self.images(place, &relation, doc_ids).await?;
        let bytes: u64 = images.iter().map(weight).sum();
        if bytes > self.store.limits.query_bytes_max {
            return Err(StoreError::Limit {
                limit: "query_bytes_max",
                value: self.store.limits.query_bytes_max,
            });
        }
        let rows = images.iter().map(|image| page_row(&relation, image)).collect();
        Ok(Page {
            columns: columns(&relation),
            decimals: decimals(&relation),
            rows,
            exact: true,
            as_of: self.changes.writes(),
            ..Page::default()
        })
    }

    pub(super) async fn count(
        &mut self,
        table: &str,
        condition: Option<Condition>,
    ) -> Result<Reply, StoreError> {
        let (_, relation) = self.place(table).await?;
        let compiled = self.compile(&relation, condition.as_ref())?;
        if !compiled.exact {
            return Ok(Reply::Count { count: None, exact: false });
        }
        let mut sql = self.session.sql("SELECT ");
        sql.result("count(*)").push(" FROM ").push(&relation.sql_rows()).push(" WHERE ");
        compiled.test.write(&mut sql);
        let rows = self.session.read(sql).await?;
        let count = rows.first().and_then(|row| row[0].as_integer());
        Ok(Reply::Count { count: count.and_then(|count| u64::try_from(count).ok()), exact: true })
    }

    pub(super) fn compile(
        &self,
        relation: &Relation,
        condition: Option<&Condition>,
    ) -> Result<Compiled, StoreError> {
        let Some(condition) = condition else { return Ok(Compiled { test: Test::True, exact: true }) };
        let parts_max = self.store.limits.condition_parts_max;
        if condition.parts() > parts_max {
            return Err(StoreError::Limit { limit: "condition_parts_max", value: parts_max });
        }
        condition::compile(relation, self.session.dialect(), condition)
    }

    /// One page of images in order, and whether there may be more.
    pub(super) async fn page(
        &mut self,
        place: usize,
        relation: &Arc<Relation>,
        test: Test,
        after: Option<i64>,
        limit: u64,
    ) -> Result<(Vec<Image>, bool), StoreError> {
        let mut sql = self.select(relation);
        test.write(&mut sql);
        if let Some(after) = after {
            self.push_after(place, relation, &mut sql, after).await?;
        }
        let order = relation.order();
        let order = if order.is_empty() { "ctid".to_owned() } else { order.join(", ") };
        sql.push(" ORDER BY ").push(&order).push(" LIMIT ");
        sql.integer_param(i64::try_from(limit).unwrap_or(i64::MAX));
        let (rows, cut) = self.session.read_page(sql, self.store.limits.page_bytes_max).await?;
        let more = cut || rows.len() as u64 == limit;
        Ok((self.decode(place, relation, rows)?, more))
    }

    /// Adds the condition that a row comes behind another.
    async fn push_after(
        &mut self,
        place: usize,
        relation: &Arc<Relation>,
        sql: &mut Sql,
        after: i64,
    ) -> Result<(), StoreError> {
        match relation.identity {
            Identity::DocId => {
                sql.push(" AND ").name(DOC_ID).push(" > ").integer_param(after);
            }
            Identity::RowNumber => {
                sql.push(" AND ").name(ROW_NUMBER).push(" > ").integer_param(after);
            }
            Identity::IntegerKey(position) => {
                sql.push(" AND ")
                    .name(&relation.table.columns[position].name)
                    .push(" > ")
                    .integer_param(after);
            }
            Identity::Key if relation.table.key.is_empty() => {
                let address = address_of_doc_id(after).ok_or_else(no_row)?;
                sql.push(" AND ctid > ").bind(Datum::Text(address), "tid");
            }
            Identity::Key => {
                let last = match self.changes.last_image(place, after) {
                    Some(image) => image.clone(),
                    None => self.images(place, relation, vec![after]).await?.pop().ok_or_else(no_row)?,
                };
                let keys: Vec<usize> = relation.key_positions().collect();
                sql.push(" AND (").push(&relation.order().join(", ")).push(") > (");
                sql.list(", ", keys, |sql, position| {
                    relation.push_value(sql, position, last.values[position].as_ref());
                });
                sql.push(")");
            }
        }
        Ok(())
    }

    /// The images of rows by their ids, in the table's order; ids without a row are left out.
    pub(super) async fn images(
        &mut self,
        place: usize,
        relation: &Arc<Relation>,
        mut doc_ids: Vec<i64>,
    ) -> Result<Vec<Image>, StoreError> {
        doc_ids.sort_unstable();
        doc_ids.dedup();
        if doc_ids.len() as u64 > self.store.limits.rows_changed_max {
            let value = self.store.limits.rows_changed_max;
            return Err(StoreError::Limit { limit: "rows_changed_max", value });
        }
        let mut images = Vec::new();
        for ids in doc_ids.chunks(IDS_MAX) {
            let mut sql = self.select(relation);
            self.push_ids(place, relation, &mut sql, ids);
            let rows = self.session.read(sql).await?;
            images.extend(self.decode(place, relation, rows)?);
        }
        images.sort_by_key(|image| image.doc_id);
        Ok(images)
    }

    fn push_ids(&self, place: usize, relation: &Relation, sql: &mut Sql, ids: &[i64]) {
        let column = match relation.identity {
            Identity::DocId => quoted(DOC_ID),
            Identity::RowNumber => quoted(ROW_NUMBER),
            Identity::IntegerKey(position) => quoted(&relation.table.columns[position].name),
            Identity::Key => "ctid".to_owned(),
        };
        sql.push(&column).push(" IN (");
        sql.list(", ", ids, |sql, id| match relation.identity {
            Identity::Key => {
                let address = address_of_doc_id(self.changes.place_of_id(place, *id));
                sql.bind(address.map_or(Datum::Null, Datum::Text), "tid");
            }
            _ => {
                sql.integer_param(*id);
            }
        });
        sql.push(")");
    }

    pub(super) fn select(&self, relation: &Relation) -> Sql {
        let mut sql = self.session.sql("SELECT ");
        relation.push_image(&mut sql);
        sql.push(" FROM ").push(&relation.sql_rows()).push(" WHERE ");
        sql
    }

    pub(super) fn decode(
        &self,
        place: usize,
        relation: &Relation,
        rows: Rows,
    ) -> Result<Vec<Image>, StoreError> {
        rows.into_iter()
            .map(|row| {
                let mut image = relation.image(row)?;
                image.doc_id = self.changes.id_of_place(place, image.doc_id);
                Ok(image)
            })
            .collect()
    }
}

fn columns(relation: &Relation) -> Vec<String> {
    relation.visible_columns().map(|(_, column)| column.name.clone()).collect()
}

/// The places of the decimals among the visible columns.
fn decimals(relation: &Relation) -> Vec<usize> {
    let types = relation.visible_columns().map(|(_, column)| column.column_type).enumerate();
    types.filter(|(_, holds)| *holds == ColumnType::Decimal).map(|(place, _)| place).collect()
}

fn page_row(relation: &Relation, image: &Image) -> PageRow {
    let values = relation.visible_columns().map(|(position, _)| relation.shown(position, image)).collect();
    PageRow { doc_id: image.doc_id, values }
}

fn weight(image: &Image) -> u64 {
    image.values.iter().flatten().map(crate::value::weight).sum()
}

fn no_row() -> StoreError {
    StoreError::BadCall { message: "`after` is not a row of the table".to_owned() }
}
