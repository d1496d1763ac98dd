//! Ways through the web UI: words while they are typed, tables, links into pages, and what happens meanwhile.

use ordain_store::EntryNote;
use ordain_types::{Question, RunKind, RunRecord, RunState, Usage};
use serde_json::json;

use super::client;
use super::ui::look;
use super::ui_access::{FORM, PAGE, field, signed_in, token};
use super::world::{served, served_with};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_are_understood_and_completed_while_they_are_typed() {
    let shop = served().await;
    look(&shop, |browser, home| {
        browser.look(1280, 900, false);
        browser.open(&format!("{home}/ask"));
        browser.wait("document.activeElement.id === 'request'");
        browser.write("buy 2 moo");
        browser.wait(
            "document.querySelector('#next [role=option]')?.dataset.text.toLowerCase().startsWith('moon')",
        );
        assert!(browser.barriers().is_empty(), "{:?}", browser.barriers());
        browser.press("ArrowDown");
        browser.wait("document.querySelector('#request').getAttribute('aria-activedescendant') === 'next-0'");
        browser.press("Enter");
        browser.wait("document.querySelector('#request').value.toLowerCase().startsWith('buy 2 moon')");
        browser.wait("document.querySelector('.reads')?.innerText.startsWith('Read as')");
        browser.write("and 1 unicorn");
        browser.wait("document.querySelector('#mirror [data-kind=unknown]')?.innerText === 'unicorn'");
        browser.wait("document.querySelector('.reads').innerText.includes('“unicorn”')");
        assert!(browser.barriers().is_empty(), "{:?}", browser.barriers());
        browser.picture("ask-words");
        let runs = browser.evaluate("document.querySelectorAll('.turn').length");
        assert_eq!(runs, json!(0), "choosing a word sends nothing");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_a_row_and_a_cell_have_addresses_and_a_committed_change_is_not_offered_again() {
    let shop = served().await;
    let held = json!({ "request": "buy 2 pairs of Aviator", "hold": true });
    let run = shop.post("/v1/requests", &held).await.json()["run_id"].as_str().unwrap().to_owned();
    look(&shop, move |browser, home| {
        browser.look(1280, 900, false);
        browser.open(&format!("{home}/runs/{run}#step-1-L1"));
        browser.wait("document.querySelector(':target')?.matches('.code li')");
        browser.click(".diff td.dirty a.arrow", 1);
        browser.wait("location.hash === '#inventory-1-quantity_in_stock' && document.querySelector(':target')?.matches('td.dirty')");
        browser.click(".diff .sign a", 1);
        browser.wait("document.querySelector(':target')?.matches('tr.changed')");
        browser.open(&format!("{home}/approvals"));
        browser.click(".decide button.primary", 1);
        browser.wait("document.body.innerText.includes('Committed.')");
        // Back to the page with the button: it shows how things stand now.
        browser.evaluate("history.back()");
        browser.wait("location.pathname === '/approvals' && document.body.innerText.includes('Nothing waits for you')");
        browser.evaluate("history.forward()");
        browser.wait("location.pathname.startsWith('/runs/') && document.querySelectorAll('form[action$=\"/approve\"]').length === 0");
        browser.wait("document.readyState === 'complete' && !!document.querySelector('.rate')");
        browser.click(".fold summary", 1);
        browser.click(".rate button[value=good]", 1);
        browser.wait("document.querySelector('#rating')?.innerText.includes('rated good')");
        assert!(browser.barriers().is_empty(), "{:?}", browser.barriers());
    })
    .await;
    let runs = shop.get("/v1/runs").await.json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "{runs}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_filtered_by_a_part_of_a_value_and_sorted_by_a_column() {
    let shop = served().await;
    let page = async |query: &str| {
        client::send(shop.address, "GET", &format!("/tables/inventory{query}"), &[PAGE], b"").await
    };
    let found = page("?column=name&value=MOO").await.text();
    assert!(found.contains("Moon") && !found.contains(">Classic<"), "{found}");
    let (dear, cheap) = (page("?sort=price&order=descending").await.text(), page("?sort=price").await.text());
    let is_before = |page: &str| page.find("Moon") < page.find("Classic");
    assert!(is_before(&dear) && !is_before(&cheap));
    assert!(
        dear.contains("aria-sort=\"descending\"") && dear.contains("sort=price&amp;order=ascending"),
        "{dear}"
    );
    let none = page("?column=name&value=%25").await.text();
    assert!(none.contains("contain “%”") && none.contains("Show all rows"), "{none}");
    for wrong in ["?sort=nope", "?column=nope&value=x", "?sort=price%22%3B--", "?sort=price&order=up"] {
        let status = page(wrong).await.status;
        assert!(matches!(status, 400 | 404), "{wrong}: {status}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_are_found_by_words_and_entries_of_the_ledger_by_number_and_run() {
    let shop = served().await;
    let run = shop.buy().await.json()["run_id"].as_str().unwrap().to_owned();
    shop.buy().await;
    let rows = async |path: &str| {
        let page = client::send(shop.address, "GET", path, &[PAGE], b"").await.text();
        page.matches("<tr data-row>").count()
    };
    for (path, found) in [
        (format!("/ledger?about={run}"), 1),
        ("/ledger?about=1".to_owned(), 1),
        ("/ledger?about=999999".to_owned(), 0),
        ("/ledger?about=%3Cb%3E".to_owned(), 0),
        ("/runs?words=AVIATOR".to_owned(), 2),
        ("/runs?words=aviator&state=undone".to_owned(), 0),
        (format!("/runs?words={run}"), 1),
        ("/runs?words=%25".to_owned(), 0),
    ] {
        assert_eq!(rows(&path).await, found, "{path}");
    }
    let none = client::send(shop.address, "GET", "/runs?words=%3Cb%3E&state=held", &[PAGE], b"").await.text();
    assert!(none.contains("No run with these words here.") && none.contains("value=\"&lt;b&gt;\""), "{none}");
    assert!(none.contains("/runs?state=undone&amp;words=%3Cb%3E"), "{none}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_of_a_run_says_what_its_model_cost() {
    let shop = served().await;
    let page = async |model: &str| {
        let mut record = RunRecord::new(shop.store().new_run_id().unwrap(), RunKind::Ask, "how many?");
        record.plan.model = Some(model.to_owned());
        record.usage = Usage { model_calls: 1, input_tokens: 1_000_000, output_tokens: 500_000 };
        let record = shop.store().record(record, EntryNote::by("local", "test")).await.unwrap();
        client::send(shop.address, "GET", &format!("/runs/{}", record.run_id), &[PAGE], b"").await.text()
    };
    let priced = page("openai:gpt-4.1-mini").await;
    assert!(priced.contains("$1.2000") && priced.contains("by the prices of 20"), "{priced}");
    assert!(page("ollama:own").await.contains("the price of this model is not known"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_form_that_is_not_accepted_comes_back_with_what_was_typed() {
    let shop = served().await;
    let form =
        format!("token={}&name=Ann%20Example&scope=run&expires=banana", token(&shop, "X-Nothing: 1").await);
    let answer = client::send(shop.address, "POST", "/keys", &[PAGE, FORM], form.as_bytes()).await;
    let page = answer.text();
    assert_eq!(answer.status, 422, "{page}");
    assert!(page.contains("value=\"Ann Example\"") && page.contains("value=\"banana\""), "{page}");
    assert!(page.contains("aria-label=\"Screens\"") && page.contains("role=\"alert\""), "{page}");
    assert!(shop.store().keys().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_with_a_question_is_among_what_waits_and_takes_its_answer_there() {
    let shop = served().await;
    let mut record = RunRecord::new(shop.store().new_run_id().unwrap(), RunKind::Ask, "write the report");
    record.state = RunState::Waiting;
    record.plan.questions.push(Question { text: "For <whom>?".to_owned(), ..Question::default() });
    shop.store().record(record.clone(), EntryNote::by("local", "test")).await.unwrap();
    let page = client::send(shop.address, "GET", "/approvals", &[PAGE], b"").await.text();
    assert!(page.contains("For &lt;whom&gt;?"), "{page}");
    let action = format!("action=\"/runs/{}/answer\"", record.run_id);
    assert!(page.contains(&action) && page.contains("required"), "{page}");
    let form = format!("token={}", field(&page, "token"));
    let path = format!("/runs/{}/reject", record.run_id);
    client::send(shop.address, "POST", &path, &[PAGE, FORM], form.as_bytes()).await;
    let path = format!("/runs/{}/answer", record.run_id);
    let late = client::send(shop.address, "POST", &path, &[PAGE, FORM], form.as_bytes()).await;
    assert!(late.header("location").unwrap().ends_with("?done=already"), "{}", late.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_ended_meanwhile_is_not_cancelled_and_an_ended_session_does_nothing() {
    let shop = served().await;
    let run = shop.buy().await.json()["run_id"].as_str().unwrap().to_owned();
    let form = format!("token={}", token(&shop, "X-Nothing: 1").await);
    let path = format!("/runs/{run}/cancel");
    let answer = client::send(shop.address, "POST", &path, &[PAGE, FORM], form.as_bytes()).await;
    assert!(answer.header("location").unwrap().ends_with("?done=ended"), "{}", answer.text());

    let shop = served_with(|options| options.keys_required = true).await;
    let cookie = signed_in(&shop, &["run", "approve", "admin"]).await;
    let form = format!("token={}", token(&shop, &cookie).await);
    client::send(shop.address, "POST", "/sign-out", &[FORM, &cookie], form.as_bytes()).await;
    let undo =
        client::send(shop.address, "POST", "/runs/x/undo", &[PAGE, FORM, &cookie], form.as_bytes()).await;
    assert!(
        undo.status == 303 && undo.header("location").unwrap().starts_with("/sign-in"),
        "{}",
        undo.text()
    );
}
