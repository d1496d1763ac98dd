//! The table that Ordain makes for the failing rows of each check's last run.

use ordain_store::{ColumnDeclaration, TableDeclaration};
use ordain_types::ColumnType;

/// The table as the store makes it.
pub(super) fn declaration(name: &str) -> TableDeclaration {
    let column = |(name, column_type): (&str, ColumnType)| {
        (name.to_owned(), ColumnDeclaration { column_type, nullable: true })
    };
    let columns = [
        ("failure_id", ColumnType::Text),
        ("check_id", ColumnType::Text),
        ("check_name", ColumnType::Text),
        ("severity", ColumnType::Text),
        ("status", ColumnType::Text),
        ("owner", ColumnType::Text),
        ("target_table", ColumnType::Text),
        ("row_key", ColumnType::Json),
        ("row_values", ColumnType::Json),
        ("run_id", ColumnType::Text),
        ("found_at", ColumnType::Timestamp),
    ];
    TableDeclaration {
        name: name.to_owned(),
        key: vec!["failure_id".to_owned()],
        columns: columns.into_iter().map(column).collect(),
        ..TableDeclaration::default()
    }
}
