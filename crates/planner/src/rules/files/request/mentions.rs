//! Where a request names a column.

use super::super::catalog::{Column, ColumnKind};
use super::super::lexicon::{SYNONYMS, Token, name_parts};
use super::{Reading, is_id};

/// A column that is named in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Mention {
    pub(in super::super) column: usize,
    /// The first word of the name.
    pub(in super::super) start: usize,
    /// The word after its last.
    pub(in super::super) end: usize,
    /// How sure it is: 3 by its whole name, 2 by a part, 1 by another word for it.
    pub(in super::super) strength: u32,
}

/// Every place where a column is named.
pub(in super::super) fn mentions(columns: &[Column], words: &[Token]) -> Vec<Mention> {
    let mut found = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        for start in 0..words.len() {
            if let Some((end, strength)) = mention_at(column, words, start) {
                found.push(Mention { column: index, start, end, strength });
            }
        }
    }
    found.sort_by_key(|mention| (mention.start, std::cmp::Reverse((mention.strength, mention.end))));
    found
}

fn mention_at(column: &Column, words: &[Token], start: usize) -> Option<(usize, u32)> {
    let parts = &column.parts;
    let word = &words[start];
    if word.number.is_some() && parts.iter().all(|part| *part != word.lower) {
        return None;
    }
    if !parts.is_empty() && name_parts(&word.lower) == *parts {
        return Some((start + 1, 3));
    }
    let rest = &words[start..];
    if !parts.is_empty()
        && rest.len() >= parts.len()
        && parts.iter().zip(rest).all(|(part, word)| *part == word.stem)
    {
        return Some((start + parts.len(), 3));
    }
    if parts.len() > 1 && word.lower.len() > 2 {
        // `price` stands for `unit_price`, and `customer` for `customer_id`.
        let is_end = parts.last().is_some_and(|part| *part == word.stem);
        let is_start =
            parts[0] == word.stem && parts.len() == 2 && matches!(parts[1].as_str(), "id" | "name" | "key");
        if is_end || is_start {
            return Some((start + 1, 2));
        }
    }
    let synonyms = SYNONYMS.iter().find(|(said, _)| *said == word.stem).map(|(_, meant)| *meant)?;
    parts.iter().any(|part| synonyms.contains(&part.as_str())).then_some((start + 1, 1))
}

impl Reading<'_> {
    /// The column named at a word, the one that fits the wish best.
    pub(in super::super) fn at(&self, word: usize, wish: impl Fn(&Column) -> bool) -> Option<&Mention> {
        let here = || self.mentions.iter().filter(|mention| mention.start == word);
        let best = |wished: bool| {
            here()
                .filter(|mention| !wished || wish(&self.columns[mention.column]))
                .max_by_key(|mention| (mention.strength, mention.end, std::cmp::Reverse(mention.column)))
        };
        let any = best(false)?;
        // A weaker fit of the wished kind beats a name of the wrong kind only where the name is no whole one.
        best(true).filter(|wished| wished.strength + 1 >= any.strength || any.strength < 3)
    }

    /// The column named at a word or after articles.
    pub(in super::super) fn after(
        &self,
        mut word: usize,
        wish: impl Fn(&Column) -> bool,
    ) -> Option<&Mention> {
        const ARTICLES: [&str; 12] = [
            "the",
            "each",
            "every",
            "a",
            "an",
            "of",
            "their",
            "its",
            "different",
            "all",
            "individual",
            "single",
        ];
        while self.words.get(word).is_some_and(|word| ARTICLES.contains(&word.lower.as_str())) {
            word += 1;
        }
        self.at(word, wish)
    }

    /// The columns that can be computed with.
    pub(in super::super) fn is_measure(column: &Column) -> bool {
        column.kind == ColumnKind::Number && !is_id(column)
    }

    /// The columns that things can be put together by.
    pub(in super::super) fn is_category(column: &Column) -> bool {
        matches!(column.kind, ColumnKind::Text | ColumnKind::Boolean) || is_id(column)
    }

    /// The first date column, or the one that is named.
    pub(in super::super) fn date_column(&self) -> Option<String> {
        let is_date = |column: &Column| column.kind == ColumnKind::Date;
        let named = self.mentions.iter().find(|mention| is_date(&self.columns[mention.column]));
        named
            .map(|mention| &self.columns[mention.column])
            .or_else(|| self.columns.iter().find(|column| is_date(column)))
            .map(|column| column.name.clone())
    }

    pub(in super::super) fn name(&self, mention: &Mention) -> String {
        self.columns[mention.column].name.clone()
    }

    pub(in super::super) fn use_words(&mut self, start: usize, end: usize) {
        let end = end.min(self.used.len());
        self.used[start.min(end)..end].fill(true);
    }
}
