//! One record of a check file as a check; all its problems are reported at once.

use ordain_types::nearest;

use super::Problem;
use super::node::{Content, Member, Node};
use crate::catalogue::Kind;
use crate::check::{Check, Samples, Severity, Threshold};
use crate::kinds::{is_statement, wrong_params};
use ordain_workspace::Schedule;

/// Every field that a record may have.
pub const FIELDS: [&str; 21] = [
    "check_id",
    "check_name",
    "description",
    "target_table",
    "kind",
    "calculation_hint",
    "accepted_reading",
    "params",
    "key_columns",
    "filter",
    "allow_empty",
    "severity",
    "warn_if",
    "fail_if",
    "enabled",
    "owner",
    "tags",
    "schedule",
    "depends_on",
    "blocking",
    "samples",
];
/// Failing rows that a report shows.
const SAMPLES_MAX: u64 = 1000;
const ID_BYTES_MAX: usize = 200;

/// Reads one record and collects what is wrong with it.
pub(super) struct Reader<'a> {
    file: &'a str,
    line: u32,
    check_id: Option<String>,
    problems: &'a mut Vec<Problem>,
    has_errors: bool,
    /// Whether the record names a kind, and one that there is.
    has_kind: Option<bool>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a str, line: u32, problems: &'a mut Vec<Problem>) -> Self {
        Self { file, line, check_id: None, problems, has_errors: false, has_kind: None }
    }

    /// The check, if nothing that matters is wrong.
    pub(super) fn check(&mut self, record: &Node) -> Option<Check> {
        let Content::Map(members) = &record.content else {
            self.wrong(
                record.line,
                format!("a check is a record, not {}", record.kind()),
                "write {\"check_id\": …}",
            );
            return None;
        };
        let mut check = Check::unfilled(String::new());
        if let Some(id) = members.iter().find(|member| member.name == "check_id") {
            self.check_id = self.text(id);
        }
        for member in members {
            self.field(&mut check, member);
        }
        self.complete(&mut check);
        (!self.has_errors).then_some(check)
    }

    fn field(&mut self, check: &mut Check, member: &Member) {
        if matches!(member.value.content, Content::Null) && FIELDS.contains(&member.name.as_str()) {
            return;
        }
        match member.name.as_str() {
            "check_id" => check.check_id = self.check_id.clone().unwrap_or_default(),
            "check_name" => check.check_name = self.text(member).unwrap_or_default(),
            "description" => check.description = self.text(member).unwrap_or_default(),
            "target_table" => check.target_table = self.list(member),
            "kind" => check.kind = self.kind(member),
            "calculation_hint" => check.calculation_hint = self.text(member),
            "accepted_reading" => check.accepted_reading = self.text(member),
            "params" => match member.value.to_value() {
                serde_json::Value::Object(params) => check.params = params,
                _ => self.shape(member, "a record"),
            },
            "key_columns" => check.key_columns = self.keys(member, &check.target_table),
            "filter" => check.filter = self.text(member).filter(|filter| !filter.trim().is_empty()),
            "allow_empty" => check.allow_empty = self.flag(member, false),
            "severity" => check.severity = self.severity(member),
            "warn_if" => check.warn_if = self.threshold(member),
            "fail_if" => check.fail_if = self.threshold(member),
            "enabled" => check.enabled = self.flag(member, true),
            "owner" => check.owner = self.text(member),
            "tags" => check.tags = self.list(member),
            "schedule" => check.schedule = self.schedule(member),
            "depends_on" => check.depends_on = self.list(member),
            "blocking" => check.blocking = self.flag(member, false),
            "samples" => check.samples = self.samples(member),
            other => {
                // A field of another tool is kept; a misspelt one would leave the check with a default.
                if let Some(name) = nearest(other, FIELDS) {
                    let message = format!("`{other}` is no field of a check");
                    self.wrong(member.line, message, &format!("did you mean `{name}`?"));
                }
                check.unknown.insert(other.to_owned(), member.value.to_value());
            }
        }
    }

    /// What follows from the fields together.
    fn complete(&mut self, check: &mut Check) {
        if check.check_id.trim().is_empty() {
            self.wrong(
                self.line,
                "a check has no `check_id`".to_owned(),
                "give it one: it names the check for ever",
            );
        } else if check.check_id.len() > ID_BYTES_MAX || check.check_id.chars().any(char::is_control) {
            self.wrong(
                self.line,
                "a `check_id` is too long or holds control characters".to_owned(),
                "use a short plain text",
            );
        }
        if check.check_name.trim().is_empty() {
            check.check_name.clone_from(&check.check_id);
        }
        if self.has_kind.is_none() && check.calculation_hint.is_none() && !self.has_errors {
            self.wrong(
                self.line,
                "neither `kind` nor `calculation_hint` is given".to_owned(),
                "state the rule in words as `calculation_hint`, or name a kind",
            );
        }
        if self.has_kind != Some(false) {
            self.complete_rule(check);
        }
        if check.target_table.is_empty() {
            check.target_table = sides(check);
        }
        if check.target_table.is_empty() && !self.has_errors {
            self.wrong(
                self.line,
                "the check names no `target_table`".to_owned(),
                "name the table that is judged",
            );
        }
        if check.depends_on.contains(&check.check_id) {
            // The cycle is reported with the other problems.
            check.depends_on.dedup();
        }
    }

    /// What follows from the kind.
    fn complete_rule(&mut self, check: &mut Check) {
        if check.kind == Kind::Hint
            && let Some(statement) = check.calculation_hint.as_ref().filter(|hint| is_statement(hint))
        {
            check.params.entry("query").or_insert_with(|| statement.as_str().into());
            check.kind = Kind::Sql;
        }
        if check.is_words() && check.calculation_hint.as_deref().is_none_or(|hint| hint.trim().is_empty()) {
            self.wrong(
                self.line,
                format!("a check of kind `{}` has no `calculation_hint`", check.kind),
                "state the rule in words",
            );
        }
        if let Some(error) = wrong_params(check) {
            self.wrong(self.line, error.to_string(), &error.hint().unwrap_or_default());
        }
    }

    fn kind(&mut self, member: &Member) -> Kind {
        let Some(name) = self.text(member) else { return Kind::Hint };
        let kind = Kind::named(&name);
        self.has_kind = Some(kind.is_some());
        if kind.is_none() {
            let names = Kind::ALL.map(Kind::name);
            let hint = nearest(&name, names).map_or_else(
                || format!("kinds are: {}", names.join(", ")),
                |name| format!("did you mean `{name}`?"),
            );
            self.wrong(member.line, format!("there is no kind `{name}`"), &hint);
        }
        kind.unwrap_or(Kind::Hint)
    }

    fn severity(&mut self, member: &Member) -> Severity {
        let given = self.text(member).unwrap_or_default();
        let found =
            Severity::ALL.into_iter().find(|severity| severity.name().eq_ignore_ascii_case(given.trim()));
        if found.is_none() && !given.is_empty() {
            let hint = nearest(&given, Severity::ALL.map(Severity::name)).map_or_else(
                || "it is info, low, medium, high or critical".to_owned(),
                |name| format!("did you mean `{name}`?"),
            );
            self.wrong(member.line, format!("`{given}` is no severity"), &hint);
        }
        found.unwrap_or_default()
    }

    fn threshold(&mut self, member: &Member) -> Option<Threshold> {
        let parsed = Threshold::from_value(&member.value.to_value());
        if let Err(message) = &parsed {
            self.wrong(
                member.line,
                format!("`{}` is not understood: {message}", member.name),
                "write \"failed > 10\", \"failed_pct > 1.5\" or {\"count\": 10, \"percent\": 1.5}",
            );
        }
        parsed.ok()
    }

    fn schedule(&mut self, member: &Member) -> Option<String> {
        let text = self.text(member)?;
        if let Err(error) = text.parse::<Schedule>() {
            self.wrong(
                member.line,
                format!("`schedule` is not understood: {error}"),
                "write five fields, such as \"0 6 * * *\", or @daily, and perhaps a time zone such as Europe/Berlin",
            );
        }
        Some(text)
    }

    fn samples(&mut self, member: &Member) -> Samples {
        let mut samples = Samples::default();
        let Content::Map(members) = &member.value.content else {
            self.shape(member, "a record such as {\"max_rows\": 20, \"mask\": [\"email\"]}");
            return samples;
        };
        for member in members {
            match (member.name.as_str(), member.value.to_value().as_u64()) {
                ("max_rows", Some(rows)) => samples.max_rows = rows.min(SAMPLES_MAX),
                ("max_rows", None) => self.shape(member, "a whole number"),
                ("mask", _) => samples.mask = self.list(member),
                (other, _) => {
                    let message = format!("`samples` has no `{other}`");
                    self.wrong(member.line, message, "it has `max_rows` and `mask`");
                }
            }
        }
        samples
    }

    /// Key columns: a name, a list, or lists by table.
    fn keys(&mut self, member: &Member, tables: &[String]) -> Vec<String> {
        let Content::Map(members) = &member.value.content else { return self.list(member) };
        let of_table = members.iter().find(|it| tables.first() == Some(&it.name)).or(members.first());
        of_table.map(|it| self.list(it)).unwrap_or_default()
    }

    fn text(&mut self, member: &Member) -> Option<String> {
        match &member.value.content {
            Content::Text(text) => Some(text.clone()),
            // An id such as 17 is meant as text.
            Content::Number(number) => Some(number.to_string()),
            Content::Null => None,
            _ => {
                self.shape(member, "a text");
                None
            }
        }
    }

    fn flag(&mut self, member: &Member, usual: bool) -> bool {
        match &member.value.content {
            Content::Bool(value) => *value,
            Content::Text(text) if text.eq_ignore_ascii_case("true") => true,
            Content::Text(text) if text.eq_ignore_ascii_case("false") => false,
            _ => {
                self.shape(member, "true or false");
                usual
            }
        }
    }

    /// A list of texts, or one text with commas.
    fn list(&mut self, member: &Member) -> Vec<String> {
        match &member.value.content {
            Content::Text(text) => {
                text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
            }
            Content::List(items) => {
                let mut texts = Vec::new();
                for item in items {
                    match &item.content {
                        Content::Text(text) => texts.push(text.trim().to_owned()),
                        Content::Number(number) => texts.push(number.to_string()),
                        _ => self.wrong(
                            item.line,
                            format!("an item of `{}` is {}", member.name, item.kind()),
                            "it is a text",
                        ),
                    }
                }
                texts
            }
            _ => {
                self.shape(member, "a text or a list of texts");
                Vec::new()
            }
        }
    }

    fn shape(&mut self, member: &Member, wanted: &str) {
        let message = format!("`{}` is {}", member.name, member.value.kind());
        self.wrong(member.line, message, &format!("it is {wanted}"));
    }

    fn wrong(&mut self, line: u32, message: String, hint: &str) {
        self.has_errors = true;
        self.problems.push(Problem {
            file: self.file.to_owned(),
            line,
            check_id: self.check_id.clone(),
            message,
            hint: Some(hint.to_owned()),
        });
    }
}

/// The tables that `left` and `right` of a reconciliation name.
fn sides(check: &Check) -> Vec<String> {
    let of_side = |side: &str| {
        let side = check.params.get(side)?;
        side.as_str().or_else(|| side.get("table")?.as_str()).map(str::to_owned)
    };
    let mut tables: Vec<String> = ["left", "right"].into_iter().filter_map(of_side).collect();
    tables.dedup();
    tables
}
