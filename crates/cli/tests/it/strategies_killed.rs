//! Every strategy on both databases, from the command line and over HTTP. The process is ended at each call of the model
//! and in the middle of a step; nothing is half done, and the run goes on to its end once.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};

use ordain_testkit::postgres;
use ordain_testkit::processes::is_running;
use ordain_testkit::seller::{self, SELL, TELL, program};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::command::{Ran, Running, eventually, ordain, run};
use crate::executor::Shop;
use crate::serve::{Server, send};

const REQUEST: &str = "Sell 2 Classic and tell me";
/// Each strategy, the calls of the model at which it is killed, and the call that writes its last step. Once `auto` has
/// chosen, it is a `plan`.
const STRATEGIES: [(&str, &[usize], usize); 4] =
    [("direct", &[1], 1), ("plan", &[1, 2, 3, 4], 4), ("react", &[1, 2, 3], 3), ("auto", &[1], 4)];
/// A step that is known by its memory while it runs, and never ends.
const ENDLESS: &str = "answer_text, STATUS, result = 'never', 'success', 1\n\
                       held = b'x' * (200 << 20)\nwhile True:\n    pass\n";
const ENDLESS_PAGES: u64 = (180 << 20) / 4096;

/// When the model does something else than reply, counted in calls; 0 is never.
#[derive(Debug, Default, Clone, Copy)]
struct Stage {
    /// It does not reply to this call.
    holds: usize,
    /// It replies to this call with a program that does not end.
    endless: usize,
}

#[derive(Debug, Default)]
struct Script {
    strategy: &'static str,
    stage: Stage,
    calls: usize,
}

/// A model of which every reply follows from what it is asked.
struct Author {
    url: String,
    script: Arc<Mutex<Script>>,
}

impl Author {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let script = Arc::<Mutex<Script>>::default();
        let shared = Arc::clone(&script);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let script = Arc::clone(&shared);
                // A caller that is killed leaves in the middle.
                std::thread::spawn(move || reply_to(stream.ok()?, &script));
            }
        });
        Self { url, script }
    }

    fn play(&self, strategy: &'static str, stage: Stage) {
        *self.script.lock().unwrap() = Script { strategy, stage, calls: 0 };
    }

    fn calls(&self) -> usize {
        self.script.lock().unwrap().calls
    }
}

fn reply_to(stream: TcpStream, script: &Mutex<Script>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let said = line.to_lowercase();
        length = said.strip_prefix("content-length: ").map_or(length, |text| text.trim().parse().unwrap());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).ok()?;
    let asked = body["messages"].as_array()?.last()?["content"].as_str()?.to_owned();
    let text = {
        let mut script = script.lock().unwrap();
        script.calls += 1;
        match script.stage {
            Stage { holds, .. } if holds == script.calls => None,
            Stage { endless, .. } if endless == script.calls => Some(program(ENDLESS)),
            _ => Some(reply(script.strategy, &asked)),
        }
    };
    let Some(text) = text else {
        // Until the caller is gone.
        let _ = reader.read(&mut [0]);
        return None;
    };
    let piece = json!({ "choices": [{ "index": 0, "delta": { "content": text }, "finish_reason": "stop" }] });
    let events = format!("data: {piece}\n\ndata: [DONE]\n\n");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    reader.get_mut().write_all(format!("{head}{events}").as_bytes()).ok()
}

fn reply(strategy: &str, asked: &str) -> String {
    if strategy == "direct" { program(&format!("{SELL}{TELL}")) } else { seller::reply(asked, "sold 7") }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Cli,
    Http,
}

struct Place {
    shop: Shop,
    database: Option<String>,
    author: Author,
    way: Way,
    /// The server that finished the last run, and that is killed in the next.
    server: Option<Server>,
}

impl Place {
    fn new(way: Way, database: Option<String>) -> Self {
        Self { shop: Shop::new(1000), database, author: Author::start(), way, server: None }
    }

    fn set(&self, command: &mut Command) {
        let model = [
            ("ORDAIN_MODEL", "author"),
            ("ORDAIN_MODEL_BASE_URL", &self.author.url),
            ("ORDAIN_API_KEY", "none"),
            ("ORDAIN_MODEL_REVIEW", "false"),
            ("ORDAIN_LIMITS_WALL", "10m"),
        ];
        command.current_dir(&self.shop.root).envs(model);
        command.envs(self.database.as_ref().map(|url| ("ORDAIN_STORE_URL", url)));
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = ordain(arguments);
        self.set(&mut command);
        command
    }

    fn ordain(&self, arguments: &[&str]) -> Ran {
        run(self.command(arguments))
    }

    fn serve(&self) -> Server {
        Server::start(&self.shop.root, &[], |command| self.set(command))
    }

    fn classics(&self) -> i64 {
        let rows = self.ordain(&["tables", "inventory", "--rows", "--json"]).json();
        rows.as_array().unwrap().iter().find(|row| row["name"] == "Classic").unwrap()["quantity_in_stock"]
            .as_i64()
            .unwrap()
    }

    fn asking(&self, strategy: &str, key: &str) -> Command {
        self.command(&[
            "ask",
            REQUEST,
            "--strategy",
            strategy,
            "--no-cache",
            "--idempotency-key",
            key,
            "--json",
        ])
    }

