//! Every setting of a workspace, declared once: its key in `ordain.toml`, its variables, what it means.
//!
//! A value comes from the first place that has one: flags, which the commands apply themselves, then the environment
//! and the workspace's `.env`, then `ordain.toml`, then the default.

use ordain_types::{format_bytes, format_duration, parse_bytes, parse_duration};
use serde::Serialize;

use super::environment::{Environment, VariableSource};
use super::error::WorkspaceError;
use super::file::{File, LevelName, ProfileName, ReaderPlace, WrittenBytes, WrittenDuration};
use super::trust::VARIABLE;
use super::{FILE, Workspace};

/// One setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its key in `ordain.toml`; `None` for what never stands in a file.
    pub key: Option<&'static str>,
    /// Its variables, ours first.
    pub variables: &'static [&'static str],
    /// What a bare number in any variable but the first counts.
    unit: &'static str,
    /// What it means.
    pub about: &'static str,
    /// Whether its value is never shown.
    pub is_secret: bool,
    /// Whether it is taken from the environment of the process alone, never from a workspace.
    pub is_of_process: bool,
}

/// A setting's value, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Resolved {
    /// Its key in `ordain.toml`, or its variable.
    pub key: &'static str,
    /// The value; of a secret only whether there is one. `None` if it is not set and has no default.
    pub value: Option<String>,
    /// `environment`, `.env`, `ordain.toml` or `default`.
    pub source: &'static str,
    /// The variable that gave it, where one did.
    pub variable: Option<&'static str>,
    /// The variables that can give it.
    pub variables: &'static [&'static str],
    /// What it means.
    pub about: &'static str,
}

const fn setting(key: &'static str, variables: &'static [&'static str], about: &'static str) -> Setting {
    Setting { key: Some(key), variables, unit: "", about, is_secret: false, is_of_process: false }
}

const fn counted(
    key: &'static str,
    variables: &'static [&'static str],
    unit: &'static str,
    about: &'static str,
) -> Setting {
    Setting { key: Some(key), variables, unit, about, is_secret: false, is_of_process: false }
}

const fn secret(variables: &'static [&'static str], about: &'static str) -> Setting {
    Setting { is_secret: true, ..variable(variables, about) }
}

const fn variable(variables: &'static [&'static str], about: &'static str) -> Setting {
    Setting { key: None, variables, unit: "", about, is_secret: false, is_of_process: false }
}

const fn of_process(variables: &'static [&'static str], about: &'static str) -> Setting {
    Setting { is_of_process: true, ..variable(variables, about) }
}

/// Variables that name the folder for what runs leave.
pub(super) const ARTIFACTS: &[&str] = &["ORDAIN_ARTIFACTS_DIR", "PYTHON_CODE_EXECUTION_DIR"];

/// Variables that say whether what was computed before a failure is kept.
const PARTIAL: &[&str] = &["ORDAIN_ALLOW_PARTIAL_EXECUTION", "PYTHON_CODE_ALLOW_PARTIAL_EXECUTION"];

