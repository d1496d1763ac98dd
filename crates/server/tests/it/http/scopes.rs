//! Who sees what: the matrix of docs/serve.md, tried cell by cell, and keys that are limited to a part of the data.

use ordain_store::{CallerLimits, NewKey, RowAction};
use serde_json::{Value, json};

use super::client::{self, Answer};
use super::world::{BUY, Served, served_with};

/// The matrix of docs/serve.md: what is asked for, and whether `metrics`, `read`, `run`, `approve` and `admin` get it.
const MATRIX: &str = "
GET  /v1/tables                          | no  | yes | yes | yes | yes
GET  /v1/tables/inventory/rows           | no  | yes | yes | yes | yes
GET  /v1/checks                          | no  | yes | yes | yes | yes
GET  /metrics                            | yes | yes | yes | yes | yes
POST /v1/requests                        | no  | no  | yes | no  | yes
POST /v1/exec                            | no  | no  | yes | no  | yes
POST /chat                               | no  | no  | yes | no  | yes
GET  /v1/runs/{committed}                | no  | no  | no  | no  | yes
GET  /v1/runs/{committed}/events         | no  | no  | no  | no  | yes
GET  /v1/runs/{files}/artifacts/out.txt  | no  | no  | no  | no  | yes
GET  /v1/runs/{held}                     | no  | no  | no  | yes | yes
POST /v1/runs/{held}/reject              | no  | no  | no  | yes | yes
POST /v1/runs/{committed}/undo           | no  | no  | no  | no  | yes
POST /v1/runs/{committed}/feedback       | no  | no  | no  | no  | yes
GET  /v1/plans/{plan}                    | no  | no  | no  | no  | yes
GET  /v1/sessions/{talk}                 | no  | no  | no  | no  | yes
GET  /v1/ledger                          | no  | no  | no  | no  | yes
GET  /v1/ledger/verify                   | no  | no  | no  | no  | yes
";

async fn keyed() -> Served {
    served_with(|options| options.keys_required = true).await
}

async fn key_with(shop: &Served, scope: &str) -> (String, String) {
    shop.key(|new| new.scopes = vec![scope.to_owned()]).await
}

async fn ask(shop: &Served, key: &str, method: &str, path: &str, body: &Value) -> Answer {
    let lines = [key, "Content-Type: application/json"];
    let body = if method == "POST" { body.to_string() } else { String::new() };
    client::send(shop.address, method, path, &lines, body.as_bytes()).await
}

/// What another key has done before anybody looks: a committed run, one with a file, a kept plan and a conversation.
struct Others {
    committed: String,
    files: String,
    plan: String,
    talk: String,
}

async fn others(shop: &Served) -> (Others, String) {
    let (id, key) = key_with(shop, "run").await;
    let bought = json!({ "request": "buy an Aviator", "plan": BUY });
    let bought = ask(shop, &key, "POST", "/v1/requests", &bought).await.json();
    let code = "(artifacts / 'out.txt').write_text('secret')";
    let wrote = ask(shop, &key, "POST", "/v1/exec", &json!({ "code": code })).await.json();
    assert_eq!(wrote["state"], "answered", "{wrote}");
    let said = json!({ "message": "Do you have Moon sunglasses?", "session_id": "private" });
    assert_eq!(ask(shop, &key, "POST", "/chat", &said).await.status, 200);
    let plans = ask(shop, &key, "GET", "/v1/plans", &Value::Null).await.json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let others = Others {
        committed: text(&bought["run_id"]),
        files: text(&wrote["run_id"]),
        plan: text(&plans["plans"][0]["plan_id"]),
        talk: format!("{id}:private"),
    };
    (others, key)
}

