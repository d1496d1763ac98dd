//! `ordain ask --plan` and the tour, as users and scripts see them.

use crate::command::{Folder, Ran, Running, ordain, run};

const SALE: &str = "\
inventory_tbl.update({'price': 70}, where('name') == 'Aviator')
answer_text = 'The Aviator costs $70 now.'
STATUS = 'success'
";

/// A sunglasses shop with a plan beside it.
struct Shop {
    folder: Folder,
    root: String,
}

impl Shop {
    fn new() -> Self {
        let folder = Folder::new();
        let root = folder.join("shop");
        let made = run(ordain(["init", "--example", "sunglasses", &root]));
        assert_eq!(made.code, Some(0), "{made:?}");
        Self { folder, root }
    }

    fn ask(&self, plan: &str, arguments: &[&str]) -> Ran {
        let plan = self.folder.file("plan.py", plan);
        let mut all = vec!["ask", "Put the Aviator on sale", "--plan", &plan, "--workspace", &self.root];
        all.extend(arguments);
        run(ordain(all))
    }

    fn aviator_price(&self) -> f64 {
        let shown = run(ordain(["tables", "inventory", "--rows", "--json", "--workspace", &self.root]));
        let rows = shown.json();
        let row = rows.as_array().unwrap().iter().find(|row| row["name"] == "Aviator").unwrap();
        row["price"].as_f64().unwrap()
    }
}

#[test]
fn a_plan_is_committed_and_its_diff_is_shown() {
    let shop = Shop::new();
    let asked = shop.ask(SALE, &[]);
    assert_eq!(asked.code, Some(0), "{asked:?}");
    for text in ["1 row changed in inventory", "The Aviator costs $70 now.", "item_id=SG001", "80.0", "70.0"]
    {
        assert!(asked.stdout.contains(text), "{text} is not in {}", asked.stdout);
    }
    assert!((shop.aviator_price() - 70.0).abs() < 1e-9);
}

#[test]
fn a_dry_run_answers_and_changes_nothing() {
    let shop = Shop::new();
    let asked = shop.ask(SALE, &["--dry-run", "--json"]);
    assert_eq!(asked.code, Some(0), "{asked:?}");
    let record = asked.json();
    assert_eq!(record["state"], "rolled_back");
    assert_eq!(record["diff"]["inventory"]["changed"][0]["after"]["price"], 70.0);
    assert!((shop.aviator_price() - 80.0).abs() < 1e-9);
}

#[test]
fn a_held_change_exits_with_four_and_waits_for_approval() {
    let shop = Shop::new();
    let held = shop.ask(SALE, &["--hold", "--json"]);
    assert_eq!(held.code, Some(4), "{held:?}");
    let record = held.json();
    assert_eq!(record["state"], "held");
    // Programs that read the record are not told that it was done.
    let told = record["answer"]["text"].as_str().unwrap();
    assert!(told.starts_with("Nothing is changed until it is approved; then: "), "{told}");
    assert!((shop.aviator_price() - 80.0).abs() < 1e-9);
    let id = record["run_id"].as_str().unwrap().to_owned();
    let approved = run(ordain(["approve", &id, "--workspace", &shop.root]));
    assert_eq!(approved.code, Some(0), "{approved:?}");
    assert!((shop.aviator_price() - 70.0).abs() < 1e-9);
}

#[test]
fn a_refused_plan_exits_with_one_and_says_what_to_do() {
    let shop = Shop::new();
    let asked = shop.ask(
        "found = inventory_tbl.search(Query().colour == 'red')\nanswer_text = 'x'\nSTATUS = 'success'\n",
        &[],
    );
    assert_eq!(asked.code, Some(1), "{asked:?}");
    assert!(
        asked.stdout.contains("unknown-column") && asked.stdout.contains("the columns are"),
        "{}",
        asked.stdout
    );
}

#[test]
fn a_plan_that_breaks_an_invariant_exits_with_one_and_names_it() {
    let shop = Shop::new();
    let asked = shop.ask(&SALE.replace("70}", "-1}"), &[]);
    assert_eq!(asked.code, Some(1), "{asked:?}");
    assert!(asked.stdout.contains("every price is above zero"), "{}", asked.stdout);
    assert!((shop.aviator_price() - 80.0).abs() < 1e-9);
}

