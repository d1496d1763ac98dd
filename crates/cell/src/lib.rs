//! Runs verified code in a jailed cell.

pub mod profile;
