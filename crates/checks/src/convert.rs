//! Turns data files into Arrow files, each in a cell of its own.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use futures_util::StreamExt as _;
use futures_util::stream;
use ordain_cell::profile::Profile;
use ordain_cell::{Execution, FRAMES_SOURCE, InputFile, Job, READING_SOURCE, Shared};
use ordain_files::{convert_program, convert_settings, own_code, profile_for_files};
use ordain_types::{Cause, Limits, format_bytes};
use ordain_verify::VerifiedCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cells::Cells;
use crate::read::write_file;
use crate::sources::{self, DataFile};
use crate::tables::ColumnFacts;
use crate::{Checks, ChecksError};

/// Files that one executor is shown.
const BATCH: usize = 500;
/// What the converter may use for each byte of a file: the text, the columns, and the Arrow file in its work folder.
const MEMORY_FACTOR: u64 = 12;
const WORK_FACTOR: u64 = 8;
/// The same for a packed file, which may be unpacked there.
const PACKED_WORK_FACTOR: u64 = 24;

/// What the converter left of one file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Converted {
    pub(crate) tables: Vec<ConvertedTable>,
    /// Why there are none.
    pub(crate) problem: Option<String>,
}

/// One table of a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ConvertedTable {
    /// The sheet, if the file is a workbook with several.
    pub(crate) sheet: Option<String>,
    /// The Arrow file; in the cache, its name there.
    pub(crate) file: String,
    pub(crate) rows: u64,
    pub(crate) columns: Vec<ColumnFacts>,
    #[serde(default)]
    pub(crate) notes: Vec<String>,
}

/// The name under which the cache knows what a file with this hash holds.
pub(crate) fn cache_key(hash: &str, file: &DataFile) -> String {
    let packing = file.packing.map(|packing| format!("-{packing}")).unwrap_or_default();
    // What is read otherwise is another table.
    let declared = match &file.declared {
        Value::Object(members) if members.is_empty() => String::new(),
        declared => format!("-{}", &sources::hash_text(&declared.to_string())[..12]),
    };
    format!("{}-{}{packing}{declared}-v{}", &hash[..32], file.form, reader_version())
}

/// The version of what reads files, which is its text: what another one left is made anew.
fn reader_version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let parts = [convert_program(true), convert_settings().to_string()];
        let text =
            parts.iter().map(String::as_str).chain([READING_SOURCE, FRAMES_SOURCE]).collect::<Vec<_>>();
        sources::hash_text(&text.join("\0"))[..12].to_owned()
    });
    &VERSION
}

/// What the cache knows, if all of it is still there.
pub(crate) fn cached(folder: &Path, key: &str) -> Option<Converted> {
    let bytes = fs_err::read(folder.join(format!("{key}.json"))).ok()?;
    let converted: Converted = serde_json::from_slice(&bytes).ok()?;
    converted.tables.iter().all(|table| folder.join(&table.file).is_file()).then_some(converted)
}

impl Checks {
    /// Converts files and keeps what comes of it. A file that cannot be read gives a problem, not an error.
    pub(crate) async fn convert(
        &self,
        files: &[(String, DataFile)],
        jobs: usize,
    ) -> Result<BTreeMap<String, Converted>, ChecksError> {
        let mut converted = BTreeMap::new();
        for batch in files.chunks(BATCH) {
            self.convert_batch(batch, jobs, &mut converted).await?;
        }
        Ok(converted)
    }

    async fn convert_batch(
        &self,
        files: &[(String, DataFile)],
        jobs: usize,
        converted: &mut BTreeMap<String, Converted>,
    ) -> Result<(), ChecksError> {
        let folder = self.cache_folder();
        fs_err::create_dir_all(&folder).map_err(ChecksError::state("make the table cache"))?;
        let incoming = tempfile::tempdir_in(&folder).map_err(ChecksError::state("make the table cache"))?;
        let mut inputs = Vec::new();
        for (number, (_, file)) in files.iter().enumerate() {
            let path = readable(&file.path, incoming.path(), number)
                .map_err(ChecksError::state(format!("read `{}`", file.shown)))?;
            inputs.push(InputFile { name: number.to_string(), path });
        }
        // Each file is read in a cell of its own.
        let shared = Shared { files: inputs, running_max: jobs, jobs: files.len(), cells: 1, scratch: None };
        let cells = Cells::new(self.engine.executor(), shared, None)?;
        let of_columns = own_code(&convert_program(false));
        let is_looked_into = |file: &DataFile| file.may_hold_several() && file.known.is_none();
        let of_any = files.iter().any(|(_, file)| is_looked_into(file));
        let of_any = of_any.then(|| own_code(&convert_program(true)));
        let converting: Vec<_> = files
            .iter()
            .enumerate()
            .map(|(number, (key, file))| {
                let code = of_any.as_ref().filter(|_| is_looked_into(file)).unwrap_or(&of_columns);
                let job = self.converting_job(code.clone(), number, file, cells.are_here());
                let (cells, profile) = (&cells, job.profile);
                async move { (key, profile, cells.run(job, &[number.to_string()]).await) }
            })
            .collect();
        let mut running = stream::iter(converting).buffer_unordered(jobs.max(1));
        while let Some((key, profile, execution)) = running.next().await {
            let result = match execution {
                // Other files are read without that profile.
                Err(error) if profile != Profile::Data => {
                    let problem = Some(format!("reading it needs the profile `{profile}`: {error}"));
                    Converted { tables: Vec::new(), problem }
                }
                execution => self.keep_converted(key, &execution?)?,
            };
            converted.insert(key.clone(), result);
        }
        drop(running);
        cells.close().await;
        Ok(())
    }

