//! Takes secrets out of texts that come back from outside, however they are spelled there.
//!
//! What was given a secret may repeat it: as it is, escaped for JSON or an address, in base64 or in hexadecimal digits,
//! broken into lines. So a text is not searched for one spelling: it is read as each place could be meant.

/// Shorter values occur in ordinary text and are no secrets.
const SECRET_BYTES_MIN: usize = 4;
/// Shorter pieces of base64 and of hexadecimal digits occur in ordinary text.
const ENCODED_BYTES_MIN: usize = 6;
/// Lines of a secret of several lines count for themselves from this length on.
const LINE_BYTES_MIN: usize = 12;
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Secrets, as they are looked for in texts.
#[derive(Clone, Default)]
pub struct Mask(Vec<Spelling>);

#[derive(Clone)]
struct Spelling {
    name: String,
    /// Without its blanks and line breaks, which a text may have elsewhere.
    bytes: Vec<u8>,
    /// Whether capitals count, as they do not in hexadecimal digits.
    is_exact: bool,
}

impl Mask {
    /// A mask for secrets, each with the name that takes its place.
    pub fn new<'a>(secrets: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut spellings = Vec::new();
        for (name, secret) in secrets {
            let mut add = |bytes: &[u8], is_exact| {
                let bytes: Vec<u8> =
                    bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
                spellings.push(Spelling { name: name.to_owned(), bytes, is_exact });
            };
            let secret = secret.trim();
            if secret.len() < SECRET_BYTES_MIN {
                continue;
            }
            add(secret.as_bytes(), true);
            let lines = secret.lines().map(str::trim).filter(|line| line.len() >= LINE_BYTES_MIN);
            lines.filter(|line| line.len() < secret.len()).for_each(|line| add(line.as_bytes(), true));
            if secret.len() >= ENCODED_BYTES_MIN {
                (0..3).for_each(|before| add(&base64_core(secret.as_bytes(), before), true));
                add(crate::hex(secret.as_bytes()).as_bytes(), false);
            }
        }
        // A longer spelling may begin with a shorter one.
        spellings.sort_by_key(|spelling| std::cmp::Reverse(spelling.bytes.len()));
        Self(spellings)
    }

    /// The text with `[NAME]` in the place of each secret.
    pub fn hide(&self, text: &str) -> String {
        let (mut hidden, mut from, mut at) = (String::with_capacity(text.len()), 0, 0);
        while at < text.len() {
            match self.at(text.as_bytes(), at) {
                Some((name, end)) => {
                    hidden.push_str(&text[from..at]);
                    hidden.push('[');
                    hidden.push_str(name);
                    hidden.push(']');
                    (from, at) = (text.ceil_char_boundary(end), text.ceil_char_boundary(end));
                }
                None => at = text.ceil_char_boundary(at + 1),
            }
        }
        hidden.push_str(&text[from..]);
        hidden
    }

    /// The same in every text of a value, and in its names.
    pub fn hide_in(&self, value: &mut serde_json::Value) {
        use serde_json::Value;
        match value {
            Value::String(text) => *text = self.hide(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in(item)),
            Value::Object(members) => {
                let all = std::mem::take(members).into_iter();
                *members = all
                    .map(|(name, mut member)| {
                        self.hide_in(&mut member);
                        (self.hide(&name), member)
                    })
                    .collect();
            }
            Value::Number(number) => {
                let text = number.to_string();
                let hidden = self.hide(&text);
                if hidden != text {
                    *value = Value::String(hidden);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// The name of a secret that stands in a text, if one does.
    pub fn found_in(&self, text: &str) -> Option<&str> {
        (0..text.len()).find_map(|at| self.at(text.as_bytes(), at)).map(|(name, _)| name)
    }

    fn at(&self, text: &[u8], at: usize) -> Option<(&str, usize)> {
        self.0.iter().find_map(|spelling| Some((spelling.name.as_str(), spelling.end_in(text, at)?)))
    }
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Mask").finish_non_exhaustive()
    }
}

impl Spelling {
    /// Where it ends, if it stands at a place.
    fn end_in(&self, text: &[u8], start: usize) -> Option<usize> {
        let mut at = start;
        for (index, &wanted) in self.bytes.iter().enumerate() {
            loop {
                if let Some(end) = self.unit(text, at, wanted) {
                    at = end;
                    break;
                }
                // A blank may stand anywhere but before the first character.
                at = skipped(text, at).filter(|_| index > 0)?;
            }
        }
        Some(at)
    }

    /// Where one character of the secret ends, if it is spelled at a place.
    fn unit(&self, text: &[u8], at: usize, wanted: u8) -> Option<usize> {
        let is_wanted = |byte: u8| {
            byte == wanted
                || !self.is_exact && byte.eq_ignore_ascii_case(&wanted)
                // The two alphabets of base64 differ in two characters.
                || matches!((byte, wanted), (b'-', b'+') | (b'_', b'/'))
        };
        let first = *text.get(at)?;
        if first == b'%'
            && let Some(byte) = hexadecimal(text, at + 1, 2)
            && u8::try_from(byte).is_ok_and(is_wanted)
        {
            return Some(at + 3);
        }
        if first == b'\\' {
            // Escapes may themselves have been escaped.
            let mut next = at;
            while text.get(next) == Some(&b'\\') {
                next += 1;
            }
            let escaped = *text.get(next)?;
            let of_unicode = (escaped == b'u').then(|| hexadecimal(text, next + 1, 4)).flatten();
            if of_unicode.and_then(|code| u8::try_from(code).ok()).is_some_and(is_wanted) {
                return Some(next + 5);
            }
            return match wanted {
                b'\\' => Some(next),
                b'"' | b'/' | b'\'' if escaped == wanted => Some(next + 1),
                _ => None,
            };
        }
        is_wanted(first).then_some(at + 1)
    }
}

/// Where a blank or a line break ends that stands at a place, in any spelling.
fn skipped(text: &[u8], at: usize) -> Option<usize> {
    match *text.get(at)? {
        byte if byte.is_ascii_whitespace() => Some(at + 1),
        // A form's way to write a blank.
        b'+' => Some(at + 1),
        b'%' => {
            hexadecimal(text, at + 1, 2).filter(|byte| matches!(byte, 0x09..=0x0d | 0x20)).map(|_| at + 3)
        }
        b'\\' => match text.get(at + 1)? {
            b'n' | b'r' | b't' => Some(at + 2),
            b'\\' => Some(at + 1),
            b'u' => {
                hexadecimal(text, at + 2, 4).filter(|code| matches!(code, 0x09..=0x0d | 0x20)).map(|_| at + 6)
            }
            _ => None,
        },
        _ => None,
    }
}

fn hexadecimal(text: &[u8], from: usize, digits: usize) -> Option<u32> {
    let digits = std::str::from_utf8(text.get(from..from + digits)?).ok()?;
    u32::from_str_radix(digits, 16).ok()
}

/// The characters of base64 that a secret alone decides when so many bytes (0 to 2) stand before it in a group of three.
fn base64_core(secret: &[u8], before: usize) -> Vec<u8> {
    let bit = |at: usize| -> u8 {
        let byte = secret[at / 8];
        (byte >> (7 - at % 8)) & 1
    };
    // The first character that begins inside of the secret.
    let first = (before * 8).div_ceil(6) * 6 - before * 8;
    let starts = (first..=(secret.len() * 8).saturating_sub(6)).step_by(6);
    starts
        .map(|start| {
            let six = (start..start + 6).fold(0, |six, at| six << 1 | bit(at));
            BASE64[usize::from(six)]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "-----BEGIN KEY-----\nMIIabcdef0123456789\n-----END KEY-----";

    #[track_caller]
    fn check(secret: &str, text: &str, expected: &str) {
        assert_eq!(Mask::new([("KEY", secret)]).hide(text), expected, "{secret:?} in {text:?}");
    }

    #[test]
    fn a_secret_is_found_in_every_spelling() {
        check("tk-plain", "I have tk-plain here", "I have [KEY] here");
        check("tk\"quoted", r#"{"a":"tk\"quoted"}"#, r#"{"a":"[KEY]"}"#);
        check("tk\"quoted", r#""{\"a\":\"tk\\\"quoted\"}""#, r#""{\"a\":\"[KEY]\"}""#);
        check("tk\\back", r"tk\\back tk\back tk\\\\back", "[KEY] [KEY] [KEY]");
        check("s3cr/t é!", "s3cr%2Ft%20%C3%A9%21 s3cr%2ft+%c3%a9! s3cr\\/t é!", "[KEY] [KEY] [KEY]");
        check("s3cret", "\\u0073\\u0033cret", "[KEY]");
        check("jklmno", "6a6b6c6d6e6f 6A6B6C6D6E6F 6a6b6c6d6e", "[KEY] [KEY] 6a6b6c6d6e");
    }

    #[test]
    fn a_secret_of_several_lines_is_found_with_other_line_breaks_and_line_by_line() {
        check(KEY, &format!("is {}!", KEY.replace('\n', "\r\n")), "is [KEY]!");
        check(KEY, &format!("is {}!", KEY.replace('\n', "\\n")), "is [KEY]!");
        check(KEY, &format!("is {}!", KEY.replace('\n', "")), "is [KEY]!");
        check(KEY, "the middle is MIIabcdef0123456789.", "the middle is [KEY].");
        check(KEY, "MIIabcdef\n0123456789", "[KEY]");
    }

    #[test]
    fn a_secret_is_found_in_base64_wherever_it_begins() {
        // `user:s3cret-key`, `ab:s3cret-key!`, `s3cret-key`, and in lines and with the other alphabet.
        for (text, left) in
            [("dXNlcjpzM2NyZXQta2V5", "dXNlcjp"), ("YWI6czNjcmV0LWtleSE=", "YWI6"), ("czNjcmV0LWtleQ==", "")]
        {
            let hidden = Mask::new([("KEY", "s3cret-key")]).hide(text);
            assert!(
                hidden.starts_with(left) && hidden.contains("[KEY]") && hidden.len() < left.len() + 12,
                "{hidden}"
            );
        }
        check("s3cret-key", "czNjcm\nV0LWtle", "[KEY]");
    }

    #[test]
    fn ordinary_text_stays() {
        for text in ["", "nothing", "é\\u", "%", "%2", "\\", "tk plan", "tk-plai"] {
            check("tk-plain", text, text);
        }
        check("abc", "abc", "abc");
        let mut value = serde_json::json!({ "tk-plain": [1, "tk-plain", null] });
        Mask::new([("KEY", "tk-plain")]).hide_in(&mut value);
        assert_eq!(value, serde_json::json!({ "[KEY]": [1, "[KEY]", null] }));
    }
}
