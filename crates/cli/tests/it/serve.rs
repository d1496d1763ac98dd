//! A running `ordain serve`, the real binary, and a client for it that needs no library.

use std::io::{BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::command::{Running, ordain, run};
use crate::executor::{BUY_ONE, Shop};

/// A running server.
pub(crate) struct Server {
    pub(crate) running: Running,
    pub(crate) address: String,
    log: std::fs::File,
}

/// What it answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl Server {
    /// Serves a workspace on a free port. Its log is shown if it does not start, unless `change` sends it elsewhere.
    pub(crate) fn start(workspace: &str, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Self {
        let mut command = ordain(["serve", "--listen", "127.0.0.1:0", "--json"]);
        command.env("ORDAIN_MODEL", "rules");
        let mut log = tempfile::tempfile().unwrap();
        command.args(["--workspace", workspace]).args(arguments).stderr(log.try_clone().unwrap());
        change(&mut command);
        let mut running = Running::start(command);
        let mut line = String::new();
        BufReader::new(running.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|error| {
            let mut said = String::new();
            log.rewind().and_then(|()| log.read_to_string(&mut said)).unwrap();
            panic!("{error}: {line}{said}")
        });
        Self { running, address: told["listen"].as_str().unwrap().to_owned(), log }
    }

    /// What it has logged so far, unless its log was sent elsewhere.
    pub(crate) fn logged(&self) -> String {
        let mut text = vec![0; usize::try_from(self.log.metadata().unwrap().len()).unwrap()];
        // The server writes to the same place, which must not move.
        std::os::unix::fs::FileExt::read_exact_at(&self.log, &mut text, 0).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        send(&self.address, &format!("GET {path} HTTP/1.1\r\n"), "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        send(
            &self.address,
            &format!("POST {path} HTTP/1.1\r\nContent-Type: application/json\r\n"),
            &body.to_string(),
        )
    }
}

/// Sends a request on a connection of its own, and reads to the end of the answer.
pub(crate) fn send(address: &str, head: &str, body: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(stream, "{head}Host: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}")
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text}"));
    Answer { status: head.split(' ').nth(1).unwrap().parse().unwrap(), body: body.to_owned() }
}

#[test]
fn a_server_without_work_stops_at_once_however_long_work_may_take_to_end() {
    let shop = Shop::new(1);
    let mut server = Server::start(&shop.root, &["--drain", "1h"], |_| {});
    server.running.signal(Signal::TERM);
    assert!(server.running.0.wait().unwrap().success());
}

#[test]
fn a_second_server_on_a_workspace_is_refused_and_the_command_line_is_not() {
    let shop = Shop::new(10);
    let mut first = Server::start(&shop.root, &[], |_| {});
    let second = run(ordain(["serve", "--listen", "127.0.0.1:0", "--workspace", &shop.root]));
    assert_eq!(second.code, Some(3), "{second:?}");
    let process = first.running.0.id().to_string();
    assert!(second.stderr.contains("served already") && second.stderr.contains(&process), "{second:?}");
    assert!(second.stderr.contains("hint:"), "{second:?}");
    // Both write to the same store, each in its turn.
    let plan = shop.folder.file("buy.py", BUY_ONE);
    let beside = run(ordain(["ask", "buy one", "--plan", &plan, "--workspace", &shop.root]));
    assert_eq!(beside.code, Some(0), "{beside:?}");
    let served = first.post("/v1/requests", &json!({ "request": "buy one", "plan": BUY_ONE }));
    assert_eq!(served.json()["state"], "committed", "{}", served.body);
    assert_eq!(shop.classics(), 8);

    first.running.signal(Signal::TERM);
    assert_eq!(first.running.exit_code(), Some(0));
    // Who was killed leaves nothing that keeps the next one out.
    drop(Server::start(&shop.root, &[], |_| {}));
    assert_eq!(Server::start(&shop.root, &[], |_| {}).get("/healthz").status, 200);
}

#[test]
fn a_server_makes_copies_of_its_store_by_itself() {
    let shop = Shop::new(10);
    let folder = std::path::Path::new(&shop.root).join("copies");
    let mut server = Server::start(&shop.root, &[], |command| {
        command.envs([("ORDAIN_BACKUP_TO", folder.to_str().unwrap()), ("ORDAIN_BACKUP_EVERY", "1h")]);
    });
    let is_made = || {
        let copies = folder.read_dir().into_iter().flatten().flatten();
        copies.map(|copy| copy.path().join("backup.json")).any(|described| described.is_file())
    };
    while !is_made() {
        assert!(server.running.0.try_wait().unwrap().is_none(), "the server has ended");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
