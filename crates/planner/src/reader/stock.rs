//! How many: what is in stock, what was sold, and which number a bare one is about.

use std::cmp::Ordering;

use serde_json::json;

use super::amounts;
use super::form::{Cond, Lit, Op, Operand, Path};
use super::index::{Column, Sort, What, split_name};
use super::lexicon::LEXICON;
use super::parse::{All, Parser};

impl Parser<'_> {
    /// `in stock`, `out of stock`.
    pub(super) fn stocked(&self, place: usize) -> All<Cond> {
        let Some(column) = self.role("quantity") else { return Vec::new() };
        let none = Operand::Lit(Lit { value: json!(0), at: (0, 0) });
        let have = self.one("have", place).unwrap_or(place);
        // What the owner declares counts, where the words are the same.
        let declared = self.mentions(have).into_iter().filter_map(|(what, end, _)| match what {
            What::Verb(which) => {
                let verb = &self.index.verbs[which];
                (verb.is_condition && verb.table == self.focus).then_some(end)
            }
            _ => None,
        });
        let declared: Vec<usize> = declared.collect();
        let found = [("stock_no", Op::Le), ("stock_yes", Op::Gt)].into_iter().filter_map(|(class, op)| {
            let end = self.stock(class, have).filter(|end| !declared.contains(end))?;
            Some((Cond::Cmp(self.own(column), op, none.clone()), end, 0))
        });
        found.collect()
    }

    /// The end of words for what is in stock, or is not; none where a column has these words as a value.
    pub(crate) fn stock(&self, class: &str, place: usize) -> Option<usize> {
        let end = self.one(class, place)?;
        let is_value = |at: usize| self.stock_values(at).iter().any(|(.., after)| *after == end);
        (!(place..end).any(is_value)).then_some(end)
    }

    /// `available`, where a column of the table says so: the column, the value, and the end.
    pub(super) fn stock_values(&self, place: usize) -> Vec<(usize, Lit, usize)> {
        let Some(token) = self.tokens.get(place) else { return Vec::new() };
        let is_stock = |end: usize| {
            let said: Vec<&str> = self.tokens[place..end].iter().map(|token| token.lower.as_str()).collect();
            ["stock_yes", "stock_no"].iter().any(|class| LEXICON.has(class, &said.join(" ")))
        };
        let small = self.index.small.get(&token.lower).into_iter().flatten();
        let small = small.filter(|(table, ..)| *table == self.focus);
        let small = small.map(|(_, column, value)| (*column, value.clone(), place + 1));
        let named =
            self.index.at(self.tokens, place).into_iter().filter_map(|(what, length, _)| match what {
                What::Value(table, column, value) if table == self.focus => {
                    Some((column, value, place + length))
                }
                _ => None,
            });
        let all = small.chain(named).filter(|(.., end)| is_stock(*end));
        all.map(|(column, value, end)| (column, self.lit(value, place, end), end)).collect()
    }

    /// `with defects`: more than 0 of them; `without defects`: 0. A row without a number may have some, unless no row has 0
    /// and having none is written so. What some of it is where numbers are below 0, nobody can tell.
    pub(super) fn amount(&self, path: &Path, is_some: bool) -> Option<Cond> {
        let column = &self.index.tables[path.table].columns[path.column];
        let beside = |op: Op| {
            let zero = Operand::Lit(Lit { value: json!(0), at: (0, 0) });
            Cond::Cmp(path.clone(), op, zero)
        };
        let is_counted = column.sort == Sort::Whole;
        self.is_quantity(path).then_some(())?;
        match column.least {
            Some(Ordering::Less) => None,
            None if !is_counted || column.has_nulls && !is_some => None,
            _ if is_some => Some(beside(Op::Gt)),
            Some(Ordering::Greater) if column.has_nulls => Some(Cond::Null(path.clone())),
            _ => Some(beside(Op::Eq)),
        }
    }

    /// Whether a bare bound can be about nothing but the price: there is no other number, or none but those of what is in
    /// stock, which nobody calls `under 100`.
    pub(super) fn says_price(&self, place: usize) -> bool {
        let is_counted = LEXICON.has("count_bounds", &self.tokens[self.fill(place)].lower);
        let stock = self.role("quantity").filter(|_| !is_counted);
        let costs: Vec<usize> = self.costs().chain(stock).collect();
        let columns = &self.index.tables[self.focus].columns;
        let is_other = |at: &usize| {
            let is_own = columns[*at].cut.is_none() && columns[*at].within.is_none();
            is_own && self.is_quantity(&self.own(*at)) && !costs.contains(at)
        };
        !(0..columns.len()).any(|at| is_other(&at))
    }

    /// The column of records that says how many pieces something was done to, if there is one; `None` if another number may
    /// say it, or if it says what is in stock.
    #[expect(clippy::option_option, reason = "no column is another answer than none that is certain")]
    pub(super) fn pieces(&self, table: usize) -> Option<Option<usize>> {
        let path = |column: usize| Path { hops: Vec::new(), table, column };
        let columns = &self.index.tables[table].columns;
        if let Some(column) = self.index.role(table, "quantity") {
            let is_declared = columns[column].role.is_some();
            return (is_declared || !self.is_stock(&path(column))).then_some(Some(column));
        }
        let is_money = |column: &Column| {
            let words = split_name(&column.name);
            words.iter().any(|word| LEXICON.has("money_columns", word))
                || amounts::currency_of(column).is_some()
        };
        let may_count = |at: &usize| {
            let column = &columns[*at];
            column.sort == Sort::Whole
                && column.cut.is_none()
                && self.is_quantity(&path(*at))
                && !is_money(column)
        };
        (!(0..columns.len()).any(|at| may_count(&at))).then_some(None)
    }

    /// Whether a column says what is there, and not what was sold.
    pub(crate) fn is_stock(&self, path: &Path) -> bool {
        let words = split_name(&self.index.tables[path.table].columns[path.column].name);
        let is_kept = words.iter().any(|word| LEXICON.has("kept_columns", word));
        is_kept || !self.files && path.table == self.focus && self.role("quantity") == Some(path.column)
    }
}
