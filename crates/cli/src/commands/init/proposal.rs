//! What is proposed for tables that were looked at: names, keys, references, types and units, each with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use ordain_checks::suggest::{ColumnProfile, LookedAt, Profile, Reference};
use serde::Serialize;
use serde_json::{Value, json};

use crate::show::grid::Grid;
use crate::show::{cut, line};

/// What a name of a column that identifies rows ends with.
const KEY_ENDINGS: [&str; 9] = ["id", "no", "nr", "number", "key", "code", "sku", "uuid", "isbn"];
/// Characters of a reason in the table on the terminal.
const REASON_CHARS: usize = 70;

/// What is proposed for one table.
#[derive(Debug, Clone, Serialize)]
pub(in crate::commands) struct ProposedTable {
    pub(in crate::commands) name: String,
    /// The file that it was found in.
    pub(in crate::commands) source: String,
    /// Where its first rows will stand in the workspace.
    pub(in crate::commands) seed: String,
    /// The rows as they were read, where the file holds several tables.
    #[serde(skip)]
    pub(in crate::commands) rows_file: Option<PathBuf>,
    pub(in crate::commands) rows: u64,
    pub(in crate::commands) key: Vec<String>,
    pub(in crate::commands) columns: Vec<ProposedColumn>,
}

/// What is proposed for one column.
#[derive(Debug, Clone, Serialize)]
pub(in crate::commands) struct ProposedColumn {
    pub(in crate::commands) name: String,
    /// How its values are read.
    pub(super) reading: String,
    /// The type to declare; a reading that names a currency, a unit or an order of days says more than a type does.
    #[serde(rename = "type")]
    pub(super) declared_type: Option<&'static str>,
    pub(super) unit: Option<String>,
    /// The column that it refers to: `customers.id`.
    pub(super) references: Option<String>,
    pub(in crate::commands) is_key: bool,
    pub(super) reason: String,
}

/// Proposes declarations for tables by the names under which they were looked at.
pub(super) fn propose(found: &BTreeMap<String, LookedAt>) -> Vec<ProposedTable> {
    let names = names(&found.keys());
    let keys: BTreeMap<&String, Option<String>> =
        found.iter().map(|(looked_as, table)| (looked_as, key_of(&table.profile))).collect();
    let is_key = |reference: &Reference| {
        keys.get(&reference.table).is_some_and(|key| key.as_ref() == Some(&reference.other))
    };
    let tables = found.iter().map(|(looked_as, table)| {
        let file = Path::new(&table.source).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_whole_file = found.values().filter(|other| other.source == table.source).count() == 1
            && !looked_as.contains('.');
        let (seed, rows_file) = match &table.rows {
            Some(rows) if !is_whole_file => {
                (format!("tables/{}.feather", names[looked_as]), Some(rows.clone()))
            }
            _ => (format!("tables/{file}"), None),
        };
        let key = keys[looked_as].clone();
        let columns = table.profile.columns.iter().zip(&table.readings).map(|(column, reading)| {
            let refers = |reference: &&Reference| {
                reference.column == column.name && reference.missing == 0 && is_key(reference)
            };
            let reference =
                table.profile.references.iter().find(refers).filter(|_| key.as_ref() != Some(&column.name));
            let references = reference.map(|to| format!("{}.{}", names[&to.table], to.other));
            proposed_column(column, reading, references, key.as_ref() == Some(&column.name))
        });
        ProposedTable {
            name: names[looked_as].clone(),
            source: file,
            seed,
            rows_file,
            rows: table.profile.rows,
            columns: columns.collect(),
            key: key.into_iter().collect(),
        }
    });
    tables.collect()
}

/// What tables are called: the last part of the name, such as `orders` of `dump.orders`, where no other is called so.
fn names<'a>(looked_as: &(impl Iterator<Item = &'a String> + Clone)) -> BTreeMap<String, String> {
    let plain = |name: &str| -> String {
        let name: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        let begins_well = name.starts_with(|first: char| first.is_alphabetic());
        if begins_well { name } else { format!("t_{name}") }
    };
    let last = |name: &str| plain(name.rsplit('.').next().unwrap_or(name));
    let mut taken = BTreeSet::new();
    let named = looked_as.clone().map(|name| {
        let is_alone =
            looked_as.clone().filter(|other| last(other).eq_ignore_ascii_case(&last(name))).count() == 1;
        let mut called = if is_alone { last(name) } else { plain(name) };
        while !taken.insert(called.to_lowercase()) {
            called.push('_');
        }
        (name.clone(), called)
    });
    named.collect()
}

/// The column that identifies rows: all of its values are there and different, and its name or its place says so.
fn key_of(profile: &Profile) -> Option<String> {
    let is_different = |column: &&ColumnProfile| {
        profile.rows > 0
            && column.nulls == 0
            && column.distinct == profile.rows
            && matches!(column.column_type.as_str(), "text" | "integer")
            && column.format.as_deref() != Some("date_text")
    };
    let is_called_so = |column: &&ColumnProfile| {
        let name = column.name.to_lowercase();
        KEY_ENDINGS.iter().any(|ending| {
            name.strip_suffix(ending)
                .is_some_and(|stem| stem.is_empty() || stem.ends_with(|last: char| !last.is_alphanumeric()))
                || column.name.ends_with("Id")
        })
    };
    let mut different = profile.columns.iter().filter(is_different);
    let named = different.clone().find(is_called_so);
    let first = profile.columns.first().map(|column| &column.name);
    named.or_else(|| different.find(|column| Some(&column.name) == first)).map(|column| column.name.clone())
}

