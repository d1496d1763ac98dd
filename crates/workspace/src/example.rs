//! Ready workspaces, and how a new one is laid out.

use std::io;
use std::path::{Path, PathBuf};

use super::{FILE, config_schema};

/// A workspace that comes with the program.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// What it is called.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// The command to begin with.
    pub first: &'static str,
    files: &'static [(&'static str, &'static [u8])],
}

impl Example {
    /// The text of one of its files.
    #[cfg(test)]
    pub(crate) fn text(&self, name: &str) -> Option<&'static str> {
        let (_, content) = self.files.iter().find(|(path, _)| *path == name)?;
        std::str::from_utf8(content).ok()
    }
}

macro_rules! files {
    ($folder:literal, $($name:literal),+) => {
        &[$(($name, include_bytes!(concat!("../../../examples/", $folder, "/", $name)).as_slice())),+]
    };
}

/// All examples.
pub const EXAMPLES: &[Example] = &[
    Example {
        name: "sunglasses",
        about: "a shop that sells sunglasses: stock, sales and a balance",
        first: "ordain ask 'do you have round sunglasses under $100?'",
        files: files!(
            "sunglasses",
            "ordain.toml",
            "policy.md",
            "helpers.py",
            "tables/inventory.json",
            "tables/transactions.json",
            "eval.jsonl"
        ),
    },
    Example {
        name: "bike-parts",
        about: "a shop that sells parts for bicycles: other words for the same trade, and its customers",
        first: "ordain tables",
        files: files!(
            "bike-parts",
            "ordain.toml",
            "policy.md",
            "helpers.py",
            "tables/parts.json",
            "tables/sales_ledger.json",
            "tables/customers.json",
            "eval.jsonl"
        ),
    },
    Example {
        name: "library",
        about: "a library whose verb `lend` its owner declared in ten lines",
        first: "ordain ask \"lend Silas Marner to Ida Bloom\"",
        files: files!(
            "library",
            "ordain.toml",
            "policy.md",
            "helpers.py",
            "tables/books.json",
            "tables/members.json",
            "tables/loans.json",
            "eval.jsonl"
        ),
    },
    Example {
        name: "bank",
        about: "accounts between which money moves by one verb, `transfer`, and in no other way",
        first: "ordain ask \"transfer 50 from House fund to Travel fund\"",
        files: files!(
            "bank",
            "ordain.toml",
            "policy.md",
            "helpers.py",
            "tables/accounts.json",
            "tables/transfers.json",
            "eval.jsonl"
        ),
    },
    Example {
        name: "clinic",
        about: "doctors, patients, and appointments that the verb `book` makes",
        first: "ordain ask \"book Lena Fox with Dr Amin on 2026-05-04 at 10:00\"",
        files: files!(
            "clinic",
            "ordain.toml",
            "policy.md",
            "helpers.py",
            "tables/doctors.json",
            "tables/patients.json",
            "tables/appointments.json",
            "eval.jsonl"
        ),
    },
    Example {
        name: "shop-tools",
        about: "a shop whose plans mail receipts and open tickets: tools, approval, the outbox and undo",
        first: "ordain config trust . && ordain tools list",
        files: files!(
            "shop-tools",
            "ordain.toml",
            "policy.md",
            "plans/sale.py",
            "tables/inventory.json",
            "tables/transactions.json",
            "tools/mail.py",
            "tools/server.py",
            "tools/tracker.py",
            "tools.lock.json"
        ),
    },
    Example {
        name: "data-quality",
        about: "users, events and orders with errors in them, and twenty checks that find them",
        first: "ordain check run",
        files: files!(
            "data-quality",
            "ordain.toml",
            "policy.md",
            "checks/checks.json",
            "data/events.csv",
            "data/orders.csv",
            "data/users.csv"
        ),
    },
    Example {
        name: "office",
        about: "goals of several steps: an onboarding, a report and a dashboard, with recorded replies",
        first: "ordain ask \"Analyze the Q4 sales and create an executive dashboard\" --strategy plan --model replay:replies/dashboard.jsonl",
        files: files!(
            "office",
            "ordain.toml",
            "policy.md",
            "tables/employees.json",
            "tables/accounts.json",
            "tables/meetings.json",
            "tables/equipment.json",
            "tables/competitors.json",
            "tables/sales.json",
            "replies/onboarding.jsonl",
            "replies/report.jsonl",
            "replies/dashboard.jsonl"
        ),
    },
    Example {
        name: "returns-desk",
        about: "a returns desk: eight tables that refer to each other, a policy, and forty tasks with end states",
        first: "ordain models eval eval.jsonl --model replay:replies/desk.jsonl --no-cache",
        files: files!(
            "returns-desk",
            "ordain.toml",
            "policy.md",
            "tables/customers.json",
            "tables/products.json",
            "tables/variants.json",
            "tables/orders.json",
            "tables/order_lines.json",
            "tables/payments.json",
            "tables/returns.json",
            "tables/notes.json",
            "eval.jsonl",
            "replies/desk.jsonl"
        ),
    },
    Example {
        name: "sales-files",
        about: "questions about files: a CSV, a workbook, JSON, Parquet, a PDF and a picture",
        first: "ordain code \"total revenue by region\" --file files/sales.csv",
        files: files!(
            "sales-files",
            "ordain.toml",
            "policy.md",
            "make.py",
            "files/sales.csv",
            "files/sales.xlsx",
            "files/targets.json",
            "files/returns.parquet",
            "files/report.pdf",
            "files/logo.png",
            "files/notes.md",
            "eval.jsonl"
        ),
    },
];

