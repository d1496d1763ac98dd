//! Own tables, from files to answers and checks, by the real binary.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use ordain_testkit::postgres;

use crate::command::{Ran, ordain, run, run_in};

/// Three tables: orders and their customers in two files, products in a database.
fn files() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    let orders = (1..=40).map(|n| {
        let (customer, sku, total) = (100 + n % 8, ["P-1", "P-2", "P-3"][n % 3], 10 * n);
        let note = if n == 7 { "many" } else { "2" };
        format!("{n},{customer},{sku},EUR {total}.50,2024-03-{:02},{note},0{n:04}\n", n % 28 + 1)
    });
    let header = "order_id,customer_id,sku,total,ordered,pieces,zip\n".to_owned();
    write("orders.csv", header + &orders.collect::<String>());
    let customers = (0..8).map(|n| format!("{},Name {n},Berlin\n", 100 + n));
    write("customers.csv", "id,name,city\n".to_owned() + &customers.collect::<String>());
    let store = rusqlite::Connection::open(folder.path().join("dump.sqlite")).unwrap();
    store
        .execute_batch(
            "CREATE TABLE products (sku TEXT, title TEXT, price REAL);
             INSERT INTO products VALUES ('P-1', 'Trowel', 4.5), ('P-2', 'Rake', 12), ('P-3', 'Spade', 20);
             CREATE TABLE stores (code TEXT, city TEXT);
             INSERT INTO stores VALUES ('B', 'Berlin'), ('K', 'Köln');",
        )
        .unwrap();
    folder
}

#[track_caller]
fn made(folder: &Path) -> Ran {
    let made = run_in(folder, &["init", "shop", "--from", "*.csv", "dump.sqlite", "--yes"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    made
}

#[test]
fn own_tables_answer_and_are_checked_under_the_same_names() {
    let folder = files();
    let shown = made(folder.path()).stdout;
    assert!(shown.contains("refers to customers.id") && shown.contains("all 40 values"), "{shown}");
    let settings = std::fs::read_to_string(folder.path().join("shop/ordain.toml")).unwrap();
    for says in [
        "[tables.orders]\nseed = \"tables/orders.csv\"\nkey = \"order_id\"\n",
        "customer_id = { type = \"integer\", references = \"customers.id\" }",
        "references = \"products.sku\"",
        "total = { unit = \"EUR\" }",
        "zip = \"text\"",
        "pieces = \"text\"  # kept as text, because not every value fits integer",
        "[tables.products]\nseed = \"tables/products.feather\"\nkey = \"sku\"\n",
    ] {
        assert!(settings.contains(says), "{says}: {settings}");
    }
    let shop = folder.path().join("shop");
    let ask = |request: &str| run_in(&shop, &["ask", request, "--model", "rules"]);
    let total = ask("what is the total of order 3?");
    let count = ask("how many orders are there?");
    assert!(count.stdout.contains("40"), "{count:?}\n{total:?}");
    let proposed = run_in(&shop, &["check", "suggest", "orders", "--add", "all"]);
    assert!(proposed.stdout.contains("orders.customer_id.foreign_key"), "{proposed:?}");
    let run = run_in(&shop, &["check", "run"]);
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn a_folder_that_is_not_empty_is_not_touched_and_is_shown_what_it_would_get() {
    let folder = files();
    let shop = folder.path().join("shop");
    std::fs::create_dir(&shop).unwrap();
    std::fs::write(shop.join("notes.txt"), "mine").unwrap();
    let refused = run_in(folder.path(), &["init", "shop", "--from", "customers.csv", "--yes"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.stdout.contains("[tables.customers]") && refused.stderr.contains("not empty"),
        "{refused:?}"
    );
    let empty = run_in(folder.path(), &["init", "shop"]);
    assert!(empty.stderr.contains("it would have written ordain.toml"), "{empty:?}");
    assert_eq!(std::fs::read_dir(&shop).unwrap().count(), 1);
    // Without a yes nothing is written either.
    let asked = run_in(folder.path(), &["init", "other", "--from", "customers.csv"]);
    assert!(asked.code == Some(2) && !folder.path().join("other").exists(), "{asked:?}");
}

#[test]
fn a_file_in_data_that_was_imported_is_one_table_and_can_be_checked() {
    let folder = files();
    made(folder.path());
    let shop = folder.path().join("shop");
    std::fs::create_dir(shop.join("data")).unwrap();
    std::fs::write(shop.join("data/boats.csv"), "boat,length\na,3\nb,4\n").unwrap();
    let imported = run_in(&shop, &["import", "data/boats.csv", "--table", "boats", "--key", "boat"]);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let read = run_in(&shop, &["check", "explain", "length must be above 0", "--table", "boats"]);
    assert_eq!(read.code, Some(0), "{read:?}");
    let settings = std::fs::read_to_string(shop.join("ordain.toml")).unwrap();
    std::fs::write(shop.join("ordain.toml"), settings.replace("key = \"boat\"", "key = \"baot\"")).unwrap();
    let misspelled = run_in(&shop, &["tables"]);
    assert!(misspelled.stderr.contains("did you mean `boat`?"), "{misspelled:?}");
    assert!(!misspelled.stderr.contains("reseed"), "{misspelled:?}");
}

#[test]
fn a_database_is_used_where_it_is_and_its_address_stays_out_of_the_settings() {
    let (server, folder) = (postgres::Server::shared(), tempfile::tempdir().unwrap());
    let url = server.fresh_database();
    server.psql(
        &url,
        "CREATE TABLE boats (boat text PRIMARY KEY, length int); INSERT INTO boats VALUES ('a', 3)",
    );
    let at = |place: &Path, arguments: &[&str]| {
        let mut command = ordain(arguments);
        // What is accepted is kept there.
        command.current_dir(place).env("ORDAIN_DATA_DIR", folder.path().join("own"));
        run(command)
    };
    let asked = at(folder.path(), &["init", "harbour", "--from", &url]);
    assert!(asked.code == Some(2) && !folder.path().join("harbour").exists(), "{asked:?}");
    let made = at(folder.path(), &["init", "harbour", "--from", &url, "--yes"]);
    assert!(made.code == Some(0) && made.stdout.contains("boats"), "{made:?}");
    let root = folder.path().join("harbour");
    assert!(!std::fs::read_to_string(root.join("ordain.toml")).unwrap().contains("postgres"));
    assert!(std::fs::read_to_string(root.join(".env")).unwrap().contains(&url));
    assert_eq!(std::fs::metadata(root.join(".env")).unwrap().permissions().mode() & 0o777, 0o600);
    let tables = at(&root, &["tables"]);
    assert!(tables.stdout.contains("in place"), "{tables:?}");
}
