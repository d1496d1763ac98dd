//! What a request wants to be told.

use super::super::catalog::{Column, ColumnKind};
use super::super::lexicon::{REVENUES, find, says, whole};
use super::super::question::{Export, Filter, Function, Group, Number, Order, Period, Plot, Task, Top};
use super::measures::{choices, counted, extreme_measure, measure, only_measure, sole, usual, wants_row};
use super::several::numbers;
use super::{Reading, is_id};

/// The parts of a question that this file reads.
pub(super) struct Understood {
    pub(super) task: Task,
    pub(super) groups: Vec<Group>,
    pub(super) top: Option<Top>,
    pub(super) plot: Option<Plot>,
    pub(super) export: Option<Export>,
}

const LARGEST: [&str; 12] = [
    "highest",
    "largest",
    "most",
    "biggest",
    "top",
    "best",
    "maximum",
    "max",
    "greatest",
    "longest",
    "oldest",
    "strongest",
];
const SMALLEST: [&str; 11] = [
    "lowest", "smallest", "least", "fewest", "minimum", "min", "worst", "bottom", "shortest", "weakest",
    "cheapest",
];
const PLOTS: [&str; 9] =
    ["plot", "chart", "graph", "draw", "diagram", "figure", "visualise", "visualize", "histogram"];
pub(super) const SHOW: [&str; 9] =
    ["show", "list", "find", "give", "display", "print", "get", "return", "select"];

/// Reads it; a text is a question back.
pub(super) fn read(reading: &mut Reading<'_>, filters: &[Filter]) -> Result<Option<Understood>, String> {
    let words = reading.words;
    let export = export(reading);
    let plot = plot(reading);
    let mut groups = groups(reading);
    let mut top = top(reading);
    if let Some(task) = special(reading, plot)? {
        return Ok(Some(Understood { task, groups: Vec::new(), top, plot, export }));
    }
    let superlative = superlative(reading);
    let function = function(reading);
    if groups.is_empty()
        && let Some(group) = subject(reading, superlative.is_some() || top.is_some())
    {
        groups.push(group);
        top = top.or(superlative.map(|is_largest| Top { count: 1, is_largest }));
    }
    if groups.is_empty()
        && (plot.is_some() || says(words, &["trend", "over time", "development", "evolution"]))
    {
        groups.extend(over_time(reading));
    }
    let mut measure = measure(reading, &groups);
    if says(words, &["pivot", "crosstab", "cross tabulation", "pivot table", "matrix"]) && groups.len() >= 2 {
        let function = function.unwrap_or_else(|| usual(reading, measure.as_ref()));
        return Ok(Some(Understood { task: Task::Pivot { function, measure }, groups, top, plot, export }));
    }
    if says(words, &["share", "percentage", "percent", "proportion", "fraction"])
        && (!groups.is_empty() || !filters.is_empty())
    {
        let measure = if function == Some(Function::Count) { None } else { measure };
        return Ok(Some(Understood { task: Task::Share { measure }, groups, top, plot, export }));
    }
    if let (Some(Function::Mean), [Group::Column(id)], Some(value), None) =
        (function, groups.as_slice(), &measure, top)
        && reading.columns.iter().any(|column| column.name == *id && is_id(column))
    {
        let task = Task::PerEach { measure: value.clone(), id: id.clone() };
        return Ok(Some(Understood { task, groups: Vec::new(), top, plot, export }));
    }
    // What is ranked is ranked by one number.
    let numbers = if top.is_none() { numbers(reading, &groups) } else { Vec::new() };
    if numbers.len() > 1 {
        if plot.is_some() {
            let numbers: Vec<String> = numbers.iter().map(Number::words).collect();
            return Err(format!("One number at a time can be drawn: {}?", numbers.join(", or ")));
        }
        let task = Task::Several { numbers };
        return Ok(Some(Understood { task, groups, top, plot, export }));
    }
    let function = match (function, &measure) {
        // “How many units” adds them up, “how many products” counts different ones.
        (Some(Function::Count), _) => Some(counted(reading, &groups, &mut measure)),
        (Some(function), _) => Some(function),
        (None, _) if !groups.is_empty() => Some(usual(reading, measure.as_ref())),
        (None, _) => None,
    };
    if let Some(is_largest) = superlative
        && groups.is_empty()
        && matches!(function, None | Some(Function::Min | Function::Max))
        && let Some(measure) = extreme_measure(reading, measure.clone())
        && wants_row(reading)
    {
        let task = Task::Extreme { measure, is_largest };
        return Ok(Some(Understood { task, groups, top, plot, export }));
    }
    let function = function.or_else(|| {
        // “largest unit price” without anything else wants the number.
        superlative
            .filter(|_| measure.is_some())
            .map(|is_largest| if is_largest { Function::Max } else { Function::Min })
    });
    if let Some(function) = function {
        if measure.is_none() && function != Function::Count {
            measure = Some(only_measure(reading, &groups, function)?);
        }
        let task = Task::Aggregate { function, measure };
        return Ok(Some(Understood { task, groups, top, plot, export }));
    }
    let task = listing(reading, filters, top, export, superlative);
    Ok(task.map(|task| Understood { task, groups, top, plot, export }))
}

