//! The plan cache: verified plans, and all that each was compiled against.
//!
//! The store keeps and finds plans; whether one still holds is the engine's judgement, by comparing the components
//! that are kept here with those of today. Every plan is signed with the ledger's key, so that one that was edited in
//! the database is not used.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::bookkeeping::own;
use crate::error::StoreError;
use crate::ledger::{self, Ledger};
use crate::sealed;
use crate::session::{Intent, Session};
use crate::sql::{Datum, Dialect, Sql};
use crate::store::Inner;

/// The position of a plan in the list, so that the list can be read on from there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanMark {
    /// Whether it is pinned.
    pub pinned: bool,
    /// When it was last used.
    pub last_used_at: String,
    /// Its id.
    pub plan_id: String,
}

/// Plans that are kept. Beyond it the one that was not used for longest goes, pinned ones last.
const PLANS_MAX: i64 = 10_000;

/// The columns, in the order in which [`plan`] reads them.
const COLUMNS: [&str; 16] = [
    "plan_id",
    "kind",
    "exact",
    "declared",
    "request",
    "title",
    "code",
    "source",
    "model",
    "run_id",
    "components",
    "pinned",
    "uses",
    "created_at",
    "last_used_at",
    "seal",
];

/// A plan that was verified and has run well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CachedPlan {
    /// Names the plan: the hash of its kind, its key, its code and what else tells it from others.
    pub plan_id: String,
    /// What it is for: `ask`, `code`, `check`.
    pub kind: String,
    /// The key of exactly what was asked.
    pub exact: String,
    /// What its author declares that it does, as JSON, where that is kept.
    pub declared: Option<String>,
    /// What was asked when it was written.
    pub request: String,
    /// What it does.
    pub title: String,
    /// Its Python.
    pub code: String,
    /// Who wrote it.
    pub source: PlanAuthor,
    /// The model's name, where a model wrote it.
    pub model: Option<String>,
    /// The run that wrote it.
    pub run_id: String,
    /// All that it was compiled against: what it is, and its hash or type.
    pub components: BTreeMap<String, String>,
    /// Whether it is kept and preferred whatever happens.
    pub pinned: bool,
    /// How often it was used again.
    pub uses: u64,
    /// When it was written.
    pub created_at: String,
    /// When it was last used.
    pub last_used_at: String,
}

/// Who wrote a kept plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanAuthor {
    /// A model.
    Model,
    /// The reader.
    Rules,
    /// A built-in kind of check.
    Kind,
    /// The owner of the check, in its file.
    File,
}

ordain_types::names!(PlanAuthor, as_str { Model = "model", Rules = "rules", Kind = "kind", File = "file" });

impl PlanAuthor {
    /// Whether the code is of our own making: it does what its parameters say and cannot be talked into anything else.
    pub const fn is_ours(self) -> bool {
        matches!(self, Self::Rules | Self::Kind)
    }

    fn read(text: &str) -> Result<Self, StoreError> {
        let message = || format!("a kept plan is damaged: `{text}` wrote none");
        let found = Self::named(text);
        found.ok_or_else(|| StoreError::Database { message: message() })
    }
}

/// Keeps plans in one transaction; one with the same id is replaced, its pin and uses kept.
pub(crate) async fn keep(store: &Arc<Inner>, kept: &[CachedPlan]) -> Result<(), StoreError> {
    let mut session = store.pool.begin(Intent::Own).await?;
    let plans = own(session.dialect(), "plans");
    let now = store.clock.timestamp();
    for plan in kept {
        insert(store, &mut session, plan, &now).await?;
    }
    let mut sql = session.sql(&format!(
        "DELETE FROM {plans} WHERE pinned = 0 AND plan_id IN (SELECT plan_id FROM {plans} \
         ORDER BY pinned DESC, last_used_at DESC LIMIT 1000000 OFFSET "
    ));
    sql.integer_param(PLANS_MAX).push(")");
    session.write(sql).await?;
    session.commit().await
}

