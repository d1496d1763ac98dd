//! Ordain's own tables: `ordain_…` on SQLite, the schema `ordain` on PostgreSQL.

use crate::error::StoreError;
use crate::session::{Intent, Pool, Session};
use crate::sql::Dialect;

/// The format of these tables, and of the rows in the tables that Ordain makes. Another one is not touched.
const FORMAT: i64 = 14;

/// The SQL name of one of Ordain's own tables.
pub(crate) fn own(dialect: Dialect, table: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!("ordain_{table}"),
        Dialect::Postgres => format!("ordain.{table}"),
    }
}

/// Makes the tables when they are missing.
pub(crate) async fn prepare(pool: &Pool) -> Result<(), StoreError> {
    let mut session = pool.session().await?;
    if format(&mut session).await? == Some(FORMAT) {
        return Ok(());
    }
    drop(session);
    let mut session = pool.begin(Intent::Write).await?;
    match format(&mut session).await? {
        // Another process was faster.
        Some(FORMAT) => session.roll_back().await,
        Some(other) => Err(other_format(other)),
        None => {
            let script = definition(session.dialect());
            session.script(script).await?;
            session.commit().await
        }
    }
}

async fn format(session: &mut Session) -> Result<Option<i64>, StoreError> {
    let exists = match session.dialect() {
        Dialect::Sqlite => "SELECT 1 FROM sqlite_schema WHERE name = 'ordain_meta'",
        Dialect::Postgres => {
            "SELECT '1' FROM pg_catalog.pg_tables WHERE schemaname = 'ordain' AND tablename = 'meta'"
        }
    };
    let exists = session.sql(exists);
    if session.read(exists).await?.is_empty() {
        return Ok(None);
    }
    let meta = own(session.dialect(), "meta");
    let sql = session.sql(&format!("SELECT value FROM {meta} WHERE name = 'format'"));
    let rows = session.read(sql).await?;
    Ok(rows.first().and_then(|row| row[0].as_integer()))
}

fn other_format(format: i64) -> StoreError {
    StoreError::Declaration {
        what: "the store".to_owned(),
        message: format!("it has format {format}, and this version knows {FORMAT}; it was not touched"),
        hint: Some(
            "`ordain tables export FOLDER` writes its tables into files, from which a new workspace can be seeded; or use \
             the version of Ordain that wrote it"
                .to_owned(),
        ),
    }
}

