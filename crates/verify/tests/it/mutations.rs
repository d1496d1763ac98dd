//! Plans broken in many ways: whatever comes out gets a verdict that keeps its promises.
//!
//! The mutations come from a fixed seed and a fixed number of rounds, so that every run does the same work.

use ordain_verify::{Contract, Policy, Severity, Verdict, apply_edits, verify, verify_bytes};

use crate::corpus::{Plan, judge, plans};
use crate::shop;

/// A small generator with a fixed seed (xorshift64*), so that a failure can be run again.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() >> 33).expect("31 bits fit") % limit.max(1)
    }

    fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }
}

/// Pieces that plans and attacks are made of.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    ".",
    "=",
    "==",
    ":=",
    "->",
    "**",
    "*",
    "@",
    "~",
    "&",
    "|",
    "not ",
    "and ",
    "or ",
    "in ",
    "is ",
    "if ",
    "else ",
    "elif x:\n",
    "for x in ",
    "while True:\n",
    "def f(x):\n",
    "class C:\n",
    "lambda x: ",
    "return ",
    "yield ",
    "await ",
    "async ",
    "try:\n",
    "except:\n",
    "finally:\n",
    "with x as y:\n",
    "match x:\n",
    "case _:\n",
    "global x\n",
    "nonlocal x\n",
    "del x\n",
    "import os\n",
    "from x import *\n",
    "raise\n",
    "break\n",
    "continue\n",
    "pass\n",
    "answer_text",
    "STATUS",
    "result",
    "ACTION = 'read'\n",
    "inventory_tbl",
    "db.table('x')",
    "frame('orders')",
    "Query()",
    "where('price')",
    ".search(",
    ".update({'price': 1}, ",
    ".test(lambda v: x in v)",
    "['name']",
    "[['name', 'price']]",
    ".groupby('x')",
    ".merge(",
    "user_request",
    "get_current_balance",
    "self",
    "None",
    "True",
    "0",
    "1.5",
    "'text'",
    "\"\"\"",
    "'",
    "f'{x!r:>{y}}'",
    "f\"{",
    "b'x'",
    "\\\n",
    "\n",
    "\n    ",
    "\t",
    " ",
    "#",
    ";",
    "é",
    "\u{1F600}",
    "\u{feff}",
    "\r",
    "\r\n",
    "\u{c}",
    "$",
    "?",
    "`",
    "!",
    "__class__",
    "__import__('os')",
    "eval('1')",
    "{**x, 'a': 1}",
    "*x",
    "**x",
    "x[1:2, ::3]",
    "x if y else z",
];

fn mutate(chance: &mut Chance, code: &str, others: &[Plan]) -> String {
    let mut code = code.to_owned();
    for _ in 0..=chance.below(4) {
        let at = code.floor_char_boundary(chance.below(code.len() + 1));
        let end = code.ceil_char_boundary((at + 1 + chance.below(30)).min(code.len()));
        match chance.below(7) {
            0 => code.truncate(at),
            1 => code.replace_range(at..end.max(at), ""),
            2 => code.insert_str(at, chance.pick(PIECES)),
            3 => code.replace_range(at..end.max(at), chance.pick(PIECES)),
            4 => {
                let piece = code[at..end.max(at)].to_owned();
                code.insert_str(at, &piece.repeat(1 + chance.below(20)));
            }
            5 => {
                let lines: Vec<&str> = code.lines().collect();
                if lines.len() > 2 {
                    let (left, right) = (chance.below(lines.len()), chance.below(lines.len()));
                    let mut swapped = lines.clone();
                    swapped.swap(left, right);
                    code = swapped.join("\n");
                }
            }
            _ => {
                let other = &others[chance.below(others.len())].code;
                let lines: Vec<&str> = other.lines().collect();
                let line = lines[chance.below(lines.len())];
                let start = code[..at].rfind('\n').map_or(0, |found| found + 1);
                code.insert_str(start, &format!("{line}\n"));
            }
        }
        if code.len() > 20_000 {
            code.truncate(code.floor_char_boundary(20_000));
        }
    }
    code
}

#[track_caller]
fn promises(code: &str, verdict: &Verdict) {
    assert_eq!(
        verdict.verified().map(ordain_verify::VerifiedCode::code),
        verdict.is_accepted().then_some(code)
    );
    let has_error = verdict.findings.iter().any(|finding| finding.severity == Severity::Error);
    assert_eq!(verdict.is_accepted(), !has_error);
    let lines = code.split('\n').count() + code.matches('\r').count();
    let mut last = (0, 0);
    for finding in &verdict.findings {
        let (start, end) = ((finding.line, finding.column), (finding.end_line, finding.end_column));
        assert!(start >= (1, 1) && start <= end && finding.end_line <= lines, "{finding:?}\n{code}");
        assert!(start >= last, "findings stand in the order of the source");
        last = start;
        assert!(!finding.message.is_empty() && !finding.message.ends_with('.'), "{finding:?}");
        let has_hint = finding.hint.as_ref().is_some_and(|hint| !hint.is_empty());
        assert!(has_hint, "{finding:?}");
        for replacement in finding.edit.iter().flat_map(|edit| &edit.replacements) {
            assert!(code.get(replacement.start..replacement.end).is_some(), "{finding:?}");
        }
    }
}

