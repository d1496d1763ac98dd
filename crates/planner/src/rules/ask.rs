//! Plans for requests to a store, by rules.
//!
//! A request becomes marked words ([`tokens`]), the words an intent with the kinds of its slots ([`reading`]), and the
//! intent code from a template ([`compose`]). Nothing here knows a trade: what a column means comes from
//! [`super::roles`], and what a word means from the tables' own values. The values of slots are not in the code; it
//! reads them from `user_request` when it runs, so that one plan serves every request of its shape.

mod compose;
mod follow;
mod intent;
mod lexicon;
mod practice;
mod reading;
mod template;
mod tokens;

use serde_json::json;

use crate::brief::Brief;
use crate::exchange::{Draft, Reply};
use compose::Composer;

pub(crate) use compose::filled_in;
pub(crate) use follow::meant;
pub use practice::practice;
pub(crate) use tokens::{Mark, Shop, Tokens};

/// Writes the plan. There always is one: where nothing fits, it says so.
pub fn plan(brief: &Brief) -> Reply {
    let shop = Shop::of(brief);
    let meant = follow::meant(brief, &shop);
    let request = meant.as_deref().unwrap_or(&brief.request);
    let tokens = Tokens::of(request, brief, &shop);
    let intent = reading::read(&tokens, &shop);
    let composer = Composer { brief, shop: &shop, tokens: &tokens, meant: meant.as_deref() };
    let written = composer.compose(&intent);
    Reply::Plan(Draft {
        code: written.code,
        title: written.title,
        declared: Some(json!({ "planner": "rules", "uses_turns": meant.is_some() })),
        ..Draft::default()
    })
}