fn definition(dialect: Dialect) -> String {
    let (integer, strict, random) = match dialect {
        Dialect::Sqlite => ("INTEGER", "STRICT", "lower(hex(randomblob(8)))"),
        Dialect::Postgres => ("BIGINT", "", "substr(md5(random()::text || clock_timestamp()::text), 1, 16)"),
    };
    let name = |table| own(dialect, table);
    let [meta, tables, runs, entries, claims, plans, turns, keys] =
        ["meta", "tables", "runs", "entries", "claims", "plans", "turns", "keys"].map(name);
    let [outbox, schedules, progress, row_runs, row_sums, queue, files] =
        ["outbox", "schedules", "progress", "row_runs", "row_sums", "queue", "files"].map(name);
    let (opening, place, guard) = match dialect {
        Dialect::Sqlite => (
            "",
            "",
            "CREATE TRIGGER ordain_entries_stay BEFORE DELETE ON ordain_entries
               BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
             CREATE TRIGGER ordain_entries_keep BEFORE UPDATE ON ordain_entries
               BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;",
        ),
        Dialect::Postgres => (
            // Who may not make schemas may be given this one.
            "DO $$ BEGIN IF to_regnamespace('ordain') IS NULL THEN CREATE SCHEMA ordain; END IF; END $$;",
            ", place BIGINT GENERATED ALWAYS AS IDENTITY",
            "CREATE FUNCTION ordain.refuse() RETURNS trigger LANGUAGE plpgsql AS
               $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$;
             CREATE TRIGGER entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON ordain.entries
               FOR EACH STATEMENT EXECUTE FUNCTION ordain.refuse();",
        ),
    };
    format!(
        "{opening}
         CREATE TABLE {meta} (name TEXT PRIMARY KEY, value TEXT NOT NULL) {strict};
         CREATE TABLE {tables} (name TEXT PRIMARY KEY, definition TEXT NOT NULL) {strict};
         CREATE TABLE {runs} (run_id TEXT PRIMARY KEY, state TEXT NOT NULL, kind TEXT NOT NULL,
           started_at TEXT NOT NULL, record TEXT NOT NULL, changes TEXT, who TEXT, decided_by TEXT) {strict};
         CREATE INDEX ordain_runs_of_caller ON {runs} (who, run_id);
         CREATE INDEX ordain_runs_in_state ON {runs} (state, run_id);
         CREATE INDEX ordain_runs_decided ON {runs} (decided_by, run_id);
         CREATE TABLE {entries} (seq {integer} PRIMARY KEY, run_id TEXT, kind TEXT NOT NULL, at TEXT NOT NULL,
           body TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL, signature TEXT NOT NULL) {strict};
         CREATE INDEX ordain_entries_of_run ON {entries} (run_id);
         {guard}
         CREATE TABLE {row_runs} (table_name TEXT NOT NULL, row_name TEXT NOT NULL, run_id TEXT NOT NULL,
           PRIMARY KEY (table_name, row_name, run_id)) {strict};
         CREATE TABLE {row_sums} (seq {integer} PRIMARY KEY, sums TEXT NOT NULL) {strict};
         CREATE TABLE {claims} (claim TEXT PRIMARY KEY, run_id TEXT NOT NULL, lease_until_ms {integer} NOT NULL,
           finished {integer} NOT NULL, fingerprint TEXT, owner TEXT) {strict};
         CREATE TABLE {progress} (run_id TEXT PRIMARY KEY, owner TEXT, kept TEXT NOT NULL, seal TEXT NOT NULL) {strict};
         CREATE TABLE {queue} (run_id TEXT PRIMARY KEY, claim TEXT NOT NULL, kind TEXT NOT NULL, who TEXT NOT NULL,
           request TEXT NOT NULL, work TEXT NOT NULL, workspace TEXT NOT NULL, accepted_at TEXT NOT NULL,
           accepted_ms {integer} NOT NULL, conversation TEXT{place}) {strict};
         CREATE TABLE {plans} (plan_id TEXT PRIMARY KEY, kind TEXT NOT NULL, exact TEXT NOT NULL, declared TEXT,
           request TEXT NOT NULL, title TEXT NOT NULL, code TEXT NOT NULL, source TEXT NOT NULL, model TEXT,
           run_id TEXT NOT NULL, components TEXT NOT NULL, pinned {integer} NOT NULL, uses {integer} NOT NULL,
           created_at TEXT NOT NULL, last_used_at TEXT NOT NULL, seal TEXT) {strict};
         CREATE INDEX ordain_plans_exact ON {plans} (exact);
         CREATE TABLE {turns} (conversation TEXT NOT NULL, seq {integer} NOT NULL, at TEXT NOT NULL,
           run_id TEXT NOT NULL, request TEXT NOT NULL, answer TEXT NOT NULL, status TEXT,
           PRIMARY KEY (conversation, seq)) {strict};
         CREATE INDEX ordain_turns_by_time ON {turns} (at DESC, conversation, seq);
         CREATE TABLE {keys} (key_id TEXT PRIMARY KEY, name TEXT NOT NULL, scopes TEXT NOT NULL,
           secret_sha256 TEXT NOT NULL, created_at TEXT NOT NULL, expires_at TEXT, last_used_at TEXT,
           revoked_at TEXT, requests_per_minute {integer}, cells {integer}, tokens_per_day {integer},
           limits TEXT, previous_sha256 TEXT, previous_until TEXT) {strict};
         CREATE TABLE {outbox} (key TEXT PRIMARY KEY, seq {integer} NOT NULL UNIQUE, run_id TEXT NOT NULL,
           n {integer} NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, lane TEXT NOT NULL, state TEXT NOT NULL,
           attempts {integer} NOT NULL, next_try_ms {integer} NOT NULL, lease_until_ms {integer},
           fence {integer} NOT NULL, error TEXT, result TEXT, updated_at TEXT NOT NULL) {strict};
         CREATE INDEX ordain_outbox_of_run ON {outbox} (run_id);
         CREATE INDEX ordain_outbox_of_lane ON {outbox} (lane, seq);
         CREATE TABLE {schedules} (name TEXT PRIMARY KEY, schedule TEXT NOT NULL, at_s {integer} NOT NULL,
           run_id TEXT) {strict};
         CREATE TABLE {files} (owner TEXT NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL, part {integer} NOT NULL,
           parts {integer} NOT NULL, made_ms {integer} NOT NULL, data TEXT NOT NULL,
           PRIMARY KEY (owner, name, sha256, part)) {strict};
         INSERT INTO {meta} (name, value) VALUES ('id', {random}), ('format', '{FORMAT}');"
    )
}
