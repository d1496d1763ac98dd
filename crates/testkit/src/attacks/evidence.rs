//! Everything that a judgement rests on, as plain data, so that judging is a pure function and can be tried on
//! made-up cases.

use std::time::Duration;

use ordain_types::Cause;

use super::listing::Listing;
use super::observed::Observed;
use super::program::Program;

/// What was found around one program. A `None` was not looked at, or could not be.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// The run itself.
    pub(super) run: Observed,
    /// A second copy that ran at the same time.
    pub(super) twin: Option<Observed>,
    /// A second run afterwards.
    pub(super) again: Option<Observed>,
    /// The neighbour that ran at the same time.
    pub(super) neighbour: Option<Observed>,
    /// The probe that ran next.
    pub(super) probe: Option<Observed>,
    /// How late an outcome may be, on this machine, meanwhile.
    pub(super) lateness: Duration,
    /// How many times its own time the program was given; none stands for once.
    pub(super) times: u32,
    /// Processes left one second after the outcome.
    pub(super) leftovers: Option<Vec<String>>,
    /// The executor's peak memory, before and after.
    pub(super) memory_bytes: Option<(u64, u64)>,
    /// The folders that must stay as they are, before and after.
    pub(super) files: Option<(Listing, Listing)>,
    /// The folders where core files would go, before and after.
    pub(super) cores: Option<(Listing, Listing)>,
    /// Files of the name `pwned` in usual places of the host.
    pub(super) pwned: Vec<String>,
    /// What the listeners heard.
    pub(super) packets: Option<Vec<String>>,
    /// What the executor logged meanwhile.
    pub(super) log: Vec<u8>,
    /// The data, before and after.
    pub(super) data: Option<(Data, Data)>,
    /// The secret that must not come out.
    pub(super) canary: String,
    /// The host's account file, which must not come out whole.
    pub(super) passwd: Vec<u8>,
    /// Whether the executor is still the same process.
    pub(super) is_executor_alive: bool,
}

impl Evidence {
    /// Whether the time of a run was over that should have come to another end.
    pub(super) fn is_cut_short(&self, program: &Program) -> bool {
        let is_cut = |run: &Observed| run.cause == Some(Cause::Timeout);
        let others = [&self.neighbour, &self.probe].into_iter().flatten();
        let own = [Some(&self.run), self.twin.as_ref(), self.again.as_ref()].into_iter().flatten();
        others.into_iter().any(is_cut)
            || !program.outcome.contains(&Cause::Timeout) && own.into_iter().any(is_cut)
    }
}

/// The data that a program was given, as hashes and dumps taken by the runner.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Data {
    /// The hash of the input file.
    pub(super) input: String,
    /// A dump of the tables of the throw-away store, by table and key.
    pub(super) tables: serde_json::Map<String, serde_json::Value>,
}
