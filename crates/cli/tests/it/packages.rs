//! Packages that a workspace asks for: locked with hashes, set up like a profile, imported by plans.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::command::{Ran, ordain, run};
use crate::executor::Served;

/// Makes wheels of two small packages, one of which needs the other.
const WHEELS: &str = r#"
import sys, zipfile
for name, version, module, text, needs in (
    ("ordain_greeting", "1.0", "ordain_greeting", "def greet(name):\n    return 'old'\n", ""),
    ("ordain_greeting", "1.1", "ordain_greeting", "from ordain_words import HELLO\ndef greet(name):\n    return HELLO + ' ' + name\n", "Requires-Dist: ordain-words>=2\n"),
    ("ordain_words", "2.0", "ordain_words", "HELLO = 'Hello'\n", ""),
):
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(f"{sys.argv[1]}/{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{module}/__init__.py", text)
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
"#;

struct World {
    folder: TempDir,
}

impl World {
    fn new(packages: &str) -> Self {
        let world = Self { folder: TempDir::new().unwrap() };
        for name in ["wheels", "w"] {
            fs::create_dir(world.path(name)).unwrap();
        }
        let made = Command::new("python3").args(["-c", WHEELS]).arg(world.path("wheels")).status().unwrap();
        assert!(made.success());
        world.ask_for(packages);
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn ask_for(&self, packages: &str) {
        let text = format!("[workspace]\nname = \"w\"\n[python]\npackages = {packages}\n");
        fs::write(self.path("w/ordain.toml"), text).unwrap();
    }

    fn ordain(&self, arguments: &[&str]) -> Ran {
        run(self.command(arguments))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = ordain(arguments);
        command.current_dir(self.path("w")).env_remove("ORDAIN_WORKSPACE");
        command.env("ORDAIN_DATA_DIR", self.path("data")).env("PIP_FIND_LINKS", self.path("wheels"));
        command
    }

    /// Locks from the folder of wheels alone.
    fn lock(&self) -> Ran {
        let mut command = self.command(&["config", "python", "lock"]);
        command.env("PIP_NO_INDEX", "1");
        run(command)
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.path(path), text).unwrap();
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

const GREETING: &str = "import ordain_greeting\nprint(ordain_greeting.greet('Ann'))\n";

#[test]
fn packages_of_a_workspace_are_locked_set_up_and_imported() {
    let world = World::new("[\"ordain-greeting>=1\"]");
    world.write("w/greet.py", GREETING);

    let unlocked = world.ordain(&["exec", "greet.py"]);
    assert_ne!(unlocked.code, Some(0), "{unlocked:?}");
    assert!(unlocked.stderr.contains("ordain.lock` is missing"), "{unlocked:?}");
    assert!(unlocked.stderr.contains("run `ordain config python lock`"), "{unlocked:?}");

    let locked = world.lock();
    assert_eq!(locked.code, Some(0), "{locked:?}");
    assert!(
        locked.stdout.contains("2 packages") && locked.stdout.contains("ordain_greeting, ordain_words"),
        "{locked:?}"
    );
    let text = read(&world.path("w/ordain.lock"));
    for said in ["ordain-greeting==1.1 \\\n    --hash=sha256:", "ordain-words==2.0 \\\n    --hash=sha256:"] {
        assert!(text.contains(said), "{text}");
    }

    let ran = world.ordain(&["exec", "greet.py"]);
    assert_eq!((ran.code, ran.stdout.trim()), (Some(0), "Hello Ann"), "{ran:?}");
    let doctor = world.ordain(&["doctor"]);
    assert!(doctor.stdout.contains("ordain_greeting, ordain_words"), "{doctor:?}");
    world.write(
        "w/plan.py",
        "import ordain_greeting\nanswer_text = ordain_greeting.greet(\"Bob\")\nSTATUS = \"success\"\n",
    );
    let asked = world.ordain(&["ask", "say hello", "--plan", "plan.py"]);
    assert!(asked.stdout.contains("Hello Bob"), "{asked:?}");
    // What is blocked stays blocked, and elsewhere nothing of it is there.
    world.write("w/net.py", "import socket, ordain_greeting\n");
    let refused = world.ordain(&["exec", "net.py"]);
    assert!(refused.stderr.contains("`socket` may not be imported"), "{refused:?}");
    let mut outside = world.command(&["exec", "w/greet.py"]);
    outside.current_dir(world.folder.path());
    let outside = run(outside);
    assert!(outside.stderr.contains("ordain_greeting"), "{outside:?}");
    assert_ne!(outside.code, Some(0), "{outside:?}");

    world.ask_for("[\"ordain-words\"]");
    let stale = world.ordain(&["exec", "greet.py"]);
    assert!(stale.stderr.contains("was made for other packages than `[python]` asks for"), "{stale:?}");
}

#[test]
fn a_package_that_is_not_the_locked_one_is_not_installed() {
    let world = World::new("[\"ordain-words\"]");
    world.write("w/words.py", "import ordain_words\nprint(ordain_words.HELLO)\n");
    assert_eq!(world.lock().code, Some(0));
    let path = world.path("w/ordain.lock");
    let text = read(&path);
    let (before, hash) = text.split_once("sha256:").unwrap();
    fs::write(&path, format!("{before}sha256:{}{}", "0".repeat(64), &hash[64..])).unwrap();
    let ran = world.ordain(&["exec", "words.py"]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("whose hash is not the locked one"), "{ran:?}");
    fs::write(&path, format!("{text}--index-url https://example.com\n")).unwrap();
    let ran = world.ordain(&["exec", "words.py"]);
    assert!(ran.stderr.contains("is not understood at line"), "{ran:?}");
}

#[test]
fn packages_that_cannot_be_locked_are_told_with_what_to_do() {
    let world = World::new("[\"ordain-words>=3\"]");
    let ran = world.lock();
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("the packages cannot be locked") && ran.stderr.contains("hint: "), "{ran:?}");
    world.ask_for("[\"--index-url=https://example.com\"]");
    let ran = world.lock();
    assert!(ran.stderr.contains("is no package") && ran.stderr.contains("humanize>=4,<5"), "{ran:?}");
    world.ask_for("[]");
    let ran = world.lock();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("asks for no packages"), "{ran:?}");
}

