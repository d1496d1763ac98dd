//! What the walk knows about a value.

use std::rc::Rc;

use ruff_text_size::TextRange;

use super::shape::Shape;

/// What is known about a value at one place of the program.
#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    /// Anything.
    Unknown,
    /// Nothing yet: the element of an empty list.
    Never,
    None,
    Boolean(Option<bool>),
    Integer,
    /// A number with a point; `true` if it has digits behind the point that are not zero.
    Real(bool),
    Text(Text<'a>),
    /// `db`.
    Database,
    /// A table; `None` is a table whose name was computed.
    Table(Option<usize>),
    /// A table's method that is not called at once: `map(inventory_tbl.insert, rows)`.
    Method(Option<usize>, &'a str),
    /// `Query()`.
    Query,
    /// `Query().price`, `where("price")`.
    Path(Rc<Path<'a>>),
    /// `Item.price < 100`.
    Condition(Rc<Condition<'a>>),
    /// `increment("quantity_in_stock")`.
    Operation(Rc<Operation<'a>>),
    Row(Rc<Shape<'a>>),
    /// A dict whose keys are known.
    Record(Rc<Record<'a>>),
    /// A list, set or iterator of such values.
    List(Rc<Value<'a>>),
    /// A dict of such values under keys that are not known.
    Map(Rc<Value<'a>>),
    Tuple(Rc<[Value<'a>]>),
    /// A function or lambda of the program.
    Function(usize),
    /// `operator.itemgetter("price")`.
    Getter(Text<'a>),
    /// A member of a module by its full name: `pandas.DataFrame`.
    Member(Rc<str>),
    /// A function that Python has without an import.
    Builtin(&'a str),
    /// A function that the workspace gives.
    Helper(&'a str),
    /// `files`.
    Files,
    /// A path that the code may open: an entry of `files`, or below `artifacts`.
    WorkPath,
    /// One of several.
    Union(Rc<[Value<'a>]>),
}

/// A text, if it is written in the program.
#[derive(Debug, Clone)]
pub(crate) enum Text<'a> {
    Any,
    One(Literal<'a>),
    Several(Rc<[Literal<'a>]>),
}

/// A name that is written somewhere: as a string, or as an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Literal<'a> {
    pub(crate) text: &'a str,
    pub(crate) range: TextRange,
}

/// A column of a condition, not yet bound to a table.
#[derive(Debug)]
pub(crate) struct Path<'a> {
    pub(crate) column: Text<'a>,
    /// It goes on inside the column: `Item.size.width`.
    pub(crate) is_nested: bool,
}

/// A condition, not yet bound to a table.
#[derive(Debug, Default, Clone)]
pub(crate) struct Condition<'a> {
    pub(crate) uses: Vec<ColumnUse<'a>>,
    pub(crate) captures: Vec<Capture<'a>>,
}

/// One column in a condition.
#[derive(Debug, Clone)]
pub(crate) struct ColumnUse<'a> {
    /// `None`: the name was computed.
    pub(crate) column: Option<Literal<'a>>,
    /// What it is compared with.
    pub(crate) compared: Option<(Value<'a>, TextRange)>,
}

/// A loop variable that a test function looks up when it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Capture<'a> {
    pub(crate) name: &'a str,
    /// The loop whose variable it is.
    pub(crate) of_loop: TextRange,
    /// The function, by its index.
    pub(crate) function: usize,
    /// The position of the variable in the function.
    pub(crate) range: TextRange,
}

/// A dict with known keys.
#[derive(Debug, Default, Clone)]
pub(crate) struct Record<'a> {
    pub(crate) entries: Vec<Entry<'a>>,
    /// Other dicts that were spread into it: `{**row, "price": 5}`.
    pub(crate) spread: Vec<Value<'a>>,
    /// It may have keys that are not known.
    pub(crate) is_open: bool,
}

/// A change that the store makes to one column.
#[derive(Debug)]
pub(crate) struct Operation<'a> {
    pub(crate) entry: Entry<'a>,
    /// The new value comes from the old one.
    pub(crate) reads: bool,
}

/// One key and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry<'a> {
    pub(crate) key: Literal<'a>,
    pub(crate) value: Value<'a>,
    pub(crate) value_range: TextRange,
}

impl<'a> Value<'a> {
    pub(crate) fn text(text: &'a str, range: TextRange) -> Self {
        Self::Text(Text::One(Literal { text, range }))
    }

    pub(crate) fn list(element: Self) -> Self {
        Self::List(Rc::new(element))
    }

    pub(crate) fn map(element: Self) -> Self {
        Self::Map(Rc::new(element))
    }

    pub(crate) fn tuple(elements: Vec<Self>) -> Self {
        Self::Tuple(elements.into())
    }

    /// The alternatives of a union, or the value itself.
    pub(crate) fn alternatives(&self) -> &[Self] {
        match self {
            Self::Union(values) => values,
            _ => std::slice::from_ref(self),
        }
    }

    /// What is known when either may be the case.
    pub(crate) fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Never | Self::None, value) | (value, Self::Never | Self::None) => value,
            (Self::Unknown, Self::Unknown) => Self::Unknown,
            (Self::Integer, Self::Integer) => Self::Integer,
            (Self::Real(left), Self::Real(right)) => Self::Real(left && right),
            (Self::Boolean(left), Self::Boolean(right)) => {
                Self::Boolean(if left == right { left } else { None })
            }
            (Self::Text(left), Self::Text(right)) => Self::Text(left.join(&right)),
            (Self::Condition(left), Self::Condition(right)) => {
                if Rc::ptr_eq(&left, &right) {
                    Self::Condition(left)
                } else {
                    Self::Condition(Rc::new(left.merge(&right)))
                }
            }
            (Self::List(left), Self::List(right)) => {
                if Rc::ptr_eq(&left, &right) {
                    Self::List(left)
                } else {
                    Self::list((*left).clone().join((*right).clone()))
                }
            }
            (Self::Map(left), Self::Map(right)) => Self::map((*left).clone().join((*right).clone())),
            (Self::Record(left), Self::Record(right)) => Self::Record(join_records(left, &right)),
            (Self::Tuple(left), Self::Tuple(right)) if left.len() == right.len() => {
                let pairs = left.iter().zip(right.iter());
                Self::Tuple(pairs.map(|(left, right)| left.clone().join(right.clone())).collect())
            }
            (Self::Row(left), Self::Row(right)) if left.is_alike(&right) => Self::Row(left.either(&right)),
            (left, right) => union(&left, &right),
        }
    }

    /// Whether two values that are not containers are known to be the same.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Unknown, Self::Unknown)
            | (Self::Integer, Self::Integer)
            | (Self::Database, Self::Database)
            | (Self::Query, Self::Query)
            | (Self::Files, Self::Files)
            | (Self::WorkPath, Self::WorkPath) => true,
            (Self::Table(left), Self::Table(right)) => left == right,
            (Self::Method(left, name), Self::Method(right, other)) => left == right && name == other,
            (Self::Row(left), Self::Row(right)) => Rc::ptr_eq(left, right) || left == right,
            (Self::Function(left), Self::Function(right)) => left == right,
            (Self::Member(left), Self::Member(right)) => left == right,
            (Self::Builtin(left), Self::Builtin(right)) | (Self::Helper(left), Self::Helper(right)) => {
                left == right
            }
            (Self::Path(left), Self::Path(right)) => Rc::ptr_eq(left, right),
            _ => false,
        }
    }
}

/// More alternatives than any plan has; beyond it nothing is known.
const ALTERNATIVES_MAX: usize = 16;

fn union<'a>(left: &Value<'a>, right: &Value<'a>) -> Value<'a> {
    let mut values: Vec<Value<'a>> = left.alternatives().to_vec();
    for value in right.alternatives() {
        if !values.iter().any(|known| known.is_same(value)) {
            values.push(value.clone());
        }
    }
    match values.len() {
        1 => values.remove(0),
        length if length > ALTERNATIVES_MAX => Value::Unknown,
        _ => Value::Union(values.into()),
    }
}

/// Joins records key by key; a key that one of them lacks leaves the result open.
fn join_records<'a>(left: Rc<Record<'a>>, right: &Rc<Record<'a>>) -> Rc<Record<'a>> {
    if Rc::ptr_eq(&left, right) {
        return left;
    }
    let mut joined = (*left).clone();
    joined.is_open |= right.is_open;
    for entry in &right.entries {
        let position = joined.entries.iter().position(|known| known.key.text == entry.key.text);
        if let Some(position) = position {
            let known = &mut joined.entries[position].value;
            let value = std::mem::replace(known, Value::Never);
            *known = value.join(entry.value.clone());
        } else if joined.entries.len() < ENTRIES_MAX {
            joined.entries.push(entry.clone());
        } else {
            joined.is_open = true;
        }
    }
    joined.spread.extend(right.spread.iter().cloned());
    joined.spread.truncate(ALTERNATIVES_MAX);
    joined.is_open |= left.entries.iter().any(|entry| right.entry(entry.key.text).is_none());
    Rc::new(joined)
}

/// More keys than any row has; a larger dict is data, not a document.
pub(crate) const ENTRIES_MAX: usize = 256;

impl<'a> Record<'a> {
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry<'a>> {
        // The last value that a key is given counts.
        self.entries.iter().rev().find(|entry| entry.key.text == key)
    }

    /// The record with one key set.
    pub(crate) fn with(&self, entry: Entry<'a>) -> Self {
        let mut record = self.clone();
        if let Some(known) = record.entries.iter_mut().find(|known| known.key.text == entry.key.text) {
            *known = entry;
        } else if record.entries.len() < ENTRIES_MAX {
            record.entries.push(entry);
        } else {
            record.is_open = true;
        }
        record
    }
}

impl<'a> Condition<'a> {
    /// Both conditions in one: what either uses, it uses.
    pub(crate) fn merge(&self, other: &Self) -> Self {
        let mut merged = self.clone();
        for other_use in &other.uses {
            let is_known = |known: &ColumnUse<'a>| {
                known.column == other_use.column
                    && known.compared.as_ref().map(|(_, range)| *range)
                        == other_use.compared.as_ref().map(|(_, range)| *range)
            };
            if merged.uses.len() < USES_MAX && !merged.uses.iter().any(is_known) {
                merged.uses.push(other_use.clone());
            }
        }
        for capture in &other.captures {
            if !merged.captures.contains(capture) {
                merged.captures.push(capture.clone());
            }
        }
        merged
    }
}

/// More columns than a readable condition names.
const USES_MAX: usize = 128;

impl<'a> Text<'a> {
    /// The texts it may be; `None` if it may be any.
    pub(crate) fn known(&self) -> Option<&[Literal<'a>]> {
        match self {
            Self::Any => None,
            Self::One(literal) => Some(std::slice::from_ref(literal)),
            Self::Several(literals) => Some(literals),
        }
    }

    fn join(&self, other: &Self) -> Self {
        let (Some(left), Some(right)) = (self.known(), other.known()) else { return Self::Any };
        let mut literals = left.to_vec();
        literals.extend(right.iter().filter(|literal| !left.contains(literal)));
        match literals.len() {
            1 => Self::One(literals[0]),
            length if length > TEXTS_MAX => Self::Any,
            _ => Self::Several(literals.into()),
        }
    }
}

/// More names than a loop over columns has.
const TEXTS_MAX: usize = 64;
