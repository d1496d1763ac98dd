//! What a check gives its kind, read strictly: an unknown name is an error.

use std::collections::BTreeSet;

use ordain_types::{Schema, Table, nearest};
use serde_json::{Map, Value};

use crate::catalogue::{Kind, Shape};
use crate::check::Check;

/// Why a check's code could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// A table is not there.
    #[error("there is no table `{table}`")]
    MissingTable {
        /// The table.
        table: String,
        /// The one that was probably meant.
        nearest: Option<String>,
    },
    /// A column is not there.
    #[error("table `{table}` has no column `{column}`")]
    MissingColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The one that was probably meant.
        nearest: Option<String>,
    },
    /// A parameter is missing, wrong or unknown.
    #[error("{message}")]
    Param {
        /// What is wrong.
        message: String,
        /// What would help.
        hint: Option<String>,
    },
}

impl CompileError {
    /// What the reader can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::MissingTable { nearest: Some(name), .. }
            | Self::MissingColumn { nearest: Some(name), .. } => Some(format!("did you mean `{name}`?")),
            Self::MissingTable { .. } => {
                Some("file tables are the files in `data`, named without their ending".to_owned())
            }
            Self::MissingColumn { .. } => None,
            Self::Param { hint, .. } => hint.clone(),
        }
    }

    pub(super) fn param(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Param { message: message.into(), hint: Some(hint.into()) }
    }
}

/// The table of that name.
pub(super) fn table<'a>(schema: &'a Schema, name: &str) -> Result<&'a Table, CompileError> {
    schema.table(name).ok_or_else(|| CompileError::MissingTable {
        table: name.to_owned(),
        nearest: nearest(name, schema.tables.iter().map(|table| table.name.as_str())).map(str::to_owned),
    })
}

/// Makes sure that a table has a column.
pub(super) fn column_of(table: &Table, name: &str) -> Result<(), CompileError> {
    if table.column(name).is_some() {
        return Ok(());
    }
    Err(CompileError::MissingColumn {
        table: table.name.clone(),
        column: name.to_owned(),
        nearest: nearest(name, table.columns.iter().map(|column| column.name.as_str())).map(str::to_owned),
    })
}

/// A check's params, and which of them were read.
#[derive(Debug)]
pub(super) struct Params<'a> {
    kind: Kind,
    given: &'a Map<String, Value>,
    read: BTreeSet<&'static str>,
}

impl<'a> Params<'a> {
    pub(super) fn new(check: &'a Check) -> Self {
        Self { kind: check.kind, given: &check.params, read: BTreeSet::new() }
    }

    /// The value of that name, if it is given and not null.
    pub(super) fn get(&mut self, name: &'static str) -> Option<&'a Value> {
        self.read.insert(name);
        self.given.get(name).filter(|value| !value.is_null())
    }

    /// A value that the kind means nothing without.
    pub(super) fn need(&mut self, name: &'static str) -> Result<&'a Value, CompileError> {
        let kind = self.kind;
        self.get(name).ok_or_else(|| {
            CompileError::param(
                format!("`{kind}` needs the parameter `{name}`"),
                format!("write it under `params`: {{\"{name}\": …}}"),
            )
        })
    }

    /// A text.
    pub(super) fn text(&mut self, name: &'static str) -> Result<String, CompileError> {
        let value = self.need(name)?;
        value.as_str().map(str::to_owned).ok_or_else(|| self.wrong(name, "a text"))
    }

    /// A text, if it is given.
    pub(super) fn optional_text(&mut self, name: &'static str) -> Result<Option<String>, CompileError> {
        match self.get(name) {
            None => Ok(None),
            Some(_) => self.text(name).map(Some),
        }
    }

    /// A number, if it is given.
    pub(super) fn number(&mut self, name: &'static str) -> Result<Option<f64>, CompileError> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or_else(|| self.wrong(name, "a number")),
        }
    }

    /// A whole number that is not negative, if it is given.
    pub(super) fn count(&mut self, name: &'static str) -> Result<Option<u64>, CompileError> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => value
                .as_u64()
                .or_else(|| value.as_f64().filter(|it| it.fract() == 0.0 && *it >= 0.0).map(whole))
                .map(Some)
                .ok_or_else(|| self.wrong(name, "a whole number, zero or more")),
        }
    }

    /// Whether something is switched on.
    pub(super) fn flag(&mut self, name: &'static str) -> Result<bool, CompileError> {
        match self.get(name) {
            None => Ok(false),
            Some(value) => value.as_bool().ok_or_else(|| self.wrong(name, "true or false")),
        }
    }

    /// One of a few words; the first one if none is given.
    pub(super) fn choice(
        &mut self,
        name: &'static str,
        words: &[&'static str],
    ) -> Result<&'static str, CompileError> {
        let Some(value) = self.get(name) else { return Ok(words[0]) };
        let found = value.as_str().and_then(|text| words.iter().find(|word| **word == text));
        found.copied().ok_or_else(|| self.wrong(name, &format!("one of {}", words.join(", "))))
    }

