//! Plans that look into a table.

use ordain_types::ColumnType;

use super::{Composed, Composer, READ, ROWS_SCANNED_MAX, composed};
use crate::rules::ask::intent::{Comparison, Limit, Measure, Read, Say, Stock};
use crate::rules::ask::template::Fill;
use crate::rules::roles::{Role, RoledTable};

impl Composer<'_> {
    pub(super) fn read(&self, read: &Read) -> Composed {
        let mut fill = self.start();
        let table = match read.other {
            None => self.shop.items.as_ref(),
            Some(at) => self.shop.others.get(at),
        };
        let Some(table) = table else { return self.say(Say::Unsupported) };
        if read.other.is_some() {
            // Another table than the items: none of their columns mean anything here.
            for key in ["items", "id", "name", "price", "quantity", "description", "load", "money"] {
                fill = fill.without(key);
            }
            fill.set("table", table.name());
            fill.set("name", label(table));
            if let Some(column) = &read.column {
                fill.set("extra", column);
                fill.set("extra_label", column.replace('_', " "));
            }
        }
        let texts = text_columns(table);
        if read.is_search && !texts.is_empty() {
            let conditions: Vec<String> =
                texts.iter().map(|column| format!("Row.{column}.test(has_word, word)")).collect();
            fill.set("texts", conditions.join(" | "));
            let says_kind = self.tokens.has_any(&["category", "section", "department", "kind", "type"]);
            let is_small = table.brief.rows <= ROWS_SCANNED_MAX;
            fill.flag("by_name", read.other.is_none() && is_small && !says_kind && conditions.len() > 1);
        } else {
            fill = fill.without("told").without("grammar");
            if read.comparisons.is_empty() && !read.several {
                fill = fill.without("numbers");
            }
        }
        fill.flag("stocked", read.stock == Some(Stock::In));
        fill.flag("sold_out", read.stock == Some(Stock::Out));
        comparisons(&mut fill, &read.comparisons, table);
        measure(&mut fill, read, table);
        composed(&fill, READ, &format!("Look into {}", table.name()))
    }
}

fn comparisons(fill: &mut Fill, comparisons: &[Comparison], table: &RoledTable<'_>) {
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

fn measure(fill: &mut Fill, read: &Read, table: &RoledTable<'_>) {
    let price = table.column(Role::Price);
    let column = read.column.as_deref().or(price).map(str::to_owned);
    let is_price = column.as_deref() == price && price.is_some();
    let name = label(table);
    match read.measure {
        Measure::List => {
            let is_plain = read.other.is_some() || read.stock == Some(Stock::Out);
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
            fill.flag("several", read.several);
            let count = "int(number_in(words_of(request)) or 1)";
            fill.set(
                "some",
                if measure == Measure::Least { format!(": {count}") } else { format!("-{count} :") },
            );
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
            fill.set("mean_text", if is_price { "money(mean)" } else { "round(mean, 2)" });
            fill.set("total_text", if is_price { "money(total)" } else { "round(total, 2)" });
            fill.set("order", column);
        }
    }
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

/// The columns in which words are looked for, the name first.
fn text_columns<'a>(table: &RoledTable<'a>) -> Vec<&'a str> {
    let is_text = |column: &&ordain_types::Column| column.column_type == ColumnType::Text && !column.hidden;
    let columns = table.brief.table.columns.iter().filter(is_text).map(|column| column.name.as_str());
    let mut columns: Vec<&str> = columns.filter(|column| table.column(Role::Id) != Some(column)).collect();
    columns.sort_by_key(|column| table.column(Role::Name) != Some(column));
    columns
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
