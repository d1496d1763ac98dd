//! What runs by the clock: once for each due time, by a server or by hand, and later if it was missed.

use ordain_store::{ScheduleMark, Store, StoreOptions};
use serde_json::{Value, json};

use crate::check::{range, workspace};
use crate::check_runs::due;
use crate::command::{Folder, Ran, eventually, run_in};
use crate::serve::Server;

const ASK: &str = "\n[[schedules]]\nname = \"prices\"\nschedule = \"@yearly Europe/Berlin\"\nask = \"show all items\"\n\
    [[schedules]]\nname = \"late\"\nschedule = \"@yearly\"\nask = \"show all items\"\ncatch_up = false\n";

/// A workspace with a table in the store, two requests and checks by the clock.
fn scheduled(checks: &Value) -> Folder {
    let folder = workspace(checks);
    let tables = "[workspace]\nname = \"w\"\n[tables.items]\nseed = \"items.csv\"\nkey = \"id\"\n";
    folder.file("items.csv", "id,price\na,1\n");
    folder.file("ordain.toml", format!("{tables}{ASK}"));
    folder
}

fn schedule(folder: &Folder, arguments: &[&str]) -> Ran {
    run_in(folder.path(), &[&["schedule"], arguments].concat())
}

/// Makes these schedules look as if they had been seen in 1970.
fn seen_long_ago(folder: &Folder, schedules: &[(&str, &str)]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(StoreOptions::sqlite(folder.path().join(".ordain"))).await.unwrap();
        for (name, written) in schedules {
            let mark = ScheduleMark { schedule: (*written).to_owned(), at: 0, run_id: None };
            store.mark_schedule(name, &mark).await.unwrap();
        }
    });
}

const ALL_SEEN: [(&str, &str); 4] = [
    ("prices", "@yearly Europe/Berlin"),
    ("late", "@yearly"),
    ("checks: @yearly", "@yearly"),
    ("checks: 0 0 30 2 *", "0 0 30 2 *"),
];

fn kinds(folder: &Folder) -> Vec<String> {
    let listed = run_in(folder.path(), &["runs", "list", "--json"]).json();
    let mut kinds: Vec<String> =
        listed.as_array().unwrap().iter().map(|run| run["kind"].as_str().unwrap().to_owned()).collect();
    kinds.sort();
    kinds
}

fn checks() -> Value {
    json!([due("yearly", "@yearly"), due("never", "0 0 30 2 *"), range("unscheduled", "price", "high")])
}

#[test]
fn what_was_missed_runs_once_later_and_the_rest_does_not() {
    let folder = scheduled(&checks());
    let first = schedule(&folder, &["run", "--due"]);
    assert_eq!((first.code, first.stderr.contains("nothing is due")), (Some(0), true), "{first:?}");

    let folder = scheduled(&checks());
    seen_long_ago(&folder, &ALL_SEEN);
    let ran = schedule(&folder, &["run", "--due", "--model", "rules"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(kinds(&folder), ["ask", "check"], "{ran:?}");
    let again = schedule(&folder, &["run", "--due"]);
    assert!(again.stderr.contains("nothing is due"), "{again:?}");
    assert!(run_in(folder.path(), &["ledger", "list", "--json"]).stdout.contains("\"schedule\""));
}

#[test]
fn a_server_carries_out_what_is_due_and_a_second_start_does_not() {
    let folder = scheduled(&checks());
    seen_long_ago(&folder, &ALL_SEEN);
    let root = folder.path().to_str().unwrap().to_owned();
    for _ in 0..2 {
        let mut server = Server::start(&root, &[], |_| {});
        let is_done = || {
            let listed = schedule(&folder, &["list", "--json"]).json();
            let listed = listed.as_array().unwrap().clone();
            listed.iter().filter(|scheduled| scheduled["last_run"].is_string()).count() == 2
        };
        assert!(eventually(is_done), "{:?}", schedule(&folder, &["list"]));
        server.running.signal(rustix::process::Signal::TERM);
        assert_eq!(server.running.exit_code(), Some(0));
        assert_eq!(kinds(&folder), ["ask", "check"]);
    }
}

#[test]
fn the_list_shows_when_each_is_due_next() {
    let folder = scheduled(&checks());
    let listed = schedule(&folder, &["list"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    for shown in ["prices", "@yearly Europe/Berlin", "-01-01 00:00 CET", "checks: @yearly", "never"] {
        assert!(listed.stdout.contains(shown), "{shown}: {listed:?}");
    }
    let wrong = schedule(&folder, &["run", "price"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("did you mean `prices`?"), "{wrong:?}");
}