/// Tasks with words of their own.
fn special(reading: &Reading<'_>, plot: Option<Plot>) -> Result<Option<Task>, String> {
    let words = reading.words;
    let numbers: Vec<String> = named(reading, Reading::is_measure);
    if says(words, &["correlation", "correlate", "correlated", "correlations", "relationship between"]) {
        let count = reading.columns.iter().filter(|column| Reading::is_measure(column)).count();
        if count < 2 {
            return Err(
                "A correlation needs two columns of numbers; the table has fewer. Which table do you mean?"
                    .to_owned(),
            );
        }
        let columns = if numbers.len() >= 2 { numbers } else { Vec::new() };
        return Ok(Some(Task::Correlation { columns }));
    }
    if plot == Some(Plot::Scatter)
        || says(words, &["against", "versus", "vs"]) && numbers.len() >= 2 && plot.is_some()
    {
        return match numbers.as_slice() {
            [y, x, ..] => Ok(Some(Task::Scatter { x: x.clone(), y: y.clone() })),
            _ => Err(format!("Which two columns shall be drawn against each other: {}?", choices(reading))),
        };
    }
    if plot == Some(Plot::Histogram) || says(words, &["distribution of", "distributed"]) {
        let column = numbers.first().cloned().or_else(|| sole(reading).ok());
        return column.map(|column| Some(Task::Histogram { column })).ok_or_else(|| {
            format!("Of which column shall the distribution be shown: {}?", choices(reading))
        });
    }
    if says(words, &["missing", "null", "nulls", "empty values", "blank", "blanks", "incomplete"]) {
        return Ok(Some(Task::Missing { column: named(reading, |_| true).first().cloned() }));
    }
    if says(words, &["duplicate", "duplicated", "duplicates", "repeated"]) {
        return Ok(Some(Task::Duplicates { column: named(reading, |_| true).first().cloned() }));
    }
    Ok(None)
}

