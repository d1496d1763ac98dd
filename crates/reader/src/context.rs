//! Binds names to places: each is looked up from the table that the noun names, and the nearest place is taken.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::algebra::{Calc, Cond, Day, Expr, Hop, Link, Name, Number, Op, Path, Scalar, TextTest, Unit};
use crate::catalog::{Catalog, Column, Holds, Source};
use crate::index::Index;
use crate::lexicon::LEXICON;
use crate::mention::is_certain;
use crate::value::{Loose, LooseExpr, Place, Places, Term, Value, Values, Via};

/// References that are followed to a column.
const HOPS_MAX: usize = 2;
/// Ways to bind the parts of one condition.
const WAYS_MAX: usize = 200;

/// One way to understand something, with how far away its places are.
pub(crate) type Way<T> = (u32, T);

/// What is known of the value that an expression has.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) expr: Expr,
    pub(crate) holds: Holds,
    unit: Option<String>,
    place: Option<Place>,
    source: Source,
}

/// What sentences are read against.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) index: &'a Index,
    /// The table whose rows are judged, if one is.
    pub(crate) judged: Option<Name>,
}

impl Context<'_> {
    /// A mention, narrowed to what has a feature.
    pub(crate) fn with_feature(&self, feature: &str, value: &Value) -> Option<Value> {
        let places = |wanted: fn(Holds) -> bool| match value {
            Value::Places(places) => {
                let is_wanted =
                    |place: &&Place| self.column(place).is_some_and(|column| wanted(column.holds));
                let left: std::collections::BTreeSet<Place> =
                    places.iter().filter(is_wanted).cloned().collect();
                (!left.is_empty()).then(|| Value::Places(Arc::new(left)))
            }
            _ => None,
        };
        match (feature, value) {
            ("", value) => Some(value.clone()),
            ("ordered", _) => places(|holds| holds.is_number() || matches!(holds, Holds::Day | Holds::Time)),
            ("num", _) => places(Holds::is_number),
            ("bool", _) => places(|holds| holds == Holds::Bool),
            ("day", _) => places(|holds| holds == Holds::Day),
            // Such as rows are called by.
            ("row", Value::Values(values)) => {
                let is_naming = |(table, column, _): &(Name, Name, String)| {
                    self.catalog.table(table).is_some_and(|table| table.is_naming(column))
                };
                values.found.iter().any(is_naming).then(|| value.clone())
            }
            // Called by words that are not in quotes.
            ("said", Value::Values(values)) => (!values.is_quoted).then(|| value.clone()),
            _ => None,
        }
    }

    /// The tables whose rows a rule may be about.
    pub(crate) fn targets(&self) -> Vec<Name> {
        match &self.judged {
            Some(judged) => vec![judged.clone()],
            None => self.catalog.tables.iter().map(|table| table.name.clone()).collect(),
        }
    }

    fn column(&self, (table, column): &Place) -> Option<&Column> {
        self.catalog.column(table, column)
    }

    /// All chains of references from a table to another.
    fn forward(&self, table: &str, target: &str, depth: usize) -> Vec<Vec<Hop>> {
        if table == target {
            return vec![Vec::new()];
        }
        let columns = self.catalog.table(table).map(|table| table.columns.as_slice()).unwrap_or_default();
        let mut found = Vec::new();
        for column in columns.iter().filter(|_| depth > 0) {
            let Some((next, key)) = column.refers.as_ref().filter(|(next, _)| &**next != table) else {
                continue;
            };
            let hop = Hop { column: column.name.clone(), table: next.clone(), key: key.clone() };
            for rest in self.forward(next, target, depth - 1) {
                found.push([vec![hop.clone()], rest].concat());
            }
        }
        found
    }

    fn seen_column(&self, place: &Place, hops: Vec<Hop>) -> Option<Seen> {
        let column = self.column(place)?;
        Some(Seen {
            expr: Expr::Column(Path { hops, column: place.1.clone() }),
            holds: column.holds,
            unit: column.unit.clone(),
            place: Some(place.clone()),
            source: column.source,
        })
    }

    /// What an expression means, seen from a table.
    pub(crate) fn exprs(&self, table: &Name, expr: &LooseExpr) -> Vec<Way<Seen>> {
        match expr {
            LooseExpr::Subject => Vec::new(),
            LooseExpr::Number(number) => {
                vec![(0, computed(Expr::Value(Scalar::Number(*number)), Holds::Number))]
            }
            LooseExpr::Column(places, via) => self.columns(table, places, via),
            LooseExpr::Calc(calc, parts) => self.calculations(table, *calc, parts),
            LooseExpr::Fold(function, places, rows) => {
                let columns = places.iter().filter(|place| {
                    place.0 == rows.table && self.column(place).is_some_and(|column| column.holds.is_number())
                });
                let links = self.links(table, &rows.table);
                let all = columns.flat_map(|(_, column)| links.iter().map(move |link| (column, link)));
                all.map(|(column, link)| {
                    let filter = Box::new((*rows.cond).clone());
                    let fold = Expr::Fold(*function, Path::own(column), link.clone(), filter);
                    (0, computed(fold, Holds::Number))
                })
                .collect()
            }
        }
    }

    /// The ways in which rows of one table refer to another's.
    pub(crate) fn links(&self, table: &str, child: &Name) -> Vec<Link> {
        let links = self.catalog.backward(table, child).into_iter();
        links.map(|(column, key)| Link { table: child.clone(), column, key }).collect()
    }

    fn columns(&self, table: &Name, places: &Places, via: &[Via]) -> Vec<Way<Seen>> {
        let mut found = Vec::new();
        for place in places.iter() {
            for hops in self.forward(table, &place.0, HOPS_MAX) {
                let is_own = hops.is_empty() && matches!(via, [Via::Noun(noun)] if noun == table);
                let fits = via.len() == hops.len()
                    && via.iter().rev().zip(&hops).all(|(via, hop)| match via {
                        Via::Noun(noun) => *noun == hop.table,
                        Via::Column(places) => places.iter().any(|(_, column)| *column == hop.column),
                    });
                if via.is_empty() || is_own || fits {
                    let far = if via.is_empty() { u32::try_from(hops.len()).unwrap_or(u32::MAX) } else { 0 };
                    found.extend(self.seen_column(place, hops).map(|seen| (far, seen)));
                }
            }
        }
        found
    }

    /// What is made of several values: dates less dates are days, days can be moved on, numbers be computed with.
    fn calculations(&self, table: &Name, calc: Calc, parts: &[LooseExpr]) -> Vec<Way<Seen>> {
        let ways: Vec<Vec<Way<Seen>>> = parts.iter().map(|part| self.exprs(table, part)).collect();
        let ways = product(&ways).into_iter().filter_map(|(far, parts)| {
            let kinds: Vec<Holds> = parts.iter().map(|part| part.holds).collect();
            let all_numbers = || kinds.iter().all(|kind| kind.is_number());
            let holds = match (calc, kinds.as_slice()) {
                (Calc::Moved(_), [Holds::Day, _]) => Holds::Day,
                (Calc::Moved(Unit::Hour | Unit::Minute), [Holds::Time, _]) => Holds::Time,
                (Calc::Part(_), [Holds::Day]) => Holds::Whole,
                (Calc::Length, [_]) if parts[0].source != Source::Lost => Holds::Whole,
                (Calc::Difference, [Holds::Day, Holds::Day]) => Holds::Span,
                (Calc::Moved(_) | Calc::Part(_) | Calc::Length, _) => return None,
                _ if all_numbers() => Holds::Number,
                _ => return None,
            };
            let exprs: Vec<Expr> = parts.into_iter().map(|part| part.expr).collect();
            exprs.iter().any(Expr::has_column).then(|| (far, computed(Expr::Calc(calc, exprs), holds)))
        });
        ways.collect()
    }

    /// Of the bindings of one derivation those with the smallest distance.
    pub(crate) fn bound(&self, cond: &Loose, table: &Name) -> Vec<Cond> {
        nearest(self.bind(cond, table))
    }

    /// Every reading of an unbound condition from a table.
    #[expect(clippy::too_many_lines, reason = "one arm for each kind of condition")]
    pub(crate) fn bind(&self, cond: &Loose, table: &Name) -> Vec<Way<Cond>> {
        let exact = |cond: Cond| vec![(0, cond)];
        match cond {
            Loose::All(all) => self.bind_each(all, table, Cond::All),
            Loose::Any(any) => self.bind_each(any, table, Cond::Any),
            Loose::Not(inner) => {
                self.bind(inner, table).into_iter().map(|(far, cond)| (far, cond.denied())).collect()
            }
            Loose::Compare(left, op, right) => self.compare(table, left, *op, right),
            Loose::In(column, values, is_said) => self.listed(table, column, values, *is_said),
            Loose::Null(column) => self.of_column(table, column, |_, path| Some(Cond::Null(path))),
            Loose::None(column) => {
                let ways = self.exprs(table, column).into_iter();
                ways.flat_map(|(far, seen)| none(seen).into_iter().map(move |cond| (far, cond))).collect()
            }
            Loose::Text(column, test) => self.of_column(table, column, |seen, path| text(seen, path, test)),
            Loose::Decimals(column, most) => {
                self.of_column(table, column, |seen, path| decimals(seen, path, *most))
            }
            Loose::Weekday(column, days) => self.of_column(table, column, |seen, path| {
                (seen.holds == Holds::Day).then(|| Cond::Weekday(path, days.clone()))
            }),
            Loose::Unique(columns) => {
                let ways: Vec<_> = columns.iter().map(|column| self.own_columns(table, column)).collect();
                product(&ways).into_iter().map(|(far, columns)| (far, Cond::Unique(columns))).collect()
            }
            Loose::Value(values, noun) => {
                self.known(table, values, |path| noun.as_ref().is_none_or(|noun| path.owner(table) == noun))
            }
            Loose::ValueOf(values, places) => {
                let is_named =
                    |path: &Path| places.contains(&(path.owner(table).clone(), path.column.clone()));
                let mut found = self.known(table, values, is_named);
                // The row that is called so, behind the column that refers to it.
                let refers = |path: &Path| {
                    path.hops.last().is_some_and(|hop| places.iter().any(|(_, column)| *column == hop.column))
                };
                found.extend(self.known(table, values, |path| refers(path) && !is_named(path)));
                found
            }
            Loose::Yes(places) => {
                let ways = self.columns(table, places, &[]).into_iter();
                ways.filter_map(|(far, seen)| Some((far, Cond::is(path_of(seen)?, Scalar::Bool(true)))))
                    .collect()
            }
            Loose::Money(op, term) => {
                let moneys: Vec<&Column> = self.own(table, Column::is_money);
                let [column] = moneys.as_slice() else { return Vec::new() };
                self.compare_with(table, &column.name, *op, term)
            }
            Loose::When(op, day) => self.days(table, |path| day_cond(path, *op, day)),
            Loose::During(first, op, last) => self.days(table, |path| {
                Cond::All(vec![day_cond(path.clone(), Op::AtLeast, first), day_cond(path, *op, last)])
            }),
            Loose::OnWeekdays(days) => self.days(table, |path| Cond::Weekday(path, days.clone())),
            Loose::Exists(rows, op, count) => {
                let links = self.links(table, &rows.table).into_iter();
                let filter = || Box::new((*rows.cond).clone());
                links
                    .map(|link| (1, Cond::Exists { link, filter: filter(), op: *op, count: *count }))
                    .collect()
            }
            Loose::Through(rows, places, op, count) => {
                let links = self.links(table, &rows.table).into_iter();
                let named = links.filter(|link| places.contains(&(rows.table.clone(), link.column.clone())));
                let filter = || Box::new((*rows.cond).clone());
                named
                    .map(|link| (0, Cond::Exists { link, filter: filter(), op: *op, count: *count }))
                    .collect()
            }
            Loose::Refers(column, other, places) => self.of_column(table, column, |_, path| {
                let (_, theirs) = places.iter().find(|(table, _)| table == other)?;
                let link = Link { table: other.clone(), column: theirs.clone(), key: path.column };
                let filter = Box::new(Cond::always());
                path.hops.is_empty().then_some(Cond::Exists { link, filter, op: Op::AtLeast, count: 1 })
            }),
            Loose::KnownIn(column, other) => self.of_column(table, column, |_, path| {
                let own = self.catalog.column(table, &path.column).filter(|_| path.hops.is_empty())?;
                let refers = own.refers.as_ref().filter(|(to, _)| to == other).map(|(_, key)| key.clone());
                let same = || self.catalog.column(other, &path.column).map(|_| path.column.clone());
                Some(known_in(other, refers.or_else(same)?, path.column))
            }),
            Loose::Belongs(other) => {
                let columns =
                    self.own(table, |column| column.refers.as_ref().is_some_and(|(to, _)| to == other));
                let known = columns.into_iter().filter_map(|column| {
                    let (to, key) = column.refers.clone()?;
                    Some((0, known_in(&to, key, column.name.clone())))
                });
                known.collect()
            }
            Loose::OfNoun(noun, inner) if noun == table => self.bind(inner, table),
            Loose::OfNoun(..) => Vec::new(),
            Loose::Phrase(meanings) => {
                let own = meanings.iter().filter(|(owner, _)| owner == table);
                own.map(|(_, cond)| (0, cond.clone())).collect()
            }
            Loose::Within(known) => {
                let mut columns: BTreeMap<&Name, Vec<Cond>> = BTreeMap::new();
                for (_, column, form) in known.iter().filter(|(owner, ..)| owner == table) {
                    let cond = Cond::Text(Path::own(column), TextTest::Word(form.clone()));
                    columns.entry(column).or_default().push(cond);
                }
                columns.into_values().map(|forms| (0, Cond::Any(forms))).collect()
            }
            Loose::Named(column, places) => self.of_column(table, column, |_, path| {
                places.contains(&(path.owner(table).clone(), path.column)).then(Cond::always)
            }),
        }
        .into_iter()
        .chain(if matches!(cond, Loose::All(all) if all.is_empty()) {
            exact(Cond::always())
        } else {
            Vec::new()
        })
        .collect()
    }

    fn bind_each(&self, all: &[Loose], table: &Name, join: fn(Vec<Cond>) -> Cond) -> Vec<Way<Cond>> {
        if all.is_empty() {
            return Vec::new();
        }
        let ways: Vec<Vec<Way<Cond>>> = all.iter().map(|cond| self.bind(cond, table)).collect();
        product(&ways).into_iter().map(|(far, conds)| (far, join(conds))).collect()
    }

    /// Conditions on a column that stands in a row or in one that it refers to.
    fn of_column(
        &self,
        table: &Name,
        column: &LooseExpr,
        make: impl Fn(&Seen, Path) -> Option<Cond>,
    ) -> Vec<Way<Cond>> {
        let ways = self.exprs(table, column).into_iter();
        ways.filter_map(|(far, seen)| {
            let path = path_of(seen.clone())?;
            Some((far, make(&seen, path)?))
        })
        .collect()
    }

    /// The columns of the table itself that an expression names.
    pub(crate) fn own_columns(&self, table: &Name, column: &LooseExpr) -> Vec<Way<Path>> {
        let ways = self.exprs(table, column).into_iter();
        ways.filter_map(|(far, seen)| Some((far, path_of(seen)?)))
            .filter(|(_, path)| path.hops.is_empty())
            .collect()
    }

    /// Whether an expression is of columns of the table itself: of another one only where that is named.
    pub(crate) fn is_own(&self, table: &Name, expr: &LooseExpr) -> bool {
        self.exprs(table, expr).iter().any(|(far, _)| *far == 0)
    }

    fn own(&self, table: &str, is_wanted: impl Fn(&Column) -> bool) -> Vec<&Column> {
        let columns = self.catalog.table(table).map(|table| table.columns.as_slice()).unwrap_or_default();
        columns.iter().filter(|column| is_wanted(column)).collect()
    }

    fn days(&self, table: &str, make: impl Fn(Path) -> Cond) -> Vec<Way<Cond>> {
        let days = self.own(table, |column| column.holds == Holds::Day).into_iter();
        days.map(|column| (0, make(Path::own(&column.name)))).collect()
    }

    /// The columns in which rows have values that words call.
    fn known(&self, table: &Name, values: &Values, is_wanted: impl Fn(&Path) -> bool) -> Vec<Way<Cond>> {
        let mut found = Vec::new();
        for (owner, column, value) in values.found.iter() {
            for hops in self.forward(table, owner, HOPS_MAX) {
                let far = u32::try_from(hops.len()).unwrap_or(u32::MAX);
                let path = Path { hops, column: column.clone() };
                if is_wanted(&path) {
                    found.push((far, Cond::is(path, Scalar::Text(value.clone()))));
                }
            }
        }
        found
    }

    fn compare_with(&self, table: &Name, column: &Name, op: Op, term: &Term) -> Vec<Way<Cond>> {
        let place = (table.clone(), column.clone());
        self.seen_column(&place, Vec::new())
            .map(|seen| self.compared(table, &seen, op, term))
            .unwrap_or_default()
    }

    fn compare(&self, table: &Name, left: &LooseExpr, op: Op, right: &Term) -> Vec<Way<Cond>> {
        let sides = self.exprs(table, left).into_iter();
        sides
            .flat_map(|(far, seen)| {
                let ways = self.compared(table, &seen, op, right).into_iter();
                ways.map(move |(more, cond)| (far + more, cond)).collect::<Vec<_>>()
            })
            .collect()
    }

    fn compared(&self, table: &Name, left: &Seen, op: Op, right: &Term) -> Vec<Way<Cond>> {
        // Texts have no order: grades, `3. May`.
        if op != Op::Equal && matches!(left.holds, Holds::Text | Holds::Bool | Holds::Nested) {
            return Vec::new();
        }
        let ways = self.terms(table, right, left).into_iter();
        ways.map(|(far, right)| (far, Cond::Compare { left: left.expr.clone(), op, right })).collect()
    }

    /// Of a list one value must be sure; the others are the author's words.
    fn listed(&self, table: &Name, column: &LooseExpr, terms: &[Term], is_said: bool) -> Vec<Way<Cond>> {
        let mut found = Vec::new();
        for (far, seen) in self.exprs(table, column) {
            let Some(path) = path_of(seen.clone()) else { continue };
            let scalars = |term: &Term| -> Vec<Scalar> {
                let values = self.terms(table, term, &seen).into_iter();
                let mut values: Vec<Scalar> = values
                    .filter_map(|(_, expr)| match expr {
                        Expr::Value(value) if !matches!(value, Scalar::Day(Day::Relative(..))) => Some(value),
                        _ => None,
                    })
                    .collect();
                values.sort();
                values.dedup();
                values
            };
            let ways: Vec<Vec<Scalar>> = terms.iter().map(scalars).collect();
            let is_known = is_said || ways.iter().any(|values| !values.is_empty());
            let ways: Vec<Vec<Way<Scalar>>> = ways
                .into_iter()
                .zip(terms)
                .map(|(values, term)| {
                    let values =
                        if values.is_empty() && is_known { self.literal(term, &seen) } else { values };
                    values.into_iter().map(|value| (0, value)).collect()
                })
                .collect();
            for (_, values) in product(&ways) {
                found.push((far, Cond::In { column: path.clone(), values }));
            }
        }
        found
    }

    /// A term as a value of a column, or nothing if it cannot be one: nothing is converted.
    fn terms(&self, table: &Name, term: &Term, column: &Seen) -> Vec<Way<Expr>> {
        let holds = column.holds;
        let scalar = |is_so: bool, value: Scalar| {
            if is_so { vec![(0, Expr::Value(value))] } else { Vec::new() }
        };
        let plain = |values: Vec<Scalar>| values.into_iter().map(|value| (0, Expr::Value(value))).collect();
        let number = |is_so: bool, number: Number| scalar(is_so, Scalar::Number(number));
        let unit = column.unit.as_deref().unwrap_or_default();
        match term {
            Term::Number(..) if holds == Holds::Text => plain(self.literal(term, column)),
            Term::Number(value, _) => number(holds.is_number(), *value),
            Term::Span(value) => number(holds == Holds::Span, *value),
            Term::Unit(value, said) => number(holds.is_number() && unit == said, *value),
            Term::Money(value, said) => number(holds.is_number() && unit.eq_ignore_ascii_case(said), *value),
            Term::Percent(value) => number(["%", "percent"].contains(&unit), *value),
            Term::Time(time) => scalar(holds == Holds::Time, Scalar::Time(time.clone())),
            Term::Day(day) => scalar(holds == Holds::Day, Scalar::Day(day.clone())),
            Term::Bool(value) => scalar(holds == Holds::Bool, Scalar::Bool(*value)),
            Term::Quote(text) if holds == Holds::Bool => {
                plain(self.truth(text, column).into_iter().collect())
            }
            Term::Quote(text) => scalar(holds == Holds::Text, Scalar::Text(text.clone())),
            Term::Literal(text, _) if holds == Holds::Bool => {
                plain(self.truth(text, column).into_iter().collect())
            }
            Term::Literal(_, is_sure) if *is_sure => plain(self.literal(term, column)),
            Term::Literal(..) => Vec::new(),
            Term::Known(values) => plain(self.known_terms(term, values, column)),
            Term::Expr(expr) => {
                let others = self.exprs(table, expr).into_iter();
                let alike =
                    others.filter(|(_, other)| other.holds.is_like(holds) && other.expr != column.expr);
                alike.map(|(far, other)| (far, other.expr)).collect()
            }
        }
    }

    /// Yes or no, in the words of the language or in those of the column.
    fn truth(&self, text: &str, column: &Seen) -> Option<Scalar> {
        let own = column.place.as_ref().and_then(|place| self.column(place)?.truth.as_ref());
        let truth = match own {
            Some((yes, _)) if yes.eq_ignore_ascii_case(text) => true,
            Some((_, no)) if no.eq_ignore_ascii_case(text) => false,
            _ => LEXICON.get("truth", &text.to_lowercase())? == "true",
        };
        Some(Scalar::Bool(truth))
    }

    fn known_terms(&self, term: &Term, values: &Values, column: &Seen) -> Vec<Scalar> {
        let Some(place) = column.place.as_ref().filter(|_| column.holds == Holds::Text) else {
            return Vec::new();
        };
        let refers = self.column(place).and_then(|column| column.refers.as_ref());
        let is_at = |(table, name, _): &&(Name, Name, String), wanted: &Place| {
            *table == wanted.0 && *name == wanted.1
        };
        // Of other tables only their own rows tell how a value is spelled.
        let is_of_row = self.judged.as_ref() == Some(&place.0)
            && matches!(&column.expr, Expr::Column(path) if path.hops.is_empty());
        let text = |found: &(Name, Name, String)| {
            let value = if is_of_row { values.in_its_letters(&found.2) } else { found.2.as_str().into() };
            Scalar::Text(value.into_owned())
        };
        let own: Vec<Scalar> = values.found.iter().filter(|found| is_at(found, place)).map(text).collect();
        let theirs = values.found.iter().filter(|found| refers.is_some_and(|refers| is_at(found, refers)));
        let mut all: Vec<Scalar> = theirs.map(text).filter(|value| !own.contains(value)).collect();
        all.extend(own);
        if all.is_empty() && is_certain(&values.written) {
            return self.literal(term, column);
        }
        all
    }

    /// A text that no row is known to have, as the author writes it. What is nearly a value of the rows may be a slip.
    fn literal(&self, term: &Term, column: &Seen) -> Vec<Scalar> {
        let raw = match term {
            Term::Literal(text, _) | Term::Number(_, text) => text,
            Term::Known(values) => &values.written,
            _ => return Vec::new(),
        };
        let Some(place) = column.place.as_ref().filter(|_| column.holds == Holds::Text) else {
            return Vec::new();
        };
        if !is_certain(raw) && self.index.is_nearly(place, raw) {
            return Vec::new();
        }
        vec![Scalar::Text(raw.clone())]
    }
}

