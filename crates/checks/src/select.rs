//! Which checks a selection means.

use ordain_types::Selection;

use crate::check::Check;

impl Check {
    /// Whether a selection means it, changes and its last status aside: of each kind of term that there is, one fits.
    pub fn is_in(&self, selection: &Selection) -> bool {
        let fits = |wanted: &[String], own: &[&str]| {
            wanted.is_empty() || wanted.iter().any(|wanted| own.iter().any(|own| matches(wanted, own)))
        };
        selection.only.as_ref().is_none_or(|only| *only == self.check_id)
            && (selection.schedule.is_none() || selection.schedule == self.schedule)
            && fits(&selection.ids, &[&self.check_id])
            && fits(&selection.tags, &self.tags.iter().map(String::as_str).collect::<Vec<_>>())
            && fits(&selection.owners, &[self.owner.as_deref().unwrap_or("")])
            && fits(&selection.tables, &self.target_table.iter().map(String::as_str).collect::<Vec<_>>())
            && fits(&selection.severities, &[self.severity.name()])
    }
}

/// Whether a name is meant; a `*` at the end stands for any rest.
fn matches(wanted: &str, own: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(start) => own.starts_with(start),
        None => own == wanted,
    }
}
