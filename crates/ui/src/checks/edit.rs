//! A rule is changed or added: a form, then the file's diff, how the rule was understood and what it finds, then a button
//! that saves exactly that.

use maud::{Markup, html};
use ordain_checks::report::PastResult;
use ordain_checks::suggest::Suggestion;
use ordain_checks::{CheckResult, Severity};

use super::{failing, page::failing_rows, status};
use crate::code::changed;
use crate::parts::{empty, facts};
use crate::shell::Viewer;
use crate::text::{counted, grouped, in_path, lines, visible};

/// What the form holds, as it was typed.
#[derive(Debug, Clone, Default)]
pub struct Form {
    /// The check; none for a new one.
    pub check_id: Option<String>,
    /// Tables that there are, for a new check.
    pub tables: Vec<String>,
    /// The tables that it looks at.
    pub table: String,
    /// `hint`, or a built-in kind.
    pub kind: String,
    /// What people call it.
    pub name: String,
    /// The rule: in words for `hint`, else the kind's parameters as JSON.
    pub rule: String,
    /// Which rows are looked at.
    pub filter: String,
    /// How much a failure weighs.
    pub severity: String,
    /// From when on it is a warning.
    pub warn_if: String,
    /// From when on it is a failure.
    pub fail_if: String,
    /// Who answers for it.
    pub owner: String,
    /// Words to select by, separated by commas.
    pub tags: String,
    /// Whether it runs at all.
    pub enabled: bool,
}

/// What a change would do.
#[derive(Debug, Clone, Default)]
pub struct Preview {
    /// The file.
    pub file: String,
    /// Its text.
    pub before: String,
    /// Its text after the change.
    pub after: String,
    /// What is wrong with it; nothing can be saved then.
    pub problems: Vec<String>,
    /// What the check gave when it was tried.
    pub result: Option<CheckResult>,
    /// What it gave in its last run.
    pub last: Option<PastResult>,
    /// The name under which the server keeps the change until it is saved.
    pub draft: Option<String>,
}

/// The page: what would happen, if that is known, and the form.
pub fn edit(form: &Form, preview: Option<&Preview>, viewer: &Viewer) -> Markup {
    html! {
        p.crumbs {
            a href="/checks" { "Checks" } " / "
            @if let Some(id) = &form.check_id { a href={ "/checks/" (in_path(id)) } { code { (visible(id)) } } " / edit" } @else { "new rule" }
        }
        h1 { @if form.check_id.is_some() { "Edit “" (visible(&form.name)) "”" } @else { "Add a rule" } }
        @if let Some(preview) = preview { (self::preview(preview, viewer)) }
        (fields(form, viewer))
    }
}

/// The file's diff, how the rule was understood, what it finds, and the button that saves it.
fn preview(preview: &Preview, viewer: &Viewer) -> Markup {
    html! {
        section.preview #preview {
            @for problem in &preview.problems { p.notice.bad role="alert" { (visible(problem)) } }
            @if let Some(result) = &preview.result { (tried(result, preview.last.as_ref())) }
            @if preview.after != preview.before {
                h2 { "Change of " code { (visible(&preview.file)) } }
                (changed(&preview.before, &preview.after))
            } @else if preview.problems.is_empty() { p.notice { "The file stays as it is." } }
            @if let Some(result) = &preview.result { (failing_rows(result)) }
            @if let Some(draft) = &preview.draft {
                form.decide.bar method="post" action="/save-check" {
                    (viewer.hidden_token())
                    input type="hidden" name="draft" value=(draft);
                    button.primary type="submit" { "Save to " (visible(&preview.file)) }
                    span.muted { "Nothing is saved yet." }
                }
            }
        }
    }
}

fn tried(result: &CheckResult, last: Option<&PastResult>) -> Markup {
    let mut about = Vec::new();
    about.extend(
        result.understood.as_ref().map(|read| ("understood as", html! { strong { (visible(read)) } })),
    );
    about.push(("it gives", html! { (status(Some(result.mark()))) " " (visible(&result.summary)) }));
    about.extend(result.evaluated.zip(result.failed).map(|(evaluated, failed)| {
        ("failing rows", html! { (grouped(failed)) " of " (grouped(evaluated)) })
    }));
    about.extend(
        last.map(|last| ("its last run gave", html! { (status(Some(last.mark()))) " " (failing(last)) })),
    );
    html! {
        h2 { "Tried on the data" }
        (facts(&about))
    }
}

