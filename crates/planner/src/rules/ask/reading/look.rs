//! Questions about what the tables hold: lists, counts, extremes, averages, sums.

use super::Reader;
use crate::rules::ask::intent::{Intent, Measure, Read, Stock};
use crate::rules::ask::lexicon::LOOK;
use crate::rules::ask::tokens::{Mark, named, normal};
use crate::rules::roles::Role;

impl Reader<'_> {
    /// A look at a table that is neither items nor transactions.
    pub(super) fn other_table(&self) -> Option<Intent> {
        let tokens = self.tokens;
        let at = self.shop.others.iter().position(|other| {
            let says_table = other.name().split('_').any(|piece| tokens.has(&normal(piece)));
            let prefix = format!("{}.", other.name());
            let is_value = tokens.any(|mark| matches!(mark, Mark::Value(kind) if kind.starts_with(&prefix)));
            says_table || is_value && !self.is_named()
        })?;
        let table = &self.shop.others[at];
        let numeric: Vec<&str> = table
            .brief
            .table
            .columns
            .iter()
            .filter(|column| is_number(column.column_type) && !table.brief.table.key.contains(&column.name))
            .map(|column| column.name.as_str())
            .collect();
        let said = numeric
            .iter()
            .find(|column| tokens.has(&spoken(column)))
            .copied()
            .or_else(|| numeric.first().filter(|_| numeric.len() == 1).copied());
        let measure = self.figure(said.is_some());
        let comparisons = said.map(|column| self.limits(|_| column.to_owned())).unwrap_or_default();
        Some(Intent::Read(Read {
            other: Some(at),
            measure,
            column: said.map(str::to_owned),
            comparisons,
            is_search: !tokens.told().is_empty(),
            ..Read::default()
        }))
    }

    pub(super) fn figure(&self, has_column: bool) -> Measure {
        let tokens = self.tokens;
        if tokens.has("how many") || tokens.has("number of") || tokens.has("count") {
            Measure::Count
        } else if !has_column {
            Measure::List
        } else if tokens.has_any(&["average", "mean"]) {
            Measure::Mean
        } else if tokens.has_any(&["highest", "most", "largest", "biggest", "maximum", "best", "top"]) {
            Measure::Most
        } else if tokens.has_any(&["lowest", "least", "smallest", "fewest", "minimum"]) {
            Measure::Least
        } else if tokens.has_any(&["total", "sum"]) {
            Measure::Sum
        } else {
            Measure::List
        }
    }

    /// A look at the items.
    pub(super) fn items(&self) -> Option<Intent> {
        let tokens = self.tokens;
        let items = self.shop.items.as_ref()?;
        let price = items.column(Role::Price);
        let quantity = items.column(Role::Quantity);
        let comparisons = self.limits(|is_stock| {
            let column = if is_stock { quantity.or(price) } else { price.or(quantity) };
            column.unwrap_or_default().to_owned()
        });
        let (measure, column) = self.item_measure(price, quantity);
        let told = tokens.told();
        let is_exact = tokens.any(|mark| matches!(mark, Mark::Name(_)))
            || self.named == 1 && told.len() == self.named_words();
        let about = is_exact
            && comparisons.is_empty()
            && matches!(measure, Measure::List | Measure::Count | Measure::Sum);
        if about {
            let describes = tokens.has_any(&[
                "about",
                "describe",
                "detail",
                "information",
                "info",
                "look like",
                "made of",
            ]);
            // What the price and the stock do not tell, the description may.
            let asks_more = tokens.any(|mark| *mark == Mark::Unknown);
            return Some(Intent::About {
                describes: (describes || asks_more) && items.has(Role::Description),
            });
        }
        let is_about_stock = column.as_deref() == quantity && quantity.is_some()
            || comparisons.iter().any(|comparison| Some(comparison.column.as_str()) == quantity);
        let is_sold_out = quantity.is_some()
            && tokens.has_any(&["out of stock", "sold out", "unavailable", "not available", "not in stock"]);
        let is_stocked = quantity.is_some()
            && !is_sold_out
            && !is_about_stock
            && (self.is_stock() || tokens.has("on hand"));
        let looks =
            self.looks() || measure != Measure::List || !comparisons.is_empty() || is_stocked || is_sold_out;
        let stock = if is_sold_out { Some(Stock::Out) } else { is_stocked.then_some(Stock::In) };
        let is_known = tokens.any(|mark| matches!(mark, Mark::Describing | Mark::Value(_)));
        let is_thing = told.is_empty() && (looks || tokens.list.len() < 4 && self.speaks_of_items());
        (is_known || is_thing || looks && self.may_be_sought()).then(|| {
            Intent::Read(Read {
                other: None,
                measure,
                column,
                comparisons,
                stock,
                is_search: !told.is_empty(),
                several: self.asks_for_several(),
            })
        })
    }

    /// "The two cheapest": a number directly before the extreme.
    pub(super) fn asks_for_several(&self) -> bool {
        let tokens = self.tokens;
        (1..tokens.list.len()).any(|at| {
            let is_extreme = matches!(
                tokens.word(at),
                "cheapest" | "priciest" | "most" | "least" | "dearest" | "lowest" | "highest"
            );
            is_extreme && tokens.list[at - 1].mark == Mark::Number && tokens.word(at - 1) != "one"
        })
    }

    /// How many words it takes to name the one item.
    pub(super) fn named_words(&self) -> usize {
        let told = self.tokens.told();
        let names = &self.shop.names;
        let found = named(&told, names);
        found
            .first()
            .map_or(0, |at| told.iter().filter(|word| names[*at].iter().any(|part| part == *word)).count())
    }

    /// Words that ask to look something up.
    pub(super) fn looks(&self) -> bool {
        let tokens = self.tokens;
        self.commands(LOOK)
            || LOOK
                .iter()
                .any(|verb| tokens.has(&format!("do you {verb}")) || tokens.has(&format!("you {verb}")))
            || tokens.begins(&["any", "anything", "got", "which", "all"])
            || self.wants()
            || tokens.has_any(&["looking for", "is there", "are there", "do we have", "something"])
    }

    /// A question about something unknown can still be a search, unless it is not about having things at all.
    pub(super) fn may_be_sought(&self) -> bool {
        let tokens = self.tokens;
        tokens.has_any(&[
            "have",
            "sell",
            "stock",
            "carry",
            "got",
            "any",
            "anything",
            "something",
            "offer",
            "find",
            "show",
            "list",
        ]) || self.wants()
            || tokens.has("looking for")
            || !tokens.any(|mark| *mark == Mark::Unknown)
    }

    pub(super) fn speaks_of_items(&self) -> bool {
        self.shop
            .items
            .as_ref()
            .is_some_and(|items| items.name().split('_').any(|piece| self.tokens.has(&normal(piece))))
            || self.tokens.has_any(&["item", "product", "style", "model", "stock", "inventory", "catalogue"])
    }

    pub(super) fn item_measure(
        &self,
        price: Option<&str>,
        quantity: Option<&str>,
    ) -> (Measure, Option<String>) {
        let tokens = self.tokens;
        if let Some((measure, is_stock)) = self.superlative() {
            let column = if is_stock { quantity } else { price };
            if let Some(column) = column {
                return (measure, Some(column.to_owned()));
            }
        }
        let owned = |column: Option<&str>| column.map(str::to_owned);
        if price.is_some() && quantity.is_some() && tokens.has_any(&["worth", "value"]) {
            return (Measure::Worth, None);
        }
        if tokens.has_any(&["average", "mean"]) {
            let column = if self.is_stock() { quantity.or(price) } else { price.or(quantity) };
            return (Measure::Mean, owned(column));
        }
        if tokens.has_any(&["how many", "number of", "count"]) {
            let kinds =
                tokens.has_any(&["different", "kind", "type", "style", "model", "product", "item", "sort"])
                    || self.shop.items.as_ref().is_some_and(|items| tokens.has(&normal(items.name())));
            let of_stock = tokens.has_any(&["pair", "unit", "piece", "total", "altogether"]);
            if quantity.is_some() && (of_stock || !kinds) && !tokens.has("different") {
                return (Measure::Sum, owned(quantity));
            }
            return (Measure::Count, None);
        }
        if price.is_some() && tokens.has_any(&["total price", "sum of price", "total cost"]) {
            return (Measure::Sum, owned(price));
        }
        if quantity.is_some() && tokens.has_any(&["total stock", "total quantity", "stock in total"]) {
            return (Measure::Sum, owned(quantity));
        }
        (Measure::List, None)
    }

    /// The extreme that is asked for, and whether it is one of stock.
    pub(super) fn superlative(&self) -> Option<(Measure, bool)> {
        let tokens = self.tokens;
        if tokens.has_any(&[
            "cheapest",
            "lowest price",
            "lowest priced",
            "least expensive",
            "most affordable",
            "lowest cost",
        ]) {
            Some((Measure::Least, false))
        } else if tokens.has_any(&[
            "most expensive",
            "priciest",
            "dearest",
            "highest price",
            "highest priced",
            "costliest",
        ]) {
            Some((Measure::Most, false))
        } else if tokens.has_any(&[
            "fewest",
            "low stock",
            "running low",
            "low in stock",
            "lowest stock",
            "least stock",
            "lowest quantity",
            "fewest left",
        ]) {
            Some((Measure::Least, true))
        } else if tokens.has_any(&[
            "highest stock",
            "most stock",
            "most in stock",
            "most left",
            "highest quantity",
            "most unit",
        ]) {
            Some((Measure::Most, true))
        } else {
            None
        }
    }
}

fn is_number(column_type: ordain_types::ColumnType) -> bool {
    matches!(column_type, ordain_types::ColumnType::Integer | ordain_types::ColumnType::Real)
}

/// A column's name as it is said.
fn spoken(column: &str) -> String {
    column.split('_').map(normal).collect::<Vec<_>>().join(" ")
}
