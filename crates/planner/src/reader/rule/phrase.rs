//! What a rule says of a column: `not be null`, `be between 1 and 100`, `end with .com`, `exist in users`.

use ordain_types::{Side, Test};
use serde_json::{Value, json};

use super::claim::{Claim, Demand, params};
use super::days::{as_sides, beside_days};
use super::made::{compare, formula};
use crate::reader::form::{Cond, Lit, Op, Operand};
use crate::reader::index::{Column, Sort, What};
use crate::reader::lexicon::LEXICON;
use crate::reader::parse::{All, Parser, prune};
use crate::reader::token::{Kind, Unit};

impl Parser<'_> {
    pub(super) fn name_of(&self, column: usize) -> String {
        self.index.tables[self.focus].columns[column].name.clone()
    }

    /// A column of the judged table, with the words around it that say nothing: `the value of price in orders`.
    pub(super) fn own_column(&self, place: usize) -> All<usize> {
        let mut start = self.each(place);
        if let Some(end) = self.one("rule.value_of", start) {
            start = self.each(end);
        }
        let mut found: All<usize> = Vec::new();
        for (path, end, cost) in self.columns(start) {
            if path.hops.is_empty() && path.table == self.focus {
                // Where a column is called so, the word means that column.
                let is_column = |end: &usize| self.columns(end - 1).is_empty();
                let end = self.one("rule.values", end).filter(is_column).unwrap_or(end);
                for column in self.namesakes(path.column) {
                    found.push((column, end, cost));
                    found.extend(self.in_table(end).map(|end| (column, end, cost)));
                }
            }
        }
        found
    }

    /// A column and those that have its name in the file too, which are told apart by a number: `amount`, `amount.1`.
    fn namesakes(&self, column: usize) -> impl Iterator<Item = usize> {
        let columns = &self.index.tables[self.focus].columns;
        let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
        let is_namesake = move |other: &str| {
            let rest = other.strip_prefix(columns[column].name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('.').is_some_and(is_number))
        };
        (0..columns.len()).filter(move |other| is_namesake(&columns[*other].name))
    }

    /// Passes over articles, `each` and `every`.
    pub(super) fn each(&self, place: usize) -> usize {
        let mut place = self.determiners(place);
        while let Some(end) = self.exact("each", place).into_iter().max() {
            place = self.determiners(end);
        }
        place
    }

    /// `in orders`, `of every order`, where that is the judged table.
    pub(super) fn in_table(&self, place: usize) -> Option<usize> {
        let start = self.each(self.one("rule.of", place)?);
        let own = |(what, end, _): (What, usize, u32)| (what == What::Table(self.focus)).then_some(end);
        let end = self.mentions(start).into_iter().find_map(own);
        end.map(|end| self.one("rule.rows", end).unwrap_or(end)).or_else(|| self.one("rule.rows", start))
    }

    /// What is said of a column from its verb on, with what must be so: `must not be null and must be above 0`.
    pub(super) fn said_of(&self, column: usize, place: usize) -> All<Demand> {
        let mut found: All<Demand> = Vec::new();
        for (start, so, _) in self.modals(place) {
            for (claim, end, cost) in self.one_of(column, start) {
                let first = claim.demand(so);
                for and in self.lex("and", self.sign(',', end).unwrap_or(end)) {
                    let mut more = Vec::new();
                    for (next, next_so, is_said) in self.modals(and) {
                        // `must not be null and above 0`: whether the `not` goes on is not clear.
                        if is_said || so {
                            more.extend(
                                self.one_of(column, next)
                                    .into_iter()
                                    .map(|(claim, end, cost)| (claim.demand(next_so), end, cost)),
                            );
                        }
                    }
                    for (second, end, less) in more {
                        found.extend(first.and(&second).map(|both| (both, end, cost + less)));
                    }
                }
                found.push((first, end, cost));
            }
        }
        prune(found)
    }

    /// Where the predicate begins after `must`, `may not` or `is`; whether it must be so; and whether such a word was said.
    pub(super) fn modals(&self, place: usize) -> Vec<(usize, bool, bool)> {
        let mut found = vec![(place, true, false)];
        for end in self.lex("rule.must", place) {
            let end = self.one("rule.always", end).unwrap_or(end);
            found.push((end, true, true));
            found.extend(self.one("not", end).map(|end| (end, false, true)));
        }
        for end in self.lex("rule.may", place) {
            found.extend(self.one("not", end).map(|end| (end, false, true)));
        }
        found
    }

    /// One predicate, or several with `or`.
    fn one_of(&self, column: usize, place: usize) -> All<Claim> {
        let mut found = self.predicate(column, place);
        let mut at = 0;
        while at < found.len() && found.len() < 30 {
            let (claim, end, cost) = found[at].clone();
            at += 1;
            let Claim::Test(first) = claim else { continue };
            for or in self.lex("or", end) {
                for (second, end, more) in self.predicate(column, or) {
                    if let Claim::Test(second) = second {
                        found.push((Claim::Test(Test::Any(vec![first.clone(), second])), end, cost + more));
                    }
                }
            }
        }
        found
    }

    fn predicate(&self, column: usize, place: usize) -> All<Claim> {
        let mut starts = vec![(place, true)];
        for class in ["be", "do", "rule.be"] {
            for end in self.lex(class, place) {
                starts.push((end, true));
                starts.extend(self.one("not", end).map(|end| (end, false)));
            }
        }
        let mut found: All<Claim> = Vec::new();
        for (start, so) in starts {
            for (claim, end, cost) in self.positive(column, start) {
                match claim {
                    claim if so => found.push((claim, end, cost)),
                    Claim::Test(test) => found.push((Claim::Test(Test::Not(Box::new(test))), end, cost)),
                    // `is not in users` is flagged, never demanded.
                    Claim::Known(..) => found.push((Claim::Missing(Box::new(claim)), end, cost)),
                    _ => {}
                }
            }
        }
        prune(found)
    }

    /// A predicate without `not`.
    fn positive(&self, column: usize, place: usize) -> All<Claim> {
        let name = self.name_of(column);
        let mut found: All<Claim> = self
            .tests(column, place)
            .into_iter()
            .map(|(test, end, cost)| (Claim::Test(test), end, cost))
            .collect();
        let unique = || Claim::Unique(vec![name.clone()]);
        found.extend(self.one("rule.unique", place).map(|end| (unique(), end, 0)));
        found
            .extend(self.one("rule.repeated", place).map(|end| (Claim::Missing(Box::new(unique())), end, 0)));
        found.extend(self.known(column, place));
        found.extend(self.followed(&name, place));
        found.extend(self.typed(&name, place));
        for have in self.lex("have", place) {
            if let Some(end) = self.one("rule.one", have) {
                for (other, end, cost) in
                    self.own_column(end).into_iter().filter(|(other, ..)| *other != column)
                {
                    let pair = json!({"determinant": [name], "dependent": [self.name_of(other)]});
                    found.push((Claim::Whole("functional_dependency", pair), end, cost));
                }
            }
        }
        found
    }

    /// Conditions on the column's value in one row.
    pub(super) fn tests(&self, column: usize, place: usize) -> All<Test> {
        let name = self.name_of(column);
        let side = Side::Column(name.clone());
        let mut found: All<Test> = Vec::new();
        found.extend(self.one("rule.null", place).map(|end| (Test::Null(name.clone()), end, 0)));
        found.extend(
            self.one("rule.filled", place).map(|end| (Test::Not(Box::new(Test::Null(name.clone()))), end, 0)),
        );
        found.extend(self.one("rule.weekend", place).map(|end| (Test::Weekend(name.clone()), end, 0)));
        found.extend(self.said_of_days(&side, place));
        found.extend(self.signed(&side, place));
        found.extend(self.compared_with(&side, place));
        found.extend(self.listed_values(column, place));
        found.extend(self.pattern(&name, place));
        found.extend(self.lengths(&name, place));
        found
    }

    /// `positive`, `negative`, `non-negative`.
    pub(super) fn signed(&self, side: &Side, place: usize) -> All<Test> {
        let Some((end, op)) = self.meaning("rule_zero", place) else { return Vec::new() };
        vec![(compare(side.clone(), op, Side::Value(json!(0))), end, 0)]
    }

    /// `above 0`, `between 1 and 100`, `before paid_at`, `at most qty times unit_price`.
    pub(super) fn compared_with(&self, side: &Side, place: usize) -> All<Test> {
        let mut found: All<Test> = Vec::new();
        if let Some((end, op)) = self.meaning("rule_signs", place) {
            let is_day = self.column_of(side).is_some_and(|column| column.sort == Sort::Day);
            // Beside days a number can only be a year.
            let sides =
                self.side(end).into_iter().filter(|(other, ..)| !is_day || !matches!(other, Side::Value(_)));
            found.extend(
                sides.map(|(other, end, cost)| {
                    (compare(side.clone(), op, other), self.unit_of(side, end), cost)
                }),
            );
            found.extend(
                self.percent(side, end).map(|(value, end)| (compare(side.clone(), op, value), end, 0)),
            );
            let days = self.calendar(end).or_else(|| self.year(end).filter(|_| is_day).map(as_sides));
            found.extend(days.map(|(from, until, end)| (beside_days(side, op, from, until), end, 0)));
        }
        if let Some((_, lit, end)) = self.number(place) {
            for (class, op) in [("or_less", "<="), ("or_more", ">=")] {
                let value = Side::Value(lit.value.clone());
                found.extend(self.one(class, end).map(|end| (compare(side.clone(), op, value), end, 0)));
            }
        }
        for start in self.lex("on_day", place) {
            if let Some((from, until, end)) = self.calendar(start).or_else(|| self.year(start).map(as_sides))
            {
                found.push((beside_days(side, "==", from, until), end, 0));
            }
        }
        if let Some(start) = self.one("rule.between", place) {
            let joint = |end: usize| self.one("and", end).or_else(|| self.one("to", end));
            if let Some((_, low, end)) = self.number(start)
                && let Some((_, high, end)) = joint(end).and_then(|end| self.number(end))
            {
                let both = vec![
                    compare(side.clone(), ">=", Side::Value(low.value)),
                    compare(side.clone(), "<=", Side::Value(high.value)),
                ];
                found.push((Test::All(both), self.unit_of(side, end), 0));
            }
            if let Some((from, _, end)) = self.calendar(start)
                && let Some((_, until, end)) = joint(end).and_then(|end| self.calendar(end))
            {
                found.push((beside_days(side, "==", from, until), end, 0));
            }
            for (low, end, cost) in self.operand(start) {
                for (high, end, more) in joint(end).map(|end| self.operand(end)).unwrap_or_default() {
                    if matches!((&low, &high), (Side::Column(_), Side::Column(_))) {
                        let both =
                            vec![compare(side.clone(), ">=", low.clone()), compare(side.clone(), "<=", high)];
                        found.push((Test::All(both), end, cost + more));
                    }
                }
            }
        }
        found
    }

    /// The column that a side is.
    pub(super) fn column_of(&self, side: &Side) -> Option<&Column> {
        let Side::Column(name) = side else { return None };
        self.index.tables[self.focus].columns.iter().find(|column| column.name == *name)
    }

    /// `10%` beside a column of percents, whose values are numbers of percent.
    fn percent(&self, side: &Side, place: usize) -> Option<(Side, usize)> {
        let is_percent = self.column_of(side)?.unit.as_deref() == Some("%");
        let (number, lit, end) = self.number(place)?;
        (is_percent && number.unit == Unit::Percent).then_some((Side::Value(lit.value), end))
    }

    /// Passes over the declared unit of a column.
    fn unit_of(&self, side: &Side, end: usize) -> usize {
        let unit = self.column_of(side).and_then(|column| column.unit.as_deref());
        let is_unit = self.tokens.get(end).is_some_and(|token| {
            unit.is_some_and(|unit| token.lower == unit.to_lowercase() || token.stem == unit.to_lowercase())
        });
        if is_unit { end + 1 } else { end }
    }

    /// One side of a comparison: a number, a column, or a formula of two.
    pub(super) fn side(&self, place: usize) -> All<Side> {
        let mut found = self.operand(place);
        for (left, end, cost) in found.clone() {
            let Some((after, sign)) = self.meaning("rule_arithmetic", end) else { continue };
            for (right, end, more) in self.operand(after) {
                found.push((formula(sign, left.clone(), right), end, cost + more));
            }
        }
        if let Some((start, sign)) = self.meaning("rule_formulas", place) {
            for (left, end, cost) in self.operand(start) {
                for (right, end, more) in
                    self.one("and", end).map(|end| self.operand(end)).unwrap_or_default()
                {
                    found.push((formula(sign, left.clone(), right), end, cost + more));
                }
            }
        }
        found.extend(self.one("rule.now", place).map(|end| (Side::Now, end, 0)));
        found
    }

    fn operand(&self, place: usize) -> All<Side> {
        let mut found: All<Side> = self
            .own_column(place)
            .into_iter()
            .map(|(column, end, cost)| (Side::Column(self.name_of(column)), end, cost))
            .collect();
        // Whether `5%` is 5 or 0.05 here is not known.
        if let Some((number, lit, end)) =
            self.number(place).filter(|(number, ..)| matches!(number.unit, Unit::Plain | Unit::Money(_)))
        {
            let _ = number;
            found.push((Side::Value(lit.value), end, 0));
        }
        found
    }

    /// `one of paid, open or "on hold"`, `500, 2000 or 8000`, `paid`.
    fn listed_values(&self, column: usize, place: usize) -> All<Test> {
        let name = self.name_of(column);
        let said = self.one("rule.one_of", place);
        let mut found: All<Test> = Vec::new();
        let mut open: Vec<(Vec<Value>, usize)> = vec![(Vec::new(), said.unwrap_or(place))];
        while let Some((values, start)) = open.pop() {
            if values.len() > 40 {
                continue;
            }
            for (value, end) in self.list_value(column, start, said.is_some()) {
                let values = [values.clone(), vec![value]].concat();
                let comma = self.sign(',', end).unwrap_or(end);
                let joint = [self.one("or", comma), self.one("and", comma).filter(|_| said.is_some())];
                let next = joint.into_iter().flatten().max().or((comma != end).then_some(comma));
                open.extend(next.map(|next| (values.clone(), next)));
                let end = if self
                    .tokens
                    .get(end)
                    .is_some_and(|token| matches!(token.kind, Kind::Sign(')' | ']' | '}')))
                    && said.is_some()
                {
                    end + 1
                } else {
                    end
                };
                found.push((Test::In { column: name.clone(), values }, end, 0));
            }
        }
        // Only the whole list counts, not its beginning.
        let longest = found.iter().map(|(_, end, _)| *end).max().unwrap_or_default();
        found.retain(|(_, end, _)| *end == longest);
        found
    }

    /// The values of a column that are named at a place.
    fn known_values(&self, column: usize, place: usize) -> Vec<(Value, usize)> {
        let known = self.mentions(place).into_iter().filter_map(|(what, end, _)| match what {
            What::Value(table, of, value) if (table, of) == (self.focus, column) => {
                Some((self.as_written(value, place, end), end))
            }
            _ => None,
        });
        let mut known: Vec<(Value, usize)> = known.collect();
        known.dedup();
        known
    }

    /// A value that rows have as the rule writes it: what differs by case is another value.
    fn as_written(&self, value: Value, place: usize, end: usize) -> Value {
        let words: Vec<&str> = self.tokens[place..end].iter().map(|token| token.text.as_str()).collect();
        let written = words.join(" ");
        let is_same = value.as_str().is_some_and(|value| value.to_lowercase() == written.to_lowercase());
        if is_same { json!(written) } else { value }
    }

    /// A value of a list. After `one of` every word is one, known or not.
    fn list_value(&self, column: usize, place: usize, is_list: bool) -> Vec<(Value, usize)> {
        // `the end` may be a value with its article.
        let whole = self.known_values(column, place);
        let filled = self.fill(place);
        if filled != place && !whole.is_empty() {
            return whole;
        }
        let place = filled;
        let Some(token) = self.tokens.get(place) else { return Vec::new() };
        let sort = self.index.tables[self.focus].columns[column].sort;
        let is_text = matches!(sort, Sort::Text | Sort::Prose);
        match &token.kind {
            Kind::Quoted => return vec![(json!(token.text), place + 1)],
            Kind::Sign('(' | '[' | '{') if is_list => return self.list_value(column, place + 1, is_list),
            Kind::Number(_) | Kind::Sign('-') if !is_text => {
                return self
                    .number(place)
                    .filter(|(number, ..)| number.unit == Unit::Plain)
                    .map(|(_, lit, end)| (lit.value, end))
                    .into_iter()
                    .collect();
            }
            Kind::Word | Kind::Number(_) => {}
            _ => return Vec::new(),
        }
        let flag = match token.lower.as_str() {
            "true" | "yes" | "ja" | "oui" => Some(true),
            "false" | "no" | "nein" | "non" => Some(false),
            _ => None,
        };
        if let (Sort::Flag, Some(flag)) = (sort, flag) {
            return vec![(json!(flag), place + 1)];
        }
        let known = self.known_values(column, place);
        if !known.is_empty() || !is_list || !is_text {
            return known;
        }
        let words = self.tokens[place..].iter().take_while(|token| {
            matches!(token.kind, Kind::Word | Kind::Number(_))
                && !matches!(token.lower.as_str(), "or" | "and")
        });
        let words: Vec<&str> = words.map(|token| token.text.as_str()).collect();
        // A word of the language after an unknown value may belong to the rule.
        let is_plain = words.iter().skip(1).all(|word| !LEXICON.is_operator(&word.to_lowercase()));
        if words.is_empty() || !is_plain || words.len() > 4 {
            return Vec::new();
        }
        vec![(json!(words.join(" ")), place + words.len())]
    }

    /// `start with "O-"`, `match /^O\d+$/`, `contain digits`, `three capital letters, a dash and four digits`.
    fn pattern(&self, name: &str, place: usize) -> All<Test> {
        let matches = |pattern: String| Test::Matches { column: name.to_owned(), pattern };
        let mut found: All<Test> = Vec::new();
        for (class, before, after) in
            [("rule.starts", "^", ""), ("rule.ends", "", "$"), ("rule.contains", "", "")]
        {
            if let Some((text, end)) = self.one(class, place).and_then(|end| self.raw(end)) {
                found.push((matches(format!("{before}{}{after}", escape(&text))), end, 0));
            }
        }
        if let Some((pattern, end)) = self.one("rule.matches", place).and_then(|end| self.raw(end)) {
            found.push((matches(pattern), end, 0));
        }
        if let Some(end) = self.one("rule.contains", place)
            && let Some((end, class)) = self.meaning("rule_characters", end)
        {
            found.push((matches(class.to_owned()), end, 0));
        }
        let (mut pattern, mut at, mut parts) = (String::new(), self.one("have", place).unwrap_or(place), 0);
        at = self.one("rule.exactly", at).unwrap_or(at);
        while let Some((text, end)) = self.characters(at) {
            pattern.push_str(&text);
            parts += 1;
            found.push((matches(format!("^{pattern}$")), end, 1));
            let comma = self.sign(',', end).unwrap_or(end);
            let next = self.one("rule.then", comma).unwrap_or(comma);
            if next == end {
                break;
            }
            at = next;
        }
        if parts > 1 {
            let longest = found.iter().map(|(_, end, _)| *end).max().unwrap_or_default();
            found.retain(|(_, end, _)| *end == longest);
        }
        found
    }

    /// `three capital letters`, `a dash`.
    fn characters(&self, place: usize) -> Option<(String, usize)> {
        let number = self.number(place).filter(|(number, ..)| {
            number.unit == Unit::Plain && number.value.fract() == 0.0 && number.value > 0.0
        });
        let (count, start) = number.map_or((None, place), |(number, _, end)| (Some(number.value), end));
        let (end, class) = self.meaning("rule_characters", start)?;
        let is_class = class.starts_with(['[', '\\']) && class.len() > 2;
        match count {
            Some(count) => Some((format!("{class}{{{count}}}"), end)),
            None if !is_class => Some((class.to_owned(), end)),
            None => None,
        }
    }

    /// A text as it is written: in quotes, between slashes, or up to the next blank.
    fn raw(&self, place: usize) -> Option<(String, usize)> {
        // `contain an @` has an article; of `start with A B` and `contain the end` no word may be left out.
        let filled = self.fill(place);
        let is_sign = self.tokens.get(filled).is_some_and(|token| matches!(token.kind, Kind::Sign(_)));
        let is_article =
            self.tokens.get(place).is_some_and(|token| matches!(token.text.as_str(), "a" | "an" | "the"));
        let place = if filled == place + 1 && is_article && is_sign { filled } else { place };
        let token = self.tokens.get(place)?;
        if token.kind == Kind::Quoted {
            return Some((token.text.clone(), place + 1));
        }
        let rest = self.text.get(token.at.0..)?;
        let (inner, length) = match rest.strip_prefix('/') {
            Some(rest) => rest.split_once('/').map(|(inner, _)| (inner, inner.len() + 2))?,
            None => bare(rest)?,
        };
        let until = token.at.0 + length;
        let end = self.tokens.iter().position(|token| token.at.0 >= until).unwrap_or(self.tokens.len());
        Some((inner.to_owned(), end))
    }

    /// `between 3 and 50 characters`, `at least 3 characters long`, `exactly 2 letters`.
    fn lengths(&self, name: &str, place: usize) -> All<Test> {
        let start = self.one("have", place).unwrap_or(place);
        let start = self.one("rule.length", start).unwrap_or(start);
        let whole = |value: &Value| value.as_u64();
        let mut found: Vec<(Option<u64>, Option<u64>, usize)> = Vec::new();
        if let Some(begin) = self.one("rule.between", start)
            && let Some((_, low, end)) = self.number(begin)
            && let Some((_, high, end)) =
                self.one("and", end).or_else(|| self.one("to", end)).and_then(|end| self.number(end))
        {
            found.push((whole(&low.value), whole(&high.value), end));
        }
        let exactly = self.one("rule.exactly", start).unwrap_or(start);
        if let Some((_, lit, end)) = self.number(exactly) {
            found.push((whole(&lit.value), whole(&lit.value), end));
            if let Some((_, high, end)) = self.one("to", end).and_then(|end| self.number(end)) {
                found.push((whole(&lit.value), whole(&high.value), end));
            }
        }
        if let Some((end, op)) = self.meaning("rule_signs", start)
            && let Some((_, lit, end)) = self.number(end)
        {
            let bound = whole(&lit.value);
            match op {
                ">=" => found.push((bound, None, end)),
                ">" => found.push((bound.map(|bound| bound + 1), None, end)),
                "<=" => found.push((None, bound, end)),
                "<" => found.push((None, bound.and_then(|bound| bound.checked_sub(1)), end)),
                _ => {}
            }
        }
        let tests = found.into_iter().filter(|(min, max, _)| min.is_some() || max.is_some());
        let ended = tests.filter_map(|(min, max, end)| {
            let after = self.one("rule.long", end)?;
            Some((Test::Length { column: name.to_owned(), min, max }, after, 0))
        });
        ended.collect()
    }

    /// `exist in users`, `be missing from users`, `refer to a user`.
    fn known(&self, column: usize, place: usize) -> All<Claim> {
        let mut found: All<Claim> = Vec::new();
        for (class, is_there) in [("rule.known_in", true), ("rule.missing_from", false)] {
            for start in self.lex(class, place) {
                let start = self.each(start);
                for (what, end, cost) in self.mentions(start) {
                    let What::Table(other) = what else { continue };
                    if other == self.focus {
                        continue;
                    }
                    let end = self.one("rule.table", end).unwrap_or(end);
                    for (theirs, end, more) in self.their_column(column, other, end) {
                        let known = self.known_claim(column, other, theirs);
                        let claim = if is_there { known } else { Claim::Missing(Box::new(known)) };
                        found.push((claim, end, cost + more));
                    }
                }
            }
        }
        found
    }

    pub(super) fn known_claim(&self, column: usize, other: usize, theirs: usize) -> Claim {
        let table = &self.index.tables[other];
        Claim::Known(self.name_of(column), table.name.clone(), table.columns[theirs].name.clone())
    }

    /// The column of another table that a column refers to: declared, of the same name, or the only id.
    pub(super) fn their_column(&self, column: usize, other: usize, end: usize) -> All<usize> {
        if let Some((table, theirs)) =
            self.index.tables[self.focus].columns[column].refers.filter(|(table, _)| *table == other)
        {
            let _ = table;
            return vec![(theirs, end, 0)];
        }
        let theirs = &self.index.tables[other].columns;
        let own = self.name_of(column);
        let same = theirs.iter().position(|column| column.name == own);
        let id = || theirs.iter().position(|theirs| theirs.name == "id" && own.ends_with("_id"));
        same.or_else(id).map(|theirs| (theirs, end, 0)).into_iter().collect()
    }

    /// `increase over time for each sensor_id`.
    fn followed(&self, name: &str, place: usize) -> All<Claim> {
        let strict = self.one("rule.strictly", place);
        let start = strict.unwrap_or(place);
        let Some((end, direction)) = self.meaning("rule_directions", start) else { return Vec::new() };
        let mut ends: Vec<(Option<String>, usize)> = vec![(None, end)];
        if let (Some(end), Some(day)) = (self.one("rule.over_time", end), self.index.day(self.focus)) {
            ends.push((Some(self.name_of(day)), end));
        }
        let mut found: All<Claim> = Vec::new();
        for (order, end) in ends {
            for (by, end, cost) in self.groups(end) {
                let rule = params([
                    ("column", Some(json!(name))),
                    ("direction", Some(json!(direction))),
                    ("strict", Some(json!(strict.is_some()))),
                    ("order_by", order.clone().map(Value::from)),
                    ("by", by.map(Value::from)),
                ]);
                found.push((Claim::Whole("monotonic", rule), end, cost));
            }
        }
        found
    }

    /// `for each sensor_id`, or nothing.
    pub(super) fn groups(&self, place: usize) -> All<Option<Vec<String>>> {
        let mut found: All<Option<Vec<String>>> = vec![(None, place, 0)];
        for start in self.lex("rule.per", place) {
            found.extend(
                self.own_column(start)
                    .into_iter()
                    .map(|(column, end, cost)| (Some(vec![self.name_of(column)]), end, cost)),
            );
        }
        found
    }

    /// `a valid email address`, `a whole number`.
    fn typed(&self, name: &str, place: usize) -> All<Claim> {
        let Some((end, kind)) = self.meaning("rule_types", place) else { return Vec::new() };
        vec![(Claim::Whole("dtype", json!({"column": name, "type": kind})), end, 0)]
    }

    /// A condition of requests as a condition of rules; `None` for what a rule about single rows cannot say.
    pub(super) fn test_of(&self, cond: &Cond) -> Option<Test> {
        let all = |conds: &[Cond]| conds.iter().map(|cond| self.test_of(cond)).collect::<Option<Vec<Test>>>();
        let own = |path: &crate::reader::form::Path| {
            (path.hops.is_empty() && path.table == self.focus).then(|| self.name_of(path.column))
        };
        Some(match cond {
            Cond::And(conds) => Test::All(all(conds)?),
            Cond::Or(conds) => Test::Any(all(conds)?),
            Cond::Not(inner) => Test::Not(Box::new(self.test_of(inner)?)),
            Cond::Null(path) => Test::Null(own(path)?),
            Cond::Days(path, from, until) => {
                let day = |lit: &Lit| Side::Value(lit.value.clone());
                beside_days(&Side::Column(own(path)?), "==", day(from), day(until))
            }
            Cond::Cmp(path, Op::Eq, Operand::Lit(lit)) => {
                Test::In { column: own(path)?, values: vec![lit.value.clone()] }
            }
            Cond::Cmp(path, op, operand) => {
                let right = match operand {
                    Operand::Lit(lit) => Side::Value(lit.value.clone()),
                    Operand::Column(other) => Side::Column(own(other)?),
                    Operand::Of(..) => return None,
                };
                let op = if *op == Op::Eq { "==" } else { op.sign() };
                compare(Side::Column(own(path)?), op, right)
            }
            Cond::Word(..) | Cond::Some(..) => return None,
        })
    }
}

/// A run of signs at the start of a text; a plain word could be one of the rule's own, so it is none.
fn bare(text: &str) -> Option<(&str, usize)> {
    let run = text.split_whitespace().next()?.trim_end_matches(['.', ',', ';']);
    let has_sign = run.chars().any(|character| !character.is_alphanumeric());
    let is_mark = |test: fn(char) -> bool| !run.is_empty() && run.chars().all(test);
    (has_sign || is_mark(char::is_uppercase) || is_mark(|c| c.is_ascii_digit())).then_some((run, run.len()))
}

fn escape(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_alphanumeric() { vec![c] } else { vec!['\\', c] }).collect()
}
