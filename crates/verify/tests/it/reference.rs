//! The reference of findings agrees with the verifier.

use std::collections::BTreeSet;

use ordain_verify::{Contract, FindingCode, Policy, verify};

use crate::shop;

const PAGE: &str = include_str!("../../../../docs/reference/findings.md");

/// What the page has of a finding.
struct Section {
    severity: String,
    summary: String,
    /// The contract, the code that gives the finding, and the same intent, accepted.
    examples: Option<(Contract, String, String)>,
}

#[track_caller]
fn section(code: FindingCode) -> Section {
    let (_, rest) =
        PAGE.split_once(&format!("\n## {code}\n\n**")).unwrap_or_else(|| panic!("no section `{code}`"));
    let section = rest.split("\n## ").next().unwrap_or_default();
    let (severity, rest) = section.split_once("**: ").unwrap();
    let (summary, rest) = rest.split_once(".\n\n").unwrap();
    assert!(rest.contains("\nRemedy: "), "{code}");
    let examples = rest.split_once("```python\n# ").map(|(_, block)| {
        let (head, block) = block.split_once("):\n").unwrap();
        let contract = head.rsplit_once("(contract ").unwrap().1.parse().unwrap();
        let (example, instead) = block.split_once("\n\n# instead:\n").unwrap();
        let instead = instead.split_once("```").unwrap().0.trim_end();
        (contract, example.replace('␀', "\0"), instead.to_owned())
    });
    Section { severity: severity.to_owned(), summary: summary.to_owned(), examples }
}

#[test]
fn every_example_gives_its_finding_and_every_alternative_is_accepted() {
    for &code in FindingCode::ALL {
        let Some((contract, example, instead)) = section(code).examples else { continue };
        let policy = Policy::for_contract(contract);
        let verdict = verify(&example, &policy, &shop::schema());
        assert!(
            verdict.findings.iter().any(|finding| finding.code == code),
            "{code}: {:?}",
            verdict.findings
        );
        // What to write instead of a tool that was not reviewed depends on the tools.
        if instead.is_empty() {
            continue;
        }
        let verdict = verify(&instead, &policy, &shop::schema());
        assert!(verdict.is_accepted() && verdict.findings.is_empty(), "{code}: {:?}", verdict.findings);
    }
}

#[test]
fn names_are_kebab_case_and_unique() {
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let names: BTreeSet<&str> = FindingCode::ALL.iter().map(|code| code.as_str()).collect();
    assert!(names.iter().all(|name| name.chars().all(is_plain)), "{names:?}");
    assert_eq!(names.len(), FindingCode::ALL.len());
}

#[test]
fn the_page_has_every_finding_and_no_other_one() {
    for &code in FindingCode::ALL {
        let Section { severity, summary, .. } = section(code);
        assert_eq!(severity, code.severity().to_string(), "{code}");
        let row = format!("| [`{code}`](#{code}) | {severity} | {summary} |\n");
        assert!(PAGE.contains(&row), "{row}");
    }
    assert_eq!(PAGE.matches("\n## ").count(), FindingCode::ALL.len());
}
