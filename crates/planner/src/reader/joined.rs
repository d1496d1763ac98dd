//! How several conditions hang together: `under 15 from France or Italy`, `not red or white`, `over 10 but below 30`.
//!
//! `or` joins values of one column and nothing else, unless there is nothing else to join: what `red, or cheap and
//! round` means, nobody can tell.

use super::form::{Cond, Op, Operand, Path};
use super::parse::{All, Parser, prune};
use super::token::{Kind, Unit};

/// Conditions in one request.
const CONDITIONS_MAX: usize = 5;
/// Ways to join them that are followed.
const WAYS_MAX: usize = 60;

/// The word, if any, that joins a condition to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// Nothing, a comma or `and`.
    With,
    /// `but`.
    But,
    /// `or`.
    Or,
}

impl Parser<'_> {
    /// Several conditions one after the other, joined by `and`, `or`, a comma or nothing.
    pub(crate) fn conds(&self, place: usize) -> All<Cond> {
        let mut done: All<Cond> = Vec::new();
        let mut open: All<Vec<(Joint, Cond)>> = vec![(Vec::new(), place, 0)];
        while let Some((conds, end, cost)) = open.pop() {
            done.extend(joined(&conds).map(|joined| (joined, end, cost)));
            if conds.len() >= CONDITIONS_MAX || done.len() > WAYS_MAX {
                continue;
            }
            for (next, joint) in self.joints(end, conds.is_empty()) {
                let mut atoms = self.atom(next).to_vec();
                if let Some((_, last)) = conds.last() {
                    atoms.retain(|(cond, after, _)| !self.leans(last, joint, next, cond, *after));
                    // `everything but Art` leaves Art out.
                    atoms.retain(|(cond, ..)| joint != Joint::But || !self.is_name(cond));
                    atoms.extend(self.bounded_again(last, next));
                }
                for (cond, after, more) in atoms {
                    open.push(([conds.clone(), vec![(joint, cond)]].concat(), after, cost + more));
                }
            }
        }
        prune(done)
    }

    /// Where the next condition may begin, and the word that joins it.
    fn joints(&self, end: usize, is_first: bool) -> Vec<(usize, Joint)> {
        let mut next = vec![(end, Joint::With)];
        if is_first {
            return next;
        }
        let comma = self.sign(',', end).unwrap_or(end);
        if let Some(at) = self.one("and", comma) {
            next.push((at, if self.is_but(comma) { Joint::But } else { Joint::With }));
        }
        if comma != end {
            next.push((comma, Joint::With));
        }
        next.extend(self.one("or", comma).map(|at| (at, Joint::Or)));
        next
    }

    /// Whether `but` comes next.
    pub(super) fn is_but(&self, place: usize) -> bool {
        self.tokens.get(self.fill(place)).is_some_and(|token| token.lower == "but")
    }

    /// `not from Hamburg or Gdansk`: further values of the column belong to the same `not`.
    pub(super) fn neither(&self, atoms: &All<Cond>) -> All<Cond> {
        let mut found: All<Cond> = Vec::new();
        let mut open: All<Cond> = atoms.iter().filter(|(cond, ..)| denied(cond).is_some()).cloned().collect();
        while let Some((cond, end, cost)) = open.pop() {
            let Some(path) = denied(&cond).cloned() else { continue };
            for (next, joint) in self.joints(end, false) {
                // A text can hold several words, so `not round and matt` may be said of one that is round.
                let same = |(other, ..): &(Cond, usize, u32)| {
                    named(other).is_some_and(|of| *of == path)
                        && next != end
                        && joint != Joint::But
                        && (joint == Joint::Or || is_value(other).is_some())
                };
                for (other, end, more) in self.bare(next).into_iter().filter(same) {
                    let both = Cond::all(vec![cond.clone(), Cond::Not(Box::new(other))]);
                    found.push((both.clone(), end, cost + more));
                    if found.len() < WAYS_MAX {
                        open.push((both, end, cost + more));
                    }
                }
            }
        }
        found
    }

    /// A value without its column's name: `Gdansk`, `from Gdansk`.
    fn bare(&self, place: usize) -> All<Cond> {
        let mut found = self.value(place);
        for after in self.lex("in", place) {
            found.extend(self.value(after));
        }
        found
    }

    /// Whether a condition says too little to stand for itself after another one: a value after `not` another value,
    /// or a bare number after a bound of something else than the price.
    fn leans(&self, last: &Cond, joint: Joint, next: usize, cond: &Cond, after: usize) -> bool {
        // `hired by Ann Lee`: a status does not say who did it.
        let is_state = |path: &Path| path.hops.is_empty() && self.index.is_state(path.table, path.column);
        let says_by = self.tokens.get(next).is_some_and(|token| token.lower == "by");
        if says_by && matches!(cond, Cond::Some(..)) && is_value(last).is_some_and(is_state) {
            return true;
        }
        if let (Some(path), Some(other)) = (denied(last), named(cond)) {
            let is_bare = self.bare(next).iter().any(|(bare, end, _)| bare == cond && *end == after);
            let is_open = if path == other { joint != Joint::But } else { joint == Joint::Or };
            return is_bare && is_open;
        }
        let is_plain =
            matches!(self.tokens[after - 1].kind, Kind::Number(number) if number.unit == Unit::Plain);
        let begins = || {
            self.op(next).into_iter().any(|(_, end)| self.number(end).is_some_and(|(.., end)| end == after))
        };
        let is_other = matches!((bound(last), bound(cond)), (Some(last), Some(this)) if last != this);
        is_other && is_plain && begins()
    }

    /// `more than 10 bottles but less than 30`: a bare bound after a bound is about the same column.
    fn bounded_again(&self, last: &Cond, place: usize) -> All<Cond> {
        let Some(path) = bound(last) else { return Vec::new() };
        let bounds = self.op(place).into_iter().filter_map(|(op, end)| {
            let (number, lit, end) = self.number(end)?;
            let cond = Cond::Cmp(path.clone(), op, Operand::Lit(lit));
            (number.unit == Unit::Plain).then(|| (cond, self.unit(path, end), 0))
        });
        bounds.collect()
    }
}

