//! The engine and how it is set up.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use ordain_cell::Executor;
use ordain_store::{CachedPlan, CallerLimits, Store};
use ordain_tools::Toolbox;
use ordain_types::{Approval, Budgets, Catalog, Limits, RunKind, STATUSES, Schema};
use ordain_verify::{Contract, Effects, FULL_IMPORTS, Helpers, Policy, Verdicts};
use ordain_workspace::Workspace;

use crate::capabilities::Capabilities;
use crate::exec_sessions::ExecSessions;
use crate::fingerprint::{FingerprintInputs, RULES};
use crate::look::Looked;
use crate::nodes::OtherNodes;

/// What a workspace says about its runs.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the workspace")]
pub struct EngineSettings {
    /// When a change waits for a person.
    pub approval: Approval,
    /// What a run may use.
    pub limits: Limits,
    /// Statuses that plans may give besides those of every workspace, and when they are given.
    pub statuses: BTreeMap<String, String>,
    /// The functions of `helpers.py`.
    pub helpers: Helpers,
    /// The policy, as the planner of a request reads it: with the tools that plans may call.
    pub policy: String,
    /// The policy as its file has it. Checks call no tools, so that is all that they depend on.
    pub own_policy: String,
    /// The invariants, as the planner reads them: name and query.
    pub invariants: Vec<(String, String)>,
    /// Columns whose meaning the owner declared: table, role, column.
    pub roles: BTreeMap<String, BTreeMap<String, String>>,
    /// What the owner says about the data, and the verbs that change it.
    pub catalog: Arc<Catalog>,
    /// Packages that the brief names.
    pub packages: Vec<String>,
    /// Modules of packages that the workspace has besides those of the profiles.
    pub own_packages: Vec<String>,
    /// How many repairs a plan gets.
    pub rounds: u32,
    /// Where the files that runs leave are kept; nowhere if it is not given.
    pub artifacts: Option<PathBuf>,
    /// The nodes that share the store. With them, files that runs leave and what is kept of checks are in the store too.
    pub others: Option<Arc<dyn OtherNodes>>,
    /// Whether the reader answers what it understands where a model is configured.
    pub reader_first: bool,
    /// Whether a model is asked for a second opinion of its code before the code runs.
    pub review: bool,
    /// Whether a model is asked for a second opinion of an outline before it is carried out.
    pub review_outline: bool,
    /// What a run of several steps may use.
    pub budgets: Budgets,
    /// Whether an outline may commit what is done by a milestone, before the rest.
    pub milestones: bool,
    /// Whether every outline waits for a person.
    pub holds_outlines: bool,
    /// What plans may call outside of the tables.
    pub tools: Toolbox,
    /// Whether what code computed before it failed is kept, also where a task does not ask for it.
    pub keeps_partial: bool,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            approval: Approval::default(),
            limits: Limits::default(),
            statuses: BTreeMap::new(),
            helpers: Helpers::default(),
            policy: String::new(),
            own_policy: String::new(),
            invariants: Vec::new(),
            roles: BTreeMap::new(),
            catalog: Arc::default(),
            packages: ordain_verify::FULL_IMPORTS.iter().map(|&name| name.to_owned()).collect(),
            own_packages: Vec::new(),
            rounds: 3,
            artifacts: None,
            others: None,
            reader_first: false,
            review: true,
            review_outline: false,
            budgets: Budgets::default(),
            milestones: false,
            holds_outlines: false,
            tools: Toolbox::default(),
            keeps_partial: false,
        }
    }
}

impl EngineSettings {
    /// What a workspace says about its runs.
    pub fn of(workspace: &Workspace) -> Self {
        let rules = workspace.invariants.iter();
        Self {
            approval: workspace.approval,
            limits: workspace.limits.clone(),
            statuses: workspace.statuses.clone(),
            helpers: workspace.helpers.clone().into(),
            policy: workspace.policy.clone() + &ordain_tools::told(&workspace.tools.known()),
            own_policy: workspace.policy.clone(),
            invariants: rules.map(|rule| (rule.name.clone(), rule.sql.clone())).collect(),
            packages: workspace.packages(),
            own_packages: workspace.own_packages.modules(),
            rounds: workspace.rounds,
            budgets: workspace.budgets.clone(),
            milestones: workspace.milestones,
            holds_outlines: workspace.holds_outlines,
            reader_first: workspace.model.reader_first,
            review: workspace.model.review,
            review_outline: workspace.model.review_outline,
            roles: workspace.roles_by_table(),
            catalog: workspace.catalog.clone(),
            artifacts: Some(workspace.artifacts()),
            others: None,
            tools: workspace.tools.clone(),
            keeps_partial: workspace.keeps_partial(),
        }
    }

