//! What came of the cases, counted by expectation type.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::cases::Prepared;

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", content = "detail", rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// Verdict, rows and figure are those of the case, as far as it gives them.
    Agrees,
    /// PASS for FAIL, an error for a verdict, or a verdict for an error.
    Verdict(String),
    /// The verdict agrees, the failing rows do not.
    Rows(String),
    /// The verdict agrees, the figure does not.
    Observed(String),
    /// It differs, and is meant to.
    OnPurpose(String),
    /// No kind means what the case means.
    Unmapped(String),
    /// The case gives nothing to compare with.
    NotJudged(String),
    /// The case is for other engines.
    NotForPandas,
}

/// How many cases of a type came out how.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Tally {
    /// Cases that are meant for pandas.
    pub(crate) cases: usize,
    /// Those that agree.
    pub(crate) agreed: usize,
    /// Those with another verdict.
    pub(crate) verdict: usize,
    /// Those with other failing rows.
    pub(crate) rows: usize,
    /// Those with another figure.
    pub(crate) observed: usize,
    /// Those that differ on purpose.
    pub(crate) on_purpose: usize,
    /// Those that no kind means.
    pub(crate) unmapped: usize,
    /// Those that give nothing to compare with.
    pub(crate) not_judged: usize,
}

impl Tally {
    /// Those that differ, and are not meant to.
    pub(crate) const fn differing(&self) -> usize {
        self.verdict + self.rows + self.observed
    }

    fn add(&mut self, outcome: &Outcome) {
        let count = match outcome {
            Outcome::NotForPandas => return,
            Outcome::Agrees => &mut self.agreed,
            Outcome::Verdict(_) => &mut self.verdict,
            Outcome::Rows(_) => &mut self.rows,
            Outcome::Observed(_) => &mut self.observed,
            Outcome::OnPurpose(_) => &mut self.on_purpose,
            Outcome::Unmapped(_) => &mut self.unmapped,
            Outcome::NotJudged(_) => &mut self.not_judged,
        };
        *count += 1;
        self.cases += 1;
    }
}

/// A case that did not agree.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Difference {
    /// The file.
    pub(crate) file: String,
    /// The case.
    pub(crate) title: String,
    /// What came of it.
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}

/// All cases.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Files that were read.
    pub(crate) files: usize,
    /// Cases in them, those for other engines included.
    pub(crate) cases_in_all: usize,
    /// The counts over all types.
    pub(crate) total: Tally,
    /// The counts by type.
    pub(crate) types: BTreeMap<String, Tally>,
    /// Every case that did not agree.
    pub(crate) differences: Vec<Difference>,
}

impl Report {
    pub(crate) fn new(prepared: &Prepared, outcomes: Vec<Outcome>) -> Self {
        let mut report = Self {
            files: prepared.files,
            cases_in_all: outcomes.len(),
            total: Tally::default(),
            types: BTreeMap::new(),
            differences: Vec::new(),
        };
        for (case, outcome) in prepared.cases.iter().zip(outcomes) {
            report.total.add(&outcome);
            report.types.entry(case.expectation.clone()).or_default().add(&outcome);
            if !matches!(outcome, Outcome::Agrees | Outcome::NotForPandas) {
                report.differences.push(Difference {
                    file: case.file.clone(),
                    title: case.title.clone(),
                    outcome,
                });
            }
        }
        report
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.differences {
            let (kind, detail) = match &difference.outcome {
                Outcome::Verdict(detail) => ("verdict", detail),
                Outcome::Rows(detail) => ("rows", detail),
                Outcome::Observed(detail) => ("observed", detail),
                Outcome::OnPurpose(detail) => ("on purpose", detail),
                Outcome::Unmapped(detail) => ("unmapped", detail),
                Outcome::NotJudged(detail) => ("not judged", detail),
                Outcome::Agrees | Outcome::NotForPandas => continue,
            };
            let detail: String = detail.chars().take(240).collect();
            writeln!(f, "{kind:<10} {} · {}: {detail}", difference.file, difference.title)?;
        }
        let heading = ["cases", "agreed", "verdict", "rows", "figure", "purpose", "unmapped", "unjudged"];
        let width = self.types.keys().map(String::len).max().unwrap_or_default();
        writeln!(f, "\n{:<width$} {}", "type", heading.map(|word| format!("{word:>8}")).concat())?;
        let total = ("total".to_owned(), self.total.clone());
        for (name, tally) in
            self.types.clone().into_iter().chain([total]).filter(|(_, tally)| tally.cases > 0)
        {
            let counts = [
                tally.cases,
                tally.agreed,
                tally.verdict,
                tally.rows,
                tally.observed,
                tally.on_purpose,
                tally.unmapped,
                tally.not_judged,
            ];
            writeln!(f, "{name:<width$} {}", counts.map(|count| format!("{count:>8}")).concat())?;
        }
        let others = self.cases_in_all - self.total.cases;
        write!(f, "{} files, {} cases, {others} of them for other engines", self.files, self.cases_in_all)
    }
}
