//! Plans that look into what was sold.

use super::{Composed, Composer, HISTORY, composed};
use crate::rules::ask::intent::{History, Newest, Past, Say, Whose};
use crate::rules::ask::template::quoted;
use crate::rules::roles::Role;

impl Composer<'_> {
    pub(super) fn history(&self, history: History) -> Composed {
        let mut fill = self.start();
        let Some(ledger) = &self.shop.transactions else { return self.say(Say::Unsupported) };
        fill.set("transactions", ledger.name());
        let of_customer = history.whose == Whose::Customer;
        fill.flag("naming", history.of_item);
        fill.flag("of_item", history.of_item);
        fill.flag("of_customer", of_customer);
        fill.flag("spellings", of_customer);
        fill.flag("customer_in", of_customer);
        fill.flag("of_nobody", history.whose == Whose::Nobody);
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
        fill.set("total_lead", if of_customer { lead.as_str() } else { "The total is" });
        fill.set(
            "buyer",
            if of_customer {
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
}
