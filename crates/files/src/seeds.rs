//! Opens the store of a workspace. Seed files are read in a cell, as every other data file is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ordain_cell::profile::{DataDir, Profile};
use ordain_cell::{
    CellError, Discard, Execution, Executor as _, Host, HostCall, HostError, HostFuture, InputFile, Job,
    Level, LocalExecutor, LocalOptions,
};
use ordain_store::{SeedError, SeedFuture, SeedReader, SeedTable, Store, StoreError, TableDeclaration};
use ordain_types::{Catalog, Cause, Limits};
use ordain_workspace::Workspace;
use serde_json::{Value, json};

use crate::look::{own_code, seed_program};
use crate::{declaration_of, ending, profile_for_files};

/// Larger files are loaded by other means.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// Columns of one table, as the store has it.
const COLUMNS_MAX: u64 = 500;
/// What the reader may use for each byte of a file.
const MEMORY_FACTOR: u64 = 24;

/// What the numbers of columns count, by table and column: a currency, a unit, percent.
pub type Units = BTreeMap<String, BTreeMap<String, String>>;

/// Opens a workspace's store; missing tables are made from their seeds.
pub async fn open_store(workspace: &Workspace) -> Result<Store, StoreError> {
    Ok(open_with_units(workspace).await?.0)
}

/// The same, with the units in the seeds of the tables that were made. The store does not keep them: `ordain.toml` does.
pub async fn open_with_units(workspace: &Workspace) -> Result<(Store, Units), StoreError> {
    let seeds = Arc::new(CellSeeds::new(workspace));
    let mut options = workspace.store_options();
    options.seeds = Some(Arc::clone(&seeds) as Arc<dyn SeedReader>);
    let store = Store::open(options).await?;
    workspace.check_store(&store).await?;
    let units = std::mem::take(&mut *seeds.units.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((store, units))
}

/// Reads seeds in cells of this machine, which are started for them alone.
#[derive(Debug)]
struct CellSeeds {
    limits: Limits,
    minimum: Level,
    catalog: Arc<Catalog>,
    /// What was found in the seeds that were read.
    units: Mutex<Units>,
}

impl CellSeeds {
    fn new(workspace: &Workspace) -> Self {
        Self {
            limits: workspace.limits.clone(),
            minimum: workspace.minimum_isolation,
            catalog: Arc::clone(&workspace.catalog),
            units: Mutex::default(),
        }
    }

    async fn read_in_cell(&self, path: &Path, table: &TableDeclaration) -> Result<SeedTable, SeedError> {
        let fault = |message: &str| SeedError::new(path, message);
        let bytes = match fs_err::metadata(path) {
            Ok(metadata) if metadata.is_file() => metadata.len(),
            Ok(_) => return Err(fault("it is not an ordinary file")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(fault("there is no such file"));
            }
            Err(error) => return Err(fault(&error.to_string())),
        };
        if bytes > FILE_BYTES_MAX {
            return Err(fault(&format!("the file has more than {FILE_BYTES_MAX} bytes")));
        }
        let mut host = SeedHost::default();
        let execution = self.run(path, table, bytes, &mut host).await.map_err(|error| SeedError {
            hint: error.hint(),
            ..fault(&format!("it could not be read: {error}"))
        })?;
        if let Some((message, line, hint)) = host.fault {
            let usual = || {
                line.map(|_| {
                    format!("declare its type in `[tables.{}.columns]`, or correct the value", table.name)
                })
            };
            return Err(SeedError { line, hint: hint.or_else(usual), ..fault(&message) });
        }
        match execution.cause {
            Cause::Ok => {
                let mut units = self.units.lock().unwrap_or_else(PoisonError::into_inner);
                units.insert(table.name.clone(), host.units);
                Ok(host.table)
            }
            cause => Err(fault(&format!("it ended its cell ({cause}) when it was read"))),
        }
    }

    async fn run(
        &self,
        path: &Path,
        table: &TableDeclaration,
        bytes: u64,
        host: &mut SeedHost,
    ) -> Result<Execution, CellError> {
        let mut options = LocalOptions::new(DataDir::from_env()?);
        (options.idle_cells, options.minimum) = (0, self.minimum);
        let executor = LocalExecutor::new(options)?;
        let execution = executor.run(self.job(path, table, bytes), host, &mut Discard).await;
        executor.close().await;
        execution
    }

    fn job(&self, path: &Path, table: &TableDeclaration, bytes: u64) -> Job {
        let name =
            path.file_name().map_or_else(|| "seed".to_owned(), |name| name.to_string_lossy().into_owned());
        let is_text = matches!(ending(&name).as_str(), "csv" | "tsv");
        let profile = if is_text { Profile::Core } else { profile_for_files([name.as_str()]) };
        let mut job = Job::new(own_code(&seed_program()), profile);
        "seed.py".clone_into(&mut job.name);
        job.limits = Limits {
            wall: self.limits.wall.max(Duration::from_mins(10)),
            memory_bytes: self.limits.memory_bytes.max(bytes.saturating_mul(MEMORY_FACTOR)),
            work_bytes: Some(bytes.saturating_mul(2).saturating_add(64 << 20)),
            file_bytes: self.limits.file_bytes.max(bytes),
            ..self.limits.clone()
        };
        job.files = vec![InputFile { name: name.clone(), path: PathBuf::from(path) }];
        let mut declared = declaration_of(&self.catalog, &name);
        for (column, said) in &table.columns {
            declared["columns"][column]["type"] = json!(said.column_type);
        }
        let settings = json!({
            "name": name,
            "declared": declared,
            "columns_max": COLUMNS_MAX,
            "cells_max": u64::MAX,
            "expanded_bytes_max": FILE_BYTES_MAX,
        });
        job.values.insert("settings".to_owned(), settings);
        job
    }
}

impl SeedReader for CellSeeds {
    fn read<'a>(&'a self, path: &'a Path, declaration: &'a TableDeclaration) -> SeedFuture<'a> {
        Box::pin(self.read_in_cell(path, declaration))
    }
}

/// Takes what the reader finds. What a cell says is a claim: the store holds every value against its column.
#[derive(Debug, Default)]
struct SeedHost {
    table: SeedTable,
    units: BTreeMap<String, String>,
    fault: Option<(String, Option<u64>, Option<String>)>,
}

impl SeedHost {
    fn take(&mut self, mut call: HostCall) -> Result<Value, HostError> {
        let wrong = |_| HostError::new("bad_arguments", "this is not what a reader of seeds tells");
        let mut argument = |name: &str| call.arguments.remove(name).unwrap_or_default();
        match call.name.as_str() {
            "seed.columns" => {
                self.table.columns = serde_json::from_value(argument("columns")).map_err(wrong)?;
                self.table.notes = serde_json::from_value(argument("notes")).map_err(wrong)?;
                self.units = serde_json::from_value(argument("units")).map_err(wrong)?;
            }
            "seed.rows" => {
                let rows: Vec<(u64, Vec<Value>)> = serde_json::from_value(argument("rows")).map_err(wrong)?;
                self.table.rows.extend(rows);
            }
            "seed.fault" => {
                let message = argument("message").as_str().unwrap_or_default().to_owned();
                self.fault =
                    Some((message, argument("line").as_u64(), argument("hint").as_str().map(str::to_owned)));
            }
            _ => return Err(HostError::new("unknown_function", "a seed is read and nothing else")),
        }
        Ok(Value::Null)
    }
}

impl Host for SeedHost {
    fn call(&mut self, call: HostCall) -> HostFuture<'_> {
        Box::pin(std::future::ready(self.take(call)))
    }
}
