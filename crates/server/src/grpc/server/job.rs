//! One job on the executor's side: read, judged again, run, told.

use std::time::Duration;

use ordain_cell::profile::{PackageLock, Profile};
use ordain_cell::{
    Execution, Executor as _, FailingRows, Host, HostCall, HostError, HostFuture, Job, NoHost,
};
use ordain_types::{Cause, Limits};
use ordain_verify::{Contract, Finding};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tonic::{Status, Streaming};

use super::events::{Live, Tail};
use super::sessions::InUse;
use super::upload::Upload;
use super::{Caller, Shared};
use crate::grpc::convert::{self, PIECE_BYTES, from_json};
use crate::grpc::log::LogEvent;
use crate::grpc::proto::{self, event, host_reply, run_request};
use crate::grpc::status::{self, Reason, invalid, status};

/// How long a caller may take for the next piece of a file.
const PIECE_TIME_MAX: Duration = Duration::from_secs(30);
/// How long after a call's deadline a job that still waits for a place is given up.
const DEADLINE_GRACE: Duration = Duration::from_millis(500);
/// The longest name of a program, a table or a variable.
const NAME_BYTES_MAX: usize = 256;
/// The most tables, and the most variables to give back.
const NAMES_MAX: usize = 2000;
/// Code from this size on is judged on a thread of its own.
const LONG_CODE_BYTES: usize = 32 << 10;

/// What a job is called in the log until it is known better.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) profile: Option<Profile>,
    pub(crate) cause: Option<Cause>,
}

/// A job that may run.
struct Ready {
    job: Job,
    findings: Vec<Finding>,
}

/// What became of reading a job.
enum Read {
    Ready(Box<Ready>),
    Rejected(Box<proto::Result>),
}

/// Carries out an `Execute`.
pub(crate) async fn execute(
    shared: &Shared,
    caller: &Caller,
    request: proto::ExecuteRequest,
    deadline: Option<Instant>,
    (live, tail): (Live, Tail),
    told: &mut Told,
) -> Result<(), Status> {
    let sent = request.job.ok_or_else(|| invalid("the request has no job"))?;
    if !sent.known.is_empty() {
        return Err(invalid("files are known by their digests in a `Run` only"));
    }
    let mut ready = match read(shared, sent, told).await? {
        Read::Ready(ready) => ready,
        Read::Rejected(result) => {
            drop(live);
            return tell_result(&tail, *result).await;
        }
    };
    let mut upload = Upload::new(ready.job.limits.file_bytes, shared.options.files_bytes_max);
    upload.take_all(request.files)?;
    ready.job.files = upload.files()?;
    let execution = run(shared, caller, ready.job, &mut NoHost, &mut live.clone(), deadline).await?;
    drop((live, upload));
    told.cause = Some(execution.cause);
    tell(&tail, &execution, &ready.findings).await
}

/// Carries out a `Run`.
pub(crate) async fn run_with_host(
    shared: &Shared,
    caller: &Caller,
    mut inbound: Streaming<proto::RunRequest>,
    deadline: Option<Instant>,
    (live, tail): (Live, Tail),
    told: &mut Told,
) -> Result<(), Status> {
    let Some(run_request::Message::Start(mut sent)) = next(&mut inbound).await? else {
        return Err(invalid("the first message has to be `start`"));
    };
    let known = std::mem::take(&mut sent.known);
    let mut ready = match read(shared, sent, told).await? {
        Read::Ready(ready) => ready,
        Read::Rejected(result) => {
            drop(live);
            return tell_result(&tail, *result).await;
        }
    };
    let mut upload = Upload::new(ready.job.limits.file_bytes, shared.options.files_bytes_max);
    if !known.is_empty() {
        let names = upload.take_known(&shared.kept, caller, known).await?;
        live.tell(event::Event::Lacks(proto::Lacks { names }));
    }
    loop {
        match next(&mut inbound).await? {
            Some(run_request::Message::File(chunk)) => upload.take(&chunk)?,
            Some(run_request::Message::Go(_)) => break,
            Some(_) => return Err(invalid("only `file` and `go` may come before the job runs")),
            None => return Err(invalid("the caller ended its side before `go`")),
        }
    }
    ready.job.files = upload.files()?;
    make_room(&mut ready.job, upload.bytes_of_known(), shared.kept.bytes_max());
    let (replies, received) = mpsc::channel(1);
    let (calls, open_call) = tokio::sync::watch::channel(0);
    let mut host = CallerHost { live: live.clone(), calls, replies: received };
    let mut output = live.clone();
    let execution = tokio::select! {
        execution = run(shared, caller, ready.job, &mut host, &mut output, deadline) => execution?,
        fault = pass_replies(&mut inbound, replies, open_call) => return Err(fault),
    };
    drop((live, host, output, upload));
    told.cause = Some(execution.cause);
    tell(&tail, &execution, &ready.findings).await
}

