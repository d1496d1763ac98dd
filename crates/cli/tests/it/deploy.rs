//! The files in `deploy/`: every command in them is one that the binary understands, and every variable one it reads.
//!
//! Nothing here starts a container or a unit. A command line is given to the binary with `--help` behind it, so that its
//! own parser reads each flag and value before it, and nothing is done.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{Folder, ordain, run};

fn deploy(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap()
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(name)
}

/// Has the binary read a command line.
#[track_caller]
fn understood(words: &[String]) {
    let mut words = words.to_vec();
    words.push("--help".to_owned());
    let read = run(ordain(&words));
    assert_eq!(read.code, Some(0), "{words:?}: {}", read.stderr);
    let wrong =
        run(ordain(words[..words.len() - 1].iter().map(String::as_str).chain(["--no-such-flag", "--help"])));
    assert_eq!(wrong.code, Some(2), "a flag that is not there is noticed: {words:?}");
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The lists of words behind a key, in the JSON notation that YAML and Dockerfiles share.
fn lists(text: &str, key: &str) -> Vec<Vec<String>> {
    let starts = text.match_indices(key).map(|(at, _)| at + key.len());
    starts
        .map(|at| {
            let end = at + text[at..].find(']').unwrap() + 1;
            serde_json::from_str(&text[at..end]).unwrap_or_else(|error| panic!("{error}: {}", &text[at..end]))
        })
        .collect()
}

/// The commands in comments: what is behind `ordain`, or behind the service's name.
fn told(text: &str) -> Vec<Vec<String>> {
    let command = |line: &str| {
        let line = line.strip_prefix("#   ")?;
        let (_, rest) = line.rsplit_once(" ordain ").or_else(|| line.split_once(" server "))?;
        (rest.starts_with("keys") || rest.starts_with("serve cluster")).then(|| words(rest))
    };
    text.lines().filter_map(command).collect()
}

#[test]
fn the_unit_starts_what_there_is() {
    let unit = deploy("ordain.service");
    let starts: Vec<&str> = unit.lines().filter_map(|line| line.strip_prefix("ExecStart=")).collect();
    let [start] = starts[..] else { panic!("{unit}") };
    let mut line = words(start);
    assert_eq!(line.remove(0), "/usr/local/bin/ordain");
    understood(&line);
    let workspace = line[line.iter().position(|word| word == "--workspace").unwrap() + 1].clone();
    assert!(unit.contains(&format!("ReadWritePaths={workspace}\n")), "what it serves it may write");
    let keys = told(&unit);
    assert_eq!(keys.len(), 1, "it tells how to make a key");
    assert!(keys[0].contains(&workspace));
    understood(&keys[0]);
}

#[test]
fn the_executors_unit_starts_what_there_is_and_the_alerts_are_about_figures_that_there_are() {
    let unit = deploy("ordain-executor.service");
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/ordain ")).unwrap();
    understood(&words(start));
    let pages = ["../../docs/serve.md", "../../docs/executor.md"];
    let pages =
        pages.map(|page| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap());
    let alerts = deploy("alerts.yaml");
    let names = alerts.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    for name in names.filter(|name| name.starts_with("ordain_")) {
        assert!(pages.iter().any(|page| page.contains(name)), "nothing counts `{name}`");
    }
}

#[test]
fn systemd_itself_finds_nothing_wrong_with_the_unit() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        skipped("systemd-analyze is not installed (Debian: `apt install systemd`)");
        return;
    }
    let folder = Folder::new();
    // The binary is not installed here; everything else stands as it is.
    let unit = deploy("ordain.service").replace("/usr/local/bin/ordain", env!("CARGO_BIN_EXE_ordain"));
    let unit = folder.file("ordain.service", unit);
    let checked = Command::new("systemd-analyze").args(["verify", "--man=no", &unit]).output().unwrap();
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    // A machine without a running systemd lacks units that others refer to; what is said of ours counts.
    let about: Vec<&str> = said.lines().filter(|line| line.contains("ordain.service")).collect();
    assert!(about.is_empty(), "{said}");
}

#[test]
fn the_image_and_its_services_run_what_there_is() {
    let image = deploy("Dockerfile");
    assert_eq!(lists(&image, "ENTRYPOINT "), [["ordain"]]);
    for command in lists(&image, "CMD ") {
        understood(&command);
    }
    for line in image.lines().filter_map(|line| line.strip_prefix("RUN ordain ")) {
        understood(&words(line));
    }
    let services = deploy("compose.yaml");
    let commands = lists(&services, "command: ");
    assert_eq!(commands.len(), 2);
    for command in commands {
        understood(&command);
    }
    for command in told(&services) {
        understood(&command);
    }
    // Both ends of the wire: who is called listens there.
    assert!(services.contains("http://executor:50051") && services.contains("0.0.0.0:50051"), "{services}");
    assert!(image.contains("EXPOSE 8000 50051"), "{image}");
}

