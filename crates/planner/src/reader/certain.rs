//! Whether it is certain which rows are meant, whom a pronoun means, and that conditions say what was asked. If it is not,
//! nothing is answered.

use serde_json::Value;

use super::form::{Cond, Lit, Op, Operand, Path, Select};
use super::guard;
use super::index::{Column, Index, Sort, What, split_name, split_text};
use super::lexicon::{LEXICON, singular};
use super::parse::Parser;
use super::phrase::Np;
use super::question::is_plain;
use super::token::Kind;
use super::twofold::contradiction;
use super::words;

impl Parser<'_> {
    /// `a birthday party`, in small letters, is not The Birthday Party, nor `the little horse` Little Star, nor `100 sugar` Sugar
    /// Beet, nor `2 companies` or `the company` Company.
    fn is_part_of_title(&self, cond: &Cond, is_described: bool) -> bool {
        let (Cond::Word(path, lit) | Cond::Cmp(path, Op::Eq, Operand::Lit(lit))) = cond else { return false };
        let Some(said) = self.small(lit) else { return false };
        let name = split_text(lit.value.as_str().unwrap_or_default());
        let is_article = |at: usize| matches!(self.tokens[at].lower.as_str(), "a" | "an" | "the");
        let has_article = said.checked_sub(1).is_some_and(is_article) && name.len() == 1;
        let (is_word, stem) = (matches!(cond, Cond::Word(..)), name.last().map(|word| singular(word)));
        self.index.tables[path.table].label == Some(path.column)
            && (is_word || has_article || self.is_plural(cond))
            && (self.is_modifier(cond)
                || self.index.is_of_titles(
                    path,
                    &Value::from(stem.unwrap_or_default()),
                    is_word && is_described,
                ))
    }

    /// The last word of something that was said, if it is in small letters.
    fn small(&self, lit: &Lit) -> Option<usize> {
        let said = self.tokens.iter().position(|token| token.at.1 == lit.at.1);
        said.filter(|at| self.tokens[*at].text.starts_with(char::is_lowercase))
    }

    /// Whether a word in small letters comes before the noun of the only name that has it: `sugar` is no Sugar Beet, `beet` is.
    fn is_modifier(&self, cond: &Cond) -> bool {
        let Cond::Word(path, lit) = cond else { return false };
        let Some(said) = self.small(lit).filter(|_| !self.index.names_people(path.table, path.column)) else {
            return false;
        };
        let next = self.tokens.get(said + 1).map(|token| token.stem.as_str());
        let is_noun = |word: &&str| {
            let is_plain = word.starts_with(char::is_uppercase) && word.chars().all(char::is_alphabetic);
            is_plain && next != Some(singular(word).as_str())
        };
        let names = self.index.texts(path).into_iter();
        let mut after = names.filter_map(|name| {
            let words: Vec<&str> = name.split_whitespace().collect();
            let at = words.iter().position(|word| lit.value == singular(word))?;
            Some(words.get(at + 1).is_some_and(is_noun))
        });
        after.next() == Some(true) && after.next().is_none()
    }

    /// `old horses`, where one of them is called Old Tom.
    pub(super) fn has_adjective(&self, np: &Np, end: usize) -> bool {
        let noun = &self.tokens[end - 1];
        let is_one = |cond: &Cond| {
            let Cond::Word(path, lit) = cond else { return false };
            let has = |name: &&&String| split_text(name).iter().any(|word| lit.value == singular(word));
            let names = if self.is_part_of_title(cond, true) { self.index.texts(path) } else { Vec::new() };
            names.iter().filter(has).count() == 1
        };
        noun.lower != noun.stem && np.conds.iter().any(is_one)
    }

    /// Whether rows are called by a word in the plural that is not so in the data.
    pub(super) fn is_plural(&self, filter: &Cond) -> bool {
        let (Cond::Cmp(_, Op::Eq, Operand::Lit(lit)) | Cond::Word(_, lit)) = filter else { return false };
        let said = self.tokens.iter().find(|token| token.at.1 == lit.at.1 && token.kind == Kind::Word);
        let name = lit.value.as_str().unwrap_or_default().to_lowercase();
        said.is_some_and(|token| token.lower != token.stem && !name.ends_with(&token.lower))
    }

    /// Whether conditions do not say what was asked: two values of one column, one row of another table and none of it,
    /// or two rows that are read as one (`bought a fern but no tree`, `a fern and a tree`).
    pub(super) fn is_torn(&self, filter: &Cond) -> bool {
        let parts = |cond: &Cond| match cond {
            Cond::And(all) => all.clone(),
            one => vec![one.clone()],
        };
        let places = 0..self.tokens.len();
        let is_said = |class: &str| places.clone().any(|place| self.one(class, place).is_some());
        let is_no = |place: usize| self.one("no", place).or_else(|| self.one("not", place)).is_some();
        let takes_out = is_said("except") || places.clone().any(|at| self.one("and", at).is_some_and(is_no));
        let all = parts(filter);
        if let Some((one, other)) = contradiction(&all) {
            let (one, other) = (words::filter_words(self.index, one), words::filter_words(self.index, other));
            self.trace.leaves_open(&self.tokens[0], &format!("No row can be so that {one}, and {other}"));
            return true;
        }
        let values: Vec<(&Path, &Lit)> = all.iter().filter_map(equal).collect();
        let is_never = |at: usize| {
            values[..at].iter().any(|(path, lit)| *path == values[at].0 && lit.value != values[at].1.value)
        };
        if (1..values.len()).any(is_never) {
            return true;
        }
        // `bay cobs and black shires`, as any colour of these with any breed.
        let ors = all.iter().filter(|cond| matches!(cond, Cond::Or(_))).count();
        if ors > 1 && is_said("and") && !is_said("or") || self.is_split(&all) {
            return true;
        }
        all.iter().any(|cond| {
            let Cond::Some(link, inner) = cond else { return false };
            let inner = parts(inner);
            let is_none = |cond: &Cond| match cond {
                Cond::Not(inner) => matches!(inner.as_ref(), Cond::Some(known, _) if known == link),
                _ => false,
            };
            // No row has two names.
            let names = inner.iter().filter(|one| is_plain(one)).filter_map(guard::path_of);
            let names: Vec<&Path> = names.collect();
            let is_twice = (1..names.len()).any(|at| names[..at].contains(&names[at]));
            all.iter().any(is_none)
                || is_twice
                || (inner.len() > 1 && is_said("and_another"))
                || (takes_out && inner.iter().any(|one| matches!(one, Cond::Not(_))))
                || (inner.iter().any(|one| matches!(one, Cond::Or(_))) && is_said("and") && !is_said("or"))
        })
    }

    /// Whether something that belongs to the rows of another table was taken for one of the rows in question: of `horses
    /// ridden by Mark Stone on 2026-10-02`, who rode them and when is in the lesson.
    fn is_split(&self, all: &[Cond]) -> bool {
        let link_of = |cond: &Cond| match cond {
            Cond::Some(link, _) => Some(*link),
            Cond::Not(inner) => match inner.as_ref() {
                Cond::Some(link, _) => Some(*link),
                _ => None,
            },
            _ => None,
        };
        let is_said = |column: usize| {
            let said = (0..self.tokens.len()).flat_map(|at| self.index.at(self.tokens, at));
            said.into_iter().any(|(what, ..)| what == What::Column(self.focus, column))
        };
        all.iter().filter_map(link_of).any(|link| {
            let mut others = Vec::new();
            for other in all.iter().filter(|other| link_of(other) != Some(link)) {
                guard::parts(other, &mut others);
            }
            others.into_iter().any(|other| match guard::path_of(other) {
                Some(path) if path.table != self.focus => !self.hops(link.table, path.table).is_empty(),
                Some(path) => {
                    let is_day = self.sort(path) == Sort::Day && self.index.day(link.table).is_some();
                    is_day && path.hops.is_empty() && !is_said(path.column)
                }
                None => false,
            })
        })
    }
}

