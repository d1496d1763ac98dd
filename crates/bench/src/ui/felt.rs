//! How pages feel in a browser: how long a click or a key waits for the next picture, at rest and while runs come in.
//!
//! The browser measures this itself. It reports interactions of 16 ms or more and tasks of 50 ms or more; shorter ones count
//! as zero here.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, bail};
use ordain_testkit::browser::Browser;
use serde_json::json;

use crate::load;

/// Runs that begin and end while the list of runs is open, and lines that a run prints while its page is open.
const UPDATES: usize = 1000;
/// How often somebody presses a key meanwhile.
const PRESS_EVERY: Duration = Duration::from_millis(100);
/// Lets the browser tell what it timed last.
const TOLD: &str = "new Promise(done => setTimeout(done, 400))";
const OBSERVE: &str = "window.felt = { longest: 0, task: 0, swaps: 0 };
    new PerformanceObserver(list => list.getEntries().forEach(entry => {
        if (entry.interactionId) felt.longest = Math.max(felt.longest, entry.duration);
    })).observe({ type: 'event', durationThreshold: 16 });
    new PerformanceObserver(list => list.getEntries().forEach(entry => {
        felt.task = Math.max(felt.task, entry.duration);
    })).observe({ type: 'longtask' });
    document.addEventListener('htmx:sse:after:message', () => felt.swaps++);
    felt.before = performance.interactionCount; 0";

/// What somebody does with a page.
enum Act {
    Press(&'static str),
    Click(&'static str),
}

/// What was measured on one page.
pub(crate) struct Felt {
    pub(crate) what: &'static str,
    pub(crate) interactions: u64,
    /// From the interaction to the next picture, the slowest one.
    pub(crate) longest_ms: f64,
    /// The longest time for which the page could not answer.
    pub(crate) longest_task_ms: f64,
    /// How often the server changed the page.
    pub(crate) swaps: u64,
}

/// Opens pages in a browser and uses them.
pub(crate) async fn measure(address: SocketAddr, run_page: String) -> anyhow::Result<Vec<Felt>> {
    let handle = tokio::runtime::Handle::current();
    let work = move || {
        let mut browser = Browser::start()?;
        browser.look(1280, 900, false)?;
        let home = format!("http://{address}");
        let mut felt = Vec::new();
        for (what, path, acts) in at_rest(&run_page) {
            browser.open(&format!("{home}{path}"))?;
            browser.evaluate(OBSERVE)?;
            for act in acts {
                act.carry_out(&mut browser)?;
            }
            felt.push(told(&mut browser, what)?);
        }
        felt.push(many_runs(&mut browser, &home, address, &handle)?);
        felt.push(much_output(&mut browser, &home, address, &handle)?);
        Ok(felt)
    };
    tokio::task::spawn_blocking(work).await?
}

fn at_rest(run_page: &str) -> [(&'static str, &str, Vec<Act>); 4] {
    use Act::{Click, Press};
    [
        ("a request is typed", "/ask", ["b", "u", "y", " ", "2", " ", "m", "o"].map(Press).into()),
        ("rows of the list are walked", "/runs", ["j", "j", "k", "?", "Escape"].map(Press).into()),
        ("a part of a run is opened", run_page, vec![Click(".fold summary"), Click(".fold summary")]),
        (
            "a part of an approval is opened",
            "/approvals",
            vec![Click(".fold summary"), Click(".fold summary")],
        ),
    ]
}

impl Act {
    fn carry_out(&self, browser: &mut Browser) -> anyhow::Result<()> {
        match self {
            Self::Press(key) => browser.press(key),
            Self::Click(selector) => browser.click(selector, 1),
        }
    }
}

fn told(browser: &mut Browser, what: &'static str) -> anyhow::Result<Felt> {
    browser.evaluate(TOLD)?;
    let felt = browser.evaluate("({ ...felt, interactions: performance.interactionCount - felt.before })")?;
    let number = |name: &str| felt[name].as_f64().with_context(|| format!("the browser timed no {name}"));
    let interactions = felt["interactions"].as_u64().unwrap_or_default();
    if interactions == 0 {
        bail!("the browser saw no interaction where {what}");
    }
    let (longest_ms, longest_task_ms) = (number("longest")?, number("task")?);
    let swaps = felt["swaps"].as_u64().unwrap_or_default();
    Ok(Felt { what, interactions, longest_ms, longest_task_ms, swaps })
}

/// The list of runs is open and walked while many runs begin and end.
fn many_runs(
    browser: &mut Browser,
    home: &str,
    address: SocketAddr,
    handle: &tokio::runtime::Handle,
) -> anyhow::Result<Felt> {
    let ask = load::post("/v1/requests", &json!({ "request": "Do you have anything under $100?" }));
    browser.open(&format!("{home}/runs"))?;
    browser.evaluate(OBSERVE)?;
    let asked = handle.spawn(async move { load::clients(address, &ask, "answer", 2, UPDATES / 2).await });
    while !asked.is_finished() {
        browser.press("j")?;
        std::thread::sleep(PRESS_EVERY);
    }
    handle.block_on(asked)??;
    browser.wait("felt.swaps > 0")?;
    // The row that was marked may have left the page with so many new ones.
    browser.press("j")?;
    browser.wait("!!document.querySelector('[data-row].at')")?;
    told(browser, "1,000 runs come into the list")
}

/// The page of a run is open and used while it prints.
fn much_output(
    browser: &mut Browser,
    home: &str,
    address: SocketAddr,
    handle: &tokio::runtime::Handle,
) -> anyhow::Result<Felt> {
    let code = format!(
        "import time\nfor line in range({UPDATES}):\n    print('line', line, flush=True)\n    time.sleep(0.005)\n"
    );
    let exec = load::post("/v1/exec", &json!({ "code": code }));
    browser.open(&format!("{home}/runs"))?;
    let printed = handle.spawn(async move { load::clients(address, &exec, "line 999", 1, 1).await });
    browser.wait("!!document.querySelector('tr:has(.chip.live) a')")?;
    browser.click("tr:has(.chip.live) a", 1)?;
    browser.wait("document.readyState === 'complete' && !!document.querySelector('.live')")?;
    browser.evaluate(OBSERVE)?;
    while !printed.is_finished() {
        browser.press("?")?;
        browser.press("Escape")?;
        std::thread::sleep(PRESS_EVERY);
    }
    handle.block_on(printed)??;
    browser.wait("!!document.querySelector('.stages')")?;
    told(browser, "1,000 lines come into a run's page")
}
