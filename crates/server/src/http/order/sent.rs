//! Orders as the queue keeps them: without what every node has of its own, such as planners, check files and limits.

use std::time::Duration;

use ordain_cell::InputFile;
use ordain_cell::profile::Profile;
use ordain_checks::{CheckOptions, Schedules, Selection};
use ordain_engine::{Ask, CodeTask, Decision, Exec, Judgement, Origin};
use ordain_store::QueuedRun;
use ordain_types::{Limits, RunId, SourceFile};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::Order;
use crate::http::checks::run::Wanted;
use crate::http::checks::{look, read, served};
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::trace;

/// An order that any node can carry out.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Written {
    what: What,
    /// The names of the files that came with it. The files themselves are in the store.
    #[serde(default)]
    files: Vec<String>,
    /// Where the run stands in the trace of the request that began it.
    #[serde(default)]
    pub(crate) traceparent: Option<String>,
    /// The session as it was when the order was accepted ([`Held::holding`](crate::cluster::Held::holding)).
    #[serde(default)]
    pub(crate) holding: Option<String>,
}

/// What is to be carried out. `model` is who writes plans.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum What {
    Ask { ask: Box<Ask>, model: String, continues: Option<RunId> },
    Code { task: Box<CodeTask>, model: String, conversation: Option<String> },
    Exec(Box<WrittenExec>),
    Check { request: String, selection: Box<Selection>, if_changed: bool, frozen: bool, through: String },
    Resume { decision: Decision, model: String },
    Scheduled { name: String },
}

#[derive(Debug, Serialize, Deserialize)]
struct WrittenExec {
    given: SourceFile,
    judgement: Judgement,
    profile: Profile,
    wall_ms: u64,
    memory_bytes: u64,
    through: String,
    #[serde(default)]
    session: Option<String>,
}

impl Written {
    /// An order without its files, which stand in the store by their places.
    pub(crate) fn new(order: Order, files: Vec<String>, holding: Option<String>) -> Self {
        let what = match order {
            Order::Ask(ask) => {
                let continues = ask.continues.as_ref().map(|continued| continued.run().clone());
                What::Ask { model: ask.planner.name(), continues, ask }
            }
            Order::Code(task, conversation) => What::Code { model: task.planner.name(), task, conversation },
            Order::Exec(exec) => What::Exec(Box::new(WrittenExec {
                given: exec.given,
                judgement: exec.judgement,
                profile: exec.profile,
                wall_ms: u64::try_from(exec.limits.wall.as_millis()).unwrap_or(u64::MAX),
                memory_bytes: exec.limits.memory_bytes,
                through: exec.origin.through,
                session: exec.session,
            })),
            Order::Check(task) => What::Check {
                request: task.request,
                selection: Box::new(task.options.selection),
                if_changed: task.options.if_changed,
                frozen: task.options.frozen,
                through: task.origin.through,
            },
            Order::Resume { decision, planner, .. } => What::Resume { decision, model: planner.name() },
            Order::Scheduled { scheduled, .. } => What::Scheduled { name: scheduled.name },
        };
        let traceparent = trace::current().map(|place| place.to_string());
        Self { what, files, traceparent, holding }
    }
}

impl Service {
    /// Puts the files of an order where every node finds them, and gives their names.
    pub(in crate::http) async fn keep_uploads(
        &self,
        run: &RunId,
        files: Vec<InputFile>,
    ) -> Result<Vec<String>, Problem> {
        let owner = QueuedRun::uploads(run);
        let mut names = Vec::new();
        for (place, file) in files.into_iter().enumerate() {
            let read = tokio::task::spawn_blocking(move || fs_err::read(&file.path)).await;
            let content = read.map_err(std::io::Error::other).flatten();
            let content = content.map_err(|error| Problem::internal(error.to_string()))?;
            self.engine().store().keep_file(&owner, &place.to_string(), &content).await?;
            names.push(file.name);
        }
        Ok(names)
    }

