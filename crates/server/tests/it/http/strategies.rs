//! Strategies over HTTP: steps, questions, events and cancelling, with a model whose replies are written down.

use std::sync::Arc;

use ordain_engine::Planner;
use ordain_planner::provider::Replay;
use ordain_planner::{Model, ModelSettings};
use serde_json::{Value, json};

use super::world::{Served, served, served_by, served_example};

const CHAT: &str = "/v1/chat/completions";
const REQUEST: &str = "Do the whole evening routine and tell me how it went";

fn program(code: &str) -> String {
    format!("<execute_python>\n{code}\n</execute_python>")
}

fn outline() -> String {
    let outline = json!({ "goal": "count and tell", "steps": [
        { "id": "count", "title": "count the kinds", "check": "result > 0" },
        { "id": "tell", "title": "say how many", "needs": ["count"] },
    ]});
    format!("<outline>{outline}</outline>")
}

fn steps() -> Vec<String> {
    let tell = "answer_text, STATUS = f\"There are {inputs['count']} kinds.\", 'success'\nresult = 1";
    vec![program("result = len(inventory_tbl)"), program(tell)]
}

async fn shop(replies: &[String]) -> Served {
    let lines: Vec<String> = replies.iter().map(|reply| json!({ "reply": reply }).to_string()).collect();
    let replay = Replay::parse("script", &lines.join("\n")).unwrap();
    let settings = ModelSettings { review: false, ..ModelSettings::default() };
    served_by(Planner::Model(Model::new(Arc::new(replay), settings)), |_| {}).await
}

