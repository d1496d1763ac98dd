//! A workspace that comes from somebody else: nothing of the user's is read, sent or waited for on its word.

use std::io::Read as _;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::command::{Ran, init, ordain, run};

struct Stranger {
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl Stranger {
    fn new() -> Self {
        let (folder, root) = init("sunglasses");
        fs_err::write(folder.path().join("secret.csv"), "user,password\nroot,VICTIM\n").unwrap();
        Self { folder, root }
    }

    fn says(&self, text: &str) {
        let path = self.root.join("ordain.toml");
        let written = fs_err::read_to_string(&path).unwrap();
        fs_err::write(path, format!("{written}\n{text}\n")).unwrap();
    }

    fn replace(&self, name: &str, make: impl Fn(&Path)) {
        let path = self.root.join(name);
        let _ = fs_err::remove_file(&path);
        make(&path);
    }

    /// A command of the user, whose list of accepted workspaces is empty.
    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = ordain(arguments);
        command.current_dir(&self.root).env("ORDAIN_API_KEY", "key-of-the-victim").env_remove("ORDAIN_TRUST");
        command.env("ORDAIN_DATA_DIR", self.folder.path().join("data"));
        run(command)
    }
}

/// A server that keeps what is sent to it.
fn listener() -> (String, Arc<Mutex<String>>) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", server.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let Ok(mut stream) = stream else { return };
            stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
            let mut piece = [0; 4096];
            while let Ok(length) = stream.read(&mut piece) {
                if length == 0 {
                    break;
                }
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&piece[..length]));
            }
        }
    });
    (address, seen)
}

#[test]
fn a_cloned_workspace_cannot_have_the_users_key_sent_to_its_own_address() {
    let stranger = Stranger::new();
    let (address, seen) = listener();
    stranger.says(&format!("[model]\nname = \"m\"\nbase_url = \"{address}\""));
    for arguments in
        [&["ask", "how many kinds are there?"][..], &["models"], &["tables"], &["chat"], &["serve"]]
    {
        let ran = stranger.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains("which you have not accepted"), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains("ordain config trust /"), "{arguments:?}: {ran:?}");
    }
    assert_eq!(*seen.lock().unwrap(), "", "nothing was sent");
    let accepted = stranger.run(&["config", "trust", "."]);
    assert!(accepted.code == Some(0) && accepted.stdout.contains(&address), "{accepted:?}");
    assert_eq!(stranger.run(&["tables"]).code, Some(0));
    // Another address is another question.
    let text = fs_err::read_to_string(stranger.root.join("ordain.toml")).unwrap();
    fs_err::write(stranger.root.join("ordain.toml"), text.replace("/v1", "/v2")).unwrap();
    assert!(stranger.run(&["tables"]).stderr.contains("which you have not accepted"));
    assert!(stranger.run(&["config", "trust", "--remove", "."]).stdout.contains("taken back"));
}

#[test]
fn an_address_in_the_workspaces_env_file_has_to_be_accepted_and_the_users_own_has_not() {
    let stranger = Stranger::new();
    fs_err::write(stranger.root.join(".env"), "ORDAIN_MODEL_BASE_URL=http://127.0.0.1:9/v1\n").unwrap();
    assert!(stranger.run(&["tables"]).stderr.contains("which you have not accepted"));
    let mut command = ordain(["tables"]);
    command.current_dir(&stranger.root).env("ORDAIN_MODEL_BASE_URL", "http://127.0.0.1:9/v1");
    assert_eq!(run(command).code, Some(0));
}

#[test]
fn files_that_lead_out_of_a_workspace_or_are_none_are_refused_before_they_are_read() {
    for name in ["policy.md", "helpers.py", ".env", "tables/inventory.json", "ordain.toml"] {
        for target in ["/dev/zero", "../../secret.csv", "/etc/passwd"] {
            let stranger = Stranger::new();
            stranger.replace(name, |path| symlink(target, path).unwrap());
            let ran = stranger.run(&["tables"]);
            assert_eq!(ran.code, Some(2), "{name} {target}: {ran:?}");
            assert!(!format!("{ran:?}").contains("VICTIM"), "{name} {target}: {ran:?}");
        }
        let stranger = Stranger::new();
        stranger.replace(name, |path| {
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        });
        // It would wait for ever if the pipe were opened as a file is.
        let ran = stranger.run(&["tables"]);
        let is_told = ran.stderr.contains("not an ordinary file") || name == "ordain.toml";
        assert!(ran.code == Some(2) && is_told, "{name}: {ran:?}");
    }
}

#[test]
fn a_workspace_of_another_user_is_not_used_from_any_folder_below_it() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let stranger = Stranger::new();
    let nobody = Some(rustix::process::Uid::from_raw(65_534));
    for path in [stranger.root.clone(), stranger.root.join("ordain.toml")] {
        rustix::fs::chown(&path, nobody, None).unwrap();
        let below = stranger.root.join("work/of/the/victim");
        fs_err::create_dir_all(&below).unwrap();
        let mut command = ordain(["tables"]);
        command.current_dir(&below).env("ORDAIN_DATA_DIR", stranger.folder.path().join("data"));
        let ran = run(command);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("belongs to another user (65534)"), "{ran:?}");
        rustix::fs::chown(&path, Some(rustix::process::Uid::ROOT), None).unwrap();
    }
}

