//! Which file names may cross the border between a cell and the host.

/// What is wrong with a name, if anything. A good name is the same on every system, shows what it is, and means
/// nothing to a shell's option parser.
pub fn problem(name: &str) -> Option<&'static str> {
    if name.is_empty() || name.len() > 255 {
        return Some("its name is empty or longer than 255 bytes");
    }
    if name.contains(['/', '\\', ':']) {
        return Some("its name contains a separator");
    }
    if name.chars().any(is_deceptive) {
        return Some("its name contains control or text-direction characters");
    }
    if name.starts_with('-') {
        return Some("its name starts with a dash");
    }
    if name.chars().all(|character| character == '.' || character.is_whitespace()) {
        return Some("its name consists of dots and spaces");
    }
    if name.starts_with(char::is_whitespace) || name.ends_with(char::is_whitespace) {
        return Some("its name starts or ends with a space");
    }
    None
}

/// Whether a name may cross the border.
pub(crate) fn is_plain(name: &str) -> bool {
    problem(name).is_none()
}

/// Control characters, and those that change the direction or are not seen.
pub(crate) fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A hostile name as it may be shown: bounded and printable.
pub(crate) fn shown(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    let mut shown = String::new();
    for character in text.chars().take(80) {
        if is_deceptive(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_deceive_or_escape_are_refused() {
        for bad in [
            "",
            "a/b",
            "..\\..\\win",
            "C:\\pwn.txt",
            "a\nERROR forged",
            "\u{1b}[2J",
            "\u{202e}gnp.exe",
            "-rf",
            "...",
            ".",
            "..",
            " ",
            ". .",
            "name ",
            "\u{200b}x",
        ] {
            assert!(!is_plain(bad), "{bad:?}");
        }
        assert!(!is_plain(&"x".repeat(256)));
        for good in ["a.csv", "con.txt", "$(id)", "Größe (1).png", "..%2f..%2fetc", ".hidden"] {
            assert!(is_plain(good), "{good:?}");
        }
        assert!(is_plain(&"x".repeat(255)));
    }

    #[test]
    fn a_shown_name_holds_no_control_character() {
        let name = shown(b"a\n\x1b[1A\xff\xe2\x80\xaeb");
        assert!(!name.chars().any(is_deceptive), "{name:?}");
        assert_eq!(shown(&[b'x'; 500]).len(), 80);
    }

    /// Names of uploads and artifacts: what passes is one plain part of a path.
    #[test]
    fn fuzz_upload_names() {
        let seeds: [&[u8]; 4] =
            [b"report.csv", "r\u{e9}sum\u{e9} (1).tar.gz".as_bytes(), b"../../etc/passwd", b".hidden"];
        ordain_testkit::fuzz::run("upload_names", &seeds, |input| {
            let name = String::from_utf8_lossy(input);
            if crate::name_problem(&name).is_none() {
                let parts: Vec<_> = std::path::Path::new(&*name).components().collect();
                assert!(matches!(parts[..], [std::path::Component::Normal(_)]), "{name:?}");
                assert!(!name.chars().any(char::is_control) && name.len() <= 255, "{name:?}");
            }
        });
    }
}