/// All settings that the environment can give.
pub const SETTINGS: &[Setting] = &[
    setting("workspace.name", &["ORDAIN_WORKSPACE_NAME"], "what the workspace is called"),
    Setting {
        is_secret: true,
        ..setting("store.url", &["ORDAIN_STORE_URL"], "where the rows are: sqlite, postgres://… or env:NAME")
    },
    setting(
        "store.checkpoint",
        &["ORDAIN_STORE_CHECKPOINT"],
        "the folder for the ledger's checkpoint, best on another disk",
    ),
    setting(
        "store.files",
        &["ORDAIN_STORE_FILES"],
        "a folder that all nodes of a cluster reach, for files; without it they are in the database",
    ),
    setting(
        "store.plan_role",
        &["ORDAIN_STORE_PLAN_ROLE"],
        "the role under which plan SQL runs on PostgreSQL",
    ),
    setting("backup.to", &["ORDAIN_BACKUP_TO"], "the folder for copies of the store, best elsewhere"),
    setting("backup.every", &["ORDAIN_BACKUP_EVERY"], "how often a server makes a copy"),
    setting("backup.keep", &["ORDAIN_BACKUP_KEEP"], "how many copies are kept"),
    setting("model.name", &["ORDAIN_MODEL"], "who writes plans: auto, rules, or PROVIDER:MODEL"),
    setting("model.base_url", &["ORDAIN_MODEL_BASE_URL"], "the address of an OpenAI-compatible server"),
    setting(
        "model.others",
        &["ORDAIN_MODEL_OTHERS"],
        "further models that callers of a server may name, separated by commas",
    ),
    setting(
        "model.samples",
        &["ORDAIN_MODEL_SAMPLES"],
        "whether a model is shown values of rows beside the schema",
    ),
    setting(
        "model.reader",
        &["ORDAIN_MODEL_READER"],
        "whether the reader answers what it understands before a model is asked: first or never",
    ),
    setting("model.review", &["ORDAIN_MODEL_REVIEW"], "whether a model gives a second opinion of code"),
    setting(
        "model.review_outline",
        &["ORDAIN_MODEL_REVIEW_OUTLINE"],
        "whether a model gives a second opinion of outlines",
    ),
    setting(
        "model.temperature",
        &["ORDAIN_MODEL_TEMPERATURE"],
        "how freely a model chooses its words, 0 to 2",
    ),
    setting("model.max_tokens", &["ORDAIN_MODEL_MAX_TOKENS"], "the most tokens of a reply"),
    setting("model.timeout", &["ORDAIN_MODEL_TIMEOUT"], "how long a reply may take"),
    setting(
        "model.effort",
        &["ORDAIN_MODEL_EFFORT"],
        "how much a model thinks before it replies: minimal, low, medium, high",
    ),
    setting("model.small", &["ORDAIN_MODEL_SMALL"], "whether the model gets the short prompt"),
    setting("approval.mode", &["ORDAIN_APPROVAL"], "when a change waits for a person: auto, hold, rows>N"),
    counted("limits.wall", &["ORDAIN_LIMITS_WALL", "PYTHON_CODE_TIMEOUT"], "s", "how long code may run"),
    setting("limits.cpu", &["ORDAIN_LIMITS_CPU"], "how much processor time it may use"),
    counted(
        "limits.memory",
        &["ORDAIN_LIMITS_MEMORY", "PYTHON_CODE_MAX_MEMORY"],
        "MiB",
        "how much memory it may use",
    ),
    setting("limits.processes", &["ORDAIN_LIMITS_PROCESSES"], "how many processes and threads it may have"),
    setting("limits.output", &["ORDAIN_LIMITS_OUTPUT"], "how much it may print"),
    counted(
        "limits.file",
        &["ORDAIN_LIMITS_FILE", "PYTHON_CODE_MAX_FILE_SIZE"],
        "MiB",
        "the largest input file",
    ),
    setting(
        "limits.rounds",
        &["ORDAIN_LIMITS_ROUNDS", "PYTHON_CODE_MAX_ITERATIONS"],
        "how many repairs a plan gets",
    ),
    setting("python.profile", &["ORDAIN_PYTHON_PROFILE"], "the packages that plans find: core, data, full"),
    setting("sandbox.minimum", &["ORDAIN_SANDBOX_MINIMUM"], "the isolation below which nothing runs"),
    variable(PARTIAL, "whether what code computed before it failed is kept"),
    secret(&["OPENAI_API_KEY"], "the key for OpenAI"),
    secret(&["ANTHROPIC_API_KEY"], "the key for Anthropic"),
    secret(&["GEMINI_API_KEY", "GOOGLE_API_KEY"], "the key for Gemini"),
    secret(&["OPENROUTER_API_KEY", "API_KEY"], "the key for OpenRouter"),
    secret(&["ORDAIN_API_KEY"], "the key for the server at model.base_url, or for any provider"),
    of_process(&["ORDAIN_WORKSPACE"], "the workspace's folder, where no flag names it"),
    of_process(&[VARIABLE], "folders of workspaces that are accepted as they are, separated by colons"),
    of_process(ARTIFACTS, "where the files that runs leave are kept, if not in the workspace"),
    of_process(&["ORDAIN_DATA_DIR"], "where Python environments are kept"),
    of_process(&["ORDAIN_PYTHON"], "the Python that cells run"),
    of_process(
        &["ORDAIN_RESIDENT"],
        "whether commands use resident helpers and leave them behind: on or off",
    ),
    of_process(&["PYTHON_CODE_ENABLED"], "whether callers may give code: true or false"),
    Setting { is_secret: true, ..of_process(&["ORDAIN_CLUSTER"], "the NATS servers of the cluster") },
    of_process(&["ORDAIN_CLUSTER_CA"], "who signs the certificates of these servers"),
    of_process(&["ORDAIN_CLUSTER_CERT"], "our certificate for these servers"),
    of_process(&["ORDAIN_CLUSTER_KEY"], "the file with its key"),
    of_process(&["ORDAIN_EXECUTOR", "CODE_EXECUTOR_HOST"], "where plans run, if not here"),
    of_process(&["CODE_EXECUTOR_PORT"], "the port of CODE_EXECUTOR_HOST"),
    of_process(&["GRPC_USE_SECURE"], "whether an executor is reached and served by TLS"),
    of_process(&["ORDAIN_EXECUTOR_CA"], "who signs the certificate of the executor that is used"),
    of_process(&["ORDAIN_EXECUTOR_CLIENT_CERT"], "our certificate for the executor that is used"),
    of_process(&["ORDAIN_EXECUTOR_CLIENT_KEY"], "the file with its key"),
    of_process(
        &["ORDAIN_EXECUTOR_ALLOW_PLAINTEXT"],
        "whether the token may go to other machines unencrypted",
    ),
    of_process(&["ORDAIN_EXECUTOR_CERT", "GRPC_CERT_FILE"], "the certificate that `ordain executor` shows"),
    of_process(&["ORDAIN_EXECUTOR_KEY", "GRPC_KEY_FILE"], "the file with its key"),
    of_process(&["ORDAIN_EXECUTOR_CLIENT_CA"], "who signs the certificates of callers of `ordain executor`"),
    Setting {
        is_secret: true,
        ..of_process(&["ORDAIN_EXECUTOR_TOKEN"], "the token between caller and executor")
    },
];

