//! Foreign SQL on SQLite: a plan's `db.query`, or an invariant of the workspace.
//!
//! SQLite's authorizer is the authority on what a statement may do: it is asked for every table, column and function
//! while the statement is compiled, and what is not on its lists is denied. Limits of the connection hold the size of
//! values and of the statement, and a [`Watch`] its time, its memory and its temporary files.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ordain_types::Row;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, Statement};
use serde_json::Value;

use super::watch::{INSTRUCTIONS_BETWEEN_CHECKS, Stopped, Watch};
use super::{bound, datum, first_line, functions, run_one, store_error};
use crate::error::StoreError;
use crate::session::guard::PlanAccess;
use crate::session::{Access, Found, Guarded};
use crate::sql::{Datum, Dialect, Sql};

/// Limits of the connection while a plan's statement runs. Values times columns, arguments and depth bound what one
/// statement can hold in memory at once.
const PLAN_LIMITS: [(Limit, i32); 6] = [
    (Limit::SQLITE_LIMIT_COLUMN, 200),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 100),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 64),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_VDBE_OP, 250_000),
];

/// A statement about more rows is not kept: it seldom comes again with as many.
const KEPT_PARAMS_MAX: usize = 4;

thread_local! {
    /// Judges what is compiled on this thread, while that is foreign SQL.
    static JUDGE: RefCell<Option<Judge>> = const { RefCell::new(None) };
}

/// What foreign SQL may read, and why it was refused.
struct Judge {
    access: Access,
    /// Looked up only for a statement that needs them.
    known: Option<Names>,
    /// Whether the names were missing.
    needs_names: bool,
    denied: Option<String>,
}

/// Ends the judging when it goes.
struct Judging;

impl Judging {
    fn begin(access: &Access, known: Option<Names>) -> Self {
        JUDGE.set(Some(Judge { access: access.clone(), known, needs_names: false, denied: None }));
        Self
    }

    /// Whether something was refused because the names were not known.
    fn needs_names() -> bool {
        JUDGE.with_borrow(|judge| judge.as_ref().is_some_and(|judge| judge.needs_names))
    }
}

impl Drop for Judging {
    fn drop(&mut self) {
        JUDGE.set(None);
    }
}

/// Asked by SQLite about everything that a statement does, while it is compiled. A connection has it from its beginning:
/// to set another one makes SQLite compile every kept statement anew.
pub(super) fn judge(context: AuthContext<'_>) -> Authorization {
    JUDGE.with_borrow_mut(|judge| {
        let Some(judge) = judge else { return Authorization::Allow };
        let is_subquery = |table: &str| judge.known.as_ref().is_some_and(|known| known.is_subquery(table));
        match authorize(&judge.access, is_subquery, &context) {
            Ok(()) => Authorization::Allow,
            Err(reason) => {
                let is_whole = matches!(context.action, AuthAction::Read { column_name: "", .. });
                judge.needs_names |= is_whole && judge.known.is_none();
                judge.denied.get_or_insert(reason);
                Authorization::Deny
            }
        }
    })
}

/// Runs foreign SQL for so long on a connection, which is afterwards as it was.
pub(super) fn run(
    connection: &mut Connection,
    guarded: &Guarded,
    wall: Duration,
    abandoned: &Arc<AtomicBool>,
) -> Result<Found, StoreError> {
    let (rows, needs_names) = judged(connection, guarded, wall, abandoned, None)?;
    if !needs_names {
        return rows;
    }
    let known = Names::of(connection)?;
    judged(connection, guarded, wall, abandoned, Some(known))?.0
}

/// Runs it, and tells whether it was refused because the names of the tables were not known.
fn judged(
    connection: &mut Connection,
    guarded: &Guarded,
    wall: Duration,
    abandoned: &Arc<AtomicBool>,
    known: Option<Names>,
) -> Result<(Result<Found, StoreError>, bool), StoreError> {
    let failed = |error: rusqlite::Error| store_error(&error);
    let judging = Judging::begin(&guarded.access, known);
    let limits = Limits::set(connection, guarded)?;
    let value_bytes_max = usize::try_from(guarded.bounds.value_bytes_max).unwrap_or(usize::MAX);
    let mut watch = Watch::new(wall, Arc::clone(abandoned), value_bytes_max);
    let (running, stopped) = watch.begin();
    let rows = connection
        .progress_handler(INSTRUCTIONS_BETWEEN_CHECKS, Some(move || watch.must_stop()))
        .map_err(failed)
        .and_then(|()| rows(connection, guarded, &StatementWatch { stopped, wall }));
    let needs_names = Judging::needs_names();
    drop((running, judging));
    connection.progress_handler(0, None::<fn() -> bool>).map_err(failed)?;
    limits.restore(connection)?;
    Ok((rows, needs_names))
}

