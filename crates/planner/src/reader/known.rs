//! What a brief tells of the workspace, as the catalog that sentences are read against.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use ordain_reader::{
    Ask, Calc, Catalog, Column, Cond, Day, Dialect, Expr, Function, Holds, Measure, Metric, Number, Op, Path,
    Phrase, Query, Reader, Scalar, Source, Table,
};
use ordain_types::{Catalog as Notes, ColumnNotes, ColumnType, Schema};
use serde_json::Value;

use crate::brief::{Brief, ColumnBrief, TableBrief, Task};

/// Workspaces whose readers are kept: making one takes longer than reading.
const KEPT_MAX: usize = 4;

/// A reader, and what it was made of.
struct Kept {
    tables: Arc<Vec<TableBrief>>,
    notes: Arc<Notes>,
    readers: Rc<Readers>,
}

/// The readers of one workspace.
pub(crate) struct Readers {
    /// Reads questions, in which parts of columns' names may stand for them.
    pub(crate) questions: Reader,
    /// Reads changes, in whole names.
    pub(crate) changes: Reader,
}

thread_local! {
    static LAST: RefCell<VecDeque<Kept>> = const { RefCell::new(VecDeque::new()) };
}

/// The readers of requests to the store of a brief.
pub(crate) fn readers(brief: &Brief) -> Rc<Readers> {
    LAST.with_borrow_mut(|last| {
        let is_same = |kept: &&Kept| {
            Arc::ptr_eq(&kept.tables, &brief.tables) && Arc::ptr_eq(&kept.notes, &brief.catalog)
        };
        if let Some(kept) = last.iter().find(is_same) {
            return Rc::clone(&kept.readers);
        }
        let catalog = requested(brief);
        let (questions, changes) = (Reader::of_requests(catalog.clone()), Reader::of_changes(catalog));
        let readers = Rc::new(Readers { questions, changes });
        let (tables, notes) = (Arc::clone(&brief.tables), Arc::clone(&brief.catalog));
        last.push_front(Kept { tables, notes, readers: Rc::clone(&readers) });
        last.truncate(KEPT_MAX);
        readers
    })
}

/// What may be asked about: the tables, with the names of rows, days that are written as texts, and the owner's terms.
pub(crate) fn requested(brief: &Brief) -> Catalog {
    let mut catalog = catalog(brief);
    for (table, facts) in catalog.tables.iter_mut().zip(brief.tables.iter()) {
        for (column, facts) in table.columns.iter_mut().filter_map(|column| {
            let facts = facts.columns.iter().find(|facts| *facts.name == *column.name)?;
            Some((column, facts))
        }) {
            as_seen(column, facts);
        }
        table.label = label(table, facts);
    }
    catalog.verbs = brief.catalog.actions.iter().map(super::orders::verb).collect();
    with_terms(catalog, &brief.catalog)
}

/// The same with the owner's phrases and metrics, those that are understood.
pub(super) fn with_terms(mut catalog: Catalog, notes: &Notes) -> Catalog {
    if notes.phrasings.is_empty() && notes.metrics.is_empty() {
        return catalog;
    }
    let reader = Reader::of_requests(catalog.clone());
    let phrases = notes.phrasings.iter().filter_map(|phrasing| {
        let means = condition(reader.catalog().table(&phrasing.table)?, phrasing.means.as_deref()?)?;
        Some(Phrase { words: phrasing.words.clone(), table: phrasing.table.as_str().into(), means })
    });
    catalog.phrases = phrases.collect();
    catalog.metrics = (0..notes.metrics.len()).filter_map(|place| metric(&reader, notes, place)).collect();
    catalog
}

fn metric(reader: &Reader, notes: &Notes, place: usize) -> Option<Metric> {
    let metric = notes.metrics.get(place)?;
    let table = reader.catalog().table(&metric.table)?;
    let filter = match &metric.filter {
        Some(filter) => condition(table, filter)?,
        None => Cond::always(),
    };
    Some(Metric {
        words: std::iter::once(&metric.name).chain(&metric.synonyms).cloned().collect(),
        table: table.name.clone(),
        measure: measure(table, &metric.formula)?,
        filter,
        by: metric.by.iter().map(|column| column.as_str().into()).collect(),
    })
}

