//! Follow-ups: what "make it 3" or "the cheaper one" means after the turns before it.
//!
//! A follow-up is written out as the request that it stands for. The plan then has that text in it instead of
//! `user_request`, so it belongs to this conversation and is never shared by shape.

use super::intent::{Intent, Trade, TradeKind};
use super::reading;
use super::tokens::{Mark, Shop, Tokens, normal_words};
use crate::brief::{Brief, Turn};
use crate::rules::roles::Role;

/// How many turns back an item may have been named.
const TURNS_BACK: usize = 3;

/// The request that a follow-up stands for; `None` where the request stands for itself.
pub(crate) fn meant(brief: &Brief, shop: &Shop<'_>) -> Option<String> {
    let last = brief.turns.last()?;
    let tokens = Tokens::of(&brief.request, brief, shop);
    let names_something = !tokens.told().is_empty();
    if names_something || tokens.list.is_empty() || tokens.list.len() > 30 {
        return None;
    }
    let before = Tokens::of(&last.request, brief, shop);
    let intent = reading::read(&before, shop);
    if let Intent::Trade(trade) = intent {
        let is_open = trade.is_dry || last.status.as_deref() != Some("success");
        if is_open && completes(&tokens) {
            return complete(&tokens, &before, trade, last, shop);
        }
    }
    let focus = focus(brief, shop);
    if focus.is_empty() {
        return None;
    }
    let picked = pick(&tokens, &focus);
    if let Some(verb) = verb(&tokens) {
        let number = tokens.list.iter().find(|token| token.mark == Mark::Number).map(|token| token.raw);
        let one = tokens.has_any(&["it", "one", "that", "this", "a"]).then_some("1");
        let count = number.filter(|number| *number != "one").or(one).unwrap_or_default();
        let name = picked.or_else(|| single(&focus))?;
        return Some(format!("{verb} {count} {name}{}", customer(&tokens)).replace("  ", " "));
    }
    let refers = tokens.has_any(&["it", "that", "this", "them", "those", "they", "one", "that one"]);
    let asks = tokens.has_any(&[
        "how much",
        "price",
        "cost",
        "how many",
        "in stock",
        "available",
        "left",
        "tell me more",
    ]);
    if !refers && !asks {
        return None;
    }
    let names = picked
        .map_or_else(|| focus.iter().map(|item| item.name).collect::<Vec<_>>().join(" and "), str::to_owned);
    if tokens.has_any(&["tell me more", "more about", "about it", "describe"]) {
        return Some(format!("tell me about {names}"));
    }
    asks.then(|| format!("how much is {names}?"))
}

/// Whether the words only fill in what an order lacks: a yes, a number, a name.
fn completes(tokens: &Tokens<'_>) -> bool {
    let yes = tokens.begins(&[
        "yes", "yep", "yeah", "ok", "okay", "sure", "please", "go ahead", "do it", "make it", "just", "only",
    ]);
    let counted = tokens.any(|mark| *mark == Mark::Number);
    let asks = tokens.has_any(&["how", "what", "which", "why", "when"]);
    (yes || counted || tokens.any(|mark| *mark == Mark::Customer)) && !asks && !tokens.begins(&["no"])
}

/// The open order with what was missing filled in.
fn complete(
    tokens: &Tokens<'_>,
    before: &Tokens<'_>,
    trade: Trade,
    last: &Turn,
    shop: &Shop<'_>,
) -> Option<String> {
    let verb = match trade.kind {
        TradeKind::Buy => "buy",
        TradeKind::Return => "return",
        TradeKind::Restock => "restock",
        TradeKind::Remove => "remove",
        TradeKind::Mixed => return None,
    };
    let mut lines = lines(before, shop);
    if lines.is_empty() {
        // The item may have been named by part of its name only; the answer has it in full.
        lines = items_in(&last.answer, shop).into_iter().take(1).map(|name| (String::new(), name)).collect();
    }
    let said = tokens.list.iter().filter(|token| token.mark == Mark::Number).map(|token| token.raw);
    let said: Vec<&str> = said.collect();
    if let ([line], [first, ..]) = (lines.as_mut_slice(), said.as_slice()) {
        line.0 = said.join(" ");
        debug_assert!(!first.is_empty(), "a word is never empty");
    } else if !said.is_empty() {
        return None;
    }
    let lines: Vec<String> =
        lines.iter().map(|(count, name)| format!("{count} {name}").trim().to_owned()).collect();
    let who = customer(tokens);
    let who = if who.is_empty() { customer(before) } else { who };
    (!lines.is_empty()).then(|| format!("{verb} {}{who}", lines.join(" and ")))
}