/// The next message of the caller. `None` when it has ended its side.
async fn next(inbound: &mut Streaming<proto::RunRequest>) -> Result<Option<run_request::Message>, Status> {
    let message = tokio::time::timeout(PIECE_TIME_MAX, inbound.message()).await.map_err(|_| {
        let limit = ordain_types::format_duration(PIECE_TIME_MAX);
        status(Reason::Slow, format!("nothing came from the caller for {limit}"), None)
    })??;
    match message {
        None => Ok(None),
        Some(request) => {
            request.message.map(Some).ok_or_else(|| invalid("a message of the caller says nothing"))
        }
    }
}

/// Reads and judges a job. Everything in it is checked here or where it is used.
async fn read(shared: &Shared, sent: proto::Job, told: &mut Told) -> Result<Read, Status> {
    let profile = read_profile(shared, &sent.profile)?;
    told.profile = Some(profile);
    let contract = read_contract(shared, &sent)?;
    let limits = convert::limits_within(sent.limits.as_ref(), &shared.options.limits_max).map_err(invalid)?;
    check_names(&sent)?;
    let own = shared.options.local.data_dir.packages().map_or(&[][..], PackageLock::modules);
    if !shared.options.allow_open
        && let Some(message) = convert::widens(&sent, (profile, own))
    {
        return Err(status(
            Reason::NotOffered,
            message,
            Some("do without, or start the executor with --allow-open"),
        ));
    }
    let values: Map<String, Value> = match sent.values_json.as_str() {
        "" => Map::new(),
        text => from_json(text, "the values").map_err(invalid)?,
    };
    let (verdict, sent, values) = judge(sent, contract, (profile, own), values).await?;
    if !verdict.is_accepted() {
        told.cause = Some(Cause::Rejected);
        let result = convert::rejection(&verdict, &limits, shared.executor.level());
        return Ok(Read::Rejected(Box::new(result)));
    }
    let findings = verdict.findings.clone();
    let Some(code) = verdict.into_verified() else { return Err(invalid("the code was not accepted")) };
    let job = Job {
        name: if sent.name.is_empty() { "main.py".to_owned() } else { sent.name },
        limits,
        values,
        tables: sent.tables,
        helpers: sent.helpers,
        collect: sent.collect,
        failing: sent.failing.map(|failing| FailingRows {
            keys: failing.keys,
            max_rows: failing.max_rows,
            mask: failing.mask,
        }),
        frames: sent.frames.into_iter().collect(),
        session: Some(sent.session).filter(|session| !session.is_empty()),
        is_fresh: sent.fresh,
        ..Job::new(code, profile)
    };
    Ok(Read::Ready(Box::new(Ready { job, findings })))
}

async fn judge(
    sent: proto::Job,
    contract: Contract,
    (profile, own): (Profile, &[String]),
    values: Map<String, Value>,
) -> Result<(ordain_verify::Verdict, proto::Job, Map<String, Value>), Status> {
    let is_long = sent.code.len() + sent.helpers.len() > LONG_CODE_BYTES;
    let own = own.to_vec();
    let judge = move || {
        let verdict = convert::judge(&sent, contract, (profile, &own), &values);
        verdict.map(|verdict| (verdict, sent, values)).map_err(invalid)
    };
    if !is_long {
        return judge();
    }
    let judged = tokio::task::spawn_blocking(judge).await;
    judged.unwrap_or_else(|_| Err(status(Reason::NoCell, "the code could not be judged", None)))
}

pub(crate) fn read_profile(shared: &Shared, name: &str) -> Result<Profile, Status> {
    let profile = match name {
        "" => Ok(Profile::Core),
        name => name.parse::<Profile>(),
    };
    let offered = &shared.options.profiles;
    match profile {
        Ok(profile) if offered.contains(&profile) => Ok(profile),
        Ok(profile) => {
            let mut names: Vec<_> = offered.iter().map(Profile::to_string).collect();
            let message =
                format!("this executor does not offer the profile `{profile}`, only {}", names.join(", "));
            names.push(profile.to_string());
            let hint = format!("start an executor with `ordain executor --profiles {}`", names.join(","));
            Err(status(Reason::NotOffered, message, Some(&hint)))
        }
        Err(error) => Err(status(Reason::Invalid, error.to_string(), error.hint().as_deref())),
    }
}

