//! An executor on another machine, as an [`Executor`] like any other.

mod connect;
mod digests;
mod run;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use ordain_cell::profile::Profile;
use ordain_cell::{CellError, Execution, ExecutionFuture, Executor, Host, Job, Level, Output};
use ordain_verify::VERIFIER_VERSION;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Request, Status};

use super::proto;
use super::proto::executor_client::ExecutorClient;
use super::status::{self, Reason};
use connect::Credentials;
pub use connect::{ConnectError, RemoteOptions, RemoteTls};
use digests::Digests;

/// How long a question that runs no code may take.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(10);

type Clients = Arc<[Client]>;
type Client = ExecutorClient<InterceptedService<Channel, Credentials>>;

/// Runs jobs on an executor elsewhere. Connections are made when they are needed, and made again when they are lost.
#[derive(Debug)]
pub struct RemoteExecutor {
    address: String,
    options: RemoteOptions,
    clients: RwLock<Clients>,
    next: AtomicUsize,
    sessions: tokio::sync::Mutex<HashMap<String, Arc<str>>>,
    /// Why it gets no jobs, if it may get none; nothing, until it has said what it is.
    fitness: RwLock<Option<Result<(), String>>>,
    /// How much of tables it keeps between jobs; 0 if none.
    kept_bytes_max: AtomicU64,
    digests: Digests,
}

/// A job that came to no execution.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) error: CellError,
    /// Whether anything of the code was heard before: output that was passed on, or a call that the host began to
    /// answer. If so, the job cannot simply be given to somebody else.
    pub(crate) was_heard: bool,
}

impl Failed {
    fn before(error: CellError) -> Self {
        Self { error, was_heard: false }
    }
}

impl RemoteExecutor {
    /// An executor at an address such as `http://127.0.0.1:50051`. Nothing is sent yet.
    pub fn new(address: &str, options: &RemoteOptions) -> Result<Self, ConnectError> {
        let clients = connect::clients(address, options)?;
        Ok(Self {
            address: address.to_owned(),
            options: options.clone(),
            clients: RwLock::new(clients.into()),
            next: AtomicUsize::new(0),
            sessions: tokio::sync::Mutex::default(),
            fitness: RwLock::default(),
            kept_bytes_max: AtomicU64::new(0),
            digests: Digests::default(),
        })
    }

    /// Where it is.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Reads the certificates again. What is under way goes on as it began.
    pub fn reload(&self) -> Result<(), ConnectError> {
        self.take_up(self.fresh_clients()?);
        Ok(())
    }

    /// Connections to be, with the certificates as they are now.
    pub(crate) fn fresh_clients(&self) -> Result<Clients, ConnectError> {
        connect::clients(&self.address, &self.options).map(Clients::from)
    }

    /// Uses these connections from now on.
    pub(crate) fn take_up(&self, clients: Clients) {
        *self.clients.write().unwrap_or_else(PoisonError::into_inner) = clients;
    }

    /// Asks what it offers and how busy it is.
    pub async fn describe(&self) -> Result<proto::DescribeResponse, CellError> {
        let mut client = self.client();
        let asked = client.describe(Request::new(proto::DescribeRequest {}));
        let answer = tokio::time::timeout(ANSWER_TIME_MAX, asked).await;
        let answer = answer.unwrap_or_else(|_| Err(Status::deadline_exceeded("it did not answer in time")));
        let description =
            answer.map(tonic::Response::into_inner).map_err(|status| self.error(&status, None, false))?;
        self.kept_bytes_max.store(description.kept_bytes_max, Ordering::Relaxed);
        let fitness = fitness(&description, self.options.minimum);
        *self.fitness.write().unwrap_or_else(PoisonError::into_inner) = Some(fitness);
        Ok(description)
    }

    /// Refuses to give jobs to an executor that judges or isolates otherwise than is asked for here.
    async fn check_fitness(&self) -> Result<(), CellError> {
        let known = || self.fitness.read().unwrap_or_else(PoisonError::into_inner).clone();
        if known().is_none() {
            self.describe().await?;
        }
        match known() {
            Some(Err(said)) => Err(CellError::Refused {
                executor: self.address.clone(),
                said,
                hint: Some(
                    "run the same version on both sides: compare `ordain --version` and `ordain doctor`"
                        .to_owned(),
                ),
            }),
            _ => Ok(()),
        }
    }

    /// Runs a job, and tells of a failure whether another executor may simply have it.
    pub(crate) async fn try_run(
        &self,
        job: &Job,
        host: &mut dyn Host,
        output: &mut dyn Output,
    ) -> Result<Execution, Failed> {
        self.check_fitness().await.map_err(Failed::before)?;
        let session = match &job.session {
            None => None,
            Some(name) => Some(self.session(name, job.profile).await.map_err(Failed::before)?),
        };
        let ran = run::run(self, job, session.as_deref(), host, output).await;
        if let (Err(failed), Some(name)) = (&ran, &job.session)
            && matches!(failed.error, CellError::SessionLost { .. })
        {
            self.sessions.lock().await.remove(name);
        }
        ran
    }

