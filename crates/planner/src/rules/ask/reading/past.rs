//! Questions about what was sold, to whom, and what is in the till.

use super::Reader;
use crate::rules::ask::intent::{History, Intent, Newest, Past, Whose};
use crate::rules::ask::lexicon::HISTORY;
use crate::rules::ask::tokens::normal;
use crate::rules::roles::Role;

impl Reader<'_> {
    /// What was sold, to whom, and what is in the till.
    pub(super) fn history(&self) -> Option<Intent> {
        let tokens = self.tokens;
        let ledger = self.shop.transactions.as_ref()?;
        let column_said = |role| {
            let column = ledger.column(role);
            column.is_some_and(|column| column.contains('_') && tokens.has(&column.replace('_', " ")))
        };
        let table_said = ledger.name().split('_').any(|piece| piece.len() > 3 && tokens.has(&normal(piece)));
        let did = tokens.has("did")
            && tokens.has_any(&["buy", "purchase", "order", "get", "spend", "sell", "make", "earn"]);
        let noun = tokens.has_any(&[
            "my purchase",
            "purchase of",
            "my order",
            "last purchase",
            "last order",
            "recent order",
            "recent purchase",
        ]) || tokens.has("purchase") && self.has_customer();
        let sold_out = tokens.has("sold out");
        let past = HISTORY.iter().any(|word| tokens.has(word)) && !sold_out;
        if !(past || did || noun || column_said(Role::Balance) || table_said) {
            return None;
        }
        let of_customer = self.has_customer();
        if tokens.has("balance") && !ledger.has(Role::Balance) {
            return None;
        }
        let of_item = self.is_named() || self.named > 0;
        let says_sale = tokens.has_any(&["sale", "sold", "bought", "purchase", "purchased", "buy"]);
        let measure = self.past(column_said(Role::Balance), of_customer, of_item);
        let raw_single = tokens.list.iter().any(|token| {
            matches!(
                token.raw.to_lowercase().as_str(),
                "sale" | "transaction" | "purchase" | "order" | "entry"
            )
        });
        let newest = if self.has_number() && measure == Past::Recent {
            Newest::Said
        } else if raw_single {
            Newest::One
        } else {
            Newest::Few
        };
        let says_i = tokens.has_any(&["i", "my", "me"]) && measure == Past::Bought;
        let whose = if of_customer {
            Whose::Customer
        } else if says_i && ledger.has(Role::Customer) {
            Whose::Nobody
        } else {
            Whose::Anybody
        };
        Some(Intent::History(History {
            measure,
            whose,
            of_item: of_item && self.shop.items.is_some(),
            is_sales: !matches!(measure, Past::Recent | Past::Balance)
                && (says_sale || measure != Past::Count),
            newest,
        }))
    }

    pub(super) fn past(&self, says_balance: bool, of_customer: bool, of_item: bool) -> Past {
        let tokens = self.tokens;
        let has_balance = self.shop.transactions.as_ref().is_some_and(|ledger| ledger.has(Role::Balance));
        if has_balance && !of_customer && (says_balance || tokens.has_any(&["balance", "till", "cash"])) {
            Past::Balance
        } else if tokens.has_any(&[
            "spent the most",
            "best customer",
            "top customer",
            "buy the most",
            "bought the most",
        ]) {
            Past::Top
        } else if tokens.has("who") || tokens.has("which customer") {
            Past::Who
        } else if tokens
            .has_any(&["spent", "spend", "revenue", "turnover", "earn", "earned", "income", "how much"])
            || tokens.has("total") && !tokens.has("how many")
        {
            Past::Total
        } else if tokens.has("how many") || tokens.has("number of") || tokens.has("count") {
            let units = self.shop.transactions.as_ref().is_some_and(|ledger| ledger.has(Role::Quantity));
            let of_pieces = of_item
                || tokens.has_any(&["sold", "bought", "purchased"])
                    && !tokens.has_any(&["sale", "customer", "transaction"]);
            if of_pieces && units { Past::Units } else { Past::Count }
        } else if of_customer
            || tokens.has_any(&["did i", "i bought", "my purchase", "my order", "have i", "i buy"])
        {
            Past::Bought
        } else if of_item {
            Past::Who
        } else {
            Past::Recent
        }
    }
}
