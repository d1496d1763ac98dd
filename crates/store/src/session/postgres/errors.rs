//! What errors of the server and of the connection mean.

use std::fmt::Write as _;
use std::time::Duration;

use crate::error::StoreError;

pub(super) fn lost() -> StoreError {
    StoreError::Unreachable { message: "the connection was given up".to_owned() }
}

pub(super) fn query_error(error: &tokio_postgres::Error, wall: Duration) -> StoreError {
    let Some(inner) = error.as_db_error() else { return store_error(error) };
    let state = inner.code().code();
    match (state, &state[..2]) {
        ("57014", _) => StoreError::Timeout { wall_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX) },
        ("25006", _) => StoreError::Query {
            message: "it would write".to_owned(),
            hint: Some("every write goes through the tables, so that the diff is complete".to_owned()),
        },
        (_, "22" | "42" | "0A" | "21" | "2F" | "54") => {
            StoreError::Query { message: inner.message().to_owned(), hint: inner.hint().map(str::to_owned) }
        }
        _ => store_error(error),
    }
}

pub(super) fn store_error(error: &tokio_postgres::Error) -> StoreError {
    let Some(inner) = error.as_db_error() else {
        return StoreError::Unreachable { message: chain(error) };
    };
    let message = inner.message().to_owned();
    let table = inner.table().unwrap_or_default().to_owned();
    let state = inner.code().code();
    match (state, &state[..2]) {
        ("40001" | "40P01", _) => StoreError::Conflict,
        ("55P03", _) => StoreError::Busy,
        ("53100", _) => StoreError::DiskFull,
        ("23505", _) => {
            StoreError::DuplicateKey { table, key: inner.detail().unwrap_or(&message).to_owned() }
        }
        (_, "23") => StoreError::Constraint { table, message },
        (_, "22") => StoreError::BadValue { table, column: String::new(), message },
        // `25P03` and `25P04`: the server was told to end sessions that are quiet, or transactions that go on, for so long.
        (_, "08" | "57" | "28" | "3D") | ("25P03" | "25P04", _) => StoreError::Unreachable { message },
        _ => StoreError::Database { message },
    }
}

/// An error and all its causes; the driver keeps what the system said in the source.
pub(super) fn chain(error: &tokio_postgres::Error) -> String {
    let mut message = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let _ = write!(message, ": {cause}");
        source = cause.source();
    }
    message
}
