//! Writes forms as SQL, with the request's values as params.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::form::{Cond, Hop, Link, Lit, Measure, Operand, Path};
use super::index::{Index, Period};

/// A value that code takes from `params`, and where the request says it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bound {
    /// Its name in `params`.
    pub(crate) name: String,
    /// The value.
    pub(crate) value: Value,
    /// Where it was said, in bytes of the request.
    pub(crate) at: (usize, usize),
}

/// All values of a plan.
#[derive(Debug, Clone, Default)]
pub(crate) struct Params {
    /// In the order in which they are used.
    pub(crate) list: Vec<Bound>,
}

impl Params {
    /// Binds a value under a name of its own.
    pub(crate) fn bind(&mut self, name: &str, lit: &Lit) -> String {
        self.bind_value(name, lit.value.clone(), lit.at)
    }

    fn bind_value(&mut self, name: &str, value: Value, at: (usize, usize)) -> String {
        let known =
            self.list.iter().find(|bound| bound.value == value && bound.at == at && bound.at != (0, 0));
        if let Some(bound) = known {
            return bound.name.clone();
        }
        let plain = |character: char| if character.is_alphanumeric() { character } else { '_' };
        let name: String = name.chars().map(plain).collect();
        let mut own = name.clone();
        let mut number = 2;
        while self.list.iter().any(|bound| bound.name == own) {
            own = format!("{name}_{number}");
            number += 1;
        }
        self.list.push(Bound { name: own.clone(), value, at });
        own
    }

    /// The values by name.
    pub(crate) fn values(&self) -> Map<String, Value> {
        self.list.iter().map(|bound| (bound.name.clone(), bound.value.clone())).collect()
    }
}

/// One SELECT in the making.
pub(crate) struct Query<'a> {
    index: &'a Index,
    params: &'a mut Params,
    /// Names of the values, in the order of their marks.
    pub(crate) used: Vec<String>,
    base: String,
    table: usize,
    joins: Vec<(Vec<Hop>, String)>,
    inner: usize,
}

impl<'a> Query<'a> {
    pub(crate) fn new(index: &'a Index, params: &'a mut Params, table: usize) -> Self {
        Self { index, params, used: Vec::new(), base: "t".to_owned(), table, joins: Vec::new(), inner: 0 }
    }

    /// A column, joined by references where it is not the table's own.
    pub(crate) fn column(&mut self, path: &Path) -> String {
        let columns = &self.index.tables[path.table].columns;
        let column = &columns[path.column];
        let alias = self.alias(&path.hops);
        let text = column.within.and_then(|text| Some((text, columns[text].refers?)));
        if let Some((day, period)) = column.cut {
            // A day begins with its year and month, as a text and as a point in time.
            let length = if period == Period::Year { 4 } else { 7 };
            return format!("substr(CAST({alias}.{} AS TEXT), 1, {length})", ident(&columns[day].name));
        }
        let Some((text, (table, to))) = text else { return format!("{alias}.{}", ident(&column.name)) };
        // The number that stands before the name in a text: its last digits, once the name is taken off.
        let hop = Hop { column: text, table, to };
        let named = self.alias(&[path.hops.clone(), vec![hop]].concat());
        let (own, end) = self.ending(path.table, hop, &alias, &named);
        let rest = format!("replace({own}, {end}, '')");
        format!("CAST(nullif(replace({rest}, rtrim({rest}, '0123456789'), ''), '') AS INTEGER)")
    }

    /// A text, and the end of it that names a row.
    fn ending(&self, owner: usize, hop: Hop, left: &str, right: &str) -> (String, String) {
        let (column, other) = (&self.index.tables[owner].columns[hop.column], &self.index.tables[hop.table]);
        let before = column.before.as_deref().unwrap_or_default().replace('\'', "''");
        let name = ident(&other.columns[hop.to].name);
        (format!("{left}.{}", ident(&column.name)), format!("'{before}' || {right}.{name}"))
    }

