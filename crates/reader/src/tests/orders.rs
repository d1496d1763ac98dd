//! The proof of orders: what is said is read, over random verbs whose names overlap.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{Dice, a_catalog, cases};
use crate::algebra::{Cond, Day, Expr, Name, Number, Op, Path, Scalar};
use crate::catalog::{Catalog, Column, Holds, Table};
use crate::change::{Argument, Call, Change, Row, To};
use crate::reader::Reader;
use crate::verbs::{Takes, Verb, VerbParam};
use crate::words;

/// Orders as people give them: what each is read as, asked back or declined at.
pub(super) const CORPUS: &str = include_str!("orders.jsonl");

const WORDS: [&str; 8] = ["buy", "order", "sell", "set price", "new", "price", "take", "i would like"];
const AFTER: [&str; 6] = ["for", "to", "from", "with", "to the price of", "for the"];
const NAMES: [&str; 6] = ["Moon", "Moon Lee", "price", "new", "x2", "12"];

fn takes(dice: &mut Dice) -> Takes {
    match dice.roll(10) {
        0..=2 => Takes::Row("shop".into()),
        3 => Takes::Row("sale".into()),
        4 => Takes::Count,
        5 => Takes::Number,
        6 => Takes::Name { known: None, is_new: dice.roll(2) == 0 },
        7 => Takes::Text,
        8 => Takes::Day,
        _ => Takes::Time,
    }
}

fn a_verb(dice: &mut Dice, name: &str) -> Verb {
    let params: Vec<VerbParam> = ["item", "price", "who", "day"][..=dice.roll(4)]
        .iter()
        .map(|name| {
            let takes = takes(dice);
            let is_free = matches!(takes, Takes::Name { .. } | Takes::Text);
            let after =
                if is_free || dice.roll(2) == 0 { vec![dice.pick(&AFTER).to_owned()] } else { Vec::new() };
            let default = (takes == Takes::Count && dice.roll(3) == 0).then(|| number(1));
            VerbParam { name: (*name).to_owned(), takes, after, default }
        })
        .collect();
    let each = if dice.roll(2) == 0 { vec!["item".to_owned(), "price".to_owned()] } else { Vec::new() };
    Verb { name: name.into(), words: vec![dice.pick(&WORDS).to_owned()], each, params, remarks: Vec::new() }
}

fn number(count: u32) -> Scalar {
    Scalar::Number(Number::count(count))
}

fn a_row(dice: &mut Dice, table: &str) -> Row {
    let column: Name = if dice.roll(2) == 0 { format!("{table}_id").into() } else { "called".into() };
    Row { table: table.into(), column, value: Scalar::Text(dice.pick(&NAMES).to_owned()) }
}

fn an_argument(dice: &mut Dice, param: &VerbParam) -> Argument {
    if dice.roll(5) == 0 {
        return param.default.clone().map_or(Argument::Missing, Argument::Value);
    }
    Argument::Value(match &param.takes {
        Takes::Row(table) => return Argument::Row(a_row(dice, table)),
        Takes::Name { .. } if dice.roll(3) == 0 => return Argument::New("Zoe".to_owned()),
        Takes::Name { .. } | Takes::Text | Takes::Value(..) => {
            Scalar::Text(dice.pick(&["Bob", "Dave Lee", "for", "2 Moon"]).to_owned())
        }
        Takes::Day => Scalar::Day(Day::On("2026-03-10".to_owned())),
        Takes::Time => Scalar::Time("10:30".to_owned()),
        Takes::Count | Takes::Number | Takes::Money | Takes::Percent => number(2),
    })
}

