//! The reader's laws: every word is understood or the request is declined, and every plan passes the verifier.

mod amounts;
mod box_office;
mod conditions;
mod deeds;
mod lists;
mod newcomer;
mod roastery;
mod said_again;
mod spoiled;
mod stable;
mod theatre;
mod turns;
mod velo;
mod yard;

use std::collections::BTreeMap;
use std::path::Path;

use ordain_planner::reader;
use ordain_planner::{Brief, ColumnBrief, Draft, Reply, TableBrief, Task, Turn};
use ordain_types::{Catalog, Column, ColumnType, HeldBy, Schema, Table};
use ordain_verify::{CORE_IMPORTS, Contract, Policy, helpers_of, verify};
use serde_json::{Map, Value};

/// A brief as the engine makes it of an example's files.
fn brief(example: &str, request: &str) -> Brief {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    let text = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_default();
    let mut brief = Brief::new(Task::Ask, request);
    brief.policy = text("policy.md");
    brief.helpers = text("helpers.py");
    let tables: &[&str] = match example {
        "sunglasses" => &["inventory", "transactions"],
        "library" => &["books", "members", "loans"],
        "bank" => &["accounts", "transfers"],
        "clinic" => &["doctors", "patients", "appointments"],
        _ => &["parts", "sales_ledger", "customers"],
    };
    let read = tables.iter().map(|name| table(name, &text(&format!("tables/{name}.json"))));
    brief.tables = std::sync::Arc::new(read.collect());
    // The store's settings of columns are no part of the catalog.
    let toml = text("ordain.toml").replace("nullable = false, ", "").replace(", nullable = false", "");
    brief.catalog = std::sync::Arc::new(toml::from_str::<Catalog>(&toml).unwrap());
    brief
}

/// A brief about tables whose rows are given, with their catalog.
fn brief_of(tables: &[(&str, &str)], catalog: &str, request: &str) -> Brief {
    let tables: Vec<_> = tables.iter().map(|(name, rows)| table(name, rows)).collect();
    let catalog = std::sync::Arc::new(toml::from_str(catalog).unwrap());
    Brief { tables: tables.into(), catalog, ..Brief::new(Task::Ask, request) }
}

/// A turn that was recorded.
fn turn(request: &str, answer: &str, status: &str) -> Turn {
    Turn {
        request: request.to_owned(),
        answer: answer.to_owned(),
        status: Some(status.to_owned()),
        run_id: Some("01m7run".to_owned()),
    }
}

/// A brief after turns of one status, each with its answer.
fn after(turns: &[(&str, &str)], status: &str, brief: Brief) -> Brief {
    let turns = turns.iter().map(|(request, answer)| turn(request, answer, status)).collect();
    Brief { turns, ..brief }
}

/// Nothing would be done for any of these requests.
#[track_caller]
fn are_declined(brief: impl Fn(&str) -> Brief, requests: &[&str]) {
    for request in requests {
        let brief = brief(request);
        assert!(!matches!(reader::plan(&brief), Reply::Plan(_)), "{request}: {}", said(&brief));
    }
}

fn table(name: &str, seed: &str) -> TableBrief {
    // The parser of JSON sorts an object's members; the first line of the seed has them in order.
    let rows: Vec<Map<String, Value>> = serde_json::from_str(seed).unwrap();
    let mut names: Vec<&String> = rows[0].keys().collect();
    names.sort_by_key(|name| seed.find(&format!("\"{name}\"")));
    let columns = names.iter().map(|name| Column {
        name: (*name).clone(),
        column_type: match &rows[0][*name] {
            Value::Number(number) if number.is_i64() && !name.contains("price") => ColumnType::Integer,
            Value::Number(_) => ColumnType::Real,
            _ => ColumnType::Text,
        },
        nullable: true,
        hidden: false,
    });
    let table = Table {
        name: name.to_owned(),
        columns: columns.collect(),
        key: vec![names[0].clone()],
        append_only: name.contains("transactions") || name.contains("ledger"),
        read_only: name == "customers",
        hidden: false,
    };
    let columns = names.iter().map(|name| ColumnBrief {
        name: (*name).clone(),
        null_share: if rows.iter().any(|row| row[*name].is_null()) { 0.5 } else { 0.0 },
        samples: Vec::new(),
        values: Some(rows.iter().map(|row| row[*name].clone()).filter(|value| !value.is_null()).collect()),
        shape: None,
        unit: None,
        reading: Value::Null,
    });
    TableBrief {
        columns: columns.collect(),
        rows: rows.len() as u64,
        roles: BTreeMap::new(),
        references: Vec::new(),
        indexes: Vec::new(),
        table,
    }
}

