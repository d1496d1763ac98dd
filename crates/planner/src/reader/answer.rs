//! Writes the short program that answers a question: one SELECT, and a sentence about what it gives.

use ordain_reader::{
    Ask, Column, Cond, Day, Dialect, Expr, Function, Holds, Meaning, Measure, Op, Order, Param, Part, Path,
    Query, Reader, Scalar, Select, Shown, Table, Top, Unit,
};
use ordain_types::BoundParam;
use serde_json::{Value, json};

/// Rows that a sentence names.
const NAMED_MAX: usize = 20;
/// Columns that are shown of rows without a name.
const COLUMNS_MAX: usize = 7;

/// How a program gets at the rows.
#[derive(Debug, Clone, Copy)]
pub(super) enum From {
    /// Those of the store, by its own SQL, with values in `params`.
    Store(Dialect),
    /// Those of files, by the cell's DuckDB.
    Files,
}

/// A program with its values.
pub(super) struct Written {
    pub(super) code: String,
    pub(super) params: Vec<BoundParam>,
}

/// A value for people, in Python.
const SAID: &str = "
def said(value, before=\"\", after=\"\", is_code=False, is_day=False):
    \"\"\"A value for people: thousands set apart, numbers with what they count, days without a time.\"\"\"
    if value is None or value != value:
        return \"no value\"
    if isinstance(value, bool):
        return \"yes\" if value else \"no\"
    if isinstance(value, str) and not is_day:
        return value
    if not isinstance(value, (int, float)):
        return (str(value).replace(\"T\", \" \") if is_day else str(value)).removesuffix(\" 00:00:00\")
    if is_code:
        return str(value).removesuffix(\".0\")
    if isinstance(value, int) or float(value).is_integer() and not before:
        return f\"{before}{int(value):,}{after}\"
    return f\"{before}{value:,.2f}{after}\"

";

/// Writes what a meaning asks for; nothing where the database has no words for it.
pub(super) fn write(
    reader: &Reader,
    meaning: &Meaning,
    request: &str,
    words: &str,
    from: From,
) -> Option<Written> {
    let (query, chart) = match meaning {
        Meaning::Query(query) => (query, None),
        Meaning::Chart(kind, query) => (query, Some(*kind)),
        Meaning::Computed(_) => return None,
    };
    let table = reader.catalog().table(&query.table)?;
    let mut writer = Writer { reader, table, request, from, params: Vec::new(), has_today: false };
    let mut body = writer.query(query)?;
    if let Some(kind) = chart {
        body.push_str(&super::chart::drawn(kind, words));
    }
    let comment = words.replace(['\n', '\r'], " ");
    let today = if writer.has_today { "import datetime\n" } else { "" };
    let now = if writer.has_today { "today = datetime.date.today()\n" } else { "" };
    let chart = if chart.is_some() { super::chart::IMPORTS } else { "" };
    let code = format!("# {comment}\n{today}{chart}{SAID}\n{now}{body}");
    Some(Written { code, params: writer.params })
}

struct Writer<'a> {
    reader: &'a Reader,
    table: &'a Table,
    request: &'a str,
    from: From,
    params: Vec<BoundParam>,
    has_today: bool,
}

impl Writer<'_> {
    fn query(&mut self, query: &Query) -> Option<String> {
        let (one, many) = self.table.noun();
        let filter = self.filter(&query.filter);
        match &query.ask {
            Ask::Rows(columns, order) => self.rows(query, columns, order.as_ref()),
            Ask::Figure(measure, by, _) if by.is_empty() => self.figure(query, measure),
            Ask::Figure(measure, ..) => {
                self.groups(query, &Self::measured(measure, &many), self.sign(measure))
            }
            Ask::Share(part, by) if by.is_empty() => {
                let select = self.select(query, &[])?;
                let part = self.clause(part);
                Some(format!(
                    "value = {}[0][\"value\"]\nanswer_json = {{\"value\": value}}\n\
                     answer_text = f\"{{said(value)}} % of the {}{}: {}.\" if value is not None and value == value else {}\n\
                     STATUS = \"success\" if value is not None and value == value else \"no_match\"\n",
                    self.fetched(&select),
                    braces(&many),
                    braces(&filter),
                    braces(&part),
                    quote(&format!("There are no {many}{filter}.")),
                ))
            }
            Ask::Share(part, _) => {
                let what = format!("percent of {many} where {}", self.clause(part));
                self.groups(query, &what, (String::new(), " %".to_owned()))
            }
            Ask::Holds(cond) => {
                let mut shown = self.shown(&query.filter, None);
                add(&mut shown, paths_of(cond));
                let select = self.select(query, &shown)?;
                Some(format!(
                    "rows = {}\nholds = [bool(row[\"holds\"]) for row in rows]\nshown = \"; \".join({} for row in rows[:{NAMED_MAX}])\n\
                     answer = \"Yes\" if rows and all(holds) else \"Not all\" if any(holds) else \"No\"\n\
                     answer_text = f\"{{answer}}: {{shown}}.\" if rows else {}\nSTATUS = \"success\" if rows else \"no_match\"\n",
                    self.fetched(&select),
                    self.row_text(&select.columns),
                    quote(&format!("No {one}{filter}: there is none.")),
                ))
            }
        }
    }

    /// The condition of rows, as it follows their noun.
    fn filter(&self, filter: &Cond) -> String {
        if filter.is_always() { String::new() } else { format!(" where {}", self.clause(filter)) }
    }

    fn clause(&self, cond: &Cond) -> String {
        self.reader.condition_words(&self.table.name, cond).unwrap_or_default()
    }

    fn select(&self, query: &Query, shown: &[Path]) -> Option<Select> {
        let dialect = match self.from {
            From::Store(dialect) => dialect,
            From::Files => Dialect::DuckDb,
        };
        self.reader.select(query, shown, dialect)
    }

    /// The rows of a statement, as Python gets them.
    fn fetched(&mut self, select: &Select) -> String {
        let text = quote(&select.text);
        match self.from {
            From::Files => {
                let values: Vec<String> = select
                    .params
                    .iter()
                    .map(|param| format!("{}: {}", quote(&param.name), self.value(param)))
                    .collect();
                let values =
                    if values.is_empty() { String::new() } else { format!(", {{{}}}", values.join(", ")) };
                format!("sql({text}{values}).to_dict(\"records\")")
            }
            From::Store(_) => {
                let values: Vec<String> = select
                    .used
                    .iter()
                    .filter_map(|name| select.params.iter().find(|param| param.name == *name))
                    .map(|param| self.value(param))
                    .collect();
                let values =
                    if values.is_empty() { String::new() } else { format!(", [{}]", values.join(", ")) };
                format!("db.query({text}{values})")
            }
        }
    }

    /// A value as an expression: a param of the plan, or a day that is computed at each run.
    fn value(&mut self, param: &Param) -> String {
        if let Scalar::Day(Day::Relative(unit, shift)) = &param.value {
            self.has_today = true;
            return day(*unit, *shift, param.is_next);
        }
        let value = match &param.value {
            Scalar::Day(Day::On(day)) if param.is_next => json!(next_day(day)),
            Scalar::Day(Day::On(day)) => json!(day),
            other => json!(other),
        };
        if matches!(self.from, From::Files) {
            return match &value {
                Value::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
                other => other.to_string(),
            };
        }
        let known =
            self.params.iter().find(|known| known.value == value && known.name.starts_with(&param.name));
        let name = if let Some(known) = known {
            known.name.clone()
        } else {
            let is_free = |name: &String| self.params.iter().all(|known| known.name != *name);
            let names =
                std::iter::once(param.name.clone()).chain((2..).map(|n| format!("{}_{n}", param.name)));
            let name = names.into_iter().find(is_free).unwrap_or_default();
            let words = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let at = self
                .request
                .to_lowercase()
                .find(&words.to_lowercase())
                .map(|from| (from, from + words.len()));
            let at = at.filter(|(from, to)| self.request.get(*from..*to).is_some());
            let said = at.and_then(|(from, to)| self.request.get(from..to)).unwrap_or_default().to_owned();
            self.params.push(BoundParam { name: name.clone(), value, said, at });
            name
        };
        format!("params[\"{name}\"]")
    }

    fn rows(&mut self, query: &Query, columns: &[Path], order: Option<&Order>) -> Option<String> {
        let (one, many) = self.table.noun();
        let shown = self.shown(&query.filter, order);
        let mut all: Vec<Path> = if columns.is_empty() { shown } else { shown.into_iter().take(1).collect() };
        add(&mut all, columns.to_vec());
        let query = Query { ask: Ask::Rows(all.clone(), order.cloned()), ..query.clone() };
        let select = self.select(&query, &all)?;
        let row = self.row_text(&select.columns);
        let filter = self.filter(&query.filter);
        let near = self.nearest(&query, &all).unwrap_or_default();
        let text = if columns.is_empty() {
            format!(
                "f\"{{len(rows):,}} {{{} if len(rows) == 1 else {}}}: {{shown}}{{more}}.\"",
                single(&one),
                single(&many)
            )
        } else {
            "f\"{shown}{more}.\"".to_owned()
        };
        Some(format!(
            "rows = {}\nanswer_rows = rows\nshown = \"; \".join({row} for row in rows[:{NAMED_MAX}])\n\
             more = f\" and {{len(rows) - {NAMED_MAX}}} more\" if len(rows) > {NAMED_MAX} else \"\"\n\
             answer_text = {text} if rows else {}\nSTATUS = \"success\" if rows else \"no_match\"\n{near}",
            self.fetched(&select),
            quote(&format!("No {many}{filter}: there is none.")),
        ))
    }

    /// Where nothing keeps within a bound, the row that comes nearest to it.
    fn nearest(&mut self, query: &Query, shown: &[Path]) -> Option<String> {
        let Cond::All(all) = &query.filter else { return None };
        let bounds: Vec<(usize, Path, Op)> = all
            .iter()
            .enumerate()
            .filter_map(|(at, cond)| match cond {
                Cond::Compare { left: Expr::Column(path), op, right: Expr::Value(Scalar::Number(_)) } => {
                    Some((at, path.clone(), *op))
                }
                _ => None,
            })
            .collect();
        let [(at, by, op)] = bounds.as_slice() else { return None };
        let is_down = matches!(op, Op::Above | Op::AtLeast);
        let rest =
            all.iter().enumerate().filter(|(place, _)| place != at).map(|(_, cond)| cond.clone()).collect();
        let order = Order { by: by.clone(), top: Top { is_down, part: Part::First(1) } };
        let ask = Ask::Rows(shown.to_vec(), Some(order));
        let near = Query { filter: Cond::All(rest), ask, table: query.table.clone() };
        let select = self.select(&near, shown)?;
        Some(format!(
            "near = [] if rows else {}\nif near:\n    shown = \"; \".join({} for row in near[:3])\n    answer_text += f\" The closest is {{shown}}.\"\n",
            self.fetched(&select),
            self.row_text(&select.columns)
        ))
    }

    fn figure(&mut self, query: &Query, measure: &Measure) -> Option<String> {
        let (one, many) = self.table.noun();
        let filter = self.filter(&query.filter);
        let select = self.select(query, &[])?;
        let fetched = self.fetched(&select);
        let json = if matches!(self.from, From::Files) { "value" } else { "{\"value\": value}" };
        if matches!(measure, Measure::One(Function::Count, _)) {
            return Some(format!(
                "value = {fetched}[0][\"value\"]\nanswer_json = {json}\n\
                 answer_text = f\"There {{'is' if value == 1 else 'are'}} {{said(value)}} {{{} if value == 1 else {}}}{}.\"\nSTATUS = \"success\"\n",
                single(&one),
                single(&many),
                braces(&filter)
            ));
        }
        let (before, after) = self.sign(measure);
        let what = Self::measured(measure, &many);
        Some(format!(
            "value = {fetched}[0][\"value\"]\nfound = value is not None and value == value\nvalue = value if found else None\nanswer_json = {json}\n\
             answer_text = f\"The {}{} is {{said(value, {}, {}{})}}.\" if found else {}\nSTATUS = \"success\" if found else \"no_match\"\n",
            braces(&what),
            braces(&filter),
            single(&before),
            single(&after),
            if self.is_code(measure) { ", True" } else { "" },
            quote(&format!("There is no {what}{filter}: none of them has a value."))
        ))
    }

    fn groups(&mut self, query: &Query, what: &str, (before, after): (String, String)) -> Option<String> {
        let select = self.select(query, &[])?;
        let filter = self.filter(&query.filter);
        let shown = select.columns.iter().filter(|column| !column.is_key);
        let named: Vec<String> = shown.map(|column| self.cell(column)).collect();
        let (_, many) = self.table.noun();
        Some(format!(
            "rows = {}\nanswer_rows = rows\nshown = \"; \".join(f\"{}: {{said(row['value'], {}, {})}}\" for row in rows[:{NAMED_MAX}])\n\
             more = f\" and {{len(rows) - {NAMED_MAX}}} more\" if len(rows) > {NAMED_MAX} else \"\"\n\
             answer_text = f\"{}{}: {{shown}}{{more}}.\" if rows else {}\nSTATUS = \"success\" if rows else \"no_match\"\n",
            self.fetched(&select),
            named.join(", "),
            single(&before),
            single(&after),
            braces(&capital(what)),
            braces(&filter),
            quote(&format!("There are no {many}{filter}."))
        ))
    }

    /// What a figure is called.
    fn measured(measure: &Measure, many: &str) -> String {
        let of = |expr: &Expr| match expr {
            Expr::Column(path) => plain(&path.column),
            Expr::Calc(_, parts) => {
                let names = parts.iter().filter_map(|part| match part {
                    Expr::Column(path) => Some(plain(&path.column)),
                    _ => None,
                });
                names.collect::<Vec<_>>().join(" times ")
            }
            _ => String::new(),
        };
        match measure {
            Measure::One(Function::Count, _) | Measure::One(_, None) => format!("number of {many}"),
            Measure::One(function, Some(expr)) => {
                let function = match function {
                    Function::Distinct => "number of different",
                    Function::Average => "average",
                    Function::Median => "median",
                    Function::Maximum => "highest",
                    Function::Minimum => "lowest",
                    Function::Sum | Function::Count => "total",
                };
                format!("{function} {} of {many}", of(expr))
            }
            Measure::Quotient(one, other) => {
                format!("{} divided by the {}", Self::measured(one, many), Self::measured(other, many))
            }
            Measure::Difference(one, other) => {
                format!("{} less the {}", Self::measured(one, many), Self::measured(other, many))
            }
        }
    }

    /// What stands before and behind a figure.
    fn sign(&self, measure: &Measure) -> (String, String) {
        match measure {
            Measure::One(Function::Distinct | Function::Count, _) => Default::default(),
            Measure::One(_, Some(Expr::Column(path))) => self.column(path).map(sign).unwrap_or_default(),
            Measure::One(_, Some(Expr::Calc(_, parts))) => {
                let money = parts.iter().filter_map(|part| match part {
                    Expr::Column(path) => self.column(path).filter(|column| column.currency().is_some()),
                    _ => None,
                });
                money.map(sign).next().unwrap_or_default()
            }
            _ => Default::default(),
        }
    }

    fn is_code(&self, measure: &Measure) -> bool {
        let Measure::One(Function::Maximum | Function::Minimum, Some(Expr::Column(path))) = measure else {
            return false;
        };
        self.column(path).is_some_and(|column| is_code(self.table, column))
    }

    fn column(&self, path: &Path) -> Option<&Column> {
        self.reader.catalog().column(path.owner(&self.table.name), &path.column)
    }

    /// The columns that tell people which row it is: its name, its price, and what was asked about; of rows without a name
    /// the first ones.
    fn shown(&self, filter: &Cond, order: Option<&Order>) -> Vec<Path> {
        let mut shown: Vec<Path> = Vec::new();
        if let Some(label) = &self.table.label {
            shown.push(Path::own(label));
            let money = self.table.columns.iter().filter(|column| column.currency().is_some());
            add(&mut shown, money.map(|column| Path::own(&column.name)).collect());
        } else {
            for column in self.table.columns.iter().filter(|column| column.holds != Holds::Nested) {
                let own = Path::own(&column.name);
                add(&mut shown, vec![self.label(&own).unwrap_or(own)]);
            }
            shown.truncate(COLUMNS_MAX);
        }
        let is_short = |path: &Path| self.column(path).is_none_or(|column| !column.is_searched);
        add(&mut shown, paths_of(filter).into_iter().filter(is_short).collect());
        add(&mut shown, order.map(|order| order.by.clone()).into_iter().collect());
        shown
    }

    /// What the row that a column refers to is called.
    fn label(&self, path: &Path) -> Option<Path> {
        let (table, key) = self.column(path)?.refers.clone()?;
        let label = self.reader.catalog().table(&table)?.label.clone()?;
        let hop = ordain_reader::Hop { column: path.column.clone(), table, key };
        Some(Path { hops: vec![hop], column: label })
    }

    /// How a row is told: its name, and what else is shown of it in brackets.
    fn row_text(&self, columns: &[Shown]) -> String {
        let mut cells = columns.iter().map(|column| (column, self.cell(column)));
        let first = cells.next().map(|(_, cell)| cell).unwrap_or_default();
        let rest: Vec<String> =
            cells.map(|(column, cell)| format!("{} {cell}", braces(&plain(&column.name)))).collect();
        if rest.is_empty() { format!("f\"{first}\"") } else { format!("f\"{first} ({})\"", rest.join(", ")) }
    }

    /// A value within an f-string.
    fn cell(&self, shown: &Shown) -> String {
        let value = format!("row[{}]", key(&shown.name));
        let Some(column) = self.column(&shown.path).filter(|_| shown.per.is_none()) else {
            return format!("{{said({value})}}");
        };
        let owner = self.reader.catalog().table(shown.path.owner(&self.table.name));
        let (before, after) = sign(column);
        if column.holds == Holds::Day {
            return format!("{{said({value}, is_day=True)}}");
        }
        if owner.is_some_and(|table| is_code(table, column)) {
            return format!("{{said({value}, is_code=True)}}");
        }
        if before.is_empty() && after.is_empty() {
            return format!("{{said({value})}}");
        }
        format!("{{said({value}, {}, {})}}", single(&before), single(&after))
    }
}

/// Numbers that tell rows apart are written as they stand.
fn is_code(table: &Table, column: &Column) -> bool {
    column.is_code || column.refers.is_some() || table.key.as_ref() == Some(&column.name)
}

fn sign(column: &Column) -> (String, String) {
    match (column.currency(), &column.unit) {
        (Some(sign), _) if sign.chars().all(char::is_alphanumeric) => (format!("{sign} "), String::new()),
        (Some(sign), _) => (sign.to_owned(), String::new()),
        (None, Some(unit)) if column.holds.is_number() => (String::new(), format!(" {unit}")),
        (None, _) => Default::default(),
    }
}

fn add(all: &mut Vec<Path>, more: Vec<Path>) {
    for path in more {
        if !all.contains(&path) {
            all.push(path);
        }
    }
}

/// The columns that a condition is about, those of other tables' rows left out.
fn paths_of(cond: &Cond) -> Vec<Path> {
    fn of_expr(expr: &Expr) -> Vec<Path> {
        match expr {
            Expr::Column(path) => vec![path.clone()],
            Expr::Calc(_, parts) => parts.iter().flat_map(of_expr).collect(),
            Expr::Value(_) | Expr::Fold(..) => Vec::new(),
        }
    }
    match cond {
        Cond::All(all) | Cond::Any(all) => all.iter().flat_map(paths_of).collect(),
        Cond::Not(inner) => paths_of(inner),
        Cond::Compare { left, right, .. } => [of_expr(left), of_expr(right)].concat(),
        Cond::In { column: path, .. } | Cond::Null(path) | Cond::Text(path, _) | Cond::Weekday(path, _) => {
            vec![path.clone()]
        }
        _ => Vec::new(),
    }
}

/// A day that is computed when the program runs.
fn day(unit: Unit, shift: i64, is_next: bool) -> String {
    let days = |from: &str, days: i64| {
        let moved =
            if days == 0 { from.to_owned() } else { format!("({from} + datetime.timedelta(days={days}))") };
        format!("{moved}.isoformat()")
    };
    let next = i64::from(is_next);
    match unit {
        Unit::Week => days("(today - datetime.timedelta(days=today.weekday()))", 7 * shift + next),
        Unit::Month => days(
            &format!(
                "datetime.date((today.year * 12 + today.month - 1 + {shift}) // 12, (today.month - 1 + {shift}) % 12 + 1, 1)"
            ),
            next,
        ),
        Unit::Year => days(&format!("datetime.date(today.year + {shift}, 1, 1)"), next),
        _ => days("today", shift + next),
    }
}

/// The day after a day of the calendar.
fn next_day(day: &str) -> String {
    let number =
        |from: usize, to: usize| day.get(from..to).and_then(|part| part.parse::<u32>().ok()).unwrap_or(1);
    let (year, month, of_month) = (number(0, 4), number(5, 7), number(8, 10));
    let (year, month, of_month) = if of_month < ordain_reader::days_in(year, month) {
        (year, month, of_month + 1)
    } else if month < 12 {
        (year, month + 1, 1)
    } else {
        (year + 1, 1, 1)
    };
    format!("{year:04}-{month:02}-{of_month:02}")
}

/// A text as Python writes it.
pub(super) fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// A text within an f-string in double quotes. Names come from files of others: nothing in a text may become code.
fn braces(text: &str) -> String {
    let quoted = quote(text);
    quoted[1..quoted.len() - 1].replace('{', "{{").replace('}', "}}")
}

/// A name in single quotes, for use within an f-string, which in older versions of Python has no escapes there.
fn single(name: &str) -> String {
    let shown = name.chars().map(|c| match c {
        '\'' => '\u{2019}',
        '"' => '\u{201d}',
        '\\' | '{' | '}' => '/',
        other if other.is_control() => ' ',
        other => other,
    });
    format!("'{}'", shown.collect::<String>())
}

/// A column's name within an f-string, where older versions of Python take neither its quotes nor a backslash.
fn key(name: &str) -> String {
    let quoted = single(name);
    if quoted == format!("'{name}'") {
        return quoted;
    }
    let letters: Vec<String> = name.chars().map(|letter| u32::from(letter).to_string()).collect();
    format!("''.join(map(chr, [{}]))", letters.join(", "))
}

/// A column's name in words.
fn plain(name: &str) -> String {
    name.replace('_', " ")
}

pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
