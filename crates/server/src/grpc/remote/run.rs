//! One job on another machine, from the caller's side.
//!
//! The executor is not trusted: it runs foreign code, and it may be somebody else's by now. What it says is bounded and
//! checked like what a cell says, and the caller's own clock and counts end a job that it does not end, so that no
//! transaction waits for it. Such a job is an execution like any other that passed a limit, with a record.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ordain_cell::{
    Artifact, CellError, Execution, Host, HostCall, InputFile, Job, Level, Output, Stream, Timing,
};
use ordain_types::{Cause, format_bytes};
use ordain_verify::FULL_IMPORTS;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use super::{Failed, RemoteExecutor};
use crate::grpc::convert::{self, PIECE_BYTES, from_json};
use crate::grpc::proto::{self, event, host_reply, run_request};

/// Messages to the executor that wait for the network.
const OUTGOING_MAX: usize = 4;
/// How long the files of a job may take to the executor.
const UPLOAD_TIME_MAX: Duration = Duration::from_mins(5);
/// Host calls of one job. A call takes a round trip, so that no code gets near it within its time.
const HOST_CALLS_MAX: u64 = 1_000_000;
/// Messages of one job that carry nothing.
const EMPTY_MAX: u64 = 1000;

type Outgoing = mpsc::Sender<proto::RunRequest>;

/// Runs one job to its end.
pub(super) async fn run(
    executor: &RemoteExecutor,
    job: &Job,
    session: Option<&str>,
    host: &mut dyn Host,
    output: &mut dyn Output,
) -> Result<Execution, Failed> {
    let kept_bytes_max = executor.kept_bytes_max.load(Ordering::Relaxed);
    let files = open_all(job, kept_bytes_max).map_err(Failed::before)?;
    let mut start = start(job, session);
    if kept_bytes_max > 0 {
        start.known = executor.digests.of_tables(job).await;
    }
    let known: BTreeSet<String> = start.known.iter().map(|file| file.name.clone()).collect();
    let (tell_lacks, lacks) = oneshot::channel();
    let (outgoing, requests) = mpsc::channel(OUTGOING_MAX);
    let uploading = tokio::spawn(upload(start, files, lacks, outgoing.clone()));
    let mut incoming = Incoming {
        job,
        output,
        outgoing,
        lacks: Some((known, tell_lacks)).filter(|(known, _)| !known.is_empty()),
        stdout: Vec::new(),
        stderr: Vec::new(),
        artifacts: Vec::new(),
        artifact: None,
        artifact_bytes: 0,
        host_calls: 0,
        empty: 0,
        was_heard: false,
    };
    let (started, upload) = (Instant::now(), uploading.abort_handle());
    let ran = async {
        let mut client = executor.client();
        let mut events = client.run(ReceiverStream::new(requests)).await?.into_inner();
        incoming.take_all(&mut events, host).await
    };
    let late = async {
        // The code's time begins when the executor has the files.
        let _ = tokio::time::timeout(UPLOAD_TIME_MAX, uploading).await;
        tokio::time::sleep(job.limits.wall + executor.options.grace).await;
    };
    let ran = tokio::select! {
        biased;
        ran = ran => Some(ran),
        () = late => None,
    };
    upload.abort();
    let was_heard = incoming.was_heard;
    let ended = |cause, said: String| incoming.ended(cause, said, started);
    let session = job.session.as_deref();
    let Some(ran) = ran else {
        let said = format!("the executor {} did not end the job in its time", executor.address);
        return Ok(ended(Cause::Timeout, said));
    };
    match ran {
        Ok(Ended::Ran(execution)) if execution.isolation < executor.options.minimum => {
            let (level, minimum) = (execution.isolation.as_str(), executor.options.minimum.as_str());
            let said = format!(
                "the isolation of the executor {} is `{level}`, below the minimum `{minimum}`",
                executor.address
            );
            Ok(ended(Cause::ProtocolError, said))
        }
        Ok(Ended::Ran(execution)) => Ok(*execution),
        Ok(Ended::Rejected(said)) => {
            let hint = Some(why_refused(job).to_owned());
            Err(Failed::before(CellError::Refused { executor: executor.address.clone(), said, hint }))
        }
        Ok(Ended::BrokeTheRules(said)) => Ok(ended(
            Cause::ProtocolError,
            format!("the executor {} broke the rules: {said}", executor.address),
        )),
        Err(status) => Err(Failed { error: executor.error(&status, session, was_heard), was_heard }),
    }
}

