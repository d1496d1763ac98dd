//! A request as marked words: which are numbers, values of tables, names of people, grammar, or something else.

use std::collections::HashSet;

use super::lexicon;
use crate::brief::Brief;
use crate::rules::roles::{Kind, Role, RoledTable};
use crate::rules::words;

/// So many descriptions say well enough which words describe things.
const DESCRIPTIONS_MAX: usize = 500;

/// The tables of a brief by what they are for.
#[derive(Debug)]
pub(crate) struct Shop<'a> {
    pub(crate) items: Option<RoledTable<'a>>,
    pub(crate) transactions: Option<RoledTable<'a>>,
    pub(crate) others: Vec<RoledTable<'a>>,
    /// The names of the items, each as words; empty where the table is too large to know them.
    pub(crate) names: Vec<Vec<String>>,
}

/// What a word is in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A number, in digits or letters.
    Number,
    /// Part of an item's name or id, as the table has it.
    Name(String),
    /// Part of another value of a table: `table.column`.
    Value(String),
    /// Part of a person's name.
    Customer,
    /// A word that some item is described with.
    Describing,
    /// Says how, not what.
    Grammar,
    /// Nothing here knows it.
    Unknown,
}

/// One word with its mark.
#[derive(Debug, Clone)]
pub(crate) struct Token<'a> {
    /// In lower case and in the singular.
    pub(crate) word: String,
    /// As it is written.
    pub(crate) raw: &'a str,
    pub(crate) start: usize,
    pub(crate) mark: Mark,
    /// Whether it continues the value that the token before it began.
    pub(crate) continues: bool,
}

/// A request with all of its words marked.
#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    pub(crate) source: &'a str,
    pub(crate) list: Vec<Token<'a>>,
    /// The words with single spaces between and around them, so that phrases can be looked for.
    text: String,
}

impl<'a> Shop<'a> {
    /// Sorts the tables of a brief.
    pub(crate) fn of(brief: &'a Brief) -> Self {
        let mut shop = Self { items: None, transactions: None, others: Vec::new(), names: Vec::new() };
        for table in brief.tables.iter() {
            let roled = RoledTable::of(table);
            match roled.kind() {
                Kind::Items if shop.items.is_none() => shop.items = Some(roled),
                Kind::Transactions if shop.transactions.is_none() => shop.transactions = Some(roled),
                _ => shop.others.push(roled),
            }
        }
        let names = shop.items.as_ref().and_then(|items| items.texts(items.column(Role::Name)?));
        shop.names = names.unwrap_or_default().into_iter().map(normal_words).collect();
        shop
    }

    /// Whether items can be sold: there is a stock, a price, and a place to write the sale down.
    pub(crate) fn can_trade(&self) -> bool {
        let has = |table: &Option<RoledTable<'_>>, roles: &[Role]| {
            table.as_ref().is_some_and(|table| roles.iter().all(|role| table.has(*role)))
        };
        has(&self.items, &[Role::Id, Role::Name, Role::Price, Role::Quantity])
            && self.is_writable()
            && self.transactions.as_ref().is_some_and(|ledger| {
                !ledger.brief.table.read_only && ledger.unfillable().is_empty() && ledger.has(Role::Id)
            })
    }

    /// Whether the items' stock may be changed at all.
    pub(crate) fn is_writable(&self) -> bool {
        self.items.as_ref().is_some_and(|items| {
            items.has(Role::Id)
                && items.has(Role::Name)
                && !items.brief.table.read_only
                && !items.brief.table.append_only
        })
    }
}

impl<'a> Tokens<'a> {
    /// Marks the words of a request.
    pub(crate) fn of(source: &'a str, brief: &Brief, shop: &Shop<'_>) -> Self {
        let mut list: Vec<Token<'a>> = words::words(source)
            .into_iter()
            .map(|word| Token {
                word: normal(word.text),
                raw: word.text,
                start: word.start,
                mark: Mark::Unknown,
                continues: false,
            })
            .collect();
        mark_values(&mut list, shop);
        mark_numbers(&mut list);
        mark_customers(&mut list, shop);
        mark_rest(&mut list, brief, shop);
        let mut text = String::from(" ");
        for token in &list {
            text.push_str(&token.word);
            text.push(' ');
        }
        Self { source, list, text }
    }

    /// Whether the words of a phrase stand next to each other somewhere.
    pub(crate) fn has(&self, phrase: &str) -> bool {
        self.text.contains(&format!(" {phrase} "))
    }