/// The conditions as one; none if it is open what `or` joins.
fn joined(conds: &[(Joint, Cond)]) -> Option<Cond> {
    let mut groups: Vec<Vec<Cond>> = Vec::new();
    for (joint, cond) in conds {
        match groups.last_mut() {
            Some(group) if *joint == Joint::Or => group.push(cond.clone()),
            _ => groups.push(vec![cond.clone()]),
        }
    }
    let is_alone = groups.len() == 1;
    let is_clear = |group: &Vec<Cond>| match group.as_slice() {
        [_] => true,
        [first, others @ ..] => {
            let column = column(first);
            let is_one = column.is_some() && others.iter().all(|other| self::column(other) == column);
            is_one || (is_alone && !group.iter().any(Cond::is_always))
        }
        [] => false,
    };
    (!groups.is_empty() && groups.iter().all(is_clear))
        .then(|| Cond::all(alternatives(groups.into_iter().map(Cond::any).collect())))
}

/// `in North and South`: a row has one value in a column, so several values of it are alternatives.
fn alternatives(conds: Vec<Cond>) -> Vec<Cond> {
    let values = |cond: &Cond| match cond {
        Cond::Or(all) if all.iter().all(|one| is_value(one).is_some()) => column(cond).cloned(),
        one => is_value(one).cloned(),
    };
    let mut found: Vec<Cond> = Vec::new();
    for cond in conds {
        let of = values(&cond);
        match found.iter_mut().find(|known| of.is_some() && values(known) == of) {
            Some(known) => {
                let mut all = parts(known);
                all.extend(parts(&cond).into_iter().filter(|one| !parts(known).contains(one)));
                *known = Cond::any(all);
            }
            None => found.push(cond),
        }
    }
    found
}

fn parts(cond: &Cond) -> Vec<Cond> {
    match cond {
        Cond::Or(all) => all.clone(),
        one => vec![one.clone()],
    }
}

/// The one column that a condition is about.
fn column(cond: &Cond) -> Option<&Path> {
    match cond {
        Cond::Cmp(path, ..) | Cond::Days(path, ..) | Cond::Word(path, _) | Cond::Null(path) => Some(path),
        Cond::Not(inner) => column(inner),
        Cond::And(all) | Cond::Or(all) => {
            let first = column(all.first()?);
            first.filter(|_| all.iter().all(|one| column(one) == first))
        }
        Cond::Some(..) => None,
    }
}

/// The column that has a certain value.
fn is_value(cond: &Cond) -> Option<&Path> {
    match cond {
        Cond::Cmp(path, Op::Eq, Operand::Lit(_)) => Some(path),
        _ => None,
    }
}

/// The column that has a certain value, or a certain word in its text.
fn named(cond: &Cond) -> Option<&Path> {
    match cond {
        Cond::Word(path, _) => Some(path),
        other => is_value(other),
    }
}

/// The column that has not a certain value or word, or none of several.
fn denied(cond: &Cond) -> Option<&Path> {
    match cond {
        Cond::Not(inner) => named(inner),
        Cond::And(all) => {
            all.iter().all(|one| matches!(one, Cond::Not(_))).then(|| denied(all.last()?)).flatten()
        }
        _ => None,
    }
}

/// The column that a comparison with a number bounds.
fn bound(cond: &Cond) -> Option<&Path> {
    match cond {
        Cond::Cmp(path, op, Operand::Lit(lit)) if *op != Op::Eq && lit.value.is_number() => Some(path),
        _ => None,
    }
}
