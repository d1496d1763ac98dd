//! The normal form: two meanings are the same if their normal forms are equal.
//!
//! It rewrites only what is the same for every row, also for rows without a value.

use std::collections::BTreeMap;

use crate::algebra::{Calc, Claim, Cond, Demand, Expr, Figure, Op, Path, Scalar};

impl Demand {
    /// The normal form.
    #[must_use]
    pub fn normal(self) -> Self {
        let claim = match self.claim {
            Claim::Every(test) => Claim::Every(test.normal()),
            Claim::Share(test, op, percent) => Claim::Share(test.normal(), op, percent),
            Claim::Bounds(figure, mut bounds) => {
                bounds.sort();
                bounds.dedup();
                let Figure { function, of, mut by } = figure;
                by.sort();
                by.dedup();
                Claim::Bounds(Figure { function, of, by }, bounds)
            }
        };
        Self { table: self.table, when: found(self.when.normal()), claim }
    }
}

impl Cond {
    /// The normal form.
    #[must_use]
    pub fn normal(self) -> Self {
        match self {
            Self::All(all) => joined(all, true),
            Self::Any(any) => joined(any, false),
            Self::Not(inner) => denied(inner.normal()),
            Self::In { column, mut values } => {
                values.sort();
                values.dedup();
                Self::In { column, values }
            }
            Self::Compare { left, op, right } => compared(left.normal(), op, right.normal()),
            Self::Unique(mut columns) => {
                columns.sort();
                columns.dedup();
                Self::Unique(columns)
            }
            Self::Apart { start, end, mut by } => {
                by.sort();
                by.dedup();
                Self::Apart { start, end, by }
            }
            Self::Exists { link, filter, op, count } => {
                let (op, count) = match (op, count) {
                    (Op::Above, count) => (Op::AtLeast, count.saturating_add(1)),
                    (Op::Below, count) => (Op::AtMost, count.saturating_sub(1)),
                    same => same,
                };
                let op = if count == 0 && op == Op::AtMost { Op::Equal } else { op };
                Self::Exists { link, filter: Box::new(found(filter.normal())), op, count }
            }
            other => other,
        }
    }
}

impl Expr {
    /// The normal form.
    #[must_use]
    pub fn normal(self) -> Self {
        let Self::Calc(calc, parts) = self else { return self };
        let mut flat = Vec::new();
        for part in parts.into_iter().map(Self::normal) {
            match part {
                Self::Calc(inner, more) if inner == calc && calc == Calc::Sum => flat.extend(more),
                other => flat.push(other),
            }
        }
        if matches!(calc, Calc::Sum | Calc::Product) {
            flat.sort();
        }
        Self::Calc(calc, flat)
    }
}

/// The value that an equality is about is a list of one; of two columns the first in order stands left.
fn compared(left: Expr, op: Op, right: Expr) -> Cond {
    match (left, op, right) {
        (Expr::Column(column), Op::Equal, Expr::Value(value)) if !matches!(value, Scalar::Day(_)) => {
            Cond::In { column, values: vec![value] }
        }
        (left, op, right) => {
            let turns = op == Op::Equal && right.has_column() && right < left
                || matches!(op, Op::Above | Op::AtLeast) && right.has_column();
            if turns {
                Cond::Compare { left: right, op: op.flipped(), right: left }
            } else {
                Cond::Compare { left, op, right }
            }
        }
    }
}

fn denied(cond: Cond) -> Cond {
    match cond {
        Cond::Not(inner) => *inner,
        Cond::Exists { link, filter, op: Op::AtLeast, count } if count > 0 => {
            Cond::Exists { link, filter, op: Op::AtMost, count: count - 1 }.normal()
        }
        Cond::Exists { link, filter, op: Op::Equal, count: 0 } => {
            Cond::Exists { link, filter, op: Op::AtLeast, count: 1 }
        }
        Cond::Exists { link, filter, op: Op::AtMost, count } => {
            Cond::Exists { link, filter, op: Op::AtLeast, count: count + 1 }
        }
        Cond::Compare { left, op, right } => match op.denied() {
            Some(op) => compared(left, op, right),
            None => Cond::Not(Box::new(Cond::Compare { left, op, right })),
        },
        Cond::All(all) => joined(all.into_iter().map(Cond::denied).collect(), false),
        Cond::Any(any) => joined(any.into_iter().map(Cond::denied).collect(), true),
        other => Cond::Not(Box::new(other)),
    }
}

fn joined(parts: Vec<Cond>, is_all: bool) -> Cond {
    let mut flat = Vec::new();
    for part in parts.into_iter().map(Cond::normal) {
        match part {
            Cond::All(more) if is_all => flat.extend(more),
            Cond::Any(more) if !is_all => flat.extend(more),
            other => flat.push(other),
        }
    }
    let mut flat = listed(flat, is_all);
    flat.sort();
    flat.dedup();
    match (flat.len(), is_all) {
        (1, _) => flat.remove(0),
        (_, true) => Cond::All(flat),
        (_, false) => Cond::Any(flat),
    }
}

/// Several lists of one column are one: `a or b` of allowed values, `neither a nor b` of forbidden ones.
fn listed(parts: Vec<Cond>, is_all: bool) -> Vec<Cond> {
    let mut lists: BTreeMap<Path, Vec<Scalar>> = BTreeMap::new();
    let mut days: BTreeMap<Path, Vec<u8>> = BTreeMap::new();
    let mut rest = Vec::new();
    for part in parts {
        match part {
            Cond::In { column, values } if !is_all => lists.entry(column).or_default().extend(values),
            Cond::Weekday(column, some) if !is_all => days.entry(column).or_default().extend(some),
            Cond::Not(inner) if is_all => match *inner {
                Cond::In { column, values } => lists.entry(column).or_default().extend(values),
                other => rest.push(Cond::Not(Box::new(other))),
            },
            other => rest.push(other),
        }
    }
    rest.extend(lists.into_iter().map(|(column, values)| {
        let list = Cond::In { column, values }.normal();
        if is_all { list.denied() } else { list }
    }));
    rest.extend(days.into_iter().map(|(column, mut some)| {
        some.sort_unstable();
        some.dedup();
        Cond::Weekday(column, some)
    }));
    rest
}

/// Of rows that are looked for, a value that is compared is there.
fn found(cond: Cond) -> Cond {
    let Cond::All(all) = cond else { return cond };
    let is_compared = |path: &Path| {
        all.iter().any(|cond| match cond {
            Cond::Compare { left: Expr::Column(column), .. } | Cond::In { column, .. } => column == path,
            _ => false,
        })
    };
    let is_said = |cond: &&Cond| !matches!(cond, Cond::Not(inner) if matches!(&**inner, Cond::Null(path) if is_compared(path)));
    let rest: Vec<Cond> = all.iter().filter(is_said).cloned().collect();
    if rest.len() == all.len() { cond_of(all) } else { joined(rest, true) }
}

fn cond_of(all: Vec<Cond>) -> Cond {
    Cond::All(all)
}
