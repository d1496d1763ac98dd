//! Between the messages of the proto file and Ordain's own types.
//!
//! Both sides check what they read: a caller may be anybody who holds a key, and an executor runs foreign code.

mod execution;
mod judgement;
mod limits;

use ordain_cell::{FRAME_BYTES_MAX, UNFOLDED_BYTES_MAX, unfolded_bytes};
use serde::de::DeserializeOwned;

pub(crate) use execution::{execution, rejection, result};
pub(crate) use judgement::{judge, judgement, widens};
pub(crate) use limits::{ceilings, limits_from, limits_of, limits_within};

/// The largest message that is read on either side: a whole frame of a cell's wire, with its envelope.
pub(crate) const MESSAGE_BYTES_MAX: usize = FRAME_BYTES_MAX + (1 << 20);
/// The size of the pieces in which files travel.
pub(crate) const PIECE_BYTES: usize = 256 << 10;

/// Reads JSON that came over the network. What would take too much memory once it is read is not read.
pub(crate) fn from_json<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, String> {
    if text.len() > FRAME_BYTES_MAX || unfolded_bytes(text.as_bytes()) > UNFOLDED_BYTES_MAX {
        return Err(format!("{what} hold too many values"));
    }
    // The library repeats parts of what it read, which is not ours to pass on.
    serde_json::from_str(text).map_err(|error| {
        format!("{what} do not read as JSON at line {}, column {}", error.line(), error.column())
    })
}
