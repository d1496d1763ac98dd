//! The modules of Python's standard library, for each version that cells run.

use crate::policy::PythonVersion;

/// The top-level modules of the standard library of one Python.
pub fn stdlib_modules(python: PythonVersion) -> impl Iterator<Item = &'static str> {
    let changed = CHANGED.iter().filter(move |module| module.is_in(python)).map(|module| module.name);
    ALWAYS.iter().copied().chain(changed)
}

pub(crate) fn is_stdlib(name: &str, python: PythonVersion) -> bool {
    ALWAYS.binary_search(&name).is_ok() || changed(name).is_some_and(|module| module.is_in(python))
}

/// The module, if some version of Python that cells run has it and another has not.
pub(crate) fn changed(name: &str) -> Option<&'static Changed> {
    CHANGED.iter().find(|module| module.name == name)
}

/// A module that came or went.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) name: &'static str,
    /// The first minor version that has it.
    pub(crate) since: u8,
    /// The first minor version that no longer has it.
    pub(crate) until: u8,
}

impl Changed {
    fn is_in(&self, python: PythonVersion) -> bool {
        (self.since..self.until).contains(&python.minor)
    }
}

const fn until(name: &'static str, until: u8) -> Changed {
    Changed { name, since: 0, until }
}

const fn since(name: &'static str, since: u8) -> Changed {
    Changed { name, since, until: u8::MAX }
}

/// Modules that came or went between 3.10 and 3.14.
const CHANGED: &[Changed] = &[
    since("tomllib", 11),
    since("annotationlib", 14),
    since("compression", 14),
    until("binhex", 11),
    until("asynchat", 12),
    until("asyncore", 12),
    until("distutils", 12),
    until("imp", 12),
    until("smtpd", 12),
    until("aifc", 13),
    until("audioop", 13),
    until("cgi", 13),
    until("cgitb", 13),
    until("chunk", 13),
    until("crypt", 13),
    until("imghdr", 13),
    until("lib2to3", 13),
    until("mailcap", 13),
    until("msilib", 13),
    until("nis", 13),
    until("nntplib", 13),
    until("ossaudiodev", 13),
    until("pipes", 13),
    until("sndhdr", 13),
    until("spwd", 13),
    until("sunau", 13),
    until("telnetlib", 13),
    until("uu", 13),
    until("xdrlib", 13),
];

/// Modules that every version from 3.10 on has, sorted.
const ALWAYS: &[&str] = words!("stdlib.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_for_the_search() {
        assert!(ALWAYS.is_sorted());
    }

    #[test]
    fn modules_come_and_go_with_the_version() {
        let python = |minor| PythonVersion { major: 3, minor };
        assert!(is_stdlib("json", python(10)) && is_stdlib("json", python(14)));
        assert!(!is_stdlib("tomllib", python(10)) && is_stdlib("tomllib", python(11)));
        assert!(is_stdlib("telnetlib", python(12)) && !is_stdlib("telnetlib", python(13)));
        assert!(!is_stdlib("pandas", python(13)));
        assert!(stdlib_modules(python(13)).all(|name| is_stdlib(name, python(13))));
    }
}
