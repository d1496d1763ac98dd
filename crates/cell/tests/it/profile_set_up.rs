//! A profile is set up once, completely, and by one process at a time.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use ordain_cell::profile::{self, DataDir, Phase, Profile, ProfileError, Silent};

use crate::profile_world::{Listener, Scratch};

#[test]
fn core_is_set_up_on_first_use_and_found_afterwards() {
    let scratch = Scratch::new();
    let data_dir = scratch.data_dir();
    assert!(profile::find(Profile::Core, &data_dir).unwrap().is_none());

    let mut listener = Listener::default();
    let installed = profile::ensure(Profile::Core, &data_dir, &mut listener).unwrap();
    assert_eq!(installed.packages, [("tinydb".to_owned(), "4.9.0".to_owned())]);
    assert!(installed.site.join("tinydb/__init__.py").is_file());
    assert!(installed.bytes > 10_000);
    assert!(installed.interpreter.executable.is_absolute());
    assert_eq!(installed.interpreter.executable, installed.interpreter.executable.canonicalize().unwrap());
    assert_eq!(listener.phases[0], (Phase::Downloading, Some(1)));
    assert_eq!(listener.phases.last().unwrap().0, Phase::Compiling);
    assert!(listener.counts.contains(&1), "{listener:?}");

    let found = profile::find(Profile::Core, &data_dir).unwrap().unwrap();
    assert_eq!(found.site, installed.site);
    assert_eq!(found.interpreter, installed.interpreter);
    assert_eq!(scratch.folders().len(), 1, "{:?}", scratch.folders());
}

#[test]
fn an_installed_profile_can_be_imported_and_is_already_compiled() {
    let scratch = Scratch::new();
    let installed = profile::ensure(Profile::Core, &scratch.data_dir(), &mut Silent).unwrap();
    let program = "import sys; sys.path.insert(0, sys.argv[1]); import tinydb, tinydb.queries; \
                   print(tinydb.__version__, tinydb.__cached__)";
    let output = Command::new(&installed.interpreter.executable)
        .args(["-I", "-c", program])
        .arg(&installed.site)
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let (version, cached) = stdout.trim().split_once(' ').unwrap();
    assert_eq!(version, "4.9.0");
    // The flags in bytes 4 to 8 say "hashed, unchecked": the bytecode stays valid when the folder is copied.
    assert_eq!(fs::read(cached).unwrap()[4..8], [1, 0, 0, 0]);
    assert!(Path::new(cached).starts_with(&installed.site));
}

#[test]
fn every_installed_file_is_readable_by_any_user() {
    let scratch = Scratch::new();
    let installed = profile::ensure(Profile::Core, &scratch.data_dir(), &mut Silent).unwrap();
    let mut folders = vec![installed.site.parent().unwrap().to_owned()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode();
            if entry.file_type().unwrap().is_dir() {
                assert_eq!(mode & 0o555, 0o555, "{}", entry.path().display());
                folders.push(entry.path());
            } else {
                assert_eq!(mode & 0o444, 0o444, "{}", entry.path().display());
                files += 1;
            }
        }
    }
    assert!(files > 10);
}

#[test]
fn a_sound_profile_is_kept_and_force_builds_it_anew() {
    let scratch = Scratch::new();
    let data_dir = scratch.data_dir();
    let first = profile::set_up(Profile::Core, &data_dir, false, &mut Silent).unwrap();
    let inode = |installed: &profile::Installed| installed.site.metadata().unwrap().ino();
    let first_inode = inode(&first);

    let kept = profile::set_up(Profile::Core, &data_dir, false, &mut Silent).unwrap();
    assert_eq!(inode(&kept), first_inode);

    fs::write(first.site.join("stray.py"), "").unwrap();
    let rebuilt = profile::set_up(Profile::Core, &data_dir, true, &mut Silent).unwrap();
    assert_ne!(inode(&rebuilt), first_inode);
    assert_eq!(rebuilt.site, first.site);
    assert!(!rebuilt.site.join("stray.py").exists());
    assert_eq!(scratch.folders().len(), 1, "{:?}", scratch.folders());
}

