//! The reference of findings agrees with the verifier.

use ordain_verify::{FindingCode, Policy, findings_reference, verify};

use crate::shop;

#[test]
fn every_example_gives_its_finding_and_every_alternative_is_accepted() {
    for code in FindingCode::ALL {
        let reference = code.reference();
        let policy = Policy::for_contract(reference.contract);
        if !reference.example.is_empty() {
            let verdict = verify(reference.example, &policy, &shop::schema());
            let found = verdict.findings.iter().any(|finding| finding.code == *code);
            assert!(found, "{code}: {:?}", verdict.findings);
        }
        if !reference.instead.is_empty() {
            let verdict = verify(reference.instead, &policy, &shop::schema());
            assert!(verdict.is_accepted(), "{code}: {:?}", verdict.findings);
            assert!(verdict.findings.is_empty(), "{code}: {:?}", verdict.findings);
        }
    }
}

#[test]
fn names_are_kebab_case_and_unique() {
    let mut names: Vec<&str> = FindingCode::ALL.iter().map(|code| code.as_str()).collect();
    for name in &names {
        assert!(name.chars().all(|character| character.is_ascii_lowercase()
            || character.is_ascii_digit()
            || character == '-'));
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FindingCode::ALL.len());
}

/// Run with `ORDAIN_BLESS=1` to write the page anew.
#[test]
fn the_page_in_the_docs_is_the_one_that_the_code_writes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/findings.md");
    let text = findings_reference();
    if std::env::var_os("ORDAIN_BLESS").is_some() {
        std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference"))
            .expect("a docs folder");
        std::fs::write(path, &text).expect("the page is written");
    }
    let page = std::fs::read_to_string(path).expect("docs/reference/findings.md exists");
    assert!(page == text, "docs/reference/findings.md is old; run the test with ORDAIN_BLESS=1");
}
