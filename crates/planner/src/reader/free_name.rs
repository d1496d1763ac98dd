//! Names in free words: of somebody or something that is in no table yet.

use serde_json::json;

use super::form::Lit;
use super::index::{Sort, What};
use super::lexicon::LEXICON;
use super::parse::Parser;
use super::token::{Kind, Token};

impl Parser<'_> {
    /// A name in free words: no operator, number or mention in it, and capitals unless it was announced.
    pub(crate) fn free_name(&self, place: usize, is_announced: bool) -> Option<(Lit, usize)> {
        let first = self.tokens.get(place)?;
        if first.kind == Kind::Quoted {
            return Some((Lit { value: json!(first.text), at: first.at }, place + 1));
        }
        let is_name = |token: &Token, at: usize| {
            token.kind == Kind::Word
                && (is_announced || token.text.starts_with(char::is_uppercase))
                && !LEXICON.has("never_names", &token.lower)
                && !LEXICON.has("weekdays", &token.lower)
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