    fn converting_job(&self, code: VerifiedCode, number: usize, file: &DataFile, is_here: bool) -> Job {
        let bytes = fs_err::metadata(&file.path).map_or(0, |metadata| metadata.len());
        let usual = &self.engine.settings().limits;
        let work_factor = if file.packing.is_some() { PACKED_WORK_FACTOR } else { WORK_FACTOR };
        let mut job = Job::new(code, profile_for_files([file.name().as_str()]));
        "convert.py".clone_into(&mut job.name);
        job.is_unseen = true;
        // Elsewhere no more is asked for than executors usually grant.
        let (memory, work, artifacts) = if is_here {
            (memory_of_host() / 2, u64::MAX, u64::MAX / 4)
        } else {
            (4 << 30, 2 << 30, 256 << 20)
        };
        job.limits = Limits {
            wall: usual.wall.max(std::time::Duration::from_mins(10)),
            memory_bytes: usual.memory_bytes.max((bytes * MEMORY_FACTOR).min(memory)),
            work_bytes: Some(bytes.saturating_mul(work_factor).saturating_add(64 << 20).min(work)),
            artifact_bytes: artifacts,
            artifacts: 1000,
            ..usual.clone()
        };
        let known = file.known.as_ref().map(|columns| {
            columns.iter().map(|(name, column_type)| (name.clone(), json!(column_type))).collect::<Value>()
        });
        for (name, value) in [
            ("source", json!(number.to_string())),
            ("name", json!(file.name())),
            ("settings", convert_settings()),
            ("form", json!(file.form)),
            ("packing", json!(file.packing)),
            ("known", json!(known)),
            ("declared", file.declared.clone()),
        ] {
            job.values.insert(name.to_owned(), value);
        }
        job.collect = vec!["tables".to_owned(), "problem".to_owned()];
        job
    }

    /// Moves what a converting cell left into the cache. What it says about itself is a claim, read strictly.
    fn keep_converted(&self, key: &str, execution: &Execution) -> Result<Converted, ChecksError> {
        let folder = self.cache_folder();
        let mut converted = match claimed(execution) {
            Ok(converted) => converted,
            Err(problem) => return Ok(Converted { tables: Vec::new(), problem: Some(problem) }),
        };
        let failed = || ChecksError::state("keep a converted table");
        for (number, table) in converted.tables.iter_mut().enumerate() {
            let Some(artifact) = execution.artifacts.iter().find(|artifact| artifact.name == table.file)
            else {
                let problem = Some("its tables did not come out of the cell whole".to_owned());
                return Ok(Converted { tables: Vec::new(), problem });
            };
            let saved_in = tempfile::tempdir_in(&folder).map_err(failed())?;
            let saved = artifact.save(saved_in.path()).map_err(failed())?;
            // Cells of the superuser run as somebody else; the folder itself is closed to others.
            fs_err::set_permissions(&saved, std::fs::Permissions::from_mode(0o644)).map_err(failed())?;
            table.file = format!("{key}-{number}.arrow");
            fs_err::rename(&saved, folder.join(&table.file)).map_err(failed())?;
        }
        // A file that could not be read is looked at again: the reason may have been a limit.
        if converted.problem.is_none() {
            let bytes = serde_json::to_vec(&converted).map_err(io::Error::from).map_err(failed())?;
            write_file(&folder.join(format!("{key}.json")), &bytes).map_err(failed())?;
        }
        Ok(converted)
    }
}

/// A path that a cell can be shown: the file itself, or a copy if only its owner may read it.
fn readable(path: &Path, incoming: &Path, number: usize) -> io::Result<PathBuf> {
    let mode = fs_err::metadata(path)?.permissions().mode();
    if mode & 0o004 != 0 {
        return Ok(path.to_owned());
    }
    let copy = incoming.join(number.to_string());
    fs_err::copy(path, &copy)?;
    fs_err::set_permissions(&copy, std::fs::Permissions::from_mode(0o644))?;
    Ok(copy)
}

fn claimed(execution: &Execution) -> Result<Converted, String> {
    match execution.cause {
        Cause::Ok => {}
        Cause::Error => {
            let raised = execution.error.as_ref().map(|error| format!("{}: {}", error.kind, error.message));
            return Err(format!("it cannot be read: {}", raised.unwrap_or_default()));
        }
        Cause::MemoryLimit => {
            return Err(format!(
                "memory_limit: reading it takes more than {}; raise `memory` under `[limits]`, or give it as Parquet",
                format_bytes(execution.limits.memory_bytes)
            ));
        }
        cause => return Err(format!("{cause}: {}", execution.detail.clone().unwrap_or_default())),
    }
    let value = json!({"tables": execution.values.get("tables"), "problem": execution.values.get("problem")});
    serde_json::from_value(value).map_err(|_| "the cell did not say what the file holds".to_owned())
}

/// The memory of this machine, or a careful guess.
fn memory_of_host() -> u64 {
    let text = fs_err::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(2 << 20) * 1024
}
