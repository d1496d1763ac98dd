//! What is in files: which of them may go into a cell, what a look into each one tells, and the seeds of tables.
//!
//! A file is hostile. The host looks at its name and its size and at nothing else; everything that is said about its
//! content was found out by `python/inspect` in a cell. One bad file never keeps the others from being used: it is
//! refused or described with its problem, by name.

mod declared;
mod facts;
mod look;
mod readings;
mod seeds;

pub use declared::declaration_of;
pub use look::{convert_program, convert_settings, own_code};
pub use seeds::{Units, open_store, open_with_units};

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};

use ordain_cell::profile::Profile;
use ordain_cell::{CellError, Executor, InputFile};
use ordain_planner::FileBrief;
use ordain_types::{Catalog, Limits, format_bytes};
use serde::Serialize;
use serde_json::json;

/// The programs that Ordain itself brings along and runs in cells. An executor knows them by their text, so that
/// nobody has to open it to all programs for their sake.
pub fn own_programs() -> impl Iterator<Item = &'static str> {
    static PROGRAM: std::sync::LazyLock<String> = std::sync::LazyLock::new(look::program);
    static SEEDS: std::sync::LazyLock<String> = std::sync::LazyLock::new(look::seed_program);
    static CONVERTERS: std::sync::LazyLock<[String; 2]> =
        std::sync::LazyLock::new(|| [false, true].map(look::convert_program));
    [PROGRAM.as_str(), SEEDS.as_str()].into_iter().chain(CONVERTERS.iter().map(String::as_str))
}

/// How many files a request may have.
const FILES_MAX: usize = 1000;

/// Kinds whose readers are in the `full` profile only.
const FULL_KINDS: [&str; 9] = ["7z", "docx", "h5", "hdf5", "nc", "ods", "pdf", "pptx", "rtf"];

/// The files of a request after a look into them.
#[derive(Debug, Clone, Default)]
pub struct Prepared {
    /// Those that go into the cell.
    pub files: Vec<InputFile>,
    /// Names of those that cells see in place, because they are large; the executor has them mounted.
    pub mounted: Vec<String>,
    /// The facts about each of them, in the same order.
    pub briefs: Vec<FileBrief>,
    /// Those that do not go in, and why.
    pub refused: Vec<RefusedFile>,
    /// How `frame` is to read the tables of each, by name; what planners are shown may be less.
    pub readings: serde_json::Map<String, serde_json::Value>,
    /// The SHA-256 of those that go in, by name, where the run is recorded with it.
    pub hashes: BTreeMap<String, String>,
}

/// A file that was given and not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedFile {
    /// Its name, harmless to show.
    pub name: String,
    /// Why it was not taken.
    pub problem: String,
}

impl fmt::Display for RefusedFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.name, self.problem)
    }
}

impl Prepared {
    /// The files that are copied into a cell.
    pub fn copied(&self) -> Vec<InputFile> {
        self.files.iter().filter(|file| !self.mounted.contains(&file.name)).cloned().collect()
    }

    /// The facts as a planner is shown them: without details, the least needed first, where there are too many.
    pub fn shown(&self) -> Vec<FileBrief> {
        let mut briefs = self.briefs.clone();
        facts::fit(&mut briefs);
        briefs
    }

    /// The problems that were found, by file: those refused, and those that could not be read.
    pub fn problems(&self) -> Vec<RefusedFile> {
        let unreadable = self.briefs.iter().filter_map(|brief| {
            let problem = brief.facts.get("problem")?.as_str()?;
            Some(RefusedFile { name: brief.name.clone(), problem: problem.to_owned() })
        });
        self.refused.iter().cloned().chain(unreadable).collect()
    }
}

/// The profile that has readers for files of these names.
pub fn profile_for_files<'a>(names: impl IntoIterator<Item = &'a str>) -> Profile {
    let needs_full = names.into_iter().any(|name| FULL_KINDS.contains(&ending(name).as_str()));
    if needs_full { Profile::Full } else { Profile::Data }
}

/// Checks names and sizes of files and looks into them, in a cell. Files whose names are among `mounted` are in every
/// cell of the executor already.
pub async fn prepare(
    executor: &dyn Executor,
    catalog: &Catalog,
    paths: &[PathBuf],
    mounted: &[String],
    limits: &Limits,
) -> Result<Prepared, CellError> {
    let mut prepared = admit(paths, mounted, limits);
    if prepared.files.is_empty() {
        return Ok(prepared);
    }
    let found = look::look_into(executor, catalog, &prepared, limits).await?;
    for file in &prepared.files {
        let bytes = std::fs::metadata(&file.path).map_or(0, |metadata| metadata.len());
        let facts = found.get(&file.name).cloned().unwrap_or_else(
            || json!({ "problem": "it was not looked into: other files took too long or broke off" }),
        );
        let kind = facts.get("format").and_then(|format| format.as_str()).map(str::to_owned);
        let kind = kind.unwrap_or_else(|| ending(&file.name));
        prepared.briefs.push(FileBrief { name: file.name.clone(), bytes, kind, facts });
    }
    prepared.readings = prepared.briefs.iter().filter_map(readings::reading).collect();
    Ok(prepared)
}

