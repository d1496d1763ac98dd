//! The numbers that a job may not pass.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const MIB: u64 = 1024 * 1024;

/// What one job may use. Passing any of them is a typed [`crate::Cause`] that names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall-clock time from the moment a cell takes the job.
    #[serde(rename = "wall_ms", serialize_with = "as_millis", deserialize_with = "of_millis")]
    pub wall: Duration,
    /// CPU time of all threads together; `None` leaves it to the wall clock.
    #[serde(rename = "cpu_ms", serialize_with = "option_as_millis", deserialize_with = "option_of_millis")]
    pub cpu: Option<Duration>,
    /// Private memory of the cell on top of what it starts with.
    pub memory_bytes: u64,
    /// Size of the work folder, which lies in memory too. `None` is half of `memory_bytes`.
    pub work_bytes: Option<u64>,
    /// Processes and threads together.
    pub processes: u32,
    /// Bytes on stdout and stderr together.
    pub output_bytes: u64,
    /// Bytes of all artifacts together.
    pub artifact_bytes: u64,
    /// Number of artifacts.
    pub artifacts: u32,
    /// Size of one input file.
    pub file_bytes: u64,
}

impl Limits {
    /// The size of the work folder that these limits give.
    pub fn work_bytes(&self) -> u64 {
        self.work_bytes.unwrap_or(self.memory_bytes / 2)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(30),
            cpu: None,
            memory_bytes: 512 * MIB,
            work_bytes: None,
            processes: 64,
            output_bytes: 10 * MIB,
            artifact_bytes: 64 * MIB,
            artifacts: 100,
            file_bytes: 50 * MIB,
        }
    }
}

/// What a run of several steps may use, all steps together.
#[derive(Debug, Clone, PartialEq)]
pub struct Budgets {
    /// Steps that are tried, repairs aside.
    pub steps: u32,
    /// Tokens given to models and received from them.
    pub tokens: u64,
    /// Dollars, where the model's price is known.
    pub dollars: Option<f64>,
    /// Time, waiting for a person aside.
    pub wall: Duration,
}

impl Default for Budgets {
    fn default() -> Self {
        Self { steps: 50, tokens: 1_000_000, dollars: None, wall: Duration::from_mins(30) }
    }
}

fn as_millis<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

#[expect(clippy::ref_option, reason = "serde passes the field by reference")]
fn option_as_millis<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match duration {
        Some(duration) => as_millis(duration, serializer),
        None => serializer.serialize_none(),
    }
}

fn of_millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

fn option_of_millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
}
