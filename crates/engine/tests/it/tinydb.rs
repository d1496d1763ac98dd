//! The table interface against TinyDB itself, on the same rows, inside one cell.

use ordain_cell::profile::Profile;
use ordain_cell::{Discard, Executor, Host, HostCall, HostError, HostFuture, Job};
use ordain_engine::EngineSettings;
use ordain_store::{BeginOptions, Intent, Transaction};
use ordain_types::{Cause, Schema};
use ordain_verify::{Contract, Policy, verify};
use serde_json::{Value, json};

use crate::world::{on_both, world_with};

const DIFFERENTIAL: &str = include_str!("plans/differential.py");

/// Rows with gaps, mixed numbers, nested values and lists.
fn rows() -> Value {
    let names = ["Aviator", "Wayfarer", "Classic", "Round", "wraparound", "Straße", ""];
    let rows: Vec<Value> = (0..120)
        .map(|at| {
            let tags = &["a", "b", "c", "d"][..at % 5];
            let mut row = json!({
                "item_id": format!("I{at:03}"),
                "name": names[at % names.len()],
                "quantity_in_stock": at % 11,
                "price": f64::from(u32::try_from(at).unwrap()) * 1.5 - 20.0,
                "active": at % 3 == 0,
                "tags": tags,
                "size": {"w": at % 4, "h": at % 6, "kind": {"deep": at % 2 == 0}},
            });
            if at % 7 == 0 {
                row["note"] = Value::Null;
            } else if at % 4 == 0 {
                row["note"] = json!(format!("note {at}"));
            }
            row
        })
        .collect();
    Value::Array(rows)
}

/// The transaction as the host of a program that the verifier would not let through: it makes a TinyDB of its own.
struct OpenHost(Transaction);

impl Host for OpenHost {
    fn call(&mut self, call: HostCall) -> HostFuture<'_> {
        Box::pin(async move {
            let operation = call.name.strip_prefix("table.").unwrap();
            let answer = self.0.call(operation, Value::Object(call.arguments)).await;
            answer.map_err(|error| HostError::new(error.code(), error.to_string()))
        })
    }
}

on_both! {
async fn queries_and_updates_give_what_tinydb_gives(database: Database) {
    for seed in 0..ordain_testkit::long::times(4) {
        // A new world each time: numbers that a rolled-back run took from a sequence are gone for good.
        let world = world_with(database, &rows(), EngineSettings::default()).await;
        let store = world.engine.store();
        let options = BeginOptions { run_id: store.new_run_id().unwrap(), intent: Intent::Write };
        let mut host = OpenHost(store.begin(options).await.unwrap());
        let program = format!("SEED = {seed}\n{DIFFERENTIAL}");
        let verdict = verify(&program, &Policy::for_contract(Contract::Open), &Schema::default());
        let mut job = Job::new(verdict.into_verified().unwrap(), Profile::Core);
        job.tables = vec!["inventory".to_owned()];
        job.collect = vec!["answer_json".to_owned()];
        let execution = world.executor.run(job, &mut host, &mut Discard).await.unwrap();
        let told = String::from_utf8_lossy(&execution.stderr).into_owned();
        assert_eq!(execution.cause, Cause::Ok, "seed {seed}: {told}");
        host.0.roll_back().await.unwrap();
        let report = &execution.values["answer_json"];
        assert_eq!(report["different"], json!([]), "seed {seed}");
        assert!(report["compared"].as_u64().unwrap() > 600, "{report}");
        world.executor.close().await;
    }
}
}
