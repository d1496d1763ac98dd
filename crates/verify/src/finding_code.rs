//! The kinds of findings: their stable names and how much they weigh.
//!
//! `docs/reference/findings.md` says of each why it exists and what to do about it. A test runs its examples: the first
//! must give the finding, the second must be accepted.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::finding::Severity::{self, Error, Warning};

macro_rules! finding_codes {
    ($($(#[$doc:meta])* $variant:ident $name:literal $severity:ident,)*) => {
        /// The kind of a finding. Its text form is kebab-case and stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum FindingCode {
            $($(#[$doc])* $variant,)*
        }

        impl FindingCode {
            /// Every kind, in the order of the reference.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The stable name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// How much it weighs where nothing lightens it.
            pub const fn severity(self) -> Severity {
                match self {
                    $(Self::$variant => $severity,)*
                }
            }
        }
    };
}

finding_codes! {
    /// The text is not Python.
    SyntaxError "syntax-error" Error,
    /// The bytes are not UTF-8.
    NotUtf8 "not-utf8" Error,
    /// The source contains a NUL byte.
    NullByte "null-byte" Error,
    /// The source is larger than the limit.
    TooLong "too-long" Error,
    /// Brackets, blocks or operators are nested deeper than the limit.
    TooDeep "too-deep" Error,
    /// The module may not be imported.
    BlockedImport "blocked-import" Error,
    /// The module is not in the profile.
    UnknownImport "unknown-import" Error,
    /// `from module import *`.
    StarImport "star-import" Error,
    /// A well-known module is used without an import.
    MissingImport "missing-import" Error,
    /// A name is used that nothing defines.
    UndefinedName "undefined-name" Error,
    /// The function may not be called.
    BlockedCall "blocked-call" Error,
    /// An attribute that leads into the interpreter.
    DunderAccess "dunder-access" Error,
    /// The table does not exist.
    UnknownTable "unknown-table" Error,
    /// The table has no such column.
    UnknownColumn "unknown-column" Error,
    /// The column is hidden from plans.
    HiddenColumn "hidden-column" Error,
    /// The table is hidden from plans and is read.
    ReadsHiddenTable "reads-hidden-table" Error,
    /// The table is hidden from plans and is written.
    WritesHiddenTable "writes-hidden-table" Error,
    /// A table, query or database has no such method.
    UnknownMethod "unknown-method" Error,
    /// Conditions joined with `and`, `or`, `not` or `in`.
    ConditionLogic "condition-logic" Error,
    /// A value that the column cannot hold.
    WrongType "wrong-type" Error,
    /// SQL that writes, given to `db.query`.
    SqlWrite "sql-write" Error,
    /// No path sets `answer_text` or `result`.
    MissingAnswer "missing-answer" Error,
    /// No path sets `STATUS`.
    MissingStatus "missing-status" Error,
    /// A write where nothing may be written.
    WriteInReadOnly "write-in-read-only" Error,
    /// A row of an append-only table would be changed or removed.
    AppendOnlyUpdate "append-only-update" Error,
    /// A loop variable is captured by a function that runs after the loop.
    CapturedVariable "captured-variable" Error,
    /// Chance or the clock decides.
    Nondeterministic "nondeterministic" Warning,
    /// A loop that nothing ends.
    UnboundedLoop "unbounded-loop" Warning,
    /// A tool, a verb or an argument that was not reviewed, or a tool that is not called where it stands.
    UnknownTool "unknown-tool" Error,
    /// A value is computed and dropped.
    UnusedResult "unused-result" Warning,
}

impl fmt::Display for FindingCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for FindingCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for FindingCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.as_str() == name)
            .ok_or_else(|| de::Error::custom(format!("`{name}` is not a kind of finding")))
    }
}
