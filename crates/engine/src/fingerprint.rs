//! What a cached plan was compiled against, part by part, so that a change makes exactly the plans stale that it
//! touches, and can be named.

use std::collections::BTreeMap;

use ordain_types::{Column, Schema, Table};
use ordain_verify::{Effects, Helpers, VERIFIER_VERSION};
use sha2::{Digest as _, Sha256};

/// The version of what plans see (names, tables, statuses), and of the components below.
pub const PLAN_API_VERSION: u32 = 2;

/// The component of plans that rules wrote.
pub(crate) const RULES: &str = "reader";

/// The component with the day that the author of a plan was told. Whoever tries the plan looks at it.
pub(crate) const DAY: &str = "day";

/// A part of what a plan depends on, and its hash or type.
pub type Components = BTreeMap<String, String>;

/// What the fingerprint of a plan is made from.
#[derive(Debug, Clone, Copy)]
pub struct FingerprintInputs<'a> {
    /// The tables.
    pub schema: &'a Schema,
    /// The policy, as the planner reads it.
    pub policy: &'a str,
    /// The functions of `helpers.py`.
    pub helpers: &'a Helpers,
    /// The parts of a check's record that its code follows from.
    pub rule: Option<&'a Components>,
    /// What the numbers of columns count, by [`column_component`]: a currency, a unit, percent.
    pub units: Option<&'a Components>,
}

