//! Copies of a SQLite store, each with the place of its ledger and a signature, and the way back to one.
//!
//! A copy is made while the store is in use, and is as a reader would have seen it. The key is not part of it: whoever
//! has a copy can read it and not forge it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Answer;
use crate::error::StoreError;
use crate::ledger::{self, EntryNote, Ledger};
use crate::options::{Database, StoreOptions};
use crate::session::Intent;
use crate::store::Store;

/// The file that describes a copy.
const MANIFEST: &str = "backup.json";
/// The copied database.
const COPY: &str = "store.db";

/// One copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// When it was made.
    pub at: String,
    /// How many entries its ledger has.
    pub entries: u64,
    /// The SHA-256 of the database file.
    pub sha256: String,
    /// Who made it, and the signature.
    seal: String,
    /// Its folder.
    #[serde(skip)]
    pub folder: PathBuf,
}

impl Backup {
    fn message(&self) -> String {
        format!("backup {} {} {}", self.at, self.entries, self.sha256)
    }
}

/// Up to where a store is brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreAt {
    /// Just after this run at the latest.
    Run(String),
    /// At this time at the latest, as records write it.
    Time(String),
}

impl Store {
    /// Copies the store into a new folder below `to`.
    pub fn back_up<'a>(&'a self, to: &'a Path) -> Answer<'a, Backup> {
        Box::pin(async move {
            let store = self.inner();
            let at = store.clock.timestamp();
            let folder = to.join(at.replace(':', "-"));
            fs_err::create_dir_all(&folder).map_err(|error| failed(&error))?;
            let copy = folder.join(COPY);
            store.pool.session().await?.copy_to(copy.clone()).await?;
            // The copy itself is asked, because others may have written since.
            let entries = entries_of(&copy).await?;
            let mut backup = Backup { at, entries, sha256: sha256_of(&copy)?, seal: String::new(), folder };
            backup.seal = store.ledger.seal(&backup.message());
            let text = serde_json::json!(backup).to_string();
            fs_err::write(backup.folder.join(MANIFEST), text).map_err(|error| failed(&error))?;
            Ok(backup)
        })
    }
}

/// Brings a store back to the newest copy below `from` that is not later than `at`. What was there is kept beside it,
/// and the ledger says why it goes on from an earlier place. Nothing else may use the store meanwhile.
pub fn restore(
    options: StoreOptions,
    from: &Path,
    at: RestoreAt,
    note: EntryNote,
) -> Answer<'_, (Backup, PathBuf)> {
    Box::pin(async move {
        let Database::Sqlite { path } = options.database.clone() else { return Err(not_sqlite()) };
        let looking = StoreOptions { allow_older: true, ..options };
        let store = Store::open(looking.clone()).await?;
        let latest = match &at {
            RestoreAt::Time(time) => Latest::Time(time.clone()),
            RestoreAt::Run(run) => {
                let run = store.run(run).await?.run_id;
                let entries = store.entries_of_run(&run).await?;
                Latest::Entries(entries.first().map(|entry| entry.seq).unwrap_or_default())
            }
        };
        let chosen = newest(&store.inner().ledger, from, &latest)?;
        // Nobody else may be in the middle of a write.
        store.inner().pool.begin(Intent::Write).await?.roll_back().await?;
        drop(store);
        let aside = path.with_extension(format!("db.before-{}", chosen.at.replace(':', "-")));
        put_in_place(&path, &aside, &chosen.folder.join(COPY)).map_err(|error| failed(&error))?;
        let store = Store::open(looking).await?;
        let reason =
            format!("restored the copy of {} ({} entries), asked for {at:?}", chosen.at, chosen.entries);
        store.accept_restore(&reason, note).await?;
        Ok((chosen, aside))
    })
}

/// What a copy may not be later than.
enum Latest {
    Time(String),
    Entries(u64),
}

/// The newest genuine copy that is not too late.
fn newest(ledger: &Ledger, from: &Path, latest: &Latest) -> Result<Backup, StoreError> {
    let mut found: Vec<Backup> = Vec::new();
    for folder in fs_err::read_dir(from).map_err(|error| failed(&error))? {
        let folder = folder.map_err(|error| failed(&error))?.path();
        let Ok(text) = fs_err::read_to_string(folder.join(MANIFEST)) else { continue };
        let Ok(backup) = serde_json::from_str::<Backup>(&text) else { continue };
        let is_early = match latest {
            Latest::Time(time) => backup.at <= *time,
            Latest::Entries(entries) => backup.entries <= *entries,
        };
        if is_early && ledger.is_sealed(&backup.message(), &backup.seal) {
            found.push(Backup { folder, ..backup });
        }
    }
    found.sort_by(|left, right| left.at.cmp(&right.at));
    let Some(chosen) = found.pop() else {
        return Err(StoreError::Declaration {
            what: "the backups".to_owned(),
            message: "there is no genuine copy that is early enough".to_owned(),
            hint: Some("`ordain backup` makes copies; name their folder with --from".to_owned()),
        });
    };
    if sha256_of(&chosen.folder.join(COPY))? != chosen.sha256 {
        return Err(StoreError::Ledger {
            message: format!("the copy of {} is not the one that was made", chosen.at),
            hint: Some("take another one".to_owned()),
        });
    }
    Ok(chosen)
}

/// Moves the database aside and puts the copy in its place.
fn put_in_place(path: &Path, aside: &Path, copy: &Path) -> std::io::Result<()> {
    let beside = |end: &str| PathBuf::from(format!("{}{end}", path.display()));
    // The copy first, so that a full disk changes nothing.
    let draft = path.with_extension("db.draft");
    fs_err::copy(copy, &draft)?;
    fs_err::rename(path, aside)?;
    for end in ["-wal", "-shm"] {
        if beside(end).exists() {
            fs_err::rename(beside(end), PathBuf::from(format!("{}{end}", aside.display())))?;
        }
    }
    fs_err::rename(&draft, path)
}

async fn entries_of(copy: &Path) -> Result<u64, StoreError> {
    let copy = copy.to_owned();
    let count = move || {
        let connection = rusqlite::Connection::open(copy)?;
        connection.query_row("SELECT count(*) FROM ordain_entries", [], |row| row.get::<_, i64>(0))
    };
    let joined = tokio::task::spawn_blocking(count).await;
    let counted = joined.map_err(|error| StoreError::Database { message: error.to_string() })?;
    let counted = counted.map_err(|error| StoreError::Database { message: error.to_string() })?;
    Ok(u64::try_from(counted).unwrap_or_default())
}

fn sha256_of(path: &Path) -> Result<String, StoreError> {
    use std::io::Read as _;
    let (mut hasher, mut piece) = (Sha256::new(), vec![0; 1 << 20]);
    let mut file = fs_err::File::open(path).map_err(|error| failed(&error))?;
    loop {
        let read = file.read(&mut piece).map_err(|error| failed(&error))?;
        if read == 0 {
            return Ok(ledger::hex(&hasher.finalize()));
        }
        hasher.update(&piece[..read]);
    }
}

fn failed(error: &std::io::Error) -> StoreError {
    StoreError::Declaration {
        what: "the copies of the store".to_owned(),
        message: error.to_string(),
        hint: Some("name a folder that is there and that you may use".to_owned()),
    }
}

pub(crate) fn not_sqlite() -> StoreError {
    StoreError::Declaration {
        what: "the store".to_owned(),
        message: "copies are made of SQLite stores".to_owned(),
        hint: Some(
            "copy a PostgreSQL database with its own tools; `ordain ledger accept-restore` after a restore"
                .to_owned(),
        ),
    }
}