    /// Whether one of the phrases stands somewhere.
    pub(crate) fn has_any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.has(phrase))
    }

    /// Whether the request begins with one of the phrases.
    pub(crate) fn begins(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.text.starts_with(&format!(" {phrase} ")))
    }

    /// Whether the word at a place is one.
    pub(crate) fn word(&self, at: usize) -> &str {
        self.list.get(at).map_or("", |token| token.word.as_str())
    }

    /// Whether some word has a mark.
    pub(crate) fn any(&self, test: impl Fn(&Mark) -> bool) -> bool {
        self.list.iter().any(|token| test(&token.mark))
    }

    /// The words that name or describe something.
    pub(crate) fn told(&self) -> Vec<&str> {
        let is_told = |token: &&Token<'_>| {
            matches!(token.mark, Mark::Name(_) | Mark::Value(_) | Mark::Describing | Mark::Unknown)
        };
        self.list.iter().filter(is_told).map(|token| token.word.as_str()).collect()
    }

    /// The words of grammar, each once, in order.
    pub(crate) fn grammar(&self) -> Vec<&str> {
        let told: HashSet<&str> = self.told().into_iter().collect();
        let mut seen = HashSet::new();
        self.list
            .iter()
            .filter(|token| token.mark == Mark::Grammar)
            .map(|token| token.word.as_str())
            .filter(|word| !told.contains(word) && seen.insert(*word))
            .collect()
    }
}

/// A word in lower case and in the singular, without an apostrophe, as plans have it too.
pub(crate) fn normal(word: &str) -> String {
    let lower = word.to_lowercase().replace('’', "'");
    let bare = lower.strip_suffix("'s").unwrap_or(&lower).replace('\'', "");
    words::singular(&bare)
}

/// The words of a text.
pub(crate) fn normal_words(text: &str) -> Vec<String> {
    words::words(text).iter().map(|word| normal(word.text)).collect()
}

/// The items that the words name best, by the rule that plans follow at run time.
pub(crate) fn named(said: &[&str], names: &[Vec<String>]) -> Vec<usize> {
    let said: HashSet<&str> = said.iter().copied().collect();
    let (mut best, mut found) = (0, Vec::new());
    for (at, name) in names.iter().enumerate() {
        let Some(last) = name.last() else { continue };
        let hits = name.iter().filter(|word| said.contains(word.as_str())).count();
        let is_thing = said.contains(last.as_str());
        let holds_all = said.iter().all(|word| name.iter().any(|part| part == word));
        if hits == 0 || !(is_thing || holds_all) {
            continue;
        }
        let score = hits + usize::from(is_thing) + usize::from(hits == name.len());
        if score > best {
            (best, found) = (score, Vec::new());
        }
        if score == best {
            found.push(at);
        }
    }
    found
}

