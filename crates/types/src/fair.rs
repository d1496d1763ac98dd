//! Places that go round by caller.
//!
//! Whoever has much to do waits behind itself and not before others: places are given to the callers in turn, whatever the
//! order in which their work came, and the last free place is kept for a caller that has none. Work that belongs to no
//! caller, as that of a command, counts as one that may have every place.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A caller's name.
pub type CallerName = Arc<str>;

thread_local! {
    static CALLER: RefCell<Option<CallerName>> = const { RefCell::new(None) };
}

/// The caller whose work goes on here.
pub fn caller() -> Option<CallerName> {
    CALLER.with_borrow(Clone::clone)
}

/// Does work for a caller: places that are taken meanwhile are its places.
pub async fn of_caller<F: Future>(caller: Option<CallerName>, work: F) -> F::Output {
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(|context| {
        let _before = Named::begin(caller.clone());
        work.as_mut().poll(context)
    })
    .await
}

/// Names the caller for as long as it lives, and then the one before again.
struct Named(Option<CallerName>);

impl Named {
    fn begin(caller: Option<CallerName>) -> Self {
        Self(CALLER.replace(caller))
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        CALLER.set(self.0.take());
    }
}

/// So many places.
#[derive(Debug)]
pub struct Places {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    taken: usize,
    of_callers: HashMap<CallerName, usize>,
    /// Who got the last place.
    last: Option<CallerName>,
    /// Those who wait, by caller; the first caller is the next one.
    lines: VecDeque<(Option<CallerName>, VecDeque<Arc<Waiter>>)>,
}

/// Somebody who waits for a place.
#[derive(Debug, Default)]
struct Waiter(Mutex<Wait>);

#[derive(Debug, Default)]
struct Wait {
    has_place: bool,
    waker: Option<Waker>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    caller: Option<CallerName>,
}

impl Places {
    /// So many places.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, state: Mutex::default() })
    }

    /// How many are taken.
    pub fn taken(&self) -> usize {
        lock(&self.state).taken
    }

    /// How many wait for one.
    pub fn waiting(&self) -> usize {
        lock(&self.state).lines.iter().map(|(_, line)| line.len()).sum()
    }

    /// Whether another caller than this one waits for a place.
    pub fn another_waits(&self, caller: &CallerName) -> bool {
        let state = lock(&self.state);
        state.lines.iter().any(|(of, line)| !line.is_empty() && of.as_ref().is_some_and(|of| of != caller))
    }

    /// Takes a place if there is one at once.
    pub fn try_take(self: &Arc<Self>) -> Option<Place> {
        let caller = caller();
        let mut state = lock(&self.state);
        // Those who wait could not have it, or it would be theirs.
        if !state.may_take(self.most, caller.as_ref()) {
            return None;
        }
        state.take(caller.as_ref());
        Some(Place { places: Arc::clone(self), caller })
    }

    /// Takes a place, at once or when one is free.
    pub async fn place(self: &Arc<Self>) -> Place {
        match self.try_take() {
            Some(place) => place,
            None => self.take().await,
        }
    }

    /// Waits for a place.
    pub fn take(self: &Arc<Self>) -> TakePlace {
        let caller = caller();
        let waiter = Arc::<Waiter>::default();
        let mut state = lock(&self.state);
        let line = state.lines.iter_mut().find(|(of, _)| *of == caller);
        match line {
            Some((_, line)) => line.push_back(Arc::clone(&waiter)),
            None => state.lines.push_back((caller.clone(), VecDeque::from([Arc::clone(&waiter)]))),
        }
        state.serve(self.most);
        drop(state);
        TakePlace { places: Arc::clone(self), caller, waiter, is_done: false }
    }
}

impl State {
    fn may_take(&self, most: usize, caller: Option<&CallerName>) -> bool {
        let free = most.saturating_sub(self.taken);
        free > 1 || free == 1 && caller.is_none_or(|caller| !self.of_callers.contains_key(caller))
    }

    fn take(&mut self, caller: Option<&CallerName>) {
        self.taken += 1;
        self.last = caller.cloned();
        if let Some(caller) = caller {
            *self.of_callers.entry(Arc::clone(caller)).or_default() += 1;
        }
    }

    fn give_back(&mut self, caller: Option<&CallerName>) {
        self.taken -= 1;
        if let Some(caller) = caller
            && let Some(count) = self.of_callers.get_mut(caller)
        {
            *count -= 1;
            if *count == 0 {
                self.of_callers.remove(caller);
            }
        }
    }

