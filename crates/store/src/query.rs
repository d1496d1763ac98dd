//! `db.query`: SQL that a plan may read with.
//!
//! The statement is one `SELECT`. The tables that it names are put before it as common table expressions with the
//! visible columns only, so that `SELECT *` shows what plans may see and nothing else. What else it may do is decided
//! where it is certain: on SQLite by the database's own authorizer, which is asked for every table, column and function;
//! on PostgreSQL by judging the statement as a tree ([`judge`]), and it runs in a read-only subtransaction whose search
//! path holds no table at all.

mod functions;
mod judge;
mod row_wise;
pub(crate) mod tokens;

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use crate::catalog::Catalog;
use crate::error::StoreError;
use crate::relation::{ABSENT, DOC_ID, Relation};
use crate::session::{Access, Bounds, Guarded};
use crate::sql::{Datum, Dialect, literal, quoted};
pub(crate) use row_wise::RowWise;
use tokens::{Param, Token, Tokens};

const SQL_BYTES_MAX: usize = 64 * 1024;

/// Checks a plan's query and makes it ready to be sent.
pub(crate) fn prepare(
    catalog: &Catalog,
    dialect: Dialect,
    sql: &str,
    params: &Value,
    bounds: Bounds,
) -> Result<Guarded, StoreError> {
    if sql.len() > SQL_BYTES_MAX {
        return Err(refused(format!("it has more than {SQL_BYTES_MAX} bytes"), None));
    }
    let mut lexed = tokens::tokens(sql).map_err(|what| refused(format!("it has {what}"), None))?;
    while lexed.list.last() == Some(&Token::Symbol(";")) {
        lexed.list.pop();
    }
    let tokens = &lexed.list;
    if tokens.is_empty() {
        return Err(refused("it is empty", None));
    }
    if dialect == Dialect::Sqlite {
        check_names(tokens)?;
    }
    let params = Params::new(params)?;
    let mut writer =
        Writer { dialect, params, before: String::new(), text: String::new(), bound: Vec::new() };
    let tables = named_tables(catalog, dialect, tokens);
    if dialect == Dialect::Sqlite && tables.iter().any(|relation| order_tells(relation)) {
        check_unqualified(tokens)?;
    }
    let rest = writer.tables(&tables, tokens);
    writer.statement(&lexed, rest)?;
    let sql = match dialect {
        Dialect::Sqlite => writer.text,
        Dialect::Postgres => {
            let names = tables.iter().map(|relation| relation.table.name.as_str()).collect();
            judge::judged(&writer.text, &names)?
        }
    };
    let access = Access::Plan(Arc::clone(catalog.plan_access()));
    Ok(Guarded { before: writer.before, sql, params: writer.bound, access, bounds })
}

/// The owner's query, which may name everything. `before`, which takes the params, is put before it.
pub(crate) fn owners((before, params): (String, Vec<Datum>), sql: &str, bounds: Bounds) -> Guarded {
    let sql = sql.trim().trim_end_matches(';').to_owned();
    Guarded { before, sql, params, access: Access::Owner, bounds }
}

fn refused(message: impl Into<String>, hint: Option<&str>) -> StoreError {
    StoreError::Query { message: message.into(), hint: hint.map(str::to_owned) }
}

/// Square brackets quote names on SQLite, which these tokens do not know: the name would come out with spaces.
fn check_names(tokens: &[Token]) -> Result<(), StoreError> {
    if tokens.contains(&Token::Symbol("[")) {
        return Err(refused("it has a `[`", Some("put names in double quotes")));
    }
    Ok(())
}

/// Refuses `main.people`, which would be read by whatever index suits.
fn check_unqualified(tokens: &[Token]) -> Result<(), StoreError> {
    let is_main = |token: &Token| matches!(token, Token::Word(name) | Token::Quoted(name) if name.eq_ignore_ascii_case("main"));
    if tokens.windows(2).any(|pair| is_main(&pair[0]) && pair[1] == Token::Symbol(".")) {
        return Err(refused("it names a table with its database", Some("write the table's name alone")));
    }
    Ok(())
}

/// Whether an index could give rows in the order of a column that plans may not see.
fn order_tells(relation: &Relation) -> bool {
    let is_hidden =
        |name: &String| relation.table.columns.iter().any(|column| column.hidden && column.name == *name);
    relation.indexes.iter().chain([&relation.table.key]).flatten().any(is_hidden)
}

