//! Questions whose one reading still leaves open what is meant: they are asked back, with what to say.

use super::catalog::Source;
use super::doubled::{of_condition, of_measure};
use crate::reader::code::quote;
use crate::reader::form::{Asked, Cond, Form, Measure, Operand, Path, Select};
use crate::reader::index::{Index, What, split_name};
use crate::reader::lexicon::LEXICON;
use crate::reader::token::Token;
use crate::reader::words;

/// What is asked back about the only reading of a question, where there is something to ask.
pub(super) fn asked(index: &Index, sources: &[Source], form: &Form, tokens: &[Token]) -> Option<String> {
    let question = Question::of(index, form, tokens)?;
    let repeated = || {
        let (path, said) = question.none_or_some()?;
        (sources[path.table].is_big || !path.hops.is_empty()).then_some(said)
    };
    question
        .sum_or_one()
        .or_else(repeated)
        .or_else(|| question.other_table())
        .or_else(|| question.little_word())
        .or_else(|| question.part_of_name())
}

/// The lines that give no answer where a value stands in several rows, and only some of them need be as a question denies it.
pub(super) fn repeated(index: &Index, sources: &[Source], form: &Form, tokens: &[Token]) -> String {
    let denied = Question::of(index, form, tokens).and_then(|question| question.none_or_some());
    match denied.filter(|(path, _)| !sources[path.table].is_big && path.hops.is_empty()) {
        Some((path, said)) => format!(
            "if rows[{}].dropna().duplicated().any():\n    raise ValueError({})\n",
            quote(&index.tables[path.table].columns[path.column].name),
            quote(&said)
        ),
        None => String::new(),
    }
}

/// A question, and how it was read.
struct Question<'a> {
    index: &'a Index,
    tokens: &'a [Token],
    select: &'a Select,
}

impl<'a> Question<'a> {
    fn of(index: &'a Index, form: &'a Form, tokens: &'a [Token]) -> Option<Self> {
        let (Form::Select(select) | Form::Output(_, select)) = form;
        Some(Self { index, tokens, select })
    }

    /// `customers who ordered more than 10 kg`: one order of more, or all of them together?
    fn sum_or_one(&self) -> Option<String> {
        let says_all = self.says("in_total");
        let table = &self.index.tables[self.select.table];
        let (column, of) = match linked_bound(&self.select.filter) {
            Some((link, path)) if says_all || !self.names_table(link) => (path, link),
            None if says_all => (self.bound_of_values()?, self.select.table),
            _ => return None,
        };
        let (name, noun) = (words::column(self.index, &column), &self.index.tables[of].noun);
        let by = match &self.select.asked {
            Asked::Values(path) | Asked::Figure { measure: Measure::Distinct(path), .. } => {
                words::column(self.index, path)
            }
            _ => table
                .label
                .or(table.key)
                .map_or_else(|| table.noun.clone(), |at| split_name(&table.columns[at].name).join(" ")),
        };
        Some(format!(
            "“{name}” may be that of one {noun}, or of several {} together. Say “with {} whose {name} is …” for the \
             first; “total {name} by {by}” gives the sums for the second.",
            words::plural(noun),
            words::a(noun),
        ))
    }

    /// The column of a bound on rows whose different values are asked for.
    fn bound_of_values(&self) -> Option<Path> {
        matches!(
            &self.select.asked,
            Asked::Values(_) | Asked::Rows | Asked::Any | Asked::Figure { measure: Measure::Distinct(_), .. }
        )
        .then(|| bound(&self.select.filter))?
    }

    /// `how many customers are not in web`: those without any such row, or those with some other row?
    fn none_or_some(&self) -> Option<(&'a Path, String)> {
        let select: &'a Select = self.select;
        let (Asked::Values(path) | Asked::Figure { measure: Measure::Distinct(path), .. }) = &select.asked
        else {
            return None;
        };
        let denies = ["no", "without", "never", "nor", "neither"];
        let is_denied =
            self.says("not") || self.tokens.iter().any(|token| denies.contains(&token.lower.as_str()));
        if self.select.filter.is_always() || !is_denied || self.names_table(self.select.table) {
            return None;
        }
        let name = words::column(self.index, path);
        let rows = words::plural(&self.index.tables[self.select.table].noun);
        let filter = words::filter_words(self.index, &self.select.filter);
        let said = format!(
            "one {name} may have several {rows}, and it is open whether none of them may be otherwise, or whether one \
             is enough ({filter}); “{rows} where …” lists the rows"
        );
        Some((path, said))
    }

