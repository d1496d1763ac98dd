//! `ordain ui`: opens the web UI, and serves the workspace unless somebody does already.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use ordain_server::Address;

use crate::commands::serve;
use crate::failure::Outcome;

const EXAMPLES: &str = "\
Examples:
  ordain ui                             in the browser, on http://127.0.0.1:8000
  ordain ui --listen 127.0.0.1:0        on a free port
  ordain ui --no-browser                prints the address instead

It takes what `ordain serve` takes. Where the workspace is served already, that server is opened.";

/// Open the web UI in a browser
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[group(id = "ui")]
pub(crate) struct Args {
    #[command(flatten)]
    serve: serve::Args,
    /// Say where it is, and open nothing
    #[arg(long)]
    no_browser: bool,
}

/// Carries out `ordain ui`.
pub(crate) fn run(args: &Args) -> Outcome {
    serve::run_and(&args.serve, Some(if args.no_browser { tell } else { open }))
}

fn tell(address: &Address) {
    let _ = writeln!(io::stderr(), "the web UI is on {}/", address.url());
}

/// Opens the browser that the system prefers. Where there is none the address is said.
fn open(address: &Address) {
    // Browsers know no sockets in folders.
    let Address::Tcp(_) = address else { return tell(address) };
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(opener);
    command
        .arg(format!("{}/", address.url()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if command.spawn().is_err() {
        tell(address);
    }
}
