//! Providers against a real server on this machine.

use std::time::Duration;

use ordain_planner::provider::{
    self, Completion, Endpoint, Finish, Key, ModelRequest, Piece, Provider, ProviderError, Purpose, Remote,
    Timeouts,
};
use ordain_planner::{Message, Speaker};

use crate::server::{Act, Server, events, json, stream};

const SECRET: &str = "sk-very-secret-4711";
const HELLO: [&str; 5] = [
    r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#,
    r#"{"choices":[{"delta":{"content":"Hel"}}]}"#,
    r#"{"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}"#,
    r#"{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3}}"#,
    "[DONE]",
];

type Make = fn(Endpoint, Timeouts) -> Result<Remote, ProviderError>;

fn endpoint(url: &str) -> Endpoint {
    Endpoint {
        provider: "test".to_owned(),
        model: "m-1".to_owned(),
        base_url: url.to_owned(),
        key: Some(Key::new(SECRET)),
    }
}

async fn call(
    make: Make,
    server: &Server,
    timeouts: Timeouts,
) -> (Result<Completion, ProviderError>, Vec<String>) {
    called(make(endpoint(&server.url), timeouts).unwrap()).await
}

async fn called(remote: Remote) -> (Result<Completion, ProviderError>, Vec<String>) {
    let say = |speaker, text: &str| Message { speaker, text: text.to_owned() };
    let request = ModelRequest {
        messages: vec![
            say(Speaker::System, "rules"),
            say(Speaker::Ordain, "one"),
            say(Speaker::Model, ""),
            say(Speaker::Ordain, "two"),
        ],
        purpose: Purpose::Plan,
        tokens_max: 77,
        temperature: Some(0.0),
        effort: None,
    };
    let mut heard = Vec::new();
    let mut hear = |piece: Piece<'_>| {
        heard.push(match piece {
            Piece::Reply(text) => text.to_owned(),
            Piece::Thought(text) => format!("({text})"),
        });
    };
    let reply = remote.call(&request, &mut hear).await;
    (reply, heard)
}

async fn openai(acts: Vec<Act>) -> (Result<Completion, ProviderError>, Server) {
    let server = Server::start(acts).await;
    let (reply, _) = call(provider::openai, &server, Timeouts::default()).await;
    (reply, server)
}

#[tokio::test]
async fn what_a_model_thinks_is_heard_apart_from_its_reply() {
    let thinks = [
        r#"{"choices":[{"delta":{"reasoning_content":"hm"}}]}"#,
        r#"{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ];
    let server = Server::start(vec![events(&thinks)]).await;
    let (reply, heard) = call(provider::openai, &server, Timeouts::default()).await;
    assert_eq!((reply.unwrap().text.as_str(), heard), ("Hi", vec!["(hm)".to_owned(), "Hi".to_owned()]));
    let thinks = [
        r#"{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hi"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let server = Server::start(vec![events(&thinks)]).await;
    let (reply, heard) = call(provider::anthropic, &server, Timeouts::default()).await;
    assert_eq!((reply.unwrap().text.as_str(), heard), ("Hi", vec!["(hm)".to_owned(), "Hi".to_owned()]));
}

#[tokio::test]
async fn a_server_that_refuses_cache_marks_gets_none() {
    let no = r#"{"error":{"type":"invalid_request_error","message":"system.0.cache_control: Extra inputs are not permitted"}}"#;
    let hello = [
        r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hi"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let server = Server::start(vec![json("400 Bad Request", no), events(&hello)]).await;
    let (reply, _) = call(provider::anthropic, &server, Timeouts::default()).await;
    assert_eq!(reply.unwrap().text, "Hi");
    let requests = server.requests();
    assert!(requests[0].contains("cache_control") && !requests[1].contains("cache_control"), "{requests:?}");
}

#[tokio::test]
async fn a_stream_is_heard_piece_by_piece_and_its_tokens_are_counted() {
    let server = Server::start(vec![events(&HELLO)]).await;
    let (reply, heard) = call(provider::openai, &server, Timeouts::default()).await;
    let reply = reply.unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("Hello", Finish::Stop));
    assert_eq!((reply.input_tokens, reply.output_tokens), (12, 3));
    assert_eq!(heard, ["Hel", "lo"]);
    let request = &server.requests()[0];
    assert!(request.starts_with("POST /chat/completions "), "{request}");
    assert!(request.contains(&format!("authorization: Bearer {SECRET}")), "{request}");
    assert!(
        request.contains(r#""max_tokens":77"#) && request.contains(r#"{"content":"rules","role":"system"}"#),
        "{request}"
    );
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let body = r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#;
    let (reply, _) = openai(vec![json("200 OK", body)]).await;
    let reply = reply.unwrap();
    assert_eq!((reply.text.as_str(), reply.finish, reply.output_tokens), ("Hi", Finish::Length, 2));
    let (reply, _) = openai(vec![json("200 OK", "{\"hello\":1}")]).await;
    assert_eq!(reply.unwrap_err().code(), "model-bad-reply");
}

#[tokio::test]
async fn tool_calls_and_refusals_are_gathered() {
    let call = [
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"run_code","arguments":"{\"code\":"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"x = 1\"}"}}]},"finish_reason":"tool_calls"}]}"#,
        "[DONE]",
    ];
    let text = openai(vec![events(&call)]).await.0.unwrap().text;
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["arguments"], "{\"code\":\"x = 1\"}");
    let refusal = [r#"{"choices":[{"delta":{"refusal":"No."},"finish_reason":"stop"}]}"#, "[DONE]"];
    assert_eq!(openai(vec![events(&refusal)]).await.0.unwrap().refusal.as_deref(), Some("No."));
}

