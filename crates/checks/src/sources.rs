//! Where tables come from: files in `data`, and tables of the store. Nothing here looks inside a file but to hash it.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ordain_files::declaration_of;
use ordain_store::{BeginOptions, Call, Intent, Reply, Store};
use ordain_types::{Catalog, ColumnType, Table};
use ordain_workspace::inside;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::ChecksError;
use crate::read::write_file;

/// The folder with file tables.
pub(crate) const FOLDER: &str = "data";
/// Files that are looked for.
const FILES_MAX: usize = 10_000;
/// Rows that are taken from the store at once.
const PAGE_ROWS: u64 = 5000;

/// A file that holds one table, or several if it is a workbook.
#[derive(Debug, Clone)]
pub(crate) struct DataFile {
    pub(crate) path: PathBuf,
    /// The name as it is shown: `data/orders.csv`.
    pub(crate) shown: String,
    /// The table's name: the file's without its endings.
    pub(crate) stem: String,
    pub(crate) form: &'static str,
    pub(crate) packing: Option<&'static str>,
    /// What is known of the columns, for an export of the store.
    pub(crate) known: Option<Vec<(String, ColumnType)>>,
    /// What the owner says about how it is read.
    pub(crate) declared: Value,
}

/// Endings that stand for others.
const ALIKE: [(&str, &str); 3] = [("tab", "tsv"), ("ndjson", "jsonl"), ("arrow", "feather")];
/// Files that hold one table, and are read at once.
const PLAIN_FORMS: [&str; 4] = ["csv", "tsv", "parquet", "feather"];
/// Files that may hold several tables, or none.
const OTHER_FORMS: [&str; 19] = [
    "json", "jsonl", "xlsx", "xlsm", "xls", "ods", "xml", "yaml", "yml", "txt", "dat", "sqlite", "sqlite3",
    "db", "h5", "hdf5", "zip", "tar", "tgz",
];
const PACKINGS: [&str; 5] = ["gz", "bz2", "xz", "zip", "zst"];

/// The files in `data` whose endings are known, by name.
pub(crate) fn data_files(root: &Path, catalog: &Catalog) -> Result<Vec<DataFile>, ChecksError> {
    let entries = match fs_err::read_dir(root.join(FOLDER)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(ChecksError::state("list the data files")(error)),
    };
    let mut files = Vec::new();
    for entry in entries.take(FILES_MAX) {
        let path = entry.map_err(ChecksError::state("list the data files"))?.path();
        files.extend(data_file(path, catalog));
    }
    for file in &files {
        let checked = inside::check(root, Path::new(&file.shown));
        checked.map_err(|message| {
            ChecksError::state("read a data file")(io::Error::other(format!("{}: {message}", file.shown)))
        })?;
    }
    files.sort_by(|left, right| left.shown.cmp(&right.shown));
    Ok(files)
}

/// Whether a file's name says that it holds a table.
pub fn is_data_file(path: &Path) -> bool {
    data_file(path.to_owned(), &Catalog::default()).is_some()
}

fn data_file(path: PathBuf, catalog: &Catalog) -> Option<DataFile> {
    let name = path.file_name()?.to_str()?.to_owned();
    if name.starts_with('.') || !path.is_file() {
        return None;
    }
    let ending =
        |name: &str| name.rsplit_once('.').map(|(stem, ending)| (stem.to_owned(), ending.to_lowercase()));
    let (mut stem, mut last) = ending(&name)?;
    let mut packing = PACKINGS.into_iter().find(|packing| *packing == last);
    if packing.is_some() {
        match ending(&stem).filter(|(_, inner)| form_of(inner).is_some()) {
            Some(inner) => (stem, last) = inner,
            // An archive of several files.
            None => packing = None,
        }
    }
    let form = form_of(&last)?;
    let declared = declaration_of(catalog, &name);
    Some(DataFile { path, shown: format!("{FOLDER}/{name}"), stem, form, packing, known: None, declared })
}

fn form_of(ending: &str) -> Option<&'static str> {
    let alike = ALIKE.into_iter().find(|(other, _)| *other == ending).map_or(ending, |(_, form)| form);
    PLAIN_FORMS.into_iter().chain(OTHER_FORMS).find(|form| *form == alike)
}

impl DataFile {
    /// The file's own name.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Whether it may hold tables of other names than its own.
    pub(crate) fn may_hold_several(&self) -> bool {
        !PLAIN_FORMS.contains(&self.form)
    }
}

