//! The tables and columns that a `db.query` text reads. Just enough SQL to know effects; the store parses it
//! for real.

use super::Flow;
use super::calls::Args;
use super::shape::Shape;
use super::value::{Literal, Text, Value};
use crate::finding_code::FindingCode;
use crate::report::Draft;
use std::rc::Rc;

impl<'a> Flow<'a, '_, '_, '_> {
    /// `db.query(sql, params)`
    pub(super) fn sql_call(&mut self, args: &Args<'a>) -> Value<'a> {
        let text = args.get("sql", 0).map_or(Text::Any, |(_, value)| Self::text_of(value));
        for value in args.values().skip(1) {
            self.consume(value);
        }
        match text.known() {
            Some(texts) => {
                for &literal in texts {
                    self.sql(literal);
                }
            }
            None => self.read_any(),
        }
        Value::list(Value::Row(Rc::new(Shape::unknown())))
    }

    fn read_any(&mut self) {
        self.read_whole(None);
    }

    fn sql(&mut self, literal: Literal<'a>) {
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
            let message = format!("`db.query` only reads; `{}` writes", words[0].text.to_uppercase());
            let draft = Draft::new(FindingCode::SqlWrite, literal.range, message);
            self.report.add(draft.hint("use `insert`, `update`, `upsert` or `remove` of the table"));
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
                None => {
                    let _ = self.table_named(Literal { text: name, range: literal.range });
                }
            }
        }
        // A table may stand where no name of a table is looked for: inside brackets, or under a name of its own.
        for (table, info) in self.schema.tables.iter().enumerate() {
            let is_named = words.iter().any(|word| word.is_name && word.is(&info.name));
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
            pair[1].text == "*"
                && (["select", "distinct", "all"].iter().any(|word| pair[0].is(word))
                    || matches!(pair[0].text, "," | "."))
        });
        if is_whole {
            self.usage.read_whole(table);
            return;
        }
        for (index, column) in self.table(table).columns.iter().enumerate() {
            if !column.hidden && words.iter().any(|word| word.is_name && word.is(&column.name)) {
                self.usage.read_column(table, index);
            }
        }
    }
}

/// A name, a sign, or a quoted name. Text literals are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Word<'a> {
    text: &'a str,
    is_name: bool,
}

impl Word<'_> {
    fn is(&self, name: &str) -> bool {
        self.text.eq_ignore_ascii_case(name)
    }
}

fn words(sql: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' => quoted(rest, '\''),
            '"' | '`' => {
                let length = quoted(rest, first);
                words.push(Word { text: rest[1..length].trim_end_matches(first), is_name: true });
                length
            }
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ if first.is_alphabetic() || first == '_' => {
                let length = rest
                    .find(|character: char| !character.is_alphanumeric() && character != '_')
                    .unwrap_or(rest.len());
                words.push(Word { text: &rest[..length], is_name: true });
                length
            }
            _ if first.is_whitespace() => first.len_utf8(),
            _ => {
                words.push(Word { text: &rest[..first.len_utf8()], is_name: false });
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
    let defined: Vec<&str> = words
        .windows(3)
        .filter(|part| part[0].is_name && part[1].is("as") && part[2].text == "(")
        .map(|part| part[0].text)
        .collect();
    let mut names = Vec::new();
    for (index, word) in words.iter().enumerate() {
        if !(word.is("from") || word.is("join")) {
            continue;
        }
        let mut at = index + 1;
        while let Some(name) = words.get(at).filter(|word| word.is_name && !word.is("select")) {
            if !defined.iter().any(|defined| name.is(defined)) && !names.contains(&name.text) {
                names.push(name.text);
            }
            at = next_in_list(words, at);
        }
    }
    names
}

/// Where the next table of `FROM a, b AS c` stands; past the end if there is none.
fn next_in_list(words: &[Word<'_>], at: usize) -> usize {
    let mut next = at + 1;
    if words.get(next).is_some_and(|word| word.is("as")) {
        next += 1;
    }
    if words.get(next).is_some_and(|word| word.is_name)
        && words.get(next + 1).is_some_and(|word| word.text == ",")
    {
        next += 1;
    }
    if words.get(next).is_some_and(|word| word.text == ",") { next + 1 } else { words.len() }
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
    }
}