    /// A list of values.
    pub(super) fn values(&mut self, name: &'static str) -> Result<&'a [Value], CompileError> {
        let value = self.need(name)?;
        value.as_array().map(Vec::as_slice).ok_or_else(|| self.wrong(name, "a list"))
    }

    /// A column of a table.
    pub(super) fn column(&mut self, name: &'static str, table: &Table) -> Result<String, CompileError> {
        let column = self.text(name)?;
        column_of(table, &column)?;
        Ok(column)
    }

    /// One column or several of a table.
    pub(super) fn columns(&mut self, name: &'static str, table: &Table) -> Result<Vec<String>, CompileError> {
        // Some kinds take one column; that name means the same for these.
        let singular =
            name == "columns" && !self.given.contains_key(name) && self.given.contains_key("column");
        let value = if singular { self.need("column")? } else { self.need(name)? };
        let columns = names(value).ok_or_else(|| self.wrong(name, "a column's name or a list of them"))?;
        if columns.is_empty() {
            return Err(self.wrong(name, "at least one column"));
        }
        for column in &columns {
            column_of(table, column)?;
        }
        Ok(columns)
    }

    /// A record.
    pub(super) fn object(&mut self, name: &'static str) -> Result<&'a Map<String, Value>, CompileError> {
        let value = self.need(name)?;
        value.as_object().ok_or_else(|| self.wrong(name, "a record"))
    }

    /// Says that a parameter does not hold what it must.
    pub(super) fn wrong(&self, name: &str, wanted: &str) -> CompileError {
        let given = self.given.get(name).map(|value| shortened(&value.to_string()));
        CompileError::param(
            format!("the parameter `{name}` of `{}` is {}", self.kind, given.unwrap_or_default()),
            format!("it is {wanted}"),
        )
    }

    /// Fails if something was given that the kind does not know.
    pub(super) fn finish(&self) -> Result<(), CompileError> {
        let Some(unknown) = self.given.keys().find(|name| !self.read.contains(name.as_str())) else {
            return Ok(());
        };
        let known: Vec<&str> = self.read.iter().copied().collect();
        let hint = nearest(unknown, known.iter().copied()).map_or_else(
            || format!("it takes: {}", known.join(", ")),
            |name| format!("did you mean `{name}`?"),
        );
        Err(CompileError::param(format!("`{}` has no parameter `{unknown}`", self.kind), hint))
    }
}

/// What is wrong with the params of a check, whatever tables there are.
pub(crate) fn wrong_params(check: &Check) -> Option<CompileError> {
    let mut params = Params::new(check);
    let conditions = ["when", "must"].map(|name| super::condition::test(&mut params, name).err());
    if let Some(error) = conditions.into_iter().flatten().next() {
        return Some(error);
    }
    if check.kind == Kind::Hint {
        return None;
    }
    let spec = check.kind.spec();
    // One column may be given where several are taken.
    let is_given = |name: &str| {
        check.params.contains_key(name) || name == "columns" && check.params.contains_key("column")
    };
    for param in spec.params {
        let given = check.params.get(param.name).filter(|value| !value.is_null());
        if let (Shape::Choice(words), Some(given)) = (param.shape, given)
            && !given.as_str().is_some_and(|given| words.contains(&given))
        {
            return Some(params.wrong(param.name, &format!("one of {}", words.join(", "))));
        }
        if param.required && !is_given(param.name) {
            return params.need(param.name).err();
        }
        params.get(param.name);
    }
    if spec.params.iter().any(|param| param.name == "columns") {
        params.get("column");
    }
    let wanted: &[&str] = match check.kind {
        Kind::Range | Kind::Length => &["min", "max"],
        Kind::RowCount => &["min", "max", "same_as"],
        Kind::Aggregate if !gives_values(check) => &["min", "max"],
        _ => &[],
    };
    if !wanted.is_empty() && !wanted.iter().any(|name| is_given(name)) {
        let message = format!("`{}` has none of the parameters {}", check.kind, wanted.join(", "));
        return Some(CompileError::param(message, "give at least one of them"));
    }
    params.finish().err()
}

/// Whether a figure is no single number, but values that are compared with others.
fn gives_values(check: &Check) -> bool {
    let function = check.params.get("function").and_then(Value::as_str);
    function.is_some_and(|name| ["distinct_values", "most_common", "quantiles"].contains(&name))
}

/// One name or a list of names.
pub(super) fn names(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(name) => Some(vec![name.clone()]),
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

fn shortened(text: &str) -> String {
    let cut: String = text.chars().take(60).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and not negative")]
fn whole(number: f64) -> u64 {
    number as u64
}
