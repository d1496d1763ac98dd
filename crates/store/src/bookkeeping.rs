//! Ordain's own tables: `ordain_…` on SQLite, the schema `ordain` on PostgreSQL.

use crate::error::StoreError;
use crate::session::{Intent, Pool, Session};
use crate::sql::Dialect;

/// The format of these tables. A store that was written by a later format is not touched.
const FORMAT: i64 = 13;

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
        Some(older @ 1..FORMAT) => {
            let meta = own(session.dialect(), "meta");
            let added = added_since(older, session.dialect());
            let script = format!("{added} UPDATE {meta} SET value = '{FORMAT}' WHERE name = 'format';");
            session.script(script).await?;
            session.commit().await
        }
        Some(other) => Err(StoreError::Declaration {
            what: "the store".to_owned(),
            message: format!("it has format {other}, and this version knows {FORMAT}"),
            hint: Some("use the version of Ordain that wrote it, or a later one".to_owned()),
        }),
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

fn definition(dialect: Dialect) -> String {
    let (integer, strict) = match dialect {
        Dialect::Sqlite => ("INTEGER", "STRICT"),
        Dialect::Postgres => ("BIGINT", ""),
    };
    let name = |table| own(dialect, table);
    let [meta, tables, runs, entries, claims] =
        [name("meta"), name("tables"), name("runs"), name("entries"), name("claims")];
    let opening = match dialect {
        Dialect::Sqlite => "",
        Dialect::Postgres => "CREATE SCHEMA IF NOT EXISTS ordain;",
    };
    let guard = match dialect {
        Dialect::Sqlite => {
            "CREATE TRIGGER ordain_entries_stay BEFORE DELETE ON ordain_entries
               BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
             CREATE TRIGGER ordain_entries_keep BEFORE UPDATE ON ordain_entries
               BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
        }
        Dialect::Postgres => {
            "CREATE FUNCTION ordain.refuse() RETURNS trigger LANGUAGE plpgsql AS
               $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$;
             CREATE TRIGGER entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON ordain.entries
               FOR EACH STATEMENT EXECUTE FUNCTION ordain.refuse();"
        }
    };
    let added = added_since(1, dialect);
    format!(
        "{opening}
         CREATE TABLE {meta} (name TEXT PRIMARY KEY, value TEXT NOT NULL) {strict};
         CREATE TABLE {tables} (name TEXT PRIMARY KEY, definition TEXT NOT NULL) {strict};
         CREATE TABLE {runs} (run_id TEXT PRIMARY KEY, state TEXT NOT NULL, kind TEXT NOT NULL,
           started_at TEXT NOT NULL, record TEXT NOT NULL, changes TEXT) {strict};
         CREATE TABLE {entries} (seq {integer} PRIMARY KEY, run_id TEXT, kind TEXT NOT NULL, at TEXT NOT NULL,
           body TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL, signature TEXT NOT NULL) {strict};
         CREATE INDEX ordain_entries_of_run ON {entries} (run_id);
         CREATE TABLE {claims} (claim TEXT PRIMARY KEY, run_id TEXT NOT NULL, lease_until_ms {integer} NOT NULL,
           finished {integer} NOT NULL) {strict};
         {guard}
         {added}
         INSERT INTO {meta} (name, value) VALUES ('format', '{FORMAT}');"
    )
}

/// What the formats after `older` added, in order.
fn added_since(older: i64, dialect: Dialect) -> String {
    let formats = [
        (2, second_format(dialect)),
        (3, third_format(dialect)),
        (4, fourth_format(dialect)),
        (5, fifth_format(dialect)),
        (6, sixth_format(dialect)),
        (7, seventh_format(dialect)),
        (8, eighth_format(dialect)),
        (9, ninth_format(dialect)),
        (10, tenth_format(dialect)),
        (11, eleventh_format(dialect)),
        (12, twelfth_format(dialect)),
        (13, thirteenth_format(dialect)),
    ];
    let added = formats.into_iter().filter(|(format, _)| *format > older);
    added.map(|(_, script)| script).collect()
}

