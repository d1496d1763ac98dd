//! Conditions: how words say which rows are meant.

use std::rc::Rc;

use serde_json::json;

use super::form::{Cond, Lit, Op, Operand, Order, Path};
use super::index::{Sort, What, split_name};
use super::lexicon::{LEXICON, verb_forms};
use super::parse::{All, Parser, as_json, prune};
use super::token::{Kind, Number, Unit, month_in, month_of};
use super::trace::Naming;

/// Of more years than this a month without its year is not asked about.
const YEARS_MAX: u32 = 5;

impl Parser<'_> {
    /// One condition, with the little words before it.
    pub(crate) fn atom(&self, place: usize) -> Rc<All<Cond>> {
        if let Some(known) = self.atoms.borrow().get(&place) {
            return known.clone();
        }
        // A condition within a condition at the same place would go round in circles.
        self.atoms.borrow_mut().insert(place, Rc::default());
        let mut found: All<Cond> = Vec::new();
        for (start, negated) in self.starts(place) {
            for (cond, end, cost) in self.base(start) {
                let cond = if negated { Self::negated(cond) } else { cond };
                found.push((cond, end, cost));
            }
        }
        found.retain(|(cond, end, _)| !self.is_of_past(place, *end, cond));
        found.extend(self.neither(&found));
        let found = Rc::new(prune(found));
        self.atoms.borrow_mut().insert(place, found.clone());
        found
    }

    /// `never hired`, `ever in stock`: a column says what is so now, and not whether it has ever been so.
    pub(super) fn is_of_past(&self, place: usize, end: usize, cond: &Cond) -> bool {
        let said = if let Cond::Not(inner) = cond { inner.as_ref() } else { cond };
        let Cond::Cmp(path, _, operand) = said else { return false };
        // A flag keeps what has happened: `never paid`.
        let is_flag = self.index.tables[path.table].columns[path.column].flag.is_some();
        let value = if let Operand::Lit(lit) = operand { lit.at } else { (0, 0) };
        let others =
            self.tokens[place..end].iter().filter(|token| token.at.1 <= value.0 || token.at.0 >= value.1);
        !is_flag && others.into_iter().any(|token| matches!(token.lower.as_str(), "never" | "ever"))
    }

    /// The opposite of a condition. What is not known is neither above a bound nor at most the bound.
    pub(super) fn negated(cond: Cond) -> Cond {
        match cond {
            Cond::Not(inner) => *inner,
            Cond::Cmp(path, op, operand) if op != Op::Eq => {
                let op = match op {
                    Op::Lt => Op::Ge,
                    Op::Le => Op::Gt,
                    Op::Gt => Op::Le,
                    Op::Ge | Op::Eq => Op::Lt,
                };
                Cond::Cmp(path, op, operand)
            }
            other => Cond::Not(Box::new(other)),
        }
    }

    /// Where a condition may begin after `that`, `are`, `not`, and whether it is negated.
    fn starts(&self, place: usize) -> Vec<(usize, bool)> {
        let mut found = vec![(place, false)];
        let mut at = 0;
        while at < found.len() && found.len() < 24 {
            let (start, negated) = found[at];
            for class in ["that", "be", "do", "not"] {
                for end in self.lex(class, start) {
                    let next = (end, negated != (class == "not"));
                    let twice = class == "not" && negated;
                    if !twice && !found.contains(&next) {
                        found.push(next);
                    }
                }
            }
            // `have not been returned`: here `have` says nothing.
            if let Some(end) = self.one("have", start)
                && let Some(end) = self.one("not", end)
                && self.one("be", end).is_some()
                && !negated
            {
                found.push((end, true));
            }
            at += 1;
        }
        found
    }

    fn base(&self, place: usize) -> All<Cond> {
        let mut found = self.value(place);
        found.extend(self.parted(place));
        found.extend(self.of_column(place));
        found.extend(self.bounded(place));
        found.extend(self.dated(place));
        found.extend(self.of_year(place));
        found.extend(self.compared(place));
        found.extend(self.stocked(place));
        let states = self.stock_values(place).into_iter();
        found.extend(
            states.map(|(at, lit, end)| (Cond::Cmp(self.own(at), Op::Eq, Operand::Lit(lit)), end, 0)),
        );
        found.extend(self.having(place));
        found.extend(self.acted(place));
        for after in self.lex("in", place) {
            let says_name = matches!(self.tokens[after - 1].lower.as_str(), "named" | "called");
            let word = self.tokens[after - 1].lower.as_str();
            let (says_with, says_by) = (word == "with", word == "by");
            // `fee by paid` puts rows together, and does not ask for those that are paid.
            let is_kept =
                |cond: &Cond| !(says_with && self.may_be_over(cond) || says_by && self.is_flagged(cond));
            let values = self.value(after).into_iter().filter(|(cond, ..)| says_name || !self.is_name(cond));
            let values: All<Cond> = values.filter(|(cond, ..)| is_kept(cond)).collect();
            found.extend(if says_with { self.had(after, values) } else { values });
            found.extend(self.of_column(after).into_iter().map(|(cond, end, cost)| (cond, end, cost + 1)));
            // `under 100 cm` is no number of its own.
            if self.tokens[after - 1].lower != "under" {
                found.extend(self.numbered(after));
            }
        }
        found.extend(self.numbered(place));
        found
    }

    /// Whether a condition is a flag that is called by its column's name.
    fn is_flagged(&self, cond: &Cond) -> bool {
        let Cond::Cmp(path, Op::Eq, Operand::Lit(lit)) = cond else { return false };
        lit.at == (0, 0) && self.index.tables[path.table].columns[path.column].flag.is_some()
    }

    /// A value, a word of a description, a declared phrasing, or a column that is true or false.
    pub(crate) fn value(&self, place: usize) -> All<Cond> {
        self.wants(Naming::Value, place);
        let mut found: All<Cond> = Vec::new();
        let mentions = self.mentions(place);
        // `frames`, where another table has a column of them, and `planks`, where rows are called so: not the one row with that
        // word in its name.
        let said = self.tokens.get(self.fill(place));
        let is_plural = said.is_some_and(|token| token.lower != token.stem);
        let is_small = said.is_some_and(|token| token.text.starts_with(char::is_lowercase));
        let is_other = |(what, _, cost): &(What, usize, u32)| match what {
            What::Column(table, _) => *table != self.focus && *cost == 0 && is_plural,
            What::Table(_) => *cost == 0 && (is_small || is_plural),
            _ => false,
        };
        let is_noun = mentions.iter().any(is_other);
        // `the late job`, in small letters: what is called Late, or what is late?
        let is_state = |(what, ..): &(What, usize, u32)| matches!(what, What::Value(table, column, _) if *table == self.focus && self.index.is_state(*table, *column));
        let is_open = is_small && mentions.iter().any(is_state);
        for (what, end, cost) in mentions {
            match what {
                What::Word(..) if is_noun => {}
                What::Value(table, column, _) | What::Word(table, column, _)
                    if end <= self.fill(place) + 1 && !self.is_written_as_name(table, column, end) => {}
                What::Value(table, column, value) => {
                    let cost = if is_open { cost.max(1) } else { cost };
                    let lit = self.lit(value, place, end);
                    let make = |path: Path| Cond::Cmp(path, Op::Eq, Operand::Lit(lit.clone()));
                    let end = self.named_after(table, column, end);
                    found.extend(
                        self.reach(table, &make, column).into_iter().map(|(c, far)| (c, end, cost + far * 2)),
                    );
                }
                What::Word(table, column, word) => {
                    let lit = self.lit(json!(word), place, end);
                    let make = |path: Path| Cond::Word(path, lit.clone());
                    found.extend(
                        self.reach(table, &make, column)
                            .into_iter()
                            .filter(|(_, far)| {
                                let is_name = self.tokens[end - 1].text.starts_with(char::is_uppercase);
                                *far == 0 || self.is_label(table, column) && (*far == 1 || is_name)
                            })
                            .map(|(c, far)| (c, end, cost + far * 2)),
                    );
                }
                What::Verb(which) => {
                    let verb = &self.index.verbs[which];
                    if verb.table == self.focus && verb.is_condition {
                        found.push((verb.means.clone(), end, cost));
                    }
                }
                What::Column(table, column)
                    if table == self.focus && self.index.tables[table].columns[column].flag.is_some() =>
                {
                    let cost = self.flag_cost(place, end, cost);
                    let flag = self.index.tables[table].columns[column].flag.as_ref();
                    let yes = Lit { value: flag.map(|(yes, _)| yes.clone()).unwrap_or_default(), at: (0, 0) };
                    found.push((Cond::Cmp(self.own(column), Op::Eq, Operand::Lit(yes)), end, cost));
                }
                // `hired`, where every row of a file has a day of that. `due` does not say how the day compares.
                What::Column(table, column) if table == self.focus && self.files => {
                    let shape = &self.index.tables[table].columns[column];
                    let is_done = shape.sort == Sort::Day && !shape.has_nulls && self.is_past(end);
                    let is_end = self.index.is_end(table, column);
                    found.extend((is_done && !is_end).then(|| (Cond::always(), end, cost + 1)));
                }
                _ => {}
            }
        }
        found
    }

    /// Whether the word before a place says what was done: `hired`, `sold`, `born`; `day` and `date` do not.
    fn is_past(&self, end: usize) -> bool {
        let said = &self.tokens[end - 1].lower;
        let is_form = |verb: &String| verb_forms(verb).iter().skip(1).any(|form| form == said);
        said.ends_with("ed") || said == "born" || LEXICON.list("irregular").iter().any(is_form)
    }

    /// Whether one word may be the name of a person: `Grace`, and not `the price` of Grace Price.
    fn is_written_as_name(&self, table: usize, column: usize, end: usize) -> bool {
        if !(self.index.tables[table].is_people && self.is_label(table, column)) {
            return true;
        }
        let Some(before) = end.checked_sub(2) else {
            return self.tokens[end - 1].text.starts_with(char::is_uppercase);
        };
        let is_announced =
            self.index.at(self.tokens, before).iter().any(|(what, ..)| *what == What::Table(table));
        let has_article = matches!(self.tokens[before].lower.as_str(), "a" | "an" | "the");
        is_announced || self.tokens[end - 1].text.starts_with(char::is_uppercase) && !has_article
    }

    fn is_label(&self, table: usize, column: usize) -> bool {
        self.index.tables[table].label == Some(column)
    }

    /// `high priority`, `cancelled a booking`: a value may be followed by its column's name, or by the noun of its row.
    fn named_after(&self, table: usize, column: usize, end: usize) -> usize {
        let noun = self.fill(end);
        let is_other = table != self.focus && noun > end;
        let row = self.index.at(self.tokens, noun).into_iter().filter(|_| is_other);
        let row = row.filter(|(what, ..)| *what == What::Table(table)).map(|(_, length, _)| noun + length);
        let named = self.index.at(self.tokens, end).into_iter();
        let same = named.filter(|(what, ..)| *what == What::Column(table, column));
        same.map(|(_, length, _)| end + length).chain(row).max().unwrap_or(end)
    }

    /// The columns that are named at a place.
    pub(crate) fn columns(&self, place: usize) -> All<Path> {
        self.wants(Naming::Column, place);
        let mut found: All<Path> = Vec::new();
        for (what, end, cost) in self.mentions(place) {
            if let What::Column(table, column) = what {
                for hops in self.hops(self.focus, table) {
                    let far = u32::try_from(hops.len()).unwrap_or(9) * 2;
                    found.push((Path { hops, table, column }, end, cost + far));
                }
            }
        }
        if let Some(end) = self.one("cost", place) {
            // A column that is called `price` is meant by that word alone; of files in whichever table it stands.
            let mut named = self.index.at(self.tokens, self.fill(place)).into_iter();
            let is_called = found
                .iter()
                .any(|(path, at, cost)| path.hops.is_empty() && (*at, *cost) == (end, 0))
                || self.files && named.any(|(what, _, cost)| cost == 0 && matches!(what, What::Column(..)));
            let costs = self.costs().filter(|_| !is_called);
            found.extend(costs.map(|column| (self.own(column), end, 0)));
        }
        prune(found)
    }

    /// `price under 100`, `status is not done`, `due before 2026-03-01`, `allergy is latex`.
    fn of_column(&self, place: usize) -> All<Cond> {
        let mut found: All<Cond> = Vec::new();
        for (path, end, cost) in self.columns(place) {
            let mut starts = vec![(end, false)];
            if let Some(after) = self.one("be", end) {
                starts.push((after, false));
                starts.extend(self.one("not", after).map(|after| (after, true)));
            }
            starts.extend(self.one("not", end).map(|after| (after, true)));
            starts.extend(self.one("of", end).map(|after| (after, false)));
            starts.extend(self.one("eq", end).map(|after| (after, false)));
            // `revenue has no value`
            let no = self.one("have", end).map(|end| self.exact("no", end)).unwrap_or_default();
            let gaps = no.into_iter().filter_map(|end| self.one("rule.values", end));
            found.extend(gaps.map(|end| (Cond::Null(path.clone()), end, cost)));
            for (start, negated) in starts {
                for (cond, end, more) in self.against(&path, start) {
                    let cond = if negated { Self::negated(cond) } else { cond };
                    found.push((cond, end, cost + more));
                }
            }
        }
        found
    }

    /// What may follow a column's name.
    pub(super) fn against(&self, path: &Path, place: usize) -> All<Cond> {
        let mut found: All<Cond> = Vec::new();
        let cmp = |op: Op, lit: Lit| Cond::Cmp(path.clone(), op, Operand::Lit(lit));
        if self.is_number(path) {
            if let Some((_, lit, end)) = self.number(place) {
                found.push((cmp(Op::Eq, lit.clone()), self.unit(path, end), 0));
                found.extend(self.one("or_less", end).map(|end| (cmp(Op::Le, lit.clone()), end, 0)));
                found.extend(self.one("or_more", end).map(|end| (cmp(Op::Ge, lit.clone()), end, 0)));
            }
            for (op, end) in self.op(place) {
                found.extend(self.number(end).map(|(_, lit, end)| (cmp(op, lit), self.unit(path, end), 0)));
                for (other, end, cost) in
                    self.columns(end).into_iter().filter(|(other, ..)| other != path && self.is_number(other))
                {
                    // `above the deposit of the Kid`: of that row, and not of each.
                    let Some(of) = self.one("of", end) else {
                        found.push((Cond::Cmp(path.clone(), op, Operand::Column(other)), end, cost));
                        continue;
                    };
                    let is_own = other.hops.is_empty() && !self.is_condition;
                    let rows = if is_own { self.np(of) } else { Rc::default() };
                    for (np, end, more) in rows.iter().filter(|(np, ..)| np.is_one()) {
                        let of = Operand::Of(other.clone(), Box::new(np.conds[0].clone()));
                        found.push((Cond::Cmp(path.clone(), op, of), *end, cost + more));
                    }
                }
            }
            found.extend(
                self.range(place)
                    .map(|(low, high, end)| (within(path, &low, &high), self.unit(path, end), 0)),
            );
        }
        if self.sort(path) == Sort::Day {
            found.extend(self.day_cond(path, place));
        }
        // A column's own value comes first, even if it is called `missing`.
        found.extend(self.one("rule.null", place).map(|end| (Cond::Null(path.clone()), end, 2)));
        let words = split_name(&self.index.tables[path.table].columns[path.column].name);
        if self.is_number(path) && words.iter().any(|word| word == "year") {
            for (class, op) in [("before", Op::Lt), ("after", Op::Gt), ("since", Op::Ge), ("until", Op::Le)] {
                let year = self.one(class, place).and_then(|end| self.number(end));
                found.extend(year.map(|(_, lit, end)| (cmp(op, lit), end, 0)));
            }
        }
        if let Some((yes, no)) = &self.index.tables[path.table].columns[path.column].flag {
            for (class, value) in [("flag_yes", yes), ("flag_no", no)] {
                let lit = |end: usize| self.lit(value.clone(), place, end);
                found.extend(self.one(class, place).map(|end| (cmp(Op::Eq, lit(end)), end, 0)));
            }
        }
        for (what, end, cost) in self.mentions(place) {
            if let What::Value(table, column, value) = what
                && (table, column) == (path.table, path.column)
            {
                let lit = self.lit(value, place, end);
                found.push((cmp(Op::Eq, lit), end, cost));
            }
        }
        found.extend(self.small_value(path, place).map(|(lit, end)| (cmp(Op::Eq, lit), end, 0)));
        found.extend(self.quoted_value(path, place).map(|(lit, end)| (cmp(Op::Eq, lit), end, 0)));
        found
    }

    /// A value in quotes, which may be written in small letters. What is in no row is none, but for a name where the names
    /// are too many to be known.
    pub(super) fn quoted_value(&self, path: &Path, place: usize) -> Option<(Lit, usize)> {
        let start = self.fill(place);
        let token = self.tokens.get(start).filter(|token| token.kind == Kind::Quoted)?;
        let column = &self.index.tables[path.table].columns[path.column];
        let known = self.index.written(path.table, path.column, &token.text);
        let is_open = self.is_label(path.table, path.column) && !column.is_listed;
        let value = known.or_else(|| is_open.then(|| json!(token.text)))?;
        Some((Lit { value, at: token.at }, start + 1))
    }

    /// `membership none`: a value that is a little word, after the name of its column.
    pub(super) fn small_value(&self, path: &Path, place: usize) -> Option<(Lit, usize)> {
        let token = self.tokens.get(place)?;
        let value = self.index.small_value(path, &token.lower)?;
        Some((Lit { value: value.clone(), at: token.at }, place + 1))
    }

    /// Passes over the unit of a column.
    pub(crate) fn unit(&self, path: &Path, end: usize) -> usize {
        let unit = self.index.tables[path.table].columns[path.column].unit.as_deref().unwrap_or_default();
        let is = self.tokens.get(end).is_some_and(|token| {
            !unit.is_empty() && (token.lower == unit.to_lowercase() || token.stem == unit.to_lowercase())
        });
        if is { end + 1 } else { end }
    }

    /// A comparison in words or signs.
    pub(crate) fn op(&self, place: usize) -> Vec<(Op, usize)> {
        let classes = [("le", Op::Le), ("ge", Op::Ge), ("lt", Op::Lt), ("gt", Op::Gt), ("eq", Op::Eq)];
        let mut found: Vec<(Op, usize)> = Vec::new();
        for (class, op) in classes {
            found.extend(self.one(class, place).map(|end| (op, end)));
        }
        // The longest wins: `no more than` is not `more than`.
        let longest = found.iter().map(|(_, end)| *end).max().unwrap_or(place);
        found.retain(|(_, end)| *end == longest);
        found
    }

    /// `between 90 and 110`, `90 to 110`.
    fn range(&self, place: usize) -> Option<(Lit, Lit, usize)> {
        let start = self.one("between", place)?;
        let (_, low, end) = self.number(start)?;
        let end = self.one("and", end).or_else(|| self.one("to", end))?;
        let (_, high, end) = self.number(end)?;
        Some((low, high, end))
    }

    /// `under $100`, `at least 4 beds`, `between 90 and 110`, `4 or more beds`.
    fn bounded(&self, place: usize) -> All<Cond> {
        let mut found: All<Cond> = Vec::new();
        for (op, end) in self.op(place) {
            if let Some((number, lit, end)) = self.number(end) {
                let make = |path: &Path| Cond::Cmp(path.clone(), op, Operand::Lit(lit.clone()));
                found.extend(
                    self.which(place, &number, end)
                        .into_iter()
                        .map(|(path, end, cost)| (make(&path), end, cost)),
                );
            }
        }
        if let Some((low, high, end)) = self.range(place) {
            let number = self.number(self.one("between", place).unwrap_or(place)).map(|(number, ..)| number);
            if let Some(number) = number {
                let found_in = self.which(place, &number, end);
                found.extend(
                    found_in.into_iter().map(|(path, end, cost)| (within(&path, &low, &high), end, cost)),
                );
            }
        }
        if let Some((number, lit, end)) = self.number(place) {
            for (class, op) in [("or_less", Op::Le), ("or_more", Op::Ge)] {
                if let Some(end) = self.one(class, end) {
                    let make = |path: &Path| Cond::Cmp(path.clone(), op, Operand::Lit(lit.clone()));
                    found.extend(
                        self.which(place, &number, end)
                            .into_iter()
                            .map(|(path, end, cost)| (make(&path), end, cost)),
                    );
                }
            }
        }
        found
    }

    /// The column that a bound is about: the one that is named after it; else money, and a bare bound, are about the
    /// price. What there are fewer of, and what is left, is counted and not paid.
    fn which(&self, place: usize, number: &Number, end: usize) -> All<Path> {
        let mut found: All<Path> =
            self.columns(end).into_iter().filter(|(path, ..)| self.is_number(path)).collect();
        let in_stock = self.one("stock_yes", self.one("be", end).unwrap_or(end));
        if let (Some(end), Some(column)) = (in_stock, self.role("quantity")) {
            found.push((self.own(column), end, 0));
        }
        // What is longer is not dearer.
        let is_count = in_stock.is_some()
            || matches!(self.tokens[self.fill(place)].lower.as_str(), "fewer" | "longer" | "shorter");
        // Of files it is not known that a bare number is a price; an order depends on nothing that is likely at best.
        let is_price = match number.unit {
            Unit::Money(_) => true,
            Unit::Percent => false,
            _ => !self.files && !self.is_condition && self.says_price(place),
        };
        let costs = self.costs().filter(|_| is_price && !is_count).map(|column| self.own(column));
        found.extend(costs.filter(|path| self.is_in(path, number)).map(|path| (path, end, 2)));
        found
    }

    /// `2 beds`, `the third floor`, `floor 3`.
    fn numbered(&self, place: usize) -> All<Cond> {
        let mut found: All<Cond> = Vec::new();
        let mut push = |lit: &Lit, end: usize| {
            let columns = self.columns(end).into_iter().filter(|(path, ..)| self.is_number(path));
            found
                .extend(columns.map(|(path, end, cost)| {
                    (Cond::Cmp(path, Op::Eq, Operand::Lit(lit.clone())), end, cost)
                }));
        };
        if let Some((_, lit, end)) = self.number(place) {
            push(&lit, end);
        }
        if let Some((end, value)) = self.meaning("ordinals", place) {
            let value = value.parse().unwrap_or_default();
            push(&self.lit(as_json(value), place, end), end);
        }
        found
    }

    /// `on 2026-03-09`, `before March 2026`, `between … and …`, of the only column of days.
    fn dated(&self, place: usize) -> All<Cond> {
        let columns = &self.index.tables[self.focus].columns;
        let days: Vec<usize> = (0..columns.len()).filter(|at| columns[*at].sort == Sort::Day).collect();
        let mut found: All<Cond> = Vec::new();
        for day in &days {
            found.extend(
                self.day_cond(&self.own(*day), place).into_iter().map(|(c, end, cost)| (c, end, cost + 1)),
            );
        }
        for (at, column) in columns.iter().enumerate().filter(|(_, column)| column.sort == Sort::Time) {
            let start = self.one("in", place).unwrap_or(place);
            let token = self.tokens.get(start);
            if let Some(Kind::Time(time)) = token.map(|token| &token.kind) {
                let _ = column;
                let lit = self.lit(json!(time), start, start + 1);
                found.push((Cond::Cmp(self.own(at), Op::Eq, Operand::Lit(lit)), start + 1, 0));
            }
        }
        found
    }

    /// Days after a little word.
    fn day_cond(&self, path: &Path, place: usize) -> All<Cond> {
        let mut found: All<Cond> = Vec::new();
        let cmp = |op: Op, lit: Lit| Cond::Cmp(path.clone(), op, Operand::Lit(lit));
        // What is insured until a day is insured on each day before it: a day alone does not say how it compares.
        let words = split_name(&self.index.tables[path.table].columns[path.column].name);
        let is_last = words.last().is_some_and(|last| matches!(last.as_str(), "until" | "till" | "before"));
        let classes = ["before", "after", "since", "until", "on_day"];
        for class in &classes[..if is_last { 2 } else { 5 }] {
            for end in self.exact(class, place) {
                for (from, until, end) in self.periods(path, end) {
                    let cond = match *class {
                        "before" => cmp(Op::Lt, from),
                        "after" => cmp(Op::Ge, until),
                        "since" => cmp(Op::Ge, from),
                        "until" => cmp(Op::Lt, until),
                        _ => Cond::Days(path.clone(), from, until),
                    };
                    found.push((cond, end, 0));
                }
            }
        }
        if let Some((from, until, end)) = self.days(place).filter(|_| !is_last) {
            found.push((Cond::Days(path.clone(), from, until), end, 0));
        }
        if let Some(start) = self.one("between", place)
            && let Some((from, _, end)) = self.days(start)
            && let Some(end) = self.one("and", end).or_else(|| self.one("to", end))
            && let Some((_, until, end)) = self.days(end)
        {
            found.push((Cond::Days(path.clone(), from, until), end, 0));
        }
        found
    }

    /// Days, a year, or a month. A month without a year is one of each year that the column has days of.
    fn periods(&self, path: &Path, place: usize) -> Vec<(Lit, Lit, usize)> {
        if let Some(said) = self.days(place).or_else(|| self.year(place)) {
            return vec![said];
        }
        let place = self.fill(place);
        let month = self.tokens.get(place).and_then(month_of);
        // `trips of Jan`, who drives them.
        let is_name = |(what, ..): &(What, usize, u32)| self.index.is_row_name(what);
        let is_called = !self.files && self.index.at(self.tokens, place).iter().any(is_name);
        let month = month.filter(|_| !is_called);
        let years = self.index.tables[path.table].columns[path.column].years;
        let (Some(month), Some((first, last))) = (month, years) else { return Vec::new() };
        if last - first > YEARS_MAX {
            return Vec::new();
        }
        self.trace.reached(place + 1);
        let lit = |day: String| Lit { value: json!(day), at: self.tokens[place].at };
        let of = |year: u32| {
            let (from, until) = month_in(year, month);
            (lit(from), lit(until), place + 1)
        };
        (first..=last).rev().map(of).collect()
    }

    /// A year as days.
    pub(crate) fn year(&self, place: usize) -> Option<(Lit, Lit, usize)> {
        let (number, lit, end) = self.number(place)?;
        let is_year = number.value.fract() == 0.0
            && (1000.0..3000.0).contains(&number.value)
            && number.unit == Unit::Plain;
        let first = |year: f64| Lit { value: json!(format!("{year:04}-01-01")), at: lit.at };
        is_year.then(|| (first(number.value), first(number.value + 1.0), end))
    }

    /// `cheaper than the Classic`, `older than Alma Reed`, `a higher rate than Ana`.
    fn compared(&self, place: usize) -> All<Cond> {
        let mut found: All<Cond> = Vec::new();
        let Some((Order { by: Some(path), down }, end)) = self.comparative(place) else { return found };
        let Some(end) = self.one("than", end) else { return found };
        let op = if down { Op::Gt } else { Op::Lt };
        // A day is compared with a day or a year, never with 50.
        if self.sort(&path) == Sort::Day {
            if let Some((from, until, end)) = self.days(end).or_else(|| self.year(end)) {
                let (op, lit) = if op == Op::Lt { (Op::Lt, from) } else { (Op::Ge, until) };
                found.push((Cond::Cmp(path.clone(), op, Operand::Lit(lit)), end, 0));
            }
        } else if let Some((_, lit, end)) = self.number(end).filter(|(number, ..)| self.is_in(&path, number))
        {
            found.push((Cond::Cmp(path.clone(), op, Operand::Lit(lit)), self.unit(&path, end), 0));
        }
        for (np, end, cost) in self.np(end).iter().filter(|(np, ..)| np.is_named() && np.order.is_none()) {
            let of = Operand::Of(path.clone(), Box::new(Cond::all(np.conds.clone())));
            found.push((Cond::Cmp(path.clone(), op, of), *end, *cost));
        }
        found
    }

    /// `with an allergy`, `have no bonus`, `has at least 4 beds`, `have a planned appointment`, `have no task in progress`.
    fn having(&self, place: usize) -> All<Cond> {
        let mut found: All<Cond> = Vec::new();
        let mut starts: Vec<(usize, bool)> = Vec::new();
        for end in self.lex("have", place) {
            starts.push((end, false));
            starts.extend(self.one("not", end).map(|end| (end, true)));
            starts.extend(self.exact("no", self.fill(end)).into_iter().map(|end| (end, true)));
        }
        starts.extend(self.exact("no", place).into_iter().map(|end| (end, true)));
        for (start, negated) in starts {
            let is_past = self.tokens[..start].last().is_some_and(|token| token.lower == "had");
            let start = self.determiners(start);
            let mut conds: All<Cond> = Vec::new();
            for (path, end, cost) in self.columns(start).into_iter().filter(|(path, ..)| path.hops.is_empty())
            {
                let column = &self.index.tables[path.table].columns[path.column];
                // `with status late`: that status, and not any, of what is called Late.
                if !self.against(&path, end).is_empty() {
                    continue;
                }
                // `if Hansen has a contract`, `has returned`: a day of that does not say whether it is so now.
                let is_noun = cost == 0 && self.follows_no(start);
                let is_done = end == start + 1 && !is_noun && self.tokens[start].lower.ends_with("ed");
                if column.flag.is_some() || column.sort == Sort::Day && (cost > 0 || is_done) {
                    continue;
                }
                if self.is_number(&path) && (self.is_quantity(&path) || !column.has_nulls) {
                    found.extend(self.amount(&path, !negated).map(|cond| (cond, end, cost)));
                    continue;
                }
                // `without membership`, where the data says `none`.
                let none = column.none.clone().map(|value| Lit { value, at: (0, 0) });
                let none = none.map(|lit| Cond::Cmp(path.clone(), Op::Eq, Operand::Lit(lit)));
                let none = Cond::any([vec![Cond::Null(path)], none.into_iter().collect()].concat());
                conds.push((Cond::Not(Box::new(none)), end, cost));
            }
            // `who has the Cargo` asks about now: a hire with a day on which it ended does not say who has it today.
            let values = self.value(start).into_iter();
            conds.extend(values.filter(|(cond, ..)| is_past || !self.may_be_over(cond)));
            let mut conds = self.had(start, conds);
            conds.extend(self.parted(start));
            conds.extend(self.bounded(start));
            conds.extend(self.numbered(start));
            conds.extend(self.of_column(start));
            conds.extend(self.related(start));
            conds.extend(self.acted(start));
            found.extend(conds.into_iter().map(|(cond, end, cost)| {
                let cond = if negated { Self::negated(cond) } else { cond };
                (cond, end, cost)
            }));
        }
        found
    }

    /// Whether it is about rows of another table that have a day on which they end.
    pub(super) fn may_be_over(&self, cond: &Cond) -> bool {
        let Cond::Some(link, _) = cond else { return false };
        let columns = self.index.tables[link.table].columns.iter().enumerate();
        columns.into_iter().any(|(at, column)| column.sort == Sort::Day && self.index.is_end(link.table, at))
    }

    /// Rows of another table that refer to the row: `a planned appointment`, `tasks in progress`.
    fn related(&self, place: usize) -> All<Cond> {
        let mut found: All<Cond> = Vec::new();
        if self.depth > 1 {
            return found;
        }
        for link in self.links() {
            let other = self.about(link.table);
            for (np, end, cost) in other.np(place).iter() {
                if np.order.is_none() && np.number.is_none() && np.has_table() {
                    found.push((Cond::Some(link, Box::new(Cond::all(np.conds.clone()))), *end, cost + 1));
                }
            }
        }
        found
    }
}

fn within(path: &Path, low: &Lit, high: &Lit) -> Cond {
    let at = |lit: &Lit| lit.value.as_f64().unwrap_or_default();
    let (low, high) = if at(low) <= at(high) { (low, high) } else { (high, low) };
    let side = |op: Op, lit: &Lit| Cond::Cmp(path.clone(), op, Operand::Lit(lit.clone()));
    Cond::And(vec![side(Op::Ge, low), side(Op::Le, high)])
}
