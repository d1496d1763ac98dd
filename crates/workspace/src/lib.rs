//! A workspace: a folder with `ordain.toml`, a policy, seeds and helpers.
//!
//! It is read strictly, so that a typing error is reported with its line and is never a rule that silently does not
//! hold. A workspace may come from anybody: its files are opened only below its root (`inside`), and addresses and
//! owners that its user did not accept are refused (`trust`).

mod backup;
mod built_in;
mod catalog;
mod environment;
mod error;
mod example;
mod failures;
mod file;
pub mod inside;
mod packages;
mod roles;
mod schedule;
mod schedules;
mod settings;
mod trust;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ordain_cell::Level;
use ordain_cell::profile::Profile;
use ordain_planner::ModelSettings;
use ordain_store::{
    Database, Invariant, Secret, Store, StoreError, StoreLimits, StoreOptions, TableDeclaration,
};
use ordain_tools::{Notify, NotifySettings, Secrets, SnapshotFile, ToolSettings, Toolbox};
use ordain_types::{Approval, Budgets, Catalog, Limits, Schema};
use sha2::{Digest as _, Sha256};

pub use backup::{BackupSettings, read_folder};
pub use environment::{Environment, VariableSource};
pub use error::WorkspaceError;
pub use example::{EXAMPLES, Example, InitError, init};
pub use packages::OwnPackages;
pub use roles::DeclaredRole;
pub use schedule::{Schedule, ScheduleError};
pub use schedules::{Scheduled, ScheduledTask};
pub use settings::{Resolved, SETTINGS, Setting, config_schema, limits_without_workspace};
pub use trust::{Accepted, TrustList};

/// The file that makes a folder a workspace.
pub(crate) const FILE: &str = "ordain.toml";
/// Begins the name of a model whose replies are in a file.
const REPLAY: &str = "replay:";
/// The folder with the workspace's state.
const STATE: &str = ".ordain";
/// How much a model may be asked to think before it replies.
const EFFORTS: [&str; 4] = ["minimal", "low", "medium", "high"];
/// A file of the workspace above this is a slip of the pen; all of them are read with every request.
const TEXT_BYTES_MAX: u64 = 256 * 1024;
/// The same for `ordain.toml`, which may describe very many tables.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// A file of checks above this is a slip of the pen.
pub const CHECK_FILE_BYTES_MAX: u64 = 64 << 20;
/// Rows from which on a table of a file is judged by a database in place of pandas, unless the workspace says otherwise.
const LARGE_ROWS: u64 = 2_000_000;
/// What DuckDB may usually write to disk for a check.
const SCRATCH_BYTES: u64 = 8 << 30;

/// A folder with its configuration, read and checked.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// The folder.
    pub root: PathBuf,
    /// What it is called.
    pub name: String,
    /// Statuses that plans may set besides the usual ones, and when they are set.
    pub statuses: BTreeMap<String, String>,
    /// The policy, as the model reads it.
    pub policy: String,
    /// Python that defines functions for plans.
    pub helpers: String,
    /// Where the rows are.
    pub database: Database,
    /// The file with the ledger's checkpoint, where it is not kept beside the database.
    pub checkpoint: Option<PathBuf>,
    /// Where all nodes of a cluster reach the content of files; it is in the database without one.
    pub shared_files: Option<PathBuf>,
    /// The role under which plan SQL runs on PostgreSQL.
    pub plan_role: Option<String>,
    /// Where copies of the store go, and how often they are made.
    pub backup: BackupSettings,
    /// The tables that are declared.
    pub tables: Vec<TableDeclaration>,
    /// The table that holds the failing rows of checks, if the owner named one.
    pub failures_table: Option<String>,
    /// The number of rows from which on a database judges a table in place of pandas.
    pub large_rows: u64,
    /// The public key whose seal makes compiled checks run that a model wrote.
    pub checks_key: Option<String>,
    /// What DuckDB may write to disk for a check of such a table.
    pub scratch_bytes: u64,
    /// What columns mean, where the owner declared it.
    pub roles: Vec<DeclaredRole>,
    /// What the owner says about the data, and the verbs that change it.
    pub catalog: Arc<Catalog>,
    /// Queries that must return no row.
    pub invariants: Vec<Invariant>,
    /// Who writes plans, and how a model is asked.
    pub model: ModelSettings,
    /// When a change waits for a person.
    pub approval: Approval,
    /// What a cell may use.
    pub limits: Limits,
    /// How many repairs a plan gets.
    pub rounds: u32,
    /// What a run of several steps may use.
    pub budgets: Budgets,
    /// Whether every outline waits for a person.
    pub holds_outlines: bool,
    /// Whether an outline may commit what is done by a milestone, before the rest.
    pub milestones: bool,
    /// The Python packages that plans find.
    pub profile: Profile,
    /// Further packages that plans find.
    pub own_packages: OwnPackages,
    /// The isolation below which nothing runs.
    pub minimum_isolation: Level,
    /// What plans may call outside of the tables.
    pub tools: Toolbox,
    /// What runs by the clock.
    pub schedules: Vec<Scheduled>,
    /// The variables that hold for it, keys among them.
    pub environment: Environment,
}