#[test]
fn an_executor_elsewhere_has_the_packages_of_its_lock_and_says_so_without_one() {
    let world = World::new("[\"ordain-greeting>=1\"]");
    assert_eq!(world.lock().code, Some(0));
    world.write(
        "w/plan.py",
        &format!("{}STATUS = \"success\"\n", GREETING.replace("print", "answer_text = str")),
    );
    let ask = |executor: &Served| {
        world.ordain(&["ask", "hello", "--plan", "plan.py", "--executor", &executor.url()])
    };

    let refused = ask(&Served::start(&[]));
    assert_ne!(refused.code, Some(0), "{refused:?}");
    assert!(refused.stderr.contains("`ordain_greeting` is neither in the standard library"), "{refused:?}");
    assert!(refused.stderr.contains("ordain executor --lock ordain.lock"), "{refused:?}");

    let lock = world.path("w/ordain.lock").display().to_string();
    assert_eq!(world.ordain(&["config", "python", "setup", "core"]).code, Some(0));
    let served = Served::start_with(&["--lock", &lock], |command| {
        command.env("ORDAIN_DATA_DIR", world.path("data"));
    });
    let ran = ask(&served);
    assert!(ran.stdout.contains("Hello Ann"), "{ran:?}");

    let missing = world.ordain(&["executor", "--lock", "nowhere.lock"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    assert!(missing.stderr.contains("nowhere.lock") && missing.stderr.contains("is missing"), "{missing:?}");
}
