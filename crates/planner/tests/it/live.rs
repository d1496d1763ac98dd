//! A real model, where somebody names one: `ORDAIN_LIVE_MODEL=http://127.0.0.1:8080/v1#model`.

use std::io::Write as _;

use ordain_planner::{ModelSettings, Quiet, Reply, Task, choose};

use crate::world::brief;

#[tokio::test]
async fn a_real_model_gives_a_reply_that_is_understood() {
    let Ok(live) = std::env::var("ORDAIN_LIVE_MODEL") else {
        let _ = writeln!(std::io::stderr(), "skipped: ORDAIN_LIVE_MODEL is not set");
        return;
    };
    let (base_url, name) = live.split_once('#').expect("ORDAIN_LIVE_MODEL is URL#MODEL");
    let settings = ModelSettings {
        name: name.to_owned(),
        base_url: Some(base_url.to_owned()),
        ..ModelSettings::default()
    };
    let planner = choose(&settings, |name| std::env::var(name).ok()).await.unwrap().planner;
    let brief = brief(Task::Ask, "What does the Aviator cost?");
    let mut exchange = planner.begin(&brief);
    let reply = planner.next(&brief, &mut exchange, &mut Quiet).await.unwrap();
    let said = &exchange.messages.last().unwrap().text;
    let _ = writeln!(std::io::stderr(), "{said}\n{:?}", exchange.usage);
    assert!(!said.is_empty() && exchange.usage.output_tokens > 0);
    if let Reply::Plan(draft) = reply {
        assert!(draft.code.ends_with('\n'));
    }
}