#[test]
fn the_same_key_changes_once_and_answers_twice() {
    let shop = Shop::new();
    let first = shop.ask(SALE, &["--idempotency-key", "sale-1", "--json"]).json();
    let second = shop.ask(SALE, &["--idempotency-key", "sale-1", "--json"]).json();
    assert_eq!(first["run_id"], second["run_id"]);
}

#[test]
fn a_missing_plan_or_workspace_is_a_usage_error() {
    let shop = Shop::new();
    let missing = run(ordain(["ask", "x", "--plan", "no-such-plan.py", "--workspace", &shop.root]));
    assert_eq!(missing.code, Some(2), "{missing:?}");
    assert!(missing.stderr.contains("no-such-plan.py"), "{}", missing.stderr);
    let plan = shop.folder.file("plan.py", SALE);
    let nowhere = shop.folder.join("nowhere");
    let lost = run(ordain(["ask", "x", "--plan", &plan, "--workspace", &nowhere]));
    assert_eq!(lost.code, Some(2), "{lost:?}");
}

#[test]
fn the_tour_runs_to_its_end() {
    let toured = run(ordain(["demo"]));
    assert_eq!(toured.code, Some(0), "{toured:?}");
    for text in [
        "Classic (price $60.00",
        "Sold 3 Classic to Walk-in customer for $180.00. Sold 1 Aviator",
        "quantity_in_stock  23      22",
        "answered (insufficient_stock)",
        "invariant `stock never below zero` does not hold",
        "receipt  2 rows changed in inventory, 2 rows added to transactions.",
        "Undone: 2 rows changed back in inventory, 2 rows taken out of transactions.",
        "plan from the cache, written by run",
        "ledger verify: it is whole",
        "[blocked-import]",
        "→ timeout",
        "Try next:",
    ] {
        assert!(toured.stdout.contains(text), "{text} is not in {}", toured.stdout);
    }
}

#[test]
fn a_killed_run_gives_its_key_back_and_the_same_command_runs() {
    let shop = Shop::new();
    let slow = format!("import time\ntime.sleep(2)\n{SALE}");
    let plan = shop.folder.file("slow.py", &slow);
    let command = || {
        let key = ["--idempotency-key", "k1", "--json", "--plan", &plan, "--workspace", &shop.root];
        ordain([&["ask", "Put the Aviator on sale"], &key[..]].concat())
    };
    let mut first = Running::start(command());
    let running = std::path::Path::new(&shop.root).join(".ordain/running");
    while running.read_dir().into_iter().flatten().next().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    first.0.kill().unwrap();
    first.0.wait().unwrap();
    let again = run(command());
    assert_eq!((again.code, &again.json()["state"]), (Some(0), &"committed".into()), "{again:?}");
    let runs = run(ordain(["runs", "list", "--json", "--workspace", &shop.root])).json();
    let failed = runs.as_array().unwrap().iter().filter(|run| run["state"] == "failed").count();
    assert!(failed <= 1 && shop.aviator_price() < 70.1, "{runs}");
}

#[test]
fn a_purchase_prints_its_answer_first_in_eight_lines_and_undo_last_takes_it_back() {
    let folder = Folder::new();
    let shop = folder.join("shop");
    assert_eq!(run(ordain(["init", "--example", "sunglasses", &shop])).code, Some(0));
    let bought = run(ordain(["ask", "buy 3 classic and 1 aviator", "--workspace", &shop]));
    let lines: Vec<&str> = bought.stdout.lines().collect();
    assert!(lines.len() <= 8 && lines[0].starts_with("Sold 3 Classic"), "{}", bought.stdout);
    assert!(bought.stdout.contains("`ordain undo last` takes it back"), "{}", bought.stdout);
    let undo = || run(ordain(["undo", "last", "--workspace", &shop]));
    let undone = undo();
    assert!(undone.stdout.contains("Undone: 2 rows changed back in inventory"), "{undone:?}");
    let nothing = undo();
    assert_eq!(nothing.code, Some(1), "{nothing:?}");
    assert!(nothing.stderr.contains("no change of yours stands"), "{}", nothing.stderr);
}
