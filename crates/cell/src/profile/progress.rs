//! How a set-up tells how far it is.

use std::fmt;

/// What a set-up is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Another process is setting up the same profile.
    Waiting,
    /// Packages are found and downloaded; counted in packages.
    Downloading,
    /// Packages are unpacked; counted in packages.
    Installing,
    /// Modules are compiled to bytecode; counted in files.
    Compiling,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Waiting => "waiting",
            Self::Downloading => "downloading",
            Self::Installing => "installing",
            Self::Compiling => "compiling",
        })
    }
}

/// A listener to the progress of a set-up.
pub trait Progress {
    /// A phase began. `total` says how many packages or files it will count, when that is known.
    fn phase(&mut self, phase: Phase, total: Option<usize>);

    /// So many of the phase's packages or files are done.
    fn done(&mut self, count: usize);

    /// The package that is being fetched.
    fn package(&mut self, name: &str);

    /// A remark for the user: what is waited for, or why something takes another way.
    fn message(&mut self, message: &str);
}

/// A [`Progress`] that nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn phase(&mut self, _phase: Phase, _total: Option<usize>) {}
    fn done(&mut self, _count: usize) {}
    fn package(&mut self, _name: &str) {}
    fn message(&mut self, _message: &str) {}
}
