//! `ordain ledger`: the record of everything, and whether it is whole.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use ordain_store::{LedgerEntry, LedgerReport, Store};
use serde_json::{Value, json};

use crate::failure::{FAILED, Failure, Outcome};
use crate::show::grid::Grid;
use crate::show::{cut, line, lines};
use crate::workspace::{Group, PageArgs, RecordArgs, note, with_ledger};

const EXAMPLES: &str = "\
Examples:
  ordain ledger list                        the newest entries
  ordain ledger show 12                     one entry, whole
  ordain ledger verify                      find an edited, removed, moved or cut-off entry
  ordain ledger verify --rows               also find rows and records that were changed behind Ordain's back
  ordain ledger accept-restore --reason 'disk failed, copy of Monday'
  ordain ledger export > ledger.jsonl       every entry, and a signed checkpoint at the end

Exit code of verify: 0 if the ledger is whole, 1 if not.";

/// Entries that an export reads at once.
const PAGE: u64 = 200;

pub(crate) type Args = Group<RecordArgs, Command>;

/// List, show, check or export the ledger
#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    /// The newest entries
    List {
        #[command(flatten)]
        page: PageArgs,
    },
    /// One entry
    Show {
        /// Its number
        seq: u64,
    },
    /// Check every link and signature
    Verify {
        /// Check also that the rows are those of the last change, and the records those of their entries
        #[arg(long)]
        rows: bool,
    },
    /// Go on with the database as it is, after a restore from a copy; the reason is recorded
    AcceptRestore {
        /// Why the database is older than its checkpoint
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Every entry in order, one JSON object a line
    Export {
        /// The only format there is
        #[arg(long, value_parser = ["jsonl"], default_value = "jsonl")]
        format: String,
        /// Write to a file instead of stdout
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// Carries out `ordain ledger`.
pub(crate) fn run(args: Args) -> Outcome {
    let workspace = args.shared.workspace.clone();
    with_ledger(&workspace, async |store| match args.command {
        Command::List { page } => list(&store, page.limit, args.shared.json).await,
        Command::Show { seq } => show(&store, seq, args.shared.json).await,
        Command::Verify { rows } => verify(&store, rows, args.shared.json).await,
        Command::AcceptRestore { reason } => accept(&store, &reason).await,
        Command::Export { output: None, .. } => export(&store, &mut io::stdout().lock()).await,
        Command::Export { output: Some(path), .. } => {
            let mut file = io::BufWriter::new(fs_err::File::create(&path)?);
            let code = export(&store, &mut file).await?;
            file.flush()?;
            Ok(code)
        }
    })
}

async fn list(store: &Store, limit: u64, as_json: bool) -> Outcome {
    let entries = store.newest_entries(u64::MAX, limit).await?;
    let mut stdout = io::stdout().lock();
    if as_json {
        writeln!(stdout, "{}", serde_json::to_string_pretty(&entries).map_err(io::Error::from)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut grid = Grid::new(["entry", "at", "kind", "run", "who", "through", "hash"]);
    for entry in &entries {
        let body = body(entry);
        let text = |name: &str| line(body[name].as_str().unwrap_or_default());
        grid.row([
            entry.seq.to_string(),
            line(&entry.at),
            line(&entry.kind),
            line(entry.run_id.as_deref().unwrap_or_default()),
            text("who"),
            text("through"),
            cut(&line(&entry.hash), 13),
        ]);
    }
    grid.write(&mut stdout, "")?;
    Ok(ExitCode::SUCCESS)
}

async fn show(store: &Store, seq: u64, as_json: bool) -> Outcome {
    let found = store.ledger_entries(seq.saturating_sub(1), 1).await?;
    let Some(entry) = found.first().filter(|entry| entry.seq == seq) else {
        return Err(Failure::usage(
            format!("there is no entry {seq}"),
            "`ordain ledger list` shows the newest ones",
        ));
    };
    let mut stdout = io::stdout().lock();
    if as_json {
        writeln!(stdout, "{}", serde_json::to_string_pretty(entry).map_err(io::Error::from)?)?;
    } else {
        writeln!(
            stdout,
            "entry     {}\nhash      {}\nprevious  {}",
            entry.seq,
            line(&entry.hash),
            line(&entry.previous)
        )?;
        writeln!(stdout, "{}", lines(&format!("{:#}", body(entry))))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn verify(store: &Store, rows: bool, as_json: bool) -> Outcome {
    let report = if rows { store.verify_rows().await? } else { store.verify_ledger().await? };
    let mut stdout = io::stdout().lock();
    if as_json {
        let mut value = serde_json::to_value(&report).map_err(io::Error::from)?;
        value["whole"] = json!(report.is_whole());
        writeln!(stdout, "{value:#}")?;
    } else {
        write_report(&mut stdout, &report)?;
        if !rows {
            writeln!(stdout, "rows and records were not looked at; `ordain ledger verify --rows` does")?;
        }
    }
    Ok(if report.is_whole() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

async fn accept(store: &Store, reason: &str) -> Outcome {
    let checkpoint = store.accept_restore(reason, note()).await?;
    writeln!(io::stdout(), "accepted: the ledger goes on with entry {}", checkpoint.seq)?;
    Ok(ExitCode::SUCCESS)
}

fn write_report(out: &mut impl Write, report: &LedgerReport) -> io::Result<()> {
    if report.is_whole() {
        let head = report.head.as_deref().map(|head| format!(", head {}", cut(head, 13))).unwrap_or_default();
        for seq in &report.accepted {
            writeln!(
                out,
                "entry {seq}: another end of the ledger was accepted here; `ordain ledger show {seq}`"
            )?;
        }
        return writeln!(out, "the ledger is whole: {} entries{head}", report.entries);
    }
    for finding in &report.findings {
        let place = finding.seq.map(|seq| format!("entry {seq}: ")).unwrap_or_default();
        writeln!(out, "{}: {place}{}", finding.code, line(&finding.message))?;
    }
    writeln!(out, "the ledger is not whole: {} findings in {} entries", report.findings.len(), report.entries)
}

async fn export(store: &Store, out: &mut impl Write) -> Outcome {
    let mut last = 0;
    loop {
        let entries = store.ledger_entries(last, PAGE).await?;
        for entry in &entries {
            writeln!(out, "{}", serde_json::to_string(entry).map_err(io::Error::from)?)?;
            last = entry.seq;
        }
        if entries.is_empty() {
            break;
        }
    }
    if let Some(checkpoint) = store.checkpoint().await? {
        writeln!(out, "{}", json!({ "checkpoint": checkpoint }))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn body(entry: &LedgerEntry) -> Value {
    serde_json::from_str(entry.body.get()).unwrap_or_default()
}
