//! The runtime that a command waits in.
//!
//! Futures come boxed, so that the runtime's own code is compiled once and not for every command.

use std::io;
use std::pin::Pin;

use tokio::runtime::Builder;

/// What a command does.
pub(crate) type Work<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Carries out work on this thread: enough for a command that does one thing after the other.
pub(crate) fn on_one_thread<T>(work: Work<'_, T>) -> io::Result<T> {
    Ok(Builder::new_current_thread().enable_all().build()?.block_on(work))
}

/// Carries out work beside two threads that can do something else meanwhile.
pub(crate) fn on_two_threads<T>(work: Work<'_, T>) -> io::Result<T> {
    Ok(Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(work))
}

/// Carries out work beside as many threads as there are processors.
pub(crate) fn on_all_threads<T>(work: Work<'_, T>) -> io::Result<T> {
    Ok(Builder::new_multi_thread().enable_all().build()?.block_on(work))
}
