//! Whole names and what they may call, in each of their written forms.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::algebra::Name;
use crate::catalog::{Catalog, Holds};
use crate::deed::Deed;
use crate::lexicon::LEXICON;
use crate::token::{name_words, tokens};
use crate::value::Place;

/// A value that rows have: table, column, text.
pub(crate) type Known = (Name, Name, String);

/// What words may call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Called {
    pub(crate) tables: BTreeSet<Name>,
    pub(crate) columns: BTreeSet<Place>,
    pub(crate) values: BTreeSet<Known>,
    pub(crate) units: BTreeSet<String>,
    /// Places of phrases and metrics in the catalog.
    pub(crate) phrases: BTreeSet<usize>,
    pub(crate) metrics: BTreeSet<usize>,
    /// The columns whose texts have the word, with the form in which they have it.
    pub(crate) within: BTreeSet<Known>,
}

impl Called {
    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// The index of a catalog.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// By the words as they are written.
    exact: HashMap<String, Called>,
    /// By the words in the singular.
    loose: HashMap<String, Called>,
    /// Texts of values as they stand.
    quoted: HashMap<String, BTreeSet<Known>>,
    /// Columns and tables by the very letters of their names.
    columns: HashMap<String, Arc<BTreeSet<Place>>>,
    tables: BTreeSet<Name>,
    /// Words of declared verbs and their params, as they are written.
    phrases: HashMap<String, Vec<(&'static str, Deed)>>,
    /// Small letters of the values of each column.
    lower: BTreeMap<Place, BTreeSet<String>>,
}

impl Index {
    /// The index of a catalog; the rows of the judged table may also be called rows.
    pub(crate) fn new(catalog: &Catalog, judged: Option<&Name>) -> Self {
        let mut index = Self::default();
        for table in &catalog.tables {
            index.tables.insert(table.name.clone());
            for words in &table.words {
                index.put(&name_words(words), |called| {
                    called.tables.insert(table.name.clone());
                });
            }
            for column in &table.columns {
                let place = (table.name.clone(), column.name.clone());
                let own = index.columns.entry(column.name.to_string()).or_default();
                Arc::make_mut(own).insert(place.clone());
                for words in &column.words {
                    index.put(&name_words(words), |called| {
                        called.columns.insert(place.clone());
                    });
                }
                if column.is_searched {
                    continue;
                }
                for value in &column.values {
                    let known = (table.name.clone(), column.name.clone(), value.clone());
                    let words: Vec<String> = tokens(value)
                        .iter()
                        .flat_map(|token| name_words(&token.text))
                        .filter(|word| word != ".")
                        .collect();
                    index.quoted.entry(value.clone()).or_default().insert(known.clone());
                    index.lower.entry(place.clone()).or_default().insert(value.to_lowercase());
                    index.put(&words, |called| {
                        called.values.insert(known.clone());
                    });
                }
            }
        }
        index.add_marked(catalog);
        index.add_verbs(catalog);
        index.add_judged(judged);
        index
    }

    /// The index of what may be asked about: besides, the owner's phrases and terms, parts of columns' names that nothing
    /// else is called by, and the words in texts that may be searched.
    pub(crate) fn of_questions(catalog: &Catalog) -> Self {
        let only = match catalog.tables.as_slice() {
            [one] => Some(&one.name),
            _ => None,
        };
        let mut index = Self::new(catalog, only);
        for (place, words) in catalog
            .phrases
            .iter()
            .enumerate()
            .flat_map(|(at, one)| one.words.iter().map(move |words| (at, words)))
        {
            index.put(&name_words(words), |called| {
                called.phrases.insert(place);
            });
        }
        for (place, words) in catalog
            .metrics
            .iter()
            .enumerate()
            .flat_map(|(at, one)| one.words.iter().map(move |words| (at, words)))
        {
            index.put(&name_words(words), |called| {
                called.metrics.insert(place);
            });
        }
        index.add_tails(catalog);
        index.add_searched(catalog);
        index
    }

