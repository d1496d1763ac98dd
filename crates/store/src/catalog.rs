//! All tables of a workspace, as the database holds them.

mod foreign;
mod introspect;
mod keep;
mod retype;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use ordain_types::{ColumnType, Schema};

pub(crate) use foreign::{as_they_are, newest_version, version};
pub(crate) use introspect::introspect;
pub(crate) use keep::{Definition, create, create_missing_indexes, definitions, load, remove_rows};
pub(crate) use retype::{newly_typed, retype};

use crate::error::StoreError;
use crate::options::{Invariant, TableDeclaration};
use crate::query::RowWise;
use crate::query::tokens::{self, Token};
use crate::relation::{ABSENT, DOC_ID, Kind, MadeOf, Relation, shortened};
use crate::session::PlanAccess;

/// Tables that are locked at once: the server has room for some thousands of locks in all.
const LOCKED_MAX: usize = 400;

/// The tables that plans may see.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    relations: Vec<Arc<Relation>>,
    places: HashMap<String, usize>,
    plan_access: Arc<PlanAccess>,
}

impl Catalog {
    pub(crate) fn new(relations: Vec<Relation>) -> Self {
        Self::of(relations.into_iter().map(Arc::new).collect())
    }

    /// The same tables without those of other names. Places differ.
    pub(crate) fn only(&self, tables: &BTreeSet<String>) -> Self {
        let named = self.relations.iter().filter(|relation| tables.contains(&relation.table.name));
        Self::of(named.map(Arc::clone).collect())
    }

    fn of(relations: Vec<Arc<Relation>>) -> Self {
        let places = relations
            .iter()
            .enumerate()
            .map(|(place, relation)| (relation.table.name.clone(), place))
            .collect();
        let tables = relations.iter().map(|relation| &relation.table).filter(|table| !table.hidden);
        let plan_access = Arc::new(PlanAccess::new(tables, &[ABSENT]));
        Self { relations, places, plan_access }
    }

    /// The place of a table, by which changes refer to it.
    pub(crate) fn place(&self, table: &str) -> Result<usize, StoreError> {
        self.places.get(table).copied().ok_or_else(|| self.unknown(table))
    }

    /// The place of a table that plans may see.
    pub(crate) fn visible_place(&self, table: &str) -> Result<usize, StoreError> {
        let place = self.place(table)?;
        if self.at(place).table.hidden { Err(self.unknown(table)) } else { Ok(place) }
    }

    fn unknown(&self, table: &str) -> StoreError {
        let known = self.relations().filter(|relation| !relation.table.hidden);
        let nearest = ordain_types::nearest(table, known.map(|relation| relation.table.name.as_str()));
        StoreError::UnknownTable { table: shortened(table), nearest: nearest.map(str::to_owned) }
    }

    /// Whether a value that was read from this column may be shown. Nothing else decides that: where a value comes from
    /// counts, and not the name under which it comes out.
    pub(crate) fn shows(&self, table: &str, column: &str) -> bool {
        self.visible_place(table).is_ok_and(|place| {
            let relation = self.at(place);
            let is_id = relation.is_kept() && column == DOC_ID;
            is_id || relation.table.column(column).is_some_and(|column| !column.hidden)
        })
    }

    pub(crate) fn at(&self, place: usize) -> &Arc<Relation> {
        &self.relations[place]
    }

    pub(crate) fn relations(&self) -> impl Iterator<Item = &Relation> {
        self.relations.iter().map(Arc::as_ref)
    }

    /// Those of some tables that can be locked, with all whose rows follow theirs, by their names in SQL. `None`: all
    /// tables, or, where they are too many, none: each is locked when it is touched.
    pub(crate) fn lockable(&self, tables: Option<&BTreeSet<String>>) -> Vec<String> {
        let mut places: BTreeSet<usize> = match tables {
            Some(tables) => tables.iter().filter_map(|table| self.places.get(table).copied()).collect(),
            None if self.relations.len() > LOCKED_MAX => BTreeSet::new(),
            None => (0..self.relations.len()).collect(),
        };
        let mut new: Vec<usize> = places.iter().copied().collect();
        while let Some(place) = new.pop() {
            let followers = self.relations[place].followers.iter();
            let followers = followers.filter_map(|follower| self.places.get(&follower.table).copied());
            new.extend(followers.filter(|follower| places.insert(*follower)));
        }
        let relations = places.into_iter().map(|place| &self.relations[place]);
        let mut names: Vec<String> =
            relations.filter(|relation| relation.is_lockable).map(|relation| relation.sql_name()).collect();
        names.sort_unstable();
        names
    }

