//! Shows a workspace's helpers as stubs: what they are called with and what they say of themselves.

use std::fmt::Write as _;

use super::text;

/// Helpers beyond these are left out.
const STUBS_MAX: usize = 40;
const STUB_CHARS_MAX: usize = 300;

/// One line for each public function: its signature and the first line of its description.
pub(super) fn stubs(source: &str) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let mut text = String::new();
    let starts =
        (0..lines.len()).filter(|&at| lines[at].starts_with("def ") && !lines[at].starts_with("def _"));
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
            stubs(source),
            "def next_id( tbl, prefix: str = \"T\", ) -> str    # An id that is free.\ndef plain(x)\n"
        );
    }
}
