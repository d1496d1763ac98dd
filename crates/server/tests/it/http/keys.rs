//! Who may call, for what, and how often.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ordain_server::Address;
use ordain_server::http::{self, HttpOptions, ServeError};
use ordain_store::{Clock, EntryNote};
use serde_json::json;

use super::client;
use super::world::{BUY, Served, served, served_at, served_with};

/// A server that asks for keys.
async fn guarded() -> Served {
    served_with(|options| options.keys_required = true).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_but_the_open_ones_asks_for_a_key() {
    let shop = guarded().await;
    let open = ["/healthz", "/readyz", "/version"];
    for (path, item) in http::document()["paths"].as_object().unwrap() {
        let path = path.replace("{run}", "x").replace("{name}", "x").replace("{plan}", "x");
        let path = path.replace("{table}", "inventory").replace("{session}", "x");
        for method in item.as_object().unwrap().keys().map(|name| name.to_uppercase()) {
            let answer =
                client::send(shop.address, &method, &path, &["Content-Type: application/json"], b"{}").await;
            if open.contains(&path.as_str()) {
                assert_eq!(answer.status, 200, "{path}");
            } else {
                // Routes of other protocols have their errors in an object of its own.
                let told = answer.json();
                let code = told["error"]["code"].as_str().or(told["code"].as_str());
                assert_eq!((answer.status, code), (401, Some("key_missing")), "{method} {path}");
                assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"ordain\""));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_does_what_its_scopes_say_and_the_ledger_knows_it() {
    let shop = guarded().await;
    let (reader, read) = shop.key(|new| new.scopes = vec!["read".to_owned()]).await;
    let (runner, run) = shop.key(|new| new.scopes = vec!["run".to_owned()]).await;
    assert_ne!(reader, runner);
    let body = json!({ "request": "buy", "plan": BUY, "hold": true });
    let refused = shop.post_with("/v1/requests", &[&read], &body).await;
    assert_eq!((refused.status, refused.problem().as_str()), (403, "scope_missing"));
    let held = shop.post_with("/v1/requests", &[&run], &body).await.json();
    let path = format!("/v1/runs/{}/approve", held["run_id"].as_str().unwrap());
    let refused = shop.post_with(&path, &[&run], &json!({})).await;
    assert_eq!((refused.status, refused.problem().as_str()), (403, "scope_missing"));
    let (approver, approve) = shop.key(|new| new.scopes = vec!["approve".to_owned()]).await;
    assert_eq!(shop.post_with(&path, &[&approve], &json!({})).await.status, 200);
    let (_, admin) = shop.key(|new| new.scopes = vec!["admin".to_owned()]).await;
    let ledger = client::send(shop.address, "GET", "/v1/ledger?limit=500", &[&admin], b"").await.json();
    let who: Vec<_> =
        ledger["entries"].as_array().unwrap().iter().map(|entry| entry["body"]["who"].clone()).collect();
    assert!(who.contains(&json!(runner)) && who.contains(&json!(approver)), "{who:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_expired_and_revoked_keys_are_refused() {
    let shop = guarded().await;
    let status = async |line: &str| {
        let answer = client::send(shop.address, "GET", "/v1/tables", &[line], b"").await;
        (answer.status, if answer.status == 200 { String::new() } else { answer.problem() })
    };
    let (id, line) = shop.key(|_| {}).await;
    assert_eq!(status(&line).await.0, 200);
    let mut wrong = line.clone();
    let last = wrong.pop().unwrap();
    wrong.push(if last == '0' { '1' } else { '0' });
    assert_eq!(status(&wrong).await, (401, "key_unknown".to_owned()));
    for odd in
        ["Authorization: Bearer", "Authorization: Bearer sk-anything", "Authorization: Bearer ordain_a_b"]
    {
        assert_eq!(status(odd).await.0, 401, "{odd}");
    }
    assert_eq!(status("Authorization: Basic dTpw").await, (401, "key_missing".to_owned()));
    shop.store().revoke_key(&id, EntryNote::by("test", "test")).await.unwrap();
    shop.service.reload_keys().await.unwrap();
    assert_eq!(status(&line).await, (401, "key_ended".to_owned()));
    let (_, short) = shop.key(|new| new.expires_in = Some(Duration::from_millis(1))).await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(status(&short).await, (401, "key_ended".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rotated_key_is_the_same_caller_and_a_request_sent_again_is_carried_out_once() {
    let shop = guarded().await;
    let (id, old) = shop.key(|new| new.scopes = vec!["run".to_owned()]).await;
    let note = || EntryNote::by("test", "test");
    let buy = async |line: &str| {
        let lines = [line, "Content-Type: application/json", "Idempotency-Key: of-may"];
        let body = json!({ "request": "buy an Aviator", "plan": super::world::BUY }).to_string();
        client::send(shop.address, "POST", "/v1/requests", &lines, body.as_bytes()).await.json()
    };
    let first = buy(&old).await;
    assert_eq!(first["state"], "committed", "{first}");
    let (_, secret) = shop.store().rotate_key(&id, Duration::from_hours(1), note()).await.unwrap();
    shop.service.reload_keys().await.unwrap();
    let line = format!("Authorization: Bearer {}", secret.0);
    for line in [&old, &line] {
        assert_eq!(buy(line).await["run_id"], first["run_id"]);
    }
    shop.store().revoke_key(&id, note()).await.unwrap();
    assert!(shop.store().rotate_key(&id, Duration::from_hours(1), note()).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_asks_too_often_is_told_when_to_come_back() {
    let shop = guarded().await;
    let (_, line) = shop.key(|new| new.requests_per_minute = Some(3)).await;
    for left in (0..3).rev() {
        let answer = client::send(shop.address, "GET", "/v1/tables", &[&line], b"").await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("ratelimit-policy"), Some("\"requests\";q=3;w=60"));
        assert!(answer.header("ratelimit").unwrap().starts_with(&format!("\"requests\";r={left};")));
    }
    let refused = client::send(shop.address, "GET", "/v1/tables", &[&line], b"").await;
    assert_eq!((refused.status, refused.problem().as_str()), (429, "requests_limit"));
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    let (_, other) = shop.key(|_| {}).await;
    let answer = client::send(shop.address, "GET", "/v1/tables", &[&other], b"").await;
    assert_eq!(answer.status, 200, "another key has its own room");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_has_no_more_cells_than_its_own() {
    let shop = guarded().await;
    let (_, line) = shop.key(|new| new.cells = Some(1)).await;
    let run = shop.begin_slow(&[&line]).await;
    let refused = shop.post_with("/v1/exec", &[&line], &json!({ "code": "pass" })).await;
    assert_eq!((refused.status, refused.problem().as_str()), (429, "cells_limit"));
    shop.post_with(&format!("/v1/runs/{run}/cancel"), &[&line], &json!({})).await;
    assert_eq!(shop.post_with("/v1/exec", &[&line], &json!({ "code": "pass" })).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_others_can_reach_needs_a_key_first() {
    let shop = served().await;
    let outside =
        HttpOptions::new("shop", "0.0.0.0:0".parse::<Address>().unwrap(), shop.folder.path().to_owned());
    let refused = http::check_address(&outside, shop.store()).await.unwrap_err();
    assert!(matches!(refused, ServeError::NoKeys { .. }));
    assert!(refused.hint().unwrap().contains("ordain keys create"));
    shop.key(|_| {}).await;
    http::check_address(&outside, shop.store()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_no_key_is_needed_a_wrong_one_is_refused_all_the_same() {
    let shop = served().await;
    let forged = format!("ordain_0123456789ab_{}", "0".repeat(64));
    for (key, status) in [("none", 200), ("sk-none", 401), ("x", 401), (forged.as_str(), 401), ("", 401)] {
        let line = format!("Authorization: Bearer {key}");
        let answer = client::send(shop.address, "GET", "/v1/tables", &[&line], b"").await;
        assert_eq!(answer.status, status, "{key}");
        assert!(status == 200 || answer.text().contains("`none`"), "it says what tools may send");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_jumps_ends_keys_by_what_it_says_and_harms_nothing_else() {
    const DAY: u64 = 86_400_000;
    let now = Arc::new(AtomicU64::new(1_800_000_000_000));
    let clock = Clock::new({
        let now = Arc::clone(&now);
        move || now.load(Ordering::SeqCst)
    });
    let shop = served_at(clock, |options| options.keys_required = true).await;
    let (_, line) = shop.key(|new| new.expires_in = Some(Duration::from_hours(24))).await;
    let (_, lasting) = shop.key(|_| {}).await;
    let body = json!({ "request": "buy", "plan": BUY });
    let buy = async |line: &str| shop.post_with("/v1/requests", &[line, "Idempotency-Key: one"], &body).await;
    let first = buy(&line).await;
    assert_eq!(first.json()["state"], "committed", "{}", first.text());

    // Forward over the end: refused at once, though the same second of the machine.
    now.fetch_add(2 * DAY, Ordering::SeqCst);
    assert_eq!(buy(&line).await.problem(), "key_ended");
    assert_eq!(buy(&lasting).await.json()["state"], "committed");
    // Back again: a key ends by the clock, so it is good once more. Revoking is what holds for ever.
    now.fetch_sub(2 * DAY, Ordering::SeqCst);
    let repeated = buy(&line).await;
    assert_eq!((repeated.status, repeated.header("idempotent-replayed")), (200, Some("true")));
    // Far back: new runs and entries come behind the old ones all the same.
    now.fetch_sub(365 * DAY, Ordering::SeqCst);
    let old = shop.post_with("/v1/requests", &[&lasting], &body).await;
    assert_eq!(old.json()["state"], "committed", "{}", old.text());
    assert!(shop.store().verify_ledger().await.unwrap().is_whole());
    // Requests a minute are counted by a clock that does not jump.
    let listed = client::send(shop.address, "GET", "/v1/runs", &[&lasting], b"").await;
    assert!(listed.header("ratelimit").is_some_and(|rate| rate.contains("r=")), "{:?}", listed.headers);
}
