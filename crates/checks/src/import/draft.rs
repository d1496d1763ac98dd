//! A check in the making, the same for every tool.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{Imported, KeyOf, Unmapped};
use crate::catalogue::Kind;
use crate::check::{Check, Threshold};
use crate::kinds::wrong_params;

/// A check of a kind on a table, with an id that the same rule gets again on the next import.
pub(crate) fn check(table: &str, column: Option<&str>, kind: Kind, params: Map<String, Value>) -> Check {
    let parts = [Some(table), column, Some(kind.name())];
    let id: Vec<String> = parts.into_iter().flatten().map(slug).filter(|part| !part.is_empty()).collect();
    let name = match column {
        Some(column) => format!("{table}.{column}: {}", kind.name().replace('_', " ")),
        None => format!("{table}: {}", kind.name().replace('_', " ")),
    };
    Check { check_name: name, ..Check::new(id.join("."), table, kind, params) }
}

/// A name with only what an id may hold.
pub(super) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for character in text.chars().take(80) {
        if character.is_alphanumeric() || character == '_' || character == '-' {
            slug.push(character);
        } else if !slug.ends_with('_') {
            slug.push('_');
        }
    }
    slug.trim_matches('_').to_owned()
}

/// Gives the second and later checks of the same id a number.
pub(super) fn number_ids(checks: &mut [Check]) {
    let mut taken: HashSet<String> = HashSet::new();
    for check in checks {
        let base = check.check_id.clone();
        let mut number = 1;
        while !taken.insert(check.check_id.clone()) {
            number += 1;
            check.check_id = format!("{base}-{number}");
        }
    }
}

/// A share that may fail, from a share that must pass.
pub(super) fn fail_above(mostly: f64) -> Threshold {
    // 1 - 0.9 is a little less than 0.1; a row on the edge must not fail for that.
    let percent = ((1.0 - mostly) * 100.0 * 1e9).round() / 1e9;
    Threshold { count: None, percent: Some(percent) }
}

/// A map from pairs; nulls are left out.
pub(crate) fn params<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

impl Imported {
    /// Turns off rules that no check can be: a file with one that runs would not be read at all.
    pub(super) fn leave_out_wrong(&mut self) {
        for check in std::mem::take(&mut self.checks) {
            match wrong_params(&check) {
                Some(error) if check.enabled => {
                    let original = json!({ "kind": check.kind, "params": check.params });
                    let place = check.target_table.join(", ");
                    self.turn_off(
                        check.kind.name(),
                        &place,
                        &check.target_table,
                        error.to_string(),
                        &original,
                    );
                }
                _ => self.checks.push(check),
            }
        }
    }

    pub(super) fn leave_out(&mut self, what: &str, place: &str, reason: impl Into<String>) {
        self.unmapped.push(Unmapped {
            what: what.to_owned(),
            place: place.to_owned(),
            reason: reason.into(),
        });
    }

    /// Leaves a rule out that nothing here means: it stands in the file as a check that is turned off, with its own text, so that
    /// nobody takes it for a rule that holds.
    pub(super) fn turn_off(
        &mut self,
        what: &str,
        place: &str,
        tables: &[String],
        reason: impl Into<String>,
        original: &Value,
    ) {
        let reason = reason.into();
        let table = tables.first().map_or(place, String::as_str);
        let place_id = place.split('.').map(slug).collect::<Vec<_>>().join(".");
        let mut check = Check::new(format!("{place_id}.{}", slug(what)), table, Kind::Hint, Map::new());
        check.check_name = format!("{place}: {what}, not carried over");
        check.calculation_hint = Some(original.as_str().map_or_else(|| original.to_string(), str::to_owned));
        check.description.clone_from(&reason);
        check.enabled = false;
        self.checks.push(check);
        self.leave_out(what, place, reason);
    }

    /// Says what became of a key of the source: nothing where `reason` is not there.
    pub(super) fn account(&mut self, place: &str, key: &str, reason: Option<&str>) {
        let (place, key) = (place.to_owned(), key.to_owned());
        self.keys.push(KeyOf {
            place,
            key,
            is_carried_over: reason.is_none(),
            reason: reason.map(str::to_owned),
        });
    }
}
