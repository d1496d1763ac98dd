//! Writes the reference of all findings from the list itself.

use std::fmt::Write;

use crate::finding_code::FindingCode;

/// The text of `docs/reference/findings.md`.
pub fn findings_reference() -> String {
    let mut text = String::from(HEAD);
    for code in FindingCode::ALL {
        let name = code.as_str();
        let _ =
            writeln!(text, "| [`{name}`](#{name}) | {} | {} |", code.severity(), code.reference().summary);
    }
    for code in FindingCode::ALL {
        section(&mut text, *code);
    }
    text
}

fn section(text: &mut String, code: FindingCode) {
    let reference = code.reference();
    let (name, severity) = (reference.name, reference.severity);
    let _ = write!(text, "\n## {name}\n\n**{severity}**: {}.\n\n{}\n", reference.summary, reference.reason);
    let _ = write!(text, "\nRemedy: {}\n", reference.remedy);
    if !reference.example.is_empty() {
        let example = reference.example.replace('\0', "␀");
        let _ = write!(
            text,
            "\nRefused or warned of (contract `{}`):\n\n```python\n{example}\n```\n",
            reference.contract
        );
    }
    if !reference.instead.is_empty() {
        let _ = write!(text, "\nInstead:\n\n```python\n{}\n```\n", reference.instead);
    }
}

const HEAD: &str = "\
# Findings

<!-- Written by `findings_reference()` in `crates/verify`. Change the texts there. -->

The verifier judges code before it runs. Each reason that it gives is a *finding*: a stable code, a severity, a \
line and column, a message and a hint. One finding of severity *error* refuses the code; *warnings* let it pass.

Under the contracts `ask` and `check` every rule holds. `code` and `exec` judge syntax, imports, calls and names; \
`open` judges syntax and size alone. The examples use the tables `inventory` (key `item_id`; `name`, \
`description`, `quantity_in_stock`, `price`), `transactions` (append-only; key `transaction_id`), `customers` \
(with a hidden column `email`) and the hidden table `salaries`.

| finding | severity | what it says |
|---|---|---|
";
