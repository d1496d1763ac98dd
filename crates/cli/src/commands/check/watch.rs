//! `ordain check watch`: runs checks when their files change.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ordain_cell::{InputFile, hash_files};
use ordain_checks::CheckTask;
use ordain_engine::hash;
use ordain_store::{ScheduleMark, Store, StoreError};
use ordain_types::RunId;
use ordain_workspace::Workspace;

use super::run as running;

use crate::failure::{INTERRUPTED, Outcome};

/// How often files are looked at.
const TICK: Duration = Duration::from_secs(1);
/// A change is acted on when nothing has changed for so long: files are often written in several goes.
const QUIET: Duration = Duration::from_millis(1500);

/// Run checks when data or check files change
///
/// A run that is still going on is never overlapped, and a run of another process is waited for. Where several machines
/// share a database and watch copies of the workspace, the same change makes one run. What is due by a schedule is run by
/// `ordain serve` or `ordain schedule run --due`.
// The arguments of `run` are a group called `Args` already.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "watch")]
pub(crate) struct Args {
    #[command(flatten)]
    run: running::Args,
}

/// Carries out `ordain check watch`.
pub(super) fn run(args: &Args, workspace: &Arc<Workspace>) -> Outcome {
    let mut args = args.run.clone();
    args.waits = true;
    let clock = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Watched { args: &args, workspace, clock }.watch();
    Ok(ExitCode::from(INTERRUPTED))
}

struct Watched<'a> {
    args: &'a running::Args,
    workspace: &'a Arc<Workspace>,
    clock: tokio::runtime::Runtime,
}

impl Watched<'_> {
    /// Watches until someone interrupts it.
    fn watch(&self) {
        let mut seen = marks(&self.workspace.root);
        let mut content = self.content(&seen);
        let _ = writeln!(io::stderr(), "watching {}: Ctrl-C ends it", self.workspace.root.display());
        while !self.is_interrupted(TICK) {
            if marks(&self.workspace.root) == seen {
                continue;
            }
            let Some(settled) = self.settled() else { return };
            seen = settled;
            let before = std::mem::replace(&mut content, self.content(&seen));
            if content == before {
                continue;
            }
            let _ = writeln!(io::stderr(), "files changed: running");
            let mut args = self.args.clone();
            args.watched = Some(content.clone());
            // A run that could not be carried out is shown; the next change may mend it.
            let ran = running::run(&args, self.workspace).unwrap_or_else(|failure| failure.report());
            if ran == ExitCode::from(INTERRUPTED) {
                return;
            }
        }
    }

    /// What the files are once their writer has come to an end; `None` if someone ended the watching.
    fn settled(&self) -> Option<Marks> {
        let mut seen = marks(&self.workspace.root);
        loop {
            if self.is_interrupted(QUIET) {
                return None;
            }
            let later = marks(&self.workspace.root);
            if later == seen {
                return Some(later);
            }
            seen = later;
        }
    }

    /// The digest of what is in the files.
    fn content(&self, marks: &Marks) -> String {
        let file = |name: &String| InputFile { name: name.clone(), path: self.workspace.root.join(name) };
        let hashes = self.clock.block_on(hash_files(marks.keys().map(file).collect()));
        hash(&format!("{:?}", marks.keys().zip(hashes).collect::<Vec<_>>()))
    }

    /// Waits so long, unless someone ends it.
    fn is_interrupted(&self, within: Duration) -> bool {
        self.clock.block_on(async { tokio::time::timeout(within, tokio::signal::ctrl_c()).await.is_ok() })
    }
}

/// A change of files, which one of all that watch the same store carries out.
#[derive(Debug)]
pub(super) struct Change {
    /// What is run when files change.
    name: String,
    mark: ScheduleMark,
}

impl Change {
    /// The change to this content; `None` if the last run for a change was for this content.
    pub(super) async fn to(
        content: &str,
        task: &CheckTask,
        store: &Store,
    ) -> Result<Option<Self>, StoreError> {
        let name = format!("watch {}", task.fingerprint());
        let last = store.schedule_marks().await?.remove(&name);
        if last.as_ref().is_some_and(|last| last.schedule == content) {
            return Ok(None);
        }
        let at = last.map_or(1, |last| last.at + 1);
        Ok(Some(Self { name, mark: ScheduleMark { schedule: content.to_owned(), at, run_id: None } }))
    }

    /// The idempotency key of its run: the same wherever the change is seen, and another one when files change back.
    pub(super) fn key(&self) -> String {
        format!("{} {} {}", self.name, self.mark.at, self.mark.schedule)
    }

    /// Notes that it was carried out.
    pub(super) async fn done(mut self, run: &RunId, store: &Store) -> Result<(), StoreError> {
        self.mark.run_id = Some(run.clone());
        store.mark_schedule(&self.name, &self.mark).await
    }
}

/// Sizes and times of files, by name.
type Marks = BTreeMap<String, (u64, Option<SystemTime>)>;

/// What the file system says of data and check files.
fn marks(root: &Path) -> Marks {
    let mut marks = BTreeMap::new();
    for folder in ["checks", "data"] {
        for entry in std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
            if let Ok(metadata) = entry.metadata() {
                let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
                marks.insert(name, (metadata.len(), metadata.modified().ok()));
            }
        }
    }
    marks
}
