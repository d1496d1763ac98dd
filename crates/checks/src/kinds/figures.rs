//! Kinds about a figure of the whole table: how many rows, how new, what sum, how far from its own history.

use ordain_types::{Asked, ColumnType, Schema, Table};
use serde_json::{Map, Value};

use super::emit::{Code, column};
use super::params::{self, CompileError, Params};
use super::values::{Bounds, may_hold, points, times, type_words};
use super::{CompiledKind, filter, is_number, literal};

/// Observations that an anomaly needs before it judges.
const LEARNING: u64 = 5;
/// The runs of which a figure is compared with the median, unless the check says otherwise.
const MEDIAN_RUNS: u64 = 14;
/// The most of them: what a run is given of its history.
const RUNS_MAX: u64 = 30;

/// The table has as many rows as it should have.
pub(super) fn row_count(
    code: &mut Code,
    params: &mut Params<'_>,
    table: &Table,
    schema: &Schema,
) -> Result<(), CompileError> {
    if let Some(by) = groups(params, table)? {
        let bounds = Bounds::read(params)?;
        code.line(format!(
            "figures = rows.groupby({}, sort=False, dropna=False).size()",
            literal::names(&by)
        ));
        grouped(code, "number of rows", &by, (&[], &bounds));
        return Ok(());
    }
    code.judges_empty();
    let (min, max) = (params.count("min")?, params.count("max")?);
    let same_as = params.optional_text("same_as")?;
    code.line("observed = len(rows)");
    code.counted_line("observed = counted[\"rows\"]");
    let mut tests = Vec::new();
    let mut wanted = Vec::new();
    for (bound, operator, word) in [(min, ">=", "at least"), (max, "<=", "at most")] {
        if let Some(bound) = bound {
            tests.push(format!("observed {operator} {bound}"));
            wanted.push(format!("{word} {bound}"));
        }
    }
    if let Some(other) = &same_as {
        params::table(schema, other)?;
        code.load("other", other);
        tests.push("observed == len(other)".to_owned());
        wanted.push(format!("as many as table {other}"));
    }
    if tests.is_empty() {
        return Err(CompileError::param(
            "none of `min`, `max` and `same_as` is given",
            "give at least one of them",
        ));
    }
    if same_as.is_none() {
        code.asks(Asked::Filled { column: None, distinct: false });
    }
    code.line_of_both(format!("holds = {}", tests.join(" and ")));
    code.step("count the rows");
    let wanted = wanted.join(" and ");
    let summary = format!("{{observed}} rows; {} expected", literal::spoken(&wanted));
    code.end_with_verdict(&format!("the table must have {wanted} rows"), &summary);
    Ok(())
}

/// The columns by which rows are put together, if there are some.
fn groups(params: &mut Params<'_>, table: &Table) -> Result<Option<Vec<String>>, CompileError> {
    if params.get("by").is_none() { Ok(None) } else { params.columns("by", table).map(Some) }
}

/// Judges the figure of each group: `figures`, by the values of its columns. Rows without such a value are a group too, and
/// the group of a value that cannot be read does not pass.
fn grouped(code: &mut Code, what: &str, by: &[String], (of, bounds): (&[String], &Bounds)) {
    code.uses(by);
    code.step(format!("compute the {what} for each {}", by.join(", ")));
    let unread = code.unread_places(&code.with_choosing(&[of, by].concat()));
    if let Some(places) = &unread {
        let keys: Vec<String> = by.iter().map(|name| column(name)).collect();
        code.import("import pandas as pd");
        code.line(format!("unread = pd.Series(rows.index.isin({places}), index=rows.index)"));
        code.line(format!(
            "unread = unread.groupby([{}], sort=False, dropna=False).any().to_numpy()",
            keys.join(", ")
        ));
    }
    code.line("rows = figures.rename(\"figure\").reset_index()");
    code.line("# A group has no place in the file: it is known by its values.");
    code.line(format!("rows.attrs = {{\"keys\": {}}}", literal::names(by)));
    code.line("judged = rows[\"figure\"].notna()");
    code.line(format!("failing = judged & ~({})", bounds.within("rows[\"figure\"]")));
    let rule = format!("the {what} must be {} for each {}", bounds.spoken(), by.join(", "));
    let failure = format!("(one for each {}) have a {what} that is not {}", by.join(", "), bounds.spoken());
    code.end_with_groups(
        (&rule, &failure),
        "groups",
        &[by, &["figure".to_owned()]].concat(),
        unread.is_some(),
    );
}

