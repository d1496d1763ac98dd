//! Values that a question says otherwise than they are written, as names: `Kids`, where the data says `Kid`. The answer tells.

use super::code::quote;
use super::form::{Asked, Cond, Form, Lit, Operand, Path};
use super::index::{Index, Sort};

/// A line of the plan that adds such names to the answer; nothing if there are none.
pub(super) fn told(index: &Index, form: &Form, request: &str) -> String {
    let (Form::Select(select) | Form::Output(_, select)) = form;
    let mut all = Vec::new();
    of_condition(&select.filter, &mut all);
    if let Asked::Holds(cond) | Asked::Share { part: cond, .. } = &select.asked {
        of_condition(cond, &mut all);
    }
    // A day is said in many ways.
    let is_name = |path: &Path| index.tables[path.table].columns[path.column].sort != Sort::Day;
    let mut told: Vec<String> = Vec::new();
    for (_, lit) in all.into_iter().filter(|(path, _)| is_name(path)) {
        if let Some(text) = other(lit, request)
            && !told.contains(&text)
        {
            told.push(text);
        }
    }
    if told.is_empty() {
        return String::new();
    }
    format!("answer_text += {}\n", quote(&format!(" {}.", told.join(", "))))
}

/// How a value is written that is said in capitals, and in other letters than its own.
fn other(lit: &Lit, request: &str) -> Option<String> {
    let (said, value) = (request.get(lit.at.0..lit.at.1)?, lit.value.as_str()?);
    let is_name = lit.at.0 > 0 && said.starts_with(char::is_uppercase);
    let letters = |text: &str| -> String {
        text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    (is_name && letters(said) != letters(value)).then(|| format!("“{said}” is read as {value}"))
}

fn of_condition<'a>(cond: &'a Cond, found: &mut Vec<(&'a Path, &'a Lit)>) {
    match cond {
        Cond::And(all) | Cond::Or(all) => all.iter().for_each(|one| of_condition(one, found)),
        Cond::Not(inner) | Cond::Some(_, inner) | Cond::Cmp(_, _, Operand::Of(_, inner)) => {
            of_condition(inner, found);
        }
        Cond::Cmp(path, _, Operand::Lit(lit)) => found.push((path, lit)),
        // A word of a text is shown as it is there.
        Cond::Cmp(..) | Cond::Word(..) | Cond::Days(..) | Cond::Null(_) => {}
    }
}