/// The names of the columns of a kind that are named, strongest reading of each place, in their order.
pub(super) fn named(reading: &Reading<'_>, wish: impl Fn(&Column) -> bool + Copy) -> Vec<String> {
    let mut names = Vec::new();
    let mut past = 0;
    for at in 0..reading.words.len() {
        if at < past || reading.used[at] {
            continue;
        }
        if let Some(mention) = reading.at(at, wish) {
            past = mention.end;
            let name = reading.name(mention);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

fn groups(reading: &mut Reading<'_>) -> Vec<Group> {
    let mut groups = Vec::new();
    let has_order =
        says(reading.words, &["sort", "sorted", "order by", "ordered", "rank", "ranked", "top", "bottom"])
            || superlative(reading).is_some();
    let mut at = 0;
    while at < reading.words.len() {
        let word = reading.words[at].lower.as_str();
        let is_by = matches!(word, "by" | "per" | "each" | "every" | "across" | "within");
        if let Some(period) = period(word)
            && let Some(column) = reading.date_column()
            && (at == 0 || !matches!(reading.words[at - 1].lower.as_str(), "last" | "this" | "in" | "next"))
            && (word.ends_with("ly") || word == "daily" || at > 0 && introduces(&reading.words[at - 1].lower))
        {
            groups.push(Group::Period { column, period });
            reading.use_words(at, at + 1);
        } else if is_by {
            at = group_after(reading, at + 1, has_order, &mut groups);
            continue;
        }
        at += 1;
    }
    groups.dedup();
    groups
}

/// Takes the columns after `by`, joined by `and`. Gives the next word.
fn group_after(reading: &mut Reading<'_>, mut at: usize, has_order: bool, groups: &mut Vec<Group>) -> usize {
    loop {
        let is_category = |column: &Column| Reading::is_category(column) || column.kind == ColumnKind::Date;
        let Some(mention) = reading.after(at, is_category).or_else(|| reading.after(at, |_| true)).cloned()
        else {
            return at;
        };
        let column = &reading.columns[mention.column];
        // In “top five products by revenue” the word after `by` is what is compared.
        if Reading::is_measure(column)
            && (has_order || groups.is_empty() && named(reading, Reading::is_measure).len() < 2)
        {
            return mention.end;
        }
        let group = if column.kind == ColumnKind::Date {
            Group::Period { column: column.name.clone(), period: Period::Day }
        } else {
            Group::Column(column.name.clone())
        };
        groups.push(group);
        reading.use_words(mention.start, mention.end);
        at = mention.end;
        let next = reading.words.get(at);
        let is_list = next.is_some_and(|next| {
            let between = &reading.request[reading.words[at - 1].end..next.start];
            matches!(next.lower.as_str(), "and") || between.contains(',')
        });
        if !is_list {
            return at;
        }
        at += usize::from(next.is_some_and(|next| next.lower == "and"));
        if let Some(period) = reading.words.get(at).and_then(|word| period(&word.lower))
            && let Some(column) = reading.date_column()
        {
            groups.push(Group::Period { column, period });
            return at + 1;
        }
    }
}

fn introduces(word: &str) -> bool {
    matches!(word, "by" | "per" | "each" | "every" | "a" | "the" | "over" | "and")
}

fn period(word: &str) -> Option<Period> {
    Some(match word {
        "year" | "yearly" | "annually" | "years" => Period::Year,
        "quarter" | "quarterly" | "quarters" => Period::Quarter,
        "month" | "monthly" | "months" => Period::Month,
        "week" | "weekly" | "weeks" => Period::Week,
        "day" | "daily" | "days" => Period::Day,
        "weekday" | "weekdays" => Period::Weekday,
        _ => return None,
    })
}

/// A line over time is drawn by month unless another period is said.
fn over_time(reading: &Reading<'_>) -> Option<Group> {
    let is_asked =
        says(reading.words, &["trend", "over time", "time series", "development", "evolution", "line"]);
    let column = reading.date_column().filter(|_| is_asked)?;
    Some(Group::Period { column, period: Period::Month })
}

/// The group that is the subject: “which region has the most …”, “top 3 products …”.
fn subject(reading: &mut Reading<'_>, is_ranked: bool) -> Option<Group> {
    if !is_ranked {
        return None;
    }
    if let Some(at) =
        (0..reading.words.len()).find(|&at| !reading.used[at] && period(&reading.words[at].lower).is_some())
        && let (Some(column), Some(period)) = (reading.date_column(), period(&reading.words[at].lower))
        && has_measure(reading)
    {
        reading.use_words(at, at + 1);
        return Some(Group::Period { column, period });
    }
    let asks = |word: &str| matches!(word, "which" | "what" | "who" | "whose");
    for at in 0..reading.words.len() {
        let lower = reading.words[at].lower.clone();
        let starts_here = asks(&lower) || is_extreme(&lower) || whole(&reading.words[at]).is_some();
        let next = at + 1;
        if !starts_here || next >= reading.words.len() {
            continue;
        }
        // “best selling product”, “top 3 products”.
        let next = next
            + usize::from(matches!(reading.words[next].lower.as_str(), "selling" | "sold" | "performing"));
        let Some(mention) = reading.after(next, Reading::is_category).cloned() else { continue };
        let column = &reading.columns[mention.column];
        if Reading::is_category(column)
            && !reading.used[mention.start]
            && (asks(&lower) || has_measure(reading))
        {
            let group = Group::Column(column.name.clone());
            reading.use_words(mention.start, mention.end);
            return Some(group);
        }
    }
    None
}

/// Whether what is ranked by is said: a number column, or a word such as `revenue`.
fn has_measure(reading: &Reading<'_>) -> bool {
    !named(reading, Reading::is_measure).is_empty()
        || says(reading.words, &REVENUES)
        || says(reading.words, &["selling", "sold"])
}

fn is_extreme(word: &str) -> bool {
    LARGEST.contains(&word) || SMALLEST.contains(&word)
}

fn superlative(reading: &Reading<'_>) -> Option<bool> {
    let words = reading.words;
    if says(words, &["most expensive", "dearest", "latest", "newest", "most recent"]) {
        return Some(true);
    }
    if says(words, &["least expensive", "earliest"]) {
        return Some(false);
    }
    let first = words.iter().position(|word| is_extreme(&word.lower))?;
    // “at least” and “at most” compare.
    let compares = first > 0 && words[first - 1].lower == "at";
    // “most common” counts.
    (!compares).then(|| LARGEST.contains(&words[first].lower.as_str()))
}

fn top(reading: &mut Reading<'_>) -> Option<Top> {
    for at in 0..reading.words.len() {
        let Some(count) = whole(&reading.words[at]).filter(|count| (1..=10_000).contains(count)) else {
            continue;
        };
        if reading.used[at] {
            continue;
        }
        let word = |at: Option<usize>| {
            at.and_then(|at| reading.words.get(at)).map_or("", |word| word.lower.as_str())
        };
        let around = [word(at.checked_sub(1)), word(Some(at + 1))];
        let is_largest = around.iter().any(|word| LARGEST.contains(word));
        let is_smallest = around.iter().any(|word| SMALLEST.contains(word));
        let is_first = matches!(around[0], "first" | "head") || around[1] == "rows";
        let is_asked = matches!(around[0], "which" | "what" | "the" | "show" | "list");
        let ranked = is_asked.then(|| superlative(reading)).flatten();
        if let Some(is_largest) = ranked {
            reading.use_words(at, at + 1);
            return Some(Top { count, is_largest });
        }
        if is_largest || is_smallest || is_first {
            reading.use_words(at, at + 1);
            return Some(Top { count, is_largest: !is_smallest });
        }
    }
    let is_plural = |word: &str| {
        find(reading.words, word)
            .is_some_and(|(_, end)| reading.words.get(end).is_some_and(|word| word.lower != word.stem))
    };
    (is_plural("top") || is_plural("best")).then_some(Top { count: 5, is_largest: true })
}

fn function(reading: &Reading<'_>) -> Option<Function> {
    let words = reading.words;
    let how_many = says(
        words,
        &[
            "how many",
            "number of",
            "count",
            "counts",
            "how often",
            "frequency",
            "most common",
            "most frequent",
        ],
    );
    if says(words, &["standard deviation", "deviation", "std", "stdev"]) {
        Some(Function::Deviation)
    } else if says(words, &["variance"]) {
        Some(Function::Variance)
    } else if says(words, &["median"]) {
        Some(Function::Median)
    } else if says(words, &["average", "mean", "avg", "averages", "on average", "typical"]) {
        Some(Function::Mean)
    } else if how_many && says(words, &["distinct", "unique", "different"]) {
        Some(Function::CountDistinct)
    } else if how_many {
        Some(Function::Count)
    } else if says(
        words,
        &["total", "totals", "sum", "how much", "overall", "altogether", "combined", "add up"],
    ) {
        Some(Function::Sum)
    } else if says(words, &["minimum", "min", "smallest value", "lowest value"]) {
        Some(Function::Min)
    } else if says(words, &["maximum", "max", "largest value", "highest value"]) {
        Some(Function::Max)
    } else {
        None
    }
}

/// Rows, values, or what the table holds.
fn listing(
    reading: &Reading<'_>,
    filters: &[Filter],
    top: Option<Top>,
    export: Option<Export>,
    superlative: Option<bool>,
) -> Option<Task> {
    let words = reading.words;
    let columns = named(reading, |_| true);
    let shows = says(words, &SHOW);
    if says(
        words,
        &[
            "describe",
            "description",
            "summary",
            "summarise",
            "summarize",
            "overview",
            "statistics",
            "schema",
            "structure",
            "columns",
            "what is in",
            "look like",
            "contents",
        ],
    ) {
        return Some(Task::Describe);
    }
    let different =
        says(words, &["distinct", "unique", "different", "are there", "exist", "occur", "appear"]);
    if let [column] = columns.as_slice()
        && filters.is_empty()
        && top.is_none()
        && (different || shows || says(words, &["which", "what"]))
        && reading.columns.iter().any(|known| known.name == *column && Reading::is_category(known))
    {
        return Some(Task::Distinct { column: column.clone() });
    }
    let sorts = says(words, &["sort", "sorted", "order", "ordered"]);
    let is_listing =
        shows || sorts || !filters.is_empty() || top.is_some() || export.is_some() || superlative.is_some();
    let has_subject = !filters.is_empty()
        || top.is_some()
        || export.is_some()
        || sorts
        || !columns.is_empty()
        || says(words, &["row", "record", "entry", "line", "data", "table", "everything", "all"])
        || words.iter().any(|word| reading.table_words.contains(&word.stem));
    (is_listing && has_subject).then(|| {
        let order = order(reading);
        let columns = columns
            .into_iter()
            .filter(|name| order.as_ref().is_none_or(|order| order.column != *name))
            .collect();
        Task::Rows { columns, order }
    })
}

/// “sorted by units descending”.
fn order(reading: &Reading<'_>) -> Option<Order> {
    let (_, end) = ["sorted by", "sort by", "ordered by", "order by", "sort them by", "ranked by"]
        .iter()
        .find_map(|entry| find(reading.words, entry))?;
    let mention = reading.after(end, |_| true)?;
    let is_descending =
        says(reading.words, &["descending", "decreasing", "largest first", "highest first", "desc", "down"]);
    Some(Order { column: reading.name(mention), is_descending })
}

fn plot(reading: &Reading<'_>) -> Option<Plot> {
    let words = reading.words;
    if says(words, &["histogram"]) {
        Some(Plot::Histogram)
    } else if says(words, &["scatter", "scatterplot", "scatter plot"]) {
        Some(Plot::Scatter)
    } else if says(words, &["pie", "pie chart"]) {
        Some(Plot::Pie)
    } else if says(words, &["box plot", "boxplot", "box-plot"]) {
        Some(Plot::Box)
    } else if !says(words, &PLOTS) {
        None
    } else if says(words, &["line", "trend", "over time", "monthly", "month", "daily", "weekly", "year"])
        && !says(words, &["bar"])
    {
        Some(Plot::Line)
    } else {
        Some(Plot::Bar)
    }
}

fn export(reading: &Reading<'_>) -> Option<Export> {
    let words = reading.words;
    let verbs = [
        "save",
        "export",
        "write",
        "download",
        "create",
        "make",
        "as",
        "into",
        "store",
        "excel file",
        "csv file",
    ];
    if !says(words, &verbs) && !says(words, &["workbook with", "spreadsheet with", "workbook of"]) {
        return None;
    }
    let is_workbook = says(words, &["excel", "workbook", "xlsx", "spreadsheet", "excel file"]);
    if (is_workbook || says(words, &["sheet"]))
        && says(
            words,
            &["sheet per", "sheet for each", "one sheet", "sheets by", "a sheet", "separate sheet"],
        )
    {
        return Some(Export::Sheets);
    }
    if is_workbook {
        return Some(Export::Workbook);
    }
    says(words, &["csv", "csv file"]).then_some(Export::Csv)
}