/// The connection's limits before they were changed.
struct Limits(Vec<(Limit, i32)>);

impl Limits {
    fn set(connection: &Connection, guarded: &Guarded) -> Result<Self, StoreError> {
        let Access::Plan(plan) = &guarded.access else { return Ok(Self(Vec::new())) };
        let length = i32::try_from(guarded.bounds.value_bytes_max).unwrap_or(i32::MAX);
        let columns = i32::try_from(plan.columns_max() * 2).unwrap_or(i32::MAX);
        let wanted = PLAN_LIMITS.into_iter().chain([(Limit::SQLITE_LIMIT_LENGTH, length)]);
        let mut before = Vec::new();
        for (limit, value) in wanted {
            let value = if matches!(limit, Limit::SQLITE_LIMIT_COLUMN) { value.max(columns) } else { value };
            let old = connection.set_limit(limit, value).map_err(|error| store_error(&error))?;
            before.push((limit, old));
        }
        Ok(Self(before))
    }

    fn restore(self, connection: &Connection) -> Result<(), StoreError> {
        for (limit, value) in self.0 {
            connection.set_limit(limit, value).map_err(|error| store_error(&error))?;
        }
        Ok(())
    }
}

/// What the watch had to say.
struct StatementWatch {
    stopped: Arc<Mutex<Option<Stopped>>>,
    wall: Duration,
}

impl StatementWatch {
    /// What an error of SQLite means here.
    fn error(&self, error: &rusqlite::Error) -> StoreError {
        let stopped = *self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stopped) = stopped {
            return stopped.error(self.wall);
        }
        let code = error.sqlite_error().map(|error| error.code);
        match code {
            Some(ErrorCode::AuthorizationForStatementDenied) => {
                let denied = JUDGE.with_borrow_mut(|judge| judge.as_mut()?.denied.take());
                refused(
                    denied.unwrap_or_else(|| "it does what may not be done".to_owned()),
                    Some(
                        "`db.query` reads the tables and columns that plans may see, without a schema's name",
                    ),
                )
            }
            // One of our functions has looked at the clock.
            Some(ErrorCode::OperationInterrupted) => Stopped::Time.error(self.wall),
            _ if error.to_string().contains("interrupted") => Stopped::Time.error(self.wall),
            Some(ErrorCode::Unknown | ErrorCode::TooBig) | None => {
                refused(first_line(&error.to_string()), None)
            }
            _ => store_error(error),
        }
    }
}

fn refused(message: String, hint: Option<&str>) -> StoreError {
    StoreError::Query { message, hint: hint.map(str::to_owned) }
}

fn rows(connection: &Connection, guarded: &Guarded, told: &StatementWatch) -> Result<Found, StoreError> {
    let text = format!("{}{}", guarded.before, guarded.sql);
    let (mut kept, mut once);
    // The owner's statements come with every run. A plan's are judged each time that they are compiled.
    let is_kept = matches!(guarded.access, Access::Owner) && guarded.params.len() <= KEPT_PARAMS_MAX;
    let statement: &mut Statement<'_> = if is_kept {
        kept = connection.prepare_cached(&text).map_err(|error| told.error(&error))?;
        &mut kept
    } else {
        once = connection.prepare(&text).map_err(|error| told.error(&error))?;
        &mut once
    };
    if !statement.readonly() || statement.is_explain() != 0 {
        return Err(refused(
            "it would write".to_owned(),
            Some("every write goes through the tables, so that the diff is complete"),
        ));
    }
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let origins: Vec<Option<(String, String)>> = statement
        .columns_with_metadata()
        .map(|column| Some((column.table_name()?.to_owned(), column.origin_name()?.to_owned())))
        .collect();
    let params = rusqlite::params_from_iter(guarded.params.iter().map(bound));
    let bounds = guarded.bounds;
    let mut rows = statement.query(params).map_err(|error| told.error(&error))?;
    let (mut found, mut bytes) = (Vec::new(), 0_u64);
    while let Some(row) = rows.next().map_err(|error| told.error(&error))? {
        if found.len() as u64 == bounds.rows_max {
            if bounds.cut {
                break;
            }
            return Err(StoreError::Limit { limit: "query_rows_max", value: bounds.rows_max });
        }
        let values = (0..names.len()).map(|index| row.get_ref(index)).collect::<rusqlite::Result<Vec<_>>>();
        let values = values.map_err(|error| told.error(&error))?;
        bytes += values.iter().map(weight).sum::<u64>();
        if bytes > bounds.bytes_max {
            return Err(StoreError::Limit { limit: "query_bytes_max", value: bounds.bytes_max });
        }
        let fields =
            std::iter::zip(&names, std::iter::zip(&origins, values)).map(|(name, (origin, value))| {
                let value = match &guarded.access {
                    Access::Plan(plan) => plan.converted(origin.as_ref(), json(value)),
                    Access::Owner => json(value),
                };
                (name.clone(), value)
            });
        found.push(Row { fields: fields.collect() });
    }
    drop(rows);
    #[cfg(test)]
    crate::cost::note(connection, statement);
    Ok(Found { rows: found, decimals: Vec::new(), origins })
}

