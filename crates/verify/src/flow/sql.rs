//! The tables and columns that the text of a `db.query` or `sql` call reads. Just enough SQL to know effects; the database
//! parses it for real.

use super::Flow;
use super::calls::Args;
use super::value::{Literal, Text, Value};
use crate::Contract;
use crate::finding_code::FindingCode;
use crate::report::Draft;

/// What runs a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    /// `db.query(sql, params)`: the store, over its own tables.
    Store,
    /// `sql(statement, params)`: DuckDB in the cell, over the tables that `frame` knows.
    Cell,
}

impl Runner {
    /// The name of the statement's argument, and of the function in messages.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Store => ("sql", "db.query"),
            Self::Cell => ("statement", "sql"),
        }
    }
}

impl<'a> Flow<'a, '_, '_, '_> {
    /// `db.query(sql, params)`
    pub(super) fn sql_rows(&mut self, args: &Args<'a>) -> Value<'a> {
        self.sql_call(args, Runner::Store);
        Value::list(Value::Unknown)
    }

    /// `sql(statement, params)`
    pub(super) fn sql_frame(&mut self, args: &Args<'a>) -> Value<'a> {
        self.sql_call(args, Runner::Cell);
        Value::Unknown
    }

    fn sql_call(&mut self, args: &Args<'a>, runner: Runner) {
        let text = args.get(runner.names().0, 0).map_or(Text::Any, |(_, value)| Self::text_of(value));
        for value in args.values().skip(1) {
            self.consume(value);
        }
        match text.known() {
            Some(texts) => {
                for &literal in texts {
                    self.sql(literal, runner);
                }
            }
            None => self.read_whole(None),
        }
    }

    fn sql(&mut self, literal: Literal<'a>, runner: Runner) {
        let words = words(literal.text);
        let is_write = words.first().is_some_and(|first| {
            [
                "insert", "update", "delete", "replace", "drop", "create", "alter", "truncate", "merge",
                "vacuum", "attach",
            ]
            .iter()
            .any(|keyword| first.is(keyword))
        });
        if is_write {
            let message =
                format!("`{}` only reads; `{}` writes", runner.names().1, words[0].text.to_uppercase());
            let draft = Draft::new(FindingCode::SqlWrite, literal.range, message);
            self.report.add(draft.hint("use `insert`, `update`, `upsert` or `remove` of the table"));
            return;
        }
        // These take a table's name, or a whole statement, as a value.
        let takes_text = |word: &Word<'_>| word.is("query") || word.is("query_table");
        if runner == Runner::Cell && words.iter().any(takes_text) {
            self.read_whole(None);
            return;
        }
        let mut tables = Vec::new();
        for name in table_names(&words) {
            let found = self.schema.tables.iter().position(|table| table.name.eq_ignore_ascii_case(name));
            match found {
                Some(table) => {
                    self.read_table(Some(table), literal.range);
                    tables.push(table);
                }
                // Of a file with several tables the cell alone knows the names.
                None if self.policy.contract != Contract::Code => {
                    let _ = self.table_named(Literal { text: name, range: literal.range });
                }
                None => {}
            }
        }
        // A table may stand where no name of a table is looked for: inside brackets, or under a name of its own.
        for (table, info) in self.schema.tables.iter().enumerate() {
            let may_name = |word: &Word<'_>| {
                word.kind == WordKind::Name || word.kind == WordKind::Text && runner == Runner::Cell
            };
            let is_named =
                words.iter().any(|word| may_name(word) && word.text.eq_ignore_ascii_case(&info.name));
            if is_named && !info.hidden && !tables.contains(&table) {
                self.usage.read_table(table);
                tables.push(table);
            }
        }
        for table in tables {
            self.sql_columns(table, &words);
        }
    }

    fn sql_columns(&mut self, table: usize, words: &[Word<'_>]) {
        // A star behind a name or a number multiplies; behind a bracket it counts rows.
        let is_whole = words.windows(2).any(|pair| {
            let starts = ["select", "distinct", "all"].iter().any(|word| pair[0].is(word));
            pair[1].is_sign("*") && (starts || pair[0].is_sign(",") || pair[0].is_sign("."))
        });
        // DuckDB's `FROM orders` without a SELECT is all of it, and so is a word that stands for columns.
        let is_whole = is_whole
            || !words.iter().any(|word| word.is("select"))
            || words.iter().any(|word| word.is("columns"));
        if is_whole {
            self.usage.read_whole(table);
            return;
        }
        for (index, column) in self.table(table).columns.iter().enumerate() {
            if !column.hidden && words.iter().any(|word| word.is(&column.name)) {
                self.usage.read_column(table, index);
            }
        }
    }
}

/// A part of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Word<'a> {
    text: &'a str,
    kind: WordKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordKind {
    /// A name or a keyword; also a name in quotes.
    Name,
    /// A text in quotes.
    Text,
    Sign,
}

impl Word<'_> {
    fn is(&self, name: &str) -> bool {
        self.kind == WordKind::Name && self.text.eq_ignore_ascii_case(name)
    }

    fn is_sign(&self, sign: &str) -> bool {
        self.kind == WordKind::Sign && self.text == sign
    }
}