#[test]
fn broken_plans_get_verdicts_that_keep_their_promises() {
    let plans = plans();
    let mut chance = Chance(0x0DDA_1DEA_5EED_0001);
    for _ in 0..1200 {
        let plan = &plans[chance.below(plans.len())];
        let code = mutate(&mut chance, &plan.code, &plans);
        let contract = Contract::ALL[chance.below(Contract::ALL.len())];
        let verdict = judge(&code, contract);
        promises(&code, &verdict);
        if verdict.is_accepted() && contract != Contract::Open {
            assert!(
                judge(&code, Contract::Open).is_accepted(),
                "what is accepted anywhere is accepted when open\n{code}"
            );
        }
        let (fixed, modifications) = apply_edits(&code, &verdict.findings);
        assert_eq!(fixed == code, modifications.is_empty());
        if fixed != code {
            promises(&fixed, &judge(&fixed, contract));
        }
    }
}

#[test]
fn broken_bytes_get_verdicts_too() {
    let plans = plans();
    let policy = Policy::for_contract(Contract::Ask);
    let schema = shop::schema();
    let mut chance = Chance(0x0DDA_1DEA_5EED_0002);
    for _ in 0..600 {
        let mut bytes = plans[chance.below(plans.len())].code.clone().into_bytes();
        for _ in 0..=chance.below(6) {
            let at = chance.below(bytes.len());
            bytes[at] = u8::try_from(chance.below(256)).expect("a byte");
        }
        let verdict = verify_bytes(&bytes, &policy, &schema);
        assert_eq!(verdict.is_accepted(), verdict.verified().is_some());
        assert!(verdict.is_accepted() || !verdict.findings.is_empty());
    }
}

#[test]
fn noise_gets_verdicts_too() {
    let mut chance = Chance(0x0DDA_1DEA_5EED_0003);
    for _ in 0..400 {
        let code: String = (0..chance.below(60)).map(|_| chance.pick(PIECES)).collect();
        for contract in Contract::ALL {
            promises(&code, &judge(&code, contract));
        }
    }
}

/// A comment on top moves every finding down by one line and changes nothing else.
#[test]
fn a_comment_changes_no_verdict() {
    let plans = plans();
    let mut chance = Chance(0x0DDA_1DEA_5EED_0004);
    for _ in 0..300 {
        let plan = &plans[chance.below(plans.len())];
        let code = mutate(&mut chance, &plan.code, &plans);
        if code.starts_with('\u{feff}') {
            continue;
        }
        let before = judge(&code, plan.contract);
        let after = judge(&format!("# a comment\n{code}"), plan.contract);
        let key = |verdict: &Verdict, shift: usize| -> Vec<_> {
            verdict
                .findings
                .iter()
                .map(|finding| (finding.code, finding.line + shift, finding.column, finding.message.clone()))
                .collect()
        };
        assert_eq!(key(&before, 1), key(&after, 0), "{code}");
        assert_eq!(before.effects, after.effects, "{code}");
    }
}

/// Unknown names do not depend on their surroundings: the schema decides.
#[test]
fn a_renamed_column_makes_every_plan_that_uses_it_a_finding() {
    let mut schema = shop::schema();
    schema.tables[0].columns[4].name = "amount_due".to_owned();
    let mut count = 0;
    for plan in plans() {
        let effects = judge(&plan.code, plan.contract).effects;
        let names =
            |columns: &std::collections::BTreeSet<String>, whole: bool| !whole && columns.contains("price");
        let reads = effects.reads.get("inventory").is_some_and(|read| names(&read.columns, read.whole));
        let writes = effects.writes.get("inventory").is_some_and(|write| names(&write.columns, write.whole));
        // SQL and query texts are read loosely: the store judges them.
        let is_text = plan.code.contains("db.query") || plan.code.contains(".query(");
        if (reads || writes) && !is_text {
            let mut policy = Policy::for_contract(plan.contract);
            policy.helpers = vec![
                ordain_verify::Helper::reads("get_current_balance"),
                ordain_verify::Helper::reads("next_transaction_id"),
            ];
            let verdict = verify(&plan.code, &policy, &schema);
            let found = verdict.findings.iter().any(|finding| finding.code.as_str() == "unknown-column");
            assert!(found, "{}", plan.path.display());
            count += 1;
        }
    }
    assert!(count >= 20, "{count} plans use the column");
}