async fn ask(shop: &Served, strategy: &str) -> Value {
    let body = json!({ "request": REQUEST, "strategy": strategy, "no_cache": true });
    let answer = shop.post("/v1/requests", &body).await;
    assert!(answer.status < 300, "{}", answer.text());
    answer.json()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_strategy_is_carried_out() {
    let plan = [vec![outline()], steps()].concat();
    let react = vec![
        program("kinds = len(inventory_tbl)\nprint(kinds)"),
        program("answer_text, STATUS = f'There are {kinds} kinds.', 'success'"),
    ];
    let direct = vec![program("answer_text, STATUS = f'There are {len(inventory_tbl)} kinds.', 'success'")];
    for (strategy, taken, replies) in [
        ("plan", "plan", &plan),
        ("auto", "plan", &plan),
        ("react", "react", &react),
        ("direct", "direct", &direct),
    ] {
        let shop = shop(replies).await;
        let record = ask(&shop, strategy).await;
        assert_eq!(
            (&record["state"], &record["strategy"]),
            (&json!("answered"), &json!(taken)),
            "{record:#}"
        );
        let answer = record["answer"]["text"].as_str().unwrap();
        assert!(answer.starts_with("There are ") && answer.ends_with(" kinds."), "{answer}");
        let run = record["run_id"].as_str().unwrap();
        let events = shop.get(&format!("/v1/runs/{run}/events")).await.text();
        assert!(taken == "direct" || events.contains("event: step.finished"), "{events}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outline_waits_and_goes_on_once_it_is_approved() {
    let shop = shop(&[vec![outline()], steps()].concat()).await;
    let body = json!({ "request": REQUEST, "strategy": "plan", "show_plan": true });
    let waiting = shop.post("/v1/requests", &body).await.json();
    assert_eq!(waiting["state"], "waiting", "{waiting:#}");
    assert_eq!(waiting["plan"]["questions"][0]["kind"], "outline");
    let path = format!("/v1/runs/{}/answer", waiting["run_id"].as_str().unwrap());
    let done = shop.post(&path, &json!({})).await.json();
    assert_eq!((&done["state"], &done["run_id"]), (&json!("answered"), &waiting["run_id"]), "{done:#}");
    assert_eq!(done["plan"]["questions"][0]["answer"], "yes");
    let again = shop.post(&path, &json!({})).await;
    assert_eq!(again.status, 409, "{}", again.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chat_client_is_shown_how_the_steps_go_as_reasoning() {
    let shop = shop(&[vec![outline()], steps()].concat()).await;
    let body = json!({ "model": "ordain-plan", "stream": true, "messages": [{ "role": "user", "content": REQUEST }] });
    let text = shop.post(CHAT, &body).await.text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let chunks = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let reasons = chunks
        .filter_map(|chunk| Some(chunk["choices"][0]["delta"]["reasoning_content"].as_str()?.to_owned()));
    let reasons: String = reasons.collect();
    for line in [
        "strategy plan: it was asked for\n",
        "outline: 2 steps\n",
        "step count: count the kinds\n",
        "step tell: done after",
    ] {
        assert!(reasons.contains(line), "{line:?} is missing: {reasons}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_never_ends_can_be_cancelled() {
    let shop = shop(&[outline(), program("while True:\n    pass")]).await;
    let body = json!({ "request": REQUEST, "strategy": "plan" });
    let begun = shop.post_with("/v1/requests", &["Prefer: wait=1"], &body).await;
    assert_eq!(begun.status, 202, "{}", begun.text());
    let run = begun.json()["run_id"].as_str().unwrap().to_owned();
    let cancelled = shop.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await.json();
    assert_eq!(
        (&cancelled["state"], &cancelled["error"]["code"]),
        (&json!("rolled_back"), &json!("cancelled"))
    );
    assert!(
        shop.store().cut_short(&ordain_types::RunId(run)).await.unwrap().is_none(),
        "nothing is left to go on"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_calculation_and_a_file_of_an_earlier_message_are_code_tasks() {
    let shop = served().await;
    let kind_of = async |body: Value| {
        let whole = shop.post(CHAT, &body).await.json();
        let run = whole["ordain"]["run_id"].as_str().unwrap_or_else(|| panic!("{whole}")).to_owned();
        let record = shop.get(&format!("/v1/runs/{run}")).await.json();
        let content = whole["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
        (record["kind"].as_str().unwrap().to_owned(), content, record)
    };
    let user = |content: Value| json!({ "role": "user", "content": content });
    let primes = json!({ "messages": [user(json!("primes up to 100"))], "agent_type": "auto" });
    let (kind, content, record) = kind_of(primes).await;
    assert!(kind == "code" && content.contains("97"), "{kind}: {content}");
    assert_eq!(record["plan"]["reason"], "every word is part of a calculation");
    // item,amount / a,1.5 / b,2.25
    let data = "data:text/csv;base64,aXRlbSxhbW91bnQKYSwxLjUKYiwyLjI1Cg==";
    let file = json!({ "type": "file", "file": { "filename": "sales.csv", "file_data": data } });
    let first = user(json!([{ "type": "text", "text": "look at this" }, file]));
    let assistant = json!({ "role": "assistant", "content": "I see two rows." });
    let mut talk = vec![first, assistant, user(json!("what is the sum of amount?"))];
    let (kind, content, _) = kind_of(json!({ "messages": talk })).await;
    assert!(kind == "code" && content.contains("3.75"), "{kind}: {content}");
    // What is understood as a request about the tables stays one.
    talk[2] = user(json!("How much is the Moon?"));
    assert_eq!(kind_of(json!({ "messages": talk })).await.0, "ask");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_goals_of_the_office_are_carried_out_and_their_files_can_be_fetched() {
    let replies = |name: &str| {
        let path = format!("{}/../../examples/office/replies/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let replay = Replay::parse(name, &fs_err::read_to_string(path).unwrap()).unwrap();
        Planner::Model(Model::new(Arc::new(replay), ModelSettings::default()))
    };
    for (goal, name, state, steps, file) in [
        (
            "Onboard the new software engineer Sarah Chen in the Platform team, starting 2026-01-12",
            "onboarding",
            "committed",
            7,
            None,
        ),
        (
            "Create a competitive analysis comparing our product to the others",
            "report",
            "answered",
            5,
            Some("comparison.csv"),
        ),
        (
            "Analyze the Q4 sales and create an executive dashboard",
            "dashboard",
            "answered",
            4,
            Some("dashboard.html"),
        ),
    ] {
        let office = served_example("office", replies(name), |_| {}).await;
        let body = json!({ "request": goal, "strategy": "plan" });
        let record = office.post_with("/v1/requests", &["Prefer: wait=300"], &body).await.json();
        assert_eq!(
            (record["state"].as_str(), record["error"].as_null()),
            (Some(state), Some(())),
            "{record:#}"
        );
        assert_eq!(record["plan"]["steps"].as_array().unwrap().len(), steps);
        if let Some(file) = file {
            let run = record["run_id"].as_str().unwrap();
            let fetched = office.get(&format!("/v1/runs/{run}/artifacts/{file}")).await;
            assert_eq!(fetched.status, 200, "{}", fetched.text());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_agents_examples_are_answered_in_chat_without_a_model() {
    let shop = served().await;
    for (message, said) in [
        ("Calculate Fibonacci sequence up to 100", "1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89"),
        ("Write Python code to calculate prime numbers up to 100", "83, 89, 97"),
        ("word frequency of 'the cat and the dog and the bird'", "the (3), and (2)"),
    ] {
        let body = json!({ "model": "gpt-oss:20b", "agent_type": "auto", "messages": [{ "role": "user", "content": message }] });
        let whole = shop.post(CHAT, &body).await.json();
        let content = whole["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("{whole}"));
        assert!(content.contains(said), "{message}: {content}");
    }
    // With a model the same request goes step by step, where the client asks for that.
    let steps = [
        program("primes = [n for n in range(2, 101) if all(n % d for d in range(2, n))]\nprint(len(primes))"),
        program("answer_text, STATUS = f'{len(primes)} primes, the last is {primes[-1]}.', 'success'"),
    ];
    let shop = self::shop(&steps).await;
    let content = "Write Python code to calculate prime numbers up to 100";
    let body = json!({ "agent_type": "react", "messages": [{ "role": "user", "content": content }] });
    let whole = shop.post(CHAT, &body).await.json();
    let content = whole["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("{whole}"));
    assert!(content.contains("25 primes, the last is 97."), "{content}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_agents_example_with_a_data_frame_is_answered_in_chat() {
    let code = "import pandas as pd\nsales = pd.read_csv(files['sales.csv'])\n\
                more = pd.DataFrame({'region': ['north', 'west'], 'amount': [4.0, 1.25]})\n\
                total = pd.concat([sales, more]).groupby('region')['amount'].agg(['sum', 'mean']).sort_values('sum')\n\
                print(total)\n\
                answer_text = '; '.join(f'{name}: {row[\"sum\"]:.2f}' for name, row in total.iterrows())\n\
                STATUS = 'success'";
    let shop = self::shop(&[program(code)]).await;
    // region,amount / north,1.5 / west,2.25 / north,2
    let data = "data:text/csv;base64,cmVnaW9uLGFtb3VudApub3J0aCwxLjUKd2VzdCwyLjI1Cm5vcnRoLDIK";
    let file = json!({ "type": "file", "file": { "filename": "sales.csv", "file_data": data } });
    let text =
        "Put the sales into a DataFrame, add four in the north and 1.25 in the west, and aggregate by region";
    let messages = json!([{ "role": "user", "content": [{ "type": "text", "text": text }, file] }]);
    let whole = shop.post(CHAT, &json!({ "agent_type": "auto", "messages": messages })).await.json();
    let content = whole["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("{whole}"));
    assert!(content.contains("west: 3.50; north: 7.50"), "{content}");
    let run = whole["ordain"]["run_id"].as_str().unwrap();
    let record = shop.get(&format!("/v1/runs/{run}")).await.json();
    assert_eq!((&record["kind"], &record["receipt"]["kind"]), (&json!("code"), &json!("none")));
    assert!(record["outcome"]["stdout"].as_str().unwrap().contains("sum  mean"), "{record}");
}
