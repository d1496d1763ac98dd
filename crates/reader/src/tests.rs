//! The proof of the language: what it says it reads, over random tables whose names overlap.

mod orders;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::algebra::{
    Calc, Claim, Cond, Day, Demand, Expr, Figure, Function, Link, Name, Number, Op, Path, Scalar, TextTest,
    Unit,
};
use crate::catalog::{Catalog, Column, Holds, Metric, Source, Table};
use crate::query::{Ask, Chart, Group, Meaning, Measure, Order, Part, Query, Top};
use crate::reader::{Read, Reader, Reading};
use crate::words;

/// Sentences, as people write them: what each is read as, asked back or declined at, by the table that is judged.
const CORPUS: &str = include_str!("tests/corpus.jsonl");
/// The same of questions.
const QUESTIONS: &str = include_str!("tests/questions.jsonl");

/// Words of which names are made, so that parts of one are parts of others.
const WORDS: [&str; 14] = [
    "price", "unit", "list", "quantity", "reorder", "status", "code", "city", "start", "end", "paid",
    "weight", "total", "note",
];
/// Values of texts, some of which are words of names or of the language.
const VALUES: [&str; 8] = ["new", "Paid", "price", "not paid", "A-1", "empty", "North", "one"];

fn a_name() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 1..3).prop_map(|words| words.join("_"))
}

fn a_column() -> impl Strategy<Value = Column> {
    let kinds = [Holds::Text, Holds::Whole, Holds::Number, Holds::Bool, Holds::Day, Holds::Time];
    (
        a_name(),
        prop::sample::select(kinds.to_vec()),
        prop::collection::vec(prop::sample::select(&VALUES[..]), 0..3),
    )
        .prop_map(|(name, holds, values)| {
            let mut column = Column::new(&name, holds);
            if holds == Holds::Text {
                column.values = values.into_iter().map(str::to_owned).collect();
            }
            if holds == Holds::Time {
                column.source = Source::Same;
            }
            column
        })
}

fn a_table(name: &'static str) -> impl Strategy<Value = Table> {
    prop::collection::vec(a_column(), 3..7).prop_map(move |mut columns| {
        columns.sort_by(|one, other| one.name.cmp(&other.name));
        columns.dedup_by(|one, other| one.name == other.name);
        columns.insert(0, Column::new(&format!("{name}_id"), Holds::Text));
        let mut table = Table::new(name, columns);
        table.key = Some(format!("{name}_id").into());
        table
    })
}

/// Two tables, of which the first refers to the second.
fn a_catalog() -> impl Strategy<Value = Catalog> {
    (a_table("sale"), a_table("shop")).prop_map(|(mut sales, shops)| {
        sales.columns.push(Column::new("shop_id", Holds::Text));
        Catalog::of(vec![sales, shops]).with_references()
    })
}

/// A source of choices.
#[derive(Debug)]
struct Dice(Vec<u8>);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        usize::from(self.0.pop().unwrap_or_default()) % sides.max(1)
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.roll(all.len())].clone()
    }
}

const OPS: [Op; 4] = [Op::Below, Op::AtMost, Op::Above, Op::AtLeast];

