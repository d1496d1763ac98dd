//! Questions that ask for a figure: an average, a total, a declared metric.

use super::form::{Asked, Cond, Measure, Path, Select};
use super::index::What;
use super::metric;
use super::parse::{All, Parser};
use super::trace::Naming;

impl Parser<'_> {
    /// `average price of round frames by category`, `total revenue`.
    pub(crate) fn figures(&self, start: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        let mut begins = vec![start];
        begins.extend(self.lex("what_is", start));
        begins.extend(self.lex("show", start));
        for begin in begins {
            if self.files {
                self.says_no_figure(begin, &|end| !self.per(end).is_empty());
            }
            for (measure, filter, end, cost) in self.measures(begin) {
                // After a list a figure is one of those rows.
                let all = self
                    .list()
                    .map_or(Some(Cond::always()), |rows| rows.order.is_none().then(|| rows.filter.clone()));
                let mut rows: All<Cond> = all.map(|all| (all, end, 0)).into_iter().collect();
                // `average minutes per call`, of a table of calls.
                let each = self.per_row(end).filter(|_| matches!(measure, Measure::Of("avg", _)));
                if let Some((after, is_column)) = each {
                    if is_column {
                        self.says_each(&measure, after);
                        continue;
                    }
                    rows.push((Cond::always(), after, 0));
                }
                rows.extend(
                    self.of_rows(end)
                        .into_iter()
                        .filter(|(np, ..)| np.order.is_none())
                        .map(|(np, end, cost)| (Cond::all(np.conds), end, cost)),
                );
                rows.extend(self.conds(end).into_iter().map(|(cond, end, cost)| (cond, end, cost + 1)));
                if let Some(start) = self.one("except", end) {
                    let out = self.conds(self.determiners(start)).into_iter();
                    rows.extend(out.map(|(cond, end, cost)| (Cond::Not(Box::new(cond)), end, cost + 1)));
                }
                for (cond, end, more) in rows {
                    // That is one figure, and not one of each.
                    let is_each = each.is_some() && self.per_row(end).is_some();
                    let filter = Cond::all([filter.clone(), vec![cond]].concat());
                    for (end, _) in self.tails(end) {
                        let figure = |by: Vec<Path>| {
                            self.select(
                                filter.clone(),
                                Asked::Figure { measure: measure.clone(), by, best: None },
                            )
                        };
                        found.push((figure(Vec::new()), end, cost + more));
                        let groups = if is_each { Vec::new() } else { self.per_rows(end) };
                        for ((by, part), end, less) in groups {
                            let filter = Cond::all(vec![filter.clone(), part]);
                            let select = Select { filter, ..figure(by) };
                            let ends = self.tails(end).into_iter();
                            found.extend(ends.map(|(end, _)| (select.clone(), end, cost + more + less)));
                        }
                    }
                }
            }
        }
        found
    }

    /// `average`, `total`; of files also `median` and `standard deviation`.
    pub(crate) fn function(&self, place: usize) -> Option<(usize, &'static str)> {
        let of_files = self.meaning("file_aggregates", place).filter(|_| self.files);
        self.meaning("aggregates", place).or(of_files)
    }

    /// `average price`, `total of the hours`, a declared metric.
    pub(crate) fn measures(&self, place: usize) -> Vec<(Measure, Vec<Cond>, usize, u32)> {
        self.wants(Naming::Metric, place);
        let mut found = Vec::new();
        if let Some((end, function)) = self.function(place) {
            let end = self.one("of", end).unwrap_or(end);
            // A row that several others refer to would count several times.
            let counts_once = |path: &Path| path.hops.is_empty() || matches!(function, "max" | "min");
            let columns = self.columns(end).into_iter();
            for (path, end, cost) in columns.filter(|(path, ..)| self.is_quantity(path) && counts_once(path))
            {
                // `total of units times unit_price`
                let times = self.one("times", end).filter(|_| matches!(function, "sum" | "avg"));
                for (other, end, more) in times.map(|end| self.columns(end)).unwrap_or_default() {
                    if self.is_quantity(&other) {
                        let product = Measure::Product(function, path.clone(), other);
                        found.push((product, Vec::new(), end, cost + more));
                    }
                }
                found.push((Measure::Of(function, path), Vec::new(), end, cost));
            }
            if let Some((left, right, end)) = self.revenue(end).filter(|_| matches!(function, "sum" | "avg"))
            {
                found.push((Measure::Product(function, left, right), Vec::new(), end, 0));
            }
        }
        found.extend(self.ratios(place));
        // `total revenue`, where revenue is declared as a sum.
        let total = self.function(place).filter(|(_, function)| *function == "sum").map(|(end, _)| end);
        let totals = total.map(|end| self.mentions(end)).unwrap_or_default().into_iter();
        let is_sum = |measure: &Measure| {
            matches!(measure, Measure::Of("sum" | "size", _) | Measure::Product("sum", ..))
        };
        found.extend(self.metrics(totals).filter(|(measure, ..)| is_sum(measure)));
        if self.files {
            let bare = self.columns(place).into_iter().filter(|(path, ..)| self.is_additive(path));
            found.extend(bare.map(|(path, end, cost)| (Measure::Of("sum", path), Vec::new(), end, cost + 1)));
            if let Some((left, right, end)) = self.revenue(place) {
                found.push((Measure::Product("sum", left, right), Vec::new(), end, 1));
            }
        }
        found.extend(self.metrics(self.mentions(place).into_iter()));
        found
    }

    /// The declared metrics among mentions.
    pub(super) fn metrics(
        &self,
        mentions: impl Iterator<Item = (What, usize, u32)>,
    ) -> impl Iterator<Item = (Measure, Vec<Cond>, usize, u32)> {
        mentions.filter_map(|(what, end, cost)| {
            let What::Metric(which) = what else { return None };
            let (measure, filter) = metric::measure(self.index, self.focus, which)?;
            Some((measure, filter.into_iter().collect(), end, cost))
        })
    }
}
