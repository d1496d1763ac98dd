//! The verdict itself: acceptance, positions, effects as data.

use ordain_verify::{Contract, Policy, Schema, Severity, verify};

use crate::shop;

#[test]
fn accepted_code_is_given_back_byte_for_byte() {
    let code = "\u{feff}# é\r\nprint('x')\r\n";
    let verdict = verify(code, &Policy::for_contract(Contract::Exec), &Schema::default());
    let verified = verdict.into_verified().expect("accepted");
    assert_eq!(verified.code(), code);
    assert_eq!(verified.contract(), Contract::Exec);
}

#[test]
fn rejected_code_gives_no_proof() {
    let verdict = verify("import socket", &Policy::for_contract(Contract::Exec), &Schema::default());
    assert!(!verdict.is_accepted());
    assert!(verdict.verified().is_none());
    assert!(verdict.into_verified().is_none());
}

#[test]
fn warnings_do_not_refuse() {
    let verdict =
        verify("while True:\n    pass\n", &Policy::for_contract(Contract::Exec), &Schema::default());
    assert_eq!(verdict.findings[0].severity, Severity::Warning);
    assert!(verdict.is_accepted());
}

#[test]
fn a_made_up_column_is_named_with_line_column_and_nearest_name() {
    let code = "Item = Query()\nrows = inventory_tbl.search(Item.colour == \"red\")\n\
                answer_text = f\"{len(rows)}\"\nSTATUS = \"success\"\n";
    let verdict = verify(code, &Policy::for_contract(Contract::Ask), &shop::schema());
    let [finding] = &verdict.findings[..] else { panic!("{:?}", verdict.findings) };
    assert_eq!(finding.code.as_str(), "unknown-column");
    assert_eq!((finding.line, finding.column), (2, 34));
    assert_eq!((finding.end_line, finding.end_column), (2, 40));
    assert_eq!(finding.message, "table `inventory` has no column `colour`");
    let hint = finding.hint.as_deref().unwrap_or_default();
    assert!(hint.contains("item_id, name, description, quantity_in_stock, price"), "{hint}");
    assert!(hint.contains("the nearest is `"), "{hint}");
}

#[test]
fn columns_count_characters_not_bytes() {
    let code = "ü = 'äöü'; print(ü, eval)\n";
    let verdict = verify(code, &Policy::for_contract(Contract::Exec), &Schema::default());
    assert_eq!((verdict.findings[0].line, verdict.findings[0].column), (1, 21));
}

#[test]
fn a_verdict_is_plain_data() {
    let verdict = verify("import sockt", &Policy::for_contract(Contract::Exec), &Schema::default());
    let json = serde_json::to_value(&verdict).expect("serialisable");
    assert_eq!(json["accepted"], false);
    assert_eq!(json["findings"][0]["code"], "unknown-import");
    assert_eq!(json["findings"][0]["severity"], "error");
    assert_eq!(json["effects"]["imports"][0], "sockt");
    let findings: Vec<ordain_verify::Finding> =
        serde_json::from_value(json["findings"].clone()).expect("findings read back");
    assert_eq!(findings, verdict.findings);
    let effects: ordain_verify::Effects =
        serde_json::from_value(json["effects"].clone()).expect("effects read back");
    assert_eq!(effects, verdict.effects);
}

#[test]
fn a_policy_is_plain_data() {
    for contract in Contract::ALL {
        let policy = Policy::for_contract(contract);
        let json = serde_json::to_string(&policy).expect("serialisable");
        let back: Policy = serde_json::from_str(&json).expect("reads back");
        assert_eq!(back, policy);
    }
}

#[test]
fn many_findings_are_counted_and_errors_are_never_hidden_by_warnings() {
    let mut code = String::from("x = 1\n");
    for _ in 0..150 {
        code.push_str("x == 2\n");
    }
    code.push_str("import socket\n");
    let verdict = verify(&code, &Policy::for_contract(Contract::Exec), &Schema::default());
    assert_eq!(verdict.findings.len(), 101);
    assert_eq!(verdict.findings_left_out, 50);
    assert!(!verdict.is_accepted());
}

#[test]
fn the_same_input_gives_the_same_verdict() {
    let code = include_str!("verdicts.rs");
    let policy = Policy::for_contract(Contract::Ask);
    let first = verify(code, &policy, &shop::schema());
    let second = verify(code, &policy, &shop::schema());
    assert_eq!(first.findings, second.findings);
    assert_eq!(first.effects, second.effects);
}

#[test]
fn a_statement_reads_the_tables_that_it_names_and_a_computed_one_may_read_any() {
    let reads = |code: &str| {
        let effects = verify(code, &Policy::for_contract(Contract::Code), &shop::schema()).effects;
        assert!(effects.uses_frames() && !effects.depends_on_rows_alone(), "{code}");
        effects.reads.into_keys().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(reads("sql('SELECT price FROM Inventory')"), "inventory");
    assert_eq!(
        reads("sql(\"SELECT * FROM orders o SEMI JOIN 'inventory' i USING (item_id)\")"),
        "inventory orders"
    );
    assert_eq!(reads("s = 'SELECT 1 AS a FROM orders'\nsql(statement=s)"), "orders");
    let any = reads("for name in ['orders']:\n    sql(f'SELECT * FROM {name}')\n");
    assert_eq!(reads("sql(\"SELECT * FROM query_table('orders')\")"), any);
    assert!(any.contains("inventory") && any.contains("orders") && any.contains("transactions"), "{any}");
}
