//! The frame of every page: navigation, the signed-in caller, and what waits for a decision.

use maud::{DOCTYPE, Markup, html};

use crate::assets;
use crate::icons::{icon, mark};
use crate::text::{grouped, visible};

/// Which colours a page has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the browser prefers.
    #[default]
    Auto,
    /// Dark text on light ground.
    Light,
    /// Light text on dark ground.
    Dark,
}

ordain_types::names!(Theme, name { Auto = "auto", Light = "light", Dark = "dark" });

/// Who looks at a page, and what they may do.
#[expect(clippy::struct_excessive_bools, reason = "each is something that a key allows or not")]
#[derive(Debug, Clone, Default)]
pub struct Viewer {
    /// The key that they signed in with, if they did.
    pub signed_in_as: Option<String>,
    /// Whether they may ask and run.
    pub may_run: bool,
    /// Whether they may approve, reject and undo.
    pub may_approve: bool,
    /// Whether all of the data is open to them: checks are about all of it.
    pub sees_every_table: bool,
    /// Whether they may do everything.
    pub is_admin: bool,
    /// What every form must send back, so that no other site can make the browser send one.
    pub token: String,
}

/// One word to the person after something was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Whether it did not work.
    pub is_problem: bool,
    /// What is said.
    pub text: String,
}

/// A screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// How everything stands.
    Overview,
    /// Talk to the workspace.
    Ask,
    /// What was carried out.
    Runs,
    /// What waits for a person.
    Approvals,
    /// Standing rules about data.
    Checks,
    /// The data.
    Tables,
    /// Plans that are kept.
    Plans,
    /// The record of everything.
    Ledger,
    /// Keys of callers.
    Keys,
    /// Settings, models, doctor.
    Settings,
}

impl Place {
    pub(crate) const LISTED: [Self; 10] = [
        Self::Overview,
        Self::Ask,
        Self::Runs,
        Self::Approvals,
        Self::Checks,
        Self::Tables,
        Self::Plans,
        Self::Ledger,
        Self::Keys,
        Self::Settings,
    ];

    pub(crate) const fn link(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Ask => ("/ask", "Ask", "ask"),
            Self::Runs => ("/runs", "Runs", "runs"),
            Self::Approvals => ("/approvals", "Approvals", "approvals"),
            Self::Checks => ("/checks", "Checks", "checks"),
            Self::Overview => ("/", "Overview", "overview"),
            Self::Tables => ("/tables", "Tables", "tables"),
            Self::Plans => ("/plans", "Plans", "plans"),
            Self::Ledger => ("/ledger", "Ledger", "ledger"),
            Self::Keys => ("/keys", "Keys", "keys"),
            Self::Settings => ("/settings", "Settings", "settings"),
        }
    }
}

/// Everything that pages have in common.
#[derive(Debug, Clone)]
pub struct Shell {
    /// The workspace's name.
    pub workspace: String,
    /// Who looks.
    pub viewer: Viewer,
    /// The colours.
    pub theme: Theme,
    /// The address of this page, for forms that come back to it.
    pub here: String,
    /// How many runs wait for approval.
    pub waiting: u64,
    /// What to tell the person once.
    pub notice: Option<Notice>,
}

impl Shell {
    /// A whole page.
    pub fn page(&self, place: Place, title: &str, content: &Markup) -> String {
        self.page_with(place, title, &html! {}, content)
    }

    /// A whole page that asks for itself again without scripts, since something on it goes on.
    pub fn live_page(&self, place: Place, title: &str, content: &Markup) -> String {
        let head = html! { noscript { meta http-equiv="refresh" content="3"; } };
        self.page_with(place, title, &head, content)
    }

