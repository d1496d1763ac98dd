//! What a zygote of each profile imports ahead and rehearses.
//!
//! Every module that plans usually import is imported here, once: an import inside a cell is paid by each job. What
//! starts threads when imported (polars, duckdb) stays out and is imported inside the cell.

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::CellError;
use crate::executor::LocalOptions;
use crate::isolation::Level;
use crate::mount::Mount;
use crate::profile::{Installed, Interpreter, Profile};
use crate::root;
use crate::zygote::{Settings, ZygoteSpec};

/// The modules of `core`, one a line.
const CORE: &str = include_str!("../../python/rehearsals/imports.txt");
const DATA: &[&str] = &["numpy", "numpy.random", "pandas"];

/// A program that touches what most programs touch; the same over tables; and what checks do with mapped tables.
const CORE_REHEARSAL: &str = include_str!("../../python/rehearsals/core.py");
const DATA_REHEARSAL: &str = include_str!("../../python/rehearsals/data.py");
const TABLE_REHEARSAL: &str = include_str!("../../python/rehearsals/tables.py");

/// Often enough that the interpreter has specialised the code: it then runs quicker in every cell, and no cell has to
/// copy pages because the interpreter is still counting in them.
const REHEARSALS: u32 = 100;

/// How a zygote of an installed profile is started, whose cells see these files.
pub(crate) fn spec(
    installed: &Installed,
    mounts: &[Mount],
    options: &LocalOptions,
) -> Result<ZygoteSpec, CellError> {
    let interpreter = &installed.interpreter;
    let (more, rehearsal) = match installed.profile {
        Profile::Core => (&[][..], CORE_REHEARSAL),
        // Cells that are shown files of the host look at tables; what that takes costs others memory that they never use.
        Profile::Data | Profile::Full if mounts.is_empty() => (DATA, DATA_REHEARSAL),
        Profile::Data | Profile::Full => (DATA, TABLE_REHEARSAL),
    };
    let imports = CORE.lines().chain(more.iter().copied()).collect();
    // A zygote that makes a single cell for a job that waits has no time to practise.
    let usual = if options.idle_cells == 0 { 1 } else { REHEARSALS };
    let scratch = options.scratch.clone().map(Arc::new);
    let shown = scratch.as_ref().map(|scratch| scratch.source()).transpose();
    let shown = shown.map_err(CellError::host("show cells a folder on disk"))?;
    let folders = interpreter_folders(interpreter);
    Ok(ZygoteSpec {
        interpreter: interpreter.executable.clone(),
        root: root::encode(&folders, Some(&installed.site), mounts, shown.as_deref()),
        settings: Settings {
            paths: vec![root::PACKAGES.to_owned()],
            imports,
            rehearsal,
            rehearsals: options.rehearsals.unwrap_or(usual),
            options: u32::from(options.minimum < Level::Full),
        },
        packages: Some(installed.clone()),
        scratch,
    })
}

/// How a zygote without any package is started, to see whether cells work at all.
pub(crate) fn bare_spec(interpreter: &Interpreter) -> ZygoteSpec {
    ZygoteSpec {
        interpreter: interpreter.executable.clone(),
        root: root::encode(&interpreter_folders(interpreter), None, &[], None),
        settings: Settings {
            paths: Vec::new(),
            imports: Vec::new(),
            rehearsal: "total = 1 + 1\n",
            rehearsals: 1,
            options: 1,
        },
        packages: None,
        scratch: None,
    }
}

/// Where the interpreter's own modules and libraries lie.
fn interpreter_folders(interpreter: &Interpreter) -> Vec<PathBuf> {
    vec![interpreter.stdlib.clone(), interpreter.platstdlib.clone(), interpreter.base_prefix.join("lib")]
}
