//! The lists that the rules read: names with their reasons, apart from the code that uses them.

/// The lines of a text file, each a word, as a list that the program has from the start.
macro_rules! words {
    ($file:literal) => {{
        const TEXT: &str = include_str!($file);
        const WORDS: [&str; $crate::data::count(TEXT)] = $crate::data::lines(TEXT);
        &WORDS
    }};
}

pub(crate) mod blocked_calls;
pub(crate) mod blocked_imports;
pub(crate) mod builtins;
pub(crate) mod dunders;
pub(crate) mod foreign;
pub(crate) mod frame_methods;
pub(crate) mod known_imports;
pub(crate) mod profiles;
pub(crate) mod stdlib;

/// How many lines a text has; each ends with a line break.
const fn count(text: &str) -> usize {
    let (bytes, mut at, mut count) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        if bytes[at] == b'\n' {
            count += 1;
        }
        at += 1;
    }
    count
}

/// The lines of a text that has so many.
const fn lines<const COUNT: usize>(text: &'static str) -> [&'static str; COUNT] {
    let (mut found, mut rest, mut index) = ([""; COUNT], text, 0);
    while index < COUNT {
        let mut end = 0;
        while rest.as_bytes()[end] != b'\n' {
            end += 1;
        }
        let (line, after) = rest.split_at(end);
        (found[index], rest) = (line, after.split_at(1).1);
        index += 1;
    }
    found
}
