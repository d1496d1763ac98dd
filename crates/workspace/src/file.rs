//! `ordain.toml` as it is written. Every table refuses keys that it does not know.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use ordain_cell::Level;
use ordain_cell::profile::Profile;
use ordain_store::{ColumnDeclaration, Invariant, TableDeclaration};
use ordain_types::{
    Action, Approval, Budgets, ChangePolicy, ColumnNotes, ColumnType, DataNotes, Ending, Limits, Metric,
    Phrasing, Reference, TableNotes, parse_bytes, parse_duration,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use toml::Spanned;

use super::error::{WorkspaceError, line_of};
use super::roles::RolesSection;
use super::schedules::ScheduleSection;

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    pub(super) workspace: WorkspaceSection,
    pub(super) store: StoreSection,
    pub(super) backup: BackupSection,
    #[serde(deserialize_with = "in_order")]
    #[schemars(with = "BTreeMap<String, TableSection>")]
    pub(super) tables: Vec<(String, TableSection)>,
    pub(super) data: BTreeMap<String, DataNotes>,
    pub(super) actions: Vec<Action>,
    pub(super) policy: ChangePolicy,
    pub(super) metrics: Vec<Metric>,
    pub(super) phrasings: Vec<Phrasing>,
    pub(super) invariants: Vec<InvariantSection>,
    pub(super) model: ModelSection,
    pub(super) approval: ApprovalSection,
    pub(super) limits: LimitsSection,
    pub(super) budget: BudgetSection,
    pub(super) python: PythonSection,
    pub(super) sandbox: SandboxSection,
    pub(super) checks: ChecksSection,
    pub(super) tools: BTreeMap<String, ordain_tools::ToolSettings>,
    pub(super) notify: BTreeMap<String, ordain_tools::NotifySettings>,
    pub(super) schedules: Vec<ScheduleSection>,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WorkspaceSection {
    pub(super) name: Option<String>,
    pub(super) statuses: Statuses,
}

/// `["backordered"]`, or `{ backordered = "it comes later" }`.
#[derive(Debug, Default)]
pub(super) struct Statuses(pub(super) BTreeMap<String, String>);

#[derive(Debug, Default, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct StoreSection {
    pub(super) url: Option<String>,
    #[schemars(skip)]
    pub(super) url_line: Option<u64>,
    pub(super) tables: Option<Vec<String>>,
    /// Where the ledger's checkpoint is kept.
    pub(super) checkpoint: Option<String>,
    /// The folder that all nodes of a cluster reach, for files.
    pub(super) files: Option<String>,
    /// The role under which plan SQL runs.
    pub(super) plan_role: Option<String>,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct BackupSection {
    pub(super) to: Option<String>,
    pub(super) every: Option<WrittenDuration>,
    pub(super) keep: Option<usize>,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TableSection {
    description: Option<String>,
    synonyms: Vec<String>,
    seed: Option<String>,
    key: Names,
    append_only: bool,
    read_only: bool,
    hidden: bool,
    hidden_columns: Vec<String>,
    derived: Vec<String>,
    max_rows_changed: Option<u64>,
    columns: BTreeMap<String, ColumnSection>,
    index: Vec<Names>,
    triggers: Triggers,
    pub(super) roles: RolesSection,
}

/// Whether triggers of the database may write rows that no diff shows.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Triggers {
    #[default]
    Refuse,
    Allow,
}

/// `"name"` or `["order_id", "line"]`.
#[derive(Debug, Default, Clone)]
pub(super) struct Names(Vec<String>);

/// `"real"` or `{ type = "real", nullable = false, unit = "USD" }`.
#[derive(Debug, Clone)]
struct ColumnSection {
    declaration: Option<ColumnDeclaration>,
    notes: ColumnNotes,
}

#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct InvariantSection {
    name: String,
    sql: String,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ModelSection {
    pub(super) name: Option<String>,
    pub(super) base_url: Option<String>,
    /// Further models that callers of a server may name.
    pub(super) others: Vec<String>,
    /// Whether the model is shown values of rows beside the schema [default: true].
    pub(super) samples: Option<bool>,
    pub(super) reader: Option<ReaderPlace>,
    pub(super) review: Option<bool>,
    pub(super) review_outline: Option<bool>,
    pub(super) temperature: Option<f64>,
    pub(super) max_tokens: Option<u32>,
    pub(super) timeout: Option<WrittenDuration>,
    pub(super) small: Option<bool>,
    pub(super) effort: Option<String>,
}

/// Which requests the reader answers where a model is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ReaderPlace {
    /// Those that it understands; the model answers the others.
    First,
    /// None.
    Never,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ApprovalSection {
    pub(super) mode: Approval,
    /// Whether every outline waits for a person.
    pub(super) outline: bool,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct BudgetSection {
    steps: Option<u32>,
    tokens: Option<u64>,
    dollars: Option<f64>,
    time: Option<WrittenDuration>,
}

impl BudgetSection {
    pub(super) fn budgets(&self) -> Budgets {
        let usual = Budgets::default();
        Budgets {
            steps: self.steps.unwrap_or(usual.steps),
            tokens: self.tokens.unwrap_or(usual.tokens),
            dollars: self.dollars.or(usual.dollars),
            wall: self.time.as_ref().map_or(usual.wall, |time| time.0),
        }
    }
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LimitsSection {
    pub(super) wall: Option<WrittenDuration>,
    pub(super) cpu: Option<WrittenDuration>,
    pub(super) memory: Option<WrittenBytes>,
    pub(super) processes: Option<u32>,
    pub(super) output: Option<WrittenBytes>,
    artifacts: Option<u32>,
    artifact_bytes: Option<WrittenBytes>,
    pub(super) file: Option<WrittenBytes>,
    pub(super) rounds: Option<u32>,
    /// Whether an outline may commit what is done by a milestone before the rest.
    pub(super) milestones: bool,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PythonSection {
    pub(super) profile: Option<ProfileName>,
    /// Further packages that plans may import, such as `networkx>=3`; `ordain config python lock` locks them.
    pub(super) packages: Vec<String>,
}

#[derive(Debug, Clone, Copy, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ProfileName {
    Core,
    Data,
    Full,
}

impl ProfileName {
    pub(super) fn parse(text: &str) -> Option<Self> {
        [Self::Core, Self::Data, Self::Full].into_iter().find(|name| name.profile().name() == text)
    }

    pub(super) fn profile(self) -> Profile {
        match self {
            Self::Core => Profile::Core,
            Self::Data => Profile::Data,
            Self::Full => Profile::Full,
        }
    }
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SandboxSection {
    pub(super) minimum: Option<LevelName>,
}

#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ChecksSection {
    /// The table that holds the failing rows of each check's last run. Ordain makes it.
    pub(super) failures_table: Option<String>,
    /// The number of rows from which on a database judges a table in place of pandas [default: 2000000].
    pub(super) large_rows: Option<u64>,
    /// The public key of the workspace that compiles checks: with its seal, `check run --frozen` runs code of a model.
    pub(super) key: Option<String>,
    /// What DuckDB may write to disk for a check of such a table [default: 8GiB].
    pub(super) scratch: Option<WrittenBytes>,
}

#[derive(Debug, Clone, Copy, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum LevelName {
    Full,
    Reduced,
    None,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct WrittenDuration(pub(super) Duration);

#[derive(Debug, Clone, Copy)]
pub(super) struct WrittenBytes(pub(super) u64);

/// Reads the file.
pub(super) fn parse(text: &str) -> Result<File, WorkspaceError> {
    let mut file: File = toml::from_str(text).map_err(|error| WorkspaceError::of_toml(text, &error))?;
    // The section keeps the place; only here is the text to count lines in.
    file.store.url_line =
        file.store.url_line.map(|at| line_of(text, usize::try_from(at).unwrap_or(usize::MAX)));
    for (_, table) in &mut file.tables {
        for (_, _, place) in &mut table.roles.0 {
            *place = line_of(text, usize::try_from(*place).unwrap_or(usize::MAX));
        }
    }
    Ok(file)
}

impl TableSection {
    /// The file with the table's first rows, as it is written.
    pub(super) fn seed(&self) -> Option<&str> {
        self.seed.as_deref()
    }

    /// What the section says about meanings.
    pub(super) fn notes(&self) -> TableNotes {
        let noted = self.columns.iter().filter(|(_, column)| column.notes != ColumnNotes::default());
        TableNotes {
            description: self.description.clone(),
            synonyms: self.synonyms.clone(),
            derived: self.derived.clone(),
            decimal: None,
            columns: noted.map(|(name, column)| (name.clone(), column.notes.clone())).collect(),
        }
    }

    pub(super) fn declaration(self, root: &Path, name: String) -> TableDeclaration {
        TableDeclaration {
            name,
            seed: self.seed.map(|seed| root.join(seed)),
            key: self.key.0,
            columns: self
                .columns
                .into_iter()
                .filter_map(|(name, column)| Some((name, column.declaration?)))
                .collect(),
            indexes: self.index.into_iter().map(|names| names.0).collect(),
            append_only: self.append_only,
            read_only: self.read_only,
            hidden: self.hidden,
            hidden_columns: self.hidden_columns,
            max_rows_changed: self.max_rows_changed,
            allows_triggers: self.triggers == Triggers::Allow,
        }
    }
}

impl InvariantSection {
    pub(super) fn invariant(self) -> Invariant {
        Invariant { name: self.name, sql: self.sql }
    }
}

impl LimitsSection {
    pub(super) fn limits(&self) -> Limits {
        let usual = Limits::default();
        let bytes = |written: Option<WrittenBytes>, usual: u64| written.map_or(usual, |written| written.0);
        Limits {
            wall: self.wall.map_or(usual.wall, |wall| wall.0),
            cpu: self.cpu.map(|cpu| cpu.0).or(usual.cpu),
            memory_bytes: bytes(self.memory, usual.memory_bytes),
            work_bytes: usual.work_bytes,
            processes: self.processes.unwrap_or(usual.processes),
            output_bytes: bytes(self.output, usual.output_bytes),
            artifact_bytes: bytes(self.artifact_bytes, usual.artifact_bytes),
            artifacts: self.artifacts.unwrap_or(usual.artifacts),
            file_bytes: bytes(self.file, usual.file_bytes),
        }
    }
}

impl LevelName {
    pub(super) fn parse(text: &str) -> Option<Self> {
        [Self::Full, Self::Reduced, Self::None].into_iter().find(|name| name.level().as_str() == text)
    }

    pub(super) fn level(self) -> Level {
        match self {
            Self::Full => Level::Full,
            Self::Reduced => Level::Reduced,
            Self::None => Level::None,
        }
    }
}

ordain_types::written_as_text!(WrittenDuration, WrittenBytes);

impl JsonSchema for Statuses {
    fn schema_name() -> Cow<'static, str> {
        "Statuses".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let text = json_schema!({ "type": "string" });
        json_schema!({ "anyOf": [
            { "type": "array", "items": text },
            { "type": "object", "additionalProperties": text },
        ] })
    }
}

impl JsonSchema for Names {
    fn schema_name() -> Cow<'static, str> {
        "Names".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
    }
}

impl JsonSchema for ColumnSection {
    fn schema_name() -> Cow<'static, str> {
        "Column".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let forms = [generator.subschema_for::<ColumnType>(), generator.subschema_for::<WrittenColumn>()];
        json_schema!({ "anyOf": forms })
    }
}

