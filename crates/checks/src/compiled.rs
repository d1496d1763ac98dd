//! The code of rules in words as a file that is committed with them, so that a fresh clone runs them without a planner.
//!
//! Invariant: such code runs only if it is what the reader makes of the rule today, or if it carries the seal of the key that
//! `ordain.toml` names. Whoever can change the file alone can turn no check green.

use std::collections::BTreeMap;

use ordain_engine::hash;
use ordain_store::{CachedPlan, PlanAuthor, is_sealed};
use ordain_types::RunKind;
use ordain_workspace::{Workspace, inside};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::compile::{Kept, declared, key};
use crate::file::CheckFiles;
use crate::read::write_file;
use crate::{Check, CheckResult, Checks, ChecksError, RunReport};

/// The file.
pub const COMPILED: &str = "checks/compiled.json";
/// The version of its form.
const VERSION: u32 = 1;
/// A larger one was made by nobody who compiled checks.
const BYTES_MAX: u64 = 64 << 20;

/// The code of checks as it is committed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Compiled {
    version: u32,
    /// By the check's id.
    checks: BTreeMap<String, CompiledCheck>,
}

/// The code of one check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct CompiledCheck {
    /// The rule that it was made of.
    rule: String,
    /// Who wrote it.
    source: PlanAuthor,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// What its author declares that it does.
    plan: Value,
    /// Its lines.
    code: Vec<String>,
    /// All that it was compiled against: what it is, and its hash or type.
    compiled_against: BTreeMap<String, String>,
    /// The hash of all of this, which is what somebody reviewed.
    hash: String,
    /// The public key of the workspace that compiled it, and its signature.
    seal: String,
}

impl CompiledCheck {
    fn of(check_id: &str, plan: &CachedPlan) -> Self {
        let mut one = Self {
            rule: plan.request.clone(),
            source: plan.source,
            model: plan.model.clone(),
            plan: declared(plan),
            code: plan.code.split('\n').map(str::to_owned).collect(),
            compiled_against: plan.components.clone(),
            hash: String::new(),
            seal: String::new(),
        };
        one.hash = one.hash_of(check_id);
        one
    }

    fn hash_of(&self, check_id: &str) -> String {
        let parts = json!([
            check_id,
            self.rule,
            self.source,
            self.model,
            self.plan,
            self.code,
            self.compiled_against
        ]);
        hash(&parts.to_string())
    }

    fn plan(&self, check_id: &str) -> CachedPlan {
        CachedPlan {
            plan_id: self.hash.clone(),
            kind: RunKind::Check.as_str().to_owned(),
            exact: key(check_id),
            declared: Some(self.plan.to_string()),
            request: self.rule.clone(),
            title: String::new(),
            code: self.code.join("\n"),
            source: self.source,
            model: self.model.clone(),
            run_id: String::new(),
            components: self.compiled_against.clone(),
            pinned: false,
            uses: 0,
            created_at: String::new(),
            last_used_at: String::new(),
        }
    }
}

/// What a seal of the code with this hash is put on.
fn sealed(hash: &str) -> String {
    format!("compiled check {hash}")
}

impl Compiled {
    /// The code that is committed with a workspace's checks, if any is.
    pub(crate) fn read(workspace: &Workspace) -> Result<Option<Self>, ChecksError> {
        let wrong = |message: String| ChecksError::Edit {
            message: format!("{COMPILED}: {message}"),
            hint: "`ordain check compile` writes it anew".to_owned(),
        };
        let text =
            inside::text(&workspace.root, COMPILED, BYTES_MAX).map_err(|error| wrong(error.message))?;
        let Some(text) = text else { return Ok(None) };
        let read: Self = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if read.version != VERSION {
            return Err(wrong(format!("it has the form {}, and this Ordain reads {VERSION}", read.version)));
        }
        Ok(Some(read))
    }

    /// The same as code that is kept.
    pub(crate) fn kept(&self) -> Kept {
        let mut kept = Kept::default();
        kept.add(self.checks.iter().map(|(id, one)| one.plan(id)).collect());
        kept
    }

    /// Whether the code of a check carries the seal of the key that `ordain.toml` names, and is as it was sealed.
    pub(crate) fn is_sealed(&self, check_id: &str, trusted: Option<&str>) -> bool {
        let Some(one) = self.checks.get(check_id) else { return false };
        let is_trusted = |key: &str| is_sealed(key, &sealed(&one.hash), &one.seal);
        one.hash == one.hash_of(check_id) && trusted.is_some_and(is_trusted)
    }
}

/// What `ordain check compile` wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Checks whose code is in the file.
    pub checks: usize,
    /// Those of them whose code a model wrote: they run elsewhere only with the key in `ordain.toml`.
    pub by_models: usize,
    /// The workspace's public key.
    pub key: String,
}

impl Checks {
    /// Writes the code of a trial's rules in words to the file that is committed with them. Code of checks that the trial did
    /// not look at stays; that of checks that are gone goes. `None` where there is nothing to write.
    pub async fn write_compiled(
        &self,
        files: &CheckFiles,
        report: &RunReport,
    ) -> Result<Option<Written>, ChecksError> {
        let before = Compiled::read(&self.workspace).ok().flatten();
        let mut checks = before.clone().unwrap_or_default().checks;
        let find =
            |id: &str| files.entries.iter().map(|entry| &entry.check).find(|check| check.check_id == id);
        checks.retain(|id, _| find(id).is_some_and(Check::is_words));
        let kept = self.kept().await?;
        for result in &report.results {
            if find(&result.check_id).is_none_or(|check| !check.is_words()) {
                continue;
            }
            match plan_of(result, &kept) {
                Some(plan) => {
                    let mut one = CompiledCheck::of(&result.check_id, plan);
                    one.seal = self.store().seal(&sealed(&one.hash));
                    checks.insert(result.check_id.clone(), one);
                }
                None => drop(checks.remove(&result.check_id)),
            }
        }
        if checks.is_empty() && before.is_none() {
            return Ok(None);
        }
        let by_models = checks.values().filter(|one| one.source == PlanAuthor::Model).count();
        let written = Written { checks: checks.len(), by_models, key: self.store().public_key() };
        let mut text =
            serde_json::to_string_pretty(&Compiled { version: VERSION, checks }).unwrap_or_default();
        text.push('\n');
        let path = self.workspace.root.join(COMPILED);
        write_file(&path, text.as_bytes()).map_err(ChecksError::state("write the compiled checks"))?;
        Ok(Some(written))
    }
}

/// The kept code that gave a result.
fn plan_of<'a>(result: &CheckResult, kept: &'a Kept) -> Option<&'a CachedPlan> {
    result.code_from?;
    let plan = result.plan.as_ref()?;
    kept.of(&result.check_id).iter().find(|kept| declared(kept) == *plan)
}
