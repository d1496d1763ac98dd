//! The span around every job in a cell, wherever the cell is.

use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use ordain_cell::profile::Profile;
use ordain_cell::{CellError, ExecutionFuture, Executor, Host, Job, Output, Shared, Sharing};
use ordain_types::Cause;

use super::context::{current, scope};
use super::export::Tracer;
use super::span::{Kind, Span};

/// The same executor, with a span around every job of a trace. A remote executor is handed the place of that span.
pub fn traced(executor: Arc<dyn Executor>, tracer: &Tracer) -> Arc<dyn Executor> {
    if tracer.is_on() { Arc::new(Traced { executor, tracer: tracer.clone() }) } else { executor }
}

struct Traced {
    executor: Arc<dyn Executor>,
    tracer: Tracer,
}

impl Executor for Traced {
    fn run<'a>(
        &'a self,
        job: Job,
        host: &'a mut dyn Host,
        output: &'a mut dyn Output,
    ) -> ExecutionFuture<'a> {
        let Some(parent) = current() else { return self.executor.run(job, host, output) };
        Box::pin(async move {
            let (context, began, profile) = (parent.child(), SystemTime::now(), job.profile.name());
            let ran = scope(context.clone(), self.executor.run(job, host, output)).await;
            let mut span = Span::new(context, "execute_tool python", Kind::Internal, began)
                .text("gen_ai.operation.name", "execute_tool")
                .text("gen_ai.tool.name", "python")
                .text("gen_ai.tool.type", "function")
                .text("ordain.cell.profile", profile);
            span.parent = Some(parent.span_id);
            self.tracer.take(match &ran {
                Ok(execution) => {
                    let cause = execution.cause;
                    span.text("ordain.cell.cause", cause.as_str())
                        .number("ordain.cell.host_calls", execution.host_calls)
                        .failed((cause != Cause::Ok).then(|| cause.as_str()))
                }
                Err(error) => span.failed(Some(if error.may_run_again() { "executor_lost" } else { "cell" })),
            });
            ran
        })
    }

    fn end_session<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        self.executor.end_session(name)
    }

    fn shares_cells(&self) -> bool {
        self.executor.shares_cells()
    }

    fn expect<'a>(&'a self, profile: Profile, bytes: u64) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        self.executor.expect(profile, bytes)
    }

    fn sharing(&self, shared: Shared) -> Result<Sharing, CellError> {
        self.executor.sharing(shared)
    }
}
