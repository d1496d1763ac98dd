//! A store has one format: one of another format is refused untouched, and its tables can be taken out.

use ordain_store::{Store, StoreError, export};
use serde_json::{Value, json};

use crate::world::{on_both, rows};

on_both! {
    async fn a_store_of_another_format_is_refused_untouched_and_its_tables_can_be_exported(world: World) {
        let seed = r#"[{"id": "a", "n": 1, "more": {"x": [1, "2"]}}, {"id": "b", "n": 0.1}]"#;
        let store = world.with_table("things", "id", seed).await;
        let before = rows(&store, "things").await;
        drop(store);
        let meta = world.own("meta");
        world.tamper(&format!("UPDATE {meta} SET value = '13' WHERE name = 'format'"));
        let mut options = world.options();
        options.tables = vec![world.table("things", "id", seed)];
        let refused = Store::open(options.clone()).await.unwrap_err();
        assert!(matches!(&refused, StoreError::Declaration { .. }), "{refused:?}");
        assert!(refused.hint().unwrap().contains("ordain tables export"), "{refused:?}");
        let folder = world.folder.path().join("taken out");
        assert_eq!(export(options.clone(), folder.clone()).await.unwrap(), [("things".to_owned(), 2)]);
        let text = std::fs::read_to_string(folder.join("things.jsonl")).unwrap();
        let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for (line, row) in lines.iter_mut().zip(&before) {
            line["doc_id"] = row["doc_id"].clone();
        }
        assert_eq!(json!(lines), json!(before));
        // What is there is not written over.
        assert!(export(options, folder).await.is_err());
    }
}
