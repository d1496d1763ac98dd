//! Makes a workspace of a PostgreSQL database whose tables stay where they are.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::ExitCode;

use ordain_files::open_store;
use ordain_workspace::{TrustList, Workspace, init};
use serde_json::json;

use super::Args;
use super::from::{is_taken, made_or_removed, name_of};
use crate::commands::{check, tables};
use crate::failure::{Failure, Outcome};
use crate::runtime;

/// Whether `--from` names a database.
pub(super) fn is_address(from: &[String]) -> bool {
    matches!(from, [url] if url.starts_with("postgres://") || url.starts_with("postgresql://"))
}

/// Carries out `ordain init DIR --from postgres://…`. The address, with the password that may be in it, goes into `.env`,
/// which its owner alone reads.
pub(super) fn run(args: &Args) -> Outcome {
    if is_taken(&args.folder)? {
        let problem = format!("`{}` is not empty, so nothing was written there", args.folder.display());
        return Err(Failure::usage(problem, "choose a new folder; it would have got ordain.toml and .env"));
    }
    let question = "Ordain keeps its records in a schema `ordain` of that database; your tables stay as they are. Go on?";
    if !args.yes && (args.json || !check::asks(question)?) {
        return Err(Failure::usage("nothing was written", "say --yes if Ordain may make its schema there"));
    }
    let found = made_or_removed(&args.folder, || {
        init(&args.folder, None)?;
        let mut secrets = OpenOptions::new();
        secrets.create_new(true).write(true).mode(0o600);
        let setting = format!("ORDAIN_STORE_URL={}\n", args.from.concat());
        secrets.open(args.folder.join(".env"))?.write_all(setting.as_bytes())?;
        fs_err::write(args.folder.join(".gitignore"), ".ordain/\n.env\n")?;
        let name = json!(name_of(&args.folder));
        let about = "# Tables, keys, references and types are the database's own; say here what they mean.";
        fs_err::write(args.folder.join("ordain.toml"), format!("[workspace]\nname = {name}\n\n{about}\n"))?;
        // Who gives the address accepts it.
        TrustList::own()?.add(Workspace::asks_to_accept(&args.folder)?)?;
        runtime::on_one_thread(Box::pin(async {
            let store = open_store(&Workspace::load(&args.folder)?).await?;
            Ok::<_, Failure>(store.tables().await?)
        }))?
    })?;
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{:#}", json!({ "workspace": args.folder, "tables": found, "written": true }))?;
        return Ok(ExitCode::SUCCESS);
    }
    tables::list(&mut out, &found)?;
    writeln!(io::stderr(), "next: cd {} && ordain tables NAME", args.folder.display())?;
    Ok(ExitCode::SUCCESS)
}
