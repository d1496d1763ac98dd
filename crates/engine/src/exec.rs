//! Code that a caller gives, to run in a cell and without the workspace's tables.

use std::sync::Arc;

use ordain_cell::profile::Profile;
use ordain_cell::{Execution, InputFile, Output};
use ordain_planner::Quiet;
use ordain_types::{Limits, RunRecord, Schema, SourceFile};
use ordain_verify::{Contract, Policy, Verdict, verify};
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::exec_sessions::Defined;
use crate::identity::Identity;
use crate::work::{Origin, Work};

/// Code to run, and how.
///
/// Written down, it is without the files: those are found again where it is read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Exec {
    /// The code.
    pub given: SourceFile,
    /// What the verifier asks of it.
    pub judgement: Judgement,
    /// The Python packages it finds.
    pub profile: Profile,
    /// What it may use.
    pub limits: Limits,
    /// Files that it can read by their names.
    #[serde(skip)]
    pub files: Vec<InputFile>,
    /// The session whose variables it shares.
    pub session: Option<String>,
    /// Where it comes from.
    #[serde(flatten)]
    pub origin: Origin,
}

/// What the verifier asks of given code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// Imports of the profile, no calls that cannot work in a cell.
    #[default]
    Exec,
    /// Syntax and size only: the jail alone defends.
    Open,
}

/// What came of given code.
#[derive(Debug, Clone)]
pub struct ExecAnswer {
    /// The run.
    pub record: RunRecord,
    /// What the cell gave; nothing if the code was refused, or the record is that of an earlier run.
    pub execution: Option<Arc<Execution>>,
}

impl Engine {
    /// Runs given code. Refused and failed code has a record too, and a ledger entry.
    pub async fn exec(&self, exec: Exec, output: &mut dyn Output) -> Result<ExecAnswer, EngineError> {
        let finished = self.carry_out(Work::Exec(exec), &mut Quiet, output).await?;
        Ok(ExecAnswer { record: finished.record, execution: finished.execution })
    }

    /// Ends the cell of a session; `false` if there is none of that name.
    pub async fn end_session(&self, name: &str) -> bool {
        self.exec_sessions.ended(name);
        self.executor.end_session(name).await
    }
}

impl Exec {
    /// The verdict on the code, after what its session defined before.
    pub(crate) fn judge(&self, code: &str, defined: &Defined, own: &[String]) -> Verdict {
        match self.judgement {
            Judgement::Open => verify(code, &self.rules(own), &Schema::default()),
            Judgement::Exec => defined.judge(code, self.rules(own)),
        }
    }

    /// The rules by which the code is judged on another machine, with the names that its session has.
    pub(crate) fn policy(&self, defined: &Defined, own: &[String]) -> Policy {
        let mut policy = self.rules(own);
        if self.judgement == Judgement::Exec {
            policy.names.extend(defined.names());
        }
        policy
    }

    /// The rules, by which the workspace's own packages can be imported too.
    fn rules(&self, own: &[String]) -> Policy {
        match self.judgement {
            Judgement::Open => Policy::for_contract(Contract::Open),
            Judgement::Exec => {
                let packages = self.profile.imports();
                let own = own.iter().map(String::as_str);
                Policy::for_contract(Contract::Exec).with_packages(packages.iter().copied().chain(own))
            }
        }
    }

    /// What an idempotency key stands for.
    pub async fn fingerprint(&self) -> String {
        let names = self.files.iter().map(|file| file.name.as_str());
        // A file that cannot be read is refused later, with its reason.
        let files: Vec<_> = names.zip(ordain_cell::hash_files(self.files.clone()).await).collect();
        Identity::of("exec")
            .with("code", &self.given.code)
            .with("profile", &self.profile)
            .with("session", &self.session)
            .with("files", &files)
            .digest()
    }
}
