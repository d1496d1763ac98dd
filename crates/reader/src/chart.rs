//! Finds every derivation of a text: memoised recursive descent that gives all ends. There are no weights; a cap that is
//! reached declines.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use crate::captures::Captures;
use crate::context::Context;
use crate::grammar::{Capture, GRAMMAR, Item, Production, Times, What};
use crate::mention::Mentions;
use crate::token::{Kind, Token};
use crate::value::Value;

/// Values of one symbol at one place.
const VALUES_MAX: usize = 600;
/// Steps of one parse.
const STEPS_MAX: u32 = 400_000;

/// The captures so far, last one first.
type Taken = Option<Rc<Node>>;

/// What a symbol means from one token on, each with its end.
type Found = Rc<Vec<(usize, Value)>>;

#[derive(Debug)]
struct Node {
    capture: Option<Capture>,
    value: Value,
    before: Taken,
}

/// One parse of one text.
#[derive(Debug)]
pub(crate) struct Chart<'a> {
    context: &'a Context<'a>,
    tokens: &'a [Token],
    mentions: &'a Mentions,
    cells: HashMap<(usize, usize), Found>,
    steps: u32,
    is_capped: bool,
    /// The furthest token at which something else was expected, and what.
    pub(crate) furthest: usize,
    pub(crate) expected: BTreeSet<&'static str>,
    /// The productions that took part in some derivation of a part of the text.
    #[cfg(test)]
    pub(crate) used: BTreeSet<usize>,
    /// Productions whose builder left a capture behind: they mean nothing until they are mended.
    #[cfg(test)]
    pub(crate) lost: BTreeSet<&'static str>,
}

impl<'a> Chart<'a> {
    pub(crate) fn new(context: &'a Context<'a>, tokens: &'a [Token], mentions: &'a Mentions) -> Self {
        Self {
            context,
            tokens,
            mentions,
            cells: HashMap::new(),
            steps: 0,
            is_capped: false,
            furthest: 0,
            expected: BTreeSet::new(),
            #[cfg(test)]
            used: BTreeSet::new(),
            #[cfg(test)]
            lost: BTreeSet::new(),
        }
    }

    /// All meanings of a symbol over the whole text; nothing where there are too many to look at.
    pub(crate) fn all(&mut self, symbol: &str) -> Option<Vec<Value>> {
        let found = self.parse(GRAMMAR.find(symbol)?, 0);
        let whole = found.iter().filter(|(end, _)| *end == self.tokens.len());
        let mut values: Vec<Value> = Vec::new();
        for (_, value) in whole {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        (!self.is_capped).then_some(values)
    }

    fn parse(&mut self, symbol: usize, at: usize) -> Found {
        if let Some(found) = self.cells.get(&(symbol, at)) {
            return found.clone();
        }
        // No production begins with its own head: an empty cell stands for it meanwhile.
        self.cells.insert((symbol, at), Rc::default());
        let mut seen: HashSet<(usize, Value)> = HashSet::new();
        let mut found = Vec::new();
        for production in &GRAMMAR.productions[symbol] {
            let mut ways = Vec::new();
            self.sequence(&production.items, at, &None, &mut ways);
            for (end, taken) in ways {
                for value in self.build(production, &taken, at, end) {
                    if seen.insert((end, value.clone())) {
                        found.push((end, value));
                    }
                }
            }
            if found.len() > VALUES_MAX {
                self.is_capped = true;
                found.clear();
                break;
            }
        }
        let found = Rc::new(found);
        self.cells.insert((symbol, at), found.clone());
        found
    }

    fn build(&mut self, production: &'static Production, taken: &Taken, at: usize, end: usize) -> Vec<Value> {
        let mut all = Vec::new();
        let mut node = taken;
        while let Some(some) = node {
            all.push((some.capture, some.value.clone()));
            node = &some.before;
        }
        all.reverse();
        let Some(build) = production.build else {
            let is_named = all.iter().any(|(capture, _)| capture.is_some());
            all.retain(|(capture, _)| capture.is_some() == is_named);
            if all.len() == 1 {
                return all.into_iter().map(|(_, value)| value).collect();
            }
            let words: Vec<&str> = self.tokens[at..end].iter().map(|token| token.lower.as_str()).collect();
            return vec![Value::Word(words.join(" "))];
        };
        let named = all.into_iter().filter_map(|(capture, value)| Some((capture?.name, value)));
        let extra = production.extra.iter().map(|(name, value)| (*name, Value::Word((*value).to_owned())));
        let mut captures = Captures::new(named.chain(extra));
        let values = build(self.context, &mut captures).unwrap_or_default();
        if !values.is_empty() && !captures.is_empty() {
            #[cfg(test)]
            self.lost.insert(production.text);
            return Vec::new();
        }
        #[cfg(test)]
        if !values.is_empty() {
            self.used.insert(production.number);
        }
        values
    }

    /// Every end of these items from a token on, with what was captured.
    fn sequence(&mut self, items: &'static [Item], at: usize, taken: &Taken, out: &mut Vec<(usize, Taken)>) {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            self.is_capped = true;
        }
        if self.is_capped {
            return;
        }
        let Some((item, rest)) = items.split_first() else {
            out.push((at, taken.clone()));
            return;
        };
        if item.times != Times::Once {
            self.sequence(rest, at, taken, out);
        }
        let mut ends = Vec::new();
        self.one(item, at, taken, &mut ends);
        for (end, taken) in ends {
            let next = if item.times == Times::Any && end > at { items } else { rest };
            self.sequence(next, end, &taken, out);
        }
    }

    fn one(&mut self, item: &'static Item, at: usize, taken: &Taken, out: &mut Vec<(usize, Taken)>) {
        let with = |value: Value| Some(Rc::new(Node { capture: item.capture, value, before: taken.clone() }));
        match &item.what {
            What::Group(ways) => {
                for way in ways {
                    self.sequence(way, at, taken, out);
                }
            }
            What::Words(phrases) => {
                for phrase in phrases {
                    if self.has(phrase, at) {
                        let taken = match item.capture {
                            Some(_) => with(Value::Word(phrase.join(" "))),
                            None => taken.clone(),
                        };
                        out.push((at + phrase.len(), taken));
                    } else {
                        self.miss(at, phrase.first().copied().unwrap_or_default());
                    }
                }
            }
            What::Terminal(name, feature) => {
                let before = out.len();
                for (end, kind, value) in self.mentions.at(at) {
                    if kind == name
                        && let Some(value) = self.context.with_feature(feature, value)
                    {
                        out.push((*end, with(value)));
                    }
                }
                if out.len() == before {
                    self.miss(at, name);
                }
            }
            What::Symbol(symbol) => {
                let found = self.parse(*symbol, at);
                out.extend(found.iter().map(|(end, value)| (*end, with(value.clone()))));
            }
        }
    }

    fn has(&self, phrase: &[&str], at: usize) -> bool {
        phrase.iter().enumerate().all(|(place, word)| {
            self.tokens.get(at + place).is_some_and(|token| {
                // A capital by itself is an article at the beginning alone; elsewhere it is a text.
                let is_letter = at + place > 0 && token.text.len() == 1 && token.text != token.lower;
                token.lower == *word && !is_letter && !matches!(token.kind, Kind::Quote | Kind::Name)
            })
        })
    }

    fn miss(&mut self, at: usize, wanted: &'static str) {
        if at > self.furthest {
            self.furthest = at;
            self.expected.clear();
        }
        if at == self.furthest {
            self.expected.insert(wanted);
        }
    }
}
