//! Kinds about rows that follow one another in time or another order: gaps, jumps and runs of the same value.

use ordain_types::{Asked, ColumnType, Step, Table};

use super::emit::{Code, column};
use super::figures::seconds_of;
use super::params::{CompileError, Params};
use super::values::{times, type_words};
use super::{is_number, literal, spoken};

/// Which rows follow one another: those of one group, in an order. Rows without a group are one.
struct Order {
    by: Vec<String>,
    along: Option<String>,
}

impl Order {
    fn read(params: &mut Params<'_>, table: &Table) -> Result<Self, CompileError> {
        let by = if params.get("by").is_none() { Vec::new() } else { params.columns("by", table)? };
        let along =
            if params.get("order_by").is_none() { None } else { Some(params.column("order_by", table)?) };
        Ok(Self { by, along })
    }

    fn columns(&self, name: &str) -> Vec<String> {
        [std::slice::from_ref(&name.to_owned()), &self.by, self.along.as_slice()].concat()
    }

    /// Takes the judged rows in their order as `ordered`.
    fn sort(&self, code: &mut Code) {
        let sorted = self.along.as_ref().map_or_else(String::new, |along| {
            format!(".sort_values({}, kind=\"stable\")", literal::text(along))
        });
        code.line(format!("ordered = rows[judged]{sorted}"));
    }

    fn keys(&self) -> String {
        let keys: Vec<String> =
            self.by.iter().map(|name| format!("ordered[{}]", literal::text(name))).collect();
        keys.join(", ")
    }

    /// Takes the value before each of `values` as `before`.
    fn look_back(&self, code: &mut Code) {
        code.line(if self.by.is_empty() {
            "before = values.shift()".to_owned()
        } else {
            format!("before = values.groupby([{}], sort=False, dropna=False).shift()", self.keys())
        });
    }

    fn follows(&self, name: &str, breaks: Step) -> Asked {
        let (by, order_by) = (self.by.clone(), self.along.clone());
        Asked::Follows { column: name.to_owned(), by, order_by, breaks }
    }

    fn words(&self) -> String {
        let along =
            self.along.as_ref().map_or_else(String::new, |along| format!(" in the order of `{along}`"));
        let each = if self.by.is_empty() { String::new() } else { format!(" for each {}", spoken(&self.by)) };
        format!("{along}{each}")
    }
}

/// Marks the rows among `ordered` for which an expression is true.
fn mark(code: &mut Code, broken: &str) {
    code.line(format!("broken = before.notna() & ({broken}).fillna(False).astype(\"bool\")"));
    code.line("failing = broken.reindex(rows.index, fill_value=False).astype(\"bool\")");
}

/// No two points in time that follow one another are too far apart.
pub(super) fn gaps(code: &mut Code, params: &mut Params<'_>, table: &Table) -> Result<(), CompileError> {
    let name = params.column("column", table)?;
    let written = params.text("max_gap")?;
    let seconds =
        seconds_of(&written).ok_or_else(|| params.wrong("max_gap", "a length of time, such as 1h or 1d"))?;
    let by = if params.get("by").is_none() { Vec::new() } else { params.columns("by", table)? };
    if let Some(found) = table.column(&name).filter(|found| found.column_type != ColumnType::Timestamp) {
        return Err(CompileError::param(
            format!(
                "column `{name}` holds {}, and gaps are between points in time",
                type_words(found.column_type)
            ),
            format!("declare its type under `[data.{}.columns]`, or name another column", table.name),
        ));
    }
    let order = Order { by, along: Some(name.clone()) };
    code.import("import pandas as pd");
    code.uses(&order.columns(&name));
    code.line(format!("judged = {}.notna()", column(&name)));
    order.sort(code);
    code.line(format!("values = {}", times(&format!("ordered[{}]", literal::text(&name)))));
    order.look_back(code);
    mark(code, &format!("(values - before) > pd.Timedelta(seconds={seconds})"));
    code.asks(order.follows(&name, Step::Gap(seconds)));
    code.step(format!("mark the rows whose `{name}` comes more than {written} after the one before"));
    let each = Order { along: None, ..order }.words();
    let rule = format!("`{name}` must follow the one before within {written}{each}");
    code.end_with_rows(&rule, &format!("come more than {written} after the one before"), &[name]);
    Ok(())
}

