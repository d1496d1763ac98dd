//! What the owner of a workspace declares, as the reader uses it: references, verbs and terms.

use ordain_types::{Action, Records};

use super::form::{Cond, Op, Operand};
use super::formula;
use super::index::{Column, Index, Sort, Table, What, split_text};
use super::lexicon::{LEXICON, verb_forms};
use crate::brief::TableBrief;

/// A verb, or another word, that means rows of a table.
#[derive(Debug, Clone)]
pub(crate) struct Verb {
    /// The table.
    pub(crate) table: usize,
    /// Which of its rows.
    pub(crate) means: Cond,
    /// The action that records them.
    pub(crate) action: Option<String>,
    /// Whether it is a condition of its own: `cheap`.
    pub(crate) is_condition: bool,
    /// Who does it.
    pub(crate) subject: Subject,
}

/// Who does what a verb says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Anybody: the owner does not say.
    Any,
    /// Somebody who is named in the row: `Alice bought`.
    Named,
    /// The workspace's own people: `we sold`.
    We,
}

impl Index {
    /// References: declared ones, the database's own, and columns named like another table's key.
    pub(super) fn refer(&mut self, briefs: &[TableBrief]) {
        let find = |tables: &[Table], table: &str, column: &str| {
            let place = tables.iter().position(|known| known.name == table)?;
            Some((place, tables[place].columns.iter().position(|known| known.name == column)?))
        };
        for (place, brief) in briefs.iter().enumerate() {
            for at in 0..self.tables[place].columns.len() {
                let name = self.tables[place].columns[at].name.clone();
                let notes = self.catalog.tables.get(&brief.table.name);
                let declared = notes.and_then(|notes| notes.columns.get(&name)?.references.clone());
                let own = brief.references.iter().find(|(column, _, _)| *column == name);
                let found = match (declared, own) {
                    (Some(to), _) => find(&self.tables, &to.table, &to.column),
                    (None, Some((_, table, column))) => find(&self.tables, table, column),
                    (None, None) => (0..self.tables.len()).find_map(|other| {
                        let key = self.tables[other].key?;
                        let is_key = self.tables[other].columns[key].name == name && name.contains('_');
                        (other != place && is_key).then_some((other, key))
                    }),
                };
                self.tables[place].columns[at].refers = found.filter(|to| *to != (place, at));
            }
        }
    }

    /// References by the ends of texts: `Sale: 3 x Wayfarer`. A name that two rows have refers to none.
    pub(super) fn refer_by_texts(&mut self, briefs: &[TableBrief]) {
        for (place, brief) in briefs.iter().enumerate() {
            let notes = self.catalog.tables.get(&brief.table.name).map(|notes| notes.columns.clone());
            for (name, ending) in
                notes.into_iter().flatten().filter_map(|(name, notes)| Some((name, notes.ends?)))
            {
                let text = self.tables[place].columns.iter().position(|column| column.name == name);
                let other = self.tables.iter().position(|table| table.name == ending.names.table);
                let (Some(text), Some(other)) = (text, other) else { continue };
                let column =
                    self.tables[other].columns.iter().position(|known| known.name == ending.names.column);
                let Some(to) = column.filter(|to| is_unique(&briefs[other], &self.tables[other], *to)) else {
                    continue;
                };
                let own = &mut self.tables[place].columns;
                own[text].refers = Some((other, to));
                own[text].before = Some(ending.before);
                let number = |name| Column { within: Some(text), ..Column::of(name, Sort::Whole, true) };
                own.extend(ending.number.map(number));
            }
        }
    }

    /// Adds the words of actions, phrasings and metrics.
    pub(super) fn add_declared(&mut self) {
        let catalog = self.catalog.clone();
        for (place, action) in catalog.actions.iter().enumerate() {
            for word in &action.words {
                // Past forms are no orders.
                self.add_exact(&verb_words(word), What::Action(place), 0);
            }
            if let Some(records) = &action.records {
                self.add_records(action, records);
            }
        }
        for phrasing in &catalog.phrasings {
            let verb = self.verb(&phrasing.table, phrasing.means.as_deref(), Subject::Any);
            let is_condition = phrasing.means.is_some();
            self.add_degrees(verb.as_ref(), &phrasing.words);
            self.add_verb(verb.map(|verb| Verb { is_condition, ..verb }), &phrasing.words, &[]);
        }
        for (place, metric) in catalog.metrics.iter().enumerate() {
            for word in metric.synonyms.iter().chain([&metric.name]) {
                self.add(&split_text(word), What::Metric(place), 0);
            }
        }
    }

