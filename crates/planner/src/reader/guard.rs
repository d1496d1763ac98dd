//! Conditions of orders: what must be so before a change is made, and of which rows.
//!
//! The subject is found first: the rows that are named, the row of a param (`the customer`, `she`), or the ordered row where
//! no other one is named. What is then said of it must be about that row: the name of a row is never a value of another.

use serde_json::json;

use super::form::{Asked, Cond, Guard, Lit, Op, Operand, Path, Quantity, Select};
use super::index::Index;
use super::lexicon::LEXICON;
use super::parse::Parser;
use super::phrase::{Head, Np};
use super::token::{Kind, Token, Unit};
use super::trace::Trace;

/// Conditions that an order may depend on.
const GUARDS_MAX: usize = 4;

/// `if` or `unless` at the front of tokens: how many, and whether what follows must not hold.
pub(super) fn word(tokens: &[Token]) -> Option<(usize, bool)> {
    let words: Vec<&str> = tokens.iter().take(4).map(|token| token.lower.as_str()).collect();
    let length = |class: &str| LEXICON.matches(class, &words).first().map(|(length, _)| *length);
    length("condition.if")
        .map(|length| (length, false))
        .or_else(|| length("condition.unless").map(|length| (length, true)))
}

/// Everything that must be so for a condition to allow a change; none if it is not certain what is asked.
///
/// `ordered` are the rows that the order itself names.
pub(super) fn read(
    index: &Index,
    tokens: &[Token],
    is_unless: bool,
    ordered: &[Select],
) -> Option<Vec<Guard>> {
    if let Some(guard) = (Reader { index, tokens, ordered }).one(is_unless) {
        return Some(vec![guard]);
    }
    // `unless A or B` asks for neither. What `unless A and B` asks for if one of them is so, nobody can tell.
    let joint = if is_unless { "or" } else { "and" };
    let places = (1..tokens.len()).filter(|at| tokens[*at].lower == joint);
    let mut found = places.filter_map(|at| {
        let comma = usize::from(tokens[at - 1].kind == Kind::Sign(','));
        let first = Reader { index, tokens: &tokens[..at - comma], ordered }.one(is_unless)?;
        let again = word(&tokens[at + 1..]);
        if again.is_some_and(|(_, other)| other != is_unless) {
            return None;
        }
        let rest = &tokens[at + 1 + again.map_or(0, |(length, _)| length)..];
        // After another subject it is open what `it` is.
        let rest = read(index, rest, is_unless, &[])?;
        Some([vec![first], rest].concat())
    });
    let guards = found.next().filter(|guards| guards.len() <= GUARDS_MAX)?;
    found.next().is_none().then_some(guards)
}

/// Reads one clause.
struct Reader<'a> {
    index: &'a Index,
    tokens: &'a [Token],
    ordered: &'a [Select],
}

/// What a clause is about, and where that ends.
struct Subject {
    rows: Select,
    quantity: Quantity,
    /// Whether the clause says which rows, and not the order.
    is_said: bool,
    end: usize,
    cost: u32,
}

