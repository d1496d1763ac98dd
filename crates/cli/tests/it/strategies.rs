//! Strategies from the command line, with a model whose replies are written down.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::command::{Ran, init, run_in};

struct Shop {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

const REQUEST: &str = "Do the whole evening routine and tell me how it went";

impl Shop {
    fn new() -> Self {
        Self::of("sunglasses")
    }

    fn of(example: &str) -> Self {
        let (folder, root) = init(example);
        Self { _folder: folder, root }
    }

    fn ordain(&self, arguments: &[&str]) -> Ran {
        run_in(&self.root, arguments)
    }

    /// A model that gives these replies, one after the other.
    fn model(&self, name: &str, replies: &[&str]) -> String {
        let lines: Vec<String> = replies.iter().map(|reply| json!({ "reply": reply }).to_string()).collect();
        let file = self.root.join(name);
        fs_err::write(&file, lines.join("\n")).unwrap();
        format!("replay:{}", file.display())
    }
}

fn program(code: &str) -> String {
    format!("<execute_python>\n{code}\n</execute_python>")
}

fn outline() -> Value {
    json!({ "goal": "count and tell", "steps": [
        { "id": "count", "title": "count the kinds", "check": "result > 0" },
        { "id": "tell", "title": "say how many", "needs": ["count"] },
    ]})
}

#[test]
fn an_outline_is_shown_edited_and_carried_out() {
    let shop = Shop::new();
    let model = shop.model("outline.jsonl", &[&format!("<outline>{}</outline>", outline())]);
    let shown = shop.ordain(&["ask", REQUEST, "--model", &model, "--show-plan"]);
    assert_eq!(shown.code, Some(4), "{shown:?}");
    assert!(shown.stderr.contains("ordain runs resume"), "{shown:?}");
    assert!(shown.stdout.contains("\"id\": \"count\""), "{shown:?}");
    let waiting = shop.ordain(&["runs", "list", "--state", "waiting", "--json"]).json();
    let id = waiting[0]["run_id"].as_str().unwrap().to_owned();

    let circle = json!({ "goal": "g", "steps": [{ "id": "a", "title": "t", "needs": ["a"] }] });
    fs_err::write(shop.root.join("edited.json"), circle.to_string()).unwrap();
    let refused = shop.ordain(&["runs", "resume", &id, "--outline", "edited.json"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("in a circle"), "{refused:?}");

    let mut edited = outline();
    edited["steps"][1]["title"] = json!("say it short");
    fs_err::write(shop.root.join("edited.json"), edited.to_string()).unwrap();
    let answer = "answer_text = f\"There are {inputs['count']} kinds.\"\nSTATUS = 'success'\nresult = 1";
    let steps = shop.model("steps.jsonl", &[&program("result = len(inventory_tbl)"), &program(answer)]);
    let done = shop.ordain(&["runs", "resume", &id, "--outline", "edited.json", "--model", &steps, "--json"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let record = done.json();
    assert_eq!((record["run_id"].as_str(), record["state"].as_str()), (Some(id.as_str()), Some("answered")));
    assert_eq!(record["plan"]["steps"][1]["title"], "say it short");
    assert_eq!(record["plan"]["steps"][0]["criterion"]["judged_by"], "code");
    let again = shop.ordain(&["runs", "resume", &id, "--model", &steps]);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.stderr.contains("cannot be resumed"), "{again:?}");
}

#[test]
fn a_question_is_answered_and_nothing_is_done_twice() {
    let shop = Shop::new();
    let model = shop.model("ask.jsonl", &["<ask>For which day?</ask>"]);
    let asked = shop.ordain(&["ask", REQUEST, "--model", &model, "--json"]);
    assert_eq!(asked.code, Some(4), "{asked:?}");
    let id = asked.json()["run_id"].as_str().unwrap().to_owned();
    let empty = shop.ordain(&["runs", "answer", &id, " ", "--model", &model]);
    assert!(empty.stderr.contains("the answer is empty"), "{empty:?}");
    let answer = program("answer_text, STATUS = 'All is well.', 'success'");
    let model = shop.model("answer.jsonl", &[&answer]);
    let done = shop.ordain(&["runs", "answer", &id, "today", "--model", &model, "--json"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.json()["plan"]["questions"][0]["answer"], "today");
    assert_eq!(done.json()["answer"]["text"], "All is well.");
}

#[test]
fn a_session_answers_and_a_strategy_that_needs_a_model_says_so() {
    let shop = Shop::new();
    let steps =
        ["kinds = len(inventory_tbl)\nprint(kinds)", "answer_text, STATUS = f'{kinds} kinds.', 'success'"];
    let model = shop.model("react.jsonl", &[&program(steps[0]), &program(steps[1])]);
    let done = shop.ordain(&["ask", REQUEST, "--model", &model, "--strategy", "react", "--json"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.json()["strategy"], "react");
    assert_eq!(done.json()["plan"]["steps"].as_array().unwrap().len(), 2);
    let none = shop.ordain(&["ask", REQUEST, "--model", "rules", "--strategy", "plan"]);
    assert_eq!(none.code, Some(3), "{none:?}");
    assert!(none.stdout.contains("needs a model") || none.stderr.contains("needs a model"), "{none:?}");
    let unknown = shop.ordain(&["ask", REQUEST, "--strategy", "wizard"]);
    assert!(unknown.stderr.contains("there are auto, direct, plan, react"), "{unknown:?}");
}

#[test]
fn a_plan_that_did_well_becomes_an_action_after_its_diff_was_shown() {
    let shop = Shop::new();
    let plan = "<plan>{\"params\":{\"days\":{\"value\":3,\"said\":\"3 days\"}}}</plan>";
    let code = "inventory_tbl.update({'description': f\"back in {params['days']} days\"}, where('name') == 'Moon')\n\
                ACTION, SHOULD_MUTATE = 'mutate', True\n\
                answer_text, STATUS = f\"The Moon is back in {params['days']} days.\", 'success'";
    let model = shop.model("late.jsonl", &[&format!("{plan}{}", program(code))]);
    let request = "Tell everybody that the Moon comes back after 3 days";
    let first = shop.ordain(&["ask", request, "--model", &model, "--strategy", "direct", "--json"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let id = first.json()["plan"]["plan_id"].as_str().unwrap().to_owned();
    let before = fs_err::read_to_string(shop.root.join("helpers.py")).unwrap();
    let shown =
        shop.ordain(&["plans", "promote", &id, "--name", "delay_moon", "--word", "delay the moon by"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.stdout.contains("+def delay_moon(days):"), "{shown:?}");
    assert!(shown.stdout.contains("+params.days = { type = \"count\" }"), "{shown:?}");
    assert_eq!(fs_err::read_to_string(shop.root.join("helpers.py")).unwrap(), before);
    let taken = shop.ordain(&["plans", "promote", &id, "--name", "sell", "--yes"]);
    assert_eq!(taken.code, Some(2), "{taken:?}");
    assert_eq!(fs_err::read_to_string(shop.root.join("helpers.py")).unwrap(), before, "nothing half written");
    let written = shop.ordain(&[
        "plans",
        "promote",
        &id,
        "--name",
        "delay_moon",
        "--word",
        "delay the moon by",
        "--yes",
    ]);
    assert_eq!(written.code, Some(0), "{written:?}");
    let done = shop.ordain(&["ask", "delay the moon by 5", "--model", "rules", "--json"]);
    assert_eq!(done.json()["state"], "committed", "{done:?}");
    assert_eq!(done.json()["diff"]["inventory"]["changed"][0]["after"]["description"], "back in 5 days");
}

/// Goals of the example `office`, the recorded replies to each, and what the command then prints.
const GOALS: [(&str, &str, &[&str]); 3] = [
    (
        "Onboard the new software engineer Sarah Chen in the Platform team, starting 2026-01-12",
        "onboarding",
        &[
            "3 rows added to accounts, 1 row added to employees, 1 row changed in equipment, 2 rows added to meetings.",
            "accounts   done",
            "Carla Ruiz is your buddy",
            "+         M03         E05          Security briefing  2026-01-13",
        ],
    ),
    (
        "Create a competitive analysis comparing our product to the others",
        "report",
        &["Nothing was changed.", "summary   done", "Brightside is rated higher", "/comparison.csv (131B)"],
    ),
    (
        "Analyze the Q4 sales and create an executive dashboard",
        "dashboard",
        &[
            "Nothing was changed.",
            "months   done",
            "$433,500 in the quarter, West ahead",
            "/dashboard.html (1.5KiB)",
        ],
    ),
];

#[test]
fn the_goals_of_the_office_are_carried_out_as_its_file_says() {
    let office = Shop::of("office");
    let written = fs_err::read_to_string(office.root.join("ordain.toml")).unwrap();
    for (goal, replies, said) in GOALS {
        assert!(written.contains(goal), "{goal}");
        let model = format!("replay:replies/{replies}.jsonl");
        let done = office.ordain(&["ask", goal, "--strategy", "plan", "--model", &model, "-v"]);
        assert_eq!(done.code, Some(0), "{done:?}");
        for said in said {
            assert!(done.stdout.contains(said), "{said}: {}", done.stdout);
        }
    }
    let runs = office.ordain(&["runs", "list", "--json"]).json();
    let page = format!(".ordain/artifacts/{}/dashboard.html", runs[0]["run_id"].as_str().unwrap());
    let page = fs_err::read_to_string(office.root.join(page)).unwrap();
    assert!(page.contains("Revenue by region") && page.contains("<svg"), "{page}");
    for elsewhere in ["http:", "https:", "src=", "href=", "@import", "url("] {
        assert!(!page.contains(elsewhere), "the page needs something from elsewhere: {elsewhere}");
    }
}