#[test]
fn every_kind_of_damage_is_noticed_and_repaired() {
    let scratch = Scratch::new();
    let data_dir = scratch.data_dir();
    let installed = profile::ensure(Profile::Core, &data_dir, &mut Silent).unwrap();
    let folder = installed.site.parent().unwrap();
    let manifest = folder.join("profile.json");
    let text = fs::read_to_string(&manifest).unwrap();

    let damages: [(&str, &dyn Fn()); 6] = [
        ("it has no manifest", &|| fs::remove_file(&manifest).unwrap()),
        ("its manifest is malformed", &|| fs::write(&manifest, &text[..text.len() / 2]).unwrap()),
        ("its manifest was edited", &|| fs::write(&manifest, text.replace("4.9.0", "4.9.1")).unwrap()),
        ("`tinydb` is missing", &|| fs::remove_dir_all(folder.join("site/tinydb")).unwrap()),
        ("its packages are gone", &|| fs::remove_dir_all(folder.join("site")).unwrap()),
        ("it has no manifest", &|| {
            fs::remove_dir_all(folder).unwrap();
            fs::write(folder, "not a folder").unwrap();
        }),
    ];
    for (expected, damage) in damages {
        damage();
        let error = profile::find(Profile::Core, &data_dir).unwrap_err();
        let ProfileError::Damaged { what, .. } = &error else { panic!("{expected}: {error}") };
        assert!(what.contains(expected), "{what}");
        assert!(error.hint().unwrap().contains("--force"));
        let mut listener = Listener::default();
        profile::ensure(Profile::Core, &data_dir, &mut listener).unwrap();
        assert!(listener.messages.iter().any(|message| message.contains("damaged")), "{listener:?}");
        assert!(profile::find(Profile::Core, &data_dir).unwrap().is_some());
        assert_eq!(scratch.folders().len(), 1, "{:?}", scratch.folders());
    }
}

/// What somebody did to the packages, and what is said of it: at the start of a zygote, and when every file is read.
#[test]
fn packages_that_are_not_those_that_were_set_up_start_no_cell() {
    use std::os::unix::fs::{PermissionsExt as _, chown};

    use ordain_cell::Executor as _;
    let scratch = Scratch::new();
    let data_dir = scratch.data_dir();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let start = || {
        let mut options = ordain_cell::LocalOptions::new(data_dir.clone());
        options.idle_cells = 0;
        let executor = ordain_cell::LocalExecutor::new(options).unwrap();
        let job = crate::world::job("import tinydb\nprint(getattr(tinydb, 'EVIL', 'clean'))");
        let ran = runtime.block_on(async {
            let ran = executor.run(job, &mut ordain_cell::NoHost, &mut ordain_cell::Discard).await;
            executor.close().await;
            ran
        });
        ran.map_or_else(|error| error.to_string(), |execution| crate::world::printed(&execution).to_owned())
    };
    let site = profile::ensure(Profile::Core, &data_dir, &mut Silent).unwrap().site;
    let module = site.join("tinydb/version.py");
    let edit = |with: &str| {
        let text = fs::read_to_string(&module).unwrap();
        fs::write(&module, text.replace("__version__", with)).unwrap();
    };
    // The same size and time as before: only the content tells.
    let forge = || {
        let time = module.metadata().unwrap().modified().unwrap();
        edit("__versiom__");
        fs::File::options().write(true).open(&module).unwrap().set_modified(time).unwrap();
    };
    let nobody = |path: &Path| chown(path, Some(65_534), None);
    let is_root = rustix::process::geteuid().is_root();
    let deeds: [(&dyn Fn(), &str, &str); 9] = [
        (&|| edit("__version__"), "clean", ""),
        (&|| edit("EVIL = __version__"), "`tinydb/version.py` was changed", "was changed"),
        (&|| edit("__versiom__"), "`tinydb/version.py` was changed", "was changed"),
        (&forge, "clean", "`tinydb/version.py` was changed"),
        (&|| fs::write(site.join("tinydb/more.py"), "").unwrap(), "`tinydb/more.py` was added", "was added"),
        (&|| fs::remove_file(&module).unwrap(), "`tinydb/version.py` is missing", "is missing"),
        (&|| fs::write(site.join("../files.txt"), "").unwrap(), "its list of files was edited", "edited"),
        (
            &|| fs::set_permissions(&module, fs::Permissions::from_mode(0o666)).unwrap(),
            "can be written by other users",
            "can be written",
        ),
        (
            &|| {
                if is_root {
                    nobody(&module).and(nobody(module.parent().unwrap())).unwrap();
                }
            },
            if is_root { "belongs to another user" } else { "clean" },
            if is_root { "belongs to another user" } else { "" },
        ),
    ];
    for (deed, at_start, when_read) in deeds {
        profile::set_up(Profile::Core, &data_dir, true, &mut Silent).unwrap();
        deed();
        let told = start();
        assert!(told.contains(at_start), "{at_start}: {told}");
        let verified = profile::find(Profile::Core, &data_dir).unwrap().unwrap().verify();
        let told = verified.map_or_else(|error| error.to_string(), |()| String::new());
        assert!(told.contains(when_read) && told.is_empty() == when_read.is_empty(), "{when_read}: {told}");
    }
}

