//! The judge on made-up cases: an oracle that cannot say "escaped" is worth nothing.

use ordain_types::Diff;
use serde_json::json;

use super::super::evidence::Data;
use super::super::listing::{Listing, hash};
use super::super::observed::Collected;
use super::*;

const CANARY: &str = "ATTACK-CANARY-0123456789abcdef0123456789abcdef";
const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/:/bin/false\n";

fn program(outcome: &str, after: &str) -> Program {
    let text = format!(
        "# name: x\n# class: channel\n# tries: x\n# expected: x\n# outcome: {outcome}\n# after: {after}\n# oracle: both\n"
    );
    Program::parse("01_x.py", text.as_bytes()).unwrap()
}

/// A run that did nothing wrong.
fn run(cause: Cause, stdout: &str) -> Observed {
    let record = json!({
        "cause": cause, "detail": null, "stdout": stdout, "stderr": "", "error": null, "output_truncated": false,
        "artifacts": [], "artifacts_refused": [], "left_behind": [],
    });
    Observed {
        cause: Some(cause),
        stdout: stdout.as_bytes().to_vec(),
        record_line: format!("{record}\n").into_bytes(),
        record,
        diff: Some(Diff::default()),
        elapsed: Duration::from_millis(20),
        ..Observed::default()
    }
}

/// Evidence in which every word holds for a program that ends well.
fn good() -> Evidence {
    Evidence {
        run: run(Cause::Ok, "CONTAINED\nDIFFER random 1\n"),
        twin: Some(run(Cause::Ok, "CONTAINED\n")),
        again: Some(run(Cause::Ok, "DIFFER random 2\n")),
        neighbour: Some(run(Cause::Ok, "499500\n")),
        probe: Some(run(Cause::Ok, "CONTAINED\n")),
        leftovers: Some(Vec::new()),
        memory_bytes: Some((10 << 20, 20 << 20)),
        files: Some((Listing::default(), Listing::default())),
        cores: Some((Listing::default(), Listing::default())),
        packets: Some(Vec::new()),
        data: Some((Data::default(), Data::default())),
        canary: CANARY.to_owned(),
        passwd: PASSWD.as_bytes().to_vec(),
        is_executor_alive: true,
        ..Evidence::default()
    }
}

/// Asserts that a change to good evidence is a problem that says so.
#[track_caller]
fn check_fails(after: &str, expected: &str, change: impl FnOnce(&mut Evidence)) {
    let mut evidence = good();
    change(&mut evidence);
    let problems = judge(&program("ok", after), &evidence).join("\n");
    assert!(problems.contains(expected), "{after}: expected {expected:?} in {problems:?}");
}

#[track_caller]
fn check_holds(after: &str, change: impl FnOnce(&mut Evidence)) {
    let mut evidence = good();
    change(&mut evidence);
    assert_eq!(judge(&program("ok", after), &evidence), Vec::<String>::new(), "{after}");
}

fn artifact(evidence: &mut Evidence, name: &str, content: &str, warnings: &[&str]) {
    let run = &mut evidence.run;
    run.artifacts.push(Collected {
        name: name.as_bytes().to_vec(),
        is_ordinary: true,
        content: content.as_bytes().to_vec(),
    });
    let record = json!({
        "name": name, "bytes": content.len(), "sha256": hash(content.as_bytes()), "warnings": warnings,
    });
    run.record["artifacts"].as_array_mut().unwrap().push(record);
}

#[test]
fn a_contained_program_has_no_problem_whatever_is_asked() {
    let all = "no-leftover-process,next-cell-clean,neighbour-unharmed,pair-isolated,deadline-within-500ms,\
               supervisor-memory-flat,artifacts-refused,artifact-names-safe,active-content-flagged,\
               no-artifact-outside,no-core-file,no-host-file-content,no-packet-received,log-escaped,\
               result-not-forged,writes-complete,data-unchanged,differs-between-cells";
    check_holds(all, |_| {});
}

#[test]
fn an_escape_is_always_a_failure() {
    check_fails("none", "ESCAPE read the secret", |it| it.run.stdout = b"x\nESCAPE read the secret\n".into());
    check_fails("none", "ESCAPE", |it| it.run.stderr = b"ESCAPE".to_vec());
    check_holds("none", |it| it.run.stdout = b"no ESCAPE here\n".to_vec());
}

