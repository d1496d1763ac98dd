//! A workspace's `helpers.py`, with what was read in it: that is read once, and not again for every run.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::{Helper, glance, helper_source, helpers_of};

/// The functions that a workspace gives to its plans.
#[derive(Debug, Clone, Default)]
pub struct Helpers(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    source: String,
    known: OnceLock<Vec<Helper>>,
    /// By the name of a helper, what it rests on.
    texts: Mutex<HashMap<String, Arc<RestsOn>>>,
}

/// All text on which a function rests: its own, that of the functions it calls, and everything outside functions.
#[derive(Debug)]
pub struct RestsOn {
    /// The text.
    pub text: String,
    /// The tables that it names.
    pub tables: BTreeSet<String>,
    /// All of its words. A table that is none of them it cannot name, in SQL either.
    pub words: BTreeSet<String>,
}

impl From<String> for Helpers {
    fn from(source: String) -> Self {
        Self(Arc::new(Inner { source, ..Inner::default() }))
    }
}

impl Helpers {
    /// The file's text.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Its public functions. A file that is not Python gives none; a plan that calls one is then told that it is unknown.
    pub fn known(&self) -> &[Helper] {
        self.0.known.get_or_init(|| helpers_of(&self.0.source).unwrap_or_default())
    }

    /// What a function rests on.
    pub fn rests_on(&self, name: &str) -> Arc<RestsOn> {
        let mut texts = self.0.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = texts.get(name) {
            return Arc::clone(text);
        }
        let text = helper_source(&self.0.source, name);
        let tables = glance(&text).map(|seen| seen.tables).unwrap_or_default();
        let words = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        let words = words.map(|word| word.strip_suffix("_tbl").unwrap_or(word).to_owned()).collect();
        let text = Arc::new(RestsOn { text, tables, words });
        // Names come from kept plans too; those that the file does not define are not worth keeping.
        if self.known().iter().any(|helper| helper.name == name) {
            texts.insert(name.to_owned(), Arc::clone(&text));
        }
        text
    }
}
