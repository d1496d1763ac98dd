//! Commands on a workspace: its tables, runs, decisions and ledger.

use std::path::{Path, PathBuf};

use ordain_files::open_store;
use ordain_store::{BeginOptions, EntryNote, Intent, Store};
use ordain_types::{RunKind, RunRecord};
use ordain_workspace::Workspace;
use serde_json::{Value, json};

use crate::command::{Folder, Ran, init, ordain, run, run_in};

/// A sunglasses shop in a folder of its own.
struct Shop {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Shop {
    fn new() -> Self {
        let (folder, root) = init("sunglasses");
        Self { _folder: folder, root }
    }

    fn ordain(&self, arguments: &[&str]) -> Ran {
        let mut command = ordain(arguments);
        command
            .current_dir(&self.root)
            .env("USER", "ada")
            .env_remove("ORDAIN_WORKSPACE")
            .env_remove("ORDAIN_STORE_URL");
        run(command)
    }

    /// Sells one Classic, as a run, and holds or commits it.
    fn sell(&self, hold: bool) -> RunRecord {
        on_store(&self.root, async |store| {
            let run_id = store.new_run_id().unwrap();
            let begin = BeginOptions { run_id: run_id.clone(), intent: Intent::Write };
            let mut transaction = store.begin(begin).await.unwrap();
            let counted = transaction.call("count", json!({"table": "transactions"})).await.unwrap();
            let count = u32::try_from(counted["count"].as_u64().unwrap()).unwrap();
            let classic = json!({"op": "eq", "path": ["name"], "value": "Classic"});
            let found =
                transaction.call("search", json!({"table": "inventory", "where": classic})).await.unwrap();
            let stock = found["rows"][0][1][3].as_i64().unwrap();
            let args =
                json!({"table": "inventory", "where": classic, "set": {"quantity_in_stock": stock - 1}});
            transaction.call("update", args).await.unwrap();
            let row = json!({"transaction_id": format!("SALE{:03}", count + 1), "customer_name": "Ada\u{1b}[2J",
                "transaction_amount": 60.0, "balance_after_transaction": 500.0 + 60.0 * f64::from(count - 2), "timestamp": "2025-10-02T10:00:00"});
            transaction.call("insert", json!({"table": "transactions", "rows": [row]})).await.unwrap();
            let mut record = RunRecord::new(run_id, RunKind::Ask, "one Classic, please");
            record.status = Some("success".to_owned());
            record.started_at = store.timestamp();
            let note = EntryNote::by("ada", "test");
            if hold { transaction.hold(record, note).await } else { transaction.commit(record, note).await }
                .unwrap()
        })
    }

    fn stock(&self) -> i64 {
        let rows = self.ordain(&["tables", "inventory", "--rows", "50", "--json"]).json();
        let rows = rows.as_array().unwrap().clone();
        rows.iter().find(|row| row["name"] == "Classic").unwrap()["quantity_in_stock"].as_i64().unwrap()
    }
}

fn on_store<R>(root: &Path, work: impl AsyncFnOnce(Store) -> R) -> R {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { work(open_store(&Workspace::load(root).unwrap()).await.unwrap()).await })
}

#[test]
fn a_new_workspace_shows_its_tables_and_rows() {
    let shop = Shop::new();
    let list = shop.ordain(&["tables"]);
    assert_eq!(
        list.stdout,
        "table         rows  key             columns  rules\n\
         inventory     7     item_id         5\n\
         transactions  3     transaction_id  6        append-only\n"
    );
    let described = shop.ordain(&["tables", "inventory", "--json"]).json();
    assert_eq!(described[0]["rows"], 7);
    assert_eq!(
        described[0]["columns"][0],
        json!({"name": "item_id", "type": "text", "nullable": false, "hidden": false})
    );
    assert_eq!(described[0]["samples"].as_array().unwrap().len(), 3);
    let rows = shop.ordain(&["tables", "transactions", "--rows", "--json"]).json();
    assert_eq!((rows.as_array().unwrap().len(), &rows[2]["balance_after_transaction"]), (3, &json!(500.0)));
    let text = shop.ordain(&["tables", "inventory", "--rows", "1"]);
    assert!(text.stdout.starts_with("item_id  name     description"), "{}", text.stdout);
    assert_eq!(text.stdout.lines().count(), 2);
    let within = run_in(&shop.root.join("tables"), &["tables", "--json"]);
    assert_eq!(within.json().as_array().unwrap().len(), 2, "a folder within the workspace will do");
}

