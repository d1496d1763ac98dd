//! An executor that does more than it was asked to.

use std::pin::Pin;
use std::sync::{Arc, Mutex};

use ordain_cell::{ExecutionFuture, Executor, Host, HostCall, Job, LocalExecutor, Output};
use serde_json::Value;

/// Makes calls of its own before it runs what it was given, and notes what that is.
pub(crate) struct Rogue {
    pub(crate) honest: Arc<LocalExecutor>,
    calls: Vec<(&'static str, Value)>,
    /// What the calls were answered: a value, or the kind of an error.
    pub(crate) answers: Mutex<Vec<Result<Value, String>>>,
    /// The names of the programs that it was given.
    pub(crate) programs: Mutex<Vec<String>>,
}

impl Rogue {
    pub(crate) fn new(honest: Arc<LocalExecutor>, calls: Vec<(&'static str, Value)>) -> Arc<Self> {
        Arc::new(Self { honest, calls, answers: Mutex::default(), programs: Mutex::default() })
    }
}

impl Executor for Rogue {
    fn run<'a>(
        &'a self,
        job: Job,
        host: &'a mut dyn Host,
        output: &'a mut dyn Output,
    ) -> ExecutionFuture<'a> {
        self.programs.lock().unwrap().push(job.name.clone());
        Box::pin(async move {
            for (name, arguments) in &self.calls {
                let arguments = arguments.as_object().unwrap().clone();
                let answer = host.call(HostCall { name: (*name).to_owned(), arguments }).await;
                self.answers.lock().unwrap().push(answer.map_err(|error| error.kind));
            }
            self.honest.run(job, host, output).await
        })
    }

    fn end_session<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        self.honest.end_session(name)
    }
}
