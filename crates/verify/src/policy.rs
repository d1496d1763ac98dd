//! What the workspace and its profile allow, as plain data.

use std::fmt;
use std::str::FromStr;

use ordain_types::{STATUSES, Tool};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::contract::Contract;
use crate::data::profiles;

/// The rules that code is judged by. Every field is plain data: start from [`Policy::for_contract`] and change
/// what differs.
///
/// ```
/// use ordain_verify::{Contract, Helper, Policy};
///
/// let policy = Policy {
///     read_only: true,
///     helpers: vec![Helper::reads("get_current_balance")],
///     ..Policy::for_contract(Contract::Ask)
/// };
/// assert!(policy.statuses.iter().any(|status| status == "no_match"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Which promises the code has to keep.
    pub contract: Contract,
    /// The Python that the cell runs.
    pub python: PythonVersion,
    /// Top-level modules of the profile, as they are imported (`sklearn`, not `scikit-learn`). The standard
    /// library needs no entry.
    #[serde(default)]
    pub packages: Vec<String>,
    /// Modules that may be imported although Ordain blocks them by default.
    #[serde(default)]
    pub allowed_imports: Vec<String>,
    /// Modules that may not be imported although Ordain allows them by default.
    #[serde(default)]
    pub blocked_imports: Vec<String>,
    /// Functions that may be called although Ordain blocks them by default (`open`, `os.system`).
    #[serde(default)]
    pub allowed_calls: Vec<String>,
    /// Functions that may not be called although Ordain allows them by default.
    #[serde(default)]
    pub blocked_calls: Vec<String>,
    /// The statuses that `STATUS` (or a check's `result["status"]`) may have.
    #[serde(default)]
    pub statuses: Vec<String>,
    /// Nothing may be written.
    #[serde(default)]
    pub read_only: bool,
    /// The code must give the same result on the same data: reading the clock is worth a warning too.
    #[serde(default)]
    pub repeatable: bool,
    /// Functions that the workspace gives to plans.
    #[serde(default)]
    pub helpers: Vec<Helper>,
    /// Tools that the code may call.
    #[serde(default)]
    pub tools: Vec<Tool>,
    /// Names that the cell defines before the code starts, tables and helpers aside.
    #[serde(default)]
    pub names: Vec<String>,
    /// How large the code may be.
    #[serde(default)]
    pub limits: CodeLimits,
}

/// A function that the workspace owner gives to plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Helper {
    /// Its name, as plans call it.
    pub name: String,
    /// Whether it may write to a table that it is given.
    #[serde(default)]
    pub may_write: bool,
}

impl Helper {
    /// A helper that only reads.
    pub fn reads(name: impl Into<String>) -> Self {
        Self { name: name.into(), may_write: false }
    }

    /// A helper that may write.
    pub fn writes(name: impl Into<String>) -> Self {
        Self { name: name.into(), may_write: true }
    }
}

/// How large code may be. Passing one is a `too-long` or `too-deep` finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeLimits {
    /// Size of the source.
    pub bytes_max: usize,
    /// Brackets inside brackets. CPython's tokenizer stops at 200.
    pub brackets_max: usize,
    /// Blocks inside blocks. CPython's tokenizer stops at 100.
    pub blocks_max: usize,
    /// Operators, calls and attributes in one expression, one inside the other (`a.b.c` counts 2).
    pub depth_max: usize,
    /// Findings in one verdict; the rest are counted, not listed.
    pub findings_max: usize,
}

impl CodeLimits {
    const fn closed() -> Self {
        Self {
            bytes_max: 1024 * 1024,
            brackets_max: 200,
            blocks_max: 100,
            depth_max: 1000,
            findings_max: 100,
        }
    }

    /// CPython gives up on an expression somewhere between 3 000 and 10 000 levels, depending on its version.
    /// What it would still start must not be stopped here.
    const fn open() -> Self {
        Self { bytes_max: 4 * 1024 * 1024, depth_max: 10_000, ..Self::closed() }
    }
}

impl Default for CodeLimits {
    fn default() -> Self {
        Self::closed()
    }
}