/// Whether a variable is one of ours.
pub(super) fn is_declared(name: &str) -> bool {
    SETTINGS.iter().any(|setting| setting.variables.contains(&name))
}

/// Whether a variable is taken from the process alone: a workspace may come from somebody else, and where code runs
/// and who is trusted there is not for it to say.
pub(super) fn is_of_process(name: &str) -> bool {
    SETTINGS.iter().any(|setting| setting.is_of_process && setting.variables.contains(&name))
}

/// Whether the environment asks to keep what was computed before a failure.
pub(super) fn allows_partial(environment: &Environment) -> bool {
    let said = PARTIAL.iter().find_map(|name| environment.get(name));
    said.is_some_and(|value| switch(&value) == Ok(true))
}

/// The limits that hold where there is no workspace: what the environment says, else the defaults.
pub fn limits_without_workspace() -> Result<ordain_types::Limits, WorkspaceError> {
    let mut file = File::default();
    apply(&mut file, &Environment::default())?;
    Ok(file.limits.limits())
}

/// The JSON Schema of `ordain.toml`, made from the types that read it, with what each setting means.
pub fn config_schema() -> serde_json::Value {
    let generator = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        // Sections stand where they are used, so that each setting can be described there.
        settings.inline_subschemas = true;
    });
    let mut schema = generator.into_generator().into_root_schema_for::<File>().to_value();
    schema["title"] = "ordain.toml: a workspace of Ordain".into();
    for setting in SETTINGS {
        if let Some((section, name)) = setting.key.and_then(|key| key.split_once('.')) {
            schema["properties"][section]["properties"][name]["description"] = setting.about.into();
        }
    }
    schema
}

/// Puts what the environment says over what the file says.
pub(super) fn apply(file: &mut File, environment: &Environment) -> Result<(), WorkspaceError> {
    for setting in SETTINGS {
        let (Some(key), Some((value, variable, _))) = (setting.key, setting.find(environment)) else {
            continue;
        };
        set(file, key, &value).map_err(|message| WorkspaceError {
            file: variable.to_owned(),
            line: None,
            message,
            hint: Some(setting.about.to_owned()),
        })?;
    }
    Ok(())
}

impl Setting {
    /// The value in the environment, the variable that has it, and where that was found.
    fn find(&self, environment: &Environment) -> Option<(String, &'static str, VariableSource)> {
        self.variables.iter().enumerate().find_map(|(index, &variable)| {
            let (value, place) = environment.find(variable)?;
            let value = value.trim();
            let is_bare = index > 0 && value.bytes().all(|byte| byte.is_ascii_digit());
            let unit = if is_bare { self.unit } else { "" };
            Some((format!("{value}{unit}"), variable, place))
        })
    }
}

