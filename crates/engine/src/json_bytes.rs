//! How long a value is as JSON.

use std::io;

use serde::Serialize;

/// The bytes that a value takes as JSON, without writing it anywhere.
pub fn json_bytes(value: &impl Serialize) -> u64 {
    let mut count = Count(0);
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

struct Count(u64);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
