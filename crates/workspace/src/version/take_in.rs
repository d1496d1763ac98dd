//! Takes a published version into a folder.
//!
//! Everything is fetched and held against its digest first; only then are files put in their places. A file that somebody
//! changed in the folder is never replaced: then nothing is, and the difference is told. If the process ends in between,
//! the next start goes on from there, before anything is served.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use ordain_store::{Published, Store};
use sha2::{Digest as _, Sha256};

use super::list::{FileList, Listed, is_data, usual, wrong};
use super::{NAMED_MAX, OWNER, Version, VersionError, digest};
use crate::error::WorkspaceError;
use crate::{FILE, FILE_BYTES_MAX, STATE, inside};

/// The file that says which version the folder has, in the workspace's state.
const RECORD: &str = "workspace.json";
/// The folder with files that are not in their places yet, in the workspace's state.
const INCOMING: &str = "incoming";
/// How often a version is fetched anew because a newer one was published meanwhile.
const TRIES: usize = 3;

/// What a node finds that looks for a newer version while it serves.
#[derive(Debug)]
pub enum Followed {
    /// It has the newest one.
    Newest,
    /// Files of `data` have changed, and are fetched.
    Data(Arrival),
    /// Other files have changed, which are read at the start only.
    NeedsRestart {
        /// The newest version.
        version: u64,
    },
}

/// A version that is fetched, and not in place yet.
#[derive(Debug)]
pub struct Arrival {
    root: PathBuf,
    version: Version,
    changes: Vec<Change>,
}

/// What becomes of a file.
#[derive(Debug)]
enum Change {
    Write { name: String, sha256: String },
    Remove { name: String },
}

