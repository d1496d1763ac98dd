//! Judges texts: what leaked, what was forged, what a reader of log or record could be led to believe.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::evidence::Evidence;
use super::super::observed::Observed;
use super::artifacts::is_bidirectional;
use super::{Holds, none_of};

/// What forgeries are marked with.
const FORGED: &str = "FORGED";
/// Fields of the record that hold what the program itself said.
const OWN_FIELDS: [&str; 6] = ["stdout", "stderr", "error", "values", "notes", "left_behind"];

/// Neither the canary nor the host's account file came out, anywhere.
pub(super) fn holds_nothing_of_the_host(evidence: &Evidence) -> Holds {
    if evidence.canary.is_empty() || evidence.passwd.is_empty() {
        return Err("there is nothing to look for".to_owned());
    }
    let run = &evidence.run;
    let everything = run.everything().chain([("the log", evidence.log.as_slice())]);
    let mut leaks = Vec::new();
    for (place, bytes) in everything {
        if contains(bytes, evidence.canary.as_bytes()) {
            leaks.push(format!("the canary is in {place}"));
        }
        if contains(bytes, &evidence.passwd) {
            leaks.push(format!("the account file is in {place}"));
        }
    }
    // In the record, line breaks are escaped, so its texts are looked at one by one.
    let passwd = String::from_utf8_lossy(&evidence.passwd);
    if texts(&run.record).any(|text| text.contains(&*passwd)) {
        leaks.push("the account file is in the record".to_owned());
    }
    none_of(&leaks, "host content came out")
}

/// Every log line is a record of its own and every character of log and record can be shown.
pub(super) fn is_escaped(evidence: &Evidence) -> Holds {
    let record = std::str::from_utf8(&evidence.run.record_line).map_err(|_| "the record is not UTF-8")?;
    let Some(line) = record.strip_suffix('\n') else { return Err("the record is not a line".to_owned()) };
    if let Some(character) = line.chars().find(|character| character.is_control()) {
        return Err(format!("the record holds a raw {}", character.escape_unicode()));
    }
    if !evidence.run.record.is_object() {
        return Err("the record is not a JSON object".to_owned());
    }
    let log = std::str::from_utf8(&evidence.log).map_err(|_| "the log is not UTF-8")?;
    for line in log.split_terminator('\n') {
        log_line_problem(line, &evidence.run).map_or(Ok(()), Err)?;
    }
    Ok(())
}

fn log_line_problem(line: &str, run: &Observed) -> Option<String> {
    let shown: String = line.escape_debug().take(200).collect();
    if line.chars().any(|character| character.is_control() || is_bidirectional(character)) {
        return Some(format!("a log line holds raw control characters: {shown}"));
    }
    if !serde_json::from_str::<Value>(line).is_ok_and(|record| record.is_object()) {
        return Some(format!("a log line is no record: {shown}"));
    }
    let message = run.record["error"]["message"].as_str().unwrap_or_default();
    let is_programs = run.lines().chain(message.as_bytes().split(|byte| *byte == b'\n')).any(|said| {
        // Short lines say nothing: a program may print `{}` by chance.
        said.len() > 4 && said.trim_ascii() == line.as_bytes()
    });
    is_programs.then(|| format!("a log line is the program's own text: {shown}"))
}

/// No field that the host owns holds the mark of a forgery.
pub(super) fn is_not_forged(record: &Value) -> Holds {
    let Value::Object(fields) = record else { return Err("there is no record".to_owned()) };
    let mut owned = fields.clone();
    owned.retain(|field, _| !OWN_FIELDS.contains(&field.as_str()));
    for list in ["artifacts", "artifacts_refused"] {
        for entry in owned.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            entry.as_object_mut().map(|entry| entry.remove("name"));
        }
    }
    let forged: Vec<String> = owned
        .iter()
        .filter(|(field, value)| field.contains(FORGED) || texts(value).any(|text| text.contains(FORGED)))
        .map(|(field, _)| field.clone())
        .collect();
    none_of(&forged, "the host's own fields hold a forgery")
}

/// Every line `DIFFER name value` of one run has another value in the other.
pub(super) fn differs(first: &Observed, second: &Observed) -> Holds {
    let (first, second) = (differing(first), differing(second));
    if first.is_empty() || !first.keys().eq(second.keys()) {
        return Err("the two runs do not print the same names".to_owned());
    }
    let same: Vec<String> = first
        .iter()
        .filter(|(name, value)| second.get(*name) == Some(value))
        .map(|(name, _)| String::from_utf8_lossy(name).escape_debug().to_string())
        .collect();
    none_of(&same, "values are the same in two cells")
}

fn differing(run: &Observed) -> BTreeMap<&[u8], &[u8]> {
    run.lines()
        .filter_map(|line| line.strip_prefix(b"DIFFER "))
        .map(|rest| {
            let at = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
            rest.split_at(at)
        })
        .collect()
}

/// Every text in a JSON value, keys included.
fn texts(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::String(text) => Box::new(std::iter::once(text.as_str())),
        Value::Array(items) => Box::new(items.iter().flat_map(texts)),
        Value::Object(fields) => {
            Box::new(fields.iter().flat_map(|(key, value)| std::iter::once(key.as_str()).chain(texts(value))))
        }
        _ => Box::new(std::iter::empty()),
    }
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}
