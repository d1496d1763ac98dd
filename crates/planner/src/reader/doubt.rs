//! What leaves a change uncertain although it has one reading: it then waits for a person.

use ordain_types::ParamKind;

use super::Meaning;
use super::form::{Argument, Cond, Form, Lit, Op, Operand, Select, Set, To};
use super::guard;
use super::index::{Index, What, split_text};
use super::lexicon::{LEXICON, singular};
use super::token::{Kind, Token, tokens};

/// What a change rests on that is not certain: a part of a name, a new name that may be something else, or a request of which
/// a sentence says nothing.
pub(super) fn doubt(index: &Index, request: &str, meaning: &Meaning) -> Option<String> {
    if !meaning.form.is_change() {
        return None;
    }
    let said = Said { index, request, tokens: tokens(request) };
    said.part_of_name(&meaning.form).or_else(|| said.new_name(&meaning.form)).or_else(|| said.idle(meaning))
}

struct Said<'a> {
    index: &'a Index,
    request: &'a str,
    tokens: Vec<Token>,
}

impl Said<'_> {
    /// The words of the request that a value came from.
    fn words(&self, lit: &Lit) -> Option<&str> {
        (lit.at.1 > lit.at.0).then(|| self.request.get(lit.at.0..lit.at.1)).flatten()
    }

    /// A row that is called by a part of its name, or a column that is.
    fn part_of_name(&self, form: &Form) -> Option<String> {
        let mut all = Vec::new();
        rows(form, &mut all);
        for select in all {
            let mut parts = Vec::new();
            guard::parts(&select.filter, &mut parts);
            if let Some(said) = parts.into_iter().find_map(|cond| self.part(cond)) {
                return Some(format!("“{said}” is a part of a name"));
            }
        }
        let mut columns = Vec::new();
        sets(form, &mut columns);
        let column = columns.into_iter().find(|set| !self.is_named(set))?;
        let table = &self.index.tables[column.rows.table];
        let name = &table.columns[column.column].name;
        Some(format!("{} is named by a part of its name, or by another word", name.replace('_', " ")))
    }

    fn part<'s>(&'s self, cond: &'s Cond) -> Option<&'s str> {
        match cond {
            Cond::Word(_, lit) => self.words(lit).or_else(|| lit.value.as_str()),
            Cond::Cmp(path, Op::Eq, Operand::Lit(lit)) => {
                let table = &self.index.tables[path.table];
                let is_name = table.label == Some(path.column) || table.key == Some(path.column);
                let (said, name) = (self.words(lit)?, lit.value.as_str()?);
                let stems = |text: &str| -> Vec<String> {
                    split_text(text).iter().map(|word| singular(word)).collect()
                };
                (is_name && stems(said) != stems(name)).then_some(said)
            }
            _ => None,
        }
    }

    /// Whether a column that is to be changed is called by its whole name, or as the owner declared.
    fn is_named(&self, set: &Set) -> bool {
        let table = &self.index.tables[set.rows.table];
        let column = &table.columns[set.column].name;
        let notes = self.index.catalog.tables.get(&table.name).and_then(|notes| notes.columns.get(column));
        let synonyms = notes.map(|notes| notes.synonyms.as_slice()).unwrap_or_default();
        let names = std::iter::once(column.as_str()).chain(synonyms.iter().map(String::as_str));
        !super::named(self.request, names).is_empty()
    }

    /// A name that no row has: it may be more or something else than a name, unless it is quoted.
    fn new_name(&self, form: &Form) -> Option<String> {
        let calls = form.all_calls();
        calls.into_iter().find_map(|call| {
            let params = &self.index.catalog.actions[call.action].params;
            call.arguments.iter().find_map(|(name, argument)| match argument {
                Argument::Value(lit) if params[name].kind == Some(ParamKind::Name) => {
                    self.uncertain_name(lit)
                }
                _ => None,
            })
        })
    }

    fn uncertain_name(&self, lit: &Lit) -> Option<String> {
        let said = self.words(lit)?;
        let first = self.tokens.iter().position(|token| token.at.0 == lit.at.0)?;
        let end = self.tokens.iter().position(|token| token.at.1 == lit.at.1)? + 1;
        let is_known =
            |(what, ..): (What, usize, u32)| matches!(what, What::Value(.., value) if value == lit.value);
        if self.tokens[first].kind == Kind::Quoted
            || self.index.at(&self.tokens, first).into_iter().any(is_known)
        {
            return None;
        }
        let is_further =
            |token: &Token| !matches!(token.kind, Kind::Sign(_)) && !LEXICON.has("filler", &token.lower);
        if let Some(more) = self.tokens[end..].iter().find(|token| is_further(token)) {
            return Some(format!("the name “{said}” is new here, and “{}” follows it", more.text));
        }
        let words = &self.tokens[first..end];
        let is_given = |word: &str| ["given.men", "given.women"].iter().any(|class| LEXICON.has(class, word));
        let is_other = |token: &&Token| {
            let is_word = LEXICON.knows(&token.lower) || LEXICON.has("weekdays", &token.lower);
            is_word && !is_given(&token.lower)
        };
        if let Some(other) = words.iter().find(is_other) {
            return Some(format!(
                "the name “{said}” is new here, and “{}” may mean something else",
                other.text
            ));
        }
        // `Dave ASAP`: its words are not written alike.
        let is_shouted = |token: &Token| {
            token.text.chars().count() > 1 && token.text.chars().all(|letter| !letter.is_lowercase())
        };
        let shouted = words.iter().filter(|token| is_shouted(token)).count();
        (shouted > 0 && shouted < words.len())
            .then(|| format!("the name “{said}” is new here, and its words are not written alike"))
    }

    /// A sentence from which nothing of the change was taken.
    fn idle(&self, meaning: &Meaning) -> Option<String> {
        let mut taken: Vec<(usize, usize)> =
            meaning.written.iter().flat_map(|written| &written.params.list).map(|bound| bound.at).collect();
        for call in meaning.form.all_calls() {
            taken.extend(call.arguments.iter().filter_map(|(_, argument)| match argument {
                Argument::Value(lit) => Some(lit.at),
                Argument::Row(_) => None,
            }));
        }
        // What is only asked besides the change says nothing about it.
        let mut asked = Vec::new();
        questions(&meaning.form, &mut asked);
        taken.retain(|at| !asked.contains(at));
        let is_end = |token: &Token| matches!(token.kind, Kind::Sign('.' | '!' | '?' | ';'));
        let sentences = self.tokens.split_inclusive(is_end);
        // A question is answered; it is no part of the order.
        let said = sentences.filter_map(|sentence| match sentence.split_last() {
            Some((last, _)) if last.kind == Kind::Sign('?') => None,
            Some((last, rest)) if is_end(last) => Some(rest),
            _ => Some(sentence),
        });
        let sentences: Vec<&[Token]> = said.filter(|sentence| !sentence.is_empty()).collect();
        let is_talk = |sentence: &[Token]| {
            let words: Vec<&str> = sentence.iter().map(|token| token.lower.as_str()).collect();
            let is =
                |class: &str| LEXICON.matches(class, &words).iter().any(|(length, _)| *length == words.len());
            ["greeting", "thanks", "filler", "interjection"].iter().any(|class| is(class))
        };
        let is_idle = |sentence: &&[Token]| {
            let (from, to) = (sentence[0].at.0, sentence[sentence.len() - 1].at.1);
            !taken.iter().any(|at| at.1 > at.0 && at.0 >= from && at.1 <= to) && !is_talk(sentence)
        };
        if sentences.len() < 2 {
            return None;
        }
        let idle = sentences.into_iter().find(is_idle)?;
        let text = self.request.get(idle[0].at.0..idle[idle.len() - 1].at.1)?;
        Some(format!("nothing was taken from “{text}”"))
    }
}