    pub(crate) fn plan_access(&self) -> &Arc<PlanAccess> {
        &self.plan_access
    }

    pub(crate) fn schema(&self) -> Schema {
        Schema { tables: self.relations.iter().map(|relation| relation.table.clone()).collect() }
    }
}

/// Hides what is made of what is hidden: columns that are calculated from a hidden one, and views of the tables that are named
/// first, unless their owner names the view itself.
pub(crate) fn hide_what_is_made_of(
    relations: &mut [Relation],
    mut hidden: BTreeSet<String>,
    is_named: impl Fn(&str) -> bool,
) {
    let mut goes_on = true;
    while std::mem::take(&mut goes_on) {
        for relation in relations.iter_mut() {
            for made_of in std::mem::take(&mut relation.made_of) {
                let table = &mut relation.table;
                match &made_of {
                    MadeOf::Table(from) if hidden.contains(from) && !is_named(&table.name) => {
                        goes_on |= hidden.insert(table.name.clone());
                        table.hidden = true;
                    }
                    MadeOf::Column { column, from } if table.column(from).is_some_and(|from| from.hidden) => {
                        let made = table.columns.iter_mut().find(|made| made.name == *column && !made.hidden);
                        if let Some(made) = made {
                            made.hidden = true;
                            table.hidden |= table.key.contains(column);
                            hidden.insert(table.name.clone());
                            goes_on = true;
                        }
                    }
                    MadeOf::Table(_) | MadeOf::Column { .. } => {}
                }
                relation.made_of.push(made_of);
            }
        }
    }
}

/// Applies what may change from one opening to the next: rules, hidden columns and limits.
pub(crate) fn apply_rules(relation: &mut Relation, declaration: &TableDeclaration) -> Result<(), StoreError> {
    let wrong = |message: String, hint: Option<String>| StoreError::Declaration {
        what: format!("table `{}`", declaration.name),
        message,
        hint,
    };
    for name in declaration.hidden_columns.iter().chain(declaration.indexes.iter().flatten()) {
        if relation.table.column(name).is_none() {
            let names = relation.table.columns.iter().map(|column| column.name.as_str());
            let hint = ordain_types::nearest(name, names).map(|nearest| format!("did you mean `{nearest}`?"));
            return Err(wrong(format!("it has no column `{name}`"), hint));
        }
    }
    for column in &mut relation.table.columns {
        column.hidden = declaration.hidden_columns.contains(&column.name);
        if column.hidden && relation.table.key.contains(&column.name) {
            let hint = "plans, diffs and people name rows by their key: hide the whole table, and let plans read a view \
                        of it without the key";
            let hint = Some(hint.to_owned());
            return Err(wrong(format!("the key column `{}` cannot be hidden", column.name), hint));
        }
    }
    relation.table.append_only = declaration.append_only;
    relation.table.hidden = declaration.hidden;
    relation.table.read_only = declaration.read_only || relation.table.read_only;
    relation.max_rows_changed = declaration.max_rows_changed;
    relation.allows_triggers = declaration.allows_triggers;
    Ok(())
}

