//! Plans that change something: the stock, a price, and the row that writes it down.

use ordain_types::ColumnType;

use super::{Composed, Composer, SET, TRADE, composed};
use crate::rules::ask::intent::{Measure, Set, Step, Trade, TradeKind};
use crate::rules::ask::template::{Fill, quoted};
use crate::rules::roles::Role;

impl Composer<'_> {
    pub(super) fn trade(&self, trade: Trade) -> Composed {
        let mut fill = self.start();
        for key in ["near", "naming"] {
            fill.flag(key, true);
        }
        let moves_money = !matches!(trade.kind, TradeKind::Restock | TradeKind::Remove);
        fill.flag("moves_money", moves_money);
        fill.flag("mixed", trade.kind == TradeKind::Mixed);
        fill.flag("takes", matches!(trade.kind, TradeKind::Buy | TradeKind::Mixed | TradeKind::Remove));
        fill.flag("dry", trade.is_dry);
        fill.flag("offers", moves_money && self.tokens.source.contains(['$', '€', '£']));
        let is_whole = "count > 0 and count == int(count)";
        let takes = matches!(trade.kind, TradeKind::Buy | TradeKind::Mixed | TradeKind::Remove);
        fill.set(
            "counts",
            if takes { is_whole.to_owned() } else { format!("{is_whole} and count <= 1_000_000") },
        );
        fill.flag("asks", trade.asks);
        fill.flag("customer", trade.has_customer && moves_money);
        fill.flag("customer_in", trade.has_customer && moves_money);
        fill.set("nobody", quoted(&self.nobody()));
        fill.set("verbs", "buy|purchase|order|sell|take|get|return|refund|restock|add|remove");
        if let Some(superlative) = trade.superlative {
            fill.flag("superlative", true);
            fill.set("extreme", if superlative == Measure::Least { "min" } else { "max" });
        }
        let name = self.shop.items.as_ref().and_then(|items| items.column(Role::Name)).unwrap_or_default();
        let line = format!("{{count:g}} {{row['{name}']}}");
        let words = TradeWords::of(trade.kind);
        fill.set("verb", words.verb);
        fill.set("sign", words.sign);
        fill.set("step", words.step);
        fill.set(
            "done",
            if trade.has_customer && trade.kind == TradeKind::Buy {
                "Sold {done} to {customer} for {money(total)} in total."
            } else {
                words.done
            },
        );
        fill.set("dry_hint", words.dry_hint);
        if trade.kind == TradeKind::Mixed {
            fill.set("also", ", direction");
            fill.set("direction", ", direction");
            fill.set("done_line", format!("{line} {{'bought' if direction > 0 else 'returned'}}"));
        } else {
            fill.set("done_line", line);
        }
        if trade.kind == TradeKind::Buy {
            fill.set("short_offer", "; I can offer what is there");
        }
        if !trade.is_dry {
            let customer = if trade.has_customer && moves_money {
                "customer".to_owned()
            } else {
                quoted(&self.who(moves_money))
            };
            let amount = if moves_money { "amount" } else { "0" };
            let summary = format!("f\"{}: {{count}} x {{row['{name}']}}\"", words.summary);
            self.entry(&mut fill, &EntryParts { customer, amount, summary, units: words.units });
        }
        composed(&fill, TRADE, words.title)
    }

    pub(super) fn set(&self, set: Set) -> Composed {
        let mut fill = self.start();
        fill.flag("naming", true);
        let items = self.shop.items.as_ref();
        let role = if set.is_price { Role::Price } else { Role::Quantity };
        let column = items.and_then(|items| items.column(role)).unwrap_or_default();
        fill.set("column", column);
        fill.flag("to", set.step == Step::To);
        let after = match (set.step, set.is_percent) {
            (Step::To, _) => "round(value, 2)",
            (Step::Up, true) => "round(before * (1 + value / 100), 2)",
            (Step::Down, true) => "round(before * (1 - value / 100), 2)",
            (Step::Up, false) => "round(before + value, 2)",
            (Step::Down, false) => "round(before - value, 2)",
        };
        fill.set("after", after);
        let name = items.and_then(|items| items.column(Role::Name)).unwrap_or_default();
        if set.is_price {
            fill.set("what", "price");
            fill.set("wrong", "not 0 < after <= 1_000_000");
            fill.set("rule", "above zero");
            fill.set("written", "after");
            fill.set("show_before", "money(before)");
            fill.set("show_after", "money(after)");
        } else {
            fill.set("what", "stock");
            fill.set("wrong", "after != int(after) or not 0 <= after <= 1_000_000");
            fill.set("rule", "a whole number and not below zero");
            fill.set("written", "int(after)");
            fill.set("show_before", "before");
            fill.set("show_after", "int(after)");
            let summary = format!("f\"Adjustment: {{row['{name}']}} from {{before}} to {{int(after)}}\"");
            let parts = EntryParts {
                customer: quoted(&self.who(false)),
                amount: "0",
                summary,
                units: "int(before - after)",
            };
            self.entry(&mut fill, &parts);
        }
        composed(&fill, SET, if set.is_price { "Change a price" } else { "Adjust a stock" })
    }

    /// The row that writes a change down, if the transactions have room for it.
    fn entry(&self, fill: &mut Fill, parts: &EntryParts) {
        let Some(ledger) = &self.shop.transactions else { return };
        let is_sale = parts.amount == "amount";
        let has_room =
            !ledger.brief.table.read_only && ledger.unfillable().is_empty() && ledger.has(Role::Id);
        if !has_room || !(is_sale || ledger.has(Role::Summary)) {
            return;
        }
        fill.flag("writes", ledger.has(Role::Timestamp));
        fill.set("transactions", ledger.name());
        if let Some(balance) = ledger.column(Role::Balance) {
            fill.set("balance", balance);
            let is_given = self.brief.helpers.contains("def get_current_balance(");
            fill.flag("own_balance", !is_given);
            let call = if is_given {
                format!("get_current_balance({}_tbl)", ledger.name())
            } else {
                "current_balance()".to_owned()
            };
            fill.set("current_balance", call);
        }
        let id = ledger.column(Role::Id).unwrap_or_default();
        let is_given = self.brief.helpers.contains("def next_transaction_id(");
        let is_integer =
            ledger.brief.table.column(id).is_some_and(|column| column.column_type == ColumnType::Integer);
        fill.flag("own_id", !is_given || is_integer);
        fill.flag("integer_id", is_integer);
        fill.set("entry_id", id);
        fill.set("entry_words", if is_sale { " and write each item down" } else { " and write it down" });
        let next = if is_given && !is_integer {
            format!("next_transaction_id({}_tbl)", ledger.name())
        } else {
            "next_id()".to_owned()
        };
        let items = self.shop.items.as_ref();
        let item_column = |role| items.and_then(|items| items.column(role)).unwrap_or_default();
        let mut lines = Vec::new();
        for column in &ledger.brief.table.columns {
            let name = column.name.as_str();
            let is = |role| ledger.column(role) == Some(name);
            let value = if is(Role::Id) {
                next.clone()
            } else if is(Role::Customer) {
                parts.customer.clone()
            } else if is(Role::Item) {
                let by_name = name.contains("name") || name.contains("title");
                format!("row[\"{}\"]", item_column(if by_name { Role::Name } else { Role::Id }))
            } else if is(Role::Quantity) {
                parts.units.to_owned()
            } else if is(Role::Price) {
                format!("row[\"{}\"]", item_column(Role::Price))
            } else if is(Role::Summary) || is(Role::Description) {
                parts.summary.clone()
            } else if is(Role::Amount) {
                parts.amount.to_owned()
            } else if is(Role::Balance) {
                "balance".to_owned()
            } else if is(Role::Timestamp) {
                "datetime.now(timezone.utc).isoformat(timespec=\"seconds\")".to_owned()
            } else if is(Role::Name) {
                format!("row[\"{}\"]", item_column(Role::Name))
            } else {
                continue;
            };
            lines.push(format!("                \"{name}\": {value},"));
        }
        fill.set("entry", lines.join("\n"));
    }

    /// Who stands in a row that no customer caused.
    fn who(&self, moves_money: bool) -> String {
        if moves_money { self.nobody() } else { "Stock".to_owned() }
    }
}