fn read_contract(shared: &Shared, sent: &proto::Job) -> Result<Contract, Status> {
    let name = sent.judgement.as_ref().map_or("", |judgement| judgement.contract.as_str());
    let contract = match name {
        "" => Contract::Exec,
        name => name.parse::<Contract>().map_err(|error| invalid(error.to_string()))?,
    };
    // Programs that Ordain itself brings along, such as the one that looks into files, are not anybody's.
    let is_own = || sent.helpers.is_empty() && ordain_files::own_programs().any(|own| own == sent.code);
    if contract == Contract::Open && !shared.options.allow_open && !is_own() {
        let message = "this executor does not take code under the contract `open`";
        return Err(status(Reason::NotOffered, message, Some("use `exec`, or start it with --allow-open")));
    }
    Ok(contract)
}

fn check_names(sent: &proto::Job) -> Result<(), Status> {
    let failing = sent.failing.clone().unwrap_or_default();
    let lists = [
        ("tables", &sent.tables),
        ("collect", &sent.collect),
        ("failing.keys", &failing.keys),
        ("failing.mask", &failing.mask),
    ];
    for (what, names) in lists {
        if names.len() > NAMES_MAX {
            return Err(invalid(format!("`{what}` has {} entries; {NAMES_MAX} is the limit", names.len())));
        }
    }
    if sent.frames.len() > NAMES_MAX {
        return Err(invalid(format!("`frames` has {} entries; {NAMES_MAX} is the limit", sent.frames.len())));
    }
    let mut names =
        sent.tables.iter().chain(&sent.collect).chain(sent.frames.keys()).chain([&sent.name, &sent.session]);
    if names.any(|name| name.len() > NAME_BYTES_MAX || name.contains(char::is_control)) {
        let message = format!("a name is longer than {NAME_BYTES_MAX} bytes or holds control characters");
        return Err(invalid(message));
    }
    Ok(())
}

/// A table is read from a file that came with the job, or with an earlier one of its session.
fn check_frames(job: &Job, session: Option<&InUse<'_>>) -> Result<(), Status> {
    let has = |name: &String| {
        job.files.iter().any(|file| file.name == *name)
            || session.is_some_and(|session| session.has_file(name))
    };
    match job.frames.iter().find(|(_, name)| !has(name)) {
        None => Ok(()),
        Some((table, name)) => Err(invalid(format!(
            "the table `{table}` is read from `{name}`, which did not come with the job"
        ))),
    }
}

/// Runs the job in a cell, within the call's deadline.
async fn run(
    shared: &Shared,
    caller: &Caller,
    mut job: Job,
    host: &mut dyn Host,
    output: &mut Live,
    deadline: Option<Instant>,
) -> Result<Execution, Status> {
    let session = job.session.clone();
    let in_use = match &session {
        Some(id) => Some(shared.sessions.enter(id, caller, job.profile)?),
        None => None,
    };
    check_frames(&job, in_use.as_ref())?;
    let files: Vec<String> = job.files.iter().map(|file| file.name.clone()).collect();
    if let Some(deadline) = deadline {
        lower_wall(&mut job.limits, deadline)?;
    }
    let running = shared.executor.run(job, host, output);
    let ran = match deadline {
        None => running.await,
        Some(deadline) => tokio::time::timeout_at(deadline + DEADLINE_GRACE, running)
            .await
            .map_err(|_| Status::deadline_exceeded("the call's deadline passed before the job ended"))?,
    };
    if let (Some(in_use), Ok(execution)) = (&in_use, &ran) {
        match execution.cause {
            Cause::Ok | Cause::Error => in_use.keep_files(files),
            // A session's cell that passed a limit or broke the rules has ended.
            _ => in_use.forget_files(),
        }
    }
    ran.map_err(|error| {
        let told = status::of_cell(&error);
        if told.code() == tonic::Code::Internal {
            shared.log.write(&LogEvent::Failed { what: Chain(&error).to_string() });
        }
        told
    })
}

