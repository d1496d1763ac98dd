//! Which workspaces this user has accepted.
//!
//! A workspace says whom to ask for plans, and what is asked holds samples of rows and goes with the user's key. So a
//! folder that belongs to somebody else, and an address that stands in a workspace's own files, count only after the
//! user has looked at them and said so: `ordain config trust DIR`.

use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use ordain_cell::Level;
use serde::{Deserialize, Serialize};

use super::FILE;
use super::environment::{Environment, VariableSource};
use super::error::WorkspaceError;
use super::file::{File, LevelName};

/// Folders that the environment accepts as they are, separated by colons.
pub(super) const VARIABLE: &str = "ORDAIN_TRUST";
/// Where accepted workspaces are written down, in the data folder.
const LIST: &str = "trusted.json";
/// More than anybody accepts.
const LIST_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A workspace that the user has accepted, or is asked to accept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// Its folder, with all links resolved.
    pub root: PathBuf,
    /// The users to whom the folder and its `ordain.toml` belong.
    pub owners: BTreeSet<u32>,
    /// What its own files ask for beyond the usual: addresses that they name, less isolation, folders elsewhere.
    pub asks: BTreeSet<String>,
}

impl Accepted {
    /// Whether there is nothing to accept.
    pub fn is_nothing(&self) -> bool {
        self.owners.is_empty() && self.asks.is_empty()
    }
}

/// The workspaces that a user has accepted.
#[derive(Debug, Clone)]
pub struct TrustList(PathBuf);

impl TrustList {
    /// The list in a data folder.
    fn in_folder(data: &Path) -> Self {
        Self(data.join(LIST))
    }

    /// The list of this process's user.
    pub fn own() -> Result<Self, WorkspaceError> {
        let data = ordain_cell::profile::DataDir::from_env().map_err(|error| failed(&error.to_string()))?;
        Ok(Self::in_folder(data.root()))
    }

    /// What was accepted.
    pub fn read(&self) -> Result<Vec<Accepted>, WorkspaceError> {
        use std::io::Read as _;
        let file = match std::fs::File::open(&self.0) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(&error.to_string())),
        };
        let metadata = file.metadata().map_err(|error| failed(&error.to_string()))?;
        if !is_ours(metadata.uid()) || metadata.mode() & 0o022 != 0 {
            return Err(failed("it can be written by other users"));
        }
        let mut text = String::new();
        file.take(LIST_BYTES_MAX).read_to_string(&mut text).map_err(|error| failed(&error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| failed(&error.to_string()))
    }

    /// Accepts a workspace as it is now.
    pub fn add(&self, accepted: Accepted) -> Result<(), WorkspaceError> {
        let mut list = self.read()?;
        list.retain(|other| other.root != accepted.root);
        list.push(accepted);
        self.write(&list)
    }

    /// Takes it back; whether it had been accepted.
    pub fn remove(&self, root: &Path) -> Result<bool, WorkspaceError> {
        let mut list = self.read()?;
        let before = list.len();
        let root = resolved(root);
        list.retain(|other| other.root != root);
        let is_changed = list.len() < before;
        if is_changed {
            self.write(&list)?;
        }
        Ok(is_changed)
    }

    fn write(&self, list: &[Accepted]) -> Result<(), WorkspaceError> {
        let wrong = |error: std::io::Error| failed(&error.to_string());
        let text = serde_json::to_vec_pretty(list).map_err(|error| failed(&error.to_string()))?;
        let folder = self.0.parent().unwrap_or(Path::new("."));
        fs_err::create_dir_all(folder).map_err(wrong)?;
        let next = folder.join(format!("{LIST}.{}", std::process::id()));
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&next)
            .map_err(wrong)?;
        std::io::Write::write_all(&mut file, &text).and_then(|()| file.sync_all()).map_err(wrong)?;
        fs_err::rename(&next, &self.0).map_err(wrong)
    }
}