#[test]
fn an_unlisted_cause_is_a_failure_and_so_is_none() {
    check_fails("none", "its cause is timeout", |it| it.run = run(Cause::Timeout, ""));
    check_fails("none", "no outcome came", |it| it.run = Observed::without_outcome("no outcome came".into()));
    check_fails("none", "names no cause", |it| it.run.cause = None);
}

#[test]
fn a_line_that_must_be_printed_is_missed() {
    let mut program = program("ok", "none");
    program.prints = vec!["42".to_owned()];
    assert_eq!(judge(&program, &good()), ["it did not print `42`"]);
    let evidence = Evidence { run: run(Cause::Ok, "4\n42\n"), ..good() };
    assert!(judge(&program, &evidence).is_empty());
}

#[test]
fn a_dead_or_panicked_executor_is_a_failure() {
    check_fails("none", "is gone", |it| it.is_executor_alive = false);
    check_fails("none", "panicked", |it| it.log = b"thread 'x' panicked at src/x.rs:1:1\n".to_vec());
}

#[test]
fn what_was_not_looked_at_does_not_hold() {
    let nothing = Evidence { run: run(Cause::Ok, ""), is_executor_alive: true, ..Evidence::default() };
    for word in [
        "no-leftover-process",
        "next-cell-clean",
        "neighbour-unharmed",
        "pair-isolated",
        "supervisor-memory-flat",
        "no-artifact-outside",
        "no-core-file",
        "no-host-file-content",
        "no-packet-received",
        "writes-complete",
        "data-unchanged",
        "differs-between-cells",
    ] {
        assert_eq!(judge(&program("ok", word), &nothing).len(), 1, "{word}");
    }
    check_fails("no-such-word", "no-such-word: there is no such word", |_| {});
}

#[test]
fn processes_left_and_other_cells_harmed_are_seen() {
    check_fails("no-leftover-process", "7 (python3)", |it| it.leftovers = Some(vec!["7 (python3)".into()]));
    check_fails("next-cell-clean", "ESCAPE marker", |it| it.probe = Some(run(Cause::Ok, "ESCAPE marker\n")));
    check_fails("next-cell-clean", "ended with crash", |it| it.probe = Some(run(Cause::Crash, "")));
    check_fails("next-cell-clean", "took", |it| {
        it.probe.as_mut().unwrap().elapsed = Duration::from_millis(2100);
    });
    check_fails("neighbour-unharmed", "ended with memory_limit", |it| {
        it.neighbour = Some(run(Cause::MemoryLimit, ""));
    });
    check_fails("neighbour-unharmed", "something else", |it| it.neighbour = Some(run(Cause::Ok, "1\n")));
    check_fails("pair-isolated", "ESCAPE reached", |it| it.twin = Some(run(Cause::Ok, "ESCAPE reached\n")));
    check_fails("pair-isolated", "timeout", |it| it.twin = Some(run(Cause::Timeout, "")));
    check_fails("differs-between-cells", "random", |it| it.again = Some(it.run.clone()));
    check_fails("differs-between-cells", "same names", |it| it.again = Some(run(Cause::Ok, "")));
}

#[test]
fn a_program_whose_time_was_over_too_soon_on_a_busy_machine_gets_more_of_it() {
    let late = || Some(run(Cause::Timeout, ""));
    let (ends, hangs) = (program("ok", "no-leftover-process"), program("timeout,ok", "no-leftover-process"));
    for (evidence, cut, cut_if_it_may_hang) in [
        (good(), false, false),
        (Evidence { run: run(Cause::Timeout, ""), ..good() }, true, false),
        (Evidence { twin: late(), ..good() }, true, false),
        (Evidence { neighbour: late(), ..good() }, true, true),
        (Evidence { probe: late(), ..good() }, true, true),
    ] {
        assert_eq!((evidence.is_cut_short(&ends), evidence.is_cut_short(&hangs)), (cut, cut_if_it_may_hang));
    }
}