#[test]
fn what_is_wrong_with_a_workspace_is_said_with_its_line_and_exit_code_2() {
    let shop = Shop::new();
    for (arguments, says, hint) in [
        (&["tables", "inventry"][..], "there is no table `inventry`", "did you mean `inventory`?"),
        (&["runs", "show", "nothing"], "there is no run `nothing`", ""),
        (&["init", "."], "is not empty", "nothing was touched"),
        (&["init", "--example", "sunglases", "new"], "no example `sunglases`", "`sunglasses`"),
        (&["ledger", "show", "99"], "there is no entry 99", "ordain ledger list"),
        (&["tables", "-w", "/"], "there is none in `/`", "ordain init"),
    ] {
        let ran = shop.ordain(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        assert_eq!(ran.stdout, "", "{arguments:?}");
        assert!(ran.stderr.contains(says) && ran.stderr.contains(hint), "{arguments:?}: {}", ran.stderr);
    }
    let toml = std::fs::read_to_string(shop.root.join("ordain.toml")).unwrap();
    std::fs::write(shop.root.join("ordain.toml"), toml.replace("append_only", "apend_only")).unwrap();
    let ran = shop.ordain(&["tables"]);
    let line = toml.lines().position(|line| line.starts_with("append_only")).unwrap() + 1;
    assert_eq!(
        ran.stderr,
        format!("error: ordain.toml:{line}: unknown key `apend_only`\nhint: did you mean `append_only`?\n")
    );
    std::fs::write(shop.root.join("ordain.toml"), "[store]\nurl = \"postgres://nobody@127.0.0.1:1/none\"")
        .unwrap();
    let mut command = crate::command::ordain(["tables"]);
    command.current_dir(&shop.root).env("ORDAIN_TRUST", &shop.root);
    let ran = crate::command::run(command);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("cannot be reached") && ran.stderr.contains("hint: "), "{}", ran.stderr);
}

#[test]
fn a_held_run_is_listed_shown_and_approved() {
    let shop = Shop::new();
    let held = shop.sell(true);
    let list = shop.ordain(&["runs", "list", "--state", "held"]);
    assert!(
        list.stdout.contains(held.run_id.as_str()) && list.stdout.contains("one Classic, please"),
        "{}",
        list.stdout
    );
    let shown = shop.ordain(&["runs", "show", held.run_id.as_str()]);
    assert!(
        !shown.stdout.contains('\u{1b}'),
        "what a plan wrote does not steer the terminal: {}",
        shown.stdout
    );
    let diff = shown.stdout.find("  inventory").map(|at| &shown.stdout[at..]);
    assert_eq!(
        diff,
        Some(
            "\x20 inventory      column             before  after\n\
             \x20 item_id=SG005  quantity_in_stock  10      9\n\
             \x20 transactions  transaction_id  customer_name  transaction_amount  balance_after_transaction  timestamp\n\
             \x20 +             SALE004         Ada\\u{1b}[2J   60.0                560.0                      2025-10-02T10:00:00\n"
        )
    );
    assert_eq!(shop.stock(), 10);
    let approved = shop.ordain(&["approve", held.run_id.as_str(), "--json"]);
    assert_eq!((approved.code, &approved.json()["state"]), (Some(0), &json!("committed")));
    assert_eq!(shop.stock(), 9);
    let again = shop.ordain(&["approve", held.run_id.as_str()]);
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("was committed already, so it cannot be approved"), "{}", again.stderr);
}

#[test]
fn a_rejected_run_changes_nothing() {
    let shop = Shop::new();
    let held = shop.sell(true);
    assert_eq!(shop.ordain(&["reject", held.run_id.as_str(), "--json"]).json()["state"], "rejected");
    assert_eq!(shop.stock(), 10);
}

