//! The parts of conditions.

use super::form::{Cond, Path};

/// The comparisons of a condition.
pub(super) fn parts<'a>(cond: &'a Cond, out: &mut Vec<&'a Cond>) {
    match cond {
        Cond::And(all) | Cond::Or(all) => all.iter().for_each(|one| parts(one, out)),
        Cond::Not(inner) | Cond::Some(_, inner) => parts(inner, out),
        one => out.push(one),
    }
}

pub(super) fn path_of(cond: &Cond) -> Option<&Path> {
    match cond {
        Cond::Cmp(path, ..) | Cond::Days(path, ..) | Cond::Word(path, _) | Cond::Null(path) => Some(path),
        _ => None,
    }
}
