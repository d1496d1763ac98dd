//! Words that are a column's name and something else besides: a value of another column (`Delivered`), or the two parts of a
//! name that are said apart (`the queen is not seen`). Grammar decides which one is meant, or nothing is read.

use super::form::{Cond, Lit, Op, Operand, Path};
use super::guard;
use super::index::{Sort, What, split_name};
use super::lexicon::singular;
use super::parse::{All, Parser};
use super::token::Unit;

/// Words after which a noun comes: `no Delivered`, `with a Delivered`.
const BEFORE_NOUNS: [&str; 7] = ["no", "without", "lacking", "missing", "a", "an", "any"];

impl Parser<'_> {
    /// A flag whose name is said in two parts, with `is` or `not` between them.
    pub(super) fn parted(&self, place: usize) -> All<Cond> {
        let mut found: All<Cond> = Vec::new();
        let columns = self.index.tables[self.focus].columns.iter().enumerate();
        for (at, column) in columns {
            let Some((yes, _)) = &column.flag else { continue };
            let yes = Operand::Lit(Lit { value: yes.clone(), at: (0, 0) });
            let said = Cond::Cmp(self.own(at), Op::Eq, yes);
            let words = split_name(&column.name);
            let words = if matches!(words[0].as_str(), "is" | "has" | "was") { &words[1..] } else { &words };
            for cut in 1..words.len() {
                let Some(first) = self.spelled(&words[..cut], place) else { continue };
                // `has not been seen`
                let have = self.one("have", first).and_then(|end| self.one("not", end));
                let denied =
                    have.and_then(|end| self.one("be", end)).map(|end| self.spelled(&words[cut..], end));
                found.extend(denied.flatten().map(|end| (Self::negated(said.clone()), end, 0)));
                let be = self.one("be", first);
                for start in be.into_iter().chain([first]) {
                    let not = self.one("not", start).map(|not| (not, true));
                    let after = not.into_iter().chain((start != first).then_some((start, false)));
                    for (after, is_not) in after {
                        let end = self.spelled(&words[cut..], after);
                        let cond = if is_not { Self::negated(said.clone()) } else { said.clone() };
                        found.extend(end.map(|end| (cond, end, 0)));
                    }
                }
            }
        }
        found
    }

    /// Where some words of a name end that stand at a place.
    fn spelled(&self, words: &[String], place: usize) -> Option<usize> {
        let start = self.fill(place);
        let said = self.tokens.get(start..start + words.len())?;
        let is_same = said.iter().zip(words).all(|(token, word)| token.stem == singular(word));
        is_same.then_some(start + words.len())
    }

    /// The column that words are the whole name of, where they are a value of another column as well.
    fn twofold(&self, place: usize, end: usize) -> Option<(usize, usize)> {
        let mentions = self.mentions(place);
        let named = mentions.iter().find_map(|(what, at, cost)| match what {
            What::Column(table, column) => ((*table, *at, *cost) == (self.focus, end, 0)).then_some(*column),
            _ => None,
        })?;
        let other = mentions.iter().find_map(|(what, at, _)| match what {
            What::Value(table, column, _) => {
                ((*table, *at) == (self.focus, end) && *column != named).then_some(*column)
            }
            _ => None,
        })?;
        Some((named, other))
    }

    /// What is had, where a word for it is a column's name and a value: after `no` and `a` a noun follows, and so the column.
    pub(super) fn had(&self, place: usize, conds: All<Cond>) -> All<Cond> {
        let is_noun = self.follows_no(place);
        let is_kept = |(cond, end, _): &(Cond, usize, u32)| {
            let Some((named, other)) = self.twofold(place, *end) else { return true };
            if !is_noun {
                self.leaves_open(place, named, other);
                return false;
            }
            let mut parts = Vec::new();
            guard::parts(cond, &mut parts);
            parts.into_iter().filter_map(guard::path_of).all(|path| *path == self.own(named))
        };
        conds.into_iter().filter(is_kept).collect()
    }

    /// Whether a noun comes next, and no state: after `no`, `without`, `a`.
    pub(super) fn follows_no(&self, place: usize) -> bool {
        let before = place.checked_sub(1).map(|at| self.tokens[at].lower.as_str());
        before.is_some_and(|word| BEFORE_NOUNS.contains(&word))
    }

    /// Says that a word is a column's name and a value of another one.
    fn leaves_open(&self, place: usize, named: usize, other: usize) {
        let columns = &self.index.tables[self.focus].columns;
        let (token, named, other) = (&self.tokens[self.fill(place)], &columns[named], &columns[other]);
        let (text, name) = (&token.text, split_name(&named.name).join(" "));
        let so = if named.flag.is_some() { "is true" } else { "has a value" };
        let reason = format!(
            "“{text}” is the column {} and a value of {}: say “where {name} {so}”, or “where {} is {text}”",
            named.name,
            other.name,
            split_name(&other.name).join(" ")
        );
        self.trace.leaves_open(token, &reason);
    }

    /// The cost of a flag that is a value of another column as well, so that it is asked which one is meant.
    pub(super) fn flag_cost(&self, place: usize, end: usize, cost: u32) -> u32 {
        let values = self.mentions(place).into_iter().filter_map(|(what, at, more)| match what {
            What::Value(table, ..) if (table, at) == (self.focus, end) => Some(more),
            _ => None,
        });
        values.min().map_or(cost, |value| value.max(cost))
    }

    /// `in 2025`, `before 2025`, of a column that is called `year`: where there are days too, it is asked which.
    pub(super) fn of_year(&self, place: usize) -> All<Cond> {
        let mut found: All<Cond> = Vec::new();
        let columns = self.index.tables[self.focus].columns.iter().enumerate();
        let is_year = |name: &str| {
            let words = split_name(name);
            [words.first(), words.last()].into_iter().flatten().any(|word| word == "year")
        };
        let years = columns.filter(|(_, column)| {
            matches!(column.sort, Sort::Whole | Sort::Number) && is_year(&column.name) && !self.strict
        });
        let classes =
            [("on_day", Op::Eq), ("before", Op::Lt), ("after", Op::Gt), ("since", Op::Ge), ("until", Op::Le)];
        for (at, _) in years {
            for (class, op) in classes {
                for end in self.exact(class, place) {
                    let Some((number, lit, end)) = self.number(end) else { continue };
                    let is_plain = number.unit == Unit::Plain && !number.spelled;
                    if is_plain && (1000.0..3000.0).contains(&number.value) {
                        found.push((Cond::Cmp(self.own(at), op, Operand::Lit(lit)), end, 1));
                    }
                }
            }
        }
        found
    }
}

