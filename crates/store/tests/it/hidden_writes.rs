//! What the database writes besides the statements of a run: found by its own counts, before the commit.

use ordain_store::{Intent, Store, StoreError, TableDeclaration, Transaction};
use ordain_types::RunRecord;
use serde_json::{Value, json};

use crate::world::{World, begin, commit, hold, note, on_both, rows};

const ACCOUNTS: &str =
    r#"[{"id": 1, "owner": "Ann", "balance": 100}, {"id": 2, "owner": "Bob", "balance": 200}]"#;
const AUDIT: &str = r#"[{"id": 1, "what": "opened"}]"#;

/// Two tables: those in the file on SQLite, some that were there before on PostgreSQL.
async fn accounts(world: &World, allows_triggers: bool) -> Store {
    let mut options = world.options();
    if world.url.is_some() {
        world.tamper(
            "CREATE TABLE IF NOT EXISTS account (id int PRIMARY KEY, owner text, balance int);
             CREATE TABLE IF NOT EXISTS audit (id serial PRIMARY KEY, what text);
             INSERT INTO account VALUES (1, 'Ann', 100), (2, 'Bob', 200) ON CONFLICT DO NOTHING;
             INSERT INTO audit VALUES (1, 'opened') ON CONFLICT DO NOTHING",
        );
        options.tables = vec![TableDeclaration { name: "account".to_owned(), ..TableDeclaration::default() }];
    } else {
        options.tables = vec![world.table("account", "id", ACCOUNTS), world.table("audit", "id", AUDIT)];
    }
    options.tables[0].allows_triggers = allows_triggers;
    Store::open(options).await.unwrap()
}

/// A trigger on `account` that writes so after an update.
fn trigger(world: &World, writes: &str) {
    if world.url.is_some() {
        world.tamper(&format!(
            "CREATE FUNCTION follow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF pg_trigger_depth() = 1 THEN {writes}; END IF;
             RETURN NULL; END $$; CREATE TRIGGER follow AFTER UPDATE ON account FOR EACH ROW EXECUTE FUNCTION follow()"
        ));
    } else {
        world.tamper(&format!("CREATE TRIGGER follow AFTER UPDATE ON account BEGIN {writes}; END"));
    }
}

async fn pay(transaction: &mut Transaction, id: i64, balance: i64) -> Result<Value, StoreError> {
    let by_id = json!({"op": "eq", "path": ["id"], "value": id});
    let args = json!({"table": "account", "where": by_id, "set": {"balance": balance}});
    transaction.call("update", args).await
}

async fn paid(store: &Store) -> Result<RunRecord, StoreError> {
    let mut transaction = begin(store, Intent::Beside).await;
    pay(&mut transaction, 1, 50).await?;
    commit(transaction).await
}

fn hidden(result: &Result<RunRecord, StoreError>) -> Option<(&str, i64)> {
    match result {
        Err(StoreError::HiddenWrites { table, counted, reported }) => {
            Some((table.rsplit('.').next().unwrap(), counted - reported))
        }
        _ => None,
    }
}

