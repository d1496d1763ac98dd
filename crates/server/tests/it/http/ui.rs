//! The web UI in a real browser: every screen in light, dark and on a phone, and the ways through it.

use serde_json::json;

use super::world::{Served, served, served_example};
use crate::browser::Browser;
use ordain_engine::Planner;

/// Text of somebody who wants it to act.
const HOSTILE: &str = "<img src=x onerror=window.hit=1><script>window.hit=1</script>\u{202e}\u{7}'\"&amp;";

/// Looks at pages in a browser, away from the tasks that serve them.
pub(super) async fn look<T: Send + 'static>(
    shop: &Served,
    look: impl FnOnce(&mut Browser, &str) -> T + Send + 'static,
) -> T {
    let home = format!("http://{}", shop.address);
    tokio::task::spawn_blocking(move || {
        let mut browser = Browser::start();
        let seen = look(&mut browser, &home);
        browser.stays_at_home(&home);
        seen
    })
    .await
    .unwrap()
}

/// Opens each page in both themes and on a phone, and fails if anybody would be shut out.
#[track_caller]
fn fits_everybody(browser: &mut Browser, home: &str, pages: &[(&str, String)]) {
    for (name, path) in pages {
        for (width, is_dark) in [(1280, false), (1280, true), (320, false)] {
            browser.look(width, 900, is_dark);
            browser.open(&format!("{home}{path}"));
            let barriers = browser.barriers();
            assert!(barriers.is_empty(), "{path} at {width}, dark {is_dark}: {barriers:#?}");
            let is_cut = browser.evaluate("document.documentElement.scrollWidth > window.innerWidth");
            assert_eq!(is_cut, json!(false), "{path} is wider than {width}");
            let suffix = if width == 320 {
                "phone"
            } else if is_dark {
                "dark"
            } else {
                "light"
            };
            browser.picture(&format!("{name}-{suffix}"));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_screen_of_the_shop_fits_everybody() {
    let shop = served().await;
    let bought = shop.buy().await.json()["run_id"].as_str().unwrap().to_owned();
    let held = json!({ "request": "buy 2 pairs of Aviator", "hold": true });
    shop.post("/v1/requests", &held).await;
    let refused =
        json!({ "request": "read a file", "plan": "import os\nprint(os.listdir('/'))\nanswer_text = 'x'\n" });
    let refused = shop.post("/v1/requests", &refused).await.json()["run_id"].as_str().unwrap().to_owned();
    let plan = shop.get("/v1/plans").await.json()["plans"][0]["plan_id"].as_str().unwrap().to_owned();
    look(&shop, move |browser, home| {
        let pages = [
            ("overview", "/".to_owned()),
            ("ask", "/ask".to_owned()),
            ("runs", "/runs".to_owned()),
            ("run", format!("/runs/{bought}")),
            ("refused", format!("/runs/{refused}")),
            ("approvals", "/approvals".to_owned()),
            ("none", "/runs?state=undone".to_owned()),
            ("checks-none", "/checks".to_owned()),
            ("tables", "/tables".to_owned()),
            ("rows", "/tables/inventory?column=name&value=Aviator".to_owned()),
            ("history", "/tables/inventory/history?key=%7B%22item_id%22%3A%22SG001%22%7D".to_owned()),
            ("plans", "/plans".to_owned()),
            ("plan", format!("/plans/{plan}")),
            ("ledger", "/ledger".to_owned()),
            ("entry", "/ledger/2".to_owned()),
            ("keys", "/keys".to_owned()),
            ("settings", "/settings".to_owned()),
            ("models", "/settings/models".to_owned()),
        ];
        fits_everybody(browser, home, &pages);
        browser.look(1280, 900, false);
        browser.open(&format!("{home}/tables/inventory?column=name&value=Aviator"));
        assert_eq!(browser.evaluate("document.querySelectorAll('tbody tr').length"), json!(1));
        browser.open(&format!("{home}/tables/inventory/history?key=%7B%22item_id%22%3A%22SG001%22%7D"));
        let text = browser.text();
        assert!(text.contains("buy an Aviator") && text.contains("23 → 22"), "{text}");
        browser.open(&format!("{home}/ledger"));
        browser.click("form[action='/ledger/verify'] button", 1);
        browser.wait("document.body.innerText.includes('The ledger is whole')");
        browser.open(&format!("{home}/"));
        browser.wait("document.querySelectorAll('.chart canvas').length === 1");
        browser.open(&format!("{home}/runs/{refused}"));
        browser.wait("document.querySelectorAll('#plan .finding').length > 0");
        browser.open(&format!("{home}/nowhere"));
        assert!(browser.text().contains("there is nothing at this address"));
        assert!(browser.barriers().is_empty());
        // The page that is not there is an error to the console, and rightly so.
        browser.forget();
        browser.open(&format!("{home}/runs"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checks_are_run_from_their_grid_and_each_state_looks_different() {
    let shop = served_example("data-quality", Planner::Rules, |_| {}).await;
    look(&shop, |browser, home| {
        browser.look(1280, 900, false);
        browser.open(&format!("{home}/checks"));
        browser.wait("document.querySelectorAll('.chip.never').length > 10");
        browser.click("form[action='/checks/run'] button", 1);
        browser.wait("location.pathname.startsWith('/runs/')");
        browser.wait("!!document.querySelector('.stages')");
        browser.open(&format!("{home}/checks"));
        browser.wait("document.querySelectorAll('.chip.bad').length > 0 && document.querySelectorAll('.chip.good').length > 0");
        assert_eq!(browser.evaluate("document.querySelectorAll('tbody .chip.never').length"), json!(0));
        browser.open(&format!("{home}/checks/CHK-020"));
        browser.wait("document.querySelectorAll('td.offends').length > 0");
        browser.click("form[action='/checks/CHK-020/run'] button", 1);
        browser.wait("location.pathname.startsWith('/runs/')");
        browser.wait("!!document.querySelector('.stages')");
        // The run says which checks failed, and leads to them.
        browser.wait("!!document.querySelector('#results a[href=\"/checks/CHK-020\"]')");
        let pages = [
            ("checks", "/checks".to_owned()),
            ("check", "/checks/CHK-020".to_owned()),
            ("rule", "/checks/CHK-020/edit".to_owned()),
            ("new-rule", "/new-check".to_owned()),
            ("suggested", "/suggested-checks?table=orders".to_owned()),
            ("compared", "/compared-checks".to_owned()),
            ("files", "/tables".to_owned()),
            ("file", "/tables/orders".to_owned()),
            ("found", "/checks?severity=high&tag=integrity&text=unknown".to_owned()),
        ];
        fits_everybody(browser, home, &pages);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn someone_without_a_mouse_asks_sees_the_diff_commits_and_takes_it_back() {
    let shop = served().await;
    let before = shop.stock().await;
    look(&shop, |browser, home| {
        browser.look(1280, 900, false);
        browser.open(&format!("{home}/ask"));
        browser.wait("document.activeElement.id === 'request'");
        browser.write("buy 2 pairs of Aviator");
        browser.tab_to("select[name=mode]");
        browser.press("ArrowDown");
        browser.wait("document.querySelector('select[name=mode]').value === 'hold'");
        browser.tab_to("button.primary");
        browser.press("Enter");
        browser.wait("!!document.querySelector('.turn .receipt')");
        browser.wait("document.querySelector('.turn .receipt').innerText.includes('Waits for approval')");
        browser.wait("document.querySelectorAll('.turn .diff td.dirty').length === 1");
        browser.picture("ask-held");
        // The focus went back to the box, and the button comes before it.
        browser.evaluate(
            "document.querySelector('.turn').focus(); document.querySelector('.turn summary').focus()",
        );
        browser.open(&format!("{home}/approvals"));
        browser.tab_to(".decide button.primary");
        assert_eq!(browser.evaluate("document.activeElement.innerText"), json!("Commit 2 rows"));
        browser.press("Enter");
        browser
            .wait("location.pathname.startsWith('/runs/') && document.body.innerText.includes('Committed.')");
        browser.tab_to("form[action$='/undo'] button");
        browser.press("Enter");
        browser.wait("document.body.innerText.includes('Taken back.')");
        // Single keys lead to other screens, once the page has loaded its script.
        browser.wait("document.readyState === 'complete'");
        browser.press("g");
        browser.press("a");
        // The box takes the focus when the page is there; keys are shortcuts only outside of it.
        browser.wait("location.pathname === '/ask' && document.activeElement.id === 'request'");
        browser.evaluate("document.activeElement.blur()");
        browser.press("?");
        browser.wait("document.getElementById('help').open");
        browser.press("Escape");
        browser.wait("!document.getElementById('help').open");
    })
    .await;
    assert_eq!(shop.stock().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_double_click_on_commit_commits_once_and_one_on_ask_asks_once() {
    let shop = served().await;
    let before = shop.stock().await;
    shop.post("/v1/requests", &json!({ "request": "buy 2 pairs of Aviator", "hold": true })).await;
    look(&shop, |browser, home| {
        browser.look(1280, 900, false);
        browser.open(&format!("{home}/approvals"));
        assert!(browser.text().contains("new: rows added to transactions"), "{}", browser.text());
        assert!(browser.text().contains("the request itself"), "{}", browser.text());
        browser.click(".decide button.primary", 2);
        browser.wait("document.body.innerText.includes('Committed.')");
        browser.open(&format!("{home}/ask"));
        browser.wait("document.activeElement.id === 'request'");
        browser.write("buy 1 pair of Aviator");
        browser.click("#composer button.primary", 2);
        browser.wait("!!document.querySelector('.turn .receipt')");
    })
    .await;
    assert_eq!(shop.stock().await, before - 3);
    let runs = shop.get("/v1/runs").await.json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2, "{runs}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_text_is_shown_and_never_acts() {
    let shop = served().await;
    let plan = format!(
        "inventory_tbl.update({{'name': {0}}}, Query().name == 'Aviator')\nprint({0})\nanswer_text = {0}\n\
         answer_rows = [{{{0}: {0}, 'huge': 'x' * 1000000}}]\nSTATUS = 'success'\n",
        json!(HOSTILE)
    );
    let body = json!({ "request": HOSTILE, "plan": plan, "hold": true });
    let record = shop.post("/v1/requests", &body).await.json();
    assert_eq!(record["state"], "held", "{record}");
    let run = record["run_id"].as_str().unwrap().to_owned();
    look(&shop, move |browser, home| {
        browser.look(1280, 900, false);
        for path in ["/runs".to_owned(), format!("/runs/{run}"), "/approvals".to_owned()] {
            browser.open(&format!("{home}{path}"));
            let text = browser.text();
            assert!(text.contains("<script>window.hit=1</script>"), "{path}: {text}");
            assert!(text.contains("\\u{202e}") && !text.contains('\u{202e}'), "{path}: {text}");
            assert_eq!(browser.evaluate("window.hit ?? 'none'"), json!("none"), "{path}");
            assert_eq!(
                browser.evaluate("document.querySelectorAll('main img, main script').length"),
                json!(0)
            );
            let size = browser.evaluate("document.documentElement.outerHTML.length");
            assert!(size.as_u64().unwrap() < 2_500_000, "{path}: {size}");
            let is_cut = browser.evaluate("document.documentElement.scrollWidth > window.innerWidth");
            assert_eq!(is_cut, json!(false), "{path}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_followed_live_and_cancelled_from_its_page() {
    let shop = served().await;
    let before = shop.stock().await;
    let run = shop.begin_slow(&[]).await;
    look(&shop, move |browser, home| {
        browser.look(1280, 900, false);
        browser.open(&format!("{home}/runs"));
        browser.wait("document.querySelectorAll('.chip.live').length === 1");
        browser.open(&format!("{home}/runs/{run}"));
        browser.wait("!!document.querySelector('.live .steps-live .now')");
        assert!(browser.barriers().is_empty());
        browser.click("form[action$='/cancel'] button", 1);
        browser.wait("document.body.innerText.includes('Cancelled and rolled back.')");
        browser.wait("!!document.querySelector('.stages')");
    })
    .await;
    assert_eq!(shop.stock().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_read_and_forms_work_without_scripts() {
    let shop = served().await;
    let before = shop.stock().await;
    look(&shop, |browser, home| {
        browser.look(1280, 900, false);
        browser.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
        browser.open(&format!("{home}/ask?draft=buy%202%20pairs%20of%20Aviator"));
        browser.click("#composer button.primary", 1);
        browser.wait("!!document.querySelector('.turn .receipt')");
        let text = browser.text();
        assert!(text.contains("1 row changed in inventory, 1 row added to transactions."), "{text}");
        browser.click(".turn form[action$='/undo'] button", 1);
        browser.wait("document.body.innerText.includes('Taken back.')");
        // The conversation is still there, and shows what became of the turn.
        browser
            .wait("location.pathname.startsWith('/ask/') && !!document.querySelector('.turn .receipt.off')");
    })
    .await;
    assert_eq!(shop.stock().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_changed_meanwhile_is_marked_before_anybody_commits() {
    let shop = served().await;
    shop.post("/v1/requests", &json!({ "request": "buy 2 pairs of Aviator", "hold": true })).await;
    shop.buy().await;
    look(&shop, |browser, home| {
        browser.look(1280, 900, false);
        browser.open(&format!("{home}/approvals"));
        let text = browser.text();
        assert!(
            text.contains("changed since this run saw")
                && text.contains("inventory SG001: quantity_in_stock was 23, is 22"),
            "{text}"
        );
        assert!(browser.barriers().is_empty());
        // What was shown cannot be committed; the same code runs on the rows of today.
        assert_eq!(browser.evaluate("document.querySelectorAll('.decide button.primary').length"), json!(1));
        browser.click(".decide button[name='rebase']", 1);
        browser.wait("location.pathname.startsWith('/runs/') && !!document.querySelector('.stages')");
    })
    .await;
    assert_eq!(shop.stock().await, 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_made_on_a_page_shown_once_and_revoked_there() {
    let shop = served().await;
    look(&shop, |browser, home| {
        browser.look(1280, 900, false);
        browser.open(&format!("{home}/keys"));
        browser.evaluate("document.querySelector('input[name=name]').focus()");
        browser.write("shop <b>");
        browser.click("form[action='/keys'] button.primary", 1);
        browser.wait("document.querySelector('.notice pre').innerText.startsWith('ordain_')");
        assert!(browser.text().contains("shop <b>"));
        // Loading the page again neither shows the key again nor makes another.
        browser.call("Page.reload", &json!({}));
        browser.wait("!document.querySelector('.notice') && document.readyState === 'complete'");
        browser.open(&format!("{home}/keys"));
        assert!(!browser.text().contains("It is not shown again"));
        browser.click("form[action$='/revoke'] button", 1);
        browser.wait("document.body.innerText.includes('revoked')");
    })
    .await;
    let keys = shop.store().keys().await.unwrap();
    assert!(keys.len() == 1 && keys[0].revoked_at.is_some(), "{keys:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_of_runs_follows_what_happens() {
    let shop = served().await;
    let address = shop.address;
    look(&shop, move |browser, home| {
        browser.look(1280, 900, false);
        browser.open(&format!("{home}/runs"));
        browser.wait("document.body.innerText.includes('No runs here yet')");
        // The list gets changes once it has connected.
        browser.wait("!!document.querySelector('#run-list')._htmx?.sse");
        let body = json!({ "request": "how many Aviator do you have?" }).to_string();
        let client = std::thread::spawn(move || {
            use std::io::{Read as _, Write as _};
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            write!(
                stream,
                "POST /v1/requests HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: \
                 application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
            .unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
        });
        browser.wait("document.body.innerText.includes('how many Aviator do you have?')");
        client.join().unwrap();
    })
    .await;
}

/// Types into a field of a form, in place of what is there.
fn fill(browser: &mut Browser, field: &str, text: &str) {
    browser.wait("document.readyState === 'complete'");
    browser.evaluate(&format!("document.querySelector('[name={field}]').value = {}", json!(text)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_is_edited_tried_saved_and_run() {
    let shop = served_example("data-quality", Planner::Rules, |_| {}).await;
    let file = shop.folder.path().join("shop/checks/checks.json");
    let before = std::fs::read_to_string(&file).unwrap();
    let path = file.clone();
    look(&shop, move |browser, home| {
        browser.look(1280, 900, false);
        browser.open(&format!("{home}/checks/CHK-010"));
        browser.click("a[href$='/edit']", 1);
        browser.wait("location.pathname.endsWith('/edit') && !!document.querySelector('[name=rule]')");
        // What the reader does not understand is said, and can be tried again.
        fill(browser, "rule", "price must be blue");
        browser.click("form.rule button.primary", 1);
        browser.wait("document.querySelector('#preview .chip')?.innerText === 'not understood'");
        fill(browser, "rule", "price must be at least 15");
        fill(browser, "severity", "critical");
        browser.click("form.rule button.primary", 1);
        browser.wait(
            "document.querySelector('#preview')?.innerText.includes('orders: price must be at least 15')",
        );
        browser.wait("document.querySelectorAll('#preview td.offends').length > 0");
        let diff = browser.evaluate("document.querySelector('pre.changed').innerText").to_string();
        assert!(diff.contains("price must be at least 15") && diff.contains("accepted_reading"), "{diff}");
        assert!(browser.barriers().is_empty(), "{:?}", browser.barriers());
        browser.picture("rule-tried");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), before, "nothing is saved by a trial");
        browser.click("form[action='/save-check'] button", 2);
        browser.wait("location.pathname === '/checks/CHK-010' && document.body.innerText.includes('Saved.')");
        browser.wait("document.body.innerText.includes('It has never run.')");
        browser.click("form[action='/checks/CHK-010/run'] button", 1);
        browser
            .wait("location.pathname.startsWith('/runs/') && !!document.querySelector('#results .chip.bad')");
    })
    .await;
    let noted = shop.store().newest_entries(u64::MAX, 2).await.unwrap();
    assert!(noted.iter().any(|entry| entry.kind == "rule"), "{noted:?}");
    let after = std::fs::read_to_string(&file).unwrap();
    assert!(
        after.contains("// The two of the beginning") && after.contains("\"severity\": \"critical\""),
        "{after}"
    );
    // Other checks are as they were.
    let of_others = |text: &str| text.split_once("CHK-011").unwrap().1.to_owned();
    assert_eq!(
        of_others(&after),
        of_others(
            &std::fs::read_to_string(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../examples/data-quality/checks/checks.json"
            ))
            .unwrap()
        )
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_are_added_in_words_and_from_suggestions() {
    let shop = served_example("data-quality", Planner::Rules, |_| {}).await;
    let file = shop.folder.path().join("shop/checks/checks.json");
    look(&shop, move |browser, home| {
        browser.look(1280, 900, false);
        browser.open(&format!("{home}/new-check"));
        fill(browser, "table", "orders");
        fill(browser, "name", "Quantities <b>");
        fill(browser, "rule", "quantity must be above 0");
        fill(browser, "fail_if", "failed > x");
        browser.click("form.rule button.primary", 1);
        browser.wait("!!document.querySelector('#preview .notice.bad')");
        assert_eq!(
            browser.evaluate("document.querySelectorAll('form[action=\"/save-check\"]').length"),
            json!(0)
        );
        fill(browser, "fail_if", "failed > 3");
        browser.click("form.rule button.primary", 1);
        browser.wait("document.querySelector('#preview .facts')?.innerText.includes('understood as')");
        browser.click("form[action='/save-check'] button", 1);
        browser.wait(
            "location.pathname === '/checks/CHK-062' && document.body.innerText.includes('Quantities <b>')",
        );
        browser.open(&format!("{home}/suggested-checks?table=orders"));
        browser.wait("document.querySelectorAll('input[name=add]').length > 3");
        browser.click("input[name=add]", 1);
        browser.click("form[action='/suggested-checks'][method=post] button", 1);
        browser.wait("!!document.querySelector('pre.changed ins')");
        browser.click("form[action='/save-check'] button", 1);
        browser.wait("location.pathname === '/checks' && document.body.innerText.includes('Saved.')");
    })
    .await;
    let files = ordain_checks::read_checks(&shop.folder.path().join("shop")).unwrap();
    assert_eq!(files.problems, []);
    let added = files.entries.iter().find(|entry| entry.check.check_id == "CHK-062").unwrap();
    assert!(added.check.accepted_reading.is_some() && added.check.fail_if.is_some(), "{added:?}");
    assert!(std::fs::read_to_string(&file).unwrap().contains("// The two of the beginning"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_file_becomes_a_chart() {
    let shop = served_example("sales-files", Planner::Rules, |_| {}).await;
    look(&shop, |browser, home| {
        browser.look(1280, 900, false);
        browser.open(&format!("{home}/ask"));
        browser.evaluate(
            "(() => { const dropped = new DataTransfer(); const text = 'month,sold\\n2026-01,5\\n2026-02,7\\n2026-03,2\\n2026-03,1\\n'; \
             dropped.items.add(new File([text], 'sold.csv', { type: 'text/csv' })); \
             document.querySelector('#composer').dispatchEvent(new DragEvent('drop', { dataTransfer: dropped, bubbles: true, cancelable: true })); })()",
        );
        browser.wait("document.querySelector('#chosen').innerText.includes('sold.csv')");
        browser.evaluate("document.querySelector('#request').focus()");
        browser.write("total sold by month");
        browser.press("Enter");
        browser.wait("!!document.querySelector('.turn .receipt')");
        browser.wait("document.querySelectorAll('.turn .chart canvas').length === 1");
        assert!(browser.barriers().is_empty(), "{:?}", browser.barriers());
        browser.picture("ask-chart");
        // None of the answer lies under the box.
        browser.wait("document.querySelector('.turn').getBoundingClientRect().bottom <= document.querySelector('#composer').getBoundingClientRect().top");
    })
    .await;
}

/// A way to the server that can be cut, as a train into a tunnel cuts it.
struct Tunnel {
    address: std::net::SocketAddr,
    is_cut: std::sync::Arc<std::sync::atomic::AtomicBool>,
    open: std::sync::Arc<std::sync::Mutex<Vec<std::net::TcpStream>>>,
}

impl Tunnel {
    fn to(server: std::net::SocketAddr) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (is_cut, open) = (std::sync::Arc::default(), std::sync::Arc::default());
        let tunnel = Self { address, is_cut, open };
        let (is_cut, open) = (tunnel.is_cut.clone(), tunnel.open.clone());
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if is_cut.load(std::sync::atomic::Ordering::Acquire) {
                    continue;
                }
                let Ok(far) = std::net::TcpStream::connect(server) else { continue };
                for (mut from, mut to) in [
                    (client.try_clone().unwrap(), far.try_clone().unwrap()),
                    (far.try_clone().unwrap(), client.try_clone().unwrap()),
                ] {
                    std::thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(std::net::Shutdown::Both);
                    });
                }
                open.lock().unwrap().extend([client, far]);
            }
        });
        tunnel
    }

    fn cut(&self) {
        self.is_cut.store(true, std::sync::atomic::Ordering::Release);
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }

    fn mend(&self) {
        self.is_cut.store(false, std::sync::atomic::Ordering::Release);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_connection_is_said_and_the_run_is_followed_again_when_it_is_back() {
    let shop = served().await;
    let run = shop.begin_slow(&[]).await;
    let tunnel = Tunnel::to(shop.address);
    let (cancel, cancelled) = tokio::sync::oneshot::channel::<()>();
    let home = format!("http://{}", tunnel.address);
    let path = format!("/runs/{run}");
    let looking = tokio::task::spawn_blocking(move || {
        let mut browser = Browser::start();
        browser.look(1280, 900, false);
        browser.open(&format!("{home}{path}"));
        browser.wait("!!document.querySelector('.live')._htmx?.sse");
        tunnel.cut();
        browser.wait("!!document.querySelector('#lost')");
        assert!(browser.text().contains("The connection is lost"));
        tunnel.mend();
        browser.wait("!document.querySelector('#lost')");
        cancel.send(()).unwrap();
        // What happened meanwhile is shown, without loading the page.
        browser.wait("!!document.querySelector('.live .stages')");
    });
    cancelled.await.unwrap();
    let answer = shop.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    looking.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_report_of_checks_is_a_file_that_everybody_can_read() {
    let shop = served_example("data-quality", Planner::Rules, |_| {}).await;
    let report = shop.post("/v1/checks/run", &json!({})).await.json();
    let report: ordain_checks::RunReport = serde_json::from_value(report).unwrap();
    let path = shop.folder.path().join("report.html");
    std::fs::write(&path, ordain_ui::report::checks(&report, &[])).unwrap();
    tokio::task::spawn_blocking(move || {
        let mut browser = Browser::start();
        for (width, is_dark) in [(1280, false), (1280, true), (320, false)] {
            browser.look(width, 900, is_dark);
            browser.open(&format!("file://{}", path.display()));
            let barriers = browser.barriers();
            assert!(barriers.is_empty(), "at {width}, dark {is_dark}: {barriers:#?}");
        }
        browser.click("#show-pass", 1);
        browser.wait("getComputedStyle(document.querySelector('.result.fail')).display === 'none'");
        let (asked, wrong) = browser.seen();
        assert!(
            asked.iter().all(|address| address.starts_with("file:")) && wrong.is_empty(),
            "{asked:?} {wrong:?}"
        );
    })
    .await
    .unwrap();
}
