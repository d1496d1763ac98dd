//! The behaviour of `ordain-cell` through its public surface.

mod artifacts;
mod attacks;
mod causes;
mod faults;
mod files;
mod host_calls;
mod leftovers;
mod mounts;
mod neighbours;
mod output;
mod pool;
mod profile_faults;
mod profile_set_up;
mod profile_world;
mod resident;
mod scratch;
mod sessions;
mod values;
mod world;
