//! Orders: requests that change data, through declared actions or in so many words.

use ordain_types::{Action, Param, ParamKind};
use serde_json::json;

use super::explain::Unknown;
use super::form::{Argument, Asked, Call, Cond, Form, Lit, Op, Path, Select};
use super::index::{Table, What};
use super::lexicon::{LEXICON, singular};
use super::parse::{All, Parser, as_json};
use super::phrase::{Head, Np};
use super::token::{Kind, Token, Unit, day_before};
use super::trace::Naming;

/// Calls of one order beyond this many are not carried out.
const CALLS_MAX: usize = 12;

/// What an action is called with so far.
#[derive(Debug, Clone, Default)]
struct Given {
    /// Values that hold for every call.
    common: Vec<(String, Argument)>,
    /// The items of the list, each with its own values.
    items: Vec<Vec<(String, Argument)>>,
    /// The rest of a verb that is still to come: `take … back`.
    rest: Vec<String>,
    end: usize,
    cost: u32,
}

impl Parser<'_> {
    /// Every complete reading as an order, with what it costs.
    pub(crate) fn orders(&self) -> Vec<(Form, u32)> {
        let mut found = Vec::new();
        let is_doubted = |token: &Token| LEXICON.has("doubts", &token.lower);
        if self.tokens.iter().skip(self.opening()).any(is_doubted) {
            return found;
        }
        for (start, is_wish, asks) in self.order_openings() {
            for (calls, end, cost) in self.call_list(start) {
                if !self.is_end(end) {
                    continue;
                }
                let asks = asks || (self.is_question() && !is_wish);
                found.push((if asks { Form::Offer(calls) } else { Form::Calls(calls) }, cost));
            }
            if !asks && !self.is_question() {
                let sets = self.set_list(start).into_iter().filter(|(_, end, _)| self.is_end(*end));
                // What an action covers is done by the action.
                found.extend(sets.map(|(sets, _, cost)| (Form::Sets(sets), cost + 1)));
                found.extend(self.rows_changed(start));
            }
        }
        found.extend(self.prices());
        found
    }

    /// The word of an order that names nothing: `buy it`, where nothing was said before. It is not a question.
    pub(crate) fn open_order(&self) -> Option<Unknown> {
        let begins = self.order_openings().into_iter().map(|(start, ..)| self.fill(start));
        let verbs = begins.flat_map(|start| self.mentions(start)).filter_map(|(what, end, _)| match what {
            What::Action(_) => Some(end),
            _ => None,
        });
        let open = verbs.filter_map(|end| {
            let anything = || self.one("thing", end).filter(|end| self.is_end(*end));
            self.one("talk.it", end).or_else(anything)
        });
        let token = open.max().and_then(|end| self.tokens.get(end - 1))?;
        let reason = format!("“{}” names nothing here: say which one", token.text);
        Some(Unknown::because(token, &reason))
    }

    /// Where an order may begin; whether a wish was said that makes even a question an order; whether it is a question.
    fn order_openings(&self) -> Vec<(usize, bool, bool)> {
        let first = self.opening();
        let mut found = vec![(0, false, false), (first, false, false)];
        let orders = self.lex("polite", first);
        let wishes = self.lex("want", first);
        // The longest wins: `could you please` asks for more than `could you` does.
        let longest = wishes.iter().chain(&orders).copied().max().unwrap_or(0);
        found.extend(wishes.into_iter().map(|end| (end, false, false)));
        found.extend(orders.into_iter().map(|end| (end, true, false)));
        found.extend(
            self.lex("may_i", first).into_iter().filter(|end| *end > longest).map(|end| (end, false, true)),
        );
        found.sort_unstable();
        found.dedup();
        found
    }

    /// `what would 2 moons cost`: the price of so many, through an action with an item and a quantity.
    fn prices(&self) -> Vec<(Form, u32)> {
        let mut found = Vec::new();
        for start in self.lex("how_much", self.fill(0)) {
            for (place, action) in self.index.catalog.actions.iter().enumerate() {
                if action.each.len() != 2 || priced(self, action).is_none() {
                    continue;
                }
                let begin = self.one("be", start).unwrap_or(start);
                for given in self.items(action, begin) {
                    let after = self
                        .tokens
                        .get(given.end)
                        .filter(|token| token.lower == "be")
                        .map_or(given.end, |_| given.end + 1);
                    let end = self.one("cost", after).unwrap_or(given.end);
                    let calls = self.calls(place, action, &given);
                    if self.is_end(end) && calls.iter().all(|call| call.missing.is_empty()) {
                        found.push((Form::Offer(calls), given.cost));
                    }
                }
                break;
            }
        }
        found
    }

    /// Calls of actions, one after the other.
    fn call_list(&self, start: usize) -> All<Vec<Call>> {
        let mut done: All<Vec<Call>> = Vec::new();
        let mut open: All<Vec<Call>> = vec![(Vec::new(), start, 0)];
        while let Some((calls, place, cost)) = open.pop() {
            let again = calls.last().map(|last| self.again(last, place)).unwrap_or_default();
            for (more, end, extra) in self.call(place).into_iter().chain(again) {
                let all = [calls.clone(), more].concat();
                if all.len() > CALLS_MAX || done.len() > 40 {
                    continue;
                }
                done.push((all.clone(), end, cost + extra));
                let comma = self.sign(',', end).or_else(|| self.sign(';', end));
                let after = comma.unwrap_or(end);
                let joints = self.lex("and", after).into_iter().chain(comma);
                open.extend(joints.map(|next| (all.clone(), next, cost + extra)));
            }
        }
        done
    }

    /// `3 Classic for Alice and 2 Moon for Bob`: the verb holds on, where each part says all that the other one says.
    fn again(&self, last: &Call, place: usize) -> All<Vec<Call>> {
        let action = &self.index.catalog.actions[last.action];
        let said = |call: &Call| -> Vec<String> {
            let is_said = |argument: &Argument| !matches!(argument, Argument::Value(lit) if lit.at == (0, 0));
            let own = call.arguments.iter().filter(|(name, it)| !action.each.contains(name) && is_said(it));
            own.map(|(name, _)| name.clone()).collect()
        };
        if action.each.is_empty() || said(last).is_empty() {
            return Vec::new();
        }
        let given = self.arguments(action, Given { end: place, ..Given::default() }).into_iter();
        given
            .filter(|given| !given.items.is_empty())
            .map(|given| (self.calls(last.action, action, &given), given.end, given.cost))
            .filter(|(calls, ..)| {
                calls.iter().all(|call| call.missing.is_empty() && said(call) == said(last))
            })
            .collect()
    }

    /// One verb with what it is done to; the subject may stand before it.
    fn call(&self, place: usize) -> All<Vec<Call>> {
        let mut found: All<Vec<Call>> = Vec::new();
        for (which, action) in self.index.catalog.actions.iter().enumerate() {
            let mut begins: Vec<Given> =
                self.verb(which, place).map(|end| Given { end, ..Given::default() }).into_iter().collect();
            begins.extend(self.parted_verbs(action, place));
            for (name, param) in &action.params {
                let Some(table) = self.table_of(param) else { continue };
                // `Duke needs to rest` says something of Duke; `Ida wants to borrow Emma` is an order for her.
                let is_asking = self.index.tables[table].is_people && !param.after.is_empty();
                for (np, end, cost) in self
                    .about(table)
                    .np(place)
                    .iter()
                    .filter(|(np, ..)| is_asking && np.is_named() && np.number.is_none())
                {
                    let verb = self.one("subject.wants", *end).and_then(|end| self.verb(which, end));
                    if let Some(end) = verb {
                        let subject = (name.clone(), Argument::Row(Box::new(np.select(table, Asked::Rows))));
                        begins.push(Given { common: vec![subject], end, cost: *cost, ..Given::default() });
                    }
                }
            }
            for begin in begins {
                for given in self.arguments(action, begin) {
                    let calls = self.calls(which, action, &given);
                    let missing: usize = calls.iter().map(|call| call.missing.len()).sum();
                    let cost = given.cost + 3 * u32::try_from(missing).unwrap_or(9);
                    found.push((calls, given.end, cost));
                }
            }
        }
        found
    }

    /// What was missing in an order, as the whole request says it: `to Beata Kowal`, `Beata Kowal`, `2`.
    pub(crate) fn supplied(&self, call: &Call) -> Option<Call> {
        let action = &self.index.catalog.actions[call.action];
        let [name] = call.missing.as_slice() else { return None };
        let param = &action.params[name];
        let bare = Param { after: Vec::new(), ..param.clone() };
        let mut found: All<Argument> = Vec::new();
        // A title may begin with an article.
        for start in [0, self.opening()] {
            found.extend(self.argument(name, param, start));
            found.extend(self.argument(name, &bare, start));
        }
        found.retain(|(_, end, _)| self.is_end(*end));
        let least = found.iter().map(|(.., cost)| *cost).min()?;
        found.retain(|(.., cost)| *cost == least);
        found.dedup_by(|one, other| one.0 == other.0);
        let [(argument, ..)] = found.as_slice() else { return None };
        let arguments = [call.arguments.clone(), vec![(name.clone(), argument.clone())]].concat();
        Some(Call { arguments, missing: Vec::new(), ..call.clone() })
    }

    fn verb(&self, which: usize, place: usize) -> Option<usize> {
        self.wants(Naming::Action, place);
        // `buys 2 Moons` says what somebody does; it is no order.
        let said = [place, self.fill(place)].into_iter().filter_map(|at| self.tokens.get(at));
        let words = &self.index.catalog.actions[which].words;
        let begins = |verb: &String, said: &str| {
            verb.split_whitespace().next().is_some_and(|first| first.eq_ignore_ascii_case(said))
        };
        let is_order = said.into_iter().any(|said| words.iter().any(|verb| begins(verb, &said.lower)));
        let found = self.mentions(place).into_iter().filter(|(what, ..)| *what == What::Action(which));
        found.map(|(_, end, _)| end).max().filter(|_| is_order)
    }

    /// `take … back`, `sign … up`: the first word of a verb, whose other words come after what it is done to.
    fn parted_verbs(&self, action: &Action, place: usize) -> Vec<Given> {
        let place = self.fill(place);
        let Some(first) = self.tokens.get(place).filter(|token| token.kind == Kind::Word) else {
            return Vec::new();
        };
        let verbs = action.words.iter().filter_map(|verb| {
            let lower = verb.to_lowercase();
            let (verb, rest) = lower.split_once(' ')?;
            let is_particle = LEXICON.has("particles", rest);
            (verb == first.lower && is_particle).then(|| rest.split(' ').map(str::to_owned).collect())
        });
        verbs.map(|rest| Given { rest, end: place + 1, ..Given::default() }).collect()
    }

    fn table_of(&self, param: &Param) -> Option<usize> {
        let name = param.table.as_ref()?;
        self.index.tables.iter().position(|table| table.name == *name)
    }

    /// All ways to give an action its values from a place on.
    fn arguments(&self, action: &Action, begin: Given) -> Vec<Given> {
        let mut done = Vec::new();
        let mut open = vec![begin];
        while let Some(given) = open.pop() {
            if done.len() > 60 {
                break;
            }
            let rest: Vec<&str> = given.rest.iter().map(String::as_str).collect();
            if !rest.is_empty() && self.words(given.end).starts_with(&rest) {
                open.push(Given { rest: Vec::new(), end: given.end + rest.len(), ..given.clone() });
            }
            done.push(given.clone());
            if !action.each.is_empty() && given.items.is_empty() {
                for items in self.items(action, given.end) {
                    let cost = given.cost + items.cost;
                    open.push(Given { items: items.items, end: items.end, cost, ..given.clone() });
                }
            }
            for (name, param) in &action.params {
                let is_each = action.each.contains(name);
                let has = given.common.iter().any(|(known, _)| known == name);
                if is_each || has {
                    continue;
                }
                let mut found = self.argument(name, param, given.end);
                if given.common.is_empty() && given.items.is_empty() {
                    found.extend(self.indirect(param, given.end));
                }
                found.extend(self.joined(name, param, &given));
                found.retain(|(argument, end, _)| {
                    !self.is_uncounted(action, name, argument, (given.end, *end))
                });
                for (argument, end, cost) in found {
                    let common = [given.common.clone(), vec![(name.clone(), argument)]].concat();
                    // `take Eva out of Yoga`: the word before the param is also the rest of the verb.
                    let said = self.words(given.end);
                    let rest = if said.starts_with(&rest) { Vec::new() } else { given.rest.clone() };
                    open.push(Given { common, rest, end, cost: given.cost + cost, ..given.clone() });
                }
            }
            let mut last = given.end;
            while let Some(end) = self.remark(action, last) {
                done.push(Given { end, ..given.clone() });
                last = end;
            }
        }
        done.retain(|given| given.rest.is_empty() && !(given.items.is_empty() && given.common.is_empty()));
        done
    }

    /// `3 kg of oats`, `3 to Duke`, `with 5`: after another value, one that the catalog names no word before.
    fn joined(&self, name: &str, param: &Param, given: &Given) -> All<Argument> {
        let (Some((last, value)), true) = (given.common.last(), param.after.is_empty()) else {
            return Vec::new();
        };
        let table = self.table_of(param).map(|table| &self.index.tables[table]);
        let is_measured = |table: &Table| table.columns.iter().any(|column| column.name == *last);
        let words: &[&str] = match table {
            Some(table) if matches!(value, Argument::Value(_)) && is_measured(table) => &["of", "to"],
            Some(_) => &["to"],
            None => &["with", "by"],
        };
        let is_said = self.tokens.get(given.end).is_some_and(|token| words.contains(&token.lower.as_str()));
        if is_said { self.argument(name, param, given.end + 1) } else { Vec::new() }
    }

    /// `lend Goran Petrovic a saw`: right after the verb, somebody to whom it is done.
    fn indirect(&self, param: &Param, place: usize) -> All<Argument> {
        let people = self.table_of(param).filter(|table| self.index.tables[*table].is_people);
        let (Some(table), true) = (people, param.after.iter().any(|word| word == "to")) else {
            return Vec::new();
        };
        let named = self.about(table).np(place);
        let named =
            named.iter().filter(|(np, ..)| np.is_named() && np.names.len() == 1 && np.conds.len() == 1);
        named
            .map(|(np, end, cost)| (Argument::Row(Box::new(np.select(table, Asked::Rows))), *end, cost + 1))
            .collect()
    }

    /// `I bought 3 weeks ago`, where the action allows it.
    fn remark(&self, action: &Action, place: usize) -> Option<usize> {
        let start = self.fill(self.sign(',', place).unwrap_or(place));
        let start = self.one("that", start).unwrap_or(start);
        let words = self.words(start);
        let length = action.remarks.iter().find_map(|remark| {
            let remark = remark.to_lowercase();
            let wanted: Vec<&str> = remark.split_whitespace().collect();
            words.starts_with(&wanted).then_some(wanted.len())
        })?;
        let end = start + length;
        let ago = self.number(end).and_then(|(_, _, after)| self.exact("past.unit", after).into_iter().max());
        let when = ago.or_else(|| self.exact("past.ago", end).into_iter().max());
        let on = || self.one("on_day", end).and_then(|on| self.days(on)).map(|(_, _, end)| end);
        Some(when.or_else(on).unwrap_or(end))
    }

    /// `3 classic and 1 aviator`: the values that a list gives.
    fn items(&self, action: &Action, place: usize) -> Vec<Given> {
        let mut done: Vec<Given> = Vec::new();
        let mut open = vec![Given { end: place, ..Given::default() }];
        while let Some(given) = open.pop() {
            if given.items.len() >= CALLS_MAX || done.len() > 60 {
                continue;
            }
            for (item, end, cost) in self.item(action, given.end) {
                let items = [given.items.clone(), vec![item]].concat();
                let next = Given { items, end, cost: given.cost + cost, ..Given::default() };
                let comma = self.sign(',', end);
                let after = comma.unwrap_or(end);
                let joints = self.lex("and", after).into_iter().chain(comma);
                open.extend(joints.map(|end| Given { end, ..next.clone() }));
                done.push(next);
            }
        }
        done
    }

    /// One item of the list, its values in any order: `2 moons`, `Moon: 2`, `Moon x2`.
    fn item(&self, action: &Action, place: usize) -> All<Vec<(String, Argument)>> {
        let mut done: All<Vec<(String, Argument)>> = Vec::new();
        let mut open: All<Vec<(String, Argument)>> = vec![(Vec::new(), place, 0)];
        while let Some((item, end, cost)) = open.pop() {
            for name in &action.each {
                if item.iter().any(|(known, _)| known == name) {
                    continue;
                }
                let param = &action.params[name];
                let mut starts = vec![end];
                let end_before = end;
                if !item.is_empty() {
                    starts.extend(self.sign(':', end));
                    starts.extend(self.tokens.get(end).filter(|token| token.lower == "x").map(|_| end + 1));
                    starts.extend(self.one("of", end));
                    starts.extend(self.after_counted(&item, param, end));
                }
                // `the cheapest one`: no number, but the thing.
                let is_best =
                    |argument: &Argument| matches!(argument, Argument::Row(rows) if rows.order.is_some());
                let is_thing = item.iter().any(|(_, argument)| is_best(argument))
                    && self.tokens.get(end).is_some_and(|token| token.lower == "one");
                for start in starts.into_iter().filter(|_| !is_thing) {
                    for (argument, end, more) in self.argument(name, param, start) {
                        // `the 2 cheapest`: two of one, or one of each?
                        let after_number =
                            start > 0 && matches!(self.tokens[start - 1].kind, Kind::Number(_));
                        let is_number = matches!(&argument, Argument::Value(lit) if lit.value.is_number());
                        if after_number && is_best(&argument)
                            || self.is_uncounted(action, name, &argument, (start, end))
                            || is_number && start == end_before && self.ends_with_noun(start)
                        {
                            continue;
                        }
                        open.push((
                            [item.clone(), vec![(name.clone(), argument)]].concat(),
                            end,
                            cost + more,
                        ));
                    }
                }
            }
            if !item.is_empty() {
                done.push((item, end, cost));
            }
        }
        done
    }

    /// `2 tickets for Hamlet`, `2 seats in Macbeth`: after a number, what it counts, and a little word.
    fn after_counted(&self, item: &[(String, Argument)], param: &Param, place: usize) -> Option<usize> {
        let [(name, Argument::Value(_))] = item else { return None };
        let (token, table) = (self.tokens.get(place)?, self.table_of(param)?);
        let is_table = |(what, ..): &(What, usize, u32)| *what == What::Table(table);
        let is_counted =
            token.stem == singular(name) || self.index.at(self.tokens, place).iter().any(is_table);
        self.one("counted_of", place + 1).filter(|_| is_counted && token.kind == Kind::Word)
    }

    /// Whether a noun in the singular comes before a place: the 12 of `seat 12` is no number of seats.
    fn ends_with_noun(&self, place: usize) -> bool {
        let Some(before) = place.checked_sub(1) else { return false };
        let token = &self.tokens[before];
        let mut mentions = self.index.at(self.tokens, before).into_iter();
        token.lower == token.stem && mentions.any(|(what, ..)| matches!(what, What::Table(_)))
    }

    /// A value for one param.
    fn argument(&self, name: &str, param: &Param, place: usize) -> All<Argument> {
        let mut found: All<Argument> = Vec::new();
        for start in self.after_words(param, place) {
            let noun = self.noun_of(name, start);
            if let Some(table) = self.table_of(param) {
                let other = self.about(table);
                for (np, end, cost) in other.np(start).iter() {
                    // The number before a noun is another param; alone, the noun says nothing about which row.
                    let says_which = np.is_named() || !np.conds.is_empty() || np.order.is_some();
                    let has_noun = !matches!(np.head, Head::Value | Head::None)
                        || np.order.is_some()
                        || other.names_rows(np);
                    // `the chain of Nina` may be hers, or one like hers: other tables' rows do not say which is meant.
                    let says_by_others = np.conds.iter().any(Cond::asks_others);
                    if np.number.is_none()
                        && says_which
                        && has_noun
                        && !says_by_others
                        && !other.is_loosely_named(np)
                        && (param.after.is_empty() || !other.is_small_part(np))
                    {
                        // `2 aviators and a moon` are two items, before they are one that is unclear.
                        let cost = cost + if np.names.len() > 1 { 2 } else { 0 };
                        found.push((Argument::Row(Box::new(np.select(table, Asked::Rows))), *end, cost));
                    }
                }
                continue;
            }
            if let Some(column) = &param.column {
                for (what, end, cost) in self.mentions(start) {
                    if let What::Value(table, at, value) = what
                        && self.index.tables[table].name == column.table
                        && self.index.tables[table].columns[at].name == column.column
                    {
                        found.push((Argument::Value(self.lit(value, start, end)), end, cost));
                    }
                }
                continue;
            }
            let Some(kind) = param.kind else { continue };
            for from in [Some(start), noun].into_iter().flatten() {
                if let Some((lit, end)) = self.plain(kind, from, noun == Some(from)) {
                    let end = if lit.value.is_number() { self.unit_of_param(name, end) } else { end };
                    found.push((Argument::Value(lit), end, 0));
                }
            }
        }
        found
    }

    /// The places after the words that stand before a param.
    fn after_words(&self, param: &Param, place: usize) -> Vec<usize> {
        if param.after.is_empty() {
            return vec![place];
        }
        let place = self.sign(',', place).unwrap_or(place);
        let words = self.words(place);
        let mut ends: Vec<usize> = param
            .after
            .iter()
            .filter_map(|phrase| {
                let lower = phrase.to_lowercase();
                let wanted: Vec<&str> = lower.split_whitespace().collect();
                words.starts_with(&wanted).then_some(place + wanted.len())
            })
            .collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// After `customer`, where that is the param's own name.
    fn noun_of(&self, name: &str, place: usize) -> Option<usize> {
        let at = self.fill(place);
        self.tokens.get(at).filter(|token| token.stem == name).map(|_| at + 1)
    }

    /// Passes over the unit of a number, which is that of the column of the same name: `7.5 kg`.
    fn unit_of_param(&self, name: &str, end: usize) -> usize {
        let tables = self.index.tables.iter().enumerate();
        let columns = tables.filter_map(|(table, shape)| {
            let column = shape.columns.iter().position(|column| column.name == name)?;
            Some(Path { hops: Vec::new(), table, column })
        });
        columns.map(|path| self.unit(&path, end)).max().unwrap_or(end)
    }

    /// A value that is neither a row nor a column's.
    fn plain(&self, kind: ParamKind, place: usize, is_announced: bool) -> Option<(Lit, usize)> {
        let place = if matches!(kind, ParamKind::Name) { place } else { self.fill(place) };
        match kind {
            ParamKind::Count | ParamKind::Number | ParamKind::Money | ParamKind::Percent => {
                let article = matches!(
                    self.tokens.get(place.saturating_sub(1)).map(|token| token.lower.as_str()),
                    Some("a" | "an")
                );
                let times = self.tokens.get(place).and_then(times);
                let (lit, end) = match (self.number(place), times) {
                    (Some((number, lit, end)), _) => {
                        let fits = match kind {
                            ParamKind::Count => number.unit == Unit::Plain,
                            ParamKind::Percent => matches!(number.unit, Unit::Plain | Unit::Percent),
                            _ => matches!(number.unit, Unit::Plain | Unit::Money(_)),
                        };
                        if !fits {
                            return None;
                        }
                        (lit, end)
                    }
                    (None, Some(value)) if kind == ParamKind::Count => {
                        (self.lit(as_json(value), place, place + 1), place + 1)
                    }
                    (None, None) if kind == ParamKind::Count && article => {
                        let (count, end) = self.pair(place)?;
                        let at = (self.tokens[place - 1].at.0, self.tokens[end - 1].at.1);
                        (Lit { value: json!(count), at }, end)
                    }
                    _ => return None,
                };
                Some((lit, end))
            }
            ParamKind::Date => match &self.tokens.get(place)?.kind {
                // `in March` is no day.
                Kind::Days(from, until) if day_before(until).as_ref() == Some(from) => {
                    Some((self.lit(json!(from), place, place + 1), place + 1))
                }
                _ => None,
            },
            ParamKind::Time => match &self.tokens.get(place)?.kind {
                Kind::Time(time) => Some((self.lit(json!(time), place, place + 1), place + 1)),
                _ => None,
            },
            ParamKind::Name => self.free_name(place, is_announced),
            ParamKind::Text => {
                let token = self.tokens.get(place).filter(|token| token.kind == Kind::Quoted)?;
                Some((Lit { value: json!(token.text), at: token.at }, place + 1))
            }
        }
    }

    /// After `a`: one, or two of `pair of`. Where things are counted by the pair, it is not known how many that is.
    fn pair(&self, place: usize) -> Option<(u32, usize)> {
        if !self.words(place).starts_with(&["pair", "of"]) {
            return Some((1, place));
        }
        let known = self.index.at(self.tokens, place);
        if known.iter().any(|(what, ..)| matches!(what, What::Table(_))) {
            return Some((1, place));
        }
        let mut columns = self.index.tables.iter().flat_map(|table| &table.columns);
        let by_pair = columns.any(|column| column.unit.as_deref().is_some_and(|unit| unit.contains("pair")));
        (known.is_empty() && !by_pair).then_some((2, place + 2))
    }

    /// The calls that were asked for, defaults filled in, and what is still missing.
    fn calls(&self, which: usize, action: &Action, given: &Given) -> Vec<Call> {
        let items = if given.items.is_empty() { vec![Vec::new()] } else { given.items.clone() };
        let make = |item: Vec<(String, Argument)>| {
            let mut arguments = [item, given.common.clone()].concat();
            let mut missing = Vec::new();
            for (name, param) in action.ordered() {
                if arguments.iter().any(|(known, _)| known == name) {
                    continue;
                }
                // `I will take 2`: of what the conversation was about, where things are counted. For whom is never taken
                // from it, nor of what 100 kg are.
                let is_counted =
                    |(name, _): &(String, Argument)| action.params[name].kind == Some(ParamKind::Count);
                let is_item = action.each.iter().any(|each| each == name) && arguments.iter().any(is_counted);
                let context = self.context.as_ref();
                let context = context.filter(|rows| is_item && Some(rows.table) == self.table_of(param));
                if let Some(context) = context {
                    let rows = Select { asked: Asked::Rows, ..context.clone() };
                    arguments.push((name.to_owned(), Argument::Row(Box::new(rows))));
                    continue;
                }
                // `buy it`, `the cheapest one`: one of them. Of a show it is open how many seats.
                let is_single = arguments.iter().any(
                    |(_, argument)| matches!(argument, Argument::Row(select) if select.limit == Some(1)),
                );
                if param.kind == Some(ParamKind::Count) && is_single && LEXICON.has("counts_rows", name) {
                    arguments.push((name.to_owned(), Argument::Value(Lit { value: json!(1), at: (0, 0) })));
                    continue;
                }
                // `rent the washers`, `buy all the Moon`: how many is not said.
                let is_plural = |argument: &Argument| matches!(argument, Argument::Row(rows) if self.is_plural(&rows.filter));
                let is_several = param.kind == Some(ParamKind::Count)
                    && (self.says_several() || arguments.iter().any(|(_, argument)| is_plural(argument)));
                match param.default.as_ref().filter(|_| !is_several) {
                    Some(value) => arguments
                        .push((name.to_owned(), Argument::Value(Lit { value: value.clone(), at: (0, 0) }))),
                    None => missing.push(name.to_owned()),
                }
            }
            Call { action: which, arguments, missing }
        };
        items.into_iter().map(make).collect()
    }

    /// Whether a phrase without a noun says what rows are: a word of their names, or a value that things are called by
    /// (`aviators`); not a word of a description, nor where somebody lives or how far something is.
    pub(super) fn names_rows(&self, np: &Np) -> bool {
        let table = &self.index.tables[self.focus];
        let is_other = |cond: &Cond| match cond {
            Cond::Word(path, _) => Some(path.column) != table.label,
            Cond::Cmp(path, Op::Eq, _) if path.hops.is_empty() && !self.is_name(cond) => {
                table.is_people || self.index.is_state(path.table, path.column)
            }
            _ => false,
        };
        np.conds.iter().any(|cond| !is_other(cond))
    }

    /// Whether more than one is meant, and not how many.
    pub(crate) fn says_several(&self) -> bool {
        self.tokens.iter().any(|token| LEXICON.has("several", token.word()))
    }
}

/// `x3`.
fn times(token: &Token) -> Option<f64> {
    token.lower.strip_prefix('x').and_then(|digits| digits.parse().ok()).filter(|_| token.kind == Kind::Word)
}

/// The price column of the item that an action is about, if it has an item and a count.
pub(crate) fn priced(parser: &Parser<'_>, action: &Action) -> Option<(String, String, usize, usize)> {
    let item = action.each.iter().find(|name| action.params[*name].table.is_some())?;
    let count = action.each.iter().find(|name| action.params[*name].kind == Some(ParamKind::Count))?;
    let table = parser.table_of(&action.params[item])?;
    let price = parser.index.role(table, "price")?;
    Some((item.clone(), count.clone(), table, price))
}