/// A condition that the columns of a table can have.
fn a_cond(dice: &mut Dice, catalog: &Catalog, table: &Table, depth: usize) -> Cond {
    if depth > 0 && dice.roll(3) == 0 {
        let parts = (0..2 + dice.roll(2)).map(|_| a_cond(dice, catalog, table, depth - 1)).collect();
        return if dice.roll(2) == 0 { Cond::All(parts) } else { Cond::Any(parts) };
    }
    let column = dice.pick(&table.columns);
    let path = Path::own(&column.name);
    let own = Expr::Column(path.clone());
    let cond = match (dice.roll(8), column.holds) {
        (0, _) => Cond::Null(path),
        (1, _) if &*table.name == "shop" => {
            let link = Link { table: "sale".into(), column: "shop_id".into(), key: "shop_id".into() };
            let others = catalog.tables[0].clone();
            let filter = if dice.roll(2) == 0 { Cond::always() } else { a_cond(dice, catalog, &others, 0) };
            let (op, count) =
                dice.pick(&[(Op::AtLeast, 1), (Op::Equal, 0), (Op::AtMost, 3), (Op::AtLeast, 2)]);
            Cond::Exists { link, filter: Box::new(filter), op, count }
        }
        (2, _) if &*table.name == "sale" => {
            let hops = catalog.tables[0].columns.iter().find_map(|column| {
                let (to, key) = column.refers.clone()?;
                Some(vec![crate::algebra::Hop { column: column.name.clone(), table: to, key }])
            });
            let theirs = dice.pick(&catalog.tables[1].columns);
            Cond::Null(Path { hops: hops.unwrap_or_default(), column: theirs.name })
        }
        (_, Holds::Text) => match dice.roll(5) {
            0 => Cond::Text(path, TextTest::Contains("x y".to_owned())),
            1 => Cond::Text(path, TextTest::Matches("[A-Z]{2}-\\d+".to_owned())),
            2 => Cond::Text(path, TextTest::Length(Some(2), dice.pick(&[None, Some(2), Some(9)]))),
            3 => Cond::Text(
                path,
                dice.pick(&[TextTest::Starts("a".to_owned()), TextTest::Ends("-".to_owned())]),
            ),
            _ => {
                let values =
                    (0..=dice.roll(2)).map(|_| Scalar::Text(dice.pick(&VALUES).to_owned())).collect();
                Cond::In { column: path, values }
            }
        },
        (_, Holds::Bool) => Cond::is(path, Scalar::Bool(dice.roll(2) == 0)),
        (_, Holds::Time) => {
            let time = Scalar::Time(dice.pick(&["06:00", "16:30"]).to_owned());
            Cond::Compare { left: own, op: dice.pick(&OPS), right: Expr::Value(time) }
        }
        (_, Holds::Day) if dice.roll(3) == 0 => Cond::Weekday(path, dice.pick(&[vec![6, 7], vec![1]])),
        (_, Holds::Day) => {
            let days = [
                Day::On("2026-03-10".to_owned()),
                Day::Relative(Unit::Day, 0),
                Day::Relative(Unit::Day, -30),
                Day::Relative(Unit::Month, 0),
            ];
            let day = Expr::Value(Scalar::Day(dice.pick(&days)));
            Cond::Compare { left: own, op: dice.pick(&OPS), right: day }
        }
        _ => {
            let numbers = [0.0, 0.5, 3.0, 1000.0, -2.0].map(|number| Number::new(number).unwrap());
            let number = Expr::Value(Scalar::Number(dice.pick(&numbers)));
            let others: Vec<Column> = table
                .columns
                .iter()
                .filter(|other| other.holds.is_number() && other.name != column.name)
                .cloned()
                .collect();
            let right = match (dice.roll(4), others.is_empty()) {
                (0, false) => Expr::Column(Path::own(&dice.pick(&others).name)),
                (1, false) => {
                    let other = Expr::Column(Path::own(&dice.pick(&others).name));
                    Expr::Calc(
                        dice.pick(&[Calc::Sum, Calc::Difference, Calc::Product]),
                        vec![other, Expr::Value(Scalar::Number(numbers[2]))],
                    )
                }
                _ => number,
            };
            Cond::Compare { left: own, op: dice.pick(&OPS), right }
        }
    };
    if dice.roll(4) == 0 { cond.denied() } else { cond }
}

fn a_demand(dice: &mut Dice, catalog: &Catalog) -> Demand {
    let table = dice.pick(&catalog.tables);
    let when = if dice.roll(3) == 0 { a_cond(dice, catalog, &table, 0) } else { Cond::always() };
    let column = |dice: &mut Dice| Path::own(&dice.pick(&table.columns).name);
    let claim = match dice.roll(8) {
        0 => Claim::Every(Cond::Unique((0..=dice.roll(1)).map(|_| column(dice)).collect())),
        1 => {
            let (left, right) = (column(dice), column(dice));
            if left == right {
                Claim::Every(Cond::Null(left).denied())
            } else {
                Claim::Every(Cond::Depends(left, right))
            }
        }
        2 => Claim::Share(a_cond(dice, catalog, &table, 0), dice.pick(&OPS), Number::count(5)),
        3 => {
            let numbers: Vec<&Column> =
                table.columns.iter().filter(|column| column.holds.is_number()).collect();
            let by = if dice.roll(2) == 0 { vec![column(dice)] } else { Vec::new() };
            let figure = match numbers.first() {
                Some(number) if dice.roll(2) == 0 => {
                    let function =
                        dice.pick(&[Function::Sum, Function::Average, Function::Maximum, Function::Distinct]);
                    Figure { function, of: Some(Path::own(&number.name)), by }
                }
                _ => Figure { function: Function::Count, of: None, by },
            };
            Claim::Bounds(figure, vec![(dice.pick(&OPS), Number::count(7))])
        }
        _ => Claim::Every(a_cond(dice, catalog, &table, 2)),
    };
    Demand { table: table.name.clone(), when, claim }.normal()
}

