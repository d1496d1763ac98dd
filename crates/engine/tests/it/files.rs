//! A look into real files of every kind, made by the libraries and programs that people use.

mod bad;
pub(crate) mod kinds;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use ordain_cell::profile::{self, DataDir, Profile};
use ordain_files::Prepared;
use ordain_types::Limits;
use serde_json::Value;

use crate::world::{Database, World, world};
use kinds::KINDS;

/// The files of `files/make.py`, made once for all tests.
pub(crate) fn made() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let data_dir = DataDir::from_env().unwrap();
            let full = profile::ensure(Profile::Full, &data_dir, &mut profile::Silent).unwrap();
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/files/make.py");
            let status = Command::new(&full.interpreter.executable)
                .args([Path::new(script), folder.path()])
                .env("PYTHONPATH", &full.site)
                .env("MPLCONFIGDIR", folder.path().join(".matplotlib"))
                .status()
                .unwrap();
            assert!(status.success());
            folder
        })
        .path()
}

async fn look(world: &World, paths: &[PathBuf]) -> (Prepared, BTreeMap<String, Value>) {
    let prepared = world.engine.prepare_files(paths, &[], &Limits::default()).await.unwrap();
    let facts = prepared.briefs.iter().map(|brief| (brief.name.clone(), brief.facts.clone())).collect();
    (prepared, facts)
}

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| made().join(name)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_file_tells_what_it_holds() {
    let world = world(Database::Sqlite).await;
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.file).collect();
    let (prepared, facts) = look(&world, &paths(&names)).await;
    assert_eq!(prepared.problems(), [], "every good file can be read");
    let mut wrong = Vec::new();
    for kind in &KINDS {
        let name = kind.file;
        if kind.holds_orders {
            check_orders(name, &facts[name]["tables"][0]);
        }
        for (at, value) in kind.facts {
            let found = facts[name].pointer(at).map(Value::to_string);
            if found.as_deref() != Some(*value) {
                wrong.push(format!("{name}{at} is {found:?}, not {value}: {}", facts[name]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The orders look alike in every kind of file that holds them.
fn check_orders(name: &str, table: &Value) {
    assert_eq!(table["rows"], 48, "{name}: {table}");
    let column = |of: &str| {
        let columns = table["columns"].as_array().unwrap();
        columns.iter().find(|column| column["name"] == of).unwrap_or_else(|| panic!("{name}: {columns:?}"))
    };
    assert_eq!(column("units")["type"], "integer", "{name}");
    assert_eq!(column("unit_price")["type"], "real", "{name}");
    assert_eq!(column("order_date")["type"], "date", "{name}");
    assert_eq!(column("region")["type"], "category", "{name}");
    assert_eq!(column("region")["values"].as_array().unwrap().len(), 4, "{name}");
    assert_eq!((&column("units")["min"], &column("units")["max"]), (&1.into(), &7.into()), "{name}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_smaller_profile_tells_the_same_about_workbooks() {
    let world = world(Database::Sqlite).await;
    // None of these needs the `full` profile, whose readers are others.
    let names = ["a.xls", "a.xlsm", "a.xlsx", "office.xlsx"];
    let (prepared, facts) = look(&world, &paths(&names)).await;
    assert_eq!(prepared.problems(), []);
    for name in names {
        check_orders(name, &facts[name]["tables"][0]);
    }
}

#[test]
fn no_ending_that_is_promised_lacks_a_file() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/code-tasks.md");
    let page = fs_err::read_to_string(page).unwrap();
    let table = page.split_once("| kind | endings |\n").unwrap().1.split_once("\n\n").unwrap().0;
    let promised: BTreeSet<&str> = table
        .lines()
        .filter(|line| !line.starts_with("|---"))
        .flat_map(|line| line.split('|').nth(2).unwrap().split_whitespace())
        .collect();
    let shown: BTreeSet<&str> = KINDS.iter().map(|kind| kind.ending).collect();
    assert_eq!(promised, shown);
    assert_eq!(promised.len(), 51, "an ending was taken from the page and from the tests at once");
    assert!(KINDS.iter().all(|kind| kind.file.ends_with(&format!(".{}", kind.ending))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn encodings_and_dialects_are_found() {
    let world = world(Database::Sqlite).await;
    let (_, facts) = look(&world, &paths(&["latin.csv", "wide.csv"])).await;
    assert_eq!(
        (&facts["latin.csv"]["encoding"], &facts["latin.csv"]["delimiter"]),
        (&"cp1252".into(), &";".into())
    );
    assert_eq!(facts["wide.csv"]["encoding"], "utf-16");
    assert_eq!(facts["wide.csv"]["tables"][0]["rows"], 48);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_breaks_its_cell_takes_no_other_with_it() {
    let world = world(Database::Sqlite).await;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs_err::write(path("a.csv"), "a,b\n1,2\n").unwrap();
    // A deep list of numbers needs many times its size as Python objects.
    fs_err::write(path("b.json"), format!("[{}0]", "[1],".repeat(2_000_000))).unwrap();
    fs_err::write(path("c.csv"), "a,b\n1,2\n").unwrap();
    let limits = Limits { memory_bytes: 64 << 20, ..Limits::default() };
    let files = ["a.csv", "b.json", "c.csv"].map(path);
    let prepared = world.engine.prepare_files(&files, &[], &limits).await.unwrap();
    let problems = prepared.problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].name, "b.json");
    assert!(problems[0].problem.contains("memory"), "{problems:?}");
    assert_eq!(prepared.briefs[2].facts["tables"][0]["rows"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_files_are_looked_into_and_one_more_is_refused() {
    let world = world(Database::Sqlite).await;
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> = (0..1001).map(|n| folder.path().join(format!("{n}.csv"))).collect();
    for file in &files {
        fs_err::write(file, "region,units\nnorth,2\nsouth,3\n").unwrap();
    }
    let prepared = world.engine.prepare_files(&files, &[], &Limits::default()).await.unwrap();
    assert_eq!(prepared.briefs.len(), 1000);
    assert!(prepared.briefs.iter().all(|brief| brief.facts["tables"][0]["rows"] == 2));
    assert_eq!(prepared.refused.len(), 1);
    assert!(prepared.refused[0].problem.contains("1000"), "{:?}", prepared.refused);
}
