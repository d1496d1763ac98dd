//! What somebody does to the database behind the store's back is noticed before it has an effect.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ordain_store::{
    CachedPlan, Claim, Clock, EntryNote, Intent, PlanAuthor, RestoreAt, RunFilter, SeenBy, Store, StoreError,
    StoreLimits, StoreOptions,
};
use ordain_types::{RunId, RunState};
use serde_json::json;

use crate::world::{World, begin, buy, commit, hold, note, on_both, rows};

async fn bought(store: &Store) -> ordain_types::RunRecord {
    let mut transaction = begin(store, Intent::Write).await;
    assert!(buy(&mut transaction, "Aviator", 1).await.unwrap());
    commit(transaction).await.unwrap()
}

fn is_ledger<T: std::fmt::Debug>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Ledger { .. }))
}

/// Takes the end of the ledger away, as an older copy of the database would.
fn cut(world: &World, after: u64) {
    let guard = if world.url.is_some() {
        "DROP TRIGGER entries_stay ON ordain.entries"
    } else {
        "DROP TRIGGER ordain_entries_stay"
    };
    world.tamper(&format!("{guard}; DELETE FROM {} WHERE seq > {after}", world.own("entries")));
}

fn plan(code: &str) -> CachedPlan {
    CachedPlan {
        plan_id: "0123456789abcdef".to_owned(),
        kind: "ask".to_owned(),
        exact: "exact".to_owned(),
        declared: None,
        request: "do you have classic?".to_owned(),
        title: "looks".to_owned(),
        code: code.to_owned(),
        source: PlanAuthor::Rules,
        model: None,
        run_id: "r".to_owned(),
        components: BTreeMap::new(),
        pinned: false,
        uses: 0,
        created_at: String::new(),
        last_used_at: String::new(),
    }
}

