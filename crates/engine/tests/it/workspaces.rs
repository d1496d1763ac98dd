//! Workspaces: read strictly, with errors that name the line and the nearest right name.

use std::path::Path;
use std::time::Duration;

use ordain_engine::EngineSettings;
use ordain_files::open_store;
use ordain_store::Database;
use ordain_types::{Approval, ColumnType};
use ordain_workspace::{EXAMPLES, InitError, Workspace, WorkspaceError, init};
use tempfile::TempDir;

fn load(toml: &str) -> Result<Workspace, WorkspaceError> {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("ordain.toml"), toml).unwrap();
    Workspace::load(folder.path())
}

#[test]
fn every_documented_key_is_read() {
    let workspace = load(
        r#"
        [workspace]
        name = "shop"
        statuses = ["backordered"]
        [tables.zebra]
        seed = "tables/zebra.json"
        key = "id"
        append_only = true
        [tables.apple]
        key = ["order_id", "line"]
        read_only = true
        hidden_columns = ["email"]
        max_rows_changed = 50
        index = ["name", ["colour", "size"]]
        triggers = "allow"
        columns.price = "real"
        columns.when = { type = "timestamp", nullable = false }
        [[invariants]]
        name = "one"
        sql = "SELECT 1 WHERE 1 = 0"
        [model]
        name = "rules"
        [approval]
        mode = "rows>10"
        [limits]
        wall = "5s"
        memory = "256MiB"
        output = "1MiB"
        file = "2MiB"
        rounds = 2
        [python]
        profile = "data"
        [sandbox]
        minimum = "full"
        "#,
    )
    .unwrap();
    assert_eq!((workspace.name.as_str(), workspace.statuses.contains_key("backordered")), ("shop", true));
    assert_eq!(workspace.tables[0].name, "zebra", "tables stay in the order in which they are written");
    assert_eq!(workspace.tables[0].seed.as_deref(), Some(workspace.root.join("tables/zebra.json").as_path()));
    let apple = &workspace.tables[1];
    assert_eq!(apple.key, ["order_id", "line"]);
    assert_eq!(apple.indexes, [vec!["name"], vec!["colour", "size"]]);
    assert_eq!(apple.columns["price"].column_type, ColumnType::Real);
    assert!(!apple.columns["when"].nullable && apple.columns["price"].nullable);
    assert_eq!((apple.max_rows_changed, apple.allows_triggers), (Some(50), true));
    assert_eq!(workspace.approval, Approval::AboveRows(10));
    assert_eq!((workspace.limits.wall, workspace.rounds), (Duration::from_secs(5), 2));
    assert_eq!((workspace.profile.name(), workspace.minimum_isolation), ("data", ordain_cell::Level::Full));
}

