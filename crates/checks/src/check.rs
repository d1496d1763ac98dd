//! A check as its owner writes it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalogue::Kind;
use crate::report::words::cut;

/// What a rule shows of code of its owner's own.
const CODE_LINES: usize = 2;
const CODE_CHARACTERS_MAX: usize = 120;

/// A standing rule about data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Check {
    /// Names the check for ever; renaming keeps it.
    pub check_id: String,
    /// What people call it.
    pub check_name: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// The tables it looks at, the first one being judged.
    pub target_table: Vec<String>,
    /// `hint`, or a built-in kind.
    #[schemars(with = "String")]
    pub kind: Kind,
    /// The rule in words, for `hint`.
    #[serde(default)]
    pub calculation_hint: Option<String>,
    /// The rule as it was understood when a person accepted it; a reading that differs is not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_reading: Option<String>,
    /// What the kind needs.
    #[serde(default)]
    pub params: Map<String, Value>,
    /// The columns that tell failing rows apart.
    #[serde(default)]
    pub key_columns: Vec<String>,
    /// Which rows are looked at: a pandas query.
    #[serde(default)]
    pub filter: Option<String>,
    /// Whether nothing is wrong if the judged table has no rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_empty: bool,
    /// How much a failure weighs.
    #[serde(default)]
    pub severity: Severity,
    /// From when on a failure is a warning.
    #[serde(default)]
    pub warn_if: Option<Threshold>,
    /// From when on it is a failure.
    #[serde(default)]
    pub fail_if: Option<Threshold>,
    /// Whether it runs at all.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Who answers for it.
    #[serde(default)]
    pub owner: Option<String>,
    /// Words to select by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// When it runs: a cron expression.
    #[serde(default)]
    pub schedule: Option<String>,
    /// Checks that must have passed before.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// Whether checks that depend on it are skipped when it fails.
    #[serde(default)]
    pub blocking: bool,
    /// How failing rows are shown.
    #[serde(default)]
    pub samples: Samples,
    /// Fields that Ordain does not know. They are kept.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

impl Check {
    /// A check of a kind on a table, with the usual settings.
    pub fn new(check_id: String, table: &str, kind: Kind, params: Map<String, Value>) -> Self {
        Self { target_table: vec![table.to_owned()], kind, params, ..Self::unfilled(check_id) }
    }

    /// A record of which only the id is known yet.
    pub(crate) fn unfilled(check_id: String) -> Self {
        Self {
            check_id,
            check_name: String::new(),
            description: String::new(),
            target_table: Vec::new(),
            kind: Kind::Hint,
            calculation_hint: None,
            accepted_reading: None,
            params: Map::new(),
            key_columns: Vec::new(),
            filter: None,
            allow_empty: false,
            severity: Severity::default(),
            warn_if: None,
            fail_if: None,
            enabled: true,
            owner: None,
            tags: Vec::new(),
            schedule: None,
            depends_on: Vec::new(),
            blocking: false,
            samples: Samples::default(),
            unknown: Map::new(),
        }
    }

    /// Whether a planner writes its code, from words.
    pub fn is_words(&self) -> bool {
        self.kind == Kind::Hint || self.kind == Kind::Transform && !self.params.contains_key("code")
    }

    /// The rule as its owner wrote it: the words of a hint, or the kind with what it needs.
    pub fn rule(&self) -> String {
        if let Some(hint) = &self.calculation_hint {
            return hint.clone();
        }
        let params = self.params.iter().filter(|(name, _)| *name != "code");
        let params: Vec<String> = params.map(|(name, value)| format!("{name}: {value}")).collect();
        let rule = format!("{} {}", self.kind, params.join(", ")).trim().to_owned();
        self.code_in_words().map(|code| format!("{rule}: {code}")).unwrap_or(rule)
    }

    /// What its owner says of the code that the record gives, and how that begins.
    fn code_in_words(&self) -> Option<String> {
        let code = self.params.get("code")?.as_str()?;
        let is_telling = |line: &&str| {
            !line.is_empty() && !["#", "import ", "from "].iter().any(|other| line.starts_with(other))
        };
        let lines: Vec<&str> = code.lines().map(str::trim).filter(is_telling).take(CODE_LINES).collect();
        let begins = cut(&lines.join("; "), CODE_CHARACTERS_MAX);
        let words = self.description.trim_end_matches('.');
        let gap = if words.is_empty() { "" } else { "; " };
        Some(format!("{words}{gap}code that begins with {begins}"))
    }

    /// The rule restated from what it was compiled to, with its table and its filter.
    pub fn understood(&self, plan: &Value) -> Option<String> {
        let intent = plan.get("intent").and_then(Value::as_str).filter(|intent| !intent.is_empty())?;
        let table = self.target_table.first().map(|table| format!("{table}: ")).unwrap_or_default();
        let filter = self.filter.as_ref().map(|filter| format!(", where {filter}")).unwrap_or_default();
        Some(format!("{table}{}{filter}", intent.trim_end_matches('.')))
    }
}

