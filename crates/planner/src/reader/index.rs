//! The catalog as the reader uses it: tables, columns and values, found by the words that mention them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ordain_types::Catalog;
use serde_json::Value;

use super::called::{is_little_name, is_time};
use super::form::Path;
use super::lexicon::{LEXICON, singular, verb_forms};
use super::mentions::{Entry, Shared};
use super::shape::shape;
use super::token::{Kind, tokens};
use crate::brief::{Brief, TableBrief, Task};

pub(crate) use super::declared::{Subject, Verb};
pub(crate) use super::shape::{Period, Sort};

/// Everything that words can mention.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    /// The tables.
    pub(crate) tables: Vec<Table>,
    /// What the owner declared.
    pub(crate) catalog: Arc<Catalog>,
    /// Verbs that mean rows: what actions recorded, and declared phrasings.
    pub(crate) verbs: Vec<Verb>,
    /// Whether the tables are files.
    pub(crate) files: bool,
    /// Degrees of declared adjectives, as `taller` and `tallest`: the table, the column, and whether more of it is meant.
    pub(super) degrees: BTreeMap<String, (usize, usize, bool)>,
    /// The tables before columns were added that are cut from days.
    pub(super) stored: Arc<Vec<Table>>,
    /// The table and column (counted from 1) whose names are added now.
    pub(super) naming: (usize, usize),
    pub(super) mentions: Shared<String, Vec<Entry>>,
    /// Other words for tables and columns, which count where nothing else is called so.
    pub(super) synonyms: Arc<BTreeSet<String>>,
    /// Values that are little words of the language: table, column and value.
    pub(super) small: BTreeMap<String, Vec<(usize, usize, Value)>>,
    /// The forms in which a word stands in a column's texts.
    pub(super) forms: Shared<(usize, usize, String), BTreeSet<String>>,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is something of its own that is known of a table")]
pub(crate) struct Table {
    /// Its name.
    pub(crate) name: String,
    /// Its rows in a word: `room`.
    pub(crate) noun: String,
    /// Its columns.
    pub(crate) columns: Vec<Column>,
    /// The column that tells rows apart, if it is one.
    pub(crate) key: Option<usize>,
    /// The column that a person calls a row by.
    pub(crate) label: Option<usize>,
    /// Whether its rows are people.
    pub(crate) is_people: bool,
    /// Whether fractions are written with a comma where its rows come from.
    pub(crate) commas: bool,
    /// Whether rows may be changed, and whether they may be added only.
    pub(crate) read_only: bool,
    /// Rows may be added, never changed.
    pub(crate) append_only: bool,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is something of its own that is known of a column")]
pub(crate) struct Column {
    /// Its name.
    pub(crate) name: String,
    /// What it holds.
    pub(crate) sort: Sort,
    /// The values for yes and no, where it has no others.
    pub(crate) flag: Option<(Value, Value)>,
    /// Whether some row has no value.
    pub(crate) has_nulls: bool,
    /// The least of its numbers beside 0, where all of them are known.
    pub(crate) least: Option<Ordering>,
    /// Whether it says yes and no by 1 and 0.
    pub(crate) is_bit: bool,
    /// Whether everything that it holds can be named, so that another text is none of its values.
    pub(crate) is_listed: bool,
    /// Whether its days have a time.
    pub(crate) has_time: bool,
    /// Whether its points in time name a zone; they are those of UTC then.
    pub(crate) has_zone: bool,
    /// The names of the columns of its file that are called as it is, it included, where there are several.
    pub(crate) doubled: Vec<String>,
    /// The first and the last year of its days, where all of them are known.
    pub(crate) years: Option<(u32, u32)>,
    /// The table and column that it refers to.
    pub(crate) refers: Option<(usize, usize)>,
    /// What its numbers count.
    pub(crate) unit: Option<String>,
    /// Declared role.
    pub(crate) role: Option<String>,
    /// The value that says that there is none: `none`.
    pub(crate) none: Option<Value>,
    /// The column of days that it is cut from, and to what.
    pub(crate) cut: Option<(usize, Period)>,
    /// For a column whose text ends with the name of a row: the text before that name.
    pub(crate) before: Option<String>,
    /// The column whose texts hold it, before the name of a row.
    pub(crate) within: Option<usize>,
}

/// What words mention.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    /// Rows of a table.
    Table(usize),
    /// A column.
    Column(usize, usize),
    /// A column's value.
    Value(usize, usize, Value),
    /// A word of a column's texts.
    Word(usize, usize, String),
    /// A declared action.
    Action(usize),
    /// A verb that means rows.
    Verb(usize),
    /// A noun for the rows that a verb means.
    Deeds(usize),
    /// A declared metric.
    Metric(usize),
}

