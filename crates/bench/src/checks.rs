//! `cargo xtask bench checks`: whole runs of checks, beside other tools with the same checks on the same file.

mod sides;
mod table;

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::setup;
use anyhow::{Context as _, ensure};
use ordain_cell::profile::{Installed, Profile};
use serde_json::{Map, Value, json};

use crate::cells::commands::Commands;
use crate::progress;
use crate::sample::rounded;

use sides::{Judged, Took};

/// How to get the other tools.
const NO_PEERS: &str = "without Great Expectations and pandera; to compare with them: \
     python3 -m venv peers && peers/bin/pip install great_expectations pandera pandas pyarrow, then --peers peers/bin/python";

/// How checks are measured
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Fewer checks, rows and rounds
    #[arg(long)]
    quick: bool,
    /// Also judge 20,000,000 rows in a cell of 512 MiB, beside DuckDB alone (3 GB of disk, some minutes)
    #[arg(long)]
    large: bool,
    /// Checks that run at once
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// A Python that has `great_expectations` and `pandera`
    #[arg(long, value_name = "PYTHON")]
    peers: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Our sides: with the helper that commands usually have, and alone.
const OURS: [&str; 2] = ["Ordain", "Ordain, no helper"];

/// What one side took.
struct Side {
    name: &'static str,
    /// From the file alone.
    first: Took,
    /// With the table kept, and our compiled code; other tools keep none.
    kept: Option<Took>,
}

/// What a case compares.
struct Case {
    name: String,
    checks: Vec<Value>,
    rows: usize,
    memory: &'static str,
    rounds: usize,
    peers: Vec<Peer>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Peer {
    Plain,
    Expectations,
    Pandera,
    DuckDb,
}

impl Peer {
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain Python",
            Self::Expectations => "Great Expectations",
            Self::Pandera => "pandera",
            Self::DuckDb => "DuckDB alone",
        }
    }
}

/// Carries out `cargo xtask bench checks`.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let data = setup::python(Profile::Data)?;
    if let Some(peers) = &args.peers {
        check_peers(peers)?;
    } else {
        progress(NO_PEERS);
    }
    let mut measured = Vec::new();
    for case in cases(args) {
        progress(&format!("{} …", case.name));
        let sides = measure(&case, args, &data)?;
        measured.push((case.name, sides));
    }
    if args.json { print_json(&measured) } else { print_table(&measured) }?;
    Ok(())
}

/// A workspace with many checks of one small table.
pub(crate) fn lay_out(folder: &Path, checks: usize, rows: usize) -> anyhow::Result<()> {
    table::lay_out(folder, &table::many_checks(checks), rows, "1GiB")
}

fn cases(args: &Args) -> Vec<Case> {
    let (many, rows, rounds) = if args.quick { (100, 20_000, 1) } else { (1000, 1_000_000, 3) };
    let mut tools = vec![Peer::Plain];
    if args.peers.is_some() {
        tools.extend([Peer::Expectations, Peer::Pandera]);
    }
    let case = |name, checks, rows, memory, rounds, peers| Case { name, checks, rows, memory, rounds, peers };
    let small = (format!("{many} checks, 100 rows"), table::many_checks(many));
    let mut cases = vec![
        case(small.0, small.1, 100, "1GiB", rounds, vec![Peer::Plain]),
        case(format!("20 checks, {rows} rows"), table::equal_checks(), rows, "1GiB", rounds, tools),
    ];
    if args.large {
        let (checks, rows) = (table::large_checks(), 20_000_000);
        let name = format!("{} checks, {rows} rows, 512 MiB", checks.len());
        cases.push(case(name, checks, rows, "512MiB", 1, vec![Peer::DuckDb]));
    }
    cases
}

fn measure(case: &Case, args: &Args, data: &Installed) -> anyhow::Result<Vec<Side>> {
    let folder = tempfile::tempdir()?;
    table::lay_out(folder.path(), &case.checks, case.rows, case.memory)?;
    let file = folder.path().join("data/orders.csv");
    let mut sides: Vec<Side> = Vec::new();
    let helper = Commands::new()?;
    helper.exec(Profile::Data, "import pandas\n")?;
    // One side after the other in each round, so that whatever else the machine does hits all alike.
    for _ in 0..case.rounds {
        let mut judged = None;
        for (name, helper) in OURS.into_iter().zip([Some(&helper), None]) {
            remove(&folder.path().join(".ordain"))?;
            let (first, codes) = sides::ours(folder.path(), args.jobs, helper)?;
            let (kept, _) = sides::ours(folder.path(), args.jobs, helper)?;
            ensure!(first.passes == kept.passes, "two runs of the same checks disagree");
            note(&mut sides, name, first.took, Some(kept.took));
            judged = Some((first, codes));
        }
        let (first, codes) = judged.context("there was no run of ours")?;
        for peer in &case.peers {
            let judge = || match peer {
                Peer::Plain => sides::plain(data, &file, &codes),
                Peer::DuckDb => sides::tool(&mut sides::interpreter(data), "duckdb", &file, &case.checks),
                Peer::Expectations => sides::tool(&mut python_of(args)?, "gx", &file, &case.checks),
                Peer::Pandera => sides::tool(&mut python_of(args)?, "pandera", &file, &case.checks),
            };
            let theirs = judge()?;
            agree(&first, &theirs, peer.name(), &case.checks)?;
            let again = (*peer == Peer::DuckDb).then(judge).transpose()?;
            note(&mut sides, peer.name(), theirs.took, again.map(|again| again.took));
        }
    }
    Ok(sides)
}