impl Reader<'_> {
    /// The only reading, as something that must be so.
    fn one(&self, is_unless: bool) -> Option<Guard> {
        let mut all = self.amounts();
        all.extend(self.said());
        // Of one subject the plainer reading counts; of two subjects none is better than the other.
        let cheapest = |guard: &Guard| {
            let same = all.iter().filter(|(other, _)| is_same_subject(other, guard));
            same.map(|(_, cost)| *cost).min()
        };
        let mut left =
            all.iter().filter(|(guard, cost)| cheapest(guard) == Some(*cost)).map(|(guard, _)| guard);
        let guard = left.next().filter(|_| !self.is_question())?;
        if left.any(|other| other != guard) {
            return None;
        }
        if is_unless { opposite(guard) } else { Some(guard.clone()) }
    }

    fn is_question(&self) -> bool {
        self.tokens.iter().any(|token| token.kind == Kind::Sign('?'))
    }

    /// Everything that is said of some subject.
    fn said(&self) -> Vec<(Guard, u32)> {
        let mut found = Vec::new();
        let trace = Trace::default();
        for table in 0..self.index.tables.len() {
            let parser = self.parser(table, &trace);
            for subject in self.subjects(&parser) {
                let start = parser.sign('\'', subject.end).unwrap_or(subject.end);
                for (cond, end, cost) in parser.conds(start) {
                    if parser.is_end(end) && !cond.is_always() && self.is_about(&parser, &subject, &cond) {
                        found.push((guard(&subject, cond), subject.cost + cost));
                    }
                }
                found.extend(
                    self.there_is(&parser, &subject).map(|cond| (guard(&subject, cond), subject.cost)),
                );
            }
            let of_columns = parser.of_named(0).into_iter().filter(|(.., end, _)| parser.is_end(*end));
            found.extend(
                of_columns.map(|(cond, rows, _, cost)| (Guard { rows, cond, quantity: Quantity::One }, cost)),
            );
        }
        found
    }

    fn parser<'b>(&'b self, table: usize, trace: &'b Trace) -> Parser<'b> {
        Parser { is_condition: true, ..Parser::new(self.index, self.tokens, table, trace) }
    }

    /// What a clause may be about, of one table.
    fn subjects(&self, parser: &Parser<'_>) -> Vec<Subject> {
        let there = self.there(parser);
        let start = there.unwrap_or(0);
        let (denied, start) = self.none_of(start);
        let mut found = Vec::new();
        for (np, end, cost) in
            parser.np(start).iter().filter(|(np, ..)| np.number.is_none() && np.order.is_none())
        {
            let quantity = match () {
                () if np.is_named() && np.conds.len() > 1 => None,
                () if np.is_one() && denied => Some(Quantity::None),
                () if np.is_one() => Some(Quantity::One),
                () if np.is_named() => self.every_named(start, *end, denied),
                () if np.conds.is_empty() || !self.is_filter(np) => None,
                () if denied => Some(Quantity::None),
                () => self.quantity(start, there.is_some()),
            };
            let rows = np.select(parser.focus, Asked::Rows);
            found.extend(quantity.map(|quantity| Subject {
                rows,
                quantity,
                is_said: true,
                end: *end,
                cost: *cost,
            }));
            let is_noun = np.head == Head::Table && np.conds.is_empty() && self.is_definite(start);
            let row = self.ordered_of(parser.focus).filter(|_| is_noun && there.is_none() && !denied);
            found.extend(row.map(|rows| Subject {
                rows,
                quantity: Quantity::One,
                is_said: true,
                end: *end,
                cost: *cost,
            }));
        }
        if !denied {
            found.extend(self.pronouns(parser, there));
        }
        found
    }

    /// `it`, `she`, or nothing: the rows that the order names.
    fn pronouns(&self, parser: &Parser<'_>, there: Option<usize>) -> Vec<Subject> {
        let is_people = self.index.tables[parser.focus].is_people;
        let is_living = self.index.is_living(parser.focus);
        let said = |class: &str| parser.exact(class, 0).into_iter().max();
        let it = said("condition.it").filter(|_| !is_people);
        let person = said("condition.person").filter(|_| is_living);
        let word = it.or(person).or_else(|| said("condition.they"));
        let first = self.tokens.first().map_or("", |token| token.lower.as_str());
        let rows = self.ordered.iter().filter(|rows| rows.table == parser.focus);
        let rows = rows
            .filter_map(|rows| Some(Select { filter: self.index.meant_by(first, rows)?, ..rows.clone() }));
        let ends = [word.map(|end| (end, true)), Some((there.unwrap_or(0), false))];
        rows.flat_map(|rows| ends.into_iter().flatten().map(move |end| (rows.clone(), end)))
            .map(|(rows, (end, is_said))| Subject { rows, quantity: Quantity::One, is_said, end, cost: 0 })
            .collect()
    }

    /// After `there is`, `we have`.
    fn there(&self, parser: &Parser<'_>) -> Option<usize> {
        let first = self.tokens.first().map(|token| token.lower.as_str());
        parser.exact("there", 0).into_iter().max().filter(|_| matches!(first, Some("there" | "we" | "you")))
    }

    /// After `no` and `none of`, and whether one of them is there.
    fn none_of(&self, start: usize) -> (bool, usize) {
        let is = |at: usize, word: &str| self.tokens.get(at).is_some_and(|token| token.lower == word);
        match () {
            () if is(start, "none") && is(start + 1, "of") => (true, start + 2),
            () if is(start, "no") => (true, start + 1),
            () => (false, start),
        }
    }

    /// `Foxglove and Olive`: both of them. Which of `Foxglove or Olive` is open.
    fn every_named(&self, start: usize, end: usize, denied: bool) -> Option<Quantity> {
        let has = |word: &str| self.tokens[start..end].iter().any(|token| token.lower == word);
        (!denied && has("and") && !has("or")).then_some(Quantity::Every)
    }

    /// How many of the rows that a phrase describes: `a fern`, `every fern`. What `ferns are cheap` asks for is open.
    fn quantity(&self, start: usize, is_there: bool) -> Option<Quantity> {
        match self.tokens.get(start).map(|token| token.lower.as_str()) {
            Some("all" | "every" | "each") => Some(Quantity::Every).filter(|_| !is_there),
            Some("a" | "an" | "any") => Some(Quantity::Some),
            _ => is_there.then_some(Quantity::Some),
        }
    }

    fn is_definite(&self, start: usize) -> bool {
        self.tokens.get(start).is_some_and(|token| matches!(token.lower.as_str(), "the" | "this" | "that"))
    }

    /// The only row of a table that the order names.
    fn ordered_of(&self, table: usize) -> Option<Select> {
        let mut rows = self.ordered.iter().filter(|rows| rows.table == table);
        rows.next().filter(|_| rows.next().is_none()).cloned()
    }

    /// `there is a fern`, and nothing after it: one is kept in stock; of what is not kept in stock, there is such a row.
    fn there_is(&self, parser: &Parser<'_>, subject: &Subject) -> Option<Cond> {
        self.there(parser).filter(|_| subject.is_said && parser.is_end(subject.end))?;
        if let Some(column) = parser.role("quantity") {
            let none = Operand::Lit(Lit { value: json!(0), at: (0, 0) });
            return Some(Cond::Cmp(parser.own(column), Op::Gt, none));
        }
        let is_some = matches!(subject.quantity, Quantity::Some | Quantity::None);
        // `unless there are unpaid sales`: all of them, or the customer's?
        let is_theirs =
            |rows: &Select| rows.table != parser.focus && !parser.hops(parser.focus, rows.table).is_empty();
        let is_open = self.ordered.iter().any(is_theirs) && !names_any(self.index, &subject.rows.filter);
        (is_some && !is_open).then(Cond::always)
    }

    /// Whether a condition is one of the subject alone, and certain.
    fn is_about(&self, parser: &Parser<'_>, subject: &Subject, cond: &Cond) -> bool {
        let mut others = Vec::new();
        parts(cond, &mut others);
        let is_named = others.iter().any(|part| names_row(self.index, part));
        let asks_others = cond.asks_others();
        if !asks_others {
            return !is_named;
        }
        // What is joined may be about the row, or about the rows that refer to it.
        let is_alone = match cond {
            Cond::Some(..) => true,
            Cond::Not(inner) => matches!(inner.as_ref(), Cond::Some(..)),
            _ => false,
        };
        let goes_back =
            others.iter().any(|part| path_of(part).is_some_and(|path| path.table == parser.focus));
        let names_words =
            others.iter().any(|part| matches!(part, Cond::Word(..)) && names_row(self.index, part));
        subject.is_said && is_alone && !goes_back && !names_words && !self.has_joint()
    }

    /// Whether a filter is certain: it names no row, or a single one of another table that the rows refer to.
    fn is_filter(&self, np: &Np) -> bool {
        let mut all = Vec::new();
        np.conds.iter().for_each(|cond| parts(cond, &mut all));
        let named = all.iter().filter(|part| names_row(self.index, part)).count();
        // Without the noun, a value is one of the rows' own.
        let is_own =
            np.has_table() || all.iter().all(|part| path_of(part).is_some_and(|path| path.hops.is_empty()));
        let asks_others = np.conds.iter().any(Cond::asks_others);
        is_own && !asks_others && (named == 0 || (named == 1 && !self.has_joint()))
    }

    fn has_joint(&self) -> bool {
        let is_joint = |token: &Token| {
            token.kind == Kind::Sign(',') || matches!(token.lower.as_str(), "and" | "or" | "but" | "nor")
        };
        self.tokens.iter().any(is_joint)
    }

    /// `there are more than 20`, `we have at least 5 Foxglove left`: the amount of the ordered or the named row.
    fn amounts(&self) -> Vec<(Guard, u32)> {
        let mut found = Vec::new();
        let trace = Trace::default();
        for table in 0..self.index.tables.len() {
            let parser = self.parser(table, &trace);
            let (Some(column), Some(start)) = (parser.role("quantity"), self.there(&parser)) else {
                continue;
            };
            for (op, lit, end) in bounds(&parser, start) {
                let named = parser.np(end);
                let named = named.iter().filter(|(np, ..)| np.is_one());
                let named = named.map(|(np, end, cost)| (np.select(table, Asked::Rows), *end, *cost));
                let own =
                    self.ordered.iter().filter(|rows| rows.table == table).map(|rows| (rows.clone(), end, 0));
                for (rows, end, cost) in named.chain(own) {
                    let end = parser.one("stock_yes", end).unwrap_or(end);
                    let cond = Cond::Cmp(parser.own(column), op, Operand::Lit(lit.clone()));
                    if parser.is_end(end) {
                        found.push((Guard { rows, cond, quantity: Quantity::One }, cost));
                    }
                }
            }
        }
        found
    }
}

