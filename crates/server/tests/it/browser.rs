//! A real browser: Chromium, spoken to over its own pipe in the JSON of its `DevTools`.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a page may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);
/// What the browser's pipe is, seen from its shell: commands come in by 3, and messages go out by 4.
const SHELL: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 1>/dev/null 2>/dev/null </dev/null";

/// A running browser with one page.
pub(crate) struct Browser {
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
    /// Starts one. Pages that nobody looked at are not tested, so a missing browser is a failure.
    pub(crate) fn start() -> Self {
        let program = find().expect("no Chromium was found; `cargo xtask test` installs it");
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
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
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
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let answer =
            self.call("Runtime.evaluate", &json!({ "expression": expression, "returnByValue": true }));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression holds in the page.
    pub(crate) fn wait(&mut self, expression: &str) {
        let began = Instant::now();
        // A page that is still loading has not all that the expression names.
        let tried = format!("(() => {{ try {{ return {expression} }} catch {{ return false }} }})()");
        while self.evaluate(&tried) != json!(true) {
            if began.elapsed() > PATIENCE {
                let page = self.evaluate("document.body.innerText");
                panic!("never `{expression}`: {page}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn open(&mut self, url: &str) {
        self.call("Page.navigate", &json!({ "url": url }));
        self.wait("document.readyState === 'complete'");
    }

    /// The addresses that were asked for, and everything that the console shows.
    pub(crate) fn seen(&mut self) -> (Vec<String>, Vec<String>) {
        // An answer comes behind everything that was told before it.
        self.evaluate("1");
        let (mut asked, mut wrong) = (Vec::new(), Vec::new());
        for event in &self.events {
            let told = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Network.requestWillBeSent" => {
                    asked.push(told["request"]["url"].as_str().unwrap().to_owned());
                }
                // Leaving a page ends what it was still loading.
                "Network.loadingFailed" if told["canceled"] == true => {}
                "Network.loadingFailed" | "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" => {
                    wrong.push(told.to_string());
                }
                "Log.entryAdded" if told["entry"]["level"] != "verbose" => wrong.push(told.to_string()),
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

impl Browser {
    /// Fails if anything was asked for elsewhere, or if the console says anything at all.
    #[track_caller]
    pub(crate) fn stays_at_home(&mut self, home: &str) {
        let (asked, wrong) = self.seen();
        assert!(asked.iter().any(|url| url.starts_with(home)), "{asked:?}");
        let is_own =
            |url: &&String| !url.starts_with(home) && !url.starts_with("data:") && !url.starts_with("about:");
        let abroad: Vec<_> = asked.iter().filter(is_own).collect();
        assert!(abroad.is_empty(), "asked elsewhere: {abroad:?}");
        assert!(wrong.is_empty(), "the console says: {wrong:#?}");
    }

    /// Forgets what was asked for and what the console said.
    pub(crate) fn forget(&mut self) {
        self.events.clear();
    }

    /// What is wrong with the page for people who cannot see it, cannot use a mouse or need contrast.
    pub(crate) fn barriers(&mut self) -> Vec<String> {
        if self.evaluate("typeof axe") == json!("undefined") {
            let path = concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../target/vendor/axe-core-4.14.0/package/axe.min.js"
            );
            let script = std::fs::read_to_string(path).expect("`cargo xtask test` gets axe-core");
            self.evaluate(&format!("{script}; 0"));
        }
        let run = "axe.run().then(found => found.violations.flatMap(rule => rule.nodes.map(node => \
             `${rule.id}: ${node.target} ${node.failureSummary}`)))";
        let parameters = json!({ "expression": run, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", &parameters);
        assert!(answer["exceptionDetails"].is_null(), "{answer}");
        let found = answer["result"]["value"].as_array().cloned().unwrap_or_default();
        found.iter().map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
    }

    /// How wide and high the window is, and whether the system prefers dark pages.
    pub(crate) fn look(&mut self, width: u32, height: u32, is_dark: bool) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", &features);
    }

    /// Presses a key, such as `Tab`, `Enter` or a letter.
    pub(crate) fn press(&mut self, key: &str) {
        // A page that is still loading takes the focus back, and its script does not listen yet.
        self.wait("document.readyState === 'complete'");
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
        self.call("Input.dispatchKeyEvent", &down);
        self.call(
            "Input.dispatchKeyEvent",
            &json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code }),
        );
    }

    /// Types text where the focus is.
    pub(crate) fn write(&mut self, text: &str) {
        self.call("Input.insertText", &json!({ "text": text }));
    }

    /// Presses Tab until the focus is on an element, as somebody without a mouse does.
    #[track_caller]
    pub(crate) fn tab_to(&mut self, selector: &str) {
        for _ in 0..80 {
            self.press("Tab");
            if self.evaluate(&format!("!!document.activeElement?.matches({})", json!(selector)))
                == json!(true)
            {
                return;
            }
        }
        panic!("the keyboard never reaches `{selector}`");
    }

    /// What the page shows as text.
    pub(crate) fn text(&mut self) -> String {
        self.evaluate("document.body.innerText").as_str().unwrap_or_default().to_owned()
    }

    /// Clicks an element so many times, as fast as a finger that trembles.
    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str, times: u32) {
        let place = format!(
            "(() => {{ const at = document.querySelector({}); at.scrollIntoView({{block: 'center'}}); \
             const box = at.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
            json!(selector)
        );
        let place = self.evaluate(&place);
        for count in 1..=times {
            for kind in ["mousePressed", "mouseReleased"] {
                let event = json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": count });
                self.call("Input.dispatchMouseEvent", &event);
            }
        }
    }

    /// A picture of the whole page, kept where `ORDAIN_UI_PICTURES` says, if it says so.
    pub(crate) fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("ORDAIN_UI_PICTURES") else { return };
        let shot =
            self.call("Page.captureScreenshot", &json!({ "format": "png", "captureBeyondViewport": false }));
        let data = shot["data"].as_str().unwrap_or_default();
        let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, data).unwrap();
        std::fs::write(PathBuf::from(folder).join(format!("{name}.png")), bytes).unwrap();
    }
}