#[test]
fn an_empty_file_is_a_workspace_with_the_usual_settings() {
    let workspace = load("").unwrap();
    assert_eq!((workspace.approval, workspace.rounds), (Approval::Auto, 3));
    assert!(matches!(&workspace.database, Database::Sqlite { path } if path.ends_with(".ordain/store.db")));
    assert_eq!(workspace.model.name, "auto");
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_the_nearest_name() {
    for (toml, line, says, hint) in [
        ("[stroe]\nurl = \"sqlite\"", 1, "unknown key `stroe`", "`store`"),
        ("[store]\n\nurll = \"sqlite\"", 3, "unknown key `urll`", "`url`"),
        ("[tables.a]\nseed = \"x\"\nappendonly = true", 3, "unknown key `appendonly`", "`append_only`"),
        ("[tables.a.columns]\nx = \"reel\"", 2, "unknown value `reel`", "`real`"),
        (
            "[tables.a.columns]\nx = { type = \"real\", nulable = true }",
            2,
            "unknown key `nulable`",
            "`nullable`",
        ),
        ("[tables.a.roles]\nquantty = \"stock\"", 2, "unknown key `quantty`", "`quantity`"),
        ("[python]\nprofile = \"dato\"", 2, "unknown value `dato`", "`data`"),
    ] {
        let error = load(toml).unwrap_err();
        assert_eq!(error.line, Some(line), "{toml}: {error}");
        assert!(error.to_string().contains(says), "{toml}: {error}");
        assert!(error.hint.as_deref().is_some_and(|given| given.contains(hint)), "{toml}: {:?}", error.hint);
    }
    for (toml, line, says) in [
        ("[workspace\n", 1, "ordain.toml:1"),
        ("[approval]\nmode = \"sometimes\"", 2, "is not a mode"),
        ("[limits]\nwall = \"soon\"", 2, "is not a duration"),
        ("[limits]\nmemory = 5", 2, "expected a string"),
        ("[tables.a]\nkey = 3", 2, "a column's name or a list"),
        ("[[invariants]]\nname = \"x\"", 1, "missing field `sql`"),
        ("[store]\nurl = \"mysql://x\"", 2, "not understood"),
        ("[store]\nurl = \"env:ORDAIN_TEST_NOT_SET\"", 2, "is not set"),
        ("[workspace]\nname = \"a\"\nname = \"b\"", 3, "duplicate key"),
    ] {
        let error = load(toml).unwrap_err();
        assert_eq!(error.line, Some(line), "{toml}: {error}");
        assert!(error.to_string().contains(says), "{toml}: {error}");
    }
    let twice =
        "[[invariants]]\nname = \"x\"\nsql = \"SELECT 1\"\n[[invariants]]\nname = \"x\"\nsql = \"SELECT 2\"";
    let error = load(twice).unwrap_err();
    assert!(error.to_string().contains("two invariants"), "{error}");
}

#[test]
fn helpers_that_are_no_python_are_named_with_their_line() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("shop");
    init(&root, Some("sunglasses")).unwrap();
    let helpers = std::fs::read_to_string(root.join("helpers.py")).unwrap();
    std::fs::write(root.join("helpers.py"), format!("{helpers}def broken(:\n")).unwrap();
    let error = Workspace::load(&root).unwrap_err();
    assert_eq!(
        (error.file.as_str(), error.line),
        ("helpers.py", Some(helpers.lines().count() as u64 + 1)),
        "{error}"
    );
}

#[test]
fn a_workspace_is_found_from_any_folder_within_it() {
    let folder = TempDir::new().unwrap();
    init(&folder.path().join("shop"), Some("sunglasses")).unwrap();
    let found = Workspace::find(&folder.path().join("shop/tables")).unwrap();
    assert_eq!(found, folder.path().join("shop"));
    let error = Workspace::find(Path::new("/")).unwrap_err();
    assert!(error.hint.unwrap().contains("ordain init"));
}

#[test]
fn nothing_is_overwritten_by_a_new_workspace() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("precious.txt"), "x").unwrap();
    let error = init(folder.path(), None).unwrap_err();
    assert!(matches!(error, InitError::NotEmpty { .. }), "{error}");
    let error = init(&folder.path().join("new"), Some("sunglases")).unwrap_err();
    assert_eq!(error.hint().as_deref(), Some("did you mean `sunglasses`?"));
    init(&folder.path().join("it's \"new\""), None).unwrap();
    assert_eq!(Workspace::load(&folder.path().join("it's \"new\"")).unwrap().name, "it-s--new-");
}

#[tokio::test]
async fn every_example_opens_with_its_seeds_and_keeps_its_invariants() {
    for example in EXAMPLES {
        let folder = TempDir::new().unwrap();
        let root = folder.path().join(example.name);
        init(&root, Some(example.name)).unwrap();
        if !Workspace::asks_to_accept(&root).unwrap().is_nothing() {
            // It names programs to start; the tests of the command accept it and use it.
            let error = Workspace::load(&root).unwrap_err();
            assert!(error.message.contains("have not accepted"), "{error}");
            continue;
        }
        let workspace = Workspace::load(&root).unwrap();
        assert_eq!(workspace.name, example.name);
        assert!(!workspace.policy.is_empty());
        let store = open_store(&workspace).await.unwrap();
        let tables = store.tables().await.unwrap();
        assert!(tables.iter().all(|info| info.rows > 0 && !info.table.key.is_empty()), "{tables:?}");
        assert!(store.verify_ledger().await.unwrap().is_whole());
    }
}

