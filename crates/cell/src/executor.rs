//! Runs jobs: the trait that everything above uses, and its local form.

pub(crate) mod profile_spec;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ordain_types::{Cause, Limits, Place, Places};
use tokio::time::Instant;

use crate::artifact::{self, Collected, Keep};
use crate::cell::{Cell, Ran};
use crate::compiled::{Ahead, Compiled, Programs};
use crate::error::CellError;
use crate::files;
use crate::host::Host;
use crate::isolation::{self, Level};
use crate::job::{Execution, InputFile, Job, Output, Timing};
use crate::mount::{self, Mount};
use crate::pool::Pool;
use crate::profile::{self, DataDir, Profile};
use crate::resident::{Lender, Resident};
use crate::scratch::Scratch;
use crate::session::{Session, Sessions};
use crate::shared::{SharedCell, SharedCells};

pub(crate) use profile_spec::bare_spec;

/// How often a job is given to a cell before it fails with `cell lost`.
const TRIES: usize = 3;

/// What cells are given copies of, all together: as long as that takes a fraction of the start of a zygote that shows the files.
const COPIED_BYTES_MAX: u64 = 256 << 20;
/// The same for one cell, which has address space to map as much.
const COPIED_TO_ONE_MAX: u64 = 128 << 20;
/// A zygote of their own rehearses once for as many jobs as this: that is when it pays.
const JOBS_FOR_REHEARSAL: usize = 4;
/// After so many rehearsals the interpreter has specialised what jobs have in common.
const REHEARSALS_MAX: usize = 50;

/// Input files, opened.
type Opened = Vec<(String, std::fs::File)>;

/// What running a job gives, when it is done.
pub type ExecutionFuture<'a> = Pin<Box<dyn Future<Output = Result<Execution, CellError>> + Send + 'a>>;

/// Runs verified code somewhere: in local cells, or on another machine that has them.
pub trait Executor: Send + Sync {
    /// Runs a job to its end. Output is passed on as it comes and is part of the execution as well. Dropping the future
    /// ends the cell.
    fn run<'a>(&'a self, job: Job, host: &'a mut dyn Host, output: &'a mut dyn Output)
    -> ExecutionFuture<'a>;

    /// Ends a session; `false` if there is none of that name.
    fn end_session<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

    /// Whether jobs that may share a cell do so. One that does not come out well is to be run again alone.
    fn shares_cells(&self) -> bool {
        false
    }

    /// Begins what jobs of a profile wait for, where some are certain to come. `bytes` is what the files take that they read.
    fn expect<'a>(&'a self, _: Profile, _bytes: u64) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(std::future::ready(()))
    }

    /// How many jobs that read the same files come by them.
    fn sharing(&self, _shared: Shared) -> Result<Sharing, CellError> {
        Ok(Sharing::Sent)
    }
}

/// How jobs come by files that they share.
#[derive(Debug)]
pub enum Sharing {
    /// These cells see them in place.
    Shown(Box<LocalExecutor>),
    /// The executor's own cells are on this machine, and copies for them take less time than a zygote that shows the files.
    Copied,
    /// They go with each job to where its cell is.
    Sent,
}

/// What many jobs have in common.
#[derive(Debug, Clone)]
pub struct Shared {
    /// The files that they read.
    pub files: Vec<InputFile>,
    /// Jobs that run at once.
    pub running_max: usize,
    /// Jobs in all, as far as is known.
    pub jobs: usize,
    /// Cells that read them, each of which would need a copy.
    pub cells: usize,
    /// A folder on disk in which they may write. No job of a person's or a model's code may be among them then.
    pub scratch: Option<Scratch>,
}

/// How a local executor is set up.
#[derive(Debug, Clone)]
pub struct LocalOptions {
    /// Where profiles are installed.
    pub data_dir: DataDir,
    /// Idle cells kept ready for each profile in use.
    pub idle_cells: usize,
    /// Jobs that run at once.
    pub running_max: usize,
    /// Jobs that may wait for a place.
    pub waiting_max: usize,
    /// Sessions that may be open at once.
    pub sessions_max: usize,
    /// The lowest level of isolation at which anything runs.
    pub minimum: Level,
    /// The limits whose work folder idle cells are made for.
    pub limits: Limits,
    /// Files of the host that every cell sees as `files[name]`, read-only and without a copy, whatever their size. They
    /// count neither as a job's files nor as its memory.
    pub mounts: Vec<InputFile>,
    /// How often a zygote goes through a typical program before its first cell: worth its time where many jobs follow.
    /// `None` is often where cells are kept idle, and once elsewhere.
    pub rehearsals: Option<u32>,
    /// A folder on disk in which every cell may write.
    pub scratch: Option<Scratch>,
    /// Where helpers with warm cells are found. They are asked only where no cells are kept idle and no files are mounted.
    pub resident: Option<Resident>,
}

