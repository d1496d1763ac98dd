//! Any bytes get a verdict.

use ordain_verify::{Contract, Policy, Schema, verify, verify_bytes};

use crate::shop;

fn codes(bytes: &[u8], contract: Contract) -> Vec<&'static str> {
    let verdict = verify_bytes(bytes, &Policy::for_contract(contract), &shop::schema());
    assert_eq!(verdict.is_accepted(), verdict.verified().is_some());
    verdict.findings.iter().map(|finding| finding.code.as_str()).collect()
}

#[test]
fn bytes_that_are_no_text_are_findings() {
    for contract in Contract::ALL {
        assert_eq!(codes(b"x = '\xff'", contract), ["not-utf8"]);
        assert_eq!(codes(b"x = 1\0", contract), ["null-byte"]);
        assert_eq!(codes(&vec![b'a'; 50 * 1024 * 1024], contract), ["too-long"]);
        assert_eq!(codes(&vec![0xff; 50 * 1024 * 1024], contract), ["too-long"]);
    }
}

#[test]
fn the_place_of_a_wrong_byte_is_named() {
    let verdict =
        verify_bytes(b"x = 1\ny = '\xff'", &Policy::for_contract(Contract::Open), &Schema::default());
    assert_eq!((verdict.findings[0].line, verdict.findings[0].column), (2, 6));
}

#[test]
fn an_empty_file_is_a_program() {
    assert!(codes(b"", Contract::Open).is_empty());
    assert!(codes(b"", Contract::Exec).is_empty());
    assert_eq!(codes(b"", Contract::Ask), ["missing-answer", "missing-status"]);
    assert_eq!(codes(b"\n\n# nothing\n", Contract::Ask), ["missing-answer", "missing-status"]);
}

/// Each would overflow the stack of a reader that recurses without a bound.
#[test]
fn nesting_of_every_kind_is_refused_before_it_is_read() {
    let deep = [
        "(".repeat(100_000),
        format!("{}{}", "(".repeat(100_000), ")".repeat(100_000)),
        "[".repeat(100_000),
        format!("x = {}1{}", "{".repeat(50_000), "}".repeat(50_000)),
        format!("x = {}1", "-".repeat(300_000)),
        format!("x = {}1", "not ".repeat(100_000)),
        format!("x = a{}", ".b".repeat(200_000)),
        format!("x = a{}", "()".repeat(200_000)),
        format!("x = a{}", "[0]".repeat(100_000)),
        format!("x = 1{}", "+1".repeat(200_000)),
        format!("x = 1{}", "**1".repeat(100_000)),
        format!("x = {}1", "lambda: ".repeat(50_000)),
        format!("x = {}1", "lambda a, b: ".repeat(50_000)),
        format!("x = {}1", "1 if 1 else ".repeat(50_000)),
        format!("x = {}1", "await ".repeat(50_000)),
        format!("x = {}1", "yield ".repeat(50_000)),
        format!("x = {}1", "*".repeat(100_000)),
        format!("x = f'{}", "{f'".repeat(50_000)),
        format!("f'{{x:{}", "{x:".repeat(50_000)),
        format!("x = {}1", "(yield ".repeat(50_000)),
        format!("{}pass", "async ".repeat(50_000)),
        format!("match x:\n  case {}1: pass", "[".repeat(50_000)),
        format!("x: {}int{}", "a[".repeat(50_000), "]".repeat(50_000)),
        format!("@{}a\ndef f(): pass", "(".repeat(50_000)),
        (0..500).map(|level| format!("{}if x:\n", " ".repeat(level))).collect(),
        (0..500).map(|level| format!("{}def f():\n", "\t".repeat(level))).collect(),
    ];
    for source in &deep {
        for contract in [Contract::Open, Contract::Ask] {
            let found = codes(source.as_bytes(), contract);
            let head: String = source.chars().take(30).collect();
            assert!(
                found == ["too-deep"] || found.iter().all(|code| *code == "syntax-error"),
                "{head}: {found:?}"
            );
            assert!(!found.is_empty(), "{head}");
        }
    }
}

