//! A workspace: a folder with `ordain.toml` and what belongs to it.

mod error;
mod file;

use std::path::{Path, PathBuf};

use ordain_store::{
    Database, Invariant, Secret, Store, StoreError, StoreLimits, StoreOptions, TableDeclaration,
};
use ordain_types::Limits;

pub use error::WorkspaceError;

use crate::engine::{Approval, EngineSettings};

/// The file that makes a folder a workspace.
const FILE: &str = "ordain.toml";
/// The folder with the workspace's state.
const STATE: &str = ".ordain";
/// A policy or helpers file above this is a slip of the pen; both travel with every plan.
const TEXT_BYTES_MAX: u64 = 256 * 1024;

/// A folder with its configuration, read and checked.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// The folder.
    pub root: PathBuf,
    /// What it is called.
    pub name: String,
    /// Statuses that plans may set besides the usual ones.
    pub statuses: Vec<String>,
    /// The policy, as the model reads it.
    pub policy: String,
    /// Python that defines functions for plans.
    pub helpers: String,
    /// Where the rows are.
    pub database: Database,
    /// The tables that are declared.
    pub tables: Vec<TableDeclaration>,
    /// Queries that must return no row.
    pub invariants: Vec<Invariant>,
    /// Who writes plans.
    pub model: Model,
    /// When a change waits for a person.
    pub approval: Approval,
    /// What a cell may use.
    pub limits: Limits,
    /// How many repairs a plan gets.
    pub rounds: u32,
    /// The Python packages that plans find: `core`, `data` or `full`.
    pub profile: String,
    /// The isolation below which nothing runs: `full`, `reduced` or `none`.
    pub minimum_isolation: Option<String>,
}

/// Who writes plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// `auto`, `rules`, or a provider and a model's name.
    pub name: String,
    /// Where an OpenAI-compatible server listens.
    pub base_url: Option<String>,
}

impl Workspace {
    /// Finds the workspace that a folder is in: its own, or that of the nearest folder above it.
    pub fn find(start: &Path) -> Result<PathBuf, WorkspaceError> {
        let absolute = std::path::absolute(start).unwrap_or_else(|_| start.to_owned());
        let found = absolute.ancestors().find(|folder| folder.join(FILE).is_file());
        found.map(Path::to_owned).ok_or_else(|| WorkspaceError::none(start))
    }

    /// Reads the workspace in a folder.
    pub fn load(root: &Path) -> Result<Self, WorkspaceError> {
        let text = fs_err::read_to_string(root.join(FILE)).map_err(|error| {
            if error.kind() == std::io::ErrorKind::NotFound {
                return WorkspaceError::none(root);
            }
            WorkspaceError::unreadable(FILE, &error)
        })?;
        let file = file::parse(&text)?;
        let mut workspace = Self::from_file(root, file)?;
        workspace.policy = optional(root, "policy.md")?;
        workspace.helpers = optional(root, "helpers.py")?;
        workspace.check_invariant_names(&text)?;
        Ok(workspace)
    }

    /// The folder with the workspace's state.
    pub fn state(&self) -> PathBuf {
        self.root.join(STATE)
    }

    /// How the workspace's store is opened.
    pub fn store_options(&self) -> StoreOptions {
        let mut options = StoreOptions::sqlite(self.state());
        options.database.clone_from(&self.database);
        options.tables.clone_from(&self.tables);
        options.invariants.clone_from(&self.invariants);
        options.limits = StoreLimits {
            query_wall: self.limits.wall.min(StoreLimits::default().query_wall),
            ..options.limits
        };
        options
    }

    /// What the workspace says about its runs.
    pub fn settings(&self) -> EngineSettings {
        EngineSettings {
            approval: self.approval,
            limits: self.limits.clone(),
            statuses: self.statuses.clone(),
            helpers: self.helpers.clone(),
            policy: self.policy.clone(),
            invariants: self.invariants.iter().map(|rule| (rule.name.clone(), rule.sql.clone())).collect(),
            artifacts: Some(self.state().join("artifacts")),
            rounds: self.rounds,
            ..EngineSettings::default()
        }
    }

