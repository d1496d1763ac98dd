//! A server as a child process: one JSON message a line, over its stdin and stdout.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::pipe::{Receiver, Sender};

use crate::session::{ANSWER_BYTES_MAX, Message, WireError, answers, too_large};

/// Lines that are no answer before the server counts as broken.
const OTHER_LINES_MAX: usize = 1_000;

/// A server's process. It ends with this.
#[derive(Debug)]
pub(crate) struct StdioWire {
    child: Child,
    stdin: Sender,
    stdout: BufReader<Receiver>,
}

impl Drop for StdioWire {
    fn drop(&mut self) {
        // A process that was killed is gone in a moment; waiting for it leaves nothing behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl StdioWire {
    /// Starts a program in a folder, with no other environment than what is given.
    pub(crate) fn start(
        command: &[String],
        secrets: &[(String, String)],
        folder: &Path,
    ) -> Result<Self, WireError> {
        let failed = |error: std::io::Error| WireError::NotSent(format!("`{}`: {error}", command[0]));
        let mut child = Command::new(&command[0]);
        child.args(&command[1..]).current_dir(folder).env_clear();
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let usual = ["PATH", "HOME"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        child.envs(usual).envs(secrets.iter().map(|(name, value)| (name, value)));
        let mut child = child.spawn().map_err(failed)?;
        let mut pipes = || -> std::io::Result<(Sender, Receiver)> {
            let missing = || std::io::Error::other("it has no pipes");
            let stdin = OwnedFd::from(child.stdin.take().ok_or_else(missing)?);
            let stdout = OwnedFd::from(child.stdout.take().ok_or_else(missing)?);
            Ok((Sender::from_owned_fd(stdin)?, Receiver::from_owned_fd(stdout)?))
        };
        match pipes() {
            Ok((stdin, stdout)) => Ok(Self { child, stdin, stdout: BufReader::new(stdout) }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(failed(error))
            }
        }
    }

    pub(crate) async fn exchange(&mut self, message: &Message<'_>) -> Result<Value, WireError> {
        self.write(&message.body).await?;
        if message.id.is_none() {
            return Ok(Value::Null);
        }
        for _ in 0..OTHER_LINES_MAX {
            // A line that is no message is something that the server prints.
            let Ok(mut found) = serde_json::from_slice::<Value>(&self.line().await?) else { continue };
            if answers(&found, message.id) {
                return Ok(found);
            }
            if found.get("method").is_some() && found.get("id").is_some() {
                let answer = json!({ "jsonrpc": "2.0", "id": found["id"].take(),
                    "error": { "code": -32601, "message": "this client answers no requests" } });
                self.write(&answer).await?;
            }
        }
        Err(WireError::NoAnswer(format!("it sent {OTHER_LINES_MAX} lines and no answer")))
    }

    async fn write(&mut self, message: &Value) -> Result<(), WireError> {
        let line = format!("{message}\n");
        let written = async {
            self.stdin.write_all(line.as_bytes()).await?;
            self.stdin.flush().await
        };
        written.await.map_err(|error| WireError::NotSent(format!("it has ended ({error})")))
    }

    async fn line(&mut self) -> Result<Vec<u8>, WireError> {
        let mut line = Vec::new();
        let mut bounded = (&mut self.stdout).take(ANSWER_BYTES_MAX as u64 + 1);
        let read = bounded.read_until(b'\n', &mut line).await;
        match read {
            Ok(0) => Err(WireError::NoAnswer("it ended without an answer".to_owned())),
            Ok(_) if line.len() > ANSWER_BYTES_MAX => Err(too_large()),
            Ok(_) => Ok(line),
            Err(error) => Err(WireError::NoAnswer(error.to_string())),
        }
    }
}