    fn page_with(&self, place: Place, title: &str, head: &Markup, content: &Markup) -> String {
        let head = html! {
            meta name="htmx-config" content="includeIndicatorCSS:false, extensions:sse, history:false";
            (style())
            // The extension must have registered before htmx starts, so neither is deferred.
            script src=(assets::address("htmx.js")) {}
            script src=(assets::address("hx-sse.js")) {}
            script defer src=(assets::address("ui.js")) {}
            (head)
        };
        let body = html! { body {
            a.skip href="#main" { "Skip to content" }
            (self.header(place))
            main #main tabindex="-1" {
                @if let Some(notice) = &self.notice { (said(notice)) }
                (content)
            }
            div #announce .unseen role="status" aria-live="polite" {}
            (help())
        } };
        document(self.theme, &format!("{title} · {} · Ordain", self.workspace), &head, &body)
    }

    fn header(&self, place: Place) -> Markup {
        html! {
            header.side {
                a.brand href="/" { (mark()) span { "Ordain" } }
                p.workspace title="The workspace" { (visible(&self.workspace)) }
                nav aria-label="Screens" {
                    ul {
                        @for listed in Place::LISTED.into_iter().filter(|place| self.viewer.may_open(*place)) {
                            @let (address, word, picture) = listed.link();
                            li { a href=(address) aria-current=[(listed == place).then_some("page")] {
                                (icon(picture)) span { (word) }
                                @if listed == Place::Approvals && self.waiting > 0 {
                                    span.count { (grouped(self.waiting)) span.unseen { " waiting" } }
                                }
                            } }
                        }
                    }
                }
                div.foot {
                    a href="/docs" { "API" }
                    (self.theme_form())
                    @if let Some(who) = &self.viewer.signed_in_as {
                        form method="post" action="/sign-out" {
                            (self.viewer.hidden_token())
                            button.quiet type="submit" title={ "Signed in as " (visible(who)) } { "Sign out" }
                        }
                    }
                }
            }
        }
    }

    fn theme_form(&self) -> Markup {
        let next = match self.theme {
            Theme::Auto => Theme::Dark,
            Theme::Dark => Theme::Light,
            Theme::Light => Theme::Auto,
        };
        html! {
            form method="post" action="/theme" {
                (self.viewer.hidden_token())
                input type="hidden" name="theme" value=(next.name());
                input type="hidden" name="back" value=(self.here);
                button.quiet type="submit" title={ "Change to " (next.name()) } {
                    (icon("theme")) span { "Theme: " (self.theme.name()) }
                }
            }
        }
    }
}

impl Viewer {
    /// Whether a screen has anything for them.
    fn may_open(&self, place: Place) -> bool {
        match place {
            Place::Keys | Place::Ledger => self.is_admin,
            Place::Ask => self.may_run,
            Place::Checks => self.sees_every_table,
            _ => true,
        }
    }

    /// The field that every form carries.
    pub fn hidden_token(&self) -> Markup {
        html! { input type="hidden" name="token" value=(self.token); }
    }
}

/// A page without navigation.
pub(crate) fn alone(title: &str, content: &Markup) -> String {
    let body = html! { body.alone { main #main { (content) } } };
    document(Theme::Auto, &format!("{title} · Ordain"), &style(), &body)
}

/// An HTML document with what every head holds.
pub(crate) fn document(theme: Theme, title: &str, head: &Markup, body: &Markup) -> String {
    let schemes = if theme == Theme::Auto { "light dark" } else { theme.name() };
    let page = html! {
        (DOCTYPE)
        html lang="en" data-theme=(theme.name()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content=(schemes);
                title { (visible(title)) }
                (head)
            }
            (body)
        }
    };
    page.into_string()
}

fn style() -> Markup {
    html! {
        link rel="icon" type="image/svg+xml" href="/favicon.ico";
        link rel="stylesheet" href=(assets::address("ui.css"));
    }
}

/// One word to the person.
pub(crate) fn said(notice: &Notice) -> Markup {
    html! {
        p.notice.bad[notice.is_problem] role=(if notice.is_problem { "alert" } else { "status" }) { (visible(&notice.text)) }
    }
}

/// The keys that work on every page; a script opens it.
fn help() -> Markup {
    const KEYS: [(&str, &str); 15] = [
        ("/", "write a request"),
        ("g o", "Overview"),
        ("g a", "Ask"),
        ("g r", "Runs"),
        ("g p", "Approvals"),
        ("g c", "Checks"),
        ("g t", "Tables"),
        ("g n", "Plans"),
        ("g l", "Ledger"),
        ("g k", "Keys"),
        ("g s", "Settings"),
        ("j, k", "next and previous row"),
        ("Enter", "open the row"),
        ("?", "this list"),
        ("Esc", "close"),
    ];
    html! {
        dialog #help aria-labelledby="help-title" {
            h2 #help-title { "Keyboard" }
            dl.facts { @for (key, does) in KEYS { div { dt { kbd { (key) } } dd { (does) } } } }
            p { label { input #shortcuts type="checkbox" checked; " Single keys are shortcuts" } }
            form method="dialog" { button type="submit" { "Close" } }
        }
    }
}
