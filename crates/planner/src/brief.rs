//! What a planner is shown, as plain data.

mod counted;
mod key;
mod shape;

use std::collections::BTreeMap;
use std::sync::Arc;

use ordain_types::{Catalog, Limits, Outline, OutlineStep, Question, Table};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use counted::TableCount;
pub use key::question_key;

/// Exactly what the planner is shown.
#[derive(Debug, Clone)]
pub struct Brief {
    /// What kind of plan is wanted.
    pub task: Task,
    /// What is asked, in words. For a check, its hint.
    pub request: String,
    /// The workspace's policy, as its owner wrote it.
    pub policy: String,
    /// What the engine checks before a commit.
    pub invariants: Vec<InvariantBrief>,
    /// The tables, hidden ones and hidden columns left out. Briefs share them, because they hold whole columns.
    pub tables: Arc<Vec<TableBrief>>,
    /// What the owner says about the data, and the verbs that change it.
    pub catalog: Arc<Catalog>,
    /// The source of the workspace's helpers.
    pub helpers: String,
    /// Files that were given with the request.
    pub files: Vec<FileBrief>,
    /// The statuses that a plan may give, and when it gives each.
    pub statuses: Vec<(String, String)>,
    /// The database whose SQL queries are written in; nothing where it is not known.
    pub database: String,
    /// The day, as `2026-03-14`, in UTC; nothing where no clock was read.
    pub today: String,
    /// Packages that may be imported besides the standard library.
    pub packages: Vec<String>,
    /// What the code may use.
    pub limits: Limits,
    /// Earlier turns of the conversation, oldest first.
    pub turns: Vec<Turn>,
    /// Verified plans of this workspace for requests like this one.
    pub examples: Vec<Example>,
    /// What a reply may be besides a program and a question.
    pub forms: Forms,
    /// Questions that the person has answered.
    pub answers: Vec<Question>,
    /// Where a run of several steps stands.
    pub stage: Stage,
}

/// What a reply may be besides a program and a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forms {
    /// How often the planner may look at the data before it replies with a plan.
    pub looks: u32,
    /// Whether the reply may be an outline.
    pub outline: OutlineForm,
}

/// Whether a reply may be an outline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OutlineForm {
    /// It may not.
    #[default]
    Never,
    /// It may, where one program would not do.
    Allowed,
    /// It has to be one.
    Required,
}

/// Where a run of several steps stands when a planner is asked.
#[derive(Debug, Clone, Default)]
pub enum Stage {
    /// The whole request is asked for.
    #[default]
    Whole,
    /// One step of an outline.
    Step(Box<StepBrief>),
    /// An outline of what is left, after a step failed.
    Replan {
        /// The outline so far.
        outline: Outline,
        /// The results of the steps that are done and stay.
        done: Map<String, Value>,
        /// What went wrong.
        why: String,
    },
    /// The next step of a session, in which the planner sees what each step printed.
    React {
        /// How many steps the run may have.
        steps: u32,
    },
}

/// One step of an outline, as the planner sees it.
#[derive(Debug, Clone, Default)]
pub struct StepBrief {
    /// The whole outline.
    pub outline: Outline,
    /// The step that is asked for.
    pub step: OutlineStep,
    /// What earlier steps gave, as code reads it from `inputs`.
    pub inputs: Map<String, Value>,
    /// Whether its answer is the run's answer.
    pub is_last: bool,
}

/// What kind of plan is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Answers a request and may change rows.
    Ask,
    /// Judges rows by a standing rule.
    Check,
    /// Answers a question about files.
    Code,
}

/// One rule that the engine enforces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvariantBrief {
    /// What its owner calls it.
    pub name: String,
    /// The query that must return no row.
    pub sql: String,
}

