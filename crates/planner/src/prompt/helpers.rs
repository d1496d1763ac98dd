//! Shows a workspace's actions and helpers as stubs: what they are called with and what they say of themselves.

use std::fmt::Write as _;

use ordain_types::{Action, Catalog, Changes, Param, ParamKind};
use serde_json::Value;

use super::text;

/// Helpers beyond these are left out.
const STUBS_MAX: usize = 40;
const STUB_CHARS_MAX: usize = 300;

/// The actions first, then what may be used besides them.
pub(super) fn api(source: &str, catalog: &Catalog, tables: &str, writes: &str) -> String {
    let mut text = String::new();
    let only_actions = catalog.policy.changes == Changes::Actions;
    if !catalog.actions.is_empty() {
        text.push_str(include_str!("../../prompts/api_actions.md"));
        if only_actions {
            text.push_str(include_str!("../../prompts/api_actions_only.md"));
        }
        catalog.actions.iter().take(STUBS_MAX).for_each(|action| text.push_str(&action_stub(action)));
        text.push('\n');
    }
    text.push_str(tables);
    if !only_actions {
        text.push_str(writes);
    }
    text.push_str(&stubs(source, catalog));
    text
}

/// `sell(item: key of inventory, quantity: int 1 to 1000)    # Sells items. Requires: it is in stock.`
fn action_stub(action: &Action) -> String {
    let params: Vec<String> = action.params.iter().map(|(name, param)| param_stub(name, param)).collect();
    let about = action.description.as_deref().unwrap_or_default();
    let requires = action.requires.as_ref().map(|requires| format!(" Requires: {requires}."));
    let about = format!("{about}{}", requires.unwrap_or_default());
    format!("{}({})    # {}\n", action.name, params.join(", "), text::line(&about, STUB_CHARS_MAX))
}

fn param_stub(name: &str, param: &Param) -> String {
    let kind = match (&param.table, &param.column, param.kind) {
        (Some(table), ..) => format!("key of {table}"),
        // A name may be somebody's first, whatever the column of known ones holds.
        (_, _, Some(ParamKind::Name)) => "str".to_owned(),
        (_, Some(column), _) => format!("value of {}.{}", column.table, column.column),
        (_, _, Some(ParamKind::Count)) => "int".to_owned(),
        (_, _, Some(ParamKind::Number | ParamKind::Money | ParamKind::Percent)) => "number".to_owned(),
        (_, _, Some(ParamKind::Date)) => "\"YYYY-MM-DD\"".to_owned(),
        (_, _, Some(ParamKind::Time)) => "\"HH:MM\"".to_owned(),
        (_, _, Some(ParamKind::Text) | None) => "str".to_owned(),
    };
    let bounds = match (param.min, param.max) {
        (Some(min), Some(max)) => format!(" {min} to {max}"),
        (Some(min), None) => format!(" from {min}"),
        (None, Some(max)) => format!(" up to {max}"),
        (None, None) => String::new(),
    };
    let default = param.default.as_ref().map(|value: &Value| format!(" = {}", text::value(value, 60)));
    text::line(&format!("{name}: {kind}{bounds}{}", default.unwrap_or_default()), 200)
}

/// One line for each public function that is no action: its signature and the first line of its description.
pub(super) fn stubs(source: &str, catalog: &Catalog) -> String {
    let is_action = |line: &str| {
        let name = line.trim_start_matches("def ").split('(').next().unwrap_or_default();
        catalog.actions.iter().any(|action| action.name == name.trim())
    };
    let lines: Vec<&str> = source.lines().collect();
    let mut text = String::new();
    let starts = (0..lines.len()).filter(|&at| {
        lines[at].starts_with("def ") && !lines[at].starts_with("def _") && !is_action(lines[at])
    });
    for at in starts.take(STUBS_MAX) {
        let (signature, next) = signature(&lines, at);
        let about = lines.get(next).and_then(|line| description(line));
        let about = about.map(|about| format!("    # {}", text::line(about, STUB_CHARS_MAX)));
        let _ = writeln!(text, "{}{}", text::line(&signature, STUB_CHARS_MAX), about.unwrap_or_default());
    }
    text
}

/// The signature, over as many lines as its brackets need, and the line after it.
fn signature(lines: &[&str], start: usize) -> (String, usize) {
    let mut joined = String::new();
    let mut depth = 0i32;
    for (at, line) in lines.iter().enumerate().skip(start) {
        for character in line.chars() {
            depth += match character {
                '(' | '[' | '{' => 1,
                ')' | ']' | '}' => -1,
                _ => 0,
            };
        }
        joined.push_str(line.trim());
        joined.push(' ');
        if depth <= 0 || at > start + 20 {
            return (joined.trim_end().trim_end_matches(':').to_owned(), at + 1);
        }
    }
    (joined.trim_end().to_owned(), lines.len())
}

fn description(line: &str) -> Option<&str> {
    let inner = line.trim().strip_prefix("\"\"\"").or_else(|| line.trim().strip_prefix("'''"))?;
    let first = inner.trim_end_matches(['"', '\'']).trim();
    (!first.is_empty()).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_become_one_line_each() {
        let source = "import re\n\ndef _own(): pass\n\ndef next_id(\n    tbl,\n    prefix: str = \"T\",\n) -> str:\n    \"\"\"An id that is free.\"\"\"\n    return 1\n\ndef plain(x):\n    return x\n";
        assert_eq!(
            stubs(source, &Catalog::default()),
            "def next_id( tbl, prefix: str = \"T\", ) -> str    # An id that is free.\ndef plain(x)\n"
        );
    }

    #[test]
    fn actions_come_first_with_types_and_what_they_require() {
        let action = r#"{"name": "sell", "words": ["buy"], "description": "Sells items.", "requires": "it is in stock",
            "params": {"item": {"table": "goods"}, "quantity": {"type": "count", "min": 1, "max": 9},
                       "who": {"type": "name", "default": "nobody"}}}"#;
        let mut catalog =
            Catalog { actions: vec![serde_json::from_str(action).unwrap()], ..Catalog::default() };
        let source = "def sell(item, quantity, who):\n    pass\n\ndef look(x):\n    pass\n";
        let api = |catalog: &Catalog| super::api(source, catalog, "tables\n", "writes\n");
        let stub = "sell(item: key of goods, quantity: int 1 to 9, who: str = \"nobody\")    # Sells items. Requires: it is in stock.\n";
        let text = api(&catalog);
        assert!(text.contains(stub) && text.ends_with("\ntables\nwrites\ndef look(x)\n"), "{text}");
        catalog.policy.changes = Changes::Actions;
        let text = api(&catalog);
        assert!(
            text.contains("They are the only way") && text.ends_with("\ntables\ndef look(x)\n"),
            "{text}"
        );
    }
}
