//! The sessions of an executor's callers: whose each is, and when it ends by itself.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ordain_cell::profile::Profile;
use tokio::time::Instant;
use tonic::Status;

use super::caller::Caller;
use crate::grpc::proto;
use crate::grpc::status::{Reason, status};

/// The open sessions. The cells themselves belong to the executor; this is who may use them.
#[derive(Debug)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<String, Entry>>,
    open_max: usize,
    idle_max: Duration,
}

#[derive(Debug)]
struct Entry {
    owner: Caller,
    profile: Profile,
    running: usize,
    jobs: u64,
    last_used: Instant,
    /// The names of files that came with its jobs, which its cell still has.
    files: HashSet<String>,
}

/// One job in a session; the session does not count as idle while this lives.
#[derive(Debug)]
pub(crate) struct InUse<'a> {
    sessions: &'a Sessions,
    id: String,
}

impl Sessions {
    pub(crate) fn new(open_max: usize, idle_max: Duration) -> Self {
        Self { open: Mutex::default(), open_max, idle_max }
    }

    pub(crate) fn create(&self, owner: Caller, profile: Profile) -> Result<proto::Session, Status> {
        let id = super::random_name()
            .map_err(|_| status(Reason::NoCell, "no random number could be had", None))?;
        let mut open = self.lock();
        if open.len() >= self.open_max {
            let message = format!("{} sessions are open, which is the limit", open.len());
            return Err(status(Reason::Sessions, message, Some("end a session that is no longer needed")));
        }
        let entry =
            Entry { owner, profile, running: 0, jobs: 0, last_used: Instant::now(), files: HashSet::new() };
        let session = self.told(&id, &entry);
        open.insert(id, entry);
        Ok(session)
    }

    /// Enters a session for one job. What does not exist and what belongs to somebody else look the same.
    pub(crate) fn enter(&self, id: &str, caller: &Caller, profile: Profile) -> Result<InUse<'_>, Status> {
        let mut open = self.lock();
        let entry = open.get_mut(id).filter(|entry| entry.owner == *caller).ok_or_else(unknown)?;
        if entry.profile != profile {
            let message = format!("the session's profile is `{}`, the job's `{profile}`", entry.profile);
            return Err(status(Reason::Invalid, message, Some("name the session's profile in the job")));
        }
        entry.running += 1;
        entry.jobs += 1;
        Ok(InUse { sessions: self, id: id.to_owned() })
    }

    /// Forgets a session of this caller. Whether there was one.
    pub(crate) fn remove(&self, id: &str, caller: &Caller) -> bool {
        let mut open = self.lock();
        let is_own = open.get(id).is_some_and(|entry| entry.owner == *caller);
        is_own && open.remove(id).is_some()
    }

    pub(crate) fn list(&self, caller: &Caller) -> Vec<proto::Session> {
        let open = self.lock();
        let own = open.iter().filter(|(_, entry)| entry.owner == *caller);
        let mut sessions: Vec<_> = own.map(|(id, entry)| self.told(id, entry)).collect();
        sessions.sort_by(|left, right| left.id.cmp(&right.id));
        sessions
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Forgets the sessions that have been idle for too long, and names them.
    pub(crate) fn take_idle(&self) -> Vec<String> {
        let mut open = self.lock();
        let is_idle = |entry: &Entry| entry.running == 0 && entry.last_used.elapsed() > self.idle_max;
        let idle: Vec<String> =
            open.iter().filter(|(_, entry)| is_idle(entry)).map(|(id, _)| id.clone()).collect();
        for id in &idle {
            open.remove(id);
        }
        idle
    }

    fn told(&self, id: &str, entry: &Entry) -> proto::Session {
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let idle = if entry.running == 0 { entry.last_used.elapsed() } else { Duration::ZERO };
        proto::Session {
            id: id.to_owned(),
            profile: entry.profile.to_string(),
            idle_ms_max: millis(self.idle_max),
            idle_ms: millis(idle),
            jobs: entry.jobs,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InUse<'_> {
    /// Whether a file came with an earlier job.
    pub(crate) fn has_file(&self, name: &str) -> bool {
        self.sessions.lock().get(&self.id).is_some_and(|entry| entry.files.contains(name))
    }

    /// Notes the files that the cell now has.
    pub(crate) fn keep_files(&self, names: Vec<String>) {
        if let Some(entry) = self.sessions.lock().get_mut(&self.id) {
            entry.files.extend(names);
        }
    }

    /// Notes that the cell has ended: the next job finds a new one.
    pub(crate) fn forget_files(&self) {
        if let Some(entry) = self.sessions.lock().get_mut(&self.id) {
            entry.files.clear();
        }
    }
}

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        if let Some(entry) = self.sessions.lock().get_mut(&self.id) {
            entry.running -= 1;
            entry.last_used = Instant::now();
        }
    }
}

fn unknown() -> Status {
    status(
        Reason::UnknownSession,
        "there is no such session",
        Some("it may have ended after being idle: open a new one with CreateSession"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(name: &str) -> Caller {
        Caller(name.to_owned())
    }

    #[test]
    fn a_session_belongs_to_who_opened_it() {
        let sessions = Sessions::new(2, Duration::from_mins(1));
        let (ann, bob) = (caller("ann"), caller("bob"));
        let id = sessions.create(ann.clone(), Profile::Core).unwrap().id;
        assert!(sessions.enter(&id, &bob, Profile::Core).is_err());
        assert!(!sessions.remove(&id, &bob));
        assert_eq!((sessions.list(&ann).len(), sessions.list(&bob).len()), (1, 0));
        assert!(sessions.enter(&id, &ann, Profile::Data).is_err());
        assert!(sessions.enter(&id, &ann, Profile::Core).is_ok());
        assert!(sessions.remove(&id, &ann));
    }

    #[test]
    fn there_are_no_more_sessions_than_the_limit() {
        let sessions = Sessions::new(1, Duration::from_mins(1));
        sessions.create(caller("ann"), Profile::Core).unwrap();
        let refused = sessions.create(caller("ann"), Profile::Core).unwrap_err();
        assert_eq!(refused.code(), tonic::Code::ResourceExhausted);
    }

    #[test]
    fn an_idle_session_ends_by_itself_and_a_busy_one_does_not() {
        let sessions = Sessions::new(2, Duration::from_millis(1));
        let ann = caller("ann");
        let idle = sessions.create(ann.clone(), Profile::Core).unwrap().id;
        let busy = sessions.create(ann.clone(), Profile::Core).unwrap().id;
        let _in_use = sessions.enter(&busy, &ann, Profile::Core).unwrap();
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(sessions.take_idle(), [idle]);
        assert_eq!(sessions.count(), 1);
    }
}
