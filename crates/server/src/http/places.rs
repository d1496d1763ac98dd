//! Who may have a connection: so many altogether, so many from one address, and some that are only for health checks.
//!
//! When all places are taken, a few callers more are let in for a moment: they get an error that says so, and a caller that asks whether the
//! server is alive gets the answer. So a server that is busy is not taken for one that is dead.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections beyond the limit, at which only health checks are answered.
const SPARE: usize = 32;

/// How many connections each address has.
type Counts = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// The places of a server.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    usual: Arc<Semaphore>,
    spare: Arc<Semaphore>,
    of_addresses: Counts,
    per_address: usize,
}

/// A place that a connection has.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    _permit: OwnedSemaphorePermit,
    /// Whether it is one of the few for health checks.
    pub(crate) is_spare: bool,
    address: Option<(IpAddr, Counts)>,
}

impl Places {
    pub(crate) fn new(most: usize, per_address: usize) -> Self {
        Self {
            usual: Arc::new(Semaphore::new(most)),
            spare: Arc::new(Semaphore::new(SPARE)),
            of_addresses: Arc::default(),
            per_address,
        }
    }

    /// Waits for a place: a usual one if there is one, else a spare one.
    pub(crate) async fn take(&self) -> ConnectionSlot {
        loop {
            if let Ok(permit) = Arc::clone(&self.usual).try_acquire_owned() {
                return ConnectionSlot { _permit: permit, is_spare: false, address: None };
            }
            if let Ok(permit) = Arc::clone(&self.spare).try_acquire_owned() {
                return ConnectionSlot { _permit: permit, is_spare: true, address: None };
            }
            // The first connection to end makes room; these are not closed by us.
            tokio::select! {
                permit = Arc::clone(&self.usual).acquire_owned() => drop(permit),
                permit = Arc::clone(&self.spare).acquire_owned() => drop(permit),
            }
        }
    }

    /// The place of a caller that has come: a spare one becomes a usual one, if one was given back meanwhile.
    pub(crate) fn settle(&self, place: ConnectionSlot) -> ConnectionSlot {
        match Arc::clone(&self.usual).try_acquire_owned() {
            Ok(permit) if place.is_spare => {
                ConnectionSlot { _permit: permit, is_spare: false, address: None }
            }
            _ => place,
        }
    }

    /// Whether one more connection from an address may be. Those of this machine count only altogether, since a proxy
    /// has many callers behind one address.
    pub(crate) fn admits(&self, place: &mut ConnectionSlot, from: Option<IpAddr>) -> bool {
        let Some(from) = from.filter(|from| !from.is_loopback()) else { return true };
        let mut counts = self.of_addresses.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(from).or_default();
        if *count >= self.per_address {
            return false;
        }
        *count += 1;
        place.address = Some((from, Arc::clone(&self.of_addresses)));
        true
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let Some((from, counts)) = self.address.take() else { return };
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&from) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                counts.remove(&from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_address_has_no_more_places_than_its_own() {
        let places = Places::new(10, 2);
        let from = Some("203.0.113.7".parse().unwrap());
        let (mut one, mut two, mut three) = (places.take().await, places.take().await, places.take().await);
        assert!(places.admits(&mut one, from) && places.admits(&mut two, from));
        assert!(!places.admits(&mut three, from));
        assert!(places.admits(&mut three, Some("203.0.113.8".parse().unwrap())));
        drop(one);
        let mut four = places.take().await;
        assert!(places.admits(&mut four, from));
    }

    #[tokio::test]
    async fn when_all_places_are_taken_some_are_left_for_health_checks() {
        let places = Places::new(1, 1);
        let usual = places.take().await;
        let spare = places.take().await;
        assert!(!usual.is_spare && spare.is_spare);
        drop(usual);
        assert!(!places.settle(spare).is_spare);
    }
}
