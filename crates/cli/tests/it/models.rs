//! Who writes plans, and which settings hold.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::{Ran, init, ordain, run};

struct Shop {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Shop {
    fn new() -> Self {
        let (folder, root) = init("sunglasses");
        Self { _folder: folder, root }
    }

    fn ordain(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = ordain(arguments);
        let home = std::env::var_os("HOME").unwrap_or_default();
        let path = std::env::var_os("PATH").unwrap_or_default();
        // Nothing of the machine's own settings may decide.
        command
            .current_dir(&self.root)
            .env_clear()
            .env("ORDAIN_RESIDENT", "off")
            .env("HOME", home)
            .env("PATH", path);
        for name in ["ORDAIN_DATA_DIR", "ORDAIN_PYTHON"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        run({
            command.envs(variables.iter().copied());
            command
        })
    }

    fn setting(&self, key: &str, variables: &[(&str, &str)]) -> Value {
        let ran = self.ordain(&["config", "--json"], variables);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let all = ran.json();
        all.as_array().unwrap().iter().find(|setting| setting["key"] == key).unwrap().clone()
    }
}

fn cassette(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../planner/tests/cassettes").join(name);
    format!("replay:{}", file.display())
}

#[test]
fn a_setting_comes_from_the_first_place_that_has_it() {
    let shop = Shop::new();
    let of = |key: &str, variables: &[(&str, &str)]| {
        let setting = shop.setting(key, variables);
        (setting["value"].as_str().unwrap_or("-").to_owned(), setting["source"].as_str().unwrap().to_owned())
    };
    let pair = |value: &str, source: &str| (value.to_owned(), source.to_owned());
    assert_eq!(of("model.name", &[]), pair("auto", "default"));
    assert_eq!(of("workspace.name", &[]), pair("sunglasses", "ordain.toml"));
    fs_err::write(shop.root.join(".env"), "ORDAIN_MODEL=rules\nPYTHON_CODE_TIMEOUT=7\n").unwrap();
    assert_eq!(of("model.name", &[]), pair("rules", ".env"));
    assert_eq!(of("limits.wall", &[]), pair("7s", ".env"));
    assert_eq!(of("model.name", &[("ORDAIN_MODEL", "openai:x")]), pair("openai:x", "environment"));
    assert_eq!(of("limits.memory", &[("PYTHON_CODE_MAX_MEMORY", "256")]), pair("256MiB", "environment"));
}

#[test]
fn what_config_shows_holds_for_exec_too() {
    let shop = Shop::new();
    let endless = shop.root.join("endless.py");
    fs_err::write(&endless, "while True: pass\n").unwrap();
    fs_err::write(shop.root.join(".env"), "PYTHON_CODE_TIMEOUT=1\nORDAIN_LIMITS_MEMORY=300MiB\n").unwrap();
    let ran = shop.ordain(&["exec", "endless.py", "--json"], &[]).json();
    assert_eq!((&ran["cause"], &ran["limits"]["wall_ms"]), (&"timeout".into(), &1000.into()), "{ran}");
    assert_eq!(shop.setting("limits.wall", &[])["value"], "1s");
    assert_eq!(shop.setting("limits.memory", &[])["value"], "300MiB");
    // Where there are two names for a setting, ours comes first; and a flag before both.
    let ours = [("ORDAIN_LIMITS_WALL", "2s"), ("PYTHON_CODE_TIMEOUT", "9")];
    assert_eq!(shop.setting("limits.wall", &ours)["value"], "2s");
}

#[test]
fn editors_are_given_a_schema_of_what_init_writes() {
    let shop = Shop::new();
    let written = fs_err::read_to_string(shop.root.join("ordain.toml")).unwrap();
    assert!(written.starts_with("#:schema ordain.schema.json\n"), "{written}");
    let schema = shop.ordain(&["config", "schema"], &[]).json();
    let beside = fs_err::read_to_string(shop.root.join("ordain.schema.json")).unwrap();
    assert_eq!(schema, serde_json::from_str::<serde_json::Value>(&beside).unwrap());
    assert_eq!(schema["properties"]["limits"]["properties"]["wall"]["description"], "how long code may run");
}

#[test]
fn secrets_are_never_shown() {
    let shop = Shop::new();
    let secret = "sk-4711-very-secret";
    for arguments in [&["config"][..], &["config", "--json"], &["models"], &["models", "--json"]] {
        let ran = shop.ordain(arguments, &[("OPENAI_API_KEY", secret)]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{ran:?}");
    }
    assert_eq!(shop.setting("OPENAI_API_KEY", &[("OPENAI_API_KEY", secret)])["value"], "set, not shown");
}

#[test]
fn a_wrong_value_names_its_variable() {
    let shop = Shop::new();
    let ran = shop.ordain(&["config"], &[("ORDAIN_LIMITS_WALL", "soon")]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("ORDAIN_LIMITS_WALL"), "{ran:?}");
    fs_err::write(shop.root.join(".env"), "ORDAIN_MODLE=rules\n").unwrap();
    let ran = shop.ordain(&["config"], &[]);
    assert!(ran.stderr.contains(".env:1") && ran.stderr.contains("`ORDAIN_MODEL`"), "{ran:?}");
}

#[test]
fn models_says_who_would_write_plans_and_why() {
    let shop = Shop::new();
    let ran = shop.ordain(&["models", "--json"], &[("GEMINI_API_KEY", "x")]);
    assert_eq!(ran.json()["chosen"]["name"], "gemini:gemini-2.5-flash");
    assert_eq!(ran.json()["chosen"]["reason"], "a key for gemini is set");
    let ran = shop.ordain(&["models", "--model", "openai:gpt-4.1"], &[]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr.contains("there is no key for openai") && ran.stderr.contains("OPENAI_API_KEY"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("rules"), "{ran:?}");
}

#[test]
fn a_recorded_model_answers_a_request() {
    let shop = Shop::new();
    let request = "Do you have any round sunglasses in stock that are under $100?";
    let direct = ["--strategy", "direct", "--json"];
    let ask =
        |cassette: &str| shop.ordain(&[&["ask", request, "--model", cassette][..], &direct].concat(), &[]);
    let ran = ask(&cassette("good_read.jsonl"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let record = ran.json();
    assert_eq!(record["answer"]["text"], "Yes, we have Classic at $60.");
    assert_eq!(
        (record["plan"]["source"].as_str(), record["plan"]["model"].as_str()),
        (Some("model"), Some("replay:good_read.jsonl"))
    );
    // The kept plan needs no model: this cassette has no second reply.
    let again = ask(&cassette("timeout.jsonl"));
    assert_eq!(again.json()["plan"]["source"], "cache", "{again:?}");
    let late = shop.ordain(&["ask", "is anything square?", "--model", &cassette("timeout.jsonl")], &[]);
    assert_eq!(late.code, Some(3), "{late:?}");
}
