//! Copies of a SQLite store, each with the place of its ledger and a signature, and the way back to one.
//!
//! A copy is made while the store is in use, and is as a reader would have seen it. The key is not part of it: whoever
//! has a copy can read it and not forge it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Answer;
use crate::error::StoreError;
use crate::ledger::{self, EntryNote, Ledger};
use crate::options::{Clock, Database, StoreOptions};
use crate::session::Intent;
use crate::store::Store;

/// The file that describes a copy.
const MANIFEST: &str = "backup.json";
/// The copied database.
const COPY: &str = "store.db";
/// How far apart the names of two copies are.
const MOMENT: Duration = Duration::from_millis(1);
/// How many moments a copy waits for a name of its own.
const TRIES_MAX: u32 = 100;

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
    /// Its files: the database, then what describes it, without which it is no copy.
    pub fn files(&self) -> [PathBuf; 2] {
        [COPY, MANIFEST].map(|file| self.folder.join(file))
    }

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
            let (at, folder) = new_folder(&store.clock, to).await?;
            let copy = folder.join(COPY);
            store.pool.session().await?.copy_to(copy.clone()).await?;
            let described = tokio::task::spawn_blocking(move || described(&copy)).await;
            let (entries, sha256) =
                described.map_err(|error| StoreError::Database { message: error.to_string() })??;
            let mut backup = Backup { at, entries, sha256, seal: String::new(), folder };
            backup.seal = store.ledger.seal(&backup.message());
            let text = serde_json::json!(backup).to_string();
            // Without this file it is no copy yet.
            let written = fs_err::File::create(backup.folder.join(MANIFEST))
                .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()));
            written.map_err(|error| failed(&error))?;
            Ok(backup)
        })
    }

    /// The genuine copies in a folder, oldest first.
    pub fn backups(&self, folder: &Path) -> Result<Vec<Backup>, StoreError> {
        if folder.is_dir() { copies(&self.inner().ledger, folder) } else { Ok(Vec::new()) }
    }

    /// Removes all genuine copies in a folder but the newest ones; gives back those that it removed.
    pub fn remove_backups(&self, folder: &Path, keep: usize) -> Result<Vec<Backup>, StoreError> {
        let mut copies = self.backups(folder)?;
        copies.truncate(copies.len().saturating_sub(keep));
        for copy in &copies {
            // What describes it goes first, so that half a copy never counts as one.
            for file in [MANIFEST, COPY] {
                fs_err::remove_file(copy.folder.join(file)).map_err(|error| failed(&error))?;
            }
            fs_err::remove_dir(&copy.folder).map_err(|error| failed(&error))?;
        }
        Ok(copies)
    }
}

/// Makes a folder below `to` that is named for the moment. One that is there already is another copy, or one that somebody
/// else is making; then the next moment is taken.
async fn new_folder(clock: &Clock, to: &Path) -> Result<(String, PathBuf), StoreError> {
    fs_err::create_dir_all(to).map_err(|error| failed(&error))?;
    let mut tries = 0;
    loop {
        let at = clock.timestamp();
        let folder = to.join(at.replace(':', "-"));
        match fs_err::create_dir(&folder) {
            Ok(()) => return Ok((at, folder)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && tries < TRIES_MAX => {
                tries += 1;
            }
            Err(error) => return Err(failed(&error)),
        }
        tokio::time::sleep(MOMENT).await;
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

/// The genuine copies in a folder, oldest first.
fn copies(ledger: &Ledger, from: &Path) -> Result<Vec<Backup>, StoreError> {
    let mut found: Vec<Backup> = Vec::new();
    for folder in fs_err::read_dir(from).map_err(|error| failed(&error))? {
        let folder = folder.map_err(|error| failed(&error))?.path();
        let Ok(text) = ledger::read_file(&folder.join(MANIFEST)) else { continue };
        let Ok(backup) = serde_json::from_str::<Backup>(&text) else { continue };
        if ledger.is_sealed(&backup.message(), &backup.seal) {
            found.push(Backup { folder, ..backup });
        }
    }
    found.sort_by(|left, right| left.at.cmp(&right.at));
    Ok(found)
}

/// The newest genuine copy that is not too late.
fn newest(ledger: &Ledger, from: &Path, latest: &Latest) -> Result<Backup, StoreError> {
    let is_early = |backup: &Backup| match latest {
        Latest::Time(time) => backup.at <= *time,
        Latest::Entries(entries) => backup.entries <= *entries,
    };
    let Some(chosen) = copies(ledger, from)?.into_iter().rfind(is_early) else {
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

/// How many entries a copy has, and its hash. The copy itself is asked, because others may have written since.
fn described(copy: &Path) -> Result<(u64, String), StoreError> {
    let count = || {
        let connection = rusqlite::Connection::open(copy)?;
        connection.query_row("SELECT count(*) FROM ordain_entries", [], |row| row.get::<_, i64>(0))
    };
    let counted = count().map_err(|error| StoreError::Database { message: error.to_string() })?;
    fs_err::File::open(copy).and_then(|file| file.sync_all()).map_err(|error| failed(&error))?;
    Ok((u64::try_from(counted).unwrap_or_default(), sha256_of(copy)?))
}

fn sha256_of(path: &Path) -> Result<String, StoreError> {
    use std::io::Read as _;
    let (mut hasher, mut piece) = (Sha256::new(), vec![0; 1 << 20]);
    let mut file = fs_err::File::open(path).map_err(|error| failed(&error))?;
    loop {
        let read = file.read(&mut piece).map_err(|error| failed(&error))?;
        if read == 0 {
            return Ok(ordain_types::hex(&hasher.finalize()));
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
