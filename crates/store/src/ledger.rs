//! The ledger: an append-only chain of signed entries.
//!
//! An entry's hash covers the hash before it and its own text, so that no entry can be edited, removed or moved
//! without breaking the chain. Its signature covers the hash, so that the chain cannot be computed anew by somebody
//! who has the database and not the key. What a chain cannot show is that its end was cut off: for that the newest
//! hash, signed, is kept in a file outside the database ([`end`]).

pub(crate) mod end;
mod key;
mod told;
mod verify;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ordain_types::RunId;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

pub(crate) use end::not_accepted;
pub use verify::{LedgerFinding, LedgerReport};

use crate::bookkeeping::own;
use crate::error::StoreError;
use crate::options::Clock;
use crate::session::{Rows, Session};
use crate::sql::{Datum, Dialect, Sql};
use key::Key;

/// The place of the newest entry; 0 if there is none.
pub(crate) async fn newest_seq(session: &mut Session) -> Result<u64, StoreError> {
    let entries = own(session.dialect(), "entries");
    let mut sql = session.sql("SELECT ");
    sql.result("coalesce(max(seq), 0)").push(&format!(" FROM {entries}"));
    let rows = session.read(sql).await?;
    Ok(rows
        .first()
        .and_then(|row| row[0].as_integer())
        .and_then(|seq| u64::try_from(seq).ok())
        .unwrap_or_default())
}

/// The hash before the first entry.
pub(crate) const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The length of a checkpoint's file: one sector of a disk, so that it is written whole.
const CHECKPOINT_BYTES: usize = 512;

/// Who did something, through what, and what else an entry should tell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EntryNote {
    /// The person or key.
    pub who: String,
    /// `cli`, `http`, `mcp` …
    pub through: String,
    /// Brief hash, prompts, replies, code of every round, and whatever else the engine keeps.
    pub detail: Value,
    /// The idempotency key that the run holds, to be marked as finished with it.
    pub claim: Option<String>,
    /// The cached plan that the run used, to be counted with it.
    pub plan: Option<String>,
    /// Whether the run kept its progress, which is not needed once it has ended.
    pub has_progress: bool,
}

impl EntryNote {
    /// A note with nothing but who and through what.
    pub fn by(who: &str, through: &str) -> Self {
        Self { who: who.to_owned(), through: through.to_owned(), ..Self::default() }
    }
}

/// One entry.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct LedgerEntry {
    /// Its place, counted from one.
    pub seq: u64,
    /// What it records: the run's kind, or `approve`, `reject`, `undo`, `rate`, `rule`, `workspace`, `key`, `seed`, `reseed`, `conflict`.
    pub kind: String,
    /// The run that it is about.
    pub run_id: Option<String>,
    /// When it was written.
    pub at: String,
    /// The hash of the entry before.
    pub previous: String,
    /// The hash of `previous` and `body`.
    pub hash: String,
    /// The signature of `hash`.
    pub signature: String,
    /// What is recorded, exactly as it was hashed.
    #[schemars(with = "serde_json::Value")]
    pub body: Box<RawValue>,
}

/// The signed hash of the newest entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Checkpoint {
    /// The entry's place.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
    /// Who signed: a public key.
    pub signer: String,
    /// The signature.
    pub signature: String,
}

/// An entry before it has a place.
#[derive(Debug)]
pub(crate) struct NewEntry {
    pub(crate) kind: String,
    pub(crate) run_id: Option<RunId>,
    pub(crate) note: EntryNote,
    /// The record and whatever belongs to it.
    pub(crate) content: Value,
}

/// The end of the chain, and the sums of rows that were kept last.
#[derive(Debug)]
pub(crate) struct Tail {
    seq: i64,
    hash: String,
    pub(crate) row_sums: String,
}

impl Default for Tail {
    fn default() -> Self {
        Self { seq: 0, hash: NOTHING.to_owned(), row_sums: String::new() }
    }
}

/// Writes an entry, with what belongs to it.
pub(crate) async fn write_entry(session: &mut Session, statements: Vec<Sql>) -> Result<(), StoreError> {
    // On PostgreSQL another writer may have taken the place.
    session.write_batch(statements).await.map(drop).map_err(|error| match error {
        StoreError::DuplicateKey { .. } => StoreError::Conflict,
        other => other,
    })
}