impl<'de> Deserialize<'de> for StoreSection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            url: Option<Spanned<String>>,
            tables: Option<Vec<String>>,
            checkpoint: Option<String>,
            files: Option<String>,
            plan_role: Option<String>,
        }
        let written = Written::deserialize(deserializer)?;
        let url_line = written.url.as_ref().map(|url| url.span().start as u64);
        let Written { url, tables, checkpoint, files, plan_role } = written;
        Ok(Self { url: url.map(Spanned::into_inner), url_line, tables, checkpoint, files, plan_role })
    }
}

impl<'de> Deserialize<'de> for Statuses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StatusesVisitor;
        impl<'de> Visitor<'de> for StatusesVisitor {
            type Value = Statuses;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of statuses, or a table that says when each is given")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Statuses, A::Error> {
                let mut statuses = BTreeMap::new();
                while let Some(name) = list.next_element()? {
                    statuses.insert(name, String::new());
                }
                Ok(Statuses(statuses))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut table: A) -> Result<Statuses, A::Error> {
                let mut statuses = BTreeMap::new();
                while let Some((name, when)) = table.next_entry()? {
                    statuses.insert(name, when);
                }
                Ok(Statuses(statuses))
            }
        }
        deserializer.deserialize_any(StatusesVisitor)
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NamesVisitor;
        impl<'de> Visitor<'de> for NamesVisitor {
            type Value = Names;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a column's name or a list of them")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Names, E> {
                Ok(Names(vec![name.to_owned()]))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element()? {
                    names.push(name);
                }
                Ok(Names(names))
            }
        }
        deserializer.deserialize_any(NamesVisitor)
    }
}

