//! How much may be on its way into the server at once: for one key, and altogether.
//!
//! A limit on one body does not bound many of them. What a request sends is counted as it comes and given back when the
//! request is over; a caller over its share is refused at that byte, with the rest unread.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;

use super::problem::Problem;

/// Bytes on their way for one key.
const KEY_BYTES_MAX: u64 = 192 << 20;
/// Bytes on their way altogether.
const ALL_BYTES_MAX: u64 = 1 << 30;

/// What is on its way, by caller.
#[derive(Debug, Clone, Default)]
pub(crate) struct Uploading(Arc<Mutex<HashMap<String, u64>>>);

/// What one request has sent so far.
#[derive(Debug)]
pub(crate) struct Sent {
    of: Uploading,
    who: String,
    bytes: u64,
}

/// The caller sends too much at once.
#[derive(Debug, thiserror::Error)]
#[error("too much is on its way into the server at once")]
pub(crate) struct TooMuch;

impl Uploading {
    pub(crate) fn begin(&self, who: &str) -> Sent {
        Sent { of: self.clone(), who: who.to_owned(), bytes: 0 }
    }
}

impl Sent {
    /// Counts what came.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), TooMuch> {
        let bytes = bytes as u64;
        let mut all = self.of.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sum: u64 = all.values().sum();
        let own = all.entry(self.who.clone()).or_default();
        let is_keyed = self.who != super::caller::LOCAL;
        if (is_keyed && *own + bytes > KEY_BYTES_MAX) || sum + bytes > ALL_BYTES_MAX {
            return Err(TooMuch);
        }
        *own += bytes;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        let mut all = self.of.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = all.get_mut(&self.who) {
            *own = own.saturating_sub(self.bytes);
            if *own == 0 {
                all.remove(&self.who);
            }
        }
    }
}

/// The problem, if an error of reading a body is this one.
pub(crate) fn problem(error: &(dyn std::error::Error + 'static)) -> Option<Problem> {
    let mut source = Some(error);
    while let Some(error) = source {
        if error.is::<TooMuch>() {
            let detail = "too much is on its way into the server at once for this key";
            let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "uploads_limit", detail).after(1);
            return Some(problem.hint("send fewer large bodies at the same time"));
        }
        source = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_key_cannot_have_more_on_its_way_than_its_share_and_gives_it_back() {
        let uploading = Uploading::default();
        let mut one = uploading.begin("a");
        assert!(one.add(150 << 20).is_ok());
        assert!(uploading.begin("a").add(100 << 20).is_err());
        assert!(uploading.begin("b").add(100 << 20).is_ok());
        drop(one);
        assert!(uploading.begin("a").add(150 << 20).is_ok());
        assert!(uploading.0.lock().unwrap().is_empty());
    }
}
