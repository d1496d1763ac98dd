//! Follows what has been set on each path, so that a path which leaves something out can be named.

use std::hash::BuildHasher;
use std::rc::Rc;

use ruff_python_ast::{self as ast, BoolOp, CmpOp, Expr, UnaryOp};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxBuildHasher;

/// What holds on the current path besides the values of variables.
#[derive(Debug, Clone)]
pub(crate) struct Facts<'a> {
    /// For each tracked name: the points through which the path came without setting it. Empty: it is set.
    pub(crate) missing: [Rc<[Point<'a>]>; 2],
    /// What `ACTION` and `SHOULD_MUTATE` may have declared.
    pub(crate) declared: Declared,
    /// Writes before anything was declared.
    pub(crate) undeclared: Rc<[TextRange]>,
    /// Writes under a declaration that says nothing is written.
    pub(crate) conflicting: Rc<[TextRange]>,
}

/// Index into [`Facts::missing`].
pub(crate) const ANSWER: usize = 0;
pub(crate) const STATUS: usize = 1;

/// A set of possible declarations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Declared(u8);

impl Declared {
    pub(crate) const NOTHING: Self = Self(1);
    pub(crate) const READ: Self = Self(2);
    pub(crate) const WRITE: Self = Self(4);

    const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A place where the program could have gone another way.
#[derive(Debug, Clone)]
pub(crate) struct Point<'a> {
    pub(crate) kind: PointKind,
    pub(crate) range: TextRange,
    conditions: Rc<[KnownCondition<'a>]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PointKind {
    /// The program never sets it.
    Start,
    /// The branch of a condition that holds.
    Holds,
    /// The branch of a condition that does not hold.
    Fails,
    /// A loop that runs no time.
    NoTurn,
    /// An `except` branch.
    Caught,
    /// A `case` branch.
    Case,
    /// No `case` fits.
    NoCase,
    /// It is set to None.
    SetToNone,
    /// A check's result has no `status`.
    NoStatusKey,
}

/// A condition that is known to hold or not to hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownCondition<'a> {
    pub(crate) left: &'a str,
    pub(crate) test: Test,
    pub(crate) right: &'a str,
    pub(crate) holds: bool,
    /// The condition as a number, because many are compared where paths part.
    key: u64,
}

impl<'a> KnownCondition<'a> {
    fn new(left: &'a str, test: Test, right: &'a str, holds: bool) -> Self {
        let key = FxBuildHasher.hash_one((left, test, right));
        Self { left, test, right, holds, key }
    }
}

/// How the two sides are compared; a negated form is the same test that does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Test {
    /// The left side alone, as `if rows:` tests it.
    Truth,
    Equal,
    Is,
    In,
    Less,
    LessOrEqual,
}

/// More points than a reader wants to be told about one name.
const POINTS_MAX: usize = 12;

impl<'a> Facts<'a> {
    pub(crate) fn at_start() -> Self {
        let start: Rc<[Point<'a>]> = Rc::new([Point::new(PointKind::Start, TextRange::default())]);
        let nothing: Rc<[TextRange]> = Rc::new([]);
        Self {
            missing: [start.clone(), start],
            declared: Declared::NOTHING,
            undeclared: nothing.clone(),
            conflicting: nothing,
        }
    }

    pub(crate) fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.missing.iter_mut().zip(&other.missing) {
            join_points(mine, theirs);
        }
        self.declared = self.declared.or(other.declared);
        join_ranges(&mut self.undeclared, &other.undeclared);
        join_ranges(&mut self.conflicting, &other.conflicting);
    }

    /// `ACTION` or `SHOULD_MUTATE` is set.
    pub(crate) fn declare(&mut self, declared: Declared) {
        self.declared = declared;
        if declared == Declared::READ {
            let undeclared = std::mem::replace(&mut self.undeclared, Rc::new([]));
            join_ranges(&mut self.conflicting, &undeclared);
        } else if !self.conflicting.is_empty() || !self.undeclared.is_empty() {
            self.conflicting = Rc::new([]);
            self.undeclared = Rc::new([]);
        }
    }

    pub(crate) fn write(&mut self, range: TextRange) {
        if self.declared == Declared::READ {
            join_ranges(&mut self.conflicting, &[range]);
        } else if self.declared == Declared::NOTHING {
            join_ranges(&mut self.undeclared, &[range]);
        }
    }

    pub(crate) fn set(&mut self, tracked: usize) {
        if !self.missing[tracked].is_empty() {
            self.missing[tracked] = Rc::new([]);
        }
    }

    pub(crate) fn lack(&mut self, tracked: usize, kind: PointKind, range: TextRange) {
        self.missing[tracked] = Rc::new([Point::new(kind, range)]);
    }

