//! Makes a workspace from somebody's own tables: looks at them, shows what it proposes, and writes that after a yes.

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
use super::proposal::{ProposedTable, propose, settings, write_table};
use crate::commands::check;
use crate::executor::ExecutorArgs;
use crate::failure::{Failure, Outcome};
use crate::runtime;
use crate::show::line;

/// Files that one workspace is made from.
const FILES_MAX: usize = 200;

/// Carries out `ordain init DIR --from …`.
pub(super) fn run(args: &Args) -> Outcome {
    let files = files(&args.from)?;
    let stage = stage(&files)?;
    let tables = propose(look(stage.path())?);
    if tables.is_empty() {
        return Err(Failure::usage(
            "no table was found in these files",
            "`ordain tables describe FILE` says what is in one",
        ));
    }
    let text = settings(&name_of(&args.folder), &tables);
    if !args.json {
        write_table(&mut io::stdout().lock(), &tables)?;
    }
    if is_taken(&args.folder)? {
        return Err(would_have_written(args, &text, &tables)?);
    }
    if !args.yes && (args.json || !check::asks("Make a workspace of that?")?) {
        return Err(Failure::usage("nothing was written", "say --yes if that is how the tables are meant"));
    }
    write(args, &text, &tables, &files)
}

/// The files that are named: by themselves, by their folder or by a pattern.
fn files(from: &[String]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for named in from {
        if named.contains("://") {
            let problem = format!("`{}` is no file", line(named.split("://").next().unwrap_or_default()));
            return Err(Failure::usage(
                problem,
                "name files, or the address of one PostgreSQL database alone",
            ));
        }
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
            return Err(Failure::usage(problem, "look at the path; it is relative to the current folder"));
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

/// Looks at the tables of the staged files. One that cannot be read is an error: it would be missing afterwards.
fn look(stage: &Path) -> Result<BTreeMap<String, LookedAt>, Failure> {
    let workspace = Arc::new(Workspace::load(stage)?);
    check::ensure_python(&workspace)?;
    let found = runtime::on_two_threads(Box::pin(async {
        let checks = check::open(workspace, &ExecutorArgs::default()).await?;
        Ok::<_, Failure>(checks.look().await?)
    }))??;
    let wrong = |(name, problem): (String, String)| {
        let problem = problem.replace("data/", "");
        Failure::usage(
            format!("`{}` cannot be read: {}", line(&name), line(&problem)),
            "correct or leave out that file",
        )
    };
    found
        .into_iter()
        .map(|(name, looked)| {
            looked.map(|table| (name.clone(), table)).map_err(|problem| wrong((name, problem)))
        })
        .collect()
}

/// Says what would have been written into a folder that is not empty.
fn would_have_written(args: &Args, text: &str, tables: &[ProposedTable]) -> Result<Failure, Failure> {
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(
            out,
            "{:#}",
            json!({ "workspace": args.folder, "tables": tables, "settings": text, "written": false })
        )?;
    } else {
        let seeds: Vec<&str> = tables.iter().map(|table| table.seed.as_str()).collect();
        writeln!(out, "\nIt would have written {} and this ordain.toml:\n\n{text}", seeds.join(", "))?;
    }
    let problem = format!("`{}` is not empty, so nothing was written there", args.folder.display());
    Ok(Failure::usage(problem, "choose a new folder"))
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
    let made = make();
    if made.is_err() && folder.exists() {
        fs_err::remove_dir_all(folder)?;
        if existed {
            fs_err::create_dir(folder)?;
        }
    }
    made
}

/// Writes the workspace, and loads its rows.
fn write(args: &Args, text: &str, tables: &[ProposedTable], files: &[PathBuf]) -> Outcome {
    let rows = made_or_removed(&args.folder, || make(args, text, tables, files))?;
    let mut out = io::stdout().lock();
    if args.json {
        let written =
            json!({ "workspace": args.folder, "tables": tables, "settings": text, "written": true });
        writeln!(out, "{written:#}")?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(
        out,
        "\nmade {} with {} tables and {rows} rows",
        args.folder.join("ordain.toml").display(),
        tables.len()
    )?;
    let first = tables.first().map(|table| line(&table.name)).unwrap_or_default();
    let folder = args.folder.display();
    writeln!(
        io::stderr(),
        "next: cd {folder} && ordain ask \"how many {first} are there?\" && ordain check suggest {first}"
    )?;
    Ok(ExitCode::SUCCESS)
}

fn make(args: &Args, text: &str, tables: &[ProposedTable], files: &[PathBuf]) -> Result<u64, Failure> {
    init(&args.folder, None)?;
    fs_err::write(args.folder.join("ordain.toml"), format!("#:schema ordain.schema.json\n{text}"))?;
    fs_err::create_dir_all(args.folder.join("tables"))?;
    for table in tables {
        let is_source = |file: &&PathBuf| file.file_name().is_some_and(|name| name == table.source.as_str());
        let rows = table.rows_file.as_ref().or_else(|| files.iter().find(is_source));
        if let Some(rows) = rows {
            io::copy(
                &mut fs_err::File::open(rows)?,
                &mut fs_err::File::create(args.folder.join(&table.seed))?,
            )?;
        }
    }
    runtime::on_one_thread(Box::pin(async {
        let store = open_store(&Workspace::load(&args.folder)?).await?;
        Ok(store.tables().await?.iter().map(|table| table.rows).sum())
    }))?
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