/// What a workspace asks to be accepted: its owners, where they are not this user, and the addresses that its own
/// files name.
pub(super) fn asked(root: &Path, file: &File, environment: &Environment) -> Result<Accepted, WorkspaceError> {
    let mut owners = BTreeSet::new();
    for path in [root.to_owned(), root.join(FILE)] {
        let metadata = match fs_err::symlink_metadata(&path) {
            // A folder with checks and data needs no such file.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && path != root => continue,
            found => found.map_err(|error| WorkspaceError::unreadable(FILE, &error))?,
        };
        if !is_ours(metadata.uid()) {
            owners.insert(metadata.uid());
        }
    }
    let mut asks = BTreeSet::new();
    // What the process's own environment says, the user has said.
    let is_own = |variable: &str| matches!(environment.find(variable), Some((_, VariableSource::Process)));
    if let Some(address) = file.model.base_url.as_ref().filter(|_| !is_own("ORDAIN_MODEL_BASE_URL")) {
        asks.insert(format!("model.base_url = {address}"));
    }
    if let Some(address) = store_address(file, environment).filter(|_| !is_own("ORDAIN_STORE_URL")) {
        asks.insert(format!("store.url = {address}"));
    }
    for (key, variable, folder) in [
        ("store.checkpoint", "ORDAIN_STORE_CHECKPOINT", &file.store.checkpoint),
        ("store.files", "ORDAIN_STORE_FILES", &file.store.files),
        ("backup.to", "ORDAIN_BACKUP_TO", &file.backup.to),
    ] {
        if let Some(folder) = folder.as_ref().filter(|folder| leads_out(root, folder) && !is_own(variable)) {
            asks.insert(format!("{key} = {folder}"));
        }
    }
    let minimum = file.sandbox.minimum.map(LevelName::level).filter(|minimum| *minimum < Level::Full);
    if let Some(minimum) = minimum.filter(|_| !is_own("ORDAIN_SANDBOX_MINIMUM")) {
        asks.insert(format!("sandbox.minimum = {minimum}"));
    }
    for (name, tool) in &file.tools {
        let variables: Vec<&str> = tool.variables().map(String::as_str).collect();
        let given =
            if variables.is_empty() { String::new() } else { format!(" with {}", variables.join(", ")) };
        asks.insert(format!("tools.{name} = {}{given}", tool.place()));
    }
    for (name, notify) in &file.notify {
        let to: Vec<&str> = notify.to.iter().map(String::as_str).collect();
        let to = if to.is_empty() { String::new() } else { format!(" to {}", to.join(", ")) };
        asks.insert(format!("notify.{name} = {}{to}", notify.url));
    }
    Ok(Accepted { root: resolved(root), owners, asks })
}

/// The address of a database that the workspace's own files name: what a database holds is asked for there, and the
/// requests go to it. A variable of the user's that they name is as good as an address: it may be another project's.
fn store_address(file: &File, environment: &Environment) -> Option<String> {
    let url = file.store.url.as_ref()?;
    let Some(name) = url.strip_prefix("env:") else {
        return url.starts_with("postgres").then(|| without_password(url));
    };
    let (value, _) = environment.find(name)?;
    Some(format!("{url} ({})", without_password(&value)))
}

/// An address of a database as it can be shown: everything that says where it leads, and no password.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (authority, tail) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let user = user.split(':').next().unwrap_or_default();
    let (path, query) = tail.split_once('?').unwrap_or((tail, ""));
    let kept: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("password=")).collect();
    let at = if user.is_empty() { "" } else { "@" };
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{scheme}://{user}{at}{host}{path}{mark}{}", kept.join("&"))
}

/// Whether something would be written outside of the workspace: by an address, by the path itself or by a link.
fn leads_out(root: &Path, folder: &str) -> bool {
    let mut parts = Path::new(folder).components();
    let named = root.join(folder);
    folder.contains("://")
        || parts.any(|part| !matches!(part, Component::Normal(_) | Component::CurDir))
        || named.exists() && !resolved(&named).starts_with(resolved(root))
}

