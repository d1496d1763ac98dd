//! The grammar: productions as data, from the files in `grammar/`.
//!
//! A production is `head := items => builder key=value`. Items are `"words|words"`, symbols, terminals (capitalised, with
//! a feature in brackets), captures `name:item` and `name+:item`, groups `( … | … )`, and `?` or `*` behind an item.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::build::{self, Builder};

/// The files, in any order.
const FILES: [&str; 8] = [
    include_str!("../grammar/rules.txt"),
    include_str!("../grammar/rows.txt"),
    include_str!("../grammar/predicates.txt"),
    include_str!("../grammar/patterns.txt"),
    include_str!("../grammar/terms.txt"),
    include_str!("../grammar/amounts.txt"),
    include_str!("../grammar/questions.txt"),
    include_str!("../grammar/computed.txt"),
];
/// That of orders, whose words may be texts in rules.
const ORDERS: &str = include_str!("../grammar/orders.txt");

/// A part of a production.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) what: What,
    pub(crate) capture: Option<Capture>,
    pub(crate) times: Times,
}

/// The name that a part's meaning is taken under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Capture {
    pub(crate) name: &'static str,
    pub(crate) is_list: bool,
}

/// How often an item stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    Once,
    Perhaps,
    Any,
}

/// What stands there.
#[derive(Debug)]
pub(crate) enum What {
    /// One of several phrases, word by word.
    Words(Vec<Vec<&'static str>>),
    /// One of several sequences.
    Group(Vec<Vec<Item>>),
    /// A mention, perhaps of a feature.
    Terminal(&'static str, &'static str),
    /// Another symbol.
    Symbol(usize),
}

/// One production.
#[derive(Debug)]
pub(crate) struct Production {
    pub(crate) items: Vec<Item>,
    /// What makes its meaning; where nothing does, the one capture is handed on.
    pub(crate) build: Option<Builder>,
    /// The name of that.
    #[cfg(test)]
    pub(crate) builder: &'static str,
    /// What it is given besides its captures.
    pub(crate) extra: Vec<(&'static str, &'static str)>,
    /// As it stands in its file.
    #[cfg(test)]
    pub(crate) text: &'static str,
    /// Its place among all productions.
    #[cfg(test)]
    pub(crate) number: usize,
}

/// The language.
#[derive(Debug, Default)]
pub(crate) struct Grammar {
    pub(crate) names: Vec<&'static str>,
    pub(crate) productions: Vec<Vec<Production>>,
    symbols: HashMap<&'static str, usize>,
    /// Every word of rules and conditions.
    pub(crate) words: HashSet<&'static str>,
    /// Every word that orders have besides.
    order_words: HashSet<&'static str>,
}

/// The one grammar.
pub(crate) static GRAMMAR: LazyLock<Grammar> = LazyLock::new(Grammar::load);

impl Grammar {
    fn load() -> Self {
        let mut grammar = Self::default();
        grammar.read(FILES.iter().flat_map(|file| file.lines()));
        let words = grammar.words.clone();
        grammar.read(ORDERS.lines());
        grammar.order_words = std::mem::replace(&mut grammar.words, words);
        grammar
    }

    /// Whether some production has a word.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.words.contains(word) || self.order_words.contains(word)
    }

    fn read(&mut self, lines: impl Iterator<Item = &'static str>) {
        let grammar = self;
        for line in lines {
            let Some((head, rest)) = line.split_once(":=").filter(|_| !line.starts_with('#')) else {
                continue;
            };
            let (body, ending) = rest.rsplit_once("=> ").unwrap_or((rest, ""));
            let symbol = grammar.symbol(head.trim());
            let mut parts = ending.split_whitespace();
            let builder = parts.next().unwrap_or_default();
            let extra: Vec<_> = parts.filter_map(|part| part.split_once('=')).collect();
            let tokens = pieces(body);
            let mut at = 0;
            while at <= tokens.len() {
                let items = grammar.sequence(&tokens, &mut at);
                at += 1;
                let production = Production {
                    items,
                    build: build::find(builder),
                    #[cfg(test)]
                    builder,
                    extra: extra.clone(),
                    #[cfg(test)]
                    text: line,
                    #[cfg(test)]
                    number: grammar.productions.iter().map(Vec::len).sum(),
                };
                grammar.productions[symbol].push(production);
            }
        }
    }

