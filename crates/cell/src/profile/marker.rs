//! Environment markers: which lines of a lock file are meant for this Python.
//!
//! The lock files are resolved for every Python and platform at once, so a line may say
//! `; python_full_version >= '3.11' and sys_platform != 'win32'`. The installers judge markers themselves; we judge
//! them too, to know how many packages to expect and to check that exactly those arrived. Only what the resolver
//! writes is understood: comparisons of a variable with a literal, `and`, `or` and parentheses.

use super::Interpreter;

/// Whether the marker holds for the interpreter; `None` if the marker is not understood.
pub(super) fn holds(marker: &str, interpreter: &Interpreter) -> Option<bool> {
    let words = words(marker)?;
    let mut reader = Reader { words: &words, at: 0, interpreter };
    let verdict = reader.any()?;
    (reader.at == words.len()).then_some(verdict)
}

/// Splits at blanks and parentheses, and keeps quoted text whole, with its opening quote.
fn words(marker: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = marker.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '(' | ')' => 1,
            '\'' | '"' => 1 + rest[1..].find(first)?,
            _ => rest.find([' ', '(', ')', '\'', '"']).unwrap_or(rest.len()),
        };
        words.push(rest[..length].to_owned());
        // The closing quote is not part of the word.
        rest = rest[length..].trim_start_matches(['\'', '"']).trim_start();
    }
    Some(words)
}

struct Reader<'a> {
    words: &'a [String],
    at: usize,
    interpreter: &'a Interpreter,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<&str> {
        self.at += 1;
        self.words.get(self.at - 1).map(String::as_str)
    }

    fn skip(&mut self, word: &str) -> bool {
        let is_next = self.words.get(self.at).is_some_and(|next| next == word);
        self.at += usize::from(is_next);
        is_next
    }

    fn any(&mut self) -> Option<bool> {
        let mut verdict = self.all()?;
        while self.skip("or") {
            verdict |= self.all()?;
        }
        Some(verdict)
    }

    fn all(&mut self) -> Option<bool> {
        let mut verdict = self.one()?;
        while self.skip("and") {
            verdict &= self.one()?;
        }
        Some(verdict)
    }

    fn one(&mut self) -> Option<bool> {
        if self.skip("(") {
            let verdict = self.any()?;
            return self.skip(")").then_some(verdict);
        }
        let variable = self.next()?.to_owned();
        let operator = self.next()?.to_owned();
        let literal = self.next()?.strip_prefix(['\'', '"'])?.to_owned();
        self.compare(&variable, &operator, &literal)
    }

    fn compare(&self, variable: &str, operator: &str, literal: &str) -> Option<bool> {
        let text = match variable {
            "python_full_version" => return self.compare_version(operator, literal),
            "python_version" => {
                let is_minor = literal.split('.').count() == 2;
                return if is_minor { self.compare_minor(operator, literal) } else { None };
            }
            "sys_platform" => "linux",
            "os_name" => "posix",
            "platform_system" => "Linux",
            "platform_python_implementation" => "CPython",
            "implementation_name" => "cpython",
            "platform_machine" => self.interpreter.platform.strip_prefix("linux-")?,
            _ => return None,
        };
        match operator {
            "==" => Some(text == literal),
            "!=" => Some(text != literal),
            _ => None,
        }
    }

    fn compare_version(&self, operator: &str, literal: &str) -> Option<bool> {
        let (major, minor, patch) = self.interpreter.version;
        if let Some(series) = literal.strip_suffix(".*") {
            let is_in = numbers(series)? == [major, minor];
            return match operator {
                "==" => Some(is_in),
                "!=" => Some(!is_in),
                _ => None,
            };
        }
        let mut wanted = numbers(literal)?;
        wanted.resize(3, 0);
        order(operator, &[major, minor, patch], &wanted)
    }

    fn compare_minor(&self, operator: &str, literal: &str) -> Option<bool> {
        let (major, minor, _) = self.interpreter.version;
        order(operator, &[major, minor], &numbers(literal)?)
    }
}

fn numbers(version: &str) -> Option<Vec<u8>> {
    version.split('.').map(|part| part.parse().ok()).collect()
}

fn order(operator: &str, left: &[u8], right: &[u8]) -> Option<bool> {
    match operator {
        "==" => Some(left == right),
        "!=" => Some(left != right),
        "<" => Some(left < right),
        "<=" => Some(left <= right),
        ">" => Some(left > right),
        ">=" => Some(left >= right),
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn python(version: (u8, u8, u8)) -> Interpreter {
        Interpreter {
            executable: "/usr/bin/python3".into(),
            launcher: "/usr/bin/python3".into(),
            base_prefix: "/usr".into(),
            stdlib: "/usr/lib/python3".into(),
            platstdlib: "/usr/lib/python3".into(),
            platlib: "/usr/lib/python3/dist-packages".into(),
            version,
            abi_tag: format!("cp{}{}", version.0, version.1),
            platform: "linux-x86_64".into(),
            libc: "glibc".into(),
            has_pip: true,
        }
    }

    #[test]
    fn markers_are_judged_as_the_resolver_means_them() {
        let python = python((3, 11, 7));
        for (marker, expected) in [
            ("python_full_version >= '3.11'", Some(true)),
            ("python_full_version < '3.11'", Some(false)),
            ("python_full_version < '3.11.8'", Some(true)),
            ("python_full_version == '3.11.*'", Some(true)),
            ("python_full_version != '3.11.*'", Some(false)),
            ("python_full_version >= '3.12'", Some(false)),
            ("python_version < '3.12'", Some(true)),
            ("sys_platform == 'win32'", Some(false)),
            ("sys_platform != 'cygwin' and platform_machine == 'x86_64'", Some(true)),
            ("python_full_version < '3.11' and sys_platform == 'linux' or os_name == 'posix'", Some(true)),
            ("python_full_version < '3.11' and (sys_platform == 'linux' or os_name == 'posix')", Some(false)),
            ("implementation_name == \"cpython\"", Some(true)),
        ] {
            assert_eq!(holds(marker, &python), expected, "{marker}");
        }
    }

    #[test]
    fn a_marker_that_is_not_understood_is_never_guessed() {
        let python = python((3, 11, 7));
        for marker in [
            "",
            "sys_platform",
            "sys_platform ==",
            "sys_platform == 'linux",
            "sys_platform == linux",
            "phase_of_moon == 'full'",
            "python_full_version ~= '3.11'",
            "(sys_platform == 'linux'",
            "sys_platform == 'linux' 'x'",
            "python_full_version >= '3.x'",
        ] {
            assert_eq!(holds(marker, &python), None, "{marker}");
        }
    }
}