impl LocalOptions {
    /// Defaults for a machine of any size.
    pub fn new(data_dir: DataDir) -> Self {
        Self {
            data_dir,
            idle_cells: 4,
            running_max: 32,
            waiting_max: 512,
            sessions_max: 64,
            minimum: Level::Full,
            limits: Limits::default(),
            mounts: Vec::new(),
            rehearsals: None,
            scratch: None,
            resident: None,
        }
    }
}

/// How busy an executor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Jobs that run.
    pub running: usize,
    /// Jobs that wait for a place.
    pub waiting: usize,
}

/// Runs jobs in cells on this machine.
#[derive(Debug)]
pub struct LocalExecutor {
    options: LocalOptions,
    level: Level,
    mounts: Vec<Mount>,
    pools: tokio::sync::Mutex<HashMap<Profile, Arc<Pool>>>,
    sessions: Sessions,
    shared: SharedCells,
    places: Arc<Places>,
    waiting: AtomicUsize,
    programs: Arc<Programs>,
}

impl LocalExecutor {
    /// An executor for this machine. Fails if the machine cannot isolate as well as `options` ask for, or if a file
    /// cannot be mounted.
    pub fn new(options: LocalOptions) -> Result<Self, CellError> {
        let level = isolation::require(options.minimum)?;
        let mounts = mount::prepare(&options.mounts)?;
        Ok(Self {
            level,
            mounts,
            pools: tokio::sync::Mutex::default(),
            sessions: Sessions::new(options.sessions_max),
            shared: SharedCells::default(),
            places: Places::new(options.running_max),
            waiting: AtomicUsize::new(0),
            programs: Arc::default(),
            options,
        })
    }

    /// How well jobs are isolated.
    pub fn level(&self) -> Level {
        self.level
    }

    /// How busy it is at this moment.
    pub fn load(&self) -> Load {
        Load { running: self.places.taken(), waiting: self.waiting.load(Ordering::Acquire) }
    }

    /// How many cells are ready and wait for a job, over all profiles.
    pub async fn idle_cells(&self) -> usize {
        self.pools.lock().await.values().map(|pool| pool.idle_count()).sum()
    }

    /// How many programs that run often are compiled ahead.
    pub fn compiled_programs(&self) -> usize {
        self.programs.count()
    }

    /// Starts a profile's zygote and makes its idle cells, so that the first job need not wait for them.
    pub async fn warm(&self, profile: Profile) -> Result<(), CellError> {
        self.pool(profile).await?.fill().await
    }

    /// Makes a cell on demand and ends it again, for measurements of a fresh cell.
    pub async fn run_fresh(
        &self,
        job: Job,
        host: &mut dyn Host,
        output: &mut dyn Output,
    ) -> Result<Execution, CellError> {
        let started = Instant::now();
        let pool = self.pool(job.profile).await?;
        let mut cell = pool.fresh(job.limits.work_bytes()).await?;
        let queue = started.elapsed();
        let ran = cell.run(&job, &Compiled::default(), host, output).await?;
        Ok(self.finish_single(cell, ran, &job, started, queue).await)
    }

    /// Process descriptors of a profile's idle cells, for measurements.
    pub async fn idle_processes(&self, profile: Profile) -> Vec<std::os::fd::OwnedFd> {
        match self.pools.lock().await.get(&profile) {
            Some(pool) => pool.idle_processes(),
            None => Vec::new(),
        }
    }

    /// The process number of a profile's zygote, for tests and measurements.
    pub async fn zygote_process(&self, profile: Profile) -> Option<u32> {
        let pool = self.pools.lock().await.get(&profile).cloned();
        match pool {
            Some(pool) => pool.zygote_process().await,
            None => None,
        }
    }

