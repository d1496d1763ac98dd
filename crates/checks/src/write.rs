//! Has a planner write a check's code from its hint, and keeps every prompt and reply for later.

use std::collections::BTreeSet;
use std::io::Write as _;

use ordain_planner::reader::{self, Explained};
use ordain_planner::{Brief, Draft, Exchange, Planner, Quiet, Reply, Speaker, TableBrief, Task};
use ordain_verify::{Contract, Policy};
use serde_json::{Value, json};

use crate::catalogue::Kind;
use crate::contracts::{PlanPrompt, plan_prompt_line};
use crate::kinds::{self, CompileError};
use crate::tables::{TableFacts, Tables};
use crate::{Check, Checks, ChecksError, rule};

/// A log longer than this is begun anew.
const LOG_BYTES_MAX: u64 = 64 << 20;

impl Checks {
    /// Has a planner write code for a hint, and keeps what was said, whatever came of it.
    pub(crate) async fn write(
        &self,
        check: &Check,
        tables: &Tables,
        planner: &Planner,
    ) -> Result<(String, Value), String> {
        let brief = if check.kind == Kind::Transform {
            self.transform_brief(check, tables, planner)
        } else {
            self.check_brief(check, tables, planner)
        };
        let mut exchange = planner.begin(&brief);
        let drafted =
            self.write_code((&brief, check.filter.as_deref()), &mut exchange, tables, planner).await;
        let written = drafted.and_then(|(draft, plan)| match transformed(check, &brief, draft) {
            Ok(code) => Ok((code, plan)),
            Err(error) => Err(format!("{error}; {}", error.hint().unwrap_or_default())),
        });
        let reply = written.as_ref().map_or_else(Clone::clone, |(code, _)| code.clone());
        self.log_exchange(check, &brief, planner, &exchange, reply);
        written
    }

    /// Two stages, an outline and then its code, with repairs.
    async fn write_code(
        &self,
        (brief, filter): (&Brief, Option<&str>),
        exchange: &mut Exchange,
        tables: &Tables,
        planner: &Planner,
    ) -> Result<(Draft, Value), String> {
        let outline = match planner {
            Planner::Rules => None,
            Planner::Model(_) => planner.outline(brief, exchange, &mut Quiet).await.ok(),
        };
        // A question about files sets other names than a check; what is made of its code is judged as a check's.
        let of_files = self.engine.settings().with_packages(Policy::for_contract(Contract::Code));
        let policy = if brief.task == Task::Code { &of_files } else { &tables.judged_by.policy };
        let judged_by = (policy, tables.schema());
        let draft = match (planner, brief.task) {
            (Planner::Rules, Task::Check) => rule::plan(brief, filter)?,
            _ => self.engine.compile((planner, brief), exchange, judged_by, &mut Quiet).await?,
        };
        let plan = draft.declared.clone().or(outline).unwrap_or_else(|| json!({"intent": draft.title}));
        Ok((draft, plan))
    }

    /// Whether the reader makes code of a rule.
    pub(crate) fn can_read(&self, check: &Check, tables: &Tables) -> bool {
        rule::plan(&self.check_brief(check, tables, &Planner::Rules), check.filter.as_deref()).is_ok()
    }