/// What a row about one change holds.
struct EntryParts {
    customer: String,
    amount: &'static str,
    summary: String,
    units: &'static str,
}

/// How each kind of trade is worded and counted.
struct TradeWords {
    title: &'static str,
    verb: &'static str,
    summary: &'static str,
    sign: &'static str,
    step: &'static str,
    units: &'static str,
    done: &'static str,
    dry_hint: &'static str,
}

impl TradeWords {
    fn of(kind: TradeKind) -> Self {
        match kind {
            TradeKind::Buy => Self {
                title: "Sell what is asked for",
                verb: "buy",
                summary: "Sale",
                sign: "",
                step: "-= count",
                units: "count",
                done: "Sold {done} for {money(total)} in total.",
                dry_hint: "; say 'buy' and it is done.",
            },
            TradeKind::Return => Self {
                title: "Take back what is returned",
                verb: "return",
                summary: "Return",
                sign: "-",
                step: "+= count",
                units: "-count",
                done: "Done: {done} returned, {money(-total)} refunded.",
                dry_hint: " back; say 'return' and it is done.",
            },
            TradeKind::Mixed => Self {
                title: "Sell and take back",
                verb: "buy or return",
                summary: "{'Sale' if direction > 0 else 'Return'}",
                sign: "direction * ",
                step: "-= direction * count",
                units: "direction * count",
                done: "Done: {done}; {money(total)} in total.",
                dry_hint: ".",
            },
            TradeKind::Restock => Self {
                title: "Add to the stock",
                verb: "add",
                summary: "Restock",
                sign: "",
                step: "+= count",
                units: "-count",
                done: "Done: {done} added to the stock.",
                dry_hint: ".",
            },
            TradeKind::Remove => Self {
                title: "Take out of the stock",
                verb: "remove",
                summary: "Write-off",
                sign: "",
                step: "-= count",
                units: "count",
                done: "Done: {done} removed from the stock.",
                dry_hint: ".",
            },
        }
    }
}
