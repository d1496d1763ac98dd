//! How late this machine is: the lateness of a one-second sleep, taken all through a round.
//!
//! On a loaded machine an outcome is late through no fault of the executor; by as much as a sleep here is late, it
//! may be late too.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

const SLEEP: Duration = Duration::from_secs(1);

/// A sleep that has ended: when, and how late.
#[derive(Debug, Clone, Copy)]
struct Beat {
    ended: Instant,
    late: Duration,
}

/// Sleeps and wakes in the background for as long as it lives.
#[derive(Debug)]
pub(super) struct Pulse {
    beats: Arc<(Mutex<Vec<Beat>>, Condvar)>,
}

impl Pulse {
    /// Starts.
    pub(super) fn start() -> Self {
        let beats = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let weak = Arc::downgrade(&beats);
        std::thread::spawn(move || {
            loop {
                let started = Instant::now();
                std::thread::sleep(SLEEP);
                let Some(beats) = weak.upgrade() else { return };
                let ended = Instant::now();
                let late = ended.duration_since(started).saturating_sub(SLEEP);
                beats.0.lock().unwrap_or_else(PoisonError::into_inner).push(Beat { ended, late });
                beats.1.notify_all();
            }
        });
        Self { beats }
    }

    /// The greatest lateness of the sleeps that overlapped a stretch of time, the last of which is waited for.
    pub(super) fn lateness(&self, from: Instant, to: Instant) -> Duration {
        let (beats, changed) = &*self.beats;
        let beats = beats.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = |beats: &mut Vec<Beat>| beats.last().is_none_or(|beat| beat.ended < to);
        // A bound, in case the machine is so late that not even the sleep ends.
        let (beats, _) =
            changed.wait_timeout_while(beats, 10 * SLEEP, is_open).unwrap_or_else(PoisonError::into_inner);
        let overlapping =
            beats.iter().filter(|beat| beat.ended >= from && beat.ended < to + SLEEP + beat.late);
        overlapping.map(|beat| beat.late).max().unwrap_or_default()
    }
}