    /// Opens the workspace's store; missing tables are made from their seeds.
    pub async fn open_store(&self) -> Result<Store, StoreError> {
        Store::open(self.store_options()).await
    }

    fn from_file(root: &Path, file: file::File) -> Result<Self, WorkspaceError> {
        let name = file.workspace.name.unwrap_or_else(|| {
            root.file_name()
                .map_or_else(|| "workspace".to_owned(), |name| name.to_string_lossy().into_owned())
        });
        let database = database(root, &file.store)?;
        Ok(Self {
            root: root.to_owned(),
            name,
            statuses: file.workspace.statuses,
            policy: String::new(),
            helpers: String::new(),
            database,
            tables: file.tables.into_iter().map(|(name, table)| table.declaration(root, name)).collect(),
            invariants: file.invariants.into_iter().map(file::InvariantSection::invariant).collect(),
            model: Model {
                name: file.model.name.unwrap_or_else(|| "auto".to_owned()),
                base_url: file.model.base_url,
            },
            approval: file.approval.mode.0,
            rounds: file.limits.rounds.unwrap_or(3),
            limits: file.limits.limits(),
            profile: file
                .python
                .profile
                .map_or_else(|| "core".to_owned(), |profile| profile.as_str().to_owned()),
            minimum_isolation: file.sandbox.minimum.map(|minimum| minimum.as_str().to_owned()),
        })
    }

    /// Records name invariants, so that two of one name could not be told apart.
    fn check_invariant_names(&self, text: &str) -> Result<(), WorkspaceError> {
        for (index, invariant) in self.invariants.iter().enumerate() {
            if self.invariants[..index].iter().any(|other| other.name == invariant.name) {
                let line = text.match_indices(&invariant.name).nth(1).map(|(at, _)| error::line_of(text, at));
                return Err(WorkspaceError {
                    file: FILE.to_owned(),
                    line,
                    message: format!("two invariants are called `{}`", invariant.name),
                    hint: Some("give each a name of its own".to_owned()),
                });
            }
        }
        Ok(())
    }
}

fn database(root: &Path, section: &file::StoreSection) -> Result<Database, WorkspaceError> {
    let wrong = |message: String, hint: &str| WorkspaceError {
        file: FILE.to_owned(),
        line: section.url_line,
        message,
        hint: Some(hint.to_owned()),
    };
    // The environment comes before the file, so that a password need not be in it.
    let given = std::env::var("ORDAIN_STORE_URL").ok().or_else(|| section.url.clone());
    let url = given.unwrap_or_else(|| "sqlite".to_owned());
    let url = match url.strip_prefix("env:") {
        Some(name) => std::env::var(name).map_err(|_| {
            wrong(
                format!("the environment variable `{name}`, which `store.url` names, is not set"),
                "set it to the connection string",
            )
        })?,
        None => url,
    };
    if url == "sqlite" {
        if section.tables.is_some() {
            return Err(wrong(
                "`store.tables` is for PostgreSQL".to_owned(),
                "declare the tables under `[tables.…]`",
            ));
        }
        return Ok(Database::Sqlite { path: root.join(STATE).join("store.db") });
    }
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok(Database::Postgres { url: Secret(url), only: section.tables.clone() });
    }
    Err(wrong(
        "`store.url` is not understood".to_owned(),
        "it is \"sqlite\", \"postgres://…\" or \"env:NAME\"",
    ))
}

fn optional(root: &Path, name: &str) -> Result<String, WorkspaceError> {
    let path = root.join(name);
    let length = match fs_err::metadata(&path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(WorkspaceError::unreadable(name, &error)),
    };
    if length > TEXT_BYTES_MAX {
        return Err(WorkspaceError {
            file: name.to_owned(),
            line: None,
            message: format!("the file has {length} bytes, at most {TEXT_BYTES_MAX} are read"),
            hint: Some("it travels with every plan; keep it short".to_owned()),
        });
    }
    fs_err::read_to_string(&path).map_err(|error| WorkspaceError::unreadable(name, &error))
}
