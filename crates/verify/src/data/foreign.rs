//! Modules that are reached through another module, which had imported them for itself: `logging.sys`.
//!
//! An import statement says which module is meant, so that it can be judged. A module that is picked out of another
//! one has said nothing.

use super::{blocked_imports, stdlib};
use crate::policy::PythonVersion;

/// The last part of a dotted path, if another module than the imported one begins there.
pub(crate) fn reached(path: &str, python: PythonVersion) -> Option<&str> {
    let top = path.split('.').next().unwrap_or_default();
    let is_stdlib = stdlib::is_stdlib(top, python);
    let mut end = top.len();
    for part in path.split('.').skip(1) {
        end += 1 + part.len();
        let here = &path[..end];
        if OWN.contains(&here) {
            continue;
        }
        let opens = if is_stdlib {
            ALIASES.contains(&part) || is_module(part, python)
        } else {
            opens_the_system(part)
        };
        if opens && end == path.len() {
            return Some(part);
        }
        // What follows a class are its attributes.
        if part.starts_with(char::is_uppercase) || CLASSES.contains(&here) {
            return None;
        }
    }
    None
}

/// Whether an attribute of this name, of whatever object, is a module that leads out of every rule.
pub(crate) fn opens_the_system(attribute: &str) -> bool {
    let bare = attribute.trim_matches('_');
    ALIASES.contains(&attribute)
        || ["sys", "os", "gc", "inspect"].contains(&bare)
        || (!AMBIGUOUS.contains(&bare) && blocked_imports::blocking(bare).is_some())
}

fn is_module(part: &str, python: PythonVersion) -> bool {
    part != "copy"
        && (stdlib::is_stdlib(part, python) || stdlib::is_stdlib(part.trim_start_matches('_'), python))
}

/// Blocked modules whose names are ordinary attributes elsewhere.
const AMBIGUOUS: &[&str] = &["code", "http", "site", "sh", "nt", "select", "imp"];

/// Names under which modules of the standard library keep others.
const ALIASES: &[&str] = &["bltns", "stdlib_re", "_pyprofile"];

/// Classes with names in lower case.
const CLASSES: &[&str] = &[
    "array.array",
    "collections.deque",
    "collections.defaultdict",
    "datetime.date",
    "datetime.datetime",
    "datetime.time",
    "itertools.chain",
];

/// Members that have the name of a module and are none, or are the module's own.
const OWN: &[&str] = words!("foreign.txt");

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: Option<&str>) {
        assert_eq!(reached(path, PythonVersion::default()), expected, "{path}");
    }

    #[test]
    fn a_module_inside_another_is_found() {
        check("logging.sys", Some("sys"));
        check("random._os", Some("_os"));
        check("json.codecs", Some("codecs"));
        check("enum.bltns", Some("bltns"));
        check("tinydb.storages.os", Some("os"));
        check("pandas.io.common.pickle", Some("pickle"));
    }

    #[test]
    fn what_a_module_has_itself_is_no_other_module() {
        check("os.path.join", None);
        check("datetime.datetime.now", None);
        check("datetime.datetime.time", None);
        check("pathlib.Path.glob", None);
        check("numpy.random.rand", None);
        check("pandas.api.types.is_numeric_dtype", None);
        check("scipy.signal.find_peaks", None);
        check("collections.abc.Mapping", None);
    }
}
