//! From a profile to proposals, one rule for each kind.

use serde_json::{Map, Value, json};

use super::{ColumnProfile, Profile, Suggestion};
use crate::catalogue::{Kind, TYPES};
use crate::check::{Severity, Threshold};
use crate::import::draft;

/// Fewer rows than this show nothing.
const ROWS_MIN: u64 = 10;
/// A list of allowed values is proposed up to this many.
const VALUES_MAX: usize = 12;
/// Proposals for one table.
const SUGGESTIONS_MAX: usize = 1000;

/// Checks that hold on this table now, with what was seen. An empty or very small table shows nothing.
pub fn suggest(profile: &Profile) -> Vec<Suggestion> {
    if profile.rows < ROWS_MIN {
        return Vec::new();
    }
    let mut found = vec![columns_there(profile), enough_rows(profile)];
    for column in &profile.columns {
        found.extend(of_column(profile, column));
    }
    found.extend(references(profile));
    found.extend(orders(profile));
    found.truncate(SUGGESTIONS_MAX);
    found
}

fn propose(
    profile: &Profile,
    column: Option<&str>,
    kind: Kind,
    params: Map<String, Value>,
    evidence: String,
) -> Suggestion {
    Suggestion { check: draft::check(&profile.table, column, kind, params), evidence }
}

fn columns_there(profile: &Profile) -> Suggestion {
    let names: Vec<_> = profile.columns.iter().map(|column| column.name.as_str()).collect();
    let evidence = format!("the table has these {} columns", names.len());
    propose(
        profile,
        None,
        Kind::Schema,
        draft::params([("columns", json!(names)), ("extra", json!("allow"))]),
        evidence,
    )
}

fn enough_rows(profile: &Profile) -> Suggestion {
    let evidence = format!("it has {} rows; half of them is the proposed least", profile.rows);
    propose(
        profile,
        None,
        Kind::RowCount,
        draft::params([("min", json!(profile.rows.div_ceil(2)))]),
        evidence,
    )
}

fn of_column(profile: &Profile, column: &ColumnProfile) -> Vec<Suggestion> {
    let mut found = Vec::new();
    let name = Some(column.name.as_str());
    let there = profile.rows.saturating_sub(column.nulls);
    found.extend(nulls(profile, column));
    if there < ROWS_MIN {
        return found;
    }
    // Points in time that happen to differ are no key.
    let is_key = column.distinct == there
        && matches!(column.column_type.as_str(), "text" | "integer")
        && column.format.as_deref() != Some("date_text");
    if is_key {
        let evidence = format!("all {there} values are different");
        found.push(propose(
            profile,
            name,
            Kind::Unique,
            draft::params([("columns", json!([column.name]))]),
            evidence,
        ));
    }
    if let Some(known) = column.format.as_deref().filter(|format| TYPES.contains(format)) {
        let params = draft::params([("column", json!(column.name)), ("type", json!(known))]);
        found.push(propose(
            profile,
            name,
            Kind::Dtype,
            params,
            format!("all {there} values read as {known}"),
        ));
    } else if let Some(values) = few_values(column, there) {
        let evidence = format!("{there} rows have only these {} values", values.len());
        let params = draft::params([("column", json!(column.name)), ("values", json!(values))]);
        found.push(propose(profile, name, Kind::InSet, params, evidence));
    } else {
        found.extend(bounds(profile, column, there, is_key));
    }
    found
}

fn nulls(profile: &Profile, column: &ColumnProfile) -> Option<Suggestion> {
    let params = draft::params([("columns", json!([column.name]))]);
    let name = Some(column.name.as_str());
    if column.nulls == 0 {
        let evidence = format!("none of {} values is missing", profile.rows);
        return Some(propose(profile, name, Kind::NotNull, params, evidence));
    }
    // Up to a twentieth: more than that is how the column is.
    if column.nulls * 20 > profile.rows {
        return None;
    }
    let percent =
        (1..=10).find(|percent| column.nulls * 100 <= profile.rows * percent).map(|percent| percent * 2)?;
    let evidence =
        format!("{} of {} values are missing; {percent} % is the proposed most", column.nulls, profile.rows);
    let mut suggestion = propose(profile, name, Kind::NotNull, params, evidence);
    suggestion.check.severity = Severity::Low;
    let most = u32::try_from(percent).map_or(100.0, f64::from);
    suggestion.check.fail_if = Some(Threshold { count: None, percent: Some(most) });
    Some(suggestion)
}

/// All different values, if they are few and each is there more than by chance.
fn few_values(column: &ColumnProfile, there: u64) -> Option<&Vec<Value>> {
    let values = column.values.as_ref()?;
    let is_few = (1..=VALUES_MAX).contains(&values.len()) && column.distinct * 5 <= there;
    let is_common = column.rarest.is_some_and(|count| count >= 2);
    (column.column_type == "text" && is_few && is_common).then_some(values)
}

