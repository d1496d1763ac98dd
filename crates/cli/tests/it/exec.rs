//! `ordain exec`: what it prints where, and with which exit code.

use serde_json::{Value, json};

use crate::command::{Folder, Running, eventually, exec, ordain, run, without_times};

#[test]
fn a_program_s_output_is_passed_on_and_its_end_told_on_stderr() {
    let ran = exec("print(1 + 1)", &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "2\n"));
    let summary = "ok · run N ms, waited N ms, total N ms · isolation full\n";
    assert_eq!(without_times(&ran.stderr), summary);
}

#[test]
fn a_file_is_run_under_its_own_name() {
    let folder = Folder::new();
    let program =
        folder.file("report.py", "import sys\nprint('out')\nprint('err', file=sys.stderr)\n1 / 0\n");
    let ran = run(ordain(["exec", &program]));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "out\n"));
    let expected = "err\nTraceback (most recent call last):\n  File \"report.py\", line 4, in <module>\n    1 / 0\n    \
                    ~~^~~\nZeroDivisionError: division by zero\n\
                    error · run N ms, waited N ms, total N ms · isolation full\n";
    assert_eq!(without_times(&ran.stderr), expected);
}

#[test]
fn the_record_has_the_promised_keys() {
    let code =
        "import sys\nprint('out')\nprint('err', file=sys.stderr)\n(artifacts / 'a.txt').write_text('hello')";
    let ran = exec(code, &["--json", "--timeout", "20s", "--memory", "300MiB"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "stdout holds the record and stderr nothing");
    assert_eq!(ran.stdout.lines().count(), 1);
    let mut record = ran.json();
    for time in ["queue", "run", "total"] {
        assert!(record["timing_ms"][time].take().is_number(), "{time}");
    }
    let expected = json!({
        "cause": "ok",
        "exit": 0,
        "signal": null,
        "detail": null,
        "stdout": "out\n",
        "stderr": "err\n",
        "output_truncated": false,
        "error": null,
        "artifacts": [{
            "name": "a.txt",
            "bytes": 5,
            "media_type": "text/plain",
            "sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        }],
        "artifacts_refused": [],
        "artifacts_not_saved": [],
        "left_behind": [],
        "limits": {
            "wall_ms": 20000,
            "cpu_ms": null,
            "memory_bytes": 300 << 20,
            "work_bytes": null,
            "processes": 64,
            "output_bytes": 10 << 20,
            "artifact_bytes": 64 << 20,
            "artifacts": 100,
            "file_bytes": 50 << 20,
        },
        "timing_ms": {"queue": null, "run": null, "total": null},
        "isolation": "full",
        "host_calls": 0,
    });
    assert_eq!(record, expected);
}

#[test]
fn the_record_of_a_failure_tells_type_message_and_line() {
    let ran = exec("x = {}\nx['missing']", &["--json"]);
    let record = ran.json();
    assert_eq!((ran.code, &record["cause"], &record["exit"]), (Some(1), &json!("error"), &json!(1)));
    assert_eq!(record["error"], json!({"type": "KeyError", "message": "'missing'", "line": 2}));
    let ran = exec("import sys\nsys.exit(7)", &["--json"]);
    assert_eq!((ran.code, &ran.json()["exit"]), (Some(1), &json!(7)));
    let crashed = exec("import ctypes\nctypes.string_at(0)", &["--json"]);
    let record = crashed.json();
    assert_eq!(
        (&record["cause"], &record["signal"], &record["exit"]),
        (&json!("crash"), &json!(11), &Value::Null)
    );
    let odd = exec("import os\nos.write(1, b'a\\xff')\nprint('\\ud800')", &["--json"]);
    assert_eq!(odd.json()["stdout"], "a\u{fffd}\\ud800\n", "what is no text becomes the sign for it");
}

#[test]
fn every_limit_that_was_passed_is_told_with_a_hint() {
    for (code, arguments, told) in [
        (
            "while True: pass",
            &["--timeout", "300ms"][..],
            "timeout (it ran longer than 300ms) · TIMES\nhint: raise --timeout, or do less at once\n",
        ),
        (
            "import os\nwhile True: os.write(1, bytes(65536))",
            &["--output", "1KiB"],
            "output_limit (it wrote more than 1KiB to stdout and stderr) · TIMES\n\
             hint: print less, write a file to `artifacts` instead, or raise --output\n",
        ),
        (
            "import os\nos._exit(3)",
            &[],
            "no_result (it exited with 3 and gave no result) · TIMES\n\
             hint: let the program come to its end instead of calling os._exit\n",
        ),
        (
            "import os\nos.write(3, b'garbage')\nwhile True: pass",
            &[],
            "protocol_error (it sent a frame of 1651663207 bytes, \
          more than a frame may have) · TIMES\n",
        ),
        (
            "for n in range(101): (artifacts / f'{n}').touch()",
            &[],
            "artifact_limit (it left more than 100 artifacts) · ",
        ),
    ] {
        let ran = exec(code, arguments);
        let told = told.replace("TIMES", "run N ms, waited N ms, total N ms · isolation full");
        assert_eq!(ran.code, Some(1), "{code}");
        assert!(without_times(&ran.stderr).starts_with(&told), "{code}: {}", ran.stderr);
    }
    let ran = exec("data = bytearray(10**9)", &["--memory", "64MiB"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("memory_limit (it asked for more than 64MiB)"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("hint: raise --memory, or read the data in pieces\n"), "{}", ran.stderr);
    let ran = exec("while True: pass", &["--cpu", "1s", "--json"]);
    assert_eq!((ran.code, &ran.json()["cause"]), (Some(1), &json!("cpu_limit")));
}

#[test]
fn output_comes_while_the_program_runs() {
    let folder = Folder::new();
    let program =
        folder.file("slow.py", "print('first', flush=True)\nimport time\ntime.sleep(600)\nprint('second')");
    let mut running = Running::start(ordain(["exec", &program, "--timeout", "600s"]));
    running.wait_for("first\n");
    assert!(running.0.try_wait().unwrap().is_none(), "it still runs");
    running.signal(rustix::process::Signal::INT);
    assert_eq!(running.exit_code(), Some(130));
}

#[test]
fn files_are_read_by_name() {
    let folder = Folder::new();
    let (a, b) = (folder.file("a.csv", "1\n2\n"), folder.file("b.csv", "3\n"));
    let code = "for name in sorted(files): print(name, files[name].read_text().split())";
    let ran = exec(code, &["--file", &a, "--file", &b]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "a.csv ['1', '2']\nb.csv ['3']\n"));
}

#[test]
fn files_that_cannot_be_given_are_a_usage_error_before_anything_runs() {
    let folder = Folder::new();
    let file = folder.file("a.csv", "x");
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let same = folder.file("sub/a.csv", "y");
    let hint = "hint: check the path; each file needs a plain, unique name and a size below the limit\n";
    for (paths, problem) in [
        (
            &[&*folder.join("missing.csv")][..],
            "`missing.csv` cannot be read: No such file or directory (os error 2)",
        ),
        (&[&*folder.join("sub")], "`sub` cannot be read: it is a folder"),
        (&[&file, &same], "`a.csv` is given twice"),
        (&["/"], "`` has a name that is not plain"),
        (&["/dev/zero"], "`zero` cannot be read: it is not an ordinary file"),
    ] {
        let arguments: Vec<&str> = paths.iter().flat_map(|path| ["--file", path]).collect();
        let ran = exec("print('must not run')", &arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
        assert_eq!(ran.stderr, format!("error: input file {problem}\n{hint}"));
    }
}

#[test]
fn artifacts_are_saved_where_asked_and_told() {
    let folder = Folder::new();
    let out = folder.join("new/results");
    let code = "(artifacts / 'a.txt').write_text('hello')\n(artifacts / 'b.html').write_text('<p>')\n\
                import os\nos.symlink('/etc/passwd', artifacts / 'link')\nopen('lost.csv', 'w').close()";
    let ran = exec(code, &["--out", &out]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{}", ran.stderr);
    let expected = format!(
        "ok · run N ms, waited N ms, total N ms · isolation full\nartifact a.txt (5B, text/plain) → {out}/a.txt\n\
         artifact b.html (3B, text/html) [active-content] → {out}/b.html\nrefused link: it is a symbolic link\n\
         hint: the work folder is gone with lost.csv; write to `artifacts` to keep files\n"
    );
    assert_eq!(without_times(&ran.stderr), expected);
    assert_eq!(std::fs::read_to_string(format!("{out}/a.txt")).unwrap(), "hello");
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 2, "no partial file is left");
    let unsaved = exec("(artifacts / 'a.txt').write_text('hello')", &[]);
    assert!(unsaved.stderr.ends_with("hint: add --out DIR to keep the artifacts\n"), "{}", unsaved.stderr);
}

#[test]
fn an_artifact_whose_name_is_taken_is_not_saved_and_told() {
    let folder = Folder::new();
    folder.file("a.txt", "old");
    let out = folder.path().to_str().unwrap();
    let code = "(artifacts / 'a.txt').write_text('new')\n(artifacts / 'b.txt').write_text('fine')";
    let ran = exec(code, &["--out", out]);
    assert_eq!(ran.code, Some(1));
    let told = format!(
        "error: artifact `a.txt` already exists in {out}\n\
         hint: choose another --out folder, or move the file that is there\n"
    );
    assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(folder.path().join("a.txt")).unwrap(), "old");
    assert_eq!(folder.names(), ["a.txt", "b.txt"], "the others are saved");
    let ran = exec(code, &["--out", out, "--json"]);
    let not_saved = &ran.json()["artifacts_not_saved"];
    assert_eq!(ran.code, Some(1));
    assert_eq!(
        not_saved,
        &json!([format!("`a.txt` already exists in {out}"), format!("`b.txt` already exists in {out}")])
    );
}

#[test]
fn a_reader_that_goes_away_ends_nothing() {
    let folder = Folder::new();
    let program =
        folder.file("talk.py", "for n in range(2000): print('x' * 99)\n(artifacts / 'done').touch()");
    let out = folder.join("out");
    let mut running = Running::start(ordain(["exec", &program, "--out", &out]));
    running.wait_for("xxx");
    drop(running.0.stdout.take());
    assert_eq!(running.exit_code(), Some(0));
    assert!(std::path::Path::new(&out).join("done").exists());
}

#[test]
fn control_characters_are_passed_on_to_a_file_as_they_are() {
    let ran = exec("import os\nos.write(1, b'\\x1b[31mred\\r\\n')", &[]);
    assert_eq!(ran.stdout, "\x1b[31mred\r\n", "only a terminal is protected from them");
}

#[test]
fn a_run_leaves_no_process_and_no_file() {
    let folder = Folder::new();
    let mut command = ordain(["exec", "-", "--json"]);
    command.env("TMPDIR", folder.path());
    let mut running = Running::start(command);
    assert_eq!(running.exit_code(), Some(0));
    assert!(eventually(|| running.descendants().is_empty()));
    assert_eq!(folder.names(), Vec::<String>::new());
}
