//! The part of the tour that shows what hostile code cannot do.

use std::time::Duration;

use anyhow::Context;
use ordain_cell::profile::Profile;
use ordain_cell::{Discard, Execution, Executor, Job, LocalExecutor, NoHost};
use ordain_verify::Contract;

use super::stage::{self, Stage};
use crate::verification;

const ATTEMPTS: &str = "\
import os
for attempt in ('read /etc/shadow', 'start a process', 'write outside'):
    try:
        if attempt == 'read /etc/shadow': open('/etc/shadow')
        elif attempt == 'start a process': os.fork()
        else: open('/usr/lib/x', 'w')
    except OSError as error:
        print(f'{attempt}: {error.strerror}')
";

const REFUSED: &str = "import subprocess\nsubprocess.run(['curl', 'http://example.com'])\n";

/// Runs what the jail stops, and shows what the verifier stops before it runs.
pub(super) async fn tour(executor: &LocalExecutor, stage: &mut Stage) -> anyhow::Result<()> {
    stage.scene("Plan code is taken as hostile: the verifier refuses what no plan needs")?;
    stage.code(REFUSED)?;
    let verdict = verification::judge(REFUSED.as_bytes(), Contract::Exec, Profile::Core);
    for finding in &verdict.findings {
        stage::line(&format!("line {}: {} [{}]", finding.line, finding.message, finding.code))?;
    }
    stage.scene(
        "And the jail holds what gets past it: namespaces, seccomp, Landlock, limits, one job a cell",
    )?;
    stage.code(ATTEMPTS)?;
    let execution = run(executor, ATTEMPTS).await?;
    for line in String::from_utf8_lossy(&execution.stdout).lines() {
        stage::line(line)?;
    }
    ended(&execution)?;
    let execution = run(executor, "while True:\n    pass\n").await?;
    stage::line("")?;
    stage::line("while True: pass")?;
    ended(&execution)
}

async fn run(executor: &LocalExecutor, code: &str) -> anyhow::Result<Execution> {
    let verdict = verification::judge(code.as_bytes(), Contract::Open, Profile::Core);
    let code = verdict.into_verified().context("a program of the tour was refused")?;
    let mut job = Job::new(code, Profile::Core);
    job.limits.wall = Duration::from_secs(1);
    job.limits.memory_bytes = 64 << 20;
    Ok(executor.run(job, &mut NoHost, &mut Discard).await?)
}

fn ended(execution: &Execution) -> anyhow::Result<()> {
    let detail = execution.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
    let millis = execution.timing.run.as_secs_f64() * 1e3;
    let isolation = execution.isolation;
    stage::line(&format!("→ {}{detail} ({millis:.1} ms, isolation {isolation})", execution.cause))?;
    Ok(())
}
