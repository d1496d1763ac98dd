//! PostgreSQL as companies have it: domains, views, partitions, and migrations while the store is open.

use ordain_store::{BeginOptions, Database, Intent, Store, StoreError, StoreOptions};
use ordain_testkit::postgres::Server;
use serde_json::{Value, json};

use crate::world::{World, all, begin, commit, hold, note, rows};

fn options(world: &World, tables: &[&str]) -> StoreOptions {
    let mut options = world.options();
    let Database::Postgres { only, .. } = &mut options.database else { unreachable!() };
    *only = Some(tables.iter().map(|name| (*name).to_owned()).collect());
    options
}

fn by_id(id: i64) -> Value {
    json!({"op": "eq", "path": ["id"], "value": id})
}

fn outside(world: &World, sql: &str) -> String {
    Server::shared().psql(world.url.as_deref().unwrap(), sql)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_column_of_a_domain_compares_as_its_base_type_does() {
    let world = World::postgres();
    world.tamper(
        "CREATE DOMAIN public.money_t AS numeric(12,4) CHECK (VALUE >= 0); CREATE DOMAIN public.price_t AS public.money_t;
         CREATE TABLE public.items (id int PRIMARY KEY, price public.price_t); INSERT INTO public.items VALUES (1, 9), (2, 100), (3, 1000.5)",
    );
    let store = Store::open(world.options()).await.unwrap();
    let mut transaction = begin(&store, Intent::Beside).await;
    let condition = json!({"op": "gt", "path": ["price"], "value": 50});
    assert_eq!(all(&mut transaction, json!({"table": "items", "where": condition})).await.len(), 2);
    let negative = json!({"table": "items", "where": by_id(1), "set": {"price": -1}});
    assert_eq!(transaction.call("update", negative).await.unwrap_err().code(), "constraint");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn views_are_read_and_partitions_are_read_and_written() {
    let world = World::postgres();
    world.tamper(
        "CREATE TABLE public.events (id int PRIMARY KEY, kind text) PARTITION BY RANGE (id);
         CREATE TABLE public.events_1 PARTITION OF public.events FOR VALUES FROM (0) TO (100);
         CREATE TABLE public.events_2 PARTITION OF public.events FOR VALUES FROM (100) TO (200);
         INSERT INTO public.events SELECT i, 'k' || i FROM generate_series(1, 150, 3) i;
         CREATE VIEW public.late AS SELECT id, kind FROM public.events WHERE id > 90;
         CREATE MATERIALIZED VIEW public.kinds AS SELECT count(*) AS n FROM public.events;",
    );
    let store = Store::open(options(&world, &["events", "late", "kinds"])).await.unwrap();
    assert_eq!(rows(&store, "events").await.len(), 50);
    assert_eq!(rows(&store, "late").await.len(), 20);
    assert_eq!(rows(&store, "kinds").await[0]["n"], 50);
    let before = outside(&world, "SELECT * FROM public.events ORDER BY id");
    let mut transaction = begin(&store, Intent::Beside).await;
    let refused = transaction.call("remove", json!({"table": "late", "all": true})).await.unwrap_err();
    assert_eq!(refused.code(), "read_only");
    for id in [1, 100] {
        let args = json!({"table": "events", "where": by_id(id), "set": {"kind": "new"}});
        transaction.call("update", args).await.unwrap();
    }
    transaction.call("insert", json!({"table": "events", "rows": [{"id": 180, "kind": "x"}]})).await.unwrap();
    transaction.call("remove", json!({"table": "events", "where": by_id(4)})).await.unwrap();
    let done = commit(transaction).await.unwrap();
    assert_eq!(done.diff.rows(), 4);
    store.undo(done.run_id.as_str(), note()).await.unwrap();
    assert_eq!(outside(&world, "SELECT * FROM public.events ORDER BY id"), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listed_table_that_is_not_there_is_an_error_with_the_nearest_name() {
    let world = World::postgres();
    world.tamper("CREATE TABLE public.customers (id int PRIMARY KEY)");
    let error = Store::open(options(&world, &["customer"])).await.unwrap_err();
    assert!(error.to_string().contains("`customer`"), "{error}");
    assert_eq!(error.hint().as_deref(), Some("did you mean `customers`?"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_sees_a_migration_at_its_next_transaction() {
    let world = World::postgres();
    world.tamper(
        "CREATE TABLE public.account (id int PRIMARY KEY, owner text); INSERT INTO public.account VALUES (1, 'Ann'), (2, 'Bob')",
    );
    let store = Store::open(world.options()).await.unwrap();
    assert_eq!(rows(&store, "account").await[0]["owner"], "Ann");
    world.tamper("ALTER TABLE public.account RENAME COLUMN owner TO holder; CREATE TABLE public.fresh (id int PRIMARY KEY)");
    assert_eq!(rows(&store, "account").await[0]["holder"], "Ann");
    assert!(store.schema().table("fresh").is_some());
    world.tamper("DROP TABLE public.fresh; ALTER TABLE public.account ADD COLUMN iban text; UPDATE public.account SET iban = 'CH93-' || id");
    let mut transaction = begin(&store, Intent::Beside).await;
    assert!(matches!(
        transaction.call("count", json!({"table": "fresh"})).await,
        Err(StoreError::UnknownTable { .. })
    ));
    transaction.call("remove", json!({"table": "account", "where": by_id(1)})).await.unwrap();
    let done = commit(transaction).await.unwrap();
    store.undo(done.run_id.as_str(), note()).await.unwrap();
    assert_eq!(outside(&world, "SELECT iban FROM public.account WHERE id = 1"), "CH93-1");
    // The key is another one: one row is one row.
    world.tamper(
        "ALTER TABLE public.account ADD COLUMN tenant text NOT NULL DEFAULT 'acme', DROP CONSTRAINT account_pkey, ADD PRIMARY KEY (tenant, id);
         INSERT INTO public.account (id, holder, tenant) VALUES (1, 'Zoe', 'globex')",
    );
    let mut transaction = begin(&store, Intent::Beside).await;
    let condition = json!({"op": "eq", "path": ["holder"], "value": "Ann"});
    transaction
        .call("update", json!({"table": "account", "where": condition, "set": {"holder": "Anna"}}))
        .await
        .unwrap();
    let done = commit(transaction).await.unwrap();
    assert_eq!(done.diff.rows(), 1);
    assert_eq!(outside(&world, "SELECT holder FROM public.account WHERE tenant = 'globex'"), "Zoe");
    store.undo(done.run_id.as_str(), note()).await.unwrap();
    assert_eq!(outside(&world, "SELECT holder FROM public.account WHERE id = 1 AND tenant = 'acme'"), "Ann");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_column_that_came_after_a_run_is_left_alone_or_named() {
    let world = World::postgres();
    world.tamper(
        "CREATE TABLE public.account (id int PRIMARY KEY, owner text); INSERT INTO public.account VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cy')",
    );
    let store = Store::open(world.options()).await.unwrap();
    let mut transaction = begin(&store, Intent::Beside).await;
    transaction
        .call("update", json!({"table": "account", "where": by_id(1), "set": {"owner": "Anna"}}))
        .await
        .unwrap();
    let changed = commit(transaction).await.unwrap();
    let mut transaction = begin(&store, Intent::Beside).await;
    transaction
        .call("update", json!({"table": "account", "where": by_id(2), "set": {"owner": "Bobby"}}))
        .await
        .unwrap();
    let held = hold(transaction).await.unwrap();
    let mut transaction = begin(&store, Intent::Beside).await;
    transaction.call("remove", json!({"table": "account", "where": by_id(3)})).await.unwrap();
    let removed = commit(transaction).await.unwrap();
    world.tamper(
        "ALTER TABLE public.account ADD COLUMN note text; UPDATE public.account SET note = 'n' || id",
    );
    store.undo(changed.run_id.as_str(), note()).await.unwrap();
    store.approve(held.run_id.as_str(), note()).await.unwrap();
    assert_eq!(outside(&world, "SELECT owner || note FROM public.account ORDER BY id"), "Annn1\nBobbyn2");
    let refused = store.undo(removed.run_id.as_str(), note()).await.unwrap_err();
    assert!(matches!(&refused, StoreError::LaterColumn { column, .. } if column == "note"), "{refused:?}");
    store.undo_rest(removed.run_id.as_str(), note()).await.unwrap();
    assert_eq!(outside(&world, "SELECT owner FROM public.account WHERE id = 3"), "Cy");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_is_given_the_rights_that_are_told() {
    let world = World::postgres();
    world.tamper("CREATE TABLE public.account (id int PRIMARY KEY)");
    let store = Store::open(world.options()).await.unwrap();
    store.apply_role("plans_of_company").await.unwrap();
    let may = "SELECT has_column_privilege('plans_of_company', 'public.account', 'id', 'SELECT')";
    assert_eq!(outside(&world, may), "t");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_keeps_only_the_tables_that_it_touches_from_being_changed() {
    let world = World::postgres();
    world.tamper(
        "CREATE TABLE public.a (id int PRIMARY KEY, n int); CREATE TABLE public.b (id int PRIMARY KEY, n int);
         CREATE TABLE public.c (id int PRIMARY KEY REFERENCES public.a ON DELETE CASCADE);
         INSERT INTO public.a VALUES (1, 1); INSERT INTO public.b VALUES (1, 1)",
    );
    let store = Store::open(world.options()).await.unwrap();
    let begun = async || {
        let options = BeginOptions { run_id: store.new_run_id().unwrap(), intent: Intent::Beside };
        store.begin_on(options, &["a".to_owned()].into()).await.unwrap()
    };
    let locked = || {
        let sql = "SELECT string_agg(relation::regclass::text, ',' ORDER BY relation::regclass::text) FROM pg_locks
            WHERE mode = 'AccessShareLock' AND relation IN ('a'::regclass, 'b'::regclass, 'c'::regclass) AND pid <> pg_backend_pid()";
        outside(&world, sql)
    };
    let mut transaction = begun().await;
    assert_eq!(locked(), "a,c", "the table, and the one whose rows go with it");
    // Another table is locked when it is touched.
    assert_eq!(all(&mut transaction, json!({"table": "b"})).await.len(), 1);
    assert_eq!(locked(), "a,b,c");
    transaction.roll_back().await.unwrap();
    // One that has become another since the run began is not read as it was.
    let mut transaction = begun().await;
    outside(&world, "ALTER TABLE public.b ADD COLUMN late int DEFAULT 7");
    let changed = transaction.call("search", json!({"table": "b"})).await.unwrap_err();
    assert!(matches!(changed, StoreError::Conflict), "{changed:?}");
    transaction.roll_back().await.unwrap();
    let mut transaction = begun().await;
    assert_eq!(all(&mut transaction, json!({"table": "b"})).await[0]["late"], 7);
}

/// The page that tells what rights are needed.
const PAGE: &str = include_str!("../../../../docs/postgres.md");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rights_that_the_page_names_are_enough_and_others_are_not_used() {
    let world = World::postgres();
    world.tamper(
        "CREATE TABLE customers (id int PRIMARY KEY, name text);
         CREATE TABLE orders (id serial PRIMARY KEY, of int REFERENCES customers ON DELETE CASCADE);
         CREATE TABLE wages (id int PRIMARY KEY); INSERT INTO customers VALUES (1, 'Ada'); INSERT INTO orders (of) VALUES (1)",
    );
    let scripts: Vec<&str> =
        PAGE.split("```sql\n").skip(1).filter_map(|block| block.split("```").next()).collect();
    assert_eq!(scripts.len(), 2);
    for script in scripts {
        outside(&world, script);
    }
    let url = world.url.as_deref().unwrap().replace("ordain@", "ordain_app@");
    let mut options = StoreOptions::postgres(&url, world.folder.path());
    let Database::Postgres { only, .. } = &mut options.database else { unreachable!() };
    *only = Some(vec!["customers".to_owned(), "orders".to_owned()]);
    let store = Store::open(options).await.unwrap();
    let before =
        outside(&world, "SELECT (SELECT json_agg(c) FROM customers c), (SELECT json_agg(o) FROM orders o)");
    let mut transaction = begin(&store, Intent::Beside).await;
    transaction.call("insert", json!({"table": "orders", "rows": [{"of": 1}]})).await.unwrap();
    transaction.call("remove", json!({"table": "customers", "where": by_id(1)})).await.unwrap();
    let run = commit(transaction).await.unwrap().run_id;
    store.undo(run.as_str(), note()).await.unwrap();
    let after =
        outside(&world, "SELECT (SELECT json_agg(c) FROM customers c), (SELECT json_agg(o) FROM orders o)");
    assert_eq!(after, before);
}