impl Index {
    /// Builds the index of a brief's tables.
    pub(crate) fn of(brief: &Brief, catalog: &Catalog) -> Self {
        let mut index = Self::of_tables(brief, &Arc::new(catalog.clone()));
        for (place, table) in brief.tables.iter().enumerate() {
            index.add_table(place, table);
        }
        index.naming = (usize::MAX, 0);
        index.add_declared();
        if brief.task == Task::Ask {
            index.add_months();
        }
        for place in 0..index.tables.len() {
            index.add_synonyms(place);
        }
        index
    }

    /// The tables and their references, without the words that mention them.
    pub(super) fn of_tables(brief: &Brief, catalog: &Arc<Catalog>) -> Self {
        let mut index = Self { catalog: Arc::clone(catalog), ..Self::default() };
        index.tables = brief.tables.iter().map(|table| shape(table, catalog)).collect();
        index.refer(&brief.tables);
        index.refer_by_texts(&brief.tables);
        index.stored = Arc::new(index.tables.clone());
        index
    }

    /// Other words of the language for a table's rows and columns, where nothing else is called so.
    fn add_synonyms(&mut self, place: usize) {
        let noun = split_name(&self.tables[place].name).last().map(|word| singular(word)).unwrap_or_default();
        let known = LEXICON.matches("synonyms", &[noun.as_str()]);
        for word in known.iter().flat_map(|(_, words)| words.split(' ')) {
            self.add_synonym(word, What::Table(place));
        }
        for at in 0..self.tables[place].columns.len() {
            let last = split_name(&self.tables[place].columns[at].name).pop().unwrap_or_default();
            let verbs = LEXICON.matches("column_verbs", &[last.as_str()]);
            for word in verbs.iter().flat_map(|(_, words)| words.split(' ')) {
                self.add_synonym(word, What::Column(place, at));
            }
        }
    }

    fn add_synonym(&mut self, word: &str, what: What) {
        Arc::make_mut(&mut self.synonyms).insert(word.to_owned());
        if self.mentions.get(word).is_none() {
            self.add_exact(&[word.to_owned()], what, 1);
        }
    }

    /// Adds what only questions about files know: periods of days, words for rows, verbs of days (`hired`).
    pub(crate) fn add_file_words(&mut self) {
        self.files = true;
        for place in 0..self.tables.len() {
            for word in ["row", "record", "entry"] {
                self.add_exact(&[word.to_owned()], What::Table(place), 1);
            }
            if self.tables[place].is_people {
                self.add_exact(&["person".to_owned()], What::Table(place), 0);
            }
            let whole: Vec<String> = split_name(&self.tables[place].name);
            let words: Vec<String> =
                whole.iter().filter(|word| !word.bytes().all(|b| b.is_ascii_digit())).cloned().collect();
            if !words.is_empty() && words != whole {
                self.add(&words, What::Table(place), 1);
            }
            for at in 0..self.tables[place].columns.len() {
                let name = split_name(&self.tables[place].columns[at].name);
                self.add(&[vec!["column".to_owned()], name].concat(), What::Column(place, at), 0);
            }
            let days: Vec<usize> = (0..self.tables[place].columns.len())
                .filter(|at| self.tables[place].columns[*at].sort == Sort::Day)
                .collect();
            for day in &days {
                self.add_periods(place, *day);
            }
        }
    }

    /// The periods by which rows of a store are put together.
    fn add_months(&mut self) {
        for place in 0..self.tables.len() {
            let columns = &self.tables[place].columns;
            let days: Vec<usize> = (0..columns.len()).filter(|at| columns[*at].sort == Sort::Day).collect();
            for day in days {
                self.add_cuts(place, day, |period| matches!(period, Period::Year | Period::Month));
            }
        }
    }

    fn add_periods(&mut self, place: usize, day: usize) {
        let base = self.day_words(place, day);
        if let [verb] = base.as_slice() {
            for form in verb_forms(verb).into_iter().filter(|form| form.ends_with("ed")) {
                self.add_exact(&[form], What::Column(place, day), 1);
            }
        }
        self.add_cuts(place, day, |_| true);
    }

    /// The words of a column of days without those that say only that it is one.
    fn day_words(&self, place: usize, day: usize) -> Vec<String> {
        split_name(&self.tables[place].columns[day].name)
            .into_iter()
            .filter(|word| !matches!(word.as_str(), "on" | "at" | "date" | "day" | "time"))
            .collect()
    }