impl Workspace {
    /// Finds the workspace that a folder is in: its own, or that of the nearest folder above it.
    pub fn find(start: &Path) -> Result<PathBuf, WorkspaceError> {
        let absolute = std::path::absolute(start).unwrap_or_else(|_| start.to_owned());
        let found = absolute.ancestors().find(|folder| folder.join(FILE).is_file());
        let found = found.or_else(|| Some(absolute.as_path()).filter(|folder| has_checks(folder)));
        found.map(Path::to_owned).ok_or_else(|| WorkspaceError::none(start))
    }

    /// Reads the workspace in a folder.
    pub fn load(root: &Path) -> Result<Self, WorkspaceError> {
        let (text, file, environment) = Self::read(root)?;
        trust::check(&trust::asked(root, &file, &environment)?)?;
        check_paths(root, &file)?;
        let mut workspace = Self::from_parts(root, file, environment)?;
        workspace.policy = optional(root, "policy.md")?;
        workspace.helpers = built_in::completed(optional(root, "helpers.py")?);
        workspace.check_invariant_names(&text)?;
        catalog::check(&workspace.catalog, &workspace.helpers, &text)?;
        Ok(workspace)
    }

    /// What a workspace asks its user to accept before it is used: owners other than the user, and addresses.
    pub fn asks_to_accept(root: &Path) -> Result<Accepted, WorkspaceError> {
        let (_, file, environment) = Self::read(root)?;
        trust::asked(root, &file, &environment)
    }

    /// The text of one of its files; `None` if there is no such file.
    pub fn text(&self, name: &str, bytes_max: u64) -> Result<Option<String>, WorkspaceError> {
        inside::text(&self.root, name, bytes_max)
    }

    fn read(root: &Path) -> Result<(String, file::File, Environment), WorkspaceError> {
        if inside::text(root, FILE, FILE_BYTES_MAX)?.is_none() && !has_checks(root) {
            return Err(WorkspaceError::none(root));
        }
        let text = inside::text(root, FILE, FILE_BYTES_MAX)?.unwrap_or_default();
        // Two levels: below them are the files of runs, whose names nobody knows before.
        inside::check_folder(root, STATE, 2).map_err(|message| WorkspaceError {
            file: STATE.to_owned(),
            line: None,
            message,
            hint: Some("remove it; it is made anew".to_owned()),
        })?;
        let environment = Environment::read(root)?;
        let mut file = file::parse(&text)?;
        settings::apply(&mut file, &environment)?;
        let is_users = matches!(environment.find("ORDAIN_MODEL"), Some((_, VariableSource::Process)));
        if let Some(name) = file.model.name.as_mut().filter(|_| !is_users) {
            *name = own_replies(root, "model.name", name)?;
        }
        Ok((text, file, environment))
    }

    /// Every setting with its value and where that comes from, secrets not shown.
    pub fn resolved(&self) -> Result<Vec<Resolved>, WorkspaceError> {
        let text = inside::text(&self.root, FILE, FILE_BYTES_MAX)?.unwrap_or_default();
        let written = toml::from_str(&text).map_err(|error| WorkspaceError::of_toml(&text, &error))?;
        Ok(settings::resolved(self, &written))
    }

    fn from_parts(
        root: &Path,
        mut file: file::File,
        environment: Environment,
    ) -> Result<Self, WorkspaceError> {
        let catalog = Arc::new(catalog::of(&mut file));
        let workspace = Self::from_file(root, file, environment)?;
        Ok(Self { catalog, ..workspace })
    }

    /// The folder with the workspace's state.
    pub fn state(&self) -> PathBuf {
        self.root.join(STATE)
    }