on_both! {
    async fn an_older_database_is_refused_until_somebody_accepts_it(world: World) {
        let store = world.shop().await;
        bought(&store).await;
        bought(&store).await;
        cut(&world, 2);
        // The process that knows better does not go on, and no other one opens it.
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Aviator", 1).await.unwrap());
        let refused = commit(transaction).await;
        assert!(is_ledger(&refused), "{refused:?}");
        drop(store);
        for _ in 0..3 {
            let opened = Store::open(world.shop_options()).await;
            assert!(is_ledger(&opened), "{opened:?}");
        }
        let looking = Store::open(StoreOptions { allow_older: true, ..world.shop_options() }).await.unwrap();
        let findings = looking.verify_ledger().await.unwrap().findings;
        assert_eq!(findings.iter().map(|finding| finding.code).collect::<Vec<_>>(), ["truncated"]);
        let mut transaction = begin(&looking, Intent::Write).await;
        assert!(buy(&mut transaction, "Aviator", 1).await.unwrap());
        assert!(is_ledger(&commit(transaction).await));
        assert!(looking.accept_restore(" ", note()).await.is_err());
        looking.accept_restore("the disk failed", note()).await.unwrap();
        drop(looking);
        let store = world.shop().await;
        bought(&store).await;
        let report = store.verify_ledger().await.unwrap();
        assert!(report.is_whole(), "{report:?}");
        assert_eq!(report.accepted, [3]);
    }

    async fn a_missing_or_forged_checkpoint_is_refused_too(world: World) {
        let store = world.shop().await;
        bought(&store).await;
        drop(store);
        let path = world.folder.path().join("ledger.checkpoint");
        let kept = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, kept.replace("\"seq\":2", "\"seq\":1")).unwrap();
        assert!(is_ledger(&Store::open(world.shop_options()).await));
        std::fs::remove_file(&path).unwrap();
        assert!(is_ledger(&Store::open(world.shop_options()).await));
        std::fs::write(&path, "x").unwrap();
        let told = Store::open(world.shop_options()).await.unwrap_err().to_string();
        assert_eq!(told.matches("the ledger cannot be used").count(), 1, "{told}");
        std::fs::write(&path, kept).unwrap();
        bought(&world.shop().await).await;
    }

    async fn a_ledger_without_its_key_says_that_the_key_is_missing(world: World) {
        bought(&world.shop().await).await;
        std::fs::remove_file(world.folder.path().join("ledger.key")).unwrap();
        let refused = Store::open(world.shop_options()).await.unwrap_err();
        assert!(refused.to_string().contains("another key than `ledger.key`"), "{refused}");
        assert!(refused.hint().is_some_and(|hint| hint.contains("`ledger.key`")), "{refused}");
    }

    async fn an_edited_record_is_neither_shown_nor_approved(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Classic", 3).await.unwrap());
        let held = hold(transaction).await.unwrap();
        let runs = world.own("runs");
        world.tamper(&format!("UPDATE {runs} SET record = replace(record, '\"quantity_in_stock\":7', '\"quantity_in_stock\":9')"));
        let id = held.run_id.as_str();
        let shown = store.run(id).await;
        assert!(is_ledger(&shown), "{shown:?}");
        assert!(is_ledger(&store.approve(id, note()).await));
        assert!(is_ledger(&store.reject(id, note()).await));
        let listed = store.find_runs(RunFilter::newest(10)).await.unwrap();
        assert_eq!(listed[0].error.as_ref().unwrap().code, "altered");
        assert!(listed[0].diff.is_empty());
    }

    async fn edited_changes_are_neither_approved_nor_undone(world: World) {
        let store = world.shop().await;
        let committed = bought(&store).await;
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Classic", 1).await.unwrap());
        let held = hold(transaction).await.unwrap();
        let before = rows(&store, "inventory").await;
        let runs = world.own("runs");
        world.tamper(&format!("UPDATE {runs} SET changes = replace(changes, '80.0', '1.0')"));
        world.tamper(&format!("UPDATE {runs} SET changes = replace(changes, '60.0', '1.0')"));
        assert!(is_ledger(&store.undo(committed.run_id.as_str(), note()).await));
        assert!(is_ledger(&store.approve(held.run_id.as_str(), note()).await));
        assert_eq!(rows(&store, "inventory").await, before);
    }

    async fn a_record_whose_entry_was_edited_with_it_is_refused(world: World) {
        let store = world.shop().await;
        let committed = bought(&store).await;
        let guard = if world.url.is_some() { "DROP TRIGGER entries_stay ON ordain.entries" } else { "DROP TRIGGER ordain_entries_keep" };
        let (runs, entries) = (world.own("runs"), world.own("entries"));
        world.tamper(&format!("{guard}; UPDATE {runs} SET record = replace(record, 'a test', 'b test');
            UPDATE {entries} SET body = replace(body, 'a test', 'b test')"));
        assert!(is_ledger(&store.run(committed.run_id.as_str()).await));
    }

    async fn records_of_two_held_runs_that_were_exchanged_are_neither_shown_nor_approved(world: World) {
        let store = world.shop().await;
        let mut held = Vec::new();
        for (name, quantity) in [("Classic", 1), ("Aviator", 20)] {
            let mut transaction = begin(&store, Intent::Write).await;
            assert!(buy(&mut transaction, name, quantity).await.unwrap());
            held.push(hold(transaction).await.unwrap().run_id);
        }
        let before = rows(&store, "inventory").await;
        let runs = world.own("runs");
        world.tamper(&format!("CREATE TABLE saved AS SELECT * FROM {runs}"));
        for (one, other) in [(&held[0], &held[1]), (&held[1], &held[0])] {
            let from = |column: &str| format!("(SELECT replace({column}, '{other}', '{one}') FROM saved WHERE run_id = '{other}')");
            world.tamper(&format!("UPDATE {runs} SET record = {}, changes = {} WHERE run_id = '{one}'", from("record"), from("changes")));
        }
        for run in &held {
            assert!(is_ledger(&store.run(run.as_str()).await) && is_ledger(&store.approve(run.as_str(), note()).await));
        }
        assert_eq!(rows(&store, "inventory").await, before);
    }

    async fn an_edited_plan_of_the_cache_is_not_found(world: World) {
        let store = world.shop().await;
        store.keep_plans(&[plan("answer_text = 'yes'")]).await.unwrap();
        assert_eq!(store.find_plans("ask", Some("exact")).await.unwrap().len(), 1);
        // Keeping it again and using it leave it genuine.
        store.keep_plans(&[plan("answer_text = 'yes'")]).await.unwrap();
        store.pin_plan("0123456789abcdef", true).await.unwrap();
        assert_eq!(store.find_plans("ask", Some("exact")).await.unwrap().len(), 1);
        let plans = world.own("plans");
        for edit in ["code = 'inventory_tbl.truncate()'", "components = '{\"a\":\"b\"}'", "exact = 'other'", "seal = NULL"] {
            store.keep_plans(&[plan("answer_text = 'yes'")]).await.unwrap();
            world.tamper(&format!("UPDATE {plans} SET {edit}"));
            assert_eq!(store.find_plans("ask", Some("exact")).await.unwrap().len(), 0, "{edit}");
            assert_eq!(store.find_plans("ask", Some("other")).await.unwrap().len(), 0, "{edit}");
            assert_eq!(store.plans(None, 10).await.unwrap()[0].code, "", "{edit}");
        }
        store.evict_plan("0123456789abcdef").await.unwrap();
    }

    async fn the_keys_of_a_dead_process_are_free_again_and_its_runs_recorded(world: World) {
        let store = world.shop().await;
        let run = store.new_run_id().unwrap();
        assert_eq!(store.claim("k1", &run).await.unwrap(), Claim::Taken);
        // A second opening in a living process changes nothing.
        let other = world.shop().await;
        let retry = store.new_run_id().unwrap();
        assert_eq!(other.claim("k1", &retry).await.unwrap(), Claim::Running(run.clone()));
        drop(other);
        drop(store);
        let store = world.shop().await;
        let lost = store.run(run.as_str()).await.unwrap();
        assert_eq!((lost.state, lost.error.unwrap().code.as_str()), (RunState::Failed, "process_ended"));
        assert_eq!(store.entries_of_run(&run).await.unwrap().len(), 1);
        assert_eq!(store.claim("k1", &retry).await.unwrap(), Claim::Taken);
        assert!(store.verify_ledger().await.unwrap().is_whole());
        assert_eq!(std::fs::read_dir(world.folder.path().join("running")).unwrap().count(), 1);
    }

    async fn rows_that_were_changed_behind_ordains_back_are_found(world: World) {
        let store = world.shop().await;
        bought(&store).await;
        let undone = bought(&store).await;
        store.undo(undone.run_id.as_str(), note()).await.unwrap();
        let report = store.verify_rows().await.unwrap();
        assert!(report.is_whole(), "{report:?}");
        let found = async |store: &Store| -> Vec<String> {
            let findings = store.verify_rows().await.unwrap().findings;
            findings.into_iter().map(|finding| finding.message).collect()
        };
        world.tamper("UPDATE inventory SET quantity_in_stock = 999 WHERE item_id = 'SG001'");
        assert!(found(&store).await[0].contains("inventory"));
        // A change through Ordain does not make it whole again, nor does an edit of the kept sums.
        let row_sums = world.own("row_sums");
        world.tamper(&format!("UPDATE {row_sums} SET sums = replace(sums, '\"inventory\":\"', '\"inventory\":\"0')"));
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Classic", 1).await.unwrap());
        commit(transaction).await.unwrap();
        assert!(!found(&store).await.is_empty());
        store.reseed(&[], note()).await.unwrap();
        assert_eq!(found(&store).await, [""; 0]);
    }

    async fn who_asked_and_who_decided_is_what_the_ledger_says(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Classic", 3).await.unwrap());
        let held = hold(transaction).await.unwrap();
        store.reject(held.run_id.as_str(), EntryNote::by("boss", "test")).await.unwrap();
        store.keep_plans(&[CachedPlan { run_id: held.run_id.to_string(), ..plan("answer_text = 'yes'") }]).await.unwrap();
        let runs = world.own("runs");
        world.tamper(&format!("UPDATE {runs} SET who = 'mallory', decided_by = 'mallory', state = 'held'"));
        let owned = store.owned_run(held.run_id.as_str()).await.unwrap();
        assert_eq!((owned.who.as_deref(), owned.decided_by.as_deref()), (Some("tester"), Some("boss")));
        let seen_by = |sees_held| Some(SeenBy { who: "mallory".to_owned(), sees_held });
        for filter in [
            RunFilter { seen_by: seen_by(true), limit: 9, ..RunFilter::default() },
            RunFilter { states: vec![RunState::Held], limit: 9, ..RunFilter::default() },
        ] {
            assert!(store.find_runs(filter.clone()).await.unwrap().is_empty(), "{filter:?}");
        }
        assert!(store.plans_after(None, Some("mallory"), None, 9).await.unwrap().is_empty());
        assert!(matches!(store.approve(held.run_id.as_str(), note()).await, Err(StoreError::WrongState { .. })));
    }

    async fn a_rejected_run_does_not_come_back_with_its_row_and_without_its_entry(world: World) {
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Classic", 3).await.unwrap());
        let held = hold(transaction).await.unwrap();
        let id = held.run_id.as_str();
        let (runs, entries) = (world.own("runs"), world.own("entries"));
        world.tamper(&format!("CREATE TABLE saved AS SELECT * FROM {runs}"));
        store.reject(id, note()).await.unwrap();
        bought(&store).await;
        let back = format!("UPDATE {runs} SET state = 'held', record = (SELECT record FROM saved WHERE saved.run_id = {runs}.run_id) WHERE run_id = '{id}'");
        world.tamper(&back);
        assert!(is_ledger(&store.approve(id, note()).await));
        let guards = if world.url.is_some() {
            "DROP TRIGGER entries_stay ON ordain.entries"
        } else {
            "DROP TRIGGER ordain_entries_stay; DROP TRIGGER ordain_entries_keep"
        };
        // The entry of the refusal is taken out, or made into one about nothing.
        world.tamper(&format!("{guards}; UPDATE {entries} SET run_id = NULL WHERE kind = 'reject'"));
        let refused = store.approve(id, note()).await;
        assert!(is_ledger(&refused), "{refused:?}");
        world.tamper(&format!("DELETE FROM {entries} WHERE kind = 'reject'"));
        let refused = store.approve(id, note()).await;
        assert!(is_ledger(&refused), "{refused:?}");
        assert!(rows(&store, "inventory").await.iter().any(|row| row["quantity_in_stock"] == 10));
    }

    async fn rows_and_their_sum_that_were_put_back_together_are_found(world: World) {
        let store = world.shop().await;
        bought(&store).await;
        let row_sums = world.own("row_sums");
        world.tamper(&format!("CREATE TABLE saved_rows AS SELECT * FROM inventory; CREATE TABLE saved_sums AS SELECT * FROM {row_sums} ORDER BY seq DESC LIMIT 1"));
        bought(&store).await;
        world.tamper(&format!("UPDATE inventory SET quantity_in_stock = (SELECT s.quantity_in_stock FROM saved_rows AS s WHERE s.doc_id = inventory.doc_id);
            UPDATE {row_sums} SET sums = (SELECT s.sums FROM saved_sums AS s)"));
        bought(&store).await;
        let findings = store.verify_rows().await.unwrap().findings;
        assert!(findings.iter().any(|finding| finding.code == "rows" && finding.seq.is_some()), "{findings:?}");
    }

    async fn a_record_that_was_edited_or_taken_away_is_found(world: World) {
        let store = world.shop().await;
        let (edited, gone) = (bought(&store).await, bought(&store).await);
        assert!(store.verify_rows().await.unwrap().is_whole());
        let runs = world.own("runs");
        world.tamper(&format!("UPDATE {runs} SET record = 'no record' WHERE run_id = '{}'", edited.run_id));
        world.tamper(&format!("DELETE FROM {runs} WHERE run_id = '{}'", gone.run_id));
        let findings = store.verify_rows().await.unwrap().findings;
        assert_eq!(findings.len(), 2, "{findings:?}");
        for (finding, run) in std::iter::zip(&findings, [&edited, &gone]) {
            assert!(finding.code == "record" && finding.message.contains(run.run_id.as_str()), "{finding:?}");
        }
        assert_eq!(store.find_runs(RunFilter::newest(9)).await.unwrap()[0].error.as_ref().unwrap().code, "altered");
    }

    async fn a_trigger_that_comes_while_the_store_is_open_changes_no_row(world: World) {
        let store = world.shop().await;
        bought(&store).await;
        let before = rows(&store, "inventory").await;
        let entries = world.own("entries");
        world.tamper(&if world.url.is_some() {
            format!("CREATE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE inventory SET price = 1; RETURN NULL; END $$;
                CREATE TRIGGER evil AFTER INSERT ON {entries} FOR EACH ROW EXECUTE FUNCTION evil()")
        } else {
            format!("CREATE TRIGGER evil AFTER INSERT ON {entries} BEGIN UPDATE inventory SET price = 1; END")
        });
        let run = store.new_run_id().unwrap();
        let recorded = store.record(crate::world::record(&run), note()).await;
        assert!(matches!(recorded, Err(StoreError::HiddenWrites { .. })), "{recorded:?}");
        let opened = Store::open(world.shop_options()).await;
        assert!(matches!(opened, Err(StoreError::Declaration { .. })), "{opened:?}");
        world.tamper(&if world.url.is_some() { format!("DROP TRIGGER evil ON {entries}") } else { "DROP TRIGGER evil".to_owned() });
        assert_eq!(rows(&store, "inventory").await, before);
    }

    async fn a_writer_that_keeps_another_process_waiting_is_told_to_give_up(world: World) {
        let mut options = world.shop_options();
        options.limits = StoreLimits { lock_hold: Duration::from_millis(50), lock_wait: Duration::from_mins(2), ..StoreLimits::default() };
        // A second store knows no more of the first one than a second process does.
        let (store, other) = (Store::open(options.clone()).await.unwrap(), Store::open(options).await.unwrap());
        let first = begin(&store, Intent::Write).await;
        let overdue = first.overdue();
        assert!(tokio::time::timeout(Duration::from_millis(600), first.overdue()).await.is_err());
        let second = tokio::spawn(async move { bought(&other).await });
        let late = overdue.await;
        assert!(matches!(late, Err(StoreError::LockLimit { hold_ms: 50 })), "{late:?}");
        first.roll_back().await.unwrap();
        // The one that waited is next, however quickly the first one wants to write again.
        let again = bought(&store).await;
        let waited = second.await.unwrap();
        let seq = async |run: &RunId| store.entries_of_run(run).await.unwrap()[0].seq;
        assert!(seq(&waited.run_id).await < seq(&again.run_id).await);
        let third = begin(&store, Intent::Write).await;
        assert!(tokio::time::timeout(Duration::from_millis(600), third.overdue()).await.is_err());
    }

    async fn a_key_or_checkpoint_that_is_no_ordinary_file_is_refused_at_once(world: World) {
        drop(world.shop().await);
        for name in ["ledger.key", "ledger.checkpoint"] {
            let path = world.folder.path().join(name);
            let kept = std::fs::read(&path).unwrap();
            for odd in ["pipe", "/dev/zero", "/dev/tty", "."] {
                std::fs::remove_file(&path).unwrap();
                if odd == "pipe" {
                    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
                } else {
                    std::os::unix::fs::symlink(odd, &path).unwrap();
                }
                let opened = Store::open(world.shop_options()).await;
                assert!(is_ledger(&opened), "{name} as {odd}: {opened:?}");
            }
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, kept).unwrap();
        }
        bought(&world.shop().await).await;
    }

    async fn a_writer_that_keeps_others_waiting_is_told_to_give_up(world: World) {
        let mut options = world.shop_options();
        options.limits = StoreLimits { lock_hold: Duration::from_millis(50), lock_wait: Duration::from_mins(2), ..StoreLimits::default() };
        let store = Store::open(options).await.unwrap();
        let first = begin(&store, Intent::Write).await;
        let overdue = first.overdue();
        // Nobody waits, so it may go on.
        assert!(tokio::time::timeout(Duration::from_millis(300), first.overdue()).await.is_err());
        let mut order = Vec::new();
        let second = async {
            let mut second = begin(&store, Intent::Write).await;
            assert!(buy(&mut second, "Classic", 1).await.unwrap());
            commit(second).await.unwrap();
        };
        let ended = async {
            let late = overdue.await;
            assert!(matches!(late, Err(StoreError::LockLimit { hold_ms: 50 })), "{late:?}");
            order.push("first");
            first.roll_back().await.unwrap();
        };
        tokio::join!(second, ended);
        assert_eq!(order, ["first"]);
        // A reader holds nobody up.
        let reader = begin(&store, Intent::Read).await;
        assert!(tokio::time::timeout(Duration::from_millis(200), reader.overdue()).await.is_err());
    }
}

/// Triggers and changed definitions in a file that Ordain made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_with_a_strangers_trigger_is_not_written_to() {
    for (sql, table) in [
        (
            "CREATE TRIGGER t AFTER UPDATE ON inventory BEGIN INSERT INTO transactions (transaction_id, customer_name, amount, balance) VALUES ('EVIL', 'x', 1.0, 1.0); END",
            "inventory",
        ),
        ("ALTER TABLE inventory ADD COLUMN extra TEXT DEFAULT 'x'", "inventory"),
        ("CREATE TRIGGER t BEFORE UPDATE ON inventory BEGIN SELECT RAISE(IGNORE); END", "inventory"),
        (
            "CREATE TRIGGER t AFTER UPDATE ON inventory BEGIN UPDATE inventory SET price = -999.0 WHERE doc_id = new.doc_id; END",
            "inventory",
        ),
        (
            "ALTER TABLE inventory RENAME TO real; CREATE VIEW inventory AS SELECT * FROM real;
             CREATE TRIGGER t INSTEAD OF UPDATE ON inventory BEGIN UPDATE real SET price = 1.0; END",
            "inventory",
        ),
    ] {
        let world = World::sqlite();
        let store = world.shop().await;
        bought(&store).await;
        let before = rows(&store, "transactions").await.len();
        world.tamper(sql);
        // The store that is open notices before it commits.
        let mut transaction = begin(&store, Intent::Write).await;
        let written = buy(&mut transaction, "Aviator", 1).await;
        let committed = commit(transaction).await;
        assert!(
            written.is_err()
                || matches!(committed, Err(StoreError::ReadOnly { .. } | StoreError::HiddenWrites { .. })),
            "{sql}: {committed:?}"
        );
        drop(store);
        let store = world.shop().await;
        let mut transaction = begin(&store, Intent::Write).await;
        match buy(&mut transaction, "Aviator", 1).await {
            Ok(_) => {
                let refused = commit(transaction).await;
                assert!(matches!(refused, Err(StoreError::HiddenWrites { .. })), "{sql}: {refused:?}");
            }
            Err(refused) => {
                assert!(
                    matches!(refused, StoreError::ReadOnly { .. } | StoreError::Constraint { .. }),
                    "{sql}: {refused:?}"
                );
                transaction.roll_back().await.unwrap();
            }
        }
        assert_eq!(rows(&store, "transactions").await.len(), before, "{sql}");
        let info = store.tables().await.unwrap();
        assert!(info.iter().any(|info| info.table.name == table && !info.notes.is_empty()), "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_strangers_trigger_may_be_on_ordains_own_tables() {
    let world = World::sqlite();
    drop(world.shop().await);
    world.tamper("CREATE TRIGGER u AFTER INSERT ON ordain_runs BEGIN DELETE FROM inventory; END");
    let opened = Store::open(world.shop_options()).await;
    assert!(matches!(opened, Err(StoreError::Declaration { .. })), "{opened:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_of_before_without_an_owner_keeps_its_lease() {
    let world = World::sqlite();
    let store = world.shop().await;
    let run = RunId("01".to_owned());
    store.claim("k", &run).await.unwrap();
    world.tamper("UPDATE ordain_claims SET owner = NULL");
    drop(store);
    let store = world.shop().await;
    assert_eq!(store.claim("k", &RunId("02".to_owned())).await.unwrap(), Claim::Running(run));
    assert!(json!(store.find_runs(RunFilter::newest(5)).await.unwrap()).as_array().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_brings_the_store_back_to_before_a_run_and_the_ledger_says_so() {
    let world = World::sqlite();
    let store = world.shop().await;
    bought(&store).await;
    let folder = world.folder.path().join("copies");
    let copy = store.back_up(&folder).await.unwrap();
    let before = rows(&store, "inventory").await;
    let wrong = bought(&store).await;
    bought(&store).await;
    drop(store);
    // A copy that was edited is not taken.
    let path = copy.folder.join("store.db");
    let kept = std::fs::read(&path).unwrap();
    std::fs::write(&path, [kept.as_slice(), b"x"].concat()).unwrap();
    let at = RestoreAt::Run(wrong.run_id.to_string());
    let refused = ordain_store::restore(world.shop_options(), &folder, at.clone(), note()).await;
    assert!(is_ledger(&refused), "{refused:?}");
    std::fs::write(&path, kept).unwrap();
    let (restored, aside) = ordain_store::restore(world.shop_options(), &folder, at, note()).await.unwrap();
    assert_eq!((restored.at.clone(), restored.entries), (copy.at, 2));
    assert!(aside.is_file());
    let store = world.shop().await;
    assert_eq!(rows(&store, "inventory").await, before);
    let report = store.verify_rows().await.unwrap();
    assert!(report.is_whole() && report.accepted == [3], "{report:?}");
    assert!(store.run(wrong.run_id.as_str()).await.is_err());
    let early = RestoreAt::Time("2001-01-01T00:00:00Z".to_owned());
    assert!(ordain_store::restore(world.shop_options(), &folder, early, note()).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_copies_within_one_millisecond_are_both_made() {
    let world = World::sqlite();
    let now = Arc::new(AtomicU64::new(1_800_000_000_000));
    let read = Arc::clone(&now);
    let clock = Clock::new(move || read.load(Ordering::SeqCst));
    let store = Store::open(StoreOptions { clock, ..world.shop_options() }).await.unwrap();
    let folder = world.folder.path().join("copies");
    let first = store.back_up(&folder).await.unwrap();
    // The clock goes on once the second one has found the name taken.
    let (second, _) = tokio::join!(store.back_up(&folder), async { now.fetch_add(1, Ordering::SeqCst) });
    assert_eq!(store.backups(&folder).unwrap(), [first, second.unwrap()]);
    let stopped = store.back_up(&folder).await.unwrap_err();
    assert!(stopped.to_string().contains("exists"), "{stopped}");
    assert_eq!(store.backups(&folder).unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_page_is_found() {
    let world = World::sqlite();
    let store = world.shop().await;
    assert_eq!(store.damaged_pages().await.unwrap(), [""; 0]);
    drop(store);
    world.tamper("PRAGMA wal_checkpoint(TRUNCATE)");
    let path = world.folder.path().join("store.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(7).rposition(|window| window == b"Aviator").unwrap();
    bytes[at] = b'B';
    std::fs::write(&path, &bytes).unwrap();
    let store = Store::open(StoreOptions { allow_older: true, ..world.shop_options() }).await.unwrap();
    let damaged = store.damaged_pages().await.unwrap();
    let changed = store.verify_rows().await.unwrap();
    assert!(!damaged.is_empty() || !changed.is_whole(), "neither the index nor the sums have noticed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_of_the_database_may_read_what_plans_may_see_and_nothing_else() {
    let world = World::postgres();
    let mut options = world.shop_options();
    options.tables[0].hidden_columns = vec!["price".to_owned()];
    let store = Store::open(options.clone()).await.unwrap();
    let role = format!("plans_{}", store.new_run_id().unwrap());
    store.apply_role(&role).await.unwrap();
    drop(store);
    let url = world.url.as_ref().unwrap();
    let psql = |sql: &str| ordain_testkit::postgres::Server::shared().psql(url, sql);
    assert_eq!(psql(&format!("SET ROLE {role}; SELECT count(name) FROM inventory")), "3");
    for forbidden in
        ["SELECT price FROM inventory", "SELECT count(*) FROM ordain.keys", "DELETE FROM inventory"]
    {
        let sql = format!("SET ROLE {role}; {forbidden}");
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| psql(&sql)));
        assert!(refused.is_err(), "{forbidden}");
    }
    let store = Store::open(StoreOptions { plan_role: Some(role), ..options }).await.unwrap();
    let mut transaction = begin(&store, Intent::Write).await;
    let sql = json!({"sql": "SELECT name FROM inventory ORDER BY name", "params": null});
    assert_eq!(transaction.call("query", sql).await.unwrap()["rows"][0]["name"], "Aviator");
    // The role ends with the statement.
    let update = json!({"table": "inventory", "doc_ids": [1], "set": {"quantity_in_stock": 5}});
    transaction.call("update", update).await.unwrap();
    commit(transaction).await.unwrap();
}
