//! Own tables: files are looked at in a cell, and what is proposed for them is written after a yes.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use ordain_checks::is_data_file;
use ordain_checks::suggest::LookedAt;
use ordain_files::open_store;
use ordain_workspace::{Workspace, init};
use serde_json::json;
use tempfile::TempDir;

use super::Args;
use super::proposal::{ProposedTable, propose, sections, write_table};
use crate::commands::check;
use crate::executor::ExecutorArgs;
use crate::failure::{Failure, Outcome};
use crate::runtime;
use crate::show::line;

/// Files that are looked at together.
const FILES_MAX: usize = 200;

/// Files, and the tables that were found in them.
pub(in crate::commands) struct Looked {
    /// What is proposed for each table.
    pub(in crate::commands) tables: Vec<ProposedTable>,
    /// The files that could not be read, and why.
    pub(in crate::commands) problems: Vec<String>,
    files: Vec<PathBuf>,
    /// Holds the rows of files with several tables until they are copied.
    _stage: TempDir,
}

impl Looked {
    /// Looks at files that are named by themselves, by their folder or by a pattern.
    pub(in crate::commands) fn at(from: &[String]) -> Result<Self, Failure> {
        let files = files(from)?;
        let stage = stage(&files)?;
        let (found, problems) = look(stage.path())?;
        Ok(Self { tables: propose(&found), problems, files, _stage: stage })
    }

    /// The same, and an error where a file cannot be read or holds no table: it would be missing afterwards.
    pub(in crate::commands) fn whole(from: &[String]) -> Result<Self, Failure> {
        let looked = Self::at(from)?;
        if let Some(problem) = looked.problems.first() {
            return Err(Failure::usage(problem, "correct or leave out that file"));
        }
        if looked.tables.is_empty() {
            let hint = "`ordain tables describe FILE` says what is in one";
            return Err(Failure::usage("no table was found in these files", hint));
        }
        Ok(looked)
    }

    /// Puts the rows of the tables below a workspace's folder, and gives the files that were made for it. A file that is
    /// there already stays where it is, and nothing is overwritten.
    pub(in crate::commands) fn place_rows(&mut self, root: &Path) -> io::Result<Vec<PathBuf>> {
        let root = fs_err::canonicalize(root)?;
        let mut made = Vec::new();
        for table in &mut self.tables {
            let is_source =
                |file: &&PathBuf| file.file_name().is_some_and(|name| name == table.source.as_str());
            let source = self.files.iter().find(is_source).map(fs_err::canonicalize).transpose()?;
            let inside = source.as_ref().and_then(|source| source.strip_prefix(&root).ok());
            if let (Some(inside), None) = (inside, &table.rows_file) {
                table.seed = inside.to_string_lossy().into_owned();
                continue;
            }
            let Some(rows) = table.rows_file.clone().or(source) else { continue };
            let copy = root.join(&table.seed);
            fs_err::create_dir_all(root.join("tables"))?;
            if copy.exists() {
                made.iter().try_for_each(fs_err::remove_file)?;
                let problem = format!("there is a file `{}` in the workspace already", table.seed);
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, problem));
            }
            fs_err::copy(&rows, &copy)?;
            made.push(copy);
        }
        Ok(made)
    }
}

/// Carries out `ordain init DIR --from …`.
pub(super) fn run(args: &Args) -> Outcome {
    let looked = Looked::whole(&args.from)?;
    let text = settings(&args.folder, &looked.tables);
    if !args.json {
        write_table(&mut io::stdout().lock(), &looked.tables)?;
    }
    if is_taken(&args.folder)? {
        return Err(would_have_written(args, &text, &looked.tables)?);
    }
    if !args.yes && (args.json || !check::asks("Make a workspace of that?")?) {
        return Err(Failure::usage("nothing was written", "say --yes if that is how the tables are meant"));
    }
    write(args, looked)
}

fn settings(folder: &Path, tables: &[ProposedTable]) -> String {
    let name = json!(name_of(folder));
    format!("#:schema ordain.schema.json\n[workspace]\nname = {name}\n{}", sections(tables))
}

/// The files that are named: by themselves, by their folder or by a pattern.
fn files(from: &[String]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for named in from {
        let path = Path::new(named);
        if path.is_file() {
            files.push(path.to_owned());
            continue;
        }
        let (folder, pattern) = if path.is_dir() { (path, "*") } else { parts(path) };
        let entries = fs_err::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_meant = |path: &PathBuf| {
            path.file_name().is_some_and(|name| matches(pattern, &name.to_string_lossy()))
                && is_data_file(path)
        };
        let mut found: Vec<PathBuf> = entries.filter(is_meant).take(FILES_MAX + 1).collect();
        if found.is_empty() {
            let problem = format!("there is no data file `{}`", line(named));
            let hint =
                "look at the path; it is relative to the current folder. A PostgreSQL address stands alone";
            return Err(Failure::usage(problem, hint));
        }
        found.sort();
        files.extend(found);
    }
    if files.len() > FILES_MAX {
        return Err(Failure::usage(
            format!("there are more than {FILES_MAX} files"),
            "name the ones that you need",
        ));
    }
    Ok(files)
}

/// The folder of a path, and the pattern that stands for its last part.
fn parts(path: &Path) -> (&Path, &str) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    (folder, path.file_name().and_then(|name| name.to_str()).unwrap_or_default())
}