    /// Columns for the periods of a day.
    fn add_cuts(&mut self, place: usize, day: usize, is_wanted: impl Fn(Period) -> bool) {
        let base = self.day_words(place, day);
        let is_day = |column: &&Column| column.sort == Sort::Day && column.cut.is_none();
        let days = self.tables[place].columns.iter().enumerate().filter(|(_, column)| is_day(column));
        let days: Vec<usize> = days.map(|(at, _)| at).collect();
        // Rows are of the month in which they were made, and not of the one in which they end.
        let is_other = self.is_end(place, day) && days.iter().any(|other| !self.is_end(place, *other));
        for (period, word, adverb) in Period::ALL.into_iter().filter(|(period, ..)| is_wanted(*period)) {
            if self.tables[place]
                .columns
                .iter()
                .any(|column| column.cut.is_none() && column.name.to_lowercase() == word)
            {
                continue;
            }
            let known = self.tables[place].columns.iter().any(|column| column.name == word);
            // Of several days the answer says which one it is.
            let is_one = base.is_empty() || days.len() == 1;
            let name = if known || !is_one { format!("{}_{word}", base.join("_")) } else { word.to_owned() };
            let days = &self.tables[place].columns[day];
            let (has_nulls, years) = (days.has_nulls, days.years);
            let cut = Some((day, period));
            let column = Column { years, cut, ..Column::of(name, Sort::Text, has_nulls) };
            self.tables[place].columns.push(column);
            let what = What::Column(place, self.tables[place].columns.len() - 1);
            for words in [vec![word.to_owned()], split_text(adverb)] {
                if !is_other {
                    self.add_exact(&words, what.clone(), 0);
                }
                self.add_exact(&[base.clone(), words].concat(), what.clone(), 0);
            }
        }
    }

    fn add_table(&mut self, place: usize, brief: &TableBrief) {
        let catalog = self.catalog.clone();
        let notes = catalog.tables.get(&brief.table.name);
        let words = split_name(&brief.table.name);
        self.naming = (place, 0);
        self.add(&words, What::Table(place), 0);
        self.add_exact(&[brief.table.name.to_lowercase()], What::Table(place), 0);
        let noun = self.tables[place].noun.clone();
        for synonym in notes.map(|notes| notes.synonyms.as_slice()).unwrap_or_default() {
            self.add(&split_text(synonym), What::Table(place), 0);
        }
        let names: Vec<Vec<String>> =
            self.tables[place].columns.iter().map(|c| split_name(&c.name)).collect();
        for at in 0..names.len() {
            self.naming = (place, at + 1);
            let what = What::Column(place, at);
            let column = self.tables[place].columns[at].clone();
            self.add(&names[at], what.clone(), 0);
            self.add_exact(&[column.name.to_lowercase()], what.clone(), 0);
            // `room type`, for the type of a room.
            self.add(&[vec![noun.clone()], names[at].clone()].concat(), what.clone(), 0);
            for spoken in spoken_names(&names[at], column.flag.is_some()) {
                self.add(&spoken, what.clone(), 0);
            }
            // `seats are left`, for `seats_left`.
            if let [base @ .., last] = names[at].as_slice()
                && !base.is_empty()
                && (LEXICON.has("stock_yes", last) || LEXICON.has("taken", last))
            {
                let parted = [base.to_vec(), vec!["are".to_owned(), last.clone()]].concat();
                self.add(&parted, what.clone(), 0);
            }
            let column_notes = notes.and_then(|notes| notes.columns.get(&column.name));
            for synonym in column_notes.map(|notes| notes.synonyms.as_slice()).unwrap_or_default() {
                self.add(&split_text(synonym), what.clone(), 0);
            }
            // A word of the name that no other column of the table has stands for the column.
            for word in names[at].iter().filter(|_| names[at].len() > 1) {
                let others = names.iter().enumerate().filter(|(other, _)| *other != at);
                let is_alone = others.clone().all(|(_, words)| !words.contains(word));
                // `unit` says nothing of a unit's price.
                let head = names[at].last().filter(|last| *last != word);
                let is_modifier = head.is_some_and(|head| {
                    LEXICON.has("money_columns", head) || LEXICON.has("price_columns", head)
                });
                let is_table = is_modifier
                    || words.iter().any(|known| singular(known) == singular(word))
                    || matches!(
                        word.as_str(),
                        "id" | "no" | "on" | "at" | "in" | "per" | "of" | "since" | "number"
                    );
                if is_alone && !is_table && !LEXICON.is_operator(word) {
                    self.add(std::slice::from_ref(word), what.clone(), 1);
                }
            }
            if column.sort == Sort::Day {
                let base: Vec<String> = names[at]
                    .iter()
                    .filter(|w| !matches!(w.as_str(), "on" | "at" | "date"))
                    .cloned()
                    .collect();
                let own = base.iter().map(|word| singular(word)).collect::<Vec<_>>().join(" ");
                if !base.is_empty() && own == noun {
                    self.add(&[base.clone(), vec!["date".to_owned()]].concat(), what.clone(), 0);
                } else if !base.is_empty() {
                    self.add(&[base.clone(), vec!["date".to_owned()]].concat(), what.clone(), 0);
                    self.add(&[base.clone(), vec!["day".to_owned()]].concat(), what.clone(), 0);
                    self.add(&base, what.clone(), 1);
                }
                // `when did she join`, for `joined`.
                if let [verb] = base.as_slice()
                    && let Some(stem) = verb.strip_suffix("ed")
                {
                    self.add_exact(&[stem.to_owned()], what.clone(), 1);
                }
            }
            for value in self.named_values(place, at, brief).unwrap_or_default() {
                self.add_value(place, at, value);
            }
        }
    }

