//! What words mention: names, values and the words of values, in lists whose order does not depend on the order in which
//! they were filled. So an index to which values were added is equal to one that is made anew.

use std::borrow::Borrow;
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use serde_json::Value;

use super::called::is_little_name;
use super::index::{Index, Sort, What, split_name};
use super::lexicon::{LEXICON, singular};
use super::value_words::value_words;
use crate::brief::TableBrief;

/// Values of a column beyond this many are not indexed.
pub(super) const VALUES_MAX: usize = 5_000;
/// Values longer than this are prose: their words are indexed, not they.
pub(super) const VALUE_BYTES_MAX: usize = 60;

/// What a phrase mentions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) words: Vec<String>,
    pub(super) what: What,
    pub(super) cost: u32,
    /// A person's name: an `s` more or less makes it another one's.
    pub(super) is_person: bool,
    /// The table and column (counted from 1) that it comes from.
    of: (usize, usize),
}

impl Entry {
    /// Its place among those that begin with the same word: by columns, in each the names first, then values, then words.
    fn order(&self) -> ((usize, usize), u8, Cow<'_, str>) {
        match &self.what {
            What::Value(.., value) => (self.of, 1, Cow::Owned(value.to_string())),
            What::Word(.., stem) => (self.of, 2, Cow::Borrowed(stem)),
            _ => (self.of, 0, Cow::Borrowed("")),
        }
    }
}

/// A map whose copies share what it held when it was first copied.
#[derive(Debug, Clone)]
pub(super) struct Shared<K, V> {
    known: Arc<HashMap<K, V>>,
    /// What is new, or other than what is known.
    added: HashMap<K, V>,
}

impl<K, V> Default for Shared<K, V> {
    fn default() -> Self {
        Self { known: Arc::default(), added: HashMap::new() }
    }
}

impl<K: Clone + Eq + Hash, V: Clone + Default> Shared<K, V> {
    pub(super) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.added.get(key).or_else(|| self.known.get(key))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.known.iter().filter(|(key, _)| !self.added.contains_key(*key)).chain(&self.added)
    }

    /// The value of a key, to be changed.
    fn value(&mut self, key: K) -> &mut V {
        if Arc::get_mut(&mut self.known).is_some() && self.added.is_empty() {
            return Arc::make_mut(&mut self.known).entry(key).or_default();
        }
        let known = &self.known;
        self.added.entry(key).or_insert_with_key(|key| known.get(key).cloned().unwrap_or_default())
    }
}

impl Index {
    /// The values of a column that requests can name; `None` if they cannot.
    pub(super) fn named_values<'b>(
        &self,
        place: usize,
        at: usize,
        brief: &'b TableBrief,
    ) -> Option<&'b [Value]> {
        let (table, column) = (&self.tables[place], &self.tables[place].columns[at]);
        let is_text = matches!(column.sort, Sort::Text | Sort::Prose);
        let is_name = table.key == Some(at) || table.label == Some(at);
        let seen = brief.columns.iter().find(|seen| seen.name == column.name)?;
        let values = seen.values.as_deref()?;
        let is_named = (is_text || is_name) && column.refers.is_none() && values.len() <= VALUES_MAX;
        is_named.then_some(values)
    }

    /// Adds what mentions a value: its words, and each of them where they are names or a longer text.
    pub(super) fn add_value(&mut self, place: usize, at: usize, value: &Value) {
        let (table, column) = (&self.tables[place], &self.tables[place].columns[at]);
        if !matches!(column.sort, Sort::Text | Sort::Prose) && !value.is_i64() {
            return;
        }
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let words = value_words(&text);
        let is_label = table.label == Some(at);
        let is_short = text.len() <= VALUE_BYTES_MAX && column.sort == Sort::Text;
        let is_name = is_label || table.key == Some(at);
        if words.is_empty() {
            return;
        }
        if is_short {
            self.add_short(place, at, value, &text, &words, u32::from(!is_name));
        }
        if !is_short || (is_label && words.len() > 1) {
            self.add_words(place, at, &words);
        }
    }

    fn add_short(&mut self, place: usize, at: usize, value: &Value, text: &str, words: &[String], cost: u32) {
        let what = What::Value(place, at, value.clone());
        let is_operator = words.len() == 1 && LEXICON.is_operator(&words[0]);
        if !is_operator && self.names_people(place, at) {
            self.add_person(words, what, cost);
        } else if !is_operator {
            self.add(words, what, cost);
        } else if matches!(text, "IT" | "US") || is_little_name(text) {
            // They are no pronouns in capitals; `Six` is no number there, and `Will` no verb.
            self.add_exact(&[text.to_owned()], what, cost);
        } else {
            // `no`, `all`: they say something else, unless their column is named.
            let known = self.small.entry(words[0].clone()).or_default();
            let order = |(place, at, value): &(usize, usize, Value)| (*place, *at, value.to_string());
            let new = (place, at, value.clone());
            known.insert(known.partition_point(|one| order(one) <= order(&new)), new);
        }
    }

    fn add_words(&mut self, place: usize, at: usize, words: &[String]) {
        let own = split_name(&self.tables[place].columns[at].name);
        let cost = if self.tables[place].label == Some(at) { 2 } else { 3 };
        let is_person = self.names_people(place, at);
        for word in words.iter().filter(|word| {
            word.len() > 2
                && !own.contains(word)
                && !LEXICON.is_operator(word)
                && !LEXICON.has("small", word)
                && !LEXICON.has("time_words", &singular(word))
        }) {
            let stem = if is_person { word.clone() } else { singular(word) };
            self.forms.value((place, at, stem.clone())).insert(word.clone());
            let (word, what) = (std::slice::from_ref(word), What::Word(place, at, stem));
            if is_person {
                self.add_person(word, what, cost);
            } else {
                self.add(word, what, cost);
            }
        }
    }

    pub(super) fn add(&mut self, words: &[String], what: What, cost: u32) {
        let stems: Vec<String> = words.iter().map(|word| singular(word)).collect();
        // `11 speed` is `11-speed`.
        let parts: Vec<String> = stems.iter().flat_map(|word| word.split('-')).map(str::to_owned).collect();
        if parts.len() > stems.len() && parts.iter().all(|part| !part.is_empty()) {
            self.add_exact(&parts, what.clone(), cost);
        }
        self.add_exact(&stems, what, cost);
    }

    pub(super) fn add_exact(&mut self, words: &[String], what: What, cost: u32) {
        self.add_entry(words, what, cost, false);
    }

    fn add_person(&mut self, words: &[String], what: What, cost: u32) {
        self.add_entry(words, what, cost, true);
    }

    fn add_entry(&mut self, words: &[String], what: What, cost: u32, is_person: bool) {
        let Some(first) = words.first() else { return };
        let of = match what {
            What::Value(place, at, _) | What::Word(place, at, _) => (place, at + 1),
            _ => self.naming,
        };
        let entries = self.mentions.value(first.clone());
        if let Some(known) = entries.iter_mut().find(|entry| entry.what == what && entry.words == words) {
            known.cost = known.cost.min(cost);
            return;
        }
        let new = Entry { words: words.to_vec(), what, cost, is_person, of };
        let place = if entries.is_empty() {
            0
        } else {
            let order = new.order();
            entries.partition_point(|entry| entry.order() <= order)
        };
        entries.insert(place, new);
    }
}