/// Marks whole values of tables, the longest first.
fn mark_values(list: &mut [Token<'_>], shop: &Shop<'_>) {
    let mut values: Vec<(Vec<String>, Mark)> = Vec::new();
    let said: HashSet<String> = list.iter().map(|token| token.word.clone()).collect();
    if let Some(items) = &shop.items {
        for column in &items.brief.table.columns {
            let column = column.name.as_str();
            let is_name = items.column(Role::Name) == Some(column) || items.column(Role::Id) == Some(column);
            let kind = format!("{}.{column}", items.name());
            let mark = if is_name { Mark::Name(kind) } else { Mark::Value(kind) };
            let texts = items.texts(column).unwrap_or_default().into_iter();
            values.extend(
                texts.filter(|text| may_occur(text, &said)).map(|text| (normal_words(text), mark.clone())),
            );
        }
    }
    if let Some(ledger) = &shop.transactions {
        collect(&mut values, ledger, ledger.column(Role::Customer), &said);
    }
    for other in &shop.others {
        for column in &other.brief.table.columns {
            collect(&mut values, other, Some(&column.name), &said);
        }
    }
    values.retain(|(words, _)| !words.is_empty() && words.len() <= 6);
    values.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
    for (words, mark) in values {
        for at in 0..list.len().saturating_sub(words.len() - 1) {
            let run = &mut list[at..at + words.len()];
            let is_free = run.iter().all(|token| token.mark == Mark::Unknown);
            if is_free && run.iter().zip(&words).all(|(token, word)| token.word == *word) {
                for (index, token) in run.iter_mut().enumerate() {
                    token.mark = mark.clone();
                    token.continues = index > 0;
                }
            }
        }
    }
}

fn collect(
    values: &mut Vec<(Vec<String>, Mark)>,
    table: &RoledTable<'_>,
    column: Option<&str>,
    said: &HashSet<String>,
) {
    let Some(column) = column else { return };
    let kind = format!("{}.{column}", table.name());
    for text in table.texts(column).unwrap_or_default().into_iter().filter(|text| may_occur(text, said)) {
        values.push((normal_words(text), Mark::Value(kind.clone())));
    }
}

/// Whether the first word of a value is said at all: a quick look before the whole value is compared.
fn may_occur(text: &str, said: &HashSet<String>) -> bool {
    words::first(text).is_some_and(|word| said.contains(&normal(word)))
}

fn mark_numbers(list: &mut [Token<'_>]) {
    for token in list.iter_mut().filter(|token| token.mark == Mark::Unknown) {
        let bare = token.word.trim_matches('x');
        let is_number = words::number(bare).is_some() || matches!(bare, "half" | "zero" | "thousand");
        if is_number && !matches!(bare, "a" | "an" | "both" | "single") {
            token.mark = Mark::Number;
        }
    }
}

/// Marks who is named after "for", "customer" and the like.
fn mark_customers(list: &mut [Token<'_>], shop: &Shop<'_>) {
    if !shop.transactions.as_ref().is_some_and(|ledger| ledger.has(Role::Customer)) {
        return;
    }
    for at in 1..list.len() {
        let before = list[at - 1].word.clone();
        let is_called = matches!(before.as_str(), "customer" | "client" | "buyer" | "named");
        let is_after =
            matches!(before.as_str(), "for" | "to" | "by" | "from" | "did" | "has" | "have" | "of");
        let continues = list[at - 1].mark == Mark::Customer;
        let is_capital = list[at].raw.starts_with(char::is_uppercase);
        let is_owner = list[at].raw.ends_with("'s") && is_capital;
        let token = &mut list[at];
        let is_plain = token.mark == Mark::Unknown && !lexicon_has(&token.word);
        if is_plain && ((is_called) || (is_capital && (is_after || continues)) || is_owner) {
            token.mark = Mark::Customer;
            token.continues = continues;
        }
    }
}

fn mark_rest(list: &mut [Token<'_>], brief: &Brief, shop: &Shop<'_>) {
    let (described, rows) = described(shop);
    let nouns = nouns(brief);
    let columns = column_words(brief);
    let names: HashSet<&str> = shop.names.iter().flatten().map(String::as_str).collect();
    for token in list.iter_mut().filter(|token| token.mark == Mark::Unknown) {
        let word = token.word.as_str();
        let share = described.iter().filter(|words| words.contains(word)).count();
        // A word that the owner uses of everything here says nothing about one thing.
        let is_noun = nouns.contains(word) && (share == 0 || share * 5 >= rows * 2) && !names.contains(word);
        // "The" and "of" stand in names too; a name is told by its other words.
        token.mark = if names.contains(word) && !lexicon_has(word) {
            Mark::Describing
        } else if lexicon_has(word) || columns.contains(word) || is_noun {
            Mark::Grammar
        } else if share > 0 {
            Mark::Describing
        } else {
            Mark::Unknown
        };
    }
}

/// The words of each item's description and category, and how many items there are.
fn described(shop: &Shop<'_>) -> (Vec<HashSet<String>>, usize) {
    let Some(items) = &shop.items else { return (Vec::new(), 0) };
    let texts = |role| items.column(role).and_then(|column| items.texts(column)).unwrap_or_default();
    let all: Vec<HashSet<String>> = texts(Role::Description)
        .into_iter()
        .take(DESCRIPTIONS_MAX)
        .chain(texts(Role::Category).into_iter().take(DESCRIPTIONS_MAX))
        .map(|text| normal_words(text).into_iter().collect())
        .collect();
    let rows = all.len();
    (all, rows)
}

/// The words by which the owner speaks of the trade: in the policy, the helpers and the tables' summaries.
fn nouns(brief: &Brief) -> HashSet<String> {
    let summaries = brief.tables.iter().filter_map(|table| table.summary.as_deref());
    let names = brief.tables.iter().map(|table| table.table.name.as_str());
    let texts = [brief.policy.as_str(), brief.helpers.as_str()].into_iter().chain(summaries);
    let mut nouns: HashSet<String> = texts.flat_map(normal_words).collect();
    nouns.extend(names.flat_map(|name| name.split('_').map(normal).collect::<Vec<_>>()));
    nouns
}

fn column_words(brief: &Brief) -> HashSet<String> {
    let columns = brief.tables.iter().flat_map(|table| &table.table.columns);
    columns.flat_map(|column| column.name.split('_').map(normal).collect::<Vec<_>>()).collect()
}

/// Whether a word is one of grammar and courtesy.
pub(crate) fn lexicon_has(word: &str) -> bool {
    static WORDS: std::sync::LazyLock<HashSet<&'static str>> =
        std::sync::LazyLock::new(|| lexicon::GRAMMAR.split_whitespace().collect());
    WORDS.contains(word)
}