    /// `price` for `unit_price`, `customer` for `customer_id`: the last words of a name, or a name without the mark of an id,
    /// where nothing is called so and no other name ends so.
    fn add_tails(&mut self, catalog: &Catalog) {
        let mut tails: BTreeMap<Vec<String>, BTreeMap<Vec<String>, BTreeSet<Place>>> = BTreeMap::new();
        for table in &catalog.tables {
            for column in &table.columns {
                let words = name_words(&column.name);
                let place = (table.name.clone(), column.name.clone());
                let mut add = |tail: &[String]| {
                    let owners = tails.entry(tail.to_vec()).or_default();
                    owners.entry(words.clone()).or_default().insert(place.clone());
                };
                (1..words.len()).for_each(|from| add(&words[from..]));
                if let Some((last, rest)) = words.split_last()
                    && !rest.is_empty()
                    && LEXICON.get("endmark", last).is_some()
                {
                    add(rest);
                }
            }
        }
        for (tail, owners) in tails {
            let is_free = self.at(&tail).1.is_none_or(Called::is_nothing);
            if let (true, [places]) = (is_free, owners.into_values().collect::<Vec<_>>().as_slice()) {
                for place in places {
                    self.put(&tail, |called| {
                        called.columns.insert(place.clone());
                    });
                }
            }
        }
    }

    /// The words of texts that may be searched, where nothing is called so.
    fn add_searched(&mut self, catalog: &Catalog) {
        let mut found: BTreeMap<String, BTreeSet<Known>> = BTreeMap::new();
        for table in &catalog.tables {
            for column in table.columns.iter().filter(|column| column.is_searched) {
                let words = column.values.iter().flat_map(|value| tokens(value));
                for word in words.filter(|token| token.lower.chars().any(char::is_alphabetic)) {
                    let known = (table.name.clone(), column.name.clone(), word.lower.clone());
                    found.entry(LEXICON.singular(&word.lower)).or_default().insert(known);
                }
            }
        }
        for (word, known) in found {
            let word = [word];
            if self.at(&word).1.is_none_or(Called::is_nothing) {
                self.put(&word, |called| called.within.extend(known.iter().cloned()));
            }
        }
    }

    /// Adds the names by which the judged table's rows may be called.
    fn add_judged(&mut self, judged: Option<&Name>) {
        if let Some(judged) = judged {
            for word in LEXICON.words("row") {
                self.put(&[word.to_owned()], |called| {
                    called.tables.insert(judged.clone());
                });
            }
        }
    }

    /// Names with abbreviations written out, yes-or-no columns without the mark of their type, and units of numbers, where nothing else is called so.
    fn add_marked(&mut self, catalog: &Catalog) {
        let mut more: Vec<(Vec<String>, Place)> = Vec::new();
        let is_free = |words: &[String]| self.at(words).0.is_none_or(Called::is_nothing);
        let mut units: BTreeSet<String> = BTreeSet::new();
        for table in &catalog.tables {
            for column in &table.columns {
                let words = name_words(&column.name);
                let is_marked = words.len() > 1
                    && LEXICON.get("mark", &words[0]).is_some()
                    && column.holds == Holds::Bool;
                if is_marked && is_free(&words[1..]) {
                    more.push((words[1..].to_vec(), (table.name.clone(), column.name.clone())));
                }
                // `order number` is order_no, where nothing else is called so.
                let full = full(&words);
                if full != words && is_free(&full) {
                    more.push((full, (table.name.clone(), column.name.clone())));
                }
                let unit = column.unit.iter().filter(|unit| {
                    !column.is_money()
                        && unit.chars().all(char::is_alphabetic)
                        && self.at(&name_words(unit)).0.is_none()
                });
                units.extend(unit.cloned());
            }
        }
        for (words, place) in more {
            self.put(&words, |called| {
                called.columns.insert(place.clone());
            });
        }
        for unit in units {
            self.put(&[unit.to_lowercase()], |called| {
                called.units.insert(unit.clone());
            });
        }
    }

