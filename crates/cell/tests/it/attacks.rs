//! The catalogue of hostile programs, and of honest ones beside them, in a round of its own.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use ordain_cell::profile::Profile;
use ordain_testkit::attacks::{self, Options};

/// The executor of a round is this test again, in a process of its own: its descendants, its memory and its end
/// are part of what is judged.
#[test]
fn every_program_of_the_catalogue_is_contained() {
    const NAME: &str = "attacks::every_program_of_the_catalogue_is_contained";
    if attacks::serve_if_asked().unwrap() {
        return;
    }
    let mut executor = Command::new(std::env::current_exe().unwrap());
    executor.args(["--exact", NAME, "--nocapture"]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks");
    let options = Options { folder, profile: Profile::Data, executor };
    let mut table = String::new();
    let report = attacks::run(options, |judged| writeln!(table, "{judged}").unwrap()).unwrap();
    assert!(report.is_contained(), "\n{table}{report}");
}

#[test]
fn the_table_of_attacks_is_that_of_the_catalogue() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (made, path) =
        (attacks::table(&root.join("tests/attacks")).unwrap(), root.join("../../docs/attacks.md"));
    if std::env::var_os("ORDAIN_WRITE_DOCS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(kept, made, "run it with ORDAIN_WRITE_DOCS=1");
}