/// Those that are nearest.
pub(crate) fn nearest<T>(ways: Vec<Way<T>>) -> Vec<T> {
    let least = ways.iter().map(|(far, _)| *far).min().unwrap_or_default();
    ways.into_iter().filter(|(far, _)| *far == least).map(|(_, way)| way).collect()
}

/// Every choice of one way from each.
pub(crate) fn product<T: Clone>(ways: &[Vec<Way<T>>]) -> Vec<Way<Vec<T>>> {
    let mut found: Vec<Way<Vec<T>>> = vec![(0, Vec::new())];
    for choices in ways {
        let mut next = Vec::new();
        for (far, chosen) in &found {
            for (more, choice) in choices {
                next.push((far + more, [chosen.as_slice(), std::slice::from_ref(choice)].concat()));
            }
        }
        found = next;
        // So many ways are no certain reading.
        if found.len() > WAYS_MAX {
            return Vec::new();
        }
    }
    found
}

fn computed(expr: Expr, holds: Holds) -> Seen {
    Seen { expr, holds, unit: None, place: None, source: Source::Lost }
}

fn path_of(seen: Seen) -> Option<Path> {
    match seen.expr {
        Expr::Column(path) => Some(path),
        _ => None,
    }
}

fn day_cond(path: Path, op: Op, day: &Day) -> Cond {
    Cond::Compare { left: Expr::Column(path), op, right: Expr::Value(Scalar::Day(day.clone())) }
}

