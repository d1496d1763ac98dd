//! What the supervisor tells the zygote once, at its start.
//!
//! A list of records, each a kind byte followed by strings that end in NUL, so that the zygote can hand every path
//! to the kernel as it stands, without allocating.

use core::ffi::CStr;

/// One entry of the zygote's new root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry<'a> {
    /// Binds a folder of the host, read-only.
    Folder {
        /// The path in the root.
        path: &'a CStr,
        /// The path on the host.
        source: &'a CStr,
    },
    /// Binds a single file or device of the host.
    File {
        /// The path on the host and in the root.
        path: &'a CStr,
    },
    /// Binds a single file of the host that holds data, read-only.
    Data {
        /// The path in the root.
        path: &'a CStr,
        /// The path on the host.
        source: &'a CStr,
    },
    /// Binds a folder of the host's disk in which cells may write.
    Scratch {
        /// The path in the root.
        path: &'a CStr,
        /// The path on the host.
        source: &'a CStr,
    },
    /// Makes a symbolic link.
    Link {
        /// Where the link stands.
        path: &'a CStr,
        /// What it names.
        target: &'a CStr,
    },
    /// Makes an empty folder.
    Empty {
        /// The path in the root.
        path: &'a CStr,
    },
    /// Writes a small file.
    Text {
        /// The path in the root.
        path: &'a CStr,
        /// Its content.
        text: &'a CStr,
    },
}

/// The entries of a configuration; stops at the first one that does not read.
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    rest: &'a [u8],
}

impl<'a> Entries<'a> {
    /// Reads the entries of an encoded configuration.
    pub fn new(encoded: &'a [u8]) -> Self {
        Self { rest: encoded }
    }

    /// Whether everything was read.
    pub fn is_finished(&self) -> bool {
        self.rest.is_empty()
    }

    fn string(&mut self) -> Option<&'a CStr> {
        let string = CStr::from_bytes_until_nul(self.rest).ok()?;
        self.rest = &self.rest[string.to_bytes_with_nul().len()..];
        Some(string)
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let before = self.rest;
        let (kind, rest) = self.rest.split_first()?;
        self.rest = rest;
        let entry = (|| {
            let path = self.string()?;
            Some(match kind {
                b'd' => Entry::Folder { path, source: self.string()? },
                b'f' => Entry::File { path },
                b'm' => Entry::Data { path, source: self.string()? },
                b's' => Entry::Scratch { path, source: self.string()? },
                b'l' => Entry::Link { path, target: self.string()? },
                b'e' => Entry::Empty { path },
                b't' => Entry::Text { path, text: self.string()? },
                _ => return None,
            })
        })();
        if entry.is_none() {
            self.rest = before;
        }
        entry
    }
}

impl Entry<'_> {
    /// The kind byte and the strings of the record.
    pub fn parts(&self) -> (u8, &CStr, Option<&CStr>) {
        match *self {
            Self::Folder { path, source } => (b'd', path, Some(source)),
            Self::File { path } => (b'f', path, None),
            Self::Data { path, source } => (b'm', path, Some(source)),
            Self::Scratch { path, source } => (b's', path, Some(source)),
            Self::Link { path, target } => (b'l', path, Some(target)),
            Self::Empty { path } => (b'e', path, None),
            Self::Text { path, text } => (b't', path, Some(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_read_back_and_garbage_stops_the_reading() {
        let mut entries = Entries::new(b"d/packages\0/srv/site\0l/bin\0usr/bin\0t/etc/passwd\0x\0");
        assert_eq!(entries.next(), Some(Entry::Folder { path: c"/packages", source: c"/srv/site" }));
        assert_eq!(entries.next(), Some(Entry::Link { path: c"/bin", target: c"usr/bin" }));
        assert_eq!(entries.next(), Some(Entry::Text { path: c"/etc/passwd", text: c"x" }));
        assert!(entries.is_finished());
        let mut broken = Entries::new(b"l/only-one-string\0");
        assert_eq!(broken.next(), None);
        assert!(!broken.is_finished());
    }
}