/// Writes and checks the chain.
#[derive(Debug)]
pub(crate) struct Ledger {
    key: Key,
    checkpoint: PathBuf,
    /// One writer of the checkpoint at a time.
    remembering: Mutex<()>,
    /// The newest entry that this process knows of. The ledger never ends before it.
    known: Mutex<Option<Checkpoint>>,
    /// Why nothing may be appended.
    refused: Mutex<Option<String>>,
    /// Why the checkpoint could not be written, if the last try failed.
    unwritten: Mutex<Option<String>>,
}

impl Ledger {
    pub(crate) fn open(state: &Path, checkpoint: Option<&Path>) -> Result<Self, StoreError> {
        let (key, is_new) = Key::open(state)?;
        let checkpoint = checkpoint.map_or_else(|| state.join("ledger.checkpoint"), Path::to_owned);
        let (remembering, known, refused) = (Mutex::default(), Mutex::default(), Mutex::default());
        let unwritten = Mutex::default();
        let ledger = Self { key, checkpoint, remembering, known, refused, unwritten };
        if is_new {
            // From here on a missing checkpoint means that it was removed.
            ledger.remember(&ledger.sign(0, NOTHING.to_owned()));
        }
        Ok(ledger)
    }

    /// Appends an entry in the open transaction, which is to be committed next. The checkpoint is remembered once it is.
    pub(crate) async fn append(
        &self,
        session: &mut Session,
        clock: &Clock,
        entry: NewEntry,
    ) -> Result<Checkpoint, StoreError> {
        let tail = self.tail(session).await?;
        let (sql, checkpoint) = self.next(&tail, session.dialect(), clock, entry);
        write_entry(session, vec![sql]).await?;
        Ok(checkpoint)
    }

    /// The end of the chain. From here to the end of the transaction it stays so.
    pub(crate) async fn tail(&self, session: &mut Session) -> Result<Tail, StoreError> {
        session.order().await?;
        let [entries, row_sums] = ["entries", "row_sums"].map(|table| own(session.dialect(), table));
        let mut sql = session.sql("SELECT ");
        sql.result("seq").push(&format!(
            ", hash, (SELECT sums FROM {row_sums} ORDER BY seq DESC LIMIT 1) FROM {entries} ORDER BY seq DESC LIMIT 1"
        ));
        let rows = session.read_newest(sql).await?;
        let tail = rows.first().map_or_else(Tail::default, |row| {
            let text = |at: usize| row[at].as_text().unwrap_or_default().to_owned();
            Tail { seq: row[0].as_integer().unwrap_or_default(), hash: text(1), row_sums: text(2) }
        });
        self.check_tail(u64::try_from(tail.seq).unwrap_or_default(), &tail.hash)?;
        Ok(tail)
    }

    /// The statement that appends an entry, and the checkpoint that is remembered once it is committed.
    pub(crate) fn next(
        &self,
        tail: &Tail,
        dialect: Dialect,
        clock: &Clock,
        entry: NewEntry,
    ) -> (Sql, Checkpoint) {
        let (seq, at) = (tail.seq + 1, clock.timestamp());
        let body = canonical(&json!({
            "seq": seq,
            "at": at,
            "kind": entry.kind,
            "run_id": entry.run_id,
            "who": entry.note.who,
            "through": entry.note.through,
            "signer": self.key.public(),
            "content": entry.content,
            "detail": entry.note.detail,
        }));
        let hash = chained(&tail.hash, &body);
        let signature = self.key.sign(&entry_message(&hash));
        let mut sql = Sql::new(
            dialect,
            &format!(
                "INSERT INTO {} (seq, run_id, kind, at, body, previous, hash, signature) VALUES (",
                own(dialect, "entries")
            ),
        );
        sql.integer_param(seq).push(", ");
        sql.bind(entry.run_id.map_or(Datum::Null, |run| Datum::Text(run.0)), "text");
        for text in [&entry.kind, &at, &body, &tail.hash, &hash, &signature] {
            sql.push(", ").text_param(text);
        }
        sql.push(")");
        (sql, self.sign(u64::try_from(seq).unwrap_or_default(), hash))
    }

    /// The public half of the key.
    pub(crate) fn public_key(&self) -> String {
        self.key.public()
    }

