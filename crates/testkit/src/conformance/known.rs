//! Cases in which Ordain means something else on purpose, each with the reason. They are counted apart.

/// The file, a part of the title, the reason.
const KNOWN: &[(&str, &str, &str)] = &[];

/// Why a case differs, where it does so on purpose.
pub(super) fn reason(file: &str, title: &str) -> Option<String> {
    let known = KNOWN.iter().find(|(known, part, _)| *known == file && title.contains(part));
    known.map(|(_, _, reason)| (*reason).to_owned())
}
