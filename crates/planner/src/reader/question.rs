//! Questions about rows of one table.

use super::form::{Asked, Cond, Form, Hop, Measure, Op, Operand, Order, Path, Select};
use super::index::{Period, Sort, What, split_name};
use super::lexicon::LEXICON;
use super::parse::{All, Parser, prune};
use super::phrase::{Head, Np};

impl Parser<'_> {
    /// Every complete reading as a question about the table in question, with what it costs.
    pub(crate) fn questions(&self) -> Vec<(Form, u32)> {
        let mut found: All<Select> = Vec::new();
        for start in self.openings() {
            found.extend(self.counted(start));
            found.extend(self.listed(start));
            found.extend(self.looked_up(start));
            found.extend(self.figures(start));
            found.extend(self.metric_of(start));
            found.extend(self.best(start));
            found.extend(self.people(start));
            found.extend(self.done(start));
            found.extend(self.best_done(start));
            found.extend(self.yes_or_no(start));
            found.extend(self.which_of(start));
            if self.files {
                found.extend(self.file_figures(start));
            } else {
                let begins = ["what_is", "show", "which"].iter().flat_map(|class| self.lex(class, start));
                let begins: Vec<usize> = begins.chain([start]).collect();
                found.extend(begins.iter().flat_map(|begin| self.top(*begin)));
                let shares = begins.iter().flat_map(|begin| self.shares(*begin));
                found.extend(shares.filter(|(select, ..)| self.is_one_share(select)));
                found.extend(self.number_by(start));
            }
            found.extend(self.top_rows(start));
        }
        let ends =
            found.into_iter().filter(|(select, end, _)| self.is_end(*end) && !self.is_torn(&select.filter));
        ends.map(|(select, _, cost)| (Form::Select(Box::new(select)), cost)).collect()
    }

    /// Whether the share of one condition is asked for, and not one for each group.
    fn is_one_share(&self, select: &Select) -> bool {
        matches!(&select.asked, Asked::Share { part, by } if by.is_empty() && !self.is_torn(part))
    }

    /// Where a question may begin: after fillers, and after words like `can you tell me`.
    fn openings(&self) -> Vec<usize> {
        let first = self.opening();
        let mut found = vec![0, first];
        if let Some(end) =
            self.one("polite", first).or_else(|| self.one("may_i", first)).or_else(|| self.one("want", first))
        {
            found.extend(self.one("show", end).map(|_| end));
        }
        // `tell me how much the Moon is`
        let asks = |end: &usize| {
            ["how_many", "how_much", "which", "who", "when"]
                .iter()
                .any(|class| !self.lex(class, *end).is_empty())
        };
        found.extend(self.lex("tell", first).into_iter().filter(asks));
        found.dedup();
        found
    }

    /// After the rows: `are there`, `do you have`, `in total`; and whether a total was said.
    pub(crate) fn tails(&self, place: usize) -> Vec<(usize, bool)> {
        let mut found = vec![(place, false)];
        for _ in 0..2 {
            for (end, total) in found.clone() {
                if self.files {
                    let classes = ["file.tail", "file.all_tables"].into_iter();
                    found.extend(classes.filter_map(|class| Some((self.one(class, end)?, total))));
                    // `by station` is no way to say `in the stations`.
                    let start = self.one("in", end).filter(|start| self.tokens[start - 1].lower != "by");
                    let own = start.map(|start| self.mentions(start)).unwrap_or_default().into_iter();
                    found.extend(
                        own.filter(|(what, ..)| *what == What::Table(self.focus))
                            .map(|(_, end, _)| (end, total)),
                    );
                }
                found.extend(self.lex("there", end).into_iter().map(|end| (end, total)));
                found.extend(self.lex("in_total", end).into_iter().map(|end| (end, true)));
                if let Some(end) = self.sign(',', end) {
                    found.extend(self.lex("in_total", end).into_iter().map(|end| (end, true)));
                }
            }
            found.sort_unstable();
            found.dedup();
        }
        found
    }

    /// `by region and month`, `per category`, `for each doctor`.
    pub(crate) fn per(&self, place: usize) -> All<Vec<Path>> {
        let mut found: All<Vec<Path>> = Vec::new();
        for start in self.lex("per", place) {
            let says_by = self.tokens[start - 1].lower == "by";
            let groups = |from: usize| {
                let found = self.grouping(from).into_iter();
                found.filter(move |(path, end, _)| self.is_group(path, says_by, from, *end))
            };
            found.extend(self.each_row(start));
            for (path, end, cost) in groups(start) {
                found.push((vec![path.clone()], end, cost));
                for after in self.one("and", end).into_iter().chain(self.sign(',', end)) {
                    for (second, end, more) in groups(after) {
                        found.push((vec![path.clone(), second], end, cost + more));
                    }
                }
            }
        }
        found
    }

    /// A column, or a table that is referred to, by which rows are put together.
    pub(crate) fn grouping(&self, place: usize) -> All<Path> {
        let columns = self.columns(place).into_iter();
        let columns = columns.filter(|(path, ..)| !matches!(self.sort(path), Sort::Prose));
        // `which owner has the most horses`: by name, and not by a key.
        let name = |path: Path, end: usize| self.named_by(path.clone(), end).unwrap_or(path);
        let mut found: All<Path> = columns
            .map(|(path, end, cost)| (if self.files { path } else { name(path, end) }, end, cost))
            .collect();
        for (what, end, cost) in self.mentions(place) {
            if let What::Table(table) = what
                && table != self.focus
                && let Some(label) = self.index.tables[table].label.or(self.index.tables[table].key)
            {
                // `part`, for the part that `part_sku` refers to, is one group and not two.
                let refers = |path: &Path| self.index.tables[path.table].columns[path.column].refers;
                let is_table = |path: &Path| refers(path).is_some_and(|(to, _)| to == table);
                found.retain(|(path, at, _)| *at != end || !is_table(path));
                found.extend(
                    self.hops(self.focus, table)
                        .into_iter()
                        .map(|hops| (Path { hops, table, column: label }, end, cost)),
                );
            }
        }
        found
    }

    pub(crate) fn select(&self, filter: Cond, asked: Asked) -> Select {
        Select { table: self.focus, filter, order: None, nth: None, limit: None, asked }
    }

    /// `of the Moon`, `for rooms on the third floor`, `does the Sky Suite have`.
    pub(crate) fn of_rows(&self, place: usize) -> All<Np> {
        let mut found: All<Np> = Vec::new();
        for start in self.lex("in", place).into_iter().chain(self.lex("per", place)) {
            // `total units by name` of a table of names: that is no way to say all rows.
            let says_by = matches!(self.tokens[start - 1].lower.as_str(), "by" | "per" | "each" | "every");
            let is_all = |np: &Np| says_by && !np.is_named() && np.order.is_none();
            let rows = self.np(start);
            let fits =
                rows.iter().filter(|(np, ..)| (np.number.is_none() || np.order.is_some()) && !is_all(np));
            found.extend(fits.cloned());
        }
        for start in
            self.lex("do", place).into_iter().chain(self.lex("be", place)).chain(self.lex("have", place))
        {
            for (np, end, cost) in self.np(start).iter().filter(|(np, ..)| np.is_named()) {
                found.push((np.clone(), *end, cost + 1));
                for class in ["have", "in", "cost"] {
                    found.extend(self.one(class, *end).map(|end| (np.clone(), end, *cost)));
                }
            }
        }
        prune(found)
    }

    /// `show`, `which`, `do you have`, or the rows alone.
    pub(crate) fn listed(&self, start: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        let mut begins: Vec<(usize, bool, u32)> = vec![(start, false, 2)];
        for class in ["show", "which", "about", "compare", "who"] {
            begins.extend(self.lex(class, start).into_iter().map(|end| (end, false, 0)));
        }
        begins.extend(self.lex("have_any", start).into_iter().map(|end| (end, true, 0)));
        for (begin, asks_any, extra) in begins {
            let is_who = begin > start && self.tokens[begin - 1].lower == "who";
            for (np, end, cost) in self.np(begin).iter().filter(|_| !is_who) {
                let is_bare = extra > 0
                    && !(np.head == Head::Table
                        || np.head == Head::Value && (np.conds.len() > 1 || np.order.is_some())
                        || np.head == Head::None && np.order.is_some() && self.list().is_some()
                        || np.is_named()
                            && !self.listed.is_empty()
                            && np.conds.iter().all(|cond| self.listed.contains(cond))
                        || np.head == Head::Thing && np.conds.len() + usize::from(np.order.is_some()) > 0);
                let is_counted = np.number.is_some() && np.order.is_none();
                let is_nothing = np.head == Head::Thing
                    && np.conds.is_empty()
                    && np.order.is_none()
                    && !asks_any
                    && self.index.tables.len() > 1;
                if is_bare || is_counted {
                    continue;
                }
                // `which were collected`, after a list: of those.
                let is_open =
                    extra == 0 && self.is_elliptic(start, begin) && !np.has_table() && !np.is_named();
                let rest = self.list().filter(|_| is_open).map(|rows| rows.filter.clone());
                let conds = [np.conds.clone(), rest.into_iter().collect()].concat();
                let np = &Np { conds, ..np.clone() };
                let asked = if asks_any { Asked::Any } else { Asked::Rows };
                let plain = if is_nothing { Vec::new() } else { self.tails(*end) };
                for (after, _) in plain {
                    found.push((np.select(self.focus, asked.clone()), after, cost + extra));
                    if after != *end {
                        for (cond, end, more) in self.conds(after) {
                            let np = Np { conds: [np.conds.clone(), vec![cond]].concat(), ..np.clone() };
                            found.push((np.select(self.focus, asked.clone()), end, cost + extra + more));
                        }
                    }
                }
                // `which hives does Ruth own`
                let more = self.with_more(np, *end).into_iter().filter(|(filter, ..)| !filter.asks_others());
                for (filter, after, more) in more.chain(self.done_to(np, *end)) {
                    if after != *end {
                        let select = Select { filter, ..np.select(self.focus, asked.clone()) };
                        found.push((select, after, cost + extra + more));
                    }
                }
                // `which rooms are the cheapest`, `which part has the fewest in stock`
                if np.order.is_none() {
                    for after in self.lex("have", *end).into_iter().chain(self.lex("be", *end)) {
                        for (order, nth, end) in self.superlative(after) {
                            let best = Np { order: Some(order), nth, ..np.clone() };
                            found.extend(
                                self.tails(end).into_iter().map(|(end, _)| {
                                    (best.select(self.focus, Asked::Rows), end, cost + extra)
                                }),
                            );
                        }
                        // `which of them is cheaper`
                        if let (true, Some((order, end))) = (np.is_named(), self.comparative(after)) {
                            let best = Np { order: Some(order), ..np.clone() };
                            found.push((best.select(self.focus, Asked::Rows), end, cost + extra));
                        }
                    }
                }
            }
            // `who are they`
            if let Some(end) = self.one("be", begin).filter(|_| extra == 0) {
                let rows = self.pronoun(&Np::default(), end, 0).into_iter();
                found.extend(rows.map(|(np, end, cost)| (np.select(self.focus, Asked::Rows), end, cost)));
            }
            // `list all customers`, where they are a column
            if extra == 0 {
                let place = self.determiners(begin);
                for (path, end, cost) in self
                    .columns(place)
                    .into_iter()
                    .filter(|(path, ..)| path.hops.is_empty() && self.sort(path) == Sort::Text)
                {
                    let is_said = self.tokens[begin..place]
                        .iter()
                        .any(|token| matches!(token.lower.as_str(), "different" | "distinct"));
                    // `list all customers`: only the people who did something, not every name in the table.
                    let people = || self.deeds_of_people().filter(|_| self.doer().as_ref() == Some(&path));
                    let Some(rows) = is_said.then(Cond::always).or_else(people) else { continue };
                    let select = self.select(rows, Asked::Values(path));
                    let ends = self.tails(end).into_iter();
                    found.extend(ends.map(|(end, _)| (select.clone(), end, cost + 1)));
                }
            }
        }
        found
    }

    /// `which were`, without a noun.
    fn is_elliptic(&self, start: usize, begin: usize) -> bool {
        let is_which = self.tokens.get(self.fill(start)).is_some_and(|token| token.lower == "which");
        let verb = begin.checked_sub(1).map(|at| self.tokens[at].lower.as_str());
        is_which && matches!(verb, Some("is" | "are" | "was" | "were"))
    }

    /// `where does Ivy House live`, `how long is Hamlet`
    fn place_or_length(&self, start: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        for (class, column, verb) in
            [("where", self.place(), "live"), ("how_long", self.role("length"), "takes_time")]
        {
            let Some(column) = column else { continue };
            for begin in self.lex(class, start) {
                let begin = self.one("do", begin).or_else(|| self.one("be", begin)).unwrap_or(begin);
                for (np, end, cost) in self.np(begin).iter().filter(|(np, ..)| np.is_named()) {
                    let select = np.select(self.focus, Asked::Columns(vec![self.own(column)]));
                    let alone = Some(*end).filter(|_| class == "how_long");
                    let ends = self.one(verb, *end).into_iter().chain(alone);
                    found.extend(ends.map(|end| (select.clone(), end, *cost)));
                }
            }
        }
        found
    }

    /// `what is the price of the Moon`, `Chen Yu's hourly rate`, `how much is the Moon`, `when was Gita born`.
    fn looked_up(&self, start: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        let single = |np: &Np, paths: Vec<Path>| np.select(self.focus, Asked::Columns(paths));
        let fits = |np: &Np| {
            // Of a file it is not known which column names its rows: `price of fig`.
            let is_value = self.files && np.head == Head::Value;
            np.is_named() || np.order.is_some() || (np.has_table() || is_value) && !np.conds.is_empty()
        };
        let mut begins: Vec<(usize, &str)> = vec![(start, "")];
        for class in ["what_is", "which", "show", "when", "who"] {
            let before = self.one("in", start).map(|before| self.lex(class, before)).unwrap_or_default();
            begins.extend(self.lex(class, start).into_iter().chain(before).map(|end| (end, class)));
        }
        for (begin, class) in begins {
            // `is the price of the Moon …` asks whether, and not what it is.
            let verb = self.one("be", begin).or_else(|| self.one("do", begin));
            let begin = verb.filter(|_| !class.is_empty()).unwrap_or(begin);
            // `who is enrolled in Yoga` does not ask for a number, and `when` asks for a day.
            let answers = |path: &Path| match class {
                "who" => self.sort(path) == Sort::Text,
                "when" => matches!(self.sort(path), Sort::Day | Sort::Time),
                _ => true,
            };
            // `hives with a queen`, where a column is called so: the rows.
            let rows = self.mentions(begin).into_iter().find(|(what, ..)| *what == What::Table(self.focus));
            let is_rows = |end: usize| {
                self.files
                    && rows.as_ref().is_some_and(|(_, at, _)| *at == end)
                    && self.rows_and_column(begin).is_none()
            };
            for (path, end, cost) in self.columns(begin).into_iter().filter(|(path, ..)| answers(path)) {
                let Some(path) = self.named_by(path, end).filter(|_| !is_rows(end)) else { continue };
                let mut rows = self.of_rows(end);
                // `who wrote Emma`
                if class == "who" {
                    let named = self.np(end);
                    rows.extend(
                        named.iter().filter(|(np, ..)| np.is_named() && np.conds.len() == 1).cloned(),
                    );
                }
                rows.retain(|(np, ..)| fits(np));
                for (np, end, more) in rows {
                    found.push((single(&np, vec![path.clone()]), end, cost + more));
                    // `in which city does Dev Patel live`
                    let again = self.columns(end).into_iter().filter(|(same, ..)| *same == path);
                    found
                        .extend(again.map(|(_, end, _)| (single(&np, vec![path.clone()]), end, cost + more)));
                }
                // `price and stock of the Moon`
                if let Some(and) = self.one("and", end) {
                    for (second, end, less) in self.columns(and) {
                        for (np, end, more) in self.of_rows(end).into_iter().filter(|(np, ..)| fits(np)) {
                            found.push((
                                single(&np, vec![path.clone(), second.clone()]),
                                end,
                                cost + more + less,
                            ));
                        }
                    }
                }
                found.extend(self.balance(&path, end, cost));
            }
            for (np, end, cost) in
                self.np(begin).iter().filter(|(np, ..)| np.is_named() && np.conds.len() == 1)
            {
                let its = Some(*end).filter(|end| LEXICON.has("talk.its", &self.tokens[end - 1].lower));
                let owner = self.sign('\'', *end).or(its);
                for place in owner.into_iter().chain(if begin == start { None } else { Some(*end) }) {
                    for (path, end, more) in self
                        .columns(place)
                        .into_iter()
                        .filter(|(path, ..)| owner.is_some() || self.sort(path) == Sort::Day)
                    {
                        found.push((single(np, vec![path]), end, cost + more));
                    }
                }
            }
        }
        found.extend(self.place_or_length(start));
        found.extend(self.priced(start));
        found
    }

    /// `the owner of Ghost`: the name of the row that a column refers to, and not its key; none for `patrons with bookings`,
    /// who are rows of their own.
    fn named_by(&self, path: Path, end: usize) -> Option<Path> {
        let column = &self.index.tables[path.table].columns[path.column];
        let said = &self.tokens[end - 1];
        let refers =
            column.refers.filter(|_| column.before.is_none() && !LEXICON.has("id_words", &said.lower));
        let Some((table, to)) = refers else { return Some(path) };
        let is_several = said.lower != said.stem;
        let label = self.index.tables[table].label.filter(|_| !is_several)?;
        let hop = Hop { column: path.column, table, to };
        Some(Path { hops: [path.hops, vec![hop]].concat(), table, column: label })
    }

    /// `how much is the Moon`, `how much credit does Grace Price have`.
    fn priced(&self, start: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        let single = |np: &Np, path: Path| np.select(self.focus, Asked::Columns(vec![path]));
        for begin in self.lex("how_much", start) {
            // `how much credit does Grace Price have`
            for (path, end, cost) in self.columns(begin).into_iter().filter(|(path, ..)| self.is_number(path))
            {
                let rows = self.of_rows(end).into_iter().filter(|(np, ..)| np.is_named());
                found.extend(rows.map(|(np, end, more)| (single(&np, path.clone()), end, cost + more)));
            }
            let begin = self.one("be", begin).or_else(|| self.one("do", begin)).unwrap_or(begin);
            let Some(price) = self.role("price") else { continue };
            for (np, end, cost) in self
                .np(begin)
                .iter()
                .filter(|(np, ..)| (np.is_named() || np.order.is_some()) && np.number.is_none())
            {
                let select = single(np, self.own(price));
                let asks_price = matches!(self.tokens[begin - 1].lower.as_str(), "is" | "are" | "of" | "for");
                if asks_price {
                    found.push((select.clone(), *end, *cost));
                    found.extend(self.per_unit(price, *end).map(|end| (select.clone(), end, *cost)));
                }
                found.extend(self.one("cost", *end).map(|end| (select.clone(), end, *cost)));
                // `how much the Moon is`, after `tell me`
                let is_told = matches!(self.tokens[begin - 1].lower.as_str(), "much");
                found
                    .extend(self.one("be", *end).filter(|_| is_told).map(|end| (select.clone(), end, *cost)));
                if let Some(end) = self.one("cost", *end) {
                    found.extend(self.per_unit(price, end).map(|end| (select.clone(), end, *cost)));
                }
            }
        }
        found
    }

    /// The only column that says where something or somebody is.
    fn place(&self) -> Option<usize> {
        let columns = &self.index.tables[self.focus].columns;
        let is_place = |at: &usize| {
            let words = split_name(&columns[*at].name);
            columns[*at].sort == Sort::Text && words.iter().any(|word| LEXICON.has("place_columns", word))
        };
        let mut places = (0..columns.len()).filter(is_place);
        places.next().filter(|_| places.next().is_none())
    }

    /// `top 3 shows by price`: rows in the order of a column.
    fn top_rows(&self, start: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        let begins = ["what_is", "show", "which"].iter().flat_map(|class| self.lex(class, start));
        for begin in begins.chain([start]) {
            for (class, down) in [("file.top", true), ("file.bottom", false)] {
                let head = self.one(class, begin).and_then(|end| self.number(end));
                let Some((count, end)) = head.and_then(|(_, lit, end)| Some((lit.value.as_u64()?, end)))
                else {
                    continue;
                };
                let rows = self.np(end);
                for (np, end, cost) in
                    rows.iter().filter(|(np, ..)| np.order.is_none() && np.number.is_none())
                {
                    let by = self.one("direct.by", *end).map(|by| self.columns(by)).unwrap_or_default();
                    for (path, end, more) in by.into_iter().filter(|(path, ..)| self.is_number(path)) {
                        let order = Some(Order { by: Some(path), down });
                        let select =
                            Select { order, limit: Some(count), ..np.select(self.focus, Asked::Rows) };
                        found.push((select, end, cost + more));
                    }
                }
            }
        }
        found
    }

    /// `per night`, where the price's own name says so.
    fn per_unit(&self, price: usize, place: usize) -> Option<usize> {
        let after = self
            .exact("per", place)
            .into_iter()
            .max()
            .or_else(|| Some(self.fill(place)).filter(|end| *end > place))?;
        let token = self.tokens.get(after)?;
        let words = split_name(&self.index.tables[self.focus].columns[price].name);
        // `per day` of a daily rate.
        let adverb = Period::ALL.iter().find(|(_, noun, _)| *noun == token.stem).map(|(.., adverb)| *adverb);
        words.iter().any(|word| *word == token.stem || Some(word.as_str()) == adverb).then_some(after + 1)
    }

    /// `what is the balance`: a running total stands in the newest row.
    fn balance(&self, path: &Path, end: usize, cost: u32) -> All<Select> {
        let table = &self.index.tables[self.focus];
        // A path with hops ends in another table, whose columns are others.
        if !(table.append_only && path.hops.is_empty()) {
            return Vec::new();
        }
        let column = &table.columns[path.column];
        let is_running = column.role.as_deref() == Some("balance")
            || split_name(&column.name).iter().any(|word| word == "balance" || word == "running");
        if !is_running {
            return Vec::new();
        }
        let order = Some(Order { by: None, down: true });
        let select = Select {
            order,
            limit: Some(1),
            ..self.select(Cond::always(), Asked::Columns(vec![path.clone()]))
        };
        vec![(select, end, cost)]
    }

    /// `which author has the most books`, `which room type has the highest average rate`.
    fn best(&self, start: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        for begin in
            self.lex("which", start).into_iter().chain(self.lex("who", start).into_iter().map(|_| start))
        {
            for (path, end, cost) in self.grouping(begin) {
                let has = self.lex("have", end).into_iter().map(|end| (Cond::always(), end));
                let verbs = self.verbs(end).into_iter().map(|(verb, end, _)| (verb.means.clone(), end));
                for (means, after) in has.chain(verbs) {
                    for (measure, filter, down, end, more) in self.extreme(after) {
                        let asked = Asked::Figure { measure, by: vec![path.clone()], best: Some((down, 1)) };
                        for (cond, end, less) in self.with_verb(end) {
                            let filter = Cond::all([filter.clone(), vec![means.clone(), cond]].concat());
                            // Those that have none are in no group.
                            if !down && !(path.hops.is_empty() && (self.files || filter.is_always())) {
                                continue;
                            }
                            let at = path
                                .hops
                                .first()
                                .map_or((path.table, path.column), |hop| (self.focus, hop.column));
                            let has_none = self.index.tables[at.0].columns[at.1].has_nulls;
                            let known = has_none.then(|| Cond::Not(Box::new(Cond::Null(path.clone()))));
                            let filter = Cond::all([vec![filter], known.into_iter().collect()].concat());
                            found.push((self.select(filter, asked.clone()), end, cost + more + less));
                        }
                    }
                }
            }
        }
        found
    }

    /// `the most books`, `the highest average rate`, `the most hours`.
    fn extreme(&self, place: usize) -> Vec<(Measure, Vec<Cond>, bool, usize, u32)> {
        let Some((end, meaning)) = self.meaning("superlatives", place) else { return Vec::new() };
        let Some(("column", sign)) = meaning.split_once(' ') else { return Vec::new() };
        let (down, most) =
            (sign == ">", matches!(self.tokens[end - 1].lower.as_str(), "most" | "fewest" | "least"));
        let mut found = Vec::new();
        for (measure, filter, end, cost) in self.measures(end) {
            found.push((measure, filter, down, end, cost));
        }
        if most {
            for (np, end, cost) in
                self.np(end).iter().filter(|(np, ..)| np.has_table() && !np.is_named() && np.order.is_none())
            {
                // `the most returns`, where a column of the returns says how many.
                let table = &self.index.tables[self.focus];
                let is_column = table.columns.iter().any(|column| column.name.to_lowercase() == table.name);
                found.push((Measure::Count, np.conds.clone(), down, *end, cost + u32::from(is_column)));
            }
            let columns = self.columns(end).into_iter();
            for (path, end, cost) in
                columns.filter(|(path, ..)| self.is_quantity(path) && path.hops.is_empty())
            {
                found.push((Measure::Of("sum", path), Vec::new(), down, end, cost));
            }
        }
        found
    }

    /// `who is in the web team`, `who has the highest rate`, `who borrowed Dune`.
    fn people(&self, start: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        let table = &self.index.tables[self.focus];
        for begin in self.lex("who", start) {
            if table.is_people {
                for (cond, end, cost) in self.conds(begin) {
                    found.push((self.select(cond, Asked::Rows), end, cost));
                }
                for after in self.lex("have", begin).into_iter().chain(self.lex("be", begin)) {
                    for (order, nth, end) in self.superlative(after) {
                        let np = Np { order: Some(order), nth, ..Np::default() };
                        found.push((np.select(self.focus, Asked::Rows), end, 0));
                    }
                }
            } else {
                found.extend(self.doers(begin));
            }
        }
        found
    }

    /// `is the Shield in stock`, `is the Classic cheaper than the Moon`, `are Classic and Moon both round`.
    fn yes_or_no(&self, start: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        // The name in a record is no row of its own: what somebody did is asked for in another way.
        if self.index.tables[self.focus].append_only {
            return found;
        }
        for begin in self.lex("be", start).into_iter().chain(self.lex("do", start)) {
            for (np, end, cost) in self.np(begin).iter().filter(|(np, ..)| {
                np.is_named() && np.conds.len() == 1 && np.number.is_none() && np.order.is_none()
            }) {
                // `are Duke or Storm lame`: one of them, or each?
                if self.tokens[begin..*end].iter().any(|token| token.lower == "or") {
                    continue;
                }
                let end = self.one("both", *end).or_else(|| self.sign('\'', *end)).unwrap_or(*end);
                // `is Closer closer`: nobody asks whether a row is itself.
                let conds = self.conds(end).into_iter().filter(|(cond, ..)| !self.is_name(cond));
                for (cond, end, more) in conds {
                    found.push((
                        self.select(Cond::all(np.conds.clone()), Asked::Holds(cond)),
                        end,
                        cost + more,
                    ));
                }
            }
            for (cond, rows, end, cost) in self.of_named(begin) {
                found.push((Select { asked: Asked::Holds(cond), ..rows }, end, cost));
            }
        }
        found
    }

    /// `the mileage of the Cargo above 100`: what is said of a column of a named row, and of which.
    pub(crate) fn of_named(&self, place: usize) -> Vec<(Cond, Select, usize, u32)> {
        let mut found = Vec::new();
        for (path, end, cost) in self.columns(place).into_iter().filter(|(path, ..)| path.hops.is_empty()) {
            let (Some(path), Some(of)) = (self.named_by(path, end), self.one("of", end)) else { continue };
            for (np, end, more) in self.np(of).iter().filter(|(np, ..)| np.is_one()) {
                let be = self.one("be", *end).unwrap_or(*end);
                for (start, is_not) in [(Some(be), false), (self.one("not", be), true)] {
                    let conds = start.map(|start| self.against(&path, start)).unwrap_or_default();
                    found.extend(conds.into_iter().map(|(cond, end, less)| {
                        let cond = if is_not { Self::negated(cond) } else { cond };
                        (cond, np.select(self.focus, Asked::Rows), end, cost + more + less)
                    }));
                }
            }
        }
        found.retain(|(cond, _, end, _)| !self.is_of_past(place, *end, cond));
        found
    }

    /// `who is older, Alma Reed or Leo Brandt`, `which is cheaper, the Moon or the Classic`.
    fn which_of(&self, start: usize) -> All<Select> {
        let mut found: All<Select> = Vec::new();
        for begin in self.lex("which", start).into_iter().chain(self.lex("who", start)) {
            let begin = self.one("be", begin).unwrap_or(begin);
            let Some((order, end)) = self.comparative(begin) else { continue };
            let end = self.sign(',', end).or_else(|| self.sign(':', end)).unwrap_or(end);
            for (names, end, cost) in self.names(end).into_iter().filter(|(names, ..)| names.len() > 1) {
                let order = Some(order.clone());
                found.push((Select { order, ..self.select(Cond::any(names), Asked::Rows) }, end, cost));
            }
        }
        found
    }
}

/// A value, or values, and nothing more.
pub(crate) fn is_plain(cond: &Cond) -> bool {
    match cond {
        Cond::Cmp(_, Op::Eq, Operand::Lit(_)) | Cond::Word(..) => true,
        Cond::Some(_, inner) => is_plain(inner),
        Cond::Or(all) => all.iter().all(is_plain),
        _ => false,
    }
}
