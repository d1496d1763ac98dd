//! A real browser: Chromium, spoken to over its own pipe in the JSON of its `DevTools`.
//!
//! The tests of pages and `cargo xtask bench ui` use it. Every call blocks until the browser has answered.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

/// How long a page may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);
/// What the browser's pipe is, seen from its shell: commands come in by 3, and messages go out by 4.
const SHELL: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 1>/dev/null 2>/dev/null </dev/null";
const OPTIONS: [&str; 8] = [
    "--remote-debugging-pipe",
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
];

/// A running browser with one page. It ends when this value is dropped.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    messages: mpsc::Receiver<Value>,
    /// What the browser said meanwhile, oldest first.
    pub events: VecDeque<Value>,
    next_id: u64,
    session: Option<String>,
    _profile: tempfile::TempDir,
}

/// Where Chromium is: at `ORDAIN_CHROMIUM`, or in a folder of `PATH`.
fn find() -> Option<PathBuf> {
    let chosen = std::env::var_os("ORDAIN_CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let known = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    chosen.into_iter().chain(known).find(|program| program.is_file())
}

impl Browser {
    /// Starts one with an empty page.
    pub fn start() -> anyhow::Result<Self> {
        let program =
            find().context("no Chromium was found; install it, or say in ORDAIN_CHROMIUM where it is")?;
        let profile = tempfile::tempdir()?;
        let mut command = Command::new("sh");
        command.args(["-c", SHELL]).arg(program).args(OPTIONS).arg("--disable-dev-shm-usage");
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        if rustix::process::geteuid().is_root() {
            // Chromium's own sandbox does not work for root; the pages here are our own.
            command.arg("--no-sandbox");
        }
        let mut child = command.arg("about:blank").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let messages = listen(child.stdout.take().context("the browser has no output")?);
        let events = VecDeque::new();
        let mut browser = Self { child, messages, events, next_id: 0, session: None, _profile: profile };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }))?;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", &attach)?;
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}))?;
        }
        Ok(browser)
    }

    /// Gives a command and waits for its answer.
    pub fn call(&mut self, method: &str, parameters: &Value) -> anyhow::Result<Value> {
        self.next_id += 1;
        let mut command = json!({ "id": self.next_id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        self.child.stdin.as_mut().context("the browser takes no commands")?.write_all(&bytes)?;
        loop {
            let message = self.messages.recv_timeout(PATIENCE);
            let mut message = message.with_context(|| format!("the browser does not answer {method}"))?;
            if message["id"] != self.next_id {
                self.events.push_back(message);
            } else if message["error"].is_null() {
                return Ok(message["result"].take());
            } else {
                bail!("{method}: {message}");
            }
        }
    }

    /// What an expression is in the page; what a promise comes to.
    pub fn evaluate(&mut self, expression: &str) -> anyhow::Result<Value> {
        let parameters = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", &parameters)?;
        if !answer["exceptionDetails"].is_null() {
            bail!("{expression}: {answer}");
        }
        Ok(answer["result"]["value"].take())
    }

    /// Waits until an expression holds in the page.
    pub fn wait(&mut self, expression: &str) -> anyhow::Result<()> {
        let began = Instant::now();
        // A page that is still loading has not all that the expression names.
        let tried = format!("(() => {{ try {{ return {expression} }} catch {{ return false }} }})()");
        loop {
            let found = self.evaluate(&tried);
            if found.as_ref().is_ok_and(|found| *found == json!(true)) {
                return Ok(());
            }
            if began.elapsed() > PATIENCE {
                // A question that comes while the page is left has no answer, so only the last one counts.
                found?;
                bail!("never `{expression}`: {}", self.evaluate("document.body.innerText")?);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Opens a page and waits until it is loaded.
    pub fn open(&mut self, url: &str) -> anyhow::Result<()> {
        self.call("Page.navigate", &json!({ "url": url }))?;
        self.wait("document.readyState === 'complete'")
    }

    /// How wide and high the window is, and whether the system prefers dark pages.
    pub fn look(&mut self, width: u32, height: u32, is_dark: bool) -> anyhow::Result<()> {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", &size)?;
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", &features)?;
        Ok(())
    }

    /// Presses a key, such as `Tab`, `Enter` or a letter.
    pub fn press(&mut self, key: &str) -> anyhow::Result<()> {
        // A page that is still loading takes the focus back, and its script does not listen yet.
        self.wait("document.readyState === 'complete'")?;
        let text = match key {
            "Enter" => "\r",
            key if key.chars().count() == 1 => key,
            _ => "",
        };
        let code = match key {
            "Enter" => 13,
            "Tab" => 9,
            "Escape" => 27,
            "ArrowDown" => 40,
            "ArrowUp" => 38,
            " " => 32,
            key => u32::from(key.to_ascii_uppercase().bytes().next().unwrap_or_default()),
        };
        let down = json!({ "type": "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": code });
        self.call("Input.dispatchKeyEvent", &down)?;
        let up = json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code });
        self.call("Input.dispatchKeyEvent", &up)?;
        Ok(())
    }

    /// Clicks an element so many times, as fast as a finger that trembles, once it is there.
    pub fn click(&mut self, selector: &str, times: u32) -> anyhow::Result<()> {
        self.wait(&format!(
            "document.readyState === 'complete' && !!document.querySelector({})",
            json!(selector)
        ))?;
        let place = format!(
            "(() => {{ const at = document.querySelector({}); at.scrollIntoView({{block: 'center'}}); \
             const box = at.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
            json!(selector)
        );
        let place = self.evaluate(&place)?;
        for count in 1..=times {
            for kind in ["mousePressed", "mouseReleased"] {
                let event = json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": count });
                self.call("Input.dispatchMouseEvent", &event)?;
            }
        }
        Ok(())
    }
}

/// Reads what the browser says until it ends.
fn listen(output: std::process::ChildStdout) -> mpsc::Receiver<Value> {
    let (sender, messages) = mpsc::channel();
    let mut reader = BufReader::new(output);
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
    messages
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