/// How much a failure weighs.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Someone should look some day.
    Low,
    /// Someone should look.
    #[default]
    Medium,
    /// Someone must look.
    High,
    /// Everything stops.
    Critical,
}

/// From how many failing rows on a grade holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Threshold {
    /// More failing rows than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// A larger share of failing rows than this, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
}

impl Threshold {
    /// Whether so many failing rows of so many pass it.
    pub fn is_passed(&self, failed: u64, failed_pct: Option<f64>) -> bool {
        self.count.is_some_and(|count| failed > count)
            || self.percent.zip(failed_pct).is_some_and(|(percent, failed_pct)| failed_pct > percent)
    }

    /// Reads `"failed > 10"`, `"failed_pct >= 1.5 or failed > 3"`, a number of rows, or a record of both numbers.
    pub fn from_value(value: &Value) -> Result<Self, String> {
        match value {
            Value::String(text) => Self::from_text(text),
            Value::Number(number) => {
                let count = number.as_u64().ok_or("a number of rows is whole and not negative")?;
                Ok(Self { count: Some(count), percent: None })
            }
            Value::Object(_) => serde_json::from_value::<Strict>(value.clone())
                .map(|strict| Self { count: strict.count, percent: strict.percent })
                .map_err(|error| error.to_string()),
            _ => Err("it is neither text nor a record".to_owned()),
        }
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let mut threshold = Self::default();
        for part in text.split(" or ") {
            let part = part.trim();
            let at = part.find(['>', '!', '<', '=']).ok_or("it compares nothing")?;
            let (name, rest) = part.split_at(at);
            let (includes, number) = match rest {
                _ if rest.starts_with(">=") => (true, &rest[2..]),
                _ if rest.starts_with("!=") && rest[2..].trim() == "0" => (false, &rest[2..]),
                _ if rest.starts_with('>') => (false, &rest[1..]),
                _ => return Err("only `>` and `>=` compare here".to_owned()),
            };
            let number = number.trim().trim_end_matches('%').trim();
            match name.trim() {
                "failed" | "count" => {
                    let count: u64 =
                        number.parse().map_err(|_| format!("`{number}` is no number of rows"))?;
                    if includes && count == 0 {
                        return Err("zero failing rows are always reached".to_owned());
                    }
                    threshold.count = Some(if includes { count - 1 } else { count });
                }
                "failed_pct" | "percent" => {
                    let percent: f64 = number.parse().map_err(|_| format!("`{number}` is no percentage"))?;
                    if !(0.0..=100.0).contains(&percent) {
                        return Err(format!("`{number}` is no percentage"));
                    }
                    // The next smaller number: a share that reaches the percentage is then above it.
                    threshold.percent = Some(if includes { percent.next_down() } else { percent });
                }
                other => return Err(format!("`{other}` is neither `failed` nor `failed_pct`")),
            }
        }
        Ok(threshold)
    }
}

/// Both numbers, and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {
    #[serde(default)]
    count: Option<u64>,
    #[serde(default)]
    percent: Option<f64>,
}

/// How failing rows are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Samples {
    /// How many at most.
    pub max_rows: u64,
    /// Columns whose values are not shown.
    pub mask: Vec<String>,
}

impl Default for Samples {
    fn default() -> Self {
        Self { max_rows: 20, mask: Vec::new() }
    }
}

const fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rule_in_code_shows_what_its_owner_says_of_it_and_how_it_begins() {
        let record = |description: &str| {
            let code = "import pandas as pd\n# totals\norders = frame(\"orders\")\nwrong = orders[orders.total < 0]\nresult = {}\n";
            let record = json!({"check_id": "A", "check_name": "a", "target_table": ["orders"], "kind": "python",
                "description": description, "params": {"code": code}});
            serde_json::from_value::<Check>(record).unwrap().rule()
        };
        let begins = "code that begins with orders = frame(\"orders\"); wrong = orders[orders.total < 0]";
        assert_eq!(record(""), format!("python: {begins}"));
        assert_eq!(record("Totals multiply."), format!("python: Totals multiply; {begins}"));
    }

    #[test]
    fn thresholds_are_read_in_words_and_as_records() {
        let read = |value: Value| Threshold::from_value(&value).map(|it| (it.count, it.percent));
        assert_eq!(read(json!("failed > 10")), Ok((Some(10), None)));
        assert_eq!(read(json!("failed >= 10")), Ok((Some(9), None)));
        assert_eq!(read(json!("failed != 0")), Ok((Some(0), None)));
        assert_eq!(read(json!("failed_pct > 1.5% or failed > 3")), Ok((Some(3), Some(1.5))));
        assert_eq!(read(json!({"count": 2, "percent": 5})), Ok((Some(2), Some(5.0))));
        assert_eq!(read(json!(4)), Ok((Some(4), None)));
        for wrong in
            [json!("failed < 3"), json!("rows > 3"), json!("failed > x"), json!({"counts": 2}), json!([])]
        {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
        let reached = Threshold::from_value(&json!("failed_pct >= 1")).unwrap();
        assert!(reached.is_passed(1, Some(1.0)) && !reached.is_passed(1, Some(0.99)));
    }
}
