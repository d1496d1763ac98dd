//! Copies of a SQLite store, each with the place of its ledger and a signature, and the way back to one.
//!
//! A copy is made while the store is in use, and is as a reader would have seen it. The key is not part of it: whoever
//! has a copy can read it and not forge it.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::os::unix::fs::DirBuilderExt as _;

use crate::Answer;
use crate::error::StoreError;
use crate::ledger::{self, EntryNote, Ledger, end};
use crate::options::{Clock, Database, StoreOptions};
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
    /// How large the database file is.
    bytes: u64,
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
        format!("backup {} {} {} {}", self.at, self.entries, self.bytes, self.sha256)
    }
}

/// Up to where a store is brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreAt {
    /// Before this run began.
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
            // It is its owner's alone, as the store is.
            ledger::private_file(&copy).map_err(|error| failed(&error))?;
            store.pool.session().await?.copy_to(copy.clone()).await?;
            let described = tokio::task::spawn_blocking(move || described(&copy)).await;
            let (entries, bytes, sha256) =
                described.map_err(|error| StoreError::Database { message: error.to_string() })??;
            let mut backup = Backup { at, entries, bytes, sha256, seal: String::new(), folder };
            backup.seal = store.ledger.seal(&backup.message());
            let text = serde_json::json!(backup).to_string();
            // Without this file it is no copy yet.
            let written = ledger::private_file(&backup.folder.join(MANIFEST))
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
    let mut builder = std::fs::DirBuilder::new();
    builder.mode(0o700).recursive(true).create(to).map_err(|error| failed(&error))?;
    let mut tries = 0;
    loop {
        let at = clock.timestamp();
        let folder = to.join(at.replace(':', "-"));
        match builder.recursive(false).create(&folder) {
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
///
/// The copy is finished beside the store, with the entry that accepts it, and takes its place by one rename: whenever this
/// is interrupted, the old store is there or the new one.
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
                let first = entries.first().map(|entry| entry.seq).unwrap_or_default();
                Latest::Entries(first.saturating_sub(1))
            }
        };
        let chosen = newest(&store.inner().ledger, from, &latest)?;
        drop(store);
        let draft = path.with_extension("db.draft");
        take_copy(&chosen, &draft)?;
        let database = Database::Sqlite { path: draft.clone() };
        let drafted = Store::open(StoreOptions { database, ..looking.clone() }).await?;
        let reason =
            format!("restored the copy of {} ({} entries), asked for {at:?}", chosen.at, chosen.entries);
        let checkpoint = end::accept(drafted.inner(), &reason, note).await?;
        drop(drafted);
        let aside = put_in_place(&path, &draft, &chosen.at)?;
        // If this is not reached, whoever opens the store next does it.
        Ledger::open(&looking.state, looking.checkpoint.as_deref())?.write(&checkpoint);
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
    // A clock may have been wrong; the ledger only grows.
    found.sort_by(|left, right| (left.entries, &left.at).cmp(&(right.entries, &right.at)));
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
            hint: Some("`ordain tables backup` makes copies; name their folder with --from".to_owned()),
        });
    };
    Ok(chosen)
}

/// Copies a copy, as far as it is the one that was made. Its folder may be somebody else's.
fn take_copy(chosen: &Backup, draft: &Path) -> Result<(), StoreError> {
    for end in ["", "-wal", "-shm"] {
        remove_if_there(&beside(draft, end))?;
    }
    let copied = || {
        let from = ledger::open_ordinary(&chosen.folder.join(COPY))?;
        let mut to = ledger::private_file(draft)?;
        let sha256 = hashed(&mut from.take(chosen.bytes + 1), Some(&mut to))?;
        to.sync_all()?;
        Ok(sha256)
    };
    if copied().map_err(|error: std::io::Error| failed(&error))? == chosen.sha256 {
        return Ok(());
    }
    remove_if_there(draft)?;
    Err(StoreError::Ledger {
        message: format!("the copy of {} is not the one that was made", chosen.at),
        hint: Some("take another one".to_owned()),
    })
}

/// Puts a finished database in the place of another one, which is kept under the name that is given back.
fn put_in_place(path: &Path, draft: &Path, copied_at: &str) -> Result<PathBuf, StoreError> {
    // Both are one file each from here on, and nobody else can begin a log while they are held.
    let held = [whole(draft)?, whole(path)?];
    let name = path.with_extension(format!("db.before-{}", copied_at.replace(':', "-")));
    let names = std::iter::once(name.clone()).chain((2..).map(|number| beside(&name, &format!("-{number}"))));
    let aside = names.into_iter().find(|name| !name.exists()).unwrap_or(name);
    let placed = || {
        fs_err::hard_link(path, &aside)?;
        fs_err::rename(draft, path)?;
        fs_err::File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
    };
    placed().map_err(|error| failed(&error))?;
    drop(held);
    // It was made by the store of the draft.
    remove_if_there(&draft.with_extension("waiting"))?;
    Ok(aside)
}

/// Brings all of a database into its one file, and holds it so that nobody else uses it.
fn whole(path: &Path) -> Result<rusqlite::Connection, StoreError> {
    const WAIT: Duration = Duration::from_secs(5);
    let held = || {
        let flags = rusqlite::OpenFlags::default() - rusqlite::OpenFlags::SQLITE_OPEN_CREATE;
        let connection = rusqlite::Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(WAIT)?;
        let journal: String = connection.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))?;
        connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")?;
        Ok((connection, journal))
    };
    match held() {
        Ok((connection, journal)) if journal == "delete" => Ok(connection),
        Ok(_) => Err(StoreError::Busy),
        Err(error) => Err(crate::session::of_sqlite(&error)),
    }
}

fn beside(path: &Path, end: &str) -> PathBuf {
    PathBuf::from(format!("{}{end}", path.display()))
}

fn remove_if_there(path: &Path) -> Result<(), StoreError> {
    match fs_err::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(&error)),
        _ => Ok(()),
    }
}

/// How many entries a copy has, how large it is, and its hash. The copy itself is asked, because others may have written
/// since.
fn described(copy: &Path) -> Result<(u64, u64, String), StoreError> {
    let count = || {
        let connection = rusqlite::Connection::open(copy)?;
        connection.query_row("SELECT count(*) FROM ordain_entries", [], |row| row.get::<_, i64>(0))
    };
    let counted = count().map_err(|error| StoreError::Database { message: error.to_string() })?;
    let looked = || {
        let mut file = fs_err::File::open(copy)?;
        file.sync_all()?;
        Ok((file.metadata()?.len(), hashed(&mut file, None)?))
    };
    let (bytes, sha256) = looked().map_err(|error: std::io::Error| failed(&error))?;
    Ok((u64::try_from(counted).unwrap_or_default(), bytes, sha256))
}

/// The hash of what is read, which is written somewhere too.
fn hashed(from: &mut dyn std::io::Read, mut to: Option<&mut fs_err::File>) -> std::io::Result<String> {
    let (mut hasher, mut piece) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        let read = from.read(&mut piece)?;
        if read == 0 {
            return Ok(ordain_types::hex(&hasher.finalize()));
        }
        hasher.update(&piece[..read]);
        if let Some(to) = &mut to {
            to.write_all(&piece[..read])?;
        }
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
