//! What a value is shown to whom depends on the column that it was read from, and on who looks.

use ordain_store::{CallerLimits, Intent, Invariant, Store, StoreError, TableDeclaration, Transaction};
use ordain_types::Row;
use serde_json::{Value, json};

use crate::world::{World, begin, commit, hold, note, on_both, rows};

const PEOPLE: &str = r#"[
  {"id": 1, "name": "Ann", "email": "ann@secret.example", "salary": 70001, "bonus": 0},
  {"id": 2, "name": "Bob", "email": "bob@secret.example", "salary": 80002, "bonus": 0}
]"#;

/// People, some of whose columns are hidden, and an invariant.
async fn people(world: &World, hidden: &[&str], sql: &str) -> Store {
    let mut options = world.options();
    let hidden_columns = hidden.iter().map(|name| (*name).to_owned()).collect();
    options.tables = vec![TableDeclaration { hidden_columns, ..world.table("people", "id", PEOPLE) }];
    options.invariants = vec![Invariant { name: "bonus".to_owned(), sql: sql.to_owned() }];
    Store::open(options).await.unwrap()
}

/// The rows that an invariant shows of a change that breaks it.
async fn broken(store: &Store) -> Vec<Row> {
    let mut transaction = begin(store, Intent::Write).await;
    let update = json!({"table": "people", "all": true, "set": {"bonus": 1000}});
    transaction.call("update", update).await.unwrap();
    let Err(StoreError::Violated { mut violations }) = commit(transaction).await else {
        panic!("the invariant holds")
    };
    violations.remove(0).rows
}

async fn removed(transaction: &mut Transaction, id: i64) {
    let by_id = json!({"op": "eq", "path": ["id"], "value": id});
    transaction.call("remove", json!({"table": "people", "where": by_id})).await.unwrap();
}

on_both! {
    async fn a_hidden_column_is_not_shown_by_an_invariant_that_calls_it_otherwise(world: World) {
        let hidden = ["email", "salary"];
        for sql in [
            "SELECT id, email AS who, salary * 1 AS pay, max(salary) OVER () AS top FROM people WHERE bonus > 100",
            "SELECT id FROM people WHERE bonus > 100 UNION ALL SELECT salary FROM people WHERE bonus > 100",
            "SELECT * FROM (SELECT id, email AS name, salary FROM people) AS p WHERE salary > 0 AND \
             (SELECT max(bonus) FROM people) > 100",
            "WITH p AS (SELECT id AS n, email AS name, bonus FROM people) SELECT n, name || '' AS id, bonus FROM p WHERE bonus > 100",
        ] {
            let shown = serde_json::to_string(&broken(&people(&world, &hidden, sql).await).await).unwrap();
            for secret in ["secret.example", "70001", "80002"] {
                assert!(!shown.contains(secret), "{sql}: {shown}");
            }
        }
    }

    async fn an_invariant_shows_what_it_calculates_where_nothing_is_hidden(world: World) {
        let sql = "SELECT id, name AS who, salary * 2 AS pay FROM people WHERE bonus > 100 AND id = 1";
        let shown = broken(&people(&world, &[], sql).await).await;
        assert_eq!(json!(shown), json!([{"id": 1, "who": "Ann", "pay": 140_002}]));
        let shown = broken(&people(&world, &["email"], sql).await).await;
        assert_eq!(json!(shown), json!([{"id": 1, "who": "Ann"}]), "under another name, and by where it comes from");
    }

    async fn an_approver_is_shown_what_goes_and_the_asker_what_its_limits_leave(world: World) {
        let store = people(&world, &[], "SELECT id FROM people WHERE bonus > 100").await;
        let hide = vec!["people.salary".to_owned()];
        let limited = store.limited(CallerLimits { hide, ..CallerLimits::default() });
        let mut transaction = begin(&limited, Intent::Write).await;
        removed(&mut transaction, 1).await;
        let told = hold(transaction).await.unwrap();
        let salary = |row: &Row| row.get("salary").cloned();
        assert_eq!(salary(&told.diff.tables["people"].removed[0]), None);
        let run = told.run_id.as_str();
        let waiting = store.run(run).await.unwrap();
        assert_eq!(salary(&waiting.diff.tables["people"].removed[0]), Some(json!(70001)));
        assert_eq!(limited.seen(waiting.clone()).diff, told.diff);
        let approved = store.approve(run, note()).await.unwrap();
        assert_eq!(approved.diff, waiting.diff, "what was shown is what is committed");
        assert_eq!(limited.seen(approved).diff, told.diff);
        let history = limited.row_history("people", "1", None, None, 5).await.unwrap();
        assert_eq!(history.events[0].before.as_ref().and_then(salary), None);
    }

    async fn two_rows_of_one_joined_name_are_two_rows(world: World) {
        let seed = r#"[{"a": "x,y", "b": "z", "pay": 0}, {"a": "x", "b": "y,z", "pay": 0}, {"a": "q", "b": "r", "pay": 0}]"#;
        let store = world.with_table("t", "a,b", seed).await;
        let mut transaction = begin(&store, Intent::Write).await;
        transaction.call("update", json!({"table": "t", "all": true, "set": {"pay": 100}})).await.unwrap();
        let held = hold(transaction).await.unwrap();
        let run = held.run_id.as_str();
        let error = store.approve_except(run, &["t/x,y,z".to_owned()], note()).await.unwrap_err();
        assert!(matches!(error, StoreError::BadCall { .. }), "{error}");
        let record = store.approve_except(run, &["t/x\\,y,z".to_owned()], note()).await.unwrap();
        assert_eq!(record.left_out, 1);
        let pays: Vec<Value> = rows(&store, "t").await.into_iter().map(|row| row["pay"].clone()).collect();
        assert_eq!(pays, [0, 100, 100]);
    }

    async fn rows_that_one_action_wrote_are_left_out_together(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Write).await;
        for name in ["Classic", "Aviator"] {
            transaction.acts_as(Some("sell"));
            crate::world::buy(&mut transaction, name, 1).await.unwrap();
            transaction.acts_as(None);
        }
        let held = hold(transaction).await.unwrap();
        let except = ["inventory/SG005".to_owned()];
        let record = store.approve_except(held.run_id.as_str(), &except, note()).await.unwrap();
        assert_eq!(record.left_out, 2, "the sale goes with its stock");
        assert_eq!(record.diff.tables["inventory"].changed.len(), 1);
        assert_eq!(record.diff.tables["transactions"].added.len(), 1);
        assert_eq!(rows(&store, "inventory").await[1]["quantity_in_stock"], 10);
    }
}