    /// `total price by name`, where rows that refer to those with the name have a price too.
    fn other_table(&self) -> Option<String> {
        let measures: Vec<&Measure> = match &self.select.asked {
            Asked::Figure { measure, .. } => vec![measure],
            Asked::Figures { measures, .. } => measures.iter().collect(),
            _ => return None,
        };
        let mut paths = Vec::new();
        for measure in measures {
            of_measure(measure, &mut paths);
        }
        paths.iter().find_map(|path| {
            let name = &self.index.tables[path.table].columns[path.column].name;
            let other = self.index.tables.iter().enumerate().find(|(place, table)| {
                let refers = table.columns.iter().any(|column| column.refers.is_some_and(|(to, _)| to == path.table));
                let has = table.columns.iter().any(|column| {
                    column.name.eq_ignore_ascii_case(name) && column.refers.is_none() && column.cut.is_none()
                });
                refers && has && *place != path.table && ![*place, path.table].iter().any(|at| self.names_table(*at))
            })?;
            let (one, other) = (&self.index.tables[path.table].name, &other.1.name);
            Some(format!("{one} and {other} both have a column {name}. Which one is meant? Say “{name} of {one}” or “{name} of {other}”."))
        })
    }

    /// `since 2010`, where a column is called `since`: a bound, or a value of that column?
    fn little_word(&self) -> Option<String> {
        let mut paths = Vec::new();
        of_condition(&self.select.filter, &mut paths);
        let compares = [
            "since", "until", "before", "after", "over", "under", "above", "below", "within", "from", "to",
            "by", "for", "past",
        ];
        paths.iter().find_map(|path| {
            let name = self.index.tables[path.table].columns[path.column].name.to_lowercase();
            let at = self.tokens.iter().position(|token| token.lower == name)?;
            let is_bare = |next: &Token| next.lower.chars().next().is_some_and(char::is_numeric);
            (compares.contains(&name.as_str()) && self.tokens.get(at + 1).is_some_and(is_bare)).then(|| {
                format!("“{name}” is a column, and a word that compares as well. Say “where {name} is …”, or “where {name} is at least …”.")
            })
        })
    }

    /// `how many markets are there`, where a kind is `market` and another column is called `market_day`.
    fn part_of_name(&self) -> Option<String> {
        let (Asked::Values(path) | Asked::Figure { measure: Measure::Distinct(path), .. }) =
            &self.select.asked
        else {
            return None;
        };
        let column = What::Column(path.table, path.column);
        let is_whole = |place: usize| {
            let said = self.index.at(self.tokens, place);
            said.iter().any(|(what, length, cost)| *what == column && (*length > 1 || *cost == 0))
        };
        if (0..self.tokens.len()).any(is_whole) {
            return None;
        }
        (0..self.tokens.len()).find_map(|place| {
            let said = self.index.at(self.tokens, place);
            let is_part = said.iter().any(|(what, length, cost)| *what == column && *length == 1 && *cost > 0);
            let at = said.iter().find_map(|(what, ..)| match what {
                What::Value(table, at, _) if *table == path.table && *at != path.column && is_part => Some(*at),
                _ => None,
            })?;
            let (text, kind) = (&self.tokens[place].text, &self.index.tables[path.table].columns[at].name);
            let name = words::column(self.index, path);
            Some(format!("“{text}” is a value of {kind}, and part of the name of {name}. Say “how many rows where {kind} is …”, or “how many different {name}”."))
        })
    }

    fn says(&self, class: &str) -> bool {
        (0..self.tokens.len()).any(|place| {
            let words: Vec<&str> = self.tokens[place..].iter().take(4).map(Token::word).collect();
            !LEXICON.matches(class, &words).is_empty()
        })
    }

    /// Whether the question has the noun for a table's rows; `who order` is no noun.
    fn names_table(&self, table: usize) -> bool {
        let is_verb = |place: usize| {
            let before = place.checked_sub(1).map(|at| self.tokens[at].lower.as_str());
            matches!(before, Some("who" | "that" | "which" | "do" | "does" | "did" | "to" | "not" | "never"))
        };
        (0..self.tokens.len()).filter(|place| !is_verb(*place)).any(|place| {
            self.index.at(self.tokens, place).iter().any(|(what, ..)| *what == What::Table(table))
        })
    }
}

/// The table and column of a bound that some row of another table must meet.
fn linked_bound(cond: &Cond) -> Option<(usize, Path)> {
    match cond {
        Cond::And(all) | Cond::Or(all) => all.iter().find_map(linked_bound),
        Cond::Not(inner) => linked_bound(inner),
        Cond::Some(link, inner) => {
            bound(inner).map(|path| (link.table, path)).or_else(|| linked_bound(inner))
        }
        _ => None,
    }
}

/// The column of numbers that is bounded.
fn bound(cond: &Cond) -> Option<Path> {
    match cond {
        Cond::And(all) | Cond::Or(all) => all.iter().find_map(bound),
        Cond::Not(inner) => bound(inner),
        Cond::Cmp(path, _, Operand::Lit(lit)) => lit.value.is_number().then(|| path.clone()),
        _ => None,
    }
}
