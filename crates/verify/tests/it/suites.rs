//! Runs the Markdown suites.
//!
//! Each `##` section is a case: an optional `json` block with settings (over those of the file's head), and a
//! `python` block. A comment `# error: [code]` or `# warning: [code]` says what is found on its line, or, where
//! it stands alone, on the next line; a quoted text behind it must occur in the message or the hint. Everything
//! that is found must be said, and everything said must be found.

use std::fmt::Write as _;

use ordain_verify::{Finding, verify};
use serde_json::Value;

use crate::shop;

/// One case of a suite.
#[derive(Debug)]
struct Case {
    title: String,
    settings: Value,
    code: String,
}

/// What a comment says.
#[derive(Debug, PartialEq, Eq)]
struct Expected {
    line: usize,
    severity: String,
    code: String,
    text: Option<String>,
}

macro_rules! suites {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                run(stringify!($name), include_str!(concat!("../suites/", stringify!($name), ".md")));
            }
        )*

        #[test]
        fn the_suites_hold_at_least_150_cases_and_each_finding_has_a_neighbour_that_is_allowed() {
            let mut cases = 0;
            let mut allowed = 0;
            $(
                for case in cases_of(include_str!(concat!("../suites/", stringify!($name), ".md"))) {
                    cases += 1;
                    allowed += usize::from(expected(&case.code).is_empty());
                }
            )*
            assert!(cases >= 150, "{cases} cases");
            assert!(allowed * 3 >= cases, "{allowed} of {cases} cases are allowed look-alikes");
        }
    };
}

suites!(answers, calls, columns, conditions, frames, imports, limits, names, repeatable, tables, types);

fn run(suite: &str, text: &str) {
    let mut failures = String::new();
    let cases = cases_of(text);
    assert!(!cases.is_empty(), "{suite} has no cases");
    for case in &cases {
        if let Err(difference) = check(case) {
            let _ = write!(failures, "\n## {}\n{difference}", case.title);
        }
    }
    assert!(failures.is_empty(), "suite {suite}:\n{failures}");
}

fn check(case: &Case) -> Result<(), String> {
    let (policy, schema) = shop::policy(&case.settings);
    let verdict = verify(&case.code, &policy, &schema);
    let mut expected = expected(&case.code);
    let mut difference = String::new();
    for finding in &verdict.findings {
        match expected.iter().position(|expected| fits(expected, finding)) {
            Some(index) => {
                expected.remove(index);
            }
            None => {
                let _ = writeln!(
                    difference,
                    "  not expected: {}:{} {} [{}] {} (hint: {:?})",
                    finding.line,
                    finding.column,
                    finding.severity,
                    finding.code,
                    finding.message,
                    finding.hint
                );
            }
        }
    }
    for missing in expected {
        let _ = writeln!(difference, "  not found: {missing:?}");
    }
    let is_refused =
        verdict.findings.iter().any(|finding| finding.severity == ordain_verify::Severity::Error);
    if verdict.is_accepted() == is_refused {
        difference.push_str("  the verdict does not follow from its findings\n");
    }
    if difference.is_empty() { Ok(()) } else { Err(difference) }
}

fn fits(expected: &Expected, finding: &Finding) -> bool {
    let says = |text: &String| {
        finding.message.contains(text) || finding.hint.as_ref().is_some_and(|hint| hint.contains(text))
    };
    expected.line == finding.line
        && expected.code == finding.code.as_str()
        && expected.severity == finding.severity.to_string()
        && expected.text.as_ref().is_none_or(says)
}

/// What the comments of a program say.
fn expected(code: &str) -> Vec<Expected> {
    let mut list = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let stands_alone =
            line.trim_start().starts_with("# error: [") || line.trim_start().starts_with("# warning: [");
        for severity in ["error", "warning"] {
            let opening = format!("# {severity}: [");
            for part in line.split(&opening).skip(1) {
                let (code, rest) = part.split_once(']').expect("a closing bracket");
                let text = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next());
                list.push(Expected {
                    line: index + 1 + usize::from(stands_alone),
                    severity: severity.to_owned(),
                    code: code.to_owned(),
                    text: text.map(str::to_owned),
                });
            }
        }
    }
    list
}

/// The cases of a suite.
fn cases_of(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut base = Value::Object(serde_json::Map::new());
    let mut title: Option<String> = None;
    let mut settings = base.clone();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("## ") {
            title = Some(heading.to_owned());
            settings = base.clone();
        } else if let Some(language) = line.strip_prefix("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            let block = block.join("\n");
            match (language, &title) {
                ("json", None) => base = serde_json::from_str(&block).expect("the head's settings are JSON"),
                ("json", Some(_)) => merge(&mut settings, &block),
                ("python", Some(title)) => {
                    cases.push(Case { title: title.clone(), settings: settings.clone(), code: block });
                }
                other => panic!("a block of {other:?} belongs to no case"),
            }
        }
    }
    cases
}

fn merge(settings: &mut Value, block: &str) {
    let over: Value = serde_json::from_str(block).expect("a case's settings are JSON");
    for (key, value) in over.as_object().expect("settings are an object") {
        settings[key] = value.clone();
    }
}
