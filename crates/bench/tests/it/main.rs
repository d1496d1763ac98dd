//! The measurements come out whole: what they say about times is nothing that a test could hold.

use std::process::Command;

use serde_json::Value;

struct Measured {
    figures: Value,
    stderr: String,
}

#[track_caller]
fn bench(arguments: &[&str]) -> Measured {
    let output = Command::new(env!("CARGO_BIN_EXE_ordain-bench")).args(arguments).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    Measured { figures: serde_json::from_slice(&output.stdout).unwrap(), stderr }
}

#[test]
fn the_bench_prints_the_numbers_that_were_promised() {
    let numbers = bench(&["verify", "--quick", "--json"]).figures;
    for size in ["lines_20", "lines_200", "lines_2000"] {
        assert!(numbers["p50_ms"][size].as_f64().is_some_and(|time| time > 0.0), "{numbers}");
    }
    // Without a python3 there is nothing to compare with, and the key says so.
    for ratio in ["vs_python_ast", "vs_python_process"] {
        assert!(numbers["ratios"][ratio].is_number() || numbers["ratios"][ratio].is_null(), "{numbers}");
    }
}

#[test]
fn the_bench_compares_verdicts_and_times_with_plain_python() {
    let Measured { figures: cases, stderr } = bench(&["checks", "--quick", "--json"]);
    assert!(stderr.contains("without Great Expectations and pandera"), "{stderr}");
    assert_eq!(cases.as_array().map(Vec::len), Some(2), "{cases}");
    for (case, run) in [(0, "first"), (0, "kept"), (1, "first"), (1, "kept")] {
        assert!(cases[case]["sides"]["Ordain"][run]["cpu_ms"].as_f64().is_some_and(|ms| ms > 0.0), "{cases}");
        assert!(cases[case]["sides"]["plain Python"]["first"]["wall_ms"].is_number(), "{cases}");
    }
}

#[test]
fn two_builds_measure_in_turns_and_their_ratios_are_what_is_said() {
    let this = env!("CARGO_BIN_EXE_ordain-bench");
    let compared =
        bench(&["verify", "--quick", "--json", "--bin", this, "--bin", this, "--pairs", "1"]).figures;
    let figure = &compared["p50_ms.lines_200"];
    assert!(figure["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{compared}");
    assert!(figure["interval"].is_null(), "one pair bounds nothing: {compared}");
}
