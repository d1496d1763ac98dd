//! One round: every program of a folder through one executor process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use ordain_cell::profile::Profile;

use super::client::{Client, Running, Start};
use super::end::HostBefore;
use super::evidence::{Data, Evidence};
use super::judge::{self, judge};
use super::listing::{self, Listing};
use super::observed::Observed;
use super::plant::{CANARY_FOLDER, Plant};
use super::processes::{self, Family, Process};
use super::program::{self, Program, ProgramLimits};
use super::pulse::Pulse;
use super::report::{Judged, Report, Verdict};
use super::tables;
use super::word::Word;

/// The probe of `next-cell-clean`, for folders that have none of their own.
const PROBE: &str = include_str!("../../../cell/tests/attacks/88_probe_state.py");
const PROBE_FILE: &str = "88_probe_state.py";
const NEIGHBOUR_WALL: Duration = Duration::from_secs(10);
/// How much more time a program gets that did not come to its end in its own.
const MORE_TIME: u32 = 10;
/// When leftover processes are looked for.
const LEFTOVER_AFTER: Duration = Duration::from_secs(1);
/// How long the cells of other runs, such as the neighbour's, may take to be gone after their outcome.
const OTHERS_GO_IN: Duration = Duration::from_millis(200);
/// Usual places for a file that proves a break-out.
const PWNED: [&str; 4] = ["/pwned", "/tmp/pwned", "/var/tmp/pwned", "/dev/shm/pwned"];

/// What a round is made of.
#[derive(Debug)]
pub struct Options {
    /// The folder with the programs.
    pub folder: PathBuf,
    /// The packages that programs can import.
    pub profile: Profile,
    /// Starts the program that calls [`super::serve_if_asked`].
    pub executor: Command,
}

/// Runs a round, telling each judgement as it is made.
pub fn run(options: Options, mut tell: impl FnMut(&Judged)) -> Result<Report> {
    let programs = program::read_folder(&options.folder).context("failed to read the programs")?;
    if programs.is_empty() {
        bail!("there is no program in `{}`", options.folder.display());
    }
    let plant = Plant::new()?;
    let before = HostBefore::look(&plant)?;
    let start = Start {
        command: options.executor,
        canary: &plant.canary,
        work: &plant.work,
        temporary: &plant.temporary,
        log: &plant.log,
        profile: options.profile,
    };
    let client = Client::start(start)?;
    let mut round = Round {
        family: Family::of(client.process()),
        probe: probe_of(&programs),
        pulse: Pulse::start(),
        plant: &plant,
        client,
        logged: 0,
        runs: 0,
        first_run: 1,
    };
    let mut judged = Vec::new();
    for read in programs {
        let one = match read {
            Ok(program) => round.program(&program),
            Err((file, error)) => {
                Judged::new(&file, None, None, 0, vec![format!("its header does not parse: {error}")])
            }
        };
        tell(&one);
        judged.push(one);
    }
    let end_problems = before.end(&plant, &mut round.client, &mut round.family);
    Ok(Report::new(judged, end_problems))
}

fn probe_of(programs: &[program::Read]) -> String {
    let own = programs.iter().flatten().find(|program| program.file == PROBE_FILE);
    own.map_or(PROBE, |program| &program.source).to_owned()
}

/// A round in progress.
struct Round<'a> {
    client: Client,
    family: Family,
    plant: &'a Plant,
    probe: String,
    pulse: Pulse,
    /// How much of the log was read.
    logged: usize,
    /// How many runs there were.
    runs: u64,
    /// The first whose folder still exists.
    first_run: u64,
}

/// What was looked at before a program ran.
struct Before {
    members: Result<BTreeMap<Process, String>>,
    idle: Result<Vec<u32>>,
    memory_bytes: Result<u64>,
    files: Result<Listing>,
    cores: Result<Listing>,
    data: Result<Data>,
}

