//! Links between Markdown pages lead somewhere.

use std::{collections::BTreeSet, path::Path};

use super::{
    Complaint,
    files::{File, normal},
};

/// Every relative link names a file or folder of the repository and, after `#`, one of its headings.
pub(super) fn resolve(files: &[File]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for page in files.iter().filter(|file| file.ending() == "md") {
        for (number, target) in links(page) {
            if let Some(what) = judge(page, &target, files) {
                complaints.push(Complaint::new(page, number, what));
            }
        }
    }
    complaints
}

/// What is wrong with a link, if anything.
fn judge(page: &File, target: &str, files: &[File]) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") || target.is_empty() {
        return None;
    }
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let goal = if path.is_empty() {
        Some(page.path.clone())
    } else {
        normal(&Path::new(&page.path).parent().unwrap_or(Path::new("")).join(path))
    };
    let Some(goal) = goal else { return Some(format!("links to `{target}`, outside the repository")) };
    let folder = format!("{goal}/");
    let found = files.iter().find(|file| file.path == goal);
    if found.is_none() && !goal.is_empty() && !files.iter().any(|file| file.path.starts_with(&folder)) {
        return Some(format!("links to `{target}`, which is not there"));
    }
    let is_missing = |file: &File| file.ending() == "md" && !headings(file).contains(heading);
    (!heading.is_empty() && found.is_some_and(is_missing))
        .then(|| format!("links to `{target}`, but there is no such heading"))
}

/// The targets of `[text](target)` and `[name]: target`, outside code.
fn links(page: &File) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(page) {
        let line = without_code(line);
        for piece in line.split("](").skip(1) {
            if let Some((target, _)) = piece.split_once(')') {
                found.push((number, clean(target)));
            }
        }
        if let Some((name, target)) = line.trim_start().split_once("]: ")
            && name.starts_with('[')
        {
            found.push((number, clean(target)));
        }
    }
    found
}

/// Drops a title after the target and angle brackets around it.
fn clean(target: &str) -> String {
    let target = target.split_whitespace().next().unwrap_or("");
    target.trim_start_matches('<').trim_end_matches('>').to_owned()
}

/// The lines outside fenced code.
fn prose(page: &File) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    page.lines().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The line without the text between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The anchors of a page's headings, as the usual Markdown viewers make them.
fn headings(page: &File) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(page).filter(|(_, line)| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        // A repeated heading gets a number.
        let repeated = (1..).map(|count| format!("{anchor}-{count}"));
        let free = std::iter::once(anchor.clone()).chain(repeated).find(|anchor| !anchors.contains(anchor));
        anchors.extend(free);
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::{super::tests::check, *};

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let page = "\
# A page: with `code`
[ok](other.md) [ok](../README.md#the-top) [ok](https://example.org/x) [ok](#a-page-with-code) [ok](sub)
[gone](missing.md) and [far](../../elsewhere.md)
[no heading](other.md#nothing)
`[code](nowhere.md)`
```
[code](nowhere.md)
```
[name]: nowhere.md
";
        check(
            resolve,
            &[
                ("docs/page.md", page),
                ("docs/other.md", "x"),
                ("README.md", "# The top"),
                ("docs/sub/x.md", ""),
            ],
            &[
                "docs/page.md:3: links to `missing.md`, which is not there",
                "docs/page.md:3: links to `../../elsewhere.md`, outside the repository",
                "docs/page.md:4: links to `other.md#nothing`, but there is no such heading",
                "docs/page.md:9: links to `nowhere.md`, which is not there",
            ],
        );
    }
}
