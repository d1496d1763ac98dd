//! Looks into files in a cell. What comes back is what the cell claims, bounded.

use std::collections::BTreeMap;

use ordain_cell::{CellError, Discard, Executor, Host, HostCall, HostError, HostFuture, InputFile, Job};
use ordain_planner::reader::files::READ_DOC;
use ordain_types::{Catalog, Cause, Limits, Schema};
use ordain_verify::{Contract, Policy, VerifiedCode, verify};
use serde_json::{Map, Value, json};

use super::{Prepared, declared, profile_for_files};

/// The parts of the program, in their order.
const PARTS: [&str; 8] = [
    include_str!("../python/inspect/base.py"),
    READ_DOC,
    include_str!("../python/inspect/tables.py"),
    include_str!("../python/inspect/documents.py"),
    include_str!("../python/inspect/arrays.py"),
    include_str!("../python/inspect/archives.py"),
    include_str!("../python/inspect/content.py"),
    include_str!("../python/inspect/main.py"),
];
const TELL: &str = include_str!("../python/inspect/tell.py");
const SEED: &str = include_str!("../python/inspect/seed.py");
const CONVERT: &str = include_str!("../python/convert.py");
/// What a workbook or an archive among the data files of checks may expand to.
const CONVERTED_BYTES_MAX: u64 = 8 << 30;
/// How many files may break their cell before the rest is left alone.
const BREAKS_MAX: usize = 8;
/// What may be told about one file; the program leaves out details long before.
const FACTS_BYTES_MAX: usize = 8 << 20;
/// What may come out of an archive, as a multiple of the largest file that may be given.
const EXPANSION_MAX: u64 = 5;

/// What was found in each file, by its name. A file that breaks its cell is reported, and the rest get a new cell.
pub(super) async fn look_into(
    executor: &dyn Executor,
    catalog: &Catalog,
    prepared: &Prepared,
    limits: &Limits,
) -> Result<BTreeMap<String, Value>, CellError> {
    let mut found = BTreeMap::new();
    let mut left: Vec<InputFile> = prepared.files.clone();
    for _ in 0..BREAKS_MAX {
        let mut host = LookHost { found: BTreeMap::new(), looking_at: None };
        let execution =
            executor.run(job(&left, catalog, &prepared.mounted, limits), &mut host, &mut Discard).await?;
        let LookHost { found: told, looking_at } = host;
        let has_told = !told.is_empty();
        found.extend(told);
        if execution.cause == Cause::Ok {
            return Ok(found);
        }
        let cause = execution.cause;
        let broken = looking_at.filter(|name| left.iter().any(|file| file.name == *name));
        if let Some(name) = &broken {
            found.insert(name.clone(), json!({ "problem": problem(cause) }));
        } else if !has_told {
            break;
        }
        left.retain(|file| !found.contains_key(&file.name));
        if left.is_empty() {
            return Ok(found);
        }
    }
    Ok(found)
}

/// The whole program.
pub(super) fn program() -> String {
    PARTS.join("\n") + TELL
}

/// The program that reads the rows of a seed.
pub(super) fn seed_program() -> String {
    PARTS.join("\n") + SEED
}

/// The program that turns a data file of checks into tables. One that `looks_inside` reads files of every form; the other one
/// reads text and columns, and is compiled in a fraction of the time.
pub fn convert_program(looks_inside: bool) -> String {
    let parts = if looks_inside { PARTS.join("\n") } else { String::new() };
    parts + "\n" + CONVERT
}

/// Its settings: a check looks at whole tables, each sheet of a workbook for itself.
pub fn convert_settings() -> Value {
    let unlimited = i32::MAX;
    json!({
        "expanded_bytes_max": CONVERTED_BYTES_MAX, "columns_max": unlimited, "cells_max": unlimited,
        "tree_bytes_max": unlimited, "sheets_apart": true,
    })
}

/// A program of Ordain's own as code that may run: it opens files, which no contract for plans allows.
///
/// # Panics
///
/// Panics if it is not Python, which every test that reads a file would show.
pub fn own_code(program: &str) -> VerifiedCode {
    let verdict = verify(program, &Policy::for_contract(Contract::Open), &Schema::default());
    verdict.into_verified().expect("a program of our own is Python")
}

fn job(files: &[InputFile], catalog: &Catalog, mounted: &[String], limits: &Limits) -> Job {
    let mut job =
        Job::new(own_code(&program()), profile_for_files(files.iter().map(|file| file.name.as_str())));
    "inspect.py".clone_into(&mut job.name);
    job.limits = limits.clone();
    job.files = files.iter().filter(|file| !mounted.contains(&file.name)).cloned().collect();
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    job.values.insert("names".to_owned(), json!(names));
    let declared: Map<String, Value> =
        names.iter().map(|&name| (name.to_owned(), declared::declaration_of(catalog, name))).collect();
    let expanded_bytes_max = limits.file_bytes.saturating_mul(EXPANSION_MAX);
    job.values.insert(
        "settings".to_owned(),
        json!({ "expanded_bytes_max": expanded_bytes_max, "declared": declared }),
    );
    job
}

fn problem(cause: Cause) -> String {
    let what = match cause {
        Cause::Timeout | Cause::CpuLimit => "it took longer than the limit of time".to_owned(),
        Cause::MemoryLimit => "it took more than the limit of memory".to_owned(),
        cause => format!("it ended its cell ({cause})"),
    };
    format!("{what} when it was looked into; code can still read it as bytes")
}

/// Takes what the program tells, file by file.
struct LookHost {
    found: BTreeMap<String, Value>,
    looking_at: Option<String>,
}

impl LookHost {
    fn take(&mut self, call: &HostCall) -> Result<Value, HostError> {
        let name = call.arguments.get("name").and_then(Value::as_str).unwrap_or_default();
        match call.name.as_str() {
            "file.begin" => self.looking_at = Some(name.to_owned()),
            "file.facts" => {
                self.looking_at = None;
                let facts = call.arguments.get("facts").cloned().unwrap_or_default();
                let is_fit = facts.is_object() && facts.to_string().len() <= FACTS_BYTES_MAX;
                let facts = if is_fit {
                    facts
                } else {
                    json!({ "problem": "too much was told about it to be kept" })
                };
                self.found.insert(name.to_owned(), facts);
            }
            _ => return Err(HostError::new("unknown_function", "files are looked into and nothing else")),
        }
        Ok(Value::Null)
    }
}

impl Host for LookHost {
    fn call(&mut self, call: HostCall) -> HostFuture<'_> {
        Box::pin(std::future::ready(self.take(&call)))
    }
}