impl Version {
    /// Takes in the newest version before the folder is served, and says how it differs from the one that the folder had;
    /// `None` if none was ever published.
    pub async fn take_in(root: &Path, store: &Store) -> Result<Option<(Self, Option<String>)>, VersionError> {
        let mut tries = 0;
        loop {
            let Some(published) = store.published(1).await?.pop() else { return Ok(None) };
            let here = Self::of_folder(root)?.unwrap_or_default();
            if here.number > published.version {
                return Err(older(&here, &published).into());
            }
            let list = FileList::of(store, &published).await;
            let arrived = match list {
                Ok(list) => {
                    Arrival::fetch(root, store, &published, &list, here.files.clone(), |_| true).await
                }
                Err(error) => Err(error),
            };
            tries += 1;
            match arrived {
                Ok(arrival) => {
                    let version = arrival.put_in_place()?;
                    let difference = version.difference(&here);
                    return Ok(Some((version, difference)));
                }
                // What an older version needs alone may have been removed meanwhile.
                Err(_) if tries < TRIES && store.published(1).await?.pop().as_ref() != Some(&published) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Looks for a newer version while this one is served. Files of `data` are fetched, if nothing else has changed.
    pub async fn follow(&self, root: &Path, store: &Store) -> Result<Followed, VersionError> {
        let Some(published) = store.published(1).await?.pop().filter(|newest| newest.list != self.list)
        else {
            return Ok(Followed::Newest);
        };
        let list = FileList::of(store, &published).await?;
        if !list.has_same_code(&self.files) {
            return Ok(Followed::NeedsRestart { version: published.version });
        }
        let arrival = Arrival::fetch(root, store, &published, &list, self.files.clone(), is_data).await?;
        Ok(Followed::Data(arrival))
    }

    /// The version that a folder has, if it took one in or published one.
    pub(super) fn of_folder(root: &Path) -> Result<Option<Self>, WorkspaceError> {
        let name = format!("{STATE}/{RECORD}");
        let Some(text) = inside::text(root, &name, FILE_BYTES_MAX)? else { return Ok(None) };
        let read = serde_json::from_str(&text);
        read.map(Some).map_err(|error| {
            let hint = "remove it; files that are as they were published are known again by their content";
            wrong(&name, error.to_string(), Some(hint))
        })
    }

    pub(super) fn keep(&self, root: &Path) -> Result<(), WorkspaceError> {
        let text = serde_json::json!(self).to_string();
        let path = root.join(STATE).join(RECORD);
        let written = written_whole(&path, |file| file.write_all(text.as_bytes()));
        written.map_err(|error| WorkspaceError::unreadable(&format!("{STATE}/{RECORD}"), &error))
    }
}

impl Arrival {
    /// Fetches what the folder does not have of a version, of the files in a part of it. `base` are the files that it had
    /// from a version before.
    async fn fetch(
        root: &Path,
        store: &Store,
        published: &Published,
        list: &FileList,
        base: BTreeMap<String, String>,
        part: fn(&str) -> bool,
    ) -> Result<Self, VersionError> {
        let replaces_address = part(FILE) && replaces_address(root, store, list).await?;
        let (number, looked_at, listed) = (published.version, root.to_owned(), list.clone());
        let survey = move || survey(&looked_at, &listed, &base, number, replaces_address, part);
        let changes = tokio::task::spawn_blocking(survey).await;
        let changes = changes.map_err(|error| wrong(STATE, error.to_string(), None))??;
        let folder = root.join(STATE).join(INCOMING);
        for change in &changes {
            if let Change::Write { name, .. } = change
                && let Some(listed) = list.files.get(name)
            {
                bring(store, name, listed, &folder).await?;
            }
        }
        let version = Version { number, list: published.list.clone(), files: list.digests() };
        Ok(Self { root: root.to_owned(), version, changes })
    }

    /// Puts the files in their places.
    pub fn put_in_place(self) -> Result<Version, WorkspaceError> {
        let folder = self.root.join(STATE).join(INCOMING);
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        for change in &self.changes {
            if let Change::Write { sha256, .. } = change {
                *uses.entry(sha256).or_default() += 1;
            }
        }
        for change in &self.changes {
            let (name, done) = match change {
                Change::Remove { name } => (name, fs_err::remove_file(self.root.join(name))),
                Change::Write { name, sha256 } => {
                    let left = uses.entry(sha256).or_default();
                    *left -= 1;
                    (name, put(&self.root, name, &folder.join(sha256), *left == 0))
                }
            };
            done.map_err(|error| WorkspaceError::unreadable(name, &error))?;
        }
        self.version.keep(&self.root)?;
        // What is left are pieces of a version that was never taken in.
        let _ = fs_err::remove_dir_all(&folder);
        Ok(self.version)
    }
}

/// What has to change in a folder; an error if that would replace or pass over what somebody changed there.
fn survey(
    root: &Path,
    list: &FileList,
    base: &BTreeMap<String, String>,
    version: u64,
    replaces_address: bool,
    part: fn(&str) -> bool,
) -> Result<Vec<Change>, WorkspaceError> {
    let (mut changes, mut strange) = (Vec::new(), Vec::new());
    let here: BTreeSet<String> = usual(root)?.into_iter().chain(base.keys().cloned()).collect();
    let names = here.iter().chain(list.files.keys()).collect::<BTreeSet<_>>();
    for name in names.into_iter().filter(|name| part(name)) {
        let there = local_digest(root, name)?;
        let is_as_taken_in = there.is_some() && there.as_ref() == base.get(name);
        let may_go = is_as_taken_in || there.is_none() || (name == FILE && replaces_address);
        match list.files.get(name) {
            Some(file) if there.as_ref() == Some(&file.sha256) => {}
            Some(file) if may_go => {
                changes.push(Change::Write { name: name.clone(), sha256: file.sha256.clone() });
            }
            None if there.is_none() => {}
            None if may_go => changes.push(Change::Remove { name: name.clone() }),
            _ => strange.push(name.as_str()),
        }
    }
    let Some((first, others)) = strange.split_first() else { return Ok(changes) };
    let also = match others {
        [] => String::new(),
        others if others.len() < NAMED_MAX => format!(", and so are {}", others.join(", ")),
        others => {
            format!(", and so are {} and {} more", others[..NAMED_MAX].join(", "), others.len() - NAMED_MAX)
        }
    };
    let message =
        format!("it is another file than in version {version} of the workspace, which is published{also}");
    let hint = "`ordain serve cluster publish` gives every node what is here; to have the published files, move these away and start again";
    Err(wrong(first, message, Some(hint)))
}

/// Whether the folder's `ordain.toml` says nothing but where the store is, and the published one says that too.
async fn replaces_address(root: &Path, store: &Store, list: &FileList) -> Result<bool, VersionError> {
    let Some(here) = inside::text(root, FILE, FILE_BYTES_MAX)? else { return Ok(false) };
    let table = |text: &str| toml::from_str::<toml::Table>(text).unwrap_or_default();
    let here = table(&here);
    let Some((section, said)) = here.iter().next().filter(|_| here.len() == 1) else { return Ok(false) };
    let Some(listed) = list.files.get(FILE).filter(|_| section == "store") else { return Ok(false) };
    let mut text = Vec::new();
    for piece in &listed.pieces {
        text.extend(store.kept_file(OWNER, piece).await?.unwrap_or_default());
    }
    let there = table(&String::from_utf8_lossy(&text));
    let is_said = |(key, value): (&String, &toml::Value)| {
        there.get("store").and_then(|store| store.get(key)) == Some(value)
    };
    Ok(said.as_table().is_some_and(|said| said.iter().all(is_said)))
}

/// The digest of a file of the workspace; `None` if there is none.
fn local_digest(root: &Path, name: &str) -> Result<Option<String>, WorkspaceError> {
    let opened = inside::open(root, Path::new(name));
    let Some(file) = opened.map_err(|message| wrong(name, message, None))? else { return Ok(None) };
    let digest = digest_of(file).map_err(|error| WorkspaceError::unreadable(name, &error))?;
    Ok(Some(digest))
}

fn digest_of(mut file: impl io::Read) -> io::Result<String> {
    let (mut whole, mut piece) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(ordain_types::hex(&whole.finalize())),
            length => whole.update(&piece[..length]),
        }
    }
}

/// Brings a file into the folder for incoming ones, under its digest, unless an earlier attempt did.
async fn bring(store: &Store, name: &str, listed: &Listed, folder: &Path) -> Result<(), VersionError> {
    let failed = |error: io::Error| WorkspaceError::unreadable(name, &error);
    let damaged = |message: &str| {
        wrong(
            name,
            message.to_owned(),
            Some("publish again from a folder that has it: `ordain serve cluster publish`"),
        )
    };
    if listed.sha256.len() != 64 || !listed.sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(damaged("its digest in the list is none").into());
    }
    let path = folder.join(&listed.sha256);
    if fs_err::File::open(&path).is_ok_and(|file| digest_of(file).is_ok_and(|found| found == listed.sha256)) {
        return Ok(());
    }
    fs_err::create_dir_all(folder).map_err(failed)?;
    let partial = path.with_extension("part");
    let mut file = fs_err::File::create(&partial).map_err(failed)?;
    let mut whole = Sha256::new();
    for piece in &listed.pieces {
        let Some(content) = store.kept_file(OWNER, piece).await? else {
            return Err(damaged("a piece of it is not in the store").into());
        };
        if digest(&content) != *piece {
            return Err(damaged("a piece of it in the store is not what was published").into());
        }
        whole.update(&content);
        file.write_all(&content).map_err(failed)?;
    }
    if ordain_types::hex(&whole.finalize()) != listed.sha256 {
        return Err(damaged("its content in the store is not what was published").into());
    }
    file.sync_all().and_then(|()| fs_err::rename(&partial, &path)).map_err(failed)?;
    Ok(())
}

