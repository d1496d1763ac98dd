//! The names of a workspace: tables, columns, values. Everything that a sentence may call by name stands here.

use crate::algebra::{Cond, Name};
use crate::lexicon::LEXICON;
use crate::query::Measure;
use crate::token::name_words;
use crate::verbs::Verb;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Holds {
    /// Text.
    Text,
    /// Whole numbers.
    Whole,
    /// Numbers.
    Number,
    /// Yes and no.
    Bool,
    /// Days, or points in time.
    Day,
    /// Times of day.
    Time,
    /// Lengths of time, in days: what two days lie apart.
    Span,
    /// What has no order and no text: nested values.
    Nested,
}

impl Holds {
    /// Whether it can be computed with.
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Whole | Self::Number | Self::Span)
    }

    /// Whether values of the two can be compared.
    pub const fn is_like(self, other: Self) -> bool {
        self.is_number() && other.is_number() || self as u8 == other as u8
    }
}

/// How the text of a column's cells can be had from its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The values are the texts.
    Same,
    /// They are written as plain digits.
    Digits,
    /// They are written as `2024-01-31`.
    IsoDay,
    /// It is not known how they are written.
    Lost,
}

/// A column.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact that the others say nothing about")]
pub struct Column {
    /// Its name.
    pub name: Name,
    /// What it holds.
    pub holds: Holds,
    /// What its numbers count: a currency, `%`, `kg`.
    pub unit: Option<String>,
    /// Its name and its synonyms.
    pub words: Vec<String>,
    /// The table and column that it refers to.
    pub refers: Option<(Name, Name)>,
    /// Texts that rows are known to have there.
    pub values: Vec<String>,
    /// Whether some row has no value there.
    pub has_gaps: bool,
    /// How its cells are written.
    pub source: Source,
    /// The words for yes and no, of a column that holds them.
    pub truth: Option<(String, String)>,
    /// Whether its days have a time of day.
    pub has_time: bool,
    /// Whether its numbers are codes or years, which are written as they stand.
    pub is_code: bool,
    /// Whether words within its texts may be asked for.
    pub is_searched: bool,
}

impl Column {
    /// A column of that name and nothing else.
    pub fn new(name: &str, holds: Holds) -> Self {
        Self {
            name: name.into(),
            holds,
            unit: None,
            words: vec![name.to_owned()],
            refers: None,
            values: Vec::new(),
            has_gaps: false,
            source: if holds == Holds::Text { Source::Same } else { Source::Lost },
            truth: None,
            has_time: false,
            is_code: false,
            is_searched: false,
        }
    }

    /// Whether it counts money.
    pub(crate) fn is_money(&self) -> bool {
        self.unit.as_deref().is_some_and(|unit| LEXICON.get("currency", &unit.to_lowercase()).is_some())
    }
}

/// A table.
#[derive(Debug, Clone)]
pub struct Table {
    /// Its name.
    pub name: Name,
    /// Its name and its synonyms.
    pub words: Vec<String>,
    /// The column that tells its rows apart.
    pub key: Option<Name>,
    /// The column by which people call its rows.
    pub label: Option<Name>,
    /// Its columns.
    pub columns: Vec<Column>,
    /// The files that hold it, each with the name of the table in it where that has one; none of a table of the store.
    pub parts: Vec<Vec<String>>,
}

/// The owner's words for a condition on the rows of a table.
#[derive(Debug, Clone)]
pub struct Phrase {
    /// The words.
    pub words: Vec<String>,
    /// The table.
    pub table: Name,
    /// The condition.
    pub means: Cond,
}

/// The owner's words for a figure of the rows of a table.
#[derive(Debug, Clone)]
pub struct Metric {
    /// The words.
    pub words: Vec<String>,
    /// The table.
    pub table: Name,
    /// What is told.
    pub measure: Measure,
    /// Of which rows.
    pub filter: Cond,
    /// The columns by which it may be split; any if none is listed.
    pub by: Vec<Name>,
}

