//! The whole way of somebody new, by the real binary and in a real browser: a workspace is made and served, a purchase
//! is asked for, held, approved and taken back, and a rule is added, run, changed and run again.

use ordain_testkit::browser::Browser;
use serde_json::json;

use crate::command::init;
use crate::serve::Server;

#[track_caller]
fn wait(browser: &mut Browser, expression: &str) {
    browser.wait(expression).unwrap_or_else(|error| panic!("{expression}: {error:#}"));
}

#[track_caller]
fn click(browser: &mut Browser, selector: &str) {
    browser.click(selector, 1).unwrap_or_else(|error| panic!("{selector}: {error:#}"));
}

/// Types into a field of a form, in place of what is there.
fn fill(browser: &mut Browser, field: &str, text: &str) {
    wait(browser, "document.readyState === 'complete'");
    wait(browser, &format!("!!document.querySelector('[name={field}]')"));
    browser.evaluate(&format!("document.querySelector('[name={field}]').value = {}", json!(text))).unwrap();
}

/// Presses *Try it*, waits for what it shows, and saves that.
fn try_and_save(browser: &mut Browser, rule: &str) {
    fill(browser, "rule", rule);
    click(browser, "form.rule button.primary");
    wait(browser, "!!document.querySelector('form[action=\"/save-check\"]')");
    click(browser, "form[action='/save-check'] button");
    wait(browser, "document.body.innerText.includes('Saved.')");
}

#[test]
fn a_newcomer_buys_approves_undoes_and_edits_a_rule_in_the_browser() {
    let (_folder, shop) = init("sunglasses");
    let server = Server::start(shop.to_str().unwrap(), &[], |_| {});
    let home = format!("http://{}", server.address);
    let stock = || server.get("/v1/tables/inventory/rows").json()["rows"][0]["quantity_in_stock"].clone();
    let before = stock();

    let mut browser = Browser::start().unwrap_or_else(|error| panic!("{error:#}"));
    browser.look(1280, 900, false).unwrap();
    browser.open(&home).unwrap();
    // From the first page on there is nothing to type but the request.
    click(&mut browser, "a[href='/ask']");
    wait(&mut browser, "document.activeElement?.id === 'request'");
    fill(&mut browser, "request", "buy 2 pairs of Aviator");
    fill(&mut browser, "mode", "hold");
    click(&mut browser, "#composer button.primary");
    wait(&mut browser, "document.querySelector('.turn .receipt')?.innerText.includes('Waits for approval')");
    wait(&mut browser, "document.querySelectorAll('.turn .diff td.dirty').length === 1");
    assert_eq!(stock(), before, "a held change is not made");

    click(&mut browser, ".turn form[action$='/approve'] button.primary");
    wait(
        &mut browser,
        "location.pathname.startsWith('/ask/') && document.body.innerText.includes('Committed.')",
    );
    assert_eq!(stock(), json!(before.as_i64().unwrap() - 2));
    click(&mut browser, ".turn form[action$='/undo'] button");
    wait(&mut browser, "document.body.innerText.includes('Taken back.')");
    assert_eq!(stock(), before);

    browser.open(&format!("{home}/checks")).unwrap();
    click(&mut browser, "a[href^='/new-check']");
    fill(&mut browser, "table", "inventory");
    fill(&mut browser, "name", "Prices are positive");
    try_and_save(&mut browser, "price must be above 0");
    click(&mut browser, "form[action$='/run'] button");
    wait(
        &mut browser,
        "location.pathname.startsWith('/runs/') && !!document.querySelector('#results .chip.good')",
    );

    click(&mut browser, "#results a[href^='/checks/']");
    click(&mut browser, "a[href$='/edit']");
    try_and_save(&mut browser, "price must be above 100");
    click(&mut browser, "form[action$='/run'] button");
    wait(
        &mut browser,
        "location.pathname.startsWith('/runs/') && !!document.querySelector('#results .chip.bad')",
    );
}