#[test]
fn what_a_crashed_set_up_left_is_removed_by_the_next() {
    let scratch = Scratch::new();
    let data_dir = scratch.data_dir();
    let installed = profile::ensure(Profile::Core, &data_dir, &mut Silent).unwrap();
    let folder = installed.site.parent().unwrap();
    let name = folder.file_name().unwrap().to_str().unwrap();
    fs::remove_dir_all(folder).unwrap();
    let leftover = folder.with_file_name(format!(".{name}.1.partial"));
    fs::create_dir_all(leftover.join("site/half")).unwrap();

    assert!(profile::find(Profile::Core, &data_dir).unwrap().is_none(), "an unfinished folder is no profile");
    profile::ensure(Profile::Core, &data_dir, &mut Silent).unwrap();
    assert_eq!(scratch.folders(), [name]);
}

/// Set for a process that this test started; names the folder in which the processes leave word.
const CHILD: &str = "ORDAIN_TEST_PROFILE_CHILD";

/// Leaves word when it has to wait for another process, and when it builds.
struct Word<'a>(&'a Path);

impl profile::Progress for Word<'_> {
    fn phase(&mut self, phase: Phase, _total: Option<usize>) {
        fs::write(self.0.join(format!("{phase}-{}", std::process::id())), "").unwrap();
    }
    fn done(&mut self, _count: usize) {}
    fn package(&mut self, _name: &str) {}
    fn message(&mut self, _message: &str) {}
}

#[test]
fn two_processes_at_once_build_the_profile_one_time() {
    if let Some(folder) = std::env::var_os(CHILD).map(PathBuf::from) {
        let data_dir = DataDir::at(folder.join("data")).unwrap();
        profile::ensure(Profile::Core, &data_dir, &mut Word(&folder)).unwrap();
        return;
    }
    let scratch = Scratch::new();
    // This uv holds its set-up until the test lets it go, and then gives way to pip.
    let uv = format!(
        "#!/bin/sh\nwhile [ ! -e '{}/go' ]; do sleep 0.05; done\necho 'error: no index' >&2\nexit 2\n",
        scratch.path().display()
    );
    let path = format!("{}:{}", scratch.script("uv", &uv).display(), std::env::var("PATH").unwrap());
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "profile_set_up::two_processes_at_once_build_the_profile_one_time"]);
        command.env(CHILD, scratch.path()).env("PATH", &path).stdout(Stdio::null()).spawn().unwrap()
    };
    let words = |word: &str| {
        let names = fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with(word)).count()
    };
    let mut children = [start(), start(), start()];
    while words("waiting-") < 2 {
        for child in &mut children {
            assert_eq!(child.try_wait().unwrap(), None, "a process ended before it was let go");
        }
        thread::sleep(Duration::from_millis(10));
    }
    fs::write(scratch.path().join("go"), "").unwrap();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(words("compiling-"), 1, "one process builds, the others use what it built");
    assert_eq!(scratch.folders().len(), 1, "{:?}", scratch.folders());
}
