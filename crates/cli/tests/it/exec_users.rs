//! `ordain exec` works for the superuser, for an ordinary user, and in a container without privileges.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::command::{Folder, run_with_input};

const PROGRAM: &[u8] = b"import os, json\n(artifacts / 'a.txt').write_text('x')\n\
    print(json.dumps([1 + 1, os.getuid(), sorted(files), files['in.txt'].read_text()]))\n";

/// A Python that any user can read; a version manager's lies in a home.
fn common_python() -> Option<&'static str> {
    ["/usr/bin/python3", "/usr/local/bin/python3"].into_iter().find(|path| Path::new(path).exists())
}

fn is_superuser() -> bool {
    rustix::process::geteuid().is_root()
}

/// Runs the program by way of `through`, and looks at all that came of it.
#[track_caller]
fn check(folder: &Folder, python: &str, through: &[&str], out: &str) {
    let binary = folder.join("ordain");
    let words = [through, &[&binary]].concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args(["exec", "-", "--policy", "open", "--json"]);
    command.args(["--file", &folder.join("in.txt"), "--out", &folder.join(out)]);
    command.env("ORDAIN_DATA_DIR", folder.join("data")).env("ORDAIN_PYTHON", python);
    command.env("HOME", folder.path()).current_dir(folder.path());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = run_with_input(command, PROGRAM);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let record = ran.json();
    assert_eq!(record["stdout"], "[2, 1000, [\"in.txt\"], \"given\"]\n", "{ran:?}");
    assert_eq!((&record["cause"], &record["isolation"]), (&json!("ok"), &json!("full")));
    assert_eq!(std::fs::read_to_string(folder.path().join(out).join("a.txt")).unwrap(), "x");
}

#[test]
fn an_ordinary_user_gets_the_same_isolation_and_so_does_the_superuser_of_a_container() {
    let Some(python) = common_python() else {
        return skip("there is no Python that every user may read");
    };
    let become_nobody = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    if is_superuser() && !Path::new(become_nobody[0]).exists() {
        return skip("there is no setpriv to become another user with");
    }
    let user: &[&str] = if is_superuser() { &become_nobody } else { &["/usr/bin/env"] };
    let folder = Folder::new();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    // The binary is copied to where another user may read it.
    std::fs::copy(env!("CARGO_BIN_EXE_ordain"), folder.path().join("ordain")).unwrap();
    folder.file("in.txt", "given");
    check(&folder, python, user, "out");
    // A container that maps just one user: there is no other to become, and groups cannot be left.
    let container = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"];
    check(&folder, python, &[user, &container].concat(), "out-of-container");
}

#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}
