//! Whether what a transaction did may be committed.

use std::collections::BTreeMap;
use std::fmt;

use ordain_types::{Diff, InvariantResult, Row};
use serde::{Deserialize, Serialize};

use crate::catalog::Catalog;
use crate::changes::Changes;
use crate::error::StoreError;
use crate::options::{Invariant, StoreLimits};
use crate::query::{self, RowWise};
use crate::session::{Bounds, Session};
use crate::sql::{Datum, Dialect, quoted};

/// Rows of a violation that are shown; the first few tell what is wrong.
const ROWS_SHOWN: usize = 20;
const BYTES_SHOWN: u64 = 4 * 1024 * 1024;
/// Touched rows above which an invariant looks at the whole table.
const TOUCHED_MAX: usize = 1000;

/// What a transaction did and whether it may stay.
#[derive(Debug, Clone, PartialEq)]
pub struct Review {
    /// The rows that were added, changed and removed.
    pub diff: Diff,
    /// Whether each invariant holds. Empty when nothing was changed.
    pub invariants: Vec<InvariantResult>,
    /// What is broken; nothing, if it may be committed.
    pub violations: Vec<Violation>,
}

/// A rule of a table, or an invariant, that does not hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Violation {
    /// `append_only`, `read_only`, `max_rows_changed` or `invariant`.
    pub rule: String,
    /// The table, or the invariant's name.
    pub name: String,
    /// What is wrong.
    pub message: String,
    /// The offending rows, cut to a few.
    pub rows: Vec<Row>,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

/// The rules of the tables against what was changed.
pub(crate) fn rules(
    catalog: &Catalog,
    changes: &Changes,
    rules_lifted: bool,
    rows_before: &BTreeMap<String, u64>,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (place, relation) in catalog.relations().enumerate() {
        let touched: Vec<_> = changes.touched().filter(|(table, ..)| *table == place).collect();
        let table = &relation.table;
        if touched.is_empty() {
            continue;
        }
        let shown = |kept: &dyn Fn(bool) -> bool| -> Vec<Row> {
            let rows = touched.iter().filter(|(_, before, _)| kept(before.is_some()));
            let rows = rows.filter_map(|(_, before, after)| before.or(*after));
            rows.take(ROWS_SHOWN).map(|image| relation.row(image)).collect()
        };
        let violation = |rule: &str, message: String, rows| {
            Some(Violation { rule: rule.to_owned(), name: table.name.clone(), message, rows })
        };
        if table.read_only || relation.read_only_reason.is_some() {
            let message = format!("table `{}` is read-only", table.name);
            violations.extend(violation("read_only", message, shown(&|_| true)));
        }
        if rules_lifted {
            continue;
        }
        if table.append_only && touched.iter().any(|(_, before, _)| before.is_some()) {
            let message =
                format!("table `{}` is append-only: its rows are never changed or removed", table.name);
            violations.extend(violation("append_only", message, shown(&|was_there| was_there)));
        }
        let before = rows_before.get(&table.name).copied().unwrap_or_default();
        let rows = before.saturating_add(touched.len() as u64);
        if let Some(max) = relation.max_rows_changed.filter(|max| rows > *max) {
            let by = if before == 0 { "" } else { " by the runs of this request" };
            let message =
                format!("{rows} rows of table `{}` were changed{by}, at most {max} may be", table.name);
            violations.extend(violation("max_rows_changed", message, shown(&|_| true)));
        }
    }
    violations
}

