//! The contract: the document in the repository is the one that the code makes, and the pages that show it work alone.

use std::path::Path;

use ordain_server::http;

use super::world::served;

/// Where the document is kept. `ORDAIN_UPDATE=1` writes it anew.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/openapi.json");

#[test]
fn the_document_in_the_repository_is_the_one_that_the_code_makes() {
    let mut made = format!("{:#}", http::document());
    made.push('\n');
    if std::env::var_os("ORDAIN_UPDATE").is_some() {
        fs_err::write(KEPT, &made).unwrap();
    }
    let kept = fs_err::read_to_string(Path::new(KEPT)).unwrap();
    assert!(
        kept == made,
        "docs/reference/openapi.json is not what the code makes; ORDAIN_UPDATE=1 writes it anew"
    );
}

#[test]
fn every_operation_is_described_and_every_answer_has_a_reason() {
    let document = http::document();
    assert_eq!(document["openapi"], "3.1.0");
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let name = format!("{method} {path}");
            assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
            assert!(operation["operationId"].is_string(), "{name}");
            for (status, response) in operation["responses"].as_object().unwrap() {
                assert!(
                    response["description"].as_str().is_some_and(|text| !text.is_empty()),
                    "{name} {status}"
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pages_come_whole_from_the_server_itself() {
    let shop = served().await;
    let page = shop.get("/docs").await;
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    assert!(page.header("content-security-policy").unwrap().contains("script-src 'self'"));
    for path in page.text().split('"').filter(|part| part.starts_with("/docs/")) {
        let part = shop.get(path).await;
        assert_eq!(part.status, 200, "{path}");
        assert!(!part.body.is_empty());
    }
    assert!(
        !page.text().contains("http://") && !page.text().contains("https://"),
        "nothing comes from elsewhere"
    );
    let page = shop.get("/redoc").await.text();
    assert!(
        page.contains("/v1/requests") && page.contains("RunRecord") && !page.contains("<script"),
        "{page}"
    );
    assert_eq!(shop.get("/openapi.json").await.json()["info"]["title"], "Ordain");
}
