//! SQL text for two dialects, with every value bound.
//!
//! On PostgreSQL every parameter and every result column travels as text, with a cast in the statement. One way
//! for all types means that a column of a type this crate has never heard of still reads and writes without loss.

use std::fmt::Write as _;

/// Which SQL is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// One value on its way into or out of a database.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Datum {
    Null,
    Integer(i64),
    Real(f64),
    Boolean(bool),
    Text(String),
}

impl Datum {
    /// The value as PostgreSQL reads it; `None` is NULL.
    pub(crate) fn into_text(self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Integer(value) => Some(value.to_string()),
            Self::Real(value) => Some(format!("{value:?}")),
            Self::Boolean(value) => Some(value.to_string()),
            Self::Text(value) => Some(value),
        }
    }

    /// The value as a whole number, whichever way it travelled.
    pub(crate) fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The value as text, if it is some.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A statement under construction.
#[derive(Debug, Clone)]
pub(crate) struct Sql {
    pub(crate) dialect: Dialect,
    pub(crate) text: String,
    pub(crate) params: Vec<Datum>,
}

impl Sql {
    pub(crate) fn new(dialect: Dialect, text: &str) -> Self {
        Self { dialect, text: text.to_owned(), params: Vec::new() }
    }

    /// The table whose rows the statement writes, as the statement names it.
    pub(crate) fn target(&self) -> Option<&str> {
        const WRITING: [&str; 5] =
            ["INSERT INTO ", "UPDATE ONLY ", "UPDATE ", "DELETE FROM ONLY ", "DELETE FROM "];
        let rest = WRITING.iter().find_map(|verb| self.text.strip_prefix(verb))?;
        let mut is_quoted = false;
        let end = rest.find(|character| {
            is_quoted ^= character == '"';
            !is_quoted && matches!(character, ' ' | '(')
        });
        Some(end.map_or(rest, |end| &rest[..end]))
    }

    /// Adds SQL text. It never holds anything that came from outside.
    pub(crate) fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Adds a quoted name.
    pub(crate) fn name(&mut self, name: &str) -> &mut Self {
        self.text.push_str(&quoted(name));
        self
    }

    /// Adds a parameter; `cast` is its PostgreSQL type.
    pub(crate) fn bind(&mut self, value: Datum, cast: &str) -> &mut Self {
        self.params.push(value);
        let number = self.params.len();
        match self.dialect {
            Dialect::Sqlite => write!(self.text, "?{number}"),
            Dialect::Postgres if cast == "text" => write!(self.text, "${number}::text"),
            Dialect::Postgres => write!(self.text, "${number}::text::{cast}"),
        }
        .expect("writing to a string does not fail");
        self
    }

    pub(crate) fn text_param(&mut self, value: &str) -> &mut Self {
        self.bind(Datum::Text(value.to_owned()), "text")
    }

    pub(crate) fn integer_param(&mut self, value: i64) -> &mut Self {
        self.bind(Datum::Integer(value), "bigint")
    }

    /// Adds a result column that travels as it should in this dialect.
    pub(crate) fn result(&mut self, expression: &str) -> &mut Self {
        self.text.push_str(expression);
        if self.dialect == Dialect::Postgres {
            // Without a name of its own the text would have the column's, and `ORDER BY` would sort texts.
            self.text.push_str("::text AS ordain_result");
        }
        self
    }

    /// Adds `items`, each written by `write`, with `between` between them.
    pub(crate) fn list<T>(
        &mut self,
        between: &str,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) -> &mut Self {
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.push(between);
            }
            write(self, item);
        }
        self
    }
}

/// A name in double quotes, as both dialects read it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Text in single quotes, as both dialects read it (PostgreSQL with standard-conforming strings).
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_literals_cannot_close_their_quotes() {
        assert_eq!(quoted(r#"a"; DROP TABLE x; --"#), r#""a""; DROP TABLE x; --""#);
        assert_eq!(literal("O'Neil"), "'O''Neil'");
    }

    #[test]
    fn a_statement_that_writes_names_its_table() {
        let target = |text| Sql::new(Dialect::Postgres, text).target().map(str::to_owned);
        assert_eq!(target(r#"UPDATE ONLY "a b"."c (d" SET x = 1"#).as_deref(), Some(r#""a b"."c (d""#));
        assert_eq!(target("INSERT INTO ordain_runs (a) VALUES (1)").as_deref(), Some("ordain_runs"));
        assert_eq!(target("SELECT 1"), None);
    }

    #[test]
    fn a_parameter_is_cast_from_text_on_postgres_only() {
        let mut sql = Sql::new(Dialect::Postgres, "SELECT ");
        sql.integer_param(7);
        assert_eq!(sql.text, "SELECT $1::text::bigint");
        let mut sql = Sql::new(Dialect::Sqlite, "SELECT ");
        sql.integer_param(7);
        assert_eq!(sql.text, "SELECT ?1");
    }
}