    /// Signs something that is kept outside the chain: who signed, and the signature.
    pub(crate) fn seal(&self, message: &str) -> String {
        format!("{}:{}", self.key.public(), self.key.sign(&seal_message(message)))
    }

    pub(crate) fn sign(&self, seq: u64, hash: String) -> Checkpoint {
        let signature = self.key.sign(&checkpoint_message(seq, &hash));
        Checkpoint { seq, hash, signer: self.key.public(), signature }
    }

    /// Writes the newest checkpoint. What is committed is committed, so that a failure shows with the next commit, which is
    /// refused until the checkpoint can be written: it would not show that an older database was put in the place of this.
    ///
    /// It goes over the older one in place: making a file anew takes longer than the commit itself.
    pub(crate) fn remember(&self, checkpoint: &Checkpoint) {
        let _one = self.remembering.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match self.open_own_checkpoint() {
            Ok((_, kept)) if kept.seq >= checkpoint.seq => self.was_written(Ok(())),
            Ok((file, _)) if self.overwrite(&file, checkpoint).is_ok() => self.was_written(Ok(())),
            _ => self.write(checkpoint),
        }
    }

    fn was_written(&self, written: std::io::Result<()>) {
        let mut unwritten = self.unwritten.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *unwritten = written.err().map(|error| error.to_string());
    }

    /// Refuses if the checkpoint is behind what was committed, and cannot be written now.
    pub(crate) fn must_be_kept(&self) -> Result<(), StoreError> {
        let why = || self.unwritten.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        if why().is_none() {
            return Ok(());
        }
        let known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        if let Some(known) = known {
            self.remember(&known);
        }
        why().map_or(Ok(()), |why| {
            Err(StoreError::Ledger {
                message: "its checkpoint cannot be written, so that nothing more is committed".to_owned(),
                hint: Some(format!("make its folder writable, or room there: {why}")),
            })
        })
    }

    /// The file of the checkpoint, locked, and what it holds. Whatever else has its name is never written to.
    fn open_own_checkpoint(&self) -> Result<(std::fs::File, Checkpoint), StoreError> {
        use std::os::unix::fs::MetadataExt as _;
        let failed = |error: std::io::Error| unusable(error.to_string());
        let mut options = std::fs::OpenOptions::new();
        let file = open_file(&self.checkpoint, options.write(true), OFlags::NOFOLLOW).map_err(failed)?;
        if file.metadata().map_err(failed)?.nlink() != 1 {
            return Err(unusable("the checkpoint has another name too".to_owned()));
        }
        file.lock().map_err(failed)?;
        let kept = self.read_checkpoint(&file)?;
        Ok((file, kept))
    }

    /// One write of one block: a reader finds the old text or the new one, also if the process is killed meanwhile.
    fn overwrite(&self, file: &std::fs::File, checkpoint: &Checkpoint) -> std::io::Result<()> {
        use std::os::unix::fs::FileExt as _;
        let text = self.know(checkpoint);
        if text.len() != CHECKPOINT_BYTES {
            return Err(std::io::Error::other("it does not fit"));
        }
        file.write_all_at(text.as_bytes(), 0)
    }

    /// Notes the end of the ledger, and gives it as it is written.
    fn know(&self, checkpoint: &Checkpoint) -> String {
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *known = Some(checkpoint.clone());
        let text = serde_json::to_string(checkpoint).expect("a checkpoint is JSON");
        format!("{text:<CHECKPOINT_BYTES$}")
    }

    /// Writes a checkpoint in place of the one that is there, as a new file.
    pub(crate) fn write(&self, checkpoint: &Checkpoint) {
        let text = self.know(checkpoint);
        let draft = self.checkpoint.with_extension(format!("draft{}", std::process::id()));
        let _ = fs_err::remove_file(&draft);
        let written = private_file(&draft).and_then(|mut file| file.write_all(text.as_bytes()));
        self.was_written(written.and_then(|()| fs_err::rename(&draft, &self.checkpoint)));
    }

    /// The newest checkpoint that was written.
    pub(crate) fn remembered(&self) -> Result<Option<Checkpoint>, StoreError> {
        let file = match open_file(&self.checkpoint, &mut std::fs::OpenOptions::new(), OFlags::empty()) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(error.to_string())),
        };
        file.lock_shared().map_err(|error| unusable(error.to_string()))?;
        self.read_checkpoint(&file).map(Some)
    }

    fn read_checkpoint(&self, file: &std::fs::File) -> Result<Checkpoint, StoreError> {
        let text = read_open(file, &self.checkpoint).map_err(|error| unusable(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| unusable(format!("the checkpoint: {error}")))
    }
}

