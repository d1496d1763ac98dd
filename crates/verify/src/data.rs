//! The lists that the rules read: names with their reasons, apart from the code that uses them.

pub(crate) mod blocked_calls;
pub(crate) mod blocked_imports;
pub(crate) mod builtins;
pub(crate) mod dunders;
pub(crate) mod foreign;
pub(crate) mod frame_methods;
pub(crate) mod known_imports;
pub(crate) mod profiles;
pub(crate) mod stdlib;