/// Keeps the best of all rounds.
fn note(sides: &mut Vec<Side>, name: &'static str, first: Took, kept: Option<Took>) {
    match sides.iter_mut().find(|side| side.name == name) {
        None => sides.push(Side { name, first, kept }),
        Some(side) => {
            side.first = side.first.best(first);
            side.kept = side.kept.zip(kept).map(|(best, kept)| best.best(kept));
        }
    }
}

fn agree(ours: &Judged, theirs: &Judged, name: &str, checks: &[Value]) -> anyhow::Result<()> {
    ensure!(ours.passes.len() == theirs.passes.len(), "{name} judged {} checks", theirs.passes.len());
    let differs = ours.passes.iter().zip(&theirs.passes).position(|(ours, theirs)| ours != theirs);
    if let Some(at) = differs {
        anyhow::bail!("Ordain and {name} do not agree on {}: Ordain says {}", checks[at], ours.passes[at]);
    }
    Ok(())
}

fn python_of(args: &Args) -> anyhow::Result<Command> {
    args.peers.as_ref().map(Command::new).context("there is no Python with other tools")
}

fn check_peers(python: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(python);
    command.args(["-c", "import great_expectations, pandera.pandas"]).stdin(Stdio::null());
    let output = command.output().with_context(|| format!("cannot start {}", python.display()))?;
    ensure!(
        output.status.success(),
        "{} lacks Great Expectations or pandera: {} -m pip install great_expectations pandera pandas pyarrow",
        python.display(),
        python.display()
    );
    Ok(())
}

fn remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn print_json(measured: &[(String, Vec<Side>)]) -> io::Result<()> {
    let took = |took: Took| json!({"wall_ms": rounded(took.wall_ms), "cpu_ms": rounded(took.cpu_ms)});
    let side =
        |side: &Side| (side.name.to_owned(), json!({"first": took(side.first), "kept": side.kept.map(took)}));
    let cases: Vec<Value> = measured
        .iter()
        .map(|(name, sides)| json!({"case": name, "sides": sides.iter().map(side).collect::<Map<_, _>>()}))
        .collect();
    writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&cases).map_err(io::Error::from)?)
}

fn print_table(measured: &[(String, Vec<Side>)]) -> io::Result<()> {
    let mut text = String::new();
    for (name, sides) in measured {
        let _ = writeln!(text, "{name}");
        for side in sides {
            let _ = writeln!(text, "  {:<20}{}", side.name, seconds(side));
        }
        let (ours, peers) = sides.split_at(OURS.len().min(sides.len()));
        for (ours, peer) in ours.iter().flat_map(|ours| peers.iter().map(move |peer| (ours, peer))) {
            let _ = writeln!(text, "  {} takes {} of {}", ours.name, ratios(ours, peer), peer.name);
        }
    }
    io::stdout().lock().write_all(text.as_bytes())
}

fn seconds(side: &Side) -> String {
    let said = |took: Took| format!("{:>7.2} s, CPU {:>6.2} s", took.wall_ms / 1e3, took.cpu_ms / 1e3);
    let kept = side.kept.map(|kept| format!("; with the table kept {}", said(kept)));
    said(side.first) + &kept.unwrap_or_default()
}

/// What we take of what another side takes. One that keeps nothing is compared with both of our runs.
fn ratios(ours: &Side, peer: &Side) -> String {
    let said = |ours: Took, theirs: Took| {
        format!("{:.2}× (CPU {:.2}×)", ours.wall_ms / theirs.wall_ms, ours.cpu_ms / theirs.cpu_ms)
    };
    let kept = ours.kept.map(|kept| said(kept, peer.kept.unwrap_or(peer.first)));
    format!("{}, with the table kept {}", said(ours.first, peer.first), kept.unwrap_or_default())
}
