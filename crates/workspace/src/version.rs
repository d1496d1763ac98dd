//! A version of the workspace's files, as all nodes of a cluster have it.
//!
//! [`Workspace::publish`] puts the files into the store, each content once and by its digest, and enters the list of them
//! into the ledger. A node takes the newest version in before it serves ([`Version::take_in`]), and while it serves it
//! takes up changed files of `data` ([`Version::follow`]).
//!
//! Invariant: what is published are files that a workspace is known to consist of. Its state, hidden files, and what looks
//! like a key are never among them.

mod list;
mod take_in;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use ordain_store::{EntryNote, Published, Store, StoreError};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::error::WorkspaceError;
use super::{FILE, Workspace, inside};
use list::{FileList, Listed};

pub use take_in::{Arrival, Followed};

/// Whose files they are in the store.
const OWNER: &str = "workspace";
/// Files of one kind that are named in one message.
const NAMED_MAX: usize = 5;
/// Versions whose files are kept: a node may be taking in an older one.
const VERSIONS_KEPT: u64 = 3;

/// The version that a folder has: what it took in or published last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Counts the versions, from one.
    pub number: u64,
    /// The digest of the list of its files.
    list: String,
    /// The digest of each file.
    files: BTreeMap<String, String>,
}

impl Version {
    /// How its files differ from those of a version before, for people; `None` if they do not.
    pub fn difference(&self, before: &Self) -> Option<String> {
        let (mut new, mut changed) = (Vec::new(), Vec::new());
        for (name, digest) in &self.files {
            match before.files.get(name) {
                None => new.push(name.as_str()),
                Some(was) if was != digest => changed.push(name.as_str()),
                Some(_) => {}
            }
        }
        let gone = before.files.keys().filter(|name| !self.files.contains_key(*name));
        let kinds = [("new", new), ("changed", changed), ("removed", gone.map(String::as_str).collect())];
        let told = kinds.into_iter().filter(|(_, names)| !names.is_empty()).map(|(what, names)| {
            let more = names.len().saturating_sub(NAMED_MAX);
            let named = names[..names.len() - more].join(", ");
            if more == 0 { format!("{what}: {named}") } else { format!("{what}: {named} and {more} more") }
        });
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}

/// What publishing came to.
#[derive(Debug, Clone, Serialize)]
pub struct Publication {
    /// The newest version.
    #[serde(flatten)]
    pub published: Published,
    /// Whether it is a new one; if not, the folder is as it was published.
    pub is_new: bool,
    /// Whether only files of `data` differ from the version before, which nodes take up by themselves.
    pub is_data_only: bool,
    /// How many files it has.
    pub files: usize,
    /// How large they are.
    pub bytes: u64,
    /// How much of that the store did not have.
    pub sent_bytes: u64,
}

/// Why a version was not published, or not taken in.
#[derive(Debug, thiserror::Error)]
pub enum VersionError {
    /// Something about the folder. Nothing was changed in it.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// Something about the store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl VersionError {
    /// What would help.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Workspace(error) => error.hint.clone(),
            Self::Store(error) => error.hint(),
        }
    }
}

impl Workspace {
    /// Publishes the workspace's files for all nodes. If the folder does not come from the newest version, it is published
    /// only with `replace`.
    pub async fn publish(
        &self,
        store: &Store,
        replace: bool,
        note: EntryNote,
    ) -> Result<Publication, VersionError> {
        self.check_no_password()?;
        let before = store.published(1).await?.pop();
        let newest = before.as_ref().map_or(0, |before| before.version);
        let here = Version::of_folder(&self.root)?.map_or(0, |here| here.number);
        let (list, sent_bytes) = self.send(store).await?;
        let text = list.text();
        let digest = digest(text.as_bytes());
        let is_new = before.as_ref().is_none_or(|before| before.list != digest);
        if is_new && here != newest && !replace {
            return Err(published_meanwhile(newest, here).into());
        }
        let earlier = match before.as_ref() {
            Some(before) => FileList::of(store, before).await.ok(),
            None => None,
        };
        // Publishing again also puts back what was lost.
        store.keep_file(OWNER, &digest, text.as_bytes()).await?;
        let published = if let Some(before) = before.filter(|_| !is_new) {
            before
        } else {
            let published = store.publish(&digest, newest, note).await?;
            published.ok_or_else(|| published_meanwhile(newest + 1, newest))?
        };
        let (number, files) = (published.version, list.digests());
        Version { number, list: published.list.clone(), files }.keep(&self.root)?;
        forget(store).await?;
        Ok(Publication {
            is_data_only: earlier.is_some_and(|earlier| earlier.has_same_code(&list.digests())),
            published,
            is_new,
            files: list.files.len(),
            bytes: list.files.values().map(|file| file.bytes).sum(),
            sent_bytes,
        })
    }

