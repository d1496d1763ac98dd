//! `ordain demo`: a guided tour, offline, in which every step is really run.

mod shop;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use ordain_cell::profile::{DataDir, Profile};
use ordain_cell::{CellError, Discard, Execution, Executor, Job, LocalExecutor, LocalOptions, NoHost};
use ordain_verify::Contract;

use crate::commands::python;
use crate::failure;
use crate::verification;

/// Show, in a few seconds, what Ordain does
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// One program of the tour.
struct Scene {
    title: &'static str,
    code: &'static str,
}

const SCENES: [Scene; 4] = [
    Scene {
        title: "A program runs in a cell: real CPython, its own namespaces, no network, one job and gone",
        code: "\
import statistics
prices = [60, 80, 75, 120]
print('mean price', statistics.mean(prices))
(artifacts / 'prices.csv').write_text('price\\n' + '\\n'.join(map(str, prices)))
",
    },
    Scene {
        title: "What it may not do is refused by the kernel, as an exception it can catch",
        code: "\
import os
for attempt in ('read /etc/shadow', 'fork a process', 'write outside'):
    try:
        if attempt == 'read /etc/shadow': open('/etc/shadow')
        elif attempt == 'fork a process': os.fork()
        else: open('/usr/lib/x', 'w')
    except OSError as error:
        print(f'{attempt}: {error.strerror}')
",
    },
    Scene {
        title: "A limit is hit: the cell is ended and the cause is named",
        code: "while True:\n    pass\n",
    },
    Scene { title: "Memory is a limit too", code: "rows = ['x' * 1_000_000 for _ in range(100_000)]\n" },
];

/// A program that the verifier stops.
const REFUSED: Scene = Scene {
    title: "Some programs are refused before they run, with what to do instead",
    code: "import subprocess\nsubprocess.run(['curl', 'http://example.com'])\n",
};

/// Carries out `ordain demo`.
pub(crate) fn run(_args: &Args) -> anyhow::Result<ExitCode> {
    if let Err(error) = python::ensure(Profile::Core) {
        return Ok(python::report(&error));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match tour().await {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => match error.downcast::<CellError>() {
                Ok(error) => Ok(failure::of_cell(&error)),
                Err(error) => Err(error),
            },
        }
    })
}

async fn tour() -> anyhow::Result<()> {
    let executor = Arc::new(LocalExecutor::new(LocalOptions::new(DataDir::from_env()?))?);
    executor.warm(Profile::Core).await?;
    for (number, scene) in (1..).zip(&SCENES) {
        show_code(number, scene.title, scene.code)?;
        let execution = run_scene(&executor, scene).await?;
        show_outcome(&execution)?;
    }
    show_code(SCENES.len() + 1, REFUSED.title, REFUSED.code)?;
    show_refusal(&REFUSED)?;
    shop::tour(Arc::clone(&executor), SCENES.len() + 1).await?;
    executor.close().await;
    writeln!(
        io::stdout(),
        "\nTry next:\n  \
         ordain init --example sunglasses shop && cd shop && ordain tables\n  \
         echo 'print(sum(range(10)))' | ordain exec -\n  \
         ordain bench cells --quick       how quick a cell is, beside python3 and bubblewrap"
    )?;
    Ok(())
}

fn show_code(number: usize, title: &str, code: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "\n{number}. {title}\n")?;
    for line in code.lines() {
        writeln!(out, "     │ {line}")?;
    }
    Ok(())
}

async fn run_scene(executor: &LocalExecutor, scene: &Scene) -> anyhow::Result<Execution> {
    let verdict = verification::judge(scene.code.as_bytes(), Contract::Open, Profile::Core);
    let code = verdict.into_verified().context("a program of the tour was refused")?;
    let mut job = Job::new(code, Profile::Core);
    job.limits.wall = Duration::from_secs(1);
    job.limits.memory_bytes = 64 << 20;
    Ok(executor.run(job, &mut NoHost, &mut Discard).await?)
}

fn show_outcome(execution: &Execution) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in String::from_utf8_lossy(&execution.stdout).lines() {
        writeln!(out, "     {line}")?;
    }
    for artifact in &execution.artifacts {
        writeln!(out, "     artifact {} ({} bytes, {})", artifact.name, artifact.bytes, artifact.media_type)?;
    }
    let detail = execution.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
    let millis = execution.timing.run.as_secs_f64() * 1e3;
    writeln!(out, "     → {}{detail} ({millis:.1} ms, isolation {})", execution.cause, execution.isolation)
}

fn show_refusal(scene: &Scene) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let verdict = verification::judge(scene.code.as_bytes(), Contract::Exec, Profile::Core);
    for finding in &verdict.findings {
        writeln!(out, "     line {}: {} [{}]", finding.line, finding.message, finding.code)?;
        if let Some(hint) = &finding.hint {
            writeln!(out, "     hint: {hint}")?;
        }
    }
    writeln!(out, "     → rejected, nothing ran")
}