    /// What the workspace says, as a short text: nodes of a cluster where it differs do not carry out each other's runs.
    pub fn fingerprint(&self) -> Result<String, WorkspaceError> {
        let text = inside::text(&self.root, FILE, FILE_BYTES_MAX)?.unwrap_or_default();
        let mut digest = Sha256::new_with_prefix(format!("{text}\0{}\0{}", self.policy, self.helpers));
        for name in self.check_files() {
            // A file that cannot be read is told when checks are run.
            let text =
                inside::text(&self.root, &name, CHECK_FILE_BYTES_MAX).ok().flatten().unwrap_or_default();
            digest.update(format!("\0{name}\0{text}"));
        }
        Ok(ordain_types::hex(&digest.finalize()[..6]))
    }

    fn check_files(&self) -> BTreeSet<String> {
        let entries = fs_err::read_dir(self.root.join("checks")).into_iter().flatten().flatten();
        entries.map(|entry| format!("checks/{}", entry.file_name().to_string_lossy())).collect()
    }

    /// How the workspace's store is opened.
    pub fn store_options(&self) -> StoreOptions {
        let mut options = StoreOptions::sqlite(self.state());
        options.database.clone_from(&self.database);
        options.checkpoint.clone_from(&self.checkpoint);
        options.files.clone_from(&self.shared_files);
        options.plan_role.clone_from(&self.plan_role);
        options.tables.clone_from(&self.tables);
        options.invariants.clone_from(&self.invariants);
        options.references = self.catalog.references();
        options.limits = StoreLimits {
            query_wall: self.limits.wall.min(StoreLimits::default().query_wall),
            ..options.limits
        };
        options
    }

    /// The declared roles by table: the role, and the column that has it.
    pub fn roles_by_table(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        roles::by_table(&self.roles)
    }

    /// Whether what code computed before it failed is kept, also where a task does not ask for it.
    pub fn keeps_partial(&self) -> bool {
        settings::allows_partial(&self.environment)
    }

    /// Where the files that runs leave are kept.
    pub fn artifacts(&self) -> PathBuf {
        let named = settings::ARTIFACTS.iter().find_map(|variable| self.environment.get(variable));
        named.map_or_else(|| self.state().join("artifacts"), PathBuf::from)
    }

    /// The packages of the workspace's profile, and its own.
    pub fn packages(&self) -> Vec<String> {
        self.profile
            .imports()
            .iter()
            .map(|&name| name.to_owned())
            .chain(self.own_packages.modules())
            .collect()
    }

    /// Opens the workspace's store to look at its ledger, also where the database is not the one that it should be.
    pub async fn open_ledger(&self) -> Result<Store, StoreError> {
        Store::open(StoreOptions { allow_older: true, ..self.store_options() }).await
    }

    /// Checks what the workspace says about its tables against those of the opened store.
    pub async fn check_store(&self, store: &Store) -> Result<(), StoreError> {
        let schema: Schema = store.schema();
        roles::check(&self.roles, &schema)?;
        catalog::check_tables(&self.catalog, &schema, &self.root)?;
        catalog::check_anchors(&self.catalog, store, &self.root).await
    }

