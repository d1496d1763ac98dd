//! What a part of a sentence means before it is known which table it is about.
//!
//! Names stay unbound until the noun of their rows says from which table they are seen; see `bind`.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use crate::algebra::{Calc, Cond, Day, Demand, Function, Name, Number, Op, TextTest, Unit};
use crate::deed::Deed;
use crate::query::{Meaning, Order, Top};

/// A column of a table.
pub(crate) type Place = (Name, Name);

/// The columns that words may call.
pub(crate) type Places = Arc<BTreeSet<Place>>;

/// The values that words may call, each with its column, and the words as they are written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Values {
    pub(crate) found: Rc<BTreeSet<(Name, Name, String)>>,
    pub(crate) written: String,
    pub(crate) is_quoted: bool,
    /// Whether a sentence begins with them.
    pub(crate) is_first: bool,
}

/// By what a column of another table is reached: the table's noun, or the column that refers to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Via {
    Noun(Name),
    Column(Places),
}

/// A value of a row, its names unbound.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum LooseExpr {
    /// What a predicate is applied to.
    Subject,
    Column(Places, Vec<Via>),
    Number(Number),
    Calc(Calc, Vec<LooseExpr>),
    Fold(Function, Places, Rows),
}

impl LooseExpr {
    pub(crate) fn has_column(&self) -> bool {
        match self {
            Self::Subject | Self::Column(..) | Self::Fold(..) => true,
            Self::Number(_) => false,
            Self::Calc(_, parts) => parts.iter().any(Self::has_column),
        }
    }

    fn applied(&self, subject: &Self) -> Self {
        match self {
            Self::Subject => subject.clone(),
            Self::Calc(calc, parts) => {
                Self::Calc(*calc, parts.iter().map(|part| part.applied(subject)).collect())
            }
            other => other.clone(),
        }
    }
}

/// What a column is compared with.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Term {
    Expr(LooseExpr),
    /// A value that rows have.
    Known(Values),
    /// A word that is no other name, and whether it is certainly meant as it is written.
    Literal(String, bool),
    Quote(String),
    /// A number, and how it is written.
    Number(Number, String),
    /// A number of days.
    Span(Number),
    Unit(Number, String),
    Money(Number, String),
    Percent(Number),
    Day(Day),
    Time(String),
    Bool(bool),
}

/// A condition, its names unbound.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Loose {
    All(Vec<Loose>),
    Any(Vec<Loose>),
    Not(Box<Loose>),
    Compare(LooseExpr, Op, Term),
    /// One of a list; whether the sentence says that it is one, so that its words need not be values of rows.
    In(LooseExpr, Vec<Term>, bool),
    Null(LooseExpr),
    /// Has no X, which depends on what the column holds.
    None(LooseExpr),
    Text(LooseExpr, TextTest),
    /// It has at most so many digits behind the point.
    Decimals(LooseExpr, u32),
    Weekday(LooseExpr, Vec<u8>),
    Unique(Vec<LooseExpr>),
    /// A value that rows have, of the table that is named if one is.
    Value(Values, Option<Name>),
    /// A value of a named column.
    ValueOf(Values, Places),
    Yes(Places),
    /// A price.
    Money(Op, Term),
    /// The one day that rows have.
    When(Op, Day),
    /// A stretch of it.
    During(Day, Op, Day),
    OnWeekdays(Vec<u8>),
    Exists(Rows, Op, u32),
    Through(Rows, Places, Op, u32),
    /// The value is there in another table.
    Refers(LooseExpr, Name, Places),
    /// The value is there in the column of a table that it refers to, or that is called so there.
    KnownIn(LooseExpr, Name),
    /// The row refers to one that is there in another table.
    Belongs(Name),
    /// Said of the rows of a table.
    OfNoun(Name, Box<Loose>),
    /// The expression is one of these columns: a name that says again which one is meant.
    Named(LooseExpr, Places),
    /// What the owner's words for a condition on the rows of a table mean.
    Phrase(Vec<(Name, Cond)>),
    /// A word that stands in texts of these columns, each with a form in which it stands there.
    Within(Rc<BTreeSet<(Name, Name, String)>>),
}