    /// Sends what the store does not have of the workspace's files. Gives the list of them, and how much was sent.
    async fn send(&self, store: &Store) -> Result<(FileList, u64), VersionError> {
        let mut kept: BTreeSet<String> =
            store.kept_files(OWNER).await?.into_iter().map(|file| file.name).collect();
        let (mut list, mut sent_bytes) = (FileList::default(), 0);
        for name in list::names(self)? {
            let Some(mut file) = inside::open(&self.root, name.as_ref())
                .map_err(|message| list::wrong(&name, message, None))?
            else {
                continue;
            };
            let (mut listed, mut whole) = (Listed::default(), Sha256::new());
            loop {
                let mut piece = Vec::new();
                let read = (&mut file).take(list::PIECE_BYTES).read_to_end(&mut piece);
                read.map_err(|error| WorkspaceError::unreadable(&name, &error))?;
                if piece.is_empty() {
                    break;
                }
                whole.update(&piece);
                listed.bytes += piece.len() as u64;
                let digest = digest(&piece);
                list.check_room(&name, listed.pieces.len())?;
                if kept.insert(digest.clone()) {
                    store.keep_file(OWNER, &digest, &piece).await?;
                    sent_bytes += piece.len() as u64;
                }
                listed.pieces.push(digest);
            }
            listed.sha256 = ordain_types::hex(&whole.finalize());
            list.check_room(&name, listed.pieces.len())?;
            list.files.insert(name, listed);
        }
        Ok((list, sent_bytes))
    }

    /// A password that stands in `ordain.toml` would be read by everybody who can read files of the store.
    fn check_no_password(&self) -> Result<(), WorkspaceError> {
        let text = inside::text(&self.root, FILE, super::FILE_BYTES_MAX)?.unwrap_or_default();
        let file = super::file::parse(&text)?;
        let has_password = |url: &str| {
            let authority = url.split_once("://").map(|(_, rest)| rest.split(['/', '?']).next());
            let user = authority.flatten().and_then(|authority| authority.rsplit_once('@'));
            user.is_some_and(|(user, _)| user.contains(':')) || url.contains("password=")
        };
        if !file.store.url.as_deref().is_some_and(has_password) {
            return Ok(());
        }
        Err(WorkspaceError {
            file: FILE.to_owned(),
            line: file.store.url_line,
            message: "`store.url` holds a password, so the workspace is not published".to_owned(),
            hint: Some(
                "take it out: set ORDAIN_STORE_URL on every node, or write url = \"env:NAME\"".to_owned(),
            ),
        })
    }
}

/// Removes what no version needs of those that are kept.
async fn forget(store: &Store) -> Result<(), VersionError> {
    let mut needed = BTreeSet::new();
    for published in store.published(VERSIONS_KEPT).await? {
        if let Ok(list) = FileList::of(store, &published).await {
            needed.extend(list.files.into_values().flat_map(|file| file.pieces));
        }
        needed.insert(published.list);
    }
    for file in store.kept_files(OWNER).await? {
        if !needed.contains(&file.name) {
            store.remove_file(OWNER, &file.name).await?;
        }
    }
    Ok(())
}

fn published_meanwhile(newest: u64, here: u64) -> WorkspaceError {
    let from = if here == 0 { "no version".to_owned() } else { format!("version {here}") };
    WorkspaceError {
        file: FILE.to_owned(),
        line: None,
        message: format!("version {newest} is published, and this folder comes from {from}"),
        hint: Some(
            "publish from the folder of a node that has the newest version, or say --replace: what is here then takes its place"
                .to_owned(),
        ),
    }
}

fn digest(content: &[u8]) -> String {
    ordain_types::hex(&Sha256::digest(content))
}