/// The rows that a change is about or calls something with.
fn rows<'f>(form: &'f Form, found: &mut Vec<&'f Select>) {
    let of_argument = |argument: &'f Argument| match argument {
        Argument::Row(rows) => Some(rows.as_ref()),
        Argument::Value(_) => None,
    };
    match form {
        Form::Calls(calls) => {
            found.extend(
                calls
                    .iter()
                    .flat_map(|call| &call.arguments)
                    .filter_map(|(_, argument)| of_argument(argument)),
            );
        }
        Form::Sets(all) => {
            for set in all {
                found.push(&set.rows);
                if let To::Row(row) = &set.to {
                    found.push(row);
                }
            }
        }
        Form::Add(_, values) => {
            found.extend(values.iter().filter_map(|(_, argument)| of_argument(argument)));
        }
        Form::Remove(select) => found.push(select),
        Form::If(guard, form) => {
            found.push(&guard.rows);
            rows(form, found);
        }
        Form::Both(both) => {
            rows(&both.0, found);
            rows(&both.1, found);
        }
        Form::Select(_) | Form::Output(..) | Form::Offer(_) | Form::Talk(_) | Form::Settled(_) => {}
    }
}

/// Where the values of questions stand that are asked besides a change.
fn questions(form: &Form, found: &mut Vec<(usize, usize)>) {
    match form {
        Form::Both(both) => {
            questions(&both.0, found);
            questions(&both.1, found);
        }
        Form::Select(select) => {
            let mut parts = Vec::new();
            guard::parts(&select.filter, &mut parts);
            for cond in parts {
                match cond {
                    Cond::Cmp(_, _, Operand::Lit(lit)) | Cond::Word(_, lit) => found.push(lit.at),
                    Cond::Days(_, from, until) => found.extend([from.at, until.at]),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// The columns that are set.
fn sets<'f>(form: &'f Form, found: &mut Vec<&'f Set>) {
    match form {
        Form::Sets(all) => found.extend(all),
        Form::If(.., form) => sets(form, found),
        Form::Both(both) => {
            sets(&both.0, found);
            sets(&both.1, found);
        }
        _ => {}
    }
}