    /// Why a cached plan no longer holds; `None` if it does. The tables and the rule of a check are not the store's:
    /// `ordain check diff` compares them.
    pub fn stale(&self, plan: &CachedPlan, schema: &Schema) -> Option<String> {
        let mut components = plan.components.clone();
        let mut inputs = self.fingerprint_inputs(schema);
        if plan.kind == RunKind::Check.as_str() {
            inputs.policy = &self.own_policy;
            let is_known = |name: &str| {
                matches!(name, "policy" | "verifier" | "plan API" | RULES) || name.starts_with("helper ")
            };
            components.retain(|name, _| is_known(name));
        }
        inputs.stale(&components)
    }

    fn policy_of_asks(&self) -> Policy {
        let mut policy = self.with_packages(Policy::for_contract(Contract::Ask));
        let own: Vec<_> =
            self.statuses.keys().filter(|name| !policy.statuses.contains(name)).cloned().collect();
        policy.statuses.extend(own);
        policy.helpers = self.helpers.known().to_vec();
        policy.tools = self.tools.known();
        if !policy.tools.is_empty() {
            policy.names.push("tools".to_owned());
        }
        policy
    }

    /// A policy by which the packages of every profile and the workspace's own can be imported.
    pub fn with_packages(&self, policy: Policy) -> Policy {
        let own = self.own_packages.iter().map(String::as_str);
        policy.with_packages(FULL_IMPORTS.iter().copied().chain(own))
    }

    /// The rules by which the code of checks is judged.
    pub fn policy_of_checks(&self) -> Policy {
        let mut policy = self.with_packages(Policy::for_contract(Contract::Check));
        policy.helpers = self.helpers.known().to_vec();
        policy
    }

    /// The statuses that planners are told of: those of every workspace and its own.
    pub fn told_statuses(&self) -> Vec<(String, String)> {
        let usual = STATUSES.iter().map(|&(name, when)| (name.to_owned(), when.to_owned()));
        let own = self.statuses.iter().map(|(name, when)| (name.clone(), when.clone()));
        usual.filter(|(name, _)| !self.statuses.contains_key(name)).chain(own).collect()
    }

    /// What plans are compiled against.
    pub fn fingerprint_inputs<'a>(&'a self, schema: &'a Schema) -> FingerprintInputs<'a> {
        FingerprintInputs { schema, policy: &self.policy, helpers: &self.helpers, rule: None, units: None }
    }
}

/// Carries out requests on one workspace's store.
#[derive(Clone)]
pub struct Engine {
    pub(crate) store: Store,
    pub(crate) executor: Arc<dyn Executor>,
    pub(crate) settings: EngineSettings,
    /// The rules by which plans of requests are judged.
    pub(crate) policy: Arc<Policy>,
    pub(crate) verdicts: Arc<Verdicts>,
    /// The hash of what every brief says of the settings.
    pub(crate) settings_hash: Arc<OnceLock<String>>,
    /// The last look at the tables.
    pub(crate) looked: Arc<tokio::sync::Mutex<Option<Looked>>>,
    /// What the sessions of given code have defined.
    pub(crate) exec_sessions: Arc<ExecSessions>,
    /// The cells of sessions of code tasks that this engine has opened.
    pub(crate) open_sessions: Arc<Mutex<HashSet<String>>>,
}

impl Engine {
    /// An engine over a store and an executor.
    pub fn new(store: Store, executor: Arc<dyn Executor>, settings: EngineSettings) -> Self {
        Self {
            store,
            executor,
            policy: Arc::new(settings.policy_of_asks()),
            settings,
            verdicts: Arc::default(),
            settings_hash: Arc::default(),
            looked: Arc::default(),
            exec_sessions: Arc::default(),
            open_sessions: Arc::default(),
        }
    }

    /// The same engine for a caller with limits: what they hide is not there for its requests.
    #[must_use]
    pub fn limited(&self, limits: CallerLimits) -> Self {
        // A tool carries out what such a caller may not even see, so there are none for it.
        let policy = self.settings.own_policy.clone();
        let settings = EngineSettings { tools: Toolbox::default(), policy, ..self.settings.clone() };
        let (store, policy) = (self.store.limited(limits), Arc::new(settings.policy_of_asks()));
        Self {
            store,
            settings,
            policy,
            looked: Arc::default(),
            verdicts: Arc::default(),
            settings_hash: Arc::default(),
            ..self.clone()
        }
    }

    /// Sends every call of a tool that may be sent now; how many were tried.
    pub async fn deliver(&self) -> Result<usize, ordain_store::StoreError> {
        crate::tools::deliver(&self.store, &self.settings.tools).await
    }

    /// What a plan may reach by its verdict.
    pub(crate) fn capabilities(&self, effects: &Effects, policy: &Policy) -> Capabilities {
        Capabilities::of_plan(effects, policy, &self.settings.helpers, &self.settings.catalog)
    }

    /// What the workspace says about its runs.
    pub fn settings(&self) -> &EngineSettings {
        &self.settings
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// What runs its code.
    pub fn executor(&self) -> &Arc<dyn Executor> {
        &self.executor
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Engine").field("settings", &self.settings).finish_non_exhaustive()
    }
}
