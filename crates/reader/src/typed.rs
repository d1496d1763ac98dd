//! What is known of a text while it is typed: what each of its words is, and what may come next.

use crate::algebra::Name;
use crate::chart::Chart;
use crate::deed::Deed;
use crate::grammar::GRAMMAR;
use crate::lexicon::LEXICON;
use crate::mention::Mentions;
use crate::reader::{BYTES_MAX, Reader};
use crate::token::{Kind, name_words, tokens};
use crate::value::Value;

/// Texts of one kind that are offered before a letter is typed.
const ALIKE_MAX: usize = 10;

/// A word or a sign of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// As it is written.
    pub text: String,
    /// Where it begins and ends, in bytes.
    pub at: (usize, usize),
    /// `action`, `table`, `column`, `metric`, `value`, `number`, `day`, `time`, `text`, `sign`, `word` or `unknown`.
    pub kind: &'static str,
    /// Everything that is called by the words from here on: tables, columns, values.
    pub mentions: Vec<String>,
    /// How many words and signs the longest name from here on has.
    pub length: usize,
}

/// The words of a text in the singular, in small letters.
pub fn stems(text: &str) -> Vec<String> {
    let words = tokens(text).into_iter().flat_map(|token| name_words(&token.text));
    words.map(|word| LEXICON.singular(&word)).collect()
}

/// What kind of thing a terminal of the grammar is.
fn kind_of(terminal: &str) -> Option<&'static str> {
    Some(match terminal {
        "Verb" => "action",
        "Noun" => "table",
        "Col" => "column",
        "Metric" => "metric",
        "Val" | "Phr" | "Within" => "value",
        "Num" => "number",
        "Iso" => "day",
        "Clock" => "time",
        "Quote" => "text",
        _ => return None,
    })
}

impl Reader {
    /// The words and signs of a text, each with what it is.
    pub fn words_in(&self, text: &str) -> Vec<Word> {
        let text = &text[..text.floor_char_boundary(BYTES_MAX)];
        let tokens = tokens(text);
        let mentions = Mentions::new(self.index(), &tokens, text);
        let mut found: Vec<Word> = Vec::new();
        let mut covered = (0, "");
        for (at, token) in tokens.iter().enumerate() {
            let mut all: Vec<(usize, &'static str, &Value)> = mentions
                .at(at)
                .iter()
                .filter_map(|(end, terminal, value)| Some((end - at, kind_of(terminal)?, value)))
                .collect();
            all.sort_by_key(|(length, ..)| std::cmp::Reverse(*length));
            if let Some((length, kind, _)) = all.first()
                && at >= covered.0
            {
                covered = (at + length, kind);
            }
            let kind = match token.kind {
                _ if at < covered.0 => covered.1,
                Kind::Sign => "sign",
                Kind::Quote | Kind::Name => "text",
                Kind::Number => "number",
                Kind::Day => "day",
                Kind::Time => "time",
                Kind::Word if GRAMMAR.has_word(&token.lower) => "word",
                Kind::Word => "unknown",
            };
            let mut called: Vec<String> =
                all.iter().flat_map(|(_, _, value)| self.described(value)).collect();
            called.dedup();
            found.push(Word {
                text: token.text.clone(),
                at: token.at,
                kind,
                mentions: called,
                length: all.first().map_or(1, |(length, ..)| *length),
            });
        }
        found
    }

    fn described(&self, value: &Value) -> Vec<String> {
        let place = |table: &Name, column: &Name| format!("{table}.{column}");
        match value {
            Value::Deed(Deed::Verb(which)) => vec![format!("action {}", self.catalog().verbs[*which].name)],
            Value::Noun(table) => vec![format!("table {table}")],
            Value::Places(places) => {
                places.iter().map(|(table, column)| format!("column {}", place(table, column))).collect()
            }
            Value::Values(values) => {
                let all = values.found.iter();
                all.map(|(table, column, _)| format!("value of {}", place(table, column))).collect()
            }
            Value::Within(found) => {
                found.iter().map(|(table, column, _)| format!("word in {}", place(table, column))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What may come behind the beginning of an order, or of a question: words and names that begin with what is typed of
    /// them, each with its kind. Numbers and days have no text.
    pub fn next(&self, is_order: bool, before: &str, typed: &str) -> Vec<(String, &'static str)> {
        let before = &before[..before.floor_char_boundary(BYTES_MAX)];
        let tokens = tokens(before);
        let mentions = Mentions::new(self.index(), &tokens, before);
        let context = self.context();
        let mut chart = Chart::new(&context, &tokens, &mentions);
        let symbol = if is_order { "change" } else { "request" };
        let is_whole = chart.all(symbol).is_some() && chart.furthest == tokens.len();
        let mut found: Vec<(String, &'static str)> = Vec::new();
        for wanted in chart.expected.iter().filter(|_| is_whole) {
            for (text, kind) in self.called(wanted) {
                let is_begun = text.to_lowercase().starts_with(typed) && (text != typed || typed.is_empty());
                let alike = found.iter().filter(|(_, known)| *known == kind).count();
                let is_few = !typed.is_empty() || alike < ALIKE_MAX;
                if is_begun && is_few && !found.contains(&(text.clone(), kind)) {
                    found.push((text, kind));
                }
            }
        }
        found
    }

    /// The texts that a terminal of the grammar stands for, or the word of a production itself.
    fn called(&self, wanted: &str) -> Vec<(String, &'static str)> {
        let catalog = self.catalog();
        let tables = || catalog.tables.iter();
        let columns = || tables().flat_map(|table| table.columns.iter().map(move |column| (table, column)));
        let params = || catalog.verbs.iter().flat_map(|verb| &verb.params);
        let texts: Vec<&String> = match wanted {
            "Verb" => catalog.verbs.iter().flat_map(|verb| &verb.words).collect(),
            "After" => params().flat_map(|param| &param.after).collect(),
            "Val" => {
                let naming = columns().filter(|(table, column)| table.is_naming(&column.name));
                naming.flat_map(|(_, column)| &column.values).collect()
            }
            "Noun" => tables().flat_map(|table| &table.words).collect(),
            "Col" => columns().flat_map(|(_, column)| &column.words).collect(),
            "Num" => return vec![(String::new(), "number")],
            "Iso" => return vec![(String::new(), "day")],
            word if word.starts_with(char::is_lowercase) => return vec![(word.to_owned(), "word")],
            _ => Vec::new(),
        };
        let kind = kind_of(wanted).unwrap_or("word");
        texts.into_iter().map(|text| (text.replace('_', " "), kind)).collect()
    }
}
