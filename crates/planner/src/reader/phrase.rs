//! Phrases that name rows: `the two cheapest round frames in stock`, `Classic and Moon`, `room 204`.

use std::rc::Rc;

use serde_json::json;

use super::form::{Asked, Cond, Lit, Op, Operand, Order, Path, Select};
use super::index::{Sort, What};
use super::lexicon::LEXICON;
use super::parse::{All, Parser, prune};
use super::token::Unit;
use super::trace::Naming;

/// Rows of the table in question, as a phrase names them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Np {
    /// What holds for them.
    pub(crate) conds: Vec<Cond>,
    /// Their order, where it says which.
    pub(crate) order: Option<Order>,
    /// `second` of them.
    pub(crate) nth: Option<u64>,
    /// A number before the noun.
    pub(crate) number: Option<Lit>,
    /// Names that are listed, each a condition.
    pub(crate) names: Vec<Cond>,
    /// The noun, or what is used in its place.
    pub(crate) head: Head,
    /// Whether one row is meant.
    pub(crate) single: bool,
}

/// The noun, or what is used in its place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Head {
    /// Nothing.
    #[default]
    None,
    /// A word for the table's rows.
    Table,
    /// A row's own name.
    Name,
    /// `anything`, `one`.
    Thing,
    /// A value that stands for the rows that have it: `suites`.
    Value,
}

impl Np {
    /// Whether rows are called by their names.
    pub(crate) fn is_named(&self) -> bool {
        !self.names.is_empty()
    }

    /// Whether it is the name of one row and nothing else.
    pub(crate) fn is_one(&self) -> bool {
        self.names.len() == 1 && self.conds.len() == 1 && self.number.is_none() && self.order.is_none()
    }

    /// Whether the table's own noun was said.
    pub(crate) fn has_table(&self) -> bool {
        self.head == Head::Table
    }

    /// The rows as a form.
    pub(crate) fn select(&self, table: usize, asked: Asked) -> Select {
        let whole = |lit: &Lit| lit.value.as_u64();
        let limit = self.number.as_ref().and_then(whole).filter(|_| self.order.is_some());
        Select {
            table,
            filter: Cond::all(self.conds.clone()),
            order: self.order.clone(),
            nth: self.nth,
            limit: limit.or(if self.order.is_some() || self.single { Some(1) } else { None }),
            asked,
        }
    }
}