/// Whether one of the tokens can be the name of this table.
fn names(dialect: Dialect, tokens: &[Token], name: &str) -> bool {
    tokens.iter().any(|token| match (token, dialect) {
        (Token::Word(word) | Token::Quoted(word), Dialect::Sqlite) => word.eq_ignore_ascii_case(name),
        (Token::Word(word), Dialect::Postgres) => word.to_lowercase() == name,
        (Token::Quoted(word), Dialect::Postgres) => word == name,
        _ => false,
    })
}

/// The visible tables that the statement names.
fn named_tables<'a>(catalog: &'a Catalog, dialect: Dialect, tokens: &[Token]) -> Vec<&'a Relation> {
    let is_named =
        |relation: &&Relation| !relation.table.hidden && names(dialect, tokens, &relation.table.name);
    catalog.relations().filter(is_named).collect()
}

/// Which columns of a result an owner's query may show, by where they come from. One that the query calculates is shown
/// where the query can read nothing that is hidden.
pub(crate) fn shown_columns(
    catalog: &Catalog,
    dialect: Dialect,
    sql: &str,
    origins: &[Option<(String, String)>],
) -> Vec<bool> {
    let tokens = tokens::tokens(sql).unwrap_or_default().list;
    let is_word = |wanted: &str| names(Dialect::Sqlite, &tokens, wanted);
    // Of statements that are put together the database tells the origin of the first one's columns.
    let is_one = !tokens.is_empty() && !["union", "intersect", "except"].into_iter().any(is_word);
    // Views and functions of PostgreSQL read what they do not name, and brackets quote names that these tokens do not know.
    let is_clear = dialect == Dialect::Sqlite
        && !tokens.is_empty()
        && !tokens.iter().any(|token| matches!(token, Token::Symbol("[")));
    let is_named = |relation: &Relation| {
        let name = &relation.table.name;
        let is_text = |token: &Token| matches!(token, Token::Text(text) if text.eq_ignore_ascii_case(name));
        names(dialect, &tokens, name) || tokens.iter().any(is_text)
    };
    let reads_hidden =
        catalog.relations().any(|relation| relation.hides() && (!is_clear || is_named(relation)));
    let is_shown = |origin: &Option<(String, String)>| match origin {
        Some((_, column)) if column == ABSENT => false,
        Some((table, column)) if is_one && reads_hidden => catalog.shows(table, column),
        _ => !reads_hidden,
    };
    origins.iter().map(is_shown).collect()
}

/// Puts the statement together again.
struct Writer<'a> {
    dialect: Dialect,
    params: Params<'a>,
    /// The tables, as plans see them.
    before: String,
    text: String,
    bound: Vec<Datum>,
}

impl Writer<'_> {
    /// Writes the tables; gives back from which token on the statement itself follows.
    fn tables(&mut self, tables: &[&Relation], tokens: &[Token]) -> usize {
        let parts: Vec<String> = tables.iter().map(|relation| visible_part(relation)).collect();
        if parts.is_empty() {
            return 0;
        }
        let parts = parts.join(", ");
        // PostgreSQL puts the statement in parentheses. SQLite's subqueries may lose their order, so there the
        // tables join the statement's own list.
        let word = |at: usize, word: &str| matches!(tokens.get(at), Some(Token::Word(own)) if own.eq_ignore_ascii_case(word));
        if self.dialect == Dialect::Postgres || !word(0, "with") {
            self.before = format!("WITH {parts} ");
            return 0;
        }
        let recursive = word(1, "recursive");
        self.before = format!("WITH {}{parts}, ", if recursive { "RECURSIVE " } else { "" });
        1 + usize::from(recursive)
    }

    fn statement(&mut self, lexed: &Tokens, from: usize) -> Result<(), StoreError> {
        for (index, token) in lexed.list.iter().enumerate().skip(from) {
            // `<=`, `||` and the like are several symbols here and must stay together.
            let joined = index > from
                && lexed.adjacent[index]
                && matches!((&lexed.list[index - 1], token), (Token::Symbol(left), Token::Symbol(right))
                    if is_operator(left) && is_operator(right));
            if !joined {
                self.text.push(' ');
            }
            match token {
                Token::Word(text) | Token::Number(text) => self.text.push_str(text),
                Token::Quoted(name) => self.text.push_str(&quoted(name)),
                Token::Text(text) => self.text.push_str(&literal(text)),
                Token::Symbol(symbol) => self.text.push_str(symbol),
                Token::Param(param) => {
                    let value = self.params.take(param)?;
                    self.param(&value)?;
                }
            }
        }
        self.params.all_taken()
    }

    /// SQLite binds; on PostgreSQL a literal takes the type that its place asks for, which a parameter would not.
    fn param(&mut self, value: &Value) -> Result<(), StoreError> {
        let datum = match value {
            Value::Null => Datum::Null,
            Value::Bool(value) => Datum::Boolean(*value),
            Value::Number(number) => number
                .as_i64()
                .map(Datum::Integer)
                .or_else(|| number.as_f64().filter(|_| !number.is_u64()).map(Datum::Real))
                .ok_or_else(|| refused("a parameter is a whole number of more than 64 bits", None))?,
            Value::String(text) if text.contains('\0') => {
                return Err(refused("a parameter has a NUL character", None));
            }
            Value::String(text) => Datum::Text(text.clone()),
            Value::Array(_) | Value::Object(_) => Datum::Text(value.to_string()),
        };
        match self.dialect {
            Dialect::Sqlite => {
                self.bound.push(datum);
                let _ = write!(self.text, "?{}", self.bound.len());
            }
            Dialect::Postgres => match datum {
                Datum::Null => self.text.push_str("NULL"),
                Datum::Integer(value) => drop(write!(self.text, "({value})")),
                Datum::Real(value) => drop(write!(self.text, "('{value:?}'::double precision)")),
                Datum::Boolean(value) => drop(write!(self.text, "{value}")),
                Datum::Text(text) => self.text.push_str(&literal(&text)),
            },
        }
        Ok(())
    }
}

