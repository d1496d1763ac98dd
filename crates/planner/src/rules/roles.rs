//! What columns mean: roles, declared by the owner or inferred from names and types.
//!
//! A plan for "buy three" needs to know which column is the price and which the stock, whatever they are called. Each
//! role has words that a column's name may hold and types that it may have; a declared role always wins.

use ordain_types::{Column, ColumnType};

use crate::brief::TableBrief;

/// What a column means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Tells rows apart.
    Id,
    /// When something happened.
    Timestamp,
    /// The money there is after a transaction.
    Balance,
    /// The money of one transaction.
    Amount,
    /// What one piece costs.
    Price,
    /// How many there are, or how many were sold.
    Quantity,
    /// Who bought.
    Customer,
    /// Which item a transaction is about.
    Item,
    /// What a row is called.
    Name,
    /// What a transaction was, in words.
    Summary,
    /// What an item is like, in words.
    Description,
    /// What kind of item it is.
    Category,
}

/// A role, its name in `ordain.toml`, the words of column names that speak for it (the surest first), its types.
struct Rule {
    role: Role,
    name: &'static str,
    words: &'static [&'static str],
    types: &'static [ColumnType],
}

const TEXT: &[ColumnType] = &[ColumnType::Text];
const NUMBER: &[ColumnType] = &[ColumnType::Real, ColumnType::Integer];
const TIME: &[ColumnType] = &[ColumnType::Timestamp, ColumnType::Text];
const ANY: &[ColumnType] = &[ColumnType::Text, ColumnType::Integer];

/// In the order in which they choose; a column has one role.
const RULES: [Rule; 12] = [
    Rule { role: Role::Id, name: "id", words: &["id", "sku", "code", "no", "number", "key"], types: ANY },
    Rule {
        role: Role::Timestamp,
        name: "timestamp",
        words: &["timestamp", "time", "date", "datetime", "at", "when", "on", "day", "created"],
        types: TIME,
    },
    Rule { role: Role::Balance, name: "balance", words: &["balance", "running", "till"], types: NUMBER },
    Rule {
        role: Role::Amount,
        name: "amount",
        words: &["amount", "total", "sum", "paid", "revenue", "turnover", "value"],
        types: NUMBER,
    },
    Rule {
        role: Role::Price,
        name: "price",
        words: &["price", "cost", "rate", "fee", "msrp"],
        types: NUMBER,
    },
    Rule {
        role: Role::Quantity,
        name: "quantity",
        words: &[
            "quantity",
            "qty",
            "stock",
            "hand",
            "available",
            "units",
            "count",
            "pieces",
            "inventory",
            "copies",
            "left",
        ],
        types: NUMBER,
    },
    Rule {
        role: Role::Customer,
        name: "customer",
        words: &["customer", "buyer", "client", "purchaser", "account", "member", "guest"],
        types: TEXT,
    },
    Rule {
        role: Role::Item,
        name: "item",
        words: &["item", "product", "part", "sku", "article", "model"],
        types: ANY,
    },
    Rule {
        role: Role::Name,
        name: "name",
        words: &["name", "title", "label", "item", "product", "model", "style"],
        types: TEXT,
    },
    Rule {
        role: Role::Summary,
        name: "summary",
        words: &["summary", "note", "memo", "remark", "comment", "text"],
        types: TEXT,
    },
    Rule {
        role: Role::Description,
        name: "description",
        words: &["description", "details", "detail", "about", "features", "notes", "info"],
        types: TEXT,
    },
    Rule {
        role: Role::Category,
        name: "category",
        words: &["category", "kind", "type", "group", "section", "department", "genre", "family", "brand"],
        types: TEXT,
    },
];

/// The names of all roles, as `ordain.toml` has them.
pub const ROLE_NAMES: [&str; 12] = {
    let mut names = [""; 12];
    let mut at = 0;
    while at < RULES.len() {
        names[at] = RULES[at].name;
        at += 1;
    }
    names
};

/// A table with what its columns mean.
#[derive(Debug, Clone)]
pub struct RoledTable<'a> {
    /// The table.
    pub brief: &'a TableBrief,
    columns: Vec<(Role, &'a str)>,
}

/// What kind of table it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Things with a name and a price or a stock.
    Items,
    /// Money that moved.
    Transactions,
    /// Anything else.
    Other,
}

impl<'a> RoledTable<'a> {
    /// Finds what the columns of a table mean.
    pub fn of(brief: &'a TableBrief) -> Self {
        let mut columns: Vec<(Role, &'a str)> = Vec::new();
        for rule in &RULES {
            let declared = brief.roles.get(rule.name).and_then(|declared| brief.table.column(declared));
            if let Some(column) = declared {
                columns.push((rule.role, &column.name));
            }
        }
        for rule in &RULES {
            if columns.iter().any(|(role, _)| *role == rule.role) {
                continue;
            }
            let free = brief
                .table
                .columns
                .iter()
                .filter(|column| columns.iter().all(|(_, taken)| *taken != column.name));
            if let Some(column) = choose(rule, brief, free) {
                columns.push((rule.role, column));
            }
        }
        Self { brief, columns }
    }

    /// The column of a role.
    pub fn column(&self, role: Role) -> Option<&'a str> {
        self.columns.iter().find(|(known, _)| *known == role).map(|(_, column)| *column)
    }

