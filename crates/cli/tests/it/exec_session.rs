//! `ordain exec --session`: several programs, one state.

use serde_json::{Value, json};

use crate::command::{Folder, Ran, ordain, run, run_with_input, without_times};

fn session(programs: &[&str], arguments: &[&str]) -> Ran {
    let folder = Folder::new();
    let files: Vec<String> =
        programs.iter().enumerate().map(|(n, code)| folder.file(&format!("{n}.py"), code)).collect();
    let mut command = ordain(["exec", "--session", "work", "--policy", "open"]);
    command.args(files).args(arguments);
    run(command)
}

#[test]
fn a_second_program_sees_the_first_one_s_variables() {
    let ran = session(&["x = 41", "print(x + 1)"], &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "42\n"), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 2, "each has its summary");
    let ran = session(&["x = 41", "print(x + 1)"], &["--json"]);
    let records: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 2, "each has its record, on a line of its own");
    assert_eq!((&records[0]["stdout"], &records[1]["stdout"]), (&json!(""), &json!("42\n")));
}

#[test]
fn the_first_program_that_fails_is_the_last() {
    let ran = session(&["x = 1\n1 / 0", "print('must not run')"], &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("File \"0.py\", line 2"), "{}", ran.stderr);
}

#[test]
fn each_program_s_artifacts_are_saved_once() {
    let out = Folder::new();
    let programs = ["(artifacts / 'a.txt').write_text('1')", "(artifacts / 'b.txt').write_text('2')", "pass"];
    let ran = session(&programs, &["--out", out.path().to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(out.names(), ["a.txt", "b.txt"]);
}

#[test]
fn files_are_there_for_every_program() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "x");
    let read = "print(files['a.txt'].read_text())";
    let ran = session(&[read, read], &["--file", &file]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "x\nx\n"), "{}", ran.stderr);
}

fn typed(input: &[u8], arguments: &[&str]) -> Ran {
    let mut command = ordain(["exec", "--session", "work", "--policy", "open"]);
    command.args(arguments);
    run_with_input(command, input)
}

#[test]
fn programs_are_read_from_a_pipe_one_after_the_other() {
    let input = "x = 1\nfor n in range(2):\n    print(n, x)\n\nrows = [1,\n  2]\nprint(sum(rows))\nprint('no newline')";
    let ran = typed(input.as_bytes(), &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "0 1\n1 1\n3\nno newline\n"), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 5, "five programs, and no prompt where nobody types");
    assert_eq!(typed(b"", &[]), Ran { code: Some(0), stdout: String::new(), stderr: String::new() });
}

#[test]
fn a_failure_shows_in_the_exit_code_and_the_session_goes_on() {
    let ran = typed(b"x = 7\n1 / 0\nprint(x)\n", &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "7\n"));
    assert!(ran.stderr.contains("File \"input-2.py\", line 1"), "{}", ran.stderr);
}

#[test]
fn a_program_that_runs_too_long_costs_the_state_and_no_more() {
    let ran = typed(b"x = 7\nwhile True: pass\n\nprint('x' in globals())\n", &["--timeout", "300ms"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "False\n"));
    let timeout = "timeout (it ran longer than 300ms) · run N ms, waited N ms, total N ms · isolation full\n";
    assert!(without_times(&ran.stderr).contains(timeout), "{}", ran.stderr);
}

#[test]
fn input_that_is_no_text_is_told() {
    let ran = typed(b"print(1)\nx = '\xff'\nprint(2)\n", &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), "1\n"));
    assert!(
        ran.stderr.ends_with(
            "error: cannot read the input: stream did not contain valid UTF-8\nhint: type Python in UTF-8\n"
        ),
        "{}",
        ran.stderr
    );
    let long = [b"x = '", &*vec![b'y'; 2 << 20]].concat();
    let ran = typed(&long, &[]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.starts_with("error: cannot read the input: a block is larger than 1MiB\n"),
        "{}",
        ran.stderr
    );
}
