//! Python as it is read: numbered lines with anchors, coloured by its tokens, findings below the lines they are about.

use std::ops::Range;

use maud::{Markup, html};
use serde_json::Value;

use crate::colours::{Span, spans};
use crate::line_diff::{Line, compare};
use crate::text::{lines, visible};

/// Longer code is cut; the record has it all.
const CODE_BYTES_MAX: usize = 200_000;

/// Code with findings, which are records of the verifier. `anchor` keeps the lines of several programs on a page apart.
pub(crate) fn listing(code: &str, findings: &[Value], anchor: &str) -> Markup {
    let shown = &code[..code.floor_char_boundary(CODE_BYTES_MAX)];
    let spans = spans(shown);
    let mut start = 0;
    let mut rows = Vec::new();
    for (place, line) in shown.split_inclusive('\n').enumerate() {
        let end = start + line.trim_end_matches(['\n', '\r']).len();
        rows.push((place + 1, painted(shown, start..end, &spans)));
        start += line.len();
    }
    let digits = rows.len().to_string().len();
    html! {
        div.code tabindex="0" role="region" aria-label="Python code" {
            ol class={ "lines digits-" (digits) } {
                @for (number, painted) in &rows {
                    li id={ (anchor) "-L" (number) } {
                        a.line-number href={ "#" (anchor) "-L" (number) } aria-label={ "Line " (number) } { (number) }
                        code { (painted) }
                        @for finding in findings.iter().filter(|finding| finding["line"] == *number) { (note(finding)) }
                    }
                }
            }
        }
        @if shown.len() < code.len() { p.muted { "The beginning of a long program." } }
        @for finding in findings.iter().filter(|finding| !is_within(finding, rows.len())) {
            (note(finding))
        }
    }
}

fn is_within(finding: &Value, lines: usize) -> bool {
    finding["line"].as_u64().is_some_and(|line| (1..=lines as u64).contains(&line))
}

fn note(finding: &Value) -> Markup {
    let text = |name: &str| finding[name].as_str().unwrap_or_default();
    html! {
        div.finding.warning[text("severity") == "warning"] {
            code { (visible(text("code"))) } " " span { (visible(text("message"))) }
            @if !text("hint").is_empty() { p.hint { (visible(text("hint"))) } }
        }
    }
}

/// One line, with its coloured pieces. A piece of several lines is cut at their ends.
fn painted(code: &str, line: Range<usize>, spans: &[Span]) -> Markup {
    let first = spans.partition_point(|(span, _)| span.end <= line.start);
    let mut at = line.start;
    let mut pieces: Vec<(Option<&str>, &str)> = Vec::new();
    for (span, class) in spans[first..].iter().take_while(|(span, _)| span.start < line.end) {
        let (start, end) = (span.start.max(at), span.end.min(line.end));
        if start >= end {
            continue;
        }
        pieces.push((None, &code[at..start]));
        pieces.push((Some(class), &code[start..end]));
        at = end;
    }
    pieces.push((None, &code[at.min(line.end)..line.end]));
    html! {
        @for (class, text) in pieces.iter().filter(|(_, text)| !text.is_empty()) {
            @match class {
                Some(class) => { span class=(class) { (lines(text, CODE_BYTES_MAX)) } },
                None => { (lines(text, CODE_BYTES_MAX)) },
            }
        }
    }
}

/// What one version of a text changed against another. Lines far from a change are left out.
pub(crate) fn changed(before: &str, after: &str) -> Markup {
    const AROUND: usize = 3;
    let compared = compare(before, after);
    let is_change = |line: &Line<'_>| !matches!(line, Line::Same(_));
    let near = |place: usize| {
        let (from, to) = (place.saturating_sub(AROUND), (place + AROUND + 1).min(compared.len()));
        compared[from..to].iter().any(is_change)
    };
    html! {
        pre.changed tabindex="0" {
            @for (place, line) in compared.iter().enumerate() {
                @if near(place) {
                    @match line {
                        Line::Same(text) => { span { "  " (lines(text, 2000)) "\n" } },
                        Line::Gone(text) => { del { "- " (lines(text, 2000)) "\n" } },
                        Line::New(text) => { ins { "+ " (lines(text, 2000)) "\n" } },
                    }
                } @else if place > 0 && near(place - 1) { span.muted { "  …\n" } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn code_is_coloured_escaped_and_has_findings_at_their_lines() {
        let finding =
            json!({"code": "unknown-name", "message": "`<b>` is not known", "line": 2, "severity": "error"});
        let page = listing("if True:\n    x = \"<script>\"  # \u{202e}\n", &[finding], "step").into_string();
        assert!(page.contains("<span class=\"k\">if</span> <span class=\"n\">True</span>:"), "{page}");
        assert!(page.contains("<span class=\"s\">&quot;&lt;script&gt;&quot;</span>"), "{page}");
        assert!(page.contains("id=\"step-L2\"") && page.contains("`&lt;b&gt;` is not known"), "{page}");
        assert!(page.contains("\\u{202e}") && !page.contains('\u{202e}'), "{page}");
    }

    #[test]
    fn code_that_does_not_parse_and_strings_over_several_lines_are_shown_whole() {
        let page = listing("x = (\n'''a\nb''' ]\n", &[], "s").into_string();
        let text: String =
            page.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text)).collect();
        assert_eq!(text, "1x = (2'''a3b''' ]");
    }
}