const EMPTY: &[(&str, &[u8])] = &[
    (
        "ordain.toml",
        b"[workspace]\nname = \"NAME\"\n\n# A table is declared with its first rows:\n# [tables.inventory]\n# seed = \"tables/inventory.json\"\n# key = \"item_id\"\n",
    ),
    ("policy.md", b"1. Change nothing unless the request clearly asks for it.\n"),
];

/// The schema of `ordain.toml`, beside it.
const SCHEMA: &str = "ordain.schema.json";

/// Why no workspace was made.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// No such example.
    #[error("there is no example `{name}`")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The example that was probably meant.
        nearest: Option<&'static str>,
    },
    /// Something is there already.
    #[error("`{folder}` is not empty", folder = folder.display())]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
        /// What would have been written.
        files: Vec<&'static str>,
    },
    /// The files could not be written.
    #[error("the workspace could not be written")]
    Io(#[from] io::Error),
}

impl InitError {
    /// What would help.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { nearest, .. } => Some(nearest.map_or_else(
                || {
                    format!(
                        "there are: {}",
                        EXAMPLES.iter().map(|example| example.name).collect::<Vec<_>>().join(", ")
                    )
                },
                |name| format!("did you mean `{name}`?"),
            )),
            Self::NotEmpty { folder, files } => Some(format!(
                "nothing was touched; it would have written {}. For the data files of this folder: `ordain init NEW --from {}`",
                files.join(", "),
                folder.display()
            )),
            Self::Io(_) => None,
        }
    }
}

/// Makes a workspace in a folder that is new or empty. Gives back the files that were written.
pub fn init(folder: &Path, example: Option<&str>) -> Result<Vec<PathBuf>, InitError> {
    let files = match example {
        None => EMPTY,
        Some(name) => {
            let found = EXAMPLES.iter().find(|example| example.name == name);
            found.map(|example| example.files).ok_or_else(|| InitError::Unknown {
                name: name.to_owned(),
                nearest: ordain_types::nearest(name, EXAMPLES.iter().map(|example| example.name)),
            })?
        }
    };
    if folder.exists() && fs_err::read_dir(folder)?.next().is_some() {
        let files = files.iter().map(|(path, _)| *path).chain([SCHEMA, ".gitignore"]).collect();
        return Err(InitError::NotEmpty { folder: folder.to_owned(), files });
    }
    let name = plain_name(folder);
    let mut written = Vec::new();
    for (path, content) in files {
        let target = folder.join(path);
        if let Some(parent) = target.parent() {
            fs_err::create_dir_all(parent)?;
        }
        match std::str::from_utf8(content) {
            Ok(text) => {
                let text = if *path == FILE { format!("#:schema {SCHEMA}\n{text}") } else { text.to_owned() };
                fs_err::write(&target, text.replace("name = \"NAME\"", &format!("name = \"{name}\"")))?;
            }
            Err(_) => fs_err::write(&target, content)?,
        }
        written.push(PathBuf::from(path));
    }
    // Editors complete and check `ordain.toml` by it.
    fs_err::write(folder.join(SCHEMA), format!("{:#}\n", config_schema()))?;
    written.push(PathBuf::from(SCHEMA));
    ignore_state(folder, &mut written)?;
    Ok(written)
}

/// The folder's name; only letters and digits go into a file as they are.
fn plain_name(folder: &Path) -> String {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let name = folder.file_name().map_or_else(|| "workspace".into(), |name| name.to_string_lossy());
    name.chars().map(|c| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' }).collect()
}

/// State holds a key and data; neither belongs in a repository.
fn ignore_state(folder: &Path, written: &mut Vec<PathBuf>) -> io::Result<()> {
    fs_err::write(folder.join(".gitignore"), ".ordain/\n")?;
    written.push(PathBuf::from(".gitignore"));
    Ok(())
}
