//! `ordain code` and `ordain code --repl`, from outside.

use crate::command::{Folder, Ran, ordain, run, run_in, run_with_input};

fn code(folder: &Folder, arguments: &[&str]) -> Ran {
    run_in(folder.path(), &[&["code"], arguments].concat())
}

fn workspace() -> Folder {
    let folder = Folder::new();
    folder.file("ordain.toml", "[workspace]\nname = \"files\"\n");
    folder.file("sales.csv", "region,units\nnorth,3\nsouth,4\nnorth,5\n");
    folder
}

#[test]
fn an_answer_goes_to_stdout_and_everything_about_it_to_stderr() {
    let folder = workspace();
    let ran = code(&folder, &["total units by region", "--file", "sales.csv"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.starts_with("Total units of sales: north: 8; south: 4.\n"), "{ran:?}");
    assert!(ran.stdout.ends_with("north   8\nsouth   4\n"), "{ran:?}");
    assert!(ran.stderr.contains("by the reader"), "{ran:?}");
}

#[test]
fn a_figure_is_saved_where_it_is_wanted_and_never_over_another_file() {
    let folder = workspace();
    let arguments = ["bar chart of the total units by region", "--file", "sales.csv", "--out", "results"];
    let ran = code(&folder, &arguments);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let picture = std::fs::read(folder.join("results/chart.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    let again = code(&folder, &arguments);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.stderr.contains("already exists"), "{again:?}");
}

#[test]
fn what_cannot_be_answered_is_said_and_the_exit_code_tells() {
    let folder = workspace();
    let unknown = code(&folder, &["total units of customers named Bob", "--file", "sales.csv"]);
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
    assert!(unknown.stdout.contains("A model understands more"), "{unknown:?}");
    let missing = code(&folder, &["total units", "--file", "nothing.csv"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    assert!(missing.stderr.contains("there is no file `nothing.csv`"), "{missing:?}");
    folder.file("bad.xlsx", "no workbook");
    let beside = code(&folder, &["total units", "--file", "sales.csv", "--file", "bad.xlsx"]);
    assert_eq!(beside.code, Some(0), "{beside:?}");
    assert!(beside.stderr.contains("warning: bad.xlsx: "), "{beside:?}");
}

#[test]
fn the_record_is_one_line_of_json_and_the_run_can_be_shown_again() {
    let folder = workspace();
    let record = code(&folder, &["total units", "--file", "sales.csv", "--json"]).json();
    assert_eq!((&record["success"], &record["answer"]["json"]), (&true.into(), &12.into()));
    assert_eq!(record["kind"], "code");
    let id = record["run_id"].as_str().unwrap();
    let shown = run_in(folder.path(), &["runs", "show", id, "--code"]);
    assert!(shown.stdout.contains("sql("), "{shown:?}");
}

#[test]
fn a_plan_of_several_files_is_shown_with_its_modules() {
    let folder = workspace();
    folder.file("shapes.py", "def area(a, b):\n    return a * b\n");
    folder.file("main.py", "import shapes\nprint(shapes.area(3, 4))\n");
    let arguments = ["area", "--plan", "main.py", "--module", "shapes.py", "--show-code"];
    let ran = code(&folder, &arguments);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "12\n"), "{ran:?}");
    let shown = ran.stderr.split_once("module shapes.py").unwrap().1.split_once("program").unwrap();
    assert!(shown.0.contains("def area") && shown.1.contains("import shapes"), "{ran:?}");
}

#[test]
fn a_session_that_is_typed_keeps_its_variables_and_takes_questions() {
    let folder = workspace();
    let mut command = ordain(["code", "--repl", "--file", "sales.csv"]);
    command.current_dir(folder.path());
    let ran = run_with_input(command, b"x = 6\nprint(x * 7)\nx * 2\n? total units\nprint(1 / 0)\nprint(x)\n");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(ran.stdout, "42\n12\nThe total units of sales is 12.\n6\n", "{ran:?}");
    assert!(ran.stderr.contains("ZeroDivisionError"), "{ran:?}");
}

#[test]
fn the_example_about_files_comes_out_right() {
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sales-files/eval.jsonl");
    let ran = run(ordain(["models", "eval", cases, "--min", "90"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
