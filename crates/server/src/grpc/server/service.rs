//! The calls of `ordain.executor.v1.Executor`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use ordain_cell::Executor as _;
use ordain_verify::{Contract, VERIFIER_VERSION};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tonic::metadata::MetadataMap;
use tonic::{Code, Request, Response, Status, Streaming};

use super::caller::caller;
use super::events::{Events, Live, Tail};
use super::job::{self, Told};
use super::metrics;
use super::{Caller, Shared};
use crate::grpc::convert::{self, MESSAGE_BYTES_MAX};
use crate::grpc::log::LogEvent;
use crate::grpc::proto;
use crate::grpc::proto::executor_server::Executor;
use crate::grpc::status::{Reason, status};
use crate::trace::{self, Kind, Span, TraceContext};

/// The service itself.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) shared: Arc<Shared>,
}

#[tonic::async_trait]
impl Executor for Service {
    type ExecuteStream = Events;
    type RunStream = Events;

    async fn execute(&self, request: Request<proto::ExecuteRequest>) -> Result<Response<Events>, Status> {
        let call = self.begin("Execute", &request)?;
        let request = Box::new(request.into_inner());
        Ok(Response::new(Events::of(|live, tail| call.carry_out(live, tail, Work::Execute(request)))))
    }

    async fn run(&self, request: Request<Streaming<proto::RunRequest>>) -> Result<Response<Events>, Status> {
        let call = self.begin("Run", &request)?;
        let inbound = Box::new(request.into_inner());
        Ok(Response::new(Events::of(|live, tail| call.carry_out(live, tail, Work::Run(inbound)))))
    }

    async fn create_session(
        &self,
        request: Request<proto::CreateSessionRequest>,
    ) -> Result<Response<proto::Session>, Status> {
        self.counted("CreateSession", self.open_session(request))
    }

    async fn end_session(
        &self,
        request: Request<proto::EndSessionRequest>,
    ) -> Result<Response<proto::EndSessionResponse>, Status> {
        let owner = caller(&request);
        let id = request.into_inner().id;
        let ended = self.shared.sessions.remove(&id, &owner);
        if ended {
            self.shared.executor.end_session(&id).await;
        }
        self.counted("EndSession", Ok(proto::EndSessionResponse { ended }))
    }

    async fn list_sessions(
        &self,
        request: Request<proto::ListSessionsRequest>,
    ) -> Result<Response<proto::ListSessionsResponse>, Status> {
        let sessions = self.shared.sessions.list(&caller(&request));
        self.counted("ListSessions", Ok(proto::ListSessionsResponse { sessions }))
    }

    async fn describe(
        &self,
        _request: Request<proto::DescribeRequest>,
    ) -> Result<Response<proto::DescribeResponse>, Status> {
        self.counted("Describe", Ok(self.description()))
    }
}

impl Service {
    fn open_session(&self, request: Request<proto::CreateSessionRequest>) -> Result<proto::Session, Status> {
        self.refuse_when_stopping()?;
        let owner = caller(&request);
        let profile = job::read_profile(&self.shared, &request.into_inner().profile)?;
        self.shared.sessions.create(owner, profile)
    }

    /// Counts a call that has come to its answer.
    fn counted<T>(&self, method: &str, answer: Result<T, Status>) -> Result<Response<T>, Status> {
        let code = answer.as_ref().map_or_else(Status::code, |_| Code::Ok);
        metrics::handled(&self.shared.figures, method, code);
        answer.map(Response::new)
    }

    /// Takes a place for a call, before anything of it is read.
    fn begin<T>(&self, method: &'static str, request: &Request<T>) -> Result<Call, Status> {
        self.take_place(method, request).inspect_err(|status| {
            metrics::handled(&self.shared.figures, method, status.code());
        })
    }

    fn take_place<T>(&self, method: &'static str, request: &Request<T>) -> Result<Call, Status> {
        self.refuse_when_stopping()?;
        let place = Arc::clone(&self.shared.places).try_acquire_owned().map_err(|_| {
            let message = "as many jobs run and wait as this executor takes";
            status(Reason::Busy, message, Some("try again a little later, or ask another executor"))
        })?;
        Ok(Call {
            shared: Arc::clone(&self.shared),
            caller: caller(request),
            method,
            deadline: deadline(request.metadata()),
            started: Instant::now(),
            began_at: SystemTime::now(),
            above: trace::taken_from(|name| request.metadata().get(name)?.to_str().ok()),
            _place: place,
        })
    }

    fn refuse_when_stopping(&self) -> Result<(), Status> {
        if !self.shared.is_stopping.load(Ordering::Acquire) {
            return Ok(());
        }
        Err(status(Reason::Stopping, "this executor is stopping", Some("ask another executor")))
    }

