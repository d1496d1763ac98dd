//! Orders: requests that change data, through declared actions or in so many words.

use ordain_types::{Action, Param, ParamKind};
use serde_json::{Value, json};

use super::form::{Argument, Asked, Call, Cond, Form, Lit, Op, Operand, Select, Set, To};
use super::index::{Sort, What};
use super::lexicon::LEXICON;
use super::parse::{All, Parser, as_json};
use super::phrase::{Head, Np};
use super::token::{Kind, Token, Unit};
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
    end: usize,
    cost: u32,
}

impl Parser<'_> {
    /// Every complete reading as an order, with what it costs.
    pub(crate) fn orders(&self) -> Vec<(Form, u32)> {
        let mut found = Vec::new();
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
            }
        }
        found.extend(self.prices());
        found
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
            for (more, end, extra) in self.call(place) {
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

    /// One verb with what it is done to; the subject may stand before it.
    fn call(&self, place: usize) -> All<Vec<Call>> {
        let mut found: All<Vec<Call>> = Vec::new();
        for (which, action) in self.index.catalog.actions.iter().enumerate() {
            let mut begins: Vec<Given> =
                self.verb(which, place).map(|end| Given { end, ..Given::default() }).into_iter().collect();
            for (name, param) in &action.params {
                let Some(table) = self.table_of(param) else { continue };
                for (np, end, cost) in
                    self.about(table).np(place).iter().filter(|(np, ..)| np.is_named() && np.number.is_none())
                {
                    let verb = self.one("subject.wants", *end).and_then(|end| self.verb(which, end));
                    if let Some(end) = verb {
                        let subject = (name.clone(), Argument::Row(Box::new(np.select(table, Asked::Rows))));
                        begins.push(Given { common: vec![subject], items: Vec::new(), end, cost: *cost });
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

    fn verb(&self, which: usize, place: usize) -> Option<usize> {
        self.wants(Naming::Action, place);
        let found = self.mentions(place).into_iter().filter(|(what, ..)| *what == What::Action(which));
        found.map(|(_, end, _)| end).max()
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
            done.push(given.clone());
            if !action.each.is_empty() && given.items.is_empty() {
                for items in self.items(action, given.end) {
                    open.push(Given {
                        items: items.items,
                        end: items.end,
                        cost: given.cost + items.cost,
                        common: given.common.clone(),
                    });
                }
            }
            for (name, param) in &action.params {
                let is_each = action.each.contains(name);
                let has = given.common.iter().any(|(known, _)| known == name);
                if is_each || has {
                    continue;
                }
                for (argument, end, cost) in self.argument(name, param, given.end) {
                    let common = [given.common.clone(), vec![(name.clone(), argument)]].concat();
                    open.push(Given { common, end, cost: given.cost + cost, items: given.items.clone() });
                }
            }
            let mut last = given.end;
            while let Some(end) = self.remark(action, last) {
                done.push(Given { end, ..given.clone() });
                last = end;
            }
        }
        done.into_iter().filter(|given| !given.items.is_empty() || !given.common.is_empty()).collect()
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
                let next = Given {
                    items: [given.items.clone(), vec![item]].concat(),
                    end,
                    cost: given.cost + cost,
                    common: Vec::new(),
                };
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
                if !item.is_empty() {
                    starts.extend(self.sign(':', end));
                    starts.extend(self.tokens.get(end).filter(|token| token.lower == "x").map(|_| end + 1));
                    starts.extend(self.one("of", end));
                }
                for start in starts {
                    for (argument, end, more) in self.argument(name, param, start) {
                        // `the 2 cheapest`: two of one, or one of each?
                        let after_number =
                            start > 0 && matches!(self.tokens[start - 1].kind, Kind::Number(_));
                        if after_number
                            && matches!(&argument, Argument::Row(select) if select.order.is_some())
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
                    let has_noun =
                        !matches!(np.head, Head::Value | Head::None) || np.order.is_some() || is_value(np);
                    // `the chain of Nina` may be hers, or one like hers: other tables' rows do not say which is meant.
                    let says_by_others = np.conds.iter().any(Cond::asks_others);
                    if np.number.is_none() && says_which && has_noun && !says_by_others {
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
                            _ => matches!(number.unit, Unit::Plain | Unit::Money),
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
                        let at = self.tokens[place - 1].at;
                        (Lit { value: json!(1), at }, place)
                    }
                    _ => return None,
                };
                Some((lit, end))
            }
            ParamKind::Date => match &self.tokens.get(place)?.kind {
                Kind::Days(from, _) => Some((self.lit(json!(from), place, place + 1), place + 1)),
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

    /// A name in free words: no operator, number or mention in it, and capitals unless it was announced.
    fn free_name(&self, place: usize, is_announced: bool) -> Option<(Lit, usize)> {
        let first = self.tokens.get(place)?;
        if first.kind == Kind::Quoted {
            return Some((Lit { value: json!(first.text), at: first.at }, place + 1));
        }
        let is_name = |token: &Token, at: usize| {
            token.kind == Kind::Word
                && (is_announced || token.text.starts_with(char::is_uppercase))
                && !LEXICON.has("never_names", &token.lower)
                && !LEXICON.is_operator(&token.lower)
                && LEXICON.matches("filler", &[token.lower.as_str()]).is_empty()
                && !self.is_known_thing(at)
        };
        let length = self.tokens[place..]
            .iter()
            .enumerate()
            .take_while(|(more, token)| is_name(token, place + more))
            .count();
        if length == 0 || length > 4 {
            return None;
        }
        let words: Vec<String> =
            self.tokens[place..place + length].iter().map(|token| capital(&token.text)).collect();
        Some((self.lit(json!(words.join(" ")), place, place + length), place + length))
    }

    /// Whether a word mentions something other than a text of a column of names.
    fn is_known_thing(&self, place: usize) -> bool {
        self.index.at(self.tokens, place).iter().any(|(what, ..)| match what {
            What::Value(table, column, _) | What::Word(table, column, _) => {
                let table = &self.index.tables[*table];
                let words = super::index::split_name(&table.columns[*column].name);
                let is_person = table.is_people || words.iter().any(|word| LEXICON.has("person_words", word));
                !is_person && table.columns[*column].sort != Sort::Prose
            }
            What::Table(_) | What::Action(_) => true,
            _ => false,
        })
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
                // `I will take 2`: of what the conversation was about.
                let context =
                    self.context.as_ref().filter(|context| Some(context.table) == self.table_of(param));
                if let Some(context) = context {
                    let rows = Select { asked: Asked::Rows, ..context.clone() };
                    arguments.push((name.to_owned(), Argument::Row(Box::new(rows))));
                    continue;
                }
                // `buy it`, `the cheapest one`: one of them.
                let is_single = arguments.iter().any(
                    |(_, argument)| matches!(argument, Argument::Row(select) if select.limit == Some(1)),
                );
                if param.kind == Some(ParamKind::Count) && is_single {
                    arguments.push((name.to_owned(), Argument::Value(Lit { value: json!(1), at: (0, 0) })));
                    continue;
                }
                match &param.default {
                    Some(value) => arguments
                        .push((name.to_owned(), Argument::Value(Lit { value: value.clone(), at: (0, 0) }))),
                    None => missing.push(name.to_owned()),
                }
            }
            Call { action: which, arguments, missing }
        };
        items.into_iter().map(make).collect()
    }

    /// Changes that are said in so many words, one after the other.
    fn set_list(&self, start: usize) -> All<Vec<Set>> {
        let mut done: All<Vec<Set>> = Vec::new();
        for table in 0..self.index.tables.len() {
            let parser = self.about(table);
            for (set, end, cost) in parser.set(start, true) {
                done.push((vec![set.clone()], end, cost));
                for next in parser.lex("and", end) {
                    for (second, end, more) in
                        parser.set(next, true).into_iter().chain(parser.set(next, false))
                    {
                        done.push((vec![set.clone(), second], end, cost + more));
                    }
                }
            }
        }
        done
    }

    /// `set the price of Sport to 15`, `raise the estimate of Login page by 10%`, `set Moon stock to 5`.
    fn set(&self, start: usize, needs_verb: bool) -> All<Set> {
        let mut found: All<Set> = Vec::new();
        let mut begins: Vec<(usize, Option<f64>)> = Vec::new();
        if needs_verb {
            begins.extend(self.lex("direct.set", start).into_iter().map(|end| (end, None)));
            if let Some((end, sign)) = self.meaning("directions", start) {
                begins.push((end, Some(if sign == "+" { 1.0 } else { -1.0 })));
            }
        } else {
            begins.push((start, None));
        }
        for (begin, direction) in begins {
            for (np, column, end, cost) in self.cell(begin) {
                let path = self.own(column);
                for (to, end) in self.to(&path, direction, end) {
                    let rows = np.select(self.focus, Asked::Rows);
                    found.push((Set { rows, column, to }, end, cost));
                }
            }
            // `add 2 copies of Dune`
            if let (Some(sign), Some((number, mut lit, after))) = (direction, self.number(begin))
                && number.unit != Unit::Percent
            {
                lit.value = signed(&lit.value, sign);
                for (np, column, end, cost) in self.cell(after) {
                    if self.is_number(&self.own(column)) && np.is_named() {
                        let rows = np.select(self.focus, Asked::Rows);
                        found.push((Set { rows, column, to: To::By(lit.clone()) }, end, cost));
                    }
                }
            }
            // `add 5 to the stock of Moon`, `add 10% to the price of the Classic`
            if let (Some(sign), Some((number, lit, after))) = (direction, self.number(begin))
                && sign > 0.0
                && let Some(after) = self.one("to", after)
            {
                for (np, column, end, cost) in self.cell(after) {
                    if !self.is_number(&self.own(column)) {
                        continue;
                    }
                    let to = if number.unit == Unit::Percent {
                        To::Percent(lit.clone())
                    } else {
                        To::By(lit.clone())
                    };
                    found.push((Set { rows: np.select(self.focus, Asked::Rows), column, to }, end, cost));
                }
            }
        }
        found
    }

    /// A column of named rows: `the price of Sport`, `Moon stock`, `Chen Yu's team`.
    fn cell(&self, place: usize) -> Vec<(Np, usize, usize, u32)> {
        let mut found = Vec::new();
        let fits = |np: &Np| !np.conds.is_empty() && np.number.is_none() && np.order.is_none();
        for (path, end, cost) in self.columns(place).into_iter().filter(|(path, ..)| path.hops.is_empty()) {
            for start in self.lex("of", end).into_iter().chain(self.exact("in", end)) {
                for (np, end, more) in self.np(start).iter().filter(|(np, ..)| fits(np)) {
                    found.push((np.clone(), path.column, *end, cost + more));
                }
            }
        }
        for (np, end, cost) in self.np(place).iter().filter(|(np, ..)| fits(np) && np.conds.len() == 1) {
            let after = self.sign('\'', *end).unwrap_or(*end);
            for (path, end, more) in self.columns(after).into_iter().filter(|(path, ..)| path.hops.is_empty())
            {
                found.push((np.clone(), path.column, end, cost + more));
            }
        }
        found
    }

    /// What a column becomes: `to 15`, `by 10%`.
    fn to(&self, path: &super::form::Path, direction: Option<f64>, place: usize) -> Vec<(To, usize)> {
        let mut found = Vec::new();
        if let Some(after) = self.one("to", place) {
            if let Some((number, lit, end)) = self.number(after)
                && self.is_number(path)
                && matches!(number.unit, Unit::Plain | Unit::Money)
            {
                found.push((To::Value(lit), end));
            }
            if let (Some((from, _, end)), Sort::Day) = (self.days(after), self.sort(path)) {
                found.push((To::Value(from), end));
            }
            for (cond, end, _) in self.value(after) {
                if let Cond::Cmp(of, Op::Eq, Operand::Lit(lit)) = cond
                    && of == *path
                {
                    found.push((To::Value(lit), end));
                }
            }
            let start = self.fill(after);
            if let Some(token) = self.tokens.get(start)
                && token.kind == Kind::Quoted
                && matches!(self.sort(path), Sort::Text | Sort::Prose)
            {
                found.push((To::Value(Lit { value: json!(token.text), at: token.at }), start + 1));
            }
        }
        if let (Some(sign), Some(after)) = (direction, self.one("direct.by", place))
            && let Some((number, mut lit, end)) = self.number(after)
            && self.is_number(path)
        {
            lit.value = signed(&lit.value, sign);
            found.push((if number.unit == Unit::Percent { To::Percent(lit) } else { To::By(lit) }, end));
        }
        found
    }
}

fn signed(value: &Value, sign: f64) -> Value {
    as_json(value.as_f64().unwrap_or_default() * sign)
}

/// `x3`.
fn times(token: &Token) -> Option<f64> {
    token.lower.strip_prefix('x').and_then(|digits| digits.parse().ok()).filter(|_| token.kind == Kind::Word)
}

fn capital(word: &str) -> String {
    let mut characters = word.chars();
    match characters.next() {
        Some(first) if word.chars().all(char::is_lowercase) => {
            first.to_uppercase().chain(characters).collect()
        }
        _ => word.to_owned(),
    }
}

/// The price column of the item that an action is about, if it has an item and a count.
pub(crate) fn priced(parser: &Parser<'_>, action: &Action) -> Option<(String, String, usize, usize)> {
    let item = action.each.iter().find(|name| action.params[*name].table.is_some())?;
    let count = action.each.iter().find(|name| action.params[*name].kind == Some(ParamKind::Count))?;
    let table = parser.table_of(&action.params[item])?;
    let price = parser.index.role(table, "price")?;
    Some((item.clone(), count.clone(), table, price))
}

/// Whether a phrase without a noun names a value of a column, and not just a word of a description.
fn is_value(np: &Np) -> bool {
    np.conds.iter().any(|cond| !matches!(cond, Cond::Word(..)))
}
