//! Collects findings while code is judged: each once, bounded, in the order of the source.

use std::cell::OnceCell;

use ruff_text_size::TextRange;
use rustc_hash::FxHashSet;

use crate::finding::{Edit, Finding, Replacement, Severity};
use crate::finding_code::FindingCode;
use crate::lines::Lines;

/// A finding that still speaks of byte ranges.
#[derive(Debug)]
pub(crate) struct Draft {
    code: FindingCode,
    severity: Severity,
    range: TextRange,
    message: String,
    hint: Option<String>,
    edit: Option<Edit>,
}

impl Draft {
    pub(crate) fn new(code: FindingCode, range: TextRange, message: impl Into<String>) -> Self {
        let severity = code.severity();
        Self { code, severity, range, message: message.into(), hint: None, edit: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn edit(self, edit: Option<Edit>) -> Self {
        Self { edit, ..self }
    }

    pub(crate) fn at(self, range: TextRange) -> Self {
        Self { range, ..self }
    }

    pub(crate) fn severity(self, severity: Severity) -> Self {
        Self { severity, ..self }
    }
}

/// An edit that replaces one piece of text.
pub(crate) fn replace(title: impl Into<String>, range: TextRange, text: impl Into<String>) -> Edit {
    Edit { title: title.into(), replacements: vec![replacement(range, text)] }
}

pub(crate) fn replacement(range: TextRange, text: impl Into<String>) -> Replacement {
    Replacement { start: range.start().to_usize(), end: range.end().to_usize(), text: text.into() }
}

#[derive(Debug)]
pub(crate) struct Report<'a> {
    source: &'a str,
    lines: OnceCell<Lines>,
    drafts: Vec<Draft>,
    seen: FxHashSet<(FindingCode, TextRange)>,
    /// Errors and warnings are capped apart, so that many warnings never hide an error.
    kept: [usize; 2],
    left_out: usize,
    findings_max: usize,
}

impl<'a> Report<'a> {
    pub(crate) fn new(source: &'a str, findings_max: usize) -> Self {
        Self {
            source,
            lines: OnceCell::new(),
            drafts: Vec::new(),
            seen: FxHashSet::default(),
            kept: [0; 2],
            left_out: 0,
            findings_max: findings_max.max(1),
        }
    }

    /// The source text of a range; empty if the range does not fall on characters.
    pub(crate) fn text(&self, range: TextRange) -> &'a str {
        self.source.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default()
    }

    /// Adds a finding unless the same one was found before (loops and functions are walked more than once).
    pub(crate) fn add(&mut self, draft: Draft) {
        if !self.seen.insert((draft.code, draft.range)) {
            return;
        }
        let kept = &mut self.kept[usize::from(draft.severity == Severity::Warning)];
        if *kept < self.findings_max {
            *kept += 1;
            self.drafts.push(draft);
        } else {
            self.left_out += 1;
        }
    }

    /// Whether one more error would be listed. Ask before costly work on a message; a refusal is counted.
    pub(crate) fn has_room(&mut self) -> bool {
        let has_room = self.kept[0] < self.findings_max;
        self.left_out += usize::from(!has_room);
        has_room
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.kept[0] > 0
    }

    pub(crate) fn finish(mut self) -> (Vec<Finding>, usize) {
        let mut drafts = std::mem::take(&mut self.drafts);
        drafts.sort_by_key(|draft| (draft.range.start(), draft.range.end(), draft.code));
        let findings = drafts.into_iter().map(|draft| self.place(draft)).collect();
        (findings, self.left_out)
    }

    fn place(&self, draft: Draft) -> Finding {
        let (line, column) = self.lines().position(self.source, draft.range.start().to_usize());
        let (end_line, end_column) = self.lines().position(self.source, draft.range.end().to_usize());
        Finding {
            code: draft.code,
            severity: draft.severity,
            line,
            column,
            end_line,
            end_column,
            message: tidy(&draft.message),
            hint: draft.hint.as_deref().map(tidy),
            edit: draft.edit,
        }
    }

    fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::new(self.source))
    }
}

/// Messages quote the source, which may hold anything: control characters are written out, and what is long is
/// cut.
fn tidy(text: &str) -> String {
    if text.len() <= TEXT_MAX && !text.chars().any(is_unsafe) {
        return text.to_owned();
    }
    let mut tidied = String::new();
    for character in text.chars() {
        if tidied.len() > TEXT_MAX {
            tidied.push('…');
            break;
        }
        if is_unsafe(character) {
            tidied.extend(character.escape_default());
        } else {
            tidied.push(character);
        }
    }
    tidied
}

/// Characters that a terminal obeys, or that turn the direction of the text around them.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

const TEXT_MAX: usize = 600;
