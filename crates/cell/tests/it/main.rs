//! The behaviour of `ordain-cell` through its public surface.

mod artifacts;
mod causes;
mod files;
mod host_calls;
mod output;
mod processes;
mod profile_faults;
mod profile_set_up;
mod profile_world;
mod sessions;
mod world;
