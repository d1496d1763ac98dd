//! Limits on numbers: under, over, between, around, and whether they speak of money or of pieces.

use super::Reader;
use crate::rules::ask::intent::{Comparison, Limit};
use crate::rules::ask::lexicon::{AROUND, OVER, STOCK, UNDER};
use crate::rules::ask::tokens::Mark;

impl Reader<'_> {
    pub(super) fn has_limit(&self) -> bool {
        !self.limits(|_| String::new()).is_empty()
    }

    /// The limits that are said. The column of each depends on whether it speaks of stock.
    pub(super) fn limits(&self, column: impl Fn(bool) -> String) -> Vec<Comparison> {
        let mut found = Vec::new();
        let mut add = |kind, phrase, is_stock| {
            if found.iter().all(|known: &Comparison| known.kind != kind) {
                found.push(Comparison { column: column(is_stock), kind, phrase });
            }
        };
        let tokens = self.tokens;
        let number_within = |at: usize, reach: usize| {
            (at..(at + reach).min(tokens.list.len())).find(|at| tokens.list[*at].mark == Mark::Number)
        };
        for at in 0..tokens.list.len() {
            let after = |phrases: &'static str| {
                phrases.split('|').find_map(|phrase| {
                    let words: Vec<&str> = phrase.split(' ').collect();
                    let fits = words.iter().enumerate().all(|(index, word)| tokens.word(at + index) == *word);
                    let number = fits.then(|| number_within(at + words.len(), 3)).flatten()?;
                    Some((phrase, self.is_stock_number(number)))
                })
            };
            if matches!(tokens.word(at), "between" | "from") {
                let low = number_within(at + 1, 2);
                let high = low.and_then(|low| number_within(low + 1, 4));
                if let Some(high) = high {
                    add(Limit::Between, "between", self.is_stock_number(high));
                }
            } else if let Some((phrase, is_stock)) = after(UNDER) {
                add(Limit::Under, phrase, is_stock);
            } else if let Some((phrase, is_stock)) = after(OVER) {
                add(Limit::Over, phrase, is_stock);
            } else if let Some((phrase, is_stock)) = after(AROUND).filter(|_| !tokens.has("tell me about")) {
                add(Limit::Around, phrase, is_stock);
            } else if at > 0 && tokens.word(at) == "or" && number_within(at.saturating_sub(2), 2).is_some() {
                if matches!(tokens.word(at + 1), "less" | "under" | "below" | "cheaper" | "fewer") {
                    add(Limit::OrLess, "or", false);
                } else if matches!(tokens.word(at + 1), "more" | "above" | "over") {
                    add(Limit::OrMore, "or", false);
                }
            } else if is_range(tokens.list[at].raw) {
                add(Limit::Range, "-", false);
            }
        }
        found
    }

    /// Whether a number is one of pieces and not of money.
    pub(super) fn is_stock_number(&self, number: usize) -> bool {
        let tokens = self.tokens;
        let at = tokens.list[number].start;
        let is_money = tokens.source[..at].trim_end().ends_with(['$', '€', '£']);
        let near = |at: usize| STOCK.contains(&tokens.word(at)) || tokens.word(at) == "hand";
        let before = number.saturating_sub(4)..number;
        let after = number + 1..(number + 4).min(tokens.list.len());
        let says_money = (number.saturating_sub(4)..(number + 3).min(tokens.list.len()))
            .any(|at| matches!(tokens.word(at), "dollar" | "price" | "cost" | "buck" | "euro" | "priced"));
        // "In stock under 100" is about money: stock words before count only directly before the limit's words.
        let stock_before =
            before.clone().rev().take(3).any(|at| near(at) && tokens.word(at.wrapping_sub(1)) != "in");
        !is_money && !says_money && (stock_before || after.clone().any(near))
    }
}

/// Whether a word is two numbers with a dash between them.
fn is_range(word: &str) -> bool {
    word.split_once(['-', '–'])
        .is_some_and(|(low, high)| low.parse::<f64>().is_ok() && high.parse::<f64>().is_ok())
}