    fn from_file(root: &Path, file: file::File, environment: Environment) -> Result<Self, WorkspaceError> {
        let name = file.workspace.name.unwrap_or_else(|| {
            root.file_name()
                .map_or_else(|| "workspace".to_owned(), |name| name.to_string_lossy().into_owned())
        });
        let database = database(root, &file.store, &environment)?;
        // Only the folder is the owner's choice, so that no other file can be overwritten.
        let checkpoint = file.store.checkpoint.as_ref().map(|folder| {
            let plain: String =
                name.chars().filter(|char| char.is_alphanumeric() || "-_".contains(*char)).collect();
            root.join(folder).join(format!("{plain}.ledger.checkpoint"))
        });
        let declared = file.tables.iter().flat_map(|(table, section)| {
            section.roles.0.iter().map(|(role, column, line)| DeclaredRole {
                table: table.clone(),
                role: (*role).to_owned(),
                column: column.clone(),
                line: *line,
            })
        });
        Ok(Self {
            roles: declared.collect(),
            catalog: Arc::default(),
            root: root.to_owned(),
            name,
            statuses: file.workspace.statuses.0,
            policy: String::new(),
            helpers: String::new(),
            database,
            checkpoint,
            shared_files: shared_files(root, file.store.files.as_deref())?,
            plan_role: file.store.plan_role,
            backup: BackupSettings::of(root, &file.backup)?,
            tables: tables(root, file.tables, file.checks.failures_table.as_deref())?,
            failures_table: file.checks.failures_table,
            large_rows: file.checks.large_rows.unwrap_or(LARGE_ROWS),
            checks_key: file.checks.key,
            scratch_bytes: file.checks.scratch.map_or(SCRATCH_BYTES, |written| written.0),
            invariants: file.invariants.into_iter().map(file::InvariantSection::invariant).collect(),
            model: model(root, file.model)?,
            approval: file.approval.mode,
            holds_outlines: file.approval.outline,
            milestones: file.limits.milestones,
            budgets: file.budget.budgets(),
            rounds: file.limits.rounds.unwrap_or(3),
            limits: file.limits.limits(),
            profile: file.python.profile.map_or(Profile::Core, file::ProfileName::profile),
            own_packages: OwnPackages::read(root, file.python.packages)?,
            minimum_isolation: file.sandbox.minimum.map_or(Level::Full, file::LevelName::level),
            tools: tools(root, file.tools, &environment)?.with_notify(notify(file.notify, &environment)?),
            schedules: schedules::read(root, file.schedules)?,
            environment,
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

/// The tables that are declared, with the one that Ordain makes for failing rows.
fn tables(
    root: &Path,
    sections: Vec<(String, file::TableSection)>,
    failures: Option<&str>,
) -> Result<Vec<TableDeclaration>, WorkspaceError> {
    if let Some(name) = failures.filter(|name| sections.iter().any(|(declared, _)| declared == name)) {
        return Err(WorkspaceError {
            file: FILE.to_owned(),
            line: None,
            message: format!("`[tables.{name}]` is also the `failures_table` of `[checks]`"),
            hint: Some("give the table for failing rows a name of its own; Ordain makes it".to_owned()),
        });
    }
    let declared = sections.into_iter().map(|(name, table)| table.declaration(root, name));
    Ok(declared.chain(failures.map(failures::declaration)).collect())
}

/// Whether a folder holds checks and data, which make it a workspace with the usual settings.
fn has_checks(folder: &Path) -> bool {
    ["checks", "data"].iter().all(|name| folder.join(name).is_dir())
}

/// The tools that are named, with what was reviewed of them.
fn tools(
    root: &Path,
    settings: BTreeMap<String, ToolSettings>,
    environment: &Environment,
) -> Result<Toolbox, WorkspaceError> {
    let wrong = |file: &str, message: String| WorkspaceError {
        file: file.to_owned(),
        line: None,
        message,
        hint: None,
    };
    for (name, tool) in &settings {
        tool.check(name).map_err(|error| wrong(FILE, format!("[tools.{name}]: {error}")))?;
    }
    let reviewed = SnapshotFile::read(root).map_err(|message| wrong("tools.lock.json", message))?;
    let variables = settings.values().flat_map(ToolSettings::variables);
    let secrets = variables.filter_map(|name| Some((name.clone(), environment.get(name)?))).collect();
    Ok(Toolbox::new(root.to_owned(), settings, reviewed, Secrets(secrets)))
}

/// The addresses for results of checks.
fn notify(
    settings: BTreeMap<String, NotifySettings>,
    environment: &Environment,
) -> Result<BTreeMap<String, Notify>, WorkspaceError> {
    let made = settings.into_iter().map(|(name, settings)| {
        let notify = Notify::new(settings, |variable| environment.get(variable));
        let wrong = |message: String| WorkspaceError {
            file: FILE.to_owned(),
            line: None,
            message: format!("[notify.{name}]: {message}"),
            hint: None,
        };
        Ok((name.clone(), notify.map_err(wrong)?))
    });
    made.collect()
}

/// A model as it is named for the workspace. Replies that it brings along are one of its files, whatever folder the command
/// is started in.
fn own_replies(root: &Path, key: &str, name: &str) -> Result<String, WorkspaceError> {
    let Some(path) = name.strip_prefix(REPLAY) else { return Ok(name.to_owned()) };
    inside::check(root, Path::new(path)).map_err(|message| WorkspaceError {
        file: FILE.to_owned(),
        line: None,
        message: format!("`{key}`, `{REPLAY}{path}`: {message}"),
        hint: Some("put the file into the workspace's folder".to_owned()),
    })?;
    Ok(format!("{REPLAY}{}", root.join(path).display()))
}

fn model(root: &Path, section: file::ModelSection) -> Result<ModelSettings, WorkspaceError> {
    let usual = ModelSettings::default();
    let wrong = |message: &str| {
        Err(WorkspaceError { file: FILE.to_owned(), line: None, message: message.to_owned(), hint: None })
    };
    if section.temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
        return wrong("`model.temperature` is between 0 and 2");
    }
    if section.max_tokens.is_some_and(|tokens| !(16..=64_000).contains(&tokens)) {
        return wrong("`model.max_tokens` is between 16 and 64000");
    }
    if section.effort.as_ref().is_some_and(|effort| !EFFORTS.contains(&effort.as_str())) {
        return wrong("`model.effort` is `minimal`, `low`, `medium` or `high`");
    }
    let others =
        section.others.iter().map(|name| Ok((name.clone(), own_replies(root, "model.others", name)?)));
    Ok(ModelSettings {
        others: others.collect::<Result<_, WorkspaceError>>()?,
        samples: section.samples.unwrap_or(usual.samples),
        name: section.name.unwrap_or(usual.name),
        base_url: section.base_url,
        reader_first: section.reader == Some(file::ReaderPlace::First),
        review: section.review.unwrap_or(usual.review),
        review_outline: section.review_outline.unwrap_or(usual.review_outline),
        temperature: section.temperature,
        tokens_max: section.max_tokens.unwrap_or(usual.tokens_max),
        timeout: section.timeout.map_or(usual.timeout, |timeout| timeout.0),
        is_small: section.small,
        effort: section.effort,
    })
}

fn shared_files(root: &Path, place: Option<&str>) -> Result<Option<PathBuf>, WorkspaceError> {
    let folder = place.map(read_folder).transpose().map_err(|(message, hint)| WorkspaceError {
        file: FILE.to_owned(),
        line: None,
        message: format!("`store.files`: {message}"),
        hint: Some(hint.to_owned()),
    })?;
    Ok(folder.map(|folder| root.join(folder)))
}

fn database(
    root: &Path,
    section: &file::StoreSection,
    environment: &Environment,
) -> Result<Database, WorkspaceError> {
    let wrong = |message: String, hint: &str| WorkspaceError {
        file: FILE.to_owned(),
        line: section.url_line,
        message,
        hint: Some(hint.to_owned()),
    };
    let url = section.url.clone().unwrap_or_else(|| "sqlite".to_owned());
    let url = match url.strip_prefix("env:") {
        Some(name) => environment.get(name).ok_or_else(|| {
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
    Ok(inside::text(root, name, TEXT_BYTES_MAX)?.unwrap_or_default())
}

/// Refuses a workspace whose seeds lie outside of it.
fn check_paths(root: &Path, file: &file::File) -> Result<(), WorkspaceError> {
    let wrong = |what: String, message: String, hint: &str| WorkspaceError {
        file: FILE.to_owned(),
        line: None,
        message: format!("{what}: {message}"),
        hint: Some(hint.to_owned()),
    };
    for (table, section) in &file.tables {
        if let Some(seed) = section.seed() {
            let what = format!("the seed of `{table}`, `{seed}`");
            inside::check(root, Path::new(seed))
                .map_err(|message| wrong(what, message, "put the file into the workspace's folder"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_elsewhere_is_read_with_its_tables_and_its_password_is_never_printed() {
        let text = "[store]\nurl = \"postgres://ada:hush@localhost/shop\"\ntables = [\"orders\"]\n";
        let file = file::parse(text).unwrap();
        let workspace = Workspace::from_parts(Path::new("/shop"), file, Environment::of([])).unwrap();
        let Database::Postgres { only, .. } = &workspace.database else { panic!() };
        assert_eq!(only.as_deref(), Some(["orders".to_owned()].as_slice()));
        assert!(!format!("{workspace:?}").contains("hush"));
    }

    #[test]
    fn a_node_with_other_check_files_is_known_by_its_fingerprint() {
        let root = tempfile::tempdir().unwrap();
        let file = file::parse("").unwrap();
        let workspace = Workspace::from_parts(root.path(), file, Environment::of([])).unwrap();
        fs_err::create_dir(root.path().join("checks")).unwrap();
        let mut seen = BTreeSet::from([workspace.fingerprint().unwrap()]);
        for (name, text) in [("a.json", "[]"), ("a.json", "[1]"), ("b.yaml", "[1]")] {
            fs_err::write(root.path().join("checks").join(name), text).unwrap();
            assert!(seen.insert(workspace.fingerprint().unwrap()), "{name}: {text}");
        }
        assert!(!seen.insert(workspace.fingerprint().unwrap()), "nothing has changed");
    }
}
