//! `[tables.NAME.roles]`: what a column means, where its name alone does not say it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ordain_store::StoreError;
use ordain_types::Schema;
use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer};
use toml::Spanned;

/// A role that the owner declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredRole {
    /// The table.
    pub table: String,
    /// What the column means: `price`, `quantity` …
    pub role: String,
    /// The column.
    pub column: String,
    /// The line of `ordain.toml` that says so.
    pub line: u64,
}

/// The section as it is written: role, column, and where it stands.
#[derive(Debug, Default)]
pub(super) struct RolesSection(pub(super) Vec<(&'static str, String, u64)>);

macro_rules! roles {
    ($($role:ident),+) => {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            $($role: Option<Spanned<String>>,)+
        }

        /// Every role.
        const ROLES: &[&str] = &[$(stringify!($role)),+];

        impl Written {
            fn listed(self) -> Vec<(&'static str, Spanned<String>)> {
                let all = [$((stringify!($role), self.$role)),+];
                all.into_iter().filter_map(|(role, column)| Some((role, column?))).collect()
            }
        }
    };
}

roles!(id, timestamp, balance, amount, price, quantity, customer, item, name, summary, description, category);

impl JsonSchema for RolesSection {
    fn schema_name() -> Cow<'static, str> {
        "Roles".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        let roles: serde_json::Map<_, _> =
            ROLES.iter().map(|role| ((*role).to_owned(), serde_json::json!({ "type": "string" }))).collect();
        json_schema!({ "type": "object", "properties": roles, "additionalProperties": false })
    }
}

impl<'de> Deserialize<'de> for RolesSection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let listed = Written::deserialize(deserializer)?.listed();
        let placed = listed.into_iter().map(|(role, column)| {
            let at = column.span().start as u64;
            (role, column.into_inner(), at)
        });
        Ok(Self(placed.collect()))
    }
}

/// The roles by table, as the planner is shown them.
pub(super) fn by_table(roles: &[DeclaredRole]) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut tables: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for role in roles {
        tables.entry(role.table.clone()).or_default().insert(role.role.clone(), role.column.clone());
    }
    tables
}

/// Holds the roles against the tables that there are: a role of a column that does not exist would silently mean
/// nothing.
pub(super) fn check(roles: &[DeclaredRole], schema: &Schema) -> Result<(), StoreError> {
    for role in roles {
        let Some(table) = schema.table(&role.table) else { continue };
        if table.column(&role.column).is_some() {
            continue;
        }
        let names = || table.columns.iter().map(|column| column.name.as_str());
        let hint = ordain_types::nearest(&role.column, names()).map_or_else(
            || format!("its columns are {}", names().collect::<Vec<_>>().join(", ")),
            |nearest| format!("did you mean `{nearest}`?"),
        );
        return Err(StoreError::Declaration {
            what: format!("ordain.toml:{}", role.line),
            message: format!(
                "the role `{}` names the column `{}`, which `{}` has not",
                role.role, role.column, role.table
            ),
            hint: Some(hint),
        });
    }
    Ok(())
}
