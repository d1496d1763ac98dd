//! The kind `distribution`: whether a column's values are spread as a reference is.
//!
//! Distances (`psi`, `kl`, the statistics of `chi_square` and `ks`) have a `max`; probabilities (`chi_square`, `ks`,
//! `ks_bootstrap`) have a `min_p`. The functions behind the probabilities are written out in `spread/*.py`: the
//! packages that have them are not in every profile.

mod phi;
mod reference;

use ordain_types::{Schema, Table};
use serde_json::{Map, Value};

use super::emit::{Code, column};
use super::literal;
use super::params::{self, CompileError, Params};
use reference::Weights;

const GAMMA: &str = include_str!("spread/gamma.py");
const BETA: &str = include_str!("spread/beta.py");
const KOLMOGOROV: &str = include_str!("spread/kolmogorov.py");
const TESTS: [&str; 6] = ["psi", "kl", "chi_square", "ks", "ks_bootstrap", "cramers_phi"];

/// A column's values are spread as a reference is.
pub(super) fn distribution(
    code: &mut Code,
    params: &mut Params<'_>,
    table: &Table,
    schema: &Schema,
) -> Result<(), CompileError> {
    let name = params.column("column", table)?;
    params.need("test")?;
    let test = params.choice("test", &TESTS)?;
    let limit = Limit::read(params, test)?;
    code.import("import numpy as np");
    code.uses(std::slice::from_ref(&name));
    if test == "cramers_phi" {
        phi::phi(code, params, table, &name)?;
    } else {
        code.line(format!("values = {}.dropna()", column(&name)));
        match test {
            "ks" => kolmogorov(code, params, schema, &limit)?,
            "ks_bootstrap" => bootstrap(code, params, &limit)?,
            _ => weighed(code, params, schema, test, &limit)?,
        }
    }
    code.line(limit.test());
    code.step(format!("measure how far `{name}` is from the reference, by {test}"));
    let summary = format!(
        "the {} of {} by {test} is {{observed if observed is None else format(observed, '.4g')}}; {} expected",
        limit.figure(),
        literal::spoken(&name),
        limit.spoken()
    );
    code.end_with_verdict(&format!("`{name}` must be spread as the reference is"), &summary);
    Ok(())
}

/// What is compared with what.
enum Limit {
    Max(f64),
    MinP(f64),
}

impl Limit {
    fn read(params: &mut Params<'_>, test: &str) -> Result<Self, CompileError> {
        let (max, min_p) = (params.number("max")?, params.number("min_p")?);
        match (max, min_p, test) {
            (Some(max), None, "psi" | "kl" | "chi_square" | "ks" | "cramers_phi") => Ok(Self::Max(max)),
            (None, Some(min_p), "chi_square" | "ks" | "ks_bootstrap") => Ok(Self::MinP(min_p)),
            (_, _, "chi_square" | "ks") => Err(CompileError::param(
                format!("`distribution` by {test} needs one of the parameters `max` and `min_p`"),
                "give the largest distance or the smallest p-value that is allowed",
            )),
            (_, _, "ks_bootstrap") => Err(CompileError::param(
                "`distribution` by ks_bootstrap needs the parameter `min_p`, and no `max`",
                "give the smallest p-value that is allowed",
            )),
            _ => Err(CompileError::param(
                format!("`distribution` by {test} needs the parameter `max`, and no `min_p`"),
                "give the largest distance that is allowed",
            )),
        }
    }

    fn test(&self) -> String {
        match self {
            Self::Max(max) => format!("holds = observed is not None and observed <= {max}"),
            Self::MinP(min_p) => format!("holds = observed > {min_p}"),
        }
    }

    fn figure(&self) -> &'static str {
        match self {
            Self::Max(_) => "distance",
            Self::MinP(_) => "p-value",
        }
    }

    fn spoken(&self) -> String {
        match self {
            Self::Max(max) => format!("at most {max}"),
            Self::MinP(min_p) => format!("above {min_p}"),
        }
    }
}