/// How many bytes a value takes in the reply; bytes are written as two digits each.
fn weight(value: &ValueRef<'_>) -> u64 {
    match value {
        ValueRef::Text(bytes) => bytes.len() as u64,
        ValueRef::Blob(bytes) => 2 * bytes.len() as u64 + 2,
        _ => 8,
    }
}

fn json(value: ValueRef<'_>) -> Value {
    match datum(value) {
        Datum::Null => Value::Null,
        Datum::Integer(value) => Value::from(value),
        // JSON has no infinities; a query that divides by zero gives NULL on SQLite anyway.
        Datum::Real(value) => Value::from(value),
        Datum::Boolean(value) => Value::Bool(value),
        Datum::Text(value) => Value::String(value),
    }
}

/// The names that a statement's own subqueries cannot have: tables, and modules that act as tables.
struct Names(HashSet<String>);

impl Names {
    fn of(connection: &Connection) -> Result<Self, StoreError> {
        let sql =
            "SELECT lower(name) FROM sqlite_schema UNION ALL SELECT lower(name) FROM pragma_module_list";
        let (rows, _) = run_one(connection, &Sql::new(Dialect::Sqlite, sql), u64::MAX)
            .map_err(|error| store_error(&error))?;
        Ok(Self(rows.iter().filter_map(|row| row[0].as_text()).map(str::to_owned).collect()))
    }

    /// Whether a name that is read without a column can only be one that the statement gave to a subquery.
    fn is_subquery(&self, table: &str) -> bool {
        let name = table.to_lowercase();
        !self.0.contains(&name) && !name.starts_with("sqlite_") && !name.starts_with("pragma_")
    }
}

fn authorize(
    access: &Access,
    is_subquery: impl FnOnce(&str) -> bool,
    context: &AuthContext<'_>,
) -> Result<(), String> {
    match (context.action, access) {
        (AuthAction::Select | AuthAction::Recursive, _) | (AuthAction::Read { .. }, Access::Owner) => Ok(()),
        (AuthAction::Function { function_name }, Access::Owner) => {
            if function_name.eq_ignore_ascii_case("load_extension") {
                Err(no_function(function_name))
            } else {
                Ok(())
            }
        }
        (AuthAction::Function { function_name }, Access::Plan(_)) => {
            if functions::is_allowed(function_name) {
                Ok(())
            } else {
                Err(no_function(function_name))
            }
        }
        (AuthAction::Read { table_name, column_name }, Access::Plan(plan)) => {
            may_read(plan, is_subquery, table_name, column_name)
        }
        _ => Err("it would write or change a setting".to_owned()),
    }
}

fn may_read(
    plan: &PlanAccess,
    is_subquery: impl FnOnce(&str) -> bool,
    table: &str,
    column: &str,
) -> Result<(), String> {
    if plan.allows(table, column) || (column.is_empty() && is_subquery(table)) {
        return Ok(());
    }
    let table = crate::relation::shortened(table);
    Err(match column {
        "" => format!("it reads `{table}`, which is not a table that plans may see"),
        _ => {
            format!("it reads `{}` of `{table}`, which plans may not see", crate::relation::shortened(column))
        }
    })
}

fn no_function(name: &str) -> String {
    format!("the function `{}` may not be called", crate::relation::shortened(name))
}
