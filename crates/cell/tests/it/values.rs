//! Variables go in and come back as plain data.

use ordain_cell::profile::Profile;
use ordain_cell::{Execution, Job};
use ordain_types::Cause;
use serde_json::{Map, Value, json};

use crate::world::{World, job, printed};

async fn collect(world: &World, code: &str, names: &[&str]) -> Execution {
    let collect = names.iter().map(|name| (*name).to_owned()).collect();
    world.run_job(Job { collect, ..job(code) }).await.unwrap()
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("{value} is no object") };
    map
}

#[tokio::test]
async fn variables_that_are_given_are_set() {
    let world = World::new();
    let values = object(json!({"user_request": "Größe \"7\"\n", "inputs": {"rows": [1, 2.5, null, true]}}));
    let code = "print(repr(user_request), inputs)";
    let execution = world.run_job(Job { values, ..job(code) }).await.unwrap();
    assert_eq!(printed(&execution), "'Größe \"7\"\\n' {'rows': [1, 2.5, None, True]}\n");
}

#[tokio::test]
async fn variables_come_back_as_plain_data() {
    let world = World::new();
    let code = "import datetime, decimal, collections, enum\nclass Colour(enum.Enum): RED = 1\n\
                answer = {'text': 'a', 1: (1, 2), 'set': {7}, 'nan': float('nan'), 'large': 2**80, 'bytes': b'a\\xff', \
                'date': datetime.date(2024, 2, 29), 'decimal': decimal.Decimal('1.10'), 'odd\\ud800': '\\ud800', \
                'counter': collections.Counter('aab'), 'colour': Colour.RED}\nnothing = None";
    let execution = collect(&world, code, &["answer", "nothing", "missing"]).await;
    let expected = json!({"answer": {"text": "a", "1": [1, 2], "set": [7], "nan": null,
        "large": "1208925819614629174706176", "bytes": "a\\xff", "date": "2024-02-29", "decimal": 1.1,
        "odd\\ud800": "\\ud800", "counter": {"a": 2, "b": 1}, "colour": "Colour.RED"}, "nothing": null});
    assert_eq!(execution.values, object(expected), "{execution:?}");
    assert_eq!(execution.notes, Map::new(), "a variable that is not set is not missed");
}

#[tokio::test]
async fn days_and_numbers_that_are_missing_come_back_as_nothing() {
    let world = World::new();
    let code = "import pandas as pd\nrows = [{'day': pd.NaT, 'number': pd.NA, 'real': float('nan')}]";
    let job = Job { collect: vec!["rows".to_owned()], profile: Profile::Data, ..job(code) };
    let execution = world.run_job(job).await.unwrap();
    assert_eq!(execution.values, object(json!({"rows": [{"day": null, "number": null, "real": null}]})));
}

#[tokio::test]
async fn what_cannot_come_back_is_noted_and_the_rest_comes() {
    let world = World::new();
    let code = "loop = []\nloop.append(loop)\ndeep = 1\nfor _ in range(100): deep = [deep]\n\
                class Odd:\n    def __str__(self): raise RuntimeError('no')\nodd = Odd()\nfine = 1";
    let execution = collect(&world, code, &["loop", "deep", "odd", "fine"]).await;
    assert_eq!(execution.cause, Cause::Ok);
    assert_eq!(execution.values, object(json!({"fine": 1})));
    let too_deep = "ValueError: the value is too deep or too large";
    let expected = json!({"loop": too_deep, "deep": too_deep, "odd": "RuntimeError: no"});
    assert_eq!(execution.notes, object(expected));
}

#[tokio::test]
async fn values_too_large_for_a_frame_are_noted() {
    let world = World::new();
    let execution = collect(&world, "large = 'x' * 40_000_000\nsmall = 1", &["large", "small"]).await;
    assert_eq!((execution.cause, execution.values), (Cause::Ok, Map::new()));
    let reason = "the values together are larger than a frame may be";
    assert_eq!(execution.notes, object(json!({"large": reason, "small": reason})));
}

#[tokio::test]
async fn variables_come_back_from_a_program_that_failed_too() {
    let world = World::new();
    let execution = collect(&world, "answer_text = 'so far'\n1 / 0", &["answer_text"]).await;
    assert_eq!((execution.cause, execution.values), (Cause::Error, object(json!({"answer_text": "so far"}))));
}
