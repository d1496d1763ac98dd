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

const CORE: &[&str] = &[
    "base64",
    "bisect",
    "calendar",
    "collections.abc",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "hashlib",
    "heapq",
    "itertools",
    "json",
    "math",
    "numbers",
    "operator",
    "pathlib",
    "random",
    "re",
    "statistics",
    "string",
    "textwrap",
    "time",
    "traceback",
    "typing",
    "unicodedata",
    "uuid",
    "zoneinfo",
    "tinydb",
    "tinydb.operations",
    "tinydb.storages",
];

const DATA: &[&str] = &["numpy", "numpy.random", "pandas"];

/// A program that touches what most programs touch.
const CORE_REHEARSAL: &str = "\
import json, re, datetime
total = 1 + 1
print(total, f'{total:.2f}', json.dumps({'total': total}))
";

const DATA_REHEARSAL: &str = "\
import pandas as pd
table = pd.DataFrame({'a': [1, 2, 3]})
print(table.a.sum())
";

/// What a check does with a mapped table: opens it, compares a column, counts and picks rows. The table is our own, because
/// no file of a user's is read outside a cell.
const TABLE_REHEARSAL: &str = "\
import io
import pandas as pd
import pyarrow as pa
texts = pa.array(['a', 'b', None], pa.large_string())
table = pa.table({'number': [1, 2, 3], 'share': [0.5, 1.5, float('nan')], 'text': texts})
target = io.BytesIO()
with pa.ipc.new_file(target, table.schema) as writer:
    writer.write_table(table)
table = pa.ipc.open_file(pa.py_buffer(target.getvalue())).read_all()
rows = table.to_pandas(split_blocks=True, use_threads=False).copy(deep=False)
for name in ('number', 'share'):
    values = rows[name]
    judged = values.notna()
    failing = judged & ~((values >= 1) & (values <= 2))
    found = {'evaluated': int(judged.sum()), 'failed': int(failing.sum()), 'failed_rows': rows[failing]}
found = rows['text'].isna().sum(), rows['text'].isin(['a']).sum(), rows.duplicated(subset=['number'], keep=False).sum()
";

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
    let (imports, rehearsal) = match installed.profile {
        Profile::Core => (CORE.to_vec(), CORE_REHEARSAL),
        // Cells that are shown files of the host look at tables; what that takes costs others memory that they never use.
        Profile::Data | Profile::Full if mounts.is_empty() => ([CORE, DATA].concat(), DATA_REHEARSAL),
        Profile::Data | Profile::Full => ([CORE, DATA].concat(), TABLE_REHEARSAL),
    };
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