async fn hold(shop: &Served, key: &str) -> String {
    let body = json!({ "request": "buy an Aviator", "plan": BUY, "hold": true });
    ask(shop, key, "POST", "/v1/requests", &body).await.json()["run_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_scope_sees_what_the_matrix_says_and_nothing_else() {
    let shop = keyed().await;
    let (others, owner) = others(&shop).await;
    for line in MATRIX.trim().lines() {
        let mut cells = line.split('|').map(str::trim);
        let (method, route) = cells.next().unwrap().split_once(' ').unwrap();
        for (scope, expected) in ["metrics", "read", "run", "approve", "admin"].into_iter().zip(cells) {
            let (_, key) = key_with(&shop, scope).await;
            let held = if route.contains("{held}") { hold(&shop, &owner).await } else { String::new() };
            let path = route.trim().replace("{held}", &held).replace("{committed}", &others.committed);
            let path = path.replace("{files}", &others.files).replace("{plan}", &others.plan);
            let path = path.replace("{talk}", &others.talk);
            let body = match path.as_str() {
                "/v1/requests" => json!({ "request": "how many items are there?" }),
                "/v1/exec" => json!({ "code": "print(1)" }),
                "/chat" => json!({ "message": "how much is the Moon?" }),
                path if path.ends_with("/feedback") => json!({ "rating": "good" }),
                _ => json!({}),
            };
            let answer = ask(&shop, &key, method, &path, &body).await;
            let is_allowed = answer.status == 200;
            assert_eq!(is_allowed, expected == "yes", "{method} {route} for {scope}: {}", answer.text());
            // What somebody may not see is not there for it; only what it may not do is forbidden.
            assert!(
                is_allowed || matches!(answer.status, 403 | 404),
                "{route} for {scope}: {}",
                answer.status
            );
        }
    }
}

#[test]
fn the_page_about_serving_has_the_matrix() {
    let page = include_str!("../../../../../docs/serve.md");
    for line in MATRIX.trim().lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let route = cells[0].split_whitespace().collect::<Vec<_>>().join(" ");
        let row = format!("| `{route}` | {} |", cells[1..].join(" | "));
        assert!(page.contains(&row), "docs/serve.md lacks: {row}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_keys_share_neither_conversations_nor_runs_nor_cancellation() {
    let shop = keyed().await;
    let ((one_id, one), (_, other)) = (key_with(&shop, "run").await, key_with(&shop, "run").await);
    let said = json!({ "message": "Do you have Moon sunglasses?", "session_id": "private" });
    ask(&shop, &one, "POST", "/chat", &said).await;
    let own = ask(&shop, &one, "GET", "/v1/sessions", &Value::Null).await.json();
    assert_eq!(own["sessions"][0]["conversation"], "private", "{own}");
    assert_eq!(ask(&shop, &one, "GET", "/v1/sessions/private", &Value::Null).await.status, 200);
    let listed = ask(&shop, &other, "GET", "/v1/sessions", &Value::Null).await.json();
    assert_eq!(listed["sessions"], json!([]));
    for name in ["private".to_owned(), format!("{one_id}:private"), format!("code:{one_id}:private")] {
        let path = format!("/v1/sessions/{name}");
        assert_eq!(ask(&shop, &other, "GET", &path, &Value::Null).await.status, 404, "{name}");
        let body = json!({ "request": "Do you have Classic sunglasses?", "conversation": name });
        assert_eq!(ask(&shop, &other, "POST", "/v1/requests", &body).await.status, 200);
    }
    let turns = ask(&shop, &one, "GET", "/v1/sessions/private", &Value::Null).await.json();
    assert_eq!(turns["turns"].as_array().unwrap().len(), 1, "nobody else added a turn: {turns}");
    let run = shop.begin_slow(&[&one]).await;
    for path in [format!("/v1/runs/{run}"), format!("/v1/runs/{run}/events")] {
        assert_eq!(ask(&shop, &other, "GET", &path, &Value::Null).await.status, 404, "{path}");
    }
    let cancel = format!("/v1/runs/{run}/cancel");
    assert_eq!(ask(&shop, &other, "POST", &cancel, &json!({})).await.status, 404);
    let listed = ask(&shop, &other, "GET", "/v1/runs", &Value::Null).await.json();
    assert!(!listed.to_string().contains(&run), "{listed}");
    assert_eq!(ask(&shop, &one, "POST", &cancel, &json!({})).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_approver_of_a_run_still_sees_it_and_may_undo_it() {
    let shop = keyed().await;
    let ((_, owner), (_, chief)) = (key_with(&shop, "run").await, key_with(&shop, "approve").await);
    let held = hold(&shop, &owner).await;
    let diff = ask(&shop, &chief, "GET", &format!("/v1/runs/{held}"), &Value::Null).await.json();
    assert!(diff["diff"]["inventory"]["changed"][0]["after"].is_object(), "{diff}");
    for (act, state) in [("approve", "committed"), ("undo", "undone")] {
        let path = format!("/v1/runs/{held}/{act}");
        assert_eq!(ask(&shop, &chief, "POST", &path, &json!({})).await.json()["state"], state);
    }
}

async fn limited(shop: &Served, limits: CallerLimits) -> String {
    let change = |new: &mut NewKey| new.limits = limits;
    shop.key(change).await.1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_limited_to_tables_and_columns_has_no_way_to_the_others() {
    let shop = keyed().await;
    let limits = CallerLimits {
        tables: Some(vec!["inventory".to_owned()]),
        hide: vec!["inventory.price".to_owned()],
        ..CallerLimits::default()
    };
    let key = limited(&shop, limits).await;
    let tables = ask(&shop, &key, "GET", "/v1/tables", &Value::Null).await.json();
    assert_eq!(tables["tables"].as_array().unwrap().len(), 1);
    assert!(!tables.to_string().contains("price"), "{tables}");
    let rows = ask(&shop, &key, "GET", "/v1/tables/inventory/rows", &Value::Null).await.json();
    assert!(rows["rows"][0]["price"].is_null() && rows["rows"][0]["name"].is_string(), "{rows}");
    let hidden = ask(&shop, &key, "GET", "/v1/tables/transactions/rows", &Value::Null).await;
    assert_eq!((hidden.status, hidden.problem().as_str()), (404, "unknown_table"));
    assert_eq!(ask(&shop, &key, "GET", "/v1/checks", &Value::Null).await.problem(), "key_limited");
    for code in [
        "rows = transactions_tbl.all()\nanswer_text = str(rows)\nSTATUS = 'success'\n",
        "rows = db.query('SELECT * FROM transactions')\nanswer_text = str(rows)\nSTATUS = 'success'\n",
        "rows = db.query('SELECT price FROM inventory')\nanswer_text = str(rows)\nSTATUS = 'success'\n",
        "rows = [r['price'] for r in inventory_tbl.all()]\nanswer_text = str(rows)\nSTATUS = 'success'\n",
        "inventory_tbl.update({'price': 1}, where('item_id') == 'SG001')\nanswer_text = 'Done.'\nSTATUS = 'success'\n",
    ] {
        let told =
            ask(&shop, &key, "POST", "/v1/requests", &json!({ "request": "x", "plan": code })).await.json();
        let state = told["state"].as_str().unwrap();
        assert!(matches!(state, "rejected" | "failed" | "rolled_back"), "{state}: {code}\n{told}");
    }
    // An action that needs a table which the key does not see is refused, not run into an error of its own.
    let sale = json!({ "request": "x", "plan": "done = sell(quantity=1, item='SG001', customer='Ada')\nanswer_text = done['text']\nSTATUS = done['status']\n" });
    let told = ask(&shop, &key, "POST", "/v1/requests", &sale).await;
    assert!(
        told.text().contains("`sell` uses table `transactions`, which this caller may not see"),
        "{}",
        told.text()
    );
    // Words are judged by the same view: what is not there for the key is not answered.
    let told = ask(&shop, &key, "POST", "/v1/requests", &json!({ "request": "how much is the Moon?" })).await;
    assert!(!told.text().contains("110"), "{}", told.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_asker_does_not_read_a_hidden_column_of_its_run_after_somebody_else_approved_it() {
    let shop = keyed().await;
    let hide = vec!["inventory.price".to_owned()];
    let asker = limited(&shop, CallerLimits { hide: hide.clone(), ..CallerLimits::default() }).await;
    let (_, chief) = key_with(&shop, "approve").await;
    let partly = |new: &mut NewKey| {
        (new.scopes, new.limits) =
            (vec!["approve".to_owned()], CallerLimits { hide, ..CallerLimits::default() });
    };
    let partly = shop.key(partly).await.1;
    let plan = "inventory_tbl.remove(where('item_id') == 'SG001')\nanswer_text = 'Removed 1 row.'\nSTATUS = 'success'\n";
    let body = json!({ "request": "x", "plan": plan, "hold": true });
    let told = ask(&shop, &asker, "POST", "/v1/requests", &body).await;
    let run = told.json()["run_id"].as_str().unwrap().to_owned();
    assert!(!told.text().contains("\"price\""), "{}", told.text());
    let path = format!("/v1/runs/{run}");
    let waiting = ask(&shop, &chief, "GET", &path, &Value::Null).await.json();
    assert!(
        waiting["diff"]["inventory"]["removed"][0]["price"].is_number(),
        "the approver sees what goes: {waiting}"
    );
    let refused = ask(&shop, &partly, "POST", &format!("{path}/approve"), &json!({})).await;
    assert_eq!(refused.problem(), "scope_missing", "nobody commits what it is not shown");
    let committed = ask(&shop, &chief, "POST", &format!("{path}/approve"), &json!({})).await.json();
    assert_eq!(committed["diff"], waiting["diff"]);
    for path in [
        path.clone(),
        "/v1/runs".to_owned(),
        format!("{path}/events"),
        "/v1/tables/inventory/rows/SG001/history".to_owned(),
    ] {
        let told = ask(&shop, &asker, "GET", &path, &Value::Null).await;
        assert_eq!(told.status, 200, "{path}: {}", told.text());
        assert!(!told.text().contains("\"price\""), "{path}: {}", told.text());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_limited_in_actions_and_rows_changes_no_more_than_that() {
    let shop = keyed().await;
    let update = "inventory_tbl.update({'quantity_in_stock': 1}, where('item_id') == 'SG001')\n\
                  answer_text = 'Changed 1 row.'\nSTATUS = 'success'\n";
    let all = "inventory_tbl.update({'quantity_in_stock': 2})\nanswer_text = 'Changed all rows.'\nSTATUS = 'success'\n";
    let remove = "inventory_tbl.remove(where('item_id') == 'SG001')\nanswer_text = 'Removed 1 row.'\nSTATUS = 'success'\n";
    let reads = CallerLimits { actions: Some(Vec::new()), ..CallerLimits::default() };
    let updates =
        CallerLimits { actions: Some(vec![RowAction::Update]), rows_max: Some(1), ..CallerLimits::default() };
    let (reads, updates) = (limited(&shop, reads).await, limited(&shop, updates).await);
    for (key, plan, is_allowed) in
        [(&reads, update, false), (&updates, update, true), (&updates, all, false), (&updates, remove, false)]
    {
        let body = json!({ "request": "x", "plan": plan });
        let told = ask(&shop, key, "POST", "/v1/requests", &body).await.json();
        assert_eq!(told["state"] == "committed", is_allowed, "{plan}\n{told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_may_use_one_verb_has_all_of_it_and_nothing_else() {
    let shop = keyed().await;
    let limits =
        CallerLimits { actions: Some(Vec::new()), verbs: vec!["sell".to_owned()], ..CallerLimits::default() };
    let key = limited(&shop, limits).await;
    let direct = "inventory_tbl.update({'quantity_in_stock': 1}, where('item_id') == 'SG001')\n\
                  answer_text = 'Changed 1 row.'\nSTATUS = 'success'\n";
    let both = "sold = sell(item='SG001', quantity=1)\ninventory_tbl.update({'price': 1.0}, where('item_id') == 'SG001')\n\
                answer_text = sold['text']\nSTATUS = 'success'\n";
    for (body, is_allowed) in [
        (json!({ "request": "buy 1 aviator" }), true),
        (json!({ "request": "x", "plan": direct }), false),
        (json!({ "request": "x", "plan": both }), false),
        (json!({ "request": "return 1 aviator" }), false),
    ] {
        let told = ask(&shop, &key, "POST", "/v1/requests", &body).await.json();
        assert_eq!(told["state"] == "committed", is_allowed, "{body}\n{told}");
    }
    let price = "SELECT price FROM inventory WHERE item_id = 'SG001'";
    let body = json!({ "request": "x", "plan": format!("rows = db.query(\"{price}\")\nanswer_text = str(rows)\nSTATUS = 'success'\n") });
    assert!(ask(&shop, &key, "POST", "/v1/requests", &body).await.text().contains("80"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_cannot_be_limited_by_what_is_not_there() {
    let shop = keyed().await;
    for (tables, hide, told) in [
        (Some(vec!["inventry".to_owned()]), vec![], "inventry"),
        (None, vec!["inventory.prize".to_owned()], "prize"),
        (None, vec!["price".to_owned()], "table.column"),
        (None, vec!["inventory.item_id".to_owned()], "key column"),
    ] {
        let limits = CallerLimits { tables, hide, ..CallerLimits::default() };
        let new = NewKey { limits, ..NewKey::default() };
        let note = ordain_store::EntryNote::by("test", "test");
        let error = shop.store().create_key(new, note).await.unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_key_cannot_take_the_sessions_of_the_others_and_idle_ones_end() {
    let idle_max = std::time::Duration::from_millis(300);
    let shop = served_with(|options| {
        (options.keys_required, options.sessions, options.session_idle_max) = (true, 2, idle_max);
    })
    .await;
    let ((_, one), (_, other)) = (key_with(&shop, "run").await, key_with(&shop, "run").await);
    let run = |name: &str| json!({ "code": "print(1)", "session": name });
    // Sessions that are in use do not count as idle; the first two may end before the third is asked for.
    let burning =
        json!({ "session": "a", "code": "total = 0\nfor number in range(10**12):\n    total += number\n" });
    let lines = [one.as_str(), "Prefer: respond-async"];
    for name in ["a", "b"] {
        let mut body = burning.clone();
        body["session"] = json!(name);
        assert_eq!(shop.post_with("/v1/exec", &lines, &body).await.status, 202);
    }
    let third = ask(&shop, &one, "POST", "/v1/exec", &run("c")).await;
    assert_eq!((third.status, third.problem().as_str()), (429, "sessions_limit"));
    assert_eq!(ask(&shop, &other, "POST", "/v1/exec", &run("mine")).await.status, 200);
    // A session that nobody uses ends by itself, and its name begins anew.
    for _ in 0..200 {
        tokio::time::sleep(idle_max / 2).await;
        let ended = client::send(shop.address, "DELETE", "/v1/sessions/mine", &[&other], b"").await.json();
        if ended["ended"] == false {
            return;
        }
        ask(&shop, &other, "POST", "/v1/exec", &run("mine")).await;
        tokio::time::sleep(idle_max * 2).await;
    }
    panic!("the idle session never ended");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_policy_open_needs_the_operators_word() {
    let shop = keyed().await;
    let (_, key) = key_with(&shop, "admin").await;
    let body = json!({ "code": "import os", "policy": "open" });
    let refused = ask(&shop, &key, "POST", "/v1/exec", &body).await;
    assert_eq!((refused.status, refused.problem().as_str()), (403, "open_not_allowed"));
    assert!(refused.json()["hint"].as_str().unwrap().contains("--allow-open"));
    let form = b"--X\r\nContent-Disposition: form-data; name=\"code\"\r\n\r\nimport os\r\n--X\r\n\
        Content-Disposition: form-data; name=\"policy\"\r\n\r\nopen\r\n--X--\r\n";
    let lines = [key.as_str(), "Content-Type: multipart/form-data; boundary=X"];
    assert_eq!(client::send(shop.address, "POST", "/v1/exec", &lines, form).await.status, 403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_code_is_switched_off_no_way_runs_it() {
    let shop = served_with(|options| options.code_enabled = false).await;
    let data = "data:text/csv;base64,YSxiCjEsMgo=";
    let file = json!({ "type": "file", "file": { "filename": "a.csv", "file_data": data } });
    let text = json!({ "type": "text", "text": "what is the sum of b?" });
    for (path, body) in [
        ("/v1/exec", json!({ "code": "print(1)" })),
        ("/v1/code", json!({ "request": "how many?" })),
        ("/v1/requests", json!({ "request": "buy", "plan": BUY })),
        ("/v1/chat/completions", json!({ "messages": [{ "role": "user", "content": [text, file] }] })),
    ] {
        let answer = shop.post(path, &body).await;
        assert_eq!(answer.status, 403, "{path}: {}", answer.text());
        assert!(answer.text().contains("code_disabled"), "{path}: {}", answer.text());
    }
    let asked = shop.post("/v1/requests", &json!({ "request": "do you have round sunglasses?" })).await;
    assert_eq!(asked.status, 200, "questions about the tables are answered all the same");
}
