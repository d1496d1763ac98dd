//! A set-up that can't succeed says why and what to do, and leaves nothing behind.

use std::fs;

use ordain_cell::profile::{self, DataDir, Profile, ProfileError, Silent};

use crate::profile_world::{Listener, Scratch, chain, real_python};

/// A `python3` that answers the probe with `answer` and fails everything else with `complaint`.
fn fake_python(answer: &str, complaint: &str) -> String {
    format!(
        "#!/bin/sh\ncase \"$*\" in\n*'-m pip'*) printf '%s\\n' '{complaint}' >&2; exit 1;;\n\
         *) printf '%s\\n' '{answer}';;\nesac\n"
    )
}

fn set_up(data_dir: &DataDir) -> ProfileError {
    profile::set_up(Profile::Core, data_dir, false, &mut Silent).unwrap_err()
}

/// The error and its hint, both of which must say something.
#[track_caller]
fn check(error: &ProfileError, message: &str, hint: &str) {
    let (text, told) = (chain(error), error.hint().unwrap());
    assert!(text.contains(message), "{text}");
    assert!(told.contains(hint), "{told}");
}

#[test]
fn a_missing_python_is_named_with_a_way_to_get_one() {
    let scratch = Scratch::new();
    let empty = scratch.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let data_dir = scratch.data_dir().with_search_path(&empty);
    for error in [set_up(&data_dir), profile::find(Profile::Core, &data_dir).unwrap_err()] {
        check(&error, "there is no `python3` on the search path", "apt install python3");
    }
    let named = scratch.data_dir().with_python("/nowhere/python3.12");
    check(&set_up(&named), "there is no program `/nowhere/python3.12`", "ORDAIN_PYTHON");
}

#[test]
fn a_python_on_a_relative_search_path_is_never_run() {
    let scratch = Scratch::new();
    let data_dir = scratch.data_dir().with_search_path(".::bin");
    assert!(matches!(set_up(&data_dir), ProfileError::NoPython { .. }));
}

#[test]
fn a_python_that_is_too_old_is_refused_with_its_version() {
    let scratch = Scratch::new();
    let old =
        r#"{"version":[3,9,18],"implementation":"cpython","executable":"/bin/sh","launcher":"/bin/sh"}"#;
    let data_dir = scratch.data_dir().with_search_path(scratch.script("python3", &fake_python(old, "")));
    check(&set_up(&data_dir), "is Python 3.9.18, and cells need Python 3.11 to 3.14", "ORDAIN_PYTHON=");
}

#[test]
fn a_program_that_is_no_python_is_refused() {
    let scratch = Scratch::new();
    for (script, reason) in [
        ("#!/bin/sh\necho hello\n", "its answer is not the expected one"),
        ("#!/bin/sh\nexit 7\n", "it failed (exit status: 7)"),
        ("#!/bin/sh\n/usr/bin/yes | /usr/bin/head -c 1000000\n", "python3` did not say which Python it is"),
        ("#!/nowhere/interpreter\n", "No such file"),
        ("#!/bin/sh\nprintf '{\"version\":[3,11,999]}'\n", "its answer is not the expected one"),
    ] {
        let data_dir = scratch.data_dir().with_search_path(scratch.script("python3", script));
        check(&set_up(&data_dir), reason, "ORDAIN_PYTHON");
    }
}

#[test]
fn a_machine_with_neither_pip_nor_uv_is_told_how_to_get_one() {
    let scratch = Scratch::new();
    let real = real_python(&scratch.data_dir());
    let script = format!(
        "#!/bin/sh\nexec '{}' -c 'import sys, importlib.util as u; f = u.find_spec\n\
         u.find_spec = lambda name, *rest: None if name == \"pip\" else f(name, *rest)\n\
         exec(sys.argv[1])' \"$3\"\n",
        real.executable.display()
    );
    let other = DataDir::at(scratch.path().join("other")).unwrap();
    let data_dir = other.with_search_path(scratch.script("python3", &script));
    check(&set_up(&data_dir), "there is neither `uv` on the search path nor `pip`", "ensurepip");
}

/// The machine's real Python under the name `python3`, with `pip` replaced by a script.
fn python_with_pip(scratch: &Scratch, pip: &str) -> DataDir {
    let real = real_python(&scratch.data_dir());
    let launcher = scratch.path().join("launcher");
    let folder = scratch.script("python3", "");
    // The probe is answered by the real Python, except that the launcher, which runs pip, is the script.
    let answer = format!(
        "#!/bin/sh\n'{}' \"$@\" | sed 's|\"launcher\": \"[^\"]*\"|\"launcher\": \"{}\"|'\n",
        real.executable.display(),
        launcher.display()
    );
    scratch.script("python3", &answer);
    fs::rename(scratch.script("pip-script", pip).join("pip-script"), &launcher).unwrap();
    let system = std::env::join_paths([folder, "/usr/bin".into(), "/bin".into()]).unwrap();
    DataDir::at(scratch.path().join("other")).unwrap().with_search_path(system)
}