/// The newest row is not too old.
pub(super) fn freshness(code: &mut Code, params: &mut Params<'_>, table: &Table) -> Result<(), CompileError> {
    let name = params.column("column", table)?;
    let written = params.text("max_age")?;
    let seconds =
        seconds_of(&written).ok_or_else(|| params.wrong("max_age", "a length of time, such as 36h or 7d"))?;
    if let Some(found) = table.column(&name).filter(|found| found.column_type != ColumnType::Timestamp) {
        let holds = type_words(found.column_type);
        return Err(CompileError::param(
            format!("column `{name}` holds {holds}, and freshness asks for points in time"),
            format!("declare its type under `[data.{}.columns]`, or name another column", table.name),
        ));
    }
    code.import("import pandas as pd");
    code.uses(std::slice::from_ref(&name));
    code.line(format!("newest = {}.max()", times(&column(&name))));
    code.line("age = pd.Timestamp(inputs[\"now\"]) - newest");
    code.line("# A clock elsewhere may be hours ahead; what lies days ahead is no news.");
    code.line("is_ahead = bool(age < -pd.Timedelta(days=1))");
    code.line(format!("holds = bool(age <= pd.Timedelta(seconds={seconds})) and not is_ahead"));
    code.line("observed = str(newest)");
    code.line("told = \"which is in the future\" if is_ahead else f\"{age.round('s')} old\"");
    code.step(format!("find the newest `{name}` and how long ago it was"));
    let summary = format!(
        "the newest {} is {{observed}}, {{told}}; {} is the limit",
        literal::spoken(&name),
        literal::spoken(&written)
    );
    code.end_with_verdict(&format!("the newest `{name}` must be at most {written} old"), &summary);
    Ok(())
}

/// A length of time in seconds; days and weeks too.
pub(super) fn seconds_of(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let number: f64 = text[..end].parse().ok()?;
    let unit = match text[end..].trim() {
        "s" | "sec" | "second" | "seconds" => 1.0,
        "m" | "min" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        "w" | "week" | "weeks" => 604_800.0,
        _ => return None,
    };
    Some(number * unit)
}

/// How each function of `aggregate` computes a figure from `values`, which has no nulls.
const FUNCTIONS: [(&str, &str); 14] = [
    ("min", "values.min()"),
    ("max", "values.max()"),
    ("mean", "values.mean()"),
    ("median", "values.median()"),
    ("sum", "values.sum()"),
    ("stdev", "values.std()"),
    ("count", "len(values)"),
    ("distinct_count", "values.nunique()"),
    ("distinct_share", "values.nunique() / len(values) if len(values) else None"),
    ("null_count", "len(rows) - len(values)"),
    ("null_share", "(len(rows) - len(values)) / len(rows) if len(rows) else None"),
    ("distinct_values", ""),
    ("most_common", ""),
    ("quantiles", ""),
];

/// A figure computed from a column lies between two bounds.
pub(super) fn aggregate(code: &mut Code, params: &mut Params<'_>, table: &Table) -> Result<(), CompileError> {
    let name = params.column("column", table)?;
    params.need("function")?;
    let function = params.choice("function", &FUNCTIONS.map(|(name, _)| name))?;
    code.uses(std::slice::from_ref(&name));
    code.step(format!("compute the {function} of `{name}`"));
    match function {
        "distinct_values" | "most_common" => return sets(code, params, table, (&name, function)),
        "quantiles" => return quantiles(code, params, &name),
        _ => {}
    }
    let bounds = Bounds::read(params)?;
    let by = groups(params, table)?;
    let is_figure = matches!(function, "min" | "max");
    let values = if is_figure || matches!(function, "mean" | "median" | "sum" | "stdev") {
        bounds.comparable(code, table, &name)?
    } else {
        column(&name)
    };
    if let Some(by) = by {
        if !matches!(function, "min" | "max" | "mean" | "median" | "sum" | "count") {
            return Err(CompileError::param(
                format!("`aggregate` does not compute the {function} of groups"),
                "with `by`, use min, max, mean, median, sum or count",
            ));
        }
        code.line(format!("values = {values}"));
        let keys: Vec<String> = by.iter().map(|name| column(name)).collect();
        code.line(format!(
            "figures = values.groupby([{}], sort=False, dropna=False).{function}()",
            keys.join(", ")
        ));
        grouped(code, &format!("{function} of `{name}`"), &by, (std::slice::from_ref(&name), &bounds));
        return Ok(());
    }
    code.line(format!("values = {values}.dropna()"));
    let figure = FUNCTIONS.iter().find(|(known, _)| *known == function).map_or("", |(_, code)| *code);
    code.line(format!("observed = {figure}"));
    if figure.contains("len(") || function == "distinct_count" {
        let counted = [("values.nunique()", "distinct"), ("len(values)", "filled"), ("len(rows)", "rows")];
        let figure = counted.iter().fold(figure.to_owned(), |figure, (usual, name)| {
            figure.replace(usual, &format!("counted[\"{name}\"]"))
        });
        code.counted_line(format!("observed = {figure}"));
        if !bounds.is_time() {
            let distinct = function.starts_with("distinct");
            code.asks(Asked::Filled { column: Some(name.clone()), distinct });
        }
    }
    // Nothing to compute from gives no figure, and no figure lies within no bounds.
    code.line_of_both(format!(
        "holds = observed is not None and bool({})",
        bounds.within("observed").replace(") & (", ") and (")
    ));
    let summary = format!(
        "the {function} of {} is {{observed}}; {} expected",
        literal::spoken(&name),
        literal::spoken(&bounds.spoken())
    );
    code.end_with_verdict(&format!("the {function} of `{name}` must be {}", bounds.spoken()), &summary);
    Ok(())
}

