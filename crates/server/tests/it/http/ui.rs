//! The web UI in a real browser: every screen in light, dark and on a phone, and the ways through it.

use serde_json::json;

use super::world::{Served, served, served_example};
use crate::browser::Browser;
use ordain_engine::Planner;

/// Text of somebody who wants it to act.
const HOSTILE: &str = "<img src=x onerror=window.hit=1><script>window.hit=1</script>\u{202e}\u{7}'\"&amp;";

/// Looks at pages in a browser, away from the tasks that serve them.
async fn look<T: Send + 'static>(
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
        let pages = [("checks", "/checks".to_owned()), ("check", "/checks/CHK-020".to_owned())];
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
        browser.wait("location.pathname === '/ask'");
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
            text.contains("changed since this run saw") && text.contains("quantity_in_stock was 23, is 22"),
            "{text}"
        );
        assert!(browser.barriers().is_empty());
        browser.click(".decide button.primary", 1);
        browser.wait("document.body.innerText.includes('rows that this run touches have changed meanwhile')");
        browser.wait("document.body.innerText.includes('conflicted')");
    })
    .await;
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
        // The list is told what changes once it has connected.
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
