//! Judges what was collected: the kind of files, their names, and what they would do when opened.

use std::path::Path;

use ordain_types::Cause;
use serde_json::Value;

use super::super::evidence::Evidence;
use super::super::listing::{hash, is_core_file};
use super::super::observed::{Collected, Observed};
use super::super::program::Program;
use super::{Holds, looked_at, none_of};

/// Only ordinary files within the limits are collected; what was made and not taken is reported.
pub(super) fn are_refused(program: &Program, run: &Observed) -> Holds {
    let limits = &program.limits;
    if let Some(special) = run.artifacts.iter().find(|artifact| !artifact.is_ordinary) {
        return Err(format!("`{}` is not an ordinary file", shown(special)));
    }
    let bytes: usize = run.artifacts.iter().map(|artifact| artifact.content.len()).sum();
    if bytes as u64 > limits.artifact_bytes || run.artifacts.len() > limits.artifacts as usize {
        return Err(format!("{} files with {bytes} bytes were collected", run.artifacts.len()));
    }
    are_as_recorded(run)?;
    let is_reported = run.cause == Some(Cause::ArtifactLimit) || !run.listed("artifacts_refused").is_empty();
    if run.has_line("MADE") && !is_reported {
        return Err("something was made and neither refused nor reported".to_owned());
    }
    Ok(())
}

/// What the record says of each artifact is true.
fn are_as_recorded(run: &Observed) -> Holds {
    let recorded = run.listed("artifacts");
    if recorded.len() != run.artifacts.len() {
        return Err(format!("{} artifacts are recorded, {} exist", recorded.len(), run.artifacts.len()));
    }
    for artifact in &run.artifacts {
        let is_wrong = |record: &Value| {
            record["bytes"] != artifact.content.len() || record["sha256"] != hash(&artifact.content)
        };
        if record_of(run, artifact).is_none_or(is_wrong) {
            return Err(format!("the record of `{}` is not true", shown(artifact)));
        }
    }
    Ok(())
}

/// Every collected name is plain, in the folder and in the record.
pub(super) fn have_safe_names(run: &Observed) -> Holds {
    let recorded = run.listed("artifacts").iter().map(|record| record["name"].as_str().unwrap_or_default());
    let found = run.artifacts.iter().map(|artifact| artifact.name.as_slice());
    let unsafe_names: Vec<String> = found
        .chain(recorded.map(str::as_bytes))
        .filter(|name| !is_safe_name(name))
        .map(|name| String::from_utf8_lossy(name).escape_debug().to_string())
        .collect();
    none_of(&unsafe_names, "names are not safe")
}

fn is_safe_name(name: &[u8]) -> bool {
    let Ok(name) = std::str::from_utf8(name) else { return false };
    !name.is_empty()
        && name.len() <= 255
        && !name.contains(['/', '\\'])
        && !name.chars().any(|character| character.is_control() || is_bidirectional(character))
        && !name.starts_with('-')
        && !name.chars().all(|character| character == '.' || character.is_whitespace())
}

/// Characters that change the order in which text is read.
pub(super) fn is_bidirectional(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whatever could act when it is opened carries a warning.
pub(super) fn are_flagged(run: &Observed) -> Holds {
    let silent: Vec<String> = run
        .artifacts
        .iter()
        .filter_map(|artifact| Some((artifact, danger(artifact)?)))
        .filter(|(artifact, _)| !has_warning(run, artifact))
        .map(|(artifact, danger)| format!("`{}` {danger}", shown(artifact)))
        .collect();
    none_of(&silent, "files carry no warning")
}

fn has_warning(run: &Observed, artifact: &Collected) -> bool {
    let warnings = record_of(run, artifact).and_then(|record| record["warnings"].as_array());
    warnings.is_some_and(|warnings| !warnings.is_empty())
}

fn record_of<'a>(run: &'a Observed, artifact: &Collected) -> Option<&'a Value> {
    let name = std::str::from_utf8(&artifact.name).ok()?;
    run.listed("artifacts").iter().find(|record| record["name"] == name)
}

