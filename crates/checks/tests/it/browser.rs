//! The HTML report in a real browser, where there is one.

use std::path::Path;
use std::process::{Command, Stdio};

use ordain_checks::report::render_html;

use crate::fixture::{history, hostile, ordinary};
use crate::validators::say;

/// Flags with which the browser asks nothing of any network.
const FLAGS: [&str; 8] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// The page's elements as the browser understood them.
fn dom_of(name: &str, page: &str) -> Option<String> {
    let browser = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
        .into_iter()
        .find(|path| Path::new(path).exists())?;
    let folder = tempfile::tempdir().unwrap();
    // The page stays, so that one can look at it.
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("report-{name}.html"));
    fs_err::write(&path, page).unwrap();
    let output = Command::new(browser)
        .args(FLAGS)
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .args(["--virtual-time-budget=2000", "--dump-dom"])
        .arg(format!("file://{}", path.display()))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_browser_sees_every_check_and_runs_nothing_from_data() {
    for (report, title, name) in
        [(ordinary(), "ordinary", "Unknown users in events"), (hostile(), "hostile", "alert(1)")]
    {
        let Some(dom) = dom_of(title, &render_html(&report, &history())) else {
            say("skipped: no Chromium is installed");
            return;
        };
        assert_eq!(dom.matches("<details class=\"check").count(), 5, "{dom}");
        for status in ["pass", "warn", "fail", "error", "skipped"] {
            assert!(dom.contains(&format!("<details class=\"check {status}\"")), "{dom}");
            assert_eq!(dom.matches(&format!("class=\"badge {status}\"")).count(), 2, "{dom}");
        }
        assert!(dom.contains(name), "{dom}");
        assert!(!dom.contains("<script"), "{dom}");
        // The title holds the whole of the hostile text, so nothing of it became an element.
        assert_eq!(dom.matches("<h1>").count(), 1);
    }
}
