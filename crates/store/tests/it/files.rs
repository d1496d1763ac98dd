//! Files that every process on the store can read.

use std::path::{Path, PathBuf};

use ordain_store::{KeptFile, Store, StoreOptions};

use crate::world::on_both;

const OWNER: &str = "upload:1";

on_both! {
    async fn a_file_is_read_as_it_was_kept_whatever_its_size(world: World) {
        let store = world.shop().await;
        let long: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).take(1_300_001).collect();
        for content in [&b""[..], b"a,b\n1,2\n", &long] {
            store.keep_file(OWNER, "sales.csv", content).await.unwrap();
            let kept = store.kept_file(OWNER, "sales.csv").await.unwrap();
            assert!(kept.as_deref() == Some(content), "{} bytes", content.len());
        }
        assert_eq!(store.kept_file("upload:2", "sales.csv").await.unwrap(), None);
        let names: Vec<String> =
            store.kept_files(OWNER).await.unwrap().into_iter().map(|file| file.name).collect();
        assert_eq!(names, ["sales.csv"], "a newer version replaces the older one");
        store.remove_files(OWNER).await.unwrap();
        assert_eq!(store.kept_files(OWNER).await.unwrap(), [] as [KeptFile; 0]);
    }

    async fn files_are_in_a_folder_where_one_is_named(world: World) {
        let folder = tempfile::tempdir().unwrap();
        let in_folder = || StoreOptions { files: Some(folder.path().join("shared")), ..world.shop_options() };
        let before = world.shop().await;
        before.keep_file(OWNER, "old.txt", b"from before").await.unwrap();
        let (one, other) = (Store::open(in_folder()).await.unwrap(), Store::open(in_folder()).await.unwrap());
        for content in [&b"first"[..], b"second", b""] {
            one.keep_file(OWNER, "../a.txt", content).await.unwrap();
            assert_eq!(other.kept_file(OWNER, "../a.txt").await.unwrap().as_deref(), Some(content));
        }
        assert_eq!(other.kept_file(OWNER, "old.txt").await.unwrap().as_deref(), Some(&b"from before"[..]));
        one.keep_file(OWNER, "b.txt", b"ten").await.unwrap();
        let error = before.kept_file(OWNER, "b.txt").await.unwrap_err().to_string();
        assert!(error.contains("not what was kept"), "a store that does not know the folder: {error}");
        let contents = || files_below(folder.path());
        for path in contents() {
            std::fs::write(path, "two").unwrap();
        }
        let error = other.kept_file(OWNER, "b.txt").await.unwrap_err().to_string();
        assert!(error.contains("not what was kept"), "{error}");
        one.remove_file(OWNER, "b.txt").await.unwrap();
        assert_eq!((contents().len(), other.kept_file(OWNER, "b.txt").await.unwrap()), (1, None));
        one.remove_files(OWNER).await.unwrap();
        assert_eq!((contents().len(), other.kept_files(OWNER).await.unwrap().len()), (0, 0));
    }

    async fn a_signed_file_counts_only_as_it_was_signed(world: World) {
        let store = world.shop().await;
        store.keep_signed_file(OWNER, "part/1", b"ten\ntwo").await.unwrap();
        assert_eq!(store.signed_file(OWNER, "part/1").await.unwrap().as_deref(), Some(&b"ten\ntwo"[..]));
        assert_eq!(store.signed_file(OWNER, "part/2").await.unwrap(), None);
        let signed = store.kept_file(OWNER, "part/1").await.unwrap().unwrap();
        // Another name, and a content without a signature.
        store.keep_file(OWNER, "part/2", &signed).await.unwrap();
        store.keep_file(OWNER, "part/3", b"ten").await.unwrap();
        for name in ["part/2", "part/3"] {
            let error = store.signed_file(OWNER, name).await.unwrap_err().to_string();
            assert!(error.contains("not what was kept"), "{name}: {error}");
        }
    }

    async fn a_file_that_was_changed_in_the_database_is_not_used(world: World) {
        let store = world.shop().await;
        store.keep_file(OWNER, "a.txt", b"ten").await.unwrap();
        world.tamper(&format!("UPDATE {} SET data = 'b25l'", world.own("files")));
        let error = store.kept_file(OWNER, "a.txt").await.unwrap_err().to_string();
        assert!(error.contains("not what was kept"), "{error}");
    }
}

/// The files below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
