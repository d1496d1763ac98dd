//! The Python that reads a table out of a file.

use serde_json::Value;

use super::catalog::{ColumnKind, Source};
use super::python::{Code, list, text};

/// Above this a table of text is read in pieces.
const BIG_BYTES: u64 = 24 << 20;
/// Above this many values a table that is packed on disk is.
const BIG_VALUES: u64 = 4_000_000;

impl Source {
    /// Whether the table is too large to be read whole without thought.
    pub(super) fn is_big(&self) -> bool {
        let is_long = match self.kind.as_str() {
            "csv" | "tsv" | "dat" | "jsonl" | "ndjson" => self.bytes > BIG_BYTES,
            "parquet" => self.rows.saturating_mul(self.columns.len() as u64) > BIG_VALUES,
            _ => false,
        };
        is_long && self.files.len() == 1
    }

    /// Adds the lines that read it into a variable.
    pub(super) fn read_into(&self, variable: &str, code: &mut Code) {
        code.import("import pandas as pd");
        if let [file] = self.files.as_slice() {
            let expression = self.expression(&format!("files[{}]", text(file)), code);
            code.add(format!("{variable} = {expression}"));
        } else {
            // Pieces of one table: the same columns in every file.
            code.add(format!("names = {}", list(&self.files)));
            let expression = self.expression("files[name]", code);
            code.add(format!("{variable} = pd.concat([{expression} for name in names], ignore_index=True)"));
        }
        self.type_columns(variable, code);
    }

    /// Adds the lines that give columns the types that they are known to have.
    fn type_columns(&self, variable: &str, code: &mut Code) {
        for column in &self.columns {
            let name = text(&column.name);
            let function = match column.kind {
                ColumnKind::Date => "to_datetime",
                // The cells of a document are texts.
                ColumnKind::Number if self.kind == "docx" => "to_numeric",
                _ => continue,
            };
            code.add(format!("{variable}[{name}] = pd.{function}({variable}[{name}], errors=\"coerce\")"));
        }
    }