/// Why code that was accepted here may be refused there.
fn why_refused(job: &Job) -> &'static str {
    let mut packages = job.judged_by.iter().flat_map(|judged_by| &judged_by.policy.packages);
    if packages.any(|package| !FULL_IMPORTS.contains(&package.as_str())) {
        return "packages of a workspace have to be offered there: `ordain executor --lock ordain.lock`";
    }
    "the executor has other rules or another version: compare `ordain --version`"
}

/// How the events of a job ended.
enum Ended {
    Ran(Box<Execution>),
    Rejected(String),
    BrokeTheRules(String),
}

/// What has come from the executor so far.
struct Incoming<'a> {
    job: &'a Job,
    output: &'a mut dyn Output,
    outgoing: Outgoing,
    /// The files that it may lack, and who sends them, until it has said which.
    lacks: Option<(BTreeSet<String>, oneshot::Sender<BTreeSet<String>>)>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    artifacts: Vec<Artifact>,
    /// The artifact that is coming.
    artifact: Option<(String, File)>,
    artifact_bytes: u64,
    host_calls: u64,
    /// Messages that carried nothing.
    empty: u64,
    was_heard: bool,
}

impl Incoming<'_> {
    /// The job as the caller ended it: with what was heard, and nothing that the executor claims of it.
    fn ended(&self, cause: Cause, detail: String, started: Instant) -> Execution {
        Execution {
            cause,
            exit: None,
            signal: None,
            stdout: self.stdout.clone(),
            stderr: self.stderr.clone(),
            output_truncated: false,
            error: None,
            values: serde_json::Map::new(),
            notes: serde_json::Map::new(),
            artifacts: Vec::new(),
            refused: Vec::new(),
            left_behind: Vec::new(),
            detail: Some(detail),
            limits: self.job.limits.clone(),
            timing: Timing { queue: Duration::ZERO, run: started.elapsed(), total: started.elapsed() },
            isolation: Level::Reduced,
            host_calls: self.host_calls,
        }
    }

    /// Counts a message that carries nothing: a job has no use for many of them.
    fn count_empty(&mut self, is_empty: bool) -> Result<(), String> {
        self.empty += u64::from(is_empty);
        if self.empty > EMPTY_MAX {
            return Err(format!("more than {EMPTY_MAX} messages that carry nothing"));
        }
        Ok(())
    }

    async fn take_all(
        &mut self,
        events: &mut Streaming<proto::Event>,
        host: &mut dyn Host,
    ) -> Result<Ended, Status> {
        loop {
            let event = next(events).await?;
            let call = match self.take(event) {
                Ok(Taken::Nothing) => continue,
                Ok(Taken::Call(call)) => call,
                Ok(Taken::End(ended)) => return Ok(ended),
                Err(said) => return Ok(Ended::BrokeTheRules(said)),
            };
            if let Some(ended) = self.answer(call, events, host).await? {
                return Ok(ended);
            }
        }
    }

    /// Has the host answer a call, and still listens: the job may pass its deadline meanwhile.
    async fn answer(
        &mut self,
        call: proto::HostCall,
        events: &mut Streaming<proto::Event>,
        host: &mut dyn Host,
    ) -> Result<Option<Ended>, Status> {
        let arguments = match from_json(&call.arguments_json, "the arguments of a host call") {
            Ok(arguments) => arguments,
            Err(said) => return Ok(Some(Ended::BrokeTheRules(said))),
        };
        self.host_calls += 1;
        if self.host_calls > HOST_CALLS_MAX {
            return Ok(Some(Ended::BrokeTheRules(format!("more than {HOST_CALLS_MAX} host calls"))));
        }
        // From here on the host may have done something.
        self.was_heard = true;
        let mut answering = host.call(HostCall { name: call.name, arguments });
        let answer = loop {
            tokio::select! {
                biased;
                answer = &mut answering => break answer,
                event = next(events) => match self.take(event?) {
                    Ok(Taken::Nothing) => {}
                    Ok(Taken::End(ended)) => return Ok(Some(ended)),
                    Ok(Taken::Call(_)) => {
                        return Ok(Some(Ended::BrokeTheRules("a call came before the last was answered".to_owned())));
                    }
                    Err(said) => return Ok(Some(Ended::BrokeTheRules(said))),
                },
            }
        };
        let answer = match answer {
            Ok(value) => match value.to_string() {
                text if text.len() > ordain_cell::FRAME_BYTES_MAX => too_large(text.len()),
                text => host_reply::Answer::ValueJson(text),
            },
            Err(error) => {
                host_reply::Answer::Error(proto::HostError { kind: error.kind, message: error.message })
            }
        };
        let reply = proto::HostReply { id: call.id, answer: Some(answer) };
        let reply = run_request::Message::Reply(reply);
        // If nobody takes it, the stream of events says why.
        let _ = self.outgoing.send(message(reply)).await;
        Ok(None)
    }

    fn take(&mut self, event: event::Event) -> Result<Taken, String> {
        match event {
            event::Event::Output(piece) => self.take_output(&piece).map(|()| Taken::Nothing),
            event::Event::Artifact(piece) => self.take_artifact(&piece).map(|()| Taken::Nothing),
            event::Event::HostCall(call) => Ok(Taken::Call(call)),
            event::Event::Result(result) => self.finish(result).map(Taken::End),
            event::Event::Lacks(lacks) => self.take_lacks(lacks).map(|()| Taken::Nothing),
        }
    }

    fn take_lacks(&mut self, lacks: proto::Lacks) -> Result<(), String> {
        let (known, tell) = self.lacks.take().ok_or("it asks for files that were not offered")?;
        let lacking: BTreeSet<String> = lacks.names.into_iter().collect();
        if !lacking.is_subset(&known) {
            return Err("it asks for files that were not offered".to_owned());
        }
        // If nobody sends them any more, the stream of events says why.
        let _ = tell.send(lacking);
        Ok(())
    }

    fn take_output(&mut self, piece: &proto::Output) -> Result<(), String> {
        let (stream, kept) = match piece.stream() {
            proto::Stream::Stdout => (Stream::Stdout, &mut self.stdout),
            proto::Stream::Stderr => (Stream::Stderr, &mut self.stderr),
            proto::Stream::Unspecified => return Err("output of no stream".to_owned()),
        };
        kept.extend_from_slice(&piece.data);
        self.count_empty(piece.data.is_empty())?;
        if (self.stdout.len() + self.stderr.len()) as u64 > self.job.limits.output_bytes {
            return Err("more output than the limit".to_owned());
        }
        self.was_heard = true;
        self.output.write(stream, &piece.data);
        Ok(())
    }

    fn take_artifact(&mut self, piece: &proto::ArtifactChunk) -> Result<(), String> {
        let is_next = self.artifact.as_ref().is_some_and(|(name, _)| *name == piece.name);
        self.count_empty(piece.data.is_empty() && is_next)?;
        let limits = &self.job.limits;
        self.artifact_bytes += piece.data.len() as u64;
        if self.artifact_bytes > limits.artifact_bytes || self.artifacts.len() >= limits.artifacts as usize {
            return Err("more artifacts than the limit".to_owned());
        }
        if self.artifact.as_ref().is_none_or(|(name, _)| *name != piece.name) {
            self.finish_artifact()?;
            let content = tempfile::tempfile().map_err(|error| format!("no room for artifacts: {error}"))?;
            self.artifact = Some((piece.name.clone(), content));
        }
        let Some((_, content)) = &mut self.artifact else { return Ok(()) };
        content.write_all(&piece.data).map_err(|error| format!("no room for artifacts: {error}"))
    }

    fn finish_artifact(&mut self) -> Result<(), String> {
        let Some((name, content)) = self.artifact.take() else { return Ok(()) };
        let artifact = Artifact::received(&name, content).map_err(|error| error.to_string())?;
        self.artifacts.push(artifact.ok_or_else(|| "an artifact with a name that may not be".to_owned())?);
        Ok(())
    }

    fn finish(&mut self, result: proto::Result) -> Result<Ended, String> {
        self.finish_artifact()?;
        if result.cause == Cause::Rejected.as_str() {
            let first = result.findings.iter().find(|finding| finding.severity == "error");
            let said = first.map(|finding| format!("line {}: {}", finding.line, finding.message));
            return Ok(Ended::Rejected(said.unwrap_or_else(|| "the code was not accepted".to_owned())));
        }
        let (stdout, stderr) = (std::mem::take(&mut self.stdout), std::mem::take(&mut self.stderr));
        let artifacts = std::mem::take(&mut self.artifacts);
        let execution = convert::execution(result, stdout, stderr, artifacts, &self.job.limits)?;
        Ok(Ended::Ran(Box::new(execution)))
    }
}

