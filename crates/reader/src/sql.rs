//! Writes questions as SQL: one SELECT for SQLite, PostgreSQL or DuckDB, with the values of the sentence as params.

mod conditions;

use std::fmt::Write as _;

use crate::algebra::{Expr, Function, Hop, Name, Path, Scalar, Unit};
use crate::catalog::{Catalog, Holds};
use crate::query::{Ask, Group, Measure, Part, Query, Top};

/// Whose SQL it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// DuckDB.
    DuckDb,
}

/// A SELECT with its values.
#[derive(Debug, Clone)]
pub struct Select {
    /// The text. Values stand as `?` in the order of `used`, or as `$name` for DuckDB.
    pub text: String,
    /// The values by name, each once.
    pub params: Vec<Param>,
    /// Their names, in the order of the marks.
    pub used: Vec<String>,
    /// The columns that tell which row or group it is, in order; a figure is called `value`, what holds `holds`.
    pub columns: Vec<Shown>,
}

/// A value that a SELECT takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// The value.
    pub value: Scalar,
    /// Whether it is the day after that day.
    pub is_next: bool,
}

/// A column of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// What it is called in the answer.
    pub name: String,
    /// Where it comes from.
    pub path: Path,
    /// Whether it is only there to tell groups apart that are called alike.
    pub is_key: bool,
    /// The stretch of the calendar that it is cut to.
    pub per: Option<Unit>,
}

/// Writes a question; nothing where the dialect has no words for it. `shown` are the columns of rows that the question names
/// none of.
pub(crate) fn select(query: &Query, shown: &[Path], catalog: &Catalog, dialect: Dialect) -> Option<Select> {
    let mut params = Params { list: Vec::new(), used: Vec::new(), dialect };
    let mut from = From::new(catalog, &mut params, &query.table, "t");
    let (text, columns) = from.query(query, shown)?;
    Some(Select { text, columns, params: params.list, used: params.used })
}

#[derive(Debug)]
struct Params {
    list: Vec<Param>,
    used: Vec<String>,
    dialect: Dialect,
}

impl Params {
    /// The mark of a value.
    fn mark(&mut self, name: &str, value: &Scalar, is_next: bool) -> String {
        let known = self.list.iter().find(|param| param.value == *value && param.is_next == is_next);
        let name = if let Some(param) = known {
            param.name.clone()
        } else {
            let plain: String = name
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
                .collect();
            let is_name = plain.starts_with(|c: char| c.is_ascii_alphabetic());
            let plain = if is_name { plain } else { format!("value_{plain}") };
            let is_free = |name: &String| self.list.iter().all(|param| param.name != *name);
            let names = std::iter::once(plain.clone()).chain((2..).map(|n| format!("{plain}_{n}")));
            let own = names.into_iter().find(is_free).unwrap_or(plain);
            self.list.push(Param { name: own.clone(), value: value.clone(), is_next });
            own
        };
        self.used.push(name.clone());
        match self.dialect {
            Dialect::DuckDb => format!("${name}"),
            _ => "?".to_owned(),
        }
    }
}

/// A table in the making of a SELECT, with the tables that its rows refer to.
#[derive(Debug)]
struct From<'a> {
    catalog: &'a Catalog,
    params: &'a mut Params,
    table: Name,
    alias: String,
    joins: Vec<(Vec<Hop>, String)>,
}

impl<'a> From<'a> {
    fn new(catalog: &'a Catalog, params: &'a mut Params, table: &Name, alias: &str) -> Self {
        Self { catalog, params, table: table.clone(), alias: alias.to_owned(), joins: Vec::new() }
    }

    const fn dialect(&self) -> Dialect {
        self.params.dialect
    }

    fn holds(&self, path: &Path) -> Holds {
        let column = self.catalog.column(path.owner(&self.table), &path.column);
        column.map_or(Holds::Text, |column| column.holds)
    }

    fn joined(&mut self, hops: &[Hop]) -> String {
        let Some((_, before)) = hops.split_last() else { return self.alias.clone() };
        if let Some((_, alias)) = self.joins.iter().find(|(known, _)| known == hops) {
            return alias.clone();
        }
        self.joined(before);
        let alias = format!("{}{}", self.alias, self.joins.len() + 1);
        self.joins.push((hops.to_vec(), alias.clone()));
        alias
    }

