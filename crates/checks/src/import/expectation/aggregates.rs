//! Expectations about figures computed from a column, and about how its values are spread.

use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::{Mapped, NotMapped, invalid};
use crate::catalogue::Kind;
use crate::import::draft::params;

pub(super) fn map(name: &str, arguments: &Arguments<'_>) -> Option<Mapped> {
    let function = match name {
        "column_max_to_be_between" => "max",
        "column_min_to_be_between" => "min",
        "column_mean_to_be_between" => "mean",
        "column_median_to_be_between" => "median",
        "column_sum_to_be_between" => "sum",
        "column_stdev_to_be_between" => "stdev",
        "column_unique_value_count_to_be_between" => "distinct_count",
        "column_proportion_of_unique_values_to_be_between" => "distinct_share",
        "column_proportion_of_non_null_values_to_be_between" => return Some(non_null_share(arguments)),
        "column_distinct_values_to_be_in_set" => return Some(distinct(arguments, "subset_of")),
        "column_distinct_values_to_contain_set" => return Some(distinct(arguments, "contains")),
        "column_distinct_values_to_equal_set" => return Some(distinct(arguments, "equals")),
        "column_most_common_value_to_be_in_set" => return Some(most_common(arguments)),
        "column_quantile_values_to_be_between" => return Some(quantiles(arguments)),
        "column_chisquare_test_p_value_to_be_greater_than" => return Some(chi_square(arguments)),
        "column_kl_divergence_to_be_less_than" => return Some(divergence(arguments)),
        "column_parameterized_distribution_ks_test_p_value_to_be_greater_than" => {
            return Some(known(arguments));
        }
        "column_bootstrapped_ks_test_p_value_to_be_greater_than" => return Some(bootstrapped(arguments)),
        "column_pair_cramers_phi_value_to_be_less_than" => return Some(phi(arguments)),
        _ => return None,
    };
    Some(figure(arguments, function))
}

fn figure(arguments: &Arguments<'_>, function: &str) -> Mapped {
    let (least, most) = arguments.bounds()?;
    Ok((
        Kind::Aggregate,
        params([
            ("column", arguments.column("column")?),
            ("function", json!(function)),
            ("min", least),
            ("max", most),
            ("strict_min", arguments.or_null("strict_min")),
            ("strict_max", arguments.or_null("strict_max")),
        ]),
    ))
}

/// The share that is there is the rest of the share that is not.
fn non_null_share(arguments: &Arguments<'_>) -> Mapped {
    let (least, most) = arguments.bounds()?;
    let rest = |bound: &Value| bound.as_f64().map_or(Value::Null, |share| json!(1.0 - share));
    Ok((
        Kind::Aggregate,
        params([
            ("column", arguments.column("column")?),
            ("function", json!("null_share")),
            ("min", rest(&most)),
            ("max", rest(&least)),
            ("strict_min", arguments.or_null("strict_max")),
            ("strict_max", arguments.or_null("strict_min")),
        ]),
    ))
}

fn distinct(arguments: &Arguments<'_>, relation: &str) -> Mapped {
    Ok((
        Kind::Aggregate,
        params([
            ("column", arguments.column("column")?),
            ("function", json!("distinct_values")),
            (relation, arguments.list("value_set")?),
        ]),
    ))
}

fn most_common(arguments: &Arguments<'_>) -> Mapped {
    Ok((
        Kind::Aggregate,
        params([
            ("column", arguments.column("column")?),
            ("function", json!("most_common")),
            ("subset_of", arguments.list("value_set")?),
            ("ties_okay", arguments.or_null("ties_okay")),
        ]),
    ))
}

fn quantiles(arguments: &Arguments<'_>) -> Mapped {
    let asked = arguments.get("quantile_ranges").and_then(Value::as_object);
    let list = |name: &str| asked.and_then(|asked| asked.get(name)).and_then(Value::as_array).cloned();
    let (Some(quantiles), Some(ranges)) = (list("quantiles"), list("value_ranges")) else {
        return Err(invalid("`quantile_ranges` has no quantiles and ranges"));
    };
    if quantiles.len() != ranges.len() {
        return Err(invalid("`quantile_ranges` has not one range for each quantile"));
    }
    let is_ordered =
        |range: &Value| match (range.get(0).and_then(Value::as_f64), range.get(1).and_then(Value::as_f64)) {
            (Some(least), Some(most)) => least <= most,
            _ => true,
        };
    if !ranges.iter().all(is_ordered) {
        return Err(invalid("`quantile_ranges` has a range whose least is greater than its most"));
    }
    Ok((
        Kind::Aggregate,
        params([
            ("column", arguments.column("column")?),
            ("function", json!("quantiles")),
            ("quantiles", json!(quantiles)),
            ("ranges", json!(ranges)),
        ]),
    ))
}

/// A reference as bins or values with their weights.
fn partition(arguments: &Arguments<'_>) -> Result<Map<String, Value>, NotMapped> {
    let Some(Value::Object(partition)) = arguments.get("partition_object") else {
        return Err(invalid("`partition_object` is missing"));
    };
    let list = |name: &str| partition.get(name).and_then(Value::as_array);
    let weights = list("weights").ok_or_else(|| invalid("`partition_object` has no weights"))?;
    let sum = |list: Option<&Vec<Value>>| list.into_iter().flatten().filter_map(Value::as_f64).sum::<f64>();
    if (sum(Some(weights)) + sum(list("tail_weights")) - 1.0).abs() > 1e-6 {
        return Err(invalid("the weights of `partition_object` do not add up to 1"));
    }
    let expected = match (list("values"), list("bins")) {
        (Some(values), None) => values.len(),
        (None, Some(bins)) => bins.len().saturating_sub(1),
        _ => return Err(invalid("`partition_object` has neither values nor bins")),
    };
    if weights.len() != expected {
        return Err(invalid("`partition_object` has not one weight for each value or bin"));
    }
    Ok(partition.clone())
}