fn plan(request: &str) -> Option<Draft> {
    match reader::plan(&brief("sunglasses", request)) {
        Reply::Plan(draft) => Some(draft),
        _ => None,
    }
}

/// What a request would change: the code and its values, if the code calls an action or writes.
fn change(request: &str) -> Option<(String, String)> {
    let draft = plan(request)?;
    let changes =
        ["sell(", "take_back(", "restock(", ".update("].iter().any(|call| draft.code.contains(call));
    let values: Vec<String> =
        draft.params.iter().map(|param| format!("{}={}", param.name, param.value)).collect();
    changes.then(|| (draft.code.lines().skip(1).collect(), values.join(";")))
}

const ORDERS: [&str; 12] = [
    "Buy 2 Moon",
    "Purchase 3 Wayfarer sunglasses for customer Alice.",
    "I want to buy 3 pairs of classic sunglasses and 1 pair of aviator sunglasses.",
    "Could you please sell me 3 classics?",
    "Return 2 Aviator sunglasses I bought last week.",
    "restock 10 shields",
    "Set the price of Sport to 15",
    "Increase the price of Sport by 10%",
    "Buy 2 moons and return 1 aviator",
    "Buy SG005 x2",
    "I'll take a Moon",
    "Buy the cheapest one for customer Zoe",
];

const QUESTIONS: [&str; 12] = [
    "Do you have any round sunglasses in stock that are under $100?",
    "How much is the Moon?",
    "Which sunglasses cost between $90 and $110?",
    "What is the average price?",
    "Show me everything except the Moon",
    "Do you have any frames that are not round?",
    "What's the second most expensive frame?",
    "Is the Classic more expensive than the Aviator?",
    "How many wayfarers do you have left?",
    "Which items are out of stock?",
    "Can I buy 3 classics?",
    "How much would 2 aviators and 1 moon cost?",
];

#[test]
fn every_plan_passes_the_verifier_and_is_short() {
    for request in ORDERS.iter().chain(&QUESTIONS) {
        let brief = brief("sunglasses", request);
        let draft = plan(request).unwrap_or_else(|| panic!("{request}: {:?}", reader::plan(&brief)));
        let mut policy = Policy::for_contract(Contract::Ask).with_packages(CORE_IMPORTS.iter().copied());
        policy.helpers = helpers_of(&brief.helpers).unwrap();
        let schema = Schema { tables: brief.tables.iter().map(|table| table.table.clone()).collect() };
        let verdict = verify(&draft.code, &policy, &schema);
        assert!(verdict.is_accepted(), "{request}: {:?}\n{}", verdict.findings, draft.code);
        assert!(draft.code.lines().count() <= 18, "{request}:\n{}", draft.code);
        assert!(!draft.code.contains("user_request"), "nothing parses English inside a plan");
    }
}

#[test]
fn a_word_more_never_leaves_the_change_as_it_was() {
    for order in ORDERS {
        let meant = change(order).unwrap_or_else(|| {
            panic!("{order} is an order: {:?}", reader::plan(&brief("sunglasses", order)))
        });
        let words: Vec<&str> = order.split(' ').collect();
        for more in [
            "not",
            "never",
            "don't",
            "if it rains",
            "unless",
            "or",
            "only",
            "tomorrow",
            "again",
            "half",
            "flurb",
            "%",
        ] {
            for place in 0..=words.len() {
                let said = [&words[..place], &[more], &words[place..]].concat().join(" ");
                assert_ne!(change(&said).as_ref(), Some(&meant), "{said}");
            }
        }
        if !order.contains('?') {
            let asked = format!("{}?", order.trim_end_matches('.'));
            assert_eq!(change(&asked), None, "{asked}: a question changes nothing");
        }
    }
}

