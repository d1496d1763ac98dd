//! What a request can ask for, as plain data between reading and composing.

/// What a request asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Intent {
    /// Something to say without a look at the tables.
    Say(Say),
    /// Facts about items that are named.
    About { describes: bool },
    /// Rows of a table that fit a condition, or a figure over them.
    Read(Read),
    /// Items bought, returned, received or written off.
    Trade(Trade),
    /// One value of one item.
    Set(Set),
    /// What was sold, to whom, and what is in the till.
    History(History),
}

/// Why nothing is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Say {
    Empty,
    TooLong,
    Foreign,
    Negated,
    Greeting,
    Capabilities,
    Unsupported,
    Discount,
    Everything,
}

/// A look at one table.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Read {
    /// Which of the other tables; the items where there is none.
    pub(super) other: Option<usize>,
    pub(super) measure: Measure,
    /// The column that the measure is about.
    pub(super) column: Option<String>,
    pub(super) comparisons: Vec<Comparison>,
    /// Only what is in stock, or only what is not.
    pub(super) stock: Option<Stock>,
    pub(super) is_search: bool,
    /// A number of extremes is asked for, not one.
    pub(super) several: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Measure {
    #[default]
    List,
    Count,
    Least,
    Most,
    Mean,
    Sum,
    Worth,
}

/// What a look at the items says of their stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stock {
    In,
    Out,
}

/// A limit on a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) column: String,
    pub(super) kind: Limit,
    /// The words that say it.
    pub(super) phrase: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    Under,
    Over,
    Between,
    Range,
    OrLess,
    OrMore,
    Around,
}

/// Items that move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Trade {
    pub(super) kind: TradeKind,
    pub(super) is_dry: bool,
    pub(super) asks: bool,
    pub(super) superlative: Option<Measure>,
    pub(super) has_customer: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TradeKind {
    Buy,
    Return,
    Mixed,
    Restock,
    Remove,
}

/// One value of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Set {
    pub(super) is_price: bool,
    pub(super) step: Step,
    pub(super) is_percent: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    To,
    Up,
    Down,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct History {
    pub(super) measure: Past,
    pub(super) whose: Whose,
    pub(super) of_item: bool,
    /// Only sales of items, not every transaction.
    pub(super) is_sales: bool,
    /// One row was asked for, a number of them, or neither.
    pub(super) newest: Newest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Past {
    Balance,
    Total,
    Count,
    Who,
    Units,
    Top,
    Recent,
    Bought,
}

/// Whose transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Anybody,
    /// Those of a person that the request names.
    Customer,
    /// Those without a name: the person says "I".
    Nobody,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Newest {
    One,
    Few,
    Said,
}
