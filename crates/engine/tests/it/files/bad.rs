//! Files that are empty, cut off, mislabelled, encrypted or hostile, of every kind: each is reported by name with what to
//! do about it, and the others still work.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::kinds::KINDS;
use super::{look, made, paths};
use crate::world::{Database, world};

/// Kinds in which a part is as readable as the whole.
const READABLE_IN_PART: [&str; 14] =
    ["txt", "md", "log", "csv", "tsv", "jsonl", "dat", "html", "yaml", "yml", "eml", "mbox", "ics", "ini"];

/// Contents that may stand under another ending, because they are that too.
const ALSO: [(&str, &[&str]); 6] = [
    ("png", &["jpg", "jpeg", "gif", "bmp", "tiff", "webp", "dat"]),
    ("pdf", &["dat"]),
    ("xlsx", &["xlsm", "zip", "dat"]),
    ("csv", &["txt", "md", "log", "tsv", "dat", "eml", "mbox", "ics", "ini"]),
    ("json", &["txt", "md", "log", "jsonl", "geojson", "ipynb", "ini", "yaml", "yml", "dat"]),
    ("bz2", &["dat"]),
];

/// What was told about each file, and the problems by name. A good file beside the others is answered from.
async fn problems(files: &[PathBuf]) -> (BTreeMap<String, serde_json::Value>, BTreeMap<String, String>) {
    let world = world(Database::Sqlite).await;
    let mut files = files.to_vec();
    files.push(made().join("a.csv"));
    let (prepared, facts) = look(&world, &files).await;
    assert_eq!(facts["a.csv"]["tables"][0]["rows"], 48, "the good file beside them still works");
    (facts, prepared.problems().into_iter().map(|problem| (problem.name, problem.problem)).collect())
}

fn write(folder: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs_err::write(&path, content).unwrap();
    path
}

/// A problem tells what to do after what is wrong.
fn has_remedy(problem: &str) -> bool {
    problem.split_once("; ").is_some_and(|(what, remedy)| what.starts_with("it") && remedy.len() > 8)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_file_of_every_kind_is_told_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> =
        KINDS.iter().map(|kind| write(folder.path(), &format!("empty.{}", kind.ending), b"")).collect();
    let mut files = files;
    files.dedup();
    let (_, problems) = problems(&files).await;
    for kind in &KINDS {
        let problem = &problems[&format!("empty.{}", kind.ending)];
        assert!(problem.contains("empty") && has_remedy(problem), "{}: {problem}", kind.ending);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_truncated_file_of_every_kind_is_told_or_read_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> = KINDS
        .iter()
        .map(|kind| {
            let content = fs_err::read(made().join(kind.file)).unwrap();
            let end = content.len() / 3;
            write(folder.path(), &format!("cut-{}", kind.file), &content[..end])
        })
        .collect();
    let (facts, problems) = problems(&files).await;
    let mut wrong = Vec::new();
    for kind in &KINDS {
        let name = format!("cut-{}", kind.file);
        let problem = problems.get(&name);
        let is_right = if READABLE_IN_PART.contains(&kind.ending) {
            problem.is_none()
        } else {
            problem.is_some_and(|problem| has_remedy(problem))
        };
        if !is_right {
            wrong.push(format!("{name}: {problem:?}: {}", facts[&name]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_content_of_one_kind_under_the_ending_of_another_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for (content, _) in ALSO {
        let source = KINDS.iter().find(|kind| kind.ending == content).unwrap();
        let bytes = fs_err::read(made().join(source.file)).unwrap();
        for kind in KINDS.iter().filter(|kind| kind.ending != content) {
            let path = folder.path().join(format!("{content}-as.{}", kind.ending));
            if !path.exists() {
                fs_err::write(&path, &bytes).unwrap();
                files.push(path);
            }
        }
    }
    let (facts, problems) = problems(&files).await;
    for (content, also) in ALSO {
        for kind in KINDS.iter().filter(|kind| kind.ending != content) {
            let name = format!("{content}-as.{}", kind.ending);
            let told = facts[&name].to_string();
            match problems.get(&name) {
                Some(problem) => {
                    assert!(!also.contains(&kind.ending), "{name}: {told}");
                    assert!(has_remedy(problem), "{name}: {problem}");
                }
                None => assert!(also.contains(&kind.ending), "{name}: {told}"),
            }
        }
    }
    let says = |name: &str, part: &str| assert!(problems[name].contains(part), "{}", problems[name]);
    says("png-as.csv", "its name says csv, but its content is png; rename it to end in .png");
    says("pdf-as.xlsx", "its content is pdf");
    says("xlsx-as.docx", "its content is xlsx");
    says("csv-as.parquet", "its content is plain text");
    says("json-as.csv", "its content is json");
    for name in ["csv-as.eml", "csv-as.mbox"] {
        assert_eq!(facts[name]["note"], "no messages were found in it", "{name}");
    }
    assert!(facts["png-as.jpg"]["note"].as_str().unwrap().contains("content is png"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_encrypted_file_of_every_kind_that_can_be_is_told() {
    let names: Vec<String> = ["doc", "docx", "xls", "xlsx", "ods", "pptx", "pdf", "zip", "7z", "parquet"]
        .map(|ending| format!("locked.{ending}"))
        .to_vec();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (facts, problems) = problems(&paths(&names)).await;
    for name in names {
        let problem = problems.get(name).unwrap_or_else(|| panic!("{name}: {}", facts[name]));
        assert!(
            problem.starts_with("it is encrypted; ") && problem.contains("password"),
            "{name}: {problem}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bombs_and_other_hostile_files_are_told_and_harm_nothing() {
    let expected = [
        ("bomb.zip", "bomb"),
        ("bomb.gz", "bomb"),
        ("bomb.bz2", "bomb"),
        ("bomb.xz", "bomb"),
        ("bomb.tar.gz", "bomb"),
        ("bomb.7z", "bomb"),
        ("bomb.xlsm", "bomb"),
        ("bomb.xml", "entities"),
        ("bomb.svg", "entities"),
        ("bomb.xlsx", "entities"),
        ("bomb.docx", "entities"),
        ("bomb.pptx", "entities"),
        ("bomb.ods", "entities"),
        ("bomb.yaml", "aliases"),
        ("pickled.npy", "pickled"),
        ("binary.csv", "binary"),
    ];
    let mut names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    names.extend(["columns.csv", "long.pdf", "escape.zip", "unknown.bin"]);
    let (facts, problems) = problems(&paths(&names)).await;
    for (name, says) in expected {
        let problem = problems.get(name).unwrap_or_else(|| panic!("{name}: {}", facts[name]));
        assert!(problem.contains(says) && has_remedy(problem), "{name}: {problem}");
    }
    assert_eq!(facts["columns.csv"]["tables"][0]["columns_total"], 10_000);
    assert_eq!(facts["columns.csv"]["tables"][0]["columns"].as_array().unwrap().len(), 10_000);
    assert_eq!(facts["long.pdf"]["pages"], 1000);
    assert!(facts["escape.zip"]["members"][0]["note"].as_str().unwrap().contains("do not extract"));
    assert!(facts["unknown.bin"]["note"].as_str().unwrap().contains("unknown"));
}