fn is_operator(symbol: &str) -> bool {
    "+-*/<>=!~|&^#@%".contains(symbol)
}

/// `"inventory" AS NOT MATERIALIZED (SELECT …)`: the table as plans see it.
fn visible_part(relation: &Relation) -> String {
    let mut columns: Vec<String> =
        relation.visible_columns().map(|(_, column)| quoted(&column.name)).collect();
    if relation.is_kept() {
        columns.insert(0, quoted(DOC_ID));
    }
    let from = match relation.namespace {
        Some(_) => relation.sql_rows(),
        None if order_tells(relation) => format!("main.{} NOT INDEXED", relation.sql_name()),
        None => format!("main.{}", relation.sql_name()),
    };
    let name = quoted(&relation.table.name);
    format!("{name} AS NOT MATERIALIZED (SELECT {} FROM {from})", columns.join(", "))
}

/// The parameters that came with a query.
struct Params<'a> {
    given: ParamValues<'a>,
    next: usize,
}

enum ParamValues<'a> {
    List(&'a [Value]),
    Named(&'a serde_json::Map<String, Value>),
}

impl<'a> Params<'a> {
    fn new(params: &'a Value) -> Result<Self, StoreError> {
        let given = match params {
            Value::Null => ParamValues::List(&[]),
            Value::Array(list) => ParamValues::List(list),
            Value::Object(named) => ParamValues::Named(named),
            _ => return Err(refused("its parameters are neither a list nor a dict", None)),
        };
        Ok(Self { given, next: 0 })
    }

    fn take(&mut self, param: &Param) -> Result<Value, StoreError> {
        let missing = || refused("it has more parameters than were given", None);
        match (&self.given, param) {
            (ParamValues::List(list), Param::Next) => {
                self.next += 1;
                list.get(self.next - 1).cloned().ok_or_else(missing)
            }
            (ParamValues::List(list), Param::Numbered(number)) => {
                self.next = self.next.max(*number);
                number.checked_sub(1).and_then(|at| list.get(at)).cloned().ok_or_else(missing)
            }
            (ParamValues::Named(named), Param::Named(name)) => named
                .get(name)
                .cloned()
                .ok_or_else(|| refused(format!("no parameter `{name}` was given"), None)),
            (ParamValues::List(_), Param::Named(_)) => {
                Err(refused("its parameters have names, a list was given", None))
            }
            (ParamValues::Named(_), _) => {
                Err(refused("its parameters have no names, a dict was given", None))
            }
        }
    }

    fn all_taken(&self) -> Result<(), StoreError> {
        match &self.given {
            ParamValues::List(list) if self.next < list.len() => {
                Err(refused(format!("{} parameters were given, it has {}", list.len(), self.next), None))
            }
            _ => Ok(()),
        }
    }
}
