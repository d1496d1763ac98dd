//! `ordain keys`: who may use a served workspace.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use ordain_server::http::Scope;
use ordain_store::{CallerKey, CallerLimits, NewKey, RowAction, Secret, Store, StoreError};
use ordain_types::{Catalog, parse_duration};
use serde_json::json;

use crate::failure::{Failure, Outcome};
use crate::show::grid::Grid;
use crate::show::line;
use crate::workspace::{Group, RecordArgs, note, with_store};

const EXAMPLES: &str = "\
Examples:
  ordain keys create --scope read,run --name shop --expires 90d
  ordain keys create --scope run --tables inventory --hide inventory.cost --actions update --rows-max 5
  ordain keys list
  ordain keys rotate 3f9c0a17be42            another secret; the old one is good for another day
  ordain keys revoke 3f9c0a17be42

A key is shown once, when it is made; only its hash is kept. A running server notices within
seconds, or at once on SIGHUP. Scopes: read looks at tables and at what the key did; run asks and
runs code; approve sees held runs and decides on them; admin does everything and sees what all
keys did. run and approve include read.";

pub(crate) type Args = Group<RecordArgs, Command>;

/// Make, list, rotate or revoke the keys of callers
#[derive(Debug, clap::Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Command {
    /// Make a key; it is shown this once
    Create {
        /// What it allows: metrics, read, run, approve, admin; several with commas between them
        #[arg(long, required = true, value_delimiter = ',', value_parser = read_scope)]
        scope: Vec<Scope>,
        /// What it is for, in words
        #[arg(long, default_value = "")]
        name: String,
        /// How long it is good, such as 90d
        #[arg(long, value_name = "TIME", value_parser = parse_duration)]
        expires: Option<Duration>,
        /// Requests a minute, instead of the server's default
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
        requests_per_minute: Option<u64>,
        /// Runs at once, instead of the server's default
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
        cells: Option<u64>,
        /// Tokens of models a day, instead of the server's default
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
        tokens_per_day: Option<u64>,
        #[command(flatten)]
        limits: LimitArgs,
    },
    /// All keys, revoked and expired ones too
    List,
    /// Give a key another secret; the one before ends after the overlap
    Rotate {
        /// The key's id
        id: String,
        /// How long the old secret stays good
        #[arg(long, value_name = "TIME", default_value = "1d", value_parser = parse_duration)]
        overlap: Duration,
    },
    /// Make a key useless
    Revoke {
        /// The key's id
        id: String,
    },
}

/// What the runs of a key may see and change.
#[derive(Debug, clap::Args)]
pub(crate) struct LimitArgs {
    /// The tables that it sees [default: all]
    #[arg(long, value_name = "TABLE", value_delimiter = ',')]
    tables: Option<Vec<String>>,
    /// Columns that it does not see
    #[arg(long, value_name = "TABLE.COLUMN", value_delimiter = ',')]
    hide: Vec<String>,
    /// What its plans may do: insert, update, remove, verbs of the workspace's `[[actions]]`, or none [default: all]
    #[arg(long, value_name = "ACTION", value_delimiter = ',')]
    actions: Option<Vec<String>>,
    /// Rows that one run of it may touch
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    rows_max: Option<u64>,
}

impl LimitArgs {
    fn limits(self, scopes: &[Scope], catalog: &Catalog) -> Result<CallerLimits, Failure> {
        let mut limits = CallerLimits {
            tables: self.tables,
            hide: self.hide,
            rows_max: self.rows_max,
            ..CallerLimits::default()
        };
        for name in self.actions.iter().flatten().map(|name| name.trim()) {
            let actions = limits.actions.get_or_insert_default();
            match RowAction::named(name) {
                Some(action) => actions.push(action),
                None if catalog.actions.iter().any(|verb| verb.name == name) => {
                    limits.verbs.push(name.to_owned());
                }
                None if name == "none" => {}
                None => return Err(unknown_action(name, catalog)),
            }
        }
        // A caller who approves other callers' runs has to see all that they change.
        if limits.is_limited() && scopes.iter().any(|scope| matches!(scope, Scope::Approve | Scope::Admin)) {
            let message = "a key with the scope `approve` or `admin` sees what others change, so that it cannot be \
                           limited to a part of the data; make two keys";
            return Err(StoreError::BadCall { message: message.to_owned() }.into());
        }
        Ok(limits)
    }
}