#[test]
fn an_id_is_not_given_again_after_an_undo() {
    let shop = Shop::new();
    let plan = shop.root.join("book.py");
    let code = "number = next_transaction_id(transactions_tbl)\n\
        transactions_tbl.insert({'transaction_id': number, 'customer_name': 'Ada', 'transaction_summary': 'x', \
        'transaction_amount': 0.0, 'balance_after_transaction': get_current_balance(transactions_tbl), \
        'timestamp': '2026-01-01T00:00:00'})\n\
        answer_text = 'Booked.'\nSTATUS = 'success'\n";
    std::fs::write(&plan, code).unwrap();
    let book = || {
        let ran = shop.ordain(&["ask", "book it", "--plan", "book.py", "--json"]).json();
        assert_eq!(ran["state"], "committed", "{ran}");
        let id = ran["diff"]["transactions"]["added"][0]["transaction_id"].as_str().unwrap().to_owned();
        (ran["run_id"].as_str().unwrap().to_owned(), id)
    };
    let (run, first) = book();
    assert_eq!(shop.ordain(&["undo", &run]).code, Some(0));
    assert_ne!(book().1, first);
}

#[test]
fn a_row_that_others_name_is_not_taken_out_by_an_undo() {
    let folder = Folder::new();
    folder.file(
        "ordain.toml",
        "[tables.growers]\nseed = \"growers.json\"\nkey = \"id\"\n\n[tables.orders]\nseed = \"orders.json\"\n\
         key = \"id\"\n\n[tables.orders.columns]\ngrower = { references = \"growers.id\" }\n",
    );
    folder.file("growers.json", r#"[{"id": "G1", "name": "Ivy"}]"#);
    // A name that was wrong before is nothing that this undo breaks.
    folder.file("orders.json", r#"[{"id": "O1", "grower": "G9"}]"#);
    let add = |table: &str, row: &str| {
        let code = format!("db.table('{table}').insert({row})\nanswer_text = 'Added.'\nSTATUS = 'success'\n");
        folder.file("plan.py", code);
        let ran = run_in(folder.path(), &["ask", "add it", "--plan", "plan.py", "--json"]).json();
        assert_eq!(ran["state"], "committed", "{ran}");
        ran["run_id"].as_str().unwrap().to_owned()
    };
    let undo = |id: &str| run_in(folder.path(), &["undo", id]);
    let grower = add("growers", "{'id': 'G2', 'name': 'Tom'}");
    let order = add("orders", "{'id': 'O2', 'grower': 'G2'}");
    let refused = undo(&grower);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stderr.contains("a row of `orders` would name in `grower` what is no longer there"),
        "{refused:?}"
    );
    assert_eq!(undo(&order).code, Some(0));
    assert_eq!(undo(&grower).code, Some(0));
}

#[test]
fn a_committed_run_is_undone_unless_a_row_changed_since() {
    let shop = Shop::new();
    let first = shop.sell(false);
    let second = shop.sell(false);
    let refused = shop.ordain(&["undo", first.run_id.as_str()]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stdout.contains("SG005") && refused.stderr.contains("1 row has changed meanwhile"),
        "{refused:?}"
    );
    assert!(
        refused.stderr.contains("undo the later run") && !refused.stderr.contains("--rebase"),
        "{refused:?}"
    );
    let row = refused.stdout.lines().nth(1).unwrap().split_whitespace().skip(2).collect::<Vec<_>>();
    assert_eq!(row, ["quantity_in_stock", "9", "8"], "only the column that differs: {refused:?}");
    let refused = shop.ordain(&["undo", first.run_id.as_str(), "--json"]);
    assert_eq!(refused.json()["conflicts"][0]["found"]["quantity_in_stock"], 8);
    let undone = shop.ordain(&["undo", second.run_id.as_str()]);
    let receipt = "Undone: 1 row changed back in inventory, 1 row taken out of transactions.";
    assert_eq!(undone.stdout, format!("run {}: {receipt}\n", second.run_id));
    assert_eq!(shop.ordain(&["undo", first.run_id.as_str()]).code, Some(0));
    assert_eq!(shop.stock(), 10);
    let kinds: Vec<Value> = {
        let entries = shop.ordain(&["ledger", "list", "--json"]).json();
        entries.as_array().unwrap().iter().rev().map(|entry| entry["kind"].clone()).collect()
    };
    assert_eq!(kinds, ["seed", "ask", "ask", "undo", "undo"]);
}

#[test]
fn reseed_removes_no_row_that_nobody_gave_up_and_leaves_a_copy() {
    let shop = Shop::new();
    shop.sell(false);
    let asked = shop.ordain(&["tables", "reseed", "inventory"]);
    assert!(asked.code == Some(2) && asked.stderr.contains("--yes"), "{asked:?}");
    let unnamed = shop.ordain(&["tables", "reseed", "--yes"]);
    assert!(
        unnamed.code == Some(2) && unnamed.stderr.contains("`transactions` is append-only"),
        "{unnamed:?}"
    );
    assert_eq!(shop.stock(), 9);
    let done = shop.ordain(&["tables", "reseed", "inventory", "transactions", "--yes"]);
    assert_eq!(done.stdout, "inventory: 7 rows removed, 7 loaded\ntransactions: 4 rows removed, 3 loaded\n");
    assert_eq!(shop.stock(), 10);
    let restored = shop.ordain(&["tables", "restore", "--at", "9999-01-01T00:00:00Z"]);
    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert_eq!(shop.stock(), 9);
}

#[test]
fn a_folder_for_copies_that_is_none_is_not_blamed_on_the_database() {
    let shop = Shop::new();
    let failed = shop.ordain(&["tables", "backup", "--to", "ordain.toml"]);
    assert!(failed.code == Some(2) && !failed.stderr.contains("the database failed"), "{failed:?}");
    let nowhere = shop.ordain(&["tables", "-w", "/no-such-folder"]);
    assert!(nowhere.stderr.contains("/no-such-folder"), "{nowhere:?}");
}

#[test]
fn the_ledger_is_verified_and_exported() {
    let shop = Shop::new();
    shop.sell(false);
    let reseeded = shop.ordain(&["tables", "reseed", "inventory", "--yes", "--no-backup"]);
    assert_eq!(reseeded.stdout, "inventory: 7 rows removed, 7 loaded\n");
    let whole = shop.ordain(&["ledger", "verify"]);
    assert!(whole.code == Some(0) && whole.stdout.starts_with("the ledger is whole: 3 entries"), "{whole:?}");
    let export = shop.ordain(&["ledger", "export", "--format", "jsonl"]);
    let lines: Vec<Value> = export.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[1]["body"]["content"]["run"]["request"], "one Classic, please");
    assert_eq!(lines[3]["checkpoint"]["hash"], lines[2]["hash"]);
    shop.ordain(&["ledger", "export", "--output", "copy.jsonl"]);
    assert_eq!(std::fs::read_to_string(shop.root.join("copy.jsonl")).unwrap().lines().count(), 4);
    let entry = shop.ordain(&["ledger", "show", "2"]);
    assert!(entry.stdout.contains("\"who\": \"ada\""), "{}", entry.stdout);
    // The end of the ledger, cut off: the checkpoint outside the database tells.
    std::fs::remove_file(shop.root.join(".ordain/store.db")).unwrap();
    for rest in ["store.db-wal", "store.db-shm"] {
        let _ = std::fs::remove_file(shop.root.join(".ordain").join(rest));
    }
    let cut = shop.ordain(&["ledger", "verify", "--json"]);
    assert_eq!((cut.code, &cut.json()["whole"]), (Some(1), &json!(false)));
    assert_eq!(cut.json()["findings"][0]["code"], "truncated");
}