    /// The remote name of a session, opened if there is none.
    async fn session(&self, name: &str, profile: Profile) -> Result<Arc<str>, CellError> {
        let mut sessions = self.sessions.lock().await;
        if let Some(id) = sessions.get(name) {
            return Ok(Arc::clone(id));
        }
        let mut client = self.client();
        let request = proto::CreateSessionRequest { profile: profile.to_string() };
        let asked = tokio::time::timeout(ANSWER_TIME_MAX, client.create_session(request)).await;
        let answer = asked.unwrap_or_else(|_| Err(Status::deadline_exceeded("it did not answer in time")));
        let id: Arc<str> = answer.map_err(|status| self.error(&status, None, false))?.into_inner().id.into();
        sessions.insert(name.to_owned(), Arc::clone(&id));
        Ok(id)
    }

    async fn end(&self, name: &str) -> bool {
        let Some(id) = self.sessions.lock().await.remove(name) else { return false };
        let request = proto::EndSessionRequest { id: id.to_string() };
        let asked = tokio::time::timeout(ANSWER_TIME_MAX, self.client().end_session(request)).await;
        matches!(asked, Ok(Ok(answer)) if answer.get_ref().ended)
    }

    /// One of the connections, in turn.
    fn client(&self) -> Client {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let clients = self.clients.read().unwrap_or_else(PoisonError::into_inner);
        clients[turn % clients.len()].clone()
    }

    /// What a status means for the caller here.
    fn error(&self, status: &Status, session: Option<&str>, was_heard: bool) -> CellError {
        let executor = self.address.clone();
        let said = shown(status);
        let lost = || match session {
            Some(session) => {
                CellError::SessionLost { session: session.to_owned(), executor: executor.clone() }
            }
            None if was_heard => CellError::Cut { executor: executor.clone(), said: said.clone() },
            None => CellError::Unreachable { executor: executor.clone(), said: said.clone() },
        };
        match status::read(status) {
            Some((Reason::Busy, _)) => CellError::Busy { waiting: 0 },
            Some((Reason::Sessions, _)) => CellError::Sessions { open: 0 },
            Some((Reason::UnknownSession | Reason::Lost, _)) => lost(),
            Some((Reason::Stopping, _)) => CellError::Unreachable { executor, said },
            Some((Reason::NotOffered, hint)) => CellError::NotOffered { executor, said, hint },
            Some((_, hint)) => CellError::Refused { executor, said, hint },
            None if is_of_the_job(status) => CellError::Refused { executor, said, hint: None },
            None => lost(),
        }
    }
}

impl Executor for RemoteExecutor {
    fn run<'a>(
        &'a self,
        job: Job,
        host: &'a mut dyn Host,
        output: &'a mut dyn Output,
    ) -> ExecutionFuture<'a> {
        Box::pin(async move { self.try_run(&job, host, output).await.map_err(|failed| failed.error) })
    }

    fn end_session<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(self.end(name))
    }
}

/// Whether an executor that describes itself so may get jobs. Its word is only the first look: what comes of a job is
/// held against the same minimum.
fn fitness(description: &proto::DescribeResponse, minimum: Level) -> Result<(), String> {
    if description.verifier_version != VERIFIER_VERSION {
        let version = description.verifier_version;
        return Err(format!(
            "it judges code by version {version} of the rules, and here they are {VERIFIER_VERSION}"
        ));
    }
    let level =
        [Level::Full, Level::Reduced].into_iter().find(|level| level.as_str() == description.isolation);
    match level {
        Some(level) if level >= minimum => Ok(()),
        Some(level) => {
            Err(format!("its isolation is `{}`, below the minimum `{}`", level.as_str(), minimum.as_str()))
        }
        None => Err("it names no level of isolation".to_owned()),
    }
}

/// Whether a status that some gRPC library made is about this very job, so that no executor would take it.
fn is_of_the_job(status: &Status) -> bool {
    use tonic::Code;
    matches!(
        status.code(),
        Code::OutOfRange
            | Code::InvalidArgument
            | Code::Unimplemented
            | Code::Unauthenticated
            | Code::PermissionDenied
    )
}

/// What a status says, bounded and printable. The deepest cause tells most: `Connection refused`, not `tcp error`.
fn shown(status: &Status) -> String {
    let mut said = status.message().to_owned();
    let mut source = std::error::Error::source(status);
    while let Some(cause) = source {
        said = cause.to_string();
        source = cause.source();
    }
    said.chars().filter(|character| !character.is_control()).take(300).collect()
}