#[tokio::test]
async fn a_role_of_a_column_that_is_not_there_is_an_error_with_its_line() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("shop");
    init(&root, Some("bike-parts")).unwrap();
    let path = root.join("ordain.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("quantity = \"on_hand\"", "quantity = \"on_hnd\"")).unwrap();
    let error = open_store(&Workspace::load(&root).unwrap()).await.unwrap_err();
    let line = text.lines().position(|line| line.starts_with("quantity")).unwrap() + 1;
    assert!(error.to_string().starts_with(&format!("ordain.toml:{line}: the role `quantity`")), "{error}");
    assert_eq!(error.hint().as_deref(), Some("did you mean `on_hand`?"));
}

#[test]
fn declared_roles_reach_the_planner() {
    let workspace = load("[tables.parts.roles]\nquantity = \"shelf\"\nprice = \"each\"").unwrap();
    let roles = &EngineSettings::of(&workspace).roles["parts"];
    assert_eq!((roles["quantity"].as_str(), roles["price"].as_str()), ("shelf", "each"));
}

const LIBRARY: &str = "[tables.books]\nseed = \"books.json\"\nkey = \"book_id\"\n";
const LEND: &str = "[[actions]]\nname = \"lend\"\nwords = [\"lend\"]\nparams.book = { table = \"books\" }\n";

