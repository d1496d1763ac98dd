//! How far schedules have come: the last time that each was carried out or left out.

use std::collections::BTreeMap;
use std::sync::Arc;

use ordain_types::RunId;

use crate::bookkeeping::own;
use crate::error::StoreError;
use crate::session::{Intent, Session};
use crate::sql::Datum;
use crate::store::Inner;

/// How far a schedule has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleMark {
    /// The schedule, as it was written then.
    pub schedule: String,
    /// The last due time that is done with, or when the schedule was first seen; in seconds since 1970.
    pub at: i64,
    /// The run that was carried out for it.
    pub run_id: Option<RunId>,
}

/// How far every schedule has come, by its name.
pub(crate) async fn marks(session: &mut Session) -> Result<BTreeMap<String, ScheduleMark>, StoreError> {
    let schedules = own(session.dialect(), "schedules");
    let mut sql = session.sql("SELECT name, schedule, ");
    sql.result("at_s").push(&format!(", run_id FROM {schedules}"));
    let rows = session.read(sql).await?;
    let marks = rows.iter().map(|row| {
        let text = |at: usize| row[at].as_text().map(str::to_owned);
        let mark = ScheduleMark {
            schedule: text(1).unwrap_or_default(),
            at: row[2].as_integer().unwrap_or_default(),
            run_id: text(3).map(RunId),
        };
        (text(0).unwrap_or_default(), mark)
    });
    Ok(marks.collect())
}

/// Notes how far a schedule has come. A schedule that is still the same goes back from the future alone.
pub(crate) async fn mark(store: &Arc<Inner>, name: &str, mark: &ScheduleMark) -> Result<(), StoreError> {
    let mut session = store.pool.begin(Intent::Own).await?;
    let schedules = own(session.dialect(), "schedules");
    let mut sql =
        session.sql(&format!("INSERT INTO {schedules} AS kept (name, schedule, at_s, run_id) VALUES ("));
    sql.text_param(name).push(", ").text_param(&mark.schedule).push(", ").integer_param(mark.at).push(", ");
    sql.bind(mark.run_id.as_ref().map_or(Datum::Null, |run| Datum::Text(run.to_string())), "text");
    sql.push(") ON CONFLICT (name) DO UPDATE SET schedule = excluded.schedule, at_s = excluded.at_s, ");
    sql.push("run_id = coalesce(excluded.run_id, kept.run_id) ");
    // A time that has not come was written by a clock that was wrong.
    let now = i64::try_from(store.clock.unix_millis() / 1000).unwrap_or(i64::MAX);
    sql.push("WHERE kept.at_s < excluded.at_s OR kept.schedule <> excluded.schedule OR kept.at_s > ");
    sql.integer_param(now);
    session.write(sql).await?;
    session.commit().await
}
