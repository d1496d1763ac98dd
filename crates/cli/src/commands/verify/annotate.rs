//! Shows findings under the lines that they speak about.

use std::fmt::Write;

use ordain_verify::{Finding, Severity, Verdict};

/// Whether the reader's terminal takes colours. Everything can be read without them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Colour,
}

/// Columns of source that are shown of one line; the rest is cut around the finding.
const WIDTH_MAX: usize = 120;

/// The whole verdict as text.
pub(super) fn report(file: &str, code: &str, verdict: &Verdict, style: Style) -> String {
    let lines: Vec<&str> = split_lines(code);
    let mut text = String::new();
    for finding in &verdict.findings {
        annotate(&mut text, file, &lines, finding, style);
    }
    if verdict.findings_left_out > 0 {
        let _ = writeln!(text, "and {} more findings", verdict.findings_left_out);
    }
    let errors = verdict.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let warnings = verdict.findings.len() - errors;
    let word =
        if verdict.is_accepted() { paint("accepted", GREEN, style) } else { paint("rejected", RED, style) };
    let _ = writeln!(text, "{word}: {}, {}", count(errors, "error"), count(warnings, "warning"));
    text
}

/// Lines as Python counts them.
fn split_lines(code: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = code.trim_start_matches('\u{feff}');
    while let Some(end) = rest.find(['\n', '\r']) {
        lines.push(&rest[..end]);
        let length = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
        rest = &rest[end + length..];
    }
    lines.push(rest);
    lines
}

fn annotate(text: &mut String, file: &str, lines: &[&str], finding: &Finding, style: Style) {
    let colour = if finding.severity == Severity::Error { RED } else { YELLOW };
    let head = paint(&format!("{}[{}]", finding.severity, finding.code), colour, style);
    let margin = " ".repeat(finding.line.to_string().len());
    let bar = paint("|", BLUE, style);
    let _ = writeln!(text, "{head}: {}", paint(&finding.message, BOLD, style));
    let _ =
        writeln!(text, "{margin}{} {file}:{}:{}", paint("-->", BLUE, style), finding.line, finding.column);
    if let Some(line) = lines.get(finding.line - 1) {
        let (shown, start, length) = window(line, finding);
        let number = paint(&finding.line.to_string(), BLUE, style);
        let carets = paint(&"^".repeat(length), colour, style);
        let _ = writeln!(text, "{margin} {bar}");
        let _ = writeln!(text, "{number} {bar} {shown}");
        let _ = writeln!(text, "{margin} {bar} {}{carets}", " ".repeat(start));
    }
    if let Some(hint) = &finding.hint {
        let _ = writeln!(text, "{margin} {} {}: {hint}", paint("=", BLUE, style), paint("hint", CYAN, style));
    }
    text.push('\n');
}

/// The part of a line around a finding, and where in it, in columns of the terminal, the carets go.
fn window(line: &str, finding: &Finding) -> (String, usize, usize) {
    let from = finding.column - 1;
    // A finding that goes on below is marked to the end of its first line.
    let to = if finding.end_line == finding.line { finding.end_column - 1 } else { usize::MAX };
    // Half a window before the finding, so that what leads to it can be seen.
    let skipped = from.saturating_sub(WIDTH_MAX / 2);
    let mut shown = String::new();
    let (mut start, mut end, mut width) = (None, 0, 0);
    if skipped > 0 {
        shown.push('…');
        width = 1;
    }
    for (index, character) in line.chars().enumerate().skip(skipped) {
        if width >= WIDTH_MAX {
            shown.push('…');
            break;
        }
        if index >= from {
            start.get_or_insert(width);
        }
        width += push(&mut shown, character);
        if index < to {
            end = width;
        }
    }
    let start = start.unwrap_or(width);
    (shown, start, end.saturating_sub(start).max(1))
}

/// Writes a character so that a terminal shows it and nothing more; how many columns it takes.
fn push(text: &mut String, character: char) -> usize {
    match character {
        '\t' => {
            text.push_str("    ");
            4
        }
        _ if character.is_control()
            || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
        {
            text.push('\u{fffd}');
            1
        }
        _ => {
            text.push(character);
            if is_wide(character) { 2 } else { 1 }
        }
    }
}

/// Characters that take two columns: East Asian scripts and pictures.
fn is_wide(character: char) -> bool {
    matches!(u32::from(character),
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60
        | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd)
}

fn count(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

const RED: &str = "1;31";
const GREEN: &str = "1;32";
const YELLOW: &str = "1;33";
const BLUE: &str = "1;34";
const CYAN: &str = "1;36";
const BOLD: &str = "1";

fn paint(text: &str, colour: &str, style: Style) -> String {
    match style {
        Style::Plain => text.to_owned(),
        Style::Colour => format!("\u{1b}[{colour}m{text}\u{1b}[0m"),
    }
}

#[cfg(test)]
mod tests {
    use ordain_verify::{Contract, Policy, Schema, verify};

    use super::*;

    fn shown(code: &str) -> String {
        let verdict = verify(code, &Policy::for_contract(Contract::Exec), &Schema::default());
        report("plan.py", code, &verdict, Style::Plain)
    }

    #[test]
    fn a_finding_stands_under_its_line_with_a_caret_and_a_hint() {
        assert_eq!(
            shown("x = 1\nimport socket\n"),
            "error[blocked-import]: `socket` may not be imported: a cell has no network\n --> plan.py:2:8\n  |\n\
             2 | import socket\n  |        ^^^^^^\n  = hint: give the data as a file or a table\n\n\
             rejected: 1 error, 0 warnings\n"
        );
    }

    #[test]
    fn nothing_found_is_one_line() {
        assert_eq!(shown("print(1)\n"), "accepted: 0 errors, 0 warnings\n");
    }

    #[test]
    fn carets_stand_right_behind_tabs_and_wide_characters() {
        let text = shown("if 1:\n\tx = '漢字'; eval('1')\n");
        assert!(text.contains("2 |     x = '漢字'; eval('1')\n  |                 ^^^^\n"), "{text}");
    }

    #[test]
    fn a_long_line_is_cut_around_the_finding() {
        let text = shown(&format!("x = [{}eval('1'), {}]\n", "1, ".repeat(500), "2, ".repeat(500)));
        assert!(text.lines().all(|line| line.chars().count() < 200), "{text}");
        assert!(text.contains("eval('1')"), "{text}");
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let text = shown("x = '\u{1b}[31m\u{202e}'; eval('1')\r\n\u{c}y = 2\r");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}') && !text.contains('\r'), "{text:?}");
    }

    #[test]
    fn a_finding_behind_the_last_line_is_shown_without_source() {
        assert!(shown("x = (").contains("error[syntax-error]"));
        assert!(shown("").starts_with("accepted"));
    }

    #[test]
    fn colour_wraps_words_and_changes_none() {
        let code = "import socket\n";
        let verdict = verify(code, &Policy::for_contract(Contract::Exec), &Schema::default());
        let coloured = report("p.py", code, &verdict, Style::Colour);
        let mut plain = String::new();
        let mut rest = &coloured[..];
        while let Some(start) = rest.find('\u{1b}') {
            plain.push_str(&rest[..start]);
            rest = rest[start..].split_once('m').map_or("", |(_, after)| after);
        }
        plain.push_str(rest);
        assert_eq!(plain, report("p.py", code, &verdict, Style::Plain));
    }
}
