//! Whatever is given to `ordain exec`, the answer is a clear one.

use serde_json::json;

use crate::command::{Folder, exec, ordain, run, run_with_input};

/// A refusal before anything runs: exit code, and all of stderr.
#[track_caller]
fn check(arguments: &[&str], code: i32, stderr: &str) {
    let ran = run(ordain([&["exec"], arguments].concat()));
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (Some(code), "", stderr),
        "{arguments:?}"
    );
}

#[test]
fn a_program_that_is_missing_or_no_file_is_a_usage_error() {
    let folder = Folder::new();
    let hint = "hint: name a Python file, or `-` for standard input\n";
    let missing = folder.join("missing.py");
    let told = format!("error: cannot read `{missing}`: No such file or directory (os error 2)\n{hint}");
    check(&[&missing], 2, &told);
    let path = folder.path().to_str().unwrap();
    check(&[path], 2, &format!("error: cannot read `{path}`: it is a folder\n{hint}"));
    check(&[], 2, &format!("error: no program is given\n{hint}"));
    check(&["--session", "a", "--json"], 2, &format!("error: --json needs a program\n{hint}"));
    let file = folder.file("a.py", "");
    let told =
        "error: several programs are given\nhint: add --session NAME to run them one after the other\n";
    check(&[&file, &file], 2, told);
    let told = "error: that is not a session name\nhint: give a plain name of at most 100 characters\n";
    check(&["--session", "a\nb", &file], 2, told);
    check(&["--session", "", &file], 2, told);
}

#[test]
fn a_wrong_flag_or_value_is_a_usage_error_that_names_it() {
    for (arguments, told) in [
        (&["--tiemout", "3s"][..], "unexpected argument '--tiemout' found"),
        (
            &["--timeout", "soon"],
            "`soon` is not a duration; write a number and a unit, such as `500ms`, `30s`, `2m` or `90d`",
        ),
        (&["--timeout", "0s"], "`0s` is too short or too long"),
        (&["--memory", "-5"], "unexpected argument '-5' found"),
        (&["--memory", "12 elephants"], "`12 elephants` is not a size"),
        (&["--profile", "dtaa"], "unknown profile `dtaa`; did you mean `data`?"),
        (&["--policy", "none"], "invalid value 'none' for '--policy <POLICY>'"),
        (&["--file"], "a value is required for '--file <PATH>' but none was supplied"),
    ] {
        let ran = run(ordain([&["exec", "-"], arguments].concat()));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ran.stderr.contains(told), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn an_empty_program_is_a_program() {
    for program in ["", "\n\n", "# nothing\n"] {
        let ran = exec(program, &["--json"]);
        assert_eq!((ran.code, &ran.json()["cause"]), (Some(0), &json!("ok")), "{program:?}");
    }
    assert_eq!(
        run_with_input(ordain(["exec", "-", "--json"]), b"").code,
        Some(0),
        "under the usual policy too"
    );
}

#[test]
fn what_is_no_text_is_rejected_with_the_place() {
    let elf = std::fs::read("/proc/self/exe").unwrap();
    for (program, finding) in [
        (&b"x = 1\ny = '\xff'\n"[..], "not-utf8"),
        (b"x = 1\0\n", "null-byte"),
        (&elf[..100_000], "not-utf8"),
        ("x = 1".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>().leak(), "null-byte"),
    ] {
        let ran = exec(program, &["--json"]);
        let record = ran.json();
        assert_eq!((ran.code, &record["cause"]), (Some(1), &json!("rejected")), "{ran:?}");
        assert_eq!(record["findings"][0]["code"], finding);
        let ran = exec(program, &[]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
        assert!(ran.stderr.contains("stdin.py:"), "{}", ran.stderr);
        assert!(ran.stderr.contains("hint: "), "{}", ran.stderr);
        assert!(!ran.stderr.contains('\u{fffd}'), "nothing of the bytes is repeated");
    }
}

#[test]
fn a_byte_order_mark_is_taken_off() {
    let ran = exec(b"\xef\xbb\xbfprint('marked')\r\n", &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "marked\n"), "{}", ran.stderr);
}

#[test]
fn a_syntax_error_is_rejected_with_its_line() {
    let ran = exec("x = 1\nif x\n    pass\n", &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.starts_with("stdin.py:2:5: error[syntax-error]: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("rejected: stdin.py was not run\n"), "{}", ran.stderr);
}

#[test]
fn a_program_that_is_too_large_is_told_by_how_much() {
    let ten = format!("x = '{}'\n", "y".repeat(10 << 20));
    let ran = exec(&ten, &["--json"]);
    let record = ran.json();
    assert_eq!((ran.code, &record["cause"]), (Some(1), &json!("rejected")));
    assert_eq!(record["findings"][0]["message"], "the source is 10MiB long; the limit is 4MiB");
    let large = format!("x = '{}'\nprint(len(x))\n", "y".repeat(3 << 20));
    assert_eq!(exec(&large, &[]).stdout, "3145728\n", "what is within the limit runs");
    let ran = exec(" ".repeat(17 << 20), &[]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(
        ran.stderr,
        "error: cannot read `-`: it is larger than 16MiB\nhint: name a Python file, or `-` for standard input\n"
    );
}

#[test]
fn an_out_folder_that_cannot_be_written_to_is_told_before_anything_runs() {
    let folder = Folder::new();
    let file = folder.file("file", "kept");
    for out in [&*file, &format!("{file}/below"), "/proc/nowhere"] {
        let ran = exec("(artifacts / 'a').touch()\nprint('must not run')", &["--out", out]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{out}");
        assert!(
            ran.stderr.starts_with(&format!("error: cannot save artifacts in `{out}`: ")),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.ends_with("hint: name a folder that you may write to\n"), "{}", ran.stderr);
    }
    assert_eq!(folder.names(), ["file"]);
}

#[test]
fn a_machine_without_python_is_told_how_to_get_one() {
    let folder = Folder::new();
    let mut command = ordain(["exec", "-"]);
    command.env("PATH", folder.path()).env("ORDAIN_DATA_DIR", folder.path()).env_remove("ORDAIN_PYTHON");
    let ran = run(command);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""));
    assert!(
        ran.stderr.starts_with("error: there is no `python3` on the search path\nhint: "),
        "{}",
        ran.stderr
    );
    let mut command = ordain(["exec", "-", "--json"]);
    command.env("ORDAIN_PYTHON", "/nowhere/python3");
    let ran = run(command);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""));
    assert!(ran.stderr.contains("/nowhere/python3") && ran.stderr.contains("hint: "), "{}", ran.stderr);
}

#[test]
fn the_usual_policy_rejects_what_cannot_work_in_a_cell() {
    let ran = run_with_input(
        ordain(["exec", "-", "--json"]),
        b"import socket\nsocket.create_connection(('a', 1))\n",
    );
    let record = ran.json();
    assert_eq!((ran.code, &record["cause"], &record["exit"]), (Some(1), &json!("rejected"), &json!(null)));
    assert!(!record["findings"].as_array().unwrap().is_empty());
}

#[test]
fn help_shows_examples_and_exit_codes() {
    let ran = run(ordain(["exec", "--help"]));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    for part in
        ["echo 'print(1 + 1)' | ordain exec -", "--session work first.py second.py", "130 interrupted"]
    {
        assert!(ran.stdout.contains(part), "{part}");
    }
}
