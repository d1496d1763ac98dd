//! Reads the tables and helpers of a workspace, as far as judging code needs them.
//!
//! This is the one place of `ordain verify` that knows `ordain.toml`. It reads the keys that decide about code
//! and passes over the rest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use ordain_types::{Schema, Table, nearest};
use ordain_verify::{Helper, helpers_of};
use serde::Deserialize;

use super::seeds;

/// What a workspace gives to code.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) schema: Schema,
    pub(super) helpers: Vec<Helper>,
}

#[derive(Debug, Deserialize)]
struct Settings {
    #[serde(default)]
    tables: BTreeMap<String, toml::Spanned<TableSettings>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableSettings {
    seed: Option<PathBuf>,
    #[serde(default)]
    key: Key,
    #[serde(default)]
    append_only: bool,
    #[serde(default)]
    read_only: bool,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    hidden_columns: Vec<String>,
    #[serde(default, rename = "max_rows_changed")]
    _max_rows_changed: Option<u64>,
}

/// One column, or several.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
enum Key {
    #[default]
    None,
    One(String),
    Several(Vec<String>),
}

impl Key {
    fn columns(self) -> Vec<String> {
        match self {
            Self::None => Vec::new(),
            Self::One(column) => vec![column],
            Self::Several(columns) => columns,
        }
    }
}

/// Reads `DIR/ordain.toml`, the seed rows it names, the file tables under `data/`, and `helpers.py`.
pub(super) fn read(folder: &Path) -> anyhow::Result<Workspace> {
    let path = folder.join("ordain.toml");
    let text = fs_err::read_to_string(&path)
        .with_context(|| format!("`{}` is no workspace: it has no readable ordain.toml", folder.display()))?;
    // The parser's message ends with the line it speaks about.
    let settings: Settings =
        toml::from_str(&text).with_context(|| format!("`{}` is not right", path.display()))?;
    let mut tables = Vec::new();
    let mut declared: Vec<(usize, String, TableSettings)> = settings
        .tables
        .into_iter()
        .map(|(name, table)| (table.span().start, name, table.into_inner()))
        .collect();
    // Tables keep the order in which they were declared.
    declared.sort_by_key(|(start, ..)| *start);
    for (_, name, table) in declared {
        tables.push(store_table(folder, name, table)?);
    }
    for (name, columns) in seeds::file_tables(&folder.join("data"))? {
        if tables.iter().all(|table| table.name != name) {
            tables.push(Table { name, columns, read_only: true, ..Table::default() });
        }
    }
    Ok(Workspace { schema: Schema { tables }, helpers: helpers(folder)? })
}

fn store_table(folder: &Path, name: String, settings: TableSettings) -> anyhow::Result<Table> {
    let Some(seed) = &settings.seed else {
        bail!(
            "table `{name}` names no seed file, so its columns are not known; add `seed = \"tables/{name}.json\"`"
        );
    };
    let mut columns = seeds::columns(&folder.join(seed))
        .with_context(|| format!("failed to read the seed of table `{name}`"))?;
    let key = settings.key.columns();
    for wrong in key.iter().chain(&settings.hidden_columns) {
        if columns.iter().all(|column| column.name != *wrong) {
            let known = columns.iter().map(|column| column.name.as_str());
            let hint =
                nearest(wrong, known).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            bail!("table `{name}` has no column `{wrong}`, which ordain.toml names{hint}");
        }
    }
    for column in &mut columns {
        column.hidden = settings.hidden_columns.contains(&column.name);
    }
    let TableSettings { append_only, read_only, hidden, .. } = settings;
    Ok(Table { name, columns, key, append_only, read_only, hidden })
}

fn helpers(folder: &Path) -> anyhow::Result<Vec<Helper>> {
    let path = folder.join("helpers.py");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let source = fs_err::read_to_string(&path)?;
    helpers_of(&source).map_err(|findings| {
        let first = findings.first().map(|finding| format!("line {}: {}", finding.line, finding.message));
        anyhow::anyhow!("`{}` cannot be read: {}", path.display(), first.unwrap_or_default())
    })
}
