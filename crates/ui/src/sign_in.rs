//! The page that asks for a key.

use maud::html;

use crate::icons::mark;
use crate::shell::alone;
use crate::text::visible;

/// The whole page. `next` is where to go afterwards, `problem` why the last try failed.
pub fn page(workspace: &str, next: &str, problem: Option<&str>) -> String {
    let content = html! {
        h1 { (mark()) " Sign in to " (visible(workspace)) }
        @if let Some(problem) = problem { p.notice.bad role="alert" { (visible(problem)) } }
        form.card method="post" action="/sign-in" {
            input type="hidden" name="next" value=(next);
            label for="key" { "Key" }
            input #key type="password" name="key" required autocomplete="current-password" autofocus placeholder="ordain_…";
            button.primary type="submit" { "Sign in" }
        }
        p.muted { "The operator of this server makes keys with " code { "ordain keys create --scope read,run,approve" } "." }
    };
    alone("Sign in", &content)
}
