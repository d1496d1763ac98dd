//! Days in questions about files. Points in time that name a zone are read as those of UTC, and so are the days that they are
//! compared with.

use serde_json::Value;

use super::frames::Frame;
use crate::reader::code::{paths_of, quote};
use crate::reader::form::{Cond, Path};
use crate::reader::index::Period;

impl Frame<'_> {
    /// Whether the points in time of a column, or of the one that it is cut from, name a zone.
    pub(super) fn has_zone(&self, path: &Path) -> bool {
        let columns = &self.index.tables[path.table].columns;
        columns[columns[path.column].cut.map_or(path.column, |(day, _)| day)].has_zone
    }

    /// A day to compare a column with.
    pub(super) fn day(&self, path: &Path, value: &Value) -> String {
        let zone = if self.has_zone(path) { ", tz=\"UTC\"" } else { "" };
        format!("pd.Timestamp({value}{zone})")
    }

    /// What an expression of one column is compared as with another: a time without a zone is one of UTC.
    pub(super) fn beside(&self, path: &Path, other: &Path, expression: String, is_series: bool) -> String {
        if self.has_zone(path) || !self.has_zone(other) {
            return expression;
        }
        let dt = if is_series { ".dt" } else { "" };
        format!("{expression}{dt}.tz_localize(\"UTC\")")
    }

    /// What the answer says where days of another clock than the reader's own are meant.
    pub(super) fn clock(&self, filter: &Cond) -> Option<String> {
        let mut used = Vec::new();
        paths_of(filter, &mut used);
        let own = |column: usize| Path { hops: Vec::new(), table: self.table, column };
        let mut used = used.into_iter().chain(self.cuts.iter().map(|cut| own(*cut)));
        used.any(|path| self.has_zone(&path)).then(|| "times in UTC".to_owned())
    }

    /// The line that makes the column of a period.
    pub(super) fn cut_line(&self, column: usize) -> String {
        let columns = &self.index.tables[self.table].columns;
        let Some((day, period)) = columns[column].cut else { return String::new() };
        let method = match period {
            Period::Year => "dt.strftime(\"%Y\")",
            Period::Quarter => "dt.to_period(\"Q\").map(str, na_action=\"ignore\")",
            Period::Month => "dt.strftime(\"%Y-%m\")",
            Period::Week => "dt.strftime(\"%G-W%V\")",
            Period::Day => "dt.strftime(\"%Y-%m-%d\")",
            Period::Weekday => "dt.day_name()",
        };
        // pandas has no quarters with a zone.
        let plain = if columns[day].has_zone { "dt.tz_localize(None)." } else { "" };
        format!(
            "{0}[{1}] = {0}[{2}].{plain}{method}\n",
            self.variable,
            quote(&columns[column].name),
            quote(&columns[day].name)
        )
    }
}
