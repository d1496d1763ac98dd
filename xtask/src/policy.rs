//! `cargo xtask policy`: holds every dependency against `deny.toml`.
//!
//! `cargo deny` reads the same file and knows advisories too; what it needs is not on every machine. This looks at what
//! cargo itself knows: the licence of each crate and its name. Where crates come from is a rule of `tidy`.

use anyhow::{Context, Result, bail};

use crate::step::{self, cargo, say};

const FILE: &str = "deny.toml";

pub(crate) fn run() -> Result<()> {
    let policy =
        std::fs::read_to_string(step::root().join(FILE)).with_context(|| format!("{FILE} is missing"))?;
    let (allowed, denied) = (list(&policy, "allow"), list(&policy, "deny"));
    let mut tree = cargo(["tree", "--workspace", "--locked", "--edges", "normal,build,dev"]);
    tree.args(["--prefix", "none", "--format", "{p}|{l}"]);
    let output = tree.output().context("`cargo tree` could not be started")?;
    if !output.status.success() {
        bail!("`cargo tree` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut complaints: Vec<String> =
        text.lines().filter_map(|line| complaint(line, &allowed, &denied)).collect();
    complaints.sort();
    complaints.dedup();
    for complaint in &complaints {
        say(complaint);
    }
    if !complaints.is_empty() {
        bail!("{} dependencies are against {FILE}", complaints.len());
    }
    say("policy: every dependency is within deny.toml");
    Ok(())
}

/// The texts of the list `name = [ … ]`.
fn list(policy: &str, name: &str) -> Vec<String> {
    let start = format!("\n{name} = [");
    let Some((_, rest)) = policy.split_once(&start) else { return Vec::new() };
    let inside = rest.split_once(']').map_or(rest, |(inside, _)| inside);
    inside.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// What is wrong with a line `name version (place)|licence`.
fn complaint(line: &str, allowed: &[String], denied: &[String]) -> Option<String> {
    let (package, licence) = line.split_once('|')?;
    let name = package.split(' ').next().unwrap_or(package);
    // A crate that was listed before has this mark.
    let licence = licence.trim_end_matches("(*)").trim();
    if denied.iter().any(|denied| denied == name) {
        return Some(format!("`{name}` is denied by {FILE}"));
    }
    let is_allowed = holds(licence, &|licence| allowed.iter().any(|allowed| allowed == licence));
    (!is_allowed).then(|| format!("`{name}` has the licence `{licence}`, which {FILE} does not allow"))
}

/// Whether a licence expression holds: `A OR B` by either, `A AND B` by both. The old `A/B` means `A OR B`.
fn holds(expression: &str, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let expression = expression.replace('/', " OR ");
    let parts = |word: &str| split_outside(&expression, word);
    let either = parts(" OR ");
    if either.len() > 1 {
        return either.iter().any(|part| holds(part, is_allowed));
    }
    let both = parts(" AND ");
    if both.len() > 1 {
        return both.iter().all(|part| holds(part, is_allowed));
    }
    let inner = expression.trim();
    match inner.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => holds(inner, is_allowed),
        None => is_allowed(inner),
    }
}

/// Splits at a word that stands outside of brackets.
fn split_outside(text: &str, word: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut rest) = (0_usize, text);
    while let Some(first) = rest.chars().next() {
        if depth == 0 && rest.starts_with(word) {
            parts.push(String::new());
            rest = &rest[word.len()..];
            continue;
        }
        match first {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(first);
        }
        rest = &rest[first.len_utf8()..];
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, expected: bool) {
        let allowed = ["MIT", "Apache-2.0", "ISC"];
        assert_eq!(holds(expression, &|licence| allowed.contains(&licence)), expected, "{expression}");
    }

    #[test]
    fn a_licence_holds_if_one_of_its_choices_is_allowed() {
        check("MIT", true);
        check("GPL-3.0", false);
        check("MIT OR GPL-3.0", true);
        check("MIT/Apache-2.0", true);
        check("MIT AND GPL-3.0", false);
        check("(MIT OR GPL-3.0) AND ISC", true);
        check("(MIT OR Apache-2.0) AND GPL-3.0", false);
        check("", false);
    }

    #[test]
    fn lists_are_read_and_names_are_held_against_them() {
        let policy =
            "[licenses]\nallow = [\n    \"MIT\",\n    \"ISC\",\n]\n[bans]\ndeny = [\"openssl-sys\"]\n";
        let (allowed, denied) = (list(policy, "allow"), list(policy, "deny"));
        assert_eq!((allowed.len(), denied.len()), (2, 1));
        assert_eq!(complaint("a v1.0.0|MIT", &allowed, &denied), None);
        assert!(complaint("a v1.0.0|AGPL-3.0", &allowed, &denied).is_some());
        assert!(complaint("openssl-sys v0.9|MIT", &allowed, &denied).is_some());
    }
}