fn sets(
    code: &mut Code,
    params: &mut Params<'_>,
    table: &Table,
    (name, function): (&str, &str),
) -> Result<(), CompileError> {
    let is_time = table.column(name).is_some_and(|column| column.column_type == ColumnType::Timestamp);
    if is_time {
        code.import("import pandas as pd");
        code.line(format!("values = {}.dropna()", times(&column(name))));
    } else {
        code.line(format!("values = {}.dropna()", column(name)));
    }
    if function == "most_common" {
        code.line("counts = values.value_counts()");
        code.line("observed = counts[counts == counts.max()].index.tolist()");
    } else {
        code.line("observed = values.drop_duplicates().tolist()");
    }
    let mut tests = Vec::new();
    for (param, test) in [
        ("subset_of", "all(value in SET for value in observed)"),
        ("contains", "all(value in observed for value in SET)"),
        ("equals", "len(observed) == len(SET) and all(value in SET for value in observed)"),
    ] {
        if params.get(param).is_some() {
            may_hold(name, params.values(param)?, table)?;
            let values = literal::value(&Value::Array(params.values(param)?.to_vec()));
            let values = if is_time { format!("{}.tolist()", points(&values)) } else { values };
            code.line(format!("{param} = {values}"));
            let test = match (function == "most_common" && param == "subset_of", params.flag("ties_okay")?) {
                (false, _) => test,
                (true, true) => "any(value in SET for value in observed)",
                // Of several equally common values none is the most common one.
                (true, false) => "len(observed) <= 1 and all(value in SET for value in observed)",
            };
            tests.push(test.replace("SET", param));
        }
    }
    params.get("ties_okay");
    if tests.is_empty() {
        return Err(CompileError::param(
            "none of `subset_of`, `contains` and `equals` is given",
            "give one of them: a list of values",
        ));
    }
    code.line(format!("holds = {}", tests.join(" and ")));
    code.line(if is_time {
        "observed = [str(one) for one in observed[:20]]"
    } else {
        "observed = observed[:20]"
    });
    let summary = format!("the {} of {}: {{observed}}", function.replace('_', " "), literal::spoken(name));
    code.end_with_verdict(&format!("the {function} of `{name}` must be among the listed"), &summary);
    Ok(())
}

fn quantiles(code: &mut Code, params: &mut Params<'_>, name: &str) -> Result<(), CompileError> {
    let quantiles = params.values("quantiles")?;
    let ranges = params.values("ranges")?;
    let is_pair = |range: &Value| range.as_array().is_some_and(|pair| pair.len() == 2);
    if quantiles.len() != ranges.len() || !ranges.iter().all(is_pair) || quantiles.is_empty() {
        return Err(params.wrong("ranges", "as many [min, max] as there are quantiles"));
    }
    code.line(format!("values = {}.dropna()", column(name)));
    code.line(format!("ranges = {}", literal::value(&Value::Array(ranges.to_vec()))));
    code.line(format!(
        "observed = values.quantile({}, interpolation=\"nearest\").tolist()",
        literal::value(&Value::Array(quantiles.to_vec()))
    ));
    code.line("holds = all(");
    code.line("    (low is None or value >= low) and (high is None or value <= high)");
    code.line("    for value, (low, high) in zip(observed, ranges)");
    code.line(")");
    let summary = format!("the quantiles of {} are {{observed}}", literal::spoken(name));
    code.end_with_verdict(&format!("the quantiles of `{name}` must lie in their ranges"), &summary);
    Ok(())
}