fn library(more: &str) -> (TempDir, Result<Workspace, WorkspaceError>) {
    let folder = TempDir::new().unwrap();
    fs_err::write(folder.path().join("ordain.toml"), format!("{LIBRARY}{more}")).unwrap();
    fs_err::write(folder.path().join("books.json"), r#"[{"book_id": "B1", "title": "Dune"}]"#).unwrap();
    fs_err::write(folder.path().join("helpers.py"), "def lend(book, days: int = 21):\n    return {}\n")
        .unwrap();
    let workspace = Workspace::load(folder.path());
    (folder, workspace)
}

#[test]
fn an_action_that_its_function_cannot_carry_out_is_an_error_with_its_line() {
    for (more, line, says, hint) in [
        (LEND.replace("\"lend\"\nwords", "\"lent\"\nwords"), 5, "no function of that name", "`lend`"),
        (LEND.replace("params.book", "params.bok"), 5, "takes no `bok`", "`book`"),
        (LEND.replace("{ table = \"books\" }", "{}"), 5, "one of table, column and type", "count"),
        (LEND.replace("{ table = \"books\" }", "{ type = \"name\" }"), 5, "has no `after`", "for"),
        (LEND.replace("params.book", "each = [\"bock\"]\nparams.book"), 5, "is no param of it", "`book`"),
        (LEND.replace("words", "wrods"), 6, "unknown key `wrods`", "`words`"),
        ("[policy]\nchanges = \"action\"".to_owned(), 5, "unknown value `action`", "`actions`"),
    ] {
        let error = library(&more).1.unwrap_err();
        assert!(error.to_string().contains(says), "{more}: {error}");
        assert!(error.line.is_some_and(|at| at.abs_diff(line) <= 1), "{more}: {error}");
        assert!(error.hint.as_deref().is_some_and(|given| given.contains(hint)), "{more}: {:?}", error.hint);
    }
    assert_eq!(library(LEND).1.unwrap().catalog.actions[0].name, "lend");
}

#[tokio::test]
async fn a_catalog_that_names_what_is_not_there_is_an_error_with_its_line() {
    for (more, says, hint) in [
        (LEND.replace("\"books\"", "\"bocks\""), "there is no table `bocks`", "`books`"),
        (
            "[tables.books.columns]\ntitel = { synonyms = [\"name\"] }".to_owned(),
            "no column `titel`",
            "`title`",
        ),
        (
            "[tables.books.columns]\ntitle = { references = \"books.boook_id\" }".to_owned(),
            "no column `boook_id`",
            "`book_id`",
        ),
        (
            "[[phrasings]]\nwords = [\"x\"]\ntable = \"boks\"".to_owned(),
            "there is no table `boks`",
            "`books`",
        ),
        (
            "[[phrasings]]\nwords = [\"x\"]\ntable = \"books\"\nmeans = \"pages > 5\"".to_owned(),
            "the condition `pages > 5` on `books` is not understood",
            "compare columns",
        ),
        (
            "[tables.books.columns]\ntitle = { ends = \"by {books.autor}\" }".to_owned(),
            "no column `autor`",
            "its columns are",
        ),
    ] {
        let (_folder, workspace) = library(&more);
        let error = open_store(&workspace.unwrap()).await.err().unwrap();
        assert!(
            error.to_string().contains(says) && error.to_string().contains("ordain.toml:"),
            "{more}: {error}"
        );
        assert!(error.hint().is_some_and(|given| given.contains(hint)), "{more}: {error:?}");
    }
}

#[test]
fn data_files_say_how_they_are_read() {
    let toml = "[data.orders]\ncolumns = { plz = \"identifier\", total = { type = \"real\", unit = \"EUR\" } }\n\
                decimal = \",\"\nheader_row = 3\nnull_values = [\"n/a\"]\n";
    let workspace = load(toml).unwrap();
    let orders = &workspace.catalog.data["orders"];
    assert_eq!(orders.columns["plz"].data_type, Some(ordain_types::DataType::Identifier));
    assert_eq!(orders.columns["total"].unit.as_deref(), Some("EUR"));
    assert_eq!((orders.decimal, orders.header_row), (Some(','), Some(3)));
    assert!(
        load("[data.orders]\ncolumns = { plz = \"identifer\" }")
            .unwrap_err()
            .to_string()
            .contains("identifer")
    );
    assert!(load("[data.orders]\nheader_row = 0").unwrap_err().to_string().contains("counts from 1"));
}

/// The error for a workspace whose `ordain.toml` ends with this.
fn told_of(extra: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("ordain.toml"), format!("[workspace]\nname = \"shop\"\n{extra}"))
        .unwrap();
    match Workspace::load(folder.path()) {
        Ok(_) => "used".to_owned(),
        Err(error) => format!("{} | {}", error.message, error.hint.unwrap_or_default()),
    }
}

#[test]
fn a_workspace_that_names_an_address_or_asks_for_less_isolation_is_not_used_before_it_is_accepted() {
    assert_eq!(told_of(""), "used");
    let told = told_of("[model]\nbase_url = \"http://127.0.0.1:7992/v1\"\n");
    assert!(told.contains("http://127.0.0.1:7992/v1") && told.contains("ordain config trust /"), "{told}");
    let told = told_of("[sandbox]\nminimum = \"reduced\"\n");
    assert!(told.contains("sandbox.minimum = reduced") && told.contains("ordain config trust /"), "{told}");
    assert_eq!(told_of("[sandbox]\nminimum = \"full\"\n"), "used");
}

#[test]
fn a_seed_outside_of_the_workspace_is_not_read() {
    for seed in ["/etc/passwd", "../secret.csv", "/dev/zero"] {
        let told = told_of(&format!("[tables.a]\nseed = \"{seed}\"\n"));
        assert!(told.contains("leads out of the workspace"), "{seed}: {told}");
    }
}

#[test]
fn state_that_is_a_link_to_elsewhere_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("shop");
    fs_err::create_dir(&root).unwrap();
    fs_err::write(root.join("ordain.toml"), "").unwrap();
    std::os::unix::fs::symlink("..", root.join(".ordain")).unwrap();
    let error = Workspace::load(&root).unwrap_err();
    assert!(error.message.contains("`.ordain` is not a folder"), "{error}");
}