/// What each file's content was when a run began. The cell's word would be a claim, so the host reads the bytes.
pub async fn hashes(files: &[InputFile]) -> BTreeMap<String, String> {
    let hashes = ordain_cell::hash_files(files.to_vec()).await;
    files.iter().zip(hashes).filter_map(|(file, hash)| Some((file.name.clone(), hash?))).collect()
}

/// Sorts the files into those that may go in and those that may not. Nothing is opened.
pub fn admit(paths: &[PathBuf], mounted: &[String], limits: &Limits) -> Prepared {
    let mut prepared = Prepared { mounted: mounted.to_vec(), ..Prepared::default() };
    let mut seen = HashSet::new();
    let mut room = limits.work_bytes();
    for path in paths {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // What is mounted takes no room in a cell.
        let mut unlimited = u64::MAX;
        let room = if mounted.contains(&name) { &mut unlimited } else { &mut room };
        match admit_one(path, &name, &mut seen, room, limits, prepared.files.len()) {
            Ok(()) => prepared.files.push(InputFile { name, path: path.clone() }),
            Err(problem) => prepared.refused.push(RefusedFile { name: shown(&name, path), problem }),
        }
    }
    prepared
}

fn admit_one(
    path: &Path,
    name: &str,
    seen: &mut HashSet<String>,
    room: &mut u64,
    limits: &Limits,
    taken: usize,
) -> Result<(), String> {
    if let Some(problem) = ordain_cell::name_problem(name) {
        return Err(problem.to_owned());
    }
    if taken >= FILES_MAX {
        return Err(format!("{FILES_MAX} files are the limit; put the rest into an archive"));
    }
    // Asking first keeps a pipe from blocking.
    let metadata = std::fs::metadata(path).map_err(|error| format!("it cannot be read: {error}"))?;
    if !metadata.is_file() {
        return Err(
            if metadata.is_dir() { "it is a folder" } else { "it is not an ordinary file" }.to_owned()
        );
    }
    let bytes = metadata.len();
    if bytes > limits.file_bytes {
        let (size, limit) = (format_bytes(bytes), format_bytes(limits.file_bytes));
        return Err(format!("it has {size}; {limit} is the limit for one file (`--file-limit` raises it)"));
    }
    if bytes > *room {
        let limit = format_bytes(limits.work_bytes());
        return Err(format!("it does not fit: all files together may have {limit} (`--memory` raises it)"));
    }
    // Names that differ in case only are the same file on some systems, and the same thing to most readers.
    if !seen.insert(name.to_lowercase()) {
        return Err("another file has the same name; rename one of them".to_owned());
    }
    *room -= bytes;
    Ok(())
}

/// A name as it may be shown; the path's own text where there is no name.
fn shown(name: &str, path: &Path) -> String {
    let text = if name.is_empty() { path.to_string_lossy().into_owned() } else { name.to_owned() };
    let plain: String = text.chars().map(|c| if c.is_control() { '·' } else { c }).take(80).collect();
    if text.chars().count() > 80 { format!("{plain}…") } else { plain }
}

/// The ending of a name in lower case.
pub fn ending(name: &str) -> String {
    name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_refused_by_name_and_the_others_go_in() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(&path, "a,b\n1,2\n").unwrap();
            path
        };
        let paths = [
            write("good.csv"),
            write("line\nbreak.csv"),
            write("other/GOOD.csv"),
            folder.path().join("missing.csv"),
            folder.path().to_owned(),
            folder.path().join(".."),
            folder.path().join(format!("{}.csv", "x".repeat(300))),
        ];
        let prepared = admit(&paths, &[], &Limits::default());
        assert_eq!(prepared.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["good.csv"]);
        let problems: Vec<&str> = prepared.refused.iter().map(|refused| refused.problem.as_str()).collect();
        assert_eq!(problems.len(), 6, "{problems:?}");
        assert!(problems[0].contains("control"), "{problems:?}");
        assert!(problems[1].contains("same name"), "{problems:?}");
        assert!(problems[2].contains("cannot be read"), "{problems:?}");
        assert!(problems[3].contains("folder"), "{problems:?}");
        assert!(problems[5].contains("255"), "{problems:?}");
        assert!(prepared.refused.iter().all(|refused| !refused.name.contains('\n')));
    }

    #[test]
    fn a_file_above_its_limit_and_one_above_the_total_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, bytes: u64| {
            let path = folder.path().join(name);
            std::fs::File::create(&path).unwrap().set_len(bytes).unwrap();
            path
        };
        let limits = Limits { file_bytes: 100, work_bytes: Some(150), ..Limits::default() };
        let prepared = admit(&[make("a", 101), make("b", 100), make("c", 60), make("d", 50)], &[], &limits);
        let names: Vec<&str> = prepared.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["b", "d"]);
        assert!(prepared.refused[0].problem.contains("limit for one file"));
        assert!(prepared.refused[1].problem.contains("all files together"));
    }

    #[test]
    fn the_smaller_profile_is_used_where_it_can_read_everything() {
        assert_eq!(profile_for_files(["a.csv", "b.xlsx", "c.zip"]), Profile::Data);
        assert_eq!(profile_for_files(["a.csv", "b.PDF"]), Profile::Full);
    }
}
