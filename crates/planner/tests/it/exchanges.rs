//! Rounds between the engine and a model, without an engine.

use ordain_planner::{Draft, Opinion, Planner, Quiet, Reply, Reviewed, Speaker, Task};
use ordain_types::{BoundParam, ErrorClass, Trouble};

use crate::world::{brief, replay};

const GOOD: &str =
    r#"{"reply":"<execute_python>\nanswer_text = 'x'\nSTATUS = 'success'\n</execute_python>"}"#;

fn trouble(message: &str) -> Trouble {
    Trouble {
        class: ErrorClass::Verify,
        code: "unknown-column".to_owned(),
        message: message.to_owned(),
        line: Some(2),
        hint: None,
    }
}

async fn plan(planner: &Planner, exchange: &mut ordain_planner::Exchange) -> Draft {
    match planner.next(&brief(Task::Ask, "x"), exchange, &mut Quiet).await.unwrap() {
        Reply::Plan(draft) => draft,
        other => panic!("no plan: {other:?}"),
    }
}

#[tokio::test]
async fn a_complaint_becomes_a_message_and_the_same_one_twice_ends_the_exchange() {
    let planner = replay(&format!("{GOOD}\n{GOOD}"));
    let mut exchange = planner.begin(&brief(Task::Ask, "x"));
    plan(&planner, &mut exchange).await;
    assert!(planner.complain(&mut exchange, &trouble("no column `a`")));
    let told = exchange.messages.last().unwrap();
    assert_eq!(told.speaker, Speaker::Ordain);
    assert!(told.text.contains("    2 | STATUS = 'success'"), "{}", told.text);
    plan(&planner, &mut exchange).await;
    assert!(!planner.complain(&mut exchange, &trouble("no column `a`")));
    assert_eq!(exchange.usage.model_calls, 2);
}

/// What a review comes to that is said twice.
async fn opinion(reply: &str) -> Opinion {
    let line = serde_json::json!({ "for": "review", "reply": reply }).to_string();
    opinion_of(&format!("{line}\n{line}")).await
}

async fn opinion_of(cassette: &str) -> Opinion {
    let brief = brief(Task::Ask, "x");
    let param = BoundParam { name: "n".to_owned(), value: 2.into(), said: "two".to_owned(), at: None };
    let draft = Draft { code: "x = 1".to_owned(), params: vec![param], ..Draft::default() };
    let planner = replay(cassette);
    let mut exchange = planner.begin(&brief);
    planner.review(&brief, Reviewed::Code(&draft, None), &mut exchange, &mut Quiet).await
}

#[tokio::test]
async fn an_objection_is_read_with_its_line() {
    let objects = r#"{"for":"review","expect":{"contains":["<params>\nn = 2, said \"two\"","<program>"],"not_contains":["<forms>"]},"reply":"```json\n{\"ok\": false, \"problem\": \"wrong sign\", \"line\": 3}\n```"}"#;
    let Opinion::Objection(found) = opinion_of(objects).await else { panic!("no objection") };
    assert_eq!(
        (found.class, found.message.as_str(), found.line),
        (ErrorClass::Review, "wrong sign", Some(3))
    );
}

#[tokio::test]
async fn a_review_that_says_no_in_any_way_or_cannot_be_read_is_no_consent() {
    for consent in [
        r#"{"ok": true}"#,
        "```json\n{\"ok\": true}\n```",
        r#"<think>It may be {"ok": false}.</think>{"ok": true, "problem": null, "line": null, "hint": ""}"#,
    ] {
        let Opinion::Consent(given) = opinion(consent).await else { panic!("{consent}") };
        assert!(given.covers("x = 1") && !given.covers("x = 2"), "{given:?}");
    }
    for reply in [
        "fine",
        r#"It is not {"ok": true}. It pays the wrong person."#,
        r#"{"ok": false, "ok": true}"#,
        r#"{"ok": true} {"ok": false, "problem": "it pays the wrong person"}"#,
        "```json\n{\"ok\": true}\n```\nOn second thoughts I object.",
        r#"{"ok": true, "problem": "it pays the wrong person", "line": 2}"#,
        r#"{"ok": "true"}"#,
    ] {
        assert!(matches!(opinion(reply).await, Opinion::Missing(_)), "{reply}");
    }
    for cut in ["length", "error", "content_filter"] {
        let line = serde_json::json!({ "for": "review", "reply": "{\"ok\": true}", "finish_reason": cut });
        assert!(matches!(opinion_of(&format!("{line}\n{line}")).await, Opinion::Missing(_)), "{cut}");
    }
    let fails = r#"{"for":"review","error":{"code":"model-timeout"}}"#;
    assert!(matches!(opinion_of(fails).await, Opinion::Missing(_)), "nobody answers");
}

#[tokio::test]
async fn an_outline_is_asked_for_twice_at_most() {
    let bad = r#"{"for":"outline","reply":"First, I would count."}"#;
    let good = r#"{"for":"outline","expect":{"contains":["JSON object alone"]},"reply":"{\"goal\":\"g\",\"tables\":[\"inventory\"],\"steps\":[\"count\"]}"}"#;
    let brief = brief(Task::Check, "no orphans");
    let planner = replay(&format!("{bad}\n{good}\n{bad}\n{bad}"));
    let mut exchange = planner.begin(&brief);
    let outline = planner.outline(&brief, &mut exchange, &mut Quiet).await;
    assert_eq!(outline.unwrap()["steps"][0], "count");
    assert!(exchange.messages.last().unwrap().text.contains("<outline>\n{\"goal\":\"g\""));
    let error = planner.outline(&brief, &mut exchange, &mut Quiet).await.unwrap_err();
    assert_eq!(error.code, "model-bad-reply");
    let rules = Planner::Rules.outline(&brief, &mut exchange, &mut Quiet).await.unwrap();
    assert_eq!(rules["tables"][0], "inventory");
}

#[tokio::test]
async fn a_cassette_says_what_differs() {
    let brief = brief(Task::Ask, "buy two");
    for (cassette, said) in [
        (r#"{"expect":{"contains":["buy three"]},"reply":"x"}"#, "does not contain \"buy three\""),
        (r#"{"expect":{"not_contains":["buy two"]},"reply":"x"}"#, "contains \"buy two\""),
        (r#"{"expect":{"system_contains":["xyzzy"]},"reply":"x"}"#, "the rules do not contain \"xyzzy\""),
        (r#"{"for":"outline","reply":"x"}"#, "it is for Outline, but the call is for Plan"),
        ("# nothing\n", "there is no reply 1"),
    ] {
        let planner = replay(cassette);
        let mut exchange = planner.begin(&brief);
        let error = planner.next(&brief, &mut exchange, &mut Quiet).await.unwrap_err();
        assert_eq!(error.code, "model-replay-mismatch");
        assert!(error.message.contains(said), "{}", error.message);
    }
    for (cassette, said) in [
        ("{}", "line 1: it needs exactly one of"),
        ("\n{\"reply\":\"x\",\"speed\":1}", "line 2: unknown field `speed`"),
        ("not json", "line 1"),
    ] {
        let error = ordain_planner::provider::Replay::parse("c", cassette).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn every_cassette_in_the_folder_can_be_read() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cassettes");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let replay = ordain_planner::provider::Replay::open(&path).unwrap();
        assert!(!replay.is_used_up(), "{} is empty", path.display());
        count += 1;
    }
    assert!(count >= 25, "{count}");
}