/// A metric does not stand out from its own history, or a value from its column.
pub(super) fn anomaly(code: &mut Code, params: &mut Params<'_>, table: &Table) -> Result<(), CompileError> {
    params.need("metric")?;
    let metric = params.choice("metric", &["row_count", "null_share", "mean", "sum", "z_score"])?;
    let sensitivity = params.number("sensitivity")?.unwrap_or(3.0);
    let two_sided = params.get("two_sided").is_none() || params.flag("two_sided")?;
    if metric == "z_score" {
        let name = params.column("column", table)?;
        code.uses(std::slice::from_ref(&name));
        code.line(format!("values = {}", column(&name)));
        code.line("judged = values.notna()");
        code.line("scores = (values - values.mean()) / values.std()");
        let scores = if two_sided { "scores.abs()" } else { "scores" };
        code.line(format!("failing = judged & ({scores} >= {sensitivity})"));
        code.step(format!("mark the rows whose `{name}` is {sensitivity} standard deviations off"));
        let rule = format!("`{name}` must not stand out by {sensitivity} standard deviations");
        code.end_with_rows(
            &rule,
            &format!("have a value in {name} that stands out"),
            std::slice::from_ref(&name),
        );
        return Ok(());
    }
    let observed = if metric == "row_count" {
        code.judges_empty();
        "len(rows)".to_owned()
    } else {
        let name = params.column("column", table)?;
        code.uses(std::slice::from_ref(&name));
        let values = column(&name);
        match metric {
            "null_share" => format!("float({values}.isna().mean())"),
            other => format!("float({values}.{other}())"),
        }
    };
    let (drop, rise, runs) = (params.number("max_drop")?, params.number("max_rise")?, params.count("runs")?);
    code.import("import statistics");
    code.line(format!("observed = {observed}"));
    if drop.is_some() || rise.is_some() {
        let runs = runs.unwrap_or(MEDIAN_RUNS);
        if !(1..=RUNS_MAX).contains(&runs) {
            let hint = format!("name 1 to {RUNS_MAX} of them");
            return Err(CompileError::param(format!("a median of {runs} runs cannot be had"), hint));
        }
        near_median(code, metric, (drop, rise), runs);
        return Ok(());
    }
    code.line("history = inputs[\"history\"]");
    code.line(format!("is_learning = len(history) < {LEARNING}"));
    code.line("usual = statistics.fmean(history) if history else observed");
    code.line("spread = statistics.stdev(history) if len(history) > 1 else 0.0");
    code.line(format!("limit = {sensitivity} * spread"));
    code.line("if is_learning:");
    code.line("    # Three figures show what is far off, and what is far off must not be learnt.");
    code.line("    limit = max(limit, abs(usual) / 2) if len(history) > 2 else float(\"inf\")");
    code.line("holds = abs(observed - usual) <= limit");
    never_empty(code, metric);
    code.line(format!(
        "state = f\"learning: {{len(history)}} of {LEARNING} runs seen, \" if is_learning else \"\""
    ));
    code.line("state += f\"usually {usual:g} ± {spread:g}\" if history else \"nothing to compare with yet\"");
    code.step(format!("compare the {metric} with its own history"));
    code.end_with_verdict(
        &format!("the {metric} must not stand out from its own history"),
        &format!("the {metric} is {{observed:g}}; {{state}}"),
    );
    code.also("result[\"learning\"] = is_learning and holds");
    Ok(())
}

/// No rows at all are usual only where that was accepted before.
fn never_empty(code: &mut Code, metric: &str) {
    if metric == "row_count" {
        code.line("# No rows at all are usual only where that was accepted before.");
        code.line("holds = holds and (observed > 0 or bool(history) and min(history) == 0)");
    }
}

/// A metric is not too many percent below or above the median of so many earlier runs.
fn near_median(code: &mut Code, metric: &str, (drop, rise): (Option<f64>, Option<f64>), runs: u64) {
    code.line(format!("history = inputs[\"history\"][-{runs}:]"));
    code.line(format!("is_learning = len(history) < {}", runs.min(LEARNING)));
    code.line("usual = statistics.median(history) if history else observed");
    let (mut within, mut wanted) = (Vec::new(), Vec::new());
    for (percent, sign, direction, side) in [(drop, ">=", -1.0, "below"), (rise, "<=", 1.0, "above")] {
        if let Some(percent) = percent {
            within.push(format!("100 * observed {sign} 100 * usual + {} * abs(usual)", direction * percent));
            wanted.push(format!("at most {percent} % {side}"));
        }
    }
    code.line(format!("holds = {}", within.join(" and ")));
    code.line("if is_learning:");
    code.line("    # Three figures show what is far off, and what is far off must not be learnt.");
    code.line("    holds = len(history) < 3 or abs(observed - usual) <= abs(usual) / 2");
    never_empty(code, metric);
    code.line(format!(
        "state = f\"learning: {{len(history)}} of {} runs seen\" if is_learning else f\"the median of {{len(history)}} runs is {{usual:g}}\"",
        runs.min(LEARNING)
    ));
    code.step(format!("compare the {metric} with the median of its history"));
    let wanted = wanted.join(" and ");
    code.end_with_verdict(
        &format!("the {metric} must be {wanted} the median of the last {runs} runs"),
        &format!("the {metric} is {{observed:g}}; {{state}}, {wanted} expected"),
    );
    code.also("result[\"learning\"] = is_learning and holds");
}

