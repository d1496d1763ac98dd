//! Reads programs from standard input, one after the other, and runs them in one session.

use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::process::ExitCode;

use ordain_cell::Executor as _;

use super::{Args, ExecContext, Program, run_one};

use crate::failure::{FAILED, Failure, Outcome};

/// The longest block that is read.
const BLOCK_BYTES_MAX: u64 = 1 << 20;

/// Runs what is typed until the input ends. A block (a line that ends in `:` or `\`, or an open bracket) goes on
/// until an empty line. At a terminal a program that fails is the user's to see; otherwise it shows in the exit code.
pub(super) async fn run(args: &Args, context: &ExecContext) -> Outcome {
    let is_terminal = io::stdin().is_terminal();
    if is_terminal {
        say("type Python; an empty line ends a block, Ctrl-D ends the session\n");
    }
    let mut has_failed = false;
    let mut number = 0;
    loop {
        number += 1;
        let code = match read_block(is_terminal).await {
            Ok(Some(code)) => code,
            Ok(None) => break,
            Err(error) => {
                return Err(Failure::usage(
                    format!("cannot read the input: {error}"),
                    "type Python in UTF-8",
                ));
            }
        };
        if code.trim().is_empty() {
            continue;
        }
        let program = Program { name: format!("input-{number}.py"), code: code.into_bytes() };
        has_failed |= !run_one(args, context, program).await?;
    }
    if let Some(name) = &args.session {
        context.executor.end_session(name).await;
    }
    Ok(if has_failed && !is_terminal { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

fn say(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

/// The next block, read on a thread of its own so that Ctrl-C is still heard. `None` when the input has ended.
async fn read_block(is_terminal: bool) -> io::Result<Option<String>> {
    let read = tokio::task::spawn_blocking(move || {
        let mut code = String::new();
        loop {
            if is_terminal {
                say(if code.is_empty() { ">>> " } else { "... " });
            }
            let room = BLOCK_BYTES_MAX + 1 - code.len() as u64;
            let length = io::stdin().lock().take(room).read_line(&mut code)?;
            if code.len() as u64 > BLOCK_BYTES_MAX {
                let limit = ordain_types::format_bytes(BLOCK_BYTES_MAX);
                return Err(io::Error::other(format!("a block is larger than {limit}")));
            }
            if length == 0 {
                return Ok((!code.is_empty()).then_some(code));
            }
            let is_blank = code[code.len() - length..].trim().is_empty();
            if is_blank || !goes_on(&code) {
                return Ok(Some(code));
            }
        }
    });
    read.await.unwrap_or(Ok(None))
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