    /// The texts of a column that can be named.
    pub(crate) fn texts(&self, path: &Path) -> Vec<&String> {
        let entries = self.mentions.iter().flat_map(|(_, entries)| entries);
        let own = entries.filter_map(|entry| match &entry.what {
            What::Value(table, column, Value::String(text)) => {
                ((*table, *column) == (path.table, path.column)).then_some(text)
            }
            _ => None,
        });
        own.collect()
    }

    /// The value of a column that is a little word of the language.
    pub(crate) fn small_value(&self, path: &Path, word: &str) -> Option<&Value> {
        let known = self.small.get(word)?.iter();
        known
            .filter(|(table, column, _)| (*table, *column) == (path.table, path.column))
            .map(|(.., value)| value)
            .next()
    }

    /// Whether a column holds names of people.
    pub(super) fn names_people(&self, place: usize, at: usize) -> bool {
        let table = &self.tables[place];
        let words = split_name(&table.columns[at].name);
        table.is_people && table.label == Some(at)
            || words.iter().any(|word| LEXICON.has("person_words", word))
    }

    /// What the first word of a name may mention.
    fn entries(&self, name: &str) -> impl Iterator<Item = &Entry> {
        let first = split_text(name).into_iter().next().unwrap_or_default();
        let keys = BTreeSet::from([singular(&first), first, name.to_owned()]);
        keys.into_iter().filter_map(|key| self.mentions.get(&key)).flatten()
    }

    /// What is mentioned by tokens from a place on: what, how many tokens, and how far it is from the plain name.
    pub(crate) fn at(&self, list: &[super::token::Token], place: usize) -> Vec<(What, usize, u32)> {
        let Some(first) = list.get(place) else { return Vec::new() };
        if matches!(first.kind, Kind::Sign(_) | Kind::Quoted) {
            return Vec::new();
        }
        let mut found: Vec<(What, usize, u32)> = Vec::new();
        for key in keys(first) {
            for entry in self.mentions.get(key).map(Vec::as_slice).unwrap_or_default() {
                let Some(length) = fits(entry, &list[place..]) else { continue };
                if !found.iter().any(|(what, long, _)| *what == entry.what && *long == length) {
                    found.push((entry.what.clone(), length, entry.cost));
                }
            }
        }
        if is_time(list, place) && !self.files {
            found.retain(|(what, length, _)| *length > 1 || !self.is_row_name(what));
        }
        self.called_so(found, &list[place..])
    }

    /// Whether a row is called so, or by a word of it.
    pub(crate) fn is_row_name(&self, what: &What) -> bool {
        matches!(what, What::Value(table, column, _) | What::Word(table, column, _) if self.tables[*table].label == Some(*column))
    }

    /// What is left of the names that begin with some tokens.
    pub(crate) fn rest(&self, tokens: &[super::token::Token]) -> Vec<(What, String)> {
        let Some(first) = tokens.first() else { return Vec::new() };
        let entries =
            [&first.stem, &first.lower].into_iter().filter_map(|key| self.mentions.get(key)).flatten();
        let longer = entries.filter(|entry| {
            entry.words.len() > tokens.len()
                && entry
                    .words
                    .iter()
                    .zip(tokens)
                    .all(|(word, token)| *word == token.stem || *word == token.lower)
        });
        longer.map(|entry| (entry.what.clone(), entry.words[tokens.len()..].join(" "))).collect()
    }