impl FingerprintInputs<'_> {
    /// All that code with these effects depends on. Of code of our own making only the columns count that it names:
    /// it hands rows on as a whole and looks at no more of them.
    pub fn components(&self, effects: &Effects, is_ours: bool) -> Components {
        let mut components = self.rule.cloned().unwrap_or_default();
        components.insert("policy".to_owned(), hash(self.policy));
        components.insert("verifier".to_owned(), VERIFIER_VERSION.to_string());
        components.insert("plan API".to_owned(), PLAN_API_VERSION.to_string());
        for helper in &effects.helpers {
            components.insert(format!("helper {helper}"), self.helper(helper));
        }
        for (table, columns) in used(effects, is_ours) {
            self.add_table(&mut components, &table, columns.as_deref());
        }
        components
    }

    /// What of a plan's components is no longer so, in words; `None` if the plan still holds.
    pub fn stale(&self, kept: &Components) -> Option<String> {
        let is_rule = |name: &str| self.rule.is_some_and(|rule| rule.contains_key(name));
        let (rule, others): (Vec<_>, Vec<_>) = kept.iter().partition(|(name, _)| is_rule(name));
        rule.into_iter().chain(others).find_map(|(name, was)| {
            if name.starts_with(COLUMNS_OF) || name == DAY {
                return None;
            }
            if let Some(value) = name.strip_prefix(COLUMNS_WITH) {
                return self.moved(name, value, was);
            }
            if name == NAMED_COLUMNS {
                return self.newly_named(was);
            }
            let now = self.today(name);
            if now.as_deref() == Some(was) { None } else { Some(self.difference(name, was, now, kept)) }
        })
    }

    /// Whether a column that code rests on is gone.
    pub fn has_lost_column(&self, kept: &Components) -> bool {
        kept.keys().filter_map(|name| column_of(name)).any(|(column, table)| {
            let known = self.schema.table(table);
            known.is_none_or(|known| known.columns.iter().all(|one| one.name != column))
        })
    }

    /// Whether the words of a rule have the name of a column that there was not: they may mean that one now.
    fn newly_named(&self, was: &str) -> Option<String> {
        let was: Vec<&str> = was.split(", ").collect();
        let mut now = self.rule?.get(NAMED_COLUMNS)?.split(", ");
        now.find(|name| !name.is_empty() && !was.contains(name))
            .map(|name| format!("its words are the name of column {name} now"))
    }

    /// Whether a value that a rule names is now in other columns alone. One that is in no column is gone for good or ill;
    /// the rule means what it meant.
    fn moved(&self, name: &str, value: &str, was: &str) -> Option<String> {
        let now = self.rule?.get(name)?;
        let stays = was.split(", ").any(|column| now.split(", ").any(|other| other == column));
        (!stays).then(|| format!("“{value}” is now in {now}, it was in {was}"))
    }

    /// What changed about the tables that does not matter to the plan.
    pub fn notes(&self, kept: &Components) -> Vec<String> {
        let mut notes = Vec::new();
        for (table, before) in
            kept.iter().filter_map(|(name, was)| Some((name.strip_prefix(COLUMNS_OF)?, was)))
        {
            let (before, now) = (listed(before), self.schema.table(table).map(kinds_of).unwrap_or_default());
            let is_used = |column: &str| kept.contains_key(&column_component(column, table));
            for (column, was) in before.iter().filter(|(column, _)| !is_used(column)) {
                match now.get(column) {
                    None => {
                        notes.push(format!("column {column} of {table} is gone; the code does not use it"));
                    }
                    Some(is) if is != was => notes.push(format!(
                        "column {column} of {table} changed {was} → {is}; the code does not use it"
                    )),
                    Some(_) => {}
                }
            }
            let unused =
                if before.keys().all(|column| is_used(column)) { "" } else { "; the code does not use it" };
            let new = now.keys().filter(|column| !before.contains_key(*column));
            notes.extend(new.map(|column| format!("column {column} of {table} is new{unused}")));
        }
        notes
    }

    fn today(&self, name: &str) -> Option<String> {
        match name {
            "policy" => return Some(hash(self.policy)),
            "verifier" => return Some(VERIFIER_VERSION.to_string()),
            "plan API" => return Some(PLAN_API_VERSION.to_string()),
            RULES => return Some(ordain_planner::RULES_VERSION.to_string()),
            _ => {}
        }
        if let Some(part) = self.rule.and_then(|rule| rule.get(name)) {
            return Some(part.clone());
        }
        if let Some(helper) = name.strip_prefix("helper ") {
            return Some(self.helper(helper));
        }
        if let Some((column, table)) = column_of(name) {
            return self.schema.table(table)?.column(column).map(|column| self.kind(column, name));
        }
        let table = name.strip_prefix("table ")?;
        self.schema.table(table).map(rules_of)
    }

    fn add_table(&self, components: &mut Components, name: &str, columns: Option<&[String]>) {
        // A table that is not there is not depended on: the verifier would have refused the code.
        let Some(table) = self.schema.table(name) else { return };
        components.insert(format!("table {name}"), rules_of(table));
        let all = serde_json::to_string(&kinds_of(table)).unwrap_or_default();
        components.insert(format!("{COLUMNS_OF}{name}"), all);
        let is_used = |column: &&Column| columns.is_none_or(|used| used.contains(&column.name));
        for column in table.columns.iter().filter(is_used) {
            let key = column_component(&column.name, name);
            let kind = self.kind(column, &key);
            components.insert(key, kind);
        }
    }

    /// What a column holds, with what its numbers count.
    fn kind(&self, column: &Column, key: &str) -> String {
        let unit = self.units.and_then(|units| units.get(key));
        kind_of(column) + &unit.map(|unit| format!(" in {unit}")).unwrap_or_default()
    }

    /// The hash of a helper's own lines and of the lines outside all functions, on which every helper may rest.
    fn helper(&self, name: &str) -> String {
        hash(&self.helpers.rests_on(name).text)
    }

    fn difference(&self, name: &str, was: &str, now: Option<String>, kept: &Components) -> String {
        match (name, now) {
            ("policy", _) => "the policy changed".to_owned(),
            ("verifier" | "plan API" | RULES, Some(now)) => {
                format!("the {name} is version {now}, it was {was}")
            }
            (name, Some(now)) if name.starts_with("column ") => format!("{name} changed {was} → {now}"),
            (name, None) => match column_of(name) {
                Some((_, table)) if self.schema.table(table).is_none() => format!("table {table} is gone"),
                Some((_, table)) => format!("{name} is gone{}", self.renamed(table, kept)),
                None => format!("{name} is gone"),
            },
            (name, _) if name.starts_with("table ") => format!("the rules of {name} changed"),
            (name, _) => format!("{name} changed"),
        }
    }

    /// The one new column of a table, which may be the one that is gone.
    fn renamed(&self, table: &str, kept: &Components) -> String {
        let before = kept.get(&format!("{COLUMNS_OF}{table}")).map(|was| listed(was)).unwrap_or_default();
        let now = self.schema.table(table).map(kinds_of).unwrap_or_default();
        let mut new = now.keys().filter(|column| !before.contains_key(*column));
        match (new.next(), new.next()) {
            (Some(one), None) => format!(" (renamed to {one}?)"),
            _ => String::new(),
        }
    }
}

/// The component with all columns of a table, for the notes. What counts are the columns that the code uses.
const COLUMNS_OF: &str = "columns of ";
/// The component with the columns that hold a value which a rule in words names.
const COLUMNS_WITH: &str = "columns with ";

/// The component with the columns whose names a rule in words has.
pub const NAMED_COLUMNS: &str = "columns that are named";

/// The component of a column.
pub fn column_component(column: &str, table: &str) -> String {
    format!("column {column} of {table}")
}

/// The component with the columns that hold a value.
pub fn columns_with(value: &str) -> String {
    format!("{COLUMNS_WITH}{value}")
}

/// Column and table of a component's name.
fn column_of(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("column ").and_then(|name| name.rsplit_once(" of "))
}

