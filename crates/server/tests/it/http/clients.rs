//! The example clients, run as they are with the real libraries against a real server.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::world::{Served, served};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/clients/openai");

/// A Python with the libraries.
fn python() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python_openai");
    let requirements = format!("{FOLDER}/requirements.txt");
    ordain_testkit::clients::python(&folder, "import langchain_openai, openai", &requirements)
}

/// Runs a program against the shop and gives what it printed.
pub(crate) async fn run(shop: &Served, mut command: Command) -> String {
    command.env("ORDAIN_URL", format!("http://{}", shop.address)).env_remove("ORDAIN_KEY");
    // A proxy of the machine must not come between a client and this machine.
    command.env("NO_PROXY", "127.0.0.1").current_dir(shop.folder.path());
    let ran: Output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{printed}\n{}", String::from_utf8_lossy(&ran.stderr));
    printed
}

async fn run_python(shop: &Served, name: &str) -> Option<String> {
    let python = tokio::task::spawn_blocking(python).await.unwrap()?;
    let mut command = Command::new(python);
    command.arg(format!("{FOLDER}/{name}"));
    Some(run(shop, command).await)
}

/// How many there are of an item.
async fn stock(shop: &Served, name: &str) -> i64 {
    let rows = shop.get("/v1/tables/inventory/rows").await.json();
    let item = rows["rows"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    item["quantity_in_stock"].as_i64().unwrap()
}

/// The newest run.
async fn newest(shop: &Served) -> Value {
    shop.get("/v1/runs?limit=1").await.json()["runs"][0].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_buys_streams_talks_and_takes_back() {
    let shop = served().await;
    let before = stock(&shop, "Moon").await;
    let mut command = Command::new("sh");
    command.arg(format!("{FOLDER}/buy.sh"));
    let printed = run(&shop, command).await;
    let bought: Value = serde_json::from_str(printed.lines().next().unwrap()).unwrap();
    assert_eq!(bought["ordain"]["state"], "committed", "{printed}");
    let changed = &bought["ordain"]["diff"]["inventory"]["changed"][0]["after"];
    assert_eq!(changed["quantity_in_stock"], before - 2);
    let run = bought["ordain"]["run_id"].as_str().unwrap();
    assert!(printed.contains(&format!("run {run}\n")), "{printed}");
    assert!(printed.contains("data: [DONE]") && printed.contains("\"observation\""), "{printed}");
    assert!(printed.trim_end().ends_with('}') && printed.contains("\"undone\""), "{printed}");
    assert_eq!(stock(&shop, "Moon").await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_openai_package_buys_in_one_piece_and_in_chunks_and_sees_runs_and_diffs() {
    let shop = served().await;
    let (wayfarers, moons) = (stock(&shop, "Wayfarer").await, stock(&shop, "Moon").await);
    let Some(printed) = run_python(&shop, "buy.py").await else { return };
    assert_eq!(stock(&shop, "Wayfarer").await, wayfarers - 2, "{printed}");
    assert_eq!(stock(&shop, "Moon").await, moons - 1, "{printed}");
    let run = newest(&shop).await["run_id"].as_str().unwrap().to_owned();
    assert!(printed.contains(&format!("run {run} committed")), "{printed}");
    assert!(printed.contains("```python") && printed.contains("tokens 0"), "{printed}");
    assert!(printed.contains(" changed inventory") && printed.contains(" added transactions"), "{printed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_openai_package_holds_a_change_and_approves_it_in_words() {
    let shop = served().await;
    let before = stock(&shop, "Wayfarer").await;
    let Some(printed) = run_python(&shop, "approve.py").await else { return };
    assert!(printed.contains("⟦Waits for approval: ") && printed.contains("is committed"), "{printed}");
    assert_eq!(stock(&shop, "Wayfarer").await, before - 3);
    assert_eq!(newest(&shop).await["state"], "committed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn langchain_buys_and_streams() {
    let shop = served().await;
    let before = stock(&shop, "Moon").await;
    let Some(printed) = run_python(&shop, "buy_langchain.py").await else { return };
    assert_eq!(stock(&shop, "Moon").await, before - 2, "{printed}");
    let runs = shop.get("/v1/runs?state=committed").await.json();
    let run = runs["runs"][0]["run_id"].as_str().unwrap();
    assert!(printed.contains(&format!("run {run}\n")), "{printed}");
    assert!(printed.contains("tokens 0") && printed.contains("$120"), "{printed}");
}

#[test]
fn the_pages_about_clients_show_the_clients_that_are_tested() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (page, shown) in [
        ("curl.md", &["buy.sh"][..]),
        ("openai-python.md", &["buy.py", "approve.py"]),
        ("langchain.md", &["buy_langchain.py"]),
    ] {
        let text = std::fs::read_to_string(root.join("docs/clients").join(page)).unwrap();
        for name in shown {
            let client = std::fs::read_to_string(format!("{FOLDER}/{name}")).unwrap();
            assert!(text.contains(&client), "{page} shows another {name}");
        }
    }
}
