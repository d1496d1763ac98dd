//! Numbers and phrases of a text, in any language.

use std::fmt;

/// Words of the longest phrase that is compared with names.
const PHRASE_WORDS_MAX: usize = 4;

/// A number as a text writes it. `1.234` may be a thousand or a fraction, so both readings count.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    readings: Vec<f64>,
    written: String,
}

impl fmt::Display for Figure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written)
    }
}

impl Figure {
    /// What it may stand for.
    pub(super) fn readings(&self) -> &[f64] {
        &self.readings
    }

    /// Whether two figures may be the same number.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.readings.iter().any(|own| other.readings.iter().any(|reading| (own - reading).abs() < 1e-9))
    }

    fn read(written: &str) -> Option<Self> {
        let written = written.trim_end_matches(['.', ',']);
        let whole = written.replace(['.', ','], "");
        let mut texts = Vec::new();
        let (last, others) =
            written.rsplit_once(['.', ',']).map_or(("", written), |(head, tail)| (tail, head));
        let sign = written.as_bytes().get(others.len()).copied();
        // The last sign may open the fraction, unless it stands there more than once.
        if !last.is_empty() && !others.bytes().any(|byte| Some(byte) == sign) {
            texts.push(format!("{}.{last}", others.replace(['.', ','], "")));
        }
        // It may part thousands, if three digits follow and it is the only kind of sign.
        let is_mixed = written.contains('.') && written.contains(',');
        if last.is_empty() || texts.is_empty() || (last.len() == 3 && !is_mixed) {
            texts.push(whole);
        }
        let readings: Vec<f64> = texts
            .iter()
            .filter_map(|text| text.parse().ok())
            .filter(|number: &f64| number.is_finite())
            .collect();
        (!readings.is_empty()).then(|| Self { readings, written: written.chars().take(40).collect() })
    }
}

/// The numbers that a text writes in digits. Digits inside of a word, such as `SG001`, are part of a name.
pub(super) fn figures(text: &str) -> impl Iterator<Item = Figure> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | ',' | '_')).filter_map(|token| {
        let token = token.trim_start_matches(['.', ',']);
        let digits =
            token.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(token.len());
        let (number, unit) = token.split_at(digits);
        // `3rd` and `10kg` are numbers; `3f9a` is an id.
        let is_unit = unit.chars().all(char::is_alphabetic);
        (number.starts_with(|c: char| c.is_ascii_digit()) && is_unit).then(|| Figure::read(number)).flatten()
    })
}

/// Every run of up to four words, in lower case.
pub(super) fn phrases(text: &str) -> impl Iterator<Item = String> {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let starts = 0..words.len();
    starts.flat_map(move |start| {
        let ends = start + 1..=words.len().min(start + PHRASE_WORDS_MAX);
        ends.map(|end| words[start..end].join(" ")).collect::<Vec<_>>()
    })
}

/// A name as phrases are written, if it is one that can be compared: no number, no prose.
pub(super) fn name(text: &str) -> Option<String> {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .take(PHRASE_WORDS_MAX + 1)
        .collect();
    let name = words.join(" ");
    let is_name = words.len() <= PHRASE_WORDS_MAX && name.len() > 2 && name.contains(char::is_alphabetic);
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written_anywhere() {
        let read = |text: &str| figures(text).flat_map(|figure| figure.readings).collect::<Vec<_>>();
        assert_eq!(read("Sold 3 for $180.50."), [3.0, 180.5]);
        assert_eq!(read("1,234.56"), [1234.56]);
        assert_eq!(read("1.234.567 and 1,234"), [1_234_567.0, 1.234, 1234.0]);
        assert_eq!(read("1.234,56 €"), [1234.56]);
        assert_eq!(read("the 3rd of SG001, 06ewdk, x_4 and 10kg"), [3.0, 10.0]);
        assert_eq!(read("am 2026-11-15"), [2026.0, 11.0, 15.0]);
    }

    #[test]
    fn a_phrase_is_compared_without_case_and_signs() {
        assert!(phrases("Sold 3 Ray-Ban Classics.").any(|phrase| phrase == "ray ban"));
        assert_eq!(name("Ray-Ban").as_deref(), Some("ray ban"));
        assert_eq!((name("42"), name("one two three four five")), (None, None));
    }
}
