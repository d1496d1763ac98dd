//! Errors as they travel: a gRPC status whose details say what kind of error it is, what helps, and when to try again.
//!
//! Messages to the caller are written for the caller. What a failure of this machine looks like from inside, such as
//! a path, stays in the operator's log.

use std::collections::HashMap;
use std::time::Duration;

use ordain_cell::CellError;
use prost::Message as _;
use tonic::{Code, Status};

/// The domain of every reason here.
const DOMAIN: &str = "ordain.executor";
/// When to try again where a place has to become free.
pub(crate) const RETRY_AFTER: Duration = Duration::from_millis(250);

/// What kind of error it is; stable between versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Too many jobs run and wait.
    Busy,
    /// Too many sessions are open.
    Sessions,
    /// There is no such session, or it is not the caller's.
    UnknownSession,
    /// A file is not acceptable.
    File,
    /// The request says something that cannot be.
    Invalid,
    /// The executor does not offer what is asked for.
    NotOffered,
    /// The caller did not say who it is.
    Unauthenticated,
    /// No cell could be made.
    NoCell,
    /// The cell was lost before the job reached it.
    Lost,
    /// The caller kept the executor waiting.
    Slow,
    /// The executor is stopping.
    Stopping,
}

impl Reason {
    const ALL: [Self; 11] = [
        Self::Busy,
        Self::Sessions,
        Self::UnknownSession,
        Self::File,
        Self::Invalid,
        Self::NotOffered,
        Self::Unauthenticated,
        Self::NoCell,
        Self::Lost,
        Self::Slow,
        Self::Stopping,
    ];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Busy => "BUSY",
            Self::Sessions => "SESSIONS",
            Self::UnknownSession => "UNKNOWN_SESSION",
            Self::File => "FILE",
            Self::Invalid => "INVALID",
            Self::NotOffered => "NOT_OFFERED",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::NoCell => "NO_CELL",
            Self::Lost => "LOST",
            Self::Slow => "SLOW",
            Self::Stopping => "STOPPING",
        }
    }

    const fn code(self) -> Code {
        match self {
            Self::Busy | Self::Sessions => Code::ResourceExhausted,
            Self::UnknownSession => Code::NotFound,
            Self::File | Self::Invalid => Code::InvalidArgument,
            Self::NotOffered => Code::FailedPrecondition,
            Self::Unauthenticated => Code::Unauthenticated,
            Self::NoCell => Code::Internal,
            Self::Lost | Self::Stopping => Code::Unavailable,
            Self::Slow => Code::DeadlineExceeded,
        }
    }

    const fn retry_after(self) -> Option<Duration> {
        match self {
            Self::Busy | Self::Sessions | Self::Lost | Self::Stopping => Some(RETRY_AFTER),
            _ => None,
        }
    }
}

/// A status of that kind.
pub(crate) fn status(reason: Reason, message: impl Into<String>, hint: Option<&str>) -> Status {
    let message = message.into();
    let mut metadata = HashMap::new();
    if let Some(hint) = hint {
        metadata.insert("hint".to_owned(), hint.to_owned());
    }
    let info = ErrorInfo { reason: reason.as_str().to_owned(), domain: DOMAIN.to_owned(), metadata };
    let mut details = vec![Any::of(ErrorInfo::TYPE, &info)];
    if let Some(after) = reason.retry_after() {
        let delay = Delay { seconds: 0, nanos: i32::try_from(after.subsec_nanos()).unwrap_or_default() };
        details.push(Any::of(RetryInfo::TYPE, &RetryInfo { retry_delay: Some(delay) }));
    }
    let rich = RichStatus { code: reason.code() as i32, message: message.clone(), details };
    Status::with_details(reason.code(), message, rich.encode_to_vec().into())
}

/// A request that says something that cannot be.
pub(crate) fn invalid(message: impl Into<String>) -> Status {
    status(Reason::Invalid, message, None)
}

