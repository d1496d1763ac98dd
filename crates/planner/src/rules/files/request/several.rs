//! Several numbers in one question: “average units and total revenue by product”.

use super::super::lexicon::{REVENUES, find};
use super::super::question::{Function, Group, Measure, Number};
use super::Reading;
use super::measures::{counted, product};

/// Words that ask for a number, whatever else is asked.
const ASKED: [(Function, &[&str]); 7] = [
    (Function::Sum, &["total", "sum"]),
    (Function::Mean, &["average", "mean", "avg"]),
    (Function::Median, &["median"]),
    (Function::Min, &["minimum", "min"]),
    (Function::Max, &["maximum", "max"]),
    (Function::Deviation, &["deviation", "std"]),
    (Function::Count, &["how many", "number of", "count of"]),
];
/// Words that do so where nothing is put into an order.
const ENDS: [(Function, &[&str]); 2] =
    [(Function::Min, &["smallest", "lowest"]), (Function::Max, &["largest", "highest"])];

/// The numbers that are asked for, in their order. One alone is no question of this kind.
pub(super) fn numbers(reading: &Reading<'_>, groups: &[Group]) -> Vec<Number> {
    let functions = functions(reading, groups.is_empty());
    let measures = measures(reading, groups);
    let mut numbers = Vec::new();
    for (at, &(_, end, function)) in functions.iter().enumerate() {
        if function == Function::Count {
            let mut measure = None;
            let function = counted(reading, groups, &mut measure);
            numbers.push(Number { function, measure });
            continue;
        }
        let next = functions.get(at + 1).map_or(usize::MAX, |(start, ..)| *start);
        let own: Vec<&Measure> = measures
            .iter()
            .filter(|(place, _)| (end..next).contains(place))
            .map(|(_, measure)| measure)
            .collect();
        // “minimum and maximum units”: the word that follows both belongs to both.
        let shared = measures.iter().find(|(place, _)| *place >= end).or(measures.last());
        let chosen =
            if own.is_empty() { shared.map(|(_, measure)| measure).into_iter().collect() } else { own };
        numbers.extend(chosen.into_iter().map(|measure| Number { function, measure: Some(measure.clone()) }));
    }
    let mut different: Vec<Number> = Vec::new();
    for number in numbers {
        if !different.contains(&number) {
            different.push(number);
        }
    }
    different
}

/// Where a function is said: its first word, the word after its last, and which it is.
fn functions(reading: &Reading<'_>, has_no_groups: bool) -> Vec<(usize, usize, Function)> {
    let ends: &[(Function, &[&str])] = if has_no_groups { &ENDS } else { &[] };
    let mut found: Vec<(usize, usize, Function)> = Vec::new();
    for (function, entries) in ASKED.iter().chain(ends) {
        let places = entries.iter().filter_map(|entry| find(reading.words, entry));
        // A column may be called `total`.
        let places = places.filter(|&(start, _)| reading.at(start, |_| true).is_none());
        found.extend(places.map(|(start, end)| (start, end, *function)));
    }
    found.sort_by_key(|(start, ..)| *start);
    // “average number of units” is one average.
    let continues = |at: usize| at > 0 && found[at].2 == Function::Count && found[at - 1].1 == found[at].0;
    (0..found.len()).filter(|&at| !continues(at)).map(|at| found[at]).collect()
}

/// What can be computed with, and where it is said.
fn measures(reading: &Reading<'_>, groups: &[Group]) -> Vec<(usize, Measure)> {
    let mut found = Vec::new();
    let mut past = 0;
    for at in 0..reading.words.len() {
        if at < past || reading.used[at] {
            continue;
        }
        let is_revenue = REVENUES.contains(&reading.words[at].stem.as_str());
        let mention = reading.at(at, Reading::is_measure);
        let strong = mention.filter(|mention| mention.strength > 1);
        if let Some(measure) = is_revenue.then(|| product(reading)).flatten().filter(|_| strong.is_none()) {
            found.push((at, measure));
        } else if let Some(mention) = mention {
            past = mention.end;
            let name = reading.name(mention);
            if !groups.iter().any(|group| group.column() == name) {
                found.push((at, Measure::Column(name)));
            }
        }
    }
    found
}
