//! What a name means that means something else too: columns that are called so, letter by letter, before those that are called
//! so in other words, and rows that are called like a number, a verb or a day.

use super::index::{Index, What, split_name};
use super::lexicon::LEXICON;
use super::token::{Token, month_of};

impl Index {
    /// What is mentioned at the front of some tokens, without the columns for which they are another word, where they are the
    /// very name of a column of the same table: `quantity` is not `qty` there.
    pub(super) fn called_so(
        &self,
        found: Vec<(What, usize, u32)>,
        tokens: &[Token],
    ) -> Vec<(What, usize, u32)> {
        let is_name = |table: usize, column: usize, length: usize| {
            let said: Vec<&str> = tokens[..length].iter().map(|token| token.lower.as_str()).collect();
            let name = &self.tables[table].columns[column].name;
            name.to_lowercase() == said.join(" ") || split_name(name) == said
        };
        let named = found.iter().filter_map(|(what, length, _)| match what {
            What::Column(table, column) if is_name(*table, *column, *length) => Some((*table, *length)),
            _ => None,
        });
        let named: Vec<(usize, usize)> = named.collect();
        let is_meant = |(what, length, _): &(What, usize, u32)| match what {
            What::Column(table, column) => {
                !named.contains(&(*table, *length)) || is_name(*table, *column, *length)
            }
            _ => true,
        };
        found.into_iter().filter(is_meant).collect()
    }
}

/// Whether a name is a number or a verb otherwise, and written as a name: `Six`, `Will`.
pub(super) fn is_little_name(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_little = LEXICON.has("numbers", &lower) || LEXICON.has("says", &lower);
    text.starts_with(char::is_uppercase) && is_little
}

/// Whether a name is that of a day or a month here: `on Sunday`, `in May`. Somebody may have done it by May.
pub(super) fn is_time(list: &[Token], place: usize) -> bool {
    let token = &list[place];
    let is_month = month_of(token).is_some();
    let before = place.checked_sub(1).map_or("", |at| list[at].lower.as_str());
    let is_said = LEXICON.has("before_days", before) && !(is_month && matches!(before, "by" | "for"));
    let is_day = LEXICON.has("weekdays", &token.stem);
    (is_day || is_month) && is_said || is_day && token.lower != token.stem
}
