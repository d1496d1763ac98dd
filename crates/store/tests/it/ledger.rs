//! The ledger: an entry that was edited, removed, moved or cut off is found.

use ordain_store::{Intent, Store};

use crate::world::{World, begin, buy, commit, on_both};

/// A store with five entries: the seeds and four purchases.
async fn with_entries(world: &World) -> Store {
    let store = world.shop().await;
    for _ in 0..4 {
        let mut transaction = begin(&store, Intent::Write).await;
        assert!(buy(&mut transaction, "Aviator", 1).await.unwrap());
        commit(transaction).await.unwrap();
    }
    let report = store.verify_ledger().await.unwrap();
    assert!(report.is_whole(), "{report:?}");
    assert_eq!(report.entries, 5);
    store
}

/// Does what the database itself refuses, and says what the ledger says of it.
async fn tampered(world: &World, sql: &str) -> Vec<(&'static str, Option<u64>)> {
    let store = with_entries(world).await;
    let guard = if world.url.is_some() {
        "DROP TRIGGER entries_stay ON ordain.entries"
    } else {
        "DROP TRIGGER ordain_entries_stay; DROP TRIGGER ordain_entries_keep"
    };
    world.tamper(&format!("{guard}; {}", sql.replace("ENTRIES", &world.own("entries"))));
    let findings = store.verify_ledger().await.unwrap().findings;
    findings.into_iter().map(|finding| (finding.code, finding.seq)).collect()
}

on_both! {
    async fn an_edited_entry_is_found(world: World) {
        let found = tampered(&world, "UPDATE ENTRIES SET body = replace(body, '80.0', '8.0') WHERE seq = 3").await;
        assert_eq!(found, [("edited", Some(3))]);
    }

    async fn an_edited_column_is_found(world: World) {
        let found = tampered(&world, "UPDATE ENTRIES SET kind = 'undo' WHERE seq = 3").await;
        assert_eq!(found, [("edited", Some(3))]);
    }

    async fn a_removed_entry_is_found(world: World) {
        let found = tampered(&world, "DELETE FROM ENTRIES WHERE seq = 3").await;
        assert_eq!(found, [("missing", Some(4))]);
    }

    async fn a_removed_entry_whose_place_was_closed_is_found(world: World) {
        let found = tampered(&world, "DELETE FROM ENTRIES WHERE seq = 3; UPDATE ENTRIES SET seq = 3 WHERE seq = 4;
            UPDATE ENTRIES SET seq = 4 WHERE seq = 5").await;
        assert!(found.contains(&("moved", Some(3))), "{found:?}");
        assert!(found.contains(&("truncated", Some(4))), "{found:?}");
    }

    async fn entries_that_changed_places_are_found(world: World) {
        let found = tampered(&world, "UPDATE ENTRIES SET seq = 99 WHERE seq = 3; UPDATE ENTRIES SET seq = 3 WHERE seq = 4;
            UPDATE ENTRIES SET seq = 4 WHERE seq = 99").await;
        assert!(found.contains(&("moved", Some(3))) && found.contains(&("moved", Some(4))), "{found:?}");
    }

    async fn a_cut_off_end_is_found(world: World) {
        let found = tampered(&world, "DELETE FROM ENTRIES WHERE seq > 3").await;
        assert_eq!(found, [("truncated", Some(3))]);
        let found = {
            let world = if world.url.is_some() { World::postgres() } else { World::sqlite() };
            tampered(&world, "DELETE FROM ENTRIES").await
        };
        assert_eq!(found, [("truncated", Some(0))]);
    }

    async fn an_entry_that_somebody_else_signed_is_found(world: World) {
        // The forger has a key of their own, and the database.
        let store = with_entries(&world).await;
        let body: serde_json::Value = serde_json::from_str(store.newest_entries(u64::MAX, 1).await.unwrap()[0].body.get()).unwrap();
        let signer = body["signer"].as_str().unwrap().to_owned();
        drop(store);
        for file in ["ledger.key", "ledger.checkpoint"] {
            std::fs::rename(world.folder.path().join(file), world.folder.path().join(format!("{file}.kept"))).unwrap();
        }
        // Another workspace does not write into this one's ledger, unless it trusts the key of this one.
        let refused = Store::open(world.shop_options()).await.unwrap_err();
        assert!(refused.to_string().contains("belongs to another workspace"), "{refused}");
        std::fs::write(world.folder.path().join("ledger.trusted"), &signer).unwrap();
        let forger = world.shop().await;
        std::fs::remove_file(world.folder.path().join("ledger.trusted")).unwrap();
        let mut transaction = begin(&forger, Intent::Write).await;
        assert!(buy(&mut transaction, "Aviator", 1).await.unwrap());
        commit(transaction).await.unwrap();
        drop(forger);
        for file in ["ledger.key", "ledger.checkpoint"] {
            std::fs::rename(world.folder.path().join(format!("{file}.kept")), world.folder.path().join(file)).unwrap();
        }
        let store = world.shop().await;
        let report = store.verify_ledger().await.unwrap();
        assert_eq!(report.findings.iter().map(|found| (found.code, found.seq)).collect::<Vec<_>>(), [("unknown-signer", Some(6))]);
        // Unless their key is trusted.
        let body: serde_json::Value = serde_json::from_str(store.newest_entries(u64::MAX, 1).await.unwrap()[0].body.get()).unwrap();
        std::fs::write(world.folder.path().join("ledger.trusted"), body["signer"].as_str().unwrap()).unwrap();
        assert!(store.verify_ledger().await.unwrap().is_whole());
    }

    async fn a_missing_or_forged_checkpoint_is_found(world: World) {
        let store = with_entries(&world).await;
        let path = world.folder.path().join("ledger.checkpoint");
        let kept = std::fs::read_to_string(&path).unwrap();
        let codes = async || -> Vec<&'static str> {
            store.verify_ledger().await.unwrap().findings.into_iter().map(|finding| finding.code).collect()
        };
        std::fs::write(&path, kept.replace("\"seq\":5", "\"seq\":4")).unwrap();
        assert_eq!(codes().await, ["unsigned"]);
        std::fs::write(&path, "not json").unwrap();
        assert_eq!(codes().await, ["no-checkpoint"]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(codes().await, ["no-checkpoint"]);
        std::fs::write(&path, kept).unwrap();
        assert_eq!(codes().await, [""; 0]);
    }

    async fn the_database_itself_refuses_to_change_entries(world: World) {
        let store = with_entries(&world).await;
        let entries = world.own("entries");
        for sql in [format!("DELETE FROM {entries}"), format!("UPDATE {entries} SET kind = 'x'")] {
            let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.tamper(&sql)));
            assert!(refused.is_err(), "{sql}");
        }
        assert!(store.verify_ledger().await.unwrap().is_whole());
    }

    async fn an_entry_alone_tells_who_did_what(world: World) {
        let store = with_entries(&world).await;
        let entry = store.newest_entries(u64::MAX, 1).await.unwrap().remove(0);
        let body: serde_json::Value = serde_json::from_str(entry.body.get()).unwrap();
        assert_eq!((body["who"].as_str(), body["through"].as_str()), (Some("tester"), Some("test")));
        assert_eq!(body["content"]["run"]["diff"]["inventory"]["changed"][0]["after"]["quantity_in_stock"], 19);
        assert_eq!(entry.run_id.as_deref(), body["content"]["run"]["run_id"].as_str());
    }
}
