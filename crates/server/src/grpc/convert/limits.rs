//! Limits as they travel.

use std::time::Duration;

use ordain_types::{Limits, format_bytes, format_duration};

use crate::grpc::proto;

const MIB: u64 = 1 << 20;

/// The highest limits that an executor grants where its operator says nothing else.
pub(crate) fn ceilings() -> Limits {
    Limits {
        wall: Duration::from_mins(10),
        cpu: Some(Duration::from_mins(10)),
        memory_bytes: 4096 * MIB,
        work_bytes: Some(2048 * MIB),
        processes: 256,
        output_bytes: 64 * MIB,
        artifact_bytes: 256 * MIB,
        artifacts: 1000,
        file_bytes: 256 * MIB,
    }
}

/// Limits as they are sent.
pub(crate) fn limits_of(limits: &Limits) -> proto::Limits {
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    proto::Limits {
        wall_ms: Some(millis(limits.wall)),
        cpu_ms: limits.cpu.map(millis),
        memory_bytes: Some(limits.memory_bytes),
        work_bytes: limits.work_bytes,
        processes: Some(limits.processes),
        output_bytes: Some(limits.output_bytes),
        artifact_bytes: Some(limits.artifact_bytes),
        artifacts: Some(limits.artifacts),
        file_bytes: Some(limits.file_bytes),
    }
}

/// Limits as they were received; what was left out is as in `otherwise`.
pub(crate) fn limits_from(sent: &proto::Limits, otherwise: &Limits) -> Limits {
    Limits {
        wall: sent.wall_ms.map_or(otherwise.wall, Duration::from_millis),
        cpu: sent.cpu_ms.map(Duration::from_millis).or(otherwise.cpu),
        memory_bytes: sent.memory_bytes.unwrap_or(otherwise.memory_bytes),
        work_bytes: sent.work_bytes.or(otherwise.work_bytes),
        processes: sent.processes.unwrap_or(otherwise.processes),
        output_bytes: sent.output_bytes.unwrap_or(otherwise.output_bytes),
        artifact_bytes: sent.artifact_bytes.unwrap_or(otherwise.artifact_bytes),
        artifacts: sent.artifacts.unwrap_or(otherwise.artifacts),
        file_bytes: sent.file_bytes.unwrap_or(otherwise.file_bytes),
    }
}

/// The limits that a caller asks for, or which of them is above the executor's maximum.
pub(crate) fn limits_within(sent: Option<&proto::Limits>, max: &Limits) -> Result<Limits, String> {
    let asked = limits_from(sent.unwrap_or(&proto::Limits::default()), &Limits::default());
    let bytes = |name: &str, asked: u64, max: u64| {
        above(name, asked > max, || (format_bytes(asked), format_bytes(max)))
    };
    let count =
        |name: &str, asked: u32, max: u32| above(name, asked > max, || (asked.to_string(), max.to_string()));
    let time = |name: &str, asked: Duration, max: Duration| {
        above(name, asked > max, || (format_duration(asked), format_duration(max)))
    };
    time("wall_ms", asked.wall, max.wall)?;
    time("cpu_ms", asked.cpu.unwrap_or_default(), max.cpu.unwrap_or(Duration::MAX))?;
    bytes("memory_bytes", asked.memory_bytes, max.memory_bytes)?;
    bytes("work_bytes", asked.work_bytes(), max.work_bytes())?;
    count("processes", asked.processes, max.processes)?;
    bytes("output_bytes", asked.output_bytes, max.output_bytes)?;
    bytes("artifact_bytes", asked.artifact_bytes, max.artifact_bytes)?;
    count("artifacts", asked.artifacts, max.artifacts)?;
    bytes("file_bytes", asked.file_bytes, max.file_bytes)?;
    if asked.wall.is_zero() {
        return Err("the limit `wall_ms` is 0; nothing can run in no time".to_owned());
    }
    Ok(asked)
}

fn above(name: &str, is_above: bool, values: impl FnOnce() -> (String, String)) -> Result<(), String> {
    if !is_above {
        return Ok(());
    }
    let (asked, max) = values();
    Err(format!("the limit `{name}` of {asked} is above this executor's maximum of {max}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_come_out_as_they_went_in() {
        let limits = Limits { cpu: Some(Duration::from_secs(7)), processes: 3, ..Limits::default() };
        assert_eq!(limits_from(&limits_of(&limits), &Limits::default()), limits);
    }

    #[test]
    fn a_limit_above_the_maximum_is_refused_by_name() {
        let sent = proto::Limits { memory_bytes: Some(1 << 40), ..proto::Limits::default() };
        let problem = limits_within(Some(&sent), &ceilings()).unwrap_err();
        assert_eq!(problem, "the limit `memory_bytes` of 1024GiB is above this executor's maximum of 4GiB");
        assert_eq!(limits_within(None, &ceilings()), Ok(Limits::default()));
    }
}