/// What the second format added: the plan cache and conversations.
fn second_format(dialect: Dialect) -> String {
    let (integer, strict) = match dialect {
        Dialect::Sqlite => ("INTEGER", "STRICT"),
        Dialect::Postgres => ("BIGINT", ""),
    };
    let (plans, turns) = (own(dialect, "plans"), own(dialect, "turns"));
    format!(
        "CREATE TABLE {plans} (plan_id TEXT PRIMARY KEY, kind TEXT NOT NULL, exact TEXT NOT NULL, shape TEXT,
           request TEXT NOT NULL, title TEXT NOT NULL, code TEXT NOT NULL, source TEXT NOT NULL, model TEXT,
           run_id TEXT NOT NULL, components TEXT NOT NULL, pinned {integer} NOT NULL, uses {integer} NOT NULL,
           created_at TEXT NOT NULL, last_used_at TEXT NOT NULL) {strict};
         CREATE INDEX ordain_plans_exact ON {plans} (exact);
         CREATE INDEX ordain_plans_shape ON {plans} (shape);
         CREATE TABLE {turns} (conversation TEXT NOT NULL, seq {integer} NOT NULL, at TEXT NOT NULL,
           run_id TEXT NOT NULL, request TEXT NOT NULL, answer TEXT NOT NULL, status TEXT,
           PRIMARY KEY (conversation, seq)) {strict};"
    )
}

/// What the third format added: keys of callers, and what an idempotency key was used for.
fn third_format(dialect: Dialect) -> String {
    let (integer, strict) = match dialect {
        Dialect::Sqlite => ("INTEGER", "STRICT"),
        Dialect::Postgres => ("BIGINT", ""),
    };
    let (keys, claims) = (own(dialect, "keys"), own(dialect, "claims"));
    format!(
        "CREATE TABLE {keys} (key_id TEXT PRIMARY KEY, name TEXT NOT NULL, scopes TEXT NOT NULL,
           secret_sha256 TEXT NOT NULL, created_at TEXT NOT NULL, expires_at TEXT, last_used_at TEXT,
           revoked_at TEXT, requests_per_minute {integer}, cells {integer}, tokens_per_day {integer}) {strict};
         ALTER TABLE {claims} ADD COLUMN fingerprint TEXT;"
    )
}

/// What the fourth format added: who asked for a run and who decided on it, and the limits of keys.
fn fourth_format(dialect: Dialect) -> String {
    let (runs, keys) = (own(dialect, "runs"), own(dialect, "keys"));
    format!(
        "ALTER TABLE {runs} ADD COLUMN who TEXT;
         ALTER TABLE {runs} ADD COLUMN decided_by TEXT;
         CREATE INDEX ordain_runs_of_caller ON {runs} (who, run_id);
         ALTER TABLE {keys} ADD COLUMN limits TEXT;"
    )
}

/// What the fifth format added: which process holds an idempotency key, and signatures of kept plans.
fn fifth_format(dialect: Dialect) -> String {
    let (claims, plans) = (own(dialect, "claims"), own(dialect, "plans"));
    format!(
        "ALTER TABLE {claims} ADD COLUMN owner TEXT;
         ALTER TABLE {plans} ADD COLUMN seal TEXT;"
    )
}

/// What the sixth format changed: a kept plan has what its author declares, and no key of a shape.
fn sixth_format(dialect: Dialect) -> String {
    let (plans, index) = match dialect {
        Dialect::Sqlite => ("ordain_plans", "ordain_plans_shape"),
        Dialect::Postgres => ("ordain.plans", "ordain.ordain_plans_shape"),
    };
    format!("DROP INDEX {index}; ALTER TABLE {plans} RENAME COLUMN shape TO declared;")
}

/// What the seventh format added: calls that are sent after the commit of their run.
fn seventh_format(dialect: Dialect) -> String {
    let (integer, strict) = match dialect {
        Dialect::Sqlite => ("INTEGER", "STRICT"),
        Dialect::Postgres => ("BIGINT", ""),
    };
    let outbox = own(dialect, "outbox");
    format!(
        "CREATE TABLE {outbox} (key TEXT PRIMARY KEY, seq {integer} NOT NULL UNIQUE, run_id TEXT NOT NULL,
           n {integer} NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, lane TEXT NOT NULL, state TEXT NOT NULL,
           attempts {integer} NOT NULL, next_try_ms {integer} NOT NULL, lease_until_ms {integer}, fence {integer} NOT NULL,
           error TEXT, result TEXT, updated_at TEXT NOT NULL) {strict};
         CREATE INDEX ordain_outbox_of_run ON {outbox} (run_id);
         CREATE INDEX ordain_outbox_of_lane ON {outbox} (lane, seq);"
    )
}

