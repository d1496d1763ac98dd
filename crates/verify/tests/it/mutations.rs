//! Plans broken in a thousand ways: whatever comes out gets a verdict.