/// Whether a kept table still is what the workspace declares.
pub(crate) fn check_unchanged(relation: &Relation, declaration: &TableDeclaration) -> Result<(), StoreError> {
    let changed = |message: String| StoreError::Declaration {
        what: format!("table `{}`", declaration.name),
        message,
        hint: Some(
            "`ordain tables reseed` makes the table anew from its seed; it removes what runs changed"
                .to_owned(),
        ),
    };
    let columns = || relation.table.columns.iter().map(|column| column.name.as_str());
    if let Some(name) = declaration.key.iter().find(|name| columns().all(|column| column != *name)) {
        return Err(StoreError::Declaration {
            what: format!("table `{}`", declaration.name),
            message: format!("its key names a column `{name}` that it does not have"),
            hint: ordain_types::nearest(name, columns()).map(|near| format!("did you mean `{near}`?")),
        });
    }
    if relation.table.key != declaration.key {
        return Err(changed("its key is no longer what it was when the table was made".to_owned()));
    }
    for (name, declared) in &declaration.columns {
        match relation.table.column(name) {
            Some(column) if column.column_type == declared.column_type => {}
            // What holds any value gets its type when the store is opened to be written.
            Some(column) if column.column_type == ColumnType::Any => {}
            Some(_) => {
                return Err(changed(format!(
                    "column `{name}` has another type than when the table was made"
                )));
            }
            None => return Err(changed(format!("column `{name}` was declared after the table was made"))),
        }
    }
    Ok(())
}

/// Column lists that get an index: declared ones, columns that look like what rows are asked for by, and numbers that
/// an invariant over whole tables compares, which would otherwise cost every commit a scan. One about single rows looks at
/// those that a run touched; an index on a column that runs change would make them meet each other in its pages.
pub(crate) fn wanted_indexes(
    relation: &Relation,
    declaration: &TableDeclaration,
    invariants: &[Invariant],
) -> Vec<Vec<String>> {
    const AUTOMATIC_MAX: usize = 8;
    let mut wanted = declaration.indexes.clone();
    let telling = relation.table.columns.iter().enumerate().filter(|(position, column)| {
        let kind = relation.storage[*position].kind;
        // By a hidden column no plan asks.
        let is_hidden = declaration.hidden_columns.contains(&column.name);
        matches!(kind, Kind::Text | Kind::Integer) && names_rows(&column.name) && !is_hidden
    });
    wanted.extend(telling.map(|(_, column)| vec![column.name.clone()]).take(AUTOMATIC_MAX));
    let over_tables = invariants.iter().filter(|invariant| RowWise::of(&invariant.sql).is_none());
    let compared = over_tables.flat_map(|invariant| compared_numbers(relation, &invariant.sql));
    wanted.extend(compared.map(|column| vec![column]).take(AUTOMATIC_MAX));
    let mut seen = HashSet::new();
    wanted.retain(|columns| {
        !columns.is_empty() && *columns != relation.table.key && seen.insert(columns.clone())
    });
    wanted
}

/// The columns with numbers that a query on this table compares with something, as in `quantity < 0`.
fn compared_numbers(relation: &Relation, sql: &str) -> Vec<String> {
    let Ok(tokens) = tokens::tokens(sql) else { return Vec::new() };
    let names = |token: &Token, name: &str| match token {
        Token::Word(word) => word.eq_ignore_ascii_case(name),
        Token::Quoted(quoted) => quoted == name,
        _ => false,
    };
    if !tokens.list.iter().any(|token| names(token, &relation.table.name)) {
        return Vec::new();
    }
    let is_compared = |name: &str| {
        tokens
            .list
            .windows(2)
            .any(|pair| names(&pair[0], name) && matches!(pair[1], Token::Symbol("<" | ">" | "=")))
    };
    let numbers = std::iter::zip(&relation.table.columns, &relation.storage)
        .filter(|(_, storage)| matches!(storage.kind, Kind::Integer | Kind::Double));
    numbers.map(|(column, _)| column.name.clone()).filter(|name| is_compared(name)).collect()
}

/// Whether a column's name says that rows are looked up by it: `name`, `customer_id`, `postal_code`.
fn names_rows(column: &str) -> bool {
    const TELLING: [&str; 10] =
        ["id", "name", "code", "sku", "email", "key", "slug", "number", "barcode", "username"];
    let lower = column.to_lowercase();
    TELLING.iter().any(|word| {
        lower == *word || lower.strip_suffix(word).is_some_and(|start| start.ends_with(['_', '-', ' ', '.']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_that_names_rows_is_recognised_by_whole_words() {
        for right in ["name", "item_id", "Customer Name", "SKU", "order_number"] {
            assert!(names_rows(right), "{right}");
        }
        for wrong in ["price", "paid", "surname_length", "valid", "description"] {
            assert!(!names_rows(wrong), "{wrong}");
        }
    }
}