#[test]
fn the_ledger_is_verified_where_nothing_can_be_written() {
    let shop = Shop::new();
    shop.sell(false);
    let verify = |script: &str| {
        let root = shop.root.to_str().unwrap();
        let mut command = std::process::Command::new("unshare");
        let mount = format!("mount --bind {root} {root} && mount -o remount,bind,ro {root} && {script}");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &mount]);
        command.env("ORDAIN", env!("CARGO_BIN_EXE_ordain")).current_dir(&shop.root);
        run(command)
    };
    // Nothing is left in the log; then as a process that died leaves it.
    for rest in [false, true] {
        if rest {
            let copy = |end: &str| std::fs::read(shop.root.join(format!(".ordain/store.db{end}")));
            let left = on_store(&shop.root, async |store| {
                store.reseed(&[], EntryNote::by("ada", "test")).await.unwrap();
                ["-wal", "-shm"].map(|end| (end, copy(end).unwrap()))
            });
            for (end, bytes) in left {
                std::fs::write(shop.root.join(format!(".ordain/store.db{end}")), bytes).unwrap();
            }
        }
        let whole = verify("$ORDAIN ledger verify --rows");
        assert!(
            whole.code == Some(0) && whole.stdout.starts_with("the ledger is whole"),
            "{rest}: {whole:?}"
        );
        let listed = verify("$ORDAIN ledger list && $ORDAIN runs list");
        assert!(listed.code == Some(0) && listed.stdout.contains("one Classic"), "{rest}: {listed:?}");
        let refused = verify("$ORDAIN tables reseed inventory --yes --no-backup");
        assert!(refused.code == Some(3) && refused.stderr.contains("readonly"), "{rest}: {refused:?}");
    }
    std::fs::remove_file(shop.root.join(".ordain/store.db-shm")).unwrap();
    let half = verify("$ORDAIN ledger verify");
    assert!(half.code == Some(3) && half.stderr.contains("in a log beside it"), "{half:?}");
}

