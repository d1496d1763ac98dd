//! Tries a function with spoiled input: a bounded number of times in the tests, as long as one likes by
//! `cargo xtask fuzz NAME`.
//!
//! Inputs are made from seeds by small steps, from a number that is printed with a failure, so that the same inputs come
//! again. What a target must not do is panic, hang or grow; whatever else it promises, it asserts itself.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// Inputs that are tried where no time is given.
const INPUTS: u32 = 2_000;
/// Longer inputs say nothing new.
const BYTES_MAX: usize = 16 * 1024;
/// Says for how long, in seconds.
const SECONDS: &str = "ORDAIN_FUZZ_SECONDS";
/// Says from which number the inputs are made.
const SEED: &str = "ORDAIN_FUZZ_SEED";

/// Pieces that readers of texts and frames trip over.
const PIECES: [&[u8]; 20] = [
    b"\0",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\"",
    b"'",
    b"\\",
    b"--",
    b"/*",
    b"```",
    b"{",
    b"[",
    b"(((((((",
    b"\xf0\x9f\x92\xa9",
    b"\xe2\x80\xae",
    b"../",
    b"1e999",
    b"-9223372036854775809",
    b"$$",
];

/// Calls a target with inputs that are made from the seeds. A panic is reported with its input, and fuzzing goes on.
pub fn run(name: &str, seeds: &[&[u8]], mut target: impl FnMut(&[u8])) {
    let number = |variable: &str| std::env::var(variable).ok().and_then(|value| value.parse::<u64>().ok());
    let start = number(SEED).unwrap_or(1);
    let deadline = number(SECONDS).map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut random = Random(start.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut tried = 0_u32;
    while deadline.map_or(tried < INPUTS, |deadline| Instant::now() < deadline) {
        let input = spoiled(seeds, &mut random);
        tried += 1;
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(&input))) {
            let shown = input.escape_ascii();
            let told = format!("{name}: input {tried} of {SEED}={start} made it panic: {shown}\n");
            let _ = std::io::Write::write_all(&mut std::io::stderr(), told.as_bytes());
            resume_unwind(panic);
        }
    }
}

fn spoiled(seeds: &[&[u8]], random: &mut Random) -> Vec<u8> {
    let mut input = seeds[random.below(seeds.len())].to_vec();
    for _ in 0..=random.below(6) {
        let at = random.below(input.len() + 1);
        let end = (at + 1 + random.below(40)).min(input.len());
        match random.below(7) {
            0 => drop(input.splice(at..at, PIECES[random.below(PIECES.len())].iter().copied())),
            1 => drop(input.drain(at.min(end)..end)),
            2 => input.truncate(at),
            3 => {
                let piece = input[at.min(end)..end].to_vec();
                let times = 1 + random.below(20);
                drop(input.splice(at..at, piece.repeat(times)));
            }
            4 => {
                let other = seeds[random.below(seeds.len())];
                let from = random.below(other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            _ => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = u8::try_from(random.below(256)).unwrap_or(0);
                }
            }
        }
        input.truncate(BYTES_MAX);
    }
    input
}

/// Numbers that follow from the first one.
struct Random(u64);

impl Random {
    /// A number below `limit`, which is not 0.
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap_or(0) % limit.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_number_gives_the_same_inputs_and_they_differ() {
        let made = || {
            let mut inputs = Vec::new();
            run("itself", &[b"SELECT 1", b"{}"], |input| inputs.push(input.to_vec()));
            inputs
        };
        let inputs = made();
        assert_eq!(inputs.len(), usize::try_from(INPUTS).unwrap());
        assert!(inputs.iter().collect::<std::collections::HashSet<_>>().len() > 500);
        if std::env::var_os(SECONDS).is_none() {
            assert_eq!(inputs, made());
        }
    }
}