/// Numbers without a sign, and texts of one length.
fn bounds(profile: &Profile, column: &ColumnProfile, there: u64, is_key: bool) -> Option<Suggestion> {
    let name = Some(column.name.as_str());
    match column.column_type.as_str() {
        "integer" | "real" if !is_key => {
            let (least, most) = (column.min.as_ref()?, column.max.as_ref()?);
            let min =
                if least.as_f64()? > 0.0 { json!({"min": 0, "strict_min": true}) } else { json!({"min": 0}) };
            let column = [("column".to_owned(), json!(column.name))];
            let params = column.into_iter().chain(min.as_object().cloned().unwrap_or_default()).collect();
            let evidence = format!("{there} values lie between {least} and {most}");
            (least.as_f64()? >= 0.0).then(|| propose(profile, name, Kind::Range, params, evidence))
        }
        "text" => {
            let (short, long) = (column.length_min?, column.length_max?);
            let evidence = format!("all {there} values have {short} characters");
            let params =
                draft::params([("column", json!(column.name)), ("min", json!(short)), ("max", json!(long))]);
            (short == long && short > 0).then(|| propose(profile, name, Kind::Length, params, evidence))
        }
        _ => None,
    }
}

fn references(profile: &Profile) -> impl Iterator<Item = Suggestion> {
    profile.references.iter().filter(|reference| reference.missing == 0).map(|reference| {
        let references = json!({"table": reference.table, "columns": [reference.other]});
        let params = draft::params([("columns", json!([reference.column])), ("references", references)]);
        let evidence = format!("every value is there in {}.{}", reference.table, reference.other);
        let mut suggestion = propose(profile, Some(&reference.column), Kind::ForeignKey, params, evidence);
        suggestion.check.target_table.push(reference.table.clone());
        suggestion
    })
}

fn orders(profile: &Profile) -> impl Iterator<Item = Suggestion> {
    profile.ordered.iter().filter(|pair| pair.rows >= ROWS_MIN).map(|pair| {
        let params =
            draft::params([("left", json!(pair.left)), ("op", json!("<=")), ("right", json!(pair.right))]);
        let evidence = format!("in {} rows {} is never after {}", pair.rows, pair.left, pair.right);
        propose(profile, Some(&pair.left), Kind::TwoColumns, params, evidence)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(column: &Value) -> Profile {
        serde_json::from_value(json!({"table": "t", "rows": 100, "columns": [column]})).unwrap()
    }

    #[track_caller]
    fn check(column: &Value, expected: &[&str]) {
        let told: Vec<_> = suggest(&profile(column))
            .into_iter()
            .skip(2)
            .map(|it| format!("{} {}: {}", it.check.kind, Value::Object(it.check.params), it.evidence))
            .collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn a_key_is_unique_and_there() {
        check(
            &json!({"name": "id", "type": "integer", "nulls": 0, "distinct": 100, "min": 1, "max": 100}),
            &[
                r#"not_null {"columns":["id"]}: none of 100 values is missing"#,
                r#"unique {"columns":["id"]}: all 100 values are different"#,
            ],
        );
    }

    #[test]
    fn few_values_that_repeat_are_a_set_and_a_rare_one_spoils_it() {
        let column = |rarest: u64| json!({"name": "s", "type": "text", "nulls": 30, "distinct": 2, "values": ["a", "b"], "rarest": rarest, "length_min": 1, "length_max": 3});
        check(&column(5), &[r#"in_set {"column":"s","values":["a","b"]}: 70 rows have only these 2 values"#]);
        check(&column(1), &[]);
    }

    #[test]
    fn a_few_nulls_give_a_share_and_many_give_nothing() {
        let column = |nulls: u64| json!({"name": "n", "type": "real", "nulls": nulls, "distinct": 50, "min": -3, "max": 9});
        check(
            &column(3),
            &[r#"not_null {"columns":["n"]}: 3 of 100 values are missing; 6 % is the proposed most"#],
        );
        check(&column(6), &[]);
    }

    #[test]
    fn numbers_without_a_sign_have_a_bound_and_formats_are_types() {
        check(
            &json!({"name": "p", "type": "real", "nulls": 50, "distinct": 40, "min": 0.5, "max": 9}),
            &[r#"range {"column":"p","min":0,"strict_min":true}: 50 values lie between 0.5 and 9"#],
        );
        check(
            &json!({"name": "e", "type": "text", "nulls": 50, "distinct": 40, "format": "email", "length_min": 5, "length_max": 9}),
            &[r#"dtype {"column":"e","type":"email"}: all 50 values read as email"#],
        );
    }

    #[test]
    fn a_small_table_and_a_hostile_profile_show_nothing() {
        assert_eq!(
            suggest(&Profile {
                rows: 3,
                ..profile(&json!({"name": "x", "type": "", "nulls": 0, "distinct": 0}))
            }),
            []
        );
        // More nulls than rows is a lie; it does no harm.
        let lie = json!({"name": "x", "type": "integer", "nulls": 1_000_000, "distinct": 7, "values": [], "min": "?", "max": null});
        check(&lie, &[]);
    }
}