#[test]
fn a_question_with_a_word_more_is_another_question_or_declined() {
    for question in QUESTIONS {
        let code = |request: &str| {
            plan(request).map(|draft| {
                (
                    draft.code,
                    format!("{:?}", draft.params.iter().map(|param| &param.value).collect::<Vec<_>>()),
                )
            })
        };
        let meant = code(question);
        let words: Vec<&str> = question.split(' ').collect();
        for more in ["flurb", "unless", "tomorrow", "half", "never"] {
            for place in 0..=words.len() {
                let said = [&words[..place], &[more], &words[place..]].concat().join(" ");
                assert_ne!(code(&said), meant, "{said}");
            }
        }
    }
}

/// Read word by word, a megabyte would keep a thread busy for hours.
#[test]
fn a_request_of_a_megabyte_is_declined_at_once() {
    for piece in ["if ", "buy 1 classic and ", "\"", "(", "1 + ", "yes "] {
        let request = piece.repeat((1 << 20) / piece.len());
        let brief = brief("sunglasses", &request);
        assert!(matches!(reader::plan(&brief), Reply::Refusal(_)), "{piece}");
        assert!(reader::explain(&brief).readings.is_empty() && reader::values(&brief).is_empty(), "{piece}");
        assert!(!reader::is_calculation(&request), "{piece}");
    }
}

#[test]
fn the_word_that_was_not_understood_is_named() {
    for (request, word) in [
        ("Buy 2 Moons and 1 Unicorn", "Unicorn"),
        ("Do you have purple sunglasses?", "purple"),
        ("Buy 2 bottles of Moon polish.", "bottles"),
        ("Buy 2 Moons tomorrow", "tomorrow"),
    ] {
        let Reply::Refusal(said) = reader::plan(&brief("sunglasses", request)) else { panic!("{request}") };
        assert!(said.contains(&format!("“{word}”")), "{request}: {said}");
    }
}

#[test]
fn what_is_not_said_is_asked_for() {
    for (request, asks) in
        [("I want to buy some aviators", "how many"), ("I'd like to return my aviators", "how many")]
    {
        let Reply::Question(said) = reader::plan(&brief("sunglasses", request)) else { panic!("{request}") };
        assert!(said.contains(asks), "{request}: {said}");
    }
}

#[test]
fn remarks_conditions_and_refusals_change_nothing() {
    for request in [
        "I will not take it.",
        "Order 5 more Aviators from our supplier",
        "Return 100000 aviators",
        "Buy 2 Moons if I get a discount",
        "Someone stole 3 Sport from my car",
        "3 classic please",
        "Buy 2 lenses for the Aviator.",
        "Sell 2 Aviators to John Smith at $50 each",
        "Delete all transactions",
        "Change the id of Classic to SG999.",
        "Buy between 2 and 4 Classics.",
        "Buy 1.5 classics",
        "buy 0 aviators",
    ] {
        assert_eq!(change(request), None, "{request}");
    }
}

fn refusal(example: &str, request: &str) -> String {
    match reader::plan(&brief(example, request)) {
        Reply::Refusal(said) => said,
        other => panic!("{request}: {other:?}"),
    }
}

#[test]
fn a_short_answer_edits_what_was_said_before() {
    let turn = |request: &str, status: &str| turn(request, "", status);
    let said = |before: &[Turn], request: &str| {
        said(&Brief { turns: before.to_vec(), ..brief("sunglasses", request) })
    };
    let offer = [turn("can I get 2 moons?", "success")];
    assert!(said(&offer, "yes").starts_with("sell: "));
    assert!(said(&offer, "make it 3").starts_with("whether to sell"));
    assert!(said(&offer, "yes, but only if they are under $10").contains("not understand"));
    assert!(said(&[turn("Buy some classics", "invalid_request")], "2 please").contains("quantity 2"));
    assert!(said(&[turn("How much is the Classic?", "success")], "what about the moon?").contains("Moon"));
    assert!(said(&[], "yes").contains("not understand"));
}