    /// Begins, and ends the process when the stage is reached.
    fn cut_short(&mut self, strategy: &'static str, stage: Stage, key: &str) {
        self.author.play(strategy, stage);
        let mut running = match self.way {
            Way::Cli => Running::start(self.asking(strategy, key)),
            Way::Http => {
                let server = self.server.take().unwrap_or_else(|| self.serve());
                let (address, key) = (server.address.clone(), key.to_owned());
                std::thread::spawn(move || try_post(&address, strategy, &key));
                server.running
            }
        };
        self.reach(stage, &running);
        running.signal(Signal::KILL);
        running.exit_code();
    }

    fn reach(&self, stage: Stage, running: &Running) {
        let is_there = || match stage.endless {
            0 => self.author.calls() >= stage.holds,
            _ => running.descendants().into_iter().any(|process| pages(process) > ENDLESS_PAGES),
        };
        assert!(eventually(is_there), "{stage:?} was never reached");
    }

    /// Goes on with what is left, until the run is committed.
    fn finish(&mut self, strategy: &'static str, key: &str) -> Value {
        self.author.play(strategy, Stage::default());
        self.server = (self.way == Way::Http).then(|| self.serve());
        let mut record = Value::Null;
        // PostgreSQL takes a moment to notice that the process is gone; until then there is an error and no record.
        eventually(|| {
            let waiting = self.ordain(&["runs", "list", "--state", "waiting", "--json"]).json();
            let waiting = waiting[0]["run_id"].as_str();
            let said = match (&self.server, waiting) {
                (Some(server), Some(run)) => {
                    server.post(&format!("/v1/runs/{run}/answer"), &json!({ "model": "author" })).body
                }
                (Some(server), None) => try_post(&server.address, strategy, key).unwrap_or_default(),
                (None, Some(run)) => self.ordain(&["runs", "resume", run, "--json"]).stdout,
                (None, None) => run(self.asking(strategy, key)).stdout,
            };
            record = serde_json::from_str(&said).unwrap_or_default();
            record["state"].is_string()
        });
        assert_eq!(record["state"], "committed", "{strategy} {key}: {record}");
        record
    }
}

fn try_post(address: &str, strategy: &str, key: &str) -> Option<String> {
    // The server may be gone before it has answered.
    let body = json!({ "request": REQUEST, "strategy": strategy, "no_cache": true, "model": "author" });
    let head =
        format!("POST /v1/requests HTTP/1.1\r\nContent-Type: application/json\r\nIdempotency-Key: {key}\r\n");
    std::panic::catch_unwind(|| send(address, &head, &body.to_string()).body).ok()
}

/// The pages of memory that a process has.
fn pages(process: u32) -> u64 {
    let told = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    told.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0)
}

fn sweep(way: Way, database: Option<String>) {
    let mut place = Place::new(way, database);
    let mut left = place.classics();
    for (strategy, calls, last) in STRATEGIES {
        let held = calls.iter().map(|call| Stage { holds: *call, endless: 0 });
        for (number, stage) in held.chain([Stage { holds: 0, endless: last }]).enumerate() {
            let key = format!("{strategy}-{number}");
            place.cut_short(strategy, stage, &key);
            assert_eq!(place.classics(), left, "{strategy} {stage:?} left something half done");
            let record = place.finish(strategy, &key);
            left -= 2;
            assert_eq!(record["answer"]["text"], format!("{left} are left."), "{record}");
            assert_eq!(record["receipt"]["kind"], "changed", "{record}");
        }
    }
    assert_eq!(place.classics(), left);
    let verified = place.ordain(&["ledger", "verify", "--rows"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn every_strategy_killed_at_every_stage_from_the_command_line_on_sqlite() {
    sweep(Way::Cli, None);
}

#[test]
fn every_strategy_killed_at_every_stage_from_the_command_line_on_postgres() {
    sweep(Way::Cli, Some(postgres::Server::shared().fresh_database()));
}

#[test]
fn every_strategy_killed_at_every_stage_over_http_on_sqlite() {
    sweep(Way::Http, None);
}

#[test]
fn every_strategy_killed_at_every_stage_over_http_on_postgres() {
    sweep(Way::Http, Some(postgres::Server::shared().fresh_database()));
}

#[test]
fn ctrl_c_while_the_model_writes_or_a_step_runs_says_how_to_go_on() {
    let mut place = Place::new(Way::Cli, None);
    let mut left = place.classics();
    let stages = [Stage { holds: 3, endless: 0 }, Stage { holds: 0, endless: 3 }];
    for (strategy, stage) in
        [("plan", stages[0]), ("plan", stages[1]), ("react", stages[0]), ("react", stages[1])]
    {
        let key = format!("{strategy} {stage:?}").replace([' ', ':', '{', '}', ','], "-");
        place.author.play(strategy, stage);
        let mut running = Running::start(place.asking(strategy, &key));
        place.reach(stage, &running);
        let cells = running.descendants();
        running.signal(Signal::INT);
        assert_eq!(running.exit_code(), Some(130));
        let mut said = String::new();
        running.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(
            said.contains("interrupted: nothing was changed") && said.contains("ordain runs resume"),
            "{said}"
        );
        assert!(eventually(|| cells.iter().all(|cell| !is_running(*cell))), "a cell goes on");
        assert_eq!(place.classics(), left);
        place.finish(strategy, &key);
        left -= 2;
        assert_eq!(place.classics(), left);
    }
}