/// What CPython still starts must pass, on a small stack too.
#[test]
fn what_python_would_start_is_not_too_deep() {
    let sources = [
        format!("x = {}1{}", "(".repeat(150), ")".repeat(150)),
        format!("x = 1{}", " + 1".repeat(2900)),
        format!("x = a{}", ".b".repeat(2900)),
        format!("x = [{}]", "-1, ".repeat(50_000)),
        format!("x = {{{}}}", "'a': [1, 2], ".repeat(20_000)),
        "x = 1\n".repeat(100_000),
        format!("x = '{}'", "(".repeat(500_000)),
        (0..90).map(|level| format!("{}if x:\n", " ".repeat(level))).collect::<String>()
            + &" ".repeat(90)
            + "x = 1",
    ];
    for source in sources {
        let run = move || codes(source.as_bytes(), Contract::Open);
        let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(run).expect("a thread");
        let found = thread.join().expect("no overflow on a small stack");
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn the_deepest_accepted_plan_needs_no_large_stack() {
    let depth = 900;
    let sources = [
        format!("x = 1{}\n", " + 1".repeat(depth)),
        format!("x = user_request{}\n", ".b".repeat(depth)),
        format!("x = user_request{}\n", "()".repeat(depth)),
        format!("x = {}1\n", "lambda: ".repeat(depth)),
        format!("x = {}1\n", "1 if 1 else ".repeat(depth / 2)),
        format!("x = {}1{}\n", "[".repeat(190), "]".repeat(190)),
        format!("x = where('price'){}\n", " & (where('price') < 1)".repeat(200)),
    ];
    for source in sources {
        let run = move || codes(source.as_bytes(), Contract::Ask);
        let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(run).expect("a thread");
        let found = thread.join().expect("no overflow on a small stack");
        assert!(!found.contains(&"too-deep"), "{found:?}");
    }
}

/// Work that would explode if loops, functions and branches were walked without a bound.
#[test]
fn programs_that_invite_endless_work_end() {
    let mut nested_loops = String::new();
    for level in 0..90 {
        nested_loops.push_str(&format!("{}for a{level} in inventory_tbl:\n", " ".repeat(level)));
    }
    nested_loops.push_str(&format!("{}x = a1['name']\n", " ".repeat(90)));
    let mut chain = String::from("def f0():\n    return inventory_tbl.all()\n");
    for index in 1..200 {
        chain.push_str(&format!("def f{index}():\n    return f{0}() + f{0}() + f{0}()\n", index - 1));
    }
    chain.push_str("x = f199()\n");
    let mutual = "def a():\n    return b() or a()\ndef b():\n    return a() or b()\nx = a()\n".to_owned();
    let branches: String = (0..2000).map(|index| format!("if x{index}:\n    answer_text = 'a'\n")).collect();
    let assignments: String = (0..20_000).map(|index| format!("v{index} = {index}\n")).collect();
    let in_branch = format!(
        "if user_request:\n{}",
        assignments.lines().map(|line| format!("    {line}\n")).collect::<String>()
    );
    let undefined: String = (0..20_000).map(|index| format!("name_number_{index}\n")).collect();
    let columns: String = (0..5000).map(|index| format!("where('column{index}') == {index}\n")).collect();
    let unions: String =
        (0..500).map(|index| format!("if a:\n    x = {{'k{index}': x}}\nelse:\n    x = [x]\n")).collect();
    let dict = format!(
        "x = {{{}}}\ninventory_tbl.insert(x)\n",
        (0..30_000).map(|index| format!("'k{index}': 1, ")).collect::<String>()
    );
    for source in [nested_loops, chain, mutual, branches, in_branch, undefined, columns, unions, dict] {
        let found = codes(source.as_bytes(), Contract::Ask);
        assert!(!found.is_empty());
    }
}

#[test]
fn one_line_of_a_megabyte_is_read() {
    let line = format!("x = [{}]", "1, ".repeat(340_000));
    assert!(codes(line.as_bytes(), Contract::Open).is_empty());
    let comment = format!("# {}", "x".repeat(1_000_000));
    assert!(codes(comment.as_bytes(), Contract::Open).is_empty());
    let garbage = "\u{1F600}".repeat(250_000);
    assert!(codes(garbage.as_bytes(), Contract::Open).iter().all(|code| *code == "syntax-error"));
}

#[test]
fn strange_characters_have_a_place_too() {
    for source in [
        "é\u{0}",
        "\u{feff}\u{feff}x",
        "x = \u{a0}1",
        "\u{2028}",
        "a\rb\r\nc(\r",
        "\x0c\x0c if",
        "'''\\\n",
        "f'{'",
        "\\",
    ] {
        for contract in Contract::ALL {
            let verdict = verify(source, &Policy::for_contract(contract), &shop::schema());
            for finding in &verdict.findings {
                assert!(finding.line >= 1 && finding.column >= 1, "{source:?} {finding:?}");
                assert!(
                    (finding.line, finding.column) <= (finding.end_line, finding.end_column),
                    "{source:?} {finding:?}"
                );
            }
        }
    }
}

#[test]
fn what_a_message_quotes_is_short_and_without_control_characters() {
    let long = "x".repeat(100_000);
    let code =
        format!("r = inventory_tbl.get(doc_id=1)\nprint(r['\\x1b[31mred'], r['\u{202e}'], r['{long}'])\n");
    let verdict = verify(&code, &Policy::for_contract(Contract::Ask), &shop::schema());
    assert!(verdict.findings.iter().filter(|finding| finding.code.as_str() == "unknown-column").count() == 3);
    for finding in &verdict.findings {
        let texts = [Some(&finding.message), finding.hint.as_ref()];
        for text in texts.into_iter().flatten() {
            assert!(text.len() < 1000, "{}", text.len());
            assert!(
                !text.chars().any(|character| character.is_control() || character == '\u{202e}'),
                "{text:?}"
            );
        }
    }
}
