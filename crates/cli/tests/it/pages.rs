//! The pages that a newcomer reads: every command of their `console` blocks runs as it stands there, one after the other
//! in one folder, and prints the lines that stand below it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{Folder, Ran, run};

/// The commands of a page, each with the lines that it prints. `…` in a line stands for anything.
fn commands(page: &str) -> Vec<(String, Vec<String>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = text.split("```console\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0));
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    for line in blocks.flat_map(str::lines) {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), Vec::new())),
            (None, Some((_, printed))) => printed.push(line.to_owned()),
            (None, None) => panic!("{page}: a block begins without a command: {line}"),
        }
    }
    commands
}

/// Runs a line in a shell that finds this build as `ordain`.
fn shell(line: &str, folder: &Path) -> Ran {
    let built = Path::new(env!("CARGO_BIN_EXE_ordain")).parent().unwrap().to_owned();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(built).chain(std::env::split_paths(&rest));
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env("PATH", std::env::join_paths(paths).unwrap());
    command.env("ORDAIN_RESIDENT", "off").env("ORDAIN_MODEL", "rules");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    run(command)
}

#[track_caller]
fn check(page: &str) {
    let folder = Folder::new();
    let mut place: PathBuf = folder.path().to_owned();
    let commands = commands(page);
    assert!(commands.len() >= 5, "{page}: {commands:?}");
    for (line, printed) in commands {
        if let Some(into) = line.strip_prefix("cd ") {
            place.push(into);
            continue;
        }
        let ran = shell(&line, &place);
        assert!(ran.code == Some(0) || ran.code == Some(1) && !printed.is_empty(), "{page}: {line}: {ran:?}");
        let output = format!("{}\n{}", ran.stdout, ran.stderr);
        for part in printed.iter().flat_map(|line| line.split('…')).map(str::trim) {
            assert!(output.contains(part), "{page}: {line}: `{part}` is missing in {output}");
        }
    }
}

#[test]
fn the_commands_of_readme_print_what_the_page_says() {
    check("README.md");
}

#[test]
fn the_commands_about_own_tables_print_what_the_page_says() {
    check("docs/own-tables.md");
}
