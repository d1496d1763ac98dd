//! From what a request asks to the code of its plan.

use ordain_types::ColumnType;

use super::reading::{
    Comparison, History, Intent, Limit, Measure, Newest, Past, Read, Say, Set, Step, Trade, TradeKind,
};
use super::template::{Fill, quoted};
use super::tokens::{Shop, Tokens};
use crate::brief::Brief;
use crate::rules::roles::{Role, RoledTable};

const WORDS: &str = include_str!("plans/words.txt");
const ABOUT: &str = include_str!("plans/about.txt");
const READ: &str = include_str!("plans/read.txt");
const TRADE: &str = include_str!("plans/trade.txt");
const SET: &str = include_str!("plans/set.txt");
const HISTORY: &str = include_str!("plans/history.txt");
const SAY: &str = include_str!("plans/say.txt");
/// Above this many rows an item is looked up by its name, not by a look at all of them.
const ROWS_SCANNED_MAX: u64 = 5_000;

/// Whether a line of code comes from a template, whatever its keys were filled with.
pub(crate) fn is_template_line(line: &str) -> bool {
    let templates = [WORDS, ABOUT, READ, TRADE, SET, HISTORY];
    templates.iter().flat_map(|template| template.lines()).any(|known| {
        let mut literals = known.split('@').step_by(2);
        let Some(mut rest) = literals.next().and_then(|first| line.strip_prefix(first)) else { return false };
        if !known.contains('@') {
            return rest.is_empty();
        }
        // A line that is little more than its keys could be anything.
        known.len() > 12
            && literals.all(|literal| match rest.find(literal) {
                Some(at) => {
                    rest = &rest[at + literal.len()..];
                    true
                }
                None => false,
            })
    })
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
        fill.set("currency", self.currency());
        if let Some(items) = &self.shop.items {
            self.fill_items(&mut fill, items);
        }
        fill
    }

    fn fill_items(&self, fill: &mut Fill, items: &RoledTable<'_>) {
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
        fill.flag("money", items.has(Role::Price) || self.shop.transactions.is_some());
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

    fn read(&self, read: &Read) -> Composed {
        let mut fill = self.start();
        let table = match read.other {
            None => self.shop.items.as_ref(),
            Some(at) => self.shop.others.get(at),
        };
        let Some(table) = table else { return self.say(Say::Unsupported) };
        if read.other.is_some() {
            fill = Fill::default();
            fill.set_some("meant", self.meant.map(quoted));
            fill.set("grammar", quoted(&self.tokens.grammar().join(" ")));
            for key in ["told", "numbers", "listed"] {
                fill.flag(key, true);
            }
            fill.set("table", table.name());
            fill.set("name", label(table));
            if let Some(column) = &read.column {
                fill.set("extra", column);
                fill.set("extra_label", column.replace('_', " "));
            }
        }
        let texts = text_columns(table, read.other.is_some());
        if read.is_search && !texts.is_empty() {
            let tests: Vec<String> =
                texts.iter().map(|column| format!("Row.{column}.test(has_word, word)")).collect();
            fill.set("texts", tests.join(" | "));
        } else {
            fill = fill.without("told").without("grammar");
            if read.comparisons.is_empty() {
                fill = fill.without("numbers");
            }
        }
        fill.flag("stocked", read.is_stocked);
        fill.flag("sold_out", read.is_sold_out);
        self.comparisons(&mut fill, &read.comparisons, table);
        self.measure(&mut fill, read, table);
        composed(&fill, READ, &format!("Look into {}", table.name()))
    }

    fn comparisons(&self, fill: &mut Fill, comparisons: &[Comparison], table: &RoledTable<'_>) {
        let mut lines = Vec::new();
        for comparison in comparisons {
            let Comparison { column, phrase, .. } = comparison;
            let is_price = table.column(Role::Price) == Some(column.as_str());
            let mut target = |name: &str| {
                if is_price {
                    fill.set("target", name);
                }
            };
            match comparison.kind {
                Limit::Under => {
                    let operator = if is_inclusive(phrase) { "<=" } else { "<" };
                    lines.push(format!(
                        "limit = number_after(\"{phrase}\")\ncondition &= Row.{column} {operator} limit"
                    ));
                    target("limit");
                }
                Limit::Over => {
                    let operator = if is_inclusive(phrase) { ">=" } else { ">" };
                    lines.push(format!(
                        "least = number_after(\"{phrase}\")\ncondition &= Row.{column} {operator} least"
                    ));
                    target("least");
                }
                Limit::Between => {
                    lines.push(format!(
                        "limits = re.split(r\"\\b(?:between|from)\\b\", request.lower())[-1]\n\
                         low, high = sorted(number_in(words_of(part)) or 0 for part in re.split(r\"\\b(?:and|to)\\b\", limits)[:2])\n\
                         condition &= (Row.{column} >= low) & (Row.{column} <= high)"
                    ));
                    target("high");
                }
                Limit::Range => {
                    lines.push(format!(
                        "limits = re.findall(r\"(\\d+(?:\\.\\d+)?)\\s*[-–]\\s*\\$?(\\d+(?:\\.\\d+)?)\", request)[0]\n\
                         low, high = sorted(float(limit) for limit in limits)\n\
                         condition &= (Row.{column} >= low) & (Row.{column} <= high)"
                    ));
                    target("high");
                }
                Limit::OrLess | Limit::OrMore => {
                    let operator = if comparison.kind == Limit::OrLess { "<=" } else { ">=" };
                    lines.push(format!(
                        "limit = number_in(words_of(re.split(r\"\\bor\\b\", request.lower())[0])[-3:])\n\
                         condition &= Row.{column} {operator} limit"
                    ));
                    target("limit");
                }
                Limit::Around => {
                    lines.push(format!(
                        "about = number_after(\"{phrase}\") or 0\n\
                         condition &= (Row.{column} >= 0.8 * about) & (Row.{column} <= 1.2 * about)"
                    ));
                    target("about");
                }
            }
        }
        fill.flag(
            "number_after",
            comparisons
                .iter()
                .any(|comparison| matches!(comparison.kind, Limit::Under | Limit::Over | Limit::Around)),
        );
        fill.set("comparisons", lines.join("\n"));
    }

    fn measure(&self, fill: &mut Fill, read: &Read, table: &RoledTable<'_>) {
        let price = table.column(Role::Price);
        let column = read.column.as_deref().or(price).map(str::to_owned);
        let is_price = column.as_deref() == price && price.is_some();
        let name = label(table);
        match read.measure {
            Measure::List => {
                let is_plain = read.other.is_some() || read.is_sold_out;
                fill.flag(if is_plain { "rows_only" } else { "list" }, true);
                fill.set_some("order", price);
            }
            Measure::Count => fill.flag("count", true),
            Measure::Worth => fill.flag("worth", true),
            measure => {
                let Some(column) = column else { return fill.flag("count", true) };
                let key = match measure {
                    Measure::Least => "least",
                    Measure::Most => "most",
                    Measure::Mean => "mean",
                    _ => "sum",
                };
                fill.flag(key, true);
                let spoken = column.replace('_', " ");
                let extreme = if measure == Measure::Least { "lowest" } else { "highest" };
                fill.set(
                    "superlative",
                    match (is_price, measure) {
                        (true, Measure::Least) => "cheapest".to_owned(),
                        (true, _) => "most expensive".to_owned(),
                        (false, _) => format!("{extreme} in {spoken}"),
                    },
                );
                fill.set(
                    "best",
                    if is_price {
                        "shown(row)".to_owned()
                    } else {
                        format!("f\"{{row['{name}']}} with {{row['{column}']:,g}}\"")
                    },
                );
                fill.set("order_label", spoken);
                fill.set("mean", if is_price { "money(mean)" } else { "round(mean, 2)" });
                fill.set("total", if is_price { "money(total)" } else { "round(total, 2)" });
                fill.set("order", column);
            }
        }
    }

    fn trade(&self, trade: Trade) -> Composed {
        let mut fill = self.start();
        for key in ["near", "naming"] {
            fill.flag(key, true);
        }
        let moves_money = !matches!(trade.kind, TradeKind::Restock | TradeKind::Remove);
        fill.flag("moves_money", moves_money);
        fill.flag("mixed", trade.kind == TradeKind::Mixed);
        fill.flag("takes", matches!(trade.kind, TradeKind::Buy | TradeKind::Mixed | TradeKind::Remove));
        fill.flag("dry", trade.is_dry);
        fill.flag("asks", trade.asks);
        fill.flag("customer", trade.has_customer && moves_money);
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

    /// Who stands in a row that no customer caused.
    fn who(&self, moves_money: bool) -> String {
        if moves_money { self.nobody() } else { "Stock".to_owned() }
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

    fn set(&self, set: Set) -> Composed {
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

    fn history(&self, history: History) -> Composed {
        let mut fill = self.start();
        let Some(ledger) = &self.shop.transactions else { return self.say(Say::Unsupported) };
        fill.set("transactions", ledger.name());
        fill.flag("naming", history.of_item);
        fill.flag("of_item", history.of_item);
        fill.flag("of_customer", history.of_customer);
        fill.flag("spellings", history.of_customer);
        fill.flag("customer", history.of_customer);
        fill.flag("of_nobody", history.of_nobody);
        fill.flag("sales", history.is_sales);
        fill.set("nobody", quoted(&self.nobody()));
        fill.set("sale_word", if history.is_sales { "sales" } else { "transactions" });
        for (key, role) in [
            ("customer_column", Role::Customer),
            ("item_column", Role::Item),
            ("summary", Role::Summary),
            ("amount", Role::Amount),
            ("balance", Role::Balance),
            ("units", Role::Quantity),
        ] {
            fill.set_some(key, ledger.column(role));
        }
        let amount = ledger.column(Role::Amount).unwrap_or_default();
        let what = match (ledger.column(Role::Summary), ledger.column(Role::Item)) {
            (Some(summary), _) => format!("{{entry['{summary}']}}"),
            (None, Some(item)) => format!("{{entry['{item}']}}"),
            (None, None) => "one".to_owned(),
        };
        let by = ledger
            .column(Role::Customer)
            .filter(|_| history.measure == Past::Recent)
            .map(|customer| format!("{{entry['{customer}']}}: "));
        fill.set("shown", format!("{}{what} ({{money(entry['{amount}'])}})", by.unwrap_or_default()));
        let customer = ledger.column(Role::Customer).unwrap_or_default();
        let lead = format!("{{sales[0]['{customer}']}} spent");
        fill.set("total_lead", if history.of_customer { lead.as_str() } else { "The total is" });
        fill.set(
            "buyer",
            if history.of_customer {
                format!("sales[0]['{customer}']")
            } else {
                "'Without a name, somebody'".to_owned()
            },
        );
        fill.set(
            "how_many",
            match history.newest {
                Newest::One => "1",
                Newest::Few => "5",
                Newest::Said => "int(number_in(words_of(request)) or 5)",
            },
        );
        // The templates know a measure by a flag of its name.
        fill = fill.without("units");
        match history.measure {
            Past::Balance => fill.flag("balance_only", true),
            Past::Total => fill.flag("total", true),
            Past::Count => fill.flag("count", true),
            Past::Who => fill.flag("who", true),
            Past::Units => fill.set_some("units", ledger.column(Role::Quantity)),
            Past::Top => fill.flag("top", true),
            Past::Recent => fill.flag("recent", true),
            Past::Bought => fill.flag("bought", true),
        }
        composed(&fill, HISTORY, &format!("Look into {}", ledger.name()))
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
            can.push("tell what was sold".to_owned());
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

fn composed(fill: &Fill, template: &str, title: &str) -> Composed {
    let code = format!("# 1) Read the request.\n{}\n\n{}", fill.render(WORDS), fill.render(template));
    Composed { code, title: title.to_owned() }
}

/// The column by which people know a row.
fn label<'a>(table: &RoledTable<'a>) -> &'a str {
    let first_text = || {
        let mut columns = table.brief.table.columns.iter();
        columns.find(|column| column.column_type == ColumnType::Text).map(|column| column.name.as_str())
    };
    let first = || table.brief.table.columns.first().map_or("", |column| column.name.as_str());
    table
        .column(Role::Name)
        .or_else(|| table.column(Role::Customer))
        .or_else(first_text)
        .unwrap_or_else(first)
}

/// The columns in which words are looked for.
fn text_columns<'a>(table: &RoledTable<'a>, all: bool) -> Vec<&'a str> {
    if all {
        let columns = table.brief.table.columns.iter();
        return columns
            .filter(|column| column.column_type == ColumnType::Text && !column.hidden)
            .map(|column| column.name.as_str())
            .collect();
    }
    [Role::Name, Role::Description, Role::Category]
        .into_iter()
        .filter_map(|role| table.column(role))
        .collect()
}

fn is_inclusive(phrase: &str) -> bool {
    matches!(
        phrase,
        "up to"
            | "at most"
            | "maximum"
            | "max"
            | "no more than"
            | "not more than"
            | "within"
            | "budget of"
            | "budget is"
            | "at least"
            | "starting at"
            | "minimum"
            | "min"
            | "no less than"
    )
}
