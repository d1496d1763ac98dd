//! The words of a header's `after` field: what the host must find true once a program has ended.

use std::fmt;

/// One thing that must hold after a program has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// No process of the cell is left one second later.
    NoLeftoverProcess,
    /// The probe, run next, finds nothing.
    NextCellClean,
    /// A program in another cell at the same time notices nothing.
    NeighbourUnharmed,
    /// Two copies at once do not find each other.
    PairIsolated,
    /// The outcome comes in time, and a timeout not too early.
    DeadlineWithin500ms,
    /// The executor's memory stays flat.
    SupervisorMemoryFlat,
    /// Output is within its limit, and marked as cut.
    StdoutTruncatedMarked,
    /// Nothing but ordinary files within the limits is collected, and the rest is reported.
    ArtifactsRefused,
    /// Every collected name is plain.
    ArtifactNamesSafe,
    /// What could act when opened is refused or carries a warning.
    ActiveContentFlagged,
    /// No file appears or changes outside the artifacts.
    NoArtifactOutside,
    /// No core file appears.
    NoCoreFile,
    /// Neither the canary nor a host file is in anything that came out.
    NoHostFileContent,
    /// No planted listener heard anything.
    NoPacketReceived,
    /// Log and record hold no raw control characters and nothing that poses as a record.
    LogEscaped,
    /// No field of the host's own holds what the program forged.
    ResultNotForged,
    /// The reported diff is what really changed.
    WritesComplete,
    /// The data is as it was.
    DataUnchanged,
    /// Two runs give different values.
    DiffersBetweenCells,
    /// A word that nobody here knows. It never holds.
    Unknown(String),
}

const NAMES: [(&str, Word); 19] = [
    ("no-leftover-process", Word::NoLeftoverProcess),
    ("next-cell-clean", Word::NextCellClean),
    ("neighbour-unharmed", Word::NeighbourUnharmed),
    ("pair-isolated", Word::PairIsolated),
    ("deadline-within-500ms", Word::DeadlineWithin500ms),
    ("supervisor-memory-flat", Word::SupervisorMemoryFlat),
    ("stdout-truncated-marked", Word::StdoutTruncatedMarked),
    ("artifacts-refused", Word::ArtifactsRefused),
    ("artifact-names-safe", Word::ArtifactNamesSafe),
    ("active-content-flagged", Word::ActiveContentFlagged),
    ("no-artifact-outside", Word::NoArtifactOutside),
    ("no-core-file", Word::NoCoreFile),
    ("no-host-file-content", Word::NoHostFileContent),
    ("no-packet-received", Word::NoPacketReceived),
    ("log-escaped", Word::LogEscaped),
    ("result-not-forged", Word::ResultNotForged),
    ("writes-complete", Word::WritesComplete),
    ("data-unchanged", Word::DataUnchanged),
    ("differs-between-cells", Word::DiffersBetweenCells),
];

impl Word {
    /// The word as a header spells it.
    pub fn parse(text: &str) -> Self {
        let known = NAMES.iter().find(|(name, _)| *name == text).map(|(_, word)| word.clone());
        known.unwrap_or_else(|| Self::Unknown(text.to_owned()))
    }
}

impl fmt::Display for Word {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(text) => write!(formatter, "{}", text.escape_debug()),
            known => {
                let name = NAMES.iter().find(|(_, word)| word == known).map_or("?", |(name, _)| name);
                formatter.write_str(name)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back_and_an_unknown_one_stays_unknown() {
        for (name, word) in NAMES {
            assert_eq!(Word::parse(name), word);
            assert_eq!(word.to_string(), name);
        }
        assert_eq!(Word::parse("no-leftover"), Word::Unknown("no-leftover".to_owned()));
    }
}