    /// Gives the free places to those who wait, one for each caller in turn.
    fn serve(&mut self, most: usize) {
        loop {
            let fits = |caller: &Option<CallerName>| self.may_take(most, caller.as_ref());
            let another = self.lines.iter().position(|(caller, _)| *caller != self.last && fits(caller));
            let next = another.or_else(|| self.lines.iter().position(|(caller, _)| fits(caller)));
            let Some((caller, mut line)) = next.and_then(|at| self.lines.remove(at)) else { return };
            if let Some(waiter) = line.pop_front() {
                self.take(caller.as_ref());
                let mut wait = lock(&waiter.0);
                wait.has_place = true;
                if let Some(waker) = wait.waker.take() {
                    waker.wake();
                }
            }
            if !line.is_empty() {
                self.lines.push_back((caller, line));
            }
        }
    }
}

/// A wait for a place. Dropping it gives the wait up.
#[derive(Debug)]
pub struct TakePlace {
    places: Arc<Places>,
    caller: Option<CallerName>,
    waiter: Arc<Waiter>,
    is_done: bool,
}

impl Future for TakePlace {
    type Output = Place;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Place> {
        let mut wait = lock(&self.waiter.0);
        if !wait.has_place {
            wait.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        drop(wait);
        self.is_done = true;
        Poll::Ready(Place { places: Arc::clone(&self.places), caller: self.caller.clone() })
    }
}

impl Drop for TakePlace {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        let mut state = lock(&self.places.state);
        if lock(&self.waiter.0).has_place {
            state.give_back(self.caller.as_ref());
            state.serve(self.places.most);
            return;
        }
        for (_, line) in &mut state.lines {
            line.retain(|waiter| !Arc::ptr_eq(waiter, &self.waiter));
        }
        state.lines.retain(|(_, line)| !line.is_empty());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = lock(&self.places.state);
        state.give_back(self.caller.as_ref());
        state.serve(self.places.most);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wait of a caller, begun now.
    fn waits(places: &Arc<Places>, who: Option<&str>) -> TakePlace {
        let _named = Named::begin(who.map(Arc::from));
        places.take()
    }

    /// What a wait has come to.
    fn place_of(wait: &mut TakePlace) -> Option<Place> {
        match Pin::new(wait).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(place) => Some(place),
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_single_place_goes_round_by_caller_and_not_by_arrival() {
        let places = Places::new(1);
        let order = ["a", "a", "a", "b", "c", "a", "b"];
        let mut waits: Vec<_> = order.iter().map(|who| (*who, waits(&places, Some(who)))).collect();
        let mut served = Vec::new();
        while !waits.is_empty() {
            let at = waits.iter_mut().position(|(_, wait)| place_of(wait).is_some()).unwrap();
            served.push(waits.remove(at).0);
        }
        assert_eq!(served, ["a", "b", "a", "c", "b", "a", "a"]);
        assert_eq!((places.taken(), places.waiting()), (0, 0));
    }

    #[test]
    fn the_last_place_is_kept_for_a_caller_that_has_none() {
        let places = Places::new(3);
        let mut busy: Vec<_> = (0..5).map(|_| waits(&places, Some("a"))).collect();
        let held: Vec<_> = busy.iter_mut().filter_map(place_of).collect();
        assert_eq!((held.len(), places.waiting()), (2, 3));
        let other = place_of(&mut waits(&places, Some("b"))).unwrap();
        assert!(place_of(&mut waits(&places, Some("c"))).is_none(), "there is none left");
        drop(other);
        assert!(busy.iter_mut().skip(2).all(|wait| place_of(wait).is_none()));
        let none = place_of(&mut waits(&places, None)).unwrap();
        drop((held, none));
        assert!(place_of(&mut busy[2]).is_some());
    }

    #[test]
    fn a_wait_that_is_given_up_leaves_nothing_behind() {
        let places = Places::new(1);
        let mut first = waits(&places, Some("a"));
        let (second, mut third) = (waits(&places, Some("b")), waits(&places, Some("a")));
        assert!(places.another_waits(&"a".into()) && places.another_waits(&"b".into()));
        drop(second);
        assert!(!places.another_waits(&"a".into()));
        // It had got the place, and never took it.
        drop(waits(&places, Some("c")));
        let held = place_of(&mut first).unwrap();
        drop(held);
        drop(place_of(&mut third).unwrap());
        assert_eq!((places.taken(), places.waiting()), (0, 0));
    }

    #[test]
    fn the_caller_is_named_while_its_work_goes_on_and_no_longer() {
        let mut work = std::pin::pin!(of_caller(Some("a".into()), async { caller() }));
        let found = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(found, Poll::Ready(Some("a".into())));
        assert_eq!(caller(), None);
    }
}