impl Policy {
    /// The policy that holds for a contract where the workspace says nothing else.
    pub fn for_contract(contract: Contract) -> Self {
        let (packages, names): (&[&str], &[&str]) = match contract {
            Contract::Ask | Contract::Check => (profiles::DATA, PLAN_NAMES),
            Contract::Code => (profiles::FULL, CODE_NAMES),
            Contract::Exec => (profiles::FULL, EXEC_NAMES),
            Contract::Open => (&[], &[]),
        };
        let statuses = match contract {
            Contract::Ask | Contract::Code => {
                STATUSES.iter().map(|(name, _)| *name).chain([EARLIER_STATUS]).collect()
            }
            Contract::Check => CHECK_STATUSES.to_vec(),
            Contract::Exec | Contract::Open => Vec::new(),
        };
        let is_open = contract == Contract::Open;
        Self {
            contract,
            // An open program is stopped only for what no Python would start.
            python: if is_open { PythonVersion::NEWEST } else { PythonVersion::default() },
            packages: owned(packages),
            allowed_imports: Vec::new(),
            blocked_imports: Vec::new(),
            allowed_calls: Vec::new(),
            blocked_calls: Vec::new(),
            statuses: owned(&statuses),
            read_only: contract == Contract::Check,
            repeatable: contract == Contract::Check,
            helpers: Vec::new(),
            tools: Vec::new(),
            names: owned(names),
            limits: if is_open { CodeLimits::open() } else { CodeLimits::closed() },
        }
    }

    /// The same policy with the modules of another profile.
    #[must_use]
    pub fn with_packages<'a>(self, packages: impl IntoIterator<Item = &'a str>) -> Self {
        Self { packages: packages.into_iter().map(str::to_owned).collect(), ..self }
    }

    /// The same policy for another Python.
    #[must_use]
    pub fn with_python(self, python: PythonVersion) -> Self {
        Self { python, ..self }
    }

    /// A helper by its name.
    pub fn helper(&self, name: &str) -> Option<&Helper> {
        self.helpers.iter().find(|helper| helper.name == name)
    }
}

const PLAN_NAMES: &[&str] =
    &["user_request", "params", "db", "Query", "where", "files", "frame", "sql", "inputs", "artifacts"];
const CODE_NAMES: &[&str] = &["user_request", "params", "files", "frame", "sql", "inputs", "artifacts"];
const EXEC_NAMES: &[&str] = &["files", "inputs", "artifacts"];
/// A shop's status that plans of earlier versions give; workspaces declare it now.
const EARLIER_STATUS: &str = "insufficient_stock";
const CHECK_STATUSES: &[&str] = &["PASS", "FAIL"];

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// A version of Python, written `3.11`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PythonVersion {
    /// 3.
    pub major: u8,
    /// The number after the dot.
    pub minor: u8,
}

impl PythonVersion {
    /// The oldest Python that cells run.
    pub const OLDEST: Self = Self { major: 3, minor: 10 };
    /// The newest Python whose syntax the verifier knows.
    pub const NEWEST: Self = Self { major: 3, minor: 14 };
}

impl Default for PythonVersion {
    fn default() -> Self {
        Self { major: 3, minor: 11 }
    }
}

impl fmt::Display for PythonVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

/// The text is no version of Python that cells run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPython(String);

impl fmt::Display for UnknownPython {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (oldest, newest) = (PythonVersion::OLDEST, PythonVersion::NEWEST);
        write!(formatter, "`{}` is not a Python version; write one from {oldest} to {newest}", self.0)
    }
}

impl std::error::Error for UnknownPython {}

impl FromStr for PythonVersion {
    type Err = UnknownPython;

    /// Reads `3.11`; a patch level (`3.11.7`) is passed over.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || UnknownPython(text.chars().take(20).collect());
        let mut parts = text.trim().split('.');
        let mut number = || parts.next().and_then(|part| part.parse::<u8>().ok()).ok_or_else(wrong);
        let version = Self { major: number()?, minor: number()? };
        if (Self::OLDEST..=Self::NEWEST).contains(&version) { Ok(version) } else { Err(wrong()) }
    }
}

impl Serialize for PythonVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PythonVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
