//! What holds for a piece of work, computed once from its order: what its code reaches, what it owes, what it may use.
//!
//! Everything that comes after asks the terms, and not which kind of work it is.

use ordain_cell::profile::Profile;
use ordain_types::{Limits, RunKind, SourceFile, Strategy};
use serde_json::{Value, json};

use crate::ask::{Ask, Mode};
use crate::code::cell_name;
use crate::engine::EngineSettings;
use crate::work::{Order, Work};

/// What code reaches of the workspace's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Nothing. There is no transaction.
    Nothing,
    /// Every table, to read.
    Reads,
    /// What its verdict says, also to write, with actions and tools.
    Writes,
}

/// What code has to give when it has run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duty {
    /// Nothing: it is run as it was given, once, and what it prints is passed on at once.
    Nothing,
    /// Nothing, but what it answers has to be an answer: a statement that somebody typed.
    Statement,
    /// An answer; what it prints is taken for one.
    Result,
    /// An answer, and a status under which its changes may be committed.
    Answer,
}

/// What holds for a piece of work.
#[derive(Debug)]
pub(crate) struct Terms<'w> {
    /// What every kind of work has.
    pub(crate) order: Order<'w>,
    /// The request about the tables, where it is one.
    pub(crate) ask: Option<&'w Ask>,
    pub(crate) reach: Reach,
    pub(crate) duty: Duty,
    /// The cell that is kept from one piece of work to the next.
    pub(crate) session: Option<String>,
    /// The conversation that remembers it as a turn.
    pub(crate) conversation: Option<String>,
    /// The Python packages, where they are not open to choice.
    pub(crate) profile: Option<Profile>,
    pub(crate) limits: Limits,
    /// The modules that came with it; `None` if its code is one program.
    pub(crate) modules: Option<&'w [SourceFile]>,
    /// Whether what was computed before a failure is kept.
    pub(crate) keeps_partial: bool,
    /// Why it is carried out as this kind of work, where the engine chose that.
    pub(crate) reason: Option<&'w str>,
    /// What the ledger keeps of it besides the record.
    pub(crate) detail: Value,
}

impl<'w> Terms<'w> {
    /// What holds for a piece of work in a workspace.
    pub(crate) fn of(work: &'w Work, settings: &EngineSettings) -> Self {
        let bare = |order| Self {
            order,
            ask: None,
            reach: Reach::Nothing,
            duty: Duty::Nothing,
            session: None,
            conversation: None,
            profile: None,
            limits: settings.limits.clone(),
            modules: None,
            keeps_partial: false,
            reason: None,
            detail: Value::Null,
        };
        match work {
            Work::Ask(ask) => Self {
                ask: Some(ask),
                reach: Reach::Writes,
                duty: Duty::Answer,
                conversation: ask.conversation.clone(),
                detail: json!({ "mode": ask.mode, "conversation": ask.conversation }),
                ..bare(Order {
                    kind: RunKind::Ask,
                    request: &ask.request,
                    strategy: ask.strategy,
                    plan: ask.plan.as_ref(),
                    planner: &ask.planner,
                    cache: ask.cache,
                    origin: &ask.origin,
                })
            },
            Work::Code(task) => {
                let session = task.session.as_deref().map(cell_name);
                Self {
                    reach: Reach::Reads,
                    duty: if task.is_typed() { Duty::Statement } else { Duty::Result },
                    // A session keeps its first profile, so it gets all packages.
                    profile: session.is_some().then_some(Profile::Full),
                    conversation: task.conversation.clone(),
                    session,
                    modules: Some(&task.modules),
                    keeps_partial: task.allow_partial || settings.keeps_partial,
                    reason: task.reason.as_deref(),
                    detail: json!({ "session": task.session, "files": [] }),
                    ..bare(Order {
                        kind: RunKind::Code,
                        request: &task.request,
                        strategy: Strategy::Direct,
                        plan: task.plan.as_ref(),
                        planner: &task.planner,
                        cache: task.cache,
                        origin: &task.origin,
                    })
                }
            }
            Work::Exec(exec) => Self {
                session: exec.session.clone(),
                profile: Some(exec.profile),
                limits: exec.limits.clone(),
                detail: json!({ "profile": exec.profile, "session": exec.session, "files": [] }),
                ..bare(Order {
                    kind: RunKind::Exec,
                    request: &exec.given.name,
                    strategy: Strategy::Direct,
                    plan: Some(&exec.given),
                    planner: &ordain_planner::Planner::Rules,
                    cache: false,
                    origin: &exec.origin,
                })
            },
        }
    }

    /// The session whose turns are remembered, so that it can go on in another process. Given code is not kept.
    pub(crate) fn remembered_session(&self) -> Option<&String> {
        self.session.as_ref().filter(|_| self.duty != Duty::Nothing)
    }

    /// What becomes of changes; `None` where there can be none.
    pub(crate) fn mode(&self) -> Option<Mode> {
        self.ask.map(|ask| ask.mode)
    }
}