impl Loose {
    /// The condition with a subject in place.
    pub(crate) fn applied(&self, subject: &LooseExpr) -> Self {
        let on = |expr: &LooseExpr| expr.applied(subject);
        let term = |term: &Term| match term {
            Term::Expr(expr) => Term::Expr(on(expr)),
            other => other.clone(),
        };
        let each = |parts: &[Self]| parts.iter().map(|part| part.applied(subject)).collect();
        match self {
            Self::All(all) => Self::All(each(all)),
            Self::Any(any) => Self::Any(each(any)),
            Self::Not(inner) => Self::Not(Box::new(inner.applied(subject))),
            Self::Compare(left, op, right) => Self::Compare(on(left), *op, term(right)),
            Self::In(column, values, is_said) => {
                Self::In(on(column), values.iter().map(term).collect(), *is_said)
            }
            Self::Null(column) => Self::Null(on(column)),
            Self::None(column) => Self::None(on(column)),
            Self::Text(column, test) => Self::Text(on(column), test.clone()),
            Self::Decimals(column, most) => Self::Decimals(on(column), *most),
            Self::Weekday(column, days) => Self::Weekday(on(column), days.clone()),
            Self::Unique(columns) => Self::Unique(columns.iter().map(on).collect()),
            Self::KnownIn(column, table) => Self::KnownIn(on(column), table.clone()),
            Self::Refers(column, table, places) => Self::Refers(on(column), table.clone(), places.clone()),
            Self::Named(column, places) => Self::Named(on(column), places.clone()),
            other => other.clone(),
        }
    }

    pub(crate) fn denied(self) -> Self {
        Self::Not(Box::new(self))
    }
}

/// A condition of a column that is not named yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Test {
    pub(crate) cond: Loose,
    /// Whether it is several that are joined by `and`: `not A and B` would have two meanings.
    pub(crate) is_joined: bool,
    /// Whether something in it is denied: `A or B must not be empty` would have two meanings.
    pub(crate) is_denied: bool,
}

impl Test {
    pub(crate) fn of(&self, subject: &LooseExpr) -> Loose {
        self.cond.applied(subject)
    }
}

/// Rows of a table that meet a condition, which is bound.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Rows {
    pub(crate) table: Name,
    pub(crate) cond: Rc<Cond>,
}

/// Rows, in an order if one is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Found {
    pub(crate) rows: Rows,
    pub(crate) order: Option<Order>,
}

/// What a rule is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Subjects {
    pub(crate) columns: Vec<LooseExpr>,
    /// Whether one of them is enough.
    pub(crate) is_any: bool,
    /// Whether none of them may be so.
    pub(crate) is_denied: bool,
}

/// A condition in front of a rule, or behind it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Tail {
    If(Loose),
    OnlyIf(Loose),
    Exactly(Loose),
    Rows(Rows),
    RowsNot(Rows),
    /// A test of the rule's own subject.
    It(Test),
    Nothing,
}

/// Texts that another is to have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Texts {
    Any(Vec<String>),
    All(Vec<String>),
    None(Vec<String>),
}

/// A figure, its names unbound.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct LooseFigure {
    pub(crate) function: Function,
    pub(crate) of: LooseExpr,
    pub(crate) rows: Option<Rows>,
    pub(crate) by: Vec<Group>,
}

/// What makes groups.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Group {
    Noun(Name),
    Column(LooseExpr),
    /// Stretches of the calendar, of a column of days if one is named.
    Stretch(Unit, Option<LooseExpr>),
}

/// Whatever a part of a sentence means.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    /// A word whose meaning the grammar file gives.
    Word(String),
    Number(Number, String),
    Count(u32),
    Quote(String),
    Literal(String, bool),
    Code(String),
    Slashed(Vec<String>),
    Sized(u32, String),
    /// Characters as they stand.
    Sign(String),
    Days(Vec<u8>),
    /// A regular expression.
    Pattern(String),
    /// A part of one, and whether it says more than the characters themselves.
    Piece(String, bool),
    Day(Day),
    Period(Day, Day),
    Money(Number, String),
    Time(String),
    Noun(Name),
    Places(Places),
    Values(Values),
    Unit(String),
    Span(Unit),
    Calc(Calc),
    Op(Op),
    Function(Function),
    Via(Via),
    Expr(LooseExpr),
    Term(Term),
    Cond(Loose),
    Test(Test),
    Rows(Rows),
    Subjects(Subjects),
    Tail(Tail),
    /// A text, and whether it is certainly one.
    Text(String, bool),
    Texts(Texts),
    Size(Option<u32>, Option<u32>),
    Group(Group),
    Bounds(Vec<(Op, Number)>),
    Quota(Op, Number),
    Figure(LooseFigure),
    Each(Test, Rows),
    Demand(Box<Demand>),
    /// The owner's phrases of these places in the catalog.
    Phrases(Vec<usize>),
    /// The owner's terms.
    Metrics(Vec<usize>),
    Within(Rc<BTreeSet<(Name, Name, String)>>),
    Found(Found),
    Groups(Vec<Group>),
    Measure(Function, Option<LooseExpr>),
    Top(Top),
    Meaning(Box<Meaning>),
    Deed(Deed),
}
