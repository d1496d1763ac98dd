//! Given code, its files and what it leaves.

use serde_json::json;

use super::client;
use super::world::served;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_reads_files_and_what_it_leaves_can_be_downloaded() {
    let shop = served().await;
    let code = "text = files['in.txt'].read_text()\n(artifacts / 'out <b>.html').write_text(text.upper())\nprint(len(text))";
    let body = json!({ "code": code, "files": [{ "name": "in.txt", "content_base64": "aGVsbG8=" }] });
    let record = shop.post("/v1/exec", &body).await.json();
    assert_eq!(
        (&record["state"], &record["outcome"]["stdout"]),
        (&json!("answered"), &json!("5\n")),
        "{record}"
    );
    let artifact = &record["outcome"]["artifacts"][0];
    assert_eq!(artifact["name"], "out <b>.html");
    let run = record["run_id"].as_str().unwrap();
    let file = shop.get(&format!("/v1/runs/{run}/artifacts/out%20%3Cb%3E.html")).await;
    assert_eq!((file.status, file.text().as_str()), (200, "HELLO"));
    assert_eq!(file.header("content-disposition"), Some("attachment; filename*=UTF-8''out%20%3Cb%3E.html"));
    assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
    assert!(file.header("content-security-policy").unwrap().starts_with("sandbox"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_carries_code_and_files() {
    let shop = served().await;
    let form = "--X\r\nContent-Disposition: form-data; name=\"code\"\r\n\r\nprint(sum(len(p.read_bytes()) for p in \
        files.values()), sorted(files))\r\n--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\
        Content-Type: application/octet-stream\r\n\r\n\x01\x02\x03\r\n--X\r\nContent-Disposition: form-data; \
        name=\"file\"; filename=\"b.csv\"\r\n\r\n1,2\r\n--X--\r\n";
    let kind = ["Content-Type: multipart/form-data; boundary=X"];
    let answer = client::send(shop.address, "POST", "/v1/exec", &kind, form.as_bytes()).await;
    assert_eq!(answer.json()["outcome"]["stdout"], "6 ['a.bin', 'b.csv']\n", "{}", answer.text());
    for (part, code) in [("odd", "bad_body"), ("file", "bad_file")] {
        let form = format!("--X\r\nContent-Disposition: form-data; name=\"{part}\"\r\n\r\nx\r\n--X--\r\n");
        let answer = client::send(shop.address, "POST", "/v1/exec", &kind, form.as_bytes()).await;
        assert_eq!((answer.status, answer.problem().as_str()), (422, code));
    }
    let cut = client::send(shop.address, "POST", "/v1/exec", &kind, b"--X\r\nContent-Disp").await;
    assert_eq!((cut.status, cut.problem().as_str()), (400, "bad_form"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_and_failed_code_has_a_record_that_says_why() {
    let shop = served().await;
    let refused = shop.post("/v1/exec", &json!({ "code": "import socket" })).await;
    assert_eq!((refused.status, &refused.json()["state"]), (200, &json!("rejected")));
    assert!(!refused.json()["verdict"]["findings"].as_array().unwrap().is_empty());
    let raised = shop.post("/v1/exec", &json!({ "code": "1 / 0" })).await.json();
    assert_eq!(
        (&raised["state"], &raised["outcome"]["error"]["type"]),
        (&json!("failed"), &json!("ZeroDivisionError"))
    );
    let late = json!({ "code": "while True:\n    pass", "timeout": "200ms" });
    assert_eq!(shop.post("/v1/exec", &late).await.json()["error"]["code"], "timeout");
    let ledger = shop.get("/v1/ledger").await.json();
    let kinds: Vec<_> =
        ledger["entries"].as_array().unwrap().iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(kinds[..3], ["exec", "exec", "exec"], "every attempt is in the ledger");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_for_is_held_to_the_workspaces_limits() {
    let shop = served().await;
    for (body, code) in [
        (json!({ "code": "1", "timeout": "10h" }), "above_limit"),
        (json!({ "code": "1", "memory": "64GiB" }), "above_limit"),
        (json!({ "code": "1", "timeout": "soon" }), "bad_body"),
        (json!({ "code": "1", "profile": "everything" }), "bad_body"),
        (json!({ "code": "1", "policy": "none" }), "bad_body"),
        (json!({ "code": "1", "name": "a\nb" }), "bad_body"),
        (json!({ "code": "1", "files": [{ "name": "a", "content_base64": "%%%" }] }), "bad_file"),
        (json!({ "code": "1", "files": [{ "name": "../a", "content_base64": "" }] }), "bad_file"),
        (json!({ "code": "1", "surprise": 1 }), "bad_body"),
        (json!({}), "bad_body"),
    ] {
        let answer = shop.post("/v1/exec", &body).await;
        assert_eq!((answer.status, answer.problem().as_str()), (422, code), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_keeps_its_variables_until_it_is_ended() {
    let shop = served().await;
    let first = "import math\nkept = 41\ndef more(n):\n    return n + 1\n";
    shop.post("/v1/exec", &json!({ "code": first, "session": "s" })).await;
    let code = "print(more(kept), math.floor(2.5))";
    let next = shop.post("/v1/exec", &json!({ "code": code, "session": "s" })).await.json();
    assert_eq!(next["outcome"]["stdout"], "42 2\n", "{next}");
    // What was never defined is still unknown, and what is blocked stays so.
    for code in ["print(lost)", "eval('1')", "import os\nos.system('true')"] {
        let judged = shop.post("/v1/exec", &json!({ "code": code, "session": "s" })).await.json();
        assert_eq!(judged["state"], "rejected", "{code}: {judged}");
        assert!(
            judged["verdict"]["findings"][0]["line"].as_u64().unwrap() <= 2,
            "lines are those of this code: {judged}"
        );
    }
    let ended = client::send(shop.address, "DELETE", "/v1/sessions/s", &[], b"").await;
    assert_eq!(ended.json()["ended"], true);
    let ended = client::send(shop.address, "DELETE", "/v1/sessions/s", &[], b"").await;
    assert_eq!(ended.json()["ended"], false);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_about_a_file_is_a_run_with_an_answer() {
    let shop = served().await;
    let plan = "import csv\nrows = list(csv.DictReader(open(files['sales.csv'])))\n\
        total = sum(int(row['qty']) for row in rows)\nanswer_text = f'{total} items were sold.'\nanswer_json = total\n";
    let form = format!(
        "--X\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\nhow many items were sold?\r\n--X\r\n\
         Content-Disposition: form-data; name=\"plan\"\r\n\r\n{plan}\r\n--X\r\nContent-Disposition: form-data; \
         name=\"file\"; filename=\"sales.csv\"\r\n\r\nitem,qty\nclassic,3\nmoon,4\n\r\n--X--\r\n"
    );
    let lines = ["Content-Type: multipart/form-data; boundary=X", "Idempotency-Key: c1"];
    let answer = client::send(shop.address, "POST", "/v1/code", &lines, form.as_bytes()).await;
    let record = answer.json();
    assert_eq!((answer.status, &record["kind"]), (200, &json!("code")), "{record}");
    assert_eq!(record["answer"]["text"], "7 items were sold.", "{record}");
    let again = client::send(shop.address, "POST", "/v1/code", &lines, form.as_bytes()).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"), "{}", again.text());
    let other = form.replace("moon,4", "moon,5");
    let taken = client::send(shop.address, "POST", "/v1/code", &lines, other.as_bytes()).await;
    assert_eq!(taken.problem(), "idempotency_key_reused");
    let escape = form.replace("filename=\"sales.csv\"", "filename=\"../sales.csv\"");
    let refused = client::send(shop.address, "POST", "/v1/code", &lines[..1], escape.as_bytes()).await;
    assert_eq!((refused.status, refused.problem().as_str()), (422, "bad_file"));
}
