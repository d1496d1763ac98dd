//! What is asked of files beyond what is asked of store tables: several figures, shares, correlations, pictures.

use crate::reader::form::{Asked, Cond, Form, Measure, Output, Path, Select};
use crate::reader::index::{Sort, What};
use crate::reader::parse::{All, Parser};

impl Parser<'_> {
    /// Questions whose answer is drawn or saved.
    pub(crate) fn outputs(&self) -> Vec<(Form, u32)> {
        let mut found: All<Form> = Vec::new();
        let start = self.opening();
        let start = self.one("polite", start).or_else(|| self.one("may_i", start)).unwrap_or(start);
        let mut begins: Vec<(usize, Option<Output>)> = Vec::new();
        for (class, output) in [
            ("file.bar", Some(Output::Bar)),
            ("file.line", Some(Output::Line)),
            ("file.pie", Some(Output::Pie)),
            ("file.plot", None),
            ("file.save", None),
        ] {
            for shown in
                self.lex("show", start).into_iter().chain(self.lex("file.draw", start)).chain([start])
            {
                begins.extend(self.lex(class, shown).into_iter().map(|end| (end, output)));
            }
        }
        for (begin, output) in begins {
            let begin = self.one("of", begin).unwrap_or(begin);
            for (select, end, cost) in self.asked(begin) {
                for (named, end) in self.output_after(end) {
                    let output = match (output, named) {
                        (Some(one), Some(other)) if one != other => continue,
                        (one, other) => other.or(one).unwrap_or_else(|| self.picture(&select)),
                    };
                    let is_file = matches!(output, Output::Csv | Output::Workbook);
                    let is_series = matches!(&select.asked, Asked::Figure { by, .. } if by.len() == 1);
                    if is_series
                        || is_file && !matches!(select.asked, Asked::Holds(_) | Asked::Correlation(..))
                    {
                        found.push((Form::Output(output, Box::new(select.clone())), end, cost));
                    }
                }
            }
        }
        found.extend(self.spreads(start));
        let is_torn = |form: &Form| match form {
            Form::Select(select) | Form::Output(_, select) => self.is_torn(&select.filter),
        };
        let whole = found.into_iter().filter(|(form, end, _)| self.is_end(*end) && !is_torn(form));
        whole.map(|(form, _, cost)| (form, cost)).collect()
    }

    /// Every question from a place on.
    fn asked(&self, place: usize) -> All<Select> {
        let mut found = self.file_figures(place);
        found.extend(self.counted(place));
        found.extend(self.figures(place));
        found.extend(self.listed(place));
        found.extend(self.number_by(place));
        found
    }

    /// `orders by region` in `plot the orders by region`: how many.
    pub(crate) fn number_by(&self, place: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        let start = self.one("how_many", place).unwrap_or(place);
        for (np, end, cost) in
            self.np(start).iter().filter(|(np, ..)| np.has_table() && !np.is_named() && np.order.is_none())
        {
            // `fee by member`, where the table is called so as well: rows, or a figure of the column?
            if start == place && self.says_rows_or_column(start) {
                continue;
            }
            for (by, end, more) in self.per(*end) {
                let asked = Asked::Figure { measure: Measure::Count, by, best: None };
                found.push((self.select(Cond::all(np.conds.clone()), asked), end, cost + more));
            }
        }
        found
    }

    /// `as a bar chart`, `as csv`, or nothing.
    fn output_after(&self, end: usize) -> Vec<(Option<Output>, usize)> {
        let mut found = vec![(None, end)];
        for (class, output) in [
            ("file.as_bar", Output::Bar),
            ("file.as_line", Output::Line),
            ("file.as_pie", Output::Pie),
            ("file.as_csv", Output::Csv),
            ("file.as_workbook", Output::Workbook),
        ] {
            found.extend(self.one(class, end).map(|end| (Some(output), end)));
        }
        found
    }

    /// Days are drawn as a line, anything else as bars.
    fn picture(&self, select: &Select) -> Output {
        let is_time = |path: &Path| self.index.tables[path.table].columns[path.column].cut.is_some();
        match &select.asked {
            Asked::Figure { by, .. } if by.iter().all(is_time) => Output::Line,
            _ => Output::Bar,
        }
    }

    /// `histogram of units`, `scatter plot of units against price`.
    fn spreads(&self, start: usize) -> All<Form> {
        let mut found: All<Form> = Vec::new();
        let numbers = |place: usize| {
            self.columns(place).into_iter().filter(|(path, ..)| self.is_number(path) && path.hops.is_empty())
        };
        for shown in self.lex("show", start).into_iter().chain(self.lex("file.draw", start)).chain([start]) {
            if let Some(begin) = self.one("file.histogram", shown) {
                for (path, end, cost) in numbers(begin) {
                    for (filter, end, more) in self.rows_after(end) {
                        found.push((
                            Form::Select(Box::new(self.select(filter, Asked::Spread(path.clone())))),
                            end,
                            cost + more,
                        ));
                    }
                }
            }
            if let Some(begin) = self.one("file.scatter", shown) {
                for (left, end, cost) in numbers(begin) {
                    let Some(next) = self.one("file.against", end).or_else(|| self.one("and", end)) else {
                        continue;
                    };
                    for (right, end, more) in numbers(next) {
                        let asked = Asked::Pairs(left.clone(), right);
                        found.push((
                            Form::Select(Box::new(self.select(Cond::always(), asked))),
                            end,
                            cost + more,
                        ));
                    }
                }
            }
        }
        found
    }

    /// Rows after `of`, `in` or nothing: what holds for them.
    fn rows_after(&self, place: usize) -> All<Cond> {
        let mut found: All<Cond> = vec![(Cond::always(), place, 0)];
        let rows =
            self.of_rows(place).into_iter().filter(|(np, ..)| np.order.is_none() && np.number.is_none());
        found.extend(rows.map(|(np, end, cost)| (Cond::all(np.conds), end, cost)));
        found.extend(self.conds(place).into_iter().map(|(cond, end, cost)| (cond, end, cost + 1)));
        found
    }

    /// Several figures, shares, correlations, the best few groups.
    pub(crate) fn file_figures(&self, start: usize) -> All<Select> {
        let mut begins = vec![start];
        for class in ["what_is", "show", "which"] {
            begins.extend(self.lex(class, start));
        }
        let mut found: All<Select> = Vec::new();
        for begin in begins {
            found.extend(self.several(begin));
            found.extend(self.shares(begin));
            found.extend(self.correlation(begin));
            found.extend(self.top(begin));
        }
        found
    }

    /// `average units and total revenue by product`, `minimum and maximum of units`.
    fn several(&self, place: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        let mut open: Vec<(Vec<Measure>, usize, u32)> = self
            .measures(place)
            .into_iter()
            .filter(|(_, filter, ..)| filter.is_empty())
            .map(|(measure, _, end, cost)| (vec![measure], end, cost))
            .collect();
        open.extend(self.shared_measures(place));
        while let Some((measures, end, cost)) = open.pop() {
            if measures.len() > 1 {
                for (filter, end, more) in self.rows_after(end) {
                    let asked = |by: Vec<Path>| Asked::Figures { measures: measures.clone(), by };
                    found.push((self.select(filter.clone(), asked(Vec::new())), end, cost + more));
                    for (by, end, less) in self.per(end) {
                        found.push((self.select(filter.clone(), asked(by)), end, cost + more + less));
                    }
                }
            }
            let comma = self.sign(',', end);
            let next = [comma, self.one("and", comma.unwrap_or(end))];
            for start in next.into_iter().flatten().filter(|_| measures.len() < 6) {
                for (measure, filter, end, more) in self.measures(start) {
                    if filter.is_empty() {
                        open.push(([measures.clone(), vec![measure]].concat(), end, cost + more));
                    }
                }
            }
        }
        found
    }

    /// `minimum and maximum of units`: several functions of one column.
    fn shared_measures(&self, place: usize) -> Vec<(Vec<Measure>, usize, u32)> {
        let mut functions = Vec::new();
        let mut at = place;
        while let Some((end, function)) = self.function(at) {
            functions.push(function);
            at = end;
            let comma = self.sign(',', at);
            let Some(next) = self.one("and", comma.unwrap_or(at)).or(comma) else { break };
            at = next;
        }
        if functions.len() < 2 {
            return Vec::new();
        }
        let start = self.one("of", at).unwrap_or(at);
        let columns = self.columns(start).into_iter().filter(|(path, ..)| self.is_number(path));
        columns
            .map(|(path, end, cost)| {
                (functions.iter().map(|function| Measure::Of(function, path.clone())).collect(), end, cost)
            })
            .collect()
    }

    /// `share of active users by plan`, `what percentage of orders are returned`.
    pub(crate) fn shares(&self, place: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        for begin in self.lex("file.share", place) {
            for (np, end, cost) in self.np(begin).iter().filter(|(np, ..)| {
                np.has_table() && np.order.is_none() && np.number.is_none() && !np.is_named()
            }) {
                let mut parts: All<(Cond, Cond)> = Vec::new();
                if !np.conds.is_empty() {
                    parts.push(((Cond::always(), Cond::all(np.conds.clone())), *end, 0));
                }
                for be in
                    self.lex("be", *end).into_iter().chain(self.lex("have", *end).into_iter().map(|_| *end))
                {
                    for (cond, end, more) in self.conds(be) {
                        parts.push(((Cond::all(np.conds.clone()), cond), end, more));
                    }
                }
                for ((filter, part), end, more) in parts {
                    let asked = |by: Vec<Path>| Asked::Share { part: part.clone(), by };
                    found.push((self.select(filter.clone(), asked(Vec::new())), end, cost + more));
                    for (by, end, less) in self.per(end) {
                        found.push((self.select(filter.clone(), asked(by)), end, cost + more + less));
                    }
                }
            }
        }
        found
    }

    /// `correlation between age and salary`.
    fn correlation(&self, place: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        let Some(begin) = self.one("file.correlation", place) else { return found };
        let number = |place: usize| self.columns(place).into_iter().filter(|(path, ..)| self.is_number(path));
        for (left, end, cost) in number(begin) {
            let Some(next) = self.one("and", end).or_else(|| self.one("file.against", end)) else { continue };
            for (right, end, more) in number(next) {
                for (filter, end, less) in self.rows_after(end) {
                    let asked = Asked::Correlation(left.clone(), right.clone());
                    found.push((self.select(filter, asked), end, cost + more + less));
                }
            }
        }
        found
    }

    /// `top 5 products by revenue`, `the best month for revenue`.
    pub(crate) fn top(&self, place: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        let start = self.fill(place);
        for (class, down) in [("file.top", true), ("file.bottom", false)] {
            let mut heads: Vec<(u64, usize)> = Vec::new();
            for end in self.lex(class, start) {
                heads.push((1, end));
                heads.extend(self.number(end).and_then(|(_, lit, end)| Some((lit.value.as_u64()?, end))));
            }
            if let Some((_, lit, end)) = self.number(start) {
                heads.extend(self.one(class, end).and_then(|end| Some((lit.value.as_u64()?, end))));
            }
            let mut groups: Vec<(Path, u64, usize, u32)> = Vec::new();
            for (count, end) in heads {
                groups
                    .extend(self.grouping(end).into_iter().map(|(path, end, cost)| (path, count, end, cost)));
            }
            // `which region is the best by revenue`
            for (path, end, cost) in self.grouping(start) {
                // `which product sold best`
                let verbs = self
                    .mentions(end)
                    .into_iter()
                    .filter_map(|(what, end, _)| matches!(what, What::Verb(_)).then_some(end));
                let ends = self.one("be", end).into_iter().chain(verbs);
                let ends = ends.filter_map(|end| self.one(class, end));
                groups.extend(ends.map(|end| (path.clone(), 1, end, cost)));
            }
            for (path, count, end, cost) in groups {
                let best = |measure: Measure, filter: Cond| {
                    let asked = Asked::Figure { measure, by: vec![path.clone()], best: Some((down, count)) };
                    self.select(filter, asked)
                };
                for by in self.lex("file.by", end) {
                    self.says_no_figure(by, &|_| true);
                    for (measure, filter, end, more) in
                        self.measures(by).into_iter().chain(self.number_of(by))
                    {
                        for (rows, end, less) in self.rows_after(end) {
                            let filter = Cond::all([filter.clone(), vec![rows]].concat());
                            found.push((best(measure.clone(), filter), end, cost + more + less));
                        }
                    }
                }
                let any = self.any_measure().into_iter().filter(|_| self.files);
                found.extend(any.map(|measure| (best(measure, Cond::always()), end, cost + 3)));
            }
        }
        found
    }

    /// Says that a column needs a figure to go with groups: `top 3 days by riders`, `docks by station`.
    pub(crate) fn says_no_figure(&self, place: usize, goes_on: &dyn Fn(usize) -> bool) {
        // `rooms per floor`, of a column `room` too, asks for the rows.
        if self.says_rows_or_column(place) {
            return;
        }
        let own = self.columns(place).into_iter();
        let mut own = own.filter(|(path, ..)| self.is_quantity(path) && !self.is_additive(path));
        if let Some((path, end, _)) = own.find(|(_, end, _)| goes_on(*end)) {
            let name = crate::reader::words::column(self.index, &path);
            let reason = format!("“{name}” needs a figure there: say “total {name}”, or “average {name}”");
            self.trace.leaves_open(&self.tokens[end - 1], &reason);
        }
    }

    /// Every figure that `the best region` may be about, so that the person is asked which; none if there is one alone.
    fn any_measure(&self) -> Vec<Measure> {
        let own = (0..self.index.tables[self.focus].columns.len()).map(|column| self.own(column));
        let sums = own.filter(|path| self.is_additive(path)).map(|path| Measure::Of("sum", path));
        let mut found: Vec<Measure> = sums.collect();
        if !found.is_empty() {
            found.push(Measure::Count);
        }
        found
    }

    /// `number of orders`.
    fn number_of(&self, place: usize) -> Vec<(Measure, Vec<Cond>, usize, u32)> {
        let Some(begin) = self.one("how_many", place) else { return Vec::new() };
        let rows = self.np(begin);
        let plain =
            rows.iter().filter(|(np, ..)| np.has_table() && np.order.is_none() && np.number.is_none());
        plain.map(|(np, end, cost)| (Measure::Count, np.conds.clone(), *end, *cost)).collect()
    }

    /// A column whose values are added up where nothing else is said: `units by region`.
    pub(crate) fn is_additive(&self, path: &Path) -> bool {
        let column = &self.index.tables[path.table].columns[path.column];
        let words = crate::reader::index::split_name(&column.name);
        matches!(column.sort, Sort::Number | Sort::Whole)
            && words.iter().any(|word| crate::reader::lexicon::LEXICON.has("additive_columns", word))
            && !words.iter().any(|word| crate::reader::lexicon::LEXICON.has("price_columns", word))
    }

    /// Revenue, where no column has it: a quantity times a price.
    pub(crate) fn revenue(&self, place: usize) -> Option<(Path, Path, usize)> {
        let end = self.one("file.revenue", place)?;
        let is_column =
            self.mentions(place).iter().any(|(what, ..)| matches!(what, What::Column(..) | What::Metric(_)));
        let (quantity, price) = (self.role("quantity")?, self.role("price")?);
        (!is_column && quantity != price).then(|| (self.own(quantity), self.own(price), end))
    }
}
