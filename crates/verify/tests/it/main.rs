//! The verifier through its public surface.

mod corpus;
mod edits;
mod hostile;
mod mutations;
mod profiles;
mod reference;
mod shop;
mod suites;
mod verdicts;
mod ways_around;