    /// How a row and the one that it refers to belong together.
    fn on(&self, owner: usize, hop: Hop, left: &str, right: &str) -> String {
        let (own, other) = (&self.index.tables[owner].columns[hop.column], &self.index.tables[hop.table]);
        if own.before.is_some() {
            let (text, end) = self.ending(owner, hop, left, right);
            return format!("replace({text}, {end}, '') || {end} = {text}");
        }
        format!("{right}.{} = {left}.{}", ident(&other.columns[hop.to].name), ident(&own.name))
    }

    fn alias(&mut self, hops: &[Hop]) -> String {
        if hops.is_empty() {
            return self.base.clone();
        }
        let known = self.joins.iter().find(|(path, _)| path == hops);
        if let Some((_, alias)) = known {
            return alias.clone();
        }
        self.alias(&hops[..hops.len() - 1]);
        let alias = format!("{}{}", self.base, self.joins.len() + 1);
        self.joins.push((hops.to_vec(), alias.clone()));
        alias
    }

    /// The tables with their joins, once every column was asked for.
    pub(crate) fn from(&self) -> String {
        let mut text = format!("FROM {} {}", ident(&self.index.tables[self.table].name), self.base);
        for (hops, alias) in &self.joins {
            let Some((last, before)) = hops.split_last() else { continue };
            let owner = before.last().map_or(self.table, |hop| hop.table);
            let left =
                self.joins.iter().find(|(path, _)| path == before).map_or(&self.base, |(_, alias)| alias);
            let on = self.on(owner, *last, left, alias);
            let other = ident(&self.index.tables[last.table].name);
            let _ = write!(text, " LEFT JOIN {other} {alias} ON {on}");
        }
        text
    }

    fn mark(&mut self, name: &str, lit: &Lit) -> String {
        let bound = self.params.bind(name, lit);
        self.used.push(bound);
        "?".to_owned()
    }

    /// A condition as SQL.
    pub(crate) fn condition(&mut self, cond: &Cond) -> String {
        match cond {
            Cond::And(all) => self.joined(all, " AND "),
            Cond::Or(all) => self.joined(all, " OR "),
            Cond::Not(inner) => self.negated(inner),
            Cond::Null(path) => format!("{} IS NULL", self.column(path)),
            Cond::Cmp(path, op, operand) => {
                let name = self.index.tables[path.table].columns[path.column].name.clone();
                let left = self.column(path);
                let right = self.operand(&name, operand);
                format!("{left} {} {right}", op.sign())
            }
            Cond::Days(path, from, until) => {
                let left = self.column(path);
                let (from, until) = (self.mark("from", from), self.mark("until", until));
                format!("({left} >= {from} AND {left} < {until})")
            }
            Cond::Word(path, lit) => self.word(path, lit),
            Cond::Some(link, inner) => self.exists(*link, inner),
        }
    }

    fn joined(&mut self, all: &[Cond], by: &str) -> String {
        match all {
            [] => "1 = 1".to_owned(),
            [one] => self.condition(one),
            all => {
                let parts: Vec<String> = all.iter().map(|cond| self.condition(cond)).collect();
                format!("({})", parts.join(by))
            }
        }
    }

    /// A row without a value is not among those that have the value, so it belongs to the others.
    fn negated(&mut self, inner: &Cond) -> String {
        match inner {
            Cond::Null(path) => format!("{} IS NOT NULL", self.column(path)),
            Cond::Some(..) => format!("NOT {}", self.condition(inner)),
            other => format!("NOT coalesce({}, false)", self.condition(other)),
        }
    }

    fn operand(&mut self, name: &str, operand: &Operand) -> String {
        match operand {
            Operand::Column(path) => self.column(path),
            // A number that the owner declared is a param, as those of the request are; that there is some in stock is not.
            Operand::Lit(lit) if lit.at == (0, 0) && (lit.value == 0 || lit.value.is_boolean()) => {
                lit.value.to_string()
            }
            Operand::Lit(lit) => self.mark(name, lit),
            Operand::Of(path, cond) => {
                let (text, used) = self.below(path.table, |query| {
                    let column = query.column(path);
                    let filter = query.condition(cond);
                    format!("(SELECT {column} {} WHERE {filter})", query.from())
                });
                self.used.extend(used);
                text
            }
        }
    }

