//! The one pipeline from a request to a committed change.