/// Counts and items of an earlier request, in order.
fn lines<'a>(tokens: &Tokens<'_>, shop: &'a Shop<'_>) -> Vec<(String, &'a str)> {
    let mut found = Vec::new();
    let mut count: Vec<&str> = Vec::new();
    let names = names(shop);
    let mut at = 0;
    while at < tokens.list.len() {
        let token = &tokens.list[at];
        match &token.mark {
            Mark::Number => count.push(token.raw),
            Mark::Name(_) if !token.continues => {
                let length = 1 + tokens.list[at + 1..].iter().take_while(|next| next.continues).count();
                let words: Vec<&str> =
                    tokens.list[at..at + length].iter().map(|token| token.word.as_str()).collect();
                if let Some(name) = names.iter().find(|name| normal_words(name) == words) {
                    found.push((std::mem::take(&mut count).join(" "), *name));
                }
            }
            _ if matches!(token.word.as_str(), "a" | "an") && count.is_empty() => count.push("1"),
            _ => {}
        }
        at += 1;
    }
    found
}

/// An item that was spoken of, and its price where the answer told it.
struct Item<'a> {
    name: &'a str,
    price: Option<f64>,
}

/// The items that the newest turn with any speaks of.
fn focus<'a>(brief: &Brief, shop: &'a Shop<'_>) -> Vec<Item<'a>> {
    for turn in brief.turns.iter().rev().take(TURNS_BACK) {
        for text in [&turn.answer, &turn.request] {
            let found = items_in(text, shop);
            if !found.is_empty() && found.len() <= 12 {
                return found.into_iter().map(|name| Item { name, price: price_after(text, name) }).collect();
            }
        }
    }
    Vec::new()
}

fn names<'a>(shop: &'a Shop<'_>) -> Vec<&'a str> {
    let texts = shop.items.as_ref().and_then(|items| items.texts(items.column(Role::Name)?));
    texts.unwrap_or_default()
}

/// The names of items that a text holds, in the order in which it has them.
fn items_in<'a>(text: &str, shop: &'a Shop<'_>) -> Vec<&'a str> {
    let words = normal_words(text);
    let mut found: Vec<(usize, &str)> = Vec::new();
    for name in names(shop) {
        let parts = normal_words(name);
        if let Some(at) = words.windows(parts.len().max(1)).position(|window| window == parts.as_slice()) {
            found.push((at, name));
        }
    }
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name).collect()
}

/// The sum of money that a text tells after a name.
fn price_after(text: &str, name: &str) -> Option<f64> {
    let rest = &text[text.find(name)? + name.len()..];
    let at = rest.find(['$', '€', '£'])?;
    let digits: String = rest[at..]
        .chars()
        .skip(1)
        .take_while(|character| character.is_ascii_digit() || matches!(character, '.' | ','))
        .filter(|character| *character != ',')
        .collect();
    digits.trim_end_matches('.').parse().ok()
}

fn single<'a>(focus: &[Item<'a>]) -> Option<&'a str> {
    match focus {
        [only] => Some(only.name),
        _ => None,
    }
}

/// The one that "the cheaper one" or "the second" means.
fn pick<'a>(tokens: &Tokens<'_>, focus: &[Item<'a>]) -> Option<&'a str> {
    let by_price = |sign: f64| {
        let all: Option<Vec<(f64, &str)>> =
            focus.iter().map(|item| Some((sign * item.price?, item.name))).collect();
        all?.into_iter().min_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, name)| name)
    };
    let at = |index: usize| focus.get(index).map(|item| item.name);
    if tokens.has_any(&["more expensive", "pricier", "dearer"]) {
        by_price(-1.0)
    } else if tokens.has_any(&["cheaper", "less expensive"]) {
        by_price(1.0)
    } else if tokens.has_any(&["first", "former"]) {
        at(0)
    } else if tokens.has_any(&["second", "latter"]) {
        at(1)
    } else if tokens.has("third") {
        at(2)
    } else {
        None
    }
}

/// What is to be done with the item, where the words clearly say it.
fn verb(tokens: &Tokens<'_>) -> Option<&'static str> {
    let asks =
        tokens.begins(&["can i", "could i", "may i", "how", "what", "which", "should i", "is", "are", "do"]);
    if asks || tokens.has("dont") {
        None
    } else if tokens.has_any(&["return", "refund"]) {
        Some("return")
    } else if tokens.has_any(&[
        "ill take",
        "i take",
        "i will take",
        "buy",
        "purchase",
        "order",
        "get me",
        "ill have",
        "give me",
        "well take",
        "take",
    ]) {
        Some("buy")
    } else {
        None
    }
}

/// Who the words name, as an order says it.
fn customer(tokens: &Tokens<'_>) -> String {
    let name: Vec<&str> =
        tokens.list.iter().filter(|token| token.mark == Mark::Customer).map(|token| token.raw).collect();
    if name.is_empty() { String::new() } else { format!(" for customer {}", name.join(" ")) }
}
