//! One executor of a pool: how it is, how busy, and what it offers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ordain_cell::profile::Profile;
use ordain_cell::{CellError, Execution, Host, Job, Output};
use ordain_types::Cause;

use crate::grpc::proto;
use crate::grpc::remote::{Failed, RemoteExecutor};

/// How long an executor may take to say how it is.
const PROBE_TIME_MAX: Duration = Duration::from_secs(3);
/// The longest pause between two questions to one that is sick.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// How an executor of a pool is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberState {
    /// Where it is.
    pub address: String,
    /// Whether it gets jobs. A sick one gets some only when no other is left.
    pub is_well: bool,
    /// Jobs of this pool that it runs.
    pub in_flight: usize,
    /// Jobs that it said to be running or waiting, of all its callers.
    pub load: u64,
    /// Those of them that wait for a cell.
    pub waiting: u64,
}

/// One executor.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) remote: RemoteExecutor,
    in_flight: AtomicUsize,
    known: Mutex<LastProbe>,
}

/// What it said when it was last asked.
#[derive(Debug)]
struct LastProbe {
    is_well: bool,
    /// Failures since it was last well.
    failures: u32,
    load: u64,
    waiting: u64,
    running_max: u64,
    /// Whether it has no room for another session.
    is_full_of_sessions: bool,
    /// What it offers; all, until it has said so.
    profiles: Option<Vec<String>>,
}

/// How good a choice an executor is: the smaller, the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    lacks_profile: bool,
    is_sick: bool,
    has_no_room: bool,
    /// Thousandths of its places that are taken.
    load: u64,
}

impl Member {
    pub(super) fn new(remote: RemoteExecutor) -> Self {
        // It counts as well until it proves otherwise, so that the first job need not wait for the first probe.
        let known = LastProbe {
            is_well: true,
            failures: 0,
            load: 0,
            waiting: 0,
            running_max: 1,
            is_full_of_sessions: false,
            profiles: None,
        };
        Self { remote, in_flight: AtomicUsize::new(0), known: Mutex::new(known) }
    }

    /// Runs a job on it, and remembers if it failed.
    pub(super) async fn run(
        &self,
        job: &Job,
        host: &mut dyn Host,
        output: &mut dyn Output,
    ) -> Result<Execution, Failed> {
        let _counted = Counted::new(&self.in_flight);
        let ran = self.remote.try_run(job, host, output).await;
        match &ran {
            // One that broke the rules gets nothing more until it is asked again how it is.
            Ok(execution) if execution.cause == Cause::ProtocolError => self.eject(),
            Ok(_) => self.lock().failures = 0,
            Err(failed) if is_sickness(&failed.error) => self.eject(),
            Err(_) => {}
        }
        ran
    }

    /// How good a choice it is for a job, or for a session, given how many of this pool are open there.
    pub(super) fn rank(&self, profile: Profile, sessions: Option<usize>) -> Rank {
        let known = self.lock();
        let in_flight = self.in_flight.load(Ordering::Acquire) as u64;
        let lacks_profile =
            known.profiles.as_ref().is_some_and(|offered| !offered.iter().any(|name| name == profile.name()));
        // Its own word is a little old and counts all callers; what is in flight here is certain.
        let load = in_flight.max(known.load).max(sessions.unwrap_or_default() as u64);
        Rank {
            lacks_profile,
            is_sick: !known.is_well,
            has_no_room: sessions.is_some() && known.is_full_of_sessions,
            load: load * 1000 / known.running_max.max(1),
        }
    }

    pub(super) fn state(&self) -> MemberState {
        let known = self.lock();
        MemberState {
            address: self.remote.address().to_owned(),
            is_well: known.is_well,
            in_flight: self.in_flight.load(Ordering::Acquire),
            load: known.load,
            waiting: known.waiting,
        }
    }

    /// Asks from time to time how it is, for ever. A sick one is asked at growing intervals.
    pub(super) async fn watch(self: Arc<Self>, every: Duration) {
        loop {
            let described = tokio::time::timeout(PROBE_TIME_MAX, self.remote.describe()).await;
            match described {
                Ok(Ok(description)) if !description.draining => self.learn(description),
                _ => self.eject(),
            }
            let failures = self.lock().failures;
            let pause =
                every.saturating_mul(1 << failures.saturating_sub(1).min(5)).min(PAUSE_MAX.max(every));
            tokio::time::sleep(pause).await;
        }
    }

    fn learn(&self, description: proto::DescribeResponse) {
        let load = description.load.unwrap_or_default();
        let mut known = self.lock();
        known.is_well = true;
        known.failures = 0;
        known.load = load.running.saturating_add(load.waiting);
        known.waiting = load.waiting;
        known.running_max = load.running_max.max(1);
        known.is_full_of_sessions = load.sessions_max > 0 && load.sessions >= load.sessions_max;
        known.profiles = Some(description.profiles.into_iter().map(|profile| profile.name).collect());
    }

    fn eject(&self) {
        let mut known = self.lock();
        known.is_well = false;
        known.waiting = 0;
        known.failures = known.failures.saturating_add(1);
    }

    fn lock(&self) -> MutexGuard<'_, LastProbe> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an error speaks against the executor and not against the job.
fn is_sickness(error: &CellError) -> bool {
    matches!(error, CellError::Unreachable { .. } | CellError::Cut { .. } | CellError::SessionLost { .. })
}

/// One more job in flight, for as long as it lives.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::remote::RemoteOptions;

    fn member() -> Member {
        Member::new(RemoteExecutor::new("http://127.0.0.1:9", &RemoteOptions::default()).unwrap())
    }

    fn described(running: u64, profiles: &[&str]) -> proto::DescribeResponse {
        let profile = |&name: &&str| proto::Profile { name: name.to_owned(), modules: Vec::new() };
        proto::DescribeResponse {
            load: Some(proto::Load { running, running_max: 10, ..proto::Load::default() }),
            profiles: profiles.iter().map(profile).collect(),
            ..proto::DescribeResponse::default()
        }
    }

    #[tokio::test]
    async fn the_idle_one_goes_before_the_busy_one_and_both_before_the_sick_one() {
        let (idle, busy, sick, other) = (member(), member(), member(), member());
        idle.learn(described(1, &["core"]));
        busy.learn(described(7, &["core"]));
        sick.learn(described(0, &["core"]));
        sick.eject();
        other.learn(described(0, &["data"]));
        let ranks = [&idle, &busy, &sick, &other].map(|member| member.rank(Profile::Core, None));
        assert!(ranks.is_sorted(), "{ranks:?}");
        sick.learn(described(0, &["core"]));
        assert!(sick.rank(Profile::Core, None) < idle.rank(Profile::Core, None));
    }

    #[tokio::test]
    async fn own_jobs_count_before_the_executor_speaks_of_them() {
        let member = member();
        member.learn(described(0, &["core"]));
        let before = member.rank(Profile::Core, None);
        let _job = Counted::new(&member.in_flight);
        assert!(before < member.rank(Profile::Core, None));
        assert_eq!(member.state().in_flight, 1);
    }
}
