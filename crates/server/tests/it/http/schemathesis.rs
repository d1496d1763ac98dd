//! Schemathesis reads the `OpenAPI` document and sends what it allows, and what it does not: no answer may be a server
//! error, nor one that the document does not tell of.
//!
//! It is a Python program. The first run sets it up under the target folder; where that cannot be done (no network, no
//! `pip`) the test says so and passes, unless `ORDAIN_SCHEMATHESIS=required`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::world::served;

/// The two belong together: later versions of `hypothesis` lack what this one of `schemathesis` calls.
const PACKAGES: [&str; 2] = ["schemathesis==4.4.1", "hypothesis==6.140.3"];

const CHECKS: &str =
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";

fn set_up() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schemathesis");
    let program = folder.join("bin/schemathesis");
    let works = |program: &Path| {
        Command::new(program).arg("--version").output().is_ok_and(|ran| ran.status.success())
    };
    if works(&program) {
        return Ok(program);
    }
    run(Command::new("python3").arg("-m").arg("venv").arg(&folder))?;
    let quietly = ["install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(folder.join("bin/pip")).args(quietly).args(PACKAGES))?;
    if works(&program) { Ok(program) } else { Err("it does not start".to_owned()) }
}

fn run(command: &mut Command) -> Result<(), String> {
    let ran = command.output().map_err(|error| error.to_string())?;
    if ran.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&ran.stderr).into_owned()) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_that_schemathesis_makes_gets_a_server_error_or_an_undocumented_answer() {
    let is_required = std::env::var("ORDAIN_SCHEMATHESIS").is_ok_and(|value| value == "required");
    let program = match tokio::task::spawn_blocking(set_up).await.unwrap() {
        Ok(program) => program,
        Err(why) => {
            assert!(!is_required, "schemathesis could not be set up: {why}");
            let _ = writeln!(std::io::stderr(), "skipped: schemathesis could not be set up: {why}");
            return;
        }
    };
    let shop = served().await;
    // A few runs to find, so that more than empty lists is looked at.
    shop.buy().await;
    let url = format!("http://{}", shop.address);
    let folder = shop.folder.path().to_owned();
    // Another seed makes other requests: `ORDAIN_SCHEMATHESIS_SEED=7`.
    let seed = std::env::var("ORDAIN_SCHEMATHESIS_SEED").unwrap_or_else(|_| "1".to_owned());
    let ran = tokio::task::spawn_blocking(move || {
        Command::new(program)
            .current_dir(folder)
            .env("PYTHONPATH", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/http"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("SCHEMATHESIS_HOOKS", "schemathesis_hooks")
            .args(["run", &format!("{url}/openapi.json"), "--url", &url])
            .args(["--checks", CHECKS])
            .args([
                "--phases",
                "examples,coverage,fuzzing",
                "--max-examples",
                "8",
                "--seed",
                &seed,
                "--workers",
                "2",
            ])
            .args(["--request-timeout", "120", "--exclude-path-regex", "/events$", "--no-color"])
            .args(["--generation-with-security-parameters", "false"])
            // Header values that are not HTTP are left out, and of some routes that is most of what is made. On a busy
            // machine making them is slow.
            .args(["--suppress-health-check", "filter_too_much,too_slow"])
            .output()
    });
    let ran = ran.await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    let end: String = said.chars().rev().take(6000).collect::<Vec<_>>().into_iter().rev().collect();
    assert!(ran.status.success(), "{end}\n{}", String::from_utf8_lossy(&ran.stderr));
}