/// Words that mean something to the reader of an example: those of its catalog, of its values, and of the language.
fn vocabulary(brief: &Brief) -> Vec<String> {
    let language = "what which who how many much is are was were in of for by per not no never except or and but if only \
                    at least most than more under over between the a every each first last second cheapest average \
                    total highest newest before after today yesterday 0 2 3.5 $10 10% ? , buy sell return set to add"
        .split_whitespace()
        .map(str::to_owned);
    let columns = brief.tables.iter().flat_map(|table| {
        table.columns.iter().flat_map(|column| {
            let values =
                column.values.iter().flatten().take(3).map(|value| value.to_string().replace('"', ""));
            values.chain([column.name.replace('_', " ")]).collect::<Vec<_>>()
        })
    });
    let declared = brief.catalog.tables.values().flat_map(|table| {
        table.synonyms.iter().chain(table.columns.values().flat_map(|column| &column.synonyms)).cloned()
    });
    let tables = brief.tables.iter().map(|table| table.table.name.clone());
    language.chain(columns).chain(declared).chain(tables).collect()
}

/// `who is enrolled in Power Yoga` once made it panic: a column was looked up in a table that is not its own.
#[test]
fn no_mixture_of_its_own_words_makes_it_panic() {
    for example in ["bike-parts", "sunglasses"] {
        let mut brief = brief(example, "");
        // A table that has fewer columns than the one it refers to.
        let tables = std::sync::Arc::make_mut(&mut brief.tables);
        if let Some(ledger) = tables.iter_mut().find(|table| table.table.name == "sales_ledger") {
            ledger.columns.truncate(3);
            ledger.table.columns.truncate(3);
        }
        let words = vocabulary(&brief);
        let mut seed = 7_u64;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % below
        };
        for _ in 0..300 {
            let length = 1 + next(6);
            let said: Vec<&str> = (0..length).map(|_| words[next(words.len())].as_str()).collect();
            for beginning in ["", "what is the ", "who is "] {
                brief.request = format!("{beginning}{}", said.join(" "));
                reader::plan(&brief);
            }
            brief.request = said.join(" ");
            reader::explain(&brief);
        }
    }
}

#[test]
fn while_a_request_is_typed_its_words_are_known_and_the_next_ones_are_offered() {
    let read = |request: &str| reader::explain(&brief("sunglasses", request));
    let offers = |request: &str, text: &str, kind: &str| {
        let next = read(request).next;
        assert!(next.iter().any(|next| next.text == text && next.kind == kind), "{request}: {next:?}");
    };
    let kinds = |request: &str| read(request).tokens.iter().map(|token| token.kind).collect::<Vec<_>>();
    assert_eq!(kinds("buy 2 purple moons"), ["action", "number", "unknown", "value"]);
    assert_eq!(kinds("the price of items"), ["filler", "column", "word", "table"]);
    offers("", "buy", "action");
    offers("buy 2 m", "Moon", "value");
    offers("which items are und", "under", "word");
    offers("which items are under ", "", "number");
    offers("what is the pri", "price", "column");
    offers("items with a price of at", "at least", "word");
    offers("items with a price of at ", "least", "word");
    assert_eq!(read("buy 2 moo").not_understood, None, "it may become a moon");
    assert_eq!(read("buy 2 unicorns").not_understood.unwrap().text, "unicorns");
    assert_eq!(read("buy 2 Clasics").not_understood.unwrap().nearest.unwrap(), "classic");
    assert!(read("buy 2 moons").not_understood.is_none());
    assert!(read("round or square").not_understood.unwrap().is_known, "each word is known");
}