/// The tables that a sentence may be about.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// The tables.
    pub tables: Vec<Table>,
    /// Conditions that have a name.
    pub phrases: Vec<Phrase>,
    /// Figures that have one.
    pub metrics: Vec<Metric>,
    /// The verbs by which sentences change them.
    pub verbs: Vec<Verb>,
}

impl Table {
    /// A table of that name.
    pub fn new(name: &str, columns: Vec<Column>) -> Self {
        Self {
            name: name.into(),
            words: vec![name.to_owned()],
            key: None,
            label: None,
            columns,
            parts: Vec::new(),
        }
    }

    /// Whether its rows are named by the values of a column: its key, or what they are called by.
    pub(crate) fn is_naming(&self, column: &str) -> bool {
        [&self.key, &self.label].into_iter().flatten().any(|own| &**own == column)
    }

    /// Its column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| &*column.name == name)
    }
}

impl Column {
    /// The sign of the currency that it counts, or its code.
    pub fn currency(&self) -> Option<&str> {
        let unit = self.unit.as_deref()?;
        let is_named = |word: &&str| LEXICON.get("currency", word) == Some(unit);
        let sign =
            LEXICON.words("currency").filter(is_named).find(|word| !word.chars().any(char::is_alphabetic));
        self.is_money().then(|| sign.unwrap_or(unit))
    }
}

impl Table {
    /// What a row of it is called, and what several are: by its own name where that is a plural, else by the first other word
    /// for it.
    pub fn noun(&self) -> (String, String) {
        let is_plural = |words: &String| LEXICON.singular(words) != *words;
        let mut all = self.words.iter().map(|words| name_words(words).join(" "));
        let own = all.next().unwrap_or_else(|| self.name.to_string());
        let word = if is_plural(&own) { own } else { all.next().unwrap_or(own) };
        let (before, last) = word
            .rsplit_once(' ')
            .map_or((String::new(), word.as_str()), |(before, last)| (format!("{before} "), last));
        let one = LEXICON.singular(last);
        let many = if one == last { LEXICON.plural(last) } else { last.to_owned() };
        (format!("{before}{one}"), format!("{before}{many}"))
    }
}

impl Catalog {
    /// A catalog of tables alone.
    pub fn of(tables: Vec<Table>) -> Self {
        Self { tables, ..Self::default() }
    }

    /// The table of that name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| &*table.name == name)
    }

    /// The column of that name in that table.
    pub fn column(&self, table: &str, column: &str) -> Option<&Column> {
        self.table(table)?.column(column)
    }

    /// Adds the references that follow from names alone: a column that is called like the key of another table.
    #[must_use]
    pub fn with_references(mut self) -> Self {
        let keys: Vec<(Vec<String>, Name, Name)> = self
            .tables
            .iter()
            .filter_map(|table| {
                let key = table.key.as_ref()?;
                let words = name_words(key);
                let is_bare = words.len() == 1;
                let own = LEXICON.singular(&table.name.to_lowercase());
                let words =
                    if is_bare && words[0] != own { [name_words(&own), words].concat() } else { words };
                Some((words, table.name.clone(), key.clone()))
            })
            .collect();
        for table in &mut self.tables {
            let own_key = table.key.clone();
            for column in &mut table.columns {
                if column.refers.is_some() || own_key.as_ref() == Some(&column.name) {
                    continue;
                }
                let words = name_words(&column.name);
                let found = keys.iter().find(|(key, owner, _)| *key == words && *owner != table.name);
                column.refers = found.map(|(_, owner, key)| (owner.clone(), key.clone()));
            }
        }
        self
    }

    /// The columns of a table that refer to another: the column there, the key here.
    pub(crate) fn backward(&self, table: &str, child: &str) -> Vec<(Name, Name)> {
        let columns = self.table(child).map(|child| child.columns.as_slice()).unwrap_or_default();
        let refers = columns.iter().filter_map(|column| {
            let (target, key) = column.refers.as_ref()?;
            (&**target == table && table != child).then(|| (column.name.clone(), key.clone()))
        });
        refers.collect()
    }
}