    fn description(&self) -> proto::DescribeResponse {
        let shared = &self.shared;
        let load = shared.executor.load();
        let profiles = shared.options.profiles.iter().map(|profile| proto::Profile {
            name: profile.to_string(),
            modules: profile.imports().iter().map(|&module| module.to_owned()).collect(),
        });
        let offered = |contract: &Contract| *contract != Contract::Open || shared.options.allow_open;
        proto::DescribeResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            verifier_version: VERIFIER_VERSION,
            instance: shared.instance.clone(),
            isolation: shared.executor.level().as_str().to_owned(),
            profiles: profiles.collect(),
            contracts: Contract::ALL.iter().filter(|it| offered(it)).map(Contract::to_string).collect(),
            limits_max: Some(convert::limits_of(&shared.options.limits_max)),
            message_bytes_max: MESSAGE_BYTES_MAX as u64,
            files_bytes_max: shared.options.files_bytes_max,
            load: Some(proto::Load {
                running: load.running as u64,
                running_max: shared.options.local.running_max as u64,
                waiting: load.waiting as u64,
                waiting_max: shared.options.local.waiting_max as u64,
                sessions: shared.sessions.count() as u64,
                sessions_max: shared.options.local.sessions_max as u64,
            }),
            draining: shared.is_stopping.load(Ordering::Acquire),
            kept_bytes_max: shared.kept.bytes_max(),
        }
    }
}

/// What a call brings.
enum Work {
    Execute(Box<proto::ExecuteRequest>),
    Run(Box<Streaming<proto::RunRequest>>),
}

/// One call that has a place.
struct Call {
    shared: Arc<Shared>,
    caller: Caller,
    method: &'static str,
    deadline: Option<Instant>,
    started: Instant,
    began_at: SystemTime,
    /// The caller's place in its trace.
    above: Option<TraceContext>,
    _place: OwnedSemaphorePermit,
}

impl Call {
    async fn carry_out(self, live: Live, tail: Tail, work: Work) {
        let mut entry = Entry { call: &self, told: Told::default(), code: Code::Cancelled };
        let (shared, caller, deadline) = (&self.shared, &self.caller, self.deadline);
        let ends = (live, tail.clone());
        let done = match work {
            Work::Execute(request) => {
                job::execute(shared, caller, *request, deadline, ends, &mut entry.told).await
            }
            Work::Run(inbound) => {
                job::run_with_host(shared, caller, *inbound, deadline, ends, &mut entry.told).await
            }
        };
        entry.code = done.as_ref().map_or_else(Status::code, |()| Code::Ok);
        if let Err(status) = done {
            let _ = tail.send(Err(status)).await;
        }
    }

    fn trace(&self, cause: Option<&str>, code: Code) {
        let tracer = &self.shared.options.tracer;
        let Some(place) = tracer.place(self.above.as_ref()).filter(|_| tracer.is_on()) else { return };
        let name = format!("ordain.executor.v1.Executor/{}", self.method);
        let mut span = Span::new(place, name, Kind::Server, self.began_at)
            .text("rpc.system", "grpc")
            .text("rpc.service", "ordain.executor.v1.Executor")
            .text("rpc.method", self.method)
            .number("rpc.grpc.status_code", u64::from(code as u32))
            .maybe("ordain.cell.cause", cause);
        span.parent = self.above.as_ref().map(|above| above.span_id);
        let error = (code != Code::Ok).then(|| format!("{code:?}"));
        tracer.take(span.failed(error.as_deref()));
    }
}

/// Tells of a call when it is over, however it ends: a caller that goes away drops it half way.
struct Entry<'a> {
    call: &'a Call,
    told: Told,
    code: Code,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        let profile = self.told.profile.map_or("-", ordain_cell::profile::Profile::name);
        let (method, cause) = (self.call.method, self.told.cause.map(ordain_types::Cause::as_str));
        let elapsed = self.call.started.elapsed();
        self.call.trace(cause, self.code);
        metrics::handled(&self.call.shared.figures, method, self.code);
        metrics::job(&self.call.shared.figures, method, cause, elapsed);
        self.call.shared.log.write(&LogEvent::Job {
            method,
            caller: self.call.caller.0.clone(),
            profile: profile.to_owned(),
            cause,
            code: format!("{:?}", self.code),
            ms: (elapsed.as_secs_f64() * 1e6).round() / 1e3,
        });
    }
}

/// When the caller stops waiting, if it said so: the header `grpc-timeout`, digits and a unit.
fn deadline(metadata: &MetadataMap) -> Option<Instant> {
    let text = metadata.get("grpc-timeout")?.to_str().ok()?;
    Instant::now().checked_add(parse_timeout(text)?)
}

fn parse_timeout(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    // The specification allows eight digits.
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_hours(number),
        "M" => Duration::from_mins(number),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_reads_as_the_specification_says() {
        assert_eq!(parse_timeout("1500m"), Some(Duration::from_millis(1500)));
        assert_eq!(parse_timeout("2S"), Some(Duration::from_secs(2)));
        assert_eq!(parse_timeout("99999999H"), Some(Duration::from_hours(99_999_999)));
        for wrong in ["", "S", "5", "-5S", "5s", "123456789S", "5µ", "1.5S"] {
            assert_eq!(parse_timeout(wrong), None, "{wrong}");
        }
    }
}
