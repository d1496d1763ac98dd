//! The behaviour of `ordain-cell` through its public surface.

mod attacks;
mod profile_faults;
mod profile_set_up;
mod profile_world;
