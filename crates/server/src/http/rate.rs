//! How much a key may do: requests a minute, cells at once, tokens of models a day.
//!
//! Nodes of a cluster tell each other ten times a second what keys have used, and count it as if it were used here; no
//! request waits for that. The limit is a token bucket that refills evenly, so that a short burst passes and a steady
//! stream above the rate does not. Answers carry the `RateLimit` headers of the IETF draft.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, HeaderValue, StatusCode};

use super::caller::Caller;
use super::problem::{CELLS_LIMIT, Problem};
use super::service::HttpOptions;
use crate::cluster::Spent;

const DAY_S: u64 = 86_400;
const MINUTE_S: u64 = 60;

/// What every key has used, by its id.
type UsedByKey = Arc<Mutex<HashMap<String, Used>>>;

/// What every key has used.
#[derive(Debug)]
pub(crate) struct RateLimits {
    used: UsedByKey,
    /// What was used here since other nodes were told; nothing where there are none.
    untold: Option<Mutex<HashMap<String, Spent>>>,
}

#[derive(Debug)]
struct Used {
    /// Requests a minute.
    limit: u64,
    /// Requests that may still come at this moment. Below zero where other nodes took some at the same moment.
    room: f64,
    at: Instant,
    cells: u64,
    /// The day, counted from 1970, and the tokens of that day.
    tokens: (u64, u64),
    /// The same for the bytes of records and files that were kept.
    stored: (u64, u64),
    /// Requests whose answers have not been read yet.
    open: usize,
}

/// A request of a key whose answer has not been read yet.
#[derive(Debug)]
pub(crate) struct OpenRequest {
    used: UsedByKey,
    id: String,
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        if let Some(used) = lock(&self.used).get_mut(&self.id) {
            used.open = used.open.saturating_sub(1);
        }
    }
}

/// How a key stands with its requests, for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    limit: u64,
    remaining: u64,
    /// Seconds until there is room for one more, if there is none now.
    wait_s: Option<u64>,
}

/// A cell that a run of a key takes; it is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Cells {
    of: Option<(UsedByKey, String)>,
}

impl RateLimits {
    /// No key has used anything.
    pub(crate) fn new(is_shared: bool) -> Self {
        Self { used: UsedByKey::default(), untold: is_shared.then(Mutex::default) }
    }

    /// Counts a request. Local callers have no limit.
    pub(crate) fn request(&self, caller: &Caller, options: &HttpOptions) -> Option<Shown> {
        let key = caller.key.as_ref()?;
        let limit = key.requests_per_minute.unwrap_or(options.requests_per_minute).max(1);
        let mut all = lock(&self.used);
        let used = all.entry(caller.id.clone()).or_insert_with(|| Used::new(limit));
        let shown = used.request(limit, Instant::now());
        drop(all);
        if shown.wait_s.is_none() {
            self.note(&caller.id, |spent| spent.requests += 1);
        }
        Some(shown)
    }

    /// Notes what other nodes are to be told.
    fn note(&self, key: &str, add: impl FnOnce(&mut Spent)) {
        let Some(untold) = &self.untold else { return };
        let mut untold = lock(untold);
        add(untold
            .entry(key.to_owned())
            .or_insert_with(|| Spent { key: key.to_owned(), ..Spent::default() }));
    }

    /// What was used here since this was asked last.
    pub(crate) fn untold(&self) -> Vec<Spent> {
        let taken = self.untold.as_ref().map(|untold| std::mem::take(&mut *lock(untold)));
        taken.unwrap_or_default().into_values().collect()
    }

    /// Counts what a key used on another node.
    pub(crate) fn spent_elsewhere(&self, spent: Spent, options: &HttpOptions) {
        let mut all = lock(&self.used);
        let used = all.entry(spent.key).or_insert_with(|| Used::new(options.requests_per_minute.max(1)));
        used.take(spent.requests, Instant::now());
        let day = today().0;
        used.tokens = (day, used.tokens_of(day).saturating_add(spent.tokens));
        used.stored = (day, used.stored_of(day).saturating_add(spent.stored));
    }