/// Whether a condition may be said at all: a list of nothing, or of everything, is no sentence.
fn can_be_said(demand: &Demand) -> bool {
    let is_empty = |cond: &Cond| matches!(cond, Cond::All(all) | Cond::Any(all) if all.is_empty());
    match &demand.claim {
        Claim::Every(test) | Claim::Share(test, ..) => !is_empty(test),
        Claim::Bounds(..) => true,
    }
}

fn cases() -> u32 {
    std::env::var("READER_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60)
}

#[test]
fn a_sentence_is_read_as_the_meaning_that_it_says() {
    let mut runner =
        TestRunner::new(Config { cases: cases(), failure_persistence: None, ..Config::default() });
    let worlds = (a_catalog(), prop::collection::vec(any::<u8>(), 60), any::<prop::sample::Index>());
    runner
        .run(&worlds, |(catalog, bytes, place)| {
            let demand = a_demand(&mut Dice(bytes), &catalog);
            prop_assume!(can_be_said(&demand));
            let judged: Name = demand.table.clone();
            let reader = Reader::new(catalog.clone(), Some(&judged));
            for is_exact in [false, true] {
                let said = words::demand(&demand, &catalog, is_exact);
                prop_assert!(said.is_some(), "there are no words for {demand:?}");
                let said = said.unwrap();
                match reader.rule(&said) {
                    Reading::Certain(read) => prop_assert_eq!(&*read, &demand, "{}", said),
                    // In plain words a name may be that of something else, too.
                    Reading::Choose(read) => {
                        prop_assert!(!is_exact && read.contains(&demand), "{said}: {read:?}, not {demand:?}");
                    }
                    silent @ Reading::Silent { .. } => prop_assert!(!is_exact, "{said}: {silent:?}"),
                }
                // Any word that is replaced by nonsense leaves nothing to be done.
                let tokens = crate::token::tokens(&said);
                let token = &tokens[place.index(tokens.len())];
                if token.kind != crate::token::Kind::Quote {
                    let broken = format!("{}zxqv{}", &said[..token.at.0], &said[token.at.1..]);
                    prop_assert!(!matches!(reader.rule(&broken), Reading::Certain(_)), "{}", broken);
                }
            }
            Ok(())
        })
        .unwrap();
}

/// A question that can be asked of a table.
fn a_question(dice: &mut Dice, catalog: &Catalog) -> Meaning {
    let table = dice.pick(&catalog.tables);
    let filter = if dice.roll(2) == 0 { a_cond(dice, catalog, &table, 1) } else { Cond::always() };
    let column = |dice: &mut Dice| Path::own(&dice.pick(&table.columns).name);
    let part = |dice: &mut Dice| dice.pick(&[Part::All, Part::First(1), Part::First(3), Part::Place(2)]);
    let numbers: Vec<&Column> = table.columns.iter().filter(|column| column.holds.is_number()).collect();
    let days: Vec<&Column> = table.columns.iter().filter(|column| column.holds == Holds::Day).collect();
    let is_ordered = |column: &&Column| column.holds != Holds::Bool;
    let ordered: Vec<&Column> = table.columns.iter().filter(is_ordered).collect();
    let groups = |dice: &mut Dice| match (dice.roll(4), days.first()) {
        (0, Some(day)) => {
            vec![Group {
                of: Path::own(&day.name),
                per: Some(dice.pick(&[Unit::Day, Unit::Month, Unit::Year])),
            }]
        }
        (1 | 2, _) => (0..=dice.roll(1)).map(|_| Group { of: column(dice), per: None }).collect(),
        _ => Vec::new(),
    };
    let ask = match dice.roll(5) {
        0 => {
            let columns = (0..dice.roll(3)).map(|_| column(dice)).collect();
            let order = (dice.roll(2) == 0).then(|| {
                let top = Top { is_down: dice.roll(2) == 0, part: part(dice) };
                Order { by: Path::own(&dice.pick(&ordered).name), top }
            });
            Ask::Rows(columns, order)
        }
        1 => Ask::Share(a_cond(dice, catalog, &table, 1), groups(dice)),
        2 => Ask::Holds(a_cond(dice, catalog, &table, 1)),
        _ => {
            let by = groups(dice);
            let top = Top { is_down: dice.roll(2) == 0, part: dice.pick(&[Part::All, Part::First(2)]) };
            let top = (!by.is_empty() && dice.roll(2) == 0).then_some(top);
            let measure = match numbers.first() {
                Some(number) if dice.roll(3) > 0 => {
                    let functions = [Function::Sum, Function::Average, Function::Median, Function::Distinct];
                    let of = Expr::Column(Path::own(&number.name));
                    Measure::One(dice.pick(&functions), Some(of))
                }
                _ => Measure::One(Function::Count, None),
            };
            Ask::Figure(measure, by, top)
        }
    };
    let query = Query { table: table.name.clone(), filter, ask };
    match &query.ask {
        Ask::Figure(_, by, _) if !by.is_empty() && dice.roll(4) == 0 => {
            Meaning::Chart(dice.pick(&[Chart::Bar, Chart::Line, Chart::Pie]), query).normal()
        }
        _ => Meaning::Query(query).normal(),
    }
}

#[test]
fn a_question_is_read_as_the_meaning_that_it_says() {
    let mut runner =
        TestRunner::new(Config { cases: cases(), failure_persistence: None, ..Config::default() });
    let worlds = (a_catalog(), prop::collection::vec(any::<u8>(), 60), any::<prop::sample::Index>());
    runner
        .run(&worlds, |(catalog, bytes, place)| {
            let meaning = a_question(&mut Dice(bytes), &catalog);
            let reader = Reader::of_requests(catalog.clone());
            for is_exact in [false, true] {
                let Some(said) = words::meaning(&meaning, &catalog, is_exact) else { return Ok(()) };
                match reader.request(&said) {
                    Reading::Certain(read) => prop_assert_eq!(&*read, &meaning, "{}", said),
                    // In plain words a name may be that of something else, too.
                    Reading::Choose(read) => {
                        prop_assert!(
                            !is_exact && read.contains(&meaning),
                            "{said}: {read:?}, not {meaning:?}"
                        );
                    }
                    silent @ Reading::Silent { .. } => prop_assert!(!is_exact, "{said}: {silent:?}"),
                }
                let tokens = crate::token::tokens(&said);
                let token = &tokens[place.index(tokens.len())];
                if token.kind != crate::token::Kind::Quote {
                    let broken = format!("{}zxqv{}", &said[..token.at.0], &said[token.at.1..]);
                    prop_assert!(!matches!(reader.request(&broken), Reading::Certain(_)), "{}", broken);
                }
            }
            Ok(())
        })
        .unwrap();
}

/// The tables that the corpus is about.
fn shop() -> Catalog {
    use Holds::{Day, Number, Text, Whole};
    let column = |(name, holds): (&str, Holds)| Column {
        source: match holds {
            Text => Source::Same,
            Whole => Source::Digits,
            Day => Source::IsoDay,
            _ => Source::Lost,
        },
        values: match name {
            "status" => ["paid", "open", "new", "cancelled", "active", "paused"].map(str::to_owned).to_vec(),
            "tier" => ["gold", "silver"].map(str::to_owned).to_vec(),
            _ => Vec::new(),
        },
        ..Column::new(name, holds)
    };
    let table = |name: &str, columns: &[(&str, Holds)]| {
        let mut table = Table::new(name, columns.iter().copied().map(column).collect());
        table.key = Some(columns[0].0.into());
        table
    };
    let orders = [
        ("order_id", Text),
        ("user_id", Text),
        ("quantity", Whole),
        ("price", Number),
        ("total", Number),
        ("status", Text),
        ("created_at", Day),
        ("paid_at", Day),
        ("order_no", Text),
        ("sku", Text),
        ("email", Text),
        ("order_date", Day),
        ("qty", Whole),
        ("ship_date", Day),
        ("coupon_code", Text),
        ("notes", Text),
        ("credit_limit", Number),
        ("discount_pct", Number),
        ("list_price", Number),
        ("cost_price", Number),
        ("net_amount", Number),
        ("weight", Number),
    ];
    let tables = vec![
        table("orders", &orders),
        table("users", &[("user_id", Text), ("email", Text), ("country", Text), ("city", Text)]),
        table("payments", &[("payment_id", Text), ("amount", Number)]),
        table(
            "customers",
            &[("customer_id", Text), ("tier", Text), ("credit_limit", Number), ("status", Text)],
        ),
        table(
            "readings",
            &[("reading_id", Text), ("sensor_id", Text), ("temperature_c", Number), ("battery_v", Number)],
        ),
    ];
    Catalog::of(tables).with_references()
}

/// Whether each line of a corpus is read, asked back or declined as it says; the productions that took part.
fn wrong_in<M>(
    corpus: &str,
    read: impl Fn(&serde_json::Value) -> (Reading<M>, Option<Read<M>>),
    words: impl Fn(&M) -> Option<String>,
) -> std::collections::BTreeSet<usize> {
    let mut used = std::collections::BTreeSet::new();
    let mut wrong = Vec::new();
    for line in corpus.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let (reading, read) = read(&case);
        let read = read.unwrap();
        assert!(read.lost.is_empty(), "{line}: {:?} leave something out", read.lost);
        used.extend(read.used);
        let mut found = match reading {
            Reading::Certain(meaning) => serde_json::json!({"read": words(&meaning)}),
            Reading::Choose(meanings) => serde_json::json!({"asks": meanings.len()}),
            Reading::Silent { at, .. } => serde_json::json!({"declines": at.unwrap_or_default()}),
        };
        if found.as_object().unwrap().iter().any(|(key, value)| case[key] != *value) {
            found["text"] = case["text"].clone();
            wrong.push(found.to_string());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    used
}

#[test]
fn the_sentences_of_the_corpus_are_read_as_they_were() {
    let rules = wrong_in(
        CORPUS,
        |case| {
            let reader = Reader::new(shop(), case["judged"].as_str());
            let text = case["text"].as_str().unwrap();
            (reader.rule(text), reader.demands(text))
        },
        |demand| Reader::new(shop(), Some(&demand.table)).words(demand),
    );
    let mut catalog = shop();
    catalog.tables[0].label = Some("order_no".into());
    for column in &mut catalog.tables[0].columns {
        if &*column.name == "order_no" {
            column.values = vec!["A-17".to_owned()];
        }
        if column.name.ends_with("price") || &*column.name == "total" {
            column.unit = (&*column.name == "total").then(|| "USD".to_owned());
        }
    }
    for column in &mut catalog.tables[1].columns {
        if &*column.name == "city" {
            column.values = vec!["Berlin".to_owned()];
        }
    }
    let total = Expr::Column(Path::own(&"total".into()));
    catalog.metrics.push(Metric {
        words: vec!["spent".to_owned()],
        table: "orders".into(),
        measure: Measure::One(Function::Sum, Some(total)),
        filter: Cond::always(),
        by: Vec::new(),
    });
    let reader = Reader::of_requests(catalog);
    let questions = wrong_in(
        QUESTIONS,
        |case| {
            let text = case["text"].as_str().unwrap();
            (reader.request(text), reader.meanings(text))
        },
        |meaning| reader.words_of(meaning),
    );
    let reader = Reader::of_changes(orders::shop());
    let ordered = wrong_in(
        orders::CORPUS,
        |case| {
            let text = case["text"].as_str().unwrap();
            (reader.change(text), reader.changes(text))
        },
        |change| reader.words_of_change(change),
    );
    let used: std::collections::BTreeSet<usize> = [rules, questions, ordered].into_iter().flatten().collect();
    let built =
        crate::grammar::GRAMMAR.productions.iter().flatten().filter(|production| production.build.is_some());
    let without: Vec<&str> = built
        .filter(|production| !used.contains(&production.number))
        .map(|production| production.text)
        .collect();
    // What is left without a sentence may become less, and not more.
    assert!(
        without.len() <= WITHOUT_MAX,
        "{} productions have no sentence:\n{}",
        without.len(),
        without.join("\n")
    );
}

/// Productions of which the corpus has no sentence yet.
const WITHOUT_MAX: usize = 116;
