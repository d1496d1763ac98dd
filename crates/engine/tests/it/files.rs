//! A look into real files of every kind, made by the libraries that people use, and into their damaged relatives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use ordain_cell::profile::{self, DataDir, Profile};
use ordain_engine::Prepared;
use ordain_types::Limits;
use serde_json::Value;

use crate::world::{Database, World, world};

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

fn paths(of: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs_err::read_dir(made()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.is_file() && of(path.file_name().unwrap().to_str().unwrap()));
    paths.sort();
    paths
}

async fn look(world: &World, paths: &[PathBuf]) -> (Prepared, BTreeMap<String, Value>) {
    let prepared = world.engine.prepare_files(paths, &[], &Limits::default()).await.unwrap();
    let facts = prepared.briefs.iter().map(|brief| (brief.name.clone(), brief.facts.clone())).collect();
    (prepared, facts)
}

fn is_good(name: &str) -> bool {
    name.starts_with("a.") || name.starts_with("orders.") || name == "b.tar.gz"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_file_tells_what_it_holds() {
    let world = world(Database::Sqlite).await;
    let (prepared, facts) = look(&world, &paths(is_good)).await;
    assert_eq!(prepared.problems(), [], "every good file can be read");
    for name in [
        "a.csv",
        "a.tsv",
        "a.json",
        "a.jsonl",
        "a.xml",
        "a.html",
        "a.xlsx",
        "a.xls",
        "a.xlsm",
        "a.ods",
        "a.parquet",
        "a.feather",
        "a.arrow",
        "a.sqlite",
        "a.zip",
        "a.tar",
        "b.tar.gz",
        "orders.csv.gz",
        "orders.csv.bz2",
        "orders.csv.xz",
    ] {
        let table = &facts[name]["tables"][0];
        assert_eq!(table["rows"], 48, "{name}: {table}");
        let column = |of: &str| {
            let columns = table["columns"].as_array().unwrap();
            columns
                .iter()
                .find(|column| column["name"] == of)
                .unwrap_or_else(|| panic!("{name}: {columns:?}"))
        };
        assert_eq!(column("units")["type"], "integer", "{name}");
        assert_eq!(column("unit_price")["type"], "number", "{name}");
        assert_eq!(column("order_date")["type"], "date", "{name}");
        assert_eq!(column("region")["type"], "text", "{name}");
        assert_eq!(column("region")["values"].as_array().unwrap().len(), 4, "{name}");
        assert_eq!((&column("units")["min"], &column("units")["max"]), (&1.into(), &7.into()), "{name}");
    }
    let expected = [
        ("a.txt", "/lines", "2"),
        ("a.md", "/words", "16"),
        ("a.log", "/lines", "50"),
        ("a.rtf", "/excerpt", "\"Hello rich text.\\nSecond line.\""),
        ("a.yaml", "/tables/0/rows", "5"),
        ("a.yml", "/shape", "\"list of 3 × integer\""),
        ("a.toml", "/tables/0/rows", "2"),
        ("a.html", "/title", "\"Sales\""),
        ("a.xlsx", "/sheets", "[\"orders\",\"managers\"]"),
        ("a.xlsm", "/macros", "true"),
        ("a.docx", "/tables/0/rows", "2"),
        ("a.docx", "/headings", "[\"Quarterly report\"]"),
        ("a.pptx", "/titles", "[\"Results\",\"Outlook\"]"),
        ("a.pdf", "/pages", "2"),
        ("a.dat", "/tables/0/columns_total", "3"),
        ("a.h5", "/arrays/0/shape", "[24]"),
        ("a.hdf5", "/arrays/0/attributes/unit", "\"celsius\""),
        ("a.nc", "/dimensions/time", "6"),
        ("a.nc", "/attributes/title", "\"a small grid\""),
        ("a.npy", "/arrays/0/shape", "[3,4]"),
        ("a.npz", "/arrays_total", "2"),
        ("a.png", "/mode", "\"RGB\""),
        ("a.jpg", "/width", "64"),
        ("a.jpeg", "/height", "48"),
        ("a.gif", "/width", "64"),
        ("a.bmp", "/width", "64"),
        ("a.tiff", "/width", "64"),
        ("a.webp", "/encoded_as", "\"WEBP\""),
        ("a.svg", "/attributes/width", "\"144pt\""),
        ("a.zip", "/members_total", "2"),
        ("a.7z", "/members/0/name", "\"orders.csv\""),
    ];
    for (name, at, value) in expected {
        let found = facts[name].pointer(at).unwrap_or_else(|| panic!("{name}{at}: {}", facts[name]));
        assert_eq!(found.to_string(), value, "{name}{at}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn encodings_and_dialects_are_found() {
    let world = world(Database::Sqlite).await;
    let (_, facts) = look(&world, &paths(|name| matches!(name, "latin.csv" | "wide.csv"))).await;
    assert_eq!(
        (&facts["latin.csv"]["encoding"], &facts["latin.csv"]["delimiter"]),
        (&"latin-1".into(), &";".into())
    );
    assert_eq!(facts["wide.csv"]["encoding"], "utf-16");
    assert_eq!(facts["wide.csv"]["tables"][0]["rows"], 48);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_file_is_told_by_name_and_the_others_still_work() {
    let world = world(Database::Sqlite).await;
    let (prepared, facts) = look(&world, &paths(|name| !is_good(name) || name == "a.csv")).await;
    assert!(facts["a.csv"].get("problem").is_none());
    let problems: BTreeMap<String, String> =
        prepared.problems().into_iter().map(|problem| (problem.name, problem.problem)).collect();
    for name in facts.keys().filter(|name| name.starts_with("cut.")) {
        assert!(problems.contains_key(name), "{name} is damaged: {}", facts[name]);
    }
    for name in facts.keys().filter(|name| name.starts_with("empty.")) {
        assert!(problems[name].contains("empty"), "{name}: {}", facts[name]);
    }
    for (name, says) in [
        ("locked.pdf", "encrypted"),
        ("locked.7z", "encrypted"),
        ("label.pdf", "looks like png"),
        ("label.xlsx", "looks like pdf"),
        ("label.parquet", "not what its name says"),
        ("binary.csv", "binary"),
        ("bomb.zip", "bomb"),
        ("bomb.gz", "bomb"),
        ("bomb.xml", "entities"),
        ("bomb.yaml", "aliases"),
        ("pickled.npy", "pickled"),
    ] {
        let problem = problems.get(name).unwrap_or_else(|| panic!("{name}: {}", facts[name]));
        assert!(problem.contains(says), "{name}: {problem}");
    }
    assert_eq!(facts["columns.csv"]["tables"][0]["columns_total"], 10_000);
    assert!(facts["columns.csv"].to_string().len() < 64 * 1024, "a wide table is summed up");
    assert_eq!(facts["long.pdf"]["pages"], 1000);
    assert!(facts["escape.zip"]["members"][0]["note"].as_str().unwrap().contains("do not extract"));
    assert!(facts["unknown.bin"]["note"].as_str().unwrap().contains("unknown"));
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