    /// Whether a row is called by a word as it is written: `Six` may be the title of a play.
    pub(crate) fn is_called(&self, list: &[super::token::Token], place: usize) -> bool {
        let text = &list[place].text;
        let is_name = |what: &What| matches!(what, What::Value(table, column, Value::String(name)) if name == text && self.tables[*table].label == Some(*column));
        text.starts_with(char::is_uppercase) && self.at(list, place).iter().any(|(what, ..)| is_name(what))
    }

    /// The one value of a column that is written like a text but for capitals.
    pub(crate) fn written(&self, table: usize, column: usize, text: &str) -> Option<Value> {
        let mut same = self.entries(text).filter_map(|entry| match &entry.what {
            What::Value(of, at, Value::String(known)) if (*of, *at) == (table, column) => Some(known),
            _ => None,
        });
        let found = same.find(|known| known.to_lowercase() == text.to_lowercase())?;
        Some(Value::from(found.as_str()))
    }

    /// Whether some name begins with a word.
    pub(crate) fn begins(&self, token: &super::token::Token) -> bool {
        self.mentions.get(&token.stem).is_some() || self.mentions.get(&token.lower).is_some()
    }

    /// The known word that is spelled most like another one.
    pub(crate) fn nearest(&self, word: &str) -> Option<String> {
        // Neither a part of a name nor a form of a declared word is what somebody meant.
        let is_name = |entry: &Entry| match entry.what {
            What::Word(..) => false,
            What::Verb(which) => !self.verbs[which].is_condition,
            _ => entry.words.len() == 1,
        };
        let known = self.mentions.iter().filter(|(_, entries)| entries.iter().any(is_name));
        let known = known.map(|(word, _)| word.as_str()).filter(|known| known.chars().count() > 3);
        ordain_types::nearest(word, known).map(str::to_owned)
    }
}

/// What a token is found by: its singular, itself, and a name in capitals that is a little word otherwise.
fn keys(token: &super::token::Token) -> impl Iterator<Item = &String> {
    let is_name = token.word() == token.text;
    let lower = (token.stem != token.lower).then_some(&token.lower);
    let is_written = is_name || is_little_name(&token.text);
    [
        Some(&token.stem).filter(|_| !is_name || token.lower == token.text),
        lower,
        Some(&token.text).filter(|_| is_written),
    ]
    .into_iter()
    .flatten()
}

/// How many tokens a phrase takes from the front; full stops within names are passed over.
fn fits(entry: &Entry, list: &[super::token::Token]) -> Option<usize> {
    let mut at = 0;
    for (place, word) in entry.words.iter().enumerate() {
        if place > 0 && matches!(list.get(at).map(|token| &token.kind), Some(Kind::Sign('.' | '&'))) {
            at += 1;
        }
        let token = list.get(at)?;
        let is_same = if entry.is_person { token.lower == *word } else { keys(token).any(|key| key == word) };
        if matches!(token.kind, Kind::Sign(_) | Kind::Quoted) || !is_same {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// A column's name in whole words: `order number` for `order_no`, `active` for `is_active`.
fn spoken_names(words: &[String], is_flag: bool) -> Vec<Vec<String>> {
    let whole = |word: &String| {
        let known = LEXICON.matches("abbreviations", &[word.as_str()]);
        known.first().map_or_else(|| word.clone(), |(_, whole)| (*whole).to_owned())
    };
    let spelled: Vec<String> = words.iter().map(whole).collect();
    let mut found = Vec::new();
    if spelled != words {
        found.push(spelled);
    }
    if is_flag
        && let [first, rest @ ..] = words
        && matches!(first.as_str(), "is" | "has" | "was")
        && !rest.is_empty()
    {
        found.push(rest.to_vec());
    }
    found
}

/// The words of a name: `rate_per_night`, `unitPrice`.
pub(crate) fn split_name(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_small = false;
    for character in name.chars() {
        if !character.is_alphanumeric() || (character.is_uppercase() && was_small) {
            words.push(String::new());
        }
        if character.is_alphanumeric() {
            words.last_mut().unwrap_or(&mut String::new()).extend(character.to_lowercase());
        }
        was_small = character.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The words of a text as a request would hold them.
pub(crate) fn split_text(text: &str) -> Vec<String> {
    let words = tokens(text).into_iter().filter(|token| !matches!(token.kind, Kind::Sign(_)));
    words
        .flat_map(|token| {
            if token.kind == Kind::Quoted {
                token.lower.split(' ').map(str::to_owned).collect()
            } else {
                vec![token.lower]
            }
        })
        .collect()
}
