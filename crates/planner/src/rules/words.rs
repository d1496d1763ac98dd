//! A request as words: where each stands, what number it says, and its singular.

/// One word or number of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word<'a> {
    /// As it is written.
    pub text: &'a str,
    /// In lower case.
    pub lower: String,
    /// Where it starts, in bytes.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
}

/// Splits a text into words. A word is a run of letters and digits with single `'`, `-`, `_` or `.` inside.
pub fn words(text: &str) -> Vec<Word<'_>> {
    let mut found = Vec::new();
    let mut start = None;
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    for (index, &(at, character)) in characters.iter().enumerate() {
        let is_inner = matches!(character, '\'' | '’' | '-' | '_' | '.' | ',') && {
            let next = characters.get(index + 1).map(|&(_, next)| next);
            let previous = index.checked_sub(1).map(|index| characters[index].1);
            let digits = |around: Option<char>| around.is_some_and(|around| around.is_ascii_digit());
            let letters = |around: Option<char>| around.is_some_and(char::is_alphanumeric);
            // A comma belongs to a number only.
            if character == ',' {
                digits(previous) && digits(next)
            } else {
                letters(previous) && letters(next)
            }
        };
        if character.is_alphanumeric() || (start.is_some() && is_inner) {
            start.get_or_insert(at);
        } else if let Some(from) = start.take() {
            found.push(word(text, from, at));
        }
    }
    if let Some(from) = start {
        found.push(word(text, from, text.len()));
    }
    found
}

/// The first word of a text, as [`words`] finds it.
pub fn first(text: &str) -> Option<&str> {
    // The part up to the first blank holds it, unless that part is all signs.
    let start = text.find(char::is_alphanumeric)?;
    let end = text[start..].find(char::is_whitespace).map_or(text.len(), |length| start + length);
    words(&text[start..end]).first().map(|word| word.text)
}

fn word(text: &str, start: usize, end: usize) -> Word<'_> {
    let part = &text[start..end];
    Word { text: part, lower: part.to_lowercase(), start, end }
}

/// The numbers that are said in a word, in the order of their values.
pub const NUMBER_WORDS: [(&str, u32); 35] = [
    ("a", 1),
    ("an", 1),
    ("one", 1),
    ("single", 1),
    ("two", 2),
    ("couple", 2),
    ("both", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("half-dozen", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("dozen", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
    ("hundred", 100),
];

/// The number that a word says, in digits or in letters (`1,200`, `2.5`, `three`, `twenty-one`).
pub fn number(word: &str) -> Option<f64> {
    let plain: String = word.chars().filter(|&character| character != ',').collect();
    if plain.starts_with(|character: char| character.is_ascii_digit()) {
        return plain.parse().ok();
    }
    let said =
        |word: &str| NUMBER_WORDS.iter().find(|(name, _)| *name == word).map(|&(_, value)| f64::from(value));
    if let Some(value) = said(word) {
        return Some(value);
    }
    let (tens, ones) = word.split_once('-')?;
    Some(said(tens).filter(|tens| *tens >= 20.0)? + said(ones).filter(|ones| *ones < 10.0)?)
}

/// The singular of an English word, good enough to compare two words by.
pub fn singular(word: &str) -> String {
    let lower = word.to_lowercase();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_into_words_with_their_places() {
        let found = words("Buy 1,200 cat-eye's, $3.50 each.");
        let texts: Vec<&str> = found.iter().map(|word| word.text).collect();
        assert_eq!(texts, ["Buy", "1,200", "cat-eye's", "3.50", "each"]);
        assert_eq!((found[1].start, found[1].end), (4, 9));
    }

    #[test]
    fn numbers_are_read_in_digits_and_in_letters() {
        for (word, value) in
            [("3", 3.0), ("1,200", 1200.0), ("2.5", 2.5), ("three", 3.0), ("twenty-one", 21.0)]
        {
            assert_eq!(number(word), Some(value), "{word}");
        }
        assert_eq!(number("classic"), None);
    }

    #[test]
    fn singulars_are_found() {
        for (word, expected) in [
            ("aviators", "aviator"),
            ("glasses", "glass"),
            ("categories", "category"),
            ("boxes", "box"),
            ("bus", "bus"),
        ] {
            assert_eq!(singular(word), expected);
        }
    }
}
