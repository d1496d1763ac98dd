//! The choice of a profile, the same for every kind of work: the smallest one that has what the code uses.

use std::collections::BTreeSet;

use ordain_cell::profile::Profile;
use ordain_files::profile_for_files;
use ordain_verify::{CORE_IMPORTS, DATA_IMPORTS, Effects, FULL_IMPORTS};

/// What code needs of its cell.
#[derive(Debug, Clone)]
pub(crate) struct Needs<'a> {
    pub(crate) effects: &'a Effects,
    /// What the modules import that come with the code.
    pub(crate) modules: &'a BTreeSet<String>,
    /// Names of the files that it is given.
    pub(crate) files: Vec<&'a str>,
    /// The profile, where it is not open to choice.
    pub(crate) fixed: Option<Profile>,
}

impl Needs<'_> {
    /// The smallest profile that has everything.
    pub(crate) fn profile(&self) -> Profile {
        if let Some(profile) = self.fixed {
            return profile;
        }
        if self.goes_beyond(DATA_IMPORTS) {
            Profile::Full
        } else if self.goes_beyond(CORE_IMPORTS) || self.effects.uses_frames() {
            // Libraries look for readers by themselves: pandas imports the one that a file needs.
            profile_for_files(self.files.iter().copied())
        } else {
            Profile::Core
        }
    }

    fn goes_beyond(&self, packages: &[&str]) -> bool {
        let tops = self.effects.imports.iter().chain(self.modules).map(|import| top(import));
        tops.into_iter().any(|top| !packages.contains(&top) && FULL_IMPORTS.contains(&top))
    }
}

/// The smallest profile that has what code uses that has neither modules nor files of its own.
pub fn profile_for(effects: &Effects) -> Profile {
    Needs { effects, modules: &BTreeSet::new(), files: Vec::new(), fixed: None }.profile()
}

fn top(import: &str) -> &str {
    import.split('.').next().unwrap_or_default()
}