/// Two totals agree.
pub(super) fn reconcile_totals(
    params: &mut Params<'_>,
    schema: &Schema,
) -> Result<CompiledKind, CompileError> {
    let mut code = Code::empty();
    let mut spoken = Vec::new();
    code.line("unread = 0");
    for side in ["left", "right"] {
        let given = params.object(side)?;
        spoken.push(total(&mut code, params, schema, side, given)?);
    }
    let tolerance = params.number("tolerance")?.unwrap_or(0.0);
    code.line("difference = left - right");
    // Totals of decimals are off by what floating point rounds.
    code.line("slack = (abs(left) + abs(right)) * 2e-15");
    code.line(format!("holds = bool(abs(difference) <= {tolerance} + slack) and not unread"));
    code.line("told = f\"; {unread} values cannot be read\" if unread else \"\"");
    code.line("observed = [left, right]");
    code.step("compare the two totals");
    let (left, right) = (&spoken[0], &spoken[1]);
    let summary = format!(
        "{} is {{left:g}} and {} is {{right:g}}: {{difference:g}} apart{{told}}",
        literal::spoken(left),
        literal::spoken(right)
    );
    code.end_with_verdict(&format!("{left} must equal {right}"), &summary);
    Ok(code.finish())
}

fn total(
    code: &mut Code,
    params: &Params<'_>,
    schema: &Schema,
    side: &'static str,
    given: &Map<String, Value>,
) -> Result<String, CompileError> {
    const WANTED: &str = "{\"table\": …, \"column\": …, \"function\": \"sum\", \"filter\": …}";
    let text = |name: &str| given.get(name).and_then(Value::as_str);
    let table = params::table(schema, text("table").ok_or_else(|| params.wrong(side, WANTED))?)?;
    let function = text("function").unwrap_or("sum");
    if !["sum", "count", "mean", "min", "max"].contains(&function) {
        return Err(params.wrong(side, "a `function` of sum, count, mean, min or max"));
    }
    code.load(&format!("{side}_rows"), &table.name);
    // A total that leaves values out is none.
    let texts = [text("filter"), text("expression")].into_iter().flatten();
    let mut used: Vec<String> = texts.flat_map(|text| filter::columns(text, table)).collect();
    used.extend(text("column").map(str::to_owned));
    code.line(format!(
        "unread += sum(len({side}_rows.attrs.get(\"misfits\", {{}}).get(name, ())) for name in {})",
        literal::names(&used)
    ));
    if let Some(filter) = text("filter") {
        let rows = format!("{side}_rows");
        code.choose(&rows, &rows, filter, table);
        code.step(format!("keep the rows where {filter}"));
    }
    // One number made of two columns, such as quantity * price.
    if let Some(expression) = text("expression") {
        code.line(format!("{side} = float({side}_rows.eval({}).{function}())", literal::text(expression)));
        code.step(format!("compute the {function} of {expression}"));
        return Ok(format!("the {function} of {expression} in {}", table.name));
    }
    let Some(name) = text("column") else {
        if function == "count" {
            code.line(format!("{side} = len({side}_rows)"));
            return Ok(format!("the number of rows in {}", table.name));
        }
        return Err(params.wrong(side, WANTED));
    };
    params::column_of(table, name)?;
    if function != "count" && !is_number(table, name) {
        let holds = table.column(name).map_or("nothing known", |column| type_words(column.column_type));
        return Err(CompileError::param(
            format!("`{}.{name}` holds {holds}, and a {function} is of numbers", table.name),
            format!("declare its type under `[data.{}.columns]`, or name another column", table.name),
        ));
    }
    code.uses_of(&table.name, &[name.to_owned()]);
    code.line(format!("{side} = float({side}_rows[{}].{function}())", literal::text(name)));
    code.step(format!("compute the {function} of `{name}`"));
    Ok(format!("the {function} of {name} in {}", table.name))
}