    /// Ends all sessions, cells and zygotes, and waits until they are gone.
    pub async fn close(&self) {
        self.sessions.close().await;
        for mut shared in self.shared.close() {
            shared.cell.end().await;
        }
        for (_, pool) in self.pools.lock().await.drain() {
            pool.close().await;
        }
    }

    async fn pool(&self, profile: Profile) -> Result<Arc<Pool>, CellError> {
        let mut pools = self.pools.lock().await;
        if let Some(pool) = pools.get(&profile) {
            return Ok(Arc::clone(pool));
        }
        let data_dir = self.options.data_dir.clone();
        let ensured = move || profile::ensure(profile, &data_dir, &mut profile::Silent);
        let installed = tokio::task::spawn_blocking(ensured).await.map_err(|_| CellError::Lost)??;
        let spec = profile_spec::spec(&installed, &self.mounts, &self.options)?;
        let resident = self.options.resident.as_ref();
        let lender = resident
            .filter(|_| {
                self.options.idle_cells == 0 && self.mounts.is_empty() && self.options.scratch.is_none()
            })
            .and_then(|resident| Lender::new(resident, &installed, &self.options));
        let pool = Pool::new(spec, self.options.idle_cells, self.options.limits.work_bytes(), lender);
        pools.insert(profile, Arc::clone(&pool));
        Ok(pool)
    }

    /// A place among the running jobs, or a refusal when too many wait already.
    async fn place(&self) -> Result<Place, CellError> {
        if let Some(place) = self.places.try_take() {
            return Ok(place);
        }
        let _waiting = Counted::new(&self.waiting, self.options.waiting_max)
            .ok_or(CellError::Busy { waiting: self.options.waiting_max })?;
        Ok(self.places.take().await)
    }

    async fn execute(
        &self,
        mut job: Job,
        host: &mut dyn Host,
        output: &mut dyn Output,
    ) -> Result<Execution, CellError> {
        let started = Instant::now();
        job.may_share &= self.shares_cells() && job.session.is_none() && job.files.is_empty();
        let opened = files::open(&job.files, &job.limits)?;
        let _place = if job.is_within { None } else { Some(self.place().await?) };
        let pool = self.pool(job.profile).await?;
        match &job.session {
            Some(_) => self.run_in_session(&pool, opened, job, host, output, started).await,
            None if job.may_share => self.run_shared(&pool, job, host, output, started).await,
            None => self.run_single(&pool, opened, job, host, output, started).await,
        }
    }

    async fn run_single(
        &self,
        pool: &Arc<Pool>,
        opened: Opened,
        job: Job,
        host: &mut dyn Host,
        output: &mut dyn Output,
        started: Instant,
    ) -> Result<Execution, CellError> {
        let mut opened = Some(opened);
        let compiled = self.compiled(pool, &job);
        for attempt in 1.. {
            let ran = async {
                let mut cell = pool.take(job.limits.work_bytes()).await?;
                place_files(&mut cell, &mut opened, &job).await?;
                let queue = started.elapsed();
                Ok((cell.run(&job, &compiled, host, output).await?, cell, queue))
            };
            match ran.await {
                // It had no visible effect, so it may run again.
                Ok((ran, ..)) if ran.is_lost_in_silence && ran.host_calls == 0 && attempt < TRIES => {}
                // The caller answered its calls: it can roll them back and run the job again.
                Ok((ran, ..)) if ran.is_lost_in_silence && ran.host_calls > 0 => {
                    let (executor, said) = ("this machine".to_owned(), "the cell's zygote ended".to_owned());
                    return Err(CellError::Cut { executor, said });
                }
                Ok((ran, cell, queue)) => {
                    return Ok(self.finish_single(cell, ran, &job, started, queue).await);
                }
                // The cell was lost before the job reached it, so another may have it.
                Err(CellError::Lost) if attempt < TRIES => {}
                Err(error) => return Err(error),
            }
        }
        unreachable!("the last attempt returns")
    }

    /// The job's code as it was compiled before. Code that comes again is compiled aside for the times after this one.
    fn compiled(&self, pool: &Arc<Pool>, job: &Job) -> Arc<Compiled> {
        match self.programs.run(job) {
            Ahead::Compiled(compiled) => compiled,
            Ahead::Nothing => Arc::default(),
            Ahead::Worth(name) => {
                // Where no cells are kept, one for this purpose would cost more than it saves.
                if self.options.idle_cells > 0 {
                    let (programs, pool, job) = (Arc::clone(&self.programs), Arc::clone(pool), job.clone());
                    tokio::spawn(async move {
                        let Ok(mut cell) = pool.take(job.limits.work_bytes()).await else { return };
                        if let Some(compiled) = cell.compile(&job).await {
                            programs.keep(name, compiled);
                        }
                    });
                }
                Arc::default()
            }
        }
    }

