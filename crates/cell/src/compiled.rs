//! Compiled code of programs that run often, so that cells need not compile them again.
//!
//! Compiling takes Python longer than running most plans. A program that is run for the second time is therefore compiled
//! once more, aside, in a cell of its own that does nothing else, and later cells are given the outcome beside the
//! source. No cell in which the program has *run* gives anything that another cell runs: what is run is what was
//! verified.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::job::Job;
use crate::zygote::lock;

/// Programs that are known; when there are more, all are forgotten.
const KNOWN_MAX: usize = 512;
/// The longest program, with its helpers, that is kept.
const SOURCE_BYTES_MAX: usize = 64 << 10;
/// The largest outcome of compiling that is kept.
const COMPILED_BYTES_MAX: usize = 512 << 10;
/// How much all of them take together; when it is more, all are forgotten.
const ALL_BYTES_MAX: usize = 16 << 20;
/// The run of a program at which it is worth compiling it ahead.
const WORTH_AT: u32 = 2;

/// A program as Python has compiled it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Compiled {
    /// The workspace's helpers.
    pub(crate) helpers: Vec<u8>,
    /// The program.
    pub(crate) program: Vec<u8>,
}

impl Compiled {
    /// Reads what a cell that compiles gives back; `None` if it is malformed.
    pub(crate) fn read(values: &serde_json::Map<String, Value>) -> Option<Self> {
        let part = |name: &str| values.get(name)?.as_str().and_then(bytes);
        let compiled = Self { helpers: part("helpers")?, program: part("program")? };
        (!compiled.program.is_empty() && compiled.size() <= COMPILED_BYTES_MAX).then_some(compiled)
    }

    fn size(&self) -> usize {
        self.helpers.len() + self.program.len()
    }
}

/// The programs that were run lately.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    known: Mutex<HashMap<[u8; 32], RecentProgram>>,
}

#[derive(Debug, Default)]
struct RecentProgram {
    runs: u32,
    compiled: Option<Arc<Compiled>>,
}

/// What is known of a program that is about to run.
#[derive(Debug)]
pub(crate) enum Ahead {
    /// It is compiled.
    Compiled(Arc<Compiled>),
    /// It should be compiled, and kept under this name.
    Worth([u8; 32]),
    /// Nothing, yet or for good.
    Nothing,
}

impl Programs {
    /// Counts a run, and tells what is known.
    pub(crate) fn run(&self, job: &Job) -> Ahead {
        // A session's programs are new each time.
        if job.session.is_some() || job.code.code().len() + job.helpers.len() > SOURCE_BYTES_MAX {
            return Ahead::Nothing;
        }
        let name = name_of(job);
        let mut known = lock(&self.known);
        if known.len() >= KNOWN_MAX && !known.contains_key(&name) {
            known.clear();
        }
        let program = known.entry(name).or_default();
        if let Some(compiled) = &program.compiled {
            return Ahead::Compiled(Arc::clone(compiled));
        }
        program.runs = program.runs.saturating_add(1);
        if program.runs == WORTH_AT { Ahead::Worth(name) } else { Ahead::Nothing }
    }

    /// How many programs are compiled.
    pub(crate) fn count(&self) -> usize {
        lock(&self.known).values().filter(|known| known.compiled.is_some()).count()
    }

    /// Keeps what compiling gave.
    pub(crate) fn keep(&self, name: [u8; 32], compiled: Compiled) {
        let mut known = lock(&self.known);
        let kept: usize =
            known.values().filter_map(|program| program.compiled.as_deref()).map(Compiled::size).sum();
        if kept + compiled.size() > ALL_BYTES_MAX {
            known.clear();
        }
        known.entry(name).or_default().compiled = Some(Arc::new(compiled));
    }
}

/// Names everything that compiling depends on. All profiles of an executor have the same interpreter.
fn name_of(job: &Job) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [&job.name, &job.helpers, job.code.code()] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// The bytes that hexadecimal digits stand for.
fn bytes(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || text.len() > 2 * COMPILED_BYTES_MAX {
        return None;
    }
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let pair = |pair: &[u8]| u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok();
    text.as_bytes().chunks_exact(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use ordain_types::Schema;
    use ordain_verify::{Contract, Policy, verify};
    use serde_json::json;

    use super::*;
    use crate::profile::Profile;

    fn job(source: &str) -> Job {
        let verdict = verify(source, &Policy::for_contract(Contract::Exec), &Schema::default());
        Job::new(verdict.verified().unwrap().clone(), Profile::Core)
    }

    fn values(helpers: &str, program: &str) -> serde_json::Map<String, Value> {
        json!({ "helpers": helpers, "program": program }).as_object().unwrap().clone()
    }

    #[test]
    fn a_program_is_compiled_ahead_at_its_second_run_and_used_from_the_third() {
        let (programs, job) = (Programs::default(), job("print(1)"));
        assert!(matches!(programs.run(&job), Ahead::Nothing));
        let Ahead::Worth(name) = programs.run(&job) else { panic!("it is worth it") };
        assert!(matches!(programs.run(&job), Ahead::Nothing), "it is asked for once");
        programs.keep(name, Compiled { helpers: Vec::new(), program: vec![1] });
        assert!(matches!(programs.run(&job), Ahead::Compiled(_)));
    }

    #[test]
    fn programs_are_forgotten_before_they_take_too_much_memory() {
        let programs = Programs::default();
        let large = || Compiled { helpers: Vec::new(), program: vec![0; COMPILED_BYTES_MAX] };
        for number in 0..=u8::try_from(ALL_BYTES_MAX / COMPILED_BYTES_MAX).unwrap() {
            programs.keep([number; 32], large());
        }
        assert_eq!(programs.count(), 1);
        for number in 0..=KNOWN_MAX {
            programs.run(&job(&format!("print({number})")));
        }
        assert!(lock(&programs.known).len() <= KNOWN_MAX);
    }

    #[test]
    fn another_name_or_other_helpers_make_another_program() {
        let programs = Programs::default();
        let mut named = job("print(1)");
        named.name = "other.py".into();
        let mut helped = job("print(1)");
        helped.helpers = "x = 1".into();
        for job in [job("print(1)"), named, helped] {
            assert!(matches!(programs.run(&job), Ahead::Nothing));
        }
    }

    #[test]
    fn what_is_no_compiled_code_is_not_kept() {
        assert_eq!(
            Compiled::read(&values("", "0aFF")),
            Some(Compiled { helpers: vec![], program: vec![10, 255] })
        );
        for wrong in [values("", ""), values("0", "00"), values("zz", "00"), values("é", "00")] {
            assert_eq!(Compiled::read(&wrong), None, "{wrong:?}");
        }
        assert_eq!(Compiled::read(&serde_json::Map::new()), None);
        assert_eq!(Compiled::read(&values("", &"00".repeat(COMPILED_BYTES_MAX + 1))), None);
    }
}
