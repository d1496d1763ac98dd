//! Words with a meaning of their own, from `grammar/lexicon.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The lexicon: kind and word to value.
#[derive(Debug)]
pub(crate) struct Lexicon {
    entries: HashMap<(&'static str, &'static str), &'static str>,
    /// Endings of plurals in the order in which they are tried: ending, its singular, the shortest word.
    endings: Vec<(&'static str, &'static str, usize)>,
    /// Marks of ordinals.
    ordinal_endings: Vec<&'static str>,
}

/// The one lexicon.
pub(crate) static LEXICON: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::load(include_str!("../grammar/lexicon.txt")));

impl Lexicon {
    fn load(text: &'static str) -> Self {
        let mut lexicon = Self { entries: HashMap::new(), endings: Vec::new(), ordinal_endings: Vec::new() };
        for line in text.lines().filter(|line| !line.starts_with("# ") && !line.is_empty()) {
            let mut parts = line.split(' ');
            let (Some(kind), Some(word), Some(value)) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            match kind {
                "singular" => {
                    let split = value.len() - 1;
                    let least = value[split..].parse().unwrap_or(0);
                    lexicon.endings.push((word, value[..split].trim_matches('-'), least));
                }
                "ending" => lexicon.ordinal_endings.push(word),
                _ => {
                    lexicon.entries.insert((kind, word), value);
                }
            }
        }
        lexicon
    }

    /// What a word means as one of a kind.
    pub(crate) fn get(&self, kind: &str, word: &str) -> Option<&'static str> {
        self.entries.get(&(kind, word)).copied()
    }

    /// The same, where it may stand in the plural.
    pub(crate) fn get_any(&self, kind: &str, word: &str) -> Option<&'static str> {
        self.get(kind, word).or_else(|| self.get(kind, &self.singular(word)))
    }

    /// What a word means as a number of a kind.
    pub(crate) fn number(&self, kind: &str, word: &str) -> Option<u32> {
        self.get(kind, word)?.parse().ok()
    }

    /// Whether a word has any meaning of its own.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.entries.keys().any(|(_, known)| *known == word)
    }

    /// The words of a kind.
    pub(crate) fn words(&self, kind: &'static str) -> impl Iterator<Item = &'static str> {
        self.entries.keys().filter(move |(known, _)| *known == kind).map(|(_, word)| *word)
    }

    /// The number of an ordinal: `second`, `28th`.
    pub(crate) fn ordinal(&self, word: &str) -> Option<u32> {
        let written = || self.ordinal_endings.iter().find_map(|end| word.strip_suffix(end)?.parse().ok());
        self.number("ordinal", word).or_else(written)
    }

    /// The singular of a word, roughly; both sides of a comparison go through it.
    pub(crate) fn singular(&self, word: &str) -> String {
        if let Some(one) = self.get("plural", word) {
            return one.to_owned();
        }
        let length = word.chars().count();
        let ending = self.endings.iter().find(|(end, _, least)| length >= *least && word.ends_with(end));
        ending.map_or_else(
            || word.to_owned(),
            |(end, one, _)| format!("{}{one}", &word[..word.len() - end.len()]),
        )
    }

    /// The plural of a word: the first ending that gives the word back.
    pub(crate) fn plural(&self, word: &str) -> String {
        let endings = self.endings.iter().filter(|(end, one, _)| word.ends_with(one) && !end.is_empty());
        let mut plurals = endings.map(|(end, one, _)| format!("{}{end}", &word[..word.len() - one.len()]));
        plurals.find(|plural| self.singular(plural) == word).unwrap_or_else(|| word.to_owned())
    }
}
