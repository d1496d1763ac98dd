//! Loads files of cases. They are hostile like any data, so a cell reads them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use ordain_cell::profile::{DataDir, Profile};
use ordain_cell::{Discard, Executor, InputFile, Job, LocalExecutor, LocalOptions, NoHost};
use ordain_types::{Cause, Column, Schema, Table};
use ordain_verify::{Contract, DATA_IMPORTS, Policy, verify};
use serde::Deserialize;
use serde_json::{Map, Value};
use tempfile::TempDir;

const CONVERT: &str = include_str!("convert.py");
/// More files than this are something else.
const FILES_MAX: usize = 1000;

/// A case, as its file tells it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Case {
    /// The table of its file that it looks at.
    dataset: usize,
    columns: Option<Vec<Column>>,
    pub(crate) title: String,
    pub(crate) is_for_pandas: bool,
    /// What the expectation is given; nothing if it is given by place.
    #[serde(rename = "in")]
    pub(crate) kwargs: Option<Map<String, Value>>,
    pub(crate) given: Value,
    pub(crate) out: Map<String, Value>,
    pub(crate) error: Option<Value>,
    pub(crate) tolerance: Option<f64>,
    #[serde(skip)]
    pub(crate) expectation: String,
    #[serde(skip)]
    pub(crate) file: String,
    #[serde(skip)]
    pub(crate) mount: String,
}

#[derive(Debug, Deserialize)]
struct FileOfCases {
    expectation_type: String,
    cases: Vec<Case>,
}

/// All cases, and the tables as files.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) cases: Vec<Case>,
    pub(crate) mounts: Vec<InputFile>,
    pub(crate) files: usize,
    /// The tables are there as long as this is.
    folder: TempDir,
}

impl Case {
    /// The one table that there is, under the name `t`.
    pub(crate) fn schema(&self) -> Schema {
        let columns = self.columns.clone().unwrap_or_default();
        Schema { tables: vec![Table { name: "t".to_owned(), columns, read_only: true, ..Table::default() }] }
    }
}

/// Reads all files below a folder.
pub(crate) async fn prepare(folder: &Path) -> Result<Prepared> {
    let files = files_below(folder)?;
    if files.is_empty() {
        bail!("there are no files of cases below `{}`", folder.display());
    }
    let tables = TempDir::new()?;
    let executor = LocalExecutor::new(LocalOptions::new(DataDir::from_env()?))?;
    let mut prepared = Prepared { cases: Vec::new(), mounts: Vec::new(), files: files.len(), folder: tables };
    for (number, file) in files.iter().enumerate() {
        convert(&executor, &mut prepared, number, file)
            .await
            .with_context(|| format!("{}", file.display()))?;
    }
    Ok(prepared)
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "json") {
                files.push(path);
            }
            if files.len() > FILES_MAX {
                bail!("there are more than {FILES_MAX} files below `{}`", folder.display());
            }
        }
    }
    files.sort();
    Ok(files)
}

async fn convert(
    executor: &LocalExecutor,
    prepared: &mut Prepared,
    number: usize,
    file: &Path,
) -> Result<()> {
    let policy = Policy::for_contract(Contract::Exec).with_packages(DATA_IMPORTS.iter().copied());
    let verdict = verify(CONVERT, &policy, &Schema::default());
    let Some(code) = verdict.verified() else { bail!("the converter was refused: {:?}", verdict.findings) };
    let mut job = Job::new(code.clone(), Profile::Data);
    job.files = vec![InputFile { name: "cases.json".to_owned(), path: file.to_owned() }];
    job.collect = vec!["result".to_owned()];
    let execution = executor.run(job, &mut NoHost, &mut Discard).await?;
    if execution.cause != Cause::Ok {
        bail!("reading it ended with {}: {:?}", execution.cause, execution.error);
    }
    let result = execution.values.get("result").cloned().unwrap_or_default();
    let read: FileOfCases = serde_json::from_value(result).context("the converter gave something else")?;
    let mount = |dataset: usize| format!("{number}-{dataset}.arrow");
    for artifact in &execution.artifacts {
        let dataset = artifact.name.trim_end_matches(".arrow").parse()?;
        let path = prepared.folder.path().join(mount(dataset));
        fs_err::write(&path, artifact.read()?)?;
        prepared.mounts.push(InputFile { name: mount(dataset), path });
    }
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    prepared.cases.extend(read.cases.into_iter().map(|case| Case {
        mount: mount(case.dataset),
        file: name.clone(),
        expectation: read.expectation_type.clone(),
        ..case
    }));
    Ok(())
}
