//! From what a request asks to the code of its plan.

mod past;
mod read;
mod trade;

use super::intent::{Intent, Say};
use super::template::{Fill, quoted};
use super::tokens::{Mark, Shop, Tokens};
use crate::brief::Brief;
use crate::rules::roles::{Role, RoledTable};

pub(super) const WORDS: &str = include_str!("plans/words.txt");
const ABOUT: &str = include_str!("plans/about.txt");
const READ: &str = include_str!("plans/read.txt");
const TRADE: &str = include_str!("plans/trade.txt");
const SET: &str = include_str!("plans/set.txt");
const HISTORY: &str = include_str!("plans/history.txt");
const SAY: &str = include_str!("plans/say.txt");
/// All that plans are written from.
pub(super) const TEMPLATES: [&str; 6] = [WORDS, ABOUT, READ, TRADE, SET, HISTORY];
/// Above this many rows an item is looked up by its name, not by a look at all of them.
const ROWS_SCANNED_MAX: u64 = 5_000;

/// What was filled into a line of a template; `None` if the line is no template's.
///
/// The fixed text of templates holds numbers and words of its own, and no value of any request. What was filled in may
/// hold anything.
pub(crate) fn filled_in(line: &str) -> Option<String> {
    let lines = TEMPLATES.iter().flat_map(|template| template.lines());
    lines.filter_map(|known| between(known, line)).min_by_key(String::len)
}

/// The parts of a line that stand in the place of a template line's keys.
fn between(known: &str, line: &str) -> Option<String> {
    // A line that is little more than its keys could be anything.
    const LENGTH_MIN: usize = 13;
    if !known.contains('@') {
        return (known == line).then(String::new);
    }
    let mut literals = known.split('@').step_by(2);
    let mut rest = line.strip_prefix(literals.next()?)?;
    let mut filled = String::new();
    for literal in literals {
        let at = rest.find(literal)?;
        filled.push_str(&rest[..at]);
        filled.push(' ');
        rest = &rest[at + literal.len()..];
    }
    filled.push_str(rest);
    (known.len() >= LENGTH_MIN).then_some(filled)
}

/// A plan's code and what it does in a few words.
pub(super) struct Composed {
    pub(super) code: String,
    pub(super) title: String,
}

/// All that a plan is written from.
pub(super) struct Composer<'a> {
    pub(super) brief: &'a Brief,
    pub(super) shop: &'a Shop<'a>,
    pub(super) tokens: &'a Tokens<'a>,
    /// What a follow-up means, where the request is one.
    pub(super) meant: Option<&'a str>,
}

