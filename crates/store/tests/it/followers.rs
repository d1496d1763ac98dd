//! Rows that follow others by foreign keys: they stand in the diff, obey their tables' rules, and come back with an undo.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ordain_store::{Intent, Store, StoreError, TableDeclaration};
use ordain_testkit::postgres::Server;
use ordain_types::{Diff, RunRecord};
use serde_json::{Value, json};

use crate::world::{World, begin, commit, hold, note, rows};

const ORDERS: &str = "
CREATE TABLE public.people (id int PRIMARY KEY, name text);
CREATE TABLE public.orders (id int PRIMARY KEY, person int REFERENCES public.people ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE public.lines (id int, orders int REFERENCES public.orders ON DELETE CASCADE ON UPDATE CASCADE, n int, PRIMARY KEY (orders, id));
CREATE TABLE public.notes (id int PRIMARY KEY, line int, orders int, FOREIGN KEY (orders, line) REFERENCES public.lines (orders, id) ON DELETE SET NULL ON UPDATE CASCADE);
INSERT INTO public.people VALUES (1, 'Ann'), (2, 'Bob');
INSERT INTO public.orders VALUES (10, 1), (11, 1), (20, 2);
INSERT INTO public.lines VALUES (1, 10, 5), (2, 10, 6), (1, 11, 7), (1, 20, 8);
INSERT INTO public.notes VALUES (1, 1, 10), (2, 1, 20), (3, NULL, NULL);";

fn counts(diff: &Diff) -> BTreeMap<&str, (usize, usize, usize)> {
    diff.tables
        .iter()
        .map(|(table, part)| (table.as_str(), (part.added.len(), part.changed.len(), part.removed.len())))
        .collect()
}

fn by_id(id: i64) -> Value {
    json!({"op": "eq", "path": ["id"], "value": id})
}

/// Everything that is in the tables, from outside the store.
fn contents(world: &World, tables: &[&str]) -> Vec<String> {
    let url = world.url.as_deref().unwrap();
    tables
        .iter()
        .map(|table| Server::shared().psql(url, &format!("SELECT t::text FROM public.{table} t ORDER BY 1")))
        .collect()
}

async fn removed(store: &Store, table: &str, id: i64) -> Result<RunRecord, StoreError> {
    let mut transaction = begin(store, Intent::Beside).await;
    transaction.call("remove", json!({"table": table, "where": by_id(id)})).await?;
    commit(transaction).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_go_with_another_one_stand_in_the_diff_and_come_back() {
    const TABLES: [&str; 4] = ["people", "orders", "lines", "notes"];
    let world = World::postgres();
    world.tamper(ORDERS);
    let store = Store::open(world.options()).await.unwrap();
    let before = contents(&world, &TABLES);
    let done = removed(&store, "people", 1).await.unwrap();
    let expected = [("lines", (0, 0, 3)), ("notes", (0, 1, 0)), ("orders", (0, 0, 2)), ("people", (0, 0, 1))];
    assert_eq!(counts(&done.diff), expected.into());
    assert!(done.by_triggers.is_empty());
    store.undo(done.run_id.as_str(), note()).await.unwrap();
    assert_eq!(contents(&world, &TABLES), before);

    // The key changes, and everything that refers to it.
    let mut transaction = begin(&store, Intent::Beside).await;
    transaction
        .call("update", json!({"table": "orders", "where": by_id(10), "set": {"id": 99}}))
        .await
        .unwrap();
    let held = hold(transaction).await.unwrap();
    assert_eq!(contents(&world, &TABLES), before);
    let done = store.approve(held.run_id.as_str(), note()).await.unwrap();
    assert_eq!(rows(&store, "notes").await[0]["orders"], 99);
    assert_eq!(done.diff.rows(), held.diff.rows());
    store.undo(done.run_id.as_str(), note()).await.unwrap();
    assert_eq!(contents(&world, &TABLES), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_follow_obey_the_rules_of_their_own_tables() {
    let rule = |name: &str| TableDeclaration { name: name.to_owned(), ..TableDeclaration::default() };
    for (declaration, code) in [
        (TableDeclaration { read_only: true, ..rule("lines") }, "read_only"),
        (TableDeclaration { append_only: true, ..rule("lines") }, "append_only"),
        (TableDeclaration { max_rows_changed: Some(2), ..rule("lines") }, "limit"),
        (TableDeclaration { hidden: true, ..rule("lines") }, "constraint"),
    ] {
        let world = World::postgres();
        world.tamper(ORDERS);
        let mut options = world.options();
        options.tables = vec![declaration];
        let store = Store::open(options).await.unwrap();
        let before = contents(&world, &["people", "lines"]);
        let refused = removed(&store, "people", 1).await;
        assert_eq!(refused.as_ref().map(drop).map_err(StoreError::code), Err(code), "{refused:?}");
        assert_eq!(contents(&world, &["people", "lines"]), before);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_a_table_that_the_workspace_does_not_use_do_not_follow_unseen() {
    let world = World::postgres();
    world.tamper(ORDERS);
    let mut options = world.options();
    let ordain_store::Database::Postgres { only, .. } = &mut options.database else { unreachable!() };
    *only = Some(vec!["people".to_owned(), "orders".to_owned()]);
    let store = Store::open(options).await.unwrap();
    let refused = removed(&store, "people", 1).await.unwrap_err();
    assert!(
        matches!(&refused, StoreError::HiddenWrites { table, .. } if table == "public.lines"),
        "{refused:?}"
    );
    assert_eq!(rows(&store, "people").await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_tables_that_refer_to_each_other_go_and_come_back() {
    const TABLES: [&str; 4] = ["a", "b", "c", "d"];
    let world = World::postgres();
    let tables = TABLES.map(|table| format!("CREATE TABLE public.{table} (id int PRIMARY KEY, next int, boss int REFERENCES public.{table} ON DELETE CASCADE);"));
    let keys = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")].map(|(from, to)| {
        format!("ALTER TABLE public.{from} ADD FOREIGN KEY (next) REFERENCES public.{to} ON DELETE CASCADE;")
    });
    let rows = TABLES.map(|table| format!("INSERT INTO public.{table} VALUES (1, NULL, NULL), (2, NULL, 1), (3, NULL, 2); UPDATE public.{table} SET boss = 3 WHERE id = 1;"));
    let links = TABLES.map(|table| format!("UPDATE public.{table} SET next = id;"));
    world.tamper(&[tables.join(" "), keys.join(" "), rows.join(" "), links.join(" ")].join(" "));
    let store = Store::open(world.options()).await.unwrap();
    let before = contents(&world, &TABLES);
    let done = removed(&store, "a", 2).await.unwrap();
    assert_eq!(done.diff.rows(), 12);
    store.undo(done.run_id.as_str(), note()).await.unwrap();
    assert_eq!(contents(&world, &TABLES), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_exchanges_unique_values_back() {
    let world = World::postgres();
    world.tamper(
        "CREATE TABLE public.seats (id int PRIMARY KEY, seat text UNIQUE NOT NULL, row int UNIQUE);
         INSERT INTO public.seats VALUES (1, 'A', 1), (2, 'B', 2), (3, 'C', 3)",
    );
    let store = Store::open(world.options()).await.unwrap();
    let before = contents(&world, &["seats"]);
    let mut transaction = begin(&store, Intent::Beside).await;
    for (id, seat, row) in [(1, "x", 9), (2, "A", 1), (3, "B", 2), (1, "C", 3)] {
        let args = json!({"table": "seats", "where": by_id(id), "set": {"seat": seat, "row": row}});
        transaction.call("update", args).await.unwrap();
    }
    let done = commit(transaction).await.unwrap();
    store.undo(done.run_id.as_str(), note()).await.unwrap();
    assert_eq!(contents(&world, &["seats"]), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_that_a_trigger_turns_into_something_else_is_refused_by_row() {
    let world = World::postgres();
    world.tamper(
        "CREATE TABLE public.account (id int PRIMARY KEY, balance int); INSERT INTO public.account VALUES (1, 100)",
    );
    let store = Store::open(world.options()).await.unwrap();
    let mut transaction = begin(&store, Intent::Beside).await;
    let args = json!({"table": "account", "where": by_id(1), "set": {"balance": 50}});
    transaction.call("update", args).await.unwrap();
    let done = commit(transaction).await.unwrap();
    world.tamper(
        "CREATE FUNCTION public.odd() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.balance := NEW.balance + 1; RETURN NEW; END $$;
         CREATE TRIGGER odd BEFORE UPDATE ON public.account FOR EACH ROW EXECUTE FUNCTION public.odd()",
    );
    let refused = store.undo(done.run_id.as_str(), note()).await.unwrap_err();
    assert!(
        matches!(&refused, StoreError::NotAsShown { conflicts } if conflicts[0].table == "account"),
        "{refused:?}"
    );
    assert_eq!(rows(&store, "account").await[0]["balance"], 50);
}

/// Numbers that one seed gives.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Random tables that refer to each other, and random changes of them: the diff is what the database changed, and an undo
/// gives back what was there. A failure names its seed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_diff_is_what_the_database_changed_whatever_refers_to_what() {
    const TABLES: [&str; 4] = ["t0", "t1", "t2", "t3"];
    const ACTIONS: [&str; 3] = ["CASCADE", "SET NULL", "NO ACTION"];
    let mut committed = 0;
    for seed in 0..12 {
        let mut numbers = Numbers(seed);
        let world = World::postgres();
        let mut script = String::new();
        for table in TABLES {
            let _ = write!(
                script,
                "CREATE TABLE public.{table} (id int PRIMARY KEY, v text, r0 int, r1 int);
                 INSERT INTO public.{table} SELECT i, 'v' || i FROM generate_series(1, 6) i;"
            );
        }
        for table in TABLES {
            for column in ["r0", "r1"] {
                let to = TABLES[usize::try_from(numbers.below(4)).unwrap()];
                let mut action = || ACTIONS[usize::try_from(numbers.below(3)).unwrap()];
                let (removal, change) = (action(), action());
                let _ = write!(
                    script,
                    "ALTER TABLE public.{table} ADD FOREIGN KEY ({column}) REFERENCES public.{to} ON DELETE {removal} ON UPDATE {change};"
                );
            }
        }
        for table in TABLES {
            for id in 1..=6 {
                let (one, two) = (numbers.below(9), numbers.below(9));
                let number = |number: u64| {
                    if (1..=6).contains(&number) { number.to_string() } else { "NULL".to_owned() }
                };
                let _ = write!(
                    script,
                    "UPDATE public.{table} SET r0 = {}, r1 = {} WHERE id = {id};",
                    number(one),
                    number(two)
                );
            }
        }
        world.tamper(&script);
        let store = Store::open(world.options()).await.unwrap();
        for step in 0..6 {
            let before = contents(&world, &TABLES);
            let table = TABLES[usize::try_from(numbers.below(4)).unwrap()];
            let id = numbers.below(6) + 1;
            let mut transaction = begin(&store, Intent::Beside).await;
            let called = match numbers.below(3) {
                0 => {
                    transaction
                        .call(
                            "remove",
                            json!({"table": table, "where": {"op": "ge", "path": ["id"], "value": id}}),
                        )
                        .await
                }
                1 => transaction
                    .call(
                        "update",
                        json!({"table": table, "where": by_id(id.cast_signed()), "set": {"id": 50 + step}}),
                    )
                    .await,
                _ => {
                    transaction
                        .call("remove", json!({"table": table, "where": by_id(id.cast_signed())}))
                        .await
                }
            };
            let done = match called {
                Ok(_) => commit(transaction).await,
                Err(error) => Err(error),
            };
            let after = contents(&world, &TABLES);
            let Ok(done) = done else {
                assert_eq!(after, before, "seed {seed}, step {step}");
                continue;
            };
            committed += usize::from(!done.diff.is_empty());
            let lines =
                |side: &[String], at: usize| -> Vec<String> { side[at].lines().map(str::to_owned).collect() };
            let mut changed = 0;
            for (at, table) in TABLES.iter().enumerate() {
                let (old, new) = (lines(&before, at), lines(&after, at));
                let part = done.diff.tables.get(*table);
                let gone = old.iter().filter(|line| !new.contains(line)).count();
                let come = new.iter().filter(|line| !old.contains(line)).count();
                let told = part.map_or((0, 0), |part| {
                    (part.removed.len() + part.changed.len(), part.added.len() + part.changed.len())
                });
                assert_eq!((gone, come), told, "seed {seed}, step {step}, {table}");
                changed += gone + come;
            }
            assert_eq!(changed == 0, done.diff.is_empty(), "seed {seed}, step {step}");
            if !done.diff.is_empty() && numbers.below(3) > 0 {
                let undone = store.undo(done.run_id.as_str(), note()).await;
                assert!(undone.is_ok(), "seed {seed}, step {step}: {undone:?}");
                assert_eq!(contents(&world, &TABLES), before, "seed {seed}, step {step}");
            }
        }
    }
    assert!(committed > 12, "{committed} changes");
}