/// `sum(units * unit_price)`, or two such figures with `/` or `-` between them.
fn measure(table: &Table, formula: &str) -> Option<Measure> {
    let is_between = |at: &usize| formula[..*at].trim_end().ends_with(')');
    let Some((at, sign)) = formula.match_indices(['/', '-']).find(|(at, _)| is_between(at)) else {
        return figure(table, formula);
    };
    let both = (Box::new(figure(table, &formula[..at])?), Box::new(figure(table, &formula[at + 1..])?));
    Some(if sign == "/" { Measure::Quotient(both.0, both.1) } else { Measure::Difference(both.0, both.1) })
}

fn figure(table: &Table, formula: &str) -> Option<Measure> {
    let (function, inner) = formula.trim().strip_suffix(')')?.split_once('(')?;
    let column = |name: &str| table.column(name.trim()).map(|column| Expr::Column(Path::own(&column.name)));
    let of = match inner.split_once('*') {
        Some((left, right)) => Some(Expr::Calc(Calc::Product, vec![column(left)?, column(right)?])),
        None if inner.trim().is_empty() => None,
        None => Some(column(inner)?),
    };
    let function = match (function.trim(), &of) {
        ("count", _) => return Some(Measure::One(Function::Count, None)),
        ("sum", Some(_)) => Function::Sum,
        ("avg", Some(_)) => Function::Average,
        ("min", Some(_)) => Function::Minimum,
        ("max", Some(_)) => Function::Maximum,
        _ => return None,
    };
    Some(Measure::One(function, of))
}

/// A brief of tables whose rows were not looked at.
fn unseen(schema: &Schema) -> Brief {
    let known = |table: &ordain_types::Table| TableBrief {
        table: table.clone(),
        columns: Vec::new(),
        rows: 0,
        roles: std::collections::BTreeMap::new(),
        references: Vec::new(),
        indexes: Vec::new(),
    };
    let tables = Arc::new(schema.tables.iter().map(known).collect());
    Brief { tables, ..Brief::new(Task::Ask, "") }
}

/// Whether a condition on the columns of a table is understood; the numbers that texts end with are columns, too.
pub fn is_condition(schema: &Schema, notes: &Notes, table: &str, text: &str) -> bool {
    let mut catalog = requested(&unseen(schema));
    for table in &mut catalog.tables {
        let columns = notes.tables.get(&*table.name).into_iter().flat_map(|notes| notes.columns.values());
        let numbers = columns.filter_map(|notes| notes.ends.as_ref()?.number.as_deref());
        table.columns.extend(numbers.map(|name| Column::new(name, Holds::Whole)));
    }
    catalog.table(table).is_some_and(|table| condition(table, text).is_some())
}

/// The SQL that computes a declared metric, and its values; `None` if formula or filter are not understood.
pub fn metric_query(schema: &Schema, notes: &Notes, which: usize) -> Option<(String, Vec<Value>)> {
    let reader = Reader::of_requests(requested(&unseen(schema)));
    let Metric { table, measure, filter, .. } = metric(&reader, notes, which)?;
    let query = Query { table, filter, ask: Ask::Figure(measure, Vec::new(), None) };
    let select = reader.select(&query, &[], Dialect::Sqlite)?;
    let value = |name: &String| {
        let param = select.params.iter().find(|param| param.name == *name)?;
        Some(match &param.value {
            Scalar::Day(Day::On(day)) => Value::from(day.as_str()),
            Scalar::Day(_) => return None,
            other => serde_json::json!(other),
        })
    };
    let values = select.used.iter().map(value).collect::<Option<_>>()?;
    Some((select.text, values))
}

/// The owner's conditions in `ordain.toml`: columns, signs and values, joined by `and` before `or`.
fn condition(table: &Table, text: &str) -> Option<Cond> {
    let ors = text.split(" or ").map(|part| {
        let ands = part.split(" and ").map(|part| comparison(table, part.trim()));
        Some(Cond::All(ands.collect::<Option<_>>()?))
    });
    Some(Cond::Any(ors.collect::<Option<_>>()?).normal())
}

