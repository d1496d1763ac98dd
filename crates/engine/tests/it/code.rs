//! Questions about files, answered by code: with the reader, with given code, and with replies that fail first.

use std::path::PathBuf;

use ordain_engine::{AnswerType, CodeAnswer, CodeTask, EngineSettings};
use ordain_planner::{ModelSettings, Planner, choose};
use ordain_types::{PlanSource, RunState, SourceFile};
use sha2::{Digest as _, Sha256};

use crate::files::kinds::KINDS;
use crate::files::made;
use crate::world::{Database, World, inventory, world, world_with};

fn task(request: &str, files: &[&str]) -> CodeTask {
    let files: Vec<PathBuf> = files.iter().map(|name| made().join(name)).collect();
    CodeTask { files, ..CodeTask::new(request, "test", "test") }
}

async fn solve(world: &World, task: CodeTask) -> CodeAnswer {
    world.engine.code(task).await.unwrap()
}

fn plan(code: &str) -> SourceFile {
    SourceFile { code: code.to_owned(), name: "plan.py".to_owned() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_about_every_kind_of_table_is_answered_by_code() {
    let world = world(Database::Sqlite).await;
    let mut wrong = Vec::new();
    for name in KINDS.iter().filter(|kind| kind.holds_orders).map(|kind| kind.file) {
        let answer = solve(&world, task("total units", &[name])).await;
        let text = answer.record.answer.text.clone().unwrap_or_default();
        if !answer.is_success() || !text.contains("is 189.") {
            wrong.push(format!("{name}: {text}: {:?}", answer.record.error));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_have_types_and_files_come_back() {
    let world = world(Database::Sqlite).await;
    let number = solve(&world, task("total units", &["a.csv"])).await;
    assert_eq!((number.answer_type(), &number.record.answer.json), (AnswerType::Number, &Some(189.into())));
    let table = solve(&world, task("total units by region", &["a.csv"])).await;
    assert_eq!(table.answer_type(), AnswerType::Table);
    let figure = solve(&world, task("bar chart of the total units by region", &["a.csv"])).await;
    assert_eq!(figure.answer_type(), AnswerType::Figure);
    let artifact = &figure.record.outcome.artifacts[0];
    assert_eq!((artifact.name.as_str(), artifact.media_type.as_str()), ("chart.png", "image/png"));
    assert_eq!(artifact.sha256.len(), 64);
    let text = solve(&world, task("Calculate Fibonacci sequence up to 100", &[])).await;
    assert_eq!(text.answer_type(), AnswerType::Text);
    assert_eq!(text.to_json()["output"], "1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89.");
    let primes = solve(&world, task("prime numbers up to 100", &[])).await;
    assert!(primes.record.answer.text.unwrap().contains("25 primes: 2, 3, 5"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_record_has_the_fields_of_older_tools_and_an_entry_of_its_kind() {
    let world = world(Database::Sqlite).await;
    let answer = solve(&world, task("total units", &["a.csv", "locked.xlsx"])).await;
    let json = answer.to_json();
    assert_eq!(json["success"], true);
    assert_eq!(json["error"], serde_json::Value::Null);
    assert_eq!(json["iterations"], 1);
    assert!(json["code"].as_str().unwrap().contains("sql("), "{json}");
    assert!(json["execution_time"].as_f64().unwrap() > 0.0);
    assert_eq!(json["verification_history"].as_array().unwrap().len(), 1);
    assert_eq!(json["file_problems"][0]["name"], "locked.xlsx");
    let entries = world.engine.store().entries_of_run(&answer.record.run_id).await.unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].kind, "code");
    let body: serde_json::Value = serde_json::from_str(entries[0].body.get()).unwrap();
    let content = fs_err::read(made().join("a.csv")).unwrap();
    let hash = ordain_types::hex(&Sha256::digest(&content));
    let noted = body.pointer("/detail/files/0").unwrap_or_else(|| panic!("{body}"));
    assert_eq!((&noted["name"], &noted["sha256"]), (&"a.csv".into(), &hash.as_str().into()), "{noted}");
    assert_eq!(json["files"][0]["sha256"], hash.as_str());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_rows_use_the_cached_code_and_a_new_column_type_does_not() {
    let world = world(Database::Sqlite).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sales.csv");
    let ask = async |content: &str| {
        fs_err::write(&path, content).unwrap();
        let task = CodeTask { files: vec![path.clone()], ..CodeTask::new("total units", "test", "test") };
        let answer = solve(&world, task).await;
        (answer.record.plan.source, answer.record.answer.json)
    };
    assert_eq!(ask("region,units\nnorth,1\nsouth,2\n").await, (PlanSource::Rules, Some(3.into())));
    assert_eq!(ask("region,units\nnorth,10\nsouth,20\neast,5\n").await, (PlanSource::Cache, Some(35.into())));
    let (source, _) = ask("region,units,price\nnorth,10,2\n").await;
    assert_eq!(source, PlanSource::Rules, "another column is another schema");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_keeps_its_variables_and_nothing_of_an_earlier_answer() {
    let world = world(Database::Sqlite).await;
    let turn = async |code: &str| {
        let task =
            CodeTask { session: Some("one".to_owned()), plan: Some(plan(code)), ..task("turn", &["a.csv"]) };
        solve(&world, task).await.record
    };
    let first = turn("count = len(files['a.csv'].read_text())\nanswer_text = 'counted'\n").await;
    assert_eq!(first.answer.text.as_deref(), Some("counted"), "{first:?}");
    let second = turn("print(count > 100)\n").await;
    assert_eq!(second.answer.text.as_deref(), Some("True"), "{second:?}");
    // Another engine has no cell for the session: the code of its turns runs again.
    world.engine.end_code_session("one").await;
    let third = turn("print(count > 100, 'again')\n").await;
    assert_eq!(third.answer.text.as_deref(), Some("True again"), "{third:?}");
    let unknown = turn("print(nothing_defines_this)\n").await;
    assert_eq!(unknown.state, RunState::Rejected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_of_several_files_imports_its_modules_and_each_is_judged() {
    let world = world(Database::Sqlite).await;
    let module = |code: &str, name: &str| SourceFile { code: code.to_owned(), name: name.to_owned() };
    let with = |modules| CodeTask {
        plan: Some(plan("import shapes\nanswer_text = f'area {shapes.area(3, 4)}'\n")),
        modules,
        ..task("modules", &[])
    };
    let base = module("def product(a, b):\n    return a * b\n", "base_parts.py");
    let shapes =
        module("import base_parts\n\ndef area(a, b):\n    return base_parts.product(a, b)\n", "shapes.py");
    let answer = solve(&world, with(vec![base.clone(), shapes])).await;
    assert_eq!(answer.record.answer.text.as_deref(), Some("area 12"), "{:?}", answer.record);
    let hostile = module("import socket\n\ndef area(a, b):\n    return 0\n", "shapes.py");
    let refused = solve(&world, with(vec![base, hostile])).await;
    assert_eq!(refused.record.state, RunState::Rejected);
    assert!(refused.record.error.unwrap().message.contains("shapes.py"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_libraries_of_science_and_language_work_in_a_cell_without_a_network() {
    let world = world(Database::Sqlite).await;
    let read = "import pandas as pd\ntable = pd.read_csv(files['a.csv'])\n";
    let cases = [
        (
            "from scipy import optimize\nfound = optimize.minimize(lambda x: (x[0] - 3) ** 2, [0.0])\nprint(round(float(found.x[0]), 3))",
            "3.0",
        ),
        (
            "from scipy import stats\nparts = [table.loc[table.region == name, 'units'] for name in ('north', 'south')]\nprint(stats.ttest_ind(*parts, equal_var=False).pvalue > 0.05)",
            "True",
        ),
        (
            "import statsmodels.api as sm\nmodel = sm.OLS(2 * table.units + 1, sm.add_constant(table.units)).fit()\nprint([round(float(value), 6) for value in model.params])",
            "[1.0, 2.0]",
        ),
        (
            "from sklearn.linear_model import LinearRegression\nprint(LinearRegression().fit([[1], [2]], [2, 4]).coef_)",
            "[2.]",
        ),
        ("import sympy\nprint(sympy.solve('x**2 - 4'))", "[-2, 2]"),
        (
            "from textblob import TextBlob\nprint(TextBlob('a wonderful frame').sentiment.polarity > 0 > TextBlob('a terrible frame').sentiment.polarity)",
            "True",
        ),
        (
            "import duckdb\nprint(duckdb.sql(f\"select sum(units)::int from read_csv('{files['a.csv']}')\").fetchall())",
            "[(189,)]",
        ),
        ("import polars\nprint(polars.read_csv(files['a.csv'])['units'].sum())", "189"),
    ];
    for (code, printed) in cases {
        let code = format!("{read}{code}\n");
        let answer = solve(&world, CodeTask { plan: Some(plan(&code)), ..task("run it", &["a.csv"]) }).await;
        assert_eq!(answer.record.answer.text.as_deref(), Some(printed), "{code}: {:?}", answer.record.error);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_may_reply_with_several_files_and_a_hostile_one_is_repaired() {
    let mut world = world(Database::Sqlite).await;
    world.without_review();
    let main = "import shapes\nanswer_text = f\"area {shapes.area(3, 4)}\"\nSTATUS = \"success\"";
    let reply = |shapes: &str| {
        format!("**shapes.py**\n```python\n{shapes}\n```\n\n**main.py**\n```python\n{main}\n```\n")
    };
    let hostile = reply("import socket\n\ndef area(a, b):\n    return 0");
    let good = reply("def area(a, b):\n    return a * b");
    let planner = replayed(&[&hostile, &good]).await;
    let session = Some("shapes".to_owned());
    let first = CodeTask { planner, session: session.clone(), ..task("what is the area, please", &[]) };
    let record = solve(&world, first).await.record;
    assert_eq!(record.answer.text.as_deref(), Some("area 12"), "{record:?}");
    assert_eq!(record.verdict.iterations, 2);
    let history = serde_json::to_value(&record.verdict.history).unwrap();
    let trouble = history[0]["trouble"]["message"].as_str().unwrap();
    assert!(trouble.contains("shapes.py") && trouble.contains("socket"), "{trouble}");
    assert_eq!(record.plan.steps[0].modules[0].name, "shapes.py");
    assert!(record.plan.plan_id.is_none(), "a plan of several files is not kept in the cache");
    // A later turn of the session can import the module, also when the session's cell is another one.
    for is_over in [false, true] {
        if is_over {
            world.engine.end_code_session("shapes").await;
        }
        let plan = Some(plan("import shapes\nprint(shapes.area(2, 5))\n"));
        let again = CodeTask { plan, session: session.clone(), ..task("again", &[]) };
        let record = solve(&world, again).await.record;
        assert_eq!(record.answer.text.as_deref(), Some("10"), "{record:?}");
    }
}

/// A planner that gives these replies, one after the other.
async fn replayed(replies: &[&str]) -> Planner {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("replies.jsonl");
    let lines: Vec<String> =
        replies.iter().map(|reply| serde_json::json!({ "reply": reply }).to_string()).collect();
    fs_err::write(&cassette, lines.join("\n")).unwrap();
    let settings =
        ModelSettings { name: format!("replay:{}", cassette.display()), ..ModelSettings::default() };
    choose(&settings, |_| None).await.unwrap().planner
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_computed_before_a_failure_is_kept_only_where_that_is_allowed() {
    let world = world(Database::Sqlite).await;
    let code = "answer_text = 'half way'\nanswer_json = 21\nraise ValueError('boom')\n";
    let failing = |allow_partial| CodeTask { plan: Some(plan(code)), allow_partial, ..task("fail", &[]) };
    let kept = solve(&world, failing(true)).await;
    assert_eq!((kept.is_success(), kept.record.outcome.partial), (false, true));
    assert_eq!(kept.record.answer.text.as_deref(), Some("half way"));
    assert!(kept.record.error.unwrap().message.contains("boom"));
    let dropped = solve(&world, failing(false)).await;
    assert_eq!((dropped.record.outcome.partial, dropped.record.answer.text), (false, None));
    assert_eq!(dropped.record.state, RunState::Failed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_fails_twice_and_is_then_repaired_shows_its_three_versions() {
    let world = world(Database::Sqlite).await;
    let reply = |code: &str| format!("<execute_python>\n{code}\n</execute_python>");
    let replies = [
        reply(
            "import pandas as pd\ntable = pd.read_csv(files['a.csv'])\nanswer_text = str(table['unit'].sum())\nSTATUS = 'success'",
        ),
        reply(
            "import pandas as pd\ntable = pd.read_csv(files['b.csv'])\nanswer_text = str(table['units'].sum())\nSTATUS = 'success'",
        ),
        reply(
            "import pandas as pd\ntable = pd.read_csv(files['a.csv'])\nanswer_text = f\"{table['units'].sum()} units\"\nSTATUS = 'success'",
        ),
    ];
    let planner = replayed(&replies.each_ref().map(String::as_str)).await;
    let mut world = world;
    world.without_review();
    let answer =
        solve(&world, CodeTask { planner, ..task("how many units in all, please", &["a.csv"]) }).await;
    let record = &answer.record;
    assert_eq!(record.answer.text.as_deref(), Some("189 units"), "{record:?}");
    assert_eq!((record.verdict.iterations, record.plan.source), (3, PlanSource::Model));
    let history = serde_json::to_value(&record.verdict.history).unwrap();
    assert_eq!(history.as_array().unwrap().len(), 3);
    assert!(history[0]["code"].as_str().unwrap().contains("'unit'"));
    assert!(history[0]["trouble"]["message"].as_str().unwrap().contains("KeyError"), "{}", history[0]);
    assert!(history[1]["code"].as_str().unwrap().contains("b.csv"));
    assert!(history[1].get("trouble").is_some() && history[2].get("trouble").is_none());
    assert_eq!(record.verdict.modifications.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn artifacts_that_need_care_are_marked_and_the_rule_planners_own_are_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let settings =
        EngineSettings { artifacts: Some(folder.path().join("kept")), ..EngineSettings::default() };
    let world = world_with(Database::Sqlite, &inventory(), settings).await;
    let code = "\
import openpyxl
for name, value in (('computed', '=1+1'), ('plain', 'text')):
    book = openpyxl.Workbook()
    book.active['A1'] = value
    book.save(artifacts / f'{name}.xlsx')
(artifacts / 'cells.csv').write_text('name\\n=1+1\\n')
(artifacts / 'page.html').write_text('<p>hello</p>')
(artifacts / 'drawing.svg').write_text('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')
answer_text = 'made'
";
    let marked = solve(&world, CodeTask { plan: Some(plan(code)), ..task("make", &[]) }).await;
    let warnings = |answer: &CodeAnswer, name: &str| {
        let found = answer.record.outcome.artifacts.iter().find(|artifact| artifact.name == name);
        found.unwrap_or_else(|| panic!("{:?}", answer.record)).warnings.join(" ")
    };
    assert_eq!(warnings(&marked, "computed.xlsx"), "formula");
    assert_eq!(warnings(&marked, "plain.xlsx"), "");
    assert_eq!(warnings(&marked, "cells.csv"), "formula");
    assert_eq!(warnings(&marked, "page.html"), "active-content");
    assert_eq!(warnings(&marked, "drawing.svg"), "active-content");
}
