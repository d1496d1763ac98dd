//! The official conformance suite against `/mcp`. The suite calls tools by names of its own, so a gateway before the server
//! gives each of these calls to one of the server's tools; of what comes back it changes nothing but the question's name.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::client;
use super::mcp::run_node;
use super::world::{BUY, served};

/// What of a tool the server's own tools show, by the names that the suite calls.
fn own_tool(name: &str) -> Option<(&'static str, Value)> {
    Some(match name {
        "test_simple_text" => ("exec", json!({ "code": "print('This is a simple text response.')" })),
        "test_error_handling" => ("exec", json!({ "code": "raise ValueError('on purpose')" })),
        "test_tool_with_progress" => {
            let files = json!([{ "name": "sales.csv", "text": "item,qty\nclassic,3\nmoon,4\n" }]);
            ("code", json!({ "request": "what is the sum of qty?", "files": files }))
        }
        "test_input_required_result_elicitation" | "test_input_required_result_tampered_state" => {
            ("ask", json!({ "request": "buy an Aviator", "plan": BUY, "hold": true }))
        }
        _ => return None,
    })
}

/// Passes a request on, with the names of the server.
async fn pass_on(server: SocketAddr, headers: HeaderMap, body: Bytes) -> Response {
    let mut message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let called = message["params"]["name"].as_str().and_then(own_tool);
    let mut lines = Vec::new();
    for (name, value) in &headers {
        let value = value.to_str().unwrap_or_default();
        match (name.as_str(), &called) {
            ("host" | "content-length" | "connection", _) => {}
            ("mcp-name", Some((tool, _))) => lines.push(format!("mcp-name: {tool}")),
            _ => lines.push(format!("{name}: {value}")),
        }
    }
    if let Some((tool, arguments)) = called {
        message["params"]["name"] = json!(tool);
        message["params"]["arguments"] = arguments;
        let answers = message["params"].get_mut("inputResponses").and_then(Value::as_object_mut);
        if let Some((answers, mut answer)) =
            answers.and_then(|all| all.remove("user_name").map(|one| (all, one)))
        {
            if answer["content"].is_object() {
                answer["content"] = json!({ "decision": "approve" });
            }
            answers.insert("approve".to_owned(), answer);
        }
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let body = if message.is_null() { body.to_vec() } else { message.to_string().into_bytes() };
    let answer = client::send(server, "POST", "/mcp", &lines, &body).await;
    let kind = answer.header("content-type").unwrap_or("application/json").to_owned();
    let text = answer.text().replace("\"inputRequests\":{\"approve\":", "\"inputRequests\":{\"user_name\":");
    let status = StatusCode::from_u16(answer.status).unwrap();
    (status, [(header::CONTENT_TYPE, kind)], text).into_response()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_conformance_suite_passes_calls_errors_progress_and_questions() {
    let shop = served().await;
    let server = shop.address;
    let gateway =
        Router::new().fallback(move |headers: HeaderMap, body: Bytes| pass_on(server, headers, body));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move { axum::serve(listener, gateway).await });
    for scenario in [
        "tools-call-simple-text",
        "tools-call-error",
        "tools-call-with-progress",
        "input-required-result-basic-elicitation",
        "input-required-result-result-type",
        "input-required-result-missing-input-response",
        "input-required-result-validate-input",
        "input-required-result-tampered-state",
    ] {
        let arguments = ["server", "--url", &url, "--scenario", scenario];
        let Some(printed) = run_node(&shop, "conformance", &arguments).await else { return };
        assert!(printed.contains(", 0 failed, 0 warnings"), "{scenario}: {printed}");
        assert!(!printed.contains("Passed: 0/0"), "{scenario}: {printed}");
    }
    serving.abort();
}
