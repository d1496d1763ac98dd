//! Keys of callers, what an idempotency key stands for, and stores that were written before either was known.

use std::time::Duration;

use ordain_store::{CallerLimits, Claim, KeyState, NewKey, StoreError, split_key};
use ordain_types::RunState;

use crate::world::{World, note, on_both, record};

fn new(scopes: &[&str]) -> NewKey {
    NewKey { scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(), ..NewKey::default() }
}

on_both! {
    async fn a_key_is_known_by_its_secret_which_is_kept_nowhere(world: World) {
        let store = world.shop().await;
        let wanted = NewKey { cells: Some(3), expires_in: Some(Duration::from_hours(1)), ..new(&["read", "run"]) };
        let (key, secret) = store.create_key(wanted, note()).await.unwrap();
        let (id, part) = split_key(&secret.0).unwrap();
        assert_eq!(id, key.key_id);
        let kept = store.keys().await.unwrap();
        assert_eq!(kept, std::slice::from_ref(&key));
        let other = format!("{}{}", &part[1..], &part[..1]);
        let now = store.timestamp();
        let has = |secret: &str| kept[0].has_secret(secret, &now);
        assert!(has(part) && !has("") && !has(&format!("{other}x")));
        assert_eq!((kept[0].scopes.join(","), kept[0].cells), ("read,run".to_owned(), Some(3)));
        assert!(kept[0].is_good(&store.timestamp()) && !kept[0].is_good("9999-01-01T00:00:00.000Z"));
        let shown = format!("{kept:?}{secret:?}{}", serde_json::to_string(&kept).unwrap());
        assert!(!shown.contains(part), "a secret is never shown");
        let entries = store.newest_entries(u64::MAX, 1).await.unwrap();
        assert_eq!(entries[0].kind, "key");
        assert!(!entries[0].body.get().contains(part));
    }

    async fn a_rotated_key_is_the_same_caller_with_another_secret(world: World) {
        let store = world.shop().await;
        let limits = CallerLimits { rows_max: Some(3), ..CallerLimits::default() };
        let two_days = Some(Duration::from_hours(48));
        let wanted = NewKey { limits, expires_in: two_days, cells: Some(2), ..new(&["run"]) };
        let (old, secret) = store.create_key(wanted, note()).await.unwrap();
        let (next, other) = store.rotate_key(&old.key_id, Duration::from_hours(1), note()).await.unwrap();
        assert_eq!((&next.key_id, &next.expires_at, &next.limits), (&old.key_id, &old.expires_at, &old.limits));
        let kept = store.keys().await.unwrap();
        assert_eq!(kept, [next]);
        let [before, after] = [&secret, &other].map(|key| split_key(&key.0).unwrap().1);
        let now = store.timestamp();
        assert!(kept[0].has_secret(before, &now) && kept[0].has_secret(after, &now));
        let later = kept[0].previous_until.clone().unwrap();
        assert!(!kept[0].has_secret(before, &later) && kept[0].has_secret(after, &later));
        assert!(!kept[0].has_secret("", &now));
        store.rotate_key(&old.key_id, Duration::from_hours(1), note()).await.unwrap();
        assert!(!store.keys().await.unwrap()[0].has_secret(before, &now), "one secret before is good, not two");
        assert!(store.verify_rows().await.unwrap().is_whole());
    }

    async fn a_revoked_key_stays_revoked(world: World) {
        let store = world.shop().await;
        let (key, _) = store.create_key(new(&["admin"]), note()).await.unwrap();
        store.key_used(&key.key_id).await.unwrap();
        let revoked = store.revoke_key(&key.key_id, note()).await.unwrap();
        assert!(revoked.last_used_at.is_some() && !revoked.is_good(&store.timestamp()));
        assert_eq!(store.revoke_key(&key.key_id, note()).await.unwrap(), revoked);
        assert!(store.rotate_key(&key.key_id, Duration::from_hours(1), note()).await.is_err());
        let unknown = store.revoke_key("' OR 1=1 --", note()).await.unwrap_err();
        assert!(matches!(unknown, StoreError::UnknownKey { .. }));
        assert!(store.verify_ledger().await.unwrap().is_whole());
    }

    async fn a_key_that_was_written_behind_our_back_is_no_key(world: World) {
        let store = world.shop().await;
        let limits = CallerLimits { tables: Some(vec!["inventory".to_owned()]), ..CallerLimits::default() };
        let (key, _) = store.create_key(NewKey { limits, ..new(&["read"]) }, note()).await.unwrap();
        let (ended, _) = store.create_key(new(&["run"]), note()).await.unwrap();
        store.revoke_key(&ended.key_id, note()).await.unwrap();
        let (keys, id) = (world.own("keys"), &key.key_id);
        let ways = [
            format!("UPDATE {keys} SET scopes = 'admin' WHERE key_id = '{id}'"),
            format!("UPDATE {keys} SET scopes = 'read', secret_sha256 = 'ab' WHERE key_id = '{id}'"),
            format!("UPDATE {keys} SET secret_sha256 = '', limits = NULL WHERE key_id = '{id}'"),
            format!("UPDATE {keys} SET revoked_at = NULL WHERE key_id = '{}'", ended.key_id),
            format!("INSERT INTO {keys} (key_id, name, scopes, secret_sha256, created_at) VALUES ('0123456789ab', '', 'admin', 'ab', '2026')"),
        ];
        for way in ways {
            world.tamper(&way);
            let now = store.timestamp();
            let altered = store.keys().await.unwrap().into_iter().filter(|key| key.state(&now) == KeyState::Altered);
            let altered: Vec<_> = altered.map(|key| key.key_id).collect();
            assert_eq!(altered.len(), 1, "{way}");
            assert!(store.verify_rows().await.unwrap().findings.iter().any(|finding| finding.code == "key"), "{way}");
            assert!(store.rotate_key(&altered[0], Duration::from_hours(1), note()).await.is_err());
            store.revoke_key(&altered[0], note()).await.unwrap();
        }
        assert!(store.verify_rows().await.unwrap().is_whole(), "what was revoked is in order again");
    }

    async fn a_key_that_is_used_for_something_else_is_told_apart(world: World) {
        let store = world.shop().await;
        let (first, second) = (store.new_run_id().unwrap(), store.new_run_id().unwrap());
        assert_eq!(store.claim_for("k", "buy", &first).await.unwrap(), Claim::Taken);
        assert_eq!(store.claim_for("k", "buy", &second).await.unwrap(), Claim::Running(first.clone()));
        assert_eq!(store.claim_for("k", "sell", &second).await.unwrap(), Claim::Other(first.clone()));
        assert_eq!(store.claim("k", &second).await.unwrap(), Claim::Running(first.clone()));
        store.release("k", &first).await.unwrap();
        assert_eq!(store.claim_for("k", "sell", &second).await.unwrap(), Claim::Taken, "a free key is anybody's");
    }

    async fn a_run_that_was_cut_short_never_hides_its_own_end(world: World) {
        let store = world.shop().await;
        let id = store.new_run_id().unwrap();
        let mut done = record(&id);
        done.state = RunState::Answered;
        store.record(done, note()).await.unwrap();
        let mut cut = record(&id);
        cut.state = RunState::RolledBack;
        let there = store.record_unless_there(cut, note()).await.unwrap();
        assert_eq!(there.state, RunState::Answered);
        assert_eq!(store.entries_of_run(&id).await.unwrap().len(), 1);
        assert_eq!(store.count_runs(RunState::Answered).await.unwrap(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_free_for_other_machines_as_soon_as_the_server_that_held_it_is_gone() {
    let world = World::postgres();
    let (first, second) = (world.shop().await, world.shop().await);
    let (lost, next) = (first.new_run_id().unwrap(), second.new_run_id().unwrap());
    assert_eq!(first.claim("k", &lost).await.unwrap(), Claim::Taken);
    assert_eq!(second.claim("k", &next).await.unwrap(), Claim::Running(lost));
    drop(first);
    // The database notices a moment later that the connection is gone.
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_mins(1);
    while second.claim("k", &next).await.unwrap() != Claim::Taken {
        assert!(tokio::time::Instant::now() < deadline, "the key is still held");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