/// What an event asks for.
enum Taken {
    Nothing,
    Call(proto::HostCall),
    End(Ended),
}

async fn next(events: &mut Streaming<proto::Event>) -> Result<event::Event, Status> {
    let event = events.message().await?.ok_or_else(|| Status::data_loss("it ended without a result"))?;
    event.event.ok_or_else(|| Status::data_loss("it sent an event that says nothing"))
}

fn too_large(bytes: usize) -> host_reply::Answer {
    let message = format!("the answer of {} is larger than a frame may be", format_bytes(bytes as u64));
    host_reply::Answer::Error(proto::HostError { kind: "too_large".to_owned(), message })
}

fn start(job: &Job, session: Option<&str>) -> proto::Job {
    proto::Job {
        code: job.code.code().to_owned(),
        name: job.name.clone(),
        profile: job.profile.to_string(),
        limits: Some(convert::limits_of(&job.limits)),
        // A map with text keys always has a JSON form.
        values_json: serde_json::to_string(&job.values).unwrap_or_default(),
        tables: job.tables.clone(),
        helpers: job.helpers.clone(),
        collect: job.collect.clone(),
        session: session.unwrap_or_default().to_owned(),
        judgement: Some(convert::judgement(job)),
        failing: job.failing.as_ref().map(|failing| proto::FailingRows {
            keys: failing.keys.clone(),
            max_rows: failing.max_rows,
            mask: failing.mask.clone(),
        }),
        frames: job.frames.clone().into_iter().collect(),
        fresh: job.is_fresh,
        known: Vec::new(),
    }
}

