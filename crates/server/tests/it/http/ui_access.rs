//! Who may see the web UI, and which forms it takes.

use super::client;
use super::world::{Served, served, served_with};

pub(super) const PAGE: &str = "Accept: text/html";
pub(super) const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

/// Signs in with a key and gives the cookie.
pub(super) async fn signed_in(shop: &Served, scopes: &[&str]) -> String {
    let (_, line) = shop.key(|key| key.scopes = scopes.iter().map(|&scope| scope.to_owned()).collect()).await;
    let secret = line.rsplit(' ').next().unwrap().to_owned();
    let body = format!("key={secret}&next=%2Fruns%3Fstate%3Dheld");
    let answer = client::send(shop.address, "POST", "/sign-in", &[FORM], body.as_bytes()).await;
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, Some("/runs?state=held")),
        "{}",
        answer.text()
    );
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    format!("Cookie: {}", cookie.split(';').next().unwrap())
}

/// The token that the forms of a page send.
pub(super) async fn token(shop: &Served, cookie: &str) -> String {
    let page = client::send(shop.address, "GET", "/ask", &[PAGE, cookie], b"").await.text();
    field(&page, "token")
}

/// What the first field of a name holds on a page.
pub(super) fn field(page: &str, name: &str) -> String {
    let begin = format!("name=\"{name}\" value=\"");
    let at = page.find(&begin).unwrap_or_else(|| panic!("the page has no {name}: {page}")) + begin.len();
    page[at..].split('"').next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_session_pages_lead_to_the_sign_in_and_back() {
    let shop = served_with(|options| options.keys_required = true).await;
    let answer = client::send(shop.address, "GET", "/runs?state=held", &[PAGE], b"").await;
    let to = answer.header("location").unwrap_or_default();
    assert_eq!((answer.status, to), (303, "/sign-in?next=%2Fruns%3Fstate%3Dheld"));
    let page = client::send(shop.address, "GET", to, &[PAGE], b"").await;
    assert_eq!(page.status, 200);
    assert!(page.text().contains("value=\"/runs?state=held\""), "{}", page.text());
    let wrong =
        client::send(shop.address, "POST", "/sign-in", &[FORM], b"key=ordain_x&next=//evil.example").await;
    assert_eq!(wrong.status, 401);
    assert!(wrong.text().contains("the key is not known here") && !wrong.text().contains("evil.example"));
    assert_eq!(wrong.header("set-cookie"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_shows_what_its_key_may_do_and_ends_with_it() {
    let shop = served_with(|options| options.keys_required = true).await;
    let reader = signed_in(&shop, &["read"]).await;
    let page = client::send(shop.address, "GET", "/ask", &[PAGE, &reader], b"").await;
    assert_eq!(page.status, 200);
    assert!(!page.text().contains("id=\"composer\"") && page.text().contains("scope"), "{}", page.text());
    let token = token(&shop, &reader).await;
    let run = format!("token={token}");
    let refused =
        client::send(shop.address, "POST", "/checks/run", &[PAGE, FORM, &reader], run.as_bytes()).await;
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("scope"), "{}", refused.text());
    let api = client::send(shop.address, "GET", "/v1/runs", &[&reader], b"").await;
    assert_eq!(api.status, 401, "the API takes no cookies, which other sites could make a browser send");
    let out = client::send(shop.address, "POST", "/sign-out", &[FORM, &reader], run.as_bytes()).await;
    assert_eq!(out.header("location"), Some("/sign-in"));
    let again = client::send(shop.address, "GET", "/runs", &[PAGE, &reader], b"").await;
    assert_eq!(again.status, 303);
    let writer = signed_in(&shop, &["read", "run"]).await;
    let key = shop.store().keys().await.unwrap().pop().unwrap();
    shop.store().revoke_key(&key.key_id, ordain_store::EntryNote::by("test", "test")).await.unwrap();
    shop.service.reload_keys().await.unwrap();
    let ended = client::send(shop.address, "GET", "/runs", &[PAGE, &writer], b"").await;
    assert_eq!(ended.status, 303, "a revoked key ends its sessions");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forms_of_other_sites_and_without_their_token_are_refused() {
    let shop = served().await;
    let run = shop.buy().await.json()["run_id"].as_str().unwrap().to_owned();
    let stock = shop.stock().await;
    let path = format!("/runs/{run}/undo");
    let token = token(&shop, "X-Nothing: 1").await;
    let good = format!("token={token}");
    let foreign = [
        (good.as_str(), "Origin: http://evil.example"),
        (good.as_str(), "Sec-Fetch-Site: cross-site"),
        (good.as_str(), "Sec-Fetch-Site: same-site"),
        ("token=", "X-Nothing: 1"),
        ("", "X-Nothing: 1"),
        ("token=0000", "X-Nothing: 1"),
    ];
    for (body, header) in foreign {
        let answer = client::send(shop.address, "POST", &path, &[PAGE, FORM, header], body.as_bytes()).await;
        assert_eq!(answer.status, 403, "{body} {header}: {}", answer.text());
        assert!(answer.header("content-type").unwrap().starts_with("text/html"));
    }
    assert_eq!(shop.stock().await, stock);
    let answer = client::send(shop.address, "POST", &path, &[PAGE, FORM], good.as_bytes()).await;
    assert_eq!((answer.status, shop.stock().await), (303, stock + 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_diff_that_was_not_the_one_on_the_page_is_not_committed() {
    let shop = served().await;
    let body = serde_json::json!({ "request": "buy 2 pairs of Aviator", "hold": true });
    let run = shop.post("/v1/requests", &body).await.json()["run_id"].as_str().unwrap().to_owned();
    let token = token(&shop, "X-Nothing: 1").await;
    let form = format!("token={token}&seen=0123");
    let path = format!("/runs/{run}/approve");
    let answer = client::send(shop.address, "POST", &path, &[PAGE, FORM], form.as_bytes()).await;
    assert_eq!(answer.header("location"), Some(format!("/runs/{run}?done=changed").as_str()));
    assert_eq!(shop.get(&format!("/v1/runs/{run}")).await.json()["state"], "held");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_of_rows_that_changed_since_the_page_was_loaded_is_refused() {
    let shop = served().await;
    let body = serde_json::json!({ "request": "buy 2 pairs of Aviator", "hold": true });
    let run = shop.post("/v1/requests", &body).await.json()["run_id"].as_str().unwrap().to_owned();
    let page = client::send(shop.address, "GET", "/approvals", &[PAGE], b"").await.text();
    shop.buy().await;
    let form = format!("token={}&seen={}", field(&page, "token"), field(&page, "seen"));
    let path = format!("/runs/{run}/approve");
    let answer = client::send(shop.address, "POST", &path, &[PAGE, FORM], form.as_bytes()).await;
    assert_eq!(answer.header("location"), Some(format!("/runs/{run}?done=conflict").as_str()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_are_changed_by_admins_alone() {
    let shop = served_with(|options| options.keys_required = true).await;
    let cookie = signed_in(&shop, &["run", "approve"]).await;
    for path in ["/new-check", "/suggested-checks", "/checks/any/edit", "/keys", "/ledger"] {
        let answer = client::send(shop.address, "GET", path, &[PAGE, &cookie], b"").await;
        assert_eq!(answer.status, 403, "{path}");
    }
    let form = format!("token={}&draft=x", token(&shop, &cookie).await);
    let answer =
        client::send(shop.address, "POST", "/save-check", &[PAGE, FORM, &cookie], form.as_bytes()).await;
    assert_eq!(answer.status, 403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_come_compressed_with_a_policy_and_files_are_kept_for_ever() {
    let shop = served().await;
    let page = client::send(shop.address, "GET", "/ask", &[PAGE, "Accept-Encoding: br, gzip"], b"").await;
    assert_eq!(page.header("content-encoding"), Some("gzip"));
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'self';"));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let plain = client::send(shop.address, "GET", "/ask", &[PAGE], b"").await.text();
    let mut total = page.body.len();
    for address in plain.split('"').filter(|part| part.starts_with("/assets/")) {
        let asset = client::send(shop.address, "GET", address, &["Accept-Encoding: gzip"], b"").await;
        assert_eq!(asset.status, 200, "{address}");
        assert!(asset.header("cache-control").unwrap().contains("immutable"));
        total += asset.body.len();
    }
    assert!(total < 60_000, "{total} bytes on first load");
    assert!(
        !plain.contains(" style=") && !plain.contains("<style") && !plain.contains(" onclick"),
        "{plain}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_the_web_ui_has_no_page_at_its_root() {
    let shop = served_with(|options| options.ui = false).await;
    assert_eq!(shop.get("/").await.status, 404);
    assert_eq!(shop.get("/ask").await.status, 404);
    assert_eq!(shop.get("/docs").await.status, 200);
}