/// Entries in order, from `after` on.
pub(crate) async fn entries(
    session: &mut Session,
    after: u64,
    limit: u64,
) -> Result<Vec<LedgerEntry>, StoreError> {
    let mut sql = select(session);
    sql.push(" WHERE seq > ").integer_param(i64::try_from(after).unwrap_or(i64::MAX));
    sql.push(" ORDER BY seq LIMIT ").integer_param(i64::try_from(limit).unwrap_or(i64::MAX));
    decode(session.read(sql).await?)
}

/// The newest entries, newest first.
pub(crate) async fn newest(
    session: &mut Session,
    before: u64,
    limit: u64,
) -> Result<Vec<LedgerEntry>, StoreError> {
    let mut sql = select(session);
    sql.push(" WHERE seq < ").integer_param(i64::try_from(before).unwrap_or(i64::MAX));
    sql.push(" ORDER BY seq DESC LIMIT ").integer_param(i64::try_from(limit).unwrap_or(i64::MAX));
    decode(session.read(sql).await?)
}

/// Reads the entries about a run, in order.
pub(crate) fn about_run(session: &Session, run: &str) -> Sql {
    let mut sql = select(session);
    sql.push(" WHERE run_id = ").text_param(run).push(" ORDER BY seq");
    sql
}

/// The entries about each of some runs, in order.
pub(crate) async fn of_runs(
    session: &mut Session,
    runs: &[&str],
) -> Result<Vec<Vec<LedgerEntry>>, StoreError> {
    let statements = runs.iter().map(|run| about_run(session, run)).collect();
    session.read_all(statements).await?.into_iter().map(decode).collect()
}

/// The newest entries of a kind that belong to no run, newest first.
pub(crate) async fn newest_of_kind(
    session: &mut Session,
    kind: &str,
    limit: u64,
) -> Result<Vec<LedgerEntry>, StoreError> {
    let mut sql = select(session);
    sql.push(" WHERE run_id IS NULL AND kind = ").text_param(kind);
    sql.push(" ORDER BY seq DESC LIMIT ").integer_param(i64::try_from(limit).unwrap_or(i64::MAX));
    decode(session.read(sql).await?)
}

/// The entries about keys of callers, in order.
pub(crate) async fn about_keys(session: &mut Session) -> Result<Vec<LedgerEntry>, StoreError> {
    let mut sql = select(session);
    // They belong to no run, and so do few others: the index by run finds them.
    sql.push(" WHERE run_id IS NULL AND kind = 'key' ORDER BY seq");
    decode(session.read(sql).await?)
}

fn select(session: &Session) -> Sql {
    let mut sql = session.sql("SELECT ");
    sql.result("seq").push(", kind, run_id, at, previous, hash, signature, body FROM ");
    sql.push(&own(session.dialect(), "entries"));
    sql
}

pub(crate) fn decode(rows: Rows) -> Result<Vec<LedgerEntry>, StoreError> {
    rows.into_iter()
        .map(|row| {
            let text = |index: usize| row[index].as_text().unwrap_or_default().to_owned();
            // An entry that was edited into something else than JSON is still shown, as text.
            let body =
                RawValue::from_string(text(7)).or_else(|_| RawValue::from_string(json!(text(7)).to_string()));
            Ok(LedgerEntry {
                seq: row[0].as_integer().and_then(|seq| u64::try_from(seq).ok()).unwrap_or_default(),
                kind: text(1),
                run_id: row[2].as_text().map(str::to_owned),
                at: text(3),
                previous: text(4),
                hash: text(5),
                signature: text(6),
                body: body.map_err(|error| unusable(error.to_string()))?,
            })
        })
        .collect()
}

/// The hash of an entry.
pub(crate) fn chained(previous: &str, body: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(previous.as_bytes());
    hasher.update(b"\n");
    hasher.update(body.as_bytes());
    ordain_types::hex(&hasher.finalize())
}

