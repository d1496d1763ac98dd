//! Finds what makes two runs on the same data differ: chance and the clock.

use ruff_python_ast::ExprCall;
use ruff_text_size::{Ranged, TextRange};

use super::Names;
use crate::finding_code::FindingCode;
use crate::report::Draft;

/// What was seen so far. A seed may stand before or after what it seeds in the text.
#[derive(Debug, Default)]
pub(super) struct Chance {
    uses: Vec<Use>,
    random_is_seeded: bool,
    numpy_is_seeded: bool,
}

#[derive(Debug)]
struct Use {
    source: Source,
    path: String,
    range: TextRange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The module `random`, seeded as a whole.
    Random,
    /// `numpy.random`, seeded as a whole.
    Numpy,
    /// Chance that no seed reaches.
    System,
    Clock,
}

pub(super) fn call(names: &mut Names<'_, '_, '_>, call: &ExprCall) {
    let Some(path) = names.path(&call.func) else {
        sample(names, call);
        return;
    };
    let has_seed = !call.arguments.is_empty();
    match path.as_str() {
        "random.seed" => names.chance.random_is_seeded |= has_seed,
        "numpy.random.seed" => names.chance.numpy_is_seeded |= has_seed,
        "random.Random" | "numpy.random.default_rng" | "numpy.random.RandomState" | "numpy.random.PCG64"
            if has_seed => {}
        _ => {
            if let Some(source) = source(&path, call) {
                names.chance.uses.push(Use { source, path, range: call.func.range() });
            }
        }
    }
}

/// Reports what stayed unseeded.
pub(super) fn finish(names: &mut Names<'_, '_, '_>) {
    let chance = std::mem::take(&mut names.chance);
    for found in chance.uses {
        let is_seeded = match found.source {
            Source::Random => chance.random_is_seeded,
            Source::Numpy => chance.numpy_is_seeded,
            Source::System | Source::Clock => false,
        };
        if is_seeded {
            continue;
        }
        names.effects.deterministic = false;
        let path = &found.path;
        let (message, hint) = if found.source == Source::Clock {
            if !names.policy.repeatable {
                continue;
            }
            (
                format!("`{path}` reads the clock: two runs on the same data may differ"),
                "take the time from the data",
            )
        } else if matches!(names.policy.contract, crate::Contract::Exec) {
            continue;
        } else {
            (
                format!("`{path}` is left to chance: two runs on the same data may differ"),
                "give it a seed, or sort and take the first",
            )
        };
        names.report.add(Draft::new(FindingCode::Nondeterministic, found.range, message).hint(hint));
    }
}

/// `frame.sample(…)` without a seed.
fn sample(names: &mut Names<'_, '_, '_>, call: &ExprCall) {
    if let ruff_python_ast::Expr::Attribute(attribute) = &*call.func
        && &attribute.attr == "sample"
        && call.arguments.find_keyword("random_state").is_none()
        // `rng.sample(population, k)` of a seeded generator has two plain arguments.
        && call.arguments.args.len() < 2
    {
        let range = attribute.attr.range();
        names.chance.uses.push(Use { source: Source::System, path: "sample".to_owned(), range });
    }
}

fn source(path: &str, call: &ExprCall) -> Option<Source> {
    if path.starts_with("numpy.random.") {
        return Some(Source::Numpy);
    }
    if path == "random.SystemRandom" || path.starts_with("secrets.") {
        return Some(Source::System);
    }
    if path.starts_with("random.") {
        return Some(Source::Random);
    }
    match path {
        "uuid.uuid1" | "uuid.uuid4" | "os.urandom" => Some(Source::System),
        "sklearn.model_selection.train_test_split" => {
            call.arguments.find_keyword("random_state").is_none().then_some(Source::System)
        }
        "datetime.datetime.now"
        | "datetime.datetime.utcnow"
        | "datetime.datetime.today"
        | "datetime.date.today"
        | "time.time"
        | "time.time_ns"
        | "time.monotonic"
        | "time.perf_counter"
        | "pandas.Timestamp.now"
        | "pandas.Timestamp.today"
        | "pandas.Timestamp.utcnow" => Some(Source::Clock),
        "time.localtime" | "time.gmtime" | "time.ctime" | "time.strftime" => {
            // With a time given they only convert it.
            let given = usize::from(path == "time.strftime");
            (call.arguments.args.len() <= given).then_some(Source::Clock)
        }
        _ => None,
    }
}