fn proposed_column(
    column: &ColumnProfile,
    reading: &Value,
    references: Option<String>,
    is_key: bool,
) -> ProposedColumn {
    let text = |name: &str| reading[name].as_str();
    let kind = text("type").unwrap_or("text").to_owned();
    let unit = text("currency").or_else(|| text("unit")).or((kind == "percent").then_some("%"));
    let misfits = reading["misfits"]["count"].as_u64().unwrap_or_default();
    let declared_type = match kind.as_str() {
        // One value that does not fit would keep all rows out.
        _ if misfits > 0 => Some("text"),
        _ if unit.is_some() => None,
        "text" | "category" | "identifier" => Some("text"),
        "integer" => Some("integer"),
        "real" => Some("real"),
        "boolean" => Some("boolean"),
        _ => None,
    };
    let notes = reading["notes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut reasons = Vec::new();
    if is_key {
        reasons.push(format!("all {} values are there and different", column.distinct));
    }
    if let Some(to) = &references {
        reasons.push(format!("every value is one of {to}"));
    }
    if misfits > 0 {
        reasons.push(format!("kept as text, because not every value fits {kind}"));
    }
    if kind == "identifier" {
        reasons.push("an identifier, no quantity".to_owned());
    }
    if let Some(order) = text("order") {
        reasons.push(order.to_owned());
    }
    reasons.extend(notes.map(str::to_owned));
    ProposedColumn {
        name: column.name.clone(),
        declared_type,
        unit: unit.filter(|_| misfits == 0).map(str::to_owned),
        references,
        is_key,
        reading: kind,
        reason: reasons.join("; "),
    }
}

/// Shows what is proposed, column by column.
pub(in crate::commands) fn write_table(out: &mut impl io::Write, tables: &[ProposedTable]) -> io::Result<()> {
    for table in tables {
        let numbered =
            if table.key.is_empty() { "; no column identifies rows, so they are numbered" } else { "" };
        writeln!(out, "{}: {} rows of {}{numbered}", line(&table.name), table.rows, line(&table.source))?;
        let mut grid = Grid::new(["column", "read as", "means", "because"]);
        for column in &table.columns {
            let means = match &column.references {
                _ if column.is_key => "key".to_owned(),
                Some(to) => format!("refers to {to}"),
                None => String::new(),
            };
            let unit = column.unit.as_ref().map(|unit| format!(" in {unit}")).unwrap_or_default();
            let reading = format!("{}{unit}", column.reading);
            grid.row([
                line(&column.name),
                line(&reading),
                line(&means),
                cut(&line(&column.reason), REASON_CHARS),
            ]);
        }
        grid.write(out, "  ")?;
    }
    Ok(())
}

/// The tables as sections of `ordain.toml`.
pub(in crate::commands) fn sections(tables: &[ProposedTable]) -> String {
    let mut text = String::new();
    for table in tables {
        let name = toml_key(&table.name);
        let _ = writeln!(text, "\n# {}: {} rows", line(&table.source), table.rows);
        let _ = writeln!(text, "[tables.{name}]\nseed = {}", json!(table.seed));
        match &table.key[..] {
            [] => {}
            [key] => drop(writeln!(text, "key = {}", json!(key))),
            several => drop(writeln!(text, "key = {}", json!(several))),
        }
        let searched: Vec<&str> =
            table.columns.iter().filter(|it| it.references.is_some()).map(|it| it.name.as_str()).collect();
        if !searched.is_empty() {
            let _ = writeln!(text, "index = {}", json!(searched));
        }
        let _ = writeln!(text, "\n[tables.{name}.columns]");
        for column in &table.columns {
            let _ = writeln!(text, "{}", declaration(column));
        }
    }
    text
}

fn declaration(column: &ProposedColumn) -> String {
    let says = [
        ("type", column.declared_type),
        ("unit", column.unit.as_deref()),
        ("references", column.references.as_deref()),
    ];
    let says: Vec<(&str, &str)> = says.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let name = toml_key(&column.name);
    let declared = match says[..] {
        [] => return format!("# {}: {}{}", line(&column.name), column.reading, remark(": ", &column.reason)),
        [("type", value)] => json!(value).to_string(),
        _ => {
            let parts: Vec<String> =
                says.iter().map(|(name, value)| format!("{name} = {}", json!(value))).collect();
            format!("{{ {} }}", parts.join(", "))
        }
    };
    format!("{name} = {declared}{}", remark("  # ", &column.reason))
}

fn remark(before: &str, reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!("{before}{}", line(reason)) }
}

/// A name as a key of TOML.
fn toml_key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare { name.to_owned() } else { json!(name).to_string() }
}
