//! Mechanical fixes.

use ordain_verify::{Contract, Policy, apply_edits, fixed, verify};

use crate::shop;

/// Fixes until nothing changes any more, as the planner does.
fn fix(code: &str, contract: Contract) -> (String, Vec<String>) {
    let policy = Policy::for_contract(contract);
    let done = fixed(code.to_owned(), |code| verify(code, &policy, &shop::schema()));
    (done.code, done.modifications.into_iter().map(|modification| modification.title).collect())
}

#[track_caller]
fn check(contract: Contract, before: &str, after: &str, titles: &[&str]) {
    let (fixed, done) = fix(before, contract);
    assert_eq!(fixed, after);
    assert_eq!(done, titles);
    let verdict = verify(&fixed, &Policy::for_contract(contract), &shop::schema());
    assert!(verdict.is_accepted(), "{:?}", verdict.findings);
}

#[test]
fn a_forgotten_import_is_added_behind_the_docstring_and_the_future() {
    check(
        Contract::Exec,
        "# head\n\"\"\"Doc.\"\"\"\nfrom __future__ import annotations\nprint(json.dumps(re.findall('a', 'b')))\n",
        "# head\n\"\"\"Doc.\"\"\"\nfrom __future__ import annotations\nimport json\nimport re\n\
         print(json.dumps(re.findall('a', 'b')))\n",
        &["add `import json`", "add `import re`"],
    );
    check(
        Contract::Exec,
        "print(datetime.now(), timedelta(days=1), pd.DataFrame())",
        "from datetime import datetime\nfrom datetime import timedelta\nimport pandas as pd\n\
         print(datetime.now(), timedelta(days=1), pd.DataFrame())",
        &[
            "add `from datetime import datetime`",
            "add `from datetime import timedelta`",
            "add `import pandas as pd`",
        ],
    );
}

#[test]
fn wrong_case_columns_and_tables_are_respelled() {
    check(
        Contract::Ask,
        "Item = Query()\nrows = Inventory_tbl.search((Item.Price < 5) & (where('Quantity_In_Stock') > 0))\n\
         answer_text = rows[0][\"Name\"]\nSTATUS = 'success'\n",
        "Item = Query()\nrows = inventory_tbl.search((Item.price < 5) & (where('quantity_in_stock') > 0))\n\
         answer_text = rows[0][\"name\"]\nSTATUS = 'success'\n",
        &[
            "use `inventory_tbl`",
            "write `price` for `Price`",
            "write `quantity_in_stock` for `Quantity_In_Stock`",
            "write `name` for `Name`",
        ],
    );
    check(
        Contract::Ask,
        "rows = db.table('Inventory').all()\nanswer_text = str(len(rows))\nSTATUS = 'success'\n",
        "rows = db.table('inventory').all()\nanswer_text = str(len(rows))\nSTATUS = 'success'\n",
        &["write `inventory` for `Inventory`"],
    );
}

#[test]
fn the_status_under_another_spelling_is_renamed_everywhere() {
    check(
        Contract::Ask,
        "if user_request:\n    Status = 'success'\nelse:\n    Status = 'no_match'\nanswer_text = f'{Status}'\n",
        "if user_request:\n    STATUS = 'success'\nelse:\n    STATUS = 'no_match'\nanswer_text = f'{STATUS}'\n",
        &["rename `Status` to `STATUS`"],
    );
    check(
        Contract::Ask,
        "answerText = 'x'\nSTATUS = 'success'\n",
        "answer_text = 'x'\nSTATUS = 'success'\n",
        &["rename `answerText` to `answer_text`"],
    );
}

#[test]
fn an_ordinary_variable_called_status_stays() {
    let (fixed, titles) = fix("status = user_request\nanswer_text = status\n", Contract::Ask);
    assert_eq!(fixed, "status = user_request\nanswer_text = status\n");
    assert!(titles.is_empty());
}

#[test]
fn a_captured_loop_variable_is_bound() {
    check(
        Contract::Ask,
        "tests = []\nfor word in user_request.split():\n    tests.append(where('name').test(lambda v: word in v))\n\
         rows = inventory_tbl.search(tests[0])\nanswer_text = str(len(rows))\nSTATUS = 'success'\n",
        "tests = []\nfor word in user_request.split():\n    tests.append(where('name').test(lambda v, word=word: word in v))\n\
         rows = inventory_tbl.search(tests[0])\nanswer_text = str(len(rows))\nSTATUS = 'success'\n",
        &["bind `word` when the lambda is made"],
    );
}

#[test]
fn what_is_not_certain_is_left_alone() {
    for code in ["print(totl)\n", "import panda\n", "print(x.__class__)\n"] {
        let (fixed, titles) = fix(code, Contract::Exec);
        assert_eq!(fixed, code);
        assert!(titles.is_empty());
    }
}

#[test]
fn edits_that_do_not_belong_to_the_code_are_refused() {
    let policy = Policy::for_contract(Contract::Exec);
    let verdict = verify("print(json.dumps(1), 'some longer text that is cut')", &policy, &shop::schema());
    let (fixed, _) = apply_edits("", &verdict.findings);
    assert!(fixed.is_empty() || fixed == "import json\n");
    let mut findings = verdict.findings;
    for finding in &mut findings {
        if let Some(edit) = &mut finding.edit {
            edit.replacements[0].start = 7;
            edit.replacements[0].end = 3;
        }
    }
    assert_eq!(apply_edits("print(1)", &findings).0, "print(1)");
}
