//! The verifier through its public surface.

mod corpus;
mod edits;
mod hostile;
mod mutations;
mod reference;
mod shop;
mod suites;
mod verdicts;