    /// The arguments that say how its text is cut.
    pub(super) fn dialect(&self) -> String {
        let fact = |name: &str| {
            self.facts.get(name).or_else(|| self.table_facts.get(name)).cloned().unwrap_or_default()
        };
        let mut arguments = String::new();
        let mut push = |name: &str, value: &str| {
            arguments.push_str(", ");
            arguments.push_str(name);
            arguments.push('=');
            arguments.push_str(value);
        };
        let delimiter = fact("delimiter");
        match delimiter.as_str() {
            Some(" ") => {
                push("sep", r#"r"\s+""#);
                push("comment", "\"#\"");
            }
            Some(delimiter) if delimiter != "," => push("sep", &text(delimiter)),
            _ => {}
        }
        match fact("encoding").as_str() {
            Some(encoding) if encoding != "utf-8" => push("encoding", &text(encoding)),
            _ => {}
        }
        if fact("header") == Value::Bool(false) {
            // Without a header the columns are numbered; names are texts everywhere else.
            let names = list(self.columns.iter().map(|column| &column.name));
            push("header", "None");
            push("names", &names);
        }
        arguments
    }

    fn expression(&self, path: &str, code: &mut Code) -> String {
        let dialect = self.dialect();
        let table = self.table.as_deref().unwrap_or_default();
        let index = self.table_facts.get("index").and_then(Value::as_u64).unwrap_or_default();
        match self.kind.as_str() {
            "json" | "yaml" | "yml" | "toml" => self.tree(path, code),
            "jsonl" | "ndjson" => format!("pd.read_json({path}, lines=True)"),
            "xml" => {
                code.import("import lxml  # the reader behind read_xml");
                format!("pd.read_xml({path}, xpath={})", text(&format!("./*[local-name()='{table}']")))
            }
            "html" | "htm" => {
                code.import("import lxml  # the reader behind read_html");
                // Spreadsheet programs write the names of columns as ordinary cells.
                format!("pd.read_html({path}, header=0)[{index}]")
            }
            "xlsx" | "xlsm" | "xls" | "ods" => self.sheet(path, table, code),
            "docx" => {
                code.import("import docx");
                code.add(format!("rows = [[cell.text for cell in row.cells] for row in docx.Document(str({path})).tables[{index}].rows]"));
                "pd.DataFrame(rows[1:], columns=rows[0])".to_owned()
            }
            "parquet" => format!("pd.read_parquet({path})"),
            "feather" | "arrow" => format!("pd.read_feather({path})"),
            "sqlite" | "sqlite3" | "db" => {
                code.import("import sqlite3");
                code.add(format!(
                    "database = sqlite3.connect(\"file:\" + str({path}) + \"?mode=ro&immutable=1\", uri=True)"
                ));
                let sql = format!("SELECT * FROM \"{}\"", table.replace('"', "\"\""));
                format!("pd.read_sql_query({}, database)", text(&sql))
            }
            "zip" | "tar" | "tgz" | "gz" | "bz2" | "xz" => self.member(path, &dialect, code),
            _ => format!("pd.read_csv({path}{dialect})"),
        }
    }

    /// A list of objects somewhere in a tree.
    fn tree(&self, path: &str, code: &mut Code) -> String {
        let load = match self.kind.as_str() {
            "yaml" | "yml" => {
                code.import("import yaml");
                format!("yaml.safe_load({path}.read_text(encoding=\"utf-8\"))")
            }
            "toml" => {
                code.import("import tomllib");
                format!("tomllib.loads({path}.read_text(encoding=\"utf-8\"))")
            }
            _ => {
                code.import("import json");
                format!("json.loads({path}.read_text(encoding=\"utf-8-sig\"))")
            }
        };
        let keys = self.table_facts.get("path").and_then(Value::as_array).cloned().unwrap_or_default();
        let keys = indices(&keys);
        format!("pd.DataFrame({load}{keys})")
    }

    fn sheet(&self, path: &str, table: &str, code: &mut Code) -> String {
        let mut arguments = format!(", sheet_name={}", text(table));
        if let Some(header) = self.table_facts.get("header_row").and_then(Value::as_u64) {
            arguments.push_str(", header=");
            arguments.push_str(&header.to_string());
        }
        if matches!(self.kind.as_str(), "xlsx" | "xlsm") {
            arguments += ", engine=\"openpyxl\"";
        }
        if self.kind == "ods" {
            code.import("import python_calamine  # the reader of OpenDocument workbooks");
            arguments += ", engine=\"calamine\"";
        }
        format!("pd.read_excel({path}{arguments})")
    }

    /// A table inside an archive, or a compressed one.
    fn member(&self, path: &str, dialect: &str, code: &mut Code) -> String {
        let member = self.table_facts.get("member").and_then(Value::as_str);
        let inner = member
            .or_else(|| self.files.first().and_then(|name| name.rsplit_once('.')).map(|(stem, _)| stem));
        let inner = inner.unwrap_or_default();
        let has_tar = self.kind == "tar" || self.facts.get("compressed").is_some();
        let opened = match (self.kind.as_str(), member) {
            ("zip", Some(member)) => {
                code.import("import zipfile");
                format!("zipfile.ZipFile({path}).open({})", text(member))
            }
            (_, Some(member)) if has_tar => {
                code.import("import tarfile");
                format!("tarfile.open({path}).extractfile({})", text(member))
            }
            ("gz" | "tgz", _) => {
                code.import("import gzip");
                format!("gzip.open({path})")
            }
            ("bz2", _) => {
                code.import("import bz2");
                format!("bz2.open({path})")
            }
            _ => {
                code.import("import lzma");
                format!("lzma.open({path})")
            }
        };
        match inner.rsplit_once('.').map(|(_, ending)| ending.to_lowercase()).as_deref() {
            Some("json") => {
                code.import("import json");
                let keys =
                    self.table_facts.get("path").and_then(Value::as_array).cloned().unwrap_or_default();
                let keys = indices(&keys);
                format!("pd.DataFrame(json.load({opened}){keys})")
            }
            Some("jsonl") => format!("pd.read_json({opened}, lines=True)"),
            _ => format!("pd.read_csv({opened}{dialect})"),
        }
    }
}

/// Keys as one index after the other: `["a"]["b"]`.
fn indices(keys: &[Value]) -> String {
    let keys: Vec<String> =
        keys.iter().filter_map(Value::as_str).map(|key| format!("[{}]", text(key))).collect();
    keys.concat()
}