#[test]
fn escape_sequences_of_a_workspace_do_not_reach_the_terminal_in_errors() {
    let stranger = Stranger::new();
    fs_err::write(stranger.root.join("tables/e.csv"), "id,b\u{1b}]0;pwned\u{7}\u{1b}[2Jc\n1,2\n").unwrap();
    stranger.says("[tables.e]\nseed = \"tables/e.csv\"");
    let ran = stranger.run(&["tables"]);
    assert!(!ran.stderr.contains('\u{1b}') && !ran.stdout.contains('\u{1b}'), "{ran:?}");
    let other = Stranger::new();
    other.says("\"k\\u001b[31m\" = 1");
    let ran = other.run(&["tables"]);
    assert!(ran.code == Some(2) && !ran.stderr.contains('\u{1b}'), "{ran:?}");
}

#[test]
fn what_is_made_under_an_open_umask_cannot_be_written_by_others() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::TempDir::new().unwrap();
    let root = folder.path().join("shop");
    let script = format!(
        "umask 000; exec {} init --example sunglasses {}",
        env!("CARGO_BIN_EXE_ordain"),
        root.display()
    );
    let status = std::process::Command::new("sh").args(["-c", &script]).status().unwrap();
    assert!(status.success());
    for path in [root.clone(), root.join("ordain.toml"), root.join("tables/inventory.json")] {
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o022, 0, "{}: {mode:o}", path.display());
    }
}

#[test]
fn a_database_a_folder_and_replies_that_a_stranger_names_are_not_used_on_its_word() {
    for (says, told) in [
        (
            "[store]\nurl = \"postgres://ada:hush@127.0.0.1:1/prod\"",
            "`store.url = postgres://ada@127.0.0.1:1/prod`, which you have not accepted",
        ),
        ("[store]\ncheckpoint = \"../elsewhere\"", "`store.checkpoint = ../elsewhere`, which you have not"),
        ("[store]\nfiles = \"/var/tmp\"", "`store.files = /var/tmp`, which you have not"),
        ("[store]\ncheckpoint = \"/var/tmp\"", "`store.checkpoint = /var/tmp`, which you have not"),
        ("[model]\nname = \"replay:../secret.csv\"", "it leads out of the workspace"),
        ("[model]\nname = \"replay:/dev/zero\"", "it leads out of the workspace"),
    ] {
        let stranger = Stranger::new();
        fs_err::write(stranger.root.join("ordain.toml"), says).unwrap();
        let ran = stranger.run(&["ask", "how many kinds are there?"]);
        assert!(ran.code == Some(2) && ran.stderr.contains(told), "{says}: {ran:?}");
        assert!(
            !format!("{ran:?}").contains("hush") && !format!("{ran:?}").contains("VICTIM"),
            "{says}: {ran:?}"
        );
    }
    // The same by a variable of the workspace's own, and by the user's.
    let stranger = Stranger::new();
    fs_err::write(stranger.root.join(".env"), "ORDAIN_MODEL=replay:../secret.csv\n").unwrap();
    assert!(stranger.run(&["tables"]).stderr.contains("it leads out of the workspace"));
    fs_err::write(stranger.root.join(".env"), "ORDAIN_STORE_URL=postgres://127.0.0.1:1/prod\n").unwrap();
    assert!(stranger.run(&["tables"]).stderr.contains("which you have not accepted"));
}

#[test]
fn a_variable_of_the_user_that_a_stranger_names_is_not_used_on_its_word() {
    let stranger = Stranger::new();
    stranger.replace("ordain.toml", |path| {
        fs_err::write(path, "[store]\nurl = \"env:DATABASE_URL\"\n[tables.users]\n").unwrap();
    });
    let ask = |command: &mut std::process::Command| {
        command.current_dir(&stranger.root).env_remove("ORDAIN_TRUST");
        command.env("DATABASE_URL", "postgres://ada:hush@127.0.0.1:1/prod");
        command.env("ORDAIN_DATA_DIR", stranger.folder.path().join("data"));
    };
    let mut command = ordain(["ask", "hello there"]);
    ask(&mut command);
    let ran = run(command);
    let told =
        "`store.url = env:DATABASE_URL (postgres://ada@127.0.0.1:1/prod)`, which you have not accepted";
    assert!(ran.code == Some(2) && ran.stderr.contains(told) && !ran.stderr.contains("hush"), "{ran:?}");
}

