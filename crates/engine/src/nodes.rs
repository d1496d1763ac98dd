//! The other nodes that share the store, as far as the engine asks something of them.

use std::fmt;

use ordain_types::{BoxFuture, RunId};

/// The nodes of a cluster, this one among them.
pub trait OtherNodes: fmt::Debug + Send + Sync {
    /// How many nodes judge parts of runs of checks, this one among them. 1 if the others cannot be reached.
    fn count(&self) -> BoxFuture<'_, usize>;

    /// Offers a part of a run of checks to all nodes, unless it waits for one or is being judged. One that could not be
    /// offered is offered again later.
    fn offer_part<'a>(&'a self, run: &'a RunId, part: u32) -> BoxFuture<'a, ()>;
}