    /// `taller`, `tallest`: where a declared adjective bounds one column, rows are compared by it.
    fn add_degrees(&mut self, verb: Option<&Verb>, words: &[String]) {
        let Some(Cond::Cmp(path, op, Operand::Lit(lit))) = verb.map(|verb| &verb.means) else { return };
        if *op == Op::Eq || !path.hops.is_empty() || !lit.value.is_number() {
            return;
        }
        for word in words.iter().filter(|word| !word.contains(' ')) {
            let lower = word.to_lowercase();
            let base = lower.strip_suffix('e').unwrap_or(&lower);
            let base = base.strip_suffix('y').map_or_else(|| base.to_owned(), |stem| format!("{stem}i"));
            let doubled = base.chars().last().map(|last| format!("{base}{last}"));
            for (base, ending) in [Some(base), doubled]
                .into_iter()
                .flatten()
                .flat_map(|base| [(base.clone(), "er"), (base, "est")])
            {
                let more = matches!(op, Op::Gt | Op::Ge);
                self.degrees.insert(format!("{base}{ending}"), (path.table, path.column, more));
            }
        }
    }

    /// The rows that an action left behind are asked about in its own words.
    fn add_records(&mut self, action: &Action, records: &Records) {
        let verb = |index: &Self, subject| {
            let verb = index.verb(&records.table, records.filter.as_deref(), subject)?;
            Some(Verb { action: Some(action.name.replace('_', " ")), ..verb })
        };
        // `i want` begins an order; it does not say that something was done.
        let is_told = |word: &&String| match verb_words(word).as_slice() {
            [_] => true,
            [_, rest @ ..] => LEXICON.has("particles", &rest.join(" ")),
            [] => false,
        };
        let words = action.words.iter().filter(is_told).cloned();
        let (by, others): (Vec<String>, Vec<String>) = words.partition(|word| records.by.contains(word));
        self.add_verb(verb(self, Subject::We), &others, &records.nouns);
        self.add_verb(verb(self, Subject::Named), &by, &[]);
        // As the answers say it.
        let said = verb(self, Subject::Any).map(|verb| Verb { is_condition: true, ..verb });
        self.add_verb(said, &[format!("action is {}", action.name.replace('_', " "))], &[]);
    }

    /// A verb that means rows of a table; none if the condition is not understood.
    fn verb(&self, table: &str, means: Option<&str>, subject: Subject) -> Option<Verb> {
        let table = self.tables.iter().position(|known| known.name == table)?;
        let means = match means {
            Some(means) => formula::condition(self, table, means)?,
            None => Cond::always(),
        };
        Some(Verb { table, means, action: None, is_condition: false, subject })
    }

    /// Adds a verb in all its forms, and the nouns for its rows.
    fn add_verb(&mut self, verb: Option<Verb>, words: &[String], nouns: &[String]) {
        let Some(verb) = verb else { return };
        self.verbs.push(verb);
        let which = self.verbs.len() - 1;
        for word in words {
            let words = verb_words(word);
            let Some((first, rest)) = words.split_first() else { continue };
            for form in verb_forms(first) {
                self.add_exact(&[vec![form], rest.to_vec()].concat(), What::Verb(which), 0);
            }
        }
        for noun in nouns {
            self.add(&split_text(noun), What::Deeds(which), 0);
        }
    }
}

/// Whether no two rows have the same value in a column, as far as the values were looked at.
fn is_unique(brief: &TableBrief, table: &Table, column: usize) -> bool {
    let seen = brief.columns.iter().find(|seen| seen.name == table.columns[column].name);
    let count = seen.and_then(|seen| seen.values.as_ref()).map(|values| values.len() as u64);
    brief.columns.is_empty() || table.key == Some(column) || count == Some(brief.rows)
}

fn verb_words(verb: &str) -> Vec<String> {
    verb.to_lowercase().split_whitespace().map(str::to_owned).collect()
}