#[tokio::test]
async fn each_refusal_of_a_server_has_its_own_error_and_no_key_in_it() {
    let bodies = [
        (
            "401 Unauthorized",
            r#"{"error":{"message":"Incorrect key sk-very-secret-4711","code":"invalid_api_key"}}"#,
            "model-refused-key",
        ),
        (
            "404 Not Found",
            r#"{"error":{"message":"The model `m-1` does not exist","code":"model_not_found"}}"#,
            "model-unknown",
        ),
        ("400 Bad Request", r#"{"error":"model 'm-1' not found"}"#, "model-unknown"),
        ("402 Payment Required", r#"{"error":{"message":"add credit"}}"#, "model-no-credit"),
        (
            "429 Too Many Requests",
            r#"{"error":{"message":"quota","type":"insufficient_quota"}}"#,
            "model-no-credit",
        ),
        (
            "400 Bad Request",
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#,
            "model-context-too-long",
        ),
        ("400 Bad Request", r#"{"error":{"message":"what?"}}"#, "model-request-rejected"),
        ("302 Found", "", "model-request-rejected"),
    ];
    for (status, body, code) in bodies {
        let (reply, server) = openai(vec![json(status, body)]).await;
        let error = reply.unwrap_err();
        assert_eq!(error.code(), code, "{status} {body}");
        assert!(!error.to_string().contains(SECRET) && !error.hint().is_empty(), "{error}");
        assert_eq!(server.requests().len(), 1, "{status} was tried again");
    }
    assert!(!format!("{:?}", endpoint("http://x")).contains(SECRET));
}

#[tokio::test]
async fn a_busy_server_is_asked_again_when_it_says() {
    let busy = Act::Answer(
        "429 Too Many Requests",
        "retry-after-ms: 20\r\n",
        "{\"error\":{\"message\":\"slow down\"}}".to_owned(),
    );
    let (reply, server) =
        openai(vec![busy.clone(), json("503 Service Unavailable", "{}"), events(&HELLO)]).await;
    assert_eq!(reply.unwrap().text, "Hello");
    assert_eq!(server.requests().len(), 3);
    let (reply, server) = openai(vec![busy.clone(), busy.clone(), busy.clone(), busy]).await;
    assert_eq!(reply.unwrap_err().code(), "model-rate-limit");
    assert_eq!(server.requests().len(), 3);
    let later = Act::Answer("429 Too Many Requests", "retry-after: 3600\r\n", String::new());
    let (reply, server) = openai(vec![later]).await;
    let error = reply.unwrap_err();
    assert!(
        error.hint().contains("1h") || error.hint().contains("3600") || error.hint().contains("60"),
        "{}",
        error.hint()
    );
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_parameter_that_the_server_does_not_take_is_left_out() {
    let no = r#"{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}"#;
    let nor = r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0"}}"#;
    let (reply, server) =
        openai(vec![json("400 Bad Request", no), json("400 Bad Request", nor), events(&HELLO)]).await;
    assert_eq!(reply.unwrap().text, "Hello");
    let last = &server.requests()[2];
    assert!(last.contains("\"max_completion_tokens\":77") && !last.contains("temperature"), "{last}");
}

#[tokio::test]
async fn what_a_model_refused_once_is_never_sent_to_it_again() {
    let no = r#"{"type":"error","error":{"type":"invalid_request_error","message":"`temperature` is deprecated for this model."}}"#;
    let anthropic =
        [r#"{"type":"message","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}"#];
    let gemini = [r#"{"candidates":[{"content":{"parts":[{"text":"Hello"}]},"finishReason":"STOP"}]}"#];
    let makes: [(Make, &[&str]); 3] =
        [(provider::openai, &HELLO), (provider::anthropic, &anthropic), (provider::gemini, &gemini)];
    for (make, hello) in makes {
        let server = Server::start(vec![json("400 Bad Request", no), events(hello), events(hello)]).await;
        for _ in 0..2 {
            let strict = Endpoint { model: "strict".to_owned(), ..endpoint(&server.url) };
            let (reply, _) = called(make(strict, Timeouts::default()).unwrap()).await;
            assert_eq!(reply.unwrap().text, "Hello");
        }
        let sent =
            server.requests().iter().map(|request| request.contains("\"temperature\"")).collect::<Vec<_>>();
        assert_eq!(sent, [true, false, false]);
    }
}

#[tokio::test]
async fn an_address_may_end_with_the_version_or_without() {
    let hello = [r#"{"type":"message","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}"#];
    let server = Server::start(vec![events(&hello)]).await;
    let versioned = endpoint(&format!("{}/v1/", server.url));
    called(provider::anthropic(versioned, Timeouts::default()).unwrap()).await.0.unwrap();
    assert!(server.requests()[0].starts_with("POST /v1/messages "));
    let hello = [r#"{"candidates":[{"content":{"parts":[{"text":"Hello"}]},"finishReason":"STOP"}]}"#];
    let server = Server::start(vec![events(&hello)]).await;
    let versioned = endpoint(&format!("{}/v1beta", server.url));
    called(provider::gemini(versioned, Timeouts::default()).unwrap()).await.0.unwrap();
    assert!(server.requests()[0].starts_with("POST /v1beta/models/m-1:"));
}

#[tokio::test]
async fn slowness_is_an_error_that_says_where() {
    let impatient = async |acts: Vec<Act>, timeouts: Timeouts| {
        let server = Server::start(acts).await;
        call(provider::openai, &server, timeouts).await.0.unwrap_err()
    };
    let first_byte = Timeouts { first_byte: Duration::from_millis(300), ..Timeouts::default() };
    let error = impatient(vec![Act::Silent, Act::Silent, Act::Silent], first_byte).await;
    assert!(matches!(error, ProviderError::Timeout { what: "the first byte of the reply", .. }));
    let idle = Timeouts { idle: Duration::from_millis(300), ..Timeouts::default() };
    let stall = || Act::Stall(stream(&HELLO[..2]));
    let error = impatient(vec![stall(), stall(), stall()], idle).await;
    assert!(matches!(error, ProviderError::Timeout { what: "the next piece of the reply", .. }));
    let error = impatient(vec![Act::Silent], Timeouts::within(Duration::from_millis(200))).await;
    assert!(matches!(error, ProviderError::Timeout { .. }));
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_tried_again_and_never_taken_as_whole() {
    let cut = || Act::CutOff(stream(&HELLO[..2]));
    let (reply, _) = openai(vec![cut(), events(&HELLO)]).await;
    assert_eq!(reply.unwrap().text, "Hello");
    let (reply, _) = openai(vec![cut(), cut(), cut()]).await;
    assert_eq!(reply.unwrap_err(), ProviderError::Closed);
    // An orderly end of the stream without an end of the reply is no better.
    let (reply, _) = openai(vec![events(&HELLO[..2]), events(&HELLO[..2]), events(&HELLO[..2])]).await;
    assert_eq!(reply.unwrap_err(), ProviderError::Closed);
}

#[tokio::test]
async fn ten_megabytes_are_not_read() {
    let (reply, _) = openai(vec![Act::Flood(1_000)]).await;
    assert!(matches!(reply.unwrap_err(), ProviderError::TooLarge { .. }));
}

#[tokio::test]
async fn rubbish_between_events_is_skipped_and_rubbish_alone_is_an_error() {
    let mixed = [HELLO[0], "{broken", HELLO[1], "null", "[1,2]", HELLO[2], HELLO[4]];
    assert_eq!(openai(vec![events(&mixed)]).await.0.unwrap().text, "Hello");
    let rubbish =
        Act::Answer("200 OK", "content-type: text/event-stream\r\n", "<html>\u{0}\n\n\n:::".to_owned());
    assert_eq!(openai(vec![rubbish]).await.0.unwrap_err().code(), "model-bad-reply");
    let error = [HELLO[0], r#"{"error":{"message":"the engine died"}}"#];
    assert_eq!(openai(vec![events(&error)]).await.0.unwrap_err().code(), "model-bad-reply");
}

#[tokio::test]
async fn nobody_at_the_address_is_a_network_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let remote = provider::openai(endpoint(&url), Timeouts::default()).unwrap();
    let request = ModelRequest {
        messages: Vec::new(),
        purpose: Purpose::Plan,
        tokens_max: 1,
        temperature: None,
        effort: None,
    };
    let error = remote.call(&request, &mut |_: Piece<'_>| {}).await.unwrap_err();
    assert_eq!(error.code(), "model-network");
    for address in ["", "ftp://x", "localhost:1", "http://user:pass@x/v1", "http://x/v1?key=1"] {
        assert_eq!(
            provider::openai(endpoint(address), Timeouts::default()).unwrap_err().code(),
            "model-bad-base-url",
            "{address}"
        );
    }
    let bad = Endpoint { key: Some(Key::new("a\nb")), ..endpoint("http://x") };
    assert_eq!(provider::openai(bad, Timeouts::default()).unwrap_err().code(), "model-refused-key");
}

#[tokio::test]
async fn anthropic_is_spoken() {
    let said = [
        r#"{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hello"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":9}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let server = Server::start(vec![events(&said)]).await;
    let reply = call(provider::anthropic, &server, Timeouts::default()).await.0.unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("Hello", Finish::Length));
    assert_eq!((reply.input_tokens, reply.output_tokens), (15, 9));
    let request = &server.requests()[0];
    assert!(
        request.starts_with("POST /v1/messages ") && request.contains(&format!("x-api-key: {SECRET}")),
        "{request}"
    );
    assert!(
        request.contains("\"system\":[{\"cache_control\"") && request.contains("\"max_tokens\":77"),
        "{request}"
    );

    let overloaded = [said[0], r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#];
    let whole = r#"{"type":"message","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#;
    let server = Server::start(vec![events(&overloaded), json("200 OK", whole)]).await;
    assert_eq!(call(provider::anthropic, &server, Timeouts::default()).await.0.unwrap().text, "Hi");
    let broken = Server::start(vec![events(&said[..5]), events(&said[..5]), events(&said[..5])]).await;
    assert_eq!(
        call(provider::anthropic, &broken, Timeouts::default()).await.0.unwrap_err(),
        ProviderError::Closed
    );
    let long = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens"}}"#;
    let server = Server::start(vec![json("400 Bad Request", long)]).await;
    assert_eq!(
        call(provider::anthropic, &server, Timeouts::default()).await.0.unwrap_err().code(),
        "model-context-too-long"
    );
}

#[tokio::test]
async fn gemini_is_spoken() {
    let said = [
        r#"{"candidates":[{"content":{"parts":[{"text":"thinking","thought":true},{"text":"Hel"}]}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"lo"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":2,"thoughtsTokenCount":3}}"#,
    ];
    let server = Server::start(vec![events(&said)]).await;
    let reply = call(provider::gemini, &server, Timeouts::default()).await.0.unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("Hello", Finish::Stop));
    assert_eq!((reply.input_tokens, reply.output_tokens), (7, 5));
    let request = &server.requests()[0];
    assert!(request.starts_with("POST /v1beta/models/m-1:streamGenerateContent?alt=sse "), "{request}");
    assert!(
        request.contains(&format!("x-goog-api-key: {SECRET}")) && request.contains("\"systemInstruction\""),
        "{request}"
    );

    let blocked = [r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#];
    let server = Server::start(vec![events(&blocked)]).await;
    assert_eq!(
        call(provider::gemini, &server, Timeouts::default()).await.0.unwrap().finish,
        Finish::Filtered
    );
    let key = r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}"#;
    let server = Server::start(vec![json("400 Bad Request", key)]).await;
    assert_eq!(
        call(provider::gemini, &server, Timeouts::default()).await.0.unwrap_err().code(),
        "model-refused-key"
    );
    let strange = Endpoint { model: "../x".to_owned(), ..endpoint("http://x") };
    assert_eq!(provider::gemini(strange, Timeouts::default()).unwrap_err().code(), "model-unknown");
}