impl Parser<'_> {
    /// A phrase that names rows.
    pub(crate) fn np(&self, place: usize) -> Rc<All<Np>> {
        if let Some(known) = self.phrases.borrow().get(&place) {
            return known.clone();
        }
        self.phrases.borrow_mut().insert(place, Rc::default());
        let mut found: All<Np> = Vec::new();
        for (np, end, cost) in self.before_noun(place) {
            for (np, end, cost) in self.noun(&np, end, cost) {
                found.extend(self.after_noun(&np, end, cost));
            }
        }
        // `the last booking`, after a list: one of those, or one of all?
        let open =
            found.iter().filter(|(np, ..)| np.has_table() && np.order.is_some() && np.conds.is_empty());
        let listed = open.filter_map(|(np, end, cost)| Some((self.among(np)?, *end, *cost)));
        let listed: All<Np> = listed.collect();
        found.extend(listed);
        let found = Rc::new(prune(found));
        self.phrases.borrow_mut().insert(place, found.clone());
        found
    }

    /// Numbers, superlatives and values before the noun.
    fn before_noun(&self, place: usize) -> All<Np> {
        let mut all: All<Np> = vec![(Np::default(), self.determiners(place), 0)];
        // A name may begin with an article.
        if self.determiners(place) != place {
            all.push((Np::default(), place, 0));
        }
        let mut at = 0;
        while at < all.len() && all.len() < 40 {
            let (np, end, cost) = all[at].clone();
            at += 1;
            if np.conds.len() + usize::from(np.order.is_some()) >= 4 {
                continue;
            }
            if let (None, Some((number, lit, end))) = (&np.number, self.number(end))
                && number.unit == Unit::Plain
            {
                let end = self.one("of", end).map_or(end, |of| self.determiners(of));
                all.push((Np { number: Some(lit), ..np.clone() }, self.determiners(end), cost));
            }
            if np.order.is_none() {
                for (order, nth, end) in self.superlative(end) {
                    all.push((Np { order: Some(order), nth, ..np.clone() }, self.determiners(end), cost));
                }
            }
            // `cancel never the lesson` denies the order, and not what is said of the lesson.
            let negated = self.tokens.get(end).filter(|token| token.lower == "not").map(|_| end + 1);
            let negated = negated.filter(|start| self.fill(*start) == *start);
            for (start, is_not) in [(Some(end), false), (negated, true)] {
                let Some(start) = start else { continue };
                for (cond, after, more) in self.value(start) {
                    if self.is_name(&cond) && !is_not {
                        continue;
                    }
                    let cond = if is_not { Cond::Not(Box::new(cond)) } else { cond };
                    let next = Np {
                        conds: [np.conds.clone(), vec![cond]].concat(),
                        head: Head::Value,
                        ..np.clone()
                    };
                    let comma = self.sign(',', after).filter(|comma| !self.value(*comma).is_empty());
                    // `Kaya Demir's appointment`
                    let after = self.sign('\'', after).or(comma).unwrap_or(after);
                    all.push((next, after, cost + more));
                }
            }
        }
        all
    }

    /// Whether a condition names a row of the table in question.
    pub(crate) fn is_name(&self, cond: &Cond) -> bool {
        let table = &self.index.tables[self.focus];
        match cond {
            Cond::Cmp(path, Op::Eq, Operand::Lit(_)) => {
                path.hops.is_empty()
                    && path.table == self.focus
                    && (table.key == Some(path.column) || table.label == Some(path.column))
            }
            _ => false,
        }
    }

    fn noun(&self, np: &Np, place: usize, cost: u32) -> All<Np> {
        self.wants(Naming::Table, place);
        let mut found: All<Np> = Vec::new();
        let with = |head: Head| Np { head, ..np.clone() };
        let mentions = self.mentions(place);
        let own: Vec<usize> = mentions
            .iter()
            .filter(|(what, ..)| *what == What::Table(self.focus))
            .map(|(_, end, _)| *end)
            .collect();
        for (what, end, more) in mentions {
            // All bookings, where the table is called so.
            if matches!(what, What::Deeds(_)) && own.contains(&end) {
                continue;
            }
            // `sales`: the rows of the table that record one.
            let deeds = match what {
                What::Deeds(which) if self.index.verbs[which].table == self.focus => {
                    Some(self.index.verbs[which].means.clone())
                }
                _ => None,
            };
            let conds = [np.conds.clone(), deeds.clone().into_iter().collect()].concat();
            let np = &Np { conds, ..np.clone() };
            let with = |head: Head| Np { head, ..np.clone() };
            if (what == What::Table(self.focus) || deeds.is_some()) && !self.has_adjective(np, end) {
                // `the last sales`: all of them, the newest first.
                let is_several = self.tokens[end - 1].lower != self.tokens[end - 1].stem;
                let is_day = |by: &Path| self.sort(by) == Sort::Day;
                let is_dated = np.order.as_ref().is_some_and(|order| order.by.as_ref().is_none_or(is_day));
                let all = Lit { value: json!(u32::MAX), at: (0, 0) };
                let number = np.number.clone().or_else(|| (is_several && is_dated).then_some(all));
                found.push((Np { number, ..with(Head::Table) }, end, cost + more));
                for (named, end, less) in self.names(end) {
                    found.push((Np { head: Head::Table, ..with_names(np, named) }, end, cost + more + less));
                }
                if let Some(of) = self.one("of", end) {
                    // `the fee of Ann`, in a table of fees, is that column.
                    let more = more + u32::from(self.rows_and_column(place).is_some());
                    for (inner, end, less) in self.np(of).iter().filter(|(inner, ..)| inner.number.is_none())
                    {
                        found.push((merged(np, inner), *end, cost + more + less));
                    }
                }
            }
        }
        for (named, end, more) in self.names(place) {
            let named = with_names(np, named);
            let nouns = self.index.at(self.tokens, end).into_iter();
            let nouns = nouns.filter(|(what, ..)| *what == What::Table(self.focus));
            let ends: Vec<usize> = nouns.map(|(_, length, _)| end + length).collect();
            // `cargo bikes` are of the kind, and not the one that is called Cargo.
            let last = ends.iter().copied().max().unwrap_or(end);
            let (is_kind, start) = (self.is_kind(place, end), self.fill(place));
            let is_written = self.tokens[start].text.starts_with(char::is_uppercase);
            if is_kind && !self.is_single(start, last) {
                continue;
            }
            // `the cargo bike` may be either.
            let more = if is_kind && !is_written { more.max(1) } else { more };
            if !is_kind || is_written {
                found.push((Np { head: Head::Name, ..named.clone() }, end, cost + more));
            }
            let with_noun = |end: usize| (Np { head: Head::Table, ..named.clone() }, end, cost + more);
            found.extend(ends.into_iter().map(with_noun));
        }
        if let Some(end) = self.one("thing", place) {
            let is_one = matches!(self.tokens[end - 1].lower.as_str(), "one" | "ones");
            let is_said = is_one && (np.order.is_some() || !np.conds.is_empty());
            let thing = if is_said { self.among(&with(Head::Thing)) } else { Some(with(Head::Thing)) };
            found.extend(thing.map(|np| (np, end, cost + 1)));
        }
        found.extend(self.pronoun(np, place, cost));
        if np.order.is_some() {
            found.extend(self.among(np).map(|np| (np, place, cost + 2)));
        } else if np.head == Head::Value {
            found.push((np.clone(), place, cost + 2));
        }
        found
    }

    /// Whether the words of a name are a value of another column of the table, too.
    fn is_kind(&self, place: usize, end: usize) -> bool {
        let start = self.fill(place);
        let label = self.index.tables[self.focus].label;
        self.index.at(self.tokens, start).iter().any(|(what, length, _)| {
            matches!(what, What::Value(table, column, _) if *table == self.focus && Some(*column) != label)
                && start + length == end
        })
    }

    /// Whether words speak of one row: in the singular, and without `every` or `a`.
    fn is_single(&self, start: usize, end: usize) -> bool {
        let last = &self.tokens[end - 1];
        let is_any = |word: &str| LEXICON.has("several", word) || matches!(word, "a" | "an" | "any");
        let before = &self.tokens[start.saturating_sub(2)..start];
        last.lower == last.stem && !before.iter().any(|token| is_any(token.word()))
    }

    /// `the cheapest one`, after a list: one of those rows; none if it is not known which they are, or if they are rows
    /// of another table.
    fn among(&self, np: &Np) -> Option<Np> {
        self.context.as_ref().is_none_or(|rows| rows.table == self.focus).then_some(())?;
        let Some(rows) = self.list() else { return Some(np.clone()) };
        let conds = [np.conds.clone(), vec![rows.filter.clone()]].concat();
        rows.order.is_none().then(|| Np { conds, ..np.clone() })
    }

    /// The rows of the table in question that the conversation was about, if they are some of its rows.
    pub(crate) fn list(&self) -> Option<&Select> {
        let is_own = |rows: &&Select| rows.table == self.focus;
        let last = self.context.as_ref().filter(is_own)?;
        let rows = self.several.as_ref().filter(is_own).unwrap_or(last);
        let is_list = rows.order.is_some() || !rows.filter.is_always();
        Some(rows).filter(|rows| is_list && !self.is_name(&rows.filter))
    }

    /// `the last one`, `the second`: a row by its place in the list that was shown.
    fn placed(&self, place: usize) -> Option<(Cond, usize, u32)> {
        let start = self.fill(place);
        let nth = self.tokens.get(start)?.place(self.listed.len())?;
        let cond = self.listed.get(nth - 1).filter(|cond| self.is_name(cond))?;
        let one = self.tokens.get(start + 1).filter(|token| token.lower == "one").map(|_| start + 2);
        let after = start + 1;
        let is_alone = self.is_end(after) || !self.exact("in", after).is_empty();
        let bare = is_alone.then_some((after, 2));
        // As much as the row that is the last by its day: of two it is asked which.
        let (end, cost) = one.map(|end| (end, 1)).or(bare)?;
        Some((cond.clone(), end, cost))
    }

    /// `it`, `those`, `the cheaper one`: rows that the conversation was about.
    pub(crate) fn pronoun(&self, np: &Np, place: usize, cost: u32) -> All<Np> {
        let is_own = |rows: &&Select| rows.table == self.focus;
        // Of a list in some order it is not known which rows they were.
        let is_known = |rows: &&Select| is_own(rows) && (rows.order.is_none() || rows.limit == Some(1));
        let Some(last) = self.context.as_ref().filter(is_known) else { return Vec::new() };
        let several = self.several.as_ref().filter(is_known).unwrap_or(last);
        let known = |rows: &Select, order: Option<Order>| Np {
            conds: vec![rows.filter.clone()],
            order: order.or_else(|| rows.order.clone()),
            nth: rows.nth,
            number: np.number.clone(),
            names: vec![rows.filter.clone()],
            head: Head::Name,
            single: false,
        };
        if np.number.is_some() || !np.conds.is_empty() || np.order.is_some() {
            return Vec::new();
        }
        let mut found: All<Np> = Vec::new();
        if let Some(end) = self.one("talk.it", place) {
            let is_which = end > 1 && self.tokens[end - 2].lower == "which";
            let is_one = !is_which && matches!(self.tokens[end - 1].lower.as_str(), "it" | "one" | "that");
            let rows = if is_one { last } else { several };
            found.push((Np { single: is_one, ..known(rows, None) }, end, cost));
        }
        // `her`, after one person; `its price`, `their status`. A horse is `he` as well as `it`.
        let is_people = self.index.tables[self.focus].is_people;
        let is_living = self.index.is_living(self.focus);
        let is_row = self.is_name(&last.filter) || last.limit == Some(1);
        let person = self.one("talk.person", place).filter(|_| is_living && is_row);
        let its = self.one("talk.its", place).filter(|end| match self.tokens[end - 1].lower.as_str() {
            "its" => !is_people,
            "their" => true,
            _ => is_living && is_row,
        });
        let its = its.filter(|end| self.columns(*end).iter().any(|(path, ..)| path.hops.is_empty()));
        let meant = person.or(its).and_then(|end| {
            let filter = self.index.meant_by(&self.tokens[end - 1].lower, last)?;
            Some((known(&Select { filter, ..last.clone() }, None), end, cost))
        });
        found.extend(meant);
        // Of one row alone there is no cheaper one, of three there are two.
        let is_list = !self.is_name(&several.filter) && several.order.is_none() && self.listed.len() < 3;
        if let Some((order, end)) = self.comparative(place).filter(|_| is_list) {
            let end = self.one("thing", end).unwrap_or(end);
            found.push((known(several, Some(order)), end, cost));
        }
        found
    }

    /// `taller`, `tallest`, where the owner says what is tall: the order of the rows, and the end.
    fn degree(&self, ending: &str, place: usize) -> Option<(Order, usize)> {
        let place = self.fill(place);
        let word = self.tokens.get(place).filter(|token| token.lower.ends_with(ending))?;
        let (table, column, down) = *self.index.degrees.get(&word.lower)?;
        (table == self.focus && !self.strict).then_some(())?;
        self.trace.reached(place + 1);
        Some((Order { by: Some(self.own(column)), down }, place + 1))
    }

    /// `cheaper`, without what it is compared with: the first of the rows in that order.
    pub(crate) fn comparative(&self, place: usize) -> Option<(Order, usize)> {
        if let Some(found) = self.degree("er", place) {
            return Some(found);
        }
        let (end, meaning) = self.meaning("comparatives", place)?;
        let (role, sign) = meaning.split_once(' ')?;
        let by = self.own(self.role(role)?);
        Some((Order { by: Some(by), down: sign == ">" }, end))
    }

    /// Names of rows: one, or several with commas and `and`.
    pub(crate) fn names(&self, place: usize) -> All<Vec<Cond>> {
        let mut found: All<Vec<Cond>> = Vec::new();
        let both = self.one("both", place).unwrap_or(place);
        let mut open: All<Vec<Cond>> =
            self.name(both).into_iter().map(|(cond, end, cost)| (vec![cond], end, cost)).collect();
        while let Some((names, end, cost)) = open.pop() {
            let is_whole = both == place || names.len() > 1;
            if names.len() < 8 {
                let comma = self.sign(',', end);
                let after = comma.unwrap_or(end);
                let and = self.one("and", after).filter(|_| !self.is_but(after));
                let joints = [comma, and, self.one("or", after)];
                for start in joints.into_iter().flatten() {
                    for (cond, end, more) in self.name(start) {
                        open.push(([names.clone(), vec![cond]].concat(), end, cost + more));
                    }
                }
            }
            found.extend(is_whole.then_some((names, end, cost)));
        }
        found
    }

    /// A row's name or key; the key may follow the name in brackets.
    fn name(&self, place: usize) -> All<Cond> {
        let mut found: All<Cond> = Vec::new();
        for (cond, end, cost) in self.value(place) {
            if !self.is_name(&cond) {
                continue;
            }
            let key = self.sign('(', end).map(|open| self.value(open)).unwrap_or_default();
            for (key, after, _) in key.into_iter().filter(|(key, ..)| self.is_name(key)) {
                if let Some(close) = self.sign(')', after) {
                    found.push((Cond::all(vec![cond.clone(), key]), close, cost));
                }
            }
            found.push((cond, end, cost));
        }
        let label = self.index.tables[self.focus].label.map(|label| self.own(label));
        if let Some((path, (lit, end))) =
            label.and_then(|path| Some((path.clone(), self.quoted_value(&path, place)?)))
        {
            found.push((Cond::Cmp(path, Op::Eq, Operand::Lit(lit)), end, 0));
        }
        found.extend(self.placed(place));
        found
    }

    /// Conditions, exceptions and an order after the noun.
    fn after_noun(&self, np: &Np, end: usize, cost: u32) -> All<Np> {
        let mut all: All<Np> = vec![(np.clone(), end, cost)];
        for (cond, after, more) in self.conds(end) {
            all.push((
                Np { conds: [np.conds.clone(), vec![cond]].concat(), ..np.clone() },
                after,
                cost + more,
            ));
        }
        let mut at = 0;
        while at < all.len() && all.len() < 60 {
            let (np, end, cost) = all[at].clone();
            at += 1;
            let but = self.one("and", end).filter(|_| self.is_but(end));
            for (start, is_but) in self
                .one("except", end)
                .map(|start| (start, false))
                .into_iter()
                .chain(but.map(|start| (start, true)))
            {
                // `musicals except Six under £33`: what is said after a name is not said of it.
                for (inner, after, more) in self.np(start).iter().filter(|(inner, ..)| {
                    let is_plain = if inner.is_named() { inner.conds.len() == 1 } else { !is_but };
                    inner.order.is_none() && !inner.conds.is_empty() && is_plain
                }) {
                    let not = Cond::Not(Box::new(Cond::all(inner.conds.clone())));
                    let conds = [np.conds.clone(), vec![not]].concat();
                    for (cond, after, less) in self.with_verb(*after) {
                        let conds = [conds.clone(), vec![cond]].concat();
                        all.push((Np { conds, ..np.clone() }, after, cost + more + less));
                    }
                }
            }
            // `patrons with the most credit`
            let with = self.exact("have", end).into_iter().filter(|_| np.order.is_none());
            for (order, nth, after) in with.flat_map(|start| self.superlative(start)) {
                all.push((Np { order: Some(order), nth, ..np.clone() }, after, cost));
            }
            if np.order.is_none() {
                for (order, after) in self.sorted(end) {
                    all.push((
                        Np {
                            order: Some(order),
                            number: Some(Lit { value: json!(u32::MAX), at: (0, 0) }),
                            ..np.clone()
                        },
                        after,
                        cost,
                    ));
                }
            }
        }
        all
    }

    /// `sorted by price, highest first`.
    fn sorted(&self, place: usize) -> Vec<(Order, usize)> {
        let start = self.sign(',', place).unwrap_or(place);
        let Some(start) = self.one("sorted", start) else { return Vec::new() };
        let mut found = Vec::new();
        for (path, end, _) in self.columns(start) {
            let comma = self.sign(',', end).unwrap_or(end);
            found.push((Order { by: Some(path.clone()), down: false }, end));
            found.extend(
                self.one("ascending", comma).map(|end| (Order { by: Some(path.clone()), down: false }, end)),
            );
            found.extend(
                self.one("descending", comma).map(|end| (Order { by: Some(path.clone()), down: true }, end)),
            );
        }
        found
    }

    /// Whether rows say what was done: with what, or by whom.
    pub(super) fn is_record(&self) -> bool {
        self.index.tables[self.focus].columns.iter().any(|column| column.refers.is_some())
    }

    /// Whether a noun for rows of the table in question comes next.
    fn is_noun(&self, place: usize) -> bool {
        self.mentions(place).iter().any(|(what, ..)| match what {
            What::Table(table) => *table == self.focus,
            What::Deeds(which) => self.index.verbs[*which].table == self.focus,
            _ => false,
        })
    }

    /// The columns that rows may be ordered by for a role. Of several days, or prices, it is not known which one is meant.
    fn ordering(&self, role: &str) -> Vec<usize> {
        let columns = &self.index.tables[self.focus].columns;
        match self.role(role) {
            Some(_) if role == "price" => self.costs().collect(),
            Some(column) => vec![column],
            None if matches!(role, "date" | "age")
                && !self.strict
                && !self.index.tables[self.focus].is_people =>
            {
                let says_age = |at: usize| self.files || self.index.says_age(self.focus, at);
                let is_day = |at: &usize| {
                    columns[*at].sort == Sort::Day && columns[*at].cut.is_none() && says_age(*at)
                };
                (0..columns.len()).filter(is_day).collect()
            }
            None => Vec::new(),
        }
    }

    /// `cheapest`, `second most expensive`, `highest hourly rate`, `last`: the order, which of them, and the end.
    pub(crate) fn superlative(&self, place: usize) -> Vec<(Order, Option<u64>, usize)> {
        let ordinal =
            self.meaning("ordinals", place).and_then(|(end, value)| Some((end, value.parse().ok()?)));
        let (start, nth) = ordinal.map_or((place, None), |(end, nth)| (end, Some(nth)));
        if let Some((order, end)) = self.degree("est", start) {
            return vec![(order, nth, end)];
        }
        let Some((end, meaning)) = self.meaning("superlatives", start) else { return Vec::new() };
        let Some((role, sign)) = meaning.split_once(' ') else { return Vec::new() };
        let down = sign == ">";
        let by = |path: Path| Order { by: Some(path), down };
        match role {
            "row" if self.files || self.index.tables[self.focus].append_only => {
                vec![(Order { by: None, down }, nth, end)]
            }
            // The last booking goes by its day. Of things that nobody did it is open what their last one is.
            "row" if self.is_record() => {
                self.ordering("date").into_iter().map(|column| (by(self.own(column)), nth, end)).collect()
            }
            "row" => Vec::new(),
            "column" => {
                let columns = self.columns(end).into_iter();
                let fit = columns.filter(|(path, ..)| self.is_number(path));
                let mut found: Vec<_> = fit.map(|(path, end, _)| (by(path), nth, end)).collect();
                // `the largest sale`, `the longest show`
                let roles = [("large", "amount"), ("long", "length")].into_iter();
                let role = roles.filter(|(class, _)| LEXICON.has(class, &self.tokens[end - 1].lower));
                let columns = role.filter(|_| self.is_noun(end)).filter_map(|(_, role)| self.role(role));
                found.extend(columns.map(|column| (by(self.own(column)), nth, end)));
                if let (Some(end), Some(column)) = (self.one("stock_yes", end), self.role("quantity")) {
                    found.push((by(self.own(column)), nth, end));
                }
                found
            }
            role => {
                let days = self.columns(end).into_iter();
                let days = days.filter(|(path, ..)| role == "date" && self.sort(path) == Sort::Day);
                // `the latest due date` says which day is meant.
                let named: Vec<_> = days.map(|(path, end, _)| (by(path), nth, end)).collect();
                let own = self.ordering(role).into_iter().map(|column| (by(self.own(column)), nth, end));
                own.chain(named).collect()
            }
        }
    }
}

fn with_names(np: &Np, names: Vec<Cond>) -> Np {
    let conds = [np.conds.clone(), vec![Cond::any(names.clone())]].concat();
    Np { conds, names, ..np.clone() }
}

fn merged(outer: &Np, inner: &Np) -> Np {
    Np {
        conds: [outer.conds.clone(), inner.conds.clone()].concat(),
        order: outer.order.clone().or_else(|| inner.order.clone()),
        nth: outer.nth.or(inner.nth),
        number: outer.number.clone(),
        names: inner.names.clone(),
        head: Head::Table,
        single: inner.single,
    }
}
