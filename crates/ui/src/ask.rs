//! The conversation with a workspace: what was asked, what came of it, and the box to ask more.

use maud::{Markup, html};
use ordain_types::{RunRecord, Strategy};

use crate::live::{self, LiveRun};
use crate::run;
use crate::shell::Viewer;
use crate::text::{in_path, lines, visible, when};

/// A turn of a conversation.
#[derive(Debug, Clone)]
pub enum Turn {
    /// It goes on.
    Live(LiveRun),
    /// It has ended.
    Ended(Box<RunRecord>),
}

/// An earlier conversation.
#[derive(Debug, Clone)]
pub struct Earlier {
    /// Its name in the address.
    pub name: String,
    /// What it began with.
    pub title: String,
    /// When its last turn was.
    pub last_at: String,
}

/// What the page shows.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// Its name in the address.
    pub name: String,
    /// Its turns, oldest first.
    pub turns: Vec<Turn>,
    /// Others, newest first.
    pub earlier: Vec<Earlier>,
    /// The model that writes plans unless the request says otherwise; without one the reader does.
    pub model: Option<String>,
    /// Things to ask first.
    pub examples: Vec<String>,
    /// Sent back once with the form, so that a request that is sent twice is carried out once.
    pub once: String,
    /// The words that stand in the box.
    pub draft: String,
}

/// The whole page.
pub fn page(conversation: &Conversation, viewer: &Viewer) -> Markup {
    html! {
        div.ask {
            div.thread-head {
                h1 { "Ask" }
                (earlier(conversation))
            }
            div #thread .thread {
                @if conversation.turns.is_empty() { (welcome(conversation)) }
                @for turn in &conversation.turns { (self::turn(turn, viewer)) }
            }
            @if viewer.may_run { (composer(conversation, viewer)) }
            @else { p.notice { "Asking needs a key with the scope " code { "run" } "." } }
        }
    }
}

fn earlier(conversation: &Conversation) -> Markup {
    html! {
        div.earlier {
            a.button href="/ask" { "New conversation" }
            @if !conversation.earlier.is_empty() {
                details.menu {
                    summary { "Earlier" }
                    ul { @for other in &conversation.earlier {
                        li { a href={ "/ask/" (in_path(&other.name)) } { span { (lines(&other.title, 60)) } span.muted { (when(&other.last_at)) } } }
                    } }
                }
            }
        }
    }
}

fn welcome(conversation: &Conversation) -> Markup {
    html! {
        div.welcome {
            p.strong { "Ask about the data, or ask for a change." }
            p.muted { "Every answer comes with the engine's receipt, its diff and its code. A change is committed only if the code was verified and every rule holds." }
            @if !conversation.examples.is_empty() {
                ul.examples aria-label="Examples" { @for example in &conversation.examples {
                    li { a href={ "/ask?draft=" (in_path(example)) } data-draft=(example) { (visible(example)) } }
                } }
            }
        }
    }
}

/// One turn: the words and what came of them.
pub fn turn(turn: &Turn, viewer: &Viewer) -> Markup {
    let (id, request) = match turn {
        Turn::Live(run) => (run.run_id.as_str(), run.request.as_str()),
        Turn::Ended(record) => (record.run_id.as_str(), record.request.as_str()),
    };
    html! {
        article.turn id={ "run-" (id) } {
            h2.asked { span.unseen { "You asked: " } (lines(request, 4000)) }
            @match turn {
                Turn::Live(run) => { (live::followed(run, viewer, "card")) },
                Turn::Ended(record) => { (run::card(record, viewer)) },
            }
        }
    }
}

/// The box, its files and its switches.
fn composer(conversation: &Conversation, viewer: &Viewer) -> Markup {
    let address = format!("/ask/{}", in_path(&conversation.name));
    html! {
        form #composer .composer method="post" action=(address) enctype="multipart/form-data"
            hx-post=(address) hx-target="#thread" hx-swap="beforeend" hx-encoding="multipart/form-data" {
            (viewer.hidden_token())
            (once(&conversation.once))
            label.unseen for="request" { "Your request" }
            div.box {
                div #mirror .mirror aria-hidden="true" {}
                textarea #request name="request" rows="2" required maxlength="100000" autofocus[conversation.turns.is_empty()]
                    aria-autocomplete="list" aria-controls="words"
                    placeholder="Ask about the data, or ask for a change" { (conversation.draft) }
            }
            div #words .words {}
            ul #chosen .files aria-label="Chosen files" {}
            div.switches {
                label.button.attach { (crate::icons::icon("file")) span { "Files" } input #files .unseen type="file" name="file" multiple; }
                label { span.unseen { "What becomes of a change" }
                    select name="mode" {
                        option value="commit" { "Commit if every rule holds" }
                        option value="hold" { "Hold for approval" }
                        option value="dry_run" { "Dry run" }
                    }
                }
                @if let Some(model) = &conversation.model {
                    label { span.unseen { "Who writes the plan" }
                        select name="model" {
                            option value="auto" { "Planner: " (visible(model)) }
                            option value="rules" { "Planner: the reader" }
                        }
                    }
                    label { span.unseen { "Strategy" }
                        select name="strategy" {
                            @for strategy in Strategy::ALL { option value=(strategy) { "Strategy: " (strategy) } }
                        }
                    }
                }
                button.primary type="submit" { "Ask" }
            }
        }
    }
}

/// What the reader understands of a text that is being typed.
#[derive(Debug, Clone, Default)]
pub struct Words {
    /// The text in pieces: what stands there, and what kind of word it is; nothing for what is between words.
    pub pieces: Vec<(String, Option<&'static str>)>,
    /// What it means so far.
    pub readings: Vec<String>,
    /// The word that is not understood, and one that is spelled almost like it.
    pub unknown: Option<(String, Option<String>)>,
    /// What may come next: the words, and their kind.
    pub next: Vec<(String, &'static str)>,
}

/// What is shown of it while somebody types: the text again, to lie under the box with its words underlined, what it
/// means so far, and what may come next.
pub fn words(words: &Words) -> Markup {
    html! {
        // Not made visible like other text: it must be as long as what is in the box.
        div data-mirror { @for (text, kind) in &words.pieces { @if let Some(kind) = kind { span.word data-kind=(kind) { (text) } } @else { (text) } } }
        @if let Some((word, nearest)) = &words.unknown {
            p.reads { span.bad { "Not understood: “" (visible(word)) "”." } @if let Some(nearest) = nearest { " Did you mean “" (visible(nearest)) "”?" } }
        } @else if let [reading] = words.readings.as_slice() {
            p.reads { span.muted { "Read as: " } (lines(reading, 300)) }
        } @else if !words.readings.is_empty() {
            p.reads { span.muted { (words.readings.len()) " ways to read it; it will ask which." } }
        }
        @if !words.next.is_empty() {
            ul #next .next role="listbox" aria-label="What may come next; arrow down chooses" {
                @for (place, (text, kind)) in words.next.iter().enumerate() {
                    li id={ "next-" (place) } role="option" aria-selected="false" data-text=(text) { (visible(text)) " " span.muted { (kind) } }
                }
            }
        }
    }
}

/// The field that makes a form good for one request. The server sends a new one with every answer.
fn once(value: &str) -> Markup {
    html! { input #once type="hidden" name="once" value=(value); }
}

/// What is sent for a new turn: the turn itself, and the next `once`.
pub fn added(turn: &Turn, viewer: &Viewer, next: &str) -> Markup {
    html! {
        (self::turn(turn, viewer))
        input #once type="hidden" name="once" value=(next) hx-swap-oob="true";
    }
}