/// What the eighth format added: how far schedules have come.
fn eighth_format(dialect: Dialect) -> String {
    let (integer, strict) = match dialect {
        Dialect::Sqlite => ("INTEGER", "STRICT"),
        Dialect::Postgres => ("BIGINT", ""),
    };
    let schedules = own(dialect, "schedules");
    format!(
        "CREATE TABLE {schedules} (name TEXT PRIMARY KEY, schedule TEXT NOT NULL, at_s {integer} NOT NULL,
           run_id TEXT) {strict};"
    )
}

/// What the ninth format added: what runs of several steps have come to so far.
fn ninth_format(dialect: Dialect) -> String {
    let strict = match dialect {
        Dialect::Sqlite => "STRICT",
        Dialect::Postgres => "",
    };
    let progress = own(dialect, "progress");
    format!(
        "CREATE TABLE {progress} (run_id TEXT PRIMARY KEY, owner TEXT, kept TEXT NOT NULL, seal TEXT NOT NULL) {strict};"
    )
}

/// What the tenth format added: indexes for lists of runs by state and by who decided, and of conversations by time.
fn tenth_format(dialect: Dialect) -> String {
    let (runs, turns) = (own(dialect, "runs"), own(dialect, "turns"));
    format!(
        "CREATE INDEX ordain_runs_in_state ON {runs} (state, run_id);
         CREATE INDEX ordain_runs_decided ON {runs} (decided_by, run_id);
         CREATE INDEX ordain_turns_by_time ON {turns} (at DESC, conversation, seq);"
    )
}

/// What the eleventh format changed: the sums of rows are kept by the entry that they belong to.
fn eleventh_format(dialect: Dialect) -> String {
    let (integer, strict) = match dialect {
        Dialect::Sqlite => ("INTEGER", "STRICT"),
        Dialect::Postgres => ("BIGINT", ""),
    };
    let (meta, row_sums) = (own(dialect, "meta"), own(dialect, "row_sums"));
    format!(
        "CREATE TABLE {row_sums} (seq {integer} PRIMARY KEY, sums TEXT NOT NULL) {strict};
         INSERT INTO {row_sums} (seq, sums)
           SELECT coalesce((SELECT CAST(value AS {integer}) FROM {meta} WHERE name = 'data'), 0), value
           FROM {meta} WHERE name = 'rows';
         DELETE FROM {meta} WHERE name IN ('data', 'rows');"
    )
}

/// What the twelfth format added: a name that no other store has, and runs that any node of a cluster may carry out.
fn twelfth_format(dialect: Dialect) -> String {
    let (integer, strict, random) = match dialect {
        Dialect::Sqlite => ("INTEGER", "STRICT", "lower(hex(randomblob(8)))"),
        Dialect::Postgres => ("BIGINT", "", "substr(md5(random()::text || clock_timestamp()::text), 1, 16)"),
    };
    let (meta, queue) = (own(dialect, "meta"), own(dialect, "queue"));
    format!(
        "INSERT INTO {meta} (name, value) VALUES ('id', {random});
         CREATE TABLE {queue} (run_id TEXT PRIMARY KEY, claim TEXT NOT NULL, kind TEXT NOT NULL, who TEXT NOT NULL,
           request TEXT NOT NULL, work TEXT NOT NULL, workspace TEXT NOT NULL, accepted_at TEXT NOT NULL,
           accepted_ms {integer} NOT NULL) {strict};"
    )
}

/// What the thirteenth format added: files that every process on the store can read, and the conversation of an accepted
/// run.
fn thirteenth_format(dialect: Dialect) -> String {
    let (integer, strict, place) = match dialect {
        Dialect::Sqlite => ("INTEGER", "STRICT", ""),
        Dialect::Postgres => {
            ("BIGINT", "", "ALTER TABLE ordain.queue ADD COLUMN place BIGINT GENERATED ALWAYS AS IDENTITY;")
        }
    };
    let (files, queue) = (own(dialect, "files"), own(dialect, "queue"));
    format!(
        "ALTER TABLE {queue} ADD COLUMN conversation TEXT; {place}
         CREATE TABLE {files} (owner TEXT NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL, part {integer} NOT NULL,
           parts {integer} NOT NULL, made_ms {integer} NOT NULL, data TEXT NOT NULL,
           PRIMARY KEY (owner, name, sha256, part)) {strict};"
    )
}