    /// The words of verbs, before their params, of these and of remarks; also where they are drawn together.
    fn add_verbs(&mut self, catalog: &Catalog) {
        let mut all: Vec<(String, &'static str, Deed)> = Vec::new();
        for (which, verb) in catalog.verbs.iter().enumerate() {
            all.extend(verb.words.iter().map(|words| (words.clone(), "Verb", Deed::Verb(which))));
            all.extend(verb.remarks.iter().map(|words| (words.clone(), "Remark", Deed::Remark(which))));
            for (at, param) in verb.params.iter().enumerate() {
                let after = param.after.iter().map(|words| (words.clone(), "After", Deed::After(which, at)));
                all.extend(after);
                all.push((name_words(&param.name).join(" "), "Called", Deed::Called(which, at)));
            }
        }
        let long = LEXICON
            .words("long")
            .filter_map(|short| Some((LEXICON.get("long", short)?.replace('_', " "), short)));
        let long: Vec<(String, &str)> = long.collect();
        for (words, kind, deed) in all {
            let words = words.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
            let drawn = long.iter().filter_map(|(long, short)| {
                let rest = words.strip_prefix(long.as_str())?;
                (rest.is_empty() || rest.starts_with(' ')).then(|| format!("{short}{rest}"))
            });
            for words in drawn.chain([words.clone()]).collect::<Vec<_>>() {
                self.phrases.entry(words).or_default().push((kind, deed.clone()));
            }
        }
    }

    /// What some words are of declared verbs.
    pub(crate) fn phrase(&self, words: &str) -> &[(&'static str, Deed)] {
        self.phrases.get(words).map(Vec::as_slice).unwrap_or_default()
    }

    fn put(&mut self, words: &[String], add: impl Fn(&mut Called)) {
        if !words.is_empty() {
            add(self.exact.entry(words.join(" ")).or_default());
            add(self.loose.entry(in_singular(words)).or_default());
        }
    }

    /// What words call as they are written, and in the singular.
    pub(crate) fn at(&self, words: &[String]) -> (Option<&Called>, Option<&Called>) {
        (self.exact.get(&words.join(" ")), self.loose.get(&in_singular(words)))
    }

    /// The values that are this text.
    pub(crate) fn quoted(&self, text: &str) -> Option<&BTreeSet<Known>> {
        self.quoted.get(text)
    }

    /// The columns of just this name.
    pub(crate) fn columns_called(&self, name: &str) -> Option<&Arc<BTreeSet<Place>>> {
        self.columns.get(name)
    }

    /// The table of just this name.
    pub(crate) fn table_called(&self, name: &str) -> Option<&Name> {
        self.tables.get(name)
    }

    /// Whether a column has a value that is spelled nearly like a text.
    pub(crate) fn is_nearly(&self, place: &Place, text: &str) -> bool {
        let text = text.to_lowercase();
        let slips = (text.chars().count() / 4).max(1);
        self.lower.get(place).is_some_and(|values| values.iter().any(|value| distance(value, &text) <= slips))
    }

    /// The name that is spelled most like some words.
    pub(crate) fn nearest(&self, words: &str) -> Option<String> {
        let slips = words.chars().count() / 3;
        let near = self.exact.keys().map(|name| (distance(name, words), name));
        near.filter(|(far, _)| *far > 0 && *far <= slips).min().map(|(_, name)| name.clone())
    }
}

/// A name with its abbreviations written out.
fn full(words: &[String]) -> Vec<String> {
    words.iter().map(|word| LEXICON.get("short", word).unwrap_or(word).to_owned()).collect()
}

pub(crate) fn in_singular(words: &[String]) -> String {
    words.iter().map(|word| LEXICON.singular(word)).collect::<Vec<_>>().join(" ")
}

/// How many letters must be changed, added or left out to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, letter) in one.chars().enumerate() {
        let mut before = row[0];
        row[0] = place + 1;
        for (column, theirs) in other.iter().enumerate() {
            let kept = before + usize::from(letter != *theirs);
            before = row[column + 1];
            row[column + 1] = kept.min(before + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}