#[test]
fn words_that_requests_were_declined_for_are_ranked_with_what_would_teach_them() {
    let requests = [
        "which gizmos are cheap?",
        "grab 2 moons",
        "how many gizmos are there?",
        "price of the Clasic",
        "buy 2 moons",
    ];
    let missed = reader::missed(&brief("bike-parts", ""), requests);
    let found: Vec<(&str, usize)> = missed.iter().map(|it| (it.word.as_str(), it.times)).collect();
    assert_eq!(found[0], ("gizmos", 2), "{missed:?}");
    let missed = reader::missed(&brief("sunglasses", ""), requests);
    let teach = |word: &str| missed.iter().find(|it| it.word == word).unwrap().teach.clone();
    assert!(teach("grab").starts_with("words = [\"grab\", …]"));
    assert!(teach("gizmos").starts_with("synonyms = [\"gizmos\", …]"));
    assert!(teach("clasic").contains("classic"));
    let missed = reader::missed(
        &brief("sunglasses", ""),
        ["imagine I buy 2 moons", "instead of that", "dream I buy a moon"],
    );
    for it in &missed {
        assert!(it.teach.starts_with("nothing"), "{it:?}");
    }
}

#[test]
fn a_refusal_names_the_word_and_requests_that_are_understood() {
    let said = refusal("sunglasses", "items price of below");
    assert!(said.contains("how “") && said.contains("For example: “"), "{said}");
    for request in said.split('“').skip(2).filter_map(|rest| rest.split('”').next()) {
        assert!(plan(request).is_some(), "{request} in {said}");
    }
}

#[test]
fn the_answer_of_a_held_change_is_true_once_it_is_approved() {
    let mut brief = brief("sunglasses", "set the price of Sport to 15");
    std::sync::Arc::make_mut(&mut brief.catalog).policy.direct_changes = ordain_types::DirectChanges::Hold;
    let Reply::Plan(draft) = reader::plan(&brief) else { panic!("it is an order") };
    assert!(draft.hold.is_some() && draft.code.contains("Changed "), "{}", draft.code);
    // The record says before it that this is so once it is approved, and the answer stays true after that.
    assert!(!draft.code.contains("approve"), "{}", draft.code);
}

/// What is read of a request, or what is said instead.
fn said(brief: &Brief) -> String {
    match reader::plan(brief) {
        Reply::Plan(draft) => draft.reading.unwrap_or_default(),
        Reply::Question(text) | Reply::Refusal(text) => text,
        Reply::Look(_) | Reply::Outline(_) | Reply::Unusable(_) => String::new(),
    }
}

/// The requests of an example's own cases.
fn corpus(example: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example).join("eval.jsonl");
    let cases = std::fs::read_to_string(path).unwrap();
    let request =
        |line: &str| serde_json::from_str::<Value>(line).unwrap()["request"].as_str().map(str::to_owned);
    cases.lines().filter(|line| !line.trim().is_empty()).filter_map(request).collect()
}

#[test]
fn no_request_of_the_examples_means_the_same_with_a_word_more() {
    for example in ["sunglasses", "bike-parts"] {
        let mut brief = brief(example, "");
        let mut meant = |request: String| {
            brief.request = request;
            match reader::plan(&brief) {
                Reply::Plan(draft) if draft.reading.is_some() => {
                    let values: Vec<Value> = draft.params.iter().map(|param| param.value.clone()).collect();
                    Some((draft.code.lines().skip(1).collect::<String>(), values))
                }
                _ => None,
            }
        };
        for request in corpus(example) {
            let Some(plain) = meant(request.clone()) else { continue };
            let words = request.trim_end_matches(['.', '!', '?']);
            for more in [
                format!("not {words}"),
                format!("{words} if it rains"),
                format!("{words} flurb"),
                format!("never {words}"),
            ] {
                assert_ne!(meant(more.clone()), Some(plain.clone()), "{more}");
            }
        }
    }
}