    /// A column of the rows, or of those that they refer to.
    fn column(&mut self, path: &Path) -> String {
        format!("{}.{}", self.joined(&path.hops), ident(&path.column))
    }

    /// The tables, once every column was asked for.
    fn tables(&self) -> String {
        let mut text = format!("{} {}", source(self.catalog, &self.table), self.alias);
        for (hops, alias) in &self.joins {
            let Some((last, before)) = hops.split_last() else { continue };
            let left =
                self.joins.iter().find(|(known, _)| known == before).map_or(&self.alias, |(_, alias)| alias);
            let _ = write!(
                text,
                " LEFT JOIN {} {alias} ON {alias}.{} = {left}.{}",
                source(self.catalog, &last.table),
                ident(&last.key),
                ident(&last.column)
            );
        }
        text
    }

    fn query(&mut self, query: &Query, shown: &[Path]) -> Option<(String, Vec<Shown>)> {
        match &query.ask {
            Ask::Rows(columns, order) => {
                let columns = Self::named(if columns.is_empty() { shown } else { columns });
                let mut list = self.list(&columns);
                let by = order.as_ref().map(|order| self.column(&order.by));
                let Some((order, by)) = order.as_ref().zip(by) else {
                    return Some((self.whole(&list, &query.filter, None, "")?, columns));
                };
                let down = if order.top.is_down { " DESC" } else { "" };
                let place = match order.top.part {
                    Part::All => {
                        let ending = format!(" ORDER BY {by} IS NULL, {by}{down}");
                        return Some((self.whole(&list, &query.filter, None, &ending)?, columns));
                    }
                    Part::First(_) => "rank()",
                    Part::Place(_) => "dense_rank()",
                };
                list.push(format!("{place} OVER (ORDER BY {by}{down}) AS place"));
                let inner = self.whole(&list, &query.filter, Some(format!("{by} IS NOT NULL")), "")?;
                Some((ranked(&inner, &columns, order.top, false), columns))
            }
            Ask::Figure(measure, by, top) => {
                let groups = self.groups(by);
                if let (Measure::One(Function::Median, Some(of)), Dialect::Sqlite) = (measure, self.dialect())
                {
                    return Some((self.median(query, of, &groups, *top)?, groups));
                }
                let value = self.measure(measure)?;
                self.grouped(query, &value, groups, *top)
            }
            Ask::Share(part, by) => {
                let groups = self.groups(by);
                let cond = self.condition(part)?;
                let value = format!("100.0 * sum(CASE WHEN {cond} THEN 1 ELSE 0 END) / nullif(count(*), 0)");
                self.grouped(query, &value, groups, None)
            }
            Ask::Holds(cond) => {
                let columns = Self::named(shown);
                let mut list = self.list(&columns);
                list.push(format!("CASE WHEN {} THEN 1 ELSE 0 END AS holds", self.condition(cond)?));
                Some((self.whole(&list, &query.filter, None, "")?, columns))
            }
        }
    }

    /// Columns with a name each that no other has.
    fn named(paths: &[Path]) -> Vec<Shown> {
        let mut found: Vec<Shown> = Vec::new();
        for path in paths {
            let own = path.column.to_string();
            let is_free = |name: &str| {
                !["place", "holds", "value"].contains(&name) && found.iter().all(|one| one.name != name)
            };
            let long = path.hops.last().map(|hop| format!("{}_{own}", hop.table));
            let names = std::iter::once(own.clone()).chain(long).chain((2..).map(|n| format!("{own}_{n}")));
            let name = names.into_iter().find(|name| is_free(name)).unwrap_or(own);
            found.push(Shown { name, path: path.clone(), is_key: false, per: None });
        }
        found
    }

    fn list(&mut self, columns: &[Shown]) -> Vec<String> {
        columns.iter().map(|shown| format!("{} AS {}", self.cut(shown), ident(&shown.name))).collect()
    }

