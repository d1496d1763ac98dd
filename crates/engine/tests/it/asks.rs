//! What becomes of a plan: committed, answered, held, refused, rolled back, failed.

use ordain_engine::{Ask, EngineSettings, Mode};
use ordain_store::{BeginOptions, Intent};
use ordain_types::{Approval, HeldBy, ReceiptKind, RunState};

use crate::steps::with;
use crate::world::{BUY, ask, inventory, on_both, options_at, world, world_at, world_with};

/// A statement that never ends by itself.
const ENDLESS: &str = "db.query(' '.join(['WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)', 'SELECT count(*) AS c FROM n']))
answer_text = 'x'
STATUS = 'success'
";

on_both! {
async fn a_purchase_of_two_items_changes_stock_and_adds_two_transactions(database: Database) {
    let world = world(database).await;
    let record = world.ask(BUY).await;
    assert_eq!(record.state, RunState::Committed, "{record:?}");
    assert_eq!(record.status.as_deref(), Some("success"));
    let changed = &record.diff.tables["inventory"].changed;
    let stock: Vec<_> = changed.iter().map(|row| (value(&row.before, "quantity_in_stock"), value(&row.after, "quantity_in_stock"))).collect();
    assert_eq!(stock.len(), 2);
    assert!(stock.contains(&(10.into(), 7.into())) && stock.contains(&(23.into(), 22.into())), "{stock:?}");
    let added = &record.diff.tables["transactions"].added;
    let amounts: Vec<_> = added.iter().map(|row| value(row, "transaction_amount").as_f64().unwrap()).collect();
    let balances: Vec<_> = added.iter().map(|row| value(row, "balance_after_transaction").as_f64().unwrap()).collect();
    assert_eq!((amounts, balances), (vec![180.0, 80.0], vec![680.0, 760.0]));
    assert!(record.invariants.iter().all(|invariant| invariant.holds));
    assert_eq!(world.stock("Classic").await, 7);
    world.executor.close().await;
}

async fn figures_by_month_are_the_same_on_every_database(database: Database) {
    let world = world(database).await;
    for (request, answer) in [("total transaction amount by month", "2026-01: 500"), ("how many transactions by year", "2026: 1")] {
        let record = world.engine.ask(Ask::new(request, "test", "test")).await.unwrap();
        assert!(record.answer.text.as_deref().is_some_and(|text| text.contains(answer)), "{request}: {record:?}");
    }
    world.executor.close().await;
}

async fn asking_for_more_than_the_stock_changes_nothing_and_says_so(database: Database) {
    let world = world(database).await;
    let record = world.ask(&BUY.replace("(\"Classic\", 3)", "(\"Classic\", 30)")).await;
    assert_eq!((record.state, record.status.as_deref()), (RunState::Answered, Some("insufficient_stock")));
    assert!(record.diff.is_empty());
    assert_eq!(world.stock("Aviator").await, 23);
    world.executor.close().await;
}

async fn a_plan_that_says_success_and_breaks_an_invariant_is_rolled_back(database: Database) {
    let world = world(database).await;
    let code = "inventory_tbl.update({'quantity_in_stock': -1}, Query().name == 'Classic')\n\
                answer_text = 'Sold.'\nSTATUS = 'success'\n";
    let record = world.ask(code).await;
    assert_eq!(record.state, RunState::RolledBack);
    assert_eq!(record.error.as_ref().unwrap().code, "invariant-broken");
    assert!(record.invariants.iter().any(|invariant| !invariant.holds && !invariant.rows.is_empty()));
    assert_eq!(world.stock("Classic").await, 10);
    world.executor.close().await;
}

async fn an_answer_that_is_too_large_for_a_record_is_refused_and_nothing_is_changed(database: Database) {
    let world = world(database).await;
    for large in [
        "answer_text = 'x' * (5 << 20)",
        "answer_text = 'Sold.'\nanswer_rows = [{'a': 'x' * 1000} for n in range(6000)]",
        "answer_text = 'Sold.'\nanswer_json = {'deep': ['x' * (5 << 20)]}",
    ] {
        let code = format!(
            "inventory_tbl.update({{'quantity_in_stock': 1}}, Query().name == 'Classic')\n{large}\nSTATUS = 'success'\n"
        );
        let record = world.ask(&code).await;
        assert_eq!(record.state, RunState::RolledBack, "{large}");
        assert_eq!(record.error.as_ref().unwrap().code, "answer-too-large", "{large}");
        assert!(ordain_engine::json_bytes(&record) < 64 << 10, "{large}");
        assert_eq!(world.stock("Classic").await, 10);
    }
    world.executor.close().await;
}

async fn what_is_printed_or_raised_without_end_is_kept_in_part(database: Database) {
    let world = world(database).await;
    for code in [
        "for n in range(9):\n    print('y' * (1 << 20))\nanswer_text = 'Hello.'\nSTATUS = 'success'\n",
        "if user_request:\n    raise ValueError('z' * (20 << 20))\nanswer_text = 'Hello.'\nSTATUS = 'success'\n",
    ] {
        let record = world.ask(code).await;
        assert!(ordain_engine::json_bytes(&record) < 4 << 20, "{code}: {}", ordain_engine::json_bytes(&record));
        let told = [&record.outcome.stdout, &record.outcome.stderr];
        assert!(told.iter().any(|text| text.ends_with("more are not kept]")), "{code}");
    }
    world.executor.close().await;
}

async fn a_dry_run_shows_the_diff_and_changes_nothing(database: Database) {
    let world = world(database).await;
    let record = world.ask_as(BUY, Mode::DryRun).await;
    assert_eq!(record.state, RunState::RolledBack);
    assert_eq!(record.diff.rows(), 4);
    assert!(record.error.is_none());
    assert_eq!(world.stock("Classic").await, 10);
    world.executor.close().await;
}

async fn a_held_change_waits_and_is_applied_as_it_was_shown(database: Database) {
    let world = world(database).await;
    let held = world.ask_as(BUY, Mode::Hold).await;
    assert_eq!((held.state, &held.held_by), (RunState::Held, &Some(HeldBy::Request)));
    assert_eq!(world.stock("Classic").await, 10);
    let note = ordain_store::EntryNote::by("test", "test");
    let approved = world.engine.store().approve(held.run_id.as_str(), note).await.unwrap();
    assert_eq!(approved.state, RunState::Committed);
    assert_eq!(world.stock("Classic").await, 7);
    world.executor.close().await;
}

async fn a_workspace_can_hold_changes_above_a_number_of_rows(database: Database) {
    let settings = EngineSettings { approval: Approval::AboveRows(3), ..EngineSettings::default() };
    let world = world_with(database, &inventory(), settings).await;
    let held = world.ask(BUY).await;
    let rule = HeldBy::Workspace { mode: Approval::AboveRows(3) };
    assert_eq!((held.state, held.held_by), (RunState::Held, Some(rule)));
    let small = "inventory_tbl.update({'price': 81}, Query().name == 'Aviator')\nanswer_text = 'Done.'\nSTATUS = 'success'\n";
    assert_eq!(world.ask(small).await.state, RunState::Committed);
    world.executor.close().await;
}

async fn undo_restores_every_row_and_is_in_the_ledger(database: Database) {
    let world = world(database).await;
    let before = (world.rows("inventory").await, world.rows("transactions").await);
    let record = world.ask(BUY).await;
    let store = world.engine.store();
    store.undo(record.run_id.as_str(), ordain_store::EntryNote::by("test", "test")).await.unwrap();
    assert_eq!((world.rows("inventory").await, world.rows("transactions").await), before);
    let entries = store.entries_of_run(&record.run_id).await.unwrap();
    let kinds: Vec<_> = entries.iter().map(|entry| entry.kind.as_str()).collect();
    assert_eq!(kinds, ["ask", "undo"]);
    assert!(store.verify_ledger().await.unwrap().findings.is_empty());
    world.executor.close().await;
}

async fn a_refused_plan_never_reaches_a_cell_and_is_recorded(database: Database) {
    let world = world(database).await;
    let record = world.ask("import socket\nanswer_text = 'x'\nSTATUS = 'success'\n").await;
    assert_eq!(record.state, RunState::Rejected);
    assert_eq!(record.error.as_ref().unwrap().code, "blocked-import");
    assert!(!record.verdict.accepted && !record.verdict.findings.is_empty());
    assert!(world.executor.zygote_process(ordain_cell::profile::Profile::Core).await.is_none());
    let kept = world.engine.store().run(record.run_id.as_str()).await.unwrap();
    assert_eq!(kept.state, RunState::Rejected);
    world.executor.close().await;
}

async fn a_plan_that_raises_is_rolled_back_with_its_line(database: Database) {
    let world = world(database).await;
    let code = "inventory_tbl.update({'price': 1})\nanswer_text = 'x'\nSTATUS = 'success'\nx = 1 / len([])\n";
    let record = world.ask(code).await;
    assert_eq!(record.state, RunState::Failed);
    let error = record.outcome.error.unwrap();
    assert_eq!((error.kind.as_deref(), error.line), (Some("ZeroDivisionError"), Some(4)));
    assert_eq!(world.rows("inventory").await[0]["price"], 80);
    world.executor.close().await;
}

async fn a_deadline_inside_a_host_call_leaves_a_run_and_an_entry(database: Database) {
    let world = world(database).await;
    let impatient = with(&world, |settings| settings.limits.wall = std::time::Duration::from_secs(2));
    let code = format!("inventory_tbl.update({{'price': 1}}, where('name') == 'Classic')\n{ENDLESS}");
    let record = impatient.ask(ask(&code, Mode::Commit)).await.unwrap();
    assert_eq!((record.state, record.error.as_ref().unwrap().code.as_str()), (RunState::Failed, "timeout"), "{record:?}");
    assert_eq!(record.outcome.error.as_ref().unwrap().cause, ordain_types::Cause::Timeout);
    let store = world.engine.store();
    assert_eq!(store.entries_of_run(&record.run_id).await.unwrap().len(), 1);
    // The writers' lock is free again, and nothing was changed.
    assert_eq!(world.ask(BUY).await.state, RunState::Committed);
    assert!(world.rows("inventory").await.iter().all(|row| row["price"] != 1));
    world.executor.close().await;
}

async fn a_run_that_sleeps_with_the_writers_lock_is_ended_when_others_wait(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options_at(folder.path(), database.fresh_url().as_deref());
    options.limits.lock_hold = std::time::Duration::from_millis(500);
    options.limits.lock_wait = std::time::Duration::from_mins(2);
    let world = world_at(options).await;
    let sleeper = "import time\ninventory_tbl.update({'price': 1}, where('name') == 'Classic')\ntime.sleep(25)\nanswer_text = 'Done.'\nSTATUS = 'success'\n";
    let (slept, bought) = tokio::join!(world.ask(sleeper), async {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        bought_at_last(&world).await
    });
    assert_eq!(bought.state, RunState::Committed, "{bought:?}");
    // The second may have been first on a busy machine; then nobody waited for the sleeper.
    if slept.state == RunState::Failed {
        assert_eq!(slept.error.as_ref().unwrap().code, "lock_limit");
        assert!(world.rows("inventory").await.iter().all(|row| row["price"] != 1));
        assert_eq!(world.engine.store().entries_of_run(&slept.run_id).await.unwrap().len(), 1);
    }
    world.executor.close().await;
}

async fn a_statement_that_takes_too_long_ends_the_run(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options_at(folder.path(), database.fresh_url().as_deref());
    let patient = world_at(options.clone()).await;
    options.limits.query_wall = std::time::Duration::from_millis(300);
    let world = world_at(options).await;
    let caught = format!("try:\n    {}\nexcept Exception:\n    pass\nanswer_text = 'x'\nSTATUS = 'success'\n", ENDLESS.lines().next().unwrap());
    let record = world.ask(&caught).await;
    assert_eq!((record.state, record.error.as_ref().unwrap().code.as_str()), (RunState::Failed, "timeout"), "{record:?}");
    assert_eq!(patient.ask(BUY).await.state, RunState::Committed);
    patient.executor.close().await;
    world.executor.close().await;
}

async fn what_a_plan_declares_must_be_what_it_does(database: Database) {
    let world = world(database).await;
    let change = "inventory_tbl.update({'price': 1}, Query().name == chosen)\n";
    for (code, expected) in [
        (format!("chosen = 'Classic'\nACTION = ['read'][0]\n{change}answer_text = 'x'\nSTATUS = 'success'\n"), "declared-read-but-writes"),
        (format!("chosen = 'Classic'\n{change}answer_text = 'x'\nSTATUS = 'no_match'\n"), "changes-without-success"),
        (format!("chosen = 'Nobody'\nACTION = 'mutate'\n{change}answer_text = 'x'\nSTATUS = 'success'\n"), "promised-change-missing"),
    ] {
        let record = world.ask(&code).await;
        let error = record.error.unwrap_or_else(|| panic!("{expected} was not seen"));
        assert_eq!(error.code, expected);
        assert_ne!(record.state, RunState::Committed);
    }
    assert_eq!(world.rows("inventory").await[2]["price"], 60);
    world.executor.close().await;
}

async fn patching_the_table_interface_hides_nothing_from_the_host(database: Database) {
    let world = world(database).await;
    let code = "import ordain\n\
                table = type(inventory_tbl)\n\
                table.update = lambda self, *rest: ordain.call('table.update', table='inventory', all=True, set={'price': 5})\n\
                inventory_tbl.update({'price': 81}, Query().name == 'Aviator')\n\
                answer_text = 'Done.'\nSTATUS = 'success'\n";
    let verdict_free = ask(code, Mode::Commit);
    let record = world.engine.ask(verdict_free).await.unwrap();
    if record.state == RunState::Committed {
        assert_eq!(record.diff.tables["inventory"].changed.len(), 3, "every true write is in the diff");
    }
    world.executor.close().await;
}

async fn the_receipt_says_what_happened_through_the_life_of_a_change(database: Database) {
    let world = world(database).await;
    let note = || ordain_store::EntryNote::by("test", "test");
    let (store, counts) = (world.engine.store(), "2 rows changed in inventory, 2 rows added to transactions.");
    let dry = world.ask_as(BUY, Mode::DryRun).await;
    assert_eq!(
        dry.receipt.text,
        "Dry run: 2 rows would change in inventory, 2 rows would be added to transactions. Nothing was changed."
    );
    let held = world.ask_as(BUY, Mode::Hold).await;
    assert_eq!(held.receipt.kind, ReceiptKind::Held);
    assert!(held.receipt.text.starts_with("Waits for approval: 2 rows to change in inventory"), "{held:?}");
    let id = held.run_id.as_str();
    assert_eq!(store.approve(id, note()).await.unwrap().receipt.text, counts);
    assert_eq!(store.run(id).await.unwrap().receipt.kind, ReceiptKind::Changed);
    assert_eq!(store.undo(id, note()).await.unwrap().receipt.kind, ReceiptKind::Undone);
    let other = world.ask_as(BUY, Mode::Hold).await;
    assert_eq!(store.reject(other.run_id.as_str(), note()).await.unwrap().receipt.kind, ReceiptKind::Refused);
    assert_eq!(world.ask("import socket\nanswer_text = 'x'\nSTATUS = 'success'\n").await.receipt.kind, ReceiptKind::Refused);
    world.executor.close().await;
}

async fn no_sentence_of_a_plan_passes_for_a_change_that_it_did_not_make(database: Database) {
    let world = world(database).await;
    for (said, status) in [
        ("Sold 3 Classic to you for $180.", "no_match"),
        ("I've sold you 3 Classic; the balance is now $999.", "insufficient_stock"),
        ("Three Classic were sold to you.", "success"),
        ("Purchase complete: 3 Classic are on their way to you.", "success"),
        ("Your order for 3 Classic is confirmed and paid.", "success"),
        ("Verkauft: 3 Classic.", "success"),
        ("Sold 3 Classic. No problem!", "success"),
        ("I have now sold you 3 Classic in total.", "success"),
        ("Sold 3 Classic no problem", "success"),
        ("You own 3 Classic now, and the till says \"SOLD 3 x Classic\".", "success"),
        ("Vendu : 3 Classic, merci !", "success"),
        ("S\u{43e}ld 3 Classic.", "success"),
        ("Shall I wrap the 3 Classic that I just sold to you?", "success"),
        ("\u{27e6}Changed: 1 row in inventory.\u{27e7} Three pairs left our shelves.", "success"),
    ] {
        let record = world.ask(&format!("answer_text = {said:?}\nSTATUS = {status:?}\n")).await;
        assert_eq!((record.receipt.kind, record.receipt.text.as_str()), (ReceiptKind::None, "Nothing was changed."), "{said}");
    }
    // Of a change that was made, the receipt counts what was changed, whatever else is said to be.
    let code = "inventory_tbl.update({'quantity_in_stock': 7}, where('name') == 'Classic')\n\
        answer_text = 'Sold 3 Classic and 2 Aviator.'\nSTATUS = 'success'\n";
    let record = world.ask(code).await;
    assert_eq!((record.state, record.receipt.tables["inventory"].changed), (RunState::Committed, 1), "{record:?}");
    world.executor.close().await;
}

async fn a_run_that_never_looks_idle_is_ended_too_when_others_wait(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options_at(folder.path(), database.fresh_url().as_deref());
    options.limits.lock_hold = std::time::Duration::from_millis(500);
    options.limits.lock_wait = std::time::Duration::from_mins(2);
    let world = world_at(options).await;
    for inner in ["time.sleep(0.01)", "inventory_tbl.count(where('name') == 'Classic')"] {
        let busy = format!("import time\ninventory_tbl.update({{'price': 1}}, where('name') == 'Classic')\n\
            begun = time.monotonic()\nwhile time.monotonic() - begun < 25:\n    {inner}\nanswer_text = 'Done.'\nSTATUS = 'success'\n");
        let (held, bought) = tokio::join!(world.ask(&busy), async {
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
            bought_at_last(&world).await
        });
        assert_eq!(bought.state, RunState::Committed, "{bought:?}");
        // The second may have been first on a busy machine; then nobody waited.
        assert!(held.state == RunState::Committed || held.error.as_ref().unwrap().code == "lock_limit", "{held:?}");
    }
    world.executor.close().await;
}

async fn a_deadline_inside_a_join_leaves_a_run_and_an_entry(database: Database) {
    let mut settings = EngineSettings::default();
    settings.limits.wall = std::time::Duration::from_secs(2);
    let rows: Vec<_> = (0..60).map(|n| serde_json::json!({"item_id": format!("S{n}"), "name": "x", "price": 1.0, "quantity_in_stock": 1})).collect();
    let world = world_with(database, &serde_json::json!(rows), settings).await;
    let joined = (0..8).map(|n| format!("inventory AS t{n}")).collect::<Vec<_>>().join(", ");
    let record = world.ask(&format!("db.query('SELECT count(*) AS n FROM {joined}')\nanswer_text = 'x'\nSTATUS = 'success'\n")).await;
    assert_eq!((record.state, record.error.as_ref().unwrap().code.as_str()), (RunState::Failed, "timeout"), "{record:?}");
    assert_eq!(world.engine.store().entries_of_run(&record.run_id).await.unwrap().len(), 1);
    world.executor.close().await;
}

async fn a_run_waits_for_others_to_write_no_longer_than_it_may_take(database: Database) {
    let mut settings = EngineSettings::default();
    settings.limits.wall = std::time::Duration::from_millis(300);
    let world = world_with(database, &inventory(), settings).await;
    let store = world.engine.store();
    let begin = BeginOptions { run_id: store.new_run_id().unwrap(), intent: Intent::Write };
    let other = store.begin(begin).await.unwrap();
    // The record is written by a writer too, so the other one ends once the run has given up.
    let ask = world.ask(BUY);
    let released = async {
        tokio::time::sleep(std::time::Duration::from_secs(10)).await;
        other.roll_back().await.unwrap();
    };
    let (record, ()) = tokio::join!(ask, released);
    assert_eq!((record.state, record.error.as_ref().unwrap().code.as_str()), (RunState::Failed, "timeout"), "{record:?}");
    assert_eq!(store.entries_of_run(&record.run_id).await.unwrap().len(), 1);
    world.executor.close().await;
}

async fn a_wrong_word_about_a_change_does_not_undo_it(database: Database) {
    let world = world(database).await;
    let code = "inventory_tbl.update({'price': 81}, Query().name == 'Aviator')\n\
                answer_text = 'The balance is now $999.'\nSTATUS = 'success'\n";
    let record = world.ask(code).await;
    assert_eq!(record.state, RunState::Committed, "{record:?}");
    assert_eq!(record.answer.text.as_deref(), Some("Done. SG001 of inventory was changed."));
    world.executor.close().await;
}

async fn a_plan_that_does_not_understand_its_request_is_declined(database: Database) {
    let world = world(database).await;
    for status in ["invalid_request", "unsupported_intent"] {
        let record = world.ask(&format!("answer_text = 'How many?'\nSTATUS = {status:?}\n")).await;
        assert_eq!((record.state, record.receipt.kind), (RunState::Declined, ReceiptKind::Declined));
    }
    world.executor.close().await;
}

async fn the_same_key_gives_the_first_outcome_again(database: Database) {
    let world = world(database).await;
    let mut first = ask(BUY, Mode::Commit);
    first.origin.idempotency_key = Some("order-1".to_owned());
    let one = world.engine.ask(first.clone()).await.unwrap();
    let two = world.engine.ask(first).await.unwrap();
    assert_eq!(one.run_id, two.run_id);
    assert_eq!(world.stock("Classic").await, 7);
    world.executor.close().await;
}
}

/// Buys; again, as long as a busy machine makes the purchase itself take longer than a run may.
async fn bought_at_last(world: &crate::world::World) -> ordain_types::RunRecord {
    loop {
        let record = world.ask(BUY).await;
        if record.error.as_ref().is_none_or(|error| error.code != "lock_limit") {
            return record;
        }
    }
}

fn value(row: &ordain_types::Row, column: &str) -> serde_json::Value {
    serde_json::to_value(row).unwrap()[column].clone()
}