/// Shares of values or bins against the weights of the reference.
fn weighed(
    code: &mut Code,
    params: &mut Params<'_>,
    schema: &Schema,
    test: &str,
    limit: &Limit,
) -> Result<(), CompileError> {
    let (tail, internal) = (share(params, "tail_weight")?, share(params, "internal_weight")?);
    let reference = params.object("reference")?;
    if let Some(weights) = Weights::read(params, reference)? {
        weights.write(code, tail, internal)?;
    } else {
        column_reference(code, params, schema, reference)?;
        code.line("theirs = reference.value_counts(normalize=True)");
        code.line("shares = values.value_counts(normalize=True)");
        code.line("known = sorted(set(theirs.index) | set(shares.index), key=str)");
        code.line("expected = np.array([theirs.get(value, 0.0) for value in known])");
        code.line("actual = np.array([shares.get(value, 0.0) for value in known])");
    }
    match test {
        "psi" => {
            code.line("# A small share stands for what one side never has.");
            code.line("actual, expected = np.maximum(actual, 1e-6), np.maximum(expected, 1e-6)");
            code.line("observed = float(((actual - expected) * np.log(actual / expected)).sum())");
        }
        "kl" => {
            code.line("seen = actual > 0");
            code.line(
                "# What the reference gives no weight to is infinitely far away: no figure says how far.",
            );
            code.line("is_finite = bool((expected[seen] > 0).all())");
            code.line("expected = expected / expected.sum()");
            code.line("observed = float((actual[seen] * np.log(actual[seen] / np.where(expected[seen] > 0, expected[seen], 1))).sum()) if is_finite else None");
        }
        _ => chi_square(code, limit),
    }
    Ok(())
}

fn chi_square(code: &mut Code, limit: &Limit) {
    if let Limit::MinP(_) = limit {
        code.import("import math");
        code.line(GAMMA.trim_end());
        code.line("");
        code.line("");
    }
    code.line("count = len(values)");
    code.line("is_finite = bool((expected[actual > 0] > 0).all())");
    code.line("weighed = expected > 0");
    code.line("gaps = (actual[weighed] - expected[weighed]) ** 2 / expected[weighed]");
    code.line("statistic = float(count * gaps.sum()) if is_finite else None");
    code.line("# What the reference gives no weight to cannot have come from there.");
    code.line(match limit {
        Limit::MinP(_) => {
            "observed = upper_gamma((len(expected) - 1) / 2, statistic / 2) if is_finite else 0.0"
        }
        Limit::Max(_) => "observed = statistic",
    });
}

/// The largest gap between two cumulative distributions.
fn kolmogorov(
    code: &mut Code,
    params: &mut Params<'_>,
    schema: &Schema,
    limit: &Limit,
) -> Result<(), CompileError> {
    if let Some(known) = params.optional_text("distribution")? {
        known_distribution(code, params, &known)?;
    } else {
        let reference = params.object("reference")?;
        column_reference(code, params, schema, reference)?;
        code.line("grid = np.union1d(values, reference)");
        code.line("ours = np.searchsorted(np.sort(values), grid, side=\"right\") / max(len(values), 1)");
        code.line(
            "theirs = np.searchsorted(np.sort(reference), grid, side=\"right\") / max(len(reference), 1)",
        );
        code.line("gap = float(np.abs(ours - theirs).max()) if len(grid) else 0.0");
        code.line("count = len(values) * len(reference) / max(len(values) + len(reference), 1)");
    }
    match limit {
        Limit::Max(_) => code.line("observed = gap"),
        Limit::MinP(_) => {
            code.line(KOLMOGOROV.trim_end());
            code.line("");
            code.line("");
            code.line("observed = float(kolmogorov(gap, count))");
        }
    }
    Ok(())
}