/// How far off the difference of two decimals may be: binary fractions have 10.8 - 4.8 above 6. Databases allow as much.
const SLACK: &str = "(values.abs() + before.abs()) * 4e-16";

/// No value is too far from the one before it.
pub(super) fn jumps(code: &mut Code, params: &mut Params<'_>, table: &Table) -> Result<(), CompileError> {
    let name = params.column("column", table)?;
    let (most, share) = (params.number("max")?, params.number("max_share")?);
    let order = Order::read(params, table)?;
    if !is_number(table, &name) {
        let holds = table.column(&name).map_or("nothing known", |column| type_words(column.column_type));
        return Err(CompileError::param(
            format!("column `{name}` holds {holds}, and jumps are between numbers"),
            format!("declare its type under `[data.{}.columns]`, or name another column", table.name),
        ));
    }
    let (broken, words, breaks) = match (most, share) {
        (Some(most), None) => {
            (format!("(values - before).abs() > {most} + {SLACK}"), most.to_string(), Step::Jump(most))
        }
        (None, Some(share)) => {
            let percent = (share * 1e6).round() / 1e4;
            let broken = format!("(values - before).abs() > {share} * before.abs() + {SLACK}");
            (broken, format!("{percent} %"), Step::JumpShare(share))
        }
        _ => {
            return Err(CompileError::param(
                "a jump has one limit",
                "give `max`, or `max_share` such as 0.5 for 50 %",
            ));
        }
    };
    code.uses(&order.columns(&name));
    code.line(format!("judged = {}.notna()", column(&name)));
    order.sort(code);
    code.line(format!("values = ordered[{}].astype(\"float64\")", literal::text(&name)));
    order.look_back(code);
    mark(code, &broken);
    code.asks(order.follows(&name, breaks));
    code.step(format!("mark the rows whose `{name}` differs by more than {words} from the one before"));
    let rule = format!("`{name}` must change by at most {words} from row to row{}", order.words());
    code.end_with_rows(&rule, &format!("differ by more than {words} from the row before"), &[name]);
    Ok(())
}

/// No value stands too often in a row.
pub(super) fn runs(code: &mut Code, params: &mut Params<'_>, table: &Table) -> Result<(), CompileError> {
    let name = params.column("column", table)?;
    let most = params.count("max")?.filter(|most| *most > 0);
    let most =
        most.ok_or_else(|| params.wrong("max", "how often the same value may follow itself, from 1"))?;
    let order = Order::read(params, table)?;
    code.uses(&order.columns(&name));
    code.line(format!("judged = {}.notna()", column(&name)));
    order.sort(code);
    let marks = [order.by.as_slice(), std::slice::from_ref(&name)].concat();
    if !order.by.is_empty() {
        // Rows of one group come together, in the order that they have.
        code.line(format!("ordered = ordered.sort_values({}, kind=\"stable\")", literal::names(&order.by)));
    }
    code.line(format!("marks = ordered[{}].astype(\"str\")", literal::names(&marks)));
    code.line("run = (marks != marks.shift()).any(axis=1).cumsum()");
    code.line("length = run.groupby(run).transform(\"size\")");
    code.line(format!("failing = (length > {most}).reindex(rows.index, fill_value=False).astype(\"bool\")"));
    code.step(format!("mark the rows whose `{name}` stands more than {most} times in a row"));
    let rule = format!("`{name}` must have the same value at most {most} times in a row{}", order.words());
    code.end_with_rows(&rule, &format!("stand in a row of more than {most} of the same {name}"), &[name]);
    Ok(())
}