    async fn run_in_session(
        &self,
        pool: &Arc<Pool>,
        opened: Opened,
        mut job: Job,
        host: &mut dyn Host,
        output: &mut dyn Output,
        started: Instant,
    ) -> Result<Execution, CellError> {
        let name = job.session.clone().unwrap_or_default();
        let mut entered = self.sessions.enter(&name).await?;
        let asked = job.limits.clone();
        let mut opened = Some(opened);
        for attempt in 1.. {
            let ran = async {
                let mut session = match entered.place.take() {
                    Some(session) if session.cell.is_alive() => {
                        session.cell.resume();
                        session
                    }
                    _ => Session::new(pool.take(asked.work_bytes()).await?, &asked),
                };
                job.limits = session.lower(&asked);
                if job.is_fresh {
                    session.forget();
                }
                place_files(&mut session.cell, &mut opened, &job).await?;
                let queue = started.elapsed();
                Ok((session.cell.run(&job, &Compiled::default(), host, output).await?, session, queue))
            };
            match ran.await {
                Ok((ran, session, queue)) => {
                    let (collected, session) = leave(session, &ran, &job.limits).await;
                    *entered.place = session;
                    return Ok(self.execution(ran, collected, Vec::new(), &job, started, queue));
                }
                // The cell was lost before the job reached it: the session starts again.
                Err(CellError::Lost) if attempt < TRIES => {}
                Err(error) => return Err(error),
            }
        }
        unreachable!("the last attempt returns")
    }

    /// Runs a job in a cell that such jobs share. The cell ends with a job that did not come out well or left files.
    async fn run_shared(
        &self,
        pool: &Arc<Pool>,
        job: Job,
        host: &mut dyn Host,
        output: &mut dyn Output,
        started: Instant,
    ) -> Result<Execution, CellError> {
        let job = Job { is_fresh: true, ..job };
        let compiled = self.compiled(pool, &job);
        for attempt in 1.. {
            let mut shared = match self.shared.take(&job) {
                Some(shared) => shared,
                None => SharedCell::new(pool.take(job.limits.work_bytes()).await?, &job),
            };
            let queue = started.elapsed();
            match shared.cell.run(&job, &compiled, host, output).await {
                Ok(ran) if ran.cause == Cause::Ok && artifact::is_empty(shared.cell.work()) => {
                    self.shared.keep(shared);
                    let collected = Collected::default();
                    return Ok(self.execution(ran, collected, Vec::new(), &job, started, queue));
                }
                Ok(ran) => return Ok(self.finish_single(shared.cell, ran, &job, started, queue).await),
                // The cell was lost before the job reached it, so another may have it.
                Err(CellError::Lost) if attempt < TRIES => {}
                Err(error) => return Err(error),
            }
        }
        unreachable!("the last attempt returns")
    }

    /// Ends a single-use cell and takes what it left.
    async fn finish_single(
        &self,
        mut cell: Cell,
        ran: Ran,
        job: &Job,
        started: Instant,
        queue: std::time::Duration,
    ) -> Execution {
        let left_behind = artifact::left_behind(cell.work());
        // The usual job leaves nothing, and then there is no need to wait for the cell to end.
        let collected = if artifact::is_empty(cell.work()) {
            Collected::default()
        } else {
            cell.end().await;
            let keep = if job.is_unseen { Keep::Unseen } else { Keep::Descriptor };
            artifact::collect(cell.work(), &job.limits, keep)
        };
        // Nor for its descriptors to be closed.
        tokio::spawn(async move { drop(cell) });
        self.execution(ran, collected, left_behind, job, started, queue)
    }