#[test]
fn a_check_of_the_ledger_says_what_it_did_not_look_at() {
    let shop = Shop::new();
    let sold = shop.sell(false);
    let plain = shop.ordain(&["ledger", "verify"]);
    assert!(
        plain.stdout.ends_with("rows and records were not looked at; `ordain ledger verify --rows` does\n")
    );
    let database = rusqlite::Connection::open(shop.root.join(".ordain/store.db")).unwrap();
    database.execute_batch("UPDATE inventory SET price = 1.0; UPDATE ordain_runs SET record = '{}'").unwrap();
    drop(database);
    let found = shop.ordain(&["ledger", "verify", "--rows"]);
    assert!(found.code == Some(1) && !found.stdout.contains("not looked at"), "{found:?}");
    for told in ["table `inventory`", sold.run_id.as_str()] {
        assert!(found.stdout.contains(told), "{told}: {found:?}");
    }
}

#[test]
fn copies_go_to_a_folder_and_the_oldest_make_room() {
    let shop = Shop::new();
    shop.sell(false);
    let text = std::fs::read_to_string(shop.root.join("ordain.toml")).unwrap();
    std::fs::write(shop.root.join("ordain.toml"), format!("{text}\n[backup]\nto = \"copies\"\nkeep = 2\n"))
        .unwrap();
    let settings = shop.ordain(&["config"]).stdout;
    for setting in
        ["backup.to", "backup.keep", "backup.every", "store.checkpoint", "store.files", "store.plan_role"]
    {
        assert!(settings.contains(setting), "{setting}: {settings}");
    }
    let told = shop.ordain(&["doctor", "--store"]);
    assert!(told.stdout.contains("there is no copy of the store"), "{told:?}");
    let made: Vec<Ran> = (0..3).map(|_| shop.ordain(&["tables", "backup"])).collect();
    assert!(made.iter().all(|made| made.code == Some(0)), "{made:?}");
    assert!(made[2].stdout.contains("removed "), "{made:?}");
    assert_eq!(shop.root.join("copies").read_dir().unwrap().count(), 2);
    let told = shop.ordain(&["doctor", "--store"]);
    assert!(told.stdout.contains("the newest copy in") && told.stdout.contains("on the disk of"), "{told:?}");
    let elsewhere = format!("file://{}", shop.root.join("other").display());
    assert_eq!(shop.ordain(&["tables", "backup", "--to", &elsewhere]).code, Some(0));
    assert_eq!(shop.root.join("other").read_dir().unwrap().count(), 1);
    for place in ["s3://bucket/shop", "https://host/shop", "file://host/shop"] {
        let refused = shop.ordain(&["tables", "backup", "--to", place]);
        assert!(refused.code == Some(2) && refused.stderr.contains("file:///FOLDER"), "{refused:?}");
    }
    // A copy outside of the workspace is for its user to accept.
    std::fs::write(shop.root.join("ordain.toml"), format!("{text}\n[backup]\nto = \"/var/tmp/copies\"\n"))
        .unwrap();
    let refused = shop.ordain(&["tables"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("backup.to = /var/tmp/copies"), "{refused:?}");
}

#[test]
fn describe_proposes_a_section_for_each_table_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("bestellungen.csv", "id;bestellt;betrag\n007;15.03.2024;1.234,50 €\n012;01.02.2024;7,20 €\n"),
        ("book.json", "{\"jan\": [{\"n\": 1}, {\"n\": 2}], \"feb\": [{\"m\": \"x\"}, {\"m\": \"y\"}]}"),
    ] {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let at = |arguments: &[&str]| run_in(folder.path(), arguments);
    let text = at(&["tables", "describe", ".", "--toml"]).stdout;
    for says in [
        "[tables.bestellungen]\n",
        "id = \"text\"",
        "betrag = { unit = \"EUR\" }",
        "[tables.jan]\n",
        "[tables.feb]\n",
    ] {
        assert_eq!(text.matches(says).count(), 1, "{says}: {text}");
    }
    assert!(at(&["tables", "describe", "bestellungen.csv"]).stdout.contains("day-first"));
}