fn set(file: &mut File, key: &str, value: &str) -> Result<(), String> {
    let text = || Some(value.to_owned());
    let duration = || parse_duration(value).map(WrittenDuration).map(Some).map_err(|error| error.to_string());
    let bytes = || parse_bytes(value).map(WrittenBytes).map(Some).map_err(|error| error.to_string());
    match key {
        "workspace.name" => file.workspace.name = text(),
        "store.url" => file.store.url = text(),
        "store.checkpoint" => file.store.checkpoint = text(),
        "store.files" => file.store.files = text(),
        "store.plan_role" => file.store.plan_role = text(),
        "backup.to" => file.backup.to = text(),
        "backup.every" => file.backup.every = duration()?,
        "backup.keep" => file.backup.keep = Some(number(value)?),
        "model.name" => file.model.name = text(),
        "model.base_url" => file.model.base_url = text(),
        "model.others" => file.model.others = names(value),
        "model.samples" => file.model.samples = Some(switch(value)?),
        "model.reader" => file.model.reader = Some(reader(value)?),
        "model.review" => file.model.review = Some(switch(value)?),
        "model.review_outline" => file.model.review_outline = Some(switch(value)?),
        "model.effort" => file.model.effort = text(),
        "model.small" => file.model.small = Some(switch(value)?),
        "model.temperature" => file.model.temperature = Some(number(value)?),
        "model.max_tokens" => file.model.max_tokens = Some(number(value)?),
        "model.timeout" => file.model.timeout = duration()?,
        "approval.mode" => file.approval.mode = value.parse()?,
        "limits.wall" => file.limits.wall = duration()?,
        "limits.cpu" => file.limits.cpu = duration()?,
        "limits.memory" => file.limits.memory = bytes()?,
        "limits.processes" => file.limits.processes = Some(number(value)?),
        "limits.output" => file.limits.output = bytes()?,
        "limits.file" => file.limits.file = bytes()?,
        "limits.rounds" => file.limits.rounds = Some(number(value)?),
        "python.profile" => {
            file.python.profile = Some(ProfileName::parse(value).ok_or("it is core, data or full")?);
        }
        "sandbox.minimum" => {
            file.sandbox.minimum = Some(LevelName::parse(value).ok_or("it is full, reduced or none")?);
        }
        other => return Err(format!("`{other}` cannot be set by the environment")),
    }
    Ok(())
}

/// Names that are separated by commas.
fn names(value: &str) -> Vec<String> {
    value.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn switch(value: &str) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err("it is true or false".to_owned()),
    }
}

fn reader(value: &str) -> Result<ReaderPlace, String> {
    match value {
        "first" => Ok(ReaderPlace::First),
        "never" => Ok(ReaderPlace::Never),
        _ => Err("it is first or never".to_owned()),
    }
}

fn number<T: std::str::FromStr>(value: &str) -> Result<T, String> {
    value
        .parse()
        .map_err(|_| format!("`{}` is not a fitting number", value.chars().take(40).collect::<String>()))
}

/// Every setting of a workspace with its value and source.
pub(super) fn resolved(workspace: &Workspace, written: &toml::Table) -> Vec<Resolved> {
    let is_written = |key: &str| {
        let (section, name) = key.split_once('.').unwrap_or((key, ""));
        written.get(section).and_then(toml::Value::as_table).is_some_and(|table| table.contains_key(name))
    };
    let resolve = |setting: &Setting| {
        let found = setting.find(&workspace.environment);
        let source = match (&found, setting.key) {
            (Some((_, _, VariableSource::Process)), _) => "environment",
            (Some((_, _, VariableSource::File)), _) => ".env",
            (None, Some(key)) if is_written(key) => FILE,
            _ => "default",
        };
        let value = match setting.key {
            Some(key) => value(workspace, key),
            None if setting.is_secret => found.as_ref().map(|_| "set, not shown".to_owned()),
            None => found.as_ref().map(|(value, _, _)| value.chars().take(200).collect()),
        };
        Resolved {
            key: setting.key.unwrap_or(setting.variables[0]),
            value,
            source,
            variable: found.map(|(_, variable, _)| variable),
            variables: setting.variables,
            about: setting.about,
        }
    };
    SETTINGS.iter().map(resolve).collect()
}

