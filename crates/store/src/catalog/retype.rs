//! Columns whose type is declared only after their table was made: those of any value, as a column is that was null in every
//! row of its seed. They get the declared type where they are; no row changes.

use ordain_types::ColumnType;

use super::keep;
use crate::error::StoreError;
use crate::options::TableDeclaration;
use crate::relation::{DOC_ID, Kind, Relation, Storage};
use crate::session::Session;
use crate::sql::{Dialect, literal, quoted};
use crate::value;

/// What the table is called while its rows move into another one.
const FORMER: &str = "ordain_former";

/// The columns of a kept table that hold any value and are declared with a type, by their places.
pub(crate) fn newly_typed(relation: &Relation, declaration: &TableDeclaration) -> Vec<(usize, ColumnType)> {
    let columns = relation.table.columns.iter().enumerate();
    let declared = |name: &str| Some(declaration.columns.get(name)?.column_type);
    columns
        .filter(|(_, column)| relation.is_kept() && column.column_type == ColumnType::Any)
        .filter_map(|(place, column)| Some((place, declared(&column.name)?)))
        // Nested values are held as they are declared already.
        .filter(|(_, column_type)| !matches!(column_type, ColumnType::Json | ColumnType::Any))
        .collect()
}

/// Gives columns their types. A value that does not fit is an error, and nothing is changed.
pub(crate) async fn retype(
    session: &mut Session,
    relation: &mut Relation,
    columns: Vec<(usize, ColumnType)>,
) -> Result<(), StoreError> {
    for (place, column_type) in &columns {
        check_values(session, relation, *place, *column_type).await?;
    }
    let was_typed: Vec<bool> = (0..relation.storage.len())
        .map(|place| columns.iter().all(|(retyped, _)| *retyped != place))
        .collect();
    for (place, column_type) in columns {
        relation.table.columns[place].column_type = column_type;
        relation.storage[place] = Storage::kept(column_type);
    }
    let script = match session.dialect() {
        Dialect::Sqlite => moved(relation),
        Dialect::Postgres => altered(relation, &was_typed),
    };
    session.script(script).await?;
    keep::remember(session, relation).await
}

async fn check_values(
    session: &mut Session,
    relation: &Relation,
    place: usize,
    column_type: ColumnType,
) -> Result<(), StoreError> {
    let name = &relation.table.columns[place].name;
    let mut sql = session.sql("SELECT ");
    relation.push_image(&mut sql);
    sql.push(&format!(" FROM {} WHERE {} IS NOT NULL", relation.sql_name(), quoted(name)));
    for row in session.read(sql).await? {
        let mut image = relation.image(row)?;
        let value = image.values[place].take().unwrap_or_default();
        if let Err(message) = value::check(column_type, true, value) {
            let id = image.doc_id;
            return Err(StoreError::Declaration {
                what: format!("table `{}`", relation.table.name),
                message: format!(
                    "column `{name}` cannot have the declared type: in the row with the doc_id {id} it cannot hold {message}"
                ),
                hint: Some(
                    "correct the value before the type is declared; `ordain tables reseed` makes the table anew from its seed, and removes what runs changed since, after a copy"
                        .to_owned(),
                ),
            });
        }
    }
    Ok(())
}

/// SQLite changes no types, so the rows move into a table that has them, with the numbers of rows that are gone.
fn moved(relation: &Relation) -> String {
    let (name, table) = (relation.sql_name(), literal(&relation.table.name));
    let columns = relation.table.columns.iter().map(|column| quoted(&column.name));
    let names = [quoted(DOC_ID)].into_iter().chain(columns).chain([quoted(crate::relation::ABSENT)]);
    let names = names.collect::<Vec<_>>().join(", ");
    let indexes = keep::index_script(Dialect::Sqlite, relation);
    format!(
        "ALTER TABLE {name} RENAME TO {FORMER}; {definition}; INSERT INTO {name} ({names}) SELECT {names} FROM {FORMER};
         DELETE FROM sqlite_sequence WHERE name = {table}; UPDATE sqlite_sequence SET name = {table} WHERE name = '{FORMER}';
         DROP TABLE {FORMER}; {indexes}",
        definition = keep::definition_sql(Dialect::Sqlite, relation),
    )
}

fn altered(relation: &Relation, was_typed: &[bool]) -> String {
    let columns = relation.table.columns.iter().zip(&relation.storage).zip(was_typed);
    let changes = columns.filter(|(_, was_typed)| !**was_typed).map(|((column, storage), _)| {
        let name = quoted(&column.name);
        let value = match storage.kind {
            Kind::Text => name.clone(),
            // A whole number may have been written with a fraction of nothing.
            Kind::Integer => format!("{name}::numeric::bigint"),
            _ => format!("{name}::{}", storage.postgres_type()),
        };
        let column_type = keep::column_type(Dialect::Postgres, storage);
        format!("ALTER COLUMN {name} TYPE {column_type} USING {value}")
    });
    format!("ALTER TABLE {} {}", relation.sql_name(), changes.collect::<Vec<_>>().join(", "))
}