#[test]
fn a_metric_may_be_a_ratio_or_a_difference_of_two_figures() {
    let mut brief = brief("bike-parts", "what is the price per unit?");
    let mut catalog = Catalog::clone(&brief.catalog);
    let metric = |name: &str, formula: &str| {
        let text = format!("name = \"{name}\"\ntable = \"sales_ledger\"\nformula = \"{formula}\"");
        toml::from_str::<ordain_types::Metric>(&text).unwrap()
    };
    catalog.metrics.push(metric("price per unit", "sum(total) / sum(units)"));
    catalog.metrics.push(metric("spread", "max(total) - min(total)"));
    brief.catalog = std::sync::Arc::new(catalog);
    let mut code = |request: &str| {
        brief.request = request.to_owned();
        match reader::plan(&brief) {
            Reply::Plan(draft) => draft.code,
            other => panic!("{request}: {other:?}"),
        }
    };
    assert!(code("what is the price per unit?").contains("sum(t.total) * 1.0 / nullif(sum(t.units), 0)"));
    assert!(code("spread by buyer").contains("max(t.total) - min(t.total)"));
}

/// A month without its year was answered with a year that stood in the code alone, so the answer was not shown.
#[test]
fn days_are_said_by_params_and_not_by_the_code() {
    for request in ["how many transactions in October 2025?", "transactions on 3 October 2025"] {
        let draft = plan(request).unwrap();
        assert!(!draft.code.lines().skip(1).any(|line| line.contains("2025")), "{}", draft.code);
        assert!(draft.params.iter().any(|param| param.name.ends_with("_said")), "{:?}", draft.params);
    }
}

#[test]
fn two_clauses_and_conditions_are_read_whole_or_declined() {
    let shop = |request: &str| said(&brief("sunglasses", request));
    let both = shop("Buy 2 Moons and tell me how much the Classic is");
    assert!(both.starts_with("sell: ") && both.contains("; then price of"), "{both}");
    let both = shop("Buy 2 Moons and set the price of Sport to $100");
    assert!(both.contains("; then price of Sport becomes 100"), "{both}");
    let both = shop("Compare Aviator and Moon, then buy 3 of the cheaper one");
    assert!(both.contains("not understand") || both.contains("lowest by price"), "{both}");
    assert!(shop("Buy 3 Classic for Alice and 2 Moon for Bob").contains("customer Bob"));
    assert!(shop("Buy 2 Moons if they are under $10").contains("only if price is below 10 for Moon"));
    assert!(
        shop("If the Moon is under $100, buy 2 Classics").contains("only if price is below 100 for Moon")
    );
    assert!(shop("Buy 2 Moons unless they are round").contains("only if"));
    for request in [
        "Buy 2 Moons and round frames",
        "Set the price of Moon to 100 and buy 2 Moons?",
        "Buy 3 Classic for Alice and 2 Moon",
        "Do not buy 2 Moons and show me the price of the Classic",
        "Buy 2 Moons and return 1 Aviator if it rains",
        "If I bought 2 Moons, show me the price of the Moon",
        "Buy 2 Moons tomorrow and show me the price of the Moon",
    ] {
        assert_eq!(change(request), None, "{request}");
    }
}

#[test]
fn or_joins_values_of_one_column_and_never_swallows_another_condition() {
    let shop = |request: &str| said(&brief("sunglasses", request));
    for (request, reading) in [
        ("frames under $100 that are round or square", "price is below 100, "),
        ("frames that are not round or square", "without “round”, "),
    ] {
        let read = shop(request);
        assert!(read.contains(reading) && !read.contains("100 or"), "{request}: {read}");
    }
    // Nobody can tell what these join.
    for request in
        ["frames that are not round or under $100 or red", "frames under $100 that are round or sold"]
    {
        assert!(shop(request).contains("understand"), "{request}: {}", shop(request));
    }
}

#[test]
fn a_bound_on_a_count_is_never_a_bound_on_the_price() {
    for request in ["Buy 1 Moon if there are fewer than 20", "Buy 1 Moon if fewer than 4 are left"] {
        let read = said(&brief("sunglasses", request));
        assert!(!read.contains("price is"), "{request}: {read}");
    }
    let read = said(&brief("sunglasses", "items with stock above 10 and below 20"));
    assert!(read.contains("is below 20") && !read.contains("price"), "{read}");
}