/// That a value is there in a column of another table.
fn known_in(table: &Name, column: Name, key: Name) -> Cond {
    let link = Link { table: table.clone(), column, key };
    Cond::Exists { link, filter: Box::new(Cond::always()), op: Op::AtLeast, count: 1 }
}

/// Has no X: no of a yes or no, missing of anything else. Of a number it may mean that it is 0, too.
fn none(seen: Seen) -> Vec<Cond> {
    let holds = seen.holds;
    let Some(path) = path_of(seen) else { return Vec::new() };
    match holds {
        Holds::Bool => vec![Cond::is(path, Scalar::Bool(false))],
        Holds::Whole | Holds::Number | Holds::Span => {
            let zero = Cond::is(path.clone(), Scalar::Number(Number::count(0)));
            vec![zero, Cond::Null(path)]
        }
        _ => vec![Cond::Null(path)],
    }
}

/// Of a text its digits are counted, of a number it must be no finer.
fn decimals(seen: &Seen, path: Path, most: u32) -> Option<Cond> {
    if seen.holds.is_number() {
        let finest =
            Expr::Value(Scalar::Number(Number::new(10_f64.powi(i32::try_from(most).ok()?).recip())?));
        let rest = Expr::Calc(Calc::Remainder, vec![Expr::Column(path), finest]);
        return Some(Cond::Compare {
            left: rest,
            op: Op::Equal,
            right: Expr::Value(Scalar::Number(Number::count(0))),
        });
    }
    let fraction = if most == 0 { String::new() } else { format!("(\\.[0-9]{{1,{most}}})?") };
    text(seen, path, &TextTest::Matches(format!("[^.]*{fraction}")))
}

/// A text of the source can be judged only where it is known.
fn text(seen: &Seen, path: Path, test: &TextTest) -> Option<Cond> {
    let is_of_type = matches!(test, TextTest::Number | TextTest::Whole | TextTest::Date);
    (is_of_type || seen.source != Source::Lost).then(|| Cond::Text(path, test.clone()))
}