/// Runs every invariant in the transaction: of those that look at single rows, which are given with what was touched, on
/// the rows that were.
pub(crate) async fn invariants(
    session: &mut Session,
    catalog: &Catalog,
    invariants: &[Invariant],
    touched: Option<(&Changes, &[Option<RowWise>])>,
    limits: &StoreLimits,
) -> Result<(Vec<InvariantResult>, Vec<Violation>), StoreError> {
    let (mut results, mut violations) = (Vec::new(), Vec::new());
    for (place, invariant) in invariants.iter().enumerate() {
        let looked_at = touched.map_or(LookedAt::All, |(changes, row_wise)| {
            let row_wise = row_wise.get(place).and_then(Option::as_ref);
            LookedAt::of(catalog, changes, session.dialect(), row_wise)
        });
        let rows = match looked_at {
            LookedAt::None => Vec::new(),
            LookedAt::Some(before) => offending(session, catalog, invariant, before, limits).await?,
            LookedAt::All => offending(session, catalog, invariant, Default::default(), limits).await?,
        };
        if !rows.is_empty() {
            violations.push(Violation {
                rule: "invariant".to_owned(),
                name: invariant.name.clone(),
                message: format!("invariant `{}` does not hold", invariant.name),
                rows: rows.clone(),
            });
        }
        results.push(InvariantResult { name: invariant.name.clone(), holds: rows.is_empty(), rows });
    }
    Ok((results, violations))
}

/// Which rows an invariant can be broken by.
enum LookedAt {
    /// Any.
    All,
    /// Those of a table that this text, put before the query, makes of the touched ones; and its values.
    Some((String, Vec<Datum>)),
    /// None.
    None,
}

impl LookedAt {
    fn of(catalog: &Catalog, changes: &Changes, dialect: Dialect, row_wise: Option<&RowWise>) -> Self {
        let Some(row_wise) = row_wise else { return Self::All };
        let Ok(place) = catalog.place(&row_wise.table) else { return Self::All };
        let relation = catalog.at(place);
        let is_column = |name: &String| relation.table.columns.iter().any(|column| column.name == *name);
        if !relation.is_kept() || !row_wise.columns.iter().all(is_column) {
            return Self::All;
        }
        let touched = changes.touched().filter(|(table, ..)| *table == place);
        let ids: Vec<i64> = touched.filter_map(|(_, _, after)| Some(after?.doc_id)).collect();
        if ids.is_empty() {
            return Self::None;
        }
        if ids.len() > TOUCHED_MAX {
            return Self::All;
        }
        // The table itself is named in full: the name alone is the one of the touched rows. SQLite keeps the statement,
        // so that its text is the same for other rows.
        let (namespace, ids, params) = match dialect {
            Dialect::Sqlite => ("main.", vec!["?".to_owned(); ids.len()], ids),
            Dialect::Postgres => ("", ids.iter().map(i64::to_string).collect(), Vec::new()),
        };
        let (name, whole, ids) = (quoted(&row_wise.table), relation.sql_name(), ids.join(", "));
        let before = format!("WITH {name} AS (SELECT * FROM {namespace}{whole} WHERE doc_id IN ({ids})) ");
        Self::Some((before, params.into_iter().map(Datum::Integer).collect()))
    }
}

async fn offending(
    session: &mut Session,
    catalog: &Catalog,
    invariant: &Invariant,
    before: (String, Vec<Datum>),
    limits: &StoreLimits,
) -> Result<Vec<Row>, StoreError> {
    let bounds = Bounds {
        rows_max: ROWS_SHOWN as u64,
        bytes_max: BYTES_SHOWN,
        cut: true,
        // The owner wrote it, and a row may be as large as a row may be.
        value_bytes_max: limits.row_bytes_max,
        ..Bounds::query(limits)
    };
    let guarded = query::owners(before, &invariant.sql, bounds);
    let found = session.guarded(guarded).await.map_err(|error| match error {
        StoreError::Query { message, hint } => StoreError::Declaration {
            what: format!("invariant `{}`", invariant.name),
            message,
            hint: hint.or_else(|| Some("correct its `sql` in ordain.toml".to_owned())),
        },
        other => other,
    })?;
    // The rows are shown to the plan's author too, who may not see everything.
    let shown = query::shown_columns(catalog, session.dialect(), &invariant.sql, &found.origins);
    let row = |row: Row| Row {
        fields: std::iter::zip(row.fields, &shown)
            .filter(|(_, is_shown)| **is_shown)
            .map(|(field, _)| field)
            .collect(),
    };
    Ok(found.rows.into_iter().map(row).collect())
}
