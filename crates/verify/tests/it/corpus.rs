//! Correct plans: none gives a false alarm, and the effects of each are exactly right.
//!
//! `tests/corpus/CONTRACT_name.py` is a plan, `CONTRACT_name.json` its effects. Run with `ORDAIN_BLESS=1` to
//! write the effects anew; then read every change.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ordain_verify::{Contract, Helper, Policy, Schema, Verdict, verify, verify_bytes};

use crate::shop;

/// One plan of the corpus.
pub(crate) struct Plan {
    pub(crate) path: PathBuf,
    pub(crate) contract: Contract,
    pub(crate) code: String,
}

/// The Python files of a folder, in the order of their names.
fn programs(folder: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))
        .expect("a folder of programs")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .collect();
    paths.sort();
    paths
}

/// All plans, in the order of their names.
pub(crate) fn plans() -> Vec<Plan> {
    programs("tests/corpus")
        .into_iter()
        .map(|path| {
            let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
            let contract = name.split('_').next().expect("a contract").parse().expect("a contract");
            Plan { code: std::fs::read_to_string(&path).expect("a plan"), contract, path }
        })
        .collect()
}

pub(crate) fn judge(code: &str, contract: Contract) -> Verdict {
    let mut policy = Policy::for_contract(contract);
    policy.helpers = vec![Helper::reads("get_current_balance"), Helper::reads("next_transaction_id")];
    verify(code, &policy, &shop::schema())
}

#[test]
fn the_corpus_holds_at_least_100_plans_from_one_line_to_150() {
    let plans = plans();
    assert!(plans.len() >= 100, "{} plans", plans.len());
    let lines = |plan: &Plan| plan.code.lines().count();
    assert_eq!(plans.iter().map(lines).min(), Some(1));
    assert!(plans.iter().map(lines).max() >= Some(130));
    for contract in [Contract::Ask, Contract::Check, Contract::Code, Contract::Exec] {
        assert!(plans.iter().filter(|plan| plan.contract == contract).count() >= 10, "{contract}");
    }
}

#[test]
fn no_correct_plan_gives_a_finding() {
    let mut alarms = String::new();
    for plan in plans() {
        let verdict = judge(&plan.code, plan.contract);
        assert_eq!(verdict.is_accepted(), verdict.findings.is_empty(), "{}", plan.path.display());
        for finding in verdict.findings {
            let name = plan.path.file_name().unwrap_or_default().display();
            let _ = writeln!(
                alarms,
                "{name}:{}:{} [{}] {}",
                finding.line, finding.column, finding.code, finding.message
            );
        }
    }
    assert!(alarms.is_empty(), "\n{alarms}");
}

#[test]
fn every_plan_is_accepted_under_the_open_contract_too() {
    for plan in plans() {
        assert!(judge(&plan.code, Contract::Open).is_accepted(), "{}", plan.path.display());
    }
}

/// Only the jail defends there: the verifier must not stand before it.
#[test]
fn every_hostile_program_is_accepted_under_the_open_contract() {
    let attacks = programs("../cell/tests/attacks");
    assert!(attacks.len() > 30, "{} attacks", attacks.len());
    for path in attacks {
        let bytes = std::fs::read(&path).expect("a program");
        let verdict = verify_bytes(&bytes, &Policy::for_contract(Contract::Open), &Schema::default());
        assert!(verdict.is_accepted(), "{}: {:?}", path.display(), verdict.findings);
    }
}

#[test]
fn the_effects_of_every_plan_are_exactly_right() {
    let bless = std::env::var_os("ORDAIN_BLESS").is_some();
    let mut differences = String::new();
    for plan in plans() {
        // What a record shows of them.
        let effects =
            serde_json::to_value(judge(&plan.code, plan.contract).effects).expect("effects are JSON");
        let path = plan.path.with_extension("json");
        if bless {
            let text = serde_json::to_string_pretty(&effects).expect("effects are JSON") + "\n";
            std::fs::write(&path, text).expect("effects are written");
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let expected: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        if effects != expected {
            let _ = writeln!(differences, "{}\n  now {effects}\n  was {expected}", plan.path.display());
        }
    }
    assert!(differences.is_empty(), "\n{differences}");
}
