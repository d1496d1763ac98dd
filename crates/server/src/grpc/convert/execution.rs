//! What came of a job, as it travels.

use std::time::Duration;

use ordain_cell::{Artifact, Execution, Level, Raised, Refusal, Timing};
use ordain_types::{Cause, Limits};
use ordain_verify::{Finding, Verdict};
use serde_json::{Map, Value};

use super::{from_json, limits_from, limits_of};
use crate::grpc::proto;

/// The longest text of a result that a caller keeps.
const TEXT_CHARS_MAX: usize = 64 << 10;

/// A result as it is sent. Output and artifacts go before it.
pub(crate) fn result(execution: &Execution, findings: &[Finding]) -> proto::Result {
    let micros = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    let timing = execution.timing;
    proto::Result {
        cause: execution.cause.as_str().to_owned(),
        exit: execution.exit,
        signal: execution.signal,
        output_truncated: execution.output_truncated,
        error: execution.error.as_ref().map(|error| proto::Raised {
            r#type: error.kind.clone(),
            message: error.message.clone(),
            line: error.line,
        }),
        values_json: json_of(&execution.values),
        notes_json: json_of(&execution.notes),
        artifacts: execution.artifacts.iter().map(artifact_of).collect(),
        refused: execution
            .refused
            .iter()
            .map(|refusal| proto::Refusal { name: refusal.name.clone(), reason: refusal.reason.clone() })
            .collect(),
        left_behind: execution.left_behind.clone(),
        detail: execution.detail.clone().unwrap_or_default(),
        limits: Some(limits_of(&execution.limits)),
        timing: Some(proto::Timing {
            queue_us: micros(timing.queue),
            run_us: micros(timing.run),
            total_us: micros(timing.total),
        }),
        isolation: execution.isolation.as_str().to_owned(),
        host_calls: execution.host_calls,
        findings: findings.iter().map(finding_of).collect(),
    }
}

/// The result of code that the verifier refused: nothing ran.
pub(crate) fn rejection(verdict: &Verdict, limits: &Limits, isolation: Level) -> proto::Result {
    proto::Result {
        cause: Cause::Rejected.as_str().to_owned(),
        limits: Some(limits_of(limits)),
        isolation: isolation.as_str().to_owned(),
        findings: verdict.findings.iter().map(finding_of).collect(),
        ..proto::Result::default()
    }
}

/// A result as it was received, put together with the output and the artifacts that came before it. `Err` if it says
/// what cannot be.
pub(crate) fn execution(
    result: proto::Result,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    artifacts: Vec<Artifact>,
    asked: &Limits,
) -> Result<Execution, String> {
    let names = |artifacts: &mut dyn Iterator<Item = (&str, &str)>| -> Vec<(String, String)> {
        artifacts.map(|(name, hash)| (name.to_owned(), hash.to_owned())).collect()
    };
    let announced = names(&mut result.artifacts.iter().map(|told| (&*told.name, &*told.sha256)));
    let received = names(&mut artifacts.iter().map(|taken| (&*taken.name, &*taken.sha256)));
    if announced != received {
        return Err("its artifacts are not those that it announced".to_owned());
    }
    let timing = result.timing.unwrap_or_default();
    Ok(Execution {
        cause: cause_from(&result.cause)?,
        exit: result.exit,
        signal: result.signal,
        stdout,
        stderr,
        output_truncated: result.output_truncated,
        error: result.error.map(|error| Raised {
            kind: cut(error.r#type),
            message: cut(error.message),
            line: error.line,
        }),
        values: object(&result.values_json, "its values")?,
        notes: object(&result.notes_json, "its notes")?,
        artifacts,
        refused: result
            .refused
            .into_iter()
            .take(200)
            .map(|refusal| Refusal { name: cut(refusal.name), reason: cut(refusal.reason) })
            .collect(),
        left_behind: result.left_behind.into_iter().take(100).map(cut).collect(),
        detail: Some(cut(result.detail)).filter(|detail| !detail.is_empty()),
        limits: result.limits.map_or_else(|| asked.clone(), |limits| limits_from(&limits, asked)),
        timing: Timing {
            queue: Duration::from_micros(timing.queue_us),
            run: Duration::from_micros(timing.run_us),
            total: Duration::from_micros(timing.total_us),
        },
        isolation: level_from(&result.isolation)?,
        host_calls: result.host_calls,
    })
}

fn cause_from(text: &str) -> Result<Cause, String> {
    serde_json::from_value(Value::from(text))
        .map_err(|_| "it names a cause that is not known here".to_owned())
}

fn level_from(text: &str) -> Result<Level, String> {
    [Level::Full, Level::Reduced]
        .into_iter()
        .find(|level| level.as_str() == text)
        .ok_or_else(|| "it names no level of isolation".to_owned())
}

fn artifact_of(artifact: &Artifact) -> proto::Artifact {
    proto::Artifact {
        name: artifact.name.clone(),
        bytes: artifact.bytes,
        media_type: artifact.media_type.to_owned(),
        sha256: artifact.sha256.clone(),
        warnings: artifact.warnings.iter().map(|&warning| warning.to_owned()).collect(),
    }
}

fn finding_of(finding: &Finding) -> proto::Finding {
    proto::Finding {
        code: finding.code.to_string(),
        severity: finding.severity.to_string(),
        line: finding.line as u64,
        column: finding.column as u64,
        message: finding.message.clone(),
        hint: finding.hint.clone().unwrap_or_default(),
    }
}

fn json_of(object: &Map<String, Value>) -> String {
    // A map with text keys always has a JSON form.
    serde_json::to_string(object).unwrap_or_default()
}

fn object(text: &str, what: &str) -> Result<Map<String, Value>, String> {
    if text.is_empty() { Ok(Map::new()) } else { from_json(text, what) }
}

fn cut(text: String) -> String {
    if text.len() <= TEXT_CHARS_MAX { text } else { text.chars().take(TEXT_CHARS_MAX).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(change: impl FnOnce(&mut proto::Result)) -> Result<Execution, String> {
        let mut told = proto::Result {
            cause: "ok".to_owned(),
            isolation: "full".to_owned(),
            ..proto::Result::default()
        };
        change(&mut told);
        execution(told, Vec::new(), Vec::new(), Vec::new(), &Limits::default())
    }

    #[test]
    fn a_result_that_says_what_cannot_be_is_refused() {
        assert!(told(|_| {}).is_ok());
        assert!(told(|result| result.cause = "fine".to_owned()).is_err());
        assert!(told(|result| result.isolation = "none".to_owned()).is_err());
        assert!(told(|result| result.values_json = "[1]".to_owned()).is_err());
        assert!(told(|result| result.artifacts.push(proto::Artifact::default())).is_err());
    }

    #[test]
    fn whole_numbers_stay_whole() {
        let execution = told(|result| result.values_json = r#"{"n": 9007199254740993}"#.to_owned()).unwrap();
        assert_eq!(execution.values["n"], 9_007_199_254_740_993_u64);
    }
}