/// What opening a file could do, if anything. On purpose not the code that warns, but a second opinion.
fn danger(artifact: &Collected) -> Option<&'static str> {
    let name = String::from_utf8_lossy(&artifact.name).to_lowercase();
    let ending = Path::new(&name).extension().unwrap_or_default().to_str().unwrap_or_default();
    let content = artifact.content.as_slice();
    let lower = content.to_ascii_lowercase();
    let contains = |text: &str| lower.windows(text.len()).any(|window| window == text.as_bytes());
    let is_text = !content.contains(&0);
    match ending {
        "html" | "htm" | "xhtml" | "svg" => Some("is a page or a drawing"),
        "png" if !content.starts_with(b"\x89PNG") => Some("is no PNG"),
        "jpg" | "jpeg" if !content.starts_with(b"\xff\xd8") => Some("is no JPEG"),
        "gif" if !content.starts_with(b"GIF8") => Some("is no GIF"),
        "pdf" if !content.starts_with(b"%PDF") => Some("is no PDF"),
        "xlsx" | "docx" | "pptx" | "zip" if !content.starts_with(b"PK") => Some("is no archive"),
        "csv" | "tsv" if has_formula(content, if ending == "tsv" { b'\t' } else { b',' }) => {
            Some("has a formula")
        }
        _ if is_text && (contains("<script") || contains("<svg") || contains("<html")) => {
            Some("looks like a page")
        }
        _ => None,
    }
}

/// Whether a cell starts like a formula. A signed number does not.
fn has_formula(content: &[u8], separator: u8) -> bool {
    let text = String::from_utf8_lossy(content);
    let cells = text.split(['\n', char::from(separator)]);
    cells.map(|cell| cell.trim().trim_matches('"').trim_start()).any(|cell| match cell.chars().next() {
        Some('=' | '@') => true,
        Some('+' | '-') => cell.len() > 1 && cell.trim_end_matches('%').parse::<f64>().is_err(),
        _ => false,
    })
}

/// No core file is anywhere it could be.
pub(super) fn hold_no_core_file(evidence: &Evidence) -> Holds {
    let mut cores = Vec::new();
    for (before, after) in [looked_at(evidence.files.as_ref())?, looked_at(evidence.cores.as_ref())?] {
        cores.extend(after.core_files_since(before));
    }
    for artifact in &evidence.run.artifacts {
        if is_core_file(&String::from_utf8_lossy(&artifact.name), &artifact.content) {
            cores.push(shown(artifact));
        }
    }
    let left = evidence.run.listed("left_behind").iter().filter_map(Value::as_str);
    cores.extend(left.filter(|name| name.starts_with("core")).map(str::to_owned));
    none_of(&cores, "core files exist")
}

fn shown(artifact: &Collected) -> String {
    String::from_utf8_lossy(&artifact.name).escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_judged_as_a_reader_would_meet_them() {
        for good in ["a.csv", "$(id)", "con.txt", ".hidden", "Größe.png", "..%2f..%2fetc"] {
            assert!(is_safe_name(good.as_bytes()), "{good}");
        }
        let long = "x".repeat(256);
        for bad in ["", "a/b", "a\\b", "-rf", "..", ". .", " ", "a\nb", "\u{1b}[2J", "\u{202e}gnp.exe", &long]
        {
            assert!(!is_safe_name(bad.as_bytes()), "{bad:?}");
        }
        assert!(!is_safe_name(b"\xff\xfe"));
    }

    #[test]
    fn dangers_are_seen_by_name_and_by_content() {
        let file = |name: &str, content: &[u8]| Collected {
            name: name.as_bytes().to_vec(),
            is_ordinary: true,
            content: content.to_vec(),
        };
        for (name, content) in [
            ("p.svg", &b"<svg/>"[..]),
            ("p.HTML", b"hello"),
            ("p.png", b"<script>alert(1)</script>"),
            ("notes.txt", b"see <SCRIPT>"),
            ("r.csv", b"a,=1+1\n"),
            ("r.csv", b"\t=1+1\n"),
            ("r.csv", b"-2+3\n"),
            ("r.csv", b"\"@SUM(1)\"\n"),
            ("r.tsv", b"a\t+cmd|x\n"),
            ("r.xlsx", b"<html>"),
        ] {
            assert!(danger(&file(name, content)).is_some(), "{name}");
        }
        for (name, content) in [
            ("r.csv", &b"a,b\n1,-2.5\n\"-4\",+3%\n"[..]),
            ("p.png", b"\x89PNG\r\n\x1a\n\0\0"),
            ("data.bin", b"\0<script"),
            ("notes.txt", b"a < b"),
        ] {
            assert_eq!(danger(&file(name, content)), None, "{name}");
        }
    }
}