/// Why no job ran, as the caller may know it.
pub(crate) fn of_cell(error: &CellError) -> Status {
    let hint = error.hint();
    let hint = hint.as_deref();
    match error {
        CellError::Busy { .. } => status(Reason::Busy, error.to_string(), hint),
        CellError::Sessions { .. } => status(Reason::Sessions, error.to_string(), hint),
        CellError::File { .. } => status(Reason::File, error.to_string(), hint),
        CellError::NotOffered { said, .. } => status(Reason::NotOffered, said.clone(), hint),
        CellError::Lost => status(Reason::Lost, error.to_string(), hint),
        // These tell of this machine, so the caller hears no more than that.
        _ => status(
            Reason::NoCell,
            "the executor could not make a cell",
            Some("its log says why; on its machine, `ordain doctor` looks for the cause"),
        ),
    }
}

/// What a status from an executor says of itself, if it is one of these.
pub(crate) fn read(status: &Status) -> Option<(Reason, Option<String>)> {
    let rich = RichStatus::decode(status.details()).ok()?;
    let info = rich.details.iter().find(|any| any.type_url == ErrorInfo::TYPE)?;
    let mut info = ErrorInfo::decode(info.value.as_slice()).ok()?;
    if info.domain != DOMAIN {
        return None;
    }
    let reason = Reason::ALL.into_iter().find(|reason| reason.as_str() == info.reason)?;
    Some((reason, info.metadata.remove("hint")))
}

/// `google.rpc.Status`.
#[derive(Clone, PartialEq, prost::Message)]
struct RichStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, prost::Message)]
struct Any {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

impl Any {
    fn of(type_url: &str, message: &impl prost::Message) -> Self {
        Self { type_url: type_url.to_owned(), value: message.encode_to_vec() }
    }
}

/// `google.rpc.ErrorInfo`.
#[derive(Clone, PartialEq, prost::Message)]
struct ErrorInfo {
    #[prost(string, tag = "1")]
    reason: String,
    #[prost(string, tag = "2")]
    domain: String,
    #[prost(map = "string, string", tag = "3")]
    metadata: HashMap<String, String>,
}

impl ErrorInfo {
    const TYPE: &str = "type.googleapis.com/google.rpc.ErrorInfo";
}

/// `google.rpc.RetryInfo`.
#[derive(Clone, PartialEq, prost::Message)]
struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    retry_delay: Option<Delay>,
}

impl RetryInfo {
    const TYPE: &str = "type.googleapis.com/google.rpc.RetryInfo";
}

/// `google.protobuf.Duration`.
#[derive(Clone, PartialEq, prost::Message)]
struct Delay {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_read_as_it_was_written() {
        for reason in Reason::ALL {
            let status = status(reason, "a message", Some("a hint"));
            assert_eq!(status.code(), reason.code());
            assert_eq!(read(&status), Some((reason, Some("a hint".to_owned()))));
        }
    }

    #[test]
    fn a_busy_executor_says_when_to_try_again() {
        let status = of_cell(&CellError::Busy { waiting: 3 });
        let rich = RichStatus::decode(status.details()).unwrap();
        let retry = rich.details.iter().find(|any| any.type_url == RetryInfo::TYPE).unwrap();
        let delay = RetryInfo::decode(retry.value.as_slice()).unwrap().retry_delay.unwrap();
        assert!(delay.nanos > 0 && status.code() == Code::ResourceExhausted);
    }

    #[test]
    fn what_the_machine_looks_like_inside_is_not_told() {
        let source = std::io::Error::other("secret");
        let status = of_cell(&CellError::Start { interpreter: "/opt/secret/python3".to_owned(), source });
        assert!(!status.message().contains("secret"), "{status:?}");
    }

    #[test]
    fn a_status_of_somebody_else_is_not_taken_for_one_of_these() {
        assert_eq!(read(&Status::unavailable("broken pipe")), None);
        assert_eq!(read(&Status::with_details(Code::Internal, "x", b"\xff\xff".to_vec().into())), None);
    }
}