#[test]
fn rows_come_and_go_only_where_every_value_is_said() {
    let shop = |request: &str| said(&brief("sunglasses", request));
    assert_eq!(shop("remove the Moon"), "remove Moon from inventory");
    let added = shop("add a new item called Pilot with item id SG099, price 70 and description \"Metal\"");
    assert_eq!(added, "add an item: name Pilot, item id SG099, price 70, description Metal");
    assert!(shop("add a new item called Pilot for $70").contains("not understand"));
    assert!(shop("add an item called Pilot with price 70").contains("I need to know the item id"));
    assert!(shop("remove all items").contains("not understand"));
    assert!(shop("delete the OPENING_BALANCE transaction").contains("may not change"));
}

#[test]
fn what_was_asked_back_is_answered_by_a_number_or_alone() {
    let after = |request: &str, answer: &str, now: &str| {
        said(&after(&[(request, answer)], "invalid_request", brief("bike-parts", now)))
    };
    let which = "Which one do you mean? 1. Deore Chain; 2. Eagle Chain. Say the number.";
    let order = |now: &str| after("buy 3 chains", which, now);
    assert_eq!(order("2"), "sell: units 3, part Eagle Chain, buyer Walk-in customer");
    assert!(order("5").contains("not understand"));
    assert_eq!(
        after("Sell Eagle Chain to Tom Berg", "", "2"),
        "sell: part Eagle Chain, buyer Tom Berg, units 2"
    );
    assert!(
        said(&brief("bike-parts", "buy the Eagle Chains")).contains("how many"),
        "a plural needs a number"
    );
}

#[test]
fn an_order_names_its_row_by_itself_and_not_by_who_had_one_like_it() {
    let order = |request: &str| matches!(reader::plan(&brief("bike-parts", request)), Reply::Plan(_));
    assert!(order("Sell 1 Deore Chain to Tom Berg"));
    for request in [
        "Sell the Deore Chain of Nina Kowalski to Tom Berg",
        "Sell 1 Deore Chain that Nina Kowalski bought to Tom Berg",
    ] {
        assert!(!order(request), "{request}");
    }
}

/// The rule by which a change of the sunglasses shop waits for a person.
#[track_caller]
fn hold(request: &str) -> Option<String> {
    let Reply::Plan(draft) = reader::plan(&brief("sunglasses", request)) else {
        panic!("{request} is no order")
    };
    draft.hold.map(|hold| hold.to_string())
}

#[test]
fn a_change_whose_reading_is_not_certain_waits_for_a_person() {
    for certain in [
        "buy 2 Moon",
        "buy 1 Moon for Alice",
        "buy 1 Moon for Dave Miller, please",
        "buy 1 Moon for \"For Sale\"",
        "Hello! Buy 2 Moon for Dave.",
    ] {
        assert_eq!(hold(certain), None, "{certain}");
    }
    for (request, why) in [
        ("buy 1 Moon for July", "“July” may mean something else"),
        ("buy 1 Moon for Dave ASAP", "its words are not written alike"),
        ("buy 1 Moon for Dave Miller and 1 Sport", "“and” follows it"),
        ("I want to buy 2 Aviators. My name is Dave.", "nothing was taken from “My name is Dave”"),
    ] {
        let brief = brief("sunglasses", request);
        // What is declined is not carried out either.
        if let Reply::Plan(draft) = reader::plan(&brief) {
            let hold = draft.hold.map(|hold| hold.to_string()).unwrap_or_default();
            assert!(hold.contains(why), "{request}: {hold} ({:?}) {:?}", draft.reading, draft.params);
        }
    }
}

/// The orders of the examples' evaluations are certain, but for two that fit several rows: they are asked back when they run.
#[test]
fn the_orders_of_the_examples_are_carried_out_without_a_person() {
    let mut doubted = Vec::new();
    for example in ["sunglasses", "bike-parts", "library", "bank", "clinic"] {
        for request in corpus(example) {
            if let Reply::Plan(draft) = reader::plan(&brief(example, &request))
                && let Some(HeldBy::Reading { doubt }) = draft.hold
            {
                doubted.push(format!("{example}: {request}: {doubt}"));
            }
        }
    }
    let several = [
        "sunglasses: buy 2 round sunglasses: “round” is a part of a name",
        "bike-parts: buy 2 chains: “chains” is a part of a name",
    ];
    assert_eq!(doubted, several);
}
