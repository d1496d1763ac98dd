//! Questions about what was done: `what did Alice buy`, `who borrowed Dune`, `the best selling style`, `how much did we
//! refund`. A verb means rows of a table, those that an action recorded or that a phrasing names.

use super::form::{Asked, Cond, Hop, Link, Measure, Op, Operand, Order, Path, Select};
use super::index::{Sort, Subject, Verb, What, split_name};
use super::lexicon::LEXICON;
use super::metric;
use super::parse::{All, Parser};
use super::phrase::Np;
use super::question::is_plain;
use super::token::Kind;

/// What is asked about something that was done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ask {
    Rows,
    Any,
    When,
    HowMuch,
    HowOften,
}

impl<'a> Parser<'a> {
    /// The verbs at a place that mean rows of the table in question.
    pub(crate) fn verbs(&self, place: usize) -> All<&'a Verb> {
        let index = self.index;
        let found = self.mentions(place).into_iter().filter_map(|(what, end, cost)| match what {
            What::Verb(which) => Some((&index.verbs[which], end, cost)),
            _ => None,
        });
        found.filter(|(verb, ..)| verb.table == self.focus).collect()
    }

    /// `what did Alice buy`, `did Alice buy a Moon`, `when did Nina last buy something`, `how much did we refund`.
    pub(crate) fn done(&self, start: usize) -> All<Select> {
        let mut begins = vec![(start, Ask::Any)];
        for (class, ask) in [
            ("which", Ask::Rows),
            ("when", Ask::When),
            ("how_much", Ask::HowMuch),
            ("how_often", Ask::HowOften),
        ] {
            begins.extend(self.lex(class, start).into_iter().map(|end| (end, ask)));
        }
        let mut found: All<Select> = Vec::new();
        for (begin, ask) in begins {
            let is_passive = matches!(ask, Ask::Rows | Ask::When | Ask::HowOften);
            for (cond, last, verb, end, cost) in self.deeds(begin, ask, is_passive) {
                let Some(select) = self.asked_of(cond, last, ask, verb) else { continue };
                found.extend(self.tails(end).into_iter().map(|(end, _)| (select.clone(), end, cost)));
            }
        }
        found
    }

    /// `did Alice buy a Moon`: the rows, whether the last or the first of them, the verb, and the end.
    fn deeds(
        &self,
        place: usize,
        ask: Ask,
        is_passive: bool,
    ) -> Vec<(Cond, Option<bool>, &'a Verb, usize, u32)> {
        let mut starts: Vec<(usize, bool)> = Vec::new();
        starts
            .extend(self.lex("do", place).into_iter().chain(self.lex("have", place)).map(|end| (end, false)));
        // `how much` may end with its own `did`.
        starts.extend(
            (ask == Ask::HowMuch && self.tokens[place - 1].lower != "much").then_some((place, false)),
        );
        starts.extend(self.lex("be", place).into_iter().filter(|_| is_passive).map(|end| (end, true)));
        let mut found = Vec::new();
        for (start, is_passive) in starts {
            for (subject, who, end, cost) in self.subjects(start, is_passive && ask == Ask::Rows) {
                let (end, last) = match self.tokens.get(end).map(|token| token.lower.as_str()) {
                    Some("last") => (end + 1, Some(true)),
                    Some("first") => (end + 1, Some(false)),
                    _ => (end, None),
                };
                for (verb, end, more) in self.verbs(end) {
                    if !(is_passive
                        || verb.subject == who
                        || verb.subject == Subject::Any && who == Subject::Named)
                    {
                        continue;
                    }
                    let rows = |object: Cond| Cond::all(vec![verb.means.clone(), subject.clone(), object]);
                    let mut push = |cond: Cond, end: usize, less: u32| {
                        found.push((cond, last, verb, end, cost + more + less));
                    };
                    if ask != Ask::Any {
                        push(rows(Cond::always()), end, 0);
                    }
                    self.one("something", end).into_iter().for_each(|end| push(rows(Cond::always()), end, 0));
                    for (object, end, less) in self.object(end) {
                        push(rows(object), end, less);
                    }
                }
            }
        }
        found
    }

    /// Who did something: `we`, or somebody or something that is named.
    fn subjects(&self, place: usize, is_left_out: bool) -> Vec<(Cond, Subject, usize, u32)> {
        // `what was sold`
        let nobody = is_left_out.then_some((Cond::always(), Subject::Any, place, 0));
        let ours = self.lex("we", place).into_iter().map(|end| (Cond::always(), Subject::We, end, 0));
        let anybody =
            self.lex("anybody", place).into_iter().map(|end| (Cond::always(), Subject::Named, end, 0));
        let named = self.conds(place).into_iter().filter(|(cond, ..)| is_plain(cond));
        let named = named.chain(self.spoken_of("talk.person", place));
        let named = named.map(|(cond, end, cost)| (cond, Subject::Named, end, cost));
        ours.chain(anybody).chain(named).chain(nobody).collect()
    }

    fn asked_of(&self, filter: Cond, last: Option<bool>, ask: Ask, verb: &Verb) -> Option<Select> {
        let figure = |measure: Measure| Asked::Figure { measure, by: Vec::new(), best: None };
        let asked = match ask {
            Ask::Rows => Asked::Rows,
            Ask::Any => Asked::Any,
            Ask::HowOften => figure(Measure::Count),
            Ask::HowMuch => figure(summed(verb, self.own(self.role("amount")?))),
            Ask::When => Asked::Columns(vec![self.own(self.index.day(self.focus)?)]),
        };
        let order = match (ask, last) {
            (Ask::When, Some(down)) => Some(Order { by: Some(self.own(self.index.day(self.focus)?)), down }),
            // What Nina bought first is not asked for by the day.
            (_, Some(_)) => return None,
            (_, None) => None,
        };
        let limit = order.as_ref().map(|_| 1);
        Some(Select { order, limit, ..self.select(filter, asked) })
    }

    /// `frames that Alice bought`, `which frames did we sell on Monday`: rows that something was done to.
    pub(crate) fn done_to(&self, np: &Np, place: usize) -> All<Cond> {
        let mut found: All<Cond> = Vec::new();
        if self.depth > 0 {
            return found;
        }
        for link in self.links() {
            let other = self.about(link.table);
            for (cond, last, _, end, cost) in other.deeds(place, Ask::Rows, false) {
                if last.is_none() {
                    let done = Cond::Some(link, Box::new(cond));
                    found.push((Cond::all([np.conds.clone(), vec![done]].concat()), end, cost + 1));
                }
            }
        }
        found
    }

    /// How many pieces or times something was done to rows of the table in question: `how many Moons were sold`. `None`
    /// if the rows are not found by what was done to them.
    pub(crate) fn pieces_done(&self, filter: &Cond, is_named: bool) -> Option<Select> {
        let conds = match filter {
            Cond::And(all) => all.as_slice(),
            one => std::slice::from_ref(one),
        };
        let (deeds, others): (Vec<&Cond>, Vec<&Cond>) =
            conds.iter().partition(|cond| matches!(cond, Cond::Some(..)));
        let [Cond::Some(link, inner)] = deeds.as_slice() else { return None };
        let is_verb = |at: usize| {
            let verbs = self.index.at(self.tokens, at).into_iter();
            verbs.into_iter().any(
                |(what, ..)| matches!(what, What::Verb(which) if self.index.verbs[which].table == link.table),
            )
        };
        if !(0..self.tokens.len()).any(is_verb) || others.iter().any(|cond| cond.asks_others()) {
            return None;
        }
        let measure = match self.pieces(link.table)? {
            Some(column) => {
                let path = Path { hops: Vec::new(), table: link.table, column };
                Measure::Of(if is_negative(inner) { "size" } else { "sum" }, path)
            }
            None if is_named => Measure::Count,
            None => return None,
        };
        let others = others.into_iter().map(|cond| self.seen_from(*link, cond)).collect();
        let filter = Cond::all([vec![inner.as_ref().clone()], others].concat());
        let asked = Asked::Figure { measure, by: Vec::new(), best: None };
        Some(Select { table: link.table, ..self.select(filter, asked) })
    }

    /// A condition on rows of the table in question, as one on the rows that refer to them.
    fn seen_from(&self, link: Link, cond: &Cond) -> Cond {
        over(Hop { column: link.column, table: self.focus, to: link.to }, cond)
    }

    /// `the best selling style`, `most borrowed book`; `which style sold best`, `who bought the most`.
    pub(crate) fn best_done(&self, start: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        let mut begins = vec![start];
        for class in ["which", "what_is", "show"] {
            begins.extend(self.lex(class, start));
        }
        for begin in begins {
            let (count, place) = match self.number(begin) {
                Some((_, lit, end)) => (lit.value.as_u64().unwrap_or(1), end),
                None => (1, begin),
            };
            if let Some((down, often, end)) = self.most(place) {
                for (verb, end, cost) in self.verbs(end) {
                    for (path, end, more) in self.grouping(end) {
                        found.extend(self.ranked(verb, &path, (down, count), often, end, cost + more));
                    }
                }
            }
            for (path, end, cost) in self.grouping(begin).into_iter().filter(|_| begin != start) {
                found.extend(self.ranked_after(&path, end, cost));
            }
        }
        for end in self.lex("who", start) {
            found.extend(self.doer().map(|path| self.ranked_after(&path, end, 0)).unwrap_or_default());
        }
        found
    }

    /// `(which style) sold best`, `(who) bought the most`, `(which customer) spent most`.
    fn ranked_after(&self, path: &Path, place: usize, cost: u32) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        let passive = self.one("be", place).or_else(|| self.one("have", place));
        let is_doer = self.doer().is_some_and(|doer| doer == *path);
        for (verb, end, more) in self.verbs(passive.unwrap_or(place)) {
            // `who sold the most`: the seller is in no row.
            if is_doer && verb.subject == Subject::We {
                continue;
            }
            if let Some((down, often, end)) = self.most(end) {
                found.extend(self.ranked(verb, path, (down, 1), often, end, cost + more));
            }
        }
        // `who paid the most`, of a metric or a column. Those who never did are in no group.
        let start = passive.unwrap_or(place);
        let columns = self.columns(start).into_iter();
        let columns = columns.filter(|(path, ..)| path.hops.is_empty() && self.is_quantity(path));
        let columns = columns.map(|(path, end, cost)| (Measure::Of("sum", path), Vec::new(), end, cost));
        for (measure, filter, end, more) in self.metrics(self.mentions(start).into_iter()).chain(columns) {
            let most = self.most(end).filter(|(down, often, _)| !often && (*down || path.hops.is_empty()));
            if let Some((down, _, end)) = most {
                let best = Some((down, 1));
                let asked = Asked::Figure { measure: measure.clone(), by: vec![path.clone()], best };
                for (cond, end, less) in self.with_verb(end) {
                    let filter = Cond::all([filter.clone(), vec![cond]].concat());
                    found.push((self.select(filter, asked.clone()), end, cost + more + less));
                }
            }
        }
        found
    }

    /// `best`, `the most`, `least often`: the greatest first, whether times are counted and not pieces, and the end.
    fn most(&self, place: usize) -> Option<(bool, bool, usize)> {
        let (end, meaning) = self.meaning("superlatives", place)?;
        let is_most =
            matches!(self.tokens[end - 1].lower.as_str(), "best" | "worst" | "most" | "least" | "fewest");
        match meaning.split_once(' ')? {
            ("often", sign) => Some((sign == ">", true, end)),
            ("column", sign) if is_most => Some((sign == ">", false, end)),
            _ => None,
        }
    }

    /// The groups for which a verb was done most, with what is said after it.
    fn ranked(
        &self,
        verb: &Verb,
        path: &Path,
        best: (bool, u64),
        often: bool,
        end: usize,
        cost: u32,
    ) -> All<Select> {
        // Those for which it was never done are in no group.
        if !best.0 && !path.hops.is_empty() {
            return Vec::new();
        }
        let quantity = if often { None } else { self.pieces(self.focus) };
        let Some(quantity) = quantity.or(often.then_some(None)) else { return Vec::new() };
        let measure = quantity.map_or(Measure::Count, |column| summed(verb, self.own(column)));
        let asked = Asked::Figure { measure, by: vec![path.clone()], best: Some(best) };
        let rows = self.with_verb(end).into_iter();
        rows.map(|(cond, end, more)| {
            let known = Cond::Not(Box::new(Cond::Null(path.clone())));
            let filter = Cond::all(vec![verb.means.clone(), known, cond]);
            (self.select(filter, asked.clone()), end, cost + more)
        })
        .collect()
    }

    /// The column that says who did something: a name in the row, or the only row of people that it refers to.
    pub(crate) fn doer(&self) -> Option<Path> {
        let table = &self.index.tables[self.focus];
        let is_name = |at: &usize| {
            let column = &table.columns[*at];
            let words = split_name(&column.name);
            column.sort == Sort::Text
                && column.refers.is_none()
                && words.iter().any(|word| LEXICON.has("person_words", word))
        };
        if let Some(column) = (0..table.columns.len()).find(is_name) {
            return Some(self.own(column));
        }
        let mut people = table.columns.iter().enumerate().filter_map(|(at, column)| {
            let (other, to) = column.refers.filter(|(other, _)| self.index.tables[*other].is_people)?;
            let label = self.index.tables[other].label?;
            Some(Path { hops: vec![Hop { column: at, table: other, to }], table: other, column: label })
        });
        people.next().filter(|_| people.next().is_none())
    }

    /// `who bought a Moon`, where the row says who.
    pub(crate) fn doers(&self, place: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        let Some(doer) = self.doer().filter(|doer| doer.hops.is_empty()) else { return found };
        for (verb, end, cost) in self.verbs(place) {
            if verb.subject == Subject::We {
                continue;
            }
            let mut objects = self.object(end);
            objects.extend(self.one("something", end).map(|end| (Cond::always(), end, 0)));
            for (object, end, more) in objects {
                let filter = Cond::all(vec![verb.means.clone(), object]);
                found.push((self.select(filter, Asked::Values(doer.clone())), end, cost + more));
            }
        }
        found
    }

    /// The rows in which somebody did something that an action records: those of the customers.
    pub(crate) fn deeds_of_people(&self) -> Option<Cond> {
        let own = self.index.verbs.iter().filter(|verb| verb.table == self.focus);
        let means: Vec<Cond> =
            own.filter(|verb| verb.subject == Subject::Named).map(|verb| verb.means.clone()).collect();
        (!means.is_empty()).then(|| Cond::any(means))
    }

    /// `how much has Nina spent`: a declared metric of the rows of somebody or something.
    pub(crate) fn metric_of(&self, start: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        for begin in self.lex("how_much", start) {
            for after in self.lex("have", begin).into_iter().chain(self.lex("do", begin)) {
                for (subject, _, end, cost) in self.subjects(after, false) {
                    for (what, end, more) in self.mentions(end) {
                        let What::Metric(which) = what else { continue };
                        let Some((measure, filter)) = metric::measure(self.index, self.focus, which) else {
                            continue;
                        };
                        let filter = Cond::all(filter.into_iter().chain([subject.clone()]).collect());
                        let asked = Asked::Figure { measure, by: Vec::new(), best: None };
                        for (cond, end, less) in self.with_verb(end) {
                            let filter = Cond::all(vec![filter.clone(), cond]);
                            let select = self.select(filter, asked.clone());
                            let ends = self.tails(end).into_iter();
                            found.extend(ends.map(|(end, _)| (select.clone(), end, cost + more + less)));
                        }
                    }
                }
            }
        }
        found
    }

    /// A declared verb: `borrowed Dune`, `never borrowed anything`.
    pub(super) fn acted(&self, place: usize) -> All<Cond> {
        let mut found: All<Cond> = Vec::new();
        if self.depth > 1 {
            return found;
        }
        found.extend(self.ended(place));
        for (what, end, cost) in self.mentions(place) {
            let What::Verb(which) = what else { continue };
            let Verb { table, means, subject, .. } = &self.index.verbs[which];
            // `members who lent Emma`: the library did.
            if *subject == Subject::We && self.index.tables[self.focus].is_people {
                continue;
            }
            if *table == self.focus {
                if self.files {
                    found.push((means.clone(), end, cost));
                }
                for (object, end, more) in self.object(end) {
                    found.push((Cond::all(vec![means.clone(), object]), end, cost + more));
                }
            }
            for link in self.links().into_iter().filter(|link| link.table == *table) {
                let some = |conds: Vec<Cond>| {
                    Cond::Some(link, Box::new(Cond::all([vec![means.clone()], conds].concat())))
                };
                // What comes after a verb without an object would be taken for a word about its subject.
                found.extend(self.is_clause_end(end).then(|| (some(Vec::new()), end, cost + 1)));
                let thing = self.one("something", end).filter(|end| self.is_clause_end(*end));
                found.extend(thing.map(|end| (some(Vec::new()), end, cost)));
                let other = self.about(*table);
                for (object, end, more) in other.object(end) {
                    found.push((some(vec![object]), end, cost + more));
                }
                // `booked no musical`: no such booking, and not one of something else.
                for start in self.exact("no", end) {
                    for (object, end, more) in other.object(start) {
                        found.push((Cond::Not(Box::new(some(vec![object]))), end, cost + more));
                    }
                }
            }
        }
        found
    }

    /// `ridden by Mark Stone`, `cancelled Hamlet`: what became of a row that refers to this one, and something more of it.
    fn ended(&self, place: usize) -> All<Cond> {
        let mut found: All<Cond> = Vec::new();
        let mentions = self.mentions(place);
        let is_verb = |table: usize| {
            let mut all = mentions.iter();
            all.any(|(what, ..)| matches!(what, What::Verb(which) if self.index.verbs[*which].table == table))
        };
        for (what, end, cost) in &mentions {
            let What::Value(table, column, value) = what else { continue };
            let is_own = self.index.tables[*table].label == Some(*column)
                || self.index.tables[*table].key == Some(*column);
            if is_own || is_verb(*table) {
                continue;
            }
            let other = self.about(*table);
            let means =
                Cond::Cmp(other.own(*column), Op::Eq, Operand::Lit(self.lit(value.clone(), place, *end)));
            for link in self.links().into_iter().filter(|link| link.table == *table) {
                for (object, end, more) in other.object(*end) {
                    let both = Cond::all(vec![means.clone(), object]);
                    found.push((Cond::Some(link, Box::new(both)), end, cost + more + 2));
                }
            }
        }
        found
    }

    /// `did Frank book it`, `what did she book`: the rows that the conversation was about.
    pub(super) fn spoken_of(&self, class: &str, place: usize) -> Option<(Cond, usize, u32)> {
        let (end, rows) = (self.one(class, place)?, self.context.as_ref()?);
        if class == "talk.person" && !self.index.is_living(rows.table) {
            return None;
        }
        let filter = self.index.meant_by(&self.tokens[end - 1].lower, rows)?;
        let hops = self.hops(self.focus, rows.table);
        let ([hops], None) = (hops.as_slice(), &rows.order) else { return None };
        let [hop] = hops.as_slice() else { return None };
        Some((over(*hop, &filter), end, 0))
    }

    /// Whether nothing more is said here, or something else begins.
    fn is_clause_end(&self, place: usize) -> bool {
        let is_sign = matches!(self.tokens.get(place).map(|token| &token.kind), Some(Kind::Sign(_)));
        let begins = ["and", "or", "except", "sorted"].iter().any(|class| self.one(class, place).is_some());
        is_sign || begins || self.is_end(place)
    }

    /// What a verb is done to, as a condition on the rows that the verb means.
    pub(crate) fn object(&self, place: usize) -> All<Cond> {
        let written = place;
        let place = self.determiners(place);
        if !self.exact("no", place).is_empty() {
            return Vec::new();
        }
        let mut found = self.conds(place);
        // A title may begin with an article.
        if written != place {
            found.extend(self.conds(written));
        }
        found.extend(self.spoken_of("talk.it", place));
        // `borrowed the book Dune`: the noun of the table that the value is of.
        for (what, end, _) in self.mentions(place) {
            if let What::Table(table) = what
                && !self.hops(self.focus, table).is_empty()
            {
                found.extend(self.value(end).into_iter().map(|(cond, end, cost)| (cond, end, cost + 1)));
            }
        }
        found
    }
}