#[test]
fn pip_without_a_network_is_reported_as_that() {
    let scratch = Scratch::new();
    let data_dir = python_with_pip(
        &scratch,
        "#!/bin/sh\necho 'Collecting tinydb==4.9.0'\n\
         echo \"WARNING: Retrying after connection broken by 'NewConnectionError(\\\"Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')'\" >&2\n\
         echo 'ERROR: No matching distribution found for tinydb==4.9.0' >&2\nexit 1\n",
    );
    let error = set_up(&data_dir);
    check(&error, "pip could not reach the package index: [Errno -3] Temporary failure", "network");
    assert!(matches!(profile::find(Profile::Core, &data_dir), Ok(None)));
    let left = fs::read_dir(data_dir.python_root()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().contains("partial")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_installer_that_fails_fills_the_disk_or_lies_is_reported_as_that() {
    for (script, message, hint) in [
        (
            "#!/bin/sh\necho 'ERROR: something odd' >&2\nexit 3\n",
            "pip failed (exit status: 3): something odd",
            "again",
        ),
        (
            "#!/bin/sh\necho 'OSError: [Errno 28] No space left on device' >&2\nexit 1\n",
            "is full",
            "another disk",
        ),
        ("#!/bin/sh\necho 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES' >&2\nexit 1\n", "hash", "mirror"),
        ("#!/bin/sh\nexit 0\n", "`tinydb` 4.9.0 is missing", "again"),
    ] {
        let scratch = Scratch::new();
        let data_dir = python_with_pip(&scratch, script);
        check(&set_up(&data_dir), message, hint);
    }
}

#[test]
fn a_broken_uv_is_passed_over_for_pip() {
    let scratch = Scratch::new();
    let folder = scratch.script("uv", "#!/bin/sh\necho 'error: no route: dns error' >&2\nexit 2\n");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let data_dir = scratch.data_dir().with_search_path(path);
    let mut listener = Listener::default();
    profile::set_up(Profile::Core, &data_dir, false, &mut listener).unwrap();
    assert!(listener.messages.iter().any(|message| message.contains("trying pip")), "{listener:?}");
}

#[test]
fn a_data_folder_that_cannot_be_made_is_named() {
    let scratch = Scratch::new();
    let file = scratch.path().join("file");
    fs::write(&file, "").unwrap();
    let data_dir = DataDir::at(file.join("data")).unwrap();
    check(&set_up(&data_dir), "the folder for Python profiles can't be used", "ORDAIN_DATA_DIR");
    // The kernel's own tree takes no folders, even from root.
    let data_dir = DataDir::at("/proc/ordain").unwrap();
    check(
        &set_up(&data_dir),
        "the folder for Python profiles can't be used: failed to create directory `/proc/ordain/python`: No such",
        "ORDAIN_DATA_DIR",
    );
}

#[test]
fn a_replaced_python_is_asked_again() {
    let scratch = Scratch::new();
    let real = real_python(&scratch.data_dir()).executable;
    let asked = scratch.path().join("asked");
    let script = format!("#!/bin/sh\necho x >>'{}'\nexec '{}' \"$@\"\n", asked.display(), real.display());
    let data_dir = scratch.data_dir().with_search_path(scratch.script("python3", &script));
    let times = || fs::read_to_string(&asked).unwrap().lines().count();

    for _ in 0..3 {
        profile::find(Profile::Core, &data_dir).unwrap();
    }
    assert_eq!(times(), 1, "no process is started while nothing changed");
    scratch.script("python3", &format!("{script}# another one\n"));
    profile::find(Profile::Core, &data_dir).unwrap();
    assert_eq!(times(), 2);

    fs::write(data_dir.python_root().join("interpreters.json"), "{ garbage").unwrap();
    profile::find(Profile::Core, &data_dir).unwrap();
    assert_eq!(times(), 3, "a damaged memory is only a slower start");
}

#[test]
fn a_data_folder_that_another_user_owns_or_may_write_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let data_dir = scratch.data_dir();
    // Something is remembered there, which would be run.
    let _ = profile::find(Profile::Core, &data_dir);
    let memory = data_dir.python_root().join("interpreters.json");
    for path in [data_dir.root().to_owned(), data_dir.python_root(), memory] {
        assert!(path.exists(), "{}", path.display());
        let mode = path.metadata().unwrap().permissions().mode();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode | 0o002)).unwrap();
        let error = profile::find(Profile::Core, &data_dir).unwrap_err();
        check(&error, "can be written by other users, so nothing in it is used", "chmod -R go-w");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        if rustix::process::geteuid().is_root() {
            let nobody = Some(rustix::process::Uid::from_raw(65_534));
            rustix::fs::chown(&path, nobody, None).unwrap();
            let error = profile::find(Profile::Core, &data_dir).unwrap_err();
            check(&error, "belongs to another user (65534)", "ORDAIN_DATA_DIR");
            rustix::fs::chown(&path, Some(rustix::process::Uid::ROOT), None).unwrap();
        }
    }
    profile::find(Profile::Core, &data_dir).unwrap();
}