#[test]
fn the_services_of_a_cluster_run_what_there_is_and_know_each_other() {
    let text = deploy("cluster.yaml");
    let of_kubernetes = lists(&deploy("kubernetes.yaml"), "args: ");
    assert_eq!(of_kubernetes.len(), 2);
    for command in lists(&text, "command: ").iter().chain(&of_kubernetes) {
        understood(command);
    }
    // Every name that one service calls is another's.
    for (name, count) in [("nats", 3), ("executor", 2)] {
        for number in 1..=count {
            assert!(text.contains(&format!("\n  {name}-{number}:")), "{name}-{number}");
            assert!(text.contains(&format!("//{name}-{number}:")), "nobody calls {name}-{number}");
        }
    }
    for entry in lists(&text, "entrypoint: ") {
        let of = |flag: &str| entry[entry.iter().position(|word| word == flag).unwrap() + 1].clone();
        assert!(of("--routes").split(',').all(|route| !route.contains(&of("-n"))), "{entry:?}");
    }
}

/// Whether Kubernetes' own schemas know everything in a file of manifests.
fn kubernetes_takes(manifests: &Path) -> bool {
    let packages = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("validators");
    let mut judge = Command::new("python3");
    judge.args(["-m", "kubernetes_validate", "--strict", "-k", "1.31"]).arg(manifests);
    judge.env("PYTHONPATH", packages).stdout(Stdio::piped()).stderr(Stdio::piped());
    let judged = run(judge);
    assert!(!judged.stderr.contains("No module named"), "`cargo xtask test` gets it: {judged:?}");
    judged.code == Some(0)
}

#[test]
fn kubernetes_itself_finds_nothing_wrong_with_the_manifests() {
    assert!(kubernetes_takes(&path("kubernetes.yaml")));
    let folder = Folder::new();
    let wrong = folder.file("wrong.yaml", deploy("kubernetes.yaml").replace("replicas:", "replica:"));
    assert!(!kubernetes_takes(Path::new(&wrong)), "a name that is not there is noticed");
}

#[test]
fn the_services_fit_together_and_say_whether_they_are_well() {
    let folder = Folder::new();
    let program = "import json, yaml\nprint(json.dumps([yaml.safe_load(files[name].read_text()) for name in ('compose.yaml', 'alerts.yaml')]))\n";
    let program = folder.file("read.py", program);
    let (compose, alerts) = (path("compose.yaml"), path("alerts.yaml"));
    let [compose, alerts] = [&compose, &alerts].map(|path| path.to_str().unwrap());
    let read = run(ordain(["exec", &program, "--profile", "data", "--file", compose, "--file", alerts]));
    let read: serde_json::Value =
        serde_json::from_str(&read.stdout).unwrap_or_else(|error| panic!("{error}: {read:?}"));
    let (services, networks) = (&read[0]["services"], &read[0]["networks"]);
    for name in ["server", "executor"] {
        let service = &services[name];
        assert_eq!(service["healthcheck"]["test"][0], "CMD", "{name}");
        assert_eq!(service["read_only"], true, "{name}");
        assert_eq!(service["cap_drop"][0], "ALL", "{name}");
        let dockerfile = service["build"]["dockerfile"].as_str().unwrap();
        let context = service["build"]["context"].as_str().unwrap();
        assert!(path(context).join(dockerfile).is_file(), "{name}");
        let joined = service["networks"].as_array().unwrap();
        assert!(joined.iter().all(|joined| networks.get(joined.as_str().unwrap()).is_some()), "{name}");
    }
    assert_eq!(services["server"]["depends_on"]["executor"]["condition"], "service_healthy");
    // The executor is reached by the server alone.
    assert_eq!(services["executor"]["networks"], serde_json::json!(["cells"]));
    assert_eq!(
        (&services["executor"]["ports"], &networks["cells"]["internal"]),
        (&serde_json::Value::Null, &true.into())
    );
    let groups = read[1]["groups"].as_array().unwrap();
    let rules = groups.iter().flat_map(|group| group["rules"].as_array().unwrap());
    assert!(rules.clone().count() > 0);
    assert!(
        rules.into_iter().all(|rule| rule["alert"].is_string() && rule["expr"].is_string()),
        "{groups:?}"
    );
}

#[test]
fn the_variables_in_the_files_are_ones_that_are_read() {
    let help = run(ordain(["executor", "--help"])).stdout;
    for file in [
        "Dockerfile",
        "compose.yaml",
        "cluster.yaml",
        "kubernetes.yaml",
        "ordain.service",
        "ordain-executor.service",
    ] {
        let text = deploy(file);
        let names = text.split(|letter: char| !letter.is_ascii_uppercase() && letter != '_');
        for name in names.filter(|name| name.starts_with("ORDAIN_")) {
            // These have no flag.
            let known = [
                "ORDAIN_CLUSTER",
                "ORDAIN_DATA_DIR",
                "ORDAIN_EXECUTOR_ALLOW_PLAINTEXT",
                "ORDAIN_STORE_URL",
                "ORDAIN_TRUST",
            ];
            let is_read = known.contains(&name) || help.contains(name);
            assert!(is_read, "{name} in {file} means nothing");
        }
    }
    let folder = Folder::new();
    let mut list = ordain(["config", "python", "list", "--json"]);
    list.env("ORDAIN_DATA_DIR", folder.path());
    let listed = run(list);
    assert!(listed.stdout.contains(folder.path().to_str().unwrap()), "{listed:?}");
}

fn skipped(why: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}