fn comparison(table: &Table, text: &str) -> Option<Cond> {
    let path = |name: &str| table.column(name.trim()).map(|column| Path::own(&column.name));
    if let Some(name) = text.strip_suffix(" is not null") {
        return path(name).map(|path| Cond::Null(path).denied());
    }
    if let Some(name) = text.strip_suffix(" is null") {
        return path(name).map(Cond::Null);
    }
    let signs = [
        ("<=", Op::AtMost),
        (">=", Op::AtLeast),
        ("!=", Op::Equal),
        ("<>", Op::Equal),
        ("<", Op::Below),
        (">", Op::Above),
        ("=", Op::Equal),
    ];
    let (sign, op) = *signs.iter().find(|(sign, _)| text.contains(sign))?;
    let (left, right) = text.split_once(sign)?;
    let right = match path(right) {
        Some(other) => Expr::Column(other),
        None => Expr::Value(literal(right.trim())?),
    };
    let cond = Cond::Compare { left: Expr::Column(path(left)?), op, right };
    Some(if matches!(sign, "!=" | "<>") { cond.denied() } else { cond })
}

fn literal(text: &str) -> Option<Scalar> {
    let quoted = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    match (quoted('\'').or_else(|| quoted('"')), text) {
        (Some(inner), _) => Some(Scalar::Text(inner.to_owned())),
        (None, "true") => Some(Scalar::Bool(true)),
        (None, "false") => Some(Scalar::Bool(false)),
        (None, number) => Some(Scalar::Number(Number::new(number.parse().ok()?)?)),
    }
}

/// What is seen of a text column's values: days written as texts, numbers that are codes, texts to search in.
fn as_seen(column: &mut Column, facts: &ColumnBrief) {
    let values = || facts.values.as_ref().unwrap_or(&facts.samples).iter();
    let texts = || values().filter_map(Value::as_str);
    let are = |is_so: fn(&str) -> bool| texts().next().is_some() && texts().all(is_so);
    if column.holds == Holds::Text && are(is_day) {
        column.holds = Holds::Day;
        column.has_time = texts().any(|text| text.len() > 10);
        column.values = Vec::new();
    } else if column.holds == Holds::Text && are(is_clock) {
        column.holds = Holds::Time;
        column.values = Vec::new();
    }
    let is_year = |value: &Value| value.as_i64().is_some_and(|year| (1000..2200).contains(&year));
    column.is_code = column.holds == Holds::Whole
        && column.unit.is_none()
        && values().next().is_some()
        && values().all(is_year);
    column.is_searched = column.holds == Holds::Text && &*column.name == "description";
    if column.is_searched && facts.values.is_none() {
        column.values = texts().map(str::to_owned).collect();
    }
}

/// `2026-03-14`, with a time of day or without.
fn is_day(text: &str) -> bool {
    let form = |text: &str, form: &str| {
        text.len() >= form.len()
            && form
                .bytes()
                .zip(text.bytes())
                .all(|(form, byte)| if form == b'd' { byte.is_ascii_digit() } else { form == byte })
    };
    form(text, "dddd-dd-dd")
        && (text.len() == 10 || form(&text[10..], "Tdd:dd") || form(&text[10..], " dd:dd"))
}

fn is_clock(text: &str) -> bool {
    text.len() == 5
        && text
            .bytes()
            .enumerate()
            .all(|(at, byte)| if at == 2 { byte == b':' } else { byte.is_ascii_digit() })
}

/// The column by which people call the rows of a table: the declared one, a `name` or `title`, or the only one that ends so.
fn label(table: &Table, facts: &TableBrief) -> Option<Arc<str>> {
    const NAMES: [&str; 3] = ["name", "title", "label"];
    let declared = facts.roles.get("label").and_then(|name| table.column(name));
    let is_text = |column: &&Column| column.holds == Holds::Text && column.refers.is_none();
    let texts = || table.columns.iter().filter(is_text);
    let plain = || texts().find(|column| NAMES.contains(&&*column.name));
    let noun = table.noun().0.replace(' ', "_");
    let of_noun = || {
        texts().find(|column| {
            *column.name == *noun || NAMES.iter().any(|name| *column.name == format!("{noun}_{name}"))
        })
    };
    declared.or_else(plain).or_else(of_noun).map(|column| column.name.clone())
}

