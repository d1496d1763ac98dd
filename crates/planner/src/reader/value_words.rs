//! The words of columns' values, remembered: each look at the tables has nearly the same values as the one before.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::index::split_text;

/// Values that are remembered; when there are more, all are forgotten.
const KNOWN_MAX: usize = 20_000;
/// Longer values are split each time.
const VALUE_BYTES_MAX: usize = 60;

static KNOWN: LazyLock<Mutex<HashMap<String, Arc<[String]>>>> = LazyLock::new(Mutex::default);

/// The words of a value.
pub(super) fn value_words(text: &str) -> Arc<[String]> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(words) = known.get(text) {
        return Arc::clone(words);
    }
    let words: Arc<[String]> = split_text(text).into();
    if known.len() >= KNOWN_MAX {
        known.clear();
    }
    if text.len() <= VALUE_BYTES_MAX {
        known.insert(text.to_owned(), Arc::clone(&words));
    }
    words
}
