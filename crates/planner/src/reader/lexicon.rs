//! The closed-class words of a language, as data.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

/// The words of English.
const ENGLISH: &str = concat!(
    include_str!("../../lexicon/en.toml"),
    include_str!("../../lexicon/en_rules.toml"),
    include_str!("../../lexicon/en_files.toml"),
    include_str!("../../lexicon/en_names.toml"),
);

/// Phrases by class, found by their first word.
pub(crate) struct Lexicon {
    words: HashSet<String>,
    phrases: HashMap<String, Vec<Entry>>,
    lists: BTreeMap<String, Vec<String>>,
}

struct Entry {
    class: String,
    words: Vec<String>,
    meaning: String,
}

/// The lexicon that requests are read with.
pub(crate) static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::parse(ENGLISH));

/// Words of rules, files and calculations are operators there alone, and given names nowhere.
const APART: [&str; 8] = ["rule", "file", "compute", "text", "archive", "picture", "array", "given"];

impl Lexicon {
    fn parse(text: &str) -> Self {
        let table: toml::Table = text.parse().unwrap_or_default();
        let mut lexicon = Self { words: HashSet::new(), phrases: HashMap::new(), lists: BTreeMap::new() };
        for (class, value) in &table {
            match value {
                toml::Value::Array(phrases) => lexicon.add_all(class, phrases),
                toml::Value::Table(inner) => {
                    for (key, value) in inner {
                        match value {
                            toml::Value::Array(phrases) if class == "words" => lexicon.add_all(key, phrases),
                            toml::Value::Array(phrases) => {
                                lexicon.add_all(&format!("{class}.{key}"), phrases);
                            }
                            toml::Value::String(meaning) => lexicon.add(class, key, meaning),
                            toml::Value::Integer(number) => lexicon.add(class, key, &number.to_string()),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        lexicon
    }

    fn add_all(&mut self, class: &str, phrases: &[toml::Value]) {
        for phrase in phrases.iter().filter_map(toml::Value::as_str) {
            self.add(class, phrase, "");
        }
    }

    fn add(&mut self, class: &str, phrase: &str, meaning: &str) {
        let words: Vec<String> = phrase.split(' ').map(str::to_owned).collect();
        // A particle alone is half a verb, and the others are no words of requests.
        let is_said = !matches!(
            class,
            "particles"
                | "plain_classes"
                | "small"
                | "never_taught"
                | "before_days"
                | "sex_columns"
                | "end_words"
                | "state_columns"
                | "kept_columns"
                | "count_bounds"
                | "doubts"
                | "unit_words"
                | "measure_words"
                | "column_nouns"
        );
        if is_said && !class.starts_with("given") {
            self.words.extend(words.iter().cloned());
        }
        self.lists.entry(class.to_owned()).or_default().push(phrase.to_owned());
        let entry = Entry { class: class.to_owned(), words: words.clone(), meaning: meaning.to_owned() };
        self.phrases.entry(words[0].clone()).or_default().push(entry);
    }

    /// The phrases of a class that begin at a place: how many words, and what they mean. The longest comes first.
    pub(crate) fn matches<'a>(&'a self, class: &str, words: &[&str]) -> Vec<(usize, &'a str)> {
        let Some(first) = words.first() else { return Vec::new() };
        let entries = self.phrases.get(*first).map(Vec::as_slice).unwrap_or_default();
        let mut found: Vec<(usize, &str)> = entries
            .iter()
            .filter(|entry| entry.class == class && fits(&entry.words, words))
            .map(|entry| (entry.words.len(), entry.meaning.as_str()))
            .collect();
        found.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
        found
    }

    /// Whether any class but the fillers knows a word.
    pub(crate) fn is_operator(&self, word: &str) -> bool {
        self.phrases.get(word).is_some_and(|entries| {
            let is_apart = |class: &str| APART.iter().any(|apart| class.starts_with(apart));
            let is_plain = |class: &str| is_apart(class) || self.has("plain_classes", class);
            entries.iter().any(|entry| entry.words.len() == 1 && !is_plain(&entry.class))
        })
    }

    /// Whether a word is nothing but a noun that columns are called by: `price`, `status`.
    pub(crate) fn is_column_noun(&self, word: &str) -> bool {
        let is_said = !self.is_operator(word) && !self.has("filler", word);
        is_said && self.list("column_nouns").iter().any(|class| self.has(class, word))
    }

    /// Whether a word is part of some phrase.
    pub(crate) fn knows(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// What is left of the phrases of a class that begin with some words, each with its place in the class.
    pub(crate) fn rest<'a>(
        &'a self,
        class: &str,
        words: &'a [&str],
    ) -> impl Iterator<Item = (usize, String)> + 'a {
        let phrases = self.list(class).iter().enumerate();
        phrases.filter_map(|(place, phrase)| {
            let known: Vec<&str> = phrase.split(' ').collect();
            let rest = known.strip_prefix(words).filter(|rest| !rest.is_empty())?;
            Some((place, rest.join(" ")))
        })
    }

    /// The phrases of a class.
    pub(crate) fn list(&self, name: &str) -> &[String] {
        self.lists.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether a list has a word.
    pub(crate) fn has(&self, name: &str, word: &str) -> bool {
        self.list(name).iter().any(|known| known == word)
    }

    /// The number that a word means.
    pub(crate) fn number(&self, word: &str) -> Option<f64> {
        self.matches("numbers", &[word]).first().and_then(|(_, value)| value.parse().ok())
    }
}

fn fits(phrase: &[String], words: &[&str]) -> bool {
    phrase.len() <= words.len() && phrase.iter().zip(words).all(|(known, word)| known == word)
}

/// The singular of an English word, good enough to compare two words by.
pub(crate) fn singular(word: &str) -> String {
    let lower = word.to_lowercase();
    match lower.as_str() {
        "people" => return "person".to_owned(),
        "children" => return "child".to_owned(),
        "men" => return "man".to_owned(),
        "women" => return "woman".to_owned(),
        _ => {}
    }
    for (ending, instead) in [("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x")] {
        if let Some(stem) = lower.strip_suffix(ending).filter(|stem| stem.len() > 1) {
            return format!("{stem}{instead}");
        }
    }
    match lower.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => lower,
    }
}

/// The stem that forms of a verb share: `buy`, `buys`, `buying`; `lend`, `lends`, `lending`.
pub(crate) fn verb_forms(word: &str) -> Vec<String> {
    let mut forms = vec![word.to_owned(), format!("{word}s"), format!("{word}es")];
    let base = word.strip_suffix('e').unwrap_or(word);
    forms.extend([format!("{base}ed"), format!("{base}ing")]);
    if let Some(stem) = word.strip_suffix('y') {
        forms.extend([format!("{stem}ied"), format!("{stem}ies")]);
    }
    if let Some(last) = word.chars().last().filter(|last| !"aeiouyw".contains(*last)) {
        forms.extend([format!("{word}{last}ed"), format!("{word}{last}ing")]);
    }
    let irregular = LEXICON.matches("irregular", &[word]);
    forms.extend(irregular.iter().flat_map(|(_, forms)| forms.split(' ')).map(str::to_owned));
    forms
}