fn value(workspace: &Workspace, key: &str) -> Option<String> {
    let (model, limits) = (&workspace.model, &workspace.limits);
    Some(match key {
        "workspace.name" => workspace.name.clone(),
        "store.url" => match &workspace.database {
            ordain_store::Database::Sqlite { .. } => "sqlite".to_owned(),
            // A connection string may hold a password.
            ordain_store::Database::Postgres { .. } => "postgres://…".to_owned(),
        },
        "store.checkpoint" => {
            return workspace.checkpoint.as_ref().map(|path| path.display().to_string());
        }
        "store.files" => return workspace.shared_files.as_ref().map(|folder| folder.display().to_string()),
        "store.plan_role" => return workspace.plan_role.clone(),
        "backup.to" => workspace.backup.folder.display().to_string(),
        "backup.every" => return workspace.backup.every.map(format_duration),
        "backup.keep" => return workspace.backup.keep.map(|keep| keep.to_string()),
        "model.name" => model.name.clone(),
        "model.base_url" => return model.base_url.clone(),
        "model.others" => model.others.keys().cloned().collect::<Vec<_>>().join(", "),
        "model.samples" => model.samples.to_string(),
        "model.reader" => if model.reader_first { "first" } else { "never" }.to_owned(),
        "model.review" => model.review.to_string(),
        "model.review_outline" => model.review_outline.to_string(),
        "model.temperature" => return model.temperature.map(|temperature| temperature.to_string()),
        "model.max_tokens" => model.tokens_max.to_string(),
        "model.timeout" => format_duration(model.timeout),
        "model.effort" => return model.effort.clone(),
        "model.small" => model.is_small.map_or_else(|| "by the model's name".to_owned(), |is| is.to_string()),
        "approval.mode" => workspace.approval.to_string(),
        "limits.wall" => format_duration(limits.wall),
        "limits.cpu" => return limits.cpu.map(format_duration),
        "limits.memory" => format_bytes(limits.memory_bytes),
        "limits.processes" => limits.processes.to_string(),
        "limits.output" => format_bytes(limits.output_bytes),
        "limits.file" => format_bytes(limits.file_bytes),
        "limits.rounds" => workspace.rounds.to_string(),
        "python.profile" => workspace.profile.to_string(),
        "sandbox.minimum" => workspace.minimum_isolation.to_string(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// What a schema says about a value that stands where the schema is; the first thing that does not fit.
    fn misfit(schema: &Value, value: &Value, at: &str) -> Option<String> {
        if let Some(forms) = schema["anyOf"].as_array() {
            let fits = forms.iter().any(|form| misfit(form, value, at).is_none());
            return (!fits).then(|| format!("{at} has none of the forms"));
        }
        match value {
            Value::Object(members) => members.iter().find_map(|(name, member)| {
                let at = format!("{at}.{name}");
                match (schema["properties"].get(name), &schema["additionalProperties"]) {
                    (Some(known), _) => misfit(known, member, &at),
                    (None, of_any @ Value::Object(_)) => misfit(of_any, member, &at),
                    (None, _) => Some(format!("{at} is unknown")),
                }
            }),
            Value::Array(items) => items.iter().find_map(|item| misfit(&schema["items"], item, at)),
            Value::String(_) => {
                let kind = &schema["type"];
                let is_text =
                    kind.is_null() || kind == "string" || kind == &serde_json::json!(["string", "null"]);
                (!is_text).then(|| format!("{at} is no text"))
            }
            _ => None,
        }
    }

    #[test]
    fn every_example_fits_the_schema_and_a_slip_does_not() {
        let schema = config_schema();
        for example in crate::EXAMPLES {
            let text = example.text("ordain.toml").unwrap();
            let written: Value = serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap();
            assert_eq!(misfit(&schema, &written, example.name), None);
        }
        let slip = serde_json::json!({ "tables": { "a": { "apend_only": true } } });
        assert_eq!(misfit(&schema, &slip, "file").as_deref(), Some("file.tables.a.apend_only is unknown"));
    }

    #[test]
    fn every_setting_with_a_key_is_one_of_the_file() {
        let schema = config_schema();
        for key in SETTINGS.iter().filter_map(|setting| setting.key) {
            let (section, name) = key.split_once('.').unwrap();
            let found = &schema["properties"][section]["properties"][name];
            assert!(found.as_object().is_some_and(|known| known.len() > 1), "{key}: {found}");
        }
    }
}
