//! The page that asks for a key.

use maud::{DOCTYPE, html};

use crate::assets;
use crate::icons::mark;
use crate::text::visible;

/// The whole page. `next` is where to go afterwards, `problem` why the last try failed.
pub fn page(workspace: &str, next: &str, problem: Option<&str>) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" data-theme="auto" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Sign in · Ordain" }
                link rel="icon" type="image/svg+xml" href="/favicon.ico";
                link rel="stylesheet" href=(assets::address("ui.css"));
            }
            body.alone {
                main #main {
                    h1 { (mark()) " Sign in to " (visible(workspace)) }
                    @if let Some(problem) = problem { p.notice.bad role="alert" { (visible(problem)) } }
                    form.card method="post" action="/sign-in" {
                        input type="hidden" name="next" value=(next);
                        label for="key" { "Key" }
                        input #key type="password" name="key" required autocomplete="current-password" autofocus placeholder="ordain_…";
                        button.primary type="submit" { "Sign in" }
                    }
                    p.muted { "The operator of this server makes keys with " code { "ordain keys create --scope read,run,approve" } "." }
                }
            }
        }
    };
    page.into_string()
}