    fn execution(
        &self,
        ran: Ran,
        collected: Collected,
        left_behind: Vec<String>,
        job: &Job,
        started: Instant,
        queue: std::time::Duration,
    ) -> Execution {
        let (exit, error, values, notes) = match ran.claim {
            Some(claim) => (Some(claim.exit), claim.error, claim.values, claim.notes),
            None => Default::default(),
        };
        let (cause, detail) = match collected.over_limit {
            Some(detail) if ran.cause == Cause::Ok => (Cause::ArtifactLimit, Some(detail)),
            _ => (ran.cause, ran.detail),
        };
        Execution {
            cause,
            exit,
            signal: ran.signal,
            stdout: ran.captured.stdout,
            stderr: ran.captured.stderr,
            output_truncated: ran.captured.is_truncated,
            error,
            values,
            notes,
            artifacts: collected.artifacts,
            refused: collected.refused,
            left_behind,
            detail,
            limits: job.limits.clone(),
            timing: Timing { queue, run: ran.run, total: started.elapsed() },
            isolation: self.level,
            host_calls: ran.host_calls,
        }
    }
}

impl Executor for LocalExecutor {
    fn run<'a>(
        &'a self,
        job: Job,
        host: &'a mut dyn Host,
        output: &'a mut dyn Output,
    ) -> ExecutionFuture<'a> {
        Box::pin(self.execute(job, host, output))
    }

    fn end_session<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(self.sessions.end(name))
    }

    /// Where no cells are kept idle the process ends soon, and there is nothing to share.
    fn shares_cells(&self) -> bool {
        self.options.idle_cells > 0
    }

    fn expect<'a>(&'a self, profile: Profile, bytes: u64) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            // A job with larger files gets a zygote of its own, so starting one ahead would not help it. If this one cannot
            // start, nothing is said here: the job that needs it tries again and gets the error.
            if bytes <= COPIED_TO_ONE_MAX
                && let Ok(pool) = self.pool(profile).await
            {
                pool.expect();
            }
        })
    }

    fn sharing(&self, shared: Shared) -> Result<Sharing, CellError> {
        if shared.scratch.is_none() && is_quick_to_copy(&shared) {
            return Ok(Sharing::Copied);
        }
        // Every cell is made for a job that waits already. Cells that are made ahead practise before they are idle, which
        // a run that keeps all processors busy would pay for and never get back.
        let options = LocalOptions {
            idle_cells: 0,
            running_max: shared.running_max.max(1),
            waiting_max: 1 << 20,
            mounts: shared.files,
            scratch: shared.scratch,
            rehearsals: u32::try_from((shared.jobs / JOBS_FOR_REHEARSAL).clamp(1, REHEARSALS_MAX)).ok(),
            ..self.options.clone()
        };
        Ok(Sharing::Shown(Box::new(LocalExecutor::new(options)?)))
    }
}

/// Whether cells that are there, or come of a zygote that is, have copies before a zygote of their own could show them the files.
fn is_quick_to_copy(shared: &Shared) -> bool {
    let sizes = shared.files.iter().map(|file| std::fs::metadata(&file.path).map(|metadata| metadata.len()));
    let bytes = sizes.sum::<Result<u64, _>>().unwrap_or(u64::MAX);
    bytes <= COPIED_TO_ONE_MAX && bytes.saturating_mul(shared.cells as u64) <= COPIED_BYTES_MAX
}

/// Copies the job's files into a cell. They are opened again when an earlier cell was lost with them.
async fn place_files(cell: &mut Cell, opened: &mut Option<Opened>, job: &Job) -> Result<(), CellError> {
    let opened = match opened.take() {
        Some(opened) => opened,
        None => files::open(&job.files, &job.limits)?,
    };
    files::place(cell, opened).await
}

/// Takes what a session's job left. The session stays unless its cell broke the rules or a limit; until its next job
/// it stands still, so that threads which a job left behind use nothing.
async fn leave(mut session: Session, ran: &Ran, limits: &Limits) -> (Collected, Option<Session>) {
    if ran.claim.is_none() {
        session.cell.end().await;
        let mut collected = artifact::collect(session.cell.work(), limits, Keep::Descriptor);
        session.keep_new(&mut collected.artifacts);
        return (collected, None);
    }
    session.cell.pause();
    if artifact::is_empty(session.cell.work()) {
        return (Collected::default(), Some(session));
    }
    let mut collected = artifact::collect(session.cell.work(), limits, Keep::Copy);
    session.keep_new(&mut collected.artifacts);
    (collected, Some(session))
}

/// One more in a bounded count, for as long as it lives.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize, count_max: usize) -> Option<Self> {
        let more = |count: usize| (count < count_max).then_some(count + 1);
        count.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok().map(|_| Self(count))
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
