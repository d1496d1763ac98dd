//! Builders: what a production means. Each gives every meaning that its captures can have; none looks at neighbouring
//! tokens, and each takes all of its captures (see `captures`).

mod amounts;
mod conditions;
mod demands;
mod figures;
pub(crate) mod orders;
mod patterns;
mod predicates;
mod questions;
mod subjects;
mod terms;

use crate::captures::Captures;
use crate::context::Context;
use crate::value::Value;

/// Makes meanings of captures; nothing where they have none.
pub(crate) type Builder = fn(&Context<'_>, &mut Captures) -> Option<Vec<Value>>;

/// The builder of that name.
pub(crate) fn find(name: &str) -> Option<Builder> {
    let all = [
        amounts::BUILDERS,
        terms::BUILDERS,
        conditions::BUILDERS,
        predicates::BUILDERS,
        patterns::BUILDERS,
        subjects::BUILDERS,
        demands::BUILDERS,
        figures::BUILDERS,
        questions::BUILDERS,
        orders::BUILDERS,
    ];
    all.iter().flat_map(|some| some.iter()).find(|(known, _)| *known == name).map(|(_, builder)| *builder)
}

/// One meaning.
#[expect(clippy::unnecessary_wraps, reason = "every builder may have no meaning")]
fn one(value: Value) -> Option<Vec<Value>> {
    Some(vec![value])
}