async fn insert(
    store: &Inner,
    session: &mut Session,
    plan: &CachedPlan,
    now: &str,
) -> Result<(), StoreError> {
    let plans = own(session.dialect(), "plans");
    let components = serde_json::to_string(&plan.components)
        .map_err(|error| StoreError::Database { message: error.to_string() })?;
    let seal = store.ledger.seal(&message(plan));
    let mut sql = session.sql(&format!("INSERT INTO {plans} ({}) VALUES (", COLUMNS.join(", ")));
    sql.text_param(&plan.plan_id).push(", ").text_param(&plan.kind).push(", ").text_param(&plan.exact);
    optional(sql.push(", "), plan.declared.as_deref());
    for text in [plan.request.as_str(), &plan.title, &plan.code, plan.source.as_str()] {
        sql.push(", ").text_param(text);
    }
    optional(sql.push(", "), plan.model.as_deref());
    sql.push(", ").text_param(&plan.run_id).push(", ").text_param(&components);
    sql.push(", ")
        .integer_param(i64::from(plan.pinned))
        .push(", 0, ")
        .text_param(now)
        .push(", ")
        .text_param(now)
        .push(", ")
        .text_param(&seal);
    // Everything that the seal covers, so that it covers what is there.
    let sealed =
        ["kind", "exact", "declared", "request", "title", "code", "source", "model", "run_id", "components"];
    sql.push(
        ") ON CONFLICT (plan_id) DO UPDATE SET seal = excluded.seal, last_used_at = excluded.last_used_at",
    );
    for column in sealed {
        sql.push(&format!(", {column} = excluded.{column}"));
    }
    session.write(sql).await.map(drop)
}

/// Plans of a kind, all of them or those for exactly this: pinned ones first, then the newest.
pub(crate) async fn find(
    ledger: &Ledger,
    session: &mut Session,
    kind: &str,
    exact: Option<&str>,
) -> Result<Vec<CachedPlan>, StoreError> {
    let mut sql = select(session);
    sql.push(" WHERE kind = ").text_param(kind);
    if let Some(exact) = exact {
        sql.push(" AND exact = ").text_param(exact);
    }
    sql.push(" ORDER BY pinned DESC, created_at DESC");
    if exact.is_some() {
        sql.push(" LIMIT 8");
    }
    let rows = session.read(sql).await?;
    // A plan that was altered is treated as missing.
    rows.iter().filter(|row| is_sealed(ledger, row)).map(|row| plan(row)).collect()
}

/// Plans, the last used first, those behind `after` if it is given.
pub(crate) async fn list(
    ledger: &Ledger,
    session: &mut Session,
    kind: Option<&str>,
    who: Option<&str>,
    after: Option<&PlanMark>,
    limit: u64,
) -> Result<Vec<CachedPlan>, StoreError> {
    let mut sql = select(session);
    sql.push(" WHERE 1 = 1");
    if let Some(kind) = kind {
        sql.push(" AND kind = ").text_param(kind);
    }
    if let Some(who) = who {
        let runs = own(session.dialect(), "runs");
        sql.push(&format!(" AND run_id IN (SELECT run_id FROM {runs} WHERE who = "))
            .text_param(who)
            .push(")");
    }
    if let Some(after) = after {
        let pinned = i64::from(after.pinned);
        sql.push(" AND (pinned < ").integer_param(pinned).push(" OR (pinned = ").integer_param(pinned);
        sql.push(" AND (last_used_at < ").text_param(&after.last_used_at);
        sql.push(" OR (last_used_at = ").text_param(&after.last_used_at);
        sql.push(" AND plan_id > ").text_param(&after.plan_id).push("))))");
    }
    sql.push(" ORDER BY pinned DESC, last_used_at DESC, plan_id LIMIT ");
    sql.integer_param(i64::try_from(limit).unwrap_or(i64::MAX));
    let rows = session.read(sql).await?;
    let mut plans = rows.iter().map(|row| shown(ledger, row)).collect::<Result<Vec<_>, _>>()?;
    if who.is_some() {
        let runs: Vec<&str> = plans.iter().map(|plan| plan.run_id.as_str()).collect();
        let askers = sealed::askers(ledger, session, &runs).await?;
        let mut askers = askers.iter();
        plans.retain(|_| askers.next().is_some_and(|asker| asker.as_deref() == who));
    }
    Ok(plans)
}

/// The plan of that id, or the only one whose id begins so.
pub(crate) async fn get(ledger: &Ledger, session: &mut Session, id: &str) -> Result<CachedPlan, StoreError> {
    let unknown = || StoreError::UnknownPlan { plan: crate::relation::shortened(id) };
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(unknown());
    }
    let mut sql = select(session);
    sql.push(" WHERE plan_id LIKE ").text_param(&format!("{}%", id.to_ascii_lowercase())).push(" LIMIT 2");
    let mut rows = session.read(sql).await?;
    match (rows.pop(), rows.is_empty()) {
        (Some(row), true) => shown(ledger, &row),
        _ => Err(unknown()),
    }
}