/// `more than 20`, `20 or more`.
fn bounds(parser: &Parser<'_>, start: usize) -> Vec<(Op, Lit, usize)> {
    let plain = |place: usize| parser.number(place).filter(|(number, ..)| number.unit == Unit::Plain);
    let mut found = Vec::new();
    for (op, end) in parser.op(start) {
        found.extend(plain(end).map(|(_, lit, end)| (op, lit, end)));
    }
    for (class, op) in [("or_less", Op::Le), ("or_more", Op::Ge)] {
        let said = plain(start).and_then(|(_, lit, end)| Some((op, lit, parser.one(class, end)?)));
        found.extend(said);
    }
    found
}

/// What is said of a subject, as something that must be so.
fn guard(subject: &Subject, cond: Cond) -> Guard {
    match subject.quantity {
        quantity @ (Quantity::One | Quantity::Every) => Guard { rows: subject.rows.clone(), cond, quantity },
        quantity => {
            let filter = Cond::all(vec![subject.rows.filter.clone(), cond]);
            Guard { rows: Select { filter, ..subject.rows.clone() }, cond: Cond::always(), quantity }
        }
    }
}

/// That it is not so. Of several rows, of which some may be so and others not, it is open what that means.
fn opposite(guard: &Guard) -> Option<Guard> {
    let cond = match guard.quantity {
        Quantity::One => Cond::Not(Box::new(guard.cond.clone())),
        _ => guard.cond.clone(),
    };
    let quantity = match guard.quantity {
        Quantity::One => Quantity::One,
        Quantity::Some => Quantity::None,
        Quantity::None => Quantity::Some,
        Quantity::Every => return None,
    };
    Some(Guard { cond, quantity, ..guard.clone() })
}

/// Whether two readings are about the same rows: those that are named, or those of a table that are described.
fn is_same_subject(one: &Guard, other: &Guard) -> bool {
    let is_described = matches!(one.quantity, Quantity::Some | Quantity::None);
    one.quantity == other.quantity
        && if is_described { one.rows.table == other.rows.table } else { one.rows == other.rows }
}

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

/// Whether a comparison names a row of some table.
fn names_row(index: &Index, cond: &Cond) -> bool {
    match cond {
        Cond::Cmp(path, Op::Eq, Operand::Lit(_)) | Cond::Word(path, _) => {
            let table = &index.tables[path.table];
            table.label == Some(path.column) || table.key == Some(path.column)
        }
        _ => false,
    }
}

fn names_any(index: &Index, cond: &Cond) -> bool {
    let mut all = Vec::new();
    parts(cond, &mut all);
    all.iter().any(|part| names_row(index, part))
}