impl Index {
    /// Whether the names with a word are written in capitals (`The Birthday Party`, not `Login page`), and are titles of
    /// works, if that is asked for: some name of the column begins with an article, as no name of a product does.
    pub(crate) fn is_of_titles(&self, path: &Path, stem: &Value, is_any: bool) -> bool {
        let is_capital = |word: &str| word.len() <= 4 || word.starts_with(char::is_uppercase);
        let is_title = |name: &&&String| name.split_whitespace().all(is_capital);
        let has = |name: &&&String| split_text(name).iter().any(|word| *stem == singular(word));
        let is_work = |name: &&String| ["The ", "A ", "An "].iter().any(|article| name.starts_with(article));
        let names = self.texts(path);
        (is_any || names.iter().any(is_work)) && names.iter().filter(has).all(|name| is_title(&name))
    }

    /// Whether rows of a table are somebody: people, or what is born or has a sex.
    pub(crate) fn is_living(&self, table: usize) -> bool {
        let is_living = |word: &String| LEXICON.has("birth_words", word) || LEXICON.has("sex_columns", word);
        let mut words = self.tables[table].columns.iter().flat_map(|column| split_name(&column.name));
        self.tables[table].is_people || words.any(|word| is_living(&word))
    }

    /// The rows that a pronoun means of those that were spoken of; none if a given name or the sex says otherwise: `him` is not
    /// Grace.
    pub(crate) fn meant_by(&self, pronoun: &str, rows: &Select) -> Option<Cond> {
        let (others, own) = match pronoun {
            "he" | "him" | "his" => ("given.women", "given.male"),
            "she" | "her" => ("given.men", "given.female"),
            _ => return Some(rows.filter.clone()),
        };
        if let Cond::Cmp(path, Op::Eq, Operand::Lit(lit)) = &rows.filter {
            let given = split_text(lit.value.as_str().unwrap_or_default()).into_iter().next();
            let is_name = self.tables[path.table].label == Some(path.column);
            if is_name && given.is_some_and(|given| LEXICON.has(others, &given)) {
                return None;
            }
        }
        let is_sex =
            |column: &Column| split_name(&column.name).iter().any(|word| LEXICON.has("sex_columns", word));
        let Some(column) = self.tables[rows.table].columns.iter().position(is_sex) else {
            return Some(rows.filter.clone());
        };
        let path = Path { hops: Vec::new(), table: rows.table, column };
        let values = self.texts(&path).into_iter();
        let fits = values.filter(|text| split_text(text).iter().any(|word| LEXICON.has(own, word)));
        let lit = |text: &String| Lit { value: Value::from(text.as_str()), at: (0, 0) };
        let fits: Vec<Cond> =
            fits.map(|text| Cond::Cmp(path.clone(), Op::Eq, Operand::Lit(lit(text)))).collect();
        (!fits.is_empty()).then(|| Cond::all(vec![rows.filter.clone(), Cond::any(fits)]))
    }
}

/// The column and the value of a condition that asks for one.
fn equal(cond: &Cond) -> Option<(&Path, &Lit)> {
    match cond {
        Cond::Cmp(path, Op::Eq, Operand::Lit(lit)) => Some((path, lit)),
        _ => None,
    }
}
