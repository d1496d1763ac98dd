//! Enters the jail, from inside the CPython zygote.
//!
//! The supervisor starts a CPython process with an empty environment; that process loads this library through
//! `ctypes` and becomes the **zygote**: [`zygote::enter`] gives it its own namespaces and a minimal read-only root,
//! [`zygote::serve`] then forks one **cell** for each order and [`cell::lock_down`] takes from that cell everything
//! it does not need, before a line of plan code has run.
//!
//! The library is built without the standard library and without dependencies, because what it does between
//! `clone3` and the first Python instruction of a cell must neither allocate nor take a lock, and because any
//! CPython from 3.10 on can load it: nothing is linked at build time.
//!
//! Unsafe code is fenced in [`sys`]: one safe wrapper for each system call, and the C entry points.

#![cfg_attr(not(test), no_std)]

pub mod cell;
pub mod config;
pub mod control;
pub mod root;
pub mod step;
pub mod sys;
pub mod zygote;