    /// Takes a branch: what is missing is now missing on this branch. Returns the marks that stay as they are if
    /// the branch sets nothing.
    pub(crate) fn enter(
        &mut self,
        kind: PointKind,
        range: TextRange,
        known: &[KnownCondition<'a>],
    ) -> [Rc<[Point<'a>]>; 2] {
        for missing in &mut self.missing {
            if missing.is_empty() {
                continue;
            }
            let possible: Vec<&Point<'a>> =
                missing.iter().filter(|point| !point.contradicts(known)).collect();
            let Some(first) = possible.first() else {
                *missing = Rc::new([]);
                continue;
            };
            // What was known on every way here stays known; the rest is forgotten.
            let stays = |condition: &&KnownCondition<'a>| {
                let is_same =
                    |other: &KnownCondition<'a>| other.key == condition.key && other.holds == condition.holds;
                possible.iter().all(|point| point.conditions.iter().any(is_same))
            };
            let shared = first.conditions.iter().filter(stays);
            let conditions = shared.chain(known).copied().take(POINTS_MAX).collect();
            *missing = Rc::new([Point { kind, range, conditions }]);
        }
        self.missing.clone()
    }
}

impl<'a> Point<'a> {
    fn new(kind: PointKind, range: TextRange) -> Self {
        Self { kind, range, conditions: Rc::new([]) }
    }

    fn contradicts(&self, known: &[KnownCondition<'a>]) -> bool {
        let is_opposite = |mine: &KnownCondition<'a>, other: &KnownCondition<'a>| {
            mine.key == other.key && mine.holds != other.holds
        };
        self.conditions.iter().any(|mine| known.iter().any(|other| is_opposite(mine, other)))
    }
}

fn join_points<'a>(mine: &mut Rc<[Point<'a>]>, theirs: &Rc<[Point<'a>]>) {
    if Rc::ptr_eq(mine, theirs) || theirs.is_empty() {
        return;
    }
    let mut points = mine.to_vec();
    for point in theirs.iter() {
        let is_known = points.iter().any(|known| known.kind == point.kind && known.range == point.range);
        if !is_known && points.len() < POINTS_MAX {
            points.push(point.clone());
        }
    }
    *mine = points.into();
}

fn join_ranges(mine: &mut Rc<[TextRange]>, theirs: &[TextRange]) {
    if theirs.iter().all(|range| mine.contains(range)) {
        return;
    }
    let mut ranges = mine.to_vec();
    ranges.extend(theirs.iter().filter(|range| !mine.contains(range)));
    ranges.truncate(POINTS_MAX);
    *mine = ranges.into();
}

/// What is known once a condition is seen to hold, or not to.
pub(crate) fn known<'a>(test: &'a Expr, holds: bool, source: &'a str) -> Vec<KnownCondition<'a>> {
    let mut list = Vec::new();
    learn(test, holds, source, &mut list);
    list
}

fn learn<'a>(test: &'a Expr, holds: bool, source: &'a str, list: &mut Vec<KnownCondition<'a>>) {
    if list.len() >= POINTS_MAX {
        return;
    }
    match test {
        Expr::UnaryOp(unary) if unary.op == UnaryOp::Not => learn(&unary.operand, !holds, source, list),
        Expr::BoolOp(boolean) if (boolean.op == BoolOp::And) == holds => {
            for value in &boolean.values {
                learn(value, holds, source, list);
            }
        }
        Expr::Compare(compare) if compare.ops.len() == 1 => list.push(comparison(compare, holds, source)),
        Expr::Call(call) if length_of(test).is_some() => {
            let left = slice(&call.arguments.args[0], source);
            list.push(KnownCondition::new(left, Test::Truth, "", holds));
        }
        _ => list.push(KnownCondition::new(slice(test, source), Test::Truth, "", holds)),
    }
}

fn comparison<'a>(compare: &'a ast::ExprCompare, holds: bool, source: &'a str) -> KnownCondition<'a> {
    let right = &compare.comparators[0];
    let (left_text, right_text) = (slice(&compare.left, source), slice(right, source));
    let op = compare.ops[0];
    if let Some(counted) = length_of(&compare.left) {
        let has_some = match (op, right_text) {
            (CmpOp::Gt | CmpOp::NotEq, "0") | (CmpOp::GtE, "1") => Some(true),
            (CmpOp::Eq | CmpOp::LtE, "0") | (CmpOp::Lt, "1") => Some(false),
            _ => None,
        };
        if let Some(has_some) = has_some {
            return KnownCondition::new(slice(counted, source), Test::Truth, "", has_some == holds);
        }
    }
    let (test, is_positive) = match op {
        CmpOp::Eq => (Test::Equal, true),
        CmpOp::NotEq => (Test::Equal, false),
        CmpOp::Is => (Test::Is, true),
        CmpOp::IsNot => (Test::Is, false),
        CmpOp::In => (Test::In, true),
        CmpOp::NotIn => (Test::In, false),
        CmpOp::Lt => (Test::Less, true),
        CmpOp::GtE => (Test::Less, false),
        CmpOp::LtE => (Test::LessOrEqual, true),
        CmpOp::Gt => (Test::LessOrEqual, false),
    };
    KnownCondition::new(left_text, test, right_text, is_positive == holds)
}

/// `rows` in `len(rows)`.
fn length_of(expr: &Expr) -> Option<&Expr> {
    let Expr::Call(call) = expr else { return None };
    let is_len = matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "len");
    (is_len && call.arguments.args.len() == 1).then(|| &call.arguments.args[0])
}

fn slice<'a>(expr: &Expr, source: &'a str) -> &'a str {
    let range = expr.range();
    source.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default()
}
