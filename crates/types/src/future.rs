//! A future without a name.

use std::pin::Pin;

/// A future in a box, for functions that other crates call.
///
/// The code behind an `async fn` is compiled again in every crate that awaits it, with all that it awaits itself. Boxed
/// where it leaves its crate, it is compiled once.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
