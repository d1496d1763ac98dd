//! The `ordain` binary from the outside: exit code, stdout, stderr.

mod verify;