impl<'de> Deserialize<'de> for ColumnSection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ColumnVisitor;
        impl<'de> Visitor<'de> for ColumnVisitor {
            type Value = ColumnSection;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a type such as \"real\", or { type = \"real\", nullable = false }")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<ColumnSection, E> {
                let column_type = ColumnType::deserialize(serde::de::value::StrDeserializer::new(name))?;
                let declaration = Some(ColumnDeclaration { column_type, nullable: true });
                Ok(ColumnSection { declaration, notes: ColumnNotes::default() })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ColumnSection, A::Error> {
                WrittenColumn::deserialize(serde::de::value::MapAccessDeserializer::new(map))?
                    .section()
                    .map_err(A::Error::custom)
            }
        }
        deserializer.deserialize_any(ColumnVisitor)
    }
}

#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenColumn {
    #[serde(rename = "type")]
    column_type: Option<ColumnType>,
    nullable: Option<bool>,
    description: Option<String>,
    #[serde(default)]
    synonyms: Vec<String>,
    unit: Option<String>,
    references: Option<Reference>,
    ends: Option<Ending>,
}

impl WrittenColumn {
    fn section(self) -> Result<ColumnSection, &'static str> {
        let Self { column_type, nullable, description, synonyms, unit, references, ends } = self;
        if column_type.is_none() && nullable.is_some() {
            return Err("`nullable` needs the column's `type` beside it");
        }
        let nullable = nullable.unwrap_or(true);
        let declaration = column_type.map(|column_type| ColumnDeclaration { column_type, nullable });
        let notes = ColumnNotes { data_type: None, description, synonyms, unit, references, ends };
        Ok(ColumnSection { declaration, notes })
    }
}

