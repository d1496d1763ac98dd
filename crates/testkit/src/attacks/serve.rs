//! The executor's side of a round: a [`LocalExecutor`] that runs what the runner sends.
//!
//! It decides nothing. What came of a program goes to a folder, for the runner to look at.

use std::io::{self, BufWriter, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use ordain_cell::profile::{DataDir, Profile};
use ordain_cell::{
    Discard, Execution, Executor, InputFile, Job, LocalExecutor, LocalOptions, NoHost, write_json_line,
};
use ordain_types::{Cause, Diff};
use ordain_verify::{Contract, Policy, Schema, VerifiedCode, verify};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

use super::protocol::{
    ARTIFACTS_FOLDER, Answer, DIFF_FILE, RECORD_FILE, ROLE_VARIABLE, Request, RunRequest, STDERR_FILE,
    STDOUT_FILE,
};
use super::tables;

/// The names that plans give their answer in.
const ANSWER: [&str; 6] = ["answer_text", "answer_rows", "answer_json", "STATUS", "ACTION", "result"];
/// Enough for a program, its twin and its neighbour.
const IDLE_CELLS: usize = 3;

/// Serves a round if this process was started as its executor; says whether it was.
///
/// Every program that starts a round calls this first, because the executor is the same program again.
pub fn serve_if_asked() -> Result<bool> {
    if std::env::var_os(ROLE_VARIABLE).is_none() {
        return Ok(false);
    }
    // A process that loses its parent becomes a child of this one, so that it cannot leave the family unseen.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .context("failed to adopt orphans")?;
    let socket: OwnedFd = io::stdin().as_fd().try_clone_to_owned().context("failed to take the socket")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(serve(UnixStream::from(socket)))?;
    Ok(true)
}

async fn serve(socket: UnixStream) -> Result<()> {
    socket.set_nonblocking(true)?;
    let (reader, mut writer) = tokio::net::UnixStream::from_std(socket)?.into_split();
    let mut requests = BufReader::new(reader).lines();
    let (answers, mut outgoing) = mpsc::unbounded_channel::<Answer>();
    let writing = tokio::spawn(async move {
        while let Some(answer) = outgoing.recv().await {
            let mut line = serde_json::to_vec(&answer)?;
            line.push(b'\n');
            writer.write_all(&line).await?;
        }
        anyhow::Ok(())
    });
    let Some(first) = requests.next_line().await? else { bail!("nothing was asked") };
    let Request::Start { profile, limits } = serde_json::from_str(&first)? else {
        bail!("the first request was not to start");
    };
    let executor = match start(profile, limits.limits()).await {
        Ok(executor) => Arc::new(executor),
        Err(error) => {
            answers.send(Answer::CannotStart { reason: format!("{error:#}") })?;
            drop(answers);
            return writing.await?;
        }
    };
    answers.send(Answer::Ready)?;
    while let Some(line) = requests.next_line().await? {
        let (executor, answers) = (Arc::clone(&executor), answers.clone());
        match serde_json::from_str(&line)? {
            Request::Run(request) => drop(tokio::spawn(run(executor, profile, request, answers))),
            Request::Idle { id } => drop(tokio::spawn(tell_idle(executor, profile, id, answers))),
            Request::Close => break,
            Request::Start { .. } => bail!("it was asked to start twice"),
        }
    }
    executor.close().await;
    drop(answers);
    writing.await?
}

async fn start(profile: Profile, limits: ordain_types::Limits) -> Result<LocalExecutor> {
    let options = LocalOptions { idle_cells: IDLE_CELLS, limits, ..LocalOptions::new(DataDir::from_env()?) };
    let executor = LocalExecutor::new(options)?;
    executor.warm(profile).await?;
    Ok(executor)
}

async fn run(
    executor: Arc<LocalExecutor>,
    profile: Profile,
    request: RunRequest,
    answers: mpsc::UnboundedSender<Answer>,
) {
    let id = request.id;
    // The runner is gone if it no longer listens, and then the round is over.
    let answer = |answer| drop(answers.send(answer));
    let folder = request.folder.clone();
    match execute(&executor, profile, request).await {
        Ok((execution, diff)) => {
            answer(Answer::Ended { id });
            let saved = tokio::task::spawn_blocking(move || save(&execution, &diff, &folder)).await;
            let problems = saved.unwrap_or_else(|error| vec![error.to_string()]);
            answer(Answer::Saved { id, problems });
        }
        Err(error) => answer(Answer::NotRun { id, reason: format!("{error:#}") }),
    }
}

/// Runs a program; with tables, if it names any, and then with what was done to them.
async fn execute(
    executor: &LocalExecutor,
    profile: Profile,
    request: RunRequest,
) -> Result<(Execution, Diff)> {
    let code = admit(&request.code).ok_or_else(|| anyhow!("the open contract refused it"))?;
    let mut job = Job::new(code, profile);
    job.name = request.name;
    job.limits = request.limits.limits();
    job.files = vec![InputFile { name: "input.csv".to_owned(), path: request.input }];
    job.collect = ANSWER.map(str::to_owned).to_vec();
    if !tables::are_named(&request.code) {
        return Ok((executor.run(job, &mut NoHost, &mut Discard).await?, Diff::default()));
    }
    job.tables = tables::TABLES.map(|(table, ..)| table.to_owned()).to_vec();
    let mut host = tables::Tables::begin(&request.store).await?;
    let execution = executor.run(job, &mut host, &mut Discard).await?;
    let diff = if execution.cause == Cause::Ok { host.commit().await? } else { Diff::default() };
    Ok((execution, diff))
}

/// The one place that asks the verifier, under the open contract: what it would have caught is not the question.
fn admit(code: &str) -> Option<VerifiedCode> {
    let policy = Policy::for_contract(Contract::Open);
    verify(code, &policy, &Schema::default()).into_verified()
}

async fn tell_idle(
    executor: Arc<LocalExecutor>,
    profile: Profile,
    id: u64,
    answers: mpsc::UnboundedSender<Answer>,
) {
    // A cell that is just being made is neither idle nor left over, so the pool is first let come to rest.
    if let Err(error) = executor.warm(profile).await {
        let _ = answers.send(Answer::NotRun { id, reason: error.to_string() });
        return;
    }
    let descriptors = executor.idle_processes(profile).await;
    let processes = descriptors.iter().filter_map(process_number).collect();
    let _ = answers.send(Answer::Idle { id, processes });
}

/// The number of the process that a process descriptor stands for.
fn process_number(descriptor: &OwnedFd) -> Option<u32> {
    let path = format!("/proc/self/fdinfo/{}", descriptor.as_raw_fd());
    let text = std::fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| line.strip_prefix("Pid:"))?.trim().parse().ok()
}

/// Writes everything that came of a program to its folder, and says what could not be written.
fn save(execution: &Execution, diff: &Diff, folder: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    let artifacts = folder.join(ARTIFACTS_FOLDER);
    let record = || -> io::Result<()> {
        let mut file = BufWriter::new(fs_err::File::create(folder.join(RECORD_FILE))?);
        write_json_line(&mut file, &execution.record())?;
        file.flush()
    };
    let steps = [
        ("record", record()),
        ("diff", fs_err::write(folder.join(DIFF_FILE), serde_json::json!(diff).to_string())),
        ("stdout", fs_err::write(folder.join(STDOUT_FILE), &execution.stdout)),
        ("stderr", fs_err::write(folder.join(STDERR_FILE), &execution.stderr)),
        ("artifacts folder", fs_err::create_dir(&artifacts)),
    ];
    for (what, written) in steps {
        problems.extend(written.err().map(|error| format!("the {what} could not be written: {error}")));
    }
    for artifact in &execution.artifacts {
        let saved = artifact.save(&artifacts);
        let shown = artifact.name.escape_debug();
        problems
            .extend(saved.err().map(|error| format!("the artifact `{shown}` could not be saved: {error}")));
    }
    problems
}
