//! How late this machine is: the lateness of short sleeps, taken all through a round.
//!
//! On a loaded machine an outcome is late through no fault of the executor; by as much as a sleep here is late, it
//! may be late too, at each process that it passes.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

const SLEEP: Duration = Duration::from_millis(100);
/// How long the end of a sleep is waited for, in case the machine is so late that not even that comes.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// How many processes have to wake up, one after the other, before an outcome is here: the supervisor for its deadline,
/// the zygote for the cell's end, the supervisor for its report, and the runner.
const WAKES: u32 = 4;

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

    /// How late an outcome may be: the greatest lateness of the sleeps that overlapped a stretch of time, the last of
    /// which is waited for, once for each process on its way.
    pub(super) fn lateness(&self, from: Instant, to: Instant) -> Duration {
        let (beats, changed) = &*self.beats;
        let beats = beats.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = |beats: &mut Vec<Beat>| beats.last().is_none_or(|beat| beat.ended < to);
        let (beats, _) =
            changed.wait_timeout_while(beats, WAIT_MAX, is_open).unwrap_or_else(PoisonError::into_inner);
        let overlapping =
            beats.iter().filter(|beat| beat.ended >= from && beat.ended < to + SLEEP + beat.late);
        WAKES * overlapping.map(|beat| beat.late).max().unwrap_or_default()
    }
}