    /// Puts the files of an order on this node's disk, each in a folder of its own.
    async fn bring_uploads(
        &self,
        run: &RunId,
        names: Vec<String>,
    ) -> Result<(TempDir, Vec<InputFile>), Problem> {
        let failed =
            |error: std::io::Error| Problem::internal(format!("an upload could not be kept: {error}"));
        let folder = tempfile::tempdir().map_err(failed)?;
        let mut files = Vec::new();
        for (place, name) in names.into_iter().enumerate() {
            let kept = self.engine().store().kept_file(&QueuedRun::uploads(run), &place.to_string()).await?;
            let Some(content) = kept else {
                return Err(Problem::internal("a file that came with a queued run is gone"));
            };
            let own = folder.path().join(place.to_string());
            fs_err::create_dir(&own).map_err(failed)?;
            // A name that is no plain one never becomes a path.
            let path = own.join(if crate::http::files::is_plain(&name) { name.as_str() } else { "content" });
            fs_err::write(&path, content).map_err(failed)?;
            files.push(InputFile { name, path });
        }
        Ok((folder, files))
    }

    /// An order as the queue kept it, and its files for as long as it is carried out.
    pub(in crate::http) async fn read_order(
        &self,
        queued: &QueuedRun,
        written: Written,
    ) -> Result<(Order, Option<TempDir>), Problem> {
        let (run_id, claim) = (Some(queued.run_id.clone()), Some(queued.claim.clone()));
        let (folder, files) = if written.files.is_empty() {
            (None, Vec::new())
        } else {
            let (folder, files) = self.bring_uploads(&queued.run_id, written.files).await?;
            (Some(folder), files)
        };
        let order = match written.what {
            What::Ask { ask, model, continues } => {
                let continues = match continues {
                    Some(run) => Some(Box::new(self.engine().continued(run.as_str()).await?)),
                    None => None,
                };
                let planner = self.planner(Some(&model)).await?;
                Order::Ask(Box::new(Ask { planner, continues, ..*ask }))
            }
            What::Code { task, model, conversation } => {
                let planner = self.planner(Some(&model)).await?;
                let files = files.into_iter().map(|file| file.path).collect();
                Order::Code(Box::new(CodeTask { planner, files, ..*task }), conversation)
            }
            What::Exec(exec) => {
                let most = &self.engine().settings().limits;
                let limits = Limits {
                    wall: Duration::from_millis(exec.wall_ms).min(most.wall),
                    memory_bytes: exec.memory_bytes.min(most.memory_bytes),
                    work_bytes: Some(most.work_bytes()),
                    ..most.clone()
                };
                Order::Exec(Box::new(Exec {
                    given: exec.given,
                    judgement: exec.judgement,
                    profile: exec.profile,
                    limits,
                    files,
                    session: exec.session,
                    origin: Origin {
                        idempotency_key: claim,
                        run_id,
                        ..Origin::new(&queued.who, &exec.through)
                    },
                }))
            }
            What::Check { request, selection, if_changed, frozen, through } => {
                let options =
                    CheckOptions { selection: *selection, if_changed, frozen, ..CheckOptions::default() };
                let wanted = Wanted { files: look(self, read).await?, options, words: request, through };
                let mut task = wanted.task(self, &queued.who)?;
                (task.origin.run_id, task.origin.idempotency_key) = (run_id, claim);
                Order::Check(Box::new(task))
            }
            What::Resume { decision, model } => {
                let waiting = Box::new(self.engine().store().run(queued.run_id.as_str()).await?);
                Order::Resume { waiting, decision, planner: self.planner(Some(&model)).await? }
            }
            What::Scheduled { name } => {
                let all = Schedules::of(served(self)?.workspace())?;
                let Some(scheduled) = all.into_iter().find(|scheduled| scheduled.name == name) else {
                    let message = format!("there is no schedule `{name}` any more");
                    return Err(Problem::unprocessable("unknown_schedule", "/schedule", message));
                };
                Order::Scheduled { scheduled: Box::new(scheduled), claim: queued.claim.clone() }
            }
        };
        Ok((order, folder))
    }
}