/// Puts a fetched file in its place, whole or not at all. Only the last use of it may take it away.
fn put(root: &Path, name: &str, fetched: &Path, is_last: bool) -> io::Result<()> {
    let mut folder = root.to_owned();
    let (folders, _) = name.rsplit_once('/').unwrap_or(("", name));
    for part in folders.split('/').filter(|part| !part.is_empty()) {
        folder.push(part);
        match fs_err::symlink_metadata(&folder) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => {
                return Err(io::Error::other("what is there is not a folder, so nothing is put into it"));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs_err::create_dir(&folder)?,
            Err(error) => return Err(error),
        }
    }
    let target = root.join(name);
    if is_last && std::fs::rename(fetched, &target).is_ok() {
        return Ok(());
    }
    // It is needed again, or the folder is on another disk.
    written_whole(&target, |file| io::copy(&mut fs_err::File::open(fetched)?, file).map(drop))
}

/// Writes a file beside its place, and then puts it there.
fn written_whole(path: &Path, write: impl FnOnce(&mut fs_err::File) -> io::Result<()>) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(format!(".{name}.part"));
    let mut file = fs_err::File::create(&partial)?;
    let written = write(&mut file).and_then(|()| file.sync_all());
    written.and_then(|()| fs_err::rename(&partial, path)).inspect_err(|_| {
        let _ = fs_err::remove_file(&partial);
    })
}

fn older(here: &Version, published: &Published) -> WorkspaceError {
    let message = format!(
        "version {} of the workspace is published, which is older than version {} that this folder has",
        published.version, here.number
    );
    let hint = "after a restore of the database: `ordain serve cluster publish --replace` here, and on other nodes remove .ordain/workspace.json before they start";
    wrong(FILE, message, Some(hint))
}