#[test]
fn deadlines_are_kept_on_both_sides() {
    let program = program("timeout,ok", "deadline-within-500ms");
    let check = |cause, millis, late_ms, holds: bool| {
        let mut run = run(cause, "");
        run.elapsed = Duration::from_millis(millis);
        let lateness = Duration::from_millis(late_ms);
        let problems = judge(&program, &Evidence { run, lateness, ..good() });
        assert_eq!(problems.is_empty(), holds, "{cause} after {millis} ms: {problems:?}");
    };
    check(Cause::Timeout, 3000, 0, true);
    check(Cause::Timeout, 3500, 0, true);
    check(Cause::Timeout, 3501, 0, false);
    check(Cause::Timeout, 3700, 200, true);
    check(Cause::Timeout, 2999, 0, false);
    check(Cause::Ok, 10, 0, true);
    check(Cause::Ok, 3501, 0, false);
}

#[test]
fn memory_and_output_are_bounded() {
    check_fails("supervisor-memory-flat", "rose by 128MiB", |it| it.memory_bytes = Some((0, 128 << 20)));
    check_fails("stdout-truncated-marked", "does not say", |_| {});
    check_fails("stdout-truncated-marked", "were kept", |it| {
        it.run.record["output_truncated"] = json!(true);
        it.run.stderr = vec![b'x'; 1 << 20];
    });
    check_holds("stdout-truncated-marked", |it| it.run.record["output_truncated"] = json!(true));
}

#[test]
fn artifacts_are_ordinary_reported_and_as_recorded() {
    check_holds("artifacts-refused", |it| artifact(it, "a.csv", "1", &[]));
    check_fails("artifacts-refused", "not an ordinary file", |it| {
        artifact(it, "link", "", &[]);
        it.run.artifacts[0].is_ordinary = false;
    });
    check_fails("artifacts-refused", "is not true", |it| {
        artifact(it, "a.csv", "1", &[]);
        it.run.artifacts[0].content = b"2".to_vec();
    });
    check_fails("artifacts-refused", "1 artifacts are recorded, 0 exist", |it| {
        artifact(it, "a.csv", "1", &[]);
        it.run.artifacts.clear();
    });
    check_fails("artifacts-refused", "bytes were collected", |it| {
        artifact(it, "big", &"x".repeat((16 << 20) + 1), &[]);
    });
    check_fails("artifacts-refused", "neither refused nor reported", |it| {
        it.run.stdout = b"MADE link".into();
    });
    check_holds("artifacts-refused", |it| {
        it.run.stdout = b"MADE link".to_vec();
        it.run.record["artifacts_refused"] = json!([{ "name": "link", "reason": "it is a symbolic link" }]);
    });
    check_fails("artifact-names-safe", "names are not safe", |it| artifact(it, "-rf", "", &[]));
    check_fails("active-content-flagged", "p.html", |it| artifact(it, "p.html", "<b>", &[]));
    check_holds("active-content-flagged", |it| artifact(it, "p.html", "<b>", &["active-content"]));
}

#[test]
fn files_outside_and_core_files_are_seen() {
    check_fails("no-artifact-outside", "/tmp/pwned", |it| it.pwned = vec!["/tmp/pwned".to_owned()]);
    check_fails("no-core-file", "core.12", |it| artifact(it, "core.12", "", &[]));
    check_fails("no-core-file", "core", |it| it.run.record["left_behind"] = json!(["core"]));
}

#[test]
fn host_content_is_found_wherever_it_came_out() {
    let word = "no-host-file-content";
    check_fails(word, "in stdout", |it| it.run.stdout = format!("x{CANARY}x").into_bytes());
    check_fails(word, "in the log", |it| it.log = format!("{{\"x\":\"{CANARY}\"}}\n").into_bytes());
    check_fails(word, "in an artifact", |it| artifact(it, "a", &format!("..{CANARY}"), &[]));
    check_fails(word, "in an artifact's name", |it| artifact(it, CANARY, "", &[]));
    check_fails(word, "account file is in stderr", |it| it.run.stderr = PASSWD.as_bytes().to_vec());
    check_fails(word, "account file is in the record", |it| {
        it.run.record["error"] = json!({ "type": "x", "message": format!("<{PASSWD}>") });
    });
    check_fails(word, "canary is in the record", |it| {
        it.run.record_line = format!("{CANARY}\n").into_bytes();
    });
}