/// Pins a plan, or lets it go.
pub(crate) async fn pin(store: &Arc<Inner>, id: &str, pinned: bool) -> Result<CachedPlan, StoreError> {
    let mut session = store.pool.begin(Intent::Own).await?;
    let mut found = get(&store.ledger, &mut session, id).await?;
    let plans = own(session.dialect(), "plans");
    let mut sql = session.sql(&format!("UPDATE {plans} SET pinned = "));
    sql.integer_param(i64::from(pinned)).push(" WHERE plan_id = ").text_param(&found.plan_id);
    session.write(sql).await?;
    session.commit().await?;
    found.pinned = pinned;
    Ok(found)
}

/// Removes a plan.
pub(crate) async fn evict(store: &Arc<Inner>, id: &str) -> Result<CachedPlan, StoreError> {
    let mut session = store.pool.begin(Intent::Own).await?;
    let found = get(&store.ledger, &mut session, id).await?;
    let plans = own(session.dialect(), "plans");
    let mut sql = session.sql(&format!("DELETE FROM {plans} WHERE plan_id = "));
    sql.text_param(&found.plan_id);
    session.write(sql).await?;
    session.commit().await?;
    Ok(found)
}

/// The statement that counts one more use of a plan.
pub(crate) fn used(dialect: Dialect, plan_id: &str, now: &str) -> Sql {
    let plans = own(dialect, "plans");
    let mut sql = Sql::new(dialect, &format!("UPDATE {plans} SET uses = uses + 1, last_used_at = "));
    sql.text_param(now).push(" WHERE plan_id = ").text_param(plan_id);
    if dialect == Dialect::Postgres {
        // Counts are written without waiting for the disk.
        sql.push(" AND set_config('synchronous_commit', 'off', true) = 'off'");
    }
    sql
}

fn optional(sql: &mut Sql, text: Option<&str>) {
    sql.bind(text.map_or(Datum::Null, |text| Datum::Text(text.to_owned())), "text");
}

fn select(session: &Session) -> Sql {
    let plans = own(session.dialect(), "plans");
    let mut sql = session.sql("SELECT ");
    sql.list(", ", COLUMNS, |sql, column| {
        match column {
            "pinned" | "uses" => sql.result(column),
            _ => sql.push(column),
        };
    });
    sql.push(&format!(" FROM {plans}"));
    sql
}

/// What the seal of a plan covers: all of it but how it is used.
fn message(plan: &CachedPlan) -> String {
    let CachedPlan {
        plan_id,
        kind,
        exact,
        declared,
        request,
        title,
        code,
        source,
        model,
        run_id,
        components,
        ..
    } = plan;
    let text =
        json!([plan_id, kind, exact, declared, request, title, code, source, model, run_id, components]);
    ordain_types::hex(&Sha256::digest(ledger::canonical(&text).as_bytes()))
}

fn is_sealed(ledger: &Ledger, row: &[Datum]) -> bool {
    let seal = row[15].as_text().unwrap_or_default();
    plan(row).is_ok_and(|plan| ledger.is_sealed(&message(&plan), seal))
}

/// A plan for a list. One that was altered says so in the place of its text.
fn shown(ledger: &Ledger, row: &[Datum]) -> Result<CachedPlan, StoreError> {
    let mut found = plan(row)?;
    if !is_sealed(ledger, row) {
        "(altered since it was kept; it is not used)".clone_into(&mut found.title);
        found.code.clear();
    }
    Ok(found)
}

fn plan(row: &[Datum]) -> Result<CachedPlan, StoreError> {
    let text = |place: usize| row[place].as_text().unwrap_or_default().to_owned();
    let maybe = |place: usize| row[place].as_text().map(str::to_owned);
    let components = serde_json::from_str(&text(10))
        .map_err(|error| StoreError::Database { message: format!("a kept plan is damaged: {error}") })?;
    Ok(CachedPlan {
        plan_id: text(0),
        kind: text(1),
        exact: text(2),
        declared: maybe(3),
        request: text(4),
        title: text(5),
        code: text(6),
        source: PlanAuthor::read(&text(7))?,
        model: maybe(8),
        run_id: text(9),
        components,
        pinned: row[11].as_integer() == Some(1),
        uses: row[12].as_integer().and_then(|uses| u64::try_from(uses).ok()).unwrap_or_default(),
        created_at: text(13),
        last_used_at: text(14),
    })
}