/// Carries out `ordain keys …`.
pub(crate) fn run(args: Args) -> Outcome {
    let workspace = args.shared.workspace.clone();
    with_store(&workspace, async |store| match args.command {
        Command::Create { scope, name, expires, requests_per_minute, cells, tokens_per_day, limits } => {
            let new = NewKey {
                limits: limits.limits(&scope, &workspace.load()?.catalog)?,
                name,
                scopes: scope.into_iter().map(|scope| scope.to_string()).collect(),
                expires_in: expires,
                requests_per_minute,
                cells,
                tokens_per_day,
            };
            show_made(&store.create_key(new, note()).await?, args.shared.json)
        }
        Command::List => list(&store, args.shared.json).await,
        Command::Rotate { id, overlap } => {
            show_made(&store.rotate_key(&id, overlap, note()).await?, args.shared.json)
        }
        Command::Revoke { id } => {
            let key = store.revoke_key(&id, note()).await?;
            let mut stdout = io::stdout().lock();
            if args.shared.json {
                writeln!(stdout, "{:#}", json!(key))?;
            } else {
                writeln!(stdout, "key {} is revoked", key.key_id)?;
            }
            Ok(ExitCode::SUCCESS)
        }
    })
}

fn show_made((key, secret): &(CallerKey, Secret), as_json: bool) -> Outcome {
    let mut stdout = io::stdout().lock();
    if as_json {
        let mut value = json!(key);
        value["secret"] = json!(secret.0);
        writeln!(stdout, "{value:#}")?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(stdout, "{}", secret.0)?;
    let until = key.expires_at.as_deref().map(|end| format!(" until {end}")).unwrap_or_default();
    let mut stderr = io::stderr().lock();
    writeln!(stderr, "key {} with {}{until}", key.key_id, key.scopes.join(", "))?;
    writeln!(stderr, "hint: keep it now, it is not shown again; callers send `Authorization: Bearer KEY`")?;
    Ok(ExitCode::SUCCESS)
}

async fn list(store: &Store, as_json: bool) -> Outcome {
    let keys = store.keys().await?;
    let now = store.timestamp();
    let mut stdout = io::stdout().lock();
    if as_json {
        writeln!(stdout, "{:#}", json!(keys))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut grid = Grid::new(["key", "name", "scopes", "state", "made", "expires", "last used"]);
    for key in &keys {
        let time = |time: &Option<String>| line(time.as_deref().unwrap_or("–"));
        grid.row([
            line(&key.key_id),
            line(&key.name),
            line(&key.scopes.join(",")),
            key.state(&now).as_str().to_owned(),
            line(&key.created_at),
            time(&key.expires_at),
            time(&key.last_used_at),
        ]);
    }
    grid.write(&mut stdout, "")?;
    if keys.is_empty() {
        writeln!(io::stderr(), "hint: `ordain keys create --scope read,run` makes the first one")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// An action that is neither done to rows nor one of the workspace's verbs.
fn unknown_action(name: &str, catalog: &Catalog) -> Failure {
    let own = catalog.actions.iter().map(|verb| verb.name.as_str());
    let known: Vec<&str> = RowAction::ALL.iter().map(|action| action.as_str()).chain(own).collect();
    let message = format!("there is no action `{}`; there are {}, and none", line(name), known.join(", "));
    StoreError::BadCall { message }.into()
}

fn read_scope(text: &str) -> Result<Scope, String> {
    text.trim().parse()
}