fn chi_square(arguments: &Arguments<'_>) -> Mapped {
    let reference = partition(arguments)?;
    if reference.contains_key("bins") {
        return Err(invalid("`partition_object` has bins; this test is about values"));
    }
    Ok((
        Kind::Distribution,
        params([
            ("column", arguments.column("column")?),
            ("test", json!("chi_square")),
            ("reference", json!(reference)),
            ("min_p", arguments.get("p").cloned().unwrap_or_else(|| json!(0.05))),
            ("tail_weight", arguments.or_null("tail_weight_holdout")),
        ]),
    ))
}

fn divergence(arguments: &Arguments<'_>) -> Mapped {
    let reference = partition(arguments)?;
    let (tail, internal) =
        (arguments.or_null("tail_weight_holdout"), arguments.or_null("internal_weight_holdout"));
    let is_share =
        |value: &Value| value.is_null() || value.as_f64().is_some_and(|share| (0.0..=1.0).contains(&share));
    if !is_share(&tail) || !is_share(&internal) {
        return Err(invalid("a weight held out is not between 0 and 1"));
    }
    if !tail.is_null() && tail.as_f64() != Some(0.0) && reference.contains_key("tail_weights") {
        return Err(invalid("`tail_weight_holdout` does not go with tail weights in `partition_object`"));
    }
    Ok((
        Kind::Distribution,
        params([
            ("column", arguments.column("column")?),
            ("test", json!("kl")),
            ("reference", json!(reference)),
            ("max", arguments.or_null("threshold")),
            ("tail_weight", tail),
            ("internal_weight", internal),
        ]),
    ))
}

fn known(arguments: &Arguments<'_>) -> Mapped {
    Ok((
        Kind::Distribution,
        params([
            ("column", arguments.column("column")?),
            ("test", json!("ks")),
            ("distribution", arguments.or_null("distribution")),
            ("parameters", json!(parameters(arguments)?)),
            ("min_p", arguments.get("p_value").cloned().unwrap_or_else(|| json!(0.05))),
        ]),
    ))
}

/// The parameters of a distribution by our names, whether they are given by name or by place.
fn parameters(arguments: &Arguments<'_>) -> Result<Map<String, Value>, NotMapped> {
    let names: &[(&str, &str)] = match arguments.get("distribution").and_then(Value::as_str) {
        Some("norm") => &[("mean", "loc"), ("std_dev", "scale")],
        // What they call the greatest is the width, and is used so.
        Some("uniform") => &[("min", "loc"), ("max", "scale")],
        Some("expon") => &[("loc", "loc"), ("scale", "scale")],
        Some("gamma") => &[("alpha", "a"), ("loc", "loc"), ("scale", "scale")],
        Some("chi2") => &[("df", "df"), ("loc", "loc"), ("scale", "scale")],
        Some("beta") => &[("alpha", "a"), ("beta", "b"), ("loc", "loc"), ("scale", "scale")],
        _ => return Err(invalid("`distribution` is none of norm, uniform, expon, gamma, chi2 and beta")),
    };
    let given = arguments.get("params");
    let of = |place: usize, name: &str| match given {
        Some(Value::Object(map)) => map.get(name).cloned(),
        Some(Value::Array(list)) => list.get(place).cloned(),
        _ => None,
    };
    let read = names
        .iter()
        .enumerate()
        .filter_map(|(place, (theirs, ours))| Some(((*ours).to_owned(), of(place, theirs)?)));
    Ok(read.collect())
}

fn bootstrapped(arguments: &Arguments<'_>) -> Mapped {
    let reference = partition(arguments)?;
    if reference.contains_key("values") {
        return Err(invalid("`partition_object` has values; this test is about bins"));
    }
    if reference.contains_key("tail_weights") {
        return Err(invalid("`partition_object` has tail weights, which this test cannot use"));
    }
    Ok((
        Kind::Distribution,
        params([
            ("column", arguments.column("column")?),
            ("test", json!("ks_bootstrap")),
            ("reference", json!(reference)),
            ("min_p", arguments.get("p").cloned().unwrap_or_else(|| json!(0.05))),
            ("samples", arguments.or_null("bootstrap_samples")),
            ("sample_size", arguments.or_null("bootstrap_sample_size")),
        ]),
    ))
}

fn phi(arguments: &Arguments<'_>) -> Mapped {
    let bins = params([
        ("left", arguments.or_null("bins_A")),
        ("right", arguments.or_null("bins_B")),
        ("left_count", arguments.or_null("n_bins_A")),
        ("right_count", arguments.or_null("n_bins_B")),
    ]);
    Ok((
        Kind::Distribution,
        params([
            ("column", arguments.column("column_A")?),
            ("other", arguments.column("column_B")?),
            ("test", json!("cramers_phi")),
            ("max", arguments.get("threshold").cloned().unwrap_or_else(|| json!(0.1))),
            ("bins", if bins.is_empty() { Value::Null } else { json!(bins) }),
        ]),
    ))
}
