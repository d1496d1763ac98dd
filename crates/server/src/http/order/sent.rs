//! Orders on their way through a cluster: what stands in the queue besides the order itself.

use ordain_cell::InputFile;
use ordain_checks::CheckTask;
use ordain_store::QueuedRun;
use ordain_types::{Limits, RunId};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::WorkOrder;
use crate::http::checks::run::Wanted;
use crate::http::checks::{look, read};
use crate::http::problem::Problem;
use crate::http::service::Service;
use crate::trace;

/// An order that any node can carry out.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SentOrder {
    order: WorkOrder,
    /// Who writes plans for it.
    #[serde(default)]
    model: Option<String>,
    /// The run from which a request goes on.
    #[serde(default)]
    continues: Option<RunId>,
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

impl SentOrder {
    /// An order without its files, which stand in the store by their places.
    pub(crate) fn new(mut order: WorkOrder, files: Vec<String>, holding: Option<String>) -> Self {
        let model = order.planner().map(|planner| planner.name());
        let continues = match &order {
            WorkOrder::Ask(ask) => ask.continues.as_ref().map(|continued| continued.run().clone()),
            _ => None,
        };
        let traceparent = trace::current().map(|place| place.to_string());
        Self { order, model, continues, files, traceparent, holding }
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

    /// An order as the queue kept it, with what this node has for it, and its files for as long as it is carried out.
    pub(in crate::http) async fn read_order(
        &self,
        queued: &QueuedRun,
        sent: SentOrder,
    ) -> Result<(WorkOrder, Option<TempDir>), Problem> {
        let SentOrder { mut order, model, continues, .. } = sent;
        let (folder, files) = if sent.files.is_empty() {
            (None, Vec::new())
        } else {
            let (folder, files) = self.bring_uploads(&queued.run_id, sent.files).await?;
            (Some(folder), files)
        };
        if let (Some(planner), Some(model)) = (order.planner(), model) {
            *planner = self.planner(Some(&model)).await?;
        }
        match &mut order {
            WorkOrder::Ask(ask) => {
                if let Some(run) = continues {
                    ask.continues = Some(Box::new(self.engine().continued(run.as_str()).await?));
                }
            }
            WorkOrder::Code(task) => task.files = files.into_iter().map(|file| file.path).collect(),
            WorkOrder::Exec(exec) => {
                let most = &self.engine().settings().limits;
                exec.limits = Limits {
                    wall: exec.limits.wall.min(most.wall),
                    memory_bytes: exec.limits.memory_bytes.min(most.memory_bytes),
                    work_bytes: Some(most.work_bytes()),
                    ..most.clone()
                };
                exec.files = files;
            }
            WorkOrder::Check(task) => {
                let CheckTask { request, options, origin, .. } = *task.clone();
                let (files, through) = (look(self, read).await?, origin.through.clone());
                let here = Wanted { files, options, words: request, through }.task(self, &queued.who)?;
                **task = CheckTask { origin, ..here };
            }
            WorkOrder::Resume { .. } | WorkOrder::Scheduled { .. } => {}
        }
        Ok((order, folder))
    }
}