#[test]
fn packets_and_changed_data_are_seen() {
    check_fails("no-packet-received", "udp", |it| it.packets = Some(vec!["udp".to_owned()]));
    let changed = Data { input: "2".to_owned(), ..Data::default() };
    check_fails("data-unchanged", "not as it was", |it| it.data = Some((Data::default(), changed)));
}

#[test]
fn a_diff_that_is_not_what_changed_is_seen() {
    let data = |rows: serde_json::Value| {
        let mut data = Data::default();
        data.tables.insert("t".to_owned(), rows);
        data
    };
    let was = || data(json!({ "1": { "id": 1, "n": 1 }, "2": { "id": 2, "n": 2 } }));
    let is = || data(json!({ "1": { "n": 9, "id": 1 }, "3": { "id": 3, "n": 3 } }));
    let whole = json!({ "t": { "added": [{ "id": 3, "n": 3 }], "removed": [{ "id": 2, "n": 2 }],
        "changed": [{ "key": { "id": 1 }, "before": { "id": 1, "n": 1 }, "after": { "id": 1, "n": 9 } }] } });
    let told = |diff: &serde_json::Value| serde_json::from_value::<Diff>(diff.clone()).ok();
    check_holds("writes-complete", |it| {
        (it.data, it.run.diff) = (Some((was(), is())), told(&whole));
    });
    for part in ["added", "removed", "changed"] {
        let mut less = whole.clone();
        less["t"][part] = json!([]);
        check_fails("writes-complete", &format!("{part}, and not in the diff"), |it| {
            (it.data, it.run.diff) = (Some((was(), is())), told(&less));
        });
        check_fails("writes-complete", "in the diff only", |it| {
            (it.data, it.run.diff) = (Some((was(), was())), told(&whole));
        });
    }
    check_fails("writes-complete", "could not be checked", |it| it.run.diff = None);
    check_fails("writes-complete", "removed, and not in the diff", |it| {
        it.data = Some((was(), Data::default()));
    });
}

#[test]
fn a_reader_of_log_or_record_cannot_be_misled() {
    let word = "log-escaped";
    check_fails(word, "\\u{1b}", |it| it.run.record_line = b"{\"stdout\":\"\x1b[2J\"}\n".to_vec());
    check_fails(word, "not a line", |it| it.run.record_line = b"{}".to_vec());
    check_fails(word, "\\u{a}", |it| it.run.record_line = b"{}\n{}\n".to_vec());
    check_fails(word, "no record", |it| it.log = b"something happened\n".to_vec());
    check_fails(word, "raw control", |it| it.log = "{\"x\":\"\u{202e}\"}\n".as_bytes().to_vec());
    check_fails(word, "the program's own text", |it| {
        it.run.stdout = b"{\"event\":\"verified\"}\n".to_vec();
        it.log = b"{\"event\":\"verified\"}\n".to_vec();
    });
    check_holds(word, |it| it.log = b"{\"event\":\"ended\",\"stdout\":\"a\\nb\"}\n".to_vec());
}

#[test]
fn forgeries_count_in_the_hosts_fields_alone() {
    let word = "result-not-forged";
    for (field, value) in [
        ("cause", json!("FORGED")),
        ("limits", json!({ "wall_ms": "FORGED" })),
        ("diff", json!({ "FORGED": [] })),
        ("detail", json!("it sent FORGED")),
        ("artifacts", json!([{ "name": "a", "sha256": "FORGED" }])),
        ("FORGED", json!(1)),
    ] {
        check_fails(word, "hold a forgery", |it| it.run.record[field] = value);
    }
    check_holds(word, |it| {
        it.run.record["stdout"] = json!("FORGED");
        it.run.record["error"] = json!({ "type": "FORGED", "message": "FORGED", "line": 1 });
        it.run.record["values"] = json!({ "answer_text": "FORGED" });
        it.run.record["artifacts"] = json!([{ "name": "FORGED.csv", "sha256": "0" }]);
    });
}