/// Gives a job room for tables that are kept: their own bound counts, not the job's work folder. The room is the same for
/// all such jobs, so that they suit the same cells; a cell that is shared by name has it from its first job on. Tables that
/// hardly take anything leave the job in a cell that was made ahead.
fn make_room(job: &mut Job, known_bytes: u64, kept_bytes_max: u64) {
    let is_little = known_bytes <= job.limits.work_bytes() / 2 && known_bytes <= job.limits.file_bytes;
    if known_bytes == 0 || known_bytes > kept_bytes_max || (is_little && job.session.is_none()) {
        return;
    }
    job.limits.work_bytes = Some(job.limits.work_bytes().saturating_add(kept_bytes_max));
    job.limits.file_bytes = job.limits.file_bytes.max(known_bytes);
}

/// The call's deadline bounds the job's time.
fn lower_wall(limits: &mut Limits, deadline: Instant) -> Result<(), Status> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(Status::deadline_exceeded("the call's deadline passed before the job ran"));
    }
    limits.wall = limits.wall.min(left);
    Ok(())
}

/// Tells artifacts and result, as fast as the caller takes them.
async fn tell(tail: &Tail, execution: &Execution, findings: &[Finding]) -> Result<(), Status> {
    for artifact in &execution.artifacts {
        let content =
            artifact.read().map_err(|_| status(Reason::Lost, "an artifact could not be read again", None))?;
        let mut pieces: Vec<&[u8]> = content.chunks(PIECE_BYTES).collect();
        if pieces.is_empty() {
            pieces.push(&[]);
        }
        for piece in pieces {
            let chunk = proto::ArtifactChunk { name: artifact.name.clone(), data: piece.to_vec() };
            send(tail, event::Event::Artifact(chunk)).await?;
        }
    }
    tell_result(tail, convert::result(execution, findings)).await
}

async fn tell_result(tail: &Tail, result: proto::Result) -> Result<(), Status> {
    send(tail, event::Event::Result(result)).await
}

async fn send(tail: &Tail, event: event::Event) -> Result<(), Status> {
    let event = proto::Event { event: Some(event) };
    tail.send(Ok(event)).await.map_err(|_| Status::cancelled("the caller went away"))
}

/// A host that is the caller at the other end.
struct CallerHost {
    live: Live,
    /// The number of the open call.
    calls: tokio::sync::watch::Sender<u64>,
    replies: mpsc::Receiver<Result<Value, HostError>>,
}

impl Host for CallerHost {
    fn call(&mut self, call: HostCall) -> HostFuture<'_> {
        Box::pin(async move {
            let id = *self.calls.borrow() + 1;
            self.calls.send_replace(id);
            // A map with text keys always has a JSON form.
            let arguments_json = serde_json::to_string(&call.arguments).unwrap_or_default();
            self.live.tell(event::Event::HostCall(proto::HostCall { id, name: call.name, arguments_json }));
            let gone = || HostError::new("caller_gone", "the caller answers no calls any more");
            self.replies.recv().await.unwrap_or_else(|| Err(gone()))
        })
    }
}

/// Passes the caller's replies to the host, and ends only when the caller breaks the rules.
async fn pass_replies(
    inbound: &mut Streaming<proto::RunRequest>,
    replies: mpsc::Sender<Result<Value, HostError>>,
    open_call: tokio::sync::watch::Receiver<u64>,
) -> Status {
    let mut answered = 0;
    loop {
        let reply = match inbound.message().await {
            Ok(Some(proto::RunRequest { message: Some(run_request::Message::Reply(reply)) })) => reply,
            Ok(Some(_)) => return invalid("only `reply` may come while the job runs"),
            Ok(None) => break,
            Err(fault) => return fault,
        };
        // One reply for each call, and none without a call.
        if reply.id != *open_call.borrow() || reply.id == answered {
            return invalid("a reply answers no open call");
        }
        answered = reply.id;
        let answer = match reply.answer {
            Some(host_reply::Answer::ValueJson(text)) => match from_json(&text, "the reply's values") {
                Ok(value) => Ok(value),
                Err(problem) => return invalid(problem),
            },
            Some(host_reply::Answer::Error(error)) => Err(HostError::new(&error.kind, error.message)),
            None => return invalid("a reply holds no answer"),
        };
        if replies.send(answer).await.is_err() {
            break;
        }
    }
    // A caller that has ended its side hears the rest, but no call is answered any more.
    drop(replies);
    std::future::pending().await
}

/// An error with its causes, for the log.
struct Chain<'a>(&'a dyn std::error::Error);

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(cause) = source {
            write!(formatter, ": {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}