impl<'de> Deserialize<'de> for WrittenDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_duration(&text).map(Self).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for WrittenBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_bytes(&text).map(Self).map_err(D::Error::custom)
    }
}

/// Tables in the order in which they are written: that is the order in which people and models see them.
fn in_order<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, TableSection)>, D::Error> {
    struct TablesVisitor;
    impl<'de> Visitor<'de> for TablesVisitor {
        type Value = Vec<(String, TableSection)>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("tables, as `[tables.NAME]`")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut tables = Vec::new();
            while let Some(table) = map.next_entry()? {
                tables.push(table);
            }
            Ok(tables)
        }
    }
    deserializer.deserialize_map(TablesVisitor)
}

#[cfg(test)]
mod tests {
    use super::super::{Environment, Workspace, environment};
    use super::*;

    #[test]
    fn fuzz_workspace_file() {
        let shop = include_bytes!("../../../examples/sunglasses/ordain.toml");
        let bikes = include_bytes!("../../../examples/bike-parts/ordain.toml");
        let rest = b"[store]\nurl = \"env:X\"\ncheckpoint = \"..\"\n[backup]\nto = \"file:///x\"\nevery = \"1h\"\nkeep = 3\n\
            [limits]\nwall = \"5s\"\nmemory = \"64MiB\"\n[tables.a.columns]\nb = { type = \"real\", nullable = false }\n";
        ordain_testkit::fuzz::run("workspace_file", &[shop, bikes, rest], |input| {
            let text = String::from_utf8_lossy(input);
            let _ = environment::parse(&text);
            if let Ok(file) = parse(&text) {
                let read = Workspace::from_parts(Path::new("/workspace"), file, Environment::of([]));
                let places = read.ok().map(|workspace| (workspace.backup.folder, workspace.checkpoint));
                let is_absolute = |path: &Path| path.is_absolute();
                assert!(places.is_none_or(|(copies, checkpoint)| {
                    is_absolute(&copies) && checkpoint.is_none_or(|path| is_absolute(&path))
                }));
            }
        });
    }
}