fn fields(form: &Form, viewer: &Viewer) -> Markup {
    let is_words = form.kind == "hint";
    html! {
        form.card.rule method="post" {
            (viewer.hidden_token())
            @if form.check_id.is_none() {
                label { "Table" input type="text" name="table" value=(form.table) list="tables" required autocomplete="off"; }
                datalist #tables { @for table in &form.tables { option value=(table) {} } }
            }
            label { "Name" input type="text" name="name" value=(form.name) required maxlength="200" autocomplete="off"; }
            label { @if is_words { "Rule, in words" } @else { "Parameters of " code { (visible(&form.kind)) } ", as JSON" }
                textarea.mono[!is_words] name="rule" rows=(if is_words { 2 } else { 4 }) required maxlength="20000" placeholder=[is_words.then_some("amount must be at least 0")] { (form.rule) } }
            div.pair {
                label { "Severity" select name="severity" { @for severity in SEVERITIES { option value=(severity.name()) selected[severity.name() == form.severity] { (severity.name()) } } } }
                label { "Only rows where" input type="text" name="filter" value=(form.filter) placeholder="status == \"paid\"" autocomplete="off"; }
                label { "Warns when" input type="text" name="warn_if" value=(form.warn_if) placeholder="failed > 0" autocomplete="off"; }
                label { "Fails when" input type="text" name="fail_if" value=(form.fail_if) placeholder="failed_pct > 5" autocomplete="off"; }
                label { "Owner" input type="text" name="owner" value=(form.owner) autocomplete="off"; }
                label { "Tags" input type="text" name="tags" value=(form.tags) placeholder="separated by commas" autocomplete="off"; }
            }
            label.inline { input type="checkbox" name="enabled" value="yes" checked[form.enabled]; " It runs" }
            p { button.primary type="submit" { "Try it" } " " span.muted { "It runs on the data and shows what would change. The file stays as it is; the code that ran is among the kept plans." } }
        }
    }
}

const SEVERITIES: [Severity; 5] =
    [Severity::Info, Severity::Low, Severity::Medium, Severity::High, Severity::Critical];

/// Rules that a table's rows suggest.
pub fn suggestions(table: &str, tables: &[String], found: Option<&[Suggestion]>, viewer: &Viewer) -> Markup {
    html! {
        p.crumbs { a href="/checks" { "Checks" } " / suggested" }
        h1 { "Suggest rules" }
        form.search method="get" action="/suggested-checks" {
            label { span.unseen { "Table" } select name="table" { @for name in tables { option value=(name) selected[name == table] { (visible(name)) } } } }
            button type="submit" { "Look at the table" }
        }
        @match found {
            None => { p.muted { "The table is looked at in a cell. What its rows have in common is proposed as rules." } },
            Some([]) => { (empty("Nothing is proposed.", &html! { p { "The table has too few rows to show anything, or its rules are there already." } })) },
            Some(found) => {
                p.muted { (counted(found.len(), "rule", "rules")) " that hold today. That may be chance: read what was seen before you add one." }
                form method="post" action="/suggested-checks" {
                    (viewer.hidden_token())
                    input type="hidden" name="table" value=(table);
                    div.scroll tabindex="0" role="region" aria-label="Proposed rules" { table.list {
                        thead { tr { th scope="col" { "Add" } th scope="col" { "Rule" } th scope="col" { "What was seen" } } }
                        tbody { @for (place, one) in found.iter().enumerate() { tr data-row {
                            td { input id={ "rule-" (place) } type="checkbox" name="add" value=(one.check.check_id); }
                            td.wide { label for={ "rule-" (place) } { (visible(&one.check.check_name)) } " " code.muted.below { (lines(&one.check.rule(), 200)) } }
                            td { (visible(&one.evidence)) }
                        } } }
                    } }
                    p { button.primary type="submit" { "Show the change" } }
                }
            }
        }
    }
}

/// Proposed rules as a change of the file, before they are saved.
pub fn confirm(shown: &Preview, viewer: &Viewer) -> Markup {
    html! {
        p.crumbs { a href="/checks" { "Checks" } " / " a href="/suggested-checks" { "suggested" } }
        h1 { "Add suggested rules" }
        (preview(shown, viewer))
    }
}