fn a_step(dice: &mut Dice, catalog: &Catalog) -> Change {
    let table = dice.pick(&catalog.tables[..2]);
    let column = |dice: &mut Dice, pick: fn(&&Column) -> bool| {
        let all: Vec<Column> = table.columns.iter().filter(pick).cloned().collect();
        (!all.is_empty()).then(|| dice.pick(&all).name)
    };
    let row = a_row(dice, &table.name);
    let is_text = |column: &&Column| column.holds == Holds::Text && column.refers.is_none();
    match dice.roll(7) {
        0 => Change::Remove(row),
        1 => column(dice, |column| column.holds.is_number()).map_or(Change::Undo, |column| {
            let size = Number::count(5);
            let to = dice.pick(&[
                To::Moved(size, true),
                To::By(size),
                To::By(size.negated()),
                To::Percent(size),
                To::Value(Argument::Value(Scalar::Number(size))),
            ]);
            Change::Set { row, column, to }
        }),
        2 => column(dice, is_text).map_or(Change::Undo, |column| {
            let to = To::Value(Argument::Value(Scalar::Text(dice.pick(&NAMES).to_owned())));
            Change::Set { row, column, to }
        }),
        3 => column(dice, is_text).map_or(Change::Undo, |column| {
            let value = Argument::Value(Scalar::Text(dice.pick(&NAMES).to_owned()));
            Change::Add { table: table.name.clone(), values: vec![(column.to_string(), value)] }
        }),
        _ => {
            let verb = dice.pick(&catalog.verbs);
            let arguments =
                verb.params.iter().map(|param| (param.name.clone(), an_argument(dice, param))).collect();
            Change::Call(Call { verb: verb.name, arguments })
        }
    }
}

fn a_change(dice: &mut Dice, catalog: &Catalog) -> Change {
    let change = match dice.roll(4) {
        0 => Change::then((0..2 + dice.roll(2)).map(|_| a_step(dice, catalog)).collect()),
        _ => a_step(dice, catalog),
    };
    if dice.roll(3) > 0 || matches!(change, Change::Then(_)) {
        return change;
    }
    let row = a_row(dice, "shop");
    let cond = Cond::Compare {
        left: Expr::Column(Path::own(&"weighing".into())),
        op: Op::Below,
        right: Expr::Value(number(3)),
    };
    Change::When { row, cond, is_denied: dice.roll(2) == 0, then: Box::new(change) }
}

/// The tables of rules, with names for their rows and verbs about them.
fn with_verbs(mut catalog: Catalog, dice: &mut Dice) -> Catalog {
    for table in &mut catalog.tables {
        let mut called = Column::new("called", Holds::Text);
        called.values = NAMES.map(str::to_owned).to_vec();
        table.columns.push(called);
        table.columns.push(Column::new("weighing", Holds::Whole));
        table.label = Some("called".into());
    }
    catalog.verbs = ["sell", "book", "price"].map(|name| a_verb(dice, name)).to_vec();
    catalog
}

#[test]
fn an_order_is_read_as_the_change_that_it_says() {
    let mut runner =
        TestRunner::new(Config { cases: cases(), failure_persistence: None, ..Config::default() });
    let worlds = (a_catalog(), prop::collection::vec(any::<u8>(), 120), any::<prop::sample::Index>());
    runner
        .run(&worlds, |(catalog, bytes, place)| {
            let mut dice = Dice(bytes);
            let catalog = with_verbs(catalog, &mut dice);
            let change = a_change(&mut dice, &catalog);
            let reader = Reader::of_changes(catalog.clone());
            for is_exact in [false, true] {
                let said = words::change(&change, &catalog, is_exact);
                prop_assert!(said.is_some(), "there are no words for {change:?}");
                let said = said.unwrap();
                let read = reader.changes(&said).map(|read| read.meanings).unwrap_or_default();
                // In plain words a name may be that of something else, too, and a text may need its quotes.
                match read.as_slice() {
                    [one] if is_exact => prop_assert_eq!(one, &change, "{}", said),
                    _ if is_exact => prop_assert!(false, "{said}: {read:?}, not {change:?}"),
                    _ => {}
                }
                // Any word that is replaced by nonsense leaves nothing to be done.
                let tokens = crate::token::tokens(&said);
                let token = &tokens[place.index(tokens.len())];
                if token.kind != crate::token::Kind::Quote {
                    let broken = format!("{}zxqv{}", &said[..token.at.0], &said[token.at.1..]);
                    let read = reader.changes(&broken).map(|read| read.meanings).unwrap_or_default();
                    prop_assert!(read.is_empty(), "{}: {:?}", broken, read);
                }
            }
            Ok(())
        })
        .unwrap();
}