    /// Whether the table has a column of that role.
    pub fn has(&self, role: Role) -> bool {
        self.column(role).is_some()
    }

    /// The table's name.
    pub fn name(&self) -> &'a str {
        &self.brief.table.name
    }

    /// What kind of table it is.
    pub fn kind(&self) -> Kind {
        let moves = self.has(Role::Timestamp) || self.has(Role::Balance) || self.has(Role::Customer);
        if self.has(Role::Amount) && moves {
            Kind::Transactions
        } else if self.has(Role::Name) && (self.has(Role::Price) || self.has(Role::Quantity)) {
            Kind::Items
        } else {
            Kind::Other
        }
    }

    /// The distinct texts of a column, where they are known.
    pub fn texts(&self, column: &str) -> Option<Vec<&'a str>> {
        let brief = self.brief.columns.iter().find(|brief| brief.name == column)?;
        Some(brief.values.as_ref()?.iter().filter_map(serde_json::Value::as_str).collect())
    }

    /// Columns that a new row must have and for which no role says what to write.
    pub fn unfillable(&self) -> Vec<&'a str> {
        let columns = self.brief.table.columns.iter();
        let lacks = |column: &&Column| {
            !column.nullable && !column.hidden && self.columns.iter().all(|(_, known)| *known != column.name)
        };
        let is_declared = |column: &&Column| self.brief.columns.iter().any(|known| known.name == column.name);
        columns.filter(lacks).filter(is_declared).map(|column| column.name.as_str()).collect()
    }
}

fn choose<'a>(rule: &Rule, brief: &'a TableBrief, free: impl Iterator<Item = &'a Column>) -> Option<&'a str> {
    if let (Role::Id, [key]) = (rule.role, brief.table.key.as_slice()) {
        return brief.table.column(key).map(|column| column.name.as_str());
    }
    let ranked = free.filter(|column| !column.hidden && rule.types.contains(&column.column_type)).filter_map(
        |column| {
            let lower = column.name.to_lowercase();
            let pieces: Vec<&str> = lower.split(['_', ' ', '-']).collect();
            let rank = rule.words.iter().position(|word| pieces.contains(word))?;
            // A timestamp's surest sign is its type.
            let is_time = column.column_type == ColumnType::Timestamp;
            Some((if is_time { 0 } else { rank + 1 }, column.name.as_str()))
        },
    );
    ranked.min_by_key(|(rank, _)| *rank).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ordain_types::Table;

    use super::*;

    fn table(columns: &[(&str, ColumnType)], roles: &[(&str, &str)]) -> TableBrief {
        let columns: Vec<Column> = columns
            .iter()
            .map(|(name, column_type)| Column {
                name: (*name).to_owned(),
                column_type: *column_type,
                nullable: true,
                hidden: false,
            })
            .collect();
        TableBrief {
            table: Table {
                name: "t".to_owned(),
                key: vec![columns[0].name.clone()],
                columns,
                ..Table::default()
            },
            rows: 0,
            columns: Vec::new(),
            roles: roles
                .iter()
                .map(|(role, column)| ((*role).to_owned(), (*column).to_owned()))
                .collect::<BTreeMap<_, _>>(),
            references: Vec::new(),
            summary: None,
        }
    }

    #[test]
    fn roles_are_read_from_names_and_types() {
        let brief = table(
            &[
                ("sku", ColumnType::Text),
                ("title", ColumnType::Text),
                ("details", ColumnType::Text),
                ("on_hand", ColumnType::Integer),
                ("unit_price", ColumnType::Real),
                ("category", ColumnType::Text),
            ],
            &[],
        );
        let roled = RoledTable::of(&brief);
        for (role, column) in [
            (Role::Id, "sku"),
            (Role::Name, "title"),
            (Role::Description, "details"),
            (Role::Quantity, "on_hand"),
            (Role::Price, "unit_price"),
            (Role::Category, "category"),
        ] {
            assert_eq!(roled.column(role), Some(column), "{role:?}");
        }
        assert_eq!(roled.kind(), Kind::Items);
    }

    #[test]
    fn a_ledger_is_told_from_a_list_of_items() {
        let brief = table(
            &[
                ("entry_no", ColumnType::Text),
                ("buyer", ColumnType::Text),
                ("part_sku", ColumnType::Text),
                ("units", ColumnType::Integer),
                ("total", ColumnType::Real),
                ("running_total", ColumnType::Real),
                ("sold_at", ColumnType::Text),
                ("note", ColumnType::Text),
            ],
            &[],
        );
        let roled = RoledTable::of(&brief);
        for (role, column) in [
            (Role::Customer, "buyer"),
            (Role::Item, "part_sku"),
            (Role::Amount, "total"),
            (Role::Balance, "running_total"),
            (Role::Timestamp, "sold_at"),
            (Role::Summary, "note"),
        ] {
            assert_eq!(roled.column(role), Some(column), "{role:?}");
        }
        assert_eq!(roled.kind(), Kind::Transactions);
    }

    #[test]
    fn what_the_owner_declares_wins() {
        let brief = table(
            &[
                ("id", ColumnType::Integer),
                ("name", ColumnType::Text),
                ("stock", ColumnType::Integer),
                ("shelf", ColumnType::Integer),
            ],
            &[("quantity", "shelf")],
        );
        assert_eq!(RoledTable::of(&brief).column(Role::Quantity), Some("shelf"));
    }
}