/// Opens the job's files, so that what is wrong with them is known before anything is sent. A table may be as large as what
/// the executor keeps.
fn open_all(job: &Job, kept_bytes_max: u64) -> Result<Vec<(String, File)>, CellError> {
    let open = |file: &InputFile| {
        let wrong = |problem: String| CellError::File { name: file.name.clone(), problem };
        let metadata =
            fs_err::metadata(&file.path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        if !metadata.is_file() {
            return Err(wrong("is not an ordinary file".to_owned()));
        }
        let is_table = job.frames.values().any(|name| *name == file.name);
        let limit = job.limits.file_bytes.max(if is_table { kept_bytes_max } else { 0 });
        if metadata.len() > limit {
            let limit = format_bytes(limit);
            return Err(wrong(format!("is larger than {limit}, the limit of one file")));
        }
        let content = File::open(&file.path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        Ok((file.name.clone(), content))
    };
    job.files.iter().map(open).collect()
}

/// Sends the job, its files and the word to go, as fast as the network takes them. Of files that are known by their
/// digests, only those go that the executor lacks.
async fn upload(
    start: proto::Job,
    mut files: Vec<(String, File)>,
    lacks: oneshot::Receiver<BTreeSet<String>>,
    outgoing: Outgoing,
) {
    let known: BTreeSet<String> = start.known.iter().map(|file| file.name.clone()).collect();
    if outgoing.send(message(run_request::Message::Start(start))).await.is_err() {
        return;
    }
    if !known.is_empty() {
        // One that never says what it lacks gets no word to go.
        let Ok(lacking) = lacks.await else { return };
        files.retain(|(name, _)| !known.contains(name) || lacking.contains(name));
    }
    if !files.is_empty() {
        let to = outgoing.clone();
        let sent = tokio::task::spawn_blocking(move || send_files(files, &to)).await;
        // A file that cannot be read to its end leaves the job without its `go`, so that it never runs.
        if !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
    let _ = outgoing.send(message(run_request::Message::Go(proto::Go {}))).await;
}

fn send_files(files: Vec<(String, File)>, outgoing: &Outgoing) -> std::io::Result<()> {
    for (name, mut content) in files {
        let mut is_first = true;
        loop {
            let mut data = Vec::new();
            (&mut content).take(PIECE_BYTES as u64).read_to_end(&mut data)?;
            if data.is_empty() && !is_first {
                break;
            }
            is_first = false;
            let chunk = run_request::Message::File(proto::FileChunk { name: name.clone(), data });
            outgoing.blocking_send(message(chunk)).map_err(|_| std::io::ErrorKind::BrokenPipe)?;
        }
    }
    Ok(())
}

fn message(message: run_request::Message) -> proto::RunRequest {
    proto::RunRequest { message: Some(message) }
}
