//! Columns that are called so, letter by letter, before those that are called so in other words.

use super::index::{Index, What, split_name};
use super::token::Token;

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
