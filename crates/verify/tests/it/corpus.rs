//! Correct plans: none gives a false alarm, and the effects of each are exactly right.