    /// What the reader understands of a rule, without running it. The table that its words name first is judged.
    pub async fn read_rule(&self, hint: &str, table: Option<&str>) -> Result<Explained, ChecksError> {
        let tables = self.tables(None, &BTreeSet::new(), 2).await?;
        let words: Vec<String> =
            hint.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase).collect();
        let mut shown: Vec<TableBrief> =
            tables.states.keys().filter_map(|name| tables.ready(name)).map(TableFacts::brief).collect();
        shown.sort_by_key(|brief| {
            let name = &brief.table.name;
            (
                table != Some(name),
                words.iter().position(|word| *word == name.to_lowercase()).unwrap_or(usize::MAX),
            )
        });
        let mut brief = Brief::new(Task::Check, hint);
        brief.catalog = self.engine.settings().catalog.clone();
        brief.tables = std::sync::Arc::new(shown);
        let reply = rule::plan(&brief, None).map_or_else(Reply::Refusal, Reply::Plan);
        Ok(reader::explain_as(&brief, reply))
    }

    /// The reader takes a transformation for a question about files, its tables being the files. A model is asked for
    /// the code of a check that also sets `table`.
    fn transform_brief(&self, check: &Check, tables: &Tables, planner: &Planner) -> Brief {
        if planner.can_repair() {
            let mut brief = self.check_brief(check, tables, planner);
            brief
                .request
                .push_str(" Judge nothing: set `table` to the DataFrame that results, and `result` to PASS.");
            return brief;
        }
        let mut brief = Brief::new(Task::Code, check.calculation_hint.as_deref().unwrap_or_default());
        let known = check.target_table.iter().filter_map(|name| tables.ready(name));
        brief.files = known.map(TableFacts::file_brief).collect();
        brief.catalog = self.engine.settings().catalog.clone();
        brief.packages.clone_from(&tables.judged_by.policy.packages);
        brief.limits = self.engine.settings().limits.clone();
        brief
    }

    fn check_brief(&self, check: &Check, tables: &Tables, planner: &Planner) -> Brief {
        let mut brief = Brief::new(Task::Check, check.calculation_hint.as_deref().unwrap_or_default());
        // The reader takes the filter as the condition that it is.
        if planner.can_repair()
            && let Some(filter) = &check.filter
        {
            brief.request = format!("{} Look only at rows where {filter}.", brief.request);
            for name in kinds::variables(filter) {
                brief.request.extend([" `$", &name, "` is inputs[\"variables\"][\"", &name, "\"]."]);
            }
        }
        let settings = self.engine.settings();
        brief.policy.clone_from(&settings.own_policy);
        brief.catalog = settings.catalog.clone();
        // The judged table comes first.
        let mut names: Vec<&String> = check.target_table.iter().collect();
        names.extend(tables.states.keys().filter(|name| !check.target_table.contains(name)));
        let facts = names.into_iter().filter_map(|name| tables.ready(name));
        let is_target = |name: &str| check.target_table.iter().any(|target| target == name);
        let shown: Vec<&TableFacts> = facts.filter(|facts| is_target(&facts.table.name)).collect();
        // A rule may write fractions as the file does.
        for facts in shown.iter().filter(|facts| facts.has_decimal_comma()) {
            let catalog = std::sync::Arc::make_mut(&mut brief.catalog);
            catalog.data.entry(facts.table.name.clone()).or_default().decimal = Some(',');
        }
        brief.tables = std::sync::Arc::new(shown.into_iter().map(TableFacts::brief).collect());
        settings.helpers.source().clone_into(&mut brief.helpers);
        brief.packages.clone_from(&tables.judged_by.policy.packages);
        brief.limits = settings.limits.clone();
        brief
    }

    fn log_exchange(
        &self,
        check: &Check,
        brief: &Brief,
        planner: &Planner,
        exchange: &Exchange,
        reply: String,
    ) {
        let said = |is_reply: bool| {
            let messages = exchange.messages.iter();
            let texts = messages.filter(|message| (message.speaker == Speaker::Model) == is_reply);
            texts.map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n\n")
        };
        // The reader is asked in the words of the hint, and answers with code or with why there is none.
        let is_spoken = !exchange.messages.is_empty();
        let columns = brief.tables.iter().map(|known| {
            let names = known.table.columns.iter().map(|column| json!(column.name)).collect();
            (known.table.name.clone(), Value::Array(names))
        });
        let line = plan_prompt_line(&PlanPrompt {
            timestamp: self.store().timestamp(),
            check_id: check.check_id.clone(),
            check_name: check.check_name.clone(),
            model: planner.name(),
            prompt: if is_spoken { said(false) } else { brief.request.clone() },
            response: if is_spoken { said(true) } else { reply },
            inputs: json!({"schema_cols": columns.collect::<Value>(), "usage": exchange.usage}),
        });
        let folder = self.contracts_folder();
        let appended = fs_err::create_dir_all(&folder).and_then(|()| {
            let path = folder.join("plan_prompt_log.jsonl");
            let is_full = fs_err::metadata(&path).is_ok_and(|metadata| metadata.len() > LOG_BYTES_MAX);
            let mut options = fs_err::OpenOptions::new();
            if is_full {
                options.write(true).truncate(true);
            } else {
                options.create(true).append(true);
            }
            options.open(path)?.write_all(line.as_bytes())
        });
        // A log that cannot be written must not lose the check.
        drop(appended);
    }
}

/// The code of a check: that of a transformation has the rows that were made as its output.
fn transformed(check: &Check, brief: &Brief, draft: Draft) -> Result<String, CompileError> {
    if check.kind != Kind::Transform {
        return Ok(draft.code);
    }
    match draft.rows {
        Some(rows) => kinds::with_output(check, &rows.code, rows.variable),
        None if brief.task == Task::Code => Err(kinds::no_rows()),
        None => kinds::with_table(check, &draft.code),
    }
}