    fn word(&mut self, path: &Path, lit: &Lit) -> String {
        let column = self.column(path);
        let plain = ['.', ',', ';', '-', ':']
            .iter()
            .fold(column, |text, sign| format!("replace({text}, '{sign}', ' ')"));
        let stem = lit.value.as_str().unwrap_or_default();
        let forms = self.index.forms(path.table, path.column, stem);
        let parts: Vec<String> = forms
            .iter()
            .map(|form| {
                // The signs within a word became blanks in the text, so they do here.
                let form = form.replace(['.', ',', ';', '-', ':'], " ");
                let lit = Lit { value: Value::from(form), at: lit.at };
                format!("' ' || lower({plain}) || ' ' LIKE '% ' || {} || ' %'", self.mark("word", &lit))
            })
            .collect();
        if parts.len() == 1 { parts[0].clone() } else { format!("({})", parts.join(" OR ")) }
    }

    fn exists(&mut self, link: Link, inner: &Cond) -> String {
        let base = self.base.clone();
        let hop = Hop { column: link.column, table: self.table, to: link.to };
        let (text, used) = self.below(link.table, |query| {
            let filter = query.condition(inner);
            let alias = query.base.clone();
            let more = if inner.is_always() { String::new() } else { format!(" AND {filter}") };
            let on = query.on(link.table, hop, &alias, &base);
            format!("EXISTS (SELECT 1 {} WHERE {on}{more})", query.from())
        });
        self.used.extend(used);
        text
    }

    /// A SELECT within this one.
    fn below(&mut self, table: usize, write: impl FnOnce(&mut Query<'_>) -> String) -> (String, Vec<String>) {
        self.inner += 1;
        let base = format!("{}{}", if self.base == "t" { "x" } else { "y" }, self.inner);
        let mut query = Query {
            index: self.index,
            params: self.params,
            used: Vec::new(),
            base,
            table,
            joins: Vec::new(),
            inner: 0,
        };
        let text = write(&mut query);
        (text, query.used)
    }

    /// A figure as SQL.
    pub(crate) fn measure(&mut self, measure: &Measure) -> String {
        match measure {
            Measure::Count => "count(*)".to_owned(),
            Measure::Distinct(path) => format!("count(DISTINCT {})", self.column(path)),
            Measure::Of("size", path) => format!("coalesce(abs(sum({})), 0)", self.column(path)),
            Measure::Of(function, path) => format!("{function}({})", self.column(path)),
            Measure::Product(function, left, right) => {
                format!("{function}({} * {})", self.column(left), self.column(right))
            }
            Measure::Pair(pair, sign) => {
                let (left, right) = (self.measure(&pair.0), self.measure(&pair.1));
                if *sign == '/' {
                    format!("{left} * 1.0 / nullif({right}, 0)")
                } else {
                    format!("{left} - {right}")
                }
            }
        }
    }
}

/// A name as SQL writes it.
pub(crate) fn ident(name: &str) -> String {
    const KEYWORDS: &[&str] = &[
        "order",
        "group",
        "select",
        "from",
        "where",
        "table",
        "index",
        "to",
        "in",
        "on",
        "by",
        "check",
        "default",
        "user",
        "values",
        "key",
        "when",
        "end",
        "case",
        "limit",
        "desc",
        "as",
        "is",
        "not",
        "and",
        "or",
        "all",
        "any",
        "references",
        "transaction",
        "column",
        "primary",
        "unique",
        "set",
        "left",
        "right",
        "join",
        "union",
        "having",
        "distinct",
    ];
    let is_plain =
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
            && name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
            && !KEYWORDS.contains(&name);
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