/// Hashes of files, kept by what the file system says of them, so that an unchanged file is not read again.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Hashes {
    files: BTreeMap<String, Hashed>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Hashed {
    bytes: u64,
    inode: u64,
    modified_ns: i128,
    changed_ns: i128,
    sha256: String,
}

impl Hashes {
    pub(crate) fn open(path: &Path) -> Self {
        fs_err::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    pub(crate) fn keep(&self, path: &Path) -> io::Result<()> {
        write_file(path, &serde_json::to_vec(self)?)
    }

    /// The hash of a file's content.
    pub(crate) fn of(&mut self, file: &DataFile) -> io::Result<String> {
        let metadata = fs_err::metadata(&file.path)?;
        let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        let mut now = Hashed {
            bytes: metadata.len(),
            inode: metadata.ino(),
            modified_ns: nanos(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: nanos(metadata.ctime(), metadata.ctime_nsec()),
            sha256: String::new(),
        };
        if let Some(known) = self.files.get(&file.shown) {
            now.sha256.clone_from(&known.sha256);
            if *known == now {
                return Ok(now.sha256);
            }
        }
        now.sha256 = hash_of(&file.path)?;
        let hash = now.sha256.clone();
        self.files.insert(file.shown.clone(), now);
        Ok(hash)
    }
}

pub(crate) fn hash_of(path: &Path) -> io::Result<String> {
    let mut file = fs_err::File::open(path)?;
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(ordain_types::hex(&hasher.finalize())),
            length => hasher.update(&piece[..length]),
        }
    }
}

/// The hash of a text.
pub(crate) fn hash_text(text: &str) -> String {
    ordain_types::hex(&Sha256::digest(text.as_bytes()))
}

/// A table of the store as it is shown.
pub(crate) fn shown(table: &Table) -> String {
    format!("store table {}", table.name)
}

/// A table of the store, written as JSON lines.
#[derive(Debug)]
pub(crate) struct Exported {
    pub(crate) file: DataFile,
    /// The hash of what was written.
    pub(crate) hash: String,
    pub(crate) rows: u64,
}

/// Writes a table of the store as JSON lines.
pub(crate) async fn export(store: &Store, table: &Table, path: &Path) -> Result<Exported, ChecksError> {
    let failed = || ChecksError::state(format!("export table `{}`", table.name));
    let mut file = io::BufWriter::new(fs_err::File::create(path).map_err(failed())?);
    let mut hasher = Sha256::new();
    let run_id = store.new_run_id()?;
    let mut transaction = store.begin(BeginOptions { run_id, intent: Intent::Read }).await?;
    let (mut after, mut as_of, mut rows) = (None, None, 0);
    loop {
        let call =
            Call::Search { table: table.name.clone(), condition: None, after, as_of, limit: Some(PAGE_ROWS) };
        let Reply::Rows(page) = transaction.carry_out(call).await? else { break };
        (after, as_of) = (page.last, Some(page.as_of));
        let was_empty = page.rows.is_empty();
        for row in page.rows {
            let values = page.columns.iter().cloned().zip(row.values);
            let members: Map<String, Value> =
                values.filter_map(|(name, value)| value.map(|value| (name, value))).collect();
            let mut line = serde_json::to_vec(&json!(members)).unwrap_or_default();
            line.push(b'\n');
            hasher.update(&line);
            rows += 1;
            file.write_all(&line).map_err(failed())?;
        }
        if !page.more || was_empty {
            break;
        }
    }
    transaction.roll_back().await?;
    file.flush().map_err(failed())?;
    let columns = table.columns.iter().filter(|column| !column.hidden);
    let known: Vec<_> = columns
        .map(|column| match column.column_type {
            ColumnType::Any => (column.name.clone(), ColumnType::Json),
            holds => (column.name.clone(), holds),
        })
        .collect();
    // The same rows under other columns are another table.
    hasher.update(serde_json::to_vec(&known).unwrap_or_default());
    let file = DataFile {
        path: path.to_owned(),
        shown: shown(table),
        stem: table.name.clone(),
        form: "jsonl",
        packing: None,
        known: Some(known),
        declared: json!({}),
    };
    Ok(Exported { file, hash: ordain_types::hex(&hasher.finalize()), rows })
}