/// The tables that code uses, and their columns, or `None` where every column counts.
fn used(effects: &Effects, is_ours: bool) -> BTreeMap<String, Option<Vec<String>>> {
    let mut tables: BTreeMap<String, Option<Vec<String>>> = BTreeMap::new();
    let reads = effects.reads.iter().map(|(table, read)| {
        let columns = if is_ours { &read.named } else { &read.columns };
        (table, columns, read.whole && !is_ours)
    });
    let writes = effects.writes.iter().map(|(table, write)| (table, &write.columns, write.whole));
    for (table, columns, whole) in reads.chain(writes) {
        let entry = tables.entry(table.clone()).or_insert_with(|| Some(Vec::new()));
        match entry {
            Some(known) if !whole => known.extend(columns.iter().cloned()),
            _ => *entry = None,
        }
    }
    tables
}

fn kind_of(column: &Column) -> String {
    let kind = serde_json::to_value(column.column_type).ok();
    let kind = kind.and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default();
    if column.nullable { format!("{kind} or nothing") } else { kind }
}

fn kinds_of(table: &Table) -> BTreeMap<String, String> {
    table.columns.iter().map(|column| (column.name.clone(), kind_of(column))).collect()
}

fn listed(columns: &str) -> BTreeMap<String, String> {
    serde_json::from_str(columns).unwrap_or_default()
}

fn rules_of(table: &Table) -> String {
    format!(
        "key {}{}{}",
        table.key.join("+"),
        if table.append_only { ", append only" } else { "" },
        if table.read_only { ", read only" } else { "" },
    )
}

/// The first half of a text's SHA-256, in hexadecimal.
pub fn hash(text: &str) -> String {
    ordain_types::hex(&Sha256::digest(text.as_bytes())[..16])
}

#[cfg(test)]
mod tests {
    use ordain_types::ColumnType;
    use ordain_verify::TableRead;

    use super::*;

    const HELPERS: &str = "RATE = 2\n\ndef used():\n    return inner()\n\ndef inner():\n    return RATE\n\ndef other():\n    return 3\n";

    fn schema() -> Schema {
        let column = |name: &str, column_type| Column {
            name: name.to_owned(),
            column_type,
            nullable: false,
            hidden: false,
        };
        let columns = vec![
            column("name", ColumnType::Text),
            column("price", ColumnType::Real),
            column("note", ColumnType::Text),
        ];
        Schema { tables: vec![Table { name: "items".to_owned(), columns, ..Table::default() }] }
    }

    fn effects() -> Effects {
        let read =
            TableRead { columns: ["name".to_owned(), "price".to_owned()].into(), ..TableRead::default() };
        Effects {
            reads: [("items".to_owned(), read)].into(),
            helpers: ["used".to_owned()].into(),
            ..Effects::default()
        }
    }

    fn stale(schema: &Schema, policy: &str, helpers: &str) -> Option<String> {
        let before = schema_components();
        let helpers = &helpers.to_owned().into();
        FingerprintInputs { schema, policy, helpers, rule: None, units: None }.stale(&before)
    }

    fn schema_components() -> Components {
        let helpers = &HELPERS.to_owned().into();
        let schema = &schema();
        FingerprintInputs { schema, policy: "1. Be kind.", helpers, rule: None, units: None }
            .components(&effects(), false)
    }

    #[test]
    fn a_plan_holds_while_nothing_that_it_uses_changes() {
        let mut changed = schema();
        changed.tables[0].columns[2].column_type = ColumnType::Integer;
        changed.tables[0].columns.push(Column {
            name: "new".to_owned(),
            column_type: ColumnType::Text,
            nullable: true,
            hidden: false,
        });
        assert_eq!(stale(&changed, "1. Be kind.", &HELPERS.replace("return 3", "return 4")), None);
    }

    #[test]
    fn a_change_of_what_it_uses_is_named() {
        let mut retyped = schema();
        retyped.tables[0].columns[1].column_type = ColumnType::Text;
        assert_eq!(
            stale(&retyped, "1. Be kind.", HELPERS).as_deref(),
            Some("column price of items changed real → text")
        );
        let mut renamed = schema();
        "cost".clone_into(&mut renamed.tables[0].columns[1].name);
        assert_eq!(
            stale(&renamed, "1. Be kind.", HELPERS).as_deref(),
            Some("column price of items is gone (renamed to cost?)")
        );
        assert_eq!(stale(&schema(), "1. Be strict.", HELPERS).as_deref(), Some("the policy changed"));
    }

    #[test]
    fn a_helper_that_it_uses_makes_it_stale_even_through_another_one() {
        let inner = HELPERS.replace("return RATE", "return RATE + 1");
        assert_eq!(stale(&schema(), "1. Be kind.", &inner).as_deref(), Some("helper used changed"));
    }
}