#[test]
fn a_file_is_imported_as_a_table_or_nothing_is_changed() {
    let shop = Shop::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("prices.csv");
    std::fs::write(&file, "id,price\na,\"1,000.50\"\nb,7\n").unwrap();
    let path = file.to_str().unwrap();
    let made = shop.ordain(&["import", path, "--table", "prices", "--key", "id"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(made.stdout.starts_with("prices: 2 rows of prices.csv\n"), "{made:?}");
    let rows = shop.ordain(&["tables", "prices", "--rows", "--json"]).json();
    assert_eq!(rows[0]["price"], json!(1000.5));
    let other = shop.ordain(&["import", path, "--table", "other"]);
    assert!(
        other.stderr.contains("in the workspace already") && other.stderr.contains("hint: "),
        "{other:?}"
    );
    let twice = shop.ordain(&["import", path, "--table", "prices"]);
    assert!(twice.code == Some(2) && twice.stderr.contains("already"), "{twice:?}");
    let before = std::fs::read_to_string(shop.root.join("ordain.toml")).unwrap();
    std::fs::write(elsewhere.path().join("bad.csv"), "id,price\na,1\na,2\n").unwrap();
    let bad = elsewhere.path().join("bad.csv");
    let refused = shop.ordain(&["import", bad.to_str().unwrap(), "--table", "bad", "--key", "id"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("bad.csv:3"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(shop.root.join("ordain.toml")).unwrap(), before);
    assert!(!shop.root.join("tables/bad.csv").exists());
}

#[test]
fn an_import_keeps_the_currency_and_the_unit_of_a_column() {
    let shop = Shop::new();
    let rows = "id,fee,weight,share\na,CHF 12.50,3 kg,5%\nb,CHF 7.00,4 kg,12.5%\n";
    let path = shop.root.join("fees.csv");
    std::fs::write(&path, rows).unwrap();
    let made = shop.ordain(&["import", path.to_str().unwrap(), "--table", "fees", "--key", "id"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let settings = std::fs::read_to_string(shop.root.join("ordain.toml")).unwrap();
    for line in [
        "[tables.fees.columns]",
        "fee = { unit = \"CHF\" }",
        "weight = { unit = \"kg\" }",
        "share = { unit = \"%\" }",
    ] {
        assert!(settings.lines().any(|own| own == line), "{line}: {settings}");
    }
    let total = shop.ordain(&["ask", "what is the total fee of all fees?"]);
    assert!(total.stdout.contains("CHF 19.50"), "{total:?}");
    let foreign = shop.ordain(&["ask", "which fees have a fee above €10?"]);
    assert!(foreign.code == Some(1) && foreign.stdout.contains("nothing was done"), "{foreign:?}");
}

#[test]
fn an_import_of_a_file_with_several_tables_names_them_and_takes_all_or_nothing() {
    let shop = Shop::new();
    let path = shop.root.join("two.json");
    std::fs::write(&path, r#"{"cats": [{"id": 1}, {"id": 2}], "dogs": [{"id": 3}, {"id": 4}]}"#).unwrap();
    let before = std::fs::read_to_string(shop.root.join("ordain.toml")).unwrap();
    let refused = shop.ordain(&["import", path.to_str().unwrap(), "--table", "pets"]);
    assert!(refused.code == Some(2), "{refused:?}");
    assert!(refused.stderr.contains("cats") && refused.stderr.contains("dogs"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(shop.root.join("ordain.toml")).unwrap(), before);
    let all = shop.ordain(&["import", path.to_str().unwrap()]);
    let tables = shop.ordain(&["tables"]).stdout;
    assert!(all.code == Some(0) && tables.contains("cats") && tables.contains("dogs"), "{all:?} {tables}");
}