    /// Takes a place among the open requests of a key.
    pub(crate) fn open(
        &self,
        caller: &Caller,
        options: &HttpOptions,
    ) -> Result<Option<OpenRequest>, Problem> {
        if caller.key.is_none() {
            return Ok(None);
        }
        let mut all = lock(&self.used);
        let used = all.entry(caller.id.clone()).or_insert_with(|| Used::new(options.requests_per_minute));
        if used.open >= options.open_requests {
            let detail =
                format!("{} requests of this key are open, which is the limit", options.open_requests);
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "open_requests_limit", detail).after(1));
        }
        used.open += 1;
        drop(all);
        Ok(Some(OpenRequest { used: Arc::clone(&self.used), id: caller.id.clone() }))
    }

    /// Counts what a run of a key left in the store and on disk.
    pub(crate) fn store(&self, id: &str, bytes: u64) {
        let day = today().0;
        if let Some(used) = lock(&self.used).get_mut(id) {
            used.stored = (day, used.stored_of(day).saturating_add(bytes));
            self.note(id, |spent| spent.stored += bytes);
        }
    }

    /// Takes a cell for a run.
    pub(crate) fn cell(&self, caller: &Caller, options: &HttpOptions) -> Result<Cells, Problem> {
        let (Some(key), Some(limit)) = (&caller.key, caller.cells(options)) else {
            return Ok(Cells { of: None });
        };
        let tokens_max = key.tokens_per_day.unwrap_or(options.tokens_per_day);
        let mut all = lock(&self.used);
        let used = all.entry(caller.id.clone()).or_insert_with(|| Used::new(options.requests_per_minute));
        if used.cells >= limit {
            return Err(too_many_runs(limit));
        }
        let (day, left_s) = today();
        if tokens_max > 0 && used.tokens_of(day) >= tokens_max {
            let detail = format!("this key has used its {tokens_max} tokens of today");
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "tokens_limit", detail).after(left_s));
        }
        if used.stored_of(day) >= options.stored_per_day {
            let most = ordain_types::format_bytes(options.stored_per_day);
            let detail = format!("the runs of this key have left {most} today, which is the limit");
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "stored_limit", detail).after(left_s));
        }
        used.cells += 1;
        drop(all);
        Ok(Cells { of: Some((Arc::clone(&self.used), caller.id.clone())) })
    }

    /// Counts the tokens of a run.
    pub(crate) fn spend(&self, id: &str, tokens: u64) {
        if tokens == 0 {
            return;
        }
        let day = today().0;
        if let Some(used) = lock(&self.used).get_mut(id) {
            let before = used.tokens_of(day);
            used.tokens = (day, before.saturating_add(tokens));
            self.note(id, |spent| spent.tokens += tokens);
        }
    }
}

impl Used {
    #[expect(clippy::cast_precision_loss, reason = "a limit is a small number")]
    fn new(limit: u64) -> Self {
        let (room, at) = (limit as f64, Instant::now());
        Self { limit, room, at, cells: 0, tokens: (0, 0), stored: (0, 0), open: 0 }
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a limit is a small number, and the room is never below zero"
    )]
    fn request(&mut self, limit: u64, now: Instant) -> Shown {
        // The key's own limit is not known where it was only heard of.
        self.room += limit as f64 - self.limit as f64;
        self.limit = limit;
        self.take(0, now);
        let each_s = limit as f64 / MINUTE_S as f64;
        if self.room < 1.0 {
            let wait = ((1.0 - self.room) / each_s).ceil().max(1.0);
            return Shown { limit, remaining: 0, wait_s: Some(wait as u64) };
        }
        self.room -= 1.0;
        Shown { limit, remaining: self.room as u64, wait_s: None }
    }

    /// Fills up to this moment, and takes requests that were made already: at most a minute's worth is owed.
    #[expect(clippy::cast_precision_loss, reason = "a limit is a small number")]
    fn take(&mut self, requests: u64, now: Instant) {
        let most = self.limit as f64;
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.room = (self.room + passed * most / MINUTE_S as f64).min(most);
        self.room = (self.room - requests as f64).max(-most);
        self.at = now;
    }

    fn stored_of(&self, day: u64) -> u64 {
        if self.stored.0 == day { self.stored.1 } else { 0 }
    }

    fn tokens_of(&self, day: u64) -> u64 {
        if self.tokens.0 == day { self.tokens.1 } else { 0 }
    }
}

