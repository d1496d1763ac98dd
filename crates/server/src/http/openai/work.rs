//! What a call asks for: a request about the tables, or a question about the files that came with it.

use std::sync::Arc;

use ordain_engine::{Ask, CodeTask};
use ordain_types::{Strategy, format_bytes};
use tempfile::TempDir;

use super::request::{Chat, GivenFile};
use crate::http::body;
use crate::http::caller::Caller;
use crate::http::live::LiveRun;
use crate::http::order::WorkOrder;
use crate::http::problem::Problem;
use crate::http::service::Service;

/// Work that can be begun, more than once if a run was left.
#[derive(Debug)]
pub(super) enum Work {
    /// About the tables.
    Ask(Box<Ask>),
    /// About files, which are on disk for as long as their run needs them.
    Code(Box<CodeTask>, Arc<TempDir>),
}

impl Work {
    /// What a conversation asks for.
    pub(super) async fn of(chat: &Chat, service: &Service, caller: &Caller) -> Result<Self, Problem> {
        if !chat.files.is_empty() {
            return Self::about_files(chat, &chat.files, service, caller);
        }
        if !chat.earlier_files.is_empty() && chat.strategy == Strategy::Auto {
            let work = Self::about_files(chat, &chat.earlier_files, service, caller)?;
            if work.is_about_its_files(service, caller).await? {
                return Ok(work);
            }
        }
        let ask = Ask::new(&chat.request, &caller.id, "http");
        let (planner, turns) = (service.inner.planner.clone(), Some(chat.turns.clone()));
        Ok(Self::Ask(Box::new(Ask { planner, turns, mode: chat.mode, strategy: chat.strategy, ..ask })))
    }

    /// Whether a request goes on about the files of an earlier message: it can be read that way, or it cannot be read as
    /// a request about the tables.
    async fn is_about_its_files(&self, service: &Service, caller: &Caller) -> Result<bool, Problem> {
        let Self::Code(task, _) = self else { return Ok(false) };
        let engine = service.engine_for(caller);
        let is_readable = !engine.read_files(task).await?.readings.is_empty();
        Ok(is_readable || engine.read(&task.request).await?.readings.is_empty())
    }

    fn about_files(
        chat: &Chat,
        files: &[GivenFile],
        service: &Service,
        caller: &Caller,
    ) -> Result<Self, Problem> {
        service.must_take_code()?;
        let most = service.engine().settings().limits.file_bytes;
        let failed =
            |error: std::io::Error| Problem::internal(format!("an upload could not be kept: {error}"));
        let folder = tempfile::tempdir().map_err(failed)?;
        let mut task = CodeTask {
            planner: service.inner.planner.clone(),
            ..CodeTask::new(&chat.request, &caller.id, "http")
        };
        for (place, file) in files.iter().enumerate() {
            if file.content.len() as u64 > most {
                let mut problem = body::too_large(usize::try_from(most).unwrap_or(usize::MAX));
                problem.detail = format!("the file `{}` is larger than {}", file.name, format_bytes(most));
                return Err(problem);
            }
            // Each in a folder of its own, so that the engine, not this code, tells two of one name apart.
            let own = folder.path().join(place.to_string());
            fs_err::create_dir(&own).map_err(failed)?;
            let path = own.join(&file.name);
            fs_err::write(&path, &file.content).map_err(failed)?;
            task.files.push(path);
        }
        Ok(Self::Code(Box::new(task), Arc::new(folder)))
    }

    /// Begins it. The key makes a request run once; a question about files changes nothing and needs none.
    pub(super) fn begin(
        &self,
        service: &Service,
        caller: &Caller,
        key: String,
    ) -> Result<Arc<LiveRun>, Problem> {
        match self {
            Self::Ask(ask) => {
                let mut ask = Ask::clone(ask);
                ask.origin.idempotency_key = Some(key);
                service.begin(caller, ask, ())
            }
            Self::Code(task, folder) => {
                service.begin(caller, WorkOrder::Code(task.clone()), Arc::clone(folder))
            }
        }
    }
}
