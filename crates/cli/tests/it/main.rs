//! The behaviour of the `ordain` binary, as users and scripts see it.

mod ask;
mod check;
mod check_files;
mod check_runs;
mod code;
mod command;
mod deploy;
mod eval;
mod exec;
mod exec_faults;
mod exec_input;
mod exec_session;
mod exec_users;
mod executor;
mod executor_killed;
mod executor_python;
mod mcp;
mod models;
mod readme;
mod serve;
mod serve_connections;
mod serve_executors;
mod strangers;
mod tools;
mod verify;
mod workspace;