/// Whether a name fits a pattern in which `*` stands for any letters and `?` for one.
fn matches(pattern: &str, name: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => name.is_empty(),
        Some('*') => (0..=name.len())
            .filter(|at| name.is_char_boundary(*at))
            .any(|at| matches(rest.as_str(), &name[at..])),
        Some(first) => {
            let mut letters = name.chars();
            letters.next().is_some_and(|letter| first == '?' || first == letter)
                && matches(rest.as_str(), letters.as_str())
        }
    }
}

/// A workspace that is thrown away, in which the files can be looked at.
fn stage(files: &[PathBuf]) -> Result<TempDir, Failure> {
    let stage = tempfile::tempdir()?;
    fs_err::write(stage.path().join("ordain.toml"), "[workspace]\nname = \"look\"\n")?;
    fs_err::create_dir(stage.path().join("data"))?;
    for file in files {
        let name = file.file_name().unwrap_or_default();
        let copy = stage.path().join("data").join(name);
        if copy.exists() {
            let problem = format!("two files are called `{}`", line(&name.to_string_lossy()));
            return Err(Failure::usage(problem, "rename one of them: tables are called as their files"));
        }
        fs_err::copy(file, copy)?;
    }
    Ok(stage)
}

/// Looks at the tables of the staged files; what cannot be read is told beside them.
fn look(stage: &Path) -> Result<(BTreeMap<String, LookedAt>, Vec<String>), Failure> {
    let workspace = Arc::new(Workspace::load(stage)?);
    check::ensure_python(&workspace)?;
    let looked = runtime::on_two_threads(Box::pin(async {
        let checks = check::open(workspace, &ExecutorArgs::default()).await?;
        Ok::<_, Failure>(checks.look().await?)
    }))??;
    let (mut found, mut problems) = (BTreeMap::new(), Vec::new());
    for (name, table) in looked {
        match table {
            Ok(table) => drop(found.insert(name, table)),
            Err(problem) => problems.push(line(&problem.replace("data/", ""))),
        }
    }
    Ok((found, problems))
}

/// Says what would have been written into a folder that is not empty.
fn would_have_written(args: &Args, text: &str, tables: &[ProposedTable]) -> Result<Failure, Failure> {
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{:#}", told(args, tables, text, false))?;
    } else {
        let seeds: Vec<&str> = tables.iter().map(|table| table.seed.as_str()).collect();
        writeln!(out, "\nIt would have written {} and this ordain.toml:\n\n{text}", seeds.join(", "))?;
    }
    let problem = format!("`{}` is not empty, so nothing was written there", args.folder.display());
    Ok(Failure::usage(problem, "choose a new folder"))
}

fn told(args: &Args, tables: &[ProposedTable], text: &str, written: bool) -> serde_json::Value {
    json!({ "workspace": args.folder, "tables": tables, "settings": text, "written": written })
}

/// Whether there is something in a folder.
pub(super) fn is_taken(folder: &Path) -> io::Result<bool> {
    Ok(folder.exists() && fs_err::read_dir(folder)?.next().is_some())
}

/// What the workspace in a folder is called.
pub(super) fn name_of(folder: &Path) -> String {
    folder.file_name().map_or_else(|| "workspace".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Makes something in a folder that is new or empty. What could not be made whole is taken away again.
pub(super) fn made_or_removed<T>(
    folder: &Path,
    make: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let existed = folder.exists();
    let outcome = make();
    if outcome.is_err() && folder.exists() {
        fs_err::remove_dir_all(folder)?;
        if existed {
            fs_err::create_dir(folder)?;
        }
    }
    outcome
}

/// Writes the workspace, and loads its rows.
fn write(args: &Args, mut looked: Looked) -> Outcome {
    let (text, rows) = made_or_removed(&args.folder, || {
        init(&args.folder, None)?;
        looked.place_rows(&args.folder)?;
        let text = settings(&args.folder, &looked.tables);
        fs_err::write(args.folder.join("ordain.toml"), &text)?;
        let rows: u64 = runtime::on_one_thread(Box::pin(async {
            let store = open_store(&Workspace::load(&args.folder)?).await?;
            Ok::<_, Failure>(store.tables().await?.iter().map(|table| table.rows).sum())
        }))??;
        Ok((text, rows))
    })?;
    let tables = &looked.tables;
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{:#}", told(args, tables, &text, true))?;
        return Ok(ExitCode::SUCCESS);
    }
    let folder = args.folder.display();
    writeln!(out, "\nmade {folder}/ordain.toml with {} tables and {rows} rows", tables.len())?;
    let first = tables.first().map(|table| line(&table.name)).unwrap_or_default();
    writeln!(
        io::stderr(),
        "next: cd {folder} && ordain ask \"how many {first} are there?\" && ordain check suggest {first}"
    )?;
    Ok(ExitCode::SUCCESS)
}
#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_pattern_stands_for_names() {
        for (pattern, name, fits) in [
            ("*", "a.csv", true),
            ("*.csv", "a.csv", true),
            ("*.csv", "a.csv.gz", false),
            ("o?ders*", "orders_2024.csv", true),
            ("ü?.csv", "ü1.csv", true),
            ("a", "ab", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
