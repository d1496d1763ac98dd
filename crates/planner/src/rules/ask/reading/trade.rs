//! Requests that change something: bought, returned, received, written off, set.

use super::{Reader, first_word};
use crate::rules::ask::intent::{Intent, Say, Set, Step, Trade, TradeKind};
use crate::rules::ask::lexicon::{BUY, CHANGE, DOWN, QUESTION, REMOVE, RETURN};
use crate::rules::ask::tokens::Mark;
use crate::rules::roles::Role;

impl Reader<'_> {
    /// Another price, another stock.
    pub(super) fn change(&self) -> Option<Intent> {
        let tokens = self.tokens;
        if !self.commands(CHANGE) || self.is_question && !self.has_number() {
            return None;
        }
        let everything = tokens.has_any(&["all", "every", "everything", "each"]);
        let is_price = tokens.has_any(&["price", "cost"]);
        if everything && (is_price || self.is_stock()) {
            return Some(Intent::Say(Say::Everything));
        }
        let step =
            if tokens.has("by") { if self.commands(DOWN) { Step::Down } else { Step::Up } } else { Step::To };
        let is_percent = tokens.source.contains('%') || tokens.has("percent");
        // A new value is said as one; a number alone could be anything.
        let says_value = tokens.has_any(&["to", "at", "by", "be", "is"]) || tokens.source.contains('=');
        if !says_value || self.commands(&["buy", "purchase", "return", "refund", "sell"]) {
            return None;
        }
        if is_price && self.shop.is_writable() && self.items_have(Role::Price) {
            return Some(Intent::Set(Set { is_price: true, step, is_percent }));
        }
        let is_known = self.is_stock() || self.is_named() || self.named > 0;
        if is_known
            && self.has_number()
            && self.shop.is_writable()
            && self.items_have(Role::Quantity)
            && !is_price
        {
            return Some(Intent::Set(Set { is_price: false, step, is_percent }));
        }
        None
    }

    /// Buying, returning, receiving, writing off.
    pub(super) fn trade(&self) -> Option<Intent> {
        let tokens = self.tokens;
        let asks_price = tokens.has_any(&["cost", "how much", "total", "price", "quote"]);
        let is_past = tokens.has("did") || tokens.begins(&["who", "when"]);
        let returns =
            self.commands(RETURN) || tokens.has_any(&["bring back", "send back", "give back", "take back"]);
        let counted = self.has_number() && (self.is_named() || self.named > 0);
        let kind = if is_past || tokens.has_any(&["return policy", "refund policy"]) {
            None
        } else if returns {
            let buys = self.commands(&["buy", "purchase", "order", "take", "get"]);
            Some(if buys { TradeKind::Mixed } else { TradeKind::Return })
        } else if self.removes() {
            Some(TradeKind::Remove)
        } else if self.restocks() {
            Some(TradeKind::Restock)
        } else if self.buys()
            || self.is_bare_order()
            || self.is_question && counted && asks_price && !self.has_limit()
        {
            Some(TradeKind::Buy)
        } else {
            None
        }?;
        let moves_money = !matches!(kind, TradeKind::Restock | TradeKind::Remove);
        if kind == TradeKind::Restock && tokens.has("new") && !self.is_named() {
            return Some(Intent::Say(Say::Unsupported));
        }
        if moves_money && !self.shop.can_trade()
            || !self.shop.is_writable()
            || !self.items_have(Role::Quantity)
        {
            return Some(Intent::Say(Say::Unsupported));
        }
        if moves_money
            && (tokens.has_any(&["for free", "discount", "free of charge", "half price"])
                || tokens.source.contains('%'))
        {
            return Some(Intent::Say(Say::Discount));
        }
        let has_inner_question = tokens.has_any(&["how much", "tell me", "do you", "how many"]);
        let ends = tokens.source.trim_end().ends_with('?');
        let is_dry = self.is_question && (ends || !self.commands_first())
            || tokens.has_any(&["cart", "basket", "if i", "would it cost"])
            || self.is_bare_order();
        let asks = has_inner_question && !is_dry && !self.is_question;
        Some(Intent::Trade(Trade {
            kind,
            is_dry: is_dry && !asks,
            asks,
            superlative: self.superlative().map(|(measure, _)| measure),
            has_customer: self.has_customer(),
        }))
    }

    /// Whether the request begins with its verb, as an order does.
    pub(super) fn commands_first(&self) -> bool {
        self.is_command(first_word(self.tokens), &[BUY, RETURN].concat())
            && !QUESTION.contains(&self.tokens.word(first_word(self.tokens)))
    }

    /// A count and a thing and nothing else: most likely an order, but not clearly one.
    pub(super) fn is_bare_order(&self) -> bool {
        let is_plain =
            |word: &str| matches!(word, "please" | "of" | "pair" | "and" | "the" | "a" | "piece" | "unit");
        let mut rest = self.tokens.list.iter().filter(|token| token.mark == Mark::Grammar);
        self.is_named() && self.has_number() && rest.all(|token| is_plain(&token.word))
    }

    pub(super) fn removes(&self) -> bool {
        let tokens = self.tokens;
        let said = self.commands(&["remove", "discard", "scrap", "subtract", "deduct"])
            || tokens.has_any(&["write off", "throw away"]);
        let gone = REMOVE.iter().any(|word| tokens.has(word))
            && tokens.has_any(&["damaged", "broken", "stolen", "lost"]);
        (said || gone && !self.is_question) && (self.has_number() || self.is_named() || self.named > 0)
    }

    pub(super) fn restocks(&self) -> bool {
        let tokens = self.tokens;
        if tokens.has_any(&["cart", "basket", "my order"]) {
            return false;
        }
        let said = self.commands(&["restock", "replenish", "add", "receive"]);
        let came = tokens.has_any(&["received", "arrived", "a delivery of", "came in"]);
        let put = self.commands(&["put"]) && tokens.has_any(&["shelf", "stock", "on the shelf"]);
        (said || came || put) && !self.is_question
    }

    pub(super) fn buys(&self) -> bool {
        let tokens = self.tokens;
        let thing = self.is_named() || self.named > 0 || self.superlative().is_some();
        if self.commands(&["buy", "purchase"])
            || tokens.has_any(&[
                "i buy",
                "to buy",
                "i purchase",
                "put me down for",
                "ring up",
                "add to my cart",
            ])
        {
            // "What can I buy for 50?" looks; it does not buy.
            return !(self.is_question && !(thing && self.has_number()));
        }
        let unknown = tokens.any(|mark| *mark == Mark::Unknown);
        let counted = self.has_number() && (thing || unknown);
        let clear = self.is_command_order()
            || tokens.has_any(&[
                "get me",
                "ill take",
                "i will take",
                "i take",
                "ill have",
                "give me",
                "well take",
                "ill get",
                "well have",
            ])
            || self.commands(&["sell", "take", "grab"]) && !tokens.has("do you sell");
        if clear {
            return !self.is_question
                && (thing || unknown || self.has_number())
                && !(tokens.has("give me")
                    && tokens.has_any(&["list", "price of", "all"])
                    && !self.has_number());
        }
        let asked = self.commands(&["get", "have"]) || self.wants();
        let can_i = tokens.has_any(&["can i get", "can i have", "could i get", "could i have", "may i have"]);
        (asked || can_i) && counted && !self.has_limit() && (!self.is_question || can_i)
    }

    /// "Order" is a verb only where something follows that can be ordered.
    pub(super) fn is_command_order(&self) -> bool {
        (0..self.tokens.list.len()).any(|at| {
            let before = if at == 0 { "" } else { self.tokens.word(at - 1) };
            self.is_command(at, &["order"])
                && !matches!(before, "a" | "customer")
                && at + 1 < self.tokens.list.len()
        })
    }
}
