//! Files that every process on the store can read.

use ordain_store::KeptFile;

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

    async fn a_file_that_was_changed_in_the_database_is_not_used(world: World) {
        let store = world.shop().await;
        store.keep_file(OWNER, "a.txt", b"ten").await.unwrap();
        world.tamper(&format!("UPDATE {} SET data = 'b25l'", world.own("files")));
        let error = store.kept_file(OWNER, "a.txt").await.unwrap_err().to_string();
        assert!(error.contains("not what was kept"), "{error}");
    }
}
