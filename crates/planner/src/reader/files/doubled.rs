//! Columns of a file that have one name: a question that names them is asked back.

use crate::reader::form::{Asked, Cond, Form, Measure, Operand, Path, Select};
use crate::reader::index::{Index, What};

/// What the first of several columns with one name can be called: `price.0`, beside `price.1`.
fn first_name(name: &str) -> String {
    format!("{name}.0")
}

/// Lets a question name the first of several columns that are called alike.
pub(super) fn add_names(index: &mut Index) {
    for place in 0..index.tables.len() {
        for at in 0..index.tables[place].columns.len() {
            let column = &index.tables[place].columns[at];
            if !column.doubled.is_empty() {
                let name = first_name(&column.name).to_lowercase();
                index.add_exact(&[name], What::Column(place, at), 0);
            }
        }
    }
}

/// Asks which column is meant, where a form uses one of several that are called alike and the request does not say which.
pub(super) fn asked(index: &Index, form: &Form, request: &str) -> Option<String> {
    let (Form::Select(select) | Form::Output(_, select)) = form;
    let request = request.to_lowercase();
    let doubled = paths(select).into_iter().find_map(|path| {
        let (table, column) = (&index.tables[path.table], &index.tables[path.table].columns[path.column]);
        let is_said = request.contains(&first_name(&column.name).to_lowercase());
        (!column.doubled.is_empty() && !is_said).then_some((table, column))
    });
    let (table, column) = doubled?;
    let later: Vec<String> = column.doubled[1..].iter().map(|name| format!("“{name}”")).collect();
    Some(format!(
        "{} columns of {} are called {}. Which one is meant? Say “{}” for the first of them, {} for a later one.",
        column.doubled.len(),
        table.name,
        column.name,
        first_name(&column.name),
        later.join(" or ")
    ))
}

/// The columns that a question is about.
pub(super) fn paths(select: &Select) -> Vec<Path> {
    let mut found = Vec::new();
    of_condition(&select.filter, &mut found);
    found.extend(select.order.as_ref().and_then(|order| order.by.clone()));
    match &select.asked {
        Asked::Rows | Asked::Any => {}
        Asked::Columns(paths) => found.extend(paths.iter().cloned()),
        Asked::Values(path) | Asked::Spread(path) => found.push(path.clone()),
        Asked::Figure { measure, by, .. } => {
            of_measure(measure, &mut found);
            found.extend(by.iter().cloned());
        }
        Asked::Figures { measures, by } => {
            for measure in measures {
                of_measure(measure, &mut found);
            }
            found.extend(by.iter().cloned());
        }
        Asked::Holds(cond) => of_condition(cond, &mut found),
        Asked::Share { part, by } => {
            of_condition(part, &mut found);
            found.extend(by.iter().cloned());
        }
        Asked::Correlation(left, right) | Asked::Pairs(left, right) => {
            found.extend([left.clone(), right.clone()]);
        }
    }
    found
}

pub(super) fn of_measure(measure: &Measure, found: &mut Vec<Path>) {
    match measure {
        Measure::Count => {}
        Measure::Distinct(path) | Measure::Of(_, path) => found.push(path.clone()),
        Measure::Product(_, left, right) => found.extend([left.clone(), right.clone()]),
        Measure::Pair(pair, _) => {
            of_measure(&pair.0, found);
            of_measure(&pair.1, found);
        }
    }
}

pub(super) fn of_condition(cond: &Cond, found: &mut Vec<Path>) {
    match cond {
        Cond::And(all) | Cond::Or(all) => all.iter().for_each(|cond| of_condition(cond, found)),
        Cond::Not(inner) | Cond::Some(_, inner) => of_condition(inner, found),
        Cond::Days(path, ..) | Cond::Null(path) | Cond::Word(path, _) => found.push(path.clone()),
        Cond::Cmp(path, _, operand) => {
            found.push(path.clone());
            match operand {
                Operand::Lit(_) => {}
                Operand::Column(other) => found.push(other.clone()),
                Operand::Of(other, cond) => {
                    found.push(other.clone());
                    of_condition(cond, found);
                }
            }
        }
    }
}
