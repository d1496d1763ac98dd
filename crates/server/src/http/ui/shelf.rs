//! What carrying out a form leaves for the page after it: read once by the same visitor, and dropped after a while.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::sign_ins::Token;
use crate::http::problem::Problem;

/// How long something is kept.
const LIFE: Duration = Duration::from_mins(30);
/// Things that are kept at once; the oldest makes room.
const KEPT_MAX: usize = 64;

/// Things that wait for the page that shows or uses them.
#[derive(Debug)]
pub(crate) struct Shelf<T>(Mutex<VecDeque<Left<T>>>);

#[derive(Debug)]
struct Left<T> {
    name: Token,
    who: String,
    ends: Instant,
    thing: T,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Shelf<T> {
    /// Keeps something for a caller, and gives the name to take it by.
    pub(crate) fn leave(&self, who: &str, thing: T) -> Result<String, Problem> {
        let name = Token::new()?;
        let left = Left { name: name.clone(), who: who.to_owned(), ends: Instant::now() + LIFE, thing };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back(left);
        if kept.len() > KEPT_MAX {
            kept.pop_front();
        }
        Ok(name.0)
    }

    /// Takes what a caller left.
    pub(crate) fn take(&self, who: &str, name: &str) -> Option<T> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|left| left.ends > Instant::now());
        let place = kept.iter().position(|left| left.who == who && left.name.is(name))?;
        kept.remove(place).map(|left| left.thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_is_taken_once_and_only_by_its_owner() {
        let shelf = Shelf::default();
        let name = shelf.leave("ada", 7).unwrap();
        assert_eq!((shelf.take("bob", &name), shelf.take("ada", "other")), (None, None));
        assert_eq!((shelf.take("ada", &name), shelf.take("ada", &name)), (Some(7), None));
        let names: Vec<String> = (0..=KEPT_MAX).map(|thing| shelf.leave("ada", thing).unwrap()).collect();
        assert_eq!((shelf.take("ada", &names[0]), shelf.take("ada", &names[1])), (None, Some(1)));
    }
}
