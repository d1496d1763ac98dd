//! Runs verified code in a jailed cell.
