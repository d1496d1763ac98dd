//! A few schedules of the simulator; `cargo xtask simulate --seeds 1000` carries out more.

use std::process::Command;

fn check(database: &str, seeds: &str) {
    let mut simulate = Command::new(env!("CARGO_BIN_EXE_simulate"));
    let done = simulate.args(["--database", database, "--seeds", seeds]).output().unwrap();
    let told = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{told}{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn rows_are_what_the_ledger_says_whatever_goes_wrong_on_sqlite() {
    check("sqlite", "40");
}

#[test]
fn rows_are_what_the_ledger_says_whatever_goes_wrong_on_postgres() {
    check("postgres", "8");
}