    /// The columns that make groups. Rows that are referred to are called by their names, and told apart by their keys.
    fn groups(&self, by: &[Group]) -> Vec<Shown> {
        let mut paths: Vec<(Path, Option<Unit>, bool)> = Vec::new();
        for group in by {
            let label = self.label(&group.of).filter(|_| group.per.is_none());
            if let Some(label) = &label {
                paths.push((label.clone(), None, false));
            }
            paths.push((group.of.clone(), group.per, label.is_some()));
        }
        let named = Self::named(&paths.iter().map(|(path, ..)| path.clone()).collect::<Vec<_>>());
        named.into_iter().zip(paths).map(|(shown, (_, per, is_key))| Shown { is_key, per, ..shown }).collect()
    }

    /// The column by which people call the row that a column refers to.
    fn label(&self, path: &Path) -> Option<Path> {
        let column = self.catalog.column(path.owner(&self.table), &path.column)?;
        let (table, key) = column.refers.clone()?;
        let label = self.catalog.table(&table)?.label.clone().filter(|label| *label != key)?;
        let hop = Hop { column: path.column.clone(), table, key };
        Some(Path { hops: [path.hops.as_slice(), &[hop]].concat(), column: label })
    }

    fn cut(&mut self, shown: &Shown) -> String {
        let column = self.column(&shown.path);
        let text = |length: u32| format!("substr(CAST({column} AS TEXT), 1, {length})");
        match (shown.per, self.dialect()) {
            (None, _) => column,
            (Some(Unit::Year), _) => text(4),
            (Some(Unit::Month), _) => text(7),
            (Some(Unit::Week), Dialect::Sqlite) => format!("date({column}, 'weekday 0', '-6 days')"),
            (Some(Unit::Week), _) => {
                format!("substr(CAST(date_trunc('week', CAST({column} AS TIMESTAMP)) AS TEXT), 1, 10)")
            }
            (Some(_), _) => text(10),
        }
    }

    fn whole(
        &mut self,
        list: &[String],
        filter: &crate::algebra::Cond,
        more: Option<String>,
        ending: &str,
    ) -> Option<String> {
        let mut conds: Vec<String> = more.into_iter().collect();
        if !filter.is_always() {
            conds.push(self.condition(filter)?);
        }
        let conds = if conds.is_empty() { String::new() } else { format!(" WHERE {}", conds.join(" AND ")) };
        Some(format!("SELECT {} FROM {}{conds}{ending}", list.join(", "), self.tables()))
    }

    fn grouped(
        &mut self,
        query: &Query,
        value: &str,
        groups: Vec<Shown>,
        top: Option<Top>,
    ) -> Option<(String, Vec<Shown>)> {
        let mut list = self.list(&groups);
        list.push(format!("{value} AS value"));
        if groups.is_empty() {
            return Some((self.whole(&list, &query.filter, None, "")?, groups));
        }
        let keys: Vec<String> = groups.iter().map(|shown| self.cut(shown)).collect();
        let keys = keys.join(", ");
        let is_calendar = groups.iter().any(|group| group.per.is_some());
        let ending = match top {
            None if is_calendar => format!(" GROUP BY {keys} ORDER BY {keys}"),
            None => format!(" GROUP BY {keys} ORDER BY value DESC"),
            Some(Top { part: Part::All, is_down }) => {
                format!(" GROUP BY {keys} ORDER BY value{}", if is_down { " DESC" } else { "" })
            }
            Some(_) => format!(" GROUP BY {keys}"),
        };
        let text = self.whole(&list, &query.filter, None, &ending)?;
        match top {
            Some(top) if top.part != Part::All => Some((first_groups(&text, &groups, top), groups)),
            _ => Some((text, groups)),
        }
    }

