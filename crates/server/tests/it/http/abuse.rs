//! Callers that are slow, large, malformed or hostile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::client;
use super::world::{BUY, Served, served, served_with};

const JSON: &str = "Content-Type: application/json";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_header_that_never_ends_is_cut_off_and_others_are_served() {
    let shop = served_with(|options| options.header_time = Duration::from_millis(300)).await;
    let mut slow = TcpStream::connect(shop.address).await.unwrap();
    slow.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").await.unwrap();
    assert_eq!(shop.get("/healthz").await.status, 200);
    let mut rest = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(20), slow.read_to_end(&mut rest)).await;
    assert!(closed.is_ok(), "the connection is closed by the server");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_never_ends_is_answered_and_given_up() {
    let shop = served_with(|options| options.body_time = Duration::from_millis(300)).await;
    let head = "POST /v1/requests HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\
                Connection: close\r\n\r\n{\"req";
    let answer = client::raw(shop.address, head.as_bytes()).await.unwrap();
    assert_eq!((answer.status, answer.problem().as_str()), (408, "body_too_slow"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_of_the_wrong_size_or_kind_are_refused_with_their_limit() {
    let shop = served().await;
    let large = json!({ "request": "x".repeat(5 << 20) }).to_string();
    let answer = client::send(shop.address, "POST", "/v1/requests", &[JSON], large.as_bytes()).await;
    assert_eq!((answer.status, answer.problem().as_str()), (413, "body_too_large"));
    assert!(answer.json()["detail"].as_str().unwrap().contains("4MiB"), "{}", answer.text());
    let long = json!({ "request": "x".repeat((1 << 20) + 1) });
    assert_eq!(shop.post("/v1/requests", &long).await.problem(), "request_too_long");
    for kind in ["Content-Type: text/plain", "Content-Type: application/xml", "X-None: 1"] {
        let answer = client::send(shop.address, "POST", "/v1/requests", &[kind], b"{}").await;
        assert_eq!((answer.status, answer.problem().as_str()), (415, "wrong_media_type"), "{kind}");
        let answer = client::send(shop.address, "POST", "/v1/exec", &[kind], b"{}").await;
        assert_eq!(answer.status, 415, "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_are_not_what_they_should_be_are_told_where() {
    let shop = served().await;
    let deep = format!("{{\"request\":{}", "[".repeat(100_000));
    for body in ["", "{", "nul", "{\"request\": \"a\"} x", "\u{feff}{}", deep.as_str()] {
        let answer = client::send(shop.address, "POST", "/v1/requests", &[JSON], body.as_bytes()).await;
        assert!(matches!(answer.status, 400 | 422), "{}", answer.text());
        answer.problem();
    }
    let answer = client::send(shop.address, "POST", "/v1/requests", &[JSON], b"\xff\xfe{}").await;
    assert_eq!(answer.problem(), "bad_json");
    let answer = shop.post("/v1/requests", &json!({ "request": 7 })).await;
    assert_eq!((answer.status, answer.json()["errors"][0]["pointer"].clone()), (422, json!("/request")));
    for (body, code) in [
        (json!({ "request": "a", "strategy": "odd" }), "unknown_strategy"),
        (json!({ "request": "a", "dry_run": true, "hold": true }), "bad_body"),
        (json!({ "request": "a", "conversation": "" }), "bad_body"),
        (json!({ "request": "a", "extra": 1 }), "bad_body"),
    ] {
        let answer = shop.post("/v1/requests", &body).await;
        assert_eq!((answer.status, answer.problem().as_str()), (422, code), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_no_request_do_no_harm() {
    let shop = served().await;
    let many = "X-Again: 1\r\n".repeat(200);
    let many = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{many}\r\n");
    let long = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "a".repeat(200 << 10));
    let odd: [&[u8]; 8] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /%ff%00 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
        b"POST /v1/exec HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        many.as_bytes(),
        long.as_bytes(),
    ];
    for bytes in odd {
        if let Some(answer) = client::raw(shop.address, bytes).await {
            assert!(
                (400..500).contains(&answer.status),
                "{}: {}",
                answer.status,
                String::from_utf8_lossy(bytes)
            );
        }
    }
    assert_eq!(shop.get("/healthz").await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_cannot_be_hidden_in_another() {
    let shop = served().await;
    let smuggled = "POST /v1/exec HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\
                    Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut stream = TcpStream::connect(shop.address).await.unwrap();
    stream.write_all(smuggled.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let text = String::from_utf8_lossy(&answer);
    assert!(text.matches("HTTP/1.1 ").count() <= 1, "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_of_artifacts_lead_nowhere_else() {
    let shop = served().await;
    let record =
        shop.post("/v1/exec", &json!({ "code": "(artifacts / 'a.txt').write_text('x')" })).await.json();
    let run = record["run_id"].as_str().unwrap();
    assert_eq!(shop.get(&format!("/v1/runs/{run}/artifacts/a.txt")).await.text(), "x");
    for name in [
        "..%2f..%2fstore.db",
        "%2e%2e%2f%2e%2e%2fstore.db",
        "../../store.db",
        "..",
        "%2e%2e",
        "a.txt%00.png",
        "%2fetc%2fpasswd",
        "..%5c..%5cstore.db",
        "a.txt%2f..%2f..%2f..%2fledger.key",
    ] {
        let answer = shop.get(&format!("/v1/runs/{run}/artifacts/{name}")).await;
        assert_eq!(answer.status, 404, "{name}");
    }
    for run in ["..", "%2e%2e", "x", "%25", "01'%20OR%201=1"] {
        let answer = shop.get(&format!("/v1/runs/{run}/artifacts/a.txt")).await;
        assert_eq!(answer.status, 404, "{run}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_artifact_that_was_changed_since_is_not_given_out() {
    let shop = served().await;
    let code = "for name in 'abcd':\n    (artifacts / f'{name}.txt').write_text('GOOD')";
    let record = shop.post("/v1/exec", &json!({ "code": code })).await.json();
    let run = record["run_id"].as_str().unwrap();
    let folder = shop.folder.path().join("shop/.ordain/artifacts").join(run);
    std::fs::write(folder.join("a.txt"), "EVIL").unwrap();
    for (name, odd) in [("b.txt", "/etc/hostname"), ("c.txt", "/dev/zero")] {
        std::fs::remove_file(folder.join(name)).unwrap();
        std::os::unix::fs::symlink(odd, folder.join(name)).unwrap();
    }
    let found = async |name: &str| shop.get(&format!("/v1/runs/{run}/artifacts/{name}")).await.status;
    assert_eq!([found("a.txt").await, found("b.txt").await, found("c.txt").await], [409, 404, 404]);
    assert_eq!(shop.get(&format!("/v1/runs/{run}/artifacts/d.txt")).await.text(), "GOOD");
}

/// Sends a request twice at once, and sees that health checks are answered meanwhile as on an idle server, or nearly so.
async fn is_alive_during(shop: &Served, body: &serde_json::Value) {
    let look = async || {
        let begun = Instant::now();
        assert_eq!(shop.get("/healthz").await.status, 200);
        begun.elapsed()
    };
    let mut idle = Duration::ZERO;
    for _ in 0..20 {
        idle = idle.max(look().await);
    }
    let slowest = async || {
        let ended = AtomicBool::new(false);
        let attack = async {
            let both = tokio::join!(shop.post("/v1/requests", body), shop.post("/v1/requests", body));
            ended.store(true, Ordering::SeqCst);
            both
        };
        let watch = async {
            let mut slowest = Duration::ZERO;
            while !ended.load(Ordering::SeqCst) {
                slowest = slowest.max(look().await);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            slowest
        };
        let ((one, other), slowest) = tokio::join!(attack, watch);
        let is_well = [one.status, other.status].iter().all(|status| *status < 500);
        assert!(is_well, "{} {}", one.text(), other.text());
        slowest
    };
    // Work that grows faster than what it is given took a minute, and nothing was answered meanwhile. A busy machine may
    // hold up one look or the other, but not in every round.
    let bound = Duration::from_secs(5).max(idle * 50);
    let mut rounds = Vec::new();
    while rounds.last().is_none_or(|slowest| *slowest >= bound) {
        assert!(rounds.len() < 5, "{rounds:?}, and {idle:?} when idle");
        rounds.push(slowest().await);
    }
}

/// An answer with very many words or numbers, of a run that has read very many names or numbers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comparing_an_answer_with_what_was_read_does_not_stop_the_server() {
    let shop = served().await;
    let read = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 19000) SELECT x * 1.37 AS price, 'name' || x AS n FROM c";
    for answer in ["'word ' * 60000", "' '.join(f'{n}.{n % 100:02} pairs for ${n},' for n in range(40000))"] {
        let plan = format!(
            "db.query({read:?})\ninventory_tbl.update({{'quantity_in_stock': 5}}, where('item_id') == 'SG001')\n\
             answer_text = {answer}\nSTATUS = 'success'\n"
        );
        is_alive_during(&shop, &json!({ "request": "x", "plan": plan })).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reading_a_long_request_does_not_stop_the_server() {
    let shop = served().await;
    for words in
        ["buy 1 aviator and ", "buy 1 aviator\n", "byu clasic avaitor wayfarrer ", "1 ", "\"a\" ", "("]
    {
        let request = words.repeat(30_000 / words.len());
        is_alive_during(&shop, &json!({ "request": request, "dry_run": true })).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callers_words_never_become_a_header() {
    let shop = served().await;
    let body = json!({ "code": "pass", "name": "a\r\nSet-Cookie: x=1" });
    let answer = shop.post("/v1/exec", &body).await;
    assert_eq!((answer.status, answer.header("set-cookie")), (422, None));
    let answer = client::send(shop.address, "GET", "/healthz", &["X-Request-Id: a b\u{7f}"], b"").await;
    assert!(answer.header("x-request-id").is_none_or(|id| id.starts_with("req_")));
    let path = "/v1/tables/inventory%0d%0aSet-Cookie:x/rows";
    let answer = shop.get(path).await;
    assert_eq!((answer.status, answer.header("set-cookie")), (404, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn foreign_hosts_and_origins_are_refused_and_allowed_ones_are_not() {
    let shop = served_with(|options| options.cors = vec!["https://app.example".to_owned()]).await;
    let send = async |lines: &[&str]| client::send(shop.address, "GET", "/v1/tables", lines, b"").await;
    assert_eq!(send(&["Host: evil.example"]).await.problem(), "foreign_host");
    assert_eq!(send(&["Host: localhost.evil.example"]).await.problem(), "foreign_host");
    assert_eq!(send(&["Origin: https://evil.example"]).await.problem(), "foreign_origin");
    assert_eq!(send(&["Origin: null"]).await.problem(), "foreign_origin");
    assert_eq!(send(&["Host: localhost:8000", "Origin: http://localhost:8000"]).await.status, 200);
    let allowed = send(&["Origin: https://app.example"]).await;
    assert_eq!(
        (allowed.status, allowed.header("access-control-allow-origin")),
        (200, Some("https://app.example"))
    );
    let asks = ["Origin: https://app.example", "Access-Control-Request-Method: POST"];
    let preflight = client::send(shop.address, "OPTIONS", "/v1/requests", &asks, b"").await;
    assert_eq!(preflight.status, 204);
    assert!(preflight.header("access-control-allow-headers").unwrap().contains("Idempotency-Key"));
    let evil = ["Origin: https://evil.example", "Access-Control-Request-Method: POST"];
    assert_eq!(client::send(shop.address, "OPTIONS", "/v1/requests", &evil, b"").await.status, 403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_another_site_that_names_no_origin_changes_nothing() {
    let shop = served().await;
    let before = shop.stock().await;
    let body = json!({ "request": "buy", "plan": BUY });
    for site in ["cross-site", "same-site", "odd"] {
        let line = format!("Sec-Fetch-Site: {site}");
        let refused = shop.post_with("/v1/requests", &[&line], &body).await;
        assert_eq!((refused.status, refused.problem().as_str()), (403, "foreign_origin"), "{site}");
        let followed = client::send(shop.address, "GET", "/v1/tables", &[&line], b"").await;
        assert_eq!(followed.status, 200, "a link may lead here from any site");
    }
    assert_eq!(shop.stock().await, before);
    for site in ["same-origin", "none"] {
        let line = format!("Sec-Fetch-Site: {site}");
        assert_eq!(shop.post_with("/v1/requests", &[&line], &body).await.json()["state"], "committed");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_idle_connections_leave_room_for_work() {
    ordain_server::http::raise_descriptor_limit();
    let shop = served().await;
    let mut idle = Vec::new();
    for _ in 0..2000 {
        idle.push(TcpStream::connect(shop.address).await.unwrap());
    }
    assert_eq!(shop.buy().await.json()["state"], "committed");
    assert_eq!(shop.get("/healthz").await.status, 200);
    drop(idle);
    assert_eq!(shop.get("/healthz").await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn methods_and_addresses_that_are_not_there_are_problems_too() {
    let shop = served().await;
    let answer = client::send(shop.address, "PATCH", "/v1/runs", &[], b"").await;
    assert_eq!((answer.status, answer.problem().as_str()), (405, "method_not_allowed"));
    assert!(answer.header("allow").is_some_and(|allow| allow.contains("GET")));
    assert_eq!(shop.get("/v2/runs").await.problem(), "no_such_route");
    let newer =
        shop.post("/v1/responses", &serde_json::json!({ "model": "ordain-auto", "input": "hi" })).await;
    assert_eq!((newer.status, &newer.json()["error"]["code"]), (404, &serde_json::json!("no_such_route")));
    assert_eq!(shop.get("/v1/runs/nothing").await.problem(), "unknown_run");
    assert_eq!(shop.get("/v1/plans/nothing").await.problem(), "unknown_plan");
    assert_eq!(shop.get("/v1/tables/nothing/rows").await.problem(), "unknown_table");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_that_breaks_an_invariant_changes_nothing() {
    let shop = served().await;
    let before = shop.stock().await;
    let plan = BUY.replace("item[\"quantity_in_stock\"] - 1", "-5");
    let answer = shop.post("/v1/requests", &json!({ "request": "buy", "plan": plan })).await.json();
    assert_eq!(
        (&answer["state"], &answer["error"]["code"]),
        (&json!("rolled_back"), &json!("invariant-broken"))
    );
    assert_eq!(shop.stock().await, before);
}

/// Sends a request on a connection that stays, and gives the head of the answer and its body.
async fn ask(stream: &mut TcpStream, request: &str) -> Option<(String, String)> {
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut text = String::new();
    let mut piece = [0; 4096];
    loop {
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Some((head.to_owned(), body.to_owned()));
            }
        }
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => text.push_str(&String::from_utf8_lossy(&piece[..read])),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_is_answered_unread_does_not_break_the_next_one() {
    let shop = served().await;
    let request = |method: &str, path: &str, length: usize| {
        let body = "x".repeat(length);
        format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}")
    };
    let mut stream = TcpStream::connect(shop.address).await.unwrap();
    for (method, path, status) in
        [("PATCH", "/v1/code", "405"), ("POST", "/nothing", "404"), ("POST", "/v1/exec", "415")]
    {
        for length in [0, 10, 20_000] {
            let (head, _) = ask(&mut stream, &request(method, path, length)).await.unwrap();
            assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{head}");
            assert!(!head.to_ascii_lowercase().contains("connection: close"), "{head}");
            let (head, _) =
                ask(&mut stream, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
            assert!(head.starts_with("HTTP/1.1 200"), "the next one is answered: {head}");
        }
    }
    // A long rest is not read; then the answer says that the connection ends.
    let head = "POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000000\r\n\r\n";
    let (head, _) = ask(&mut stream, head).await.unwrap();
    assert!(head.to_ascii_lowercase().contains("connection: close"), "{head}");
    // Nor is a body that the client has not begun to send.
    let mut stream = TcpStream::connect(shop.address).await.unwrap();
    let head =
        "POST /nothing HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n";
    let (head, _) = ask(&mut stream, head).await.unwrap();
    assert!(
        head.starts_with("HTTP/1.1 404") && head.to_ascii_lowercase().contains("connection: close"),
        "{head}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_callers_that_take_every_place_give_them_back_in_time() {
    let shop = served_with(|options| {
        options.header_time = Duration::from_millis(500);
        options.connections_max = 4;
    })
    .await;
    // Two never begin, two never end their header.
    let mut slow = Vec::new();
    for half in ["", "", "GET /healthz HTTP/1.1\r\nX: ", "POST /v1/exec HT"] {
        let mut stream = TcpStream::connect(shop.address).await.unwrap();
        stream.write_all(half.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    // Health checks are answered at once, everybody else when the time of the slow ones is over.
    assert_eq!(shop.get("/healthz").await.status, 200);
    for _ in 0..300 {
        let bought = shop.buy().await;
        if bought.status == 200 {
            assert_eq!(bought.json()["state"], "committed");
            return;
        }
        assert_eq!(bought.json()["code"], "connections_full", "{}", bought.text());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the slow callers kept their places");
}

/// Callers that ask for large pages and never read hold their places until the server loses patience.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_that_never_read_lose_their_places_and_health_checks_are_answered_meanwhile() {
    let shop = served_with(|options| {
        options.connections_max = 4;
        options.write_time = Duration::from_millis(500);
    })
    .await;
    let mut silent = Vec::new();
    for _ in 0..4 {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let mut stream = socket.connect(shop.address).await.unwrap();
        let ask = b"GET /redoc HTTP/1.1\r\nHost: localhost\r\n\r\nGET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
        stream.write_all(&ask.repeat(20)).await.unwrap();
        silent.push(stream);
    }
    // One of them reads, a byte now and then.
    let mut trickling = silent.pop().unwrap();
    tokio::spawn(async move {
        while trickling.read_u8().await.is_ok() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let alive = client::send(shop.address, "GET", "/healthz", &[], b"").await;
    assert_eq!(alive.status, 200);
    // In the end the places are free again, although nobody of the four has gone.
    for _ in 0..600 {
        let answer = client::send(shop.address, "GET", "/v1/tables", &[], b"").await;
        if answer.status == 200 {
            return;
        }
        assert_eq!((answer.status, answer.json()["code"].as_str()), (503, Some("connections_full")));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the silent callers kept their places");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_of_a_form_with_a_giant_name_is_refused_before_it_is_whole() {
    let shop = served().await;
    let giant = "a".repeat(20 << 20);
    let kind = "Content-Type: multipart/form-data; boundary=X";
    for header in [
        format!("Content-Disposition: form-data; name=\"{giant}\""),
        format!("Content-Disposition: form-data; name=\"file\"; filename=\"{giant}\""),
        format!("Content-Disposition: form-data; name=\"code\"\r\nContent-Type: {giant}"),
        format!("X-More: {giant}\r\nContent-Disposition: form-data; name=\"code\""),
    ] {
        let form = format!("--X\r\n{header}\r\n\r\n1\r\n--X--\r\n");
        let answer = client::send(shop.address, "POST", "/v1/exec", &[kind], form.as_bytes()).await;
        assert_eq!((answer.status, answer.problem().as_str()), (400, "bad_form"), "{}", &header[..60]);
    }
    let many =
        "--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n1\r\n".repeat(5_000);
    let answer =
        client::send(shop.address, "POST", "/v1/exec", &[kind], format!("{many}--X--\r\n").as_bytes()).await;
    assert!(matches!(answer.status, 400 | 422), "{}", answer.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_giant_name_or_value_in_json_is_not_repeated() {
    let shop = served().await;
    let giant = "ä".repeat(1 << 20);
    for body in [
        format!("{{\"code\": \"pass\", \"{giant}\\\"\" : 1}}"),
        format!("{{\"code\": \"pass\", \"values\": {{\"{giant}\": 1}}}}"),
        format!("{{\"code\": \"pass\", \"session\": [\"{giant}\"]}}"),
        format!("{{\"code\": \"pass\", \"limits\": \"{giant}\"}}"),
    ] {
        let json = "Content-Type: application/json";
        let answer = client::send(shop.address, "POST", "/v1/exec", &[json], body.as_bytes()).await;
        assert_eq!((answer.status, answer.problem().as_str()), (422, "bad_body"), "{}", &body[..40]);
        assert!(answer.text().len() < 2048, "{} bytes", answer.text().len());
    }
    let call = format!("{{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/list\", \"{giant}\": 1}}");
    let json = "Content-Type: application/json";
    let answer = client::send(shop.address, "POST", "/mcp", &[json], call.as_bytes()).await;
    assert_eq!((answer.status, answer.problem().as_str()), (422, "bad_body"), "{}", answer.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_is_refused_for_its_length_is_not_kept() {
    let shop = served().await;
    let long = "y".repeat(2 << 20);
    for (path, body) in [
        ("/v1/chat/completions", json!({ "messages": [{ "role": "user", "content": long }] })),
        ("/v1/requests", json!({ "request": long })),
        ("/chat", json!({ "message": long })),
    ] {
        let answer = shop.post(path, &body).await;
        assert!(matches!(answer.status, 400 | 413 | 422), "{path}: {}", answer.status);
    }
    let runs = shop.get("/v1/runs").await.json();
    assert_eq!(runs["runs"], json!([]), "what was refused at the door is no run");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_sent_bodies_of_one_key_do_not_take_more_memory_than_its_share() {
    let shop = served_with(|options| options.keys_required = true).await;
    let ((_, one), (_, other)) = (shop.key(|_| {}).await, shop.key(|_| {}).await);
    // With a length, and in pieces that name none.
    let lengths = [
        format!("Content-Length: {}\r\n\r\n{{\"code\":\"", 60 << 20),
        format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", 60 << 20),
    ];
    let count = std::cell::Cell::new(0);
    let begin = async |key: &str| {
        let mut stream = TcpStream::connect(shop.address).await.unwrap();
        let length = &lengths[count.replace(count.get() + 1) % 2];
        let head = format!(
            "POST /v1/exec HTTP/1.1\r\nHost: localhost\r\n{key}\r\nContent-Type: application/json\r\n{length}"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..59 {
            if stream.write_all(&piece).await.is_err() {
                break;
            }
        }
        stream
    };
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(begin(&one).await);
    }
    let mut fourth = begin(&one).await;
    let mut told = vec![0; 12];
    fourth.read_exact(&mut told).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&told), "HTTP/1.1 429");
    let body = json!({ "code": "print(1)" });
    let answer = shop.post_with("/v1/exec", &[&other], &body).await;
    assert_eq!(answer.status, 200, "another key is served: {}", answer.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_has_left_too_much_today_is_told_so() {
    let shop = served_with(|options| (options.keys_required, options.stored_per_day) = (true, 200_000)).await;
    let (_, key) = shop.key(|_| {}).await;
    let large = json!({ "code": "print('x' * 150_000)" });
    assert_eq!(shop.post_with("/v1/exec", &[&key], &large).await.status, 200);
    let refused = shop.post_with("/v1/exec", &[&key], &large).await;
    assert_eq!((refused.status, refused.problem().as_str()), (429, "stored_limit"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_path_that_is_no_text_and_two_hosts_are_problems_like_any_other() {
    let shop = served().await;
    for path in ["/v1/runs/%ff", "/v1/tables/%ff/rows", "/v1/runs/x/artifacts/%ff", "/v1/plans/%ff"] {
        let answer = shop.get(path).await;
        assert_eq!((answer.status, answer.problem().as_str()), (400, "bad_path"), "{path}");
    }
    let two =
        b"GET /v1/tables HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    let answer = client::raw(shop.address, two).await.unwrap();
    assert_eq!((answer.status, answer.problem().as_str()), (400, "bad_host"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_may_call_a_loopback_address_by_the_names_that_the_operator_gives() {
    let shop = served_with(|options| options.hosts = vec!["shop.example".to_owned()]).await;
    for (host, status) in
        [("shop.example", 200), ("Shop.Example:443", 200), ("evil.example", 403), ("shop.example.evil", 403)]
    {
        let line = format!("Host: {host}");
        let answer = client::send(shop.address, "GET", "/v1/tables", &[&line], b"").await;
        assert_eq!(answer.status, status, "{host}");
    }
}
