//! What the tests of several crates share; nothing here is part of the product.

pub mod attacks;
pub mod browser;
pub mod clients;
pub mod clock;
pub mod fuzz;
pub mod link;
pub mod long;
pub mod nats;
pub mod postgres;
pub mod processes;
pub mod seller;
pub mod simulate;
