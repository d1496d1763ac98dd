//! Keys: made, shown once, rotated and revoked.

use maud::{Markup, html};
use ordain_store::CallerKey;

use crate::parts::{chip, empty};
use crate::shell::Viewer;
use crate::text::{grouped, in_path, visible, when};

/// The page. `now` is the time by which keys end, `secret` a key that was made a moment ago and is never shown again,
/// `typed` the fields of a form that was not accepted.
pub fn page(
    keys: &[CallerKey],
    now: &str,
    secret: Option<&str>,
    typed: &[(String, String)],
    viewer: &Viewer,
) -> Markup {
    html! {
        h1 { "Keys" }
        @if let Some(secret) = secret {
            div.notice role="status" { p { strong { "Copy this key now. It is not shown again." } } pre tabindex="0" { (visible(secret)) } }
        }
        (create(typed, viewer))
        @if keys.is_empty() { (empty("There is no key.", &html! { p { "On this machine alone none is needed." } })) }
        @else {
            div.scroll tabindex="0" role="region" aria-label="Keys" { table.list {
                thead { tr { th scope="col" { "State" } th scope="col" { "Key" } th scope="col" { "Scopes" } th scope="col" { "Limits" } th scope="col" { "Made" } th scope="col" { "Ends" } th scope="col" { "Last used" } th scope="col" { span.unseen { "Actions" } } } }
                tbody { @for key in keys.iter().rev() { (row(key, now, viewer)) } }
            } }
        }
    }
}

fn row(key: &CallerKey, now: &str, viewer: &Viewer) -> Markup {
    let form = |verb: &str, words: &str, class: &str| {
        html! {
            form.inline method="post" action={ "/keys/" (in_path(&key.key_id)) "/" (verb) } { (viewer.hidden_token()) button class=(class) type="submit" { (words) } } " "
        }
    };
    let time = |time: &Option<String>| html! { @if let Some(time) = time { (when(time)) } @else { span.muted { "never" } } };
    html! {
        tr data-row {
            td { (chip(if key.is_good(now) { "good" } else { "off" }, key.state(now).as_str())) }
            td { (visible(&key.name)) code.muted.below { (visible(&key.key_id)) } }
            td { @for scope in &key.scopes { span.tag { (visible(scope)) } " " } }
            td { @if let Some(most) = key.requests_per_minute { (grouped(most)) " requests a minute " } @if let Some(most) = key.cells { (grouped(most)) " cells " } @if let Some(most) = key.tokens_per_day { (grouped(most)) " tokens a day" } }
            td { (when(&key.created_at)) }
            td { (time(&key.expires_at)) }
            td { (time(&key.last_used_at)) }
            td.nowrap { @if key.is_good(now) { (form("rotate", "Rotate", "")) } @if key.is_good(now) || key.altered { (form("revoke", "Revoke", "danger")) } }
        }
    }
}

fn create(typed: &[(String, String)], viewer: &Viewer) -> Markup {
    let field = |name: &str| typed.iter().find(|(of, _)| of == name).map_or("", |(_, value)| value.as_str());
    let is_chosen = |scope: &str| match typed {
        [] => scope == "read",
        typed => typed.iter().any(|(of, value)| of == "scope" && value == scope),
    };
    html! {
        form.card.row method="post" action="/keys" {
            (viewer.hidden_token())
            label { "Name" input type="text" name="name" value=(field("name")) maxlength="100" required autocomplete="off"; }
            fieldset { legend { "Scopes" } @for scope in ["metrics", "read", "run", "approve", "admin"] { label { input type="checkbox" name="scope" value=(scope) checked[is_chosen(scope)]; " " (scope) } " " } }
            label { "Ends after" input type="text" name="expires" value=(field("expires")) placeholder="90d, or never" autocomplete="off"; }
            button.primary type="submit" { "Create a key" }
        }
    }
}