/// A column against a distribution that has a name.
fn known_distribution(code: &mut Code, params: &mut Params<'_>, known: &str) -> Result<(), CompileError> {
    let given = params.object("parameters")?.clone();
    let number = |name: &str, default: Option<f64>| {
        given.get(name).and_then(Value::as_f64).or(default).ok_or_else(|| {
            params.wrong("parameters", &format!("a record of numbers; `{known}` needs `{name}`"))
        })
    };
    let (loc, scale) = (number("loc", Some(0.0))?, number("scale", Some(1.0))?);
    if scale <= 0.0 {
        return Err(params.wrong("parameters", "a record with a `scale` above zero"));
    }
    let cumulative = match known {
        "norm" => "0.5 * (1 + math.erf(z / math.sqrt(2)))".to_owned(),
        "uniform" => "min(max(z, 0.0), 1.0)".to_owned(),
        "expon" => "1 - math.exp(-max(z, 0.0))".to_owned(),
        "gamma" => format!("1 - upper_gamma({}, max(z, 0.0))", number("a", None)?),
        "chi2" => format!("1 - upper_gamma({}, max(z, 0.0) / 2)", number("df", None)? / 2.0),
        "beta" => {
            format!("lower_beta({}, {}, min(max(z, 0.0), 1.0))", number("a", None)?, number("b", None)?)
        }
        _ => return Err(params.wrong("distribution", "one of norm, uniform, expon, gamma, chi2, beta")),
    };
    code.import("import math");
    for (function, source) in [("upper_gamma", GAMMA), ("lower_beta", BETA)] {
        if cumulative.contains(function) {
            code.line(source.trim_end());
            code.line("");
            code.line("");
        }
    }
    code.line(format!("standard = (np.sort(values) - {loc}) / {scale}"));
    code.line("count = len(standard)");
    code.line(format!("cumulative = np.array([{cumulative} for z in standard])"));
    code.line("after, before = np.arange(1, count + 1) / max(count, 1), np.arange(count) / max(count, 1)");
    code.line("gap = float(max((after - cumulative).max(), (cumulative - before).max())) if count else 0.0");
    Ok(())
}

/// Many small samples of the column, each against bins: how many of them could come from there.
fn bootstrap(code: &mut Code, params: &mut Params<'_>, limit: &Limit) -> Result<(), CompileError> {
    let samples = params.count("samples")?.unwrap_or(1000).clamp(1, 10_000);
    let reference = params.object("reference")?;
    let weights = Weights::read(params, reference)?;
    let Some(Weights::Bins { bins, weights, tails: (0.0, 0.0) }) = weights else {
        return Err(params.wrong("reference", "{\"bins\": […], \"weights\": […]} with ends that are finite"));
    };
    let size = params.count("sample_size")?.unwrap_or(2 * weights.len() as u64).clamp(1, 10_000);
    let Limit::MinP(min_p) = limit else { return Ok(()) };
    code.line(KOLMOGOROV.trim_end());
    code.line("");
    code.line("");
    code.line(format!("bins = np.array({})", reference::numbers(&bins)));
    code.line(format!("steps = np.cumsum([0.0, {}])", reference::listed(&weights)));
    code.line("# The same seed each time, so that the same data give the same answer.");
    code.line("chance = np.random.default_rng(20_240_229)");
    code.line(format!("drawn = np.sort(chance.choice(values.to_numpy(), size=({samples}, {size})), axis=1)"));
    code.line("cumulative = np.interp(drawn, bins, steps)");
    code.line(format!("after, before = np.arange(1, {size} + 1) / {size}, np.arange({size}) / {size}"));
    code.line("gaps = np.maximum((after - cumulative).max(axis=1), (cumulative - before).max(axis=1))");
    code.line(format!("likely = sum(kolmogorov(gap, {size}) >= {min_p} for gap in gaps)"));
    code.line(format!("observed = float((1 + likely) / ({samples} + 1))"));
    Ok(())
}

/// A share that may be left out.
fn share(params: &mut Params<'_>, name: &'static str) -> Result<f64, CompileError> {
    let share = params.number(name)?.unwrap_or(0.0);
    if (0.0..1.0).contains(&share) {
        return Ok(share);
    }
    Err(params.wrong(name, "a share from 0 to below 1"))
}

fn column_reference(
    code: &mut Code,
    params: &Params<'_>,
    schema: &Schema,
    reference: &Map<String, Value>,
) -> Result<(), CompileError> {
    let text = |name: &str| reference.get(name).and_then(Value::as_str);
    let (Some(table), Some(name)) = (text("table"), text("column")) else {
        return Err(params.wrong("reference", "{\"table\": …, \"column\": …}"));
    };
    let other = params::table(schema, table)?;
    params::column_of(other, name)?;
    code.load("other", &other.name);
    code.uses_of(&other.name, &[name.to_owned()]);
    code.line(format!("reference = other[{}].dropna()", literal::text(name)));
    Ok(())
}