#[test]
fn a_link_in_the_state_that_a_stranger_brings_leads_nothing_to_the_users_files() {
    for name in ["store.db", "ledger.key", "contracts", "artifacts", "backups", "contracts/schema_cols.json"]
    {
        let stranger = Stranger::new();
        let victim = stranger.folder.path().join("victim");
        fs_err::create_dir(&victim).unwrap();
        let state = stranger.root.join(".ordain");
        let _ = fs_err::remove_dir_all(&state);
        fs_err::create_dir_all(state.join(name).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&victim, state.join(name)).unwrap();
        for command in [&["tables"][..], &["ask", "how many kinds are there?"], &["tables", "backup"]] {
            let ran = stranger.run(command);
            let told = format!("`.ordain/{name}` is a link or a device");
            assert!(ran.code == Some(2) && ran.stderr.contains(&told), "{name}: {ran:?}");
        }
        assert_eq!(fs_err::read_dir(&victim).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn files_without_an_end_cost_neither_memory_nor_time() {
    for name in ["tables/inventory.json", "eval.jsonl", "policy.md", "ordain.toml"] {
        let stranger = Stranger::new();
        let path = stranger.root.join(name);
        // Nearly nothing on the disk.
        fs_err::OpenOptions::new().create(true).write(true).open(&path).unwrap().set_len(20 << 30).unwrap();
        let command = if name == "eval.jsonl" { &["models", "eval", name][..] } else { &["tables"] };
        let mut limited = std::process::Command::new("sh");
        let line = format!("ulimit -v 1500000; exec {} {}", env!("CARGO_BIN_EXE_ordain"), command.join(" "));
        limited.args(["-c", &line]).current_dir(&stranger.root).env_remove("ORDAIN_TRUST");
        let ran = run(limited);
        assert!(ran.code == Some(2) && !ran.stderr.contains("memory"), "{name}: {ran:?}");
    }
    let stranger = Stranger::new();
    stranger.replace("eval.jsonl", |path| {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    });
    assert!(stranger.run(&["models", "eval", "eval.jsonl"]).stderr.contains("not an ordinary file"));
    let replies = format!("replay:{}", stranger.root.join("eval.jsonl").display());
    let ran = stranger.run(&["ask", "how many kinds are there?", "--model", &replies]);
    assert!(ran.stderr.contains("not an ordinary file"), "{ran:?}");
}

#[test]
fn the_operator_says_where_files_that_runs_leave_are_kept() {
    let shop = Stranger::new();
    let folder = shop.folder.path().join("left");
    fs_err::write(shop.root.join("p.py"), "(artifacts / 'a.txt').write_text('x')\n").unwrap();
    let mut command = ordain(["exec", "p.py"]);
    command.current_dir(&shop.root).env("PYTHON_CODE_EXECUTION_DIR", &folder);
    assert_eq!(run(command).code, Some(0));
    let runs: Vec<_> = fs_err::read_dir(&folder).unwrap().collect();
    let left = runs[0].as_ref().unwrap().path();
    assert!(runs.len() == 1 && left.join("a.txt").exists(), "{runs:?}");
    let mode = |path: &std::path::Path| {
        use std::os::unix::fs::PermissionsExt as _;
        path.metadata().unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode(&left), mode(&left.join("a.txt"))), (0o700, 0o600), "they are their owner's alone");
    // A workspace does not say where files of the user's machine are written.
    fs_err::write(shop.root.join(".env"), "PYTHON_CODE_EXECUTION_DIR=/tmp\n").unwrap();
    assert!(shop.run(&["tables"]).stderr.contains("is not taken from a workspace"));
}

/// Names that Python would read as code, or could not read, if they were put into a program as they are.
const ODD_NAMES: [&str; 4] =
    ["len {db.table(chr(117)).truncate()}", "worker's \"pay\"", "pay {x \\", "len\"]; x = params[\""];

#[test]
fn the_name_of_a_column_is_never_run_as_code() {
    let shop = Stranger::new();
    let file = |name: &str, text: String| {
        let path = shop.root.join(format!("{name}.csv"));
        fs_err::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let import = |path: &str, table: &str| {
        let made = shop.run(&["import", path, "--table", table, "--key", "id"]);
        assert_eq!(made.code, Some(0), "{made:?}");
    };
    import(&file("u", "id,name\n1,ash\n2,fir\n".to_owned()), "u");
    for (at, name) in ODD_NAMES.iter().enumerate() {
        let table = format!("odd{at}");
        let header = name.replace('"', "\"\"");
        let path = file(&table, format!("id,title,\"{header}\"\nn1,oak,7\nn2,elm,9\n"));
        let told = shop.run(&["code", "show all rows", "--file", &path]);
        let is_right = told.stdout.contains("oak") && told.stdout.contains('9');
        assert!(told.code == Some(0) && is_right, "{name}: {told:?}");
        import(&path, &table);
        let asked = shop.run(&["ask", &format!("show all {table}"), "--json"]).json();
        assert_eq!(asked["state"], "answered", "{name}: {asked}");
    }
    let kept = shop.run(&["tables", "u", "--rows", "--json"]).json();
    assert_eq!(kept.as_array().map(Vec::len), Some(2));
}
