//! `/docs` and `/redoc` in a real browser: what a person sees, what is loaded, and what the console says.

use super::world::served;
use crate::browser::Browser;

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
        browser.stays_at_home(&home);
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
        browser.stays_at_home(&home);
    })
    .await
    .unwrap();
}