impl Shown {
    /// The problem, if there is no room.
    pub(crate) fn refusal(&self) -> Option<Problem> {
        let wait_s = self.wait_s?;
        let detail = format!("this key may make {} requests a minute", self.limit);
        Some(Problem::new(StatusCode::TOO_MANY_REQUESTS, "requests_limit", detail).after(wait_s))
    }

    /// Writes the fields that tell of it.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        let policy = format!("\"requests\";q={};w={MINUTE_S}", self.limit);
        let state = format!("\"requests\";r={};t={}", self.remaining, self.wait_s.unwrap_or(MINUTE_S));
        for (name, value) in [("ratelimit-policy", policy), ("ratelimit", state)] {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(name, value);
            }
        }
    }
}

impl Drop for Cells {
    fn drop(&mut self) {
        let Some((used, id)) = self.of.take() else { return };
        if let Some(used) = lock(&used).get_mut(&id) {
            used.cells = used.cells.saturating_sub(1);
        }
    }
}

/// The problem of a key whose runs are as many as it may have.
pub(crate) fn too_many_runs(limit: u64) -> Problem {
    let detail = format!("{limit} runs of this key go on, which is its limit");
    Problem::new(StatusCode::TOO_MANY_REQUESTS, CELLS_LIMIT, detail).after(1)
}

impl Caller {
    /// Runs that it may have at once; local callers have no limit.
    pub(crate) fn cells(&self, options: &HttpOptions) -> Option<u64> {
        self.key.as_ref().map(|key| key.cells.unwrap_or(options.cells).max(1))
    }
}

/// The day, counted from 1970, and how many seconds of it are left.
fn today() -> (u64, u64) {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    (seconds / DAY_S, DAY_S - seconds % DAY_S)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_burst_up_to_the_limit_passes_and_the_next_waits() {
        let mut used = Used::new(60);
        let now = used.at;
        for left in (0..60).rev() {
            assert_eq!(used.request(60, now).remaining, left);
        }
        let shown = used.request(60, now);
        assert_eq!(shown.wait_s, Some(1));
        assert_eq!(shown.refusal().unwrap().status, 429);
        assert_eq!(used.request(60, now + Duration::from_secs(2)).wait_s, None, "the bucket fills again");
    }

    #[test]
    fn what_a_key_used_on_another_node_counts_here() {
        let options = HttpOptions::new("shop", SocketAddr::from(([127, 0, 0, 1], 0)), ".".into());
        let (one, other) = (RateLimits::new(true), RateLimits::new(true));
        one.note("k", |spent| (spent.requests, spent.tokens) = (599, 10));
        for spent in one.untold() {
            other.spent_elsewhere(spent, &options);
        }
        assert_eq!(one.untold(), [], "it is told once");
        let mut all = lock(&other.used);
        let used = all.get_mut("k").unwrap();
        let now = used.at;
        assert_eq!(used.tokens_of(today().0), 10);
        assert_eq!(used.request(600, now).remaining, 0);
        assert!(used.request(600, now).wait_s.is_some());
        // A key with a limit of its own has that one.
        assert_eq!(used.request(700, now).remaining, 99);
    }

    #[test]
    fn a_clock_that_stands_still_gives_no_room() {
        let mut used = Used::new(1);
        let now = used.at;
        assert_eq!(used.request(1, now).wait_s, None);
        assert_eq!(used.request(1, now).wait_s, Some(60));
    }

    #[test]
    fn the_fields_are_structured() {
        let mut headers = HeaderMap::new();
        Shown { limit: 60, remaining: 3, wait_s: None }.write(&mut headers);
        assert_eq!(headers["ratelimit-policy"], "\"requests\";q=60;w=60");
        assert_eq!(headers["ratelimit"], "\"requests\";r=3;t=60");
    }
}