#[tokio::test]
async fn a_key_that_the_database_declares_cannot_be_hidden() {
    let world = World::postgres();
    world.tamper(
        "CREATE TABLE people (ssn int PRIMARY KEY, name text); INSERT INTO people VALUES (756123456, 'Ann')",
    );
    let mut options = world.options();
    options.tables = vec![TableDeclaration {
        name: "people".to_owned(),
        hidden_columns: vec!["ssn".to_owned()],
        ..TableDeclaration::default()
    }];
    let error = Store::open(options).await.unwrap_err();
    assert!(error.to_string().contains("the key column `ssn` cannot be hidden"), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("hide the whole table")), "{error}");
}

#[tokio::test]
async fn a_view_or_a_calculated_column_does_not_show_what_is_hidden() {
    let world = World::postgres();
    world.tamper(
        "CREATE TABLE people (id int PRIMARY KEY, name text, email text, domain text GENERATED ALWAYS AS (split_part(email, '@', 2)) STORED);
         INSERT INTO people VALUES (1, 'Ann', 'ann@secret.example');
         CREATE VIEW contacts AS SELECT name, email AS reach FROM people; CREATE VIEW deep AS SELECT reach AS name FROM contacts;
         CREATE VIEW names AS SELECT name FROM people",
    );
    let mut options = world.options();
    let named = |name: &str| TableDeclaration { name: name.to_owned(), ..TableDeclaration::default() };
    let hidden_columns = vec!["email".to_owned()];
    options.tables = vec![TableDeclaration { hidden_columns, ..named("people") }, named("names")];
    let store = Store::open(options.clone()).await.unwrap();
    let seen = |store: &Store| -> Vec<String> {
        let tables = store.schema().tables.into_iter().filter(|table| !table.hidden);
        let described = tables.map(|table| {
            let columns = table.columns.iter().filter(|column| !column.hidden);
            format!(
                "{}: {}",
                table.name,
                columns.map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
            )
        });
        described.collect()
    };
    assert_eq!(seen(&store), ["people: id, name", "names: name"]);
    options.tables.clear();
    drop(store);
    let store = Store::open(options).await.unwrap();
    assert_eq!(seen(&store).len(), 4);
    let hide = vec!["people.email".to_owned()];
    let limited = store.limited(CallerLimits { hide: hide.clone(), ..CallerLimits::default() });
    assert_eq!(seen(&limited), ["people: id, name"]);
    let tables = Some(vec!["names".to_owned(), "people".to_owned()]);
    let limited = store.limited(CallerLimits { hide, tables, ..CallerLimits::default() });
    assert_eq!(seen(&limited), ["names: name", "people: id, name"]);
}