/// JSON with sorted names and no spaces, so that the same content always has the same text.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            let members =
                members.into_iter().map(|(name, value)| format!("{}:{}", json!(name), canonical(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        scalar => scalar.to_string(),
    }
}

fn entry_message(hash: &str) -> String {
    format!("ordain entry {hash}")
}

fn seal_message(text: &str) -> String {
    format!("ordain seal {text}")
}

/// Whether a text carries the seal of a workspace, known by its public key.
pub fn is_sealed(public_key: &str, text: &str, seal: &str) -> bool {
    let signature =
        seal.split_once(':').filter(|(signer, _)| *signer == public_key).map(|(_, signature)| signature);
    signature.is_some_and(|signature| key::is_signed(public_key, &seal_message(text), signature))
}

fn checkpoint_message(seq: u64, hash: &str) -> String {
    format!("ordain checkpoint {seq} {hash}")
}

/// The text of a small file of the ledger's.
pub(crate) fn read_file(path: &Path) -> std::io::Result<String> {
    read_open(&open_ordinary(path)?, path)
}

/// Opens a file to read it that may lie in a folder which others write to: no link, no device, no pipe.
pub(crate) fn open_ordinary(path: &Path) -> std::io::Result<std::fs::File> {
    open_file(path, &mut std::fs::OpenOptions::new(), OFlags::NOFOLLOW)
}

/// Opens a file to read it, and for what `options` say. A device or a pipe is no file of the ledger's.
fn open_file(
    path: &Path,
    options: &mut std::fs::OpenOptions,
    flags: OFlags,
) -> std::io::Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    // Opening a pipe would wait for somebody who writes to it.
    let flags = (flags | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = options.read(true).custom_flags(flags.cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(odd(path, "it is not an ordinary file")) }
}

/// The text of an open file. A file without end is none of the ledger's.
fn read_open(file: &std::fs::File, path: &Path) -> std::io::Result<String> {
    const BYTES_MAX: u64 = 1 << 20;
    let mut text = String::new();
    file.take(BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > BYTES_MAX { Err(odd(path, "it is too long")) } else { Ok(text) }
}

fn odd(path: &Path, what: &str) -> std::io::Error {
    std::io::Error::other(format!("{}: {what}", path.display()))
}

/// A new file that only its owner may read and write, whatever the process's mask says.
pub(crate) fn private_file(path: &Path) -> std::io::Result<fs_err::File> {
    use fs_err::os::unix::fs::OpenOptionsExt as _;
    fs_err::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn unusable(message: String) -> StoreError {
    StoreError::Ledger { message, hint: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_form_does_not_depend_on_the_order_of_names() {
        let value: Value = serde_json::from_str(r#"{"b":[1,{"z":null,"a":"é\n"}],"a":1.5}"#).unwrap();
        assert_eq!(canonical(&value), r#"{"a":1.5,"b":[1,{"a":"é\n","z":null}]}"#);
    }

    #[test]
    fn a_checkpoint_goes_over_its_own_file_and_over_no_other() {
        use std::os::unix::fs::MetadataExt as _;
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(folder.path(), None).unwrap();
        let (path, other) = (folder.path().join("ledger.checkpoint"), folder.path().join("other"));
        let inode = || std::fs::symlink_metadata(&path).unwrap().ino();
        let first = inode();
        let remember = |seq| {
            ledger.remember(&ledger.sign(seq, NOTHING.to_owned()));
            assert_eq!(ledger.remembered().unwrap().unwrap().seq, seq);
        };
        remember(7);
        remember(12_345);
        ledger.remember(&ledger.sign(8, NOTHING.to_owned()));
        assert_eq!(ledger.remembered().unwrap().unwrap().seq, 12_345, "an older one does not replace it");
        assert_eq!((inode(), std::fs::metadata(&path).unwrap().len()), (first, 512));
        let kept = std::fs::read(&path).unwrap();
        std::fs::rename(&path, &other).unwrap();
        for put in [std::os::unix::fs::symlink::<_, &Path>, std::fs::hard_link] {
            put(&other, &path).unwrap();
            remember(99_999);
            assert_eq!(std::fs::read(&other).unwrap(), kept);
            std::fs::remove_file(&path).unwrap();
        }
        std::fs::write(&path, "somebody's notes").unwrap();
        remember(100_000);
        assert_ne!(inode(), first);
    }

    #[test]
    fn a_hash_depends_on_what_came_before() {
        assert_ne!(chained(NOTHING, "{}"), chained(&chained(NOTHING, "{}"), "{}"));
    }
}
