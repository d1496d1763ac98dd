//! What a server offers, as it was reviewed: pinned in `tools.lock.json` beside `ordain.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use ordain_types::{Tool, Verb};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::settings::ToolSettings;

/// The file with the reviewed lists.
pub(crate) const FILE: &str = "tools.lock.json";
/// The largest such file.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// The verbs of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The verbs by name.
    pub verbs: BTreeMap<String, Offer>,
}

/// One verb, as its server describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// What it does, in the server's words. It is untrusted text.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input: Value,
    /// The JSON Schema of what it gives, where the server has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

/// What differs between two lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// A verb that was not there before.
    Added(String),
    /// A verb that is gone.
    Removed(String),
    /// A verb whose words, arguments or results differ.
    Changed(String),
}

impl std::fmt::Display for Difference {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Added(verb) => write!(formatter, "`{verb}` is new"),
            Self::Removed(verb) => write!(formatter, "`{verb}` is gone"),
            Self::Changed(verb) => write!(formatter, "`{verb}` is described otherwise"),
        }
    }
}

impl Snapshot {
    /// What differs in a newer list.
    pub fn differences(&self, newer: &Self) -> Vec<Difference> {
        let mut found: Vec<Difference> = newer
            .verbs
            .iter()
            .filter_map(|(name, offer)| match self.verbs.get(name) {
                None => Some(Difference::Added(name.clone())),
                Some(known) if known != offer => Some(Difference::Changed(name.clone())),
                Some(_) => None,
            })
            .collect();
        let is_gone = |name: &&String| !newer.verbs.contains_key(*name);
        found.extend(self.verbs.keys().filter(is_gone).cloned().map(Difference::Removed));
        found
    }

    /// The tool as the verifier and the host know it.
    pub fn tool(&self, name: &str, settings: &ToolSettings) -> Tool {
        let verb = |(name, offer): (&String, &Offer)| {
            let params = offer.input["properties"].as_object();
            let required = offer.input["required"].as_array().into_iter().flatten();
            let verb = Verb {
                params: params
                    .into_iter()
                    .flatten()
                    .map(|(name, schema)| (name.clone(), schema.clone()))
                    .collect(),
                required: required.filter_map(|name| name.as_str().map(str::to_owned)).collect(),
                reads: settings.reads.contains(name),
                description: offer.description.clone(),
            };
            (name.clone(), verb)
        };
        Tool {
            name: name.to_owned(),
            verbs: self.verbs.iter().map(verb).collect(),
            tables: settings.tables.clone(),
        }
    }
}

/// The reviewed lists of a workspace, by tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SnapshotFile(pub BTreeMap<String, Snapshot>);

impl SnapshotFile {
    /// Reads the file of a workspace; nothing was reviewed if there is none.
    pub fn read(root: &Path) -> Result<Self, String> {
        use std::io::Read as _;
        let path = root.join(FILE);
        let file = match fs_err::File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error.to_string()),
        };
        let mut text = String::new();
        file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(|error| error.to_string())?;
        serde_json::from_str(&text)
            .map_err(|error| format!("`{FILE}` is not what `ordain tools review` writes: {error}"))
    }

    /// Writes the file, whole or not at all.
    pub fn write(&self, root: &Path) -> std::io::Result<()> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        let draft = root.join(format!("{FILE}.{}", std::process::id()));
        fs_err::write(&draft, text)?;
        fs_err::rename(draft, root.join(FILE))
    }
}
