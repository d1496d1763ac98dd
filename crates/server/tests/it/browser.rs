//! A browser whose every failure ends the test, and what tests ask of a page.

use std::path::PathBuf;

use serde_json::{Value, json};

/// A running browser with one page.
pub(crate) struct Browser {
    browser: ordain_testkit::browser::Browser,
}

#[track_caller]
fn must<T>(done: anyhow::Result<T>) -> T {
    done.unwrap_or_else(|error| panic!("{error:#}"))
}

impl Browser {
    /// Starts one. Pages that nobody looked at are not tested, so a missing browser is a failure.
    pub(crate) fn start() -> Self {
        Self { browser: must(ordain_testkit::browser::Browser::start()) }
    }

    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        must(self.browser.call(method, parameters))
    }

    #[track_caller]
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        must(self.browser.evaluate(expression))
    }

    #[track_caller]
    pub(crate) fn wait(&mut self, expression: &str) {
        must(self.browser.wait(expression));
    }

    #[track_caller]
    pub(crate) fn open(&mut self, url: &str) {
        must(self.browser.open(url));
    }

    #[track_caller]
    pub(crate) fn look(&mut self, width: u32, height: u32, is_dark: bool) {
        must(self.browser.look(width, height, is_dark));
    }

    #[track_caller]
    pub(crate) fn press(&mut self, key: &str) {
        must(self.browser.press(key));
    }

    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str, times: u32) {
        must(self.browser.click(selector, times));
    }

    /// The addresses that were asked for, and everything that the console shows.
    pub(crate) fn seen(&mut self) -> (Vec<String>, Vec<String>) {
        // An answer comes behind everything that was told before it.
        self.evaluate("1");
        let (mut asked, mut wrong) = (Vec::new(), Vec::new());
        for event in &self.browser.events {
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
        self.browser.events.clear();
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
        let found = self.evaluate(
            "axe.run().then(found => found.violations.flatMap(rule => rule.nodes.map(node => \
             `${rule.id}: ${node.target} ${node.failureSummary}`)))",
        );
        let found = found.as_array().cloned().unwrap_or_default();
        found.iter().map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
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
