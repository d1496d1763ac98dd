//! Reads programs from standard input, one after the other, and runs them in one session.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use ordain_cell::{Executor, LocalExecutor};

use super::{Args, Program, run_one};
use crate::failure::{self, UNAVAILABLE};

/// Runs what is typed until the input ends. A block (a line that ends in `:` or `\`, or an open bracket) goes on
/// until an empty line.
pub(super) async fn run(args: &Args, executor: &LocalExecutor) -> ExitCode {
    let is_terminal = io::stdin().is_terminal();
    if is_terminal {
        say("type Python; an empty line ends a block, Ctrl-D ends the session\n");
    }
    let mut number = 0;
    loop {
        number += 1;
        let Some(code) = read_block(is_terminal).await else { break };
        if code.trim().is_empty() {
            continue;
        }
        let program = Program { name: format!("input-{number}.py"), code: code.into_bytes() };
        if let Err(error) = run_one(args, executor, program).await {
            failure::of_cell(&error);
            return ExitCode::from(UNAVAILABLE);
        }
    }
    if let Some(name) = &args.session {
        executor.end_session(name).await;
    }
    ExitCode::SUCCESS
}

fn say(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

/// The next block, read on a thread of its own so that Ctrl-C is still heard.
async fn read_block(is_terminal: bool) -> Option<String> {
    tokio::task::spawn_blocking(move || {
        let mut code = String::new();
        loop {
            if is_terminal {
                say(if code.is_empty() { ">>> " } else { "... " });
            }
            let mut line = String::new();
            let length = io::stdin().lock().read_line(&mut line).ok()?;
            if length == 0 {
                return (!code.is_empty()).then_some(code);
            }
            let is_blank = line.trim().is_empty();
            code.push_str(&line);
            if is_blank || !goes_on(&code) {
                return Some(code);
            }
        }
    })
    .await
    .ok()
    .flatten()
}

/// Whether more lines belong to this block.
fn goes_on(code: &str) -> bool {
    let has_block = code.lines().any(|line| line.trim_end().ends_with(':'));
    let is_continued = code.trim_end_matches('\n').ends_with('\\');
    let count = |opening: &[char]| code.matches(opening).count();
    has_block || is_continued || count(&['(', '[', '{']) > count(&[')', ']', '}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_goes_on_until_it_can_end() {
        assert!(!goes_on("x = 1\n"));
        assert!(goes_on("for i in range(3):\n"));
        assert!(goes_on("for i in range(3):\n    print(i)\n"));
        assert!(goes_on("x = [1,\n"));
        assert!(!goes_on("x = [1,\n2]\n"));
        assert!(goes_on("x = 1 + \\\n"));
    }
}