/// Refuses a workspace that asks for more than was accepted.
pub(super) fn check(asked: &Accepted) -> Result<(), WorkspaceError> {
    if asked.is_nothing() {
        return Ok(());
    }
    let named = std::env::var_os(VARIABLE).unwrap_or_default();
    if std::env::split_paths(&named).any(|folder| resolved(&folder) == asked.root) {
        return Ok(());
    }
    let list = TrustList::own()?.read()?;
    let accepted = list.iter().find(|accepted| accepted.root == asked.root);
    let is_new_owner = |owner: &&u32| accepted.is_none_or(|accepted| !accepted.owners.contains(*owner));
    let is_new = |ask: &&String| accepted.is_none_or(|accepted| !accepted.asks.contains(*ask));
    let message = if let Some(owner) = asked.owners.iter().find(is_new_owner) {
        format!("the workspace belongs to another user ({owner}), so it is not used")
    } else if let Some(ask) = asked.asks.iter().find(is_new) {
        let shown: String = ask.escape_debug().take(200).collect();
        format!("it says `{shown}`, which you have not accepted, so the workspace is not used")
    } else {
        return Ok(());
    };
    let hint =
        format!("look at its files; if you want to use it: `ordain config trust {}`", asked.root.display());
    Err(WorkspaceError { file: FILE.to_owned(), line: None, message, hint: Some(hint) })
}

/// Whether a user is this one, or the superuser, who may do everything as it is.
fn is_ours(user: u32) -> bool {
    user == rustix::process::geteuid().as_raw() || user == 0
}

fn resolved(root: &Path) -> PathBuf {
    fs_err::canonicalize(root).or_else(|_| std::path::absolute(root)).unwrap_or_else(|_| root.to_owned())
}

fn failed(problem: &str) -> WorkspaceError {
    WorkspaceError {
        file: LIST.to_owned(),
        line: None,
        message: format!("the list of accepted workspaces could not be used: {problem}"),
        hint: Some("it is in the data folder (`ORDAIN_DATA_DIR`), which must be yours alone".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_accepted_is_kept_and_can_be_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let list = TrustList::in_folder(folder.path());
        assert_eq!(list.read().unwrap(), []);
        let asks = BTreeSet::from(["model.base_url = http://x".to_owned()]);
        let accepted = Accepted { root: resolved(folder.path()), owners: BTreeSet::from([7]), asks };
        list.add(accepted.clone()).unwrap();
        list.add(accepted.clone()).unwrap();
        assert_eq!(list.read().unwrap(), [accepted]);
        assert!(list.remove(folder.path()).unwrap() && !list.remove(folder.path()).unwrap());
        assert_eq!(list.read().unwrap(), []);
    }

    #[test]
    fn an_address_is_shown_with_all_but_its_password() {
        let cases = [
            ("postgres://ada:hush@db.example/shop", "postgres://ada@db.example/shop"),
            ("postgres://db/shop?host=evil&password=hush", "postgres://db/shop?host=evil"),
            ("postgres://a:b@c@host:1", "postgres://a@host:1"),
            ("hush", "://hush"),
        ];
        for (url, shown) in cases {
            assert_eq!(without_password(url), shown);
        }
    }

    #[test]
    fn a_folder_leads_out_by_its_path_or_by_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("workspace");
        fs_err::create_dir_all(root.join("own")).unwrap();
        std::os::unix::fs::symlink("..", root.join("link")).unwrap();
        let cases = [
            ("own", false),
            ("./new", false),
            ("link", true),
            ("../x", true),
            ("/var", true),
            ("file:///var", true),
        ];
        for (named, expected) in cases {
            assert_eq!(leads_out(&root, named), expected, "{named}");
        }
    }

    #[test]
    fn a_list_that_others_may_write_is_not_believed() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LIST);
        fs_err::write(&path, "[]").unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        let error = TrustList::in_folder(folder.path()).read().unwrap_err();
        assert!(error.message.contains("written by other users"), "{error}");
    }
}