/// A condition on rows, as one on the rows that refer to them.
fn over(hop: Hop, cond: &Cond) -> Cond {
    let path = |path: &Path| Path { hops: [vec![hop], path.hops.clone()].concat(), ..path.clone() };
    cond.replaced(&mut |cond| match cond {
        Cond::Cmp(of, op, Operand::Column(other)) => {
            Some(Cond::Cmp(path(of), *op, Operand::Column(path(other))))
        }
        Cond::Cmp(of, op, operand) => Some(Cond::Cmp(path(of), *op, operand.clone())),
        Cond::Days(of, from, until) => Some(Cond::Days(path(of), from.clone(), until.clone())),
        Cond::Word(of, word) => Some(Cond::Word(path(of), word.clone())),
        Cond::Null(of) => Some(Cond::Null(path(of))),
        _ => None,
    })
}

/// What a verb's rows come to in a column: a sum; of rows that count down, how large it is.
fn summed(verb: &Verb, path: Path) -> Measure {
    Measure::Of(if is_negative(&verb.means) { "size" } else { "sum" }, path)
}

/// Whether rows are found by a number below zero: a refund, a return.
fn is_negative(cond: &Cond) -> bool {
    match cond {
        Cond::And(all) => all.iter().any(is_negative),
        Cond::Cmp(_, Op::Lt, Operand::Lit(lit)) => lit.value == 0,
        _ => false,
    }
}