fn words(sql: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let mut push = |text, kind| words.push(Word { text, kind });
        let length = match first {
            '\'' | '"' | '`' => {
                let length = quoted(rest, first);
                let kind = if first == '\'' { WordKind::Text } else { WordKind::Name };
                push(rest[1..length].trim_end_matches(first), kind);
                length
            }
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ if first.is_alphabetic() || first == '_' => {
                let length = rest
                    .find(|character: char| !character.is_alphanumeric() && character != '_')
                    .unwrap_or(rest.len());
                push(&rest[..length], WordKind::Name);
                length
            }
            _ if first.is_whitespace() => first.len_utf8(),
            _ => {
                push(&rest[..first.len_utf8()], WordKind::Sign);
                first.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    words
}

/// The length of a quoted piece, quotes included.
fn quoted(text: &str, quote: char) -> usize {
    text[1..].find(quote).map_or(text.len(), |end| end + 2)
}

/// The names behind `FROM` and `JOIN`, without those that the text defines itself.
fn table_names<'a>(words: &[Word<'a>]) -> Vec<&'a str> {
    let mut names = Vec::new();
    // For each open bracket: whether it holds a statement. `extract(year FROM day)` does not, so its FROM names no table.
    let mut brackets = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let next = words.get(index + 1);
        if word.is_sign("(") {
            let opens = ["select", "with", "from", "values"];
            let is_statement =
                next.is_some_and(|next| next.is_sign("(") || opens.iter().any(|word| next.is(word)));
            brackets.push(is_statement);
        } else if word.is_sign(")") {
            brackets.pop();
        }
        let is_distinct_from = word.is("from")
            && index > 0
            && words[index - 1].is("distinct")
            && index > 1
            && !words[index - 2].is("select");
        let is_behind =
            (word.is("from") && brackets.last() != Some(&false) && !is_distinct_from) || word.is("join");
        if is_behind {
            listed_names(words, index + 1, &mut names);
        }
    }
    names.retain(|name| !is_defined(words, name));
    names
}

/// The tables of a list such as `a, b AS c`.
fn listed_names<'a>(words: &[Word<'a>], start: usize, names: &mut Vec<&'a str>) {
    let mut at = start;
    while let Some(name) = words.get(at).filter(|word| word.kind == WordKind::Name && !word.is("select")) {
        // A function gives rows, too.
        let is_call = words.get(at + 1).is_some_and(|word| word.is_sign("("));
        if !is_call && !name.is("lateral") && !names.contains(&name.text) {
            names.push(name.text);
        }
        at = next_in_list(words, at);
    }
}

/// Whether a text defines a name itself: `WITH name AS (…)`, also with names of columns.
fn is_defined(words: &[Word<'_>], name: &str) -> bool {
    words.iter().enumerate().filter(|(_, word)| word.is(name)).any(|(index, _)| {
        let mut next = index + 1;
        if words.get(next).is_some_and(|word| word.is_sign("(")) {
            next += words[next..].iter().position(|word| word.is_sign(")")).map_or(0, |end| end + 1);
        }
        let is_as = words.get(next).is_some_and(|word| word.is("as"));
        let rest = words.get(next + 1..).unwrap_or_default();
        let rest = rest.iter().find(|word| !word.is("not") && !word.is("materialized"));
        is_as && rest.is_some_and(|word| word.is_sign("("))
    })
}

/// Where the next table of `FROM a, b AS c` stands; past the end if there is none.
fn next_in_list(words: &[Word<'_>], at: usize) -> usize {
    let mut next = at + 1;
    if words.get(next).is_some_and(|word| word.is("as")) {
        next += 1;
    }
    if words.get(next).is_some_and(|word| word.kind == WordKind::Name)
        && words.get(next + 1).is_some_and(|word| word.is_sign(","))
    {
        next += 1;
    }
    if words.get(next).is_some_and(|word| word.is_sign(",")) { next + 1 } else { words.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str, expected: &[&str]) {
        assert_eq!(table_names(&words(sql)), expected, "{sql}");
    }

    #[test]
    fn tables_stand_behind_from_and_join() {
        check("SELECT name FROM inventory WHERE price < 5", &["inventory"]);
        check("select * from a join b on a.x = b.x", &["a", "b"]);
        check("SELECT 1 FROM a, b AS c, d e WHERE 'from z' = ''", &["a", "b", "d"]);
        check("WITH t AS (SELECT * FROM a) SELECT * FROM t", &["a"]);
        check("SELECT * FROM (SELECT * FROM \"b c\") x", &["b c"]);
        check("SELECT 1 -- from x\n", &[]);
        check("", &[]);
        check("FROM", &[]);
        check("SELECT 'unclosed", &[]);
        check("SELECT extract(year FROM day) FROM a WHERE x IS DISTINCT FROM y", &["a"]);
        check("SELECT DISTINCT FROM a", &["a"]);
        check("SELECT * FROM range(10), a", &[]);
        check("WITH t(x, y) AS (SELECT 1, 2) SELECT * FROM t JOIN b ON true", &["b"]);
        check("WITH t AS MATERIALIZED (FROM a) FROM t", &["a"]);
        check("SELECT (SELECT max(x) FROM a) FROM (b JOIN c)", &["a", "c"]);
    }
}