impl Round<'_> {
    fn program(&mut self, program: &Program) -> Judged {
        let (file, class) = (program.file.as_str(), Some(program.class));
        if program.arch.as_deref().is_some_and(|arch| arch != std::env::consts::ARCH) {
            let skipped = Judged::new(file, class, None, 0, Vec::new());
            return Judged { verdict: Verdict::Skipped, ..skipped };
        }
        let evidence = self.evidence(program, 1).and_then(|evidence| {
            // On a loaded machine the time may be over before the program has done what it is judged by.
            if evidence.is_cut_short(program) { self.evidence(program, MORE_TIME) } else { Ok(evidence) }
        });
        let evidence = match evidence {
            Ok(evidence) => evidence,
            Err(error) => {
                return Judged::new(file, class, None, 0, vec![format!("it could not be run: {error:#}")]);
            }
        };
        let run = &evidence.run;
        let elapsed_ms = u64::try_from(run.elapsed.as_millis()).unwrap_or(u64::MAX);
        Judged::new(file, class, run.cause, elapsed_ms, judge(program, &evidence))
    }

    /// Runs a program, with so many times the time that its runs may take, and looks at everything that its words ask
    /// for.
    fn evidence(&mut self, program: &Program, times: u32) -> Result<Evidence> {
        let wants = |word: Word| program.after.contains(&word);
        let before = self.look_before()?;
        let neighbour =
            if wants(Word::NeighbourUnharmed) { Some(self.start_neighbour(times)?) } else { None };
        let run = self.start(program, times)?;
        let started = run.started;
        let twin = if wants(Word::PairIsolated) { Some(self.start(program, times)?) } else { None };
        let run = Observed::wait(run);
        let ended = Instant::now();
        let memory_after = processes::memory_peak_bytes(self.client.process());
        let probe =
            if wants(Word::NextCellClean) { Some(Observed::wait(self.start_probe(times)?)) } else { None };
        let again = if wants(Word::DiffersBetweenCells) {
            Some(Observed::wait(self.start(program, times)?))
        } else {
            None
        };
        let mut evidence = Evidence {
            twin: twin.map(Observed::wait),
            neighbour: neighbour.map(Observed::wait),
            lateness: self.lateness(program, &run, probe.as_ref(), started),
            times,
            run,
            probe,
            again,
            memory_bytes: before.memory_bytes.ok().zip(memory_after.ok()),
            canary: self.plant.canary.clone(),
            passwd: self.plant.passwd.clone(),
            ..Evidence::default()
        };
        if wants(Word::NoLeftoverProcess) {
            // The other runs must have had a moment to go as well.
            let rest = LEFTOVER_AFTER.saturating_sub(ended.elapsed());
            std::thread::sleep(rest.max(OTHERS_GO_IN));
            evidence.leftovers = self.leftovers(before.members, before.idle).ok();
        }
        self.look_after(&mut evidence, before.files, before.cores, before.data);
        Ok(evidence)
    }

    fn look_before(&mut self) -> Result<Before> {
        // Waiting for the idle cells first gives every program a pool at rest.
        let idle = self.client.idle();
        let process = self.client.process();
        self.plant.listeners.heard()?;
        Ok(Before {
            idle,
            members: self.family.members(),
            memory_bytes: processes::reset_memory_peak(process)
                .and_then(|()| processes::memory_peak_bytes(process)),
            files: self.files(),
            cores: cores(),
            data: self.data(),
        })
    }

    fn look_after(
        &mut self,
        evidence: &mut Evidence,
        files: Result<Listing>,
        cores_before: Result<Listing>,
        data: Result<Data>,
    ) {
        // What came of the runs has been read; the rest of the folder must be as it was.
        for run in std::mem::replace(&mut self.first_run, self.runs + 1)..=self.runs {
            let _ = std::fs::remove_dir_all(self.run_folder(run));
        }
        evidence.files = files.and_then(|before| Ok((before, self.files()?))).ok();
        evidence.cores = cores_before.and_then(|before| Ok((before, cores()?))).ok();
        evidence.data = data.and_then(|before| Ok((before, self.data()?))).ok();
        evidence.packets = self.plant.listeners.heard().ok();
        evidence.pwned =
            PWNED.iter().filter(|path| Path::new(path).exists()).map(|&path| path.into()).collect();
        evidence.is_executor_alive = self.client.is_alive();
        let log = self.client.log_text().into_bytes();
        evidence.log = log.get(self.logged..).unwrap_or_default().to_vec();
        self.logged = log.len();
    }

    fn start(&mut self, program: &Program, times: u32) -> Result<Running> {
        self.start_code(&program.file, &program.source, &program.limits, times)
    }

    fn start_neighbour(&mut self, times: u32) -> Result<Running> {
        let limits = ProgramLimits { wall: NEIGHBOUR_WALL, ..ProgramLimits::default() };
        self.start_code("neighbour.py", judge::NEIGHBOUR, &limits, times)
    }

    fn start_probe(&mut self, times: u32) -> Result<Running> {
        let probe = self.probe.clone();
        self.start_code(PROBE_FILE, &probe, &ProgramLimits::default(), times)
    }

    fn start_code(&mut self, name: &str, code: &str, limits: &ProgramLimits, times: u32) -> Result<Running> {
        self.runs += 1;
        let folder = self.run_folder(self.runs);
        let given = (self.plant.input.as_path(), self.plant.store.as_path());
        let limits = ProgramLimits { wall: times * limits.wall, ..limits.clone() };
        self.client.run(name, code, &limits, given, folder)
    }

    fn run_folder(&self, run: u64) -> PathBuf {
        self.plant.results.join(run.to_string())
    }

    /// How late the machine was, asked only where it matters, since the answer must be waited for.
    fn lateness(
        &self,
        program: &Program,
        run: &Observed,
        probe: Option<&Observed>,
        started: Instant,
    ) -> Duration {
        let is_late = run.elapsed > program.limits.wall
            || probe.is_some_and(|probe| probe.elapsed > Duration::from_secs(1));
        if is_late { self.pulse.lateness(started, Instant::now()) } else { Duration::ZERO }
    }

    /// Descendants of the executor that were not there before and are no idle cells.
    fn leftovers(
        &mut self,
        before: Result<BTreeMap<Process, String>>,
        idle_before: Result<Vec<u32>>,
    ) -> Result<Vec<String>> {
        let (before, idle_before) = (before?, idle_before?);
        let idle = self.client.idle()?;
        let was_there =
            |process: &Process| before.contains_key(process) && !idle_before.contains(&process.number);
        let members = self.family.members()?;
        let left =
            members.iter().filter(|(process, _)| !idle.contains(&process.number) && !was_there(process));
        Ok(left.map(|(process, name)| format!("{process} ({name})")).collect())
    }

    /// The folders in which nothing may change: the executor's own, what lies beside the results, the canary's.
    fn files(&self) -> Result<Listing> {
        let plant = self.plant;
        let folders = [&plant.work, &plant.temporary, &plant.results, Path::new(CANARY_FOLDER)];
        Listing::of(&folders, &[])
    }

    /// What the programs were given.
    fn data(&self) -> Result<Data> {
        let tables = tables::dump(&self.plant.store)?;
        Ok(Data { input: listing::hash_file(&self.plant.input)?, tables })
    }
}

fn cores() -> Result<Listing> {
    let folders = listing::core_folders()?;
    let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
    Listing::of(&folders, &[])
}