/// Whether two conditions ask the same, wherever in the request they are said.
fn is_same(one: &Cond, other: &Cond) -> bool {
    let plain = |cond: &Cond| {
        cond.replaced(&mut |cond| match cond {
            Cond::Cmp(path, op, Operand::Lit(lit)) => {
                let lit = Lit { value: lit.value.clone(), at: (0, 0) };
                Some(Cond::Cmp(path.clone(), *op, Operand::Lit(lit)))
            }
            Cond::Days(path, from, until) => {
                let day = |lit: &Lit| Lit { value: lit.value.clone(), at: (0, 0) };
                Some(Cond::Days(path.clone(), day(from), day(until)))
            }
            Cond::Word(path, lit) => {
                let lit = Lit { value: lit.value.clone(), at: (0, 0) };
                Some(Cond::Word(path.clone(), lit))
            }
            _ => None,
        })
    };
    plain(one) == plain(other)
}

/// Two of several conditions that no row meets: one of them is what the other one denies, or a value where there is none.
pub(super) fn contradiction(all: &[Cond]) -> Option<(&Cond, &Cond)> {
    let needs = |cond: &Cond| -> Option<Path> {
        match cond {
            Cond::Cmp(path, ..) | Cond::Days(path, ..) | Cond::Word(path, _) => Some(path.clone()),
            _ => None,
        }
    };
    let denies = |one: &Cond, other: &Cond| match one {
        Cond::Not(inner) => match other {
            Cond::Or(all) => all.iter().all(|other| is_same(inner, other)),
            other => is_same(inner, other),
        },
        Cond::Null(path) => needs(other).as_ref() == Some(path),
        _ => false,
    };
    all.iter().find_map(|one| all.iter().find(|other| denies(one, other)).map(|other| (other, one)))
}