impl Composer<'_> {
    /// Writes the plan for an intent.
    pub(super) fn compose(&self, intent: &Intent) -> Composed {
        match intent {
            Intent::Say(say) => self.say(*say),
            Intent::About { describes } => self.about(*describes),
            Intent::Read(read) => self.read(read),
            Intent::Trade(trade) => self.trade(*trade),
            Intent::Set(set) => self.set(*set),
            Intent::History(history) => self.history(*history),
        }
    }

    /// What every plan that reads the request begins with.
    fn start(&self) -> Fill {
        let mut fill = Fill::default();
        let grammar = self.tokens.grammar().join(" ");
        fill.set_some("meant", self.meant.map(quoted));
        fill.set("grammar", quoted(&grammar));
        for key in ["told", "numbers", "listed"] {
            fill.flag(key, true);
        }
        let names_somebody = self.tokens.any(|mark| *mark == Mark::Customer);
        fill.flag("customer_in", names_somebody);
        fill.set("asked", if names_somebody { "customer_in(request)[1]" } else { "request" });
        fill.set("currency", self.currency());
        let has_price = self.shop.items.as_ref().is_some_and(|items| items.has(Role::Price));
        fill.flag("money", has_price || self.shop.transactions.is_some());
        if let Some(items) = &self.shop.items {
            fill_items(&mut fill, items);
            let is_joined = |name: &Vec<String>| name.iter().any(|word| word == "and" || word == "or");
            fill.flag("joined", self.shop.names.iter().any(is_joined));
        }
        fill
    }

    fn currency(&self) -> &'static str {
        let columns = [&self.shop.items, &self.shop.transactions].into_iter().flatten();
        let names: String = columns
            .filter_map(|table| table.column(Role::Price).or_else(|| table.column(Role::Amount)))
            .collect::<Vec<_>>()
            .join(" ")
            .to_lowercase();
        if names.contains("eur") {
            "€"
        } else if names.contains("gbp") || names.contains("pound") {
            "£"
        } else {
            "$"
        }
    }

    fn about(&self, describes: bool) -> Composed {
        let mut fill = self.start();
        for key in ["near", "naming"] {
            fill.flag(key, true);
        }
        fill.flag("describe", describes);
        composed(&fill, ABOUT, "Look up the items that are named")
    }

    /// What the policy says to write without a customer's name.
    fn nobody(&self) -> String {
        let says = |line: &&str| {
            let lower = line.to_lowercase();
            lower.contains("name") && lower.contains("without") && lower.matches('`').count() == 2
        };
        let line = self.brief.policy.lines().find(says);
        line.and_then(|line| line.split('`').nth(1))
            .filter(|name| !name.is_empty() && name.len() <= 60)
            .unwrap_or("Walk-in customer")
            .to_owned()
    }

    fn say(&self, say: Say) -> Composed {
        let can = self.capabilities();
        let (status, reason, text) = match say {
            Say::Empty => ("invalid_request", "There is no request", format!("What would you like? I can {can}.")),
            Say::TooLong => (
                "invalid_request",
                "The request is too long to be read by rules",
                "That is too long for me; please say it in a sentence or two.".to_owned(),
            ),
            Say::Foreign => (
                "unsupported_intent",
                "The request is not in English",
                format!("I only understand English, so nothing was done; in English I can {can}."),
            ),
            Say::Negated => (
                "success",
                "The request says what not to do",
                "All right, nothing was changed.".to_owned(),
            ),
            Say::Greeting => ("success", "A greeting", format!("Hello! I can {can}.")),
            Say::Capabilities => ("success", "A question about what can be done", format!("I can {can}.")),
            Say::Unsupported => (
                "unsupported_intent",
                "No rule fits the request",
                format!("I cannot do that here, but I can {can}."),
            ),
            Say::Discount => (
                "unsupported_intent",
                "The request wants another price than the table's",
                "I can only sell at the listed price, so nothing was changed; tell me how many you would like at that price."
                    .to_owned(),
            ),
            Say::Everything => (
                "unsupported_intent",
                "The request wants to change everything at once",
                "I change one item at a time, so nothing was changed; tell me which one and its new value.".to_owned(),
            ),
        };
        let mut fill = Fill::default();
        fill.set("status", status);
        fill.set("reason", reason);
        fill.set("text", quoted(&text));
        Composed { code: fill.render(SAY), title: reason.to_owned() }
    }

    /// What can be done in this workspace, in words.
    fn capabilities(&self) -> String {
        let mut can = Vec::new();
        if self.shop.items.is_some() {
            can.push("look up items, prices and stock".to_owned());
        }
        if self.shop.can_trade() {
            can.push("sell and take back".to_owned());
        }
        if self.shop.is_writable() && self.shop.items.as_ref().is_some_and(|items| items.has(Role::Quantity))
        {
            can.push("restock or adjust".to_owned());
        }
        if self.shop.transactions.is_some() {
            can.push("show past sales".to_owned());
        }
        if let Some(other) = self.shop.others.first() {
            can.push(format!("look into {}", other.name().replace('_', " ")));
        }
        match can.as_slice() {
            [] => "answer questions about this workspace's tables".to_owned(),
            [one] => one.clone(),
            [first @ .., last] => format!("{} and {last}", first.join(", ")),
        }
    }
}

fn composed(fill: &Fill, template: &str, title: &str) -> Composed {
    let code = format!("# 1) Read the request.\n{}\n\n{}", fill.render(WORDS), fill.render(template));
    Composed { code, title: title.to_owned() }
}

/// What plans say of the items: their columns, and how they are found.
fn fill_items(fill: &mut Fill, items: &RoledTable<'_>) {
    fill.set("items", items.name());
    fill.set("table", items.name());
    for (key, role) in [
        ("id", Role::Id),
        ("name", Role::Name),
        ("price", Role::Price),
        ("quantity", Role::Quantity),
        ("description", Role::Description),
    ] {
        fill.set_some(key, items.column(role));
    }
    let table = items.name();
    if items.brief.rows <= ROWS_SCANNED_MAX {
        fill.set("load", format!("rows = {table}_tbl.all()"));
        return;
    }
    let name = items.column(Role::Name).unwrap_or_default();
    let by_id = items.column(Role::Id).map(|id| format!(" | where(\"{id}\").one_of(spellings(request))"));
    let by_id = by_id.unwrap_or_default();
    fill.flag("spellings", true);
    fill.set(
        "load",
        format!("rows = {table}_tbl.search(where(\"{name}\").one_of(spellings(request)){by_id})"),
    );
}