/// What the reader knows of the tables: whole names, types, units, values.
pub fn catalog(brief: &Brief) -> Catalog {
    let tables = brief.tables.iter().map(|known| table(brief, known)).collect();
    Catalog::of(tables).with_references()
}

fn table(brief: &Brief, known: &TableBrief) -> Table {
    let name = known.table.name.as_str();
    let (stored, file) = (brief.catalog.tables.get(name), brief.catalog.data.get(name));
    let notes = |column: &str| -> Vec<&ColumnNotes> {
        let all = [stored.map(|notes| &notes.columns), file.map(|notes| &notes.columns)];
        all.into_iter().flatten().filter_map(|columns| columns.get(column)).collect()
    };
    let columns = known.table.columns.iter().filter(|column| !column.hidden).map(|own| {
        let facts = known.columns.iter().find(|facts| facts.name == own.name);
        let mut column = column(&own.name, own.column_type, facts);
        for notes in notes(&own.name) {
            column.words.extend(notes.synonyms.iter().cloned());
            column.unit = notes.unit.clone().or(column.unit);
            let refers = notes.references.as_ref();
            column.refers =
                refers.map(|to| (to.table.as_str().into(), to.column.as_str().into())).or(column.refers);
        }
        let refers = known.references.iter().find(|(from, ..)| *from == own.name);
        column.refers = refers
            .map(|(_, table, key)| (Arc::from(table.as_str()), Arc::from(key.as_str())))
            .or(column.refers);
        column
    });
    let mut made = Table::new(name, columns.collect());
    made.words.extend(stored.map(|notes| notes.synonyms.clone()).unwrap_or_default());
    made.words.extend(file.map(|notes| notes.synonyms.clone()).unwrap_or_default());
    made.key = match known.table.key.as_slice() {
        [one] => Some(one.as_str().into()),
        _ => key_of(known),
    };
    made
}

/// The column that tells rows apart: the first one without gaps, if its values are texts or whole numbers.
fn key_of(known: &TableBrief) -> Option<Arc<str>> {
    let first = known.table.columns.first()?;
    let has_gaps = known.columns.first().is_none_or(|facts| facts.null_share > 0.0);
    let is_key = matches!(first.column_type, ColumnType::Text | ColumnType::Integer);
    (is_key && !has_gaps).then(|| first.name.as_str().into())
}

/// A column, with what is known of its values.
pub fn column(name: &str, column_type: ColumnType, facts: Option<&ColumnBrief>) -> Column {
    let reading = |key: &str| facts.and_then(|facts| facts.reading.get(key)?.as_str()).unwrap_or_default();
    let form = reading("form");
    let (holds, source) = match column_type {
        ColumnType::Text if form == "clock" => (Holds::Time, Source::Same),
        ColumnType::Text => (Holds::Text, Source::Same),
        ColumnType::Integer => (Holds::Whole, if form == "digits" { Source::Digits } else { Source::Lost }),
        ColumnType::Real | ColumnType::Decimal => (Holds::Number, Source::Lost),
        ColumnType::Boolean => (Holds::Bool, Source::Lost),
        ColumnType::Timestamp => (Holds::Day, if form == "iso_day" { Source::IsoDay } else { Source::Lost }),
        ColumnType::Json | ColumnType::Any => (Holds::Nested, Source::Lost),
    };
    let values = facts.and_then(|facts| facts.values.as_deref()).unwrap_or_default().iter();
    Column {
        unit: facts.and_then(|facts| facts.unit.clone()),
        values: if holds == Holds::Text {
            values.filter_map(Value::as_str).map(str::to_owned).collect()
        } else {
            Vec::new()
        },
        source,
        truth: facts.and_then(|facts| {
            let words = facts.reading.get("words")?.as_array()?;
            Some((words.first()?.as_str()?.to_owned(), words.get(1)?.as_str()?.to_owned()))
        }),
        has_time: holds == Holds::Day && reading("type") != "date",
        ..Column::new(name, holds)
    }
}
