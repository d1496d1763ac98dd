//! Bytes as text.

use std::fmt::Write as _;

/// Bytes in hexadecimal, two lower-case digits each.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