on_both! {
    async fn a_trigger_that_writes_another_row_refuses_the_run_and_names_its_table(world: World) {
        let store = accounts(&world, false).await;
        trigger(&world, "UPDATE account SET balance = balance + 1000 WHERE id = 2");
        let store = { drop(store); accounts(&world, false).await };
        let refused = paid(&store).await;
        assert_eq!(hidden(&refused), Some(("account", 1)), "{refused:?}");
        assert!(refused.unwrap_err().hint().unwrap().contains("triggers = \"allow\""));
        let mut transaction = begin(&store, Intent::Beside).await;
        pay(&mut transaction, 1, 50).await.unwrap();
        let held = hold(transaction).await;
        assert_eq!(hidden(&held), Some(("account", 1)), "{held:?}");
        assert_eq!(rows(&store, "account").await[1]["balance"], 200);
        assert_eq!(rows(&store, "account").await[0]["balance"], 100);
    }

    async fn a_trigger_that_writes_nothing_is_no_reason_to_refuse(world: World) {
        let store = accounts(&world, false).await;
        drop(store);
        trigger(&world, if world.url.is_some() { "PERFORM 1" } else { "SELECT 1" });
        let store = accounts(&world, false).await;
        assert_eq!(paid(&store).await.unwrap().diff.rows(), 1);
    }

    async fn what_an_allowed_trigger_writes_is_counted_in_the_receipt(world: World) {
        drop(accounts(&world, true).await);
        trigger(&world, "INSERT INTO audit (id, what) VALUES (7, 'paid')");
        let store = accounts(&world, true).await;
        let done = paid(&store).await.unwrap();
        assert_eq!(done.by_triggers.values().sum::<u64>(), 1, "{:?}", done.by_triggers);
        assert!(done.receipt.text.contains("not undone by Ordain: 1 × "), "{}", done.receipt.text);
        assert_eq!(done.diff.rows(), 1);
    }

    async fn what_an_allowed_trigger_makes_of_the_runs_own_row_stands_in_the_diff(world: World) {
        drop(accounts(&world, true).await);
        let own = if world.url.is_some() { "UPDATE account SET balance = -1 WHERE id = new.id" } else {
            "UPDATE account SET balance = -1 WHERE id = new.id AND balance > 0" };
        trigger(&world, own);
        let store = accounts(&world, true).await;
        let done = paid(&store).await.unwrap();
        assert_eq!(done.diff.tables["account"].changed[0].after.get("balance"), Some(&json!(-1)));
    }

    async fn work_that_failed_and_was_caught_neither_hides_nor_causes_anything(world: World) {
        drop(accounts(&world, false).await);
        let store = accounts(&world, false).await;
        let mut transaction = begin(&store, Intent::Beside).await;
        pay(&mut transaction, 1, 1).await.unwrap();
        let two = json!({"table": "account", "rows": [{"id": 3, "owner": "C", "balance": 1}, {"id": 1, "owner": "D", "balance": 1}]});
        assert!(transaction.call("insert", two).await.is_err());
        pay(&mut transaction, 1, 2).await.unwrap();
        transaction.call("remove", json!({"table": "account", "where": {"op": "eq", "path": ["id"], "value": 2}})).await.unwrap();
        let done = commit(transaction).await.unwrap();
        assert_eq!(done.diff.rows(), 2);
        store.undo(done.run_id.as_str(), note()).await.unwrap();
        assert_eq!(rows(&store, "account").await.len(), 2);
    }
}

/// What else writes on PostgreSQL, each made behind the store's back while it is open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn constraints_policies_inheritance_and_truncation_do_not_write_unseen() {
    for (script, table) in [
        (
            "CREATE FUNCTION quiet(n int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
               IF n = 50 THEN UPDATE account SET balance = 1 WHERE id = 2; END IF; RETURN true; END $$;
             ALTER TABLE account ADD CONSTRAINT fine CHECK (quiet(balance))",
            "account",
        ),
        (
            "CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO audit VALUES (9, 'x'); RETURN NULL; END $$;
             CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON account DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late()",
            "audit",
        ),
        (
            "CREATE FUNCTION empty() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN TRUNCATE audit; RETURN NULL; END $$;
             CREATE TRIGGER empty AFTER UPDATE ON account FOR EACH ROW EXECUTE FUNCTION empty()",
            "pg_class",
        ),
        ("CREATE RULE also AS ON UPDATE TO account DO ALSO DELETE FROM audit", "audit"),
    ] {
        let world = World::postgres();
        let store = accounts(&world, false).await;
        world.tamper(script);
        let refused = paid(&store).await;
        assert_eq!(hidden(&refused).map(|(table, _)| table), Some(table), "{script}: {refused:?}");
        assert_eq!(rows(&store, "account").await[0]["balance"], 100, "{script}");
        assert_eq!(rows(&store, "audit").await.len(), 1, "{script}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_a_table_that_inherits_are_neither_read_nor_written_as_its_parents() {
    let world = World::postgres();
    drop(accounts(&world, false).await);
    world.tamper(
        "CREATE TABLE public.premium (perk text, PRIMARY KEY (id)) INHERITS (account);
         INSERT INTO public.premium VALUES (1, 'Zoe', 9000, 'gold'), (7, 'Pam', 7000, 'silver')",
    );
    let store = accounts(&world, false).await;
    assert_eq!(rows(&store, "account").await.len(), 2);
    let mut transaction = begin(&store, Intent::Beside).await;
    pay(&mut transaction, 7, 5).await.unwrap();
    transaction
        .call("remove", json!({"table": "account", "where": {"op": "eq", "path": ["id"], "value": 1}}))
        .await
        .unwrap();
    let found = transaction.call("query", json!({"sql": "SELECT count(*) AS n FROM account"})).await.unwrap();
    assert_eq!(found["rows"][0]["n"], 1, "{found}");
    assert_eq!(commit(transaction).await.unwrap().diff.rows(), 1);
    let tables: Vec<String> = store.schema().tables.into_iter().map(|table| table.name).collect();
    assert_eq!(tables, ["account", "audit", "premium"]);
    assert_eq!(rows(&store, "premium").await.len(), 2);
}
