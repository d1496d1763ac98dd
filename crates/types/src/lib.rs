//! The words of Ordain as plain data.
//!
//! Every other crate speaks in these types. Nothing here does IO or reads a clock, so a value
//! built from the same parts is always the same value.

mod cause;
mod limits;
mod nearest;
mod quantity;
mod schema;

pub use cause::Cause;
pub use limits::Limits;
pub use nearest::nearest;
pub use quantity::{QuantityError, format_bytes, format_duration, parse_bytes, parse_duration};
pub use schema::{Column, ColumnType, Schema, Table};