/// A shop with the verbs of the example.
pub(super) fn shop() -> Catalog {
    let texts = |name: &str, values: &[&str]| Column {
        values: values.iter().map(|value| (*value).to_owned()).collect(),
        ..Column::new(name, Holds::Text)
    };
    let money = |name: &str| Column { unit: Some("USD".to_owned()), ..Column::new(name, Holds::Number) };
    let mut items = Table::new(
        "inventory",
        vec![
            texts("item_id", &["SG001", "SG005", "SG006"]),
            texts("name", &["Aviator", "Classic", "Moon", "Night Moon"]),
            money("price"),
            Column::new("reorder_quantity", Holds::Whole),
            texts("shape", &["round", "square"]),
            Column::new("sold_since", Holds::Day),
        ],
    );
    items.words.extend(["pair", "sunglasses", "item"].map(str::to_owned));
    items.key = Some("item_id".into());
    let mut sales = Table::new(
        "transactions",
        vec![Column::new("number", Holds::Whole), texts("customer_name", &["Alice", "Bob"])],
    );
    sales.key = Some("number".into());
    let mut members = Table::new(
        "members",
        vec![texts("member_id", &["M1", "M2"]), texts("name", &["Ida Bloom", "Otto Lindh"])],
    );
    members.words.push("member".to_owned());
    members.key = Some("member_id".into());
    members.columns.push(Column {
        refers: Some(("inventory".into(), "item_id".into())),
        ..Column::new("wears", Holds::Text)
    });
    let param = |name: &str, takes: Takes, after: &[&str]| VerbParam {
        name: name.to_owned(),
        takes,
        after: after.iter().map(|word| (*word).to_owned()).collect(),
        default: None,
    };
    let customer = || VerbParam {
        default: Some(Scalar::Text("Walk-in customer".to_owned())),
        ..param(
            "customer",
            Takes::Name { known: Some(("transactions".into(), "customer_name".into())), is_new: false },
            &["for", "to"],
        )
    };
    let verb = |name: &str, words: &[&str], each: &[&str], params: Vec<VerbParam>, remarks: &[&str]| Verb {
        name: name.into(),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        each: each.iter().map(|word| (*word).to_owned()).collect(),
        params,
        remarks: remarks.iter().map(|word| (*word).to_owned()).collect(),
    };
    let item = || param("item", Takes::Row("inventory".into()), &[]);
    let quantity = || param("quantity", Takes::Count, &[]);
    let each = &["quantity", "item"];
    let words = &["buy", "order", "take", "sell", "sell me", "i need", "i would like"];
    let verbs = vec![
        verb("sell", words, each, vec![customer(), item(), quantity()], &[]),
        verb("take_back", &["return"], each, vec![customer(), item(), quantity()], &["I bought"]),
        verb(
            "count_stock",
            &["set the stock of"],
            &[],
            vec![item(), param("quantity", Takes::Count, &["to"])],
            &[],
        ),
        verb(
            "lend",
            &["lend", "borrow"],
            &["item"],
            vec![item(), param("member", Takes::Row("members".into()), &["to", "for"])],
            &[],
        ),
        verb(
            "book",
            &["book"],
            &[],
            vec![
                param("member", Takes::Row("members".into()), &[]),
                param("fee", Takes::Money, &["at"]),
                param("share", Takes::Percent, &["with"]),
                param("day", Takes::Day, &["on"]),
                param("hour", Takes::Time, &["at"]),
                param("note", Takes::Text, &["noting"]),
                param("shape", Takes::Value("inventory".into(), "shape".into()), &["in"]),
            ],
            &[],
        ),
    ];
    for table in [&mut items, &mut members] {
        table.label = Some("name".into());
    }
    Catalog { verbs, ..Catalog::of(vec![items, sales, members]) }.with_references()
}