/// A table as the planner sees it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TableBrief {
    /// Its shape and rules.
    pub table: Table,
    /// How many rows it has.
    pub rows: u64,
    /// What its columns hold, in the order of the table's columns.
    pub columns: Vec<ColumnBrief>,
    /// Columns whose meaning the owner declared: role to column.
    pub roles: BTreeMap<String, String>,
    /// Columns that point to another table: column, table, column there.
    pub references: Vec<(String, String, String)>,
    /// Column lists by which rows are found without a scan.
    pub indexes: Vec<Vec<String>>,
}

/// What a column holds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ColumnBrief {
    /// Its name.
    pub name: String,
    /// The share of rows without a value.
    pub null_share: f64,
    /// A few of its values.
    pub samples: Vec<Value>,
    /// All of its distinct values, where they are few enough to be kept.
    pub values: Option<Vec<Value>>,
    /// What its JSON values look like, taken together.
    pub shape: Option<String>,
    /// What its numbers count, where the data says so: a currency, `kg`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// How its cells were read, where that is known: their type, and how they are written.
    #[serde(skip)]
    pub reading: Value,
}

/// A file that was given with the request, as it was found in a cell.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FileBrief {
    /// The name by which code finds it in `files`.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its kind: `csv`, `xlsx`, `pdf` …
    pub kind: String,
    /// What a look into it told: encoding, rows, columns with types and samples, sheets, pages, shapes, members.
    pub facts: Value,
}

/// An earlier turn of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// What was asked.
    pub request: String,
    /// What was answered.
    pub answer: String,
    /// With which status.
    pub status: Option<String>,
    /// By which run.
    pub run_id: Option<String>,
}

/// A verified plan for a request like this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// What was asked.
    pub request: String,
    /// The code that answered it.
    pub code: String,
}

impl Brief {
    /// A brief with nothing but the request.
    pub fn new(task: Task, request: &str) -> Self {
        Self {
            task,
            request: request.to_owned(),
            policy: String::new(),
            invariants: Vec::new(),
            tables: Arc::default(),
            catalog: Arc::default(),
            helpers: String::new(),
            files: Vec::new(),
            statuses: Vec::new(),
            database: String::new(),
            today: String::new(),
            packages: Vec::new(),
            limits: Limits::default(),
            turns: Vec::new(),
            examples: Vec::new(),
            forms: Forms::default(),
            answers: Vec::new(),
            stage: Stage::Whole,
        }
    }

    /// The same with the shape of tables and files alone, for a model that is to see no value of a row. A look would show
    /// some, so that none is offered.
    pub(crate) fn without_values(&self) -> Self {
        let table = |table: &TableBrief| TableBrief {
            columns: table.columns.iter().map(ColumnBrief::without_values).collect(),
            ..table.clone()
        };
        let file = |file: &FileBrief| FileBrief { facts: shape_of_facts(&file.facts), ..file.clone() };
        Self {
            tables: Arc::new(self.tables.iter().map(table).collect()),
            files: self.files.iter().map(file).collect(),
            forms: Forms { looks: 0, ..self.forms },
            ..self.clone()
        }
    }

    /// The table of that name.
    pub fn table(&self, name: &str) -> Option<&TableBrief> {
        self.tables.iter().find(|brief| brief.table.name == name)
    }
}

impl ColumnBrief {
    fn without_values(&self) -> Self {
        Self {
            name: self.name.clone(),
            null_share: self.null_share,
            unit: self.unit.clone(),
            ..Self::default()
        }
    }
}

/// The facts about a file that describe its shape alone. All others may contain values of its rows.
fn shape_of_facts(facts: &Value) -> Value {
    const SHAPE: [&str; 12] = [
        "bytes",
        "columns",
        "columns_total",
        "encoding",
        "name",
        "pages",
        "rows",
        "separator",
        "sheets",
        "tables",
        "type",
        "unit",
    ];
    match facts {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| SHAPE.contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| (name.clone(), shape_of_facts(value))).collect())
        }
        Value::Array(items) => items.iter().map(shape_of_facts).collect(),
        other => other.clone(),
    }
}