    /// The number of a symbol.
    pub(crate) fn symbol(&mut self, name: &'static str) -> usize {
        *self.symbols.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.productions.push(Vec::new());
            self.names.len() - 1
        })
    }

    /// The number of a symbol that is there.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.symbols.get(name).copied()
    }

    /// Items up to a bar, a bracket or the end.
    fn sequence(&mut self, tokens: &[&'static str], at: &mut usize) -> Vec<Item> {
        let mut items = Vec::new();
        let mut capture = None;
        while let Some(token) = tokens.get(*at).copied().filter(|token| !matches!(*token, ")" | "|")) {
            *at += 1;
            if let Some(name) = token.strip_suffix(':').filter(|_| !token.starts_with('"')) {
                capture = Some(Capture { name: name.trim_end_matches('+'), is_list: name.ends_with('+') });
                continue;
            }
            let what = if token == "(" {
                let mut ways = vec![self.sequence(tokens, at)];
                while tokens.get(*at) == Some(&"|") {
                    *at += 1;
                    ways.push(self.sequence(tokens, at));
                }
                *at += 1;
                What::Group(ways)
            } else if token.starts_with('"') {
                What::Words(self.phrases(token.trim_matches('"')))
            } else if token.starts_with(char::is_uppercase) {
                let (name, feature) = token.trim_end_matches(']').split_once('[').unwrap_or((token, ""));
                What::Terminal(name, feature)
            } else {
                What::Symbol(self.symbol(token))
            };
            let times = match tokens.get(*at).copied() {
                Some("?") => Times::Perhaps,
                Some("*") => Times::Any,
                _ => Times::Once,
            };
            *at += usize::from(times != Times::Once);
            items.push(Item { what, capture: capture.take(), times });
        }
        items
    }

    /// The phrases of a literal; a possessive is a token of its own.
    fn phrases(&mut self, text: &'static str) -> Vec<Vec<&'static str>> {
        let phrases = text.split('|').map(|phrase| {
            let words = phrase.split_whitespace().flat_map(|word| match word.strip_suffix("'s") {
                Some(stem) if !stem.is_empty() => vec![stem, "'s"],
                _ => vec![word],
            });
            words.collect::<Vec<_>>()
        });
        let phrases: Vec<_> = phrases.collect();
        self.words.extend(phrases.iter().flatten());
        phrases
    }
}

/// The pieces of a body: literals, captures, symbols and marks.
fn pieces(body: &'static str) -> Vec<&'static str> {
    let mut found = Vec::new();
    let mut rest = body.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            '(' | ')' | '|' | '?' | '*' => 1,
            _ => {
                let end =
                    rest.find(|c: char| c.is_whitespace() || "()|?*\":".contains(c)).unwrap_or(rest.len());
                end + usize::from(rest[end..].starts_with(':'))
            }
        };
        found.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{GRAMMAR, Item, What};

    /// Symbols that nothing captures, and terminals.
    fn loose(items: &[Item], symbols: &mut Vec<usize>, terminals: &mut Vec<&'static str>) {
        for item in items {
            match &item.what {
                What::Group(ways) => ways.iter().for_each(|way| loose(way, symbols, terminals)),
                What::Symbol(symbol) if item.capture.is_none() => symbols.push(*symbol),
                What::Terminal(name, _) if item.capture.is_none() => terminals.push(name),
                _ => {}
            }
        }
    }

    /// Whether a symbol is words alone, so that nothing is lost where nobody captures it.
    fn is_mute(symbol: usize) -> bool {
        GRAMMAR.productions[symbol].iter().all(|production| {
            let (mut symbols, mut terminals) = (Vec::new(), Vec::new());
            loose(&production.items, &mut symbols, &mut terminals);
            production.build.is_none() && terminals.is_empty() && symbols.into_iter().all(is_mute)
        })
    }

    #[test]
    fn every_symbol_and_every_builder_of_the_grammar_is_there() {
        for (symbol, productions) in GRAMMAR.productions.iter().enumerate() {
            assert!(!productions.is_empty(), "nothing says what `{}` is", GRAMMAR.names[symbol]);
            for production in productions {
                let is_there = production.builder.is_empty() || production.build.is_some();
                assert!(is_there, "there is no builder `{}`: {}", production.builder, production.text);
            }
        }
    }

    #[test]
    fn no_production_loses_the_meaning_of_a_part() {
        for production in GRAMMAR.productions.iter().flatten() {
            let (mut symbols, mut terminals) = (Vec::new(), Vec::new());
            loose(&production.items, &mut symbols, &mut terminals);
            // A production that is one symbol hands its meaning on.
            let hands_on = production.build.is_none() && production.items.len() == 1;
            let lost: Vec<&str> = symbols
                .into_iter()
                .filter(|symbol| !is_mute(*symbol))
                .map(|symbol| GRAMMAR.names[symbol])
                .collect();
            assert!(
                hands_on || lost.is_empty() && terminals.is_empty(),
                "{lost:?} {terminals:?}: {}",
                production.text
            );
        }
    }
}