    /// The middle of values that SQLite has no function for.
    fn median(&mut self, query: &Query, of: &Expr, groups: &[Shown], top: Option<Top>) -> Option<String> {
        let value = self.expr(of)?;
        let mut list = self.list(groups);
        let keys: Vec<String> = groups.iter().map(|shown| self.cut(shown)).collect();
        let part = if keys.is_empty() { String::new() } else { format!("PARTITION BY {} ", keys.join(", ")) };
        list.push(format!("{value} AS value"));
        list.push(format!("row_number() OVER ({part}ORDER BY {value}) AS place"));
        list.push(format!("count(*) OVER ({}) AS total", part.trim_end()));
        let inner = self.whole(&list, &query.filter, Some(format!("{value} IS NOT NULL")), "")?;
        let names: Vec<String> = groups.iter().map(|shown| ident(&shown.name)).collect();
        let middle = "WHERE place IN ((total + 1) / 2, (total + 2) / 2)";
        if names.is_empty() {
            return Some(format!("SELECT avg(value) AS value FROM ({inner}) AS middle {middle}"));
        }
        let names = names.join(", ");
        let text =
            format!("SELECT {names}, avg(value) AS value FROM ({inner}) AS middle {middle} GROUP BY {names}");
        match top {
            Some(top) if top.part != Part::All => Some(first_groups(&text, groups, top)),
            _ => Some(format!("{text} ORDER BY value DESC")),
        }
    }

    fn measure(&mut self, measure: &Measure) -> Option<String> {
        Some(match measure {
            Measure::One(Function::Count, _) | Measure::One(_, None) => "count(*)".to_owned(),
            Measure::One(function, Some(of)) => {
                let of = self.expr(of)?;
                match (function, self.dialect()) {
                    (Function::Distinct, _) => format!("count(DISTINCT {of})"),
                    (Function::Average, _) => format!("avg({of})"),
                    (Function::Median, Dialect::Postgres) => {
                        format!("percentile_cont(0.5) WITHIN GROUP (ORDER BY {of})")
                    }
                    (Function::Median, _) => format!("median({of})"),
                    (Function::Maximum, _) => format!("max({of})"),
                    (Function::Minimum, _) => format!("min({of})"),
                    (Function::Sum | Function::Count, _) => format!("sum({of})"),
                }
            }
            Measure::Quotient(one, other) => {
                format!("{} * 1.0 / nullif({}, 0)", self.measure(one)?, self.measure(other)?)
            }
            Measure::Difference(one, other) => format!("{} - {}", self.measure(one)?, self.measure(other)?),
        })
    }
}

/// The first of what a statement gives, with those that are equal to the last of them.
fn ranked(inner: &str, columns: &[Shown], top: Top, has_value: bool) -> String {
    let mut names: Vec<String> = columns.iter().map(|shown| ident(&shown.name)).collect();
    names.extend(has_value.then(|| "value".to_owned()));
    let wanted = match top.part {
        Part::All => String::new(),
        Part::First(count) => format!(" WHERE place <= {count}"),
        Part::Place(place) => format!(" WHERE place = {place}"),
    };
    format!("SELECT {} FROM ({inner}) AS ranked{wanted} ORDER BY place", names.join(", "))
}

fn first_groups(inner: &str, groups: &[Shown], top: Top) -> String {
    let names: Vec<String> = groups.iter().map(|shown| ident(&shown.name)).collect();
    let down = if top.is_down { " DESC" } else { "" };
    let there: Vec<String> = names.iter().map(|name| format!("{name} IS NOT NULL")).collect();
    let places = format!(
        "SELECT {}, value, rank() OVER (ORDER BY value{down}) AS place FROM ({inner}) AS figures WHERE value IS NOT NULL AND {}",
        names.join(", "),
        there.join(" AND ")
    );
    ranked(&places, groups, top, true)
}

/// A table as a statement names it: of files, one or several that hold the same.
fn source(catalog: &Catalog, table: &str) -> String {
    let parts = catalog.table(table).map(|table| table.parts.as_slice()).unwrap_or_default();
    let named = |part: &Vec<String>| part.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(".");
    match parts {
        [] => ident(table),
        [one] => named(one),
        several => {
            let all: Vec<String> =
                several.iter().map(|part| format!("SELECT * FROM {}", named(part))).collect();
            format!("({})", all.join(" UNION ALL BY NAME "))
        }
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A name as SQL writes it: plain where it is a plain word that no dialect reserves.
fn ident(name: &str) -> String {
    let is_plain =
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
            && name.contains('_')
            && name.starts_with(|first: char| first.is_ascii_lowercase());
    if is_plain { name.to_owned() } else { quoted(name) }
}
