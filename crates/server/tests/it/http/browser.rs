//! `/docs` and `/redoc` in a real browser: what a person sees, what is loaded, and what the console says.
//!
//! Chromium is spoken to over its own pipe, in the JSON of its `DevTools`. Where none is found the tests fail:
//! `cargo xtask test` installs it, or says how.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::world::served;

/// How long a page may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);
/// What the browser's pipe is, seen from its shell: commands come in by 3, and messages go out by 4.
const SHELL: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 1>/dev/null 2>/dev/null </dev/null";

/// A running browser with one page.
struct Browser {
    child: Child,
    messages: mpsc::Receiver<Value>,
    /// What was told meanwhile.
    events: VecDeque<Value>,
    next_id: u64,
    session: Option<String>,
    _profile: tempfile::TempDir,
}

fn find() -> Option<PathBuf> {
    let chosen = std::env::var_os("ORDAIN_CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let known = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    chosen.into_iter().chain(known).find(|program| program.is_file())
}

impl Browser {
    /// Starts one.
    fn start() -> Self {
        let program = find().expect("no Chromium was found (Debian: `apt install chromium`)");
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", SHELL]).arg(program).arg("--remote-debugging-pipe");
        command.args(["--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]);
        command.args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-dev-shm-usage",
        ]);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        if rustix::process::geteuid().is_root() {
            // Chromium's own sandbox does not work for root; the pages here are our own.
            command.arg("--no-sandbox");
        }
        let mut child =
            command.arg("about:blank").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            while reader.read_until(0, &mut bytes).is_ok_and(|read| read > 0) {
                bytes.pop();
                let Ok(message) = serde_json::from_slice(&bytes) else { break };
                if sender.send(message).is_err() {
                    break;
                }
                bytes.clear();
            }
        });
        let mut browser =
            Self { child, messages, events: VecDeque::new(), next_id: 0, session: None, _profile: profile };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session =
            browser.call("Target.attachToTarget", &attach)["sessionId"].as_str().unwrap().to_owned();
        browser.session = Some(session);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Gives a command and waits for its answer.
    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.next_id += 1;
        let mut command = json!({ "id": self.next_id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        self.child.stdin.as_mut().unwrap().write_all(&bytes).unwrap();
        loop {
            let message =
                self.messages.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no answer to {method}"));
            if message["id"] == self.next_id {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push_back(message);
        }
    }

    /// What an expression is in the page.
    fn evaluate(&mut self, expression: &str) -> Value {
        let answer =
            self.call("Runtime.evaluate", &json!({ "expression": expression, "returnByValue": true }));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression holds in the page.
    fn wait(&mut self, expression: &str) {
        let began = Instant::now();
        while self.evaluate(expression) != json!(true) {
            if began.elapsed() > PATIENCE {
                let page = self.evaluate("document.body.innerText");
                panic!("never `{expression}`: {page}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn open(&mut self, url: &str) {
        self.call("Page.navigate", &json!({ "url": url }));
        self.wait("document.readyState === 'complete'");
    }

    /// The addresses that were asked for, and everything that a console would show in red.
    fn seen(&mut self) -> (Vec<String>, Vec<String>) {
        // An answer comes behind everything that was told before it.
        self.evaluate("1");
        let (mut asked, mut wrong) = (Vec::new(), Vec::new());
        for event in &self.events {
            let told = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Network.requestWillBeSent" => {
                    asked.push(told["request"]["url"].as_str().unwrap().to_owned());
                }
                "Network.loadingFailed" | "Runtime.exceptionThrown" => wrong.push(told.to_string()),
                "Log.entryAdded" if told["entry"]["level"] == "error" => wrong.push(told.to_string()),
                "Runtime.consoleAPICalled" if told["type"] == "error" => wrong.push(told.to_string()),
                _ => {}
            }
        }
        (asked, wrong)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn stays_at_home(browser: &mut Browser, home: &str) {
    let (asked, wrong) = browser.seen();
    assert!(asked.iter().any(|url| url.starts_with(home)), "{asked:?}");
    let abroad: Vec<_> = asked
        .iter()
        .filter(|url| !url.starts_with(home) && !url.starts_with("data:") && !url.starts_with("about:"))
        .collect();
    assert!(abroad.is_empty(), "asked elsewhere: {abroad:?}");
    assert!(wrong.is_empty(), "the console says: {wrong:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn swagger_ui_shows_every_operation_and_lets_one_be_tried() {
    let shop = served().await;
    let home = format!("http://{}/", shop.address);
    let document = shop.get("/openapi.json").await.json();
    let paths = document["paths"].as_object().unwrap().values();
    let operations: usize = paths.map(|path| path.as_object().unwrap().len()).sum();
    tokio::task::spawn_blocking(move || {
        let mut browser = Browser::start();
        browser.open(&format!("{home}docs"));
        browser.wait("document.querySelectorAll('.opblock').length > 0");
        browser.wait(&format!("document.querySelectorAll('.opblock').length === {operations}"));
        assert_eq!(
            browser.evaluate("document.querySelector('.info .title').innerText.includes('Ordain')"),
            true
        );
        let healthz = "document.getElementById('operations-operations-healthz')";
        browser.evaluate(&format!("{healthz}.querySelector('.opblock-summary button').click()"));
        browser.wait(&format!("!!{healthz}.querySelector('.try-out__btn')"));
        browser.evaluate(&format!("{healthz}.querySelector('.try-out__btn').click()"));
        browser.wait(&format!("!!{healthz}.querySelector('.execute')"));
        browser.evaluate(&format!("{healthz}.querySelector('.execute').click()"));
        let shown = format!("({healthz}.querySelector('.live-responses-table') || {{}}).innerText");
        browser.wait(&format!("({shown} || '').includes('\"status\": \"ok\"')"));
        stays_at_home(&mut browser, &home);
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_to_read_needs_no_script_and_shows_every_operation() {
    let shop = served().await;
    let home = format!("http://{}/", shop.address);
    let document = shop.get("/openapi.json").await.json();
    let paths: Vec<String> = document["paths"].as_object().unwrap().keys().cloned().collect();
    tokio::task::spawn_blocking(move || {
        let mut browser = Browser::start();
        browser.open(&format!("{home}redoc"));
        let text = browser.evaluate("document.body.innerText");
        let text = text.as_str().unwrap();
        for path in &paths {
            assert!(text.contains(path.as_str()), "{path} is not shown");
        }
        assert_eq!(browser.evaluate("document.scripts.length"), 0);
        assert_eq!(browser.evaluate("getComputedStyle(document.body).fontFamily !== ''"), true);
        stays_at_home(&mut browser, &home);
    })
    .await
    .unwrap();
}
