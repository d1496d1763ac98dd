//! The commands that stand in README, run as they stand there.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::{Folder, Ran, run};

/// The lines of the first code block below a heading.
fn block(heading: &str) -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let (_, block) = section.split_once("```console\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    block.lines().map(str::to_owned).collect()
}

/// Runs a line in a shell that finds this build as `ordain`.
fn shell(line: &str, folder: &Path) -> Ran {
    let built = Path::new(env!("CARGO_BIN_EXE_ordain")).parent().unwrap().to_owned();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(built).chain(std::env::split_paths(&rest));
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env("PATH", std::env::join_paths(paths).unwrap());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    run(command)
}

#[test]
fn the_commands_about_files_give_what_the_page_says() {
    let folder = Folder::new();
    let lines = block("Ask about files");
    let (start, commands) = lines.split_first().unwrap();
    let made = shell(start, folder.path());
    assert_eq!(made.code, Some(0), "{start}: {made:?}");
    let place = folder.path().join(start.rsplit_once("cd ").unwrap().1);
    assert!(commands.len() >= 6, "{commands:?}");
    for line in commands {
        let ran = shell(line, &place);
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        // The text after a command is its answer, or the picture that it makes.
        let says = line.split_once("  # ").unwrap().1.trim_end_matches('…').trim_end_matches([' ', ',']);
        if Path::new(says).extension().is_some_and(|ending| ending == "png") {
            let picture = std::fs::read(place.join(says)).unwrap();
            assert!(picture.starts_with(b"\x89PNG"), "{line}");
        } else {
            assert!(ran.stdout.contains(says), "{line}: {ran:?}");
        }
    }
}
